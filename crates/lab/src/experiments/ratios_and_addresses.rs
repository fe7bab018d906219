//! E16: result counts of queries (Lawrence and Giles) and servers at random addresses, where the truth is known.

use lookalike::report::Study;
use lookalike::report::study::{Axis, Grid, Lines, Origin, Plot, Point, Series, Value};
use lookalike_census::Estimate;
use lookalike_census::engine::{Engine, Page, Pages, Word};
use lookalike_census::random::Random;
use lookalike_census::random_addresses::{self, Counting, Server};
use lookalike_census::result_ratios::{self, Counts};
use lookalike_census::simulation::{Servers, SimulatedEngine};

use super::world::{PagePreference, World, cells_with_truth};
use super::{Experiment, ExperimentContext};
use crate::collection::CollectionKind;
use crate::trial::LabError;

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "E16",
    title: "Sizes from result counts and from random addresses, on worlds of known size",
    source: "Lawrence and Giles 1998, 1999, in the IIR-19 slides",
    data: Some(CollectionKind::News),
    run,
};

/// Queries of the log, as in the first study.
const QUERIES: usize = 575;
/// Queries with as many results or more are left out.
const MOST_RESULTS: u64 = 600;
/// Share of an index whose pages are gone from the web.
const STALE: f64 = 0.1;
/// Addresses and servers in the same proportion as 2.8 million in 2^32, but fewer.
const SPACE: u64 = 1 << 24;
const SERVERS: usize = 10_900;
/// Servers found after which the estimate is drawn in the picture.
const FOUND: [usize; 5] = [100, 250, 500, 1_000, 2_500];

fn run(context: &ExperimentContext<'_>) -> Result<Study, LabError> {
    let (world, collection) = World::new(context)?;
    let mut study = context.study(&EXPERIMENT, Some(&collection));
    study.fact("pages", world.pages.len().to_string());
    study.fact("queries", QUERIES.to_string());
    let ratios = ratios(context, &world, &mut study)?;
    let addresses = addresses(context, &mut study, SPACE, SERVERS)?;
    study.lead = format!("{ratios} {addresses}");
    Ok(study)
}

/// Two engines, one of them with pages that are gone.
struct Scenario {
    name: &'static str,
    preference: PagePreference,
    stale: f64,
}

const SCENARIOS: [Scenario; 3] = [
    Scenario { name: "independent", preference: PagePreference::None, stale: 0.0 },
    Scenario { name: "the first prefers long pages", preference: PagePreference::Long, stale: 0.0 },
    Scenario { name: "a tenth of the first is gone", preference: PagePreference::None, stale: STALE },
];

fn ratios(context: &ExperimentContext<'_>, world: &World, study: &mut Study) -> Result<String, LabError> {
    let mut table = Grid::new(
        "How many times as large the first engine is, of pages that are there",
        [
            "engines",
            "counts",
            "truth",
            "mean of ratios",
            "95 %",
            "holds the truth",
            "geometric mean",
            "geometric: 95 %",
            "geometric: holds the truth",
            "ratio of sums",
            "sums: 95 %",
            "sums: holds the truth",
            "queries used",
            "skipped for a zero",
            "too many results",
        ],
    );
    let mut web = Grid::new(
        "The world by what both have, in sizes of the first engine",
        ["engines", "truth", "estimate", "95 %", "holds the truth"],
    );
    let mut lead = String::new();
    for (number, scenario) in SCENARIOS.iter().enumerate() {
        let seed = Random::part(context.seed, number as u64).bits();
        let outcome = search(context, world, scenario, seed)?;
        for (name, counts) in [("as claimed", &outcome.claimed), ("page by page", &outcome.verified)] {
            let found = result_ratios::ratios(counts, seed);
            let mut row = vec![scenario.name.into(), name.into(), outcome.ratio.into()];
            let three = found.map(|found| [found.mean, found.geometric, found.of_sums]);
            for which in 0..3 {
                row.extend(cells_with_truth(three.map(|three| three[which]), outcome.ratio));
            }
            row.push(found.map(|found| found.used).into());
            row.push(found.map(|found| found.skipped).into());
            row.push(outcome.too_many.into());
            table.row(row);
        }
        let estimate = result_ratios::web_by_overlap(&outcome.verified, seed);
        let mut row = vec![scenario.name.into(), outcome.world.into()];
        row.extend(cells_with_truth(estimate, outcome.world));
        web.row(row);
        if let (0, Some(found)) = (number, result_ratios::ratios(&outcome.verified, seed)) {
            lead = format!(
                "The mean of the queries' ratios is {:.2} where the truth is {:.2}; the ratio of sums is {:.2}.",
                found.mean.value, outcome.ratio, found.of_sums.value
            );
        }
    }
    study.heading("Result counts");
    study.table(table);
    study.table(web);
    Ok(lead)
}

/// The result counts of the queries of the log, beside the truth.
struct Outcome {
    claimed: Vec<Counts>,
    verified: Vec<Counts>,
    too_many: u64,
    /// The truth: sizes without pages that are gone.
    ratio: f64,
    world: f64,
}

fn search(
    context: &ExperimentContext<'_>,
    world: &World,
    scenario: &Scenario,
    seed: u64,
) -> Result<Outcome, LabError> {
    let parts = [(0.4, scenario.preference), (0.25, PagePreference::None)];
    let [first, second] = [0, 1].map(|n| {
        let own_seed = Random::part(seed, n as u64).bits();
        let pages = world.part(parts[n].0, parts[n].1, own_seed);
        (world.engine(&pages, MOST_RESULTS as usize, own_seed), pages)
    });
    let gone = gone(&first.1, scenario.stale, seed);
    let is_there = |page: &Page| gone.binary_search(page).is_err();
    let there = |pages: &[Page]| pages.iter().filter(|page| is_there(page)).count() as f64;
    let (mut one, mut other) = (first.0, second.0);
    let mut outcome = Outcome {
        claimed: Vec::new(),
        verified: Vec::new(),
        too_many: 0,
        ratio: there(&first.1) / there(&second.1),
        world: there(&world.pages) / there(&first.1),
    };
    for query in query_log(world, QUERIES, seed) {
        context.watch.check()?;
        let Some((a, b)) = answers(&mut one, &mut other, &query) else {
            outcome.too_many += 1;
            continue;
        };
        outcome.claimed.push(counts(&a, &b));
        let [a, b] = [a, b].map(|pages| pages.into_iter().filter(|page| is_there(page)).collect::<Vec<_>>());
        outcome.verified.push(counts(&a, &b));
    }
    Ok(outcome)
}

/// Pages of an index that are gone from the web, ascending.
fn gone(pages: &[Page], share: f64, seed: u64) -> Vec<Page> {
    let mut random = Random::part(seed, 7);
    pages.iter().filter(|_| random.chance(share)).copied().collect()
}

/// All results of both engines; none when there are too many.
fn answers(
    one: &mut SimulatedEngine,
    other: &mut SimulatedEngine,
    query: &[Word],
) -> Option<(Vec<Page>, Vec<Page>)> {
    let (a, b) = (one.search(query).ok()?, other.search(query).ok()?);
    (a.claimed < MOST_RESULTS && b.claimed < MOST_RESULTS).then_some((a.pages, b.pages))
}

fn counts(a: &[Page], b: &[Page]) -> Counts {
    let both = a.iter().filter(|page| b.contains(page)).count() as u64;
    Counts { a: a.len() as u64, b: b.len() as u64, both }
}

/// Queries as people type them: one to three words that stand on one of the measurer's own pages, none too rare.
fn query_log(world: &World, count: usize, seed: u64) -> Vec<Vec<Word>> {
    let mut random = Random::part(seed, 8);
    let mut queries = Vec::new();
    for _ in 0..20 * count {
        let Some(&page) = random.pick(world.own()) else { break };
        let words: Vec<Word> =
            world.library.words(page).iter().filter(|&&word| world.frequency(word) >= 2).copied().collect();
        let wanted = 1 + random.below(3);
        let query: Vec<Word> =
            random.sample_indices(words.len(), wanted).into_iter().map(|n| words[n]).collect();
        if query.len() == wanted {
            queries.push(query);
        }
        if queries.len() == count {
            break;
        }
    }
    queries
}

/// The ways to count, as the table names them.
const WAYS: [(&str, Counting); 3] = [
    ("pages of the host that answers", Counting::FirstHost),
    ("pages of all hosts behind an address", Counting::AllHosts),
    ("the same, once for each server", Counting::OncePerServer),
];

fn addresses(
    context: &ExperimentContext<'_>,
    study: &mut Study,
    space: u64,
    count: usize,
) -> Result<String, LabError> {
    let servers = Servers::new(space, count, context.seed);
    let truth = servers.pages() as f64;
    let wanted = FOUND[FOUND.len() - 1].min(count);
    let found = find(context, &servers, wanted)?;
    let Some(&(_, draws)) = found.last() else {
        return Ok("No server answered at any address drawn.".to_owned());
    };
    study.heading("Random addresses");
    study.fact("addresses", space.to_string());
    study.fact("addresses drawn", draws.to_string());
    study.fact("servers", servers.servers().len().to_string());
    let mut table = Grid::new(
        format!("Pages of the web from {} servers that answered", found.len()),
        ["counted", "truth", "estimate", "95 %", "holds the truth", "estimate / truth"],
    );
    let mut series = Vec::new();
    let mut lead = String::new();
    for (name, way) in WAYS {
        let estimate = estimate(space, &found, way, context.seed);
        let mut row = vec![name.into(), Value::Count(servers.pages())];
        row.extend(cells_with_truth(estimate, truth));
        row.push(estimate.map(|estimate| estimate.value / truth).into());
        table.row(row);
        if let (Counting::FirstHost, Some(estimate)) = (way, estimate) {
            lead = format!(
                "{} servers at random addresses tell of {:.2} times the pages that there are when only the host that \
                 answers is counted.",
                found.len(),
                estimate.value / truth
            );
        }
        series.push(Series {
            name: name.to_owned(),
            origin: Origin::Measured,
            points: points(space, &found, way, truth, context.seed),
        });
    }
    let answering: u64 = servers.servers().iter().map(|server| server.addresses).sum();
    let mut row = vec!["addresses that answer".into(), Value::Count(answering)];
    let estimate = random_addresses::servers(space, draws, found.len() as u64);
    row.extend(cells_with_truth(estimate, answering as f64));
    row.push(estimate.map(|estimate| estimate.value / answering as f64).into());
    table.row(row);
    study.table(table);
    study.plot(Plot::Lines(Lines {
        name: "Estimated pages by servers crawled, truth = 1".to_owned(),
        x: Axis { name: "servers crawled".to_owned(), range: None, logarithmic: true },
        y: Axis { name: "estimate / truth".to_owned(), range: None, logarithmic: false },
        series,
    }));
    study.text(
        "Published: 2,500 servers crawled in 1999 gave 800 million pages. Sizes of hosts have a heavy tail here as they do in \
         the web, so that few large hosts decide; a host that answers at many addresses is met too often, and hosts that share an \
         address are not met at all without their names.",
    );
    Ok(lead)
}

/// Servers in the order found, each with the addresses drawn until then.
fn find<'s>(
    context: &ExperimentContext<'_>,
    servers: &'s Servers,
    wanted: usize,
) -> Result<Vec<(&'s Server, u64)>, LabError> {
    let mut random = Random::part(context.seed, 9);
    let mut found = Vec::new();
    // Ten times the space is more than enough for anyone.
    for draws in 1..=10 * servers.space() {
        if draws.is_multiple_of(1 << 16) {
            context.watch.check()?;
        }
        if let Some(server) = servers.at(random.below(servers.space() as usize) as u64) {
            found.push((server, draws));
            if found.len() == wanted {
                break;
            }
        }
    }
    Ok(found)
}

fn estimate(space: u64, found: &[(&Server, u64)], way: Counting, seed: u64) -> Option<Estimate> {
    let &(_, draws) = found.last()?;
    let pages: Vec<f64> = found.iter().map(|(server, _)| way.pages(server)).collect();
    random_addresses::pages(space, draws, &pages, seed)
}

fn points(space: u64, found: &[(&Server, u64)], way: Counting, truth: f64, seed: u64) -> Vec<Point> {
    let counts = FOUND.iter().filter(|&&count| count <= found.len());
    let point = |&count: &usize| {
        let estimate = estimate(space, &found[..count], way, seed)?.times(1.0 / truth);
        Some(Point { x: count as f64, y: estimate.value, interval: Some(estimate.interval) })
    };
    counts.filter_map(point).collect()
}

#[cfg(test)]
mod tests {
    use lookalike::walk::Watch;

    use super::super::world::tests::{context, tables};
    use super::*;

    fn number(value: &Value) -> f64 {
        match value {
            Value::Number(number) => *number,
            other => panic!("{other:?} is no number"),
        }
    }

    #[test]
    fn sums_are_nearer_than_means_and_checking_pays() {
        let watch = Watch::default();
        let context = context(600, &watch);
        let (world, _) = World::new(&context).unwrap();
        let mut study = Study::default();
        ratios(&context, &world, &mut study).unwrap();
        let rows = &tables(&study)[0].rows;
        let off = |row: &Vec<Value>, column: usize| (number(&row[column]) / number(&row[2]) - 1.0).abs();
        // Independent engines, counted page by page: the ratio of sums is right, the mean of ratios too high.
        assert!(off(&rows[1], 9) < 0.1, "{:?}", rows[1]);
        assert!(number(&rows[1][3]) > number(&rows[1][9]));
        // Pages that are gone make the first engine look larger until they are checked.
        assert!(number(&rows[4][9]) > number(&rows[5][9]));
        assert!(off(&rows[5], 9) < off(&rows[4], 9));
    }

    #[test]
    fn addresses_tell_of_all_pages_once_servers_are_counted_once() {
        let watch = Watch::default();
        let context = context(100, &watch);
        let mut study = Study::default();
        addresses(&context, &mut study, 1 << 16, 2_000).unwrap();
        let rows = &tables(&study)[0].rows;
        let by_truth: Vec<f64> = rows.iter().map(|row| number(&row[5])).collect();
        assert!(by_truth[1] > by_truth[2] && by_truth[1] > by_truth[0], "{by_truth:?}");
        assert!((by_truth[2] - 1.0).abs() < 0.35 && (by_truth[3] - 1.0).abs() < 0.1, "{by_truth:?}");
    }
}
