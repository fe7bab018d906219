//! `lookalike corpus apply`: a corpus without the documents that a list names.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use lookalike::corpus::{Corpus, CorpusError, ListReader};
use lookalike::engine::delivered::{put_on_disk, write_durably};
use lookalike::engine::patch::{Counts, ListKey, Patch, PatchPlan};
use lookalike::engine::protocol::sweep;
use lookalike::hash;
use lookalike::walk::{self, Stage, Watch};
use serde::Serialize;

use super::job::check_output_outside;
use super::lists::name_of;
use super::rejections::{ClosedRejections, Rejections, ShardRejections};
use crate::args::{ApplyArgs, ByArg};
use crate::console::{print_counts, print_message, write_rows};
use crate::exit::{Failure, Outcome};
use crate::outputs::check_outputs;
use crate::progress::{Progress, Total, thousands};

/// Files in the folder: the digest of the request, and the journal of what is done; inputs pass over names that begin with a dot.
const REQUEST_FILE: &str = ".apply";
const JOURNAL: &str = ".apply-done";

pub(crate) fn run(args: &ApplyArgs, watch: &Arc<Watch>) -> Result<Outcome, Failure> {
    if args.input.inputs.iter().any(|input| input == "-") {
        let sentence = "the input is read twice and cannot be standard input; save it to a file first";
        return Err(Failure::Usage(sentence.to_owned()));
    }
    check_output_outside(&args.input.inputs, &args.output)?;
    let corpus = args.input.corpus(Some((&args.work, args.threads())))?;
    check_outputs(&corpus, &args.work.rejected.iter().map(PathBuf::as_path).collect::<Vec<_>>())?;
    let settings = args.work.settings(&corpus, args.threads())?;
    corpus.check_first_records(false)?;
    let by = match args.by {
        ByArg::Id => ListKey::Id,
        ByArg::N => ListKey::Number,
    };
    let patch = Patch::read(&name_of(&args.removed), ListReader::open(&args.removed)?, by)?;
    let request = request_digest(&corpus, args, &patch);
    check_folder(&args.output, &request)?;
    let mut rejections = Rejections::new(args.work.rejected.as_deref())?;
    let progress = Progress::show(args.work.progress, Total::Unknown, watch);
    let (cut, closed) = find(args, &corpus, &patch, settings.threads, watch)?;
    closed.iter().try_for_each(|closed| rejections.report_all(closed))?;
    let documents = cut.counts.documents - cut.counts.rejected;
    rejections.check(documents, args.work.max_rejected.unwrap_or_default())?;
    prepare_folder(&args.output, &request)?;
    watch.begin(Stage { name: "write", total: corpus.bytes(), reads: true });
    let (content, journal) = (args.input.content_mode(), args.output.join(JOURNAL));
    cut.write(&corpus, content, &args.output, &journal, settings.threads, watch)?;
    corpus.check()?;
    // Whoever is told that they are done may throw the input away.
    put_on_disk(&args.output)?;
    drop(progress);
    print(args, &cut.counts, &patch)?;
    Ok(rejections.finish(args.work.strict)?)
}

/// Finds the listed documents in all shards.
fn find(
    args: &ApplyArgs,
    corpus: &Corpus,
    patch: &Patch,
    threads: usize,
    watch: &Watch,
) -> Result<(PatchPlan, Vec<ClosedRejections>), Failure> {
    watch.begin(Stage { name: "find", total: corpus.bytes(), reads: true });
    let found = walk::shards(corpus, threads, |shard| {
        let mut rejections = ShardRejections::new(args.work.rejected.is_some());
        let survey =
            patch.scan(shard, corpus, watch, |rejection| Ok(rejections.add(&shard.name, rejection)?))?;
        Ok((survey, rejections.close()?))
    })?;
    let (surveys, closed): (Vec<_>, Vec<_>) = found.into_iter().unzip();
    Ok((patch.plan(&surveys)?, closed))
}

/// Returns a digest of everything that decides the copy: version, shards, options, content mode and patch.
fn request_digest(corpus: &Corpus, args: &ApplyArgs, patch: &Patch) -> String {
    let shards: Vec<String> = corpus
        .shards()
        .iter()
        .map(|shard| format!("{} {:?} {:?} {:?}", shard.name, shard.bytes, shard.modified, shard.digest))
        .collect();
    let (options, content) = (corpus.options().deciding(), args.input.content_mode());
    let all = format!("{} {shards:?} {options:?} {content:?} {}", env!("CARGO_PKG_VERSION"), patch.digest());
    format!("{:032x}\n", hash::digest(all.as_bytes()))
}

/// Refuses a folder with something else in it than what the same command has begun.
fn check_folder(folder: &Path, request: &str) -> Result<(), Failure> {
    let ours = std::fs::read_to_string(folder.join(REQUEST_FILE)).is_ok_and(|before| before == request);
    let full = std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some());
    if ours || !full && !folder.is_file() {
        return Ok(());
    }
    let name = folder.display();
    Err(Failure::Usage(format!("{name} is there, and not from the same input and list; name a new folder")))
}

/// Makes the folder and stores the digest of the request in it.
fn prepare_folder(folder: &Path, request: &str) -> Result<(), Failure> {
    let name = |path: &Path| path.display().to_string();
    std::fs::create_dir_all(folder).map_err(|source| CorpusError::Write { name: name(folder), source })?;
    sweep(folder);
    Ok(write_durably(&folder.join(REQUEST_FILE), request.as_bytes())?)
}

/// The object that `--json` prints. Stable: other programs read it.
#[derive(Serialize)]
struct ApplyReport {
    documents: u64,
    kept: u64,
    removed: u64,
    rejected: u64,
    listed: u64,
    missing: u64,
    duplicate_ids: u64,
}

fn print(args: &ApplyArgs, counts: &Counts, patch: &Patch) -> Result<(), Failure> {
    let report = ApplyReport {
        documents: counts.documents,
        kept: counts.kept(),
        removed: counts.removed,
        rejected: counts.rejected,
        listed: counts.listed,
        missing: counts.missing,
        duplicate_ids: counts.duplicates,
    };
    print_counts(args.json, &report, |out| {
        let rows = [
            ("documents", report.documents),
            ("kept", report.kept),
            ("removed", report.removed),
            ("rejected", report.rejected),
            ("listed", report.listed),
            ("not there", report.missing),
            ("duplicate ids", report.duplicate_ids),
        ];
        write_rows(out, rows)
    })?;
    let by = match args.by {
        ByArg::Id => "id",
        ByArg::N => "n, their place in the input",
    };
    print_message(format_args!("{}: documents went by {by}", args.output.display()));
    if counts.duplicates > 0 {
        let way = if patch.has_numbers() { "; --by n takes single documents" } else { "" };
        let count = thousands(counts.duplicates);
        print_message(format_args!("{count} documents more than ids went, since several bear one id{way}"));
    }
    Ok(())
}
