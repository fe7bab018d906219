//! `lookalike diff`: two documents word by word.

use std::ffi::{OsStr, OsString};
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::sync::Arc;

use lookalike::corpus::Corpus;
use lookalike::hash::Secret;
use lookalike::report::{Change, Comparison, Overlap, Segment, Side, View, compare, edit_similarity};
use lookalike::text::{Analyser, Features};
use lookalike::walk::{self, WalkError, WalkItem, Watch};
use serde::Serialize;

use super::rejections::Rejections;
use crate::args::{ColorArg, DiffArgs, ReadingArgs};
use crate::exit::{Failure, Outcome};
use crate::progress::thousands;

/// Equal words shown on each side of a change.
const CONTEXT: usize = 8;

pub(crate) fn run(args: &DiffArgs, watch: &Arc<Watch>) -> Result<Outcome, Failure> {
    let (name_a, name_b) = (DocumentRef::of(&args.a), DocumentRef::of(&args.b));
    if name_a.corpus == "-" && name_b.corpus == "-" {
        return Err(Failure::Usage("standard input can be read only once; give - once".to_owned()));
    }
    let a = name_a.read(&args.reading, watch)?;
    let b = name_b.read(&args.reading, watch)?;
    let mut analyser = Analyser::with_secret(&args.reading.profile, Secret::of_process());
    let (mut left, mut right) = (Features::default(), Features::default());
    analyser.read(&a.text, &mut left);
    analyser.read(&b.text, &mut right);
    let view = View { context: (!args.all).then_some(CONTEXT), ..View::whole() };
    let comparison = compare(&a.side(&left), &b.side(&right), &view);
    let measured = Measurements {
        a: &a,
        b: &b,
        shingle: args.shingle.get(),
        overlap: Overlap::of(&left, &right, args.shingle.get()),
        edit: edit_similarity(&left, &right),
        comparison: &comparison,
    };
    let mut out = io::BufWriter::new(io::stdout().lock());
    if args.json {
        write_json(&mut out, &measured)?;
    } else {
        write_head(&mut out, &measured)?;
        let colours = in_colour(args.color, std::env::var_os("NO_COLOR"), io::stdout().is_terminal());
        write_words(&mut out, &comparison.segments, if colours { &COLOURS } else { &MARKS })?;
    }
    out.flush()?;
    Ok(Outcome::Done)
}

/// A reference to a document: a corpus, and an id in it.
#[derive(Debug, PartialEq, Eq)]
struct DocumentRef<'a> {
    corpus: OsString,
    /// Its id; without one, the only document there.
    id: Option<&'a str>,
}

impl<'a> DocumentRef<'a> {
    /// Takes `corpus#id` apart. A file whose name has a `#` in it is that file.
    fn of(typed: &'a OsStr) -> Self {
        let whole = DocumentRef { corpus: typed.to_owned(), id: None };
        let Some(text) = typed.to_str() else { return whole };
        if Path::new(typed).exists() {
            return whole;
        }
        let is_there = |corpus: &str| corpus == "-" || Path::new(corpus).exists();
        let splits = || text.match_indices('#').map(|(at, _)| (&text[..at], &text[at + 1..]));
        // Patterns and addresses are not there as files; no # is to be expected in them.
        let split = splits().find(|(corpus, _)| is_there(corpus)).or_else(|| splits().next());
        split.map_or(whole, |(corpus, id)| DocumentRef { corpus: corpus.into(), id: Some(id) })
    }

    fn read(&self, reading: &ReadingArgs, watch: &Watch) -> Result<Page, Failure> {
        let corpus = Corpus::open(&[&self.corpus], reading.options())?;
        let mut rejections = Rejections::new(None)?;
        let mut pages = Vec::new();
        for shard in corpus.shards() {
            walk::documents_while(shard, corpus.options(), reading.content_mode(), watch, |found| {
                match found {
                    WalkItem::Rejected(rejection) => rejections.report(&shard.name, &rejection)?,
                    WalkItem::Document { document, text } if self.id.is_none_or(|id| id == document.id) => {
                        let url = document.url.map(str::to_owned);
                        pages.push(Page { id: document.id.to_owned(), url, text: text.to_owned() });
                    }
                    _ => {}
                }
                Ok::<_, WalkError>(pages.len() < self.max_matches())
            })?;
            if pages.len() == self.max_matches() {
                break;
            }
        }
        self.require_one(pages)
    }

    /// Returns the number of documents after which the search ends: one with the id, or without an id two, which is one too many.
    fn max_matches(&self) -> usize {
        if self.id.is_some() { 1 } else { 2 }
    }

    fn require_one(&self, mut pages: Vec<Page>) -> Result<Page, Failure> {
        let corpus = visible(&self.corpus.to_string_lossy());
        match (pages.pop(), pages.pop(), self.id) {
            (Some(page), None, _) => Ok(page),
            (Some(_), Some(first), _) => Err(Failure::Usage(format!(
                "{corpus} holds several documents; name one by its id, as in {corpus}#{}",
                visible(&first.id)
            ))),
            (None, _, Some(id)) => {
                Err(Failure::Missing(format!("{corpus} holds no document with the id {}", visible(id))))
            }
            (None, _, None) => Err(Failure::Missing(format!("{corpus} holds no document"))),
        }
    }
}

/// The document of a reference.
#[derive(Debug)]
struct Page {
    id: String,
    url: Option<String>,
    text: String,
}

impl Page {
    fn side<'a>(&'a self, features: &'a Features) -> Side<'a> {
        Side::new(&self.text, features).at(self.url.as_deref())
    }
}

/// The measurements between two documents.
struct Measurements<'a> {
    a: &'a Page,
    b: &'a Page,
    shingle: usize,
    overlap: Overlap,
    edit: Option<f64>,
    comparison: &'a Comparison,
}

/// The object of `--json`.
#[derive(Serialize)]
struct DiffJson<'a> {
    a: JsonSide<'a>,
    b: JsonSide<'a>,
    shingle: usize,
    shared_shingles: u64,
    jaccard: Option<f64>,
    edit: Option<f64>,
    #[serde(flatten)]
    comparison: &'a Comparison,
}

#[derive(Serialize)]
struct JsonSide<'a> {
    id: &'a str,
    url: Option<&'a str>,
    shingles: u64,
    /// The share of its shingles that are in the other.
    containment: Option<f64>,
}

fn write_json(out: &mut impl Write, measured: &Measurements<'_>) -> io::Result<()> {
    let Measurements { a, b, shingle, overlap, edit, comparison } = *measured;
    // As in all other files: nine decimals.
    let rounded = |share: f64| (share * 1e9).round() / 1e9;
    let json = DiffJson {
        a: JsonSide {
            id: &a.id,
            url: a.url.as_deref(),
            shingles: overlap.a,
            containment: overlap.of_a().map(rounded),
        },
        b: JsonSide {
            id: &b.id,
            url: b.url.as_deref(),
            shingles: overlap.b,
            containment: overlap.of_b().map(rounded),
        },
        shingle,
        shared_shingles: overlap.shared,
        jaccard: overlap.jaccard().map(rounded),
        edit: edit.map(rounded),
        comparison,
    };
    serde_json::to_writer(&mut *out, &json)?;
    writeln!(out)
}

fn write_head(out: &mut impl Write, measured: &Measurements<'_>) -> io::Result<()> {
    let Measurements { a, b, shingle, overlap, edit, comparison } = measured;
    write_side(out, 'A', a, comparison.words_a)?;
    write_side(out, 'B', b, comparison.words_b)?;
    let share = |share: Option<f64>| share.map_or("not measured".to_owned(), |share| format!("{share:.4}"));
    writeln!(out, "jaccard      {}  on shingles of {}", share(overlap.jaccard()), words(*shingle as u64))?;
    writeln!(out, "containment  {}  of A in B, {} of B in A", share(overlap.of_a()), share(overlap.of_b()))?;
    writeln!(out, "edit         {}", share(*edit))?;
    writeln!(out, "kind         {}: {}", comparison.kind, comparison.kind.meaning())?;
    writeln!(out)
}

fn write_side(out: &mut impl Write, letter: char, page: &Page, count: u64) -> io::Result<()> {
    write!(out, "{letter}  {}", visible(&page.id))?;
    if let Some(url) = &page.url {
        write!(out, "  {}", visible(url))?;
    }
    writeln!(out, "  ({})", words(count))
}

fn words(count: u64) -> String {
    format!("{} {}", thousands(count), if count == 1 { "word" } else { "words" })
}

/// The strings before and after removed, added and folded words.
struct Delimiters {
    removed: (&'static str, &'static str),
    added: (&'static str, &'static str),
    fold: (&'static str, &'static str),
}

const MARKS: Delimiters = Delimiters { removed: ("[-", "-]"), added: ("{+", "+}"), fold: ("", "") };

const COLOURS: Delimiters = Delimiters {
    removed: ("\x1b[31m", "\x1b[0m"),
    added: ("\x1b[32m", "\x1b[0m"),
    fold: ("\x1b[2m", "\x1b[0m"),
};

/// `refused` is the variable NO_COLOR, of which any value but an empty one says no (<https://no-color.org>).
fn in_colour(choice: ColorArg, refused: Option<OsString>, terminal: bool) -> bool {
    match choice {
        ColorArg::Always => true,
        ColorArg::Never => false,
        ColorArg::Auto => terminal && refused.is_none_or(|value| value.is_empty()),
    }
}

fn write_words(out: &mut impl Write, segments: &[Segment], delimiters: &Delimiters) -> io::Result<()> {
    let mut blank = "";
    for (index, segment) in segments.iter().enumerate() {
        // Nothing between what was and what stands there now.
        let replaces = segment.change == Change::Added
            && index > 0
            && segments[index - 1].change == Change::Removed
            && segment.text.is_some();
        out.write_all(if replaces { b"" } else { blank.as_bytes() })?;
        blank = match &segment.text {
            Some(text) => write_text(out, segment.change, text, delimiters)?,
            None => {
                let (begin, end) = delimiters.fold;
                write!(out, "{begin}… {} …{end}", folded(segment))?;
                " "
            }
        };
    }
    writeln!(out)
}

/// Writes words, and returns the blanks behind them that stay outside of the marks.
fn write_text<'t>(
    out: &mut impl Write,
    change: Change,
    text: &'t str,
    delimiters: &Delimiters,
) -> io::Result<&'t str> {
    let core = text.trim_end();
    let (begin, end) = match change {
        Change::Removed => delimiters.removed,
        Change::Added => delimiters.added,
        Change::Equal | Change::Uncompared => ("", ""),
    };
    // Line by line: pagers forget a colour at the end of a line.
    for (number, line) in core.split('\n').enumerate() {
        out.write_all(if number > 0 { b"\n" } else { b"" })?;
        if !line.trim().is_empty() {
            write!(out, "{begin}{}{end}", visible(line.trim_end_matches('\r')))?;
        }
    }
    let blanks = &text[core.len()..];
    // Blanks other than these are not for terminals.
    Ok(if blanks.contains('\n') {
        "\n"
    } else if blanks.is_empty() {
        ""
    } else {
        " "
    })
}

fn folded(segment: &Segment) -> String {
    let count = thousands(segment.words);
    let word = if segment.words == 1 { "word" } else { "words" };
    match segment.change {
        Change::Equal => format!("{count} equal {word}"),
        Change::Uncompared => format!("{count} {word} not compared"),
        Change::Removed => format!("{count} more {word} only in A"),
        Change::Added => format!("{count} more {word} only in B"),
    }
}

/// A line that a terminal shows instead of obeying it: control characters, and those that turn the direction of
/// writing, by their numbers.
fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        let turns = matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        if turns || (c.is_control() && c != '\t') {
            out.extend(c.escape_unicode());
        } else {
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_is_named_by_its_corpus_and_id() {
        let name = |corpus: &str, id| DocumentRef { corpus: corpus.into(), id };
        assert_eq!(DocumentRef::of("gone.jsonl#a#b".as_ref()), name("gone.jsonl", Some("a#b")));
        assert_eq!(DocumentRef::of("s3://bucket/x.jsonl#7".as_ref()), name("s3://bucket/x.jsonl", Some("7")));
        assert_eq!(DocumentRef::of("-#7".as_ref()), name("-", Some("7")));
        assert_eq!(DocumentRef::of("gone.txt".as_ref()), name("gone.txt", None));
        let folder = tempfile::tempdir().unwrap();
        let odd = folder.path().join("odd#name.txt");
        std::fs::write(&odd, "x").unwrap();
        let odd = odd.to_str().unwrap();
        assert_eq!(DocumentRef::of(odd.as_ref()), name(odd, None));
        assert_eq!(DocumentRef::of(format!("{odd}#7").as_ref()), name(odd, Some("7")));
    }

    #[test]
    fn colours_follow_the_option_then_the_variable_then_the_terminal() {
        assert!(in_colour(ColorArg::Always, Some("1".into()), false));
        assert!(!in_colour(ColorArg::Never, None, true));
        assert!(in_colour(ColorArg::Auto, None, true) && in_colour(ColorArg::Auto, Some("".into()), true));
        assert!(
            !in_colour(ColorArg::Auto, Some("1".into()), true) && !in_colour(ColorArg::Auto, None, false)
        );
    }

    #[test]
    fn a_terminal_is_told_nothing_by_a_document() {
        assert_eq!(
            visible("a\x1b[2J\u{9b}31m\r\u{202e}b\tc\n"),
            "a\\u{1b}[2J\\u{9b}31m\\u{d}\\u{202e}b\tc\\u{a}"
        );
    }
}
