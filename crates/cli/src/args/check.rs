//! Options of `check`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use super::job::ResourceArgs;

/// `check`
#[derive(Debug, Args)]
pub struct CheckFolderArgs {
    /// Folder of a finished job, or an index
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,

    /// Input of the job, for --measure, if it no longer lies where it did
    #[arg(value_name = "INPUT")]
    pub inputs: Vec<OsString>,

    /// Measure every removal again from the texts of the input
    #[arg(long)]
    pub measure: bool,

    /// Print one JSON object instead of a table
    #[arg(long)]
    pub json: bool,

    /// Threads, memory and progress.
    #[command(flatten)]
    pub resources: ResourceArgs,
}
