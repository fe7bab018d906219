//! Copies of rejected records, as they stand, beside those of what is kept or removed.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use lookalike_corpus::write::shard::{RejectedCounts, copy_rejected};

use crate::catalogue::{Catalogue, ShardView};
use crate::context::Context;
use crate::error::EngineError;
use crate::rejections::rejected_records;

/// The folder that they go to.
pub(crate) const FOLDER: &str = "rejected";

/// Copies the rejected records of all shards that have any; returns a sentence about those that could not be copied.
pub(crate) fn write(
    ctx: &Context<'_>,
    catalogue: &Catalogue,
    folder: &Path,
    views: &[ShardView<'_>],
) -> Result<Option<String>, EngineError> {
    let views: Vec<&ShardView<'_>> = views.iter().filter(|view| view.meta.rejected > 0).collect();
    let root = folder.join(FOLDER);
    let (next, lost) = (AtomicUsize::new(0), AtomicU64::new(0));
    let failure: Mutex<Option<EngineError>> = Mutex::new(None);
    let worker = || {
        while let Some(view) = views.get(next.fetch_add(1, Ordering::Relaxed)) {
            match copy(ctx, catalogue, view, &root) {
                Ok(rejects) => drop(lost.fetch_add(rejects.lost, Ordering::Relaxed)),
                Err(error) => {
                    failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                    return;
                }
            }
        }
    };
    std::thread::scope(|scope| {
        // From 1, because this thread works as well: a single shard is copied without starting another.
        for _ in 1..ctx.shape().drivers.min(views.len()) {
            scope.spawn(worker);
        }
        worker();
    });
    // An empty folder would say that there is something to look at.
    match failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some(error) => return Err(error),
        None => drop(std::fs::remove_dir(&root)),
    }
    let sentence = |lost: u64| {
        format!(
            "{lost} rejected record{} could not be copied to {FOLDER}/: damage has left nothing of them, or their format has no \
             records that stand alone.",
            if lost == 1 { "" } else { "s" }
        )
    };
    Ok(Some(lost.into_inner()).filter(|&lost| lost > 0).map(sentence))
}

fn copy(
    ctx: &Context<'_>,
    catalogue: &Catalogue,
    view: &ShardView<'_>,
    root: &Path,
) -> Result<RejectedCounts, EngineError> {
    let rejected = rejected_records(ctx, catalogue, view)?;
    let target = root.join(&view.shard.name);
    let parent = target.parent().unwrap_or(root);
    std::fs::create_dir_all(parent).map_err(|error| EngineError::write(parent, error))?;
    let mut refused = |record: u64| rejected.binary_search(&(record as u32)).is_ok();
    let mut progress =
        |_| if ctx.watch.stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
    let options = ctx.corpus.options();
    let copied = copy_rejected(view.shard, options, &target, &mut refused, &mut progress)?;
    copied.ok_or(EngineError::Stopped)
}
