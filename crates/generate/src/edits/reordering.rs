//! Sentences change places, a few or nearly all.

use super::{grade, share};
use crate::prose::{Line, Prose};
use crate::writer::Writer;

pub(super) fn apply(original: &Prose, writer: &mut Writer<'_>, copy: &mut Prose) {
    let (top, body) = original.top_and_body();
    copy.copy_lines(original, top);
    let mut order: Vec<Line> = body.to_vec();
    let percent = grade(1, 100, writer);
    for _ in 0..share(order.len(), percent) {
        let (one, other) = (writer.random.index(order.len()), writer.random.index(order.len()));
        if !order.is_empty() {
            order.swap(one, other);
        }
    }
    copy.copy_lines(original, &order);
}
