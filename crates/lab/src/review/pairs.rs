//! The sample of pairs, one JSON object a line.

use std::collections::BTreeSet;
use std::path::Path;

use lookalike::hash::Secret;
use lookalike::report::{Comparison, Side, View, compare};
use lookalike::text::{Analyser, Features, Profile};
use serde::Deserialize;

use super::ReviewError;

/// A pair to be judged.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Pair {
    /// Its number, by which labels name it.
    pub n: u64,
    /// Id of the first document.
    pub a: String,
    /// Id of the second.
    pub b: String,
    /// Their similarity, where measured.
    #[serde(default)]
    pub similarity: Option<f64>,
    /// The methods that found the pair, where known.
    #[serde(default)]
    pub methods: Vec<String>,
    /// Text of the first document.
    pub text_a: String,
    /// Text of the second.
    pub text_b: String,
}

impl Pair {
    /// Both documents word by word.
    pub fn compare(&self, view: &View) -> Comparison {
        let mut analyser = Analyser::with_secret(&Profile::web(), Secret::of_process());
        let (mut a, mut b) = (Features::default(), Features::default());
        analyser.read(&self.text_a, &mut a);
        analyser.read(&self.text_b, &mut b);
        compare(&Side::new(&self.text_a, &a), &Side::new(&self.text_b, &b), view)
    }
}

/// Reads a sample.
pub fn read(path: &Path) -> Result<Vec<Pair>, ReviewError> {
    let file = path.display().to_string();
    let bytes = std::fs::read(path).map_err(|error| ReviewError::Read(file.clone(), error))?;
    let mut pairs: Vec<Pair> = Vec::new();
    let mut numbers = BTreeSet::new();
    for (index, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        if line.trim_ascii().is_empty() {
            continue;
        }
        let line_number = index + 1;
        let pair: Pair = serde_json::from_slice(line).map_err(|error| ReviewError::NoPair {
            file: file.clone(),
            line: line_number,
            why: super::labels::error_without_position(&error),
        })?;
        if !numbers.insert(pair.n) {
            return Err(ReviewError::Twice { file, line: line_number, n: pair.n });
        }
        pairs.push(pair);
    }
    if pairs.is_empty() {
        return Err(ReviewError::Empty(file));
    }
    Ok(pairs)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(content: &str) -> Result<Vec<Pair>, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("review.jsonl");
        std::fs::write(&path, content).unwrap();
        super::read(&path).map_err(|error| error.to_string().replace(&path.display().to_string(), "FILE"))
    }

    const LINE: &str = r#"{"n":3,"a":"x","b":"y","similarity":null,"text_a":"one","text_b":"two"}"#;

    #[test]
    fn similarity_and_methods_may_be_missing() {
        let more = r#"{"n":4,"a":"x","b":"z","similarity":0.5,"methods":["a4","md5"],"text_a":"","text_b":"","more":1}"#;
        let pairs = read(&format!("{LINE}\n\n{more}\r\n")).unwrap();
        assert_eq!((pairs[0].n, pairs[0].similarity, pairs[0].methods.len()), (3, None, 0));
        assert_eq!(
            (pairs[1].similarity, pairs[1].methods.as_slice()),
            (Some(0.5), ["a4", "md5"].map(str::to_owned).as_slice())
        );
    }

    #[test]
    fn bad_lines_are_named() {
        let wrong = read(&format!("{LINE}\n{{\"n\":4,\"a\":\"x\"}}\n")).unwrap_err();
        assert!(
            wrong.starts_with("FILE, line 2 is no pair: missing field `b`; a line looks like"),
            "{wrong}"
        );
        let wrong = read("no json").unwrap_err();
        assert!(wrong.starts_with("FILE, line 1 is no pair: "), "{wrong}");
        assert_eq!(
            read(&format!("{LINE}\n{LINE}")).unwrap_err(),
            "FILE, line 2: the number 3 was there before; each pair needs its own"
        );
        assert_eq!(read("\n").unwrap_err(), "FILE holds no pairs");
        assert!(
            super::read(Path::new("gone.jsonl"))
                .unwrap_err()
                .to_string()
                .starts_with("gone.jsonl cannot be read: ")
        );
    }
}
