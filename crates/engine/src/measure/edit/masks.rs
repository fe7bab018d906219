//! The positions of each symbol in a text, as bits. Those of a rare symbol are kept as numbers, and become bits when
//! its mask is requested: a text may be in a script of thousands of symbols.

use super::alphabet::Texts;

/// One place for each so many words of a mask makes a symbol a frequent one.
const FREQUENT: usize = 4;

/// The places of all symbols of a text.
#[derive(Default)]
pub(super) struct Masks {
    /// Words of a mask.
    words: usize,
    /// Words that are there.
    reached: usize,
    /// For each symbol where its mask or its first place is.
    entries: Vec<Entry>,
    /// Masks of frequent symbols, one behind the other.
    frequent: Vec<u64>,
    /// Places of rare symbols.
    places: Vec<u32>,
    /// The mask of a rare symbol while it is asked for.
    rare: Vec<u64>,
}

#[derive(Clone, Copy)]
enum Entry {
    Frequent { start: usize },
    Rare { start: usize, end: usize },
}

impl Masks {
    /// Makes room for the places of the columns.
    pub(super) fn set(&mut self, texts: &Texts<'_>) {
        self.words = texts.columns.len().div_ceil(64);
        self.entries.clear();
        let (mut masks, mut places) = (0, 0);
        for &[_, count] in texts.counts {
            let count = count as usize;
            self.entries.push(if count > self.words / FREQUENT {
                masks += self.words;
                Entry::Frequent { start: masks - self.words }
            } else {
                places += count;
                Entry::Rare { start: places - count, end: places - count }
            });
        }
        self.frequent.clear();
        self.frequent.resize(masks, 0);
        self.places.clear();
        self.places.resize(places, 0);
        self.rare.clear();
        self.rare.resize(self.words, 0);
        self.reached = 0;
    }

    /// Makes sure that so many words of all masks are there: texts that differ are told apart before the last is needed.
    pub(super) fn reach(&mut self, texts: &Texts<'_>, words: usize) {
        if words <= self.reached {
            return;
        }
        let (start, end) = (64 * self.reached, texts.columns.len().min(64 * words));
        for (place, &symbol) in (start..).zip(&texts.columns[start..end]) {
            match &mut self.entries[symbol as usize] {
                Entry::Frequent { start } => self.frequent[*start + place / 64] |= 1 << (place % 64),
                Entry::Rare { end, .. } => {
                    self.places[*end] = place as u32;
                    *end += 1;
                }
            }
        }
        self.reached = words;
    }

    /// Lets `work` see some words of a symbol's mask; not if they are known to be empty.
    #[inline]
    pub(super) fn with(&mut self, symbol: u32, words: std::ops::Range<usize>, work: impl FnOnce(&[u64])) {
        match self.entries[symbol as usize] {
            Entry::Frequent { start } => work(&self.frequent[start + words.start..start + words.end]),
            Entry::Rare { start, end } => self.with_rare(start..end, words, work),
        }
    }

    fn with_rare(
        &mut self,
        places: std::ops::Range<usize>,
        words: std::ops::Range<usize>,
        work: impl FnOnce(&[u64]),
    ) {
        let places = &self.places[places];
        let begin = places.partition_point(|&place| (place as usize) < words.start * 64);
        let places = &places[begin..];
        let places = &places[..places.partition_point(|&place| (place as usize) < words.end * 64)];
        if places.is_empty() {
            return;
        }
        for &place in places {
            self.rare[place as usize / 64] |= 1 << (place % 64);
        }
        work(&self.rare[words]);
        for &place in places {
            self.rare[place as usize / 64] = 0;
        }
    }

    /// Memory that is held.
    pub(super) fn bytes(&self) -> usize {
        8 * (self.frequent.capacity() + self.rare.capacity())
            + 4 * self.places.capacity()
            + size_of::<Entry>() * self.entries.capacity()
    }
}

#[cfg(test)]
mod tests {
    use super::super::alphabet::Alphabet;
    use super::*;
    use proptest::prelude::*;

    /// The places of a symbol within some words, as `with` shows them.
    fn places(masks: &mut Masks, symbol: u32, words: std::ops::Range<usize>) -> Vec<usize> {
        let mut found = Vec::new();
        let first = words.start;
        masks.with(symbol, words, |mask| {
            for (index, word) in mask.iter().enumerate() {
                found
                    .extend((0..64).filter(|bit| word >> bit & 1 == 1).map(|bit| 64 * (first + index) + bit));
            }
        });
        found
    }

    proptest! {
        #[test]
        fn masks_are_the_places_of_symbols(columns in prop::collection::vec(prop_oneof![0u64..3, 0u64..400], 1..900), from in 0usize..15) {
            let mut alphabet = Alphabet::default();
            let rows: Vec<u64> = (0..400).collect();
            let texts = alphabet.encode(&rows, &columns);
            let (mut masks, words) = (Masks::default(), texts.columns.len().div_ceil(64));
            // Room that an earlier text took is used again.
            masks.set(&texts);
            masks.reach(&texts, words);
            masks.set(&texts);
            masks.reach(&texts, 1);
            masks.reach(&texts, words);
            let from = from.min(words);
            for symbol in 1..texts.counts.len() as u32 {
                let expected: Vec<usize> =
                    (0..texts.columns.len()).filter(|&place| texts.columns[place] == symbol).collect();
                prop_assert_eq!(places(&mut masks, symbol, 0..words), expected.clone());
                let behind: Vec<usize> = expected.into_iter().filter(|&place| place >= 64 * from).collect();
                prop_assert_eq!(places(&mut masks, symbol, from..words), behind);
            }
        }
    }

    #[test]
    fn places_that_were_not_reached_are_not_there() {
        let mut alphabet = Alphabet::default();
        let columns: Vec<u64> = (0..128).map(|place| u64::from(place % 64 == 5)).collect();
        let texts = alphabet.encode(&[0, 1], &columns);
        let mut masks = Masks::default();
        masks.set(&texts);
        masks.reach(&texts, 1);
        let symbol = texts.columns[5];
        assert_eq!(places(&mut masks, symbol, 0..2), [5]);
        masks.reach(&texts, 2);
        assert_eq!(places(&mut masks, symbol, 0..2), [5, 69]);
    }
}
