//! The shares of a process's memory that an index takes.
//!
//! A process that adds documents holds
//!
//! - the program, its threads, and readers whose windows may grow to the longest document: [`Settings::least_memory`];
//! - the buffers and caches of each thread and of the writer: [`QueryBuffers::memory`], 26 MB each with records of 256 bytes;
//! - four tails: one that grows, one on its way to disk, and what both are joined from;
//! - the filters of segments, as many as there is memory for.
//!
//! The first two are what they are. The others may be smaller, at the price of more reading from disk, and get what is left: at most an
//! eighth of all memory for filters and a sixteenth for each tail, at least [`LEAST_TAIL_BYTES`] for each tail and nothing for filters. A
//! large document with all that is made of it is admitted when it comes, beside these shares; filters that are not there yet leave theirs
//! to it.
//!
//! A document takes 7 bytes per byte and 56 per word here. The worst text that was tried needs them: 8.5 million ideographs (24 MB),
//! compared with a document like them, were measured at 645 MB in a new index, where 38 MB of program and 625 of document are counted.
//! Others take less, and what they are is known only when they have been read:
//!
//! | 28 MB of | MB alone | behind 110,000 documents | compared with its like |
//! |---|---|---|---|
//! | prose, 4.2 million words | 282 | 382 | |
//! | words of one letter | 594 | 697 | 881 |
//! | ideographs | 456 | 565 | 724 |
//! | U+FDFA, 7 MB that become 80 | 538 | 645 | 657 |
//!
//! For the prose 469 MB are counted, and with caches (78), four tails of 32 MB and an eighth for filters an index asks for up to 771: it
//! cannot tell from a refused document how full tails and caches will be when it comes again.

use lookalike_engine::Settings;

use crate::query_buffers::QueryBuffers;

/// Bytes of memory for filters: enough for fifteen million documents of 17 keys. Segments beyond that do without.
pub(crate) const MOST_FILTER_BYTES: u64 = 384 << 20;

/// Bytes that a tail may have under any limit, unless fewer are asked for; smaller ones become segments too often.
pub(crate) const LEAST_TAIL_BYTES: u64 = 4 << 20;

/// Tails that are in memory at once.
const TAILS: u64 = 4;

/// The memory that an index takes beside the buffers of threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MemoryShares {
    pub(crate) filters: u64,
    /// The bytes of each tail; a reader has none.
    pub(crate) tail: u64,
    /// The bytes of a tail that were asked for, and the least that it could have.
    asked_tail: u64,
    least_tail: u64,
    /// The least memory of a process without the index, with documents of the longest length.
    least: u64,
}

impl MemoryShares {
    /// Shares out a process's memory. `tail` are the bytes of a tail that are asked for: none by a reader.
    pub(crate) fn of(settings: &Settings, max_document_bytes: u64, record: usize, tail: u64) -> Self {
        let least = settings.least_memory(max_document_bytes);
        let left = settings.memory.saturating_sub(least + buffer_bytes(settings, record));
        let (asked_tail, least_tail) = (tail, tail.min(LEAST_TAIL_BYTES));
        // Tails get two thirds of what is left, as they do of three eighths of a large memory.
        let tail = tail.min(settings.memory / 16).min(left / 6).max(least_tail);
        let filters = MOST_FILTER_BYTES.min(settings.memory / 8).min(left.saturating_sub(TAILS * tail));
        MemoryShares { filters, tail, asked_tail, least_tail, least }
    }

    /// The bytes of both.
    pub(crate) fn total(self) -> u64 {
        self.filters + TAILS * self.tail
    }

    /// The memory of a process of which `needed` bytes must be left beside the index and the buffers of its threads.
    pub(crate) fn process_bytes(self, needed: u64, settings: &Settings, record: usize) -> u64 {
        let inelastic = needed + buffer_bytes(settings, record);
        if needed <= self.least {
            return inelastic + TAILS * self.least_tail;
        }
        // The shares take no more than any of these: all filters and tails; an eighth of the memory and all tails; an eighth and four
        // sixteenths of it.
        let with_tails = inelastic.saturating_add(TAILS.saturating_mul(self.asked_tail));
        let bounds = [with_tails.saturating_add(MOST_FILTER_BYTES), with_tails.saturating_mul(8).div_ceil(7)];
        bounds.into_iter().fold((inelastic * 8).div_ceil(5), u64::min)
    }
}

/// The bytes of the buffers of all threads and of the writer.
pub(crate) fn buffer_bytes(settings: &Settings, record: usize) -> u64 {
    (settings.threads.max(1) as u64 + 1) * QueryBuffers::memory(record)
}

#[cfg(test)]
mod tests {
    use lookalike_engine::Spool;

    use super::*;

    const MIB: u64 = 1 << 20;
    const RECORD: usize = 256;
    const LONGEST: u64 = 32 * MIB;

    fn settings(memory: u64) -> Settings {
        Settings { threads: 2, memory, spool: Spool::Disk }
    }

    /// The bytes that the shares leave to everything else.
    fn left(memory: u64, tail: u64) -> u64 {
        let settings = settings(memory);
        let shares = MemoryShares::of(&settings, LONGEST, RECORD, tail);
        memory.saturating_sub(shares.total() + buffer_bytes(&settings, RECORD))
    }

    #[test]
    fn a_large_memory_has_an_eighth_for_filters_and_a_sixteenth_for_each_tail_up_to_a_bound() {
        let shares = |memory, tail| {
            let MemoryShares { filters, tail, .. } =
                MemoryShares::of(&settings(memory), LONGEST, RECORD, tail);
            (filters, tail)
        };
        assert_eq!(shares(1024 * MIB, 32 * MIB), (128 * MIB, 32 * MIB));
        assert_eq!(shares(480 * MIB, 32 * MIB), (60 * MIB, 30 * MIB));
        assert_eq!(shares(1024 * MIB, 0), (128 * MIB, 0));
        assert_eq!(shares(u64::MAX, 32 * MIB), (MOST_FILTER_BYTES, 32 * MIB));
        assert_eq!(shares(0, 32 * MIB), (0, LEAST_TAIL_BYTES));
        assert_eq!(shares(0, 1), (0, 1), "fewer bytes than the least were asked for");
    }

    #[test]
    fn the_least_memory_is_that_without_an_index_with_buffers_and_small_tails() {
        let without = settings(0);
        let least = without.least_memory(LONGEST);
        for tail in [0, MIB, 32 * MIB] {
            let shares = MemoryShares::of(&without, LONGEST, RECORD, tail);
            let needed = shares.process_bytes(least, &without, RECORD);
            assert_eq!(needed, least + buffer_bytes(&without, RECORD) + 4 * tail.min(LEAST_TAIL_BYTES));
            assert!(left(needed, tail) >= least && left(needed - 1, tail) < least, "{tail}");
        }
    }

    #[test]
    fn shares_leave_enough_under_any_memory_that_is_enough() {
        let without = settings(0);
        let least = without.least_memory(LONGEST);
        for tail in [0, MIB, 32 * MIB] {
            let shares = MemoryShares::of(&without, LONGEST, RECORD, tail);
            let enough = shares.process_bytes(least, &without, RECORD);
            for memory in (enough..enough + 4096 * MIB).step_by(3_333_333) {
                assert!(left(memory, tail) >= least, "{memory} {tail}");
            }
            // Whatever else must be left is there under the memory that is asked for.
            for needed in (least..least + 8192 * MIB).step_by(7_777_777) {
                let memory = shares.process_bytes(needed, &without, RECORD);
                assert!(left(memory, tail) >= needed, "{needed} {tail}");
            }
        }
    }
}
