//! Copies of the input shards without the documents that were removed, or with those alone.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use lookalike_corpus::write::JsonlWriter;
use lookalike_corpus::write::shard::{Decide, Fate, Note, can_annotate, can_copy, copy_shard};
use lookalike_corpus::{Compression, CorpusError, Format, Item};
use lookalike_text::extract::Extractor;

use crate::catalogue::{Catalogue, ShardView};
use crate::context::Context;
use crate::error::EngineError;
use crate::job::{Outputs, Shards};
use crate::results::Fates;

/// The folder that copies go to.
pub(crate) fn folder_name(shards: Shards) -> Option<&'static str> {
    match shards {
        Shards::None => None,
        Shards::Kept => Some("kept"),
        Shards::Removed => Some("removed"),
    }
}

/// The name that standard input has among shards.
const STDIN: &str = "stdin";

/// Writes the copies that are not there yet: a copy appears when it is whole.
pub(crate) fn write(
    ctx: &Context<'_>,
    catalogue: &Catalogue,
    folder: &Path,
    outputs: Outputs,
) -> Result<(), EngineError> {
    let Some(name) = folder_name(outputs.write) else { return Ok(()) };
    let root = folder.join(name);
    std::fs::create_dir_all(&root).map_err(|error| EngineError::write(&root, error))?;
    ctx.begin("write", ctx.corpus.bytes(), true);
    let views: Vec<ShardView<'_>> =
        catalogue.shards(ctx).into_iter().filter(|view| !view.reference).collect();
    let format = |view: &ShardView<'_>| view.meta.format.parse::<Format>().ok();
    let (whole, loose): (Vec<_>, Vec<_>) =
        views.into_iter().partition(|view| view.shard.name != STDIN && format(view).is_some_and(can_copy));
    if outputs.annotate {
        refuse_annotation(whole.iter().chain(&loose).filter_map(|view| Some((view, format(view)?))))?;
    }
    let next = AtomicUsize::new(0);
    let failure: Mutex<Option<EngineError>> = Mutex::new(None);
    let worker = || {
        while let Some(view) = whole.get(next.fetch_add(1, Ordering::Relaxed)) {
            if let Err(error) = copy(ctx, view, &root, outputs, catalogue.references()) {
                failure.lock().unwrap_or_else(std::sync::PoisonError::into_inner).get_or_insert(error);
                return;
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..ctx.shape().drivers.min(whole.len()) {
            scope.spawn(worker);
        }
        worker();
    });
    if let Some(error) = failure.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner) {
        return Err(error);
    }
    let target = root.join(free_name(name, &whole));
    if loose.is_empty() || target.exists() { Ok(()) } else { gather(ctx, &loose, &target, outputs) }
}

/// A name for the file of gathered documents that no copied shard bears.
fn free_name(name: &str, copies: &[ShardView<'_>]) -> String {
    let taken = |name: &String| copies.iter().any(|view| view.shard.name == *name);
    let more = (1..).map(|number| format!("{name}-{number}.jsonl.zst"));
    std::iter::once(format!("{name}.jsonl.zst")).chain(more).find(|name| !taken(name)).unwrap_or_default()
}

fn refuse_annotation<'v>(
    mut views: impl Iterator<Item = (&'v ShardView<'v>, Format)>,
) -> Result<(), EngineError> {
    match views.find(|(view, format)| view.shard.name == STDIN || !can_annotate(*format)) {
        None => Ok(()),
        Some((view, format)) => Err(EngineError::Request(format!(
            "--annotate cannot write into {} of {}; it can into JSON lines, CSV, TSV, Parquet and WARC",
            format, view.shard.name
        ))),
    }
}

/// The removed documents of a shard, by record number.
fn removed(ctx: &Context<'_>, view: &ShardView<'_>) -> Result<(Fates, Vec<u32>), EngineError> {
    let mut fates = Fates::open(ctx)?;
    let documents = fates.removed(view.first, view.first + view.records)?;
    Ok((fates, documents.into_iter().map(|document| document - view.first).collect()))
}

fn copy(
    ctx: &Context<'_>,
    view: &ShardView<'_>,
    root: &Path,
    outputs: Outputs,
    references: u32,
) -> Result<(), EngineError> {
    let target = root.join(&view.shard.name);
    if target.exists() {
        return Ok(());
    }
    let parent: PathBuf = target.parent().map_or_else(PathBuf::new, Path::to_owned);
    std::fs::create_dir_all(&parent).map_err(|error| EngineError::write(&parent, error))?;
    let (mut fates, gone) = removed(ctx, view)?;
    let stays = |record: u64| {
        let gone = gone.binary_search(&(record as u32)).is_ok();
        gone == (outputs.write == Shards::Removed)
    };
    let mut seen = 0;
    let mut progress = |consumed: u64| {
        ctx.watch.bytes.fetch_add(consumed.saturating_sub(seen), Ordering::Relaxed);
        seen = consumed;
        if ctx.watch.stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let mut trouble = None;
    let mut plain = |record| if stays(record) { Fate::Keep } else { Fate::Drop };
    let mut noted = |record: u64| {
        let document = view.first + record as u32;
        stays(record).then(|| Note {
            cluster: (document - references).into(),
            copies: fates.copies(document).unwrap_or_else(|error| {
                trouble.get_or_insert(error);
                1
            }),
        })
    };
    let annotate = outputs.annotate && outputs.write == Shards::Kept;
    let decide = if annotate { Decide::Annotated(&mut noted) } else { Decide::Plain(&mut plain) };
    let done = copy_shard(view.shard, ctx.corpus.options(), &target, decide, &mut progress)?;
    if let Some(error) = trouble {
        return Err(error);
    }
    done.map(|_| ()).ok_or(EngineError::Stopped)
}

/// Puts the documents of shards that cannot be copied record by record into one file.
fn gather(
    ctx: &Context<'_>,
    views: &[ShardView<'_>],
    target: &Path,
    outputs: Outputs,
) -> Result<(), EngineError> {
    let mut writer = JsonlWriter::create(target, Compression::Zstd)?;
    let mut extractor = Extractor::default();
    for view in views {
        let (_, gone) = removed(ctx, view)?;
        let mut reader = view.shard.open(ctx.corpus.options())?;
        let lines = reader.format() == Format::Jsonl;
        while let Some(item) = reader.next()? {
            ctx.check()?;
            let Item::Document(document) = item else { continue };
            let gone = gone.binary_search(&(document.place.record as u32)).is_ok();
            if gone != (outputs.write == Shards::Removed) {
                continue;
            }
            match document.raw.filter(|_| lines) {
                Some(raw) => writer.copy(raw)?,
                None => {
                    let text = extractor.extract(&document, ctx.content).text;
                    writer.document(document.id, document.url, text)?;
                }
            }
        }
    }
    writer.finish().map_err(|error: CorpusError| error.into())
}
