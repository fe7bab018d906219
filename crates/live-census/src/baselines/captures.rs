//! Sizes from pages that come up again: random words are asked for, none twice, and each result is a capture.
//!
//! Words with more pages than the engine shows are skipped, since it shows the ones that it ranks high. Pages with many words come
//! up often and short ones hardly ever, which these estimators take for a small index; only Lu and Li's allows for some of it.

use std::collections::HashMap;

use lookalike_census::{Estimate, Random, birthday, capture_recapture, species};
use lookalike_search_engines::EngineError;

use super::{Baseline, Plan, unless_spent};
use crate::engine_client::{EngineClient, PageId};

const CHAPMAN: &str =
    "too low, since pages with many words are in both halves of the captures and short ones in neither";
const CHAO: &str =
    "a lower bound, since it takes the pages that never came up for as likely as those that came up once";
const LU_LI: &str = "right for collections as unequal as those that its exponent was fitted to, too high for more equal ones, \
                     too low for more unequal ones";
const BIRTHDAY: &str = "too low, since it takes every page for as likely to be drawn as any other";

/// Pages that came up.
#[derive(Default)]
struct Captures {
    /// The number of times that each page came up, in queries of even number and in those of odd number.
    counts: HashMap<PageId, [u32; 2]>,
    /// One random page of each query.
    single: Vec<PageId>,
    /// Queries that found something.
    queries: usize,
}

/// Estimates by Chapman, Chao, Lu and Li, and by birthdays, on the same queries.
pub fn captures(client: &mut EngineClient<'_>, plan: &Plan) -> Result<Vec<Baseline>, EngineError> {
    let words = client.own().queries(2);
    let before = client.cost();
    let mut random = Random::part(plan.seed, 0);
    let mut captures = Captures::default();
    unless_spent(random.sample_indices(words.len(), plan.queries).into_iter().try_for_each(|place| {
        let found = client.search(words[place])?;
        captures.take(found.usable(), &mut random);
        Ok(())
    }))?;
    let cost = client.cost() - before;
    let baseline = |name, estimate, bias| Baseline { name, estimate, cost, bias };
    Ok(vec![
        baseline("chapman", captures.chapman(), CHAPMAN),
        baseline("chao1", captures.chao1(), CHAO),
        baseline("lu-li", captures.lu_li(), LU_LI),
        baseline("birthday", captures.birthday(), BIRTHDAY),
    ])
}

impl Captures {
    /// Takes the results of a query.
    fn take(&mut self, pages: &[PageId], random: &mut Random) {
        let Some(&single) = random.pick(pages) else { return };
        self.single.push(single);
        for &page in pages {
            self.counts.entry(page).or_default()[self.queries % 2] += 1;
        }
        self.queries += 1;
    }

    /// Returns the number of pages whose counts fit.
    fn pages(&self, fits: impl Fn(&[u32; 2]) -> bool) -> u64 {
        self.counts.values().filter(|counts| fits(counts)).count() as u64
    }

    /// Returns Chapman's estimate; none before a page was seen by both halves, since the formula then depends on the sample alone.
    fn chapman(&self) -> Option<Estimate> {
        let both = self.pages(|counts| counts[0] > 0 && counts[1] > 0);
        let [first, second] = [0, 1].map(|half| self.pages(|counts| counts[half] > 0));
        (both > 0).then(|| capture_recapture::chapman(first, second, both))
    }

    /// Returns Chao's estimate; none before a page came up twice.
    fn chao1(&self) -> Option<Estimate> {
        let [once, twice] = [1, 2].map(|times| self.pages(|counts| counts[0] + counts[1] == times));
        (self.pages(|_| true) > once).then(|| species::chao1(self.pages(|_| true), once, twice))
    }

    fn lu_li(&self) -> Option<Estimate> {
        let captures = self.counts.values().map(|counts| u64::from(counts[0] + counts[1])).sum();
        species::lu_li(self.pages(|_| true), captures)
    }

    fn birthday(&self) -> Option<Estimate> {
        birthday::size(self.single.len() as u64, birthday::equal_pairs(&self.single))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn captures_are_counted_by_page_and_by_half() {
        let mut captures = Captures::default();
        let mut random = Random::new(1);
        for found in [&[1, 2, 3][..], &[], &[2, 3, 4], &[3]] {
            captures.take(found, &mut random);
        }
        // Halves {1, 2, 3} and {2, 3, 4}: 4·4/3 − 1. Pages 1 and 4 once, 2 twice, 3 three times.
        assert!((captures.chapman().unwrap().value - 13.0 / 3.0).abs() < 1e-12);
        assert_eq!(captures.chao1(), Some(species::chao1(4, 2, 1)));
        assert_eq!(captures.lu_li(), species::lu_li(4, 7));
        assert_eq!(captures.single.len(), 3);
        let nothing = Captures::default();
        assert_eq!([nothing.chapman(), nothing.chao1(), nothing.lu_li(), nothing.birthday()], [None; 4]);
    }
}
