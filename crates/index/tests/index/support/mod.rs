//! Helpers: an index of the exact join, and documents of numbered words.

use std::path::Path;

use lookalike_corpus::{Corpus, ReadOptions};
use lookalike_engine::recipe::{ReadSettings, Task};
use lookalike_engine::walk::Watch;
use lookalike_engine::{JobRecipe, Settings, Spool};
use lookalike_index::{CreateOptions, Index, Mode, PreparedDocument, QueryBuffers, WriterOptions};
use lookalike_methods::{Setting, method};
use lookalike_model::{Document, Media};

/// Two documents of at least this are near-duplicates.
pub(crate) const THRESHOLD: f64 = 0.8;

/// The recipe of a method, with the usual threshold.
pub(crate) fn recipe(spec: &str) -> JobRecipe {
    JobRecipe {
        methods: vec![method(spec, &Setting::default()).unwrap().recipe()],
        max_group: 100_000,
        threshold: THRESHOLD.to_string(),
        reading: ReadSettings { max_document_bytes: 1 << 20, ..ReadSettings::default() },
        ..JobRecipe::simplest(Task::Dedup)
    }
}

/// Makes an index of a method.
pub(crate) fn create(folder: &Path, spec: &str, text: bool) {
    let settings = Settings { threads: 1, memory: 512 << 20, spool: Spool::Disk };
    let lines =
        (0..40).map(|n| format!("{{\"id\":\"{n}\",\"text\":\"{}\"}}\n", words(n % 4, &[n]).join(" ")));
    let lines: String = lines.collect();
    let learn = Corpus::in_memory("learn.jsonl", lines.as_bytes().into(), ReadOptions::default());
    let options =
        CreateOptions { recipe: recipe(spec), text, lexicon: None, learn: Some(&learn), settings: &settings };
    Index::create(folder, options, &Watch::default()).unwrap();
}

/// A writer; with a small `tail_bytes`, documents go to disk and segments are merged all the time.
pub(crate) fn writing(tail_bytes: usize) -> Mode {
    Mode::Write(WriterOptions { sync: false, tail_bytes })
}

/// Words of each document that has any.
const WORDS: u32 = 60;

/// The words of a member of a family: all the same but for those at `edits`.
pub(crate) fn words(family: u32, edits: &[u32]) -> Vec<String> {
    let word = |w: u32| match edits.contains(&w) {
        true => format!("f{family}x{w}"),
        false => format!("f{family}w{w}"),
    };
    (0..WORDS).map(word).collect()
}

/// A document ready to be added.
pub(crate) fn prepared(index: &Index, buffers: &mut QueryBuffers, id: &str, text: &str) -> PreparedDocument {
    let document = Document::from_text(id, Some("https://site.example/"), Media::Text, text);
    buffers.document(index.examiner(), &document).unwrap()
}

/// Asserts that the index holds together.
#[track_caller]
pub(crate) fn assert_clean(index: &Index, why: &str) {
    let checked = index.check(&mut index.buffers().unwrap()).unwrap();
    assert_eq!((checked.mistakes, &checked.wrong), (0, &Vec::new()), "{why}");
}
