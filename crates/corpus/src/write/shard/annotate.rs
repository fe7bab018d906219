//! Notes inside copied records. Nothing else of a record changes.

use std::collections::BTreeMap;
use std::io::Write;

use memchr::memmem;
use serde::de::IgnoredAny;

use super::Note;
use crate::Format;
use crate::formats::BYTE_ORDER_MARK;
use crate::formats::warc::field_name;

/// Names of the two fields, as members, columns and header lines.
pub(in crate::write) const CLUSTER: &str = "lookalike_cluster";
pub(in crate::write) const COPIES: &str = "lookalike_copies";
const HEADER_CLUSTER: &str = "Lookalike-Cluster";
const HEADER_COPIES: &str = "Lookalike-Copies";

/// Puts what stands before the first record into `out`, with the names of two more columns if it names columns.
/// Fails with a name that is there already.
pub(super) fn preamble(format: Format, preamble: &[u8], out: &mut Vec<u8>) -> Result<(), &'static str> {
    let Some(delimiter) = delimiter(format) else {
        out.extend_from_slice(preamble);
        return Ok(());
    };
    let header = preamble.strip_prefix(BYTE_ORDER_MARK).unwrap_or(preamble);
    let unquoted = |cell: &[u8]| {
        let cell = cell.trim_ascii();
        cell.strip_prefix(b"\"").and_then(|cell| cell.strip_suffix(b"\"")).unwrap_or(cell).to_vec()
    };
    let has =
        |name: &&str| header.split(|&byte| byte == delimiter).any(|cell| unquoted(cell) == name.as_bytes());
    if let Some(name) = [CLUSTER, COPIES].into_iter().find(has) {
        return Err(name);
    }
    add_cells(preamble, delimiter, (&CLUSTER, &COPIES), out);
    Ok(())
}

/// Puts a record with its note into `out`. Fails with the name of a field that is there already.
pub(super) fn record(format: Format, raw: &[u8], note: Note, out: &mut Vec<u8>) -> Result<(), &'static str> {
    match (format, delimiter(format)) {
        (_, Some(delimiter)) => {
            add_cells(raw, delimiter, (&note.cluster, &note.copies), out);
            Ok(())
        }
        (Format::Warc, _) => crawl_record(raw, note, out),
        _ => line(raw, note, out),
    }
}

fn delimiter(format: Format) -> Option<u8> {
    match format {
        Format::Csv => Some(b','),
        Format::Tsv => Some(b'\t'),
        _ => None,
    }
}

type Cells<'c> = (&'c dyn std::fmt::Display, &'c dyn std::fmt::Display);

/// Puts two more cells at the end of a row. What ends it is no part of a cell: a quote would stand behind.
fn add_cells(row: &[u8], delimiter: u8, (first, second): Cells<'_>, out: &mut Vec<u8>) {
    let body = row.strip_suffix(b"\n").unwrap_or(row);
    let body = body.strip_suffix(b"\r").unwrap_or(body);
    let delimiter = char::from(delimiter);
    out.extend_from_slice(body);
    write!(out, "{delimiter}{first}{delimiter}{second}").expect("memory can be written");
    out.extend_from_slice(&row[body.len()..]);
}

/// Puts two more members at the end of an object that fills a line.
fn line(raw: &[u8], note: Note, out: &mut Vec<u8>) -> Result<(), &'static str> {
    if let Some(name) = member_of(raw) {
        return Err(name);
    }
    let Some(brace) = memchr::memrchr(b'}', raw) else {
        // A line without a brace is no document; this is never reached.
        out.extend_from_slice(raw);
        return Ok(());
    };
    let body = raw[..brace].trim_ascii_end();
    let comma = if body.ends_with(b"{") { "" } else { "," };
    let Note { cluster, copies } = note;
    out.extend_from_slice(body);
    write!(out, "{comma}\"{CLUSTER}\":{cluster},\"{COPIES}\":{copies}").expect("memory can be written");
    out.extend_from_slice(&raw[body.len()..]);
    Ok(())
}

/// The name of a member that a line has already. Most lines do not even hold the word.
fn member_of(raw: &[u8]) -> Option<&'static str> {
    let mut members: Option<BTreeMap<String, IgnoredAny>> = None;
    [CLUSTER, COPIES].into_iter().find(|name| {
        memmem::find(raw, name.as_bytes()).is_some()
            && members
                .get_or_insert_with(|| serde_json::from_slice(raw).unwrap_or_default())
                .contains_key(*name)
    })
}

/// Puts two more lines at the end of the header, which an empty line ends. The length of the block stays right.
fn crawl_record(raw: &[u8], note: Note, out: &mut Vec<u8>) -> Result<(), &'static str> {
    let mut head = 0;
    for line in raw.split_inclusive(|&byte| byte == b'\n') {
        if line.iter().all(|byte| matches!(byte, b'\r' | b'\n')) {
            break;
        }
        let is = |name: &&str| field_name(line).eq_ignore_ascii_case(name.as_bytes());
        if let Some(name) = [HEADER_CLUSTER, HEADER_COPIES].into_iter().find(is) {
            return Err(name);
        }
        head += line.len();
    }
    let line_end = if raw[..head].ends_with(b"\r\n") { "\r\n" } else { "\n" };
    let Note { cluster, copies } = note;
    out.extend_from_slice(&raw[..head]);
    write!(out, "{HEADER_CLUSTER}: {cluster}{line_end}{HEADER_COPIES}: {copies}{line_end}")
        .expect("memory can be written");
    out.extend_from_slice(&raw[head..]);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTE: Note = Note { cluster: 3, copies: 2 };

    fn noted(format: Format, raw: &str) -> Result<String, &'static str> {
        let mut out = Vec::new();
        record(format, raw.as_bytes(), NOTE, &mut out).map(|()| String::from_utf8(out).unwrap())
    }

    #[test]
    fn members_stand_at_the_end_of_the_object() {
        let note = "\"lookalike_cluster\":3,\"lookalike_copies\":2";
        for (line, expected) in [
            ("{}", format!("{{{note}}}")),
            (" { }\r\n", format!(" {{{note} }}\r\n")),
            ("{\"a\":{\"b\":1}}\n", format!("{{\"a\":{{\"b\":1}},{note}}}\n")),
            ("{\"a\":\"}\" } \t\n", format!("{{\"a\":\"}}\",{note} }} \t\n")),
        ] {
            assert_eq!(noted(Format::Jsonl, line), Ok(expected));
        }
    }

    #[test]
    fn a_second_note_is_refused_and_a_word_is_no_note() {
        assert_eq!(noted(Format::Jsonl, "{\"a\":1,\"lookalike_copies\":2}"), Err(COPIES));
        assert!(noted(Format::Jsonl, "{\"a\":\"lookalike_cluster\",\"b\":{\"lookalike_copies\":1}}").is_ok());
        let head = "WARC/1.0\r\nlookalike-cluster: 1\r\n\r\n";
        assert_eq!(noted(Format::Warc, head), Err(HEADER_CLUSTER));
        let second = |format, header: &str| preamble(format, header.as_bytes(), &mut Vec::new());
        assert_eq!(second(Format::Csv, "text,\"lookalike_cluster\"\r\n"), Err(CLUSTER));
        assert_eq!(second(Format::Tsv, "lookalike_copies\ttext\n"), Err(COPIES));
        assert_eq!(second(Format::Csv, "text,not_lookalike_cluster\n"), Ok(()));
    }

    #[test]
    fn cells_stand_before_the_line_end() {
        assert_eq!(noted(Format::Csv, "a,\"b\r\n\"\r\n").unwrap(), "a,\"b\r\n\",3,2\r\n");
        assert_eq!(noted(Format::Csv, "a,b\r").unwrap(), "a,b,3,2\r");
        assert_eq!(noted(Format::Csv, "a,").unwrap(), "a,,3,2");
        assert_eq!(noted(Format::Tsv, "a\tb\n").unwrap(), "a\tb\t3\t2\n");
    }

    #[test]
    fn header_lines_end_as_the_others_do() {
        let record = "WARC/0.18\nContent-Length: 2\n\n\r\n\n\n";
        let expected = "WARC/0.18\nContent-Length: 2\nLookalike-Cluster: 3\nLookalike-Copies: 2\n\n\r\n\n\n";
        assert_eq!(noted(Format::Warc, record).unwrap(), expected);
        let record = "WARC/1.0\r\nContent-Length: 0\r\n\r\n\r\n\r\n";
        let expected =
            "WARC/1.0\r\nContent-Length: 0\r\nLookalike-Cluster: 3\r\nLookalike-Copies: 2\r\n\r\n\r\n\r\n";
        assert_eq!(noted(Format::Warc, record).unwrap(), expected);
    }
}
