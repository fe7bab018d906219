//! Trials of methods: documents of a known resemblance, and shares that are compared with a probability. Built for
//! tests only.

use lookalike_text::{Analyser, Features, Profile};

use crate::{Method, Page, Sketch};

/// The sketch of a text.
pub(crate) fn sketch(method: &dyn Method, text: &str) -> Sketch {
    let (mut features, mut sketch) = (Features::default(), Sketch::default());
    Analyser::new(method.abilities().profile.unwrap_or(&Profile::web())).read(text, &mut features);
    method.sketch(&Page { text, features: &features }, &mut sketch);
    sketch
}

/// Texts of 40 different words of which two share a part of `resemblance`: for shingles of one word.
pub(crate) fn texts(resemblance: f64, number: usize) -> [String; 2] {
    let (union, shared) = (40, (40.0 * resemblance).round() as usize);
    let word = |place: usize| format!("w{number}x{place} ");
    let own = |first: usize| (shared + first..union).step_by(2).map(word).collect::<String>();
    let both: String = (0..shared).map(word).collect();
    [both.clone() + &own(0), both + &own(1)]
}

/// Asserts that `hits` of `trials` are within three standard errors of the `expected` share.
pub(crate) fn assert_share(what: &str, hits: usize, trials: usize, expected: f64) {
    let error = (expected * (1.0 - expected) / trials as f64).sqrt();
    let share = hits as f64 / trials as f64;
    assert!((share - expected).abs() <= 3.0 * error, "{what}: {share}, not {expected} ± {error}");
}
