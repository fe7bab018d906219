//! Another article of the same site: nothing is copied but what stands around it.

use crate::prose::Prose;
use crate::writer::{Length, Writer};

pub(super) fn apply(_original: &Prose, writer: &mut Writer<'_>, copy: &mut Prose) {
    let length = if writer.random.one_in(3) { Length::Full } else { Length::Brief };
    writer.article(length, copy);
}
