//! Groups: which documents are near-duplicates of each other.
//!
//! Groups come as JSON lines of any of these, also mixed:
//!
//! | line | from |
//! |---|---|
//! | `{"cluster":7,"keep":"a","members":["a","b"]}` | `clusters.jsonl` of a job |
//! | `{"a":"a","b":"b","similarity":0.95}` | `lookalike pairs` |
//! | `{"documents":2,"equal":true,"members":["a","b"]}` | `groups.jsonl` of `lookalike pairs`, for groups too large to be written as pairs |
//! | `{"hash":"14000","ids":["a","b"]}` | published groups; an id may also be an object with `id` in it |
//!
//! A group that is not `equal` was never measured: its documents merely share a key, and it is passed over.
//!
//! Groups that share a document are one, and so pairs make groups by what hangs together: two documents may be in one
//! group because each is similar to a third. Only documents that somebody asks about are held, so that a list of the
//! groups of a whole web costs no more than those; pairs therefore hang together through such documents alone.

use std::io::BufRead;

use serde::Deserialize;

use crate::error::{LineError, ListError};
use crate::judgments::distinct;
use crate::numbered_lines::NumberedLines;

/// One line holds a cluster, which can be most of a corpus.
const MAX_LINE_BYTES: usize = 1 << 30;

/// Documents in groups.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Groups {
    /// Documents in ascending order, each with the number of its group.
    members: Vec<(Box<str>, u32)>,
    count: u32,
}

impl Groups {
    /// Groups as they are listed; those that share a document are one.
    pub fn of<'d, G: AsRef<[&'d str]>>(groups: impl AsRef<[G]>) -> Self {
        let groups = groups.as_ref();
        let mut grouping =
            GroupBuilder::among(groups.iter().flat_map(|group| group.as_ref().iter().copied()));
        groups.iter().for_each(|group| grouping.join(group.as_ref().iter().copied()));
        grouping.finish()
    }

    /// The group of a document; none when it has no near-duplicates.
    pub fn group(&self, document: &str) -> Option<u32> {
        let place = self.members.binary_search_by(|(member, _)| (**member).cmp(document)).ok()?;
        Some(self.members[place].1)
    }

    /// Returns the number of groups.
    pub fn len(&self) -> u64 {
        self.count.into()
    }

    /// True when there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns the number of documents in them.
    pub fn documents(&self) -> u64 {
        self.members.len() as u64
    }
}

/// Builds groups, as disjoint sets.
#[derive(Debug)]
pub struct GroupBuilder {
    /// The documents that somebody asks about, ascending.
    documents: Vec<Box<str>>,
    /// The parent of each in its group's tree: one that comes before it, or itself for the root.
    parents: Vec<u32>,
}

impl GroupBuilder {
    /// Begins groups of these documents; others will not be held.
    pub fn among<'d>(documents: impl IntoIterator<Item = &'d str>) -> Self {
        let documents = distinct(documents.into_iter().collect());
        let documents: Vec<Box<str>> = documents.into_iter().map(Box::from).collect();
        let parents = (0..documents.len() as u32).collect();
        GroupBuilder { documents, parents }
    }

    /// Adds a group of documents that are near-duplicates.
    pub fn join<'d>(&mut self, documents: impl IntoIterator<Item = &'d str>) {
        let mut first = None;
        for document in documents {
            let Some(number) = self.number(document) else { continue };
            let first = *first.get_or_insert(number);
            let (a, b) = (self.find_root(first), self.find_root(number));
            // The first document of a group stands for it, whatever is joined in which order.
            self.parents[a.max(b) as usize] = a.min(b);
        }
    }

    /// Adds all groups of a file of JSON lines, uncompressed; `name` stands in errors. Returns how many lines had one.
    ///
    /// # Errors
    /// At the first line that is no group.
    pub fn read(&mut self, name: &str, from: impl BufRead) -> Result<u64, ListError> {
        let mut lines = NumberedLines::with_max_length(MAX_LINE_BYTES, name, from);
        let mut count = 0;
        while let Some(line) = lines.next() {
            let (number, text) = line?;
            if text.trim_ascii().is_empty() {
                continue;
            }
            let line = serde_json::from_str::<GroupLine<'_>>(text);
            let error = if line.as_ref().is_err_and(|error| !error.is_data()) {
                LineError::NoJson
            } else {
                LineError::NoGroup
            };
            let is_unmeasured = line.as_ref().is_ok_and(|line| line.equal == Some(false));
            match line.ok().and_then(GroupLine::documents) {
                Some(documents) => self.join(documents.iter().map(Id::text)),
                None if is_unmeasured => {}
                None => return Err(lines.line_error(number, error)),
            }
            count += 1;
        }
        Ok(count)
    }

    /// The groups: those with two or more documents, numbered by the first of each.
    pub fn finish(mut self) -> Groups {
        let roots: Vec<u32> = (0..self.parents.len() as u32).map(|number| self.find_root(number)).collect();
        let mut sizes = vec![0u32; roots.len()];
        roots.iter().for_each(|&root| sizes[root as usize] += 1);
        let mut count = 0;
        let mut numbers = vec![None; roots.len()];
        for (number, &size) in numbers.iter_mut().zip(&sizes) {
            if size > 1 {
                *number = Some(count);
                count += 1;
            }
        }
        let grouped = self.documents.into_iter().zip(roots);
        let members =
            grouped.filter_map(|(document, root)| Some((document, numbers[root as usize]?))).collect();
        Groups { members, count }
    }

    /// The number of a document, unless nobody asks about it.
    fn number(&self, document: &str) -> Option<u32> {
        self.documents.binary_search_by(|one| (**one).cmp(document)).ok().map(|place| place as u32)
    }

    /// The root of a document's group, with path halving.
    fn find_root(&mut self, mut number: u32) -> u32 {
        while self.parents[number as usize] != number {
            let parent = self.parents[number as usize];
            self.parents[number as usize] = self.parents[parent as usize];
            number = parent;
        }
        number
    }
}

/// A line of any kind.
#[derive(Deserialize)]
struct GroupLine<'l> {
    #[serde(borrow)]
    members: Option<Vec<Id<'l>>>,
    ids: Option<Vec<Id<'l>>>,
    equal: Option<bool>,
    a: Option<Id<'l>>,
    b: Option<Id<'l>>,
}

impl<'l> GroupLine<'l> {
    fn documents(self) -> Option<Vec<Id<'l>>> {
        match (self.members.or(self.ids), self.a, self.b) {
            _ if self.equal == Some(false) => None,
            (Some(documents), ..) => Some(documents),
            (None, Some(a), Some(b)) => Some(vec![a, b]),
            _ => None,
        }
    }
}

/// An id, or an object that has one.
#[derive(Deserialize)]
#[serde(untagged)]
enum Id<'l> {
    #[serde(borrow)]
    Borrowed(&'l str),
    Owned(String),
    Inside {
        id: String,
    },
}

impl Id<'_> {
    fn text(&self) -> &str {
        match self {
            Id::Borrowed(id) => id,
            Id::Owned(id) | Id::Inside { id } => id,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> Result<Groups, ListError> {
        let documents = ["a", "b", "c", "d", "e", "f\u{e4}", "g", "h", "alone", "1", "2", "3", "4"];
        let mut grouping = GroupBuilder::among(documents);
        grouping.read("groups.jsonl", text.as_bytes())?;
        Ok(grouping.finish())
    }

    #[test]
    fn every_kind_of_line_is_read() {
        let lines = r#"{"cluster":7,"keep":"a","members":["a","b"],"members_n":[7,9]}
{"a":"c","b":"d","similarity":0.95}

{"hash":"14000","ids":["e","f\u00e4"]}
{"hash":3,"ids":[{"id":"g","canonicalId":"x"},{"id":"h","canonicalId":"x"}]}
{"hash":3,"ids":["alone"]}"#;
        let groups = read(lines).unwrap();
        assert_eq!((groups.len(), groups.documents()), (4, 8));
        for (one, other) in [("a", "b"), ("c", "d"), ("e", "f\u{e4}"), ("g", "h")] {
            assert!(groups.group(one).is_some() && groups.group(one) == groups.group(other));
        }
        assert_eq!((groups.group("a"), groups.group("g")), (Some(0), Some(3)));
        assert_eq!((groups.group("alone"), groups.group("x")), (None, None));
    }

    #[test]
    fn what_was_not_measured_is_no_group() {
        let groups =
            read("{\"equal\":false,\"members\":[\"a\",\"b\"]}\n{\"equal\":true,\"members\":[\"c\",\"d\"]}\n");
        assert_eq!(groups.unwrap().documents(), 2);
    }

    #[test]
    fn what_shares_a_document_hangs_together() {
        let groups =
            read("{\"a\":\"1\",\"b\":\"2\"}\n{\"a\":\"3\",\"b\":\"4\"}\n{\"a\":\"4\",\"b\":\"2\"}\n")
                .unwrap();
        assert_eq!((groups.len(), groups.documents()), (1, 4));
    }

    #[test]
    fn only_what_is_asked_about_is_held() {
        let mut grouping = GroupBuilder::among(["b", "c", "x", "y", "z"]);
        grouping.join(["a", "b", "c"]);
        // Through a document that nobody asks about, nothing hangs together.
        grouping.join(["x", "a"]);
        grouping.join(["y", "n"]);
        let groups = grouping.finish();
        assert_eq!((groups.len(), groups.documents()), (1, 2));
        assert_eq!(groups.group("x"), None);
    }

    #[test]
    fn mistakes_have_their_place() {
        let message = |text: &str| read(text).unwrap_err().to_string();
        assert!(
            message("{\"ids\":[\"a\"]}\n{\"text\":1}\n").starts_with("groups.jsonl, line 2: it is no group")
        );
        assert!(message("51 0 a 1\n").starts_with("groups.jsonl, line 1: it is no group of documents;"));
        assert!(message("{\"a\":\"x\"}").starts_with("groups.jsonl, line 1: it is no group of documents;"));
        assert!(message("{\"ids\":[7]}").starts_with("groups.jsonl, line 1: it is no group of documents;"));
        assert!(message("{\"ids\":").starts_with("groups.jsonl, line 1: it is no JSON;"));
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = GroupBuilder::among(["a"]).read("g", bytes.as_slice());
        }

        /// Held against going over all groups again and again until nothing joins any more.
        #[test]
        fn groups_are_what_hangs_together(lists in prop::collection::vec(prop::collection::vec(0usize..12, 0..4), 0..12)) {
            let name = |number: &usize| format!("d{number}");
            let lists: Vec<Vec<String>> = lists.iter().map(|list| list.iter().map(name).collect()).collect();
            let mut plain: Vec<Vec<&str>> = lists.iter().map(|list| list.iter().map(String::as_str).collect()).collect();
            let groups = Groups::of(&plain);
            while let Some((one, other)) = (0..plain.len())
                .flat_map(|one| (one + 1..plain.len()).map(move |other| (one, other)))
                .find(|&(one, other)| plain[one].iter().any(|document| plain[other].contains(document)))
            {
                let joined = plain.remove(other);
                plain[one].extend(joined);
            }
            for group in &mut plain {
                group.sort_unstable();
                group.dedup();
            }
            plain.retain(|group| group.len() > 1);
            prop_assert_eq!(groups.len(), plain.len() as u64);
            prop_assert_eq!(groups.documents(), plain.iter().map(|group| group.len() as u64).sum::<u64>());
            for group in &plain {
                let number = groups.group(group[0]);
                prop_assert!(number.is_some() && group.iter().all(|document| groups.group(document) == number));
            }
        }
    }
}
