//! The state that readers, the writer and its compactor share: the index at this moment, and its manifest.

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use lookalike_engine::examine::Examiner;

use crate::candidates::SnapshotQuery;
use crate::manifest::Manifest;
use crate::part::Snapshot;
use crate::query_buffers::QueryBuffers;
use crate::segment::IndexLayout;

/// The state shared by readers, the writer and its compactor.
#[derive(Debug)]
pub(crate) struct SharedState {
    pub(crate) layout: IndexLayout,
    pub(crate) examiner: Examiner,
    pub(crate) text: bool,
    pub(crate) snapshot: RwLock<Arc<Snapshot>>,
    pub(crate) manifest: Mutex<Manifest>,
    /// Documents that this process kept although candidates of them were left out.
    pub(crate) partly_compared: AtomicU64,
}

impl SharedState {
    /// The index at this moment.
    pub(crate) fn now(&self) -> Arc<Snapshot> {
        self.snapshot.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Publishes a changed snapshot to all readers.
    pub(crate) fn publish(&self, change: impl FnOnce(&mut Snapshot)) {
        let mut now = self.snapshot.write().unwrap_or_else(PoisonError::into_inner);
        let mut next = Snapshot::clone(&now);
        change(&mut next);
        *now = Arc::new(next);
    }

    pub(crate) fn query<'a>(
        &'a self,
        snapshot: &'a Snapshot,
        buffers: &'a mut QueryBuffers,
    ) -> SnapshotQuery<'a> {
        SnapshotQuery { examiner: &self.examiner, tables: &self.layout.tables, snapshot, buffers }
    }
}

/// A lock that a panic elsewhere does not take away: what it guards is replaced whole.
pub(crate) fn lock_ignoring_poison<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::SmallIndex;

    #[test]
    fn a_published_snapshot_leaves_those_of_readers_alone() {
        let small = SmallIndex::of(&["a b c"]);
        let before = small.index.inner.now();
        small.index.inner.publish(|snapshot| snapshot.next = 9);
        assert_eq!((before.next, small.index.inner.now().next), (1, 9));
    }

    #[test]
    fn a_lock_that_a_panic_left_can_be_taken() {
        let mutex = Arc::new(Mutex::new(4));
        let other = mutex.clone();
        let panicked = std::thread::spawn(move || {
            let _guard = other.lock().unwrap();
            std::panic::resume_unwind(Box::new("no message"))
        });
        let panicked: std::thread::Result<()> = panicked.join();
        assert!(panicked.is_err() && mutex.is_poisoned());
        assert_eq!(*lock_ignoring_poison(&mutex), 4);
    }
}
