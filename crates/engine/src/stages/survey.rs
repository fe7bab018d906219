//! The stage `survey`: what methods must know of the whole corpus before the sketch, in passes of their own.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use lookalike_hash as hash;
use lookalike_methods::{Abilities, Survey};
use lookalike_store::file::{Run, RunWriter};

use crate::context::Context;
use crate::error::EngineError;
use crate::pipeline::{self, Batch, Unit};
use crate::stages::sketch::SketchWorker;

/// The least time between two saves of what methods have learned so far.
const SAVE_INTERVAL: Duration = Duration::from_secs(if cfg!(test) { 0 } else { 20 });

/// Sets memory aside for what methods gather and hold.
pub(crate) fn reserve_memory(ctx: &mut Context<'_>) -> Result<(), EngineError> {
    for entry in ctx.panel.methods() {
        let Abilities { survey, resident_bytes, .. } = entry.abilities();
        let gathers = survey.map_or(0, |survey| survey.bytes());
        let what = format!("what {} must know", entry.method.recipe().name);
        ctx.budget.reserve(gathers + resident_bytes, &what)?;
    }
    Ok(())
}

/// Lets every method that wants to see all documents, as often as it wants to, or gives back what they saw. A killed
/// pass goes on behind the last units that were written down.
pub(crate) fn survey(ctx: &Context<'_>) -> Result<(), EngineError> {
    // Asked for once: documents are many.
    let surveys: Vec<Option<&dyn Survey>> =
        ctx.panel.methods().iter().map(|entry| entry.abilities().survey).collect();
    let passes = surveys.iter().flatten().map(|survey| survey.passes()).max().unwrap_or(0);
    let (mut pass, mut seen) = load(ctx)?;
    while pass < passes {
        ctx.begin("survey", ctx.input_bytes(), true);
        let show = |worker: &mut SketchWorker, batch: &Batch, heavy: &Mutex<()>| {
            let survey = |method: usize| surveys[method].filter(|survey| pass < survey.passes());
            // Which documents are in a share that is enough depends on nothing but their places in their units.
            let sample_hash = |index: usize| hash::mix(batch.first + index as u64);
            let wants = |method: usize, index: usize| {
                survey(method)
                    .is_some_and(|survey| sample_hash(index).is_multiple_of(survey.sampling_interval()))
            };
            let chosen = |index: usize| (0..ctx.panel.methods().len()).any(|method| wants(method, index));
            let shown = worker.for_each_page(ctx, batch, heavy, chosen, wants, |method, page, buffers| {
                survey(method).into_iter().for_each(|survey| survey.observe(pass, page, buffers));
                Ok(())
            });
            shown.map(drop)
        };
        walk(ctx, seen, show, |seen| save(ctx, pass, seen))?;
        // A pass is ended before the next one is noted: a later process that finds the note does not end it
        // again.
        surveys.iter().flatten().filter(|survey| pass < survey.passes()).for_each(|survey| survey.end(pass));
        (pass, seen) = (pass + 1, 0);
        save(ctx, pass, seen)?;
    }
    Ok(())
}

/// Shows all documents behind the first `seen` units to `show`; `pause` is called every now and then between two units,
/// with the number of those that were shown by then.
pub(crate) fn walk(
    ctx: &Context<'_>,
    mut seen: usize,
    show: impl Fn(&mut SketchWorker, &Batch, &Mutex<()>) -> Result<(), EngineError> + Sync,
    mut pause: impl FnMut(usize) -> Result<(), EngineError>,
) -> Result<(), EngineError> {
    let (total, shape, heavy) = (ctx.units().len(), ctx.shape(), Mutex::new(()));
    let (mut first, mut last) = (0, Instant::now());
    for corpus in ctx.corpora() {
        let units = pipeline::units(corpus);
        // What was learned can be saved only when no worker is in the midst of a unit, so that units go in
        // groups. Several for each driver: those with short units take more of them while others still read.
        for (number, group) in units.chunks(4 * shape.drivers).enumerate() {
            let end = first + (number * 4 * shape.drivers) + group.len();
            if end <= seen {
                continue;
            }
            // A later process may run with other drivers: its groups are cut elsewhere.
            let fresh: &[Unit] = &group[group.len() - (end - seen.max(end - group.len()))..];
            let work = |worker: &mut SketchWorker, batch: &Batch| show(worker, batch, &heavy);
            let drive = |_, feed: &mut pipeline::Feed<'_, Result<(), EngineError>>| {
                while let Some(done) = feed.next()? {
                    done?;
                }
                Ok(())
            };
            let worker = || SketchWorker::new(ctx, corpus);
            pipeline::run(corpus, fresh, shape, ctx.watch, worker, work, drive)?;
            seen = end;
            // Behind the last unit the caller ends the pass and writes down more than `pause` would.
            if last.elapsed() > SAVE_INTERVAL && seen < total {
                pause(seen)?;
                last = Instant::now();
            }
        }
        first += units.len();
    }
    Ok(())
}

const FILE: &str = "survey";

/// Writes down what all methods learned: so many whole passes, and so many units of the one under way.
pub(crate) fn save(ctx: &Context<'_>, pass: u32, seen: usize) -> Result<(), EngineError> {
    let mut writer = RunWriter::create(&ctx.file(FILE), ctx.label(FILE, 1))?;
    for survey in ctx.panel.methods().iter().filter_map(|entry| entry.abilities().survey) {
        let saved = survey.save();
        writer.push(&(saved.len() as u64).to_le_bytes())?;
        writer.push(&saved)?;
    }
    // The count is in the header of the very file that holds what was learned. In a file of its own it could
    // be older or newer after a stop, and documents would count twice or not at all.
    Ok(writer.finish_with_mark(u64::from(pass) << 32 | seen as u64)?)
}

/// Gives methods back what was written down; returns how many passes are over and how many units of the next.
pub(crate) fn load(ctx: &Context<'_>) -> Result<(u32, usize), EngineError> {
    let path = ctx.file(FILE);
    if !path.exists() {
        return Ok((0, 0));
    }
    let run = Run::open(&path, ctx.label(FILE, 1))?;
    let mark = run.mark();
    let mut records = run.records();
    for survey in ctx.panel.methods().iter().filter_map(|entry| entry.abilities().survey) {
        let mut length = [0; 8];
        let mut saved = Vec::new();
        let mut whole = records.take(&mut length)?;
        if whole {
            saved.resize(u64::from_le_bytes(length) as usize, 0);
            whole = saved.is_empty() || records.take(&mut saved)?;
        }
        if !whole || !survey.load(&saved) {
            let what = "it is not what the method wrote".to_owned();
            return Err(EngineError::Damaged { file: path, what });
        }
    }
    Ok(((mark >> 32) as u32, mark as u32 as usize))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::context::{StageTest, as_lines};
    use crate::tests::{recipe, settings};
    use crate::{Job, Outputs};
    use lookalike_corpus::{Corpus, ReadOptions};
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// A method that counts shingles of three words.
    const SPEX: &str = "spex:n=3,counters=16";

    fn saved(ctx: &Context<'_>) -> Vec<u8> {
        ctx.panel.methods()[0].abilities().survey.unwrap().save()
    }

    #[test]
    fn methods_that_know_enough_leave_nothing_behind() {
        let test = StageTest::new(recipe("md5"), &as_lines(&["one two three"]));
        let ctx = test.context();
        survey(&ctx).unwrap();
        assert!(!ctx.file(FILE).exists());
        assert_eq!(load(&ctx).unwrap(), (0, 0));
    }

    #[test]
    fn a_later_process_knows_what_was_seen() {
        let test = StageTest::new(recipe(SPEX), &as_lines(&["one two three four", "one two three", "x y z"]));
        let (first, later) = (test.context(), test.context());
        let nothing = saved(&first);
        survey(&first).unwrap();
        assert_ne!(saved(&first), nothing);
        let passes = first.panel.methods()[0].abilities().survey.unwrap().passes();
        assert_eq!(load(&later).unwrap(), (passes, 0));
        assert_eq!(saved(&later), saved(&first));
    }

    #[test]
    fn passes_and_units_are_written_down() {
        let test = StageTest::new(recipe(SPEX), &as_lines(&["one two three"]));
        let ctx = test.context();
        save(&ctx, 1, 70_000).unwrap();
        assert_eq!(load(&ctx).unwrap(), (1, 70_000));
    }

    #[test]
    fn what_no_method_wrote_is_refused() {
        let test = StageTest::new(recipe(SPEX), &as_lines(&["one two three"]));
        let ctx = test.context();
        for content in [&b""[..], b"\x03\0\0\0\0\0\0\0abc"] {
            let mut writer = RunWriter::create(&ctx.file(FILE), ctx.label(FILE, 1)).unwrap();
            writer.push(content).unwrap();
            writer.finish().unwrap();
            let error = load(&ctx).unwrap_err().to_string();
            assert!(error.contains("it is not what the method wrote"), "{error}");
        }
    }

    #[test]
    fn memory_for_what_is_gathered_is_set_aside() {
        let test = StageTest::new(recipe(SPEX), &as_lines(&["one two three"]));
        let mut ctx = test.context();
        let gathers = ctx.panel.methods()[0].abilities().survey.unwrap().bytes();
        let before = ctx.budget.reservable();
        reserve_memory(&mut ctx).unwrap();
        assert!(gathers > 0 && before - ctx.budget.reservable() >= gathers);
    }

    #[test]
    fn units_that_were_seen_are_not_shown_again() {
        let folder = tempfile::tempdir().unwrap();
        for (name, documents) in [("a.jsonl", 10), ("b.jsonl", 20), ("c.jsonl", 40)] {
            let line = format!("{{\"text\":\"{}\"}}\n", "word ".repeat(800));
            std::fs::write(folder.path().join(name), line.repeat(documents)).unwrap();
        }
        let corpus = Corpus::open(&[folder.path()], ReadOptions::default()).unwrap();
        let recipe = recipe("md5");
        let (settings, outputs) = (settings(), Outputs::default());
        let test = StageTest::open(Job { recipe, corpus, against: None, lexicon: None, settings, outputs });
        let ctx = test.context();
        assert_eq!(ctx.units().len(), 3);
        for (seen, expected) in [(0, 70), (1, 60), (2, 40), (3, 0)] {
            let shown = AtomicUsize::new(0);
            let show = |_: &mut SketchWorker, batch: &Batch, _: &Mutex<()>| {
                shown.fetch_add(batch.len(), Ordering::Relaxed);
                Ok(())
            };
            walk(&ctx, seen, show, |_| Ok(())).unwrap();
            assert_eq!(shown.into_inner(), expected, "behind {seen} units");
        }
    }
}
