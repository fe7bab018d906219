//! SQLite's full-text search (FTS5) as an engine: one file, ranked by BM25.
//!
//! Texts are cut by the tokeniser `unicode61` with `remove_diacritics 0`: at everything that is no letter, number or private character
//! of Unicode 6.1, in lower case, accents kept. Vowel signs, as of Thai, are no letters to it, so that it cuts finer there than the
//! tantivy index does. A word of a query is handed over in quotation marks, so that nothing in it
//! is an operator: one that becomes several pieces is looked for as these pieces next to each other, and one without a letter or a
//! digit is on no page. Equal ranks stand in the order in which pages were added.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags, OptionalExtension, params};

use crate::building::{BuildOptions, IndexBuilder};
use crate::engine::{EngineError, FetchedPage, Join, Query, Results, SearchEngine};
use crate::page_registry::{PageRegistry, partial_path, publish};

/// The application id that tells our files from others.
const APPLICATION_ID: i64 = 0x6c6f_6f6b;

/// The tables: texts apart from words, since what is indexed need not be what is fetched, and apart from addresses, since a list of
/// results needs no texts.
const TABLES: &str = "
    CREATE TABLE about (mark TEXT NOT NULL);
    CREATE TABLE address (number INTEGER PRIMARY KEY, url TEXT NOT NULL UNIQUE);
    CREATE TABLE page (number INTEGER PRIMARY KEY, text TEXT NOT NULL);
    CREATE VIRTUAL TABLE words USING fts5 (text, content = '', tokenize = 'unicode61 remove_diacritics 0');
";

/// The query for results; addresses are looked up only for those shown.
const SEARCH_SQL: &str = "
    SELECT address.url FROM (
        SELECT rowid AS number, rank AS place FROM words WHERE words MATCH ?1 ORDER BY rank, rowid LIMIT ?2
    ) AS found JOIN address ON address.number = found.number ORDER BY found.place, found.number
";

const TEXT_SQL: &str =
    "SELECT text FROM page JOIN address ON address.number = page.number WHERE address.url = ?1";

/// Most bytes of a file that are memory-mapped.
const MOST_MAPPED_BYTES: i64 = 1 << 40;

/// Builds an index.
pub struct SqliteBuilder {
    path: PathBuf,
    part: PathBuf,
    file: Connection,
    registry: PageRegistry,
}

impl SqliteBuilder {
    /// Begins an index in a file that does not exist yet.
    pub fn create(path: &Path, options: &BuildOptions) -> Result<Box<Self>, EngineError> {
        let part = partial_path(path)?;
        let created = Connection::open(&part).and_then(|file| {
            // Nobody sees the file before it is whole: a journal would only cost time.
            file.pragma_update(None, "journal_mode", "OFF")?;
            file.pragma_update(None, "synchronous", "OFF")?;
            file.pragma_update(None, "application_id", APPLICATION_ID)?;
            // In KiB, where negative.
            file.pragma_update(None, "cache_size", -((options.memory >> 10).max(2_000) as i64))?;
            file.execute_batch(TABLES)?;
            file.execute_batch("BEGIN")?;
            Ok(file)
        });
        let file = created.map_err(|error| EngineError::broken(path.display().to_string(), error))?;
        let registry = PageRegistry::new(path, options);
        Ok(Box::new(SqliteBuilder { path: path.to_owned(), part, file, registry }))
    }

    fn insert(&self, number: u64, url: &str, indexed: &str, page: &str) -> rusqlite::Result<()> {
        let mut urls = self.file.prepare_cached("INSERT INTO address (number, url) VALUES (?1, ?2)")?;
        urls.execute(params![number as i64, url])?;
        let mut pages = self.file.prepare_cached("INSERT INTO page (number, text) VALUES (?1, ?2)")?;
        pages.execute(params![number as i64, page])?;
        let mut words = self.file.prepare_cached("INSERT INTO words (rowid, text) VALUES (?1, ?2)")?;
        words.execute(params![number as i64, indexed])?;
        Ok(())
    }

    /// Merges the index into one segment, so that queries are answered fast, and writes the fingerprint.
    fn end(&self) -> rusqlite::Result<()> {
        self.file.execute("INSERT INTO words (words) VALUES ('optimize')", [])?;
        self.file.execute("INSERT INTO about (mark) VALUES (?1)", [self.registry.fingerprint()])?;
        self.file.execute_batch("COMMIT")
    }
}

impl IndexBuilder for SqliteBuilder {
    fn add(&mut self, url: &str, indexed: &str, page: &str) -> Result<(), EngineError> {
        let number = self.registry.next_number();
        let indexed = self.registry.register(url, indexed, page)?;
        let added = self.insert(number, url, indexed, page);
        added.map_err(|error| EngineError::broken(self.path.display().to_string(), error))
    }

    fn has(&self, url: &str) -> bool {
        self.registry.has(url)
    }

    fn finish(self: Box<Self>) -> Result<u64, EngineError> {
        let ended = self.end();
        ended.map_err(|error| EngineError::broken(self.path.display().to_string(), error))?;
        let SqliteBuilder { path, part, file, registry } = *self;
        let closed = file.close();
        closed.map_err(|(_, error)| EngineError::broken(path.display().to_string(), error))?;
        publish(&part, &path)?;
        Ok(registry.next_number())
    }
}

/// An index that can be asked.
pub struct SqliteEngine {
    name: String,
    fingerprint: String,
    cap: usize,
    file: Connection,
}

impl SqliteEngine {
    /// Opens an index that [`SqliteBuilder`] made.
    pub fn open(name: &str, path: &Path, cap: usize) -> Result<Self, EngineError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let opened = Connection::open_with_flags(path, flags).and_then(|file| {
            file.pragma_update(None, "mmap_size", MOST_MAPPED_BYTES)?;
            let application: i64 = file.pragma_query_value(None, "application_id", |row| row.get(0))?;
            let fingerprint = (application == APPLICATION_ID)
                .then(|| file.query_row("SELECT mark FROM about", [], |row| row.get::<_, String>(0)))
                .transpose()?;
            Ok((file, fingerprint))
        });
        let (file, fingerprint) = opened.map_err(|error| {
            EngineError::broken(name, format!("{} cannot be opened: {error}", path.display()))
        })?;
        let Some(fingerprint) = fingerprint else {
            let why = format!("{} is a file of another make; build an index anew", path.display());
            return Err(EngineError::broken(name, why));
        };
        Ok(SqliteEngine { name: name.to_owned(), fingerprint, cap, file })
    }

    /// Number of its pages.
    pub fn pages(&self) -> Result<u64, EngineError> {
        let count = self.file.query_row("SELECT count(*) FROM address", [], |row| row.get::<_, i64>(0));
        count.map(|count| count as u64).map_err(|error| self.broken(error))
    }

    fn broken(&self, error: rusqlite::Error) -> EngineError {
        EngineError::broken(&self.name, error)
    }

    fn run_query(&self, query: &str, limit: usize) -> rusqlite::Result<Results> {
        let mut found = self.file.prepare_cached(SEARCH_SQL)?;
        let urls = found.query_map(params![query, limit as i64], |row| row.get(0))?;
        let urls: Vec<String> = urls.collect::<rusqlite::Result<_>>()?;
        let mut count = self.file.prepare_cached("SELECT count(*) FROM words WHERE words MATCH ?1")?;
        let all = count.query_row([query], |row| row.get::<_, i64>(0))? as u64;
        Ok(Results { more: all > urls.len() as u64, urls, claimed: Some(all) })
    }

    fn text(&self, url: &str) -> rusqlite::Result<Option<String>> {
        let mut page = self.file.prepare_cached(TEXT_SQL)?;
        page.query_row([url], |row| row.get(0)).optional()
    }

    fn has_address(&self, url: &str) -> rusqlite::Result<bool> {
        self.file.prepare_cached("SELECT 1 FROM address WHERE url = ?1")?.exists([url])
    }
}

/// A query in the language of FTS5; nothing for one that no page can match.
fn expression(query: &Query) -> Option<String> {
    let is_word = |word: &&String| word.contains(char::is_alphanumeric);
    let words: Vec<String> = query.words.iter().filter(is_word).map(|word| quoted(word)).collect();
    let between = match query.join {
        Join::All if words.len() < query.words.len() => return None,
        Join::All => " AND ",
        Join::Any => " OR ",
    };
    (!words.is_empty()).then(|| words.join(between))
}

/// A word as a string of FTS5. A null would end the query there, and is a border of words like any other character of its sort.
fn quoted(word: &str) -> String {
    format!("\"{}\"", word.replace('\0', " ").replace('"', "\"\""))
}

impl SearchEngine for SqliteEngine {
    fn name(&self) -> &str {
        &self.name
    }

    fn kind(&self) -> &str {
        "sqlite"
    }

    fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    fn cap(&self) -> usize {
        self.cap
    }

    fn search(&mut self, query: &Query, limit: usize) -> Result<Results, EngineError> {
        match expression(query) {
            Some(query) => self.run_query(&query, limit.min(self.cap)).map_err(|error| self.broken(error)),
            None => Ok(Results { claimed: Some(0), ..Results::default() }),
        }
    }

    fn fetch(&mut self, url: &str) -> Result<Option<FetchedPage>, EngineError> {
        let text = self.text(url).map_err(|error| self.broken(error))?;
        Ok(text.map(|text| FetchedPage { url: url.to_owned(), text }))
    }

    fn knows_addresses(&self) -> bool {
        true
    }

    fn has(&mut self, url: &str) -> Option<Result<bool, EngineError>> {
        Some(self.has_address(url).map_err(|error| self.broken(error)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_word_is_an_operator() {
        let asked = |query: Query| expression(&query);
        assert_eq!(asked(Query::all(["a", "OR"])), Some("\"a\" AND \"OR\"".to_owned()));
        assert_eq!(asked(Query::all(["a\" NOT \"b"])), Some("\"a\"\" NOT \"\"b\"".to_owned()));
        assert_eq!(asked(Query::any(["a\0b", "*", "c*"])), Some("\"a b\" OR \"c*\"".to_owned()));
        assert_eq!(asked(Query::all(["a", "*"])), None);
        assert_eq!(asked(Query::any(["*"])), None);
    }

    #[test]
    fn a_file_of_another_make_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.db");
        Connection::open(&path).unwrap().execute_batch("CREATE TABLE page (url)").unwrap();
        let error = SqliteEngine::open("x", &path, 9).err().unwrap().to_string();
        assert!(error.contains("of another make"), "{error}");
    }
}
