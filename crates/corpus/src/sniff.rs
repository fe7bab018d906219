//! Detection of a shard's format from its first bytes; its name only breaks ties.

use std::fmt;
use std::str::FromStr;

use lookalike_model::Unit;

use crate::formats::jsonl::Entry;
use crate::{Compression, ReadOptions};

/// The layout of the documents in a shard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// One JSON object per line.
    Jsonl,
    /// Apache Parquet.
    Parquet,
    /// WARC of any version, with pages or with extracted text (WET).
    Warc,
    /// The Internet Archive's older ARC.
    Arc,
    /// TREC collections, web or text: `<DOC>` with `<DOCNO>`.
    Trec,
    /// A MediaWiki XML dump.
    MediaWiki,
    /// Many e-mail messages in one file.
    Mbox,
    /// One e-mail message, such as a file of a Maildir.
    Email,
    /// Comma-separated values with a header line.
    Csv,
    /// Tab-separated values with a header line.
    Tsv,
    /// One HTML page.
    Html,
    /// One plain text.
    Text,
    /// One address per line, or an id, a tab and an address.
    List,
    /// A table in memory: no file is in this format.
    Table,
}

/// Every format of files, with the name that people write.
const NAMES: [(Format, &str); 13] = [
    (Format::Jsonl, "jsonl"),
    (Format::Parquet, "parquet"),
    (Format::Warc, "warc"),
    (Format::Arc, "arc"),
    (Format::Trec, "trec"),
    (Format::MediaWiki, "mediawiki"),
    (Format::Mbox, "mbox"),
    (Format::Email, "email"),
    (Format::Csv, "csv"),
    (Format::Tsv, "tsv"),
    (Format::Html, "html"),
    (Format::Text, "text"),
    (Format::List, "list"),
];

impl Format {
    /// Returns the unit of positions in a shard of this format.
    pub fn unit(self) -> Unit {
        if matches!(self, Format::Parquet | Format::Table) { Unit::Row } else { Unit::Byte }
    }

    /// All names, for help texts.
    pub fn names() -> impl Iterator<Item = &'static str> {
        NAMES.iter().map(|(_, name)| *name)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = NAMES.iter().find(|(format, _)| format == self).map_or("table", |(_, name)| name);
        f.write_str(name)
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let found = NAMES.iter().find(|(_, known)| *known == name).map(|(format, _)| *format);
        found.ok_or_else(|| {
            format!(
                "no format is called {name:?}; the formats are {}",
                Self::names().collect::<Vec<_>>().join(", ")
            )
        })
    }
}

/// Bytes at the front of a shard that are looked at.
pub(crate) const HEAD: usize = 64 << 10;

impl Format {
    /// The format of a shard that begins with `head`; failing that, what was seen instead.
    pub(crate) fn detect(head: &[u8], name: &str, options: &ReadOptions) -> Result<Format, String> {
        if head.starts_with(b"PAR1") {
            return Ok(Format::Parquet);
        }
        let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
        let ending = ending(name);
        by_opening(text)
            .or_else(|| json_lines(text, &ending))
            .or_else(|| list(text, options))
            .or_else(|| table(text, &ending, options))
            .or_else(|| by_name(text, &ending))
            .map_or_else(|| plain(head, text, &ending), Ok)
    }
}

/// The ending of a file name, in lower case, without that of a compression.
fn ending(name: &str) -> String {
    let name = name.rsplit('/').next().unwrap_or(name).to_ascii_lowercase();
    let mut suffixes = Compression::ALL.into_iter().map(Compression::suffix);
    let name = suffixes.find_map(|suffix| name.strip_suffix(suffix)).unwrap_or(&name);
    name.rsplit_once('.').map_or(String::new(), |(_, ending)| ending.to_owned())
}

/// Formats that say so in their first words.
fn by_opening(text: &[u8]) -> Option<Format> {
    let near = |needle: &[u8]| memchr::memmem::find(&text[..text.len().min(8 << 10)], needle).is_some();
    if text.starts_with(b"WARC/") {
        Some(Format::Warc)
    } else if text.starts_with(b"filedesc://") {
        Some(Format::Arc)
    } else if text.starts_with(b"<mediawiki") || text.starts_with(b"<?xml") && near(b"<mediawiki") {
        Some(Format::MediaWiki)
    } else if text.starts_with(b"<DOC>") && near(b"<DOCNO>") {
        Some(Format::Trec)
    } else if is_postmark(text.split(|&byte| byte == b'\n').next().unwrap_or_default()) {
        Some(Format::Mbox)
    } else {
        None
    }
}

/// True for the line that begins a message of an mbox: `From `, a sender, and a time of day.
fn is_postmark(line: &[u8]) -> bool {
    let time = |part: &[u8]| matches!(part, [_, _, b':', _, _, ..]) && part[0].is_ascii_digit();
    line.starts_with(b"From ") && line.split(|&byte| byte == b' ').skip(2).any(time)
}

fn json_lines(text: &[u8], ending: &str) -> Option<Format> {
    let named = matches!(ending, "jsonl" | "ndjson" | "json");
    if text.is_empty() {
        return named.then_some(Format::Jsonl);
    }
    let mut lines = text.split_inclusive(|&byte| byte == b'\n');
    let objects = if named {
        // The first line may be the broken one.
        lines.any(|line| line.trim_ascii_start().starts_with(b"{"))
    } else {
        let object = |line: &[u8]| {
            line.starts_with(b"{") && serde_json::from_slice::<serde::de::IgnoredAny>(line).is_ok()
        };
        // A first line that is longer than what we look at, or one whole object among the first lines. What has no name that says
        // otherwise, and is an object over many lines, is rejected as that, and is no text.
        let spread = ending.is_empty() && is_spread(text);
        text.starts_with(b"{") && (!text.contains(&b'\n') || spread || lines.take(100).any(object))
    };
    objects.then_some(Format::Jsonl)
}

/// True for an object of JSON over several lines: a brace alone in the first, a name in the next.
fn is_spread(text: &[u8]) -> bool {
    let inside = text.strip_prefix(b"{").unwrap_or_default();
    let name = inside.trim_ascii_start();
    inside[..inside.len() - name.len()].contains(&b'\n') && name.starts_with(b"\"")
}

/// A list is only looked for where addresses are wanted: a text may begin with one, too. No header of a table holds one.
fn list(text: &[u8], options: &ReadOptions) -> Option<Format> {
    let line = text.split(|&byte| byte == b'\n').next()?;
    let entry = std::str::from_utf8(line.trim_ascii_end()).ok().and_then(Entry::read);
    let whole = |entry: Entry<'_>| !entry.address.contains(' ');
    (options.addresses && entry.is_some_and(whole)).then_some(Format::List)
}

/// Returns the format that the name tells, where damage at the front hides it; the damage is rejected when it is read.
fn by_name(text: &[u8], ending: &str) -> Option<Format> {
    match ending {
        // Every line is rejected then, and nobody takes the whole of it for one text.
        "jsonl" | "ndjson" if !text.contains(&0) => Some(Format::Jsonl),
        "warc" | "wet" => Some(Format::Warc),
        "arc" => Some(Format::Arc),
        "mbox" => Some(Format::Mbox),
        "trec" => Some(Format::Trec),
        "xml" if memchr::memmem::find(text, b"<page>").is_some() => Some(Format::MediaWiki),
        _ => None,
    }
}

fn table(text: &[u8], ending: &str, options: &ReadOptions) -> Option<Format> {
    match ending {
        "csv" => return Some(Format::Csv),
        "tsv" | "tab" => return Some(Format::Tsv),
        _ => {}
    }
    let header = text.split(|&byte| byte == b'\n').next()?.trim_ascii_end();
    let fields = &options.fields;
    let names_body = |delimiter: u8| {
        let columns: Vec<&[u8]> = header.split(|&byte| byte == delimiter).collect();
        let unquoted = |column: &[u8]| {
            column.strip_prefix(b"\"").and_then(|c| c.strip_suffix(b"\"")).map(<[u8]>::to_vec)
        };
        let body = |column: &&[u8]| {
            let column = unquoted(column).unwrap_or_else(|| column.to_vec());
            let address = options.addresses && column == fields.url.as_bytes();
            address || column == fields.text.as_bytes() || column == fields.html.as_bytes()
        };
        columns.len() > 1 && columns.iter().any(body)
    };
    [(b'\t', Format::Tsv), (b',', Format::Csv)].into_iter().find(|(d, _)| names_body(*d)).map(|(_, f)| f)
}

/// One document in the file, or no document at all.
fn plain(head: &[u8], text: &[u8], ending: &str) -> Result<Format, String> {
    let two_byte = head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff");
    if !two_byte && memchr::memchr(0, &head[..head.len().min(8 << 10)]).is_some() {
        return Err("it begins with binary data".to_owned());
    }
    if text.starts_with(b"[") && ending == "json" {
        return Err("it is one JSON array, not one object per line".to_owned());
    }
    if ending == "eml" {
        return Ok(Format::Email);
    }
    let opening = text[..text.len().min(1 << 10)].to_ascii_lowercase();
    let begins = |tag: &[u8]| opening.starts_with(tag);
    let page = begins(b"<!doctype html")
        || begins(b"<html")
        || begins(b"<head")
        || begins(b"<body")
        || (begins(b"<?xml") || begins(b"<!--")) && memchr::memmem::find(&opening, b"<html").is_some();
    Ok(if page || matches!(ending, "html" | "htm" | "xhtml") { Format::Html } else { Format::Text })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detect(head: &str, name: &str) -> Format {
        Format::detect(head.as_bytes(), name, &ReadOptions::default()).unwrap()
    }

    #[test]
    fn content_goes_before_the_name() {
        assert_eq!(detect("WARC/0.18\n", "x.jsonl"), Format::Warc);
        assert_eq!(detect("\r\n\r\nWARC/1.0\r\n", "x"), Format::Warc);
        assert_eq!(detect("filedesc://x 0 1 text/plain 3\n", "x"), Format::Arc);
        assert_eq!(detect("<?xml version='1.0'?>\n<mediawiki lang='en'>", "x.txt"), Format::MediaWiki);
        assert_eq!(detect("<DOC>\n<DOCNO>1</DOCNO>", "x.html"), Format::Trec);
        assert_eq!(detect("From a@b.example Thu Aug 22 12:36:23 2002\nTo: x", "x"), Format::Mbox);
        assert_eq!(detect("From here on it is a tale\n", "x"), Format::Text);
        assert_eq!(detect("{\"id\":1,\"text\":\"x\"}\n", "x.txt"), Format::Jsonl);
        assert_eq!(detect("PAR1\0\0", "x"), Format::Parquet);
    }

    #[test]
    fn a_first_line_that_is_broken_does_not_hide_json_lines() {
        assert_eq!(detect("oops\n{\"id\":1}\n", "x.jsonl.zst"), Format::Jsonl);
        assert_eq!(detect("{oops\n", "notes"), Format::Text);
        assert_eq!(detect("", "empty.jsonl"), Format::Jsonl);
        assert_eq!(detect("oops\n", "x.jsonl.gz"), Format::Jsonl);
        assert_eq!(detect("oops\n", "x.json"), Format::Text);
        assert_eq!(detect("", "empty"), Format::Text);
    }

    #[test]
    fn damage_at_the_front_does_not_hide_a_format() {
        assert_eq!(detect("junk\r\nWARC/1.0\r\n", "x.warc.gz"), Format::Warc);
        assert_eq!(detect("", "x.wet"), Format::Warc);
        assert_eq!(detect("x<mediawiki>\n<page>", "dump.xml.bz2"), Format::MediaWiki);
        assert_eq!(detect("{\"text\":\"a\"}x\n{\"text\":\"b\"}\n", "stdin"), Format::Jsonl);
        assert_eq!(detect("{\n  \"text\": \"a\"\n}\n", "stdin"), Format::Jsonl);
        assert_eq!(detect("{\n  \"text\": \"a\"\n}\n", "a.txt"), Format::Text);
        assert_eq!(detect("{\n  text\n}\n", "stdin"), Format::Text);
    }

    #[test]
    fn tables_are_seen_from_their_header() {
        assert_eq!(detect("id,text\n1,x\n", "x"), Format::Csv);
        assert_eq!(detect("id\t\"html\"\n", "x"), Format::Tsv);
        assert_eq!(detect("whatever\n", "x.csv.gz"), Format::Csv);
        assert_eq!(detect("dear text, hello\n", "x"), Format::Text);
    }

    #[test]
    fn lists_are_seen_where_addresses_are_wanted() {
        let options = ReadOptions { addresses: true, ..ReadOptions::default() };
        let detect_list = |head: &str, name: &str| Format::detect(head.as_bytes(), name, &options).unwrap();
        for (head, name) in
            [("http://a/", "x.txt"), ("a\thttps://b.org/x\r\n", "x.tsv"), ("\n\u{9}http://a", "x")]
        {
            assert_eq!(detect_list(head, name), Format::List, "{head:?}");
            assert_ne!(detect(head, name), Format::List, "{head:?}");
        }
        assert_eq!(detect_list("id\turl\n1\thttp://a/\n", "x.txt"), Format::Tsv);
        assert_eq!(detect_list("url,id\nhttp://a/,1\n", "x"), Format::Csv);
        assert_eq!(detect_list("http://a/ is where it began\n", "x"), Format::Text);
        assert_eq!(detect_list("{\"url\":\"http://a/\"}\n", "x"), Format::Jsonl);
    }

    #[test]
    fn pages_are_seen_from_their_first_tag() {
        assert_eq!(detect("<!DOCTYPE HTML PUBLIC", "x"), Format::Html);
        assert_eq!(detect("\u{feff}<html>", "x"), Format::Html);
        assert_eq!(detect("a < b", "x.HTM"), Format::Html);
    }

    #[test]
    fn what_is_no_text_is_refused() {
        let refuse = |head: &[u8], name| Format::detect(head, name, &ReadOptions::default()).unwrap_err();
        assert_eq!(refuse(b"\x89PNG\r\n\x1a\n\0\0\0", "x.png"), "it begins with binary data");
        assert_eq!(refuse(b"[{\"id\":1}]", "x.json"), "it is one JSON array, not one object per line");
    }

    #[test]
    fn every_name_reads_back() {
        for name in Format::names() {
            assert_eq!(name.parse::<Format>().unwrap().to_string(), name);
        }
        assert!("warp".parse::<Format>().unwrap_err().contains("the formats are jsonl, parquet"));
    }
}
