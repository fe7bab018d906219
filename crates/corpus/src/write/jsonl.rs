//! JSON lines out.

use std::path::Path;

use serde::Serialize;

use super::sink::Sink;
use crate::{Compression, CorpusError};

/// Writes one JSON object per line, as one compressed stream.
pub struct JsonlWriter {
    sink: Sink,
    /// True when the last line still lacks its end.
    open: bool,
}

/// A line; its fields are written in this order.
#[derive(Serialize)]
struct Line<'a> {
    id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<&'a str>,
    text: &'a str,
}

impl JsonlWriter {
    /// Begins a file that will stand at `target` once it is finished.
    pub fn create(target: &Path, compression: Compression) -> Result<Self, CorpusError> {
        Ok(JsonlWriter { sink: Sink::create(target, compression)?, open: false })
    }

    /// Copies a line as it stood, with or without its end. A line without one gets it when another follows.
    pub fn copy(&mut self, raw: &[u8]) -> Result<(), CorpusError> {
        self.end_line()?;
        self.open = !raw.is_empty() && !raw.ends_with(b"\n");
        self.sink.write_record(raw)
    }

    /// Writes a line with the fields `id`, `url` where there is one, and `text`.
    pub fn document(&mut self, id: &str, url: Option<&str>, text: &str) -> Result<(), CorpusError> {
        self.document_with(id, url, text, None)
    }

    /// The same with the members of `others`, a JSON object of other names, behind the text.
    pub fn document_with(
        &mut self,
        id: &str,
        url: Option<&str>,
        text: &str,
        others: Option<&str>,
    ) -> Result<(), CorpusError> {
        self.end_line()?;
        let buffer = &mut self.sink.buffer;
        serde_json::to_writer(&mut *buffer, &Line { id, url, text })
            .expect("strings are always JSON, and memory can be written");
        if let Some(members) = others.and_then(|others| others.strip_prefix('{')).filter(|rest| *rest != "}")
        {
            buffer.pop();
            buffer.push(b',');
            buffer.extend_from_slice(members.as_bytes());
        }
        buffer.push(b'\n');
        self.sink.write_buffer()
    }

    /// Closes the file and moves it to its place.
    pub fn finish(self) -> Result<(), CorpusError> {
        self.sink.finish()
    }

    fn end_line(&mut self) -> Result<(), CorpusError> {
        if std::mem::take(&mut self.open) { self.sink.write_record(b"\n") } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    fn written(compression: Compression, work: impl FnOnce(&mut JsonlWriter)) -> Vec<u8> {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("out");
        let mut writer = JsonlWriter::create(&target, compression).unwrap();
        work(&mut writer);
        writer.finish().unwrap();
        std::fs::read(target).unwrap()
    }

    #[test]
    fn lines_are_copied_byte_for_byte() {
        let lines: [&[u8]; 3] = [b"{\"id\": 1 }\r\n", b"\xff not even JSON\n", b"{}"];
        let file =
            written(Compression::None, |writer| lines.iter().for_each(|line| writer.copy(line).unwrap()));
        assert_eq!(file, lines.concat());
    }

    #[test]
    fn a_line_without_end_gets_one_when_another_follows() {
        let file = written(Compression::None, |writer| {
            writer.copy(b"{\"a\":1}").unwrap();
            writer.copy(b"{\"b\":2}").unwrap();
            writer.document("x", None, "y").unwrap();
        });
        assert_eq!(file, b"{\"a\":1}\n{\"b\":2}\n{\"id\":\"x\",\"text\":\"y\"}\n");
    }

    #[test]
    fn new_lines_have_their_fields_in_order() {
        let file =
            written(Compression::None, |writer| writer.document("a\"", Some("http://e/"), "ü\n").unwrap());
        assert_eq!(file, "{\"id\":\"a\\\"\",\"url\":\"http://e/\",\"text\":\"ü\\n\"}\n".as_bytes());
    }

    #[test]
    fn every_compression_holds_the_same_lines_in_the_same_bytes_each_time() {
        let work = |writer: &mut JsonlWriter| {
            (0..50).for_each(|n| writer.document("id", None, &"text ".repeat(n)).unwrap())
        };
        let plain = written(Compression::None, work);
        for compression in Compression::ALL {
            let file = written(compression, work);
            assert_eq!(file, written(compression, work));
            let mut read = Vec::new();
            match compression {
                Compression::None => unreachable!(),
                // One member: a decoder that stops behind the first one sees all.
                Compression::Gzip => flate2::read::GzDecoder::new(&file[..]).read_to_end(&mut read).unwrap(),
                Compression::Zstd => zstd::Decoder::new(&file[..]).unwrap().read_to_end(&mut read).unwrap(),
                Compression::Bzip2 => bzip2::read::BzDecoder::new(&file[..]).read_to_end(&mut read).unwrap(),
                Compression::Xz => liblzma::read::XzDecoder::new(&file[..]).read_to_end(&mut read).unwrap(),
                Compression::Lz4 => {
                    lz4_flex::frame::FrameDecoder::new(&file[..]).read_to_end(&mut read).unwrap()
                }
            };
            assert_eq!(read, plain);
        }
    }
}
