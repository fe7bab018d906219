//! E9: addresses that two crawls share, and their domains.

use std::path::Path;

use lookalike::corpus::{Corpus, Fields, Format, ReadOptions};
use lookalike::report::Study;
use lookalike::report::study::{Grid, Value};
use lookalike::text::extract::ContentMode;
use lookalike::text::hash;
use lookalike_overlap::address::Matching;
use lookalike_overlap::domains::{Tally, names};
use lookalike_overlap::shared::shared;
use lookalike_overlap::statistics::{mean, median};

use super::transfers::{NEAR, Sides, sketched, with_shared_address};
use super::{Desk, Experiment};
use crate::collection::{Collection, Item, Wanted};
use crate::interval::wilson;
use crate::trial::LabError;

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "E9",
    title: "Addresses that two crawls share, and their domains",
    source: "Bachelor thesis, Weimar 2014, chapter 4",
    data: Some(Wanted::Crawls),
    run,
};

/// One page in so many of the older crawl counts as judged.
const JUDGED: u64 = 5;
/// Rows of a table of hosts or domains.
const ROWS: usize = 10;
/// More documents than any list of addresses here has.
const ALL: usize = 1 << 40;

/// Real lists below the folder of known collections, if they are there.
const ADDRESSES: &str = "qrels/urls/clueweb12-urls.jsonl.zst";
const QRELS: &str = "qrels/copycat/qrels-web-";
const YEARS: [u32; 4] = [2009, 2010, 2011, 2012];

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

fn run(desk: &Desk<'_>) -> Result<Study, LabError> {
    let collection = desk.collection(Wanted::Crawls)?;
    let sides = Sides::of(desk, &collection)?;
    let mut study = desk.study(&EXPERIMENT, Some(&collection));
    study.fact("older pages", sides.judged.len().to_string());
    study.fact("newer pages", sides.target.len().to_string());
    study.notes.push(
        "The older crawl stands in for ClueWeb09, the newer for ClueWeb12, and a fifth of the older pages, drawn by lot, for the \
         judged ones."
            .to_owned(),
    );
    let crawls = crawls(desk, &sides, &mut study)?;
    let real = match &desk.data {
        Some(data) => real(desk, data, &mut study)?,
        None => None,
    };
    study.lead = [Some(crawls), real].into_iter().flatten().collect::<Vec<_>>().join(" ");
    Ok(study)
}

/// Addresses of the two crawls.
fn crawls(desk: &Desk<'_>, sides: &Sides, study: &mut Study) -> Result<String, LabError> {
    let addresses =
        |items: &[Item]| -> Vec<String> { items.iter().filter_map(|item| item.url.clone()).collect() };
    let (source, target) = (addresses(&sides.judged), addresses(&sides.target));
    let lot = |address: &String| hash::nth(1, hash::word(address.as_bytes()) ^ hash::mix(desk.seed));
    let judged: Vec<String> =
        source.iter().filter(|address| lot(address).is_multiple_of(JUDGED)).cloned().collect();
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
    similarity(desk, sides, study)
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

/// How similar the two documents behind a shared address are.
fn similarity(desk: &Desk<'_>, sides: &Sides, study: &mut Study) -> Result<String, LabError> {
    let judged = sketched(&sides.judged, desk.seed, desk.watch)?;
    let target = sketched(&sides.target, desk.seed, desk.watch)?;
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
    Ok(format!(
        "Of {addresses} older pages {} have an address that the newer crawl has, too, and {:.1} % of these are near-duplicates of \
         what is there now (thesis: 23.0 %).",
        values.len(),
        100.0 * share.unwrap_or(f64::NAN)
    ))
}

/// What the real lists tell, as far as they are there.
fn real(desk: &Desk<'_>, data: &Path, study: &mut Study) -> Result<Option<String>, LabError> {
    let file = data.join(ADDRESSES);
    if file.is_file() {
        let addresses = addresses(desk, &file)?;
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
        let files = ["", "-cw12-url"].map(|end| data.join(format!("{QRELS}{year}{end}.zst")));
        if !files.iter().all(|file| file.is_file()) {
            continue;
        }
        let [official, shared] = [judged_in(desk, &files[0])?, judged_in(desk, &files[1])?];
        table.row(judged_row(format!("Web {year}"), &official, &shared));
        all.extend(official);
        moved.extend(shared);
    }
    if table.rows.is_empty() {
        return Ok(None);
    }
    let [all, moved] = [all, moved].map(distinct);
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

/// The addresses of a list in JSON lines.
fn addresses(desk: &Desk<'_>, file: &Path) -> Result<Vec<String>, LabError> {
    // A list has no texts: the address stands in, so that its lines are documents.
    let fields = Fields { text: "url".into(), ..Fields::default() };
    let items = read(desk, file, ReadOptions { fields, ..ReadOptions::default() })?;
    Ok(items.into_iter().map(|item| item.text).collect())
}

/// The judged documents of a list of judgments, each once.
fn judged_in(desk: &Desk<'_>, file: &Path) -> Result<Vec<String>, LabError> {
    let items = read(desk, file, ReadOptions { format: Some(Format::Text), ..ReadOptions::default() })?;
    let lines = items.iter().flat_map(|item| item.text.lines());
    Ok(distinct(lines.filter_map(|line| line.split_whitespace().nth(2)).map(str::to_owned).collect()))
}

fn read(desk: &Desk<'_>, file: &Path, options: ReadOptions) -> Result<Vec<Item>, LabError> {
    let corpus = Corpus::open(&[file.as_os_str().to_owned()], options)?;
    let list = Collection { name: "list".to_owned(), corpus, content: ContentMode::Page, generated: false };
    list.items(ALL, desk.seed, &[], desk.watch)
}

fn distinct(mut names: Vec<String>) -> Vec<String> {
    names.sort_unstable();
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use lookalike::walk::Watch;

    use super::super::transfers::tests::crawls;
    use super::super::world::tests::tables;
    use super::*;

    #[test]
    fn crawls_share_most_addresses() {
        let watch = Watch::default();
        let study = run(&crawls(&watch)).unwrap();
        let tables = tables(&study);
        assert_eq!(tables.len(), 4);
        // Letter by letter and in normal form are the same where addresses come from one program.
        assert_eq!(tables[0].rows[0][2..6], tables[0].rows[1][2..6]);
        assert_eq!(tables[1].rows[0][0], Value::from(".example"));
        assert!(!study.lead.contains("NaN"), "{}", study.lead);
    }

    #[test]
    fn real_lists_are_counted_where_they_are() {
        let watch = Watch::default();
        let folder = tempfile::tempdir().unwrap();
        let desk = Desk { data: Some(folder.path().to_owned()), ..crawls(&watch) };
        assert_eq!(real(&desk, folder.path(), &mut Study::default()).unwrap(), None);
        std::fs::create_dir_all(folder.path().join("qrels/urls")).unwrap();
        std::fs::create_dir_all(folder.path().join("qrels/copycat")).unwrap();
        let lines = "{\"id\":\"1\",\"url\":\"http://a.com/\"}\n{\"id\":\"2\",\"url\":\"http://b.gov/\"}\n";
        std::fs::write(folder.path().join(ADDRESSES), lines).unwrap();
        let qrels = |end: &str| folder.path().join(format!("{QRELS}2010{end}.zst"));
        std::fs::write(qrels(""), "51 0 x 0\n51 0 y 1\n52 0 x 0\n52  0  z  2\n").unwrap();
        std::fs::write(qrels("-cw12-url"), "51 0 y 1\n").unwrap();
        let mut study = Study::default();
        let lead = real(&desk, folder.path(), &mut study).unwrap().unwrap();
        assert!(lead.contains("Of 3 pages") && lead.contains("33.3 %"), "{lead}");
        let tables = tables(&study);
        assert_eq!(tables[0].rows[0][1..3], [Value::Count(1), Value::Number(0.5)]);
        assert_eq!(tables[2].rows[0][1..3], [Value::Count(3), Value::Count(1)]);
    }
}
