//! `log-shingles`: one hash of a sample of shingles whose size grows with the logarithm of the document's.
//!
//! A8 of Zelenkov and Segalovich (2007): of all windows of five words, around the end of the text, those whose
//! fingerprints are divisible by powers of two; equal samples are near-duplicates. The paper does not say which powers, so
//! there are three readings of it:
//!
//! - `levels`: for each j from 1, the smallest fingerprint that ends in exactly j zero bits, in the order of j
//! - `mod`: those divisible by 2^(⌊log2 n⌋ − 3), n being the number of words: about eight to sixteen
//! - `even`: all even ones, as the paper reads to the letter
//!
//! The smallest fingerprint is kept where none of them is. One changed word changes five windows and often the sample, so that
//! it behaves much like a digest of the whole document.

use lookalike_hash::WrappedGrams;
use lookalike_model::Recipe;
use lookalike_text::Profile;
use xxhash_rust::xxh3::Xxh3Default;

use crate::spec::profile_value;
use crate::{
    Abilities, About, Method, MethodError, Page, Score, Setting, Sketch, Spec, parameters, signature,
};

const VERSION: u32 = 1;

/// The description of the method that `lookalike methods` shows.
pub(crate) const ABOUT: About = About {
    name: "log-shingles",
    aliases: &[("a8", "log-shingles")],
    summary: "one hash of the shingles whose fingerprints are divisible by powers of two",
    source: "A8 of Zelenkov, Segalovich 2007",
    formula: "\
F = fingerprints of all windows of 5 words, around the end
levels: for each j >= 1 the smallest of F with exactly j trailing zero bits, in the order of j
mod: those of F divisible by 2^max(0, floor(log2 n) - 3), sorted; even: the even ones of F, sorted
key = h(kept fingerprints), or of the smallest of F if none is kept; accept: equal",
    example: "lookalike pairs --method log-shingles docs.jsonl -o pairs.jsonl",
    parameters: &[
        ("variant", "levels, mod or even"),
        ("wrap", "true: windows go around the end of the text"),
        ("shingle", "words per shingle"),
        ("profile", "how words are read; run is the run's own"),
    ],
    make: LogShingles::make,
};

/// The rule by which fingerprints are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Variant {
    Levels,
    Mod,
    Even,
}

const VARIANTS: [(&str, Variant); 3] =
    [("levels", Variant::Levels), ("mod", Variant::Mod), ("even", Variant::Even)];

impl Variant {
    /// Replaces `kept` with those of the fingerprints of a document of `words` words that make the signature, and sorts
    /// the fingerprints, which are some.
    fn keep(self, words: usize, fingerprints: &mut Vec<u64>, kept: &mut Vec<u64>) {
        fingerprints.sort_unstable();
        fingerprints.dedup();
        kept.clear();
        match self {
            Variant::Levels => levels(fingerprints, kept),
            Variant::Mod => {
                let zeros = words.max(1).ilog2().saturating_sub(3);
                kept.extend(fingerprints.iter().filter(|value| value.trailing_zeros() >= zeros));
            }
            Variant::Even => kept.extend(fingerprints.iter().filter(|value| value.trailing_zeros() >= 1)),
        }
        if kept.is_empty() {
            kept.extend(fingerprints.first());
        }
    }
}

/// For each number of trailing zeros from 1, the smallest of the sorted fingerprints that has it.
fn levels(fingerprints: &[u64], kept: &mut Vec<u64>) {
    let mut smallest = [None; u64::BITS as usize + 1];
    for &value in fingerprints {
        smallest[value.trailing_zeros() as usize].get_or_insert(value);
    }
    kept.extend(smallest[1..].iter().flatten());
}

/// The hash of numbers, as of their bytes from low to high.
fn hash(numbers: &[u64]) -> u64 {
    let mut state = Xxh3Default::new();
    numbers.iter().for_each(|number| state.update(&number.to_le_bytes()));
    state.digest()
}

/// The method `log-shingles`.
#[derive(Debug)]
struct LogShingles {
    variant: Variant,
    wrap: bool,
    shingle: usize,
    profile: Option<Profile>,
}

/// The fingerprints of a document, and those that make its signature.
#[derive(Default)]
struct FingerprintBuffers {
    fingerprints: Vec<u64>,
    kept: Vec<u64>,
}

impl LogShingles {
    fn make(mut spec: Spec, setting: &Setting) -> Result<Box<dyn Method>, MethodError> {
        let variant = spec.choice("variant", &VARIANTS)?;
        let wrap = spec.choice("wrap", &[("true", true), ("false", false)])?;
        let shingle = parameters::shingle(&mut spec, 5)?;
        let profile = spec.profile(Some(Profile::yandex()))?;
        spec.finish()?;
        parameters::refuse_containment("log-shingles", setting)?;
        Ok(Box::new(LogShingles { variant, wrap, shingle, profile }))
    }
}

impl Method for LogShingles {
    fn recipe(&self) -> Recipe {
        let variant = VARIANTS.iter().find(|(_, variant)| *variant == self.variant);
        Recipe::new("log-shingles", VERSION)
            .with("variant", variant.map_or("", |(name, _)| name))
            .with("wrap", self.wrap)
            .with("shingle", self.shingle)
            .with("profile", profile_value(self.profile.as_ref()))
    }

    fn payload_bytes(&self) -> usize {
        signature::BYTES
    }

    fn sketch(&self, page: &Page<'_>, sketch: &mut Sketch) {
        sketch.clear();
        sketch.length = page.len() as u32;
        let FingerprintBuffers { fingerprints, kept } = sketch.buffers.own();
        fingerprints.clear();
        if self.wrap {
            fingerprints.extend(WrappedGrams::new(page.hashes(), self.shingle));
        } else {
            fingerprints.extend(page.grams(self.shingle));
        }
        self.variant.keep(page.len(), fingerprints, kept);
        let signature = (!kept.is_empty()).then(|| hash(kept));
        signature::put(sketch, signature);
    }

    fn accept(&self, a: &[u8], b: &[u8], _shared: u32) -> Option<Score> {
        signature::accept(a, b)
    }

    fn abilities(&self) -> Abilities<'_> {
        Abilities { profile: self.profile.as_ref(), ..Abilities::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lookalike_hash as words;
    use lookalike_text::{Analyser, Features};
    use proptest::prelude::*;

    const FINGERPRINTS: [u64; 8] = [12, 7, 40, 5, 8, 96, 33, 20];

    fn kept(variant: Variant, words: usize, fingerprints: &[u64]) -> Vec<u64> {
        let mut kept = vec![99];
        variant.keep(words, &mut fingerprints.to_vec(), &mut kept);
        kept
    }

    #[test]
    fn published_fingerprints_are_kept() {
        assert_eq!(kept(Variant::Levels, 8, &FINGERPRINTS), [12, 8, 96]);
        assert_eq!(kept(Variant::Even, 8, &FINGERPRINTS), [8, 12, 20, 40, 96]);
        assert_eq!(kept(Variant::Mod, 15, &FINGERPRINTS), [5, 7, 8, 12, 20, 33, 40, 96]);
        assert_eq!(kept(Variant::Mod, 32, &FINGERPRINTS), [8, 12, 20, 40, 96]);
        assert_eq!(kept(Variant::Mod, 64, &FINGERPRINTS), [8, 40, 96]);
    }

    #[test]
    fn the_smallest_stands_for_nothing_kept() {
        for variant in [Variant::Levels, Variant::Mod, Variant::Even] {
            assert_eq!(kept(variant, 100, &[9, 7, 11]), [7]);
            assert_eq!(kept(variant, 0, &[]), []);
            assert_eq!(kept(variant, 100, &[0]), [0]);
        }
    }

    #[test]
    fn numbers_are_hashed_as_their_bytes() {
        let bytes: Vec<u8> = FINGERPRINTS.iter().flat_map(|number| number.to_le_bytes()).collect();
        assert_eq!(hash(&FINGERPRINTS), words::word(&bytes));
    }

    fn signature(method: &str, text: &str) -> Vec<u8> {
        let method = crate::method(method, &Setting::default()).unwrap();
        let (mut features, mut sketch) = (Features::default(), Sketch::default());
        Analyser::new(method.abilities().profile.unwrap_or(&Profile::web())).read(text, &mut features);
        method.sketch(&Page { text, features: &features }, &mut sketch);
        sketch.payload
    }

    #[test]
    fn around_the_end_any_beginning_is_the_same() {
        let (text, rotated) = ("one two three four five six seven", "four five six seven one two three");
        for variant in ["levels", "mod", "even"] {
            let method = |wrap| format!("a8:variant={variant},profile=web,wrap={wrap}");
            assert_eq!(signature(&method(true), text), signature(&method(true), rotated), "{variant}");
            assert_ne!(signature(&method(false), text), signature(&method(false), rotated), "{variant}");
        }
        assert_eq!(signature("a8", "the of and"), [0; 8]);
        let short = words::gram(&["few", "words"].map(|word| words::word(word.as_bytes())));
        assert_eq!(signature("a8:profile=web", "few words"), hash(&[short]).to_le_bytes());
    }

    proptest! {
        #[test]
        fn levels_are_the_smallest_of_each_number_of_zeros(fingerprints in prop::collection::vec(0u64..5000, 1..60)) {
            let mut expected = Vec::new();
            for zeros in 1..=64 {
                let of = fingerprints.iter().copied().filter(|value| value.trailing_zeros() == zeros);
                expected.extend(of.min());
            }
            if expected.is_empty() {
                expected.extend(fingerprints.iter().min());
            }
            prop_assert_eq!(kept(Variant::Levels, 1, &fingerprints), expected);
        }
    }
}
