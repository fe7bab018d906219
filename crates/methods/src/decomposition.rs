//! `decomposition`: all pairs of documents of about the same length that share a shingle, measured one by one.
//!
//! A11 of Zelenkov and Segalovich (2007): the documents of a shingle, in the order of their lengths, form a chain, which
//! is cut where the next document is too long for its neighbour. Within a chain every document is compared with those
//! behind it that are not too long for it. So frequent shingles do not cost the square of their documents, and practically
//! nothing is lost. Comparison is by edit similarity, `2·LCS/(n+m)`, or, cheaper, by the sets of words.
//!
//! The ratio of lengths is in words. For edit similarity t no pair is lost if lengths in characters may differ by
//! (2 − t)/t, for sets of words by 1/t; the paper's 1.15 is narrower.

use lookalike_model::{Recipe, Similarity, Threshold};
use lookalike_text::Profile;

use crate::ratio::Ratio;
use crate::spec::profile_value;
use crate::{
    Abilities, About, Grouping, Key, Member, Method, MethodError, OwnMeasure, Page, Score, Setting, Sketch,
    Spec, parameters, shares,
};

const VERSION: u32 = 1;

/// The paper's similarity.
const SIMILARITY: &str = "0.85";

/// The description of the method that `lookalike methods` shows.
pub(crate) const ABOUT: About = About {
    name: "decomposition",
    aliases: &[("a11", "decomposition")],
    summary: "documents of about the same length that share a shingle, then measured",
    source: "A11 of Zelenkov, Segalovich 2007",
    formula: "\
keys = all shingles of 5 words; accept: longer length / shorter length <= 1.15
measured: 2*LCS/(n+m) on characters >= 0.85, or Jaccard of the sets of words",
    example: "lookalike pairs --method decomposition:sample=4 --unverified docs.jsonl -o pairs.jsonl",
    parameters: &[
        ("shingle", "words per shingle"),
        ("sample", "M keeps the shingles whose hash is divisible by M; 1 keeps all"),
        ("ratio", "how much longer the longer document may be, in words"),
        ("sim", "how similar documents must be"),
        ("test", "edit, or words for the Jaccard similarity of the sets of words"),
        ("profile", "how words are read; run is the run's own"),
    ],
    make: Decomposition::make,
};

/// The method `decomposition`.
#[derive(Debug)]
struct Decomposition {
    shingle: usize,
    sample: u64,
    ratio: Ratio,
    threshold: Threshold,
    /// The similarity by which documents are compared.
    test: Similarity,
    profile: Option<Profile>,
}

impl Decomposition {
    fn make(mut spec: Spec, setting: &Setting) -> Result<Box<dyn Method>, MethodError> {
        let shingle = parameters::shingle(&mut spec, 5)?;
        let sample = spec.value("sample", 1, "a number from 1 is wanted", |&sample| sample > 0)?;
        let ratio = spec.value("ratio", Ratio::hundredths(115), Ratio::VALID_VALUES, |_| true)?;
        let text = spec.text("sim").unwrap_or_else(|| SIMILARITY.to_owned());
        let threshold = text.parse().map_err(|wanted: String| spec.value_error("sim", &text, &wanted))?;
        let test = spec.choice("test", &[("edit", Similarity::Edit), ("words", Similarity::Jaccard)])?;
        let profile = spec.profile(Some(Profile::yandex()))?;
        spec.finish()?;
        parameters::refuse_containment("decomposition", setting)?;
        Ok(Box::new(Decomposition { shingle, sample, ratio, threshold, test, profile }))
    }
}

impl Method for Decomposition {
    fn recipe(&self) -> Recipe {
        Recipe::new("decomposition", VERSION)
            .with("shingle", self.shingle)
            .with("sample", self.sample)
            .with("ratio", self.ratio)
            .with("sim", self.threshold)
            .with("test", if self.test == Similarity::Edit { "edit" } else { "words" })
            .with("profile", profile_value(self.profile.as_ref()))
    }

    fn payload_bytes(&self) -> usize {
        4
    }

    fn sketch(&self, page: &Page<'_>, sketch: &mut Sketch) {
        sketch.clear();
        sketch.length = page.len() as u32;
        let values: &mut Vec<u64> = sketch.buffers.own();
        page.shingles(self.shingle, values);
        let sampled = values.iter().filter(|value| *value % self.sample == 0);
        sketch.keys.extend(sampled.map(|&value| Key { value, tag: 0 }));
        let length = if sketch.keys.is_empty() { 0 } else { sketch.length };
        sketch.payload.extend_from_slice(&length.to_le_bytes());
    }

    /// Accepts a pair by the ratio of its lengths alone; the rest is left to the measure.
    fn accept(&self, a: &[u8], b: &[u8], _shared: u32) -> Option<Score> {
        let (a, b) = (shares::number(a), shares::number(b));
        let near = a > 0 && b > 0 && self.ratio.allows(a, b);
        near.then(|| Score::even(f64::from(a.min(b)) / f64::from(a.max(b))))
    }

    fn abilities(&self) -> Abilities<'_> {
        Abilities {
            profile: self.profile.as_ref(),
            own_measure: Some(OwnMeasure { similarity: self.test, threshold: self.threshold, shingle: 1 }),
            grouping: Some(self),
            ..Abilities::default()
        }
    }
}

impl Grouping for Decomposition {
    fn plausible(&self, a: Member, b: Member) -> bool {
        self.ratio.allows(a.length, b.length)
    }

    fn longest_partner(&self, length: u32) -> u32 {
        self.ratio.longest(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lookalike_hash as hash;
    use lookalike_text::{Analyser, Features};

    fn sketch(method: &str, words: usize) -> (Box<dyn Method>, Sketch) {
        let method = crate::method(method, &Setting::default()).unwrap();
        let text: String = (0..words).map(|word| format!("word{word} ")).collect();
        let (mut features, mut sketch) = (Features::default(), Sketch::default());
        Analyser::new(method.abilities().profile.unwrap()).read(&text, &mut features);
        method.sketch(&Page { text: &text, features: &features }, &mut sketch);
        (method, sketch)
    }

    #[test]
    fn documents_of_about_the_same_length_are_accepted() {
        let (method, short) = sketch("a11", 100);
        let (right, too_long) = (sketch("a11", 115).1, sketch("a11", 116).1);
        assert_eq!(method.accept(&short.payload, &right.payload, 1), Some(Score::even(100.0 / 115.0)));
        assert_eq!(method.accept(&short.payload, &too_long.payload, 1), None);
        assert_eq!((method.abilities().longest_partner(100), short.length), (115, 100));
        let member = |length| Member { length, tag: 0 };
        assert!(
            method.abilities().plausible(member(115), member(100))
                && !method.abilities().plausible(member(100), member(116))
        );
    }

    #[test]
    fn all_shingles_are_keys_or_a_sample() {
        assert_eq!(sketch("decomposition", 100).1.keys.len(), 96);
        let sampled = sketch("decomposition:sample=4", 1000).1.keys;
        assert!(sampled.iter().all(|key| key.value % 4 == 0));
        // 249 of 996 are expected, with a standard deviation of 13.7.
        assert!((208..290).contains(&sampled.len()), "{}", sampled.len());
        let two = sketch("decomposition:shingle=1", 2).1.keys;
        let mut words = [hash::word(b"word0"), hash::word(b"word1")];
        words.sort_unstable();
        assert_eq!(two.iter().map(|key| key.value).collect::<Vec<_>>(), words);
    }

    #[test]
    fn no_sampled_shingle_means_no_signature() {
        let (method, none) = sketch("decomposition:sample=18446744073709551615", 10);
        assert!(none.keys.is_empty() && none.payload == [0; 4]);
        assert_eq!(method.accept(&none.payload, &none.payload, 0), None);
    }

    #[test]
    fn pairs_are_decided_by_measure() {
        let measure = |text| crate::method(text, &Setting::default()).unwrap().abilities().own_measure;
        let threshold = "0.85".parse().unwrap();
        assert_eq!(measure("a11"), Some(OwnMeasure { similarity: Similarity::Edit, threshold, shingle: 1 }));
        let words =
            OwnMeasure { similarity: Similarity::Jaccard, threshold: "0.8".parse().unwrap(), shingle: 1 };
        assert_eq!(measure("a11:test=words,sim=0.80"), Some(words));
        let error = crate::method("a11:sim=2", &Setting::default()).unwrap_err().to_string();
        assert!(error.contains("2 cannot be sim"), "{error}");
    }
}
