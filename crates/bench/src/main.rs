//! The judge of the benchmarks; see README.md.

mod exact;
mod limits;
mod rows;
mod score;

use std::collections::HashMap;
use std::error::Error;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Write};
use std::path::Path;
use std::process::ExitCode;

use serde::Deserialize;

use score::Answer;

const USAGE: &str = "usage: judge exact CORPUS TRUTH [THRESHOLD]
       judge limits CORPUS ROUNDS
       judge score CORPUS TRUTH DOCUMENTS clusters FILE
       judge score CORPUS TRUTH DOCUMENTS pairs FILE REMOVED";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("judge: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[&str]) -> Result<(), Box<dyn Error>> {
    match *arguments {
        ["exact", corpus, truth] => find_truth(corpus, truth, 0.8),
        ["exact", corpus, truth, threshold] => find_truth(corpus, truth, threshold.parse()?),
        ["limits", corpus, rounds] => print(&limits::measure(Path::new(corpus), rounds.parse()?)?),
        ["score", corpus, truth, documents, ref answer @ ..] => {
            let answer = match *answer {
                ["clusters", file] => read_clusters(file)?,
                ["pairs", file, removed] => read_pairs(corpus, file, removed)?,
                _ => return Err(USAGE.into()),
            };
            let truth = serde_json::from_reader(BufReader::new(File::open(truth)?))?;
            print(&score::score(&truth, documents.parse()?, &answer)?)
        }
        _ => Err(USAGE.into()),
    }
}

fn print(value: &impl serde::Serialize) -> Result<(), Box<dyn Error>> {
    println!("{}", serde_json::to_string_pretty(value)?);
    Ok(())
}

fn find_truth(corpus: &str, output: &str, threshold: f64) -> Result<(), Box<dyn Error>> {
    let truth = exact::of_corpus(Path::new(corpus), threshold)?;
    let mut file = BufWriter::new(File::create(output)?);
    serde_json::to_writer(&mut file, &truth)?;
    Ok(file.flush()?)
}

/// A line for each cluster: numbers of documents.
fn read_clusters(path: &str) -> Result<Answer, Box<dyn Error>> {
    let mut clusters = Vec::new();
    for line in io::read_to_string(File::open(path)?)?.lines() {
        clusters.push(line.split(' ').map(str::parse).collect::<Result<Vec<u32>, _>>()?);
    }
    Ok(Answer::Clusters(clusters))
}

/// Reads the files that `lookalike pairs` and `lookalike dedup` wrote.
fn read_pairs(corpus: &str, pairs: &str, removed: &str) -> Result<Answer, Box<dyn Error>> {
    #[derive(Deserialize)]
    struct Pair {
        a: String,
        b: String,
    }
    #[derive(Deserialize)]
    struct Removed {
        id: String,
        witness: String,
    }
    let mut numbers = HashMap::new();
    rows::documents(Path::new(corpus), |row| {
        numbers.insert(row.id.to_string(), numbers.len() as u32);
        Ok(())
    })?;
    let number = |id: &str| {
        numbers.get(id).copied().ok_or_else(|| io::Error::other(format!("no document has the id {id}")))
    };
    let mut answer = (Vec::new(), Vec::new());
    rows::lines(Path::new(pairs), |line| {
        let pair: Pair = serde_json::from_slice(line)?;
        answer.0.push((number(&pair.a)?, number(&pair.b)?));
        Ok(())
    })?;
    rows::lines(Path::new(removed), |line| {
        let row: Removed = serde_json::from_slice(line)?;
        answer.1.push((number(&row.id)?, number(&row.witness)?));
        Ok(())
    })?;
    Ok(Answer::Pairs { pairs: answer.0, removed: answer.1 })
}
