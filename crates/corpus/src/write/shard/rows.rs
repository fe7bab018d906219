//! Parquet with fewer rows.

use std::io;
use std::path::Path;

use super::{Copied, Decide, Progress, Verdict, write_file};
use crate::write::parquet::{Halt, RowCopy};
use crate::write::pending::Temporary;
use crate::write::sink::Sink;
use crate::{Compression, CorpusError, Item, Origin, Reader, Shard};

/// Copies the rows to be kept. The reader walks ahead of the copy, one row group at a time, since only it knows which
/// rows are documents.
pub(super) fn copy(
    shard: &Shard,
    mut reader: Reader,
    target: &Path,
    mut decide: Decide<'_>,
    progress: &mut Progress<'_>,
) -> Result<Option<Copied>, CorpusError> {
    let compression = reader.compression();
    let spooled = match &shard.origin {
        Origin::File(_) if compression == Compression::None => None,
        _ => Some(shard.spool_apart()?),
    };
    let source = match (&spooled, &shard.origin) {
        (Some(spooled), _) => spooled.path(),
        (None, Origin::File(path)) => path,
        (None, _) => return Err(CorpusError::ReadOnce { name: shard.name.clone() }),
    };
    let mut copied = Copied::default();
    let copying = RowCopy { source, name: &shard.name, annotated: decide.annotates() };
    let mut next = |row| {
        if progress(reader.consumed()).is_break() {
            return Err(Halt::Stopped);
        }
        let verdict = match reader.next().map_err(Halt::Failed)? {
            Some(Item::Document(document)) if document.place.position == row => {
                decide.verdict(document.place.record)
            }
            Some(Item::Rejected(rejection)) if rejection.place.position == row => {
                copied.rejected += 1;
                return Ok(Verdict::Drop);
            }
            _ => return Err(Halt::Failed(changed(shard))),
        };
        copied.count(verdict);
        Ok(verdict)
    };
    let outcome = if compression == Compression::None {
        copying.run(target, &mut next)
    } else {
        copy_compressed(&copying, target, compression, &mut next)
    };
    match outcome {
        Ok(()) => Ok(Some(copied)),
        Err(Halt::Stopped) => Ok(None),
        Err(Halt::Failed(error)) => Err(error),
    }
}

fn copy_compressed(
    copying: &RowCopy<'_>,
    target: &Path,
    compression: Compression,
    next: &mut dyn FnMut(u64) -> Result<Verdict, Halt>,
) -> Result<(), Halt> {
    let sink = Sink::create(target, compression).map_err(Halt::Failed)?;
    let (_, scratch) = Temporary::scratch()
        .map_err(|source| Halt::Failed(CorpusError::Write { name: target.display().to_string(), source }))?;
    copying.run(scratch.path(), next)?;
    write_file(scratch.path(), sink).map_err(Halt::Failed)
}

fn changed(shard: &Shard) -> CorpusError {
    let complaint = "its rows are not those that were there a moment ago; copy it when nobody writes to it";
    CorpusError::Read { name: shard.name.clone(), source: io::Error::other(complaint) }
}
