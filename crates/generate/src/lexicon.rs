//! All words of the corpus: their spelling and their hash.

use std::collections::{HashMap, HashSet};

use lookalike_hash as hash;

use crate::Language;
use crate::coin::{COINABLE, coin};
use crate::random::Random;
use crate::sounds::WordMaker;
use crate::zipf::Zipf;

/// Words of each invented language.
const VOCABULARY: u16 = 3000;
/// Numbers below this are words, and have their own number as word.
const NUMBERS: u32 = 2_100;
/// After the plain numbers come those with a leading zero, `00` to `09`.
const PADDED: u32 = NUMBERS + 10;
/// Set in the word of a coined name; the other bits are its number.
const COINED: u32 = 1 << 31;

/// Spellings and hashes of all words, found by their number.
///
/// ```text
/// 0..2100   2100..2110   2110..     ..                  ..                    2^31..
/// numbers   00 to 09     English    spaced languages    unspaced languages    coined names
/// ```
#[derive(Debug)]
pub(crate) struct Lexicon {
    letters: String,
    /// End of each word in `letters`.
    ends: Vec<u32>,
    /// XXH3-64 of each word in lower case.
    hashes: Vec<u64>,
    /// First word of each invented language.
    first: [u32; Language::ALL.len()],
    first_unspaced: u32,
    zipf: Zipf,
}

impl Lexicon {
    /// Numbers, the given English words, and the invented languages.
    pub(crate) fn new<'w>(english: impl Iterator<Item = &'w str>) -> (Self, HashMap<&'w str, u32>) {
        let mut lexicon = Lexicon {
            letters: String::new(),
            ends: Vec::new(),
            hashes: Vec::new(),
            first: [0; Language::ALL.len()],
            first_unspaced: u32::MAX,
            zipf: Zipf::new(VOCABULARY),
        };
        lexicon.add_numbers();
        let ids = lexicon.add_english(english);
        for language in Language::ALL {
            if language != Language::English {
                lexicon.add_language(language);
            }
        }
        (lexicon, ids)
    }

    fn add_numbers(&mut self) {
        for number in 0..NUMBERS {
            self.add(&number.to_string());
        }
        for digit in 0..10 {
            self.add(&format!("0{digit}"));
        }
    }

    fn add_english<'w>(&mut self, words: impl Iterator<Item = &'w str>) -> HashMap<&'w str, u32> {
        let mut ids = HashMap::new();
        for word in words {
            ids.entry(word).or_insert_with(|| self.add(word));
        }
        ids
    }

    /// Frequent words are short, as everywhere.
    fn add_language(&mut self, language: Language) {
        let first = self.ends.len() as u32;
        self.first[language as usize] = first;
        if language.unspaced() {
            self.first_unspaced = self.first_unspaced.min(first);
        }
        let maker = WordMaker::new(language);
        let mut random = Random::new(language as u64);
        let mut known = HashSet::new();
        let mut word = String::new();
        while known.len() < usize::from(VOCABULARY) {
            let syllables = match known.len() {
                0..60 => 1,
                60..800 => 2,
                _ => random.between(2, 3),
            };
            word.clear();
            maker.push_word(syllables, &mut random, &mut word);
            if known.insert(word.clone()) {
                self.add(&word);
            }
        }
    }

    fn add(&mut self, word: &str) -> u32 {
        self.letters.push_str(word);
        self.ends.push(self.letters.len() as u32);
        self.hashes.push(hash::word(word.to_lowercase().as_bytes()));
        self.ends.len() as u32 - 1
    }

    /// A word of an invented language, by Zipf's law.
    pub(crate) fn draw(&self, language: Language, random: &mut Random) -> u32 {
        self.sampler(language).word(random.next())
    }

    /// Returns a sampler for one invented language, for callers that draw many words.
    pub(crate) fn sampler(&self, language: Language) -> WordSampler<'_> {
        WordSampler { first: self.first[language as usize], zipf: &self.zipf }
    }

    /// The word as it is written inside a sentence. `coined` holds the spelling of coined names.
    #[inline]
    pub(crate) fn spelling<'a>(&'a self, word: u32, coined: &'a mut String) -> &'a str {
        if word & COINED != 0 {
            coined.clear();
            coin(u64::from(word & !COINED), coined);
            return coined;
        }
        let index = word as usize;
        let start = if index == 0 { 0 } else { self.ends[index - 1] as usize };
        &self.letters[start..self.ends[index] as usize]
    }

    /// XXH3-64 of the word in lower case.
    #[inline]
    pub(crate) fn hash(&self, word: u32) -> u64 {
        if word & COINED == 0 {
            return self.hashes[word as usize];
        }
        hash::word(self.spelling(word, &mut String::new()).as_bytes())
    }

    /// True for words that are read as character bigrams.
    pub(crate) fn is_unspaced(&self, word: u32) -> bool {
        word >= self.first_unspaced && !is_coined(word)
    }

    /// Bytes held.
    pub(crate) fn memory(&self) -> usize {
        self.letters.capacity() + self.ends.capacity() * 4 + self.hashes.capacity() * 8
    }
}

/// Draws words of one language, by Zipf's law.
#[derive(Clone, Copy)]
pub(crate) struct WordSampler<'l> {
    first: u32,
    zipf: &'l Zipf,
}

impl WordSampler<'_> {
    /// A word, from the lowest bits of `draw`.
    pub(crate) fn word(&self, draw: u64) -> u32 {
        self.first + u32::from(self.zipf.rank(draw))
    }
}

/// The word for a number; the largest is 2099.
pub(crate) fn number(value: u32) -> u32 {
    value.min(NUMBERS - 1)
}

/// The word for a number in two digits at least.
pub(crate) fn two_digits(value: u32) -> u32 {
    if value < 10 { NUMBERS + value } else { number(value) }
}

pub(crate) fn is_number(word: u32) -> bool {
    word < PADDED
}

/// Another number of the same width, so that a date still looks like one.
pub(crate) fn other_number(word: u32, random: &mut Random) -> u32 {
    let (low, high) = match word {
        0..10 => (1, 9),
        10..100 => (10, 28),
        100..1000 => (100, 999),
        1000..NUMBERS => (1990, 2025),
        _ => (NUMBERS, PADDED - 1),
    };
    let other = random.between(low, high);
    if other == word { if word == low { high } else { low } } else { other }
}

/// The word for the coined name of a number.
pub(crate) fn coined(number: u64) -> u32 {
    COINED | (number % COINABLE) as u32
}

pub(crate) fn is_coined(word: u32) -> bool {
    word & COINED != 0
}
