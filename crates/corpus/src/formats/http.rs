//! HTTP responses as crawlers stored them: a tolerant header parser and the decoders of bodies.

use std::io::Read;

use lookalike_model::{Media, Reason};

/// Reasons why a response is no document, as the table of skipped records names them.
pub(super) const NO_TEXT: &str = "no text";
const HTTP_STATUS: &str = "http status";

/// The content of a block.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Payload<'a> {
    /// Something with text in it.
    Document {
        media: Media,
        bytes: &'a [u8],
        /// The encoding that the header names.
        charset: Option<&'a str>,
    },
    /// No document, of this kind.
    Skipped(&'static str),
    Rejected(Reason),
}

/// Reads blocks; its buffers are used again for every one.
#[derive(Default)]
pub(super) struct BlockReader {
    dechunked: Vec<u8>,
    decoded: Vec<u8>,
    /// The other buffer of a body that was encoded twice.
    encoded: Vec<u8>,
}

impl BlockReader {
    /// Reads a block that holds an HTTP response, or only its body, of type `outer`, when it has no status
    /// line. Bodies longer than `limit` are rejected.
    pub(super) fn response<'a>(&'a mut self, block: &'a [u8], outer: &'a [u8], limit: usize) -> Payload<'a> {
        let Some(response) = Response::parse(block) else {
            return plain(block, outer);
        };
        if !response.is_success() {
            return Payload::Skipped(HTTP_STATUS);
        }
        // Pictures need no decoding to be passed over.
        if Kind::of(response.content_type) == Kind::Other {
            return Payload::Skipped(NO_TEXT);
        }
        match self.body(&response, limit) {
            Ok(body) => plain(body, response.content_type),
            Err(reason) => Payload::Rejected(reason),
        }
    }

    /// The body without its transfer and content encodings.
    fn body<'a>(&'a mut self, response: &Response<'a>, limit: usize) -> Result<&'a [u8], Reason> {
        let mut body = response.body;
        if response.chunked && dechunk(body, &mut self.dechunked) {
            body = &self.dechunked;
        }
        let mut encodings = response.encodings();
        let Some(outermost) = encodings.next().and_then(|name| Encoding::of(name, body)) else {
            return Ok(body);
        };
        outermost.decode(body, &mut self.decoded, limit)?;
        for name in encodings {
            let Some(encoding) = Encoding::of(name, &self.decoded) else { break };
            std::mem::swap(&mut self.decoded, &mut self.encoded);
            encoding.decode(&self.encoded, &mut self.decoded, limit)?;
        }
        Ok(&self.decoded)
    }
}

/// A body of type `content_type`.
pub(super) fn plain<'a>(body: &'a [u8], content_type: &'a [u8]) -> Payload<'a> {
    match media(content_type, body) {
        Some(media) => Payload::Document { media, bytes: body, charset: charset(content_type) },
        None => Payload::Skipped(NO_TEXT),
    }
}

/// The parts of a response that matter here.
#[derive(Debug, Default)]
struct Response<'a> {
    status: Option<u16>,
    content_type: &'a [u8],
    content_encoding: &'a [u8],
    chunked: bool,
    body: &'a [u8],
}

impl<'a> Response<'a> {
    /// Parses a block; `None` when it does not begin with a status line. Header lines that are none are passed
    /// over, since servers send all sorts of things.
    fn parse(block: &'a [u8]) -> Option<Self> {
        if !block.get(..5)?.eq_ignore_ascii_case(b"HTTP/") {
            return None;
        }
        let mut response = Response::default();
        let (status_line, mut rest) = line(block);
        response.status = status(status_line);
        while !rest.is_empty() {
            let (header, behind) = line(rest);
            rest = behind;
            if header.is_empty() {
                break;
            }
            response.take(header);
        }
        // One more line end than there should be: a crawl of 2018 has it before every body.
        response.body = rest.strip_prefix(b"\r\n").or(rest.strip_prefix(b"\n")).unwrap_or(rest);
        Some(response)
    }

    fn take(&mut self, header: &'a [u8]) {
        let Some(colon) = memchr::memchr(b':', header) else { return };
        let (name, value) = (header[..colon].trim_ascii(), header[colon + 1..].trim_ascii());
        if name.eq_ignore_ascii_case(b"Content-Type") {
            self.content_type = value;
        } else if name.eq_ignore_ascii_case(b"Content-Encoding") {
            self.content_encoding = value;
        } else if name.eq_ignore_ascii_case(b"Transfer-Encoding") {
            self.chunked = value.windows(7).any(|word| word.eq_ignore_ascii_case(b"chunked"));
        }
    }

    /// A status line without a status is taken for a success: some old servers sent just that.
    fn is_success(&self) -> bool {
        self.status.is_none_or(|status| (200..300).contains(&status))
    }

    /// The content encodings, the one applied last first. More than a few are an attack.
    fn encodings(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        self.content_encoding.rsplit(|&byte| byte == b',').map(<[u8]>::trim_ascii).take(3)
    }
}

/// The first line of `bytes` without its end, and what stands behind it.
fn line(bytes: &[u8]) -> (&[u8], &[u8]) {
    let (line, rest) = match memchr::memchr(b'\n', bytes) {
        Some(end) => (&bytes[..end], &bytes[end + 1..]),
        None => (bytes, &bytes[bytes.len()..]),
    };
    (line.strip_suffix(b"\r").unwrap_or(line), rest)
}

/// The number in `HTTP/1.1 200 OK`.
fn status(line: &[u8]) -> Option<u16> {
    let code = line.split(u8::is_ascii_whitespace).skip(1).find(|word| !word.is_empty())?;
    std::str::from_utf8(code).ok()?.parse().ok()
}

/// The class of a media type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Html,
    PlainText,
    /// Nothing certain: the bytes must be looked at.
    Unknown,
    /// Certainly no text.
    Other,
}

impl Kind {
    fn of(content_type: &[u8]) -> Self {
        let essence = content_type.split(|&byte| matches!(byte, b';' | b',')).next().unwrap_or_default();
        let essence = essence.trim_ascii();
        let is = |name: &&str| essence.eq_ignore_ascii_case(name.as_bytes());
        let begins = |name: &&str| {
            essence.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name.as_bytes()))
        };
        if ["text/html", "application/xhtml+xml"].iter().any(is) {
            return Kind::Html;
        }
        if is(&"text/plain") {
            return Kind::PlainText;
        }
        // SVG is XML, but a drawing all the same.
        if NO_TEXT_TREES.iter().any(begins) || NO_TEXT_TYPES.iter().any(is) {
            return Kind::Other;
        }
        Kind::Unknown
    }
}

const NO_TEXT_TREES: [&str; 9] = [
    "image/",
    "audio/",
    "video/",
    "font/",
    "model/",
    "application/vnd.ms-",
    "application/vnd.oasis.",
    "application/vnd.openxmlformats-",
    "application/font",
];

const NO_TEXT_TYPES: [&str; 20] = [
    "application/pdf",
    "application/x-pdf",
    "application/postscript",
    "application/msword",
    "application/epub+zip",
    "application/zip",
    "application/x-zip-compressed",
    "application/gzip",
    "application/x-gzip",
    "application/x-bzip2",
    "application/x-xz",
    "application/x-tar",
    "application/x-7z-compressed",
    "application/x-rar-compressed",
    "application/java-archive",
    "application/x-shockwave-flash",
    "application/ogg",
    "application/wasm",
    "application/warc-fields",
    "text/dns",
];

/// Returns the kind of text in a body, HTML or plain; `None` when there is none in it.
fn media(content_type: &[u8], body: &[u8]) -> Option<Media> {
    match Kind::of(content_type) {
        Kind::Html => Some(Media::Html),
        Kind::PlainText => Some(Media::Text),
        Kind::Other => None,
        Kind::Unknown if looks_like_markup(body) => Some(Media::Html),
        Kind::Unknown if looks_binary(body) => None,
        Kind::Unknown => Some(Media::Text),
    }
}

fn looks_like_markup(body: &[u8]) -> bool {
    let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body).trim_ascii_start();
    matches!(body, [b'<', b'!' | b'?' | b'/' | b'a'..=b'z' | b'A'..=b'Z', ..])
}

fn looks_binary(body: &[u8]) -> bool {
    let start = &body[..body.len().min(1 << 10)];
    memchr::memchr(0, start).is_some() || start.starts_with(b"%PDF-")
}

/// The `charset` of a media type.
fn charset(content_type: &[u8]) -> Option<&str> {
    let parameters = content_type.split(|&byte| byte == b';').skip(1);
    for parameter in parameters {
        let mut sides = parameter.splitn(2, |&byte| byte == b'=');
        let (Some(name), Some(value)) = (sides.next(), sides.next()) else { continue };
        if name.trim_ascii().eq_ignore_ascii_case(b"charset") {
            let value = std::str::from_utf8(value).ok()?;
            let value = value.trim_matches(|c: char| c.is_ascii_whitespace() || matches!(c, '"' | '\''));
            return (!value.is_empty()).then_some(value);
        }
    }
    None
}

/// Takes the chunks of `body` apart; false when it does not look chunked, as many crawlers store bodies
/// without their transfer encoding but with the header that names it. A body that ends early is kept.
fn dechunk(body: &[u8], out: &mut Vec<u8>) -> bool {
    out.clear();
    let mut rest = body;
    let mut first = true;
    loop {
        let Some((size, behind)) = chunk_size(rest) else { return !first && rest.is_empty() };
        if size == 0 {
            return true;
        }
        let Some((chunk, behind)) = behind.split_at_checked(size) else {
            // A first word of hexadecimal letters is no proof; with its line end it nearly is.
            let announced = &rest[..rest.len() - behind.len()];
            out.extend_from_slice(behind);
            return !first || announced.ends_with(b"\r\n");
        };
        out.extend_from_slice(chunk);
        rest = match behind.strip_prefix(b"\r\n").or(behind.strip_prefix(b"\n")) {
            Some(rest) => rest,
            None if behind.is_empty() || behind == b"\r" => return true,
            None => return false,
        };
        first = false;
    }
}

/// The size that stands before a chunk, and what stands behind its line.
fn chunk_size(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let end = memchr::memchr(b'\n', &bytes[..bytes.len().min(1 << 10)])?;
    let number = bytes[..end].split(|&byte| byte == b';').next()?.trim_ascii();
    let number = std::str::from_utf8(number).ok()?;
    if number.starts_with('+') {
        return None;
    }
    Some((usize::from_str_radix(number, 16).ok()?, &bytes[end + 1..]))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Encoding {
    Gzip,
    Zlib,
    Deflate,
    Brotli,
    Zstd,
}

impl Encoding {
    /// The encoding called `name`, if `body` really is in it: headers often outlive what they describe.
    fn of(name: &[u8], body: &[u8]) -> Option<Self> {
        let is = |known: &str| name.eq_ignore_ascii_case(known.as_bytes());
        if is("gzip") || is("x-gzip") {
            return body.starts_with(&[0x1f, 0x8b]).then_some(Encoding::Gzip);
        }
        if is("zstd") {
            return body.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]).then_some(Encoding::Zstd);
        }
        if is("deflate") {
            // The standard means zlib, some servers send what the name says.
            let zlib = matches!(body, [first, second, ..]
                if first & 0x0f == 8 && u16::from_be_bytes([*first, *second]).is_multiple_of(31));
            let raw = (!looks_readable(body)).then_some(Encoding::Deflate);
            return if zlib { Some(Encoding::Zlib) } else { raw };
        }
        (is("br") && !looks_readable(body)).then_some(Encoding::Brotli)
    }

    fn name(self) -> &'static str {
        match self {
            Encoding::Gzip => "gzip",
            Encoding::Zlib | Encoding::Deflate => "deflate",
            Encoding::Brotli => "brotli",
            Encoding::Zstd => "zstd",
        }
    }

    /// Decodes `body` into `out`, of which at most `limit` bytes are ever made.
    fn decode(self, body: &[u8], out: &mut Vec<u8>, limit: usize) -> Result<(), Reason> {
        out.clear();
        let result = match self {
            Encoding::Gzip => gunzip(body, out, limit),
            Encoding::Zlib => fill(flate2::bufread::ZlibDecoder::new(body), out, limit),
            Encoding::Deflate => fill(flate2::bufread::DeflateDecoder::new(body), out, limit),
            Encoding::Brotli => fill(brotli_decompressor::Decompressor::new(body, 4 << 10), out, limit),
            Encoding::Zstd => unzstd(body, out, limit),
        };
        result.map_err(|error| {
            Reason::Broken(format!("the {} body cannot be decoded: {error}", self.name()))
        })?;
        if out.len() > limit {
            return Err(Reason::TooLong { limit: limit as u64 });
        }
        Ok(())
    }
}

/// No encoder's output is readable, so this body is not encoded (any more).
fn looks_readable(body: &[u8]) -> bool {
    let start = &body[..body.len().min(256)];
    let control = start.iter().any(|byte| byte.is_ascii_control() && !byte.is_ascii_whitespace());
    let ascii = start.iter().filter(|byte| byte.is_ascii()).count();
    !control && (ascii * 4 >= start.len() * 3 || std::str::from_utf8(start).is_ok())
}

/// Appends what `decoder` gives, up to one byte more than the limit.
fn fill(decoder: impl Read, out: &mut Vec<u8>, limit: usize) -> std::io::Result<()> {
    let room = (limit as u64 + 1).saturating_sub(out.len() as u64);
    decoder.take(room).read_to_end(out).map(|_| ())
}

/// Decodes all gzip members; whatever stands behind the last one is passed over, as browsers do.
fn gunzip(body: &[u8], out: &mut Vec<u8>, limit: usize) -> std::io::Result<()> {
    let mut rest = body;
    while rest.starts_with(&[0x1f, 0x8b]) && out.len() <= limit {
        let mut member = flate2::bufread::GzDecoder::new(rest);
        fill(&mut member, out, limit)?;
        rest = member.into_inner();
    }
    Ok(())
}

fn unzstd(body: &[u8], out: &mut Vec<u8>, limit: usize) -> std::io::Result<()> {
    let mut decoder = zstd::stream::read::Decoder::with_buffer(body)?;
    // What RFC 8878 lets a browser refuse, a crawl need not hold either.
    decoder.window_log_max(23)?;
    fill(decoder, out, limit)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn read(block: &[u8]) -> (Media, Vec<u8>, Option<String>) {
        match BlockReader::default().response(block, b"", 1 << 20) {
            Payload::Document { media, bytes, charset } => {
                (media, bytes.to_vec(), charset.map(str::to_owned))
            }
            other => panic!("not a document: {other:?}"),
        }
    }

    fn skipped(block: &[u8]) -> &'static str {
        match BlockReader::default().response(block, b"", 1 << 20) {
            Payload::Skipped(kind) => kind,
            other => panic!("not skipped: {other:?}"),
        }
    }

    fn encoded(name: &str, body: &[u8]) -> Vec<u8> {
        let mut block =
            format!("HTTP/1.1 200 OK\r\nContent-Encoding: {name}\r\nContent-Type: text/html\r\n\r\n")
                .into_bytes();
        block.extend_from_slice(body);
        block
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn header_ends_may_be_lf_or_crlf() {
        let crlf = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=\"latin1\"\r\n\r\n<p>";
        let lf: Vec<u8> = crlf.iter().copied().filter(|&byte| byte != b'\r').collect();
        let expected = (Media::Html, b"<p>".to_vec(), Some("latin1".to_owned()));
        assert_eq!(read(crlf), expected);
        assert_eq!(read(&lf), expected);
    }

    #[test]
    fn odd_header_lines_are_passed_over() {
        let block = b"HTTP/1.0 200\r\n: nothing\r\n(bad) na\xffme: x\r\nno colon\r\ncontent-TYPE : Text/Plain\r\n\r\na";
        assert_eq!(read(block), (Media::Text, b"a".to_vec(), None));
    }

    #[test]
    fn an_extra_line_end_before_the_body_is_no_part_of_it() {
        assert_eq!(read(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n\r\nbody").1, b"body");
    }

    #[test]
    fn without_a_status_line_the_block_is_the_body() {
        assert_eq!(read(b"<html>hello").0, Media::Html);
        assert_eq!(read(b"hello").1, b"hello");
        assert_eq!(read(b"").1, b"");
    }

    #[test]
    fn redirects_and_errors_are_skipped() {
        assert_eq!(skipped(b"HTTP/1.1 301 Moved\r\n\r\n<p>"), HTTP_STATUS);
        assert_eq!(skipped(b"HTTP/1.1 404\n\n"), HTTP_STATUS);
    }

    #[test]
    fn types_decide_and_bytes_decide_when_types_do_not() {
        let of = |kind: &[u8], body: &[u8]| media(kind, body);
        assert_eq!(of(b"application/xhtml+xml", b"x"), Some(Media::Html));
        assert_eq!(of(b"text/plain", b"<html>"), Some(Media::Text));
        assert_eq!(of(b"application/octet-stream", b"\xef\xbb\xbf \n<!doctype html>"), Some(Media::Html));
        assert_eq!(of(b"", b"plain words"), Some(Media::Text));
        assert_eq!(of(b"", b"\x7fELF\0"), None);
        assert_eq!(of(b"application/octet-stream", b"%PDF-1.4 text"), None);
        assert_eq!(of(b"application/json", b"{}"), Some(Media::Text));
        assert_eq!(of(b"application/xml", b"<feed/>"), Some(Media::Html));
        assert_eq!(of(b"IMAGE/png", b"<html>"), None);
        assert_eq!(of(b"application/pdf; x=y", b"text"), None);
    }

    #[test]
    fn chunks_are_joined() {
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\nContent-Type: text/plain\r\n\r\n";
        let of = |body: &str| read(format!("{head}{body}").as_bytes()).1;
        assert_eq!(of("5\r\nhello\r\n6;x=y\r\n world\r\n0\r\n\r\n"), b"hello world");
        assert_eq!(of("5\nhello\n0\n\n"), b"hello");
        assert_eq!(of("5\r\nhello\r\nff\r\ncut"), b"hellocut");
        assert_eq!(of("5\r\nhello"), b"hello");
        assert_eq!(of("ff\r\ncut"), b"cut");
        for as_it_is in ["hello", "add\nmore", "2\r\nhello", "ffffffffffffffffff\r\nx", "+5\r\nhello", ""] {
            assert_eq!(of(as_it_is), as_it_is.as_bytes());
        }
    }

    #[test]
    fn encoded_bodies_are_decoded() {
        let text = b"<p>some text, some text, some text</p>";
        let zlib = |raw: bool| {
            let mut out = Vec::with_capacity(1 << 10);
            let mut state = flate2::Compress::new(flate2::Compression::fast(), !raw);
            state.compress_vec(text, &mut out, flate2::FlushCompress::Finish).unwrap();
            out
        };
        assert_eq!(read(&encoded("gzip", &gzip(text))).1, text);
        assert_eq!(read(&encoded("X-GZIP", &gzip(text))).1, text);
        assert_eq!(read(&encoded("deflate", &zlib(false))).1, text);
        assert_eq!(read(&encoded("deflate", &zlib(true))).1, text);
        assert_eq!(read(&encoded("zstd", &zstd::encode_all(&text[..], 1).unwrap())).1, text);
        assert_eq!(read(&encoded("br", b"\x0b\x02\x80hello\x03")).1, b"hello");
        assert_eq!(read(&encoded("zstd, gzip", &gzip(&zstd::encode_all(&text[..], 1).unwrap()))).1, text);
    }

    #[test]
    fn several_gzip_members_and_a_tail_are_one_body() {
        let body = [gzip(b"one "), gzip(b"two"), b"tail".to_vec()].concat();
        assert_eq!(read(&encoded("gzip", &body)).1, b"one two");
    }

    #[test]
    fn bodies_that_were_decoded_already_are_taken_as_they_are() {
        for name in ["gzip", "deflate", "br", "zstd", "identity", "utf-8", ""] {
            assert_eq!(read(&encoded(name, b"<p>plain</p>")).1, b"<p>plain</p>");
        }
    }

    #[test]
    fn a_damaged_encoding_is_rejected() {
        let whole = gzip(&[b'a'; 5000]);
        let block = encoded("gzip", &whole[..whole.len() / 2]);
        let mut blocks = BlockReader::default();
        assert!(matches!(blocks.response(&block, b"", 1 << 20), Payload::Rejected(Reason::Broken(_))));
        assert!(matches!(
            blocks.response(&encoded("br", &[0xff; 9]), b"", 1 << 20),
            Payload::Rejected(Reason::Broken(_))
        ));
    }

    #[test]
    fn a_bomb_is_too_long() {
        let bomb = gzip(&vec![0; 4 << 20]);
        let mut blocks = BlockReader::default();
        let block = encoded("gzip, gzip", &gzip(&bomb));
        let limit = 1 << 20;
        assert_eq!(
            blocks.response(&block, b"", limit),
            Payload::Rejected(Reason::TooLong { limit: limit as u64 })
        );
        assert!(blocks.decoded.capacity() <= 4 * limit);
    }

    #[test]
    fn charsets_are_found_among_parameters() {
        assert_eq!(charset(b"text/html; x=y; Charset = 'UTF-8' "), Some("UTF-8"));
        assert_eq!(charset(b"text/html; charset="), None);
        assert_eq!(charset(b"text/html; charset=\xff"), None);
        assert_eq!(charset(b"text/html"), None);
    }

    proptest::proptest! {
        #[test]
        fn no_body_makes_it_panic_or_grow(
            encoding in proptest::sample::select(vec!["gzip", "deflate", "br", "zstd", "br, gzip", "deflate, deflate"]),
            chunked in proptest::bool::ANY,
            magic in proptest::sample::select(vec![&b""[..], &[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3], &[0x78, 0x9c], &[0x28, 0xb5, 0x2f, 0xfd]]),
            body in proptest::collection::vec(proptest::num::u8::ANY, 0..300),
            limit in 0usize..500,
        ) {
            let chunked = if chunked { "Transfer-Encoding: chunked\r\n\r\n64\r\n" } else { "\r\n" };
            let head = format!("HTTP/1.1 200 OK\r\nContent-Encoding: {encoding}\r\n{chunked}");
            let block = [head.as_bytes(), magic, &body].concat();
            if let Payload::Document { bytes, .. } = BlockReader::default().response(&block, b"", limit) {
                proptest::prop_assert!(bytes.len() <= limit.max(block.len()));
            }
        }
    }
}
