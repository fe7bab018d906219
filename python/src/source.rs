//! Corpora from Python objects: files by their paths, texts of a list, columns of a table.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use lookalike::corpus::{Corpus, Fields, ReadOptions, Table, TableRow};
use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyInt, PyString, PyTuple};

use crate::arrow::{Columns, Frame, Strings};
use crate::errors::Failure;

/// The reason why a string of Python is no text.
const BROKEN: &str = "the text has a surrogate that stands alone";

/// A text of a list, where it stands.
#[derive(Clone, Copy)]
enum Text {
    Nothing,
    Here(&'static str),
    /// A string that is no Unicode.
    Broken,
}

/// Strings of Python, borrowed: the interpreter keeps them as UTF-8, or makes that once.
pub(crate) struct Texts {
    texts: Vec<Text>,
    // What the texts are borrowed from.
    _strings: Py<PyTuple>,
    _written: Vec<Py<PyString>>,
}

impl Texts {
    /// Borrows the strings of a sequence. Whole numbers are written out where they may be names.
    fn borrow(values: &Bound<'_, PyAny>, what: &str, numbers: bool) -> PyResult<Self> {
        let py = values.py();
        // A tuple of our own: the list may change while the interpreter does something else.
        let strings: Bound<'_, PyTuple> = py.get_type::<PyTuple>().call1((values,))?.cast_into()?;
        let mut texts = Vec::with_capacity(strings.len());
        let mut written: Vec<Py<PyString>> = Vec::new();
        for (row, value) in strings.iter_borrowed().enumerate() {
            let text = if let Ok(text) = value.cast::<PyString>() {
                borrowed(&text)
            } else if value.is_none() || value.cast::<PyFloat>().is_ok_and(|number| number.value().is_nan()) {
                // Not a number is how pandas writes that there is nothing.
                Text::Nothing
            } else if numbers && value.is_instance_of::<PyInt>() {
                let text = value.str()?;
                let borrowed = borrowed(&text);
                written.push(text.unbind());
                borrowed
            } else {
                let wanted = if numbers { "str, int or None" } else { "str or None" };
                let kind = value.get_type();
                let kind = kind.name()?;
                return Err(
                    Failure::Type(format!("{what} are {wanted}; number {row} is of type {kind}")).into()
                );
            };
            texts.push(text);
        }
        Ok(Texts { texts, _strings: strings.unbind(), _written: written })
    }

    fn get(&self, row: usize) -> Option<&str> {
        match self.texts.get(row) {
            Some(Text::Here(text)) => Some(text),
            _ => None,
        }
    }

    fn broken(&self, row: usize) -> bool {
        matches!(self.texts[row], Text::Broken)
    }
}

fn borrowed(text: &Bound<'_, PyString>) -> Text {
    match text.to_str() {
        // SAFETY: strings of Python never change, and their UTF-8 lives as long as they do. `Texts` holds a reference to each of
        // them for as long as it lives, and hands texts out for no longer than that.
        Ok(text) => Text::Here(unsafe { std::mem::transmute::<&str, &'static str>(text) }),
        Err(_) => Text::Broken,
    }
}

/// Names that are given beside the texts.
enum Names {
    Texts(Texts),
    Columns(Vec<(usize, Strings)>),
}

impl Names {
    fn borrow(values: &Bound<'_, PyAny>) -> PyResult<(Self, usize)> {
        if !is_arrow(values)? {
            let texts = Texts::borrow(values, "ids", true)?;
            let length = texts.texts.len();
            return Ok((Names::Texts(texts), length));
        }
        let frame = Frame::borrow(values)?;
        let mut columns = Vec::new();
        let mut first = 0;
        for chunk in &frame.chunks {
            let names = chunk.first().filter(|_| frame.names.is_none()).and_then(Strings::of_names);
            let unfit = || Failure::Type("ids are a column of strings or whole numbers".to_owned());
            columns.push((first, names.ok_or_else(unfit)?));
            first += chunk.first().map_or(0, |column| column.len());
        }
        Ok((Names::Columns(columns), first))
    }

    fn get(&self, row: usize) -> Option<&str> {
        match self {
            Names::Texts(texts) => texts.get(row),
            Names::Columns(columns) => {
                let (first, names) = &columns[columns.partition_point(|(first, _)| *first <= row) - 1];
                names.get(row - first)
            }
        }
    }
}

/// True when an object hands over Arrow data.
fn is_arrow(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(object.hasattr("__arrow_c_stream__")? || object.hasattr("__arrow_c_array__")?)
}

/// Texts with names.
struct TextList {
    texts: Arc<Texts>,
    names: Option<Arc<Names>>,
}

impl Table for TextList {
    fn rows(&self) -> usize {
        self.texts.texts.len()
    }

    fn row(&self, row: usize) -> TableRow<'_> {
        TableRow {
            id: self.names.as_ref().and_then(|names| names.get(row)),
            text: self.texts.get(row),
            unreadable: self.texts.broken(row).then_some(BROKEN),
            ..TableRow::default()
        }
    }
}

/// Strings of Python in columns that stand for the fields of documents.
struct ListColumns {
    rows: usize,
    id: Option<Arc<Texts>>,
    text: Option<Arc<Texts>>,
    html: Option<Arc<Texts>>,
    url: Option<Arc<Texts>>,
}

impl ListColumns {
    fn new(columns: &[(String, Arc<Texts>)], fields: &Fields) -> Self {
        let named =
            |wanted: &str| columns.iter().find(|(name, _)| name == wanted).map(|(_, texts)| texts.clone());
        ListColumns {
            rows: columns.first().map_or(0, |(_, texts)| texts.texts.len()),
            id: named(&fields.id),
            text: named(&fields.text),
            html: named(&fields.html),
            url: named(&fields.url),
        }
    }
}

impl Table for ListColumns {
    fn rows(&self) -> usize {
        self.rows
    }

    fn row(&self, row: usize) -> TableRow<'_> {
        fn cell(column: &Option<Arc<Texts>>, row: usize) -> Option<&str> {
            column.as_ref().and_then(|column| column.get(row))
        }
        let broken = |column: &Option<Arc<Texts>>| column.as_ref().is_some_and(|column| column.broken(row));
        TableRow {
            id: cell(&self.id, row),
            text: cell(&self.text, row),
            html: cell(&self.html, row),
            url: cell(&self.url, row),
            unreadable: (broken(&self.text) || broken(&self.html)).then_some(BROKEN),
        }
    }
}

/// Columns with other names than their own.
struct NamedColumns {
    columns: Columns,
    names: Arc<Names>,
}

impl Table for NamedColumns {
    fn rows(&self) -> usize {
        self.columns.rows()
    }

    fn row(&self, row: usize) -> TableRow<'_> {
        TableRow { id: self.names.get(row), ..self.columns.row(row) }
    }

    fn columns(&self) -> Vec<String> {
        self.columns.columns()
    }

    fn value(&self, row: usize, column: usize, out: &mut String) -> bool {
        self.columns.value(row, column, out)
    }
}

/// Documents, as they were handed over.
#[pyclass(frozen, module = "lookalike._core")]
pub(crate) struct Source {
    kind: SourceKind,
}

enum SourceKind {
    Paths(Vec<OsString>),
    Texts { texts: Arc<Texts>, names: Option<Arc<Names>> },
    Lists(Vec<(String, Arc<Texts>)>),
    Frame { frame: Frame, names: Option<Arc<Names>> },
}

#[pymethods]
impl Source {
    /// Files, folders and patterns.
    #[staticmethod]
    fn paths(paths: Vec<PathBuf>) -> Self {
        Source { kind: SourceKind::Paths(paths.into_iter().map(PathBuf::into_os_string).collect()) }
    }

    /// Strings of a list.
    #[staticmethod]
    #[pyo3(signature = (texts, ids=None))]
    fn texts(texts: &Bound<'_, PyAny>, ids: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let texts = Texts::borrow(texts, "texts", false)?;
        let names = names(ids, texts.texts.len())?;
        Ok(Source { kind: SourceKind::Texts { texts: Arc::new(texts), names } })
    }

    /// Columns of strings, each a list with its name. Whole numbers may stand in the one called `id`.
    #[staticmethod]
    fn lists(columns: Vec<(String, Bound<'_, PyAny>)>, id: &str) -> PyResult<Self> {
        let mut texts_by_name = Vec::new();
        for (name, values) in columns {
            let texts = Texts::borrow(&values, &format!("values of {name}"), name == id)?;
            texts_by_name.push((name, Arc::new(texts)));
        }
        Ok(Source { kind: SourceKind::Lists(texts_by_name) })
    }

    /// Takes any object that exports Arrow data.
    #[staticmethod]
    #[pyo3(signature = (table, ids=None))]
    fn table(table: &Bound<'_, PyAny>, ids: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let frame = Frame::borrow(table)?;
        let names = names(ids, frame.rows())?;
        Ok(Source { kind: SourceKind::Frame { frame, names } })
    }
}

fn names(ids: Option<&Bound<'_, PyAny>>, rows: usize) -> PyResult<Option<Arc<Names>>> {
    let Some(ids) = ids else { return Ok(None) };
    let (names, length) = Names::borrow(ids)?;
    if length != rows {
        let sentence = format!("there are {length} ids and {rows} documents; give one id for each, or None");
        return Err(Failure::Usage(sentence).into());
    }
    Ok(Some(Arc::new(names)))
}

impl Source {
    /// The paths, where documents are in files.
    pub(crate) fn inputs(&self) -> Option<&[OsString]> {
        match &self.kind {
            SourceKind::Paths(paths) => Some(paths),
            _ => None,
        }
    }

    /// The documents as a corpus; a table is a shard of this name.
    pub(crate) fn corpus(&self, name: &str, options: ReadOptions) -> Result<Corpus, Failure> {
        let table: Arc<dyn Table> = match &self.kind {
            SourceKind::Paths(paths) => return Ok(Corpus::open(paths, options)?),
            SourceKind::Texts { texts, names } => {
                Arc::new(TextList { texts: texts.clone(), names: names.clone() })
            }
            SourceKind::Lists(columns) => Arc::new(ListColumns::new(columns, &options.fields)),
            SourceKind::Frame { frame, names } => {
                let columns = Columns::new(frame, &options.fields, name)?;
                match names {
                    None => Arc::new(columns),
                    Some(names) => Arc::new(NamedColumns { columns, names: names.clone() }),
                }
            }
        };
        Ok(Corpus::tables(vec![(name.to_owned(), table)], options))
    }
}
