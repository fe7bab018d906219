//! Background maintenance: documents in memory become a segment, and small segments are merged into larger ones.

use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use crate::error::IndexError;
use crate::log;
use crate::manifest::SegmentEntry;
use crate::part::{Part, Snapshot};
use crate::segment::{self, Segment};
use crate::segment_writer;
use crate::shared_state::{SharedState, lock_ignoring_poison};

/// The number of segments of about one size that are merged into one.
const SEGMENTS_TO_MERGE: usize = 4;

/// A background thread.
type WorkerHandle = JoinHandle<Result<(), IndexError>>;

/// Puts documents on disk and merges segments, each in a thread of its own.
#[derive(Debug)]
pub(crate) struct Compactor {
    inner: Arc<SharedState>,
    flusher: Option<WorkerHandle>,
    merger: Arc<Mutex<Option<WorkerHandle>>>,
}

impl Compactor {
    pub(crate) fn new(inner: Arc<SharedState>) -> Self {
        Compactor { inner, flusher: None, merger: Arc::default() }
    }

    /// True while documents are put on disk.
    pub(crate) fn is_flushing(&self) -> bool {
        self.flusher.as_ref().is_some_and(|work| !work.is_finished())
    }

    /// Returns the error of background work that has ended.
    pub(crate) fn take_error(&mut self) -> Result<(), IndexError> {
        if self.flusher.as_ref().is_some_and(WorkerHandle::is_finished) {
            self.wait_for_flush()?;
        }
        let merger = { lock_ignoring_poison(&self.merger).take_if(|work| work.is_finished()) };
        merger.map_or(Ok(()), join)
    }

    /// Begins to put the fixed parts in memory on disk; their logs are those before `generation`.
    pub(crate) fn flush(&mut self, generation: u64) -> Result<(), IndexError> {
        self.wait_for_flush()?;
        let (inner, merger) = (self.inner.clone(), self.merger.clone());
        self.flusher = Some(std::thread::spawn(move || {
            flush(&inner, generation)?;
            let mut merger = lock_ignoring_poison(&merger);
            if merger.as_ref().is_none_or(WorkerHandle::is_finished) {
                merger.take().map_or(Ok(()), join)?;
                *merger = Some(std::thread::spawn(move || merge_all(&inner)));
            }
            Ok(())
        }));
        Ok(())
    }

    pub(crate) fn wait_for_flush(&mut self) -> Result<(), IndexError> {
        self.flusher.take().map_or(Ok(()), join)
    }

    /// Waits for all that is under way.
    pub(crate) fn wait(&mut self) -> Result<(), IndexError> {
        self.wait_for_flush()?;
        let merger = lock_ignoring_poison(&self.merger).take();
        merger.map_or(Ok(()), join)
    }

    /// Makes one segment of all.
    pub(crate) fn compact(&mut self) -> Result<(), IndexError> {
        self.wait()?;
        let parts = self.inner.now().parts.clone();
        let segments: Vec<Arc<Segment>> = parts.iter().filter_map(on_disk).collect();
        if segments.is_empty() { Ok(()) } else { merge(&self.inner, &segments) }
    }
}

impl Drop for Compactor {
    /// Nothing goes on behind the end of the writer, whose lock lets another one in.
    fn drop(&mut self) {
        // Whoever wants to hear of an error closes the index.
        let _ = self.wait();
    }
}

fn join(work: WorkerHandle) -> Result<(), IndexError> {
    let lost = |_| Err(IndexError::Request("the thread that keeps the index tidy has failed".to_owned()));
    work.join().unwrap_or_else(lost)
}

fn on_disk(part: &Part) -> Option<Arc<Segment>> {
    match part {
        Part::Disk(segment) => Some(segment.clone()),
        Part::Memory(_) => None,
    }
}

/// Writes parts as a segment of a new number.
fn write_segment(inner: &SharedState, parts: &[Part]) -> Result<Segment, IndexError> {
    let id = {
        let mut manifest = lock_ignoring_poison(&inner.manifest);
        manifest.next_segment += 1;
        manifest.next_segment - 1
    };
    segment_writer::write(&inner.layout, id, parts)?;
    let first = parts.first().map_or(0, |part| part.range().start);
    let end = parts.last().map_or(0, |part| part.range().end);
    Segment::open(&inner.layout, id, first..end)
}

/// Makes a segment of the parts in memory that no longer grow, and removes their logs.
fn flush(inner: &SharedState, generation: u64) -> Result<(), IndexError> {
    let now = inner.now();
    let frozen: Vec<Part> =
        now.parts[..now.fixed].iter().filter(|part| !part.is_on_disk()).cloned().collect();
    if frozen.is_empty() {
        return Ok(());
    }
    let mark = frozen.iter().rev().find_map(|part| match part {
        Part::Memory(chunk) => chunk.mark.clone(),
        Part::Disk(_) => None,
    });
    let segment = Arc::new(write_segment(inner, &frozen)?);
    let old = {
        let mut manifest = lock_ignoring_poison(&inner.manifest);
        let mut next = manifest.clone();
        let (first, end) = (segment.range.start, segment.range.end);
        next.segments.push(SegmentEntry { id: segment.id, first, end });
        let old = next.log..generation;
        next.log = generation;
        // What came since is counted again from its log.
        next.counts = now.frozen_counts;
        if let Some(mark) = mark {
            next.mark = Some(String::from_utf8_lossy(&mark).into_owned());
        }
        next.write(&inner.layout.folder)?;
        *manifest = next;
        old
    };
    inner.publish(|snapshot| replace(snapshot, &frozen, &segment));
    for generation in old {
        let path = log::path(&inner.layout.folder, generation);
        // One that stays is older than the manifest allows; the next writer removes it.
        let _ = std::fs::remove_file(path);
    }
    Ok(())
}

/// Puts a segment in the place of the parts that it was made of.
fn replace(snapshot: &mut Snapshot, parts: &[Part], segment: &Arc<Segment>) {
    let is = |one: &Part, two: &Part| match (one, two) {
        (Part::Memory(one), Part::Memory(two)) => Arc::ptr_eq(one, two),
        (Part::Disk(one), Part::Disk(two)) => Arc::ptr_eq(one, two),
        _ => false,
    };
    let Some(at) = snapshot.parts.iter().position(|part| is(part, &parts[0])) else { return };
    snapshot.parts.splice(at..at + parts.len(), [Part::Disk(segment.clone())]);
    snapshot.fixed = snapshot.fixed + 1 - parts.len();
    snapshot.layout_version += 1;
}

/// Merges neighbours of about one size as long as there are enough of them.
fn merge_all(inner: &SharedState) -> Result<(), IndexError> {
    loop {
        let parts = inner.now().parts.clone();
        let segments: Vec<Arc<Segment>> = parts.iter().filter_map(on_disk).collect();
        let sizes: Vec<u64> = segments.iter().map(|segment| segment.bytes()).collect();
        let Some(from) = worth_merging(&sizes) else { return Ok(()) };
        merge(inner, &segments[from..])?;
    }
}

/// Returns the position from which all segments should be merged: the last [`SEGMENTS_TO_MERGE`], if the first of them is no larger than the others
/// together, and those before as long as each is no larger than all after it together.
fn worth_merging(sizes: &[u64]) -> Option<usize> {
    let last = sizes.len().checked_sub(SEGMENTS_TO_MERGE)?;
    let mut rest: u64 = sizes[last..].iter().sum();
    let mut from = (sizes[last] <= rest - sizes[last]).then_some(last)?;
    for earlier in (0..last).rev() {
        if sizes[earlier] > rest {
            break;
        }
        rest += sizes[earlier];
        from = earlier;
    }
    Some(from)
}

/// Makes one segment of neighbours.
fn merge(inner: &SharedState, segments: &[Arc<Segment>]) -> Result<(), IndexError> {
    let parts: Vec<Part> = segments.iter().cloned().map(Part::Disk).collect();
    let merged = Arc::new(write_segment(inner, &parts)?);
    {
        let mut manifest = lock_ignoring_poison(&inner.manifest);
        let mut next = manifest.clone();
        let at = next.segments.iter().position(|entry| entry.id == segments[0].id);
        let at = at.ok_or_else(|| IndexError::damaged(&inner.layout.folder, "a segment is gone"))?;
        let (first, end) = (merged.range.start, merged.range.end);
        next.segments.splice(at..at + segments.len(), [SegmentEntry { id: merged.id, first, end }]);
        next.write(&inner.layout.folder)?;
        *manifest = next;
    }
    inner.publish(|snapshot| replace(snapshot, &parts, &merged));
    segments.iter().for_each(|segment| segment::remove(&inner.layout, segment.id));
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::manifest::Manifest;
    use crate::row::State;
    use crate::testing::{SmallIndex, chunk, layout, memory, segment};

    /// The first number of each part and the one behind its last.
    fn ranges(inner: &SharedState) -> Vec<(u32, u32)> {
        inner.now().parts.iter().map(Part::range).map(|range| (range.start, range.end)).collect()
    }

    fn ids(folder: &std::path::Path) -> Vec<u64> {
        Manifest::read(folder).unwrap().segments.iter().map(|entry| entry.id).collect()
    }

    /// An index of as many segments as there are texts.
    fn with_segments(texts: &[&str]) -> SmallIndex {
        let mut small = SmallIndex::new();
        for (number, text) in texts.iter().enumerate() {
            small.add(&format!("d{number}"), text);
            small.index.flush().unwrap();
        }
        small
    }

    #[test]
    fn neighbours_of_about_one_size_are_merged() {
        assert_eq!(worth_merging(&[10, 10, 10]), None);
        assert_eq!(worth_merging(&[10, 10, 10, 10]), Some(0));
        assert_eq!(worth_merging(&[100, 10, 10, 10, 10]), Some(1));
        assert_eq!(worth_merging(&[40, 10, 10, 10, 10]), Some(0));
        assert_eq!(worth_merging(&[1000, 10, 10, 10]), None);
    }

    #[test]
    fn few_segments_are_never_merged() {
        assert_eq!(worth_merging(&[]), None);
        assert_eq!(worth_merging(&[0; 3]), None);
        assert_eq!(worth_merging(&[0; 4]), Some(0));
    }

    #[test]
    fn a_flush_makes_one_segment_of_all_documents_and_removes_their_log() {
        let mut small = SmallIndex::of(&["a b c", "x y z", "a b c"]);
        assert!(log::path(small.path(), 0).exists());
        small.index.flush().unwrap();
        assert_eq!(ranges(&small.index.inner), [(0, 3)]);
        let manifest = Manifest::read(small.path()).unwrap();
        assert_eq!(manifest.segments, [SegmentEntry { id: 1, first: 0, end: 3 }]);
        assert_eq!((manifest.log, manifest.next_segment, manifest.counts.removed), (1, 2, 1));
        assert!(!log::path(small.path(), 0).exists() && log::path(small.path(), 1).exists());
        assert_eq!((small.state(0), small.faults()), (State::Kept, Vec::new()));
    }

    #[test]
    fn a_flush_of_nothing_changes_nothing() {
        let small = SmallIndex::new();
        let before = Manifest::read(small.path()).unwrap();
        small.index.flush().unwrap();
        flush(&small.index.inner, 5).unwrap();
        assert_eq!(Manifest::read(small.path()).unwrap(), before);
        assert!(ranges(&small.index.inner).is_empty());
    }

    #[test]
    fn four_segments_of_one_size_become_one() {
        let small = with_segments(&["a b c", "d e f", "g h i"]);
        assert_eq!(
            (ranges(&small.index.inner), ids(small.path())),
            (vec![(0, 1), (1, 2), (2, 3)], vec![1, 2, 3])
        );
        let mut small = small;
        small.add("d3", "j k l");
        small.index.flush().unwrap();
        assert_eq!((ranges(&small.index.inner), ids(small.path())), (vec![(0, 4)], vec![5]));
        let left: Vec<_> = (1..5).flat_map(|id| small.index.inner.layout.files(id)).collect();
        assert!(left.iter().all(|file| !file.exists()));
        assert!(small.faults().is_empty());
    }

    #[test]
    fn compaction_makes_one_segment_of_any_number() {
        for count in 0..3 {
            let mut small = with_segments(&["a b c", "d e f", "g h i"][..count]);
            small.add("last", "x y z");
            small.index.compact().unwrap();
            assert_eq!(ranges(&small.index.inner), [(0, count as u32 + 1)]);
            assert_eq!(ids(small.path()).len(), 1);
            assert!(small.faults().is_empty());
        }
        let empty = SmallIndex::new();
        empty.index.compact().unwrap();
        assert!(ids(empty.path()).is_empty());
    }

    #[test]
    fn a_segment_that_the_manifest_does_not_name_is_not_merged() {
        let small = with_segments(&["a b c"]);
        let inner = &small.index.inner;
        let segments: Vec<Arc<Segment>> = inner.now().parts.iter().filter_map(on_disk).collect();
        lock_ignoring_poison(&inner.manifest).segments.clear();
        let sentence = merge(inner, &segments).unwrap_err().to_string();
        let wanted = format!("{} is damaged: a segment is gone; ", small.path().display());
        assert!(sentence.starts_with(&wanted), "{sentence}");
        assert_eq!(ranges(inner), [(0, 1)]);
    }

    #[test]
    fn segments_are_numbered_in_the_order_in_which_they_are_begun() {
        let small = SmallIndex::new();
        let inner = &small.index.inner;
        let mut chunk = crate::chunk::Chunk::new(4, inner.layout.tables.count());
        chunk.changes.push(crate::row::Change { number: 0, state: State::Deleted });
        let parts = [memory(chunk)];
        let ids = [(); 2].map(|()| write_segment(inner, &parts).unwrap().id);
        assert_eq!((ids, lock_ignoring_poison(&inner.manifest).next_segment), ([1, 2], 3));
    }

    #[test]
    fn a_segment_takes_the_place_of_its_parts() {
        let folder = tempfile::tempdir().unwrap();
        let parts: Vec<Part> = (0..5).map(|number| memory(chunk(number, &[State::Kept]))).collect();
        let merged = Arc::new(segment(&layout(folder.path()), 1, &parts[1..4]));
        let mut snapshot = Snapshot { parts: parts.clone(), fixed: 4, ..Snapshot::default() };
        replace(&mut snapshot, &parts[1..4], &merged);
        assert_eq!(snapshot.parts.iter().map(Part::range).collect::<Vec<_>>(), [0..1, 1..4, 4..5]);
        assert_eq!(snapshot.parts.iter().map(Part::is_on_disk).collect::<Vec<_>>(), [false, true, false]);
        assert_eq!((snapshot.fixed, snapshot.layout_version), (2, 1));
        replace(&mut snapshot, &parts[1..4], &merged);
        assert_eq!((snapshot.parts.len(), snapshot.layout_version), (3, 1), "they are there no more");
    }

    #[test]
    fn the_mark_of_the_last_documents_goes_to_the_manifest() {
        let mut small = SmallIndex::new();
        for (text, mark) in
            [("a b c", Some(b"one".to_vec())), ("d e f", Some(b"two".to_vec())), ("g h i", None)]
        {
            let prepared = small.prepared(text, text);
            small.index.add_marked(vec![prepared], Default::default(), mark).unwrap();
        }
        small.index.flush().unwrap();
        assert_eq!(Manifest::read(small.path()).unwrap().mark.as_deref(), Some("two"));
    }

    #[test]
    fn a_thread_that_panicked_is_an_error() {
        assert!(join(std::thread::spawn(|| Ok(()))).is_ok());
        let panicked =
            std::thread::Builder::new().spawn(|| std::panic::resume_unwind(Box::new("no message")));
        let sentence = join(panicked.unwrap()).unwrap_err().to_string();
        assert_eq!(sentence, "the thread that keeps the index tidy has failed");
    }

    proptest! {
        #[test]
        fn segments_are_merged_from_the_first_that_is_no_larger_than_all_behind_it(
            sizes in prop::collection::vec(0..40u64, 0..12),
        ) {
            let fits = |from: usize| sizes[from] <= sizes[from + 1..].iter().sum();
            let last = sizes.len().checked_sub(4).filter(|&last| fits(last));
            let expected = last.map(|last| (0..=last).rev().take_while(|&from| fits(from)).last().unwrap());
            prop_assert_eq!(worth_merging(&sizes), expected);
        }
    }
}
