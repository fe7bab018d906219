//! How many digests repeat an earlier one, in bounded memory: sorted runs go to disk and are merged at the end.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};

/// Counts repeated digests. Costs 16 bytes per digest, in memory up to a bound and on disk beyond it.
pub struct Distinct {
    buffer: Vec<u128>,
    capacity: usize,
    runs: Vec<File>,
}

impl Distinct {
    /// Keeps at most `capacity` digests in memory.
    pub fn new(capacity: usize) -> Self {
        Distinct { buffer: Vec::new(), capacity: capacity.max(1), runs: Vec::new() }
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
        let readers = self.runs.into_iter().map(|run| BufReader::with_capacity(64 << 10, run)).collect();
        count_repeats(readers)
    }

    fn spill(&mut self) -> io::Result<()> {
        self.buffer.sort_unstable();
        let mut run = tempfile::tempfile()?;
        let mut writer = BufWriter::with_capacity(1 << 20, &mut run);
        for digest in self.buffer.drain(..) {
            writer.write_all(&digest.to_le_bytes())?;
        }
        writer.flush()?;
        drop(writer);
        run.rewind()?;
        self.runs.push(run);
        Ok(())
    }
}

/// Merges sorted runs and counts neighbours that are equal.
fn count_repeats(mut runs: Vec<BufReader<File>>) -> io::Result<u64> {
    let mut heap = BinaryHeap::new();
    for (index, run) in runs.iter_mut().enumerate() {
        heap.extend(next(run)?.map(|digest| Reverse((digest, index))));
    }
    let mut repeats = 0;
    let mut last = None;
    while let Some(Reverse((digest, index))) = heap.pop() {
        repeats += u64::from(last == Some(digest));
        last = Some(digest);
        heap.extend(next(&mut runs[index])?.map(|digest| Reverse((digest, index))));
    }
    Ok(repeats)
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
        let mut distinct = Distinct::new(capacity);
        digests.iter().for_each(|&digest| distinct.add(digest).unwrap());
        distinct.repeats().unwrap()
    }

    #[test]
    fn spilled_or_not_the_count_is_the_same() {
        let digests: Vec<u128> = (0..10_000u128).map(|i| i * i % 977).collect();
        let kinds: std::collections::HashSet<_> = digests.iter().collect();
        let plain = (digests.len() - kinds.len()) as u64;
        for capacity in [100, 9_999, 10_000, 20_000] {
            assert_eq!(repeats(&digests, capacity), plain, "{capacity}");
        }
        assert_eq!(repeats(&[3, 1, 3, 3, 2, 1], 1), 3);
        assert_eq!(repeats(&[], 1), 0);
    }
}
