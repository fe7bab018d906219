//! Pages with tables and pictures of what the census found.

use std::path::Path;

use lookalike::report::study::{Axis, Grid, Heat, Plot, Span, Spans, Value};
use lookalike::report::{Study, study_page};
use lookalike_live_census::sampling::SamplingFaults;

use super::super::lists::write_text;
use super::other_estimators::BaselineEstimate;
use super::{Engine, EstimateJson, Recipe, compare, sentences, size};
use crate::exit::Failure;
use crate::progress::thousands;

/// Fails when a file cannot be written later: before hours of asking, not after.
pub(super) fn check_writable(path: &Path) -> Result<(), Failure> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if path.is_dir() {
        return Err(Failure::Usage(format!("{} is a folder; name a file", path.display())));
    }
    if !folder.is_dir() {
        return Err(Failure::Usage(format!(
            "{} cannot be written: there is no folder {}; make it first",
            path.display(),
            folder.display()
        )));
    }
    Ok(())
}

pub(super) fn write(path: &Path, study: &Study) -> Result<(), Failure> {
    write_text(path, &study_page(&study.title, "", std::slice::from_ref(study)))?;
    Ok(())
}

fn span(name: &str, estimate: &EstimateJson, chosen: bool) -> Span {
    Span {
        name: name.to_owned(),
        value: estimate.value,
        interval: Some((estimate.low, estimate.high)),
        chosen,
    }
}

fn spans(name: &str, axis: &str, rows: Vec<Span>) -> Plot {
    let x = Axis { name: axis.to_owned(), ..Axis::default() };
    Plot::Spans(Spans { name: name.to_owned(), x, rows })
}

/// The estimates of all estimators, ours first.
fn estimate_spans(name: &str, estimate: &EstimateJson, others: &[BaselineEstimate]) -> Vec<Span> {
    let other = |other: &BaselineEstimate| {
        // What has no end would leave no room for the rest.
        let estimate = other.estimate.as_ref().filter(|estimate| estimate.high.is_finite())?;
        Some(span(other.name, estimate, false))
    };
    std::iter::once(span(name, estimate, true)).chain(others.iter().filter_map(other)).collect()
}

fn estimate_values(estimate: Option<&EstimateJson>) -> [Value; 2] {
    match estimate {
        Some(estimate) => [estimate.value.into(), (estimate.low, estimate.high).into()],
        None => [Value::None, Value::None],
    }
}

/// Builds the table of other estimators: their estimates, rounded by `rounding`, and their known biases.
fn table_of(others: &[BaselineEstimate], rounding: fn(&EstimateJson) -> EstimateJson) -> Grid {
    let mut grid = Grid::new("What others say", ["Estimator", "Says", "95 %", "Known to be"]);
    for other in others {
        let [value, interval] = estimate_values(other.estimate.as_ref().map(rounding).as_ref());
        grid.row([other.name.into(), value, interval, other.bias.into()]);
    }
    grid
}

/// Adds the counts of queries, the problems, the assumptions, what is not seen, and the recipe to a study.
fn add_notes(
    study: &mut Study,
    engines: &[(&Engine, &SamplingFaults)],
    notes: [&[&str]; 2],
    recipe: &Recipe,
) {
    for (engine, seen) in engines {
        let (calls, fetches) = (thousands(engine.counts.calls), thousands(engine.counts.fetches));
        study.fact(
            engine.name.clone(),
            format!(
                "{calls} calls, {fetches} fetches, at most {} results each",
                thousands(engine.limit as u64)
            ),
        );
        let problems = engine.sentences().into_iter().chain(sentences(seen));
        study.notes.extend(problems.map(|sentence| format!("{}: {sentence}.", engine.name)));
    }
    for (title, sentences) in ["Taken for granted", "Not seen"].into_iter().zip(notes) {
        study.heading(title);
        sentences.iter().for_each(|sentence| study.text(format!("– {sentence}.")));
    }
    study.fact("own documents", thousands(recipe.own_documents as u64));
    study.fact("digest of their texts", recipe.own_digest.clone());
    study.fact("seed", recipe.seed.to_string());
    study.fact("version", recipe.version);
}

/// The page of `census size`.
pub(super) fn of_size(report: &size::Report) -> Study {
    let name = &report.engine.name;
    let mut study = Study {
        id: "size".to_owned(),
        title: format!("How many pages has {name}?"),
        lead: format!(
            "About {} pages (95 % interval {} to {}).",
            thousands(report.pages.value.round() as u64),
            thousands(report.pages.low.round() as u64),
            thousands(report.pages.high.round() as u64)
        ),
        ..Study::default()
    };
    let mut rows = vec![span("pages", &report.pages.rounded(), true)];
    rows.extend(
        report
            .distinct
            .as_ref()
            .map(|distinct| span("near-duplicates once", &distinct.pages.rounded(), false)),
    );
    rows.push(span("reached by the queries", &report.reached.rounded(), false));
    study.plot(spans("Pages", "pages", rows));
    if !report.others.is_empty() {
        study.heading("What others say with as many calls");
        study.plot(spans(
            "Estimators beside each other",
            "pages",
            estimate_spans("this one", &report.pages, &report.others),
        ));
        study.table(table_of(&report.others, EstimateJson::rounded));
    }
    study.fact(
        "draws",
        format!("{} of {} queries", thousands(report.draws as u64), thousands(report.queries as u64)),
    );
    let notes = [&report.assumed[..], &report.unseen];
    add_notes(&mut study, &[(&report.engine, &report.seen)], notes, &report.recipe);
    study
}

/// The page of `census compare`.
pub(super) fn of_comparison(report: &compare::Report) -> Study {
    let names: Vec<String> = report.engines.iter().map(|one| one.engine.name.clone()).collect();
    let mut study = Study {
        id: "compare".to_owned(),
        title: format!("What {} share", names.join(", ")),
        lead: report.lead(),
        ..Study::default()
    };
    study.plot(Plot::Heat(Heat {
        name: "Share of the engine of the row that the engine of the column has".to_owned(),
        rows: names.clone(),
        columns: names.clone(),
        values: report
            .shares
            .iter()
            .map(|row| row.iter().map(|share| share.as_ref().map(|share| share.value)).collect())
            .collect(),
    }));
    study.table(shares(report, &names));
    let sizes =
        report.engines.iter().filter_map(|one| Some(span(&one.engine.name, one.relative.as_ref()?, false)));
    study.heading("Sizes");
    study.plot(spans("Sizes beside each other", &format!("{} is 1", names[0]), sizes.collect()));
    let absolute = report
        .engines
        .iter()
        .filter_map(|one| Some(span(&one.engine.name, &one.pages.as_ref()?.rounded(), false)));
    study.plot(spans(&format!("Sizes in {}", report.how_counted()), "pages", absolute.collect()));
    study.heading("Who has what");
    let unit = if report.in_pages { "pages".to_owned() } else { format!("{} is 1", names[0]) };
    let parts = report.parts.iter().map(|part| span(&part.engines.join(" and "), &part.pages, false));
    let union = report.union.iter().map(|union| span("all together", union, true));
    study.plot(spans(
        "Pages by the engines that have them, and no other",
        &unit,
        union.chain(parts).collect(),
    ));
    for one in report.engines.iter().filter(|one| !one.others.is_empty()) {
        let name = &one.engine.name;
        study.heading(format!("What others say of {name} beside {}", names[0]));
        if let Some(relative) = &one.relative {
            let rows = estimate_spans("this one", relative, &one.others);
            study.plot(spans(&format!("Size of {name} beside {}", names[0]), "times as large", rows));
        }
        study.table(table_of(&one.others, |estimate| *estimate));
    }
    let engines: Vec<(&Engine, &SamplingFaults)> =
        report.engines.iter().map(|one| (&one.engine, &one.seen)).collect();
    add_notes(&mut study, &engines, [&report.assumed, &report.unseen], &report.recipe);
    study
}

/// All shares with how sure they are.
fn shares(report: &compare::Report, names: &[String]) -> Grid {
    let mut grid = Grid::new("Shares", ["Of", "In", "Share", "95 %"]);
    for (one, row) in names.iter().zip(&report.shares) {
        for (other, share) in names.iter().zip(row) {
            if share.is_some() {
                let [value, interval] = estimate_values(share.as_ref());
                grid.row([one.clone().into(), other.clone().into(), value, interval]);
            }
        }
    }
    grid
}
