//! `lookalike judgments`: what is in files of judgments, and what is left without near-duplicates.

use std::io::Write;
use std::sync::Arc;

use lookalike::judgments::{Dropped, Judgments, Tally, dedup, judged_documents};
use lookalike::walk::Watch;
use serde::Serialize;

use super::lists::{Targets, groups, print, read_all, write_dropped};
use crate::args::{JudgmentsDedupArgs, JudgmentsStatsArgs, QrelsArgs};
use crate::exit::{Failure, Outcome};
use crate::progress::thousands;

fn read(qrels: &QrelsArgs) -> Result<Vec<Judgments>, Failure> {
    read_all(&qrels.files, |name, list| Judgments::read(name, list, qrels.layout))
}

/// `judgments dedup`
pub(crate) fn dedup(args: &JudgmentsDedupArgs, watch: &Arc<Watch>) -> Result<Outcome, Failure> {
    let more = [args.outputs.removed.as_deref(), args.conflicts.as_deref()];
    let targets = Targets::of(&args.qrels.files, &args.outputs, &more)?;
    let files = read(&args.qrels)?;
    let documents: Vec<&str> = judged_documents(&files).iter().map(|judged| judged.document).collect();
    let (groups, outcome) = groups(&args.near, &documents, &args.outputs.output, watch)?;
    let (keep, others) = (args.keep.rule(), args.others.rule());
    let results: Vec<_> = files.iter().map(|file| dedup::judgments(file, &groups, keep, others)).collect();
    targets.write(&results)?;
    write_dropped(args.outputs.removed.as_deref(), &args.qrels.files, &results, |_| true)?;
    write_dropped(args.conflicts.as_deref(), &args.qrels.files, &results, Dropped::conflicts)?;
    let names: Vec<&str> = files.iter().map(|file| file.track.as_str()).collect();
    print(&names, &results, true, args.outputs.json)?;
    Ok(outcome)
}

/// The object that `--json` prints. Stable: other programs read it.
#[derive(Serialize)]
struct Summary {
    files: Vec<Tally>,
    all: Tally,
}

/// `judgments stats`
pub(crate) fn stats(args: &JudgmentsStatsArgs) -> Result<Outcome, Failure> {
    let files = read(&args.qrels)?;
    let summary = Summary { files: files.iter().map(Tally::of).collect(), all: Tally::of_all(&files, "all") };
    let mut out = std::io::stdout().lock();
    if args.json {
        serde_json::to_writer_pretty(&mut out, &summary).map_err(std::io::Error::from)?;
        writeln!(out)?;
        return Ok(Outcome::Done);
    }
    let several = summary.files.len() > 1;
    let rows: Vec<&Tally> = summary.files.iter().chain(several.then_some(&summary.all)).collect();
    let width = rows.iter().map(|tally| tally.track.chars().count()).max().unwrap_or(0).max(5);
    writeln!(
        out,
        "{:width$}  {:<10}{:>10}{:>8}{:>11}{:>10}  grades",
        "track", "layout", "lines", "topics", "documents", "relevant"
    )?;
    for tally in rows {
        writeln!(
            out,
            "{:width$}  {:<10}{:>10}{:>8}{:>11}{:>10}  {}",
            tally.track,
            tally.layout.unwrap_or("several"),
            thousands(tally.lines),
            thousands(tally.topics),
            thousands(tally.documents),
            thousands(tally.relevant),
            grades(tally)
        )?;
    }
    for tally in &summary.files {
        remarks(&mut out, tally)?;
    }
    Ok(Outcome::Done)
}

/// `-2: 1,431, 0: 18,665`
fn grades(tally: &Tally) -> String {
    let parts: Vec<String> =
        tally.grades.0.iter().map(|(grade, count)| format!("{grade}: {}", thousands(*count))).collect();
    parts.join(", ")
}

/// Writes the counts of lines and judgments that explain a row of the table.
fn remarks(out: &mut impl Write, tally: &Tally) -> std::io::Result<()> {
    let parts = [
        (tally.blank, "blank lines"),
        (tally.remarks, "lines that begin with #"),
        (tally.names, "judgments of names, which are no documents"),
        (tally.repeated, "judgments of what was judged before"),
    ];
    let notes: Vec<String> = parts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{} {what}", thousands(*count)))
        .collect();
    if notes.is_empty() { Ok(()) } else { writeln!(out, "{}: {}", tally.track, notes.join(", ")) }
}
