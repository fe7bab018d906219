//! Symbols as small numbers, in the order in which they are met.

use std::collections::HashMap;

/// A symbol without a number.
const NONE: u32 = 0;

/// Symbols below this have a slot in a table: nearly all characters in use.
const TABLE_SIZE: usize = 1 << 16;

/// The numbers of the symbols of two texts.
#[derive(Default)]
pub(super) struct Alphabet {
    /// Of symbols below [`TABLE_SIZE`].
    table: Vec<u32>,
    /// Of all others.
    map: HashMap<u64, u32>,
    /// Every symbol that has a number.
    numbered: Vec<u64>,
    rows: Vec<u32>,
    columns: Vec<u32>,
    counts: Vec<[u32; 2]>,
}

/// Two texts without what only one of them holds.
pub(super) struct Texts<'t> {
    /// The symbols of one.
    pub(super) rows: &'t [u32],
    /// The symbols of the other.
    pub(super) columns: &'t [u32],
    /// The number of times that each symbol occurs in the one and in the other.
    pub(super) counts: &'t [[u32; 2]],
}

impl Texts<'_> {
    /// Symbols that both hold, whatever their order.
    pub(super) fn both(&self) -> usize {
        self.counts.iter().map(|[a, b]| *a.min(b) as usize).sum()
    }
}

impl Alphabet {
    /// Two texts in numbers.
    pub(super) fn encode(&mut self, rows: &[u64], columns: &[u64]) -> Texts<'_> {
        self.table.resize(TABLE_SIZE, NONE);
        self.counts.clear();
        self.counts.push([0; 2]);
        self.columns.resize(columns.len().max(self.columns.len()), NONE);
        for (at, &symbol) in columns.iter().enumerate() {
            let mut number = self.number(symbol);
            if number == NONE {
                number = self.add(symbol);
            }
            self.counts[number as usize][1] += 1;
            self.columns[at] = number;
        }
        self.rows.resize(rows.len().max(self.rows.len()), NONE);
        // What has no number is overwritten by what comes next.
        let mut kept = 0;
        for &symbol in rows {
            let number = self.number(symbol);
            self.counts[number as usize][0] += 1;
            self.rows[kept] = number;
            kept += usize::from(number != NONE);
        }
        self.counts[NONE as usize] = [0; 2];
        self.forget();
        let columns = self.drop_unshared(columns.len());
        Texts { rows: &self.rows[..kept], columns: &self.columns[..columns], counts: &self.counts }
    }

    /// Drops columns that no row has; returns how many are left of `columns`.
    fn drop_unshared(&mut self, columns: usize) -> usize {
        if self.counts[1..].iter().all(|count| count[0] > 0) {
            return columns;
        }
        let mut left = 0;
        for at in 0..columns {
            let number = self.columns[at];
            self.columns[left] = number;
            left += usize::from(self.counts[number as usize][0] > 0);
        }
        self.counts.iter_mut().filter(|count| count[0] == 0).for_each(|count| count[1] = 0);
        left
    }

    /// Takes all numbers back.
    fn forget(&mut self) {
        for symbol in self.numbered.drain(..) {
            if let Some(number) = self.table.get_mut(table_index(symbol)) {
                *number = NONE;
            }
        }
        self.map.clear();
    }

    fn number(&self, symbol: u64) -> u32 {
        match self.table.get(table_index(symbol)) {
            Some(&number) => number,
            None => self.map.get(&symbol).copied().unwrap_or(NONE),
        }
    }

    #[cold]
    fn add(&mut self, symbol: u64) -> u32 {
        let number = self.counts.len() as u32;
        self.counts.push([0; 2]);
        self.numbered.push(symbol);
        match self.table.get_mut(table_index(symbol)) {
            Some(slot) => *slot = number,
            None => drop(self.map.insert(symbol, number)),
        }
        number
    }

    /// Memory that is held.
    pub(super) fn bytes(&self) -> usize {
        4 * (self.table.capacity() + self.rows.capacity() + self.columns.capacity())
            + 16 * self.map.capacity()
            + 8 * (self.numbered.capacity() + self.counts.capacity())
    }
}

/// Returns the index of a symbol in the table; the index behind its end for all others.
fn table_index(symbol: u64) -> usize {
    symbol.min(TABLE_SIZE as u64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn counts(text: &[u64]) -> BTreeMap<u64, usize> {
        let mut counts = BTreeMap::new();
        text.iter().for_each(|&symbol| *counts.entry(symbol).or_default() += 1);
        counts
    }

    proptest! {
        #[test]
        fn texts_keep_what_both_hold_in_its_order(
            rows in prop::collection::vec(prop_oneof![0u64..9, 65_530u64..65_540, any::<u64>()], 0..40),
            columns in prop::collection::vec(prop_oneof![0u64..9, 65_530u64..65_540], 0..40),
            before in prop::collection::vec(0u64..70_000, 0..20),
        ) {
            let mut alphabet = Alphabet::default();
            // Nothing stays of texts that came before.
            alphabet.encode(&before, &rows);
            let texts = alphabet.encode(&rows, &columns);
            let (in_rows, in_columns) = (counts(&rows), counts(&columns));
            let shared = |text: &[u64], other: &BTreeMap<u64, usize>| -> Vec<u64> {
                text.iter().copied().filter(|symbol| other.contains_key(symbol)).collect()
            };
            let (kept_rows, kept_columns) = (shared(&rows, &in_columns), shared(&columns, &in_rows));
            prop_assert_eq!((texts.rows.len(), texts.columns.len()), (kept_rows.len(), kept_columns.len()));
            let mut numbers: BTreeMap<u64, u32> = BTreeMap::new();
            let pairs = kept_rows.iter().zip(texts.rows).chain(kept_columns.iter().zip(texts.columns));
            for (&symbol, &number) in pairs {
                prop_assert!(number != NONE && *numbers.entry(symbol).or_insert(number) == number);
            }
            let mut different: Vec<u32> = numbers.values().copied().collect();
            different.sort_unstable();
            different.dedup();
            prop_assert_eq!(different.len(), numbers.len());
            for (symbol, &number) in &numbers {
                let [a, b] = texts.counts[number as usize];
                prop_assert_eq!((a as usize, b as usize), (in_rows[symbol], in_columns[symbol]));
            }
            let both: usize = in_rows.iter().map(|(symbol, count)| *count.min(in_columns.get(symbol).unwrap_or(&0))).sum();
            prop_assert_eq!(texts.both(), both);
        }
    }

    #[test]
    fn small_symbols_have_a_slot_and_others_share_the_last() {
        assert_eq!([0, 7, TABLE_SIZE as u64 - 1].map(table_index), [0, 7, TABLE_SIZE - 1]);
        assert_eq!([TABLE_SIZE as u64, u64::MAX].map(table_index), [TABLE_SIZE, TABLE_SIZE]);
    }
}
