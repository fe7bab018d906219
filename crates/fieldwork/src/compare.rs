//! The overlap of engines, and the ratios of their sizes.
//!
//! Pages are drawn from every engine in turn, with the weights that make them uniform, and looked for in all others. `f_xy` is the
//! share of `x` that is in `y`; both directions together give `|x|/|y| = f_yx/f_xy`, whatever the sizes are. The same draws also
//! give each engine's size by itself ([`crate::size`]), and so a second ratio; the two are combined by their errors and their
//! covariance, both from a bootstrap over draws. The overlap needs no pages that cannot be met, the sizes need no page to be found:
//! where one is weak, the other often is not.

use std::collections::{BTreeMap, BTreeSet};

use lookalike_census::sightings::Shares;
use lookalike_census::{Estimate, Random, least_squares};
use lookalike_engines::EngineError;

use crate::FieldError;
use crate::desk::Desk;
use crate::pool;
use crate::presence::{Presence, look_for};
use crate::regression;
use crate::sampling::{Amiss, Draw, Sampler, effective, unheard};
use crate::size::{Plan, enough, lengths};

/// Rounds of the bootstrap.
const ROUNDS: u64 = 300;

/// A page that was drawn from one engine and looked for in the others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Checked {
    /// The number of pages that it stands for.
    pub weight: f64,
    /// Engines that answered, as bits; the one that it was drawn from is always among them.
    pub asked: u64,
    /// Those of them that have it.
    pub found: u64,
}

/// The result of one draw.
#[derive(Debug, Clone, PartialEq)]
pub struct Drawn {
    /// The pages.
    pub pages: Vec<Checked>,
    /// Its estimate of the size of the engine.
    pub size: f64,
    /// The weight of the own documents that its query finds, for [`crate::regression`].
    pub at_home: f64,
}

/// All draws from one engine.
#[derive(Debug, Clone, PartialEq)]
pub struct Side {
    /// The engine's name.
    pub name: String,
    /// Its draws.
    pub draws: Vec<Drawn>,
    /// The mean of `at_home` over all queries of the pool.
    pub known: f64,
    /// The relative error due to pages that no query reaches.
    pub unsure: f64,
    /// Pages that were found under another address.
    pub alike: u64,
    /// Pages that were looked for without an answer.
    pub unknown: u64,
    /// The faults met in sampling.
    pub amiss: Amiss,
}

/// The estimates of a comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// `f_xy` of every two engines, by rows; nothing on the diagonal.
    pub shares: Vec<Vec<Option<Estimate>>>,
    /// Sizes beside the first engine's, from overlaps alone.
    pub by_overlap: Vec<Option<Estimate>>,
    /// The same from each engine's own size.
    pub by_size: Vec<Option<Estimate>>,
    /// Both together.
    pub relative: Vec<Option<Estimate>>,
    /// Pages of each engine.
    pub sizes: Vec<Option<Estimate>>,
    /// All pages of all engines, in units of the first.
    pub union: Option<Estimate>,
    /// Pages by the set of engines that have them, in units of the first: the engines as bits, and the number of pages. Together
    /// they are the union.
    pub parts: Vec<(u64, Estimate)>,
    /// The sum of squares that overlaps leave when all pairs are fitted together.
    pub squares: Option<f64>,
}

/// Draws from all engines in turn until the first has no budget left.
pub fn draw(desks: &mut [Desk<'_>], plan: &Plan) -> Result<Vec<Side>, FieldError> {
    let mut pools = Vec::new();
    for (number, desk) in desks.iter_mut().enumerate() {
        pools.push(pool::explore(desk, &mut Random::part(plan.seed, 2 * number as u64))?);
    }
    let mut samplers: Vec<Sampler<'_>> = pools
        .iter()
        .enumerate()
        .map(|(number, pool)| {
            Sampler::new(pool, plan.looked_at, Random::part(plan.seed, 2 * number as u64 + 1))
        })
        .collect();
    let mut draws: Vec<Vec<(Draw, Vec<Checked>)>> = vec![Vec::new(); desks.len()];
    let mut told = vec![(0, 0); desks.len()];
    'all: for _ in 0..plan.draws {
        for engine in 0..desks.len() {
            match one(desks, &mut samplers[engine], engine, &mut told[engine]) {
                Ok(drawn) => draws[engine].push(drawn),
                Err(EngineError::Spent { .. }) => break 'all,
                Err(error) => return Err(error.into()),
            }
        }
    }
    for (desk, draws) in desks.iter().zip(&draws) {
        enough(desk, draws.iter().map(|draw| &draw.0))?;
    }
    let sides = draws.into_iter().zip(&samplers).zip(&*desks).zip(told);
    Ok(sides
        .map(|(((draws, sampler), desk), (alike, unknown))| {
            let amiss = sampler.amiss;
            let Weighed { draws, known, unsure } = weighed(draws, sampler, desk);
            Side { name: desk.name().to_owned(), draws, known, unsure, alike, unknown, amiss }
        })
        .collect())
}

/// Makes one draw, and looks for its pages in all other engines. Pages that could not be looked for everywhere are kept all the same.
fn one(
    desks: &mut [Desk<'_>],
    sampler: &mut Sampler<'_>,
    engine: usize,
    told: &mut (u64, u64),
) -> Result<(Draw, Vec<Checked>), EngineError> {
    let draw = sampler.draw(&mut desks[engine])?;
    let mut pages = Vec::new();
    for met in &draw.met {
        let mut page = Checked { weight: met.weight, asked: 1 << engine, found: 1 << engine };
        let Some(contents) = desks[engine].read(met.page).cloned() else { continue };
        let url = desks[engine].url(met.page).to_owned();
        for other in (0..desks.len()).filter(|&other| other != engine) {
            let presence = look_for(&mut desks[other], &url, &contents)?;
            told.0 += u64::from(presence == Presence::Alike);
            match presence.found() {
                None => told.1 += 1,
                Some(found) => {
                    page.asked |= 1 << other;
                    page.found |= u64::from(found) << other;
                }
            }
        }
        pages.push(page);
    }
    Ok((draw, pages))
}

/// Draws with their estimates of the size, pages that cannot be met included.
struct Weighed {
    draws: Vec<Drawn>,
    known: f64,
    unsure: f64,
}

fn weighed(draws: Vec<(Draw, Vec<Checked>)>, sampler: &Sampler<'_>, desk: &Desk<'_>) -> Weighed {
    let pool = sampler.pool();
    let unheard = unheard(draws.iter().map(|draw| &draw.0), &sampler.amiss);
    let reach =
        pool.reach(desk, &lengths(draws.iter().map(|draw| &draw.0), desk), sampler.found_by_own_word());
    let (at_home, known) = pool.at_home(desk.own(), |document| 1.0 / reach.of(document.len()));
    let stands_for = |page| desk.read(page).map_or(1.0, |contents| 1.0 / reach.of(contents.all.len()));
    let (mut met_alone, mut all) = (0.0, 0.0);
    let draws = draws
        .into_iter()
        .map(|(draw, mut pages)| {
            let mut size = 0.0;
            for (met, page) in draw.met.iter().zip(&mut pages) {
                met_alone += unheard * page.weight;
                page.weight *= unheard * stands_for(met.page);
                size += page.weight;
            }
            all += size;
            Drawn { pages, size, at_home: at_home[draw.place] }
        })
        .collect();
    let share = if all > 0.0 { met_alone / all } else { 0.0 };
    Weighed { draws, known, unsure: reach.unsure(share) }
}

/// Returns the share of the pages of these draws' engine that is in `y`.
fn share(draws: &[&Drawn], y: usize) -> Option<f64> {
    let asked = draws.iter().flat_map(|draw| &draw.pages).filter(|page| page.asked >> y & 1 == 1);
    let (all, found) = asked.fold((0.0, 0.0), |(all, found), page| {
        (all + page.weight, found + page.weight * (page.found >> y & 1) as f64)
    });
    (all > 0.0).then(|| found / all)
}

/// Returns, for each set of engines as bits, the share of the pages that just these engines have, divided by their number. Each of
/// them meets the page, so that together they count it once. Nothing when no page was looked for everywhere.
fn parts(draws: &[&Drawn], engines: usize) -> Option<BTreeMap<u64, f64>> {
    let everywhere = (1u64 << engines) - 1;
    let (mut all, mut parts) = (0.0, BTreeMap::new());
    for page in draws.iter().flat_map(|draw| &draw.pages).filter(|page| page.asked == everywhere) {
        all += page.weight;
        *parts.entry(page.found).or_insert(0.0) += page.weight / f64::from(page.found.count_ones().max(1));
    }
    parts.values_mut().for_each(|part| *part /= all);
    (all > 0.0).then_some(parts)
}

/// The estimates from one set of draws; the bootstrap makes them again and again.
struct Said {
    shares: Shares,
    by_overlap: Option<Vec<f64>>,
    squares: Option<f64>,
    sizes: Vec<Option<f64>>,
    parts: Vec<Option<BTreeMap<u64, f64>>>,
}

fn said(draws: &[Vec<&Drawn>], known: &[f64]) -> Said {
    let shares = Shares::by(draws.len(), |x, y| share(&draws[x], y));
    let fitted = least_squares::sizes(&shares).filter(|fitted| fitted.values.iter().all(|&size| size > 0.0));
    let size = |(draws, &known): (&Vec<&Drawn>, &f64)| {
        let pairs: Vec<(f64, f64)> = draws.iter().map(|draw| (draw.size, draw.at_home)).collect();
        regression::mean(&pairs, known).map(|mean| mean.value).filter(|&value| value > 0.0)
    };
    Said {
        squares: fitted.as_ref().map(|fitted| fitted.squares),
        by_overlap: fitted.map(|fitted| fitted.values),
        sizes: draws.iter().zip(known).map(size).collect(),
        parts: draws.iter().map(|engine| parts(engine, draws.len())).collect(),
        shares,
    }
}

/// Draws as many again, with replacement.
fn again<'d>(draws: &[&'d Drawn], random: &mut Random) -> Vec<&'d Drawn> {
    draws.iter().filter_map(|_| random.pick(draws).copied()).collect()
}

/// Estimates overlaps and sizes from the draws.
pub fn compare(sides: &[Side], seed: u64) -> Comparison {
    let known: Vec<f64> = sides.iter().map(|side| side.known).collect();
    let all: Vec<Vec<&Drawn>> = sides.iter().map(|side| side.draws.iter().collect()).collect();
    let now = said(&all, &known);
    let rounds: Vec<Said> = (0..ROUNDS)
        .map(|round| {
            let mut random = Random::part(seed, round);
            let drawn: Vec<Vec<&Drawn>> = all.iter().map(|draws| again(draws, &mut random)).collect();
            said(&drawn, &known)
        })
        .collect();
    let engines = sides.len();
    let overlap = |said: &Said, x: usize| said.by_overlap.as_ref().map(|values| values[x]);
    let sizes = |said: &Said, x: usize| Some(said.sizes[x]? / said.sizes[0]?);
    let mut found = Comparison {
        shares: vec![vec![None; engines]; engines],
        by_overlap: Vec::new(),
        by_size: Vec::new(),
        relative: Vec::new(),
        sizes: Vec::new(),
        union: None,
        parts: Vec::new(),
        squares: now.squares,
    };
    let (mut weights, mut unsures) = (Vec::new(), Vec::new());
    for x in 0..engines {
        for y in (0..engines).filter(|&y| y != x) {
            let as_good = effective(all[x].iter().map(|draw| looked_for(draw, y)));
            found.shares[x][y] = spread(&now, &rounds, |said| said.shares.of(x, y))
                .map(|share| Estimate::share_with(share.value, share.error, as_good));
        }
        // Beside itself, an engine's unreached pages are no matter.
        let unsure = if x == 0 { 0.0 } else { sides[x].unsure.hypot(sides[0].unsure) };
        let weight = balance(&rounds, |said| overlap(said, x), |said| sizes(said, x), unsure);
        let relative = on_log_scale(&now, &rounds, |said| both(overlap(said, x), sizes(said, x), weight));
        unsures.push((1.0 - weight) * unsure);
        weights.push(weight);
        found.by_overlap.push(on_log_scale(&now, &rounds, |said| overlap(said, x)));
        found.by_size.push(widened(on_log_scale(&now, &rounds, |said| sizes(said, x)), unsure));
        found.relative.push(widened(relative, unsures[x]));
        found.sizes.push(widened(on_log_scale(&now, &rounds, |said| said.sizes[x]), sides[x].unsure));
    }
    // What all engines together have of the pages whose engines, as bits, fit.
    let held = |said: &Said, fits: &dyn Fn(u64) -> bool| {
        let part = |x: usize| {
            let parts = said.parts[x].as_ref()?.iter().filter(|part| fits(*part.0)).map(|part| part.1);
            Some(both(overlap(said, x), sizes(said, x), weights[x])? * parts.sum::<f64>())
        };
        (0..engines).map(part).sum::<Option<f64>>()
    };
    let unsure = unsures.iter().copied().fold(0.0, f64::max);
    found.union = widened(on_log_scale(&now, &rounds, |said| held(said, &|_| true)), unsure);
    let kinds: BTreeSet<u64> = now.parts.iter().flatten().flat_map(|parts| parts.keys().copied()).collect();
    let part = |kind: u64| {
        let pages = spread(&now, &rounds, |said| held(said, &|engines| engines == kind));
        // What holds for the union holds for its parts; one that was hardly met may be none at all.
        let pages = pages.map(|pages| if pages.interval.0 > 0.0 { pages.widened(unsure) } else { pages });
        Some((kind, pages?))
    };
    found.parts = kinds.into_iter().filter_map(part).collect();
    found
}

/// Returns the weight of a draw's pages that were looked for in an engine.
fn looked_for(draw: &Drawn, engine: usize) -> f64 {
    draw.pages.iter().filter(|page| page.asked >> engine & 1 == 1).map(|page| page.weight).sum()
}

fn widened(estimate: Option<Estimate>, relative: f64) -> Option<Estimate> {
    estimate.map(|estimate| if relative > 0.0 { estimate.widened(relative) } else { estimate })
}

/// Combines two ratios, the first with this weight, on the scale of logarithms; one where there is no other.
fn both(one: Option<f64>, other: Option<f64>, weight: f64) -> Option<f64> {
    match (one, other) {
        (Some(one), Some(other)) => Some((weight * one.ln() + (1.0 - weight) * other.ln()).exp()),
        (one, other) => one.or(other),
    }
}

/// Returns the weight of the first of two numbers that leaves the least error, by their variances and covariance; the second has
/// the additional error `unsure`.
fn balance(
    rounds: &[Said],
    one: impl Fn(&Said) -> Option<f64>,
    other: impl Fn(&Said) -> Option<f64>,
    unsure: f64,
) -> f64 {
    let pairs: Vec<(f64, f64)> =
        rounds.iter().filter_map(|said| Some((one(said)?.ln(), other(said)?.ln()))).collect();
    let n = pairs.len().max(1) as f64;
    let means = pairs.iter().fold((0.0, 0.0), |sums, pair| (sums.0 + pair.0 / n, sums.1 + pair.1 / n));
    let (mut first, mut second, mut together) = (0.0, 0.0, 0.0);
    for pair in &pairs {
        let (a, b) = (pair.0 - means.0, pair.1 - means.1);
        (first, second, together) = (first + a * a, second + b * b, together + a * b);
    }
    second += n * unsure * unsure;
    let spread = first + second - 2.0 * together;
    if spread > 0.0 { ((second - together) / spread).clamp(0.0, 1.0) } else { 0.5 }
}

fn spread(now: &Said, rounds: &[Said], of: impl Fn(&Said) -> Option<f64>) -> Option<Estimate> {
    Estimate::around(of(now)?, rounds.iter().filter_map(of).collect())
}

/// A positive number whose logarithm spreads as in the rounds.
fn on_log_scale(now: &Said, rounds: &[Said], of: impl Fn(&Said) -> Option<f64>) -> Option<Estimate> {
    let value = of(now)?;
    let logs = rounds.iter().filter_map(|said| of(said).map(f64::ln)).collect();
    let error = Estimate::around(value.ln(), logs)?.error;
    Some(Estimate::on_log_scale(value, error))
}
