//! The counts of verification, and the sample of pairs that a person is shown.

use lookalike_hash::mix;
use lookalike_model::{DocNumber, Pair};
use serde::{Deserialize, Serialize};

/// Bars of the histogram: similarity in hundredths.
pub(crate) const BARS: usize = 100;

/// Pairs kept of each kind.
const SAMPLES: usize = 16;

/// A pair to be shown.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Sample {
    pub(crate) a: DocNumber,
    pub(crate) b: DocNumber,
    pub(crate) similarity: f64,
}

impl Sample {
    /// Returns a hash of the pair, the same whenever and wherever it was measured.
    fn sampling_hash(&self) -> u64 {
        mix(Pair::ordered(self.a, self.b).pack())
    }
}

/// Counts of verification.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Tally {
    /// Pairs that were measured.
    pub(crate) verified: u64,
    /// Pairs that reached the threshold.
    pub(crate) reached: u64,
    /// Pairs measured while documents were decided.
    pub(crate) hops: u64,
    /// Pairs by similarity in hundredths; those given up early are in none.
    pub(crate) histogram: Vec<u64>,
    /// Drawn by lot from those that reached the threshold.
    pub(crate) random: Vec<Sample>,
    /// The nearest to the threshold, above it.
    pub(crate) above: Vec<Sample>,
    /// The nearest to the threshold, below it.
    pub(crate) below: Vec<Sample>,
}

impl Default for Tally {
    fn default() -> Self {
        Tally {
            verified: 0,
            reached: 0,
            hops: 0,
            // A similarity of 1 has a bar of its own, behind those of all hundredths below it.
            histogram: vec![0; BARS + 1],
            random: Vec::new(),
            above: Vec::new(),
            below: Vec::new(),
        }
    }
}

impl Tally {
    /// Takes a measured pair into account.
    pub(crate) fn take(&mut self, sample: Sample, reached: bool) {
        let bar = (sample.similarity * BARS as f64).floor().clamp(0.0, BARS as f64) as usize;
        self.histogram[bar] += 1;
        if !reached {
            return self.below.push(sample);
        }
        self.reached += 1;
        self.random.push(sample);
        self.above.push(sample);
    }

    /// Lets go of samples that will not be shown, once there are many.
    pub(crate) fn trim_if_many(&mut self, threshold: f64) {
        // A trim sorts: done so rarely, it costs little for each sample, and a thousand of them take some
        // kilobytes.
        if self.random.len() + self.above.len() + self.below.len() > 64 * SAMPLES {
            self.trim(threshold);
        }
    }

    fn trim(&mut self, threshold: f64) {
        let far = |sample: &Sample| (sample.similarity - threshold).abs();
        let near = |a: &Sample, b: &Sample| {
            far(a).total_cmp(&far(b)).then(a.sampling_hash().cmp(&b.sampling_hash()))
        };
        // A sample is what has the smallest hashes. Dropping the others early or late, here or in another
        // part, leaves the same, so that neither threads nor memory show.
        self.random.sort_unstable_by_key(Sample::sampling_hash);
        self.above.sort_unstable_by(near);
        self.below.sort_unstable_by(near);
        for samples in [&mut self.random, &mut self.above, &mut self.below] {
            samples.truncate(SAMPLES);
        }
    }

    /// Adds what another part of the corpus gave.
    pub(crate) fn merge(&mut self, other: Tally, threshold: f64) {
        self.verified += other.verified;
        self.reached += other.reached;
        self.hops += other.hops;
        self.histogram.iter_mut().zip(&other.histogram).for_each(|(sum, more)| *sum += more);
        self.random.extend(other.random);
        self.above.extend(other.above);
        self.below.extend(other.below);
        self.trim(threshold);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::context::doc;

    #[test]
    fn samples_do_not_depend_on_how_the_work_was_cut() {
        let samples: Vec<Sample> = (0..5000u32)
            .map(|n| Sample {
                a: doc(n),
                b: doc(n + 7),
                similarity: f64::from(mix(n.into()) as u32 % 1001) / 1000.0,
            })
            .collect();
        let gather = |cut: usize| {
            let mut all = Tally::default();
            for part in samples.chunks(cut) {
                let mut tally = Tally::default();
                for &sample in part {
                    tally.take(sample, sample.similarity >= 0.8);
                    tally.trim_if_many(0.8);
                }
                all.merge(tally, 0.8);
            }
            all
        };
        assert_eq!(gather(5000), gather(77));
        let whole = gather(5000);
        assert_eq!(whole.histogram.iter().sum::<u64>(), 5000);
        assert_eq!((whole.random.len(), whole.above.len(), whole.below.len()), (SAMPLES, SAMPLES, SAMPLES));
        assert!(whole.above.iter().all(|sample| sample.similarity < 0.81));
    }

    fn sample(similarity: f64) -> Sample {
        Sample { a: doc(1), b: doc(2), similarity }
    }

    #[test]
    fn pairs_are_counted_by_hundredths() {
        let mut tally = Tally::default();
        for (similarity, reached) in [(0.0, false), (0.799, false), (0.8, true), (0.805, true), (1.0, true)] {
            tally.take(sample(similarity), reached);
        }
        let bars: Vec<(usize, u64)> =
            tally.histogram.iter().copied().enumerate().filter(|(_, count)| *count > 0).collect();
        assert_eq!(bars, [(0, 1), (79, 1), (80, 2), (100, 1)]);
        assert_eq!((tally.reached, tally.random.len(), tally.above.len(), tally.below.len()), (3, 3, 3, 2));
    }

    #[test]
    fn the_nearest_to_the_threshold_are_kept() {
        let mut tally = Tally::default();
        for n in 0..100u32 {
            tally.take(Sample { a: doc(n), b: doc(n + 1), similarity: f64::from(n) / 100.0 }, n >= 50);
        }
        tally.trim(0.5);
        let all = |samples: &[Sample]| samples.iter().map(|sample| sample.a.get()).collect::<Vec<_>>();
        assert_eq!(all(&tally.above), (50..66).collect::<Vec<_>>());
        assert_eq!(all(&tally.below), (34..50).rev().collect::<Vec<_>>());
        assert_eq!(tally.random.len(), SAMPLES);
    }

    #[test]
    fn parts_are_added_up() {
        let part = || {
            let mut tally = Tally { verified: 3, hops: 2, ..Tally::default() };
            tally.take(sample(0.9), true);
            tally
        };
        let mut sum = part();
        sum.merge(part(), 0.8);
        assert_eq!((sum.verified, sum.hops, sum.reached, sum.histogram[90]), (6, 4, 2, 2));
    }
}
