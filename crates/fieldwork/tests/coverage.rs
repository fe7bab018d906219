//! A web that an engine has a known part of: the share estimated from a walk and the engine's answers must be near.

use std::collections::HashSet;
use std::path::Path;

use lookalike_census::Random;
use lookalike_census::graph::Graph;
use lookalike_census::walks::checks::{Due, order, share};
use lookalike_census::walks::{Budget, LinkedWeb, Method, Walk, seeds, walk};
use lookalike_engines::tantivy::{TantivyBuilder, TantivyEngine};
use lookalike_engines::{
    Building, Caller, EngineError, Fetched, IndexBuilder, Manners, Query, Results, SearchEngine,
};
use lookalike_fieldwork::Desk;
use lookalike_fieldwork::coverage::{Looked, Shelf, look};

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
    let mut builder = TantivyBuilder::create(path, &Building::default()).unwrap();
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

fn texts(due: &[Due]) -> Shelf {
    let mut shelf = Shelf::new(due);
    (0..PAGES as u32).for_each(|page| shelf.add(page, &url(page), &text(page)));
    shelf
}

fn looked(engine: Box<dyn SearchEngine>, calls: u64, due: &[Due], shelf: &Shelf) -> Looked {
    let manners = Manners { calls, fetches: 5 * calls, again: 0, ..Manners::default() };
    let mut caller = Caller::new(engine, None, manners).unwrap();
    look(&mut Desk::new(&mut caller, shelf.own(), 100), due, shelf).unwrap()
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

    fn fetch(&mut self, url: &str) -> Result<Option<Fetched>, EngineError> {
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
        let due = order(&walk, seed);
        let shelf = texts(&due);
        let engines = [open(), Box::new(WithoutAddresses(open()))];
        for (kind, engine) in engines.into_iter().enumerate() {
            let looked = looked(engine, 400, &due, &shelf);
            assert_eq!(looked.asked, looked.found + looked.missing + looked.silent);
            // Two calls for a page that is not there by its address, else one.
            assert!((200..=400).contains(&looked.asked) && looked.alike > 0, "{looked:?}");
            let found = share(&walk, &due, &looked.seen).unwrap().estimate;
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
    let due = order(&walk, 3);
    let mut shelf = Shelf::new(&due);
    shelf.name(url);
    let looked = looked(engine(&folder.path().join("index")), 5_000, &due, &shelf);
    assert_eq!((looked.asked as usize, looked.alike, looked.silent), (due.len(), 0, 0));
    let there = due.iter().filter(|due| has(due.page) && !due.page.is_multiple_of(10)).count();
    assert_eq!(looked.found as usize, there);
}

#[test]
fn pages_without_texts_or_words_are_counted_and_cost_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let walk = walked(5);
    let due = order(&walk, 5);
    let mut shelf = Shelf::new(&due);
    let (silent, empty): (HashSet<u32>, HashSet<u32>) =
        (due.iter().take(30).map(|due| due.page).collect(), due[30..40].iter().map(|due| due.page).collect());
    for page in (0..PAGES as u32).filter(|page| !silent.contains(page)) {
        shelf.add(page, &url(page), if empty.contains(&page) { "? ! a" } else { "one two three" });
        // The first text counts.
        shelf.add(page, &url(page), "another");
    }
    assert_eq!(shelf.len(), due.len() - 30);
    let looked = looked(engine(&folder.path().join("index")), 7, &due, &shelf);
    assert_eq!((looked.without_text, looked.without_words), (30, 10));
    assert!((3..=7).contains(&looked.asked));
    assert_eq!(looked.seen.len() as u64, 40 + looked.asked);
    assert!(looked.seen[..40].iter().all(Option::is_none));
}
