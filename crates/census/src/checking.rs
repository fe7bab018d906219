//! The test for the presence of a page in an engine: by its address if the engine can be asked for one, else by a strong query of
//! the page's rarest words, all of which must match.
//!
//! With a strong query the page counts as present if it is among the results, or another page that has almost the same words.

use crate::engine::{Engine, NoAnswer, Page, Pages, Word, jaccard};

/// Words of a strong query.
pub const STRONG_QUERY_WORDS: usize = 8;

/// The Jaccard similarity of word sets from which on two pages count as the same.
pub const SAME_PAGE_SIMILARITY: f64 = 0.9;

/// The outcome of a check: whether an engine has a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// The engine has it.
    Found,
    /// It does not.
    Missing,
    /// The engine did not answer, or the page has no known word to ask for: the page is not counted.
    Unknown,
}

/// Returns the `most` rarest words of a page by `frequency`, the number of pages with a word in the measurer's own lexicon. Words
/// that it does not know, of frequency 0, are left out. Ties go by the alphabet.
pub fn strong_query(words: &[Word], frequency: impl Fn(Word) -> u32, most: usize) -> Vec<Word> {
    let mut known: Vec<(u32, Word)> =
        words.iter().map(|&word| (frequency(word), word)).filter(|&(frequency, _)| frequency > 0).collect();
    known.sort_unstable();
    known.truncate(most);
    known.into_iter().map(|(_, word)| word).collect()
}

/// Looks for a page in an engine.
pub fn check(
    engine: &mut impl Engine,
    pages: &impl Pages,
    page: Page,
    frequency: impl Fn(Word) -> u32,
) -> Presence {
    match engine.has(page) {
        Some(Ok(true)) => return Presence::Found,
        Some(Ok(false)) => return Presence::Missing,
        Some(Err(NoAnswer)) => return Presence::Unknown,
        None => {}
    }
    let words = pages.words(page);
    let query = strong_query(words, frequency, STRONG_QUERY_WORDS);
    // Without a word to ask for, nothing can be learned.
    if query.is_empty() {
        return Presence::Unknown;
    }
    let Ok(answer) = engine.search(&query) else { return Presence::Unknown };
    let same = |other: &Page| *other == page || jaccard(pages.words(*other), words) >= SAME_PAGE_SIMILARITY;
    if answer.pages.iter().any(same) { Presence::Found } else { Presence::Missing }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulation::{Library, SimulatedEngine};

    #[test]
    fn the_rarest_words_come_first_and_unknown_ones_not_at_all() {
        let frequency = |word: Word| [5, 1, 0, 1, 2][word.0 as usize];
        let words = [0, 1, 2, 3, 4].map(Word);
        assert_eq!(strong_query(&words, frequency, 3), [1, 3, 4].map(Word));
        assert_eq!(strong_query(&words, frequency, 8), [1, 3, 4, 0].map(Word));
    }

    #[test]
    fn a_page_is_found_by_itself_or_by_its_copy() {
        let common = "one two three four five six seven eight nine ten";
        let texts =
            [format!("{common} left"), format!("{common} right"), "other words".into(), String::new()];
        let library = Library::of_texts(texts.iter().map(String::as_str));
        let frequency =
            |word: Word| if library.spelling(word) == "left" { 0 } else { library.frequency(word) };
        let mut engine = SimulatedEngine::new(&library, &[Page(1)], 10, 1);
        let mut ask = |page| check(&mut engine, &library, Page(page), frequency);
        // Ten of the twelve words of both are the same: not enough to be one page.
        assert_eq!(jaccard(library.words(Page(0)), library.words(Page(1))), 10.0 / 12.0);
        assert_eq!(
            [0, 1, 2, 3].map(&mut ask),
            [Presence::Missing, Presence::Found, Presence::Missing, Presence::Unknown]
        );
        let mut silent = SimulatedEngine::new(&library, &[Page(1)], 10, 1).failing(1.0);
        assert_eq!(check(&mut silent, &library, Page(1), frequency), Presence::Unknown);
    }

    #[test]
    fn an_engine_that_knows_addresses_is_asked_for_them() {
        let library = Library::of_texts(["", "some words"]);
        let mut engine = SimulatedEngine::new(&library, &[Page(0)], 10, 1).knowing_addresses();
        let frequency = |word: Word| library.frequency(word);
        assert_eq!(check(&mut engine, &library, Page(0), frequency), Presence::Found);
        assert_eq!(check(&mut engine, &library, Page(1), frequency), Presence::Missing);
        let mut silent = engine.failing(1.0);
        assert_eq!(check(&mut silent, &library, Page(0), frequency), Presence::Unknown);
    }
}
