//! Components of candidates, packed into buckets.

use lookalike_model::{Candidate, DocNumber, Similarity};
use lookalike_store::bits::Bits;
use serde::{Deserialize, Serialize};

use crate::catalogue::Catalogue;
use crate::context::Context;
use crate::error::EngineError;
use crate::stages::collapse::{self, ClassMember};
use crate::stages::group;
use crate::stages::sketch::Row;

/// The bucket of a document without candidates.
pub(super) const NONE: u32 = u32::MAX;

/// Memory is counted in units of this many bytes, so that four bytes are enough for any component.
const UNIT: u64 = 64;

/// The memory of one candidate until it is decided, in units of [`UNIT`] bytes.
const PER_CANDIDATE: u32 = 2;

/// The memory of a document that another one stands for, in units of [`UNIT`] bytes.
const PER_MEMBER: u32 = 2;

/// The bucket of every document. Costs 12 bytes per document while it is built and 4 from then on.
pub(super) struct Partition {
    buckets_of: Vec<u32>,
    pub(super) buckets: u32,
    oversized: Vec<u32>,
    /// Bytes that a bucket may take.
    pub(super) capacity: u64,
}

#[derive(Serialize, Deserialize)]
struct Plan {
    capacity: u64,
}

impl Partition {
    pub(super) fn new(ctx: &Context<'_>, catalogue: &Catalogue) -> Result<Self, EngineError> {
        let capacity = capacity(ctx, catalogue)?;
        let mut sets = DisjointSets::new(catalogue.len());
        let mut involved = Bits::new(catalogue.len());
        let mut records = group::open_candidates(ctx)?;
        while let Some(bytes) = records.next()? {
            let [a, b] = Candidate::decode(bytes).pair.documents();
            sets.join(a.get(), b.get());
            involved.set(a);
            involved.set(b);
        }
        let mut weights = vec![0u32; catalogue.len() as usize];
        // A weight that is too large for its number stays the largest: such a component does not fit in any
        // case.
        let mut add = |root: u32, units: u32| {
            let weight = &mut weights[root as usize];
            *weight = weight.saturating_add(units);
        };
        let record = ctx.panel.width() as u64;
        catalogue.rows(ctx, |document, row| {
            if involved.get(document) {
                let bytes = set_bytes(ctx, row) + record + 96;
                add(sets.root(document.get()), (bytes.div_ceil(UNIT)) as u32);
            }
            Ok(())
        })?;
        let mut records = group::open_candidates(ctx)?;
        while let Some(bytes) = records.next()? {
            // In a second pass, because a root is final only when all candidates are joined.
            add(sets.root(Candidate::decode(bytes).pair.first().get()), PER_CANDIDATE);
        }
        collapse::class_members(ctx, |ClassMember { class, .. }| {
            if involved.get(class.leader()) {
                add(sets.root(class.leader().get()), PER_MEMBER);
            }
            Ok(())
        })?;
        Ok(pack(sets, &involved, weights, capacity))
    }

    pub(super) fn bucket_of(&self, document: DocNumber) -> u32 {
        self.buckets_of[document.index()]
    }

    /// True for a bucket of one component that does not fit.
    pub(super) fn is_oversized(&self, bucket: u32) -> bool {
        self.oversized.binary_search(&bucket).is_ok()
    }
}

/// Most bytes that a document's set takes: words become as many shingles at most; of edit similarity every character
/// counts.
pub(super) fn set_bytes(ctx: &Context<'_>, row: &Row) -> u64 {
    8 * u64::from(if ctx.measure.similarity == Similarity::Edit { row.text } else { row.words })
}

/// Returns the bytes that a bucket may take. A later process under a larger cap goes on with the buckets of the first.
fn capacity(ctx: &Context<'_>, catalogue: &Catalogue) -> Result<u64, EngineError> {
    let now = ctx.budget.free(catalogue.len().into(), 12) * 5 / 8;
    let now = ctx.bucket_bytes.unwrap_or(now);
    let before: Option<Plan> = ctx.saved("buckets.plan")?;
    if let Some(plan) = before.filter(|plan| plan.capacity <= now) {
        return Ok(plan.capacity);
    }
    // Buckets cut for more memory than there is now are of no use. The plan goes first: without it the rest is nothing.
    crate::context::remove_if_there(&ctx.file("buckets.plan"))?;
    let entries = std::fs::read_dir(&ctx.work).map_err(|error| EngineError::read(&ctx.work, error))?;
    for entry in entries {
        let path = entry.map_err(|error| EngineError::read(&ctx.work, error))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        // What was decided goes as well: other buckets have other documents under the same numbers.
        let digits = name.strip_prefix('b').unwrap_or_default();
        if digits.starts_with(|first: char| first.is_ascii_digit()) {
            crate::context::remove_if_there(&path)?;
        }
    }
    ctx.save("buckets.plan", &Plan { capacity: now })?;
    Ok(now)
}

/// Fills buckets with whole components, in the order of their first documents.
fn pack(mut sets: DisjointSets, involved: &Bits, weights: Vec<u32>, capacity: u64) -> Partition {
    let documents = weights.len() as u32;
    let most = (capacity / UNIT).max(1);
    let (mut bucket, mut filled, mut oversized) = (0u32, 0u64, Vec::new());
    // From here on a component's weight gives way to the number of its bucket.
    let mut buckets = weights;
    let mut placed = Bits::new(documents);
    for document in (0..documents).filter(|&document| involved.get(document)) {
        // In the order of first documents, and no bucket is gone back to: the same candidates give the same
        // buckets. What that leaves empty is less than a component each.
        let root = sets.root(document);
        if placed.get(root) {
            continue;
        }
        placed.set(root);
        let weight = u64::from(buckets[root as usize]);
        if filled > 0 && filled + weight > most {
            bucket += 1;
            filled = 0;
        }
        if weight > most {
            // It is alone in its bucket: it joins none that has something in it, and nothing fits behind it.
            oversized.push(bucket);
        }
        filled += weight;
        buckets[root as usize] = bucket;
    }
    let count = if filled > 0 { bucket + 1 } else { 0 };
    let bucket_of =
        |document| if involved.get(document) { buckets[sets.root(document) as usize] } else { NONE };
    let buckets_of = (0..documents).map(bucket_of).collect();
    // One bucket that does not fit must go through files like several.
    let buckets = if count == 1 && !oversized.is_empty() { 2 } else { count };
    Partition { buckets_of, buckets, oversized, capacity }
}

/// Union-find over numbers; a root is the lowest number of its set.
pub(super) struct DisjointSets {
    parents: Vec<u32>,
}

impl DisjointSets {
    pub(super) fn new(count: u32) -> Self {
        DisjointSets { parents: (0..count).collect() }
    }

    pub(super) fn root(&mut self, mut document: u32) -> u32 {
        // Every step skips one: paths get half as long whenever they are gone, without a second pass or
        // recursion.
        while self.parents[document as usize] != document {
            let above = self.parents[self.parents[document as usize] as usize];
            self.parents[document as usize] = above;
            document = above;
        }
        document
    }

    pub(super) fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.root(a), self.root(b));
        self.parents[a.max(b) as usize] = a.min(b);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::JobRecipe;
    use crate::tests::context::{StageTest, as_lines, candidate, doc};
    use crate::tests::recipe;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn components_stay_whole_and_buckets_fit(
            documents in 1u32..60,
            pairs in prop::collection::vec((0u32..60, 0u32..60), 0..60),
            units in 1u64..40,
        ) {
            let pairs: Vec<_> = pairs.into_iter().map(|(a, b)| (a % documents, b % documents)).filter(|(a, b)| a != b).collect();
            let mut sets = DisjointSets::new(documents);
            let mut involved = Bits::new(documents);
            for &(a, b) in &pairs {
                sets.join(a, b);
                involved.set(a);
                involved.set(b);
            }
            let mut weights = vec![0; documents as usize];
            let roots: Vec<u32> = (0..documents).map(|document| sets.root(document)).collect();
            for document in 0..documents {
                weights[roots[document as usize] as usize] += u32::from(involved.get(document)) * 3;
            }
            let heavy = weights.clone();
            let partition = pack(sets, &involved, weights, units * UNIT);
            for &(a, b) in &pairs {
                prop_assert_eq!(partition.bucket_of(doc(a)), partition.bucket_of(doc(b)));
            }
            for bucket in 0..partition.buckets {
                let inside = (0..documents).filter(|&document| partition.bucket_of(doc(document)) == bucket).count() as u64;
                prop_assert!(inside * 3 <= units || partition.is_oversized(bucket));
            }
            for document in 0..documents {
                let bucket = partition.bucket_of(doc(document));
                prop_assert_eq!(bucket == NONE, !involved.get(document));
                let alone = u64::from(heavy[roots[document as usize] as usize]) > units;
                prop_assert!(!involved.get(document) || partition.is_oversized(bucket) || !alone);
            }
        }
    }

    proptest! {
        #[test]
        fn a_root_is_the_lowest_of_its_set(joins in prop::collection::vec((0u32..20, 0u32..20), 0..30)) {
            let mut sets = DisjointSets::new(20);
            let mut lowest: Vec<u32> = (0..20).collect();
            for &(a, b) in &joins {
                sets.join(a, b);
                let (one, two) = (lowest[a as usize], lowest[b as usize]);
                lowest.iter_mut().filter(|root| **root == one.max(two)).for_each(|root| *root = one.min(two));
            }
            for document in 0..20 {
                prop_assert_eq!(sets.root(document), lowest[document as usize]);
            }
        }
    }

    #[test]
    fn buckets_of_an_earlier_process_stay_under_a_larger_cap() {
        let test = StageTest::new(recipe("md5"), &as_lines(&["a"]));
        let mut ctx = test.sketched();
        let catalogue = Catalogue::load(&ctx).unwrap();
        let mut capacity = |bytes| {
            ctx.bucket_bytes = Some(bytes);
            let found = capacity(&ctx, &catalogue).unwrap();
            let stays = ctx.file("b000000.done").exists() && ctx.file("b000000.decided").exists();
            for name in ["b000000.done", "b000000.decided", "buckets"] {
                std::fs::write(ctx.file(name), "").unwrap();
            }
            (found, stays)
        };
        assert_eq!(capacity(1000), (1000, false));
        assert_eq!(capacity(2000), (1000, true));
        assert_eq!(capacity(1000), (1000, true));
        assert_eq!(capacity(999), (999, false));
        assert!(ctx.file("buckets").exists(), "it is no file of a bucket");
    }

    #[test]
    fn sets_of_edit_similarity_have_a_value_for_each_character() {
        let row = Row { words: 3, text: 17, ..Row::default() };
        for (similarity, bytes) in [(Similarity::Jaccard, 24), (Similarity::Edit, 136)] {
            let test = StageTest::new(JobRecipe { similarity, ..recipe("md5") }, "");
            assert_eq!(set_bytes(&test.context(), &row), bytes, "{similarity}");
        }
    }

    #[test]
    fn documents_without_candidates_are_in_no_bucket() {
        let test = StageTest::new(recipe("md5"), &as_lines(&["a", "b", "c", "d", "e"]));
        let mut ctx = test.sketched();
        let catalogue = Catalogue::load(&ctx).unwrap();
        collapse::collapse(&ctx, &catalogue).unwrap();
        let candidates = [(0, 3), (2, 4)].map(|pair| candidate(pair, 1));
        group::import_candidates(&ctx, candidates.into_iter(), 0).unwrap();
        let buckets = |ctx: &Context<'_>| {
            let partition = Partition::new(ctx, &catalogue).unwrap();
            let of: Vec<u32> = (0..5).map(|document| partition.bucket_of(doc(document))).collect();
            (of, partition.buckets, (0..2).map(|bucket| partition.is_oversized(bucket)).collect::<Vec<_>>())
        };
        assert_eq!(buckets(&ctx), (vec![0, NONE, 0, 0, 0], 1, vec![false, false]));
        // Two units for each document, of 8 bytes, a record of 20 and 96 more, and two for a candidate: six for each component.
        ctx.bucket_bytes = Some(6 * 64);
        assert_eq!(buckets(&ctx), (vec![0, NONE, 1, 0, 1], 2, vec![false, false]));
        ctx.bucket_bytes = Some(5 * 64);
        assert_eq!(buckets(&ctx), (vec![0, NONE, 1, 0, 1], 2, vec![true, true]));
    }
}
