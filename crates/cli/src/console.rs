//! Words to the person or the program at the other end of standard error, as `--progress` asks for them.

use std::fmt::Display;
use std::io::Write;
use std::sync::OnceLock;

use crate::progress::Style;

static STYLE: OnceLock<Style> = OnceLock::new();

/// Sets how everything is told from now on; only the first call counts.
pub(crate) fn speak(style: Style) {
    let _ = STYLE.set(style);
}

fn style() -> Style {
    STYLE.get().copied().unwrap_or(Style::Auto)
}

/// Says one line: an object with `message` where JSON is asked for, and nothing where silence is.
pub(crate) fn tell(line: impl Display) {
    match style() {
        Style::None => {}
        Style::Json => show(object("message", &line)),
        Style::Auto | Style::Plain => show(line),
    }
}

/// Says why the work ends, whatever was asked for: an object with `error`, or a line.
pub(crate) fn fail(line: impl Display) {
    match style() {
        Style::Json => show(object("error", &line)),
        Style::None | Style::Auto | Style::Plain => show(format_args!("lookalike: {line}")),
    }
}

fn object(name: &str, line: &impl Display) -> serde_json::Value {
    serde_json::json!({ name: line.to_string() })
}

/// Writes one line as it is. A standard error that was closed, as in `2>&1 | head -1`, is no reason to stop the work.
pub(crate) fn show(line: impl Display) {
    let _ = writeln!(std::io::stderr(), "{line}");
}
