//! A look at all shards before the work: which of them cannot be read.
//!
//! Of each file the first 64 KiB are looked at, which tells its compression and format; the footers of Parquet files and the headers of
//! tables are read. What seems wrong is opened like any shard before it counts as unreadable.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::{Corpus, CorpusError, Format, LeftOutReason, Origin, ReadOptions, Shard};

impl Corpus {
    /// The files that cannot be read, by number, each with what is wrong with it.
    pub fn unreadable(&self, threads: usize) -> Vec<(usize, CorpusError)> {
        let (next, found) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
        let worker = || {
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some(shard) = self.shards().get(number) else { return };
                if let Err(error) = shard.check_readable(self.options()) {
                    found.lock().unwrap_or_else(PoisonError::into_inner).push((number, error));
                }
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..threads.min(self.shards().len() / 16) {
                scope.spawn(worker);
            }
            worker();
        });
        let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
        found.sort_by_key(|(number, _)| *number);
        found
    }

    /// Leaves out shards that cannot be read.
    ///
    /// # Errors
    /// The first error, when none can be read.
    pub(crate) fn leave_out_unreadable(&mut self) -> Result<(), CorpusError> {
        let threads = std::thread::available_parallelism().map_or(1, |cores| cores.get());
        let mut unreadable = self.unreadable(threads);
        if !unreadable.is_empty() && unreadable.len() == self.shards.len() {
            return Err(unreadable.swap_remove(0).1);
        }
        let left_out = Arc::make_mut(&mut self.left_out);
        let mut number = 0;
        Arc::make_mut(&mut self.shards).retain(|shard| {
            let out = unreadable.binary_search_by_key(&number, |(number, _)| *number).is_ok();
            number += 1;
            if out {
                left_out
                    .add(LeftOutReason::Unreadable, || shard.address().unwrap_or_else(|| shard.name.clone()));
            }
            !out
        });
        Ok(())
    }
}

impl Shard {
    /// Looks at the beginning of a file. Other inputs are not looked at before they are read.
    fn check_readable(&self, options: &Arc<ReadOptions>) -> Result<(), CorpusError> {
        if !matches!(self.origin, Origin::File(_)) || self.bytes.is_none() {
            return Ok(());
        }
        match self.sniff_format(options) {
            Ok(Format::Parquet | Format::Csv | Format::Tsv) | Err(_) => self.open(options).map(drop),
            Ok(_) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_cannot_be_read_are_found_and_left_out() {
        let folder = tempfile::tempdir().unwrap();
        for number in 0..40 {
            std::fs::write(
                folder.path().join(format!("{number:02}.jsonl")),
                "{\"id\":\"1\",\"text\":\"x\"}\n",
            )
            .unwrap();
        }
        for (name, content) in
            [("05.parquet", &b"PAR1 is all"[..]), ("20.txt", b"a\0b"), ("30.csv", b"a,b\n1,2\n")]
        {
            std::fs::write(folder.path().join(name), content).unwrap();
        }
        let corpus = Corpus::open(&[folder.path()], ReadOptions::default()).unwrap();
        for threads in [1, 4] {
            let found = corpus.unreadable(threads);
            let names: Vec<&str> =
                found.iter().map(|(number, _)| corpus.shards()[*number].name.as_str()).collect();
            assert_eq!(names, ["05.parquet", "20.txt", "30.csv"]);
        }
        let skip = || ReadOptions { skip_unreadable: true, ..ReadOptions::default() };
        let corpus = Corpus::open(&[folder.path()], skip()).unwrap();
        assert_eq!(corpus.shards().len(), 40);
        assert!(corpus.shards().iter().all(|shard| shard.name.ends_with(".jsonl")));
        assert_eq!(corpus.left_out().to_string(), "left out 3 files: 3 unreadable files");
        assert!(Corpus::open(&[folder.path().join("20.txt")], skip()).is_err(), "nothing is left");
    }
}
