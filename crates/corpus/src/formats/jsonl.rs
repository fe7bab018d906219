//! JSON lines: one JSON object per line.

use std::borrow::Cow;
use std::fmt;

use lookalike_model::{Content, Document, Media, Reason};
use memchr::memmem::Finder;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};

use crate::input::{Found, Stream};
use crate::reader::Records;
use crate::record::Ledger;
use crate::{CorpusError, Fields, Item};

pub(crate) struct Jsonl {
    stream: Stream,
    ledger: Ledger,
    line_end: Finder<'static>,
    /// Length of the line handed out last.
    used: usize,
    values: Values,
}

impl Jsonl {
    pub(crate) fn new(stream: Stream, ledger: Ledger) -> Self {
        Jsonl { stream, ledger, line_end: Finder::new(b"\n"), used: 0, values: Values::default() }
    }

    /// Frames the next line that is not blank.
    fn frame(&mut self) -> std::io::Result<Frame> {
        loop {
            self.stream.advance(std::mem::take(&mut self.used));
            // One more byte than the limit, for the line end itself.
            match self.stream.find(&self.line_end, 0, self.ledger.limit() + 1)? {
                Found::At(at) => self.used = at + 1,
                Found::End => {
                    if let Some(reason) = self.stream.fault().map(str::to_owned) {
                        self.used = self.stream.window().len();
                        self.stream.resume();
                        return Ok(Frame::Cut(reason));
                    }
                    self.used = self.stream.window().len();
                    if self.used == 0 {
                        return Ok(Frame::End);
                    }
                }
                Found::Limit => return Ok(Frame::TooLong),
            }
            if !self.stream.window()[..self.used].trim_ascii().is_empty() {
                return Ok(Frame::Line);
            }
        }
    }
}

/// What stands at the front of the window.
enum Frame {
    /// A whole line, `used` bytes long with its end.
    Line,
    /// A line that damage cuts short.
    Cut(String),
    TooLong,
    End,
}

impl Records for Jsonl {
    fn next(&mut self) -> Result<Option<Item<'_>>, CorpusError> {
        let frame = match self.frame() {
            Ok(frame) => frame,
            Err(source) => return Err(CorpusError::reading(&self.ledger.shard)(source)),
        };
        let position = self.stream.offset();
        match frame {
            Frame::End => return Ok(None),
            Frame::Cut(reason) => return Ok(Some(self.ledger.reject(position, Reason::Truncated(reason)))),
            Frame::TooLong => {
                let item = self.ledger.too_long(position);
                let skipped = self.stream.skip_to(&self.line_end);
                skipped.map_err(CorpusError::reading(&self.ledger.shard))?;
                return Ok(Some(item));
            }
            Frame::Line => {}
        }
        let raw = &self.stream.window()[..self.used];
        if let Err(reason) = self.values.read(raw.trim_ascii(), &self.ledger.options.fields) {
            return Ok(Some(self.ledger.reject(position, reason)));
        }
        let place = self.ledger.place(position);
        let values = &self.values;
        let (media, text) = values.body();
        Ok(Some(Item::Document(Document {
            id: if values.has_id { &values.id } else { self.ledger.own_id(place) },
            url: values.has_url.then_some(values.url.as_str()),
            media,
            content: Content::Unicode(text),
            place,
            raw: Some(raw),
        })))
    }
}

/// The fields of one line, in strings that are used again for the next.
#[derive(Default)]
struct Values {
    id: String,
    text: String,
    html: String,
    url: String,
    has_id: bool,
    has_text: bool,
    has_html: bool,
    has_url: bool,
}

impl Values {
    fn read(&mut self, line: &[u8], fields: &Fields) -> Result<(), Reason> {
        (self.has_id, self.has_text, self.has_html, self.has_url) = (false, false, false, false);
        let line = utf8(line)?;
        let mut json = serde_json::Deserializer::from_str(line);
        let object = ObjectSeed { values: self, fields };
        object.deserialize(&mut json).and_then(|()| json.end()).map_err(complaint)?;
        if !self.has_text && !self.has_html {
            let Fields { text, html, .. } = fields;
            return Err(Reason::MissingField(format!("neither {text:?} nor {html:?} is there")));
        }
        Ok(())
    }

    /// Text goes before HTML when a line has both.
    fn body(&self) -> (Media, &str) {
        if self.has_text { (Media::Text, &self.text) } else { (Media::Html, &self.html) }
    }
}

/// Checks a line, the fast way first: only the slower check says where the fault is.
fn utf8(line: &[u8]) -> Result<&str, Reason> {
    simdutf8::basic::from_utf8(line).map_err(|_| {
        let place = simdutf8::compat::from_utf8(line).map_or_else(|error| error.valid_up_to(), str::len);
        Reason::InvalidUtf8(format!("byte {place} of the line is not UTF-8"))
    })
}

/// A sentence from the parser, without its "line 1", which would be read as a line of the file.
fn complaint(error: serde_json::Error) -> Reason {
    let column = error.column();
    let text = error.to_string();
    let text = text.split(" at line ").next().unwrap_or(&text);
    if error.is_data() {
        return Reason::MissingField(text.to_owned());
    }
    Reason::Broken(format!("{text} at column {column}"))
}

/// Reads an object into `values`, passing over every field that is not asked for.
struct ObjectSeed<'v> {
    values: &'v mut Values,
    fields: &'v Fields,
}

impl<'de> DeserializeSeed<'de> for ObjectSeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for ObjectSeed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let ObjectSeed { values, fields } = self;
        while let Some(key) = map.next_key::<Key<'de>>()? {
            let key = &*key.0;
            let (slot, has) = if key == fields.text {
                (&mut values.text, &mut values.has_text)
            } else if key == fields.id {
                (&mut values.id, &mut values.has_id)
            } else if key == fields.url {
                (&mut values.url, &mut values.has_url)
            } else if key == fields.html {
                (&mut values.html, &mut values.has_html)
            } else {
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            *has = map.next_value_seed(ValueSeed { slot, name: key, number: key == fields.id })?;
        }
        Ok(())
    }
}

/// A field name, borrowed from the line unless it has escapes.
#[derive(serde::Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

/// Reads one value into `slot`: a string, null for "not there", and for ids also a whole number.
struct ValueSeed<'v> {
    slot: &'v mut String,
    name: &'v str,
    number: bool,
}

impl<'de> DeserializeSeed<'de> for ValueSeed<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Visitor<'_> for ValueSeed<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = if self.number { " or a whole number" } else { "" };
        write!(f, "a string{number} in field {:?}", self.name)
    }

    fn visit_str<E>(self, value: &str) -> Result<bool, E> {
        self.slot.clear();
        self.slot.push_str(value);
        Ok(true)
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<bool, E> {
        if !self.number {
            return Err(E::invalid_type(serde::de::Unexpected::Unsigned(value), &self));
        }
        self.visit_str(&value.to_string())
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<bool, E> {
        if !self.number {
            return Err(E::invalid_type(serde::de::Unexpected::Signed(value), &self));
        }
        self.visit_str(&value.to_string())
    }

    fn visit_unit<E>(self) -> Result<bool, E> {
        Ok(false)
    }
}
