//! `lookalike corpus stats`: what is in a corpus.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lookalike::corpus::{Corpus, CorpusError, Shard};
use lookalike::engine::{EngineError, Settings};
use lookalike::hash::Secret;
use lookalike::model::Rejection;
use lookalike::text::{Analyser, Features, script};
use lookalike::walk::{self, WalkError, WalkItem, Watch};
use serde::Serialize;

use super::rejections::{ClosedRejections, Rejections, ShardRejections};
use crate::args::StatsArgs;
use crate::console::print_message;
use crate::exit::{Failure, Outcome};
use crate::histogram::Histogram;
use crate::outputs::check_outputs;
use crate::progress::{Progress, Total, thousands};
use crate::repeats::RepeatCounter;

/// Digests kept in memory for counting exact duplicates, and as many for ids: 32 MB each.
const DIGESTS: usize = 2 << 20;

/// Digests that a worker gathers before it hands them over.
const PENDING: usize = 1024;

pub(crate) fn run(args: &StatsArgs, watch: &Arc<Watch>) -> Result<Outcome, Failure> {
    let corpus = args.input.corpus(Some((&args.work, args.threads())))?;
    check_outputs(&corpus, &args.work.rejected.iter().map(PathBuf::as_path).collect::<Vec<_>>())?;
    let settings = args.work.settings(&corpus, args.threads())?;
    corpus.check_first_records(false)?;
    let mut rejections = Rejections::new(args.work.rejected.as_deref())?;
    let digests = Digests::default();
    // Shards are added up as they end: what stays of each until the end is only what must be reported in order.
    let tally = Mutex::new(Tally::default());
    let progress =
        Progress::show(args.work.progress, corpus.bytes().map_or(Total::Unknown, Total::Bytes), watch);
    let large = LargeTexts { settings: &settings, lock: Mutex::default() };
    let shards = walk::shards(&corpus, settings.threads, |shard| {
        let (counts, closed) = read_shard(args, &corpus, shard, &digests, &large, watch)?;
        tally.lock().expect("no worker panicked").merge(&counts);
        Ok(closed)
    });
    drop(progress);
    shards?.iter().try_for_each(|closed| rejections.report_all(closed))?;
    let mut tally = tally.into_inner().expect("no worker panicked");
    tally.shards = corpus.shards().len() as u64;
    tally.bytes = corpus.bytes();
    tally.exact_duplicates = repeats(digests.texts)?;
    tally.duplicate_ids = repeats(digests.ids)?;
    let mut out = std::io::stdout().lock();
    if args.json {
        serde_json::to_writer_pretty(&mut out, &tally.summary()).map_err(std::io::Error::from)?;
        writeln!(out)?;
    } else {
        tally.print(&mut out)?;
    }
    let lost = rejections
        .check(tally.documents - tally.rejected_count(), args.work.max_rejected.unwrap_or_default());
    let outcome = rejections.finish(args.work.strict)?;
    // Whoever only looks is warned.
    lost.unwrap_or_else(print_message);
    Ok(outcome)
}

/// Digests of all documents so far, for counting those that come again.
struct Digests {
    texts: Mutex<RepeatCounter>,
    ids: Mutex<RepeatCounter>,
}

impl Default for Digests {
    fn default() -> Self {
        Digests {
            texts: Mutex::new(RepeatCounter::new(DIGESTS)),
            ids: Mutex::new(RepeatCounter::new(DIGESTS)),
        }
    }
}

/// Admits large texts one at a time.
struct LargeTexts<'s> {
    settings: &'s Settings,
    lock: Mutex<()>,
}

impl LargeTexts<'_> {
    /// Waits until no other large text is at work, and refuses one that memory has no room for.
    fn admit(&self, text: &str) -> Result<Option<MutexGuard<'_, ()>>, WalkError> {
        match self.settings.admit_text(text, (2 * DIGESTS * size_of::<u128>()) as u64) {
            Ok(false) => Ok(None),
            Ok(true) => Ok(Some(self.lock.lock().unwrap_or_else(PoisonError::into_inner))),
            Err(EngineError::Memory { why, needed }) => Err(CorpusError::Memory { why, needed }.into()),
            Err(other) => Err(CorpusError::Read {
                name: "the corpus".to_owned(),
                source: std::io::Error::other(other.to_string()),
            }
            .into()),
        }
    }
}

fn repeats(digests: Mutex<RepeatCounter>) -> Result<u64, CorpusError> {
    digests.into_inner().expect("no worker panicked").repeats().map_err(spill_failed)
}

fn spill_failed(source: std::io::Error) -> CorpusError {
    CorpusError::Write { name: "a temporary file for digests".to_owned(), source }
}

/// Counts of one shard, or of all.
#[derive(Default)]
struct Tally {
    shards: u64,
    bytes: Option<u64>,
    formats: BTreeMap<String, u64>,
    documents: u64,
    rejected: BTreeMap<String, u64>,
    skipped: BTreeMap<&'static str, u64>,
    content_bytes: u64,
    text_bytes: u64,
    words: u64,
    without_words: u64,
    without_url: u64,
    scripts: BTreeMap<&'static str, u64>,
    lengths: Histogram,
    exact_duplicates: u64,
    duplicate_ids: u64,
}

fn read_shard(
    args: &StatsArgs,
    corpus: &Corpus,
    shard: &Shard,
    digests: &Digests,
    large: &LargeTexts<'_>,
    watch: &Watch,
) -> Result<(Tally, ClosedRejections), WalkError> {
    let mut tally = Tally::default();
    let mut rejections = ShardRejections::new(args.work.rejected.is_some());
    let mut analyser = Analyser::with_secret(&args.input.reading.profile, Secret::of_process());
    let mut features = Features::default();
    let (mut texts, mut ids) = (Vec::with_capacity(PENDING), Vec::with_capacity(PENDING));
    let format = walk::documents(shard, corpus.options(), args.input.content_mode(), watch, |found| {
        match found {
            WalkItem::Rejected(rejection) => {
                tally.reject(&rejection);
                rejections.add(&shard.name, &rejection)?;
            }
            WalkItem::Skipped(skip) => *tally.skipped.entry(skip.kind).or_default() += 1,
            WalkItem::Document { document, text } => {
                let lock = large.admit(text)?;
                analyser.read(text, &mut features);
                tally.content_bytes += document.content.len() as u64;
                tally.without_url += u64::from(document.url.is_none());
                tally.add(text, &features);
                if !features.is_empty() {
                    texts.push(features.digest(Secret::of_process()));
                }
                if lock.is_some() {
                    (analyser, features) = (Analyser::new(&args.input.reading.profile), Features::default());
                }
                ids.push(Secret::of_process().digest(document.id.as_bytes()));
                if ids.len() == PENDING {
                    add_digests(&digests.texts, &mut texts)?;
                    add_digests(&digests.ids, &mut ids)?;
                }
            }
        }
        Ok(())
    })?;
    add_digests(&digests.texts, &mut texts)?;
    add_digests(&digests.ids, &mut ids)?;
    tally.formats.insert(format.to_string(), 1);
    Ok((tally, rejections.close()?))
}

fn add_digests(digests: &Mutex<RepeatCounter>, pending: &mut Vec<u128>) -> Result<(), CorpusError> {
    let mut digests = digests.lock().expect("no worker panicked");
    pending.drain(..).try_for_each(|digest| digests.add(digest)).map_err(spill_failed)
}

impl Tally {
    fn add(&mut self, text: &str, features: &Features) {
        self.documents += 1;
        self.text_bytes += text.len() as u64;
        self.words += features.len() as u64;
        self.without_words += u64::from(features.is_empty());
        self.lengths.add(features.len() as u64);
        *self.scripts.entry(script::dominant(text)).or_default() += 1;
    }

    fn reject(&mut self, rejection: &Rejection) {
        self.documents += 1;
        *self.rejected.entry(rejection.reason.kind().to_string()).or_default() += 1;
    }

    fn merge(&mut self, other: &Tally) {
        self.documents += other.documents;
        self.content_bytes += other.content_bytes;
        self.text_bytes += other.text_bytes;
        self.words += other.words;
        self.without_words += other.without_words;
        self.without_url += other.without_url;
        self.lengths.merge(&other.lengths);
        merge_counts(&mut self.formats, &other.formats);
        merge_counts(&mut self.rejected, &other.rejected);
        merge_counts(&mut self.skipped, &other.skipped);
        merge_counts(&mut self.scripts, &other.scripts);
    }

    fn rejected_count(&self) -> u64 {
        self.rejected.values().sum()
    }

    fn summary(&self) -> Summary<'_> {
        Summary {
            shards: self.shards,
            bytes: self.bytes,
            formats: &self.formats,
            documents: self.documents,
            accepted: self.documents - self.rejected_count(),
            rejected: self.rejected_count(),
            rejected_by_reason: &self.rejected,
            skipped: self.skipped.values().sum(),
            skipped_by_kind: &self.skipped,
            content_bytes: self.content_bytes,
            text_bytes: self.text_bytes,
            words: self.words,
            without_words: self.without_words,
            without_url: self.without_url,
            exact_duplicates: self.exact_duplicates,
            duplicate_ids: self.duplicate_ids,
            scripts: &self.scripts,
            words_per_document: Lengths {
                mean: (self.lengths.mean() * 10.0).round() / 10.0,
                percentiles: PERCENTILES.map(|percent| (percent, self.lengths.percentile(percent))).into(),
            },
        }
    }

    fn print(&self, out: &mut impl Write) -> std::io::Result<()> {
        let summary = self.summary();
        let formats: Vec<String> =
            self.formats.iter().map(|(format, count)| format!("{} {format}", thousands(*count))).collect();
        row(out, "shards", self.shards, &formats.join(", "))?;
        row(out, "documents", summary.documents, "records found")?;
        row(out, "accepted", summary.accepted, "")?;
        row(out, "rejected", summary.rejected, &parts(&self.rejected))?;
        row(out, "skipped", summary.skipped, &parts(&self.skipped))?;
        if let Some(bytes) = self.bytes {
            row(out, "bytes", bytes, "as stored")?;
        }
        row(out, "content bytes", summary.content_bytes, "of accepted documents")?;
        row(out, "text bytes", summary.text_bytes, "after extraction")?;
        row(out, "words", summary.words, "")?;
        row(out, "exact duplicates", summary.exact_duplicates, "beyond the first of equal word sequences")?;
        row(out, "duplicate ids", summary.duplicate_ids, "beyond the first document of each id")?;
        row(out, "without words", summary.without_words, "")?;
        row(out, "without url", summary.without_url, "")?;
        writeln!(out, "\nwords per document")?;
        row(out, "  mean", self.lengths.mean().round() as u64, "")?;
        for percent in PERCENTILES {
            let label = match percent {
                0 => "  least".to_owned(),
                50 => "  median".to_owned(),
                100 => "  most".to_owned(),
                _ => format!("  {percent} %"),
            };
            row(out, &label, self.lengths.percentile(percent), "")?;
        }
        writeln!(out, "\nscripts")?;
        let mut scripts: Vec<(&&str, &u64)> = self.scripts.iter().collect();
        scripts.sort_by_key(|(name, count)| (std::cmp::Reverse(**count), **name));
        for (name, &count) in scripts {
            let share = 100.0 * count as f64 / summary.accepted.max(1) as f64;
            row(out, &format!("  {name}"), count, &format!("{share:.1} %"))?;
        }
        Ok(())
    }
}

const PERCENTILES: [u64; 8] = [0, 10, 25, 50, 75, 90, 99, 100];

/// The object that `--json` prints. Stable: other programs read it.
#[derive(Serialize)]
struct Summary<'a> {
    shards: u64,
    bytes: Option<u64>,
    formats: &'a BTreeMap<String, u64>,
    documents: u64,
    accepted: u64,
    rejected: u64,
    rejected_by_reason: &'a BTreeMap<String, u64>,
    skipped: u64,
    skipped_by_kind: &'a BTreeMap<&'static str, u64>,
    content_bytes: u64,
    text_bytes: u64,
    words: u64,
    without_words: u64,
    without_url: u64,
    exact_duplicates: u64,
    duplicate_ids: u64,
    scripts: &'a BTreeMap<&'static str, u64>,
    words_per_document: Lengths,
}

#[derive(Serialize)]
struct Lengths {
    mean: f64,
    percentiles: BTreeMap<u64, u64>,
}

fn merge_counts<K: Ord + Clone>(into: &mut BTreeMap<K, u64>, from: &BTreeMap<K, u64>) {
    for (key, count) in from {
        *into.entry(key.clone()).or_default() += count;
    }
}

fn row(out: &mut impl Write, label: &str, number: u64, note: &str) -> std::io::Result<()> {
    let line = format!("{label:<18}{:>16}  {note}", thousands(number));
    writeln!(out, "{}", line.trim_end())
}

/// `truncated 1, too long 2`
fn parts<K: std::fmt::Display>(counts: &BTreeMap<K, u64>) -> String {
    let parts: Vec<String> =
        counts.iter().map(|(kind, count)| format!("{kind} {}", thousands(*count))).collect();
    parts.join(", ")
}
