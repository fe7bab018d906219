//! Fingerprints: what it costs to make them, and to find those within 3 bits among a million, by the lookup tables of
//! several designs beside comparing with all. Figures are CPU time of this thread, best of several rounds; trust the
//! ratios. Fails when a design misses what comparing with all finds.
//!
//! `cargo bench -p lookalike --bench hamming`
#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

use std::hint::black_box;
use std::sync::Arc;

use lookalike::methods::hamming::HammingTables;
use lookalike::methods::{Lexicon, Page, Setting, Sketch, method};
use lookalike::text::{Analyser, Features, Profile};

const ROUNDS: usize = 7;

/// Words of the texts that weights are learned from; the first that are measured.
const LEARNED: usize = 50;

fn main() {
    fingerprints();
    println!();
    lookups();
}

/// Fingerprints that are stored.
const STORED: usize = 1_000_000;

/// Bits that may differ.
const NEAR: u32 = 3;

/// Queries that are answered by every design; one in two is 0 to 6 bits away from a stored fingerprint.
const QUERIES: usize = 100_000;

/// Queries that are answered by comparing with all.
const SCANNED: usize = 2000;

/// Measures the cost of a lookup by each design of tables.
fn lookups() {
    let mut draw = draws();
    let stored: Vec<[u64; 1]> = (0..STORED).map(|_| [draw()]).collect();
    let mut query = |number: usize| match number % 2 {
        0 => [draw()],
        _ => {
            let [near] = stored[draw() as usize % STORED];
            [(0..number / 2 % 7).fold(near, |bits, _| bits ^ 1 << (draw() % 64))]
        }
    };
    let queries: Vec<[u64; 1]> = (0..QUERIES).map(&mut query).collect();
    let begin = cpu_seconds();
    let expected: Vec<Vec<u32>> = queries[..SCANNED].iter().map(|query| scan(&stored, query)).collect();
    let scan = (cpu_seconds() - begin) / SCANNED as f64;
    println!(
        "{:<22} {:>6} {:>10} {:>12} {:>12} {:>12} {:>10} {:>10}",
        "lookups, k = 3", "tables", "build s", "bytes/hash", "compared", "ns/query", "queries/s", "x scan"
    );
    println!(
        "{:<22} {:>6} {:>10} {:>12} {STORED:>12} {:>12.0} {:>10.0} {:>10}",
        "all",
        0,
        "",
        8,
        scan * 1e9,
        1.0 / scan,
        1
    );
    for blocks in ["4", "5", "4x4", "6"] {
        let begin = cpu_seconds();
        let tables = HammingTables::new(&stored, 64, NEAR, blocks).expect("the design is possible");
        let build = cpu_seconds() - begin;
        for (query, expected) in queries.iter().zip(&expected) {
            let mut found = Vec::new();
            tables.near(query, |number, _| found.push(number));
            found.sort_unstable();
            assert_eq!(&found, expected, "blocks={blocks} and comparing with all find different ones");
        }
        let (mut best, mut compared) = (f64::INFINITY, 0);
        for _ in 0..ROUNDS {
            let begin = cpu_seconds();
            compared = queries
                .iter()
                .map(|query| {
                    tables.near(query, |number, _| {
                        black_box(number);
                    })
                })
                .sum();
            best = best.min((cpu_seconds() - begin) / QUERIES as f64);
        }
        println!(
            "{:<22} {:>6} {build:>10.2} {:>12.1} {:>12.1} {:>12.0} {:>10.0} {:>10.0}",
            format!("blocks={blocks}"),
            tables.tables(),
            tables.bytes() as f64 / STORED as f64,
            compared as f64 / QUERIES as f64,
            best * 1e9,
            1.0 / best,
            scan / best
        );
    }
}

/// Finds the fingerprints near a query by comparing with all; bits are counted by the same instruction as in tables.
fn scan(stored: &[[u64; 1]], query: &[u64; 1]) -> Vec<u32> {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "popcnt")]
        fn counting(stored: &[[u64; 1]], query: &[u64; 1]) -> Vec<u32> {
            plain_scan(stored, query)
        }
        if is_x86_feature_detected!("popcnt") {
            // SAFETY: the processor was asked for it.
            return unsafe { counting(stored, query) };
        }
    }
    plain_scan(stored, query)
}

#[inline(always)]
fn plain_scan(stored: &[[u64; 1]], query: &[u64; 1]) -> Vec<u32> {
    let mut near = Vec::new();
    for (number, stored) in (0..).zip(stored) {
        if (stored[0] ^ query[0]).count_ones() <= NEAR {
            near.push(number);
        }
    }
    near
}

/// Makes `count` texts of `words` words each, from a fixed sequence.
fn texts(words: usize, count: usize) -> Vec<String> {
    let mut draw = draws();
    let mut text = || (0..words).map(|_| format!("w{}", draw() % 5000)).collect::<Vec<_>>().join(" ");
    (0..count).map(|_| text()).collect()
}

/// Numbers from a fixed sequence (splitmix64).
fn draws() -> impl FnMut() -> u64 {
    let mut state = 1u64;
    move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

/// Measures the cost of a fingerprint by itself, for texts of several lengths.
fn fingerprints() {
    println!(
        "{:<32} {:>6} {:>12} {:>12} {:>14}",
        "fingerprints", "words", "ns/text", "ns/word", "million words/s"
    );
    let mut analyser = Analyser::new(&Profile::web());
    for spec in [
        "simhash:n=3",
        "simhash",
        "simhash:f=384,k=12",
        "simhash:weight=1",
        "simhash:weight=tfidf",
        "simhash:seed=2",
    ] {
        let method = method(spec, &Setting::default()).expect("the method is known");
        for words in [50, 300, 2000] {
            let texts = texts(words, 64);
            let pages: Vec<Features> = texts
                .iter()
                .map(|text| {
                    let mut features = Features::default();
                    analyser.read(text, &mut features);
                    features
                })
                .collect();
            if let Some(learning) = method.abilities().learning.filter(|_| words == LEARNED) {
                let lexicon = Lexicon::gather(&Profile::web().recipe(), &pages);
                learning.learn(&Arc::new(lexicon)).expect("there are enough documents");
            }
            let mut sketch = Sketch::default();
            let mut best = f64::INFINITY;
            let repeats = 400_000 / words / 64 + 1;
            for _ in 0..ROUNDS {
                let begin = cpu_seconds();
                for _ in 0..repeats {
                    for (text, features) in texts.iter().zip(&pages) {
                        method.sketch(&Page { text, features }, &mut sketch);
                        black_box(&sketch);
                    }
                }
                best = best.min((cpu_seconds() - begin) / (repeats * texts.len()) as f64);
            }
            let word = best / words as f64;
            println!("{spec:<32} {words:>6} {:>12.0} {:>12.2} {:>14.0}", best * 1e9, word * 1e9, 1e-6 / word);
        }
    }
}

/// CPU time of this thread: what the wall clock would show on an idle core, also when the machine is busy.
fn cpu_seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}
