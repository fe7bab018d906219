//! The overlap of engines, and the ratios of their sizes.
//!
//! Pages are drawn from every engine in turn, with the weights that make them uniform, and looked for in all others. `f_xy` is the
//! share of `x` that is in `y`; both directions together give `|x|/|y| = f_yx/f_xy`, whatever the sizes are. The same draws also
//! give each engine's size by itself ([`crate::size`]), and so a second ratio; the two are combined by their errors and their
//! covariance, both from a bootstrap over draws. The overlap needs no pages that cannot be met, the sizes need no page to be found:
//! where one is weak, the other often is not.

use std::collections::{BTreeMap, BTreeSet};

use lookalike_census::presence_records::Shares;
use lookalike_census::{Estimate, Random, least_squares};
use lookalike_search_engines::EngineError;

use crate::FieldError;
use crate::engine_client::EngineClient;
use crate::pool;
use crate::presence::{Presence, look_for};
use crate::regression;
use crate::sampling::{Draw, Sampler, SamplingFaults, effective, fetch_correction};
use crate::size::{Plan, lengths, require_enough};

/// Rounds of the bootstrap.
const ROUNDS: u64 = 300;

/// A page that was drawn from one engine and looked for in the others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CheckedPage {
    /// The number of pages that it stands for.
    pub weight: f64,
    /// Engines that answered, as bits; the one that it was drawn from is always among them.
    pub asked: u64,
    /// Those of them that have it.
    pub found: u64,
}

/// The result of one draw.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckedDraw {
    /// The pages.
    pub pages: Vec<CheckedPage>,
    /// Its estimate of the size of the engine.
    pub size: f64,
    /// The weight of the own documents that its query finds, for [`crate::regression`].
    pub own_control: f64,
}

/// All draws from one engine.
#[derive(Debug, Clone, PartialEq)]
pub struct EngineSample {
    /// The engine's name.
    pub name: String,
    /// Its draws.
    pub draws: Vec<CheckedDraw>,
    /// The mean of `own_control` over all queries of the pool.
    pub control_mean: f64,
    /// The relative error due to pages that no query reaches.
    pub unreached_error: f64,
    /// Pages that were found under another address.
    pub alike: u64,
    /// Pages that were looked for without an answer.
    pub unknown: u64,
    /// The faults met in sampling.
    pub faults: SamplingFaults,
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
pub fn draw(clients: &mut [EngineClient<'_>], plan: &Plan) -> Result<Vec<EngineSample>, FieldError> {
    let mut pools = Vec::new();
    for (number, client) in clients.iter_mut().enumerate() {
        pools.push(pool::explore(client, &mut Random::part(plan.seed, 2 * number as u64))?);
    }
    let mut samplers: Vec<Sampler<'_>> = pools
        .iter()
        .enumerate()
        .map(|(number, pool)| {
            Sampler::new(pool, plan.looked_at, Random::part(plan.seed, 2 * number as u64 + 1))
        })
        .collect();
    let mut draws: Vec<Vec<(Draw, Vec<CheckedPage>)>> = vec![Vec::new(); clients.len()];
    let mut counts = vec![(0, 0); clients.len()];
    'all: for _ in 0..plan.draws {
        for engine in 0..clients.len() {
            match checked_draw(clients, &mut samplers[engine], engine, &mut counts[engine]) {
                Ok(drawn) => draws[engine].push(drawn),
                Err(EngineError::Spent { .. }) => break 'all,
                Err(error) => return Err(error.into()),
            }
        }
    }
    for (client, draws) in clients.iter().zip(&draws) {
        require_enough(client, draws.iter().map(|draw| &draw.0))?;
    }
    let samples = draws.into_iter().zip(&samplers).zip(&*clients).zip(counts);
    Ok(samples
        .map(|(((draws, sampler), client), (alike, unknown))| {
            let faults = sampler.faults;
            let WeightedDraws { draws, control_mean, unreached_error } = weight_draws(draws, sampler, client);
            EngineSample {
                name: client.name().to_owned(),
                draws,
                control_mean,
                unreached_error,
                alike,
                unknown,
                faults,
            }
        })
        .collect())
}

/// Makes one draw, and looks for its pages in all other engines. Pages that could not be looked for everywhere are kept all the same.
fn checked_draw(
    clients: &mut [EngineClient<'_>],
    sampler: &mut Sampler<'_>,
    engine: usize,
    counts: &mut (u64, u64),
) -> Result<(Draw, Vec<CheckedPage>), EngineError> {
    let draw = sampler.draw(&mut clients[engine])?;
    let mut pages = Vec::new();
    for sampled in &draw.pages {
        let mut page = CheckedPage { weight: sampled.weight, asked: 1 << engine, found: 1 << engine };
        let Some(contents) = clients[engine].fetched_words(sampled.page).cloned() else { continue };
        let url = clients[engine].url(sampled.page).to_owned();
        for other in (0..clients.len()).filter(|&other| other != engine) {
            let presence = look_for(&mut clients[other], &url, &contents)?;
            counts.0 += u64::from(presence == Presence::NearDuplicate);
            match presence.found() {
                None => counts.1 += 1,
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
struct WeightedDraws {
    draws: Vec<CheckedDraw>,
    control_mean: f64,
    unreached_error: f64,
}

fn weight_draws(
    draws: Vec<(Draw, Vec<CheckedPage>)>,
    sampler: &Sampler<'_>,
    client: &EngineClient<'_>,
) -> WeightedDraws {
    let pool = sampler.pool();
    let fetch_correction = fetch_correction(draws.iter().map(|draw| &draw.0), &sampler.faults);
    let reach =
        pool.reach(client, &lengths(draws.iter().map(|draw| &draw.0), client), sampler.found_by_own_word());
    let (own_control, control_mean) =
        pool.own_control(client.own(), |document| 1.0 / reach.of(document.len()));
    let stands_for =
        |page| client.fetched_words(page).map_or(1.0, |contents| 1.0 / reach.of(contents.all.len()));
    let (mut reached_weight, mut all) = (0.0, 0.0);
    let draws = draws
        .into_iter()
        .map(|(draw, mut pages)| {
            let mut size = 0.0;
            for (sampled, page) in draw.pages.iter().zip(&mut pages) {
                reached_weight += fetch_correction * page.weight;
                page.weight *= fetch_correction * stands_for(sampled.page);
                size += page.weight;
            }
            all += size;
            CheckedDraw { pages, size, own_control: own_control[draw.index] }
        })
        .collect();
    let share = if all > 0.0 { reached_weight / all } else { 0.0 };
    WeightedDraws { draws, control_mean, unreached_error: reach.unreached_error(share) }
}

/// Returns the share of the pages of these draws' engine that is in `y`.
fn share(draws: &[&CheckedDraw], y: usize) -> Option<f64> {
    let asked = draws.iter().flat_map(|draw| &draw.pages).filter(|page| page.asked >> y & 1 == 1);
    let (all, found) = asked.fold((0.0, 0.0), |(all, found), page| {
        (all + page.weight, found + page.weight * (page.found >> y & 1) as f64)
    });
    (all > 0.0).then(|| found / all)
}

/// Returns, for each set of engines as bits, the share of the pages that just these engines have, divided by their number. Each of
/// them meets the page, so that together they count it once. Nothing when no page was looked for everywhere.
fn parts(draws: &[&CheckedDraw], engines: usize) -> Option<BTreeMap<u64, f64>> {
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
struct DrawEstimates {
    shares: Shares,
    by_overlap: Option<Vec<f64>>,
    squares: Option<f64>,
    sizes: Vec<Option<f64>>,
    parts: Vec<Option<BTreeMap<u64, f64>>>,
}

fn estimate_from(draws: &[Vec<&CheckedDraw>], control_means: &[f64]) -> DrawEstimates {
    let shares = Shares::by(draws.len(), |x, y| share(&draws[x], y));
    let fitted = least_squares::sizes(&shares).filter(|fitted| fitted.values.iter().all(|&size| size > 0.0));
    let size = |(draws, &control_mean): (&Vec<&CheckedDraw>, &f64)| {
        let pairs: Vec<(f64, f64)> = draws.iter().map(|draw| (draw.size, draw.own_control)).collect();
        regression::mean(&pairs, control_mean).map(|mean| mean.value).filter(|&value| value > 0.0)
    };
    DrawEstimates {
        squares: fitted.as_ref().map(|fitted| fitted.squares),
        by_overlap: fitted.map(|fitted| fitted.values),
        sizes: draws.iter().zip(control_means).map(size).collect(),
        parts: draws.iter().map(|engine| parts(engine, draws.len())).collect(),
        shares,
    }
}

/// Draws as many again, with replacement.
fn resample<'d>(draws: &[&'d CheckedDraw], random: &mut Random) -> Vec<&'d CheckedDraw> {
    draws.iter().filter_map(|_| random.pick(draws).copied()).collect()
}

/// Estimates overlaps and sizes from the draws.
pub fn compare(samples: &[EngineSample], seed: u64) -> Comparison {
    let control_means: Vec<f64> = samples.iter().map(|sample| sample.control_mean).collect();
    let all: Vec<Vec<&CheckedDraw>> = samples.iter().map(|sample| sample.draws.iter().collect()).collect();
    let now = estimate_from(&all, &control_means);
    let rounds: Vec<DrawEstimates> = (0..ROUNDS)
        .map(|round| {
            let mut random = Random::part(seed, round);
            let drawn: Vec<Vec<&CheckedDraw>> =
                all.iter().map(|draws| resample(draws, &mut random)).collect();
            estimate_from(&drawn, &control_means)
        })
        .collect();
    let engines = samples.len();
    let overlap = |estimates: &DrawEstimates, x: usize| estimates.by_overlap.as_ref().map(|values| values[x]);
    let sizes = |estimates: &DrawEstimates, x: usize| Some(estimates.sizes[x]? / estimates.sizes[0]?);
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
    let (mut weights, mut unreached_errors) = (Vec::new(), Vec::new());
    for x in 0..engines {
        for y in (0..engines).filter(|&y| y != x) {
            let as_good = effective(all[x].iter().map(|draw| weight_looked_for(draw, y)));
            found.shares[x][y] = spread(&now, &rounds, |estimates| estimates.shares.of(x, y))
                .map(|share| Estimate::share_with(share.value, share.error, as_good));
        }
        // Beside itself, an engine's unreached pages are no matter.
        let unreached_error =
            if x == 0 { 0.0 } else { samples[x].unreached_error.hypot(samples[0].unreached_error) };
        let weight = balance(
            &rounds,
            |estimates| overlap(estimates, x),
            |estimates| sizes(estimates, x),
            unreached_error,
        );
        let relative =
            on_log_scale(&now, &rounds, |estimates| both(overlap(estimates, x), sizes(estimates, x), weight));
        unreached_errors.push((1.0 - weight) * unreached_error);
        weights.push(weight);
        found.by_overlap.push(on_log_scale(&now, &rounds, |estimates| overlap(estimates, x)));
        found
            .by_size
            .push(widened(on_log_scale(&now, &rounds, |estimates| sizes(estimates, x)), unreached_error));
        found.relative.push(widened(relative, unreached_errors[x]));
        found.sizes.push(widened(
            on_log_scale(&now, &rounds, |estimates| estimates.sizes[x]),
            samples[x].unreached_error,
        ));
    }
    // What all engines together have of the pages whose engines, as bits, fit.
    let held = |estimates: &DrawEstimates, fits: &dyn Fn(u64) -> bool| {
        let part = |x: usize| {
            let parts = estimates.parts[x].as_ref()?.iter().filter(|part| fits(*part.0)).map(|part| part.1);
            Some(both(overlap(estimates, x), sizes(estimates, x), weights[x])? * parts.sum::<f64>())
        };
        (0..engines).map(part).sum::<Option<f64>>()
    };
    let unreached_error = unreached_errors.iter().copied().fold(0.0, f64::max);
    found.union =
        widened(on_log_scale(&now, &rounds, |estimates| held(estimates, &|_| true)), unreached_error);
    let kinds: BTreeSet<u64> = now.parts.iter().flatten().flat_map(|parts| parts.keys().copied()).collect();
    let part = |kind: u64| {
        let pages = spread(&now, &rounds, |estimates| held(estimates, &|engines| engines == kind));
        // What holds for the union holds for its parts; one that was hardly met may be none at all.
        let pages =
            pages.map(|pages| if pages.interval.0 > 0.0 { pages.widened(unreached_error) } else { pages });
        Some((kind, pages?))
    };
    found.parts = kinds.into_iter().filter_map(part).collect();
    found
}

/// Returns the weight of a draw's pages that were looked for in an engine.
fn weight_looked_for(draw: &CheckedDraw, engine: usize) -> f64 {
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
/// the additional error `unreached_error`.
fn balance(
    rounds: &[DrawEstimates],
    one: impl Fn(&DrawEstimates) -> Option<f64>,
    other: impl Fn(&DrawEstimates) -> Option<f64>,
    unreached_error: f64,
) -> f64 {
    let pairs: Vec<(f64, f64)> =
        rounds.iter().filter_map(|estimates| Some((one(estimates)?.ln(), other(estimates)?.ln()))).collect();
    let n = pairs.len().max(1) as f64;
    let means = pairs.iter().fold((0.0, 0.0), |sums, pair| (sums.0 + pair.0 / n, sums.1 + pair.1 / n));
    let (mut first, mut second, mut together) = (0.0, 0.0, 0.0);
    for pair in &pairs {
        let (a, b) = (pair.0 - means.0, pair.1 - means.1);
        (first, second, together) = (first + a * a, second + b * b, together + a * b);
    }
    second += n * unreached_error * unreached_error;
    let spread = first + second - 2.0 * together;
    if spread > 0.0 { ((second - together) / spread).clamp(0.0, 1.0) } else { 0.5 }
}

fn spread(
    now: &DrawEstimates,
    rounds: &[DrawEstimates],
    of: impl Fn(&DrawEstimates) -> Option<f64>,
) -> Option<Estimate> {
    Estimate::from_draws(of(now)?, rounds.iter().filter_map(of).collect())
}

/// A positive number whose logarithm spreads as in the rounds.
fn on_log_scale(
    now: &DrawEstimates,
    rounds: &[DrawEstimates],
    of: impl Fn(&DrawEstimates) -> Option<f64>,
) -> Option<Estimate> {
    let value = of(now)?;
    let logs = rounds.iter().filter_map(|estimates| of(estimates).map(f64::ln)).collect();
    let error = Estimate::from_draws(value.ln(), logs)?.error;
    Some(Estimate::on_log_scale(value, error))
}
