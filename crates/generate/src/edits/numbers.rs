//! Dates, prices and counts change; the words stay.

use super::change_words;
use crate::lexicon::{is_number, other_number};
use crate::prose::Prose;
use crate::writer::Writer;

pub(super) fn apply(original: &Prose, writer: &mut Writer<'_>, copy: &mut Prose) {
    let percent = writer.random.between(10, 100);
    change_words(original, copy, |_, word, _| {
        if is_number(word) && writer.random.percent(percent) {
            other_number(word, &mut writer.random)
        } else {
            word
        }
    });
}
