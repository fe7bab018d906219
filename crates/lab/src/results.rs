//! What a comparison writes: tables for programs, a study for people, pairs for both.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use lookalike::corpus::write::rows::{Cell, Column, Kind, RowFormat, RowWriter};
use lookalike::report::study::{Axis, Bars, Grid, Heat, Lines, Origin, Plot, Point, Series, Value};
use lookalike::report::{Study, thousands};
use lookalike::walk::Watch;
use serde::Serialize;

use crate::compare::{Against, Comparison, Contender, Request};
use crate::error::LabError;
use crate::pool::Mask;
use crate::published::{zelenkov, zelenkov_dice};
use crate::strata::{Share, Strata};
use crate::trial::Bench;

/// Everything that can change the result of a comparison, and what it was made on.
#[derive(Debug, Clone, Serialize)]
pub struct Heading {
    /// Version of the program.
    pub lookalike: &'static str,
    /// What a near-duplicate is.
    pub truth: String,
    /// On words of this profile.
    pub profile: String,
    /// What recall is a share of: union or exact.
    pub pool: &'static str,
    /// Larger groups did not propose all of their pairs.
    pub max_group: usize,
    /// Seed of every random choice.
    pub seed: u64,
    /// Documents that were compared.
    pub documents: u64,
    /// Pairs of the pool.
    pub pairs: u64,
    /// Those that were measured.
    pub measured: u64,
    /// Near-duplicates in the pool.
    pub near: f64,
}

/// One method, for programs.
#[derive(Debug, Clone, Serialize)]
pub struct MethodLine {
    /// What it is called here.
    pub method: String,
    /// It with every parameter.
    pub recipes: Vec<String>,
    /// Its bit in the masks of `pairs.parquet`; nothing if it did not run.
    pub bit: Option<usize>,
    /// Why it did not run.
    pub failed: Option<String>,
    /// Pairs that it accepts.
    pub pairs: Option<u64>,
    /// Near-duplicates among them.
    pub near: Option<f64>,
    /// Share of the near-duplicates that it finds.
    pub recall: Option<Share>,
    /// Share of near-duplicates among its pairs.
    pub precision: Option<Share>,
    /// The harmonic mean of both.
    pub f: Option<Share>,
    /// Documents with words that it has no signature for.
    pub unsigned: Option<u64>,
    /// Documents that it refuses, and why it refuses the first.
    pub refused: Option<u64>,
    /// Why it refuses the first of them.
    pub refusal: Option<String>,
    /// Groups that were too large to propose all of their pairs, and how many pairs are in them.
    pub giant_groups: Option<u64>,
    /// Pairs inside of them, which are not in the counts.
    pub pairs_in_giant_groups: Option<u64>,
    /// Bytes of payload and keys.
    pub bytes_per_document: Option<f64>,
    /// Documents per second, from reading to pairs.
    pub documents_per_second: Option<f64>,
}

#[derive(Serialize)]
struct MethodsFile<'f> {
    #[serde(flatten)]
    heading: &'f Heading,
    methods: &'f [MethodLine],
}

#[derive(Serialize)]
struct AgreementFile<'f> {
    #[serde(flatten)]
    heading: &'f Heading,
    methods: Vec<&'f str>,
    /// Dice's coefficient of the pairs of two methods.
    dice: Vec<Vec<Option<f64>>>,
}

#[derive(Serialize)]
struct CoverageFile<'f> {
    #[serde(flatten)]
    heading: &'f Heading,
    /// What two methods find together, as a share of all near-duplicates.
    pairs: Vec<Together<'f>>,
    /// The methods in the order in which each adds most.
    greedy: Vec<Step<'f>>,
}

#[derive(Serialize)]
struct Together<'f> {
    methods: [&'f str; 2],
    coverage: Option<Share>,
}

/// A step of the greedy order.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Step<'f> {
    /// The method that adds most to those before it.
    pub method: &'f str,
    /// What is covered then.
    pub coverage: Share,
    /// What it added.
    pub gain: f64,
}

/// A comparison with all that it was made of.
#[derive(Debug)]
pub struct Results<'r> {
    bench: &'r Bench<'r>,
    request: &'r Request,
    comparison: &'r Comparison,
}

fn has(method: usize) -> impl Fn(Mask) -> bool {
    move |mask| mask >> method & 1 == 1
}

impl<'r> Results<'r> {
    /// Of a comparison that was run on this bench for this request.
    pub fn new(bench: &'r Bench<'r>, request: &'r Request, comparison: &'r Comparison) -> Self {
        Results { bench, request, comparison }
    }

    /// The methods that were asked for.
    pub fn roster(&self) -> &[crate::roster::Entry] {
        &self.request.methods
    }

    fn strata(&self) -> &Strata {
        &self.comparison.strata
    }

    /// What stands above all tables.
    pub fn heading(&self) -> Heading {
        Heading {
            lookalike: env!("CARGO_PKG_VERSION"),
            truth: self.request.truth.to_string(),
            profile: self.request.profile.recipe().to_string(),
            pool: match self.request.against {
                Against::Union => "union",
                Against::Exact => "exact",
            },
            max_group: self.bench.max_group,
            seed: self.bench.seed,
            documents: self.bench.shelf.facts().documents,
            pairs: self.strata().pairs(|_| true),
            measured: self.strata().measured_pairs(),
            near: self.strata().near(|_| true),
        }
    }

    /// Every method, in the order that was asked for.
    pub fn methods(&self) -> Vec<MethodLine> {
        self.comparison.contenders.iter().map(|contender| self.method(contender)).collect()
    }

    fn method(&self, contender: &Contender) -> MethodLine {
        let facts = contender.facts.as_ref().ok();
        let strata = self.strata();
        let of = |figure: &dyn Fn(usize) -> Option<Share>| contender.place.and_then(figure);
        MethodLine {
            method: contender.name.clone(),
            recipes: facts
                .map_or_else(Vec::new, |facts| facts.recipes.iter().map(ToString::to_string).collect()),
            bit: contender.place,
            failed: contender.facts.as_ref().err().cloned(),
            pairs: facts.map(|facts| facts.pairs),
            near: contender.place.map(|place| strata.near(has(place))),
            recall: of(&|place| strata.coverage(has(place)).filter(|_| strata.pairs(has(place)) > 0)),
            precision: of(&|place| strata.precision(has(place))),
            f: of(&|place| strata.f(has(place))),
            unsigned: facts.map(|facts| facts.unsigned),
            refused: facts.map(|facts| facts.refused),
            refusal: facts.and_then(|facts| facts.refusal.clone()),
            giant_groups: facts.map(|facts| facts.giant_groups),
            pairs_in_giant_groups: facts.map(|facts| facts.pairs_in_giant_groups),
            bytes_per_document: facts.map(|facts| facts.bytes),
            documents_per_second: facts.map(|facts| facts.rate()),
        }
    }

    /// Dice's coefficient of any two methods that ran.
    pub fn dice(&self) -> Vec<Vec<Option<f64>>> {
        let methods = self.comparison.methods();
        (0..methods).map(|one| (0..methods).map(|other| self.strata().dice(one, other)).collect()).collect()
    }

    /// The methods in the order in which each adds most.
    pub fn greedy(&self) -> Vec<Step<'r>> {
        let names = self.comparison.names();
        let mut before = 0.0;
        let step = |(method, coverage): (usize, Share)| {
            let gain = coverage.value - before;
            before = coverage.value;
            Step { method: names[method], coverage, gain }
        };
        self.strata().greedy(names.len()).into_iter().map(step).collect()
    }

    /// Writes `methods.json`, `agreement.json`, `coverage.json`, `pairs.parquet` and `review.jsonl`.
    pub fn write(&self, folder: &Path, watch: &Watch) -> Result<(), LabError> {
        let heading = self.heading();
        let names = self.comparison.names();
        let methods = self.methods();
        json(&folder.join("methods.json"), &MethodsFile { heading: &heading, methods: &methods })?;
        let agreement = AgreementFile { heading: &heading, methods: names.clone(), dice: self.dice() };
        json(&folder.join("agreement.json"), &agreement)?;
        let together = |(one, other): (usize, usize)| Together {
            methods: [names[one], names[other]],
            coverage: self.strata().coverage(|mask| has(one)(mask) || has(other)(mask)),
        };
        let pairs = two_of(names.len()).map(together).collect();
        let coverage = CoverageFile { heading: &heading, pairs, greedy: self.greedy() };
        json(&folder.join("coverage.json"), &coverage)?;
        self.write_pairs(&folder.join("pairs.parquet"), &heading, watch)?;
        self.write_review(&folder.join("review.jsonl"))
    }

    fn write_pairs(&self, path: &Path, heading: &Heading, watch: &Watch) -> Result<(), LabError> {
        const COLUMNS: &[Column] = &[
            Column::new("a", Kind::Text),
            Column::new("b", Kind::Text),
            Column::new("a_n", Kind::U64),
            Column::new("b_n", Kind::U64),
            Column::new("mask", Kind::U64),
            Column::new("similarity", Kind::OptionalF64),
            Column::new("verdict", Kind::Text),
        ];
        let recipe = serde_json::to_string(&(heading, self.comparison.names()))
            .map_err(|error| LabError::write(path, &error))?;
        let mut rows = RowWriter::create(path, RowFormat::Parquet, COLUMNS, &recipe)?;
        let methods = self.comparison.methods_mask();
        let mut names = Names::default();
        for (count, seen) in self.comparison.seen()?.enumerate() {
            let seen = seen?;
            if count % 4096 == 0 {
                watch.check()?;
            }
            let (a, a_n) = names.of(self.bench, seen.pair.a)?;
            let (b, b_n) = names.of(self.bench, seen.pair.b)?;
            let verdict = match seen.near {
                Some(true) => "near",
                Some(false) => "not",
                None => "unmeasured",
            };
            rows.push(&[
                Cell::Text(&a),
                Cell::Text(&b),
                Cell::U64(a_n),
                Cell::U64(b_n),
                Cell::U64(seen.pair.mask & methods),
                Cell::OptionalF64(seen.similarity),
                Cell::Text(verdict),
            ])?;
        }
        Ok(rows.finish()?)
    }

    fn write_review(&self, path: &Path) -> Result<(), LabError> {
        let file = File::create(path).map_err(|error| LabError::write(path, &error))?;
        let mut out = BufWriter::new(file);
        let names = self.comparison.names();
        for (n, seen) in self.comparison.review.iter().enumerate() {
            let (a, b) = (self.bench.shelf.line(seen.pair.a)?, self.bench.shelf.line(seen.pair.b)?);
            let line = ReviewLine {
                n: n as u64,
                a: &a.name,
                b: &b.name,
                similarity: seen.similarity,
                methods: (0..names.len())
                    .filter(|&method| has(method)(seen.pair.mask))
                    .map(|m| names[m])
                    .collect(),
                text_a: &a.text,
                text_b: &b.text,
            };
            let written = serde_json::to_writer(&mut out, &line).map_err(std::io::Error::from);
            written.and_then(|()| out.write_all(b"\n")).map_err(|error| LabError::write(path, &error))?;
        }
        out.flush().map_err(|error| LabError::write(path, &error))
    }
}

/// A pair for a person to look at.
#[derive(Debug, Serialize)]
struct ReviewLine<'r> {
    n: u64,
    a: &'r str,
    b: &'r str,
    similarity: Option<f64>,
    methods: Vec<&'r str>,
    text_a: &'r str,
    text_b: &'r str,
}

/// Names of documents that were asked for last: pairs come in order, so the first document is often the same.
#[derive(Default)]
struct Names {
    known: BTreeMap<u32, (String, u64)>,
}

impl Names {
    const MOST: usize = 10_000;

    fn of(&mut self, bench: &Bench<'_>, document: u32) -> Result<(String, u64), LabError> {
        if let Some(known) = self.known.get(&document) {
            return Ok(known.clone());
        }
        if self.known.len() >= Names::MOST {
            self.known.clear();
        }
        let line = bench.shelf.line(document)?;
        self.known.insert(document, (line.name.clone(), line.n));
        Ok((line.name, line.n))
    }
}

/// Any two of so many, the first below the second.
pub(crate) fn two_of(number: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..number).flat_map(move |one| (one + 1..number).map(move |other| (one, other)))
}

/// Writes a value as JSON, with a line end behind it.
pub fn json(path: &Path, value: &impl Serialize) -> Result<(), LabError> {
    let text = serde_json::to_string_pretty(value).map_err(|error| LabError::write(path, &error))? + "\n";
    std::fs::write(path, text).map_err(|error| LabError::write(path, &error))
}

impl Results<'_> {
    /// The comparison for people.
    pub fn study(&self, id: &str, title: &str) -> Study {
        let mut study = Study { id: id.to_owned(), title: title.to_owned(), ..Study::default() };
        study.lead = self.lead();
        study.notes = self.notes();
        self.facts(&mut study);
        self.show(&mut study);
        study
    }

    /// The result in a sentence.
    pub fn lead(&self) -> String {
        let mut lines: Vec<MethodLine> = self.methods();
        lines.retain(|line| line.f.is_some());
        let value = |line: &MethodLine| line.f.map_or(0.0, |f| f.value);
        lines.sort_by(|one, other| value(other).total_cmp(&value(one)));
        let heading = self.heading();
        let pool = match self.request.against {
            Against::Union => format!("{} pairs that some method accepts", thousands(heading.pairs)),
            Against::Exact => {
                format!("the {} near-duplicates that there are", thousands(heading.near.round() as u64))
            }
        };
        match lines.first() {
            None => format!("No method accepts a pair among {} documents.", thousands(heading.documents)),
            Some(best) => format!(
                "Of {pool} among {} documents, {} does best: it finds {} of the near-duplicates, and {} of its pairs are \
                 some (F {}).",
                thousands(heading.documents),
                best.method,
                share(best.recall),
                share(best.precision),
                share(best.f),
            ),
        }
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        let heading = self.heading();
        if heading.measured < heading.pairs {
            notes.push(format!(
                "{} of the {} pairs were measured, drawn at random from each group of pairs that the same methods accept; \
                 the intervals say how sure the figures are.",
                thousands(heading.measured),
                thousands(heading.pairs)
            ));
        }
        for contender in &self.comparison.contenders {
            let name = &contender.name;
            match &contender.facts {
                Err(why) => notes.push(format!("{name} was left out: {why}.")),
                Ok(facts) => {
                    if facts.refused > 0 {
                        let why = facts.refusal.as_deref().unwrap_or("no reason is known");
                        notes.push(format!(
                            "{name} refuses {} of the documents and was run without them; of the first it says: {why}.",
                            thousands(facts.refused)
                        ));
                    }
                    if facts.giant_groups > 0 {
                        notes.push(format!(
                            "{name} has {} groups of more than {} documents; up to {} pairs in them are in no count.",
                            thousands(facts.giant_groups),
                            thousands(self.bench.max_group as u64),
                            thousands(facts.pairs_in_giant_groups)
                        ));
                    }
                }
            }
        }
        let stock = self.bench.shelf.facts();
        if let Some(why) = &stock.first_rejection {
            notes.push(format!(
                "{} records could not be read and are left out; the first: {why}.",
                thousands(stock.rejected)
            ));
        }
        notes
    }

    fn facts(&self, study: &mut Study) {
        let heading = self.heading();
        study.fact("documents", thousands(heading.documents));
        study.fact("near-duplicate", format!("{} on words of {}", heading.truth, heading.profile));
        study.fact(
            "recall is a share of",
            match self.request.against {
                Against::Union => "the near-duplicates that some method finds",
                Against::Exact => "all near-duplicates, by the exact join",
            },
        );
        study.fact("pairs in the pool", thousands(heading.pairs));
        study.fact("pairs measured", thousands(heading.measured));
        study.fact("near-duplicates", thousands(heading.near.round() as u64));
        study.fact("largest group", thousands(self.bench.max_group as u64));
        study.fact("seed", heading.seed.to_string());
        study.fact("threads", self.bench.settings.threads.to_string());
    }

    /// Tables and pictures.
    pub fn show(&self, study: &mut Study) {
        self.methods_table(study);
        study.plot(self.quality());
        self.agreement(study);
        self.coverage(study);
        study.plot(self.similarities());
    }

    /// What each method finds, with what Zelenkov and Segalovich report where they report it.
    pub fn methods_table(&self, study: &mut Study) {
        let lines = self.methods();
        let published = lines.iter().any(|line| zelenkov(&line.method).is_some());
        let sampled = lines.iter().any(|line| line.recall.is_some_and(|share| share.interval.is_some()));
        let mut columns = vec!["method", "pairs", "near-duplicates", "recall"];
        columns.extend(sampled.then_some("95 %"));
        columns.push("precision");
        columns.extend(sampled.then_some("95 %"));
        columns.push("F");
        if published {
            columns.extend(["recall, published", "precision, published", "F, published"]);
        }
        columns.extend(["without signature", "bytes per document", "documents per second"]);
        let mut grid = Grid::new("What each method finds", columns);
        for line in &lines {
            let value = |share: Option<Share>| Value::from(share.map(|share| share.value));
            let interval = |share: Option<Share>| Value::from(share.and_then(|share| share.interval));
            let mut row: Vec<Value> = vec![
                line.method.as_str().into(),
                line.pairs.into(),
                line.near.map(|near| near.round() as u64).into(),
            ];
            row.push(value(line.recall));
            row.extend(sampled.then(|| interval(line.recall)));
            row.push(value(line.precision));
            row.extend(sampled.then(|| interval(line.precision)));
            row.push(value(line.f));
            if published {
                let theirs = zelenkov(&line.method);
                row.extend([
                    theirs.map(|theirs| theirs.recall).into(),
                    theirs.map(|theirs| theirs.precision).into(),
                    theirs.map(|theirs| theirs.f).into(),
                ]);
            }
            row.extend([
                line.unsigned.into(),
                line.bytes_per_document.map(|bytes| bytes.round() as u64).into(),
                line.documents_per_second.map(|rate| rate.round() as u64).into(),
            ]);
            grid.row(row);
        }
        study.table(grid);
        if published {
            study.text(
                "Published: Zelenkov and Segalovich 2007, tables 2, 3 and 7; about 500,000 pages of web sites, edit \
                 similarity of 0.8, a pool of 17,471,200 pairs of which 68 % were near-duplicates.",
            );
        }
    }

    /// Precision over recall.
    pub fn quality(&self) -> Plot {
        let lines = self.methods();
        let series = lines.iter().filter_map(|line| {
            let (recall, precision) = (line.recall?, line.precision?);
            let at = Point { x: recall.value, y: precision.value, interval: precision.interval };
            Some(lookalike::report::study::Named {
                name: line.method.clone(),
                at,
                frontier: false,
                chosen: false,
            })
        });
        let mut points: Vec<_> = series.collect();
        for at in 0..points.len() {
            let here = points[at].at;
            points[at].frontier = !points.iter().any(|other| {
                other.at.x >= here.x && other.at.y >= here.y && (other.at.x, other.at.y) != (here.x, here.y)
            });
        }
        let axis = |name: &str| Axis { name: name.to_owned(), range: Some((0.0, 1.0)), logarithmic: false };
        Plot::Points(lookalike::report::study::Points {
            name: "Precision and recall of each method".to_owned(),
            x: axis("recall"),
            y: axis("precision"),
            points,
            goal: None,
            rightwards: true,
        })
    }

    /// Who agrees with whom.
    pub fn agreement(&self, study: &mut Study) {
        let names: Vec<String> = self.comparison.names().iter().map(|&name| name.to_owned()).collect();
        study.plot(Plot::Heat(Heat {
            name: "Agreement: Dice's coefficient of the pairs of two methods".to_owned(),
            rows: names.clone(),
            columns: names.clone(),
            values: self.dice(),
        }));
        let mut grid = Grid::new("Agreement beside the published one", ["methods", "Dice", "published"]);
        for (one, other) in two_of(names.len()) {
            if let Some(theirs) = zelenkov_dice(&names[one], &names[other]) {
                let both = format!("{} and {}", names[one], names[other]);
                grid.row([both.into(), self.strata().dice(one, other).into(), theirs.into()]);
            }
        }
        if !grid.rows.is_empty() {
            study.table(grid);
        }
    }

    /// What methods find together.
    pub fn coverage(&self, study: &mut Study) {
        let names = self.comparison.names();
        let mut pairs: Vec<(usize, usize, Share)> = two_of(names.len())
            .filter_map(|(one, other)| {
                Some((one, other, self.strata().coverage(|mask| has(one)(mask) || has(other)(mask))?))
            })
            .collect();
        pairs.sort_by(|one, other| other.2.value.total_cmp(&one.2.value));
        let mut grid = Grid::new("Two methods together: the best ten", ["methods", "coverage", "95 %"]);
        for (one, other, share) in pairs.iter().take(10) {
            grid.row([
                format!("{} and {}", names[*one], names[*other]).into(),
                share.value.into(),
                share.interval.into(),
            ]);
        }
        study.table(grid);
        let steps = self.greedy();
        let mut grid = Grid::new(
            "One method after the other, each time the one that adds most",
            ["method", "coverage", "gain"],
        );
        for step in &steps {
            grid.row([step.method.into(), step.coverage.value.into(), step.gain.into()]);
        }
        study.table(grid);
        let points = steps.iter().enumerate().map(|(place, step)| Point {
            x: (place + 1) as f64,
            y: step.coverage.value,
            interval: step.coverage.interval,
        });
        study.plot(Plot::Lines(Lines {
            name: "Coverage by number of methods, in the greedy order".to_owned(),
            x: Axis { name: "methods".to_owned(), ..Axis::default() },
            y: Axis {
                name: "share of the near-duplicates".to_owned(),
                range: Some((0.0, 1.0)),
                logarithmic: false,
            },
            series: vec![Series {
                name: "together".to_owned(),
                origin: Origin::Measured,
                points: points.collect(),
            }],
        }));
    }

    /// Measured pairs by similarity.
    pub fn similarities(&self) -> Plot {
        let counts = &self.comparison.histogram;
        let bins: Vec<(String, u64)> = (0..20)
            .map(|bin| {
                let from = bin * 5;
                let to = if bin == 19 { 101 } else { from + 5 };
                (format!("{:.2}", from as f64 / 100.0), counts[from..to].iter().sum())
            })
            .collect();
        Plot::Bars(Bars {
            name: format!("Measured pairs by similarity ({})", self.request.truth.similarity),
            x: "similarity, from".to_owned(),
            y: "pairs".to_owned(),
            bins: bins.iter().map(|(name, _)| name.clone()).collect(),
            series: vec![("pairs".to_owned(), bins.iter().map(|(_, count)| *count).collect())],
            logarithmic: true,
        })
    }
}

fn share(share: Option<Share>) -> String {
    share.map_or("-".to_owned(), |share| format!("{:.2}", share.value))
}
