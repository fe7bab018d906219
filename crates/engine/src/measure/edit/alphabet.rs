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
