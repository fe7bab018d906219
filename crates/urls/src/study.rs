//! The report.

use lookalike::report::study::{Axis, Bars, Grid, Lines, Origin, Plot, Point, Series, Study, Value};
use lookalike::report::thousands;
use lookalike_overlap::histogram;
use lookalike_overlap::interval::wilson;

use crate::Context;
use crate::join::{JoinFacts, MOST_NAMED};
use crate::measure::{Measurements, SHINGLE};
use crate::overlap::OverlapFacts;
use crate::persistence::{Persistence, Snapshot};
use crate::rows::Row;
use crate::summary::{SideSummary, Summary};
use crate::tables::{Kind, ROWS_SHOWN, ReportTables, depths};
use crate::tsv::share;

/// Says what was found.
pub(crate) fn study(
    ctx: &Context<'_>,
    summary: &Summary,
    joined: &JoinFacts,
    measured: &Measurements,
    listed: &OverlapFacts,
    shown: &ReportTables,
    times: &Persistence,
) -> Study {
    let mut study = Study {
        id: String::new(),
        title: format!("Addresses of {} and {}", summary.left.name, summary.right.name),
        lead: lead(summary),
        notes: notes(ctx, summary),
        ..Study::default()
    };
    facts(ctx, summary, &mut study);
    sides(summary, &mut study);
    domains(summary, shown, &mut study);
    similarity(summary, measured, &mut study);
    survival(summary, joined, listed, shown, &mut study);
    if !times.snapshots.is_empty() {
        over_time(ctx, summary, times, &mut study);
    }
    study
}

fn percent(share: Option<f64>) -> String {
    share.map_or("–".to_owned(), |share| format!("{:.1} %", 100.0 * share))
}

/// A number of things, with their name.
fn counted(number: u64, name: &str) -> String {
    format!("{} {name}{}", thousands(number), if number == 1 { "" } else { "s" })
}

fn lead(summary: &Summary) -> String {
    let (shared, urls) = (summary.shared_urls, summary.left.urls);
    let mut lead = format!(
        "{} of the {} addresses of {} ({}) are in {}, too; {} documents have one of them.",
        thousands(shared),
        thousands(urls),
        summary.left.name,
        percent(share(shared, urls)),
        summary.right.name,
        thousands(summary.left_documents_with_shared_url),
    );
    if let Some(similarity) = summary.similarity.as_ref().filter(|similarity| similarity.pairs > 0) {
        lead.push_str(&format!(
            " Of {} pairs of documents behind a shared address {} have a similarity of {} or more; the mean is {:.3}.",
            thousands(similarity.pairs),
            percent(similarity.near_share),
            similarity.threshold,
            similarity.mean.unwrap_or_default(),
        ));
    }
    lead
}

fn notes(ctx: &Context<'_>, summary: &Summary) -> Vec<String> {
    let mut notes = Vec::new();
    let all: Vec<&SideSummary> = match summary.snapshots.is_empty() {
        true => vec![&summary.left, &summary.right],
        false => std::iter::once(&summary.left).chain(&summary.snapshots).collect(),
    };
    for side in all {
        if side.counts.rejected > 0 {
            let count = thousands(side.counts.rejected);
            notes.push(format!(
                "{count} records of {} could not be read; rejected.jsonl says why.",
                side.name
            ));
        }
        if side.counts.with_url() == 0 && side.counts.documents > 0 {
            notes.push(format!("No document of {} has an address.", side.name));
        }
    }
    match &summary.similarity {
        None => notes.push("Documents behind a shared address were not compared.".to_owned()),
        Some(similarity) if similarity.not_measured > 0 => notes.push(format!(
            "{} of {} shared addresses were not measured: one of the two documents has no words.",
            thousands(similarity.not_measured),
            thousands(summary.shared_urls)
        )),
        Some(_) => {}
    }
    let repeated = summary.left_documents_with_shared_url > summary.shared_urls
        || summary.right_documents_with_shared_url > summary.shared_urls;
    if repeated && summary.similarity.is_some() {
        notes.push(
            "Some addresses belong to several documents of one side: the first of each side is measured."
                .to_owned(),
        );
    }
    if ctx.request.snapshots() > 1 {
        notes.push(format!(
            "There are {} snapshots: all tables but those over time compare with the first, {}.",
            ctx.request.snapshots(),
            summary.right.name
        ));
    }
    notes
}

fn facts(ctx: &Context<'_>, summary: &Summary, study: &mut Study) {
    study.fact("left", summary.left.name.clone());
    ctx.request.names[1..].iter().for_each(|name| study.fact("with", name.clone()));
    study.fact(
        "addresses are one when equal",
        match summary.matching.as_str() {
            "exact" => "letter by letter",
            "canonical" => "in canonical form",
            _ => "in normal form",
        },
    );
    if let Some(similarity) = &summary.similarity {
        study.fact("similarity", similarity.measure.clone());
        study.fact("near from", similarity.threshold.clone());
        study.fact("profile", ctx.request.profile.recipe().to_string());
    }
    study.fact("documents named for one address, at most", MOST_NAMED.to_string());
    study.fact("lookalike", summary.version.clone());
}

fn sides(summary: &Summary, study: &mut Study) {
    let mut grid = Grid::new(
        "Documents and addresses",
        [
            "",
            "documents",
            "rejected",
            "without address",
            "different addresses",
            "shared",
            "share of addresses",
        ],
    );
    for side in [&summary.left, &summary.right] {
        grid.row([
            side.name.as_str().into(),
            side.counts.documents.into(),
            side.counts.rejected.into(),
            side.counts.without_url.into(),
            side.urls.into(),
            summary.shared_urls.into(),
            share(summary.shared_urls, side.urls).into(),
        ]);
    }
    study.table(grid);
    let mut grid = Grid::new("Documents with a shared address", ["", "documents", "of", "share", "95 %"]);
    let mut row = |name: &str, part: u64, whole: u64| {
        grid.row([
            name.into(),
            part.into(),
            whole.into(),
            share(part, whole).into(),
            wilson(part, whole).into(),
        ]);
    };
    let accepted = |side: &SideSummary| side.counts.documents - side.counts.rejected;
    row(&summary.left.name, summary.left_documents_with_shared_url, accepted(&summary.left));
    row(&summary.right.name, summary.right_documents_with_shared_url, accepted(&summary.right));
    if let Some(judged) = &summary.judged {
        row("judged documents", judged.with_shared_url, judged.found);
    }
    study.table(grid);
    study.text(format!(
        "Shared addresses come from {} and {}.",
        counted(summary.shared_hosts, "host"),
        counted(summary.shared_domains, "registered domain")
    ));
}

/// A population that tables are about.
struct Population {
    name: String,
    count: fn(&Row) -> u64,
    total: u64,
}

fn populations(summary: &Summary) -> Vec<Population> {
    let population =
        |name: &str, count: fn(&Row) -> u64, total| Population { name: name.to_owned(), count, total };
    let mut all = vec![
        population(&summary.left.name, |row| row.left_documents, summary.left.counts.with_url()),
        population(&summary.right.name, |row| row.right_documents, summary.right.counts.with_url()),
    ];
    if let Some(judged) = &summary.judged {
        all.push(population("judged", |row| row.judged, judged.with_url));
        all.push(population("judged, shared address", |row| row.judged_shared, judged.with_shared_url));
    }
    let documents = summary.left_documents_with_shared_url;
    all.push(population("documents with shared address", |row| row.shared_documents, documents));
    all.push(population("shared addresses", |row| row.shared_urls, summary.shared_urls));
    all
}

fn domains(summary: &Summary, shown: &ReportTables, study: &mut Study) {
    let populations = populations(summary);
    study.heading("Domains");
    for (kind, name) in [
        (Kind::TopLevel, "Top-level domains"),
        (Kind::Suffix, "Public suffixes"),
        (Kind::Domain, "Registered domains with the most shared addresses"),
        (Kind::Host, "Hosts with the most shared addresses"),
    ] {
        let columns = std::iter::once(String::new())
            .chain(populations.iter().flat_map(|one| [one.name.clone(), format!("{}: share", one.name)]));
        let mut grid = Grid::new(name, columns);
        for (name, row) in ReportTables::of(&shown.by_sharing, kind) {
            let cells = populations.iter().flat_map(|one| {
                let count = (one.count)(row);
                [Value::Count(count), share(count, one.total).into()]
            });
            grid.row(std::iter::once(name.into()).chain(cells));
        }
        study.table(grid);
        if kind == Kind::TopLevel {
            study.plot(Plot::Bars(bars(shown, &populations)));
        }
    }
    study.text(format!(
        "The {ROWS_SHOWN} first of each are shown; domains.tsv and tlds.tsv have all of them."
    ));
}

fn bars(shown: &ReportTables, populations: &[Population]) -> Bars {
    let rows: Vec<(&str, &Row)> = ReportTables::of(&shown.by_sharing, Kind::TopLevel).collect();
    let series =
        |one: &Population| (one.name.clone(), rows.iter().map(|(_, row)| (one.count)(row)).collect());
    Bars {
        name: "Documents and addresses by top-level domain".to_owned(),
        x: "top-level domain".to_owned(),
        y: "number".to_owned(),
        bins: rows.iter().map(|(name, _)| (*name).to_owned()).collect(),
        series: populations.iter().map(series).collect(),
        logarithmic: true,
    }
}

fn similarity(summary: &Summary, measured: &Measurements, study: &mut Study) {
    let Some(similarity) = summary.similarity.as_ref().filter(|similarity| similarity.pairs > 0) else {
        return;
    };
    study.heading("Documents behind a shared address");
    let mut grid = Grid::new(format!("Similarity: {}", similarity.measure), ["", "", "share", "95 %"]);
    let whole = similarity.pairs;
    grid.row(["pairs measured".into(), whole.into(), Value::None, Value::None]);
    let counts = [
        (format!("{} or more", similarity.threshold), similarity.near),
        ("equal words".to_owned(), similarity.unchanged),
    ];
    for (name, part) in counts {
        grid.row([name.into(), part.into(), share(part, whole).into(), wilson(part, whole).into()]);
    }
    grid.row(["mean".into(), similarity.mean.into(), Value::None, Value::None]);
    grid.row(["median".into(), similarity.median.into(), Value::None, Value::None]);
    study.table(grid);
    study.plot(Plot::Bars(Bars {
        name: "Similarity of the two documents behind a shared address".to_owned(),
        x: "similarity".to_owned(),
        y: "shared addresses".to_owned(),
        bins: histogram::names().into(),
        series: vec![("shared addresses".to_owned(), measured.bins.to_vec())],
        logarithmic: false,
    }));
}

fn survival(
    summary: &Summary,
    joined: &JoinFacts,
    listed: &OverlapFacts,
    shown: &ReportTables,
    study: &mut Study,
) {
    study.heading("What survived");
    study.text(format!(
        "Of the different addresses of {}, those that {} has, and of these the share of near ones where both documents have words.",
        summary.left.name, summary.right.name
    ));
    let by_depth = depths(joined, listed);
    let mut tables: Vec<(&str, Vec<(&str, &Row)>)> =
        vec![("By depth of path", by_depth.iter().map(|(name, row)| (name.as_str(), row)).collect())];
    for (kind, name) in [
        (Kind::TopLevel, "By top-level domain"),
        (Kind::Domain, "By registered domain"),
        (Kind::Host, "By host"),
    ] {
        tables.push((name, ReportTables::of(&shown.by_left, kind).collect()));
    }
    for (name, rows) in tables {
        let heads =
            ["", "addresses", "found", "share", "95 %", "measured", "near", "share near", "95 % near"];
        let mut grid = Grid::new(name, heads);
        for (name, row) in rows {
            grid.row([
                name.into(),
                row.left_urls.into(),
                row.shared_urls.into(),
                share(row.shared_urls, row.left_urls).into(),
                wilson(row.shared_urls, row.left_urls).into(),
                row.measured.into(),
                row.near.into(),
                share(row.near, row.measured).into(),
                wilson(row.near, row.measured).into(),
            ]);
        }
        study.table(grid);
    }
    study.plot(Plot::Lines(depth_lines(&by_depth)));
    study.text(format!("The {ROWS_SHOWN} with the most addresses are shown; survival.tsv has all of them."));
}

fn depth_lines(rows: &[(String, Row)]) -> Lines {
    let line = |name: &str, part: fn(&Row) -> u64, whole: fn(&Row) -> u64| {
        let point = |(depth, row): &(String, Row)| {
            let x = depth.split(' ').next().and_then(|depth| depth.parse().ok())?;
            let (part, whole) = (part(row), whole(row));
            share(part, whole).map(|y| Point { x, y, interval: wilson(part, whole) })
        };
        let points = rows.iter().filter_map(point).collect();
        Series { name: name.to_owned(), origin: Origin::Measured, points }
    };
    Lines {
        name: "What survived by depth of path".to_owned(),
        x: Axis { name: "parts of the path".to_owned(), ..Axis::default() },
        y: Axis { name: "share".to_owned(), range: Some((0.0, 1.0)), logarithmic: false },
        series: vec![
            line("addresses found", |row| row.shared_urls, |row| row.left_urls),
            line("near, of those measured", |row| row.near, |row| row.measured),
        ]
        .into_iter()
        .filter(|series| !series.points.is_empty())
        .collect(),
    }
}

fn over_time(ctx: &Context<'_>, summary: &Summary, times: &Persistence, study: &mut Study) {
    study.heading("Over time");
    study.text(format!(
        "Still there: addresses of {left} that a snapshot has; in all so far: those that every snapshot up to it has; new: its addresses \
         that neither {left} nor an earlier snapshot has. Unchanged: the words are the same, in the same order, as in {left}; near: the \
         similarity is {threshold} or more. Shingles: the mean share of the {SHINGLE}-word shingles of the document in {left} that the \
         version of the snapshot still has, over pages that are still there, and over all pages, of which those that are gone \
         have none.",
        left = summary.left.name,
        threshold = ctx.request.measure.map_or_else(String::new, |measure| measure.threshold.to_string()),
    ));
    study.table(persistence(times));
    study.table(since_last(times));
    study.plot(Plot::Lines(curves(times)));
    study.text(match times.half_life {
        Some(half) => format!(
            "If addresses go on to go as they went, half of them are gone after {half:.1} snapshots (an exponential curve through the \
             shares above{}).",
            times
                .shingle_half_life
                .map_or_else(String::new, |half| format!("; half of all shingles after {half:.1}"))
        ),
        None => "The curve of addresses does not fall in a way that a half-life could be told from.".to_owned(),
    });
    study.table(by_domain(times));
    study.text("snapshots.tsv and snapshots.jsonl have all top-level domains.");
}

fn persistence(times: &Persistence) -> Grid {
    let mut grid = Grid::new(
        "What became of the left corpus's addresses",
        [
            "snapshot",
            "addresses",
            "still there",
            "share",
            "95 %",
            "in all so far",
            "share in all",
            "new",
            "measured",
            "unchanged",
            "share unchanged",
            "near",
            "share near",
            "mean similarity",
            "shingles, pages there",
            "shingles, all pages",
        ],
    );
    for snapshot in &times.snapshots {
        let all = snapshot.all.unwrap_or_default();
        grid.row([
            label(snapshot).into(),
            all.urls.into(),
            snapshot.still.into(),
            snapshot.still_share.into(),
            snapshot.still_low.zip(snapshot.still_high).into(),
            all.always.into(),
            all.always_share.into(),
            all.new.into(),
            snapshot.measured.into(),
            snapshot.unchanged.into(),
            snapshot.unchanged_share.into(),
            snapshot.near.into(),
            snapshot.near_share.into(),
            all.mean_similarity.into(),
            all.shingles_there.into(),
            all.shingles_all.into(),
        ]);
    }
    grid
}

fn label(snapshot: &Snapshot) -> String {
    format!("{}: {}", snapshot.snapshot, snapshot.name)
}

fn since_last(times: &Persistence) -> Grid {
    let mut grid = Grid::new(
        "From snapshot to snapshot: addresses of the one before, and left pages that are in both",
        [
            "snapshot",
            "kept",
            "share kept",
            "pages measured",
            "unchanged",
            "share unchanged",
            "near",
            "share near",
            "mean similarity",
        ],
    );
    for snapshot in &times.snapshots {
        let all = snapshot.all.unwrap_or_default();
        grid.row([
            label(snapshot).into(),
            all.kept.into(),
            all.kept_share.into(),
            all.measured_since.into(),
            all.unchanged_since.into(),
            all.unchanged_since_share.into(),
            all.near_since.into(),
            all.near_since_share.into(),
            all.mean_similarity_since.into(),
        ]);
    }
    grid
}

fn curves(times: &Persistence) -> Lines {
    let line = |name: &str, value: &dyn Fn(&Snapshot) -> Option<f64>| {
        let points = times
            .snapshots
            .iter()
            .filter_map(|snapshot| value(snapshot).map(|y| Point::new(snapshot.snapshot as f64, y)));
        let start = std::iter::once(Point::new(0.0, 1.0));
        Series { name: name.to_owned(), origin: Origin::Measured, points: start.chain(points).collect() }
    };
    let all = |value: fn(&crate::persistence::Overall) -> Option<f64>| {
        move |snapshot: &Snapshot| snapshot.all.as_ref().and_then(value)
    };
    let series = vec![
        line("still there", &|snapshot| snapshot.still_share),
        line("in all so far", &all(|all| all.always_share)),
        line("unchanged, of those measured", &|snapshot| snapshot.unchanged_share),
        line("near, of those measured", &|snapshot| snapshot.near_share),
        line("shingles, pages there", &all(|all| all.shingles_there)),
        line("shingles, all pages", &all(|all| all.shingles_all)),
    ];
    Lines {
        name: "What is left of the left corpus".to_owned(),
        x: Axis { name: "snapshot".to_owned(), ..Axis::default() },
        y: Axis { name: "share".to_owned(), range: Some((0.0, 1.0)), logarithmic: false },
        series: series.into_iter().filter(|series| series.points.len() > 1).collect(),
    }
}

fn by_domain(times: &Persistence) -> Grid {
    let mut grid = Grid::new(
        "By top-level domain",
        [
            "domain",
            "snapshot",
            "left addresses",
            "still there",
            "share",
            "95 %",
            "share unchanged",
            "share near",
        ],
    );
    for (name, snapshots) in &times.domains {
        for snapshot in snapshots {
            grid.row([
                name.as_str().into(),
                label(snapshot).into(),
                snapshot.left_urls.into(),
                snapshot.still.into(),
                snapshot.still_share.into(),
                snapshot.still_low.zip(snapshot.still_high).into(),
                snapshot.unchanged_share.into(),
                snapshot.near_share.into(),
            ]);
        }
    }
    grid
}

#[cfg(test)]
mod tests {
    use lookalike::report::study::Block;

    use super::*;
    use crate::fixture::Fixture;
    use crate::persistence::Overall;
    use crate::read::RecordCounts;
    use crate::summary::{JudgedSummary, SimilaritySummary};

    fn side(name: &str, documents: u64, urls: u64) -> SideSummary {
        let counts = RecordCounts { documents, ..RecordCounts::default() };
        SideSummary { name: name.to_owned(), counts, urls, reasons: Vec::new() }
    }

    fn similarity_of(pairs: u64, not_measured: u64) -> SimilaritySummary {
        SimilaritySummary {
            measure: "jaccard of words".to_owned(),
            threshold: "0.9".to_owned(),
            pairs,
            not_measured,
            unchanged: 1,
            near: 3,
            near_share: Some(0.75),
            mean: Some(0.5),
            median: Some(0.25),
        }
    }

    fn summary() -> Summary {
        Summary {
            left: side("old", 2000, 1500),
            right: side("new", 1000, 900),
            snapshots: Vec::new(),
            matching: "normal".to_owned(),
            shared_urls: 300,
            left_documents_with_shared_url: 300,
            left_documents_with_shared_url_share: Some(0.15),
            right_documents_with_shared_url: 300,
            shared_hosts: 1,
            shared_domains: 1234,
            similarity: None,
            judged: None,
            half_life: None,
            shingle_half_life: None,
            version: "1".to_owned(),
        }
    }

    fn snapshot(number: usize, still: Option<f64>, all: Option<Overall>) -> Snapshot {
        Snapshot {
            snapshot: number,
            name: format!("s{number}"),
            still_share: still,
            all,
            ..Snapshot::default()
        }
    }

    fn grids(study: &Study) -> Vec<&Grid> {
        let blocks = study.blocks.iter();
        blocks.filter_map(|block| if let Block::Table(grid) = block { Some(grid) } else { None }).collect()
    }

    fn texts(study: &Study) -> Vec<&str> {
        let blocks = study.blocks.iter();
        blocks
            .filter_map(|block| if let Block::Text(text) = block { Some(text.as_str()) } else { None })
            .collect()
    }

    #[test]
    fn shares_are_percents_with_one_decimal() {
        assert_eq!(
            [None, Some(0.0), Some(0.1234), Some(1.0)].map(percent),
            ["–", "0.0 %", "12.3 %", "100.0 %"]
        );
    }

    #[test]
    fn one_thing_is_singular() {
        let found = [0, 1, 2, 1234].map(|number| counted(number, "host"));
        assert_eq!(found, ["0 hosts", "1 host", "2 hosts", "1,234 hosts"]);
    }

    #[test]
    fn the_lead_tells_what_is_shared() {
        let sentence =
            "300 of the 1,500 addresses of old (20.0 %) are in new, too; 300 documents have one of them.";
        assert_eq!(lead(&summary()), sentence);
        let unmeasured = Summary { similarity: Some(similarity_of(0, 300)), ..summary() };
        assert_eq!(lead(&unmeasured), sentence);
        let measured = Summary { similarity: Some(similarity_of(1004, 0)), ..summary() };
        let more = " Of 1,004 pairs of documents behind a shared address 75.0 % have a similarity of 0.9 or more; \
                    the mean is 0.500.";
        assert_eq!(lead(&measured), format!("{sentence}{more}"));
    }

    #[test]
    fn the_lead_of_a_corpus_without_addresses_has_no_share() {
        let none = Summary { left: side("old", 0, 0), shared_urls: 0, ..summary() };
        assert!(lead(&none).starts_with("0 of the 0 addresses of old (–) are in new"), "{}", lead(&none));
    }

    #[test]
    fn a_comparison_without_texts_says_so() {
        let fixture = Fixture::empty(1);
        let wanted = ["Documents behind a shared address were not compared."];
        assert_eq!(notes(&fixture.ctx(), &summary()), wanted);
    }

    #[test]
    fn where_all_was_read_and_measured_there_is_nothing_to_note() {
        let fixture = Fixture::empty(1);
        let whole = Summary { similarity: Some(similarity_of(300, 0)), ..summary() };
        assert_eq!(notes(&fixture.ctx(), &whole), Vec::<String>::new());
    }

    #[test]
    fn every_side_with_losses_is_noted() {
        let fixture = Fixture::empty(2);
        let mut lost = side("c", 2000, 0);
        lost.counts.rejected = 1500;
        lost.counts.without_url = 500;
        let found = Summary {
            snapshots: vec![side("new", 1000, 900), lost],
            similarity: Some(similarity_of(290, 10)),
            right_documents_with_shared_url: 301,
            ..summary()
        };
        let wanted = [
            "1,500 records of c could not be read; rejected.jsonl says why.",
            "No document of c has an address.",
            "10 of 300 shared addresses were not measured: one of the two documents has no words.",
            "Some addresses belong to several documents of one side: the first of each side is measured.",
            "There are 2 snapshots: all tables but those over time compare with the first, new.",
        ];
        assert_eq!(notes(&fixture.ctx(), &found), wanted);
    }

    #[test]
    fn facts_name_every_snapshot_and_the_way_to_match() {
        let fixture = Fixture::empty(2);
        let fact = |matching: &str, name: &str| {
            let mut study = Study::default();
            facts(&fixture.ctx(), &Summary { matching: matching.to_owned(), ..summary() }, &mut study);
            let named = study.facts.into_iter().filter(|(fact, _)| fact == name);
            named.map(|(_, value)| value).collect::<Vec<_>>()
        };
        assert_eq!(fact("normal", "with"), ["side 1", "side 2"]);
        let way = |matching| fact(matching, "addresses are one when equal");
        assert_eq!(way("exact"), ["letter by letter"]);
        assert_eq!(way("normal"), ["in normal form"]);
        assert_eq!(way("canonical"), ["in canonical form"]);
        assert_eq!(fact("normal", "near from"), Vec::<String>::new());
    }

    #[test]
    fn documents_with_a_shared_address_are_a_share_of_those_that_were_read() {
        let mut found = summary();
        found.left.counts.rejected = 500;
        let judged = JudgedSummary {
            judged: 9,
            found: 4,
            with_url: 3,
            with_shared_url: 1,
            with_shared_url_share: Some(0.25),
        };
        found.judged = Some(judged);
        let mut study = Study::default();
        sides(&found, &mut study);
        let rows = &grids(&study)[1].rows;
        let cells = |row: usize| (rows[row][1].clone(), rows[row][2].clone(), rows[row][3].clone());
        assert_eq!(cells(0), (300u64.into(), 1500u64.into(), 0.2.into()));
        assert_eq!(cells(1), (300u64.into(), 1000u64.into(), 0.3.into()));
        assert_eq!(cells(2), (1u64.into(), 4u64.into(), 0.25.into()));
        assert_eq!(texts(&study), ["Shared addresses come from 1 host and 1,234 registered domains."]);
    }

    #[test]
    fn judged_documents_are_populations_where_there_are_judgments() {
        let names =
            |summary: &Summary| populations(summary).into_iter().map(|one| one.name).collect::<Vec<_>>();
        assert_eq!(names(&summary()), ["old", "new", "documents with shared address", "shared addresses"]);
        let judged = JudgedSummary {
            judged: 9,
            found: 4,
            with_url: 3,
            with_shared_url: 1,
            with_shared_url_share: None,
        };
        let found = Summary { judged: Some(judged), ..summary() };
        assert_eq!(names(&found)[2..4], ["judged", "judged, shared address"]);
        let row = Row { judged: 7, judged_shared: 8, ..Row::default() };
        let counts: Vec<(u64, u64)> =
            populations(&found).iter().map(|one| ((one.count)(&row), one.total)).collect();
        assert_eq!(counts[2..4], [(7, 3), (8, 1)]);
    }

    #[test]
    fn bars_have_a_bin_for_each_top_level_domain() {
        let row = |left_documents| Row { left_documents, ..Row::default() };
        let by_sharing = vec![
            (Kind::Host, "a.org".to_owned(), row(9)),
            (Kind::TopLevel, "org".to_owned(), row(5)),
            (Kind::TopLevel, "рф".to_owned(), row(6)),
        ];
        let bars = bars(&ReportTables { by_sharing, ..ReportTables::default() }, &populations(&summary()));
        assert_eq!(bars.bins, ["org", "рф"]);
        assert_eq!(bars.series[0], ("old".to_owned(), vec![5, 6]));
    }

    #[test]
    fn tables_of_domains_have_a_share_beside_every_count() {
        let row = Row { left_documents: 500, shared_urls: 30, ..Row::default() };
        let by_sharing = vec![(Kind::Domain, "a.org".to_owned(), row)];
        let mut study = Study::default();
        domains(&summary(), &ReportTables { by_sharing, ..ReportTables::default() }, &mut study);
        let grids = grids(&study);
        assert_eq!(grids.iter().map(|grid| grid.rows.len()).collect::<Vec<_>>(), [0, 0, 1, 0]);
        let cells = &grids[2].rows[0];
        assert_eq!(cells[..3], ["a.org".into(), 500u64.into(), 0.25.into()]);
        assert_eq!(cells[7..], [30u64.into(), 0.1.into()]);
    }

    #[test]
    fn without_pairs_there_is_no_part_on_similarity() {
        let blocks = |pairs| {
            let found = Summary { similarity: Some(similarity_of(pairs, 0)), ..summary() };
            let mut study = Study::default();
            similarity(&found, &Measurements::default(), &mut study);
            study.blocks
        };
        assert_eq!((blocks(0).len(), blocks(4).len()), (0, 3));
    }

    #[test]
    fn near_and_equal_documents_are_shares_of_measured_pairs() {
        let found = Summary { similarity: Some(similarity_of(4, 0)), ..summary() };
        let mut study = Study::default();
        similarity(&found, &Measurements::default(), &mut study);
        let rows = &grids(&study)[0].rows;
        assert_eq!(rows[1][..3], ["0.9 or more".into(), 3u64.into(), 0.75.into()]);
        assert_eq!(rows[2][..3], ["equal words".into(), 1u64.into(), 0.25.into()]);
        assert_eq!((&rows[3][1], &rows[4][1]), (&0.5.into(), &0.25.into()));
    }

    #[test]
    fn depths_are_points_and_the_open_one_stands_at_its_number() {
        let row = |left_urls, shared_urls| Row { left_urls, shared_urls, ..Row::default() };
        let rows = [("1".to_owned(), row(4, 1)), ("20 or more".to_owned(), row(2, 2))];
        let lines = depth_lines(&rows);
        // Nothing was measured: there is one line.
        assert_eq!(lines.series.len(), 1);
        let points: Vec<(f64, f64)> = lines.series[0].points.iter().map(|point| (point.x, point.y)).collect();
        assert_eq!(points, [(1.0, 0.25), (20.0, 1.0)]);
    }

    #[test]
    fn no_depths_are_no_lines() {
        assert_eq!(depth_lines(&[]).series, []);
    }

    #[test]
    fn curves_begin_with_everything_and_leave_out_what_is_not_known() {
        let all = Overall { always_share: Some(0.5), ..Overall::default() };
        let snapshots =
            vec![snapshot(1, Some(0.75), Some(all)), snapshot(2, None, None), snapshot(3, Some(0.25), None)];
        let lines = curves(&Persistence { snapshots, ..Persistence::default() });
        let points =
            |series: &Series| series.points.iter().map(|point| (point.x, point.y)).collect::<Vec<_>>();
        let found: Vec<_> =
            lines.series.iter().map(|series| (series.name.as_str(), points(series))).collect();
        let still = ("still there", vec![(0.0, 1.0), (1.0, 0.75), (3.0, 0.25)]);
        let always = ("in all so far", vec![(0.0, 1.0), (1.0, 0.5)]);
        assert_eq!(found, [still, always]);
    }

    #[test]
    fn tables_over_time_have_a_row_for_each_snapshot() {
        let all = Overall { urls: 7, kept: 5, kept_share: Some(0.5), ..Overall::default() };
        let snapshots = vec![snapshot(1, Some(0.75), Some(all)), snapshot(2, None, None)];
        let times = Persistence { snapshots, ..Persistence::default() };
        let (course, steps) = (persistence(&times), since_last(&times));
        assert_eq!((course.rows.len(), steps.rows.len()), (2, 2));
        assert_eq!(course.rows[0][..2], ["1: s1".into(), 7u64.into()]);
        assert_eq!(course.rows[1][..5], ["2: s2".into(), 0u64.into(), 0u64.into(), Value::None, Value::None]);
        assert_eq!(steps.rows[0][..3], ["1: s1".into(), 5u64.into(), 0.5.into()]);
    }

    #[test]
    fn every_domain_has_a_row_for_each_snapshot() {
        let two =
            |name: &str| (name.to_owned(), vec![snapshot(1, Some(1.0), None), snapshot(2, Some(0.5), None)]);
        let times = Persistence { domains: vec![two("org"), two("de")], ..Persistence::default() };
        let keys: Vec<[Value; 2]> =
            by_domain(&times).rows.iter().map(|row| [row[0].clone(), row[1].clone()]).collect();
        let key = |name: &str, label: &str| -> [Value; 2] { [name.into(), label.into()] };
        assert_eq!(keys, [key("org", "1: s1"), key("org", "2: s2"), key("de", "1: s1"), key("de", "2: s2")]);
    }

    #[test]
    fn half_lives_are_told_as_far_as_they_are_known() {
        let fixture = Fixture::empty(2);
        let told = |half_life, shingle_half_life| {
            let times = Persistence { half_life, shingle_half_life, ..Persistence::default() };
            let mut study = Study::default();
            over_time(&fixture.ctx(), &summary(), &times, &mut study);
            texts(&study)[1].to_owned()
        };
        let both = told(Some(2.3), Some(1.0));
        assert!(both.contains("half of them are gone after 2.3 snapshots"), "{both}");
        assert!(both.contains("; half of all shingles after 1.0)"), "{both}");
        let one = told(Some(3.0), None);
        assert!(one.contains("after 3.0 snapshots") && !one.contains("shingles"), "{one}");
        let none = told(None, Some(1.0));
        assert_eq!(
            none,
            "The curve of addresses does not fall in a way that a half-life could be told from."
        );
    }

    #[test]
    fn a_study_over_time_is_made_of_several_snapshots() {
        let fixture = Fixture::empty(2);
        let headings = |times: &Persistence| {
            let (joined, measured) = (JoinFacts::default(), Measurements::default());
            let listed = OverlapFacts { rows: 0, domains: 0, depths: Vec::new() };
            let shown = ReportTables::default();
            let study = study(&fixture.ctx(), &summary(), &joined, &measured, &listed, &shown, times);
            assert_eq!(study.title, "Addresses of old and new");
            let heading =
                |block: &Block| if let Block::Heading(text) = block { Some(text.clone()) } else { None };
            study.blocks.iter().filter_map(heading).collect::<Vec<_>>()
        };
        assert_eq!(headings(&Persistence::default()), ["Domains", "What survived"]);
        let times = Persistence { snapshots: vec![snapshot(1, None, None)], ..Persistence::default() };
        assert_eq!(headings(&times), ["Domains", "What survived", "Over time"]);
    }
}
