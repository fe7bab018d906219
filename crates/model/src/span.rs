//! Spans of bytes, and maps from a derived text back to the text it was made from.

/// A half-open range of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// A span from `start` to `end`.
    pub fn new(start: usize, end: usize) -> Self {
        Span { start: offset(start), end: offset(end) }
    }

    /// The piece of `text` that this span covers.
    ///
    /// # Panics
    /// When the span does not lie inside `text` on character boundaries.
    pub fn of<'t>(&self, text: &'t str) -> &'t str {
        &text[self.start as usize..self.end as usize]
    }

    /// Number of bytes.
    pub fn len(&self) -> usize {
        (self.end - self.start) as usize
    }

    /// True when it covers nothing.
    pub fn is_empty(&self) -> bool {
        self.start == self.end
    }
}

/// Positions inside one document are 32 bits wide: readers cap documents far below 4 GiB.
pub(crate) fn offset(at: usize) -> u32 {
    u32::try_from(at).expect("a document is shorter than 4 GiB")
}

/// A piecewise map from a derived text back to its source.
///
/// A text is derived piece by piece: a piece either copies its source byte for byte (most of them), or stands
/// for a stretch of the source as a whole (an entity, a normalised cluster). The map holds one entry of 12
/// bytes per piece and joins neighbours that continue each other, so a text taken as it is costs one entry.
///
/// ```
/// use lookalike_model::{Span, SpanMap};
///
/// // "a &amp; b" becomes "a & b"
/// let mut map = SpanMap::default();
/// map.copied(0, 0, 2);
/// map.replaced(2, 2, 5);
/// map.copied(3, 7, 2);
/// assert_eq!(map.to_source(Span::new(2, 3)), Span::new(2, 7));
/// assert_eq!(map.to_source(Span::new(4, 5)), Span::new(8, 9));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SpanMap {
    pieces: Vec<Piece>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Piece {
    /// Offset of the piece in the derived text.
    out: u32,
    /// Offset of the piece in the source.
    source: u32,
    /// Length in the source of a piece that was replaced as a whole; `COPIED` for one copied byte for byte.
    replaced: u32,
}

const COPIED: u32 = u32::MAX;

impl SpanMap {
    /// Forgets everything but keeps the memory.
    pub fn clear(&mut self) {
        self.pieces.clear();
    }

    /// Says that `length` bytes from `out` on were copied from `source` on.
    pub fn copied(&mut self, out: usize, source: usize, length: usize) {
        if length == 0 {
            return;
        }
        let (out, source) = (offset(out), offset(source));
        if let Some(last) = self.pieces.last() {
            let continues = last.replaced == COPIED
                && out.wrapping_sub(last.out) == source.wrapping_sub(last.source)
                && out >= last.out;
            if continues {
                return;
            }
        }
        self.pieces.push(Piece { out, source, replaced: COPIED });
    }

    /// Says that the bytes from `out` up to the next piece stand for `source_length` bytes from `source` on.
    pub fn replaced(&mut self, out: usize, source: usize, source_length: usize) {
        self.pieces.push(Piece { out: offset(out), source: offset(source), replaced: offset(source_length) });
    }

    /// Adds what `other` knows of `span`, for the same text written from `out` on.
    pub fn append(&mut self, other: &SpanMap, span: Span, out: usize) {
        if span.is_empty() {
            return;
        }
        let out = offset(out);
        let first = other.pieces.partition_point(|piece| piece.out <= span.start);
        let last = other.pieces.partition_point(|piece| piece.out < span.end);
        self.pieces.push(match first.checked_sub(1).map(|index| other.pieces[index]) {
            Some(piece) if piece.replaced == COPIED => {
                Piece { out, source: piece.source + (span.start - piece.out), replaced: COPIED }
            }
            Some(piece) => Piece { out, ..piece },
            None => Piece { out, source: span.start, replaced: COPIED },
        });
        let rest = &other.pieces[first..last];
        self.pieces.extend(rest.iter().map(|piece| Piece { out: out + (piece.out - span.start), ..*piece }));
    }

    /// The smallest stretch of the source that `span` was made from.
    pub fn to_source(&self, span: Span) -> Span {
        let start = match self.piece(span.start) {
            Some(piece) if piece.replaced == COPIED => piece.source + (span.start - piece.out),
            Some(piece) => piece.source,
            None => span.start,
        };
        if span.is_empty() {
            return Span { start, end: start };
        }
        let end = match self.piece(span.end - 1) {
            Some(piece) if piece.replaced == COPIED => piece.source + (span.end - piece.out),
            Some(piece) => piece.source + piece.replaced,
            None => span.end,
        };
        Span { start, end: end.max(start) }
    }

    /// The piece that holds the byte `at`; without pieces before it a text is its own source.
    fn piece(&self, at: u32) -> Option<&Piece> {
        let index = self.pieces.partition_point(|piece| piece.out <= at);
        index.checked_sub(1).map(|index| &self.pieces[index])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_that_continue_each_other_share_one_piece() {
        let mut map = SpanMap::default();
        map.copied(0, 10, 4);
        map.copied(4, 14, 4);
        assert_eq!(map.pieces.len(), 1);
        map.copied(8, 30, 2);
        assert_eq!(map.pieces.len(), 2);
        assert_eq!(map.to_source(Span::new(3, 9)), Span::new(13, 31));
    }

    #[test]
    fn a_part_leads_back_as_the_whole_does() {
        let mut whole = SpanMap::default();
        whole.copied(0, 5, 4);
        whole.replaced(4, 9, 6);
        whole.copied(6, 15, 4);
        for (start, end) in [(0, 10), (2, 10), (4, 8), (5, 7), (7, 9), (3, 5)] {
            let mut part = SpanMap::default();
            part.append(&whole, Span::new(start, end), 100);
            for at in start..end {
                let moved = at - start + 100;
                assert_eq!(
                    part.to_source(Span::new(moved, moved + 1)),
                    whole.to_source(Span::new(at, at + 1))
                );
            }
        }
    }

    #[test]
    fn an_empty_map_is_the_identity() {
        assert_eq!(SpanMap::default().to_source(Span::new(3, 9)), Span::new(3, 9));
    }
}
