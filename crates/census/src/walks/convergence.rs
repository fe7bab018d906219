//! The decision whether to answer at all.
//!
//! A web hardly mixes: a walker stays on its site for longer than anyone pays for. An answer can still be right, if the seeds
//! were fair: walkers of [frontier sampling](super::frontier) from uniform seeds are at rest from the first step on, and stay so. Thus
//! it is no sign of trouble that walkers differ from each other, and the usual tests for chains, which ask whether each chain has
//! seen everything, would refuse every answer ([`Convergence::shrink_factor`] is theirs, and [`Convergence::memory`] says how far
//! walkers are from having seen everything; neither refuses). The question is another one: *is what the walkers see at rest?* If it
//! is, then
//!
//! - pages that one half of the walkers knows of are visited by the other half as often as they are many, whether they are listed
//!   again and again, listed once, or were found by [probes](super::probes) alone (`listed once`, `probed`);
//! - there are no more pages known than the size says (`known`);
//! - the size from early visits is that from late ones (`growth`): in a reversible walk from seeds of one corner, walkers meet less and
//!   less often, and never more often;
//! - walkers whose seeds stand next to each other in the list meet no more often than others (`groups`): two crawls one behind
//!   the other, or a list in the order of a crawl, fall apart here;
//! - means of degrees and of labels do not move between the first and the last quarter (`drift`, after Geweke 1992), and the seeds
//!   themselves have the mean of the late visits, unless walkers have forgotten them (`seeds`).
//!
//! Errors are those between walkers, so that they are right where walkers are stuck. Limits are [`LISTED_ONCE_LIMIT`],
//! [`PROBED_LIMIT`], [`GROWTH_LIMIT`] and [`DIFFERENCE_LIMIT`]: about one fair run in a hundred is refused by all checks together.
//!
//! # What it sees, measured
//!
//! Seeds out of a breadth-first crawl of 6 % of the pages, 512 of them in no order, refused runs; in brackets uniform seeds:
//!
//! | web | at 10,000 fetches | at 30,000 |
//! | --- | --- | --- |
//! | cnr-2000, a real crawl of 325,557 pages | 39 of 40 (0) | 38 of 40 (0) |
//! | sites, 325,000 pages, a third of the links between them | 59 of 60 (0) | 60 of 60 (0) |
//! | sites, 100,000 pages | 60 of 60 (0) | 60 of 60 (0) |
//! | sites, 1,000,000 pages | 43 of 60 (0) | 60 of 60 (0) |
//! | copying, 325,000 pages, three kinds | 180 of 180 (0) | 180 of 180 (0) |
//!
//! The sizes refused were too small by a factor of 1.7 to 16. The limits were chosen on cnr-2000 and on other webs of the two made-up
//! kinds, so that only the latter rows are a test on new data. What tells are the visits to pages that are hardly known and the number
//! of known pages;
//! `growth`, `drift` and `groups` see little by themselves. It takes probes of a few percent of the corner that the walkers are
//! caught in: a million pages, and with them the corner, want more than 10,000 fetches.
//!
//! With 3,000 fetches or with 128 seeds half of the bad runs would pass, and of single walks most; that is why fewer than [`LEAST_SEEDS`]
//! seeds and [`LEAST_PROBES`] probed pages are refused without a look, unless nearly all pages that are known were fetched, or nothing was
//! left to probe. Seeds that are drawn by links are refused even where the size would be right.
//!
//! # What it cannot see
//!
//! - A part of the web that no link leads to or from, or none that probes came upon: a corner of many times the pages that were probed,
//!   with few ways out, looks like the world.
//! - Seeds that are uniform over a part with many ways out are found out sooner; seeds that favour some pages everywhere alike, and not
//!   by their degree, are not.
//! - That in-links are missing in a way that depends on the page, or that pages are made up for the walker (traps).

use std::collections::HashSet;

use serde::Serialize;

use super::clusters::{Clusters, Kind, Ratio, error};
use super::known_region::{Evidence, KnownRegion, fetchable, known_pages};
use super::neighbour_cache::PageMap;
use super::pairs::Pairs;
use super::{Sample, Walk, size};

/// Standard errors from which on pages that are listed once count as neglected, as the mean of both sides: the sides tell of the same
/// nearness, so that they are no two witnesses.
pub const LISTED_ONCE_LIMIT: f64 = 2.5;
/// The same for pages that probes found. Few of them are visited, and their error is set rather too large; from fair seeds the
/// mean stays within half of one.
pub const PROBED_LIMIT: f64 = 2.0;
/// Standard errors from which on a size grows.
pub const GROWTH_LIMIT: f64 = 3.0;
/// Standard errors from which on other differences count, of which many are looked at.
pub const DIFFERENCE_LIMIT: f64 = 3.5;
/// Seeds that an answer needs: between fewer walkers the errors are so large that bad seeds pass too often.
pub const LEAST_SEEDS: usize = 400;
/// Probed pages that an answer needs.
pub const LEAST_PROBES: u64 = 1_400;
/// Pages known and not fetched, as a share, below which a walk has seen everything and needs neither.
const UNSEEN_SHARE: f64 = 0.05;
/// Quarters of the walk.
const QUARTERS: usize = 4;
/// Groups of walkers, of which one is left out at a time.
const GROUPS: usize = 16;
/// The largest [`Convergence::memory`] at which walkers have forgotten their seeds.
pub(super) const FORGOTTEN_LIMIT: f64 = 1.25;

/// The verdict.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Nothing was found that speaks against an answer.
    Converged,
    /// There should be none.
    Refused {
        /// The reasons, in sentences.
        reasons: Vec<String>,
    },
}

/// One check of a walk.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Check {
    /// The name of the check.
    pub name: String,
    /// The measured value: mostly a difference in standard errors.
    pub found: f64,
    /// The limit beyond which it speaks against an answer.
    pub limit: f64,
    /// The reason for a refusal, if the check refuses.
    pub refused: Option<String>,
}

/// The verdict and what it rests on.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Convergence {
    /// The verdict.
    pub outcome: Outcome,
    /// All checks.
    pub checks: Vec<Check>,
    /// The frequency of late returns of walkers to their own early pages, divided by that to the pages of others. About 1 if
    /// walkers have forgotten where they began; else the answer rests on the seeds. None if it cannot be measured.
    pub memory: Option<f64>,
    /// Between-walker against within-walker variance of the logarithm of the degree, after Gelman and Rubin (1992).
    pub shrink_factor: Option<f64>,
}

impl Convergence {
    /// True when there may be an answer.
    pub fn converged(&self) -> bool {
        self.outcome == Outcome::Converged
    }
}

/// Checks a walk, and the means of numbers that are known of pages, by name.
pub fn check_convergence(walk: &Walk, labels: &[(String, Vec<f64>)]) -> Convergence {
    let clusters = Clusters::new(&walk.samples, walk.starts.len());
    let memory = memory(walk);
    let mut checks = sample_size_checks(walk);
    checks.extend(evidence_checks(walk, &clusters));
    checks.extend(known_pages_check(walk));
    checks.extend(growth(walk));
    checks.extend(groups(walk));
    checks.extend(drift(walk, &clusters, "logarithm of the degree", log_degree));
    checks.extend(drift(walk, &clusters, "inverse of the degree", inverse_degree));
    for (name, numbers) in labels {
        let number = |sample: &Sample| numbers.get(sample.page as usize).copied().unwrap_or(f64::NAN);
        checks.extend(drift(walk, &clusters, name, number));
    }
    if memory.is_none_or(|memory| memory > FORGOTTEN_LIMIT) {
        checks.extend(seeds(walk, &clusters, "logarithm of the degree", log_degree));
        checks.extend(seeds(walk, &clusters, "inverse of the degree", inverse_degree));
    }
    let reasons: Vec<String> = checks.iter().filter_map(|check| check.refused.clone()).collect();
    let outcome = if reasons.is_empty() { Outcome::Converged } else { Outcome::Refused { reasons } };
    Convergence { outcome, checks, memory, shrink_factor: shrink_factor(walk) }
}

fn log_degree(sample: &Sample) -> f64 {
    f64::from(sample.degree.max(1)).ln()
}

fn inverse_degree(sample: &Sample) -> f64 {
    1.0 / f64::from(sample.degree.max(1))
}

impl Check {
    fn new(name: impl Into<String>, found: f64, limit: f64) -> Self {
        Check { name: name.into(), found, limit, refused: None }
    }

    fn refuse_if(mut self, refuse: bool, why: impl FnOnce() -> String) -> Self {
        self.refused = refuse.then(why);
        self
    }
}

/// Checks if there were enough seeds and probes to judge by.
fn sample_size_checks(walk: &Walk) -> Vec<Check> {
    let known = known_pages(walk);
    let fetched = walk.fetched - walk.failures;
    let whole = !walk.lists.is_empty() && known.saturating_sub(fetched) as f64 <= UNSEEN_SHARE * known as f64;
    // A page that is named again and again vouches once.
    let starts = walk.starts.iter().map(|start| start.page).collect::<HashSet<u32>>().len();
    let probed = walk.fetched - walk.walked;
    vec![
        Check::new("number of seeds", starts as f64, LEAST_SEEDS as f64).refuse_if(starts < LEAST_SEEDS && !whole, || {
            format!(
                "The walk began at {starts} pages, and fewer than {LEAST_SEEDS} cannot vouch for a web whose parts hardly link to each \
                 other; name more seeds, from as many places as there are."
            )
        }),
        Check::new("number of probes", probed as f64, LEAST_PROBES as f64).refuse_if(probed < LEAST_PROBES && !whole && !walk.explored, || {
            format!(
                "Ways out of what the walkers visit were looked for on {probed} pages, and on fewer than {LEAST_PROBES} they are overlooked too \
                 often; allow more fetches."
            )
        }),
    ]
}

/// Checks if pages that are hardly known are visited as often as those that are known well.
fn evidence_checks(walk: &Walk, clusters: &Clusters) -> Vec<Check> {
    let sides = [0, 1].map(|side| KnownRegion::of(walk, side, clusters));
    let check = |(name, evidence, limit, which): (&str, Evidence, f64, &str)| {
        let errors: Vec<f64> = sides.iter().flatten().filter_map(|side| side.neglect(evidence)).collect();
        let found = errors.iter().sum::<f64>() / errors.len() as f64;
        (!errors.is_empty()).then(|| {
            Check::new(name, found, limit).refuse_if(found > limit, || {
                format!(
                    "Pages that {which} are visited less often than they should be, by {found:.1} standard errors, so that the walkers keep \
                     to a part of what is known to be there; begin at seeds from elsewhere, or walk much longer."
                )
            })
        })
    };
    let kinds = [
        ("listed once", Evidence::ListedOnce, LISTED_ONCE_LIMIT, "one visited page links to"),
        ("probed", Evidence::Probed, PROBED_LIMIT, "probes found beyond the walk"),
    ];
    kinds.into_iter().filter_map(check).collect()
}

/// Checks if more pages are known than there can be.
fn known_pages_check(walk: &Walk) -> Option<Check> {
    let most = size::by_meetings(walk, size::MARGIN)?.interval.1;
    let known = known_pages(walk) as f64 * fetchable(walk);
    (!walk.lists.is_empty()).then(|| {
        Check::new("known", known, most).refuse_if(known > most, || {
            format!(
                "{known:.0} pages are known to be there, and by the visits that met there are {most:.0} at most, so that the walkers \
                 keep to a part of them; begin at seeds from elsewhere, or walk much longer."
            )
        })
    })
}

/// Checks if walkers still spread.
fn growth(walk: &Walk) -> Option<Check> {
    let total = walk.samples.len();
    let cell =
        |place: usize, sample: &Sample| group(walk, place, sample) * QUARTERS + place * QUARTERS / total;
    let pairs = Pairs::meetings(&walk.samples, size::MARGIN, GROUPS * QUARTERS, cell);
    let (grown, error) = jackknife(|out| {
        let at = |time: usize| {
            pairs.log_ratio(|one, other| {
                let wanted = |cell: usize| cell % QUARTERS == time && Some(cell / QUARTERS) != out;
                wanted(one) && wanted(other)
            })
        };
        Some(at(QUARTERS - 1)? - at(0)?)
    })?;
    let found = grown / error;
    // A growth of a few percent changes no answer, however certain it is.
    Some(Check::new("growth", found, GROWTH_LIMIT).refuse_if(found > GROWTH_LIMIT && grown > 0.05, || {
        format!(
            "The size by the visits of the last quarter is {:.2} times that by the first, so that the walkers still spread; walk longer.",
            grown.exp()
        )
    }))
}

/// Checks if walkers whose seeds are next to each other in the list meet more often than others.
fn groups(walk: &Walk) -> Option<Check> {
    let walkers = walk.starts.len();
    if walkers < 2 * GROUPS {
        return None;
    }
    let cell = |_: usize, sample: &Sample| sample.walker as usize * GROUPS / walkers;
    let pairs = Pairs::meetings(&walk.samples, u32::MAX, GROUPS, cell);
    let (apart, error) = jackknife(|out| {
        let kept = |one: usize, other: usize| Some(one) != out && Some(other) != out;
        let between = pairs.log_ratio(|one, other| kept(one, other) && one != other)?;
        Some(between - pairs.log_ratio(|one, other| kept(one, other) && one == other)?)
    })?;
    let found = apart / error;
    Some(Check::new("groups", found, DIFFERENCE_LIMIT).refuse_if(found > DIFFERENCE_LIMIT && apart > 0.1, || {
        format!(
            "Walkers from seeds that stand together in the list meet {:.2} times as often as others, so that different seeds see different \
             parts; mix in seeds from elsewhere, or walk much longer.",
            apart.exp()
        )
    }))
}

/// Checks if the mean of a number moves between the first and the last quarter.
fn drift(walk: &Walk, clusters: &Clusters, name: &str, number: impl Fn(&Sample) -> f64) -> Option<Check> {
    let total = walk.samples.len();
    let mut ends = [Ratio::new(clusters.count), Ratio::new(clusters.count)];
    for (place, sample) in walk.samples.iter().enumerate() {
        let (value, time) = (number(sample), place * QUARTERS / total);
        if !value.is_nan() && (time == 0 || time == QUARTERS - 1) {
            ends[usize::from(time > 0)].add(clusters.of[place], sample.weight * value, sample.weight);
        }
    }
    let found = standardised_difference(&ends)?;
    Some(Check::new(format!("drift: {name}"), found, DIFFERENCE_LIMIT).refuse_if(found.abs() > DIFFERENCE_LIMIT, || {
        format!(
            "The mean of {name} moves by {:.1} standard errors between the first and the last quarter of the walk; walk longer.",
            found.abs()
        )
    }))
}

/// Checks if the seeds are like the pages that walkers are at later; only for walks in which uniform seeds would be.
fn seeds(walk: &Walk, clusters: &Clusters, name: &str, number: impl Fn(&Sample) -> f64) -> Option<Check> {
    if !walk.starts_stationary || clusters.kind != Kind::Walkers {
        return None;
    }
    let mut ends = [Ratio::new(clusters.count), Ratio::new(clusters.count)];
    for (walker, start) in (0..).zip(&walk.starts) {
        let seed = Sample { page: start.page, degree: start.degree, walker, step: 0, weight: 1.0 };
        ends[0].add(walker, number(&seed), 1.0);
    }
    let late = walk.samples.iter().zip(&clusters.of).skip(walk.samples.len() / 2);
    for (sample, &cluster) in late {
        ends[1].add(cluster, sample.weight * number(sample), sample.weight);
    }
    let found = standardised_difference(&ends)?;
    Some(Check::new(format!("seeds: {name}"), found, DIFFERENCE_LIMIT).refuse_if(found.abs() > DIFFERENCE_LIMIT, || {
        format!(
            "The mean of {name} over the seeds is {:.1} standard errors from that over the pages that walkers were at later, and they \
             have not forgotten the seeds; choose seeds with less regard to their links.",
            found.abs()
        )
    }))
}

/// Returns the number of standard errors by which the second ratio is larger than the first, where clusters contribute to both.
fn standardised_difference(ends: &[Ratio; 2]) -> Option<f64> {
    let (early, late) = (ends[0].residuals()?, ends[1].residuals()?);
    let residuals: Vec<f64> = late.iter().zip(&early).map(|(late, early)| late - early).collect();
    let error = error(&residuals, ends[0].filled().min(ends[1].filled()))?;
    (error > 0.0).then_some((ends[1].value()? - ends[0].value()?) / error)
}

/// Returns the group that a sample is left out with: walkers by turns, or, of few, stretches of their paths.
fn group(walk: &Walk, place: usize, sample: &Sample) -> usize {
    match walk.starts.len() {
        walkers if walkers >= GROUPS => sample.walker as usize % GROUPS,
        _ => (place * GROUPS * QUARTERS / walk.samples.len()) % GROUPS,
    }
}

/// Returns a value, and its error from leaving groups out; none if it is undefined without one of them.
fn jackknife(value: impl Fn(Option<usize>) -> Option<f64>) -> Option<(f64, f64)> {
    let whole = value(None)?;
    let parts: Option<Vec<f64>> = (0..GROUPS).map(|out| value(Some(out))).collect();
    let parts = parts?;
    let n = GROUPS as f64;
    let mean = parts.iter().sum::<f64>() / n;
    let error = (parts.iter().map(|part| (part - mean).powi(2)).sum::<f64>() * (n - 1.0) / n).sqrt();
    (error > 0.0).then_some((whole, error))
}

/// Returns the frequency of returns of walkers in their last third to the pages of their own first third, divided by that to the
/// pages of others.
fn memory(walk: &Walk) -> Option<f64> {
    let mut paths: Vec<Vec<&Sample>> = vec![Vec::new(); walk.starts.len()];
    for sample in &walk.samples {
        paths.get_mut(sample.walker as usize)?.push(sample);
    }
    let (mut chances, mut meetings) = (0.0, 0.0);
    for path in paths {
        let third = path.len() / 3;
        let (early, late) = (&path[..third], &path[path.len() - third..]);
        let mut visits: PageMap<f64> = PageMap::default();
        early.iter().for_each(|sample| *visits.entry(sample.page).or_default() += 1.0);
        let up: f64 = early.iter().map(|sample| 1.0 / sample.weight).sum();
        chances += up * late.iter().map(|sample| sample.weight).sum::<f64>();
        meetings += late.iter().filter_map(|sample| visits.get(&sample.page)).sum::<f64>();
    }
    let (all_chances, all_meetings) =
        Pairs::meetings(&walk.samples, size::MARGIN, 1, |_, _| 0).sums(|_, _| true);
    let wanted = chances * all_meetings / all_chances;
    // With less than a few it may be chance.
    (wanted > 10.0 || meetings > 10.0 * wanted.max(1.0)).then_some(meetings / wanted)
}

/// Gelman and Rubin's factor for the logarithm of the degree.
fn shrink_factor(walk: &Walk) -> Option<f64> {
    let mut sums = vec![(0.0, 0.0, 0.0); walk.starts.len()];
    for sample in &walk.samples {
        let (value, sums) = (log_degree(sample), sums.get_mut(sample.walker as usize)?);
        *sums = (sums.0 + 1.0, sums.1 + value, sums.2 + value * value);
    }
    sums.retain(|&(count, ..)| count > 1.0);
    if sums.len() < 2 {
        return None;
    }
    let walkers = sums.len() as f64;
    let length = sums.iter().map(|(count, ..)| count).sum::<f64>() / walkers;
    let spread = |&(count, sum, squares): &(f64, f64, f64)| (squares - sum * sum / count) / (count - 1.0);
    let within = sums.iter().map(spread).sum::<f64>() / walkers;
    let mean = sums.iter().map(|(count, sum, _)| sum / count).sum::<f64>() / walkers;
    let between =
        sums.iter().map(|(count, sum, _)| (sum / count - mean).powi(2)).sum::<f64>() / (walkers - 1.0);
    (within > 0.0).then(|| (((length - 1.0) / length * within + between) / within).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Graph;
    use crate::random::Random;
    use crate::simulation::{CopyingPlan, Sites, SitesPlan, copying_web};
    use crate::walks::{Budget, LinkedWeb, Method, seeds, walk};

    const RUNS: u64 = 8;

    /// Returns the number of runs that are answered.
    fn answered(
        graph: &Graph,
        method: Method,
        fetches: u64,
        choose: impl Fn(&mut Random) -> Vec<u32>,
    ) -> usize {
        let back = graph.transposed();
        let run = |run: u64| {
            let seeds = choose(&mut Random::part(77, run));
            let budget = Budget { steps: 10 * fetches, ..Budget::fetches(fetches) };
            let walked = walk(&mut LinkedWeb::new(graph, &back), method, &seeds, budget, run).unwrap();
            check_convergence(&walked, &[]).converged()
        };
        (0..RUNS).filter(|&number| run(number)).count()
    }

    #[test]
    fn seeds_of_a_crawl_are_refused_and_uniform_ones_are_not() {
        let sites = Sites::new(SitesPlan { pages: 150_000, sites: 1_000, ..SitesPlan::default() }).graph;
        let copied = copying_web(CopyingPlan { pages: 150_000, ..CopyingPlan::default() });
        for graph in [sites, copied] {
            let uniform = |random: &mut Random| seeds::uniform(graph.nodes(), 512, random);
            let fair = answered(&graph, Method::Frontier, 8_000, uniform);
            assert!(fair >= 7, "{fair} of {RUNS}");
            let crawl = |random: &mut Random| {
                let mut seeds = seeds::of_a_crawl(&graph, graph.nodes() * 6 / 100, 512, random).unwrap();
                // Without the order of the crawl, which would tell by itself.
                for place in (1..seeds.len()).rev() {
                    seeds.swap(place, random.below(place + 1));
                }
                seeds
            };
            let bad = answered(&graph, Method::Frontier, 8_000, crawl);
            assert!(bad <= 1, "{bad} of {RUNS}");
            let single = answered(&graph, Method::Reweighted, 8_000, |random| {
                seeds::of_a_crawl(&graph, 50, 1, random).unwrap()
            });
            assert_eq!(single, 0);
        }
    }

    #[test]
    fn two_lists_one_behind_the_other_fall_apart() {
        // Two parts of the same make with one link between them, and the seeds of one before those of the other.
        let mut random = Random::new(5);
        let mut arcs = vec![(0, 5_000)];
        for part in [0, 5_000] {
            for _ in 0..25_000 {
                arcs.push((part + random.below(5_000) as u32, part + random.below(5_000) as u32));
            }
        }
        let graph = Graph::of_arcs(10_000, &arcs);
        let back = graph.transposed();
        let judged = |seeds: &[u32]| {
            let budget = Budget { fetches: 8_000, steps: 8_000, probes: 1_600 };
            let walked =
                walk(&mut LinkedWeb::new(&graph, &back), Method::Frontier, seeds, budget, 3).unwrap();
            let convergence = check_convergence(&walked, &[]);
            convergence.checks.into_iter().find(|check| check.name == "groups").unwrap()
        };
        let mut seeds: Vec<u32> =
            (0..512).map(|place| random.below(5_000) as u32 + 5_000 * (place / 256)).collect();
        let apart = judged(&seeds);
        assert!(apart.found > 2.0 * DIFFERENCE_LIMIT && apart.refused.is_some(), "{apart:?}");
        for place in (1..seeds.len()).rev() {
            seeds.swap(place, random.below(place + 1));
        }
        let mixed = judged(&seeds);
        assert!(mixed.found.abs() < DIFFERENCE_LIMIT && mixed.refused.is_none(), "{mixed:?}");
    }

    #[test]
    fn a_label_that_moves_is_seen_and_one_that_does_not_is_not() {
        let mut random = Random::new(2);
        let arcs: Vec<(u32, u32)> =
            (0..40_000).map(|_| (random.below(8_000) as u32, random.below(8_000) as u32)).collect();
        let graph = Graph::of_arcs(8_000, &arcs);
        let back = graph.transposed();
        let seeds = seeds::uniform(8_000, 512, &mut random);
        let budget = Budget::fetches(7_500);
        let walked = walk(&mut LinkedWeb::new(&graph, &back), Method::Frontier, &seeds, budget, 3).unwrap();
        let numbers: Vec<f64> = (0..8_000).map(|page| f64::from(page % 7)).collect();
        let convergence = check_convergence(&walked, &[("seventh".to_owned(), numbers)]);
        assert!(convergence.converged(), "{:?}", convergence.outcome);
        // Pages that were first visited in the second half.
        let mut late = vec![1.0; 8_000];
        let early = &walked.samples[..walked.samples.len() / 2];
        early.iter().for_each(|sample| late[sample.page as usize] = 0.0);
        let convergence = check_convergence(&walked, &[("lateness".to_owned(), late)]);
        assert!(
            convergence.checks.iter().any(|check| check.name == "drift: lateness" && check.refused.is_some())
        );
        assert!(!convergence.converged());
    }

    #[test]
    fn walkers_forget_on_a_random_graph_and_not_on_sites() {
        let mut random = Random::new(6);
        let arcs: Vec<(u32, u32)> =
            (0..40_000).map(|_| (random.below(8_000) as u32, random.below(8_000) as u32)).collect();
        let fast = Graph::of_arcs(8_000, &arcs);
        let slow = Sites::new(SitesPlan { pages: 8_000, sites: 100, ..SitesPlan::default() }).graph;
        let [fast, slow] = [fast, slow].map(|graph| {
            let back = graph.transposed();
            let seeds = seeds::uniform(8_000, 20, &mut random);
            let budget = Budget { fetches: 8_000, steps: 12_000, probes: 0 };
            let walked =
                walk(&mut LinkedWeb::new(&graph, &back), Method::Frontier, &seeds, budget, 3).unwrap();
            check_convergence(&walked, &[])
        });
        let memory = fast.memory.unwrap();
        assert!(memory < FORGOTTEN_LIMIT && memory > 0.7 && fast.shrink_factor.unwrap() < 1.05, "{memory}");
        let memory = slow.memory.unwrap();
        // Degrees are much the same on every site, so that their factor sees nothing.
        assert!(memory > 5.0 && slow.shrink_factor.unwrap() < 1.1, "{memory} {:?}", slow.shrink_factor);
    }

    #[test]
    fn a_small_web_that_was_seen_whole_needs_no_crowd_of_seeds() {
        let graph =
            Sites::new(SitesPlan { pages: 600, sites: 12, outward: 0.1, ..SitesPlan::default() }).graph;
        let back = graph.transposed();
        let seeds = seeds::uniform(600, 40, &mut Random::new(1));
        let budget = Budget { fetches: 1_000, steps: 60_000, probes: 200 };
        let walked = walk(&mut LinkedWeb::new(&graph, &back), Method::Frontier, &seeds, budget, 1).unwrap();
        let convergence = check_convergence(&walked, &[]);
        assert!(convergence.checks[..2].iter().all(|check| check.refused.is_none()), "{convergence:?}");
    }
}
