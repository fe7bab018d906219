//! `lookalike completions`: a script by which a shell completes commands and options.

use std::io::Write;

use clap_complete::Shell;

use crate::args::{Cli, CompletionsArgs, ShellArg};
use crate::exit::{Failure, Outcome};

pub(crate) fn run(args: &CompletionsArgs) -> Result<Outcome, Failure> {
    let shell = match args.shell {
        ShellArg::Bash => Shell::Bash,
        ShellArg::Zsh => Shell::Zsh,
        ShellArg::Fish => Shell::Fish,
        ShellArg::Powershell => Shell::PowerShell,
    };
    // Written to memory first: the generator panics where a reader has gone away.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::arranged(), "lookalike", &mut script);
    std::io::stdout().lock().write_all(&script)?;
    Ok(Outcome::Done)
}
