//! A sample of pairs, judged by a person: a page on the loopback that shows one pair after the other, and a file with a
//! line for each judgment.
//!
//! - [`pairs`]: the sample
//! - [`labels`]: the judgments, kept line by line
//! - [`session`]: what whoever judges does, without a server
//! - [`server`]: the page
//! - [`summary`]: what the judgments come to

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

/// Why a review cannot go on.
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
        /// Where.
        line: usize,
        /// What is wrong.
        why: String,
    },
    /// Two pairs have one number.
    #[error("{file}, line {line}: the number {n} was there before; each pair needs its own")]
    Twice {
        /// The sample.
        file: String,
        /// Where.
        line: usize,
        /// The number.
        n: u64,
    },
    /// There is nothing to judge.
    #[error("{0} holds no pairs")]
    Empty(String),
    /// A line of the labels is none.
    #[error("{file}, line {line} is no label: {why}; mend it or take it out")]
    NoLabel {
        /// The labels.
        file: String,
        /// Where.
        line: usize,
        /// What is wrong.
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
        /// Where.
        line: usize,
        /// The number.
        n: u64,
        /// The pair that was judged.
        found: String,
        /// The sample.
        sample: String,
        /// What it has there.
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

/// Where labels are kept unless another place is named: beside the sample.
pub fn default_labels(sample: &Path) -> PathBuf {
    sample.with_file_name("labels.jsonl")
}
