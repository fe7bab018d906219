//! Keywords become recipes and settings, by the same rules as the options of the command line.

use std::collections::BTreeMap;
use std::path::PathBuf;

use lookalike::corpus::{Fields, MaxRejected, ReadOptions};
use lookalike::engine::recipe::{ClusterRule, Combine, Keep};
use lookalike::engine::{Settings, Shards, Spool};
use lookalike::index::WriterOptions;
use lookalike::presets::{GivenOptions, Preset};
use lookalike::request::{self, DocumentOptions, MatchingOptions};
use lookalike::text::extract::ContentMode;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};

use crate::errors::Failure;

/// The keywords of a call. What is None is as it is by default.
#[derive(FromPyObject)]
#[pyo3(transparent)]
pub(crate) struct Options<'py>(Bound<'py, PyDict>);

impl<'py> Options<'py> {
    fn get(&self, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        Ok(self.0.get_item(name)?.filter(|value| !value.is_none()))
    }

    /// A value as it would be typed.
    fn typed(&self, name: &str) -> PyResult<Option<String>> {
        self.get(name)?.map(|value| typed(name, &value)).transpose()
    }

    /// A value that is read as the command line reads it.
    fn read<T>(&self, name: &str, read: impl FnOnce(&str) -> Result<T, String>) -> PyResult<Option<T>> {
        let Some(text) = self.typed(name)? else { return Ok(None) };
        let wrong = |why| Failure::Usage(format!("invalid value '{text}' for '{name}': {why}"));
        Ok(Some(read(&text).map_err(wrong)?))
    }

    /// One of a few words.
    fn word<T: Copy>(&self, name: &str, words: &[(&str, T)]) -> PyResult<Option<T>> {
        self.read(name, |text| {
            words.iter().find(|(word, _)| *word == text).map(|(_, value)| *value).ok_or_else(|| {
                let all: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
                format!("possible values: {}", all.join(", "))
            })
        })
    }

    fn flag(&self, name: &str) -> PyResult<bool> {
        let Some(value) = self.get(name)? else { return Ok(false) };
        match value.cast::<PyBool>() {
            Ok(flag) => Ok(flag.is_true()),
            Err(_) => Err(wrong_type(name, "True or False", &value)),
        }
    }

    /// A path.
    pub(crate) fn path(&self, name: &str) -> PyResult<Option<PathBuf>> {
        let Some(value) = self.get(name)? else { return Ok(None) };
        value.extract().map(Some).map_err(|_| wrong_type(name, "a path", &value))
    }

    /// One word, or several.
    fn words(&self, name: &str) -> PyResult<Option<Vec<String>>> {
        let Some(value) = self.get(name)? else { return Ok(None) };
        if !(value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>()) {
            return Ok(Some(vec![typed(name, &value)?]));
        }
        let all = value.try_iter()?.map(|value| typed(name, &value?)).collect::<PyResult<Vec<_>>>()?;
        if all.is_empty() {
            return Err(
                Failure::Usage(format!("'{name}' is empty; name one or more, or leave it out")).into()
            );
        }
        Ok(Some(all))
    }

    /// Reads the options of matching.
    pub(crate) fn matching(&self) -> PyResult<MatchingOptions> {
        let other = MatchingOptions::default();
        let mut matching = MatchingOptions {
            methods: self.words("method")?.unwrap_or(other.methods),
            combine: self
                .word("combine", &[("any", Combine::Any), ("all", Combine::All)])?
                .unwrap_or(other.combine),
            filter: self.typed("filter")?,
            lexicon: self.path("lexicon")?,
            similarity: self.read("similarity", str::parse)?.unwrap_or(other.similarity),
            shingle: self.read("shingle", request::positive)?.unwrap_or(other.shingle),
            threshold: self.read("threshold", str::parse)?.unwrap_or(other.threshold),
            recall: self.read("recall", request::recall)?.unwrap_or(other.recall),
            unverified: self.flag("unverified")?,
            within: self.typed("within")?,
            max_group: self.read("max_group", request::positive)?,
            seed: self.read("seed", whole)?.unwrap_or(other.seed),
            recipe: self.path("recipe")?,
        };
        if let Some(preset) = self.preset()? {
            preset.fill_matching(&self.given()?, &mut matching);
        }
        Ok(matching)
    }

    /// The preset, which decides about options that were not given.
    fn preset(&self) -> PyResult<Option<&'static Preset>> {
        self.read("preset", Preset::named)
    }

    /// The names of all keywords with a value: where there is a preset, Python leaves None in those that were not given.
    fn given(&self) -> PyResult<GivenOptions> {
        let names = self.0.iter().filter(|(_, value)| !value.is_none());
        names.map(|(name, _)| name.extract()).collect()
    }

    /// Reads the options of reading documents.
    pub(crate) fn documents(&self) -> PyResult<DocumentOptions> {
        let other = ReadOptions::default();
        let reading = ReadOptions {
            fields: Fields {
                id: self.typed("id")?.unwrap_or(other.fields.id),
                text: self.typed("text")?.unwrap_or(other.fields.text),
                html: self.typed("html")?.unwrap_or(other.fields.html),
                url: self.typed("url")?.unwrap_or(other.fields.url),
            },
            max_document_bytes: self
                .read("max_document_bytes", request::document_size)?
                .unwrap_or(other.max_document_bytes),
            revisions: self.flag("revisions")?,
            namespaces: self.read("namespaces", request::namespaces)?.unwrap_or(other.namespaces),
            format: self.read("input_format", request::format)?,
            ..ReadOptions::default()
        };
        let contents =
            [("page", ContentMode::Page), ("main", ContentMode::Main), ("email", ContentMode::Email)];
        let mut documents = DocumentOptions { reading, ..DocumentOptions::default() };
        if let Some(content) = self.word("content", &contents)? {
            documents.content = Some(content);
        }
        if let Some(profile) = self.read("profile", request::profile)? {
            documents.profile = profile;
        }
        if let Some(preset) = self.preset()? {
            preset.fill_documents(&self.given()?, &mut documents);
        }
        Ok(documents)
    }

    /// Reading as a recipe says, with the losses that may be, files that may be left out, and the memory for the list of files.
    pub(crate) fn reading(&self, read: ReadOptions) -> PyResult<ReadOptions> {
        let max_rejected = self.max_rejected()?.unwrap_or(read.max_rejected);
        let (lists, skip_unreadable) =
            (self.settings()?.list_budget(read.max_document_bytes as u64), self.flag("skip_unreadable")?);
        Ok(ReadOptions { max_rejected, lists, skip_unreadable, ..read })
    }

    /// The number of records that may be rejected.
    pub(crate) fn max_rejected(&self) -> PyResult<Option<MaxRejected>> {
        self.read("max_rejected", str::parse)
    }

    /// Names of fields by the names of others.
    pub(crate) fn names(&self, name: &str) -> PyResult<BTreeMap<String, String>> {
        let Some(value) = self.get(name)? else { return Ok(BTreeMap::new()) };
        value.extract().map_err(|_| wrong_type(name, "a dict of names by names", &value))
    }

    /// Reads the rule that chooses the kept document, and the rule that forms clusters from pairs.
    pub(crate) fn keeping(&self) -> PyResult<(Keep, ClusterRule)> {
        let rules = [("star", ClusterRule::Star), ("components", ClusterRule::Components)];
        let keep = self.read("keep", str::parse)?.unwrap_or(Keep::First);
        Ok((keep, self.word("cluster", &rules)?.unwrap_or(ClusterRule::Star)))
    }

    /// Reads the choice of shard copies, and the flag that annotates kept records.
    pub(crate) fn copies(&self) -> PyResult<(Shards, bool)> {
        let all = [("none", Shards::None), ("kept", Shards::Kept), ("removed", Shards::Removed)];
        Ok((self.word("write", &all)?.unwrap_or_default(), self.flag("annotate")?))
    }

    /// Returns true if pairs below the threshold are wanted, too.
    pub(crate) fn all(&self) -> PyResult<bool> {
        self.flag("all")
    }

    /// Reads the threads, memory and spool of a job.
    pub(crate) fn settings(&self) -> PyResult<Settings> {
        let spools = [("auto", Spool::Auto), ("disk", Spool::Disk), ("none", Spool::None)];
        let spool = self.word("spool", &spools)?.unwrap_or_default();
        let threads = self.read("threads", request::positive)?;
        Ok(request::settings(threads, self.read("memory", request::size)?, spool))
    }

    /// Reads the options of writing to an index.
    pub(crate) fn writing(&self) -> PyResult<WriterOptions> {
        let tail = self.read("tail", request::size)?.map(|bytes| bytes as usize);
        let other = WriterOptions::default();
        Ok(WriterOptions { sync: self.flag("sync")?, tail_bytes: tail.unwrap_or(other.tail_bytes) })
    }

    /// The progress callback.
    pub(crate) fn progress(&self) -> PyResult<Option<Bound<'py, PyAny>>> {
        match self.get("progress")? {
            Some(value) if !value.is_callable() => {
                Err(wrong_type("progress", "a function of stage, done and total", &value))
            }
            value => Ok(value),
        }
    }

    /// Returns true if a document replaces one with its id.
    pub(crate) fn replaces(&self) -> PyResult<bool> {
        self.flag("replace")
    }

    /// Returns true if an index keeps texts.
    pub(crate) fn keeps_text(&self) -> PyResult<bool> {
        Ok(!self.flag("no_text")?)
    }

    /// Returns the most near-duplicates to list for a document; 10 by default.
    pub(crate) fn limit(&self) -> PyResult<usize> {
        Ok(self.read("limit", whole)?.map_or(10, |limit| limit as usize))
    }
}

fn typed(name: &str, value: &Bound<'_, PyAny>) -> PyResult<String> {
    let number = value.is_instance_of::<PyFloat>() || value.is_instance_of::<PyInt>();
    match value.is_instance_of::<PyString>() || (number && !value.is_instance_of::<PyBool>()) {
        true => Ok(value.str()?.to_str()?.to_owned()),
        false => Err(wrong_type(name, "str or a number", value)),
    }
}

fn wrong_type(name: &str, wanted: &str, value: &Bound<'_, PyAny>) -> PyErr {
    let kind = value.get_type().name().map_or_else(|_| "something else".to_owned(), |name| name.to_string());
    Failure::Type(format!("'{name}' is {wanted}, and not of type {kind}")).into()
}

fn whole(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| "a whole number such as 100 is wanted".to_owned())
}
