//! WebWalker and Henzinger's walk within a budget of fetches, as samples like all others.
//!
//! Both are written for a number of steps. The same seed walks the same way however long it walks, so that the walk is made longer
//! until it has fetched enough, and then cut where it had, or taken
//! one size shorter.

use std::collections::BTreeSet;

use super::web::Walkable;
use super::{Budget, Sample, Start, Walk};
use crate::CensusError;
use crate::engine::Page;
use crate::henzinger_walk::{HenzingerWalk, VisitProbability, WalkRecord};
use crate::random::Random;
use crate::webwalker::WebWalker;

/// One walk over the regular graph; pages weigh as long as it stayed.
pub fn webwalker<W: Walkable>(
    web: &mut W,
    plan: WebWalker,
    seeds: &[u32],
    budget: Budget,
    seed: u64,
) -> Result<Walk, CensusError> {
    let starts = pages(seeds);
    let mut moves = budget.fetches.min(budget.steps).max(1);
    loop {
        let route = plan.walk(web, &starts, moves as usize, &mut Random::new(seed))?;
        if (route.lists.len() as u64) < budget.fetches && moves < budget.steps {
            moves = (2 * moves).min(budget.steps);
            continue;
        }
        let mut seen = BTreeSet::new();
        let within = route.stays.iter().take_while(|(page, _)| {
            seen.insert(*page);
            seen.len() as u64 <= budget.fetches
        });
        let samples: Vec<Sample> = within
            .zip(1..)
            .map(|(&(page, stay), step)| {
                let degree = route.lists.get(&page).map_or(0, Vec::len) as u32;
                Sample { page: page.0, degree, walker: 0, step, weight: stay as f64 }
            })
            .collect();
        let fetched = (route.lists.len() as u64 + route.failures).min(budget.fetches);
        return Ok(finished(samples, fetched, route.failures));
    }
}

/// One walk along links with jumps; a page is there once, with one over its visit probability as its weight. Pages that fail are
/// asked for each time.
pub fn henzinger<W: Walkable>(
    web: &mut W,
    jump: f64,
    probability: VisitProbability,
    seeds: &[u32],
    budget: Budget,
    seed: u64,
) -> Result<Walk, CensusError> {
    let starts = pages(seeds);
    let mut steps = budget.fetches.min(budget.steps).max(1) as usize;
    let mut within = None;
    loop {
        let (mut record, mut random) = (WalkRecord::default(), Random::new(seed));
        HenzingerWalk { jump, steps, burn_in: 0 }.walk(web, &starts, &mut random, &mut record)?;
        let fetched = record.links.len() as u64 + record.failures;
        let weights = record.weights(probability, jump, &mut random);
        let degree = |page: &Page| record.links.get(page).map_or(0, Vec::len) as u32;
        let weight =
            |page: &Page| weights.binary_search_by_key(page, |pair| pair.0).map_or(0.0, |at| weights[at].1);
        let sample = |(page, step): (&Page, u32)| Sample {
            page: page.0,
            degree: degree(page),
            walker: 0,
            step,
            weight: weight(page),
        };
        let walk = finished(record.order.iter().zip(1..).map(sample).collect(), fetched, record.failures);
        // Which pages were seen last cannot be told, so that the walk is not cut but the one before it is taken.
        if fetched > budget.fetches {
            return Ok(within.unwrap_or(walk));
        }
        if steps as u64 >= budget.steps {
            return Ok(walk);
        }
        within = Some(walk);
        steps = (steps + steps / 8 + 1).min(budget.steps as usize);
    }
}

fn pages(seeds: &[u32]) -> Vec<Page> {
    seeds.iter().copied().map(Page).collect()
}

fn finished(samples: Vec<Sample>, fetched: u64, failures: u64) -> Walk {
    let starts = samples.first().map(|first| Start { page: first.page, degree: first.degree });
    Walk {
        starts: starts.into_iter().collect(),
        steps: samples.len() as u64,
        walked: fetched,
        fetched,
        failures,
        samples,
        ..Walk::default()
    }
}
