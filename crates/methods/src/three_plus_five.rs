//! `three-plus-five`: the three longest sentences and the five longest words of a document.
//!
//! A12 of Zelenkov and Segalovich (2007), from the document alone. Each of the three longest sentences is a key. Two
//! documents that share one are compared only if neither is much longer than the other, in words or in sentences, and they
//! share two of their five longest words. They are near-duplicates if the longest sentence is the same, or, where both
//! have more than five sentences, two of the three longest.
//!
//! Sentences are of words that the profile keeps; the paper's drops function words and those of up to three letters. But
//! the length, which counts words of three letters and more, and the longest words are those before anything was
//! dropped: otherwise the limit of three letters would be pointless. Equal sentences count once, also in their number.
//! A document of fewer sentences or words has fewer of them: what is missing is 0 and agrees with nothing. Of a document
//! with a single word, that one must be shared.

use std::cmp::Reverse;

use lookalike_hash as hash;
use lookalike_model::Recipe;
use lookalike_text::{Filter, Profile};

use crate::ratio::Ratio;
use crate::spec::profile_value;
use crate::{
    Abilities, About, Grouping, Key, Member, Method, MethodError, Page, Score, Setting, Sketch, Spec,
    leading, parameters,
};

const VERSION: u32 = 1;

/// Sentences and words that a document is known by.
const SENTENCES: usize = 3;
const WORDS: usize = 5;

/// The description of the method that `lookalike methods` shows.
pub(crate) const ABOUT: About = About {
    name: "three-plus-five",
    aliases: &[("a12", "three-plus-five")],
    summary: "the three longest sentences and the five longest words, and rules to compare them",
    source: "A12 of Zelenkov, Segalovich 2007",
    formula: "\
ss1..3 = h(sentence) of the sentences of most words; ws1..5 = h(word) of the words of most characters
num = number of sentences; len = number of words of at least 3 characters; keys = ss1..3
accept: len ratio <= 1.15, num ratio <= 1.20, at least 2 of 5 ws agree, and
        ss1 = ss1', or both num > 5 and at least 2 of 3 ss agree",
    example: "lookalike pairs --method three-plus-five --unverified docs.jsonl -o pairs.jsonl",
    parameters: &[
        ("ratio", "how much longer the longer document may be, in words"),
        ("num-ratio", "how many more sentences one document may have, as a ratio"),
        ("letters", "words of fewer characters do not count for the length"),
        ("share-words", "how many of the five longest words must agree"),
        ("share-sentences", "how many of the three longest sentences must agree if the longest does not"),
        ("many", "documents of more sentences may differ in the longest"),
        ("profile", "how words of sentences are read"),
    ],
    make: ThreePlusFive::make,
};

/// The method `three-plus-five`.
#[derive(Debug)]
struct ThreePlusFive {
    rules: Rules,
    letters: usize,
    /// The profile by which the words of sentences are read.
    profile: Profile,
    /// The same without dropping any word.
    all_words: Profile,
    /// The filter of the words that `profile` drops.
    filter: Filter,
}

/// The rules by which two documents are near-duplicates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Rules {
    ratio: Ratio,
    num_ratio: Ratio,
    share_words: usize,
    share_sentences: usize,
    many: u32,
}

/// The lengths and signatures kept of a document. Signatures that are missing are 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Record {
    /// Number of words that are not too short.
    len: u32,
    /// Number of different sentences.
    num: u32,
    /// The longest sentences, longest first.
    ss: [u64; SENTENCES],
    /// The longest words, longest first.
    ws: [u64; WORDS],
}

impl Record {
    const BYTES: usize = 8 + 8 * (SENTENCES + WORDS);

    fn write(&self, payload: &mut Vec<u8>) {
        payload.extend_from_slice(&self.len.to_le_bytes());
        payload.extend_from_slice(&self.num.to_le_bytes());
        payload.extend(self.ss.iter().chain(&self.ws).flat_map(|signature| signature.to_le_bytes()));
    }

    fn read(payload: &[u8]) -> Option<Self> {
        let (len, rest) = payload.split_first_chunk()?;
        let (num, rest) = rest.split_first_chunk()?;
        let mut record =
            Record { len: u32::from_le_bytes(*len), num: u32::from_le_bytes(*num), ..Record::default() };
        let signatures = record.ss.iter_mut().chain(&mut record.ws);
        for (signature, bytes) in signatures.zip(rest.as_chunks().0) {
            *signature = u64::from_le_bytes(*bytes);
        }
        Some(record)
    }
}

impl Rules {
    fn accept(&self, a: &Record, b: &Record) -> Option<Score> {
        if !self.ratio.allows(a.len, b.len) || !self.num_ratio.allows(a.num, b.num) {
            return None;
        }
        let words = self.share_words.min(present(&a.ws)).min(present(&b.ws));
        let (first, both) = (shared(&a.ss[..1], &b.ss[..1]), shared(&a.ss, &b.ss));
        let many = a.num.min(b.num) > self.many && both >= self.share_sentences;
        let near = shared(&a.ws, &b.ws) >= words && both > 0 && (first > 0 || many);
        near.then(|| Score::even(both as f64 / present(&a.ss).max(present(&b.ss)) as f64))
    }
}

/// Counts the signatures that are not missing.
fn present(signatures: &[u64]) -> usize {
    signatures.iter().filter(|signature| **signature != 0).count()
}

/// Counts the signatures that are in both, in any order.
fn shared(a: &[u64], b: &[u64]) -> usize {
    a.iter().filter(|signature| **signature != 0 && b.contains(signature)).count()
}

impl ThreePlusFive {
    fn make(mut spec: Spec, setting: &Setting) -> Result<Box<dyn Method>, MethodError> {
        let rules = Rules {
            ratio: spec.value("ratio", Ratio::hundredths(115), Ratio::VALID_VALUES, |_| true)?,
            num_ratio: spec.value("num-ratio", Ratio::hundredths(120), Ratio::VALID_VALUES, |_| true)?,
            share_words: spec.value("share-words", 2, "a number from 0 to 5 is wanted", |words| {
                (0..=WORDS).contains(words)
            })?,
            share_sentences: spec.value(
                "share-sentences",
                2,
                "a number from 1 to 3 is wanted",
                |sentences| (1..=SENTENCES).contains(sentences),
            )?,
            many: spec.value("many", 5, "a number of sentences is wanted", |_| true)?,
        };
        let letters = spec.value("letters", 3, "a number of characters is wanted", |_| true)?;
        let Some(profile) = spec.profile(Some(Profile::yandex()))? else {
            return Err(spec.value_error("profile", "run", "a profile of its own is wanted, such as yandex"));
        };
        spec.finish()?;
        parameters::refuse_containment("three-plus-five", setting)?;
        let all_words =
            Profile { min_letters: 1, max_digits: usize::MAX, stop: Vec::new(), ..profile.clone() };
        let filter = Filter::new(&profile);
        Ok(Box::new(ThreePlusFive { rules, letters, profile, all_words, filter }))
    }

    fn record(&self, page: &Page<'_>, buffers: &mut RecordBuffers) -> Record {
        let (num, ss) = self.sentences(page, buffers);
        let (len, ws) = self.words(page, buffers);
        if num == 0 { Record::default() } else { Record { len, num, ss, ws } }
    }

    /// The number of different sentences, and the signatures of the longest by number of words, then by signature.
    fn sentences(&self, page: &Page<'_>, buffers: &mut RecordBuffers) -> (u32, [u64; SENTENCES]) {
        let RecordBuffers { signatures, lengths, positions, text } = buffers;
        signatures.clear();
        lengths.clear();
        for sentence in 0..page.sentence_count() {
            let length = self.kept_text(page, sentence, text);
            if length > 0 {
                signatures.push(hash::word(text.as_bytes()).max(1));
                lengths.push(length);
            }
        }
        let order = |item: usize| (Reverse(lengths[item]), signatures[item]);
        leading::first_n(SENTENCES, lengths.len(), positions, |a, b| order(a).cmp(&order(b)));
        let longest = pick(positions, |item| signatures[item]);
        signatures.sort_unstable();
        signatures.dedup();
        (signatures.len() as u32, longest)
    }

    /// Replaces `text` with the words of a sentence that are kept, and returns their number.
    fn kept_text(&self, page: &Page<'_>, sentence: usize, text: &mut String) -> u64 {
        text.clear();
        let mut length = 0;
        for index in page.sentence(sentence) {
            let word = page.word(index);
            if self.filter.keeps(word, page.hashes()[index]) {
                if length > 0 {
                    text.push(' ');
                }
                text.push_str(word);
                length += 1;
            }
        }
        length
    }

    /// The number of words that are long enough, and the signatures of the longest by characters, then by signature.
    fn words(&self, page: &Page<'_>, buffers: &mut RecordBuffers) -> (u32, [u64; WORDS]) {
        let RecordBuffers { lengths, positions, .. } = buffers;
        lengths.clear();
        lengths.extend(page.words().map(|word| word.chars().count() as u64));
        let order = |item: usize| (Reverse(lengths[item]), page.hashes()[item]);
        leading::first_n(WORDS, lengths.len(), positions, |a, b| order(a).cmp(&order(b)));
        let longest = pick(positions, |item| page.hashes()[item].max(1));
        let long = lengths.iter().filter(|length| **length >= self.letters as u64).count();
        (long as u32, longest)
    }
}

/// Sentences or words of a document, from which the longest are taken.
#[derive(Default)]
struct RecordBuffers {
    signatures: Vec<u64>,
    /// By number of words, or of characters.
    lengths: Vec<u64>,
    /// The longest.
    positions: Vec<u32>,
    /// One sentence.
    text: String,
}

/// The signatures of the items, and 0 behind them.
fn pick<const N: usize>(items: &[u32], signature: impl Fn(usize) -> u64) -> [u64; N] {
    std::array::from_fn(|index| items.get(index).map_or(0, |&item| signature(item as usize)))
}

impl Method for ThreePlusFive {
    fn recipe(&self) -> Recipe {
        Recipe::new("three-plus-five", VERSION)
            .with("ratio", self.rules.ratio)
            .with("num-ratio", self.rules.num_ratio)
            .with("letters", self.letters)
            .with("share-words", self.rules.share_words)
            .with("share-sentences", self.rules.share_sentences)
            .with("many", self.rules.many)
            .with("profile", profile_value(Some(&self.profile)))
    }

    fn payload_bytes(&self) -> usize {
        Record::BYTES
    }

    fn sketch(&self, page: &Page<'_>, sketch: &mut Sketch) {
        sketch.clear();
        let record = self.record(page, sketch.buffers.own());
        sketch.length = record.len;
        let keys = record.ss.iter().filter(|signature| **signature != 0);
        sketch.keys.extend(keys.map(|&value| Key { value, tag: 0 }));
        record.write(&mut sketch.payload);
    }

    fn accept(&self, a: &[u8], b: &[u8], _shared: u32) -> Option<Score> {
        self.rules.accept(&Record::read(a)?, &Record::read(b)?)
    }

    fn abilities(&self) -> Abilities<'_> {
        Abilities {
            // All words: the method itself drops some from sentences.
            profile: Some(&self.all_words),
            sentences: true,
            grouping: Some(self),
            ..Abilities::default()
        }
    }
}

impl Grouping for ThreePlusFive {
    fn plausible(&self, a: Member, b: Member) -> bool {
        self.rules.ratio.allows(a.length, b.length)
    }

    fn longest_partner(&self, length: u32) -> u32 {
        self.rules.ratio.longest(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lookalike_text::{Analyser, Features};

    fn rules() -> Rules {
        let (ratio, num_ratio) = (Ratio::hundredths(115), Ratio::hundredths(120));
        Rules { ratio, num_ratio, share_words: 2, share_sentences: 2, many: 5 }
    }

    const X: Record = Record { num: 10, len: 200, ss: [11, 22, 33], ws: [1, 2, 3, 4, 5] };
    const Y: Record = Record { num: 11, len: 210, ss: [22, 33, 44], ws: [4, 5, 6, 7, 8] };

    fn near(x: Record, y: Record) -> bool {
        let (one, two) = (rules().accept(&x, &y), rules().accept(&y, &x));
        assert_eq!(one, two);
        one.is_some()
    }

    #[test]
    fn published_rules() {
        assert!(near(X, Y), "two sentences, two words");
        assert!(!near(Record { num: 5, ..X }, Record { num: 5, ..Y }), "not more than five sentences");
        assert!(near(Record { num: 6, ..X }, Record { num: 6, ..Y }), "more than five sentences");
        assert!(near(X, Record { ss: [11, 77, 88], ..Y }), "the longest sentence");
        assert!(!near(X, Record { ws: [5, 6, 7, 8, 9], ..Y }), "one word");
        assert!(near(X, Record { len: 230, ..Y }), "ratio 1.15");
        assert!(!near(X, Record { len: 231, ..Y }), "ratio 1.155");
        assert!(near(X, Record { num: 12, ..Y }), "1.2 times the sentences");
        assert!(!near(X, Record { num: 13, ..Y }), "1.3 times the sentences");
    }

    #[test]
    fn what_is_missing_agrees_with_nothing() {
        let one = Record { num: 1, len: 9, ss: [11, 0, 0], ws: [1, 2, 0, 0, 0] };
        assert!(near(one, one));
        assert!(!near(one, Record { ss: [12, 0, 0], ..one }), "0 is not 0");
        assert!(!near(one, Record { ws: [3, 4, 0, 0, 0], ..one }));
        assert!(near(Record { ws: [1, 0, 0, 0, 0], ..one }, one), "a single word that is shared");
        assert!(!near(Record { ws: [3, 0, 0, 0, 0], ..one }, one), "a single word that is not");
        assert!(!near(Record::default(), Record::default()));
    }

    #[test]
    fn records_are_read_as_they_were_written() {
        let mut payload = Vec::new();
        X.write(&mut payload);
        assert_eq!(payload.len(), Record::BYTES);
        assert_eq!(Record::read(&payload), Some(X));
    }

    fn sketch(method: &dyn Method, text: &str) -> (Record, Sketch) {
        let (mut features, mut sketch) = (Features::default(), Sketch::default());
        let mut analyser = Analyser::new(method.abilities().profile.unwrap());
        analyser.read(text, &mut features);
        analyser.read_sentences(&mut features);
        method.sketch(&Page { text, features: &features }, &mut sketch);
        (Record::read(&sketch.payload).unwrap(), sketch)
    }

    #[test]
    fn words_are_dropped_from_sentences_alone() {
        let method = crate::method("a12", &Setting::default()).unwrap();
        let text = "The rose of the garden would bloom. Is it red? Roses bloom! A rose of the garden did bloom. \
                    Tulips wither on windows.";
        let (record, sketch) = sketch(&*method, text);
        // Words of at least three characters, and the longest, are those that sentences were to lose.
        assert_eq!((record.len, record.num), (17, 3));
        let signature = |text: &str| hash::word(text.as_bytes());
        let mut longest = ["rose garden bloom", "tulips wither windows"].map(signature);
        longest.sort_unstable();
        assert_eq!(record.ss, [longest[0], longest[1], signature("roses bloom")]);
        let mut six = ["garden", "tulips", "wither"].map(signature);
        six.sort_unstable();
        assert_eq!(record.ws[0], signature("windows"));
        assert_eq!(record.ws[1..4], six);
        let mut five = ["would", "bloom", "roses"].map(signature);
        five.sort_unstable();
        assert_eq!(record.ws[4], five[0]);
        assert_eq!(sketch.keys.iter().map(|key| key.value).collect::<Vec<_>>(), record.ss);
        assert_eq!(sketch.length, 17);
    }

    #[test]
    fn short_documents_have_few_records() {
        let method = crate::method("a12", &Setting::default()).unwrap();
        let (record, one) = sketch(&*method, "Roses bloom.");
        assert_eq!((record.num, one.keys.len(), record.ss[1..].to_vec()), (1, 1, vec![0, 0]));
        assert_eq!(sketch(&*method, "Roses bloom. Tulips wither.").1.keys.len(), 2);
        let (record, none) = sketch(&*method, "It is the one.");
        assert!(none.keys.is_empty() && record == Record::default());
        assert_eq!(method.accept(&none.payload, &none.payload, 0), None);
    }

    #[test]
    fn partners_are_at_most_so_much_longer() {
        let method = crate::method("a12:ratio=1.5", &Setting::default()).unwrap();
        assert_eq!(
            (method.abilities().longest_partner(20), method.abilities().longest_partner(21)),
            (30, 31)
        );
        let member = |length| Member { length, tag: 0 };
        assert!(
            method.abilities().plausible(member(30), member(20))
                && !method.abilities().plausible(member(20), member(31))
        );
        assert!(crate::method("a12:profile=run", &Setting::default()).is_err());
    }
}
