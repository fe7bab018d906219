//! Writes blocks: the one place that collapses white space, separates blocks and keeps the way back.

use super::entity::entity;
use super::{Block, Extracted};

/// The gap between the last visible character and the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Gap {
    /// Nothing: the two belong to one word.
    None,
    /// White space.
    Blank,
    /// A forced line break. Two in a row make a paragraph, so they end the block.
    Line,
    /// The end of a block.
    Block,
}

/// The rules by which a stretch of source is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct ReadOptions {
    /// Line feeds are line breaks (preformatted text) and not mere white space.
    pub(super) lines: bool,
    /// Character references are decoded.
    pub(super) entities: bool,
}

/// The position of the source that a [`Writer`] reads in the source that the spans lead back to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// The same bytes, from this offset on.
    At(usize),
    /// Decoded from these bytes as a whole: offset and length.
    Decoded(usize, usize),
}

/// Appends blocks made from `source` to an [`Extracted`].
#[derive(Debug)]
pub(super) struct Writer<'a> {
    source: &'a str,
    origin: Origin,
    out: &'a mut Extracted,
    gap: Gap,
    /// The link state when the gap began: a blank counts as linked only between two linked characters.
    gap_linked: bool,
    block: Option<Block>,
    /// One past the last source byte that became visible.
    source_end: usize,
    /// With a decoded origin, one entry in the map serves all pieces.
    mapped: bool,
    /// True if the text written now is inside a link.
    pub(super) link: bool,
    /// Blocks that begin now are headings.
    pub(super) heading: bool,
}

impl<'a> Writer<'a> {
    pub(super) fn new(source: &'a str, origin: Origin, out: &'a mut Extracted) -> Self {
        Writer {
            source,
            origin,
            out,
            gap: Gap::Block,
            gap_linked: false,
            block: None,
            source_end: 0,
            mapped: false,
            link: false,
            heading: false,
        }
    }

    pub(super) fn source(&self) -> &'a str {
        self.source
    }

    /// Widens the gap before the next visible character.
    pub(super) fn separate(&mut self, gap: Gap) {
        if self.gap == Gap::None {
            self.gap_linked = self.link;
        }
        let paragraph = gap == Gap::Line && self.gap == Gap::Line;
        self.gap = if paragraph { Gap::Block } else { self.gap.max(gap) };
    }

    /// Writes `source[start..end]`, collapsing its white space.
    pub(super) fn text(&mut self, start: usize, end: usize, options: ReadOptions) {
        let bytes = self.source.as_bytes();
        let mut at = start;
        while at < end {
            let byte = bytes[at];
            if is_blank(byte) {
                self.blank(at, options);
                at += 1;
            } else if byte == b'&' && options.entities {
                at += self.reference(at, end, options);
            } else {
                let stop = visible_end(bytes, at, end, options.entities);
                self.copy(at, stop);
                at = stop;
            }
        }
    }

    /// Closes the last block.
    pub(super) fn finish(mut self) {
        self.close();
    }

    fn blank(&mut self, at: usize, options: ReadOptions) {
        let bytes = self.source.as_bytes();
        let ends_line = match bytes[at] {
            b'\n' => true,
            b'\r' => bytes.get(at + 1) != Some(&b'\n'),
            _ => false,
        };
        self.separate(if options.lines && ends_line { Gap::Line } else { Gap::Blank });
    }

    /// Writes the character reference at `at`, or its ampersand if it is none; returns its length.
    fn reference(&mut self, at: usize, end: usize, options: ReadOptions) -> usize {
        let Some((decoded, length)) = entity(&self.source[at..end]) else {
            self.copy(at, at + 1);
            return 1;
        };
        match decoded.as_str().as_bytes() {
            b"\n" if options.lines => self.separate(Gap::Line),
            [byte] if is_blank(*byte) => self.separate(Gap::Blank),
            _ => self.replace(decoded.as_str(), at, length),
        }
        length
    }

    fn copy(&mut self, start: usize, end: usize) {
        self.begin(start);
        self.map_copy(start, end - start);
        self.out.text.push_str(&self.source[start..end]);
        self.written(end - start, end);
    }

    fn replace(&mut self, text: &str, start: usize, length: usize) {
        self.begin(start);
        self.map_replacement(start, length);
        self.out.text.push_str(text);
        self.written(text.len(), start + length);
    }

    fn written(&mut self, length: usize, source_end: usize) {
        self.source_end = source_end;
        if let (true, Some(block)) = (self.link, &mut self.block) {
            block.linked += length as u32;
        }
    }

    /// Writes the gap before the visible character at `start`, and opens a block where none is open.
    fn begin(&mut self, start: usize) {
        let gap = std::mem::replace(&mut self.gap, Gap::None);
        if gap == Gap::None {
            return;
        }
        if gap == Gap::Block {
            self.close();
            if !self.out.text.is_empty() {
                self.fill("\n\n", start);
            }
            let at = self.out.text.len() as u32;
            self.block = Some(Block { start: at, end: at, linked: 0, heading: self.heading });
            return;
        }
        self.fill(if gap == Gap::Line { "\n" } else { " " }, start);
        if let (true, Some(block)) = (self.link && self.gap_linked, &mut self.block) {
            block.linked += 1;
        }
    }

    /// Writes white space that stands for the source up to `start`.
    fn fill(&mut self, filler: &str, start: usize) {
        let from = self.source_end;
        if self.source.as_bytes()[from..start] == *filler.as_bytes() {
            self.map_copy(from, start - from);
        } else {
            self.map_replacement(from, start - from);
        }
        self.out.text.push_str(filler);
    }

    fn close(&mut self) {
        if let Some(mut block) = self.block.take() {
            block.end = self.out.text.len() as u32;
            self.out.blocks.push(block);
        }
    }

    fn map_copy(&mut self, start: usize, length: usize) {
        match self.origin {
            Origin::At(base) => self.out.spans.copied(self.out.text.len(), base + start, length),
            Origin::Decoded(..) => self.map_replacement(start, length),
        }
    }

    fn map_replacement(&mut self, start: usize, length: usize) {
        let at = self.out.text.len();
        match self.origin {
            Origin::At(base) => self.out.spans.replaced(at, base + start, length),
            Origin::Decoded(start, length) if !self.mapped => {
                self.mapped = true;
                self.out.spans.replaced(at, start, length);
            }
            Origin::Decoded(..) => {}
        }
    }
}

/// White space as HTML knows it; a no-break space is none.
pub(super) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0c)
}

/// The end of the run of characters that are copied as they are, single blanks between them included.
fn visible_end(bytes: &[u8], start: usize, end: usize, entities: bool) -> usize {
    let stop = if entities { BLANK | AMPERSAND } else { BLANK };
    let mut at = start;
    while at < end {
        let stops = CLASS[bytes[at] as usize] & stop != 0;
        if !stops {
            at += 1;
        } else if bytes[at] == b' ' && at + 1 < end && CLASS[bytes[at + 1] as usize] & stop == 0 {
            at += 2;
        } else {
            break;
        }
    }
    at
}

const BLANK: u8 = 1;
const AMPERSAND: u8 = 2;

static CLASS: [u8; 256] = {
    let mut table = [0; 256];
    table[b' ' as usize] = BLANK;
    table[b'\t' as usize] = BLANK;
    table[b'\n' as usize] = BLANK;
    table[b'\r' as usize] = BLANK;
    table[0x0c] = BLANK;
    table[b'&' as usize] = AMPERSAND;
    table
};
