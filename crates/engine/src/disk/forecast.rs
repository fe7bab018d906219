//! A forecast of the disk that a run will take, made while scratch files grow: a run that will not fit stops before the disk is full.
//!
//! It goes by what the part of a stage that is done has taken.

use std::time::{Duration, Instant};

use lookalike_store::journal;

use crate::context::Context;
use crate::error::EngineError;
use crate::job::free_space;

/// The least time between two queries of the free disk space.
const QUERY_INTERVAL: Duration = if cfg!(test) { Duration::ZERO } else { Duration::from_secs(1) };
/// Before this share of a stage is done, what it will take is anybody's guess.
const LEAST_SHARE: f64 = 0.05;

/// A forecast of the disk that one stage takes.
#[derive(Debug)]
pub(crate) struct DiskForecast {
    /// Bytes of scratch files before it.
    before: u64,
    /// The scratch files that count.
    wanted: fn(&str) -> bool,
    last_query: Option<Instant>,
}

impl DiskForecast {
    /// Of a stage that begins now.
    pub(crate) fn begin(ctx: &Context<'_>) -> Self {
        DiskForecast { before: used_bytes(ctx, |_| true), wanted: |_| true, last_query: None }
    }

    /// Of a stage that made certain scratch files alone, also in an earlier process.
    pub(crate) fn of(wanted: fn(&str) -> bool) -> Self {
        DiskForecast { before: 0, wanted, last_query: None }
    }

    /// Stops the run when the rest of the stage would take more than there is: so much of it is done, of so much.
    pub(crate) fn check(&mut self, ctx: &Context<'_>, done: u64, total: u64) -> Result<(), EngineError> {
        if self.last_query.is_some_and(|last_query| last_query.elapsed() < QUERY_INTERVAL) {
            return Ok(());
        }
        self.last_query = Some(Instant::now());
        let Some(more) = still_needed(used_bytes(ctx, self.wanted).saturating_sub(self.before), done, total)
        else {
            return Ok(());
        };
        require(ctx, more)
    }
}

/// Stops the run when the disk has less than `needed` bytes for what it will write.
pub(crate) fn require(ctx: &Context<'_>, needed: u64) -> Result<(), EngineError> {
    match free_space(&ctx.work) {
        Some(free) if free < needed => Err(EngineError::RunsOut { folder: ctx.work.clone(), free, needed }),
        _ => Ok(()),
    }
}

/// Bytes of scratch files that are there.
fn used_bytes(ctx: &Context<'_>, wanted: fn(&str) -> bool) -> u64 {
    journal::of(&ctx.file(journal::NAME)).map_or(0, |journal| journal.bytes(wanted))
}

/// Bytes that the rest of a stage will take, when so much of it took `grown` bytes; nothing when it is too early to say.
fn still_needed(grown: u64, done: u64, total: u64) -> Option<u64> {
    let share = done as f64 / total as f64;
    (total > done && share >= LEAST_SHARE).then(|| (grown as f64 * (1.0 - share) / share) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::context::StageTest;
    use crate::tests::recipe;

    #[test]
    fn what_is_left_is_told_by_what_was_taken() {
        assert_eq!(still_needed(100, 50, 100), Some(100));
        assert_eq!(still_needed(100, 10, 100), Some(900));
        assert_eq!(still_needed(100, 1, 100), None);
        assert_eq!(still_needed(100, 100, 100), None);
        assert_eq!(still_needed(100, 0, 0), None);
    }

    #[test]
    fn more_than_the_disk_has_stops_the_run() {
        let test = StageTest::new(recipe("md5"), "");
        let ctx = test.context();
        require(&ctx, 0).unwrap();
        let EngineError::RunsOut { needed, free, .. } = require(&ctx, u64::MAX).unwrap_err() else {
            panic!("another error")
        };
        assert!(needed == u64::MAX && free < u64::MAX);
    }

    #[test]
    fn scratch_files_that_grew_are_what_the_rest_is_told_by() {
        let test = StageTest::new(recipe("md5"), "");
        let ctx = test.context();
        let mut forecast = DiskForecast::begin(&ctx);
        assert!(forecast.check(&ctx, 1, u64::MAX).is_ok(), "it is too early to say");
        ctx.save("facts", &"x".repeat(1000)).unwrap();
        assert!(used_bytes(&ctx, |_| true) - forecast.before >= 1000);
        assert_eq!(used_bytes(&ctx, |name| name == "none"), 0);
        assert!(forecast.check(&ctx, 50, 100).is_ok());
    }
}
