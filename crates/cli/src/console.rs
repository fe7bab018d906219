//! Messages on standard error, for people or programs, in the form that `--progress` asks for.

use std::fmt::Display;
use std::io::{IsTerminal, StdoutLock, Write};
use std::sync::OnceLock;

use serde::Serialize;

use crate::args::help::ERROR;
use crate::progress::{Style, thousands};

/// The form of messages, and whether there are any.
#[derive(Debug, Clone, Copy)]
struct Verbosity {
    style: Style,
    quiet: bool,
}

static VERBOSITY: OnceLock<Verbosity> = OnceLock::new();

/// Sets the form of all messages from now on, and whether there are any; only the first call counts.
pub(crate) fn set_style(style: Style, quiet: bool) {
    let _ = VERBOSITY.set(Verbosity { style, quiet });
}

/// True with `--quiet`: errors are printed, and what a command is there for, and nothing else.
pub(crate) fn is_quiet() -> bool {
    VERBOSITY.get().is_some_and(|verbosity| verbosity.quiet)
}

fn style() -> Style {
    VERBOSITY.get().map_or(Style::Auto, |verbosity| verbosity.style)
}

/// Prints one message: an object with `message` where JSON is asked for, and nothing where silence is.
pub(crate) fn print_message(line: impl Display) {
    match style() {
        _ if is_quiet() => {}
        Style::None => {}
        Style::Json => print_line(object("message", &line)),
        Style::Auto | Style::Plain => print_line(line),
    }
}

/// Prints why the work ends, whatever was asked for: an object with `error`, or a line.
pub(crate) fn print_error(line: impl Display) {
    match style() {
        Style::Json => print_line(object("error", &line)),
        Style::None | Style::Auto | Style::Plain => {
            let stderr = std::io::stderr();
            let colour = if in_colour(stderr.is_terminal()) { ERROR } else { Default::default() };
            print_line(format_args!("{colour}lookalike:{colour:#} {line}"));
        }
    }
}

/// Decides whether something is written in colours: to a terminal, unless the variable `NO_COLOR` is set.
pub(crate) fn in_colour(is_terminal: bool) -> bool {
    is_terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// Prints the counts of a finished command on standard output: one JSON object if that was asked for, else a table, which `--quiet`
/// leaves out.
pub(crate) fn print_counts(
    as_json: bool,
    counts: &impl Serialize,
    table: impl FnOnce(&mut StdoutLock<'static>) -> std::io::Result<()>,
) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    if as_json {
        serde_json::to_writer_pretty(&mut out, counts)?;
        return writeln!(out);
    }
    if is_quiet() { Ok(()) } else { table(&mut out) }
}

/// Writes a table of counts: a name and its number in each row.
pub(crate) fn write_rows<'n>(
    out: &mut impl Write,
    rows: impl IntoIterator<Item = (&'n str, u64)>,
) -> std::io::Result<()> {
    rows.into_iter().try_for_each(|(name, number)| writeln!(out, "{name:<18}{:>14}", thousands(number)))
}

fn object(name: &str, line: &impl Display) -> serde_json::Value {
    serde_json::json!({ name: line.to_string() })
}

/// Writes one line as it is. A standard error that was closed, as in `2>&1 | head -1`, is no reason to stop the work.
pub(crate) fn print_line(line: impl Display) {
    let _ = writeln!(std::io::stderr(), "{line}");
}
