//! Every document of a corpus, as text, on any number of threads.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use lookalike_corpus::{Corpus, CorpusError, Format, Item, ReadOptions, Shard};
use lookalike_model::{Document, Rejection, Skip};
use lookalike_store::sync::SyncError;
use lookalike_text::extract::{ContentMode, Extractor};

/// The state that a long piece of work shares with its observers.
#[derive(Debug, Default)]
pub struct Watch {
    /// Set from outside: the work ends at the next document.
    pub stop: AtomicBool,
    /// Bytes read so far, before decompression.
    pub bytes: AtomicU64,
    /// Documents found so far.
    pub documents: AtomicU64,
    /// Steps of the stage that is under way, in its own unit.
    pub steps: AtomicU64,
    /// The run that is under way, from 1, and how many there are, in work that has several.
    runs: [AtomicU64; 2],
    /// The stage that is under way, in work that has several, and when it began.
    stage: Mutex<Option<(Stage, Instant)>>,
}

/// One stage of a long piece of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stage {
    /// The name of the work, in a word.
    pub name: &'static str,
    /// The number of its steps, where known; input bytes when `reads` is set.
    pub total: Option<u64>,
    /// The stage reads the input: `bytes` and `documents` tell how far it is.
    pub reads: bool,
}

impl Watch {
    /// True once the work was asked to end.
    pub fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// The stage that is under way, and for how long it has been.
    pub fn stage(&self) -> Option<(Stage, Duration)> {
        let stage = *self.stage.lock().unwrap_or_else(PoisonError::into_inner);
        stage.map(|(stage, begun)| (stage, begun.elapsed()))
    }

    /// The run that is under way, and how many there are; nothing in work that has one.
    pub fn run(&self) -> Option<(u64, u64)> {
        let [at, all] = [0, 1].map(|part: usize| self.runs[part].load(Ordering::Relaxed));
        (all > 0).then_some((at, all))
    }

    /// Says which run of how many begins; 0 of 0 when there are no more.
    pub fn run_of(&self, at: u64, all: u64) {
        self.runs[0].store(at, Ordering::Relaxed);
        self.runs[1].store(all, Ordering::Relaxed);
    }

    /// Begins a stage.
    pub fn begin(&self, stage: Stage) {
        self.steps.store(0, Ordering::Relaxed);
        self.bytes.store(0, Ordering::Relaxed);
        self.documents.store(0, Ordering::Relaxed);
        *self.stage.lock().unwrap_or_else(PoisonError::into_inner) = Some((stage, Instant::now()));
    }

    /// Fails once the work was asked to end.
    pub fn check(&self) -> Result<(), WalkError> {
        if self.stop.load(Ordering::Relaxed) { Err(WalkError::Stopped) } else { Ok(()) }
    }
}

/// The reason why a walk through a corpus ended early.
#[derive(Debug)]
pub enum WalkError {
    /// The corpus could not be read, or what was made of it not written.
    Corpus(CorpusError),
    /// It was asked to stop.
    Stopped,
}

impl std::fmt::Display for WalkError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            WalkError::Corpus(error) => error.fmt(f),
            WalkError::Stopped => f.write_str("interrupted"),
        }
    }
}

impl std::error::Error for WalkError {}

impl From<CorpusError> for WalkError {
    fn from(error: CorpusError) -> Self {
        WalkError::Corpus(error)
    }
}

impl From<SyncError> for WalkError {
    fn from(error: SyncError) -> Self {
        WalkError::Corpus(CorpusError::Write { name: error.file.display().to_string(), source: error.source })
    }
}

/// One thing met on the way.
#[derive(Debug)]
pub enum WalkItem<'a> {
    /// A document and its text.
    Document {
        /// The document as found.
        document: Document<'a>,
        /// Its text.
        text: &'a str,
    },
    /// A record that could not be read.
    Rejected(Rejection),
    /// A record that is no document.
    Skipped(Skip<'a>),
}

/// Hands everything in `shard` to `each`, documents with their text, and returns the format it was in.
pub fn documents(
    shard: &Shard,
    options: &Arc<ReadOptions>,
    content: ContentMode,
    watch: &Watch,
    mut each: impl FnMut(WalkItem<'_>) -> Result<(), WalkError>,
) -> Result<Format, WalkError> {
    documents_while(shard, options, content, watch, |found| each(found).map(|()| true))
}

/// Like [`documents`], until `each` returns false.
pub fn documents_while(
    shard: &Shard,
    options: &Arc<ReadOptions>,
    content: ContentMode,
    watch: &Watch,
    mut each: impl FnMut(WalkItem<'_>) -> Result<bool, WalkError>,
) -> Result<Format, WalkError> {
    let mut reader = shard.open(options)?;
    let mut extractor = Extractor::default();
    let mut seen = 0;
    loop {
        watch.check()?;
        let item = reader.next()?;
        let counts = matches!(item, Some(Item::Document(_) | Item::Rejected(_)));
        let go_on = match item {
            None => false,
            Some(Item::Rejected(rejection)) => each(WalkItem::Rejected(rejection))?,
            Some(Item::Skipped(skip)) => each(WalkItem::Skipped(skip))?,
            Some(Item::Document(document)) => {
                let text = extractor.extract(&document, content).text;
                each(WalkItem::Document { document, text })?
            }
        };
        watch.documents.fetch_add(counts.into(), Ordering::Relaxed);
        let consumed = reader.consumed();
        watch.bytes.fetch_add(consumed - seen, Ordering::Relaxed);
        seen = consumed;
        if !go_on {
            return Ok(reader.format());
        }
    }
}

/// Does `work` for every shard on up to `threads` threads and returns what came out, in the order of the shards.
///
/// The result does not depend on the number of threads; of several failures the one of the earliest shard is
/// returned.
pub fn shards<T: Send>(
    corpus: &Corpus,
    threads: usize,
    work: impl Fn(&Shard) -> Result<T, WalkError> + Sync,
) -> Result<Vec<T>, WalkError> {
    let next = AtomicUsize::new(0);
    let failed = AtomicUsize::new(usize::MAX);
    let slots: Vec<Mutex<Option<Result<T, WalkError>>>> =
        corpus.shards().iter().map(|_| Mutex::new(None)).collect();
    let worker = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            // Shards behind a failure need no work; those before it still may fail first.
            if index >= slots.len() || index > failed.load(Ordering::Relaxed) {
                return;
            }
            let result = work(&corpus.shards()[index]);
            if result.is_err() {
                failed.fetch_min(index, Ordering::Relaxed);
            }
            *slots[index].lock().expect("no worker panics while it holds a slot") = Some(result);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads.min(slots.len()) {
            scope.spawn(worker);
        }
        worker();
    });
    let finished = slots.into_iter().map(|slot| slot.into_inner().expect("no worker panicked"));
    finished.map_while(|slot| slot).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use lookalike_corpus::ReadOptions;

    fn corpus(shards: usize) -> (tempfile::TempDir, Corpus) {
        let folder = tempfile::tempdir().unwrap();
        for index in 0..shards {
            std::fs::write(folder.path().join(format!("{index:03}.txt")), index.to_string()).unwrap();
        }
        let corpus = Corpus::open(&[folder.path().display().to_string()], ReadOptions::default()).unwrap();
        (folder, corpus)
    }

    #[test]
    fn results_come_in_the_order_of_the_shards() {
        let (_folder, corpus) = corpus(40);
        let names: Vec<String> = corpus.shards().iter().map(|shard| shard.name.clone()).collect();
        for threads in [1, 2, 7, 100] {
            let found = shards(&corpus, threads, |shard| Ok(shard.name.clone())).unwrap();
            assert_eq!(found, names);
        }
    }

    #[test]
    fn the_earliest_failure_is_the_one_told() {
        let (_folder, corpus) = corpus(40);
        for threads in [1, 4] {
            let error = shards(&corpus, threads, |shard| {
                if shard.name.as_str() < "010.txt" {
                    return Ok(());
                }
                Err(WalkError::Corpus(CorpusError::NoInput { input: shard.name.clone() }))
            });
            assert!(error.unwrap_err().to_string().starts_with("010.txt"));
        }
    }

    #[test]
    fn a_stage_begins_with_nothing_done() {
        let watch = Watch::default();
        assert!(watch.stage().is_none() && watch.run().is_none());
        watch.steps.store(5, Ordering::Relaxed);
        watch.bytes.store(6, Ordering::Relaxed);
        watch.documents.store(7, Ordering::Relaxed);
        let stage = Stage { name: "sketch", total: Some(9), reads: true };
        watch.begin(stage);
        assert_eq!(watch.stage().unwrap().0, stage);
        let counts =
            [&watch.steps, &watch.bytes, &watch.documents].map(|count| count.load(Ordering::Relaxed));
        assert_eq!(counts, [0, 0, 0]);
    }

    #[test]
    fn runs_are_told_while_there_are_several() {
        let watch = Watch::default();
        watch.run_of(2, 5);
        assert_eq!(watch.run(), Some((2, 5)));
        watch.run_of(0, 0);
        assert_eq!(watch.run(), None);
    }

    #[test]
    fn a_stop_is_an_error_at_the_next_look() {
        let watch = Watch::default();
        assert!(watch.check().is_ok() && !watch.stopped());
        watch.stop.store(true, Ordering::Relaxed);
        assert!(watch.stopped());
        assert_eq!(watch.check().unwrap_err().to_string(), "interrupted");
    }

    const LINES: &str = "{\"id\":\"a\",\"html\":\"<p>one\"}\n{}\n{\"id\":\"b\",\"text\":\"two\"}\n";

    #[test]
    fn documents_come_with_their_texts_and_rejections_between_them() {
        let corpus = Corpus::in_memory("x.jsonl", LINES.as_bytes().into(), ReadOptions::default());
        let (watch, mut found) = (Watch::default(), Vec::new());
        let format = documents(&corpus.shards()[0], corpus.options(), ContentMode::Page, &watch, |item| {
            found.push(match item {
                WalkItem::Document { document, text } => format!("{} {}", document.id, text.trim()),
                WalkItem::Rejected(rejection) => format!("rejected {}", rejection.place.record),
                WalkItem::Skipped(_) => "skipped".to_owned(),
            });
            Ok(())
        });
        assert_eq!(format.unwrap(), Format::Jsonl);
        assert_eq!(found, ["a one", "rejected 1", "b two"]);
        assert_eq!(watch.documents.load(Ordering::Relaxed), 3);
        assert_eq!(watch.bytes.load(Ordering::Relaxed), LINES.len() as u64);
    }

    #[test]
    fn a_walk_ends_when_nothing_more_is_wanted_or_at_an_error() {
        let corpus = Corpus::in_memory("x.jsonl", LINES.as_bytes().into(), ReadOptions::default());
        let walk = |each: &mut dyn FnMut() -> Result<bool, WalkError>, watch: &Watch| {
            documents_while(&corpus.shards()[0], corpus.options(), ContentMode::Page, watch, |_| each())
                .map(drop)
        };
        let mut seen = 0;
        walk(
            &mut || {
                seen += 1;
                Ok(seen < 2)
            },
            &Watch::default(),
        )
        .unwrap();
        assert_eq!(seen, 2);
        assert!(matches!(walk(&mut || Err(WalkError::Stopped), &Watch::default()), Err(WalkError::Stopped)));
        let watch = Watch::default();
        watch.stop.store(true, Ordering::Relaxed);
        assert!(walk(&mut || unreachable!("it was stopped before"), &watch).is_err());
    }
}
