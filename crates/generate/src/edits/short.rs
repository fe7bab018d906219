//! Pages of a few words. Under five words they are one shingle, so only the punctuation changes; longer ones
//! end on another word or gain one, so that at least one 5-gram stays.

use super::change_words;
use crate::language::Stop;
use crate::prose::{Mark, Prose};
use crate::writer::Writer;

const SHINGLE: usize = 5;

pub(super) fn apply(original: &Prose, writer: &mut Writer<'_>, copy: &mut Prose) {
    let Some(line) = original.lines().first() else { return };
    let words = original.words(line);
    // Two runs of characters around the name give fewer bigrams than they have words.
    let fewest = if line.language.unspaced() { 2 * SHINGLE } else { SHINGLE };
    if words.len() < fewest {
        copy.copy_line(original, line);
        copy.set_last_stop(if writer.random.one_in(2) { Stop::None } else { Stop::Exclamation });
    } else if words.len() > fewest && writer.random.one_in(2) {
        let last = words.len() - 1;
        change_words(
            original,
            copy,
            |index, word, language| {
                if index < last { word } else { writer.other_word(word, language) }
            },
        );
    } else {
        words.iter().for_each(|word| copy.push(word.id, word.mark));
        let added = writer.word(line.language);
        copy.push(added, Mark::None);
        copy.finish(line.role, line.language, line.stop);
    }
}
