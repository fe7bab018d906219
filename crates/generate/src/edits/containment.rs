//! A longer page holds the original, title and all, in one piece: every 5-gram of the original is in it.

use super::{grade, share};
use crate::prose::{Prose, Role};
use crate::writer::{Length, Writer};

pub(super) fn apply(original: &Prose, writer: &mut Writer<'_>, copy: &mut Prose) {
    writer.article(Length::Tiny, copy);
    let whole = original.lines().len();
    let before = share(whole, grade(2, 90, writer));
    let after = share(whole, grade(2, 90, writer));
    writer.paragraph(copy);
    (1..before).for_each(|_| writer.sentence(copy));
    for line in original.lines() {
        copy.copy_line(original, line);
        if matches!(line.role, Role::Title | Role::Headline) {
            copy.set_last_role(Role::Heading);
        }
    }
    writer.paragraph(copy);
    (1..after).for_each(|_| writer.sentence(copy));
}
