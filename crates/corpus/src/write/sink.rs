//! A compressed file that appears whole or not at all.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use super::pending::Pending;
use crate::{Compression, CorpusError};
use bzip2::write::BzEncoder;
use flate2::write::GzEncoder;
use liblzma::write::XzEncoder;
use lz4_flex::frame::{BlockSize, FrameEncoder, FrameInfo};

/// Takes 17 MiB; the default would take 94, for each file that is being written.
const XZ_PRESET: u32 = 2;

/// Bytes on their way into a file. Dropping it without [`Sink::finish`] removes what has been written.
pub struct Sink {
    encoder: Encoder,
    pending: Pending,
    compression: Compression,
    /// Buffer in which records are encoded before they are written; used again for every one.
    pub(super) buffer: Vec<u8>,
}

enum Encoder {
    Plain(BufWriter<File>),
    Gzip(GzEncoder<BufWriter<File>>),
    Zstd(zstd::stream::write::Encoder<'static, BufWriter<File>>),
    Bzip2(BzEncoder<BufWriter<File>>),
    Xz(XzEncoder<BufWriter<File>>),
    Lz4(Box<FrameEncoder<BufWriter<File>>>),
    /// Only while a member is being replaced, or after it could not be.
    Broken,
}

impl Encoder {
    fn begin(compression: Compression, file: BufWriter<File>) -> io::Result<Self> {
        Ok(match compression {
            Compression::None => Encoder::Plain(file),
            Compression::Gzip => Encoder::Gzip(GzEncoder::new(file, flate2::Compression::default())),
            Compression::Zstd => {
                let mut encoder = zstd::stream::write::Encoder::new(file, zstd::DEFAULT_COMPRESSION_LEVEL)?;
                // Readers step over a damaged frame only when they notice the damage.
                encoder.include_checksum(true)?;
                Encoder::Zstd(encoder)
            }
            Compression::Bzip2 => Encoder::Bzip2(BzEncoder::new(file, bzip2::Compression::best())),
            Compression::Xz => Encoder::Xz(XzEncoder::new(file, XZ_PRESET)),
            Compression::Lz4 => {
                let info = FrameInfo::new().content_checksum(true).block_size(BlockSize::Max256KB);
                Encoder::Lz4(Box::new(FrameEncoder::with_frame_info(info, file)))
            }
        })
    }

    /// Ends the member.
    fn end(self) -> io::Result<BufWriter<File>> {
        match self {
            Encoder::Plain(file) => Ok(file),
            Encoder::Gzip(encoder) => encoder.finish(),
            Encoder::Zstd(encoder) => encoder.finish(),
            Encoder::Bzip2(encoder) => encoder.finish(),
            Encoder::Xz(encoder) => encoder.finish(),
            Encoder::Lz4(encoder) => Ok(encoder.finish()?),
            Encoder::Broken => Err(broken()),
        }
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Encoder::Plain(file) => file.write_all(bytes),
            Encoder::Gzip(encoder) => encoder.write_all(bytes),
            Encoder::Zstd(encoder) => encoder.write_all(bytes),
            Encoder::Bzip2(encoder) => encoder.write_all(bytes),
            Encoder::Xz(encoder) => encoder.write_all(bytes),
            Encoder::Lz4(encoder) => encoder.write_all(bytes),
            Encoder::Broken => Err(broken()),
        }
    }
}

fn broken() -> io::Error {
    io::Error::other("an earlier write failed")
}

impl Sink {
    /// Begins a file that will stand at `target`.
    pub fn create(target: &Path, compression: Compression) -> Result<Self, CorpusError> {
        let (file, pending) = Pending::begin(target)?;
        let encoder = Encoder::begin(compression, BufWriter::with_capacity(128 << 10, file));
        let encoder = encoder.map_err(|error| pending.failure(error))?;
        Ok(Sink { encoder, pending, compression, buffer: Vec::new() })
    }

    pub(super) fn write_record(&mut self, bytes: &[u8]) -> Result<(), CorpusError> {
        self.encoder.write_all(bytes).map_err(|error| self.pending.failure(error))
    }

    /// Writes what stands in the buffer and empties it.
    pub(super) fn write_buffer(&mut self) -> Result<(), CorpusError> {
        let written = self.encoder.write_all(&self.buffer);
        self.buffer.clear();
        written.map_err(|error| self.pending.failure(error))
    }

    /// Ends the member and begins another one, where the compression has members for single records.
    pub(super) fn next_member(&mut self) -> Result<(), CorpusError> {
        // A stream of the others costs far more than a record is long, or is seldom read one by one.
        if !matches!(self.compression, Compression::Gzip | Compression::Zstd) {
            return Ok(());
        }
        let ended = std::mem::replace(&mut self.encoder, Encoder::Broken).end();
        let begun = ended.and_then(|file| Encoder::begin(self.compression, file));
        self.encoder = begun.map_err(|error| self.pending.failure(error))?;
        Ok(())
    }

    /// Closes the file and moves it to its place.
    pub fn finish(self) -> Result<(), CorpusError> {
        let closed = self.encoder.end().and_then(|mut file| file.flush());
        closed.map_err(|error| self.pending.failure(error))?;
        self.pending.finish()
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.encoder.write_all(bytes)?;
        Ok(bytes.len())
    }

    /// Compressed data cannot be flushed without cost to their size; [`Sink::finish`] does it.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let name = |entry: io::Result<std::fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
        std::fs::read_dir(folder).unwrap().map(name).collect()
    }

    #[test]
    fn a_file_appears_when_it_is_finished() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("a");
        let mut sink = Sink::create(&target, Compression::None).unwrap();
        sink.write_record(b"text").unwrap();
        assert!(!target.exists());
        sink.finish().unwrap();
        assert_eq!(names(folder.path()), ["a"]);
        assert_eq!(std::fs::read(&target).unwrap(), b"text");
    }

    #[test]
    fn nothing_is_left_of_a_file_that_is_not_finished() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("a");
        std::fs::write(&target, "old").unwrap();
        for compression in Compression::ALL.into_iter().chain([Compression::None]) {
            let mut sink = Sink::create(&target, compression).unwrap();
            sink.write_record(b"text").unwrap();
            drop(sink);
            assert_eq!(names(folder.path()), ["a"]);
            assert_eq!(std::fs::read(&target).unwrap(), b"old");
        }
    }

    #[test]
    fn a_folder_that_is_not_there_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("none").join("a.jsonl");
        let Err(error) = Sink::create(&target, Compression::None) else { panic!("there is no folder") };
        assert!(matches!(&error, CorpusError::Write { name, .. } if name.ends_with("a.jsonl")), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn a_finished_file_has_the_rights_of_any_new_file() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let (target, other) = (folder.path().join("a"), folder.path().join("b"));
        Sink::create(&target, Compression::None).unwrap().finish().unwrap();
        std::fs::write(&other, "").unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode(&target), mode(&other));
    }
}
