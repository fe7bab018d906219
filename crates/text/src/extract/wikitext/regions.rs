//! Stretches in which wiki markup means nothing: comments, `<nowiki>`, formulas, program text.

use super::super::tag::{NextOccurrence, end_tag, is_named, past_angle};

/// A stretch in which wiki markup means nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Region {
    /// Not shown, or not as text.
    Dropped {
        /// One past its last byte.
        end: usize,
    },
    /// Shown as it is.
    Literal {
        /// First byte of what is shown.
        start: usize,
        /// One past the last byte of what is shown.
        stop: usize,
        /// One past the end tag.
        end: usize,
        /// Line feeds count.
        lines: bool,
        /// Character references are decoded.
        entities: bool,
    },
}

impl Region {
    /// One past its last byte.
    pub(super) fn end(&self) -> usize {
        match *self {
            Region::Dropped { end } | Region::Literal { end, .. } => end,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rule {
    Drop,
    Show { lines: bool, entities: bool },
}

const CODE: Rule = Rule::Show { lines: true, entities: false };

const RULES: [(&[u8], Rule); 16] = [
    (b"nowiki", Rule::Show { lines: false, entities: true }),
    (b"pre", Rule::Show { lines: true, entities: true }),
    (b"syntaxhighlight", CODE),
    (b"source", CODE),
    (b"ref", Rule::Drop),
    (b"math", Rule::Drop),
    (b"gallery", Rule::Drop),
    (b"timeline", Rule::Drop),
    (b"score", Rule::Drop),
    (b"chem", Rule::Drop),
    (b"hiero", Rule::Drop),
    (b"imagemap", Rule::Drop),
    (b"graph", Rule::Drop),
    (b"mapframe", Rule::Drop),
    (b"templatedata", Rule::Drop),
    (b"templatestyles", Rule::Drop),
];

/// Finds regions. Offsets asked for must not go back.
pub(super) struct Regions<'a> {
    bytes: &'a [u8],
    comment_ends: NextOccurrence<'static>,
    angles: NextOccurrence<'static>,
    /// The next end tag of each rule: unknown, at a place, or none.
    ends: [Option<Option<usize>>; RULES.len()],
}

impl<'a> Regions<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Regions {
            bytes,
            comment_ends: NextOccurrence::new(b"-->"),
            angles: NextOccurrence::new(b">"),
            ends: [None; RULES.len()],
        }
    }

    /// The region that begins with the `<` at `at`; one that never ends is none.
    pub(super) fn at(&mut self, at: usize) -> Option<Region> {
        if self.bytes[at..].starts_with(b"<!--") {
            let end = self.comment_ends.from(self.bytes, at + 4)? + 3;
            return Some(Region::Dropped { end });
        }
        let index = RULES.iter().position(|(name, _)| is_named(self.bytes, at + 1, name))?;
        let (_, rule) = RULES[index];
        // Wikis know no quotes here: the first `>` ends the tag.
        let start = self.angles.from(self.bytes, at)? + 1;
        if self.bytes[start - 2] == b'/' {
            return Some(Region::Dropped { end: start });
        }
        let stop = self.end_tag(index, start)?;
        let end = past_angle(self.bytes, stop);
        Some(match rule {
            Rule::Drop => Region::Dropped { end },
            Rule::Show { lines, entities } => Region::Literal { start, stop, end, lines, entities },
        })
    }

    /// Returns the offset of the next end tag of a rule; one search serves every opener before that tag.
    fn end_tag(&mut self, index: usize, start: usize) -> Option<usize> {
        let known = self.ends[index].filter(|end| end.is_none_or(|end| end >= start));
        let end = known.unwrap_or_else(|| end_tag(self.bytes, start, RULES[index].0));
        self.ends[index] = Some(end);
        end
    }
}
