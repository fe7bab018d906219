//! The order of pairs by similarity.

use std::cmp::Ordering;

/// Compares similarities. A pair that was accepted without one, which is no number, comes below every pair that has one, and beside its
/// like; the two zeros are one.
pub(crate) fn by_similarity(a: f64, b: f64) -> Ordering {
    a.partial_cmp(&b).unwrap_or_else(|| b.is_nan().cmp(&a.is_nan()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_without_a_similarity_come_below_all_others() {
        let ranked = [f64::NAN, f64::NEG_INFINITY, 0.0, 0.5, 1.0];
        for (a, &left) in ranked.iter().enumerate() {
            for (b, &right) in ranked.iter().enumerate() {
                assert_eq!(by_similarity(left, right), a.cmp(&b), "{left} {right}");
            }
        }
        assert_eq!(by_similarity(-f64::NAN, f64::NAN), Ordering::Equal);
        assert_eq!(by_similarity(-0.0, 0.0), Ordering::Equal);
    }
}
