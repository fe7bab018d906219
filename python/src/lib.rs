//! The Python package: lists, tables and files become corpora, results become tables, and nothing is decided here.
//!
//! - `arrow`: Arrow in and out, without copies
//! - `source`: what Python hands over becomes a corpus
//! - `options`: keywords become recipes and settings
//! - `work`: work on other threads while the interpreter is free, with signals and progress
//! - `errors`: failures become exceptions
//! - `table`: results as tables and columns
//! - `spark`: what Spark's workers call
//! - `jobs`: `dedup`, `pairs` and `compare`; `sketch`; `measure`: `similarity`, `diff`; `index`: `Index`
//!
//! The interface that people see, with its documentation, is `lookalike/__init__.py`; this module is `lookalike._core`.

mod arrow;
mod errors;
mod index;
mod jobs;
mod measure;
mod options;
mod results;
mod sketch;
mod source;
mod spark;
mod table;
mod work;

use std::collections::BTreeMap;

use pyo3::prelude::*;

use errors::Failure;

/// All methods, or one, as JSON.
#[pyfunction]
#[pyo3(signature = (name=None))]
fn methods(name: Option<&str>) -> PyResult<String> {
    let written = match name {
        None => lookalike::method_info::all().map(|all| serde_json::to_string(&all)),
        Some(name) => lookalike::method_info::by_name(name).map(|one| serde_json::to_string(&one)),
    };
    Ok(written.map_err(Failure::from)?.unwrap_or_default())
}

/// All presets by their names, each with what it is in a line.
#[pyfunction]
fn presets() -> BTreeMap<&'static str, &'static str> {
    lookalike::presets::PRESETS.iter().map(|preset| (preset.name, preset.summary())).collect()
}

/// The compiled module behind `lookalike/__init__.py`.
#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<source::Source>()?;
    module.add_class::<table::Table>()?;
    module.add_class::<table::Column>()?;
    module.add_class::<index::Index>()?;
    module.add_function(wrap_pyfunction!(methods, module)?)?;
    module.add_function(wrap_pyfunction!(presets, module)?)?;
    module.add_function(wrap_pyfunction!(jobs::dedup, module)?)?;
    module.add_function(wrap_pyfunction!(jobs::pairs, module)?)?;
    module.add_function(wrap_pyfunction!(jobs::compare, module)?)?;
    module.add_function(wrap_pyfunction!(sketch::sketch, module)?)?;
    module.add_function(wrap_pyfunction!(measure::similarity, module)?)?;
    module.add_function(wrap_pyfunction!(measure::diff, module)?)?;
    spark::add(module)?;
    Ok(())
}
