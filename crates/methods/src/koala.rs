//! `koala`: the rarest substrings of a document, looked for among those of others.
//!
//! Heintze (1996), who called his program Koala. A text is reduced to its consonants, and of all its substrings of 20
//! of them those are kept whose first five are rarest in the collection: 100 are stored for a document to be found by,
//! and 1,000 are asked for when it looks for others. The similarity to a stored document is the number of its substrings
//! that were asked for, divided by the number stored; a long document that holds a short one is found.
//!
//! A survey counts the sequences of five letters in a table of fixed size, so that rare ones that share a counter with a
//! frequent one pass for frequent.
//!
//! Vowels are left out of Latin, Cyrillic and Greek; of all other scripts every letter stays. Digits, marks and
//! everything between words do not count.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use lookalike_hash::{self as hash, Grams};
use lookalike_model::{Recipe, Threshold};
use lookalike_text::{Features, Profile};

use crate::shares::{self, either_way};
use crate::spec::profile_value;
use crate::surveys::{self, Magic};
use crate::{
    Abilities, About, Advising, Buffers, DirectedKeyCounts, Key, Method, MethodError, Page, QueryKeys, Score,
    Setting, Sketch, Spec, Survey,
};

const VERSION: u32 = 1;

/// Counters of the survey, as a power of two: 16 MiB, whatever the corpus.
const COUNTER_BITS: u32 = if cfg!(test) { 16 } else { 22 };

const MAGIC: &Magic = b"koala  1";

/// Tag of keys by which a document queries others, and is not found itself.
const QUERY_ONLY: u32 = 1;

/// The description of the method that `lookalike methods` shows.
pub(crate) const ABOUT: About = About {
    name: "koala",
    aliases: &[],
    summary: "the substrings that begin with the rarest five letters; sees containment",
    source: "Heintze 1996",
    formula: "\
of all substrings of 20 consonants those with the rarest first five: 100 stored, 1000 asked for
similarity = |stored that were asked for| / |stored|; accept: 0.5 in either direction; worth measuring: 0.1",
    example: "lookalike pairs --method koala --similarity containment docs.jsonl -o pairs.jsonl",
    parameters: &[
        ("letters", "consonants, or all letters"),
        ("substring", "letters of a substring"),
        ("prefix", "letters at its front whose frequency counts"),
        ("stored", "substrings that a document is found by"),
        ("query", "substrings that a document asks by, those included"),
        ("least-share", "part of the stored ones from which pairs are candidates"),
        ("share", "part of the stored ones that is enough"),
        ("profile", "how words are read; run is the run's own"),
    ],
    make: Koala::make,
};

/// The method `koala`.
#[derive(Debug)]
pub(crate) struct Koala {
    consonants: bool,
    substring: usize,
    prefix: usize,
    stored: usize,
    query: usize,
    least_share: Threshold,
    share: Threshold,
    profile: Option<Profile>,
    counters: OnceLock<Box<[AtomicU32]>>,
}

impl Koala {
    pub(crate) fn make(mut spec: Spec, _: &Setting) -> Result<Box<dyn Method>, MethodError> {
        let consonants = spec.choice("letters", &[("consonants", true), ("all", false)])?;
        let wanted = "a number of letters from 1 is wanted";
        let substring = spec.value("substring", 20, wanted, |&substring| substring > 0)?;
        let wanted = "a number of letters from 1 up to that of a substring is wanted";
        let prefix =
            spec.value("prefix", substring.min(5), wanted, |prefix| (1..=substring).contains(prefix))?;
        let stored = spec.value("stored", 100, "a number from 1 is wanted", |&stored| stored > 0)?;
        let wanted = "a number from that of stored substrings on is wanted";
        let query = spec.value("query", 1000.max(stored), wanted, |&query| query >= stored)?;
        let least_share = shares::share(&mut spec, "least-share", "0.1")?;
        let share = shares::share(&mut spec, "share", "0.5")?;
        let profile = spec.profile(None)?;
        spec.finish()?;
        let counters = OnceLock::new();
        Ok(Box::new(Koala {
            consonants,
            substring,
            prefix,
            stored,
            query,
            least_share,
            share,
            profile,
            counters,
        }))
    }

    /// Returns the share of the stored substrings of each document that the other asks for, if one share is enough.
    fn either_way(&self, share: Threshold, a: &[u8], b: &[u8], shared: u32) -> Option<Score> {
        let DirectedKeyCounts { forward, backward } = DirectedKeyCounts::unpack(shared);
        either_way(share, (forward, shares::number(a)), (backward, shares::number(b)))
    }

    fn table(&self) -> &[AtomicU32] {
        self.counters.get_or_init(|| (0..1 << COUNTER_BITS).map(|_| AtomicU32::new(0)).collect())
    }

    /// Returns the number of occurrences of a sequence of letters in the collection, together with those that share its
    /// counter.
    fn count(&self, prefix: u64) -> u32 {
        self.counters.get().map_or(0, |table| table[slot(prefix)].load(Ordering::Relaxed))
    }

    /// Replaces `out` with the letters that count, each as a number.
    fn letters(&self, features: &Features, out: &mut Vec<u64>) {
        out.clear();
        let kept = |letter: &char| letter.is_alphabetic() && !(self.consonants && is_vowel(*letter));
        for word in features.words() {
            out.extend(word.chars().filter(kept).map(|letter| hash::mix(letter.into())));
        }
    }
}

/// The letters of a document and its substrings.
#[derive(Default)]
struct LetterBuffers {
    letters: Vec<u64>,
    /// The occurrences of the prefix of each substring, and its hash.
    ranked: Vec<(u32, u64)>,
}

fn slot(prefix: u64) -> usize {
    (prefix >> (64 - COUNTER_BITS)) as usize
}

/// True for the vowels of Latin, Cyrillic and Greek in lower case, with or without marks; `y` is none of them.
fn is_vowel(letter: char) -> bool {
    match letter {
        'a' | 'e' | 'i' | 'o' | 'u' => true,
        '\0'..='\u{7f}' => false,
        'à'..='æ' | 'è'..='ï' | 'ò'..='ö' | 'ø'..='ü' => true,
        'ā' | 'ă' | 'ą' | 'ē' | 'ĕ' | 'ė' | 'ę' | 'ě' | 'ĩ' | 'ī' | 'ĭ' | 'į' | 'ı' => true,
        'ō' | 'ŏ' | 'ő' | 'œ' | 'ũ' | 'ū' | 'ŭ' | 'ů' | 'ű' | 'ų' | 'ơ' | 'ư' | 'ə' => true,
        'ǎ' | 'ǐ' | 'ǒ' | 'ǔ' | 'ǖ' | 'ǘ' | 'ǚ' | 'ǜ' | 'ǟ' | 'ǡ' | 'ǣ' | 'ǫ' | 'ǭ' | 'ǻ' | 'ǽ' | 'ǿ' => {
            true
        }
        'ȁ' | 'ȃ' | 'ȅ' | 'ȇ' | 'ȉ' | 'ȋ' | 'ȍ' | 'ȏ' | 'ȕ' | 'ȗ' | 'ȧ' | 'ȩ' | 'ȫ' | 'ȭ' | 'ȯ' | 'ȱ' => {
            true
        }
        // Vietnamese: a, e, i, o, u with marks; what follows them is y.
        '\u{1ea0}'..='\u{1ef1}' => true,
        'а' | 'е' | 'ё' | 'и' | 'о' | 'у' | 'ы' | 'э' | 'ю' | 'я' | 'і' | 'ї' | 'є' | 'ѐ' | 'ѝ' => {
            true
        }
        'α' | 'ε' | 'η' | 'ι' | 'ο' | 'υ' | 'ω' | 'ά' | 'έ' | 'ή' | 'ί' | 'ό' | 'ύ' | 'ώ' => {
            true
        }
        'ϊ' | 'ϋ' | 'ΐ' | 'ΰ' => true,
        // Greek with the marks of old: all vowels but for rho.
        '\u{1f00}'..='\u{1fff}' => !matches!(letter, 'ῤ' | 'ῥ'),
        _ => false,
    }
}

impl Method for Koala {
    fn recipe(&self) -> Recipe {
        Recipe::new("koala", VERSION)
            .with("letters", if self.consonants { "consonants" } else { "all" })
            .with("substring", self.substring)
            .with("prefix", self.prefix)
            .with("stored", self.stored)
            .with("query", self.query)
            .with("least-share", self.least_share)
            .with("share", self.share)
            .with("profile", profile_value(self.profile.as_ref()))
    }

    fn payload_bytes(&self) -> usize {
        4
    }

    fn sketch(&self, page: &Page<'_>, sketch: &mut Sketch) {
        sketch.clear();
        sketch.length = page.len() as u32;
        let LetterBuffers { letters, ranked } = sketch.buffers.own();
        self.letters(page, letters);
        ranked.clear();
        // A text of fewer letters is one substring, and its front is its prefix.
        let substrings = Grams::new(letters, self.substring).zip(Grams::new(letters, self.prefix));
        ranked.extend(substrings.map(|(substring, prefix)| (self.count(prefix), substring)));
        ranked.sort_unstable();
        ranked.dedup();
        ranked.truncate(self.query);
        let tag = |index| if index < self.stored { 0 } else { QUERY_ONLY };
        let key = |(index, &(_, value)): (usize, &(u32, u64))| Key { value, tag: tag(index) };
        sketch.keys.extend(ranked.iter().enumerate().map(key));
        sketch.payload.extend_from_slice(&(ranked.len().min(self.stored) as u32).to_le_bytes());
    }

    fn accept(&self, a: &[u8], b: &[u8], shared: u32) -> Option<Score> {
        self.either_way(self.share, a, b, shared)
    }

    fn promising(&self, a: &[u8], b: &[u8], shared: u32) -> bool {
        let least = if self.least_share.value() < self.share.value() { self.least_share } else { self.share };
        self.either_way(least, a, b, shared).is_some()
    }

    fn abilities(&self) -> Abilities<'_> {
        Abilities {
            profile: self.profile.as_ref(),
            tagged: true,
            counted_keys: Some(1),
            directed: true,
            survey: Some(self),
            query_keys: Some(self),
            advising: Some(self),
            ..Abilities::default()
        }
    }
}

impl QueryKeys for Koala {
    fn is_query_only(&self, tag: u32) -> bool {
        tag == QUERY_ONLY
    }
}

impl Advising for Koala {
    fn advice(&self) -> Option<String> {
        Some(format!(
            "koala reads the input twice, and keeps at most {} substrings of a document whatever its length, so that small \
             parts of long documents go unseen.",
            self.stored
        ))
    }
}

impl Survey for Koala {
    fn bytes(&self) -> u64 {
        (2 * 4) << COUNTER_BITS
    }

    fn observe(&self, _pass: u32, page: &Page<'_>, buffers: &mut Buffers) {
        let LetterBuffers { letters, .. } = buffers.own();
        self.letters(page, letters);
        let table = self.table();
        for prefix in Grams::new(letters, self.prefix) {
            // A full counter stays full.
            let count = |count: u32| count.checked_add(1);
            let _ = table[slot(prefix)].fetch_update(Ordering::Relaxed, Ordering::Relaxed, count);
        }
    }

    fn save(&self) -> Vec<u8> {
        surveys::save(MAGIC, self.table().iter().map(|count| count.load(Ordering::Relaxed).to_le_bytes()))
    }

    fn load(&self, saved: &[u8]) -> bool {
        let Some(counts) = surveys::load(MAGIC, 1 << COUNTER_BITS, saved) else { return false };
        for (counter, count) in self.table().iter().zip(counts) {
            counter.store(u32::from_le_bytes(*count), Ordering::Relaxed);
        }
        true
    }

    fn merge(&self, _pass: u32, saved: &[u8]) -> bool {
        let Some(counts) = surveys::load(MAGIC, 1 << COUNTER_BITS, saved) else { return false };
        for (counter, more) in self.table().iter().zip(counts) {
            let sum = counter.load(Ordering::Relaxed).saturating_add(u32::from_le_bytes(*more));
            counter.store(sum, Ordering::Relaxed);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;
    use lookalike_text::Analyser;
    use proptest::prelude::*;

    fn make(text: &str) -> Box<dyn Method> {
        crate::method(text, &Setting::default()).unwrap()
    }

    fn read(text: &str) -> Features {
        let mut features = Features::default();
        Analyser::new(&Profile::web()).read(text, &mut features);
        features
    }

    fn observe(method: &dyn Method, text: &str) {
        let page = Page { text, features: &read(text) };
        method.abilities().survey.unwrap().observe(0, &page, &mut Buffers::default());
    }

    fn sketch(method: &dyn Method, text: &str) -> Sketch {
        let mut sketch = Sketch::default();
        method.sketch(&Page { text, features: &read(text) }, &mut sketch);
        sketch
    }

    /// The hash of a string of letters.
    fn gram(letters: &str) -> u64 {
        let letters: Vec<u64> = letters.chars().map(|letter| hash::mix(letter.into())).collect();
        hash::gram(&letters)
    }

    fn values(sketch: &Sketch) -> Vec<u64> {
        sketch.keys.iter().map(|key| key.value).collect()
    }

    #[test]
    fn texts_are_reduced_to_consonants() {
        let kept = |text: &str| text.to_lowercase().chars().filter(|&c| !is_vowel(c)).collect::<String>();
        assert_eq!(kept("Überraschung mit Größe, ça y est"), "brrschng mt grß, ç y st");
        assert_eq!(kept("Быстрая лиса їжак"), "бстр лс жк");
        assert_eq!(kept("Ελληνική γλώσσα ὁ ῥόδος"), "λλνκ γλσσ  ῥδς");
        assert_eq!(kept("tiếng Việt người ý"), "tng vt ng ý");
        assert_eq!(kept("日本語 العربية"), "日本語 العربية");
        let rose = sketch(&*make("koala:substring=2,prefix=1"), "A rose, 1 Rose!");
        assert_eq!(
            values(&rose).into_iter().collect::<BTreeSet<_>>(),
            ["rs", "sr"].into_iter().map(gram).collect()
        );
        let all = sketch(&*make("koala:substring=7,letters=all"), "Rose is 1");
        assert_eq!(values(&all), [gram("roseis")]);
    }

    #[test]
    fn the_rarest_substrings_are_stored_and_more_are_asked_for() {
        let method = make("koala:substring=3,prefix=1,stored=2,query=4,letters=all");
        for _ in 0..5 {
            observe(&*method, "a");
        }
        for text in ["bb", "c", "ddd"] {
            observe(&*method, text);
        }
        // Counts: a 5, b 2, c 1, d 3, and x none.
        let made = sketch(&*method, "axbcdaaab");
        let wanted = ["xbc", "cda", "bcd", "daa"].map(gram);
        assert_eq!(values(&made), wanted);
        assert_eq!(made.keys.iter().map(|key| key.tag).collect::<Vec<_>>(), [0, 0, 1, 1]);
        assert_eq!(
            made.keys.iter().map(|key| method.abilities().is_query_only(key.tag)).collect::<Vec<_>>(),
            [false, false, true, true]
        );
        assert_eq!(shares::number(&made.payload), 2);
        let few = sketch(&*method, "axb");
        assert_eq!((values(&few), shares::number(&few.payload)), (vec![gram("axb")], 1));
    }

    #[test]
    fn pairs_are_candidates_before_they_are_duplicates() {
        let method = make("koala");
        let (a, b) = (100u32.to_le_bytes(), 50u32.to_le_bytes());
        assert!(!method.promising(&a, &a, 9) && method.promising(&a, &a, 10));
        assert_eq!(method.accept(&a, &a, 49), None);
        let accept =
            |forward, backward| method.accept(&a, &b, DirectedKeyCounts { forward, backward }.pack());
        let score = Score { forward: 0.25, backward: 0.5, reached: false, reached_back: true };
        assert_eq!(accept(25, 25), Some(score));
        assert_eq!(
            accept(80, 50),
            Some(Score { forward: 0.8, backward: 1.0, reached: true, reached_back: true })
        );
        assert_eq!(accept(40, 20), None);
        assert!(make("koala:least-share=0.9").promising(&a, &a, 50), "what is accepted is promising");
        assert!(crate::method("koala:stored=10,query=9", &Setting::default()).is_err());
        assert!(crate::method("koala:substring=4,prefix=5", &Setting::default()).is_err());
    }

    #[test]
    fn counts_are_saved_and_taken_back() {
        let text = "the quick brown fox jumps over the lazy dog and the quick brown cat";
        let spec = "koala:stored=3,query=5,substring=4,prefix=2";
        let (one, two, none) = (make(spec), make(spec), make(spec));
        observe(&*one, text);
        observe(&*one, "zygote zebra brown");
        assert!(two.abilities().survey.unwrap().load(&one.abilities().survey.unwrap().save()));
        assert_eq!(sketch(&*two, text), sketch(&*one, text));
        assert_ne!(sketch(&*none, text), sketch(&*one, text));
        assert!(!two.abilities().survey.unwrap().load(b"something else"));
    }

    proptest! {
        #[test]
        fn keys_equal_the_plain_version(
            texts in prop::collection::vec("([b-d]{1,4}a? ){0,12}", 1..6),
            substring in 2usize..7,
            prefix in 1usize..4,
            stored in 1usize..6,
        ) {
            prop_assume!(prefix <= substring);
            let method = make(&format!("koala:substring={substring},prefix={prefix},stored={stored},query={}", 2 * stored));
            let reduced: Vec<String> = texts.iter().map(|text| text.replace([' ', 'a'], "")).collect();
            let windows = |text: &str, size: usize| -> Vec<String> {
                let windows = text.as_bytes().windows(size.min(text.len().max(1)));
                windows.map(|letters| String::from_utf8(letters.to_vec()).unwrap()).collect()
            };
            let mut counts: BTreeMap<String, u32> = BTreeMap::new();
            for (text, reduced) in texts.iter().zip(&reduced) {
                observe(&*method, text);
                windows(reduced, prefix).into_iter().for_each(|prefix| *counts.entry(prefix).or_default() += 1);
            }
            for (text, reduced) in texts.iter().zip(&reduced) {
                let distinct: BTreeSet<String> = windows(reduced, substring).into_iter().collect();
                let count = |substring: &str| counts[&substring[..prefix.min(substring.len())]];
                let mut ranked: Vec<(u32, u64)> = distinct.iter().map(|text| (count(text), gram(text))).collect();
                ranked.sort_unstable();
                let wanted: Vec<u64> = ranked.into_iter().map(|(_, value)| value).take(2 * stored).collect();
                prop_assert_eq!(values(&sketch(&*method, text)), wanted);
            }
        }
    }
}
