//! Bands: how many values make a key, and how many keys a document gets.

use lookalike_hash as hash;
use lookalike_model::Threshold;

use crate::{Key, MethodError, Spec};

/// More values than this say nothing new about a document.
pub(crate) const MAX_VALUES: usize = 4096;

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

    /// A key for each band of `values`.
    pub(crate) fn keys(self, values: &[u64]) -> impl Iterator<Item = Key> {
        let bands = values.chunks_exact(self.rows).take(self.count);
        (1..).zip(bands).map(|(band, values)| Key { value: key(band, values), tag: 0 })
    }
}

/// The fewest values with which any bands reach `recall`; none when no number does.
pub(crate) fn fewest_values(threshold: Threshold, recall: f64) -> Option<u64> {
    let values = ((1.0 - recall).ln() / (-threshold.value()).ln_1p()).ceil();
    (values.is_finite() && values >= 1.0).then_some(values as u64)
}

/// The bands that were asked for, if any.
pub(crate) fn from_spec(spec: &mut Spec, values: usize) -> Result<Option<Bands>, MethodError> {
    let (bands, rows) = (spec.text("bands"), spec.text("rows"));
    let number = |text: &str| text.parse().ok().filter(|&number: &usize| number > 0);
    match (bands, rows) {
        (None, None) => Ok(None),
        (Some(bands), None) => Err(spec.value_error("bands", &bands, "rows is wanted with it, or neither")),
        (None, Some(rows)) => Err(spec.value_error("rows", &rows, "bands is wanted with it, or neither")),
        (Some(bands), Some(rows)) => {
            let wanted =
                format!("a number is wanted, and bands times rows at most {values}, the number of values");
            let count = number(&bands).ok_or_else(|| spec.value_error("bands", &bands, &wanted))?;
            number(&rows)
                .filter(|&rows| count.checked_mul(rows).is_some_and(|needed| needed <= values))
                .map(|rows| Some(Bands { count, rows }))
                .ok_or_else(|| spec.value_error("rows", &rows, &wanted))
        }
    }
}

/// The most selective bands that reach the recall, or the error about one that no bands reach.
pub(crate) fn choose(
    method: &str,
    values: usize,
    threshold: Threshold,
    recall: f64,
) -> Result<Bands, MethodError> {
    Bands::reaching(values, threshold, recall).ok_or_else(|| {
        let remedy = match fewest_values(threshold, recall) {
            Some(fewest) if fewest <= MAX_VALUES as u64 => format!("values={fewest} can"),
            _ => "no number of values can, but the method exact does".to_owned(),
        };
        MethodError::Unable(format!(
            "{method} with {values} values cannot propose pairs at a threshold of {threshold} with a recall of \
             {recall}; {remedy}"
        ))
    })
}

/// The key of a band: bands count from 1.
fn key(band: u64, values: &[u64]) -> u64 {
    values.iter().fold(hash::mix(band), |state, &value| hash::mix(state ^ value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial::{assert_share, sketch, texts};

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
    fn pairs_share_a_band_as_often_as_published() {
        for (count, rows, published) in
            [(20, 5, [(0.5, 0.4701), (0.6, 0.8019)]), (14, 6, [(0.6, 0.4877), (0.7, 0.8266)])]
        {
            let text =
                format!("minhash:family=classic,values={},bands={count},rows={rows},shingle=1", count * rows);
            let method = crate::method(&text, &crate::Setting::default()).unwrap();
            for (similarity, expected) in published {
                let meets = |number: &usize| {
                    let [a, b] = texts(similarity, *number).map(|text| sketch(&*method, &text).keys);
                    a.iter().zip(&b).any(|(a, b)| a == b)
                };
                let trials = 1500;
                let hits = (0..trials).filter(meets).count();
                assert_share(&format!("{count} bands at {similarity}"), hits, trials, expected);
            }
        }
    }

    #[test]
    fn the_curve_is_steepest_at_the_published_thresholds() {
        for (count, rows, threshold) in [(20, 5, 0.5493), (6, 14, 0.8799), (14, 6, 0.6441)] {
            assert!(((1.0 / count as f64).powf(1.0 / rows as f64) - threshold).abs() < 0.5e-4);
            // 1 − (1 − 1/b)^b of the pairs there are proposed.
            let steep = Bands { count, rows }.probability(threshold);
            assert!((0.6..0.7).contains(&steep), "{steep}");
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
