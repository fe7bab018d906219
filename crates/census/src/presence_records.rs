//! The engines that have each of the sampled pages.

/// A sampled page: the engines that were asked for it and answered, and those that have it, as bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PresenceRecord {
    /// Engines that answered; the one that the page was drawn from is always among them.
    pub asked: u64,
    /// Those of them that have it.
    pub found: u64,
}

/// Sampled pages, by the engine that they were drawn from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PresenceRecords {
    /// For each engine the pages drawn from it.
    pub by_engine: Vec<Vec<PresenceRecord>>,
}

/// Shares of the samples of one engine that another has: `f_xy` is the share of pages drawn from `x` that are found in `y`.
#[derive(Debug, Clone, PartialEq)]
pub struct Shares {
    engines: usize,
    values: Vec<Option<f64>>,
}

impl PresenceRecord {
    /// A page of an engine, before others are asked.
    pub fn of(engine: usize) -> Self {
        PresenceRecord { asked: 1 << engine, found: 1 << engine }
    }

    /// Notes what an engine answered.
    pub fn note(&mut self, engine: usize, found: bool) {
        self.asked |= 1 << engine;
        self.found |= u64::from(found) << engine;
    }

    /// Returns the number of engines that have the page; none unless all of the first `engines` answered.
    pub fn multiplicity(&self, engines: usize) -> Option<u32> {
        let all = (1u64 << engines) - 1;
        (self.asked & all == all).then(|| (self.found & all).count_ones())
    }
}

impl PresenceRecords {
    /// Creates an empty record for `engines` engines, at most 63.
    pub fn new(engines: usize) -> Self {
        PresenceRecords { by_engine: vec![Vec::new(); engines.min(63)] }
    }

    /// Number of engines.
    pub fn engines(&self) -> usize {
        self.by_engine.len()
    }

    /// Returns the number of pages drawn from `x` that are in `y`, and the number that `y` answered for.
    pub fn found(&self, x: usize, y: usize) -> (u64, u64) {
        let asked = self.by_engine[x].iter().filter(|record| record.asked >> y & 1 == 1);
        let found = asked.clone().filter(|record| record.found >> y & 1 == 1).count();
        (found as u64, asked.count() as u64)
    }

    /// The shares of all pairs of engines.
    pub fn shares(&self) -> Shares {
        Shares::by(self.engines(), |x, y| {
            let (found, asked) = self.found(x, y);
            (asked > 0).then(|| found as f64 / asked as f64)
        })
    }
}

impl Shares {
    /// Collects the shares that `share` returns for every two engines, the one drawn from first.
    pub fn by(engines: usize, share: impl Fn(usize, usize) -> Option<f64>) -> Self {
        let pairs = (0..engines).flat_map(|x| (0..engines).map(move |y| (x, y)));
        let values = pairs.map(|(x, y)| if x == y { Some(1.0) } else { share(x, y) }).collect();
        Shares { engines, values }
    }

    /// Number of engines.
    pub fn engines(&self) -> usize {
        self.engines
    }

    /// Returns the share of the pages drawn from `x` that are in `y`; none without data.
    pub fn of(&self, x: usize, y: usize) -> Option<f64> {
        self.values[x * self.engines + y]
    }

    /// Every two engines once.
    pub fn pairs(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let engines = self.engines;
        (0..engines).flat_map(move |x| (x + 1..engines).map(move |y| (x, y)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_left_out_of_the_denominator() {
        let mut records = PresenceRecords::new(3);
        for (found, asked) in [(true, true), (false, true), (true, false)] {
            let mut record = PresenceRecord::of(0);
            if asked {
                record.note(1, found);
            }
            record.note(2, true);
            records.by_engine[0].push(record);
        }
        assert_eq!(records.found(0, 1), (1, 2));
        assert_eq!(records.found(0, 2), (3, 3));
        let multiplicities: Vec<_> = records.by_engine[0].iter().map(|s| s.multiplicity(3)).collect();
        assert_eq!(multiplicities, [Some(3), Some(2), None]);
        let shares = records.shares();
        assert_eq!((shares.of(0, 1), shares.of(1, 0), shares.of(2, 2)), (Some(0.5), None, Some(1.0)));
        assert_eq!(shares.pairs().collect::<Vec<_>>(), [(0, 1), (0, 2), (1, 2)]);
    }
}
