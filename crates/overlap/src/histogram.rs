//! Similarities in ten bins of a tenth; 1 belongs to the last.

/// Number of bins.
pub const BINS: usize = 10;

/// Counts the similarities in each bin.
pub fn histogram(similarities: impl IntoIterator<Item = f64>) -> [u64; BINS] {
    let mut bins = [0; BINS];
    for similarity in similarities {
        bins[bin(similarity)] += 1;
    }
    bins
}

/// The bin of a similarity. A quotient of whole numbers that should be a tenth can be a hair below it in binary.
pub fn bin(similarity: f64) -> usize {
    let tenths = similarity.clamp(0.0, 1.0) * BINS as f64;
    ((tenths + 1e-9) as usize).min(BINS - 1)
}

/// Returns the names of the bins.
pub fn names() -> [String; BINS] {
    std::array::from_fn(|bin| format!("{:.1} to {:.1}", bin as f64 / 10.0, (bin + 1) as f64 / 10.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn borders_belong_to_the_upper_bin_and_one_to_the_last() {
        let mut wanted = [0; BINS];
        for (similarity, place) in [(0.0, 0), (0.099, 0), (0.1, 1), (0.3, 3), (0.7, 7), (0.9, 9), (1.0, 9)] {
            assert_eq!(bin(similarity), place, "{similarity}");
            wanted[place] += 1;
        }
        assert_eq!(histogram([0.0, 0.099, 0.1, 0.3, 0.7, 0.9, 1.0]), wanted);
        for (part, whole) in [(1, 10), (3, 10), (6, 10), (7, 10), (9, 10), (18, 20), (63, 70)] {
            assert_eq!(
                bin(f64::from(part) / f64::from(whole)),
                (10 * part / whole) as usize,
                "{part}/{whole}"
            );
        }
        assert_eq!((names()[0].as_str(), names()[9].as_str()), ("0.0 to 0.1", "0.9 to 1.0"));
    }
}
