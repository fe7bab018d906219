//! `long-sentences`: the two longest sentences of a document.
//!
//! A4 of Zelenkov and Segalovich (2007): sentences by their number of words, equally long ones by the alphabet; the two
//! first, in alphabetical order with a blank between them, are hashed. Equal sentences count once. The best recall of
//! the simple signatures, at the price of precision.

use lookalike_model::Recipe;

use super::{PARAMETERS, SentenceBuffers, SentenceParameters};
use crate::spec::profile_value;
use crate::{Abilities, About, Advising, Method, Page, Score, Sketch, signature};

const VERSION: u32 = 1;

/// The description of the method that `lookalike methods` shows.
pub(crate) const ABOUT: About = About {
    name: "long-sentences",
    aliases: &[("a4", "long-sentences")],
    summary: "the two longest sentences of a document; equal ones pair",
    source: "A4 of Zelenkov, Segalovich 2007",
    formula: "key = h(the two sentences of most words, in alphabetical order, one blank between them); accept: equal",
    example: "lookalike pairs --method long-sentences docs.jsonl -o pairs.jsonl",
    parameters: PARAMETERS,
    make: |spec, setting| {
        Ok(Box::new(LongSentences(SentenceParameters::take("long-sentences", spec, setting)?)))
    },
};

/// The method `long-sentences`.
#[derive(Debug)]
struct LongSentences(SentenceParameters);

impl Method for LongSentences {
    fn recipe(&self) -> Recipe {
        Recipe::new("long-sentences", VERSION)
            .with("sentences", self.0.sentences)
            .with("bits", self.0.bits.value())
            .with("profile", profile_value(self.0.profile.as_ref()))
    }

    fn payload_bytes(&self) -> usize {
        signature::BYTES
    }

    fn sketch(&self, page: &Page<'_>, sketch: &mut Sketch) {
        sketch.clear();
        sketch.length = page.len() as u32;
        let buffers: &mut SentenceBuffers = sketch.buffers.own();
        buffers.sums.clear();
        buffers.sums.extend((0..page.sentence_count()).map(|sentence| page.sentence(sentence).len() as i64));
        let signature = self.0.signature(page, buffers);
        signature::put(sketch, signature);
    }

    fn accept(&self, a: &[u8], b: &[u8], _shared: u32) -> Option<Score> {
        signature::accept(a, b)
    }

    fn abilities(&self) -> Abilities<'_> {
        Abilities {
            profile: self.0.profile.as_ref(),
            sentences: true,
            advising: Some(self),
            ..Abilities::default()
        }
    }
}

impl Advising for LongSentences {
    fn advice(&self) -> Option<String> {
        self.0.bits.advice()
    }
}
