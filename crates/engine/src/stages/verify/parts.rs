//! A bucket in parts: documents that hang together through candidates that are not told apart.
//!
//! Candidates that payloads tell apart are dropped first. What still hangs together becomes parts of about 2 MB of
//! shingles, each read, measured and decided by one thread: sets stay in a cache, and memory does not grow with the
//! candidates. Where documents cannot be read from anywhere (compressed input), a bucket is one part.

use std::cmp::Reverse;

use lookalike_model::{Candidate, DocNumber, NodeId, SharedKeys, Similarity};
use lookalike_store::bits::{Bits, RankedBits};
use lookalike_store::file::Records;
use rayon::prelude::*;

use super::bucket::{BATCH_PAIRS, PairView, ViewCandidate, ViewIndex};
use super::needs_records;
use super::partition::{DisjointSets, NONE, set_bytes};
use super::sets::Resident;
use crate::catalogue::{Catalogue, Lookup};
use crate::context::Context;
use crate::error::EngineError;
use crate::measure::Measure;
use crate::stages::collapse::ClassMember;

/// Whole components, and all that decides their documents.
#[derive(Debug, Default)]
pub(super) struct Part {
    /// In order: the node of each is its index. In a part without pairs there are only documents that have equals.
    pub(super) documents: Vec<DocNumber>,
    /// Candidates, by the nodes of their documents.
    pub(super) pairs: Vec<[NodeId; 2]>,
    /// The number of keys that each of them shares, by method; empty where the methods are not asked again.
    pub(super) shared: Vec<SharedKeys>,
    /// Equal documents: a further one, and the node of the first of its class.
    pub(super) members: Vec<(DocNumber, NodeId)>,
    /// Most bytes that the sets of its paired documents take.
    pub(super) bytes: u64,
}

impl Part {
    /// About how long it takes, held against other parts.
    fn work(&self, measure: &Measure) -> u64 {
        let (symbols, pairs) = (self.bytes / 8, self.pairs.len() as u64);
        match measure.similarity {
            // Texts are gone through symbol by symbol.
            Similarity::Edit => symbols + pairs * (symbols / self.documents.len().max(1) as u64),
            _ => symbols.max(8 * pairs),
        }
    }
}

/// Parts that all threads should measure together, and those that each can be left to one of them; in both what takes
/// longest comes first, lest all wait for it in the end. Large are those of more than `memory` bytes, and those that take
/// longer than a thread's share of all.
pub(super) fn by_size(
    mut parts: Vec<Part>,
    measure: &Measure,
    threads: u64,
    memory: u64,
) -> (Vec<Part>, Vec<Part>) {
    parts.sort_by_key(|part| Reverse(part.work(measure)));
    let share = parts.iter().map(|part| part.work(measure)).sum::<u64>() / threads;
    parts.into_iter().partition(|part| part.bytes > memory || part.work(measure) > share)
}

/// Candidates that are not told apart, by the indexes of their documents.
struct PromisingPairs {
    documents: Vec<DocNumber>,
    /// The index of a document is its rank.
    ranks: RankedBits,
    pairs: Vec<[ViewIndex; 2]>,
    shared: Vec<SharedKeys>,
}

/// Drops the candidates that what the methods keep tells apart, which are most, and puts the others with their `members`
/// together in parts of about `most` bytes. `candidates` opens their file.
pub(super) fn parts(
    ctx: &Context<'_>,
    catalogue: &Catalogue,
    candidates: impl Fn() -> Result<Records, EngineError>,
    members: &[ClassMember],
    most: u64,
) -> Result<Vec<Part>, EngineError> {
    let mut lookup = Lookup::new(ctx, catalogue);
    let mut involved = Bits::new(catalogue.len());
    let mut records = candidates()?;
    while let Some(bytes) = records.next()? {
        let [a, b] = Candidate::decode(bytes).pair.documents();
        involved.set(a);
        involved.set(b);
    }
    // Candidates are read twice: first for their documents alone, whose ranks are then places in short lists.
    let ranks = RankedBits::new(involved);
    let promising = promising(ctx, &mut lookup, ranks, candidates()?)?;
    let (part_of, bytes) = components(ctx, &mut lookup, &promising, most)?;
    Ok(promising.cut(&part_of, &bytes, members))
}

fn promising(
    ctx: &Context<'_>,
    lookup: &mut Lookup<'_>,
    ranks: RankedBits,
    mut records: Records,
) -> Result<PromisingPairs, EngineError> {
    let documents = ranks.numbers().into_iter().map(DocNumber::new).collect();
    let resident = Resident::with_records(ctx, lookup, documents)?;
    let view = PairView::new(ctx, &resident, None, lookup)?;
    // Where a document stands in the list costs more than the rest of reading a candidate: it is left to all
    // threads.
    let in_view = |candidate: &Candidate| ViewCandidate {
        pair: candidate.pair.documents().map(|document| ViewIndex::new(ranks.rank(document.get()))),
        shared: candidate.shared,
    };
    // Without verification the methods are asked for their own word on every candidate later on.
    let counts = |candidate: &ViewCandidate| !ctx.recipe.verified || view.promising(ctx, candidate);
    let (mut pairs, mut shared, mut some) = (Vec::new(), Vec::new(), Vec::new());
    loop {
        ctx.check()?;
        some.clear();
        while let Some(bytes) = records.next()? {
            some.push(Candidate::decode(bytes));
            if some.len() == BATCH_PAIRS {
                break;
            }
        }
        if some.is_empty() {
            break;
        }
        let left: Vec<ViewCandidate> =
            some.par_iter().with_min_len(1 << 10).map(in_view).filter(counts).collect();
        ctx.count_finished_pairs((some.len() - left.len()) as u64);
        pairs.extend(left.iter().map(|candidate| candidate.pair));
        if needs_records(ctx) {
            shared.extend(left.iter().map(|candidate| candidate.shared));
        }
    }
    drop(view);
    Ok(PromisingPairs { documents: resident.into_documents(), ranks, pairs, shared })
}

/// The part of every document that has a candidate, [`NONE`] for the others, and what it takes to measure each part.
fn components(
    ctx: &Context<'_>,
    lookup: &mut Lookup<'_>,
    promising: &PromisingPairs,
    most: u64,
) -> Result<(Vec<u32>, Vec<u64>), EngineError> {
    let count = promising.documents.len();
    let mut sets = DisjointSets::new(count as u32);
    let mut paired = Bits::new(count as u32);
    for &[a, b] in &promising.pairs {
        sets.join(a.get(), b.get());
        paired.set(a.get());
        paired.set(b.get());
    }
    let mut weights = vec![0u64; count];
    for place in (0..count as u32).filter(|&place| paired.get(place)) {
        let row = lookup.row(promising.documents[place as usize])?;
        weights[sets.root(place) as usize] += set_bytes(ctx, &row);
    }
    // A root is the lowest place of its component, so that it is met before all others of it, and has its
    // part then.
    let mut parts = vec![NONE; count];
    let mut filled: Vec<u64> = Vec::new();
    for place in (0..count as u32).filter(|&place| paired.get(place)) {
        let root = sets.root(place) as usize;
        if parts[root] == NONE {
            // Only the last part is filled up: documents of a part then tend to stand near each other in the
            // input, and are read together.
            match filled.last_mut() {
                Some(filled) if *filled + weights[root] <= most => *filled += weights[root],
                _ => filled.push(weights[root]),
            }
            parts[root] = filled.len() as u32 - 1;
        }
        parts[place as usize] = parts[root];
    }
    Ok((parts, filled))
}

impl PromisingPairs {
    fn cut(self, part_of: &[u32], bytes: &[u64], members: &[ClassMember]) -> Vec<Part> {
        let count = bytes.len();
        let part = |&bytes: &u64| Part { bytes, ..Part::default() };
        let mut parts: Vec<Part> = bytes.iter().chain(&[0]).map(part).collect();
        const NO_NODE: NodeId = NodeId::MOST;
        let mut nodes = vec![NO_NODE; part_of.len()];
        let mut put = |index: usize, part: &mut Part| {
            if nodes[index] == NO_NODE {
                nodes[index] = NodeId::from_index(part.documents.len());
                part.documents.push(self.documents[index]);
            }
            nodes[index]
        };
        // All paired documents first, and in order: the documents of a part are searched by halves.
        for (index, &part) in part_of.iter().enumerate().filter(|(_, part)| **part != NONE) {
            put(index, &mut parts[part as usize]);
        }
        // The last part has what is near nothing else.
        for &ClassMember { class, document } in members {
            let leader = self.ranks.rank(class.leader().get()) as usize;
            // `NONE` is above any count, and so becomes the last part.
            let part = &mut parts[(part_of[leader] as usize).min(count)];
            let node = put(leader, part);
            part.members.push((document, node));
        }
        for (index, &pair) in self.pairs.iter().enumerate() {
            let part = &mut parts[part_of[pair[0].index()] as usize];
            part.pairs.push(pair.map(|end| nodes[end.index()]));
            part.shared.extend(self.shared.get(index));
        }
        parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::context::{StageTest, as_lines, candidate, doc, node};
    use crate::tests::recipe;
    use lookalike_model::ClassId;

    fn member((leader, document): (u32, u32)) -> ClassMember {
        ClassMember { class: ClassId::led_by(doc(leader)), document: doc(document) }
    }

    #[test]
    fn no_thread_is_left_alone_with_a_large_part() {
        let measure =
            |similarity| Measure { similarity, threshold: "0.8".parse().expect("a threshold"), shingle: 5 };
        // Parts by the numbers of their documents and pairs; documents are of a hundred symbols.
        let cut = |similarity, threads, memory| {
            let part = |&(documents, pairs): &(u32, usize)| Part {
                documents: DocNumber::range(0, documents).collect(),
                pairs: vec![[0, 1].map(node); pairs],
                bytes: 800 * u64::from(documents),
                ..Part::default()
            };
            let parts = [(2, 1), (300, 9000), (30, 2000), (40, 6500)].iter().map(part).collect();
            let (large, small) = by_size(parts, &measure(similarity), threads, memory);
            [large, small].map(|parts| parts.iter().map(|part| part.pairs.len()).collect::<Vec<_>>())
        };
        let [none, all] = [vec![], vec![9000, 6500, 2000, 1]];
        assert_eq!(cut(Similarity::Edit, 1, 1 << 20), [none, all]);
        assert_eq!(cut(Similarity::Edit, 2, 1 << 20), [vec![9000], vec![6500, 2000, 1]]);
        assert_eq!(cut(Similarity::Jaccard, 3, 1 << 20), [vec![9000, 6500], vec![2000, 1]]);
        assert_eq!(cut(Similarity::Edit, 1, 30_000), [vec![9000, 6500], vec![2000, 1]]);
    }

    fn threshold() -> lookalike_model::Threshold {
        "0.8".parse().unwrap()
    }

    #[test]
    fn parts_have_whole_components_and_their_equal_documents() {
        let documents = [10, 11, 12, 13, 14].map(doc).to_vec();
        let mut bits = Bits::new(20u32);
        documents.iter().for_each(|&document| bits.set(document));
        let shared = |keys| [keys, 0, 0, 0, 0, 0, 0, 0];
        let promising = PromisingPairs {
            documents,
            ranks: RankedBits::new(bits),
            pairs: vec![[0, 2].map(ViewIndex::new), [3, 4].map(ViewIndex::new)],
            shared: vec![shared(5), shared(6)],
        };
        let parts =
            promising.cut(&[0, NONE, 0, 1, 1], &[100, 50], &[(11, 15), (12, 16), (11, 17)].map(member));
        let found: Vec<_> = parts
            .iter()
            .map(|part| (part.documents.clone(), part.pairs.clone(), part.members.clone(), part.bytes))
            .collect();
        assert_eq!(
            found,
            [
                (vec![doc(10), doc(12)], vec![[0, 1].map(node)], vec![(doc(16), node(1))], 100),
                (vec![doc(13), doc(14)], vec![[0, 1].map(node)], vec![], 50),
                (vec![doc(11)], vec![], vec![(doc(15), node(0)), (doc(17), node(0))], 0),
            ]
        );
        assert_eq!(
            parts.iter().map(|part| part.shared.clone()).collect::<Vec<_>>(),
            [vec![shared(5)], vec![shared(6)], vec![]]
        );
    }

    #[test]
    fn work_grows_with_pairs_and_of_edit_distance_with_their_lengths() {
        let pair = [0, 1].map(node);
        let part =
            Part { documents: vec![doc(0), doc(1)], pairs: vec![pair; 3], bytes: 1600, ..Part::default() };
        let work = |similarity| part.work(&Measure { similarity, threshold: threshold(), shingle: 5 });
        // 200 symbols, 100 of each document.
        assert_eq!(work(Similarity::Edit), 200 + 3 * 100);
        assert_eq!(work(Similarity::Jaccard), 200);
        let many = Part { pairs: vec![pair; 100], ..part };
        assert_eq!(
            many.work(&Measure { similarity: Similarity::Jaccard, threshold: threshold(), shingle: 5 }),
            800
        );
    }

    #[test]
    fn candidates_that_are_told_apart_are_in_no_part() {
        // Digests tell all but the first and the third apart.
        let test = StageTest::new(recipe("md5"), &as_lines(&["one two", "three", "one two", "four"]));
        let ctx = test.sketched();
        let catalogue = Catalogue::load(&ctx).unwrap();
        let candidates = [(0, 1), (0, 2), (2, 3)].map(|pair| candidate(pair, 1));
        crate::stages::group::import_candidates(&ctx, candidates.into_iter(), 0).unwrap();
        let open = || crate::stages::group::open_candidates(&ctx);
        let found = parts(&ctx, &catalogue, open, &[member((1, 9))], u64::MAX).unwrap();
        let documents: Vec<Vec<DocNumber>> = found.iter().map(|part| part.documents.clone()).collect();
        assert_eq!(documents, [vec![doc(0), doc(2)], vec![doc(1)]]);
        assert_eq!((found[0].pairs.as_slice(), found[0].bytes), (&[[0, 1].map(node)][..], 2 * 2 * 8));
        assert_eq!(found[1].members, [(doc(9), node(0))]);
    }
}
