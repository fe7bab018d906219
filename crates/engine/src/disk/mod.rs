//! The disk that a run will take.
//!
//! - `estimate`: from the first documents of its input
//! - `forecast`: from what the part of a stage that is done has taken

pub(crate) mod estimate;
pub(crate) mod forecast;
