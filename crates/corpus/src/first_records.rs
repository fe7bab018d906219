//! The first records of a corpus, looked at before the work: whether the fields that were named are there, and whether there is any
//! document at all.

use std::collections::BTreeSet;
use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::losses::Losses;
use crate::{Corpus, CorpusError, Fields, Format, Item, Origin, ReadOptions, Shard};

/// Number of records that are looked at for a field that was named.
const FIRST_RECORDS: u64 = 1000;
/// Number of rejected records, with no document before them, that is enough to give up.
const MOST_REJECTED: u64 = 10_000;
/// Number of skipped records, over all shards, after which no more are looked at.
const MOST_SKIPPED: u64 = 100_000;
/// Most names of fields that are remembered, and most that an error shows.
const MOST_NAMES: usize = 1000;
const MOST_SHOWN: usize = 20;
/// Depth to which objects inside objects are looked into.
const DEPTH: usize = 6;

impl Corpus {
    /// Checks the first records. Fails when a field that was named is in none of the first thousand, or when none of the first ten
    /// thousand is a document. A name counts as given when it is not the usual one. With `addresses`, one of the first thousand must have
    /// an address.
    ///
    /// Standard input cannot be read twice: nothing is said of it.
    pub fn check_first_records(&self, addresses: bool) -> Result<(), CorpusError> {
        let mut check = FirstRecordsCheck::new(self.options());
        check.address = addresses && !self.options().max_rejected.takes_all();
        for shard in self.shards() {
            if shard.origin == Origin::Stdin || check.done() {
                return Ok(());
            }
            check.shard(shard, self)?;
        }
        check.end()
    }
}

/// The check of the first records, as far as it has come.
struct FirstRecordsCheck<'c> {
    options: &'c ReadOptions,
    /// Fields that make the document, were named, and were not seen yet.
    document_fields: Vec<&'c str>,
    /// Further fields that were named and not seen yet, by their places among the options.
    extras: Vec<usize>,
    /// A document with an address is wanted.
    address: bool,
    names: FieldNames,
    losses: Losses,
    /// Records whose format has named fields.
    with_fields: u64,
    skipped: u64,
    /// The first shard that was looked at.
    first: String,
    format: Option<Format>,
}

impl<'c> FirstRecordsCheck<'c> {
    fn new(options: &'c ReadOptions) -> Self {
        let usual = Fields::default();
        let named =
            options.fields.names().into_iter().zip(usual.names()).filter(|(name, usual)| name != usual);
        FirstRecordsCheck {
            options,
            document_fields: named.map(|(name, _)| name).collect(),
            extras: (0..options.extras.len()).collect(),
            address: false,
            names: FieldNames::default(),
            losses: Losses::default(),
            with_fields: 0,
            skipped: 0,
            first: String::new(),
            format: None,
        }
    }

    /// Returns true if all that was named has been seen, and a document.
    fn done(&self) -> bool {
        let all_seen = self.document_fields.is_empty() && self.extras.is_empty() && !self.address;
        all_seen && (self.has_document() || self.options.max_rejected.takes_all())
    }

    fn has_document(&self) -> bool {
        self.losses.records > self.losses.rejected
    }

    fn shard(&mut self, shard: &Shard, corpus: &Corpus) -> Result<(), CorpusError> {
        let mut reader = shard.open(corpus.options())?;
        let format = reader.format();
        if self.format.is_none() {
            self.first.clone_from(&shard.name);
            self.format = Some(format);
        }
        if format == Format::Table {
            // Whoever made the table has found its columns.
            self.document_fields.clear();
        }
        while !self.done() && self.wants_more(format)? {
            match reader.next()? {
                None => break,
                Some(Item::Skipped(_)) => {
                    self.skipped += 1;
                    continue;
                }
                Some(Item::Rejected(rejection)) => self.losses.reject(&shard.name, &rejection),
                Some(Item::Document(document)) => {
                    self.losses.accept();
                    self.extras.retain(|&extra| document.extras.get(extra).is_none());
                    self.address &= document.url.is_none();
                }
            }
            self.with_fields += u64::from(has_fields(format));
            reader.field_names(&mut self.names);
            self.remove_seen_fields(format);
        }
        Ok(())
    }

    fn remove_seen_fields(&mut self, format: Format) {
        let (names, options) = (&self.names, self.options);
        if has_fields(format) {
            self.document_fields.retain(|name| !names.has(name));
        }
        self.extras.retain(|&extra| !names.has(&options.extras[extra]));
    }

    /// True while more of a shard should be seen; fails when enough has been.
    fn wants_more(&self, format: Format) -> Result<bool, CorpusError> {
        if self.losses.rejected >= MOST_REJECTED
            && !self.has_document()
            && !self.options.max_rejected.takes_all()
        {
            return Err(self.all_rejected());
        }
        let further = self.address || !self.extras.is_empty();
        if self.losses.records >= FIRST_RECORDS && further
            || self.with_fields >= FIRST_RECORDS && !self.document_fields.is_empty()
        {
            return Err(self.missing_field());
        }
        if self.skipped >= MOST_SKIPPED {
            return Ok(false);
        }
        // Of a format without fields a document and its address are all that can be seen.
        let headers = matches!(format, Format::Warc | Format::Arc);
        Ok(has_fields(format) || headers || self.address || !self.has_document())
    }

    /// All records have been seen.
    fn end(&self) -> Result<(), CorpusError> {
        if self.done() || self.losses.records == 0 || self.skipped >= MOST_SKIPPED {
            return Ok(());
        }
        if !self.document_fields.is_empty() || !self.extras.is_empty() || self.address {
            return Err(self.missing_field());
        }
        Err(self.all_rejected())
    }

    /// The error about records that are all rejected.
    fn all_rejected(&self) -> CorpusError {
        let Fields { text, html, .. } = &self.options.fields;
        if self.with_fields > 0 && !self.names.is_empty() && !self.names.has(text) && !self.names.has(html) {
            return self.no_field(&format!("{text:?} or {html:?}"), text);
        }
        match self.losses.check(&self.first, self.options.max_rejected) {
            Err(error) => error,
            // A number of records was allowed that is larger than all.
            Ok(()) => {
                let why = self.losses.reasons().first().map_or_else(String::new, ToString::to_string);
                let Losses { records, rejected, .. } = self.losses;
                let most = self.options.max_rejected;
                CorpusError::TooManyRejected { side: self.first.clone(), records, rejected, most, why }
            }
        }
    }

    /// The error about the first field that was not seen.
    fn missing_field(&self) -> CorpusError {
        let extra = self.extras.first().map(|&extra| self.options.extras[extra].as_str());
        match self.document_fields.first().copied().or(extra) {
            Some(name) => self.no_field(&format!("{name:?}"), name),
            None => {
                let url = &self.options.fields.url;
                self.no_field(&format!("{url:?} with an address"), url)
            }
        }
    }

    fn no_field(&self, wanted: &str, name: &str) -> CorpusError {
        let there = match self.names.is_empty() {
            true => format!(
                "{} is {}, whose records have no fields by name",
                self.first,
                self.format.map_or_else(String::new, |format| format.to_string())
            ),
            false => self.names.to_string(),
        };
        let near = self.names.near(name).map_or_else(String::new, |near| format!("; did you mean {near}?"));
        let records = self.losses.records.min(FIRST_RECORDS);
        CorpusError::NoSuchField { name: self.first.clone(), records, wanted: wanted.to_owned(), there, near }
    }
}

/// True for formats whose documents are made of fields or columns that can be named.
fn has_fields(format: Format) -> bool {
    matches!(format, Format::Jsonl | Format::Csv | Format::Tsv | Format::Parquet | Format::Table)
}

/// Names of fields that records have, in the order in which they were met.
#[derive(Default)]
pub(crate) struct FieldNames {
    order: Vec<String>,
    known: BTreeSet<String>,
}

impl FieldNames {
    pub(crate) fn add(&mut self, name: &str) {
        if self.order.len() < MOST_NAMES && !self.known.contains(name) {
            self.known.insert(name.to_owned());
            self.order.push(name.to_owned());
        }
    }

    /// Adds the names in a JSON object, those inside other objects with dots between; what is no object has none.
    pub(crate) fn add_object(&mut self, json: &[u8]) {
        // What came before a mistake is known all the same.
        let seed = NamesSeed { names: self, path: String::new(), depth: 0 };
        let _ = seed.deserialize(&mut serde_json::Deserializer::from_slice(json));
    }

    fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    fn has(&self, name: &str) -> bool {
        self.known.contains(name)
    }

    /// The name that somebody may have meant.
    fn near(&self, name: &str) -> Option<&str> {
        let plain = |name: &str| name.to_lowercase().replace(['-', '_', '.', ' '], "");
        let wanted = plain(name);
        let most = wanted.chars().count() / 3;
        // A field inside others may be named without them; one that is near with all of its name comes first.
        let distance = |known: &String| {
            let whole = strsim::osa_distance(&wanted, &plain(known));
            let last =
                known.rsplit('.').next().map_or(whole, |last| strsim::osa_distance(&wanted, &plain(last)));
            (whole.min(last), whole)
        };
        let near = self.order.iter().map(|known| (distance(known), known));
        let near =
            near.filter(|((nearest, _), _)| *nearest <= most.max(1)).min_by_key(|(distance, _)| *distance);
        near.map(|(_, known)| known.as_str())
    }
}

impl fmt::Display for FieldNames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown: Vec<&str> = self.order.iter().take(MOST_SHOWN).map(String::as_str).collect();
        write!(f, "there are {}", shown.join(", "))?;
        match self.order.len().saturating_sub(MOST_SHOWN) {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}

/// Reads a value for the names of its fields.
struct NamesSeed<'n> {
    names: &'n mut FieldNames,
    path: String,
    depth: usize,
}

impl<'de> DeserializeSeed<'de> for NamesSeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        if self.depth == DEPTH {
            return IgnoredAny::deserialize(deserializer).map(drop);
        }
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for NamesSeed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            let path = if self.path.is_empty() { key } else { format!("{}.{key}", self.path) };
            self.names.add(&path);
            map.next_value_seed(NamesSeed { names: self.names, path, depth: self.depth + 1 })?;
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MaxRejected;

    fn check(name: &str, content: &str, options: ReadOptions) -> Result<(), String> {
        let corpus = Corpus::in_memory(name, content.as_bytes().into(), options);
        corpus.check_first_records(false).map_err(|error| error.to_string())
    }

    fn options_with(fields: Fields, extras: &[&str]) -> ReadOptions {
        let extras = extras.iter().map(|name| (*name).to_owned()).collect();
        ReadOptions { fields, extras, ..ReadOptions::default() }
    }

    fn text_field(text: &str) -> Fields {
        Fields { text: text.to_owned(), ..Fields::default() }
    }

    #[test]
    fn a_field_that_no_record_has_is_told_with_those_that_are_there() {
        let line = "{\"id\":\"a\",\"lang\":\"en\",\"m\":{\"date\":1},\"text\":\"t\"}\n";
        let said = check("a.jsonl", line, options_with(Fields::default(), &["lnag"])).unwrap_err();
        let wanted = "no record of the first 1 in a.jsonl has a field \"lnag\"; there are id, lang, m, m.date, text; \
                      did you mean lang?";
        assert_eq!(said, wanted);
        for (extra, near) in [("date", "m.date"), ("LANG", "lang"), ("txet", "text"), ("daten", "m.date")] {
            let said = check("a.jsonl", line, options_with(Fields::default(), &[extra])).unwrap_err();
            assert!(said.ends_with(&format!("did you mean {near}?")), "{said}");
        }
        let said = check("a.jsonl", line, options_with(Fields::default(), &["whatever"])).unwrap_err();
        assert!(said.ends_with("there are id, lang, m, m.date, text"), "{said}");
        assert_eq!(
            check("a.jsonl", line, options_with(Fields::default(), &["lang", "m.date", "id"])),
            Ok(())
        );
    }

    #[test]
    fn fields_that_make_the_document_are_looked_for_when_they_were_named() {
        let line = "{\"key\":\"a\",\"body\":\"t\"}\n";
        assert_eq!(check("a.jsonl", line, options_with(text_field("body"), &[])), Ok(()));
        let said = check("a.jsonl", line, options_with(text_field("bodi"), &[])).unwrap_err();
        assert!(said.contains("has a field \"bodi\"; there are key, body; did you mean body?"), "{said}");
        // By their usual names they need not be there, but for the text.
        let said = check("a.jsonl", line, options_with(Fields::default(), &[])).unwrap_err();
        assert!(said.contains("has a field \"text\" or \"html\"; there are key, body"), "{said}");
        let everything = ReadOptions { max_rejected: MaxRejected::EVERYTHING, ..ReadOptions::default() };
        assert_eq!(check("a.jsonl", line, everything), Ok(()));
        // A field that was named is there: the check ends, whatever becomes of its record.
        let named = ReadOptions {
            max_rejected: MaxRejected::EVERYTHING,
            ..options_with(Fields::default(), &["key"])
        };
        assert_eq!(check("a.jsonl", line, named), Ok(()));
    }

    #[test]
    fn columns_and_formats_without_fields_are_looked_at_too() {
        let id = Fields { id: "kye".to_owned(), ..Fields::default() };
        let said = check("a.csv", "key,text\n1,one\n", options_with(id.clone(), &[])).unwrap_err();
        assert!(said.ends_with("there are key, text; did you mean key?"), "{said}");
        let said = check("a.txt", "one two", options_with(id, &[])).unwrap_err();
        assert!(said.ends_with("a.txt is text, whose records have no fields by name"), "{said}");
        let warc = "WARC/1.0\r\nWARC-Type: conversion\r\nContent-Length: 3\r\n\r\none\r\n\r\n";
        assert_eq!(check("a.warc", warc, options_with(Fields::default(), &["warc-type"])), Ok(()));
        let said = check("a.warc", warc, options_with(Fields::default(), &["WARC-Tipe"])).unwrap_err();
        assert!(said.ends_with("did you mean WARC-Type?"), "{said}");
    }

    #[test]
    fn a_field_may_come_late_but_not_too_late() {
        let plain = "{\"text\":\"t\"}\n";
        let late = "{\"text\":\"t\",\"lang\":\"en\"}\n";
        let options = || options_with(Fields::default(), &["lang"]);
        let lines = |before: usize| plain.repeat(before) + late;
        assert_eq!(check("a.jsonl", &lines(999), options()), Ok(()));
        assert!(check("a.jsonl", &lines(1000), options()).is_err());
        // What has no value has a field all the same.
        let null = "{\"text\":\"t\",\"lang\":null}\n";
        assert_eq!(check("a.jsonl", null, options()), Ok(()));
    }

    #[test]
    fn records_that_are_all_rejected_are_an_error_with_the_reason() {
        let broken = "{\n  \"text\": \"t\"\n}\n";
        let said = check("a.jsonl", broken, ReadOptions::default()).unwrap_err();
        assert!(said.starts_with("3 of 3 records of a.jsonl were rejected"), "{said}");
        assert!(said.contains("looks like pretty-printed JSON"), "{said}");
        let many = "{\n".repeat(20_000);
        let said = check("a.jsonl", &many, ReadOptions::default()).unwrap_err();
        assert!(said.starts_with("10000 of 10000 records"), "{said}");
        let saved = "{\n".repeat(9999) + "{\"text\":\"t\"}\n" + &many;
        assert_eq!(check("a.jsonl", &saved, ReadOptions::default()), Ok(()));
        assert_eq!(check("a.jsonl", "", ReadOptions::default()), Ok(()));
    }

    #[test]
    fn addresses_are_looked_for_where_they_are_needed() {
        let check_addresses = |content: &str| {
            let corpus = Corpus::in_memory("a.jsonl", content.as_bytes().into(), ReadOptions::default());
            corpus.check_first_records(true).map_err(|error| error.to_string())
        };
        assert_eq!(check_addresses("{\"text\":\"t\"}\n{\"text\":\"t\",\"url\":\"http://a/\"}\n"), Ok(()));
        let said = check_addresses("{\"text\":\"t\",\"link\":\"http://a/\"}\n").unwrap_err();
        assert!(said.contains("has a field \"url\" with an address; there are text, link"), "{said}");
    }
}
