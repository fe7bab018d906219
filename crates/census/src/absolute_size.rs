//! Sizes of engines from the published size of one of them, as Gulli and Signorini did in 2005.

use crate::estimate::Estimate;

/// The size of an engine from that of another: `published` divided by how many times as large the published one is.
pub fn from_ratio(published: f64, ratio: Estimate) -> Estimate {
    let (low, high) = ratio.interval;
    let value = published / ratio.value;
    let interval = (published / high, if low > 0.0 { published / low } else { f64::INFINITY });
    Estimate { value, error: value * ratio.error / ratio.value, interval }
}

/// The size of the union from the published size of one engine and its share of the union.
pub fn union_from_share(published: f64, share: Estimate) -> Estimate {
    from_ratio(published, share)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOGLE: f64 = 8_168_684_336.0;

    fn exact(value: f64) -> Estimate {
        Estimate::normal(value, 0.0)
    }

    #[test]
    fn the_indexed_web_of_2005() {
        let sizes = [1.0, 1.22, 1.41, 1.65].map(|ratio| from_ratio(GOOGLE, exact(ratio)).value);
        let wanted = [8.169e9, 6.696e9, 5.793e9, 4.951e9];
        assert!(sizes.iter().zip(wanted).all(|(size, wanted)| (size - wanted).abs() < 1e6), "{sizes:?}");
        for (size, share) in sizes.iter().zip([0.7103, 0.5822, 0.5038, 0.4305]) {
            assert!((size / 11.5e9 - share).abs() < 5e-5);
            assert!((union_from_share(*size, exact(share)).value / 11.5e9 - 1.0).abs() < 2e-4);
        }
    }

    #[test]
    fn ratios_of_mean_coverages_are_another_estimator() {
        let coverages: [f64; 4] = [68.2, 59.1, 49.2, 43.5];
        let ratios = [1, 2, 3].map(|other| coverages[0] / coverages[other]);
        assert!(
            ratios.iter().zip([1.154, 1.386, 1.568]).all(|(ratio, wanted)| (ratio - wanted).abs() < 5e-4)
        );
    }

    #[test]
    fn the_interval_is_turned() {
        let size = from_ratio(100.0, Estimate { value: 2.0, error: 0.2, interval: (1.6, 2.5) });
        assert_eq!((size.value, size.error, size.interval), (50.0, 5.0, (40.0, 62.5)));
    }
}
