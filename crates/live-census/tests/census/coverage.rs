//! A web that an engine has a known part of: the share estimated from a walk and the engine's answers must be near.

use std::collections::HashSet;
use std::path::Path;

use lookalike_census::Random;
use lookalike_census::graph::Graph;
use lookalike_census::walks::priority_sampling::{Candidate, priority_order, share};
use lookalike_census::walks::{Budget, LinkedWeb, Method, Walk, seeds, walk};
use lookalike_live_census::EngineClient;
use lookalike_live_census::coverage::{LookupCounts, WalkPages, look_up};
use lookalike_search_engines::tantivy::{TantivyBuilder, TantivyEngine};
use lookalike_search_engines::{
    BuildOptions, CallPolicy, Caller, EngineError, FetchedPage, IndexBuilder, Query, Results, SearchEngine,
};

const PAGES: usize = 1_500;

fn text(page: u32) -> String {
    let mut random = Random::part(4, u64::from(page));
    let words = 12 + random.below(60);
    (0..words).map(|_| format!("w{} ", 8_000f64.powf(random.unit()) as u64)).collect()
}

fn url(page: u32) -> String {
    format!("http://host/{page}")
}

/// Popular pages are in the engine, a third of the others is, and every tenth of those under another address.
fn has(page: u32) -> bool {
    page < 300 || page.is_multiple_of(3)
}

fn truth() -> f64 {
    (0..PAGES as u32).filter(|&page| has(page)).count() as f64 / PAGES as f64
}

fn engine(path: &Path) -> Box<dyn SearchEngine> {
    let mut builder = TantivyBuilder::create(path, &BuildOptions::default()).unwrap();
    for page in (0..PAGES as u32).filter(|&page| has(page)) {
        let moved = if page.is_multiple_of(10) { "?moved" } else { "" };
        builder.add(&format!("{}{moved}", url(page)), &text(page), &text(page)).unwrap();
    }
    builder.finish().unwrap();
    Box::new(TantivyEngine::open("one", path, 100).unwrap())
}

/// Pages with small numbers are linked to more often.
fn walked(seed: u64) -> Walk {
    let mut random = Random::new(8);
    let ring = (0..PAGES as u32).map(|page| (page, (page + 1) % PAGES as u32));
    let popular: Vec<(u32, u32)> = (0..5 * PAGES)
        .map(|_| (random.below(PAGES) as u32, random.below(1 + random.clone().below(PAGES)) as u32))
        .collect();
    let graph = Graph::of_arcs(PAGES, &ring.chain(popular).collect::<Vec<_>>());
    let back = graph.transposed();
    let seeds = seeds::uniform(PAGES, 200, &mut Random::part(9, seed));
    let budget = Budget { fetches: 800, steps: 2_000, probes: 0 };
    walk(&mut LinkedWeb::new(&graph, &back), Method::Frontier, &seeds, budget, seed).unwrap()
}

fn pages_with_texts(candidates: &[Candidate]) -> WalkPages {
    let mut walk_pages = WalkPages::new(candidates);
    (0..PAGES as u32).for_each(|page| walk_pages.add(page, &url(page), &text(page)));
    walk_pages
}

fn look_up_with_budget(
    engine: Box<dyn SearchEngine>,
    calls: u64,
    candidates: &[Candidate],
    walk_pages: &WalkPages,
) -> LookupCounts {
    let policy = CallPolicy { calls, fetches: 5 * calls, repeat_every: 0, ..CallPolicy::default() };
    let mut caller = Caller::new(engine, None, policy).unwrap();
    look_up(&mut EngineClient::new(&mut caller, walk_pages.own(), 100), candidates, walk_pages).unwrap()
}

/// A real engine that answers no question for an address, as most do not.
struct WithoutAddresses(Box<dyn SearchEngine>);

impl SearchEngine for WithoutAddresses {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn kind(&self) -> &str {
        self.0.kind()
    }

    fn cap(&self) -> usize {
        self.0.cap()
    }

    fn search(&mut self, query: &Query, limit: usize) -> Result<Results, EngineError> {
        self.0.search(query, limit)
    }

    fn fetch(&mut self, url: &str) -> Result<Option<FetchedPage>, EngineError> {
        self.0.fetch(url)
    }
}

#[test]
fn shares_by_words_and_by_addresses_are_near_the_truth() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    drop(engine(&path));
    let open = || -> Box<dyn SearchEngine> { Box::new(TantivyEngine::open("one", &path, 100).unwrap()) };
    let mut covered = [0, 0];
    for seed in 0..10 {
        let walk = walked(seed);
        let candidates = priority_order(&walk, seed);
        let walk_pages = pages_with_texts(&candidates);
        let engines = [open(), Box::new(WithoutAddresses(open()))];
        for (kind, engine) in engines.into_iter().enumerate() {
            let counts = look_up_with_budget(engine, 400, &candidates, &walk_pages);
            assert_eq!(counts.asked, counts.found + counts.missing + counts.unanswered);
            // Two calls for a page that is not there by its address, else one.
            assert!((200..=400).contains(&counts.asked) && counts.alike > 0, "{counts:?}");
            let found = share(&walk, &candidates, &counts.presence).unwrap().estimate;
            assert!((found.value - truth()).abs() < 0.12, "{found:?} {}", truth());
            covered[kind] += u32::from(found.covers(truth()));
        }
    }
    assert!(covered.iter().all(|&covered| covered >= 8), "{covered:?} of 10");
}

#[test]
fn by_address_alone_what_moved_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let walk = walked(3);
    let candidates = priority_order(&walk, 3);
    let mut walk_pages = WalkPages::new(&candidates);
    walk_pages.set_addresses(url);
    let counts = look_up_with_budget(engine(&folder.path().join("index")), 5_000, &candidates, &walk_pages);
    assert_eq!((counts.asked as usize, counts.alike, counts.unanswered), (candidates.len(), 0, 0));
    let there = candidates
        .iter()
        .filter(|candidate| has(candidate.page) && !candidate.page.is_multiple_of(10))
        .count();
    assert_eq!(counts.found as usize, there);
}

#[test]
fn pages_without_texts_or_words_are_counted_and_cost_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let walk = walked(5);
    let candidates = priority_order(&walk, 5);
    let mut walk_pages = WalkPages::new(&candidates);
    let (silent, empty): (HashSet<u32>, HashSet<u32>) = (
        candidates.iter().take(30).map(|candidate| candidate.page).collect(),
        candidates[30..40].iter().map(|candidate| candidate.page).collect(),
    );
    for page in (0..PAGES as u32).filter(|page| !silent.contains(page)) {
        walk_pages.add(page, &url(page), if empty.contains(&page) { "? ! a" } else { "one two three" });
        // The first text counts.
        walk_pages.add(page, &url(page), "another");
    }
    assert_eq!(walk_pages.len(), candidates.len() - 30);
    let counts = look_up_with_budget(engine(&folder.path().join("index")), 7, &candidates, &walk_pages);
    assert_eq!((counts.without_text, counts.without_words), (30, 10));
    assert!((3..=7).contains(&counts.asked));
    assert_eq!(counts.presence.len() as u64, 40 + counts.asked);
    assert!(counts.presence[..40].iter().all(Option::is_none));
}
