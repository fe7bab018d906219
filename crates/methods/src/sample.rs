//! Samples of a document's shingles: the fingerprints that a number divides (Broder 1997).
//!
//! One in `m` fingerprints is kept, the same ones in all documents, so that what samples share is about the share of the
//! whole. Long documents keep many, short ones few or none.

use lookalike_model::Recipe;

use crate::{MethodError, Page, Setting, Spec, parameters, seed};

/// Parameters that samples have.
pub(crate) const PARAMETERS: [(&str, &str); 4] = [
    ("m", "fingerprints that it divides are kept"),
    ("bits", "bits of a fingerprint"),
    ("shingle", "words per shingle"),
    ("seed", "of the hash function"),
];

/// The parameters by which shingles are drawn.
#[derive(Debug)]
pub(crate) struct Sample {
    m: u64,
    bits: u32,
    shingle: usize,
    seed: u64,
}

impl Sample {
    /// Takes the parameters out of `spec`.
    pub(crate) fn take(
        spec: &mut Spec,
        setting: &Setting,
        bits: u32,
        shingle: usize,
    ) -> Result<Self, MethodError> {
        let m = spec.value("m", 25, "a whole number from 1 is wanted", |&m| m > 0)?;
        let bits =
            spec.value("bits", bits, "a number from 16 to 64 is wanted", |bits| (16..=64).contains(bits))?;
        let shingle = parameters::shingle(spec, shingle)?;
        let seed = parameters::seed(spec, setting)?;
        Ok(Sample { m, bits, shingle, seed })
    }

    /// Adds the parameters to a recipe.
    pub(crate) fn describe(&self, recipe: Recipe) -> Recipe {
        recipe.with("m", self.m).with("bits", self.bits).with("shingle", self.shingle).with("seed", self.seed)
    }

    /// One shingle in so many is kept.
    pub(crate) fn m(&self) -> u64 {
        self.m
    }

    /// Words per shingle.
    pub(crate) fn shingle(&self) -> usize {
        self.shingle
    }

    /// True for a fingerprint that is kept.
    pub(crate) fn keeps(&self, fingerprint: u64) -> bool {
        fingerprint.is_multiple_of(self.m)
    }

    /// Replaces `out` with the fingerprints that are kept, in order and each once.
    pub(crate) fn draw(&self, page: &Page<'_>, out: &mut Vec<u64>) {
        let (salt, shift) = (seed::salt(self.seed), 64 - self.bits);
        out.clear();
        let fingerprints = page.grams(self.shingle).map(|shingle| seed::salted(shingle, salt) >> shift);
        out.extend(fingerprints.filter(|&fingerprint| self.keeps(fingerprint)));
        out.sort_unstable();
        out.dedup();
    }
}
