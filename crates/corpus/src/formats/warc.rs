//! WARC: pages as crawled, or the text made from them (WET). Versions 0.18 to 1.1, ClueWeb's included.
//!
//! Written by hand and not on top of the `fastwarc` crate, for two reasons: a record whose length is too long
//! there swallows its neighbour without an error, and records cannot be had as they stood in the file. In the
//! tests `fastwarc` is the second opinion.

use std::io;
use std::ops::Range;

use lookalike_model::{Content, Document, Media, Reason, Skip};
use memchr::memmem::Finder;

use super::framing::{Frame, Framer, RecordPattern, push_text};
use super::http::{self, BlockReader, Payload};
use crate::first_records::FieldNames;
use crate::input::{SearchResult, Stream};
use crate::reader::Records;
use crate::record::{ExtraValues, RecordCounter};
use crate::{CorpusError, Item};

pub(crate) struct Warc {
    framer: Framer<VersionLine>,
    counter: RecordCounter,
    header: Header,
    blocks: BlockReader,
    /// True when the record has an id, which stands in `id`.
    named: bool,
    id: String,
    url: String,
    extras: ExtraValues,
}

impl Warc {
    pub(crate) fn new(stream: Stream, counter: RecordCounter) -> Self {
        let extras = ExtraValues::new(&counter.options);
        Warc {
            framer: Framer::new(stream, VersionLine { needle: Finder::new(b"WARC/") }),
            counter,
            header: Header::new(),
            blocks: BlockReader::default(),
            named: false,
            id: String::new(),
            url: String::new(),
            extras,
        }
    }

    /// Frames the next record.
    fn frame(&mut self) -> io::Result<Frame> {
        let framer = &mut self.framer;
        self.named = false;
        if let Some(frame) = framer.move_on()? {
            return Ok(frame);
        }
        framer.stream.ensure(VersionLine::LOOKAHEAD)?;
        if !framer.stream.window().starts_with(b"WARC/") {
            let cut = VersionLine::may_begin(framer.stream.window());
            return if cut {
                Ok(framer.cut())
            } else {
                framer.give_up(broken("a record should begin here"), 0)
            };
        }
        match self.header.read(&mut framer.stream, &framer.pattern)? {
            HeaderEnd::Whole(head) => self.block(head),
            HeaderEnd::Cut => Ok(framer.cut()),
            HeaderEnd::TooLong(seen) => framer.give_up(broken("its header has no end"), seen),
            HeaderEnd::Glued(next) => {
                Ok(framer.give_up_before(next, broken("another record begins inside its header")))
            }
        }
    }

    /// Frames the record whose header ends at `head`.
    fn block(&mut self, head: usize) -> io::Result<Frame> {
        let window = self.framer.stream.window();
        self.named = self.header.id(window).map(|id| unfold(id, &mut self.id)).is_some();
        let length = self.header.length(window);
        // ClueWeb22 leaves the length of this kind out, and of no other.
        if length.is_none() && !self.header.has_kind(window, "warcinfo") {
            return self.framer.give_up(broken("its Content-Length is missing or no number"), head);
        }
        self.framer.block(head, length, self.counter.limit())
    }
}

fn broken(why: &str) -> Reason {
    Reason::Broken(why.to_owned())
}

impl Records for Warc {
    fn next(&mut self) -> Result<Option<Item<'_>>, CorpusError> {
        let frame = match self.frame() {
            Ok(frame) => frame,
            Err(source) => return Err(CorpusError::reading(&self.counter.shard)(source)),
        };
        let block = match frame {
            Frame::End => return Ok(None),
            Frame::Rejected(position, reason) => {
                let id = self.named.then(|| self.id.clone());
                return Ok(Some(self.counter.reject_named(position, reason, id)));
            }
            Frame::Record(block) => block,
        };
        let position = self.framer.stream.offset();
        let window = self.framer.stream.window();
        let raw = Some(self.framer.raw());
        let head = &window[..block.start];
        let payload = self.header.payload(window, &window[block], &mut self.blocks, self.counter.limit());
        let (media, bytes, charset) = match payload {
            Payload::Document { media, bytes, charset } => (media, bytes, charset),
            Payload::Skipped(kind) => return Ok(Some(Item::Skipped(Skip { kind, position, raw }))),
            Payload::Rejected(reason) => {
                let id = self.named.then(|| self.id.clone());
                return Ok(Some(self.counter.reject_named(position, reason, id)));
            }
        };
        let place = self.counter.place(position);
        let addressed = self.header.url(window).map(|url| unfold(url, &mut self.url)).is_some();
        self.extras.clear();
        for (index, name) in self.counter.options.extras.iter().enumerate() {
            let value = header_value(head, name);
            self.extras.set(index, |text| value.map(|value| push_unfolded(value, text)).is_some());
        }
        Ok(Some(Item::Document(Document {
            id: if self.named { &self.id } else { self.counter.own_id(place) },
            url: addressed.then_some(self.url.as_str()),
            media,
            content: Content::Encoded { bytes, charset },
            place,
            raw,
            extras: self.extras.view(),
        })))
    }

    fn field_names(&self, names: &mut FieldNames) {
        let head = self.framer.raw().split_inclusive(|&byte| byte == b'\n').skip(1);
        let lines = head.take_while(|line| !line.trim_ascii().is_empty());
        lines
            .filter(|line| line.contains(&b':'))
            .for_each(|line| names.add(&String::from_utf8_lossy(field_name(line))));
    }
}

/// The line that every record begins with, such as `WARC/1.0`.
struct VersionLine {
    needle: Finder<'static>,
}

impl VersionLine {
    /// Room for a version line with some white space.
    const LONGEST: usize = 32;

    /// Finds a record that may begin inside a header line. An address may well end in `WARC/1.0`, so this is proof
    /// only together with a field that comes twice or a line without a name.
    fn inside(&self, window: &[u8], line: Range<usize>) -> Option<usize> {
        // Nothing but the line's end can stand behind a version.
        let tail = line.end.saturating_sub(Self::LONGEST).max(line.start)..line.end;
        let starts = self.needle.find_iter(&window[tail.clone()]).map(|at| tail.start + at);
        starts.filter(|&at| Self::begins(window, at)).last()
    }
}

impl RecordPattern for VersionLine {
    const BEFORE: usize = 0;
    const LOOKAHEAD: usize = 128;
    const SEPARATOR: usize = 2;

    fn needle(&self) -> &Finder<'static> {
        &self.needle
    }

    /// A version line with a header line behind it. Damage can glue a record to the middle of another one's
    /// line; then the header line must be one that only records have.
    fn begins(window: &[u8], at: usize) -> bool {
        let bytes = &window[at..window.len().min(at + Self::LOOKAHEAD)];
        let Some(name) = version_line(bytes).and_then(|next| header_name(&bytes[next..])) else {
            return false;
        };
        let begins = |known: &[u8]| name.get(..known.len()).is_some_and(|s| s.eq_ignore_ascii_case(known));
        (at > 0 && window[at - 1] == b'\n') || begins(b"WARC-") || begins(b"Content-")
    }

    fn may_begin(rest: &[u8]) -> bool {
        let length = rest.len().min(5);
        let undecided = match version_line(rest) {
            Some(next) => rest[next..].iter().all(is_name),
            None => memchr::memchr(b'\n', rest).is_none(),
        };
        undecided && rest[..length] == b"WARC/"[..length]
    }
}

/// Length of the line `WARC/<number>.<number>` at the front of `bytes`.
fn version_line(bytes: &[u8]) -> Option<usize> {
    let digits = |bytes: &[u8]| bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut at = b"WARC/".len();
    bytes.starts_with(b"WARC/").then_some(())?;
    for end in [b'.', b'\n'] {
        let number = digits(&bytes[at..]);
        at += number;
        while end == b'\n' && matches!(bytes.get(at), Some(b' ' | b'\t' | b'\r')) {
            at += 1;
        }
        if number == 0 || bytes.get(at) != Some(&end) {
            return None;
        }
        at += 1;
    }
    Some(at)
}

/// The name of the header line at the front of `bytes`.
fn header_name(bytes: &[u8]) -> Option<&[u8]> {
    let length = bytes.iter().take_while(|byte| is_name(byte)).count();
    (length > 0 && bytes.get(length) == Some(&b':')).then(|| &bytes[..length])
}

fn is_name(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')
}

/// The fields that are looked at.
#[derive(Clone, Copy)]
enum Field {
    Kind,
    RecordId,
    TrecId,
    TargetUri,
    ContentType,
    ContentLength,
    /// Only to see when it comes twice.
    Date,
}

const FIELDS: [(Field, &str); 7] = [
    (Field::Kind, "WARC-Type"),
    (Field::RecordId, "WARC-Record-ID"),
    (Field::TrecId, "WARC-TREC-ID"),
    (Field::TargetUri, "WARC-Target-URI"),
    (Field::ContentType, "Content-Type"),
    (Field::ContentLength, "Content-Length"),
    (Field::Date, "WARC-Date"),
];

/// Positions of one record's header values in the window.
struct Header {
    line_end: Finder<'static>,
    values: [Option<(usize, usize)>; FIELDS.len()],
}

/// The way in which the header of a record ends.
enum HeaderEnd {
    /// With an empty line; the block begins here.
    Whole(usize),
    /// Not within the window's last byte, behind which nothing comes.
    Cut,
    /// Not within [`Header::LIMIT`] bytes, of which this number has been looked at.
    TooLong(usize),
    /// In the middle, where another record begins.
    Glued(usize),
}

impl Header {
    /// Longer headers are taken for something else.
    const LIMIT: usize = 64 << 10;

    fn new() -> Self {
        Header { line_end: Finder::new(b"\n"), values: [None; FIELDS.len()] }
    }

    /// Reads the header at the front of the window, line by line.
    fn read(&mut self, stream: &mut Stream, version: &VersionLine) -> io::Result<HeaderEnd> {
        self.values = [None; FIELDS.len()];
        let mut start = 0;
        let mut last = None;
        let mut glued = None;
        loop {
            let end = match stream.find(&self.line_end, start, Self::LIMIT)? {
                SearchResult::At(end) => end,
                SearchResult::End => return Ok(HeaderEnd::Cut),
                SearchResult::Limit => return Ok(HeaderEnd::TooLong(start.max(1))),
            };
            stream.ensure(end + 1 + VersionLine::LOOKAHEAD)?;
            let window = stream.window();
            if window[start..end].iter().all(|&byte| byte == b'\r') {
                return Ok(HeaderEnd::Whole(end + 1));
            }
            if start > 0 && VersionLine::begins(window, start) {
                return Ok(HeaderEnd::Glued(start));
            }
            glued = version.inside(window, start + 1..end).or(glued);
            let kind = if start == 0 { LineKind::Nameless } else { self.take(window, start..end, &mut last) };
            if let (Some(next), LineKind::Repeated | LineKind::Nameless) = (glued, kind) {
                return Ok(HeaderEnd::Glued(next));
            }
            start = end + 1;
        }
    }

    /// Notes one header line; `last` is the field that a folded line goes on with.
    fn take(&mut self, window: &[u8], line: Range<usize>, last: &mut Option<usize>) -> LineKind {
        let text = &window[line.clone()];
        if matches!(text.first(), Some(b' ' | b'\t')) {
            if let Some((_, end)) = last.and_then(|index| self.values[index].as_mut()) {
                *end = line.end;
            }
            return LineKind::Other;
        }
        *last = None;
        let Some(colon) = memchr::memchr(b':', text) else { return LineKind::Nameless };
        let name = text[..colon].trim_ascii();
        let Some(index) = FIELDS.iter().position(|(_, known)| name.eq_ignore_ascii_case(known.as_bytes()))
        else {
            return LineKind::Other;
        };
        if self.values[index].is_some() {
            return LineKind::Repeated;
        }
        self.values[index] = Some((line.start + colon + 1, line.end));
        *last = Some(index);
        LineKind::Other
    }

    /// The value of a field, unless it is empty.
    fn value<'w>(&self, window: &'w [u8], field: Field) -> Option<&'w [u8]> {
        let (start, end) = self.values[field as usize]?;
        let value = window[start..end].trim_ascii();
        (!value.is_empty()).then_some(value)
    }

    fn length(&self, window: &[u8]) -> Option<u64> {
        let digits = self.value(window, Field::ContentLength)?;
        if !digits.iter().all(u8::is_ascii_digit) {
            return None;
        }
        // More digits than fit mean a record that is too long, whatever they say.
        Some(std::str::from_utf8(digits).ok()?.parse().unwrap_or(u64::MAX))
    }

    fn has_kind(&self, window: &[u8], kind: &str) -> bool {
        self.value(window, Field::Kind).is_some_and(|value| value.eq_ignore_ascii_case(kind.as_bytes()))
    }

    fn id<'w>(&self, window: &'w [u8]) -> Option<&'w [u8]> {
        let record_id = || self.value(window, Field::RecordId).map(without_brackets);
        self.value(window, Field::TrecId).or_else(record_id)
    }

    fn url<'w>(&self, window: &'w [u8]) -> Option<&'w [u8]> {
        self.value(window, Field::TargetUri).map(without_brackets)
    }

    /// Returns the payload that a record of its type has in this block.
    fn payload<'a>(
        &self,
        window: &'a [u8],
        block: &'a [u8],
        blocks: &'a mut BlockReader,
        limit: usize,
    ) -> Payload<'a> {
        let Some(kind) = self.value(window, Field::Kind) else {
            return Payload::Rejected(Reason::MissingField("WARC-Type is not there".into()));
        };
        let content_type = self.value(window, Field::ContentType).unwrap_or_default();
        let is = |known: &&str| kind.eq_ignore_ascii_case(known.as_bytes());
        if content_type.get(..8).is_some_and(|start| start.eq_ignore_ascii_case(b"text/dns")) {
            return Payload::Skipped("dns");
        }
        if is(&"response") {
            let http = content_type.get(..16).is_some_and(|s| s.eq_ignore_ascii_case(b"application/http"));
            return blocks.response(block, if http { b"" } else { content_type }, limit);
        }
        if is(&"conversion") {
            // The standard asks for UTF-8, and nothing else has been seen.
            return Payload::Document { media: Media::Text, bytes: block, charset: Some("utf-8") };
        }
        if is(&"resource") {
            return http::plain(block, content_type);
        }
        let known = SKIPPED.iter().find(|known| is(known));
        Payload::Skipped(known.copied().unwrap_or("other record"))
    }
}

/// Kinds of records without a text of their own.
const SKIPPED: [&str; 5] = ["warcinfo", "request", "metadata", "revisit", "continuation"];

/// The kind of a header line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LineKind {
    /// A field that was there before.
    Repeated,
    /// A line without a name.
    Nameless,
    Other,
}

/// The value of the first field of `head` that bears this name, with the folded lines behind it, unless it is empty.
fn header_value<'h>(head: &'h [u8], name: &str) -> Option<&'h [u8]> {
    let mut begin = None;
    let mut end = 0;
    let mut at = 0;
    for line in head.split_inclusive(|&byte| byte == b'\n') {
        let folded = matches!(line.first(), Some(b' ' | b'\t'));
        if begin.is_some() && !folded {
            break;
        }
        if begin.is_none() && !folded && field_name(line).eq_ignore_ascii_case(name.as_bytes()) {
            begin = memchr::memchr(b':', line).map(|colon| at + colon + 1);
        }
        at += line.len();
        end = at;
    }
    let value = head[begin?..end].trim_ascii();
    (!value.is_empty()).then_some(value)
}

/// The name that a header line begins with; none for a line without one.
pub(crate) fn field_name(line: &[u8]) -> &[u8] {
    memchr::memchr(b':', line).map_or(&[], |colon| line[..colon].trim_ascii())
}

fn without_brackets(value: &[u8]) -> &[u8] {
    value.strip_prefix(b"<").and_then(|value| value.strip_suffix(b">")).unwrap_or(value)
}

/// Puts a value into `out`: folded lines joined by a space, and bytes that are no UTF-8 replaced.
fn unfold(value: &[u8], out: &mut String) {
    out.clear();
    push_unfolded(value, out);
}

fn push_unfolded(value: &[u8], out: &mut String) {
    for (index, line) in value.split(|&byte| byte == b'\n').enumerate() {
        if index > 0 {
            out.push(' ');
        }
        push_text(line.trim_ascii(), out);
    }
}

#[cfg(test)]
mod tests;
