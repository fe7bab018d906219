//! Two corpora compared: what of the old one lives on in the new one.
//!
//! `cargo run -p lookalike --example two_corpora`

#![expect(clippy::print_stdout, reason = "an example shows what it found")]

use std::collections::BTreeMap;

use lookalike::{Error, Options};

pub(crate) fn main() -> Result<(), Error> {
    let (old, new) = (pages(0..400, 1), pages(300..900, 2));
    let compared = Options::new().threshold(0.6).memory(1 << 30).compare(&old, &new)?;

    // The best match of each old page; of equally good ones the first.
    let mut best: BTreeMap<usize, (usize, f64)> = BTreeMap::new();
    for pair in &compared.pairs {
        let match_of = best.entry(pair.left).or_insert((pair.right, pair.similarity));
        if pair.similarity > match_of.1 {
            *match_of = (pair.right, pair.similarity);
        }
    }
    println!("{} of {} old pages are among {} new ones", best.len(), old.len(), new.len());
    for (left, (right, similarity)) in best.iter().take(5) {
        println!("old page {left} is new page {right}, {similarity:.3}");
    }
    assert!(compared.groups.is_empty() && compared.rejected_left.is_empty());
    assert_eq!(best.keys().copied().collect::<Vec<_>>(), (300..400).collect::<Vec<_>>());
    assert!(best.iter().all(|(left, (right, similarity))| left - 300 == *right && *similarity > 0.6));
    Ok(())
}

/// Pages of a site in some year: each has words of its own, and a footer that changes.
fn pages(numbers: std::ops::Range<u32>, year: u32) -> Vec<String> {
    let page = |number: u32| {
        let words: Vec<String> = (0..60).map(|word| format!("p{number}w{word}")).collect();
        format!("{} written in year {year}", words.join(" "))
    };
    numbers.map(page).collect()
}
