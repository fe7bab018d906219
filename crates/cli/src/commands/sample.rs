//! The built-in corpus has a known truth: how well did the run do?

use std::collections::{HashMap, HashSet};
use std::io::Write;
use std::path::Path;

use lookalike::engine::JobRecipe;
use lookalike::generate;
use lookalike::hash::Secret;
use lookalike::model::{Similarity, Threshold};
use lookalike::tables::removed::RemovedLine;
use lookalike::text::extract::Extractor;
use lookalike::text::{Analyser, Features};
use serde::Serialize;

use crate::args::TableFormat;
use crate::exit::Failure;

/// Recall and precision of a run on the built-in corpus.
#[derive(Debug, Serialize)]
pub(crate) struct SampleScore {
    recall: f64,
    precision: f64,
    planted_pairs: u64,
    planted_pairs_resolved: u64,
    removed_rightly: u64,
    #[serde(skip)]
    removed: u64,
    #[serde(skip)]
    threshold: Threshold,
}

impl SampleScore {
    pub(crate) fn print(&self, out: &mut impl Write) -> std::io::Result<()> {
        let SampleScore {
            recall,
            precision,
            planted_pairs,
            planted_pairs_resolved,
            removed_rightly,
            removed,
            threshold,
        } = self;
        writeln!(
            out,
            "recall            {recall:>14.3}  planted pairs at {threshold} or more of which one is gone: {planted_pairs_resolved} of {planted_pairs}"
        )?;
        writeln!(
            out,
            "precision         {precision:>14.3}  removed documents that are so similar to their witness: {removed_rightly} of {removed}"
        )
    }
}

/// Returns the counts of a run with its score beside them.
pub(crate) fn with_score(folder: &Path, score: &SampleScore) -> Result<serde_json::Value, Failure> {
    let mut counts: serde_json::Map<String, serde_json::Value> = super::job::summary(folder)?;
    if let Ok(serde_json::Value::Object(score)) = serde_json::to_value(score) {
        counts.extend(score);
    }
    Ok(counts.into())
}

/// Measures recall and precision of the removals in `folder`, if the run asked what the truth answers.
pub(crate) fn score(
    folder: &Path,
    recipe: &JobRecipe,
    format: TableFormat,
) -> Result<Option<SampleScore>, Failure> {
    let threshold = recipe.measure()?.threshold;
    let comparable = recipe.similarity == Similarity::Jaccard && recipe.shingle == 5 && !recipe.against;
    if !comparable || format != TableFormat::Jsonl {
        return Ok(None);
    }
    let path = folder.join("removed.jsonl");
    let text = std::fs::read_to_string(&path)
        .map_err(|error| Failure::Missing(format!("{} cannot be read: {error}", path.display())))?;
    let removed: Vec<RemovedLine> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let gone: HashSet<&str> = removed.iter().map(|removal| removal.id.as_str()).collect();
    let shingles = shingles(recipe)?;
    // Only planted pairs are known to be near-duplicates; those below the threshold are none by its measure.
    let (mut planted, mut resolved) = (0u64, 0u64);
    for pair in generate::sample().truth() {
        if threshold.reached_by(pair.intersection, pair.union) {
            planted += 1;
            let ids = [pair.a, pair.b].map(generate::document_id);
            resolved += u64::from(ids.iter().any(|id| gone.contains(id.as_str())));
        }
    }
    let right = removed.iter().filter(|removal| {
        let (Some(a), Some(b)) = (shingles.get(&removal.id), shingles.get(&removal.witness)) else {
            return false;
        };
        let shared = a.intersection(b).count() as u64;
        threshold.reached_by(shared, (a.len() + b.len()) as u64 - shared)
    });
    let right = right.count();
    let share = |part: u64, whole: u64| if whole == 0 { 1.0 } else { part as f64 / whole as f64 };
    let (right, removed) = (right as u64, removed.len() as u64);
    Ok(Some(SampleScore {
        recall: share(resolved, planted),
        precision: share(right, removed),
        planted_pairs: planted,
        planted_pairs_resolved: resolved,
        removed_rightly: right,
        removed,
        threshold,
    }))
}

/// The shingles of every document of the sample, as plain strings: slow, and sharing no hash with the engine.
fn shingles(recipe: &JobRecipe) -> Result<HashMap<String, HashSet<String>>, Failure> {
    let mut all = HashMap::new();
    let mut documents = generate::sample().documents();
    let (mut extractor, mut features) = (Extractor::default(), Features::default());
    let mut analyser = Analyser::with_secret(&recipe.profile()?, Secret::of_process());
    let content = recipe.content()?;
    while let Some(document) = documents.next() {
        let document = document.to_document();
        analyser.read(extractor.extract(&document, content).text, &mut features);
        let words: Vec<&str> = features.words().collect();
        let set = match words.len() {
            0..5 => HashSet::from([words.join(" ")]),
            _ => words.windows(5).map(|window| window.join(" ")).collect(),
        };
        all.insert(document.id.to_owned(), set);
    }
    Ok(all)
}
