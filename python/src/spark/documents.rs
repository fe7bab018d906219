//! Rows of a batch as documents, read as any other table is.

use std::sync::Arc;

use arrow_array::RecordBatch;
use lookalike::corpus::{Corpus, Item, LineReader, ReadOptions, Rows, Table, TableRow};
use lookalike::engine::{EngineError, JobRecipe};
use lookalike::model::Document;

use super::columns;
use crate::arrow::Strings;

/// The columns that a document is made of.
pub(super) struct Columns {
    pub(super) id: Option<Strings>,
    text: Option<Strings>,
    html: Option<Strings>,
    url: Option<Strings>,
    /// The reason why a row is no document, where its reader gave one.
    rejected: Option<Strings>,
    /// The field that keepers are chosen by, and the field that documents are compared within.
    fields: [Option<Strings>; 2],
    rows: usize,
}

impl Columns {
    pub(super) fn of(batch: &RecordBatch) -> Result<Self, EngineError> {
        let texts = |name| columns::texts(batch, name);
        Ok(Columns {
            id: texts("id")?,
            text: texts("text")?,
            html: texts("html")?,
            url: texts("url")?,
            rejected: texts("rejected")?,
            fields: [texts("keep")?, texts("within")?],
            rows: batch.num_rows(),
        })
    }

    /// Bytes of the text in a row.
    pub(super) fn bytes(&self, row: usize) -> usize {
        [&self.text, &self.html].map(|texts| value(texts, row).map_or(0, str::len)).iter().sum()
    }

    /// The text of one row, and the names of another.
    pub(super) fn row<'c>(&'c self, row: usize, text: &'c Columns, at: usize) -> TableRow<'c> {
        TableRow {
            id: value(&self.id, row),
            text: value(&text.text, at),
            html: value(&text.html, at),
            url: value(&self.url, row),
            ..TableRow::default()
        }
    }

    /// Returns the reason why a row is no document, if its reader gave one.
    pub(super) fn rejected(&self, row: usize) -> Option<&str> {
        value(&self.rejected, row)
    }

    /// Returns the value of a row in one of the further fields.
    pub(super) fn field(&self, row: usize, field: usize) -> Option<&str> {
        self.fields.get(field).and_then(|field| value(field, row))
    }
}

fn value(texts: &Option<Strings>, row: usize) -> Option<&str> {
    texts.as_ref().and_then(|texts| texts.get(row))
}

/// The names of the further fields that a recipe asks for: what keepers are chosen by, and what documents are compared within.
pub(super) fn fields(recipe: &JobRecipe) -> Result<[String; 2], EngineError> {
    use lookalike::engine::recipe::{Keep, Within};
    let keep = match recipe.keep()? {
        Keep::Field { name, .. } => name,
        _ => String::new(),
    };
    let within = match recipe.within() {
        Some(Within::Field(name)) => name,
        _ => String::new(),
    };
    Ok([keep, within])
}

/// The documents of one batch.
struct BatchTable {
    columns: Arc<Columns>,
    fields: [String; 2],
}

impl Table for BatchTable {
    fn rows(&self) -> usize {
        self.columns.rows
    }

    fn row(&self, row: usize) -> TableRow<'_> {
        self.columns.row(row, &self.columns, row)
    }

    fn columns(&self) -> Vec<String> {
        self.fields.to_vec()
    }

    fn value(&self, row: usize, column: usize, out: &mut String) -> bool {
        let found = self.columns.field(row, column);
        found.into_iter().for_each(|value| out.push_str(value));
        found.is_some()
    }
}

/// Reads documents of one batch after the other.
pub(super) struct Reader {
    fields: [String; 2],
    options: ReadOptions,
    lines: LineReader,
}

impl Reader {
    pub(super) fn new(recipe: &JobRecipe) -> Result<Self, EngineError> {
        let options = recipe.read_options()?;
        let lines = LineReader::new(&Arc::new(options.clone()));
        Ok(Reader { fields: fields(recipe)?, options, lines })
    }

    /// The columns of a batch, and its rows. Refuses documents without an id: nothing else tells them apart.
    pub(super) fn open(&self, batch: &RecordBatch) -> Result<(Arc<Columns>, Rows), EngineError> {
        let columns = Arc::new(Columns::of(batch)?);
        let is_nameless = |row| value(&columns.id, row).is_none() && columns.rejected(row).is_none();
        let nameless = (0..batch.num_rows()).any(is_nameless);
        if nameless {
            return Err(EngineError::Request(
                "a document has no id; give every document one, such as its address".to_owned(),
            ));
        }
        let table: Arc<dyn Table> =
            Arc::new(BatchTable { columns: columns.clone(), fields: self.fields.clone() });
        let corpus = Corpus::tables(vec![("rows".to_owned(), table)], self.options.clone());
        let rows = corpus.shards()[0].rows(corpus.options())?;
        let none = || EngineError::Request("a batch is no table".to_owned());
        Ok((columns, rows.ok_or_else(none)?))
    }

    /// Hands over the document in a row; or says why there is none.
    pub(super) fn with<T>(
        &mut self,
        rows: &Rows,
        row: usize,
        take: impl FnOnce(&Document<'_>) -> Result<T, String>,
    ) -> Result<T, String> {
        match self.lines.row(rows, row) {
            Item::Document(document) => take(&document).map_err(|reason| format!("broken record: {reason}")),
            Item::Rejected(rejection) => Err(rejection.reason.to_string()),
            Item::Skipped(_) => Err("it is no document".to_owned()),
        }
    }
}
