//! Independent walkers that take turns: to a random neighbour, not straight back, or by the rule of Metropolis and Hastings.

use super::neighbour_cache::NeighbourCache;
use super::web::Walkable;
use super::{Budget, Sample, Walk};
use crate::CensusError;
use crate::random::Random;

/// The rule by which a walker chooses its next page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// A random neighbour.
    Plain,
    /// Not the page that it came from, unless there is no other (Lee, Xu and Eun 2012).
    NonBacktracking,
    /// A random neighbour `v` of `u`, accepted with probability `min(1, d_u/d_v)`; else it stays, which counts as a visit.
    Metropolis,
}

struct Walker {
    page: u32,
    previous: Option<u32>,
    steps: u32,
}

/// Walks from all seeds in turn.
pub fn walk<W: Walkable>(
    cache: &mut NeighbourCache<'_, W>,
    rule: Rule,
    seeds: &[u32],
    budget: Budget,
    random: &mut Random,
) -> Result<Walk, CensusError> {
    let (starts, lost_seeds) = cache.starts(seeds, budget.walking())?;
    let begin = |page| Walker { page, previous: None, steps: 0 };
    let mut walkers: Vec<Walker> = starts.iter().map(|start| begin(start.page)).collect();
    let mut samples = Vec::new();
    let (mut steps, mut turn) = (0, 0);
    while cache.fetched() < budget.walking() && steps < budget.steps {
        let walker = &mut walkers[turn];
        step(cache, rule, walker, random);
        let degree = cache.list(walker.page).len() as u32;
        let weight = if rule == Rule::Metropolis { 1.0 } else { 1.0 / f64::from(degree.max(1)) };
        samples.push(Sample { page: walker.page, degree, walker: turn as u32, step: walker.steps, weight });
        steps += 1;
        turn = (turn + 1) % walkers.len();
    }
    Ok(Walk { samples, starts, lost_seeds, steps, ..Walk::default() })
}

/// One step; a walker whose neighbours have all failed stays where it is.
fn step<W: Walkable>(
    cache: &mut NeighbourCache<'_, W>,
    rule: Rule,
    walker: &mut Walker,
    random: &mut Random,
) {
    walker.steps += 1;
    let page = walker.page;
    while let Some(next) = choose(cache.list(page), rule, walker.previous, random) {
        if !cache.visit(next) {
            cache.remove_neighbour(page, next);
            continue;
        }
        let (own, others) = (cache.list(page).len() as f64, cache.list(next).len() as f64);
        if rule == Rule::Metropolis && !random.chance(own / others.max(1.0)) {
            return;
        }
        walker.previous = Some(page);
        walker.page = next;
        return;
    }
}

fn choose(list: &[u32], rule: Rule, previous: Option<u32>, random: &mut Random) -> Option<u32> {
    let barred = previous.filter(|_| rule == Rule::NonBacktracking && list.len() > 1);
    let Some(place) = barred.and_then(|previous| list.binary_search(&previous).ok()) else {
        return random.pick(list).copied();
    };
    let other = random.below(list.len() - 1);
    Some(list[other + usize::from(other >= place)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_back_is_taken_only_when_there_is_no_other() {
        let mut random = Random::new(1);
        let mut seen = [0; 3];
        for _ in 0..3_000 {
            let next = choose(&[4, 6, 8], Rule::NonBacktracking, Some(6), &mut random).unwrap();
            seen[(next as usize - 4) / 2] += 1;
        }
        assert!(seen[1] == 0 && (1_350..1_650).contains(&seen[0]), "{seen:?}");
        assert_eq!(choose(&[6], Rule::NonBacktracking, Some(6), &mut random), Some(6));
        assert_eq!(choose(&[], Rule::Plain, None, &mut random), None);
    }
}
