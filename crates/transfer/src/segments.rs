//! The right side of a comparison in parts, in their order.
//!
//! A segment has whole shards.

use lookalike::engine::compared::{ShardRange, Side};

/// A part of the right side: some of its shards.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    /// Its name.
    pub name: String,
    /// The number of its shards.
    pub shards: usize,
    /// The snapshot that it is a part of, from 0.
    pub snapshot: usize,
}

/// The segments of the right side and their ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segments {
    /// All of them.
    pub segments: Vec<Segment>,
    /// For each segment, the position of the right document after its last one.
    ends: Vec<u32>,
}

impl Segments {
    /// Segments that together have all shards of the right side.
    pub fn new(segments: Vec<Segment>, shards: &[ShardRange]) -> Self {
        let mut right = shards.iter().filter(|shard| shard.side == Side::Right);
        let mut end = 0;
        let ends = segments.iter().map(|segment| {
            end = right.by_ref().take(segment.shards).last().map_or(end, |shard| shard.first + shard.records);
            end
        });
        let ends = ends.collect();
        Segments { segments, ends }
    }

    /// Returns the segment of the right document at this position of the input.
    pub fn of(&self, position: u32) -> usize {
        let segment = self.ends.partition_point(|&end| end <= position);
        segment.min(self.segments.len().saturating_sub(1))
    }

    /// Returns the number of segments.
    pub fn len(&self) -> usize {
        self.segments.len()
    }

    /// True when there is none.
    pub fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// Returns the number of snapshots that the segments are parts of.
    pub fn snapshots(&self) -> usize {
        self.segments.iter().map(|segment| segment.snapshot + 1).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_in_the_segment_of_their_shard() {
        let shard = |side, first, records| ShardRange { side, name: String::new(), first, records };
        let shards = [
            shard(Side::Left, 0, 100),
            shard(Side::Right, 0, 5),
            shard(Side::Right, 5, 0),
            shard(Side::Right, 5, 3),
            shard(Side::Right, 8, 2),
        ];
        let segment = |shards, snapshot| Segment { name: String::new(), shards, snapshot };
        let segments = Segments::new(vec![segment(2, 0), segment(1, 0), segment(1, 1)], &shards);
        let of: Vec<usize> = (0..10).map(|document| segments.of(document)).collect();
        assert_eq!(of, [0, 0, 0, 0, 0, 1, 1, 1, 2, 2]);
        assert_eq!(segments.snapshots(), 2);
    }

    fn shard(first: u32, records: u32) -> ShardRange {
        ShardRange { side: Side::Right, name: String::new(), first, records }
    }

    fn segment(shards: usize, snapshot: usize) -> Segment {
        Segment { name: String::new(), shards, snapshot }
    }

    #[test]
    fn no_segments_have_no_snapshots() {
        let none = Segments::new(Vec::new(), &[shard(0, 5)]);
        assert_eq!((none.len(), none.is_empty(), none.snapshots(), none.of(3)), (0, true, 0, 0));
    }

    #[test]
    fn what_is_behind_the_end_is_in_the_last_segment() {
        let segments = Segments::new(vec![segment(1, 0), segment(1, 0)], &[shard(0, 2), shard(2, 2)]);
        assert_eq!([0, 1, 2, 3, 4, u32::MAX].map(|place| segments.of(place)), [0, 0, 1, 1, 1, 1]);
        assert_eq!((segments.len(), segments.is_empty()), (2, false));
    }

    #[test]
    fn segments_without_records_have_no_documents() {
        let all = vec![segment(0, 0), segment(1, 0), segment(1, 1), segment(1, 2)];
        let segments = Segments::new(all, &[shard(0, 0), shard(0, 3), shard(3, 1)]);
        assert_eq!([0, 2, 3].map(|place| segments.of(place)), [2, 2, 3]);
        assert_eq!(segments.snapshots(), 3);
    }

    #[test]
    fn a_segment_may_have_several_shards() {
        let segments =
            Segments::new(vec![segment(2, 0), segment(3, 0)], &[shard(0, 1), shard(1, 1), shard(2, 1)]);
        assert_eq!([0, 1, 2].map(|place| segments.of(place)), [0, 0, 1]);
    }
}
