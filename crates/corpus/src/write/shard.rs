//! A shard with fewer records: what is kept is copied byte for byte.
//!
//! ```
//! use std::ops::ControlFlow;
//!
//! use lookalike_corpus::write::shard::{Decide, Fate, copy_shard};
//! use lookalike_corpus::{Corpus, ReadOptions};
//!
//! let folder = tempfile::tempdir()?;
//! let (source, target) = (folder.path().join("in.jsonl"), folder.path().join("out.jsonl"));
//! std::fs::write(&source, "{\"text\":\"a\"}\n{\"text\": \"b\" }\n{\"text\":\"c\"}")?;
//! let corpus = Corpus::open(&[source.display().to_string()], ReadOptions::default())?;
//!
//! let mut first = |record| if record == 0 { Fate::Drop } else { Fate::Keep };
//! let mut progress = |_consumed| ControlFlow::Continue(());
//! let copied =
//!     copy_shard(&corpus.shards()[0], corpus.options(), &target, Decide::Plain(&mut first), &mut progress)?;
//! assert_eq!(copied.map(|copied| (copied.kept, copied.dropped)), Some((2, 1)));
//! assert_eq!(std::fs::read_to_string(&target)?, "{\"text\": \"b\" }\n{\"text\":\"c\"}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod annotate;
mod rejected;
#[cfg(feature = "parquet")]
mod rows;
#[cfg(test)]
mod tests;

use std::fs::{self, File};
use std::io::Read;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use super::sink::Sink;
use crate::{Compression, CorpusError, Format, Item, Origin, ReadOptions, Reader, Shard};
#[cfg(feature = "parquet")]
pub(super) use annotate::{CLUSTER, COPIES};
pub use rejected::{RejectedCounts, copy_rejected};

/// The decision about a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It is copied.
    Keep,
    /// It is left out.
    Drop,
}

/// The note written into a kept record: the cluster that it stands for, and the number of documents in that cluster. A
/// document without near-duplicates is a cluster of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Note {
    /// The cluster, named by the ordinal of its keeper.
    pub cluster: u64,
    /// Number of documents in the cluster, the keeper included.
    pub copies: u64,
}

/// The function that decides. Either one is called once for each document, in order, with its
/// [record number](lookalike_model::RecordPosition); records that cannot be read or are no documents need no decision.
pub enum Decide<'d> {
    /// Kept records are copied as they stand.
    Plain(&'d mut dyn FnMut(u64) -> Fate),
    /// Kept records are those with a note, which is written into them.
    Annotated(&'d mut dyn FnMut(u64) -> Option<Note>),
}

/// The action taken on one document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Drop,
    Keep,
    Annotate(Note),
}

impl Decide<'_> {
    fn verdict(&mut self, record: u64) -> Verdict {
        match self {
            Decide::Plain(decide) => match decide(record) {
                Fate::Keep => Verdict::Keep,
                Fate::Drop => Verdict::Drop,
            },
            Decide::Annotated(decide) => decide(record).map_or(Verdict::Drop, Verdict::Annotate),
        }
    }

    fn annotates(&self) -> bool {
        matches!(self, Decide::Annotated(_))
    }
}

/// A function called before every record with the bytes of the source read so far; it tells whether the work goes on.
pub type Progress<'p> = dyn FnMut(u64) -> ControlFlow<()> + 'p;

/// Counts of the documents and records that a copy holds, and of those left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CopyCounts {
    /// Documents that were copied.
    pub kept: u64,
    /// Documents that were left out.
    pub dropped: u64,
    /// Records that could not be read, and were left out.
    pub rejected: u64,
    /// Records that are no documents, such as `warcinfo`, and were copied.
    pub skipped: u64,
    /// [Digest](Reader::digest) of what was read.
    pub source: Option<u64>,
}

impl CopyCounts {
    fn count(&mut self, verdict: Verdict) {
        match verdict {
            Verdict::Drop => self.dropped += 1,
            Verdict::Keep | Verdict::Annotate(_) => self.kept += 1,
        }
    }
}

/// True for formats whose records can be copied one by one.
///
/// | format | copied as |
/// |---|---|
/// | JSON lines, lists, CSV, TSV | lines, the latter two behind their header |
/// | WARC (and WET), ARC | records, each a member of its own where they are compressed with gzip or zstd |
/// | TREC, mbox | everything from `<DOC>` or `From ` to the next one |
/// | Parquet | rows of equal values under the same schema |
/// | texts, HTML pages, single messages | the file as it is, if its document is kept |
/// | MediaWiki | not: a dump's pages stand inside one document, and a revision without its page is nothing |
///
/// The documents of the others are best written as JSON lines, see [`JsonlWriter`](super::JsonlWriter).
pub fn can_copy(format: Format) -> bool {
    !matches!(format, Format::MediaWiki | Format::Table)
}

/// True for formats in which the file is the document.
fn is_one_document(format: Format) -> bool {
    matches!(format, Format::Email | Format::Html | Format::Text)
}

/// True for formats whose records have a place for a [`Note`].
///
/// | format | cluster and copies |
/// |---|---|
/// | JSON lines | `"lookalike_cluster":3,"lookalike_copies":2` at the end of the object |
/// | CSV, TSV | columns `lookalike_cluster` and `lookalike_copies`, the last two |
/// | Parquet | the same, as unsigned numbers that may be null, also in the Arrow schema that some writers add |
/// | WARC (and WET) | the last two fields of the header, `Lookalike-Cluster` and `Lookalike-Copies` |
pub fn can_annotate(format: Format) -> bool {
    matches!(format, Format::Jsonl | Format::Csv | Format::Tsv | Format::Parquet | Format::Warc)
}

/// Copies a shard without the documents that are to be dropped.
///
/// Kept records are copied byte for byte, behind what stands before the first (the header of a table, a byte order
/// mark), and so are records that are no documents. Records that cannot be read are left out; [`copy_rejected`] copies
/// those. A file that is one document is copied as it is, or not at all. The copy is compressed
/// as the source is and appears at `target`, in a folder that must be there, when it is whole. A file of which
/// nothing is dropped, rejected or annotated is copied as it is, whatever it holds between its records.
///
/// A record that says a wrong length of itself keeps it. If it says too much, and all that followed it in an
/// uncompressed WARC or ARC file is dropped, the copy ends before the record should, and a reader will complain.
///
/// `progress` is asked before every record; when it breaks, the answer is `None` and nothing is left of the copy.
///
/// Fails for [formats that cannot be copied](can_copy), for notes in [formats without a place for
/// them](can_annotate) or in records that have one already, and for standard input, which cannot be read twice.
pub fn copy_shard(
    shard: &Shard,
    options: &Arc<ReadOptions>,
    target: &Path,
    decide: Decide<'_>,
    progress: &mut Progress<'_>,
) -> Result<Option<CopyCounts>, CorpusError> {
    if shard.origin == Origin::Stdin {
        return Err(CorpusError::ReadOnce { name: shard.name.clone() });
    }
    let reader = shard.open(options)?;
    let format = reader.format();
    if !can_copy(format) {
        return Err(CorpusError::NotCopied { name: shard.name.clone(), format });
    }
    if decide.annotates() && !can_annotate(format) {
        return Err(CorpusError::NotAnnotated { name: shard.name.clone(), format });
    }
    let annotated = decide.annotates();
    let copied = match format {
        Format::Parquet => copy_parquet(shard, options, reader, target, decide, progress)?,
        _ if is_one_document(format) => copy_one(shard, reader, target, decide, progress)?,
        _ => copy_records(shard, reader, target, decide, progress)?,
    };
    let Some(FinishedCopy { copied, exact }) = copied else { return Ok(None) };
    let untouched = !annotated && copied.dropped == 0 && copied.rejected == 0;
    if let Origin::File(source) = &shard.origin
        && untouched
        && !exact
        && is_replaceable(target)
    {
        copy_file(source, target)?;
    }
    Ok(Some(copied))
}

/// A copy that is done.
struct FinishedCopy {
    copied: CopyCounts,
    /// True when it is known to have the bytes of the source, if nothing was left out.
    exact: bool,
}

fn copy_records(
    shard: &Shard,
    mut reader: Reader,
    target: &Path,
    mut decide: Decide<'_>,
    progress: &mut Progress<'_>,
) -> Result<Option<FinishedCopy>, CorpusError> {
    let mut records = RecordWriter::begin(&shard.name, &reader, target)?;
    records.preamble(reader.preamble(), decide.annotates())?;
    let mut copied = CopyCounts::default();
    loop {
        if progress(reader.consumed()).is_break() {
            return Ok(None);
        }
        match reader.next()? {
            None => break,
            Some(Item::Rejected(_)) => copied.rejected += 1,
            Some(Item::Skipped(skip)) => {
                copied.skipped += 1;
                skip.raw.map_or(Ok(()), |raw| records.copy(raw))?;
            }
            Some(Item::Document(document)) => {
                let raw = document.raw.unwrap_or_default();
                let verdict = decide.verdict(document.place.record);
                copied.count(verdict);
                match verdict {
                    Verdict::Drop => {}
                    Verdict::Keep => records.copy(raw)?,
                    Verdict::Annotate(note) => records.annotate(raw, note)?,
                }
            }
        }
    }
    let exact =
        shard.bytes == Some(records.written) && !records.glued && reader.compression() == Compression::None;
    copied.source = reader.digest();
    records.sink.finish()?;
    Ok(Some(FinishedCopy { copied, exact }))
}

/// Copies a file that is one document, if that is kept.
fn copy_one(
    shard: &Shard,
    mut reader: Reader,
    target: &Path,
    mut decide: Decide<'_>,
    progress: &mut Progress<'_>,
) -> Result<Option<FinishedCopy>, CorpusError> {
    let mut copied = CopyCounts::default();
    if progress(reader.consumed()).is_break() {
        return Ok(None);
    }
    match reader.next()? {
        Some(Item::Document(document)) => copied.count(decide.verdict(document.place.record)),
        Some(Item::Rejected(_)) => copied.rejected += 1,
        Some(Item::Skipped(_)) | None => {}
    }
    // The digest is there once the end was met.
    while reader.next()?.is_some() {}
    copied.source = reader.digest();
    if copied.kept > 0 {
        copy_stored(shard, target)?;
    }
    Ok(Some(FinishedCopy { copied, exact: true }))
}

#[cfg(feature = "parquet")]
fn copy_parquet(
    shard: &Shard,
    options: &ReadOptions,
    reader: Reader,
    target: &Path,
    decide: Decide<'_>,
    progress: &mut Progress<'_>,
) -> Result<Option<FinishedCopy>, CorpusError> {
    let copied = rows::copy(shard, options, reader, target, decide, progress)?;
    Ok(copied.map(|copied| FinishedCopy { copied, exact: false }))
}

#[cfg(not(feature = "parquet"))]
fn copy_parquet(
    shard: &Shard,
    _: &ReadOptions,
    _: Reader,
    _: &Path,
    _: Decide<'_>,
    _: &mut Progress<'_>,
) -> Result<Option<FinishedCopy>, CorpusError> {
    Err(CorpusError::NotBuilt { name: shard.name.clone(), feature: "parquet" })
}

/// Writes the records of a copy into a file.
struct RecordWriter<'s> {
    shard: &'s str,
    sink: Sink,
    format: Format,
    last: LastWritten,
    /// Bytes written, before compression.
    written: u64,
    /// True when something was put between records that was not there.
    glued: bool,
    /// Holds a record with its note.
    buffer: Vec<u8>,
}

/// The item that was written last.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LastWritten {
    Nothing,
    /// A record with the line end that separates it from the next.
    Closed,
    /// A record without it, as the last of a shard may be.
    Open,
}

impl LastWritten {
    /// Returns the state after `raw` has been written.
    fn after(raw: &[u8]) -> Self {
        if raw.ends_with(b"\n") || raw.ends_with(b"\r") { LastWritten::Closed } else { LastWritten::Open }
    }
}

impl<'s> RecordWriter<'s> {
    fn begin(shard: &'s str, reader: &Reader, target: &Path) -> Result<Self, CorpusError> {
        let sink = Sink::create(target, reader.compression())?;
        let (format, buffer) = (reader.format(), Vec::new());
        Ok(RecordWriter { shard, sink, format, last: LastWritten::Nothing, written: 0, glued: false, buffer })
    }

    fn preamble(&mut self, preamble: &[u8], annotated: bool) -> Result<(), CorpusError> {
        if !annotated || preamble.is_empty() {
            return self.write(preamble);
        }
        self.buffer.clear();
        let annotated = annotate::preamble(self.format, preamble, &mut self.buffer);
        self.write_buffer(annotated)
    }

    fn copy(&mut self, raw: &[u8]) -> Result<(), CorpusError> {
        self.begin_record(raw)?;
        self.write(raw)
    }

    fn annotate(&mut self, raw: &[u8], note: Note) -> Result<(), CorpusError> {
        self.begin_record(raw)?;
        self.buffer.clear();
        let annotated = annotate::record(self.format, raw, note, &mut self.buffer);
        self.write_buffer(annotated)
    }

    /// Ends the record before `raw`, where it has no end of its own, and its member.
    fn begin_record(&mut self, raw: &[u8]) -> Result<(), CorpusError> {
        let last = std::mem::replace(&mut self.last, LastWritten::after(raw));
        // Tags need no line end between them.
        if last == LastWritten::Open && self.format != Format::Trec {
            self.glued = true;
            self.write(if self.format == Format::Warc { b"\r\n\r\n" } else { b"\n" })?;
        }
        let crawl = matches!(self.format, Format::Warc | Format::Arc);
        if crawl && last != LastWritten::Nothing { self.sink.next_member() } else { Ok(()) }
    }

    /// Writes a further piece of the record that was written last.
    fn continue_record(&mut self, piece: &[u8]) -> Result<(), CorpusError> {
        self.last = LastWritten::after(piece);
        self.write(piece)
    }

    fn write_buffer(&mut self, annotated: Result<(), &'static str>) -> Result<(), CorpusError> {
        annotated.map_err(|field| CorpusError::Annotated { name: self.shard.to_owned(), field })?;
        let buffer = std::mem::take(&mut self.buffer);
        let written = self.write(&buffer);
        self.buffer = buffer;
        written
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), CorpusError> {
        self.written += bytes.len() as u64;
        self.sink.write_record(bytes)
    }
}

/// False for a pipe or a device, which has taken what was written once and for all.
fn is_replaceable(target: &Path) -> bool {
    fs::metadata(target).map_or(true, |found| found.is_file())
}

/// Copies a file as it is.
fn copy_file(source: &Path, target: &Path) -> Result<(), CorpusError> {
    write_file(source, Sink::create(target, Compression::None)?)
}

/// Copies the bytes of a shard as they are stored.
fn copy_stored(shard: &Shard, target: &Path) -> Result<(), CorpusError> {
    let source = shard.as_stored()?;
    write_all(&shard.name, source, Sink::create(target, Compression::None)?)
}

/// Writes all of a file.
fn write_file(source: &Path, sink: Sink) -> Result<(), CorpusError> {
    let name = source.display().to_string();
    let file = File::open(source).map_err(CorpusError::reading(&name))?;
    write_all(&name, file, sink)
}

/// Writes all that `source` gives, and ends the file.
fn write_all(name: &str, mut source: impl Read, mut sink: Sink) -> Result<(), CorpusError> {
    let mut buffer = vec![0; 128 << 10];
    loop {
        match source.read(&mut buffer) {
            Ok(0) => return sink.finish(),
            Ok(length) => sink.write_record(&buffer[..length])?,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(CorpusError::reading(name)(error)),
        }
    }
}
