//! Adding a whole corpus to an index, or querying it: documents are examined and looked up on all threads, and decided in their order.
//!
//! Every write carries how far the input was taken, so that a killed run goes on from the log.

use std::sync::Mutex;

use lookalike_corpus::{Corpus, LineReader, Shard};
use lookalike_engine::pipeline::{self, Batch, Feed, Record, Shape, ShardEnd, Unit, Weight};
use lookalike_engine::walk::{Stage, Watch};
use lookalike_engine::{EngineError, Settings};
use lookalike_model::Rejection;
use serde::{Deserialize, Serialize};

use crate::error::IndexError;
use crate::index::Index;
use crate::prepared::PreparedDocument;
use crate::query_buffers::QueryBuffers;
use crate::shared_state::lock_ignoring_poison;
use crate::writer::{OnExistingId, Verdict};

/// The position reached in a corpus.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Progress {
    /// Units of it that are done: shards, or small shards together.
    pub unit: usize,
    /// Records of the next one that are done.
    pub records: u64,
    /// Records that are done in all.
    pub total: u64,
    /// Shards of the next unit whose ends are done.
    #[serde(default)]
    pub shards: usize,
}

/// The work done on documents before they are handed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Preparation {
    /// The lookup, so that they are added quickly.
    LookUp,
    /// A query; at most this number of near-duplicates is returned for each.
    Answer(usize),
}

/// A record of the corpus.
#[derive(Debug)]
pub enum CorpusRecord<'t> {
    /// A document.
    Document(Box<PreparedDocument>),
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
    pub records: Vec<CorpusRecord<'t>>,
    /// The position in the corpus after them.
    pub progress: Progress,
    /// Records of the corpus among them that are no documents.
    pub skipped: u64,
}

/// A record that is no document.
#[derive(Debug, Default)]
struct RejectedRecord {
    position: u64,
    reason: String,
    id: Option<String>,
}

impl RejectedRecord {
    fn of(rejection: &Rejection) -> Self {
        let (position, reason) = (rejection.place.position, rejection.reason.to_string());
        RejectedRecord { position, reason, id: rejection.id.clone() }
    }
}

/// Bytes that an index takes for each byte of a large document, beside those of the engine: its text and its
/// body as it is prepared and written to the log. What they are compared with is made in buffers that the engine counts.
const MADE_OF_LARGE: u64 = 2;

/// A batch that a worker has examined.
struct ExaminedBatch {
    records: Vec<Result<PreparedDocument, RejectedRecord>>,
    first: u64,
    ends: Vec<ShardEnd>,
    failed: Option<IndexError>,
}

impl ExaminedBatch {
    fn empty(batch: &Batch) -> Self {
        ExaminedBatch { records: Vec::new(), first: batch.first, ends: batch.ends.clone(), failed: None }
    }

    fn failed(batch: &Batch, error: IndexError) -> Self {
        ExaminedBatch { failed: Some(error), ..ExaminedBatch::empty(batch) }
    }
}

impl Weight for ExaminedBatch {
    fn bytes(&self) -> usize {
        // What is made of a document is a few times its text.
        self.records.iter().flatten().map(|prepared| 12 * prepared.text().len() + 4096).sum()
    }
}

impl Index {
    /// Hands over all records of a corpus after `from`, in portions and in order; `preparation` says what is done on documents before.
    pub fn examine(
        &self,
        corpus: &Corpus,
        settings: &Settings,
        from: Progress,
        preparation: Preparation,
        watch: &Watch,
        mut each: impl FnMut(Portion<'_>) -> Result<(), IndexError> + Send,
    ) -> Result<(), IndexError> {
        let all = pipeline::units(corpus);
        // The index has its own part of the memory, and so have the writer's buffers.
        let own = self.memory(settings);
        let examination = Examination {
            index: self,
            corpus,
            units: all.get(from.unit..).unwrap_or_default(),
            from,
            preparation,
            settings,
            rest: Settings { memory: settings.memory.saturating_sub(own), ..settings.clone() },
            heavy: Mutex::new(()),
        };
        watch.begin(Stage { name: "index", total: corpus.bytes(), reads: true });
        let failed = Mutex::new(None);
        let fail = |error: IndexError| {
            lock_ignoring_poison(&failed).get_or_insert(error);
            EngineError::Stopped
        };
        let state = Mutex::new((from.total, &mut each));
        let run = pipeline::run(
            corpus,
            examination.units,
            examination.shape()?,
            watch,
            || (LineReader::new(corpus.options()), self.buffers()),
            |(lines, buffers), batch| examination.batch(lines, buffers, batch),
            |unit, feed: &mut Feed<'_, ExaminedBatch>| {
                let (total, each) = &mut *lock_ignoring_poison(&state);
                examination.hand_over(unit, feed, total, &mut |portion| each(portion).map_err(fail), &fail)
            },
        );
        match (failed.into_inner().ok().flatten(), run) {
            (Some(error), _) => Err(error),
            (None, run) => Ok(run.map_err(|error| examination.with_index(error))?),
        }
    }

    fn examine_batch(
        &self,
        lines: &mut LineReader,
        buffers: &mut Result<QueryBuffers, IndexError>,
        batch: &Batch,
        done: u64,
        preparation: Preparation,
    ) -> ExaminedBatch {
        let buffers = match buffers {
            Ok(buffers) => buffers,
            Err(error) => return ExaminedBatch::failed(batch, IndexError::Request(error.to_string())),
        };
        let mut examined = ExaminedBatch::empty(batch);
        let read = batch.read(lines, |index, record| {
            if batch.first + (index as u64) < done {
                // It was handed over by an earlier process.
                examined.records.push(Err(RejectedRecord::default()));
                return Ok(());
            }
            examined.records.push(match record {
                Record::Rejected(rejection) => Err(RejectedRecord::of(rejection)),
                Record::Document(document) => {
                    let refused = |reason| RejectedRecord {
                        position: document.place.position,
                        reason,
                        id: Some(document.id.to_owned()),
                    };
                    buffers.document(self.examiner(), &document).map_err(refused)
                }
            });
            let found = match (examined.records.last_mut(), preparation) {
                (Some(Ok(prepared)), Preparation::LookUp) => self.look_up(buffers, prepared),
                (Some(Ok(prepared)), Preparation::Answer(limit)) => {
                    self.query(buffers, prepared, limit).map(|answer| prepared.answer = Some(answer))
                }
                _ => Ok(()),
            };
            if let Err(error) = found {
                examined.failed.get_or_insert(error);
            }
            Ok(())
        });
        if let Err(error) = read {
            examined.failed.get_or_insert(error.into());
        }
        examined
    }

    /// Adds all documents of a corpus after `from`. `each` gets the id and the verdict of every document, once it is in the log;
    /// `mark` returns the mark to store with a portion.
    #[expect(clippy::too_many_arguments, reason = "each of them is another thing")]
    pub fn add_corpus(
        &self,
        corpus: &Corpus,
        settings: &Settings,
        from: Progress,
        on_existing: OnExistingId,
        watch: &Watch,
        mut mark: impl FnMut(&Portion<'_>) -> Result<Option<Vec<u8>>, IndexError> + Send,
        mut each: impl FnMut(&str, &Verdict) -> Result<(), IndexError> + Send,
    ) -> Result<(), IndexError> {
        self.examine(corpus, settings, from, Preparation::LookUp, watch, |portion| {
            let mark = mark(&portion)?;
            let (mut documents, mut ids) = (Vec::new(), Vec::new());
            for record in portion.records {
                if let CorpusRecord::Document(prepared) = record {
                    ids.push(prepared.id.clone());
                    documents.push(*prepared);
                }
            }
            let verdicts = self.add_marked(documents, on_existing, mark)?;
            ids.iter().zip(&verdicts).try_for_each(|(id, verdict)| each(id, verdict))
        })
    }
}

/// One pass over the documents of a corpus.
struct Examination<'e> {
    index: &'e Index,
    corpus: &'e Corpus,
    /// The units that are not done, of the first of which a part may be.
    units: &'e [Unit],
    from: Progress,
    preparation: Preparation,
    settings: &'e Settings,
    /// The settings without the memory of the index.
    rest: Settings,
    /// Held while a large document is handled.
    heavy: Mutex<()>,
}

impl Examination<'_> {
    fn longest_document(&self) -> u64 {
        self.corpus.options().max_document_bytes as u64
    }

    /// The memory and the threads of the work on batches.
    fn shape(&self) -> Result<Shape, IndexError> {
        let longest = self.longest_document();
        let room = self.rest.buffer_bytes(longest).map_err(|error| self.with_index(error))?;
        // One unit after the other: what is decided depends on what came before.
        Ok(self.rest.shape(room, longest).one_by_one())
    }

    /// The part of a unit that is done.
    fn done(&self, unit: usize) -> Progress {
        if unit == 0 { self.from } else { Progress::default() }
    }

    /// The error about memory that is too small, with what the index takes.
    fn with_index(&self, error: EngineError) -> EngineError {
        match error {
            EngineError::Memory { why, needed } => {
                EngineError::Memory { why, needed: self.index.process_bytes(needed, self.settings) }
            }
            error => error,
        }
    }

    /// Examines a batch; a large document waits for its turn.
    fn batch(
        &self,
        lines: &mut LineReader,
        buffers: &mut Result<QueryBuffers, IndexError>,
        batch: &Batch,
    ) -> ExaminedBatch {
        let (index, done) = (self.index, self.done(batch.unit).records);
        if !batch.is_heavy() {
            return index.examine_batch(lines, buffers, batch, done, self.preparation);
        }
        // Filters that are not there yet leave their share to it.
        let memory = self.rest.memory + index.unused_filter_bytes();
        let with_room = Settings { memory, ..self.rest.clone() };
        if let Err(error) = with_room.admit(batch, MADE_OF_LARGE, self.longest_document()) {
            return ExaminedBatch::failed(batch, self.with_index(error).into());
        }
        // Large documents are handled one at a time, and leave no buffers behind.
        let _turn = self.heavy.lock();
        let examined = index.examine_batch(lines, buffers, batch, done, self.preparation);
        *buffers = index.buffers();
        examined
    }

    /// Hands over the records of a unit that are not done; `total` counts those of all units.
    fn hand_over(
        &self,
        unit: usize,
        feed: &mut Feed<'_, ExaminedBatch>,
        total: &mut u64,
        each: &mut dyn FnMut(Portion<'_>) -> Result<(), EngineError>,
        fail: &dyn Fn(IndexError) -> EngineError,
    ) -> Result<(), EngineError> {
        let shards = &self.corpus.shards()[self.units[unit].clone()];
        let (mut shard, done) = (0, self.done(unit));
        while let Some(mut examined) = feed.next()? {
            if let Some(error) = examined.failed.take() {
                return Err(fail(error));
            }
            let mut portion = portion(shards, &mut shard, examined, done);
            // An earlier process may have come further than this batch: to say less would have its records
            // added twice after the next kill.
            if portion.records.is_empty() && shard <= done.shards {
                continue;
            }
            *total += portion.records.len() as u64;
            (portion.progress.unit, portion.progress.total) = (self.from.unit + unit, *total);
            each(portion)?;
        }
        Ok(())
    }
}

/// Returns the records of a unit that are not `done`, with their shards and positions, and the progress in the unit. `shard` is the number of
/// the shard that they begin in.
fn portion<'t>(
    shards: &'t [Shard],
    shard: &mut usize,
    examined: ExaminedBatch,
    done: Progress,
) -> Portion<'t> {
    let ExaminedBatch { records, first, ends, .. } = examined;
    let mut ends = ends.iter().peekable();
    let mut handed_over = Vec::new();
    let mut skipped = 0;
    let mut end = |before: usize, shard: &mut usize| {
        while let Some(end) = ends.next_if(|end| end.before <= before) {
            *shard += 1;
            if *shard > done.shards {
                skipped += end.skipped.iter().map(|(_, count)| count).sum::<u64>();
            }
        }
    };
    let count = records.len();
    for (index, record) in records.into_iter().enumerate() {
        end(index, shard);
        if first + (index as u64) < done.records {
            continue;
        }
        handed_over.push(match record {
            Ok(prepared) => CorpusRecord::Document(Box::new(prepared)),
            Err(RejectedRecord { position, reason, id }) => {
                let source = shards.get(*shard).map_or("", |shard| &shard.name);
                CorpusRecord::Rejected { source, position, reason, id }
            }
        });
    }
    end(count, shard);
    let records = (first + count as u64).max(done.records);
    let progress = Progress { records, shards: (*shard).max(done.shards), ..done };
    Portion { records: handed_over, progress, skipped }
}

#[cfg(test)]
mod tests {
    use lookalike_corpus::{Format, ReadOptions};
    use lookalike_model::{Reason, RecordPosition, Unit};

    use super::*;
    use crate::row::State;
    use crate::testing::{SmallIndex, settings};

    const LINES: &str = concat!(
        "{\"id\":\"a\",\"text\":\"a b c d e\"}\n",
        "no record\n",
        "{\"id\":\"b\",\"text\":\"a b c d f\"}\n",
        "{\"id\":\"c\",\"text\":\"x y z\"}\n",
    );

    fn corpus(lines: &str) -> Corpus {
        let options = ReadOptions { max_document_bytes: 1 << 20, ..ReadOptions::default() };
        Corpus::in_memory("lines.jsonl", lines.as_bytes().into(), options)
    }

    /// A record as text: the id of a document, or the shard, position and beginning of the reason of a rejected one.
    fn told(record: &CorpusRecord<'_>) -> String {
        match record {
            CorpusRecord::Document(prepared) => prepared.id.clone(),
            CorpusRecord::Rejected { source, position, reason, .. } => {
                format!("{source}:{position} {}", reason.split(':').next().unwrap())
            }
        }
    }

    /// All records that are handed over, and the last progress.
    fn examined(small: &SmallIndex, lines: &str, from: Progress) -> (Vec<String>, Option<Progress>) {
        let (mut records, mut last) = (Vec::new(), None);
        let each = |portion: Portion<'_>| {
            records.extend(portion.records.iter().map(told));
            last = Some(portion.progress);
            Ok(())
        };
        let watch = Watch::default();
        small.index.examine(&corpus(lines), &settings(), from, Preparation::LookUp, &watch, each).unwrap();
        (records, last)
    }

    #[test]
    fn all_records_are_handed_over_in_order() {
        let (records, last) = examined(&SmallIndex::new(), LINES, Progress::default());
        let rejected = format!("lines.jsonl:{} broken record", LINES.find("no record").unwrap());
        assert_eq!(records, ["a", &rejected, "b", "c"]);
        assert_eq!(last, Some(Progress { unit: 0, records: 4, total: 4, shards: 1 }));
    }

    #[test]
    fn records_that_are_done_are_not_handed_over_again() {
        let from = Progress { records: 3, total: 13, ..Progress::default() };
        let (records, last) = examined(&SmallIndex::new(), LINES, from);
        assert_eq!(
            (records, last),
            (vec!["c".to_owned()], Some(Progress { unit: 0, records: 4, total: 14, shards: 1 }))
        );
        let behind = Progress { unit: 1, total: 4, ..Progress::default() };
        assert_eq!(examined(&SmallIndex::new(), LINES, behind).0, [""; 0]);
    }

    #[test]
    fn an_empty_corpus_has_no_records() {
        assert_eq!(examined(&SmallIndex::new(), "", Progress::default()).0, [""; 0]);
    }

    #[test]
    fn documents_come_with_their_answers_where_these_are_asked_for() {
        let small = SmallIndex::of(&["a b c d e", "a b c d g"]);
        let mut totals = Vec::new();
        let each = |portion: Portion<'_>| {
            for record in portion.records {
                if let CorpusRecord::Document(prepared) = record {
                    let answer = prepared.answer.unwrap();
                    totals.push((prepared.id, answer.matches.len(), answer.total));
                }
            }
            Ok(())
        };
        let (preparation, watch) = (Preparation::Answer(1), Watch::default());
        small
            .index
            .examine(&corpus(LINES), &settings(), Progress::default(), preparation, &watch, each)
            .unwrap();
        let wanted = [("a", 1, 2), ("b", 1, 2), ("c", 0, 0)];
        assert_eq!(totals, wanted.map(|(id, named, total)| (id.to_owned(), named, total)));
    }

    #[test]
    fn an_error_of_the_receiver_is_returned() {
        let small = SmallIndex::new();
        let each = |_: Portion<'_>| Err(IndexError::Request("enough".to_owned()));
        let (from, watch) = (Progress::default(), Watch::default());
        let failed =
            small.index.examine(&corpus(LINES), &settings(), from, Preparation::LookUp, &watch, each);
        assert_eq!(failed.unwrap_err().to_string(), "enough");
    }

    #[test]
    fn too_little_memory_is_refused_with_what_would_do() {
        let small = SmallIndex::new();
        let few = Settings { memory: 1 << 20, ..settings() };
        let (from, watch) = (Progress::default(), Watch::default());
        let failed = small.index.examine(&corpus(LINES), &few, from, Preparation::LookUp, &watch, |_| Ok(()));
        let sentence = failed.unwrap_err().to_string();
        assert!(sentence.starts_with("--memory is too small: "), "{sentence}");
    }

    #[test]
    fn a_corpus_is_added_with_verdicts_and_marks() {
        for threads in [1, 2] {
            let mut small = SmallIndex::new();
            let settings = Settings { threads, ..settings() };
            let mut verdicts = Vec::new();
            small
                .index
                .add_corpus(
                    &corpus(LINES),
                    &settings,
                    Progress::default(),
                    OnExistingId::Refuse,
                    &Watch::default(),
                    |portion| Ok(Some(portion.progress.records.to_string().into_bytes())),
                    |id, verdict| {
                        verdicts.push((id.to_owned(), verdict.clone()));
                        Ok(())
                    },
                )
                .unwrap();
            let near = State::Removed { witness: 0, similarity: Some(4.0 / 6.0) };
            let wanted = [("a", 0, State::Kept), ("b", 1, near), ("c", 2, State::Kept)];
            let wanted = wanted
                .map(|(id, number, state)| (id.to_owned(), Verdict::Added { number, state, known: false }));
            assert_eq!(verdicts, wanted);
            assert_eq!(small.state(1), near);
            assert_eq!(small.reopened().index.mark(), Some(&b"4"[..]));
        }
    }

    #[test]
    fn a_rejected_record_keeps_its_position_reason_and_id() {
        let rejected = RejectedRecord::of(&Rejection {
            place: RecordPosition { record: 2, position: 77 },
            unit: Unit::Byte,
            reason: Reason::TooLong { limit: 5 },
            id: Some("x".to_owned()),
        });
        assert_eq!((rejected.position, rejected.id.as_deref()), (77, Some("x")));
        assert!(rejected.reason.starts_with("too long: over 5 bytes"), "{}", rejected.reason);
    }

    fn rejected(position: u64) -> Result<PreparedDocument, RejectedRecord> {
        Err(RejectedRecord { position, ..RejectedRecord::default() })
    }

    fn shard_end(before: usize, skipped: u64) -> ShardEnd {
        ShardEnd {
            before,
            format: Format::Jsonl,
            skipped: vec![("request", skipped), ("info", 1)],
            digest: None,
        }
    }

    #[test]
    fn records_are_named_by_the_shard_that_they_come_from() {
        let folder = tempfile::tempdir().unwrap();
        let names = ["one.jsonl", "two.jsonl", "three.jsonl"].map(|name| folder.path().join(name));
        names.iter().for_each(|name| std::fs::write(name, LINES).unwrap());
        let corpus = Corpus::open(&names, ReadOptions::default()).unwrap();
        let name = |shard: usize| &corpus.shards()[shard].name[..];
        let batch = ExaminedBatch {
            records: (0..5).map(rejected).collect(),
            first: 10,
            // The second shard has no record.
            ends: vec![shard_end(2, 4), shard_end(2, 0), shard_end(5, 7)],
            failed: None,
        };
        let mut shard = 0;
        let done = Progress { records: 11, ..Progress::default() };
        let portion = portion(corpus.shards(), &mut shard, batch, done);
        let told: Vec<String> = portion.records.iter().map(told).collect();
        let wanted = [(0, 1), (2, 2), (2, 3), (2, 4)].map(|(shard, at)| format!("{}:{at} ", name(shard)));
        assert_eq!(told, wanted);
        assert_eq!((portion.skipped, shard), (4 + 1 + 1 + 7 + 1, 3));
        assert_eq!((portion.progress.records, portion.progress.shards), (15, 3));
    }

    #[test]
    fn progress_never_goes_back_and_ends_count_once() {
        let batch = |first: u64, ends: Vec<ShardEnd>| ExaminedBatch {
            records: (0..5).map(rejected).collect(),
            first,
            ends,
            failed: None,
        };
        let done = Progress { records: 10, shards: 2, total: 10, ..Progress::default() };
        let mut shard = 0;
        let before = portion(&[], &mut shard, batch(0, vec![shard_end(2, 4)]), done);
        assert_eq!((before.records.len(), before.skipped, before.progress), (0, 0, done));
        // Both ends lie behind the last record that is done, and only the first of them was counted.
        let after = portion(&[], &mut shard, batch(5, vec![shard_end(5, 1), shard_end(5, 7)]), done);
        assert_eq!((after.records.len(), after.skipped, after.progress.shards), (0, 7 + 1, 3));
    }

    #[test]
    fn a_process_that_has_nothing_left_to_add_hands_over_nothing() {
        // Several batches, so that the first one ends before what is done.
        let lines: String = (0..3000)
            .map(|n| format!("{{\"id\":\"{n}\",\"text\":\"{}\"}}\n", format!("word{n} ").repeat(100)))
            .collect();
        let small = SmallIndex::new();
        let mut all = Vec::new();
        let watch = Watch::default();
        let each = |portion: Portion<'_>| {
            all.push(portion.progress);
            Ok(())
        };
        let (corpus, settings) = (corpus(&lines), settings());
        let preparation = Preparation::Answer(0);
        small.index.examine(&corpus, &settings, Progress::default(), preparation, &watch, each).unwrap();
        assert!(all.len() > 2, "{all:?}");
        for (at, &from) in all.iter().enumerate() {
            let mut again = Vec::new();
            let each = |portion: Portion<'_>| {
                again.push(portion.progress);
                Ok(())
            };
            small.index.examine(&corpus, &settings, from, preparation, &watch, each).unwrap();
            assert_eq!(again, all[at + 1..], "from {from:?}");
        }
    }

    #[test]
    fn a_batch_weighs_what_its_documents_do() {
        let mut small = SmallIndex::new();
        let records = vec![Ok(small.prepared("x", "ten bytes!")), rejected(3), Ok(small.prepared("y", ""))];
        let batch = ExaminedBatch { records, first: 0, ends: Vec::new(), failed: None };
        assert_eq!(batch.bytes(), 12 * 10 + 2 * 4096);
    }
}
