//! Values of further fields of a line, found by name or by a path of names such as `metadata.dump`.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::Key;
use crate::ReadOptions;
use crate::record::ExtraValues;

/// The values of one line, in buffers that are used again for the next.
pub(super) struct LineExtras {
    pub(super) values: ExtraValues,
    /// For each name, whether a field of the line bears all of it; such a field goes before any path.
    whole: Vec<bool>,
}

impl LineExtras {
    pub(super) fn new(options: &ReadOptions) -> Self {
        LineExtras { values: ExtraValues::new(options), whole: vec![false; options.extras.len()] }
    }

    pub(super) fn clear(&mut self) {
        self.values.clear();
        self.whole.fill(false);
    }

    /// True when the value of the field `key` is asked for, or something inside it.
    pub(super) fn want(names: &[String], key: &str) -> bool {
        names.iter().any(|name| Match::of(name, key).is_some())
    }

    /// Takes from the field `key`, whose value stands as `json` in the line, what is asked for.
    pub(super) fn take(&mut self, names: &[String], key: &str, json: &str) {
        for (index, name) in names.iter().enumerate() {
            match Match::of(name, key) {
                Some(Match::Whole) => {
                    self.whole[index] = true;
                    self.values.set(index, |text| push_value(json, text));
                }
                Some(Match::Inside(path)) if !self.whole[index] => {
                    let inside = value_at_path(json, path);
                    self.values.set(index, |text| inside.is_some_and(|json| push_value(json, text)));
                }
                _ => {}
            }
        }
    }

    /// Takes a field that makes the document and is asked for by its name too.
    pub(super) fn take_text(&mut self, names: &[String], key: &str, value: &str) {
        for index in (0..names.len()).filter(|&index| names[index] == key) {
            self.values.set_bytes(index, Some(value.as_bytes()));
        }
    }
}

/// The part of a path that the name of a field matches.
enum Match<'n> {
    /// It is all of the path.
    Whole,
    /// The rest of the path leads further, inside the field's value.
    Inside(&'n str),
}

impl<'n> Match<'n> {
    fn of(path: &'n str, key: &str) -> Option<Self> {
        let rest = path.strip_prefix(key)?;
        if rest.is_empty() { Some(Match::Whole) } else { rest.strip_prefix('.').map(Match::Inside) }
    }
}

/// The rest of the path `name` inside the field `key`, if it leads there.
pub(super) fn path_inside<'n>(name: &'n str, key: &str) -> Option<&'n str> {
    match Match::of(name, key)? {
        Match::Whole => None,
        Match::Inside(path) => Some(path),
    }
}

/// Appends a value: a string as its text, anything else as it stands. False for null.
fn push_value(json: &str, out: &mut String) -> bool {
    if json == "null" {
        return false;
    }
    let begin = out.len();
    let decoded = json.starts_with('"') && {
        let mut string = serde_json::Deserializer::from_str(json);
        string.deserialize_str(PushText(out)).is_ok()
    };
    if !decoded {
        // A string with half of a surrogate pair has no text; it too is handed out as it stands.
        out.truncate(begin);
        out.push_str(json);
    }
    true
}

struct PushText<'t>(&'t mut String);

impl Visitor<'_> for PushText<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_str<E>(self, value: &str) -> Result<(), E> {
        self.0.push_str(value);
        Ok(())
    }
}

/// The value that `path` leads to inside the object `json`.
pub(super) fn value_at_path<'j>(json: &'j str, path: &str) -> Option<&'j str> {
    if !json.starts_with('{') {
        return None;
    }
    // The line has been read once: there is nothing that could fail here.
    PathSeed(path).deserialize(&mut serde_json::Deserializer::from_str(json)).ok().flatten()
}

/// Reads an object for what stands at the end of a path; as deep as the path has dots, and no deeper.
struct PathSeed<'p>(&'p str);

impl<'de> DeserializeSeed<'de> for PathSeed<'_> {
    type Value = Option<&'de str>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for PathSeed<'_> {
    type Value = Option<&'de str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let (mut found, mut whole) = (None, false);
        while let Some(key) = map.next_key::<Key<'de>>()? {
            match Match::of(self.0, &key.0) {
                Some(Match::Whole) => {
                    whole = true;
                    found = Some(map.next_value::<&RawValue>()?.get());
                }
                Some(Match::Inside(rest)) if !whole => {
                    found = value_at_path(map.next_value::<&RawValue>()?.get(), rest);
                }
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::Jsonl;
    use crate::formats::testing::{counter, stream};
    use crate::reader::Records;
    use crate::{Item, ReadOptions};

    fn options(names: &[&str]) -> ReadOptions {
        ReadOptions {
            extras: names.iter().map(|name| (*name).to_owned()).collect(),
            ..ReadOptions::default()
        }
    }

    /// The extras of every document.
    fn extras(lines: &str, names: &[&str]) -> Vec<Vec<Option<String>>> {
        let mut reader = Jsonl::new(stream(lines), counter(options(names)));
        let mut all = Vec::new();
        while let Some(item) = reader.next().unwrap() {
            let Item::Document(document) = item else { panic!("every line is a document") };
            let value = |index| document.extras.get(index).map(str::to_owned);
            all.push((0..names.len()).map(value).collect());
        }
        all
    }

    fn one(line: &str, name: &str) -> Option<String> {
        extras(line, &[name]).remove(0).remove(0)
    }

    #[test]
    fn every_kind_of_value_becomes_text() {
        for (json, text) in [
            ("\"plain\"", Some("plain")),
            ("\"\\u00e4 \\\"q\\\"\"", Some("ä \"q\"")),
            ("\"\"", Some("")),
            ("7", Some("7")),
            ("-1.50e3", Some("-1.50e3")),
            ("true", Some("true")),
            ("null", None),
            ("[1, {\"a\":2}]", Some("[1, {\"a\":2}]")),
            ("{ \"x\" : 1 }", Some("{ \"x\" : 1 }")),
            ("\"\\ud83c alone\"", Some("\"\\ud83c alone\"")),
        ] {
            let line = format!("{{\"e\": {json} ,\"text\":\"t\"}}");
            assert_eq!(one(&line, "e").as_deref(), text, "{json}");
        }
        assert_eq!(one("{\"text\":\"t\"}", "e"), None);
    }

    #[test]
    fn dots_lead_into_objects_unless_a_field_bears_the_whole_name() {
        let nested = "{\"text\":\"t\",\"m\":{\"x\":1,\"d\":{\"y\":\"deep\"}}}";
        assert_eq!(one(nested, "m.x").as_deref(), Some("1"));
        assert_eq!(one(nested, "m.d.y").as_deref(), Some("deep"));
        assert_eq!(one(nested, "m.d").as_deref(), Some("{\"y\":\"deep\"}"));
        assert_eq!(one(nested, "m.none"), None);
        assert_eq!(one(nested, "text.x"), None);
        for line in [
            "{\"m.x\":\"top\",\"m\":{\"x\":1},\"text\":\"\"}",
            "{\"m\":{\"x\":1},\"m.x\":\"top\",\"text\":\"\"}",
        ] {
            assert_eq!(one(line, "m.x").as_deref(), Some("top"));
        }
        assert_eq!(one("{\"m.x\":null,\"m\":{\"x\":1},\"text\":\"\"}", "m.x"), None);
        assert_eq!(one("{\"m\":{\"x.y\":1,\"x\":{\"y\":2}},\"text\":\"\"}", "m.x.y").as_deref(), Some("1"));
    }

    #[test]
    fn fields_that_make_the_document_can_be_asked_for_too() {
        let line = "{\"id\":7,\"url\":\"u\",\"html\":\"<p>\"}";
        let all = extras(line, &["id", "url", "text", "html", "id"]);
        let expected = [Some("7"), Some("u"), None, Some("<p>"), Some("7")];
        assert_eq!(all[0].iter().map(Option::as_deref).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn what_one_line_has_does_not_go_over_to_the_next() {
        let lines = "{\"a\":1,\"b.c\":2,\"text\":\"\"}\n{\"b\":{\"c\":3},\"text\":\"\"}\n{\"text\":\"\"}\n";
        let all = extras(lines, &["a", "b.c"]);
        let some = |value: &str| Some(value.to_owned());
        assert_eq!(all, [[some("1"), some("2")], [None, some("3")], [None, None]]);
    }

    proptest! {
        #[test]
        fn values_are_those_that_a_plain_parser_sees(
            value in prop_oneof![
                any::<Option<String>>().prop_map(|text| serde_json::json!(text)),
                any::<i64>().prop_map(|number| serde_json::json!(number)),
                prop::collection::vec(any::<bool>(), 0..4).prop_map(|list| serde_json::json!(list)),
            ],
        ) {
            let line = serde_json::json!({ "text": "t", "m": { "x": value } }).to_string();
            let expected = match &value {
                serde_json::Value::Null => None,
                serde_json::Value::String(text) => Some(text.clone()),
                other => Some(other.to_string()),
            };
            prop_assert_eq!(one(&line, "m.x"), expected);
        }
    }
}
