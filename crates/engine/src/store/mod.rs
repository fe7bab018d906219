//! Files of a job: runs of fixed-width records, sorted runs and their merge, blocks of symbols.
//!
//! - [`mod@file`]: checksummed run files
//! - `facts`: what a later process goes on from
//! - `journal`: which files are there, and which would survive a loss of power
//! - [`sort`]: records in order, in memory or on disk
//! - [`strings`]: texts in order, and what was counted for each
//! - `symbols`: the spool: what each document is measured by

pub(crate) mod facts;
pub mod file;
pub(crate) mod journal;
pub mod sort;
pub mod strings;
pub(crate) mod symbols;
