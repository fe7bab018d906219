//! A copy of an index at one moment. Segments never change, so a copy on the same disk takes no room for them.

use std::path::Path;

use lookalike_engine::EngineError;
use lookalike_store::sync::sync;

use crate::acknowledged::{self, Acknowledged};
use crate::error::IndexError;
use crate::index::{Index, KNOWLEDGE, READ_ATTEMPTS, RECIPE, entries, learned_files};
use crate::log;
use crate::manifest::{self, Manifest};
use crate::segment::segment_id;

impl Index {
    /// Copies the index in `from` to the folder `to`, also while another process adds to it.
    pub fn fork(from: &Path, to: &Path) -> Result<(), IndexError> {
        for _ in 0..READ_ATTEMPTS {
            if to.exists() {
                std::fs::remove_dir_all(to).map_err(|error| IndexError::write(to, error))?;
            }
            let manifest = Manifest::read(from)?;
            let copied = copy(from, to, &manifest);
            // What a manifest names may go while it is copied; then there is a newer one.
            if Manifest::read(from)? == manifest {
                copied?;
                return manifest.write(to);
            }
        }
        Err(IndexError::Busy { folder: from.to_owned() })
    }
}

fn copy(from: &Path, to: &Path, manifest: &Manifest) -> Result<(), IndexError> {
    std::fs::create_dir_all(to).map_err(|error| IndexError::write(to, error))?;
    // Older than the logs that are copied behind it.
    let mark = Acknowledged::read(from)?;
    manifest::replace(&acknowledged::path(to), mark.line().as_bytes())?;
    // Looked for first: all logs but the last are finished then, and what comes behind the last is of a later moment.
    let last = log::last(from, manifest.log);
    let knowledge = to.join(KNOWLEDGE);
    std::fs::create_dir_all(&knowledge).map_err(|error| IndexError::write(&knowledge, error))?;
    copy_file(&from.join(RECIPE), &to.join(RECIPE))?;
    for path in learned_files(&from.join(KNOWLEDGE))? {
        copy_file(&path, &knowledge.join(path.file_name().unwrap_or_default()))?;
    }
    let wanted = |id: u64| manifest.segments.iter().any(|entry| entry.id == id);
    for path in entries(from)?.iter().filter(|path| segment_id(path).is_some_and(wanted)) {
        let target = to.join(path.file_name().unwrap_or_default());
        if std::fs::hard_link(path, &target).is_err() {
            copy_file(path, &target)?;
        }
    }
    let mut logs = last.into_iter().flat_map(|last| manifest.log..=last);
    logs.try_for_each(|generation| copy_file(&log::path(from, generation), &log::path(to, generation)))?;
    let mut all = entries(to)?;
    all.extend(entries(&knowledge)?);
    all.extend([knowledge, to.to_owned()]);
    Ok(sync(&all).map_err(EngineError::from)?)
}

fn copy_file(from: &Path, to: &Path) -> Result<(), IndexError> {
    std::fs::copy(from, to).map(drop).map_err(|error| IndexError::write(to, error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::Mode;
    use crate::row::State;
    use crate::testing::SmallIndex;

    fn states(index: &Index) -> Vec<State> {
        let (now, mut blocks) = (index.inner.now(), Default::default());
        (0..index.next()).map(|number| now.row(number, &mut blocks).unwrap().state).collect()
    }

    /// An index with documents in a segment, in a log, and deleted.
    fn original() -> SmallIndex {
        let mut small = SmallIndex::of(&["a b c d e", "a b c d f", "x y z"]);
        small.index.flush().unwrap();
        small.add("d3", "a b c d g");
        small.index.remove("d2").unwrap();
        small
    }

    #[test]
    fn a_copy_has_the_documents_of_its_moment() {
        let mut small = original();
        let folder = tempfile::tempdir().unwrap();
        let to = folder.path().join("deep").join("copy");
        Index::fork(small.path(), &to).unwrap();
        let before = states(&small.index);
        small.add("d4", "x y z");
        let copy = Index::open(&to, Mode::Read).unwrap();
        assert_eq!((states(&copy), copy.next()), (before, 4));
        let checked = copy.check(&mut copy.buffers().unwrap()).unwrap();
        assert_eq!((checked.mistakes, checked.documents), (0, 4));
    }

    #[test]
    fn a_copy_and_its_original_go_their_own_ways() {
        let mut small = original();
        let folder = tempfile::tempdir().unwrap();
        Index::fork(small.path(), folder.path()).unwrap();
        let copy = Index::open(folder.path(), crate::testing::writing()).unwrap();
        copy.remove("d0").unwrap();
        copy.compact().unwrap();
        assert_eq!((small.state(0), states(&copy)[0]), (State::Kept, State::Deleted));
        assert!(small.faults().is_empty());
    }

    #[test]
    fn a_folder_that_is_there_is_replaced() {
        let small = original();
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("old"), "old").unwrap();
        Index::fork(small.path(), folder.path()).unwrap();
        assert!(!folder.path().join("old").exists() && Index::exists(folder.path()));
    }

    #[test]
    fn files_that_the_manifest_does_not_name_are_not_copied() {
        let small = original();
        for name in ["s00000077.rows", "log-00000077", "notes.txt"] {
            std::fs::write(small.path().join(name), "stray").unwrap();
        }
        let folder = tempfile::tempdir().unwrap();
        Index::fork(small.path(), folder.path()).unwrap();
        let mut names: Vec<String> = entries(folder.path()).unwrap().iter().map(|path| name(path)).collect();
        names.retain(|name| segment_id(Path::new(name)) != Some(1));
        names.sort();
        assert_eq!(names, ["acknowledged", "index.json", "log-00000001", "recipe.toml"]);
    }

    fn name(path: &Path) -> String {
        path.file_name().unwrap().to_str().unwrap().to_owned()
    }

    #[test]
    fn a_folder_without_an_index_is_not_copied() {
        let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let error = Index::fork(from.path(), &to.path().join("copy")).unwrap_err();
        assert!(matches!(&error, IndexError::NotAnIndex { folder } if folder == from.path()), "{error:?}");
        assert!(!to.path().join("copy").exists());
    }

    #[test]
    fn a_copy_of_an_index_with_a_missing_file_is_no_index() {
        let small = original();
        std::fs::remove_file(small.path().join(RECIPE)).unwrap();
        let folder = tempfile::tempdir().unwrap();
        assert!(Index::fork(small.path(), folder.path()).is_err());
        assert!(!Index::exists(folder.path()));
    }
}
