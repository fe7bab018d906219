//! WARC out.

use std::path::Path;

use xxhash_rust::xxh3::Xxh3;

use super::sink::Sink;
use crate::{Compression, CorpusError};

/// Writes WARC records, each as a member of its own where the compression has members for single records
/// (gzip and zstd), so that they can be read one by one.
pub struct WarcWriter {
    sink: Sink,
    /// Of every new record; an argument, since the same input must give the same bytes on any day.
    date: String,
    last: LastWritten,
}

/// The item that was written last.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LastWritten {
    Nothing,
    /// A record with the line ends that separate it from the next.
    Closed,
    /// A record without them.
    Open,
}

impl WarcWriter {
    /// Begins a file that will stand at `target` once it is finished. New records bear `date`, such as
    /// `2026-01-31T00:00:00Z`.
    pub fn create(target: &Path, compression: Compression, date: &str) -> Result<Self, CorpusError> {
        let sink = Sink::create(target, compression)?;
        Ok(WarcWriter { sink, date: date.to_owned(), last: LastWritten::Nothing })
    }

    /// Copies a record as it stood, from its version line to the line ends behind its block. A record that
    /// lacks these gets them when another follows.
    pub fn copy(&mut self, raw: &[u8]) -> Result<(), CorpusError> {
        self.begin_record()?;
        self.last = if raw.ends_with(b"\n") { LastWritten::Closed } else { LastWritten::Open };
        self.sink.write_record(raw)
    }

    /// Writes a text as a `conversion` record of WARC 1.0. Its record id follows from `id` and `text`.
    pub fn document(&mut self, id: &str, url: Option<&str>, text: &str) -> Result<(), CorpusError> {
        self.document_with(id, url, text, None)
    }

    /// The same with `others`, a JSON object, in a `metadata` record of its own that refers to the text's.
    pub fn document_with(
        &mut self,
        id: &str,
        url: Option<&str>,
        text: &str,
        others: Option<&str>,
    ) -> Result<(), CorpusError> {
        self.begin_record()?;
        let names = |buffer: &mut Vec<u8>| {
            push_field(buffer, "WARC-TREC-ID", id);
            if let Some(url) = url {
                push_field(buffer, "WARC-Target-URI", url);
            }
        };
        let record = urn(uuid(id, text));
        self.new_record("conversion", &record, "text/plain", text, names)?;
        if let Some(others) = others {
            self.begin_record()?;
            let refers = |buffer: &mut Vec<u8>| push_field(buffer, "WARC-Refers-To", &record);
            self.new_record("metadata", &urn(uuid(&record, others)), "application/json", others, refers)?;
        }
        Ok(())
    }

    fn new_record(
        &mut self,
        kind: &str,
        record: &str,
        media_type: &str,
        block: &str,
        names: impl FnOnce(&mut Vec<u8>),
    ) -> Result<(), CorpusError> {
        self.last = LastWritten::Closed;
        let buffer = &mut self.sink.buffer;
        buffer.extend_from_slice(b"WARC/1.0\r\n");
        push_field(buffer, "WARC-Type", kind);
        names(buffer);
        push_field(buffer, "WARC-Date", &self.date);
        push_field(buffer, "WARC-Record-ID", record);
        push_field(buffer, "Content-Type", media_type);
        push_field(buffer, "Content-Length", &block.len().to_string());
        buffer.extend_from_slice(b"\r\n");
        buffer.extend_from_slice(block.as_bytes());
        buffer.extend_from_slice(b"\r\n\r\n");
        self.sink.write_buffer()
    }

    /// Closes the file and moves it to its place.
    pub fn finish(self) -> Result<(), CorpusError> {
        self.sink.finish()
    }

    fn begin_record(&mut self) -> Result<(), CorpusError> {
        match self.last {
            LastWritten::Nothing => return Ok(()),
            LastWritten::Closed => {}
            LastWritten::Open => self.sink.write_record(b"\r\n\r\n")?,
        }
        self.sink.next_member()
    }
}

/// A header line; a line end inside the value would end the header.
fn push_field(buffer: &mut Vec<u8>, name: &str, value: &str) {
    buffer.extend_from_slice(name.as_bytes());
    buffer.extend_from_slice(b": ");
    buffer.extend(value.bytes().map(|byte| if matches!(byte, b'\r' | b'\n') { b' ' } else { byte }));
    buffer.extend_from_slice(b"\r\n");
}

/// A UUID as the name of a record.
fn urn(uuid: u128) -> String {
    format!(
        "<urn:uuid:{:08x}-{:04x}-{:04x}-{:04x}-{:012x}>",
        uuid >> 96,
        (uuid >> 80) & 0xffff,
        (uuid >> 64) & 0xffff,
        (uuid >> 48) & 0xffff,
        uuid & 0xffff_ffff_ffff,
    )
}

/// A UUID of version 8 (RFC 9562: "for vendor-specific use cases") made from the record itself.
fn uuid(id: &str, text: &str) -> u128 {
    let mut hash = Xxh3::new();
    hash.update(&(id.len() as u64).to_le_bytes());
    hash.update(id.as_bytes());
    hash.update(text.as_bytes());
    let (version, variant) = (0xf << 76, 0b11 << 62);
    (hash.digest128() & !version & !variant) | (8 << 76) | (0b10 << 62)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::testing::{OwnedItem, Setting, pages, read_all};
    use crate::formats::warc::Warc;

    const DATE: &str = "2026-01-31T00:00:00Z";

    fn written(compression: Compression, work: impl FnOnce(&mut WarcWriter)) -> Vec<u8> {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("out");
        let mut writer = WarcWriter::create(&target, compression, DATE).unwrap();
        work(&mut writer);
        writer.finish().unwrap();
        std::fs::read(target).unwrap()
    }

    fn read(bytes: &[u8]) -> Vec<OwnedItem> {
        let (stream, counter) = Setting::default().open(bytes);
        read_all(&mut Warc::new(stream, counter))
    }

    fn three(writer: &mut WarcWriter) {
        writer.document("a", Some("http://e/a"), "one rose").unwrap();
        writer.document("b\r\nx", None, "").unwrap();
        writer.document("c", None, "drei Rösen\r\n\r\n").unwrap();
    }

    #[test]
    fn what_is_written_can_be_read() {
        for compression in Compression::ALL.into_iter().chain([Compression::None]) {
            let file = written(compression, three);
            assert_eq!(file, written(compression, three), "{compression:?}");
            let seen = read(&file);
            let read: Vec<_> = pages(&seen)
                .iter()
                .map(|page| (&page.id[..], page.url.as_deref(), &page.content[..]))
                .collect();
            let expected: [(&str, Option<&str>, &[u8]); 3] = [
                ("a", Some("http://e/a"), b"one rose"),
                ("b  x", None, b""),
                ("c", None, "drei Rösen\r\n\r\n".as_bytes()),
            ];
            assert_eq!(read, expected, "{compression:?}");
            assert_eq!(seen.len(), 3);
        }
    }

    #[test]
    fn a_record_looks_like_this() {
        let file = written(Compression::None, |writer| writer.document("a", Some("u"), "text").unwrap());
        let file = String::from_utf8(file).unwrap();
        let (before, after) = file.split_once("WARC-Record-ID: <urn:uuid:").unwrap();
        assert_eq!(
            before,
            "WARC/1.0\r\nWARC-Type: conversion\r\nWARC-TREC-ID: a\r\nWARC-Target-URI: u\r\nWARC-Date: 2026-01-31T00:00:00Z\r\n"
        );
        let (uuid, after) = after.split_once('>').unwrap();
        assert_eq!(uuid.len(), 36);
        assert_eq!(&uuid[14..15], "8");
        assert!(matches!(&uuid[19..20], "8" | "9" | "a" | "b"));
        assert_eq!(after, "\r\nContent-Type: text/plain\r\nContent-Length: 4\r\n\r\ntext\r\n\r\n");
    }

    #[test]
    fn record_ids_follow_from_id_and_text() {
        assert_eq!(uuid("a", "b"), uuid("a", "b"));
        assert_ne!(uuid("a", "b"), uuid("a", "c"));
        assert_ne!(uuid("a", "bc"), uuid("ab", "c"));
    }

    #[test]
    fn records_are_copied_byte_for_byte() {
        let plain = written(Compression::None, three);
        let raw: Vec<Vec<u8>> = pages(&read(&plain)).iter().map(|page| page.raw.clone().unwrap()).collect();
        let copy = |writer: &mut WarcWriter| raw.iter().for_each(|raw| writer.copy(raw).unwrap());
        assert_eq!(written(Compression::None, copy), plain);
        for compression in Compression::ALL {
            let copied = read(&written(compression, copy));
            assert_eq!(pages(&copied).iter().map(|page| page.raw.clone().unwrap()).collect::<Vec<_>>(), raw);
        }
    }

    #[test]
    fn every_record_is_a_gzip_member_of_its_own() {
        let file = written(Compression::Gzip, three);
        let mut rest = &file[..];
        let mut members = 0;
        while !rest.is_empty() {
            let mut decoder = flate2::bufread::GzDecoder::new(rest);
            let mut record = String::new();
            std::io::Read::read_to_string(&mut decoder, &mut record).unwrap();
            assert!(record.starts_with("WARC/1.0\r\n") && record.ends_with("\r\n\r\n"));
            rest = decoder.into_inner();
            members += 1;
        }
        assert_eq!(members, 3);
    }

    #[test]
    fn a_record_without_line_ends_gets_them_when_another_follows() {
        let record = b"WARC/1.0\r\nWARC-Type: metadata\r\nContent-Length: 1\r\n\r\nx";
        let file = written(Compression::None, |writer| {
            writer.copy(record).unwrap();
            writer.copy(record).unwrap();
        });
        assert_eq!(file, [&record[..], b"\r\n\r\n", record].concat());
    }
}
