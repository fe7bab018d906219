//! HTML to text in one pass over the source: no tree, no recursion, no second look. A page 100,000 tags deep is read like any other.
//!
//! Tags are recognised as the HTML standard's tokenizer does; the deliberate deviations all save text that a
//! browser would lose: an attribute quote or comment that is never closed ends at the next `>`, and a title
//! or text area that is never closed does not take the page with it.

use memchr::memchr;

use super::Extracted;
use super::tag::{CommentEnds, Tag, TagEnds, end_tag, name_end, past_angle, script_end};
use super::writer::{Gap, Origin, ReadOptions, Writer};

/// Writes the text of an HTML page to `out`.
///
/// Scripts, styles, templates and comments are dropped, attributes are never text, block-level tags end a
/// block, and so does a double `<br>`. Never fails; time and memory are linear in the source.
///
/// ```
/// use lookalike_text::extract::{Extracted, html::html};
///
/// let mut out = Extracted::default();
/// html("<title>Tea</title><p>One <b>cup</b>ful &amp; no more", &mut out);
/// assert_eq!(out.text, "Tea\n\nOne cupful & no more");
/// assert!(out.blocks[0].heading);
/// ```
pub fn html(source: &str, out: &mut Extracted) {
    out.clear();
    let mut writer = Writer::new(source, Origin::At(0), out);
    write_html(&mut writer);
    writer.finish();
}

/// Writes the text of marked-up text whose tags are no HTML to `out`: every tag ends a block, only comments,
/// declarations and the tags themselves are dropped.
pub fn sgml(source: &str, out: &mut Extracted) {
    out.clear();
    let mut writer = Writer::new(source, Origin::At(0), out);
    Scanner::new(&mut writer, Dialect::Sgml).run();
    writer.finish();
}

/// Writes the text of the writer's whole source, read as HTML.
pub(super) fn write_html(writer: &mut Writer<'_>) {
    Scanner::new(writer, Dialect::Html).run();
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Dialect {
    Html,
    Sgml,
}

struct Scanner<'w, 'a> {
    writer: &'w mut Writer<'a>,
    bytes: &'a [u8],
    dialect: Dialect,
    tags: TagEnds,
    comments: CommentEnds,
    /// The number of open templates, and that of open preformatted elements.
    templates: usize,
    preformatted: usize,
    drawing: bool,
    /// No more end tag of this kind exists, so that nobody looks for it twice.
    no_title_end: bool,
    no_text_area_end: bool,
}

impl<'w, 'a> Scanner<'w, 'a> {
    fn new(writer: &'w mut Writer<'a>, dialect: Dialect) -> Self {
        Scanner {
            bytes: writer.source().as_bytes(),
            writer,
            dialect,
            tags: TagEnds::default(),
            comments: CommentEnds::default(),
            templates: 0,
            preformatted: 0,
            drawing: false,
            no_title_end: false,
            no_text_area_end: false,
        }
    }

    fn run(&mut self) {
        let mut at = 0;
        while at < self.bytes.len() {
            let open = memchr(b'<', &self.bytes[at..]).map_or(self.bytes.len(), |length| at + length);
            self.text(at, open);
            if open == self.bytes.len() {
                return;
            }
            at = self.markup(open);
        }
    }

    /// Reads what begins with the `<` at `open` and returns where it ends.
    fn markup(&mut self, open: usize) -> usize {
        let next = |ahead: usize| self.bytes.get(open + ahead);
        match next(1) {
            Some(byte) if byte.is_ascii_alphabetic() => self.start_tag(open + 1),
            Some(b'/') => match next(2) {
                Some(byte) if byte.is_ascii_alphabetic() => self.end_tag(open + 2),
                Some(_) => past_angle(self.bytes, open + 2),
                None => self.literal(open, open + 2),
            },
            Some(b'!') => self.declaration(open),
            Some(b'?') => past_angle(self.bytes, open + 1),
            _ => self.literal(open, open + 1),
        }
    }

    fn declaration(&mut self, open: usize) -> usize {
        let rest = &self.bytes[open..];
        if rest.starts_with(b"<!--") {
            return self
                .comments
                .from(self.bytes, open + 4)
                .unwrap_or_else(|| past_angle(self.bytes, open + 2));
        }
        if self.dialect == Dialect::Sgml && rest.starts_with(b"<![CDATA[") {
            return self.literal_section(open + 9);
        }
        past_angle(self.bytes, open + 2)
    }

    fn literal_section(&mut self, start: usize) -> usize {
        let length = memchr::memmem::find(&self.bytes[start..], b"]]>");
        let end = length.map_or(self.bytes.len(), |length| start + length);
        self.writer.text(start, end, ReadOptions::default());
        self.bytes.len().min(end + 3)
    }

    fn start_tag(&mut self, start: usize) -> usize {
        let name_end = name_end(self.bytes, start);
        let attributes = self.tags.attributes(self.bytes, name_end);
        if self.dialect == Dialect::Sgml {
            self.writer.separate(Gap::Block);
            return attributes.end;
        }
        let name = &self.bytes[start..name_end];
        let tag = Tag::named(name);
        let end = attributes.end;
        match tag {
            Tag::Inline => {}
            Tag::Link => self.writer.link = attributes.href,
            Tag::Break => self.separate(Gap::Line),
            Tag::Block => self.separate(Gap::Block),
            Tag::Heading => {
                self.separate(Gap::Block);
                self.writer.heading = true;
            }
            Tag::Preformatted => {
                self.separate(Gap::Block);
                self.preformatted += 1;
            }
            Tag::Template => self.templates += 1,
            Tag::Drawing => self.drawing = true,
            Tag::Script => return script_end(self.bytes, end).unwrap_or(self.bytes.len()),
            Tag::Dropped => return end_tag(self.bytes, end, name).unwrap_or(self.bytes.len()),
            Tag::Title => return self.title(end),
            Tag::TextArea => return self.text_area(end),
            Tag::Example => return self.example(end, name),
            Tag::PlainText => {
                return self.write_block(end, self.bytes.len(), ReadOptions { lines: true, entities: false });
            }
        }
        end
    }

    fn end_tag(&mut self, start: usize) -> usize {
        let name_end = name_end(self.bytes, start);
        let attributes = self.tags.attributes(self.bytes, name_end);
        if self.dialect == Dialect::Sgml {
            self.writer.separate(Gap::Block);
            return attributes.end;
        }
        match Tag::named(&self.bytes[start..name_end]) {
            Tag::Link => self.writer.link = false,
            Tag::Heading => {
                self.separate(Gap::Block);
                self.writer.heading = false;
            }
            Tag::Preformatted => {
                self.separate(Gap::Block);
                self.preformatted = self.preformatted.saturating_sub(1);
            }
            Tag::Template => self.templates = self.templates.saturating_sub(1),
            Tag::Drawing => self.drawing = false,
            // Browsers read `</br>` as `<br>`.
            Tag::Break => self.separate(Gap::Line),
            Tag::Block | Tag::Title | Tag::TextArea | Tag::Example | Tag::PlainText => {
                self.separate(Gap::Block)
            }
            Tag::Inline | Tag::Script | Tag::Dropped => {}
        }
        attributes.end
    }

    fn title(&mut self, start: usize) -> usize {
        let found = if self.no_title_end { None } else { end_tag(self.bytes, start, b"title") };
        let Some(end) = found else {
            self.no_title_end = true;
            self.separate(Gap::Block);
            return start;
        };
        // The title of a drawing is a tooltip.
        if self.drawing {
            return end;
        }
        let heading = std::mem::replace(&mut self.writer.heading, true);
        self.write_block(start, end, ReadOptions { lines: false, entities: true });
        self.writer.heading = heading;
        end
    }

    fn text_area(&mut self, start: usize) -> usize {
        let found = if self.no_text_area_end { None } else { end_tag(self.bytes, start, b"textarea") };
        let Some(end) = found else {
            self.no_text_area_end = true;
            self.separate(Gap::Block);
            return start;
        };
        self.write_block(start, end, ReadOptions { lines: true, entities: true })
    }

    fn example(&mut self, start: usize, name: &[u8]) -> usize {
        let end = end_tag(self.bytes, start, name).unwrap_or(self.bytes.len());
        self.write_block(start, end, ReadOptions { lines: true, entities: false })
    }

    /// Writes a block of its own and returns its end.
    fn write_block(&mut self, start: usize, end: usize, options: ReadOptions) -> usize {
        self.separate(Gap::Block);
        if self.templates == 0 {
            self.writer.text(start, end, options);
        }
        self.separate(Gap::Block);
        end
    }

    fn text(&mut self, start: usize, end: usize) {
        if self.templates == 0 && start < end {
            self.writer.text(start, end, ReadOptions { lines: self.preformatted > 0, entities: true });
        }
    }

    /// Writes markup that turned out to be none.
    fn literal(&mut self, start: usize, end: usize) -> usize {
        self.text(start, end);
        end
    }

    fn separate(&mut self, gap: Gap) {
        if self.templates == 0 {
            self.writer.separate(gap);
        }
    }
}

#[cfg(test)]
#[path = "html_tests.rs"]
pub(super) mod tests;
