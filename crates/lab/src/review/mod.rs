//! A sample of pairs, judged by a person: a page on the loopback that shows one pair after the other, and a file with a
//! line for each judgment.
//!
//! - [`pairs`]: the sample
//! - [`labels`]: the judgments, kept line by line
//! - [`session`]: the steps of the person who judges, without a server
//! - [`server`]: the page
//! - [`summary`]: the counts of the judgments, and the share of duplicates

pub mod labels;
pub mod pairs;
pub mod server;
pub mod session;
pub mod summary;

use std::path::{Path, PathBuf};

pub use labels::{Labels, Verdict};
pub use pairs::Pair;
pub use server::{listen, serve};
pub use session::Session;
pub use summary::{Summary, summarise};

/// The reason why a review cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum ReviewError {
    /// A file cannot be read.
    #[error("{0} cannot be read: {1}")]
    Read(String, std::io::Error),
    /// The labels cannot be written.
    #[error("{0} cannot be written: {1}")]
    Write(String, std::io::Error),
    /// A line of the sample is no pair.
    #[error(
        "{file}, line {line} is no pair: {why}; a line looks like \
         {{\"n\":0,\"a\":\"id\",\"b\":\"id\",\"similarity\":0.83,\"text_a\":\"…\",\"text_b\":\"…\"}}"
    )]
    NoPair {
        /// The sample.
        file: String,
        /// The number of the line, from 1.
        line: usize,
        /// The error in the line.
        why: String,
    },
    /// Two pairs have one number.
    #[error("{file}, line {line}: the number {n} was there before; each pair needs its own")]
    Twice {
        /// The sample.
        file: String,
        /// The number of the line, from 1.
        line: usize,
        /// The number.
        n: u64,
    },
    /// There is nothing to judge.
    #[error("{0} holds no pairs")]
    Empty(String),
    /// A line of the labels is no label.
    #[error("{file}, line {line} is no label: {why}; mend it or take it out")]
    NoLabel {
        /// The labels.
        file: String,
        /// The number of the line, from 1.
        line: usize,
        /// The error in the line.
        why: String,
    },
    /// The labels belong to another sample.
    #[error(
        "{file}, line {line} judges {found} as number {n}, which in {sample} is {there}: these are labels of another \
         review; give --labels another file"
    )]
    Foreign {
        /// The labels.
        file: String,
        /// The number of the line, from 1.
        line: usize,
        /// The number.
        n: u64,
        /// The pair that was judged.
        found: String,
        /// The sample.
        sample: String,
        /// The pair that the sample has under that number, or `no pair`.
        there: String,
    },
    /// Labels would fall on the sample.
    #[error("{0} is the review itself; give --labels another file")]
    Same(String),
    /// Labels need a file.
    #[error("{0} is no file; give --labels another name")]
    NoFile(String),
    /// The port is taken.
    #[error("port {0} of 127.0.0.1 is in use; give another by --port, or none for a free one")]
    PortInUse(u16),
    /// There is no port to be had.
    #[error("no server can be started on 127.0.0.1: {0}")]
    Server(std::io::Error),
}

/// Returns the default path of the labels: `labels.jsonl` beside the sample.
pub fn default_labels(sample: &Path) -> PathBuf {
    sample.with_file_name("labels.jsonl")
}
