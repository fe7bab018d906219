//! E20: judged pages found again, with and without what a page has around its main content.

use lookalike::report::Study;
use lookalike::report::study::Grid;
use lookalike::text::extract::ContentMode;
use lookalike_overlap::{histogram, transfer};

use super::judgments::{PUBLISHED, histogram_plot};
use super::transfers::{
    CONFIGURATIONS, NEAR, SEGMENTS, Sides, Transfer, fingerprint_documents, transfers, with_near_duplicate,
    with_shared_address,
};
use super::{Experiment, ExperimentContext};
use crate::collection::{Collection, CollectionKind};
use crate::interval::wilson;
use crate::trial::LabError;

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "E20",
    title: "Judged pages found again, by whole pages and by their main content",
    source: "Bachelor thesis, Weimar 2014, outlook",
    data: Some(CollectionKind::Crawls),
    run,
};

/// The parts of a page that are compared.
const PARTS: [(&str, ContentMode); 2] =
    [("whole page", ContentMode::Page), ("main content", ContentMode::Main)];

/// The result for one part of pages.
struct Outcome {
    name: &'static str,
    judged: usize,
    words: f64,
    all: Vec<Transfer>,
    shared: Vec<u32>,
    /// Judged documents that have a near-duplicate, found or not.
    near: u64,
}

fn run(context: &ExperimentContext<'_>) -> Result<Study, LabError> {
    let collection = context.collection(CollectionKind::Crawls)?;
    let mut study = context.study(&EXPERIMENT, Some(&collection));
    study.notes.push(
        "Pages of two crawls of a site stand in for ClueWeb09 and ClueWeb12. Each way counts near-duplicates by the words it \
         looks at, so that a near-duplicate by main content need not be one by whole pages. Plain text has no other content than \
         itself."
            .to_owned(),
    );
    let outcomes: Vec<Outcome> = PARTS
        .iter()
        .map(|&(name, content)| outcome(context, name, Collection { content, ..collection.clone() }))
        .collect::<Result<_, _>>()?;
    study.fact("judged documents", outcomes[0].judged.to_string());
    study.lead = lead(&outcomes);
    study.table(table(&outcomes));
    study.table(disagreement(&outcomes));
    for outcome in &outcomes {
        let name = format!("Jaccard of all pairs, {}", outcome.name);
        study.plot(histogram_plot(&name, "pairs", &outcome.all, |found| {
            histogram::histogram(found.all.iter().map(|pair| pair.similarity))
        }));
    }
    Ok(study)
}

fn outcome(
    context: &ExperimentContext<'_>,
    name: &'static str,
    collection: Collection,
) -> Result<Outcome, LabError> {
    let sides = Sides::of(context, &collection)?;
    let judged = fingerprint_documents(&sides.judged, context.seed, context.watch)?;
    let target = fingerprint_documents(&sides.target, context.seed, context.watch)?;
    let words = sides.judged.iter().map(|item| item.text.split_whitespace().count()).sum::<usize>();
    Ok(Outcome {
        name,
        near: with_near_duplicate(&judged, &target, context.watch)?.len() as u64,
        judged: judged.len(),
        words: words as f64 / judged.len() as f64,
        all: transfers(&judged, &target, &CONFIGURATIONS, SEGMENTS, context.watch)?,
        shared: with_shared_address(&judged, &target).into_iter().map(|(number, _)| number).collect(),
    })
}

fn lead(outcomes: &[Outcome]) -> String {
    let parts = outcomes.iter().map(|outcome| {
        let pairs = outcome.all.first().map_or(0, |found| found.all.len());
        let precision = outcome.all.first().map(|found| transfer::precision(&found.all, NEAR));
        let share = precision.and_then(|precision| precision.share()).unwrap_or(f64::NAN);
        let found = precision.map_or(0, |precision| precision.found);
        format!("{}: {pairs} pairs, {found} judged documents found, precision {share:.2}", outcome.name)
    });
    format!("By 2-grams, {}.", parts.collect::<Vec<_>>().join("; "))
}

fn table(outcomes: &[Outcome]) -> Grid {
    let mut grid = Grid::new(
        "All segments together",
        [
            "n-grams",
            "looked at",
            "words of a page, on average",
            "pairs",
            "judged documents found",
            "share of judged",
            "near-duplicates",
            "precision",
            "95 %",
            "thesis: precision, whole page",
            "recall",
            "share with shared address",
        ],
    );
    for (place, thesis) in PUBLISHED.iter().enumerate() {
        for outcome in outcomes {
            let found = &outcome.all[place];
            let precision = transfer::precision(&found.all, NEAR);
            let (with, _) = transfer::with_shared_address(&found.all, &outcome.shared);
            let part = |part: u64, whole: u64| (whole > 0).then(|| part as f64 / whole as f64);
            grid.row([
                found.configuration.into(),
                outcome.name.into(),
                outcome.words.into(),
                (found.all.len() as u64).into(),
                precision.found.into(),
                part(precision.found, outcome.judged as u64).into(),
                precision.near.into(),
                precision.share().into(),
                wilson(precision.near, precision.found).into(),
                thesis.precision.into(),
                part(precision.near, outcome.near).into(),
                part(with, precision.found).into(),
            ]);
        }
    }
    grid
}

/// Judged documents with a near-duplicate by one part and not found by the other. Both parts have the same documents in the
/// same order, unless one has no text at all in main content; then numbers cannot be compared.
fn disagreement(outcomes: &[Outcome]) -> Grid {
    let mut grid = Grid::new(
        "Judged documents with a near-duplicate by one that the other does not find",
        ["n-grams", "by whole page, not found by main content", "by main content, not found by whole page"],
    );
    let [page, main] = outcomes else { return grid };
    if page.judged != main.judged {
        return grid;
    }
    for (one, other) in page.all.iter().zip(&main.all) {
        let lacks = |a: &Transfer, b: &Transfer| {
            transfer::missing(&transfer::near(&a.all, NEAR), &transfer::found(&b.all))
        };
        grid.row([one.configuration.into(), lacks(one, other).into(), lacks(other, one).into()]);
    }
    grid
}

#[cfg(test)]
mod tests {
    use lookalike::report::study::{Block, Value};
    use lookalike::walk::Watch;

    use super::super::transfers::tests::crawl_context;
    use super::*;

    #[test]
    fn main_content_is_shorter_and_every_way_has_a_line() {
        let watch = Watch::default();
        let study = run(&crawl_context(&watch)).unwrap();
        let Some(Block::Table(table)) = study.blocks.first() else { panic!("no table") };
        assert_eq!(table.rows.len(), 2 * CONFIGURATIONS.len());
        let (Value::Number(page), Value::Number(main)) = (&table.rows[0][2], &table.rows[1][2]) else {
            panic!("lengths are numbers")
        };
        assert!(main < page, "{main} {page}");
        assert!(!study.lead.contains("NaN"), "{}", study.lead);
    }
}
