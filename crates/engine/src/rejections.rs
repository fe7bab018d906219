//! Records that could not be read: whose they are, and whether they are too many.
//!
//! Each corpus is compared with its own `--max-rejected`, once all is read and before anything is decided.

use lookalike_corpus::{Corpus, Item, Losses, MaxRejected};

use crate::catalogue::Catalogue;
use crate::context::Context;
use crate::error::EngineError;
use crate::recipe::Task;
use crate::results;
use crate::walk::Watch;

/// The corpus of a record, as tables name it; nothing where there is one alone.
pub(crate) fn side(ctx: &Context<'_>, reference: bool) -> Option<&'static str> {
    match (ctx.recipe.task, reference) {
        (Task::Compare, true) => Some("left"),
        (Task::Compare, false) => Some("right"),
        (_, true) => Some("other"),
        (_, false) => None,
    }
}

/// Fails when more records of a corpus were rejected than may be, once all have been read and before anything is decided.
pub(crate) fn check(ctx: &Context<'_>, catalogue: &Catalogue) -> Result<(), EngineError> {
    for (corpus, reference) in [(ctx.against, true), (Some(ctx.corpus), false)] {
        let Some(corpus) = corpus else { continue };
        let most = corpus.options().max_rejected;
        let (mut records, mut rejected) = (0, 0);
        for view in catalogue.shards(ctx).iter().filter(|view| view.reference == reference) {
            records += u64::from(view.records);
            rejected += view.meta.rejected;
        }
        if records == 0 && ctx.against.is_some() {
            refuse_empty(ctx, corpus, reference)?;
        }
        if most.exceeded(records, rejected) {
            let mut losses = losses(ctx, catalogue, reference)?;
            losses.records = records;
            losses.check(name(ctx, reference), most)?;
        }
    }
    Ok(())
}

/// The same for an input of which no rejection was noted; it is read again for the reasons where it fails.
pub(crate) fn check_counted(
    corpus: &Corpus,
    records: u64,
    rejected: u64,
    watch: &Watch,
) -> Result<(), EngineError> {
    let most = corpus.options().max_rejected;
    if !most.exceeded(records, rejected) {
        return Ok(());
    }
    let mut losses = Losses::default();
    for shard in corpus.shards() {
        let mut reader = shard.open(corpus.options())?;
        while let Some(item) = reader.next()? {
            watch.check()?;
            if let Item::Rejected(rejection) = item {
                losses.reject(&shard.name, &rejection);
            }
        }
    }
    losses.records = records;
    Ok(losses.check("the input", most)?)
}

/// Refuses one of two corpora that holds nothing at all.
fn refuse_empty(ctx: &Context<'_>, corpus: &Corpus, reference: bool) -> Result<(), EngineError> {
    if corpus.options().max_rejected == MaxRejected::EVERYTHING {
        return Ok(());
    }
    let shard = corpus.shards().first().map_or("no file", |shard| shard.name.as_str());
    Err(EngineError::Request(format!(
        "{} holds no record ({shard}); look at what was named, or go on all the same with --max-rejected 100%",
        name(ctx, reference)
    )))
}

fn name(ctx: &Context<'_>, reference: bool) -> &'static str {
    match side(ctx, reference) {
        Some("left") => "the left side",
        Some("right") => "the right side",
        Some(_) => "the other corpus",
        None => "the input",
    }
}

/// Reasons and examples of one of the corpora.
fn losses(ctx: &Context<'_>, catalogue: &Catalogue, reference: bool) -> Result<Losses, EngineError> {
    let mut losses = Losses::default();
    results::rejected(ctx, catalogue, |view, line| {
        if view.reference == reference {
            losses.add(&view.shard.name, line.position, Some(view.unit()), &line.reason);
        }
        Ok(())
    })?;
    Ok(losses)
}
