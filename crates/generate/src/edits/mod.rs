//! Edits that make copies differ from their original: one file per edit, all of one shape.
//!
//! An edit reads the original, writes the copy, and takes everything it needs from the copy's own writer. How
//! strong it is comes from chance too, so that the copies of a corpus are graded from nearly equal to barely
//! related.

mod cluster;
mod containment;
mod deletion;
mod insertion;
mod numbers;
mod quote;
mod reordering;
mod short;
mod site;
mod substitution;

use crate::families::Family;
use crate::prose::Prose;
use crate::writer::Writer;
use crate::{Kind, Language};

/// Writes the copy of `original` that `writer` makes as a member of `family`.
pub(crate) fn apply(family: &Family, original: &Prose, writer: &mut Writer<'_>, copy: &mut Prose) {
    match family.kind {
        Kind::Numbers => numbers::apply(original, writer, copy),
        Kind::Insertion => insertion::apply(original, writer, copy),
        Kind::Deletion => deletion::apply(original, writer, copy),
        Kind::Reordering => reordering::apply(original, writer, copy),
        Kind::Substitution => substitution::apply(original, writer, copy),
        Kind::Quote => quote::apply(original, writer, copy),
        Kind::Containment => containment::apply(original, writer, copy),
        Kind::Site => site::apply(original, writer, copy),
        Kind::Short => short::apply(original, writer, copy),
        Kind::Cluster => cluster::apply(family, original, writer, copy),
        Kind::Alone | Kind::Empty | Kind::Mirror | Kind::Template | Kind::Translation => {
            copy.copy_lines(original, original.lines());
        }
    }
}

/// Copies `original` and lets `change` give each word a successor.
fn change_words(original: &Prose, copy: &mut Prose, mut change: impl FnMut(usize, u32, Language) -> u32) {
    let mut index = 0;
    for line in original.lines() {
        for word in original.words(line) {
            copy.push(change(index, word.id, line.language), word.mark);
            index += 1;
        }
        copy.finish(line.role, line.language, line.stop);
    }
}

/// Spreads `parts` events evenly over `whole` steps; gives the number of events on each step.
fn spread(parts: usize, whole: usize) -> impl Iterator<Item = usize> {
    (0..whole).map(move |step| (step + 1) * parts / whole - step * parts / whole)
}

/// A strength from `low` to `high`, more often near `low`: most copies on the web are light ones.
fn grade(low: u32, high: u32, writer: &mut Writer<'_>) -> u32 {
    low + writer.random.skewed((high - low + 1) as usize) as u32
}

/// Returns `percent` percent of `whole`, at least one.
fn share(whole: usize, percent: u32) -> usize {
    (whole * percent as usize / 100).max(1)
}
