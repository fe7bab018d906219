//! `lookalike urls`: which addresses corpora share.

use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use lookalike::corpus::{Corpus, ListReader};
use lookalike::judgments::{self, Judgments};
use lookalike::walk::Watch;
use lookalike_urls::summary::SideSummary;
use lookalike_urls::{Request, RunOutcome, Summary};

use crate::args::{SpoolArg, UrlsArgs};
use crate::console::print_message;
use crate::exit::{Failure, Outcome};
use crate::progress::{Progress, Total, thousands};

pub(crate) fn run(args: &UrlsArgs, watch: &Arc<Watch>) -> Result<Outcome, Failure> {
    let request = request(args)?;
    let progress = Progress::show(args.resources.progress, Total::Unknown, watch);
    let found = lookalike_urls::run(request, &args.output, watch);
    drop(progress);
    let summary = match found? {
        RunOutcome::AlreadyDone(summary) => {
            print_message(format_args!(
                "{} holds this job, finished; nothing is left to do",
                args.output.display()
            ));
            summary
        }
        RunOutcome::Done(summary) => summary,
    };
    for side in sides(&summary).filter(|side| side.counts.with_url() == 0) {
        print_message(format_args!(
            "no document of {} has an address; --url-field names the field that holds it, and a list has one in each line",
            side.name
        ));
    }
    super::job::print_summary(&args.output, args.json, |out| print(out, &summary, &args.output))?;
    let reasons: Vec<_> = sides(&summary).flat_map(|side| side.reasons.clone()).collect();
    let rejected = sides(&summary).map(|side| side.counts.rejected).sum();
    let outcome = super::job::report_rejections(&reasons, rejected, args.resources.strict);
    print_message(closing_line(&summary, &args.output));
    Ok(outcome)
}

/// Says in words what a run did.
fn closing_line(summary: &Summary, folder: &Path) -> String {
    let Summary { left, right, shared_urls, .. } = summary;
    let shared = thousands(*shared_urls);
    let all = if left.urls == 1 { "address" } else { "addresses" };
    let (urls, table) = (thousands(left.urls), folder.join("overlap.jsonl"));
    format!(
        "{shared} of {urls} {all} of {} are in {}, too; {} lists them.",
        left.name,
        right.name,
        table.display()
    )
}

fn request(args: &UrlsArgs) -> Result<Request, Failure> {
    let inputs: Vec<&[OsString]> =
        std::iter::once(args.left.as_slice()).chain(args.with.snapshots.iter().map(Vec::as_slice)).collect();
    if inputs.iter().flat_map(|side| side.iter()).filter(|input| *input == "-").count() > 1 {
        return Err(Failure::Usage("standard input can be read only once; give - once".to_owned()));
    }
    inputs.iter().try_for_each(|side| super::job::check_output_outside(side, &args.output))?;
    let [left, other] = args.options()?;
    let options = |side: usize| if side == 0 { left.clone() } else { other.clone() };
    let corpora: Result<Vec<Corpus>, Failure> =
        inputs.iter().enumerate().map(|(side, inputs)| crate::args::open(inputs, options(side))).collect();
    args.start.clear_if_forced(&args.output)?;
    Ok(Request {
        corpora: corpora?,
        names: names(&inputs),
        matching: args.matching.into(),
        measure: args.measure(),
        profile: args.reading.profile.clone(),
        content: args.reading.content_mode(),
        reading: args.reading.recipe(),
        other_fields: args.with_fields.iter().cloned().collect(),
        judged: judged(args)?,
        settings: args.resources.settings(SpoolArg::Auto),
    })
}

/// Returns the names of the sides. Where two have the same name, all are told apart by the folders that they lie in, or by numbers.
fn names(inputs: &[&[OsString]]) -> Vec<String> {
    let one_name = |names: &[String]| names.iter().enumerate().any(|(at, name)| names[..at].contains(name));
    let mut names: Vec<String> = inputs.iter().map(|side| super::lab::name_of(side)).collect();
    if one_name(&names) {
        for (name, side) in names.iter_mut().zip(inputs) {
            let path = side.first().and_then(|input| std::path::absolute(input).ok());
            let folder = path.as_deref().and_then(Path::parent).and_then(Path::file_name);
            if let Some(folder) = folder {
                *name = format!("{}/{name}", folder.to_string_lossy());
            }
        }
    }
    if one_name(&names) {
        names.iter_mut().zip(1..).for_each(|(name, at)| *name = format!("{name} ({at})"));
    }
    names
}

/// The ids of all judged documents, sorted, none twice.
fn judged(args: &UrlsArgs) -> Result<Option<Vec<String>>, Failure> {
    if args.judgments.is_empty() {
        return Ok(None);
    }
    let read = |path: &std::path::PathBuf| {
        let judgments = Judgments::read(&path.display().to_string(), ListReader::open(path)?, None);
        judgments.map_err(|error| Failure::Missing(error.to_string()))
    };
    let all: Vec<Judgments> = args.judgments.iter().map(read).collect::<Result<_, _>>()?;
    Ok(Some(judgments::judged_documents(&all).into_iter().map(|judged| judged.document.to_owned()).collect()))
}

/// All sides, each once.
fn sides(summary: &Summary) -> impl Iterator<Item = &SideSummary> {
    let right = if summary.snapshots.is_empty() {
        std::slice::from_ref(&summary.right)
    } else {
        summary.snapshots.as_slice()
    };
    std::iter::once(&summary.left).chain(right)
}

fn print(out: &mut impl Write, summary: &Summary, folder: &Path) -> std::io::Result<()> {
    let share = |part: u64, whole: u64| match whole {
        0 => String::new(),
        whole => format!("  {:.1} %", part as f64 * 100.0 / whole as f64),
    };
    let mut row = |name: &str, number: String, more: String| writeln!(out, "{name:<30}{number:>16}{more}");
    for (position, side) in sides(summary).enumerate() {
        let number = match (position, summary.snapshots.is_empty()) {
            (0, _) => "left".to_owned(),
            (_, true) => "right".to_owned(),
            (position, false) => format!("right {position}"),
        };
        row(&format!("{number} documents"), thousands(side.counts.documents), format!("  {}", side.name))?;
        if side.counts.rejected > 0 {
            row("  rejected", thousands(side.counts.rejected), String::new())?;
        }
        if side.counts.without_url > 0 {
            row("  without address", thousands(side.counts.without_url), String::new())?;
        }
        row("  addresses", thousands(side.urls), String::new())?;
    }
    let shared = summary.shared_urls;
    row("shared addresses", thousands(shared), share(shared, summary.left.urls))?;
    row("  registered domains", thousands(summary.shared_domains), String::new())?;
    let documents = summary.left_documents_with_shared_url;
    let accepted = summary.left.counts.documents - summary.left.counts.rejected;
    row("left documents with one", thousands(documents), share(documents, accepted))?;
    if let Some(judged) = &summary.judged {
        row("judged documents", thousands(judged.found), share(judged.found, judged.judged))?;
        let with = judged.with_shared_url;
        row("  with shared address", thousands(with), share(with, judged.found))?;
    }
    if let Some(similarity) = &summary.similarity {
        let number = |value: Option<f64>| value.map_or("–".to_owned(), |value| format!("{value:.3}"));
        row("pairs measured", thousands(similarity.pairs), format!("  {}", similarity.measure))?;
        if similarity.pairs > 0 {
            let near = share(similarity.near, similarity.pairs);
            row(&format!("  {} or more", similarity.threshold), thousands(similarity.near), near)?;
            row("  mean", number(similarity.mean), String::new())?;
            row("  median", number(similarity.median), String::new())?;
        }
    }
    if let Some(half) = summary.half_life {
        row("half-life of addresses", format!("{half:.1}"), "  snapshots".to_owned())?;
    }
    writeln!(out, "{:<30}{}", "report", folder.join("report.html").display())
}
