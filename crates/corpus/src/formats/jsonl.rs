//! JSON lines: one JSON object per line; and lists, whose lines are addresses.

mod entry;
mod extras;
mod lines;
mod scan;

use std::borrow::Cow;
use std::fmt;

use lookalike_model::{Content, Document, Media, Reason, RecordPosition};
use memchr::memmem::Finder;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

pub(crate) use self::entry::Entry;
use self::extras::LineExtras;
pub use self::lines::{LineReader, Lines, LinesView, MOST_BATCH_RECORDS};
use super::resync::skip_byte_order_mark;
use crate::first_records::FieldNames;
use crate::formats::others::{Members, ObjectWriter, makes_document};
use crate::input::{SearchResult, Stream};
use crate::reader::Records;
use crate::record::RecordCounter;
use crate::{CorpusError, Fields, Item, ReadOptions};

pub(crate) struct Jsonl {
    stream: Stream,
    counter: RecordCounter,
    line_end: Finder<'static>,
    /// Length of the line handed out last.
    used: usize,
    values: Values,
    /// Before this offset there are too few lines to be taken out together.
    few_before: u64,
}

impl Jsonl {
    pub(crate) fn new(stream: Stream, counter: RecordCounter) -> Self {
        let values = Values::new(&counter.options);
        Jsonl { stream, counter, line_end: Finder::new(b"\n"), used: 0, values, few_before: 0 }
    }

    /// Reads a list of addresses instead.
    pub(crate) fn list(stream: Stream, counter: RecordCounter) -> Self {
        let mut jsonl = Jsonl::new(stream, counter);
        jsonl.values.list = true;
        jsonl
    }

    /// The line handed out last.
    fn last_line(&self) -> &[u8] {
        &self.stream.window()[..self.used]
    }

    /// Frames the next line that is not blank.
    fn frame(&mut self) -> std::io::Result<Frame> {
        loop {
            self.stream.advance(std::mem::take(&mut self.used));
            skip_byte_order_mark(&mut self.stream)?;
            // One more byte than the limit, for the line end itself.
            match self.stream.find(&self.line_end, 0, self.counter.limit().saturating_add(1))? {
                SearchResult::At(at) => self.used = at + 1,
                SearchResult::End => {
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
                SearchResult::Limit => return Ok(Frame::TooLong),
            }
            if !self.stream.window()[..self.used].trim_ascii().is_empty() {
                return Ok(Frame::Line);
            }
        }
    }
}

/// The result of framing the front of the window.
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
            Err(source) => return Err(CorpusError::reading(&self.counter.shard)(source)),
        };
        let position = self.stream.offset();
        match frame {
            Frame::End => return Ok(None),
            Frame::Cut(reason) => {
                let id = id_of_rejected(
                    &self.stream.window()[..self.used],
                    self.values.list,
                    &self.counter.options,
                );
                return Ok(Some(self.counter.reject_named(position, Reason::Truncated(reason), id)));
            }
            Frame::TooLong => {
                let item = self.counter.too_long(position);
                let skipped = self.stream.skip_to(&self.line_end);
                if !skipped.map_err(CorpusError::reading(&self.counter.shard))? {
                    // Damage inside the line costs this line alone, which has been rejected already.
                    self.stream.resume();
                }
                return Ok(Some(item));
            }
            Frame::Line => {}
        }
        let raw = &self.stream.window()[..self.used];
        match self.values.line(raw, &self.counter.options) {
            Err(reason) => {
                let id = id_of_rejected(raw, self.values.list, &self.counter.options);
                Ok(Some(self.counter.reject_named(position, reason, id)))
            }
            Ok(line) => {
                let place = self.counter.place(position);
                let counter = &mut self.counter;
                let document = self.values.document(line, raw, place, || counter.own_id(place));
                Ok(Some(Item::Document(document)))
            }
        }
    }

    fn lines(&mut self, wanted: usize, lines: &mut Lines) -> Result<bool, CorpusError> {
        let cut = self.cut(wanted, lines);
        cut.map_err(CorpusError::reading(&self.counter.shard))
    }

    fn field_names(&self, names: &mut FieldNames) {
        if !self.values.list {
            names.add_object(self.last_line());
        }
    }
}

/// The fields of one line, and buffers that are used again for the next.
struct Values {
    id: Slot,
    text: Slot,
    html: Slot,
    url: Slot,
    extras: LineExtras,
    /// For names with dots, the fields of the line that bear all of the name: such a field goes before any path.
    whole: Option<[bool; 4]>,
    /// Lines are addresses and no objects.
    list: bool,
}

impl Values {
    fn new(options: &ReadOptions) -> Self {
        let empty = Slot::default;
        let extras = LineExtras::new(options);
        let whole = options.fields.names().iter().any(|name| name.contains('.')).then_some([false; 4]);
        Values { id: empty(), text: empty(), html: empty(), url: empty(), extras, whole, list: false }
    }

    /// Reads a record as it stands in the shard; returns it as text, without its end.
    fn line<'l>(&mut self, raw: &'l [u8], options: &ReadOptions) -> Result<&'l str, Reason> {
        let line = utf8(raw.trim_ascii_end())?;
        self.read(line, options)?;
        Ok(line)
    }

    /// Reads a line: what is common by the scanner, the rest by the parser.
    fn read(&mut self, line: &str, options: &ReadOptions) -> Result<(), Reason> {
        self.clear();
        if self.list {
            return self.entry(line);
        }
        if scan::read(line, options, self).is_none() {
            self.parse(line, options)?;
        }
        if !options.addresses && !self.text.is_there() && !self.html.is_there() {
            let Fields { text, html, .. } = &options.fields;
            return Err(Reason::MissingField(format!("neither {text:?} nor {html:?} is there")));
        }
        self.take_own(line, options);
        if options.others {
            self.take_others(line, options);
        }
        Ok(())
    }

    /// Hands out what makes no document, behind the extras.
    fn take_others(&mut self, line: &str, options: &ReadOptions) {
        let has_text = self.text.is_there();
        self.extras.values.set(options.extras.len(), |out| {
            let mut object = ObjectWriter::begin(out);
            for (name, value) in Members::of(line).0 {
                if !makes_document(&name, &options.fields, has_text) {
                    object.member(&name, |out| out.push_str(value.get()));
                }
            }
            object.end()
        });
    }

    /// Reads a line by the parser.
    fn parse(&mut self, line: &str, options: &ReadOptions) -> Result<(), Reason> {
        self.clear();
        let mut json = serde_json::Deserializer::from_str(line);
        let (fields, extras) = (&options.fields, &options.extras);
        let object = ObjectSeed { values: self, fields, extras };
        object.deserialize(&mut json).and_then(|()| json.end()).map_err(|error| complaint(line, error))
    }

    fn clear(&mut self) {
        [&mut self.id, &mut self.text, &mut self.html, &mut self.url].into_iter().for_each(Slot::clear);
        self.extras.clear();
        if let Some(whole) = &mut self.whole {
            whole.fill(false);
        }
    }

    /// Notes that a field bears the whole of a name that may be a path.
    #[inline]
    fn note_whole_name(&mut self, fields: &Fields, key: &str) {
        if let Some(whole) = &mut self.whole {
            whole.iter_mut().zip(fields.names()).for_each(|(whole, name)| *whole |= name == key);
        }
    }

    /// True when a field of the document may stand inside the field `key`.
    fn may_hold_fields(&self, fields: &Fields, key: &str) -> bool {
        self.whole.is_some() && fields.names().iter().any(|name| extras::path_inside(name, key).is_some())
    }

    /// Hands to `take` the place and the name of every field of the document that stands inside the field `key`, with its value as it
    /// stands in the line, if it is there.
    fn inside<'l, E>(
        &mut self,
        fields: &Fields,
        key: &str,
        json: &'l str,
        mut take: impl FnMut(&mut Slot, &str, Option<&'l str>) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some(whole) = self.whole else { return Ok(()) };
        let slots = [&mut self.id, &mut self.text, &mut self.html, &mut self.url];
        for ((slot, name), whole) in slots.into_iter().zip(fields.names()).zip(whole) {
            if let (false, Some(path)) = (whole, extras::path_inside(name, key)) {
                slot.clear();
                take(slot, name, extras::value_at_path(json, path))?;
            }
        }
        Ok(())
    }

    /// The place of a field that makes the document.
    #[inline]
    fn slot(&mut self, fields: &Fields, key: &str) -> Option<&mut Slot> {
        Some(if key == fields.text {
            &mut self.text
        } else if key == fields.id {
            &mut self.id
        } else if key == fields.url {
            &mut self.url
        } else if key == fields.html {
            &mut self.html
        } else {
            return None;
        })
    }

    /// Hands out as extras, too, what makes the document.
    fn take_own(&mut self, line: &str, options: &ReadOptions) {
        if self.extras.values.is_empty() {
            return;
        }
        let Fields { id, text, html, url } = &options.fields;
        for (slot, name) in [(&self.id, id), (&self.text, text), (&self.html, html), (&self.url, url)] {
            if let Some(value) = slot.get(line) {
                self.extras.take_text(&options.extras, name, value);
            }
        }
    }

    /// The document that the line is. Text goes before HTML when a line has both.
    fn document<'a>(
        &'a self,
        line: &'a str,
        raw: &'a [u8],
        place: RecordPosition,
        own_id: impl FnOnce() -> &'a str,
    ) -> Document<'a> {
        let (media, text) = match self.text.get(line) {
            Some(text) => (Media::Text, text),
            None => (Media::Html, self.html.get(line).unwrap_or_default()),
        };
        let id = self.id.get(line).filter(|id| !id.is_empty());
        Document {
            id: id.unwrap_or_else(own_id),
            url: self.url.get(line),
            media,
            content: Content::Unicode(text),
            place,
            raw: Some(raw),
            extras: self.extras.values.view(),
        }
    }
}

/// The value of one field.
#[derive(Default)]
struct Slot {
    value: Value,
    /// Holds values that do not stand in the line as they are.
    buffer: Vec<u8>,
}

#[derive(Default, Clone, Copy)]
enum Value {
    #[default]
    None,
    /// A stretch of the line.
    Line(usize, usize),
    /// A value in the buffer, of this length in bytes.
    Buffer(usize),
}

impl Slot {
    fn clear(&mut self) {
        self.value = Value::None;
    }

    fn is_there(&self) -> bool {
        !matches!(self.value, Value::None)
    }

    fn borrow(&mut self, begin: usize, end: usize) {
        self.value = Value::Line(begin, end);
    }

    fn set(&mut self, value: &str) {
        self.buffer.clear();
        self.buffer.extend_from_slice(value.as_bytes());
        self.value = Value::Buffer(value.len());
    }

    /// Takes a string with escapes, whose text begins at `at`; returns where it ends.
    fn unescape(&mut self, line: &[u8], at: usize) -> Option<usize> {
        let (end, length) = scan::unescape(line, at, &mut self.buffer)?;
        self.value = Value::Buffer(length);
        Some(end)
    }

    fn get<'a>(&'a self, line: &'a str) -> Option<&'a str> {
        match self.value {
            Value::None => None,
            Value::Line(begin, end) => Some(&line[begin..end]),
            Value::Buffer(length) => {
                let text = simdutf8::basic::from_utf8(&self.buffer[..length]);
                Some(text.expect("whole characters of a line were put together"))
            }
        }
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
fn complaint(line: &str, error: serde_json::Error) -> Reason {
    if let Some(why) = spread_over_lines(line) {
        return Reason::Broken(why.to_owned());
    }
    let column = error.column();
    let text = error.to_string();
    let text = text.split(" at line ").next().unwrap_or(&text);
    // A value of the wrong type is a field that is missing, unless it is the whole line.
    if error.is_data() && line.trim_ascii_start().starts_with('{') {
        return Reason::MissingField(text.to_owned());
    }
    Reason::Broken(format!("{text} at column {column}"))
}

/// The id of a line that cannot be read, if it stands before what is wrong with the line.
fn id_of_rejected(raw: &[u8], list: bool, options: &ReadOptions) -> Option<String> {
    if list {
        return None;
    }
    let line = String::from_utf8_lossy(raw);
    let mut id = Slot::default();
    // What stands behind the id may be as broken as it likes.
    let _ = IdSeed { id: &mut id, name: &options.fields.id }
        .deserialize(&mut serde_json::Deserializer::from_str(&line));
    let id = id.get(&line).filter(|id| !id.is_empty() && !id.contains(char::REPLACEMENT_CHARACTER))?;
    Some(id.to_owned())
}

/// Reads the id of an object and passes over everything else.
struct IdSeed<'v> {
    id: &'v mut Slot,
    name: &'v str,
}

impl<'de> DeserializeSeed<'de> for IdSeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for IdSeed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<Key<'de>>()? {
            if *key.0 == *self.name {
                map.next_value_seed(ValueSeed { slot: &mut *self.id, name: self.name, number: true })?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

/// Advice for JSON that is not one object per line, where a line shows it.
fn spread_over_lines(line: &str) -> Option<&'static str> {
    match line.trim() {
        "{" | "[" | "[{" => {
            Some("this looks like pretty-printed JSON; write each object in one line, as jq -c does")
        }
        list if list.starts_with('[') && list.ends_with(']') => {
            Some("a list and no object; write each object in a line of its own, as jq -c '.[]' does")
        }
        _ => None,
    }
}

/// Reads an object into `values`, passing over every field that is not asked for.
struct ObjectSeed<'v> {
    values: &'v mut Values,
    fields: &'v Fields,
    extras: &'v [String],
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
        let ObjectSeed { values, fields, extras } = self;
        while let Some(key) = map.next_key::<Key<'de>>()? {
            let key = &*key.0;
            values.note_whole_name(fields, key);
            if let Some(slot) = values.slot(fields, key) {
                map.next_value_seed(ValueSeed { slot, name: key, number: key == fields.id })?;
            } else if LineExtras::want(extras, key) || values.may_hold_fields(fields, key) {
                let json = map.next_value::<&RawValue>()?.get();
                values.extras.take(extras, key, json);
                values.inside(fields, key, json, |slot, name, value| {
                    let Some(value) = value else { return Ok(()) };
                    let seed = ValueSeed { slot, name, number: name == fields.id };
                    let read = seed.deserialize(&mut serde_json::Deserializer::from_str(value));
                    read.map_err(|error| {
                        let said = error.to_string();
                        serde::de::Error::custom(said.split(" at line ").next().unwrap_or(&said))
                    })
                })?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

/// A field name, borrowed from the line unless it has escapes.
#[derive(serde::Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

/// Reads one value into `slot`: a string, null for "not there", and for ids also a whole number.
struct ValueSeed<'v> {
    slot: &'v mut Slot,
    name: &'v str,
    number: bool,
}

impl<'de> DeserializeSeed<'de> for ValueSeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Visitor<'_> for ValueSeed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = if self.number { " or a whole number" } else { "" };
        write!(f, "a string{number} in field {:?}", self.name)
    }

    fn visit_str<E>(self, value: &str) -> Result<(), E> {
        self.slot.set(value);
        Ok(())
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<(), E> {
        if !self.number {
            return Err(E::invalid_type(serde::de::Unexpected::Unsigned(value), &self));
        }
        self.visit_str(&value.to_string())
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<(), E> {
        if !self.number {
            return Err(E::invalid_type(serde::de::Unexpected::Signed(value), &self));
        }
        self.visit_str(&value.to_string())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        self.slot.clear();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use lookalike_model::ReasonKind;
    use proptest::prelude::*;

    use super::*;
    use crate::formats::testing::{
        OwnedItem, Setting, briefs, compress, counter, damaged, limited, read_all, stream, stream_by,
    };
    use crate::{Compression, ReadOptions};

    fn jsonl(bytes: impl Into<Vec<u8>>) -> Jsonl {
        Jsonl::new(stream(bytes), counter(ReadOptions::default()))
    }

    fn read_with(bytes: &[u8], setting: &Setting) -> Vec<OwnedItem> {
        let (stream, counter) = setting.open(bytes);
        read_all(&mut Jsonl::new(stream, counter))
    }

    /// Returns the reason for which a line is rejected.
    fn complaint_of(line: &[u8]) -> String {
        match jsonl(line).next().unwrap() {
            Some(Item::Rejected(rejection)) => rejection.reason.to_string(),
            other => panic!("a rejection was expected, not {other:?}"),
        }
    }

    #[test]
    fn a_line_comes_with_all_that_is_known_of_it() {
        let line = "{\"url\":\"http://a/\",\"other\":[1,{\"text\":2}],\"id\":\"a\",\"text\":\"one\"}\n";
        let all = read_all(&mut jsonl(format!("\n{line}")));
        let page = all[0].page();
        assert_eq!((page.id.as_str(), page.url.as_deref()), ("a", Some("http://a/")));
        assert_eq!((page.media, page.content.as_slice(), page.position), (Media::Text, &b"one"[..], 1));
        assert_eq!(page.raw.as_deref(), Some(line.as_bytes()));
    }

    #[test]
    fn whole_numbers_are_ids() {
        let lines = "{\"id\":7,\"text\":\"a\"}\n{\"id\":-7,\"text\":\"b\"}\n{\"id\":18446744073709551615,\"text\":\"c\"}\n";
        assert_eq!(briefs(&mut jsonl(lines)), ["7: a", "-7: b", "18446744073709551615: c"]);
        let said = complaint_of(b"{\"id\":1.5,\"text\":\"a\"}\n");
        assert!(said.ends_with("expected a string or a whole number in field \"id\""), "{said}");
    }

    #[test]
    fn numbers_are_no_text() {
        for field in ["text", "html", "url"] {
            for value in ["1", "-1", "1.5", "true", "[]", "{}"] {
                let said = complaint_of(format!("{{\"{field}\":{value},\"text\":\"\"}}").as_bytes());
                assert!(said.starts_with("missing field: invalid type"), "{said}");
                assert!(said.ends_with(&format!("expected a string in field {field:?}")), "{said}");
            }
        }
    }

    #[test]
    fn null_is_not_there() {
        let lines = "{\"id\":null,\"url\":null,\"text\":null,\"html\":\"<p>\"}\n{\"text\":null}\n";
        let all = read_all(&mut jsonl(lines));
        assert_eq!((all[0].brief(), all[0].page().url.as_deref()), ("shard#0: <p>".to_owned(), None));
        assert_eq!(all[0].page().media, Media::Html);
        assert_eq!(all[1].brief(), "missing field at 48");
    }

    #[test]
    fn what_one_line_has_does_not_go_over_to_the_next() {
        let lines = "{\"id\":\"a\",\"url\":\"u\",\"text\":\"one\"}\n{\"html\":\"two\"}\n{}\n";
        let all = read_all(&mut jsonl(lines));
        assert_eq!((all[1].brief(), all[1].page().url.as_deref()), ("shard#1: two".to_owned(), None));
        assert_eq!((all[1].page().media, all[2].brief()), (Media::Html, "missing field at 49".to_owned()));
        assert_eq!(complaint_of(b"{}"), "missing field: neither \"text\" nor \"html\" is there");
    }

    #[test]
    fn text_goes_before_html() {
        for line in ["{\"html\":\"<p>\",\"text\":\"one\"}", "{\"text\":\"one\",\"html\":\"<p>\"}"] {
            let all = read_all(&mut jsonl(line));
            assert_eq!((all[0].brief(), all[0].page().media), ("shard#0: one".to_owned(), Media::Text));
        }
    }

    #[test]
    fn an_empty_text_is_a_document() {
        assert_eq!(briefs(&mut jsonl("{\"id\":\"a\",\"text\":\"\",\"html\":\"<p>\"}\n")), ["a: "]);
    }

    #[test]
    fn an_empty_id_is_none() {
        assert_eq!(briefs(&mut jsonl("{\"id\":\"\",\"text\":\"one\"}\n")), ["shard#0: one"]);
    }

    #[test]
    fn fields_have_the_names_asked_for() {
        let name = |name: &str| name.to_owned();
        let fields = Fields { id: name("docid"), text: name("body"), html: name("page"), url: name("u") };
        let options = ReadOptions { fields, ..ReadOptions::default() };
        let lines = "{\"id\":\"x\",\"docid\":1,\"text\":2,\"body\":\"one\",\"u\":\"v\"}\n{\"page\":\"two\"}\n{\"text\":\"three\"}\n";
        let all = read_all(&mut Jsonl::new(stream(lines), counter(options)));
        assert_eq!((all[0].brief(), all[0].page().url.as_deref()), ("1: one".to_owned(), Some("v")));
        assert_eq!(all[1].brief(), "shard#1: two");
        assert!(matches!(all[2], OwnedItem::Rejected(ReasonKind::MissingField, _)));
    }

    #[test]
    fn escapes_are_undone_in_names_and_values() {
        let line = br#"{"\u0069d":"\u00e4\/","text":"a\n\t\"\\\ud83c\udf39\u0000"}"#;
        assert_eq!(briefs(&mut jsonl(&line[..])), ["ä/: a\n\t\"\\🌹\0"]);
        let said = complaint_of(br#"{"text":"\ud83c alone"}"#);
        assert!(said.starts_with("broken record: "), "{said}");
    }

    #[test]
    fn of_a_name_that_comes_twice_the_last_counts() {
        let lines = "{\"text\":\"one\",\"text\":\"two\"}\n{\"text\":\"one\",\"text\":null}\n";
        assert_eq!(briefs(&mut jsonl(lines)), ["shard#0: two", "missing field at 28"]);
    }

    #[test]
    fn what_is_no_object_is_broken() {
        for line in
            ["[1]", "\"text\"", "1", "null", "true", "text", "{", "{\"text\":\"a\"", "{\"text\" \"a\"}"]
        {
            let all = read_all(&mut jsonl(line));
            assert_eq!(all, [OwnedItem::Rejected(ReasonKind::Broken, 0)], "{line}");
        }
        assert!(complaint_of(b"1").contains("expected a JSON object"));
        assert!(complaint_of(b"[1]").contains("a list and no object"));
    }

    #[test]
    fn junk_behind_the_object_is_broken_and_costs_no_other_line() {
        let lines =
            "{\"text\":\"a\"} x\n{\"text\":\"b\"}{\"text\":\"c\"}\n{\"text\":\"d\"},\n{\"text\":\"e\"}\n";
        let all = briefs(&mut jsonl(lines));
        assert_eq!(all[..2], ["broken record at 0", "broken record at 15"]);
        assert_eq!(all[2..], ["broken record at 40", "shard#3: e"]);
        assert_eq!(complaint_of(b"{\"text\":\"a\"} x"), "broken record: trailing characters at column 14");
    }

    #[test]
    fn bytes_that_are_no_utf8_are_told_with_their_place() {
        let said = |line: &[u8]| complaint_of(line);
        assert_eq!(said(b"{\"text\":\"a\xff\"}\n"), "invalid UTF-8: byte 10 of the line is not UTF-8");
        assert_eq!(said(b"  {\"text\":\"a\xc3\"}\n"), "invalid UTF-8: byte 12 of the line is not UTF-8");
        let all = briefs(&mut jsonl(&b"{\"text\":\"\xf0\x9f\"}\n{\"text\":\"b\"}\n"[..]));
        assert_eq!(all, ["invalid UTF-8 at 0", "shard#1: b"]);
    }

    #[test]
    fn blank_lines_are_no_records() {
        let lines = "\n\n{\"text\":\"a\"}\n \t\r\n\n{\"text\":\"b\"}\n\n  ";
        assert_eq!(briefs(&mut jsonl(lines)), ["shard#0: a", "shard#1: b"]);
        assert_eq!(read_all(&mut jsonl("")), []);
        assert_eq!(read_all(&mut jsonl(" \n\n ")), []);
    }

    #[test]
    fn line_ends_of_two_bytes_are_line_ends() {
        let all = read_all(&mut jsonl("{\"text\":\"a\"}\r\n\r\n{\"text\":\"b\"}\r\n"));
        assert_eq!((all[0].brief(), all[1].brief()), ("shard#0: a".to_owned(), "shard#1: b".to_owned()));
        assert_eq!(all[0].raw(), Some(&b"{\"text\":\"a\"}\r\n"[..]));
        assert_eq!((all.len(), all[1].page().position), (2, 16));
    }

    #[test]
    fn the_last_line_needs_no_end() {
        let all = read_all(&mut jsonl("{\"text\":\"a\"}\n{\"text\":\"b\"}"));
        assert_eq!((all.len(), all[1].brief()), (2, "shard#1: b".to_owned()));
        assert_eq!(all[1].raw(), Some(&b"{\"text\":\"b\"}"[..]));
    }

    #[test]
    fn raw_lines_together_are_the_file() {
        let file = b"{\"text\":\"a\"}\n{ \"html\" : \"b\" } \r\n\t{\"text\":\"c\"}";
        for step in [1, 5, 100] {
            let all = read_with(file, &Setting { step, ..Setting::default() });
            assert_eq!(all.iter().filter_map(OwnedItem::raw).collect::<Vec<_>>().concat(), file);
        }
    }

    #[test]
    fn a_byte_order_mark_at_the_front_is_passed_over() {
        let line = "{\"id\":\"a\",\"text\":\"one\"}\n";
        for step in [1, 2, 100] {
            let all =
                read_with(format!("\u{feff}{line}").as_bytes(), &Setting { step, ..Setting::default() });
            assert_eq!((all.len(), all[0].brief()), (1, "a: one".to_owned()));
            assert_eq!((all[0].page().position, all[0].raw()), (3, Some(line.as_bytes())));
        }
        let later = briefs(&mut jsonl(format!("{line}\u{feff}{line}")));
        assert_eq!(later, ["a: one".to_owned(), format!("broken record at {}", line.len())]);
        assert_eq!(read_all(&mut jsonl("\u{feff}")), []);
    }

    #[test]
    fn a_line_that_is_too_long_costs_no_other() {
        let long = format!("{{\"text\":\"{}\"}}", "x".repeat(100));
        for end in ["\n", "\r\n"] {
            let file = format!("{{\"text\":\"a\"}}\n{long}{end}{{\"text\":\"b\"}}\n{long}");
            for step in [1, 7, 50, 10_000] {
                let all = read_with(file.as_bytes(), &Setting { limit: 50, step });
                let seen: Vec<_> = all.iter().map(OwnedItem::brief).collect();
                let last = format!("too long at {}", file.len() - long.len());
                assert_eq!(seen, ["shard#0: a", "too long at 13", "shard#2: b", &last], "{end:?} {step}");
            }
        }
    }

    #[test]
    fn the_limit_counts_a_line_without_its_end() {
        let line = "{\"text\":\"a\"}";
        for step in [1, 1000] {
            for file in [format!("{line}\n"), line.to_owned()] {
                let read = |limit| read_with(file.as_bytes(), &Setting { limit, step });
                assert!(matches!(read(line.len())[..], [OwnedItem::Document(_)]), "{file:?} {step}");
                assert_eq!(read(line.len() - 1), [OwnedItem::Rejected(ReasonKind::TooLong, 0)]);
            }
        }
    }

    #[test]
    fn a_member_that_is_cut_costs_its_last_line() {
        for compression in Compression::ALL {
            let mut file = compress(compression, b"{\"text\":\"a\"}\n");
            let mut cut = compress(compression, b"{\"text\":\"this line is cut somewhere in its middle\"}\n");
            cut.truncate(cut.len() - 12);
            file.extend(cut);
            file.extend(compress(compression, b"{\"text\":\"b\"}\n"));
            let all = briefs(&mut jsonl(file));
            assert_eq!(all, ["shard#0: a", "truncated at 13", "shard#2: b"], "{compression:?}");
        }
    }

    #[test]
    fn a_line_that_is_too_long_and_cut_is_one_rejection() {
        let mut noise = 1u32;
        let mut letter = || {
            noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            char::from(b'a' + (noise >> 24) as u8 % 26)
        };
        let long: String = (0..5000).map(|_| letter()).collect();
        for compression in [Compression::Gzip, Compression::Zstd] {
            let mut file = compress(compression, format!("{{\"text\":\"{long}\"}}\n").as_bytes());
            file.truncate(file.len() - 20);
            file.extend(compress(compression, b"{\"text\":\"b\"}\n"));
            let all = briefs(&mut Jsonl::new(stream(file), counter(limited(100))));
            assert_eq!(all.len(), 2, "{compression:?}: {all:?}");
            assert_eq!(all[1], "shard#1: b");
        }
    }

    /// Values that documents have under these names of their fields.
    fn under(fields: [&str; 4], lines: &str) -> Vec<String> {
        let [id, text, html, url] = fields.map(str::to_owned);
        let options = ReadOptions { fields: Fields { id, text, html, url }, ..ReadOptions::default() };
        let all = read_all(&mut Jsonl::new(stream(lines), counter(options)));
        let show = |seen: &OwnedItem| match seen {
            OwnedItem::Document(page) => format!("{} {}", seen.brief(), page.url.as_deref().unwrap_or("-")),
            other => other.brief(),
        };
        all.iter().map(show).collect()
    }

    #[test]
    fn names_with_dots_lead_into_objects_unless_a_field_bears_the_whole_name() {
        let nested = ["doc.id", "doc.page.text", "html", "doc.url"];
        let lines = [
            r#"{"doc":{"id":7,"page":{"text":"one"},"url":"http://a/"}}"#,
            r#"{"doc":{"page":{"text":"tw\u006f"},"id":"b","url":null}}"#,
            r#"{"doc.page.text":"whole","doc":{"page":{"text":"inside"}}}"#,
            r#"{"doc":{"page":{"text":"inside"}},"doc.page.text":"whole"}"#,
            r#"{"doc":{"page.text":"half"}}"#,
            r#"{"doc":{"page":{"text":5}}}"#,
            r#"{"doc":"no object","html":"<p>"}"#,
            r#"{"doc":{"page":{"text":"gone"}},"doc":{}}"#,
        ];
        let found = under(nested, &lines.join("\n"));
        let at = |line: usize| lines[..line].iter().map(|line| line.len() + 1).sum::<usize>();
        let wanted = [
            "7: one http://a/".to_owned(),
            "b: two -".to_owned(),
            "shard#2: whole -".to_owned(),
            "shard#3: whole -".to_owned(),
            "shard#4: half -".to_owned(),
            format!("missing field at {}", at(5)),
            "shard#6: <p> -".to_owned(),
            format!("missing field at {}", at(7)),
        ];
        assert_eq!(found, wanted);
    }

    #[test]
    fn nesting_has_no_depth_that_fails() {
        let deep = format!("{{\"other\":{}{},\"text\":\"a\"}}", "[".repeat(100_000), "]".repeat(100_000));
        assert_eq!(read_all(&mut jsonl(deep)).len(), 1);
    }

    proptest! {
        #[test]
        fn no_bytes_make_the_reader_fail(bytes in prop::collection::vec(any::<u8>(), 0..200), step in 1usize..40) {
            read_with(&bytes, &Setting { limit: 50, step });
        }

        #[test]
        fn damaged_files_read_alike_in_any_chunks(
            bytes in damaged(b"{\"id\":\"a\",\"text\":\"one\"}\n\n{\"html\":\"<p>\"}\r\n".repeat(4)),
            limit in 0usize..60,
            step in 1usize..40,
        ) {
            let whole = read_with(&bytes, &Setting { limit, ..Setting::default() });
            prop_assert_eq!(whole, read_with(&bytes, &Setting { limit, step }));
        }

        #[test]
        fn written_lines_are_read_back(texts in prop::collection::vec(any::<String>(), 1..8), step in 1usize..40) {
            let line = |text| format!("{}\n", serde_json::json!({ "text": text }));
            let file: String = texts.iter().map(line).collect();
            let all = read_all(&mut Jsonl::new(stream_by(file, step), counter(ReadOptions::default())));
            let read: Vec<_> = all.iter().map(|item| item.page().content.clone()).collect();
            prop_assert_eq!(read, texts.iter().map(|text| text.as_bytes().to_vec()).collect::<Vec<_>>());
        }
    }
}
