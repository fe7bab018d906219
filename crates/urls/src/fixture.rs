//! A small comparison in a folder of its own, for tests of single stages.

use std::collections::BTreeMap;

use lookalike::corpus::{Corpus, MaxRejected, ReadOptions};
use lookalike::engine::measure::Measure;
use lookalike::engine::recipe::ReadSettings;
use lookalike::engine::workplace::Workplace;
use lookalike::engine::{Settings, Spool};
use lookalike::model::Similarity;
use lookalike::store::strings::OrderedStrings;
use lookalike::text::Profile;
use lookalike::text::extract::ContentMode;
use lookalike::walk::Watch;
use lookalike_overlap::address::Matching;
use tempfile::TempDir;

use crate::fetch::{self, FetchFacts};
use crate::join::{self, JoinFacts};
use crate::read::{self, Side};
use crate::{Context, Request};

/// Bytes for buffers: enough for everything.
pub(crate) const LARGE: u64 = 64 << 20;

/// A document: its address and its words.
pub(crate) type Page = (Option<String>, Vec<u8>);

fn text(words: &[u8]) -> String {
    words.iter().map(|word| format!("word{word}")).collect::<Vec<_>>().join(" ")
}

fn corpus(side: usize, pages: &[Page]) -> Corpus {
    let line = |(number, (url, words)): (usize, &Page)| {
        let id = format!("{side}-{number}");
        serde_json::json!({"id": id, "url": url, "text": text(words)}).to_string() + "\n"
    };
    corpus_of_lines(side, pages.iter().enumerate().map(line).collect())
}

/// A corpus of JSON lines, of which some may be none.
pub(crate) fn corpus_of_lines(side: usize, lines: String) -> Corpus {
    let max_rejected = MaxRejected::EVERYTHING;
    let options =
        ReadOptions { addresses: true, max_document_bytes: 1 << 16, max_rejected, ..ReadOptions::default() };
    Corpus::in_memory(&format!("side{side}.jsonl"), lines.into_bytes().into(), options)
}

pub(crate) fn request(sides: &[Vec<Page>], threads: usize) -> Request {
    Request {
        corpora: sides.iter().enumerate().map(|(side, pages)| corpus(side, pages)).collect(),
        names: (0..sides.len()).map(|side| format!("side {side}")).collect(),
        matching: Matching::Normal,
        measure: Some(Measure {
            similarity: Similarity::Jaccard,
            threshold: "0.9".parse().unwrap(),
            shingle: 1,
        }),
        profile: Profile::web(),
        content: ContentMode::Page,
        reading: ReadSettings { max_document_bytes: 1 << 16, ..ReadSettings::default() },
        other_fields: BTreeMap::new(),
        judged: None,
        settings: Settings { threads, memory: 256 << 20, spool: Spool::Auto },
    }
}

/// Documents of the words 1, 2 and 3.
pub(crate) fn pages(addresses: &[&str]) -> Vec<Page> {
    addresses.iter().map(|url| (Some((*url).to_owned()), vec![1, 2, 3])).collect()
}

/// A comparison that is under way.
pub(crate) struct Fixture {
    pub(crate) request: Request,
    pub(crate) work: Workplace,
    watch: Watch,
    /// Removed after everything else.
    _folder: TempDir,
}

impl Fixture {
    pub(crate) fn new(mut request: Request) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let work = Workplace::open(folder.path(), "a recipe", &mut request.corpora).unwrap().unwrap();
        Fixture { request, work, watch: Watch::default(), _folder: folder }
    }

    /// A comparison of so many snapshots in which no corpus has a document.
    pub(crate) fn empty(snapshots: usize) -> Self {
        Fixture::new(request(&vec![Vec::new(); snapshots + 1], 1))
    }

    pub(crate) fn ctx(&self) -> Context<'_> {
        Context { request: &self.request, work: &self.work, watch: &self.watch, buffer_bytes: LARGE }
    }

    pub(crate) fn read(&self) -> Vec<Side> {
        (0..self.request.corpora.len()).map(|side| read::side(&self.ctx(), side).unwrap()).collect()
    }

    pub(crate) fn join(&self) -> (Vec<Side>, JoinFacts) {
        let sides = self.read();
        let joined = join::join(&self.ctx(), &sides).unwrap();
        (sides, joined)
    }

    pub(crate) fn fetch(&self) -> FetchFacts {
        let (sides, joined) = self.join();
        fetch::fetch(&self.ctx(), &joined, &sides).unwrap()
    }

    /// The lines of a result.
    pub(crate) fn lines(&self, name: &str) -> Vec<String> {
        let text = std::fs::read_to_string(self.work.result(name)).unwrap();
        text.lines().map(str::to_owned).collect()
    }

    /// The texts of so many runs, with their numbers.
    pub(crate) fn texts(&self, name: &str, columns: usize, runs: usize) -> Vec<(Vec<u8>, Vec<u64>)> {
        let mut texts = OrderedStrings::open(&self.work.run_location(name), columns, runs).unwrap();
        let mut all = Vec::new();
        while let Some((text, numbers)) = texts.next().unwrap() {
            all.push((text.to_vec(), numbers.to_vec()));
        }
        all
    }
}
