//! From bytes to plain text: charset, HTML, e-mail and wiki markup.
//!
//! Every extractor writes into an [`Extracted`], whose memory is used again for the next document.
//!
//! ```
//! use lookalike_model::{Content, Document, Extras, Media, RecordPosition};
//! use lookalike_text::extract::{ContentMode, Extractor};
//!
//! let mut extractor = Extractor::default();
//! let page = Document {
//!     id: "page-1",
//!     url: None,
//!     media: Media::Html,
//!     content: Content::Encoded { bytes: b"<p>na\xEFve", charset: Some("latin1") },
//!     place: RecordPosition::default(),
//!     raw: None,
//!     extras: Extras::default(),
//! };
//! assert_eq!(extractor.extract(&page, ContentMode::Page).text, "naïve");
//! ```
//!
//! - [`charset`]: from bytes in some encoding to Unicode
//! - [`html`]: HTML and other marked-up text
//! - [`content`]: reduces a page to its main content
//! - [`email`]: subject and body of a message
//! - [`wikitext`]: the source text of MediaWiki pages

pub mod charset;
pub mod content;
pub mod email;
mod entity;
pub mod html;
mod tag;
mod transfer;
pub mod wikitext;
mod writer;

use lookalike_model::{Content, Document, Media, SpanMap};

use self::charset::Charset;
use self::content::{MainContent, Outcome};

/// Plain text made from a document's source, with its blocks and the way back.
#[derive(Debug, Default)]
pub struct Extracted {
    /// The text. Blocks are separated by a blank line (`"\n\n"`), forced line breaks (`<br>`) are `"\n"`.
    pub text: String,
    /// Leads from `text` back to the decoded source.
    pub spans: SpanMap,
    /// The blocks of `text` in order, without the separators between them.
    pub blocks: Vec<Block>,
}

/// A run of text between two block-level tags.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Block {
    /// First byte in the text.
    pub start: u32,
    /// One past its last byte.
    pub end: u32,
    /// The number of its bytes that are inside links.
    pub linked: u32,
    /// True for headings (`h1` to `h6`) and the page's title.
    pub heading: bool,
}

impl Extracted {
    /// Forgets everything but keeps the memory.
    pub fn clear(&mut self) {
        self.text.clear();
        self.spans.clear();
        self.blocks.clear();
    }
}

/// The part of a document that is taken as its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ContentMode {
    /// The whole page.
    #[default]
    Page,
    /// The main content of marked-up pages; plain text and messages are taken whole.
    Main,
    /// The whole page, with plain text read as e-mail messages.
    Email,
    /// The whole page, with plain text read as e-mail messages where it begins like one.
    PageOrEmail,
}

/// The text of one document, borrowed from the document where it could be taken as it is.
#[derive(Debug, Clone, Copy)]
pub struct Text<'a> {
    /// The text.
    pub text: &'a str,
    /// The source that the spans lead back to: the decoded document, or the bytes of a message.
    pub source: &'a [u8],
    /// Leads from `text` back to `source`.
    pub spans: &'a SpanMap,
    /// The blocks of `text` in order; none for plain text, which says where they are by blank lines.
    pub blocks: &'a [Block],
    /// The encoding of the document; of a message, whose parts may differ, that of its envelope.
    pub charset: Charset,
    /// The outcome of the search for main content, if there was one.
    pub main: Option<Outcome>,
}

/// Makes texts from documents; holds the memory for the next one.
#[derive(Debug, Default)]
pub struct Extractor {
    decoded: String,
    extracted: Extracted,
    main: MainContent,
}

impl Extractor {
    /// The text of `document`. Never fails; plain Unicode text is borrowed and not copied.
    pub fn extract<'a>(&'a mut self, document: &Document<'a>, mode: ContentMode) -> Text<'a> {
        self.extracted.clear();
        let message = match document.media {
            Media::Email => true,
            Media::Text if mode == ContentMode::PageOrEmail => {
                email::looks_like_email(document.content.bytes())
            }
            Media::Text => mode == ContentMode::Email,
            _ => false,
        };
        if message {
            return self.message(document);
        }
        let (source, charset) = decoded(document, &mut self.decoded);
        let out = &mut self.extracted;
        match document.media {
            Media::Text | Media::Email => {
                let Extracted { spans, blocks, .. } = out;
                return Text { text: source, source: source.as_bytes(), spans, blocks, charset, main: None };
            }
            Media::Html => html::html(source, out),
            Media::Sgml => html::sgml(source, out),
            Media::Wikitext => wikitext::wikitext(source, out),
        }
        let main = (mode == ContentMode::Main).then(|| self.main.reduce(out));
        let Extracted { text, spans, blocks } = out;
        Text { text, source: source.as_bytes(), spans, blocks, charset, main }
    }

    fn message<'a>(&'a mut self, document: &Document<'a>) -> Text<'a> {
        let source = document.content.bytes();
        email::email(source, &mut self.extracted);
        let Extracted { text, spans, blocks } = &self.extracted;
        Text { text, source, spans, blocks, charset: Charset::UNICODE, main: None }
    }
}

fn decoded<'a>(document: &Document<'a>, buffer: &'a mut String) -> (&'a str, Charset) {
    match document.content {
        Content::Unicode(text) => (text, Charset::UNICODE),
        Content::Encoded { bytes, charset } => {
            let markup = matches!(document.media, Media::Html | Media::Sgml);
            charset::decode(bytes, charset, markup, buffer)
        }
    }
}

#[cfg(test)]
mod real_tests;

#[cfg(test)]
mod tests {
    use lookalike_model::{Extras, RecordPosition, Span};

    use super::*;

    fn document<'a>(media: Media, content: Content<'a>) -> Document<'a> {
        let (place, extras) = (RecordPosition::default(), Extras::default());
        Document { id: "", url: None, media, content, place, raw: None, extras }
    }

    #[test]
    fn plain_unicode_text_is_borrowed() {
        let source = " One\n two \n \t\nthree\n";
        let mut extractor = Extractor::default();
        let text = extractor.extract(&document(Media::Text, Content::Unicode(source)), ContentMode::Main);
        assert_eq!((text.text, text.text.as_ptr()), (source, source.as_ptr()));
        assert_eq!(text.spans.to_source(Span::new(5, 9)), Span::new(5, 9));
    }

    #[test]
    fn every_media_has_its_reader() {
        let source = "Subject: a\nTo: b\n\n'''c''' <p>d</p> &amp; e";
        let mut extractor = Extractor::default();
        let mut read =
            |media, mode| extractor.extract(&document(media, Content::Unicode(source)), mode).text.to_owned();
        assert_eq!(read(Media::Text, ContentMode::Page), source);
        assert_eq!(read(Media::Text, ContentMode::Email), "a\n\n'''c''' <p>d</p> &amp; e");
        assert_eq!(read(Media::Email, ContentMode::Page), "a\n\n'''c''' <p>d</p> &amp; e");
        assert_eq!(read(Media::Html, ContentMode::Page), "Subject: a To: b '''c'''\n\nd\n\n& e");
        assert_eq!(read(Media::Sgml, ContentMode::Email), "Subject: a To: b '''c'''\n\nd\n\n& e");
        assert_eq!(read(Media::Wikitext, ContentMode::Page), "Subject: a To: b\n\nc\n\nd\n\n& e");
    }

    #[test]
    fn the_extractor_forgets_the_last_document() {
        let mut extractor = Extractor::default();
        extractor.extract(&document(Media::Html, Content::Unicode("<p>&amp;a<p>b")), ContentMode::Main);
        let text = extractor.extract(&document(Media::Text, Content::Unicode("cd")), ContentMode::Page);
        assert_eq!((text.text, text.blocks.len()), ("cd", 0));
        assert_eq!(text.spans.to_source(Span::new(1, 2)), Span::new(1, 2));
    }

    #[test]
    fn encoded_documents_are_decoded() {
        let content = Content::Encoded { bytes: b"<meta charset=koi8-r><p>\xF0\xD2\xC9", charset: None };
        let mut extractor = Extractor::default();
        let text = extractor.extract(&document(Media::Html, content), ContentMode::Page);
        assert_eq!((text.text, text.charset.name), ("При", "KOI8-R"));
        assert!(text.source.ends_with("При".as_bytes()));
    }
}
