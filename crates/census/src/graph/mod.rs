//! Webs that fit into memory: who links to whom, read from files, and what shape it has.
//!
//! - [`csr`]: the graph itself, 8 bytes for each page and 4 for each link
//! - [`edge_list`]: read from lines `from to`, with [`names`] where pages have some
//! - [`labels`]: what is known of pages, to be averaged over a sample
//! - [`components`], [`bow_tie`]: which pages can be reached from which
//! - `bvgraph`: read from the compressed files of the WebGraph framework, with the feature of that name

pub mod bow_tie;
#[cfg(feature = "bvgraph")]
pub mod bvgraph;
pub mod components;
pub mod csr;
pub mod edge_list;
pub mod labels;
pub mod names;

pub use bow_tie::{BowTie, Part, Parts};
pub use csr::Graph;
pub use edge_list::{EdgeList, Naming};
pub use labels::{Column, Labels};
pub use names::Names;

/// Why a graph cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum GraphError {
    /// The input failed.
    #[error("line {line} of the input cannot be read; check the file: {source}")]
    Read {
        /// Its number, from 1.
        line: u64,
        /// What the system says.
        source: std::io::Error,
    },
    /// A line is not what it should be.
    #[error("line {line} {what}")]
    Line {
        /// Its number, from 1.
        line: u64,
        /// What is wrong with it and what to do.
        what: String,
    },
    /// More pages than numbers.
    #[error("the graph has more than {most} pages; take a part of it")]
    TooLarge {
        /// How many there may be.
        most: u64,
    },
    /// A compressed graph cannot be opened or read.
    #[error("the graph {basename} cannot be read; its .graph and .properties must be whole: {reason}")]
    Compressed {
        /// Path without extension.
        basename: String,
        /// What its reader says.
        reason: String,
    },
}

impl GraphError {
    fn line(line: u64, what: impl Into<String>) -> Self {
        GraphError::Line { line, what: what.into() }
    }
}
