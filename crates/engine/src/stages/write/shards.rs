//! Copies of the input shards without the documents that were removed, or with those alone.

use std::path::Path;

use lookalike_corpus::write::shard::{Note, can_annotate};
use lookalike_corpus::{Format, Origin};

use super::rejected_copies;
use super::removals::RemovalLookup;
use crate::catalogue::{Catalogue, ShardView};
use crate::context::Context;
use crate::copies::{Copies, RecordFilter, STDIN, Source};
use crate::error::EngineError;
use crate::job::{COPIES, Outputs, Shards};
use crate::rejections::rejected_records;

/// The folder that copies go to.
pub(crate) fn folder_name(shards: Shards) -> Option<&'static str> {
    match shards {
        Shards::None => None,
        Shards::Kept => Some("kept"),
        Shards::Removed => Some("removed"),
    }
}

/// Writes the copies that are not there yet: a copy appears when it is whole. Returns what a reader of the results should know.
pub(crate) fn write(
    ctx: &Context<'_>,
    catalogue: &Catalogue,
    folder: &Path,
    outputs: Outputs,
) -> Result<Option<String>, EngineError> {
    let Some(name) = folder_name(outputs.write) else { return Ok(None) };
    let root = folder.join(name);
    std::fs::create_dir_all(&root).map_err(|error| EngineError::write(&root, error))?;
    ctx.begin("write", ctx.corpus.bytes(), true);
    let views: Vec<ShardView<'_>> =
        catalogue.shards(ctx).into_iter().filter(|view| !view.reference).collect();
    // What is in memory is in no format that people can name.
    let format = |view: &ShardView<'_>| match view.shard.origin {
        Origin::Table(_) => Some(Format::Table),
        _ => view.meta.format.parse::<Format>().ok(),
    };
    let sources: Vec<Source<'_>> = views
        .iter()
        .enumerate()
        .map(|(place, view)| Source {
            shard: view.shard,
            format: format(view),
            place,
            records: view.meta.records,
            rejected: view.meta.rejected,
            digest: view.meta.digest,
        })
        .collect();
    if outputs.annotate {
        refuse_annotation(&sources)?;
    }
    ctx.shape().allow(ctx.corpus);
    let copies = Copies {
        root: &root,
        journal: &ctx.file(COPIES),
        stamp: ctx.stamp,
        name,
        options: ctx.corpus.options(),
        content: ctx.content,
        annotate: outputs.annotate && outputs.write == Shards::Kept,
        threads: ctx.shape().drivers,
        watch: ctx.watch,
    };
    RemovalLookup::prepare(ctx, catalogue)?;
    ctx.corpus.check()?;
    copies.write(sources, |source| ShardDecisions::of(ctx, catalogue, &views[source.place], outputs))?;
    rejected_copies::write(ctx, catalogue, folder, &views)
}

fn refuse_annotation(sources: &[Source<'_>]) -> Result<(), EngineError> {
    let mut known = sources.iter().filter_map(|source| Some((source, source.format?)));
    match known.find(|(source, format)| source.shard.name == STDIN || !can_annotate(*format)) {
        None => Ok(()),
        Some((source, format)) => Err(EngineError::Request(format!(
            "--annotate cannot write into {} of {}; it can into JSON lines, CSV, TSV, Parquet and WARC",
            format, source.shard.name
        ))),
    }
}

/// The decisions about the documents of a shard.
struct ShardDecisions {
    lookup: RemovalLookup,
    /// Record numbers of removed documents, ascending.
    gone: Vec<u32>,
    /// Record numbers of rejected documents, ascending: they are neither kept nor removed.
    rejected: Vec<u32>,
    /// Removed documents alone are copied.
    inverse: bool,
    /// The place of the shard's first document in the input, also of those to compare with, and how many of the latter there
    /// are.
    first: u32,
    references: u32,
}

impl ShardDecisions {
    fn of(
        ctx: &Context<'_>,
        catalogue: &Catalogue,
        view: &ShardView<'_>,
        outputs: Outputs,
    ) -> Result<Self, EngineError> {
        let mut lookup = RemovalLookup::open(ctx)?;
        let places = lookup.removed(view.first, view.first + view.records)?;
        let gone = places.into_iter().map(|place| place - view.first).collect();
        let inverse = outputs.write == Shards::Removed;
        let rejected = rejected_records(ctx, catalogue, view)?;
        let references = catalogue.references();
        Ok(ShardDecisions { lookup, gone, rejected, inverse, first: view.first, references })
    }
}

impl RecordFilter for ShardDecisions {
    fn keeps(&self, record: u64) -> bool {
        let record = record as u32;
        self.gone.binary_search(&record).is_ok() == self.inverse
            && self.rejected.binary_search(&record).is_err()
    }

    fn count_kept(&self, documents: u64) -> u64 {
        let gone = self.gone.len() as u64;
        if self.inverse { gone } else { documents.saturating_sub(gone) }
    }

    fn note(&mut self, record: u64) -> Result<Note, EngineError> {
        let document = self.lookup.number(self.first + record as u32)?;
        let copies = self.lookup.copies(document)?;
        Ok(Note { cluster: (document - self.references).into(), copies })
    }
}
