//! What documents are compared by: all in memory, or in a file from which they are taken piece by piece.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use crate::context::Context;
use crate::error::EngineError;
use crate::store::symbols::{Block, SpoolReader};

/// Symbols that wait to be prepared together, by all threads.
const WAITING: usize = 1 << 20;

/// What documents are compared by, in memory: sorted by document once all are there.
#[derive(Default)]
pub(super) struct Resident {
    documents: Vec<u32>,
    sets: Vec<Vec<u64>>,
    waiting: Vec<(u32, Vec<u64>)>,
    symbols: usize,
}

impl Resident {
    /// Takes a document's symbols.
    pub(super) fn add(&mut self, ctx: &Context<'_>, document: u32, symbols: &[u64]) {
        self.waiting.push((document, symbols.to_vec()));
        self.symbols += symbols.len();
        if self.symbols >= WAITING {
            self.prepare(ctx);
        }
    }

    fn prepare(&mut self, ctx: &Context<'_>) {
        let prepare = |(document, symbols): &(u32, Vec<u64>)| {
            let mut set = Vec::with_capacity(symbols.len());
            ctx.measure.prepare(symbols, &mut set);
            set.shrink_to_fit();
            (*document, set)
        };
        let ready: Vec<(u32, Vec<u64>)> = self.waiting.par_iter().map(prepare).collect();
        for (document, set) in ready {
            self.documents.push(document);
            self.sets.push(set);
        }
        self.waiting.clear();
        self.symbols = 0;
    }

    /// Brings all into the order of their documents.
    pub(super) fn settle(&mut self, ctx: &Context<'_>) {
        self.prepare(ctx);
        self.waiting = Vec::new();
        if !self.documents.is_sorted() {
            let mut order: Vec<usize> = (0..self.documents.len()).collect();
            order.sort_unstable_by_key(|&index| self.documents[index]);
            self.sets = order.iter().map(|&index| std::mem::take(&mut self.sets[index])).collect();
            self.documents.sort_unstable();
        }
    }

    pub(super) fn documents(&self) -> &[u32] {
        &self.documents
    }

    pub(super) fn get(&self, document: u32) -> Option<&[u64]> {
        self.documents.binary_search(&document).ok().map(|index| self.sets[index].as_slice())
    }

    pub(super) fn at(&self, index: usize) -> &[u64] {
        &self.sets[index]
    }
}

/// So many documents are held at hand of those on disk.
const AT_HAND: usize = 256;

/// Documents that are too many to be in memory together.
pub(super) struct OnDisk {
    path: PathBuf,
    stamp: u128,
    /// Every document, with the block that holds it and the bytes it takes when prepared, sorted.
    pub(super) places: Vec<(u32, u32, u32)>,
    at_hand: HashMap<u32, Vec<u64>>,
}

impl OnDisk {
    pub(super) fn open(ctx: &Context<'_>, path: &Path) -> Result<Self, EngineError> {
        let mut places = Vec::new();
        let mut spool = SpoolReader::open(path, ctx.stamp)?;
        let (mut block, mut buffer, mut number) = (Block::default(), Vec::new(), 0u32);
        while spool.next(&mut block)? {
            block.documents(&mut buffer, |_| true, |document, symbols| {
                places.push((document, number, symbols.len() as u32 * 8));
                Ok(())
            })?;
            number += 1;
        }
        places.sort_unstable();
        Ok(OnDisk { path: path.to_owned(), stamp: ctx.stamp, places, at_hand: HashMap::new() })
    }

    /// The documents for which `wanted` holds, in memory.
    pub(super) fn load(&self, ctx: &Context<'_>, wanted: impl Fn(u32) -> bool) -> Result<Resident, EngineError> {
        let mut resident = Resident::default();
        let mut spool = SpoolReader::open(&self.path, self.stamp)?;
        let (mut block, mut buffer) = (Block::default(), Vec::new());
        while spool.next(&mut block)? {
            ctx.check()?;
            block.documents(&mut buffer, &wanted, |document, symbols| {
                resident.add(ctx, document, symbols);
                Ok(())
            })?;
        }
        resident.settle(ctx);
        Ok(resident)
    }

    /// Makes sure that a few documents are at hand.
    pub(super) fn fetch(&mut self, ctx: &Context<'_>, documents: &[u32]) -> Result<(), EngineError> {
        if documents.iter().all(|document| self.at_hand.contains_key(document)) {
            return Ok(());
        }
        if self.at_hand.len() + documents.len() > AT_HAND {
            self.at_hand.clear();
        }
        let found = self.load(ctx, |document| documents.contains(&document))?;
        for &document in documents {
            if let Some(set) = found.get(document) {
                self.at_hand.insert(document, set.to_vec());
            }
        }
        Ok(())
    }

    pub(super) fn get(&self, document: u32) -> Option<&[u64]> {
        self.at_hand.get(&document).map(Vec::as_slice)
    }
}
