//! Text before it has a form: words with the marks between them, in lines with a role.
//!
//! Articles, menus and whole pages are [`Prose`]. Plain text and markup are two renderings of it, and the
//! truth is counted on it; the three agree because they walk the same words.

use crate::Language;
use crate::language::Stop;

/// A word of the lexicon and what stands between it and the next one of its line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Word {
    pub(crate) id: u32,
    pub(crate) mark: Mark,
}

/// The mark after a word. Every mark but `None` separates words in every script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    /// A space between words of spaced scripts, nothing next to one of an unspaced script.
    None,
    Comma,
    Colon,
    Ampersand,
    Dash,
    /// Within a price, no space after it.
    Point,
    /// Within a date, no space after it.
    Hyphen,
    /// Within a time of day, no space after it.
    Minutes,
}

/// The purpose of a line. Rendering decides what it looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Title,
    Menu,
    Headline,
    Heading,
    /// A sentence that begins a paragraph.
    Paragraph,
    /// A sentence that continues the block before it.
    Sentence,
    Item,
    Footer,
}

/// A sentence, a heading, an entry of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) role: Role,
    pub(crate) language: Language,
    pub(crate) stop: Stop,
    start: u32,
    end: u32,
}

/// Words in lines.
#[derive(Debug, Default, Clone)]
pub(crate) struct Prose {
    words: Vec<Word>,
    lines: Vec<Line>,
}

impl Prose {
    pub(crate) fn clear(&mut self) {
        self.words.clear();
        self.lines.clear();
    }

    /// Adds a word to the line that is being written.
    pub(crate) fn push(&mut self, id: u32, mark: Mark) {
        self.words.push(Word { id, mark });
    }

    /// Ends the line that is being written. A line without words is not kept.
    pub(crate) fn finish(&mut self, role: Role, language: Language, stop: Stop) {
        let start = self.lines.last().map_or(0, |line| line.end);
        let end = self.words.len() as u32;
        if start < end {
            self.lines.push(Line { role, language, stop, start, end });
        }
    }

    /// Appends a line of other prose.
    pub(crate) fn copy_line(&mut self, from: &Prose, line: &Line) {
        self.words.extend_from_slice(from.words(line));
        self.finish(line.role, line.language, line.stop);
    }

    pub(crate) fn copy_lines(&mut self, from: &Prose, lines: &[Line]) {
        for line in lines {
            self.copy_line(from, line);
        }
    }

    /// Gives the last line another role.
    pub(crate) fn set_last_role(&mut self, role: Role) {
        if let Some(line) = self.lines.last_mut() {
            line.role = role;
        }
    }

    /// Lets the last line end otherwise.
    pub(crate) fn set_last_stop(&mut self, stop: Stop) {
        if let Some(line) = self.lines.last_mut() {
            line.stop = stop;
        }
    }

    pub(crate) fn lines(&self) -> &[Line] {
        &self.lines
    }

    pub(crate) fn words(&self, line: &Line) -> &[Word] {
        &self.words[line.start as usize..line.end as usize]
    }

    /// Title and headline, which edits leave alone, and the lines below.
    pub(crate) fn top_and_body(&self) -> (&[Line], &[Line]) {
        let is_top = |line: &&Line| matches!(line.role, Role::Title | Role::Headline);
        self.lines.split_at(self.lines.iter().take_while(is_top).count())
    }

    /// Bytes held.
    pub(crate) fn memory(&self) -> usize {
        self.words.capacity() * size_of::<Word>() + self.lines.capacity() * size_of::<Line>()
    }
}
