//! Two forms of the same words: plain text and a web page.

mod html;
mod skin;
mod text;

pub(crate) use html::html;
pub(crate) use text::text;

use crate::Language;
use crate::lexicon::{Lexicon, is_coined};
use crate::prose::{Mark, Word};

/// Returns the characters between two words of a line.
fn gap(lexicon: &Lexicon, word: Word, next: Word, language: Language) -> &'static str {
    match word.mark {
        Mark::None if lexicon.is_unspaced(word.id) || lexicon.is_unspaced(next.id) => "",
        Mark::None => " ",
        Mark::Comma => language.comma(),
        Mark::Colon => ": ",
        Mark::Ampersand => " & ",
        Mark::Dash => " — ",
        Mark::Point => ".",
        Mark::Hyphen => "-",
        Mark::Minutes => ":",
    }
}

/// Lines begin with a capital, and so do names.
fn is_capital(index: usize, word: Word) -> bool {
    index == 0 || is_coined(word.id)
}

/// Appends a word, its first letter as a capital where its script has capitals.
fn push_capital(word: &str, out: &mut String) {
    let start = out.len();
    if word.as_bytes().first().is_some_and(u8::is_ascii) {
        out.push_str(word);
        return out[start..=start].make_ascii_uppercase();
    }
    let mut letters = word.chars();
    out.extend(letters.next().into_iter().flat_map(char::to_uppercase));
    out.push_str(letters.as_str());
}
