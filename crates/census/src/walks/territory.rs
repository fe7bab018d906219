//! Who knew of whose pages: a set of pages that one side of the walkers knows of, and how often the other side was there.
//!
//! How many pages one side knows of, by visits, links and probes, is known exactly. At rest the other side, which had no part in
//! choosing them, spends as much of its weight on them as their share of the web: a size, and from far fewer visits than it takes
//! two visits to meet. And it holds for every part of what is known: for pages that are listed again and again, and for those that
//! are listed once or were found by probes alone. If the latter are visited less than they should, walkers keep to a part of what
//! is known to be there, and no size is to be believed.

use super::Walk;
use super::clusters::{Ratio, error, t};
use super::known::PageMap;
use super::probes::{side, visited};
use crate::estimate::Estimate;

/// What one side knows of, and how the other side spends its weight on it.
#[derive(Debug, Clone)]
pub struct Territory {
    /// Pages that were visited or are listed by two visited pages.
    pub inner: u64,
    /// Pages that are listed once, or were found by probes.
    pub outer: u64,
    /// The other side's weight on inner pages, by walker.
    pub on_inner: Ratio,
    /// The other side's weight on outer pages.
    pub on_outer: Ratio,
}

impl Territory {
    /// What a side of a walk knows of; none where the walk keeps no lists.
    pub fn of(walk: &Walk, wanted: u8, clusters: &[u32], count: usize) -> Option<Self> {
        if walk.lists.is_empty() {
            return None;
        }
        let listed = listed(walk, wanted);
        let inner = listed.values().filter(|&&times| times > 1).count() as u64;
        let outer = listed.len() as u64 - inner;
        let (mut on_inner, mut on_outer) = (Ratio::new(count), Ratio::new(count));
        for (place, sample) in walk.samples.iter().enumerate() {
            if side(walk, place, sample) == wanted {
                continue;
            }
            let times = listed.get(&sample.page).copied().unwrap_or(0);
            let weight = |hit: bool| if hit { sample.weight } else { 0.0 };
            on_inner.add(clusters[place], weight(times > 1), sample.weight);
            on_outer.add(clusters[place], weight(times == 1), sample.weight);
        }
        Some(Territory { inner, outer, on_inner, on_outer })
    }

    /// The size of the web, as the logarithm and its error; none when the other side was never there.
    pub fn size(&self) -> Option<(f64, f64)> {
        let share = self.on_inner.value()? + self.on_outer.value()?;
        let residuals: Vec<f64> = self.residuals(1.0, 1.0)?;
        let filled = self.on_inner.filled();
        (share > 0.0).then_some(())?;
        Some((((self.inner + self.outer) as f64 / share).ln(), error(&residuals, filled)? / share))
    }

    /// By how many standard errors outer pages are visited less than inner ones, each by its number; positive when they are.
    pub fn neglect(&self) -> Option<f64> {
        if self.inner == 0 || self.outer == 0 {
            return None;
        }
        let (inner, outer) = (self.inner as f64, self.outer as f64);
        let (on_inner, on_outer) = (self.on_inner.value()?, self.on_outer.value()?);
        let residuals = self.residuals(1.0 / inner, -1.0 / outer)?;
        let measured = error(&residuals, self.on_inner.filled())?;
        // If outer pages are hardly visited at all, the spread of visits to them is not seen. It is at least what it would be if every
        // walker stayed where it is.
        let wanted = (on_inner * outer / inner).min(0.5);
        let least = (wanted * (1.0 - wanted) * self.on_inner.concentration()).sqrt() / outer;
        Some((on_inner / inner - on_outer / outer) / measured.max(least))
    }

    /// By how many pages outer ones would outnumber inner ones if both were visited alike, as a factor; infinite when outer ones are not
    /// visited at all.
    pub fn imbalance(&self) -> Option<f64> {
        let (on_inner, on_outer) = (self.on_inner.value()?, self.on_outer.value()?);
        (self.inner > 0 && self.outer > 0)
            .then(|| (on_inner / self.inner as f64) / (on_outer / self.outer as f64))
    }

    fn residuals(&self, inner: f64, outer: f64) -> Option<Vec<f64>> {
        let (one, other) = (self.on_inner.residuals()?, self.on_outer.residuals()?);
        Some(one.iter().zip(&other).map(|(one, other)| inner * one + outer * other).collect())
    }
}

/// How often a side has seen each page that it knows of, up to 2; visits count as two.
fn listed(walk: &Walk, wanted: u8) -> PageMap<u8> {
    let mut listed: PageMap<u8> = PageMap::default();
    for page in visited(walk, wanted) {
        for &other in walk.lists.of(page).unwrap_or_default() {
            let times = listed.entry(other).or_default();
            *times = 2.min(*times + 1);
        }
        listed.insert(page, 2);
    }
    for probe in walk.probes.iter().filter(|probe| probe.side == wanted) {
        for &other in walk.lists.of(probe.page).unwrap_or_default() {
            listed.entry(other).or_insert(1);
        }
        listed.entry(probe.page).or_insert(1);
    }
    listed
}

/// The pages that are there for certain: visited, listed or found by probes. Some of them may not be fetchable.
pub fn known_pages(walk: &Walk) -> u64 {
    let mut pages: PageMap<()> = PageMap::default();
    for page in walk.lists.pages() {
        pages.insert(page, ());
        pages.extend(walk.lists.of(page).unwrap_or_default().iter().map(|&other| (other, ())));
    }
    pages.len() as u64
}

/// The size from what both sides know of each other's pages.
pub fn size(walk: &Walk, clusters: &[u32], count: usize) -> Option<Estimate> {
    let logs = [0, 1].map(|side| Territory::of(walk, side, clusters, count).and_then(|found| found.size()));
    let [(one, error), (other, another)] = [logs[0]?, logs[1]?];
    let value = ((one + other) / 2.0).exp() * fetchable(walk);
    let error = (error * error + another * another).sqrt() / 2.0;
    let factor = (t(count.saturating_sub(1)) * error).exp();
    Some(Estimate { value, error: value * error, interval: (value / factor, value * factor) })
}

/// The share of pages asked for that could be had: of those that are only known by links as many are expected to fail.
pub fn fetchable(walk: &Walk) -> f64 {
    1.0 - walk.failures as f64 / walk.fetched.max(1) as f64
}
