//! Files that survive a loss of power: their content, and their names in their folders.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Requests to the disk that are under way at once: a file system writes down several with one commit of its journal.
const CONCURRENT_SYNCS: usize = 8;

/// A file, or its name in its folder, that could not be put on the disk.
#[derive(Debug, thiserror::Error)]
#[error("{} cannot be put on the disk: {source}", file.display())]
pub struct SyncError {
    /// The file, or the folder.
    pub file: PathBuf,
    /// The cause.
    pub source: io::Error,
}

/// Returns when the content of all `files` and the names of all files in their folders are on the disk. What is no longer there, and
/// what is no file, is passed over.
pub fn sync(files: &[PathBuf]) -> Result<(), SyncError> {
    each(files, sync_file)?;
    let folder = |file: &PathBuf| file.parent().map(Path::to_owned);
    let folders: BTreeSet<PathBuf> = files.iter().filter_map(folder).collect();
    each(&folders.into_iter().collect::<Vec<_>>(), sync_folder)
}

/// Puts a folder's list of names on the disk.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    // Elsewhere a folder cannot be opened, and its names are written in order.
    if cfg!(unix) { ignore_missing(File::open(folder).and_then(|folder| folder.sync_all())) } else { Ok(()) }
}

fn sync_file(path: &Path) -> io::Result<()> {
    let facts = match path.metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        facts => facts?,
    };
    if !facts.is_file() {
        return Ok(());
    }
    // Some systems put only on the disk what was opened to be written to.
    ignore_missing(File::options().read(true).write(!cfg!(unix)).open(path).and_then(|file| file.sync_all()))
}

fn ignore_missing(done: io::Result<()>) -> io::Result<()> {
    match done {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

fn each(paths: &[PathBuf], act: fn(&Path) -> io::Result<()>) -> Result<(), SyncError> {
    let next = AtomicUsize::new(0);
    let failure: Mutex<Option<SyncError>> = Mutex::new(None);
    let worker = || {
        while let Some(path) = paths.get(next.fetch_add(1, Ordering::Relaxed)) {
            if let Err(source) = act(path) {
                let mut failure = failure.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                failure.get_or_insert(SyncError { file: path.clone(), source });
                return;
            }
        }
    };
    std::thread::scope(|scope| {
        (1..paths.len().min(CONCURRENT_SYNCS)).for_each(|_| drop(scope.spawn(worker)));
        worker();
    });
    failure.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner).map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_gone_or_no_file_is_passed_over_and_what_cannot_be_reached_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("a"), "text").unwrap();
        std::fs::create_dir(path("b")).unwrap();
        let many = (0..40).map(|number| path(&format!("many-{number}")));
        many.clone().for_each(|path| std::fs::write(path, "x").unwrap());
        let all: Vec<PathBuf> =
            [path("a"), path("b"), path("gone"), path("b/gone")].into_iter().chain(many).collect();
        sync(&all).unwrap();
        sync(&[]).unwrap();
        let error = sync(&[path("a/below")]).unwrap_err().to_string();
        assert!(error.contains("below"), "{error}");
    }
}
