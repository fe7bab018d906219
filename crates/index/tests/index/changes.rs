//! An index agrees with a plain list after any order of adding, deleting, flushing, merging, closing and copying.

use std::collections::BTreeSet;
use std::path::PathBuf;

use lookalike_index::{Index, Mode, OnExistingId, PreparedDocument, QueryBuffers, State, Verdict};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use crate::support::{THRESHOLD, assert_clean, create, prepared, words, writing};

/// A document as a test makes it: which family, which words are others, how it is written.
#[derive(Debug, Clone)]
struct GeneratedDocument {
    id: u32,
    /// None has no words at all.
    family: Option<u32>,
    edits: Vec<u32>,
    upper_case: bool,
    /// It is looked up before it is added.
    looked_up_first: bool,
}

impl GeneratedDocument {
    fn id(&self) -> String {
        format!("d{}", self.id)
    }

    fn words(&self) -> Vec<String> {
        self.family.map_or_else(Vec::new, |family| words(family, &self.edits))
    }

    fn text(&self) -> String {
        match (self.family, self.upper_case) {
            (None, _) => "... !".to_owned(),
            (_, true) => self.words().join(", ").to_uppercase(),
            (_, false) => self.words().join(" "),
        }
    }
}

/// An operation on an index.
#[derive(Debug, Clone)]
enum Step {
    Add(Vec<GeneratedDocument>, OnExistingId),
    Remove(u32),
    Flush,
    Compact,
    Reopen,
    /// Opened again without being closed before, as after an error.
    Drop,
    /// Goes on with a copy.
    Fork,
}

fn generated_document() -> impl Strategy<Value = GeneratedDocument> {
    let family = prop_oneof![9 => (0..3u32).prop_map(Some), 1 => Just(None)];
    // A word at the end takes one run of five away, one in the midst takes five.
    let edit = prop_oneof![Just(0), Just(20), Just(40), Just(59)];
    let edits = prop::collection::btree_set(edit, 0..3).prop_map(|edits| edits.into_iter().collect());
    (0..14u32, family, edits, any::<bool>(), any::<bool>()).prop_map(
        |(id, family, edits, upper_case, looked_up_first)| GeneratedDocument {
            id,
            family,
            edits,
            upper_case,
            looked_up_first,
        },
    )
}

fn step() -> impl Strategy<Value = Step> {
    let on_existing = prop_oneof![
        1 => Just(OnExistingId::Refuse),
        2 => Just(OnExistingId::Replace),
        3 => Just(OnExistingId::Both),
    ];
    prop_oneof![
        8 => (prop::collection::vec(generated_document(), 1..6), on_existing)
            .prop_map(|(batch, on_existing)| Step::Add(batch, on_existing)),
        5 => (0..14u32).prop_map(Step::Remove),
        2 => Just(Step::Flush),
        1 => Just(Step::Compact),
        1 => Just(Step::Reopen),
        1 => Just(Step::Drop),
        1 => Just(Step::Fork),
    ]
}

/// A document of the model.
#[derive(Debug, Clone)]
struct ModelDocument {
    id: String,
    words: Vec<String>,
    /// None was taken out.
    state: Option<State>,
}

/// The plainest index: a list, of which everybody is compared with everybody.
#[derive(Debug, Default)]
struct Model {
    all: Vec<ModelDocument>,
}

impl Model {
    fn live(&self, id: &str) -> Vec<usize> {
        let there = self.all.iter().enumerate();
        there.filter(|(_, one)| one.id == id && one.state.is_some()).map(|(number, _)| number).collect()
    }

    /// Documents that are near, with their similarity.
    fn near<'m>(&'m self, words: &'m [String]) -> impl Iterator<Item = (usize, f64)> + 'm {
        let there = self.all.iter().enumerate().filter(|(_, one)| one.state.is_some());
        let there = there.filter(|(_, one)| !words.is_empty() && !one.words.is_empty());
        let measured = there.map(|(number, one)| (number, jaccard(words, &one.words)));
        measured.filter(|(_, similarity)| *similarity >= THRESHOLD)
    }

    /// The most similar of the kept ones, of equally similar ones the first, stands for it.
    fn decide(&self, words: &[String]) -> State {
        let kept = self.near(words).filter(|(number, _)| self.all[*number].state == Some(State::Kept));
        let best = kept.min_by(|one, two| two.1.total_cmp(&one.1).then(one.0.cmp(&two.0)));
        best.map_or(State::Kept, |(witness, similarity)| State::Removed {
            witness: witness as u32,
            similarity: Some(similarity),
        })
    }

    fn add(&mut self, document: &GeneratedDocument, on_existing: OnExistingId) -> Verdict {
        let (id, words) = (document.id(), document.words());
        if on_existing != OnExistingId::Both {
            let there = self.live(&id);
            if let Some(&number) = there.iter().find(|&&number| self.all[number].words == words) {
                let state = self.all[number].state.unwrap();
                return Verdict::Added { number: number as u32, state, known: true };
            }
            match there.first() {
                Some(&number) if on_existing == OnExistingId::Refuse => {
                    return Verdict::Conflict { number: number as u32 };
                }
                _ => there.into_iter().for_each(|number| self.remove(number)),
            }
        }
        let state = self.decide(&words);
        self.all.push(ModelDocument { id, words, state: Some(state) });
        Verdict::Added { number: self.all.len() as u32 - 1, state, known: false }
    }

    fn is_witness_of(&self, witness: usize, number: usize) -> bool {
        matches!(self.all[number].state, Some(State::Removed { witness: other, .. }) if other as usize == witness)
    }

    fn remove(&mut self, number: usize) {
        self.all[number].state = None;
        for dependent in 0..self.all.len() {
            if self.is_witness_of(number, dependent) {
                self.all[dependent].state = None;
                self.all[dependent].state = Some(self.decide(&self.all[dependent].words));
            }
        }
    }

    fn count(&self, is_counted: impl Fn(Option<State>) -> bool) -> u64 {
        self.all.iter().filter(|one| is_counted(one.state)).count() as u64
    }
}

/// An index beside its model.
struct IndexAndModel {
    index: Option<Index>,
    model: Model,
    folder: tempfile::TempDir,
    path: PathBuf,
    copies: usize,
    tail: usize,
}

impl IndexAndModel {
    fn new(tail: usize) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("index");
        create(&path, "exact", true);
        let index = Some(Index::open(&path, writing(tail)).unwrap());
        IndexAndModel { index, model: Model::default(), folder, path, copies: 0, tail }
    }

    fn index(&self) -> &Index {
        self.index.as_ref().unwrap()
    }

    fn reopen(&mut self) {
        self.index = None;
        self.index = Some(Index::open(&self.path, writing(self.tail)).unwrap());
    }

    fn carry_out(&mut self, step: &Step) {
        match step {
            Step::Add(batch, on_existing) => self.add(batch, *on_existing),
            Step::Remove(id) => {
                let id = format!("d{id}");
                let there = self.model.live(&id);
                assert_eq!(self.index().remove(&id).unwrap(), there.len() as u64);
                there.into_iter().for_each(|number| self.model.remove(number));
            }
            Step::Flush => self.index().flush().unwrap(),
            Step::Compact => {
                self.index().compact().unwrap();
                assert!(self.index().stats().segments <= 1);
                assert_eq!(self.index().stats().in_log, 0);
            }
            Step::Reopen => {
                self.index.take().unwrap().close().unwrap();
                self.reopen();
            }
            Step::Drop => self.reopen(),
            Step::Fork => {
                self.copies += 1;
                let copy = self.folder.path().join(format!("copy{}", self.copies));
                Index::fork(&self.path, &copy).unwrap();
                self.index = None;
                self.path = copy;
                self.reopen();
            }
        }
    }

    fn add(&mut self, batch: &[GeneratedDocument], on_existing: OnExistingId) {
        let mut buffers = self.index().buffers().unwrap();
        let mut documents: Vec<PreparedDocument> = Vec::new();
        for document in batch {
            let mut one = prepared(self.index(), &mut buffers, &document.id(), &document.text());
            if document.looked_up_first {
                self.index().look_up(&mut buffers, &mut one).unwrap();
            }
            documents.push(one);
        }
        let found = self.index().add(documents, on_existing).unwrap();
        let expected: Vec<Verdict> =
            batch.iter().map(|document| self.model.add(document, on_existing)).collect();
        assert_eq!(found, expected);
    }

    fn assert_same(&self, index: &Index, buffers: &mut QueryBuffers) {
        assert_eq!(index.next() as usize, self.model.all.len());
        let stats = index.stats();
        let kept = self.model.count(|state| state == Some(State::Kept));
        let removed = self.model.count(|state| matches!(state, Some(State::Removed { .. })));
        assert_eq!((stats.kept, stats.removed), (kept, removed));
        assert_eq!(stats.deleted, self.model.count(|state| state.is_none()));
        for (number, one) in self.model.all.iter().enumerate() {
            let entry = index.entry(buffers, number as u32).unwrap();
            assert_eq!(entry.as_ref().map(|entry| entry.state), one.state, "number {number}");
            if let Some(entry) = entry {
                assert_eq!((entry.id, entry.words as usize), (one.id.clone(), one.words.len()));
            }
        }
        for id in (0..14).map(|id| format!("d{id}")) {
            let there: Vec<usize> =
                index.get(buffers, &id).unwrap().iter().map(|entry| entry.number as usize).collect();
            assert_eq!(there, self.model.live(&id), "{id}");
        }
        self.assert_clusters(index, buffers);
        assert_clean(index, "the index");
    }

    fn assert_clusters(&self, index: &Index, buffers: &mut QueryBuffers) {
        let members = |keeper: usize| -> Vec<usize> {
            (0..self.model.all.len()).filter(|&number| self.model.is_witness_of(keeper, number)).collect()
        };
        let all = (0..self.model.all.len()).map(|keeper| (keeper, members(keeper)));
        let expected: Vec<(usize, Vec<usize>)> = all.filter(|(_, members)| !members.is_empty()).collect();
        let mut found = Vec::new();
        for cluster in index.clusters(buffers).unwrap() {
            let members = index.members(buffers, cluster.keeper).unwrap();
            assert_eq!(cluster.size as usize, members.len() + 1);
            let numbers = members.iter().map(|entry| entry.number as usize).collect();
            found.push((cluster.keeper as usize, numbers));
        }
        assert_eq!(found, expected);
    }

    /// The index names exactly the documents at or above the threshold.
    fn assert_answers(&self, index: &Index, buffers: &mut QueryBuffers, document: &GeneratedDocument) {
        let asked = prepared(index, buffers, "asked", &document.text());
        let answer = index.query(buffers, &asked, usize::MAX).unwrap();
        let words = document.words();
        let mut expected: Vec<(u32, Option<f64>, bool)> = self
            .model
            .near(&words)
            .map(|(number, similarity)| {
                (number as u32, Some(similarity), self.model.all[number].state == Some(State::Kept))
            })
            .collect();
        expected.sort_by(|one, two| two.1.partial_cmp(&one.1).unwrap().then(one.0.cmp(&two.0)));
        let found: Vec<(u32, Option<f64>, bool)> =
            answer.matches.iter().map(|hit| (hit.number, hit.similarity, hit.kept)).collect();
        assert_eq!(found, expected, "{document:?}");
        assert_eq!(answer.total, expected.len());
    }
}

/// All runs of five words.
fn shingles(words: &[String]) -> BTreeSet<&[String]> {
    words.windows(5).collect()
}

/// The share of runs that two documents have in common.
fn jaccard(one: &[String], two: &[String]) -> f64 {
    let (one, two) = (shingles(one), shingles(two));
    let shared = one.intersection(&two).count();
    shared as f64 / (one.len() + two.len() - shared) as f64
}

fn fixed(cases: u32) -> ProptestConfig {
    ProptestConfig {
        rng_seed: RngSeed::Fixed(7),
        failure_persistence: None,
        cases,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(fixed(14))]

    #[test]
    fn after_any_changes_the_index_says_what_a_plain_list_says(
        steps in prop::collection::vec(step(), 1..16),
        asked in prop::collection::vec(generated_document(), 3),
        tail in prop_oneof![Just(1usize), Just(4 << 10), Just(32 << 20)],
    ) {
        let mut pair = IndexAndModel::new(tail);
        let mut buffers = pair.index().buffers().unwrap();
        for step in &steps {
            pair.carry_out(step);
            // What buffers have cached of earlier moments changes no answer.
            if matches!(step, Step::Reopen | Step::Drop | Step::Fork) {
                buffers = pair.index().buffers().unwrap();
            }
            pair.assert_same(pair.index(), &mut buffers);
            asked.iter().for_each(|document| pair.assert_answers(pair.index(), &mut buffers, document));
        }
        let reader = Index::open(&pair.path, Mode::Read).unwrap();
        let mut buffers = reader.buffers().unwrap();
        pair.assert_same(&reader, &mut buffers);
        asked.iter().for_each(|document| pair.assert_answers(&reader, &mut buffers, document));
    }
}
