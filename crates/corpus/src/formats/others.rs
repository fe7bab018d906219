//! Fields of a record that make no document, as one JSON object.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::Fields;

/// The names that outputs give to the fields that make a document.
const RESERVED_NAMES: [&str; 3] = ["id", "url", "text"];

/// True for a field that makes the document; HTML does where there is no text.
pub(crate) fn makes_document(name: &str, fields: &Fields, has_text: bool) -> bool {
    name == fields.id || name == fields.url || name == fields.text || name == fields.html && !has_text
}

/// An object that is written member by member. A name that outputs need for themselves gets an underscore behind it.
pub(crate) struct ObjectWriter<'o> {
    out: &'o mut String,
    is_empty: bool,
}

impl<'o> ObjectWriter<'o> {
    pub(crate) fn begin(out: &'o mut String) -> Self {
        out.push('{');
        ObjectWriter { out, is_empty: true }
    }

    /// Writes a member whose value `push` appends.
    pub(crate) fn member(&mut self, name: &str, push: impl FnOnce(&mut String)) {
        if !std::mem::replace(&mut self.is_empty, false) {
            self.out.push(',');
        }
        if RESERVED_NAMES.contains(&name) {
            push_string(&format!("{name}_"), self.out);
        } else {
            push_string(name, self.out);
        }
        self.out.push(':');
        push(self.out);
    }

    /// Ends the object; false when it has no members.
    pub(crate) fn end(self) -> bool {
        self.out.push('}');
        !self.is_empty
    }
}

/// Appends a text as a JSON string.
pub(crate) fn push_string(text: &str, out: &mut String) {
    out.push_str(&serde_json::to_string(text).expect("a text is always JSON"));
}

/// The members of an object in their order, with their values as they stand.
pub(crate) struct Members<'a>(pub(crate) Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'a> Members<'a> {
    /// The members of a JSON object; none of anything else.
    pub(crate) fn of(json: &'a str) -> Self {
        serde_json::from_str(json).unwrap_or(Members(Vec::new()))
    }
}

/// A name, borrowed from the line unless it has escapes.
#[derive(serde::Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MembersVisitor)
    }
}

struct MembersVisitor;

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = Members<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
        let mut members = Vec::new();
        while let Some((Name(name), value)) = map.next_entry::<Name<'de>, &RawValue>()? {
            members.push((name, value));
        }
        Ok(Members(members))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_come_as_they_stand_and_taken_names_give_way() {
        let mut out = String::new();
        let mut object = ObjectWriter::begin(&mut out);
        let fields = Fields { text: "body".into(), ..Fields::default() };
        for (name, value) in
            Members::of("{\"id\":1,\"text\":[ 1.50,null],\"a\\u0062\":\"\\u00e9\",\"html\":\"x\"}").0
        {
            if !makes_document(&name, &fields, true) {
                object.member(&name, |out| out.push_str(value.get()));
            }
        }
        assert!(object.end());
        assert_eq!(out, "{\"text_\":[ 1.50,null],\"ab\":\"\\u00e9\",\"html\":\"x\"}");
        assert!(makes_document("html", &fields, false));
        assert!(!ObjectWriter::begin(&mut String::new()).end());
    }
}
