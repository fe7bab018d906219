//! A crawler that asks of every page whether it has seen it, and goes on with what it knew when it is started again.
//!
//! `cargo run -p lookalike --example crawler`

#![expect(clippy::print_stdout, reason = "an example shows what it found")]

use std::path::Path;

use lookalike::{AddOutcome, Error, Options};

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let seen = folder.path().join("seen");
    // The second start fetches some pages again, some of them changed.
    let first = crawl(&seen, 0..200)?;
    let second = crawl(&seen, 150..300)?;
    assert_eq!((first.new, first.duplicates, first.known, first.changed), (150, 50, 0, 0));
    assert_eq!((second.new, second.duplicates, second.known, second.changed), (75, 25, 40, 10));
    Ok(())
}

/// The pages of a crawl by their outcomes.
#[derive(Debug, Default)]
struct Counts {
    new: u32,
    duplicates: u32,
    known: u32,
    changed: u32,
}

fn crawl(seen: &Path, pages: std::ops::Range<u32>) -> Result<Counts, Error> {
    let index = Options::new().threshold(0.7).memory(1 << 30).open_or_create_index(seen)?;
    let (again, mut counts) = (index.stats().documents > 0, Counts::default());
    for number in pages {
        let (address, page) = (format!("http://site.invalid/{number}"), fetch(number, again));
        // One step, so that several threads could do this at once.
        match index.add(&address, &page)? {
            AddOutcome::New => counts.new += 1,
            AddOutcome::Duplicate(witness) => {
                counts.duplicates += 1;
                if counts.duplicates <= 3 {
                    println!("{address} is like {}, {:?}", witness.id, witness.similarity);
                }
            }
            AddOutcome::Known(_) => counts.known += 1,
            AddOutcome::IdTaken => {
                counts.changed += 1;
                assert!(index.replace(&address, &page)?.is_new());
            }
            AddOutcome::Rejected(reason) => println!("{address} cannot be used: {reason}"),
        }
    }
    println!("{counts:?}");
    index.close()?;
    Ok(counts)
}

/// Makes a page up: every fourth has the article of the one before it, and every fifth changes when it is fetched again.
fn fetch(number: u32, again: bool) -> String {
    let article = if number % 4 == 3 { number - 1 } else { number };
    let year = if again && number.is_multiple_of(5) && number < 200 { 2 } else { 1 };
    let words = (0..80).map(|word| format!("a{article}w{} ", word * year));
    words.chain([format!("page {number}")]).collect()
}
