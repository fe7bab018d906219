//! The parts of a job that another engine leads over many machines: it moves rows by key, and all that is decided is decided here.
//!
//! A document becomes a sketch ([`crate::examine`]), with what methods had to learn first ([`learn`]). Its postings are
//! brought together by key, and [`groups`] makes pairs of them by the code of a job, which knows its documents only
//! through the trait `GroupHost`; [`components`] says which documents hang together by pairs that their sketches do not
//! tell apart. Documents that do are a [`portion`]: an ordinary job over them, with the pairs that were proposed
//! elsewhere, measures and decides. So results are those of one machine, row for row.

pub mod components;
pub mod groups;
pub mod learn;
pub mod portion;
#[cfg(test)]
mod tests;
