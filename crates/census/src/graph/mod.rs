//! Webs that fit into memory: their links, read from files, and their structure.
//!
//! - [`csr`]: the graph itself, 8 bytes for each page and 4 for each link
//! - [`edge_list`]: read from lines `from to`, with [`names`] where pages have some
//! - [`labels`]: properties of pages, to be averaged over a sample
//! - [`components`], [`bow_tie`]: the pages that can be reached from each other
//! - `bvgraph`: read from the compressed files of the WebGraph framework, with the feature of that name; [`compressed`] reads one
//!   if it can

pub mod bow_tie;
#[cfg(feature = "bvgraph")]
pub mod bvgraph;
pub mod components;
pub mod csr;
pub mod edge_list;
pub mod labels;
pub mod names;

use std::path::{Path, PathBuf};

pub use bow_tie::{BowTie, Part, Parts};
pub use csr::Graph;
pub use edge_list::{EdgeList, Naming};
pub use labels::{Column, Labels};
pub use names::Names;

/// The basename of a compressed graph, if that is what a path names: by itself, where there is no such file but one with `.graph`, or with
/// that extension.
pub fn basename(path: &Path) -> Option<PathBuf> {
    if path.extension().is_some_and(|extension| extension == "graph") {
        return Some(path.with_extension(""));
    }
    let mut packed = path.as_os_str().to_owned();
    packed.push(".graph");
    (!path.is_file() && Path::new(&packed).is_file()).then(|| path.to_owned())
}

/// Reads a compressed graph by its basename, with the feature `bvgraph`; its pages are numbers.
#[cfg(feature = "bvgraph")]
pub fn compressed(basename: &Path) -> Result<EdgeList, GraphError> {
    let graph = bvgraph::read(basename)?;
    Ok(EdgeList { lines: graph.arcs(), graph, names: None, has_columns: false })
}

/// Reads a compressed graph by its basename, with the feature `bvgraph`; its pages are numbers.
#[cfg(not(feature = "bvgraph"))]
pub fn compressed(_: &Path) -> Result<EdgeList, GraphError> {
    Err(GraphError::NoBvGraph)
}

/// The reason why a graph cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum GraphError {
    /// The input failed.
    #[error("line {line} of the input cannot be read; check the file: {source}")]
    Read {
        /// Its number, from 1.
        line: u64,
        /// The error of the system.
        source: std::io::Error,
    },
    /// A line is not what it should be.
    #[error("line {line} {what}")]
    Line {
        /// Its number, from 1.
        line: u64,
        /// The fault, and the remedy.
        what: String,
    },
    /// More pages than numbers.
    #[error("the graph has more than {most} pages; take a part of it")]
    TooLarge {
        /// The largest number of pages.
        most: u64,
    },
    /// A compressed graph, and nothing to read it with.
    #[error(
        "it is in the compressed format BVGraph, which this program was built without; build it with --features full, \
         or give the links as lines FROM TO"
    )]
    NoBvGraph,
    /// A compressed graph cannot be opened or read.
    #[error("the graph {basename} cannot be read; its .graph and .properties must be whole: {reason}")]
    Compressed {
        /// Path without extension.
        basename: String,
        /// The message of its reader.
        reason: String,
    },
}

impl GraphError {
    fn line(line: u64, what: impl Into<String>) -> Self {
        GraphError::Line { line, what: what.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compressed_graphs_are_known_by_their_names() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("web-2000.x.graph"), "").unwrap();
        std::fs::write(path("links"), "").unwrap();
        std::fs::write(path("links.graph"), "").unwrap();
        assert_eq!(basename(&path("web-2000.x.graph")), Some(path("web-2000.x")));
        assert_eq!(basename(&path("web-2000.x")), Some(path("web-2000.x")));
        assert_eq!(basename(&path("gone.graph")), Some(path("gone")));
        // A list of links that is there is meant.
        assert_eq!(basename(&path("links")), None);
        assert_eq!(basename(&path("gone")), None);
    }
}
