//! All removals of a job: in the order of the documents, and by their places in the input.

use lookalike_model::{DocNumber, InputPlace, Removal};
use lookalike_store::file::{RandomAccess, Run, RunWriter};
use lookalike_store::sort::{Codec, Couples, Sorter, clear, couple, existing, uncouple};

use crate::catalogue::Catalogue;
use crate::context::Context;
use crate::error::EngineError;
use crate::stages::order::PlaceMap;
use crate::stages::verify::{self, Removals};

/// The file with all removals in order, beside the scratch files.
pub(super) const SORTED: &str = "removed.sorted";
/// The file with the size of every cluster of two or more, by kept document.
pub(super) const SIZES: &str = "clusters.sizes";
/// The file with the place of every removed document in the input, and its number, in the order of the input.
const REMOVED_PLACES: &str = "removed.places";

/// Brings the removals of all buckets into one order; returns how many there are.
pub(super) fn sort_removals(ctx: &Context<'_>, catalogue: &Catalogue) -> Result<u64, EngineError> {
    for run in existing(&ctx.run_location("removing"))? {
        crate::context::remove_if_there(&run)?;
    }
    let memory = ctx.budget.free(catalogue.len().into(), 0) as usize / 4;
    // Files of buckets are sorted each by itself, but there may be more of them than can be open at once, and
    // documents of one bucket stand between those of others.
    let mut sorter = Sorter::new(ctx.run_location("removing"), Removals, memory);
    for path in verify::decision_files(ctx)? {
        let mut records = Run::open(&path, Removals::label(ctx))?.records();
        while let Some(bytes) = records.next()? {
            sorter.push(Removals.get(bytes))?;
        }
    }
    let mut sorted = sorter.sorted()?;
    let mut writer = RunWriter::create(&ctx.file(SORTED), Removals::label(ctx))?;
    let (mut bytes, mut count) = ([0; Removal::WIDTH], 0);
    while let Some(removal) = sorted.next()? {
        Removals.put(removal, &mut bytes);
        writer.push(&bytes)?;
        count += 1;
    }
    writer.finish()?;
    Ok(count)
}

/// All removals, in the order of the input.
pub(super) fn removals(
    ctx: &Context<'_>,
    mut each: impl FnMut(Removal) -> Result<(), EngineError>,
) -> Result<(), EngineError> {
    let mut records = Run::open(&ctx.file(SORTED), Removals::label(ctx))?.records();
    let mut seen = 0u64;
    while let Some(bytes) = records.next()? {
        seen += 1;
        if seen.is_multiple_of(65_536) {
            ctx.check()?;
        }
        each(Removals.get(bytes))?;
    }
    Ok(())
}

/// Removals and cluster sizes by the places of documents in the input, for the copies of shards.
pub(super) struct RemovalLookup {
    removed: RandomAccess,
    sizes: RandomAccess,
    places: PlaceMap,
}

impl RemovalLookup {
    /// Brings removals into the order of the input.
    pub(super) fn prepare(ctx: &Context<'_>, catalogue: &Catalogue) -> Result<(), EngineError> {
        clear(&ctx.run_location("gone"))?;
        let memory = ctx.budget.free(catalogue.len().into(), 0) as usize / 4;
        let (mut sorter, mut places) =
            (Sorter::new(ctx.run_location("gone"), Couples, memory), PlaceMap::open(ctx)?);
        // Also where no field orders documents, places are numbers and all is sorted already: one way for
        // both.
        removals(ctx, |Removal { document, .. }| {
            Ok(sorter.push(couple(places.place(document)?.get(), document.get()))?)
        })?;
        let mut sorted = sorter.sorted()?;
        let mut writer = RunWriter::create(&ctx.file(REMOVED_PLACES), ctx.label("gone", 8))?;
        while let Some(pair) = sorted.next()? {
            writer.push(&pair.to_le_bytes())?;
        }
        Ok(writer.finish()?)
    }

    pub(super) fn open(ctx: &Context<'_>) -> Result<Self, EngineError> {
        Ok(RemovalLookup {
            removed: RandomAccess::new(Run::open(&ctx.file(REMOVED_PLACES), ctx.label("gone", 8))?),
            sizes: RandomAccess::new(Run::open(&ctx.file(SIZES), ctx.label("sizes", 8))?),
            places: PlaceMap::open(ctx)?,
        })
    }

    /// The places of removed documents from `first` on, below `end`.
    pub(super) fn removed(
        &mut self,
        first: InputPlace,
        end: InputPlace,
    ) -> Result<Vec<InputPlace>, EngineError> {
        let mut found = Vec::new();
        let count = self.removed.count();
        // One search for each shard, and forwards from there: its removals stand together in the order of
        // places.
        let mut index = lower_bound(&mut self.removed, count, first.get())?;
        while index < count {
            let place = InputPlace::new(entry(self.removed.record(index)?).0);
            if place >= end {
                break;
            }
            found.push(place);
            index += 1;
        }
        Ok(found)
    }

    /// The number of the document at a place.
    pub(super) fn number(&mut self, place: InputPlace) -> Result<DocNumber, EngineError> {
        self.places.number(place)
    }

    /// Returns the number of documents that a kept one stands for, itself included.
    pub(super) fn copies(&mut self, kept_document: DocNumber) -> Result<u64, EngineError> {
        let count = self.sizes.count();
        let index = lower_bound(&mut self.sizes, count, kept_document.get())?;
        // Documents that stand for themselves alone have no entry, neither here nor below.
        if index == count {
            return Ok(1);
        }
        let (found, size) = entry(self.sizes.record(index)?);
        Ok(if found == kept_document.get() { size.into() } else { 1 })
    }
}

/// The two numbers of a record, which is found by the first.
fn entry(bytes: &[u8]) -> (u32, u32) {
    uncouple(Couples.get(bytes))
}

fn lower_bound(access: &mut RandomAccess, count: u64, wanted: u32) -> Result<u64, EngineError> {
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low + (high - low) / 2;
        if entry(access.record(middle)?).0 < wanted {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    Ok(low)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::context::{StageTest, as_lines, doc, place, stage_counts};
    use crate::tests::recipe;

    #[test]
    fn removals_and_copies_are_found_by_places() {
        let test = StageTest::new(recipe("md5"), &as_lines(&["a", "b", "c", "d", "e"]));
        test.deduplicated(&[(1, 0, 1.0), (2, 0, 0.9), (4, 3, 0.9)], stage_counts());
        let ctx = test.context();
        RemovalLookup::prepare(&ctx, &Catalogue::load(&ctx).unwrap()).unwrap();
        let mut lookup = RemovalLookup::open(&ctx).unwrap();
        let mut removed = |first, end| lookup.removed(place(first), place(end)).unwrap();
        assert_eq!(removed(0, 5), [1, 2, 4].map(place));
        assert_eq!(removed(2, 4), [place(2)]);
        assert_eq!(removed(3, 4), []);
        assert_eq!([0, 1, 3, 4].map(|kept| lookup.copies(doc(kept)).unwrap()), [3, 1, 2, 1]);
        assert_eq!(lookup.number(place(3)).unwrap(), doc(3));
    }
}
