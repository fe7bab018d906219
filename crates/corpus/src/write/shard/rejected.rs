//! The records of a shard that cannot be read, as they stand.
//!
//! They come from a second reading of the same bytes, so that no reader has to keep what it rejects.

use std::io;
use std::path::Path;
use std::sync::Arc;

use super::{Progress, RecordWriter, copy_stored, is_one_document};
use crate::input::Stream;
use crate::{CorpusError, Format, Item, Origin, ReadOptions, Reader, Shard};

/// Counts of the rejected records of a shard, copied and lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RejectedCounts {
    /// Records that were rejected.
    pub records: u64,
    /// Records of which nothing could be copied: damage has left no byte of them, or their format has no records that stand alone.
    pub lost: u64,
}

/// Copies the records that cannot be read, and documents that `refused` names by their record number.
///
/// Everything from the place of a rejection to the next record that can be read is copied as it stands in the uncompressed shard,
/// behind what stands before the first record, and compressed as the shard is. Of Parquet rows are copied, under the same schema. A
/// file that is one document is copied as it is. What damaged compression has swallowed cannot be copied and is counted.
///
/// The copy appears at `target`, in a folder that must be there, when it is whole, and only if there is something to copy. When
/// `progress` breaks, the answer is `None` and nothing is left of the copy.
pub fn copy_rejected(
    shard: &Shard,
    options: &Arc<ReadOptions>,
    target: &Path,
    refused: &mut dyn FnMut(u64) -> bool,
    progress: &mut Progress<'_>,
) -> Result<Option<RejectedCounts>, CorpusError> {
    if shard.origin == Origin::Stdin {
        return Err(CorpusError::ReadOnce { name: shard.name.clone() });
    }
    let reader = shard.open(options)?;
    let format = reader.format();
    match format {
        Format::Parquet => copy_rows(shard, options, reader, target, refused, progress),
        Format::MediaWiki | Format::Table => count(reader, refused, progress),
        _ if is_one_document(format) => {
            let found = count(reader, refused, progress)?;
            match found {
                Some(RejectedCounts { records, .. }) if records > 0 => {
                    copy_stored(shard, target)?;
                    Ok(Some(RejectedCounts { records, lost: 0 }))
                }
                found => Ok(found),
            }
        }
        _ => copy_byte_ranges(shard, options, reader, target, refused, progress),
    }
}

/// Counts the records that are rejected; none of them can be copied.
fn count(
    mut reader: Reader,
    refused: &mut dyn FnMut(u64) -> bool,
    progress: &mut Progress<'_>,
) -> Result<Option<RejectedCounts>, CorpusError> {
    let mut records = 0;
    loop {
        if progress(reader.consumed()).is_break() {
            return Ok(None);
        }
        match reader.next()? {
            None => return Ok(Some(RejectedCounts { records, lost: records })),
            Some(Item::Rejected(_)) => records += 1,
            Some(Item::Document(document)) => records += u64::from(refused(document.place.record)),
            Some(Item::Skipped(_)) => {}
        }
    }
}

#[cfg(feature = "parquet")]
use super::rows::copy_rejected as copy_rows;

#[cfg(not(feature = "parquet"))]
fn copy_rows(
    shard: &Shard,
    _: &ReadOptions,
    _: Reader,
    _: &Path,
    _: &mut dyn FnMut(u64) -> bool,
    _: &mut Progress<'_>,
) -> Result<Option<RejectedCounts>, CorpusError> {
    Err(CorpusError::NotBuilt { name: shard.name.clone(), feature: "parquet" })
}

fn copy_byte_ranges(
    shard: &Shard,
    options: &Arc<ReadOptions>,
    mut reader: Reader,
    target: &Path,
    refused: &mut dyn FnMut(u64) -> bool,
    progress: &mut Progress<'_>,
) -> Result<Option<RejectedCounts>, CorpusError> {
    let mut records = RecordWriter::begin(&shard.name, &reader, target)?;
    records.preamble(reader.preamble(), false)?;
    let preamble = records.written;
    let stream = shard.stream(options, &Arc::default(), &Arc::default())?;
    let mut copier = RejectedCopier { shard, stream, records, open: None };
    let mut found = RejectedCounts::default();
    loop {
        if progress(reader.consumed()).is_break() {
            return Ok(None);
        }
        match reader.next()? {
            None => break,
            Some(Item::Rejected(rejection)) => {
                found.records += 1;
                found.lost += copier.reject(rejection.place.position)?;
            }
            Some(Item::Skipped(skip)) => found.lost += copier.end(skip.position)?,
            Some(Item::Document(document)) => {
                found.lost += copier.end(document.place.position)?;
                if refused(document.place.record) {
                    found.records += 1;
                    copier.records.copy(document.raw.unwrap_or_default())?;
                }
            }
        }
    }
    found.lost += copier.end(u64::MAX)?;
    let RejectedCopier { records, .. } = copier;
    if records.written > preamble {
        records.sink.finish()?;
    }
    Ok(Some(found))
}

/// The bytes of a shard beside its reader: what the reader rejects is copied from here.
struct RejectedCopier<'s> {
    shard: &'s Shard,
    stream: Stream,
    records: RecordWriter<'s>,
    /// Offset of the record that was rejected last.
    open: Option<u64>,
}

impl RejectedCopier<'_> {
    /// Begins a record that is rejected at `position`; returns the number of records before it that had no bytes.
    fn reject(&mut self, position: u64) -> Result<u64, CorpusError> {
        let lost = self.end(position)?;
        self.open = Some(position);
        Ok(lost)
    }

    /// Ends the rejected record, if there is one, before `position`; returns 1 if it had no bytes.
    fn end(&mut self, position: u64) -> Result<u64, CorpusError> {
        let Some(begin) = self.open.take() else { return Ok(0) };
        let name = &self.shard.name;
        pass(&mut self.stream, begin, |_| Ok(())).map_err(|error| error.named(name))?;
        let (records, mut written) = (&mut self.records, false);
        let copied = pass(&mut self.stream, position, |piece| {
            if std::mem::replace(&mut written, true) {
                records.continue_record(piece)
            } else {
                records.copy(piece)
            }
        });
        copied.map_err(|error| error.named(name))?;
        Ok(u64::from(!written))
    }
}

/// The reason why bytes could not be passed on.
enum Failure {
    Read(io::Error),
    Write(CorpusError),
}

impl Failure {
    fn named(self, name: &str) -> CorpusError {
        match self {
            Failure::Read(error) => CorpusError::reading(name)(error),
            Failure::Write(error) => error,
        }
    }
}

/// Goes to `position`, over damage, and hands out all bytes on the way.
fn pass(
    stream: &mut Stream,
    position: u64,
    mut each: impl FnMut(&[u8]) -> Result<(), CorpusError>,
) -> Result<(), Failure> {
    while stream.offset() < position {
        let left = usize::try_from(position - stream.offset()).unwrap_or(usize::MAX);
        let length = stream.window().len().min(left);
        if length > 0 {
            each(&stream.window()[..length]).map_err(Failure::Write)?;
            stream.advance(length);
        } else if !stream.more().map_err(Failure::Read)? {
            if stream.fault().is_none() {
                break;
            }
            stream.resume();
        }
    }
    Ok(())
}
