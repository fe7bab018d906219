//! Keys that one of two corpora has: of the other only documents with such a key can be in a pair.
//!
//! A Bloom filter in blocks of a cache line. A key that it lets through by chance costs a posting that no other document shares, so
//! its size, and with it the memory cap, changes no result.
//!
//! The smaller corpus is sketched first, and its keys become the filter. Of the larger one only keys that pass are kept,
//! and nothing to measure by of documents without one.

use std::ops::Range;

use lookalike_hash as hash;
use lookalike_store::file::Run;
use lookalike_store::sort::{Codec, Posting, Postings};

use crate::context::Context;
use crate::error::EngineError;
use crate::stages::sketch::{UnitMeta, unit_file};

/// Bits for each key, where memory allows: of a hundred foreign keys about one passes.
const BITS_PER_KEY: u64 = 12;

/// Bits that are set for a key.
const PROBES: u32 = 6;

/// Words of a block.
const BLOCK: usize = 8;

pub(crate) struct BloomFilter {
    blocks: Vec<[u64; BLOCK]>,
}

impl BloomFilter {
    /// A filter for so many keys within so many bytes.
    fn new(keys: u64, most_bytes: u64) -> Self {
        let bytes = (keys * BITS_PER_KEY).div_ceil(8).min(most_bytes);
        BloomFilter { blocks: vec![[0; BLOCK]; (bytes as usize).div_ceil(8 * BLOCK).max(1)] }
    }

    /// Holds the keys of some units, which are done.
    pub(crate) fn of(ctx: &Context<'_>, units: Range<usize>) -> Result<Self, EngineError> {
        let mut runs = Vec::new();
        for unit in units {
            let meta: Option<UnitMeta> = ctx.saved(&format!("u{unit:06}.done"))?;
            let key_runs = meta.map(|meta| meta.key_runs).unwrap_or_default();
            for (method, &count) in key_runs.iter().enumerate() {
                let codec = Postings { tagged: ctx.panel.proposers()[method].method.tagged() };
                for run in 0..count {
                    let path = unit_file(ctx, unit, &format!("keys{method}.{run:06}"));
                    runs.push((method, codec, Run::open(&path, ctx.label(Postings::KIND, codec.width()))?));
                }
            }
        }
        let keys = runs.iter().map(|(_, _, run)| run.count()).sum();
        let mut filter = BloomFilter::new(keys, ctx.budget.free(0, 0) / 8);
        for (method, codec, run) in runs {
            ctx.check()?;
            let mut records = run.records();
            while let Some(bytes) = records.next()? {
                filter.add(method, Posting::unpack(codec.get(bytes)).key);
            }
        }
        Ok(filter)
    }

    fn add(&mut self, method: usize, key: u64) {
        let (block, mut bits) = self.probe(method, key);
        for _ in 0..PROBES {
            self.blocks[block][bits as usize % BLOCK] |= 1 << (bits >> 3 & 63);
            bits >>= 9;
        }
    }

    /// False for a key that no document of the other corpus has.
    pub(crate) fn may_contain(&self, method: usize, key: u64) -> bool {
        let (block, mut bits) = self.probe(method, key);
        let block = &self.blocks[block];
        (0..PROBES).all(|_| {
            let set = block[bits as usize % BLOCK] >> (bits >> 3 & 63) & 1 == 1;
            bits >>= 9;
            set
        })
    }

    /// Returns the block of a key, and the bits that choose its positions there. Keys of some methods are no hashes.
    fn probe(&self, method: usize, key: u64) -> (usize, u64) {
        let bits = hash::mix(key ^ hash::mix(method as u64 + 1));
        let block = (u128::from(hash::mix(bits)) * self.blocks.len() as u128) >> 64;
        (block as usize, bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::context::{StageTest, as_lines};
    use crate::tests::recipe;

    #[test]
    fn what_was_put_in_passes_and_little_else() {
        for most in [u64::MAX, 4_000] {
            let mut filter = BloomFilter::new(10_000, most);
            (0..10_000).for_each(|key| filter.add(key as usize % 3, key * 7));
            assert!((0..10_000).all(|key| filter.may_contain(key as usize % 3, key * 7)));
            let others = (0..10_000).filter(|key| filter.may_contain(2, key * 7 + 1)).count();
            assert!(most < u64::MAX || others < 300, "{others} of 10,000");
        }
        let empty = BloomFilter::new(0, 1 << 20);
        assert!((0..1000).all(|key| !empty.may_contain(0, key)));
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
        let (first, all) = (BloomFilter::of(&ctx, 0..1).unwrap(), BloomFilter::of(&ctx, 0..2).unwrap());
        assert_eq!((keys(0).len(), keys(1).len()), (2, 2));
        assert!(keys(0).into_iter().all(|key| first.may_contain(0, key) && all.may_contain(0, key)));
        assert!(keys(1).into_iter().all(|key| all.may_contain(0, key)));
        let none = BloomFilter::of(&ctx, 0..0).unwrap();
        assert!(!keys(0).into_iter().any(|key| none.may_contain(0, key)));
    }

    #[test]
    fn memory_bounds_a_filter() {
        assert_eq!(BloomFilter::new(0, 1 << 20).blocks.len(), 1);
        // Twelve bits for each key, in blocks of 64 bytes.
        assert_eq!(BloomFilter::new(10_000, u64::MAX).blocks.len(), 15_000usize.div_ceil(64));
        assert_eq!(BloomFilter::new(10_000, 640).blocks.len(), 10);
    }
}
