//! The errors of files. Callers convert them into their own, which know what to do about it.

use std::io;
use std::path::{Path, PathBuf};

use crate::sync::SyncError;

/// The reason why a file could not be used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A file could not be read.
    #[error("{} cannot be read: {source}", file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A file could not be written.
    #[error("{} cannot be written: {source}", file.display())]
    Write {
        /// The file.
        file: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A file, or its name in its folder, could not be put on the disk.
    #[error(transparent)]
    Sync(#[from] SyncError),
    /// No room is left on the disk.
    #[error("the disk is full: {} cannot be written", file.display())]
    DiskFull {
        /// The file.
        file: PathBuf,
    },
    /// A file is not as it was written.
    #[error("{} is damaged: {what}", file.display())]
    Damaged {
        /// The file.
        file: PathBuf,
        /// A description of the damage.
        what: String,
    },
}

impl StoreError {
    /// A file that cannot be read.
    pub fn read(file: &Path, source: io::Error) -> Self {
        StoreError::Read { file: file.to_owned(), source }
    }

    /// A file that cannot be written; a full disk is told from other reasons.
    pub fn write(file: &Path, source: io::Error) -> Self {
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                StoreError::DiskFull { file: file.to_owned() }
            }
            _ => StoreError::Write { file: file.to_owned(), source },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_told_from_other_reasons() {
        let write = |kind: io::ErrorKind| StoreError::write(Path::new("f"), kind.into());
        for kind in [io::ErrorKind::StorageFull, io::ErrorKind::QuotaExceeded] {
            assert_eq!(write(kind).to_string(), "the disk is full: f cannot be written");
        }
        assert!(write(io::ErrorKind::PermissionDenied).to_string().starts_with("f cannot be written: "));
        let read = StoreError::read(Path::new("f"), io::ErrorKind::NotFound.into()).to_string();
        assert!(read.starts_with("f cannot be read: "), "{read}");
    }
}
