//! A comparison as a page: the tables and figures that a study of two crawls wants.

use lookalike::engine::{Findings, JobRecipe};
use lookalike::report::study::{Axis, Bars, Grid, Lines, Origin, Plot, Point, Series, Value};
use lookalike::report::{Study, thousands};
use lookalike_overlap::{forecast, histogram};

use crate::compare::{Comparison, FORECAST_WARNING, PersistenceCounts};
use crate::transfer::{FoundBy, Transfer};

/// Rows of the table by top-level domain.
const DOMAINS: usize = 25;

/// The page of a comparison of two corpora with these names.
pub fn study(
    [left, right]: [&str; 2],
    comparison: &Comparison,
    recipe: &JobRecipe,
    findings: &Findings,
) -> Study {
    let title = format!("{left} in {right}");
    let mut study = Study { id: "compare".to_owned(), title, ..Study::default() };
    let (any, left) = (comparison.any(), &comparison.both.left);
    let basis = match recipe.shingle {
        1 => "word sets".to_owned(),
        words => format!("shingles of {words} words"),
    };
    let near = match recipe.verified {
        true => format!("{} of at least {} on {basis}", recipe.similarity, recipe.threshold),
        false => "by the word of its method alone, not measured".to_owned(),
    };
    study.lead = format!(
        "{} of {} left documents have a near-duplicate on the right side ({near}), {} have a pair that a method accepts.",
        thousands(any.near),
        thousands(left.documents - left.rejected),
        thousands(any.found),
    );
    notes(&mut study, comparison, findings);
    facts(&mut study, comparison, recipe, findings);
    totals(&mut study, comparison);
    segments(&mut study, comparison);
    accumulation(&mut study, comparison);
    similarities(&mut study, comparison);
    differences(&mut study, comparison);
    persistence(&mut study, comparison);
    study
}

/// The page of a transfer: what became of judgments, then the comparison that it rests on.
pub fn transfer_study(
    names: [&str; 2],
    transfer: &Transfer,
    recipe: &JobRecipe,
    findings: &Findings,
) -> Study {
    let comparison = study(names, &transfer.comparison, recipe, findings);
    let mut study = Study {
        id: "transfer".to_owned(),
        title: format!("Judgments carried from {} to {}", names[0], names[1]),
        notes: comparison.notes,
        facts: comparison.facts,
        ..Study::default()
    };
    let all: u64 = transfer.tracks.iter().map(|track| track.judgments).sum();
    let carried: u64 = transfer.tracks.iter().map(|track| track.carried).sum();
    let FoundBy { content_only, both, .. } = transfer.found_by;
    study.lead = format!(
        "{} of {} judgments, of {} of {} judged documents, go over to the new corpus, where they are {}.",
        thousands(carried),
        thousands(all),
        thousands(content_only.documents + both.documents),
        thousands(transfer.judged),
        thousands(transfer.written()),
    );
    if transfer.missing > 0 {
        study.notes.push(format!(
            "{} judged documents are not in the old corpus, or could not be read there; missing.jsonl lists them.",
            thousands(transfer.missing)
        ));
    }
    if transfer.topics_in_several_files > 0 {
        study.notes.push(format!(
            "{} topics have a name that several files of judgments use, so there is no qrels.txt of all together; the folder qrels has \
             each file by itself.",
            thousands(transfer.topics_in_several_files)
        ));
    }
    for (count, what) in [
        (transfer.rejected, "records of the old corpus could not be read; rejected.jsonl has them."),
        (
            transfer.repeated,
            "documents of the old corpus bear a judged id that an earlier one bears, and were left out.",
        ),
        (
            transfer.unwritable,
            "near-duplicates have an id with blanks, which cannot stand in a column: mapping.jsonl has them, judgments do not.",
        ),
    ] {
        if count > 0 {
            study.notes.push(format!("{} {what}", thousands(count)));
        }
    }
    tracks(&mut study, transfer);
    found_by(&mut study, transfer);
    study.blocks.extend(comparison.blocks);
    study
}

fn tracks(study: &mut Study, transfer: &Transfer) {
    study.heading("Judgments by track");
    let columns = [
        "track",
        "judgments",
        "carried over",
        "share",
        "written",
        "merged",
        "conflicts",
        "topics",
        "with relevant before",
        "with relevant after",
    ];
    let mut grid = Grid::new("Before and after", columns);
    for track in &transfer.tracks {
        grid.row([
            track.track.as_str().into(),
            track.judgments.into(),
            track.carried.into(),
            share(track.carried, track.judgments).into(),
            track.written.into(),
            track.merged.into(),
            track.conflicts.into(),
            track.topics.into(),
            track.topics_relevant_before.into(),
            track.topics_relevant_after.into(),
        ]);
    }
    study.table(grid);
    study.text(
        "Judgments are merged when several old documents meet in one new document for one topic: the most similar old document \
         decides. A conflict is such a meeting with different grades; conflicts.jsonl has all of them, topics.tsv every topic.",
    );
    let mut grid = Grid::new("Grades", ["track", "grade", "before", "after", "share"]);
    for track in &transfer.tracks {
        for (grade, &before) in &track.grades_before.0 {
            let after = track.grades_after.0.get(grade).copied().unwrap_or(0);
            grid.row([
                track.track.as_str().into(),
                grade.to_string().into(),
                before.into(),
                after.into(),
                share(after, before).into(),
            ]);
        }
    }
    study.table(grid);
}

fn found_by(study: &mut Study, transfer: &Transfer) {
    study.heading("By address and by content");
    let mut grid =
        Grid::new("What the new corpus has of judged documents", ["found by", "documents", "judgments"]);
    let FoundBy { address_only, content_only, both, neither } = transfer.found_by;
    for (name, way) in [
        ("address and content", both),
        ("content only", content_only),
        ("address only: the page is another now", address_only),
        ("neither", neither),
    ] {
        grid.row([name.into(), way.documents.into(), way.judgments.into()]);
    }
    grid.row(["not in the old corpus".into(), transfer.missing.into(), Value::None]);
    study.table(grid);
    study.text(
        "Only what is found by content is carried over: a page at the same address may have become another. mapping.jsonl tells of \
         every near-duplicate whether its address is the same, the same in canonical form, or different.",
    );
}

fn notes(study: &mut Study, comparison: &Comparison, findings: &Findings) {
    study.notes.extend(findings.notes.iter().cloned());
    let both = &comparison.both;
    for (name, side) in [("left", &both.left), ("right", &both.right)] {
        if side.rejected > 0 {
            study.notes.push(format!(
                "{} records of the {name} side could not be read; rejected.jsonl has them with their reasons.",
                thousands(side.rejected)
            ));
        }
    }
    if comparison.settings.forecast.is_some() && comparison.settings.segments.len() < 2 {
        study
            .notes
            .push("A forecast needs two segments or more; --segment input or file makes some.".to_owned());
    }
    if both.common_ids > 0 {
        study.notes.push(format!(
            "{} ids are borne on both sides; in all tables a is a left document and b a right one, whatever its id.",
            thousands(both.common_ids)
        ));
    }
}

fn facts(study: &mut Study, comparison: &Comparison, recipe: &JobRecipe, findings: &Findings) {
    let both = &comparison.both;
    for (name, side) in [("left documents", &both.left), ("right documents", &both.right)] {
        study.fact(name, format!("{}, {} rejected", thousands(side.documents), thousands(side.rejected)));
    }
    study.fact("methods", comparison.settings.methods.join(", "));
    study.fact(
        "near-duplicate",
        format!("{} at least {}, shingles of {}", recipe.similarity, recipe.threshold, recipe.shingle),
    );
    study.fact("profile", recipe.profile.to_string());
    study.fact("candidate pairs", thousands(findings.summary.candidates));
    study.fact("pairs measured", thousands(findings.summary.verified));
    let addresses =
        format!("{} of {}", thousands(comparison.shared.count()), thousands(comparison.addresses));
    study.fact("left addresses that the right side has", addresses);
}

/// Adds the results of each method over all segments.
fn totals(study: &mut Study, comparison: &Comparison) {
    study.heading("What was found");
    let mut grid = Grid::new(
        "All segments together",
        [
            "method",
            "pairs",
            "near pairs",
            "found",
            "share of left",
            "with near-duplicate",
            "precision of best",
            "address shared",
            "pairs per found: mean",
            "median",
            "three quarters",
            "most",
        ],
    );
    let left = comparison.both.left.documents - comparison.both.left.rejected;
    for column in comparison.columns() {
        let cell = &comparison.counted.total[column];
        let distribution = cell.pairs_per_document();
        grid.row([
            comparison.column_name(column).into(),
            cell.pairs.into(),
            cell.near_pairs.into(),
            cell.found.into(),
            share(cell.found, left).into(),
            cell.near.into(),
            cell.precision().into(),
            share(cell.with_address, cell.found).into(),
            distribution.map(|distribution| distribution.mean).into(),
            distribution.map(|distribution| distribution.median).into(),
            distribution.map(|distribution| distribution.three_quarters).into(),
            distribution.map(|distribution| distribution.most as u64).into(),
        ]);
    }
    study.table(grid);
    study.text(
        "A left document is found when it has a pair that the method accepts. Precision is the share of found documents whose most \
         similar pair is a near-duplicate; how many there are that no method found is not known from a comparison alone.",
    );
}

fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

fn segments(study: &mut Study, comparison: &Comparison) {
    let segments = &comparison.settings.segments.segments;
    if segments.len() < 2 {
        return;
    }
    study.heading("Segment by segment");
    let columns = [
        "segment",
        "method",
        "pairs",
        "found",
        "with near-duplicate",
        "precision of best",
        "pairs per found: mean",
        "most",
    ];
    let mut grid = Grid::new("Segments", columns);
    for (segment, cells) in segments.iter().zip(&comparison.counted.segments) {
        for column in comparison.columns() {
            let cell = &cells[column];
            let distribution = cell.pairs_per_document();
            grid.row([
                segment.name.as_str().into(),
                comparison.column_name(column).into(),
                cell.pairs.into(),
                cell.found.into(),
                cell.near.into(),
                cell.precision().into(),
                distribution.map(|distribution| distribution.mean).into(),
                distribution.map(|distribution| distribution.most as u64).into(),
            ]);
        }
    }
    study.table(grid);
    let bins: Vec<String> = segments.iter().map(|segment| segment.name.clone()).collect();
    for (name, logarithmic, of) in [
        ("Pairs", true, (|cell| cell.pairs) as fn(&lookalike_overlap::ledger::MethodCounts) -> u64),
        ("Found documents", false, |cell| cell.found),
    ] {
        let series = |column: usize| {
            let counts = comparison.counted.segments.iter().map(|cells| of(&cells[column]));
            (comparison.column_name(column), counts.collect())
        };
        study.plot(Plot::Bars(Bars {
            name: format!("{name} per segment"),
            x: "segment".to_owned(),
            y: name.to_lowercase(),
            bins: bins.clone(),
            series: comparison.columns().into_iter().map(series).collect(),
            logarithmic,
        }));
    }
}

fn accumulation(study: &mut Study, comparison: &Comparison) {
    if comparison.settings.segments.len() < 2 {
        return;
    }
    study.heading("Accumulated");
    let point = |(segment, &found): (usize, &u64)| Point::new((segment + 1) as f64, found as f64);
    let mut series = Vec::new();
    for column in comparison.columns() {
        let accumulated = &comparison.counted.accumulated[column];
        series.push(Series {
            name: comparison.column_name(column),
            points: accumulated.iter().enumerate().map(point).collect(),
            origin: Origin::Measured,
        });
        let line = forecast::line(accumulated).zip(comparison.settings.forecast);
        if let Some((line, last)) = line {
            let ends = [1, last].map(|x| Point::new(x as f64, line.at(x as f64)));
            let name = format!("{}, line", comparison.column_name(column));
            series.push(Series { name, points: ends.to_vec(), origin: Origin::Theory });
        }
    }
    study.plot(Plot::Lines(Lines {
        name: "Found documents after each segment".to_owned(),
        x: Axis { name: "segments".to_owned(), range: None, logarithmic: false },
        y: Axis { name: "found documents".to_owned(), range: None, logarithmic: false },
        series,
    }));
    let Some((segments, found)) = comparison.forecasts().filter(|(_, found)| !found.is_empty()) else {
        return;
    };
    let mut grid = Grid::new(
        format!("What a straight line says for {segments} segments"),
        ["method", "found so far", "forecast", "share of left"],
    );
    let left = comparison.both.left.documents - comparison.both.left.rejected;
    for (column, (name, value)) in comparison.columns().into_iter().zip(found) {
        let so_far = comparison.counted.accumulated[column].last().copied();
        let share = (left > 0).then(|| value / left as f64);
        grid.row([name.into(), so_far.into(), value.into(), share.into()]);
    }
    study.table(grid);
    study.text(FORECAST_WARNING);
}

fn similarities(study: &mut Study, comparison: &Comparison) {
    study.heading("How similar");
    for (name, best) in [("All pairs", false), ("The most similar pair of each left document", true)] {
        let series = |column: usize| {
            let cell = &comparison.counted.total[column];
            (comparison.column_name(column), if best { cell.best } else { cell.all }.to_vec())
        };
        study.plot(Plot::Bars(Bars {
            name: name.to_owned(),
            x: "similarity".to_owned(),
            y: if best { "left documents" } else { "pairs" }.to_owned(),
            bins: histogram::names().to_vec(),
            series: comparison.columns().into_iter().map(series).collect(),
            logarithmic: !best,
        }));
    }
}

fn differences(study: &mut Study, comparison: &Comparison) {
    let methods = comparison.settings.methods.len();
    if methods < 2 {
        return;
    }
    study.heading("Method against method");
    let names: Vec<String> = (0..methods).map(|column| comparison.column_name(column)).collect();
    let head = |first: &str| -> Vec<String> { [first.to_owned()].into_iter().chain(names.clone()).collect() };
    let differences = &comparison.counted.total_differences;
    for (name, of) in [
        ("Left documents with a near-duplicate by the row that the column does not find", 0),
        ("Left documents with a near-duplicate by the row that have none by the column", 1),
    ] {
        let mut grid = Grid::new(name, head("method"));
        for (row, counts) in names.iter().zip(differences) {
            let cells = counts.iter().map(|&(found, near)| Value::Count(if of == 0 { found } else { near }));
            grid.row([Value::from(row.as_str())].into_iter().chain(cells));
        }
        study.table(grid);
    }
    let mut grid = Grid::new("How many times as many pairs the row has as the column", head("method"));
    for (a, row) in names.iter().enumerate() {
        let pairs = |column: usize| comparison.counted.total[column].pairs;
        let cells =
            (0..methods).map(|b| Value::from((pairs(b) > 0).then(|| pairs(a) as f64 / pairs(b) as f64)));
        grid.row([Value::from(row.as_str())].into_iter().chain(cells));
    }
    study.table(grid);
}

fn persistence(study: &mut Study, comparison: &Comparison) {
    let persistence = &comparison.persistence;
    let snapshots = comparison.settings.segments.snapshots();
    if persistence.domains.is_empty() && snapshots < 2 {
        return;
    }
    study.heading("What lives on");
    if snapshots > 1 {
        let near = |of: fn(&PersistenceCounts) -> &Vec<u64>| -> Vec<Point> {
            let share = |count: u64| count as f64 / persistence.all.documents.max(1) as f64;
            of(&persistence.all)
                .iter()
                .enumerate()
                .map(|(at, &count)| Point::new((at + 1) as f64, share(count)))
                .collect()
        };
        let series = |name: &str, points| Series { name: name.to_owned(), points, origin: Origin::Measured };
        study.plot(Plot::Lines(Lines {
            name: "Left documents with a near-duplicate in a snapshot".to_owned(),
            x: Axis { name: "snapshot".to_owned(), range: None, logarithmic: false },
            y: Axis { name: "share".to_owned(), range: Some((0.0, 1.0)), logarithmic: false },
            series: vec![
                series("in the snapshot", near(|counts| &counts.near)),
                series("in all up to it", near(|counts| &counts.near_so_far)),
            ],
        }));
    }
    let mut columns = vec!["domain".to_owned(), "left documents".to_owned()];
    for snapshot in 1..=snapshots {
        let behind = if snapshots > 1 { format!(" in snapshot {snapshot}") } else { String::new() };
        columns.push(format!("near{behind}"));
        columns.push(format!("share{behind}"));
    }
    let mut rows: Vec<(&String, &PersistenceCounts)> = persistence.domains.iter().collect();
    rows.sort_by_key(|(name, counts)| (std::cmp::Reverse(counts.documents), *name));
    let mut grid = Grid::new("Near-duplicates by top-level domain of the left address", columns);
    for (name, counts) in rows.into_iter().take(DOMAINS) {
        let mut cells = vec![Value::from(name.as_str()), counts.documents.into()];
        for &near in &counts.near {
            cells.extend([Value::from(near), share(near, counts.documents).into()]);
        }
        grid.row(cells);
    }
    study.table(grid);
}

#[cfg(test)]
mod tests {
    use lookalike::engine::compared::SideCounts;
    use lookalike::engine::recipe::Task;
    use lookalike::judgments::Grade;
    use lookalike::judgments::tally::Grades;
    use lookalike::model::Similarity;
    use lookalike::report::study::Block;

    use super::*;
    use crate::compare::ComparisonSettings;
    use crate::compared::{ListedDocument, ListedPair};
    use crate::coverage::Track;
    use crate::fixture::{counted, left, lists, pair, pair_of, settings};
    use crate::transfer::DocumentsAndJudgments;

    fn recipe() -> JobRecipe {
        JobRecipe {
            similarity: Similarity::Jaccard,
            shingle: 1,
            threshold: "0.9".to_owned(),
            ..JobRecipe::simplest(Task::Compare)
        }
    }

    /// Four left documents at a.org, b.org, c.de and nowhere.
    fn documents() -> Vec<ListedDocument> {
        let urls = [Some("http://a.org/"), Some("http://b.org/"), Some("http://c.de/"), None];
        (0..).zip(urls).map(|(n, url)| left(n, &format!("l{n}"), url, n == 0)).collect()
    }

    fn comparison(pairs: Vec<ListedPair>, settings: ComparisonSettings) -> Comparison {
        counted(&lists(documents(), pairs).1, settings)
    }

    /// Two documents found, the first with a near-duplicate.
    fn two() -> Vec<ListedPair> {
        vec![pair(0, 3, 1.0), pair(0, 12, 0.25), pair(2, 13, 0.5)]
    }

    fn page(comparison: &Comparison) -> Study {
        study(["old", "new"], comparison, &recipe(), &Findings::default())
    }

    fn headings(study: &Study) -> Vec<&str> {
        let blocks = study.blocks.iter();
        blocks
            .filter_map(|block| if let Block::Heading(text) = block { Some(text.as_str()) } else { None })
            .collect()
    }

    fn grid<'s>(study: &'s Study, name: &str) -> &'s Grid {
        let blocks = study.blocks.iter();
        let mut grids =
            blocks.filter_map(|block| if let Block::Table(grid) = block { Some(grid) } else { None });
        grids.find(|grid| grid.name == name).unwrap()
    }

    fn lines<'s>(study: &'s Study, name: &str) -> &'s Lines {
        let blocks = study.blocks.iter();
        let mut plots = blocks
            .filter_map(|block| if let Block::Plot(Plot::Lines(lines)) = block { Some(lines) } else { None });
        plots.find(|lines| lines.name == name).unwrap()
    }

    fn points(series: &Series) -> Vec<(f64, f64)> {
        series.points.iter().map(|point| (point.x, point.y)).collect()
    }

    fn transfer() -> Transfer {
        let grades = |counts: &[(i32, u64)]| {
            Grades(counts.iter().map(|&(grade, count)| (Grade::Number(grade), count)).collect())
        };
        let track = Track {
            track: "web".to_owned(),
            layout: "qrels",
            judgments: 1500,
            carried: 300,
            written: 290,
            merged: 10,
            conflicts: 1,
            of_no_document: 0,
            grades_before: grades(&[(0, 1000), (2, 500)]),
            grades_after: grades(&[(2, 290)]),
            topics: 50,
            topics_relevant_before: 40,
            topics_relevant_after: 30,
        };
        let found = |documents, judgments| DocumentsAndJudgments { documents, judgments };
        Transfer {
            comparison: comparison(two(), settings(&["m"], &[0])),
            moved: Vec::new(),
            tracks: vec![track],
            found_by: FoundBy {
                both: found(100, 150),
                content_only: found(50, 150),
                address_only: found(7, 8),
                neither: found(9, 10),
            },
            missing: 0,
            judged: 1000,
            repeated: 0,
            rejected: 0,
            unwritable: 0,
            topics_in_several_files: 0,
        }
    }

    fn transfer_page(transfer: &Transfer) -> Study {
        transfer_study(["old", "new"], transfer, &recipe(), &Findings::default())
    }

    #[test]
    fn there_is_no_share_of_nothing() {
        assert_eq!([share(0, 0), share(1, 0), share(0, 2), share(1, 2)], [None, None, Some(0.0), Some(0.5)]);
    }

    #[test]
    fn the_lead_tells_what_was_found_and_by_which_measure() {
        let comparison = comparison(two(), settings(&["m"], &[0]));
        let lead = |recipe: &JobRecipe| study(["old", "new"], &comparison, recipe, &Findings::default()).lead;
        let told = |near: &str| {
            format!(
                "1 of 4 left documents have a near-duplicate on the right side ({near}), 2 have a pair that a \
                 method accepts."
            )
        };
        assert_eq!(lead(&recipe()), told("jaccard of at least 0.9 on word sets"));
        let shingles = JobRecipe { shingle: 8, ..recipe() };
        assert_eq!(lead(&shingles), told("jaccard of at least 0.9 on shingles of 8 words"));
        let unverified = JobRecipe { verified: false, ..recipe() };
        assert_eq!(lead(&unverified), told("by the word of its method alone, not measured"));
    }

    #[test]
    fn rejected_records_are_noted_and_are_no_documents() {
        let mut comparison = comparison(two(), settings(&["m"], &[0]));
        comparison.both.left.rejected = 2;
        comparison.both.right = SideCounts { rejected: 1234, ..SideCounts::default() };
        comparison.both.common_ids = 3;
        let page = page(&comparison);
        let wanted = [
            "2 records of the left side could not be read; rejected.jsonl has them with their reasons.",
            "1,234 records of the right side could not be read; rejected.jsonl has them with their reasons.",
            "3 ids are borne on both sides; in all tables a is a left document and b a right one, whatever its \
             id.",
        ];
        assert_eq!(page.notes, wanted);
        assert!(page.lead.starts_with("1 of 2 left documents"), "{}", page.lead);
    }

    #[test]
    fn notes_of_the_job_come_first() {
        let findings = Findings { notes: vec!["of the job".to_owned()], ..Findings::default() };
        let mut comparison = comparison(two(), settings(&["m"], &[0]));
        comparison.both.common_ids = 1;
        let page = study(["old", "new"], &comparison, &recipe(), &findings);
        assert_eq!((page.notes.len(), page.notes[0].as_str()), (2, "of the job"));
    }

    #[test]
    fn a_forecast_from_one_segment_is_noted_as_impossible() {
        let settings = ComparisonSettings { forecast: Some(20), ..settings(&["m"], &[0]) };
        let page = page(&comparison(two(), settings));
        assert_eq!(
            page.notes,
            ["A forecast needs two segments or more; --segment input or file makes some."]
        );
    }

    #[test]
    fn facts_tell_how_many_addresses_are_shared() {
        let page = page(&comparison(two(), settings(&["m", "n"], &[0])));
        let fact = |name: &str| page.facts.iter().find(|(fact, _)| fact == name).unwrap().1.as_str();
        assert_eq!(fact("left addresses that the right side has"), "1 of 3");
        assert_eq!((fact("left documents"), fact("methods")), ("4, 0 rejected", "m, n"));
    }

    #[test]
    fn totals_have_a_row_for_each_method_and_for_any() {
        let pairs = vec![pair_of(1, 0, 3, 1.0), pair_of(1, 0, 4, 0.5), pair_of(2, 2, 3, 0.5)];
        let page = page(&comparison(pairs, settings(&["m", "n"], &[0])));
        let rows = &grid(&page, "All segments together").rows;
        let counts = |row: usize| [0, 1, 3, 4, 6, 7, 8].map(|cell| rows[row][cell].clone());
        let number = Value::Number;
        let count = Value::Count;
        assert_eq!(
            counts(0),
            ["m".into(), count(2), count(1), number(0.25), number(1.0), number(1.0), number(2.0)]
        );
        assert_eq!(
            counts(1),
            ["n".into(), count(1), count(1), number(0.25), number(0.0), number(0.0), number(1.0)]
        );
        assert_eq!(
            counts(2),
            ["any".into(), count(3), count(2), number(0.5), number(0.5), number(0.5), number(1.5)]
        );
    }

    #[test]
    fn parts_that_need_several_segments_methods_or_addresses_are_left_out() {
        let (_, none) = lists(vec![left(0, "a", None, false)], Vec::new());
        assert_eq!(
            headings(&page(&counted(&none, settings(&["m"], &[0])))),
            ["What was found", "How similar"]
        );
        let all = page(&comparison(two(), settings(&["m", "n"], &[0, 1])));
        let wanted = [
            "What was found",
            "Segment by segment",
            "Accumulated",
            "How similar",
            "Method against method",
            "What lives on",
        ];
        assert_eq!(headings(&all), wanted);
    }

    #[test]
    fn segments_have_a_row_each() {
        let page = page(&comparison(two(), settings(&["m"], &[0, 0])));
        let rows = &grid(&page, "Segments").rows;
        let counts = |row: usize| [0, 2, 3, 4].map(|cell| rows[row][cell].clone());
        let count = Value::Count;
        assert_eq!(counts(0), ["s0".into(), count(1), count(1), count(1)]);
        assert_eq!(counts(1), ["s1".into(), count(2), count(2), count(0)]);
    }

    #[test]
    fn the_line_through_accumulated_numbers_ends_at_the_forecast() {
        let settings = ComparisonSettings { forecast: Some(10), ..settings(&["m"], &[0, 0]) };
        let page = page(&comparison(two(), settings));
        let series = &lines(&page, "Found documents after each segment").series;
        assert_eq!(points(&series[0]), [(1.0, 1.0), (2.0, 2.0)]);
        // One more with every segment.
        assert_eq!((series[1].origin, points(&series[1])), (Origin::Theory, vec![(1.0, 1.0), (10.0, 10.0)]));
        let rows = &grid(&page, "What a straight line says for 10 segments").rows;
        assert_eq!(rows[..], [["m".into(), Value::Count(2), Value::Number(10.0), Value::Number(2.5)]]);
    }

    #[test]
    fn without_a_forecast_there_is_no_line() {
        let page = page(&comparison(two(), settings(&["m"], &[0, 0])));
        assert_eq!(lines(&page, "Found documents after each segment").series.len(), 1);
    }

    #[test]
    fn methods_are_held_against_each_other() {
        // m has near-duplicates of two documents, of which n finds the second without one.
        let pairs = vec![pair_of(1, 0, 3, 1.0), pair_of(1, 1, 3, 0.95), pair_of(2, 1, 4, 0.5)];
        let page = page(&comparison(pairs, settings(&["m", "n"], &[0])));
        let rows = |name: &str| {
            let rows = grid(&page, name).rows.iter();
            rows.map(|row| (row[1].clone(), row[2].clone())).collect::<Vec<_>>()
        };
        let count = Value::Count;
        let not_found = rows("Left documents with a near-duplicate by the row that the column does not find");
        assert_eq!(not_found, [(count(0), count(1)), (count(0), count(0))]);
        let not_near = rows("Left documents with a near-duplicate by the row that have none by the column");
        assert_eq!(not_near, [(count(0), count(2)), (count(0), count(0))]);
        let times = rows("How many times as many pairs the row has as the column");
        let number = Value::Number;
        assert_eq!(times, [(number(1.0), number(2.0)), (number(0.5), number(1.0))]);
    }

    #[test]
    fn domains_with_the_most_documents_come_first() {
        let page = page(&comparison(two(), settings(&["m"], &[0])));
        let grid = grid(&page, "Near-duplicates by top-level domain of the left address");
        assert_eq!(grid.columns, ["domain", "left documents", "near", "share"]);
        let (count, number) = (Value::Count, Value::Number);
        let org = ["org".into(), count(2), count(1), number(0.5)];
        let de = ["de".into(), count(1), count(0), number(0.0)];
        assert_eq!(grid.rows[..], [org, de]);
    }

    #[test]
    fn twenty_five_domains_are_shown_ties_by_name() {
        let document = |n: u32| left(n, "l", Some(&format!("http://a.t{:02}/", 29 - n)), false);
        let (_, many) = lists((0..30).map(document).collect(), Vec::new());
        let page = page(&counted(&many, settings(&["m"], &[0])));
        let rows = &grid(&page, "Near-duplicates by top-level domain of the left address").rows;
        assert_eq!((rows.len(), &rows[0][0], &rows[24][0]), (25, &"t00".into(), &"t24".into()));
    }

    #[test]
    fn what_lives_on_is_a_share_of_all_left_documents() {
        let pairs = vec![pair(0, 3, 1.0), pair(0, 13, 1.0), pair(1, 14, 0.95)];
        let page = page(&comparison(pairs, settings(&["m"], &[0, 1])));
        let series = &lines(&page, "Left documents with a near-duplicate in a snapshot").series;
        assert_eq!(points(&series[0]), [(1.0, 0.25), (2.0, 0.5)]);
        assert_eq!(points(&series[1]), [(1.0, 0.25), (2.0, 0.25)]);
        let columns = &grid(&page, "Near-duplicates by top-level domain of the left address").columns;
        assert_eq!(columns[2..4], ["near in snapshot 1", "share in snapshot 1"]);
    }

    #[test]
    fn a_transfer_tells_what_went_over() {
        let page = transfer_page(&transfer());
        let lead = "300 of 1,500 judgments, of 150 of 1,000 judged documents, go over to the new corpus, \
                    where they are 290.";
        assert_eq!((page.title.as_str(), page.lead.as_str()), ("Judgments carried from old to new", lead));
        assert_eq!(page.notes, Vec::<String>::new());
        assert_eq!(
            headings(&page)[..3],
            ["Judgments by track", "By address and by content", "What was found"]
        );
    }

    #[test]
    fn a_transfer_notes_what_did_not_go_over() {
        let page = transfer_page(&Transfer {
            missing: 1,
            topics_in_several_files: 2,
            rejected: 3,
            repeated: 4,
            unwritable: 5000,
            ..transfer()
        });
        let begins = [
            "1 judged documents are not in",
            "2 topics have a name",
            "3 records of the old corpus",
            "4 documents of the old corpus",
            "5,000 near-duplicates have an id with blanks",
        ];
        assert_eq!(page.notes.len(), begins.len());
        for (note, begin) in page.notes.iter().zip(begins) {
            assert!(note.starts_with(begin), "{note}");
        }
    }

    #[test]
    fn grades_are_shown_before_and_after() {
        let page = transfer_page(&transfer());
        let row = |grade: &str, before, after, share| {
            ["web".into(), grade.into(), Value::Count(before), Value::Count(after), Value::Number(share)]
        };
        assert_eq!(grid(&page, "Grades").rows[..], [row("0", 1000, 0, 0.0), row("2", 500, 290, 0.58)]);
        assert_eq!(grid(&page, "Before and after").rows[0][3], Value::Number(0.2));
    }

    #[test]
    fn ways_of_finding_are_shown_with_their_judgments() {
        let page = transfer_page(&Transfer { missing: 11, ..transfer() });
        let rows = &grid(&page, "What the new corpus has of judged documents").rows;
        let counts: Vec<_> = rows.iter().map(|row| (row[1].clone(), row[2].clone())).collect();
        let count = |documents, judgments| (Value::Count(documents), Value::Count(judgments));
        let wanted =
            [count(100, 150), count(50, 150), count(7, 8), count(9, 10), (Value::Count(11), Value::None)];
        assert_eq!(counts, wanted);
    }
}
