//! What is behind the pages that were hardly noticed.
//!
//! Walkers that begin in one corner of the web may find it closed on all sides but for a few links, and never take these; nothing
//! they see changes then, and all signs of rest are there. So a part of the budget goes into looking for ways out: a probe begins at
//! a page that walkers know of by one link only and have not visited, and goes on, as long as it can, to pages that they do not know of
//! at all. A probe samples nothing; it makes the list of pages longer that are there for certain.
//!
//! Walkers stand on two sides, by turns (the visits of a single walker by its first and its second half). Each side sends its own
//! probes, from what it knows by itself. So what one side knows of is a set of pages that the other side had no part in choosing,
//! and at rest the other side visits it as often as its share of the web; see [`super::territory`].

use serde::Serialize;

use super::known::{Known, PageMap};
use super::web::Walkable;
use super::{Budget, Sample, Walk};
use crate::random::Random;

/// Pages of one probe at most: a probe that goes on for ever would look behind one page only.
const LONGEST: usize = 20;

/// A page that was fetched to see where it leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Probe {
    /// The page.
    pub page: u32,
    /// The side that it was fetched for, 0 or 1.
    pub side: u8,
}

/// The side of the sample at a place.
pub fn side(walk: &Walk, place: usize, sample: &Sample) -> u8 {
    match walk.starts.len() {
        0 | 1 => u8::from(2 * place >= walk.samples.len()),
        _ => (sample.walker % 2) as u8,
    }
}

/// The pages that each side visited, seeds included, ascending.
pub(super) fn visited(walk: &Walk, wanted: u8) -> Vec<u32> {
    let starts = walk.starts.iter().enumerate().filter(|(place, _)| (place % 2) as u8 == wanted);
    let samples = walk.samples.iter().enumerate();
    let mut pages: Vec<u32> = samples
        .filter(|&(place, sample)| side(walk, place, sample) == wanted)
        .map(|(_, sample)| sample.page)
        .chain(starts.map(|(_, start)| start.page))
        .collect();
    pages.sort_unstable();
    pages.dedup();
    pages
}

/// Sends probes for both sides in turn until the budget is used up.
pub fn probe<W: Walkable>(
    known: &mut Known<'_, W>,
    walk: &Walk,
    budget: Budget,
    random: &mut Random,
) -> Vec<Probe> {
    // Free fetches, of pages that the other side has fetched, must not keep probes going for ever.
    let most = budget.fetches.min(known.fetched() + budget.probes);
    let mut scouts = [Scout::new(known, walk, 0), Scout::new(known, walk, 1)];
    let mut probes = Vec::new();
    while known.fetched() < most && (probes.len() as u64) < 4 * budget.probes {
        let before = probes.len();
        for (side, scout) in (0..).zip(&mut scouts) {
            scout.go(known, most, random, |page| probes.push(Probe { page, side }));
        }
        if probes.len() == before && scouts.iter().all(|scout| scout.open.is_empty()) {
            break;
        }
    }
    probes
}

/// What one side knows of, and where it has not been.
struct Scout {
    /// How often pages were listed, up to 2.
    listed: PageMap<u8>,
    /// Pages to begin at.
    open: Vec<u32>,
}

impl Scout {
    fn new<W: Walkable>(known: &Known<'_, W>, walk: &Walk, side: u8) -> Self {
        let pages = visited(walk, side);
        let mut listed: PageMap<u8> = PageMap::default();
        let mut order = Vec::new();
        for &page in &pages {
            for &other in known.list(page) {
                let count = listed.entry(other).or_insert_with(|| {
                    order.push(other);
                    0
                });
                *count = 2.min(*count + 1);
            }
        }
        order.retain(|other| listed[other] == 1 && pages.binary_search(other).is_err());
        for page in pages {
            listed.insert(page, 2);
        }
        Scout { listed, open: order }
    }

    /// One probe.
    fn go<W: Walkable>(
        &mut self,
        known: &mut Known<'_, W>,
        most: u64,
        random: &mut Random,
        mut note: impl FnMut(u32),
    ) {
        if self.open.is_empty() {
            return;
        }
        let mut page = self.open.swap_remove(random.below(self.open.len()));
        for _ in 0..LONGEST {
            if known.fetched() >= most || !known.visit(page) {
                return;
            }
            note(page);
            let fresh: Vec<u32> =
                known.list(page).iter().copied().filter(|other| !self.listed.contains_key(other)).collect();
            self.listed.extend(fresh.iter().map(|&other| (other, 1)));
            let Some(&next) = random.pick(&fresh) else { return };
            page = next;
        }
    }
}
