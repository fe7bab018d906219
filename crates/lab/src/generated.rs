//! Collections for experiments on machines that have none: made from a seed, with near-duplicates planted in them.

use std::convert::Infallible;
use std::sync::Arc;

use lookalike::corpus::{Corpus, ReadOptions};
use lookalike::generate::crawls::{CrawlItem, CrawlPage, Crawls};
use lookalike::generate::{Plan, write_jsonl};
use lookalike::model::Media;
use serde::Serialize;

use crate::collection::{Collection, CollectionKind};
use crate::draws::Draws;

/// Documents of a generated collection.
const DOCUMENTS: u64 = 4_000;
/// Pages that have revisions, and revisions of each.
const PAGES: u64 = 120;
const REVISIONS: u64 = 8;
/// Campaigns of spam, messages of each, and legitimate messages.
const CAMPAIGNS: u64 = 60;
const MESSAGES: u64 = 12;
const LEGITIMATE: u64 = 1_200;

/// A collection of this kind.
pub fn collection(kind: CollectionKind, seed: u64) -> Collection {
    let lines = match kind {
        CollectionKind::Crawls => crawls(seed),
        CollectionKind::News => web(DOCUMENTS, seed),
        CollectionKind::Revisions => revisions(seed),
        CollectionKind::Mail => mail(seed),
    };
    let corpus = Corpus::in_memory("generated.jsonl", lines, ReadOptions::default());
    let name = format!("generated {}", kind.name());
    Collection { name, corpus, content: kind.content(), generated: true }
}

/// Pages of a make-believe web, as lines.
fn web(documents: u64, seed: u64) -> Arc<[u8]> {
    let mut lines = Vec::new();
    write_jsonl(Plan { documents, seed }, &mut lines, &mut std::io::sink()).expect("memory can be written");
    lines.into()
}

/// Two crawls of a make-believe web as lines, the field `snapshot` being 1 for all pages of the first and 2 for those of the
/// second, which come after them.
fn crawls(seed: u64) -> Arc<[u8]> {
    let (mut old, mut new) = (Vec::new(), Vec::new());
    let crawls = Crawls { old: DOCUMENTS / 2, new: DOCUMENTS / 2, judged: 0, segments: 1, seed };
    let Ok(()) = crawls.visit(|met| {
        match met {
            CrawlItem::Old(page) => write_line(&mut old, &crawled_line(&page, 1)),
            CrawlItem::New { page, .. } => write_line(&mut new, &crawled_line(&page, 2)),
            CrawlItem::Judged(_) => {}
        }
        Ok::<(), Infallible>(())
    });
    old.append(&mut new);
    old.into()
}

/// A page of a crawl as a line.
#[derive(Serialize)]
struct CrawledLine<'p> {
    id: &'p str,
    url: &'p str,
    snapshot: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'p str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    html: Option<&'p str>,
}

fn crawled_line<'p>(page: &CrawlPage<'p>, snapshot: u32) -> CrawledLine<'p> {
    let (text, html) = match page.media {
        Media::Html => (None, Some(page.content)),
        _ => (Some(page.content), None),
    };
    CrawledLine { id: page.id, url: page.url, snapshot, text, html }
}

/// A document of a generated collection.
#[derive(Serialize)]
struct Line<'l> {
    id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    page: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    revno: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    group: Option<&'l str>,
    text: String,
}

fn write_line(lines: &mut Vec<u8>, line: &impl Serialize) {
    serde_json::to_writer(&mut *lines, line).expect("memory can be written");
    lines.push(b'\n');
}

/// Plain texts of a make-believe web, as words with their punctuation; short ones are left out.
fn texts(count: u64, seed: u64) -> Vec<Vec<String>> {
    let mut documents = Plan { documents: 20 * count, seed }.documents();
    let mut texts = Vec::new();
    while let Some(document) = documents.next() {
        // One of a family is enough: here the copies are made by hand.
        let alone = document.group.is_none() && document.media == Media::Text;
        let words: Vec<String> = document.content.split(' ').map(str::to_owned).collect();
        if alone && words.len() >= 120 {
            texts.push(words);
            if texts.len() as u64 == count {
                break;
            }
        }
    }
    texts
}

/// Makes `edits` changes: words are left out, added, or exchanged for others of the same text.
fn edit(words: &mut Vec<String>, edits: usize, draws: &mut Draws) {
    for _ in 0..edits {
        let (at, other) = (draws.below(words.len()), draws.below(words.len()));
        let word = words[other].clone();
        match draws.below(3) {
            0 if words.len() > 20 => drop(words.remove(at)),
            1 => words.insert(at, word),
            _ => words[at] = word,
        }
    }
}

/// Pages in several revisions, the newest first; most edits are small.
fn revisions(seed: u64) -> Arc<[u8]> {
    let mut lines = Vec::new();
    for (page, mut words) in texts(PAGES, seed).into_iter().enumerate() {
        let mut draws = Draws::new(seed, page as u64);
        for revision in (1..=REVISIONS).rev() {
            write_line(
                &mut lines,
                &Line {
                    id: format!("page-{page}@{revision}"),
                    page: Some(format!("page-{page}")),
                    revno: Some(revision),
                    group: None,
                    text: words.join(" "),
                },
            );
            let edits = [1, 2, 4, 8, 30, 120][draws.below(6)];
            edit(&mut words, edits, &mut draws);
        }
    }
    lines.into()
}

/// Campaigns of spam, each a text with a few words changed for every message, among legitimate messages.
fn mail(seed: u64) -> Arc<[u8]> {
    let mut lines = Vec::new();
    let mut texts = texts(CAMPAIGNS + LEGITIMATE, seed).into_iter();
    for campaign in 0..CAMPAIGNS {
        let Some(words) = texts.next() else { break };
        for message in 0..MESSAGES {
            let mut draws = Draws::new(seed, campaign * MESSAGES + message);
            let mut words = words.clone();
            let edits = draws.below(12);
            edit(&mut words, edits, &mut draws);
            let id = format!("spam-{campaign}-{message}");
            write_line(
                &mut lines,
                &Line { id, page: None, revno: None, group: Some("spam"), text: words.join(" ") },
            );
        }
    }
    for (message, words) in texts.enumerate() {
        let id = format!("ham-{message}");
        write_line(
            &mut lines,
            &Line { id, page: None, revno: None, group: Some("ham"), text: words.join(" ") },
        );
    }
    lines.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use lookalike::walk::Watch;

    #[test]
    fn every_kind_has_documents_with_its_fields() {
        for (kind, fields) in [
            (CollectionKind::News, &[][..]),
            (CollectionKind::Mail, &["group"]),
            (CollectionKind::Revisions, &["page", "revno"]),
            (CollectionKind::Crawls, &["snapshot"]),
        ] {
            let collection = collection(kind, 1);
            let items = collection.items(usize::MAX, 1, fields, &Watch::default()).unwrap();
            assert!(items.len() > 500, "{kind:?}: {}", items.len());
            assert!(items.iter().all(|item| item.extras.iter().all(Option::is_some)), "{kind:?}");
            let again = super::collection(kind, 1).items(usize::MAX, 1, fields, &Watch::default()).unwrap();
            assert_eq!(items, again);
        }
    }
}
