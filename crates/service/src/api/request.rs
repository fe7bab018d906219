//! Bodies of requests from programs: one document, or several.
//!
//! Parsed by hand and not derived: a derived parser takes a list for an object, and as many documents as fit into memory.
//!
//! A body that is no JSON is refused with 400 and its place, one that is no document with 422 and the field; nothing that
//! was sent is sent back.

use std::fmt;

use serde::de::{Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::answer::Refusal;
use crate::settings::{LONGEST_ID, MATCHES, MOST_DOCUMENTS, MOST_MATCHES};

/// A document as it was sent.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct RequestDocument {
    pub(crate) id: Option<String>,
    pub(crate) url: Option<String>,
    pub(crate) text: Option<String>,
    pub(crate) html: Option<String>,
    pub(crate) limit: Option<WholeNumber>,
    /// Several instead of one.
    pub(crate) documents: Option<DocumentList>,
}

/// Several documents, within reason.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct DocumentList(pub(crate) Vec<RequestDocument>);

impl<'de> Deserialize<'de> for RequestDocument {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct ValueVisitor;
        impl<'de> Visitor<'de> for ValueVisitor {
            type Value = RequestDocument;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RequestDocument, A::Error> {
                let mut sent = RequestDocument::default();
                while let Some(name) = map.next_key::<Field>()? {
                    match name {
                        Field::Id => sent.id = map.next_value()?,
                        Field::Url => sent.url = map.next_value()?,
                        Field::Text => sent.text = map.next_value()?,
                        Field::Html => sent.html = map.next_value()?,
                        Field::Limit => sent.limit = map.next_value()?,
                        Field::Documents => sent.documents = map.next_value()?,
                        Field::Other => drop(map.next_value::<IgnoredAny>()?),
                    }
                }
                Ok(sent)
            }
        }
        from.deserialize_map(ValueVisitor)
    }
}

#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "lowercase")]
enum Field {
    Id,
    Url,
    Text,
    Html,
    Limit,
    Documents,
    #[serde(other)]
    Other,
}

impl<'de> Deserialize<'de> for DocumentList {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct ValueVisitor;
        impl<'de> Visitor<'de> for ValueVisitor {
            type Value = DocumentList;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of objects")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<DocumentList, A::Error> {
                let mut several = Vec::new();
                while let Some(sent) = list.next_element()? {
                    if several.len() == MOST_DOCUMENTS {
                        return Err(A::Error::custom("too many documents"));
                    }
                    several.push(sent);
                }
                Ok(DocumentList(several))
            }
        }
        from.deserialize_seq(ValueVisitor)
    }
}

/// A whole number, which some write as 10.0; what is beyond all limits stays there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WholeNumber(u64);

impl<'de> Deserialize<'de> for WholeNumber {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct ValueVisitor;
        impl Visitor<'_> for ValueVisitor {
            type Value = WholeNumber;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a whole number")
            }

            fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<WholeNumber, E> {
                Ok(WholeNumber(number))
            }

            fn visit_f64<E: serde::de::Error>(self, number: f64) -> Result<WholeNumber, E> {
                let whole = number >= 0.0 && number.fract() == 0.0;
                if whole { Ok(WholeNumber(number as u64)) } else { Err(E::custom("expected a whole number")) }
            }
        }
        from.deserialize_u64(ValueVisitor)
    }
}

/// Reads JSON: 400 with the place when it is none, 422 with the field when a value is of the wrong kind.
pub(crate) fn read(bytes: &[u8]) -> Result<RequestDocument, Refusal> {
    let mut json = serde_json::Deserializer::from_slice(bytes);
    let mut track = serde_path_to_error::Track::new();
    let read = RequestDocument::deserialize(serde_path_to_error::Deserializer::new(&mut json, &mut track));
    let read = read.and_then(|sent| json.end().map(|()| sent));
    read.map_err(|error| match error.classify() {
        serde_json::error::Category::Data => {
            let (path, what) = (track.path().to_string(), plain(&error));
            let field = if path == "." { "the body".to_owned() } else { path };
            Refusal::wrong(format!("{field}: {what}"))
        }
        _ => Refusal::bad(format!("the body is no JSON: {error}")),
    })
}

/// Returns the message of an error, without line and column: the field says more.
fn plain(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let what = text.split(" at line ").next().unwrap_or(&text);
    // The reader quotes texts that stand where something else should; what was sent is not sent back.
    match what.split_once(", expected ") {
        Some((_, expected)) => format!("expected {expected}"),
        None => what.to_owned(),
    }
}

/// Text or HTML.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Content {
    Text(String),
    Html(String),
}

/// A document that was checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CheckedDocument {
    pub(crate) id: Option<String>,
    pub(crate) url: Option<String>,
    pub(crate) content: Content,
}

/// The documents of a request: one, whose answer stands alone, or several.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Batch {
    One(Box<CheckedDocument>),
    Several(Vec<CheckedDocument>),
}

/// Checks what was sent; `named` documents need an id.
pub(crate) fn check_body(sent: RequestDocument, named: bool) -> Result<(Batch, usize), Refusal> {
    let limit = limit(sent.limit)?;
    let Some(DocumentList(several)) = sent.documents else {
        return Ok((Batch::One(Box::new(check_document(sent, "", named)?)), limit));
    };
    if sent.text.is_some() || sent.html.is_some() {
        return Err(Refusal::wrong("documents stands beside text or html; give one of them"));
    }
    let all = several.into_iter().enumerate().map(|(index, sent)| {
        if sent.documents.is_some() {
            return Err(Refusal::wrong(format!("documents[{index}].documents: documents have no documents")));
        }
        check_document(sent, &format!("documents[{index}]."), named)
    });
    Ok((Batch::Several(all.collect::<Result<_, _>>()?), limit))
}

/// Returns the number of matches to report.
pub(crate) fn limit(limit: Option<WholeNumber>) -> Result<usize, Refusal> {
    match limit.map(|WholeNumber(limit)| limit) {
        None => Ok(MATCHES),
        Some(limit) if (1..=MOST_MATCHES as u64).contains(&limit) => Ok(limit as usize),
        Some(_) => Err(Refusal::wrong(format!("limit must be a whole number from 1 to {MOST_MATCHES}"))),
    }
}

/// Checks one document; `before` stands before the names of its fields.
pub(crate) fn check_document(
    sent: RequestDocument,
    before: &str,
    named: bool,
) -> Result<CheckedDocument, Refusal> {
    let content = match (sent.text, sent.html) {
        (Some(text), None) => Content::Text(text),
        (None, Some(html)) => Content::Html(html),
        (None, None) => return Err(Refusal::wrong(format!("{before}text is missing; give text or html"))),
        (Some(_), Some(_)) => {
            return Err(Refusal::wrong(format!("{before}text stands beside html; give one of them")));
        }
    };
    limit(sent.limit).map_err(|refusal| Refusal::wrong(format!("{before}{}", refusal.sentence)))?;
    if named && sent.id.is_none() {
        return Err(Refusal::wrong(format!("{before}id is missing; give each document its name")));
    }
    if let Some(id) = &sent.id {
        check_id(id).map_err(|what| Refusal::wrong(format!("{before}id {what}")))?;
    }
    if sent.url.as_ref().is_some_and(|url| url.len() > 8 * LONGEST_ID) {
        return Err(Refusal::wrong(format!("{before}url has more than {} bytes", 8 * LONGEST_ID)));
    }
    Ok(CheckedDocument { id: sent.id, url: sent.url, content })
}

/// Checks an id; the error says what is wrong with it.
pub(crate) fn check_id(id: &str) -> Result<(), String> {
    match id {
        "" => Err("is empty; give each document its name".to_owned()),
        id if id.len() > LONGEST_ID => Err(format!("has more than {LONGEST_ID} bytes")),
        id if id.contains('\0') => Err("has a zero byte in it".to_owned()),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(body: &str) -> (u16, String) {
        let refusal = read(body.as_bytes()).and_then(|sent| check_body(sent, true)).unwrap_err();
        (refusal.status.as_u16(), refusal.sentence)
    }

    #[test]
    fn one_and_several_are_read() {
        let sent = read(br#"{"id":"a","text":"x","extra":[{}],"limit":3.0}"#).unwrap();
        let one = CheckedDocument { id: Some("a".into()), url: None, content: Content::Text("x".into()) };
        assert_eq!(check_body(sent, true).unwrap(), (Batch::One(Box::new(one)), 3));
        let sent = read(br#"{"documents":[{"html":"<p>"},{"text":"","id":null}]}"#).unwrap();
        assert!(matches!(check_body(sent, false).unwrap(), (Batch::Several(all), MATCHES) if all.len() == 2));
    }

    #[test]
    fn what_is_no_json_is_told_with_its_place() {
        let (status, sentence) = refused("{\"id\":\n\"a\",}");
        assert_eq!(status, 400);
        assert!(sentence.contains("at line 2 column"), "{sentence}");
        assert_eq!(refused("").0, 400);
        assert_eq!(refused("{\"id\":\"a\",\"text\":\"x\"} y").0, 400);
        assert_eq!(read(b"{\"text\":\"\xff\"}").unwrap_err().status.as_u16(), 400);
        assert_eq!(refused(&format!("{{\"x\":{}", "[".repeat(5000))).0, 400);
    }

    #[test]
    fn wrong_values_are_told_with_their_field() {
        for (body, field) in [
            ("[]", "the body: "),
            ("{\"id\":5}", "id: "),
            ("{\"documents\":[{\"id\":\"a\",\"text\":\"\"},{\"text\":[]}]}", "documents[1].text: "),
            ("{\"documents\":[[\"a\"]]}", "documents[0]: "),
            ("{\"documents\":7}", "documents: "),
            ("{\"documents\":[{\"id\":\"a\"}]}", "documents[0].text is missing"),
            ("{\"text\":\"x\"}", "id is missing"),
            ("{\"id\":\"\",\"text\":\"x\"}", "id is empty"),
            ("{\"id\":\"a\\u0000\",\"text\":\"x\"}", "id has a zero byte"),
            ("{\"id\":\"a\",\"text\":\"x\",\"html\":\"x\"}", "text stands beside html"),
            ("{\"id\":\"a\",\"text\":\"x\",\"limit\":0}", "limit must be"),
            ("{\"id\":\"a\",\"text\":\"x\",\"limit\":-1}", "limit: expected a whole number"),
            ("{\"id\":\"a\",\"text\":\"x\",\"limit\":1.5}", "limit: expected a whole number"),
            ("{\"id\":\"a\",\"text\":\"x\",\"limit\":1e300}", "limit must be"),
        ] {
            let (status, sentence) = refused(body);
            assert_eq!(status, 422, "{body}: {sentence}");
            assert!(sentence.starts_with(field), "{body}: {sentence}");
        }
        let long = format!("{{\"id\":\"{}\",\"text\":\"x\"}}", "i".repeat(1025));
        assert!(refused(&long).1.contains("more than 1024 bytes"));
    }

    #[test]
    fn nothing_that_was_sent_comes_back() {
        let (_, sentence) = refused("{\"limit\":\"<script>secret\"}");
        assert!(!sentence.contains("secret"), "{sentence}");
    }
}
