//! `lookalike lexicon`: the words of a corpus, counted; `lookalike lexicon show`: what was counted.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{BufReader, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lookalike::engine::lexicon::WordTotals;
use lookalike::engine::{Job, Opened, Outputs};
use lookalike::methods::lexicon::{Entry, LexiconError, Reader, Totals};
use lookalike::walk::Watch;
use serde::Serialize;

use crate::args::{LexiconArgs, LexiconCommand, LexiconShowArgs, SpoolArg};
use crate::console::{print_counts, write_rows};
use crate::exit::{Failure, Outcome};
use crate::outputs::check_outputs;
use crate::progress::{Progress, Total, thousands};

pub(crate) fn run(args: &LexiconArgs, watch: &Arc<Watch>) -> Result<Outcome, Failure> {
    match (&args.command, &args.output) {
        (Some(LexiconCommand::Show(args)), _) => show(args),
        (None, Some(output)) => count(args, output, watch),
        (None, None) => Err(Failure::Usage("name a file for the lexicon by --output".to_owned())),
    }
}

fn count(args: &LexiconArgs, output: &Path, watch: &Arc<Watch>) -> Result<Outcome, Failure> {
    let recipe = args.recipe();
    let corpus = args.input.corpus_with(args.resources.reading(recipe.read_options()?))?;
    check_outputs(&corpus, &[output])?;
    super::job::check_output_outside(&args.input.inputs, output)?;
    // What is counted is little; nothing is kept to be compared.
    let settings = args.resources.settings(SpoolArg::None);
    let job = Job { recipe, corpus, against: None, lexicon: None, settings, outputs: Outputs::default() };
    let mut name = output.to_owned().into_os_string();
    name.push(".job");
    let folder = PathBuf::from(name);
    let Opened::Open(open) = job.open(&folder)? else {
        return Err(Failure::Missing(format!("{} holds another job; remove it", folder.display())));
    };
    let progress = Progress::show(args.resources.progress, Total::Unknown, watch);
    let counted = open.count_words(watch, output)?;
    drop(progress);
    let totals = read(output, |_| {})?.1;
    print_counted(&counted, &totals, args.json)?;
    let strict = args.resources.strict && counted.rejected > 0;
    Ok(if strict { Outcome::Rejected } else { Outcome::Done })
}

/// The object that `--json` prints. Stable: other programs read it.
#[derive(Serialize)]
struct CountReport {
    documents: u64,
    without_words: u64,
    rejected: u64,
    words: u64,
    vocabulary: u64,
}

fn print_counted(counted: &WordTotals, totals: &Totals, as_json: bool) -> Result<(), Failure> {
    let documents = counted.records - counted.rejected;
    let report = CountReport {
        documents,
        without_words: documents - counted.documents,
        rejected: counted.rejected,
        words: counted.occurrences,
        vocabulary: totals.vocabulary,
    };
    print_counts(as_json, &report, |out| {
        let rows = [
            ("documents", report.documents),
            ("without words", report.without_words),
            ("rejected", report.rejected),
            ("words", report.words),
            ("different words", report.vocabulary),
        ];
        write_rows(out, rows)?;
        if report.rejected > 0 {
            writeln!(out, "lookalike corpus stats tells which records were rejected, and why")?;
        }
        Ok(())
    })?;
    Ok(())
}

/// Reads a whole lexicon; returns the profile and the totals.
fn read(path: &Path, mut each: impl FnMut(&Entry)) -> Result<(String, Totals), Failure> {
    let failed = |error: LexiconError| {
        Failure::Missing(format!("{} cannot be taken as a lexicon: {error}", path.display()))
    };
    let file = File::open(path)
        .map_err(|error| Failure::Missing(format!("{} cannot be read: {error}", path.display())))?;
    let mut reader = Reader::open(BufReader::new(file)).map_err(failed)?;
    let mut entry = Entry::default();
    while reader.next(&mut entry).map_err(failed)? {
        each(&entry);
    }
    Ok((reader.profile().to_string(), reader.totals().clone()))
}

/// A word, as it is shown.
#[derive(Serialize, PartialEq, Eq, PartialOrd, Ord)]
struct Row {
    documents: u32,
    occurrences: u64,
    word: String,
}

/// The totals and some words of a lexicon, as they are shown.
#[derive(Serialize)]
struct LexiconReport {
    profile: String,
    documents: u64,
    words: u64,
    vocabulary: u64,
    mean_length: f64,
    /// Number of words in 1, 2, 3 to 4, 5 to 8, … documents.
    words_by_documents: Vec<u64>,
    rows: Vec<Row>,
}

fn show(args: &LexiconShowArgs) -> Result<Outcome, Failure> {
    let limit = usize::try_from(args.number).unwrap_or(usize::MAX);
    let mut common: BinaryHeap<Reverse<(u32, u64, Reverse<String>)>> = BinaryHeap::new();
    let (mut named, mut classes): (Vec<Row>, Vec<u64>) = (Vec::new(), Vec::new());
    let (profile, totals) = read(&args.file, |entry| {
        let class = if entry.documents <= 1 { 0 } else { (entry.documents - 1).ilog2() as usize + 1 };
        classes.resize(classes.len().max(class + 1), 0);
        classes[class] += 1;
        if args.words.contains(&entry.word) {
            let Entry { documents, occurrences, ref word, .. } = *entry;
            named.push(Row { documents, occurrences, word: word.clone() });
        }
        if !args.words.is_empty() || limit == 0 {
            return;
        }
        let rank = (entry.documents, entry.occurrences);
        let full = common.len() >= limit;
        if !full
            || common
                .peek()
                .is_some_and(|Reverse((documents, occurrences, _))| rank >= (*documents, *occurrences))
        {
            common.push(Reverse((rank.0, rank.1, Reverse(entry.word.clone()))));
            if common.len() > limit {
                common.pop();
            }
        }
    })?;
    let mut rows = if args.words.is_empty() {
        let row = |Reverse((documents, occurrences, Reverse(word)))| Row { documents, occurrences, word };
        common.into_sorted_vec().into_iter().map(row).collect()
    } else {
        let missing = |word: &&String| !named.iter().any(|row| row.word == **word);
        let unknown: Vec<Row> = args
            .words
            .iter()
            .filter(missing)
            .map(|word| Row { documents: 0, occurrences: 0, word: word.clone() })
            .collect();
        named.extend(unknown);
        named.sort_by_key(|row| args.words.iter().position(|word| *word == row.word));
        named
    };
    rows.dedup();
    let report = LexiconReport {
        profile,
        documents: totals.documents,
        words: totals.occurrences,
        vocabulary: totals.vocabulary,
        mean_length: totals.occurrences as f64 / totals.documents.max(1) as f64,
        words_by_documents: classes,
        rows,
    };
    print(&report, args.json, !args.words.is_empty())?;
    Ok(Outcome::Done)
}

fn print(report: &LexiconReport, json: bool, named: bool) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    if json {
        serde_json::to_writer_pretty(&mut out, report).map_err(std::io::Error::from)?;
        return Ok(writeln!(out)?);
    }
    writeln!(out, "profile           {}", report.profile)?;
    for (name, number) in
        [("documents", report.documents), ("words", report.words), ("different words", report.vocabulary)]
    {
        writeln!(out, "{name:<18}{:>14}", thousands(number))?;
    }
    writeln!(out, "{:<18}{:>14.1}", "words on average", report.mean_length)?;
    if named {
        return print_rows(report, &mut out);
    }
    writeln!(out, "\n{:<18}{:>14}", "in documents", "words")?;
    for (class, &words) in report.words_by_documents.iter().enumerate() {
        let range = match class {
            0 => "1".to_owned(),
            1 => "2".to_owned(),
            _ => format!("{}-{}", thousands((1 << (class - 1)) + 1), thousands(1 << class)),
        };
        writeln!(out, "{range:<18}{:>14}", thousands(words))?;
    }
    if report.rows.is_empty() {
        return Ok(());
    }
    print_rows(report, &mut out)
}

fn print_rows(report: &LexiconReport, out: &mut impl Write) -> Result<(), Failure> {
    writeln!(out, "\n{:>12}{:>15}{:>9}  word", "documents", "occurrences", "idf")?;
    for row in &report.rows {
        let idf = (report.documents.max(1) as f64 / f64::from(row.documents)).ln();
        let idf = if row.documents == 0 { "-".to_owned() } else { format!("{idf:.4}") };
        writeln!(
            out,
            "{:>12}{:>15}{idf:>9}  {}",
            thousands(row.documents.into()),
            thousands(row.occurrences),
            row.word
        )?;
    }
    Ok(())
}
