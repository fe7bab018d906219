//! `md5`: one digest of the whole document; equal digests are duplicates, and nothing else is.
//!
//! MD5 (RFC 1321) of the words with one blank between them, or of the text as it was extracted. Near-duplicates with a
//! single other word are not seen: it is the floor that other methods are measured from. As `a0` it reads words as
//! Zelenkov and Segalovich (2007) do.

use lookalike_model::Recipe;
use lookalike_text::Profile;
use md5::{Digest, Md5 as Md5State};

use crate::spec::profile_value;
use crate::{Abilities, About, Key, Method, MethodError, Page, Score, Setting, Sketch, Spec, parameters};

const VERSION: u32 = 2;

/// The description of the method that `lookalike methods` shows.
pub(crate) const ABOUT: About = About {
    name: "md5",
    aliases: &[("a0", "md5:profile=yandex")],
    summary: "one digest of the whole document; only equal ones pair",
    source: "RFC 1321; A0 of Zelenkov, Segalovich 2007",
    formula: "key = payload = MD5(words with one blank between them); accept: equal",
    example: "lookalike dedup --method md5 docs.jsonl -o out",
    parameters: &[
        ("input", "words, or raw for the extracted text as it is"),
        ("profile", "how words are read; run is the run's own"),
    ],
    make: Md5::make,
};

/// The method `md5`.
#[derive(Debug)]
pub(crate) struct Md5 {
    raw: bool,
    profile: Option<Profile>,
}

impl Md5 {
    pub(crate) fn make(mut spec: Spec, setting: &Setting) -> Result<Box<dyn Method>, MethodError> {
        let raw = spec.choice("input", &[("words", false), ("raw", true)])?;
        let profile = spec.profile(None)?;
        spec.finish()?;
        parameters::refuse_containment("md5", setting)?;
        Ok(Box::new(Md5 { raw, profile }))
    }

    fn digest(&self, page: &Page<'_>) -> [u8; 16] {
        if self.raw {
            return Md5State::digest(page.text).into();
        }
        let mut state = Md5State::new();
        for (index, word) in page.words().enumerate() {
            if index > 0 {
                state.update(b" ");
            }
            state.update(word.as_bytes());
        }
        state.finalize().into()
    }
}

impl Method for Md5 {
    fn recipe(&self) -> Recipe {
        Recipe::new("md5", VERSION)
            .with("input", if self.raw { "raw" } else { "words" })
            .with("profile", profile_value(self.profile.as_ref()))
    }

    fn payload_bytes(&self) -> usize {
        16
    }

    fn sketch(&self, page: &Page<'_>, sketch: &mut Sketch) {
        sketch.clear();
        sketch.length = page.len() as u32;
        let digest = self.digest(page);
        let (front, _) = digest.split_first_chunk().expect("a digest has 16 bytes");
        // The digest of nothing would make near-duplicates of all documents without words.
        if !page.is_empty() {
            sketch.keys.push(Key { value: u64::from_le_bytes(*front), tag: 0 });
        }
        sketch.payload.extend_from_slice(&digest);
    }

    fn accept(&self, a: &[u8], b: &[u8], _shared: u32) -> Option<Score> {
        (a == b).then_some(Score::even(1.0))
    }

    fn abilities(&self) -> Abilities<'_> {
        Abilities { profile: self.profile.as_ref(), ..Abilities::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lookalike_text::{Analyser, Features};

    fn digest(method: &str, text: &str) -> String {
        let method = crate::method(method, &Setting::default()).unwrap();
        let (mut features, mut sketch) = (Features::default(), Sketch::default());
        Analyser::new(method.abilities().profile.unwrap_or(&Profile::web())).read(text, &mut features);
        method.sketch(&Page { text, features: &features }, &mut sketch);
        sketch.payload.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn digests_are_the_published_ones() {
        assert_eq!(digest("md5", "A rose is a rose, is a rose."), "f3c367b8595d5b6934c88731fc4440e8");
        assert_eq!(digest("md5", "abc"), "900150983cd24fb0d6963f7d28e17f72");
        assert_eq!(digest("md5", ""), "d41d8cd98f00b204e9800998ecf8427e");
        assert_eq!(digest("md5:input=raw", "a rose is a rose is a rose"), "f3c367b8595d5b6934c88731fc4440e8");
    }

    #[test]
    fn a0_leaves_out_short_words_and_raw_nothing() {
        assert_eq!(digest("a0", "The Rose of the roses"), digest("a0", "rose, ROSES"));
        assert_ne!(digest("md5", "The Rose of the roses"), digest("md5", "rose, ROSES"));
        assert_ne!(digest("md5:input=raw", "rose."), digest("md5:input=raw", "rose"));
        assert_eq!(digest("md5", "rose."), digest("md5", "rose"));
    }
}
