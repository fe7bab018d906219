//! From bytes to plain text: charset, HTML, e-mail and wiki markup.
//!
//! Every extractor writes into an [`Extracted`], whose memory is used again for the next document.

pub mod charset;
mod entity;
pub mod html;
mod tag;
mod writer;

use lookalike_model::SpanMap;

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
    /// How many of its bytes stand inside links.
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
