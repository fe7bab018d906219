//! Before the sketch: what a method must know of the whole corpus, in a pass of its own.

use crate::context::Context;
use crate::error::EngineError;
use crate::pipeline::{self, Batch, Record};
use crate::sketch::Workshop;
use crate::store::file::{Run, RunWriter};

/// Lets the method see every document, or takes back what it saw.
pub(crate) fn survey(ctx: &Context<'_>) -> Result<(), EngineError> {
    let Some(survey) = ctx.method.survey() else { return Ok(()) };
    let path = ctx.file("survey");
    let label = ctx.label("survey", 1);
    if path.exists() {
        let run = Run::open(&path, label)?;
        let mut saved = vec![0; run.bytes() as usize];
        run.records().take(&mut saved)?;
        if !survey.load(&saved) {
            let what = "it is not what the method wrote".to_owned();
            return Err(EngineError::Damaged { file: path, what });
        }
        return Ok(());
    }
    ctx.begin("survey", ctx.input_bytes(), true);
    for corpus in ctx.corpora() {
        let work = |workshop: &mut Workshop, batch: Batch| {
            for record in batch.records() {
                if let Record::Document(document, _) = record {
                    workshop.survey(ctx, &document, survey);
                }
            }
        };
        let drive = |_, feed: &mut pipeline::Feed<'_, ()>| {
            while feed.next()?.is_some() {}
            Ok(())
        };
        let units = pipeline::units(corpus);
        pipeline::run(corpus, &units, ctx.shape(), ctx.watch, || Workshop::new(ctx), work, drive)?;
    }
    let mut writer = RunWriter::create(&path, label)?;
    writer.push(&survey.save())?;
    writer.finish()
}
