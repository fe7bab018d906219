//! `lookalike corpus head`: the first documents, and what they become.

use std::io::Write;
use std::sync::Arc;

use lookalike::model::Document;
use lookalike::text::{Analyser, Features};
use lookalike::walk::{self, WalkItem, Watch};

use super::rejections::Rejections;
use crate::args::{HeadArgs, Show};
use crate::exit::{Failure, Outcome};

pub(crate) fn run(args: &HeadArgs, watch: &Arc<Watch>) -> Result<Outcome, Failure> {
    let corpus = args.input.corpus(None)?;
    corpus.check_first_records(false)?;
    let mut rejections = Rejections::new(None)?;
    let mut analyser = Analyser::new(&args.input.reading.profile);
    let mut features = Features::default();
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let mut left = args.number;
    for shard in corpus.shards() {
        if left == 0 {
            break;
        }
        let mut written = Ok(());
        walk::documents_while(shard, corpus.options(), args.input.content_mode(), watch, |found| {
            match found {
                WalkItem::Rejected(rejection) => rejections.report(&shard.name, &rejection)?,
                WalkItem::Skipped(_) => {}
                WalkItem::Document { document, text } => {
                    analyser.read(text, &mut features);
                    analyser.read_sentences(&mut features);
                    written = show(&mut out, args, &document, text, &features);
                    left -= 1;
                }
            }
            Ok(written.is_ok() && left > 0)
        })?;
        written?;
    }
    out.flush()?;
    Ok(rejections.finish(args.strict)?)
}

fn show(
    out: &mut impl Write,
    args: &HeadArgs,
    document: &Document<'_>,
    text: &str,
    features: &Features,
) -> std::io::Result<()> {
    write!(out, "== {}", document.id)?;
    if let Some(url) = document.url {
        write!(out, "  {url}")?;
    }
    let words = if features.len() == 1 { "word" } else { "words" };
    writeln!(out, "  ({} {words})", features.len())?;
    match args.show {
        Show::Text => writeln!(out, "{}", text.trim_end())?,
        Show::Words => {
            for word in features.words() {
                writeln!(out, "{word}")?;
            }
        }
        Show::Sentences => {
            let mut sentence = String::new();
            for index in 0..features.sentence_count() {
                sentence.clear();
                features.sentence_text(index, &mut sentence);
                writeln!(out, "{sentence}")?;
            }
        }
        Show::Shingles => {
            let words: Vec<&str> = features.words().collect();
            let length = args.shingle.get().min(words.len().max(1));
            for (hash, window) in features.grams(length).zip(words.windows(length)) {
                writeln!(out, "{hash:016x}  {}", window.join(" "))?;
            }
        }
    }
    writeln!(out)
}
