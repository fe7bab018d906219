//! E11: pages of an encyclopedia found in a crawl.

use std::collections::BTreeMap;

use lookalike::report::Study;
use lookalike::report::study::{Grid, Value};
use lookalike_overlap::{histogram, transfer};

use super::judgments::histogram_plot;
use super::transfers::{
    self, FingerprintedDocument, NEAR, Sides, Transfer, fingerprint_documents, transfers, with_near_duplicate,
};
use super::{Experiment, ExperimentContext};
use crate::collection::{Collection, CollectionKind, Item};
use crate::generated;
use crate::trial::LabError;

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "E11",
    title: "Pages of an encyclopedia found in a crawl",
    source: "Bachelor thesis, Weimar 2014, chapter 5.2",
    data: Some(CollectionKind::Crawls),
    run,
};

/// As in the thesis, which looked at two segments.
const CONFIGURATIONS: [&str; 3] = ["3", "3+5", "5"];
const SEGMENTS: usize = 2;
/// Pairs of a found page that the thesis reports, on average.
const PUBLISHED: [(&str, f64); 3] = [("3", 3_318.0), ("3+5", 768.0), ("5", 2_325.0)];

fn run(context: &ExperimentContext<'_>) -> Result<Study, LabError> {
    let crawl = context.collection(CollectionKind::Crawls)?;
    let encyclopedia = encyclopedia(context)?;
    let (pages, before) =
        newest(encyclopedia.items(context.documents, context.seed, &["page", "revno"], context.watch)?);
    let target = Sides::of(context, &crawl)?.target;
    let judged = fingerprint_documents(&pages, context.seed, context.watch)?;
    let target = fingerprint_documents(&target, context.seed, context.watch)?;
    let all = transfers(&judged, &target, &CONFIGURATIONS, SEGMENTS, context.watch)?;
    let mut study = context.study(&EXPERIMENT, Some(&crawl));
    study.fact("encyclopedia", encyclopedia.name.as_str());
    study.fact("pages of the encyclopedia", pages.len().to_string());
    study.fact("pages of the crawl", target.len().to_string());
    study.fact("segments", format!("{SEGMENTS} of 5"));
    study.notes.push(
        "In the thesis the encyclopedia is Wikipedia and the crawl ClueWeb12. Here the newest revisions of another collection of \
         articles stand in for the one, and the newer of two crawls of a site for the other."
            .to_owned(),
    );
    let near = all.iter().map(|found| transfer::near(&found.all, NEAR).len()).max().unwrap_or(0);
    let most = all.iter().map(|found| transfer::found(&found.all).len()).max().unwrap_or(0);
    study.lead = format!(
        "Of {} pages of the encyclopedia {most} have a pair in the crawl, and {near} a near-duplicate (thesis: pairs in great \
         number, and no page with a near-duplicate).",
        pages.len()
    );
    study.table(table(&all));
    study.table(ratios(&all));
    if most > 0 {
        study.plot(histogram_plot("Jaccard of the best pair of each page", "pages", &all, |found| {
            histogram::histogram(transfer::best(&found.all).iter().map(|pair| pair.similarity))
        }));
    }
    if !before.is_empty() {
        study.table(control(&judged, &before, context)?);
    }
    study.text(
        "Fingerprints of unrelated texts are near each other by chance once in 4·10^14 pairs or so, and more often where texts share a \
         frame or are short. Wikipedia and ClueWeb12 have 3·10^15 pairs, and the thesis found many of these; a collection of this size \
         has none by chance.",
    );
    Ok(study)
}

/// A known collection of revisions, or a generated one that has nothing to do with the crawl.
fn encyclopedia(context: &ExperimentContext<'_>) -> Result<Collection, LabError> {
    let known =
        context.data.as_deref().map(|data| CollectionKind::Revisions.open_known(data)).transpose()?.flatten();
    Ok(known.unwrap_or_else(|| generated::collection(CollectionKind::Revisions, context.seed ^ 0x0e11)))
}

/// The newest revision of each page, and the one before it where there is one; documents without these fields are pages of
/// their own.
fn newest(items: Vec<Item>) -> (Vec<Item>, Vec<Item>) {
    let revision = |item: &Item| item.extras[1].as_deref().and_then(|number| number.parse::<u64>().ok());
    let mut pages: BTreeMap<String, Vec<Item>> = BTreeMap::new();
    for item in items {
        let name = item.extras[0].clone().unwrap_or_else(|| format!("{}#{}", item.id, item.ordinal));
        pages.entry(name).or_default().push(item);
    }
    let (mut newest, mut before) = (Vec::new(), Vec::new());
    for mut revisions in pages.into_values() {
        revisions.sort_by_key(revision);
        newest.extend(revisions.pop());
        before.extend(revisions.pop());
    }
    (newest, before)
}

/// The same search where something must be found: in the revisions before the newest.
fn control(
    judged: &[FingerprintedDocument],
    before: &[Item],
    context: &ExperimentContext<'_>,
) -> Result<Grid, LabError> {
    let mut grid = Grid::new(
        "Control: the same search in the revisions before the newest, all segments",
        ["n-grams", "revisions", "pages found", "with a near-duplicate", "pages that have one", "recall"],
    );
    let target = fingerprint_documents(before, context.seed, context.watch)?;
    let truth = with_near_duplicate(judged, &target, context.watch)?.len() as u64;
    for found in transfers(judged, &target, &CONFIGURATIONS, transfers::SEGMENTS, context.watch)? {
        let precision = transfer::precision(&found.all, NEAR);
        grid.row([
            found.configuration.into(),
            (target.len() as u64).into(),
            precision.found.into(),
            precision.near.into(),
            truth.into(),
            (truth > 0).then(|| precision.near as f64 / truth as f64).into(),
        ]);
    }
    Ok(grid)
}

fn table(all: &[Transfer]) -> Grid {
    let mut grid = Grid::new(
        "Pages of the encyclopedia in the crawl, beside the thesis",
        [
            "n-grams",
            "pairs, segment 0",
            "pairs, segment 1",
            "pages after segment 0",
            "pages after segment 1",
            "pairs for one page: mean",
            "thesis: mean",
            "pages with a near-duplicate",
            "thesis: with a near-duplicate",
        ],
    );
    for found in all {
        let accumulated = transfer::accumulated(&found.segments);
        let spread = transfer::pairs_per_judgment(&found.all);
        let thesis = PUBLISHED.iter().find(|(name, _)| *name == found.configuration);
        let mut row: Vec<Value> = vec![found.configuration.into()];
        row.extend(found.segments.iter().map(|pairs| Value::Count(pairs.len() as u64)));
        row.extend(accumulated.iter().map(|&pages| Value::Count(pages)));
        row.push(spread.map(|spread| spread.mean).into());
        row.push(thesis.map(|(_, mean)| *mean).into());
        row.push((transfer::near(&found.all, NEAR).len() as u64).into());
        row.push(0u64.into());
        grid.row(row);
    }
    grid
}

/// Pairs of 3-grams by those of 3 and 5 together.
fn ratios(all: &[Transfer]) -> Grid {
    let mut grid = Grid::new("Pairs of 3-grams by those of 3+5", ["segment", "ratio", "thesis"]);
    let of = |name: &str| all.iter().find(|found| found.configuration == name);
    let (Some(single), Some(both)) = (of("3"), of("3+5")) else { return grid };
    for (segment, thesis) in [9.22, 22.39].into_iter().enumerate() {
        let ratio = transfer::ratio(&single.segments[segment], &both.segments[segment]);
        grid.row([(segment as u64).into(), ratio.into(), thesis.into()]);
    }
    grid
}

#[cfg(test)]
mod tests {
    use lookalike::walk::Watch;

    use super::super::transfers::tests::crawl_context;
    use super::*;

    #[test]
    fn an_encyclopedia_of_its_own_has_no_near_duplicates_in_the_crawl() {
        let watch = Watch::default();
        let study = run(&crawl_context(&watch)).unwrap();
        assert!(study.lead.contains("and 0 a near-duplicate"), "{}", study.lead);
    }

    #[test]
    fn only_the_newest_revision_counts() {
        let item = |ordinal: u64, page: Option<&str>, revision: Option<&str>| Item {
            ordinal,
            shard: 0,
            id: format!("id-{ordinal}"),
            url: None,
            text: "text".into(),
            extras: vec![page.map(str::to_owned), revision.map(str::to_owned)],
        };
        let (pages, before) = newest(vec![
            item(0, Some("a"), Some("2")),
            item(1, Some("a"), Some("10")),
            item(2, Some("a"), Some("9")),
            item(3, None, None),
            item(4, None, None),
        ]);
        let ordinals = |items: &[Item]| {
            let mut ordinals: Vec<u64> = items.iter().map(|item| item.ordinal).collect();
            ordinals.sort_unstable();
            ordinals
        };
        assert_eq!((ordinals(&pages), ordinals(&before)), (vec![1, 3, 4], vec![2]));
    }
}
