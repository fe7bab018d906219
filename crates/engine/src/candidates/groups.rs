//! From a group of documents with a common key to pairs.
//!
//! A group of at most `max_group` documents proposes all of its pairs. A method may bound the lengths of documents that
//! can be paired: then the group, by length, is cut wherever the next is too long. A part that is still too large is
//! split by stricter keys, where the method has any. What then remains proposes, in `dedup`, each member with its 8
//! predecessors by length and with the 8 members of smallest payload hash: about n pairs, never n squared. Elsewhere it
//! is written down once as a group.
//!
//! Where some keys only ask, members that are found are paired with all, and those that ask with none of their like.
//!
//! Where two corpora are compared, a group proposes those of its pairs that have a document of each (`sides`), and it is too
//! large when these are more than the pairs of a group of `max_group`.

use std::collections::BTreeSet;

use lookalike_methods::{Member, Method};
use xxhash_rust::xxh3::{Xxh3Default, xxh3_64};

use crate::catalogue::{Bits, Catalogue, Lookup};
use crate::context::{Context, remove_if_there};
use crate::error::EngineError;
use crate::panel::Seat;
use crate::recipe::Task;
use crate::sides::Sides;
use crate::store::file::RunWriter;
use crate::store::sort::{Couples, Place, Sorted, Sorter, couple, existing};

/// Neighbours that a member of a giant group is paired with, on either account.
const NEIGHBOURS: usize = 8;

/// Levels of strictness that are tried before a group is called giant.
const STRICTEST: u32 = 8;

/// Groups that are remembered, lest one that comes again proposes its pairs again: the shingles that two documents share
/// make the same group each.
const REMEMBERED: usize = 1 << 16;

/// Where sorted pairs of a method go.
pub(super) fn place(ctx: &Context<'_>, seat: usize) -> Place {
    ctx.place(&format!("proposed{seat}"))
}

/// Where the other direction goes, where some keys only ask.
pub(super) fn back_place(ctx: &Context<'_>, seat: usize) -> Place {
    ctx.place(&format!("proposed{seat}.back"))
}

/// A document and the tag of the key that it is in a group by.
type Tagged = (u32, u32);

/// Takes a part of a group.
type Each<'e, 'c> = dyn FnMut(&mut Groups<'c>, &mut [Tagged]) -> Result<(), EngineError> + 'e;

/// What a group needs to know of a document.
#[derive(Debug, Clone, Copy)]
struct Fact {
    /// Length as the method sees it.
    length: u32,
    /// Hash of the payload.
    mark: u32,
}

/// The pairs of a method's groups, on their way to a sorter.
pub(super) struct Groups<'c> {
    catalogue: &'c Catalogue,
    seat: &'c Seat,
    facts: Vec<Fact>,
    /// Pairs whose earlier document is found by the later; where no key only asks, all pairs.
    pairs: Sorter<Couples>,
    /// Pairs whose later document is found by the earlier.
    back: Option<Sorter<Couples>>,
    /// Groups up to this key are in runs already: an earlier process put them there.
    skip: Option<u64>,
    lookup: Lookup<'c>,
    giants: Option<RunWriter>,
    giant_groups: u64,
    /// Groups up to this size propose all of their pairs.
    limit: usize,
    /// Who is on which side, where two corpora are compared.
    sides: Option<Sides>,
    /// Keys of more documents are dropped.
    most_common: u64,
    remembered: Vec<u128>,
    remembered_giants: Vec<u128>,
}

impl<'c> Groups<'c> {
    pub(super) fn new(
        ctx: &'c Context<'c>,
        catalogue: &'c Catalogue,
        number: usize,
        represented: &Bits,
    ) -> Result<Self, EngineError> {
        let documents = u64::from(catalogue.len());
        let seat = &ctx.panel.proposers()[number];
        let method = &seat.method;
        let mut facts = Vec::with_capacity(catalogue.len() as usize);
        catalogue.records(ctx, |_, record| {
            let mark = xxh3_64(seat.payload(record)) as u32;
            facts.push(Fact { length: seat.length(record), mark });
        })?;
        let memory = ctx.budget.free(documents, 12) as usize / 2;
        let counts = method.counts_keys();
        let kind = |sorter: Sorter<Couples>| if counts { sorter } else { sorter.distinct() };
        let (pairs, back, skip) = if method.asks() {
            // Two sorters do not come to the same key together, so an earlier process leaves nothing to go on from.
            for place in [place(ctx, number), back_place(ctx, number)] {
                existing(&place)?.iter().try_for_each(|path| remove_if_there(path))?;
            }
            let sorter = |place| kind(Sorter::new(place, Couples, memory / 2));
            (sorter(place(ctx, number)), Some(sorter(back_place(ctx, number))), None)
        } else {
            let (pairs, skip) = Sorter::resume(place(ctx, number), Couples, memory)?;
            (kind(pairs), None, skip)
        };
        let giants = match ctx.recipe.task {
            Task::Dedup => None,
            Task::Pairs | Task::Compare => {
                Some(RunWriter::create(&ctx.file(&super::giants_name(number)), ctx.label("giants", 4))?)
            }
        };
        Ok(Groups {
            catalogue,
            seat,
            facts,
            pairs,
            back,
            skip,
            lookup: Lookup::new(ctx, catalogue),
            giants,
            giant_groups: 0,
            limit: ctx.recipe.max_group.max(method.least_group()),
            sides: if ctx.recipe.task == Task::Compare { Some(Sides::load(ctx, catalogue)?) } else { None },
            // Of equal documents only one is in groups.
            most_common: method.most_common(documents - u64::from(represented.count())),
            remembered: if counts { Vec::new() } else { vec![0; REMEMBERED] },
            remembered_giants: vec![0; REMEMBERED],
        })
    }

    fn method(&self) -> &'c dyn Method {
        &*self.seat.method
    }

    /// Takes one group: documents in order, each with its tag.
    pub(super) fn take(&mut self, key: u64, group: &mut [Tagged]) -> Result<(), EngineError> {
        if group.len() < 2 || group.len() as u64 > self.most_common {
            return Ok(());
        }
        if self.across(group) == Some(0) || self.seen_before(group) {
            return Ok(());
        }
        let fresh = self.skip.is_none_or(|skip| key > skip);
        self.cut(group, fresh)?;
        // The highest key cannot be told from none; then a later process does the last groups again.
        if fresh && key < u64::MAX - 1 {
            self.pairs.checkpoint(key)?;
        }
        Ok(())
    }

    /// True when the same group was there a while ago. Where keys are counted, every group counts.
    fn seen_before(&mut self, group: &[Tagged]) -> bool {
        if self.remembered.is_empty() {
            return false;
        }
        remember(&mut self.remembered, digest(group))
    }

    /// How many pairs of a group have a document of each corpus, where two are compared.
    fn across(&self, group: &[Tagged]) -> Option<usize> {
        let sides = self.sides.as_ref()?;
        let count =
            |of: fn(&Sides, u32) -> bool| group.iter().filter(|(document, _)| of(sides, *document)).count();
        Some(count(Sides::has_left) * count(Sides::has_right))
    }

    /// True when a group, or a part of one, proposes all of its pairs.
    fn fits(&self, group: &[Tagged]) -> bool {
        match self.across(group) {
            Some(pairs) => pairs <= self.limit.saturating_mul(self.limit) / 2,
            None => group.len() <= self.limit,
        }
    }

    fn length(&self, document: u32) -> u32 {
        self.facts[document as usize].length
    }

    /// Cuts a group, by length, wherever the next document is too long for the one before, and takes the parts.
    fn cut(&mut self, group: &mut [Tagged], fresh: bool) -> Result<(), EngineError> {
        if self.back.is_some() {
            return self.asked(group, fresh);
        }
        if self.method().longest_partner(0) == u32::MAX {
            return self.part(group, fresh);
        }
        group.sort_unstable_by_key(|&(document, _)| (self.facts[document as usize].length, document));
        let mut start = 0;
        for index in 1..=group.len() {
            let reach = self.method().longest_partner(self.length(group[index - 1].0));
            if group.get(index).is_none_or(|&(next, _)| self.length(next) > reach) {
                self.part(&mut group[start..index], fresh)?;
                start = index;
            }
        }
        Ok(())
    }

    /// Pairs members that are found with all others; those that only ask come last and are paired with none of their
    /// like.
    fn asked(&mut self, group: &mut [Tagged], fresh: bool) -> Result<(), EngineError> {
        let method = self.method();
        group.sort_unstable_by_key(|&(document, tag)| (method.only_asks(tag), document));
        let found = group.partition_point(|&(_, tag)| !method.only_asks(tag));
        if found.saturating_mul(group.len()) > self.limit.saturating_mul(self.limit) {
            return self.giant(&mut group[..found], fresh);
        }
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
        let (earlier, later) = if a.0 < b.0 { (a, b) } else { (b, a) };
        let wanted = match &self.sides {
            Some(sides) => sides.across(earlier.0, later.0),
            // Two documents that are only there to be compared with need no comparison.
            None => later.0 >= self.catalogue.references(),
        };
        if earlier.0 == later.0 || !wanted {
            return Ok(());
        }
        let member = |(document, tag): Tagged| Member { length: self.length(document), tag };
        let method = self.method();
        if !method.plausible(member(earlier), member(later)) {
            return Ok(());
        }
        let couple = couple(earlier.0, later.0);
        if !method.only_asks(earlier.1) {
            self.pairs.push(couple)?;
        }
        match &mut self.back {
            Some(back) if !method.only_asks(later.1) => back.push(couple),
            _ => Ok(()),
        }
    }

    fn all_pairs(&mut self, group: &[Tagged]) -> Result<(), EngineError> {
        if self.sides.is_some() {
            return self.pairs_across(group);
        }
        for (index, &one) in group.iter().enumerate() {
            let reach = self.method().longest_partner(self.length(one.0));
            for &other in &group[index + 1..] {
                if self.length(other.0) > reach {
                    // By length, if there is a reach at all.
                    break;
                }
                self.pair(one, other)?;
            }
        }
        Ok(())
    }

    /// Proposes the pairs that have a document of each corpus.
    fn pairs_across(&mut self, group: &[Tagged]) -> Result<(), EngineError> {
        let Some(sides) = &self.sides else { return Ok(()) };
        let some = |of: fn(&Sides, u32) -> bool| -> Vec<Tagged> {
            group.iter().copied().filter(|(document, _)| of(sides, *document)).collect()
        };
        let (left, right) = (some(Sides::has_left), some(Sides::has_right));
        // Of two documents that each stand for both sides, one pair is enough.
        let both = |(document, _): Tagged| sides.has_left(document) && sides.has_right(document);
        let twins: Vec<bool> = left.iter().map(|&one| both(one)).collect();
        for (&one, twin) in left.iter().zip(twins) {
            let length = self.length(one.0);
            let reach = self.method().longest_partner(length);
            for &other in &right {
                let far = match self.length(other.0) {
                    longer if longer > length => longer > reach,
                    shorter => length > self.method().longest_partner(shorter),
                };
                let again = twin && other.0 < one.0 && other.0 < self.catalogue.references();
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
        for level in 1..=STRICTEST {
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
    fn parts(&mut self, group: &[Tagged], level: u32, each: &mut Each<'_, 'c>) -> Result<usize, EngineError> {
        let (mut largest, mut number) = (0, 0);
        let (mut keys, mut parts, mut part) = (Vec::new(), Vec::new(), Vec::new());
        let seat = self.seat;
        // One key of each member at a time: all of them at once could be many times the group.
        loop {
            parts.clear();
            for (index, &(document, tag)) in group.iter().enumerate() {
                keys.clear();
                seat.method.split(seat.payload(self.lookup.record(document)?), tag, level, &mut keys);
                parts.extend(keys.get(number).map(|&key| (key, index as u32)));
            }
            if parts.is_empty() {
                return Ok(largest);
            }
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
        if let Some(giants) = &mut self.giants {
            if remember(&mut self.remembered_giants, digest(group)) {
                return Ok(());
            }
            for &(document, _) in group.iter() {
                giants.push(&(document + 1).to_le_bytes())?;
            }
            return giants.push(&0u32.to_le_bytes());
        }
        if fresh { self.some_pairs(group) } else { Ok(()) }
    }

    /// Proposes each member with those just before it by length, and with a few that all have in common; every pair
    /// once, since methods may count.
    fn some_pairs(&mut self, group: &mut [Tagged]) -> Result<(), EngineError> {
        group.sort_unstable_by_key(|&(document, _)| (self.facts[document as usize].length, document));
        let landmarks = self.landmarks(group);
        for (index, &member) in group.iter().enumerate() {
            for &before in &group[index.saturating_sub(NEIGHBOURS)..index] {
                self.pair(member, before)?;
            }
            for &landmark in &landmarks {
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
        let mark = |&place: &usize| (self.facts[group[place].0 as usize].mark, group[place].0);
        let mut places: Vec<usize> = Vec::new();
        for place in 0..group.len() {
            places.push(place);
            if places.len() > 64 * NEIGHBOURS {
                places.select_nth_unstable_by_key(NEIGHBOURS, mark);
                places.truncate(NEIGHBOURS);
            }
        }
        places.sort_unstable_by_key(mark);
        places.truncate(NEIGHBOURS);
        places
    }

    /// All pairs, each as often as it was proposed.
    pub(super) fn finish(self) -> Result<Found, EngineError> {
        self.giants.map_or(Ok(()), RunWriter::finish)?;
        let back = self.back.map(Sorter::sorted).transpose()?;
        Ok(Found { pairs: self.pairs.sorted()?, back, giant_groups: self.giant_groups })
    }
}

/// What the groups of a method came to.
pub(super) struct Found {
    /// Pairs, sorted, whose earlier document is found by the later; where no key only asks, all pairs.
    pub(super) pairs: Sorted<Couples>,
    /// Pairs, sorted, whose later document is found by the earlier.
    pub(super) back: Option<Sorted<Couples>>,
    pub(super) giant_groups: u64,
}

/// True when this was the last to be remembered at its place.
fn remember(remembered: &mut [u128], digest: u128) -> bool {
    let place = digest as usize % remembered.len();
    std::mem::replace(&mut remembered[place], digest) == digest
}

/// A group in 128 bits.
fn digest(group: &[Tagged]) -> u128 {
    let mut sum = Xxh3Default::new();
    let mut bytes = [0; 512];
    for part in group.chunks(64) {
        for (slot, &(document, tag)) in bytes.as_chunks_mut::<8>().0.iter_mut().zip(part) {
            *slot = (u64::from(document) << 32 | u64::from(tag)).to_le_bytes();
        }
        sum.update(&bytes[..8 * part.len()]);
    }
    sum.digest128()
}
