//! Single words are exchanged for others of the same language, at a rate from 3 to 140 in a thousand.

use super::change_words;
use crate::prose::Prose;
use crate::writer::Writer;

pub(super) fn apply(original: &Prose, writer: &mut Writer<'_>, copy: &mut Prose) {
    let rate = writer.random.between(3, 140);
    change_words(original, copy, |_, word, language| {
        if writer.random.below(1000) < rate { writer.other_word(word, language) } else { word }
    });
}
