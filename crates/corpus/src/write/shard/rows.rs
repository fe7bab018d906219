//! Parquet with fewer rows.

use std::io;
use std::path::Path;

use super::{CopyCounts, Decide, Progress, RejectedCounts, Verdict, write_file};
use crate::write::parquet::{CopyAbort, RowCopy};
use crate::write::pending::Temporary;
use crate::write::sink::Sink;
use crate::{Compression, CorpusError, Item, Origin, ReadOptions, Reader, Shard};

/// Copies the rows to be kept. The reader walks ahead of the copy, one row group at a time, since only it knows which
/// rows are documents.
pub(super) fn copy(
    shard: &Shard,
    options: &ReadOptions,
    mut reader: Reader,
    target: &Path,
    mut decide: Decide<'_>,
    progress: &mut Progress<'_>,
) -> Result<Option<CopyCounts>, CorpusError> {
    let compression = reader.compression();
    let (annotated, mut copied) = (decide.annotates(), CopyCounts::default());
    let mut next = |row| {
        if progress(reader.consumed()).is_break() {
            return Err(CopyAbort::Stopped);
        }
        let verdict = match reader.next().map_err(CopyAbort::Failed)? {
            Some(Item::Document(document)) if document.place.position == row => {
                decide.verdict(document.place.record)
            }
            Some(Item::Rejected(rejection)) if rejection.place.position == row => {
                copied.rejected += 1;
                return Ok(Verdict::Drop);
            }
            _ => return Err(CopyAbort::Failed(changed(shard))),
        };
        copied.count(verdict);
        Ok(verdict)
    };
    let source = Source::of(shard, options, compression)?;
    let done = source.copy((shard, options), target, compression, (annotated, false), &mut next)?;
    Ok(done.map(|_| CopyCounts { source: reader.digest(), ..copied }))
}

/// Copies the rows that cannot be read as documents, from row groups that can be decoded.
pub(super) fn copy_rejected(
    shard: &Shard,
    options: &ReadOptions,
    mut reader: Reader,
    target: &Path,
    refused: &mut dyn FnMut(u64) -> bool,
    progress: &mut Progress<'_>,
) -> Result<Option<RejectedCounts>, CorpusError> {
    let compression = reader.compression();
    let mut records = 0;
    let mut next = |row| {
        if progress(reader.consumed()).is_break() {
            return Err(CopyAbort::Stopped);
        }
        let rejected = match reader.next().map_err(CopyAbort::Failed)? {
            Some(Item::Document(document)) if document.place.position == row => {
                refused(document.place.record)
            }
            Some(Item::Rejected(rejection)) if rejection.place.position == row => true,
            _ => return Err(CopyAbort::Failed(changed(shard))),
        };
        records += u64::from(rejected);
        Ok(if rejected { Verdict::Keep } else { Verdict::Drop })
    };
    let source = Source::of(shard, options, compression)?;
    let lost = source.copy((shard, options), target, compression, (false, true), &mut next)?;
    Ok(lost.map(|lost| RejectedCounts { records, lost }))
}

/// A Parquet file that is no longer compressed as a whole.
enum Source<'s> {
    File(&'s Path),
    Spooled(Temporary),
}

impl<'s> Source<'s> {
    fn of(shard: &'s Shard, options: &ReadOptions, compression: Compression) -> Result<Self, CorpusError> {
        match &shard.origin {
            Origin::File(path) if compression == Compression::None => Ok(Source::File(path)),
            _ => shard.spool_apart(options).map(Source::Spooled),
        }
    }

    /// Copies rows; returns the number that was to be copied and could not be decoded, or `None` when the copy was stopped.
    fn copy(
        &self,
        (shard, options): (&Shard, &ReadOptions),
        target: &Path,
        compression: Compression,
        (annotated, rejects): (bool, bool),
        next: &mut dyn FnMut(u64) -> Result<Verdict, CopyAbort>,
    ) -> Result<Option<u64>, CorpusError> {
        let source = match self {
            Source::File(path) => path,
            Source::Spooled(temporary) => temporary.path(),
        };
        let budget = options.decoding.budget();
        let copying = RowCopy { source, name: &shard.name, annotated, rejects, budget };
        let outcome = if compression == Compression::None {
            copying.run(target, next)
        } else {
            copy_compressed(&copying, target, compression, next)
        };
        match outcome {
            Ok(lost) => Ok(Some(lost)),
            Err(CopyAbort::Stopped) => Ok(None),
            Err(CopyAbort::Failed(error)) => Err(error),
        }
    }
}

fn copy_compressed(
    copying: &RowCopy<'_>,
    target: &Path,
    compression: Compression,
    next: &mut dyn FnMut(u64) -> Result<Verdict, CopyAbort>,
) -> Result<u64, CopyAbort> {
    let sink = Sink::create(target, compression).map_err(CopyAbort::Failed)?;
    let (_, scratch) = Temporary::scratch().map_err(|source| {
        CopyAbort::Failed(CorpusError::Write { name: target.display().to_string(), source })
    })?;
    let lost = copying.run(scratch.path(), next)?;
    if copying.rejects && std::fs::metadata(scratch.path()).is_ok_and(|facts| facts.len() == 0) {
        return Ok(lost);
    }
    write_file(scratch.path(), sink).map_err(CopyAbort::Failed)?;
    Ok(lost)
}

fn changed(shard: &Shard) -> CorpusError {
    let complaint = "its rows are not those that were there a moment ago; copy it when nobody writes to it";
    CorpusError::Read { name: shard.name.clone(), source: io::Error::other(complaint) }
}
