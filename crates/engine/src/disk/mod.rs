//! The disk that a run will take.
//!
//! - `estimate`: from some documents of its input
//! - `sample`: these documents, from all over it
//! - `forecast`: from what the part of a stage that is done has taken

pub(crate) mod estimate;
pub(crate) mod forecast;
mod sample;
