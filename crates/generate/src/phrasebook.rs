//! Everything that can be said: the lexicon, the compiled patterns, and what may fill their slots.

use std::collections::HashMap;

use crate::genres::{self, Genre};
use crate::lexicon::Lexicon;
use crate::pattern::{Pattern, Slot, fixed_words};
use crate::vocabulary::{
    ADJECTIVES, ADVERBS, ANY_GENRE, FOOTER, MENU, MONTHS, NOUNS, PAST, PLACES, PLURALS, VERBS,
};

/// The patterns of one genre, ready for use.
#[derive(Debug)]
pub(crate) struct Style {
    pub(crate) genre: &'static Genre,
    pub(crate) things: Phrases,
    pub(crate) titles: Vec<Pattern>,
    pub(crate) headings: Vec<Pattern>,
    pub(crate) sentences: Vec<Pattern>,
    pub(crate) items: Vec<Pattern>,
}

/// Words that can fill a slot; most are one word long.
pub(crate) type Phrases = Vec<Vec<u32>>;

/// The lexicon and everything that is built on it. It is the same for every plan.
#[derive(Debug)]
pub(crate) struct Phrasebook {
    pub(crate) lexicon: Lexicon,
    pub(crate) styles: Vec<Style>,
    pub(crate) menu: Vec<Pattern>,
    pub(crate) footer: Vec<Pattern>,
    nouns: Phrases,
    plurals: Phrases,
    adjectives: Phrases,
    adverbs: Phrases,
    verbs: Phrases,
    past: Phrases,
    places: Phrases,
    months: Phrases,
}

impl Phrasebook {
    pub(crate) fn new() -> Self {
        let (lexicon, ids) = Lexicon::new(english_words());
        let phrases = |list| phrases(list, &ids);
        let patterns = |list: &[&str]| list.iter().map(|source| Pattern::compile(source, &ids)).collect();
        let styles = genres::ALL.into_iter().map(|genre| Style {
            genre,
            things: phrases(genre.things),
            titles: patterns(genre.titles),
            headings: patterns(genre.headings),
            sentences: patterns(&[genre.sentences, ANY_GENRE].concat()),
            items: patterns(genre.items),
        });
        Phrasebook {
            styles: styles.collect(),
            menu: patterns(MENU),
            footer: patterns(FOOTER),
            nouns: phrases(NOUNS),
            plurals: phrases(PLURALS),
            adjectives: phrases(ADJECTIVES),
            adverbs: phrases(ADVERBS),
            verbs: phrases(VERBS),
            past: phrases(PAST),
            places: phrases(PLACES),
            months: phrases(MONTHS),
            lexicon,
        }
    }

    /// The style that this number stands for.
    pub(crate) fn style(&self, number: usize) -> &Style {
        &self.styles[number % self.styles.len()]
    }

    /// Returns the phrases that may fill a slot; `None` for slots that are not filled from a list.
    pub(crate) fn fillers<'p>(&'p self, slot: Slot, style: &'p Style) -> Option<&'p Phrases> {
        Some(match slot {
            Slot::Noun => &self.nouns,
            Slot::Nouns => &self.plurals,
            Slot::Thing => &style.things,
            Slot::Adjective => &self.adjectives,
            Slot::Adverb => &self.adverbs,
            Slot::Verb => &self.verbs,
            Slot::Past => &self.past,
            Slot::Place => &self.places,
            Slot::Month => &self.months,
            Slot::Number | Slot::Price | Slot::Date | Slot::Time | Slot::Name => return None,
        })
    }
}

fn phrases(list: &[&str], ids: &HashMap<&str, u32>) -> Phrases {
    let words = |phrase: &&str| phrase.split(' ').filter_map(|word| ids.get(word).copied()).collect();
    list.iter().map(words).collect()
}

fn english_words() -> impl Iterator<Item = &'static str> {
    let patterns = genres::ALL
        .into_iter()
        .flat_map(|genre| [genre.titles, genre.headings, genre.sentences, genre.items].into_iter().flatten());
    let patterns = patterns.chain([ANY_GENRE, MENU, FOOTER].into_iter().flatten());
    let lists = [NOUNS, PLURALS, ADJECTIVES, ADVERBS, VERBS, PAST, PLACES, MONTHS];
    let lists = lists.into_iter().chain(genres::ALL.into_iter().map(|genre| genre.things));
    patterns
        .flat_map(|source| fixed_words(source))
        .chain(lists.flatten().flat_map(|phrase| phrase.split(' ')))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::Piece;

    #[test]
    fn english_is_written_in_plain_letters() {
        for word in english_words() {
            let tail = word.strip_prefix(|first: char| first.is_ascii_uppercase()).unwrap_or(word);
            let plain = tail.bytes().all(|byte| byte.is_ascii_lowercase());
            assert!(plain && !word.is_empty(), "help: {word:?} has more than letters; see genres/mod.rs");
        }
    }

    #[test]
    fn every_slot_of_every_pattern_is_known() {
        let (_, ids) = Lexicon::new(english_words());
        let count = |source: &str| source.split(' ').filter(|token| !["&", "-"].contains(token)).count();
        for genre in genres::ALL {
            for source in [genre.titles, genre.headings, genre.sentences, genre.items].into_iter().flatten() {
                assert_eq!(Pattern::compile(source, &ids).pieces.len(), count(source), "help: {source}");
            }
        }
        for source in [ANY_GENRE, MENU, FOOTER].into_iter().flatten() {
            assert_eq!(Pattern::compile(source, &ids).pieces.len(), count(source), "help: {source}");
        }
    }

    #[test]
    fn a_page_can_draw_on_a_few_hundred_english_words() {
        let words: std::collections::HashSet<_> = english_words().collect();
        assert!((500..2000).contains(&words.len()), "{}", words.len());
        let book = Phrasebook::new();
        assert!(matches!(book.menu[0].pieces[0].0, Piece::Word(_)));
    }
}
