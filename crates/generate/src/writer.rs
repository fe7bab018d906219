//! Writes lines, and articles out of lines.

use crate::Language;
use crate::language::Stop;
use crate::lexicon::{self, is_number, other_number, two_digits};
use crate::pattern::{Pattern, Piece, Slot};
use crate::phrasebook::{Phrasebook, Style};
use crate::prose::{Mark, Prose, Role, Word};
use crate::random::Random;

/// The subject and the language of an article.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Subject {
    /// Number of the genre.
    pub(crate) style: usize,
    pub(crate) language: Language,
    /// Some lines are in this language instead.
    pub(crate) second: Option<Language>,
    /// The coined name that the page keeps coming back to.
    pub(crate) name: u32,
}

/// The length of an article.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Length {
    /// A headline of under five words and nothing else.
    Tiny,
    /// Five to twenty words.
    Little,
    /// A single section.
    Brief,
    /// As long as the genre asks for.
    Full,
    /// Several times as long.
    Long,
}

/// The kind of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineKind {
    Title,
    Heading,
    Sentence,
    Item,
    Menu,
    Footer,
}

impl LineKind {
    /// Fewest and most words of such a line in an invented language.
    fn words(self) -> (u32, u32) {
        match self {
            LineKind::Title => (3, 7),
            LineKind::Heading => (2, 5),
            LineKind::Sentence => (6, 18),
            LineKind::Item => (2, 6),
            LineKind::Menu => (1, 3),
            LineKind::Footer => (6, 14),
        }
    }

    fn patterns<'b>(self, book: &'b Phrasebook, style: &'b Style) -> &'b [Pattern] {
        match self {
            LineKind::Title => &style.titles,
            LineKind::Heading => &style.headings,
            LineKind::Sentence => &style.sentences,
            LineKind::Item => &style.items,
            LineKind::Menu => &book.menu,
            LineKind::Footer => &book.footer,
        }
    }

    /// Labels end without a full stop.
    fn stop(self, wanted: Stop) -> Stop {
        let is_label = !matches!(self, LineKind::Sentence | LineKind::Footer);
        if is_label && wanted == Stop::Full { Stop::None } else { wanted }
    }
}

/// Writes about a subject, from a phrasebook and a stream of random numbers.
pub(crate) struct Writer<'b> {
    pub(crate) book: &'b Phrasebook,
    pub(crate) subject: Subject,
    pub(crate) random: Random,
}

impl Writer<'_> {
    /// A whole article: title, headline, sections.
    pub(crate) fn article(&mut self, length: Length, prose: &mut Prose) {
        match length {
            Length::Tiny => return self.few_words(1, 2, prose),
            Length::Little => return self.few_words(4, 18, prose),
            Length::Brief | Length::Full | Length::Long => {}
        }
        self.top(prose);
        let genre = self.book.style(self.subject.style).genre;
        let (fewest, most) = genre.sections;
        let sections = match length {
            Length::Long => self.random.between(fewest, most) * self.random.between(3, 8),
            Length::Full => self.random.between(fewest, most),
            _ => 1,
        };
        for section in 0..sections {
            if section > 0 {
                self.line(LineKind::Heading, Role::Heading, prose);
            }
            self.section(genre.paragraphs, genre.entries, prose);
        }
    }

    /// A title, and the headline that repeats it above the text.
    fn top(&mut self, prose: &mut Prose) {
        self.line(LineKind::Title, Role::Title, prose);
        if let Some(title) = prose.lines().last().copied() {
            for index in 0..prose.words(&title).len() {
                let Word { id, mark } = prose.words(&title)[index];
                prose.push(id, mark);
            }
            prose.finish(Role::Headline, title.language, title.stop);
        }
    }

    fn section(&mut self, paragraphs: (u32, u32), entries: (u32, u32), prose: &mut Prose) {
        for _ in 0..self.random.between(paragraphs.0, paragraphs.1) {
            self.line(LineKind::Sentence, Role::Paragraph, prose);
            for _ in 0..self.random.between(1, 4) {
                self.sentence(prose);
            }
        }
        for _ in 0..self.random.between(entries.0, entries.1) {
            self.line(LineKind::Item, Role::Item, prose);
        }
    }

    /// A page of a few words with the coined name in their midst.
    fn few_words(&mut self, fewest: u32, most: u32, prose: &mut Prose) {
        let before = self.random.between(fewest, most);
        let language = self.subject.language;
        for place in 0..=before {
            let word = if place == before / 2 { self.subject.name } else { self.word(language) };
            prose.push(word, Mark::None);
        }
        prose.finish(Role::Headline, language, Stop::Full);
    }

    /// A sentence that continues a paragraph.
    pub(crate) fn sentence(&mut self, prose: &mut Prose) {
        self.line(LineKind::Sentence, Role::Sentence, prose);
    }

    /// A sentence that begins a paragraph.
    pub(crate) fn paragraph(&mut self, prose: &mut Prose) {
        self.line(LineKind::Sentence, Role::Paragraph, prose);
    }

    /// An entry of a menu.
    pub(crate) fn menu(&mut self, prose: &mut Prose) {
        self.line(LineKind::Menu, Role::Menu, prose);
    }

    /// Writes a line for the foot of a page.
    pub(crate) fn footer(&mut self, prose: &mut Prose) {
        self.line(LineKind::Footer, Role::Footer, prose);
    }

    fn line(&mut self, kind: LineKind, role: Role, prose: &mut Prose) {
        let language = match self.subject.second {
            Some(second) if self.random.one_in(3) => second,
            _ => self.subject.language,
        };
        let stop = match language {
            Language::English => self.english(kind, prose),
            _ => self.invented(kind, language, prose),
        };
        prose.finish(role, language, kind.stop(stop));
    }

    fn english(&mut self, kind: LineKind, prose: &mut Prose) -> Stop {
        let book = self.book;
        let style = book.style(self.subject.style);
        let patterns = kind.patterns(book, style);
        let pattern = &patterns[self.random.index(patterns.len())];
        for &(piece, mark) in &pattern.pieces {
            match piece {
                Piece::Word(id) => prose.push(id, mark),
                Piece::Slot(slot) => self.fill(slot, style, mark, prose),
            }
        }
        pattern.stop
    }

    fn fill(&mut self, slot: Slot, style: &Style, mark: Mark, prose: &mut Prose) {
        let Some(fillers) = self.book.fillers(slot, style) else {
            return self.figure(slot, mark, prose);
        };
        let phrase = &fillers[self.random.skewed(fillers.len())];
        if let Some((&last, before)) = phrase.split_last() {
            before.iter().for_each(|&id| prose.push(id, Mark::None));
            prose.push(last, mark);
        }
    }

    /// Numbers, dates and names.
    fn figure(&mut self, slot: Slot, mark: Mark, prose: &mut Prose) {
        let random = &mut self.random;
        match slot {
            Slot::Price => {
                prose.push(lexicon::number(random.between(2, 400)), Mark::Point);
                prose.push(two_digits(random.below(20) * 5), mark);
            }
            Slot::Date => {
                prose.push(lexicon::number(random.between(1995, 2025)), Mark::Hyphen);
                prose.push(two_digits(random.between(1, 12)), Mark::Hyphen);
                prose.push(two_digits(random.between(1, 28)), mark);
            }
            Slot::Time => {
                prose.push(lexicon::number(random.between(6, 23)), Mark::Minutes);
                prose.push(two_digits(random.below(12) * 5), mark);
            }
            Slot::Name => prose.push(self.subject.name, mark),
            _ => prose.push(lexicon::number(random.between(2, 990)), mark),
        }
    }

    /// Words by Zipf's law, now and then a comma, a number or the coined name.
    fn invented(&mut self, kind: LineKind, language: Language, prose: &mut Prose) -> Stop {
        const FIGURES: [Slot; 4] = [Slot::Number, Slot::Date, Slot::Price, Slot::Name];
        let sampler = self.book.lexicon.sampler(language);
        let (fewest, most) = kind.words();
        if kind == LineKind::Title {
            prose.push(self.subject.name, Mark::None);
        }
        for _ in 0..self.random.between(fewest, most) {
            let draw = self.random.next();
            let mark = if (draw >> 20).is_multiple_of(16) { Mark::Comma } else { Mark::None };
            match (draw >> 32) % 64 {
                figure @ 0..4 => self.figure(FIGURES[figure as usize], mark, prose),
                _ => prose.push(sampler.word(draw), mark),
            }
        }
        let asks = kind == LineKind::Sentence && self.random.one_in(16);
        if asks { Stop::Question } else { Stop::Full }
    }

    /// A single word of a language.
    pub(crate) fn word(&mut self, language: Language) -> u32 {
        if language != Language::English {
            return self.book.lexicon.draw(language, &mut self.random);
        }
        const LISTS: [Slot; 5] = [Slot::Noun, Slot::Nouns, Slot::Adjective, Slot::Verb, Slot::Past];
        let slot = LISTS[self.random.index(LISTS.len())];
        let style = self.book.style(self.subject.style);
        let fillers = self.book.fillers(slot, style).map(Vec::as_slice).unwrap_or_default();
        let phrase = fillers.get(self.random.skewed(fillers.len()));
        phrase.and_then(|words| words.first()).copied().unwrap_or(self.subject.name)
    }

    /// A word that can stand where `word` stood: for a number another number.
    pub(crate) fn other_word(&mut self, word: u32, language: Language) -> u32 {
        if is_number(word) {
            return other_number(word, &mut self.random);
        }
        let other = self.word(language);
        if other == word { self.subject.name } else { other }
    }
}
