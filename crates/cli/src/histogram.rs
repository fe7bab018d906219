//! Percentiles of whole numbers in constant memory.

/// Counts values: exactly below [`Histogram::EXACT`], in classes of under one percent above.
#[derive(Debug, Clone, Default)]
pub struct Histogram {
    counts: Vec<u64>,
    total: u64,
    sum: u128,
    max: u64,
}

/// Classes per doubling above the exact part: each is at most 1/128 wide.
const STEPS: u32 = 7;

impl Histogram {
    /// Values below this are counted one by one.
    pub const EXACT: u64 = 1 << 16;

    /// Adds one value.
    pub fn add(&mut self, value: u64) {
        let class = class(value);
        if self.counts.len() <= class {
            self.counts.resize(class + 1, 0);
        }
        self.counts[class] += 1;
        self.total += 1;
        self.sum += u128::from(value);
        self.max = self.max.max(value);
    }

    /// Adds all of another's values.
    pub fn merge(&mut self, other: &Histogram) {
        if self.counts.len() < other.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        for (count, more) in self.counts.iter_mut().zip(&other.counts) {
            *count += more;
        }
        self.total += other.total;
        self.sum += other.sum;
        self.max = self.max.max(other.max);
    }

    /// The smallest value that at least `percent` of all values do not exceed; above the exact part, the lower
    /// end of its class. 0 without values.
    pub fn percentile(&self, percent: u64) -> u64 {
        if percent >= 100 {
            return self.max;
        }
        let wanted = (u128::from(self.total) * u128::from(percent)).div_ceil(100).max(1);
        let mut seen = 0u128;
        let reached = self.counts.iter().position(|&count| {
            seen += u128::from(count);
            seen >= wanted
        });
        reached.map_or(0, |class| lower_end(class).min(self.max))
    }

    /// The mean; 0 without values.
    pub fn mean(&self) -> f64 {
        if self.total == 0 { 0.0 } else { self.sum as f64 / self.total as f64 }
    }
}

fn class(value: u64) -> usize {
    if value < Histogram::EXACT {
        return value as usize;
    }
    let doublings = value.ilog2() - Histogram::EXACT.ilog2();
    let step = (value >> (value.ilog2() - STEPS)) & ((1 << STEPS) - 1);
    (Histogram::EXACT + (u64::from(doublings) << STEPS) + step) as usize
}

fn lower_end(class: usize) -> u64 {
    let class = class as u64;
    if class < Histogram::EXACT {
        return class;
    }
    let beyond = class - Histogram::EXACT;
    let doublings = beyond >> STEPS;
    let step = beyond & ((1 << STEPS) - 1);
    ((1 << STEPS) + step) << (u64::from(Histogram::EXACT.ilog2() - STEPS) + doublings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_values_are_exact() {
        let mut histogram = Histogram::default();
        (0..1000).for_each(|value| histogram.add(value));
        assert_eq!(histogram.percentile(50), 499);
        assert_eq!(histogram.percentile(1), 9);
        assert_eq!(histogram.percentile(100), 999);
        assert_eq!(histogram.mean(), 499.5);
        assert_eq!(Histogram::default().percentile(50), 0);
    }

    #[test]
    fn large_values_are_within_a_percent() {
        for value in [65_536u64, 65_537, 100_000, 1_234_567, u32::MAX.into(), u64::MAX] {
            let mut histogram = Histogram::default();
            histogram.add(value);
            histogram.add(u64::MAX);
            let found = histogram.percentile(50);
            assert!(found <= value && (value - found) as f64 <= 0.01 * value as f64, "{value} {found}");
        }
    }

    #[test]
    fn merging_equals_adding() {
        let (mut left, mut right, mut all) =
            (Histogram::default(), Histogram::default(), Histogram::default());
        for value in [1, 5, 70_000, 3, 9_000_000] {
            if value % 2 == 0 {
                left.add(value)
            } else {
                right.add(value)
            }
            all.add(value);
        }
        left.merge(&right);
        assert!((0..=100).all(|percent| left.percentile(percent) == all.percentile(percent)));
    }
}
