//! Henzinger's comparison (SIGIR 2006), on a corpus of one's own: MinHash with super-shingles alone, SimHash alone, and
//! both together, each by its own word, and how many of the pairs are near-duplicates.
//!
//! She let people judge samples of pairs from 1.6 billion pages; here every pair is measured. Her MinHash has 84 minima
//! of 8-word shingles in 6 super-shingles of which 2 agree; her SimHash 384 bits. Together: pairs of the first that the
//! second accepts, too.

use lookalike::walk::Watch;
use serde::Serialize;

use crate::interval::wilson;
use crate::trial::{Bench, Configuration, LabError, Outcome};

/// One line of the comparison.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Line {
    /// What was run.
    pub name: &'static str,
    /// The methods, as typed.
    pub methods: String,
    /// The share of near-duplicates that she reports.
    pub published: f64,
    /// What was found here.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// The share of near-duplicates here; none without pairs.
    pub precision: Option<f64>,
    /// Its 95 % interval, if the corpus is taken as a sample of others like it.
    pub interval: Option<(f64, f64)>,
}

/// The configurations: names, methods, and the published precision. `k` of 384 bits may differ.
fn configurations(k: u32) -> [(&'static str, Configuration, f64); 3] {
    let minhash = "supershingles:values=84,groups=6,shingle=8,least=2";
    let simhash = format!("simhash:f=384,n=1,k={k}");
    [
        ("minhash", Configuration::alone(minhash), 0.38),
        ("simhash", Configuration::alone(&simhash), 0.50),
        ("together", Configuration::filtered(minhash, &simhash), 0.79),
    ]
}

/// Runs the comparison.
pub fn run(bench: &Bench<'_>, k: u32, watch: &Watch) -> Result<Vec<Line>, LabError> {
    let line = |(name, what, published): (&'static str, Configuration, f64)| {
        let outcome = bench.run(name, &what, watch)?;
        let methods = what.methods.iter().chain(&what.filter).cloned().collect::<Vec<_>>().join(" and ");
        let (precision, interval) = (outcome.precision(), wilson(outcome.near, outcome.pairs));
        Ok(Line { name, methods, published, outcome, precision, interval })
    };
    configurations(k).into_iter().map(line).collect()
}
