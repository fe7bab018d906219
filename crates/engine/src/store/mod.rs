//! Files of a job: runs of fixed-width records, sorted runs and their merge, blocks of symbols.
//!
//! - [`file`]: checksummed run files
//! - [`sort`]: records in order, in memory or on disk
//! - [`symbols`]: the spool: what each document is measured by

pub(crate) mod file;
pub(crate) mod sort;
pub(crate) mod symbols;
