//! The documents of a job as its groups see them, and the files that take the pairs of these groups.

use std::path::PathBuf;

use xxhash_rust::xxh3::xxh3_64;

use super::groups::{GroupHost, MemberFacts, Tagged};
use super::sides::Sides;
use super::{Candidate, giants_name};
use crate::catalogue::{Catalogue, Lookup};
use crate::context::{Context, remove_if_there};
use crate::error::EngineError;
use crate::job::free_space;
use crate::panel::PanelMethod;
use crate::recipe::Task;
use crate::store::file::RunWriter;
use crate::store::sort::{Codec, Couples, RunLocation, Sorted, Sorter, existing};

/// Returns the location of the sorted pairs of a method.
pub(super) fn pairs_location(ctx: &Context<'_>, method: usize) -> RunLocation {
    ctx.run_location(&format!("proposed{method}"))
}

/// Returns the location of the sorted pairs of the other direction, for methods some of whose keys only ask.
pub(super) fn back_pairs_location(ctx: &Context<'_>, method: usize) -> RunLocation {
    ctx.run_location(&format!("proposed{method}.back"))
}

/// Returns the length and the payload hash of the document with this record.
pub(crate) fn member_facts(entry: &PanelMethod, record: &[u8]) -> MemberFacts {
    MemberFacts { length: entry.length(record), mark: xxh3_64(entry.payload(record)) as u32 }
}

/// The documents of a job, and the sorters that take the pairs of a method.
pub(super) struct JobGroupHost<'c> {
    catalogue: &'c Catalogue,
    facts: Vec<MemberFacts>,
    /// Pairs whose earlier document is found by the later; where no key only asks, all pairs.
    pairs: Sorter<Couples>,
    /// Pairs whose later document is found by the earlier.
    back: Option<Sorter<Couples>>,
    lookup: Lookup<'c>,
    folder: PathBuf,
    /// Bytes of disk for each pair: in a sorted run, and as a candidate.
    pair_bytes: u64,
    giants: Option<RunWriter>,
    /// The side of each document, where two corpora are compared.
    sides: Option<Sides>,
}

impl<'c> JobGroupHost<'c> {
    /// For the method of this number; also the last key whose group an earlier process took.
    pub(super) fn new(
        ctx: &'c Context<'c>,
        catalogue: &'c Catalogue,
        number: usize,
    ) -> Result<(Self, Option<u64>), EngineError> {
        let entry = &ctx.panel.proposers()[number];
        let method = &entry.method;
        let mut facts = Vec::with_capacity(catalogue.len() as usize);
        catalogue.records(ctx, |_, record| facts.push(member_facts(entry, record)))?;
        let memory = ctx.budget.free(catalogue.len().into(), 12) as usize / 2;
        // A pair comes once for each key that it shares. Where nobody counts, repeats are dropped as early as
        // they are met.
        let kind = |sorter: Sorter<Couples>| if method.counts_keys() { sorter } else { sorter.distinct() };
        let (pairs, back, skip) = if method.has_query_keys() {
            // Two sorters do not come to the same key together, so an earlier process leaves nothing to go on from.
            for location in [pairs_location(ctx, number), back_pairs_location(ctx, number)] {
                existing(&location)?.iter().try_for_each(|path| remove_if_there(path))?;
            }
            let sorter = |location| kind(Sorter::new(location, Couples, memory / 2));
            (sorter(pairs_location(ctx, number)), Some(sorter(back_pairs_location(ctx, number))), None)
        } else {
            let (pairs, skip) = Sorter::resume(pairs_location(ctx, number), Couples, memory)?;
            (kind(pairs), None, skip)
        };
        let giants = match ctx.recipe.task {
            Task::Dedup => None,
            Task::Pairs | Task::Compare => {
                Some(RunWriter::create(&ctx.file(&giants_name(number)), ctx.label("giants", 4))?)
            }
        };
        let sides = if ctx.recipe.task == Task::Compare { Some(Sides::load(ctx, catalogue)?) } else { None };
        let lookup = Lookup::new(ctx, catalogue);
        let folder = ctx.work.clone();
        let pair_bytes = (Couples.width() + Candidate::width(ctx.panel.proposers().len())) as u64;
        Ok((JobGroupHost { catalogue, facts, pairs, back, lookup, folder, pair_bytes, giants, sides }, skip))
    }

    /// All pairs, each as often as it was proposed, and those of the other direction.
    pub(super) fn finish(self) -> Result<(Sorted<Couples>, Option<Sorted<Couples>>), EngineError> {
        self.giants.map_or(Ok(()), RunWriter::finish)?;
        let back = self.back.map(Sorter::sorted).transpose()?;
        Ok((self.pairs.sorted()?, back))
    }
}

impl GroupHost for JobGroupHost<'_> {
    fn facts(&self, document: u32) -> MemberFacts {
        self.facts[document as usize]
    }

    fn record(&mut self, document: u32) -> Result<&[u8], EngineError> {
        self.lookup.record(document)
    }

    fn references(&self) -> u32 {
        self.catalogue.references()
    }

    fn compares(&self) -> bool {
        self.sides.is_some()
    }

    fn sides(&self, document: u32) -> [bool; 2] {
        self.sides.as_ref().map_or([false; 2], |sides| [sides.has_left(document), sides.has_right(document)])
    }

    fn check_room(&self, documents: usize, pairs: u64) -> Result<(), EngineError> {
        let needed = pairs.saturating_mul(self.pair_bytes);
        match free_space(&self.folder) {
            Some(free) if needed > free => Err(EngineError::TooManyPairs {
                documents: documents as u64,
                pairs,
                folder: self.folder.clone(),
                needed,
                free,
            }),
            _ => Ok(()),
        }
    }

    fn pair(&mut self, pair: u64) -> Result<(), EngineError> {
        self.pairs.push(pair)
    }

    fn pair_back(&mut self, pair: u64) -> Result<(), EngineError> {
        self.back.as_mut().map_or(Ok(()), |back| back.push(pair))
    }

    fn writes_giants(&self) -> bool {
        self.giants.is_some()
    }

    fn giant(&mut self, group: &[Tagged]) -> Result<(), EngineError> {
        let Some(giants) = &mut self.giants else { return Ok(()) };
        for &(document, _) in group {
            giants.push(&(document + 1).to_le_bytes())?;
        }
        giants.push(&0u32.to_le_bytes())
    }

    fn checkpoint(&mut self, key: u64) -> Result<(), EngineError> {
        self.pairs.checkpoint(key)
    }
}
