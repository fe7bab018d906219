//! Results as tables and columns: Arrow for whoever takes it, dictionaries and lists for everybody else.

use arrow_array::{ArrayRef, RecordBatch};
use pyo3::exceptions::{PyIndexError, PyKeyError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyList, PySlice, PyTuple};

use crate::arrow;

/// A table of results: rows are dicts, and all of it is handed over as Arrow without a copy.
#[pyclass(frozen, module = "lookalike")]
pub(crate) struct Table {
    batch: RecordBatch,
}

impl Table {
    pub(crate) fn new(batch: RecordBatch) -> Self {
        Table { batch }
    }

    fn dict<'py>(&self, py: Python<'py>, row: usize) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for (field, column) in self.batch.schema().fields().iter().zip(self.batch.columns()) {
            dict.set_item(field.name(), arrow::value(py, column, row)?)?;
        }
        Ok(dict)
    }

    fn values<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyList>> {
        match self.batch.column_by_name(name) {
            Some(column) => list(py, column),
            None => Err(PyKeyError::new_err(name.to_owned())),
        }
    }
}

fn list<'py>(py: Python<'py>, column: &ArrayRef) -> PyResult<Bound<'py, PyList>> {
    let values = (0..column.len()).map(|row| arrow::value(py, column, row));
    PyList::new(py, values.collect::<PyResult<Vec<_>>>()?)
}

/// Rows that a notebook shows.
const SHOWN_ROWS: usize = 10;

/// Characters of a value that it shows.
const SHOWN_CHARACTERS: usize = 80;

fn counted(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

/// A value as a notebook shows it: the beginning of a long one, and nothing for none.
fn shown(value: &Bound<'_, PyAny>) -> PyResult<String> {
    let text = if value.is_none() { String::new() } else { value.str()?.to_string() };
    Ok(match text.char_indices().nth(SHOWN_CHARACTERS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    })
}

/// The numbers of the rows of a slice.
fn rows_of(slice: &Bound<'_, PySlice>, length: usize) -> PyResult<Vec<usize>> {
    let found = slice.indices(length as isize)?;
    let row = |number: usize| found.start + number as isize * found.step;
    Ok((0..found.slicelength).map(|number| row(number) as usize).collect())
}

/// Resolves an index that counts from the front or, below zero, from the end.
fn resolve_index(index: isize, length: usize) -> PyResult<usize> {
    let at = if index < 0 { index + length as isize } else { index };
    match usize::try_from(at).ok().filter(|&at| at < length) {
        Some(at) => Ok(at),
        None => Err(PyIndexError::new_err(format!("there is no number {index} among {length}"))),
    }
}

#[pymethods]
impl Table {
    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }

    fn __getitem__<'py>(&self, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = key.py();
        if let Ok(name) = key.extract::<&str>() {
            return Ok(self.values(py, name)?.into_any());
        }
        if let Ok(slice) = key.cast::<PySlice>() {
            let rows = rows_of(slice, self.batch.num_rows())?.into_iter().map(|row| self.dict(py, row));
            return Ok(PyList::new(py, rows.collect::<PyResult<Vec<_>>>()?)?.into_any());
        }
        match key.extract::<isize>() {
            Ok(index) => Ok(self.dict(py, resolve_index(index, self.batch.num_rows())?)?.into_any()),
            Err(_) => {
                Err(PyTypeError::new_err("a row is found by its number or a slice, a column by its name"))
            }
        }
    }

    fn __iter__(table: Py<Self>) -> Rows {
        Rows { table, next: 0 }
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Table>().is_ok_and(|other| other.get().batch == self.batch)
    }

    fn __repr__(&self) -> String {
        let rows = counted(self.batch.num_rows(), "row");
        format!("<lookalike.Table of {rows}: {}>", self.names().join(", "))
    }

    /// The first rows, for a notebook.
    fn _repr_html_(&self, py: Python<'_>) -> PyResult<String> {
        let escape = py.import("html")?.getattr("escape")?;
        let cell = |tag: &str, text: &str| -> PyResult<String> {
            Ok(format!("<{tag}>{}</{tag}>", escape.call1((text,))?.extract::<String>()?))
        };
        let mut page = String::from("<table><thead><tr>");
        for name in self.names() {
            page += &cell("th", &name)?;
        }
        page += "</tr></thead><tbody>";
        for row in 0..self.batch.num_rows().min(SHOWN_ROWS) {
            page += "<tr>";
            for column in self.batch.columns() {
                page += &cell("td", &shown(&arrow::value(py, column, row)?)?)?;
            }
            page += "</tr>";
        }
        Ok(page + "</tbody></table><p>" + &counted(self.batch.num_rows(), "row") + "</p>")
    }

    /// Names of the columns.
    #[getter(columns)]
    fn names(&self) -> Vec<String> {
        self.batch.schema().fields().iter().map(|field| field.name().clone()).collect()
    }

    /// All rows, as a list of dicts.
    fn to_pylist<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let rows = (0..self.batch.num_rows()).map(|row| self.dict(py, row));
        PyList::new(py, rows.collect::<PyResult<Vec<_>>>()?)
    }

    /// All columns, as a dict of lists.
    fn to_pydict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for (field, column) in self.batch.schema().fields().iter().zip(self.batch.columns()) {
            dict.set_item(field.name(), list(py, column)?)?;
        }
        Ok(dict)
    }

    /// The table as a `pyarrow.Table`, without a copy.
    fn to_arrow<'py>(table: Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        table.py().import("pyarrow")?.call_method1("table", (table,))
    }

    /// The table as a `polars.DataFrame`.
    fn to_polars<'py>(table: Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        table.py().import("polars")?.call_method1("DataFrame", (table,))
    }

    /// The table as a `pandas.DataFrame`.
    fn to_pandas<'py>(table: Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let frame = table.py().import("pandas")?.getattr("DataFrame")?;
        let columns = table.get().to_pydict(table.py())?;
        frame.call1((columns,))
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        arrow::stream(py, &self.batch, requested_schema)
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        arrow::schema(py, &self.batch)
    }
}

/// The rows of a table, one after the other.
#[pyclass(module = "lookalike._core")]
struct Rows {
    table: Py<Table>,
    next: usize,
}

#[pymethods]
impl Rows {
    fn __iter__(rows: PyRef<'_, Self>) -> PyRef<'_, Self> {
        rows
    }

    fn __next__<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let table = self.table.get();
        let row = self.next;
        self.next += 1;
        (row < table.batch.num_rows()).then(|| table.dict(py, row)).transpose()
    }
}

/// One column of results: a sequence, and an Arrow array without a copy.
#[pyclass(frozen, module = "lookalike")]
pub(crate) struct Column {
    values: ArrayRef,
}

impl Column {
    pub(crate) fn new(values: ArrayRef) -> Self {
        Column { values }
    }
}

#[pymethods]
impl Column {
    fn __len__(&self) -> usize {
        self.values.len()
    }

    fn __getitem__<'py>(&self, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = key.py();
        if let Ok(slice) = key.cast::<PySlice>() {
            let values = rows_of(slice, self.values.len())?.into_iter();
            let values = values.map(|row| arrow::value(py, &self.values, row));
            return Ok(PyList::new(py, values.collect::<PyResult<Vec<_>>>()?)?.into_any());
        }
        arrow::value(py, &self.values, resolve_index(key.extract()?, self.values.len())?)
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        match other.cast::<Column>() {
            Ok(other) => Ok(*other.get().values == *self.values),
            Err(_) => self.to_pylist(other.py())?.eq(other),
        }
    }

    fn __repr__(&self) -> String {
        format!("<lookalike.Column of {}>", counted(self.values.len(), "value"))
    }

    /// All values, as a list.
    fn to_pylist<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        list(py, &self.values)
    }

    /// All values, as a `numpy.ndarray`.
    fn to_numpy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.import("numpy")?.call_method1("array", (self.to_pylist(py)?,))
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        arrow::array(py, &self.values, requested_schema)
    }
}
