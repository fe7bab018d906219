//! `lookalike corpus convert`: any input as JSON lines, Parquet or WARC.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use lookalike::corpus::ReadOptions;
use lookalike::corpus::write::Writer;
use lookalike::store::sync::sync;
use lookalike::walk::{self, WalkError, WalkItem, Watch};
use serde::Serialize;

use super::rejections::Rejections;
use crate::args::ConvertArgs;
use crate::console::{print_counts, print_message};
use crate::exit::{Failure, Outcome};
use crate::outputs::check_outputs;
use crate::progress::{Progress, Total, thousands};

pub(crate) fn run(args: &ConvertArgs, watch: &Arc<Watch>) -> Result<Outcome, Failure> {
    let options = ReadOptions { others: true, ..args.input.reading.options() };
    let corpus = args.input.corpus_with(args.work.reading(options, 1))?;
    let outputs: Vec<&Path> = [Some(&args.output), args.work.rejected.as_ref()]
        .into_iter()
        .flatten()
        .map(PathBuf::as_path)
        .collect();
    check_outputs(&corpus, &outputs)?;
    args.work.settings(&corpus, 1)?;
    corpus.check_first_records(false)?;
    let mut writer = Writer::create(&args.output)?;
    let mut rejections = Rejections::new(args.work.rejected.as_deref())?;
    let total = corpus.bytes().map_or(Total::Unknown, Total::Bytes);
    let progress = Progress::show(args.work.progress, total, watch);
    let mut written = 0;
    for shard in corpus.shards() {
        walk::documents(shard, corpus.options(), args.input.content_mode(), watch, |found| {
            match found {
                WalkItem::Rejected(rejection) => rejections.report(&shard.name, &rejection)?,
                WalkItem::Skipped(_) => {}
                WalkItem::Document { document, text } => {
                    let others = document.extras.get(0);
                    writer.document_with(document.id, document.url, text, others)?;
                    written += 1;
                }
            }
            Ok(())
        })?;
    }
    drop(progress);
    watch.check()?;
    rejections.check(written, args.work.max_rejected.unwrap_or_default())?;
    writer.finish()?;
    sync(std::slice::from_ref(&args.output)).map_err(WalkError::from)?;
    let counts =
        ConvertCounts { documents: written + rejections.count(), written, rejected: rejections.count() };
    if args.json {
        print_counts(true, &counts, |_| Ok(()))?;
    } else {
        print_message(format_args!("{}: {} documents", args.output.display(), thousands(written)));
    }
    Ok(rejections.finish(args.work.strict)?)
}

/// The object that `--json` prints. Stable: other programs read it.
#[derive(Serialize)]
struct ConvertCounts {
    /// Records, rejected ones included.
    documents: u64,
    written: u64,
    rejected: u64,
}
