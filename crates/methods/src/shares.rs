//! Methods that count what two documents share, and look at it from both sides.

use lookalike_model::Threshold;

use crate::{MethodError, Score, Spec};

/// The parameter `key`, a share of a document that is enough; `default` must be one.
pub(crate) fn share(spec: &mut Spec, key: &str, default: &str) -> Result<Threshold, MethodError> {
    let text = spec.text(key).unwrap_or_else(|| default.to_owned());
    text.parse().map_err(|_| spec.value_error(key, &text, "a number above 0 and up to 1 is wanted"))
}

/// A payload that is one number.
pub(crate) fn number(payload: &[u8]) -> u32 {
    payload.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

/// Returns the share of each document that is in the other, each given as part and whole, and whether it reaches
/// `share`.
pub(crate) fn both_ways(share: Threshold, forward: (u32, u32), backward: (u32, u32)) -> Score {
    let part = |(part, whole): (u32, u32)| (f64::from(part) / f64::from(whole.max(1))).min(1.0);
    let reached =
        |(part, whole): (u32, u32)| part > 0 && whole > 0 && share.reached_by(part.into(), whole.into());
    Score {
        forward: part(forward),
        backward: part(backward),
        reached: reached(forward),
        reached_back: reached(backward),
    }
}

/// The score, if one of the documents is enough in the other.
pub(crate) fn either_way(share: Threshold, forward: (u32, u32), backward: (u32, u32)) -> Option<Score> {
    let score = both_ways(share, forward, backward);
    (score.reached || score.reached_back).then_some(score)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn either_side_is_enough() {
        let quarter = "0.25".parse().unwrap();
        let score = |shared, a, b| either_way(quarter, (shared, a), (shared, b));
        let one = Score { forward: 0.25, backward: 0.001, reached: true, reached_back: false };
        assert_eq!((score(1, 4, 1000), score(1, 1000, 4)), (Some(one), Some(one.swapped())));
        assert_eq!([score(1, 5, 5), score(0, 0, 0), score(0, 5, 5)], [None; 3]);
        assert_eq!(score(9, 4, 9), Some(Score::even(1.0)));
    }

    #[test]
    fn shares_are_parameters() {
        let mut spec: Spec = "x:share=0.3,least=2".parse().unwrap();
        assert_eq!(share(&mut spec, "share", "0.5").unwrap().to_string(), "0.3");
        assert_eq!(share(&mut spec, "other", "0.5").unwrap().to_string(), "0.5");
        assert!(share(&mut spec, "least", "0.5").unwrap_err().to_string().contains("above 0 and up to 1"));
    }
}
