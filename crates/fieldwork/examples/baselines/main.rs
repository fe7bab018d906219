//! What other estimators say of engines whose size is known, beside our own, at the same number of calls.
//!
//!     cargo run --release -p lookalike-fieldwork --example baselines -- pages.jsonl [RUNS] [CAP]
//!
//! The file has JSON lines with `id` and `text`. A sixth of it is the own corpus; of the rest, tantivy has 62 % by chance, and SQLite 34 %,
//! long pages preferred. Calls of a ratio are those to both engines together. Then the same with engines that index the first 4,000 bytes of a
//! page only and still give it whole: fewer runs, one budget.

#![allow(clippy::print_stdout, reason = "it prints a table")]

mod shared;
mod tally;

use std::collections::BTreeMap;
use std::error::Error;
use std::io::{BufRead, BufReader};
use std::path::Path;

use lookalike_census::{Estimate, Random};
use lookalike_engines::sqlite::{SqliteBuilder, SqliteEngine};
use lookalike_engines::tantivy::{TantivyBuilder, TantivyEngine};
use lookalike_engines::{Building, building};
use lookalike_fieldwork::baselines::{self, OfRatio, OfSize};
use lookalike_fieldwork::size::{self, sample};
use lookalike_fieldwork::{Desk, Own};

use shared::{Run, Shared};
use tally::Tally;

/// Pages: address and text.
type Pages = Vec<(String, String)>;

/// What estimators said, by name.
type Said = Vec<(&'static str, Option<Estimate>)>;

/// Two engines over parts of a corpus, and who measures them.
struct World {
    own: Own,
    parts: [Pages; 2],
    /// Lines without `id` or `text`, such as those with markup.
    left_out: usize,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let runs: u64 = arguments.get(1).map_or(Ok(60), |runs| runs.parse())?;
    let cap: usize = arguments.get(2).map_or(Ok(100), |cap| cap.parse())?;
    let world = World::read(arguments.first().ok_or("name a file of JSON lines")?)?;
    let [first, second] = world.parts.each_ref().map(Vec::len);
    let counts = format!(
        "own {}, tantivy {first}, sqlite {second}, lines left out {}",
        world.own.len(),
        world.left_out
    );
    println!("{counts}; cap {cap}, {runs} runs");
    println!("{}", Tally::HEAD);
    world.measure(None, cap, &[500, 2_000, 5_000], runs)?;
    world.measure(Some(4_000), cap, &[2_000], runs.div_ceil(3))
}

impl World {
    fn read(path: &str) -> Result<Self, Box<dyn Error>> {
        let mut random = Random::new(11);
        let mut world = World { own: Own::new(), parts: [Vec::new(), Vec::new()], left_out: 0 };
        for (number, line) in BufReader::new(std::fs::File::open(path)?).lines().enumerate() {
            let value: serde_json::Value = serde_json::from_str(&line?)?;
            let (Some(id), Some(text)) = (value["id"].as_str(), value["text"].as_str()) else {
                world.left_out += 1;
                continue;
            };
            if random.chance(1.0 / 6.0) {
                world.own.add(text);
                continue;
            }
            let long = (text.len() as f64 / 4_000.0).min(1.0);
            for (part, share) in [0.62, 0.15 + 0.6 * long].into_iter().enumerate() {
                if random.chance(share) {
                    world.parts[part].push((format!("{number} {id}"), text.to_owned()));
                }
            }
        }
        Ok(world)
    }

    /// The engines, which index so much of each page.
    fn engines(
        &self,
        folder: &Path,
        first_bytes: Option<usize>,
        cap: usize,
    ) -> Result<[Shared; 2], Box<dyn Error>> {
        let options = Building { first_bytes, ..Building::default() };
        let (one, two) = (folder.join("one"), folder.join("two.db"));
        let pages = |part: usize| self.parts[part].iter().map(|(url, text)| (url.as_str(), text.as_str()));
        building::build(TantivyBuilder::create(&one, &options)?, pages(0))?;
        building::build(SqliteBuilder::create(&two, &options)?, pages(1))?;
        let names = if first_bytes.is_some() { ["tantivy cut", "sqlite cut"] } else { ["tantivy", "sqlite"] };
        Ok([
            Shared::new(Box::new(TantivyEngine::open(names[0], &one, cap)?)),
            Shared::new(Box::new(SqliteEngine::open(names[1], &two, cap)?)),
        ])
    }

    /// All estimators with all budgets.
    fn measure(
        &self,
        first_bytes: Option<usize>,
        cap: usize,
        budgets: &[u64],
        runs: u64,
    ) -> Result<(), Box<dyn Error>> {
        let folder = tempfile::tempdir()?;
        let mut engines = self.engines(folder.path(), first_bytes, cap)?;
        for (shared, part) in engines.iter_mut().zip(&self.parts) {
            let truth = part.len() as f64;
            self.sizes(shared, truth, budgets, runs, ours)?;
            for of in baselines::SIZES {
                self.sizes(shared, truth, budgets, runs, |desk, seed| baseline(of, desk, seed))?;
            }
        }
        for of in baselines::RATIOS {
            self.ratios(&mut engines, of, budgets, runs)?;
        }
        Ok(())
    }

    fn sizes(
        &self,
        shared: &mut Shared,
        truth: f64,
        budgets: &[u64],
        runs: u64,
        ask: impl Fn(&mut Desk<'_>, u64) -> Result<Said, Box<dyn Error>>,
    ) -> Result<(), Box<dyn Error>> {
        for &budget in budgets {
            let mut tallies: BTreeMap<&str, Tally> = BTreeMap::new();
            for seed in 0..runs {
                let mut run = shared.run(budget);
                let said = ask(&mut Desk::new(&mut run, &self.own, usize::MAX), seed)?;
                for (name, estimate) in said {
                    tallies.entry(name).or_default().take(estimate, truth, run.fetches);
                }
            }
            tallies.iter().for_each(|(name, tally)| println!("{}", tally.row(&shared.name(), name, budget)));
        }
        Ok(())
    }

    fn ratios(
        &self,
        [one, two]: &mut [Shared; 2],
        of: OfRatio,
        budgets: &[u64],
        runs: u64,
    ) -> Result<(), Box<dyn Error>> {
        let truth = self.parts[0].len() as f64 / self.parts[1].len() as f64;
        for &budget in budgets {
            let mut tallies: BTreeMap<&str, Tally> = BTreeMap::new();
            for seed in 0..runs {
                let [mut first, mut second]: [Run<'_>; 2] = [one.run(budget / 2), two.run(budget / 2)];
                let mut desks = (
                    Desk::new(&mut first, &self.own, usize::MAX),
                    Desk::new(&mut second, &self.own, usize::MAX),
                );
                let said = of(&mut desks.0, &mut desks.1, &plan(seed))?;
                for baseline in said {
                    tallies.entry(baseline.name).or_default().take(
                        baseline.estimate,
                        truth,
                        baseline.cost.fetches,
                    );
                }
            }
            tallies.iter().for_each(|(name, tally)| {
                println!("{}", tally.row(&format!("{} by", one.name()), name, budget))
            });
        }
        Ok(())
    }
}

fn plan(seed: u64) -> baselines::Plan {
    baselines::Plan { queries: 100_000, seed }
}

/// Our own estimate.
fn ours(desk: &mut Desk<'_>, seed: u64) -> Result<Said, Box<dyn Error>> {
    let found = sample(desk, &size::Plan { seed, ..size::Plan::default() })?;
    Ok(vec![("size", Some(found.size(desk)?.pages))])
}

fn baseline(of: OfSize, desk: &mut Desk<'_>, seed: u64) -> Result<Said, Box<dyn Error>> {
    let said = of(desk, &plan(seed))?;
    Ok(said.into_iter().map(|baseline| (baseline.name, baseline.estimate)).collect())
}
