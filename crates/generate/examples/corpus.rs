//! Writes a corpus and its truth to two files and says how fast it went.
//!
//! ```text
//! cargo run --release -p lookalike-generate --example corpus -- 100000 1 documents.jsonl truth.jsonl
//! ```

use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::time::Instant;

use lookalike_generate::{Plan, write_jsonl};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [documents, seed, document_file, truth_file] = arguments.as_slice() else {
        return Err("expected: number of documents, seed, file for documents, file for the truth".into());
    };
    let plan = Plan { documents: documents.parse()?, seed: seed.parse()? };
    let start = Instant::now();
    let mut to = BufWriter::with_capacity(1 << 20, File::create(document_file)?);
    let mut truth = BufWriter::with_capacity(1 << 20, File::create(truth_file)?);
    let written = write_jsonl(plan, &mut to, &mut truth)?;
    let seconds = start.elapsed().as_secs_f64();
    let megabytes = written.document_bytes as f64 / 1e6;
    writeln!(
        std::io::stdout(),
        "{} documents, {} pairs, {megabytes:.1} MB in {seconds:.2} s: {:.0} MB/s",
        written.documents,
        written.pairs,
        megabytes / seconds
    )?;
    Ok(())
}
