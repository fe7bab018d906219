//! Real pages and messages, where the shared collection of them is at hand.
#![expect(clippy::print_stderr, reason = "a skipped or measured test says so")]

use std::io::BufReader;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use lookalike_model::Span;
use serde_json::Value;

use super::content::{MainContent, Outcome};
use super::email::{email, looks_like_email};
use super::html::{html, tests};
use super::*;

const PAGES: [&str; 4] = [
    "two-crawls/postgresql/docs-old.jsonl.zst",
    "two-crawls/postgresql/docs-new.jsonl.zst",
    "multilingual/libreoffice-help-ru.jsonl.zst",
    "multilingual/libreoffice-help-ja.jsonl.zst",
];

/// The values of `field` in a shared file; nothing, and a note, if it is not there.
fn shared(path: &str, field: &str) -> Vec<String> {
    let root = std::env::var_os("LOOKALIKE_SHARED")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared"), PathBuf::from);
    let path = root.join("data").join(path);
    let Ok(file) = std::fs::File::open(&path) else {
        eprintln!("skipped: no {}", path.display());
        return Vec::new();
    };
    let reader = BufReader::new(zstd::Decoder::new(file).unwrap());
    let records = serde_json::Deserializer::from_reader(reader).into_iter::<Value>();
    records.map(|record| record.unwrap()[field].as_str().unwrap().to_owned()).collect()
}

fn megabytes_per_second(bytes: usize, time: Duration) -> f64 {
    bytes as f64 / 1e6 / time.as_secs_f64()
}

#[test]
fn real_pages_have_the_text_of_the_standards_tokenizer() {
    let mut out = Extracted::default();
    for page in PAGES.iter().flat_map(|path| shared(path, "html")).step_by(8) {
        html(&page, &mut out);
        tests::check(&page, &out);
        assert_eq!(out.text, tests::standard(&page));
    }
}

#[test]
fn real_pages_are_read_fast_and_mostly_have_main_content() {
    for path in PAGES {
        let pages = shared(path, "html");
        if pages.is_empty() {
            return;
        }
        let mut out = Extracted::default();
        let mut main = MainContent::default();
        let (mut time, mut main_time) = (Duration::ZERO, Duration::ZERO);
        let (mut bytes, mut text, mut main_text, mut reduced) = (0, 0, 0, 0);
        for page in &pages {
            let start = Instant::now();
            html(page, &mut out);
            time += start.elapsed();
            (bytes, text) = (bytes + page.len(), text + out.text.len());
            let start = Instant::now();
            reduced += usize::from(main.reduce(&mut out) == Outcome::Reduced);
            main_time += start.elapsed();
            main_text += out.text.len();
        }
        eprintln!(
            "{path}: {} pages, {:.1} MB, text {:.1} MB at {:.0} MB/s; main content {:.1} MB of {reduced} pages, \
             with it {:.0} MB/s",
            pages.len(),
            bytes as f64 / 1e6,
            text as f64 / 1e6,
            megabytes_per_second(bytes, time),
            main_text as f64 / 1e6,
            megabytes_per_second(bytes, time + main_time),
        );
        assert!(
            reduced * 2 > pages.len() || path.starts_with("multilingual"),
            "most pages have main content"
        );
    }
}

#[test]
fn real_messages_have_a_text() {
    let messages = shared("spam/spam-assassin.jsonl.zst", "text");
    let mut out = Extracted::default();
    let (mut bytes, mut recognised, mut empty) = (0, 0, 0);
    let mut time = Duration::ZERO;
    for message in &messages {
        let start = Instant::now();
        email(message.as_bytes(), &mut out);
        time += start.elapsed();
        bytes += message.len();
        recognised += usize::from(looks_like_email(message.as_bytes()));
        empty += usize::from(out.text.is_empty());
        for (start, character) in out.text.char_indices() {
            let back = out.spans.to_source(Span::new(start, start + character.len_utf8()));
            assert!(message.get(back.start as usize..back.end as usize).is_some(), "{back:?}");
        }
    }
    if !messages.is_empty() {
        eprintln!(
            "{} messages, {recognised} recognised, {empty} without text, {:.0} MB/s",
            messages.len(),
            megabytes_per_second(bytes, time),
        );
        assert!(empty * 100 < messages.len() && recognised * 100 > messages.len() * 95);
    }
}
