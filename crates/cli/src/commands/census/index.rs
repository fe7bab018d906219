//! `lookalike census index`: an index of a corpus for an engine in the process.

use std::io::Write;
use std::sync::Arc;

use lookalike::walk::{self, Found, Watch};
use lookalike_engines::sqlite::SqliteBuilder;
use lookalike_engines::tantivy::TantivyBuilder;
use lookalike_engines::{Building, EngineError, IndexBuilder};

use crate::args::{CensusIndexArgs, IndexKindArg};
use crate::console::tell;
use crate::exit::{Failure, Outcome};
use crate::progress::thousands;

pub(crate) fn run(args: &CensusIndexArgs, watch: &Arc<Watch>) -> Result<Outcome, Failure> {
    let corpus = args.input.corpus()?;
    let building = Building { first_bytes: args.first_bytes, ..Building::default() };
    let failed = |error: EngineError| Failure::Missing(error.to_string());
    let mut builder: Box<dyn IndexBuilder> = match args.kind {
        IndexKindArg::Tantivy => TantivyBuilder::create(&args.output, &building).map_err(failed)?,
        IndexKindArg::Sqlite => SqliteBuilder::create(&args.output, &building).map_err(failed)?,
    };
    let options = Arc::new((**corpus.options()).clone());
    let (mut refused, mut rejected) = (None, 0u64);
    for shard in corpus.shards() {
        walk::documents_while(shard, &options, args.input.content_mode(), watch, |found| {
            match found {
                Found::Document { document, text } => {
                    let url = document.url.unwrap_or(document.id);
                    if let Err(error) = builder.add(url, text, text) {
                        refused = Some(error);
                        return Ok(false);
                    }
                }
                Found::Rejected(_) => rejected += 1,
                Found::Skipped(_) => {}
            }
            Ok(true)
        })?;
        if let Some(error) = refused {
            return Err(failed(error));
        }
    }
    let pages = builder.finish().map_err(failed)?;
    if rejected > 0 {
        tell(format_args!("{} records could not be read and are left out", thousands(rejected)));
    }
    writeln!(std::io::stdout(), "{} pages in {}", thousands(pages), args.output.display())?;
    Ok(Outcome::Done)
}
