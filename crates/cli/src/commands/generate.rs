//! `lookalike corpus generate`: a synthetic web corpus, or two crawls of one web, with a known truth.

use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use lookalike::corpus::{Compression, CorpusError, write::Sink};
use lookalike::generate::crawls::files::{Files, segment_name};
use lookalike::generate::crawls::{self, Crawls};
use lookalike::generate::{Plan, write_jsonl};
use lookalike::walk::{WalkError, Watch};
use serde::Serialize;

use crate::args::GenerateArgs;
use crate::console::{print_counts, print_message};
use crate::exit::{Failure, Outcome};
use crate::outputs::check_distinct;
use crate::progress::{Progress, Total, thousands};

pub(crate) fn run(args: &GenerateArgs, watch: &Arc<Watch>) -> Result<Outcome, Failure> {
    if args.crawls { crawls(args, watch) } else { corpus(args, watch) }
}

fn corpus(args: &GenerateArgs, watch: &Arc<Watch>) -> Result<Outcome, Failure> {
    let truth_path = args.truth.clone().unwrap_or_else(|| args.output.with_file_name("truth.jsonl"));
    check_distinct(&[&args.output, &truth_path])?;
    let mut documents = json_lines(&args.output)?;
    let mut truth = json_lines(&truth_path)?;
    let plan = Plan { documents: args.documents, seed: args.seed };
    let progress = Progress::show(args.progress, Total::Documents(args.documents), watch);
    let written = {
        let mut documents = WatchedSink { inner: &mut documents, watch, counts: true };
        let mut truth = WatchedSink { inner: &mut truth, watch, counts: false };
        write_jsonl(plan, &mut documents, &mut truth)
    };
    drop(progress);
    let written = written.map_err(|source| failure(&args.output, source, watch))?;
    watch.check()?;
    documents.finish()?;
    truth.finish()?;
    if args.json {
        let counts = GenerateCounts {
            documents: written.documents,
            document_bytes: written.document_bytes,
            pairs: written.pairs,
        };
        print_counts(true, &counts, |_| Ok(()))?;
        return Ok(Outcome::Done);
    }
    print_message(format_args!(
        "{}: {} documents, {} bytes; {}: {} planted pairs",
        args.output.display(),
        thousands(written.documents),
        thousands(written.document_bytes),
        truth_path.display(),
        thousands(written.pairs)
    ));
    Ok(Outcome::Done)
}

/// Two crawls, their judgments and the truth, in a folder of their own.
fn crawls(args: &GenerateArgs, watch: &Arc<Watch>) -> Result<Outcome, Failure> {
    let old = args.old.unwrap_or(args.documents / 4);
    let judged = args.judged.unwrap_or(old / 5);
    let crawls = Crawls { old, new: args.documents, judged, segments: args.segments, seed: args.seed };
    let folder = &args.output;
    empty_folder(folder)?;
    let sink = |name: &str| Sink::create(&folder.join(name), Compression::None);
    let mut sinks = Files {
        old: sink("old.jsonl")?,
        new: (0..args.segments).map(|segment| sink(&segment_name(segment))).collect::<Result<_, _>>()?,
        judgments: sink("qrels.txt")?,
        truth: sink("truth.jsonl")?,
    };
    let total = Total::Documents(old + crawls.new_documents());
    let progress = Progress::show(args.progress, total, watch);
    let written = {
        let watched = |inner| WatchedSink { inner, watch, counts: true };
        let silent = |inner| WatchedSink { inner, watch, counts: false };
        let mut files = Files {
            old: watched(&mut sinks.old),
            new: sinks.new.iter_mut().map(watched).collect(),
            judgments: silent(&mut sinks.judgments),
            truth: silent(&mut sinks.truth),
        };
        crawls::files::write(&crawls, &mut files)
    };
    drop(progress);
    let written = written.map_err(|source| failure(folder, source, watch))?;
    watch.check()?;
    let Files { old, new, judgments, truth } = sinks;
    new.into_iter().chain([old, judgments, truth]).try_for_each(Sink::finish)?;
    if args.json {
        let counts = CrawlCounts {
            old: written.old,
            new: written.new,
            judgments: written.judgments,
            judged: written.judged,
            found_again: written.found_again,
            pairs: written.pairs,
        };
        print_counts(true, &counts, |_| Ok(()))?;
        return Ok(Outcome::Done);
    }
    print_message(format_args!(
        "{}: {} old and {} new documents; {} judgments of {} documents, {} of which have near-duplicates in the new \
             crawl, {} pairs",
        folder.display(),
        thousands(written.old),
        thousands(written.new),
        thousands(written.judgments),
        thousands(written.judged),
        thousands(written.found_again),
        thousands(written.pairs)
    ));
    Ok(Outcome::Done)
}

/// The object that `--json` prints. Stable: other programs read it.
#[derive(Serialize)]
struct GenerateCounts {
    documents: u64,
    document_bytes: u64,
    pairs: u64,
}

/// The object that `--json` prints with `--crawls`. Stable: other programs read it.
#[derive(Serialize)]
struct CrawlCounts {
    old: u64,
    new: u64,
    judgments: u64,
    judged: u64,
    found_again: u64,
    pairs: u64,
}

/// Makes a folder; one with something in it is refused, since segments of other crawls would be taken for these.
fn empty_folder(folder: &Path) -> Result<(), Failure> {
    let name = || folder.display().to_string();
    let full = std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some());
    if full || folder.is_file() {
        return Err(Failure::Usage(format!("{} is there and not empty; name a new folder", name())));
    }
    std::fs::create_dir_all(folder).map_err(|source| CorpusError::Write { name: name(), source })?;
    Ok(())
}

/// Begins a file of JSON lines, which its name must tell.
fn json_lines(path: &Path) -> Result<Sink, CorpusError> {
    let name = path.display().to_string();
    let compression = Compression::named(path);
    let stem = name.strip_suffix(compression.suffix()).unwrap_or(&name).to_ascii_lowercase();
    if !stem.ends_with(".jsonl") && !stem.ends_with(".ndjson") {
        return Err(CorpusError::UnknownOutput {
            name,
            endings: ".jsonl, also with .gz, .zst, .bz2, .xz or .lz4",
        });
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
struct WatchedSink<'w> {
    inner: &'w mut Sink,
    watch: &'w Watch,
    counts: bool,
}

impl Write for WatchedSink<'_> {
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
