//! Sentences are left out, in one block or spread over the text: from a sentence up to two thirds.

use super::{grade, share, spread};
use crate::prose::Prose;
use crate::writer::Writer;

pub(super) fn apply(original: &Prose, writer: &mut Writer<'_>, copy: &mut Prose) {
    let (top, body) = original.top_and_body();
    copy.copy_lines(original, top);
    let percent = grade(2, 66, writer);
    let dropped = share(body.len(), percent);
    let block =
        writer.random.one_in(2).then(|| writer.random.index(body.len() - dropped.min(body.len()) + 1));
    for (place, (line, spread)) in body.iter().zip(spread(dropped, body.len())).enumerate() {
        let is_dropped = match block {
            Some(start) => (start..start + dropped).contains(&place),
            None => spread > 0,
        };
        if !is_dropped {
            copy.copy_line(original, line);
        }
    }
}
