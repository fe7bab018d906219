//! `tfridf`: the six words that are frequent in a document and gather in few.
//!
//! A3 of Zelenkov and Segalovich (2007): residual idf (Church, Gale 1995) is how much rarer a word is, counted by
//! documents, than if its occurrences had been strewn at random. It is large for words that documents are about.

use super::weights::{Weight, WordStats};
use super::{Lexical, PARAMETERS};
use crate::About;

/// The weight.
pub(crate) static WEIGHT: Weight = Weight { name: "tfridf", uses_lexicon: true, of: tfridf };

/// The description of the method that `lookalike methods` shows.
pub(crate) const ABOUT: About = About {
    name: "tfridf",
    aliases: &[("a3", "tfridf")],
    summary: "the six words of greatest TF*RIDF; equal ones pair",
    source: "A3 of Zelenkov, Segalovich 2007; residual idf: Church, Gale 1995",
    formula: "\
weight = TF*RIDF; TF = 0.5 + 0.5*tf/tf_max; RIDF = -ln(df/N) + ln(1 - exp(-cf/N))
key = h(the six words of greatest weight, in alphabetical order, one blank between them); accept: equal",
    example: "lookalike pairs --method tfridf docs.jsonl -o pairs.jsonl",
    parameters: PARAMETERS,
    make: |spec, setting| Lexical::make("tfridf", &WEIGHT, spec, setting),
};

fn tfridf(stats: &WordStats) -> f64 {
    (0.5 + 0.5 * stats.tf / stats.tf_max) * residual_idf(stats.df, stats.cf, stats.n)
}

/// Observed idf less that of a Poisson distribution.
fn residual_idf(df: f64, cf: f64, n: f64) -> f64 {
    // exp_m1 keeps the digits of rare words.
    -(df / n).ln() + (-(-cf / n).exp_m1()).ln()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexical::toy;

    #[test]
    fn residual_idf_is_the_published_one() {
        for (cf, expected) in [(1000.0, -0.000500), (1100.0, 0.094760), (5000.0, 1.606939)] {
            assert!((residual_idf(1000.0, cf, 1e6) - expected).abs() < 0.5e-6, "{cf}");
        }
    }

    #[test]
    fn weights_of_the_toy_collection() {
        let expected = [
            ("apple", -0.135239),
            ("banana", 0.266394),
            ("cherry", -0.190030),
            ("date", -0.128895),
            ("elder", -0.128895),
            ("fig", -0.128895),
            ("grape", 0.080280),
        ];
        toy::assert_weights(&WEIGHT, 0, &expected);
    }
}
