//! The report page of a run, made from the findings of the engine.

use lookalike_engine::results::{Findings, PairSample};
use lookalike_engine::{EngineError, JobRecipe};
use lookalike_hash::Secret;
use lookalike_report::{
    Bin, Counts, Measure, Report, SizeBin,
    diff::{Side, View, compare},
};
use lookalike_text::{Analyser, Features};

/// The report of a finished run.
pub fn report(title: &str, recipe: &JobRecipe, findings: &Findings) -> Result<Report, EngineError> {
    let measure = recipe.measure()?;
    let summary = &findings.summary;
    let counts = Counts {
        documents: summary.documents,
        kept: summary.kept,
        removed: summary.removed,
        rejected: summary.rejected,
        skipped: summary.skipped,
        clusters: summary.clusters,
        exact_duplicates: summary.exact_duplicates,
        candidates: summary.candidates,
        verified: summary.verified,
        giant_groups: summary.giant_groups,
        duplicate_ids: summary.duplicate_ids,
        text_bytes: summary.text_bytes,
    };
    let mut analyser = Analyser::with_secret(&recipe.profile()?, Secret::of_process());
    let samples = findings.samples.iter().map(|sample| pair_sample(&mut analyser, sample)).collect();
    Ok(Report {
        title: title.to_owned(),
        recipe: recipe.to_toml(),
        counts,
        measure: Measure {
            similarity: measure.similarity,
            shingle: measure.shingle as u64,
            threshold: measure.threshold.value(),
        },
        unverified: summary.unverified,
        components: summary.witnesses_waived,
        notes: findings.notes.clone(),
        similarities: bins(&findings.histogram, measure.threshold.value()),
        sizes: findings
            .cluster_sizes
            .iter()
            .map(|&(least, most, clusters)| SizeBin { least: least.max(2), most, clusters })
            .collect(),
        sources: findings.sources.clone(),
        hosts: findings.hosts.clone(),
        biggest: findings.biggest.iter().map(|cluster| cluster.facts.clone()).collect(),
        samples,
        rejections: findings.rejections.iter().map(|(reason, count)| (reason.clone(), *count)).collect(),
    })
}

/// The hundredths of the histogram from a little below the threshold; one that the threshold falls into is cut off
/// at it, for what is in it was mostly decided there.
fn bins(histogram: &[u64], threshold: f64) -> Vec<Bin> {
    let first = ((threshold - 0.1) * 100.0).floor().max(0.0) as usize;
    let bin = |(index, &pairs): (usize, &u64)| {
        let lower = index as f64 / 100.0;
        let inside = lower < threshold && threshold < lower + 0.01;
        Bin { lower: if inside { threshold } else { lower }, pairs }
    };
    // The last hundredth also holds the pairs that are equal.
    let mut bins: Vec<Bin> = histogram.iter().enumerate().take(100).skip(first).map(bin).collect();
    if let (Some(last), Some(&equal)) = (bins.last_mut(), histogram.get(100)) {
        last.pairs += equal;
    }
    bins
}

fn pair_sample(analyser: &mut Analyser, sample: &PairSample) -> lookalike_report::PairSample {
    let (mut first, mut second) = (Features::default(), Features::default());
    analyser.read(&sample.a.text, &mut first);
    analyser.read(&sample.b.text, &mut second);
    let a = Side::new(&sample.a.text, &first).at(sample.a.url.as_deref());
    let b = Side::new(&sample.b.text, &second).at(sample.b.url.as_deref());
    let removed = match (sample.a.removed, sample.b.removed) {
        (true, false) => Some(lookalike_report::PairSide::A),
        (false, true) => Some(lookalike_report::PairSide::B),
        _ => None,
    };
    lookalike_report::PairSample {
        section: sample.section,
        id_a: sample.a.id.clone(),
        id_b: sample.b.id.clone(),
        url_a: sample.a.url.clone(),
        url_b: sample.b.url.clone(),
        similarity: Some(sample.similarity),
        removed,
        comparison: compare(&a, &b, &View::default()),
    }
}
