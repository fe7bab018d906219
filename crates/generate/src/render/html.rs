//! A web page. Block-level tags stand between words, inline tags around whole words, and entities only where a
//! reader of markup turns them back into the very same letters, so the visible words are those of the prose.

use std::fmt::Write;

use super::skin::{SKINS, Skin, Tags};
use super::{gap, is_capital, push_capital};
use crate::Language;
use crate::lexicon::{Lexicon, is_number};
use crate::prose::{Line, Prose, Role};
use crate::random::Random;

/// Renders a page as HTML; `form` decides on skin, inline tags and entities.
pub(crate) fn html(page: &Prose, lexicon: &Lexicon, language: Language, form: u64, out: &mut String) {
    let mut random = Random::new(form);
    let skin = SKINS[random.index(SKINS.len())];
    let entities = random.one_in(3);
    let mut renderer = HtmlRenderer {
        page,
        lexicon,
        skin,
        entities,
        random,
        until_inline: 20,
        open: None,
        coined: String::new(),
        out,
    };
    renderer.page(language);
}

struct HtmlRenderer<'p> {
    page: &'p Prose,
    lexicon: &'p Lexicon,
    skin: &'p Skin,
    /// Accented letters and some spaces are written as entities.
    entities: bool,
    random: Random,
    /// Words until the next one with inline tags.
    until_inline: u32,
    /// The block that is open, and what closes it.
    open: Option<(Block, &'static str)>,
    coined: String,
    out: &'p mut String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Block {
    Menu,
    List,
    Foot,
    Paragraph,
}

impl HtmlRenderer<'_> {
    fn page(&mut self, language: Language) {
        let (titles, rest) = split_title(self.page.lines());
        self.out.push_str(self.skin.start);
        self.out.push_str(language.tag());
        self.out.push_str(self.skin.head);
        titles.iter().for_each(|line| self.line(line));
        self.out.push_str(self.skin.body);
        rest.iter().for_each(|line| self.block(line));
        self.close();
        self.out.push_str(self.skin.end);
    }

    fn block(&mut self, line: &Line) {
        let skin = self.skin;
        match line.role {
            Role::Menu => self.within(Block::Menu, skin.menu, skin.menu_entry, line),
            Role::Item => self.within(Block::List, skin.list, skin.entry, line),
            Role::Footer => self.within(Block::Foot, skin.foot, skin.notice, line),
            Role::Headline => self.alone(skin.headline, line),
            Role::Title | Role::Heading => self.alone(skin.heading, line),
            Role::Sentence if matches!(self.open, Some((Block::Paragraph, _))) => {
                self.out.push_str(skin.pause);
                self.line(line);
            }
            Role::Sentence | Role::Paragraph => {
                self.close();
                self.out.push_str(skin.paragraph.0);
                self.open = Some((Block::Paragraph, skin.paragraph.1));
                self.line(line);
            }
        }
    }

    /// A line in a block of its like.
    fn within(&mut self, block: Block, around: Tags, tags: Tags, line: &Line) {
        if !matches!(self.open, Some((open, _)) if open == block) {
            self.close();
            self.out.push_str(around.0);
            self.open = Some((block, around.1));
        }
        self.tagged(tags, line);
    }

    fn alone(&mut self, tags: Tags, line: &Line) {
        self.close();
        self.tagged(tags, line);
    }

    fn tagged(&mut self, tags: Tags, line: &Line) {
        self.out.push_str(tags.0);
        self.line(line);
        self.out.push_str(tags.1);
    }

    fn close(&mut self) {
        if let Some((_, close)) = self.open.take() {
            self.out.push_str(close);
        }
    }

    fn line(&mut self, line: &Line) {
        let words = self.page.words(line);
        let takes_inline = matches!(line.role, Role::Paragraph | Role::Sentence) && !line.language.unspaced();
        for (index, &word) in words.iter().enumerate() {
            let tags = if takes_inline { self.inline() } else { ("", "") };
            self.out.push_str(tags.0);
            self.word(word.id, is_capital(index, word));
            self.out.push_str(tags.1);
            if let Some(&next) = words.get(index + 1) {
                let gap = gap(self.lexicon, word, next, line.language);
                self.gap(gap, is_number(word.id));
            }
        }
        self.out.push_str(line.language.stop(line.stop));
    }

    /// Tags around the next word, for one word in about thirty.
    fn inline(&mut self) -> Tags {
        self.until_inline -= 1;
        if self.until_inline > 0 {
            return ("", "");
        }
        self.until_inline = self.random.between(10, 50);
        self.skin.inline[self.random.index(self.skin.inline.len())]
    }

    fn gap(&mut self, gap: &'static str, after_number: bool) {
        self.out.push_str(match gap {
            " & " => " &amp; ",
            " — " if self.entities => " &mdash; ",
            " " if self.entities && after_number => "&nbsp;",
            plain => plain,
        });
    }

    fn word(&mut self, id: u32, capital: bool) {
        let start = self.out.len();
        let spelling = self.lexicon.spelling(id, &mut self.coined);
        if capital {
            push_capital(spelling, self.out)
        } else {
            self.out.push_str(spelling)
        }
        if self.entities && !self.out[start..].is_ascii() {
            let plain = self.out.split_off(start);
            plain.chars().for_each(|letter| push_letter(letter, self.out));
        }
    }
}

/// The title belongs into the head of the page.
fn split_title(lines: &[Line]) -> (&[Line], &[Line]) {
    let titles = lines.iter().take_while(|line| line.role == Role::Title).take(1).count();
    lines.split_at(titles)
}

/// A letter, as an entity when it is an accented Latin one.
fn push_letter(letter: char, out: &mut String) {
    let name = match letter {
        'é' => "eacute",
        'è' => "egrave",
        'à' => "agrave",
        'ü' => "uuml",
        'ö' => "ouml",
        'å' => "aring",
        'ã' => "atilde",
        'ñ' => "ntilde",
        'À'..='ÿ' => {
            // Writing to a string cannot fail.
            let _ = write!(out, "&#{};", u32::from(letter));
            return;
        }
        _ => return out.push(letter),
    };
    out.push('&');
    out.push_str(name);
    out.push(';');
}
