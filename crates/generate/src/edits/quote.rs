//! Another article quotes from three tenths to nearly all of the original in one piece.

use super::share;
use crate::prose::Prose;
use crate::writer::{Length, Writer};

pub(super) fn apply(original: &Prose, writer: &mut Writer<'_>, copy: &mut Prose) {
    let (_, quoted) = original.top_and_body();
    let length = share(quoted.len(), writer.random.between(30, 95)).min(quoted.len());
    let start = writer.random.index(quoted.len() - length + 1);
    let own_length = if writer.random.one_in(3) { Length::Full } else { Length::Brief };
    writer.article(own_length, copy);
    writer.paragraph(copy);
    copy.copy_lines(original, &quoted[start..start + length]);
    writer.paragraph(copy);
}
