//! The table of common subsequences, row by row, 64 cells in a word.
//!
//! A cell is the length of the longest common subsequence of what is above it and what is left of it. Along a row cells
//! grow by nothing or by one; a bit is 0 where they grow. One addition makes a word of a row from that of the row before,
//! and hands on whether the last cell grew from row to row (Crochemore et al. 2001, Hyyrö 2004).
//!
//! Every so many rows the words are looked at. A cell from where even the best rest cannot reach the length that is asked
//! for is of no use: on the left for good, on the right until better cells come near. So only a band of words is gone
//! through, and when none is left, there is no such length.

use std::ops::Range;

use super::alphabet::Texts;
use super::masks::Masks;

/// Rows between two looks at the band.
const ROWS: usize = 64;

/// A row of the table.
#[derive(Default)]
pub(super) struct Table {
    row: Vec<u64>,
    /// The number of times that each symbol occurs in the rows and in the columns that are left.
    left: Vec<[u32; 2]>,
}

/// The words of a row that matter.
struct Band {
    words: Range<usize>,
    /// The cell in front of them.
    before: usize,
    /// Most that rows and columns from here on can have in common.
    rest: usize,
}

impl Table {
    /// Length of the longest common subsequence, or, if it is below `least`, the number of rows that it took to see that.
    pub(super) fn common(
        &mut self,
        texts: &Texts<'_>,
        masks: &mut Masks,
        least: usize,
    ) -> Result<usize, usize> {
        self.row.clear();
        self.row.resize(texts.columns.len().div_ceil(64), u64::MAX);
        self.left.clear();
        self.left.extend_from_slice(texts.counts);
        let mut band = Band { words: 0..0, before: 0, rest: texts.both() };
        for (number, rows) in texts.rows.chunks(ROWS).enumerate() {
            let above = number * ROWS;
            self.narrow(&mut band, texts, above, least);
            if band.words.is_empty() {
                return Err(above);
            }
            masks.reach(texts, band.words.end);
            for &symbol in rows {
                let row = &mut self.row[band.words.clone()];
                masks.with(symbol, band.words.clone(), |mask| next(row, mask));
                let [one, other] = &mut self.left[symbol as usize];
                band.rest -= usize::from(one <= other);
                *one -= 1;
            }
        }
        let found = band.before + self.row[band.words].iter().map(grown).sum::<usize>();
        if found < least { Err(texts.rows.len()) } else { Ok(found) }
    }

    /// Leaves out the words that do not matter any more, and takes in those that the next rows may need.
    fn narrow(&mut self, band: &mut Band, texts: &Texts<'_>, above: usize, least: usize) {
        let below = texts.rows.len() - above;
        // The first words come in below.
        while band.words.start < band.words.end {
            let cell = band.before + grown(&self.row[band.words.start]);
            if cell + below.min(band.rest) >= least {
                break;
            }
            self.leave(band, texts, cell);
        }
        if band.words.is_empty() && above > 0 {
            return;
        }
        // Words further on have not begun to grow. The next rows can add one each.
        let cell = band.before + self.row[band.words.clone()].iter().map(grown).sum::<usize>();
        let reach = (cell + texts.columns.len() + ROWS).saturating_sub(least);
        while band.words.end < self.row.len() && 64 * band.words.end <= reach {
            band.words.end += 1;
        }
    }

    /// Leaves the first word of the band behind, the last cell of which is `cell`.
    fn leave(&mut self, band: &mut Band, texts: &Texts<'_>, cell: usize) {
        let columns = texts.columns.chunks(64).nth(band.words.start).unwrap_or_default();
        for &symbol in columns {
            let [one, other] = &mut self.left[symbol as usize];
            band.rest -= usize::from(other <= one);
            *other -= 1;
        }
        band.before = cell;
        band.words.start += 1;
    }

    /// Memory that is held.
    pub(super) fn bytes(&self) -> usize {
        8 * (self.row.capacity() + self.left.capacity())
    }
}

/// By how much cells grow along a word.
fn grown(word: &u64) -> usize {
    word.count_zeros() as usize
}

/// The next row, for a symbol that stands where `mask` has bits.
#[inline]
fn next(row: &mut [u64], mask: &[u64]) {
    let mut carry = false;
    let (row, row_end) = row.as_chunks_mut::<UNROLLED>();
    let (mask, mask_end) = mask.as_chunks::<UNROLLED>();
    for (words, masks) in row.iter_mut().zip(mask) {
        *words = sums(*words, *masks, &mut carry);
    }
    for (word, &mask) in row_end.iter_mut().zip(mask_end) {
        [*word] = sums([*word], [mask], &mut carry);
    }
}

/// Words whose additions follow one another directly, so that the carry need not leave its flag.
const UNROLLED: usize = 4;

#[inline]
fn sums<const N: usize>(words: [u64; N], masks: [u64; N], carry: &mut bool) -> [u64; N] {
    let matched: [u64; N] = std::array::from_fn(|at| words[at] & masks[at]);
    let mut sums = [0; N];
    for at in 0..N {
        (sums[at], *carry) = words[at].carrying_add(matched[at], *carry);
    }
    std::array::from_fn(|at| sums[at] | (words[at] ^ matched[at]))
}

#[cfg(test)]
mod tests {
    use super::super::alphabet::Alphabet;
    use super::*;
    use proptest::prelude::*;

    /// The whole table, cell by cell.
    fn plain(rows: &[u64], columns: &[u64]) -> usize {
        let mut table = vec![vec![0; columns.len() + 1]; rows.len() + 1];
        for (i, a) in rows.iter().enumerate() {
            for (j, b) in columns.iter().enumerate() {
                table[i + 1][j + 1] =
                    if a == b { table[i][j] + 1 } else { table[i][j + 1].max(table[i + 1][j]) };
            }
        }
        table[rows.len()][columns.len()]
    }

    proptest! {
        #[test]
        fn lengths_are_those_of_the_whole_table(
            rows in prop::collection::vec(0u64..6, 1..200),
            columns in prop::collection::vec(0u64..6, 1..200),
            least in 0usize..120,
        ) {
            // The table has a row for each symbol of the shorter one.
            let (rows, columns) = if rows.len() <= columns.len() { (rows, columns) } else { (columns, rows) };
            let expected = plain(&rows, &columns);
            let mut alphabet = Alphabet::default();
            let texts = alphabet.encode(&rows, &columns);
            prop_assume!(texts.both() >= least && !texts.rows.is_empty());
            let mut masks = Masks::default();
            masks.set(&texts);
            match Table::default().common(&texts, &mut masks, least) {
                Ok(found) => prop_assert!(found == expected && found >= least),
                Err(seen) => prop_assert!(expected < least && seen <= texts.rows.len(), "{expected} {least}"),
            }
        }

        #[test]
        fn carries_go_on_from_word_to_word(words in prop::collection::vec((any::<u64>(), any::<u64>()), 0..11)) {
            let (mut row, mask): (Vec<u64>, Vec<u64>) = words.iter().copied().unzip();
            // A number of as many words, bit by bit: (row + (row & mask)) | (row & !mask).
            let mut carry = 0;
            let expected: Vec<u64> = words
                .iter()
                .map(|&(row, mask)| {
                    let sum = u128::from(row) + u128::from(row & mask) + carry;
                    carry = sum >> 64;
                    sum as u64 | (row & !mask)
                })
                .collect();
            next(&mut row, &mask);
            prop_assert_eq!(row, expected);
        }
    }

    #[test]
    fn cells_grow_where_a_word_has_zeros() {
        assert_eq!([u64::MAX, 0, !0b1011].map(|word| grown(&word)), [0, 64, 3]);
    }
}
