//! TREC collections: web pages (`WT10g`, `.GOV`, `GOV2`) and texts (newswire).
//!
//! ```text
//! <DOC>                                    <DOC>
//! <DOCNO>WTX001-B01-1</DOCNO>              <DOCNO> AP880212-0001 </DOCNO>
//! <DOCHDR>                                 <TEXT>
//! http://example.org/ 10.0.0.1 ...         Any markup, with tags that are no HTML.
//! HTTP/1.0 200 OK                          </TEXT>
//! Content-type: text/html                  </DOC>
//! </DOCHDR>
//! <html>...
//! </DOC>
//! ```
//!
//! This is no XML: nothing is escaped and a page may hold any of these tags. So `</DOC>` ends a document, and
//! `<DOC>` begins one inside another only at the beginning of a line and with a `<DOCNO>` close behind.

use std::io;

use lookalike_model::{Content, Document, Extras, Media, Reason};
use memchr::memmem::{Finder, find_iter};

use super::resync::{skip_blank, skip_until, strip_first_line_end, strip_last_line_end};
use crate::input::{SearchResult, Stream};
use crate::reader::Records;
use crate::record::RecordCounter;
use crate::{CorpusError, Item};

const OPEN: &[u8] = b"<DOC>";

/// Bytes behind a tag within which the next tag of the document's head must stand.
const NEAR: usize = 256;

/// Line ends behind `</DOC>` that still belong to the record.
const LINE_ENDS: usize = 16;

pub(crate) struct Trec {
    stream: Stream,
    counter: RecordCounter,
    /// Collections write their tags in capitals, or all of them small.
    capitals: Tags,
    smalls: Tags,
    /// Length of the record handed out last.
    used: usize,
}

impl Trec {
    pub(crate) fn new(stream: Stream, counter: RecordCounter) -> Self {
        let capitals = Tags {
            line_open: b"\n<DOC>",
            close: Finder::new("</DOC>"),
            number: Finder::new("<DOCNO>"),
            number_end: Finder::new("</DOCNO>"),
            header: Finder::new("<DOCHDR>"),
            header_end: Finder::new("</DOCHDR>"),
            closed_from: 0,
        };
        let smalls = Tags {
            line_open: b"\n<doc>",
            close: Finder::new("</doc>"),
            number: Finder::new("<docno>"),
            number_end: Finder::new("</docno>"),
            header: Finder::new("<dochdr>"),
            header_end: Finder::new("</dochdr>"),
            closed_from: 0,
        };
        Trec { stream, counter, capitals, smalls, used: 0 }
    }

    /// Frames the record at the front of the window.
    fn frame(&mut self) -> io::Result<Frame> {
        self.stream.advance(std::mem::take(&mut self.used));
        skip_blank(&mut self.stream)?;
        if !self.stream.ensure(OPEN.len())? {
            return Ok(self.frame_end());
        }
        let front = &self.stream.window()[..OPEN.len()];
        if !front.eq_ignore_ascii_case(OPEN) {
            return Ok(Frame::Junk);
        }
        let spelling = if front == OPEN { Spelling::Capitals } else { Spelling::Smalls };
        self.frame_document(spelling)
    }

    /// Too few bytes for a document are left before the shard's end or before damage.
    fn frame_end(&mut self) -> Frame {
        if self.stream.fault().is_some() {
            return self.cut();
        }
        if self.stream.window().is_empty() { Frame::End } else { Frame::Junk }
    }

    fn frame_document(&mut self, spelling: Spelling) -> io::Result<Frame> {
        let limit = self.counter.limit();
        let tags = match spelling {
            Spelling::Capitals => &mut self.capitals,
            Spelling::Smalls => &mut self.smalls,
        };
        let found = tags.find_close(&mut self.stream, limit.saturating_add(NEAR))?;
        let window = self.stream.window();
        let end = match found {
            SearchResult::At(at) => at,
            SearchResult::End | SearchResult::Limit => window.len(),
        };
        if let Some(at) = tags.next_document_inside(&window[..end]).filter(|&at| at <= limit) {
            self.used = at;
            return Ok(Frame::Unclosed);
        }
        match found {
            SearchResult::At(at) if at + OPEN.len() < limit => {
                self.used = self.behind_line_ends(at + OPEN.len() + 1)?;
                Ok(Frame::Document { spelling, body_end: at })
            }
            SearchResult::At(_) | SearchResult::Limit => Ok(Frame::TooLong(spelling)),
            SearchResult::End => Ok(self.cut()),
        }
    }

    /// The end of the line ends that stand at `at`.
    fn behind_line_ends(&mut self, at: usize) -> io::Result<usize> {
        self.stream.ensure(at + LINE_ENDS)?;
        let behind = self.stream.window()[at..].iter().take(LINE_ENDS);
        Ok(at + behind.take_while(|byte| matches!(byte, b'\r' | b'\n')).count())
    }

    /// The window ends in the middle of a record.
    fn cut(&mut self) -> Frame {
        let reason = self.stream.fault().unwrap_or("the shard ends before </DOC>").to_owned();
        self.used = self.stream.window().len();
        self.stream.resume();
        Frame::Cut(reason)
    }

    /// Drops what is left of a document that is too long.
    fn skip_document(&mut self, spelling: Spelling) -> io::Result<()> {
        let tags = self.tags(spelling).clone();
        let overlap = NEAR + OPEN.len() + 1;
        skip_until(&mut self.stream, overlap, |window| tags.end_of_document(window)).map(drop)
    }

    /// Drops what is no document.
    fn skip_junk(&mut self) -> io::Result<()> {
        skip_until(&mut self.stream, OPEN.len() - 1, any_open).map(drop)
    }

    fn tags(&self, spelling: Spelling) -> &Tags {
        match spelling {
            Spelling::Capitals => &self.capitals,
            Spelling::Smalls => &self.smalls,
        }
    }

    /// Steps over what cannot be read; the reason why, or the document's frame.
    fn step(&mut self) -> io::Result<Step> {
        let frame = self.frame()?;
        let position = self.stream.offset();
        let reason = match &frame {
            Frame::End => return Ok(Step::End),
            Frame::Document { spelling, body_end } => {
                return Ok(Step::Document { spelling: *spelling, body_end: *body_end });
            }
            Frame::Cut(reason) => Reason::Truncated(reason.clone()),
            Frame::Unclosed => Reason::Broken("the document has no </DOC>".to_owned()),
            Frame::Junk => Reason::Broken("not a document: no <DOC> here".to_owned()),
            Frame::TooLong(_) => Reason::TooLong { limit: self.counter.limit() as u64 },
        };
        let whole = self.stream.window();
        let record = if self.used > 0 { &whole[..self.used] } else { whole };
        let id = if matches!(frame, Frame::Junk) { None } else { number_of_rejected(record) };
        match frame {
            Frame::Junk => self.skip_junk()?,
            Frame::TooLong(spelling) => self.skip_document(spelling)?,
            _ => {}
        }
        Ok(Step::Rejected(position, reason, id))
    }
}

#[derive(Debug, Clone, Copy)]
enum Spelling {
    Capitals,
    Smalls,
}

/// The result of framing the front of the window.
enum Frame {
    /// A whole document, `used` bytes long with its line ends; `</DOC>` stands at `body_end`.
    Document {
        spelling: Spelling,
        body_end: usize,
    },
    /// A document that the next one interrupts after `used` bytes.
    Unclosed,
    /// A document that the shard's end or damage cuts short.
    Cut(String),
    TooLong(Spelling),
    Junk,
    End,
}

/// The result of one step through the shard.
enum Step {
    Document { spelling: Spelling, body_end: usize },
    Rejected(u64, Reason, Option<String>),
    End,
}

/// Bytes of a document that cannot be read in which its number is looked for.
const NUMBER_WITHIN: usize = 4 << 10;

/// The number of a document that cannot be read.
fn number_of_rejected(bytes: &[u8]) -> Option<String> {
    let head = bytes[..bytes.len().min(NUMBER_WITHIN)].to_ascii_lowercase();
    let begin = memchr::memmem::find(&head, b"<docno>")? + b"<docno>".len();
    let length = memchr::memmem::find(&head[begin..], b"</docno>")?;
    let number = std::str::from_utf8(&bytes[begin..begin + length]).ok()?.trim();
    (!number.is_empty()).then(|| number.to_owned())
}

impl Records for Trec {
    fn next(&mut self) -> Result<Option<Item<'_>>, CorpusError> {
        let (spelling, body_end) = match self.step() {
            Ok(Step::Document { spelling, body_end }) => (spelling, body_end),
            Ok(Step::Rejected(position, reason, id)) => {
                return Ok(Some(self.counter.reject_named(position, reason, id)));
            }
            Ok(Step::End) => return Ok(None),
            Err(source) => return Err(CorpusError::reading(&self.counter.shard)(source)),
        };
        let position = self.stream.offset();
        let raw = &self.stream.window()[..self.used];
        let parts = match self.tags(spelling).parts(&raw[OPEN.len()..body_end]) {
            Ok(parts) => parts,
            Err(reason) => {
                let id = number_of_rejected(raw);
                return Ok(Some(self.counter.reject_named(position, reason, id)));
            }
        };
        let place = self.counter.place(position);
        let head = parts.header.unwrap_or_default();
        Ok(Some(Item::Document(Document {
            id: if parts.id.is_empty() { self.counter.own_id(place) } else { parts.id },
            url: address(head),
            media: if parts.header.is_some() { Media::Html } else { Media::Sgml },
            content: Content::Encoded { bytes: parts.content, charset: charset(head) },
            place,
            raw: Some(raw),
            extras: Extras::default(),
        })))
    }
}

/// The tags of a document in one spelling.
#[derive(Clone)]
struct Tags {
    line_open: &'static [u8],
    close: Finder<'static>,
    number: Finder<'static>,
    number_end: Finder<'static>,
    header: Finder<'static>,
    header_end: Finder<'static>,
    /// Offset in the shard before which no `</DOC>` stands. Without it, every document of a shard that has no
    /// end tags would search the whole window again.
    closed_from: u64,
}

/// The parts of a document.
struct Parts<'r> {
    /// Empty when the document has none.
    id: &'r str,
    header: Option<&'r [u8]>,
    content: &'r [u8],
}

impl Tags {
    /// Looks for `</DOC>`.
    fn find_close(&mut self, stream: &mut Stream, limit: usize) -> io::Result<SearchResult> {
        let from = usize::try_from(self.closed_from.saturating_sub(stream.offset())).unwrap_or(usize::MAX);
        let found = stream.find(&self.close, from.max(OPEN.len()), limit)?;
        let clear = match found {
            SearchResult::At(at) => at,
            // What the window holds beyond the limit has not been looked at.
            SearchResult::End | SearchResult::Limit => {
                stream.window().len().min(limit).saturating_sub(OPEN.len())
            }
        };
        self.closed_from = self.closed_from.max(stream.offset() + clear as u64);
        Ok(found)
    }

    /// Finds the beginning of another document inside `bytes`.
    fn next_document_inside(&self, bytes: &[u8]) -> Option<usize> {
        let begins = |at: usize| self.number.find(head(&bytes[at..])).is_some();
        find_iter(bytes, self.line_open).map(|at| at + 1).find(|&at| begins(at))
    }

    /// Finds the end of a document whose front is lost, or the beginning of the next one.
    fn end_of_document(&self, window: &[u8]) -> Option<usize> {
        let close = self.close.find(window);
        let next = self.next_document_inside(&window[..close.unwrap_or(window.len())]);
        next.or(close.map(|at| at + OPEN.len() + 1))
    }

    /// Takes apart what stands between `<DOC>` and `</DOC>`.
    fn parts<'r>(&self, body: &'r [u8]) -> Result<Parts<'r>, Reason> {
        let mut parts = Parts { id: "", header: None, content: body };
        if let Some((number, rest)) = element(&self.number, &self.number_end, parts.content)? {
            let number = number.trim_ascii();
            parts.id = std::str::from_utf8(number)
                .map_err(|_| Reason::InvalidUtf8("the document number is not UTF-8".to_owned()))?;
            parts.content = rest;
        }
        if let Some((header, rest)) = element(&self.header, &self.header_end, parts.content)? {
            parts.header = Some(header);
            parts.content = rest;
        }
        parts.content = strip_last_line_end(strip_first_line_end(parts.content));
        Ok(parts)
    }
}

/// The content of an element, and the bytes that follow the element.
type Element<'r> = (&'r [u8], &'r [u8]);

/// The element between two tags at the head of `bytes`.
fn element<'r>(
    open: &Finder<'_>,
    close: &Finder<'_>,
    bytes: &'r [u8],
) -> Result<Option<Element<'r>>, Reason> {
    let Some(at) = open.find(head(bytes)) else { return Ok(None) };
    let inside = &bytes[at + open.needle().len()..];
    let Some(end) = close.find(inside) else {
        let tag = String::from_utf8_lossy(open.needle());
        return Err(Reason::Broken(format!("{tag} is not closed")));
    };
    Ok(Some((&inside[..end], &inside[end + close.needle().len()..])))
}

fn head(bytes: &[u8]) -> &[u8] {
    &bytes[..bytes.len().min(NEAR)]
}

/// Finds the first `<DOC>` of any spelling.
fn any_open(window: &[u8]) -> Option<usize> {
    memchr::memchr_iter(b'<', window)
        .find(|&at| window[at..].get(..OPEN.len()).is_some_and(|tag| tag.eq_ignore_ascii_case(OPEN)))
}

/// The first word of a `<DOCHDR>`. Crawls hold addresses with stray bytes; a page is worth more than its
/// address, so such an address is left out and the page kept.
fn address(header: &[u8]) -> Option<&str> {
    let word = header.trim_ascii_start().split(u8::is_ascii_whitespace).next()?;
    std::str::from_utf8(word).ok().filter(|word| !word.is_empty())
}

/// The encoding that the HTTP headers in a `<DOCHDR>` name.
fn charset(header: &[u8]) -> Option<&str> {
    header.split(|&byte| byte == b'\n').find_map(charset_of_line)
}

fn charset_of_line(line: &[u8]) -> Option<&str> {
    let (name, value) = line.split_at_checked(b"content-type:".len())?;
    if !name.eq_ignore_ascii_case(b"content-type:") {
        return None;
    }
    let parameter = value.split(|&byte| byte == b';').map(<[u8]>::trim_ascii).find_map(|parameter| {
        let (name, value) = parameter.split_at_checked(b"charset=".len())?;
        name.eq_ignore_ascii_case(b"charset=").then_some(value)
    })?;
    let bare = parameter.split(|byte| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\''));
    std::str::from_utf8(bare.into_iter().find(|part| !part.is_empty())?).ok()
}

#[cfg(test)]
mod tests {
    use lookalike_model::ReasonKind;
    use proptest::prelude::*;

    use super::*;
    use crate::ReadOptions;
    use crate::formats::testing::{
        OwnedItem, briefs, count, counter, damaged, gzip, limited, read_all, stream, stream_by,
    };

    const WEB: &str = "<DOC>\n<DOCNO>WTX001-B01-1</DOCNO>\n<DOCOLDNO>IA1</DOCOLDNO>\n<DOCHDR>\n\
                       http://example.org/a 10.0.0.1 19970101 text/html 10\nHTTP/1.0 200 OK\n\
                       Content-Type: text/html; charset=\"ISO-8859-1\"\n</DOCHDR>\n<p>one\n</DOC>\n";
    const TEXT: &str = "<DOC>\n<DOCNO> AP-1 </DOCNO>\n<TEXT>\nAT&T <b\n</TEXT>\n</DOC>\n\n";

    fn trec(bytes: impl Into<Vec<u8>>) -> Trec {
        Trec::new(stream(bytes), counter(ReadOptions::default()))
    }

    #[test]
    fn a_web_page_has_address_charset_and_html() {
        let all = read_all(&mut trec(WEB));
        let page = all[0].page();
        assert_eq!((page.id.as_str(), page.url.as_deref()), ("WTX001-B01-1", Some("http://example.org/a")));
        assert_eq!((page.media, page.charset.as_deref()), (Media::Html, Some("ISO-8859-1")));
        assert_eq!((&page.content[..], page.raw.as_deref()), (&b"<p>one"[..], Some(WEB.as_bytes())));
    }

    #[test]
    fn a_text_keeps_its_markup() {
        let all = read_all(&mut trec(TEXT));
        let text = all[0].page();
        assert_eq!((text.id.as_str(), text.url.as_deref(), text.media), ("AP-1", None, Media::Sgml));
        assert_eq!(text.content, b"<TEXT>\nAT&T <b\n</TEXT>");
        assert_eq!(text.raw.as_deref(), Some(TEXT.as_bytes()));
    }

    #[test]
    fn every_chunk_size_gives_the_same_documents() {
        let file = format!("{WEB}{TEXT}oops {TEXT}<DOC>\n<DOCNO>cut");
        let whole = read_all(&mut trec(file.clone()));
        assert_eq!(whole.len(), 5);
        for step in 1..40 {
            let items =
                read_all(&mut Trec::new(stream_by(file.clone(), step), counter(ReadOptions::default())));
            assert_eq!(items, whole, "step {step}");
        }
    }

    #[test]
    fn small_tags_are_tags_too() {
        assert_eq!(briefs(&mut trec(format!("<doc><docno>a</docno>A</doc>\n{TEXT}")))[0], "a: A");
    }

    #[test]
    fn a_document_without_a_number_is_named_by_its_place() {
        assert_eq!(briefs(&mut trec("<DOC>\nhello\n</DOC>\n")), ["shard#0: hello"]);
    }

    #[test]
    fn a_document_without_end_tag_costs_no_other() {
        let all = briefs(&mut trec("<DOC>\n<DOCNO>a</DOCNO>\nA\n<DOC>\n<DOCNO>b</DOCNO>\nB\n</DOC>\n"));
        assert_eq!(all, ["broken record at 0", "b: B"]);
    }

    #[test]
    fn a_page_may_speak_of_doc_tags() {
        let page = "<DOC>\n<DOCNO>a</DOCNO>\nwrite <DOC>\n<DOC>\nlike this\n</DOC>\n";
        assert_eq!(briefs(&mut trec(page)), ["a: write <DOC>\n<DOC>\nlike this"]);
    }

    #[test]
    fn junk_between_documents_is_one_rejection() {
        let all = briefs(&mut trec(format!("{TEXT}junk and\nmore <junk>\n{TEXT}rest")));
        assert_eq!(all.len(), 4);
        assert_eq!(all[1], format!("broken record at {}", TEXT.len()));
        assert!(all[3].starts_with("broken"));
    }

    #[test]
    fn a_byte_order_mark_is_no_junk() {
        assert_eq!(read_all(&mut trec(format!("\u{feff}{TEXT}"))).len(), 1);
    }

    #[test]
    fn a_document_that_is_too_long_costs_no_other() {
        for ending in ["</DOC>\n", ""] {
            let long = format!("<DOC>\n<DOCNO>long</DOCNO>\n{}\n{ending}", "x".repeat(500));
            for step in [1, 50, 10_000] {
                let bytes = format!("{long}{TEXT}");
                let all = read_all(&mut Trec::new(stream_by(bytes, step), counter(limited(100))));
                assert_eq!(all[0], OwnedItem::Rejected(ReasonKind::TooLong, 0));
                assert_eq!((all.len(), all[1].page().id.as_str()), (2, "AP-1"));
            }
        }
    }

    #[test]
    fn the_limit_counts_from_doc_to_doc() {
        let length = TEXT.trim_end().len();
        for step in [1, 1000] {
            let whole = read_all(&mut Trec::new(stream_by(TEXT, step), counter(limited(length))));
            assert!(matches!(whole[..], [OwnedItem::Document(_)]));
            let long = read_all(&mut Trec::new(stream_by(TEXT, step), counter(limited(length - 1))));
            assert_eq!(long, [OwnedItem::Rejected(ReasonKind::TooLong, 0)]);
        }
    }

    #[test]
    fn every_limit_means_the_same_for_every_chunk_size() {
        let open = TEXT.replace("</DOC>", "");
        let file = format!("{open}{WEB}{}{TEXT}", "junk ".repeat(100));
        for limit in 0..400 {
            let whole = read_all(&mut Trec::new(stream(file.clone()), counter(limited(limit))));
            let dripped = read_all(&mut Trec::new(stream_by(file.clone(), 1), counter(limited(limit))));
            assert_eq!(whole, dripped, "limit {limit}");
        }
    }

    #[test]
    fn a_shard_that_ends_inside_a_document_is_one_rejection() {
        let all = read_all(&mut trec(format!("{TEXT}<DOC>\n<DOCNO>b</DOCNO>\ncut")));
        assert_eq!(all[1..], [OwnedItem::Rejected(ReasonKind::Truncated, TEXT.len() as u64)]);
    }

    #[test]
    fn a_damaged_member_costs_its_document() {
        let mut members = gzip(TEXT.as_bytes());
        members.truncate(members.len() - 12);
        members.extend(gzip(WEB.as_bytes()));
        let all = read_all(&mut trec(members));
        assert_eq!(all[0], OwnedItem::Rejected(ReasonKind::Truncated, 0));
        assert_eq!((all.len(), all[1].page().id.as_str()), (2, "WTX001-B01-1"));
    }

    #[test]
    fn unclosed_heads_are_broken() {
        let all = briefs(&mut trec("<DOC><DOCNO>a\n</DOC>\n<DOC><DOCNO>b</DOCNO><DOCHDR>x\n</DOC>\n"));
        assert_eq!(all, ["broken record at 0", "broken record at 21"]);
    }

    #[test]
    fn a_number_that_is_not_utf8_is_rejected() {
        let all = read_all(&mut trec(&b"<DOC><DOCNO>\xff</DOCNO></DOC>"[..]));
        assert_eq!(all, [OwnedItem::Rejected(ReasonKind::InvalidUtf8, 0)]);
    }

    #[test]
    fn an_address_that_is_not_utf8_is_left_out() {
        let all =
            read_all(&mut trec(&b"<DOC><DOCNO>a</DOCNO><DOCHDR>\nhttp://\xff/ x\n</DOCHDR>A</DOC>"[..]));
        assert_eq!(all[0].page().url, None);
    }

    #[test]
    fn a_million_tags_are_read_once() {
        assert_eq!(count(&mut trec("<DOC>\n".repeat(1_000_000))), 1);
        assert_eq!(count(&mut trec("<DOC>\n<DOCNO>1</DOCNO>\n".repeat(300_000))), 300_000);
        assert_eq!(count(&mut trec("<DOC></DOC>\n".repeat(1_000_000))), 1_000_000);
        let mut short = Trec::new(stream("<DOC>\n".repeat(1_000_000)), counter(limited(1000)));
        assert_eq!(count(&mut short), 1);
    }

    proptest! {
        #[test]
        fn no_bytes_make_the_reader_fail(bytes in prop::collection::vec(any::<u8>(), 0..300), step in 1usize..40) {
            count(&mut Trec::new(stream_by(bytes, step), counter(limited(64))));
        }

        #[test]
        fn damaged_files_read_alike_in_any_chunks(
            bytes in damaged(format!("{WEB}{TEXT}").repeat(2).into_bytes()),
            step in 1usize..40,
        ) {
            let whole = read_all(&mut Trec::new(stream(bytes.clone()), counter(limited(200))));
            let dripped = read_all(&mut Trec::new(stream_by(bytes, step), counter(limited(200))));
            prop_assert_eq!(whole, dripped);
        }

        #[test]
        fn written_documents_are_read_back(texts in prop::collection::vec("[a-z<>& ]{1,40}", 1..8)) {
            let file: String = texts.iter().enumerate()
                .map(|(n, text)| format!("<DOC>\n<DOCNO>D-{n}</DOCNO>\n{text}\n</DOC>\n")).collect();
            let expected: Vec<_> = texts.iter().enumerate().map(|(n, text)| format!("D-{n}: {text}")).collect();
            prop_assert_eq!(briefs(&mut trec(file)), expected);
        }
    }
}
