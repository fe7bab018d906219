//! Sentences are added, in one block or spread over the text: from a sentence up to twice the text.

use super::{grade, share, spread};
use crate::prose::Prose;
use crate::writer::Writer;

pub(super) fn apply(original: &Prose, writer: &mut Writer<'_>, copy: &mut Prose) {
    let (top, body) = original.top_and_body();
    copy.copy_lines(original, top);
    let percent = grade(2, 200, writer);
    let added = share(body.len(), percent);
    let block = writer.random.one_in(2).then(|| writer.random.index(body.len()));
    for (place, (line, spread)) in body.iter().zip(spread(added, body.len())).enumerate() {
        let here = match block {
            Some(block) if block == place => added,
            Some(_) => 0,
            None => spread,
        };
        (0..here).for_each(|_| writer.sentence(copy));
        copy.copy_line(original, line);
    }
}
