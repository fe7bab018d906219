//! `randomised`: any method with one signature, made tolerant of small changes by lexicon randomisation.
//!
//! Kołcz, Chowdhury and Alspector (2004) do this to I-Match, and note that it works for other signatures: besides the
//! signature of the whole document there are K more, each of the document without a random part p of all words there
//! are. Two documents are duplicates by this method when they are by the other at one place of the K + 1. n changed
//! words are among those left out, in one of the K at least, with probability 1 − (1 − pⁿ)^K.

use std::sync::Arc;

use lookalike_hash as hash;
use lookalike_model::Recipe;
use lookalike_text::{Analyser, Features, Profile};

use crate::imatch::members::{WordDropout, stability};
use crate::{
    Abilities, About, Advising, Key, Lexicon, Method, MethodError, Page, Score, Setting, Sketch, Spec, seed,
};

const VERSION: u32 = 1;

/// The description of the method that `lookalike methods` shows.
pub(crate) const ABOUT: About = About {
    name: "randomised",
    aliases: &[],
    summary: "another method's signature, also of K versions of the document without some words",
    source: "lexicon randomisation: Kołcz, Chowdhury, Alspector 2004",
    formula: "\
signature 0 = that of the whole document; signature i = that of the document without the words with h_i(word) < p * 2^64
accept: the other method accepts at one place; after n changed words with probability 1 - (1 - p^n)^K or more
score: the mean of the other method's scores, 0 where it does not accept, over the places that both documents have",
    example: "lookalike pairs --method randomised:of=md5,of.profile=kolcz docs.jsonl -o pairs.jsonl",
    parameters: &[
        ("of", "the method inside, which must give a document at most one key; its own parameters are of.NAME=VALUE"),
        ("K", "the number of further signatures, 1 to 63"),
        ("p", "the part of all words that each of them leaves out"),
        ("seed", "of what is left out"),
    ],
    make: Randomised::make,
};

/// The method `randomised`.
#[derive(Debug)]
pub(crate) struct Randomised {
    inner: Box<dyn Method>,
    /// K.
    versions: usize,
    /// p.
    part: f64,
    seed: u64,
    dropout: WordDropout,
}

impl Randomised {
    pub(crate) fn make(mut spec: Spec, setting: &Setting) -> Result<Box<dyn Method>, MethodError> {
        let name = spec.text("of").unwrap_or_else(|| "md5".to_owned());
        let parameters: Vec<String> =
            spec.take_prefixed("of.").into_iter().map(|(key, value)| format!("{key}={value}")).collect();
        let versions = spec.value("K", 10, "a number from 1 to 63 is wanted", |k| (1..=63).contains(k))?;
        let wanted = "a number above 0 and below 1 is wanted";
        let part = spec.value("p", 0.33, wanted, |&part: &f64| part > 0.0 && part < 1.0)?;
        let seed = spec.value("seed", setting.seed, "a whole number is wanted", |_| true)?;
        spec.finish()?;
        let text = format!("{name}:{}", parameters.join(","));
        require_one_key(&name, &*crate::method(&text, setting)?)?;
        // The one that was looked at may have learned from what it was shown.
        let inner = crate::method(&text, setting)?;
        let dropout = WordDropout::new(versions, part, seed::salt(seed));
        Ok(Box::new(Randomised { inner, versions, part, seed, dropout }))
    }

    /// Bytes that say which signatures there are.
    fn mask_bytes(&self) -> usize {
        (self.versions + 1).div_ceil(8)
    }

    /// The payload of the method inside at a place, if there is one.
    fn at<'p>(&self, payload: &'p [u8], index: usize) -> Option<&'p [u8]> {
        let (mask, rest) = payload.split_at(self.mask_bytes());
        let width = self.inner.payload_bytes();
        (mask[index / 8] >> (index % 8) & 1 == 1).then(|| &rest[index * width..][..width])
    }
}

/// A document with some of its words, and its sketch by the method inside.
#[derive(Default)]
struct InnerBuffers {
    thin: Features,
    inner: Sketch,
}

impl Method for Randomised {
    fn recipe(&self) -> Recipe {
        let inner = self.inner.recipe();
        let recipe = Recipe::new("randomised", VERSION)
            .with("of", format!("{}/{}", inner.name, inner.version))
            .with("K", self.versions)
            .with("p", self.part)
            .with("seed", self.seed);
        inner.parameters.iter().fold(recipe, |recipe, (key, value)| recipe.with(&format!("of.{key}"), value))
    }

    fn payload_bytes(&self) -> usize {
        self.mask_bytes() + (self.versions + 1) * self.inner.payload_bytes()
    }

    fn sketch(&self, page: &Page<'_>, sketch: &mut Sketch) {
        sketch.clear();
        sketch.length = page.len() as u32;
        sketch.payload.resize(self.mask_bytes(), 0);
        let Sketch { keys, payload, buffers, .. } = sketch;
        let InnerBuffers { thin, inner } = buffers.own();
        for index in 0..=self.versions {
            let features = if index == 0 {
                page.features
            } else {
                page.features.filter_into(thin, |word| self.dropout.keeps(index, word));
                &*thin
            };
            inner.clear();
            inner.payload.resize(self.inner.payload_bytes(), 0);
            if !features.is_empty() {
                self.inner.sketch(&Page { text: page.text, features }, inner);
            }
            payload.extend_from_slice(&inner.payload);
            if let Some(key) = inner.keys.first() {
                payload[index / 8] |= 1 << (index % 8);
                keys.push(Key { value: hash::nth(index as u64, key.value), tag: 0 });
            }
        }
    }

    fn accept(&self, a: &[u8], b: &[u8], _shared: u32) -> Option<Score> {
        let (mut both, mut accepted) = (0u32, 0u32);
        let mut sum = Score::even(0.0);
        for index in 0..=self.versions {
            let (Some(a), Some(b)) = (self.at(a, index), self.at(b, index)) else { continue };
            both += 1;
            let Some(Score { forward, backward, .. }) = self.inner.accept(a, b, 1) else { continue };
            accepted += 1;
            sum.forward += forward;
            sum.backward += backward;
        }
        let mean = |sum: f64| sum / f64::from(both);
        (accepted > 0).then(|| Score { forward: mean(sum.forward), backward: mean(sum.backward), ..sum })
    }

    fn abilities(&self) -> Abilities<'_> {
        let Abilities { profile, sentences, resident_bytes, own_measure, learning, .. } =
            self.inner.abilities();
        Abilities {
            profile,
            sentences,
            resident_bytes,
            own_measure,
            learning,
            advising: Some(self),
            ..Abilities::default()
        }
    }
}

impl Advising for Randomised {
    fn advice(&self) -> Option<String> {
        let percent = |changes| 100.0 * stability(self.part, changes, self.versions);
        Some(format!(
            "randomised reckons the signature of {} {} times over; if one of two documents has one word more it \
             finds at least {:.0} percent, two words {:.0} percent, three {:.0} percent, and a word replaced counts as two.",
            self.inner.recipe().name,
            self.versions + 1,
            percent(1),
            percent(2),
            percent(3)
        ))
    }
}

/// Methods that can be inside.
const SUITABLE: &str = "md5, rabin, a0 to a5, a8, a10 and imatch with of.lexicons=0";

/// Refuses a method that has not got one key for each document, as a few texts show.
fn require_one_key(name: &str, method: &dyn Method) -> Result<(), MethodError> {
    let refuse = |why: &str| {
        Err(MethodError::Unable(format!(
            "randomised works around methods with one signature of words, and {name} {why}; methods that have one are \
             {SUITABLE}"
        )))
    };
    if method.recipe().parameters.get("input").is_some_and(|input| input == "raw") {
        return refuse("with input=raw reads the text as it is, with all of its words");
    }
    let abilities = method.abilities();
    if abilities.survey.is_some() {
        return refuse("must read the whole corpus beforehand");
    }
    if abilities.counts_keys() || abilities.tagged {
        return refuse("compares several keys");
    }
    let texts = probes();
    let mut analyser = Analyser::new(abilities.profile.unwrap_or(&Profile::web()));
    let documents: Vec<Features> = texts
        .iter()
        .map(|text| {
            let mut features = Features::default();
            analyser.read(text, &mut features);
            analyser.read_sentences(&mut features);
            features
        })
        .collect();
    if let Some(learning) = abilities.learning {
        // One that cannot learn from so little cannot be seen through here; its first key will do then.
        let _ = learning.learn(&Arc::new(Lexicon::gather(&analyser.profile().recipe(), &documents)));
    }
    let mut sketch = Sketch::default();
    for (text, features) in texts.iter().zip(&documents) {
        method.sketch(&Page { text, features }, &mut sketch);
        if sketch.keys.len() > 1 {
            return refuse("has several");
        }
    }
    Ok(())
}

/// Texts with words of every frequency, some sentences each.
fn probes() -> Vec<String> {
    const TEXTS: usize = 24;
    /// Some letters that no language has as a function word.
    fn word(number: usize) -> String {
        [number / 26, number % 26].into_iter().map(|letter| char::from(b'a' + letter as u8)).collect()
    }
    let sentence = |text: usize, first: usize| -> String {
        let words =
            (first..TEXTS).filter(|&number| number >= text).map(|number| format!("xqzz{} ", word(number)));
        words.collect::<String>() + "xqzz. "
    };
    (0..TEXTS).map(|text| (0..6).map(|first| sentence(text, first)).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LexiconDetail;
    use proptest::prelude::*;

    fn make(text: &str) -> Box<dyn Method> {
        crate::method(text, &Setting::default()).unwrap()
    }

    fn read(text: &str) -> Features {
        let mut features = Features::default();
        let mut analyser = Analyser::new(&Profile::web());
        analyser.read(text, &mut features);
        analyser.read_sentences(&mut features);
        features
    }

    fn sketch(method: &dyn Method, text: &str) -> Sketch {
        let mut sketch = Sketch::default();
        method.sketch(&Page { text, features: &read(text) }, &mut sketch);
        sketch
    }

    #[test]
    fn recipes_hold_the_method_inside() {
        assert_eq!(
            make("randomised:of=a0").recipe().to_string(),
            "randomised/1:K=10,of=md5/2,of.input=words,of.profile=yandex,p=0.33,seed=1"
        );
        let text = "randomised/1:K=3,of=imatch/2,of.lexicons=0,of.seed=5,p=0.5,seed=7";
        let recipe = make(text).recipe();
        assert_eq!((&*recipe.parameters["of.floor"], &*recipe.parameters["of.seed"]), ("5", "5"));
        assert_eq!(make(&recipe.to_string()).recipe(), recipe);
    }

    #[test]
    fn it_asks_for_what_the_method_inside_asks_for() {
        let imatch = make("randomised:of=imatch,of.lexicons=0");
        assert_eq!(imatch.abilities().learning.unwrap().detail(), LexiconDetail::Words);
        assert_eq!(imatch.abilities().profile, Some(&Profile::kolcz()));
        assert_eq!(make("randomised").abilities().profile, None);
        let alike = [read("a rose"), read("a rose")];
        let lexicon = Arc::new(Lexicon::gather(&Profile::web().recipe(), &alike));
        assert!(
            imatch.abilities().learning.unwrap().learn(&lexicon).is_err(),
            "the words of this lexicon are all alike"
        );
    }

    #[test]
    fn methods_of_several_keys_are_refused() {
        let refused = |of: &str| {
            let error = crate::method(&format!("randomised:of={of}"), &Setting::default()).unwrap_err();
            assert!(error.to_string().contains("md5") || of.contains("none"), "{of}: {error}");
            error.to_string()
        };
        assert!(refused("imatch").contains("imatch has several"));
        assert!(refused("imatch,of.profile=web,of.lexicons=1").contains("has several"));
        assert!(refused("imatch,of.low=0.2,of.high=0.3").contains("has several"));
        assert!(refused("minhash").contains("has several"));
        assert!(refused("pugh").contains("has several"));
        assert!(refused("simhash").contains("compares several"));
        assert!(refused("exact").contains("whole corpus"));
        assert!(refused("randomised").contains("has several"));
        assert!(refused("a9").contains("whole corpus"));
        assert!(refused("md5,of.input=raw").contains("input=raw reads the text as it is"));
        assert!(refused("rabin,of.input=raw").contains("input=raw reads the text as it is"));
        assert!(refused("none-such").contains("there is no method none-such"));
        assert!(refused("md5,of.none=1").contains("the method md5 has no parameter none"));
    }

    #[test]
    fn the_methods_that_are_said_to_be_suitable_are() {
        let suits = |of: &str| crate::method(&format!("randomised:of={of}"), &Setting::default()).is_ok();
        let suitable: Vec<&str> = crate::names().filter(|name| suits(name)).collect();
        let (by_name, by_number): (Vec<&str>, Vec<&str>) =
            suitable.into_iter().partition(|name| !name[1..].starts_with(|letter: char| letter.is_numeric()));
        assert_eq!(by_number, ["a0", "a1", "a2", "a3", "a10", "a4", "a5", "a8"]);
        // The others are what a1 to a5, a8 and a10 stand for.
        let same = [
            "lexical",
            "tf",
            "tfidf",
            "tfridf",
            "opt-freq",
            "long-sentences",
            "heavy-sentences",
            "log-shingles",
        ];
        assert_eq!(by_name, [&["md5", "rabin"][..], &same].concat());
        assert!(suits("imatch,of.lexicons=0"));
        assert_eq!(SUITABLE, "md5, rabin, a0 to a5, a8, a10 and imatch with of.lexicons=0");
    }

    #[test]
    fn signatures_survive_changes_as_often_as_the_formula_says() {
        let trials = 1500u32;
        for changes in [1, 2, 3] {
            let mut survived = 0;
            for trial in 0..trials {
                let method = make(&format!("randomised:seed={trial}"));
                let words: Vec<String> =
                    (0..40).map(|word| format!("w{:x}", hash::mix((u64::from(trial) << 8) + word))).collect();
                let mut changed = words.clone();
                for place in 0..changes {
                    // Some changes take a word away, the others put a new one in the midst.
                    match (trial as usize + place) % 2 {
                        0 => drop(changed.remove(3 * place)),
                        _ => changed.insert(10 * place, format!("new{place}")),
                    }
                }
                let [a, b] = [words, changed].map(|words| sketch(&*method, &words.join(" ")).payload);
                survived += u32::from(method.accept(&a, &b, 1).is_some());
            }
            let expected = 1.0 - (1.0 - 0.33f64.powi(changes as i32)).powi(10);
            let error = (expected * (1.0 - expected) / f64::from(trials)).sqrt();
            let share = f64::from(survived) / f64::from(trials);
            assert!((share - expected).abs() <= 3.0 * error, "n={changes}: {share} for {expected}");
        }
    }

    #[test]
    fn the_score_is_a_mean_over_what_both_have() {
        let method = make("randomised:K=2");
        let payload =
            |mask: u8, digests: [u8; 3]| [vec![mask], digests.map(|byte| [byte; 16]).concat()].concat();
        let accept = |a: Vec<u8>, b: Vec<u8>| method.accept(&a, &b, 1).map(|score| score.forward);
        assert_eq!(accept(payload(7, [1, 2, 3]), payload(7, [1, 9, 9])), Some(1.0 / 3.0));
        assert_eq!(accept(payload(5, [1, 2, 3]), payload(7, [1, 2, 9])), Some(0.5));
        assert_eq!(accept(payload(2, [1, 2, 3]), payload(5, [1, 2, 3])), None);
        assert_eq!(accept(payload(0, [0; 3]), payload(0, [0; 3])), None);
    }

    proptest! {
        #[test]
        fn signatures_are_those_of_texts_without_words(text in "([a-f]{1,2} ?[.]? ){1,30}", seed in 0u64..3) {
            let (outer, inner) = (make(&format!("randomised:K=4,p=0.5,seed={seed}")), make("md5"));
            let features = read(&text);
            let made = sketch(&*outer, &text);
            let mut payload = vec![0];
            let mut keys = Vec::new();
            for index in 0..=4 {
                let kept = features.words().filter(|word| {
                    let hash = hash::word(word.as_bytes()) ^ seed::salt(seed);
                    index == 0 || hash::nth(index, hash) as f64 >= 2f64.powi(63)
                });
                let kept: Vec<&str> = kept.collect();
                let Sketch { keys: own, payload: digest, .. } = sketch(&*inner, &kept.join(" "));
                payload.extend(if kept.is_empty() { vec![0; 16] } else { digest });
                payload[0] |= (own.len() as u8) << index;
                keys.extend(own.iter().map(|key| hash::nth(index, key.value)));
            }
            prop_assert_eq!(made.payload, payload);
            prop_assert_eq!(made.keys.iter().map(|key| key.value).collect::<Vec<_>>(), keys);
        }
    }
}
