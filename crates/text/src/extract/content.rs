//! Main content: the blocks of a page that its author wrote for this page.
//!
//! The method is that of jusText (Pomikálek 2011, section 3) on our blocks: each block is judged by length,
//! link density and the share of function words; then undecided ones follow their neighbours.

use lookalike_model::{Span, SpanMap};

use super::{Block, Extracted};
use crate::stop::is_function_word;

/// Below this weighted length a block says nothing about itself.
const SHORT: f32 = 70.0;
/// Above this weighted length a block of running text is good by itself.
const LONG: f32 = 200.0;
/// A good block has at least this share of function words: less than in jusText, as our lists are shorter.
const RUNNING_TEXT: f32 = 0.22;
/// A block that may be good has at least this share of function words.
const MAYBE_TEXT: f32 = 0.15;
/// A page with a smaller share is in a language whose function words we do not know.
const KNOWN_LANGUAGE: f32 = 0.08;
/// A block with a greater share of linked bytes is a list of links.
const MAX_LINKED: f32 = 0.2;
/// The greatest distance from a heading to the kept text below it, in weighted length.
const HEADING_REACH: f32 = 200.0;

/// The outcome of the search for main content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Only the main blocks are left.
    Reduced,
    /// No block could be told to be main content: everything was kept.
    KeptAll,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    Good,
    NearGood,
    Short,
    Bad,
}

#[derive(Debug, Clone, Copy)]
struct ClassifiedBlock {
    class: Class,
    /// Characters, with those of scripts that write a word in one or two of them counted thrice.
    length: f32,
    words: u32,
    function_words: u32,
}

/// Reduces texts to their main content; holds the memory for the next text.
#[derive(Debug, Default)]
pub struct MainContent {
    classified: Vec<ClassifiedBlock>,
    after: Vec<Class>,
    kept: Vec<bool>,
    text: String,
    spans: SpanMap,
    blocks: Vec<Block>,
}

impl MainContent {
    /// Leaves only the main blocks in `extracted`, or everything if none can be told to be main content.
    pub fn reduce(&mut self, extracted: &mut Extracted) -> Outcome {
        self.classify_blocks(extracted);
        self.promote();
        self.smooth();
        self.keep_headings(&extracted.blocks);
        if !self.kept.contains(&true) {
            return Outcome::KeptAll;
        }
        self.rewrite(extracted);
        Outcome::Reduced
    }

    /// Classifies every block by itself.
    fn classify_blocks(&mut self, extracted: &Extracted) {
        self.classified.clear();
        self.classified.extend(extracted.blocks.iter().map(|block| measure(text_of(extracted, block))));
        let words: u32 = self.classified.iter().map(|classified| classified.words).sum();
        let function_words: u32 = self.classified.iter().map(|classified| classified.function_words).sum();
        let known_language = share(function_words, words) >= KNOWN_LANGUAGE;
        for (classified, block) in self.classified.iter_mut().zip(&extracted.blocks) {
            let copyright = text_of(extracted, block).contains('©');
            classified.class =
                if copyright { Class::Bad } else { classify(classified, block, known_language) };
        }
    }

    /// On a page of small paragraphs only, the better ones of them are its main content.
    fn promote(&mut self) {
        if self.classified.iter().any(|classified| classified.class == Class::Good) {
            return;
        }
        for classified in self.classified.iter_mut().filter(|classified| classified.class == Class::NearGood)
        {
            classified.class = Class::Good;
        }
    }

    /// Lets short and nearly good blocks follow the nearest decided ones; the edges of the page count as bad.
    fn smooth(&mut self) {
        self.resolve_undecided(
            |class| class == Class::NearGood,
            |before, after| before == Class::Good || after == Class::Good,
        );
        self.resolve_undecided(
            |class| class == Class::Short,
            |before, after| before == Class::Good && after == Class::Good,
        );
        self.kept.clear();
        self.kept.extend(self.classified.iter().map(|classified| classified.class == Class::Good));
    }

    /// Decides the `undecided` blocks by the nearest good or bad blocks as they were before this call.
    fn resolve_undecided(&mut self, undecided: impl Fn(Class) -> bool, good: impl Fn(Class, Class) -> bool) {
        let decided = |class| matches!(class, Class::Good | Class::Bad);
        self.after.clear();
        let mut nearest = Class::Bad;
        for classified in self.classified.iter().rev() {
            self.after.push(nearest);
            if decided(classified.class) {
                nearest = classified.class;
            }
        }
        nearest = Class::Bad;
        for (classified, after) in self.classified.iter_mut().zip(self.after.iter().rev()) {
            if decided(classified.class) {
                nearest = classified.class;
            } else if undecided(classified.class) {
                classified.class = if good(nearest, *after) { Class::Good } else { Class::Bad };
            }
        }
    }

    /// Keeps headings, unless they are links, that stand right above kept text.
    fn keep_headings(&mut self, blocks: &[Block]) {
        let mut distance = f32::INFINITY;
        for index in (0..blocks.len()).rev() {
            if self.kept[index] {
                distance = 0.0;
                continue;
            }
            let block = &blocks[index];
            if block.heading && linked_share(block) <= MAX_LINKED && distance <= HEADING_REACH {
                self.kept[index] = true;
            }
            // What stands above a list of links is not a heading of what stands below it.
            let is_links = linked_share(block) > MAX_LINKED;
            distance += if is_links { f32::INFINITY } else { self.classified[index].length };
        }
    }

    fn rewrite(&mut self, extracted: &mut Extracted) {
        self.text.clear();
        self.spans.clear();
        self.blocks.clear();
        let mut last_end = 0;
        for (block, _) in extracted.blocks.iter().zip(&self.kept).filter(|(_, kept)| **kept) {
            if !self.text.is_empty() {
                let between = extracted.spans.to_source(Span { start: last_end, end: block.start });
                self.spans.replaced(self.text.len(), between.start as usize, between.len());
                self.text.push_str("\n\n");
            }
            let start = self.text.len() as u32;
            self.spans.append(&extracted.spans, Span { start: block.start, end: block.end }, start as usize);
            self.text.push_str(text_of(extracted, block));
            self.blocks.push(Block { start, end: self.text.len() as u32, ..*block });
            last_end = block.end;
        }
        std::mem::swap(&mut extracted.text, &mut self.text);
        std::mem::swap(&mut extracted.spans, &mut self.spans);
        std::mem::swap(&mut extracted.blocks, &mut self.blocks);
    }
}

fn text_of<'a>(extracted: &'a Extracted, block: &Block) -> &'a str {
    &extracted.text[block.start as usize..block.end as usize]
}

fn measure(text: &str) -> ClassifiedBlock {
    let mut classified = ClassifiedBlock { class: Class::Short, length: 0.0, words: 0, function_words: 0 };
    let (mut characters, mut dense) = (0u32, 0u32);
    let mut word_start = None;
    let mut count_word = |word: &str| {
        classified.words += 1;
        classified.function_words += u32::from(is_function_word(word));
    };
    for (at, character) in text.char_indices() {
        characters += 1;
        dense += u32::from(is_dense(character));
        if character.is_alphabetic() || matches!(character, '\'' | '’') {
            word_start.get_or_insert(at);
        } else if let Some(start) = word_start.take() {
            count_word(&text[start..at]);
        }
    }
    if let Some(start) = word_start {
        count_word(&text[start..]);
    }
    classified.length = (characters + 2 * dense) as f32;
    classified
}

/// Han, kana and hangul: a character says as much as several letters.
fn is_dense(character: char) -> bool {
    matches!(character, '\u{3040}'..='\u{30FF}' | '\u{3400}'..='\u{9FFF}' | '\u{AC00}'..='\u{D7A3}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{3FFFF}')
}

fn classify(classified: &ClassifiedBlock, block: &Block, known_language: bool) -> Class {
    if linked_share(block) > MAX_LINKED {
        return Class::Bad;
    }
    if classified.length < SHORT {
        return if block.linked > 0 { Class::Bad } else { Class::Short };
    }
    let function_words = share(classified.function_words, classified.words);
    let (running, maybe) = if known_language {
        (function_words >= RUNNING_TEXT, function_words >= MAYBE_TEXT)
    } else {
        (true, true)
    };
    match (running, maybe) {
        (true, _) if classified.length > LONG => Class::Good,
        (_, true) => Class::NearGood,
        _ => Class::Bad,
    }
}

fn linked_share(block: &Block) -> f32 {
    share(block.linked, block.end - block.start)
}

fn share(part: u32, whole: u32) -> f32 {
    part as f32 / whole.max(1) as f32
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::html::html;
    use super::*;

    const ARTICLE: &str = "The ship left the harbour in the early morning, and nobody who stood on the pier that day \
        would have thought that it was going to be the last time. It had been raining for a week, and the water of \
        the bay was brown with the mud that the river had brought down from the hills.";
    const ENDING: &str =
        "It was not until the spring that a fisherman found one of its boats on the far shore.";
    const NAVIGATION: &str = "<ul><li><a href=/>Home</a><li><a href=/n>News of the day and of the week</a><li>\
        <a href=/c>Contact us about anything that you want to know from us</a></ul>";

    fn reduce(source: &str) -> (Extracted, Outcome) {
        let mut extracted = Extracted::default();
        html(source, &mut extracted);
        let full = Extracted {
            text: extracted.text.clone(),
            spans: extracted.spans.clone(),
            blocks: extracted.blocks.clone(),
        };
        let outcome = MainContent::default().reduce(&mut extracted);
        check(source, &full, &extracted);
        (extracted, outcome)
    }

    /// Every kept character leads to the same place as before.
    fn check(source: &str, full: &Extracted, reduced: &Extracted) {
        let mut rest = full.blocks.iter();
        for block in &reduced.blocks {
            let piece = text_of(reduced, block);
            let place = reduced.spans.to_source(Span { start: block.start, end: block.end });
            let before = rest
                .find(|before| {
                    text_of(full, before) == piece
                        && full.spans.to_source(Span { start: before.start, end: before.end }) == place
                })
                .expect("a kept block is one of the page's");
            for (offset, character) in piece.char_indices() {
                let span = |base: u32| {
                    Span::new(base as usize + offset, base as usize + offset + character.len_utf8())
                };
                let back = reduced.spans.to_source(span(block.start));
                assert_eq!(
                    back,
                    full.spans.to_source(span(before.start)),
                    "{character:?} of {piece:?} in {source:?}"
                );
            }
        }
    }

    #[test]
    fn navigation_and_footers_go_and_paragraphs_stay() {
        let page = format!(
            "<title>Site</title>{NAVIGATION}<h1>The last voyage</h1><p>{ARTICLE}</p><h2>Spring</h2><p>{ENDING}</p>\
             <p>{ARTICLE}</p>{NAVIGATION}<p>Copyright © 2020 The Company. All rights reserved by the owners of it.</p>"
        );
        let (reduced, outcome) = reduce(&page);
        assert_eq!(outcome, Outcome::Reduced);
        let expected = format!("The last voyage\n\n{ARTICLE}\n\nSpring\n\n{ENDING}\n\n{ARTICLE}");
        assert_eq!(reduced.text, expected);
    }

    #[test]
    fn short_blocks_follow_their_neighbours() {
        let inside = format!("<p>{ARTICLE}</p><p>Nobody knew.</p><p>{ARTICLE}</p><p>Share this</p>");
        assert_eq!(reduce(&inside).0.text, format!("{ARTICLE}\n\nNobody knew.\n\n{ARTICLE}"));
    }

    #[test]
    fn on_a_page_of_small_paragraphs_the_better_ones_are_kept() {
        let page = format!(
            "{NAVIGATION}<p>{ENDING}</p><p>Print</p><p><a href=x>Share this with all of your friends</a>"
        );
        assert_eq!(reduce(&page).0.text, ENDING);
    }

    #[test]
    fn a_page_without_main_content_is_kept_whole() {
        let (reduced, outcome) = reduce(NAVIGATION);
        assert_eq!(outcome, Outcome::KeptAll);
        assert!(reduced.text.starts_with("Home\n\nNews"));
        assert_eq!(reduce("").1, Outcome::KeptAll);
    }

    #[test]
    fn languages_without_a_list_are_judged_by_length_and_links() {
        let japanese = "朝早く船は港を出たが、その日桟橋に立っていた人々の誰もが、それが最後になるとは思っていなかった。\
            一週間も雨が降り続き、川が山から運んできた泥で湾の水は茶色く濁っていた。";
        let page = format!("<p><a href=x>ホーム</a><p>{japanese}<p><a href=y>連絡先</a>");
        assert_eq!(reduce(&page).0.text, japanese);
        let german = "Das Schiff verließ am frühen Morgen den Hafen, und keiner von denen, die an diesem Tag auf der \
            Mole standen, hätte gedacht, dass es das letzte Mal sein würde. Es hatte eine Woche lang geregnet, und \
            das Wasser der Bucht war braun von dem Schlamm, den der Fluss mit sich führte.";
        assert_eq!(reduce(&format!("{NAVIGATION}<p>{german}")).0.text, german);
    }

    #[test]
    fn lists_of_keywords_are_no_running_text() {
        let keywords =
            "cheap flights hotels cars insurance mortgage loans credit cards ringtones wallpapers ".repeat(4);
        let page = format!("<p>{keywords}</p><p>{ARTICLE}</p><p>{ARTICLE}</p>");
        assert_eq!(reduce(&page).0.text, format!("{ARTICLE}\n\n{ARTICLE}"));
    }

    proptest! {
        #[test]
        fn spans_stay_right(pieces in prop::collection::vec(prop::sample::select(vec![
            ARTICLE, ENDING, NAVIGATION, "<p>", "<br>", "&amp;", "&nGg;", "&nGt;", "&nLl;x", "\u{338}", "&gesl;", "&#0", "é", "  ", "<b>", "漢字", "<h2>x</h2>", "x&#65;",
        ]), 0..30)) {
            reduce(&pieces.concat());
        }
    }
}
