//! `lookalike index`: documents on disk, found by what they are like.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Read, Write};
use std::path::Path;
use std::sync::Arc;

use lookalike::corpus::{Corpus, Item, LineReader, Losses, MaxRejected, ReadOptions};
use lookalike::engine::Settings;
use lookalike::index::{
    Answer, CorpusRecord, CreateOptions, Index, IndexError, Mode, OnExistingId, Portion, Preparation,
    PreparedDocument, Progress as InputProgress, QueryBuffers, State, Verdict,
};
use lookalike::model::{RecordPosition, Unit};
use lookalike::walk::Watch;
use serde::Serialize;

use super::job::{self, counted};
use crate::args::{
    IndexAddArgs, IndexCommand, IndexCreateArgs, IndexInfoArgs, IndexMergeArgs, IndexQueryArgs,
    IndexRemoveArgs, ResourceArgs, SpoolArg, WritingArgs,
};
use crate::console::{is_quiet, print_counts, print_message, write_rows};
use crate::exit::{Failure, Outcome};
use crate::progress::{Progress, Total, thousands};

/// The most refused documents, or missing ids, that are reported one by one.
const MAX_REPORTED: u64 = 10;

/// Documents of another index that are added at once.
const BATCH_SIZE: usize = 256;

pub(crate) fn run(command: &IndexCommand, watch: &Arc<Watch>) -> Result<Outcome, Failure> {
    match command {
        IndexCommand::Create(args) => create(args, watch),
        IndexCommand::Add(args) => add(args, watch),
        IndexCommand::Query(args) => query(args, watch),
        IndexCommand::Remove(args) => remove(args),
        IndexCommand::Merge(args) => merge(args, watch),
        IndexCommand::Check(args) => check(&args.folder, args.json),
        IndexCommand::Stats(args) => stats(args),
    }
}

fn settings(resources: &ResourceArgs) -> Settings {
    resources.settings(SpoolArg::Auto)
}

/// Opens a corpus to be added to an index, or looked for in it. A list of files that is too long asks for what the index needs, too.
fn open_corpus(inputs: &[OsString], resources: &ResourceArgs, index: &Index) -> Result<Corpus, Failure> {
    let reading = resources.reading(index.recipe().read_options()?);
    let lists = reading.lists.clone().asking_for_at_least(index.least_memory(&settings(resources)));
    crate::args::open(inputs, ReadOptions { lists, ..reading })
}

/// Opens an index to be written to, and tells of a write that an earlier process did not come to the end of.
fn open_to_write(folder: &Path, writing: &WritingArgs, settings: &Settings) -> Result<Index, Failure> {
    let index = Index::open_within(folder, Mode::Write(writing.writing()), settings)?;
    if index.cut_bytes() > 0 {
        print_message(format_args!(
            "{}: {} bytes at the end of the log were no whole write, which nobody was told of, and are cut off",
            folder.display(),
            thousands(index.cut_bytes())
        ));
    }
    Ok(index)
}

fn create(args: &IndexCreateArgs, watch: &Arc<Watch>) -> Result<Outcome, Failure> {
    let recipe = args.recipe()?;
    for advice in lookalike::request::advice(&recipe) {
        print_message(advice);
    }
    let learn = match args.learn.as_slice() {
        [] => None,
        inputs if inputs.iter().any(|input| input == "-") => {
            let sentence =
                "what is learned from is read more than once and cannot be standard input; name files";
            return Err(Failure::Usage(sentence.to_owned()));
        }
        inputs => Some(crate::args::open(inputs, args.resources.reading(recipe.read_options()?))?),
    };
    let progress = Progress::show(args.resources.progress, Total::Unknown, watch);
    let options = CreateOptions {
        recipe,
        text: !args.no_text,
        lexicon: args.matching.lexicon.as_deref(),
        learn: learn.as_ref(),
        settings: &settings(&args.resources),
    };
    Index::create(&args.folder, options, watch)?;
    drop(progress);
    if !is_quiet() {
        writeln!(std::io::stdout(), "index             {}", args.folder.display())?;
    }
    Ok(Outcome::Done)
}

/// Counts of the documents of an input, by outcome.
#[derive(Debug, Default)]
struct Tally {
    new: u64,
    removed: u64,
    known: u64,
    conflicts: u64,
    losses: Losses,
    skipped: u64,
}

/// The object that `--json` prints. Stable: other programs read it.
#[derive(Debug, Clone, Copy, Serialize)]
struct TallyCounts {
    documents: u64,
    new: u64,
    removed: u64,
    known: u64,
    conflicts: u64,
    rejected: u64,
    skipped: u64,
}

impl Tally {
    fn reject(&mut self, source: &str, position: u64, reason: &str) {
        self.losses.add(source, position, None, reason);
    }

    /// Counts what is no document in a portion.
    fn portion(&mut self, portion: &Portion<'_>) {
        self.skipped += portion.skipped;
        for record in &portion.records {
            if let CorpusRecord::Rejected { source, position, reason, .. } = record {
                self.reject(source, *position, reason);
            }
        }
    }

    fn verdict(&mut self, id: &str, verdict: &Verdict) {
        match verdict {
            Verdict::Added { known: true, .. } => self.known += 1,
            Verdict::Added { state: State::Removed { .. }, .. } => self.removed += 1,
            Verdict::Added { .. } => self.new += 1,
            Verdict::Conflict { .. } => {
                self.conflicts += 1;
                if self.conflicts <= MAX_REPORTED {
                    print_message(format_args!("refused: {id} is there with other words"));
                }
            }
        }
    }

    fn counts(&self) -> TallyCounts {
        let Tally { new, removed, known, conflicts, skipped, .. } = *self;
        let rejected = self.losses.rejected;
        let documents = new + removed + known + conflicts + rejected;
        TallyCounts { documents, new, removed, known, conflicts, rejected, skipped }
    }

    fn print(&self, as_json: bool) -> Result<(), Failure> {
        let counts = self.counts();
        Ok(print_counts(as_json, &counts, |out| {
            let rows = [
                ("documents", counts.documents),
                ("new", counts.new),
                ("near-duplicates", counts.removed),
                ("already there", counts.known),
                ("refused", counts.conflicts),
                ("rejected", counts.rejected),
                ("skipped", counts.skipped),
            ];
            write_rows(out, rows)
        })?)
    }

    /// Says in words what became of the documents.
    fn closing_line(&self, folder: &Path) -> String {
        let TallyCounts { new, removed, known, conflicts, rejected, .. } = self.counts();
        let (added, removed) = (counted(new + removed, "document"), counted(removed, "near-duplicate"));
        let mut line =
            format!("Added {added} to {}: {} new, {removed} of kept ones", folder.display(), thousands(new));
        for (number, fate) in [(known, "there before"), (conflicts, "refused"), (rejected, "rejected")] {
            if number > 0 {
                line += &format!("; {} {fate}", thousands(number));
            }
        }
        line + "."
    }

    /// The outcome of the command; more rejected records than may be are a failure, though all others are in the index.
    fn outcome(&self, most: MaxRejected, strict: bool) -> Result<Outcome, Failure> {
        let mut losses = self.losses.clone();
        losses.records += self.new + self.removed + self.known + self.conflicts;
        outcome(&losses, self.conflicts, most, strict)
    }
}

/// Tells why records were rejected; more of them than `most` are a failure. `--strict` counts refused documents, too.
fn outcome(losses: &Losses, refused: u64, most: MaxRejected, strict: bool) -> Result<Outcome, Failure> {
    let ended = job::report_rejections(&losses.reasons(), losses.rejected + refused, strict);
    losses.check("the input", most)?;
    Ok(ended)
}

/// A line of `--verdicts`.
#[derive(Serialize)]
struct VerdictLine<'a> {
    id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    new: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    witness: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    similarity: Option<f64>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    known: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
}

/// Writes what became of each document.
struct VerdictWriter<'i> {
    index: &'i Index,
    buffers: QueryBuffers,
    out: Box<dyn Write + Send>,
}

impl<'i> VerdictWriter<'i> {
    fn create(index: &'i Index, path: &Path) -> Result<Self, Failure> {
        let out: Box<dyn Write + Send> = if path.as_os_str() == "-" {
            Box::new(BufWriter::new(std::io::stdout()))
        } else {
            let failed = |error| Failure::Missing(format!("{} cannot be written: {error}", path.display()));
            Box::new(BufWriter::new(File::create(path).map_err(failed)?))
        };
        Ok(VerdictWriter { index, buffers: index.buffers()?, out })
    }

    fn write(&mut self, id: &str, verdict: &Verdict) -> Result<(), IndexError> {
        let mut line =
            VerdictLine { id, new: None, witness: None, similarity: None, known: false, error: None };
        let witness;
        match *verdict {
            Verdict::Added { state: State::Removed { witness: number, similarity }, known, .. } => {
                witness = self.index.entry(&mut self.buffers, number)?.map(|entry| entry.id);
                (line.new, line.known, line.similarity) = (Some(false), known, similarity);
                line.witness = witness.as_deref();
            }
            Verdict::Added { known, .. } => (line.new, line.known) = (Some(true), known),
            Verdict::Conflict { .. } => line.error = Some("the id is there with other words"),
        }
        let text = serde_json::to_string(&line).expect("names and numbers can be written");
        let failed = |error| IndexError::Request(format!("the verdicts cannot be written: {error}"));
        writeln!(self.out, "{text}").map_err(failed)
    }
}

fn add(args: &IndexAddArgs, watch: &Arc<Watch>) -> Result<Outcome, Failure> {
    let to_stdout = args.verdicts.as_ref().is_some_and(|path| path.as_os_str() == "-");
    if to_stdout && args.json {
        let sentence =
            "--json and --verdicts - would both go to standard output; name a file for the verdicts";
        return Err(Failure::Usage(sentence.to_owned()));
    }
    let settings = settings(&args.resources);
    let index = open_to_write(&args.folder, &args.writing, &settings)?;
    let corpus = open_corpus(&args.inputs, &args.resources, &index)?;
    corpus.check_first_records(index.recipe().needs_addresses())?;
    let mut verdicts =
        args.verdicts.as_deref().map(|path| VerdictWriter::create(&index, path)).transpose()?;
    let tally = std::sync::Mutex::new(Tally::default());
    let count = || tally.lock().expect("nobody panics with it");
    let progress = Progress::show(args.resources.progress, Total::Unknown, watch);
    index.add_corpus(
        &corpus,
        &settings,
        InputProgress::default(),
        args.existing_id_rule(),
        watch,
        |portion| {
            count().portion(portion);
            Ok(None)
        },
        |id, verdict| {
            count().verdict(id, verdict);
            verdicts.as_mut().map_or(Ok(()), |verdicts| verdicts.write(id, verdict))
        },
    )?;
    drop(progress);
    if let Some(VerdictWriter { mut out, .. }) = verdicts {
        out.flush()?;
    }
    let partly_compared = index.partly_compared();
    index.close()?;
    let tally = tally.into_inner().expect("nobody panics with it");
    if !to_stdout {
        tally.print(args.json)?;
    }
    let outcome = tally.outcome(corpus.options().max_rejected, args.resources.strict)?;
    tell_partly_compared(partly_compared);
    print_message(tally.closing_line(&args.folder));
    Ok(outcome)
}

/// Tells of documents that were kept without being compared with all candidates.
pub(super) fn tell_partly_compared(documents: u64) {
    if documents > 0 {
        print_message(format_args!(
            "{} kept, compared with a part of the documents that share keys with them: these keys are in more documents than \
             --max-group, as those of pages of one template are",
            counted(documents, "document")
        ));
    }
}

/// A line that answers a document.
#[derive(Serialize)]
struct AnswerLine<'a> {
    id: &'a str,
    #[serde(flatten)]
    answer: &'a Answer,
}

/// A line that answers what is no document.
#[derive(Serialize)]
struct ErrorLine<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    position: Option<u64>,
    error: &'a str,
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("names and numbers can be written")
}

fn query(args: &IndexQueryArgs, watch: &Arc<Watch>) -> Result<Outcome, Failure> {
    let settings = settings(&args.resources);
    let index = Index::open_within(&args.folder, Mode::Read, &settings)?;
    let limit = args.limit as usize;
    let losses = if args.inputs.len() == 1 && args.inputs[0] == "-" {
        filter(&index, limit, watch)?
    } else {
        let corpus = open_corpus(&args.inputs, &args.resources, &index)?;
        corpus.check_first_records(index.recipe().needs_addresses())?;
        answer_corpus(&index, &corpus, &settings, limit, watch)?
    };
    outcome(&losses, 0, args.resources.max_rejected.unwrap_or_default(), args.resources.strict)
}

/// Answers every record of a corpus. Returns which were no documents.
fn answer_corpus(
    index: &Index,
    corpus: &Corpus,
    settings: &Settings,
    limit: usize,
    watch: &Watch,
) -> Result<Losses, Failure> {
    let mut losses = Losses::default();
    let out = std::sync::Mutex::new(BufWriter::new(std::io::stdout()));
    let mut closed = None;
    let preparation = Preparation::Answer(limit);
    index
        .examine(corpus, settings, InputProgress::default(), preparation, watch, |portion| {
            let mut out = out.lock().expect("nobody panics with it");
            for record in &portion.records {
                let line = match record {
                    CorpusRecord::Document(prepared) => {
                        losses.accept();
                        answer_line(prepared)
                    }
                    CorpusRecord::Rejected { source, position, reason, .. } => {
                        losses.add(source, *position, None, reason);
                        let (source, position) = (Some(*source), Some(*position));
                        json(&ErrorLine { line: None, source, position, error: reason })
                    }
                };
                if let Err(error) = writeln!(out, "{line}") {
                    closed = Some(error);
                    return Err(IndexError::Request("standard output cannot be written".to_owned()));
                }
            }
            Ok(())
        })
        .map_err(|error| closed.take().map_or_else(|| error.into(), Failure::from))?;
    out.into_inner().expect("nobody panics with it").flush()?;
    Ok(losses)
}

fn answer_line(prepared: &PreparedDocument) -> String {
    let nothing = Answer::default();
    json(&AnswerLine { id: &prepared.id, answer: prepared.answer.as_ref().unwrap_or(&nothing) })
}

/// Answers every line of standard input before the next one is waited for. Returns which were no documents.
fn filter(index: &Index, limit: usize, watch: &Watch) -> Result<Losses, Failure> {
    let options = index.recipe().read_options()?;
    let longest = options.max_document_bytes as u64;
    let mut lines = LineReader::new(&Arc::new(options));
    let mut buffers = index.buffers()?;
    let (mut input, mut out) = (BufReader::new(std::io::stdin().lock()), BufWriter::new(std::io::stdout()));
    let (mut line, mut number, mut losses) = (Vec::new(), 0, Losses::default());
    let mut end = 0;
    while !watch.stopped() {
        line.clear();
        let read = input.by_ref().take(longest + 1).read_until(b'\n', &mut line);
        let failed = |error| Failure::Missing(format!("standard input cannot be read: {error}"));
        let begin = end;
        end += read.map_err(failed)? as u64;
        if end == begin {
            break;
        }
        number += 1;
        let text = match line.trim_ascii() {
            [] => continue,
            text if text.len() as u64 > longest => {
                end += skip_line(&mut input)?;
                Err(format!("it is longer than {longest} bytes"))
            }
            text => answer(index, &mut buffers, &mut lines, text, limit)?,
        };
        let text = match text {
            Ok(text) => {
                losses.accept();
                text
            }
            Err(error) => {
                losses.add("stdin", begin, Some(Unit::Byte), &error);
                json(&ErrorLine { line: Some(number), source: None, position: None, error: &error })
            }
        };
        writeln!(out, "{text}")?;
        // Whoever waits for this answer has sent nothing more.
        if input.buffer().is_empty() {
            out.flush()?;
        }
    }
    out.flush()?;
    Ok(losses)
}

/// Passes over the rest of a line. Returns its bytes.
fn skip_line(input: &mut impl BufRead) -> Result<u64, Failure> {
    let mut skipped = 0;
    loop {
        let buffer = input.fill_buf()?;
        let end = buffer.iter().position(|&byte| byte == b'\n');
        let (length, ended) = end.map_or((buffer.len(), buffer.is_empty()), |end| (end + 1, true));
        input.consume(length);
        skipped += length as u64;
        if ended {
            return Ok(skipped);
        }
    }
}

/// The answer to one line, or why it is no document.
fn answer(
    index: &Index,
    buffers: &mut QueryBuffers,
    lines: &mut LineReader,
    line: &[u8],
    limit: usize,
) -> Result<Result<String, String>, Failure> {
    let prepared = match lines.line(line, RecordPosition::default(), "") {
        Item::Document(document) => buffers.document(index.examiner(), &document),
        Item::Rejected(rejection) => Err(rejection.reason.to_string()),
        _ => Err("it is no document".to_owned()),
    };
    Ok(match prepared {
        Ok(mut prepared) => {
            prepared.answer = Some(index.query(buffers, &prepared, limit)?);
            Ok(answer_line(&prepared))
        }
        Err(reason) => Err(reason),
    })
}

/// The counts of `index remove`.
#[derive(Debug, Clone, Copy, Default, Serialize)]
struct RemoveCounts {
    ids: u64,
    removed: u64,
    missing: u64,
}

fn remove(args: &IndexRemoveArgs) -> Result<Outcome, Failure> {
    let mut ids = args.ids.clone();
    if let Some(path) = &args.ids_from {
        let failed = |error| Failure::Missing(format!("{} cannot be read: {error}", path.display()));
        let text = if path.as_os_str() == "-" {
            std::io::read_to_string(std::io::stdin())
        } else {
            std::fs::read_to_string(path)
        };
        ids.extend(text.map_err(failed)?.lines().filter(|line| !line.is_empty()).map(str::to_owned));
    }
    let index = open_to_write(&args.folder, &args.writing, &Settings::UNLIMITED)?;
    let mut counts = RemoveCounts { ids: ids.len() as u64, ..RemoveCounts::default() };
    for id in &ids {
        match index.remove(id)? {
            0 => {
                counts.missing += 1;
                if counts.missing <= MAX_REPORTED {
                    print_message(format_args!("{id} is not there"));
                }
            }
            count => counts.removed += count,
        }
    }
    index.close()?;
    print_counts(args.json, &counts, |out| {
        let RemoveCounts { ids, removed, missing } = counts;
        write_rows(out, [("ids", ids), ("taken out", removed), ("not there", missing)])
    })?;
    Ok(Outcome::Done)
}

fn merge(args: &IndexMergeArgs, watch: &Arc<Watch>) -> Result<Outcome, Failure> {
    let settings = settings(&args.resources);
    let index = open_to_write(&args.folder, &args.writing, &settings)?;
    let mut tally = Tally::default();
    let progress = Progress::show(args.resources.progress, Total::Unknown, watch);
    for path in &args.others {
        let other = Index::open_within(path, Mode::Read, &settings)?;
        index.require_like(&other)?;
        if path.canonicalize().ok() == args.folder.canonicalize().ok() {
            return Err(Failure::Usage("an index cannot be added to itself; name another one".to_owned()));
        }
        add_index(&index, &other, watch, &mut tally)?;
    }
    if args.others.is_empty() {
        index.compact()?;
    }
    drop(progress);
    let partly_compared = index.partly_compared();
    index.close()?;
    tell_partly_compared(partly_compared);
    tally.print(args.json)?;
    tally.outcome(MaxRejected::EVERYTHING, args.resources.strict)
}

/// Adds all documents of another index.
fn add_index(index: &Index, other: &Index, watch: &Watch, tally: &mut Tally) -> Result<(), Failure> {
    let (mut buffers, mut source) = (index.buffers()?, other.buffers()?);
    let mut batch = Vec::new();
    for number in 0..other.next() {
        watch.check()?;
        let Some(prepared) = other.prepare_stored(&mut source, number)? else { continue };
        batch.push(buffers.reexamine(index.examiner(), prepared).map_err(Failure::Missing)?);
        if batch.len() == BATCH_SIZE || number + 1 == other.next() {
            add_batch(index, &mut buffers, std::mem::take(&mut batch), tally)?;
        }
    }
    add_batch(index, &mut buffers, batch, tally)
}

fn add_batch(
    index: &Index,
    buffers: &mut QueryBuffers,
    mut batch: Vec<PreparedDocument>,
    tally: &mut Tally,
) -> Result<(), Failure> {
    for prepared in &mut batch {
        index.look_up(buffers, prepared)?;
    }
    let ids: Vec<String> = batch.iter().map(|prepared| prepared.id.clone()).collect();
    let verdicts = index.add(batch, OnExistingId::Refuse)?;
    ids.iter().zip(&verdicts).for_each(|(id, verdict)| tally.verdict(id, verdict));
    Ok(())
}

/// Reads all of an index, and says what is wrong with it.
pub(super) fn check(folder: &Path, as_json: bool) -> Result<Outcome, Failure> {
    let index = Index::open(folder, Mode::Read)?;
    let checked = index.check(&mut index.buffers()?)?;
    let mut out = std::io::stdout().lock();
    if as_json {
        writeln!(out, "{}", json(&checked))?;
    } else if !is_quiet() {
        for (name, number) in [
            ("documents", checked.documents),
            ("postings", checked.postings),
            ("pairs measured", checked.measured),
            ("torn bytes", checked.torn),
            ("mistakes", checked.mistakes),
        ] {
            writeln!(out, "{name:<18}{:>14}", thousands(number))?;
        }
        checked.wrong.iter().for_each(print_message);
    }
    if checked.mistakes > 0 {
        return Err(Failure::Missing(format!(
            "{} is not as it should be in {} places; take a copy from before, or add its documents to a new one",
            folder.display(),
            thousands(checked.mistakes)
        )));
    }
    Ok(Outcome::Done)
}

fn stats(args: &IndexInfoArgs) -> Result<Outcome, Failure> {
    let index = Index::open(&args.folder, Mode::Read)?;
    let stats = index.stats();
    let methods: Vec<String> = index.recipe().methods.iter().map(ToString::to_string).collect();
    let mut out = std::io::stdout().lock();
    if args.json {
        let mut facts: BTreeMap<String, serde_json::Value> =
            serde_json::from_str(&json(&stats)).expect("what was written can be read");
        facts.insert("methods".to_owned(), methods.into());
        writeln!(out, "{}", json(&facts))?;
        return Ok(Outcome::Done);
    }
    for (name, number) in [
        ("documents", stats.documents),
        ("kept", stats.kept),
        ("removed", stats.removed),
        ("taken out", stats.deleted),
        ("different", stats.classes),
        ("segments", stats.segments as u64),
        ("in the log", stats.in_log),
        ("keys left out", stats.postings_left_out),
        ("bytes", stats.bytes),
        ("bytes each", stats.bytes.checked_div(stats.documents + stats.deleted).unwrap_or(0)),
        ("bytes in memory", stats.memory),
    ] {
        writeln!(out, "{name:<18}{:>14}", thousands(number))?;
    }
    writeln!(out, "texts             {:>14}", if stats.text { "kept" } else { "not kept" })?;
    methods.iter().try_for_each(|method| writeln!(out, "method            {method}"))?;
    Ok(Outcome::Done)
}
