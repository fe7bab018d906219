//! Before the sketch: what a method must know of the whole corpus, in a pass of its own.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::context::Context;
use crate::error::EngineError;
use crate::pipeline::{self, Batch};
use crate::sketch::Workshop;
use crate::store::file::{Run, RunWriter};

/// So often, at most, what was learned so far is written down.
const PAUSE: Duration = Duration::from_secs(20);

/// Lets the method see every document, or takes back what it saw. A killed pass goes on behind the last units that were
/// written down.
pub(crate) fn survey(ctx: &Context<'_>) -> Result<(), EngineError> {
    let Some(survey) = ctx.method.survey() else { return Ok(()) };
    let path = ctx.file("survey");
    let label = ctx.label("survey", 1);
    let mut seen = 0;
    if path.exists() {
        let run = Run::open(&path, label)?;
        seen = run.mark() as usize;
        let mut saved = vec![0; run.bytes() as usize];
        run.records().take(&mut saved)?;
        if !survey.load(&saved) {
            let what = "it is not what the method wrote".to_owned();
            return Err(EngineError::Damaged { file: path, what });
        }
    }
    let save = |seen: usize| -> Result<(), EngineError> {
        let mut writer = RunWriter::create(&path, label)?;
        writer.push(&survey.save())?;
        writer.finish_with_mark(seen as u64)
    };
    let total = ctx.units().len();
    if seen < total {
        ctx.begin("survey", ctx.input_bytes(), true);
    }
    let shape = ctx.shape();
    let heavy = Mutex::new(());
    let (mut first, mut last_save) = (0, Instant::now());
    for corpus in ctx.corpora() {
        let units = pipeline::units(corpus);
        for (number, group) in units.chunks(4 * shape.drivers).enumerate() {
            let end = first + (number * 4 * shape.drivers) + group.len();
            if end <= seen {
                continue;
            }
            // A later process may run with other drivers: its groups are cut elsewhere.
            let fresh = &group[group.len() - (end - seen.max(end - group.len()))..];
            let work =
                |workshop: &mut Workshop, batch: Batch| workshop.survey_all(ctx, &batch, survey, &heavy);
            let drive = |_, feed: &mut pipeline::Feed<'_, Result<(), EngineError>>| {
                while let Some(done) = feed.next()? {
                    done?;
                }
                Ok(())
            };
            pipeline::run(corpus, fresh, shape, ctx.watch, || Workshop::new(ctx), work, drive)?;
            seen = end;
            if last_save.elapsed() > PAUSE && seen < total {
                save(seen)?;
                last_save = Instant::now();
            }
        }
        first += units.len();
    }
    let whole = path.exists() && Run::open(&path, label)?.mark() as usize == total;
    if whole { Ok(()) } else { save(total) }
}
