//! ARC, the Internet Archive's format before WARC, versions 1 and 2.
//!
//! A record is one line, `URL IP date type length` or the same with five more fields, then a block. There is
//! nothing that marks a record but the shape of that line.

use std::io;
use std::ops::Range;

use lookalike_model::{Content, Document, Reason, Skip};
use memchr::memmem::Finder;

use super::framing::{Frame, Framer, RecordPattern, push_text};
use super::http::{BlockReader, Payload};
use crate::first_records::FieldNames;
use crate::input::{SearchResult, Stream};
use crate::reader::Records;
use crate::record::{ExtraValues, RecordCounter};
use crate::{CorpusError, Item};

pub(crate) struct Arc {
    framer: Framer<FirstLine>,
    counter: RecordCounter,
    blocks: BlockReader,
    url: String,
    extras: ExtraValues,
}

impl Arc {
    pub(crate) fn new(stream: Stream, counter: RecordCounter) -> Self {
        let extras = ExtraValues::new(&counter.options);
        Arc {
            framer: Framer::new(stream, FirstLine { needle: Finder::new(b"\n") }),
            counter,
            blocks: BlockReader::default(),
            url: String::new(),
            extras,
        }
    }

    /// Frames the next record.
    fn frame(&mut self) -> io::Result<Frame> {
        let framer = &mut self.framer;
        if let Some(frame) = framer.move_on()? {
            return Ok(frame);
        }
        let junk = || Reason::Broken("a record should begin here".into());
        let end = match framer.stream.find(&framer.pattern.needle, 0, FirstLine::LOOKAHEAD)? {
            SearchResult::At(end) => end,
            SearchResult::End => return Ok(framer.cut()),
            SearchResult::Limit => return framer.give_up(junk(), 0),
        };
        match Line::parse(&framer.stream.window()[..end]) {
            Some(line) => {
                let length = line.length;
                framer.block(end + 1, Some(length), self.counter.limit())
            }
            None => framer.give_up(junk(), 0),
        }
    }
}

impl Records for Arc {
    fn next(&mut self) -> Result<Option<Item<'_>>, CorpusError> {
        let frame = match self.frame() {
            Ok(frame) => frame,
            Err(source) => return Err(CorpusError::reading(&self.counter.shard)(source)),
        };
        let block = match frame {
            Frame::End => return Ok(None),
            Frame::Rejected(position, reason) => return Ok(Some(self.counter.reject(position, reason))),
            Frame::Record(block) => block,
        };
        let position = self.framer.stream.offset();
        let window = self.framer.stream.window();
        let raw = Some(self.framer.raw());
        let Some(line) = Line::parse(&window[..block.start - 1]) else {
            return Ok(Some(self.counter.reject(position, Reason::Broken("its first line is none".into()))));
        };
        let first_line = &window[..block.start - 1];
        let payload = match line.skipped() {
            Some(kind) => Payload::Skipped(kind),
            None => self.blocks.response(&window[block], line.media_type, self.counter.limit()),
        };
        let (media, bytes, charset) = match payload {
            Payload::Document { media, bytes, charset } => (media, bytes, charset),
            Payload::Skipped(kind) => return Ok(Some(Item::Skipped(Skip { kind, position, raw }))),
            Payload::Rejected(reason) => return Ok(Some(self.counter.reject(position, reason))),
        };
        let place = self.counter.place(position);
        self.extras.clear();
        self.url.clear();
        push_text(line.url, &mut self.url);
        for (index, name) in self.counter.options.extras.iter().enumerate() {
            self.extras.set_bytes(index, line.field(first_line, name));
        }
        Ok(Some(Item::Document(Document {
            id: self.counter.own_id(place),
            url: Some(&self.url),
            media,
            content: Content::Encoded { bytes, charset },
            place,
            raw,
            extras: self.extras.view(),
        })))
    }

    fn field_names(&self, names: &mut FieldNames) {
        ["URL"].iter().chain(&LATER_FIELDS).for_each(|name| names.add(name));
    }
}

/// The line that every record begins with.
struct FirstLine {
    needle: Finder<'static>,
}

impl RecordPattern for FirstLine {
    /// A record begins behind a line end.
    const BEFORE: usize = 1;
    const LOOKAHEAD: usize = 8 << 10;
    const SEPARATOR: usize = 1;

    fn needle(&self) -> &Finder<'static> {
        &self.needle
    }

    fn begins(window: &[u8], at: usize) -> bool {
        let bytes = &window[at..window.len().min(at + Self::LOOKAHEAD)];
        // Most lines of a page fail here, before their end is looked for.
        window[..at].last().is_none_or(|&before| before == b'\n')
            && has_scheme(bytes)
            && memchr::memchr(b'\n', bytes).is_some_and(|end| Line::parse(&bytes[..end]).is_some())
    }

    fn may_begin(rest: &[u8]) -> bool {
        memchr::memchr(b'\n', rest).is_none() && rest.first().is_some_and(u8::is_ascii_alphabetic)
    }
}

/// Fields behind the address in version 1.
const FIELDS: [&str; 4] = ["IP-address", "Archive-date", "Content-type", "Archive-length"];

/// Fields behind the address in version 2.
const LATER_FIELDS: [&str; 9] = [
    "IP-address",
    "Archive-date",
    "Content-type",
    "Result-code",
    "Checksum",
    "Location",
    "Offset",
    "Filename",
    "Archive-length",
];

/// The parsed first line of a record.
struct Line<'a> {
    url: &'a [u8],
    media_type: &'a [u8],
    length: u64,
}

impl<'a> Line<'a> {
    /// Parses a line without its end. Addresses may hold spaces, so the date is what is looked for: digits,
    /// behind something made of the characters of an IP address.
    fn parse(line: &'a [u8]) -> Option<Self> {
        let line = line.trim_ascii_end();
        if !has_scheme(line) {
            return None;
        }
        let length = number(line.rsplit(|&byte| byte == b' ').next()?)?;
        let mut start = 0;
        let mut before: Option<Range<usize>> = None;
        for word in line.split(|&byte| byte == b' ') {
            let here = start..start + word.len();
            start = here.end + 1;
            if let Some(ip) = &before
                && ip.start > 0
                && is_date(word)
                && is_ip(&line[ip.clone()])
            {
                let rest = line.get(start..)?;
                let media_end = memchr::memchr(b' ', rest)?;
                return Some(Line { url: &line[..ip.start - 1], media_type: &rest[..media_end], length });
            }
            before = Some(here);
        }
        None
    }

    /// The value of a field of `line`, which this was parsed from, by its name in the format's description.
    fn field<'l>(&self, line: &'l [u8], name: &str) -> Option<&'l [u8]> {
        if name.eq_ignore_ascii_case("URL") {
            return line.get(..self.url.len());
        }
        let behind = line.get(self.url.len() + 1..)?.trim_ascii_end();
        let words = || behind.split(|&byte| byte == b' ');
        let names: &[&str] = if words().count() == LATER_FIELDS.len() { &LATER_FIELDS } else { &FIELDS };
        let (_, word) = names.iter().zip(words()).find(|(known, _)| known.eq_ignore_ascii_case(name))?;
        Some(word).filter(|word| !matches!(*word, b"" | b"-"))
    }

    /// The kind of a record that is no page.
    fn skipped(&self) -> Option<&'static str> {
        if self.url.starts_with(b"filedesc:") {
            return Some("filedesc");
        }
        self.url.starts_with(b"dns:").then_some("dns")
    }
}

/// True when `bytes` begin as an address does.
fn has_scheme(bytes: &[u8]) -> bool {
    let is_scheme = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    let length = bytes.iter().take(32).take_while(|byte| is_scheme(byte)).count();
    bytes.first().is_some_and(u8::is_ascii_alphabetic) && bytes.get(length) == Some(&b':')
}

fn is_date(word: &[u8]) -> bool {
    (8..=17).contains(&word.len()) && word.iter().all(u8::is_ascii_digit)
}

fn is_ip(word: &[u8]) -> bool {
    let is_part = |byte: &u8| byte.is_ascii_hexdigit() || matches!(byte, b'.' | b':');
    word == b"-" || (word.len() >= 2 && word.iter().all(is_part))
}

fn number(word: &[u8]) -> Option<u64> {
    if word.is_empty() || !word.iter().all(u8::is_ascii_digit) {
        return None;
    }
    Some(std::str::from_utf8(word).ok()?.parse().unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use lookalike_model::Media;
    use lookalike_model::ReasonKind::{Broken, TooLong, Truncated};
    use proptest::prelude::*;

    use super::*;
    use crate::Compression;
    use crate::formats::testing::{OwnedItem, Setting, compress, ids, pages, read_all, rejections};

    fn read(bytes: &[u8]) -> Vec<OwnedItem> {
        read_with(bytes, &Setting::default())
    }

    fn read_with(bytes: &[u8], setting: &Setting) -> Vec<OwnedItem> {
        let (stream, counter) = setting.open(bytes);
        read_all(&mut Arc::new(stream, counter))
    }

    const FILEDESC: &[u8] = b"filedesc://x.arc 0.0.0.0 19970404000000 text/plain 71\n1 0 Archive\nURL IP-address Archive-date Content-type Archive-length\n\n\n\n\n";

    fn wrong(url: &str, body: &str, error: i64) -> Vec<u8> {
        let block = format!("HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n{body}");
        let length = block.len() as i64 + error;
        format!("{url} 1.2.3.4 19970404123456 text/html {length}\n{block}\n").into_bytes()
    }

    fn page(url: &str, body: &str) -> Vec<u8> {
        wrong(url, body, 0)
    }

    fn urls(seen: &[OwnedItem]) -> Vec<&str> {
        pages(seen).iter().filter_map(|page| page.url.as_deref()).collect()
    }

    #[test]
    fn pages_are_read_and_the_file_description_is_skipped() {
        let record = page("http://e/a", "<p>rose");
        let seen = read(&[FILEDESC, &record, &page("http://e/b c", "two")].concat());
        assert!(matches!(seen[0], OwnedItem::Skipped("filedesc", _)));
        assert_eq!(urls(&seen), ["http://e/a", "http://e/b c"]);
        assert_eq!(ids(&seen), ["shard#0", "shard#1"]);
        assert_eq!((pages(&seen)[0].media, &pages(&seen)[0].content[..]), (Media::Html, &b"<p>rose"[..]));
        assert_eq!(pages(&seen)[0].raw, Some(record));
        assert_eq!(pages(&seen)[0].position, FILEDESC.len() as u64);
    }

    #[test]
    fn version_two_has_more_fields() {
        let file = b"http://e/ 1.2.3.4 19970404123456 text/plain 200 ABC - 0 x.arc 5\nhello\n";
        let seen = read(file);
        assert_eq!((urls(&seen), &pages(&seen)[0].content[..]), (vec!["http://e/"], &b"hello"[..]));
        assert_eq!(pages(&seen)[0].media, Media::Text);
    }

    #[test]
    fn fields_of_the_first_line_can_be_asked_for() {
        let one = b"http://e/ 1.2.3.4 19970404123456 text/plain 5\nhello\n";
        let two = b"http://e/a b 1.2.3.4 19970404123456 text/plain 200 ABC - 0 x.arc 5\nhello\n";
        let names = ["url", "archive-date", "Checksum", "Location", "Archive-length", "none"];
        let extras = |file: &[u8]| {
            let (stream, mut counter) = Setting::default().open(file);
            let extras = names.iter().map(|name| (*name).to_owned()).collect();
            counter.options = std::sync::Arc::new(crate::ReadOptions { extras, ..Default::default() });
            let mut reader = Arc::new(stream, counter);
            let Some(Item::Document(document)) = reader.next().unwrap() else { panic!("it is a document") };
            (0..names.len()).map(|n| document.extras.get(n).unwrap_or("").to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(extras(one), ["http://e/", "19970404123456", "", "", "5", ""]);
        assert_eq!(extras(two), ["http://e/a b", "19970404123456", "ABC", "", "5", ""]);
    }

    #[test]
    fn name_lookups_are_skipped() {
        let file = b"dns:e 1.2.3.4 19970404123456 text/dns 3\nabc\n";
        assert_eq!(read(file), [OwnedItem::Skipped("dns", Some(file.to_vec()))]);
    }

    #[test]
    fn wrong_lengths_cost_no_neighbour() {
        for error in [1, 2, 9, 50, 100_000, -1, -4, -40] {
            let file = [
                page("http://e/a", "one"),
                wrong("http://e/b", "two words", error),
                page("http://e/c", "three"),
            ]
            .concat();
            let seen = read(&file);
            assert_eq!(urls(&seen), ["http://e/a", "http://e/b", "http://e/c"], "{error}");
            assert_eq!(pages(&seen)[2].content, b"three");
            assert_eq!(rejections(&seen), []);
            for step in [1, 2, 7, 64] {
                assert_eq!(read_with(&file, &Setting { step, ..Setting::default() }), seen);
            }
        }
    }

    #[test]
    fn a_right_length_wins_over_a_record_inside_the_body() {
        let inner = String::from_utf8(page("http://e/inner", "x")).unwrap();
        let seen = read(&[page("http://e/a", &inner), page("http://e/b", "y")].concat());
        assert_eq!(urls(&seen), ["http://e/a", "http://e/b"]);
    }

    #[test]
    fn junk_and_long_records_are_rejected_and_stepped_over() {
        let first = page("http://e/a", "one");
        let long = page("http://e/b", &"x\n".repeat(1 << 20));
        let file = [&first[..], b"junk: and more\nof it\n", &long, &page("http://e/c", "three")].concat();
        let seen = read(&file);
        assert_eq!(urls(&seen), ["http://e/a", "http://e/c"]);
        let at = first.len() as u64;
        assert_eq!(rejections(&seen), [(at, Broken), (at + 21, TooLong)]);
    }

    #[test]
    fn a_record_that_is_cut_is_rejected() {
        let first = page("http://e/a", "one");
        let file = [first.clone(), page("http://e/b", "two words")].concat();
        for cut in first.len() + 1..file.len() - 1 {
            let seen = read(&file[..cut]);
            assert_eq!(urls(&seen), ["http://e/a"]);
            assert_eq!(rejections(&seen), [(first.len() as u64, Truncated)], "{cut}");
        }
        let member = |url: &str| compress(Compression::Gzip, &page(url, "words"));
        let cut = member("http://e/b");
        let cut = &cut[..cut.len() - 20];
        let seen = read(&[&member("http://e/a"), cut, &member("http://e/c")].concat());
        assert_eq!(urls(&seen), ["http://e/a", "http://e/c"]);
        assert_eq!(rejections(&seen).len(), 1);
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(
            pieces in prop::collection::vec(prop_oneof![
                Just(b"http://e/a 1.2.3.4 19970404123456 text/html 9".to_vec()),
                Just(b"dns:a 1.2.3.4 19970404123456 text/dns 99999999999999999999999".to_vec()),
                Just(b"\n".to_vec()),
                Just(b" ".to_vec()),
                Just(b"http:".to_vec()),
                Just(b"HTTP/1.1 200 OK\r\n\r\n".to_vec()),
                prop::collection::vec(any::<u8>(), 0..20),
            ], 0..60),
            step in 1usize..100,
            limit in 0usize..200,
        ) {
            let file = pieces.concat();
            let seen = read_with(&file, &Setting { limit, step });
            prop_assert_eq!(seen, read_with(&file, &Setting { limit, ..Setting::default() }));
        }
    }
}
