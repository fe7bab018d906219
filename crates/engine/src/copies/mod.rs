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

#[cfg(test)]
mod tests {
    use super::*;
    use lookalike_corpus::Corpus;

    /// Keeps some records, and says how many there should be.
    struct Chosen {
        kept: Vec<u64>,
        said: u64,
        noted: bool,
    }

    impl RecordFilter for Chosen {
        fn keeps(&self, record: u64) -> bool {
            self.kept.contains(&record)
        }

        fn count_kept(&self, _: u64) -> u64 {
            self.said
        }

        fn note(&mut self, record: u64) -> Result<Note, EngineError> {
            match self.noted {
                true => Ok(Note { cluster: record, copies: 1 }),
                false => Err(EngineError::Request("there is no note".to_owned())),
            }
        }
    }

    /// Two documents, and between them a record that is none.
    const LINES: [&str; 3] = ["{\"id\":\"a\",\"text\":\"1\"}\n", "{}\n", "{\"id\":\"b\",\"text\":\"2\"}\n"];

    /// A folder for copies, and a corpus of one shard.
    struct CopyTest {
        folder: tempfile::TempDir,
        corpus: Corpus,
        watch: Watch,
    }

    impl CopyTest {
        fn new(name: &str) -> Self {
            let corpus = Corpus::in_memory(name, LINES.concat().into_bytes().into(), ReadOptions::default());
            let folder = tempfile::tempdir().unwrap();
            std::fs::create_dir(folder.path().join("out")).unwrap();
            CopyTest { folder, corpus, watch: Watch::default() }
        }

        fn source(&self) -> Source<'_> {
            let shard = &self.corpus.shards()[0];
            Source { shard, format: Some(Format::Jsonl), place: 0, records: 3, rejected: 1, digest: None }
        }

        fn target(&self, name: &str) -> std::path::PathBuf {
            self.folder.path().join("out").join(name)
        }

        fn with<T>(&self, annotate: bool, work: impl FnOnce(&Copies<'_>) -> T) -> T {
            work(&Copies {
                root: &self.folder.path().join("out"),
                journal: &self.folder.path().join("journal"),
                stamp: 1,
                name: "kept",
                options: self.corpus.options(),
                content: ContentMode::Page,
                annotate,
                threads: 2,
                watch: &self.watch,
            })
        }

        fn write(&self, kept: &[u64], said: u64) -> Result<(), EngineError> {
            let chosen = |_: &Source<'_>| Ok(Chosen { kept: kept.to_vec(), said, noted: true });
            self.with(false, |copies| copies.write(vec![self.source()], chosen))
        }
    }

    #[test]
    fn chosen_records_are_copied_as_they_stand() {
        for (kept, expected) in [(vec![0], LINES[0].to_owned()), (vec![0, 2], [LINES[0], LINES[2]].concat())]
        {
            let test = CopyTest::new("deep/a.jsonl");
            test.write(&kept, kept.len() as u64).unwrap();
            assert_eq!(std::fs::read_to_string(test.target("deep/a.jsonl")).unwrap(), expected);
        }
    }

    #[test]
    fn a_copy_that_is_done_is_not_made_again() {
        let test = CopyTest::new("a.jsonl");
        test.write(&[0], 1).unwrap();
        let nobody = |_: &Source<'_>| -> Result<Chosen, EngineError> { panic!("it was done") };
        test.with(false, |copies| copies.write(vec![test.source()], nobody)).unwrap();
        std::fs::write(test.target("a.jsonl"), "changed").unwrap();
        test.write(&[2], 1).unwrap();
        assert_eq!(std::fs::read_to_string(test.target("a.jsonl")).unwrap(), LINES[2]);
    }

    #[test]
    fn a_copy_with_other_documents_than_were_chosen_does_not_stay() {
        let test = CopyTest::new("a.jsonl");
        let error = test.write(&[0], 2).unwrap_err().to_string();
        assert!(error.contains("2 of its documents were chosen, and 1 were found"), "{error}");
        assert!(!test.target("a.jsonl").exists());
    }

    #[test]
    fn a_copy_without_its_notes_does_not_stay() {
        let test = CopyTest::new("a.jsonl");
        let chosen = |_: &Source<'_>| Ok(Chosen { kept: vec![0], said: 1, noted: false });
        let error =
            test.with(true, |copies| copies.write(vec![test.source()], chosen)).unwrap_err().to_string();
        assert_eq!(error, "there is no note");
        assert!(!test.target("a.jsonl").exists());
    }

    #[test]
    fn what_came_by_standard_input_is_gathered_in_one_file() {
        let test = CopyTest::new(STDIN);
        test.write(&[0, 2], 2).unwrap();
        assert!(!test.target(STDIN).exists());
        let copy = Corpus::open(&[test.target("kept.jsonl.zst")], ReadOptions::default()).unwrap();
        let mut reader = copy.shards()[0].open(copy.options()).unwrap();
        let mut ids = Vec::new();
        while let Some(item) = reader.next().unwrap() {
            let Item::Document(document) = item else { panic!("a copy has documents alone") };
            ids.push(document.id.to_owned());
        }
        assert_eq!(ids, ["a", "b"]);
    }

    #[test]
    fn gathered_documents_must_be_as_many_as_were_chosen() {
        let test = CopyTest::new(STDIN);
        assert!(test.write(&[0], 2).is_err());
        assert!(!test.target("kept.jsonl.zst").exists());
    }

    #[test]
    fn a_stop_is_heard_while_documents_are_gathered() {
        let test = CopyTest::new(STDIN);
        test.watch.stop.store(true, Ordering::Relaxed);
        assert!(matches!(test.write(&[0], 1), Err(EngineError::Stopped)));
    }

    #[test]
    fn gathered_documents_take_no_name_of_a_copy() {
        for (name, expected) in [
            ("a.jsonl", "kept.jsonl.zst"),
            ("kept.jsonl.zst", "kept-1.jsonl.zst"),
            ("kept.jsonl.zst/a", "kept-1.jsonl.zst"),
            ("kept.jsonl.zst2", "kept.jsonl.zst"),
            ("kept-1.jsonl.zst", "kept.jsonl.zst"),
        ] {
            let test = CopyTest::new(name);
            assert_eq!(test.with(false, |copies| copies.free_name(&[test.source()])), expected, "{name}");
        }
    }

    #[test]
    fn a_source_must_be_what_was_read_before() {
        let test = CopyTest::new("a.jsonl");
        let source = Source { digest: Some(7), ..test.source() };
        let counts = CopyCounts { kept: 1, dropped: 1, rejected: 1, skipped: 4, source: Some(7) };
        assert!(source.check(1, &counts).is_ok());
        assert!(source.check(1, &CopyCounts { source: None, ..counts }).is_ok());
        for (counts, expected) in [
            (CopyCounts { source: Some(8), ..counts }, "its bytes are not those that were read before"),
            (CopyCounts { dropped: 0, ..counts }, "it had 3 records and has 2"),
            (
                CopyCounts { kept: 0, dropped: 2, ..counts },
                "1 of its documents were chosen, and 0 were found",
            ),
        ] {
            let error = source.check(1, &counts).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn formats_without_records_that_stand_alone_are_not_copied() {
        let test = CopyTest::new("a.jsonl");
        assert!(test.source().is_copied());
        assert!(!Source { format: None, ..test.source() }.is_copied());
        assert!(!Source { format: Some(Format::Table), ..test.source() }.is_copied());
        assert!(!CopyTest::new(STDIN).source().is_copied());
    }
}
