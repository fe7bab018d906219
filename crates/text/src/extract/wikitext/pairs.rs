//! Pairs of opening and closing braces or brackets.

use super::regions::Regions;

/// The markup that a pair encloses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// `{{…}}` or `{{{…}}}`.
    Template,
    /// `[[…]]`.
    Link,
}

/// An opener that has a closer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pair {
    pub(super) kind: Kind,
    /// First byte of the opener.
    pub(super) open: usize,
    /// One past the last byte of the closer.
    pub(super) close: usize,
    /// The first `|` that belongs to the pair itself.
    pub(super) pipe: Option<usize>,
}

/// All pairs in the order of their openers. Comments and literal text are passed over.
///
/// A closer takes the nearest opener of its kind; openers of the other kind in between stay without closer.
pub(super) fn pairs(bytes: &[u8]) -> Vec<Pair> {
    let mut matcher = Matcher::default();
    let mut regions = Regions::new(bytes);
    let mut at = 0;
    while let Some(place) = next_mark(bytes, at) {
        let run = bytes[place..].iter().take_while(|byte| **byte == bytes[place]).count();
        at = place + run;
        match bytes[place] {
            b'{' => matcher.open_braces(place, run),
            b'}' => matcher.close_braces(place, run),
            b'[' if run >= 2 => {
                matcher.open.push(Opener { kind: Kind::Link, at: at - 2, width: 2, pipe: None })
            }
            b']' if run >= 2 => matcher.close(Kind::Link, place + 2),
            b'|' => matcher.pipe(place),
            b'<' => at = regions.at(place).map_or(place + 1, |region| region.end()),
            _ => {}
        }
    }
    matcher.found.sort_unstable_by_key(|pair| pair.open);
    matcher.found
}

fn next_mark(bytes: &[u8], at: usize) -> Option<usize> {
    let is_mark = |byte: &u8| matches!(byte, b'{' | b'}' | b'[' | b']' | b'|' | b'<');
    bytes.get(at..)?.iter().position(is_mark).map(|length| at + length)
}

#[derive(Debug, Clone, Copy)]
struct Opener {
    kind: Kind,
    at: usize,
    /// 3 for the braces of a parameter.
    width: usize,
    pipe: Option<usize>,
}

#[derive(Default)]
struct Matcher {
    open: Vec<Opener>,
    open_templates: usize,
    found: Vec<Pair>,
}

impl Matcher {
    /// Three braces open a parameter, any other number opens templates; an odd brace in front is text.
    fn open_braces(&mut self, place: usize, run: usize) {
        let mut at = place;
        let end = place + run;
        while end - at >= 2 {
            let width = if end - at == 3 { 3 } else { 2 };
            self.open.push(Opener { kind: Kind::Template, at, width, pipe: None });
            self.open_templates += 1;
            at += width;
        }
    }

    fn close_braces(&mut self, place: usize, run: usize) {
        let mut at = place;
        let end = place + run;
        while end - at >= 2 && self.open_templates > 0 {
            let inner = self.open.iter().rev().find(|open| open.kind == Kind::Template);
            let width = inner.map_or(2, |open| open.width).min(end - at);
            at += width;
            self.close(Kind::Template, at);
        }
    }

    fn close(&mut self, kind: Kind, close: usize) {
        let links = self.open.len() - self.open_templates;
        let available = if kind == Kind::Template { self.open_templates } else { links };
        if available == 0 {
            return;
        }
        while let Some(open) = self.open.pop() {
            self.open_templates -= usize::from(open.kind == Kind::Template);
            if open.kind == kind {
                self.found.push(Pair { kind, open: open.at, close, pipe: open.pipe });
                return;
            }
        }
    }

    fn pipe(&mut self, place: usize) {
        if let Some(open) = self.open.last_mut() {
            open.pipe.get_or_insert(place);
        }
    }
}
