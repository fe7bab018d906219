//! A copy of a corpus, or of a part of it: one line for each document, named by its number, with its text already taken out.
//!
//! For work that goes through documents more than once: the text is found only once, documents that bear one
//! id are told apart, and any two can be read by number. A copy takes as much disk as the text and 8 bytes per document, and no
//! memory.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lookalike_corpus::{Corpus, Losses, MaxRejected, Origin, ReadOptions};
use lookalike_hash as hash;
use lookalike_model::Document;
use lookalike_store::file::read_at;
use lookalike_store::journal;
use lookalike_store::sync::sync_folder;
use lookalike_text::extract::ContentMode;
use serde::{Deserialize, Serialize};

use crate::delivered::write_durably;
use crate::error::EngineError;
use crate::walk::{self, WalkItem, Watch};

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

/// The counts and the source of a copy.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CopyManifest {
    /// Documents in it.
    pub documents: u64,
    /// Documents of the corpus.
    pub found: u64,
    /// Records that could not be read.
    pub rejected: u64,
    /// The reason for the first of these rejections.
    pub first_rejection: Option<String>,
    /// Bytes of text.
    pub text_bytes: u64,
    /// The source and the way in which it was copied, in one line.
    source: String,
}

/// The copy of a corpus.
#[derive(Debug)]
pub struct DocumentCopy {
    path: PathBuf,
    lines: File,
    /// The offset of each line, and that of the end of the last one, as numbers of eight bytes.
    starts: File,
    manifest: CopyManifest,
}

/// Chooses the documents to copy: called with the number in the corpus, the document and its text.
pub type DocumentFilter<'k> = &'k mut dyn FnMut(u64, &Document<'_>, &str) -> bool;

const LINES: &str = "documents.jsonl";
const STARTS: &str = "documents.starts";
const MANIFEST: &str = "documents.json";

impl DocumentCopy {
    /// Copies what `content` takes of a corpus into `folder`, unless that was done, with these further fields. `what` says
    /// which of its documents `keep` keeps.
    pub fn open_or_create(
        folder: &Path,
        (corpus, content): (&Corpus, ContentMode),
        extras: &[&str],
        (what, keep): (&str, DocumentFilter<'_>),
        watch: &Watch,
    ) -> Result<DocumentCopy, EngineError> {
        let source = source(corpus, content, extras, what);
        if let Some(copy) = DocumentCopy::open_existing(folder, &source)? {
            return Ok(copy);
        }
        let mut writer = CopyWriter::create(folder, source)?;
        let options = ReadOptions {
            extras: extras.iter().map(|&name| name.to_owned()).collect(),
            ..(**corpus.options()).clone()
        };
        let options = Arc::new(options);
        let mut losses = Losses::default();
        for shard in corpus.shards() {
            let mut failure = None;
            walk::documents_while(shard, &options, content, watch, |found| {
                if let WalkItem::Rejected(rejection) = &found {
                    losses.reject(&shard.name, rejection);
                }
                failure = writer.take(found, extras.len(), keep).err();
                Ok(failure.is_none())
            })?;
            failure.map_or(Ok(()), Err)?;
        }
        losses.records = writer.manifest.found;
        losses.check("the input", options.max_rejected)?;
        writer.finish()
    }

    /// The copy that was made in `folder`, if one was, from this source; another one is refused.
    pub fn open_existing(folder: &Path, source: &str) -> Result<Option<DocumentCopy>, EngineError> {
        let before = std::fs::read(folder.join(MANIFEST)).ok();
        // What cannot be read, or is from before lines had their places in a file, was never finished.
        let before = before.filter(|_| folder.join(STARTS).exists());
        let Some(manifest) = before.and_then(|text| serde_json::from_slice::<CopyManifest>(&text).ok())
        else {
            return Ok(None);
        };
        if manifest.source != source {
            return Err(EngineError::Request(format!(
                "{} holds another corpus, or the same read in another way or by another version; name another folder",
                folder.display()
            )));
        }
        DocumentCopy::open(folder, manifest).map(Some)
    }

    fn open(folder: &Path, manifest: CopyManifest) -> Result<DocumentCopy, EngineError> {
        let open = |path: &Path| File::open(path).map_err(|error| EngineError::read(path, error));
        let (path, places) = (folder.join(LINES), folder.join(STARTS));
        let (lines, starts) = (open(&path)?, open(&places)?);
        let length = |file: &File, path: &Path| {
            file.metadata().map(|facts| facts.len()).map_err(|error| EngineError::read(path, error))
        };
        let whole = length(&starts, &places)? == 8 * (manifest.documents + 1);
        let end = length(&lines, &path)?;
        let copy = DocumentCopy { path, lines, starts, manifest };
        if !whole || copy.start(copy.manifest.documents)? != end {
            let what = "it does not hold as many documents as were copied".to_owned();
            return Err(EngineError::Damaged { file: copy.path, what });
        }
        Ok(copy)
    }

    /// Returns the counts of the copy.
    pub fn manifest(&self) -> &CopyManifest {
        &self.manifest
    }

    /// Number of documents.
    pub fn len(&self) -> usize {
        self.manifest.documents as usize
    }

    /// True when there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the offset of a line.
    fn start(&self, document: u64) -> Result<u64, EngineError> {
        let mut start = [0; 8];
        let read = read_at(&self.starts, &mut start, 8 * document);
        read.map_err(|error| EngineError::read(&self.path, error))?;
        Ok(u64::from_le_bytes(start))
    }

    /// Returns the offsets of the beginning and of the end of a line.
    fn bounds(&self, document: u32) -> Result<(u64, u64), EngineError> {
        let (begin, end) = (self.start(document.into())?, self.start(u64::from(document) + 1)?);
        if begin > end {
            let what = "its lines are not where they were".to_owned();
            return Err(EngineError::Damaged { file: self.path.clone(), what });
        }
        Ok((begin, end))
    }

    /// Bytes of a line, which is a little more than its text.
    pub fn bytes_of(&self, document: u32) -> Result<usize, EngineError> {
        self.bounds(document).map(|(begin, end)| (end - begin) as usize)
    }

    /// The document of this number.
    pub fn line(&self, document: u32) -> Result<Line, EngineError> {
        let (begin, end) = self.bounds(document)?;
        let mut bytes = vec![0; (end - begin) as usize];
        let read = read_at(&self.lines, &mut bytes, begin);
        read.map_err(|error| EngineError::read(&self.path, error))?;
        serde_json::from_slice(&bytes)
            .map_err(|error| EngineError::Damaged { file: self.path.clone(), what: error.to_string() })
    }

    /// The copy as a corpus.
    pub fn corpus(&self) -> Result<Corpus, EngineError> {
        // What was read once is no document by a method's word alone, and that is a result.
        let options = ReadOptions { max_rejected: MaxRejected::EVERYTHING, ..ReadOptions::default() };
        Ok(Corpus::open(&[self.path.as_os_str()], options)?)
    }
}

/// Returns a digest of the source and of the way in which it is copied: version, shards, options, fields, selection and content.
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
        corpus.options().deciding(),
    );
    format!("{:032x}", hash::digest(all.as_bytes()))
}

/// A copy that is being made.
pub struct CopyWriter {
    folder: PathBuf,
    lines: BufWriter<File>,
    starts: BufWriter<File>,
    position: u64,
    manifest: CopyManifest,
    line: Vec<u8>,
}

impl CopyWriter {
    /// Begins a copy in `folder`; `source` says what it is made of.
    pub fn create(folder: &Path, source: String) -> Result<Self, EngineError> {
        std::fs::create_dir_all(folder).map_err(|error| EngineError::write(folder, error))?;
        let create = |name: &str| {
            let path = pending(folder, name);
            let file = File::create(&path).map_err(|error| EngineError::write(&path, error))?;
            Ok::<_, EngineError>(BufWriter::with_capacity(1 << 20, file))
        };
        Ok(CopyWriter {
            folder: folder.to_owned(),
            lines: create(LINES)?,
            starts: create(STARTS)?,
            position: 0,
            manifest: CopyManifest { source, ..CopyManifest::default() },
            line: Vec::new(),
        })
    }

    /// Copies a document, of which `n` is the number in its corpus; returns its number in the copy.
    pub fn put(
        &mut self,
        n: u64,
        (name, url): (&str, Option<&str>),
        extras: Vec<Option<String>>,
        text: &str,
    ) -> Result<u64, EngineError> {
        let number = self.manifest.documents;
        let line = Line {
            id: number.to_string(),
            n,
            name: name.to_owned(),
            url: url.map(str::to_owned),
            extras,
            text: text.to_owned(),
        };
        self.line.clear();
        serde_json::to_writer(&mut self.line, &line).map_err(|error| self.failed(LINES, error.into()))?;
        self.line.push(b'\n');
        self.lines.write_all(&self.line).map_err(|error| self.failed(LINES, error))?;
        self.start()?;
        self.position += self.line.len() as u64;
        self.manifest.documents += 1;
        self.manifest.text_bytes += text.len() as u64;
        Ok(number)
    }

    /// Notes where the next line begins.
    fn start(&mut self) -> Result<(), EngineError> {
        let start = self.position.to_le_bytes();
        self.starts.write_all(&start).map_err(|error| self.failed(STARTS, error))
    }

    fn failed(&self, name: &str, error: std::io::Error) -> EngineError {
        EngineError::write(&pending(&self.folder, name), error)
    }

    fn take(
        &mut self,
        found: WalkItem<'_>,
        extras: usize,
        keep: DocumentFilter<'_>,
    ) -> Result<(), EngineError> {
        match found {
            WalkItem::Skipped(_) => Ok(()),
            WalkItem::Rejected(rejection) => {
                self.manifest.found += 1;
                self.manifest.rejected += 1;
                self.manifest.first_rejection.get_or_insert_with(|| rejection.reason.to_string());
                Ok(())
            }
            WalkItem::Document { document, text } => {
                let n = self.manifest.found;
                self.manifest.found += 1;
                if !keep(n, &document, text) {
                    return Ok(());
                }
                let extras = (0..extras).map(|at| document.extras.get(at).map(str::to_owned)).collect();
                self.put(n, (document.id, document.url), extras, text).map(drop)
            }
        }
    }

    /// Ends the copy: from now on it is there.
    pub fn finish(mut self) -> Result<DocumentCopy, EngineError> {
        self.start()?;
        // What a copy holds has no checksums: it is on the disk before anything says that it is there.
        for (name, file) in [(LINES, &mut self.lines), (STARTS, &mut self.starts)] {
            let place = self.folder.join(name);
            let finished = file
                .flush()
                .and_then(|()| file.get_ref().sync_all())
                .and_then(|()| std::fs::rename(pending(&self.folder, name), &place));
            finished.map_err(|error| EngineError::write(&pending(&self.folder, name), error))?;
            journal::note(&place)?;
        }
        sync_folder(&self.folder).map_err(|error| EngineError::write(&self.folder, error))?;
        let manifest = self.folder.join(MANIFEST);
        let text = serde_json::to_vec(&self.manifest)
            .map_err(|error| EngineError::write(&manifest, error.into()))?;
        write_durably(&manifest, &text)?;
        journal::note(&manifest)?;
        DocumentCopy::open(&self.folder, self.manifest)
    }
}

/// Returns the path that a file has until it is complete.
fn pending(folder: &Path, name: &str) -> PathBuf {
    folder.join(name).with_added_extension("part")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn copy(folder: &Path, lines: &str) -> Result<DocumentCopy, EngineError> {
        let corpus = Corpus::in_memory("x.jsonl", lines.as_bytes().into(), ReadOptions::default());
        let all: DocumentFilter<'_> = &mut |_, _, _| true;
        DocumentCopy::open_or_create(
            folder,
            (&corpus, ContentMode::Page),
            &["group"],
            ("all", all),
            &Watch::default(),
        )
    }

    const LINES: &str = "{\"id\":\"a\",\"text\":\"one \\\"two\\\"\",\"group\":\"g\"}\n{\"id\":\"a\"}\n{\"id\":\"a\",\"html\":\"<p>three\"}\n";

    #[test]
    fn documents_are_numbered_and_keep_their_names() {
        let folder = tempfile::tempdir().unwrap();
        for _ in 0..2 {
            let copy = copy(folder.path(), LINES).unwrap();
            assert_eq!((copy.len(), copy.manifest().rejected, copy.manifest().found), (2, 1, 3));
            let line = copy.line(1).unwrap();
            assert_eq!(
                (line.id.as_str(), line.n, line.name.as_str(), line.text.trim()),
                ("1", 2, "a", "three")
            );
            let line = copy.line(0).unwrap();
            assert_eq!((line.text.as_str(), line.extras), ("one \"two\"", vec![Some("g".to_owned())]));
        }
    }

    #[test]
    fn another_corpus_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        copy(folder.path(), LINES).unwrap();
        let error = copy(folder.path(), "{\"id\":\"b\",\"text\":\"x\"}\n").unwrap_err();
        assert!(error.to_string().contains("holds another corpus"), "{error}");
    }

    #[test]
    fn documents_are_chosen_by_number_id_and_address() {
        let folder = tempfile::tempdir().unwrap();
        let lines = "{\"id\":\"a\",\"url\":\"u\",\"text\":\"x\"}\n{\"id\":\"b\",\"text\":\"y\"}\n{\"id\":\"c\",\"text\":\"z\"}\n";
        let corpus = Corpus::in_memory("x.jsonl", lines.as_bytes().into(), ReadOptions::default());
        let mut seen = Vec::new();
        let keep: DocumentFilter<'_> = &mut |n, document, text| {
            seen.push((n, document.id.to_owned(), document.url.map(str::to_owned), text.to_owned()));
            document.url.is_none() && text != "y"
        };
        let place = (&corpus, ContentMode::Page);
        let copy = DocumentCopy::open_or_create(folder.path(), place, &[], ("some", keep), &Watch::default())
            .unwrap();
        assert_eq!((copy.len(), copy.line(0).unwrap().name.as_str()), (1, "c"));
        assert_eq!(seen[0], (0, "a".to_owned(), Some("u".to_owned()), "x".to_owned()));
    }

    #[test]
    fn documents_that_are_not_wanted_are_not_copied() {
        let folder = tempfile::tempdir().unwrap();
        let lines = "{\"id\":\"a\",\"text\":\"one\"}\n{\"id\":\"b\",\"text\":\"two\"}\n{\"id\":\"c\",\"text\":\"three\"}\n";
        let corpus = Corpus::in_memory("x.jsonl", lines.as_bytes().into(), ReadOptions::default());
        let odd: DocumentFilter<'_> = &mut |n, document, text| n != 1 && document.id != "x" && text != "one";
        let from = (&corpus, ContentMode::Page);
        let copy =
            DocumentCopy::open_or_create(folder.path(), from, &[], ("odd", odd), &Watch::default()).unwrap();
        assert_eq!(
            (copy.len(), copy.is_empty(), copy.manifest().found, copy.manifest().text_bytes),
            (1, false, 3, 5)
        );
        let line = copy.line(0).unwrap();
        assert_eq!(
            (line.id.as_str(), line.n, line.name.as_str(), line.text.as_str()),
            ("0", 2, "c", "three")
        );
        assert!(copy.line(1).is_err());
    }

    #[test]
    fn a_writer_numbers_what_it_is_given() {
        let folder = tempfile::tempdir().unwrap();
        let mut writer = CopyWriter::create(&folder.path().join("copy"), "here".to_owned()).unwrap();
        assert_eq!(writer.put(7, ("a", Some("http://x")), vec![None], "text").unwrap(), 0);
        assert_eq!(writer.put(9, ("b", None), vec![], "\"more\"\n").unwrap(), 1);
        assert!(
            DocumentCopy::open_existing(&folder.path().join("copy"), "here").unwrap().is_none(),
            "it is not finished"
        );
        let copy = writer.finish().unwrap();
        assert_eq!(
            (copy.line(0).unwrap().url.as_deref(), copy.line(1).unwrap().text.as_str()),
            (Some("http://x"), "\"more\"\n")
        );
        assert_eq!((copy.line(1).unwrap().n, copy.manifest().text_bytes), (9, 11));
        assert!(DocumentCopy::open_existing(&folder.path().join("copy"), "here").unwrap().is_some());
        assert!(DocumentCopy::open_existing(&folder.path().join("copy"), "there").is_err());
    }

    #[test]
    fn a_copy_is_a_corpus_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let copy = copy(folder.path(), LINES).unwrap();
        let corpus = copy.corpus().unwrap();
        let mut ids = Vec::new();
        let each = |item: WalkItem<'_>| {
            if let WalkItem::Document { document, .. } = item {
                ids.push(document.id.to_owned());
            }
            Ok(())
        };
        walk::documents(&corpus.shards()[0], corpus.options(), ContentMode::Page, &Watch::default(), each)
            .unwrap();
        assert_eq!(ids, ["0", "1"]);
    }

    #[test]
    fn lines_that_are_cut_off_are_damage() {
        let folder = tempfile::tempdir().unwrap();
        copy(folder.path(), LINES).unwrap();
        let path = folder.path().join(super::LINES);
        let whole = std::fs::read(&path).unwrap();
        std::fs::write(&path, &whole[..whole.len() - 1]).unwrap();
        assert!(matches!(copy(folder.path(), LINES), Err(EngineError::Damaged { .. })));
    }
}
