//! How far off the estimates are, on engines whose size is known: two real ones over overlapping parts of a corpus, asked within budgets,
//! many times with other seeds.
//!
//!     cargo run --release -p lookalike-fieldwork --example known -- pages.jsonl [RUNS] [CAP]
//!
//! The file has JSON lines with `id` and `text`. A sixth of it is the own corpus; of the rest, tantivy has 62 % by chance, and SQLite 34 %,
//! long pages preferred.

#![allow(clippy::print_stdout, reason = "it prints a table")]

use std::collections::HashMap;
use std::error::Error;
use std::io::{BufRead, BufReader};

use lookalike_census::Random;
use lookalike_engines::{
    Building, EngineError, Fetched, IndexBuilder, Query, Results, SearchEngine, sqlite::SqliteBuilder,
    sqlite::SqliteEngine, tantivy::TantivyBuilder, tantivy::TantivyEngine,
};
use lookalike_fieldwork::compare::{compare, draw};
use lookalike_fieldwork::size::{Plan, sample};
use lookalike_fieldwork::{Desk, Own};

type Answers = HashMap<(Query, usize), Results>;

/// Pages of a corpus: address and text.
type Pages = Vec<(String, String)>;

/// An engine that many runs ask, each within a budget of its own. What one run asked is remembered for the next: it costs the run, and not us.
struct Shared<E> {
    engine: E,
    answers: Answers,
    pages: HashMap<String, Option<Fetched>>,
    fetches: u64,
}

/// One run's view of it.
struct Run<'a> {
    of: &'a mut Shared<Box<dyn SearchEngine>>,
    calls: u64,
    budget: u64,
}

impl SearchEngine for Run<'_> {
    fn name(&self) -> &str {
        self.of.engine.name()
    }

    fn kind(&self) -> &str {
        self.of.engine.kind()
    }

    fn cap(&self) -> usize {
        self.of.engine.cap()
    }

    fn search(&mut self, query: &Query, limit: usize) -> Result<Results, EngineError> {
        if self.calls == self.budget {
            let engine = self.name().to_owned();
            return Err(EngineError::Spent { engine, what: "calls", budget: self.budget });
        }
        self.calls += 1;
        let key = (query.clone(), limit);
        if let Some(results) = self.of.answers.get(&key) {
            return Ok(results.clone());
        }
        let results = self.of.engine.search(query, limit)?;
        self.of.answers.insert(key, results.clone());
        Ok(results)
    }

    fn fetch(&mut self, url: &str) -> Result<Option<Fetched>, EngineError> {
        self.of.fetches += 1;
        if let Some(page) = self.of.pages.get(url) {
            return Ok(page.clone());
        }
        let page = self.of.engine.fetch(url)?;
        self.of.pages.insert(url.to_owned(), page.clone());
        Ok(page)
    }
}

fn read(path: &str) -> Result<Pages, Box<dyn Error>> {
    let mut pages = Vec::new();
    for line in BufReader::new(std::fs::File::open(path)?).lines() {
        let value: serde_json::Value = serde_json::from_str(&line?)?;
        if let (Some(id), Some(text)) = (value["id"].as_str(), value["text"].as_str()) {
            pages.push((format!("{} {id}", pages.len()), text.to_owned()));
        }
    }
    Ok(pages)
}

/// An engine of these pages.
fn build(mut builder: Box<dyn IndexBuilder>, pages: &[&(String, String)]) -> Result<(), EngineError> {
    for (url, text) in pages {
        builder.add(url, text, text)?;
    }
    builder.finish().map(|_| ())
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let pages = read(arguments.first().ok_or("name a file of JSON lines")?)?;
    let runs: u64 = arguments.get(1).map_or(Ok(50), |runs| runs.parse())?;
    let cap: usize = arguments.get(2).map_or(Ok(100), |cap| cap.parse())?;
    let mut random = Random::new(11);
    let mut own = Own::new();
    let (mut first, mut second) = (Vec::new(), Vec::new());
    for page in &pages {
        if random.chance(1.0 / 6.0) {
            own.add(&page.1);
            continue;
        }
        if random.chance(0.62) {
            first.push(page);
        }
        let long = (page.1.len() as f64 / 4_000.0).min(1.0);
        if random.chance(0.15 + 0.6 * long) {
            second.push(page);
        }
    }
    let folder = tempfile::tempdir()?;
    let (one, two) = (folder.path().join("one"), folder.path().join("two.db"));
    build(TantivyBuilder::create(&one, &Building::default())?, &first)?;
    build(SqliteBuilder::create(&two, &Building::default())?, &second)?;
    println!(
        "{} pages: own {}, tantivy {}, sqlite {}; cap {cap}, {runs} runs",
        pages.len(),
        own.len(),
        first.len(),
        second.len()
    );
    let engines: [(Box<dyn SearchEngine>, usize); 2] = [
        (Box::new(TantivyEngine::open("tantivy", &one, cap)?), first.len()),
        (Box::new(SqliteEngine::open("sqlite", &two, cap)?), second.len()),
    ];
    println!("engine     calls  fetches  draws   ess   RMSE   bias  covers  share reached");
    let mut all: Vec<Shared<Box<dyn SearchEngine>>> = Vec::new();
    for (engine, truth) in engines {
        let mut shared = Shared { engine, answers: HashMap::new(), pages: HashMap::new(), fetches: 0 };
        truly_reached(&mut shared, &own, if truth == first.len() { &first } else { &second })?;
        for budget in [500, 1_000, 2_000, 5_000] {
            table_row(&mut shared, &own, truth as f64, budget, runs)?;
        }
        all.push(shared);
    }
    println!("ratio: calls in all, draws; RMSE, bias and covers by overlap, by sizes, by both");
    for budget in [500, 1_000, 2_000, 5_000] {
        ratio_row(&mut all, &own, first.len() as f64 / second.len() as f64, budget, runs)?;
    }
    Ok(())
}

/// How far off the ratio of both sizes is, at a budget for each engine.
fn ratio_row(
    all: &mut [Shared<Box<dyn SearchEngine>>],
    own: &Own,
    truth: f64,
    budget: u64,
    runs: u64,
) -> Result<(), Box<dyn Error>> {
    let mut sums = [(0.0, 0.0, 0u64); 3];
    let mut draws = 0;
    for seed in 0..runs {
        let mut views: Vec<Run<'_>> = all.iter_mut().map(|of| Run { of, calls: 0, budget }).collect();
        let mut desks: Vec<Desk<'_>> =
            views.iter_mut().map(|view| Desk::new(view, own, usize::MAX)).collect();
        let sides = draw(&mut desks, &Plan { seed, looked_at: 2, ..Plan::default() })?;
        draws += sides[0].draws.len();
        let found = compare(&sides, seed);
        for (sum, found) in sums.iter_mut().zip([&found.by_overlap, &found.by_size, &found.relative]) {
            let Some(found) = found[1] else { continue };
            let off = truth * found.value - 1.0;
            *sum = (sum.0 + off * off, sum.1 + off, sum.2 + u64::from(found.covers(1.0 / truth)));
        }
    }
    let n = runs as f64;
    let told = sums.map(|(squares, bias, covered)| {
        let covered = 100.0 * covered as f64 / n;
        format!("{:5.1}% {:+5.1}% {covered:5.1}%", 100.0 * (squares / n).sqrt(), 100.0 * bias / n)
    });
    println!("{:6} {:6.0}   {}", 2 * budget, draws as f64 / n, told.join("   "));
    Ok(())
}

/// What the pool reaches of the pages, and by how many words, seen by someone who may ask without end.
fn truly_reached(
    shared: &mut Shared<Box<dyn SearchEngine>>,
    own: &Own,
    pages: &[&(String, String)],
) -> Result<(), Box<dyn Error>> {
    let mut run = Run { of: shared, calls: 0, budget: u64::MAX };
    let mut desk = Desk::new(&mut run, own, usize::MAX);
    let found = sample(&mut desk, &Plan { draws: 300, ..Plan::default() })?;
    let mut met: std::collections::HashSet<String> = std::collections::HashSet::new();
    let (mut usable, mut none, mut many) = (0, 0, 0);
    for place in 0..found.pool.len() {
        let answer = desk.search(found.pool.word(place))?;
        match answer {
            lookalike_fieldwork::desk::Found::All(pages) if pages.is_empty() => none += 1,
            lookalike_fieldwork::desk::Found::All(_) => usable += 1,
            _ => many += 1,
        }
        let results = answer.usable().to_vec();
        met.extend(results.into_iter().map(|page| desk.url(page).to_owned()));
    }
    println!(
        "truly reached {:.3}: queries usable {usable}, without results {none}, with too many {many}; {:?}",
        met.len() as f64 / pages.len() as f64,
        found.amiss
    );
    Ok(())
}

fn table_row(
    shared: &mut Shared<Box<dyn SearchEngine>>,
    own: &Own,
    truth: f64,
    budget: u64,
    runs: u64,
) -> Result<(), Box<dyn Error>> {
    let (mut squares, mut bias, mut covered, mut draws, mut share, mut ess) = (0.0, 0.0, 0, 0, 0.0, 0.0);
    shared.fetches = 0;
    for seed in 0..runs {
        let mut run = Run { of: shared, calls: 0, budget };
        let mut desk = Desk::new(&mut run, own, usize::MAX);
        let found = sample(&mut desk, &Plan { seed, ..Plan::default() })?;
        let size = found.size(&desk)?;
        let off = size.pages.value / truth - 1.0;
        squares += off * off;
        bias += off;
        covered += u64::from(size.pages.covers(truth));
        draws += size.draws.0;
        share += size.coverage.value;
        ess += size.effective;
    }
    let n = runs as f64;
    println!(
        "{:9} {budget:6} {:8.0} {:6.0} {:5.0} {:5.1}% {:+5.1}% {:6.1}% {:6.3}",
        shared.engine.name(),
        shared.fetches as f64 / n,
        draws as f64 / n,
        ess / n,
        100.0 * (squares / n).sqrt(),
        100.0 * bias / n,
        100.0 * covered as f64 / n,
        share / n,
    );
    Ok(())
}
