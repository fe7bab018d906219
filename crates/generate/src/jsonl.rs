//! A corpus and its truth as two files of JSON lines.
//!
//! Documents, in corpus order, one to a line:
//!
//! ```json
//! {"id":"page-00000000","url":"https://www.bedaro.example/news/0","text":"..."}
//! {"id":"page-00000001","url":"https://www.nilaso.example/shop/1","html":"<!DOCTYPE html>..."}
//! ```
//!
//! Truth, group by group, one planted pair to a line:
//!
//! ```json
//! {"group":12,"kind":"deletion","a":"page-00000310","b":"page-00000007","derived":true,"jaccard":0.8125,"intersection":13,"union":16}
//! ```
//!
//! - `group`: the same for all pairs of an original and its copies
//! - `kind`: how the copies were made, one of [`Kind`](crate::Kind) in kebab case
//! - `a`, `b`: the two documents; `a` is the original or the copy that was made first
//! - `derived`: true when `b` was made from `a`; false when both are copies of a third document
//! - `intersection`, `union`: word 5-grams in both and in either, as sets, as profile `web` sees the visible
//!   text (for HTML the title and the body without scripts and styles); under five words the whole page is one
//! - `jaccard`: `intersection` / `union`
//!
//! The pairs that are listed are described in [`truth`](crate::truth). A pair that is not listed is unrelated, unless
//! both documents belong to one cluster.

use std::io::{self, Write};
use std::sync::Arc;

use lookalike_model::Media;

use crate::phrasebook::Phrasebook;
use crate::{Documents, Plan, Truth};

/// Counts of the documents, pairs and bytes that have been written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WrittenCounts {
    /// Number of documents.
    pub documents: u64,
    /// Bytes of the document file.
    pub document_bytes: u64,
    /// Number of planted pairs.
    pub pairs: u64,
    /// Bytes of the truth file.
    pub truth_bytes: u64,
}

/// Writes all documents of a plan to `documents` and its truth to `truth`.
///
/// Each line is handed over in one piece, so the writers need no buffer of their own unless lines are short.
///
/// # Errors
/// The errors of the writers.
pub fn write_jsonl(
    plan: Plan,
    documents: &mut impl Write,
    truth: &mut impl Write,
) -> io::Result<WrittenCounts> {
    let book = Arc::new(Phrasebook::new());
    let mut written = WrittenCounts::default();
    write_documents(plan.documents_with(Arc::clone(&book)), documents, &mut written)?;
    write_truth(plan.truth_with(book), truth, &mut written)?;
    Ok(written)
}

fn write_documents(mut from: Documents, to: &mut impl Write, written: &mut WrittenCounts) -> io::Result<()> {
    let mut line = Vec::new();
    while let Some(document) = from.next() {
        line.clear();
        page_line(document.id, document.url, document.media, document.content, &mut line)?;
        to.write_all(&line)?;
        written.documents += 1;
        written.document_bytes += line.len() as u64;
    }
    to.flush()
}

/// A page as a line. Names and addresses are plain ASCII and need no escapes.
pub(crate) fn page_line(
    id: &str,
    url: &str,
    media: Media,
    content: &str,
    line: &mut Vec<u8>,
) -> io::Result<()> {
    let field = if media == Media::Html { "html" } else { "text" };
    write!(line, "{{\"id\":\"{id}\",\"url\":\"{url}\",\"{field}\":")?;
    serde_json::to_writer(&mut *line, content)?;
    line.extend_from_slice(b"}\n");
    Ok(())
}

fn write_truth(from: Truth, to: &mut impl Write, written: &mut WrittenCounts) -> io::Result<()> {
    let mut line = Vec::new();
    for pair in from {
        line.clear();
        serde_json::to_writer(&mut line, &pair.to_line())?;
        line.push(b'\n');
        to.write_all(&line)?;
        written.pairs += 1;
        written.truth_bytes += line.len() as u64;
    }
    to.flush()
}
