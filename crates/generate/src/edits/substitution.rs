//! Single words are exchanged for others of the same language, at a rate from 2 to 150 in a thousand.

use super::{change_words, grade};
use crate::prose::Prose;
use crate::writer::Writer;

pub(super) fn apply(original: &Prose, writer: &mut Writer<'_>, copy: &mut Prose) {
    let rate = grade(2, 150, writer);
    change_words(original, copy, |_, word, language| {
        if writer.random.below(1000) < rate { writer.other_word(word, language) } else { word }
    });
}
