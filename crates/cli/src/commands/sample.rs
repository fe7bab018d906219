//! The built-in corpus has a known truth: how well did the run do?

use std::collections::{HashMap, HashSet};
use std::io::Write;
use std::path::Path;

use lookalike::engine::JobRecipe;
use lookalike::generate;
use lookalike::hash::Secret;
use lookalike::model::Similarity;
use lookalike::tables::removed::RemovedLine;
use lookalike::text::extract::Extractor;
use lookalike::text::{Analyser, Features};

use crate::args::TableFormat;
use crate::exit::Failure;

/// Prints recall and precision of the removals in `folder`, if the run asked what the truth answers.
pub(crate) fn score(folder: &Path, recipe: &JobRecipe, format: TableFormat) -> Result<(), Failure> {
    let threshold = recipe.measure()?.threshold;
    let comparable = recipe.similarity == Similarity::Jaccard && recipe.shingle == 5 && !recipe.against;
    if !comparable || format != TableFormat::Jsonl {
        return Ok(());
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
    let mut out = std::io::stdout().lock();
    writeln!(
        out,
        "recall            {:>14.3}  planted pairs at {threshold} or more of which one is gone: {resolved} of {planted}",
        share(resolved, planted)
    )?;
    writeln!(
        out,
        "precision         {:>14.3}  removed documents that are so similar to their witness: {right} of {}",
        share(right as u64, removed.len() as u64),
        removed.len()
    )?;
    Ok(())
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
