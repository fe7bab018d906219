//! `lookalike corpus generate`: a synthetic web corpus with a known truth.

use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use lookalike::corpus::{Compression, CorpusError, write::Sink};
use lookalike::generate::{Plan, write_jsonl};
use lookalike::walk::{WalkError, Watch};

use crate::args::GenerateArgs;
use crate::console::tell;
use crate::exit::{Failure, Outcome};
use crate::outputs::apart;
use crate::progress::{Progress, Style, Total, thousands};

pub(crate) fn run(args: &GenerateArgs, watch: &Arc<Watch>) -> Result<Outcome, Failure> {
    let truth_path = args.truth.clone().unwrap_or_else(|| args.output.with_file_name("truth.jsonl"));
    apart(&[&args.output, &truth_path])?;
    let mut documents = json_lines(&args.output)?;
    let mut truth = json_lines(&truth_path)?;
    let plan = Plan { documents: args.documents, seed: args.seed };
    let progress = Progress::show(args.progress, Total::Documents(args.documents), watch);
    let written = {
        let mut documents = Watched { inner: &mut documents, watch, counts: true };
        let mut truth = Watched { inner: &mut truth, watch, counts: false };
        write_jsonl(plan, &mut documents, &mut truth)
    };
    drop(progress);
    let written = written.map_err(|source| failure(&args.output, source, watch))?;
    watch.check()?;
    documents.finish()?;
    truth.finish()?;
    if args.progress != Style::None {
        tell(format_args!(
            "{}: {} documents, {} bytes; {}: {} planted pairs",
            args.output.display(),
            thousands(written.documents),
            thousands(written.document_bytes),
            truth_path.display(),
            thousands(written.pairs)
        ));
    }
    Ok(Outcome::Done)
}

/// Begins a file of JSON lines, which its name must tell.
fn json_lines(path: &Path) -> Result<Sink, CorpusError> {
    let name = path.display().to_string();
    let compression = Compression::named(path);
    let stem = name.strip_suffix(compression.suffix()).unwrap_or(&name).to_ascii_lowercase();
    if !stem.ends_with(".jsonl") && !stem.ends_with(".ndjson") {
        return Err(CorpusError::UnknownOutput { name, endings: ".jsonl, also with .gz, .zst or .bz2" });
    }
    Sink::create(path, compression)
}

fn failure(path: &Path, source: io::Error, watch: &Watch) -> Failure {
    match watch.check() {
        Err(stopped) => Failure::Work(stopped),
        Ok(()) => {
            Failure::Work(WalkError::Corpus(CorpusError::Write { name: path.display().to_string(), source }))
        }
    }
}

/// Counts lines as they pass, and refuses them once the work was asked to end.
struct Watched<'w> {
    inner: &'w mut Sink,
    watch: &'w Watch,
    counts: bool,
}

impl Write for Watched<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.watch.check().map_err(io::Error::other)?;
        self.inner.write_all(bytes)?;
        if self.counts {
            self.watch.documents.fetch_add(1, Ordering::Relaxed);
            self.watch.bytes.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}
