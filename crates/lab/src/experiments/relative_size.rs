//! E15: how well sizes of engines and of their union are told from samples, where the truth is known.
//!
//! Four engines have parts of one world. Pages are drawn from each in two ways: evenly from its index, which only someone who
//! owns it can do and which shows the estimators' own error; and by random queries and strong queries, as Bharat and
//! Broder did.

use lookalike::report::Study;
use lookalike::report::study::{Axis, Grid, Lines, Origin, Plot, Point, Series, Value};
use lookalike_census::checking::{Presence, check};
use lookalike_census::engine::Page;
use lookalike_census::presence_records::{PresenceRecord, PresenceRecords};
use lookalike_census::query_sampling::{QueryCounts, QuerySampling};
use lookalike_census::random::Random;
use lookalike_census::simulation::SimulatedEngine;
use lookalike_census::{joint_coverage, least_squares, relative_size};

use super::world::{PagePreference, World, cells_with_truth};
use super::{Experiment, ExperimentContext};
use crate::collection::CollectionKind;
use crate::trial::LabError;

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "E15",
    title: "Relative sizes and joint coverage of engines, on engines of known size",
    source: "Bharat and Broder 1998, in the IIR-19 slides and those of Dortmund",
    data: Some(CollectionKind::News),
    run,
};

/// Shares of the world that the engines have, as in the worked example.
const SHARES: [(&str, f64); 4] = [("a", 0.5), ("h", 0.4), ("i", 0.25), ("e", 0.2)];
/// The scenarios: the preferences of the engines, a heading and a short name.
const SCENARIOS: [([PagePreference; 4], &str, &str); 3] = [
    ([PagePreference::None; 4], "Independent engines", "independent engines"),
    ([PagePreference::Long; 4], "Engines that all prefer long pages", "engines of one taste"),
    (
        [PagePreference::Long, PagePreference::None, PagePreference::None, PagePreference::None],
        "The first engine prefers long pages, the others do not",
        "engines of different tastes",
    ),
];
/// Results that an engine shows.
const SHOWN: usize = 100;
/// Pages drawn from each engine, and the smaller numbers that the picture shows.
const SAMPLES: [usize; 5] = [50, 100, 200, 400, 800];
/// Repetitions for the picture.
const RUNS: u64 = 5;
/// Queries for one page before it is given up.
const MAX_QUERIES: usize = 2_000;

fn run(context: &ExperimentContext<'_>) -> Result<Study, LabError> {
    let (world, collection) = World::new(context)?;
    let mut study = context.study(&EXPERIMENT, Some(&collection));
    study.fact("pages", world.pages.len().to_string());
    study.fact("the measurer's own pages", world.own().len().to_string());
    study.fact("results shown", SHOWN.to_string());
    study.fact("pages drawn from each engine", SAMPLES[SAMPLES.len() - 1].to_string());
    let mut leads = Vec::new();
    for (number, (preferences, heading, short)) in SCENARIOS.into_iter().enumerate() {
        let scenario = EngineScenario::new(&world, preferences, context.seed + number as u64);
        leads.push(scenario.report(context, &mut study, heading, short)?);
    }
    study.lead = leads.join(" ");
    study.notes.push(
        "Even samples need the index itself and are here to show the estimators' own error; query samples are what an \
         outsider can have."
            .to_owned(),
    );
    Ok(study)
}

/// Four engines over a world.
struct EngineScenario<'w> {
    world: &'w World,
    engines: Vec<SimulatedEngine>,
    /// The engines that have each page, as bits.
    members: Vec<u64>,
    seed: u64,
}

/// A method of drawing pages: evenly, or by queries.
#[derive(Clone, Copy, PartialEq)]
enum SamplingMethod {
    Even,
    Queries,
}

/// Samples, and how they came about.
#[derive(Default)]
struct DrawnSamples {
    presence_records: PresenceRecords,
    pages: Vec<Page>,
    effort: QueryCounts,
    /// Checks of pages that the engine has, and those that found them.
    there: (u64, u64),
    /// Checks of pages that it does not have, and those that found one all the same.
    absent: (u64, u64),
}

impl<'w> EngineScenario<'w> {
    fn new(world: &'w World, preferences: [PagePreference; 4], seed: u64) -> Self {
        let mut members = vec![0u64; world.library.len()];
        let mut engines = Vec::new();
        for (number, (_, share)) in SHARES.iter().enumerate() {
            let own_seed = Random::part(seed, number as u64).bits();
            let pages = world.part(*share, preferences[number], own_seed);
            pages.iter().for_each(|page| members[page.0 as usize] |= 1 << number);
            engines.push(world.engine(&pages, SHOWN, own_seed));
        }
        EngineScenario { world, engines, members, seed }
    }

    fn size(&self, engine: usize) -> f64 {
        self.engines[engine].size() as f64
    }

    /// Size of the union by that of the first engine.
    fn union(&self) -> f64 {
        self.members.iter().filter(|&&engines| engines != 0).count() as f64 / self.size(0)
    }

    /// Returns the relative error of the union by multiplicity.
    fn union_error(&self, drawn: &DrawnSamples) -> f64 {
        let sizes = least_squares::sizes(&drawn.presence_records.shares());
        let union =
            sizes.and_then(|sizes| joint_coverage::by_multiplicity(&sizes.values, &drawn.presence_records));
        union.map_or(f64::NAN, |union| union / self.union() - 1.0)
    }

    /// Draws pages from every engine and looks for each in all others.
    fn draw(
        &self,
        context: &ExperimentContext<'_>,
        method: SamplingMethod,
        count: usize,
        run: u64,
    ) -> Result<DrawnSamples, LabError> {
        let mut random = Random::part(self.seed, 100 + run);
        let mut engines = self.engines.clone();
        let lexicon = self.world.words(0.005, 0.2);
        let sampling = QuerySampling { lexicon: &lexicon, words: 2, shown: SHOWN, pass_capped: false };
        let mut drawn =
            DrawnSamples { presence_records: PresenceRecords::new(engines.len()), ..DrawnSamples::default() };
        for x in 0..engines.len() {
            for _ in 0..count {
                context.watch.check()?;
                let page = match method {
                    SamplingMethod::Even => random.pick(self.engines[x].pages()).copied(),
                    SamplingMethod::Queries => {
                        sampling.draw(&mut engines[x], &mut random, MAX_QUERIES, &mut drawn.effort)
                    }
                };
                let Some(page) = page else { continue };
                let mut record = PresenceRecord::of(x);
                for y in (0..engines.len()).filter(|&y| y != x) {
                    self.check_page(&mut engines[y], y, page, method, &mut record, &mut drawn);
                }
                drawn.presence_records.by_engine[x].push(record);
                drawn.pages.push(page);
            }
        }
        Ok(drawn)
    }

    /// Looks for a page in an engine: by the truth, or by a strong query.
    fn check_page(
        &self,
        engine: &mut SimulatedEngine,
        number: usize,
        page: Page,
        method: SamplingMethod,
        record: &mut PresenceRecord,
        drawn: &mut DrawnSamples,
    ) {
        let truth = self.members[page.0 as usize] >> number & 1 == 1;
        let found = match method {
            SamplingMethod::Even => truth,
            SamplingMethod::Queries => {
                match check(engine, &self.world.library, page, |word| self.world.frequency(word)) {
                    Presence::Found => true,
                    Presence::Missing => false,
                    Presence::Unknown => return,
                }
            }
        };
        record.note(number, found);
        let tally = if truth { &mut drawn.there } else { &mut drawn.absent };
        tally.0 += 1;
        tally.1 += u64::from(found);
    }

    /// Tables and picture; returns a sentence for the lead.
    fn report(
        &self,
        context: &ExperimentContext<'_>,
        study: &mut Study,
        heading: &str,
        short: &str,
    ) -> Result<String, LabError> {
        let count = SAMPLES[SAMPLES.len() - 1].min(self.world.pages.len());
        let even = self.draw(context, SamplingMethod::Even, count, 0)?;
        let queried = self.draw(context, SamplingMethod::Queries, count, 0)?;
        study.heading(heading);
        study.table(self.ratios(&even, &queried, short));
        study.table(self.sizes(&even, &queried, short));
        study.table(self.unions(&even, &queried, short));
        study.table(self.cost(&even, &queried, short));
        let lines = self.errors(context, count)?;
        let last = |method: usize| lines[method].last().map_or(f64::NAN, |point| point.y);
        let lead = format!(
            "Ratios of {short} are off by {:.0} % (root mean square) with even samples of {count} pages each, and by \
             {:.0} % with query samples; the union by {:+.0} % and {:+.0} %.",
            100.0 * last(0),
            100.0 * last(1),
            100.0 * self.union_error(&even),
            100.0 * self.union_error(&queried)
        );
        study.plot(picture(lines, short));
        Ok(lead)
    }

    fn ratios(&self, even: &DrawnSamples, queried: &DrawnSamples, short: &str) -> Grid {
        let mut grid = Grid::new(format!("Ratios of sizes, {short}"), with_truth("pair"));
        for (x, y) in even.presence_records.shares().pairs() {
            let truth = self.size(x) / self.size(y);
            let ratio = |drawn: &DrawnSamples| {
                relative_size::relative_size(
                    drawn.presence_records.found(x, y),
                    drawn.presence_records.found(y, x),
                )
            };
            let name = format!("{}/{}", SHARES[x].0, SHARES[y].0);
            grid.row(row(name, truth, ratio(even), ratio(queried)));
        }
        grid
    }

    fn sizes(&self, even: &DrawnSamples, queried: &DrawnSamples, short: &str) -> Grid {
        let name = format!("Sizes by least squares over all pairs, the first being 1, {short}");
        let mut columns = with_truth("engine");
        columns.extend(
            ["even: unit norm", "truth: share of all", "even: share of all", "query: share of all"]
                .map(str::to_owned),
        );
        let mut grid = Grid::new(name, columns);
        let [fit_even, fit_queried] = [even, queried].map(|drawn| {
            least_squares::sizes_with_errors(&drawn.presence_records, self.seed).unwrap_or_default()
        });
        let unit = least_squares::unit_norm(&even.presence_records.shares());
        let true_sizes: Vec<f64> = (0..SHARES.len()).map(|number| self.size(number) / self.size(0)).collect();
        let shares = [
            Some(joint_coverage::shares_of_union(&true_sizes, self.union())),
            shares_of_all(&even.presence_records),
            shares_of_all(&queried.presence_records),
        ];
        for (number, (name, _)) in SHARES.iter().enumerate() {
            let truth = true_sizes[number];
            let mut row = row(
                (*name).to_owned(),
                truth,
                fit_even.get(number).copied(),
                fit_queried.get(number).copied(),
            );
            row.push(unit.as_ref().map(|unit| unit.values[number]).into());
            row.extend(shares.iter().map(|shares| shares.as_ref().map(|shares| shares[number]).into()));
            grid.row(row);
        }
        grid
    }

    fn unions(&self, even: &DrawnSamples, queried: &DrawnSamples, short: &str) -> Grid {
        let name = format!("All engines together, in sizes of the first, {short}");
        let mut grid = Grid::new(name, with_truth("estimate"));
        let [by_even, by_queried] =
            [even, queried].map(|drawn| joint_coverage::union(&drawn.presence_records, self.seed));
        grid.row(row("by multiplicity".to_owned(), self.union(), by_even, by_queried));
        let [plain_even, plain_queried] = [even, queried].map(|drawn| {
            let (parts, together) = joint_coverage::by_independence(&drawn.presence_records.shares())?;
            Some(together / parts[0])
        });
        let [bounds_even, bounds_queried] = [even, queried].map(|drawn| {
            let shares = drawn.presence_records.shares();
            joint_coverage::bounds(&shares, &least_squares::sizes(&shares)?.values)
        });
        let truth = Value::from(self.union());
        let none = || Value::None;
        grid.row([
            "if engines were independent".into(),
            truth.clone(),
            plain_even.into(),
            none(),
            none(),
            plain_queried.into(),
            none(),
            none(),
        ]);
        grid.row([
            "bounds from pairs".into(),
            truth,
            none(),
            bounds_even.into(),
            none(),
            none(),
            bounds_queried.into(),
            none(),
        ]);
        grid
    }

    fn cost(&self, even: &DrawnSamples, queried: &DrawnSamples, short: &str) -> Grid {
        let mut grid = Grid::new(format!("How the samples came about, {short}"), ["", "even", "query"]);
        let both = |of: &dyn Fn(&DrawnSamples) -> Value| [of(even), of(queried)];
        let mut line = |name: &str, [one, other]: [Value; 2]| grid.row([name.into(), one, other]);
        line("pages drawn", both(&|drawn| (drawn.pages.len() as u64).into()));
        line("queries", both(&|drawn| drawn.effort.queries.into()));
        line("queries without a result", both(&|drawn| drawn.effort.empty.into()));
        line("queries with more results than shown", both(&|drawn| drawn.effort.capped.into()));
        line(
            "words of a drawn page, on average",
            both(&|drawn| self.world.mean_length(drawn.pages.iter().copied()).into()),
        );
        let all = self.engines.iter().flat_map(|engine| engine.pages().iter().copied());
        let truth = self.world.mean_length(all);
        line("words of a page of the engines", [truth.into(), truth.into()]);
        let share = |(whole, part): (u64, u64)| (whole > 0).then(|| part as f64 / whole as f64).into();
        line("pages there, found by the check", both(&|drawn| share(drawn.there)));
        line("pages not there, found all the same (copies)", both(&|drawn| share(drawn.absent)));
        grid
    }

    /// Root mean square of the relative error of all ratios, by pages drawn: even, then by queries.
    fn errors(&self, context: &ExperimentContext<'_>, most: usize) -> Result<[Vec<Point>; 2], LabError> {
        let mut lines = [Vec::new(), Vec::new()];
        for (line, method) in lines.iter_mut().zip([SamplingMethod::Even, SamplingMethod::Queries]) {
            let mut squares = [(0.0, 0.0); SAMPLES.len()];
            for run in 1..=RUNS {
                let drawn = self.draw(context, method, most, run)?;
                for (sum, &count) in squares.iter_mut().zip(&SAMPLES) {
                    for square in self.squares(&drawn.presence_records, count) {
                        *sum = (sum.0 + square, sum.1 + 1.0);
                    }
                }
            }
            let points = SAMPLES.iter().zip(squares).filter(|(count, sum)| **count <= most && sum.1 > 0.0);
            line.extend(points.map(|(&count, sum)| Point::new(count as f64, (sum.0 / sum.1).sqrt())));
        }
        Ok(lines)
    }

    /// Returns the squared relative errors of the ratios from the first `count` pages of each engine.
    fn squares(&self, all: &PresenceRecords, count: usize) -> Vec<f64> {
        let first = |drawn: &Vec<PresenceRecord>| drawn[..count.min(drawn.len())].to_vec();
        let part = PresenceRecords { by_engine: all.by_engine.iter().map(first).collect() };
        let square = |(x, y)| {
            let ratio = relative_size::relative_size(part.found(x, y), part.found(y, x))?;
            Some((ratio.value * self.size(y) / self.size(x) - 1.0).powi(2))
        };
        part.shares().pairs().filter_map(square).collect()
    }
}

/// Estimates the share of the union that each engine has, by least squares and multiplicity.
fn shares_of_all(presence_records: &PresenceRecords) -> Option<Vec<f64>> {
    let sizes = least_squares::sizes(&presence_records.shares())?.values;
    let union = joint_coverage::by_multiplicity(&sizes, presence_records)?;
    Some(joint_coverage::shares_of_union(&sizes, union))
}

/// Columns for a truth and two estimates of it.
fn with_truth(first: &str) -> Vec<String> {
    let columns =
        [first, "truth", "even", "95 %", "holds the truth", "query", "query: 95 %", "query: holds the truth"];
    columns.map(str::to_owned).to_vec()
}

fn row(
    name: String,
    truth: f64,
    even: Option<lookalike_census::Estimate>,
    queried: Option<lookalike_census::Estimate>,
) -> Vec<Value> {
    let mut row = vec![name.into(), truth.into()];
    row.extend(cells_with_truth(even, truth));
    row.extend(cells_with_truth(queried, truth));
    row
}

fn picture([even, queried]: [Vec<Point>; 2], short: &str) -> Plot {
    let series = |name: &str, points| Series { name: name.to_owned(), origin: Origin::Measured, points };
    Plot::Lines(Lines {
        name: format!("Error of ratios by pages drawn, {short}"),
        x: Axis { name: "pages drawn from each engine".to_owned(), range: None, logarithmic: true },
        y: Axis { name: "relative error, root mean square".to_owned(), range: None, logarithmic: false },
        series: vec![series("even", even), series("by queries", queried)],
    })
}

#[cfg(test)]
mod tests {
    use lookalike::walk::Watch;

    use super::super::world::tests::{context, tables};
    use super::*;

    #[test]
    fn even_samples_hold_the_truth_and_query_samples_prefer_long_pages() {
        let watch = Watch::default();
        let context = context(400, &watch);
        let study = run(&context).unwrap();
        let tables = tables(&study);
        assert_eq!(tables.len(), 12);
        let held = tables[0].rows.iter().filter(|row| row[4] == Value::from("yes")).count();
        assert!(held >= 4, "{held} of 6 ratios");
        let number = |value: &Value| match value {
            Value::Number(number) => *number,
            other => panic!("{other:?} is no number"),
        };
        // Multiplicity, even samples.
        let union = &tables[2].rows[0];
        assert!((number(&union[2]) / number(&union[1]) - 1.0).abs() < 0.1, "{union:?}");
        let lengths = &tables[3].rows[4];
        assert!(number(&lengths[2]) > 1.1 * number(&lengths[1]), "{lengths:?}");
        assert!(!study.lead.contains("NaN"), "{}", study.lead);
    }
}
