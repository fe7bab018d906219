//! Words to the person at the terminal, on standard error.

use std::fmt::Display;
use std::io::Write;

/// Says one line. A standard error that was closed, as in `2>&1 | head -1`, is no reason to stop the work.
pub(crate) fn tell(line: impl Display) {
    let _ = writeln!(std::io::stderr(), "{line}");
}
