//! A benchmark of estimators, ours and those of others, on engines of known size: real ones over overlapping parts of a corpus,
//! asked within budgets, many times with other seeds.
//!
//!     cargo run --release -p lookalike-live-census --example known -- pages.jsonl [KEY=VALUE]...
//!
//! The file has JSON lines with `id` and `text`. Keys:
//!
//! - `what=size` (the default), `ratio`, `others` (baselines of a size), `other-ratios`; `part`: prints the pages of an engine, as
//!   scripts/omega takes them
//! - `engine=tantivy`, `sqlite` or `http`; `against=sqlite`: the second of a ratio
//! - `runs=200`, `cap=100`, `calls=500,1000,2000,5000`: calls to each engine
//! - `own=FILE`: an own corpus from elsewhere
//! - `indexed=whole`, `anchors` or a number of first bytes

#![allow(clippy::print_stdout, reason = "it prints a table")]

mod cached_engine;
mod tally;
mod world;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::error::Error;

use lookalike_census::Estimate;
use lookalike_live_census::baselines::{self, Baseline};
use lookalike_live_census::compare::{compare, draw};
use lookalike_live_census::engine_client::WordResult;
use lookalike_live_census::size::{Plan, sample};
use lookalike_live_census::{EngineClient, OwnCorpus};

use cached_engine::CachedEngine;
use tally::Tally;
use world::{ENGINES, Indexed, World};

type Fallible<T> = Result<T, Box<dyn Error>>;

/// Estimates, by the name of the estimator.
type NamedEstimates = Vec<(&'static str, Option<Estimate>)>;

struct Arguments {
    keys: HashMap<String, String>,
}

impl Arguments {
    fn text<'a>(&'a self, key: &str, otherwise: &'a str) -> &'a str {
        self.keys.get(key).map_or(otherwise, String::as_str)
    }

    fn number(&self, key: &str, otherwise: u64) -> Fallible<u64> {
        Ok(self.keys.get(key).map_or(Ok(otherwise), |value| value.parse())?)
    }

    fn engine(&self, key: &str, otherwise: &str) -> Fallible<usize> {
        let name = self.text(key, otherwise);
        Ok(ENGINES.iter().position(|&known| known == name).ok_or(format!("no engine {name}"))?)
    }

    fn calls(&self) -> Fallible<Vec<u64>> {
        let calls = self.text("calls", "500,1000,2000,5000").split(',').map(str::parse);
        Ok(calls.collect::<Result<_, _>>()?)
    }

    fn indexed(&self) -> Fallible<Indexed> {
        Ok(match self.text("indexed", "whole") {
            "whole" => Indexed::Whole,
            "anchors" => Indexed::Anchors,
            bytes => Indexed::First(bytes.parse()?),
        })
    }
}

fn main() -> Fallible<()> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("name a file of JSON lines")?;
    let pair = |argument: String| {
        let (key, value) = argument.split_once('=').ok_or(format!("{argument} is no KEY=VALUE"))?;
        Ok::<_, String>((key.to_owned(), value.to_owned()))
    };
    let arguments = Arguments { keys: arguments.map(pair).collect::<Result<_, _>>()? };
    let world = World::read(&path, arguments.keys.get("own").map(String::as_str))?;
    let engine = arguments.engine("engine", "tantivy")?;
    if arguments.text("what", "size") == "part" {
        for (url, text) in &world.parts[engine] {
            println!("{}", serde_json::json!({"url": url, "text": text}));
        }
        return Ok(());
    }
    println!(
        "own {}, pages {:?}; {:?}",
        world.own.len(),
        world.parts.each_ref().map(Vec::len),
        arguments.keys
    );
    let folder = tempfile::tempdir()?;
    let cap = arguments.number("cap", 100)? as usize;
    let mut shared = world.engine(engine, arguments.indexed()?, folder.path(), cap)?;
    let table = Table { runs: arguments.number("runs", 200)?, calls: arguments.calls()?, own: &world.own };
    match arguments.text("what", "size") {
        "size" => {
            truly_reached(&mut shared, &world.own, world.size(engine))?;
            println!("{}", Tally::HEAD);
            table.sizes(&mut shared, world.size(engine), &our_size)
        }
        "others" => {
            println!("{}", Tally::HEAD);
            baselines::SIZE_BASELINES.iter().try_for_each(|of| {
                table.sizes(&mut shared, world.size(engine), &|client, seed| {
                    Ok(named(of(client, &plan(seed))?))
                })
            })
        }
        what => {
            let second = arguments.engine("against", "sqlite")?;
            let other = world.engine(second, arguments.indexed()?, folder.path(), cap)?;
            let truth = world.size(engine) / world.size(second);
            println!("{}\ncalls are those to each of two engines", Tally::HEAD);
            let engines = &mut [shared, other];
            if what == "ratio" {
                return table.ratios(engines, truth, &our_ratios);
            }
            baselines::RATIO_BASELINES.iter().try_for_each(|of| {
                table.ratios(engines, truth, &|clients, seed| {
                    let [one, two] = clients else { return Err("a ratio has two engines".into()) };
                    Ok(named(of(one, two, &plan(seed))?))
                })
            })
        }
    }
}

/// Many runs with each of some budgets.
struct Table<'o> {
    runs: u64,
    calls: Vec<u64>,
    own: &'o OwnCorpus,
}

impl Table<'_> {
    fn sizes(
        &self,
        shared: &mut CachedEngine,
        truth: f64,
        ask: &dyn Fn(&mut EngineClient<'_>, u64) -> Fallible<NamedEstimates>,
    ) -> Fallible<()> {
        for &calls in &self.calls {
            let mut tallies: BTreeMap<&str, Tally> = BTreeMap::new();
            for seed in 0..self.runs {
                let mut run = shared.run(calls);
                let estimates = ask(&mut EngineClient::new(&mut run, self.own, usize::MAX), seed)?;
                for (name, estimate) in estimates {
                    tallies.entry(name).or_default().take(estimate, truth, run.fetches);
                }
            }
            tallies.iter().for_each(|(name, tally)| println!("{}", tally.row(&shared.name(), name, calls)));
        }
        Ok(())
    }

    fn ratios(
        &self,
        [one, two]: &mut [CachedEngine; 2],
        truth: f64,
        ask: &dyn Fn(&mut [EngineClient<'_>], u64) -> Fallible<NamedEstimates>,
    ) -> Fallible<()> {
        for &calls in &self.calls {
            let mut tallies: BTreeMap<&str, Tally> = BTreeMap::new();
            for seed in 0..self.runs {
                let mut runs = [one.run(calls), two.run(calls)];
                let mut clients: Vec<EngineClient<'_>> =
                    runs.iter_mut().map(|run| EngineClient::new(run, self.own, usize::MAX)).collect();
                let estimates = ask(&mut clients, seed)?;
                drop(clients);
                let fetches = runs.iter().map(|run| run.fetches).sum();
                for (name, estimate) in estimates {
                    tallies.entry(name).or_default().take(estimate, truth, fetches);
                }
            }
            let names = format!("{}/{}", one.name(), two.name());
            tallies.iter().for_each(|(name, tally)| println!("{}", tally.row(&names, name, calls)));
        }
        Ok(())
    }
}

/// Our own estimate.
fn our_size(client: &mut EngineClient<'_>, seed: u64) -> Fallible<NamedEstimates> {
    let found = sample(client, &Plan { seed, ..Plan::default() })?;
    let size = found.size(client)?;
    Ok(vec![("size", Some(size.pages)), ("size of what is reached", Some(size.reached))])
}

/// Our own ratios; estimates are of the second engine beside the first, and inverted.
fn our_ratios(clients: &mut [EngineClient<'_>], seed: u64) -> Fallible<NamedEstimates> {
    let samples = draw(clients, &Plan { seed, looked_at: 2, ..Plan::default() })?;
    let found = compare(&samples, seed);
    let turned = |estimate: Option<Estimate>| {
        estimate.map(|found| Estimate {
            value: 1.0 / found.value,
            error: found.error / found.value.powi(2),
            interval: (1.0 / found.interval.1, 1.0 / found.interval.0),
        })
    };
    Ok(vec![
        ("ratio", turned(found.relative[1])),
        ("by overlap", turned(found.by_overlap[1])),
        ("by sizes", turned(found.by_size[1])),
    ])
}

fn plan(seed: u64) -> baselines::Plan {
    baselines::Plan { queries: 100_000, seed }
}

fn named(estimates: Vec<Baseline>) -> NamedEstimates {
    estimates.into_iter().map(|baseline| (baseline.name, baseline.estimate)).collect()
}

/// Prints the share of the pages that the pool really reaches, found without a limit on calls.
fn truly_reached(shared: &mut CachedEngine, own: &OwnCorpus, truth: f64) -> Fallible<()> {
    let mut run = shared.run(u64::MAX);
    let mut client = EngineClient::new(&mut run, own, usize::MAX);
    let found = sample(&mut client, &Plan { draws: 300, ..Plan::default() })?;
    let mut met = HashSet::new();
    let (mut usable, mut none, mut many) = (0, 0, 0);
    for place in 0..found.pool.len() {
        match client.search(found.pool.word(place))? {
            WordResult::All(pages) if pages.is_empty() => none += 1,
            WordResult::All(pages) => {
                usable += 1;
                met.extend(pages.iter().copied());
            }
            _ => many += 1,
        }
    }
    println!(
        "truly reached {:.3}: queries usable {usable}, without results {none}, with too many {many}; {:?}",
        met.len() as f64 / truth,
        found.faults
    );
    Ok(())
}
