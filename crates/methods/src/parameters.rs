//! Parameters that many methods have.

use lookalike_model::{Similarity, Threshold};

use crate::{MethodError, Setting, Spec};

/// The longest shingles that anybody may want.
const LONGEST_SHINGLE: usize = 1000;

/// `shingle`: words per shingle.
pub(crate) fn shingle(spec: &mut Spec, default: usize) -> Result<usize, MethodError> {
    let wanted = "a number of words from 1 to 1000 is wanted";
    spec.value("shingle", default, wanted, |words| (1..=LONGEST_SHINGLE).contains(words))
}

/// `seed`: of every random choice.
pub(crate) fn seed(spec: &mut Spec, setting: &Setting) -> Result<u64, MethodError> {
    spec.value("seed", setting.seed, "a whole number is wanted", |_| true)
}

/// `threshold`: how much is enough.
pub(crate) fn threshold(spec: &mut Spec, default: Threshold) -> Result<Threshold, MethodError> {
    spec.value("threshold", default, "a number above 0 and up to 1 is wanted, such as 0.8", |_| true)
}

/// Refuses runs that ask for containment on behalf of a method that cannot see it.
pub(crate) fn refuse_containment(name: &str, setting: &Setting) -> Result<(), MethodError> {
    match setting.similarity {
        Similarity::Containment => Err(MethodError::containment_unsupported(name)),
        _ => Ok(()),
    }
}
