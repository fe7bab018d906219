//! Confidence intervals of shares.

/// Standard deviations of a 95 % interval.
pub const Z: f64 = 1.959_963_984_540_054;

/// The 95 % interval of a share of `part` in `whole`, after Wilson (1927); nothing is known of none.
pub fn wilson(part: u64, whole: u64) -> Option<(f64, f64)> {
    (whole > 0).then(|| wilson_of(part as f64 / whole as f64, whole as f64)).flatten()
}

/// The same of a share that tells as much as `n` independent observations, which need not be a whole number.
pub fn wilson_of(p: f64, n: f64) -> Option<(f64, f64)> {
    wilson_at(p, n, Z)
}

/// The same for any number of standard deviations.
pub fn wilson_at(p: f64, n: f64, z: f64) -> Option<(f64, f64)> {
    if n.is_nan() || n <= 0.0 {
        return None;
    }
    let middle = p + z * z / (2.0 * n);
    let spread = z * (p * (1.0 - p) / n + z * z / (4.0 * n * n)).sqrt();
    let scale = 1.0 + z * z / n;
    // At the ends the formula gives 0 and 1 but for rounding.
    let low = if p > 0.0 { ((middle - spread) / scale).max(0.0) } else { 0.0 };
    let high = if p < 1.0 { ((middle + spread) / scale).min(1.0) } else { 1.0 };
    Some((low, high))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_the_published_ones() {
        for (part, low, high) in [(5, 0.0215, 0.1118), (16, 0.1010, 0.2442), (37, 0.2818, 0.4678)] {
            let (found_low, found_high) = wilson(part, 100).unwrap();
            assert!((found_low - low).abs() < 5e-5 && (found_high - high).abs() < 5e-5, "{part}");
        }
        assert_eq!(wilson(0, 0), None);
        assert_eq!((wilson(0, 7).unwrap().0, wilson(7, 7).unwrap().1), (0.0, 1.0));
    }
}
