//! From a group of documents with a common key to pairs.
//!
//! A group of at most `max_group` documents proposes all of its pairs. A method may bound the lengths of documents that
//! can be paired: then the group, by length, is cut wherever the next is too long. A part that is still too large is
//! split by stricter keys, where the method has any. What then remains proposes, in `dedup`, each member with its 8
//! predecessors by length and with the 8 members of smallest payload hash: about n pairs, never n squared. Elsewhere it
//! is written down once as a group.
//!
//! Members that are found are paired with all, and those that only ask with none of their like, where a method has keys that
//! only ask.
//!
//! A group of two corpora proposes those of its pairs that have a document of each (`sides`), and it is too large when these are
//! more than the pairs of a group of `max_group`.

use std::collections::BTreeSet;

use lookalike_hash as hash;
use lookalike_methods::{Abilities, Member, Method};
use lookalike_model::{DocNumber, Pair};
use xxhash_rust::xxh3::Xxh3Default;

use crate::error::EngineError;
use crate::panel::PanelMethod;

/// Neighbours that a member of a giant group is paired with, on either account.
pub(crate) const NEIGHBOURS: usize = 8;

/// Levels of strictness that are tried before a group is called giant.
const MAX_STRICTNESS: u32 = 8;

/// Places of the sides where two corpora are compared.
const LEFT: usize = 0;
const RIGHT: usize = 1;

/// Digests of groups that are kept, lest one that comes again proposes its pairs again: the shingles that two documents share
/// make the same group each.
const SEEN_GROUPS: usize = 1 << 16;

/// Groups of so many documents that propose all of their pairs are looked at before they do.
const LARGE_GROUP: usize = if cfg!(test) { 64 } else { 4096 };

/// Pairs of a large group that are looked at.
const SAMPLED_PAIRS: u64 = 1024;

/// A document and the tag of the key that it is in a group by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Tagged {
    pub(crate) document: DocNumber,
    pub(crate) tag: u32,
}

/// Takes a part of a group.
type PartVisitor<'e, 'c, H> = dyn FnMut(&mut Groups<'c, H>, &mut [Tagged]) -> Result<(), EngineError> + 'e;

/// The length and the payload hash of a document in a group.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MemberFacts {
    /// Length as the method sees it.
    pub(crate) length: u32,
    /// Hash of the payload.
    pub(crate) mark: u32,
}

/// Gives a group access to its documents, and takes its pairs.
pub(crate) trait GroupHost {
    /// Returns the length and the payload hash of a document.
    fn facts(&self, document: DocNumber) -> MemberFacts;

    /// Returns the record of a document: the lengths and payloads of all methods.
    fn record(&mut self, document: DocNumber) -> Result<&[u8], EngineError>;

    /// True for a document that is only there to be compared with.
    fn is_reference(&self, document: DocNumber) -> bool;

    /// Two corpora are compared: a pair has a document of each.
    fn compares(&self) -> bool;

    /// Returns two flags, used where two corpora are compared: the document, or one that it stands for, is on the left side;
    /// and on the right side.
    fn sides(&self, document: DocNumber) -> [bool; 2];

    /// Refuses a group of so many documents that is about to propose about so many pairs, if there is no room for them.
    fn check_room(&self, documents: usize, pairs: u64) -> Result<(), EngineError>;

    /// Takes a pair whose earlier document is found by the later; where no key only asks, any pair.
    fn pair(&mut self, pair: Pair) -> Result<(), EngineError>;

    /// Takes a pair whose later document is found by the earlier, where some keys only ask.
    fn pair_back(&mut self, pair: Pair) -> Result<(), EngineError>;

    /// Groups that stay too large are written down, and propose nothing.
    fn writes_giants(&self) -> bool;

    /// Takes a group that stays too large.
    fn giant(&mut self, group: &[Tagged]) -> Result<(), EngineError>;

    /// All groups up to this key have proposed their pairs.
    fn checkpoint(&mut self, key: u64) -> Result<(), EngineError>;
}

/// From the groups of a method to pairs.
pub(crate) struct Groups<'c, H> {
    host: H,
    entry: &'c PanelMethod,
    /// The method's rules for groups.
    rules: Abilities<'c>,
    /// Groups up to this key have proposed their pairs: an earlier process took them.
    skip: Option<u64>,
    giant_groups: u64,
    /// Groups up to this size propose all of their pairs.
    limit: usize,
    /// Keys of more documents are dropped.
    most_common: u64,
    seen: SeenGroups,
}

/// Digests of groups that came before.
#[derive(Debug)]
pub(crate) struct SeenGroups {
    groups: Vec<u128>,
    giants: Vec<u128>,
}

impl SeenGroups {
    /// Nothing yet.
    pub(crate) fn new(method: &dyn Method) -> Self {
        // Where keys are counted, every group counts.
        let groups = if method.abilities().counts_keys() { Vec::new() } else { vec![0; SEEN_GROUPS] };
        SeenGroups { groups, giants: vec![0; SEEN_GROUPS] }
    }
}

/// The limits on groups.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Larger ones do not propose all of their pairs.
    pub(crate) max_group: usize,
    /// Documents of the corpus, of equal ones only the first.
    pub(crate) different: u64,
}

impl<'c, H: GroupHost> Groups<'c, H> {
    /// Groups up to the key `skip` have proposed their pairs.
    pub(crate) fn new(
        host: H,
        entry: &'c PanelMethod,
        limits: Limits,
        skip: Option<u64>,
        seen: SeenGroups,
    ) -> Self {
        let rules = entry.abilities();
        let limit = limits.max_group.max(rules.least_group());
        let most_common = rules.max_documents_per_key(limits.different);
        Groups { host, entry, rules, skip, giant_groups: 0, limit, most_common, seen }
    }

    /// Takes one group: documents in order, each with its tag.
    pub(crate) fn take(&mut self, key: u64, group: &mut [Tagged]) -> Result<(), EngineError> {
        if group.len() < 2 || group.len() as u64 > self.most_common {
            return Ok(());
        }
        // In this order: a group that proposes nothing must not take the slot of one that does.
        if self.across(group) == Some(0) || self.seen_before(group) {
            return Ok(());
        }
        // Groups that an earlier process took are gone through once more without proposing, so that counts of
        // giant groups and groups seen before are what they would be in one run.
        let fresh = self.skip.is_none_or(|skip| key > skip);
        self.cut(group, fresh)?;
        // The highest key cannot be told from none; then a later process does the last groups again.
        if fresh && key < u64::MAX - 1 {
            self.host.checkpoint(key)?;
        }
        Ok(())
    }

    /// True when the same group came a while ago, where seen groups are noted.
    fn seen_before(&mut self, group: &[Tagged]) -> bool {
        !self.seen.groups.is_empty() && mark_seen(&mut self.seen.groups, digest(group))
    }

    /// Counts the pairs of a group that have a document of each corpus, where two are compared.
    fn across(&self, group: &[Tagged]) -> Option<usize> {
        if !self.host.compares() {
            return None;
        }
        let count =
            |side: usize| group.iter().filter(|member| self.host.sides(member.document)[side]).count();
        Some(count(LEFT) * count(RIGHT))
    }

    /// True when a group, or a part of one, proposes all of its pairs.
    fn fits(&self, group: &[Tagged]) -> bool {
        match self.across(group) {
            Some(pairs) => pairs <= self.limit.saturating_mul(self.limit) / 2,
            None => group.len() <= self.limit,
        }
    }

    fn length(&self, document: DocNumber) -> u32 {
        self.host.facts(document).length
    }

    /// Cuts a group, by length, wherever the next document is too long for the one before, and takes the parts.
    fn cut(&mut self, group: &mut [Tagged], fresh: bool) -> Result<(), EngineError> {
        if self.rules.query_keys.is_some() {
            return self.pair_asymmetric(group, fresh);
        }
        // The bound never falls as documents get longer: where the shortest has none, nobody has.
        if self.rules.longest_partner(0) == u32::MAX {
            return self.part(group, fresh);
        }
        // By length, the longest partner of a document bounds all behind it. Where not even the next one is
        // in reach, no pair crosses, and the two sides are groups of their own.
        group.sort_unstable_by_key(|member| (self.length(member.document), member.document));
        let mut start = 0;
        for index in 1..=group.len() {
            let reach = self.rules.longest_partner(self.length(group[index - 1].document));
            if group.get(index).is_none_or(|next| self.length(next.document) > reach) {
                self.part(&mut group[start..index], fresh)?;
                start = index;
            }
        }
        Ok(())
    }

    /// Pairs members that are found with all others; those that only ask come last and are paired with none of their
    /// like.
    fn pair_asymmetric(&mut self, group: &mut [Tagged], fresh: bool) -> Result<(), EngineError> {
        let rules = self.rules;
        group.sort_unstable_by_key(|member| (rules.is_query_only(member.tag), member.document));
        let found = group.partition_point(|member| !rules.is_query_only(member.tag));
        if found.saturating_mul(group.len()) > self.limit.saturating_mul(self.limit) {
            return self.giant(&mut group[..found], fresh);
        }
        // Members that are found come first, so each meets the found ones behind it and all that ask.
        for index in 0..if fresh { found } else { 0 } {
            for other in index + 1..group.len() {
                self.pair(group[index], group[other])?;
            }
        }
        Ok(())
    }

    fn part(&mut self, part: &mut [Tagged], fresh: bool) -> Result<(), EngineError> {
        if !self.fits(part) {
            return self.split(part, fresh);
        }
        if fresh { self.all_pairs(part) } else { Ok(()) }
    }

    /// Proposes two documents of a group, unless they cannot be like each other.
    fn pair(&mut self, a: Tagged, b: Tagged) -> Result<(), EngineError> {
        let (earlier, later) = if a.document < b.document { (a, b) } else { (b, a) };
        let wanted = match self.host.compares() {
            true => self.are_across(earlier.document, later.document),
            // Two documents that are only there to be compared with need no comparison.
            false => !self.host.is_reference(later.document),
        };
        if earlier.document == later.document || !wanted {
            return Ok(());
        }
        if !self.rules.plausible(self.member(earlier), self.member(later)) {
            return Ok(());
        }
        let pair = Pair::ordered(earlier.document, later.document);
        if !self.rules.is_query_only(earlier.tag) {
            self.host.pair(pair)?;
        }
        if self.rules.query_keys.is_some() && !self.rules.is_query_only(later.tag) {
            self.host.pair_back(pair)
        } else {
            Ok(())
        }
    }

    /// A document of a group as its method sees it.
    fn member(&self, Tagged { document, tag }: Tagged) -> Member {
        Member { length: self.length(document), tag }
    }

    /// Two documents, or what they stand for, are on different sides.
    fn are_across(&self, a: DocNumber, b: DocNumber) -> bool {
        let [a, b] = [a, b].map(|document| self.host.sides(document));
        a[LEFT] && b[RIGHT] || b[LEFT] && a[RIGHT]
    }

    fn all_pairs(&mut self, group: &[Tagged]) -> Result<(), EngineError> {
        if self.host.compares() {
            return self.pairs_across(group);
        }
        if group.len() >= LARGE_GROUP {
            self.host.check_room(group.len(), self.expected(group))?;
        }
        for (index, &one) in group.iter().enumerate() {
            let reach = self.rules.longest_partner(self.length(one.document));
            for &other in &group[index + 1..] {
                if self.length(other.document) > reach {
                    // By length, if there is a reach at all.
                    break;
                }
                self.pair(one, other)?;
            }
        }
        Ok(())
    }

    /// About how many pairs a group proposes, by a sample of them.
    fn expected(&self, group: &[Tagged]) -> u64 {
        let pairs = group.len() as u64 * (group.len() as u64 - 1) / 2;
        // Pairs by a fixed hash of their numbers: any sample will do, but it must be the same for every run.
        let place = |number: u64| (hash::mix(number) % group.len() as u64) as usize;
        let proposed = |number: &u64| {
            let (one, other) = (group[place(2 * number)], group[place(2 * number + 1)]);
            let [a, b] = [one, other].map(|member| self.length(member.document));
            !self.host.is_reference(one.document.max(other.document))
                && a.max(b) <= self.rules.longest_partner(a.min(b))
                && self.rules.plausible(self.member(one), self.member(other))
        };
        let share = (0..SAMPLED_PAIRS).filter(proposed).count() as u64;
        (u128::from(pairs) * u128::from(share) / u128::from(SAMPLED_PAIRS)) as u64
    }

    /// Proposes the pairs that have a document of each corpus.
    fn pairs_across(&mut self, group: &[Tagged]) -> Result<(), EngineError> {
        let some = |side: usize| -> Vec<Tagged> {
            group.iter().copied().filter(|member| self.host.sides(member.document)[side]).collect()
        };
        let (left, right) = (some(LEFT), some(RIGHT));
        // Of two documents that each stand for both sides, one pair is enough.
        let twins: Vec<bool> =
            left.iter().map(|member| self.host.sides(member.document) == [true; 2]).collect();
        for (&one, twin) in left.iter().zip(twins) {
            let length = self.length(one.document);
            let reach = self.rules.longest_partner(length);
            for &other in &right {
                let far = match self.length(other.document) {
                    longer if longer > length => longer > reach,
                    shorter => length > self.rules.longest_partner(shorter),
                };
                // Both are in both lists, and are met from either end; the end with the lower number proposes
                // them.
                let again = twin && other.document < one.document && self.host.is_reference(other.document);
                if !far && !again {
                    self.pair(one, other)?;
                }
            }
        }
        Ok(())
    }

    /// Cuts a group that is too large by stricter keys: the least strict that part it into groups that are not. Each
    /// level of strictness loses nothing by itself, so levels are tried one after the other and never inside each other.
    fn split(&mut self, group: &mut [Tagged], fresh: bool) -> Result<(), EngineError> {
        let mut best = None;
        for level in 1..=MAX_STRICTNESS {
            let mut fit = true;
            let largest = self.parts(group, level, &mut |groups, part| {
                fit &= groups.fits(part);
                Ok(())
            })?;
            if largest == 0 {
                break;
            }
            best = Some(level);
            if fit {
                break;
            }
        }
        let Some(level) = best else { return self.giant(group, fresh) };
        // Stricter keys come in several, and documents that are alike in all of them make the same part each time: it is
        // known again by a digest of its members and handled once.
        let mut giants = BTreeSet::new();
        self.parts(group, level, &mut |groups, part| {
            if groups.fits(part) {
                return if fresh { groups.all_pairs(part) } else { Ok(()) };
            }
            if giants.insert(digest(part)) { groups.giant(part, fresh) } else { Ok(()) }
        })?;
        Ok(())
    }

    /// Hands the parts of a group at one level of strictness to `each`; returns the size of the largest, 0 when there
    /// are no such keys.
    fn parts(
        &mut self,
        group: &[Tagged],
        level: u32,
        each: &mut PartVisitor<'_, 'c, H>,
    ) -> Result<usize, EngineError> {
        let (mut largest, mut number) = (0, 0);
        let (mut keys, mut parts, mut part) = (Vec::new(), Vec::new(), Vec::new());
        let entry = self.entry;
        let Some(splitting) = self.rules.splitting else { return Ok(0) };
        // One key of each member at a time: all of them at once could be many times the group.
        loop {
            parts.clear();
            for (index, &Tagged { document, tag }) in group.iter().enumerate() {
                keys.clear();
                splitting.split(entry.payload(self.host.record(document)?), tag, level, &mut keys);
                parts.extend(keys.get(number).map(|&key| (key, index as u32)));
            }
            if parts.is_empty() {
                return Ok(largest);
            }
            // By key and then by place: members of a part stay in the order of the group, on which
            // `all_pairs` and digests of parts depend.
            parts.sort_unstable();
            for run in parts.chunk_by(|a, b| a.0 == b.0) {
                largest = largest.max(run.len());
                if run.len() > 1 {
                    part.clear();
                    part.extend(run.iter().map(|&(_, index)| group[index as usize]));
                    each(self, &mut part)?;
                }
            }
            number += 1;
        }
    }

    /// A group that stays too large.
    fn giant(&mut self, group: &mut [Tagged], fresh: bool) -> Result<(), EngineError> {
        self.giant_groups += 1;
        // Not only where `fresh`: the file of giant groups has no marks, and every process writes it from the
        // beginning.
        if self.host.writes_giants() {
            let again = mark_seen(&mut self.seen.giants, digest(group));
            return if again { Ok(()) } else { self.host.giant(group) };
        }
        if fresh { self.some_pairs(group) } else { Ok(()) }
    }

    /// Proposes each member with those just before it by length, and with a few that all have in common; every pair
    /// once, since methods may count.
    fn some_pairs(&mut self, group: &mut [Tagged]) -> Result<(), EngineError> {
        group.sort_unstable_by_key(|member| (self.length(member.document), member.document));
        let landmarks = self.landmarks(group);
        for (index, &member) in group.iter().enumerate() {
            for &before in &group[index.saturating_sub(NEIGHBOURS)..index] {
                self.pair(member, before)?;
            }
            for &landmark in &landmarks {
                // Neighbours by length were paired above, or will be; of two landmarks the later one pairs
                // them.
                let near = index.abs_diff(landmark) <= NEIGHBOURS;
                let twice = landmark > index && landmarks.contains(&index);
                if !near && !twice {
                    self.pair(member, group[landmark])?;
                }
            }
        }
        Ok(())
    }

    /// Places of the members with the smallest payload hashes.
    fn landmarks(&self, group: &[Tagged]) -> Vec<usize> {
        let mark = |&place: &usize| (self.host.facts(group[place].document).mark, group[place].document);
        let mut places: Vec<usize> = Vec::new();
        for place in 0..group.len() {
            places.push(place);
            // The smallest so far, at a constant cost for each member and without a copy of the whole group.
            if places.len() > 64 * NEIGHBOURS {
                places.select_nth_unstable_by_key(NEIGHBOURS, mark);
                places.truncate(NEIGHBOURS);
            }
        }
        places.sort_unstable_by_key(mark);
        places.truncate(NEIGHBOURS);
        places
    }

    /// Returns the [`GroupHost`], the number of groups that did not propose all of their pairs, and the groups seen so
    /// far.
    pub(crate) fn finish(self) -> (H, u64, SeenGroups) {
        (self.host, self.giant_groups, self.seen)
    }
}

/// Notes a digest in its slot; true when it was there already.
fn mark_seen(seen: &mut [u128], digest: u128) -> bool {
    // One slot for each digest and no search: a newer group takes the place of an older one, which is taken
    // for new when it comes again. That costs time, and changes no pair.
    let place = digest as usize % seen.len();
    std::mem::replace(&mut seen[place], digest) == digest
}

/// A group in 128 bits.
fn digest(group: &[Tagged]) -> u128 {
    let mut sum = Xxh3Default::new();
    let mut bytes = [0; 512];
    // 64 members at a time: the hash is made for long input, and a call for each eight bytes would cost more
    // than these.
    for part in group.chunks(64) {
        for (slot, &Tagged { document, tag }) in bytes.as_chunks_mut::<8>().0.iter_mut().zip(part) {
            *slot = (u64::from(document) << 32 | u64::from(tag)).to_le_bytes();
        }
        sum.update(&bytes[..8 * part.len()]);
    }
    sum.digest128()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::panel::Panel;
    use crate::recipe::Combine;
    use crate::recipe::{JobRecipe, Task};
    use crate::tests::context::doc;
    use lookalike_methods::{Grouping, Page, QueryKeys, Score, Sketch, Splitting};
    use lookalike_model::Recipe;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// Documents of one length, and room for so many pairs.
    struct LimitedHost {
        room: u64,
        pairs: u64,
    }

    impl GroupHost for LimitedHost {
        fn facts(&self, document: DocNumber) -> MemberFacts {
            MemberFacts { length: 100, mark: document.get() }
        }

        fn record(&mut self, _: DocNumber) -> Result<&[u8], EngineError> {
            Ok(&[])
        }

        fn is_reference(&self, _: DocNumber) -> bool {
            false
        }

        fn compares(&self) -> bool {
            false
        }

        fn sides(&self, _: DocNumber) -> [bool; 2] {
            [false; 2]
        }

        fn check_room(&self, documents: usize, pairs: u64) -> Result<(), EngineError> {
            let (documents, folder) = (documents as u64, "work".into());
            match pairs > self.room {
                true => Err(EngineError::TooManyPairs {
                    documents,
                    pairs,
                    folder,
                    needed: 20 * pairs,
                    free: 20 * self.room,
                }),
                false => Ok(()),
            }
        }

        fn pair(&mut self, _: Pair) -> Result<(), EngineError> {
            self.pairs += 1;
            Ok(())
        }

        fn pair_back(&mut self, _: Pair) -> Result<(), EngineError> {
            Ok(())
        }

        fn writes_giants(&self) -> bool {
            false
        }

        fn giant(&mut self, _: &[Tagged]) -> Result<(), EngineError> {
            Ok(())
        }

        fn checkpoint(&mut self, _: u64) -> Result<(), EngineError> {
            Ok(())
        }
    }

    /// The pairs of a group of so many documents.
    fn proposed(documents: u32, room: u64) -> Result<u64, EngineError> {
        let mut recipe = JobRecipe::simplest(Task::Dedup);
        recipe.resolve_profiles()?;
        let panel = recipe.panel()?;
        let entry = &panel.proposers()[0];
        let limits = Limits { max_group: 1 << 20, different: documents.into() };
        let seen = SeenGroups::new(&*entry.method);
        let mut groups = Groups::new(LimitedHost { room, pairs: 0 }, entry, limits, None, seen);
        let mut group = untagged(0..documents);
        groups.take(7, &mut group)?;
        Ok(groups.finish().0.pairs)
    }

    #[test]
    fn a_group_for_whose_pairs_there_is_no_room_proposes_none() {
        assert_eq!(proposed(200, 19_900).unwrap(), 19_900);
        assert_eq!(proposed(LARGE_GROUP as u32 - 1, 0).unwrap(), 63 * 62 / 2);
        let refused = proposed(200, 10_000).unwrap_err().to_string();
        assert_eq!(
            refused,
            "200 documents share a key and propose about 19900 pairs, which take 0 MB of disk under work where 0 MB are free; \
             lower --max-group, or make room"
        );
    }

    /// A method whose rules for groups are given.
    #[derive(Debug, Clone, Copy, Default)]
    struct Rules {
        counts: bool,
        /// Documents are paired with those of at most twice their length.
        doubles: bool,
        most_documents: Option<u64>,
        /// Tags from 1 on only ask.
        asks: bool,
        /// Documents are alike only if their tags are.
        same_tags: bool,
        /// Groups are split by the first byte of a payload.
        splits: bool,
    }

    impl Method for Rules {
        fn recipe(&self) -> Recipe {
            Recipe::new("rules", 1)
        }

        fn payload_bytes(&self) -> usize {
            1
        }

        fn sketch(&self, _: &Page<'_>, sketch: &mut Sketch) {
            sketch.clear();
        }

        fn accept(&self, _: &[u8], _: &[u8], _: u32) -> Option<Score> {
            None
        }

        fn abilities(&self) -> Abilities<'_> {
            Abilities {
                counted_keys: self.counts.then_some(1),
                query_keys: self.asks.then_some(self),
                grouping: Some(self),
                splitting: self.splits.then_some(self),
                ..Abilities::default()
            }
        }
    }

    impl QueryKeys for Rules {
        fn is_query_only(&self, tag: u32) -> bool {
            tag > 0
        }
    }

    impl Grouping for Rules {
        fn plausible(&self, a: Member, b: Member) -> bool {
            !self.same_tags || a.tag == b.tag
        }

        fn longest_partner(&self, length: u32) -> u32 {
            if self.doubles { 2 * length } else { u32::MAX }
        }

        fn max_documents_per_key(&self, _: u64) -> u64 {
            self.most_documents.unwrap_or(u64::MAX)
        }
    }

    impl Splitting for Rules {
        fn split(&self, payload: &[u8], _: u32, depth: u32, keys: &mut Vec<u64>) {
            if depth == 1 {
                keys.push(payload[0].into());
            }
        }
    }

    /// Documents whose lengths and sides are given, and what was proposed of them.
    #[derive(Debug, Default)]
    struct Recorder {
        lengths: BTreeMap<u32, u32>,
        references: u32,
        /// The side of each document: left, right or both.
        sides: Option<fn(u32) -> [bool; 2]>,
        writes_giants: bool,
        record: Vec<u8>,
        pairs: Vec<(u32, u32)>,
        back: Vec<(u32, u32)>,
        giants: Vec<Vec<u32>>,
        checkpoints: Vec<u64>,
    }

    impl GroupHost for &mut Recorder {
        fn facts(&self, document: DocNumber) -> MemberFacts {
            let length = self.lengths.get(&document.get()).copied().unwrap_or(100);
            MemberFacts { length, mark: document.get().wrapping_mul(0x9e37_79b9) }
        }

        fn record(&mut self, document: DocNumber) -> Result<&[u8], EngineError> {
            // A length of 4 bytes, and a payload that is the tens of the number.
            self.record = vec![1, 0, 0, 0, (document.get() / 10) as u8];
            Ok(&self.record)
        }

        fn is_reference(&self, document: DocNumber) -> bool {
            document.get() < self.references
        }

        fn compares(&self) -> bool {
            self.sides.is_some()
        }

        fn sides(&self, document: DocNumber) -> [bool; 2] {
            self.sides.map_or([false; 2], |sides| sides(document.get()))
        }

        fn check_room(&self, _: usize, _: u64) -> Result<(), EngineError> {
            Ok(())
        }

        fn pair(&mut self, pair: Pair) -> Result<(), EngineError> {
            self.pairs.push((pair.first().get(), pair.second().get()));
            Ok(())
        }

        fn pair_back(&mut self, pair: Pair) -> Result<(), EngineError> {
            self.back.push((pair.first().get(), pair.second().get()));
            Ok(())
        }

        fn writes_giants(&self) -> bool {
            self.writes_giants
        }

        fn giant(&mut self, group: &[Tagged]) -> Result<(), EngineError> {
            self.giants.push(group.iter().map(|member| member.document.get()).collect());
            Ok(())
        }

        fn checkpoint(&mut self, key: u64) -> Result<(), EngineError> {
            self.checkpoints.push(key);
            Ok(())
        }
    }

    /// Lets groups of these keys propose their pairs; returns how many stayed too large.
    fn take(
        recorder: &mut Recorder,
        rules: Rules,
        max_group: usize,
        skip: Option<u64>,
        groups: &[(u64, &[Tagged])],
    ) -> u64 {
        let panel = Panel::new(vec![Box::new(rules)], None, Combine::Any).unwrap();
        let entry = &panel.proposers()[0];
        let limits = Limits { max_group, different: 1000 };
        let mut all = Groups::new(recorder, entry, limits, skip, SeenGroups::new(&*entry.method));
        for (key, group) in groups {
            all.take(*key, &mut group.to_vec()).unwrap();
        }
        all.finish().1
    }

    fn untagged(documents: impl IntoIterator<Item = u32>) -> Vec<Tagged> {
        documents.into_iter().map(|document| tagged((document, 0))).collect()
    }

    fn tagged((document, tag): (u32, u32)) -> Tagged {
        Tagged { document: doc(document), tag }
    }

    /// The pairs of one group, in order.
    fn pairs_of(
        recorder: &mut Recorder,
        rules: Rules,
        max_group: usize,
        group: &[Tagged],
    ) -> Vec<(u32, u32)> {
        take(recorder, rules, max_group, None, &[(1, group)]);
        let mut pairs = recorder.pairs.clone();
        pairs.sort_unstable();
        pairs
    }

    proptest! {
        #[test]
        fn a_small_group_proposes_all_of_its_pairs(documents in prop::collection::btree_set(0u32..50, 0..12), references in 0u32..20) {
            let mut recorder = Recorder { references, ..Recorder::default() };
            let found = pairs_of(&mut recorder, Rules::default(), 100, &untagged(documents.iter().copied()));
            let mut expected = Vec::new();
            for &a in &documents {
                expected.extend(documents.range(a + 1..).filter(|&&b| b >= references).map(|&b| (a, b)));
            }
            prop_assert_eq!(found, expected);
        }

        #[test]
        fn lengths_that_are_too_far_apart_are_no_pair(lengths in prop::collection::vec(1u32..60, 2..12)) {
            let lengths: BTreeMap<u32, u32> = (0..).zip(lengths).collect();
            let group = untagged(lengths.keys().copied());
            let mut recorder = Recorder { lengths: lengths.clone(), ..Recorder::default() };
            let found = pairs_of(&mut recorder, Rules { doubles: true, ..Rules::default() }, 100, &group);
            let mut expected = Vec::new();
            for (&a, &one) in &lengths {
                let near = |(_, two): &(&u32, &u32)| one.max(**two) <= 2 * one.min(**two);
                expected.extend(lengths.range(a + 1..).filter(near).map(|(&b, _)| (a, b)));
            }
            prop_assert_eq!(found, expected);
        }

        #[test]
        fn a_giant_group_proposes_each_of_few_pairs_once(
            lengths in prop::collection::vec(1u32..200, 30..60),
            references in 0u32..5,
        ) {
            let count = lengths.len();
            let lengths: BTreeMap<u32, u32> = (0..).zip(lengths).collect();
            let group = untagged(lengths.keys().copied());
            let mut recorder = Recorder { lengths, references, ..Recorder::default() };
            prop_assert_eq!(take(&mut recorder, Rules::default(), 10, None, &[(1, &group)]), 1);
            let mut pairs = recorder.pairs.clone();
            prop_assert!(pairs.len() <= count * 2 * NEIGHBOURS);
            prop_assert!(pairs.iter().all(|(a, b)| a < b && *b >= references));
            pairs.sort_unstable();
            pairs.dedup();
            prop_assert_eq!(pairs.len(), recorder.pairs.len());
            // By length, each is paired with the one before it.
            let mut by_length: Vec<(u32, u32)> = recorder.lengths.iter().map(|(&n, &length)| (length, n)).collect();
            by_length.sort_unstable();
            for two in by_length.windows(2) {
                let pair = (two[0].1.min(two[1].1), two[0].1.max(two[1].1));
                prop_assert!(pair.1 < references || pairs.binary_search(&pair).is_ok(), "{pair:?}");
            }
        }

        #[test]
        fn pairs_between_two_corpora_have_a_document_of_each(documents in prop::collection::btree_set(0u32..40, 2..14)) {
            // Documents below 20 are on the left, and every fourth of them stands for one on the right.
            fn sides(document: u32) -> [bool; 2] {
                [document < 20, document >= 20 || document.is_multiple_of(4)]
            }
            let mut recorder = Recorder { references: 20, sides: Some(sides), ..Recorder::default() };
            let found = pairs_of(&mut recorder, Rules::default(), 100, &untagged(documents.iter().copied()));
            let mut expected = Vec::new();
            for &a in &documents {
                let across = |b: &&u32| {
                    let ([left, right], [other_left, other_right]) = (sides(a), sides(**b));
                    left && other_right || right && other_left
                };
                expected.extend(documents.range(a + 1..).filter(across).map(|&b| (a, b)));
            }
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn a_key_of_too_many_documents_is_dropped() {
        let rules = Rules { most_documents: Some(3), ..Rules::default() };
        assert_eq!(pairs_of(&mut Recorder::default(), rules, 100, &untagged(0..3)).len(), 3);
        assert_eq!(pairs_of(&mut Recorder::default(), rules, 100, &untagged(0..4)), []);
    }

    #[test]
    fn a_group_that_comes_again_proposes_nothing_unless_keys_are_counted() {
        let group = untagged([3, 5, 8]);
        for (counts, expected) in [(false, 3), (true, 6)] {
            let mut recorder = Recorder::default();
            take(&mut recorder, Rules { counts, ..Rules::default() }, 100, None, &[(1, &group), (2, &group)]);
            assert_eq!(recorder.pairs.len(), expected);
        }
    }

    #[test]
    fn groups_that_an_earlier_process_took_are_passed_over() {
        let (one, two, three) = (untagged([1, 2]), untagged([3, 4]), untagged([5, 6]));
        let mut recorder = Recorder::default();
        take(&mut recorder, Rules::default(), 100, Some(7), &[(6, &one), (7, &two), (8, &three)]);
        assert_eq!((recorder.pairs, recorder.checkpoints), (vec![(5, 6)], vec![8]));
    }

    #[test]
    fn the_highest_keys_are_no_marks() {
        let mut recorder = Recorder::default();
        let (one, two) = (untagged([1, 2]), untagged([3, 4]));
        take(&mut recorder, Rules::default(), 100, None, &[(u64::MAX - 2, &one), (u64::MAX, &two)]);
        assert_eq!((recorder.pairs.len(), recorder.checkpoints), (2, vec![u64::MAX - 2]));
    }

    #[test]
    fn documents_that_cannot_be_alike_are_not_proposed() {
        let rules = Rules { same_tags: true, ..Rules::default() };
        let group = [(1, 5), (2, 6), (3, 5), (4, 6)].map(tagged);
        assert_eq!(pairs_of(&mut Recorder::default(), rules, 100, &group), [(1, 3), (2, 4)]);
    }

    #[test]
    fn a_group_that_is_too_large_is_split_by_stricter_keys() {
        let rules = Rules { splits: true, ..Rules::default() };
        let group = untagged([1, 2, 11, 12, 13, 21]);
        let mut recorder = Recorder::default();
        assert_eq!(take(&mut recorder, rules, 3, None, &[(1, &group)]), 0);
        recorder.pairs.sort_unstable();
        assert_eq!(recorder.pairs, [(1, 2), (11, 12), (11, 13), (12, 13)]);
        let mut small = Recorder::default();
        assert_eq!(pairs_of(&mut small, rules, 6, &group).len(), 15, "it is not split where it fits");
    }

    #[test]
    fn parts_that_stay_too_large_are_giants() {
        let rules = Rules { splits: true, ..Rules::default() };
        let group = untagged([1, 2, 11, 12, 13, 14, 21]);
        let mut recorder = Recorder { writes_giants: true, ..Recorder::default() };
        assert_eq!(take(&mut recorder, rules, 3, None, &[(1, &group), (2, &group)]), 1);
        assert_eq!((recorder.pairs, recorder.giants), (vec![(1, 2)], vec![vec![11, 12, 13, 14]]));
    }

    #[test]
    fn a_giant_is_written_down_once_in_place_of_its_pairs() {
        let group = untagged(0..5);
        let mut recorder = Recorder { writes_giants: true, ..Recorder::default() };
        let rules = Rules { counts: true, ..Rules::default() };
        assert_eq!(take(&mut recorder, rules, 4, None, &[(1, &group), (2, &group)]), 2);
        assert_eq!((recorder.pairs, recorder.giants), (vec![], vec![vec![0, 1, 2, 3, 4]]));
    }

    #[test]
    fn groups_of_two_corpora_are_too_large_by_their_pairs() {
        fn sides(document: u32) -> [bool; 2] {
            [document < 10, document >= 10]
        }
        // Eight pairs are those of a group of four.
        for (right, giants) in [(10..14, 0), (10..15, 1)] {
            let mut recorder =
                Recorder { references: 10, sides: Some(sides), writes_giants: true, ..Recorder::default() };
            let group = untagged([0, 1].into_iter().chain(right));
            assert_eq!(take(&mut recorder, Rules::default(), 4, None, &[(1, &group)]), giants);
            assert_eq!(recorder.pairs.len(), if giants == 0 { 8 } else { 0 });
        }
        let mut recorder = Recorder { references: 10, sides: Some(sides), ..Recorder::default() };
        take(&mut recorder, Rules::default(), 4, None, &[(1, &untagged(0..8))]);
        assert!(recorder.pairs.is_empty() && recorder.checkpoints.is_empty(), "one side alone has no pairs");
    }

    #[test]
    fn keys_that_only_ask_find_others_and_are_not_found() {
        // Documents 2 and 9 only ask.
        let group = [(1, 0), (2, 1), (5, 0), (9, 1)].map(tagged);
        let mut recorder = Recorder::default();
        take(&mut recorder, Rules { asks: true, ..Rules::default() }, 100, None, &[(1, &group)]);
        let sorted = |pairs: &[(u32, u32)]| {
            let mut pairs = pairs.to_vec();
            pairs.sort_unstable();
            pairs
        };
        // The earlier is found by the later where its own key is one to be found by, and the other way round.
        assert_eq!(sorted(&recorder.pairs), [(1, 2), (1, 5), (1, 9), (5, 9)]);
        assert_eq!(sorted(&recorder.back), [(1, 5), (2, 5)]);
    }

    #[test]
    fn a_group_is_known_again_by_documents_and_tags() {
        let group = untagged(0..200);
        assert_eq!(digest(&group), digest(&group.clone()));
        assert_ne!(digest(&group), digest(&group[..199]));
        assert_ne!(digest(&[tagged((1, 0))]), digest(&[tagged((1, 1))]));
        let mut seen = vec![0; 8];
        assert!(!mark_seen(&mut seen, 11));
        assert!(mark_seen(&mut seen, 11));
        assert!(!mark_seen(&mut seen, 19), "another takes its slot");
        assert!(!mark_seen(&mut seen, 11));
    }
}
