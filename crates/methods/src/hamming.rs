//! Stored fingerprints, and those of them within `k` bits of another: none is missed.
//!
//! ```
//! use lookalike_methods::hamming::HammingTables;
//!
//! let stored = [[0b0000], [0b0111], [0b1111], [u64::MAX]];
//! let tables = HammingTables::new(&stored, 64, 3, "4")?;
//! let mut near = Vec::new();
//! tables.near(&[0b0011], |number, distance| near.push((number, distance)));
//! near.sort_unstable();
//! assert_eq!(near, [(0, 2), (1, 1), (2, 2)]);
//! # Ok::<(), lookalike_methods::MethodError>(())
//! ```
//!
//! The tables of Manku, Jain and Sarma (2007): each holds all fingerprints, those side by side that agree in the bits of
//! its key. Instead of a search, a directory tells where those begin that agree in the key's first bits, as many of them
//! as leave a few fingerprints to an entry; what stands there is compared as a whole. A pair that agrees in the keys of several
//! tables is reported by the first of them.

use crate::MethodError;
use crate::simhash::tables::{Blocks, Tables};

/// Tables whose entries are prefetched together.
const TABLES_PER_BATCH: usize = 32;

/// Fingerprints for an entry of the directory, as a power of two: half of those that lie in one line of the cache.
const LOG2_PER_ENTRY: u32 = 2;

/// Fingerprints of `W` words in lookup tables.
#[derive(Debug)]
pub struct HammingTables<const W: usize> {
    tables: Vec<Table<W>>,
    k: u32,
    count: usize,
}

#[derive(Debug)]
struct Table<const W: usize> {
    /// Bits of the key.
    mask: [u64; W],
    /// The first bits of the key, which make the index of an entry in the directory.
    pieces: Vec<Piece>,
    /// For each entry the index of its first fingerprint; the value of the next entry is the end.
    directory: Vec<u32>,
    fingerprints: Vec<[u64; W]>,
    /// The number of each of them, in the order in which they were given.
    numbers: Vec<u32>,
}

/// Bits of a key that lie side by side.
#[derive(Debug, Clone, Copy)]
struct Piece {
    word: usize,
    shift: u32,
    mask: u64,
    /// Bits that stand below it.
    below: u32,
}

impl<const W: usize> HammingTables<W> {
    /// Tables for `fingerprints` of `bits` bits, to find those at most `k` bits away; `blocks` is the design, such as `4`,
    /// or `4x4` for two levels.
    pub fn new(fingerprints: &[[u64; W]], bits: usize, k: u32, blocks: &str) -> Result<Self, MethodError> {
        if bits.div_ceil(64) != W || k as usize >= bits {
            return Err(MethodError::Unable(format!(
                "fingerprints of {W} words have more than {} and up to {} bits, and fewer than all of them may differ",
                64 * W - 64,
                64 * W
            )));
        }
        if fingerprints.len() >= u32::MAX as usize {
            return Err(MethodError::Unable(format!(
                "tables hold up to {} fingerprints; make several of them",
                u32::MAX - 1
            )));
        }
        let unable = |wanted: &str| MethodError::Unable(format!("{blocks} blocks will not do: {wanted}"));
        let cut: Blocks =
            blocks.parse().map_err(|_| unable("a number such as 4, or two such as 4x4, are wanted"))?;
        let design = Tables::new(bits, cut, k as usize).map_err(|wanted| unable(&wanted))?;
        let table = |mask: &[u64]| Table::new(std::array::from_fn(|word| mask[word]), fingerprints);
        Ok(HammingTables { tables: design.masks().map(table).collect(), k, count: fingerprints.len() })
    }

    /// Number of fingerprints.
    pub fn len(&self) -> usize {
        self.count
    }

    /// True when there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Number of tables.
    pub fn tables(&self) -> usize {
        self.tables.len()
    }

    /// Bytes of memory that all tables take.
    pub fn bytes(&self) -> usize {
        self.tables.iter().map(Table::bytes).sum()
    }

    /// Gives every fingerprint within `k` bits of `query` to `each`, by its number and distance, once and in no
    /// particular order; returns how many fingerprints were compared.
    pub fn near(&self, query: &[u64; W], mut each: impl FnMut(u32, u32)) -> usize {
        #[cfg(target_arch = "x86_64")]
        {
            #[target_feature(enable = "popcnt")]
            fn counting<const W: usize>(
                tables: &HammingTables<W>,
                query: &[u64; W],
                each: impl FnMut(u32, u32),
            ) -> usize {
                tables.search(query, each)
            }
            if is_x86_feature_detected!("popcnt") {
                // SAFETY: the processor was asked for it.
                return unsafe { counting(self, query, &mut each) };
            }
        }
        self.search(query, each)
    }

    #[inline(always)]
    fn search(&self, query: &[u64; W], mut each: impl FnMut(u32, u32)) -> usize {
        let mut compared = 0;
        for (block, tables) in self.tables.chunks(TABLES_PER_BATCH).enumerate() {
            // All directories first and then all runs, so that memory answers them together.
            let mut runs = [(0, 0); TABLES_PER_BATCH];
            for (run, table) in runs.iter_mut().zip(tables) {
                *run = table.entry_range(query);
            }
            for (&(start, _), table) in runs.iter().zip(tables) {
                prefetch(table.fingerprints.as_ptr().wrapping_add(start));
            }
            for (index, (&(start, end), table)) in runs.iter().zip(tables).enumerate() {
                compared += end - start;
                for (at, stored) in (start..).zip(&table.fingerprints[start..end]) {
                    let distance = distance(stored, query);
                    if distance <= self.k
                        && self.is_first_match(block * TABLES_PER_BATCH + index, stored, query)
                    {
                        each(table.numbers[at], distance);
                    }
                }
            }
        }
        compared
    }

    /// True when the table at `index` is the first one whose key the two agree in: it reports the pair.
    fn is_first_match(&self, index: usize, one: &[u64; W], two: &[u64; W]) -> bool {
        self.tables.iter().position(|table| agree(one, two, &table.mask)) == Some(index)
    }
}

impl<const W: usize> Table<W> {
    fn new(mask: [u64; W], fingerprints: &[[u64; W]]) -> Self {
        let wanted = (usize::BITS - fingerprints.len().leading_zeros()).saturating_sub(LOG2_PER_ENTRY);
        let (pieces, bits) = pieces(&mask, wanted);
        let mut table = Table {
            mask,
            pieces,
            directory: vec![0; (1 << bits) + 1],
            fingerprints: vec![[0; W]; fingerprints.len()],
            numbers: vec![0; fingerprints.len()],
        };
        table.fill(fingerprints);
        table
    }

    /// Sorts the fingerprints by their entries: counts those of each, and then puts them there from the last to the
    /// first.
    fn fill(&mut self, fingerprints: &[[u64; W]]) {
        for fingerprint in fingerprints {
            let index = self.entry_index(fingerprint);
            self.directory[index] += 1;
        }
        let mut end = 0;
        for count in &mut self.directory {
            end += *count;
            *count = end;
        }
        for (number, fingerprint) in fingerprints.iter().enumerate().rev() {
            let index = self.entry_index(fingerprint);
            self.directory[index] -= 1;
            let at = self.directory[index] as usize;
            (self.fingerprints[at], self.numbers[at]) = (*fingerprint, number as u32);
        }
    }

    /// Returns the index of the entry of a fingerprint in the directory.
    #[inline(always)]
    fn entry_index(&self, fingerprint: &[u64; W]) -> usize {
        let bits = |piece: &Piece| (fingerprint[piece.word] >> piece.shift & piece.mask) << piece.below;
        self.pieces.iter().map(bits).fold(0, |index, bits| index | bits) as usize
    }

    /// The fingerprints that may agree with this one.
    #[inline(always)]
    fn entry_range(&self, fingerprint: &[u64; W]) -> (usize, usize) {
        let index = self.entry_index(fingerprint);
        (self.directory[index] as usize, self.directory[index + 1] as usize)
    }

    fn bytes(&self) -> usize {
        size_of_val(&self.directory[..])
            + size_of_val(&self.fingerprints[..])
            + size_of_val(&self.numbers[..])
    }
}

/// The first bits of a key, up to `wanted` of them, and how many they are.
fn pieces<const W: usize>(mask: &[u64; W], wanted: u32) -> (Vec<Piece>, u32) {
    let mut pieces: Vec<Piece> = Vec::new();
    let mut left = wanted;
    for word in (0..W).rev() {
        let mut bits = mask[word];
        while bits != 0 && left > 0 {
            // The highest bits that lie side by side.
            let top = u64::BITS - bits.leading_zeros();
            let size = (bits << (u64::BITS - top)).leading_ones().min(left);
            let shift = top - size;
            pieces.push(Piece { word, shift, mask: u64::MAX >> (u64::BITS - size), below: 0 });
            left -= size;
            bits &= !(u64::MAX >> (u64::BITS - size) << shift);
        }
    }
    let mut below = 0;
    for piece in pieces.iter_mut().rev() {
        piece.below = below;
        below += piece.mask.count_ones();
    }
    (pieces, below)
}

/// Tells the processor that this will be read.
#[inline(always)]
fn prefetch<T>(_address: *const T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: every x86-64 processor has the instruction, which is a hint: nothing is read, and no
        // address is wrong.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(_address.cast()) };
    }
}

#[inline(always)]
fn distance<const W: usize>(one: &[u64; W], two: &[u64; W]) -> u32 {
    one.iter().zip(two).map(|(one, two)| (one ^ two).count_ones()).sum()
}

#[inline(always)]
fn agree<const W: usize>(one: &[u64; W], two: &[u64; W], mask: &[u64; W]) -> bool {
    one.iter().zip(two).zip(mask).all(|((one, two), mask)| (one ^ two) & mask == 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn scan<const W: usize>(stored: &[[u64; W]], query: &[u64; W], k: u32) -> Vec<(u32, u32)> {
        let all = (0..).zip(stored).map(|(number, stored)| (number, distance(stored, query)));
        all.filter(|(_, distance)| *distance <= k).collect()
    }

    fn found<const W: usize>(tables: &HammingTables<W>, query: &[u64; W]) -> Vec<(u32, u32)> {
        let mut found = Vec::new();
        let compared = tables.near(query, |number, distance| found.push((number, distance)));
        assert!(compared >= found.len() && compared <= tables.len() * tables.tables());
        found.sort_unstable();
        found
    }

    /// Fingerprints around a few centres, so that many are near each other.
    fn crowd<const W: usize>(bits: usize) -> impl Strategy<Value = Vec<[u64; W]>> {
        let centres = prop::collection::vec(prop::collection::vec(any::<u64>(), W), 1..4);
        let flips = prop::collection::vec((0usize..4, prop::collection::vec(0..bits, 0..7)), 0..60);
        (centres, flips).prop_map(move |(centres, flips)| {
            let one = |(centre, flips): (usize, Vec<usize>)| {
                let mut words: [u64; W] = std::array::from_fn(|word| centres[centre % centres.len()][word]);
                words[W - 1] &= u64::MAX >> (64 * W - bits);
                flips.iter().for_each(|flip| words[flip / 64] ^= 1 << (flip % 64));
                words
            };
            flips.into_iter().map(one).collect()
        })
    }

    fn check<const W: usize>(
        all: &[[u64; W]],
        bits: usize,
        k: u32,
        blocks: &str,
    ) -> Result<(), TestCaseError> {
        let tables = HammingTables::new(all, bits, k, blocks).unwrap();
        for query in all.iter().chain(&[[0; W]]) {
            prop_assert_eq!(found(&tables, query), scan(all, query, k), "{} bits, {} blocks", bits, blocks);
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn finds_what_a_scan_finds(all in crowd::<1>(64), design in 0usize..8) {
            let (k, blocks) =
                [(3, "4"), (3, "5"), (3, "6"), (3, "4x4"), (2, "3x4"), (0, "1"), (1, "64"), (5, "7")][design];
            check(&all, 64, k, blocks)?;
        }

        #[test]
        fn finds_what_a_scan_finds_at_other_widths(
            short in crowd::<1>(20),
            odd in crowd::<2>(100),
            wide in crowd::<6>(384),
            design in 0usize..3,
        ) {
            check(&short, 20, [2, 2, 0][design], ["3x5", "4", "1"][design])?;
            check(&odd, 100, [3, 4, 6][design], ["4x4", "5", "7"][design])?;
            check(&wide, 384, [3, 8, 1][design], ["4x5", "9", "2"][design])?;
        }
    }

    #[test]
    fn what_cannot_be_is_a_sentence() {
        let error =
            |bits, k, blocks: &str| HammingTables::new(&[[0u64]], bits, k, blocks).unwrap_err().to_string();
        assert!(error(64, 3, "3").contains("more blocks than the 3 bits"));
        assert!(error(64, 3, "four").contains("4x4"));
        assert!(error(65, 3, "4").contains("more than 0 and up to 64 bits"));
        assert!(error(8, 8, "9").contains("fewer than all"));
    }

    #[test]
    fn tables_are_as_large_as_they_say() {
        let all: Vec<[u64; 1]> = (0..1000u64).map(|number| [lookalike_hash::mix(number)]).collect();
        let tables = HammingTables::new(&all, 64, 3, "4").unwrap();
        assert_eq!((tables.len(), tables.tables(), tables.is_empty()), (1000, 4, false));
        assert_eq!(tables.bytes(), 4 * (1000 * (8 + 4) + 4 * 257));
    }
}
