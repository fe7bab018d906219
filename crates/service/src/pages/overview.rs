//! The overview of the data served, in figures and pictures.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use lookalike::report::parts::{Html, counted, percent, similarities, size, sizes, thousands};
use lookalike::report::{Bin, Measure, SizeBin};

use super::clusters::search_box;
use super::frame::{NavPage, fact, page};
use crate::answer::Refusal;
use crate::app_state::AppState;
use crate::job::Job;
use crate::log;
use crate::source::{NamedCount, Source};

/// `GET /`
pub(crate) async fn overview(State(state): State<Arc<AppState>>) -> Result<Response, Refusal> {
    let _slot = state.work_slot()?;
    let (figures, (bins, sizes)) =
        state.work(|source, worker| Ok((source.figures(), source.histograms(worker)?))).await?;
    let name = state.source.folder().file_name().unwrap_or_default().to_string_lossy().into_owned();
    let title = format!("{} {name}", if state.source.kind() == "job" { "Job" } else { "Index" });
    Ok(page(&state, &title, NavPage::Overview, |html| {
        html.element("h1", &[], |html| html.leaf("bdi", &[], &title));
        lead(html, &figures);
        tiles(html, &figures);
        html.element("section", &[("aria-label", "Search")], |html| search_box(html, None));
        charts(html, &state.source, &bins, &sizes, value(&figures, "removed"));
        html.element("section", &[], |html| {
            html.leaf("h2", &[], "Where things are");
            html.element("dl", &[("class", "list")], |html| {
                fact(html, "Folder", |html| {
                    html.leaf("bdi", &[], &state.source.folder().display().to_string())
                });
                if let Source::Job(job) = &*state.source {
                    facts(html, job);
                }
                fact(html, "For programs", |html| {
                    html.leaf("a", &[("href", "/openapi.json")], "the description of the API");
                    html.text(", ");
                    html.leaf("a", &[("href", "/metrics")], "figures for Prometheus");
                });
            });
        });
        recipe(html, &state.source);
    }))
}

fn value(figures: &[NamedCount], name: &str) -> u64 {
    figures.iter().find(|(own, _)| *own == name).map_or(0, |(_, value)| *value)
}

fn lead(html: &mut Html, figures: &[NamedCount]) {
    let [documents, kept, removed] = ["documents", "kept", "removed"].map(|name| value(figures, name));
    let text = format!(
        "Of {}, {} are kept and {} are near-duplicates of a kept one ({}).",
        counted(documents, "document", "documents"),
        thousands(kept),
        thousands(removed),
        percent(removed, documents)
    );
    html.leaf("p", &[("class", "lead")], &text);
}

fn tiles(html: &mut Html, figures: &[NamedCount]) {
    html.element("dl", &[("class", "tiles")], |html| {
        for (name, value) in figures {
            html.element("div", &[], |html| {
                html.leaf("dt", &[], &name.replace('_', " "));
                html.leaf("dd", &[], &if *name == "bytes" { size(*value) } else { thousands(*value) });
            });
        }
    });
}

/// Returns the caption of the picture of similarities: all near-duplicates, or a part where there are very many.
fn caption(bins: &[Bin], removed: u64) -> String {
    let with = "with the kept document that stands for it, by their similarity.";
    match bins.iter().map(|bin| bin.pairs).sum::<u64>() {
        some if some < removed => {
            format!("{} of {} near-duplicates, each {with}", thousands(some), thousands(removed))
        }
        _ => format!("Each near-duplicate {with}"),
    }
}

fn charts(html: &mut Html, source: &Source, bins: &[Bin], of_size: &[SizeBin], removed: u64) {
    let Ok(measure) = source.recipe().measure() else { return };
    let measure = Measure {
        similarity: measure.similarity,
        shingle: measure.shingle as u64,
        threshold: measure.threshold.value(),
    };
    html.element("section", &[], |html| {
        html.leaf("h2", &[], "How alike they are");
        if bins.iter().all(|bin| bin.pairs == 0) {
            html.leaf("p", &[], "No near-duplicate was measured.");
            return;
        }
        html.leaf("p", &[], &caption(bins, removed));
        similarities(html, bins, &measure);
    });
    html.element("section", &[], |html| {
        html.leaf("h2", &[], "How large clusters are");
        if of_size.is_empty() {
            html.leaf("p", &[], "There are no clusters.");
            return;
        }
        sizes(html, of_size);
    });
}

fn facts(html: &mut Html, job: &Job) {
    fact(html, "Input", |html| match job.facts.files.as_slice() {
        [] => html.text("standard input or the built-in sample"),
        [only] => html.leaf("bdi", &[], only),
        [first, rest @ ..] => {
            html.leaf("bdi", &[], first);
            html.text(&format!(" and {}", counted(rest.len() as u64, "more file", "more files")));
        }
    });
    fact(html, "Finished", |html| {
        let seconds = job.facts.finished;
        let time = format!(
            "{} at {:02}:{:02} UTC, after {:.1} seconds",
            log::date(seconds / 86_400),
            seconds / 3600 % 24,
            seconds / 60 % 60,
            job.facts.seconds
        );
        html.text(&time);
    });
    fact(html, "Version", |html| html.text(&job.summary.version));
}

fn recipe(html: &mut Html, source: &Source) {
    html.element("section", &[], |html| {
        html.leaf("h2", &[], "Recipe");
        html.leaf("p", &[], "Everything that decides what a near-duplicate is.");
        html.element("details", &[], |html| {
            html.leaf("summary", &[], "Show the recipe");
            html.element("pre", &[("tabindex", "0")], |html| {
                html.leaf("code", &[], &source.recipe().to_toml());
            });
        });
    });
}
