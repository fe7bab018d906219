//! The error of an estimator over many runs.

use lookalike_census::Estimate;

/// Runs of one estimator with one budget.
#[derive(Default)]
pub(crate) struct Tally {
    runs: u64,
    answered: u64,
    bias: f64,
    squares: f64,
    covered: u64,
    fetches: u64,
}

impl Tally {
    /// The header of the table.
    pub(crate) const HEAD: &str =
        "engine           estimator                  calls  fetches  answered   RMSE    bias  covers";

    /// Adds a run.
    pub(crate) fn take(&mut self, estimate: Option<Estimate>, truth: f64, fetches: u64) {
        self.runs += 1;
        self.fetches += fetches;
        let Some(estimate) = estimate else { return };
        let off = estimate.value / truth - 1.0;
        self.answered += 1;
        self.bias += off;
        self.squares += off * off;
        self.covered += u64::from(estimate.covers(truth));
    }

    /// A row of the table. Error, bias and coverage are those of the runs with an answer.
    pub(crate) fn row(&self, engine: &str, name: &str, calls: u64) -> String {
        let n = self.answered as f64;
        let percent = |sum: f64| 100.0 * sum / n;
        format!(
            "{engine:16} {name:25} {calls:6} {:8.0} {:8.0}% {:5.1}% {:+6.1}% {:6.1}%",
            self.fetches as f64 / self.runs as f64,
            100.0 * n / self.runs as f64,
            100.0 * (self.squares / n).sqrt(),
            percent(self.bias),
            percent(self.covered as f64),
        )
    }
}
