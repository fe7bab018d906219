//! Stages 3 and 4, group and pair: documents that share keys become candidates.
//!
//! All postings stream by in the order of their keys. A group of at most `max_group` documents proposes all of its
//! pairs. A larger one is first split by stricter keys, where the method has any. What is still too large proposes, in
//! `dedup`, each member with its 8 predecessors by length and with the 8 members of smallest payload hash: about n
//! pairs, never n squared. Elsewhere it is written down once as a group.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;

use lookalike_methods::Member;
use lookalike_text::hash;
use serde::{Deserialize, Serialize};

use crate::catalogue::{Bits, Catalogue, Lookup};
use crate::classes;
use crate::context::{Context, remove_if_there};
use crate::error::EngineError;
use crate::recipe::Task;
use crate::store::file::{Label, Records, Run, RunWriter};
use crate::store::sort::{Codec, Couples, Posting, Postings, Rebased, Sorter, couple, existing, uncouple};

/// What the stage found, beside the candidates themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Proposed {
    /// Distinct pairs.
    pub(crate) candidates: u64,
    /// Groups that did not propose all of their pairs.
    pub(crate) giant_groups: u64,
}

/// Two documents that share keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Candidate {
    pub(crate) a: u32,
    pub(crate) b: u32,
    pub(crate) shared: u32,
}

impl Candidate {
    pub(crate) const WIDTH: usize = 12;

    pub(crate) fn encode(self) -> [u8; Candidate::WIDTH] {
        let mut out = [0; Candidate::WIDTH];
        for (slot, number) in out.as_chunks_mut::<4>().0.iter_mut().zip([self.a, self.b, self.shared]) {
            *slot = number.to_le_bytes();
        }
        out
    }

    pub(crate) fn decode(bytes: &[u8]) -> Self {
        let number = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
        Candidate { a: number(0), b: number(4), shared: number(8) }
    }

    pub(crate) fn label(ctx: &Context<'_>) -> Label {
        ctx.label("candidates", Candidate::WIDTH)
    }
}

/// Neighbours that a member of a giant group is paired with, on either account.
const NEIGHBOURS: usize = 8;

/// Levels of strictness that are tried before a group is called giant.
const STRICTEST: u32 = 8;

const FILE: &str = "candidates";

/// The candidates, sorted.
pub(crate) fn open(ctx: &Context<'_>) -> Result<Records, EngineError> {
    Ok(Run::open(&ctx.file(FILE), Candidate::label(ctx))?.records())
}

/// The giant groups of a run that writes them down: numbers of documents, 0 between two groups (numbers count from 1).
pub(crate) fn giants(ctx: &Context<'_>) -> Result<Records, EngineError> {
    Ok(Run::open(&ctx.file("giants"), ctx.label("giants", 4))?.records())
}

/// Finds the candidates, unless that was done.
pub(crate) fn propose(ctx: &Context<'_>, catalogue: &Catalogue) -> Result<Proposed, EngineError> {
    if let Some(done) = ctx.saved("candidates.done")? {
        return Ok(done);
    }
    // What an earlier process merged in steps is merged again: it may not have come to an end.
    existing(&ctx.place("merged"))?.iter().try_for_each(|path| remove_if_there(path))?;
    let runs = catalogue.key_runs(ctx);
    let counts: Result<Vec<u64>, EngineError> = runs
        .iter()
        .map(|(path, _)| Ok(Run::open(path, ctx.label(Postings::KIND, postings(ctx).width()))?.count()))
        .collect();
    ctx.begin("group", Some(counts?.iter().sum()), false);
    let mut proposals = Proposals::new(ctx, catalogue)?;
    let mut merge = Rebased::open(postings(ctx), &ctx.place("merged"), &runs)?;
    let mut group: Vec<(u32, u32)> = Vec::new();
    let mut key = None;
    let mut seen = 0u64;
    while let Some(packed) = merge.next()? {
        seen += 1;
        if seen.is_multiple_of(65_536) {
            ctx.watch.steps.store(seen, Ordering::Relaxed);
            ctx.check()?;
        }
        let posting = Posting::unpack(packed);
        if proposals.represented.get(posting.document) {
            continue;
        }
        if key != Some(posting.key) {
            if let Some(key) = key {
                proposals.group(key, &mut group)?;
            }
            group.clear();
            key = Some(posting.key);
        }
        if group.last().is_none_or(|&(document, _)| document != posting.document) {
            group.push((posting.document, posting.tag));
        }
    }
    if let Some(key) = key {
        proposals.group(key, &mut group)?;
    }
    drop(merge);
    let done = proposals.finish()?;
    ctx.save("candidates.done", &done)?;
    // What was sorted is of no more use, and large.
    for path in existing(&ctx.place("proposed"))?.into_iter().chain(existing(&ctx.place("merged"))?) {
        remove_if_there(&path)?;
    }
    runs.iter().try_for_each(|(path, _)| remove_if_there(path))?;
    Ok(done)
}

/// How postings are kept.
fn postings(ctx: &Context<'_>) -> Postings {
    Postings { tagged: ctx.method.tagged() }
}

/// Takes a part of a group.
type Each<'e, 'c> = dyn FnMut(&mut Proposals<'c>, &[(u32, u32)]) -> Result<(), EngineError> + 'e;

/// Pairs on their way to a sorter.
struct Proposals<'c> {
    ctx: &'c Context<'c>,
    catalogue: &'c Catalogue,
    represented: Bits,
    /// Length and payload hash of every document.
    facts: Vec<(u32, u32)>,
    pairs: Sorter<Couples>,
    /// Groups up to this key are in runs already: an earlier process put them there.
    skip: Option<u64>,
    lookup: Lookup<'c>,
    giants: Option<RunWriter>,
    giant_groups: u64,
    /// Groups up to this size propose all of their pairs.
    limit: usize,
}

impl<'c> Proposals<'c> {
    fn new(ctx: &'c Context<'c>, catalogue: &'c Catalogue) -> Result<Self, EngineError> {
        let documents = u64::from(catalogue.len());
        let mut facts = Vec::with_capacity(catalogue.len() as usize);
        catalogue.rows(ctx, |_, row| {
            facts.push((row.length, row.mark));
            Ok(())
        })?;
        let memory = ctx.budget.free(documents, 12) as usize / 2;
        let (pairs, skip) = Sorter::resume(ctx.place("proposed"), Couples, memory)?;
        let giants = match ctx.recipe.task {
            Task::Dedup => None,
            Task::Pairs => Some(RunWriter::create(&ctx.file("giants"), ctx.label("giants", 4))?),
        };
        Ok(Proposals {
            ctx,
            catalogue,
            represented: classes::represented(ctx, catalogue)?,
            facts,
            pairs,
            skip,
            lookup: Lookup::new(ctx, catalogue),
            giants,
            giant_groups: 0,
            limit: ctx.recipe.max_group.max(ctx.method.least_group()),
        })
    }

    /// Takes one group: documents in order, each with its tag.
    fn group(&mut self, key: u64, group: &mut [(u32, u32)]) -> Result<(), EngineError> {
        if group.len() < 2 {
            return Ok(());
        }
        let fresh = self.skip.is_none_or(|skip| key > skip);
        if group.len() <= self.limit {
            if fresh {
                self.all_pairs(group)?;
            }
        } else {
            self.split(group, fresh)?;
        }
        // The highest key cannot be told from none; then a later process does the last groups again.
        if fresh && key < u64::MAX - 1 {
            self.pairs.checkpoint(key)?;
        }
        Ok(())
    }

    fn pair(&mut self, a: u32, b: u32) -> Result<(), EngineError> {
        let (a, b) = (a.min(b), a.max(b));
        // Two documents that are only there to be compared with need no comparison.
        if a == b || b < self.catalogue.references() {
            return Ok(());
        }
        self.pairs.push(couple(a, b))
    }

    fn all_pairs(&mut self, group: &[(u32, u32)]) -> Result<(), EngineError> {
        for (index, &(a, tag)) in group.iter().enumerate() {
            let member = Member { length: self.facts[a as usize].0, tag };
            for &(b, tag) in &group[..index] {
                let other = Member { length: self.facts[b as usize].0, tag };
                if self.ctx.method.plausible(member, other) {
                    self.pair(a, b)?;
                }
            }
        }
        Ok(())
    }

    /// Cuts a group that is too large by stricter keys: the least strict that part it into groups that are not. Each
    /// level of strictness loses nothing by itself, so levels are tried one after the other and never inside each other.
    fn split(&mut self, group: &mut [(u32, u32)], fresh: bool) -> Result<(), EngineError> {
        let mut best = None;
        for level in 1..=STRICTEST {
            let largest = self.parts(group, level, &mut |_, _| Ok(()))?;
            if largest == 0 {
                break;
            }
            best = Some(level);
            if largest <= self.limit {
                break;
            }
        }
        let Some(level) = best else { return self.giant(group, fresh) };
        // Stricter keys come in several, and documents that are alike in all of them make the same part each time: it is
        // known again by a digest of its members and handled once.
        let mut giants = BTreeSet::new();
        self.parts(group, level, &mut |proposals, part| {
            if part.len() <= proposals.limit {
                return if fresh { proposals.all_pairs(part) } else { Ok(()) };
            }
            let members: Vec<u8> = part.iter().flat_map(|(document, _)| document.to_le_bytes()).collect();
            if giants.insert(hash::digest(&members)) {
                proposals.giant(&mut part.to_vec(), fresh)
            } else {
                Ok(())
            }
        })?;
        Ok(())
    }

    /// Hands the parts of a group at one level of strictness to `each`; returns the size of the largest, 0 when there
    /// are no such keys.
    fn parts(
        &mut self,
        group: &[(u32, u32)],
        level: u32,
        each: &mut Each<'_, 'c>,
    ) -> Result<usize, EngineError> {
        let (mut largest, mut number) = (0, 0);
        let (mut keys, mut parts, mut part) = (Vec::new(), Vec::new(), Vec::new());
        // One key of each member at a time: all of them at once could be many times the group.
        loop {
            parts.clear();
            for (index, &(document, tag)) in group.iter().enumerate() {
                keys.clear();
                self.ctx.method.split(self.lookup.payload(document)?, tag, level, &mut keys);
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
                    each(self, &part)?;
                }
            }
            number += 1;
        }
    }

    /// A group that stays too large.
    fn giant(&mut self, group: &mut [(u32, u32)], fresh: bool) -> Result<(), EngineError> {
        self.giant_groups += 1;
        if let Some(giants) = &mut self.giants {
            for &(document, _) in group.iter() {
                giants.push(&(document + 1).to_le_bytes())?;
            }
            return giants.push(&0u32.to_le_bytes());
        }
        if !fresh {
            return Ok(());
        }
        let facts = &self.facts;
        group.sort_unstable_by_key(|&(document, _)| (facts[document as usize].0, document));
        let mut landmarks: Vec<(u32, u32)> = Vec::new();
        for &(document, _) in group.iter() {
            landmarks.push((facts[document as usize].1, document));
            if landmarks.len() > 64 * NEIGHBOURS {
                landmarks.select_nth_unstable(NEIGHBOURS);
                landmarks.truncate(NEIGHBOURS);
            }
        }
        landmarks.sort_unstable();
        landmarks.truncate(NEIGHBOURS);
        for index in 0..group.len() {
            let document = group[index].0;
            for &(before, _) in &group[index.saturating_sub(NEIGHBOURS)..index] {
                self.pair(document, before)?;
            }
            for &(_, landmark) in &landmarks {
                self.pair(document, landmark)?;
            }
        }
        Ok(())
    }

    /// Sorts the pairs, counts how often each was proposed and writes those that share enough keys.
    fn finish(self) -> Result<Proposed, EngineError> {
        self.giants.map_or(Ok(()), RunWriter::finish)?;
        let mut writer = RunWriter::create(&self.ctx.file(FILE), Candidate::label(self.ctx))?;
        let mut done = Proposed { candidates: 0, giant_groups: self.giant_groups };
        let least = self.ctx.method.keys_to_share();
        let mut sorted = self.pairs.sorted()?;
        let mut last: Option<(u64, u32)> = None;
        let mut put = |pair: Option<(u64, u32)>| -> Result<(), EngineError> {
            let Some((pair, shared)) = pair.filter(|&(_, shared)| shared >= least) else { return Ok(()) };
            let (a, b) = uncouple(pair);
            done.candidates += 1;
            writer.push(&Candidate { a, b, shared }.encode())
        };
        while let Some(pair) = sorted.next()? {
            match &mut last {
                Some((same, shared)) if *same == pair => *shared += 1,
                _ => put(last.replace((pair, 1)))?,
            }
        }
        put(last)?;
        writer.finish()?;
        Ok(done)
    }
}
