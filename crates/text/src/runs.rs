//! Words as maximal runs of word characters, one character after the other.

use crate::class::{self, Class, Flags};

/// The characters that words consist of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Alphabet {
    /// General categories L, M and N.
    LettersMarksNumbers,
    /// Unicode alphanumeric characters.
    Alphanumeric,
}

impl Alphabet {
    /// The flag of the characters that make words.
    pub(crate) fn flag(self) -> Flags {
        match self {
            Alphabet::LettersMarksNumbers => class::WORD,
            Alphabet::Alphanumeric => class::ALPHANUMERIC,
        }
    }
}

/// The treatment of a run in a script that writes no blanks between words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Unspaced {
    /// Overlapping pairs of characters; a single character stays single.
    Bigrams,
    /// Nothing special: it is a run like any other, and joins with its neighbours.
    Runs,
}

/// Cuts a stretch of text into words, one character after the other.
pub(crate) struct Cutter<'o> {
    in_words: Flags,
    unspaced: Unspaced,
    state: RunState,
    starts: &'o mut Vec<u32>,
    ends: &'o mut Vec<u32>,
}

impl<'o> Cutter<'o> {
    /// Goes on where `inside` is 1 when a word is under way.
    pub(crate) fn new(
        in_words: Flags,
        unspaced: Unspaced,
        inside: u64,
        starts: &'o mut Vec<u32>,
        ends: &'o mut Vec<u32>,
    ) -> Self {
        let state = if inside == 1 { RunState::Word } else { RunState::None };
        Cutter { in_words, unspaced, state, starts, ends }
    }

    /// Takes the next character, at this place.
    #[inline(always)]
    pub(crate) fn take(&mut self, class: Class, at: usize, width: usize) {
        let bigrams = self.unspaced == Unspaced::Bigrams && class.is_unspaced();
        let running = matches!(self.state, RunState::First | RunState::Pairs);
        let next = match () {
            () if !class.is_any(self.in_words) => RunState::None,
            () if running && (bigrams || class.is_inherited()) => RunState::Pairs,
            () if bigrams => RunState::First,
            () => RunState::Word,
        };
        if next == RunState::Pairs {
            // The word that the character before has begun ends behind this one, and this one begins the next.
            self.ends.push((at + width) as u32);
            self.starts.push(at as u32);
        } else if self.state != next {
            self.close(at);
            if next != RunState::None {
                self.starts.push(at as u32);
            }
        }
        self.state = next;
    }

    /// Ends what is under way.
    fn close(&mut self, at: usize) {
        match self.state {
            RunState::None => {}
            RunState::Word | RunState::First => self.ends.push(at as u32),
            // The last character of a run is in the pair before; alone it is no word.
            RunState::Pairs => drop(self.starts.pop()),
        }
    }

    /// Ends the stretch; 1 when a word is still under way. A run without blanks has ended: with the text, or with the
    /// ASCII that a stretch ends with.
    pub(crate) fn finish(mut self, at: usize) -> u64 {
        if self.state == RunState::Word {
            return 1;
        }
        self.close(at);
        0
    }
}

/// The run that is under way; its last word has begun.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RunState {
    None,
    Word,
    /// One character of a run of unspaced characters.
    First,
    /// More than one.
    Pairs,
}

/// The definition, one character at a time.
#[cfg(test)]
pub(crate) fn plain_words(text: &str, alphabet: Alphabet, unspaced: Unspaced) -> Vec<String> {
    let mut runs: Vec<(bool, String)> = vec![];
    let mut broken = true;
    for c in text.chars() {
        let class = Class::of(c);
        if !class.is_any(alphabet.flag()) {
            broken = true;
            continue;
        }
        let bigram = match runs.last() {
            Some((true, _)) if !broken && class.is_inherited() => true,
            _ => unspaced == Unspaced::Bigrams && class.is_unspaced(),
        };
        match runs.last_mut() {
            Some((kind, run)) if !broken && *kind == bigram => run.push(c),
            _ => runs.push((bigram, c.to_string())),
        }
        broken = false;
    }
    let mut words = vec![];
    for (bigram, run) in runs {
        let characters: Vec<char> = run.chars().collect();
        if bigram && characters.len() > 1 {
            words.extend(characters.windows(2).map(|pair| pair.iter().collect::<String>()));
        } else {
            words.push(run);
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::normal::Form;
    use crate::scan::{NormalisedText, Scanner};

    /// The words of a text that is in normal form and lower case.
    fn words(text: &str, alphabet: Alphabet, unspaced: Unspaced) -> Vec<String> {
        let mut out = NormalisedText::default();
        Scanner::new(Form::Nfc, alphabet, unspaced).run(text, &mut out);
        let words = out.starts.iter().zip(&out.ends);
        words.map(|(&start, &end)| out.normal[start as usize..end as usize].to_owned()).collect()
    }

    fn web(text: &str) -> Vec<String> {
        words(text, Alphabet::LettersMarksNumbers, Unspaced::Bigrams)
    }

    #[test]
    fn underscore_apostrophe_and_dot_separate() {
        assert_eq!(web("it's a_b 3.14 e-mail"), ["it", "s", "a", "b", "3", "14", "e", "mail"]);
    }

    #[test]
    fn accents_do_not_split_a_word() {
        assert_eq!(web("caf\u{e9} na\u{ef}ve x\u{301}y ж1"), ["café", "naïve", "x\u{301}y", "ж1"]);
    }

    #[test]
    fn unspaced_scripts_give_bigrams_and_end_at_other_scripts() {
        assert_eq!(web("日本語abc中"), ["日本", "本語", "abc", "中"]);
        assert_eq!(web("コーヒー"), ["コー", "ーヒ", "ヒー"]);
        assert_eq!(web("日本、語"), ["日本", "語"]);
        assert_eq!(web("ก\u{e31}น"), ["ก\u{e31}", "\u{e31}น"]);
    }

    #[test]
    fn runs_cross_block_borders() {
        let text = format!("{} {}", "a".repeat(63), "b".repeat(200));
        assert_eq!(web(&text), ["a".repeat(63), "b".repeat(200)]);
        let text = format!("{}é{}", "a".repeat(63), "b".repeat(64));
        assert_eq!(web(&text), [text.as_str()]);
    }
}
