//! E10: judged pages found again in a newer crawl, with all statistics of the thesis.

use lookalike::report::Study;
use lookalike::report::study::{Axis, Bars, Grid, Lines, Origin, Plot, Point, Series, Value};
use lookalike_overlap::{forecast, histogram, transfer};

use super::lists::{Lists, YEARS, distinct};
use super::transfers::{
    CONFIGURATIONS, FORECAST, FingerprintedDocument, NEAR, SEGMENTS, Sides, Transfer, fingerprint_documents,
    transfers, with_near_duplicate, with_shared_address,
};
use super::{Experiment, ExperimentContext};
use crate::collection::CollectionKind;
use crate::interval::wilson;
use crate::trial::LabError;

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "E10",
    title: "Judged pages found again in a newer crawl",
    source: "Bachelor thesis, Weimar 2014, chapter 5.1",
    data: Some(CollectionKind::Crawls),
    run,
};

/// The figures that the thesis reports for a configuration, after 5 of 20 segments.
pub(super) struct Published {
    found: u64,
    share: f64,
    forecast: u64,
    pub(super) precision: f64,
    with_address: f64,
    mean_pairs: Option<f64>,
    most_pairs: Option<u64>,
}

/// In the order of the configurations.
pub(super) const PUBLISHED: [Published; 5] = [
    published((7_316, 0.0471, 15_175), (0.39, 0.51), (Some(473.0), Some(29_932))),
    published((5_598, 0.0360, 12_172), (0.49, 0.60), (Some(44.0), Some(9_834))),
    published((4_216, 0.0271, 9_117), (0.61, 0.69), (Some(578.0), None)),
    published((3_664, 0.0236, 7_884), (0.67, 0.72), (Some(39.0), Some(9_193))),
    published((3_274, 0.0211, 6_876), (0.71, 0.72), (None, None)),
];

const fn published(
    (found, share, forecast): (u64, f64, u64),
    (precision, with_address): (f64, f64),
    (mean_pairs, most_pairs): (Option<f64>, Option<u64>),
) -> Published {
    Published { found, share, forecast, precision, with_address, mean_pairs, most_pairs }
}

fn run(context: &ExperimentContext<'_>) -> Result<Study, LabError> {
    let collection = context.collection(CollectionKind::Crawls)?;
    let sides = Sides::of(context, &collection)?;
    let judged = fingerprint_documents(&sides.judged, context.seed, context.watch)?;
    let target = fingerprint_documents(&sides.target, context.seed, context.watch)?;
    let all = transfers(&judged, &target, &CONFIGURATIONS, SEGMENTS, context.watch)?;
    let shared = with_shared_address(&judged, &target);
    let near = with_near_duplicate(&judged, &target, context.watch)?;
    let mut study = context.study(&EXPERIMENT, Some(&collection));
    study.fact("judged documents", judged.len().to_string());
    study.fact("target documents", target.len().to_string());
    study.fact("segments", SEGMENTS.to_string());
    study.fact("method", "SimHash, 64 bits, at most 3 apart, 4 tables; Jaccard over sets of words");
    study.notes.push(
        "The texts of ClueWeb cannot be had here: all pages of the older crawl stand in for the judged pages of ClueWeb09, and the \
         newer crawl, cut into five segments by ids, for ClueWeb12. One site at two times shares far more than two crawls of the \
         web do."
            .to_owned(),
    );
    study.notes.push(
        "How many near-duplicates were missed the thesis could not know; here every pair was measured, which gives the recall."
            .to_owned(),
    );
    study.fact("judged documents with a near-duplicate", near.len().to_string());
    study.lead = lead(&all, judged.len(), near.len());
    study.table(summary(&all, &judged, &shared, &near));
    study.table(by_segment(&all));
    study.table(accumulation(&all, judged.len()));
    study.plot(accumulated_plot(&all));
    study.text(
        "In the thesis most documents are found in the first segment already, and a straight line through the accumulated numbers \
         promises too much. Where a judged page has about one counterpart, which lies in one segment, the numbers grow evenly, and the \
         line holds as long as there are pages left to find: the forecast for 20 segments knows no such end. How far off a line is \
         shows the one through the first three segments, held against all five.",
    );
    study.plot(histogram_plot("Jaccard of all pairs", "pairs", &all, |found| {
        histogram::histogram(found.all.iter().map(|pair| pair.similarity))
    }));
    study.plot(histogram_plot(
        "Jaccard of the best pair of each judged document",
        "documents",
        &all,
        |found| histogram::histogram(transfer::best(&found.all).iter().map(|pair| pair.similarity)),
    ));
    study.table(differences(&all));
    study.table(ratios(&all));
    if let Some(table) = Lists::of(context).map(|lists| copycat_table(&lists)).transpose()?.flatten() {
        study.heading("Real judgments, counted elsewhere");
        study.table(table);
    }
    Ok(study)
}

fn lead(all: &[Transfer], judged: usize, near: usize) -> String {
    let [first, last] = [all.first(), all.last()].map(|found| {
        let precision = found.map(|found| transfer::precision(&found.all, NEAR));
        let (found, near_found) = precision.map_or((0, 0), |precision| (precision.found, precision.near));
        let part = |part: u64, whole: usize| if whole > 0 { part as f64 / whole as f64 } else { 0.0 };
        let sure = precision.and_then(|precision| precision.share()).unwrap_or(0.0);
        (100.0 * part(found, judged), sure, part(near_found, near))
    });
    format!(
        "2-grams find {:.1} % of the judged documents again, precision {:.2}, recall {:.2} (thesis: 4.7 %, 0.39, unknown); 5-grams \
         {:.1} %, {:.2}, {:.2} (2.1 %, 0.71, unknown).",
        first.0, first.1, first.2, last.0, last.1, last.2
    )
}

fn of_published(found: &Transfer) -> Option<&'static Published> {
    let place = CONFIGURATIONS.iter().position(|name| *name == found.configuration)?;
    PUBLISHED.get(place)
}

/// One line for each configuration, with the published figures.
fn summary(all: &[Transfer], judged: &[FingerprintedDocument], shared: &[(u32, u32)], near: &[u32]) -> Grid {
    let mut grid = Grid::new(
        "All segments together, beside the thesis (5 of 20 segments of ClueWeb12)",
        [
            "n-grams",
            "pairs",
            "found",
            "thesis: found",
            "share of judged",
            "thesis: share",
            "near-duplicates",
            "precision",
            "95 %",
            "thesis: precision",
            "recall",
            "share with shared address",
            "thesis: with shared address",
            "pairs for one, segment 0: mean",
            "thesis: mean",
            "most",
            "thesis: most",
        ],
    );
    let numbers: Vec<u32> = shared.iter().map(|&(number, _)| number).collect();
    for found in all {
        let precision = transfer::precision(&found.all, NEAR);
        let (with, _) = transfer::with_shared_address(&found.all, &numbers);
        let spread = found.segments.first().and_then(|pairs| transfer::pairs_per_judgment(pairs));
        let thesis = of_published(found);
        let part = |part: u64, whole: u64| (whole > 0).then(|| part as f64 / whole as f64);
        grid.row([
            found.configuration.into(),
            (found.all.len() as u64).into(),
            precision.found.into(),
            thesis.map(|thesis| thesis.found).into(),
            part(precision.found, judged.len() as u64).into(),
            thesis.map(|thesis| thesis.share).into(),
            precision.near.into(),
            precision.share().into(),
            wilson(precision.near, precision.found).into(),
            thesis.map(|thesis| thesis.precision).into(),
            part(precision.near, near.len() as u64).into(),
            part(with, precision.found).into(),
            thesis.map(|thesis| thesis.with_address).into(),
            spread.map(|spread| spread.mean).into(),
            thesis.and_then(|thesis| thesis.mean_pairs).into(),
            spread.map(|spread| spread.most as u64).into(),
            thesis.and_then(|thesis| thesis.most_pairs).into(),
        ]);
    }
    grid
}

fn by_segment(all: &[Transfer]) -> Grid {
    let mut grid = Grid::new(
        "By segment",
        [
            "n-grams",
            "segment",
            "pairs",
            "judged documents found",
            "pairs for one: mean",
            "median",
            "75 %",
            "most",
        ],
    );
    for found in all {
        for (segment, pairs) in found.segments.iter().enumerate() {
            let spread = transfer::pairs_per_judgment(pairs);
            grid.row([
                found.configuration.into(),
                (segment as u64).into(),
                (pairs.len() as u64).into(),
                (transfer::found(pairs).len() as u64).into(),
                spread.map(|spread| spread.mean).into(),
                spread.map(|spread| spread.median).into(),
                spread.map(|spread| spread.three_quarters).into(),
                spread.map(|spread| spread.most as u64).into(),
            ]);
        }
    }
    grid
}

/// Accumulated numbers and what a line makes of them.
fn accumulation(all: &[Transfer], judged: usize) -> Grid {
    const FITTED: usize = 3;
    let mut columns = vec!["n-grams".to_owned()];
    columns.extend((1..=SEGMENTS).map(|count| format!("found after {count}")));
    columns.extend(
        [
            "share of judged",
            "forecast for 20",
            "thesis: forecast for 20",
            "forecast for 5 from the first 3",
            "that / found after 5",
        ]
        .map(str::to_owned),
    );
    let mut grid = Grid::new("Accumulated over segments, and the forecast", columns);
    for found in all {
        let numbers = transfer::accumulated(&found.segments);
        let last = numbers.last().copied().unwrap_or(0);
        let early = forecast::forecast(&numbers[..FITTED.min(numbers.len())], SEGMENTS);
        let mut row = vec![found.configuration.into()];
        row.extend(numbers.iter().map(|&number| Value::Count(number)));
        row.push((last as f64 / judged.max(1) as f64).into());
        row.push(forecast::forecast(&numbers, FORECAST).into());
        row.push(of_published(found).map(|thesis| thesis.forecast).into());
        row.push(early.into());
        row.push(early.map(|early| early / last as f64).into());
        grid.row(row);
    }
    grid
}

fn accumulated_plot(all: &[Transfer]) -> Plot {
    let mut series = Vec::new();
    for found in all {
        let numbers = transfer::accumulated(&found.segments);
        let points = numbers.iter().enumerate().map(|(n, &y)| Point::new((n + 1) as f64, y as f64)).collect();
        series.push(Series { name: found.configuration.to_owned(), origin: Origin::Measured, points });
        if let Some(line) = forecast::line(&numbers) {
            let points = [1, FORECAST].map(|x| Point::new(x as f64, line.at(x as f64))).to_vec();
            let name = format!("{}, forecast", found.configuration);
            series.push(Series { name, origin: Origin::Theory, points });
        }
    }
    Plot::Lines(Lines {
        name: "Judged documents found, accumulated over segments".to_owned(),
        x: Axis { name: "segments".to_owned(), range: None, logarithmic: false },
        y: Axis { name: "judged documents found".to_owned(), range: None, logarithmic: false },
        series,
    })
}

/// Bars over tenths of Jaccard, a series for each configuration.
pub(super) fn histogram_plot(
    name: &str,
    counted: &str,
    all: &[Transfer],
    of: impl Fn(&Transfer) -> [u64; histogram::BINS],
) -> Plot {
    Plot::Bars(Bars {
        name: name.to_owned(),
        x: "Jaccard of the sets of words".to_owned(),
        y: counted.to_owned(),
        bins: histogram::names().to_vec(),
        series: all.iter().map(|found| (found.configuration.to_owned(), of(found).to_vec())).collect(),
        logarithmic: true,
    })
}

fn differences(all: &[Transfer]) -> Grid {
    let columns = std::iter::once("near-duplicate under".to_owned()).chain(all.iter().flat_map(|found| {
        [
            format!("not found by {}", found.configuration),
            format!("no near-duplicate by {}", found.configuration),
        ]
    }));
    let mut grid =
        Grid::new("Judged documents with a near-duplicate that another configuration lacks", columns);
    let pairs: Vec<_> = all.iter().map(|found| &found.all).collect();
    for (found, row) in all.iter().zip(transfer::differences(&pairs, NEAR)) {
        let counts =
            row.into_iter().flat_map(|(unfound, unlike)| [Value::Count(unfound), Value::Count(unlike)]);
        grid.row(std::iter::once(found.configuration.into()).chain(counts));
    }
    grid
}

fn ratios(all: &[Transfer]) -> Grid {
    let columns = std::iter::once("pairs of".to_owned())
        .chain(all.iter().map(|found| format!("by those of {}", found.configuration)));
    let mut grid =
        Grid::new("Ratios of pairs (thesis: 3 by 3+5 is 16.88 in segment 0, 21 in segment 4)", columns);
    for one in all {
        let row = all.iter().map(|other| transfer::ratio(&one.all, &other.all).into());
        grid.row(std::iter::once(one.configuration.into()).chain(row));
    }
    grid
}

/// Judged documents of ClueWeb09 with a near-duplicate in all of ClueWeb12, by the published list of another study.
fn copycat_table(lists: &Lists<'_>) -> Result<Option<Grid>, LabError> {
    let mut grid = Grid::new(
        "Judged pages of ClueWeb09 with a near-duplicate in ClueWeb12, by the lists of CopyCat (2021)",
        [
            "track",
            "judged documents",
            "with a near-duplicate",
            "share",
            "95 %",
            "thesis: share, 2-grams, 5 of 20 segments",
        ],
    );
    let Some(near) = lists.with_near_duplicate()? else { return Ok(None) };
    let mut row = |name: String, near: u64, judged: u64| {
        let share = (judged > 0).then(|| near as f64 / judged as f64);
        // The thesis counts 2,828 near-duplicates among 155,419 judged documents.
        let thesis = 2_828.0 / 155_419.0;
        grid.row([
            name.into(),
            judged.into(),
            near.into(),
            share.into(),
            wilson(near, judged).into(),
            thesis.into(),
        ]);
    };
    let (mut all, mut found) = (Vec::new(), Vec::new());
    for year in YEARS {
        let Some(judged) = lists.judged(year)? else { continue };
        let track = format!("WEB_{year}");
        let own =
            distinct(near.iter().filter(|(name, _)| *name == track).map(|(_, document)| document.clone()));
        row(format!("Web {year}"), own.len() as u64, judged.len() as u64);
        all.extend(judged);
        found.extend(own);
    }
    if all.is_empty() {
        return Ok(None);
    }
    row("all of these".to_owned(), distinct(found).len() as u64, distinct(all).len() as u64);
    Ok(Some(grid))
}

#[cfg(test)]
mod tests {
    use lookalike::report::study::Block;
    use lookalike::walk::Watch;

    use super::super::lists::tests::folder;
    use super::super::transfers::tests::crawl_context;
    use super::*;

    #[test]
    fn longer_grams_find_less_and_surer() {
        let watch = Watch::default();
        let context = crawl_context(&watch);
        let study = run(&context).unwrap();
        let Some(Block::Table(summary)) = study.blocks.first() else { panic!("no summary") };
        let count = |row: usize, column: usize| match summary.rows[row][column] {
            Value::Count(count) => count,
            ref other => panic!("{other:?} is no count"),
        };
        let share = |row: usize, column: usize| match summary.rows[row][column] {
            Value::Number(number) => number,
            ref other => panic!("{other:?} is no number"),
        };
        assert_eq!(summary.rows.len(), 5);
        assert!(count(0, 2) >= count(4, 2), "2-grams find at least as many as 5-grams");
        assert!(share(4, 7) >= share(0, 7), "5-grams are at least as precise as 2-grams");
        assert_eq!(count(0, 3), 7_316);
        assert_eq!(study.blocks.iter().filter(|block| matches!(block, Block::Plot(_))).count(), 3);
        assert!(!study.lead.contains("NaN"), "{}", study.lead);
    }

    #[test]
    fn real_judgments_are_counted_where_they_are() {
        let watch = Watch::default();
        let (folder, empty) = (folder(), tempfile::tempdir().unwrap());
        let context = crawl_context(&watch);
        assert_eq!(copycat_table(&Lists { context: &context, data: empty.path() }).unwrap(), None);
        let table = copycat_table(&Lists { context: &context, data: folder.path() }).unwrap().unwrap();
        assert_eq!(table.rows.len(), 2);
        assert_eq!(table.rows[0][1..3], [Value::Count(3), Value::Count(1)]);
    }
}
