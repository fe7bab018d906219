//! `md5`: one digest of the whole document; equal digests are duplicates, and nothing else is.
//!
//! MD5 of the words with one blank between them. Near-duplicates with a single other word are not seen: it is the
//! floor that other methods are measured from.

use lookalike_model::{Recipe, Similarity};
use lookalike_text::Features;
use md5::{Digest, Md5 as Md5State};

use crate::{Key, Method, MethodError, Setting, Sketch, Spec};

const VERSION: u32 = 1;

/// The method `md5`.
#[derive(Debug)]
pub(crate) struct Md5;

impl Md5 {
    pub(crate) fn make(spec: Spec, setting: &Setting) -> Result<Box<dyn Method>, MethodError> {
        spec.finish()?;
        if setting.similarity == Similarity::Containment {
            return Err(MethodError::blind_to_containment("md5"));
        }
        Ok(Box::new(Md5))
    }
}

impl Method for Md5 {
    fn recipe(&self) -> Recipe {
        Recipe::new("md5", VERSION)
    }

    fn payload_bytes(&self) -> usize {
        16
    }

    fn sketch(&self, features: &Features, sketch: &mut Sketch) {
        sketch.clear();
        sketch.length = features.len() as u32;
        let mut state = Md5State::new();
        for (index, word) in features.words().enumerate() {
            if index > 0 {
                state.update(b" ");
            }
            state.update(word.as_bytes());
        }
        let digest: [u8; 16] = state.finalize().into();
        let (front, _) = digest.split_first_chunk().expect("a digest has 16 bytes");
        // The digest of nothing would make near-duplicates of all documents without words.
        if !features.is_empty() {
            sketch.keys.push(Key { value: u64::from_le_bytes(*front), tag: 0 });
        }
        sketch.payload.extend_from_slice(&digest);
    }

    fn accept(&self, a: &[u8], b: &[u8], _shared: u32) -> Option<f64> {
        (a == b).then_some(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lookalike_text::{Analyser, Profile};

    fn digest(text: &str) -> String {
        let (mut features, mut sketch) = (Features::default(), Sketch::default());
        Analyser::new(&Profile::web()).read(text, &mut features);
        Md5.sketch(&features, &mut sketch);
        sketch.payload.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn digests_are_the_published_ones() {
        assert_eq!(digest("A rose is a rose, is a rose."), "f3c367b8595d5b6934c88731fc4440e8");
        assert_eq!(digest("abc"), "900150983cd24fb0d6963f7d28e17f72");
        assert_eq!(digest(""), "d41d8cd98f00b204e9800998ecf8427e");
    }
}
