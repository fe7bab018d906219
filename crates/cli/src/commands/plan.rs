//! `lookalike dedup --plan`: what a run will take and find, from a sample of its input.
//!
//! About one hundredth of the input, taken from shards spread evenly over it, is run through the same job in a
//! temporary folder. Time and disk grow with the text; the removal share does not, for a sample holds only few of the
//! pairs. But two bounds hold: what is removed in the sample is removed in the whole; and every removal needs a pair of
//! its own, of which a sample of share p shows about p² of all.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use lookalike::corpus::write::JsonlWriter;
use lookalike::corpus::{Compression, Corpus, Item};
use lookalike::engine::{Job, Opened, Outputs};
use lookalike::text::extract::Extractor;
use lookalike::walk::Watch;
use serde::Serialize;

use crate::args::DedupArgs;
use crate::commands::job::megabytes;
use crate::console::print_counts;
use crate::exit::{Failure, Outcome};
use crate::progress::thousands;

/// The sample holds at least this much of the input, if there is as much.
const MIN_SAMPLE_BYTES: u64 = 8 << 20;

/// Shards that the sample is taken from.
const MAX_SAMPLED_SHARDS: usize = 64;

pub(crate) fn run(mut job: Job, args: &DedupArgs, watch: &Arc<Watch>) -> Result<Outcome, Failure> {
    let folder = tempfile::tempdir()?;
    let all = job.corpus.bytes().unwrap_or(0).max(1);
    let begun = Instant::now();
    let (taken, documents) = draw_sample(&job, &folder.path().join("sample.jsonl"), all, watch)?;
    let drawing = begun.elapsed().as_secs_f64();
    // Of nothing the sample is the whole.
    let share = if taken == 0 { 1.0 } else { (taken as f64 / all as f64).min(1.0) };
    let estimate = job.scratch_estimate()?;

    job.outputs = Outputs::default();
    // The sample has text alone, under its usual name; what keepers, groups or an order are chosen by is not in it.
    let plain = lookalike::corpus::ReadOptions::default().fields;
    let reading = &mut job.recipe.reading;
    (reading.id_field, reading.url_field) = (plain.id, plain.url);
    (reading.text_field, reading.html_field) = (plain.text, plain.html);
    reading.input_format = None;
    job.recipe.within = None;
    job.recipe.order = None;
    job.recipe.keep = "first".to_owned();
    job.against = None;
    job.recipe.against = false;
    job.corpus = Corpus::open(&[folder.path().join("sample.jsonl")], job.recipe.read_options()?)?;
    let memory = job.settings.memory;
    let begun = Instant::now();
    let Opened::Open(mut open) = job.clone().open(&folder.path().join("job"))? else {
        return Ok(Outcome::Done);
    };
    let findings = open.run(watch)?;
    let seconds = (drawing + begun.elapsed().as_secs_f64()) / share;
    let (low, high) = removal_share(&findings.summary, findings.reached, share);
    let total = documents as f64 / share;
    let threads = args.resources.settings(args.matching.spool).threads;
    let floor = 128.0 + 4.0 * threads as f64 + 2.0 * job.recipe.reading.max_document_bytes as f64 / 1048576.0;
    let least = (64.0 + 4.0 * threads as f64 + 16.0 * total / 1048576.0).max(floor);
    let forecast = Forecast {
        sampled_documents: documents,
        sampled_share: share,
        documents: total.round() as u64,
        seconds,
        threads: threads as u64,
        scratch_bytes: [estimate.least, estimate.most],
        memory_bytes: memory,
        least_memory_bytes: (least * 1048576.0) as u64,
        removed_share: [low, high],
    };
    if args.json {
        print_counts(true, &forecast, |_| Ok(()))?;
    } else {
        // What was asked for; `--quiet` leaves it.
        forecast.print(&mut std::io::stdout().lock(), &megabytes(estimate))?;
    }
    Ok(Outcome::Done)
}

/// The figures of a run to come. `--json` prints them: stable, other programs read them.
#[derive(Serialize)]
struct Forecast {
    sampled_documents: u64,
    sampled_share: f64,
    documents: u64,
    seconds: f64,
    threads: u64,
    /// Least and most.
    scratch_bytes: [u64; 2],
    memory_bytes: u64,
    least_memory_bytes: u64,
    /// The 95 % interval.
    removed_share: [f64; 2],
}

impl Forecast {
    fn print(&self, out: &mut impl Write, scratch: &str) -> std::io::Result<()> {
        let percent = |share: f64| share * 100.0;
        let sampled = thousands(self.sampled_documents);
        let share = percent(self.sampled_share);
        writeln!(out, "sample             {sampled:>14} documents, {share:.1} % of the input")?;
        writeln!(out, "documents          {:>14} expected", thousands(self.documents))?;
        let time = format_duration(self.seconds);
        writeln!(out, "time               {time:>14} at {} threads", self.threads)?;
        writeln!(out, "disk               {:>14} while it runs", scratch.trim_start_matches("about "))?;
        let [most, least] = [self.memory_bytes / 1_000_000, (self.least_memory_bytes + 500_000) / 1_000_000];
        writeln!(out, "memory             {:>11} MB at most, {least} MB at least", thousands(most))?;
        let [low, high] = self.removed_share.map(percent);
        writeln!(out, "removal share      {:>14} (95 % interval)", format!("{low:.1}-{high:.1} %"))
    }
}

/// Copies a sample of the input to a file; returns how many bytes of the input it took and how many documents it has.
fn draw_sample(job: &Job, target: &std::path::Path, all: u64, watch: &Watch) -> Result<(u64, u64), Failure> {
    let wanted = (all / 100).max(MIN_SAMPLE_BYTES);
    let shards = job.corpus.shards();
    let step = shards.len().div_ceil(MAX_SAMPLED_SHARDS).max(1);
    let sampled = shards.len().div_ceil(step) as u64;
    let content = job.recipe.content()?;
    let mut writer = JsonlWriter::create(target, Compression::None)?;
    let mut extractor = Extractor::default();
    let (mut taken, mut documents) = (0, 0);
    for shard in shards.iter().step_by(step) {
        let mut reader = shard.open(job.corpus.options())?;
        while let Some(item) = reader.next()? {
            watch.check()?;
            if let Item::Document(document) = item {
                let text = extractor.extract(&document, content).text;
                writer.document(document.id, document.url, text)?;
                documents += 1;
            }
            if reader.consumed() >= wanted / sampled.max(1) {
                break;
            }
        }
        taken += reader.consumed();
    }
    writer.finish()?;
    watch.documents.store(0, Ordering::Relaxed);
    Ok((taken, documents))
}

/// The 95 % interval of the share that the whole run removes.
fn removal_share(summary: &lookalike::engine::Summary, reached: u64, share: f64) -> (f64, f64) {
    let documents = summary.documents.max(1) as f64;
    let seen = summary.removed as f64 / documents;
    if share >= 1.0 {
        return (seen, seen);
    }
    let error = 1.96 * (seen * (1.0 - seen) / documents).sqrt();
    // Pairs of equal documents are not among those measured; each removal of one stands for at least one pair.
    let pairs = (reached + summary.exact_duplicates) as f64;
    let most = (pairs + 1.96 * pairs.sqrt() + 3.0) / (share * documents);
    ((seen - error).max(0.0), most.clamp(seen, 1.0))
}

fn format_duration(seconds: f64) -> String {
    match seconds.round() as u64 {
        short @ 0..120 => format!("{short} s"),
        middle @ 120..7200 => format!("{} min", middle / 60),
        long => format!("{:.1} h", long as f64 / 3600.0),
    }
}
