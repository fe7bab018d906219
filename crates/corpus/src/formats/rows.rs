//! Rows of a table that is in memory already.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use lookalike_model::{Content, Document, Media, Reason, RecordPosition, Rejection, Unit};

use crate::first_records::FieldNames;
use crate::reader::Records;
use crate::record::{ExtraValues, write_own_id};
use crate::{CorpusError, Fields, Item, Lines, ReadOptions, Rows};

/// Bytes that a row counts for beside its own, so that a stretch of empty rows has an end.
const PER_ROW: usize = 32;

/// Reads the rows of a table, one after the other.
pub(crate) struct RowsShard {
    rows: Rows,
    next: usize,
    reader: RowReader,
    consumed: Arc<AtomicU64>,
}

impl RowsShard {
    pub(crate) fn new(rows: Rows, options: &Arc<ReadOptions>, consumed: Arc<AtomicU64>) -> Self {
        RowsShard { rows, next: 0, reader: RowReader::new(options), consumed }
    }

    /// The next rows, of about `wanted` bytes, and their size in bytes. They end before a row that is much larger.
    fn next_range(&self, wanted: usize) -> (Range<usize>, usize) {
        let (mut end, mut bytes) = (self.next, 0);
        while end < self.rows.len() && bytes + (end - self.next) * PER_ROW < wanted {
            let more = self.rows.table.row(end).bytes();
            if more > 2 * wanted {
                break;
            }
            bytes += more;
            end += 1;
        }
        (self.next..end, bytes)
    }
}

impl Records for RowsShard {
    fn next(&mut self) -> Result<Option<Item<'_>>, CorpusError> {
        let row = self.next;
        if row == self.rows.len() {
            return Ok(None);
        }
        self.next += 1;
        let bytes = self.rows.table.row(row).bytes() as u64;
        self.consumed.fetch_add(bytes, Ordering::Relaxed);
        Ok(Some(self.reader.read(&self.rows, row)))
    }

    fn field_names(&self, names: &mut FieldNames) {
        self.rows.table.columns().iter().for_each(|name| names.add(name));
    }

    fn lines(&mut self, wanted: usize, lines: &mut Lines) -> Result<bool, CorpusError> {
        let (range, bytes) = self.next_range(wanted);
        self.next = range.end;
        self.consumed.fetch_add(bytes as u64, Ordering::Relaxed);
        let found = !range.is_empty();
        lines.clear();
        if found {
            lines.take_rows(self.rows.clone(), range, bytes);
        }
        Ok(found)
    }
}

/// Reads single rows; its buffers are used again for one row after the other.
pub(crate) struct RowReader {
    options: Arc<ReadOptions>,
    extras: ExtraValues,
    own_id: String,
}

impl RowReader {
    pub(crate) fn new(options: &Arc<ReadOptions>) -> Self {
        RowReader { options: options.clone(), extras: ExtraValues::new(options), own_id: String::new() }
    }

    /// The document that a row is. Text goes before HTML when it has both.
    pub(crate) fn read<'a>(&'a mut self, rows: &'a Rows, row: usize) -> Item<'a> {
        let place = RecordPosition { record: row as u64, position: row as u64 };
        let found = rows.table.row(row);
        let rejected = |reason| {
            let id = found.id.filter(|id| !id.is_empty()).map(str::to_owned);
            Item::Rejected(Rejection { place, unit: Unit::Row, reason, id })
        };
        if let Some(why) = found.unreadable {
            return rejected(Reason::InvalidUtf8(why.to_owned()));
        }
        let (media, text) = match (found.text, found.html) {
            (Some(text), _) => (Media::Text, text),
            (None, Some(html)) => (Media::Html, html),
            (None, None) if self.options.addresses => (Media::Html, ""),
            (None, None) => {
                let Fields { text, html, .. } = &self.options.fields;
                return rejected(Reason::MissingField(format!("neither {text:?} nor {html:?} is there")));
            }
        };
        let limit = self.options.max_document_bytes.min(u32::MAX as usize);
        if text.len() > limit {
            return rejected(Reason::TooLong { limit: limit as u64 });
        }
        self.extras.clear();
        for (index, &column) in rows.extras.iter().enumerate() {
            self.extras.set(index, |out| rows.table.value(row, column, out));
        }
        let own_id = &mut self.own_id;
        Item::Document(Document {
            id: found
                .id
                .filter(|id| !id.is_empty())
                .unwrap_or_else(|| write_own_id(own_id, &rows.shard, place)),
            url: found.url,
            media,
            content: Content::Unicode(text),
            place,
            raw: None,
            extras: self.extras.view(),
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::{Corpus, Format, Item, LineReader, Lines, ReadOptions, Table, TableRow};

    /// Columns of a table, `None` where a row has no value.
    #[derive(Default, Clone)]
    struct Columns {
        ids: Vec<Option<String>>,
        texts: Vec<Option<String>>,
        pages: Vec<Option<String>>,
    }

    impl Table for Columns {
        fn rows(&self) -> usize {
            self.texts.len()
        }

        fn row(&self, row: usize) -> TableRow<'_> {
            TableRow {
                id: self.ids.get(row).and_then(Option::as_deref),
                text: self.texts[row].as_deref(),
                html: self.pages.get(row).and_then(Option::as_deref),
                ..TableRow::default()
            }
        }

        fn columns(&self) -> Vec<String> {
            vec!["length".to_owned()]
        }

        fn value(&self, row: usize, _: usize, out: &mut String) -> bool {
            let Some(text) = &self.texts[row] else { return false };
            out.push_str(&text.len().to_string());
            true
        }
    }

    fn corpus(columns: Columns, options: ReadOptions) -> Corpus {
        Corpus::tables(vec![("table".to_owned(), std::sync::Arc::new(columns))], options)
    }

    fn texts(texts: &[Option<&str>]) -> Columns {
        Columns { texts: texts.iter().map(|text| text.map(str::to_owned)).collect(), ..Columns::default() }
    }

    fn one_by_one(corpus: &Corpus) -> Vec<String> {
        let mut reader = corpus.shards()[0].open(corpus.options()).unwrap();
        let mut found = Vec::new();
        while let Some(item) = reader.next().unwrap() {
            found.push(format!("{item:?}"));
        }
        assert_eq!((reader.consumed(), reader.format()), (corpus.bytes().unwrap(), Format::Table));
        found
    }

    fn by_stretches(corpus: &Corpus, wanted: usize, some: bool) -> Vec<String> {
        let mut reader = corpus.shards()[0].open(corpus.options()).unwrap();
        let (mut lines, mut line_reader) = (Lines::default(), LineReader::new(corpus.options()));
        let mut found = Vec::new();
        loop {
            if reader.lines(wanted, &mut lines).unwrap() {
                assert!(lines.bytes() <= 3 * wanted);
                let view = if some { lines.view_some() } else { lines.view_all() };
                found.extend((0..lines.len()).map(|index| format!("{:?}", line_reader.read(view, index))));
                continue;
            }
            match reader.next().unwrap() {
                Some(item) => found.push(format!("{item:?}")),
                None => return found,
            }
        }
    }

    #[test]
    fn rows_are_documents_and_those_without_text_are_rejected() {
        let mut columns = texts(&[Some("one"), None, None, Some("")]);
        columns.ids = vec![Some("a".to_owned()), None, None, Some(String::new())];
        columns.pages = vec![Some("<p>".to_owned()), Some("<p>two".to_owned()), None, None];
        let corpus = corpus(columns, ReadOptions::default());
        let mut reader = corpus.shards()[0].open(corpus.options()).unwrap();
        let mut found = Vec::new();
        while let Some(item) = reader.next().unwrap() {
            found.push(match item {
                Item::Document(document) => {
                    format!("{} {:?} {}", document.id, document.media, document.content.len())
                }
                Item::Rejected(rejection) => {
                    format!("{} {} {:?}", rejection.reason, rejection.place.position, rejection.unit)
                }
                Item::Skipped(_) => "skipped".to_owned(),
            });
        }
        let missing = "missing field: neither \"text\" nor \"html\" is there 2 Row";
        assert_eq!(found, ["a Text 3", "table#1 Html 6", missing, "table#3 Text 0"]);
    }

    #[test]
    fn a_text_that_is_too_long_costs_no_other() {
        let options = ReadOptions { max_document_bytes: 3, ..ReadOptions::default() };
        let found = one_by_one(&corpus(texts(&[Some("one"), Some("three"), Some("two")]), options));
        assert!(found[1].contains("TooLong") && found[2].contains("two"), "{found:?}");
    }

    #[test]
    fn further_fields_are_columns() {
        let options = ReadOptions { extras: vec!["length".to_owned()], ..ReadOptions::default() };
        let corpus = corpus(texts(&[Some("one"), Some("three")]), options);
        let mut reader = corpus.shards()[0].open(corpus.options()).unwrap();
        for wanted in ["3", "5"] {
            let Some(Item::Document(document)) = reader.next().unwrap() else { panic!("no document") };
            assert_eq!(document.extras.get(0), Some(wanted));
        }
        let options = ReadOptions { extras: vec!["score".to_owned()], ..ReadOptions::default() };
        let corpus = self::corpus(texts(&[]), options);
        let error = corpus.shards()[0].open(corpus.options()).map(|_| ()).unwrap_err().to_string();
        assert!(error.starts_with("table has no column \"score\""), "{error}");
    }

    proptest! {
        #[test]
        fn stretches_are_what_the_reader_gives(
            texts in prop::collection::vec(prop::option::of("[a-z ]{0,40}"), 0..60),
            wanted in 1usize..200,
            limit in 5usize..50,
            some in any::<bool>(),
        ) {
            let columns = Columns { texts, ..Columns::default() };
            let extras = vec!["length".to_owned()];
            let corpus = corpus(columns, ReadOptions { max_document_bytes: limit, extras, ..ReadOptions::default() });
            prop_assert_eq!(by_stretches(&corpus, wanted, some), one_by_one(&corpus));
        }
    }
}
