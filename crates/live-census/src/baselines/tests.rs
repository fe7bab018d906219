//! The baselines on real engines whose size is known.

use std::path::Path;

use lookalike_census::Random;
use lookalike_search_engines::tantivy::{TantivyBuilder, TantivyEngine};
use lookalike_search_engines::{
    BuildOptions, CallPolicy, Caller, FaultPlan, FaultyEngine, SearchEngine, building,
};

use super::*;
use crate::own_corpus::OwnCorpus;

/// Pages of very unequal lengths, with some frequent words and many rare ones, and some numbers.
fn pages(seed: u64, count: usize) -> Vec<(String, String)> {
    pages_of(seed, count, |unit| 8.0 * (3.0 * unit).exp())
}

/// Makes pages whose number of words is `length` of a random number below 1.
fn pages_of(seed: u64, count: usize, length: impl Fn(f64) -> f64) -> Vec<(String, String)> {
    (0..count)
        .map(|number| {
            let mut random = Random::part(seed, number as u64);
            let length = length(random.unit()) as usize;
            let mut text = String::new();
            for _ in 0..length {
                // As Zipf has it: the logarithm of the rank is uniform.
                let rank = (3_000f64.ln() * random.unit()).exp() as u32;
                text += &if rank.is_multiple_of(7) {
                    format!("{} ", 10_000 + rank)
                } else {
                    format!("word{rank} ")
                };
            }
            (format!("page {number}"), text)
        })
        .collect()
}

fn own() -> OwnCorpus {
    let mut own = OwnCorpus::new();
    pages(1, 400).iter().for_each(|(_, text)| own.add(text));
    own
}

/// Builds an index of pages that are found by their first `first_bytes` bytes.
fn index(path: &Path, pages: &[(String, String)], first_bytes: Option<usize>) {
    let options = BuildOptions { first_bytes, ..BuildOptions::default() };
    let builder = TantivyBuilder::create(path, &options).unwrap();
    building::build(builder, pages.iter().map(|(url, text)| (url.as_str(), text.as_str()))).unwrap();
}

fn engine(path: &Path, cap: usize) -> TantivyEngine {
    TantivyEngine::open("known", path, cap).unwrap()
}

fn ask(of: SizeBaseline, engine: &mut dyn SearchEngine, own: &OwnCorpus, plan: &Plan) -> Vec<Baseline> {
    of(&mut EngineClient::new(engine, own, usize::MAX), plan).unwrap()
}

/// Runs that a mean is taken of.
const RUNS: u64 = 3;

/// The mean of an estimate over some seeds.
fn mean(
    of: SizeBaseline,
    path: &Path,
    cap: usize,
    own: &OwnCorpus,
    queries: usize,
) -> Vec<(&'static str, f64)> {
    let runs: Vec<Vec<Baseline>> =
        (0..RUNS).map(|seed| ask(of, &mut engine(path, cap), own, &Plan { queries, seed })).collect();
    let average =
        |place: usize| runs.iter().map(|run| run[place].estimate.unwrap().value).sum::<f64>() / RUNS as f64;
    (0..runs[0].len()).map(|place| (runs[0][place].name, average(place))).collect()
}

/// Pages of an engine.
const SIZE: usize = 800;

#[test]
fn sums_over_pools_are_right_when_all_results_are_shown() {
    let (folder, own) = (tempfile::tempdir().unwrap(), own());
    let path = folder.path().join("index");
    index(&path, &pages(2, SIZE), None);
    // Every query of the pools, so that chance has little left to say.
    let plan = Plan { queries: usize::MAX, seed: 1 };
    for of in [broder::one_pool, broder::one_pool_of_all_words, broder::two_halves, broder::words_and_numbers]
    {
        let found = &ask(of, &mut engine(&path, 10_000), &own, &plan)[0];
        let estimate = found.estimate.unwrap();
        assert!((estimate.value / SIZE as f64 - 1.0).abs() < 0.08, "{}: {estimate:?}", found.name);
        assert!(estimate.covers(SIZE as f64), "{}: {estimate:?}", found.name);
    }
}

#[test]
fn words_that_find_too_much_and_parts_of_pages_make_sums_too_low() {
    let (folder, own) = (tempfile::tempdir().unwrap(), own());
    let [whole, part] = ["whole", "part"].map(|name| folder.path().join(name));
    index(&whole, &pages(2, SIZE), None);
    index(&part, &pages(2, SIZE), Some(150));
    let value = |of, path, cap| mean(of, path, cap, &own, 300)[0].1 / SIZE as f64;
    let (medium, all) =
        (value(broder::one_pool, &whole, 50), value(broder::one_pool_of_all_words, &whole, 50));
    assert!(all < 0.75 && all < medium && medium > 0.85, "all words {all}, medium words {medium}");
    let cut = value(broder::one_pool, &part, 50);
    assert!(cut < 0.8 * medium, "of parts {cut}, of whole pages {medium}");
}

#[test]
fn captures_are_too_low_and_get_better() {
    let (folder, own) = (tempfile::tempdir().unwrap(), own());
    let path = folder.path().join("index");
    index(&path, &pages(2, SIZE), None);
    let [few, many] = [100, 600].map(|queries| mean(captures::captures, &path, 50, &own, queries));
    assert_eq!(few.iter().map(|few| few.0).collect::<Vec<_>>(), ["chapman", "chao1", "lu-li", "birthday"]);
    for (few, many) in few.iter().zip(&many).take(2) {
        assert!(few.1 < many.1 && many.1 < SIZE as f64, "{few:?} and then {many:?}");
    }
    // That one allows for unequal pages; these are less so than texts are.
    assert!((0.9..1.3).contains(&(many[2].1 / SIZE as f64)), "{many:?}");
    assert!(many[3].1 < 0.8 * SIZE as f64, "{many:?}");
}

#[test]
fn a_bound_is_what_is_claimed_or_else_shown() {
    let (folder, own) = (tempfile::tempdir().unwrap(), own());
    let path = folder.path().join("index");
    let mut all = pages(2, SIZE);
    (0..10).for_each(|number| all.push((format!("other {number}"), "nothing of that".to_owned())));
    index(&path, &all, None);
    let bound = &ask(lower_bound::lower_bound, &mut engine(&path, 50), &own, &Plan::default())[0];
    let estimate = bound.estimate.unwrap();
    assert!(estimate.value <= SIZE as f64 && estimate.value > 0.95 * SIZE as f64, "{estimate:?}");
    assert!(estimate.covers(SIZE as f64 + 10.0) && !estimate.covers(estimate.value - 1.0));
    assert_eq!(bound.cost, Cost { calls: 1, fetches: 0 });
}

/// Returns the values of all estimators of a ratio for indexes of these pages.
fn ratios(one: &[(String, String)], two: &[(String, String)]) -> Vec<(&'static str, f64)> {
    let (folder, own) = (tempfile::tempdir().unwrap(), own());
    let paths = ["one", "two"].map(|name| folder.path().join(name));
    index(&paths[0], one, None);
    index(&paths[1], two, None);
    let [mut one, mut two] = paths.map(|path| engine(&path, 100));
    let ask = |of: RatioBaseline| {
        let mut clients = (EngineClient::new(&mut one, &own, 100), EngineClient::new(&mut two, &own, 100));
        of(&mut clients.0, &mut clients.1, &Plan { queries: 1_500, seed: 3 }).unwrap()
    };
    let found = RATIO_BASELINES.into_iter().flat_map(ask);
    found.map(|baseline| (baseline.name, baseline.estimate.unwrap().value)).collect()
}

#[test]
fn ratios_are_right_where_pages_are_alike() {
    let all = pages_of(2, 1_000, |_| 60.0);
    // 750 pages and 500, 250 of them in both: 1.5 times as large. The mean of ratios is known to be too high.
    for (name, ratio) in ratios(&all[..750], &all[500..]) {
        let high = if name == "lawrence-giles" { 2.4 } else { 1.8 };
        assert!((1.25..high).contains(&ratio), "{name}: {ratio}");
    }
}

#[test]
fn ratios_are_those_of_long_pages() {
    let mut all = pages(2, 600);
    all.sort_by_key(|(_, text)| std::cmp::Reverse(text.len()));
    // The first engine has three times as many pages, and nearly all of the words are on pages that both have.
    for (name, ratio) in ratios(&all, &all[..200]) {
        assert!((1.0..2.0).contains(&ratio), "{name}: {ratio}");
    }
}

#[test]
fn a_budget_ends_a_baseline_without_spoiling_it() {
    let (folder, own) = (tempfile::tempdir().unwrap(), own());
    let path = folder.path().join("index");
    index(&path, &pages(2, SIZE), None);
    let policy = CallPolicy { calls: 120, repeat_every: 0, ..CallPolicy::default() };
    for of in SIZE_BASELINES {
        let run = || {
            let mut caller = Caller::new(Box::new(engine(&path, 50)), None, policy.clone()).unwrap();
            let found = ask(of, &mut caller, &own, &Plan { queries: usize::MAX, seed: 1 });
            (found, caller.counts())
        };
        let (found, counts) = run();
        assert_eq!(run().0, found);
        for baseline in found {
            assert_eq!((baseline.cost.calls, baseline.cost.fetches), (counts.calls, counts.fetches));
            assert!(baseline.cost.calls == 120 || baseline.name == "lower-bound");
            assert!(baseline.estimate.is_some() || baseline.name == "birthday", "{}", baseline.name);
        }
    }
}

#[test]
fn an_engine_that_keeps_silent_tells_nothing() {
    let (folder, own) = (tempfile::tempdir().unwrap(), own());
    let path = folder.path().join("index");
    index(&path, &pages(2, 50), None);
    for of in SIZE_BASELINES {
        let mut silent =
            FaultyEngine::new(engine(&path, 50), FaultPlan { failing: 1.0, ..FaultPlan::default() });
        for baseline in ask(of, &mut silent, &own, &Plan { queries: 20, seed: 1 }) {
            assert_eq!(baseline.estimate, None, "{}", baseline.name);
        }
    }
}
