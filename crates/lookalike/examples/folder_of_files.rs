//! A folder of files: the job of `lookalike dedup`, which goes on when it was stopped, and its tables read back.
//!
//! `cargo run -p lookalike --example folder_of_files`

#![expect(clippy::print_stdout, reason = "an example shows what it found")]

use std::error::Error;
use std::path::Path;

use lookalike::Options;
use lookalike::runs;
use lookalike::tables::removed::RemovedLine;

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let (input, output) = (folder.path().join("pages"), folder.path().join("clean"));
    write_pages(&input)?;

    let options = Options::new().threshold(0.7).memory(1 << 30);
    let summary = options.dedup_files([&input], &output)?;
    println!("{} files, {} kept, {} removed", summary.documents, summary.kept, summary.removed);
    let removed: Vec<RemovedLine> = runs::rows(&output.join("removed.jsonl"))?;
    for row in &removed {
        println!("{} is like {}, {:.3}", row.id, row.witness, row.similarity.unwrap_or_default());
    }
    assert_eq!((summary.documents, summary.removed, removed.len()), (30, 10, 10));
    assert!(output.join("report.html").exists(), "a page for people");

    // The same call finds the job finished, and does nothing again.
    assert_eq!(options.dedup_files([&input], &output)?, summary);
    Ok(())
}

/// Writes thirty pages, of which every third is a copy of the one before with another ending, as HTML.
fn write_pages(folder: &Path) -> std::io::Result<()> {
    std::fs::create_dir(folder)?;
    for page in 0..30 {
        let article = page - page % 3 / 2;
        let words: Vec<String> =
            (0..120).map(|word| format!("w{}", (article * 7 + 1) * (word + 3) % 911)).collect();
        let (name, text) = match page % 3 {
            2 => (format!("{page:02}.html"), format!("<html><body><p>{} the end</p>", words.join(" "))),
            _ => (format!("{page:02}.txt"), words.join(" ")),
        };
        std::fs::write(folder.join(name), text)?;
    }
    Ok(())
}
