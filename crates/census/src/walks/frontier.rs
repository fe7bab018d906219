//! Frontier sampling, after Ribeiro and Towsley (2010): many walkers, of whom one moves at a time, chosen with probability
//! proportional to its neighbours.
//!
//! The same as walkers that know nothing of each other, each leaving its page at a rate of one for every neighbour: such a walker stays
//! longer where there are few ways out, and is in the end as long at every page. From uniform seeds the walkers are at rest from the
//! first step on, however slow the graph. A step costs the logarithm of the number of walkers.

use super::neighbour_cache::NeighbourCache;
use super::web::Walkable;
use super::{Budget, Sample, Walk};
use crate::CensusError;
use crate::random::Random;

/// Walks from all seeds at once.
pub fn walk<W: Walkable>(
    cache: &mut NeighbourCache<'_, W>,
    seeds: &[u32],
    budget: Budget,
    random: &mut Random,
) -> Result<Walk, CensusError> {
    let (starts, lost_seeds) = cache.starts(seeds, budget.walking())?;
    let mut places: Vec<u32> = starts.iter().map(|start| start.page).collect();
    let mut moves = vec![0u32; places.len()];
    let mut weights = FenwickTree::new(starts.iter().map(|start| u64::from(start.degree)));
    let mut samples = Vec::new();
    let mut steps = 0;
    while cache.fetched() < budget.walking() && steps < budget.steps && weights.total() > 0 {
        let walker = weights.find(random.below(weights.total() as usize) as u64);
        let Some(&next) = random.pick(cache.list(places[walker])) else { break };
        if !cache.visit(next) {
            cache.remove_neighbour(places[walker], next);
            weights.set(walker, cache.list(places[walker]).len() as u64);
            continue;
        }
        steps += 1;
        moves[walker] += 1;
        places[walker] = next;
        let degree = cache.list(next).len() as u32;
        weights.set(walker, u64::from(degree));
        let weight = 1.0 / f64::from(degree.max(1));
        samples.push(Sample { page: next, degree, walker: walker as u32, step: moves[walker], weight });
    }
    Ok(Walk { samples, starts, lost_seeds, steps, starts_stationary: true, ..Walk::default() })
}

/// Whole numbers whose sums are kept in a tree, after Fenwick (1994).
#[derive(Debug, Clone)]
struct FenwickTree {
    values: Vec<u64>,
    tree: Vec<u64>,
}

impl FenwickTree {
    fn new(values: impl Iterator<Item = u64>) -> Self {
        let values: Vec<u64> = values.collect();
        let mut sums = FenwickTree { tree: vec![0; values.len() + 1], values: vec![0; values.len()] };
        for (place, value) in values.into_iter().enumerate() {
            sums.set(place, value);
        }
        sums
    }

    fn set(&mut self, place: usize, value: u64) {
        let before = std::mem::replace(&mut self.values[place], value);
        let mut node = place + 1;
        while node < self.tree.len() {
            // Never below 0: the tree has the old value in it.
            self.tree[node] = self.tree[node] + value - before;
            node += node & node.wrapping_neg();
        }
    }

    fn total(&self) -> u64 {
        let (mut sum, mut node) = (0, self.values.len());
        while node > 0 {
            sum += self.tree[node];
            node &= node - 1;
        }
        sum
    }

    /// The first place at which the sum of all up to it is above the lot.
    fn find(&self, mut lot: u64) -> usize {
        let mut place = 0;
        let mut step = self.tree.len().next_power_of_two();
        while step > 0 {
            if place + step < self.tree.len() && self.tree[place + step] <= lot {
                place += step;
                lot -= self.tree[place];
            }
            step /= 2;
        }
        place.min(self.values.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tallies_agree_with_sums_one_by_one() {
        for seed in 0..50 {
            let mut random = Random::new(seed);
            let count = 1 + random.below(40);
            let mut plain: Vec<u64> = (0..count).map(|_| random.below(5) as u64).collect();
            let mut sums = FenwickTree::new(plain.iter().copied());
            for _ in 0..50 {
                let place = random.below(count);
                plain[place] = random.below(9) as u64;
                sums.set(place, plain[place]);
                let total: u64 = plain.iter().sum();
                assert_eq!(sums.total(), total);
                for lot in 0..total {
                    let mut sum = 0;
                    let wanted = plain.iter().position(|value| {
                        sum += value;
                        sum > lot
                    });
                    assert_eq!(Some(sums.find(lot)), wanted);
                }
            }
        }
    }
}
