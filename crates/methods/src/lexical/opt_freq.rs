//! `opt-freq`: the six words that are frequent in a document and of a good rarity: neither common nor freaks.
//!
//! A10 of Zelenkov and Segalovich (2007): the weight is highest for words of ten in a million documents, whose idf is
//! about 11.5.

use super::weights::{Weight, WordStats};
use super::{Lexical, PARAMETERS};
use crate::About;

/// The best idf: about −ln(10/10^6).
const BEST_IDF: f64 = 11.5;

/// The weight.
pub(crate) static WEIGHT: Weight = Weight { name: "optfreq", uses_lexicon: true, of: opt_freq };

/// The description of the method that `lookalike methods` shows.
pub(crate) const ABOUT: About = About {
    name: "opt-freq",
    aliases: &[("a10", "opt-freq")],
    summary: "the six frequent words whose rarity is nearest the best; equal ones pair",
    source: "A10 of Zelenkov, Segalovich 2007",
    formula: "\
weight = TF*IDFopt; TF = 0.5 + 0.5*tf/tf_max; IDF = -ln(df/N)
IDFopt = sqrt(IDF/11.5) if IDF < 11.5, else 11.5/IDF
key = h(the six words of greatest weight, in alphabetical order, one blank between them); accept: equal",
    example: "lookalike pairs --method opt-freq docs.jsonl -o pairs.jsonl",
    parameters: PARAMETERS,
    make: |spec, setting| Lexical::make("opt-freq", &WEIGHT, spec, setting),
};

fn opt_freq(stats: &WordStats) -> f64 {
    (0.5 + 0.5 * stats.tf / stats.tf_max) * optimal(-(stats.df / stats.n).ln())
}

/// Returns the closeness of an idf to the best one, from 0 to 1.
fn optimal(idf: f64) -> f64 {
    if idf < BEST_IDF { (idf.max(0.0) / BEST_IDF).sqrt() } else { BEST_IDF / idf }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexical::toy;

    #[test]
    fn rarities_are_the_published_ones() {
        for (share, expected) in [(0.5f64, 0.245507), (1e-5, 0.998877), (1e-6, 0.832398)] {
            assert!((optimal(-share.ln()) - expected).abs() < 0.5e-6, "{share}");
        }
        assert!((-(1e-5f64).ln() - 11.512925).abs() < 0.5e-6);
    }

    #[test]
    fn weights_of_the_toy_collection() {
        let expected = [
            ("apple", 0.139297),
            ("banana", 0.235227),
            ("cherry", 0.140506),
            ("date", 0.188181),
            ("elder", 0.188181),
            ("fig", 0.188181),
            ("grape", 0.188181),
        ];
        toy::assert_weights(&WEIGHT, 0, &expected);
    }
}
