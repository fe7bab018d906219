//! Facts that a later process goes on from: a run of bytes, checked like all others.

use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::StoreError;
use crate::file::{Label, Run, RunWriter};

fn label(stamp: u128) -> Label {
    Label::new("facts", 1, stamp)
}

/// Writes facts down.
pub fn save(path: &Path, stamp: u128, facts: &impl Serialize) -> Result<(), StoreError> {
    let mut writer = RunWriter::create(path, label(stamp))?;
    writer.push(&serde_json::to_vec(facts).expect("counts can be written"))?;
    writer.finish()
}

/// The facts that were written down, if they were.
pub fn saved<T: DeserializeOwned>(path: &Path, stamp: u128) -> Result<Option<T>, StoreError> {
    if !path.exists() {
        return Ok(None);
    }
    let run = Run::open(path, label(stamp))?;
    let mut text = vec![0; run.bytes() as usize];
    run.records().take(&mut text)?;
    let facts = serde_json::from_slice(&text);
    facts.map(Some).map_err(|error| StoreError::Damaged { file: path.to_owned(), what: error.to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_read_back_by_their_job_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("facts");
        assert_eq!(saved::<Vec<u64>>(&path, 7).unwrap(), None);
        let numbers: Vec<u64> = (0..5000).collect();
        save(&path, 7, &numbers).unwrap();
        assert_eq!(saved(&path, 7).unwrap(), Some(numbers));
        assert!(matches!(saved::<Vec<u64>>(&path, 8), Err(StoreError::Damaged { .. })));
    }

    #[test]
    fn facts_of_another_kind_are_damage() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("facts");
        save(&path, 7, &"text").unwrap();
        let error = saved::<u64>(&path, 7).unwrap_err();
        assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
        save(&path, 7, &9u64).unwrap();
        assert_eq!(saved(&path, 7).unwrap(), Some(9u64), "facts are replaced");
    }
}
