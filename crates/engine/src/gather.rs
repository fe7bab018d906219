//! The symbols of chosen documents, which are read again: each from where it stands, or all in one pass over the input.

use std::sync::{Mutex, PoisonError};

use lookalike_model::DocNumber;
use rayon::prelude::*;

use crate::catalogue::{Catalogue, Lookup};
use crate::context::Context;
use crate::error::EngineError;
use crate::pipeline::{self, Batch, BufferPool, Feed};
use crate::reread::{Rereader, ShardReaders};
use crate::stages::order::UnitNumbers;
use crate::stages::sketch::{RereadBatch, SketchWorker};

/// Takes a document's number and what it is measured by.
pub(crate) type SymbolSink<'t> = dyn FnMut(DocNumber, &[u64]) -> Result<(), EngineError> + Send + 't;

/// Documents that are asked for together, and those of them that are read by one thread.
const DOCUMENTS_AT_ONCE: usize = 16 << 10;
const DOCUMENTS_PER_THREAD: usize = 256;

/// Hands over the symbols of every document for which `wanted` holds, in no fixed order.
pub(crate) fn symbols(
    ctx: &Context<'_>,
    catalogue: &Catalogue,
    wanted: &(dyn Fn(DocNumber) -> bool + Sync),
    take: &mut SymbolSink<'_>,
) -> Result<(), EngineError> {
    let (mut to_reread, readers) = (Vec::new(), ShardReaders::new(ctx, catalogue));
    for (unit, meta) in catalogue.units().iter().enumerate() {
        ctx.check()?;
        let numbers = UnitNumbers::of_unit(ctx, catalogue, unit)?;
        let mut these = (0..meta.records() as u32)
            .map(|local| numbers.of(local))
            .filter(|&document| wanted(document))
            .peekable();
        if these.peek().is_none() {
            continue;
        }
        match meta.is_random_access() {
            true => read_some(ctx, &readers, &mut these, take)?,
            false => to_reread.push(unit),
        }
    }
    if to_reread.is_empty() { Ok(()) } else { reread(ctx, catalogue, &to_reread, wanted, take) }
}

/// The error about an input that has other documents than it had.
pub(crate) fn input_changed(ctx: &Context<'_>) -> EngineError {
    let what = "documents were added, taken away or changed while the job ran".to_owned();
    let folder = ctx.work.parent().unwrap_or(&ctx.work).to_owned();
    EngineError::InputChanged { folder, what }
}

/// Reads documents, which are in the order of the input, from where they stand.
fn read_some(
    ctx: &Context<'_>,
    readers: &ShardReaders<'_>,
    documents: &mut dyn Iterator<Item = DocNumber>,
    take: &mut SymbolSink<'_>,
) -> Result<(), EngineError> {
    let (take, free) = (Mutex::new(take), Mutex::new(Vec::new()));
    let lock_free = || free.lock().unwrap_or_else(PoisonError::into_inner);
    let read = |documents: &[DocNumber]| {
        ctx.check()?;
        let taken = lock_free().pop();
        let mut rereader = taken.unwrap_or_else(|| Rereader::new(readers));
        let mut taken = Ok(());
        rereader.read(documents, |document, symbols| {
            if taken.is_ok() {
                taken = take.lock().unwrap_or_else(PoisonError::into_inner)(document, symbols);
            }
        })?;
        lock_free().push(rereader);
        taken
    };
    loop {
        let some: Vec<DocNumber> = documents.take(DOCUMENTS_AT_ONCE).collect();
        if some.is_empty() {
            return Ok(());
        }
        some.par_chunks(DOCUMENTS_PER_THREAD).try_for_each(read)?;
    }
}

/// Hands over symbols in one pass over the input. That each document is still what it was is told by its row.
fn reread(
    ctx: &Context<'_>,
    catalogue: &Catalogue,
    units: &[usize],
    wanted: &(dyn Fn(DocNumber) -> bool + Sync),
    take: &mut SymbolSink<'_>,
) -> Result<(), EngineError> {
    let all = ctx.units();
    let (takes, heavy) = (Mutex::new((take, Lookup::new(ctx, catalogue))), Mutex::new(()));
    let pool = BufferPool::default();
    for (reference, corpus) in [(true, ctx.against), (false, Some(ctx.corpus))] {
        let Some(corpus) = corpus else { continue };
        let these: Vec<usize> = units.iter().copied().filter(|&unit| all[unit].0 == reference).collect();
        let stretches: Vec<_> = these.iter().map(|&unit| all[unit].1.clone()).collect();
        let numbers: Vec<UnitNumbers> = these
            .iter()
            .map(|&unit| UnitNumbers::of_unit(ctx, catalogue, unit))
            .collect::<Result<_, EngineError>>()?;
        let work = |worker: &mut SketchWorker, batch: &Batch| {
            let unit = these[batch.unit];
            let records = u64::from(catalogue.base(unit + 1) - catalogue.base(unit));
            if batch.first + batch.len() as u64 > records {
                return Err(input_changed(ctx));
            }
            let numbers = &numbers[batch.unit];
            worker.reread_batch(ctx, batch, &heavy, &pool, |index| {
                wanted(numbers.of(batch.first as u32 + index as u32))
            })
        };
        let drive = |unit: usize, feed: &mut Feed<'_, Result<RereadBatch, EngineError>>| {
            let mut first = 0;
            while let Some(batch) = feed.next()? {
                let batch = batch?;
                let (take, lookup) = &mut *takes.lock().unwrap_or_else(PoisonError::into_inner);
                let mut symbols = batch.symbols.as_slice();
                for found in &batch.documents {
                    let document = numbers[unit].of(first + found.index as u32);
                    if lookup.row(document)?.digest != found.digest {
                        return Err(input_changed(ctx));
                    }
                    let (own, rest) = symbols.split_at(found.symbols);
                    take(document, own)?;
                    symbols = rest;
                }
                first += batch.records as u32;
                pool.give_back(batch);
            }
            let records = catalogue.base(these[unit] + 1) - catalogue.base(these[unit]);
            if first == records { Ok(()) } else { Err(input_changed(ctx)) }
        };
        let worker = || SketchWorker::new(ctx, corpus);
        pipeline::run(corpus, &stretches, ctx.shape(), ctx.watch, worker, work, drive)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::context::{StageTest, as_lines};
    use crate::tests::{recipe, settings};
    use crate::{Settings, Spool};
    use lookalike_text::{Analyser, Features};

    const TEXTS: [&str; 4] = ["one two three", "two", "one two three", "four two four"];

    /// The hashes of the words of each text.
    fn expected(ctx: &Context<'_>) -> Vec<Vec<u64>> {
        let mut analyser = Analyser::with_secret(&ctx.profile, &ctx.secret);
        let mut hashes = |text: &&str| {
            let mut features = Features::default();
            analyser.read(text, &mut features);
            features.secret_hashes().to_vec()
        };
        TEXTS.iter().map(&mut hashes).collect()
    }

    fn found(ctx: &Context<'_>, wanted: fn(DocNumber) -> bool) -> Result<Vec<(u32, Vec<u64>)>, EngineError> {
        let catalogue = Catalogue::load(ctx).unwrap();
        let mut found = Vec::new();
        symbols(ctx, &catalogue, &wanted, &mut |document, symbols| {
            found.push((document.get(), symbols.to_vec()));
            Ok(())
        })?;
        found.sort();
        Ok(found)
    }

    #[test]
    fn symbols_are_those_of_the_texts_from_the_spool_and_from_the_input() {
        for spool in [Spool::Disk, Spool::None, Spool::Auto] {
            let settings = Settings { spool, ..settings() };
            let left = as_lines(&TEXTS[..1]);
            let test = StageTest::of(recipe("md5"), Some(&left), &as_lines(&TEXTS[1..]), settings);
            let ctx = test.sketched();
            let all: Vec<(u32, Vec<u64>)> = (0..).zip(expected(&ctx)).collect();
            assert_eq!(found(&ctx, |_| true).unwrap(), all, "{spool:?}");
            assert_eq!(
                found(&ctx, |document| document.get() % 2 == 1).unwrap(),
                [all[1].clone(), all[3].clone()]
            );
            assert_eq!(found(&ctx, |_| false).unwrap(), []);
            assert!(all[0].1 == all[2].1 && all[0].1 != all[3].1);
        }
    }

    #[test]
    fn a_stop_is_heard_between_units() {
        let test = StageTest::new(recipe("md5"), &as_lines(&TEXTS));
        let ctx = test.sketched();
        test.watch.stop.store(true, std::sync::atomic::Ordering::Relaxed);
        assert!(matches!(found(&ctx, |_| true), Err(EngineError::Stopped)));
    }

    #[test]
    fn changed_documents_name_the_folder_of_the_job() {
        let test = StageTest::new(recipe("md5"), "");
        let EngineError::InputChanged { folder, .. } = input_changed(&test.context()) else {
            panic!("another error")
        };
        assert_eq!(folder, test.folder());
    }
}
