//! Keys that one of two corpora has: of the other only documents with such a key can be in a pair.
//!
//! A Bloom filter. A key that it lets through by chance costs a posting that no other document shares, so its size, and with it the
//! memory cap, changes no result.
//!
//! The smaller corpus is sketched first, and its keys become the filter. Of the larger one only keys that pass are kept,
//! and nothing to measure by of documents without one.

use std::ops::Range;

use lookalike_hash as hash;
use lookalike_store::bloom::BloomFilter;
use lookalike_store::file::Run;
use lookalike_store::sort::{Codec, Posting, Postings};

use crate::context::Context;
use crate::error::EngineError;
use crate::stages::sketch::{UnitMeta, unit_file};

/// The keys that documents of one corpus have, by method.
pub(crate) struct KeyFilter(BloomFilter);

impl KeyFilter {
    /// Holds the keys of some units, which are done.
    pub(crate) fn of(ctx: &Context<'_>, units: Range<usize>) -> Result<Self, EngineError> {
        let mut runs = Vec::new();
        for unit in units {
            let meta: Option<UnitMeta> = ctx.saved(&format!("u{unit:06}.done"))?;
            let key_runs = meta.map(|meta| meta.key_runs).unwrap_or_default();
            for (method, &count) in key_runs.iter().enumerate() {
                let codec = Postings { tagged: ctx.panel.proposers()[method].tagged };
                for run in 0..count {
                    let path = unit_file(ctx, unit, &format!("keys{method}.{run:06}"));
                    runs.push((method, codec, Run::open(&path, ctx.label(Postings::KIND, codec.width()))?));
                }
            }
        }
        let keys = runs.iter().map(|(_, _, run)| run.count()).sum();
        // An eighth: the sorters of keys have a third, and batches, decoders and workers want their share,
        // too. A filter that is cut short lets more keys pass, which costs disk and time.
        let mut filter = KeyFilter::new(keys, ctx.budget.free(0, 0) / 8);
        for (method, codec, run) in runs {
            ctx.check()?;
            let mut records = run.records();
            while let Some(bytes) = records.next()? {
                filter.add(method, Posting::unpack(codec.get(bytes)).key);
            }
        }
        Ok(filter)
    }

    /// An empty filter for so many keys within so many bytes.
    fn new(keys: u64, most_bytes: u64) -> Self {
        // Sixteen bits for each key, where an index has twelve: of a document with seventeen keys none must pass by
        // chance, and what does is written to disk.
        KeyFilter(BloomFilter::within(keys + keys / 3, most_bytes))
    }

    fn add(&mut self, method: usize, key: u64) {
        self.0.add(of_method(method, key));
    }

    /// False for a key that no document of the other corpus has.
    pub(crate) fn may_contain(&self, method: usize, key: u64) -> bool {
        self.0.may_contain(of_method(method, key))
    }
}

/// A key as that of one method alone: keys of two methods may be the same number.
fn of_method(method: usize, key: u64) -> u64 {
    // Counted from 1, because `mix` leaves 0 as it is; all others differ, since no two inputs of `mix` give
    // the same.
    key ^ hash::mix(method as u64 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::context::{StageTest, as_lines};
    use crate::tests::recipe;

    #[test]
    fn what_was_put_in_passes_and_little_else() {
        let mut filter = KeyFilter::new(10_000, u64::MAX);
        (0..10_000).for_each(|key| filter.add(key as usize % 3, key * 7));
        assert!((0..10_000).all(|key| filter.may_contain(key as usize % 3, key * 7)));
        let others = (0..10_000).filter(|key| filter.may_contain(2, key * 7 + 1)).count();
        assert!(others < 100, "{others} of 10,000");
        let of_others =
            (0..10_000).filter(|&key| filter.may_contain((key as usize + 1) % 3, key * 7)).count();
        assert!(of_others < 100, "{of_others} of 10,000 keys of other methods");
    }

    #[test]
    fn a_filter_holds_the_keys_of_its_units() {
        let test = StageTest::against(
            recipe("md5"),
            &as_lines(&["one two", "three"]),
            &as_lines(&["four", "five six"]),
        );
        let ctx = test.sketched();
        let keys = |unit: usize| {
            let codec = Postings { tagged: false };
            let path = unit_file(&ctx, unit, "keys0.000000");
            let mut records = Run::open(&path, ctx.label(Postings::KIND, codec.width())).unwrap().records();
            let mut found = Vec::new();
            while let Some(bytes) = records.next().unwrap() {
                found.push(Posting::unpack(codec.get(bytes)).key);
            }
            found
        };
        let (first, all) = (KeyFilter::of(&ctx, 0..1).unwrap(), KeyFilter::of(&ctx, 0..2).unwrap());
        assert_eq!((keys(0).len(), keys(1).len()), (2, 2));
        assert!(keys(0).into_iter().all(|key| first.may_contain(0, key) && all.may_contain(0, key)));
        assert!(keys(1).into_iter().all(|key| all.may_contain(0, key)));
        let none = KeyFilter::of(&ctx, 0..0).unwrap();
        assert!(!keys(0).into_iter().any(|key| none.may_contain(0, key)));
    }
}
