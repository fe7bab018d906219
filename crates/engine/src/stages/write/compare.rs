//! Two corpora compared: every pair between them that a method accepts, in order, and what is known of their documents.
//!
//! The left side has the lowest numbers, so pairs in the order of both numbers come left document by left document. They stay in a
//! scratch file until the job is finished: whoever asked for them reads them from there ([`OpenJob::matches`]).

use std::collections::HashMap;
use std::path::Path;

use lookalike_corpus::write::rows::{Cell, ListValue};
use lookalike_model::{ClassId, DocNumber, Pair, VerifiedPair};
use lookalike_store::bits::Bits;
use lookalike_store::file::{Run, RunWriter};
use lookalike_store::sort::{Codec, Digests, Sorter, existing};
use lookalike_tables::compared_groups::{self, ComparedGroupRow};
use serde::{Deserialize, Serialize};

use super::classes::{Classes, counts_as_equal};
use super::{StageCounts, initial_findings, pair_sorter, rejected};
use crate::catalogue::{Catalogue, Lookup};
use crate::context::{Context, remove_if_there};
use crate::disk::forecast;
use crate::error::EngineError;
use crate::job::{OpenJob, Outputs};
use crate::results::Findings;
use crate::stages::group;
use crate::stages::order::PlaceMap;
use crate::stages::report;
use crate::stages::sketch::Row;
use crate::stages::verify::{self, Pairs};
use crate::walk::Watch;

/// One of two corpora.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// The first, whose documents are looked for.
    Left,
    /// The second, in which they are looked for.
    Right,
}

impl Side {
    /// The side of a document of the job, by its number or its place, and the same on that side; the left side has so many.
    fn of(document: u32, left: u32) -> (Side, u32) {
        if document < left { (Side::Left, document) } else { (Side::Right, document - left) }
    }

    /// The document of the job that has this number on its side.
    fn document(self, n: u32, left: u32) -> DocNumber {
        DocNumber::new(if self == Side::Left { n } else { left + n })
    }
}

/// The counts of one corpus.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SideCounts {
    /// Records found, rejected ones included.
    pub documents: u64,
    /// Records that could not be read.
    pub rejected: u64,
    /// Records that are no documents.
    pub skipped: u64,
    /// Documents whose id an earlier one of the same side bears.
    pub duplicate_ids: u64,
    /// Bytes of extracted text.
    pub text_bytes: u64,
}

/// The counts of both corpora.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct BothCounts {
    /// Of the left one.
    pub left: SideCounts,
    /// Of the right one.
    pub right: SideCounts,
    /// Ids that both have.
    pub common_ids: u64,
    /// Pairs that stand in groups alone, since they are too many.
    pub pairs_in_groups: u64,
}

/// A shard of either corpus.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShardRange {
    /// The side that it belongs to.
    pub side: Side,
    /// Its name.
    pub name: String,
    /// Place of its first record on its side.
    pub first: u32,
    /// The number of its records, rejected ones included.
    pub records: u32,
}

/// A document of the left side and one of the right that a method accepts as its near-duplicate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Match<'m> {
    /// The left one.
    pub left: SideDocument<'m>,
    /// The right one.
    pub right: SideDocument<'m>,
    /// The similarity of the left document to the right one, as measured or as given by the method.
    pub similarity: f64,
    /// The similarity of the right one to the left one, where that may be another.
    pub reverse: Option<f64>,
    /// It reaches the threshold.
    pub near: bool,
    /// The methods that accept it, a bit for each.
    pub methods: u8,
}

/// A document by its number on its side, and its names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SideDocument<'m> {
    /// Its number.
    pub n: u32,
    /// Its place in the input of its side; its number, unless documents are ordered by a field.
    pub place: u32,
    /// Its id.
    pub id: &'m str,
    /// Its address.
    pub url: Option<&'m str>,
}

/// The file with all pairs in order.
const FILE: &str = "compared";
/// The file with the counts of both corpora.
const COUNTS: &str = "compared.counts";

/// Brings the pairs of all buckets into one order.
pub(crate) fn write(
    ctx: &Context<'_>,
    catalogue: &Catalogue,
    folder: &Path,
    outputs: Outputs,
    stages: StageCounts,
) -> Result<Findings, EngineError> {
    ctx.begin("write", None, false);
    let mut findings = initial_findings(ctx, catalogue, &stages);
    findings.summary.kept = findings.summary.documents - findings.summary.rejected;
    let classes = Classes::load(ctx)?;
    let mut large_groups = LargeGroups::new(ctx, catalogue);
    let mut sorter = pair_sorter(ctx, catalogue)?;
    let total = count_pairs(ctx, catalogue, &classes)?;
    // In sorted files, and then in one.
    let in_one_file = total.saturating_mul(Pairs.width() as u64);
    forecast::require(ctx, sorter.file_bytes(total).saturating_add(in_one_file))?;
    // Each pair is sorted and then written.
    ctx.begin("write", Some(total.saturating_mul(2)), false);
    expand(ctx, catalogue, &classes, &mut sorter, &mut large_groups)?;
    equals(ctx, catalogue, &classes, &mut sorter, &mut large_groups)?;
    let mut both = counts(ctx, catalogue, &stages);
    both.pairs_in_groups = large_groups.counted;
    let unmeasured = findings.summary.giant_groups;
    findings.summary.giant_groups += large_groups.write(ctx, &classes, folder, outputs)?;
    findings.notes.extend(group_notes(ctx, unmeasured, &both));
    ctx.save(COUNTS, &both)?;
    let mut sorted = sorter.sorted()?;
    let mut writer = RunWriter::create(&ctx.file(FILE), Pairs::label(ctx))?;
    let (mut bytes, mut count) = ([0; VerifiedPair::WIDTH], 0);
    while let Some(item) = sorted.next()? {
        Pairs.put(item, &mut bytes);
        writer.push(&bytes)?;
        ctx.count_finished_pairs(1);
        count += 1;
    }
    writer.finish()?;
    debug_assert!(count <= total, "the forecast counts what is written");
    drop(sorted);
    existing(&ctx.run_location("pairing"))?.iter().try_for_each(|path| remove_if_there(path))?;
    findings.summary.pairs = Some(count);
    rejected::write(ctx, catalogue, folder, outputs.format, &mut findings)?;
    Ok(findings)
}

/// Returns the notes on groups that are too large, and on ids that occur more than once.
fn group_notes(ctx: &Context<'_>, unmeasured: u64, both: &BothCounts) -> Vec<String> {
    let mut notes = Vec::new();
    if unmeasured > 0 {
        notes.push(format!(
            "{unmeasured} groups of documents with a common key have more pairs between the two sides than a group of {} has, and \
             proposed none of them: groups.jsonl has them, and what was found is a lower bound; raise --max-group to go through them.",
            ctx.recipe.max_group
        ));
    }
    if both.pairs_in_groups > 0 {
        notes.push(format!(
            "Of sets of equal documents that make too many pairs each left document has one of its pairs in all tables and statistics; \
             the other {} are in groups.jsonl alone.",
            both.pairs_in_groups
        ));
    }
    for (side, count) in [("left", both.left.duplicate_ids), ("right", both.right.duplicate_ids)] {
        if count > 0 {
            notes.push(format!(
                "{count} documents of the {side} side bear an id that an earlier one of it bears."
            ));
        }
    }
    notes
}

fn counts(ctx: &Context<'_>, catalogue: &Catalogue, stages: &StageCounts) -> BothCounts {
    let mut both = BothCounts { common_ids: stages.collapsed.common_ids, ..BothCounts::default() };
    for view in catalogue.shards(ctx) {
        let side = if view.reference { &mut both.left } else { &mut both.right };
        side.documents += u64::from(view.records);
        side.rejected += view.meta.rejected;
        side.skipped += view.meta.skipped.values().sum::<u64>();
        side.text_bytes += view.meta.text_bytes;
    }
    both.left.duplicate_ids = stages.collapsed.duplicate_ids_against;
    both.right.duplicate_ids = stages.collapsed.duplicate_ids;
    both
}

/// Number of the pairs that will be written, counted before any of them is, or a few more: classes of equal documents make many.
fn count_pairs(ctx: &Context<'_>, catalogue: &Catalogue, classes: &Classes) -> Result<u64, EngineError> {
    let most = LargeGroups::most(ctx) as u64;
    let limited = |left: &[DocNumber], right: &[DocNumber]| match left.len() as u64 * right.len() as u64 {
        pairs if pairs > most => left.len() as u64,
        pairs => pairs,
    };
    let between = classes.count_pairs(ctx, |ours, theirs| {
        let [[our_left, our_right], [their_left, their_right]] =
            [ours, theirs].map(|class| sides(catalogue, class));
        limited(our_left, their_right) + limited(their_left, our_right)
    })?;
    let inside = classes.all().map(|class| {
        let [left, right] = sides(catalogue, class);
        limited(left, right)
    });
    Ok(between + inside.sum::<u64>())
}

/// From pairs of classes to pairs of documents, one of each side. Of too many, each left document keeps its first.
fn expand(
    ctx: &Context<'_>,
    catalogue: &Catalogue,
    classes: &Classes,
    sorter: &mut Sorter<Pairs>,
    large_groups: &mut LargeGroups<'_>,
) -> Result<(), EngineError> {
    for path in verify::decision_files(ctx)? {
        let mut records = Run::open(&path, Pairs::label(ctx))?.records();
        while let Some(bytes) = records.next()? {
            let verified = Pairs.get(bytes);
            let [a, b] = verified.pair().documents();
            let [[our_left, our_right], [their_left, their_right]] =
                [&a, &b].map(|leader| sides(catalogue, classes.of(leader)));
            // Either class may have documents of both sides. Then there are two sets of pairs, and the second
            // one is seen from the other end.
            let [a, b] = [a, b].map(ClassId::led_by);
            let kept = large_groups.limit(our_left, their_right, [a, b]);
            across(ctx, our_left, kept, |left, right| Ok(sorter.push(verified.for_equals(left, right))?))?;
            let kept = large_groups.limit(their_left, our_right, [b, a]);
            across(ctx, their_left, kept, |left, right| Ok(sorter.push(verified.for_equals(right, left))?))?;
        }
    }
    Ok(())
}

/// Equal documents of both sides. Of too many, each left document keeps its first.
fn equals(
    ctx: &Context<'_>,
    catalogue: &Catalogue,
    classes: &Classes,
    sorter: &mut Sorter<Pairs>,
    large_groups: &mut LargeGroups<'_>,
) -> Result<(), EngineError> {
    let mut lookup = Lookup::new(ctx, catalogue);
    for class in classes.all() {
        let [left, right] = sides(catalogue, class);
        if left.is_empty() || right.is_empty() || !counts_as_equal(ctx, &mut lookup, class)? {
            continue;
        }
        let equal = ctx.panel.methods_accepting_equals(lookup.record(class[0])?, ctx.recipe.verified);
        let kept = large_groups.limit(left, right, [ClassId::led_by(class[0]); 2]);
        across(ctx, left, kept, |left, right| {
            Ok(sorter.push(VerifiedPair::of_equals(Pair::ordered(left, right), equal))?)
        })?;
    }
    Ok(())
}

/// The documents of a class on either side.
fn sides<'c>(catalogue: &Catalogue, class: &'c [DocNumber]) -> [&'c [DocNumber]; 2] {
    let (left, right) = class.split_at(class.partition_point(|&document| catalogue.is_reference(document)));
    [left, right]
}

/// Pushes the pairs of all left documents with all right ones.
fn across(
    ctx: &Context<'_>,
    left: &[DocNumber],
    right: &[DocNumber],
    mut push: impl FnMut(DocNumber, DocNumber) -> Result<(), EngineError>,
) -> Result<(), EngineError> {
    ctx.count_finished_pairs(left.len() as u64 * right.len() as u64);
    left.iter().try_for_each(|&left| right.iter().try_for_each(|&right| push(left, right)))
}

/// Groups that are too large to be written as pairs.
struct LargeGroups<'c> {
    catalogue: &'c Catalogue,
    most: usize,
    /// The classes that make such pairs: whose left documents, and whose right ones.
    class_pairs: Vec<[ClassId; 2]>,
    /// Pairs that are only counted.
    counted: u64,
}

impl<'c> LargeGroups<'c> {
    fn new(ctx: &Context<'_>, catalogue: &'c Catalogue) -> Self {
        LargeGroups { catalogue, most: Self::most(ctx), class_pairs: Vec::new(), counted: 0 }
    }

    /// The most pairs that two classes may have to be written as pairs: those of a group of the largest size.
    fn most(ctx: &Context<'_>) -> usize {
        ctx.recipe.max_group.saturating_mul(ctx.recipe.max_group) / 2
    }

    /// Returns the right documents that are paired with the left ones: all, or the first of too many.
    fn limit<'r>(
        &mut self,
        left: &[DocNumber],
        right: &'r [DocNumber],
        class_pair: [ClassId; 2],
    ) -> &'r [DocNumber] {
        let pairs = left.len().saturating_mul(right.len());
        // One right document for each left one is what a limited group keeps, so that there is nothing to
        // leave out.
        if pairs <= self.most || right.len() < 2 {
            return right;
        }
        self.class_pairs.push(class_pair);
        self.counted += (pairs - left.len()) as u64;
        &right[..1]
    }

    /// Writes them, and the groups that proposed nothing; returns how many of them there are beside these.
    fn write(
        mut self,
        ctx: &Context<'_>,
        classes: &Classes,
        folder: &Path,
        outputs: Outputs,
    ) -> Result<u64, EngineError> {
        let mut rows = compared_groups::TABLE.create(folder, outputs.format, &ctx.recipe.to_toml())?;
        let mut lookup = Lookup::new(ctx, self.catalogue);
        let mut put = |left: &[DocNumber],
                       right: &[DocNumber],
                       equal: bool,
                       measured: bool|
         -> Result<(), EngineError> {
            let pairs = left.len() as u64 * right.len() as u64;
            let cells = ComparedGroupRow { pairs, equal, measured, left: &[], right: &[] }.cells();
            let first_list = cells.iter().position(|cell| matches!(cell, Cell::ListOfText(_)));
            let side = |column: usize| if Some(column) == first_list { left } else { right };
            rows.push_lists(
                &cells,
                |column| side(column).len(),
                |column, index| Ok(ListValue::Text(lookup.names(side(column)[index])?.id)),
            )
        };
        for mut records in group::giants(ctx)? {
            let mut group: Vec<DocNumber> = Vec::new();
            while let Some(bytes) = records.next()? {
                match u32::from_le_bytes(bytes.try_into().expect("four bytes")) {
                    0 => {
                        // Whoever stands for others brings them along.
                        let mut all: Vec<DocNumber> =
                            group.iter().flat_map(|leader| classes.of(leader)).copied().collect();
                        all.sort_unstable();
                        let [left, right] = sides(self.catalogue, &all);
                        put(left, right, false, false)?;
                        group.clear();
                    }
                    document => group.push(DocNumber::new(document - 1)),
                }
            }
        }
        // Which was decided first depends on threads and memory.
        self.class_pairs.sort_unstable();
        for class_pair in &self.class_pairs {
            let [a, b] = class_pair.map(ClassId::leader);
            let [left, _] = sides(self.catalogue, classes.of(&a));
            let [_, right] = sides(self.catalogue, classes.of(&b));
            put(left, right, a == b, true)?;
        }
        rows.finish()?;
        Ok(self.class_pairs.len() as u64)
    }
}

/// Hands over every pair, in the order of left and right documents.
pub(crate) fn each_match<E: From<EngineError>>(
    ctx: &Context<'_>,
    catalogue: &Catalogue,
    mut each: impl FnMut(&Match<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let references = catalogue.references();
    let directed = ctx.directed();
    // A lookup has few units open at a time: with one for both sides, each would close the files of the
    // other.
    let (mut lefts, mut rights) = (Lookup::new(ctx, catalogue), Lookup::for_table(ctx, catalogue));
    let run = Run::open(&ctx.file(FILE), Pairs::label(ctx));
    let mut records = run.map_err(EngineError::from)?.records();
    let mut places = PlaceMap::open(ctx)?;
    let mut left = None;
    let mut seen = 0u64;
    while let Some(bytes) = records.next().map_err(EngineError::from)? {
        seen += 1;
        if seen.is_multiple_of(65_536) {
            ctx.check()?;
        }
        let verified = Pairs.get(bytes);
        let [a, b] = verified.pair().documents();
        // Pairs come left document by left document: its names are read for the first of them.
        let names = match left.take().filter(|(n, _)| *n == a) {
            Some((_, names)) => names,
            None => lefts.names(a)?,
        };
        let other = rights.names(b)?;
        each(&Match {
            left: SideDocument {
                n: a.get(),
                place: places.place(a)?.get(),
                id: &names.id,
                url: names.url.as_deref(),
            },
            right: SideDocument {
                n: b.get() - references,
                place: places.place(b)?.get() - references,
                id: &other.id,
                url: other.url.as_deref(),
            },
            similarity: verified.forward(),
            reverse: directed.then(|| verified.backward()),
            near: verified.is_near(),
            methods: verified.methods(),
        })?;
        left = Some((a, names));
    }
    Ok(())
}

/// Reads the counts of both corpora.
pub(crate) fn saved_counts(ctx: &Context<'_>) -> Result<BothCounts, EngineError> {
    let missing = || EngineError::Damaged { file: ctx.file(COUNTS), what: "it is not there".to_owned() };
    ctx.saved(COUNTS)?.ok_or_else(missing)
}

impl OpenJob {
    /// Hands over every pair of a comparison that was run, in the order of left and right documents.
    pub fn matches<E: From<EngineError>>(
        &self,
        watch: &Watch,
        each: impl FnMut(&Match<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let ctx = self.context(watch)?;
        each_match(&ctx, &Catalogue::load(&ctx)?, each)
    }

    /// Reads the counts of both corpora.
    pub fn both_counts(&self, watch: &Watch) -> Result<BothCounts, EngineError> {
        saved_counts(&self.context(watch)?)
    }

    /// The shards of both corpora, in order.
    pub fn shard_ranges(&self, watch: &Watch) -> Result<Vec<ShardRange>, EngineError> {
        let ctx = self.context(watch)?;
        let catalogue = Catalogue::load(&ctx)?;
        let references = catalogue.references();
        let place = |view: crate::catalogue::ShardView<'_>| ShardRange {
            side: if view.reference { Side::Left } else { Side::Right },
            name: view.shard.name.clone(),
            first: view.first.get() - if view.reference { 0 } else { references },
            records: view.records,
        };
        Ok(catalogue.shards(&ctx).into_iter().map(place).collect())
    }

    /// Hands over every document of both corpora, left ones first.
    pub fn documents<E: From<EngineError>>(
        &self,
        watch: &Watch,
        mut each: impl FnMut(Side, SideDocument<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let ctx = self.context(watch)?;
        let catalogue = Catalogue::load(&ctx)?;
        let references = catalogue.references();
        let rejected = rejected(&ctx, &catalogue)?;
        let mut places = PlaceMap::open(&ctx)?;
        let mut failed = None;
        let walked = catalogue.names(&ctx, |document, id, url| {
            if failed.is_some() || rejected.get(document) {
                return Ok(());
            }
            let (side, n) = Side::of(document.get(), references);
            let (_, place) = Side::of(places.place(document)?.get(), references);
            // The walk knows the engine's errors alone. The caller's own is set aside, and nothing is handed
            // over after it.
            failed = each(side, SideDocument { n, place, id, url }).err();
            Ok(())
        });
        failed.map_or(Ok(()), Err)?;
        Ok(walked?)
    }

    /// Returns the documents of the left side that have a counterpart on the right side whose address has the same key. `key`
    /// gives the digest of an address, or nothing for a text that is none. Sorted on disk: costs a bit of memory per document.
    pub fn same_address(
        &self,
        watch: &Watch,
        key: impl Fn(&str) -> Option<u128>,
    ) -> Result<MarkedDocuments, EngineError> {
        let ctx = self.context(watch)?;
        let catalogue = Catalogue::load(&ctx)?;
        let references = catalogue.references();
        let clean =
            || existing(&ctx.run_location("addresses"))?.iter().try_for_each(|path| remove_if_there(path));
        clean()?;
        let memory = ctx.budget.free(catalogue.len().into(), 1) as usize / 3;
        let mut sorter = Sorter::new(ctx.run_location("addresses"), Digests, memory);
        catalogue.names(&ctx, |document, _, url| match url.and_then(&key) {
            Some(digest) => Ok(sorter.push((digest, document.get()))?),
            None => Ok(()),
        })?;
        let mut marked = MarkedDocuments { bits: Bits::new(references), count: 0 };
        let mut sorted = sorter.sorted()?;
        let (mut digest, mut lefts): (Option<u128>, Vec<u32>) = (None, Vec::new());
        while let Some((found, document)) = sorted.next()? {
            if digest != Some(found) {
                digest = Some(found);
                lefts.clear();
            }
            // Of one digest the documents of the left side come first, by their lower numbers, so that the
            // first right one marks all of them, and none is marked twice.
            match document < references {
                true => lefts.push(document),
                false => lefts.drain(..).for_each(|left| marked.mark(left)),
            }
        }
        drop(sorted);
        clean()?;
        Ok(marked)
    }

    /// The ids of a few documents of either side, by their numbers there.
    pub fn ids(
        &self,
        watch: &Watch,
        wanted: &[(Side, u32)],
    ) -> Result<HashMap<(Side, u32), String>, EngineError> {
        let ctx = self.context(watch)?;
        let catalogue = Catalogue::load(&ctx)?;
        let mut lookup = Lookup::new(&ctx, &catalogue);
        let id = |&(side, n): &(Side, u32)| {
            Ok(((side, n), lookup.names(side.document(n, catalogue.references()))?.id))
        };
        wanted.iter().map(id).collect()
    }

    /// The texts of a few documents of either side, by their numbers there; long ones are cut.
    pub fn texts(
        &self,
        watch: &Watch,
        wanted: &[(Side, u32)],
    ) -> Result<HashMap<(Side, u32), String>, EngineError> {
        let ctx = self.context(watch)?;
        let catalogue = Catalogue::load(&ctx)?;
        let references = catalogue.references();
        let mut numbers: Vec<DocNumber> =
            wanted.iter().map(|(side, n)| side.document(*n, references)).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let found = report::texts(&ctx, &catalogue, &numbers)?;
        Ok(found.into_iter().map(|(document, text)| (Side::of(document.get(), references), text)).collect())
    }
}

/// Documents of the left side that were marked.
#[derive(Debug, Clone)]
pub struct MarkedDocuments {
    bits: Bits,
    count: u64,
}

impl MarkedDocuments {
    /// These, of so many documents of the left side.
    pub fn of(left: u32, documents: impl IntoIterator<Item = u32>) -> Self {
        let mut marked = MarkedDocuments { bits: Bits::new(left), count: 0 };
        for document in documents.into_iter().filter(|&document| document < left) {
            if !marked.has(document) {
                marked.mark(document);
            }
        }
        marked
    }

    fn mark(&mut self, document: u32) {
        self.bits.set(document);
        self.count += 1;
    }

    /// Returns true if the document is marked.
    pub fn has(&self, n: u32) -> bool {
        self.bits.get(n)
    }

    /// Returns the number of marked documents.
    pub fn count(&self) -> u64 {
        self.count
    }
}

fn rejected(ctx: &Context<'_>, catalogue: &Catalogue) -> Result<Bits, EngineError> {
    let mut bits = Bits::new(catalogue.len());
    catalogue.rows(ctx, |document, row| {
        if row.words == Row::REJECTED {
            bits.set(document);
        }
        Ok(())
    })?;
    Ok(bits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::JobRecipe;
    use crate::recipe::Task;
    use crate::stages::collapse::{self, ClassCounts};
    use crate::stages::group::CandidateCounts;
    use crate::stages::verify::tally::Tally;
    use crate::tests::context::{StageTest, as_lines, decide_pairs, doc, verified};
    use crate::tests::recipe;
    use lookalike_model::Similarity;
    use proptest::prelude::*;
    use serde_json::json;

    fn compare() -> JobRecipe {
        JobRecipe { task: Task::Compare, ..recipe("md5") }
    }

    /// Writes the pairs between two corpora, for what was decided.
    fn written(test: &StageTest, decided: &[VerifiedPair]) -> Findings {
        let ctx = test.sketched();
        let catalogue = Catalogue::load(&ctx).unwrap();
        let collapsed = collapse::collapse(&ctx, &catalogue).unwrap();
        let proposed = group::import_candidates(&ctx, std::iter::empty(), 0).unwrap();
        decide_pairs(&ctx, decided);
        let stages = StageCounts { collapsed, proposed, tally: Tally::default() };
        write(&ctx, &catalogue, test.folder(), Outputs::default(), stages).unwrap()
    }

    /// `(left, right, similarity, reverse, near, methods)` of all pairs.
    fn matches(test: &StageTest) -> Vec<(u32, u32, f64, Option<f64>, bool, u8)> {
        let mut found = Vec::new();
        test.open
            .matches(&test.watch, |one| -> Result<(), EngineError> {
                assert_eq!(
                    (one.left.id, one.right.id),
                    (&*format!("d{}", one.left.n), &*format!("d{}", one.right.n))
                );
                found.push((one.left.n, one.right.n, one.similarity, one.reverse, one.near, one.methods));
                Ok(())
            })
            .unwrap();
        found
    }

    proptest! {
        #[test]
        fn a_number_on_its_side_is_that_of_one_document(document in 0u32..1000, left in 0u32..1000) {
            let (side, n) = Side::of(document, left);
            prop_assert_eq!(side == Side::Left, document < left);
            prop_assert_eq!(side.document(n, left), doc(document));
        }
    }

    #[test]
    fn marked_documents_are_counted_once() {
        let marked = MarkedDocuments::of(5, [1, 4, 1, 5, 9]);
        assert_eq!(marked.count(), 2);
        assert_eq!((0..5).filter(|&n| marked.has(n)).collect::<Vec<_>>(), [1, 4]);
    }

    #[test]
    fn of_too_many_pairs_each_left_document_has_one() {
        let test = StageTest::new(JobRecipe { max_group: 4, ..compare() }, &as_lines(&["a"]));
        let ctx = test.sketched();
        let catalogue = Catalogue::load(&ctx).unwrap();
        let mut groups = LargeGroups::new(&ctx, &catalogue);
        let classes = [ClassId::new(0), ClassId::new(5)];
        let right = [5, 6, 7, 8].map(doc);
        assert_eq!(
            groups.limit(&[0, 1].map(doc), &right, classes),
            right,
            "eight pairs are as many as may be"
        );
        assert_eq!(
            groups.limit(&[doc(0); 20], &right[..1], classes),
            [doc(5)],
            "there is one for each already"
        );
        assert_eq!((groups.counted, groups.class_pairs.len()), (0, 0));
        assert_eq!(groups.limit(&[0, 1, 2].map(doc), &right[..3], classes), [doc(5)]);
        assert_eq!((groups.counted, groups.class_pairs.as_slice()), (6, &[classes][..]));
    }

    #[test]
    fn classes_are_cut_where_the_right_side_begins() {
        let test = StageTest::against(compare(), &as_lines(&["a", "b"]), &as_lines(&["c", "d"]));
        let ctx = test.sketched();
        let catalogue = Catalogue::load(&ctx).unwrap();
        let all = [0, 1, 2, 3].map(doc);
        assert_eq!(sides(&catalogue, &all), [&all[..2], &all[2..]]);
        assert_eq!(sides(&catalogue, &all[3..]), [&[][..], &all[3..]]);
        assert_eq!(sides(&catalogue, &all[1..2]), [&all[1..2], &[]]);
    }

    #[test]
    fn pairs_have_a_document_of_each_side() {
        // Documents 0 and 1 on the left, 2 to 4 on the right; 2 equals 0.
        let test = StageTest::against(compare(), &as_lines(&["a", "b"]), &as_lines(&["a", "c", "d"]));
        let decided =
            [verified((0, 3), 0.9, 0.9, 1), verified((0, 1), 0.8, 0.8, 1), verified((1, 4), 0.5, 0.5, 0)];
        let findings = written(&test, &decided);
        let expected = [
            (0, 0, 1.0, None, true, 1),
            (0, 1, 0.9, None, true, 1),
            (1, 0, 0.8, None, true, 1),
            (1, 2, 0.5, None, false, 0),
        ];
        assert_eq!(matches(&test), expected);
        assert_eq!((findings.summary.pairs, findings.summary.kept), (Some(4), 3));
    }

    #[test]
    fn similarities_are_those_of_the_left_document_to_the_right_one() {
        // 0 and 2 are equal, 1 and 3 are.
        let similarity = Similarity::Containment;
        let recipe = JobRecipe { task: Task::Compare, similarity, ..recipe("exact") };
        let test = StageTest::against(recipe, &as_lines(&["a", "b"]), &as_lines(&["a", "b"]));
        written(&test, &[verified((0, 1), 0.9, 0.5, 1)]);
        let one = Some(1.0);
        let expected = [
            (0, 0, 1.0, one, true, 1),
            (0, 1, 0.9, Some(0.5), true, 1),
            (1, 0, 0.5, Some(0.9), false, 1),
            (1, 1, 1.0, one, true, 1),
        ];
        assert_eq!(matches(&test), expected);
    }

    #[test]
    fn groups_of_too_many_equal_documents_are_written_down() {
        let recipe = JobRecipe { max_group: 2, ..compare() };
        let test = StageTest::against(recipe, &as_lines(&["a", "a"]), &as_lines(&["a", "a", "b"]));
        let findings = written(&test, &[]);
        assert_eq!(matches(&test).iter().map(|one| (one.0, one.1)).collect::<Vec<_>>(), [(0, 0), (1, 0)]);
        let expected =
            json!({"pairs": 4, "equal": true, "measured": true, "left": ["d0", "d1"], "right": ["d0", "d1"]});
        assert_eq!(test.rows("groups.jsonl"), [expected]);
        assert_eq!(test.open.both_counts(&test.watch).unwrap().pairs_in_groups, 2);
        assert!(findings.notes.iter().any(|note| note.contains("the other 2 are in groups.jsonl alone")));
    }

    #[test]
    fn counts_are_those_of_each_side() {
        let (left, right) = (format!("{}{{}}\n", as_lines(&["one", "two"])), as_lines(&["three"]));
        let test = StageTest::against(compare(), &left, &right);
        written(&test, &[]);
        let counts = test.open.both_counts(&test.watch).unwrap();
        let expected = SideCounts { documents: 3, rejected: 1, text_bytes: 6, ..SideCounts::default() };
        assert_eq!(counts.left, expected);
        assert_eq!(counts.right, SideCounts { documents: 1, text_bytes: 5, ..SideCounts::default() });
        assert_eq!(counts.common_ids, 1);
    }

    #[test]
    fn duplicate_ids_belong_to_the_side_that_has_them() {
        let test = StageTest::new(compare(), &as_lines(&["a"]));
        let ctx = test.sketched();
        let collapsed = ClassCounts {
            duplicate_ids: 2,
            duplicate_ids_against: 3,
            common_ids: 4,
            ..ClassCounts::default()
        };
        let stages = StageCounts { collapsed, proposed: CandidateCounts::default(), tally: Tally::default() };
        let both = counts(&ctx, &Catalogue::load(&ctx).unwrap(), &stages);
        assert_eq!((both.left.duplicate_ids, both.right.duplicate_ids, both.common_ids), (3, 2, 4));
        let notes = group_notes(&ctx, 5, &both);
        assert_eq!(notes.len(), 3);
        assert!(notes[0].starts_with("5 groups of documents with a common key"), "{notes:?}");
        assert!(notes[1].starts_with("3 documents of the left side bear an id"), "{notes:?}");
        assert!(notes[2].starts_with("2 documents of the right side bear an id"), "{notes:?}");
    }

    #[test]
    fn counts_that_were_not_written_are_missed() {
        let test = StageTest::new(compare(), &as_lines(&["a"]));
        let error = test.open.both_counts(&test.watch).unwrap_err().to_string();
        assert!(error.contains("compared.counts is damaged: it is not there"), "{error}");
    }

    #[test]
    fn documents_come_side_by_side_without_rejected_ones() {
        let (left, right) =
            (format!("{}{{}}\n", as_lines(&["a", "b"])), format!("{{}}\n{}", as_lines(&["c"])));
        let test = StageTest::against(compare(), &left, &right);
        test.sketched();
        let mut found = Vec::new();
        test.open
            .documents(&test.watch, |side, document| -> Result<(), EngineError> {
                found.push((side, document.n, document.place, document.id.to_owned()));
                Ok(())
            })
            .unwrap();
        let expected = [(Side::Left, 0, "d0"), (Side::Left, 1, "d1"), (Side::Right, 1, "d0")];
        assert_eq!(found, expected.map(|(side, n, id)| (side, n, n, id.to_owned())));
        let failed = test.open.documents(&test.watch, |_, _| Err(EngineError::Stopped));
        assert!(matches!(failed, Err(EngineError::Stopped)));
    }

    #[test]
    fn shards_begin_at_their_places_on_their_sides() {
        let test = StageTest::against(compare(), &as_lines(&["a", "b"]), &as_lines(&["c"]));
        test.sketched();
        let range = |side, name: &str, records| ShardRange { side, name: name.to_owned(), first: 0, records };
        assert_eq!(
            test.open.shard_ranges(&test.watch).unwrap(),
            [range(Side::Left, "left.jsonl", 2), range(Side::Right, "docs.jsonl", 1)]
        );
    }

    #[test]
    fn addresses_are_the_same_by_their_keys() {
        let line = |url: &str| format!("{{\"id\":\"x\",\"url\":\"{url}\",\"text\":\"a\"}}\n");
        let left = ["A", "b", "b", "c", "none"].map(line).concat();
        let right = ["a", "B", "B", "none"].map(line).concat();
        let test = StageTest::against(compare(), &left, &right);
        test.sketched();
        let key = |url: &str| (url != "none").then(|| u128::from(url.to_lowercase().as_bytes()[0]));
        let marked = test.open.same_address(&test.watch, key).unwrap();
        assert_eq!((0..5).filter(|&n| marked.has(n)).collect::<Vec<_>>(), [0, 1, 2]);
        assert_eq!(marked.count(), 3);
    }

    #[test]
    fn ids_and_texts_are_found_by_side_and_number() {
        let test = StageTest::against(compare(), &as_lines(&["one", "two"]), &as_lines(&["three"]));
        test.sketched();
        let wanted = [(Side::Right, 0), (Side::Left, 1), (Side::Right, 0)];
        let ids = test.open.ids(&test.watch, &wanted).unwrap();
        assert_eq!(
            (ids.len(), ids[&(Side::Right, 0)].as_str(), ids[&(Side::Left, 1)].as_str()),
            (2, "d0", "d1")
        );
        let texts = test.open.texts(&test.watch, &wanted).unwrap();
        assert_eq!(
            (texts.len(), texts[&(Side::Right, 0)].as_str(), texts[&(Side::Left, 1)].as_str()),
            (2, "three", "two")
        );
    }
}
