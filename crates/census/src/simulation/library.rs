//! All pages that there are, as sets of words.

use std::collections::BTreeMap;

use lookalike_text::{Analyser, Features, Profile};

use crate::engine::{Page, Pages, Word};

/// Pages with their words.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Library {
    pages: Vec<Vec<Word>>,
    lengths: Vec<u32>,
    frequencies: Vec<u32>,
    spellings: Vec<String>,
}

impl Library {
    /// The words of these texts, by profile `web`.
    pub fn of_texts<'t>(texts: impl IntoIterator<Item = &'t str>) -> Self {
        let (mut analyser, mut features) = (Analyser::new(&Profile::web()), Features::default());
        // Numbers in the order of first sight, until all words are known and the alphabet can decide.
        let mut seen: BTreeMap<String, u32> = BTreeMap::new();
        let mut documents: Vec<Vec<u32>> = Vec::new();
        for text in texts {
            analyser.read(text, &mut features);
            let mut numbers = Vec::with_capacity(features.len());
            for word in features.words() {
                let next = seen.len() as u32;
                let number = match seen.get(word) {
                    Some(&number) => number,
                    None => *seen.entry(word.to_owned()).or_insert(next),
                };
                numbers.push(number);
            }
            documents.push(numbers);
        }
        let mut ranks = vec![0; seen.len()];
        for (rank, &number) in seen.values().enumerate() {
            ranks[number as usize] = rank as u32;
        }
        let pages = documents
            .iter()
            .map(|numbers| numbers.iter().map(|&number| Word(ranks[number as usize])).collect());
        Library::of_words(pages, seen.into_keys().collect())
    }

    /// Pages whose words are numbered already, in reading order, with the spelling of each number.
    pub fn of_words(pages: impl IntoIterator<Item = Vec<Word>>, spellings: Vec<String>) -> Self {
        let mut library = Library { spellings, ..Library::default() };
        for mut words in pages {
            library.lengths.push(words.len() as u32);
            words.sort_unstable();
            words.dedup();
            for word in &words {
                let place = word.0 as usize;
                if library.frequencies.len() <= place {
                    library.frequencies.resize(place + 1, 0);
                }
                library.frequencies[place] += 1;
            }
            library.pages.push(words);
        }
        library
    }

    /// Number of pages.
    pub fn len(&self) -> usize {
        self.pages.len()
    }

    /// True without pages.
    pub fn is_empty(&self) -> bool {
        self.pages.is_empty()
    }

    /// All pages.
    pub fn pages(&self) -> impl Iterator<Item = Page> + use<> {
        (0..self.pages.len() as u32).map(Page)
    }

    /// Returns the number of words of a page, repeated ones counted.
    pub fn length(&self, page: Page) -> u32 {
        self.lengths.get(page.0 as usize).copied().unwrap_or(0)
    }

    /// Returns the number of pages that have a word.
    pub fn frequency(&self, word: Word) -> u32 {
        self.frequencies.get(word.0 as usize).copied().unwrap_or(0)
    }

    /// Returns the spelling of a word, empty if it is not known.
    pub fn spelling(&self, word: Word) -> &str {
        self.spellings.get(word.0 as usize).map_or("", String::as_str)
    }

    /// Number of distinct words.
    pub fn vocabulary(&self) -> usize {
        self.frequencies.len()
    }

    /// The words that are on at least `least` and at most `most` pages, in ascending order.
    #[cfg(test)]
    pub(crate) fn words_between(&self, least: u32, most: u32) -> Vec<Word> {
        let words = (0..self.frequencies.len() as u32).map(Word);
        words.filter(|&word| (least..=most).contains(&self.frequency(word))).collect()
    }
}

impl Pages for Library {
    fn words(&self, page: Page) -> &[Word] {
        self.pages.get(page.0 as usize).map_or(&[], Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_numbered_by_the_alphabet() {
        let library = Library::of_texts(["Rose is a rose", "", "an ant"]);
        let spelled = |page| -> Vec<&str> {
            library.words(Page(page)).iter().map(|&word| library.spelling(word)).collect()
        };
        assert_eq!(spelled(0), ["a", "is", "rose"]);
        assert_eq!(spelled(1), [""; 0]);
        assert_eq!(spelled(2), ["an", "ant"]);
        assert_eq!([0, 1, 2].map(|page| library.length(Page(page))), [4, 0, 2]);
        assert_eq!(library.words_between(1, 1).len(), library.vocabulary());
        assert_eq!((library.words(Page(9)), library.len()), (&[][..], 3));
    }
}
