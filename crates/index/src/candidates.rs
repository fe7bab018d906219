//! The candidates of a document: those that share keys with it, measured.

use std::sync::Arc;

use lookalike_engine::examine::{Examined, Examiner, SharedKeys};
use lookalike_engine::measure::Measured;
use lookalike_methods::{DirectedKeyCounts, Member, Method};

use crate::chunk::{Tables, word_key};
use crate::error::IndexError;
use crate::part::Snapshot;
use crate::prepared::{Candidate, Candidates, CommonRank, KeyMatch};
use crate::query_buffers::{QueryBuffers, Subject};
use crate::row::{Row, State};

/// Documents that share only common keys with one are candidates up to this number. Pages of one template would each be measured
/// against all before them else; those with more in common than the template share rarer keys, too.
const MOST_COMMON: usize = 128;

/// A query of a snapshot.
pub(crate) struct SnapshotQuery<'a> {
    pub(crate) examiner: &'a Examiner,
    pub(crate) tables: &'a Tables,
    pub(crate) snapshot: &'a Snapshot,
    pub(crate) buffers: &'a mut QueryBuffers,
}

impl SnapshotQuery<'_> {
    /// Finds the candidates of a document.
    pub(crate) fn find(&mut self, examined: &Examined) -> Result<Candidates, IndexError> {
        let mut candidates = Candidates { epoch: self.snapshot.epoch, ..Candidates::default() };
        self.find_since(examined, &mut candidates)?;
        Ok(candidates)
    }

    /// Adds the candidates among the documents that came since.
    pub(crate) fn find_since(
        &mut self,
        examined: &Examined,
        candidates: &mut Candidates,
    ) -> Result<(), IndexError> {
        let from = std::mem::replace(&mut candidates.searched_below, self.snapshot.next);
        if examined.words == 0 {
            return Ok(());
        }
        if candidates.leader.is_none() {
            candidates.leader = self.leader(examined.digest, from)?;
        }
        if self.match_keys(examined, from, candidates)? && from > 0 {
            // Which of the earlier candidates share only common keys was told by keys that were not common then.
            candidates.forget_classes();
            self.match_keys(examined, 0, candidates)?;
        }
        self.rank_common(candidates);
        self.add_candidates(examined, candidates)
    }

    /// Takes the matching documents that share only common keys into the ranking.
    fn rank_common(&self, candidates: &mut Candidates) {
        let most = self.examiner.recipe().max_group.min(MOST_COMMON);
        let groups = self.buffers.matches.chunk_by(|one, two| one.number == two.number);
        let common = groups
            .filter(|group| !self.shares_rare_key(group, &candidates.postings))
            .filter(|group| Some(group[0].number) != candidates.leader);
        let ranks: Vec<CommonRank> = common.map(CommonRank::of).collect();
        candidates.rank_common(ranks, most);
    }

    /// The first document with these words, among those from `from` on.
    fn leader(&mut self, digest: u128, from: u32) -> Result<Option<u32>, IndexError> {
        let mut leaders = Vec::new();
        let (table, key) = (self.tables.words(), word_key(digest));
        self.snapshot
            .find(table, key, from, &mut self.buffers.blocks, &mut |number, _| leaders.push(number))?;
        for number in leaders.into_iter().filter(|&number| number >= from) {
            let row = self.row(number)?;
            if row.digest == digest && row.state != State::Deleted {
                return Ok(Some(number));
            }
        }
        Ok(None)
    }

    /// Collects the postings of the document's keys; returns true if a key has become common.
    fn match_keys(
        &mut self,
        examined: &Examined,
        from: u32,
        candidates: &mut Candidates,
    ) -> Result<bool, IndexError> {
        let QueryBuffers { matches, blocks, .. } = &mut *self.buffers;
        matches.clear();
        let mut became_common = false;
        candidates.postings.resize_with(examined.keys.len(), Vec::new);
        for (place, (method, keys)) in self.examiner.methods().zip(&examined.keys).enumerate() {
            // The document itself is one more.
            let most = method.abilities().max_documents_per_key(self.snapshot.counts.classes + 1);
            let common = postings_of_common_key(self.examiner, method);
            candidates.postings[place].resize(keys.len(), 0);
            for (number, key) in keys.iter().enumerate() {
                let before = matches.len();
                self.snapshot.find(place, key.value, from, blocks, &mut |document, tag| {
                    if document >= from {
                        let (method, key) = (place as u32, number as u32);
                        matches.push(KeyMatch { number: document, method, key, tag });
                    }
                })?;
                let postings = &mut candidates.postings[place][number];
                let was_common = *postings as usize >= common;
                *postings += (matches.len() - before) as u32;
                became_common |= !was_common && *postings as usize >= common;
                if u64::from(*postings) + 1 > most {
                    matches.truncate(before);
                }
            }
        }
        matches.sort_unstable();
        Ok(became_common)
    }

    /// Adds the classes with matching keys that methods propose and do not rule out.
    fn add_candidates(&mut self, examined: &Examined, candidates: &mut Candidates) -> Result<(), IndexError> {
        let matches = std::mem::take(&mut self.buffers.matches);
        for group in matches.chunk_by(|one, two| one.number == two.number) {
            let class = group[0].number;
            let shares_rare_key = self.shares_rare_key(group, &candidates.postings);
            if Some(class) == candidates.leader
                || !shares_rare_key && !candidates.is_ranked(CommonRank::of(group))
            {
                continue;
            }
            self.cache_row(class)?;
            let Some(cached) = self.buffers.rows.get(class, self.snapshot.age()) else { continue };
            if cached.row.state == State::Deleted {
                continue;
            }
            let shared = self.shared(examined, &cached.record, group);
            if self.examiner.promising([&cached.record, &examined.record], &shared) {
                candidates.classes.push(Candidate {
                    class,
                    shared,
                    common: (!shares_rare_key).then(|| CommonRank::of(group)),
                    record: cached.record.clone(),
                    measured: None,
                });
            }
        }
        self.buffers.matches = matches;
        Ok(())
    }

    /// True if one of the matching keys is not common.
    fn shares_rare_key(&self, matches: &[KeyMatch], postings: &[Vec<u32>]) -> bool {
        matches.chunk_by(|one, two| one.method == two.method).any(|group| {
            let place = group[0].method as usize;
            let method = self.examiner.methods().nth(place);
            let common = method.map_or(usize::MAX, |method| postings_of_common_key(self.examiner, method));
            group.iter().any(|one| (postings[place][one.key as usize] as usize) < common)
        })
    }

    /// Reads the row and the record of a document into the cache.
    fn cache_row(&mut self, number: u32) -> Result<(), IndexError> {
        let QueryBuffers { rows, blocks, record, .. } = &mut *self.buffers;
        let age = self.snapshot.age();
        if rows.get(number, age).is_none() {
            let row = self.snapshot.row(number, blocks)?;
            record.clear();
            if row.state != State::Deleted {
                self.snapshot.record(number, &row, blocks, record)?;
            }
            rows.put(number, age, row, record);
        }
        Ok(())
    }

    /// Counts the keys that two documents share, by method.
    fn shared(&self, examined: &Examined, record: &[u8], matches: &[KeyMatch]) -> SharedKeys {
        let mut shared = SharedKeys::default();
        for group in matches.chunk_by(|one, two| one.method == two.method) {
            let place = group[0].method as usize;
            let Some(method) = self.examiner.methods().nth(place) else { continue };
            let lengths = [record, &examined.record].map(|record| self.examiner.length(place, record));
            let pairs = group.iter().map(|one| (one.tag, examined.keys[place][one.key as usize].tag));
            shared[place] = shared_by(method, lengths, pairs);
        }
        if self.examiner.proposed(&shared) { shared } else { SharedKeys::default() }
    }

    /// The row of a document, as it is now.
    pub(crate) fn row(&mut self, number: u32) -> Result<Row, IndexError> {
        if let Some(cached) = self.buffers.rows.get(number, self.snapshot.age()) {
            return Ok(cached.row);
        }
        self.snapshot.row(number, &mut self.buffers.blocks)
    }

    /// Measures the subject against a candidate; none if it is not near.
    pub(crate) fn measure(
        &mut self,
        subject: &mut Subject<'_>,
        candidate: &mut Candidate,
    ) -> Result<Option<Measured>, IndexError> {
        if let Some(measured) = candidate.measured {
            return Ok(measured);
        }
        let records = [&candidate.record[..], &subject.examined.record];
        let (examiner, class) = (self.examiner, candidate.class);
        let measured = examiner.judge(records, &candidate.shared, || self.compare(subject, class))?;
        let measured = measured.map(Measured::swapped);
        candidate.measured = Some(measured);
        Ok(measured)
    }

    /// Measures the subject against a class that no method proposed.
    pub(crate) fn measure_unproposed(
        &mut self,
        subject: &mut Subject<'_>,
        class: u32,
    ) -> Result<Option<Measured>, IndexError> {
        let row = self.row(class)?;
        let mut record = Vec::new();
        self.snapshot.record(class, &row, &mut self.buffers.blocks, &mut record)?;
        let (examiner, mine) = (self.examiner, &subject.examined.record[..]);
        let measured = examiner.judge_unproposed([&record, mine], || self.compare(subject, class))?;
        Ok(measured.map(Measured::swapped))
    }

    /// The similarity of a class to the subject.
    fn compare(&mut self, subject: &mut Subject<'_>, class: u32) -> Result<Option<Measured>, IndexError> {
        let Some((number, row)) = self.live_member(class)? else { return Ok(None) };
        let set = self.set(number, &row)?;
        Ok(subject.compare(self.examiner, &mut self.buffers.engine, &set))
    }

    /// Returns the prepared text of a document, which never changes, whatever its state.
    fn set(&mut self, number: u32, row: &Row) -> Result<Arc<[u64]>, IndexError> {
        if let Some(set) = self.buffers.texts.get(number) {
            return Ok(set);
        }
        let mut body = std::mem::take(&mut self.buffers.bytes);
        self.snapshot.body(number, row, &mut self.buffers.blocks, &mut body)?;
        let set = self.buffers.set_of(self.examiner, &body, row.text as usize);
        self.buffers.bytes = body;
        let set: Arc<[u64]> = set?.into();
        self.buffers.texts.put(number, set.clone());
        Ok(set)
    }

    /// Returns a live document of a class.
    fn live_member(&mut self, class: u32) -> Result<Option<(u32, Row)>, IndexError> {
        let row = self.row(class)?;
        if row.state.is_live() {
            return Ok(Some((class, row)));
        }
        for number in self.snapshot.lookup(self.tables.members(), class.into(), &mut self.buffers.blocks)? {
            let row = self.row(number)?;
            if row.state.is_live() {
                return Ok(Some((number, row)));
            }
        }
        Ok(None)
    }

    /// A document examined again; nothing where texts are not kept, or it is not there any more.
    pub(crate) fn examined(&mut self, number: u32) -> Result<Option<Examined>, IndexError> {
        let row = self.row(number)?;
        if !self.buffers.keeps_text() || !row.state.is_live() {
            return Ok(None);
        }
        let text = self.text(number, &row)?;
        self.buffers.engine.text(self.examiner, text).map(Some).map_err(IndexError::Request)
    }

    /// The text of a document, where texts are kept.
    pub(crate) fn text(&mut self, number: u32, row: &Row) -> Result<String, IndexError> {
        let mut body = Vec::new();
        self.snapshot.body(number, row, &mut self.buffers.blocks, &mut body)?;
        self.buffers.text_of(&body, row.text as usize)
    }
}

/// The number of postings from which on a key is common: with one more document its group would be a giant one.
pub(crate) fn postings_of_common_key(examiner: &Examiner, method: &dyn Method) -> usize {
    examiner.recipe().max_group.max(method.abilities().least_group())
}

/// Counts the keys of one method that two documents share: `[there, asks]` are the lengths of the indexed document and of the
/// queried one, `pairs` their tags in the same order.
fn shared_by(method: &dyn Method, [there, asks]: [u32; 2], pairs: impl Iterator<Item = (u32, u32)>) -> u32 {
    let rules = method.abilities();
    let (short, long) = if there < asks { (there, asks) } else { (asks, there) };
    if long > rules.longest_partner(short) {
        return 0;
    }
    let mut asked = DirectedKeyCounts::default();
    for (tag, own) in pairs {
        let members = (Member { length: there, tag }, Member { length: asks, tag: own });
        if !rules.plausible(members.0, members.1) {
            continue;
        }
        if rules.query_keys.is_none() {
            asked.forward += 1;
            continue;
        }
        match (rules.is_query_only(tag), rules.is_query_only(own)) {
            (true, true) => {}
            (one, two) => {
                asked.forward += u32::from(!one);
                asked.backward += u32::from(!two);
            }
        }
    }
    if asked.forward.max(asked.backward) < rules.keys_to_share() {
        return 0;
    }
    match rules.query_keys.is_some() {
        true => asked.pack(),
        false if rules.counts_keys() => asked.forward,
        false => 1,
    }
}

#[cfg(test)]
mod tests {
    use lookalike_methods::{Abilities, Grouping, Page, QueryKeys, Score, Sketch};
    use lookalike_model::Recipe;

    use super::*;
    use crate::testing::SmallIndex;

    /// A method of which tests choose the rules: keys with the tag 9 only ask, and those of other tags must be equal.
    #[derive(Debug, Default)]
    struct TaggedMethod {
        counted_keys: Option<u32>,
        has_query_keys: bool,
        longest_difference: Option<u32>,
    }

    impl Method for TaggedMethod {
        fn recipe(&self) -> Recipe {
            Recipe::new("tagged", 1)
        }

        fn payload_bytes(&self) -> usize {
            0
        }

        fn sketch(&self, _: &Page<'_>, _: &mut Sketch) {}

        fn accept(&self, _: &[u8], _: &[u8], _: u32) -> Option<Score> {
            None
        }

        fn abilities(&self) -> Abilities<'_> {
            Abilities {
                counted_keys: self.counted_keys,
                query_keys: self.has_query_keys.then_some(self),
                grouping: Some(self),
                ..Abilities::default()
            }
        }
    }

    impl QueryKeys for TaggedMethod {
        fn is_query_only(&self, tag: u32) -> bool {
            tag == 9
        }
    }

    impl Grouping for TaggedMethod {
        fn plausible(&self, a: Member, b: Member) -> bool {
            a.tag == b.tag || a.tag == 9 || b.tag == 9
        }

        fn longest_partner(&self, length: u32) -> u32 {
            self.longest_difference.map_or(u32::MAX, |most| length + most)
        }
    }

    fn shared(method: &TaggedMethod, pairs: &[(u32, u32)]) -> u32 {
        shared_by(method, [10, 12], pairs.iter().copied())
    }

    #[test]
    fn shared_keys_are_counted_where_the_method_counts_them() {
        let method = TaggedMethod { counted_keys: Some(1), ..TaggedMethod::default() };
        assert_eq!([0, 1, 3].map(|count| shared(&method, &[(0, 0), (1, 1), (2, 2)][..count])), [0, 1, 3]);
        let method = TaggedMethod { counted_keys: None, ..method };
        assert_eq!([0, 1, 3].map(|count| shared(&method, &[(0, 0), (1, 1), (2, 2)][..count])), [0, 1, 1]);
    }

    #[test]
    fn fewer_shared_keys_than_a_method_asks_for_are_none() {
        let method = TaggedMethod { counted_keys: Some(2), ..TaggedMethod::default() };
        assert_eq!(shared(&method, &[(0, 0)]), 0);
        assert_eq!(shared(&method, &[(0, 0), (1, 1)]), 2);
        assert_eq!(shared(&method, &[(0, 0), (1, 2)]), 0, "one of them is not plausible");
    }

    #[test]
    fn documents_of_too_different_lengths_share_nothing() {
        let method = TaggedMethod { longest_difference: Some(2), ..TaggedMethod::default() };
        let shared = |lengths| shared_by(&method, lengths, [(0, 0)].into_iter());
        assert_eq!([[10, 12], [12, 10], [10, 13], [13, 10]].map(shared), [1, 1, 0, 0]);
    }

    #[test]
    fn keys_that_only_ask_count_in_one_direction() {
        let method = TaggedMethod { has_query_keys: true, ..TaggedMethod::default() };
        // The indexed document is found by two of its keys, the one that asks by one.
        let counts = DirectedKeyCounts::unpack(shared(&method, &[(0, 9), (0, 0), (9, 9)]));
        assert_eq!((counts.forward, counts.backward), (2, 1));
        assert_eq!(shared(&method, &[(9, 9)]), 0);
    }

    fn classes(candidates: &Candidates) -> Vec<u32> {
        candidates.classes.iter().map(|candidate| candidate.class).collect()
    }

    /// The candidates of a text.
    fn find(small: &mut SmallIndex, text: &str) -> Candidates {
        let examined = small.prepared("asked", text).examined;
        let now = small.index.inner.now();
        small.index.inner.query(&now, &mut small.buffers).find(&examined).unwrap()
    }

    #[test]
    fn an_empty_index_has_no_candidates() {
        let found = find(&mut SmallIndex::new(), "a b c d e");
        assert_eq!((found.leader, classes(&found), found.searched_below), (None, Vec::new(), 0));
        assert!(found.postings[0].iter().all(|&postings| postings == 0));
    }

    #[test]
    fn the_first_document_with_equal_words_leads_and_near_ones_are_candidates() {
        let mut small = SmallIndex::of(&["a b c d e", "a b c d f", "v w x y z", "A, B, C, D, E!"]);
        let found = find(&mut small, "a b c d e");
        assert_eq!((found.leader, classes(&found)), (Some(0), vec![1]));
        let found = find(&mut small, "a b c d g");
        assert_eq!((found.leader, classes(&found)), (None, vec![0, 1]), "equal documents are one candidate");
    }

    #[test]
    fn a_document_without_words_has_no_candidates() {
        let mut small = SmallIndex::of(&["...", "a b c d e"]);
        let found = find(&mut small, "?!");
        assert_eq!((found.leader, classes(&found)), (None, Vec::new()));
    }

    #[test]
    fn deleted_documents_are_no_candidates() {
        let mut small = SmallIndex::of(&["a b c d e", "a b c d f"]);
        small.index.remove("d0").unwrap();
        let found = find(&mut small, "a b c d e");
        assert_eq!((found.leader, classes(&found)), (None, vec![1]));
    }

    #[test]
    fn the_postings_of_each_key_are_counted() {
        let mut small = SmallIndex::of(&["a b c d e", "a b c d f", "v w x y z"]);
        let examined = small.prepared("asked", "a b c d g").examined;
        let counted = find(&mut small, "a b c d g").postings;
        let mut all = Vec::new();
        for text in ["a b c d e", "a b c d f", "v w x y z"] {
            all.extend(small.prepared("other", text).examined.keys[0].iter().map(|key| key.value));
        }
        let count = |value: u64| all.iter().filter(|&&other| other == value).count() as u32;
        let expected: Vec<u32> = examined.keys[0].iter().map(|key| count(key.value)).collect();
        assert_eq!(counted, [expected]);
        assert!(counted[0].contains(&2) && counted[0].contains(&0), "{counted:?}");
    }

    #[test]
    fn later_documents_are_added_to_the_candidates_of_earlier_ones() {
        let mut small = SmallIndex::of(&["a b c d e"]);
        let asked = small.prepared("asked", "a b c d g").examined;
        let mut found = find(&mut small, "a b c d g");
        small.add("d1", "a b c d f");
        small.add("d2", "a b c d g");
        let now = small.index.inner.now();
        small.index.inner.query(&now, &mut small.buffers).find_since(&asked, &mut found).unwrap();
        assert_eq!((found.leader, classes(&found), found.searched_below), (Some(2), vec![0, 1], 3));
        assert_eq!(found.postings, find(&mut small, "a b c d g").postings);
    }

    /// Page of a template: ten words that all have and four of its own, too far from the others to be removed.
    fn page(number: usize) -> String {
        let own: Vec<String> = (0..4).map(|word| format!("own{number}{word}")).collect();
        format!("a b c d e f g h i j {}", own.join(" "))
    }

    /// An index of so many pages of a template, with keys that are common from so many documents on.
    fn template(pages: usize, max_group: usize) -> SmallIndex {
        let recipe = lookalike_engine::JobRecipe { max_group, ..crate::testing::recipe() };
        let mut small = SmallIndex::with(recipe, true);
        (0..pages)
            .for_each(|number| assert_eq!(small.add(&format!("d{number}"), &page(number)), State::Kept));
        small
    }

    /// The class and the rank of each candidate.
    fn ranked(candidates: &Candidates) -> Vec<(u32, Option<CommonRank>)> {
        candidates.classes.iter().map(|one| (one.class, one.common)).collect()
    }

    #[test]
    fn of_documents_that_share_only_common_keys_few_are_candidates() {
        let (pages, most) = (12, 3);
        let mut all = template(pages, 1000);
        let promising = classes(&find(&mut all, &page(99)));
        assert!(promising.len() > 2 * most, "{promising:?}");
        let mut keys = |number| -> Vec<u64> {
            all.prepared("x", &page(number)).examined.keys[0].iter().map(|key| key.value).collect()
        };
        let (asked, keys) = (keys(99), (0..pages).map(&mut keys).collect::<Vec<_>>());
        // The simplest way: count who has a key, rank those without a rare one, and take the first.
        let is_rare = |key: u64| keys.iter().filter(|keys| keys.contains(&key)).count() < most;
        let (mut expected, mut common) = (Vec::new(), Vec::new());
        for (class, keys) in keys.iter().enumerate() {
            let shared: Vec<u64> = asked.iter().copied().filter(|key| keys.contains(key)).collect();
            match shared.iter().any(|&key| is_rare(key)) {
                true => expected.push(class as u32),
                false => common.push((std::cmp::Reverse(shared.len()), class as u32)),
            }
        }
        common.sort_unstable();
        assert!(common.len() > most, "{common:?}");
        expected.extend(common[..most].iter().map(|&(_, class)| class));
        expected.sort_unstable();
        expected.retain(|class| promising.contains(class));
        let found = find(&mut template(pages, most), &page(99));
        assert_eq!((classes(&found), found.left_out as usize), (expected, common.len() - most));
    }

    #[test]
    fn candidates_do_not_depend_on_how_many_documents_had_come_when_it_was_looked_up() {
        let (pages, most) = (9, 3);
        let at_once = find(&mut template(pages, most), &page(99));
        for early in 0..=pages {
            let mut small = template(early, most);
            let asked = small.prepared("asked", &page(99)).examined;
            let mut found = find(&mut small, &page(99));
            (early..pages).for_each(|number| {
                small.add(&format!("d{number}"), &page(number));
            });
            let now = small.index.inner.now();
            small.index.inner.query(&now, &mut small.buffers).find_since(&asked, &mut found).unwrap();
            assert_eq!((ranked(&found), &found.postings), (ranked(&at_once), &at_once.postings), "{early}");
            assert_eq!(found.left_out, at_once.left_out, "{early}");
        }
    }

    #[test]
    fn candidates_are_measured_once() {
        let mut small = SmallIndex::of(&["a b c d e"]);
        let mut found = find(&mut small, "a b c d f g");
        let examined = small.prepared("asked", "a b c d f g").examined;
        let now = small.index.inner.now();
        let mut query = small.index.inner.query(&now, &mut small.buffers);
        let mut subject = Subject::new(&examined);
        // Four words of seven: below the threshold.
        assert_eq!(query.measure(&mut subject, &mut found.classes[0]).unwrap(), None);
        assert_eq!(found.classes[0].measured, Some(None));
        let kept = Measured { forward: 0.9, backward: 0.8, reached: true, reached_back: true };
        found.classes[0].measured = Some(Some(kept));
        assert_eq!(query.measure(&mut subject, &mut found.classes[0]).unwrap(), Some(kept));
    }

    #[test]
    fn a_class_is_measured_by_a_member_that_is_live() {
        let mut small = SmallIndex::of(&["a b c d e", "a b c d e"]);
        small.index.remove("d0").unwrap();
        let examined = small.prepared("asked", "a b c d f").examined;
        let now = small.index.inner.now();
        let mut query = small.index.inner.query(&now, &mut small.buffers);
        assert_eq!(query.live_member(0).unwrap().map(|(number, _)| number), Some(1));
        let measured = query.measure_unproposed(&mut Subject::new(&examined), 0).unwrap().unwrap();
        assert_eq!(measured.forward, 4.0 / 6.0);
    }

    #[test]
    fn only_live_documents_with_texts_are_examined_again() {
        let mut small = SmallIndex::of(&["a b c", "x y z"]);
        small.index.remove("d1").unwrap();
        let wanted = small.prepared("asked", "a b c").examined;
        let now = small.index.inner.now();
        let mut query = small.index.inner.query(&now, &mut small.buffers);
        assert_eq!(query.examined(0).unwrap(), Some(wanted));
        assert_eq!(query.examined(1).unwrap(), None);
        let mut bare = SmallIndex::with(crate::testing::recipe(), false);
        bare.add("d0", "a b c");
        let now = bare.index.inner.now();
        assert_eq!(bare.index.inner.query(&now, &mut bare.buffers).examined(0).unwrap(), None);
    }
}
