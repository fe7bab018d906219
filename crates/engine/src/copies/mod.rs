//! Copies of shards in a folder, without some of their documents.
//!
//! - `journal`: the list of copies that are done

mod journal;

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use lookalike_corpus::write::JsonlWriter;
use lookalike_corpus::write::shard::{CopyCounts, Decide, Fate, Note, can_copy, copy_shard};
use lookalike_corpus::{Compression, CorpusError, Format, Item, ReadOptions, Shard};
use lookalike_text::extract::{ContentMode, Extractor};

use self::journal::CopyJournal;
use crate::error::EngineError;
use crate::walk::Watch;

/// The name that standard input has among shards.
pub(crate) const STDIN: &str = "stdin";

/// Chooses the documents of a shard that stay; called in their order.
pub(crate) trait RecordFilter {
    /// True when the document with this record number stays.
    fn keeps(&self, record: u64) -> bool;

    /// Counts those of so many documents that stay.
    fn count_kept(&self, documents: u64) -> u64;

    /// Returns the note that is written into a document that stays, where copies are annotated.
    fn note(&mut self, record: u64) -> Result<Note, EngineError>;
}

/// A shard that is copied.
pub(crate) struct Source<'c> {
    pub(crate) shard: &'c Shard,
    pub(crate) format: Option<Format>,
    /// Its place among all that are copied.
    pub(crate) place: usize,
    /// Counts from the reading stage: records, those that could not be read, and a digest of its bytes.
    pub(crate) records: u64,
    pub(crate) rejected: u64,
    pub(crate) digest: Option<u64>,
}

impl Source<'_> {
    /// True when its records can be copied one by one.
    fn is_copied(&self) -> bool {
        self.shard.name != STDIN && self.format.is_some_and(can_copy)
    }

    /// Compares what was read now with what was found before, and with what should stay of it.
    fn check(&self, staying: u64, copied: &CopyCounts) -> Result<(), EngineError> {
        let found = copied.kept + copied.dropped + copied.rejected;
        let same = copied.source.is_none() || self.digest.is_none() || copied.source == self.digest;
        let what = match () {
            () if !same => "its bytes are not those that were read before".to_owned(),
            () if found != self.records => format!("it had {} records and has {found}", self.records),
            () if copied.kept != staying => {
                format!("{staying} of its documents were chosen, and {} were found", copied.kept)
            }
            () => return Ok(self.shard.check()?),
        };
        Err(CorpusError::Changed { name: self.shard.name.clone(), what }.into())
    }
}

/// True behind a name that another one begins with, if both are one or the first is a folder of the other.
fn ends_or_goes_on(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with('/')
}

/// The folder of the copies, and the settings by which they are written.
///
/// Copies are made for what a job keeps or removes, and for what a list leaves ([`crate::patch`]: found in one pass,
/// copied in a second one). The digest of the bytes and the counts of the records that were read for a copy are compared
/// with those of the first reading; a journal says which copies are done.
pub(crate) struct Copies<'c> {
    /// The folder, which is there.
    pub(crate) root: &'c Path,
    /// The file that says which copies are done, and what its lines bear.
    pub(crate) journal: &'c Path,
    pub(crate) stamp: u128,
    /// The name of the file that holds the documents of shards whose records cannot be copied.
    pub(crate) name: &'c str,
    pub(crate) options: &'c Arc<ReadOptions>,
    pub(crate) content: ContentMode,
    pub(crate) annotate: bool,
    pub(crate) threads: usize,
    pub(crate) watch: &'c Watch,
}

impl Copies<'_> {
    /// Writes the copies that are not done yet: a copy appears when it is whole, and is done when the journal says so.
    pub(crate) fn write<C: RecordFilter>(
        &self,
        sources: Vec<Source<'_>>,
        filter: impl Fn(&Source<'_>) -> Result<C, EngineError> + Sync,
    ) -> Result<(), EngineError> {
        let journal = CopyJournal::open(self.journal, self.stamp)?;
        let (whole, loose): (Vec<_>, Vec<_>) = sources.into_iter().partition(Source::is_copied);
        let next = AtomicUsize::new(0);
        let failure: Mutex<Option<EngineError>> = Mutex::new(None);
        let worker = || {
            while let Some(source) = whole.get(next.fetch_add(1, Ordering::Relaxed)) {
                if let Err(error) = self.copy(source, &filter, &journal) {
                    failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                    return;
                }
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..self.threads.min(whole.len()) {
                scope.spawn(worker);
            }
            worker();
        });
        if let Some(error) = failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
            return Err(error);
        }
        if !loose.is_empty() {
            let name = self.free_name(&whole);
            if !journal.has(self.root, &name)? {
                self.gather(&loose, &self.root.join(&name), &filter)?;
                journal.add(self.root, &name)?;
            }
        }
        journal.check_apart(self.root)
    }

    /// A name for the file of gathered documents that no copied shard bears.
    fn free_name(&self, copied: &[Source<'_>]) -> String {
        let name = self.name;
        let taken = |name: &String| {
            let meets = |other: &str| other.strip_prefix(name.as_str()).is_some_and(ends_or_goes_on);
            copied.iter().any(|source| meets(&source.shard.name))
        };
        let more = (1..).map(|number| format!("{name}-{number}.jsonl.zst"));
        std::iter::once(format!("{name}.jsonl.zst")).chain(more).find(|name| !taken(name)).unwrap_or_default()
    }

    fn copy<C: RecordFilter>(
        &self,
        source: &Source<'_>,
        filter: &impl Fn(&Source<'_>) -> Result<C, EngineError>,
        journal: &CopyJournal,
    ) -> Result<(), EngineError> {
        let target = self.root.join(&source.shard.name);
        if journal.has(self.root, &source.shard.name)? {
            return Ok(());
        }
        let parent = target.parent().unwrap_or(self.root);
        std::fs::create_dir_all(parent).map_err(|error| EngineError::write(parent, error))?;
        let mut seen = 0;
        let mut progress = |consumed: u64| {
            self.watch.bytes.fetch_add(consumed.saturating_sub(seen), Ordering::Relaxed);
            seen = consumed;
            if self.watch.stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let mut filter = filter(source)?;
        let staying = filter.count_kept(source.records - source.rejected);
        let mut trouble = None;
        let done = if self.annotate {
            let mut noted = |record| match filter.keeps(record).then(|| filter.note(record))? {
                Ok(note) => Some(note),
                Err(error) => {
                    trouble.get_or_insert(error);
                    None
                }
            };
            copy_shard(source.shard, self.options, &target, Decide::Annotated(&mut noted), &mut progress)
        } else {
            let mut plain = |record| if filter.keeps(record) { Fate::Keep } else { Fate::Drop };
            copy_shard(source.shard, self.options, &target, Decide::Plain(&mut plain), &mut progress)
        };
        let Some(copied) = done? else { return Err(EngineError::Stopped) };
        // Without its notes the copy is not what was asked for, nor is one of something else.
        if let Err(error) = trouble.map_or_else(|| source.check(staying, &copied), Err) {
            let _ = std::fs::remove_file(&target);
            return Err(error);
        }
        journal.add(self.root, &source.shard.name)
    }

    /// Puts the documents of shards that cannot be copied record by record into one file.
    fn gather<C: RecordFilter>(
        &self,
        sources: &[Source<'_>],
        target: &Path,
        filter: &impl Fn(&Source<'_>) -> Result<C, EngineError>,
    ) -> Result<(), EngineError> {
        let mut writer = JsonlWriter::create(target, Compression::Zstd)?;
        let mut extractor = Extractor::default();
        for source in sources {
            let filter = filter(source)?;
            let mut reader = source.shard.open(self.options)?;
            let lines = reader.format() == Format::Jsonl;
            let mut copied = CopyCounts::default();
            while let Some(item) = reader.next()? {
                if self.watch.stopped() {
                    return Err(EngineError::Stopped);
                }
                copied.rejected += u64::from(matches!(item, Item::Rejected(_)));
                let Item::Document(document) = item else { continue };
                if !filter.keeps(document.place.record) {
                    copied.dropped += 1;
                    continue;
                }
                copied.kept += 1;
                match document.raw.filter(|_| lines) {
                    Some(raw) => writer.copy(raw)?,
                    None => {
                        let text = extractor.extract(&document, self.content).text;
                        writer.document(document.id, document.url, text)?;
                    }
                }
            }
            copied.source = reader.digest();
            source.check(filter.count_kept(source.records - source.rejected), &copied)?;
        }
        Ok(writer.finish()?)
    }
}
