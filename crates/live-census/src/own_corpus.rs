//! The documents of the measurer: the source of queries, and of all that is known before an engine is asked.

use std::collections::HashMap;

use lookalike_hash as hash;

use crate::words;

/// A word of the own corpus, by its number there.
pub type WordId = u32;

/// An own corpus: its vocabulary with document frequencies, and the words of each document.
///
/// In memory: about 60 bytes for each different word and 4 for each different word of each document, so that 50,000 pages of 300
/// different words take some 100 MB. Of larger corpora a sample is as good.
#[derive(Debug, Clone, Default)]
pub struct OwnCorpus {
    numbers: HashMap<String, WordId>,
    spellings: Vec<String>,
    frequencies: Vec<u32>,
    /// The end of the words of each document.
    ends: Vec<usize>,
    words: Vec<WordId>,
    digest: u128,
}

impl OwnCorpus {
    /// Creates a corpus without documents.
    pub fn new() -> Self {
        OwnCorpus::default()
    }

    /// Adds a document.
    pub fn add(&mut self, text: &str) {
        self.digest = self.digest.wrapping_add(hash::digest(text.as_bytes()));
        let start = self.words.len();
        words::each(text, |word| {
            let number = match self.numbers.get(word) {
                Some(&number) => number,
                None => {
                    let number = self.spellings.len() as WordId;
                    self.numbers.insert(word.to_owned(), number);
                    self.spellings.push(word.to_owned());
                    self.frequencies.push(0);
                    number
                }
            };
            self.words.push(number);
        });
        self.words[start..].sort_unstable();
        let mut kept = start;
        for place in start..self.words.len() {
            if place == start || self.words[place] != self.words[kept - 1] {
                self.words[kept] = self.words[place];
                kept += 1;
            }
        }
        self.words.truncate(kept);
        for &word in &self.words[start..] {
            self.frequencies[word as usize] += 1;
        }
        self.ends.push(self.words.len());
    }

    /// Returns a digest that tells these documents from others, in whatever order they came.
    pub fn digest(&self) -> u128 {
        self.digest
    }

    /// Number of documents.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// True without documents.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The different words of all documents, one list after the other, ascending in each.
    pub fn documents(&self) -> impl Iterator<Item = &[WordId]> {
        (0..self.len()).map(|document| {
            let start = if document == 0 { 0 } else { self.ends[document - 1] };
            &self.words[start..self.ends[document]]
        })
    }

    /// Number of different words.
    pub fn vocabulary(&self) -> usize {
        self.spellings.len()
    }

    /// The number of a word.
    pub fn number(&self, word: &str) -> Option<WordId> {
        self.numbers.get(word).copied()
    }

    /// Returns the spelling of a word.
    pub fn spelling(&self, word: WordId) -> &str {
        &self.spellings[word as usize]
    }

    /// Returns the number of documents that a word is in.
    pub fn frequency(&self, word: WordId) -> u32 {
        self.frequencies[word as usize]
    }

    /// Returns the words that are fit to be queries and are in at least `least` documents, in alphabetical order.
    pub fn queries(&self, least: u32) -> Vec<WordId> {
        let fit = |word: &WordId| self.frequency(*word) >= least && words::is_query(self.spelling(*word));
        let mut found: Vec<WordId> = (0..self.vocabulary() as WordId).filter(fit).collect();
        found.sort_unstable_by(|one, other| self.spelling(*one).cmp(self.spelling(*other)));
        found
    }

    /// The words in most documents, the most frequent first.
    pub fn most_frequent(&self, most: usize) -> Vec<WordId> {
        let mut words = self.queries(1);
        words.sort_by_key(|&word| std::cmp::Reverse(self.frequency(word)));
        words.truncate(most);
        words
    }

    /// Returns the rarest known words of a page, ties by the alphabet: the query by which a page is looked for.
    pub fn rarest(&self, words: &[WordId], most: usize) -> Vec<WordId> {
        let mut known: Vec<WordId> =
            words.iter().copied().filter(|&word| words::is_query(self.spelling(word))).collect();
        known.sort_unstable_by_key(|&word| (self.frequency(word), self.spelling(word)));
        known.truncate(most);
        known
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_counted_once_for_each_document() {
        let mut own = OwnCorpus::new();
        own.add("the cat sat on the mat");
        own.add("The CAT");
        own.add("");
        assert_eq!((own.len(), own.vocabulary()), (3, 5));
        let frequency = |word: &str| own.frequency(own.number(word).unwrap());
        assert_eq!((frequency("the"), frequency("cat"), frequency("mat")), (2, 2, 1));
        assert_eq!(own.documents().map(<[WordId]>::len).collect::<Vec<_>>(), [5, 2, 0]);
        let spelled =
            |words: Vec<WordId>| words.iter().map(|&word| own.spelling(word).to_owned()).collect::<Vec<_>>();
        assert_eq!(spelled(own.queries(2)), ["cat", "the"]);
        assert_eq!(spelled(own.most_frequent(3)), ["cat", "the", "mat"]);
        let page = own.documents().next().unwrap().to_vec();
        assert_eq!(spelled(own.rarest(&page, 2)), ["mat", "on"]);
    }
}
