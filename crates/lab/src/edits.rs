//! Edits of texts: words put in, taken out or replaced, and parts moved.

use std::ops::Range;

use lookalike::text::{Analyser, Features, Profile};

use crate::draws::Draws;

/// A kind of edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Edit {
    /// A word is put in.
    Insert,
    /// A word is taken out.
    Delete,
    /// A word is replaced by another.
    Substitute,
    /// A sentence, or a run of words where there are few sentences, is moved elsewhere.
    Move,
}

impl Edit {
    /// All of them.
    pub(crate) const ALL: [Edit; 4] = [Edit::Insert, Edit::Delete, Edit::Substitute, Edit::Move];

    /// Returns its name, in the plural.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Edit::Insert => "insertions",
            Edit::Delete => "deletions",
            Edit::Substitute => "substitutions",
            Edit::Move => "moves",
        }
    }
}

/// Fewer sentences than this are not moved about, but runs of words are.
const FEW_SENTENCES: usize = 4;

/// Words of a run that is moved.
const RUN: usize = 10;

/// Words that texts are edited with: as frequent as they are in a collection.
const VOCABULARY_WORDS: usize = 20_000;

/// Finds the words and sentences of texts that are to be edited.
pub(crate) struct Editor {
    analyser: Analyser,
    features: Features,
    vocabulary: Vec<String>,
}

impl Editor {
    /// An editor whose new words come from these texts.
    pub(crate) fn new<'t>(texts: impl IntoIterator<Item = &'t str> + Clone, draws: &mut Draws) -> Self {
        // Runs of letters and digits: words that do not overlap, whatever the script.
        let mut editor = Editor {
            analyser: Analyser::new(&Profile::thesis()),
            features: Features::default(),
            vocabulary: Vec::new(),
        };
        let texts: Vec<&str> = texts.into_iter().collect();
        let each = VOCABULARY_WORDS.div_ceil(texts.len().max(1));
        for text in texts {
            editor.analyser.read(text, &mut editor.features);
            let words = editor.features.len();
            let drawn = (0..each.min(words)).map(|_| editor.features.word(draws.below(words)).to_owned());
            editor.vocabulary.extend(drawn);
        }
        editor
    }

    /// Finds the words and sentences of a text, so that it can be edited.
    pub(crate) fn parse<'t>(&mut self, text: &'t str) -> ParsedText<'t> {
        self.analyser.read(text, &mut self.features);
        self.analyser.read_sentences(&mut self.features);
        let features = &self.features;
        let words = (0..features.len()).map(|index| {
            let span = features.span(index);
            span.start as usize..span.end as usize
        });
        let sentences = (0..features.sentence_count()).map(|index| features.sentence(index)).collect();
        ParsedText { text, words: words.collect(), sentences }
    }

    /// A new word that is not `old`.
    fn word(&self, old: &str, draws: &mut Draws) -> &str {
        // Twice the same word is rare; always the same one is a vocabulary of one word.
        let mut drawn = (0..100).map(|_| draws.below(self.vocabulary.len()));
        drawn.find(|&place| self.vocabulary[place] != old).map_or("other", |place| &self.vocabulary[place])
    }
}

/// A text, and where its words and sentences are.
#[derive(Debug)]
pub(crate) struct ParsedText<'t> {
    text: &'t str,
    words: Vec<Range<usize>>,
    /// By numbers of words.
    sentences: Vec<Range<usize>>,
}

impl ParsedText<'_> {
    /// Number of words.
    pub(crate) fn words(&self) -> usize {
        self.words.len()
    }

    /// Returns the text after `count` edits at different places; none if there are not enough places.
    pub(crate) fn edited(
        &self,
        edit: Edit,
        count: usize,
        editor: &Editor,
        draws: &mut Draws,
    ) -> Option<String> {
        if edit == Edit::Move {
            return self.moved(count, draws);
        }
        if count > self.words() {
            return None;
        }
        let mut places = draws.distinct(count, self.words());
        places.sort_unstable();
        let (mut edited, mut done) = (String::with_capacity(self.text.len() + 12 * count), 0);
        for place in places {
            let Range { start, end } = self.words[place];
            let word = &self.text[start..end];
            edited.push_str(&self.text[done..start]);
            match edit {
                Edit::Insert => {
                    edited.push_str(word);
                    edited.push(' ');
                    edited.push_str(editor.word("", draws));
                }
                Edit::Substitute => edited.push_str(editor.word(&word.to_lowercase(), draws)),
                Edit::Delete | Edit::Move => {}
            }
            done = end;
        }
        edited.push_str(&self.text[done..]);
        Some(edited)
    }

    /// Returns the text after `count` moves, each of a part to another place than it had; none if there are fewer than three parts.
    fn moved(&self, count: usize, draws: &mut Draws) -> Option<String> {
        let (mut parts, between) = self.parts();
        if parts.len() < 3 {
            return None;
        }
        for _ in 0..count {
            let from = draws.below(parts.len());
            let part = parts.remove(from);
            let to = draws.below(parts.len());
            parts.insert(if to >= from { to + 1 } else { to }, part);
        }
        Some(parts.join(between))
    }

    /// The parts that can be moved, and what stands between them so that sentences stay sentences.
    fn parts(&self) -> (Vec<&str>, &'static str) {
        let sentences = self.sentences.len() >= FEW_SENTENCES;
        let runs = || (0..self.words()).step_by(RUN).map(|start| start..(start + RUN).min(self.words()));
        let ranges = if sentences { self.sentences.clone() } else { runs().collect() };
        // A part ends where the next one begins, so that it keeps its full stop.
        let start =
            |index: usize| ranges.get(index).map_or(self.text.len(), |range| self.words[range.start].start);
        let part = |index: usize| self.text[start(index)..start(index + 1)].trim();
        ((0..ranges.len()).map(part).collect(), if sentences { "\n\n" } else { " " })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sketches::testing;

    const TEXT: &str = "One rose, is here. Two roses: are there! Three\n\nroses. Where? Nobody knows.";

    fn words(text: &str) -> Vec<String> {
        let mut features = Features::default();
        Analyser::new(&Profile::thesis()).read(text, &mut features);
        features.words().map(str::to_owned).collect()
    }

    #[test]
    fn edits_are_as_many_as_they_say() {
        let texts = testing::texts(20, 100);
        let mut draws = Draws::new(1, 1);
        let mut editor = Editor::new(texts.iter().map(String::as_str), &mut draws);
        for text in texts.iter().map(String::as_str).chain([TEXT]) {
            let parsed = editor.parse(text);
            let before = words(text);
            assert_eq!(parsed.words(), before.len());
            for count in [1, 2, 7] {
                let after =
                    |edit, draws: &mut Draws| words(&parsed.edited(edit, count, &editor, draws).unwrap());
                assert_eq!(after(Edit::Insert, &mut draws).len(), before.len() + count);
                assert_eq!(after(Edit::Delete, &mut draws).len(), before.len() - count);
                let replaced = after(Edit::Substitute, &mut draws);
                let different =
                    replaced.iter().zip(&before).filter(|(after, before)| after != before).count();
                assert_eq!((replaced.len(), different), (before.len(), count));
            }
            assert!(parsed.edited(Edit::Delete, before.len() + 1, &editor, &mut draws).is_none());
        }
    }

    #[test]
    fn sentences_move_as_they_are() {
        let mut draws = Draws::new(3, 1);
        let mut editor = Editor::new([TEXT], &mut draws);
        let parsed = editor.parse(TEXT);
        let sentences =
            ["One rose, is here.", "Two roses: are there!", "Three", "roses.", "Where?", "Nobody knows."];
        for count in [1, 2, 9] {
            let moved = parsed.edited(Edit::Move, count, &editor, &mut draws).unwrap();
            let mut found: Vec<&str> = moved.split("\n\n").collect();
            assert!(count > 1 || found != sentences);
            found.sort_unstable();
            let mut all = sentences.to_vec();
            all.sort_unstable();
            assert_eq!(found, all);
        }
        let run = "one two three four five six seven eight nine ten eleven twelve";
        assert!(editor.parse(run).edited(Edit::Move, 1, &editor, &mut draws).is_none());
        let long = [run, run].join(" ");
        let moved = editor.parse(&long).edited(Edit::Move, 1, &editor, &mut draws).unwrap();
        assert_eq!(words(&moved).len(), 24);
        assert_ne!(moved, long);
    }
}
