//! The stage `survey`: what methods must know of the whole corpus before the sketch, in passes of their own.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use lookalike_text::hash;

use crate::context::Context;
use crate::error::EngineError;
use crate::pipeline::{self, Batch, Unit};
use crate::stages::sketch::SketchWorker;
use crate::store::file::{Run, RunWriter};

/// The least time between two saves of what methods have learned so far.
const SAVE_INTERVAL: Duration = Duration::from_secs(if cfg!(test) { 0 } else { 20 });

/// Sets memory aside for what methods gather and hold.
pub(crate) fn reserve_memory(ctx: &mut Context<'_>) -> Result<(), EngineError> {
    for entry in ctx.panel.methods() {
        let gathers = entry.method.survey().map_or(0, |survey| survey.bytes());
        let what = format!("what {} must know", entry.method.recipe().name);
        ctx.budget.reserve(gathers + entry.method.resident_bytes(), &what)?;
    }
    Ok(())
}

/// Lets every method that wants to see all documents, as often as it wants to, or gives back what they saw. A killed
/// pass goes on behind the last units that were written down.
pub(crate) fn survey(ctx: &Context<'_>) -> Result<(), EngineError> {
    let surveys = || ctx.panel.methods().iter().map(|entry| entry.method.survey());
    let passes = surveys().flatten().map(|survey| survey.passes()).max().unwrap_or(0);
    let (mut pass, mut seen) = load(ctx)?;
    while pass < passes {
        ctx.begin("survey", ctx.input_bytes(), true);
        let show = |worker: &mut SketchWorker, batch: &Batch, heavy: &Mutex<()>| {
            let survey = |method: usize| {
                let survey = ctx.panel.methods()[method].method.survey();
                survey.filter(|survey| pass < survey.passes())
            };
            // Which documents are in a share that is enough depends on nothing but their places in their units.
            let sample_hash = |index: usize| hash::mix(batch.first + index as u64);
            let wants = |method: usize, index: usize| {
                survey(method)
                    .is_some_and(|survey| sample_hash(index).is_multiple_of(survey.sampling_interval()))
            };
            let chosen = |index: usize| (0..ctx.panel.methods().len()).any(|method| wants(method, index));
            let shown = worker.for_each_page(ctx, batch, heavy, chosen, wants, |method, page, scratch| {
                survey(method).into_iter().for_each(|survey| survey.observe(pass, page, scratch));
                Ok(())
            });
            shown.map(drop)
        };
        walk(ctx, seen, show, |seen| save(ctx, pass, seen))?;
        surveys().flatten().filter(|survey| pass < survey.passes()).for_each(|survey| survey.end(pass));
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
    for survey in ctx.panel.methods().iter().filter_map(|entry| entry.method.survey()) {
        let saved = survey.save();
        writer.push(&(saved.len() as u64).to_le_bytes())?;
        writer.push(&saved)?;
    }
    writer.finish_with_mark(u64::from(pass) << 32 | seen as u64)
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
    for survey in ctx.panel.methods().iter().filter_map(|entry| entry.method.survey()) {
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
