//! The sources of the pairs of a comparison: a job of this program, or lists from elsewhere.

use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use lookalike::corpus::Compression;
use lookalike::corpus::write::Sink;
use lookalike::engine::compared::{BothCounts, MarkedDocuments, Match, Side, SideDocument};
use lookalike::engine::{EngineError, JobRecipe, OpenJob};
use lookalike::hash::Secret;
use lookalike::walk::Watch;
use lookalike_overlap::address::{self, Matching};

use crate::error::TransferError;

/// A callback for pairs.
pub type EachMatch<'e> = &'e mut dyn FnMut(&Match<'_>) -> Result<(), TransferError>;

/// The source of the pairs of two corpora that were compared.
pub trait ComparisonSource {
    /// Returns the recipe of the job.
    fn recipe(&self) -> &JobRecipe;

    /// Hands over every left document, in their order.
    fn lefts(&self, watch: &Watch, each: &mut dyn FnMut(SideDocument<'_>)) -> Result<(), TransferError>;

    /// Hands over every pair, in the order of left and right documents.
    fn matches(&self, watch: &Watch, each: EachMatch<'_>) -> Result<(), TransferError>;

    /// The left documents whose address the right side has.
    fn same_address(&self, watch: &Watch, matching: Matching) -> Result<MarkedDocuments, TransferError>;

    /// Documents of both sides.
    fn both_counts(&self, watch: &Watch) -> Result<BothCounts, TransferError>;

    /// The names and texts of a few right and left documents.
    fn names_and_texts(
        &self,
        watch: &Watch,
        documents: &[(Side, u32)],
    ) -> Result<NamesAndTexts, TransferError>;

    /// The folder of the results.
    fn folder(&self) -> &Path;

    /// Writes a file of the results, whole or not at all.
    fn write(&self, name: &str, bytes: &[u8]) -> Result<(), TransferError>;
}

/// Names and texts by side and number.
pub type NamesAndTexts = (HashMap<(Side, u32), String>, HashMap<(Side, u32), String>);

/// The form that an address is compared in; nothing of what has no host.
pub fn address_key(matching: Matching, url: &str) -> Option<String> {
    address::host(url).map(|_| matching.key(url).into())
}

impl ComparisonSource for OpenJob {
    fn recipe(&self) -> &JobRecipe {
        self.recipe()
    }

    fn lefts(&self, watch: &Watch, each: &mut dyn FnMut(SideDocument<'_>)) -> Result<(), TransferError> {
        let left = |side: Side, document: SideDocument<'_>| -> Result<(), EngineError> {
            if side == Side::Left {
                each(document);
            }
            Ok(())
        };
        Ok(self.documents(watch, left)?)
    }

    fn matches(&self, watch: &Watch, each: EachMatch<'_>) -> Result<(), TransferError> {
        self.matches(watch, each)
    }

    fn same_address(&self, watch: &Watch, matching: Matching) -> Result<MarkedDocuments, TransferError> {
        Ok(self.same_address(watch, |url| {
            let key = address_key(matching, url)?;
            Some(Secret::of_process().digest(key.as_bytes()))
        })?)
    }

    fn both_counts(&self, watch: &Watch) -> Result<BothCounts, TransferError> {
        Ok(self.both_counts(watch)?)
    }

    fn names_and_texts(
        &self,
        watch: &Watch,
        documents: &[(Side, u32)],
    ) -> Result<NamesAndTexts, TransferError> {
        Ok((self.ids(watch, documents)?, self.texts(watch, documents)?))
    }

    fn folder(&self) -> &Path {
        self.folder()
    }

    fn write(&self, name: &str, bytes: &[u8]) -> Result<(), TransferError> {
        Ok(self.write(name, bytes)?)
    }
}

/// A left document of a list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ListedDocument {
    /// Its number.
    pub n: u32,
    /// Its id.
    pub id: Box<str>,
    /// Its address.
    pub url: Option<Box<str>>,
    /// The right side has this address, too.
    pub shared: bool,
}

/// A pair of a list.
#[derive(Debug, Clone, PartialEq)]
pub struct ListedPair {
    /// The number of the left document.
    pub left: u32,
    /// The number of the right document.
    pub right: u32,
    /// The id of the right document.
    pub id: Box<str>,
    /// Its address.
    pub url: Option<Box<str>>,
    /// The similarity of the two documents.
    pub similarity: f64,
    /// They are near-duplicates.
    pub near: bool,
    /// The methods that accept the pair, a bit for each.
    pub methods: u8,
}

/// The result of an outside comparison, as lists: left documents in order, and pairs in the order of both documents.
#[derive(Debug)]
pub struct Lists {
    /// The recipe of the job.
    pub recipe: JobRecipe,
    /// The left documents.
    pub lefts: Vec<ListedDocument>,
    /// All pairs.
    pub pairs: Vec<ListedPair>,
    /// Documents of both sides.
    pub both: BothCounts,
    /// The folder of the results, which exists.
    pub folder: PathBuf,
}

impl Lists {
    fn left(&self, n: u32) -> Result<&ListedDocument, TransferError> {
        let place = self.lefts.binary_search_by_key(&n, |left| left.n);
        let missing =
            || TransferError::Request(format!("a pair has the left document {n}, which is not there"));
        place.map(|place| &self.lefts[place]).map_err(|_| missing())
    }
}

fn named<'l>(n: u32, id: &'l str, url: &'l Option<Box<str>>) -> SideDocument<'l> {
    SideDocument { n, place: n, id, url: url.as_deref() }
}

impl ComparisonSource for Lists {
    fn recipe(&self) -> &JobRecipe {
        &self.recipe
    }

    fn lefts(&self, _: &Watch, each: &mut dyn FnMut(SideDocument<'_>)) -> Result<(), TransferError> {
        self.lefts.iter().for_each(|left| each(named(left.n, &left.id, &left.url)));
        Ok(())
    }

    fn matches(&self, _: &Watch, each: EachMatch<'_>) -> Result<(), TransferError> {
        for pair in &self.pairs {
            let left = self.left(pair.left)?;
            each(&Match {
                left: named(left.n, &left.id, &left.url),
                right: named(pair.right, &pair.id, &pair.url),
                similarity: pair.similarity,
                reverse: None,
                near: pair.near,
                methods: pair.methods,
            })?;
        }
        Ok(())
    }

    fn same_address(&self, _: &Watch, _: Matching) -> Result<MarkedDocuments, TransferError> {
        let left = self.lefts.last().map_or(0, |left| left.n + 1);
        Ok(MarkedDocuments::of(left, self.lefts.iter().filter(|left| left.shared).map(|left| left.n)))
    }

    fn both_counts(&self, _: &Watch) -> Result<BothCounts, TransferError> {
        Ok(self.both.clone())
    }

    /// Lists have no texts.
    fn names_and_texts(&self, _: &Watch, _: &[(Side, u32)]) -> Result<NamesAndTexts, TransferError> {
        Ok(NamesAndTexts::default())
    }

    fn folder(&self) -> &Path {
        &self.folder
    }

    fn write(&self, name: &str, bytes: &[u8]) -> Result<(), TransferError> {
        let path = self.folder.join(name);
        let mut sink = Sink::create(&path, Compression::None)?;
        sink.write_all(bytes).map_err(|error| TransferError::write(&path, error))?;
        Ok(sink.finish()?)
    }
}

#[cfg(test)]
mod tests {
    use lookalike::engine::recipe::Task;
    use lookalike::judgments::Judgments;
    use lookalike_overlap::canonical::canonical;

    use super::*;
    use crate::compare::ComparisonSettings;
    use crate::fixture::lists;
    use crate::moved::Matches;
    use crate::segments::{Segment, Segments};
    use crate::transfer::{Request, run};

    fn left(n: u32, id: &str, url: &str, shared: bool) -> ListedDocument {
        ListedDocument { n, id: id.into(), url: Some(url.into()), shared }
    }

    fn pair(left: u32, right: u32, id: &str, url: &str, similarity: f64) -> ListedPair {
        let near = similarity >= 0.9;
        ListedPair { left, right, id: id.into(), url: Some(url.into()), similarity, near, methods: 1 }
    }

    #[test]
    fn lists_are_settled_as_jobs_are() {
        let folder = tempfile::tempdir().unwrap();
        let lists = Lists {
            recipe: JobRecipe::simplest(Task::Compare),
            lefts: vec![
                left(0, "a", "http://a.org/", true),
                left(1, "b", "http://b.org/", false),
                left(3, "c", "http://c.org/", true),
            ],
            // Of two that are as similar, the one at the same address is the best.
            pairs: vec![
                pair(0, 4, "x", "http://x.org/", 0.95),
                pair(0, 6, "y", "http://A.org", 0.95),
                pair(1, 4, "x", "http://x.org/", 0.97),
                pair(3, 4, "x", "http://x.org/", 0.5),
            ],
            both: BothCounts::default(),
            folder: folder.path().to_owned(),
        };
        let text = "1 0 a 2\n1 0 b 1\n1 0 c 0\n1 0 gone 1\n";
        let files = [Judgments::read("qrels.txt", text.as_bytes(), None).unwrap()];
        let segment = Segment { name: "new".to_owned(), shards: 1, snapshot: 0 };
        let settings = ComparisonSettings {
            methods: vec!["minhash".to_owned()],
            segments: Segments::new(vec![segment], &[]),
            forecast: None,
            matching: Matching::Normal,
        };
        let missing = ["gone".to_owned()];
        let request = Request {
            files: &files,
            missing: &missing,
            repeated: 0,
            rejected: 0,
            matches: Matches::Best,
            sample: 0,
            seed: 0,
            memory: u64::MAX,
        };
        let moved = run(&lists, &request, settings, &Watch::default()).unwrap();
        assert_eq!(std::fs::read_to_string(folder.path().join("qrels.txt")).unwrap(), "1 0 y 2\n1 0 x 1\n");
        let mapping = std::fs::read_to_string(folder.path().join("mapping.jsonl")).unwrap();
        let best: Vec<bool> = mapping.lines().map(|line| line.contains("\"best\":true")).collect();
        assert_eq!(best, [false, true, true]);
        let [both, content, address] =
            [moved.found_by.both, moved.found_by.content_only, moved.found_by.address_only];
        assert_eq!([both.documents, content.documents, address.documents], [1, 1, 1]);
        assert_eq!((moved.missing, moved.judged, moved.comparison.shared.count()), (1, 4, 2));
    }

    #[test]
    fn a_pair_of_nobody_is_refused() {
        let lists = Lists {
            recipe: JobRecipe::simplest(Task::Compare),
            lefts: Vec::new(),
            pairs: vec![pair(7, 0, "x", "http://x.org/", 1.0)],
            both: BothCounts::default(),
            folder: PathBuf::new(),
        };
        let refused = lists.matches(&Watch::default(), &mut |_| Ok(())).unwrap_err().to_string();
        assert_eq!(refused, "a pair has the left document 7, which is not there");
    }

    #[test]
    fn an_address_is_compared_in_its_form_and_text_without_a_host_is_none() {
        let key = |matching| address_key(matching, "HTTPS://www.A.org/index.html").unwrap();
        assert_eq!(key(Matching::Exact), "HTTPS://www.A.org/index.html");
        assert_eq!(key(Matching::Normal), "https://www.a.org/index.html");
        assert_eq!(key(Matching::Canonical), canonical("http://a.org/"));
        assert_eq!(
            ["", "no address", "http:///x"].map(|text| address_key(Matching::Exact, text)),
            [None, None, None]
        );
    }

    #[test]
    fn lists_hand_over_documents_and_pairs_in_their_order() {
        let lefts = vec![left(2, "ä", "http://a.org/", false), left(9, "b", "http://b.org/", false)];
        let pairs = vec![pair(2, 7, "x", "http://x.org/", 0.5), pair(9, 1, "y", "http://y.org/", 1.0)];
        let (_folder, lists) = lists(lefts, pairs);
        let mut ids = Vec::new();
        lists
            .lefts(&Watch::default(), &mut |left| ids.push((left.n, left.place, left.id.to_owned())))
            .unwrap();
        assert_eq!(ids, [(2, 2, "ä".to_owned()), (9, 9, "b".to_owned())]);
        let mut found = Vec::new();
        let each: EachMatch<'_> = &mut |pair| {
            found.push((pair.left.id.to_owned(), pair.right.id.to_owned(), pair.right.place, pair.near));
            Ok(())
        };
        lists.matches(&Watch::default(), each).unwrap();
        let wanted = [("ä", "x", 7, false), ("b", "y", 1, true)];
        assert_eq!(found, wanted.map(|(a, b, place, near)| (a.to_owned(), b.to_owned(), place, near)));
    }

    #[test]
    fn the_first_error_ends_the_pairs() {
        let pairs = vec![pair(0, 0, "x", "", 1.0), pair(0, 1, "y", "", 1.0)];
        let (_folder, lists) = lists(vec![left(0, "a", "", false)], pairs);
        let mut seen = 0;
        let ended = lists.matches(&Watch::default(), &mut |_| {
            seen += 1;
            Err(TransferError::Request("enough".to_owned()))
        });
        assert_eq!((ended.unwrap_err().to_string().as_str(), seen), ("enough", 1));
    }

    #[test]
    fn shared_addresses_are_those_that_are_marked() {
        let lefts = vec![left(0, "a", "", true), left(1, "b", "", false), left(70, "c", "", true)];
        let (_folder, some) = lists(lefts, Vec::new());
        let marked = some.same_address(&Watch::default(), Matching::Normal).unwrap();
        assert_eq!((marked.count(), [0, 1, 69, 70].map(|n| marked.has(n))), (2, [true, false, false, true]));
        let (_folder, none) = lists(Vec::new(), Vec::new());
        assert_eq!(none.same_address(&Watch::default(), Matching::Normal).unwrap().count(), 0);
    }

    #[test]
    fn lists_know_no_texts() {
        let (_folder, lists) = lists(vec![left(0, "a", "", true)], Vec::new());
        let (names, texts) = lists.names_and_texts(&Watch::default(), &[(Side::Left, 0)]).unwrap();
        assert!(names.is_empty() && texts.is_empty());
    }

    #[test]
    fn a_file_of_results_replaces_the_one_before() {
        let (folder, lists) = lists(Vec::new(), Vec::new());
        lists.write("x.txt", "long before".as_bytes()).unwrap();
        lists.write("x.txt", "ä".as_bytes()).unwrap();
        assert_eq!(std::fs::read_to_string(folder.path().join("x.txt")).unwrap(), "ä");
        let error = lists.write("nowhere/x.txt", b"").unwrap_err().to_string();
        assert!(error.contains("x.txt"), "{error}");
    }
}
