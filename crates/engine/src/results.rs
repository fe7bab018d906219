//! Stage 7, write: decisions become files, and what a report shows is gathered.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use lookalike_corpus::write::rows::{Cell, Column, Kind, ListValue, RowFormat, RowWriter};
use lookalike_corpus::{Item, LineReader, Lines, Losses};
use lookalike_text::extract::Extractor;

use crate::candidates::{self, CandidateCounts};
use crate::catalogue::{Catalogue, Lookup, ShardView};
use crate::classes::{self, ClassCounts};
use crate::context::Context;
use crate::disk_forecast;
use crate::error::EngineError;
use crate::job::{Outputs, Summary};
use crate::order::PlaceMap;
use crate::recipe::{ClusterRule, Task};
use crate::rejections;
use crate::reread::{Rereader, ShardReaders};
use crate::sketch::{MethodCounts, host, unit_file};
use crate::star::Removal;
use crate::store::file::{RandomAccess, Run, RunWriter};
use crate::store::sort::{Codec, Couples, Sorter, clear, couple, existing, uncouple};
use crate::verify::tally::{Sample, Tally};
use crate::verify::{self, NEAR, NEAR_BACK, Pairs, Removals};

/// The results of a job, for a report.
#[derive(Debug, Clone, Default)]
pub struct Findings {
    /// The counts.
    pub summary: Summary,
    /// Measured pairs by similarity in hundredths, the last for 1.
    pub histogram: Vec<u64>,
    /// Clusters by size: the lowest size of a bin, the highest, and how many.
    pub cluster_sizes: Vec<(u64, u64, u64)>,
    /// The largest clusters.
    pub biggest: Vec<BigCluster>,
    /// Documents and removals per shard, most removals first.
    pub sources: Vec<Share>,
    /// Documents and removals per host, most removals first.
    pub hosts: Vec<Share>,
    /// Rejections by reason.
    pub rejections: BTreeMap<String, u64>,
    /// Pairs for a person to look at.
    pub samples: Vec<PairSample>,
    /// Remarks for the reader of the results.
    pub notes: Vec<String>,
    /// Measured pairs that reached the threshold.
    pub reached: u64,
    /// The counts of each method that proposes pairs.
    pub method_counts: Vec<MethodCounts>,
}

/// Documents and removals of a part of the corpus.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Share {
    /// The part.
    pub name: String,
    /// Documents found.
    pub documents: u64,
    /// Those removed.
    pub removed: u64,
}

/// A large cluster.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BigCluster {
    /// Ordinal of its kept document.
    pub cluster: u64,
    /// Id of its kept document.
    pub keep: String,
    /// Number of its documents.
    pub size: u64,
    /// A few of their ids.
    pub members: Vec<String>,
    /// The beginning of the kept document's text.
    pub excerpt: String,
    kept_document: u32,
    /// The documents whose ids are shown.
    shown: Vec<u32>,
}

/// The reason why a pair is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Section {
    /// Drawn by lot from those at or above the threshold.
    Random,
    /// Just above the threshold.
    Above,
    /// Just below it.
    Below,
}

/// A pair for a person to look at.
#[derive(Debug, Clone, PartialEq)]
pub struct PairSample {
    /// The reason why it is shown.
    pub section: Section,
    /// Its similarity.
    pub similarity: f64,
    /// The earlier document.
    pub a: SampleDocument,
    /// The later one.
    pub b: SampleDocument,
}

/// A document of a sample.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SampleDocument {
    /// Its id.
    pub id: String,
    /// Its address.
    pub url: Option<String>,
    /// Its text.
    pub text: String,
    /// It was removed.
    pub removed: bool,
    number: u32,
}

/// Rows of tables that are shown in full; the rest is one row.
const ROWS: usize = 30;
/// Large clusters that are shown.
const BIGGEST: usize = 12;
/// Ids that are shown of each.
const MEMBERS: usize = 6;
/// Hosts that are counted one by one; those met after them are counted together.
const HOSTS: usize = 1 << 16;
/// Text that is kept of a sample.
const SAMPLE_BYTES: usize = 64 << 10;

const REMOVED: &[Column] = &[
    Column::new("id", Kind::Text),
    Column::new("witness", Kind::Text),
    Column::new("similarity", Kind::OptionalF64),
    Column::new("cluster", Kind::U64),
    Column::new("n", Kind::U64),
    Column::new("witness_n", Kind::U64),
    Column::new("via", Kind::OptionalText).omit_if_none(),
    Column::new("against", Kind::OptionalText).omit_if_none(),
];

const CLUSTERS: &[Column] = &[
    Column::new("cluster", Kind::U64),
    Column::new("keep", Kind::Text),
    Column::new("members", Kind::ListOfText),
    Column::new("members_n", Kind::ListOfU64),
    Column::new("against", Kind::OptionalText).omit_if_none(),
];

const PAIRS: &[Column] = &[
    Column::new("a", Kind::Text),
    Column::new("b", Kind::Text),
    Column::new("similarity", Kind::OptionalF64),
    Column::new("reverse", Kind::OptionalF64).omit_if_none(),
];

const REJECTED: &[Column] = &[
    Column::new("source", Kind::Text),
    Column::new("position", Kind::U64),
    Column::new("reason", Kind::Text),
    Column::new("side", Kind::OptionalText).omit_if_none(),
    Column::new("id", Kind::OptionalText).omit_if_none(),
];

/// The file with all removals in order, beside the scratch files.
const SORTED: &str = "removed.sorted";
/// The file with the size of every cluster of two or more, by kept document.
const SIZES: &str = "clusters.sizes";
/// The file with the place of every removed document in the input, and its number, in the order of the input.
const REMOVED_PLACES: &str = "removed.places";

/// Writes the tables of `dedup`.
pub(crate) fn dedup(
    ctx: &Context<'_>,
    catalogue: &Catalogue,
    folder: &Path,
    outputs: Outputs,
    stages: StageCounts,
) -> Result<Findings, EngineError> {
    ctx.begin("write", None, false);
    let mut findings = begin(ctx, catalogue, &stages);
    findings.summary.removed = sort_removals(ctx, catalogue)?;
    write_removed(ctx, catalogue, folder, outputs.format)?;
    write_clusters(ctx, catalogue, folder, outputs.format, &mut findings)?;
    write_rejected(ctx, catalogue, folder, outputs.format, &mut findings)?;
    shares(ctx, catalogue, &mut findings)?;
    let summary = &mut findings.summary;
    summary.kept = summary.documents - summary.removed - summary.rejected;
    choose_samples(ctx, &stages.tally, &mut findings)?;
    Ok(findings)
}

/// The counts of the stages before this one.
#[derive(Debug, Clone)]
pub(crate) struct StageCounts {
    pub(crate) collapsed: ClassCounts,
    pub(crate) proposed: CandidateCounts,
    pub(crate) tally: Tally,
}

pub(crate) fn begin(ctx: &Context<'_>, catalogue: &Catalogue, stages: &StageCounts) -> Findings {
    let StageCounts { collapsed, proposed, tally } = stages;
    let mut summary = Summary {
        documents: (catalogue.len() - catalogue.references()).into(),
        exact_duplicates: collapsed.exact_duplicates,
        duplicate_ids: collapsed.duplicate_ids,
        candidates: proposed.candidates,
        giant_groups: proposed.giant_groups,
        verified: if ctx.recipe.verified { tally.verified + tally.hops } else { 0 },
        version: ctx.recipe.lookalike.clone(),
        unverified: !ctx.recipe.verified,
        witnesses_waived: ctx.recipe.cluster == ClusterRule::Components && ctx.recipe.task == Task::Dedup,
        against: catalogue.references().into(),
        ..Summary::default()
    };
    for (reason, count) in ctx.corpora().flat_map(|corpus| corpus.left_out().counts()) {
        *summary.left_out.entry(reason.to_string()).or_default() += count;
    }
    for view in catalogue.shards(ctx).iter() {
        if view.reference {
            summary.against_rejected += view.meta.rejected;
            continue;
        }
        summary.rejected += view.meta.rejected;
        summary.skipped += view.meta.skipped.values().sum::<u64>();
        summary.text_bytes += view.meta.text_bytes;
    }
    let mut notes = Vec::new();
    if summary.unverified {
        let note = match ctx.measures {
            true => {
                "Pairs count by the word of their methods alone (--unverified), one of which measured them itself."
            }
            false => "Pairs were not measured (--unverified): each counts by the word of its method alone.",
        };
        notes.push(note.to_owned());
    }
    // What methods have to say now that they have seen the corpus.
    let before = ctx.recipe.methods().unwrap_or_default();
    for (entry, before) in ctx.panel.proposers().iter().zip(before) {
        notes.extend(entry.method.advice().filter(|advice| before.advice().as_ref() != Some(advice)));
    }
    if summary.witnesses_waived {
        notes.push(
            "Whole components were merged (--cluster components): a removed document may be less similar to its \
             witness than the threshold asks."
                .to_owned(),
        );
    }
    // A comparison has its own words for these, and for both sides.
    let compares = ctx.recipe.task == Task::Compare;
    if summary.giant_groups > 0 && !compares {
        notes.push(format!(
            "{} groups of more than {} documents with a common key did not propose all of their pairs.",
            summary.giant_groups, ctx.recipe.max_group
        ));
    }
    if summary.duplicate_ids > 0 && !compares {
        notes.push(format!(
            "{} documents bear an id that an earlier one bears; ordinals (n) tell them apart.",
            summary.duplicate_ids
        ));
    }
    Findings {
        summary,
        histogram: tally.histogram.clone(),
        reached: tally.reached,
        notes,
        method_counts: catalogue.method_counts(),
        ..Findings::default()
    }
}

/// Brings the removals of all buckets into one order; returns how many there are.
fn sort_removals(ctx: &Context<'_>, catalogue: &Catalogue) -> Result<u64, EngineError> {
    for run in existing(&ctx.run_location("removing"))? {
        crate::context::remove_if_there(&run)?;
    }
    let memory = ctx.budget.free(catalogue.len().into(), 0) as usize / 4;
    let mut sorter = Sorter::new(ctx.run_location("removing"), Removals, memory);
    for path in verify::decision_files(ctx)? {
        let mut records = Run::open(&path, Removals::label(ctx))?.records();
        while let Some(bytes) = records.next()? {
            sorter.push(Removals.get(bytes))?;
        }
    }
    let mut sorted = sorter.sorted()?;
    let mut writer = RunWriter::create(&ctx.file(SORTED), Removals::label(ctx))?;
    let (mut bytes, mut count) = ([0; 20], 0);
    while let Some(item) = sorted.next()? {
        Removals.put(item, &mut bytes);
        writer.push(&bytes)?;
        count += 1;
    }
    writer.finish()?;
    Ok(count)
}

/// All removals, in the order of the input.
fn removals(
    ctx: &Context<'_>,
    mut each: impl FnMut(Removal) -> Result<(), EngineError>,
) -> Result<(), EngineError> {
    let mut records = Run::open(&ctx.file(SORTED), Removals::label(ctx))?.records();
    let mut seen = 0u64;
    while let Some(bytes) = records.next()? {
        seen += 1;
        if seen.is_multiple_of(65_536) {
            ctx.check()?;
        }
        each(Removals::removal(Removals.get(bytes)))?;
    }
    Ok(())
}

/// Ordinals as outputs write them: of the input, or of the corpus it was compared with.
fn ordinal(catalogue: &Catalogue, document: u32) -> u64 {
    let references = catalogue.references();
    if document < references { document.into() } else { (document - references).into() }
}

/// Returns the value of the column `against`: `other` for a document of the other corpus, nothing for one of the input.
fn against(catalogue: &Catalogue, document: u32) -> Option<&'static str> {
    (document < catalogue.references()).then_some("other")
}

fn write_removed(
    ctx: &Context<'_>,
    catalogue: &Catalogue,
    folder: &Path,
    format: RowFormat,
) -> Result<(), EngineError> {
    let target = folder.join(format!("removed{}", format.suffix()));
    let mut rows = RowWriter::create(&target, format, REMOVED, &ctx.recipe.to_toml())?;
    let components = ctx.recipe.cluster == ClusterRule::Components;
    let (mut own, mut other) = (Lookup::new(ctx, catalogue), Lookup::new(ctx, catalogue));
    removals(ctx, |removal| {
        let names = own.names(removal.document)?;
        let witness = other.names(removal.witness)?;
        let via = if components { Some(other.names(removal.via)?.id) } else { None };
        rows.push(&[
            Cell::Text(&names.id),
            Cell::Text(&witness.id),
            Cell::OptionalF64(Some(removal.similarity)),
            Cell::U64(ordinal(catalogue, removal.witness)),
            Cell::U64(ordinal(catalogue, removal.document)),
            Cell::U64(ordinal(catalogue, removal.witness)),
            Cell::OptionalText(via.as_deref()),
            Cell::OptionalText(against(catalogue, removal.witness)),
        ])?;
        Ok(())
    })?;
    Ok(rows.finish()?)
}

fn write_clusters(
    ctx: &Context<'_>,
    catalogue: &Catalogue,
    folder: &Path,
    format: RowFormat,
    findings: &mut Findings,
) -> Result<(), EngineError> {
    for run in existing(&ctx.run_location("clustering"))? {
        crate::context::remove_if_there(&run)?;
    }
    let memory = ctx.budget.free(catalogue.len().into(), 0) as usize / 4;
    let mut sorter = Sorter::new(ctx.run_location("clustering"), Couples, memory);
    removals(ctx, |removal| sorter.push(couple(removal.witness, removal.document)))?;
    let mut table = MemberRows::create(ctx, catalogue, folder, ("clusters", format, CLUSTERS))?;
    let mut sizes = RunWriter::create(&ctx.file(SIZES), ctx.label("sizes", 8))?;
    let mut bins: BTreeMap<u32, u64> = BTreeMap::new();
    let mut put = |members: &mut Vec<u32>| -> Result<(), EngineError> {
        let Some(&kept_document) = members.first() else { return Ok(()) };
        members.sort_unstable();
        let keep = table.lookup.names(kept_document)?.id;
        let cluster = ordinal(catalogue, kept_document);
        let cells = [
            Cell::U64(cluster),
            Cell::Text(&keep),
            Cell::ListOfText(&[]),
            Cell::ListOfU64(&[]),
            Cell::OptionalText(against(catalogue, kept_document)),
        ];
        table.push(&cells, members)?;
        let size = members.len() as u64;
        sizes.push(&couple(kept_document, members.len() as u32).to_le_bytes())?;
        findings.summary.clusters += 1;
        *bins.entry(size.ilog2()).or_default() += 1;
        findings.biggest.push(BigCluster {
            cluster,
            size,
            kept_document,
            shown: members.iter().take(MEMBERS).copied().collect(),
            ..BigCluster::default()
        });
        if findings.biggest.len() > 8 * BIGGEST {
            trim_biggest(&mut findings.biggest);
        }
        members.clear();
        Ok(())
    };
    let mut sorted = sorter.sorted()?;
    let mut members: Vec<u32> = Vec::new();
    while let Some(pair) = sorted.next()? {
        let (kept_document, member) = uncouple(pair);
        if members.first() != Some(&kept_document) {
            put(&mut members)?;
            members.push(kept_document);
        }
        members.push(member);
    }
    put(&mut members)?;
    let MemberRows { rows, mut lookup, .. } = table;
    rows.finish()?;
    sizes.finish()?;
    trim_biggest(&mut findings.biggest);
    for cluster in &mut findings.biggest {
        cluster.keep = shown_id(&mut lookup, cluster.kept_document)?;
        let ids = cluster.shown.iter().map(|&member| shown_id(&mut lookup, member));
        cluster.members = ids.collect::<Result<_, _>>()?;
    }
    findings.cluster_sizes =
        bins.into_iter().map(|(power, count)| (1 << power, (2 << power) - 1, count)).collect();
    Ok(())
}

/// Rows of more documents than this are looked at before they are written as Parquet, where a row must be in memory as a whole.
const LONG_ROW: usize = 1 << 16;

/// Bytes that a document of a row takes in Parquet beside its id, and how often the id is there.
const PER_MEMBER: u64 = 96;
const ID_TIMES: u64 = 4;

/// Writes a row that ends with the ids of `members` and, behind these, their ordinals. As JSON lines they are written one by one, so that
/// a million of them take no memory but their numbers.
pub(crate) struct MemberRows<'c> {
    ctx: &'c Context<'c>,
    catalogue: &'c Catalogue,
    format: RowFormat,
    rows: RowWriter,
    lookup: Lookup<'c>,
}

impl<'c> MemberRows<'c> {
    fn create(
        ctx: &'c Context<'c>,
        catalogue: &'c Catalogue,
        folder: &Path,
        (name, format, columns): (&str, RowFormat, &'static [Column]),
    ) -> Result<Self, EngineError> {
        let target = folder.join(format!("{name}{}", format.suffix()));
        let rows = RowWriter::create(&target, format, columns, &ctx.recipe.to_toml())?;
        Ok(MemberRows { ctx, catalogue, format, rows, lookup: Lookup::new(ctx, catalogue) })
    }

    /// Adds a row. Empty lists among its cells stand for those of the members.
    fn push(&mut self, cells: &[Cell<'_>], members: &[u32]) -> Result<(), EngineError> {
        self.admit(members)?;
        let MemberRows { catalogue, rows, lookup, .. } = self;
        let texts = cells.iter().position(|cell| matches!(cell, Cell::ListOfText(_)));
        rows.push_lists(
            cells,
            |_| members.len(),
            |column, index| {
                Ok(match Some(column) == texts {
                    true => ListValue::Text(lookup.names(members[index])?.id),
                    false => ListValue::U64(ordinal(catalogue, members[index])),
                })
            },
        )
    }

    fn admit(&mut self, members: &[u32]) -> Result<(), EngineError> {
        match self.format {
            RowFormat::Jsonl => Ok(()),
            RowFormat::Parquet => admit_row(self.ctx, self.catalogue, &mut self.lookup, members),
        }
    }

    fn finish(self) -> Result<(), EngineError> {
        Ok(self.rows.finish()?)
    }
}

/// Refuses a row of Parquet with the ids of so many documents that it does not fit into memory.
pub(crate) fn admit_row(
    ctx: &Context<'_>,
    catalogue: &Catalogue,
    lookup: &mut Lookup<'_>,
    members: &[u32],
) -> Result<(), EngineError> {
    if members.len() <= LONG_ROW {
        return Ok(());
    }
    let mut bytes = 16 * u64::from(catalogue.len()) + PER_MEMBER * members.len() as u64;
    for &member in members {
        bytes += ID_TIMES * lookup.names(member)?.id.len() as u64;
    }
    if bytes > ctx.budget.reservable() {
        let what =
            format!("a row of {} documents in a Parquet table (JSON lines need no more)", members.len());
        return Err(ctx.budget.too_small_for(&what, bytes));
    }
    Ok(())
}

/// Bytes that a report shows of an id.
const SHOWN_ID: usize = 1 << 10;

/// An id as a report shows it, the end of a very long one left out.
fn shown_id(lookup: &mut Lookup<'_>, document: u32) -> Result<String, EngineError> {
    let mut id = lookup.names(document)?.id;
    if id.len() > SHOWN_ID {
        id.truncate(id.floor_char_boundary(SHOWN_ID));
        id.push('…');
        id.shrink_to_fit();
    }
    Ok(id)
}

fn trim_biggest(biggest: &mut Vec<BigCluster>) {
    biggest.sort_by_key(|cluster| (std::cmp::Reverse(cluster.size), cluster.cluster));
    biggest.truncate(BIGGEST);
}

/// A rejection, as the sketch stage left it behind.
#[derive(serde::Deserialize)]
pub(crate) struct RejectedLine {
    record: u64,
    pub(crate) position: u64,
    pub(crate) reason: String,
    #[serde(default)]
    id: Option<String>,
}

/// Calls `each` with every rejection of a unit, in the order of the input.
fn rejected_lines(
    ctx: &Context<'_>,
    unit: usize,
    mut each: impl FnMut(RejectedLine) -> Result<(), EngineError>,
) -> Result<(), EngineError> {
    let path = unit_file(ctx, unit, "rejected");
    let mut records = Run::open(&path, ctx.label("rejected", 1))?.records();
    let (mut line, mut byte) = (Vec::new(), [0]);
    while records.take(&mut byte)? {
        if byte != [b'\n'] {
            line.push(byte[0]);
            continue;
        }
        let rejected = serde_json::from_slice(&line)
            .map_err(|error| EngineError::Damaged { file: path.clone(), what: error.to_string() })?;
        line.clear();
        each(rejected)?;
    }
    Ok(())
}

/// Record numbers of the rejected records of a shard, ascending.
pub(crate) fn rejected_records(
    ctx: &Context<'_>,
    catalogue: &Catalogue,
    view: &ShardView<'_>,
) -> Result<Vec<u32>, EngineError> {
    let mut found = Vec::new();
    if view.meta.rejected > 0 {
        let unit = catalogue.unit_of(view.first);
        let base = catalogue.base(unit);
        rejected_lines(ctx, unit, |rejected| {
            let record = (base + rejected.record as u32).checked_sub(view.first);
            found.extend(record.filter(|&record| record < view.records));
            Ok(())
        })?;
    }
    Ok(found)
}

pub(crate) fn write_rejected(
    ctx: &Context<'_>,
    catalogue: &Catalogue,
    folder: &Path,
    format: RowFormat,
    findings: &mut Findings,
) -> Result<(), EngineError> {
    let target = folder.join(format!("rejected{}", format.suffix()));
    let mut rows = RowWriter::create(&target, format, REJECTED, &ctx.recipe.to_toml())?;
    let mut losses = [Losses::default(), Losses::default()];
    rejected(ctx, catalogue, |view, line| {
        rows.push(&[
            Cell::Text(&view.shard.name),
            Cell::U64(line.position),
            Cell::Text(&line.reason),
            Cell::OptionalText(rejections::side(ctx, view.reference)),
            Cell::OptionalText(line.id.as_deref()),
        ])?;
        losses[usize::from(view.reference)].add(
            &view.shard.name,
            line.position,
            Some(view.unit()),
            &line.reason,
        );
        Ok(())
    })?;
    rows.finish()?;
    for (losses, reference) in losses.iter().zip([false, true]) {
        let reasons = match rejections::side(ctx, reference) {
            Some(side) => losses.reasons_of(side),
            None => losses.reasons(),
        };
        for loss in &reasons {
            *findings.rejections.entry(loss.kind.clone()).or_default() += loss.count;
        }
        findings.summary.reasons.extend(reasons);
    }
    Ok(())
}

/// Hands over every rejection with its shard, in the order of the input.
pub(crate) fn rejected(
    ctx: &Context<'_>,
    catalogue: &Catalogue,
    mut each: impl FnMut(&ShardView<'_>, RejectedLine) -> Result<(), EngineError>,
) -> Result<(), EngineError> {
    let views = catalogue.shards(ctx);
    for unit in 0..ctx.units().len() {
        rejected_lines(ctx, unit, |line| {
            let place = catalogue.base(unit) + line.record as u32;
            shard_of(&views, place).map_or(Ok(()), |shard| each(&views[shard], line))
        })?;
    }
    Ok(())
}

/// The shard that holds the document at a place of the input.
fn shard_of(views: &[ShardView<'_>], place: u32) -> Option<usize> {
    let index = views.partition_point(|view| view.first <= place);
    // Empty shards begin where the next one does.
    views[..index].iter().rposition(|view| place < view.first + view.records)
}

/// Counts documents and removals per shard and per host.
fn shares(ctx: &Context<'_>, catalogue: &Catalogue, findings: &mut Findings) -> Result<(), EngineError> {
    let views = catalogue.shards(ctx);
    let mut sources: Vec<Share> = views
        .iter()
        .map(|view| Share { name: view.shard.name.clone(), documents: view.records.into(), removed: 0 })
        .collect();
    let mut hosts: HashMap<String, (u64, u64)> = HashMap::new();
    let mut others = (0, 0);
    let mut removed = Run::open(&ctx.file(SORTED), Removals::label(ctx))?.records();
    let mut next_removed = removed.next()?.map(|bytes| Removals.get(bytes).0);
    let mut places = PlaceMap::open(ctx)?;
    catalogue.names(ctx, |document, _, url| {
        if document < catalogue.references() {
            return Ok(());
        }
        let gone = next_removed == Some(document);
        if gone {
            next_removed = removed.next()?.map(|bytes| Removals.get(bytes).0);
            let source = shard_of(&views, places.place(document)?);
            source.into_iter().for_each(|source| sources[source].removed += 1);
        }
        if let Some(host) = url.map(host).filter(|host| !host.is_empty()) {
            let host = host.to_ascii_lowercase();
            let count = match hosts.len() < HOSTS || hosts.contains_key(&host) {
                true => hosts.entry(host).or_default(),
                false => &mut others,
            };
            count.0 += 1;
            count.1 += u64::from(gone);
        }
        Ok(())
    })?;
    let sources =
        sources.into_iter().zip(&views).filter(|(_, view)| !view.reference).map(|(share, _)| share).collect();
    findings.sources = top(sources, Share::default());
    let hosts =
        hosts.into_iter().map(|(name, (documents, removed))| Share { name, documents, removed }).collect();
    findings.hosts = top(hosts, Share { name: String::new(), documents: others.0, removed: others.1 });
    Ok(())
}

/// The parts with most removals, and one row for all others.
fn top(mut shares: Vec<Share>, mut others: Share) -> Vec<Share> {
    shares.sort_by(|a, b| {
        (b.removed, b.documents).cmp(&(a.removed, a.documents)).then_with(|| a.name.cmp(&b.name))
    });
    let uncounted = others.documents > 0;
    let rest = shares.split_off(shares.len().min(ROWS));
    let more = rest.len();
    for share in rest {
        others.documents += share.documents;
        others.removed += share.removed;
    }
    if others.documents > 0 {
        others.name = format!("{more}{} others", if uncounted { " and more" } else { "" });
        shares.push(others);
    }
    shares
}

fn choose_samples(ctx: &Context<'_>, tally: &Tally, findings: &mut Findings) -> Result<(), EngineError> {
    let sections =
        [(Section::Random, &tally.random), (Section::Above, &tally.above), (Section::Below, &tally.below)];
    for (section, samples) in sections {
        for &Sample { a, b, similarity } in samples {
            let document = |number| SampleDocument { number, ..SampleDocument::default() };
            let (a, b) = (document(a), document(b));
            if findings.samples.iter().all(|other| (other.a.number, other.b.number) != (a.number, b.number)) {
                findings.samples.push(PairSample { section, similarity, a, b });
            }
        }
    }
    let mut wanted: Vec<u32> =
        findings.samples.iter().flat_map(|sample| [sample.a.number, sample.b.number]).collect();
    wanted.sort_unstable();
    let mut gone = Vec::new();
    if ctx.recipe.task == Task::Dedup {
        removals(ctx, |removal| {
            if wanted.binary_search(&removal.document).is_ok() {
                gone.push(removal.document);
            }
            Ok(())
        })?;
    }
    for sample in &mut findings.samples {
        for document in [&mut sample.a, &mut sample.b] {
            document.removed = gone.binary_search(&document.number).is_ok();
        }
    }
    Ok(())
}

/// Reads the texts of samples and large clusters again from the input.
pub(crate) fn read_samples(
    ctx: &Context<'_>,
    catalogue: &Catalogue,
    findings: &mut Findings,
) -> Result<(), EngineError> {
    let mut wanted: Vec<u32> = findings
        .samples
        .iter()
        .flat_map(|sample| [sample.a.number, sample.b.number])
        .chain(findings.biggest.iter().map(|cluster| cluster.kept_document))
        .collect();
    wanted.sort_unstable();
    wanted.dedup();
    ctx.begin("report", None, false);
    let texts = texts(ctx, catalogue, &wanted)?;
    let mut lookup = Lookup::new(ctx, catalogue);
    for sample in &mut findings.samples {
        for document in [&mut sample.a, &mut sample.b] {
            let names = lookup.names(document.number)?;
            document.id = names.id;
            document.url = names.url;
            document.text = texts.get(&document.number).cloned().unwrap_or_default();
        }
    }
    for cluster in &mut findings.biggest {
        let text = texts.get(&cluster.kept_document).map_or("", String::as_str);
        cluster.excerpt = text.split_whitespace().take(40).collect::<Vec<_>>().join(" ");
    }
    Ok(())
}

/// Lines are looked through so many bytes at a time.
const BLOCK_BYTES: usize = 512 << 10;

/// The texts of a few documents. Where these cannot be read from where they stand, shards are read up to the last one
/// wanted.
pub(crate) fn texts(
    ctx: &Context<'_>,
    catalogue: &Catalogue,
    wanted: &[u32],
) -> Result<HashMap<u32, String>, EngineError> {
    let mut texts = HashMap::new();
    let mut put = |document: u32, text: &str| {
        let end = text.floor_char_boundary(SAMPLE_BYTES.min(text.len()));
        texts.insert(document, text[..end].to_owned());
    };
    if ShardReaders::is_seekable(catalogue) {
        Rereader::new(&ShardReaders::new(ctx, catalogue)).documents(
            wanted,
            |worker, document, row, source| {
                if !worker.reread_document(ctx, source, row.digest, |_| ()) {
                    return Err(crate::gather::input_changed(ctx));
                }
                worker.reread_text(ctx, source).into_iter().for_each(|text| put(document, text));
                Ok(())
            },
        )?;
        return Ok(texts);
    }
    let (mut extractor, mut lines) = (Extractor::default(), Lines::default());
    let wanted = PlaceMap::open(ctx)?.of(wanted)?;
    for view in catalogue.shards(ctx) {
        let before = |end: u32| wanted.partition_point(|&(place, _)| place < end);
        let mut wanted = &wanted[before(view.first)..before(view.first + view.records)];
        let corpus = if view.reference { ctx.against.unwrap_or(ctx.corpus) } else { ctx.corpus };
        let mut reader = if wanted.is_empty() { continue } else { view.shard.open(corpus.options())? };
        let mut line_reader = LineReader::new(corpus.options());
        let mut take = |document: u32, item: Item<'_>| {
            if let Item::Document(found) = item {
                put(document, extractor.extract(&found, ctx.content).text);
            }
        };
        let mut place = view.first;
        while let Some(&(next, document)) = wanted.first() {
            ctx.check()?;
            if reader.lines(BLOCK_BYTES, &mut lines)? {
                let end = place + lines.len() as u32;
                let here = wanted.partition_point(|&(wanted, _)| wanted < end);
                for &(found, document) in &wanted[..here] {
                    take(document, line_reader.read(lines.view_some(), (found - place) as usize));
                }
                (wanted, place) = (&wanted[here..], end);
                continue;
            }
            match reader.next()? {
                None => break,
                Some(Item::Skipped(_)) => continue,
                Some(item) if place == next => {
                    take(document, item);
                    wanted = &wanted[1..];
                }
                Some(_) => {}
            }
            place += 1;
        }
    }
    Ok(texts)
}

/// The name of the table of pairs.
pub(crate) fn pairs_name(outputs: Outputs) -> String {
    format!("pairs{}{}", outputs.format.suffix(), outputs.suffix)
}

/// Writes the table of `pairs` into `folder`.
pub(crate) fn pairs(
    ctx: &Context<'_>,
    catalogue: &Catalogue,
    folder: &Path,
    outputs: Outputs,
    stages: StageCounts,
) -> Result<Findings, EngineError> {
    ctx.begin("write", None, false);
    let mut findings = begin(ctx, catalogue, &stages);
    findings.summary.kept = findings.summary.documents - findings.summary.rejected;
    for run in existing(&ctx.run_location("pairing"))? {
        crate::context::remove_if_there(&run)?;
    }
    let memory = ctx.budget.free(catalogue.len().into(), 16) as usize / 3;
    let mut sorter = Sorter::new(ctx.run_location("pairing"), Pairs, memory);
    let classes = Classes::load(ctx)?;
    let total = count_pairs(ctx, catalogue, &classes)?;
    let table = match (outputs.format, outputs.suffix) {
        (RowFormat::Jsonl, "") => total.saturating_mul(line_bytes(ctx, catalogue)?),
        // How well it is compressed shows only later.
        _ => 0,
    };
    disk_forecast::require(ctx, sorter.file_bytes(total).saturating_add(table))?;
    // Each pair is sorted and then written.
    ctx.begin("write", Some(total.saturating_mul(2)), false);
    let large_groups = expand(ctx, &classes, &mut sorter)?;
    findings.summary.giant_groups +=
        write_groups(ctx, catalogue, folder, outputs.format, &classes, &large_groups)?;
    equals(ctx, catalogue, &classes, &mut sorter)?;
    let written = write_pairs(ctx, catalogue, folder, outputs, sorter)?;
    debug_assert_eq!(written, total, "the forecast counts what is written");
    findings.summary.pairs = Some(written);
    write_rejected(ctx, catalogue, folder, outputs.format, &mut findings)?;
    Ok(findings)
}

/// From pairs of classes to pairs of documents; returns those of two classes that make too many, which are written down as
/// one group.
fn expand(ctx: &Context<'_>, classes: &Classes, sorter: &mut Sorter<Pairs>) -> Result<Vec<u64>, EngineError> {
    let mut large_groups = Vec::new();
    for path in verify::decision_files(ctx)? {
        let mut records = Run::open(&path, Pairs::label(ctx))?.records();
        while let Some(bytes) = records.next()? {
            let (pair, forward, backward, flags) = Pairs.get(bytes);
            let (a, b) = uncouple(pair);
            let (ours, theirs) = (classes.of(&a), classes.of(&b));
            if ours.len() + theirs.len() > ctx.recipe.max_group {
                large_groups.push(pair);
                continue;
            }
            for &left in ours {
                for &right in theirs {
                    ctx.count_finished_pairs(1);
                    match left < right {
                        true => sorter.push((couple(left, right), forward, backward, flags))?,
                        false => {
                            sorter.push((couple(right, left), backward, forward, verify::swapped(flags)))?
                        }
                    }
                }
            }
        }
    }
    // Which was decided first depends on threads and memory.
    large_groups.sort_unstable();
    Ok(large_groups)
}

/// Number of the pairs that the table will have, counted before any of them is written: a few classes of equal documents make more
/// of them than all that came before.
fn count_pairs(ctx: &Context<'_>, catalogue: &Catalogue, classes: &Classes) -> Result<u64, EngineError> {
    let most = ctx.recipe.max_group;
    let mut total = classes.count_pairs(ctx, |ours, theirs| match ours.len() + theirs.len() {
        documents if documents > most => 0,
        _ => ours.len() as u64 * theirs.len() as u64,
    })?;
    let mut lookup = Lookup::new(ctx, catalogue);
    for class in classes.all().filter(|class| class.len() <= most) {
        if counts_as_equal(ctx, &mut lookup, class)? {
            total += pair_count(class.len());
        }
    }
    Ok(total)
}

/// Mean bytes of a line of the table of pairs, told by the ids of some documents.
fn line_bytes(ctx: &Context<'_>, catalogue: &Catalogue) -> Result<u64, EngineError> {
    const SAMPLE: u32 = 1000;
    const AROUND_IDS: u64 = r#"{"a":"","b":"","similarity":0.8}"#.len() as u64 + 1;
    let mut lookup = Lookup::new(ctx, catalogue);
    let sample = (0..catalogue.len()).step_by(catalogue.len().div_ceil(SAMPLE).max(1) as usize);
    let (mut bytes, mut count) = (0, 0);
    for document in sample {
        bytes += lookup.names(document)?.id.len() as u64;
        count += 1;
    }
    Ok(AROUND_IDS + 2 * bytes / count.max(1))
}

/// Pairs of equal documents.
fn equals(
    ctx: &Context<'_>,
    catalogue: &Catalogue,
    classes: &Classes,
    sorter: &mut Sorter<Pairs>,
) -> Result<(), EngineError> {
    let one = 1f64.to_bits();
    let mut lookup = Lookup::new(ctx, catalogue);
    for class in classes.all().filter(|class| class.len() <= ctx.recipe.max_group) {
        if !counts_as_equal(ctx, &mut lookup, class)? {
            continue;
        }
        for (index, &b) in class.iter().enumerate() {
            for &a in &class[..index] {
                sorter.push((couple(a, b), one, one, NEAR | NEAR_BACK))?;
            }
            ctx.count_finished_pairs(index as u64);
        }
    }
    Ok(())
}

/// Writes the table; returns how many pairs there are.
fn write_pairs(
    ctx: &Context<'_>,
    catalogue: &Catalogue,
    folder: &Path,
    outputs: Outputs,
    sorter: Sorter<Pairs>,
) -> Result<u64, EngineError> {
    let target = folder.join(pairs_name(outputs));
    let mut rows = RowWriter::create(&target, outputs.format, PAIRS, &ctx.recipe.to_toml())?;
    let (mut first, mut second) = (Lookup::new(ctx, catalogue), Lookup::new(ctx, catalogue));
    let directed = ctx.directed();
    let mut sorted = sorter.sorted()?;
    let mut count = 0;
    while let Some((pair, forward, backward, _)) = sorted.next()? {
        let (a, b) = uncouple(pair);
        let (left, right) = (first.names(a)?, second.names(b)?);
        let reverse = directed.then(|| f64::from_bits(backward));
        rows.push(&[
            Cell::Text(&left.id),
            Cell::Text(&right.id),
            Cell::OptionalF64(Some(f64::from_bits(forward))),
            Cell::OptionalF64(reverse),
        ])?;
        ctx.count_finished_pairs(1);
        count += 1;
    }
    rows.finish()?;
    Ok(count)
}

const GROUPS: &[Column] = &[
    Column::new("documents", Kind::U64),
    Column::new("pairs", Kind::U64),
    Column::new("equal", Kind::Bool),
    Column::new("members", Kind::ListOfText),
    Column::new("members_n", Kind::ListOfU64),
];

/// Writes the groups that are too large to be written as pairs; returns how many of them come from equal documents.
fn write_groups(
    ctx: &Context<'_>,
    catalogue: &Catalogue,
    folder: &Path,
    format: RowFormat,
    classes: &Classes,
    large_groups: &[u64],
) -> Result<u64, EngineError> {
    let mut rows = MemberRows::create(ctx, catalogue, folder, ("groups", format, GROUPS))?;
    let mut put = |members: &[u32], pairs: u64, equal: bool| {
        let cells = [
            Cell::U64(members.len() as u64),
            Cell::U64(pairs),
            Cell::Bool(equal),
            Cell::ListOfText(&[]),
            Cell::ListOfU64(&[]),
        ];
        rows.push(&cells, members)
    };
    for mut records in candidates::giants(ctx)? {
        let mut group = Vec::new();
        while let Some(bytes) = records.next()? {
            match u32::from_le_bytes(bytes.try_into().expect("four bytes")) {
                0 => {
                    put(&group, pair_count(group.len()), false)?;
                    group.clear();
                }
                document => group.push(document - 1),
            }
        }
    }
    let mut equal = large_groups.len() as u64;
    for &pair in large_groups {
        let (a, b) = uncouple(pair);
        let (ours, theirs) = (classes.of(&a), classes.of(&b));
        let mut all: Vec<u32> = ours.iter().chain(theirs).copied().collect();
        all.sort_unstable();
        put(&all, (ours.len() * theirs.len()) as u64, false)?;
    }
    let mut records = Lookup::new(ctx, catalogue);
    for class in classes.all().filter(|class| class.len() > ctx.recipe.max_group) {
        if counts_as_equal(ctx, &mut records, class)? {
            put(class, pair_count(class.len()), true)?;
            equal += 1;
        }
    }
    rows.finish()?;
    Ok(equal)
}

/// True when the documents of a class are pairs. Equal documents are none by the word of a method that has nothing to say
/// of them.
pub(crate) fn counts_as_equal(
    ctx: &Context<'_>,
    lookup: &mut Lookup<'_>,
    class: &[u32],
) -> Result<bool, EngineError> {
    Ok(ctx.recipe.verified || ctx.panel.accepts_equal(lookup.record(class[0])?))
}

/// Pairs among so many documents.
fn pair_count(documents: usize) -> u64 {
    let documents = documents as u64;
    documents * documents.saturating_sub(1) / 2
}

/// All classes of equal documents. In memory: `pairs` writes each of their pairs, which is far more.
pub(crate) struct Classes {
    members: Vec<u32>,
    /// The index in `members` of each class, sorted by its first document, and at the end the number of all members.
    starts: Vec<usize>,
}

impl Classes {
    pub(crate) fn load(ctx: &Context<'_>) -> Result<Self, EngineError> {
        let (mut members, mut starts) = (Vec::new(), Vec::new());
        let mut last = None;
        classes::members(ctx, |leader, member| {
            if last != Some(leader) {
                starts.push(members.len());
                members.push(leader);
                last = Some(leader);
            }
            members.push(member);
            Ok(())
        })?;
        starts.push(members.len());
        Ok(Classes { members, starts })
    }

    /// The sum of what `pairs` says of each two classes that were decided to be near.
    pub(crate) fn count_pairs(
        &self,
        ctx: &Context<'_>,
        pairs: impl Fn(&[u32], &[u32]) -> u64,
    ) -> Result<u64, EngineError> {
        let mut total = 0u64;
        for path in verify::decision_files(ctx)? {
            let mut records = Run::open(&path, Pairs::label(ctx))?.records();
            while let Some(bytes) = records.next()? {
                let (a, b) = uncouple(Pairs.get(bytes).0);
                total = total.saturating_add(pairs(self.of(&a), self.of(&b)));
            }
        }
        Ok(total)
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &[u32]> {
        self.starts.windows(2).map(|ends| &self.members[ends[0]..ends[1]])
    }

    /// The class of the document that leads it; of one without equals just itself.
    pub(crate) fn of<'a>(&'a self, leader: &'a u32) -> &'a [u32] {
        let classes = self.starts.len() - 1;
        let found = self.starts[..classes].binary_search_by_key(leader, |&start| self.members[start]);
        found.map_or(std::slice::from_ref(leader), |index| {
            &self.members[self.starts[index]..self.starts[index + 1]]
        })
    }
}

/// Removals and cluster sizes by the places of documents in the input, for the copies of shards.
pub(crate) struct RemovalLookup {
    removed: RandomAccess,
    sizes: RandomAccess,
    places: PlaceMap,
}

impl RemovalLookup {
    /// Brings removals into the order of the input.
    pub(crate) fn prepare(ctx: &Context<'_>, catalogue: &Catalogue) -> Result<(), EngineError> {
        clear(&ctx.run_location("gone"))?;
        let memory = ctx.budget.free(catalogue.len().into(), 0) as usize / 4;
        let (mut sorter, mut places) =
            (Sorter::new(ctx.run_location("gone"), Couples, memory), PlaceMap::open(ctx)?);
        removals(ctx, |removal| sorter.push(couple(places.place(removal.document)?, removal.document)))?;
        let mut sorted = sorter.sorted()?;
        let mut writer = RunWriter::create(&ctx.file(REMOVED_PLACES), ctx.label("gone", 8))?;
        while let Some(pair) = sorted.next()? {
            writer.push(&pair.to_le_bytes())?;
        }
        writer.finish()
    }

    pub(crate) fn open(ctx: &Context<'_>) -> Result<Self, EngineError> {
        Ok(RemovalLookup {
            removed: RandomAccess::new(Run::open(&ctx.file(REMOVED_PLACES), ctx.label("gone", 8))?),
            sizes: RandomAccess::new(Run::open(&ctx.file(SIZES), ctx.label("sizes", 8))?),
            places: PlaceMap::open(ctx)?,
        })
    }

    /// The places of removed documents from `first` on, below `end`.
    pub(crate) fn removed(&mut self, first: u32, end: u32) -> Result<Vec<u32>, EngineError> {
        let mut found = Vec::new();
        let count = self.removed.count();
        let mut index = lower_bound(&mut self.removed, count, first, |bytes| entry(bytes).0)?;
        while index < count {
            let (place, _) = entry(self.removed.record(index)?);
            if place >= end {
                break;
            }
            found.push(place);
            index += 1;
        }
        Ok(found)
    }

    /// The number of the document at a place.
    pub(crate) fn number(&mut self, place: u32) -> Result<u32, EngineError> {
        self.places.number(place)
    }

    /// Returns the number of documents that a kept one stands for, itself included.
    pub(crate) fn copies(&mut self, kept_document: u32) -> Result<u64, EngineError> {
        let count = self.sizes.count();
        let index = lower_bound(&mut self.sizes, count, kept_document, |bytes| entry(bytes).0)?;
        if index == count {
            return Ok(1);
        }
        let (found, size) = entry(self.sizes.record(index)?);
        Ok(if found == kept_document { size.into() } else { 1 })
    }
}

fn entry(bytes: &[u8]) -> (u32, u32) {
    uncouple(Couples.get(bytes))
}

fn lower_bound(
    access: &mut RandomAccess,
    count: u64,
    wanted: u32,
    key: impl Fn(&[u8]) -> u32,
) -> Result<u64, EngineError> {
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low + (high - low) / 2;
        if key(access.record(middle)?) < wanted {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    Ok(low)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::Shards;
    use crate::sketch::ShardMeta;
    use crate::tests::context::{StageTest, as_lines, decide_pairs, decide_removals};
    use crate::tests::{recipe, settings};
    use crate::{JobRecipe, Settings, Spool};
    use lookalike_corpus::{Origin, Shard};
    use lookalike_model::Similarity;
    use serde_json::{Value, json};
    use std::collections::BTreeSet;

    fn share(name: &str, documents: u64, removed: u64) -> Share {
        Share { name: name.to_owned(), documents, removed }
    }

    fn stages() -> StageCounts {
        StageCounts {
            collapsed: ClassCounts::default(),
            proposed: CandidateCounts::default(),
            tally: Tally::default(),
        }
    }

    /// Writes the tables of `dedup` for removals that were decided.
    fn deduplicated(test: &StageTest, removals: &[(u32, u32, f64)], stages: StageCounts) -> Findings {
        let ctx = test.sketched();
        decide_removals(&ctx, removals);
        dedup(&ctx, &Catalogue::load(&ctx).unwrap(), test.folder(), Outputs::default(), stages).unwrap()
    }

    #[test]
    fn parts_with_most_removals_come_first() {
        let shares =
            vec![share("c", 5, 1), share("b", 9, 1), share("a", 9, 1), share("d", 2, 2), share("e", 99, 0)];
        let names: Vec<String> = top(shares, Share::default()).into_iter().map(|share| share.name).collect();
        assert_eq!(names, ["d", "a", "b", "c", "e"]);
    }

    #[test]
    fn many_parts_end_in_one_row_for_the_rest() {
        let shares = |count: u64| (0..count).map(|n| share(&format!("{n:02}"), 10, n)).collect::<Vec<_>>();
        assert_eq!(top(shares(30), Share::default()).len(), 30);
        let rows = top(shares(33), Share::default());
        assert_eq!((rows.len(), rows[0].removed, rows[29].removed), (31, 32, 3));
        assert_eq!(rows[30], share("3 others", 30, 3));
        let rows = top(shares(33), share("", 7, 4));
        assert_eq!(rows[30], share("3 and more others", 37, 7));
    }

    #[test]
    fn the_largest_clusters_are_kept_and_of_equals_the_first() {
        let cluster = |(cluster, size)| BigCluster { cluster, size, ..BigCluster::default() };
        let mut biggest: Vec<BigCluster> =
            (0..20).map(|n| cluster((n, if n == 19 { 9 } else { 2 }))).collect();
        trim_biggest(&mut biggest);
        let found: Vec<u64> = biggest.iter().map(|cluster| cluster.cluster).collect();
        assert_eq!(found, [19, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    }

    #[test]
    fn pairs_among_documents_are_counted() {
        for (documents, pairs) in [(0, 0), (1, 0), (2, 1), (3, 3), (5, 10)] {
            assert_eq!(pair_count(documents), pairs, "{documents}");
        }
    }

    #[test]
    fn a_document_is_in_no_empty_shard() {
        let shard = Shard::new(Origin::Stdin);
        let meta = ShardMeta {
            records: 0,
            rejected: 0,
            text_bytes: 0,
            format: String::new(),
            skipped: BTreeMap::new(),
            digest: None,
        };
        let view = |(first, records)| ShardView {
            shard: &shard,
            reference: false,
            first,
            records,
            meta: meta.clone(),
        };
        let views = [(0, 0), (0, 3), (3, 0), (3, 2)].map(view);
        let found: Vec<Option<usize>> = (0..6).map(|place| shard_of(&views, place)).collect();
        assert_eq!(found, [Some(1), Some(1), Some(1), Some(3), Some(3), None]);
    }

    #[test]
    fn a_document_without_equals_is_a_class_of_one() {
        let classes = Classes { members: vec![0, 4, 7, 2, 3], starts: vec![0, 3, 5] };
        assert_eq!(classes.of(&0), [0, 4, 7]);
        assert_eq!(classes.of(&2), [2, 3]);
        assert_eq!((classes.of(&1), classes.of(&9)), (&[1][..], &[9][..]));
        assert_eq!(classes.all().map(<[u32]>::len).collect::<Vec<_>>(), [3, 2]);
        let none = Classes { members: vec![], starts: vec![0] };
        assert_eq!((none.all().count(), none.of(&5)), (0, &[5][..]));
    }

    #[test]
    fn classes_are_read_from_their_file() {
        let test = StageTest::new(recipe("md5"), &as_lines(&["a", "b", "a", "c", "b", "a"]));
        let ctx = test.sketched();
        classes::collapse(&ctx, &Catalogue::load(&ctx).unwrap()).unwrap();
        let classes = Classes::load(&ctx).unwrap();
        assert_eq!(classes.all().map(<[u32]>::to_vec).collect::<Vec<_>>(), [vec![0, 2, 5], vec![1, 4]]);
    }

    #[test]
    fn removed_documents_are_written_in_order_with_their_witnesses() {
        let test = StageTest::new(recipe("md5"), &as_lines(&["a", "b", "c", "d", "e"]));
        deduplicated(&test, &[(4, 2, 0.85), (3, 0, 0.9), (1, 0, 1.0)], stages());
        let row = |id: &str, witness: &str, similarity: f64, n: u64, witness_n: u64| json!({"id": id, "witness": witness, "similarity": similarity, "cluster": witness_n, "n": n, "witness_n": witness_n});
        assert_eq!(
            test.rows("removed.jsonl"),
            [row("d1", "d0", 1.0, 1, 0), row("d3", "d0", 0.9, 3, 0), row("d4", "d2", 0.85, 4, 2)]
        );
    }

    #[test]
    fn a_witness_of_the_other_corpus_has_its_number_there() {
        let test = StageTest::against(recipe("md5"), &as_lines(&["a", "b"]), &as_lines(&["c", "d"]));
        let findings = deduplicated(&test, &[(3, 1, 0.9)], stages());
        let removed = test.rows("removed.jsonl");
        assert_eq!((&removed[0]["n"], &removed[0]["witness_n"]), (&json!(1), &json!(1)));
        assert_eq!(removed[0]["against"], "other");
        let clusters = test.rows("clusters.jsonl");
        assert_eq!((&clusters[0]["cluster"], &clusters[0]["against"]), (&json!(1), &json!("other")));
        assert_eq!(clusters[0]["members_n"], json!([1, 1]));
        let summary = findings.summary;
        assert_eq!((summary.documents, summary.against, summary.kept, summary.removed), (2, 2, 1, 1));
    }

    #[test]
    fn clusters_have_their_kept_document_first_and_are_counted_by_size() {
        let test = StageTest::new(recipe("md5"), &as_lines(&["a", "b", "c", "d", "e", "f"]));
        let findings = deduplicated(&test, &[(0, 3, 0.9), (1, 3, 1.0), (4, 2, 0.85), (5, 3, 0.8)], stages());
        let rows = test.rows("clusters.jsonl");
        assert_eq!(
            rows[0],
            json!({"cluster": 2, "keep": "d2", "members": ["d2", "d4"], "members_n": [2, 4]})
        );
        assert_eq!(rows[1]["keep"], "d3");
        assert_eq!(rows[1]["members_n"], json!([0, 1, 3, 5]));
        assert_eq!((findings.summary.clusters, findings.summary.removed, findings.summary.kept), (2, 4, 2));
        assert_eq!(findings.cluster_sizes, [(2, 3, 1), (4, 7, 1)]);
        let biggest: Vec<_> =
            findings.biggest.iter().map(|one| (one.keep.as_str(), one.size, one.members.len())).collect();
        assert_eq!(biggest, [("d3", 4, 4), ("d2", 2, 2)]);
    }

    #[test]
    fn rejected_records_are_written_with_where_they_stand() {
        let lines = "{\"id\":\"a\",\"text\":\"one\"}\n{}\n{\"id\":\"b\",\"text\":\"two\"}\nnothing\n";
        let test = StageTest::new(recipe("md5"), lines);
        let findings = deduplicated(&test, &[], stages());
        let rows = test.rows("rejected.jsonl");
        let positions: Vec<&Value> = rows.iter().map(|row| &row["position"]).collect();
        assert_eq!(positions, [lines.find("{}").unwrap(), lines.find("nothing").unwrap()]);
        assert!(rows.iter().all(|row| row["source"] == "docs.jsonl" && row.get("side").is_none()));
        assert_eq!((findings.summary.documents, findings.summary.rejected, findings.summary.kept), (4, 2, 2));
        assert_eq!(findings.rejections.values().sum::<u64>(), 2);
        let ctx = test.context();
        let catalogue = Catalogue::load(&ctx).unwrap();
        let views = catalogue.shards(&ctx);
        assert_eq!(rejected_records(&ctx, &catalogue, &views[0]).unwrap(), [1, 3]);
    }

    #[test]
    fn rejections_of_both_corpora_are_told_apart() {
        let (left, right) =
            (format!("{}{{}}\n", as_lines(&["a"])), format!("{}{{}}\n{{}}\n", as_lines(&["b", "c"])));
        let test = StageTest::against(recipe("md5"), &left, &right);
        let summary = deduplicated(&test, &[], stages()).summary;
        assert_eq!((summary.rejected, summary.against_rejected), (2, 1));
        let sides: Vec<Value> = test.rows("rejected.jsonl").iter().map(|row| row["side"].clone()).collect();
        assert_eq!(sides, [json!("other"), Value::Null, Value::Null]);
        let counts: Vec<(Option<&str>, u64)> =
            summary.reasons.iter().map(|loss| (loss.side.as_deref(), loss.count)).collect();
        assert_eq!(counts, [(None, 2), (Some("other"), 1)]);
        let ctx = test.context();
        let catalogue = Catalogue::load(&ctx).unwrap();
        let views = catalogue.shards(&ctx);
        assert_eq!(
            views.iter().map(|view| rejected_records(&ctx, &catalogue, view).unwrap()).collect::<Vec<_>>(),
            [vec![1], vec![2, 3]]
        );
    }

    #[test]
    fn removals_are_counted_by_shard_and_by_host() {
        let line =
            |n: u32, url: &str| format!("{{\"id\":\"{n}\",\"url\":\"{url}\",\"text\":\"word {n}\"}}\n");
        let lines =
            [line(0, "http://A.org/1"), line(1, "http://a.org/2"), line(2, "http://b.org"), line(3, "")]
                .concat();
        let test = StageTest::new(recipe("md5"), &lines);
        let findings = deduplicated(&test, &[(1, 0, 1.0), (3, 2, 1.0)], stages());
        assert_eq!(findings.sources, [share("docs.jsonl", 4, 2)]);
        assert_eq!(findings.hosts, [share("a.org", 2, 1), share("b.org", 1, 0)]);
    }

    #[test]
    fn a_pair_is_shown_once_for_the_first_reason() {
        let test = StageTest::new(recipe("md5"), &as_lines(&["a", "b", "c", "d"]));
        let sample = |a, b, similarity| Sample { a, b, similarity };
        let tally = Tally {
            random: vec![sample(0, 1, 0.9)],
            above: vec![sample(0, 1, 0.9), sample(2, 3, 0.8)],
            below: vec![sample(0, 2, 0.7)],
            ..Tally::default()
        };
        let mut findings = deduplicated(&test, &[(1, 0, 0.9)], StageCounts { tally, ..stages() });
        let ctx = test.context();
        read_samples(&ctx, &Catalogue::load(&ctx).unwrap(), &mut findings).unwrap();
        let shown: Vec<_> = findings
            .samples
            .iter()
            .map(|one| (one.section, one.a.id.as_str(), one.b.id.as_str(), one.a.removed, one.b.removed))
            .collect();
        assert_eq!(
            shown,
            [
                (Section::Random, "d0", "d1", false, true),
                (Section::Above, "d2", "d3", false, false),
                (Section::Below, "d0", "d2", false, false)
            ]
        );
        assert_eq!((findings.samples[0].a.text.as_str(), findings.samples[0].b.text.as_str()), ("a", "b"));
        assert_eq!(findings.biggest[0].excerpt, "a");
    }

    #[test]
    fn texts_are_read_again_and_long_ones_cut_between_characters() {
        let long = format!("a{}", "ä".repeat(40_000));
        let lines = as_lines(&["one", "two", &long, "four"]);
        for spool in [Spool::Disk, Spool::Auto] {
            let test = StageTest::of(
                recipe("md5"),
                Some(&as_lines(&["zero"])),
                &lines,
                Settings { spool, ..settings() },
            );
            let ctx = test.sketched();
            let found = texts(&ctx, &Catalogue::load(&ctx).unwrap(), &[0, 2, 3]).unwrap();
            assert_eq!(found.keys().copied().collect::<BTreeSet<u32>>(), BTreeSet::from([0, 2, 3]));
            assert_eq!((found[&0].as_str(), found[&2].as_str()), ("zero", "two"), "{spool:?}");
            assert!(found[&3].len() == SAMPLE_BYTES - 1 && long.starts_with(found[&3].as_str()));
        }
    }

    #[test]
    fn very_long_ids_are_shown_without_their_ends() {
        let id = "é".repeat(600);
        let test = StageTest::new(
            recipe("md5"),
            &format!("{{\"id\":\"{id}\",\"text\":\"a\"}}\n{}", as_lines(&["b"])),
        );
        let ctx = test.sketched();
        let catalogue = Catalogue::load(&ctx).unwrap();
        let mut lookup = Lookup::new(&ctx, &catalogue);
        assert_eq!(shown_id(&mut lookup, 0).unwrap(), format!("{}…", "é".repeat(512)));
        assert_eq!(shown_id(&mut lookup, 1).unwrap(), "d0");
    }

    #[test]
    fn a_row_of_parquet_must_fit_into_memory() {
        let test = StageTest::new(recipe("md5"), &as_lines(&["a"]));
        let mut ctx = test.sketched();
        let catalogue = Catalogue::load(&ctx).unwrap();
        let admit = |ctx: &Context<'_>, members: usize| {
            admit_row(ctx, &catalogue, &mut Lookup::new(ctx, &catalogue), &vec![0; members])
        };
        assert!(admit(&ctx, LONG_ROW + 1).is_ok());
        ctx.budget.reserve(ctx.budget.reservable() - 1024, "nearly all").unwrap();
        assert!(admit(&ctx, LONG_ROW).is_ok(), "short rows are not looked at");
        let error = admit(&ctx, LONG_ROW + 1).unwrap_err().to_string();
        assert!(error.contains("a row of 65537 documents in a Parquet table"), "{error}");
    }

    #[test]
    fn notes_say_what_a_reader_should_know() {
        let notes = |recipe: JobRecipe, stages: &StageCounts| {
            let test = StageTest::new(recipe, &as_lines(&["a"]));
            let ctx = test.sketched();
            begin(&ctx, &Catalogue::load(&ctx).unwrap(), stages).notes
        };
        assert_eq!(notes(recipe("md5"), &stages()), [] as [String; 0]);
        let unverified = notes(JobRecipe { verified: false, ..recipe("md5") }, &stages());
        assert!(unverified[0].starts_with("Pairs were not measured"), "{unverified:?}");
        let own = notes(JobRecipe { verified: false, ..recipe("decomposition") }, &stages());
        assert!(own[0].starts_with("Pairs count by the word of their methods alone"), "{own:?}");
        let merged = notes(JobRecipe { cluster: ClusterRule::Components, ..recipe("md5") }, &stages());
        assert!(merged[0].starts_with("Whole components were merged"), "{merged:?}");
        let counted = StageCounts {
            collapsed: ClassCounts { duplicate_ids: 3, ..ClassCounts::default() },
            proposed: CandidateCounts { giant_groups: 2, ..CandidateCounts::default() },
            ..stages()
        };
        let found = notes(recipe("md5"), &counted);
        assert!(found[0].starts_with("2 groups of more than 1000 documents"), "{found:?}");
        assert!(found[1].starts_with("3 documents bear an id"), "{found:?}");
        assert_eq!(notes(JobRecipe { task: Task::Compare, ..recipe("md5") }, &counted), [] as [String; 0]);
    }

    #[test]
    fn measured_pairs_count_only_where_they_were_verified() {
        let summary = |verified| {
            let test = StageTest::new(JobRecipe { verified, ..recipe("md5") }, &as_lines(&["a"]));
            let ctx = test.sketched();
            let tally = Tally { verified: 5, hops: 2, reached: 4, ..Tally::default() };
            let findings = begin(&ctx, &Catalogue::load(&ctx).unwrap(), &StageCounts { tally, ..stages() });
            (findings.summary.verified, findings.reached)
        };
        assert_eq!((summary(true), summary(false)), ((7, 4), (0, 4)));
    }

    #[test]
    fn removals_and_copies_are_found_by_places() {
        let test = StageTest::new(recipe("md5"), &as_lines(&["a", "b", "c", "d", "e"]));
        deduplicated(&test, &[(1, 0, 1.0), (2, 0, 0.9), (4, 3, 0.9)], stages());
        let ctx = test.context();
        RemovalLookup::prepare(&ctx, &Catalogue::load(&ctx).unwrap()).unwrap();
        let mut lookup = RemovalLookup::open(&ctx).unwrap();
        assert_eq!(lookup.removed(0, 5).unwrap(), [1, 2, 4]);
        assert_eq!(lookup.removed(2, 4).unwrap(), [2]);
        assert_eq!(lookup.removed(3, 4).unwrap(), [] as [u32; 0]);
        assert_eq!([0, 1, 3, 4].map(|kept| lookup.copies(kept).unwrap()), [3, 1, 2, 1]);
        assert_eq!(lookup.number(3).unwrap(), 3);
    }

    #[test]
    fn tables_of_pairs_are_named_by_format_and_compression() {
        assert_eq!(pairs_name(Outputs::default()), "pairs.jsonl");
        assert_eq!(pairs_name(Outputs { suffix: ".zst", ..Outputs::default() }), "pairs.jsonl.zst");
        let parquet = Outputs { format: RowFormat::Parquet, write: Shards::None, ..Outputs::default() };
        assert_eq!(pairs_name(parquet), "pairs.parquet");
    }

    /// Writes the tables of `pairs` for what was decided.
    fn paired(test: &StageTest, decided: &[(u32, u32, f64, f64, u16)]) -> Findings {
        let ctx = test.sketched();
        let catalogue = Catalogue::load(&ctx).unwrap();
        classes::collapse(&ctx, &catalogue).unwrap();
        candidates::import(&ctx, std::iter::empty(), 0).unwrap();
        decide_pairs(&ctx, decided);
        pairs(&ctx, &catalogue, test.folder(), Outputs::default(), stages()).unwrap()
    }

    /// `(a, b, similarity)` of all rows.
    fn rows_of(test: &StageTest) -> Vec<(String, String, f64)> {
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let row = |row: &Value| (text(&row["a"]), text(&row["b"]), row["similarity"].as_f64().unwrap());
        test.rows("pairs.jsonl").iter().map(row).collect()
    }

    fn named(rows: &[(u32, u32, f64)]) -> Vec<(String, String, f64)> {
        rows.iter().map(|(a, b, similarity)| (format!("d{a}"), format!("d{b}"), *similarity)).collect()
    }

    #[test]
    fn a_pair_of_classes_is_one_of_all_their_documents() {
        let test = StageTest::new(
            JobRecipe { task: Task::Pairs, ..recipe("md5") },
            &as_lines(&["a", "b", "a", "c"]),
        );
        let findings = paired(&test, &[(0, 1, 0.9, 0.9, NEAR | NEAR_BACK)]);
        assert_eq!(rows_of(&test), named(&[(0, 1, 0.9), (0, 2, 1.0), (1, 2, 0.9)]));
        assert_eq!((findings.summary.pairs, findings.summary.giant_groups), (Some(3), 0));
        assert_eq!(test.rows("groups.jsonl"), [] as [Value; 0]);
    }

    #[test]
    fn similarities_both_ways_turn_round_with_their_documents() {
        let recipe = JobRecipe { task: Task::Pairs, similarity: Similarity::Containment, ..recipe("md5") };
        let test = StageTest::new(recipe, &as_lines(&["a", "b", "a"]));
        paired(&test, &[(0, 1, 0.9, 0.5, NEAR)]);
        let rows: Vec<[Value; 4]> = test
            .rows("pairs.jsonl")
            .iter()
            .map(|row| ["a", "b", "similarity", "reverse"].map(|name| row[name].clone()))
            .collect();
        assert_eq!(rows[0], [json!("d0"), json!("d1"), json!(0.9), json!(0.5)]);
        assert_eq!(rows[2], [json!("d1"), json!("d2"), json!(0.5), json!(0.9)]);
    }

    #[test]
    fn classes_that_make_too_many_pairs_are_written_as_groups() {
        let recipe = JobRecipe { task: Task::Pairs, max_group: 2, ..recipe("md5") };
        let test = StageTest::new(recipe, &as_lines(&["a", "b", "a", "c", "c", "c"]));
        let findings = paired(&test, &[(0, 1, 0.9, 0.9, NEAR | NEAR_BACK)]);
        assert_eq!(rows_of(&test), named(&[(0, 2, 1.0)]));
        assert_eq!((findings.summary.pairs, findings.summary.giant_groups), (Some(1), 2));
        let groups = test.rows("groups.jsonl");
        assert_eq!(
            groups,
            [
                json!({"documents": 3, "pairs": 2, "equal": false, "members": ["d0", "d1", "d2"], "members_n": [0, 1, 2]}),
                json!({"documents": 3, "pairs": 3, "equal": true, "members": ["d3", "d4", "d5"], "members_n": [3, 4, 5]})
            ]
        );
    }

    #[test]
    fn equal_documents_are_no_pairs_by_the_word_of_a_method_without_a_signature() {
        // Words as short as these are none to this method.
        for (text, verified, pairs) in [("of the", true, 1), ("of the", false, 0), ("many roses", false, 1)] {
            let recipe = JobRecipe { task: Task::Pairs, verified, ..recipe("a0") };
            let test = StageTest::new(recipe, &as_lines(&[text, text]));
            assert_eq!(paired(&test, &[]).summary.pairs, Some(pairs), "{text} {verified}");
        }
    }

    #[test]
    fn lines_of_pairs_are_as_long_as_their_ids() {
        let test = StageTest::new(recipe("md5"), &as_lines(&["a", "b"]));
        let ctx = test.sketched();
        let expected = "{\"a\":\"d0\",\"b\":\"d1\",\"similarity\":0.8}\n".len() as u64;
        assert_eq!(line_bytes(&ctx, &Catalogue::load(&ctx).unwrap()).unwrap(), expected);
    }
}
