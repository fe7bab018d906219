//! Words as maximal runs of word characters, over text in normal form and lower case.
//!
//! ASCII, which is most of the web, is looked at 64 bytes at a time: a bit for every byte that belongs to a
//! word, and the places where the bits change are the ends of words. A byte beyond ASCII hands over to a
//! loop over characters, which hands back after a stretch of ASCII.

use crate::class::Class;
use crate::normal::ASCII_STRETCH;

/// Which characters make words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Alphabet {
    /// General categories L, M and N.
    LettersMarksNumbers,
    /// Unicode alphanumeric characters.
    Alphanumeric,
}

/// What becomes of a run in a script that writes no blanks between words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Unspaced {
    /// Overlapping pairs of characters; a single character stays single.
    Bigrams,
    /// Nothing special: it is a run like any other, and joins with its neighbours.
    Runs,
}

/// Finds the words of `text` and hands the byte range of each to `word`, in order.
pub(crate) fn runs(text: &str, alphabet: Alphabet, unspaced: Unspaced, mut word: impl FnMut(usize, usize)) {
    let mut open = Open::None;
    let mut at = 0;
    while at < text.len() {
        at = ascii_runs(text.as_bytes(), at, &mut open, &mut word);
        at = other_runs(text, at, alphabet, unspaced, &mut open, &mut word);
    }
    close(text, open, at, &mut word);
}

/// The run that is under way.
#[derive(Clone, Copy)]
enum Open {
    None,
    /// A word that began here.
    Word(usize),
    /// A run of unspaced characters that began here.
    Unspaced(usize),
}

/// Scans ASCII from `at` on; returns the offset of the first byte beyond ASCII, or of the end.
#[inline]
fn ascii_runs(bytes: &[u8], mut at: usize, open: &mut Open, word: &mut impl FnMut(usize, usize)) -> usize {
    // An unspaced run never reaches this place: the ASCII that ends the character loop has ended it.
    let (mut inside, mut start) = match *open {
        Open::Word(start) => (1u64, start),
        _ => (0, at),
    };
    loop {
        let block = match bytes[at..].first_chunk::<64>() {
            Some(block) => *block,
            None => {
                // Zeros are no word characters, so a padded block ends what the text's end would end.
                let mut block = [0; 64];
                let rest = &bytes[at..];
                block[..rest.len()].copy_from_slice(rest);
                block
            }
        };
        let (words, beyond) = masks(&block);
        let usable = beyond.trailing_zeros().min((bytes.len() - at).min(64) as u32);
        // Bits where a run begins or ends; what lies behind the usable part is not ours to judge.
        let mut changes = words ^ (words << 1 | inside);
        if usable < 64 {
            changes &= (1 << usable) - 1;
        }
        while changes != 0 {
            let place = at + changes.trailing_zeros() as usize;
            changes &= changes - 1;
            if inside == 0 {
                start = place;
            } else {
                word(start, place);
            }
            inside ^= 1;
        }
        at += usable as usize;
        if usable < 64 || at == bytes.len() {
            *open = if inside == 1 { Open::Word(start) } else { Open::None };
            return at;
        }
    }
}

/// For each of 64 bytes, a bit that says whether it belongs to a word (ASCII, lower case), and one that says
/// whether it lies beyond ASCII.
#[inline]
fn masks(block: &[u8; 64]) -> (u64, u64) {
    let mut flags = [0u8; 64];
    for (flag, &byte) in flags.iter_mut().zip(block) {
        let word = byte.wrapping_sub(b'0') < 10 || byte.wrapping_sub(b'a') < 26;
        *flag = if word { 0x80 } else { 0 };
    }
    (high_bits(&flags), high_bits(block))
}

/// Gathers the highest bit of each byte.
#[inline]
fn high_bits(bytes: &[u8; 64]) -> u64 {
    let (eights, _) = bytes.as_chunks::<8>();
    let mut bits = 0;
    for (index, eight) in eights.iter().enumerate() {
        let highest = u64::from_le_bytes(*eight) & 0x8080_8080_8080_8080;
        // The multiplication moves the eight bits next to each other into the top byte.
        bits |= (highest >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56 << (index * 8);
    }
    bits
}

/// Scans characters from `at` on, through a stretch of ASCII; returns the offset behind it.
fn other_runs(
    text: &str,
    mut at: usize,
    alphabet: Alphabet,
    unspaced: Unspaced,
    open: &mut Open,
    word: &mut impl FnMut(usize, usize),
) -> usize {
    let mut ascii = 0;
    for c in text[at..].chars() {
        ascii = if c.is_ascii() { ascii + 1 } else { 0 };
        let class = Class::of(c);
        let belongs = match alphabet {
            Alphabet::LettersMarksNumbers => class.is_word(),
            Alphabet::Alphanumeric => class.is_alphanumeric(),
        };
        let wanted = match (*open, unspaced) {
            _ if !belongs => Open::None,
            (Open::Unspaced(_), _) if class.follows() => Open::Unspaced(at),
            (_, Unspaced::Bigrams) if class.is_unspaced() => Open::Unspaced(at),
            _ => Open::Word(at),
        };
        if std::mem::discriminant(open) != std::mem::discriminant(&wanted) {
            close(text, *open, at, word);
            *open = wanted;
        }
        at += c.len_utf8();
        if ascii == ASCII_STRETCH {
            break;
        }
    }
    at
}

/// Ends the run under way at `end`.
fn close(text: &str, open: Open, end: usize, word: &mut impl FnMut(usize, usize)) {
    match open {
        Open::None => {}
        Open::Word(start) => word(start, end),
        Open::Unspaced(start) => bigrams(text, start, end, word),
    }
}

/// The overlapping pairs of characters of a run.
fn bigrams(text: &str, start: usize, end: usize, word: &mut impl FnMut(usize, usize)) {
    let mut ends = text[start..end].char_indices().map(|(at, c)| start + at + c.len_utf8());
    let (mut before, mut middle) = (start, ends.next().unwrap_or(end));
    if middle == end {
        return word(start, end);
    }
    for after in ends {
        word(before, after);
        (before, middle) = (middle, after);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn words(text: &str, alphabet: Alphabet, unspaced: Unspaced) -> Vec<&str> {
        let mut words = Vec::new();
        runs(text, alphabet, unspaced, |start, end| words.push(&text[start..end]));
        words
    }

    fn web(text: &str) -> Vec<&str> {
        words(text, Alphabet::LettersMarksNumbers, Unspaced::Bigrams)
    }

    /// The definition, one character at a time.
    fn plain(text: &str, alphabet: Alphabet, unspaced: Unspaced) -> Vec<String> {
        let mut runs: Vec<(bool, String)> = vec![];
        let mut broken = true;
        for c in text.chars() {
            let class = Class::of(c);
            let belongs = match alphabet {
                Alphabet::LettersMarksNumbers => class.is_word(),
                Alphabet::Alphanumeric => class.is_alphanumeric(),
            };
            if !belongs {
                broken = true;
                continue;
            }
            let bigram = match runs.last() {
                Some((true, _)) if !broken && class.follows() => true,
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

    fn soup() -> impl Strategy<Value = String> {
        let pieces = prop_oneof![
            any::<char>().prop_map(String::from),
            "[a-z0-9 .,_'-]{0,80}",
            "[а-я ]{0,20}",
            "[\u{4e00}-\u{4e20}ぁ-んー、a-c1\u{301}]{0,10}",
            "[ก-\u{e4e} ]{0,10}",
        ];
        prop::collection::vec(pieces, 0..12).prop_map(|pieces| pieces.concat().to_lowercase())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn blocks_equal_the_definition(text in soup()) {
            for alphabet in [Alphabet::LettersMarksNumbers, Alphabet::Alphanumeric] {
                for unspaced in [Unspaced::Bigrams, Unspaced::Runs] {
                    prop_assert_eq!(words(&text, alphabet, unspaced), plain(&text, alphabet, unspaced));
                }
            }
        }
    }
}
