//! An engine in the process, by the library tantivy: ranked by BM25, in one segment on disk.
//!
//! A text is cut at everything that is no letter and no digit, and each piece is put into lower case; pieces of more than 65,530
//! bytes are dropped. A word of a query is cut likewise: one that becomes several pieces is looked for as these pieces next to each
//! other, and one without any is on no page. Equal scores stand in the order in which pages were added, so that the same index
//! answers the same on every machine. The text of a page is stored as it came, whatever of it was indexed.

use std::path::{Path, PathBuf};

use tantivy::collector::{Count, TopDocs};
use tantivy::columnar::StrColumn;
use tantivy::indexer::NoMergePolicy;
use tantivy::query::{BooleanQuery, Occur, PhraseQuery, TermQuery};
use tantivy::schema::{
    FAST, Field, INDEXED, IndexRecordOption, STORED, STRING, Schema, TextFieldIndexing, TextOptions, Value,
};
use tantivy::tokenizer::{LowerCaser, SimpleTokenizer, TextAnalyzer, TokenStream};
use tantivy::{DocAddress, Index, IndexWriter, Searcher, TantivyDocument, TantivyError, Term};

use crate::building::{BuildOptions, IndexBuilder};
use crate::engine::{EngineError, FetchedPage, Join, Query, Results, SearchEngine};
use crate::page_registry::{PageRegistry, partial_path, publish};

/// Name of the tokeniser.
const TOKENIZER: &str = "lookalike";

/// Least memory that tantivy works with.
const LEAST_MEMORY: usize = 16 << 20;

/// The fields of an index.
#[derive(Debug, Clone, Copy)]
struct Fields {
    url: Field,
    words: Field,
    page: Field,
    number: Field,
}

impl Fields {
    fn schema() -> (Schema, Fields) {
        let words = TextFieldIndexing::default()
            .set_tokenizer(TOKENIZER)
            .set_index_option(IndexRecordOption::WithFreqsAndPositions);
        let mut schema = Schema::builder();
        let fields = Fields {
            // In a column beside the index: a list of results needs addresses, and no texts.
            url: schema.add_text_field("url", STRING | FAST),
            words: schema.add_text_field("words", TextOptions::default().set_indexing_options(words)),
            page: schema.add_text_field("page", STORED),
            number: schema.add_u64_field("number", FAST | INDEXED),
        };
        (schema.build(), fields)
    }
}

fn tokenizer() -> TextAnalyzer {
    TextAnalyzer::builder(SimpleTokenizer::default()).filter(LowerCaser).build()
}

/// Builds an index.
pub struct TantivyBuilder {
    path: PathBuf,
    part: PathBuf,
    writer: IndexWriter,
    fields: Fields,
    registry: PageRegistry,
}

impl TantivyBuilder {
    /// Begins an index in a folder that does not exist yet.
    pub fn create(path: &Path, options: &BuildOptions) -> Result<Box<Self>, EngineError> {
        let broken = |error: TantivyError| EngineError::broken(path.display().to_string(), error);
        let part = partial_path(path)?;
        let made = std::fs::create_dir_all(&part);
        made.map_err(|error| EngineError::broken(path.display().to_string(), error))?;
        let (schema, fields) = Fields::schema();
        let index = Index::create_in_dir(&part, schema).map_err(broken)?;
        index.tokenizers().register(TOKENIZER, tokenizer());
        // One thread, so that pages keep their order.
        let writer = index.writer_with_num_threads(1, options.memory.max(LEAST_MEMORY)).map_err(broken)?;
        writer.set_merge_policy(Box::new(NoMergePolicy));
        let registry = PageRegistry::new(path, options);
        Ok(Box::new(TantivyBuilder { path: path.to_owned(), part, writer, fields, registry }))
    }

    /// Makes one segment of all, in the order in which pages came.
    fn end(writer: &mut IndexWriter, fingerprint: &str) -> tantivy::Result<()> {
        let mut commit = writer.prepare_commit()?;
        commit.set_payload(fingerprint);
        commit.commit()?;
        let searcher = writer.index().reader()?.searcher();
        let mut segments = Vec::new();
        for segment in searcher.segment_readers() {
            let numbers = segment.fast_fields().u64("number")?;
            segments.push((numbers.first(0), segment.segment_id()));
        }
        segments.sort_unstable_by_key(|&(first, _)| first);
        let ids: Vec<_> = segments.into_iter().map(|(_, id)| id).collect();
        if ids.len() > 1 {
            writer.merge(&ids).wait()?;
            writer.garbage_collect_files().wait()?;
        }
        Ok(())
    }
}

impl IndexBuilder for TantivyBuilder {
    fn add(&mut self, url: &str, indexed: &str, page: &str) -> Result<(), EngineError> {
        let number = self.registry.next_number();
        let indexed = self.registry.register(url, indexed, page)?;
        let mut document = TantivyDocument::default();
        document.add_text(self.fields.url, url);
        document.add_text(self.fields.words, indexed);
        document.add_text(self.fields.page, page);
        document.add_u64(self.fields.number, number);
        let added = self.writer.add_document(document);
        added.map(|_| ()).map_err(|error| EngineError::broken(self.path.display().to_string(), error))
    }

    fn has(&self, url: &str) -> bool {
        self.registry.has(url)
    }

    fn finish(self: Box<Self>) -> Result<u64, EngineError> {
        let TantivyBuilder { path, part, mut writer, registry, .. } = *self;
        let ended = TantivyBuilder::end(&mut writer, &registry.fingerprint());
        ended
            .and_then(|()| writer.wait_merging_threads())
            .map_err(|error| EngineError::broken(path.display().to_string(), error))?;
        publish(&part, &path)?;
        Ok(registry.next_number())
    }
}

/// An index that can be asked.
pub struct TantivyEngine {
    name: String,
    fingerprint: String,
    cap: usize,
    searcher: Searcher,
    fields: Fields,
    /// Addresses by document; nothing when there are no documents.
    urls: Option<StrColumn>,
    tokenizer: TextAnalyzer,
}

impl TantivyEngine {
    /// Opens an index that [`TantivyBuilder`] made.
    pub fn open(name: &str, path: &Path, cap: usize) -> Result<Self, EngineError> {
        let broken = |error: TantivyError| {
            EngineError::broken(name, format!("{} cannot be opened: {error}", path.display()))
        };
        let index = Index::open_in_dir(path).map_err(broken)?;
        let (schema, fields) = Fields::schema();
        let searcher = index.reader().map_err(broken)?.searcher();
        let fingerprint = index.load_metas().map_err(broken)?.payload.unwrap_or_default();
        if index.schema() != schema || searcher.segment_readers().len() > 1 || fingerprint.is_empty() {
            let why = format!("{} is an index of another make; build one anew", path.display());
            return Err(EngineError::broken(name, why));
        }
        let urls = match searcher.segment_readers().first() {
            Some(segment) => segment.fast_fields().str("url").map_err(broken)?,
            None => None,
        };
        Ok(TantivyEngine {
            name: name.to_owned(),
            fingerprint,
            cap,
            searcher,
            fields,
            urls,
            tokenizer: tokenizer(),
        })
    }

    /// Number of its pages.
    pub fn pages(&self) -> u64 {
        self.searcher.num_docs()
    }

    fn broken(&self, error: TantivyError) -> EngineError {
        EngineError::broken(&self.name, error)
    }

    /// Returns the query for a word; nothing for a word without letters and digits.
    fn word(&mut self, word: &str) -> Option<Box<dyn tantivy::query::Query>> {
        let mut terms = Vec::new();
        let mut pieces = self.tokenizer.token_stream(word);
        while let Some(piece) = pieces.next() {
            terms.push(Term::from_field_text(self.fields.words, &piece.text));
        }
        match terms.len() {
            0 => None,
            1 => Some(Box::new(TermQuery::new(terms.remove(0), IndexRecordOption::WithFreqs))),
            _ => Some(Box::new(PhraseQuery::new(terms))),
        }
    }

    /// Returns the query of the library; nothing for one that no page can match.
    fn query(&mut self, query: &Query) -> Option<BooleanQuery> {
        let words: Vec<_> = query.words.iter().map(|word| self.word(word)).collect();
        let occur = match query.join {
            Join::All if words.iter().any(Option::is_none) => return None,
            Join::All => Occur::Must,
            Join::Any => Occur::Should,
        };
        let words: Vec<_> = words.into_iter().flatten().map(|word| (occur, word)).collect();
        (!words.is_empty()).then(|| BooleanQuery::new(words))
    }

    fn url(&self, document: DocAddress) -> Result<String, EngineError> {
        let mut url = String::new();
        let found = match &self.urls {
            Some(urls) => match urls.term_ords(document.doc_id).next() {
                Some(ord) => urls.ord_to_str(ord, &mut url),
                None => Ok(false),
            },
            None => Ok(false),
        };
        match found {
            Ok(true) => Ok(url),
            Ok(false) => Err(EngineError::broken(&self.name, "a page has no address; build the index anew")),
            Err(error) => Err(self.broken(error.into())),
        }
    }

    /// The page of an address.
    fn document(&self, url: &str) -> Result<Option<DocAddress>, EngineError> {
        let term = TermQuery::new(Term::from_field_text(self.fields.url, url), IndexRecordOption::Basic);
        let found = self.searcher.search(&term, &TopDocs::with_limit(1).order_by_score());
        Ok(found.map_err(|error| self.broken(error))?.first().map(|&(_, address)| address))
    }
}

impl SearchEngine for TantivyEngine {
    fn name(&self) -> &str {
        &self.name
    }

    fn kind(&self) -> &str {
        "tantivy"
    }

    fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    fn cap(&self) -> usize {
        self.cap
    }

    fn search(&mut self, query: &Query, limit: usize) -> Result<Results, EngineError> {
        let Some(query) = self.query(query) else {
            return Ok(Results { claimed: Some(0), ..Results::default() });
        };
        // The library makes room for as many as it is asked for.
        let limit = limit.min(self.cap).min(self.searcher.num_docs() as usize);
        // The library knows no list of nothing.
        let top = TopDocs::with_limit(limit.max(1)).order_by_score();
        let found = self.searcher.search(&query, &(top, Count));
        let (mut top, all) = found.map_err(|error| self.broken(error))?;
        top.truncate(limit);
        let urls = top.iter().map(|&(_, address)| self.url(address)).collect::<Result<Vec<_>, _>>()?;
        Ok(Results { more: all > urls.len(), urls, claimed: Some(all as u64) })
    }

    fn fetch(&mut self, url: &str) -> Result<Option<FetchedPage>, EngineError> {
        let Some(address) = self.document(url)? else { return Ok(None) };
        let document: TantivyDocument = self.searcher.doc(address).map_err(|error| self.broken(error))?;
        let text = document.get_first(self.fields.page).and_then(|value| value.as_str()).unwrap_or_default();
        Ok(Some(FetchedPage { url: url.to_owned(), text: text.to_owned() }))
    }

    fn knows_addresses(&self) -> bool {
        true
    }

    fn has(&mut self, url: &str) -> Option<Result<bool, EngineError>> {
        Some(self.document(url).map(|found| found.is_some()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Memory that runs out makes segments; their names are drawn by chance, and so is their order.
    #[test]
    fn segments_are_joined_in_the_order_of_the_pages() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        let mut builder = TantivyBuilder::create(&path, &BuildOptions::default()).unwrap();
        let urls: Vec<String> = (0..60).map(|number| format!("u{}", number * 37 % 60)).collect();
        for (number, url) in urls.iter().enumerate() {
            builder.add(url, "same", "same").unwrap();
            if number % 7 == 0 {
                builder.writer.commit().unwrap();
            }
        }
        assert!(builder.writer.index().searchable_segment_ids().unwrap().len() > 5);
        assert_eq!(builder.finish().unwrap(), 60);
        let mut engine = TantivyEngine::open("x", &path, 100).unwrap();
        assert_eq!((engine.searcher.segment_readers().len(), engine.pages()), (1, 60));
        assert_eq!(engine.search(&Query::all(["same"]), 100).unwrap().urls, urls);
        assert!(engine.fingerprint().starts_with("60 pages "), "{}", engine.fingerprint());
    }

    #[test]
    fn an_index_of_another_make_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let mut schema = Schema::builder();
        schema.add_text_field("body", STRING);
        drop(Index::create_in_dir(folder.path(), schema.build()).unwrap());
        let error = TantivyEngine::open("x", folder.path(), 9).err().unwrap().to_string();
        assert!(error.contains("of another make"), "{error}");
    }
}
