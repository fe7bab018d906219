//! `lookalike transfer`: relevance judgments of an old corpus carried over to a new one.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use lookalike::corpus::{Corpus, Loss};
use lookalike::engine::protocol::lock_folder;
use lookalike::engine::{Job, JobRecipe, OpenJob, Opened, Outputs};
use lookalike::hash;
use lookalike::judgments::{Judgments, judged_documents};
use lookalike::report::study_page;
use lookalike::selected::SelectedDocuments;
use lookalike::walk::{WalkError, Watch};
use lookalike_overlap::address::Matching;
use lookalike_transfer::compare::ComparisonSettings;
use lookalike_transfer::segments::Segments;
use lookalike_transfer::study::transfer_study;
use lookalike_transfer::transfer::{self, Request};
use serde::Deserialize;

use super::job::{SideCounts, counted};
use super::lists;
use crate::args::{SnapshotArgs, TransferArgs, right_segments};
use crate::console::print_message;
use crate::exit::{Failure, Outcome};
use crate::progress::{Progress, Total, thousands};

/// The judged documents, inside the folder of the results until these are there.
const JUDGED: &str = "work/judged";

pub(crate) fn run(args: &TransferArgs, watch: &Arc<Watch>) -> Result<Outcome, Failure> {
    let recipe = args.recipe()?;
    for inputs in [&args.from, &args.to] {
        if inputs.iter().any(|input| input == "-") {
            let sentence = "a corpus is read more than once and cannot be standard input; name files";
            return Err(Failure::Usage(sentence.to_owned()));
        }
        super::job::check_output_outside(inputs, &args.output)?;
    }
    let files = read(args)?;
    if judged_documents(&files).is_empty() {
        let sentence = "there is no judgment of a document in these files; look at what --judgments names";
        return Err(Failure::Usage(sentence.to_owned()));
    }
    // Refused at once, and not after the old corpus was read.
    args.resources.settings(args.matching.spool).buffer_bytes(recipe.reading.max_document_bytes)?;
    let options = |options| args.start.options(args.resources.reading(options));
    let old = crate::args::open(&args.from, options(recipe.read_options()?))?;
    let new = crate::args::open(&args.to, options(recipe.other_options()?))?;
    [&old, &new].into_iter().try_for_each(|corpus| corpus.check_first_records(false))?;
    args.start.clear_if_forced(&args.output)?;
    let digest = request_digest(args, &recipe, &files, [&old, &new]);
    match finished(&args.output)? {
        Some(before) if before == digest => {
            print_message(format_args!(
                "{} holds this transfer, finished; nothing is left to do",
                args.output.display()
            ));
        }
        Some(_) => {
            return Err(Failure::Usage(format!(
                "{} holds a transfer of other judgments or corpora, or with other options; name another folder, or begin anew with --force",
                args.output.display()
            )));
        }
        None => work(args, recipe, &files, [old, new], digest, watch)?,
    }
    let summary: PrintedSummary = super::job::summary(&args.output)?;
    super::job::print_summary(&args.output, args.json, |out| print(out, &summary, &args.output))?;
    let rejected = summary.old_rejected + summary.left.rejected + summary.right.rejected;
    let outcome = super::job::report_rejections(&summary.reasons, rejected, args.resources.strict);
    print_message(closing_line(&summary, &args.output));
    Ok(outcome)
}

/// Says in words what a run did.
fn closing_line(summary: &PrintedSummary, folder: &Path) -> String {
    let total = |of: fn(&TrackCounts) -> u64| summary.tracks.iter().map(of).sum::<u64>();
    let (judgments, carried) = (total(|track| track.judgments), total(|track| track.carried));
    let place = folder.join(if summary.tracks.len() == 1 { "qrels.txt" } else { "qrels" });
    let (written, merged) = (thousands(summary.written), total(|track| track.merged));
    let line = format!(
        "Carried {} of {} over to near-duplicates in the new corpus: {written} in {}",
        thousands(carried),
        counted(judgments, "judgment"),
        place.display()
    );
    match merged {
        0 => line + ".",
        _ => format!("{line}, {} merged with others of the same topic and document.", thousands(merged)),
    }
}

/// Reads all files of judgments; those of one name in different folders are told apart.
fn read(args: &TransferArgs) -> Result<Vec<Judgments>, Failure> {
    let mut files = lists::read_all(&args.judgments, |name, list| Judgments::read(name, list, args.layout))?;
    transfer::make_names_unique(&mut files);
    Ok(files)
}

/// Returns a digest of the request: recipe, judgments, shards and options.
fn request_digest(
    args: &TransferArgs,
    recipe: &JobRecipe,
    files: &[Judgments],
    corpora: [&Corpus; 2],
) -> String {
    let shards = corpora.map(|corpus| {
        let describe = |shard: &lookalike::corpus::Shard| {
            format!("{} {:?} {:?} {:?}", shard.name, shard.bytes, shard.modified, shard.digest)
        };
        corpus.shards().iter().map(describe).collect::<Vec<_>>()
    });
    let lines = files.iter().map(|file| {
        let text: String = file.lines.iter().map(|line| format!("{}\n", line.text())).collect();
        format!("{} {:032x}", file.track, hash::digest(text.as_bytes()))
    });
    let all = format!(
        "{} {:?} {:?} {:?} {:?} {:?} {}",
        recipe.to_toml(),
        lines.collect::<Vec<_>>(),
        shards,
        args.matches,
        args.segment,
        args.forecast,
        args.review
    );
    format!("{:032x}", hash::digest(all.as_bytes()))
}

/// Returns the digest of the request whose results the folder holds; none when it holds none. Results of another command are refused.
fn finished(folder: &Path) -> Result<Option<String>, Failure> {
    #[derive(Deserialize)]
    struct StoredRequest {
        #[serde(rename = "asked")]
        request: String,
    }
    let Ok(text) = std::fs::read(folder.join("summary.json")) else { return Ok(None) };
    let before: Result<StoredRequest, _> = serde_json::from_slice(&text);
    match before {
        Ok(before) => {
            // A process that was killed right after the last file leaves its scratch folder.
            let _ = std::fs::remove_dir_all(folder.join("work"));
            Ok(Some(before.request))
        }
        Err(_) => Err(Failure::Usage(format!(
            "{} holds results of another command; name another folder",
            folder.display()
        ))),
    }
}

fn work(
    args: &TransferArgs,
    recipe: JobRecipe,
    files: &[Judgments],
    [old, new]: [Corpus; 2],
    digest: String,
    watch: &Arc<Watch>,
) -> Result<(), Failure> {
    let lock = lock_folder(&args.output)?;
    let progress = Progress::show(args.resources.progress, Total::Unknown, watch);
    let selected = select(args, &recipe, files, &old, watch)?;
    drop(progress);
    let losses = selected.losses()?;
    losses.check("the old corpus", old.options().max_rejected)?;
    if selected.found == 0 {
        // Whoever mends the command may name the same folder.
        let _ = std::fs::remove_dir_all(args.output.join("work"));
        let _ = std::fs::remove_dir(&args.output);
        return Err(Failure::Missing(format!(
            "none of the {} judged documents is in the old corpus; look at --id-field and at what --from names",
            thousands(selected.missing.len() as u64)
        )));
    }
    drop(lock);
    // The judged documents are JSON lines of our own, whatever the old corpus is.
    let job = Job {
        recipe,
        corpus: new,
        against: Some(selected.corpus()?),
        lexicon: args.matching.lexicon.clone(),
        settings: args.resources.settings(args.matching.spool),
        outputs: Outputs::default(),
    };
    super::job::print_advice(&job);
    let memory = job.settings.memory / 4;
    let Opened::Open(mut open) = job.open(&args.output)? else { return Ok(()) };
    super::job::start(&open);
    let progress = Progress::show(args.resources.progress, Total::Unknown, watch);
    let findings = open.run(watch)?;
    let recipe = open.recipe().clone();
    let settings = comparison_settings(args, &open, watch)?;
    let request = Request {
        files,
        missing: &selected.missing,
        repeated: selected.repeated,
        rejected: selected.rejected,
        matches: args.matches(),
        sample: args.review as usize,
        seed: args.matching.seed,
        memory,
    };
    let moved = transfer::run(&*open, &request, settings, watch)?;
    transfer::add_rejections(&args.output, &selected)?;
    drop(progress);
    let names = [&args.from, &args.to].map(|inputs| super::lab::name_of(inputs));
    let study = transfer_study([&names[0], &names[1]], &moved, &recipe, &findings);
    open.write("report.html", study_page(&study.title.clone(), "", &[study]).as_bytes())?;
    let mut summary = moved.summary(&recipe, &findings, args.matches(), digest);
    summary.comparison.reasons.splice(0..0, losses.reasons_of("left"));
    open.finish(&summary)?;
    Ok(())
}

/// Copies the judged documents of the old corpus, unless that was done.
fn select(
    args: &TransferArgs,
    recipe: &JobRecipe,
    files: &[Judgments],
    old: &Corpus,
    watch: &Watch,
) -> Result<SelectedDocuments, Failure> {
    let all = judged_documents(files);
    let ids: Vec<&str> = all.iter().map(|one| one.document).collect();
    let (folder, content) = (args.output.join(JUDGED), recipe.content()?);
    let threads = args.resources.settings(args.matching.spool).threads;
    let copy = || SelectedDocuments::copy(&folder, old, content, &ids, threads, watch);
    match copy() {
        // What was copied for another command that came no further is in nobody's way.
        Err(WalkError::Corpus(_)) if !args.output.join("work/job.json").exists() => {
            let _ = std::fs::remove_dir_all(&folder);
            Ok(copy()?)
        }
        copied => Ok(copied?),
    }
}

fn comparison_settings(
    args: &TransferArgs,
    open: &OpenJob,
    watch: &Watch,
) -> Result<ComparisonSettings, Failure> {
    let recipe = open.recipe();
    let to = SnapshotArgs { snapshots: vec![args.to.clone()] };
    let parts = right_segments(&to, args.segment, &args.start.options(recipe.read_options()?))?;
    Ok(ComparisonSettings {
        methods: args.matching.options().names(recipe),
        segments: Segments::new(parts, &open.shard_ranges(watch)?),
        forecast: args.forecast.map(|segments| segments.get()),
        matching: Matching::Normal,
    })
}

/// The parts of `summary.json` that are printed.
#[derive(Deserialize)]
struct PrintedSummary {
    judged: u64,
    missing: u64,
    moved_by: MovedBy,
    tracks: Vec<TrackCounts>,
    written: u64,
    conflicts: u64,
    old_rejected: u64,
    unwritable: u64,
    left: SideCounts,
    right: SideCounts,
    common_ids: u64,
    found: u64,
    near: u64,
    giant_groups: u64,
    #[serde(default)]
    unverified: bool,
    #[serde(default)]
    reasons: Vec<Loss>,
}

#[derive(Deserialize)]
struct MovedBy {
    address_only: DocumentCount,
    content_only: DocumentCount,
    both: DocumentCount,
    neither: DocumentCount,
}

#[derive(Deserialize)]
struct DocumentCount {
    documents: u64,
}

#[derive(Deserialize)]
struct TrackCounts {
    track: String,
    judgments: u64,
    carried: u64,
    merged: u64,
    written: u64,
    topics: u64,
    topics_relevant_before: u64,
    topics_relevant_after: u64,
}

fn print(out: &mut impl Write, summary: &PrintedSummary, folder: &Path) -> std::io::Result<()> {
    let share = |part: u64| match summary.judged {
        0 => String::new(),
        all => format!("  {:.1} %", part as f64 * 100.0 / all as f64),
    };
    let ways = &summary.moved_by;
    let rows = [
        ("judged documents", summary.judged, String::new()),
        ("not in old corpus", summary.missing, share(summary.missing)),
        ("new documents", summary.right.documents, String::new()),
        ("rejected", summary.old_rejected + summary.left.rejected + summary.right.rejected, String::new()),
        ("ids on both sides", summary.common_ids, String::new()),
        ("found", summary.found, share(summary.found)),
        ("near-duplicate", summary.near, share(summary.near)),
        ("  address, content", ways.both.documents, share(ways.both.documents)),
        ("  content only", ways.content_only.documents, share(ways.content_only.documents)),
        ("address only", ways.address_only.documents, share(ways.address_only.documents)),
        ("neither", ways.neither.documents, share(ways.neither.documents)),
        ("judgments written", summary.written, String::new()),
        ("conflicts", summary.conflicts, String::new()),
        ("unwritable ids", summary.unwritable, String::new()),
        ("giant groups", summary.giant_groups, String::new()),
    ];
    for (name, number, more) in rows {
        writeln!(out, "{name:<18}{:>14}{more}", thousands(number))?;
    }
    let width = summary.tracks.iter().map(|track| track.track.len()).max().unwrap_or(0).max(16);
    // The last two count topics with a relevant document, before and after.
    let head = ["judgments", "carried", "merged", "written", "topics", "with relevant", "after"];
    write!(out, "\n{:<width$}", "track")?;
    head.iter().try_for_each(|name| write!(out, "{name:>14}"))?;
    writeln!(out)?;
    for track in &summary.tracks {
        let numbers = [
            track.judgments,
            track.carried,
            track.merged,
            track.written,
            track.topics,
            track.topics_relevant_before,
            track.topics_relevant_after,
        ];
        write!(out, "{:<width$}", track.track)?;
        numbers.iter().try_for_each(|&number| write!(out, "{:>14}", thousands(number)))?;
        writeln!(out)?;
    }
    writeln!(out)?;
    if summary.unverified {
        writeln!(out, "unverified: pairs count by the word of their methods alone")?;
    }
    writeln!(out, "report            {}", folder.join("report.html").display())
}
