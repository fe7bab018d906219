//! A page with some of its words changed, until it is as similar as it should be.

use std::ops::Range;

use lookalike_model::{Content, Document, Extras, Media, RecordPosition};
use lookalike_text::extract::{ContentMode, Extractor};
use lookalike_text::{Analyser, Features, Profile};

use crate::coin::{COINABLE, coin};
use crate::random::Random;

/// Most shares of changed words that are tried.
const TRIES: u32 = 24;

/// Reads pages as profile `web` does.
pub(super) struct WordReader {
    extractor: Extractor,
    analyser: Analyser,
    features: Features,
}

impl WordReader {
    pub(super) fn new() -> Self {
        let (extractor, features) = Default::default();
        WordReader { extractor, analyser: Analyser::new(&Profile::web()), features }
    }

    /// The set of words of a page: their hashes, ascending.
    pub(super) fn of(&mut self, content: &str, media: Media) -> Vec<u64> {
        let document = Document {
            id: "",
            url: None,
            media,
            content: Content::Unicode(content),
            place: RecordPosition { record: 0, position: 0 },
            raw: None,
            extras: Extras::default(),
        };
        let text = self.extractor.extract(&document, ContentMode::Page).text;
        self.analyser.read(text, &mut self.features);
        let mut words = Vec::new();
        self.features.shingles(1, &mut words);
        words
    }
}

/// Counts the words that two ascending sets share, and those in either.
pub(super) fn shared(a: &[u64], b: &[u64]) -> (u64, u64) {
    let (mut i, mut j, mut common) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        common += u64::from(a[i] == b[j]);
        (i, j) = (i + usize::from(a[i] <= b[j]), j + usize::from(b[j] <= a[i]));
    }
    (common, (a.len() + b.len()) as u64 - common)
}

/// Returns the content with enough of its words changed that its similarity to the original falls into the band, and its words.
/// A page with too few words for that comes as near as it can from above, or else stays as it is.
pub(super) fn revise(
    content: &str,
    media: Media,
    before: &[u64],
    band: Range<f64>,
    key: u64,
    words: &mut WordReader,
) -> (String, Vec<u64>) {
    let mut random = Random::new(key);
    let wanted = band.start + (band.end - band.start) * f64::from(random.below(1 << 20)) / f64::from(1 << 20);
    let (mut low, mut high) = (0.0, 1.0);
    // Of changed words about two thirds take something away or add something, and many are there several times.
    let mut share = (1.0 - wanted) / 2.0;
    let mut best: Option<(String, Vec<u64>)> = None;
    for _ in 0..TRIES {
        let text = changed(content, media, share, key);
        let after = words.of(&text, media);
        let (common, all) = shared(before, &after);
        let similarity = common as f64 / all.max(1) as f64;
        if band.contains(&similarity) {
            return (text, after);
        }
        if similarity < band.start {
            high = share;
        } else {
            low = share;
            best = Some((text, after));
        }
        share = (low + high) / 2.0;
    }
    best.unwrap_or_else(|| (content.to_owned(), before.to_vec()))
}

/// The content with about this share of its words left out, exchanged, or with another one before them. A larger share
/// changes the same words and more.
pub(super) fn changed(content: &str, media: Media, share: f64, key: u64) -> String {
    let mut random = Random::new(key);
    let limit = (share * f64::from(u32::MAX)) as u32;
    let mut changed = String::with_capacity(content.len());
    pieces(content, media, |piece, is_word| {
        if !is_word {
            changed.push_str(piece);
            return;
        }
        // As many draws for each word, whatever becomes of it.
        let (lot, how, other) = (random.next() as u32, random.below(3), random.next());
        if lot >= limit {
            changed.push_str(piece);
            return;
        }
        if how > 0 {
            coin(COINABLE / 2 + other % (COINABLE / 2), &mut changed);
        }
        if how == 2 {
            changed.push(' ');
            changed.push_str(piece);
        }
    });
    changed
}

/// Takes a page apart without loss: words that may be changed, and everything between them. Tags and what they hold are no
/// words, nor is anything with an entity in it.
fn pieces(content: &str, media: Media, mut each: impl FnMut(&str, bool)) {
    let mut in_tag = false;
    for token in content.split_inclusive(|c: char| c.is_whitespace() || c == '<' || c == '>') {
        let (body, end) = match token.char_indices().next_back() {
            Some((at, c)) if c.is_whitespace() || c == '<' || c == '>' => token.split_at(at),
            _ => (token, ""),
        };
        let rest = body.trim_start_matches(|c: char| c.is_ascii_punctuation());
        let word = rest.trim_end_matches(|c: char| c.is_ascii_punctuation());
        let whole = media != Media::Html || !in_tag && !body.contains('&');
        each(&body[..body.len() - rest.len()], false);
        each(word, whole && word.chars().count() > 2);
        each(&rest[word.len()..], false);
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
        let (mut whole, mut words) = (String::new(), Vec::new());
        pieces(page, Media::Html, |piece, is_word| {
            whole.push_str(piece);
            words.extend(is_word.then(|| piece.to_owned()));
        });
        assert_eq!(whole, page);
        assert_eq!(words, ["One", "two", "three", "four", "five"]);
        assert_eq!(changed(page, Media::Html, 0.0, 1), page);
        let all = changed(page, Media::Html, 1.0, 1);
        assert!(all.starts_with("<p class=\"lead\">") && all.ends_with("</b> 1 < 2\n"), "{all}");
        assert!(all.contains(" &amp; ") && !all.contains(" two"), "{all}");
    }

    #[test]
    fn revisions_fall_into_their_band() {
        let text: Vec<String> = (0..300).map(|number| format!("word{}", number % 170)).collect();
        let text = text.join(" ");
        let mut words = WordReader::new();
        let before = words.of(&text, Media::Text);
        for band in [0.9..1.0, 0.75..0.9, 0.2..0.75] {
            for key in 0..20 {
                let (after, set) = revise(&text, Media::Text, &before, band.clone(), key, &mut words);
                assert_eq!(set, words.of(&after, Media::Text));
                let (common, all) = shared(&before, &set);
                assert!(band.contains(&(common as f64 / all as f64)), "{common} of {all} for {band:?}");
            }
        }
    }

    #[test]
    fn pages_of_one_word_stay_what_they_are() {
        let mut words = WordReader::new();
        for text in ["", "one", "de la"] {
            let before = words.of(text, Media::Text);
            let (after, set) = revise(text, Media::Text, &before, 0.9..1.0, 3, &mut words);
            assert_eq!((after.as_str(), set), (text, before));
        }
    }
}
