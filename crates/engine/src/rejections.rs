//! Records that could not be read: whose they are, and whether they are too many.
//!
//! Each corpus is compared with its own `--max-rejected`, once all is read and before anything is decided.

use lookalike_corpus::{Corpus, Item, Losses, MaxRejected};
use lookalike_model::InputPlace;
use lookalike_store::file::Run;

use crate::catalogue::{Catalogue, ShardView, shard_of};
use crate::context::Context;
use crate::error::EngineError;
use crate::recipe::Task;
use crate::stages::sketch::unit_file;
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
    rejected(ctx, catalogue, |view, line| {
        if view.reference == reference {
            losses.add(&view.shard.name, line.position, Some(view.unit()), &line.reason);
        }
        Ok(())
    })?;
    Ok(losses)
}

/// A rejection, as the sketch stage left it behind.
#[derive(serde::Deserialize)]
pub(crate) struct RejectedLine {
    record: u64,
    pub(crate) position: u64,
    pub(crate) reason: String,
    #[serde(default)]
    pub(crate) id: Option<String>,
}

/// Calls `each` with every rejection of a unit, in the order of the input.
fn rejected_lines(
    ctx: &Context<'_>,
    unit: usize,
    mut each: impl FnMut(RejectedLine) -> Result<(), EngineError>,
) -> Result<(), EngineError> {
    let path = unit_file(ctx, unit, "rejected");
    let mut records = Run::open(&path, ctx.label("rejected", 1))?.records();
    let (mut line, mut byte) = (Vec::new(), [0]);
    while records.take(&mut byte)? {
        if byte != [b'\n'] {
            line.push(byte[0]);
            continue;
        }
        let rejected = serde_json::from_slice(&line)
            .map_err(|error| EngineError::Damaged { file: path.clone(), what: error.to_string() })?;
        line.clear();
        each(rejected)?;
    }
    Ok(())
}

/// Record numbers of the rejected records of a shard, ascending.
pub(crate) fn rejected_records(
    ctx: &Context<'_>,
    catalogue: &Catalogue,
    view: &ShardView<'_>,
) -> Result<Vec<u32>, EngineError> {
    let mut found = Vec::new();
    if view.meta.rejected > 0 {
        let unit = catalogue.unit_at(view.first);
        let base = catalogue.base(unit);
        rejected_lines(ctx, unit, |rejected| {
            let record = (base + rejected.record as u32).checked_sub(view.first.get());
            found.extend(record.filter(|&record| record < view.records));
            Ok(())
        })?;
    }
    Ok(found)
}

/// Hands over every rejection with its shard, in the order of the input.
pub(crate) fn rejected(
    ctx: &Context<'_>,
    catalogue: &Catalogue,
    mut each: impl FnMut(&ShardView<'_>, RejectedLine) -> Result<(), EngineError>,
) -> Result<(), EngineError> {
    let views = catalogue.shards(ctx);
    for unit in 0..ctx.units().len() {
        rejected_lines(ctx, unit, |line| {
            let place = InputPlace::new(catalogue.base(unit) + line.record as u32);
            shard_of(&views, place).map_or(Ok(()), |shard| each(&views[shard], line))
        })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::context::{StageTest, as_lines};
    use crate::tests::{recipe, settings};
    use crate::{Job, JobRecipe, Outputs};
    use lookalike_corpus::ReadOptions;

    /// One document and two records that are none.
    const LINES: &str = "{\"id\":\"a\",\"text\":\"one\"}\n{}\n{\"id\":\"b\"}\n";

    fn corpus(lines: &str, max_rejected: MaxRejected) -> Corpus {
        let options = ReadOptions { max_rejected, ..ReadOptions::default() };
        Corpus::in_memory("docs.jsonl", lines.as_bytes().into(), options)
    }

    fn checked(task: Task, left: Option<Corpus>, corpus: Corpus) -> Result<(), String> {
        let recipe = JobRecipe { task, against: left.is_some(), ..recipe("md5") };
        let (settings, outputs) = (settings(), Outputs::default());
        let test = StageTest::open(Job { recipe, corpus, against: left, lexicon: None, settings, outputs });
        let ctx = test.sketched();
        check(&ctx, &Catalogue::load(&ctx).unwrap()).map_err(|error| error.to_string())
    }

    #[test]
    fn sides_are_named_by_the_task() {
        let names = |task| {
            let test = StageTest::new(JobRecipe { task, ..recipe("md5") }, "");
            let ctx = test.context();
            [true, false].map(|reference| (side(&ctx, reference), name(&ctx, reference)))
        };
        assert_eq!(
            names(Task::Compare),
            [(Some("left"), "the left side"), (Some("right"), "the right side")]
        );
        for task in [Task::Dedup, Task::Pairs] {
            assert_eq!(names(task), [(Some("other"), "the other corpus"), (None, "the input")]);
        }
    }

    #[test]
    fn too_many_rejections_are_told_with_their_number() {
        assert_eq!(checked(Task::Dedup, None, corpus(LINES, MaxRejected::Records(2))), Ok(()));
        let error = checked(Task::Dedup, None, corpus(LINES, MaxRejected::Records(1))).unwrap_err();
        assert!(error.starts_with("2 of 3 records of the input were rejected"), "{error}");
    }

    #[test]
    fn each_corpus_has_its_own_limit() {
        let fine = || corpus(LINES, MaxRejected::EVERYTHING);
        let strict = || corpus(LINES, MaxRejected::Records(0));
        let error = checked(Task::Compare, Some(strict()), fine()).unwrap_err();
        assert!(error.starts_with("2 of 3 records of the left side were rejected"), "{error}");
        let error = checked(Task::Dedup, Some(strict()), fine()).unwrap_err();
        assert!(error.starts_with("2 of 3 records of the other corpus were rejected"), "{error}");
        assert_eq!(checked(Task::Compare, Some(fine()), fine()), Ok(()));
    }

    #[test]
    fn one_of_two_corpora_must_not_be_empty() {
        let left = || Some(corpus(&as_lines(&["one"]), MaxRejected::Usual));
        let error = checked(Task::Compare, left(), corpus("", MaxRejected::Usual)).unwrap_err();
        assert!(error.starts_with("the right side holds no record (docs.jsonl)"), "{error}");
        assert_eq!(checked(Task::Compare, left(), corpus("", MaxRejected::EVERYTHING)), Ok(()));
        assert_eq!(checked(Task::Dedup, None, corpus("", MaxRejected::Usual)), Ok(()));
    }

    #[test]
    fn counted_rejections_are_read_again_for_their_reasons() {
        let watch = Watch::default();
        let check = |most, rejected| check_counted(&corpus(LINES, most), 3, rejected, &watch);
        assert!(check(MaxRejected::Records(2), 2).is_ok());
        let error = check(MaxRejected::Records(1), 2).unwrap_err().to_string();
        assert!(error.starts_with("2 of 3 records of the input were rejected"), "{error}");
        assert!(error.contains("docs.jsonl"), "{error}");
        watch.stop.store(true, std::sync::atomic::Ordering::Relaxed);
        let stopped = check(MaxRejected::Records(1), 2);
        assert!(matches!(stopped, Err(EngineError::Stopped)), "{stopped:?}");
    }
}
