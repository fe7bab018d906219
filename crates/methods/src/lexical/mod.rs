//! `lexical`: a few top-weighted words that identify a document, known as its lexical signature.
//!
//! The words of greatest weight, in alphabetical order with one blank between them, are hashed: documents with the same
//! ones are near-duplicates. Phelps and Wilensky (2000) find moved pages again by such words; Zelenkov and Segalovich
//! (2007) compare four weights of them with six words each. Those have names of their own and are the same routine.
//! Weights are compared in billionths, equal ones by the alphabet. A document of fewer words has all of them.
//!
//! - `weights`: what a weight may look at, and all weights of a document
//! - `tf`, `tfidf`, `tfridf`, `opt_freq`: the weights, each a method by itself

pub(crate) mod opt_freq;
pub(crate) mod tf;
pub(crate) mod tfidf;
pub(crate) mod tfridf;
#[cfg(test)]
pub(crate) mod toy;
pub(crate) mod weights;

use std::sync::{Arc, OnceLock};

use lookalike_model::Recipe;
use lookalike_text::Profile;

use self::weights::{Weight, WeightBuffers};
use crate::signature::{self, Bits};
use crate::spec::profile_value;
use crate::{
    Abilities, About, Advising, Learning, Lexicon, LexiconDetail, Method, MethodError, Page, Score, Setting,
    Sketch, Spec, leading, parameters,
};

const VERSION: u32 = 1;

/// The most words of a signature: far more than anybody searches with.
const MAX_WORDS: usize = 1000;

const WORDS: (&str, &str) = ("words", "how many words make the signature");
const PROFILE: (&str, &str) = ("profile", "how words are read; run is the run's own");

/// The parameters of all methods of this kind.
const PARAMETERS: &[(&str, &str)] = &[WORDS, Bits::ABOUT, PROFILE];

/// The description of the method that `lookalike methods` shows.
pub(crate) const ABOUT: About = About {
    name: "lexical",
    aliases: &[],
    summary: "the few words of greatest weight, by a weight of your choice; equal ones pair",
    source: "lexical signatures: Phelps, Wilensky 2000; weights: Zelenkov, Segalovich 2007",
    formula: "\
key = h(the words of greatest weight, in alphabetical order, one blank between them); accept: equal
weight: tf, tfidf, tfridf or optfreq, as in the methods tf, tfidf, tfridf and opt-freq",
    example: "lookalike pairs --method lexical:weight=tfidf,words=10 docs.jsonl -o pairs.jsonl",
    parameters: &[
        ("weight", "tf, tfidf, tfridf or optfreq; all but tf read the input twice"),
        WORDS,
        Bits::ABOUT,
        PROFILE,
    ],
    make: |mut spec, setting| {
        let weights = [&tf::WEIGHT, &tfidf::WEIGHT, &tfridf::WEIGHT, &opt_freq::WEIGHT];
        let weight = spec.choice("weight", &weights.map(|weight| (weight.name, weight)))?;
        Lexical::make(NAME, weight, spec, setting)
    },
};

/// Name of the method whose weight is a parameter.
const NAME: &str = "lexical";

/// The method `lexical`, and those with a weight in their name.
#[derive(Debug)]
pub(crate) struct Lexical {
    name: &'static str,
    weight: &'static Weight,
    words: usize,
    bits: Bits,
    profile: Option<Profile>,
    lexicon: OnceLock<Arc<Lexicon>>,
}

/// The words of a document, from which those of greatest weight are taken.
#[derive(Default)]
struct WordBuffers {
    weighed: WeightBuffers,
    /// Weights as whole numbers.
    sums: Vec<i64>,
    positions: Vec<u32>,
    /// The words that were taken.
    text: String,
}

impl Lexical {
    fn make(
        name: &'static str,
        weight: &'static Weight,
        mut spec: Spec,
        setting: &Setting,
    ) -> Result<Box<dyn Method>, MethodError> {
        let wanted = "a number of words from 1 to 1000 is wanted";
        let words = spec.value("words", 6, wanted, |words| (1..=MAX_WORDS).contains(words))?;
        let bits = Bits::take(&mut spec)?;
        let profile = spec.profile(Some(Profile::yandex()))?;
        spec.finish()?;
        parameters::refuse_containment(name, setting)?;
        Ok(Box::new(Lexical { name, weight, words, bits, profile, lexicon: OnceLock::new() }))
    }

    /// Leaves the words of greatest weight in `buffers.text`, in alphabetical order.
    fn choose(&self, page: &Page<'_>, buffers: &mut WordBuffers) {
        let WordBuffers { weighed, sums, positions, text } = buffers;
        weights::weigh(self.weight, page, self.lexicon.get().map(Arc::as_ref), weighed);
        let weights = &weighed.weights;
        sums.clear();
        sums.extend(weights.iter().map(|(weight, _)| leading::rounded(*weight)));
        let word = |item: usize| page.word(weights[item].1 as usize);
        leading::first_n(self.words, weights.len(), positions, |a, b| {
            sums[b].cmp(&sums[a]).then_with(|| word(a).cmp(word(b)))
        });
        positions.sort_unstable_by_key(|&item| word(item as usize));
        text.clear();
        for (index, &item) in positions.iter().enumerate() {
            if index > 0 {
                text.push(' ');
            }
            text.push_str(word(item as usize));
        }
    }
}

impl Method for Lexical {
    fn recipe(&self) -> Recipe {
        let recipe = Recipe::new(self.name, VERSION)
            .with("words", self.words)
            .with("bits", self.bits.value())
            .with("profile", profile_value(self.profile.as_ref()));
        if self.name == NAME { recipe.with("weight", self.weight.name) } else { recipe }
    }

    fn payload_bytes(&self) -> usize {
        signature::BYTES
    }

    fn sketch(&self, page: &Page<'_>, sketch: &mut Sketch) {
        sketch.clear();
        sketch.length = page.len() as u32;
        let buffers: &mut WordBuffers = sketch.buffers.own();
        self.choose(page, buffers);
        let signature = (!page.is_empty()).then(|| self.bits.of(&buffers.text));
        signature::put(sketch, signature);
    }

    fn accept(&self, a: &[u8], b: &[u8], _shared: u32) -> Option<Score> {
        signature::accept(a, b)
    }

    fn abilities(&self) -> Abilities<'_> {
        Abilities {
            profile: self.profile.as_ref(),
            learning: self.weight.uses_lexicon.then_some(self),
            advising: Some(self),
            ..Abilities::default()
        }
    }
}

impl Learning for Lexical {
    fn detail(&self) -> LexiconDetail {
        LexiconDetail::Counts
    }

    fn learn(&self, lexicon: &Arc<Lexicon>) -> Result<(), MethodError> {
        self.lexicon.get_or_init(|| lexicon.clone());
        Ok(())
    }
}

impl Advising for Lexical {
    fn advice(&self) -> Option<String> {
        self.bits.advice()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::method;
    use lookalike_hash as hash;

    /// The words that make the signature of each document of the toy collection, and the CRC-32 of them.
    fn toy(name: &str, weight: &'static Weight) -> Vec<(String, u64)> {
        let method = toy::method(name);
        let lexical = Lexical {
            name: NAME,
            weight,
            words: 6,
            bits: Bits::Crc32,
            profile: None,
            lexicon: OnceLock::from(Arc::new(toy::lexicon())),
        };
        let chosen = |features| {
            let mut buffers = WordBuffers::default();
            lexical.choose(&Page { text: "", features }, &mut buffers);
            (buffers.text, toy::signature(&*method, features))
        };
        toy::documents().iter().map(chosen).collect()
    }

    fn pair(words: &str, signature: u64) -> (String, u64) {
        (words.to_owned(), signature)
    }

    #[test]
    fn toy_by_tf() {
        let signatures = toy("tf", &tf::WEIGHT);
        assert_eq!(signatures[0], pair("apple banana cherry date elder fig", 0x9d86_b0c0));
        assert_eq!(signatures[1], signatures[0]);
        assert_eq!(signatures[2], pair("apple grape honey iris jasmine kiwi", 0x1372_5887));
        assert_eq!(signatures[4].1, 0xc3d2_3c69);
    }

    #[test]
    fn toy_by_tfidf_and_opt_freq() {
        for signatures in [toy("tfidf", &tfidf::WEIGHT), toy("opt-freq", &opt_freq::WEIGHT)] {
            assert_eq!(signatures[0], pair("banana cherry date elder fig grape", 0x7244_d364));
            assert_eq!(signatures[1], pair("banana cherry date elder fig honey", 0x7a8f_3691));
            assert_eq!((signatures[2].1, signatures[4].1), (0x1372_5887, 0xc3d2_3c69));
        }
    }

    #[test]
    fn toy_by_tfridf() {
        let signatures = toy("tfridf", &tfridf::WEIGHT);
        assert_eq!(signatures[0], pair("apple banana date elder fig grape", 0x56c5_95c4));
        assert_eq!(signatures[1], pair("apple banana date elder fig honey", 0x5e0e_7031));
        assert_eq!((signatures[2].1, signatures[4].1), (0x1372_5887, 0xc3d2_3c69));
    }

    #[test]
    fn lexical_is_the_same_routine_for_any_number_of_words() {
        let documents = toy::documents();
        for (name, weight) in
            [("tf", "tf"), ("tfidf", "tfidf"), ("tfridf", "tfridf"), ("opt-freq", "optfreq")]
        {
            let (named, general) = (toy::method(name), toy::method(&format!("lexical:weight={weight}")));
            assert!(documents.iter().all(|features| {
                toy::signature(&*named, features) == toy::signature(&*general, features)
            }));
        }
        let two = toy::method("lexical:words=2");
        assert_eq!(toy::signature(&*two, &documents[0]), crc32fast::hash(b"apple banana").into());
        let many = toy::method("lexical:words=1000");
        let all = "apple banana cherry date elder fig grape";
        assert_eq!(toy::signature(&*many, &documents[0]), crc32fast::hash(all.as_bytes()).into());
    }

    #[test]
    fn signatures_of_64_bits_are_of_the_same_string() {
        let method = method("tf", &Setting::default()).unwrap();
        let features = toy::read(&Profile::yandex(), "Rose the rose, garden and tulip: rose garden");
        assert_eq!(toy::signature(&*method, &features), hash::word(b"garden rose tulip"));
    }
}
