//! Two crawls as files.
//!
//! | file | what is in it |
//! |---|---|
//! | `old.jsonl` | the old crawl: `{"id","url","text"}` or `{"id","url","html"}` a line |
//! | `new-00.jsonl` … | the segments of the new crawl, the same |
//! | `qrels.txt` | `topic 0 document grade` for judged documents of the old crawl, by topic and document |
//! | `truth.jsonl` | a [`JudgedPage`](super::JudgedPage) a line, in the order of `old.jsonl` |
//!
//! ```json
//! {"document":"old-00000007","url":"http://www.bedaro.com/news/7","fate":"edited","judgments":[{"topic":3,"grade":2}],
//!  "copies":[{"document":"new-00000007-0","url":"http://www.bedaro.com/news/7","segment":11,"kind":"page","address":"same",
//!             "intersection":190,"union":200,"jaccard":0.95}]}
//! ```

use std::io::{self, Write};

use super::judging::Judgment;
use super::{CrawlItem, CrawlPage, Crawls, NEAR};
use crate::jsonl::page_line;

/// The writers of the files of two crawls.
pub struct Files<W> {
    /// The old crawl.
    pub old: W,
    /// The segments of the new one, as many as it has.
    pub new: Vec<W>,
    /// The judgments.
    pub judgments: W,
    /// The truth.
    pub truth: W,
}

/// Counts of the documents, judgments and pairs that have been written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WrittenCounts {
    /// Documents of the old crawl.
    pub old: u64,
    /// Documents of the new one.
    pub new: u64,
    /// Documents that were judged.
    pub judged: u64,
    /// Judgments.
    pub judgments: u64,
    /// Judged documents with a near-duplicate in the new crawl.
    pub found_again: u64,
    /// Pairs of a judged document and a near-duplicate of it.
    pub pairs: u64,
}

/// The name of a segment's file.
pub fn segment_name(segment: u32) -> String {
    format!("new-{segment:02}.jsonl")
}

/// Writes both crawls, the judgments and the truth. Each line is handed over in one piece. Judgments are held until the end, 16
/// bytes each; nothing else grows.
///
/// # Errors
/// The errors of the writers.
pub fn write<W: Write>(crawls: &Crawls, files: &mut Files<W>) -> io::Result<WrittenCounts> {
    let mut written = WrittenCounts::default();
    let mut judgments: Vec<(u32, u64, i8)> = Vec::new();
    let mut line = Vec::new();
    crawls.visit(|item| {
        line.clear();
        match item {
            CrawlItem::Old(page) => {
                page.write_line(&mut line)?;
                files.old.write_all(&line)?;
                written.old += 1;
            }
            CrawlItem::New { segment, page } => {
                page.write_line(&mut line)?;
                files.new[segment as usize].write_all(&line)?;
                written.new += 1;
            }
            CrawlItem::Judged(page) => {
                serde_json::to_writer(&mut line, page)?;
                line.push(b'\n');
                files.truth.write_all(&line)?;
                let number = page.document.trim_start_matches("old-").parse().map_err(io::Error::other)?;
                judgments
                    .extend(page.judgments.iter().map(|Judgment { topic, grade }| (*topic, number, *grade)));
                let near = page.copies.iter().filter(|copy| copy.jaccard >= NEAR).count() as u64;
                written.judged += 1;
                written.pairs += near;
                written.found_again += u64::from(near > 0);
            }
        }
        Ok::<(), io::Error>(())
    })?;
    judgments.sort_unstable();
    for &(topic, document, grade) in &judgments {
        let line = format!("{topic} 0 {} {grade}\n", super::old_name(document));
        files.judgments.write_all(line.as_bytes())?;
    }
    written.judgments = judgments.len() as u64;
    Ok(written)
}

impl CrawlPage<'_> {
    /// Appends the page as a line of JSON.
    ///
    /// # Errors
    /// None: memory can be written.
    pub fn write_line(&self, line: &mut Vec<u8>) -> io::Result<()> {
        page_line(self.id, self.url, self.media, self.content, line)
    }
}
