//! Methods with several signatures, of which one must agree at the same position.

use crate::Score;

/// The score of two payloads of signatures, each `bytes` wide: the part of the positions that agree, of those where
/// both have a signature. Zeros stand where a document has none. Nothing when no position agrees.
pub(crate) fn score(a: &[u8], b: &[u8], bytes: usize) -> Option<Score> {
    let (mut both, mut agree) = (0, 0);
    for (a, b) in a.chunks_exact(bytes).zip(b.chunks_exact(bytes)) {
        let present = |signature: &[u8]| signature.iter().any(|&byte| byte != 0);
        both += u32::from(present(a) && present(b));
        agree += u32::from(present(a) && a == b);
    }
    (agree > 0).then(|| Score::even(f64::from(agree) / f64::from(both)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_agree_when_both_have_the_same_signature_there() {
        let payload = |signatures: [u64; 4]| signatures.map(u64::to_le_bytes).concat();
        let score = |a, b| score(&payload(a), &payload(b), 8).map(|score| score.forward);
        assert_eq!(score([1, 2, 3, 4], [9, 2, 8, 4]), Some(0.5));
        assert_eq!(score([1, 2, 0, 4], [9, 2, 0, 0]), Some(0.5));
        assert_eq!(score([1, 2, 3, 4], [4, 3, 2, 1]), None, "other places");
        assert_eq!(score([1, 0, 0, 0], [2, 0, 0, 0]), None);
        assert_eq!(score([0; 4], [0; 4]), None);
    }
}
