//! A collection of five documents whose statistics were computed by hand, for tests.

use std::sync::Arc;

use lookalike_text::{Analyser, Features, Profile};

use super::weights::{Weight, WeightBuffers, weigh};
use crate::{Lexicon, Method, Page, Setting, Sketch};

const TEXTS: [&str; 5] = [
    "Apple banana cherry date elder. Apple banana fig. Apple grape.",
    "Apple banana cherry date elder. Banana fig honey.",
    "Apple grape honey iris. Grape jasmine kiwi kiwi.",
    "Apple iris lemon. Iris lemon mango nectar olive.",
    "Cherry lemon mango. Mango nectar olive plum.",
];

fn profile() -> Profile {
    "yandex:stop=none,min-letters=1".parse().unwrap()
}

/// A text with its sentences.
pub(crate) fn read(profile: &Profile, text: &str) -> Features {
    let (mut analyser, mut features) = (Analyser::new(profile), Features::default());
    analyser.read(text, &mut features);
    analyser.read_sentences(&mut features);
    features
}

pub(crate) fn documents() -> [Features; 5] {
    TEXTS.map(|text| read(&profile(), text))
}

pub(crate) fn lexicon() -> Lexicon {
    Lexicon::gather(&profile().recipe(), &documents())
}

/// The method of this name with signatures of 32 bits, knowing the collection.
pub(crate) fn method(name: &str) -> Box<dyn Method> {
    let mark = if name.contains(':') { ',' } else { ':' };
    let text = format!("{name}{mark}bits=32,profile=yandex;stop=none;min-letters=1");
    let method = crate::method(&text, &Setting::default()).unwrap();
    if let Some(learning) = method.abilities().learning {
        learning.learn(&Arc::new(lexicon())).unwrap();
    }
    method
}

/// The payload of a document as a number.
pub(crate) fn signature(method: &dyn Method, features: &Features) -> u64 {
    let mut sketch = Sketch::default();
    method.sketch(&Page { text: "", features }, &mut sketch);
    u64::from_le_bytes(sketch.payload.try_into().unwrap())
}

/// Asserts that the words of a document have these weights, all of them, to six decimals.
pub(crate) fn assert_weights(weight: &Weight, document: usize, expected: &[(&str, f64)]) {
    let (features, mut buffers) = (&documents()[document], WeightBuffers::default());
    weigh(weight, &Page { text: "", features }, Some(&lexicon()), &mut buffers);
    let mut found: Vec<(&str, f64)> = buffers
        .weights
        .iter()
        .map(|(weight, position)| (features.word(*position as usize), *weight))
        .collect();
    found.sort_by_key(|(word, _)| *word);
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!(found.0 == expected.0 && (found.1 - expected.1).abs() < 0.5e-6, "{found:?} {expected:?}");
    }
}

#[test]
fn the_collection_is_counted() {
    let lexicon = lexicon();
    assert_eq!(lexicon.documents(), 5);
    assert_eq!(documents().map(|document| document.len()), [10, 8, 8, 8, 7]);
    assert!((lexicon.mean_length() - 8.2).abs() < 1e-12);
    let expected = [
        ("apple", 4, 6),
        ("banana", 2, 4),
        ("cherry", 3, 3),
        ("date", 2, 2),
        ("elder", 2, 2),
        ("fig", 2, 2),
        ("grape", 2, 3),
        ("honey", 2, 2),
        ("iris", 2, 3),
        ("jasmine", 1, 1),
        ("kiwi", 1, 2),
        ("lemon", 2, 3),
        ("mango", 2, 3),
        ("nectar", 2, 2),
        ("olive", 2, 2),
        ("plum", 1, 1),
    ];
    let mut found: Vec<_> = (0..lexicon.len())
        .map(|index| {
            (lexicon.word(index), lexicon.counts(index).documents, lexicon.counts(index).occurrences)
        })
        .collect();
    found.sort_unstable();
    assert_eq!(found, expected);
}
