//! Whether to answer at all.
//!
//! Placeholder docs.

use serde::Serialize;

use super::clusters::{Clusters, Ratio, error};
use super::pairs::Pairs;
use super::territory::{Territory, fetchable, known_pages};
use super::{Sample, Walk, size};

/// The verdict.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Nothing speaks against the answer.
    Converged,
    /// Something does.
    Refused {
        /// What, in sentences.
        reasons: Vec<String>,
    },
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Check {
    /// What.
    pub name: String,
    /// What was found.
    pub found: f64,
    /// From where on it speaks against an answer.
    pub limit: f64,
    /// Why there is no answer, if there is none.
    pub refused: Option<String>,
}

/// The verdict and what it rests on.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Convergence {
    /// The verdict.
    pub outcome: Outcome,
    /// All that was looked at.
    pub checks: Vec<Check>,
    /// Between-walker against within-walker variance of the logarithm of the degree, after Gelman and Rubin: far above 1 when no
    /// walker has seen what all have seen together. Then the answer rests on the seeds alone.
    pub shrink_factor: Option<f64>,
}

/// Standard errors from which on a difference counts.
const LIMIT: f64 = 4.0;
/// Seeds that an answer needs.
const SEEDS: usize = 16;
/// Times and groups of walkers, for comparing.
const GROUPS: usize = 16;
const TIMES: usize = 4;

/// Looks at a walk, and at numbers known of its pages.
pub fn judge(walk: &Walk, labels: &[(&str, &[f64])]) -> Convergence {
    let mut checks = vec![seeds(walk)];
    checks.extend(territory(walk));
    checks.extend(known(walk));
    checks.extend(growth(walk));
    checks.extend(groups(walk));
    let log_degree = |sample: &Sample| f64::from(sample.degree).ln();
    let inverse = |sample: &Sample| 1.0 / f64::from(sample.degree.max(1));
    checks.extend(drift(walk, "logarithm of the degree", log_degree));
    checks.extend(drift(walk, "inverse degree", inverse));
    for (name, numbers) in labels {
        checks.extend(drift(walk, name, |s: &Sample| {
            numbers.get(s.page as usize).copied().unwrap_or(f64::NAN)
        }));
    }
    let reasons: Vec<String> = checks.iter().filter_map(|check| check.refused.clone()).collect();
    let outcome = if reasons.is_empty() { Outcome::Converged } else { Outcome::Refused { reasons } };
    Convergence { outcome, checks, shrink_factor: shrink_factor(walk, log_degree) }
}

fn check(
    name: impl Into<String>,
    found: f64,
    limit: f64,
    refuse: bool,
    why: impl FnOnce() -> String,
) -> Check {
    Check { name: name.into(), found, limit, refused: refuse.then(why) }
}

fn seeds(walk: &Walk) -> Check {
    let count = walk.starts.len();
    check("seeds", count as f64, SEEDS as f64, count < SEEDS, || format!("{count} seeds"))
}

/// T2
fn territory(walk: &Walk) -> Option<Check> {
    let clusters = Clusters::new(&walk.samples, walk.starts.len());
    let sides = [0, 1].map(|side| Territory::of(walk, side, &clusters.of, clusters.count));
    let z: Vec<f64> = sides.iter().flatten().filter_map(Territory::neglect).collect();
    if z.is_empty() {
        return None;
    }
    let found = z.iter().sum::<f64>() / (z.len() as f64).sqrt();
    Some(check("neglect", found, LIMIT, found > LIMIT, || "neglect".into()))
}

/// T1
fn known(walk: &Walk) -> Option<Check> {
    let size = size::by_meetings(walk, size::MARGIN)?;
    let known = known_pages(walk) as f64 * fetchable(walk);
    Some(check("known", known, size.interval.1, known > size.interval.1, || "known".into()))
}

fn contrast(
    walk: &Walk,
    cell: impl Fn(usize, &Sample) -> (usize, usize),
    times: usize,
    contrast: impl Fn(&Pairs, &dyn Fn(usize) -> bool) -> Option<f64>,
) -> Option<(f64, f64)> {
    let pairs = Pairs::meetings(&walk.samples, size::MARGIN, GROUPS * times, |place, sample| {
        let (g, t) = cell(place, sample);
        g * times + t
    });
    let whole = contrast(&pairs, &|_| true)?;
    let parts: Vec<f64> = (0..GROUPS).filter_map(|out| contrast(&pairs, &|g| g != out)).collect();
    if parts.len() < GROUPS {
        return None;
    }
    let n = parts.len() as f64;
    let mean = parts.iter().sum::<f64>() / n;
    Some((whole, (parts.iter().map(|p| (p - mean).powi(2)).sum::<f64>() * (n - 1.0) / n).sqrt()))
}

fn growth(walk: &Walk) -> Option<Check> {
    let total = walk.samples.len();
    let (d, e) = contrast(
        walk,
        |place, s| (s.walker as usize % GROUPS, place * TIMES / total),
        TIMES,
        |p, keep| {
            let at = |t: usize| {
                p.log_ratio(|a, b| keep(a / TIMES) && keep(b / TIMES) && a % TIMES == t && b % TIMES == t)
            };
            Some(at(TIMES - 1)? - at(0)?)
        },
    )?;
    Some(check("growth", d / e, LIMIT, d / e > LIMIT && d > 0.1, || "growth".into()))
}

fn groups(walk: &Walk) -> Option<Check> {
    let walkers = walk.starts.len();
    let (d, e) = contrast(
        walk,
        |_, s| (s.walker as usize * GROUPS / walkers, 0),
        1,
        |p, keep| {
            let within = p.log_ratio(|a, b| keep(a) && keep(b) && a == b)?;
            Some(p.log_ratio(|a, b| keep(a) && keep(b) && a != b)? - within)
        },
    )?;
    Some(check("groups", d / e, LIMIT, d / e > LIMIT && d > 0.2, || "groups".into()))
}

fn drift(walk: &Walk, name: &str, number: impl Fn(&Sample) -> f64) -> Option<Check> {
    let clusters = Clusters::new(&walk.samples, walk.starts.len());
    let total = walk.samples.len();
    let mut halves = [Ratio::new(clusters.count), Ratio::new(clusters.count)];
    for (place, sample) in walk.samples.iter().enumerate() {
        let value = number(sample);
        let t = place * TIMES / total;
        if !value.is_nan() && (t == 0 || t == TIMES - 1) {
            halves[usize::from(t > 0)].add(clusters.of[place], sample.weight * value, sample.weight);
        }
    }
    let d = halves[1].value()? - halves[0].value()?;
    let (a, b) = (halves[0].residuals()?, halves[1].residuals()?);
    let r: Vec<f64> = a.iter().zip(&b).map(|(a, b)| b - a).collect();
    let e = error(&r, halves[0].filled().min(halves[1].filled()))?;
    Some(check(format!("drift of {name}"), d / e, LIMIT, (d / e).abs() > LIMIT, || {
        format!("drift of {name}")
    }))
}

fn shrink_factor(walk: &Walk, number: impl Fn(&Sample) -> f64) -> Option<f64> {
    let mut sums = vec![(0.0, 0.0, 0.0); walk.starts.len()];
    for s in &walk.samples {
        let v = number(s);
        let q = &mut sums[s.walker as usize];
        q.0 += 1.0;
        q.1 += v;
        q.2 += v * v;
    }
    let used: Vec<_> = sums.into_iter().filter(|q| q.0 >= 2.0).collect();
    if used.len() < 2 {
        return None;
    }
    let m = used.len() as f64;
    let n = used.iter().map(|q| q.0).sum::<f64>() / m;
    let within = used.iter().map(|q| (q.2 - q.1 * q.1 / q.0) / (q.0 - 1.0)).sum::<f64>() / m;
    let mean = used.iter().map(|q| q.1 / q.0).sum::<f64>() / m;
    let between = used.iter().map(|q| (q.1 / q.0 - mean).powi(2)).sum::<f64>() / (m - 1.0);
    (within > 0.0).then(|| (((n - 1.0) / n * within + between) / within).sqrt())
}
