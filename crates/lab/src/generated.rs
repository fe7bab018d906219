//! Collections for experiments on machines that have none: made from a seed, with near-duplicates planted in them.

mod crawls;

use std::sync::Arc;

use lookalike::corpus::{Corpus, ReadOptions};
use lookalike::generate::{Plan, write_jsonl};

use crate::collection::{Collection, Wanted};

/// Documents of a generated collection.
const DOCUMENTS: u64 = 4_000;

/// A collection of this kind.
pub fn collection(wanted: Wanted, seed: u64) -> Collection {
    let lines = match wanted {
        // Each page is there at most twice.
        Wanted::Crawls => crawls::two(DOCUMENTS / 2, seed),
        _ => web(DOCUMENTS, seed),
    };
    let corpus = Corpus::in_memory("generated.jsonl", lines, ReadOptions::default());
    Collection { name: "generated".to_owned(), corpus, content: wanted.content(), generated: true }
}

/// Pages of a make-believe web, as lines.
fn web(documents: u64, seed: u64) -> Arc<[u8]> {
    let mut lines = Vec::new();
    write_jsonl(Plan { documents, seed }, &mut lines, &mut std::io::sink()).expect("memory can be written");
    lines.into()
}
