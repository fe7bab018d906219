//! The definition of a near-duplicate in a comparison, as typed: `edit:0.8`, `jaccard/5:0.8`, `cosine/1:0.9`.

use std::fmt;
use std::str::FromStr;

use lookalike::engine::measure::Measure;
use lookalike::model::{Similarity, Threshold};
use lookalike::text::Profile;
use serde::{Serialize, Serializer};

/// A similarity, its shingles and its threshold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Truth {
    /// The similarity measure.
    pub similarity: Similarity,
    /// Words per shingle; 1 means the set of words.
    pub shingle: usize,
    /// The least similarity of near-duplicates.
    pub threshold: Threshold,
}

impl Truth {
    /// Returns the engine's measure of the same similarity, threshold and shingle length.
    pub fn measure(&self) -> Measure {
        Measure { similarity: self.similarity, threshold: self.threshold, shingle: self.shingle }
    }

    /// The words that it is measured on unless the user says otherwise: the paper that measures by edits leaves short
    /// words out.
    pub fn profile(&self) -> Profile {
        match self.similarity {
            Similarity::Edit => Profile::yandex(),
            _ => Profile::web(),
        }
    }

    /// Returns the measure for methods that take the run's similarity as theirs: the same where there is a method for it, else
    /// Jaccard of shingles of five words at the same threshold.
    pub fn setting(&self) -> Measure {
        match self.similarity {
            Similarity::Edit | Similarity::CosineTf => {
                Measure { similarity: Similarity::Jaccard, threshold: self.threshold, shingle: 5 }
            }
            _ => self.measure(),
        }
    }
}

/// Words per shingle where none are given: cosine is about words, and edits are about characters.
fn usual_shingle(similarity: Similarity) -> usize {
    match similarity {
        Similarity::Cosine | Similarity::CosineTf => 1,
        _ => 5,
    }
}

impl FromStr for Truth {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let shape = || {
            format!(
                "{text} is no similarity with a threshold, such as edit:0.8, jaccard/5:0.8 or cosine/1:0.9"
            )
        };
        let (what, threshold) = text.split_once(':').ok_or_else(shape)?;
        let (name, shingle) = match what.split_once('/') {
            Some((name, shingle)) => (name, Some(shingle)),
            None => (what, None),
        };
        let similarity: Similarity = name.parse()?;
        if similarity == Similarity::Edit && shingle.is_some() {
            return Err("edit is measured on characters and has no shingles; write edit:0.8".to_owned());
        }
        let shingle = match shingle {
            None => usual_shingle(similarity),
            Some(digits) => digits.parse().ok().filter(|&shingle| shingle > 0).ok_or_else(shape)?,
        };
        Ok(Truth { similarity, shingle, threshold: threshold.parse()? })
    }
}

impl fmt::Display for Truth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.similarity {
            Similarity::Edit => write!(f, "edit:{}", self.threshold),
            other => write!(f, "{other}/{}:{}", self.shingle, self.threshold),
        }
    }
}

impl Serialize for Truth {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_comes_back() {
        for (typed, shown) in [
            ("edit:0.8", "edit:0.8"),
            ("jaccard/5:0.8", "jaccard/5:0.8"),
            ("jaccard:0.9", "jaccard/5:0.9"),
            ("jaccard/1:0.9", "jaccard/1:0.9"),
            ("cosine/1:0.9", "cosine/1:0.9"),
            ("cosine-tf:0.9", "cosine-tf/1:0.9"),
        ] {
            let truth: Truth = typed.parse().unwrap();
            assert_eq!(truth.to_string(), shown);
        }
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for (typed, why) in [
            ("edit", "no similarity with a threshold"),
            ("edits:0.8", "a similarity is"),
            ("edit/5:0.8", "no shingles"),
            ("jaccard/0:0.8", "no similarity with a threshold"),
            ("jaccard/5:1.2", "threshold"),
        ] {
            let error = typed.parse::<Truth>().unwrap_err();
            assert!(error.contains(why), "{typed}: {error}");
        }
    }
}
