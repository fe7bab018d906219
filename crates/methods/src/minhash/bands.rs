//! Bands: how many values make a key, and how many keys a document gets.

use lookalike_model::Threshold;

/// `count` keys of `rows` values each. Documents that agree in all values of one band are candidates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bands {
    pub(crate) count: usize,
    pub(crate) rows: usize,
}

impl Bands {
    /// The most selective bands of at most `values` values that propose pairs at `threshold` with probability
    /// `recall`: as many rows as possible, then as few bands as possible.
    pub(crate) fn reaching(values: usize, threshold: Threshold, recall: f64) -> Option<Bands> {
        let reaches = |count, rows| Bands { count, rows }.probability(threshold.value()) >= recall;
        let rows = (1..=values).rev().find(|&rows| reaches(values / rows, rows))?;
        let count = (1..=values / rows).find(|&count| reaches(count, rows))?;
        Some(Bands { count, rows })
    }

    /// Probability that two documents of this `similarity` share at least one key: `1 − (1 − s^r)^b`.
    pub(crate) fn probability(self, similarity: f64) -> f64 {
        let band = similarity.powf(self.rows as f64);
        // Written so that tiny probabilities keep their digits.
        -(self.count as f64 * (-band).ln_1p()).exp_m1()
    }
}

/// The fewest values with which any bands reach `recall`; none when no number does.
pub(crate) fn fewest_values(threshold: Threshold, recall: f64) -> Option<u64> {
    let values = ((1.0 - recall).ln() / (-threshold.value()).ln_1p()).ceil();
    (values.is_finite() && values >= 1.0).then_some(values as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn threshold(text: &str) -> Threshold {
        text.parse().unwrap()
    }

    #[test]
    fn probabilities_are_the_published_ones() {
        let similarities = [0.2, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];
        for (count, rows, expected) in [
            (20, 5, [0.0064, 0.1860, 0.4701, 0.8019, 0.9748, 0.9996, 1.0]),
            (6, 14, [0.0, 0.0, 0.0004, 0.0047, 0.0400, 0.2365, 0.7896]),
            (14, 6, [0.0009, 0.0558, 0.1979, 0.4877, 0.8266, 0.9858, 1.0]),
        ] {
            let bands = Bands { count, rows };
            for (similarity, expected) in similarities.into_iter().zip(expected) {
                let probability = bands.probability(similarity);
                assert!((probability - expected).abs() < 0.5e-4, "{bands:?} {similarity}: {probability}");
            }
        }
    }

    #[test]
    fn bands_are_as_selective_as_the_recall_allows() {
        for (text, recall, values) in
            [("0.8", 0.98, 128), ("0.5", 0.9, 128), ("0.9", 0.999, 64), ("0.3", 0.9, 200)]
        {
            let chosen = Bands::reaching(values, threshold(text), recall).unwrap();
            let reaches = |count, rows| Bands { count, rows }.probability(threshold(text).value()) >= recall;
            assert!(chosen.count * chosen.rows <= values && reaches(chosen.count, chosen.rows), "{chosen:?}");
            assert!(!reaches(chosen.count - 1, chosen.rows), "one band less would do: {chosen:?}");
            assert!(
                !reaches(values / (chosen.rows + 1), chosen.rows + 1),
                "one more row would do: {chosen:?}"
            );
        }
    }

    #[test]
    fn equal_documents_need_one_key() {
        assert_eq!(Bands::reaching(128, threshold("1"), 1.0), Some(Bands { count: 1, rows: 128 }));
    }

    #[test]
    fn what_cannot_be_reached_names_what_could() {
        let low = threshold("0.01");
        assert_eq!(Bands::reaching(128, low, 0.98), None);
        let fewest = fewest_values(low, 0.98).unwrap();
        assert!(Bands::reaching(fewest as usize, low, 0.98).is_some());
        assert!(Bands::reaching(fewest as usize - 1, low, 0.98).is_none());
        assert_eq!(fewest_values(low, 1.0), None);
    }
}
