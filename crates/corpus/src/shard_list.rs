//! The list of a corpus's shards while it is made, within the memory that lists may take.
//!
//! A folder may hold millions of files, and their paths alone can be more than a process may take. Shards are therefore
//! counted as they are found, and kept only while there is memory for them. Behind the bound the rest is counted and not
//! kept, so that the refusal names the memory that would do.

use std::ffi::OsStr;
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::{CorpusError, Origin, Shard};

/// Memory for the lists of files of a process. All clones share it.
#[derive(Clone)]
pub struct ListBudget {
    shared: Arc<ListMemory>,
    /// A refusal asks for so much at least.
    least_memory: u64,
}

struct ListMemory {
    /// Bytes that all lists may take.
    bytes: u64,
    /// Bytes that the process needs beside them.
    other_bytes: u64,
    taken: AtomicU64,
    /// The most that was taken at any time.
    most_taken: AtomicU64,
}

impl fmt::Debug for ListBudget {
    /// Writes the same for any two: digests of options, by which begun work is found again, are made of this text.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ListBudget")
    }
}

impl Default for ListBudget {
    /// No bound.
    fn default() -> Self {
        ListBudget::new(u64::MAX, 0)
    }
}

impl PartialEq for ListBudget {
    /// Returns true for any two: the documents that are read do not depend on it.
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for ListBudget {}

impl ListBudget {
    /// Lets all lists take `bytes` bytes; the process needs `other_bytes` beside them, which a refusal adds to what it asks for.
    pub fn new(bytes: u64, other_bytes: u64) -> Self {
        let (taken, most_taken) = (AtomicU64::new(0), AtomicU64::new(0));
        let shared = Arc::new(ListMemory { bytes, other_bytes, taken, most_taken });
        ListBudget { shared, least_memory: 0 }
    }

    /// Lets a refusal ask for so much at least: less would be refused again, for another reason.
    #[must_use]
    pub fn asking_for_at_least(self, least_memory: u64) -> Self {
        ListBudget { least_memory, ..self }
    }

    /// Takes `bytes` more; false when that is too much. What was taken stays taken.
    fn take(&self, bytes: u64) -> bool {
        let taken = self.shared.taken.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        self.shared.most_taken.fetch_max(taken, Ordering::Relaxed);
        taken <= self.shared.bytes
    }

    fn give_back(&self, bytes: u64) {
        self.shared.taken.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// The error about lists that are too long, with the memory that would do for the most that was taken at any time: entries of
    /// folders may turn out to be no data and give back what they took.
    fn refuse(&self, files: u64) -> CorpusError {
        let most_taken = self.shared.most_taken.load(Ordering::Relaxed);
        let needed = (self.shared.other_bytes + ENTRIES_OF_FOLDERS + most_taken).max(self.least_memory);
        CorpusError::Memory { why: format!("a list of {files} files"), needed }
    }
}

/// Bytes that a file takes beside its path and name: its entry in the list and in a copy while the list grows, the mark by which a job
/// knows it again, the counts of its records, and a document's share of memory, since few files have none.
const BYTES_PER_FILE: u64 = 528;

/// Bytes that a shard takes in the list of its corpus and wherever jobs keep something of each shard.
pub(crate) fn shard_bytes(shard: &Shard) -> u64 {
    address_bytes(match &shard.origin {
        Origin::File(path) => path.as_os_str().len(),
        Origin::Object(address) => address.len(),
        Origin::Stdin | Origin::Memory(_) | Origin::Table(_) => 0,
    })
}

/// Bytes that a shard takes whose address is so long. Its name is a part of the address, and both stand in a file of the job, too.
fn address_bytes(length: usize) -> u64 {
    BYTES_PER_FILE + 3 * length as u64
}

#[cfg(feature = "object-store")]
fn object_address(shard: &Shard) -> &str {
    match &shard.origin {
        Origin::Object(address) => address,
        _ => "",
    }
}

/// Bytes for the names of folders that wait while others are listed, in a refusal: when it comes, they are not counted any more.
const ENTRIES_OF_FOLDERS: u64 = 1 << 20;

/// Bytes of an entry of a folder until its turn comes; a shard takes more, so that the list grows until it is whole.
fn entry_bytes(name: &OsStr) -> u64 {
    48 + name.len() as u64
}

/// The shards that were found so far, as far as there is memory for them.
#[derive(Debug)]
pub(crate) struct ShardList {
    budget: ListBudget,
    shards: Vec<Shard>,
    files: u64,
    full: bool,
}

impl ShardList {
    pub(crate) fn new(budget: ListBudget) -> Self {
        ShardList { budget, shards: Vec::new(), files: 0, full: false }
    }

    /// Shards that were found, kept or not.
    pub(crate) fn files(&self) -> u64 {
        self.files
    }

    /// True when there was too little memory, so that what follows is only counted.
    pub(crate) fn is_full(&self) -> bool {
        self.full
    }

    /// Adds a shard, or only counts it where there is no memory left.
    pub(crate) fn push(&mut self, shard: Shard) {
        self.files += 1;
        self.take(shard_bytes(&shard));
        if !self.full {
            self.shards.push(shard);
        }
    }

    /// Counts a file that there is no memory for.
    pub(crate) fn count(&mut self, path: &Path) {
        self.files += 1;
        self.take(address_bytes(path.as_os_str().len()));
    }

    /// Takes memory for an entry of a folder that waits for its turn.
    pub(crate) fn take_entry(&mut self, name: &OsStr) {
        self.take(entry_bytes(name));
    }

    /// Gives back what an entry took.
    pub(crate) fn give_back_entry(&mut self, name: &OsStr) {
        self.budget.give_back(entry_bytes(name));
    }

    fn take(&mut self, bytes: u64) {
        if !self.budget.take(bytes) {
            self.full = true;
            // Nobody will read them.
            self.shards = Vec::new();
        }
    }

    /// Sorts the shards behind the first `from` by their addresses.
    #[cfg(feature = "object-store")]
    pub(crate) fn sort_objects(&mut self, from: u64) {
        if self.full {
            return;
        }
        self.shards[from as usize..].sort_by(|a, b| object_address(a).cmp(object_address(b)));
    }

    /// The shards in the order in which they were found.
    ///
    /// # Errors
    /// When there is too little memory for the list.
    pub(crate) fn finish(self) -> Result<Vec<Shard>, CorpusError> {
        if self.full { Err(self.budget.refuse(self.files)) } else { Ok(self.shards) }
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn shard(number: usize) -> Shard {
        Shard::new(Origin::File(PathBuf::from(format!("/corpus/{number:04}"))))
    }

    fn listed(budget: &ListBudget, files: usize) -> Result<Vec<Shard>, CorpusError> {
        let mut list = ShardList::new(budget.clone());
        (0..files).for_each(|number| list.push(shard(number)));
        assert_eq!(list.files(), files as u64);
        list.finish()
    }

    #[test]
    fn a_list_that_fits_has_all_shards() {
        let budget = ListBudget::new(10 * shard_bytes(&shard(0)), 0);
        assert_eq!(listed(&budget, 10).unwrap(), (0..10).map(shard).collect::<Vec<_>>());
    }

    #[test]
    fn a_refusal_names_the_memory_for_all_files_that_does() {
        let each = shard_bytes(&shard(0));
        let refused = listed(&ListBudget::new(10 * each, 1000), 25).unwrap_err();
        let CorpusError::Memory { why, needed } = refused else { panic!("{refused:?}") };
        assert_eq!(why, "a list of 25 files");
        assert_eq!(needed, 1000 + 25 * each + ENTRIES_OF_FOLDERS);
        assert_eq!(listed(&ListBudget::new(25 * each, 1000), 25).unwrap().len(), 25);
    }

    #[test]
    fn a_refusal_asks_for_what_all_else_needs_too() {
        let budget = ListBudget::new(10, 1000).asking_for_at_least(1 << 30);
        let refused = listed(&budget, 25).unwrap_err();
        assert!(matches!(refused, CorpusError::Memory { needed, .. } if needed == 1 << 30), "{refused:?}");
    }

    #[test]
    fn a_refusal_for_entries_that_were_no_data_asks_for_more_than_there_was() {
        let mut list = ShardList::new(ListBudget::new(100, 0));
        list.take_entry(OsStr::new("picture"));
        list.take_entry(OsStr::new("another"));
        assert!(list.is_full());
        list.give_back_entry(OsStr::new("picture"));
        list.give_back_entry(OsStr::new("another"));
        let (refused, most) = (list.finish().unwrap_err(), 2 * entry_bytes(OsStr::new("picture")));
        assert!(most > 100);
        let wanted = ENTRIES_OF_FOLDERS + most;
        assert!(matches!(refused, CorpusError::Memory { needed, .. } if needed == wanted), "{refused:?}");
    }

    #[test]
    fn two_corpora_share_what_there_is() {
        let budget = ListBudget::new(10 * shard_bytes(&shard(0)), 0);
        assert!(listed(&budget, 6).is_ok());
        assert!(listed(&budget, 6).is_err());
    }

    #[test]
    fn nothing_is_kept_of_a_list_that_is_too_long() {
        let mut list = ShardList::new(ListBudget::new(3 * shard_bytes(&shard(0)), 0));
        (0..1000).for_each(|number| list.push(shard(number)));
        assert_eq!((list.files(), list.shards.capacity()), (1000, 0));
    }

    #[test]
    fn files_that_are_only_counted_are_charged_like_others() {
        let each = shard_bytes(&shard(0));
        let mut list = ShardList::new(ListBudget::new(each, 0));
        list.take_entry(OsStr::new("0000"));
        assert!(!list.is_full());
        list.give_back_entry(OsStr::new("0000"));
        list.push(shard(0));
        assert!(!list.is_full(), "an entry gives back what it took");
        list.take_entry(OsStr::new("0001"));
        assert!(list.is_full());
        list.give_back_entry(OsStr::new("0001"));
        list.count(Path::new("/corpus/0001"));
        let refused = list.finish().unwrap_err();
        let wanted = 2 * each + ENTRIES_OF_FOLDERS;
        assert!(matches!(refused, CorpusError::Memory { needed, .. } if needed == wanted), "{refused:?}");
    }

    #[test]
    fn longer_paths_take_more() {
        let long = Shard::new(Origin::File(PathBuf::from("x".repeat(500))));
        assert!(shard_bytes(&long) > shard_bytes(&shard(0)) + 1000);
    }
}
