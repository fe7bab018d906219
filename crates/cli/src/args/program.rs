//! Options of the commands about the program itself.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// `completions`
#[derive(Debug, Clone, Copy, Args)]
pub struct CompletionsArgs {
    /// The shell: bash, zsh, fish or powershell
    #[arg(value_name = "SHELL", hide_possible_values = true)]
    pub shell: ShellArg,
}

/// The shells that there are completions for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ShellArg {
    /// The GNU shell
    Bash,
    /// The Z shell
    Zsh,
    /// The friendly interactive shell
    Fish,
    /// PowerShell
    Powershell,
}

/// `man`
#[derive(Debug, Args)]
pub struct ManArgs {
    /// Folder for the pages; it is made if it is not there
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,

    /// Print the counts as one JSON object
    #[arg(long)]
    pub json: bool,
}
