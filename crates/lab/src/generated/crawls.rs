//! A site at two times: most pages stay, some are edited, some are gone, some moved, some new.

use std::sync::Arc;

use lookalike::generate::{Generated, Plan};
use lookalike::model::Media;
use lookalike_census::random::Random;
use serde::Serialize;

/// What becomes of a page between the two times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Same,
    /// One word in 50 is another.
    Edited,
    /// One word in three is another.
    Rewritten,
    Gone,
    /// The same text at another address.
    Moved,
    New,
}

impl Fate {
    /// Drawn for each page.
    fn of(random: &mut Random) -> Self {
        match random.below(100) {
            0..40 => Fate::Same,
            40..65 => Fate::Edited,
            65..80 => Fate::Rewritten,
            80..90 => Fate::Gone,
            90..95 => Fate::Moved,
            _ => Fate::New,
        }
    }
}

/// A page as a line.
#[derive(Serialize)]
struct Line<'p> {
    id: String,
    url: &'p str,
    snapshot: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'p str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    html: Option<&'p str>,
}

/// Both times of a site of so many pages as JSON lines, the field `snapshot` being 1 for all pages of the first time and 2 for
/// those of the second, which come after them.
pub(super) fn two(pages: u64, seed: u64) -> Arc<[u8]> {
    let (mut old, mut new) = (Vec::new(), Vec::new());
    let mut documents = Plan { documents: pages, seed }.documents();
    // Words for edits come from the page before.
    let mut words: Vec<String> = Vec::new();
    while let Some(page) = documents.next() {
        let mut random = Random::part(seed, page.position);
        let fate = Fate::of(&mut random);
        if fate != Fate::New {
            write(&mut old, &page, 1, page.url, page.content);
        }
        let moved = format!("{}/moved", page.url);
        let url = if fate == Fate::Moved { &moved } else { page.url };
        let share = match fate {
            Fate::Edited => 0.02,
            Fate::Rewritten => 0.33,
            _ => 0.0,
        };
        if fate != Fate::Gone {
            let content = edited(page.content, page.media, share, &words, &mut random);
            write(&mut new, &page, 2, url, &content);
        }
        words = plain_words(page.content, page.media);
    }
    old.append(&mut new);
    old.into()
}

fn write(lines: &mut Vec<u8>, page: &Generated<'_>, snapshot: u32, url: &str, content: &str) {
    let (text, html) = match page.media {
        Media::Html => (None, Some(content)),
        _ => (Some(content), None),
    };
    let time = if snapshot == 1 { "old" } else { "new" };
    let line = Line { id: format!("{time}-{}", page.id), url, snapshot, text, html };
    serde_json::to_writer(&mut *lines, &line).expect("memory can be written");
    lines.push(b'\n');
}

/// The content with about this share of its words replaced.
fn edited(content: &str, media: Media, share: f64, words: &[String], random: &mut Random) -> String {
    let mut edited = String::with_capacity(content.len());
    pieces(content, media, |piece, is_word| match random.pick(words) {
        Some(word) if is_word && random.chance(share) => edited.push_str(word),
        _ => edited.push_str(piece),
    });
    edited
}

/// The plain words of a page, in their order.
fn plain_words(content: &str, media: Media) -> Vec<String> {
    let mut words = Vec::new();
    pieces(content, media, |piece, is_word| {
        if is_word {
            words.push(piece.to_owned());
        }
    });
    words
}

/// Takes a page apart without loss: words that may be replaced, and everything between them. Tags and what they hold are no
/// words, nor are entities.
fn pieces(content: &str, media: Media, mut each: impl FnMut(&str, bool)) {
    let mut in_tag = false;
    for token in content.split_inclusive(|c: char| c.is_whitespace() || c == '<' || c == '>') {
        let (body, end) = match token.char_indices().next_back() {
            Some((at, c)) if c.is_whitespace() || c == '<' || c == '>' => token.split_at(at),
            _ => (token, ""),
        };
        let is_word = !in_tag && body.chars().count() > 2 && body.chars().all(char::is_alphanumeric);
        each(body, is_word);
        each(end, false);
        if media == Media::Html {
            in_tag = if in_tag { end != ">" } else { end == "<" };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_taken_apart_without_loss_and_tags_stay_whole() {
        let page = "<p class=\"lead\">One two, three &amp; four<b>five</b> 1 < 2\n";
        let mut whole = String::new();
        pieces(page, Media::Html, |piece, _| whole.push_str(piece));
        assert_eq!(whole, page);
        assert_eq!(plain_words(page, Media::Html), ["One", "three", "four", "five"]);
        let edited = edited(page, Media::Html, 1.0, &["word".to_owned()], &mut Random::new(1));
        assert_eq!(edited, "<p class=\"lead\">word two, word &amp; word<b>word</b> 1 < 2\n");
    }

    #[test]
    fn most_pages_live_on() {
        let lines = two(300, 3);
        assert_eq!(lines, two(300, 3));
        let (mut urls, mut ids) = ([Vec::new(), Vec::new()], Vec::new());
        for line in lines.split(|&b| b == b'\n').filter(|line| !line.is_empty()) {
            let line: serde_json::Value = serde_json::from_slice(line).unwrap();
            let time = line["snapshot"].as_u64().unwrap() as usize - 1;
            urls[time].push(line["url"].as_str().unwrap().to_owned());
            ids.push(line["id"].as_str().unwrap().to_owned());
            assert!(line["text"].is_string() != line["html"].is_string());
        }
        let [old, new] = &urls;
        let shared = old.iter().filter(|url| new.contains(url)).count() as f64 / old.len() as f64;
        assert!((0.78..0.92).contains(&shared), "{shared}");
        assert!(old.len() < 300 && new.len() < 300 && new.iter().any(|url| url.ends_with("/moved")));
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), old.len() + new.len());
    }
}
