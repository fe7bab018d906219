//! E9: addresses that two crawls share, and their domains.

use lookalike::hash;
use lookalike::report::Study;
use lookalike::report::study::{Grid, Value};
use lookalike_overlap::address::Matching;
use lookalike_overlap::domains::{Tally, names};
use lookalike_overlap::shared::shared;
use lookalike_overlap::statistics::{mean, median};

use super::lists::{Lists, YEARS, distinct};
use super::transfers::{NEAR, Sides, fingerprint_documents, with_shared_address};
use super::{Experiment, ExperimentContext};
use crate::collection::{CollectionKind, Item};
use crate::interval::wilson;
use crate::trial::LabError;

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "E9",
    title: "Addresses that two crawls share, and their domains",
    source: "Bachelor thesis, Weimar 2014, chapter 4",
    data: Some(CollectionKind::Crawls),
    run,
};

/// One in this number of pages of the older crawl counts as judged.
const JUDGED: u64 = 5;
/// Rows of a table of hosts or domains.
const ROWS: usize = 10;
/// Shares of top-level domains that the thesis reports: of ClueWeb09, of its judged pages, of those with a shared address, and of
/// all shared addresses.
const PUBLISHED: [(&str, [Option<f64>; 4]); 6] = [
    ("com", [Some(0.635), Some(0.560), Some(0.653), Some(0.617)]),
    ("org", [Some(0.102), Some(0.214), Some(0.122), Some(0.124)]),
    ("net", [Some(0.055), Some(0.045), Some(0.049), Some(0.057)]),
    ("uk", [Some(0.035), None, None, None]),
    ("edu", [Some(0.032), Some(0.031), Some(0.042), Some(0.046)]),
    ("gov", [Some(0.008), Some(0.026), Some(0.038), Some(0.011)]),
];

fn run(context: &ExperimentContext<'_>) -> Result<Study, LabError> {
    let collection = context.collection(CollectionKind::Crawls)?;
    let sides = Sides::of(context, &collection)?;
    let mut study = context.study(&EXPERIMENT, Some(&collection));
    study.fact("older pages", sides.judged.len().to_string());
    study.fact("newer pages", sides.target.len().to_string());
    study.notes.push(
        "The older crawl stands in for ClueWeb09, the newer for ClueWeb12, and a fifth of the older pages, drawn by lot, for the \
         judged ones."
            .to_owned(),
    );
    let crawls = crawls(context, &sides, &mut study)?;
    let real = match Lists::of(context) {
        Some(lists) => real(&lists, &mut study)?,
        None => None,
    };
    study.lead = [Some(crawls), real].into_iter().flatten().collect::<Vec<_>>().join(" ");
    Ok(study)
}

/// Addresses of the two crawls.
fn crawls(context: &ExperimentContext<'_>, sides: &Sides, study: &mut Study) -> Result<String, LabError> {
    let addresses =
        |items: &[Item]| -> Vec<String> { items.iter().filter_map(|item| item.url.clone()).collect() };
    let (source, target) = (addresses(&sides.judged), addresses(&sides.target));
    let sampling_key =
        |address: &String| hash::nth(1, hash::word(address.as_bytes()) ^ hash::mix(context.seed));
    let judged: Vec<String> =
        source.iter().filter(|address| sampling_key(address).is_multiple_of(JUDGED)).cloned().collect();
    study.heading("Two crawls");
    let mut table = Grid::new(
        "Documents whose address is in the newer crawl",
        [
            "documents",
            "compared",
            "all",
            "with shared address",
            "share",
            "95 %",
            "shared addresses",
            "hosts of these",
            "thesis: share",
        ],
    );
    let mut found = Vec::new();
    for (name, list, thesis) in [("older crawl", &source, 0.128), ("judged", &judged, 0.221)] {
        for (how, matching) in [("letter by letter", Matching::Exact), ("in normal form", Matching::Normal)] {
            let both = shared(list, &target, matching);
            let (part, whole) = (both.documents.len() as u64, list.len() as u64);
            let addresses: Vec<&str> = both.addresses.iter().map(|&place| list[place].as_str()).collect();
            table.row([
                name.into(),
                how.into(),
                whole.into(),
                part.into(),
                (whole > 0).then(|| part as f64 / whole as f64).into(),
                wilson(part, whole).into(),
                (addresses.len() as u64).into(),
                (Tally::of_hosts(addresses.iter().copied()).counts.len() as u64).into(),
                thesis.into(),
            ]);
            if matching == Matching::Normal {
                let documents =
                    both.documents.iter().map(|&(place, _)| list[place].as_str()).collect::<Vec<_>>();
                found.push((documents, addresses));
            }
        }
    }
    study.table(table);
    let strings = |list: &'_ [String]| Tally::of_top_levels(list.iter().map(String::as_str));
    let four = [
        strings(&source),
        strings(&judged),
        Tally::of_top_levels(found[1].0.iter().copied()),
        Tally::of_top_levels(found[0].1.iter().copied()),
    ];
    study.table(domains(&four));
    study.table(hosts("Hosts with the most shared addresses", &Tally::of_hosts(found[0].1.iter().copied())));
    similarity(context, sides, study)
}

/// The four populations of the thesis, side by side.
fn domains(four: &[Tally; 4]) -> Grid {
    const COLUMNS: [&str; 4] = ["older crawl", "judged", "judged with shared address", "shared addresses"];
    let columns = std::iter::once("domain".to_owned())
        .chain(COLUMNS.iter().flat_map(|name| [(*name).to_owned(), format!("{name}: share")]));
    let mut grid = Grid::new("Top-level domains", columns);
    for name in names(&four.each_ref(), ROWS) {
        let cells = four.iter().flat_map(|tally| [Value::Count(tally.count(name)), tally.share(name).into()]);
        grid.row(std::iter::once(format!(".{name}").into()).chain(cells));
    }
    grid
}

fn hosts(name: &str, tally: &Tally) -> Grid {
    let mut grid = Grid::new(name, ["host", "addresses", "share"]);
    for (host, count) in tally.top(ROWS) {
        grid.row([host.as_str().into(), (*count).into(), tally.share(host).into()]);
    }
    grid
}

/// Adds the table of the similarity of the two documents behind a shared address, and returns a sentence for the lead.
fn similarity(context: &ExperimentContext<'_>, sides: &Sides, study: &mut Study) -> Result<String, LabError> {
    let judged = fingerprint_documents(&sides.judged, context.seed, context.watch)?;
    let target = fingerprint_documents(&sides.target, context.seed, context.watch)?;
    let pairs = with_shared_address(&judged, &target);
    let values: Vec<f64> =
        pairs.iter().map(|&(one, two)| judged[one as usize].similarity(&target[two as usize])).collect();
    let near = values.iter().filter(|&&value| value >= NEAR).count() as u64;
    let share = (!values.is_empty()).then(|| near as f64 / values.len() as f64);
    let mut grid = Grid::new(
        "Jaccard of the two documents behind a shared address, over sets of words",
        ["", "here", "95 %", "thesis"],
    );
    grid.row(["pairs".into(), (values.len() as u64).into(), Value::None, 34_319u64.into()]);
    grid.row([
        "share of at least 0.9".into(),
        share.into(),
        wilson(near, values.len() as u64).into(),
        0.2302.into(),
    ]);
    grid.row(["mean".into(), mean(&values).into(), Value::None, 0.6.into()]);
    grid.row(["median".into(), median(&values).into(), Value::None, 0.63.into()]);
    study.table(grid);
    let addresses = sides.judged.iter().filter(|item| item.url.is_some()).count();
    let Some(share) = share else {
        return Ok(format!("None of {addresses} older pages has an address that the newer crawl has, too."));
    };
    Ok(format!(
        "Of {addresses} older pages {} have an address that the newer crawl has, too, and {:.1} % of these are near-duplicates of \
         what is there now (thesis: 23.0 %).",
        values.len(),
        100.0 * share
    ))
}

/// Adds the tables of the real lists, as far as they are there, and returns a sentence on judged pages.
fn real(lists: &Lists<'_>, study: &mut Study) -> Result<Option<String>, LabError> {
    if let Some(addresses) = lists.addresses()? {
        study.heading("Real lists");
        study.fact("judged pages of ClueWeb12 with an address", addresses.len().to_string());
        study.table(real_domains(&Tally::of_top_levels(addresses.iter().map(String::as_str))));
        let tally = Tally::of_hosts(addresses.iter().map(String::as_str));
        study.table(hosts("Hosts with the most judged pages of ClueWeb12", &tally));
    }
    let mut table = Grid::new(
        "Judged pages of ClueWeb09 whose address is in ClueWeb12, by published lists of judgments",
        ["track", "judged documents", "with shared address", "share", "95 %", "thesis: share, all tracks"],
    );
    let (mut all, mut moved) = (Vec::new(), Vec::new());
    for year in YEARS {
        let (Some(judged), Some(shared)) = (lists.judged(year)?, lists.with_address(year)?) else { continue };
        table.row(judged_row(format!("Web {year}"), &judged, &shared));
        all.extend(judged);
        moved.extend(shared);
    }
    if table.rows.is_empty() {
        return Ok(None);
    }
    let (all, moved) = (distinct(all), distinct(moved));
    table.row(judged_row("all of these".to_owned(), &all, &moved));
    study.table(table);
    Ok(Some(format!(
        "Of {} pages of ClueWeb09 that were judged in four Web tracks, {:.1} % have an address that ClueWeb12 has (thesis, with \
         further tracks: 22.1 %).",
        all.len(),
        100.0 * moved.len() as f64 / all.len().max(1) as f64
    )))
}

fn judged_row(name: String, official: &[String], shared: &[String]) -> Vec<Value> {
    let (part, whole) = (shared.len() as u64, official.len() as u64);
    vec![
        name.into(),
        whole.into(),
        part.into(),
        (whole > 0).then(|| part as f64 / whole as f64).into(),
        wilson(part, whole).into(),
        0.221.into(),
    ]
}

fn real_domains(tally: &Tally) -> Grid {
    let mut grid = Grid::new(
        "Top-level domains of judged pages of ClueWeb12, beside the thesis on ClueWeb09",
        [
            "domain",
            "judged in ClueWeb12",
            "share",
            "thesis: ClueWeb09",
            "judged",
            "judged with shared address",
            "shared addresses",
        ],
    );
    let mut rows: Vec<&str> = PUBLISHED.iter().map(|(name, _)| *name).collect();
    rows.extend(
        tally
            .top(ROWS)
            .iter()
            .map(|(name, _)| name.as_str())
            .filter(|name| !PUBLISHED.iter().any(|(known, _)| known == name)),
    );
    for name in rows {
        let thesis =
            PUBLISHED.iter().find(|(known, _)| *known == name).map_or([None; 4], |(_, shares)| *shares);
        let mut row: Vec<Value> =
            vec![format!(".{name}").into(), tally.count(name).into(), tally.share(name).into()];
        row.extend(thesis.map(Value::from));
        grid.row(row);
    }
    grid
}

#[cfg(test)]
mod tests {
    use lookalike::walk::Watch;

    use super::super::lists::tests::folder;
    use super::super::transfers::tests::crawl_context;
    use super::super::world::tests::tables;
    use super::*;

    #[test]
    fn crawls_share_most_addresses() {
        let watch = Watch::default();
        let study = run(&crawl_context(&watch)).unwrap();
        let tables = tables(&study);
        assert_eq!(tables.len(), 4);
        // Some addresses are spelt in another way the second time.
        let shared = |row: usize| match tables[0].rows[row][3] {
            Value::Count(count) => count,
            _ => 0,
        };
        assert!(shared(0) > 100 && shared(0) < shared(1), "{} {}", shared(0), shared(1));
        assert_eq!(tables[1].rows[0][0], Value::from(".com"));
        assert!(!study.lead.contains("NaN"), "{}", study.lead);
    }

    #[test]
    fn real_lists_are_counted_where_they_are() {
        let watch = Watch::default();
        let (folder, empty) = (folder(), tempfile::tempdir().unwrap());
        let context = crawl_context(&watch);
        let none = Lists { context: &context, data: empty.path() };
        assert_eq!(real(&none, &mut Study::default()).unwrap(), None);
        let mut study = Study::default();
        let lead = real(&Lists { context: &context, data: folder.path() }, &mut study).unwrap().unwrap();
        assert!(lead.contains("Of 3 pages") && lead.contains("33.3 %"), "{lead}");
        let tables = tables(&study);
        assert_eq!(tables[0].rows[0][1..3], [Value::Count(1), Value::Number(0.5)]);
        assert_eq!(tables[2].rows[0][1..3], [Value::Count(3), Value::Count(1)]);
    }
}
