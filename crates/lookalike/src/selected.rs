//! Some documents of a corpus, by their names: what was judged or retrieved is a small part of a web.
//!
//! They are copied into a folder as JSON lines with their text taken out, in the order of the corpus. All shards are read, on
//! any number of threads, but only what is wanted is extracted. A copy that is there is not made again, so that work
//! that stands on it can go on after a stop.
//!
//! ```
//! use lookalike::corpus::{Corpus, ReadOptions};
//! use lookalike::selected::SelectedDocuments;
//! use lookalike::text::extract::ContentMode;
//! use lookalike::walk::Watch;
//!
//! let folder = tempfile::tempdir()?;
//! let lines = b"{\"id\":\"a\",\"html\":\"<p>one\"}\n{\"id\":\"b\",\"text\":\"two\"}\n";
//! let corpus = Corpus::in_memory("pages.jsonl", lines.as_slice().into(), ReadOptions::default());
//! let (names, watch) = (["a", "x"], Watch::default());
//! let some = SelectedDocuments::copy(folder.path(), &corpus, ContentMode::Page, &names, 2, &watch)?;
//! assert_eq!((some.found, some.missing), (1, vec!["x".to_owned()]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::fs::File;
use std::io::{self, BufRead, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use lookalike_corpus::write::Sink;
use lookalike_corpus::{Compression, Corpus, CorpusError, Item, Losses, Origin, ReadOptions, Shard};
use lookalike_engine::walk::{self, WalkError, Watch};
use lookalike_hash as hash;
use lookalike_model::{Rejection, Unit};
use lookalike_store::sync::sync;
use lookalike_text::extract::{ContentMode, Extractor};
use serde::{Deserialize, Serialize};

/// The copy of some documents of a corpus.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SelectedDocuments {
    /// Wanted documents that are there.
    pub found: u64,
    /// Names that no document bears, ascending.
    pub missing: Vec<String>,
    /// Documents beyond the first of each wanted name; they are left out.
    pub repeated: u64,
    /// Records of the corpus.
    pub documents: u64,
    /// Records that could not be read.
    pub rejected: u64,
    /// The location of the first of them, and the reason.
    pub first_rejection: Option<String>,
    /// Bytes of the longest line of the copy.
    longest: u64,
    /// A digest of the corpus, the options and the names that the copy was made from.
    source: String,
    /// The file.
    #[serde(skip)]
    path: PathBuf,
}

const LINES: &str = "documents.jsonl";
const MANIFEST: &str = "documents.json";
const REJECTED: &str = "rejected.jsonl";
/// The reason why a folder is refused.
const OTHER_COPY_ERROR: &str = "it holds other documents, or the same as they were at another time or were read in another way; remove it, \
     or write to another place";
/// The beginning of the names of files that hold the copies of single shards.
const SHARD_COPY_PREFIX: &str = ".part-";

/// A document in the copy.
#[derive(Serialize)]
struct Line<'d> {
    id: &'d str,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<&'d str>,
    text: &'d str,
}

impl SelectedDocuments {
    /// Copies the documents with these names, ascending and each once, into `folder`, unless that was done. A folder that
    /// holds another copy is refused.
    pub fn copy(
        folder: &Path,
        corpus: &Corpus,
        content: ContentMode,
        names: &[&str],
        threads: usize,
        watch: &Watch,
    ) -> Result<SelectedDocuments, WalkError> {
        let source = source_digest(corpus, content, names);
        std::fs::create_dir_all(folder).map_err(writing(folder))?;
        let (path, manifest) = (folder.join(LINES), folder.join(MANIFEST));
        let before = std::fs::read(&manifest).ok();
        // What cannot be read was never finished.
        match before.and_then(|text| serde_json::from_slice::<SelectedDocuments>(&text).ok()) {
            Some(before) if before.source == source && path.is_file() => {
                return Ok(SelectedDocuments { path, ..before });
            }
            Some(before) if before.source != source => {
                return Err(writing(folder)(io::Error::other(OTHER_COPY_ERROR)).into());
            }
            _ => {}
        }
        sweep(folder);
        let copier = Copier { folder, corpus, content, names, watch, files: AtomicU64::new(0) };
        let copies = walk::shards(corpus, threads, |shard| copier.copy_shard(shard))?;
        watch.check()?;
        let mut seen = vec![false; names.len()];
        let mut repeated = 0;
        let mut sink = Sink::create(&path, Compression::None)?;
        for copy in &copies {
            repeated += copy.append(&mut seen, &mut sink).map_err(writing(&path))?;
        }
        sink.finish()?;
        let path_of_rejected = folder.join(REJECTED);
        let mut sink = Sink::create(&path_of_rejected, Compression::None)?;
        for copy in &copies {
            copy.append_rejections(&mut sink).map_err(writing(&path_of_rejected))?;
        }
        sink.finish()?;
        // On the disk before anything says that they are whole.
        sync(&[path.clone(), path_of_rejected])?;
        sweep(folder);
        let missing = names.iter().zip(&seen).filter(|(_, seen)| !**seen);
        let selected = SelectedDocuments {
            found: seen.iter().filter(|seen| **seen).count() as u64,
            missing: missing.map(|(name, _)| (*name).to_owned()).collect(),
            repeated,
            documents: copies.iter().map(|copy| copy.documents).sum(),
            rejected: copies.iter().map(|copy| copy.rejected).sum(),
            first_rejection: copies.iter().find_map(|copy| copy.first_rejection.clone()),
            longest: copies.iter().flat_map(|copy| &copy.found).map(|(_, bytes)| *bytes).max().unwrap_or(0),
            source,
            path,
        };
        let mut sink = Sink::create(&manifest, Compression::None)?;
        serde_json::to_writer(&mut sink, &selected).map_err(io::Error::from).map_err(writing(&manifest))?;
        sink.finish()?;
        Ok(selected)
    }

    /// The copy as a corpus. Whatever was read once is not too long to be read again.
    pub fn corpus(&self) -> Result<Corpus, CorpusError> {
        let mut options = ReadOptions::default();
        options.max_document_bytes = options.max_document_bytes.max(self.longest as usize);
        Corpus::open(&[&self.path], options)
    }

    /// The records of the corpus, and why those that could not be read were not.
    pub fn losses(&self) -> Result<Losses, CorpusError> {
        let mut losses = Losses::default();
        let counted = self.rejections(|record| {
            losses.add(&record.source, record.position, Some(record.unit), &record.reason);
            Ok(())
        });
        counted.map_err(|source| CorpusError::Read { name: REJECTED.to_owned(), source })?;
        losses.records = self.documents;
        Ok(losses)
    }

    /// Hands over every record that could not be read, in the order of the corpus.
    pub fn rejections(&self, mut each: impl FnMut(&RejectedRecord) -> io::Result<()>) -> io::Result<()> {
        let from = File::open(self.path.with_file_name(REJECTED))?;
        io::BufReader::new(from).lines().try_for_each(|line| each(&serde_json::from_str(&line?)?))
    }
}

/// Returns a digest of everything that decides the copy: version, shards, options, content mode and names.
fn source_digest(corpus: &Corpus, content: ContentMode, names: &[&str]) -> String {
    let mark = |shard: &Shard| match &shard.origin {
        Origin::Memory(bytes) => format!("{:032x}", hash::digest(bytes)),
        _ => format!("{:?} {:?}", shard.modified, shard.digest),
    };
    let shards: Vec<String> = corpus
        .shards()
        .iter()
        .map(|shard| format!("{} {:?} {}", shard.name, shard.bytes, mark(shard)))
        .collect();
    let version = env!("CARGO_PKG_VERSION");
    let all = format!("{version} {shards:?} {:?} {content:?} {names:?}", corpus.options().deciding());
    format!("{:032x}", hash::digest(all.as_bytes()))
}

/// Removes the copies of single shards, which are in the whole copy by now or were never finished, and what a killed process had begun.
fn sweep(folder: &Path) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with(SHARD_COPY_PREFIX) || name.starts_with(".lookalike-") {
            // Nothing is lost if it stays.
            drop(std::fs::remove_file(entry.path()));
        }
    }
}

/// The documents and rejections of one shard.
#[derive(Default)]
struct ShardCopy {
    documents: u64,
    rejected: u64,
    first_rejection: Option<String>,
    /// The indexes of the names that were found, in the order of the shard, each with the length of its line.
    found: Vec<(usize, u64)>,
    /// Their lines.
    lines: Option<PathBuf>,
    /// A line for each rejection.
    rejections: Option<PathBuf>,
}

/// A record that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RejectedRecord {
    /// Its shard.
    pub source: String,
    /// Its position in the shard.
    pub position: u64,
    /// The unit of the position.
    pub unit: Unit,
    /// The reason for its rejection.
    pub reason: String,
}

/// Copies wanted documents into a folder.
struct Copier<'c> {
    folder: &'c Path,
    corpus: &'c Corpus,
    content: ContentMode,
    names: &'c [&'c str],
    watch: &'c Watch,
    files: AtomicU64,
}

impl Copier<'_> {
    /// Puts the wanted documents of a shard into a file of their own.
    fn copy_shard(&self, shard: &Shard) -> Result<ShardCopy, WalkError> {
        let mut reader = shard.open(self.corpus.options())?;
        let mut extractor = Extractor::default();
        let mut copy = ShardCopy::default();
        let (mut sink, mut rejections): (Option<Sink>, Option<Sink>) = (None, None);
        let (mut line, mut read) = (Vec::new(), 0);
        loop {
            self.watch.check()?;
            let consumed = reader.consumed();
            self.watch.bytes.fetch_add(consumed.saturating_sub(read), Ordering::Relaxed);
            read = consumed;
            let Some(item) = reader.next()? else { break };
            let document = match item {
                Item::Skipped(_) => continue,
                Item::Rejected(rejection) => {
                    copy.reject(shard, &rejection);
                    let path = copy.rejections.get_or_insert_with(|| self.next_file());
                    let record = RejectedRecord {
                        source: shard.name.clone(),
                        position: rejection.place.position,
                        unit: rejection.unit,
                        reason: rejection.reason.to_string(),
                    };
                    line.clear();
                    serde_json::to_writer(&mut line, &record)
                        .map_err(io::Error::from)
                        .map_err(writing(path))?;
                    line.push(b'\n');
                    let sink = match &mut rejections {
                        Some(sink) => sink,
                        none => none.insert(Sink::create(path, Compression::None)?),
                    };
                    sink.write_all(&line).map_err(writing(path))?;
                    continue;
                }
                Item::Document(document) => document,
            };
            copy.documents += 1;
            self.watch.documents.fetch_add(1, Ordering::Relaxed);
            let Ok(name) = self.names.binary_search(&document.id) else { continue };
            let text = extractor.extract(&document, self.content).text;
            line.clear();
            let path = copy.lines.get_or_insert_with(|| self.next_file());
            let written =
                serde_json::to_writer(&mut line, &Line { id: document.id, url: document.url, text });
            written.map_err(io::Error::from).map_err(writing(path))?;
            line.push(b'\n');
            let sink = match &mut sink {
                Some(sink) => sink,
                none => none.insert(Sink::create(path, Compression::None)?),
            };
            sink.write_all(&line).map_err(writing(path))?;
            copy.found.push((name, line.len() as u64));
        }
        sink.map_or(Ok(()), Sink::finish)?;
        rejections.map_or(Ok(()), Sink::finish)?;
        Ok(copy)
    }

    /// The path of a new file for the copy of a shard.
    fn next_file(&self) -> PathBuf {
        self.folder.join(format!("{SHARD_COPY_PREFIX}{}", self.files.fetch_add(1, Ordering::Relaxed)))
    }
}

impl ShardCopy {
    fn reject(&mut self, shard: &Shard, rejection: &Rejection) {
        self.documents += 1;
        self.rejected += 1;
        let unit = match rejection.unit {
            Unit::Byte => "byte",
            Unit::Row => "row",
        };
        let first = || format!("{}, {unit} {}: {}", shard.name, rejection.place.position, rejection.reason);
        self.first_rejection.get_or_insert_with(first);
    }

    fn append_rejections(&self, to: &mut Sink) -> io::Result<()> {
        let Some(lines) = &self.rejections else { return Ok(()) };
        io::copy(&mut File::open(lines)?, to).map(drop)
    }

    /// Appends the lines of names that were not seen before; returns how many were.
    fn append(&self, seen: &mut [bool], to: &mut Sink) -> io::Result<u64> {
        let Some(lines) = &self.lines else { return Ok(0) };
        let mut from = io::BufReader::new(File::open(lines)?);
        let mut repeated = 0;
        for &(name, length) in &self.found {
            let mut line = (&mut from).take(length);
            let again = std::mem::replace(&mut seen[name], true);
            repeated += u64::from(again);
            if again {
                io::copy(&mut line, &mut io::sink())?
            } else {
                io::copy(&mut line, to)?
            };
        }
        Ok(repeated)
    }
}

fn writing(path: &Path) -> impl FnOnce(io::Error) -> CorpusError + '_ {
    move |source| CorpusError::Write { name: path.display().to_string(), source }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str =
        "{\"id\":\"b\",\"html\":\"<p>bee\",\"url\":\"http://b.com/\"}\n{\"id\":\"x\",\"text\":\"no\"}\n{}\n";
    const TWO: &str = "{\"id\":\"b\",\"text\":\"again\"}\n{\"id\":\"a\",\"text\":\"\\\"ay\\\"\"}\n";

    fn corpus(folder: &Path) -> Corpus {
        std::fs::write(folder.join("1.jsonl"), ONE).unwrap();
        std::fs::write(folder.join("2.jsonl"), TWO).unwrap();
        let inputs = ["1.jsonl", "2.jsonl"].map(|name| folder.join(name));
        Corpus::open(&inputs, ReadOptions::default()).unwrap()
    }

    fn select(folder: &Path, corpus: &Corpus, names: &[&str], threads: usize) -> SelectedDocuments {
        SelectedDocuments::copy(folder, corpus, ContentMode::Page, names, threads, &Watch::default()).unwrap()
    }

    #[test]
    fn wanted_documents_are_copied_once_in_the_order_of_the_corpus() {
        let folder = tempfile::tempdir().unwrap();
        let corpus = corpus(folder.path());
        for threads in [1, 2] {
            let to = folder.path().join(format!("to-{threads}"));
            let selected = select(&to, &corpus, &["a", "b", "c"], threads);
            assert_eq!((selected.found, selected.repeated, selected.rejected), (2, 1, 1));
            assert_eq!((selected.documents, selected.missing.as_slice()), (5, &["c".to_owned()][..]));
            assert!(selected.first_rejection.unwrap().starts_with("1.jsonl, "));
            let lines = std::fs::read_to_string(to.join(LINES)).unwrap();
            let expected = "{\"id\":\"b\",\"url\":\"http://b.com/\",\"text\":\"bee\"}\n{\"id\":\"a\",\"text\":\"\\\"ay\\\"\"}\n";
            assert_eq!(lines.replace("\\n", ""), expected);
        }
    }

    #[test]
    fn a_copy_that_is_there_stays_and_another_one_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (corpus, to) = (corpus(folder.path()), folder.path().join("to"));
        std::fs::create_dir(&to).unwrap();
        std::fs::write(to.join(".part-7"), "what a killed process left").unwrap();
        let first = select(&to, &corpus, &["a"], 1);
        // Documents, facts and rejections, and nothing of what was left.
        assert_eq!(std::fs::read_dir(&to).unwrap().count(), 3);
        let mut rejected = Vec::new();
        let mut take = |record: &RejectedRecord| {
            rejected.push(record.clone());
            Ok(())
        };
        first.rejections(&mut take).unwrap();
        assert_eq!((rejected.len(), rejected[0].source.as_str()), (1, "1.jsonl"));
        let modified = || std::fs::metadata(to.join(LINES)).unwrap().modified().unwrap();
        let then = modified();
        assert_eq!(select(&to, &corpus, &["a"], 2), first);
        assert_eq!(modified(), then);
        assert_eq!(first.corpus().unwrap().shards().len(), 1);
        let other = SelectedDocuments::copy(&to, &corpus, ContentMode::Page, &["x"], 1, &Watch::default())
            .unwrap_err();
        assert!(other.to_string().ends_with("remove it, or write to another place"), "{other}");
        assert_eq!(modified(), then);
    }

    #[test]
    fn a_stop_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let (corpus, to) = (corpus(folder.path()), folder.path().join("to"));
        let watch = Watch::default();
        watch.stop.store(true, Ordering::Relaxed);
        let stopped = SelectedDocuments::copy(&to, &corpus, ContentMode::Page, &["a"], 1, &watch);
        assert!(matches!(stopped, Err(WalkError::Stopped)));
        assert_eq!(std::fs::read_dir(&to).unwrap().count(), 0);
    }
}
