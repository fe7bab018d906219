//! A count of the digests that repeat an earlier one, in bounded memory: sorted runs go to disk and are merged at the end.
//!
//! The sorter of the crate `store` keeps its runs under their names in the folder of a job, for a later process to go on with. Here is no
//! such folder: runs are files without a name, of which nothing is left when the process is killed.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};

/// Counts repeated digests. Costs 16 bytes per digest, in memory up to a bound and on disk beyond it.
pub struct RepeatCounter {
    buffer: Vec<u128>,
    capacity: usize,
    runs: Vec<File>,
}

impl RepeatCounter {
    /// Keeps at most `capacity` digests in memory.
    pub fn new(capacity: usize) -> Self {
        RepeatCounter { buffer: Vec::new(), capacity: capacity.max(1), runs: Vec::new() }
    }

    /// Adds one digest.
    pub fn add(&mut self, digest: u128) -> io::Result<()> {
        if self.buffer.len() == self.capacity {
            self.spill()?;
        }
        self.buffer.push(digest);
        Ok(())
    }

    /// Number of digests that equal an earlier one.
    pub fn repeats(mut self) -> io::Result<u64> {
        self.buffer.sort_unstable();
        if self.runs.is_empty() {
            return Ok(self.buffer.windows(2).filter(|pair| pair[0] == pair[1]).count() as u64);
        }
        self.spill()?;
        let mut merge = Merge::new(self.runs)?;
        let (mut repeats, mut last) = (0, None);
        while let Some(digest) = merge.next()? {
            repeats += u64::from(last == Some(digest));
            last = Some(digest);
        }
        Ok(repeats)
    }

    fn spill(&mut self) -> io::Result<()> {
        self.buffer.sort_unstable();
        let mut digests = self.buffer.drain(..);
        let run = write_run(|| Ok(digests.next()))?;
        drop(digests);
        self.runs.push(run);
        if self.runs.len() == MOST_RUNS {
            let mut merge = Merge::new(std::mem::take(&mut self.runs))?;
            self.runs.push(write_run(|| merge.next())?);
        }
        Ok(())
    }
}

/// The number of runs that are merged into one: each is an open file.
const MOST_RUNS: usize = 128;

/// Writes digests, which come in order, to a file without a name.
fn write_run(mut next: impl FnMut() -> io::Result<Option<u128>>) -> io::Result<File> {
    let mut run = tempfile::tempfile()?;
    let mut writer = BufWriter::with_capacity(1 << 20, &mut run);
    while let Some(digest) = next()? {
        writer.write_all(&digest.to_le_bytes())?;
    }
    writer.flush()?;
    drop(writer);
    run.rewind()?;
    Ok(run)
}

/// The digests of sorted runs, in order.
struct Merge {
    runs: Vec<BufReader<File>>,
    heads: BinaryHeap<Reverse<(u128, usize)>>,
}

impl Merge {
    fn new(runs: Vec<File>) -> io::Result<Self> {
        let runs = runs.into_iter().map(|run| BufReader::with_capacity(64 << 10, run)).collect();
        let mut merge = Merge { runs, heads: BinaryHeap::new() };
        (0..merge.runs.len()).try_for_each(|index| merge.advance(index))?;
        Ok(merge)
    }

    fn next(&mut self) -> io::Result<Option<u128>> {
        let Some(Reverse((digest, index))) = self.heads.pop() else { return Ok(None) };
        self.advance(index)?;
        Ok(Some(digest))
    }

    /// Puts the next digest of a run among the heads.
    fn advance(&mut self, index: usize) -> io::Result<()> {
        self.heads.extend(next(&mut self.runs[index])?.map(|digest| Reverse((digest, index))));
        Ok(())
    }
}

fn next(run: &mut BufReader<File>) -> io::Result<Option<u128>> {
    let mut bytes = [0; 16];
    match run.read_exact(&mut bytes) {
        Ok(()) => Ok(Some(u128::from_le_bytes(bytes))),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repeats(digests: &[u128], capacity: usize) -> u64 {
        let mut counter = RepeatCounter::new(capacity);
        digests.iter().for_each(|&digest| counter.add(digest).unwrap());
        counter.repeats().unwrap()
    }

    #[test]
    fn spilled_or_not_the_count_is_the_same() {
        let digests: Vec<u128> = (0..10_000u128).map(|i| i * i % 977).collect();
        let kinds: std::collections::HashSet<_> = digests.iter().collect();
        let plain = (digests.len() - kinds.len()) as u64;
        for capacity in [30, 100, 9_999, 10_000, 20_000] {
            assert_eq!(repeats(&digests, capacity), plain, "{capacity}");
        }
        assert_eq!(repeats(&[3, 1, 3, 3, 2, 1], 1), 3);
        assert_eq!(repeats(&[], 1), 0);
    }
}
