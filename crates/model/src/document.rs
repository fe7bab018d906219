//! Documents as a corpus yields them, borrowed from its readers.

/// The position of a record inside its shard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct RecordPosition {
    /// Number of the record in its shard, from 0; rejected records count, skipped ones do not.
    pub record: u64,
    /// Offset of the record's first byte in the uncompressed shard, or its row in a columnar file.
    pub position: u64,
}

/// The media type of a document, which decides how its text is extracted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Media {
    /// Plain text, taken as it is.
    Text,
    /// An HTML or XHTML page.
    Html,
    /// Marked-up text whose tags are no HTML (the TREC text collections): every tag separates.
    Sgml,
    /// An e-mail message with its headers.
    Email,
    /// The source text of a MediaWiki page.
    Wikitext,
}

/// The characters of a document, decoded or not yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content<'a> {
    /// Known to be Unicode: nothing is left to guess.
    Unicode(&'a str),
    /// Bytes in some encoding.
    Encoded {
        /// The bytes as they came.
        bytes: &'a [u8],
        /// The encoding that the transport named, such as the `charset` of an HTTP header.
        charset: Option<&'a str>,
    },
}

impl<'a> Content<'a> {
    /// The bytes, whatever their encoding.
    pub fn bytes(&self) -> &'a [u8] {
        match *self {
            Content::Unicode(text) => text.as_bytes(),
            Content::Encoded { bytes, .. } => bytes,
        }
    }

    /// Number of bytes.
    pub fn len(&self) -> usize {
        self.bytes().len()
    }

    /// True when there is not one byte.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Values of further fields that a reader was asked for by name, in the order they were asked for.
///
/// A reader holds all of them in one text and gives the span of each, so that no document costs an allocation.
#[derive(Debug, Clone, Copy, Default)]
pub struct Extras<'a> {
    text: &'a str,
    spans: &'a [Option<(usize, usize)>],
}

impl<'a> Extras<'a> {
    /// Values that stand in `text`, each from its first byte to behind its last.
    pub fn new(text: &'a str, spans: &'a [Option<(usize, usize)>]) -> Self {
        Extras { text, spans }
    }

    /// The value of the field that was asked for as number `index`, from 0, if the document has one.
    pub fn get(&self, index: usize) -> Option<&'a str> {
        let (begin, end) = (*self.spans.get(index)?)?;
        self.text.get(begin..end)
    }
}

/// One document, borrowed from the reader that found it.
#[derive(Debug, Clone, Copy)]
pub struct Document<'a> {
    /// The name its corpus gives it; two documents may bear the same one.
    pub id: &'a str,
    /// Its address, where known.
    pub url: Option<&'a str>,
    /// Its media type.
    pub media: Media,
    /// Its bytes.
    pub content: Content<'a>,
    /// Its position inside its shard.
    pub place: RecordPosition,
    /// The whole record as it stood in the shard, for formats whose records can be copied byte for byte.
    pub raw: Option<&'a [u8]>,
    /// The values of the further fields that were asked for; none where nothing was.
    pub extras: Extras<'a>,
}

impl<'a> Document<'a> {
    /// A document of this text that stands in no shard, such as one that came over a network.
    pub fn from_text(id: &'a str, url: Option<&'a str>, media: Media, text: &'a str) -> Self {
        let content = Content::Unicode(text);
        Document {
            id,
            url,
            media,
            content,
            place: RecordPosition::default(),
            raw: None,
            extras: Extras::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extras_are_found_by_the_order_they_were_asked_for() {
        let spans = [Some((0, 3)), None, Some((3, 3)), Some((3, 99))];
        let extras = Extras::new("one", &spans);
        let all: Vec<_> = (0..5).map(|index| extras.get(index)).collect();
        assert_eq!(all, [Some("one"), None, Some(""), None, None]);
        assert_eq!(Extras::default().get(0), None);
    }
}
