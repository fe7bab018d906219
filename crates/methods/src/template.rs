//! `first-word`: documents that begin with the same word are near-duplicates. A template, built for tests only.
//!
//! To write a method, copy this file, add its `mod` to `lib.rs`, then name its `ABOUT` in [`crate::METHODS`]. From then on the contract test in
//! `tests/methods/contract.rs` runs it, too. This paragraph becomes what the method does, in a few sentences, and the paper
//! that it comes from.

use lookalike_hash as hash;
use lookalike_model::Recipe;

use crate::{Abilities, About, Advising, Key, Method, MethodError, Page, Score, Setting, Sketch, Spec, seed};

/// Raised when the same parameters would give other keys or payloads.
const VERSION: u32 = 1;

/// The description of the method that `lookalike methods` shows.
pub(crate) const ABOUT: About = About {
    name: "first-word",
    aliases: &[],
    summary: "documents with the same first word",
    source: "nobody",
    formula: "key = h(w_1)",
    example: "lookalike pairs --method first-word:bits=32 docs.jsonl -o pairs.jsonl",
    parameters: &[("bits", "bits of the key, 1 to 64"), ("seed", "of the hash function")],
    make: FirstWord::make,
};

/// The method `first-word`: every parameter that a recipe names, ready for use.
#[derive(Debug)]
pub(crate) struct FirstWord {
    bits: u32,
    seed: u64,
}

impl FirstWord {
    /// Takes every parameter out of `spec`, with a default and a sentence for values that will not do. What was not
    /// taken is an error of `finish`, which also lists those that were.
    pub(crate) fn make(mut spec: Spec, setting: &Setting) -> Result<Box<dyn Method>, MethodError> {
        let bits =
            spec.value("bits", 64, "a number from 1 to 64 is wanted", |bits| (1..=64).contains(bits))?;
        let seed = spec.value("seed", setting.seed, "a whole number is wanted", |_| true)?;
        spec.finish()?;
        Ok(Box::new(FirstWord { bits, seed }))
    }
}

impl Method for FirstWord {
    /// All parameters, also those that came from the setting: the recipe alone makes the same method again.
    fn recipe(&self) -> Recipe {
        Recipe::new("first-word", VERSION).with("bits", self.bits).with("seed", self.seed)
    }

    fn payload_bytes(&self) -> usize {
        8
    }

    /// Clears first: the sketch comes from another document. A document without words gets no keys, but a payload
    /// of the right width. A method that needs lists on the way puts them into a struct of its own and gets that by
    /// `sketch.buffers.own()`, so that they are not allocated for every document.
    fn sketch(&self, page: &Page<'_>, sketch: &mut Sketch) {
        sketch.clear();
        sketch.length = page.len() as u32;
        let first = page.hashes().first();
        let value = first.map_or(0, |&word| hash::mix(word ^ seed::salt(self.seed)) >> (64 - self.bits));
        sketch.keys.extend(first.map(|_| Key { value, tag: 0 }));
        sketch.payload.extend_from_slice(&value.to_le_bytes());
    }

    /// Looks at payloads alone, so that it can be asked about any two documents.
    fn accept(&self, a: &[u8], b: &[u8], _shared: u32) -> Option<Score> {
        (a == b).then_some(Score::even(1.0))
    }

    /// Lists what the method has beside keys and accept: facts such as a profile, and `Some(self)` for each trait of
    /// `abilities.rs` that it implements. A method that has none of it leaves this function out.
    fn abilities(&self) -> Abilities<'_> {
        Abilities { advising: Some(self), ..Abilities::default() }
    }
}

impl Advising for FirstWord {
    fn advice(&self) -> Option<String> {
        Some(format!("first-word gives a document one key of {} bits.", self.bits))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lookalike_text::{Analyser, Features, Profile};

    #[test]
    fn documents_with_the_same_first_word_meet() -> Result<(), MethodError> {
        let method = FirstWord::make("first-word:bits=32".parse()?, &Setting::default())?;
        assert_eq!(method.recipe().to_string(), "first-word/1:bits=32,seed=1");
        assert!(method.recipe().parameters.keys().eq(ABOUT.parameters.iter().map(|(name, _)| name)));
        let (mut analyser, mut features) = (Analyser::new(&Profile::web()), Features::default());
        let mut sketch = |text| {
            let mut sketch = Sketch::default();
            analyser.read(text, &mut features);
            method.sketch(&Page { text, features: &features }, &mut sketch);
            sketch
        };
        let (one, two, three, none) = (sketch("a rose"), sketch("A tulip"), sketch("the rose"), sketch(""));
        assert_eq!(one.keys, two.keys);
        assert_ne!(one.keys, three.keys);
        assert_eq!(method.accept(&one.payload, &two.payload, 1), Some(Score::even(1.0)));
        assert_eq!(method.accept(&one.payload, &three.payload, 0), None);
        assert!(none.keys.is_empty() && none.payload.len() == method.payload_bytes());
        assert!(method.abilities().advice().is_some_and(|advice| advice.contains("32 bits")));
        Ok(())
    }
}
