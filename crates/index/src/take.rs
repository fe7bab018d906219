//! Adding a whole corpus to an index, or querying it: documents are examined and looked up on all threads, and decided in their order.

use std::sync::Mutex;

use lookalike_corpus::{Corpus, LineReader};
use lookalike_engine::pipeline::{self, Batch, Feed, Record, ShardEnd, Weight};
use lookalike_engine::walk::{Stage, Watch};
use lookalike_engine::{EngineError, Settings};
use lookalike_model::Rejection;
use serde::{Deserialize, Serialize};

use crate::desk::{Desk, Prepared};
use crate::error::IndexError;
use crate::index::{Index, hold};
use crate::writer::{Known, Verdict};

/// The position reached in a corpus.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Progress {
    /// Units of it that are done: shards, or small shards together.
    pub unit: usize,
    /// Records of the next one that are done.
    pub records: u64,
    /// Records that are done in all.
    pub total: u64,
}

/// The work done on documents before they are handed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// The lookup, so that they are added quickly.
    LookUp,
    /// A query; at most this number of near-duplicates is returned for each.
    Answer(usize),
}

/// A record of the corpus.
#[derive(Debug)]
pub enum Taken<'t> {
    /// A document.
    Document(Box<Prepared>),
    /// A record that could not be read, or that a method cannot read.
    Rejected {
        /// The shard.
        source: &'t str,
        /// Its position in the shard.
        position: u64,
        /// The reason.
        reason: String,
        /// Its id, if known.
        id: Option<String>,
    },
}

/// Consecutive records, as they are handed over.
#[derive(Debug)]
pub struct Portion<'t> {
    /// The records.
    pub records: Vec<Taken<'t>>,
    /// The position in the corpus after them.
    pub progress: Progress,
    /// Records of the corpus among them that are no documents.
    pub skipped: u64,
}

/// A record that is no document.
#[derive(Debug, Default)]
struct Refused {
    position: u64,
    reason: String,
    id: Option<String>,
}

impl Refused {
    fn of(rejection: &Rejection) -> Self {
        let (position, reason) = (rejection.place.position, rejection.reason.to_string());
        Refused { position, reason, id: rejection.id.clone() }
    }
}

/// A batch that a worker has examined.
struct Ready {
    records: Vec<Result<Prepared, Refused>>,
    first: u64,
    ends: Vec<ShardEnd>,
    failed: Option<IndexError>,
}

impl Weight for Ready {
    fn bytes(&self) -> usize {
        // What is made of a document is a few times its text.
        self.records.iter().flatten().map(|prepared| 12 * prepared.text().len() + 4096).sum()
    }
}

impl Index {
    /// Hands over all records of a corpus after `from`, in portions and in order; `wanted` says what is done on documents before.
    pub fn examine(
        &self,
        corpus: &Corpus,
        settings: &Settings,
        from: Progress,
        wanted: Wanted,
        watch: &Watch,
        mut each: impl FnMut(Portion<'_>) -> Result<(), IndexError> + Send,
    ) -> Result<(), IndexError> {
        let all = pipeline::units(corpus);
        let units = all.get(from.unit..).unwrap_or_default();
        let longest = corpus.options().max_document_bytes as u64;
        // The index has its own part of the memory, and so has the writer's desk.
        let own = self.memory(settings.threads.max(1) + 1);
        let rest = Settings { memory: settings.memory.saturating_sub(own), ..settings.clone() };
        let with_index = |error: EngineError| match error {
            EngineError::Memory { why, needed } => {
                // Filters and tails take three eighths of what there is, up to a bound.
                let desks = self.memory(settings.threads.max(1) + 1) - self.memory(0);
                EngineError::Memory { why, needed: ((needed + desks) * 8).div_ceil(5) }
            }
            error => error,
        };
        let room = rest.room(longest).map_err(with_index)?;
        // One unit after the other: what is decided depends on what came before.
        let shape = rest.shape(room, longest).one_by_one();
        watch.begin(Stage { name: "index", total: corpus.bytes(), reads: true });
        let done = |unit: usize| if unit == 0 { from.records } else { 0 };
        let failed = Mutex::new(None);
        let fail = |error: IndexError| {
            hold(&failed).get_or_insert(error);
            EngineError::Stopped
        };
        let state = Mutex::new((from.total, &mut each));
        let run = pipeline::run(
            corpus,
            units,
            shape,
            watch,
            || (LineReader::new(corpus.options()), self.desk()),
            |(lines, desk), batch| self.ready(lines, desk, batch, done(batch.unit), wanted),
            |unit, feed: &mut Feed<'_, Ready>| {
                let mut shard = units[unit].start;
                while let Some(ready) = feed.next()? {
                    let mut ready = ready;
                    if let Some(error) = ready.failed.take() {
                        return Err(fail(error));
                    }
                    let mut state = hold(&state);
                    let behind = ready.first + ready.records.len() as u64;
                    let fresh = behind.saturating_sub(ready.first.max(done(unit)));
                    let progress =
                        Progress { unit: from.unit + unit, records: behind, total: state.0 + fresh };
                    let portion = portion(corpus, &mut shard, ready, done(unit), progress);
                    state.0 = progress.total;
                    (state.1)(portion).map_err(fail)?;
                }
                Ok(())
            },
        );
        match (failed.into_inner().ok().flatten(), run) {
            (Some(error), _) => Err(error),
            (None, run) => Ok(run.map_err(with_index)?),
        }
    }

    fn ready(
        &self,
        lines: &mut LineReader,
        desk: &mut Result<Desk, IndexError>,
        batch: &Batch,
        done: u64,
        wanted: Wanted,
    ) -> Ready {
        let mut ready =
            Ready { records: Vec::new(), first: batch.first, ends: batch.ends.clone(), failed: None };
        let desk = match desk {
            Ok(desk) => desk,
            Err(error) => {
                ready.failed = Some(IndexError::Request(error.to_string()));
                return ready;
            }
        };
        let read = batch.read(lines, |index, record| {
            if batch.first + (index as u64) < done {
                // It was handed over by an earlier process.
                ready.records.push(Err(Refused::default()));
                return Ok(());
            }
            ready.records.push(match record {
                Record::Rejected(rejection) => Err(Refused::of(rejection)),
                Record::Document(document) => {
                    let refused = |reason| Refused {
                        position: document.place.position,
                        reason,
                        id: Some(document.id.to_owned()),
                    };
                    desk.document(self.examiner(), &document).map_err(refused)
                }
            });
            let found = match (ready.records.last_mut(), wanted) {
                (Some(Ok(prepared)), Wanted::LookUp) => self.look_up(desk, prepared),
                (Some(Ok(prepared)), Wanted::Answer(limit)) => {
                    self.query(desk, prepared, limit).map(|answer| prepared.answer = Some(answer))
                }
                _ => Ok(()),
            };
            if let Err(error) = found {
                ready.failed.get_or_insert(error);
            }
            Ok(())
        });
        if let Err(error) = read {
            ready.failed.get_or_insert(error.into());
        }
        ready
    }

    /// Adds all documents of a corpus after `from`. `each` gets the id and the verdict of every document, once it is in the log;
    /// `mark` returns the mark to store with a portion.
    #[expect(clippy::too_many_arguments, reason = "each of them is another thing")]
    pub fn take(
        &self,
        corpus: &Corpus,
        settings: &Settings,
        from: Progress,
        known: Known,
        watch: &Watch,
        mut mark: impl FnMut(&Portion<'_>) -> Result<Option<Vec<u8>>, IndexError> + Send,
        mut each: impl FnMut(&str, &Verdict) -> Result<(), IndexError> + Send,
    ) -> Result<(), IndexError> {
        self.examine(corpus, settings, from, Wanted::LookUp, watch, |portion| {
            let mark = mark(&portion)?;
            let (mut documents, mut ids) = (Vec::new(), Vec::new());
            for record in portion.records {
                if let Taken::Document(prepared) = record {
                    ids.push(prepared.id.clone());
                    documents.push(*prepared);
                }
            }
            let verdicts = self.add_marked(documents, known, mark)?;
            ids.iter().zip(&verdicts).try_for_each(|(id, verdict)| each(id, verdict))
        })
    }
}

/// Returns the records with their shards and positions.
fn portion<'t>(
    corpus: &'t Corpus,
    shard: &mut usize,
    ready: Ready,
    done: u64,
    progress: Progress,
) -> Portion<'t> {
    let Ready { records, first, ends, .. } = ready;
    let mut ends = ends.iter().peekable();
    let mut taken = Vec::new();
    let mut skipped = 0;
    let mut end = |before: usize, shard: &mut usize| {
        while let Some(end) = ends.next_if(|end| end.before <= before) {
            *shard += 1;
            skipped += end.skipped.iter().map(|(_, count)| count).sum::<u64>();
        }
    };
    let count = records.len();
    for (index, record) in records.into_iter().enumerate() {
        end(index, shard);
        if first + (index as u64) < done {
            continue;
        }
        taken.push(match record {
            Ok(prepared) => Taken::Document(Box::new(prepared)),
            Err(Refused { position, reason, id }) => {
                let source = corpus.shards().get(*shard).map_or("", |shard| &shard.name);
                Taken::Rejected { source, position, reason, id }
            }
        });
    }
    end(count, shard);
    Portion { records: taken, progress, skipped }
}
