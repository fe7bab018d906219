//! Writes an example report to the file named: a generated corpus whose planted pairs stand for a run.
//!
//! `cargo run -p lookalike-report --example report -- report.html`

#[path = "../tests/report/example/mod.rs"]
mod example;

fn main() -> std::io::Result<()> {
    let path =
        std::env::args_os().nth(1).ok_or_else(|| std::io::Error::other("a file to write is wanted"))?;
    std::fs::write(path, lookalike_report::render(&example::report()))
}
