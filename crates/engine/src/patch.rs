//! Patches: a corpus without the documents that a list names.
//!
//! A list is `removed.jsonl` of a job, any JSON lines with `id` or `n`, or plain lines with an id each. It is held as digests,
//! 16 bytes per document, 40 by number. All shards are read once to find the listed documents, and once more to be copied; the
//! copies are those that a job writes for what it keeps.
//!
//! ```
//! use lookalike_engine::patch::{ListKey, Patch};
//!
//! let list = "{\"id\":\"b\",\"witness\":\"a\",\"n\":1}\nc\n";
//! let patch = Patch::read("removed.jsonl", list.as_bytes(), ListKey::Id)?;
//! assert_eq!(patch.len(), 2);
//! # Ok::<(), lookalike_engine::EngineError>(())
//! ```

use std::io::BufRead;
use std::path::Path;
use std::sync::atomic::Ordering;

use lookalike_corpus::write::shard::Note;
use lookalike_corpus::{Corpus, Format, Item, Shard};
use lookalike_hash as hash;
use lookalike_model::Rejection;
use lookalike_text::extract::ContentMode;
use serde::Deserialize;

use crate::copies::{Copies, RecordFilter, Source};
use crate::error::EngineError;
use crate::walk::{WalkError, Watch};

/// The key by which a list names its documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListKey {
    /// Its id, `id` in the list: all documents that bear it go.
    Id,
    /// Its ordinal, `n` in the list: the input must be the one that the list was made from.
    Number,
}

/// A list of documents that go.
#[derive(Debug, Clone)]
pub struct Patch {
    by: ListKey,
    /// Digests of ids, ascending, each once.
    ids: Vec<u128>,
    /// Ordinals, ascending, each once, with the digest of the id that the list has for it.
    numbers: Vec<(u32, Option<u128>)>,
    /// Every line has an ordinal.
    has_numbers: bool,
}

/// A line of the list.
#[derive(Deserialize)]
struct ListLine {
    id: Option<String>,
    n: Option<u64>,
}

/// Longer lines are none of a list.
const LONGEST_LINE: u64 = 1 << 20;

impl Patch {
    /// Reads a list, uncompressed; `name` stands in errors.
    ///
    /// # Errors
    /// At the first line that does not say which document is meant.
    pub fn read(name: &str, mut from: impl BufRead, by: ListKey) -> Result<Self, EngineError> {
        let mut patch = Patch { by, ids: Vec::new(), numbers: Vec::new(), has_numbers: true };
        let (mut line, mut number) = (Vec::new(), 0);
        loop {
            line.clear();
            number += 1;
            let wrong =
                |what: &str| EngineError::List { name: name.to_owned(), line: number, what: what.to_owned() };
            let read = std::io::Read::take(&mut from, LONGEST_LINE).read_until(b'\n', &mut line);
            if read.map_err(|error| wrong(&format!("it cannot be read: {error}")))? == 0 {
                break;
            }
            let text = std::str::from_utf8(&line).map_err(|_| wrong("it is not UTF-8; convert the list"))?;
            let text = text.strip_prefix('\u{feff}').unwrap_or(text).trim();
            if text.is_empty() {
                continue;
            }
            if line.len() as u64 == LONGEST_LINE {
                return Err(wrong("it is too long for a line of a list; name a list of documents"));
            }
            patch.add(text).map_err(wrong)?;
        }
        patch.ids.sort_unstable();
        patch.ids.dedup();
        patch.numbers.sort_unstable();
        // A number without an id comes before the same with one, and says no more.
        patch.numbers.dedup_by(|later, earlier| {
            let same = later.0 == earlier.0 && (earlier.1.is_none() || earlier.1 == later.1);
            if same {
                earlier.1 = later.1;
            }
            same
        });
        Ok(patch)
    }

    fn add(&mut self, text: &str) -> Result<(), &'static str> {
        let listed = match text.starts_with('{') {
            true => serde_json::from_str(text).map_err(|_| "it is no JSON with id or n; correct it")?,
            false => ListLine { id: Some(text.to_owned()), n: None },
        };
        let digest = listed.id.as_ref().map(|id| hash::digest(id.as_bytes()));
        self.has_numbers &= listed.n.is_some();
        match (self.by, digest, listed.n) {
            (ListKey::Id, None, _) => Err("it has no id; give a list that has, or --by n"),
            (ListKey::Number, _, None) => Err("it has no n; give a list that has, or --by id"),
            (ListKey::Id, Some(digest), _) => {
                self.ids.push(digest);
                Ok(())
            }
            (ListKey::Number, digest, Some(n)) => {
                let n = u32::try_from(n).map_err(|_| "its n is larger than any document's; correct it")?;
                self.ids.extend(digest);
                self.numbers.push((n, digest));
                Ok(())
            }
        }
    }

    /// Returns the number of listed documents.
    pub fn len(&self) -> u64 {
        match self.by {
            ListKey::Id => self.ids.len() as u64,
            ListKey::Number => self.numbers.len() as u64,
        }
    }

    /// True when none are.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// True when every line has an ordinal, too.
    pub fn has_numbers(&self) -> bool {
        self.has_numbers && !self.is_empty()
    }

    /// The list in one word, whatever its order.
    pub fn digest(&self) -> String {
        let parts = format!("{:?} {:?} {:?}", self.by, self.ids, self.numbers);
        format!("{:032x}", hash::digest(parts.as_bytes()))
    }

    /// Finds the listed documents of a shard; hands out what cannot be read.
    pub fn scan(
        &self,
        shard: &Shard,
        corpus: &Corpus,
        watch: &Watch,
        mut reject: impl FnMut(&Rejection) -> Result<(), WalkError>,
    ) -> Result<ShardScan, WalkError> {
        shard.check()?;
        let mut reader = shard.open(corpus.options())?;
        let mut scan =
            ShardScan { format: reader.format(), records: 0, rejected: 0, digest: None, hits: Vec::new() };
        let mut read = 0;
        loop {
            watch.check()?;
            let consumed = reader.consumed();
            watch.bytes.fetch_add(consumed.saturating_sub(read), Ordering::Relaxed);
            read = consumed;
            match reader.next()? {
                None => return Ok(ShardScan { digest: reader.digest(), ..scan }),
                Some(Item::Skipped(_)) => {}
                Some(Item::Rejected(rejection)) => {
                    scan.records += 1;
                    scan.rejected += 1;
                    reject(&rejection)?;
                }
                Some(Item::Document(document)) => {
                    scan.records += 1;
                    watch.documents.fetch_add(1, Ordering::Relaxed);
                    let digest = hash::digest(document.id.as_bytes());
                    if let Ok(place) = self.ids.binary_search(&digest) {
                        scan.hits.push((document.place.record as u32, place as u32));
                    }
                }
            }
        }
    }

    /// Decides which documents go, from what was found in all shards, in their order.
    ///
    /// # Errors
    /// By number, when a document has another id than the list says: the input is another one.
    pub fn plan(&self, scans: &[ShardScan]) -> Result<PatchPlan, EngineError> {
        let mut plan =
            PatchPlan { shards: Vec::new(), counts: Counts { listed: self.len(), ..Counts::default() } };
        let mut found = vec![false; self.ids.len()];
        let mut first = 0u64;
        for scan in scans {
            let end = first + scan.records;
            let removed = match self.by {
                ListKey::Id => scan.by_id(&mut found, &mut plan.counts),
                ListKey::Number => self.by_number(scan, first, end)?,
            };
            plan.counts.documents += scan.records;
            plan.counts.rejected += scan.rejected;
            plan.counts.removed += removed.len() as u64;
            let ShardScan { format, records, rejected, digest, .. } = *scan;
            plan.shards.push(ShardPlan { format, records, rejected, digest, removed });
            first = end;
        }
        plan.counts.missing = match self.by {
            ListKey::Id => found.iter().filter(|found| !**found).count() as u64,
            ListKey::Number => self.numbers.len() as u64 - plan.counts.removed,
        };
        Ok(plan)
    }

    /// Record numbers of the listed documents between two ordinals.
    fn by_number(&self, scan: &ShardScan, first: u64, end: u64) -> Result<Vec<u32>, EngineError> {
        let place = |ordinal: u64| self.numbers.partition_point(|(n, _)| u64::from(*n) < ordinal);
        let mut removed = Vec::new();
        for &(n, digest) in &self.numbers[place(first)..place(end)] {
            let record = (u64::from(n) - first) as u32;
            let is_so = |digest: u128| {
                let hit = scan.hits.binary_search_by_key(&record, |(record, _)| *record);
                hit.is_ok_and(|hit| self.ids[scan.hits[hit].1 as usize] == digest)
            };
            if !digest.is_none_or(is_so) {
                return Err(EngineError::Request(format!(
                    "document {n} of the input has another id than the list says; give the input that the list was made from, \
                     in the same order, or --by id"
                )));
            }
            removed.push(record);
        }
        Ok(removed)
    }
}

/// The counts of a shard and the listed documents that were found in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShardScan {
    format: Format,
    /// Its records, those included that cannot be read.
    records: u64,
    rejected: u64,
    /// Digest of its bytes.
    digest: Option<u64>,
    /// Record numbers of documents whose ids are listed, ascending, and which ids these are.
    hits: Vec<(u32, u32)>,
}

impl ShardScan {
    fn by_id(&self, found: &mut [bool], counts: &mut Counts) -> Vec<u32> {
        for &(_, id) in &self.hits {
            counts.duplicates += u64::from(std::mem::replace(&mut found[id as usize], true));
        }
        self.hits.iter().map(|(record, _)| *record).collect()
    }
}

/// The counts of a patch: documents that are listed, found, removed or missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Documents that the list names.
    pub listed: u64,
    /// Records of the input.
    pub documents: u64,
    /// Records that cannot be read.
    pub rejected: u64,
    /// Documents that go.
    pub removed: u64,
    /// Listed documents that are not there.
    pub missing: u64,
    /// By id, documents that go beyond the first of each id.
    pub duplicates: u64,
}

impl Counts {
    /// Documents that stay.
    pub fn kept(&self) -> u64 {
        self.documents - self.rejected - self.removed
    }
}

/// The documents that are removed from each shard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatchPlan {
    shards: Vec<ShardPlan>,
    /// The counts of all shards together.
    pub counts: Counts,
}

/// The counts of a shard, and the documents that go from it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ShardPlan {
    format: Format,
    records: u64,
    rejected: u64,
    digest: Option<u64>,
    /// Record numbers, ascending.
    removed: Vec<u32>,
}

impl PatchPlan {
    /// Copies all shards into a folder, which is there, without the documents that go. Which copies are done is written into
    /// `journal`, and the same call in a later process goes on behind them; documents of shards that cannot be copied, dumps of a
    /// wiki, go to `kept.jsonl.zst`.
    pub fn write(
        &self,
        corpus: &Corpus,
        content: ContentMode,
        root: &Path,
        journal: &Path,
        threads: usize,
        watch: &Watch,
    ) -> Result<(), EngineError> {
        let shards = corpus.shards().iter().zip(&self.shards).enumerate();
        let sources = shards
            .map(|(place, (shard, plan))| Source {
                shard,
                format: Some(plan.format),
                place,
                records: plan.records,
                rejected: plan.rejected,
                digest: plan.digest,
            })
            .collect();
        let options = corpus.options();
        let (name, stamp) = ("kept", 0);
        let copies = Copies { root, journal, stamp, name, options, content, annotate: false, threads, watch };
        copies.write(sources, |source| Ok(RemovedRecords(&self.shards[source.place].removed)))
    }
}

/// Keeps all records but these, by number.
struct RemovedRecords<'g>(&'g [u32]);

impl RecordFilter for RemovedRecords<'_> {
    fn keeps(&self, record: u64) -> bool {
        u32::try_from(record).is_ok_and(|record| self.0.binary_search(&record).is_err())
    }

    fn count_kept(&self, documents: u64) -> u64 {
        documents.saturating_sub(self.0.len() as u64)
    }

    fn note(&mut self, record: u64) -> Result<Note, EngineError> {
        Ok(Note { cluster: record, copies: 1 })
    }
}

#[cfg(test)]
mod tests {
    use lookalike_corpus::ReadOptions;

    use super::*;

    const ONE: &str = "{\"id\":\"a\",\"text\":\"1\"}\n{}\n{\"id\":\"b\",\"text\":\"2\"}\n";
    const TWO: &str = "{\"id\":\"b\",\"text\":\"3\"}\n{\"id\":\"c\",\"text\":\"4\"}\n";

    fn plan(list: &str, by: ListKey) -> Result<(Counts, Vec<Vec<u32>>), EngineError> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("1.jsonl"), ONE).unwrap();
        std::fs::write(folder.path().join("2.jsonl"), TWO).unwrap();
        let corpus = Corpus::open(&[folder.path()], ReadOptions::default()).unwrap();
        let patch = Patch::read("list", list.as_bytes(), by)?;
        let scan = |shard| patch.scan(shard, &corpus, &Watch::default(), |_| Ok(())).unwrap();
        let plan = patch.plan(&corpus.shards().iter().map(scan).collect::<Vec<_>>())?;
        Ok((plan.counts, plan.shards.into_iter().map(|shard| shard.removed).collect()))
    }

    #[test]
    fn all_documents_of_an_id_go() {
        let (counts, removed) = plan("b\n\n{\"id\":\"x\",\"n\":0}\n", ListKey::Id).unwrap();
        assert_eq!(removed, [vec![2], vec![0]]);
        let expected = Counts { listed: 2, documents: 5, rejected: 1, removed: 2, missing: 1, duplicates: 1 };
        assert_eq!((counts, counts.kept()), (expected, 2));
    }

    #[test]
    fn one_document_of_a_number_goes() {
        let (counts, removed) =
            plan("{\"id\":\"b\",\"n\":3}\n{\"n\":3}\n{\"n\":4}\n{\"n\":9}\n", ListKey::Number).unwrap();
        assert_eq!(removed, [vec![], vec![0, 1]]);
        let expected = Counts { listed: 3, documents: 5, rejected: 1, removed: 2, missing: 1, duplicates: 0 };
        assert_eq!(counts, expected);
    }

    #[test]
    fn a_number_with_another_id_is_another_input() {
        for list in ["{\"id\":\"a\",\"n\":3}\n", "{\"id\":\"zz\",\"n\":3}\n", "{\"id\":\"a\",\"n\":1}\n"] {
            let error = plan(list, ListKey::Number).unwrap_err().to_string();
            assert!(error.contains("has another id than the list says"), "{error}");
        }
    }

    #[test]
    fn lines_that_name_nothing_are_told() {
        let error_of = |list: &[u8], by| Patch::read("list", list, by).unwrap_err().to_string();
        assert_eq!(
            error_of(b"a\nb\n", ListKey::Number),
            "list, line 1: it has no n; give a list that has, or --by id"
        );
        assert_eq!(
            error_of(b"a\n{\"n\":1}\n", ListKey::Id),
            "list, line 2: it has no id; give a list that has, or --by n"
        );
        assert_eq!(
            error_of(b"{\"id\":1}\n", ListKey::Id),
            "list, line 1: it is no JSON with id or n; correct it"
        );
        assert_eq!(error_of(b"a\n\xff\n", ListKey::Id), "list, line 2: it is not UTF-8; convert the list");
    }

    #[test]
    fn lists_say_the_same_in_any_order() {
        let read = |list: &str| Patch::read("list", list.as_bytes(), ListKey::Id).unwrap();
        assert_eq!(read("a\nb\na\n").digest(), read("b\n{\"id\":\"a\"}\n").digest());
        assert_ne!(read("a\n").digest(), read("b\n").digest());
        assert!(read("").is_empty() && !read("").has_numbers());
        assert!(read("{\"id\":\"a\",\"n\":4}\n").has_numbers() && !read("a\n").has_numbers());
    }

    #[test]
    fn a_number_may_have_several_ids_and_fits_none() {
        let read = |list: &str| Patch::read("list", list.as_bytes(), ListKey::Number).unwrap();
        assert_eq!(read("{\"n\":3}\n{\"id\":\"b\",\"n\":3}\n{\"n\":3}\n").len(), 1);
        assert_eq!(read("{\"id\":\"a\",\"n\":3}\n{\"id\":\"b\",\"n\":3}\n").len(), 2);
        let error =
            Patch::read("list", &b"{\"n\":4294967296}\n"[..], ListKey::Number).unwrap_err().to_string();
        assert_eq!(error, "list, line 1: its n is larger than any document's; correct it");
    }

    #[test]
    fn marks_blanks_and_empty_lines_say_nothing() {
        let patch = Patch::read("list", "\u{feff} a \r\n\n  \nb".as_bytes(), ListKey::Id).unwrap();
        let same = Patch::read("list", &b"a\nb\n"[..], ListKey::Id).unwrap();
        assert_eq!((patch.len(), patch.digest()), (2, same.digest()));
    }

    #[test]
    fn a_line_without_end_is_no_list() {
        let long = vec![b'a'; LONGEST_LINE as usize];
        let error = Patch::read("list", long.as_slice(), ListKey::Id).unwrap_err().to_string();
        assert!(error.contains("it is too long for a line of a list"), "{error}");
        assert!(Patch::read("list", &long[1..], ListKey::Id).is_ok());
    }

    #[test]
    fn scans_count_records_and_hand_out_rejections() {
        let corpus = Corpus::in_memory("1.jsonl", ONE.as_bytes().into(), ReadOptions::default());
        let patch = Patch::read("list", &b"b\nz\n"[..], ListKey::Id).unwrap();
        let (watch, mut rejected) = (Watch::default(), 0);
        let reject = |_: &Rejection| {
            rejected += 1;
            Ok(())
        };
        let scan = patch.scan(&corpus.shards()[0], &corpus, &watch, reject).unwrap();
        assert_eq!((scan.records, scan.rejected, rejected, scan.hits.len(), scan.hits[0].0), (3, 1, 1, 1, 2));
        assert_eq!(watch.documents.load(Ordering::Relaxed), 2);
        watch.stop.store(true, Ordering::Relaxed);
        let stopped = patch.scan(&corpus.shards()[0], &corpus, &watch, |_| Ok(()));
        assert!(matches!(stopped, Err(WalkError::Stopped)));
    }

    #[test]
    fn copies_are_without_the_listed_documents() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        [path("in"), path("out")].iter().for_each(|folder| std::fs::create_dir(folder).unwrap());
        std::fs::write(path("in/1.jsonl"), ONE).unwrap();
        std::fs::write(path("in/2.jsonl"), TWO).unwrap();
        let corpus = Corpus::open(&[path("in")], ReadOptions::default()).unwrap();
        let patch = Patch::read("list", &b"b\n"[..], ListKey::Id).unwrap();
        let watch = Watch::default();
        let scan = |shard| patch.scan(shard, &corpus, &watch, |_| Ok(())).unwrap();
        let plan = patch.plan(&corpus.shards().iter().map(scan).collect::<Vec<_>>()).unwrap();
        plan.write(&corpus, ContentMode::Page, &path("out"), &path("journal"), 2, &watch).unwrap();
        assert_eq!(std::fs::read_to_string(path("out/1.jsonl")).unwrap(), "{\"id\":\"a\",\"text\":\"1\"}\n");
        assert_eq!(std::fs::read_to_string(path("out/2.jsonl")).unwrap(), "{\"id\":\"c\",\"text\":\"4\"}\n");
    }

    #[test]
    fn removed_records_are_all_that_go() {
        let mut filter = RemovedRecords(&[1, 4]);
        assert_eq!((0..6).filter(|&record| filter.keeps(record)).collect::<Vec<u64>>(), [0, 2, 3, 5]);
        assert_eq!((filter.count_kept(6), filter.count_kept(1)), (4, 0));
        assert_eq!(filter.note(3).unwrap().cluster, 3);
    }
}
