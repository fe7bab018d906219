//! From postings in the order of their keys to pairs, group by group.

use std::sync::Arc;

use lookalike_model::{DocNumber, Pair};

use crate::error::EngineError;
use crate::examine::Examiner;
use crate::panel::PanelMethod;
use crate::recipe::Task;
use crate::stages::group::groups::{GroupHost, Groups, Limits, MemberFacts, SeenGroups, Tagged};
use crate::stages::group::job_groups;

/// A key of a document, with what its group must know of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Posting {
    /// Number of the method.
    pub method: usize,
    /// The key. Order is that of signed numbers.
    pub key: i64,
    /// Number of the document.
    pub document: u32,
    /// The tag of the key, which the method gets back when documents meet in a group.
    pub tag: u32,
    /// The document's length, as the method sees it.
    pub length: u32,
    /// Hash of its payload.
    pub mark: u32,
    /// Flags used where two corpora are compared: it, or one that it stands for, is on the left side; and on the right side.
    pub sides: [bool; 2],
}

/// Two documents that share a key of a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct MethodPair {
    /// Number of the method.
    pub method: usize,
    /// The earlier document.
    pub a: u32,
    /// The later one.
    pub b: u32,
    /// The later is found by the earlier, where some keys only ask.
    pub back: bool,
}

/// A group that stays too large and is written down in place of its pairs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Giant {
    /// Number of the method.
    pub method: usize,
    /// Its documents.
    pub documents: Vec<u32>,
}

/// The counts of the whole corpus.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CorpusCounts {
    /// Documents with different words.
    pub different: u64,
    /// Documents with lower numbers are there to be compared with.
    pub references: u32,
}

/// Takes postings in the order of method, key and document, and hands out the pairs of every group.
///
/// A group is in memory while it is gone through: 28 bytes for each of its documents, and their records if these were given.
pub struct GroupStream {
    examiner: Arc<Examiner>,
    counts: CorpusCounts,
    last: Option<Posting>,
    group: Vec<Tagged>,
    members: GroupMembers,
    /// Pairs that were proposed and not yet taken.
    pairs: Vec<MethodPair>,
    giants: Vec<Giant>,
    giant_groups: u64,
    /// Groups that were there before, by method.
    seen: Vec<Option<SeenGroups>>,
}

impl std::fmt::Debug for GroupStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GroupStream").field("last", &self.last).finish_non_exhaustive()
    }
}

/// The members of a group, in the order of their numbers.
#[derive(Debug, Default)]
struct GroupMembers {
    documents: Vec<(DocNumber, MemberFacts, [bool; 2])>,
    records: Vec<u8>,
    width: usize,
    references: u32,
    task: Option<Task>,
    pairs: Vec<(Pair, bool)>,
    giants: Vec<Vec<u32>>,
}

impl GroupMembers {
    fn index_of(&self, document: DocNumber) -> usize {
        self.documents.binary_search_by_key(&document, |(number, ..)| *number).unwrap_or_default()
    }
}

impl GroupHost for &mut GroupMembers {
    fn facts(&self, document: DocNumber) -> MemberFacts {
        self.documents[self.index_of(document)].1
    }

    fn record(&mut self, document: DocNumber) -> Result<&[u8], EngineError> {
        let at = self.index_of(document) * self.width;
        self.records.get(at..at + self.width).ok_or_else(|| {
            EngineError::Request(
                "a group is too large, and the records of its documents were not given; take such keys out first"
                    .to_owned(),
            )
        })
    }

    fn is_reference(&self, document: DocNumber) -> bool {
        document.get() < self.references
    }

    fn compares(&self) -> bool {
        self.task == Some(Task::Compare)
    }

    fn sides(&self, document: DocNumber) -> [bool; 2] {
        self.documents[self.index_of(document)].2
    }

    /// Refuses no group: the machine that leads the others takes pairs as they come.
    fn check_room(&self, _: usize, _: u64) -> Result<(), EngineError> {
        Ok(())
    }

    fn pair(&mut self, pair: Pair) -> Result<(), EngineError> {
        self.pairs.push((pair, false));
        Ok(())
    }

    fn pair_back(&mut self, pair: Pair) -> Result<(), EngineError> {
        self.pairs.push((pair, true));
        Ok(())
    }

    fn writes_giants(&self) -> bool {
        self.task != Some(Task::Dedup)
    }

    fn giant(&mut self, group: &[Tagged]) -> Result<(), EngineError> {
        self.giants.push(group.iter().map(|member| member.document.get()).collect());
        Ok(())
    }

    fn checkpoint(&mut self, _key: u64) -> Result<(), EngineError> {
        Ok(())
    }
}

impl GroupStream {
    /// For the postings of a corpus.
    pub fn new(examiner: Arc<Examiner>, counts: CorpusCounts) -> Self {
        let members = GroupMembers {
            width: examiner.record_bytes(),
            references: counts.references,
            task: Some(examiner.recipe().task),
            ..GroupMembers::default()
        };
        let seen = examiner.methods().map(|_| None).collect();
        GroupStream {
            examiner,
            counts,
            last: None,
            group: Vec::new(),
            members,
            pairs: Vec::new(),
            giants: Vec::new(),
            giant_groups: 0,
            seen,
        }
    }

    /// Takes the next posting, with the record of its document if its group may be too large.
    pub fn take(&mut self, posting: Posting, record: Option<&[u8]>) -> Result<(), EngineError> {
        let key = |posting: &Posting| (posting.method, posting.key);
        if let Some(last) = self.last {
            if (key(&last), last.document) > (key(&posting), posting.document) {
                return Err(EngineError::Request(format!(
                    "postings are out of order: document {} with key {} of method {} came behind document {} with key {} of method {}; \
                     the engine that brings them together must sort them by method, key and document",
                    posting.document, posting.key, posting.method, last.document, last.key, last.method
                )));
            }
            if key(&last) != key(&posting) {
                self.close()?;
            } else if last.document == posting.document {
                return Ok(());
            }
        }
        if posting.method >= self.seen.len() {
            return Err(EngineError::Request(format!("there is no method {} in this run", posting.method)));
        }
        self.last = Some(posting);
        let document = DocNumber::new(posting.document);
        self.group.push(Tagged { document, tag: posting.tag });
        let facts = MemberFacts { length: posting.length, mark: posting.mark };
        self.members.documents.push((document, facts, posting.sides));
        if let Some(record) = record {
            self.members.records.extend_from_slice(record);
        }
        Ok(())
    }

    /// The last group is whole.
    pub fn finish(&mut self) -> Result<(), EngineError> {
        self.close()?;
        self.last = None;
        Ok(())
    }

    /// Pairs that were proposed since the last call.
    pub fn pairs(&mut self) -> std::vec::Drain<'_, MethodPair> {
        self.pairs.drain(..)
    }

    /// Number of pairs that wait to be taken.
    pub fn waiting(&self) -> usize {
        self.pairs.len()
    }

    /// Groups that stay too large, of runs that write them down, since the last call.
    pub fn giants(&mut self) -> std::vec::Drain<'_, Giant> {
        self.giants.drain(..)
    }

    /// Groups so far that did not propose all of their pairs.
    pub fn giant_groups(&self) -> u64 {
        self.giant_groups
    }

    /// Lets the group at hand propose its pairs.
    fn close(&mut self) -> Result<(), EngineError> {
        let Some(last) = self.last.filter(|_| self.group.len() > 1) else {
            self.clear();
            return Ok(());
        };
        let (method, examiner) = (last.method, self.examiner.clone());
        let entry = examiner.panel_method(method);
        let limits = Limits { max_group: examiner.recipe().max_group, different: self.counts.different };
        let seen = self.seen[method].take().unwrap_or_else(|| SeenGroups::new(&*entry.method));
        let mut groups = Groups::new(&mut self.members, entry, limits, None, seen);
        groups.take(last.key as u64, &mut self.group)?;
        let (_, giant_groups, seen) = groups.finish();
        self.seen[method] = Some(seen);
        self.giant_groups += giant_groups;
        for (pair, back) in self.members.pairs.drain(..) {
            let [a, b] = pair.documents().map(DocNumber::get);
            self.pairs.push(MethodPair { method, a, b, back });
        }
        self.giants.extend(self.members.giants.drain(..).map(|documents| Giant { method, documents }));
        self.clear();
        Ok(())
    }

    fn clear(&mut self) {
        self.group.clear();
        self.members.documents.clear();
        self.members.records.clear();
    }
}

/// Returns the length of the document with this record, as one method sees it, and the hash of its payload.
pub fn facts(examiner: &Examiner, method: usize, record: &[u8]) -> (u32, u32) {
    let entry: &PanelMethod = examiner.panel_method(method);
    let MemberFacts { length, mark } = job_groups::member_facts(entry, record);
    (length, mark)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::JobRecipe;
    use crate::tests::recipe;

    fn stream(recipe: JobRecipe) -> GroupStream {
        let folder = tempfile::tempdir().unwrap();
        let examiner = Arc::new(Examiner::open(recipe, folder.path()).unwrap());
        GroupStream::new(examiner, CorpusCounts { different: 100, references: 0 })
    }

    fn posting(method: usize, key: i64, document: u32) -> Posting {
        Posting { method, key, document, tag: 0, length: 9, mark: document, sides: [false; 2] }
    }

    fn pair(method: usize, a: u32, b: u32) -> MethodPair {
        MethodPair { method, a, b, back: false }
    }

    #[test]
    fn documents_with_a_key_of_one_method_are_pairs() {
        let mut stream = stream(recipe("md5 a0"));
        for (method, key, document) in
            [(0, -3, 5), (0, 7, 1), (0, 7, 4), (0, 7, 4), (1, 7, 2), (1, 7, 5), (1, 7, 9)]
        {
            stream.take(posting(method, key, document), None).unwrap();
        }
        assert_eq!(stream.waiting(), 1, "the last group is not whole");
        stream.finish().unwrap();
        assert_eq!(stream.waiting(), 4);
        let mut found: Vec<MethodPair> = stream.pairs().collect();
        found.sort();
        assert_eq!(found, [pair(0, 1, 4), pair(1, 2, 5), pair(1, 2, 9), pair(1, 5, 9)]);
        assert_eq!((stream.waiting(), stream.giant_groups()), (0, 0));
        stream.take(posting(0, -9, 1), None).unwrap();
    }

    #[test]
    fn groups_that_stay_too_large_are_handed_out_where_pairs_are_listed() {
        let mut stream = stream(JobRecipe { task: Task::Pairs, max_group: 2, ..recipe("md5") });
        let record = vec![1; stream.examiner.record_bytes()];
        for document in [1, 4, 6] {
            stream.take(posting(0, 7, document), Some(&record)).unwrap();
        }
        stream.finish().unwrap();
        assert_eq!(stream.giants().collect::<Vec<_>>(), [Giant { method: 0, documents: vec![1, 4, 6] }]);
        assert_eq!((stream.waiting(), stream.giant_groups(), stream.giants().count()), (0, 1, 0));
    }

    #[test]
    fn a_large_group_that_can_be_split_wants_the_records_of_its_documents() {
        let large = |method: &str| {
            let mut stream = stream(JobRecipe { max_group: 2, ..recipe(method) });
            for document in [1, 4, 6] {
                stream.take(posting(0, 7, document), None).unwrap();
            }
            stream.finish()
        };
        assert!(large("md5").is_ok(), "this method splits nothing by what it keeps of a document");
        let error = large("simhash").unwrap_err().to_string();
        assert!(
            error.starts_with("a group is too large, and the records of its documents were not given"),
            "{error}"
        );
    }

    #[test]
    fn a_method_that_is_not_there_is_told() {
        let error = stream(recipe("md5")).take(posting(1, 7, 1), None).unwrap_err().to_string();
        assert_eq!(error, "there is no method 1 in this run");
    }

    #[test]
    fn facts_are_those_of_a_record() {
        let folder = tempfile::tempdir().unwrap();
        let examiner = Examiner::open(recipe("md5"), folder.path()).unwrap();
        let mut buffers = crate::examine::ExamineBuffers::new(&examiner);
        let mut of =
            |text: &str| facts(&examiner, 0, &buffers.text(&examiner, text.to_owned()).unwrap().record);
        let (one, same, other) = (of("one two three"), of("One two three"), of("four"));
        assert_eq!((one.0, other.0), (3, 1));
        assert!(one == same && one.1 != other.1);
    }
}
