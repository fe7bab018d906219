//! The distinct words of a document.

use lookalike_text::Features;

/// A distinct word of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Word {
    /// Its hash.
    pub hash: u64,
    /// The position of its first occurrence.
    pub first_position: u32,
    /// The number of its occurrences.
    pub count: u32,
}

/// Replaces `out` with the distinct words, in the order of their hashes.
pub fn distinct(features: &Features, out: &mut Vec<Word>) {
    out.clear();
    out.extend((0..).zip(features.hashes()).map(|(first_position, &hash)| Word {
        hash,
        first_position,
        count: 1,
    }));
    out.sort_unstable_by_key(|word| (word.hash, word.first_position));
    out.dedup_by(|later, first| {
        let same = later.hash == first.hash;
        first.count += u32::from(same);
        same
    });
}

/// The first eight bytes of a word as a number. Numbers compare as words do, as far as they go; words that differ only
/// behind them have the same.
pub(crate) fn prefix_key(word: &str) -> u64 {
    let mut bytes = [0; 8];
    let length = word.len().min(8);
    bytes[..length].copy_from_slice(&word.as_bytes()[..length]);
    u64::from_be_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lookalike_hash as hash;
    use lookalike_text::{Analyser, Profile};

    #[test]
    fn prefix_keys_compare_as_words_do() {
        let mut words =
            ["a", "ab", "b", "été", "zebra", "роза", "rosebuds", "rosebuds and", "rosebudz", "薔薇"];
        words.sort_unstable();
        assert!(words.is_sorted_by_key(|word| prefix_key(word)));
        assert_eq!(prefix_key("rosebuds"), prefix_key("rosebuds and"));
        assert!(prefix_key("rosebuds") < prefix_key("rosebudz") && prefix_key("a") < prefix_key("ab"));
    }

    #[test]
    fn words_are_counted_and_found_at_their_first_place() {
        let (mut features, mut words) = (Features::default(), Vec::new());
        Analyser::new(&Profile::web()).read("a rose is a rose is a rose", &mut features);
        distinct(&features, &mut words);
        assert!(words.is_sorted_by_key(|word| word.hash));
        let mut found: Vec<_> = words
            .iter()
            .map(|word| (features.word(word.first_position as usize), word.first_position, word.count))
            .collect();
        found.sort_unstable();
        assert_eq!(found, [("a", 0, 3), ("is", 2, 2), ("rose", 1, 3)]);
        assert_eq!(
            words.iter().find(|word| word.first_position == 1).map(|word| word.hash),
            Some(hash::word(b"rose"))
        );
    }
}
