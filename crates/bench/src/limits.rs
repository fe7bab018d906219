//! The least CPU time of this machine for reading the file, finding its lines, parsing them, and a plain pass to word hashes.
//! Each stage includes those before it, and each is timed by the CPU clock of this thread; the best of several rounds counts.

use std::fs::File;
use std::hint::black_box;
use std::io::{self, Read};
use std::path::Path;

use rustix::time::{ClockId, clock_gettime};
use serde::Serialize;
use xxhash_rust::xxh3::xxh3_64;

use crate::rows::{self, Row};

/// CPU seconds.
#[derive(Debug, Serialize)]
pub struct Limits {
    pub read: f64,
    pub lines: f64,
    pub sonic_rs: f64,
    pub serde_json: f64,
    pub words: f64,
}

pub fn measure(path: &Path, rounds: usize) -> io::Result<Limits> {
    Ok(Limits {
        read: best(rounds, || read(path))?,
        lines: best(rounds, || rows::lines(path, touch))?,
        sonic_rs: best(rounds, || rows::lines(path, |line| parse(sonic_rs::from_slice(line))))?,
        serde_json: best(rounds, || rows::lines(path, |line| parse(serde_json::from_slice(line))))?,
        words: best(rounds, || rows::documents(path, hash_words))?,
    })
}

fn best(rounds: usize, mut stage: impl FnMut() -> io::Result<()>) -> io::Result<f64> {
    let mut best = f64::INFINITY;
    for _ in 0..rounds {
        let begin = cpu_seconds();
        stage()?;
        best = best.min(cpu_seconds() - begin);
    }
    Ok(best)
}

fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

fn read(path: &Path) -> io::Result<()> {
    let mut file = File::open(path)?;
    let mut buffer = vec![0; 1 << 20];
    while file.read(&mut buffer)? > 0 {
        black_box(&buffer);
    }
    Ok(())
}

fn touch(line: &[u8]) -> io::Result<()> {
    black_box(line);
    Ok(())
}

fn parse<E: Into<Box<dyn std::error::Error + Send + Sync>>>(row: Result<Row, E>) -> io::Result<()> {
    black_box(&row.map_err(io::Error::other)?);
    Ok(())
}

/// Hashes words in the plain way, without regard to speed.
fn hash_words(row: &Row) -> io::Result<()> {
    for word in row.text.to_lowercase().split_whitespace() {
        black_box(xxh3_64(word.as_bytes()));
    }
    Ok(())
}
