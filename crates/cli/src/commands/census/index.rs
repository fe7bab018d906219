//! `lookalike census index`: an index of a corpus for an engine in the process.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use lookalike::walk::{self, WalkItem, Watch};
use lookalike_search_engines::sqlite::SqliteBuilder;
use lookalike_search_engines::{BuildOptions, EngineError, IndexBuilder};
use serde::Serialize;

use crate::args::{CensusIndexArgs, IndexKindArg};
use crate::console::{print_counts, print_message};
use crate::exit::{Failure, Outcome};
use crate::progress::thousands;

pub(crate) fn run(args: &CensusIndexArgs, watch: &Arc<Watch>) -> Result<Outcome, Failure> {
    let corpus = args.input.corpus(None)?;
    corpus.check_first_records(false)?;
    let building = BuildOptions { first_bytes: args.first_bytes, ..BuildOptions::default() };
    let failed = |error: EngineError| Failure::Missing(error.to_string());
    let mut builder: Box<dyn IndexBuilder> = match args.kind {
        IndexKindArg::Tantivy => tantivy_builder(&args.output, &building).map_err(failed)?,
        IndexKindArg::Sqlite => SqliteBuilder::create(&args.output, &building).map_err(failed)?,
    };
    let options = Arc::new((**corpus.options()).clone());
    let (mut refused, mut rejected, mut twice, mut added) = (None, 0u64, 0u64, 0u64);
    for shard in corpus.shards() {
        walk::documents_while(shard, &options, args.input.content_mode(), watch, |found| {
            match found {
                WalkItem::Document { document, text } => {
                    let url = document.url.unwrap_or(document.id);
                    // Crawls meet an address again; the first page of it stays.
                    if builder.has(url) {
                        twice += 1;
                        return Ok(true);
                    }
                    if let Err(error) = builder.add(url, text, text) {
                        refused = Some(error);
                        return Ok(false);
                    }
                    added += 1;
                }
                WalkItem::Rejected(_) => rejected += 1,
                WalkItem::Skipped(_) => {}
            }
            Ok(true)
        })?;
        if let Some(error) = refused {
            return Err(failed(error));
        }
    }
    if rejected > 0 {
        print_message(format_args!("{} records could not be read and are left out", thousands(rejected)));
    }
    if twice > 0 {
        print_message(format_args!(
            "{} pages have an address that came before and are left out",
            thousands(twice)
        ));
    }
    if added == 0 {
        return Err(Failure::Missing(
            "there are no pages to index; see whether --text-field and --input-format fit".to_owned(),
        ));
    }
    let pages = builder.finish().map_err(failed)?;
    print_counts(args.json, &BuildCounts { pages, rejected, repeated: twice }, |out| {
        writeln!(out, "{} pages in {}", thousands(pages), args.output.display())
    })?;
    Ok(Outcome::Done)
}

/// The object that `--json` prints. Stable: other programs read it.
#[derive(Serialize)]
struct BuildCounts {
    pages: u64,
    rejected: u64,
    /// Pages whose address came before.
    repeated: u64,
}

#[cfg(feature = "tantivy")]
fn tantivy_builder(output: &Path, options: &BuildOptions) -> Result<Box<dyn IndexBuilder>, EngineError> {
    Ok(lookalike_search_engines::tantivy::TantivyBuilder::create(output, options)?)
}

#[cfg(not(feature = "tantivy"))]
fn tantivy_builder(output: &Path, _: &BuildOptions) -> Result<Box<dyn IndexBuilder>, EngineError> {
    Err(lookalike_search_engines::not_built(output, "tantivy"))
}
