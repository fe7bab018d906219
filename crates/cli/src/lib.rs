//! The command line of lookalike: it reads what was typed, calls the other crates, and prints.
//!
//! [`run`] is the whole program; `main` only hands it the arguments. Results go to standard output, everything
//! else to standard error. Exit codes are those of [`exit`].
//!
//! - [`args`]: what can be typed
//! - [`commands`]: one file per command
//! - [`progress`]: bars on a terminal, plain lines elsewhere
//! - [`exit`]: how a command ends
//! - `signals`: Ctrl-C
//! - `outputs`: files to write must not fall on what is read
//! - `console`: messages and errors on standard error
//! - [`repeats`]: counts repeated digests in bounded memory
//! - [`histogram`]: percentiles in bounded memory
//! - [`freed_memory`]: when memory goes back to the system

pub mod args;
pub mod commands;
mod console;
pub mod exit;
pub mod freed_memory;
pub mod histogram;
mod outputs;
pub mod progress;
pub mod repeats;
mod signals;

use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::Arc;

use lookalike::hash::cpu::Cpu;
use lookalike::walk::Watch;

use crate::console::{print_error, print_line, print_message};
use crate::exit::{Failure, Outcome};

/// The environment variable that names the instructions to go by: tests and benchmarks try those of older processors with it.
const PROCESSOR: &str = "LOOKALIKE_CPU";

/// Does without the instructions that [`PROCESSOR`] leaves out.
fn limit_processor() -> Result<(), Failure> {
    let Some(name) = std::env::var_os(PROCESSOR) else { return Ok(()) };
    if let Some(cpu) = Cpu::available().find(|cpu| name == cpu.name()) {
        Cpu::limit(cpu);
        return Ok(());
    }
    let names: Vec<&str> = Cpu::available().map(Cpu::name).collect();
    let (name, names) = (name.display(), names.join(", "));
    Err(Failure::Usage(format!(
        "{PROCESSOR} is {name}; this machine has {names}; unset it to go by the best"
    )))
}

/// Runs the command that `arguments` (the program's own name first) ask for.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    if arguments.len() <= 1 {
        print_line(args::help::FIRST_STEPS.trim_end());
        return exit::USAGE.into();
    }
    let command = match args::Cli::read(arguments) {
        Ok((cli, style)) => {
            console::set_style(style, cli.quiet);
            cli.command
        }
        Err(error) => {
            // Help and version are no mistakes and go to standard output; a reader that went away is no news.
            let _ = error.print();
            return if error.use_stderr() { exit::USAGE.into() } else { ExitCode::SUCCESS };
        }
    };
    if let Err(failure) = limit_processor() {
        print_error(&failure);
        return failure.code().into();
    }
    let watch = Arc::new(Watch::default());
    // A service finishes what is under way, however long that takes within its own limits.
    let patient = matches!(command, args::Command::Serve(_));
    if let Err(error) = signals::handle_signals(&watch, patient) {
        print_message(format_args!("cannot watch for Ctrl-C: {error}"));
    }
    match commands::run(command, &watch) {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::Rejected) => exit::REJECTED.into(),
        Err(Failure::ClosedPipe) => ExitCode::SUCCESS,
        Err(failure) => {
            print_error(&failure);
            failure.code().into()
        }
    }
}
