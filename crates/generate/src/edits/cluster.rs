//! One form, filled in again: the places that differ are the same for all members of the cluster.

use super::change_words;
use crate::families::Family;
use crate::prose::Prose;
use crate::random::child;
use crate::writer::Writer;

/// One word in this number is a slot to fill in, cluster by cluster.
const PLACES: [u64; 3] = [60, 25, 12];

pub(super) fn apply(family: &Family, original: &Prose, writer: &mut Writer<'_>, copy: &mut Prose) {
    let every = PLACES[(family.number % 3) as usize];
    let percent = writer.random.between(20, 100);
    change_words(original, copy, |index, word, language| {
        let is_place = child(family.key, index as u64).is_multiple_of(every);
        if is_place && writer.random.percent(percent) { writer.other_word(word, language) } else { word }
    });
}
