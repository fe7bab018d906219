//! One bucket: its candidates are measured, its documents decided.

use std::path::Path;

use lookalike_model::Threshold;
use rayon::prelude::*;

use super::sets::{OnDisk, Resident};
use super::tally::{Sample, Tally};
use super::{Pairs, Removal};
use crate::candidates::Candidate;
use crate::catalogue::{Catalogue, Lookup};
use crate::context::Context;
use crate::error::EngineError;
use crate::keepers::Keepers;
use crate::measure::Measured;
use crate::recipe::ClusterRule;
use crate::star::{self, Edge, Judge, Neighbours};
use crate::store::file::RunWriter;
use crate::store::sort::{Codec, couple};

/// Documents that hang together through candidates.
pub(super) struct Bucket<'c> {
    ctx: &'c Context<'c>,
    lookup: Lookup<'c>,
    pub(super) candidates: Vec<Candidate>,
    /// Equal documents: the first of its class and a further one.
    pub(super) members: Vec<(u32, u32)>,
    resident: Resident,
    on_disk: Option<(OnDisk, u64)>,
    /// Every document that stands for its class, in order.
    documents: Vec<u32>,
    payloads: Vec<u8>,
    withins: Vec<u64>,
}

impl<'c> Bucket<'c> {
    pub(super) fn new(ctx: &'c Context<'c>, catalogue: &'c Catalogue) -> Self {
        Bucket {
            ctx,
            lookup: Lookup::new(ctx, catalogue),
            candidates: Vec::new(),
            members: Vec::new(),
            resident: Resident::default(),
            on_disk: None,
            documents: Vec::new(),
            payloads: Vec::new(),
            withins: Vec::new(),
        }
    }

    /// Takes a document's symbols.
    pub(super) fn add(&mut self, document: u32, symbols: &[u64]) {
        self.resident.add(self.ctx, document, symbols);
    }

    /// Goes on once all documents are there.
    pub(super) fn settle(&mut self) -> Result<(), EngineError> {
        self.resident.settle(self.ctx);
        self.documents = self.resident.documents().to_vec();
        self.facts()
    }

    /// Leaves the documents in their file; at most `capacity` bytes of them are in memory at a time.
    pub(super) fn stay_on_disk(&mut self, path: &Path, capacity: u64) -> Result<(), EngineError> {
        let on_disk = OnDisk::open(self.ctx, path)?;
        self.documents = on_disk.places.iter().map(|&(document, ..)| document).collect();
        self.on_disk = Some((on_disk, capacity));
        self.facts()
    }

    fn facts(&mut self) -> Result<(), EngineError> {
        for &document in &self.documents {
            self.payloads.extend_from_slice(self.lookup.payload(document)?);
            if self.ctx.within.is_some() {
                self.withins.push(self.lookup.row(document)?.within);
            }
        }
        Ok(())
    }

    fn node(&self, document: u32) -> u32 {
        // Every candidate was gathered with its bucket.
        self.documents.binary_search(&document).unwrap_or_default() as u32
    }

    fn payload(&self, node: u32) -> &[u8] {
        let width = self.ctx.method.payload_bytes();
        &self.payloads[node as usize * width..][..width]
    }

    /// What the method says of a pair, for runs that measure nothing.
    fn score(&self, a: u32, b: u32, shared: u32) -> Option<Measured> {
        let score = self.ctx.method.accept(self.payload(a), self.payload(b), shared)?;
        Some(Measured { forward: score, backward: score, reached: true, reached_back: true })
    }

    /// Measures all candidates; returns those that count.
    pub(super) fn measure(&mut self, ctx: &Context<'_>, tally: &mut Tally) -> Result<Vec<Edge>, EngineError> {
        let candidates = std::mem::take(&mut self.candidates);
        let pairs: Vec<(u32, u32, u32)> = candidates
            .into_par_iter()
            .map(|pair| (self.node(pair.a), self.node(pair.b), pair.shared))
            .filter(|&(a, b, _)| self.withins.is_empty() || self.withins[a as usize] == self.withins[b as usize])
            .collect();
        let mut edges = Vec::new();
        match self.on_disk.take() {
            None => self.measure_some(ctx, &pairs, &self.resident, tally, &mut edges)?,
            Some((on_disk, capacity)) => {
                self.measure_in_pieces(ctx, &pairs, &on_disk, capacity, tally, &mut edges)?;
                self.on_disk = Some((on_disk, capacity));
            }
        }
        Ok(edges)
    }

    /// Measures pairs whose documents are all in `sets`.
    fn measure_some(
        &self,
        ctx: &Context<'_>,
        pairs: &[(u32, u32, u32)],
        sets: &Resident,
        tally: &mut Tally,
        edges: &mut Vec<Edge>,
    ) -> Result<(), EngineError> {
        let floor = floor(ctx);
        let whole = sets.documents().len() == self.documents.len();
        let set = |node: u32| match whole {
            true => sets.at(node as usize),
            false => sets.get(self.documents[node as usize]).unwrap_or_default(),
        };
        let judge = |&(a, b, shared): &(u32, u32, u32)| -> Verdict {
            if !ctx.recipe.verified {
                return self.score(a, b, shared).map_or(Verdict::Unpromising, Verdict::Measured);
            }
            if !ctx.method.promising(self.payload(a), self.payload(b), shared) {
                return Verdict::Unpromising;
            }
            ctx.measure.compare(set(a), set(b), floor).map_or(Verdict::TooFar, Verdict::Measured)
        };
        for part in pairs.chunks(1 << 18) {
            ctx.check()?;
            let verdicts: Vec<Verdict> = part.par_iter().with_min_len(64).map(judge).collect();
            for (&(a, b, _), verdict) in part.iter().zip(verdicts) {
                tally.verified += u64::from(!matches!(verdict, Verdict::Unpromising));
                let Verdict::Measured(measured) = verdict else { continue };
                let similarity = measured.forward.max(measured.backward);
                let (first, second) = (self.documents[a as usize], self.documents[b as usize]);
                tally.take(Sample { a: first, b: second, similarity }, measured.counts());
                tally.trim_if_many(ctx.measure.threshold.value());
                if measured.counts() || ctx.recipe.all {
                    edges.push(Edge { a, b, measured });
                }
            }
        }
        Ok(())
    }

    /// Measures pairs of documents that do not fit into memory together: those of two pieces at a time.
    fn measure_in_pieces(
        &self,
        ctx: &Context<'_>,
        pairs: &[(u32, u32, u32)],
        on_disk: &OnDisk,
        capacity: u64,
        tally: &mut Tally,
        edges: &mut Vec<Edge>,
    ) -> Result<(), EngineError> {
        let mut piece_of = Vec::with_capacity(on_disk.places.len());
        let (mut piece, mut filled) = (0u32, 0u64);
        for &(_, _, bytes) in &on_disk.places {
            if filled > 0 && filled + u64::from(bytes) > capacity / 2 {
                piece += 1;
                filled = 0;
            }
            filled += u64::from(bytes);
            piece_of.push(piece);
        }
        let pieces = |&(a, b, _): &(u32, u32, u32)| (piece_of[a as usize], piece_of[b as usize]);
        let mut sorted = pairs.to_vec();
        sorted.sort_unstable_by_key(|pair| (pieces(pair), *pair));
        for together in sorted.chunk_by(|one, two| pieces(one) == pieces(two)) {
            let (first, second) = pieces(&together[0]);
            let wanted = |document: u32| {
                let piece = piece_of[self.node(document) as usize];
                piece == first || piece == second
            };
            let sets = on_disk.load(ctx, wanted)?;
            self.measure_some(ctx, together, &sets, tally, edges)?;
        }
        edges.sort_unstable_by_key(|edge| (edge.a, edge.b));
        Ok(())
    }

    /// Decides every document of the bucket.
    pub(super) fn decide(
        mut self,
        ctx: &Context<'_>,
        catalogue: &Catalogue,
        keepers: &Keepers,
        edges: Vec<Edge>,
        tally: &mut Tally,
    ) -> Result<Vec<Removal>, EngineError> {
        let nodes = self.documents.len();
        let own = self.documents.iter().enumerate().map(|(node, &document)| (document, node as u32));
        let equal = self.members.iter().map(|&(leader, member)| (member, self.node(leader)));
        let all: Vec<(u32, u32)> = own.chain(equal).collect();
        let mut lookup = Lookup::new(ctx, catalogue);
        let turns = keepers.order(&mut lookup, all)?;
        let neighbours = Neighbours::new(nodes, &edges);
        drop(edges);
        let leaders = self.documents.clone();
        let mut judge = BucketJudge { bucket: &mut self, hops: 0 };
        let removals = match ctx.recipe.cluster {
            ClusterRule::Star => star::star(&turns, &neighbours, nodes, &mut judge)?,
            ClusterRule::Components => star::components(&turns, &neighbours, &leaders, &mut judge)?,
        };
        tally.hops += judge.hops;
        Ok(removals)
    }

    /// Writes the pairs that count, equal documents included.
    pub(super) fn write_pairs(&self, ctx: &Context<'_>, edges: &[Edge], target: &Path) -> Result<(), EngineError> {
        let mut writer = RunWriter::create(target, Pairs::label(ctx))?;
        let mut bytes = [0; 24];
        for &Edge { a, b, measured } in edges {
            let pair = couple(self.documents[a as usize], self.documents[b as usize]);
            Pairs.put((pair, measured.forward.to_bits(), measured.backward.to_bits()), &mut bytes);
            writer.push(&bytes)?;
        }
        writer.finish()
    }
}

enum Verdict {
    /// Not worth measuring.
    Unpromising,
    /// Given up on the way.
    TooFar,
    /// Measured.
    Measured(Measured),
}

/// Below this a pair need not be measured to the end. A little under the threshold it still is, so that a person can
/// see what lies there.
fn floor(ctx: &Context<'_>) -> Threshold {
    if ctx.recipe.all {
        return LOWEST;
    }
    let value = (ctx.measure.threshold.value() - 0.1).max(1e-9);
    format!("{value:.9}").parse().unwrap_or(LOWEST)
}

/// The lowest floor there is.
const LOWEST: Threshold = Threshold::LOWEST;

struct BucketJudge<'b, 'c> {
    bucket: &'b mut Bucket<'c>,
    hops: u64,
}

impl BucketJudge<'_, '_> {
    fn compare(&mut self, a: u32, b: u32, floor: Threshold) -> Result<Option<Measured>, EngineError> {
        self.hops += 1;
        let bucket = &mut *self.bucket;
        if !bucket.ctx.recipe.verified {
            return Ok(bucket.score(a, b, bucket.ctx.method.keys_to_share()));
        }
        let Some((on_disk, _)) = &mut bucket.on_disk else {
            let (a, b) = (bucket.resident.at(a as usize), bucket.resident.at(b as usize));
            return Ok(bucket.ctx.measure.compare(a, b, floor));
        };
        let pair = [bucket.documents[a as usize], bucket.documents[b as usize]];
        on_disk.fetch(bucket.ctx, &pair)?;
        let [a, b] = pair.map(|document| on_disk.get(document).unwrap_or_default());
        Ok(bucket.ctx.measure.compare(a, b, floor))
    }
}

impl Judge for BucketJudge<'_, '_> {
    fn near(&mut self, a: u32, b: u32) -> Result<Option<Measured>, EngineError> {
        self.compare(a, b, self.bucket.ctx.measure.threshold)
    }

    fn any(&mut self, a: u32, b: u32) -> Result<f64, EngineError> {
        Ok(self.compare(a, b, LOWEST)?.map_or(0.0, |measured| measured.forward))
    }
}

/// A judge of documents that have no neighbours.
pub(super) struct Nobody;

impl Judge for Nobody {
    fn near(&mut self, _: u32, _: u32) -> Result<Option<Measured>, EngineError> {
        Ok(None)
    }

    fn any(&mut self, _: u32, _: u32) -> Result<f64, EngineError> {
        Ok(0.0)
    }
}
