//! `spex`: shared sequences of eight words, of which those that occur only once are never looked at.
//!
//! SPEX (Bernstein, Zobel 2004). A sequence that occurs once in the whole collection cannot be shared, and most do. A
//! sequence of j words can only occur twice if both of its parts of j − 1 words do; so the collection is read once for
//! each length from 1 to n, and sequences are counted in a table of two-bit counters, those alone whose parts were seen
//! twice in the table before. Two tables are alive at a time. Sequences that share a counter may be kept for nothing,
//! but none is lost. That a sequence is in two *documents* shows when they meet.
//!
//! - `counters`: the tables

mod counters;

use std::sync::atomic::Ordering;

use lookalike_model::{Recipe, Threshold};
use lookalike_text::Profile;

use self::counters::Counters;
use crate::shares;
use crate::spec::profile_value;
use crate::surveys::{self, Magic};
use crate::{
    Abilities, About, Advising, Buffers, Grouping, Key, Member, Method, MethodError, Page, Score, Setting,
    Sketch, Spec, Survey, parameters,
};

const VERSION: u32 = 1;

const MAGIC: &Magic = b"spex   1";

/// The description of the method that `lookalike methods` shows.
pub(crate) const ABOUT: About = About {
    name: "spex",
    aliases: &[],
    summary: "shared sequences of eight words, found without an index of all of them",
    source: "Bernstein, Zobel 2004",
    formula: "\
a sequence of j words is counted if both of its parts of j-1 words occur twice, for j = 1 ... n
keys = sequences of n words that occur twice; score = |sequences of both| / mean of |sequences of A|, |of B|",
    example: "lookalike pairs --method spex:share=0.5 docs.jsonl -o pairs.jsonl",
    parameters: &[
        ("n", "words of a sequence"),
        ("shortest", "the length that counting begins with; each greater one saves a pass over the input"),
        (
            "counters",
            "two-bit counters of a table as a power of two: 26 are 16 MiB, and there are two tables",
        ),
        ("share", "the score that is enough"),
        ("profile", "how words are read; run is the run's own"),
    ],
    make: Spex::make,
};

/// The method `spex`.
#[derive(Debug)]
pub(crate) struct Spex {
    n: usize,
    shortest: usize,
    bits: u32,
    share: Threshold,
    profile: Option<Profile>,
    /// Passes fill them in turn.
    tables: [Counters; 2],
}

impl Spex {
    pub(crate) fn make(mut spec: Spec, setting: &Setting) -> Result<Box<dyn Method>, MethodError> {
        let n = spec.value("n", 8, "a number of words from 1 to 100 is wanted", |n| (1..=100).contains(n))?;
        let wanted = "a number of words from 1 to n is wanted";
        let shortest = spec.value("shortest", 1, wanted, |shortest| (1..=n).contains(shortest))?;
        let wanted = "a power of two from 5 to 36 is wanted";
        let bits = spec.value("counters", 26, wanted, |bits| (5..=36).contains(bits))?;
        let share = shares::share(&mut spec, "share", "0.25")?;
        let profile = spec.profile(None)?;
        spec.finish()?;
        parameters::refuse_containment("spex", setting)?;
        let tables = [Counters::new(bits), Counters::new(bits)];
        Ok(Box::new(Spex { n, shortest, bits, share, profile, tables }))
    }

    /// The table that a pass fills.
    fn filled(&self, pass: u32) -> &Counters {
        &self.tables[pass as usize % 2]
    }

    /// The one before, which is the next as well.
    fn other(&self, pass: u32) -> &Counters {
        &self.tables[(pass as usize + 1) % 2]
    }

    /// True when documents with so many sequences can share enough of them.
    fn in_reach(&self, a: u32, b: u32) -> bool {
        self.enough(a.min(b), a, b)
    }

    /// True when `shared` is enough of the mean of `a` and `b`.
    fn enough(&self, shared: u32, a: u32, b: u32) -> bool {
        shared > 0 && self.share.reached_by(2 * u64::from(shared), u64::from(a) + u64::from(b))
    }
}

impl Method for Spex {
    fn recipe(&self) -> Recipe {
        Recipe::new("spex", VERSION)
            .with("n", self.n)
            .with("shortest", self.shortest)
            .with("counters", self.bits)
            .with("share", self.share)
            .with("profile", profile_value(self.profile.as_ref()))
    }

    fn payload_bytes(&self) -> usize {
        4
    }

    fn sketch(&self, page: &Page<'_>, sketch: &mut Sketch) {
        sketch.clear();
        let sequences: &mut Vec<u64> = sketch.buffers.own();
        page.shingles(self.n, sequences);
        sketch.length = sequences.len() as u32;
        sketch.payload.extend_from_slice(&sketch.length.to_le_bytes());
        let last = self.filled(self.passes() - 1);
        let repeated = sequences.iter().filter(|&&sequence| last.repeated(sequence));
        sketch.keys.extend(repeated.map(|&value| Key { value, tag: 0 }));
    }

    fn accept(&self, a: &[u8], b: &[u8], shared: u32) -> Option<Score> {
        let (a, b) = (shares::number(a), shares::number(b));
        let mean = (f64::from(a) + f64::from(b)) / 2.0;
        self.enough(shared, a, b).then(|| Score::even((f64::from(shared) / mean).min(1.0)))
    }

    fn abilities(&self) -> Abilities<'_> {
        Abilities {
            profile: self.profile.as_ref(),
            counted_keys: Some(1),
            survey: Some(self),
            grouping: Some(self),
            advising: Some(self),
            ..Abilities::default()
        }
    }
}

impl Grouping for Spex {
    fn plausible(&self, a: Member, b: Member) -> bool {
        self.in_reach(a.length, b.length)
    }

    fn longest_partner(&self, length: u32) -> u32 {
        // From 2·length ≥ share·(length + partner).
        let (numerator, denominator) = (self.share.numerator(), self.share.denominator());
        let partner = u64::from(length) * (2 * denominator - numerator) / numerator;
        partner.min(u32::MAX.into()) as u32
    }
}

impl Advising for Spex {
    fn advice(&self) -> Option<String> {
        (self.passes() > 1).then(|| {
            format!(
                "spex reads the input {} times before it looks for pairs; with shortest={} it would once, and more counters \
                 would make up for the chance keys.",
                self.passes(),
                self.n
            )
        })
    }
}

impl Survey for Spex {
    fn bytes(&self) -> u64 {
        // Two tables of two bits for each counter, and once more while they are saved.
        2 * 2 * (1 << self.bits) / 4
    }

    fn passes(&self) -> u32 {
        (self.n - self.shortest + 1) as u32
    }

    fn observe(&self, pass: u32, page: &Page<'_>, _: &mut Buffers) {
        let length = self.shortest + pass as usize;
        let filled = self.filled(pass);
        if pass == 0 {
            return page.grams(length).for_each(|sequence| filled.add(sequence));
        }
        let before = self.other(pass);
        // A document of fewer words is one sequence, and that is its own only part.
        let mut parts = page.grams(length - 1).map(|part| before.repeated(part));
        let mut front = parts.next().unwrap_or_default();
        for sequence in page.grams(length) {
            let back = parts.next().unwrap_or(front);
            if front && back {
                filled.add(sequence);
            }
            front = back;
        }
    }

    fn end(&self, pass: u32) {
        if pass + 1 < self.passes() {
            self.other(pass).clear();
        }
    }

    fn save(&self) -> Vec<u8> {
        let words = self.tables.iter().flat_map(Counters::words);
        surveys::save(MAGIC, words.map(|word| word.load(Ordering::Relaxed).to_le_bytes()))
    }

    fn load(&self, saved: &[u8]) -> bool {
        let words = self.tables.iter().flat_map(Counters::words);
        let count = words.clone().count();
        let Some(saved) = surveys::load(MAGIC, count, saved) else { return false };
        for (word, saved) in words.zip(saved) {
            word.store(u64::from_le_bytes(*saved), Ordering::Relaxed);
        }
        true
    }

    fn merge(&self, pass: u32, saved: &[u8]) -> bool {
        let each = self.tables[0].words().len();
        let Some(saved) = surveys::load(MAGIC, each * self.tables.len(), saved) else { return false };
        // The other table is known before the pass.
        let filled = saved.chunks(each).nth(pass as usize % self.tables.len()).unwrap_or_default();
        self.filled(pass).merge(filled.iter().map(|word| u64::from_le_bytes(*word)));
        true
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;
    use lookalike_hash as hash;
    use lookalike_text::{Analyser, Features};
    use proptest::prelude::*;

    fn make(text: &str) -> Box<dyn Method> {
        crate::method(text, &Setting::default()).unwrap()
    }

    fn read(text: &str) -> Features {
        let mut features = Features::default();
        Analyser::new(&Profile::web()).read(text, &mut features);
        features
    }

    fn observe(method: &dyn Method, pass: u32, text: &str) {
        let features = read(text);
        if !features.is_empty() {
            let page = Page { text, features: &features };
            method.abilities().survey.unwrap().observe(pass, &page, &mut Buffers::default());
        }
    }

    fn survey(method: &dyn Method, texts: &[String]) {
        let survey = method.abilities().survey.unwrap();
        for pass in 0..survey.passes() {
            texts.iter().for_each(|text| observe(method, pass, text));
            survey.end(pass);
        }
    }

    fn keys(method: &dyn Method, text: &str) -> BTreeSet<u64> {
        let mut sketch = Sketch::default();
        method.sketch(&Page { text, features: &read(text) }, &mut sketch);
        sketch.keys.iter().map(|key| key.value).collect()
    }

    /// The sequences of a text in the simplest way; the whole text when it is shorter.
    fn sequences(text: &str, n: usize) -> Vec<Vec<&str>> {
        let words: Vec<&str> = text.split_whitespace().collect();
        match words.len() {
            0 => Vec::new(),
            few if few < n => vec![words],
            _ => words.windows(n).map(<[&str]>::to_vec).collect(),
        }
    }

    fn gram(words: &[&str]) -> u64 {
        let hashes: Vec<u64> = words.iter().map(|word| hash::word(word.as_bytes())).collect();
        hash::gram(&hashes)
    }

    fn texts() -> impl Strategy<Value = Vec<String>> {
        prop::collection::vec("([a-e] ){0,14}", 1..8)
    }

    #[test]
    fn the_score_is_a_part_of_the_mean() {
        let method = make("spex");
        let (a, b) = (10u32.to_le_bytes(), 30u32.to_le_bytes());
        assert_eq!(method.accept(&a, &b, 5), Some(Score::even(0.25)));
        assert_eq!(method.accept(&a, &b, 4), None);
        assert_eq!(method.accept(&a, &a, 10), Some(Score::even(1.0)));
        assert_eq!(method.accept(&[0; 4], &[0; 4], 0), None);
    }

    #[test]
    fn there_is_a_pass_for_each_length() {
        assert_eq!(make("spex").abilities().survey.unwrap().passes(), 8);
        assert_eq!(make("spex:shortest=8").abilities().survey.unwrap().passes(), 1);
        assert!(crate::method("spex:n=3,shortest=4", &Setting::default()).is_err());
        assert!(crate::method("spex:counters=4", &Setting::default()).is_err());
    }

    #[test]
    fn a_short_document_is_one_sequence() {
        let method = make("spex:counters=20");
        let texts = ["rose is", "a rose is a rose is a rose is", "rose is", "a rose"].map(str::to_owned);
        survey(&*method, &texts);
        assert_eq!(keys(&*method, "rose is"), BTreeSet::from([gram(&["rose", "is"])]));
        assert_eq!(keys(&*method, "a rose"), BTreeSet::new());
    }

    #[test]
    fn a_survey_goes_on_where_it_was_saved() {
        let texts: Vec<String> =
            ["a b c d e f", "x b c d e y", "a b c z d e f", "b c d e"].map(str::to_owned).to_vec();
        let spec = "spex:n=3,counters=12";
        let (whole, mut half) = (make(spec), make(spec));
        survey(&*whole, &texts);
        for pass in 0..3 {
            for (index, text) in texts.iter().enumerate() {
                observe(&*half, pass, text);
                if index == pass as usize {
                    let saved = half.abilities().survey.unwrap().save();
                    half = make(spec);
                    assert!(half.abilities().survey.unwrap().load(&saved));
                }
            }
            half.abilities().survey.unwrap().end(pass);
        }
        assert!(!keys(&*whole, &texts[0]).is_empty());
        for text in &texts {
            assert_eq!(keys(&*whole, text), keys(&*half, text));
        }
        assert!(
            !half
                .abilities()
                .survey
                .unwrap()
                .load(&make("spex:counters=13").abilities().survey.unwrap().save())
        );
    }

    proptest! {
        #[test]
        fn keys_are_the_sequences_that_occur_twice(texts in texts(), n in 1usize..5, from in 1usize..5) {
            prop_assume!(from <= n);
            let method = make(&format!("spex:n={n},shortest={from},counters=20"));
            survey(&*method, &texts);
            let mut counts: BTreeMap<Vec<&str>, u32> = BTreeMap::new();
            for sequence in texts.iter().flat_map(|text| sequences(text, n)) {
                *counts.entry(sequence).or_default() += 1;
            }
            for text in &texts {
                let twice = sequences(text, n).into_iter().filter(|sequence| counts[sequence] >= 2);
                let wanted: BTreeSet<u64> = twice.map(|sequence| gram(&sequence)).collect();
                prop_assert_eq!(keys(&*method, text), wanted);
            }
        }

        #[test]
        fn few_counters_lose_nothing_and_the_order_does_not_matter(texts in texts(), n in 1usize..5) {
            let [full, few, reversed] = ["counters=20", "counters=5", "counters=5"].map(|counters| make(&format!("spex:n={n},{counters}")));
            let reverse: Vec<String> = texts.iter().rev().cloned().collect();
            survey(&*full, &texts);
            survey(&*few, &texts);
            survey(&*reversed, &reverse);
            for text in &texts {
                prop_assert!(keys(&*full, text).is_subset(&keys(&*few, text)));
                prop_assert_eq!(keys(&*few, text), keys(&*reversed, text));
            }
        }

        #[test]
        fn partners_are_as_long_as_the_score_allows(length in 1u32..2000, thousandths in 1u32..=1000) {
            let method = make(&format!("spex:share={}", f64::from(thousandths) / 1000.0));
            let longest = method.abilities().longest_partner(length);
            let plausible = |other| method.abilities().plausible(Member { length, tag: 0 }, Member { length: other, tag: 0 });
            prop_assert!(longest >= length && plausible(longest) && !plausible(longest + 1));
        }
    }
}
