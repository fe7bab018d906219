//! `lookalike corpus convert`: any input as JSON lines, Parquet or WARC.

use std::sync::Arc;

use lookalike::corpus::write::Writer;
use lookalike::walk::{self, Found, Watch};

use super::rejections::Rejections;
use crate::args::ConvertArgs;
use crate::exit::{Failure, Outcome};
use crate::progress::{Progress, Total, thousands};

pub(crate) fn run(args: &ConvertArgs, watch: &Arc<Watch>) -> Result<Outcome, Failure> {
    let corpus = args.input.corpus()?;
    let mut writer = Writer::create(&args.output)?;
    let mut rejections = Rejections::new(args.work.rejected.as_deref())?;
    let total = corpus.bytes().map_or(Total::Unknown, Total::Bytes);
    let progress = Progress::show(args.work.progress, total, watch);
    let mut written = 0;
    for shard in corpus.shards() {
        walk::documents(shard, corpus.options(), args.input.content_mode(), watch, |found| {
            match found {
                Found::Rejected(rejection) => rejections.tell(&shard.name, &rejection)?,
                Found::Skipped(_) => {}
                Found::Document { document, text } => {
                    writer.document(document.id, document.url, text)?;
                    written += 1;
                }
            }
            Ok(())
        })?;
    }
    drop(progress);
    writer.finish()?;
    eprintln!("{}: {} documents", args.output.display(), thousands(written));
    Ok(rejections.finish(args.work.strict)?)
}
