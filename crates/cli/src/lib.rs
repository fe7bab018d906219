//! The command line of lookalike: it reads what was typed, calls the rooms, and prints.
//!
//! [`run`] is the whole program; `main` only hands it the arguments. Results go to standard output, everything
//! else to standard error. Exit codes are those of [`exit`].
//!
//! - [`args`]: what can be typed
//! - [`commands`]: one file per command
//! - [`progress`]: bars on a terminal, plain lines elsewhere
//! - [`exit`]: how a command ends
//! - [`distinct`]: counts repeated digests in bounded memory
//! - [`histogram`]: percentiles in bounded memory
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "this crate is the one that prints")]

pub mod args;
pub mod commands;
pub mod distinct;
pub mod exit;
pub mod histogram;
pub mod progress;

use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use clap::Parser;
use lookalike::walk::Watch;

use crate::exit::{Failure, Outcome};

/// Runs the command that `arguments` (the program's own name first) ask for.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let command = match args::Cli::try_parse_from(arguments) {
        Ok(cli) => cli.command,
        Err(error) => {
            // Help and version are no mistakes and go to standard output; a reader that went away is no news.
            let _ = error.print();
            return if error.use_stderr() { exit::USAGE.into() } else { ExitCode::SUCCESS };
        }
    };
    let watch = Arc::new(Watch::default());
    if let Err(error) = stop_on_signals(&watch) {
        eprintln!("lookalike: cannot watch for Ctrl-C: {error}");
    }
    match commands::run(command, &watch) {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::Rejected) => exit::REJECTED.into(),
        Err(Failure::ClosedPipe) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("lookalike: {failure}");
            failure.code().into()
        }
    }
}

/// The first Ctrl-C (or polite kill) asks the work to end at the next document; the second ends it at once.
fn stop_on_signals(watch: &Arc<Watch>) -> std::io::Result<()> {
    use signal_hook::consts::{SIGINT, SIGTERM};
    let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM])?;
    let watch = watch.clone();
    std::thread::spawn(move || {
        for _ in signals.forever() {
            if watch.stop.swap(true, Ordering::Relaxed) {
                std::process::exit(exit::INTERRUPTED.into());
            }
        }
    });
    Ok(())
}
