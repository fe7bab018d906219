//! `dedup`, `pairs` and `compare` of texts in memory: jobs in a temporary folder, whose rows become positions of texts.
//!
//! Texts are copied once, scratch files go to a temporary folder, and both go away with the call. The jobs are those of the command
//! line, so that what holds for them holds here: every pair is measured, every removed text has a kept witness, and results do not depend
//! on threads or memory.

use std::ffi::OsString;
use std::path::Path;

use crate::corpus::{Corpus, MaxRejected, ReadOptions};
use crate::engine::recipe::Task;
use crate::engine::{EngineError, Job, JobRecipe, Opened, Outputs, Settings, Summary};
use crate::error::{Error, counting_copies};
use crate::model::rounded;
use crate::options::{Options, for_texts};
use crate::request;
use crate::runs::{self, JobFolder};
use crate::tables::compared_groups::ComparedGroupLine;
use crate::tables::groups::GroupLine;
use crate::tables::pairs::PairLine;
use crate::tables::rejected::RejectedLine;
use crate::tables::removed::RemovedNumbers;
use crate::texts::{TextTable, position_of};
use crate::walk::Watch;

/// Near-duplicates among texts, one kept of each. Texts are named by their positions, from 0.
#[derive(Debug, Clone, PartialEq)]
pub struct Dedup {
    /// The positions of the texts that stay, ascending.
    pub kept: Vec<usize>,
    /// The texts that go, each with its witness, ascending.
    pub removed: Vec<RemovedText>,
    /// The texts that cannot be read and are neither kept nor removed, ascending.
    pub rejected: Vec<RejectedText>,
    /// The counts of the job.
    pub summary: Summary,
    /// Remarks of the job for the reader of its results.
    pub notes: Vec<String>,
}

impl Dedup {
    /// True if the text at a position is kept.
    pub fn keeps(&self, position: usize) -> bool {
        self.kept.binary_search(&position).is_ok()
    }
}

/// A removed text with the kept one that it is a near-duplicate of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RemovedText {
    /// The position of the removed text.
    pub position: usize,
    /// The position of its witness, which is kept.
    pub witness: usize,
    /// The measured similarity of both, to nine decimals: the threshold or more.
    pub similarity: f64,
}

/// A text that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RejectedText {
    /// Its position.
    pub position: usize,
    /// The reason.
    pub reason: String,
}

/// All pairs of near-duplicates among texts.
#[derive(Debug, Clone, PartialEq)]
pub struct SimilarPairs {
    /// The pairs, in the order of both positions.
    pub pairs: Vec<SimilarPair>,
    /// Sets of more texts than a group may have, whose pairs are not listed one by one.
    pub groups: Vec<LargeGroup>,
    /// The texts that cannot be read, ascending.
    pub rejected: Vec<RejectedText>,
    /// The counts of the job.
    pub summary: Summary,
    /// Remarks of the job for the reader of its results.
    pub notes: Vec<String>,
}

/// A pair of near-duplicates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SimilarPair {
    /// The position of the earlier text.
    pub a: usize,
    /// The position of the later text.
    pub b: usize,
    /// The measured similarity of `a` to `b`, to nine decimals.
    pub similarity: f64,
    /// The similarity of `b` to `a`, for measures that depend on the direction.
    pub reverse: Option<f64>,
}

/// A set of texts whose pairs are too many to be listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LargeGroup {
    /// The positions of its texts.
    pub members: Vec<usize>,
    /// The number of pairs among them that are not listed.
    pub pairs: u64,
    /// True if all of them have the same words; false if they share a key, or are two such sets that are near-duplicates.
    pub equal: bool,
}

/// All pairs of near-duplicates between two lists of texts.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// The pairs, in the order of both positions.
    pub pairs: Vec<ComparedPair>,
    /// Sets of texts with so many pairs between both lists that these are not listed one by one.
    pub groups: Vec<LargeComparedGroup>,
    /// The texts of the left list that cannot be read, ascending.
    pub rejected_left: Vec<RejectedText>,
    /// The texts of the right list that cannot be read, ascending.
    pub rejected_right: Vec<RejectedText>,
    /// The counts of the job.
    pub summary: Summary,
    /// Remarks of the job for the reader of its results.
    pub notes: Vec<String>,
}

/// A text of one list and a near-duplicate in the other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ComparedPair {
    /// The position in the left list.
    pub left: usize,
    /// The position in the right list.
    pub right: usize,
    /// The measured similarity of the left text to the right one, to nine decimals.
    pub similarity: f64,
    /// The similarity of the right text to the left one, for measures that depend on the direction.
    pub reverse: Option<f64>,
}

/// Texts of two lists whose pairs are too many to be listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LargeComparedGroup {
    /// The positions in the left list.
    pub left: Vec<usize>,
    /// The positions in the right list.
    pub right: Vec<usize>,
    /// The number of pairs between them.
    pub pairs: u64,
    /// True if all of them have the same words.
    pub equal: bool,
    /// True if each left text has one of the pairs in the list of pairs; false if the texts share a key and none was measured.
    pub measured: bool,
}

/// Finds near-duplicates among texts and keeps one of each, with the options by default.
///
/// ```
/// let texts = [
///     "A rose is a rose is a rose, and nothing else is one.",
///     "The quick brown fox jumps over the lazy dog at dawn.",
///     "A rose is a rose is a rose: and nothing else is one!",
/// ];
/// let found = lookalike::dedup(texts)?;
/// assert_eq!(found.kept, [0, 1]);
/// let removed = found.removed[0];
/// assert_eq!((removed.position, removed.witness, removed.similarity), (2, 0, 1.0));
/// # Ok::<(), lookalike::Error>(())
/// ```
pub fn dedup<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> Result<Dedup, Error> {
    Options::new().dedup(texts)
}

/// Finds all pairs of near-duplicates among texts, with the options by default.
///
/// ```
/// let texts = ["one two three four five six", "something else", "One two three, four five six!"];
/// let pairs = lookalike::pairs(texts)?.pairs;
/// assert_eq!((pairs.len(), pairs[0].a, pairs[0].b, pairs[0].similarity), (1, 0, 2, 1.0));
/// # Ok::<(), lookalike::Error>(())
/// ```
pub fn pairs<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> Result<SimilarPairs, Error> {
    Options::new().pairs(texts)
}

/// Finds all pairs of near-duplicates between two lists of texts, with the options by default.
///
/// ```
/// let (old, new) = (["one two three four five six"], ["something else", "One two three, four five six!"]);
/// let pairs = lookalike::compare(old, new)?.pairs;
/// assert_eq!((pairs.len(), pairs[0].left, pairs[0].right), (1, 0, 1));
/// # Ok::<(), lookalike::Error>(())
/// ```
pub fn compare<L: AsRef<str>, R: AsRef<str>>(
    left: impl IntoIterator<Item = L>,
    right: impl IntoIterator<Item = R>,
) -> Result<Comparison, Error> {
    Options::new().compare(left, right)
}

impl Options {
    /// Finds near-duplicates among texts and keeps one of each.
    pub fn dedup<T: AsRef<str>>(&self, texts: impl IntoIterator<Item = T>) -> Result<Dedup, Error> {
        let run = TextJob::new(self, for_texts(self.dedup_recipe()?)?, TextTable::of_texts(texts), None)?;
        run.dedup()
    }

    /// Finds all pairs of near-duplicates among texts.
    pub fn pairs<T: AsRef<str>>(&self, texts: impl IntoIterator<Item = T>) -> Result<SimilarPairs, Error> {
        let run = TextJob::new(self, for_texts(self.pairs_recipe()?)?, TextTable::of_texts(texts), None)?;
        run.pairs()
    }

    /// Finds all pairs of near-duplicates between two lists of texts.
    pub fn compare<L: AsRef<str>, R: AsRef<str>>(
        &self,
        left: impl IntoIterator<Item = L>,
        right: impl IntoIterator<Item = R>,
    ) -> Result<Comparison, Error> {
        let (left, right) = (TextTable::of_texts(left), TextTable::of_texts(right));
        let run = TextJob::new(self, for_texts(self.compare_recipe()?)?, right, Some(left))?;
        run.compare()
    }

    /// Finds near-duplicates among the documents of files, folders and patterns, and keeps one of each: the same job as that of the
    /// command line, with its results in `folder`. A job that was stopped goes on, and one that is finished there is found.
    ///
    /// The rows of its tables are read by [`runs::rows`](crate::runs::rows), as lines of [`tables`](crate::tables).
    pub fn dedup_files<P: Into<OsString>>(
        &self,
        inputs: impl IntoIterator<Item = P>,
        folder: impl AsRef<Path>,
    ) -> Result<Summary, Error> {
        let inputs: Vec<OsString> = inputs.into_iter().map(Into::into).collect();
        request::check_output_outside(&inputs, folder.as_ref())?;
        let (recipe, settings) = (self.dedup_recipe()?, self.settings(0)?);
        let lists = settings.list_budget(recipe.reading.max_document_bytes);
        let corpus = Corpus::open(&inputs, ReadOptions { lists, ..recipe.read_options()? })?;
        let job_folder = JobFolder::new(Some(folder.as_ref().to_owned()), None)?;
        let job = job(self, recipe, settings, corpus, None);
        Ok(runs::dedup(job, &job_folder, &Watch::default())?.summary)
    }
}

fn job(
    options: &Options,
    recipe: JobRecipe,
    settings: Settings,
    corpus: Corpus,
    against: Option<Corpus>,
) -> Job {
    let lexicon = options.lexicon().map(Path::to_owned);
    Job { recipe, corpus, against, lexicon, settings, outputs: Outputs::default() }
}

/// A job on texts in memory, in a temporary folder.
struct TextJob {
    job: Job,
    folder: JobFolder,
    /// Bytes of the copies of the texts.
    held: u64,
}

impl TextJob {
    fn new(
        options: &Options,
        recipe: JobRecipe,
        texts: TextTable,
        against: Option<TextTable>,
    ) -> Result<Self, EngineError> {
        debug_assert_eq!(against.is_some(), recipe.task == Task::Compare);
        let held = texts.memory() + against.as_ref().map_or(0, TextTable::memory);
        let settings = options.settings(held)?;
        // Every text that is rejected stands in the results, so that no number of them is too many.
        let options_of = |read: ReadOptions| ReadOptions { max_rejected: MaxRejected::EVERYTHING, ..read };
        let corpus = texts.into_corpus("texts", options_of(recipe.read_options()?));
        let other = options_of(recipe.other_options()?);
        let against = against.map(|left| left.into_corpus("left", other));
        let folder = JobFolder::new(None, options.scratch_folder())?;
        Ok(TextJob { job: job(options, recipe, settings, corpus, against), folder, held })
    }

    fn dedup(self) -> Result<Dedup, Error> {
        let run =
            runs::dedup(self.job, &self.folder, &Watch::default()).map_err(counting_copies(self.held))?;
        let mut removed = Vec::new();
        let table = self.folder.path().join("removed.jsonl");
        runs::each_row(&table, |row: RemovedNumbers| {
            let similarity = row.similarity.ok_or_else(|| damaged(&table, "a removal has no similarity"))?;
            let (position, witness) = (row.n as usize, row.witness_n as usize);
            removed.push(RemovedText { position, witness, similarity });
            Ok(())
        })?;
        let rejected = rejected(self.folder.path(), None)?;
        let mut stays = vec![true; run.summary.documents as usize];
        let gone = removed.iter().map(|text| text.position).chain(rejected.iter().map(|text| text.position));
        for position in gone {
            *stays.get_mut(position).ok_or_else(|| damaged(&table, "a text is not one of those given"))? =
                false;
        }
        let kept = stays.iter().enumerate().filter(|(_, stays)| **stays).map(|(position, _)| position);
        Ok(Dedup { kept: kept.collect(), removed, rejected, summary: run.summary, notes: run.notes })
    }

    fn pairs(self) -> Result<SimilarPairs, Error> {
        let folder = self.folder.path();
        let table = folder.join("pairs.jsonl");
        let run = runs::pairs(self.job, &self.folder, &table, &Watch::default());
        let (summary, notes) = run.map_err(counting_copies(self.held))?;
        let mut pairs = Vec::new();
        runs::each_row(&table, |row: PairLine| {
            let positions = (position_of(&row.a), position_of(&row.b), row.similarity);
            let (Some(a), Some(b), Some(similarity)) = positions else {
                return Err(damaged(&table, "a pair has no positions or no similarity"));
            };
            pairs.push(SimilarPair { a, b, similarity, reverse: row.reverse });
            Ok(())
        })?;
        let group = |row: GroupLine| LargeGroup {
            members: row.members_n.iter().map(|&member| member as usize).collect(),
            pairs: row.pairs,
            equal: row.equal,
        };
        let groups = runs::rows(&folder.join("groups.jsonl"))?.into_iter().map(group).collect();
        Ok(SimilarPairs { pairs, groups, rejected: rejected(folder, None)?, summary, notes })
    }

    fn compare(self) -> Result<Comparison, Error> {
        let (folder, watch, counting) = (self.folder.path(), Watch::default(), counting_copies(self.held));
        let Opened::Open(mut open) = self.job.open(folder).map_err(&counting)? else {
            return Err(damaged(folder, "a new folder holds a finished job").into());
        };
        let findings = open.run(&watch).map_err(&counting)?;
        let mut pairs = Vec::new();
        open.matches(&watch, |found| {
            // A comparison has what methods accept, near or not.
            if found.near {
                pairs.push(ComparedPair {
                    left: found.left.place as usize,
                    right: found.right.place as usize,
                    similarity: rounded(found.similarity),
                    reverse: found.reverse.map(rounded),
                });
            }
            Ok::<_, EngineError>(())
        })?;
        let table = folder.join("groups.jsonl");
        let groups: Option<_> = runs::rows(&table)?.into_iter().map(compared_group).collect();
        Ok(Comparison {
            pairs,
            groups: groups.ok_or_else(|| damaged(&table, "a group has texts without positions"))?,
            rejected_left: rejected(folder, Some("left"))?,
            rejected_right: rejected(folder, Some("right"))?,
            summary: findings.summary,
            notes: findings.notes,
        })
    }
}

/// A group by the positions of its texts; nothing if an id tells none.
fn compared_group(row: ComparedGroupLine) -> Option<LargeComparedGroup> {
    let positions = |ids: &[String]| ids.iter().map(|id| position_of(id)).collect::<Option<Vec<_>>>();
    Some(LargeComparedGroup {
        left: positions(&row.left)?,
        right: positions(&row.right)?,
        pairs: row.pairs,
        equal: row.equal,
        measured: row.measured,
    })
}

/// Texts that could not be read, of one side where there are two.
fn rejected(folder: &Path, side: Option<&str>) -> Result<Vec<RejectedText>, EngineError> {
    let mut rejected = Vec::new();
    runs::each_row(&folder.join("rejected.jsonl"), |row: RejectedLine| {
        if row.side.as_deref() == side {
            // The position in a table is a row.
            rejected.push(RejectedText { position: row.position as usize, reason: row.reason });
        }
        Ok(())
    })?;
    Ok(rejected)
}

fn damaged(file: &Path, what: &str) -> EngineError {
    EngineError::Damaged { file: file.to_owned(), what: what.to_owned() }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;
    use crate::engine::recipe::Keep;
    use crate::model::{Similarity, Threshold};
    use crate::tables::removed::RemovedLine;

    /// Few threads and little memory, so that tests beside this one are not in its way.
    fn options() -> Options {
        Options::new().threads(2).memory(1 << 30)
    }

    /// Options by which short texts are near-duplicates.
    fn by_words(threshold: f64) -> Options {
        options().method("exact").shingle(1).threshold(threshold)
    }

    #[test]
    fn removed_texts_name_a_kept_witness_and_its_similarity() {
        let texts = ["a b c d", "x y z", "a b c d e", "A, b; c d!", "x y"];
        let found = by_words(0.8).dedup(texts).unwrap();
        assert_eq!(found.kept, [0, 1, 4]);
        let removed: Vec<_> = found.removed.iter().map(|text| (text.position, text.witness)).collect();
        assert_eq!(removed, [(2, 0), (3, 0)]);
        assert_eq!((found.removed[0].similarity, found.removed[1].similarity), (0.8, 1.0));
        assert!(found.keeps(4) && !found.keeps(3) && !found.keeps(99));
        assert_eq!((found.summary.documents, found.summary.kept, found.summary.removed), (5, 3, 2));
    }

    #[test]
    fn the_longest_is_kept_where_that_is_asked_for() {
        let texts = vec!["a b c d".to_owned(), "a b c d e".to_owned()];
        let found = by_words(0.8).keep(Keep::Longest).dedup(&texts).unwrap();
        assert_eq!((found.kept.as_slice(), found.removed[0].witness), (&[1][..], 1));
    }

    #[test]
    fn nothing_one_text_and_empty_texts_are_no_trouble() {
        let nothing = options().dedup([] as [&str; 0]).unwrap();
        assert_eq!((nothing.kept.len(), nothing.removed.len(), nothing.rejected.len()), (0, 0, 0));
        assert_eq!(options().pairs([] as [&str; 0]).unwrap().pairs, []);
        assert_eq!(options().compare([] as [&str; 0], [] as [&str; 0]).unwrap().pairs, []);
        assert_eq!(options().compare(["a b"], [] as [&str; 0]).unwrap().pairs, []);
        assert_eq!(options().compare([] as [&str; 0], ["a b"]).unwrap().pairs, []);
        assert_eq!(options().dedup(["one"]).unwrap().kept, [0]);
        // A text without words is like no other.
        let empty = ["", "", " \n\u{0}", "…", "one", ""];
        assert_eq!(options().dedup(empty).unwrap().kept, [0, 1, 2, 3, 4, 5]);
        assert_eq!(options().pairs(empty).unwrap().pairs, []);
    }

    #[test]
    fn a_long_text_is_a_text() {
        let long: String = (0..1_500_000).map(|word| format!("w{} ", word % 70_000)).collect();
        assert!(long.len() > 9_000_000);
        let longer = format!("{long} and more");
        let found = options().dedup([long.as_str(), "short", &longer]).unwrap();
        assert_eq!((found.kept.as_slice(), found.removed[0].witness), (&[0, 1][..], 0));
        assert!(found.removed[0].similarity > 0.99 && found.removed[0].similarity < 1.0);
    }

    #[test]
    fn a_text_that_is_too_long_is_rejected_and_told() {
        let texts = ["a b c d e f", "far too long a text for this", "a b c d e f"];
        let found = options().max_document_bytes(20).dedup(texts).unwrap();
        assert_eq!((found.kept.as_slice(), found.removed.len()), (&[0][..], 1));
        assert_eq!((found.rejected.len(), found.rejected[0].position), (1, 1));
        assert!(found.rejected[0].reason.contains("20"), "{}", found.rejected[0].reason);
        assert_eq!(options().max_document_bytes(20).pairs(texts).unwrap().rejected, found.rejected);
        let both = options().max_document_bytes(20).compare(&texts[..2], &texts[2..]).unwrap();
        assert_eq!((both.rejected_left, both.rejected_right.len()), (found.rejected, 0));
        assert_eq!((both.pairs.len(), both.pairs[0].left, both.pairs[0].right), (1, 0, 0));
        let many: Vec<&str> = (0..300).map(|n| texts[n % 2]).collect();
        let found = options().max_document_bytes(20).dedup(many).unwrap();
        assert_eq!((found.kept.len(), found.removed.len(), found.rejected.len()), (1, 149, 150));
    }

    #[test]
    fn memory_that_cannot_do_is_an_error_with_the_figure_that_would() {
        let told = options().memory(1 << 20).dedup(["a"]).unwrap_err();
        assert!(matches!(told, Error::Engine(EngineError::Memory { .. })), "{told}");
        let needed = |error: Error| match error {
            Error::Engine(EngineError::Memory { needed, .. }) => needed,
            error => panic!("{error}"),
        };
        let large = "x".repeat(3 << 20);
        let (small, large) = (needed(told), needed(options().memory(1 << 20).dedup([large]).unwrap_err()));
        assert!(large + 1024 > small + (3 << 20), "{large} {small}");
        assert!(options().memory(small + (1 << 20)).dedup(["a"]).is_ok());
    }

    #[test]
    fn methods_that_learn_from_the_corpus_do_so() {
        let texts =
            ["one two three four five six seven", "eight nine ten", "one two three four five six seven"];
        for method in ["imatch", "tfidf", "spex", "descriptive-words"] {
            let found = options().method(method).dedup(texts).unwrap();
            assert_eq!(found.kept, [0, 1], "{method}");
        }
    }

    #[test]
    fn containment_is_told_both_ways() {
        let options = by_words(0.9).similarity(Similarity::Containment);
        let pairs = options.pairs(["a b c d e f g h", "a b c d"]).unwrap().pairs;
        assert_eq!(pairs, [SimilarPair { a: 0, b: 1, similarity: 0.5, reverse: Some(1.0) }]);
        let compared = options.compare(["a b c d"], ["x", "a b c d e f g h"]).unwrap().pairs;
        assert_eq!(compared, [ComparedPair { left: 0, right: 1, similarity: 1.0, reverse: Some(0.5) }]);
    }

    #[test]
    fn pairs_that_are_too_many_are_told_as_groups() {
        let matching = crate::request::MatchingOptions { max_group: Some(3), ..Default::default() };
        let texts = ["a b", "a b", "c d", "a b", "a b", "c d"];
        let found = options().matching(matching.clone()).pairs(texts).unwrap();
        assert_eq!(found.groups, [LargeGroup { members: vec![0, 1, 3, 4], pairs: 6, equal: true }]);
        assert_eq!((found.pairs.len(), found.pairs[0].a, found.pairs[0].b), (1, 2, 5));
        let compared = options().matching(matching).compare(texts, texts).unwrap();
        let group = LargeComparedGroup {
            left: vec![0, 1, 3, 4],
            right: vec![0, 1, 3, 4],
            pairs: 16,
            equal: true,
            measured: true,
        };
        assert_eq!((compared.groups, compared.pairs.len()), (vec![group], 4 + 4));
    }

    #[test]
    fn files_are_read_as_the_command_line_reads_them() {
        let folder = tempfile::tempdir().unwrap();
        let (input, output) = (folder.path().join("in"), folder.path().join("out"));
        std::fs::create_dir(&input).unwrap();
        for (name, text) in [("a.txt", "one two three"), ("b.txt", "four"), ("c.txt", "One; two three")] {
            std::fs::write(input.join(name), text).unwrap();
        }
        for _ in 0..2 {
            let summary = options().dedup_files([&input], &output).unwrap();
            assert_eq!((summary.documents, summary.kept, summary.removed), (3, 2, 1));
        }
        let removed: Vec<RemovedLine> = runs::rows(&output.join("removed.jsonl")).unwrap();
        assert!(removed[0].id.ends_with("c.txt") && removed[0].witness.ends_with("a.txt"), "{removed:?}");
        assert!(output.join("report.html").exists());
        let inside = options().dedup_files([&input], input.join("out")).unwrap_err().to_string();
        assert!(inside.contains("lies inside the input"), "{inside}");
        let missing = options().dedup_files([folder.path().join("gone")], folder.path().join("o"));
        assert!(missing.is_err());
    }

    /// Shingles of words by the book; a text with fewer words has one shingle of all of them.
    fn shingles(words: &[u8], n: usize) -> BTreeSet<&[u8]> {
        if words.is_empty() { BTreeSet::new() } else { words.windows(n.min(words.len())).collect() }
    }

    /// The Jaccard similarity of two sets and whether it reaches the threshold, in whole numbers; nothing is like a text without words.
    fn jaccard(a: &BTreeSet<&[u8]>, b: &BTreeSet<&[u8]>, threshold: Threshold) -> (f64, bool) {
        let (shared, union) = (a.intersection(b).count() as u64, a.union(b).count() as u64);
        if union == 0 {
            (0.0, false)
        } else {
            (shared as f64 / union as f64, threshold.reached_by(shared, union))
        }
    }

    /// A text of words that are numbers.
    fn text(words: &[u8]) -> String {
        words.iter().map(|word| format!("w{word} ")).collect()
    }

    /// Lists of words of which many are like others: each is made of an earlier one with a few changes, or new.
    fn word_lists() -> impl Strategy<Value = Vec<Vec<u8>>> {
        let change = (any::<prop::sample::Index>(), 0u8..12);
        let new = prop::collection::vec(0u8..12, 0..14);
        let step = (
            new,
            prop::option::weighted(0.7, any::<prop::sample::Index>()),
            prop::collection::vec(change, 0..3),
        );
        prop::collection::vec(step, 0..24).prop_map(|steps| {
            let mut lists: Vec<Vec<u8>> = Vec::new();
            for (new, earlier, changes) in steps {
                let mut list = match earlier {
                    Some(earlier) if !lists.is_empty() => lists[earlier.index(lists.len())].clone(),
                    _ => new,
                };
                let length = list.len();
                for (at, word) in changes.iter().filter(|_| length > 0) {
                    list[at.index(length)] = *word;
                }
                lists.push(list);
            }
            lists
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

        /// The method `exact` against the plainest code: all pairs of sets, one after the other.
        #[test]
        fn exact_results_are_those_of_brute_force(
            lists in word_lists(),
            shingle in 1usize..4,
            percent in prop::sample::select(vec![20u32, 50, 75, 80, 100]),
            threads in 1usize..4,
        ) {
            let threshold: Threshold = (f64::from(percent) / 100.0).to_string().parse().unwrap();
            let texts: Vec<String> = lists.iter().map(|list| text(list)).collect();
            let sets: Vec<_> = lists.iter().map(|list| shingles(list, shingle)).collect();
            let options = Options::new().method("exact").shingle(shingle).threshold(threshold.value());
            let options = options.threads(threads).memory(1 << 30);

            let found = options.dedup(&texts).unwrap();
            let removed: BTreeSet<usize> = found.removed.iter().map(|text| text.position).collect();
            let kept: BTreeSet<usize> = found.kept.iter().copied().collect();
            prop_assert!(kept.is_disjoint(&removed) && kept.len() + removed.len() == texts.len());
            for text in &found.removed {
                let (similarity, reached) = jaccard(&sets[text.position], &sets[text.witness], threshold);
                prop_assert!(reached && kept.contains(&text.witness), "{text:?}");
                prop_assert!((similarity - text.similarity).abs() < 1e-9, "{text:?} {similarity}");
            }
            let mut expected = Vec::new();
            for (b, second) in sets.iter().enumerate() {
                for (a, first) in sets[..b].iter().enumerate() {
                    let (similarity, reached) = jaccard(first, second, threshold);
                    if reached {
                        prop_assert!(!(kept.contains(&a) && kept.contains(&b)), "{a} and {b} are both kept");
                        expected.push((a, b, (similarity * 1e9).round()));
                    }
                }
            }
            expected.sort_by_key(|&(a, b, _)| (a, b));
            let pairs = options.pairs(&texts).unwrap().pairs;
            let pairs: Vec<_> = pairs.iter().map(|pair| (pair.a, pair.b, (pair.similarity * 1e9).round())).collect();
            prop_assert_eq!(&pairs, &expected);

            let half = texts.len() / 2;
            let compared = options.compare(&texts[..half], &texts[half..]).unwrap().pairs;
            let compared: Vec<_> = compared
                .iter()
                .map(|pair| (pair.left, pair.right + half, (pair.similarity * 1e9).round()))
                .collect();
            expected.retain(|&(a, b, _)| a < half && b >= half);
            prop_assert_eq!(compared, expected);
        }
    }

    #[test]
    fn results_do_not_depend_on_threads_or_memory() {
        let mut documents = crate::generate::Plan { documents: 400, seed: 5 }.documents();
        let mut texts = Vec::new();
        while let Some(document) = documents.next() {
            texts.push(document.content.to_owned());
        }
        for method in ["minhash", "exact", "simhash"] {
            let run = |threads, memory| {
                let options = Options::new().method(method).threads(threads).memory(memory);
                let (left, right) = texts.split_at(200);
                (
                    options.dedup(&texts).unwrap(),
                    options.pairs(&texts).unwrap(),
                    options.compare(left, right).unwrap(),
                )
            };
            let one = run(1, 1 << 30);
            assert!(
                one.0.removed.len() > 10 && one.1.pairs.len() > 10 && !one.2.pairs.is_empty(),
                "{method}"
            );
            assert_eq!(run(2, 2 << 30), one, "{method}");
            assert_eq!(run(5, 300 << 20), one, "{method}");
        }
    }
}
