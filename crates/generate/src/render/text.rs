//! Plain text: a line for each block, an empty line before paragraphs.

use super::{gap, is_capital, push_capital};
use crate::lexicon::Lexicon;
use crate::prose::{Line, Prose, Role};

/// Renders a page as plain text.
pub(crate) fn text(page: &Prose, lexicon: &Lexicon, out: &mut String) {
    let mut coined = String::new();
    let mut before: Option<&Line> = None;
    for line in page.lines() {
        if let Some(before) = before {
            out.push_str(separator(before, line));
        }
        let words = page.words(line);
        for (index, &word) in words.iter().enumerate() {
            let spelling = lexicon.spelling(word.id, &mut coined);
            if is_capital(index, word) {
                push_capital(spelling, out)
            } else {
                out.push_str(spelling)
            }
            if let Some(&next) = words.get(index + 1) {
                out.push_str(gap(lexicon, word, next, line.language));
            }
        }
        out.push_str(line.language.stop(line.stop));
        before = Some(line);
    }
}

fn separator(before: &Line, line: &Line) -> &'static str {
    match (before.role, line.role) {
        (Role::Menu, Role::Menu) => " | ",
        (Role::Paragraph | Role::Sentence, Role::Sentence) => {
            let has_stop = !before.language.stop(before.stop).is_empty();
            if has_stop && before.language.unspaced() { "" } else { " " }
        }
        (_, Role::Item) => "\n* ",
        (_, Role::Menu | Role::Sentence | Role::Title) => "\n",
        (Role::Footer, Role::Footer) => "\n",
        _ => "\n\n",
    }
}
