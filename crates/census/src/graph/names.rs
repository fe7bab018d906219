//! Names of pages and their numbers, both ways: all names in one text, and a table of numbers by hash.
//!
//! A name takes its length, 8 bytes for its end, and 8 to 16 for its entry in the table.

use lookalike_hash as hash;

/// The mark of a free entry.
const FREE: u32 = u32::MAX;

/// Different names in the order of their first appearance.
#[derive(Debug, Clone, Default)]
pub struct Names {
    text: String,
    ends: Vec<u64>,
    /// Numbers at the indices of their hashes, or at the next free ones; at most half of the entries are in use.
    table: Vec<u32>,
}

impl Names {
    /// Number of names.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// True without names.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The name of a page.
    pub fn name(&self, number: u32) -> Option<&str> {
        let number = number as usize;
        let end = *self.ends.get(number)? as usize;
        let begin = if number == 0 { 0 } else { self.ends[number - 1] as usize };
        self.text.get(begin..end)
    }

    /// The number of a name.
    pub fn find(&self, name: &str) -> Option<u32> {
        if self.table.is_empty() {
            return None;
        }
        Some(self.table[self.slot(name)]).filter(|&number| number != FREE)
    }

    /// The number of a name, a new one if need be; none when all numbers are given away.
    pub fn number(&mut self, name: &str) -> Option<u32> {
        if 2 * (self.len() + 1) > self.table.len() {
            self.grow();
        }
        let slot = self.slot(name);
        if self.table[slot] == FREE {
            let number = u32::try_from(self.len()).ok().filter(|&number| number != FREE)?;
            self.table[slot] = number;
            self.text.push_str(name);
            self.ends.push(self.text.len() as u64);
        }
        Some(self.table[slot])
    }

    /// Returns the index of a name in the table, or of the free entry where it belongs.
    fn slot(&self, name: &str) -> usize {
        let mask = self.table.len() - 1;
        let mut slot = hash::mix(hash::word(name.as_bytes())) as usize & mask;
        while self.table[slot] != FREE && self.name(self.table[slot]) != Some(name) {
            slot = (slot + 1) & mask;
        }
        slot
    }

    fn grow(&mut self) {
        self.table = vec![FREE; (2 * self.table.len()).max(16)];
        for number in 0..self.len() as u32 {
            let slot = self.slot(self.name(number).unwrap_or_default());
            self.table[slot] = number;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_one_number_each() {
        let mut names = Names::default();
        assert_eq!((names.find("a"), names.name(0)), (None, None));
        for round in 0..2 {
            for n in 0..1_000u32 {
                assert_eq!(names.number(&format!("http://h/{n}")), Some(n), "round {round}");
            }
        }
        assert_eq!(names.number(""), Some(1_000));
        assert_eq!((names.len(), names.name(17)), (1_001, Some("http://h/17")));
        assert_eq!((names.find("http://h/999"), names.find("http://h/1000")), (Some(999), None));
    }
}
