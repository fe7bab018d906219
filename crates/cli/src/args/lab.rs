//! Options of the lab's commands.

use std::path::PathBuf;

use clap::Args;

/// `lab review`
#[derive(Debug, Args)]
pub struct ReviewArgs {
    /// The pairs, as JSON lines: n, a, b, similarity, methods, text_a and text_b
    #[arg(value_name = "FILE")]
    pub file: PathBuf,

    /// File for the labels; labels.jsonl beside FILE by default
    ///
    /// Each label is appended at once, and of several for one pair the last counts: a review that was begun goes on.
    #[arg(long, value_name = "FILE")]
    pub labels: Option<PathBuf>,

    /// Port of the page on 127.0.0.1; 0 is any free one
    #[arg(long, value_name = "N", default_value = "0", conflicts_with = "summary")]
    pub port: u16,

    /// Who judges, for labels of several people in one file
    #[arg(long, value_name = "NAME")]
    pub by: Option<String>,

    /// Only count the labels that are there
    #[arg(long)]
    pub summary: bool,

    /// Print the counts as JSON instead of tables
    #[arg(long)]
    pub json: bool,
}
