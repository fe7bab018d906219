//! A world for estimators: the pages of a collection, of which engines have parts, and a measurer who owns a few.
//!
//! A fifth of the pages is the measurer's own: words and how rare they are come from there and from nowhere else. Engines
//! have parts of the rest.

use lookalike::report::study::Value;
use lookalike_census::Estimate;
use lookalike_census::engine::{Page, Pages, Word};
use lookalike_census::random::Random;
use lookalike_census::simulation::{Library, SimulatedEngine};

use super::ExperimentContext;
use crate::collection::{Collection, CollectionKind};
use crate::trial::LabError;

/// One in this number of pages is the measurer's own.
const OWN: u32 = 5;

/// Fewer pages than this make no world.
const MIN_PAGES: usize = 100;

/// Pages, and what the measurer knows beforehand.
pub(super) struct World {
    pub(super) library: Library,
    /// Pages that engines can have.
    pub(super) pages: Vec<Page>,
    /// Number of the measurer's own pages that have each word.
    frequencies: Vec<u32>,
    own: Vec<Page>,
    /// Pages by length, from 0 for the shortest to 1 for the longest.
    rank: Vec<f64>,
}

/// The preference by which an engine has pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PagePreference {
    /// Any page is as likely.
    None,
    /// Long pages are likelier, in every engine that has this preference.
    Long,
}

impl World {
    /// The world of an experiment's collection.
    pub(super) fn new(context: &ExperimentContext<'_>) -> Result<(World, Collection), LabError> {
        let collection = context.collection(CollectionKind::News)?;
        let items = collection.items(context.documents, context.seed, &[], context.watch)?;
        if items.len() < MIN_PAGES {
            return Err(LabError::Request(format!(
                "{} has {} documents with text; a world of engines needs at least {MIN_PAGES}, so name a larger collection",
                collection.name,
                items.len()
            )));
        }
        let library = Library::of_texts(items.iter().map(|item| item.text.as_str()));
        Ok((World::of(library), collection))
    }

    pub(super) fn of(library: Library) -> Self {
        let (own, pages): (Vec<Page>, Vec<Page>) = library.pages().partition(|page| page.0 % OWN == 0);
        let mut frequencies = vec![0; library.vocabulary()];
        for &page in &own {
            library.words(page).iter().for_each(|word| frequencies[word.0 as usize] += 1);
        }
        let mut by_length: Vec<Page> = library.pages().collect();
        by_length.sort_by_key(|&page| (library.length(page), page));
        let mut rank = vec![0.0; library.len()];
        for (place, page) in by_length.iter().enumerate() {
            rank[page.0 as usize] = place as f64 / library.len() as f64;
        }
        World { library, pages, frequencies, own, rank }
    }

    /// Returns the number of the measurer's own pages that have a word.
    pub(super) fn frequency(&self, word: Word) -> u32 {
        self.frequencies[word.0 as usize]
    }

    /// Returns the measurer's own pages.
    pub(super) fn own(&self) -> &[Page] {
        &self.own
    }

    /// The words that are on at least these shares of the measurer's own pages and at most those, never of fewer than two.
    pub(super) fn words(&self, least: f64, most: f64) -> Vec<Word> {
        let bound = |share: f64| (share * self.own.len() as f64).round() as u32;
        let (least, most) = (bound(least).max(2), bound(most).max(2));
        let words = (0..self.frequencies.len() as u32).map(Word);
        words.filter(|&word| (least..=most).contains(&self.frequency(word))).collect()
    }

    /// The pages of an engine that has this share of the world.
    pub(super) fn part(&self, share: f64, preference: PagePreference, seed: u64) -> Vec<Page> {
        let mut random = Random::new(seed);
        let likely = |page: &Page| match preference {
            PagePreference::None => share,
            // Twice the share for the longest, none for the shortest; more than all is all.
            PagePreference::Long => 2.0 * share * self.rank[page.0 as usize],
        };
        self.pages.iter().filter(|page| random.chance(likely(page))).copied().collect()
    }

    /// An engine over these pages that shows at most `shown` results.
    pub(super) fn engine(&self, pages: &[Page], shown: usize, seed: u64) -> SimulatedEngine {
        SimulatedEngine::new(&self.library, pages, shown, seed)
    }

    /// Words of the average page among these.
    pub(super) fn mean_length(&self, pages: impl IntoIterator<Item = Page>) -> f64 {
        let (sum, count) = pages
            .into_iter()
            .fold((0.0, 0.0), |(sum, count), page| (sum + f64::from(self.library.length(page)), count + 1.0));
        sum / count
    }

    /// Quarters of the world by length: 0 for the shortest pages, 3 for the longest.
    pub(super) fn quarter(&self, page: Page) -> usize {
        ((4.0 * self.rank[page.0 as usize]) as usize).min(3)
    }
}

/// A number and its interval for two columns of a table.
pub(super) fn cells(estimate: Option<Estimate>) -> [Value; 2] {
    [estimate.map(|estimate| estimate.value).into(), estimate.map(|estimate| estimate.interval).into()]
}

/// The same and whether the interval holds the truth.
pub(super) fn cells_with_truth(estimate: Option<Estimate>, truth: f64) -> [Value; 3] {
    let [value, interval] = cells(estimate);
    let held = estimate.map(|estimate| if estimate.covers(truth) { "yes" } else { "no" });
    [value, interval, held.into()]
}

#[cfg(test)]
pub(super) mod tests {
    use std::sync::Arc;

    use lookalike::corpus::{Corpus, ReadOptions};
    use lookalike::engine::{Settings, Spool};
    use lookalike::generate::{Plan, write_jsonl};
    use lookalike::report::Study;
    use lookalike::report::study::{Block, Grid};
    use lookalike::text::extract::ContentMode;
    use lookalike::walk::Watch;

    use super::*;

    /// A context whose collection is small and generated.
    pub(crate) fn context(documents: u64, watch: &Watch) -> ExperimentContext<'_> {
        let mut lines = Vec::new();
        write_jsonl(Plan { documents, seed: 5 }, &mut lines, &mut std::io::sink()).unwrap();
        let corpus = Corpus::in_memory("small.jsonl", Arc::from(lines), ReadOptions::default());
        let given = Collection { name: "small".into(), corpus, content: ContentMode::Page, generated: true };
        ExperimentContext { given: Some(given), ..empty_context(watch) }
    }

    /// A context without a collection.
    pub(crate) fn empty_context(watch: &Watch) -> ExperimentContext<'_> {
        ExperimentContext {
            given: None,
            data: None,
            folder: std::env::temp_dir(),
            documents: 2_000,
            settings: Settings { threads: 1, memory: 1 << 30, spool: Spool::None },
            seed: 7,
            watch,
        }
    }

    /// The tables of a study.
    pub(crate) fn tables(study: &Study) -> Vec<&Grid> {
        let blocks = study.blocks.iter();
        blocks.filter_map(|block| if let Block::Table(grid) = block { Some(grid) } else { None }).collect()
    }

    #[test]
    fn tastes_and_quarters() {
        let watch = Watch::default();
        let (world, _) = World::new(&context(300, &watch)).unwrap();
        assert_eq!(world.own().len() + world.pages.len(), world.library.len());
        let all = world.mean_length(world.pages.iter().copied());
        let plain = world.mean_length(world.part(0.5, PagePreference::None, 1));
        let long = world.mean_length(world.part(0.5, PagePreference::Long, 1));
        assert!((plain / all - 1.0).abs() < 0.15 && long > 1.2 * all, "{all} {plain} {long}");
        let quarters = [0, 1, 2, 3].map(|q| world.library.pages().filter(|&p| world.quarter(p) == q).count());
        assert!(quarters.iter().max().unwrap() - quarters.iter().min().unwrap() <= 1, "{quarters:?}");
    }

    #[test]
    fn a_handful_of_documents_is_refused() {
        let watch = Watch::default();
        let refused = World::new(&context(20, &watch)).err().unwrap().to_string();
        assert!(refused.contains("20 documents"), "{refused}");
    }
}
