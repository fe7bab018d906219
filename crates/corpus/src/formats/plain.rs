//! Plain files, pages and single messages: the whole shard is one document, named by its path.

use lookalike_model::{Content, Document, Extras, Media, Reason};

use crate::input::Stream;
use crate::reader::Records;
use crate::record::RecordCounter;
use crate::{CorpusError, Item};

pub(crate) struct Plain {
    stream: Stream,
    counter: RecordCounter,
    media: Media,
    done: bool,
}

impl Plain {
    pub(crate) fn new(stream: Stream, counter: RecordCounter, media: Media) -> Self {
        Plain { stream, counter, media, done: false }
    }
}

impl Records for Plain {
    fn next(&mut self) -> Result<Option<Item<'_>>, CorpusError> {
        if std::mem::replace(&mut self.done, true) {
            return Ok(None);
        }
        let longer = self.stream.ensure(self.counter.limit().saturating_add(1));
        if longer.map_err(CorpusError::reading(&self.counter.shard))? {
            return Ok(Some(self.counter.too_long(0)));
        }
        if let Some(reason) = self.stream.fault() {
            return Ok(Some(self.counter.reject(0, Reason::Truncated(reason.to_owned()))));
        }
        let place = self.counter.place(0);
        let bytes = self.stream.window();
        Ok(Some(Item::Document(Document {
            id: &self.counter.shard,
            url: None,
            media: self.media,
            content: Content::Encoded { bytes, charset: None },
            place,
            raw: None,
            extras: Extras::default(),
        })))
    }
}

#[cfg(test)]
mod tests {
    use lookalike_model::ReasonKind;

    use super::*;
    use crate::Compression;
    use crate::formats::testing::{OwnedItem, Page, Setting, compress, read_all};

    fn read_with(bytes: &[u8], setting: &Setting) -> Vec<OwnedItem> {
        let (stream, counter) = setting.open(bytes);
        read_all(&mut Plain::new(stream, counter, Media::Text))
    }

    fn read(bytes: &[u8]) -> Vec<OwnedItem> {
        read_with(bytes, &Setting::default())
    }

    fn whole(content: &[u8]) -> OwnedItem {
        OwnedItem::Document(Page {
            id: "shard".to_owned(),
            url: None,
            media: Media::Text,
            content: content.to_vec(),
            charset: None,
            position: 0,
            raw: None,
        })
    }

    #[test]
    fn a_file_is_one_document_named_by_its_path() {
        let file = b"\xef\xbb\xbfone\r\n\ntwo\xff";
        for step in [1, 3, 100] {
            assert_eq!(read_with(file, &Setting { step, ..Setting::default() }), [whole(file)]);
        }
    }

    #[test]
    fn an_empty_file_is_an_empty_document() {
        assert_eq!(read(b""), [whole(b"")]);
        assert_eq!(read(&compress(Compression::Gzip, b"")), [whole(b"")]);
    }

    #[test]
    fn a_file_that_is_too_long_is_one_rejection() {
        for step in [1, 1000] {
            assert_eq!(read_with(b"rose", &Setting { limit: 4, step }), [whole(b"rose")]);
            let long = read_with(b"roses", &Setting { limit: 4, step });
            assert_eq!(long, [OwnedItem::Rejected(ReasonKind::TooLong, 0)]);
        }
        let packed = compress(Compression::Zstd, &[b'x'; 100_000]);
        let long = read_with(&packed, &Setting { limit: 1000, step: 1 });
        assert_eq!(long, [OwnedItem::Rejected(ReasonKind::TooLong, 0)]);
    }

    #[test]
    fn a_limit_without_an_end_is_no_limit() {
        assert_eq!(read_with(b"rose", &Setting { limit: usize::MAX, step: 1 }), [whole(b"rose")]);
    }

    #[test]
    fn members_together_are_one_document() {
        for compression in Compression::ALL {
            let file = [compress(compression, b"one "), compress(compression, b"rose")].concat();
            assert_eq!(read(&file), [whole(b"one rose")], "{compression:?}");
        }
    }

    #[test]
    fn a_file_that_is_cut_is_one_rejection() {
        for compression in Compression::ALL {
            let mut file = compress(compression, b"a text of which the end is lost");
            file.truncate(file.len() - 10);
            assert_eq!(read(&file), [OwnedItem::Rejected(ReasonKind::Truncated, 0)], "{compression:?}");
            file.extend(compress(compression, b"and more behind it"));
            assert_eq!(read(&file), [OwnedItem::Rejected(ReasonKind::Truncated, 0)], "{compression:?}");
        }
    }
}
