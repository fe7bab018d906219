//! Plain files: the whole shard is one document, named by its path.

use lookalike_model::{Content, Document, Media, Reason};

use crate::input::Stream;
use crate::reader::Records;
use crate::record::Ledger;
use crate::{CorpusError, Item};

pub(crate) struct Plain {
    stream: Stream,
    ledger: Ledger,
    media: Media,
    done: bool,
}

impl Plain {
    pub(crate) fn new(stream: Stream, ledger: Ledger, media: Media) -> Self {
        Plain { stream, ledger, media, done: false }
    }
}

impl Records for Plain {
    fn next(&mut self) -> Result<Option<Item<'_>>, CorpusError> {
        if std::mem::replace(&mut self.done, true) {
            return Ok(None);
        }
        let longer = self.stream.ensure(self.ledger.limit() + 1);
        if longer.map_err(CorpusError::reading(&self.ledger.shard))? {
            return Ok(Some(self.ledger.too_long(0)));
        }
        if let Some(reason) = self.stream.fault() {
            return Ok(Some(self.ledger.reject(0, Reason::Truncated(reason.to_owned()))));
        }
        let place = self.ledger.place(0);
        let bytes = self.stream.window();
        Ok(Some(Item::Document(Document {
            id: &self.ledger.shard,
            url: None,
            media: self.media,
            content: Content::Encoded { bytes, charset: None },
            place,
            raw: None,
        })))
    }
}
