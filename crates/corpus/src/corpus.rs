//! Inputs named on a command line become shards in a fixed order.

use std::path::PathBuf;

use crate::{CorpusError, ReadOptions, Reader};

/// Where the bytes of a shard are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// A file.
    File(PathBuf),
    /// Standard input.
    Stdin,
    /// An object in a store, by its address.
    Object(String),
}

/// One file of a corpus.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shard {
    /// Its path relative to the inputs' common parent, with `/` between parts.
    pub name: String,
    /// Where its bytes are.
    pub origin: Origin,
    /// Its size on disk, where known.
    pub bytes: Option<u64>,
}

/// Shards in a fixed order, and how to read them.
#[derive(Debug, Clone)]
pub struct Corpus {
    shards: Vec<Shard>,
    options: ReadOptions,
}

impl Corpus {
    /// Finds the shards that `inputs` name: files, folders, patterns, addresses, or `-`.
    pub fn open(inputs: &[String], options: ReadOptions) -> Result<Corpus, CorpusError> {
        let _ = inputs;
        Ok(Corpus { shards: Vec::new(), options })
    }

    /// The shards, in the order of their documents.
    pub fn shards(&self) -> &[Shard] {
        &self.shards
    }

    /// How they are read.
    pub fn options(&self) -> &ReadOptions {
        &self.options
    }
}

impl Shard {
    /// Opens the shard for reading from its beginning.
    pub fn open(&self, options: &ReadOptions) -> Result<Reader, CorpusError> {
        let _ = options;
        Err(CorpusError::NoInput { input: self.name.clone() })
    }
}
