//! Messages on standard error, for people or programs, in the form that `--progress` asks for.

use std::fmt::Display;
use std::io::Write;
use std::sync::OnceLock;

use crate::progress::Style;

static STYLE: OnceLock<Style> = OnceLock::new();

/// Sets the form of all messages from now on; only the first call counts.
pub(crate) fn set_style(style: Style) {
    let _ = STYLE.set(style);
}

fn style() -> Style {
    STYLE.get().copied().unwrap_or(Style::Auto)
}

/// Prints one message: an object with `message` where JSON is asked for, and nothing where silence is.
pub(crate) fn print_message(line: impl Display) {
    match style() {
        Style::None => {}
        Style::Json => print_line(object("message", &line)),
        Style::Auto | Style::Plain => print_line(line),
    }
}

/// Prints why the work ends, whatever was asked for: an object with `error`, or a line.
pub(crate) fn print_error(line: impl Display) {
    match style() {
        Style::Json => print_line(object("error", &line)),
        Style::None | Style::Auto | Style::Plain => print_line(format_args!("lookalike: {line}")),
    }
}

fn object(name: &str, line: &impl Display) -> serde_json::Value {
    serde_json::json!({ name: line.to_string() })
}

/// Writes one line as it is. A standard error that was closed, as in `2>&1 | head -1`, is no reason to stop the work.
pub(crate) fn print_line(line: impl Display) {
    let _ = writeln!(std::io::stderr(), "{line}");
}
