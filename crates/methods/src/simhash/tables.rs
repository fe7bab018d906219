//! Tables: which bits of a fingerprint make a key, so that no pair of fingerprints within `k` bits is missed.
//!
//! Bits are cut into more than `k` blocks. Two fingerprints that differ in at most `k` bits differ in at most `k`
//! blocks, so all but `k` blocks are equal; there is a table for each choice of those (Manku, Jain, Sarma 2007). The
//! rest of the bits can be cut again in the same way, for more tables with longer keys. That also is how a group that
//! has grown too large falls apart: its members agree in the table's bits, and share a key on the bits that are left.

use std::fmt;

use lookalike_hash as hash;

/// Bits of a fingerprint, as many words as it has; a set bit belongs to the key.
type Mask = Vec<u64>;

/// More tables than this cost more than they save.
const MAX_TABLES: u128 = 256;

/// Stricter keys of one member of a group: each depth has at most this many.
const MAX_SPLITS: u128 = 64;

/// Depths at which groups fall apart.
const MAX_DEPTHS: usize = 8;

/// The numbers of blocks that bits are cut into: first all bits, then perhaps those that a choice of blocks leaves
/// over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Blocks {
    pub(crate) first: usize,
    pub(crate) second: Option<usize>,
}

impl fmt::Display for Blocks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.second {
            Some(second) => write!(f, "{}x{second}", self.first),
            None => write!(f, "{}", self.first),
        }
    }
}

impl std::str::FromStr for Blocks {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(match text.split_once('x') {
            Some((first, second)) => Blocks { first: first.parse()?, second: Some(second.parse()?) },
            None => Blocks { first: text.parse()?, second: None },
        })
    }
}

/// The tables of one design.
#[derive(Debug)]
pub(crate) struct Tables {
    tables: Vec<Table>,
}

#[derive(Debug)]
struct Table {
    mask: Mask,
    /// Masks of stricter keys, by depth; none of their bits is in `mask`.
    splits: Vec<Vec<Mask>>,
}

impl Tables {
    /// Tables for fingerprints of `bits` bits and up to `k` that differ; the error tells which blocks would do.
    pub(crate) fn new(bits: usize, blocks: Blocks, k: usize) -> Result<Self, String> {
        let Blocks { first, second } = blocks;
        if first <= k || second.is_some_and(|second| second <= k) {
            return Err(format!("more blocks than the {k} bits that may differ are wanted"));
        }
        // The least number of bits that a choice in the first cut leaves over.
        let left = k * (bits / first.max(1));
        if first > bits || second.is_some_and(|second| second > left) {
            return Err("every block must have at least one bit".to_owned());
        }
        let count = binomial(first, k).saturating_mul(second.map_or(1, |second| binomial(second, k)));
        if count > MAX_TABLES {
            return Err(format!(
                "that makes {count} tables, and more than {MAX_TABLES} do not pay; use less"
            ));
        }
        // From the highest bit down, as fingerprints are written.
        let all: Vec<usize> = (0..bits).rev().collect();
        let masks = block_masks(&all, bits, first, k).into_iter().flat_map(|mask| match second {
            None => vec![mask],
            Some(second) => {
                let inner = block_masks(&unmasked(&all, &mask), bits, second, k);
                inner.into_iter().map(|inner| union(&mask, &inner)).collect()
            }
        });
        let table = |mask: Mask| Table { splits: splits(&unmasked(&all, &mask), bits, k), mask };
        Ok(Tables { tables: masks.map(table).collect() })
    }

    /// The key of `fingerprint` in each table, in the tables' order.
    pub(crate) fn keys(&self, fingerprint: &[u64]) -> impl Iterator<Item = u64> {
        (1..).zip(&self.tables).map(|(number, table)| key(number, &table.mask, fingerprint))
    }

    /// The bits of each table's key.
    pub(crate) fn masks(&self) -> impl Iterator<Item = &[u64]> {
        self.tables.iter().map(|table| &table.mask[..])
    }

    /// Appends the stricter keys that `fingerprint` has at this `depth` among those that share its key in `table`.
    pub(crate) fn split(&self, fingerprint: &[u64], table: usize, depth: usize, keys: &mut Vec<u64>) {
        let splits = self.tables.get(table).map_or(&[][..], |table| &table.splits);
        let Some(masks) = depth.checked_sub(1).and_then(|depth| splits.get(depth)) else { return };
        // The number goes into the hash of a key, so that keys of different masks never meet but by chance.
        // These are far from the numbers of tables and of other depths.
        let first = (table as u64 + 1) << 32 | (depth as u64) << 16;
        keys.extend((first..).zip(masks).map(|(number, mask)| key(number, mask, fingerprint)));
    }

    /// Number of tables.
    pub(crate) fn len(&self) -> usize {
        self.tables.len()
    }

    /// Bits of the shortest key.
    pub(crate) fn shortest(&self) -> u32 {
        self.tables.iter().map(|table| size(&table.mask)).min().unwrap_or(0)
    }
}

/// Hash of a whole fingerprint, unlike the keys of tables.
pub(crate) fn fingerprint_hash(fingerprint: &[u64]) -> u64 {
    fingerprint.iter().fold(0, |state, &word| hash::mix(state ^ hash::mix(word)))
}

/// Hash of the masked bits, another one for each `number`.
fn key(number: u64, mask: &[u64], fingerprint: &[u64]) -> u64 {
    // Words are mixed one after the other, not added up: bits of two words must not make up for each other.
    let words = mask.iter().zip(fingerprint);
    words.fold(hash::mix(number), |state, (mask, word)| hash::mix(state ^ (mask & word)))
}

/// Designs for the bits that a table leaves over, each with longer keys than the one before.
fn splits(left: &[usize], bits: usize, k: usize) -> Vec<Vec<Mask>> {
    let mut designs: Vec<Vec<Mask>> = Vec::new();
    let mut longest = 0;
    // `k` blocks may differ and `equal` more are there: one key for each choice of `equal` blocks. More
    // blocks make longer keys and more of them; a design whose shortest key is no longer than before would
    // not take a group further apart.
    for equal in 1..=left.len().saturating_sub(k) {
        if designs.len() == MAX_DEPTHS || binomial(k + equal, k) > MAX_SPLITS {
            break;
        }
        let masks = block_masks(left, bits, k + equal, k);
        let shortest = masks.iter().map(|mask| size(mask)).min().unwrap_or(0);
        if shortest > longest {
            longest = shortest;
            designs.push(masks);
        }
    }
    designs
}

/// Cuts `positions` into blocks and returns a mask for each choice of all but `k` of them.
fn block_masks(positions: &[usize], bits: usize, blocks: usize, k: usize) -> Vec<Mask> {
    let blocks = split_into_blocks(positions, blocks);
    let mask = |chosen: Vec<usize>| {
        let mut mask = vec![0; bits.div_ceil(64)];
        for place in chosen.into_iter().flat_map(|block| blocks[block]) {
            mask[place / 64] |= 1 << (place % 64);
        }
        mask
    };
    subsets(blocks.len(), blocks.len() - k).into_iter().map(mask).collect()
}

/// Blocks of sizes that differ by at most one, larger ones first.
fn split_into_blocks(positions: &[usize], blocks: usize) -> Vec<&[usize]> {
    let (size, larger) = (positions.len() / blocks, positions.len() % blocks);
    // Each block before this one has `size` positions, and as many of them as are larger have one more.
    let start = |block: usize| block * size + block.min(larger);
    (0..blocks).map(|block| &positions[start(block)..start(block + 1)]).collect()
}

/// All choices of `take` numbers below `of`, in order.
fn subsets(of: usize, take: usize) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for place in 0..take {
        all = all
            .into_iter()
            .flat_map(|chosen: Vec<usize>| {
                let next = chosen.last().map_or(0, |last| last + 1);
                // As many must remain as are still to be chosen.
                (next..=of - (take - place)).map(move |number| [&chosen[..], &[number]].concat())
            })
            .collect();
    }
    all
}

/// Number of choices of `take` out of `of`, or as many as fit.
fn binomial(of: usize, take: usize) -> u128 {
    // After each factor the product is a binomial coefficient itself, so that every division is exact.
    let take = take.min(of - take);
    (0..take).fold(1u128, |count, place| count.saturating_mul((of - place) as u128) / (place as u128 + 1))
}

/// The positions that are not in `mask`.
fn unmasked(positions: &[usize], mask: &[u64]) -> Vec<usize> {
    positions.iter().copied().filter(|place| mask[place / 64] >> (place % 64) & 1 == 0).collect()
}

fn union(a: &[u64], b: &[u64]) -> Mask {
    a.iter().zip(b).map(|(a, b)| a | b).collect()
}

fn size(mask: &[u64]) -> u32 {
    mask.iter().map(|word| word.count_ones()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn tables(bits: usize, blocks: &str, k: usize) -> Tables {
        Tables::new(bits, blocks.parse().unwrap(), k).unwrap()
    }

    fn distance(a: &[u64], b: &[u64]) -> u32 {
        a.iter().zip(b).map(|(a, b)| (a ^ b).count_ones()).sum()
    }

    /// d1 to d8 of the thesis' example; d2 as its table keys say.
    const HASHES: [u64; 8] = [
        0b1010_1010,
        0b1111_1010,
        0b1010_1011,
        0b1010_0000,
        0b1001_1100,
        0b0001_0110,
        0b1111_0000,
        0b0001_1100,
    ];

    /// The masked bits of `hash`, moved together.
    fn together(hash: u64, mask: u64) -> String {
        let positions = (0..8).rev().filter(|place| mask >> place & 1 == 1);
        positions.map(|place| if hash >> place & 1 == 1 { '1' } else { '0' }).collect()
    }

    /// Documents of a table by key, as the thesis prints them.
    fn content(table: &Table) -> String {
        let mut groups: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (number, &hash) in (1..).zip(&HASHES) {
            groups.entry(together(hash, table.mask[0])).or_default().push(format!("d{number}"));
        }
        groups
            .iter()
            .map(|(key, documents)| format!("{key} {}", documents.join(" ")))
            .collect::<Vec<_>>()
            .join(" · ")
    }

    #[test]
    fn tables_of_example_3_4() {
        let design = tables(8, "4", 2);
        let expected = [
            "0001 d6 d8 · 1001 d5 · 1010 d1 d3 d4 · 1111 d2 d7",
            "0001 d6 · 0011 d8 · 1000 d4 · 1010 d1 d3 · 1011 d5 · 1100 d7 · 1110 d2",
            "0000 d8 · 0010 d6 · 1000 d4 d5 · 1010 d1 · 1011 d3 · 1100 d7 · 1110 d2",
            "0101 d6 · 0111 d5 d8 · 1000 d4 · 1010 d1 d3 · 1100 d7 · 1110 d2",
            "0100 d5 d8 · 0110 d6 · 1000 d4 · 1010 d1 · 1011 d3 · 1100 d7 · 1110 d2",
            "0000 d4 d7 · 0110 d6 · 1010 d1 d2 · 1011 d3 · 1100 d5 d8",
        ];
        assert_eq!(design.tables.iter().map(content).collect::<Vec<_>>(), expected);
    }

    /// Candidates for a query among d1, d2 and so on, and those of them within two bits.
    fn found(query: u64, hashes: &[u64]) -> (Vec<u32>, Vec<u32>) {
        let design = tables(8, "4", 2);
        let keys: Vec<u64> = design.keys(&[query]).collect();
        let shares = |hash: u64| design.keys(&[hash]).zip(&keys).any(|(a, &b)| a == b);
        let candidates = || (1..).zip(hashes).filter(|(_, hash)| shares(**hash));
        let near = |(number, hash): (u32, &u64)| ((hash ^ query).count_ones() <= 2).then_some(number);
        (candidates().map(|(number, _)| number).collect(), candidates().filter_map(near).collect())
    }

    /// The example's hashes with another one in place of the one of this number.
    fn with(number: usize, hash: u64) -> [u64; 8] {
        let mut hashes = HASHES;
        hashes[number - 1] = hash;
        hashes
    }

    /// The hashes that a query may have whose candidates and near-duplicates the thesis names.
    fn queries(hashes: &[u64], candidates: &[u32], near: &[u32]) -> Vec<u64> {
        let fits = |query: &u64| found(*query, hashes) == (candidates.to_vec(), near.to_vec());
        (0..256).filter(fits).collect()
    }

    const PRINTED_D2: u64 = 0b1111_0110;

    #[test]
    fn queries_of_example_3_5() {
        let distances =
            |query: u64, numbers: [usize; 3]| numbers.map(|d| (HASHES[d - 1] ^ query).count_ones());
        // The thesis has lost the hashes of d9 and d10. There is but one that d10 can have.
        assert_eq!(queries(&HASHES, &[4, 5, 7], &[4]), [0b1000_0000]);
        assert_eq!(distances(0b1000_0000, [4, 5, 7]), [1, 3, 3]);
        assert_eq!(found(0b0101_1010, &HASHES), (vec![1, 2, 6], vec![2]));
        assert_eq!(distances(0b0101_1010, [1, 2, 6]), [4, 2, 3]);
    }

    #[test]
    fn no_hash_is_that_of_d9() {
        let named: (&[u32], &[u32]) = (&[1, 2, 5, 6], &[2]);
        for d2 in [HASHES[1], PRINTED_D2] {
            assert_eq!(queries(&with(2, d2), named.0, named.1), []);
        }
        // The named candidates are found as d2 is printed, but two more of them are near.
        let query = 0b1001_0110;
        let (candidates, near) = found(query, &with(2, PRINTED_D2));
        assert_eq!(candidates, named.0);
        assert!(near.contains(&5) && near.contains(&6), "{near:?}");
        assert_eq!([5, 6].map(|d: usize| (HASHES[d - 1] ^ query).count_ones()), [2, 1]);
        // One other bit of d5 would do.
        for d5 in [0b1001_1000, 0b1001_1110] {
            assert_eq!((d5 ^ HASHES[4]).count_ones(), 1);
            assert_eq!(found(0b0101_1010, &with(5, d5)), (named.0.to_vec(), named.1.to_vec()));
        }
    }

    #[test]
    fn designs_have_the_published_numbers_of_tables_and_bits() {
        for (blocks, k, count, shortest) in [
            ("4", 3, 4, 16),
            ("5", 3, 10, 25),
            ("6", 3, 20, 31),
            ("4x4", 3, 16, 28),
            ("1", 0, 1, 64),
            ("8", 4, 70, 32),
        ] {
            let design = tables(64, blocks, k);
            assert_eq!((design.len(), design.shortest()), (count, shortest), "{blocks} blocks, {k} bits");
        }
        let counts = [(4, 2), (4, 3), (5, 3), (6, 3), (8, 4), (3, 1)].map(|(of, take)| binomial(of, take));
        assert_eq!(counts, [6, 4, 10, 20, 70, 3]);
    }

    #[test]
    fn candidates_of_a_lookup_are_few() {
        // 155,419 judged documents in tables with keys of 16 bits.
        let documents = 155_419f64;
        assert!((documents.log2() - 17.2458).abs() < 0.5e-4);
        assert!((documents / f64::from(1 << tables(64, "4", 3).shortest()) - 2.3715).abs() < 0.5e-4);
        assert_eq!((documents.log2().ceil() - 16.0).exp2(), 4.0);
    }

    #[test]
    fn designs_that_cannot_be_are_refused() {
        let error = |bits, blocks: &str, k| Tables::new(bits, blocks.parse().unwrap(), k).unwrap_err();
        assert!(error(64, "3", 3).contains("more blocks than the 3 bits"));
        assert!(error(64, "4x3", 3).contains("more blocks"));
        assert!(error(64, "0", 0).contains("more blocks"));
        assert!(error(64, "65", 3).contains("at least one bit"));
        assert!(error(64, "4x49", 3).contains("at least one bit"));
        assert!(error(64, "2x4", 0).contains("at least one bit"));
        assert!(error(64, "12", 6).contains("924 tables"));
        assert!(error(384, "384", 190).contains("tables"));
    }

    /// A fingerprint and another at most `k` bits away.
    fn pair(words: &[u64], flips: &[usize], bits: usize) -> (Vec<u64>, Vec<u64>) {
        let limit = |mut words: Vec<u64>| {
            words.truncate(bits.div_ceil(64));
            if bits < 64 {
                words[0] &= (1 << bits) - 1;
            }
            words
        };
        let one = limit(words.to_vec());
        let mut two = one.clone();
        flips.iter().map(|flip| flip % bits).for_each(|flip| two[flip / 64] ^= 1 << (flip % 64));
        (one, two)
    }

    const DESIGNS: [(usize, &str, usize); 14] = [
        (8, "4", 2),
        (8, "2", 1),
        (20, "3x5", 2),
        (64, "1", 0),
        (64, "4", 3),
        (64, "5", 3),
        (64, "6", 3),
        (64, "4x4", 3),
        (64, "3x4", 2),
        (64, "7", 5),
        (128, "7", 6),
        (256, "9", 8),
        (384, "13", 12),
        (384, "4x5", 3),
    ];

    proptest! {
        #[test]
        fn no_pair_within_k_is_missed(
            design in 0..DESIGNS.len(),
            words in prop::collection::vec(any::<u64>(), 6),
            flips in prop::collection::vec(0usize..384, 0..12),
        ) {
            let (bits, blocks, k) = DESIGNS[design];
            let design = tables(bits, blocks, k);
            let (one, two) = pair(&words, &flips[..flips.len().min(k)], bits);
            prop_assert!(distance(&one, &two) <= k as u32);
            let shared: Vec<usize> =
                design.keys(&one).zip(design.keys(&two)).enumerate().filter(|(_, (a, b))| a == b).map(|(i, _)| i).collect();
            prop_assert!(!shared.is_empty());
            for table in shared {
                for depth in 1..=MAX_DEPTHS {
                    let (mut left, mut right) = (Vec::new(), Vec::new());
                    design.split(&one, table, depth, &mut left);
                    design.split(&two, table, depth, &mut right);
                    prop_assert_eq!(left.len(), right.len());
                    prop_assert!(left.is_empty() || left.iter().any(|key| right.contains(key)), "depth {}", depth);
                }
            }
        }

        #[test]
        fn tables_find_what_a_scan_finds(
            design in 0..DESIGNS.len(),
            centre in prop::collection::vec(any::<u64>(), 6),
            flips in prop::collection::vec(prop::collection::vec(0usize..384, 0..9), 2..12),
        ) {
            let (bits, blocks, k) = DESIGNS[design];
            let design = tables(bits, blocks, k);
            let all: Vec<Vec<u64>> = flips.iter().map(|flips| pair(&centre, flips, bits).1).collect();
            for one in &all {
                for two in &all {
                    let meets = design.keys(one).zip(design.keys(two)).any(|(a, b)| a == b);
                    prop_assert!(meets || distance(one, two) > k as u32);
                }
            }
        }
    }

    #[test]
    fn deeper_splits_are_stricter_and_come_to_an_end() {
        for (bits, blocks, k) in DESIGNS {
            for table in &tables(bits, blocks, k).tables {
                let shortest: Vec<u32> = table
                    .splits
                    .iter()
                    .map(|masks| masks.iter().map(|mask| size(mask)).min().unwrap())
                    .collect();
                assert!(shortest.is_sorted_by(|a, b| a < b), "{bits} {blocks} {k}: {shortest:?}");
                let overlap = table
                    .splits
                    .iter()
                    .flatten()
                    .any(|mask| mask.iter().zip(&table.mask).any(|(a, b)| a & b != 0));
                assert!(!overlap && table.splits.len() <= MAX_DEPTHS);
            }
        }
        let design = tables(64, "4", 3);
        assert_eq!(design.tables[0].splits.len(), 5);
        let mut keys = Vec::new();
        for (table, depth) in [(0, 0), (0, 9), (4, 1), (usize::MAX, 1)] {
            design.split(&[7], table, depth, &mut keys);
        }
        assert!(keys.is_empty());
    }
}
