//! `lookalike lab review`: a person judges a sample of pairs on a page.

use std::io::Write;
use std::sync::Arc;

use lookalike::report::study_text;
use lookalike::walk::Watch;
use lookalike_lab::review::{
    Labels, ReviewError, Session, Summary, default_labels, listen, pairs, serve, summarise,
};

use crate::args::ReviewArgs;
use crate::console::print_message;
use crate::exit::{Failure, Outcome};

/// Characters of a line.
const WIDTH: usize = 100;

pub(crate) fn run(args: &ReviewArgs, watch: &Arc<Watch>) -> Result<Outcome, Failure> {
    let summary = review(args, watch).map_err(|error| Failure::Missing(error.to_string()))?;
    let mut out = std::io::stdout().lock();
    if args.json {
        serde_json::to_writer(&mut out, &summary).map_err(std::io::Error::from)?;
        writeln!(out)?;
    } else {
        let title = format!("Review of {}", args.file.display());
        out.write_all(study_text(&summary.study(&title), WIDTH).as_bytes())?;
    }
    Ok(Outcome::Done)
}

fn review(args: &ReviewArgs, watch: &Watch) -> Result<Summary, ReviewError> {
    // A comparison's folder has its review in it.
    let file = if args.file.is_dir() { args.file.join("review.jsonl") } else { args.file.clone() };
    let pairs = pairs::read(&file)?;
    let path = args.labels.clone().unwrap_or_else(|| default_labels(&file));
    let sample = (file.as_path(), pairs.as_slice());
    if args.summary {
        let labels = Labels::read(&path, sample, args.by.clone())?;
        warn(&labels);
        return Ok(summarise(&pairs, &labels));
    }
    let listener = listen(args.port)?;
    let labels = Labels::open(&path, sample, args.by.clone())?;
    warn(&labels);
    let port = listener.local_addr().map_err(ReviewError::Server)?.port();
    let name = file.file_name().unwrap_or(file.as_os_str()).to_string_lossy().into_owned();
    let session = Session::new(name, pairs, labels);
    print_message(format_args!(
        "lookalike: the review is at http://127.0.0.1:{port}/ and its labels in {}; Ctrl-C ends it",
        path.display()
    ));
    serve(session, listener, &watch.stop)
}

fn warn(labels: &Labels) {
    if let Some(note) = &labels.note {
        print_message(format_args!("lookalike: {note}"));
    }
}
