//! Rows of a table that are no documents: whether they are too many, by the rule and in the sentence of one machine.

use lookalike::corpus::{CorpusError, MaxRejected};
use pyo3::prelude::*;

use super::raise;
use crate::options::Options;

fn limit(options: &Options<'_>) -> PyResult<MaxRejected> {
    Ok(options.max_rejected()?.unwrap_or_default())
}

/// Returns true if more of the rows of a table were rejected than may be.
#[pyfunction]
pub(super) fn too_many_rejected(records: u64, rejected: u64, options: Options<'_>) -> PyResult<bool> {
    Ok(limit(&options)?.exceeded(records, rejected))
}

/// Raises the exception about so many rows and so many rejected ones, which are `counts`. `example` is the most frequent reason: how many rows have it, the
/// reason of one of them in full, and the id of that one, if it has any.
#[pyfunction]
pub(super) fn refuse_rejected(
    side: String,
    counts: (u64, u64),
    example: (u64, String, Option<String>),
    options: Options<'_>,
) -> PyResult<()> {
    let ((records, rejected), (count, reason, id)) = (counts, example);
    let named = id.map_or_else(String::new, |id| format!(" (the first with the id {id})"));
    let why = format!("{count} × {reason}{named}");
    let most = limit(&options)?;
    Err(raise(CorpusError::TooManyRejected { side, records, rejected, most, why }.into()))
}
