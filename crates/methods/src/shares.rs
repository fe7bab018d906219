//! Methods that count what two documents share, and look at it from both sides.

use lookalike_model::Threshold;

use crate::{MethodError, Score, Spec};

/// The parameter `key`, a share of a document that is enough; `default` must be one.
pub(crate) fn share(spec: &mut Spec, key: &str, default: &str) -> Result<Threshold, MethodError> {
    let text = spec.text(key).unwrap_or_else(|| default.to_owned());
    text.parse().map_err(|_| spec.bad(key, &text, "a number above 0 and up to 1 is wanted"))
}

/// A payload that is one number.
pub(crate) fn number(payload: &[u8]) -> u32 {
    payload.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

/// How much of each document is in the other, when they share so many of their `a` and `b` features.
pub(crate) fn both_ways(shared: u32, a: u32, b: u32) -> Score {
    let part = |whole: u32| (f64::from(shared) / f64::from(whole.max(1))).min(1.0);
    Score { forward: part(a), backward: part(b) }
}

/// True when the share of one of the documents that is in the other is enough.
pub(crate) fn enough(share: Threshold, shared: u32, a: u32, b: u32) -> bool {
    let smaller = a.min(b);
    smaller > 0 && shared > 0 && share.reached_by(shared.into(), smaller.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn either_side_is_enough() {
        let quarter = "0.25".parse().unwrap();
        assert!(enough(quarter, 1, 4, 1000) && enough(quarter, 1, 1000, 4));
        assert!(!enough(quarter, 1, 5, 5) && !enough(quarter, 0, 0, 0) && !enough(quarter, 0, 5, 5));
        assert_eq!(both_ways(1, 4, 8), Score { forward: 0.25, backward: 0.125 });
        assert_eq!(both_ways(9, 4, 0), Score::even(1.0));
    }

    #[test]
    fn shares_are_parameters() {
        let mut spec: Spec = "x:share=0.3,least=2".parse().unwrap();
        assert_eq!(share(&mut spec, "share", "0.5").unwrap().to_string(), "0.3");
        assert_eq!(share(&mut spec, "other", "0.5").unwrap().to_string(), "0.5");
        assert!(share(&mut spec, "least", "0.5").unwrap_err().to_string().contains("above 0 and up to 1"));
    }
}
