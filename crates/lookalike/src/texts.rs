//! Texts in memory as a corpus.

use std::sync::Arc;

use crate::corpus::{Corpus, ReadOptions, Table, TableRow};

/// Texts, with ids or without, one behind the other in one buffer: a few bytes for each beside its own.
#[derive(Debug, Default)]
pub(crate) struct TextTable {
    buffer: String,
    /// The end of each text in the buffer. Where there are ids, each stands before its text.
    ends: Vec<usize>,
    /// The end of each id; empty where there are none.
    id_ends: Vec<usize>,
}

impl TextTable {
    /// Copies texts, which are then called by their positions alone.
    pub(crate) fn of_texts<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> Self {
        let mut table = TextTable::default();
        for text in texts {
            table.buffer.push_str(text.as_ref());
            table.ends.push(table.buffer.len());
        }
        table
    }

    /// Copies texts with their ids.
    pub(crate) fn of_documents<I: AsRef<str>, T: AsRef<str>>(
        documents: impl IntoIterator<Item = (I, T)>,
    ) -> Self {
        let mut table = TextTable::default();
        for (id, text) in documents {
            table.buffer.push_str(id.as_ref());
            table.id_ends.push(table.buffer.len());
            table.buffer.push_str(text.as_ref());
            table.ends.push(table.buffer.len());
        }
        table
    }

    /// Bytes of memory that it takes.
    pub(crate) fn memory(&self) -> u64 {
        let ends = self.ends.capacity() + self.id_ends.capacity();
        (self.buffer.capacity() + ends * size_of::<usize>()) as u64
    }

    /// The texts as a corpus of one shard.
    pub(crate) fn into_corpus(self, name: &str, options: ReadOptions) -> Corpus {
        let table: Arc<dyn Table> = Arc::new(self);
        Corpus::tables(vec![(name.to_owned(), table)], options)
    }
}

impl Table for TextTable {
    fn rows(&self) -> usize {
        self.ends.len()
    }

    fn row(&self, row: usize) -> TableRow<'_> {
        let begin = if row == 0 { 0 } else { self.ends[row - 1] };
        let (id, begin) = match self.id_ends.get(row) {
            Some(&end) => (Some(&self.buffer[begin..end]), end),
            None => (None, begin),
        };
        TableRow { id, text: Some(&self.buffer[begin..self.ends[row]]), ..TableRow::default() }
    }

    fn bytes(&self) -> u64 {
        self.buffer.len() as u64
    }
}

/// The position of a text, told by the id that a corpus without ids gives it: `texts#7`.
pub(crate) fn position_of(id: &str) -> Option<usize> {
    id.rsplit_once('#')?.1.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::Item;

    fn ids_and_texts(table: TextTable) -> Vec<(String, String)> {
        let corpus = table.into_corpus("texts", ReadOptions::default());
        let mut reader = corpus.shards()[0].open(corpus.options()).unwrap();
        let mut all = Vec::new();
        while let Some(item) = reader.next().unwrap() {
            let Item::Document(document) = item else { panic!("{item:?}") };
            let text = crate::text::extract::Extractor::default()
                .extract(&document, crate::text::extract::ContentMode::Page)
                .text
                .to_owned();
            all.push((document.id.to_owned(), text));
        }
        all
    }

    #[test]
    fn texts_are_documents_by_their_positions() {
        let all = ids_and_texts(TextTable::of_texts(["one", "", "zwei ü"]));
        let texts: Vec<&str> = all.iter().map(|(_, text)| text.as_str()).collect();
        assert_eq!(texts, ["one", "", "zwei ü"]);
        let positions: Vec<_> = all.iter().map(|(id, _)| position_of(id)).collect();
        assert_eq!(positions, [Some(0), Some(1), Some(2)]);
    }

    #[test]
    fn ids_stay_with_their_texts() {
        let all = ids_and_texts(TextTable::of_documents([("a", "one"), ("b", ""), ("ç", "three")]));
        let pair = |id: &str, text: &str| (id.to_owned(), text.to_owned());
        assert_eq!(all, [pair("a", "one"), pair("b", ""), pair("ç", "three")]);
    }

    #[test]
    fn nothing_is_a_corpus_too() {
        assert_eq!(ids_and_texts(TextTable::of_texts([] as [&str; 0])), []);
        assert_eq!(position_of("no number"), None);
    }
}
