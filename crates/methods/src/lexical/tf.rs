//! `tf`: the six most frequent words of a document.
//!
//! A1 of Zelenkov and Segalovich (2007): weight = tf, the number of occurrences. It knows nothing of the collection, and
//! yet found as many pairs as the weights that do.

use super::weights::{Weight, WordStats};
use super::{Lexical, PARAMETERS};
use crate::About;

/// The weight.
pub(crate) static WEIGHT: Weight = Weight { name: "tf", uses_lexicon: false, of: tf };

/// The description of the method that `lookalike methods` shows.
pub(crate) const ABOUT: About = About {
    name: "tf",
    aliases: &[("a1", "tf")],
    summary: "the six most frequent words of a document; equal ones pair",
    source: "A1 of Zelenkov, Segalovich 2007",
    formula: "\
weight = tf
key = h(the six words of greatest weight, in alphabetical order, one blank between them); accept: equal",
    example: "lookalike pairs --method tf docs.jsonl -o pairs.jsonl",
    parameters: PARAMETERS,
    make: |spec, setting| Lexical::make("tf", &WEIGHT, spec, setting),
};

fn tf(stats: &WordStats) -> f64 {
    stats.tf
}
