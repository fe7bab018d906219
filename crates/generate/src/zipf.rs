//! Zipf's law from a table of lots.

const LOTS: u64 = 1 << 15;

/// Draws ranks with probability about 1 / (rank + 2): each rank owns its share of 32,768 equal lots.
#[derive(Debug)]
pub(crate) struct Zipf {
    lots: Vec<u16>,
}

impl Zipf {
    pub(crate) fn new(ranks: u16) -> Self {
        let weight = |rank: u16| (1u64 << 32) / (u64::from(rank) + 2);
        let total: u64 = (0..ranks).map(weight).sum();
        let mut lots = Vec::with_capacity(LOTS as usize);
        let mut sum = 0;
        for rank in 0..ranks {
            sum += weight(rank);
            lots.resize((sum * LOTS / total) as usize, rank);
        }
        Zipf { lots }
    }

    /// A rank, from the lowest bits of `draw`.
    pub(crate) fn rank(&self, draw: u64) -> u16 {
        self.lots.get((draw % LOTS) as usize).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frequent_ranks_own_more_lots() {
        let zipf = Zipf::new(3000);
        let count = |rank| zipf.lots.iter().filter(|&&lot| lot == rank).count();
        assert_eq!(zipf.lots.len(), LOTS as usize);
        assert!(count(0) > 10 * count(40));
        assert!(count(40) > 10 * count(2000));
        assert_eq!(zipf.lots.last(), Some(&2999));
    }
}
