//! E-mail: many messages in one file, mbox. A file with a single message is a plain file.
//!
//! A message of an mbox begins with a line `From sender date` at the start of the file or behind an empty
//! line. Writers put `>` before such lines in a body; it is left there, since the variants of the format do
//! not agree on when to take it away.

use std::io;

use lookalike_model::{Content, Document, Extras, Media, Reason};
use memchr::memmem::Finder;

use super::resync::{skip_blank, skip_until, strip_last_line_end};
use crate::input::{SearchResult, Stream};
use crate::reader::Records;
use crate::record::RecordCounter;
use crate::{CorpusError, Item};

const FROM: &[u8] = b"From ";

/// Number of bytes that show a message's beginning: an empty line, then `From `.
const BOUNDARY: usize = b"\n\r\nFrom ".len();

pub(crate) struct Mbox {
    stream: Stream,
    counter: RecordCounter,
    from_line: Finder<'static>,
    /// Length of the message handed out last.
    used: usize,
}

impl Mbox {
    pub(crate) fn new(stream: Stream, counter: RecordCounter) -> Self {
        Mbox { stream, counter, from_line: Finder::new("\nFrom "), used: 0 }
    }

    /// Frames the message at the front of the window.
    fn frame(&mut self) -> io::Result<Frame> {
        self.stream.advance(std::mem::take(&mut self.used));
        skip_blank(&mut self.stream)?;
        if !self.stream.ensure(FROM.len())? && self.stream.fault().is_some() {
            return Ok(self.cut());
        }
        if self.stream.window().is_empty() {
            return Ok(Frame::End);
        }
        if !self.stream.window().starts_with(FROM) {
            return Ok(Frame::Junk);
        }
        self.frame_message()
    }

    fn frame_message(&mut self) -> io::Result<Frame> {
        let limit = self.counter.limit();
        self.used = match self.find_boundary(limit.saturating_add(BOUNDARY))? {
            SearchResult::At(at) => at,
            SearchResult::Limit => limit.saturating_add(1),
            SearchResult::End if self.stream.fault().is_some() => return Ok(self.cut()),
            SearchResult::End => self.stream.window().len(),
        };
        if self.used > limit {
            self.used = 0;
            return Ok(Frame::TooLong);
        }
        Ok(Frame::Message)
    }

    /// Looks for the beginning of the next message.
    fn find_boundary(&mut self, limit: usize) -> io::Result<SearchResult> {
        let mut from = 0;
        loop {
            match self.stream.find(&self.from_line, from, limit)? {
                SearchResult::At(at) if behind_empty_line(&self.stream.window()[..at]) => {
                    return Ok(SearchResult::At(at + 1));
                }
                SearchResult::At(at) => from = at + 1,
                elsewhere => return Ok(elsewhere),
            }
        }
    }

    /// Damage cuts the message short.
    fn cut(&mut self) -> Frame {
        let reason = self.stream.fault().unwrap_or_default().to_owned();
        self.used = self.stream.window().len();
        self.stream.resume();
        Frame::Cut(reason)
    }

    /// Drops everything before the next message.
    fn skip_message(&mut self) -> io::Result<()> {
        let from_line = &self.from_line;
        let boundary = |window: &[u8]| {
            let mut lines = from_line.find_iter(window);
            lines.find(|&at| behind_empty_line(&window[..at])).map(|at| at + 1)
        };
        skip_until(&mut self.stream, BOUNDARY, boundary).map(drop)
    }

    /// Steps over what cannot be read; the reason why, or `None` when a message stands at the front.
    fn step(&mut self) -> io::Result<Step> {
        let frame = self.frame()?;
        let position = self.stream.offset();
        let reason = match frame {
            Frame::End => return Ok(Step::End),
            Frame::Message => return Ok(Step::Message),
            Frame::Cut(reason) => return Ok(Step::Rejected(position, Reason::Truncated(reason))),
            Frame::Junk => Reason::Broken("not a message: no `From ` line here".to_owned()),
            Frame::TooLong => Reason::TooLong { limit: self.counter.limit() as u64 },
        };
        self.skip_message()?;
        Ok(Step::Rejected(position, reason))
    }
}

/// The result of framing the front of the window.
enum Frame {
    /// A whole message, `used` bytes long with the empty line behind it.
    Message,
    Cut(String),
    TooLong,
    Junk,
    End,
}

/// The result of one step through the shard.
enum Step {
    Message,
    Rejected(u64, Reason),
    End,
}

impl Records for Mbox {
    fn next(&mut self) -> Result<Option<Item<'_>>, CorpusError> {
        match self.step() {
            Ok(Step::Message) => {}
            Ok(Step::Rejected(position, reason)) => return Ok(Some(self.counter.reject(position, reason))),
            Ok(Step::End) => return Ok(None),
            Err(source) => return Err(CorpusError::reading(&self.counter.shard)(source)),
        }
        let place = self.counter.place(self.stream.offset());
        let raw = &self.stream.window()[..self.used];
        let message = without_envelope(raw);
        Ok(Some(Item::Document(Document {
            id: message_id(message).unwrap_or_else(|| self.counter.own_id(place)),
            url: None,
            media: Media::Email,
            content: Content::Encoded { bytes: message, charset: None },
            place,
            raw: Some(raw),
            extras: Extras::default(),
        })))
    }
}

/// True when `before`, all that stands before a line's end, ends with the end of the line above: the line is
/// empty.
fn behind_empty_line(before: &[u8]) -> bool {
    before.ends_with(b"\n") || before.ends_with(b"\n\r")
}

/// The message without its `From ` line and without the empty line that separates it from the next.
fn without_envelope(raw: &[u8]) -> &[u8] {
    let begin = memchr::memchr(b'\n', raw).map_or(raw.len(), |at| at + 1);
    let message = &raw[begin..];
    let shorter = strip_last_line_end(message);
    if shorter.ends_with(b"\n") { shorter } else { message }
}

/// The value of the `Message-ID` header, without its angle brackets.
fn message_id(message: &[u8]) -> Option<&str> {
    let mut rest = message;
    while !rest.is_empty() {
        let end = field_end(rest);
        let (field, following) = rest.split_at(end);
        if field.trim_ascii().is_empty() {
            return None;
        }
        if let Some(id) = id_of_field(field) {
            return Some(id);
        }
        rest = following;
    }
    None
}

/// Returns the end of the header field at the front: behind the first line that no folded line follows.
fn field_end(bytes: &[u8]) -> usize {
    let folded = |at: usize| matches!(bytes.get(at + 1), Some(b' ' | b'\t'));
    // The empty line ends the header even when the body begins with a blank.
    let empty = bytes.starts_with(b"\n") || bytes.starts_with(b"\r\n");
    let mut ends = memchr::memchr_iter(b'\n', bytes);
    ends.find(|&at| empty || !folded(at)).map_or(bytes.len(), |at| at + 1)
}

fn id_of_field(field: &[u8]) -> Option<&str> {
    let (name, value) = field.split_at_checked(b"message-id:".len())?;
    if !name.eq_ignore_ascii_case(b"message-id:") {
        return None;
    }
    let value = value.trim_ascii();
    let bare = match (memchr::memchr(b'<', value), memchr::memchr(b'>', value)) {
        (Some(open), Some(close)) if open < close => &value[open + 1..close],
        _ => value.split(u8::is_ascii_whitespace).next()?,
    };
    std::str::from_utf8(bare.trim_ascii()).ok().filter(|id| !id.is_empty() && !id.contains(['\r', '\n']))
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

    const TWO: &str = "From a@x Thu Jan  1 00:00:00 1970\nSubject: one\nMessage-ID: <1@x>\n\nHello\n>From me\n\n\
                       From b@x Thu Jan  1 00:00:00 1970\nmessage-id:\n <2@x>\n\nBye\n";

    fn mbox(bytes: impl Into<Vec<u8>>) -> Mbox {
        Mbox::new(stream(bytes), counter(ReadOptions::default()))
    }

    #[test]
    fn messages_are_split_at_from_lines_and_named_by_their_message_id() {
        let all = read_all(&mut mbox(TWO));
        assert_eq!(all.len(), 2);
        assert_eq!(all[0].page().id, "1@x");
        assert_eq!(all[0].page().content, b"Subject: one\nMessage-ID: <1@x>\n\nHello\n>From me\n");
        assert_eq!(all[0].page().media, Media::Email);
        assert_eq!(all[1].page().id, "2@x");
    }

    #[test]
    fn raw_messages_put_together_are_the_file() {
        let raw: Vec<u8> =
            read_all(&mut mbox(TWO)).iter().flat_map(|m| m.page().raw.clone().unwrap()).collect();
        assert_eq!(raw, TWO.as_bytes());
    }

    #[test]
    fn every_chunk_size_gives_the_same_messages() {
        let whole = read_all(&mut mbox(TWO));
        for step in 1..20 {
            assert_eq!(
                read_all(&mut Mbox::new(stream_by(TWO, step), counter(ReadOptions::default()))),
                whole
            );
        }
    }

    #[test]
    fn carriage_returns_do_not_hide_a_boundary() {
        let all = read_all(&mut mbox(TWO.replace('\n', "\r\n")));
        assert_eq!(all.iter().map(|m| m.page().id.as_str()).collect::<Vec<_>>(), ["1@x", "2@x"]);
        assert!(all[0].page().content.ends_with(b">From me\r\n"));
    }

    #[test]
    fn a_from_line_without_an_empty_line_before_it_is_text() {
        assert_eq!(read_all(&mut mbox("From a\n\nHello\nFrom me to you\n")).len(), 1);
    }

    #[test]
    fn a_message_id_in_the_body_is_not_the_messages() {
        assert_eq!(
            read_all(&mut mbox("From a\nSubject: x\n\n Message-ID: <y>\nMessage-ID: <z>\n"))[0].page().id,
            "shard#0"
        );
    }

    #[test]
    fn a_message_without_headers_is_named_by_its_place() {
        assert_eq!(briefs(&mut mbox("From a\n\nHi\n")), ["shard#0: \nHi\n"]);
    }

    #[test]
    fn junk_before_the_first_message_is_one_rejection() {
        let all = read_all(&mut mbox(format!("what is\n\nthis\n\n{TWO}")));
        assert_eq!(all[0], OwnedItem::Rejected(ReasonKind::Broken, 0));
        assert_eq!(all.len(), 3);
    }

    #[test]
    fn a_message_that_is_too_long_costs_no_other() {
        let text = format!("From a\n\n{}\n\nFrom b\n\nshort\n", "long ".repeat(50));
        let all = read_all(&mut Mbox::new(stream_by(text, 7), counter(limited(100))));
        assert_eq!(all[0], OwnedItem::Rejected(ReasonKind::TooLong, 0));
        assert_eq!(all[1].page().content, b"\nshort\n");
        assert_eq!(all.len(), 2);
    }

    #[test]
    fn the_limit_is_the_same_for_every_chunk_size() {
        let length = memchr::memmem::find(TWO.as_bytes(), b"From b").unwrap();
        for step in [1, 3, 1000] {
            for (limit, kept) in [(length, 2), (length - 1, 1)] {
                let all = read_all(&mut Mbox::new(stream_by(TWO, step), counter(limited(limit))));
                let documents = all.iter().filter(|item| matches!(item, OwnedItem::Document(_))).count();
                assert_eq!((all.len(), documents), (2, kept), "step {step}, limit {limit}");
            }
        }
    }

    #[test]
    fn every_limit_means_the_same_for_every_chunk_size() {
        let text = format!("junk\n\n{TWO}\n{TWO}");
        for limit in 0..200 {
            let whole = read_all(&mut Mbox::new(stream(text.clone()), counter(limited(limit))));
            let dripped = read_all(&mut Mbox::new(stream_by(text.clone(), 1), counter(limited(limit))));
            assert_eq!(whole, dripped, "limit {limit}");
        }
    }

    #[test]
    fn a_damaged_member_costs_its_message() {
        let mut members = gzip(b"From a\n\ncut off in the middle of things\n\n");
        members.truncate(members.len() - 12);
        members.extend(gzip(b"From b\n\nwhole\n\n"));
        let all = read_all(&mut mbox(members));
        assert_eq!(all[0], OwnedItem::Rejected(ReasonKind::Truncated, 0));
        assert_eq!(all[1].page().content, b"\nwhole\n");
    }

    #[test]
    fn an_empty_file_holds_no_message() {
        assert!(read_all(&mut mbox("")).is_empty());
        assert!(read_all(&mut mbox("\n\n")).is_empty());
    }

    #[test]
    fn a_million_from_lines_are_read_once() {
        assert_eq!(count(&mut mbox("From \n".repeat(1_000_000))), 1);
        assert_eq!(count(&mut mbox("From \n\n".repeat(1_000_000))), 1_000_000);
        let mut short = Mbox::new(stream("From \n".repeat(1_000_000)), counter(limited(1000)));
        assert_eq!(count(&mut short), 1);
    }

    proptest! {
        #[test]
        fn no_bytes_make_the_reader_fail(bytes in prop::collection::vec(any::<u8>(), 0..300), step in 1usize..40) {
            count(&mut Mbox::new(stream_by(bytes, step), counter(limited(64))));
        }

        #[test]
        fn damaged_files_give_items_in_order(bytes in damaged(TWO.repeat(3).into_bytes()), step in 1usize..40) {
            let length = bytes.len() as u64;
            let mut last = 0;
            for item in read_all(&mut Mbox::new(stream_by(bytes, step), counter(limited(120)))) {
                let position = match item {
                    OwnedItem::Document(page) => page.position,
                    OwnedItem::Rejected(_, position) => position,
                    OwnedItem::Skipped(..) => last,
                };
                prop_assert!(last <= position && position <= length);
                last = position;
            }
        }

        #[test]
        fn written_messages_are_read_back(bodies in prop::collection::vec("[a-z ]{0,20}(\n[a-z]{1,9}){0,3}", 1..8)) {
            let file: String = bodies.iter().enumerate()
                .map(|(n, body)| format!("From a\nMessage-ID: <{n}@x>\n\n{body}\n\n")).collect();
            let all = read_all(&mut mbox(file));
            prop_assert_eq!(all.len(), bodies.len());
            for (n, (item, body)) in all.iter().zip(&bodies).enumerate() {
                prop_assert_eq!(&item.page().id, &format!("{n}@x"));
                let expected = format!("Message-ID: <{n}@x>\n\n{body}\n");
                prop_assert_eq!(&item.page().content, expected.as_bytes());
            }
        }
    }
}
