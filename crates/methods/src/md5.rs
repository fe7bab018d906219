//! `md5`: one digest of the whole document; equal digests are duplicates, and nothing else is.
//!
//! MD5 of the words with one blank between them. Near-duplicates with a single other word are not seen: it is the
//! floor that other methods are measured from.

use lookalike_model::Recipe;
use lookalike_text::Features;
use md5::{Digest, Md5 as Md5State};

use crate::{Key, Method, MethodError, Sketch, Spec};

const VERSION: u32 = 1;

/// The method `md5`.
#[derive(Debug)]
pub(crate) struct Md5;

impl Md5 {
    pub(crate) fn new(spec: Spec) -> Result<Box<dyn Method>, MethodError> {
        spec.finish()?;
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
        sketch.keys.push(Key { value: u64::from_le_bytes(*front), tag: 0 });
        sketch.payload.extend_from_slice(&digest);
    }

    fn accept(&self, a: &[u8], b: &[u8], _shared: u32) -> Option<f64> {
        (a == b).then_some(1.0)
    }
}
