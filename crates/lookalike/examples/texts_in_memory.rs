//! Near-duplicates among texts that a program has in memory: which to keep, and for each of the others why it goes.
//!
//! `cargo run -p lookalike --example texts_in_memory`

#![expect(clippy::print_stdout, reason = "an example shows what it found")]

use lookalike::generate::Plan;
use lookalike::model::Media;
use lookalike::{Error, Options};

pub(crate) fn main() -> Result<(), Error> {
    // Texts of a make-believe web, in which copies were planted.
    let mut texts = Vec::new();
    let mut documents = Plan { documents: 1500, seed: 1 }.documents();
    while let Some(document) = documents.next() {
        if document.media == Media::Text {
            texts.push(document.content.to_owned());
        }
    }

    let options = Options::new().threshold(0.8).memory(1 << 30);
    let found = options.dedup(&texts)?;
    println!("{} texts, {} kept, {} removed", texts.len(), found.kept.len(), found.removed.len());
    for removed in found.removed.iter().take(5) {
        println!("text {} is like text {}, {:.3}", removed.position, removed.witness, removed.similarity);
    }
    assert!(!found.removed.is_empty() && found.rejected.is_empty());
    assert_eq!(found.kept.len() + found.removed.len(), texts.len());
    assert!(found.removed.iter().all(|text| text.similarity >= 0.8 && found.keeps(text.witness)));

    // What is kept has no near-duplicates left: a method that misses nothing finds none.
    let kept: Vec<&String> = found.kept.iter().map(|&position| &texts[position]).collect();
    let left = options.clone().method("exact").pairs(&kept)?.pairs;
    println!("pairs among those that were kept: {}", left.len());
    let all = options.method("exact").pairs(&texts)?.pairs;
    assert!(left.len() * 50 <= all.len(), "minhash misses one in fifty at the threshold, and fewer above it");
    Ok(())
}
