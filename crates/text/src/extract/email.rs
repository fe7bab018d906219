//! E-mail: subject and body of a message, without headers, attachments and transfer encodings.

use mail_parser::{Encoding, Message, MessageParser, MessagePart, MimeHeaders, PartType};
use memchr::{memchr, memmem};

use super::Extracted;
use super::charset::decode;
use super::html::write_html;
use super::transfer;
use super::writer::{Gap, Origin, ReadOptions, Writer};

/// More lines that may be boundaries than this are no message that a person or a list sent.
const MAX_BOUNDARIES: usize = 20_000;

/// Messages inside of messages are read down to this depth.
const MAX_DEPTH: usize = 8;
/// The parser's own structures nest, and so does freeing them: more enclosed messages are not parsed.
const MAX_ENCLOSED: usize = 250;
/// The parser may look through the message once per part: beyond this many byte visits it is not asked.
const MAX_VISITS: usize = 1 << 32;

/// Writes the subject (as a heading) and the body of a raw message to `out`.
///
/// The body is made of the plain text parts, or of the HTML part where there is no plain alternative; enclosed
/// messages are included, attachments are not. A text without headers is its own body. A message built to
/// exhaust a parser (hundreds of nested messages, millions of parts) is taken as plain text. The spans lead
/// back to the message: exactly for parts sent as they are, to the whole part for encoded ones.
///
/// ```
/// use lookalike_text::extract::{Extracted, email::email};
///
/// let mut out = Extracted::default();
/// email(b"Subject: =?utf-8?q?Caf=C3=A9?=\nFrom: a@b.c\n\nAt five?\n", &mut out);
/// assert_eq!(out.text, "Café\n\nAt five?");
/// ```
pub fn email(message: &[u8], out: &mut Extracted) {
    out.clear();
    let start = envelope_end(message);
    let raw_message = &message[start..];
    let parsed = if has_headers(raw_message) && !is_hostile(raw_message) {
        MessageParser::default().parse(raw_message)
    } else {
        None
    };
    match parsed {
        Some(parsed) => write_messages(&parsed, raw_message, start, out),
        None => write_unparsed(raw_message, start, out),
    }
}

/// The headers by which a message is recognised.
const COMMON_HEADERS: [&[u8]; 9] = [
    b"from",
    b"to",
    b"subject",
    b"date",
    b"received",
    b"message-id",
    b"return-path",
    b"mime-version",
    b"delivered-to",
];

/// True when the text begins with a header and one that tells of mail follows; lines in between may be broken.
fn has_headers(raw_message: &[u8]) -> bool {
    let tells_of_mail = |name: &[u8]| {
        starts_with(name, b"content-")
            || COMMON_HEADERS.iter().any(|common| name.eq_ignore_ascii_case(common))
    };
    let begins = headers(raw_message).next().and_then(header_name).is_some();
    begins && headers(raw_message).filter_map(header_name).any(tells_of_mail)
}

fn starts_with(name: &[u8], prefix: &[u8]) -> bool {
    name.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix))
}

/// True when `bytes` begin with a block of mail headers, at least two of them usual ones.
pub fn looks_like_email(bytes: &[u8]) -> bool {
    let mut seen = [false; COMMON_HEADERS.len()];
    for line in headers(&bytes[envelope_end(bytes)..]) {
        let Some(name) = header_name(line) else { return false };
        if let Some(index) = COMMON_HEADERS.iter().position(|common| name.eq_ignore_ascii_case(common)) {
            seen[index] = true;
        }
    }
    seen.iter().filter(|seen| **seen).count() >= 2
}

/// Returns the offset of the message behind the `From ` line with which a mailbox separates messages; 0 without one.
fn envelope_end(bytes: &[u8]) -> usize {
    if !bytes.starts_with(b"From ") && !bytes.starts_with(b">From ") {
        return 0;
    }
    memchr(b'\n', bytes).map_or(0, |end| end + 1)
}

/// The lines of the header block, those that continue another one left out.
fn headers(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let lines = bytes.split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    lines.take_while(|line| !line.is_empty()).filter(|line| !matches!(line[0], b' ' | b'\t'))
}

fn header_name(line: &[u8]) -> Option<&[u8]> {
    let name = line[..memchr(b':', line)?].trim_ascii_end();
    let printable = name.iter().all(|byte| byte.is_ascii_graphic());
    (printable && !name.is_empty()).then_some(name)
}

fn is_hostile(raw_message: &[u8]) -> bool {
    // Every boundary line may begin a part, also one without headers, and each costs the parser hundreds of bytes.
    if memchr::memmem::find_iter(raw_message, b"\n--").nth(MAX_BOUNDARIES).is_some() {
        return true;
    }
    let parts = count(raw_message, b"content-type");
    let visits = parts.saturating_mul(raw_message.len());
    let enclosing =
        || [&b"rfc822"[..], b"global", b"digest"].iter().map(|kind| count(raw_message, kind)).sum::<usize>();
    visits > MAX_VISITS || (parts > MAX_ENCLOSED && enclosing() > MAX_ENCLOSED)
}

/// Counts the occurrences of `word`, given in lower case, whatever their case.
fn count(bytes: &[u8], word: &[u8]) -> usize {
    // Header names and media types are rare enough for their first letter to lead to them.
    let at = |start: usize| {
        bytes.get(start..start + word.len()).is_some_and(|found| found.eq_ignore_ascii_case(word))
    };
    let upper = word[0].to_ascii_uppercase();
    memchr::memchr2_iter(word[0], upper, bytes).filter(|start| at(*start)).count()
}

/// Subject and body of `message` and of the messages inside of it, outermost first.
fn write_messages(message: &Message<'_>, raw_message: &[u8], base: usize, out: &mut Extracted) {
    let mut waiting = vec![(message, MessageSource { bytes: raw_message, origin: Origin::At(base) }, 0)];
    while let Some((message, source, depth)) = waiting.pop() {
        write_message(message, source, out);
        if depth == MAX_DEPTH {
            continue;
        }
        for part in message.attachments().collect::<Vec<_>>().into_iter().rev() {
            if let PartType::Message(enclosed) = &part.body {
                waiting.push((enclosed, source.of_enclosed(part, enclosed), depth + 1));
            }
        }
    }
}

/// The bytes that a message's offsets refer to, and where they came from.
#[derive(Clone, Copy)]
struct MessageSource<'a> {
    bytes: &'a [u8],
    origin: Origin,
}

impl<'a> MessageSource<'a> {
    /// A message sent as it is shares the bytes around it; one that was encoded brings its own.
    fn of_enclosed(&self, part: &MessagePart<'_>, enclosed: &'a Message<'_>) -> MessageSource<'a> {
        if part.encoding == Encoding::None {
            return *self;
        }
        let origin = self.origin_of(part.offset_body as usize, part.offset_end as usize, false);
        MessageSource { bytes: &enclosed.raw_message, origin }
    }

    fn origin_of(&self, start: usize, end: usize, exact: bool) -> Origin {
        match self.origin {
            Origin::At(base) if exact => Origin::At(base + start),
            Origin::At(base) => Origin::Decoded(base + start, end.saturating_sub(start)),
            decoded => decoded,
        }
    }
}

fn write_message(message: &Message<'_>, source: MessageSource<'_>, out: &mut Extracted) {
    if let (Some(subject), Some(root)) = (message.subject(), message.parts.first()) {
        let header = root.headers.iter().rev().find(|header| header.name == mail_parser::HeaderName::Subject);
        let (start, end) =
            header.map_or((0, 0), |header| (header.offset_start as usize, header.offset_end as usize));
        let mut writer = Writer::new(subject, source.origin_of(start, end, false), out);
        writer.heading = true;
        writer.text(0, subject.len(), ReadOptions::default());
        writer.finish();
    }
    write_body(message, source, out);
}

/// Writes the plain text, else the HTML, else whatever text the parser could not place.
fn write_body(message: &Message<'_>, source: MessageSource<'_>, out: &mut Extracted) {
    let mut buffer = String::new();
    let before = out.blocks.len();
    for part in message.text_bodies() {
        write_part(part, source, &mut buffer, out);
    }
    if out.blocks.len() > before {
        return;
    }
    for part in message.html_bodies() {
        write_part(part, source, &mut buffer, out);
    }
    if out.blocks.len() > before {
        return;
    }
    let is_attachment =
        |part: &&MessagePart<'_>| part.content_disposition().is_some_and(|kind| kind.is_attachment());
    for part in message.parts.iter().filter(|part| !is_attachment(part)) {
        write_part(part, source, &mut buffer, out);
    }
}

fn write_part(part: &MessagePart<'_>, source: MessageSource<'_>, buffer: &mut String, out: &mut Extracted) {
    if !matches!(part.body, PartType::Text(_) | PartType::Html(_)) {
        return;
    }
    // A part that the parser took for broken is no longer called HTML by it.
    let markup = matches!(part.body, PartType::Html(_)) || part.is_content_type("text", "html");
    let (start, end) = (part.offset_body as usize, part.offset_end as usize);
    let raw = source.bytes.get(start..end).unwrap_or_default();
    let bytes = transfer::decoded(raw, part.content_transfer_encoding().unwrap_or_default());
    let label = part.content_type().and_then(|kind| kind.attribute("charset"));
    let (text, _) = decode(&bytes, label, markup, buffer);
    let exact = text.as_bytes() == raw;
    let mut writer = Writer::new(text, source.origin_of(start, end, exact), out);
    if markup {
        write_html(&mut writer);
    } else {
        write_plain(&mut writer);
    }
    writer.finish();
}

/// Writes plain text with its lines; a blank line ends a block.
fn write_plain(writer: &mut Writer<'_>) {
    writer.separate(Gap::Block);
    writer.text(0, writer.source().len(), ReadOptions { lines: true, entities: false });
}

/// Writes a message that is not to be parsed: what stands behind its headers, or everything.
fn write_unparsed(raw_message: &[u8], base: usize, out: &mut Extracted) {
    let body = if looks_like_email(raw_message) { body_start(raw_message) } else { 0 };
    let mut buffer = String::new();
    let bytes = &raw_message[body..];
    let (text, _) = decode(bytes, None, false, &mut buffer);
    let exact = text.as_bytes() == bytes;
    let origin = if exact { Origin::At(base + body) } else { Origin::Decoded(base + body, bytes.len()) };
    let mut writer = Writer::new(text, origin, out);
    write_plain(&mut writer);
    writer.finish();
}

fn body_start(raw_message: &[u8]) -> usize {
    let unix = memmem::find(raw_message, b"\n\n").map(|at| at + 2);
    let wire = memmem::find(raw_message, b"\n\r\n").map(|at| at + 3);
    unix.into_iter().chain(wire).min().unwrap_or(raw_message.len())
}

#[cfg(test)]
mod tests {
    use lookalike_model::Span;
    use proptest::prelude::*;

    use super::*;

    fn read(message: &str) -> Extracted {
        let mut out = Extracted::default();
        email(message.as_bytes(), &mut out);
        out
    }

    #[test]
    fn subject_and_body_are_the_text() {
        let message = "From x@y Thu Aug 22 12:36:23 2002\nFrom: A <a@b.c>\nSubject: Re: the\n  plan\nTo: d@e.f\n\n\
            First line\nsecond line.\n\n\nNext <b>paragraph</b> &amp; so on\n";
        let out = read(message);
        assert_eq!(out.text, "Re: the plan\n\nFirst line\nsecond line.\n\nNext <b>paragraph</b> &amp; so on");
        assert!(out.blocks[0].heading && !out.blocks[1].heading);
        let at = out.text.find("second").unwrap();
        assert_eq!(out.spans.to_source(Span::new(at, at + 6)).of(message), "second");
    }

    #[test]
    fn encodings_and_charsets_are_undone() {
        let message = "Subject: =?koi8-r?B?8NLJ18XU?=\nFrom: a@b.c\nContent-Type: text/plain; charset=iso-8859-1\n\
            Content-Transfer-Encoding: quoted-printable\n\nGr=FC=DFe aus=\n K=F6ln\n";
        let out = read(message);
        assert_eq!(out.text, "Привет\n\nGrüße aus Köln");
        let body = out.spans.to_source(Span::new(out.text.len() - 4, out.text.len())).of(message);
        assert!(body.starts_with("Gr=FC"), "{body}");
        let base64 = "Subject: x\nFrom: a@b\nContent-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: base64\n\n\
            R3LDvMOf\nZQ==\n";
        assert_eq!(read(base64).text, "x\n\nGrüße");
    }

    #[test]
    fn bytes_without_a_charset_are_detected() {
        let mut out = Extracted::default();
        email(b"Subject: x\nFrom: a@b\n\nUn caf\xE9 pr\xE8s de la gare, voil\xE0.\n", &mut out);
        assert_eq!(out.text, "x\n\nUn café près de la gare, voilà.");
    }

    const MIXED: &str = "Subject: parts\nFrom: a@b\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=m\n\n--m\n\
        Content-Type: multipart/alternative; boundary=a\n\n--a\nContent-Type: text/plain\n\nplain words\n--a\n\
        Content-Type: text/html\n\n<p>marked words\n--a--\n--m\nContent-Type: application/pdf\n\
        Content-Disposition: attachment; filename=x.pdf\n\nJVBERi0=\n--m\nContent-Type: message/rfc822\n\n\
        Subject: inner\nFrom: c@d\n\ninner words\n--m--\n";

    #[test]
    fn plain_is_taken_before_html_and_attachments_are_not_taken() {
        assert_eq!(read(MIXED).text, "parts\n\nplain words\n\ninner\n\ninner words");
    }

    #[test]
    fn html_is_read_where_there_is_no_plain_part() {
        let message =
            "Subject: x\nFrom: a@b\nContent-Type: text/html\n\n<style>p{}</style><p>One<p>t&eacute;";
        assert_eq!(read(message).text, "x\n\nOne\n\nté");
    }

    #[test]
    fn a_body_that_the_parser_cannot_place_is_not_lost() {
        let head = "Subject: x\nFrom: a@b\nMIME-Version: 1.0\n";
        let cut = format!(
            "{head}Content-Type: multipart/mixed; boundary=m\n\n--m\nContent-Type: text/html\n\
            Content-Transfer-Encoding: base64\n\nPHA+T25lPHA+VHdv\n\n12ab34\n"
        );
        assert_eq!(read(&cut).text, "x\n\nOne\n\nTwo");
        let odd = format!("{head}Content-Type: TEXT/PLAIN charset=US-ASCII\n\nwords\n");
        assert_eq!(read(&odd).text, "x\n\nwords");
        let empty = format!(
            "{head}Content-Type: multipart/alternative; boundary=m\n\n--m\nContent-Type: text/plain\n\n\n\
            --m\nContent-Type: text/html\n\n<p>marked\n--m--\n"
        );
        assert_eq!(read(&empty).text, "x\n\nmarked");
    }

    #[test]
    fn a_text_without_headers_is_its_own_body() {
        assert_eq!(read("just text\n\nmore").text, "just text\n\nmore");
        assert_eq!(read("Note: this\n\nis no header").text, "Note: this\n\nis no header");
        assert_eq!(read("\n\nFrom: x").text, "From: x");
        assert_eq!(read("").text, "");
    }

    #[test]
    fn messages_are_told_from_other_texts() {
        assert!(looks_like_email(
            b"From x Thu\r\nReceived: by y\r\n\tfor z\r\nX-A: b\r\nDate: now\r\n\r\nbody"
        ));
        assert!(looks_like_email(b"subject: a\nTO: b"));
        for other in [
            "",
            "From me to you",
            "Subject: a\n\nTo: b",
            "Dear all,\nFrom: x\nTo: y",
            "to: a\nto: b\n\n",
            "\n",
        ] {
            assert!(!looks_like_email(other.as_bytes()), "{other}");
        }
    }

    #[test]
    fn hostile_nesting_is_survived() {
        let deep = "Content-Type: message/rfc822\n\n".repeat(100_000) + "end";
        read(&deep);
        let parts = "--b\nContent-Type: multipart/mixed; boundary=none\n\nx\n".repeat(100_000);
        read(&format!("Subject: x\nFrom: a@b\nContent-Type: multipart/mixed; boundary=b\n\n{parts}"));
        let shallow = "Content-Type: message/rfc822\n\n".repeat(MAX_ENCLOSED - 1) + "Subject: s\n\nend";
        read(&shallow);
    }

    /// Boundaries that nested messages share lead the parser to a part that it calls impossible.
    #[test]
    fn a_message_with_crossed_boundaries_is_read() {
        let pieces: [&[u8]; 6] = [
            b"From: Ann <a@O2c2Vu?= and =?iso-8859-1?q?caf=E9?=\r\nMessage-ID: <1@example.org>\r\nCont",
            b"ent-Type: multipart/mixed; boundary=a\r\n\r\n--a\r\nContent-Type: message/rfc822\r\n\r\n",
            b"Subject: inner\rr\n--a\r\nContent-Type: message/rfc822\r\n\r\nSubject: inner\rrg>\r\nTo:",
            b"\x85b@example.org\r\nSubject: =?utf-8?B?UsO2c2Vu?= and From: Ann <a@example.org>\r\nTo: ",
            b"b@example.org\r\nSubjeed; boundary=a\r\xfa\r\n--a\r\nContentNType: message/rfc822\r\n\r\n",
            b"Subjec=?iso-8859-1?q?ca\r\n--a--\r\n",
        ];
        let mut out = Extracted::default();
        email(&pieces.concat(), &mut out);
        assert!(out.text.contains("inner"));
    }

    #[test]
    fn a_million_empty_parts_are_taken_as_text() {
        let parts = "--x\n\n".repeat(1_000_000);
        let message = format!("Subject: x\nContent-Type: multipart/mixed; boundary=x\n\n{parts}last words");
        let mut out = Extracted::default();
        email(message.as_bytes(), &mut out);
        assert!(is_hostile(message.as_bytes()));
        assert!(out.text.ends_with("last words"));
    }

    proptest! {
        #[test]
        fn any_bytes_can_be_read(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            email(&bytes, &mut Extracted::default());
            looks_like_email(&bytes);
        }

        #[test]
        fn any_mangled_message_can_be_read(cut in 0..MIXED.len(), insert in any::<Vec<u8>>(), at in 0..MIXED.len()) {
            let mut bytes = MIXED.as_bytes()[..cut].to_vec();
            let at = at.min(bytes.len());
            bytes.splice(at..at, insert);
            email(&bytes, &mut Extracted::default());
        }
    }
}
