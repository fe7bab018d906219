//! What documents are compared by: all in memory, or in a file from which they are taken when they are needed.

use std::collections::HashMap;
use std::path::Path;

use rayon::prelude::*;

use crate::catalogue::Lookup;
use crate::context::Context;
use crate::error::EngineError;
use crate::measure::Scratch;
use crate::store::symbols::{Block, SpoolAccess, SpoolReader};

/// Symbols that wait to be prepared together, by all threads.
const WAITING: usize = 1 << 20;

/// Documents in memory, with all that a comparison needs: sorted once all are there.
#[derive(Default)]
pub(super) struct Resident {
    documents: Vec<u32>,
    sets: Vec<Vec<u64>>,
    payloads: Vec<u8>,
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
        let prepare = |scratch: &mut Scratch, (document, symbols): &(u32, Vec<u64>)| {
            let mut set = Vec::with_capacity(symbols.len());
            ctx.measure.prepare(symbols, &mut set, scratch);
            set.shrink_to_fit();
            (*document, set)
        };
        let ready: Vec<(u32, Vec<u64>)> =
            self.waiting.par_iter().map_init(Scratch::default, prepare).collect();
        for (document, set) in ready {
            self.documents.push(document);
            self.sets.push(set);
        }
        self.waiting.clear();
        self.symbols = 0;
    }

    /// Brings all into the order of their documents, and their payloads with them.
    pub(super) fn settle(&mut self, ctx: &Context<'_>, lookup: &mut Lookup<'_>) -> Result<(), EngineError> {
        self.prepare(ctx);
        self.waiting = Vec::new();
        if !self.documents.is_sorted() {
            let mut order: Vec<usize> = (0..self.documents.len()).collect();
            order.sort_unstable_by_key(|&index| self.documents[index]);
            self.sets = order.iter().map(|&index| std::mem::take(&mut self.sets[index])).collect();
            self.documents.sort_unstable();
        }
        self.payloads.reserve_exact(self.documents.len() * ctx.panel.width());
        for &document in &self.documents {
            self.payloads.extend_from_slice(lookup.record(document)?);
        }
        Ok(())
    }

    pub(super) fn documents(&self) -> &[u32] {
        &self.documents
    }

    /// The place of a document.
    pub(super) fn index(&self, document: u32) -> Option<usize> {
        self.documents.binary_search(&document).ok()
    }

    /// What the document at a place is compared by.
    pub(super) fn set(&self, index: usize) -> &[u64] {
        &self.sets[index]
    }

    /// What the methods keep of the document at a place.
    pub(super) fn record(&self, index: usize, width: usize) -> &[u8] {
        &self.payloads[index * width..][..width]
    }
}

/// Prepared documents that stay at hand for a second comparison, in bytes.
const AT_HAND: usize = 16 << 20;

/// Where a document of a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Spot {
    pub(super) document: u32,
    /// Bytes that it takes when it is prepared.
    pub(super) bytes: u32,
    /// Where its block begins.
    offset: u64,
}

/// Documents that are too many to be in memory together. Costs 16 bytes for each.
pub(super) struct OnDisk {
    spool: SpoolAccess,
    /// Every document, sorted.
    pub(super) spots: Vec<Spot>,
    at_hand: HashMap<u32, Vec<u64>>,
    held: usize,
}

impl OnDisk {
    pub(super) fn open(ctx: &Context<'_>, path: &Path) -> Result<Self, EngineError> {
        let mut spots = Vec::new();
        let mut reader = SpoolReader::open(path, ctx.stamp)?;
        let mut block = Block::default();
        loop {
            let offset = reader.position();
            if !reader.next(&mut block)? {
                break;
            }
            let spot =
                |(document, symbols): (u32, u32)| Spot { document, bytes: symbols.saturating_mul(8), offset };
            spots.extend(block.lengths().map(spot));
        }
        spots.sort_unstable();
        Ok(OnDisk { spool: SpoolAccess::open(path, ctx.stamp)?, spots, at_hand: HashMap::new(), held: 0 })
    }

    /// The documents at some places, in memory.
    pub(super) fn load(
        &mut self,
        ctx: &Context<'_>,
        lookup: &mut Lookup<'_>,
        places: std::ops::Range<usize>,
    ) -> Result<Resident, EngineError> {
        let wanted = &self.spots[places];
        let mut offsets: Vec<u64> = wanted.iter().map(|spot| spot.offset).collect();
        offsets.sort_unstable();
        offsets.dedup();
        let inside = |document: u32| wanted.binary_search_by_key(&document, |spot| spot.document).is_ok();
        let mut resident = Resident::default();
        let (mut block, mut buffer) = (Block::default(), Vec::new());
        for offset in offsets {
            ctx.check()?;
            self.spool.read(offset, &mut block)?;
            block.documents(&mut buffer, inside, |document, symbols| {
                resident.add(ctx, document, symbols);
                Ok(())
            })?;
        }
        resident.settle(ctx, lookup)?;
        Ok(resident)
    }

    /// Makes sure that the document at a place is at hand.
    pub(super) fn fetch(&mut self, ctx: &Context<'_>, place: u32) -> Result<(), EngineError> {
        if self.at_hand.contains_key(&place) {
            return Ok(());
        }
        let spot = self.spots[place as usize];
        let (mut block, mut buffer, mut set) = (Block::default(), Vec::new(), Vec::new());
        self.spool.read(spot.offset, &mut block)?;
        block.documents(
            &mut buffer,
            |document| document == spot.document,
            |_, symbols| {
                ctx.measure.prepare(symbols, &mut set, &mut Scratch::default());
                Ok(())
            },
        )?;
        self.held += set.len() * 8;
        self.at_hand.insert(place, set);
        Ok(())
    }

    /// Lets go of what is at hand, once it is much.
    pub(super) fn tidy(&mut self) {
        if self.held > AT_HAND {
            self.at_hand.clear();
            self.held = 0;
        }
    }

    /// A document that was fetched.
    pub(super) fn get(&self, place: u32) -> &[u64] {
        self.at_hand.get(&place).map_or(&[], Vec::as_slice)
    }
}
