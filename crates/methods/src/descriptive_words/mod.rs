//! `descriptive-words`: which of a few thousand well chosen words a document uses much.
//!
//! A9 of Zelenkov and Segalovich (2007). Each of the chosen words has a threshold; a document's signature is the set of
//! words whose frequency in it, as a part of its highest, is above theirs. Equal sets of two words or more are
//! near-duplicates. A word is good if few documents are near its threshold, since those would change sides with a small
//! edit; and together the words should describe as many documents as possible.
//!
//! The paper tells the goal of the selection and not every step of it; the steps here are in `select`. What they need to
//! know of each word, the lexicon holds: how many documents use it how much. What they need to know of documents comes from
//! a sample of them, gathered in one pass: the different documents with the smallest digests, so that neither their order
//! nor copies matter. Of each it holds the words that may be chosen and could be above a threshold, at most a thousand
//! of the most frequent, in eight bytes each, and of all documents together at most 24 MiB; three times that is used while
//! words are chosen. The lexicon is let go when they are.
//!
//! - `quality`: thresholds of a word, and how good they are
//! - `sample`: the documents that words are chosen by
//! - `cover`: words that together describe as many documents as possible
//! - `select`: the choice of words

mod cover;
mod quality;
mod rows;
mod sample;
mod select;

use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use lookalike_hash as hash;
use lookalike_model::{Recipe, Threshold};
use lookalike_text::Profile;

use self::quality::{FrequencyDistribution, WordThreshold};
use self::sample::{ByteReader, Sample};
use self::select::{Choice, Round, Rules};
use crate::lexicon::bin;
use crate::spec::profile_value;
use crate::words::{self, Word};
use crate::{
    Abilities, About, Advising, Buffers, Learning, Lexicon, LexiconDetail, Method, MethodError, Page, Score,
    Setting, Sketch, Spec, Survey, parameters, signature,
};

const VERSION: u32 = 1;

/// The description of the method that `lookalike methods` shows.
pub(crate) const ABOUT: About = About {
    name: "descriptive-words",
    aliases: &[("a9", "descriptive-words")],
    summary: "which of a few thousand chosen words a document uses much; equal sets pair",
    source: "A9 of Zelenkov, Segalovich 2007",
    formula: "\
TF = tf/tf_max; bit of a word w = 1 if TF_w > theta_w; key = h(numbers of the words whose bit is 1); accept: equal
quality of a word = 1 - #{documents: |TF - theta| <= delta} / df; theta with the best quality
chosen in rounds: 1. cover documents by words above a floor of quality, 2. better thetas, drop the worst words",
    example: "lookalike pairs --method descriptive-words docs.jsonl -o pairs.jsonl",
    parameters: &[
        ("words", "how many words are chosen at most"),
        ("one-in", "at most one in so many words of the vocabulary is chosen"),
        ("least", "words of fewer documents cannot be chosen"),
        ("most", "words of a greater share of documents cannot be chosen"),
        ("delta", "how near to a threshold is near, in hundredths of the highest frequency"),
        ("bits", "how many of the words a document must use much"),
        ("rounds", "rounds of the selection"),
        ("sample", "documents that words are chosen by"),
        ("profile", "how words are read; run is the run's own"),
    ],
    make: DescriptiveWords::make,
};

/// The method `descriptive-words`.
#[derive(Debug)]
struct DescriptiveWords {
    rules: Rules,
    words: usize,
    one_in: u64,
    least: u32,
    most: Threshold,
    sample: usize,
    profile: Option<Profile>,
    state: RwLock<State>,
}

/// The stage that the method has reached.
#[derive(Debug)]
enum State {
    /// It knows nothing of the collection.
    Unready,
    /// It knows the lexicon and samples documents.
    Gathering(Candidates, Mutex<Sample>),
    /// It has chosen its words.
    Chosen(ChosenWords),
}

/// Words that may be chosen, numbered in alphabetical order.
#[derive(Debug)]
struct Candidates {
    lexicon: Arc<Lexicon>,
    /// Their positions in the lexicon.
    indices: Vec<u32>,
    /// Their first thresholds.
    thresholds: Vec<WordThreshold>,
    /// The number of the word at each index of the lexicon, if it may be chosen.
    numbers: Vec<Option<NonZeroU32>>,
    /// Tells other candidates apart.
    check: u64,
}

/// The words that were chosen, in the order of their hashes.
#[derive(Debug, Clone, PartialEq, Default)]
struct ChosenWords {
    /// Hash and threshold of each.
    words: Vec<(u64, u8)>,
    /// The result of each round of the choice, and at last of the choice itself.
    rounds: Vec<Round>,
}

impl Candidates {
    /// The words of a lexicon that are in at least `least` documents and at most a share `most` of them, and have a
    /// threshold that enough of them are above.
    fn new(lexicon: &Arc<Lexicon>, least: u32, most: Threshold, delta: u8) -> Self {
        let all = lexicon.documents();
        let common = |documents: u32| {
            u128::from(documents) * u128::from(most.denominator())
                > u128::from(all) * u128::from(most.numerator())
        };
        let mut found: Vec<(u32, WordThreshold)> = (0..lexicon.len())
            .filter(|&index| {
                let documents = lexicon.counts(index).documents;
                documents >= least && !common(documents)
            })
            .filter_map(|index| {
                Some((index as u32, FrequencyDistribution::new(lexicon.bins(index)).first(delta)?))
            })
            .collect();
        found.sort_unstable_by_key(|(index, _)| lexicon.word(*index as usize));
        let (indices, thresholds): (Vec<u32>, Vec<WordThreshold>) = found.into_iter().unzip();
        let mut numbers = vec![None; lexicon.len()];
        let mut check = hash::nth(all, u64::from(delta));
        for (number, &index) in (1..).zip(&indices) {
            numbers[index as usize] = NonZeroU32::new(number);
            check = hash::mix(check ^ lexicon.hash(index as usize));
        }
        Candidates { lexicon: lexicon.clone(), indices, thresholds, numbers, check }
    }

    /// Bytes of memory that it takes beside the lexicon.
    fn bytes(&self) -> u64 {
        let numbers = size_of_val(&*self.indices) + size_of_val(&*self.numbers);
        // Thresholds are copied when words are chosen.
        (numbers + 2 * size_of_val(&*self.thresholds)) as u64
    }

    /// The number of the word with this hash.
    fn number(&self, hash: u64) -> Option<u32> {
        let index = self.lexicon.index_of(hash)?;
        self.numbers[index].map(|number| number.get() - 1)
    }

    /// The words of a document that may be chosen and could be above a threshold, with the bins of their frequencies.
    fn list(&self, page: &Page<'_>, distinct: &mut Vec<Word>) -> Box<[(u32, u8)]> {
        words::distinct(page, distinct);
        let most = highest_count(distinct);
        let used = |word: &Word| {
            let bin = bin(word.count, most);
            if bin < *quality::EDGES.start() { None } else { Some((self.number(word.hash)?, bin)) }
        };
        let mut list: Vec<(u32, u8)> = distinct.iter().filter_map(used).collect();
        // The sort is stable: of equally frequent words, those with the smaller hashes stay.
        list.sort_by_key(|(_, bin)| std::cmp::Reverse(*bin));
        list.truncate(sample::MAX_DOCUMENT_WORDS);
        list.sort_unstable();
        list.into()
    }

    /// Chooses words by a sample of documents.
    fn choose(&self, sample: Sample, rules: &Rules, target: usize) -> ChosenWords {
        let distribution = |number: u32| {
            FrequencyDistribution::new(self.lexicon.bins(self.indices[number as usize] as usize))
        };
        let Choice { words, rounds } =
            select::select(self.thresholds.clone(), distribution, sample.rows(), rules, target);
        let found =
            |(number, edge): (u32, u8)| (self.lexicon.hash(self.indices[number as usize] as usize), edge);
        let mut words: Vec<(u64, u8)> = words.into_iter().map(found).collect();
        words.sort_unstable();
        ChosenWords { words, rounds }
    }
}

/// Returns the number of occurrences of the most frequent word of a document.
fn highest_count(distinct: &[Word]) -> u32 {
    distinct.iter().map(|word| word.count).max().unwrap_or(1)
}

impl ChosenWords {
    /// Bytes of memory that it takes.
    fn bytes(&self) -> u64 {
        (size_of_val(&*self.words) + size_of_val(&*self.rounds)) as u64
    }

    /// Appends the numbers of the words that a document uses much, in increasing order.
    fn bits(&self, distinct: &[Word], bits: &mut Vec<u32>) {
        let most = highest_count(distinct);
        // Distinct words come in the order of their hashes, and so do the chosen ones.
        bits.extend(distinct.iter().filter_map(|word| {
            let number = self.words.binary_search_by_key(&word.hash, |(hash, _)| *hash).ok()?;
            (bin(word.count, most) >= self.words[number].1).then_some(number as u32)
        }));
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&(self.words.len() as u32).to_le_bytes());
        for (hash, edge) in &self.words {
            out.extend_from_slice(&hash.to_le_bytes());
            out.push(*edge);
        }
        self.rounds.iter().for_each(|round| round.write(out));
    }

    fn read(bytes: &mut ByteReader<'_>) -> Option<Self> {
        let mut chosen = ChosenWords::default();
        for _ in 0..bytes.number()? {
            chosen.words.push((u64::from_le_bytes(bytes.take()?), u8::from_le_bytes(bytes.take()?)));
        }
        while !bytes.is_empty() {
            chosen.rounds.push(Round::read(bytes)?);
        }
        chosen.words.is_sorted().then_some(chosen)
    }

    /// Describes the rounds of the choice in one sentence, for users.
    fn summary(&self) -> String {
        let percent = |round: &Round| 100.0 * f64::from(round.covered) / f64::from(round.documents.max(1));
        let summary = |round: &Round| {
            format!("{:.1} % by {} words of quality {:.3}", percent(round), round.words, round.quality)
        };
        let rounds: Vec<String> = self.rounds.iter().map(summary).collect();
        format!(
            "descriptive-words chose {} words; documents of the sample with a signature, after each round and at last: \
             {}.",
            self.words.len(),
            rounds.join(", ")
        )
    }
}

impl DescriptiveWords {
    fn make(mut spec: Spec, setting: &Setting) -> Result<Box<dyn Method>, MethodError> {
        let wanted = "a number of words from 2 to 1000000 is wanted";
        let words = spec.value("words", 4000, wanted, |words| (2..=1_000_000).contains(words))?;
        let one_in = spec.value("one-in", 20, "a number from 1 is wanted", |&one_in| one_in > 0)?;
        let least = spec.value("least", 5, "a number of documents is wanted", |_| true)?;
        let text = spec.text("most").unwrap_or_else(|| "0.1".to_owned());
        let most = text.parse().map_err(|_| {
            spec.value_error("most", &text, "a share of all documents is wanted, such as 0.1")
        })?;
        let delta = spec.value("delta", 5, "a number of hundredths from 1 to 50 is wanted", |delta| {
            (1..=50).contains(delta)
        })?;
        let bits = spec
            .value("bits", 2, "a number of words from 1 to 100 is wanted", |bits| (1..=100).contains(bits))?;
        let rounds = spec.value("rounds", 5, "a number of rounds from 1 to 9 is wanted", |rounds| {
            (1..=9).contains(rounds)
        })?;
        let wanted = "a number of documents from 1 to 1000000 is wanted";
        let sample = spec.value("sample", 20_000, wanted, |sample| (1..=1_000_000).contains(sample))?;
        let profile = spec.profile(Some(Profile::yandex()))?;
        spec.finish()?;
        parameters::refuse_containment("descriptive-words", setting)?;
        let (rules, state) = (Rules { delta, bits, rounds }, RwLock::new(State::Unready));
        Ok(Box::new(DescriptiveWords { rules, words, one_in, least, most, sample, profile, state }))
    }

    fn state(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn state_mut(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Bytes of memory that candidates or chosen words take.
    fn resident_bytes(&self) -> u64 {
        match &*self.state() {
            State::Unready => 0,
            State::Gathering(candidates, _) => candidates.bytes(),
            State::Chosen(chosen) => chosen.bytes(),
        }
    }
    /// Returns the number of words to be chosen.
    fn target(&self, lexicon: &Lexicon) -> usize {
        let few = lexicon.totals().vocabulary / self.one_in;
        self.words.min(usize::try_from(few).unwrap_or(usize::MAX))
    }

    /// Reads a sample, if it was written with the same candidates.
    fn read_sample(&self, candidates: &Candidates, bytes: &mut ByteReader<'_>) -> Option<Sample> {
        let same = u64::from_le_bytes(bytes.take()?) == candidates.check;
        same.then(|| Sample::read(self.sample, sample::MAX_SAMPLE_WORDS, candidates.indices.len(), bytes))?
    }

    /// Takes back what was saved, if it fits what is known.
    fn read(&self, mut bytes: ByteReader<'_>) -> Option<()> {
        match u8::from_le_bytes(bytes.take()?) {
            UNREADY => {}
            SAMPLE => match &*self.state() {
                State::Gathering(candidates, sample) => {
                    let read = self.read_sample(candidates, &mut bytes)?;
                    *sample.lock().unwrap_or_else(PoisonError::into_inner) = read;
                }
                _ => return None,
            },
            CHOSEN => *self.state_mut() = State::Chosen(ChosenWords::read(&mut bytes)?),
            _ => return None,
        }
        bytes.is_empty().then_some(())
    }
}

/// The distinct words of a document, and the numbers of the chosen ones that it uses much.
#[derive(Default)]
struct DescriptionBuffers {
    words: Vec<Word>,
    bits: Vec<u32>,
}

/// First bytes of what is saved.
const UNREADY: u8 = 0;
const SAMPLE: u8 = 1;
const CHOSEN: u8 = 2;

impl Survey for DescriptiveWords {
    fn bytes(&self) -> u64 {
        // The sample, and the same by words and by documents while words are chosen.
        3 * 8 * sample::MAX_SAMPLE_WORDS as u64
    }

    fn observe(&self, _pass: u32, page: &Page<'_>, buffers: &mut Buffers) {
        let state = self.state();
        let State::Gathering(candidates, sample) = &*state else { return };
        let digest = page.fixed_digest();
        let lock = || sample.lock().unwrap_or_else(PoisonError::into_inner);
        if lock().wants(digest) {
            let DescriptionBuffers { words, .. } = buffers.own();
            let list = candidates.list(page, words);
            lock().put(digest, list);
        }
    }

    fn end(&self, _pass: u32) {
        let mut state = self.state_mut();
        *state = match std::mem::replace(&mut *state, State::Unready) {
            State::Gathering(candidates, sample) => {
                let sample = sample.into_inner().unwrap_or_else(PoisonError::into_inner);
                State::Chosen(candidates.choose(sample, &self.rules, self.target(&candidates.lexicon)))
            }
            other => other,
        };
    }

    fn save(&self) -> Vec<u8> {
        let mut out = Vec::new();
        match &*self.state() {
            State::Unready => out.push(UNREADY),
            State::Gathering(candidates, sample) => {
                out.push(SAMPLE);
                out.extend_from_slice(&candidates.check.to_le_bytes());
                sample.lock().unwrap_or_else(PoisonError::into_inner).write(&mut out);
            }
            State::Chosen(chosen) => {
                out.push(CHOSEN);
                chosen.write(&mut out);
            }
        }
        out
    }

    fn load(&self, saved: &[u8]) -> bool {
        self.read(ByteReader(saved)).is_some()
    }

    fn merge(&self, _pass: u32, saved: &[u8]) -> bool {
        let mut bytes = ByteReader(saved);
        match (bytes.take().map(u8::from_le_bytes), &*self.state()) {
            (Some(UNREADY), State::Unready) => bytes.is_empty(),
            (Some(SAMPLE), State::Gathering(candidates, sample)) => {
                let read = self.read_sample(candidates, &mut bytes);
                let other = read.filter(|_| bytes.is_empty());
                let taken =
                    other.map(|other| sample.lock().unwrap_or_else(PoisonError::into_inner).merge(other));
                taken.is_some()
            }
            _ => false,
        }
    }
}

impl Method for DescriptiveWords {
    fn recipe(&self) -> Recipe {
        Recipe::new("descriptive-words", VERSION)
            .with("words", self.words)
            .with("one-in", self.one_in)
            .with("least", self.least)
            .with("most", self.most)
            .with("delta", self.rules.delta)
            .with("bits", self.rules.bits)
            .with("rounds", self.rules.rounds)
            .with("sample", self.sample)
            .with("profile", profile_value(self.profile.as_ref()))
    }

    fn payload_bytes(&self) -> usize {
        signature::BYTES
    }

    fn sketch(&self, page: &Page<'_>, sketch: &mut Sketch) {
        sketch.clear();
        sketch.length = page.len() as u32;
        let DescriptionBuffers { words, bits } = sketch.buffers.own();
        bits.clear();
        if let State::Chosen(chosen) = &*self.state() {
            words::distinct(page, words);
            chosen.bits(words, bits);
        }
        let enough = !bits.is_empty() && bits.len() >= self.rules.bits as usize;
        let signature = enough.then(|| {
            // The payload is empty yet: a buffer for the bytes that are hashed.
            sketch.payload.extend(bits.iter().flat_map(|number| number.to_le_bytes()));
            hash::word(&sketch.payload)
        });
        sketch.payload.clear();
        signature::put(sketch, signature);
    }

    fn accept(&self, a: &[u8], b: &[u8], _shared: u32) -> Option<Score> {
        signature::accept(a, b)
    }

    fn abilities(&self) -> Abilities<'_> {
        Abilities {
            profile: self.profile.as_ref(),
            resident_bytes: self.resident_bytes(),
            learning: Some(self),
            survey: Some(self),
            advising: Some(self),
            ..Abilities::default()
        }
    }
}

impl Learning for DescriptiveWords {
    fn detail(&self) -> LexiconDetail {
        LexiconDetail::Everything
    }

    fn learn(&self, lexicon: &Arc<Lexicon>) -> Result<(), MethodError> {
        let candidates = Candidates::new(lexicon, self.least, self.most, self.rules.delta);
        *self.state_mut() =
            State::Gathering(candidates, Mutex::new(Sample::new(self.sample, sample::MAX_SAMPLE_WORDS)));
        Ok(())
    }
}

impl Advising for DescriptiveWords {
    fn advice(&self) -> Option<String> {
        if let State::Chosen(chosen) = &*self.state() {
            return Some(chosen.summary());
        }
        let documents = (f64::from(self.least) / self.most.value()).ceil();
        Some(format!(
            "descriptive-words chooses among words of {} documents and up to {} of all, so that it has signatures only \
             in collections of well over {documents} documents.",
            self.least, self.most
        ))
    }
}

#[cfg(test)]
mod tests;
