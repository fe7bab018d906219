//! `tfidf`: the six words that are frequent in a document and in few others.
//!
//! A2 of Zelenkov and Segalovich (2007): the weight of Okapi BM25 (Robertson et al. 1995) with k = 2 and b = 0.75.
//! Words of more than half of the documents have a negative weight.

use super::weights::{Weight, WordStats};
use super::{Lexical, PARAMETERS};
use crate::About;

/// The weight.
pub(crate) static WEIGHT: Weight = Weight { name: "tfidf", uses_lexicon: true, of: tfidf };

/// The description of the method that `lookalike methods` shows.
pub(crate) const ABOUT: About = About {
    name: "tfidf",
    aliases: &[("a2", "tfidf")],
    summary: "the six words of greatest TF*IDF; equal ones pair",
    source: "A2 of Zelenkov, Segalovich 2007; BM25: Robertson et al. 1995",
    formula: "\
weight = TF*IDF; TF = tf / (2*(0.25 + 0.75*dl/dl_avg) + tf); IDF = ln((N - df + 0.5) / (df + 0.5))
key = h(the six words of greatest weight, in alphabetical order, one blank between them); accept: equal",
    example: "lookalike pairs --method tfidf docs.jsonl -o pairs.jsonl",
    parameters: PARAMETERS,
    make: |spec, setting| Lexical::make("tfidf", &WEIGHT, spec, setting),
};

fn tfidf(stats: &WordStats) -> f64 {
    let WordStats { tf, dl, dl_avg, df, n, .. } = *stats;
    let often = tf / (2.0 * (0.25 + 0.75 * dl / dl_avg) + tf);
    let rare = ((n - df + 0.5) / (df + 0.5)).ln();
    often * rare
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexical::toy;

    #[test]
    fn weights_of_the_toy_collection() {
        let expected = [
            ("apple", -0.618441),
            ("banana", 0.155441),
            ("cherry", -0.101065),
            ("date", 0.101065),
            ("elder", 0.101065),
            ("fig", 0.101065),
            ("grape", 0.101065),
        ];
        toy::assert_weights(&WEIGHT, 0, &expected);
    }
}
