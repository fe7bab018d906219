//! Fingerprints: how fast n-grams become one.
//!
//! `cargo bench -p lookalike --bench hamming`
#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

use std::hint::black_box;

use lookalike::methods::{Page, Setting, Sketch, method};
use lookalike::text::{Analyser, Features, Profile};

const ROUNDS: usize = 7;

fn main() {
    fingerprints();
}

/// Texts of so many words, from a fixed sequence.
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

/// What a fingerprint costs by itself, for texts of several lengths.
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
