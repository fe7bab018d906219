//! Censuses of engines whose sizes are known.

mod coverage;
mod known;
