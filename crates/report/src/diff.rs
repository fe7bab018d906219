//! Two documents word by word, in the spelling of their authors.
//!
//! Words are compared as their profile writes them, so case, accents' encoding and punctuation make no difference;
//! they are shown as they stand in the text, each with the punctuation and blanks behind it. What both sides have
//! is shown as the first side spells it.
//!
//! The work is bounded: equal words at both ends are found in one pass, and of what lies between at most
//! [`View::most_words`] words of each side are compared: words that stand once on each side are aligned first, and what lies
//! between two of them by a Myers search, which settles for a good answer where the best one would cost quadratic time. What was
//! left out is a [`Segment`] of its own.

use std::ops::Range;

use lookalike_model::Span;
use lookalike_text::Features;
use serde::Serialize;
use similar::{Algorithm, DiffOp, capture_diff_slices};

use crate::kind::{self, Kind};

/// One of two documents to compare.
#[derive(Debug, Clone, Copy)]
pub struct Side<'a> {
    /// Its text.
    pub text: &'a str,
    /// The features that were read from the text.
    pub features: &'a Features,
    /// Its address, where known.
    pub url: Option<&'a str>,
}

impl<'a> Side<'a> {
    /// A document without an address.
    ///
    /// `features` must have been read from `text`; those of another text may make [`compare`] panic.
    pub fn new(text: &'a str, features: &'a Features) -> Self {
        Side { text, features, url: None }
    }

    /// The same document with its address.
    pub fn at(self, url: Option<&'a str>) -> Self {
        Side { url, ..self }
    }
}

/// Limits on the words that are compared and shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct View {
    /// Equal words kept on each side of a change; longer runs are folded. None keeps them all.
    pub context: Option<usize>,
    /// Changed words kept of one run, half from its beginning and half from its end. None keeps them all.
    pub most_changed: Option<usize>,
    /// Words compared of each side, equal ones at both ends not counted.
    pub most_words: usize,
}

impl Default for View {
    /// For a page with many pairs on it: short.
    fn default() -> Self {
        View { context: Some(8), most_changed: Some(60), most_words: 20_000 }
    }
}

impl View {
    /// Everything that was compared.
    pub fn whole() -> Self {
        View { context: None, most_changed: None, ..View::default() }
    }
}

/// The change of a run of words between the two documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// In both documents.
    Equal,
    /// Only in the first.
    Removed,
    /// Only in the second.
    Added,
    /// Not compared, because the documents are too long. Counts the words of both.
    Uncompared,
}

/// A run of words with the same change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Segment {
    /// The change of these words.
    pub change: Change,
    /// Number of words.
    pub words: u64,
    /// The words as spelled in the document, with the characters after each. None if they are folded.
    pub text: Option<String>,
    /// The spans of the words in the texts, folded or not. Not serialized.
    #[serde(skip)]
    pub spans: TextSpans,
}

/// The spans of a run of words in the two texts; empty in a text that does not have it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TextSpans {
    /// In the text of the first document.
    pub a: Span,
    /// In the text of the second.
    pub b: Span,
}

/// Two documents, compared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Comparison {
    /// The kind of difference, decided on the words that were compared.
    pub kind: Kind,
    /// Words of the first document.
    pub words_a: u64,
    /// Words of the second.
    pub words_b: u64,
    /// Words in both, in the same order. A word or two between long replacements go with them.
    pub shared: u64,
    /// Words only in the first.
    pub removed: u64,
    /// Words only in the second.
    pub added: u64,
    /// Words of both that were not compared because the documents are too long.
    pub uncompared: u64,
    /// Both documents as one sequence of runs.
    pub segments: Vec<Segment>,
}

/// Compares two documents word by word.
pub fn compare(a: &Side<'_>, b: &Side<'_>, view: &View) -> Comparison {
    let word_diff = WordDiff::of(a.features.secret_hashes(), b.features.secret_hashes(), view.most_words);
    let kind = kind::classify(a, b, &word_diff.blocks);
    let blocks = absorb_stray_words(&word_diff.blocks);
    let count = |equal: bool, words: fn(&Block) -> usize| -> u64 {
        blocks.iter().filter(|block| block.equal == equal).map(|block| words(block) as u64).sum()
    };
    Comparison {
        kind,
        words_a: a.features.len() as u64,
        words_b: b.features.len() as u64,
        shared: count(true, |block| block.a.len()),
        removed: count(false, |block| block.a.len()),
        added: count(false, |block| block.b.len()),
        uncompared: word_diff.left_out as u64,
        segments: segments(a, b, &blocks, word_diff.left_out, view),
    }
}

/// A stretch of words of both sides: equal, or different with at most one side empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Block {
    pub(crate) equal: bool,
    /// Word numbers of the first side.
    pub(crate) a: Range<usize>,
    /// Word numbers of the second.
    pub(crate) b: Range<usize>,
}

impl Block {
    /// True when words stand against other words.
    pub(crate) fn replaces(&self) -> bool {
        !self.equal && !self.a.is_empty() && !self.b.is_empty()
    }
}

/// The blocks of equal and of different words.
struct WordDiff {
    /// Without a gap, unless words were left out: then one block begins behind them.
    blocks: Vec<Block>,
    /// Words of both sides that were not compared.
    left_out: usize,
}

impl WordDiff {
    fn of(a: &[u64], b: &[u64], most: usize) -> WordDiff {
        let prefix = a.iter().zip(b).take_while(|(a, b)| a == b).count();
        let (rest_a, rest_b) = (&a[prefix..], &b[prefix..]);
        let suffix = rest_a.iter().rev().zip(rest_b.iter().rev()).take_while(|(a, b)| a == b).count();
        let (end_a, end_b) = (a.len() - suffix, b.len() - suffix);
        let (cut_a, cut_b) = (end_a.min(prefix + most), end_b.min(prefix + most));
        let mut blocks = Vec::new();
        push(&mut blocks, true, 0..prefix, 0..prefix);
        for op in capture_diff_slices(Algorithm::Patience, &a[prefix..cut_a], &b[prefix..cut_b]) {
            let shifted = |words: Range<usize>| words.start + prefix..words.end + prefix;
            let equal = matches!(op, DiffOp::Equal { .. });
            push(&mut blocks, equal, shifted(op.old_range()), shifted(op.new_range()));
        }
        push(&mut blocks, true, end_a..a.len(), end_b..b.len());
        WordDiff { blocks, left_out: (end_a - cut_a) + (end_b - cut_b) }
    }
}

/// Equal words in between that are hardly more than chance, next to what was replaced around them.
const MOST_STRAY_WORDS: usize = 2;

/// Lets an equal word or two between long replacements go with them: a stray "the" in a rewritten passage tells
/// nothing and makes it hard to read.
pub(crate) fn absorb_stray_words(blocks: &[Block]) -> Vec<Block> {
    let weighs = |block: &Block, words: usize| {
        block.replaces() && block.a.len().max(block.b.len()) > MOST_STRAY_WORDS * words
    };
    let mut out: Vec<Block> = Vec::with_capacity(blocks.len());
    let mut index = 0;
    while index < blocks.len() {
        let block = &blocks[index];
        let stray = block.equal && block.a.len() <= MOST_STRAY_WORDS;
        match (out.last_mut(), blocks.get(index + 1)) {
            (Some(last), Some(next))
                if stray && weighs(last, block.a.len()) && weighs(next, block.a.len()) =>
            {
                (last.a.end, last.b.end) = (next.a.end, next.b.end);
                index += 2;
            }
            _ => {
                out.push(block.clone());
                index += 1;
            }
        }
    }
    out
}

/// Adds a block, or lets it continue the last one.
fn push(blocks: &mut Vec<Block>, equal: bool, a: Range<usize>, b: Range<usize>) {
    if a.is_empty() && b.is_empty() {
        return;
    }
    match blocks.last_mut() {
        Some(last) if last.equal == equal && last.a.end == a.start && last.b.end == b.start => {
            last.a.end = a.end;
            last.b.end = b.end;
        }
        _ => blocks.push(Block { equal, a, b }),
    }
}

/// Blocks as they are shown, with the `left_out` words in their place.
fn segments(a: &Side<'_>, b: &Side<'_>, blocks: &[Block], left_out: usize, view: &View) -> Vec<Segment> {
    let mut builder = SegmentBuilder { view, segments: Vec::new() };
    let mut end = (0, 0);
    for (index, block) in blocks.iter().enumerate() {
        if (block.a.start, block.b.start) != end {
            builder.gap(left_out);
        }
        end = (block.a.end, block.b.end);
        builder.block(a, b, block, index == 0, index + 1 == blocks.len());
    }
    if end != (a.features.len(), b.features.len()) {
        builder.gap(left_out);
    }
    builder.segments
}

/// Writes blocks as segments and folds what is too long.
struct SegmentBuilder<'f> {
    view: &'f View,
    segments: Vec<Segment>,
}

impl SegmentBuilder<'_> {
    fn block(&mut self, a: &Side<'_>, b: &Side<'_>, block: &Block, first: bool, last: bool) {
        let run = |change, a, b| WordRun { change, a, b };
        if block.equal {
            let context = self.view.context;
            // Nothing stands before the first block and behind the last one that context would be for.
            let before = context.map(|words| if first { 0 } else { words });
            let behind = context.map(|words| if last { 0 } else { words });
            let both = run(Change::Equal, block.a.clone(), block.b.clone());
            return self.run((a, b), both, before, behind);
        }
        let half = self.view.most_changed.map(|words| words / 2);
        let removed = run(Change::Removed, block.a.clone(), block.b.start..block.b.start);
        self.run((a, b), removed, half, half);
        let added = run(Change::Added, block.a.end..block.a.end, block.b.clone());
        self.run((a, b), added, half, half);
    }

    /// Shows `head` words from the beginning and `tail` words from the end of a stretch.
    fn run(
        &mut self,
        sides: (&Side<'_>, &Side<'_>),
        words: WordRun,
        head: Option<usize>,
        tail: Option<usize>,
    ) {
        let all = words.len();
        let (Some(head), Some(tail)) = (head, tail) else { return self.show(sides, words) };
        // A fold takes a line of its own, so that it must be worth it.
        if all <= head + tail + LEAST_FOLDED {
            return self.show(sides, words);
        }
        self.show(sides, words.part(0..head));
        self.push_segment(sides, words.part(head..all - tail), None);
        self.show(sides, words.part(all - tail..all));
    }

    fn show(&mut self, sides: (&Side<'_>, &Side<'_>), words: WordRun) {
        if words.len() == 0 {
            return;
        }
        let (side, range) = match words.change {
            Change::Added => (sides.1, &words.b),
            _ => (sides.0, &words.a),
        };
        let text = side.text[word_offset(side, range.start)..word_offset(side, range.end)].to_owned();
        self.push_segment(sides, words, Some(text));
    }

    fn push_segment(&mut self, (a, b): (&Side<'_>, &Side<'_>), words: WordRun, text: Option<String>) {
        let span = |side: &Side<'_>, words: &Range<usize>| {
            Span::new(word_offset(side, words.start), word_offset(side, words.end))
        };
        let spans = TextSpans { a: span(a, &words.a), b: span(b, &words.b) };
        self.segments.push(Segment { change: words.change, words: words.len() as u64, text, spans });
    }

    fn gap(&mut self, words: usize) {
        let spans = TextSpans::default();
        self.segments.push(Segment { change: Change::Uncompared, words: words as u64, text: None, spans });
    }
}

/// Words with one change: their numbers on both sides, none on a side that does not have them.
struct WordRun {
    change: Change,
    a: Range<usize>,
    b: Range<usize>,
}

impl WordRun {
    fn len(&self) -> usize {
        self.a.len().max(self.b.len())
    }

    /// Some of the words, counted from the first.
    fn part(&self, words: Range<usize>) -> WordRun {
        let of = |side: &Range<usize>| match side.is_empty() {
            true => side.clone(),
            false => side.start + words.start..side.start + words.end,
        };
        WordRun { change: self.change, a: of(&self.a), b: of(&self.b) }
    }
}

/// Fewer words than this are shown rather than folded.
const LEAST_FOLDED: usize = 4;

/// Returns the byte offset at which word `index` begins; text before the first word counts as part of it.
fn word_offset(side: &Side<'_>, index: usize) -> usize {
    if index == 0 {
        0
    } else if index == side.features.len() {
        side.text.len()
    } else {
        side.features.span(index).start as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lookalike_hash::Secret;
    use lookalike_text::{Analyser, Profile};
    use proptest::prelude::*;

    fn read(text: &str) -> Features {
        let mut features = Features::default();
        Analyser::with_secret(&Profile::web(), Secret::of_process()).read(text, &mut features);
        features
    }

    fn diff(a: &str, b: &str, view: &View) -> Comparison {
        let (left, right) = (read(a), read(b));
        compare(&Side::new(a, &left), &Side::new(b, &right), view)
    }

    /// As `git diff --word-diff` writes it.
    fn marked(comparison: &Comparison) -> String {
        let mark = |segment: &Segment| {
            let text = segment.text.clone().unwrap_or(format!("…{}…", segment.words));
            match segment.change {
                Change::Equal => text,
                Change::Removed => format!("[-{text}-]"),
                Change::Added => format!("{{+{text}+}}"),
                Change::Uncompared => format!("?{text}"),
            }
        };
        comparison.segments.iter().map(mark).collect()
    }

    fn numbered(range: Range<usize>) -> String {
        range.map(|number| format!("w{number} ")).collect()
    }

    #[test]
    fn words_are_compared_in_normal_form_and_shown_as_written() {
        let comparison = diff("  The Ｆｕｌｌ price: 3 €!", "the full Price — 4 €", &View::whole());
        assert_eq!(marked(&comparison), "  The Ｆｕｌｌ price: [-3 €!-]{+4 €+}");
    }

    #[test]
    fn long_equal_stretches_are_folded() {
        let (a, b) = (format!("{}x {}", numbered(0..50), numbered(0..50)), numbered(0..100));
        let b = b.replace("w50 ", &format!("y {}w50 ", numbered(0..50)));
        let view = View { context: Some(2), ..View::default() };
        let folded = marked(&diff(&a, &b, &view));
        assert!(folded.starts_with("…48…w48 w49 [-x -]{+y +}w0 w1 …46…w48 w49 {+w50 w51 "), "{folded}");
    }

    #[test]
    fn long_changes_are_folded_in_their_middle() {
        let view = View { most_changed: Some(4), ..View::default() };
        let comparison = diff("same a end", &format!("same {}end", numbered(0..50)), &view);
        assert_eq!(marked(&comparison), "same [-a -]{+w0 w1 +}{+…46…+}{+w48 w49 +}end");
        assert_eq!((comparison.shared, comparison.removed, comparison.added), (2, 1, 50));
    }

    #[test]
    fn what_is_not_compared_is_said() {
        let view = View { most_words: 3, ..View::whole() };
        let comparison = diff("p a b c d e s", "p f g h i s", &view);
        assert_eq!(marked(&comparison), "p [-a b c -]{+f g h +}?…3…s");
        assert_eq!(comparison.uncompared, 3);
        let (shared, changed) = (comparison.shared, comparison.removed + comparison.added);
        assert_eq!(comparison.words_a + comparison.words_b, 2 * shared + changed + 3);
    }

    #[test]
    fn stray_words_go_with_the_passage_around_them() {
        let comparison = diff("p one two three the four five six s", "p x y z the u v w s", &View::whole());
        assert_eq!(marked(&comparison), "p [-one two three the four five six -]{+x y z the u v w +}s");
        let kept = diff("p one the two s", "p x the y s", &View::whole());
        assert_eq!(marked(&kept), "p [-one -]{+x +}the [-two -]{+y +}s");
    }

    #[test]
    fn scripts_without_blanks_are_shown_character_by_character() {
        assert_eq!(marked(&diff("東京都に行く", "東京都で行く", &View::whole())), "東京[-都に-]{+都で+}行く");
    }

    #[test]
    fn unrelated_long_texts_are_compared_in_reasonable_work() {
        // Common words at random places, as in natural language: the worst case of a plain Myers search.
        let text = |seed: u64| -> String {
            let mut state = seed;
            let mut next = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                state >> 40
            };
            (0..20_000).map(|_| format!("w{} ", next() % (1 + next() % 3000))).collect()
        };
        let comparison = diff(&text(1), &text(2), &View::default());
        assert_eq!(comparison.shared + comparison.removed, 20_000);
        assert_eq!(comparison.shared + comparison.added, 20_000);
    }

    #[test]
    fn segments_say_where_they_stand_in_both_texts() {
        let (a, b) = ("Open until 3 May, always.", "OPEN  until 7 June — always!");
        let comparison = diff(a, b, &View::whole());
        let in_both =
            |segment: &Segment| (segment.spans.a.of(a).to_owned(), segment.spans.b.of(b).to_owned());
        let spans: Vec<(String, String)> = comparison.segments.iter().map(in_both).collect();
        let expected =
            [("Open until ", "OPEN  until "), ("3 May, ", ""), ("", "7 June — "), ("always.", "always!")];
        assert_eq!(spans, expected.map(|(a, b)| (a.to_owned(), b.to_owned())));
    }

    #[test]
    fn empty_documents_have_no_segments() {
        assert_eq!(diff("", " ... ", &View::default()).segments, []);
        assert_eq!(marked(&diff("", "new", &View::default())), "{+new+}");
    }

    proptest! {
        #[test]
        fn all_segments_together_are_both_texts(a in "[abA. é東京]{0,80}", b in "[abA. é東京]{0,80}", most in 0usize..40) {
            let comparison = diff(&a, &b, &View { most_words: most, ..View::whole() });
            let Comparison { shared, removed, added, uncompared, words_a, words_b, .. } = comparison;
            prop_assert_eq!(words_a + words_b, 2 * shared + removed + added + uncompared);
            if uncompared == 0 && words_a > 0 {
                let of = |wanted: &[Change]| -> String {
                    let segments = comparison.segments.iter().filter(|segment| wanted.contains(&segment.change));
                    segments.filter_map(|segment| segment.text.clone()).collect()
                };
                prop_assert_eq!(of(&[Change::Equal, Change::Removed]), &*a);
                let at_spans = |text: &str, span: fn(&TextSpans) -> Span| -> String {
                    comparison.segments.iter().map(|segment| span(&segment.spans).of(text).to_owned()).collect()
                };
                prop_assert_eq!(at_spans(&a, |spans| spans.a), &*a);
                if words_b > 0 {
                    prop_assert_eq!(at_spans(&b, |spans| spans.b), &*b);
                }
            }
        }

        #[test]
        fn folding_loses_no_word(a in "[ab ]{0,200}", b in "[ab ]{0,200}", context in 0usize..4, changed in 0usize..6) {
            let view = View { context: Some(context), most_changed: Some(changed), most_words: 50 };
            let comparison = diff(&a, &b, &view);
            let sum = |wanted: Change| -> u64 {
                comparison.segments.iter().filter(|s| s.change == wanted).map(|s| s.words).sum()
            };
            prop_assert_eq!(sum(Change::Equal), comparison.shared);
            prop_assert_eq!(sum(Change::Removed), comparison.removed);
            prop_assert_eq!(sum(Change::Added), comparison.added);
            prop_assert_eq!(sum(Change::Uncompared), comparison.uncompared);
        }

        #[test]
        fn any_text_can_be_compared(a: String, b: String) {
            diff(&a, &b, &View::default());
        }
    }
}
