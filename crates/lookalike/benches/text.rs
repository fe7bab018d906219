//! A benchmark of the conversion of JSON lines to 5-gram hashes on one core, beside the cost of reading the same bytes and of parsing
//! the same JSON. Figures are CPU time of this thread, best of several rounds, interleaved; trust the ratios.
//!
//! `cargo bench -p lookalike --bench text [FILE.jsonl]`: a file of your own, or generated text of several scripts.
#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

use std::fs::File;
use std::hint::black_box;
use std::io::Read;
use std::path::{Path, PathBuf};

use lookalike::corpus::{Corpus, Item, ReadOptions};
use lookalike::model::{Content, Document};
use lookalike::text::{Analyser, Features, Profile};

const ROUNDS: usize = 7;

fn main() {
    let files: Vec<PathBuf> =
        std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).map(PathBuf::from).collect();
    println!(
        "{:<28} {:>9} {:>9} {:>9} {:>9} {:>11} {:>9}",
        "text", "MB", "read s", "json s", "all s", "MB/s text", "x read"
    );
    if files.is_empty() {
        let folder = tempfile::tempdir().expect("a folder for generated text");
        for (name, alphabet) in SCRIPTS {
            let file = folder.path().join(format!("{name}.jsonl"));
            std::fs::write(&file, synthetic(alphabet)).expect("room for generated text");
            measure(name, &file);
        }
    }
    for file in &files {
        measure(&file.display().to_string(), file);
    }
}

/// Best time of each step over all rounds.
fn measure(name: &str, file: &Path) {
    let mut best = [f64::INFINITY; 3];
    let mut text_bytes = 0;
    for _ in 0..ROUNDS {
        for (step, best) in best.iter_mut().enumerate() {
            let begin = cpu_seconds();
            match step {
                0 => drop(black_box(read(file))),
                1 => text_bytes = parse(file),
                _ => drop(black_box(grams(file))),
            }
            *best = best.min(cpu_seconds() - begin);
        }
    }
    let [raw, json, all] = best;
    let megabytes = text_bytes as f64 / 1e6;
    println!(
        "{name:<28} {megabytes:>9.1} {raw:>9.4} {json:>9.4} {all:>9.4} {:>11.0} {:>9.1}",
        megabytes / all,
        all / raw
    );
}

/// CPU time of this thread: what the wall clock would show on an idle core, also when the machine is busy.
fn cpu_seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

fn read(file: &Path) -> u64 {
    let mut file = File::open(file).expect("the file opens");
    let mut buffer = vec![0; 256 << 10];
    let mut total = 0;
    loop {
        match file.read(&mut buffer).expect("the file reads") {
            0 => return total,
            length => total += length as u64,
        }
    }
}

fn documents(file: &Path, mut each: impl FnMut(&str)) {
    let corpus =
        Corpus::open(&[file.display().to_string()], ReadOptions::default()).expect("the corpus opens");
    for shard in corpus.shards() {
        let mut reader = shard.open(corpus.options()).expect("the shard opens");
        while let Some(item) = reader.next().expect("the shard reads") {
            if let Item::Document(Document { content: Content::Unicode(text), .. }) = item {
                each(text);
            }
        }
    }
}

fn parse(file: &Path) -> u64 {
    let mut total = 0;
    documents(file, |text| total += text.len() as u64);
    total
}

fn grams(file: &Path) -> u64 {
    let mut analyser = Analyser::new(&Profile::web());
    let mut features = Features::default();
    let mut sum = 0u64;
    documents(file, |text| {
        analyser.read(text, &mut features);
        sum = features.grams(5).fold(sum, u64::wrapping_add);
    });
    sum
}

/// Letters to make words of; `-` in front means that no blanks are written between them.
const SCRIPTS: [(&str, &str); 8] = [
    ("ascii", "etaoinshrdlucmfwypvbgkETAOIN0123"),
    ("mostly ascii", "etaoinshrdlucmfwypvbgketaoinshrdlucmfwypvbgketaoinshrdlué’"),
    ("german", "enisratdhulcgmobwfkzüäößESAT"),
    ("cyrillic", "оеаинтсрвлкмдпуяызбгОЕАИ"),
    ("arabic", "اليمنتربودعسقفحكجشهة"),
    ("devanagari", "कतरनमसपहलवयदबगजािीेोंु"),
    ("han", "-的一是不了人在有我他这中大来上国，。"),
    ("thai", "-กานรอเงมยลวดทสตะปบคหแจพชขใไโ่้ัี"),
];

/// About 24 MB of words over an alphabet, from a fixed sequence.
fn synthetic(alphabet: &str) -> String {
    let (unspaced, alphabet) = match alphabet.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, alphabet),
    };
    let letters: Vec<char> = alphabet.chars().collect();
    let mut state = 1u64;
    let mut draw = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let mut out = String::new();
    let mut document = 0;
    while out.len() < 24_000_000 {
        let mut text = String::new();
        for _ in 0..200 + draw(1200) {
            for _ in 0..1 + draw(9) {
                text.push(letters[draw(letters.len())]);
            }
            match draw(12) {
                0 => text.push_str(if unspaced { "。" } else { ". " }),
                1 => text.push('\n'),
                _ if unspaced => {}
                _ => text.push(' '),
            }
        }
        let line = serde_json::json!({ "id": document.to_string(), "text": text });
        out.push_str(&line.to_string());
        out.push('\n');
        document += 1;
    }
    out
}
