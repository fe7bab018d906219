//! `similarity`: two texts, measured as pairs are; `diff`: the same, word by word.

use lookalike::engine::measure::{Measure, Measured};
use lookalike::hash::{Secret, SortBuffers};
use lookalike::model::{Document, Media, Threshold};
use lookalike::report::{self, Change, Side, View};
use lookalike::text::extract::{ContentMode, Extractor};
use lookalike::text::{Analyser, Features};
use pyo3::prelude::*;

use crate::options::Options;

/// Returns the similarity of `a` to `b`; for containment, the share of `a` that is in `b`.
#[pyfunction]
pub(crate) fn similarity(py: Python<'_>, a: &str, b: &str, options: Options<'_>) -> PyResult<f64> {
    let (matching, documents) = (options.matching()?, options.documents()?);
    let measure =
        Measure { similarity: matching.similarity, threshold: Threshold::LOWEST, shingle: matching.shingle };
    let content = documents.content_mode();
    Ok(py.detach(|| {
        let mut analyser = Analyser::with_secret(&documents.profile, Secret::of_process());
        let [a, b] = [a, b].map(|text| prepared(&measure, &mut analyser, content, text));
        // What has no words is like nothing.
        if a.is_empty() || b.is_empty() {
            return 0.0;
        }
        let found = measure.compare(&a, &b, Threshold::LOWEST).unwrap_or(Measured::NONE);
        (found.forward * 1e9).round() / 1e9
    }))
}

/// Returns the runs of words of two texts: `(change, words, text)`, without a text where equal words are left out.
#[pyfunction]
pub(crate) fn diff(
    py: Python<'_>,
    a: &str,
    b: &str,
    context: Option<usize>,
    options: Options<'_>,
) -> PyResult<Vec<(&'static str, u64, Option<String>)>> {
    let documents = options.documents()?;
    let view = View { context, ..View::whole() };
    let compared = py.detach(|| {
        let mut analyser = Analyser::with_secret(&documents.profile, Secret::of_process());
        let [left, right] = [a, b].map(|text| {
            let mut features = Features::default();
            analyser.read(text, &mut features);
            features
        });
        report::compare(&Side::new(a, &left), &Side::new(b, &right), &view)
    });
    let name = |change: Change| match change {
        Change::Equal => "equal",
        Change::Removed => "removed",
        Change::Added => "added",
        Change::Uncompared => "uncompared",
    };
    Ok(compared.segments.into_iter().map(|run| (name(run.change), run.words, run.text)).collect())
}

fn prepared(measure: &Measure, analyser: &mut Analyser, content: ContentMode, text: &str) -> Vec<u64> {
    let mut extractor = Extractor::default();
    let text = extractor.extract(&Document::from_text("", None, Media::Text, text), content).text;
    let (mut features, mut symbols, mut out) = (Features::default(), Vec::new(), Vec::new());
    analyser.read(text, &mut features);
    let symbols = measure.symbols(&features, &mut symbols);
    measure.prepare(symbols, &mut out, &mut SortBuffers::default());
    out
}
