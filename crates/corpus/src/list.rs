//! Files that are no corpora, such as lists of names: their bytes, uncompressed.

use std::fs::File;
use std::io::{self, BufRead, Read};
use std::path::Path;

use crate::input::{Replay, Stream};
use crate::options::DecoderBudget;
use crate::{Compression, CorpusError};

/// The bytes of a file, uncompressed, to be read line by line. Damage is an error: a list of which a part is missing says
/// something else.
///
/// ```
/// use std::io::BufRead;
/// use lookalike_corpus::ListReader;
///
/// let folder = tempfile::tempdir()?;
/// let file = folder.path().join("names.txt");
/// std::fs::write(&file, "one\ntwo\n")?;
/// assert_eq!(ListReader::open(&file)?.lines().count(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ListReader {
    stream: Stream,
}

impl ListReader {
    /// Opens a file that may be compressed with gzip, zstd, bzip2, xz or lz4; `-` is standard input.
    pub fn open(path: &Path) -> Result<Self, CorpusError> {
        let source: io::Result<Box<dyn Read + Send>> = match path.to_str() {
            Some("-") => Ok(Box::new(io::stdin())),
            _ if path.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
            _ => File::open(path).map(|file| Box::new(file) as Box<dyn Read + Send>),
        };
        let name = path.display().to_string();
        let opened = source.and_then(|source| {
            Stream::open(Replay::new(source), Compression::named(path), DecoderBudget::default())
        });
        opened.map(|stream| ListReader { stream }).map_err(CorpusError::reading(&name))
    }
}

impl Read for ListReader {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let length = self.fill_buf()?.read(out)?;
        self.consume(length);
        Ok(length)
    }
}

impl BufRead for ListReader {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        while self.stream.window().is_empty() {
            if let Some(reason) = self.stream.fault() {
                return Err(io::Error::new(io::ErrorKind::InvalidData, reason.to_owned()));
            }
            if !self.stream.more()? && self.stream.fault().is_none() {
                break;
            }
        }
        Ok(self.stream.window())
    }

    fn consume(&mut self, length: usize) {
        self.stream.advance(length);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::write::Sink;
    use std::io::Write;

    #[test]
    fn every_compression_has_the_same_lines() {
        let folder = tempfile::tempdir().unwrap();
        let lines: String = (0..100_000).map(|number| format!("line {number}\n")).collect();
        for ending in ["", ".gz", ".zst", ".bz2", ".xz", ".lz4"] {
            let file = folder.path().join(format!("list.txt{ending}"));
            let mut sink = Sink::create(&file, Compression::named(&file)).unwrap();
            sink.write_all(lines.as_bytes()).unwrap();
            sink.finish().unwrap();
            let mut text = String::new();
            ListReader::open(&file).unwrap().read_to_string(&mut text).unwrap();
            assert!(text == lines, "{ending}");
        }
    }

    #[test]
    fn a_list_that_is_cut_short_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("list.txt.gz");
        let mut sink = Sink::create(&file, Compression::Gzip).unwrap();
        (0..100_000).for_each(|number| writeln!(sink, "line {number}").unwrap());
        sink.finish().unwrap();
        let bytes = std::fs::read(&file).unwrap();
        std::fs::write(&file, &bytes[..bytes.len() / 2]).unwrap();
        let error = ListReader::open(&file).unwrap().read_to_end(&mut Vec::new()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
    }

    #[test]
    fn what_is_no_file_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let error_text =
            |path: &Path| ListReader::open(path).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(error_text(&folder.path().join("none")).ends_with("it is not there"));
        assert!(error_text(folder.path()).starts_with("cannot read "));
    }
}
