//! Files that appear under their names when they are whole, and of which nothing stays when they never are.
//!
//! Every unfinished file is known to the process: [`abandon`] removes them all when a program must end while
//! other threads still work or wait.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::{NamedTempFile, TempPath};

use crate::CorpusError;

/// Files that have been begun and neither finished nor removed.
static UNFINISHED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// Removes every unfinished file. From then on none can be begun or finished: a thread that tries waits for the end of
/// the process, which the caller must bring about.
pub fn abandon() {
    let unfinished = unfinished();
    for path in unfinished.iter() {
        // It may be gone already, and nobody is left to hear of it.
        let _ = fs::remove_file(path);
    }
    std::mem::forget(unfinished);
}

fn unfinished() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The name of a file that is removed when this is dropped, or by [`abandon`].
#[derive(Debug)]
pub struct Temporary {
    path: Option<TempPath>,
}

impl Temporary {
    /// A file in the system's folder for temporary files.
    pub fn scratch() -> io::Result<(File, Temporary)> {
        Self::make(NamedTempFile::new)
    }

    /// A file in `folder`, with the rights that any new file has.
    fn beside(folder: &Path) -> io::Result<(File, Temporary)> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(".lookalike-").suffix(".partial");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            // The umask still takes away what it should.
            builder.permissions(fs::Permissions::from_mode(0o666));
        }
        Self::make(|| builder.tempfile_in(folder))
    }

    /// Makes and registers a file in one step, so that no moment is left for [`abandon`] to miss it.
    fn make(create: impl FnOnce() -> io::Result<NamedTempFile>) -> io::Result<(File, Temporary)> {
        let mut unfinished = unfinished();
        let (file, path) = create()?.into_parts();
        unfinished.insert(path.to_path_buf());
        Ok((file, Temporary { path: Some(path) }))
    }

    /// The file's present name.
    pub fn path(&self) -> &Path {
        self.path.as_deref().unwrap_or(Path::new(""))
    }

    fn persist(mut self, target: &Path) -> io::Result<()> {
        let mut unfinished = unfinished();
        let Some(path) = self.path.take() else { return Ok(()) };
        unfinished.remove(&*path);
        path.persist(target).map_err(|error| error.error)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if let Some(path) = self.path.take() {
            let mut unfinished = unfinished();
            unfinished.remove(&*path);
            drop(path);
        }
    }
}

/// A file that is being written.
pub(super) struct Pending {
    /// As given, for messages.
    target: PathBuf,
    /// The temporary file and its final path; `None` for a device or a pipe, which is written directly.
    renaming: Option<(Temporary, PathBuf)>,
}

impl Pending {
    /// Begins a file that will stand at `target`; links are followed, so that they stay links.
    pub(super) fn begin(target: &Path) -> Result<(File, Pending), CorpusError> {
        let pending = |(file, renaming)| (file, Pending { target: target.to_owned(), renaming });
        begin(target).map(pending).map_err(writing(target))
    }

    /// A file for a part that is not yet in its place, in the folder of this one: other folders may lie in memory, or be too small.
    #[cfg(feature = "parquet")]
    pub(super) fn scratch(&self) -> Result<(File, Temporary), CorpusError> {
        let made = match &self.renaming {
            Some((_, place)) => Temporary::beside(folder_of(place)),
            None => Temporary::scratch(),
        };
        made.map_err(writing(&self.target))
    }

    /// Gives the file its name.
    pub(super) fn finish(self) -> Result<(), CorpusError> {
        let Some((temporary, place)) = self.renaming else { return Ok(()) };
        temporary.persist(&place).map_err(writing(&self.target))
    }

    /// Returns the error about a file that cannot be written.
    pub(super) fn failure(&self, source: io::Error) -> CorpusError {
        writing(&self.target)(source)
    }
}

fn begin(target: &Path) -> io::Result<(File, Option<(Temporary, PathBuf)>)> {
    let place = match fs::metadata(target) {
        Ok(found) if found.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
        Ok(found) if !found.is_file() => return Ok((OpenOptions::new().write(true).open(target)?, None)),
        Ok(_) => fs::canonicalize(target)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => target.to_owned(),
        Err(error) => return Err(error),
    };
    let (file, temporary) = Temporary::beside(folder_of(&place))?;
    Ok((file, Some((temporary, place))))
}

fn folder_of(place: &Path) -> &Path {
    place.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn writing(target: &Path) -> impl FnOnce(io::Error) -> CorpusError + '_ {
    move |source| CorpusError::Write { name: target.display().to_string(), source }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let name = |entry: io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
        let mut names: Vec<String> = fs::read_dir(folder).unwrap().map(name).collect();
        names.sort();
        names
    }

    #[test]
    fn a_folder_is_refused_before_the_work() {
        let folder = tempfile::tempdir().unwrap();
        let Err(error) = Pending::begin(folder.path()) else { panic!("it is a folder") };
        assert!(error.to_string().contains("it is a folder"), "{error}");
        assert!(names(folder.path()).is_empty());
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, "old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        let (mut out, pending) = Pending::begin(&link).unwrap();
        out.write_all(b"new").unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"old");
        pending.finish().unwrap();
        assert!(link.is_symlink());
        assert_eq!(fs::read(&file).unwrap(), b"new");
        assert_eq!(names(folder.path()), ["file", "link"]);
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_is_written_and_never_replaced() {
        use std::os::unix::fs::FileTypeExt;
        let folder = tempfile::tempdir().unwrap();
        let (pipe, link) = (folder.path().join("pipe"), folder.path().join("link"));
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        std::os::unix::fs::symlink(&pipe, &link).unwrap();
        for target in [&pipe, &link] {
            let reader = std::thread::spawn({
                let pipe = pipe.clone();
                move || fs::read(pipe).unwrap()
            });
            let (mut out, pending) = Pending::begin(target).unwrap();
            out.write_all(b"new").unwrap();
            drop(out);
            pending.finish().unwrap();
            assert_eq!(reader.join().unwrap(), b"new");
        }
        assert!(fs::metadata(&pipe).unwrap().file_type().is_fifo());
        assert_eq!(names(folder.path()), ["link", "pipe"]);
    }

    #[test]
    fn every_unfinished_file_is_known_until_it_is_dropped_or_finished() {
        let folder = tempfile::tempdir().unwrap();
        let known = || unfinished().iter().filter(|path| path.starts_with(folder.path())).count();
        let (_, first) = Pending::begin(&folder.path().join("a")).unwrap();
        let (_, second) = Pending::begin(&folder.path().join("b")).unwrap();
        assert_eq!(known(), 2);
        drop(first);
        assert_eq!(known(), 1);
        second.finish().unwrap();
        assert_eq!(known(), 0);
        assert_eq!(names(folder.path()), ["b"]);
    }
}
