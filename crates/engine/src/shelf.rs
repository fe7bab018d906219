//! A copy of a corpus, or of a part of it: one line for each document, named by its number, with its text already taken out.
//!
//! Whoever goes through documents more than once does so here: nobody pays again for finding the text, documents that bear one
//! id are told apart, and any two can be read by number. A copy takes as much disk as the text, and 8 bytes of memory per
//! document.

use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lookalike_corpus::{Corpus, Origin, ReadOptions};
use lookalike_model::Document;
use lookalike_text::extract::ContentMode;
use lookalike_text::hash;
use serde::{Deserialize, Serialize};

use crate::context::write_whole;
use crate::error::EngineError;
use crate::walk::{self, Found, Watch};

/// A document as the copy holds it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    /// Its number in the copy.
    pub id: String,
    /// Its ordinal in the corpus.
    pub n: u64,
    /// Its id in the corpus.
    pub name: String,
    /// Its address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Further fields that were asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub extras: Vec<Option<String>>,
    /// Its text.
    pub text: String,
}

/// What is known of a copy.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Stock {
    /// Documents in it.
    pub documents: u64,
    /// Documents of the corpus.
    pub found: u64,
    /// Records that could not be read.
    pub rejected: u64,
    /// Why, for the first of them.
    pub first_rejection: Option<String>,
    /// Bytes of text.
    pub text_bytes: u64,
    /// What was copied, and how.
    source: String,
}

/// The copy of a corpus.
#[derive(Debug)]
pub struct Shelf {
    path: PathBuf,
    file: File,
    /// Where each line begins, and where the last one ends.
    starts: Vec<u64>,
    stock: Stock,
}

/// Which documents are copied: asked with the number in the corpus, the document and its text.
pub type Keep<'k> = &'k mut dyn FnMut(u64, &Document<'_>, &str) -> bool;

const LINES: &str = "documents.jsonl";
const STOCK: &str = "documents.json";

impl Shelf {
    /// Copies what `content` takes of a corpus into `folder`, unless that was done, with these further fields. `what` says
    /// which of its documents `keep` keeps.
    pub fn stock(
        folder: &Path,
        (corpus, content): (&Corpus, ContentMode),
        extras: &[&str],
        (what, keep): (&str, Keep<'_>),
        watch: &Watch,
    ) -> Result<Shelf, EngineError> {
        std::fs::create_dir_all(folder).map_err(|error| EngineError::write(folder, error))?;
        let source = source(corpus, content, extras, what);
        let (lines, facts) = (folder.join(LINES), folder.join(STOCK));
        let before = std::fs::read(&facts).ok();
        // What cannot be read was never finished.
        if let Some(stock) = before.and_then(|text| serde_json::from_slice::<Stock>(&text).ok()) {
            if stock.source != source {
                return Err(EngineError::Request(format!(
                    "{} holds another corpus, or the same read in another way or by another version; name another folder",
                    folder.display()
                )));
            }
            return Shelf::open(lines, stock);
        }
        let stock = copy(&lines, (corpus, content), extras, source, keep, watch)?;
        let text = serde_json::to_vec(&stock).map_err(|error| EngineError::write(&facts, error.into()))?;
        write_whole(&facts, &text)?;
        Shelf::open(lines, stock)
    }

    fn open(path: PathBuf, stock: Stock) -> Result<Shelf, EngineError> {
        let file = File::open(&path).map_err(|error| EngineError::read(&path, error))?;
        let mut starts = Vec::with_capacity(stock.documents as usize + 1);
        let (mut reader, mut position, mut line) = (BufReader::with_capacity(1 << 20, &file), 0, Vec::new());
        loop {
            starts.push(position);
            line.clear();
            let read =
                reader.read_until(b'\n', &mut line).map_err(|error| EngineError::read(&path, error))?;
            if read == 0 {
                break;
            }
            position += read as u64;
        }
        drop(reader);
        if starts.len() as u64 != stock.documents + 1 {
            let what = "it does not hold as many documents as were copied".to_owned();
            return Err(EngineError::Damaged { file: path, what });
        }
        Ok(Shelf { path, file, starts, stock })
    }

    /// What is known of it.
    pub fn facts(&self) -> &Stock {
        &self.stock
    }

    /// Number of documents.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// True when there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of a line, which is a little more than its text.
    pub fn bytes_of(&self, document: u32) -> usize {
        let at = document as usize;
        (self.starts[at + 1] - self.starts[at]) as usize
    }

    /// The document of this number.
    pub fn line(&self, document: u32) -> Result<Line, EngineError> {
        let mut bytes = vec![0; self.bytes_of(document)];
        let read = self.file.read_exact_at(&mut bytes, self.starts[document as usize]);
        read.map_err(|error| EngineError::read(&self.path, error))?;
        serde_json::from_slice(&bytes)
            .map_err(|error| EngineError::Damaged { file: self.path.clone(), what: error.to_string() })
    }

    /// The copy as a corpus.
    pub fn corpus(&self) -> Result<Corpus, EngineError> {
        Ok(Corpus::open(&[self.path.as_os_str()], ReadOptions::default())?)
    }
}

/// What was copied, and how, in one line.
fn source(corpus: &Corpus, content: ContentMode, extras: &[&str], what: &str) -> String {
    let shards = corpus.shards().iter().map(|shard| {
        let mark = match &shard.origin {
            Origin::File(path) => {
                format!("{:?}", std::fs::metadata(path).and_then(|facts| facts.modified()).ok())
            }
            Origin::Memory(content) => format!("{:032x}", hash::digest(content)),
            _ => String::new(),
        };
        format!("{} {:?} {mark}", shard.name, shard.bytes)
    });
    let all = format!(
        "{} {:?} {:?} {extras:?} {what} {content:?}",
        env!("CARGO_PKG_VERSION"),
        shards.collect::<Vec<_>>(),
        corpus.options(),
    );
    format!("{:032x}", hash::digest(all.as_bytes()))
}

fn copy(
    target: &Path,
    (corpus, content): (&Corpus, ContentMode),
    extras: &[&str],
    source: String,
    keep: Keep<'_>,
    watch: &Watch,
) -> Result<Stock, EngineError> {
    let pending = target.with_extension("part");
    let file = File::create(&pending).map_err(|error| EngineError::write(&pending, error))?;
    let mut copier = Copier {
        out: BufWriter::with_capacity(1 << 20, file),
        stock: Stock { source, ..Stock::default() },
        extras: extras.len(),
        error: None,
    };
    let options = ReadOptions {
        extras: extras.iter().map(|&name| name.to_owned()).collect(),
        ..(**corpus.options()).clone()
    };
    copier.all(corpus, &Arc::new(options), content, keep, watch)?;
    let Copier { mut out, stock, error, .. } = copier;
    let done = error.map_or_else(|| out.flush(), Err);
    done.and_then(|()| std::fs::rename(&pending, target))
        .map_err(|error| EngineError::write(&pending, error))?;
    Ok(stock)
}

struct Copier {
    out: BufWriter<File>,
    stock: Stock,
    extras: usize,
    /// Why a line could not be written.
    error: Option<std::io::Error>,
}

impl Copier {
    fn all(
        &mut self,
        corpus: &Corpus,
        options: &Arc<ReadOptions>,
        content: ContentMode,
        keep: Keep<'_>,
        watch: &Watch,
    ) -> Result<(), EngineError> {
        for shard in corpus.shards() {
            let walked = walk::documents_while(shard, options, content, watch, |found| {
                self.one(found, keep);
                Ok(self.error.is_none())
            });
            walked?;
            if self.error.is_some() {
                break;
            }
        }
        Ok(())
    }

    fn one(&mut self, found: Found<'_>, keep: Keep<'_>) {
        match found {
            Found::Skipped(_) => {}
            Found::Rejected(rejection) => {
                self.stock.found += 1;
                self.stock.rejected += 1;
                self.stock.first_rejection.get_or_insert_with(|| rejection.reason.to_string());
            }
            Found::Document { document, text } => {
                let n = self.stock.found;
                self.stock.found += 1;
                if !keep(n, &document, text) {
                    return;
                }
                let line = Line {
                    id: self.stock.documents.to_string(),
                    n,
                    name: document.id.to_owned(),
                    url: document.url.map(str::to_owned),
                    extras: (0..self.extras).map(|at| document.extras.get(at).map(str::to_owned)).collect(),
                    text: text.to_owned(),
                };
                self.stock.documents += 1;
                self.stock.text_bytes += text.len() as u64;
                let written = serde_json::to_writer(&mut self.out, &line).map_err(std::io::Error::from);
                self.error = written.and_then(|()| self.out.write_all(b"\n")).err();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shelf(folder: &Path, lines: &str) -> Result<Shelf, EngineError> {
        let corpus = Corpus::in_memory("x.jsonl", lines.as_bytes().into(), ReadOptions::default());
        let all: Keep<'_> = &mut |_, _, _| true;
        Shelf::stock(folder, (&corpus, ContentMode::Page), &["group"], ("all", all), &Watch::default())
    }

    const LINES: &str = "{\"id\":\"a\",\"text\":\"one \\\"two\\\"\",\"group\":\"g\"}\n{\"id\":\"a\"}\n{\"id\":\"a\",\"html\":\"<p>three\"}\n";

    #[test]
    fn documents_are_numbered_and_keep_their_names() {
        let folder = tempfile::tempdir().unwrap();
        for _ in 0..2 {
            let shelf = shelf(folder.path(), LINES).unwrap();
            assert_eq!((shelf.len(), shelf.facts().rejected, shelf.facts().found), (2, 1, 3));
            let line = shelf.line(1).unwrap();
            assert_eq!(
                (line.id.as_str(), line.n, line.name.as_str(), line.text.trim()),
                ("1", 2, "a", "three")
            );
            let line = shelf.line(0).unwrap();
            assert_eq!((line.text.as_str(), line.extras), ("one \"two\"", vec![Some("g".to_owned())]));
        }
    }

    #[test]
    fn another_corpus_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        shelf(folder.path(), LINES).unwrap();
        let error = shelf(folder.path(), "{\"id\":\"b\",\"text\":\"x\"}\n").unwrap_err();
        assert!(error.to_string().contains("holds another corpus"), "{error}");
    }

    #[test]
    fn documents_are_chosen_by_number_id_and_address() {
        let folder = tempfile::tempdir().unwrap();
        let lines = "{\"id\":\"a\",\"url\":\"u\",\"text\":\"x\"}\n{\"id\":\"b\",\"text\":\"y\"}\n{\"id\":\"c\",\"text\":\"z\"}\n";
        let corpus = Corpus::in_memory("x.jsonl", lines.as_bytes().into(), ReadOptions::default());
        let mut seen = Vec::new();
        let keep: Keep<'_> = &mut |n, document, text| {
            seen.push((n, document.id.to_owned(), document.url.map(str::to_owned), text.to_owned()));
            document.url.is_none() && text != "y"
        };
        let place = (&corpus, ContentMode::Page);
        let shelf = Shelf::stock(folder.path(), place, &[], ("some", keep), &Watch::default()).unwrap();
        assert_eq!((shelf.len(), shelf.line(0).unwrap().name.as_str()), (1, "c"));
        assert_eq!(seen[0], (0, "a".to_owned(), Some("u".to_owned()), "x".to_owned()));
    }
}
