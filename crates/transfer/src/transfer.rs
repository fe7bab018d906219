//! A transfer: judged documents of an old corpus found in a new one, and their judgments with them.
//!
//! Judged documents are copied, and the copy is the left side of a comparison; their near-duplicates on the right side
//! take over their judgments. Judgments and near-duplicates of judged documents are in memory, some hundred bytes each;
//! documents never are.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::Path;

use lookalike::corpus::Compression;
use lookalike::corpus::write::Sink;
use lookalike::corpus::write::rows::{RowFormat, RowWriter};
use lookalike::engine::compared::{Match, Side};
use lookalike::engine::{Findings, JobRecipe};
use lookalike::judgments::{Judgments, judged_documents};
use lookalike::selected::{RejectedRecord, SelectedDocuments};
use lookalike::tables::Table;
use lookalike::tables::mapping::{self, MappingRow};
use lookalike::tables::missing::{self, MissingRow};
use lookalike::tables::rejected::RejectedRow;
use lookalike::tables::review::ReviewRow;
use lookalike::walk::Watch;
use lookalike_overlap::address::normal;
use lookalike_overlap::canonical::canonical;
use serde::Serialize;

use crate::compare::{self, Comparison, ComparisonSettings, names};
use crate::compared::ComparisonSource;
use crate::coverage::{self, Track};
use crate::error::TransferError;
use crate::moved::{Matches, MovedJudgments, NearDuplicate, NearDuplicates, move_judgments};
use crate::sample::{Sample, SampledPair};

/// The input and the settings of a transfer.
#[derive(Debug)]
pub struct Request<'r> {
    /// The judgments.
    pub files: &'r [Judgments],
    /// Judged documents that the old corpus does not have, ascending.
    pub missing: &'r [String],
    /// Documents of the old corpus beyond the first of a judged id.
    pub repeated: u64,
    /// Records of the old corpus that could not be read.
    pub rejected: u64,
    /// The near-duplicates that judgments move to.
    pub matches: Matches,
    /// The number of found documents drawn for review, by method.
    pub sample: usize,
    /// Seed of the draw.
    pub seed: u64,
    /// Most bytes that near-duplicates of judged documents may take in memory.
    pub memory: u64,
}

/// The result of a transfer.
#[derive(Debug)]
pub struct Transfer {
    /// The comparison of judged documents with the new corpus.
    pub comparison: Comparison,
    /// By file of judgments.
    pub moved: Vec<MovedJudgments>,
    /// The same in numbers.
    pub tracks: Vec<Track>,
    /// The judged documents by the way they were found.
    pub found_by: FoundBy,
    /// Judged documents that the old corpus does not have.
    pub missing: u64,
    /// Judged documents.
    pub judged: u64,
    /// Documents of the old corpus beyond the first of a judged id, which are left out.
    pub repeated: u64,
    /// Records of the old corpus that could not be read.
    pub rejected: u64,
    /// Near-duplicates whose ids cannot stand in a column of judgments.
    pub unwritable: u64,
    /// Topics that are in several files.
    pub topics_in_several_files: u64,
}

/// The relation of the address of a near-duplicate to that of the judged document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Relation {
    Same,
    Canonical,
    Different,
    Unknown,
}

impl Relation {
    fn of(old: Option<&str>, new: Option<&str>) -> Self {
        match (old, new) {
            (Some(old), Some(new)) if normal(old) == normal(new) => Relation::Same,
            (Some(old), Some(new)) if canonical(old) == canonical(new) => Relation::Canonical,
            (Some(_), Some(_)) => Relation::Different,
            _ => Relation::Unknown,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Relation::Same => "same",
            Relation::Canonical => "canonical",
            Relation::Different => "different",
            Relation::Unknown => "unknown",
        }
    }
}

/// A number of documents, and of their judgments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct DocumentsAndJudgments {
    /// Judged documents.
    pub documents: u64,
    /// Their judgments.
    pub judgments: u64,
}

/// Judged documents by the way they were found in the new corpus.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct FoundBy {
    /// The address is there, but no near-duplicate is.
    pub address_only: DocumentsAndJudgments,
    /// A near-duplicate is there, but not the address.
    pub content_only: DocumentsAndJudgments,
    /// Both are.
    pub both: DocumentsAndJudgments,
    /// Neither is.
    pub neither: DocumentsAndJudgments,
}

/// The id and the address of a judged document of the old corpus.
#[derive(Default)]
struct OldDocument {
    id: String,
    url: Option<String>,
}

/// The best near-duplicate of a judged document.
#[derive(Clone, Copy)]
struct BestMatch {
    right: u32,
    similarity: f64,
    relation: Relation,
}

impl BestMatch {
    /// Of several that are as similar, the one at the same address is the best, then the first.
    fn is_worse_than(&self, other: &BestMatch) -> bool {
        let order = self.similarity.total_cmp(&other.similarity);
        order.is_lt() || order.is_eq() && other.relation < self.relation
    }
}

/// Writes the table of near-duplicates, and keeps what judgments need of them.
struct MappingWriter<'m> {
    old_documents: &'m [OldDocument],
    best: &'m [Option<BestMatch>],
    rows: RowWriter,
    near_duplicates: NearDuplicates,
    matches: Matches,
    /// Bytes that near-duplicates take, about, and may take.
    near_duplicate_bytes: u64,
    most: u64,
    unwritable: u64,
}

impl MappingWriter<'_> {
    fn push(&mut self, settings: &ComparisonSettings, found: &Match<'_>) -> Result<(), TransferError> {
        let left = found.left.n as usize;
        let Some(best) = self.best[left].filter(|_| found.near) else { return Ok(()) };
        let (old, is_best) = (&self.old_documents[left], best.right == found.right.n);
        let row = MappingRow {
            old: &old.id,
            new: found.right.id,
            similarity: Some(found.similarity),
            url: Relation::of(old.url.as_deref(), found.right.url).name(),
            best: is_best,
            old_url: old.url.as_deref(),
            new_url: found.right.url,
            segment: compare::name(settings, settings.segments.of(found.right.place)),
            methods: &names(settings, found.methods),
        };
        self.rows.push(&row.cells())?;
        if !is_best && self.matches == Matches::Best {
            return Ok(());
        }
        if !is_one_column(found.right.id) {
            self.unwritable += 1;
            return Ok(());
        }
        self.near_duplicate_bytes += found.right.id.len() as u64 + 64;
        if self.near_duplicate_bytes > self.most {
            let instead = if self.matches == Matches::All { ", or take --matches best" } else { "" };
            return Err(TransferError::Request(format!(
                "the near-duplicates of judged documents take more than {} MB; give more --memory{instead}",
                self.most >> 20
            )));
        }
        let near_duplicate =
            NearDuplicate { document: found.right.id.to_owned(), similarity: found.similarity };
        self.near_duplicates.entry(old.id.clone()).or_default().push(near_duplicate);
        Ok(())
    }
}

/// True for an id that fits into a column: columns are divided by blanks.
fn is_one_column(id: &str) -> bool {
    !id.is_empty() && !id.contains(char::is_whitespace)
}

/// Numbers files of one name in different folders.
pub fn make_names_unique(files: &mut [Judgments]) {
    let mut tracks: Vec<String> = files.iter().map(|file| file.track.clone()).collect();
    lookalike::request::number_duplicates(&mut tracks, "-");
    files.iter_mut().zip(tracks).for_each(|(file, track)| file.track = track);
}

/// Moves all judgments and writes the tables. The judged documents are the left side of what was compared.
pub fn run(
    open: &impl ComparisonSource,
    request: &Request<'_>,
    settings: ComparisonSettings,
    watch: &Watch,
) -> Result<Transfer, TransferError> {
    let Request { files, matches, .. } = *request;
    let folder = open.folder();
    let old_documents = old_documents(open, watch)?;
    let recipe = open.recipe().to_toml();
    let create = |table: Table| table.create(folder, RowFormat::Jsonl, &recipe);
    let mut sample = Sample::new(request.sample, settings.methods.len(), request.seed);
    let mut best: Vec<Option<BestMatch>> = vec![None; old_documents.len()];
    let comparison = compare::count(open, settings, watch, |_, found, _| {
        sample.add(found);
        let relation = Relation::of(old_documents[found.left.n as usize].url.as_deref(), found.right.url);
        let this = BestMatch { right: found.right.n, similarity: found.similarity, relation };
        let slot = &mut best[found.left.n as usize];
        if found.near && slot.is_none_or(|before| before.is_worse_than(&this)) {
            *slot = Some(this);
        }
        Ok(())
    })?;
    // Once more, now that it is known which is the best: a judged document may have any number of near-duplicates.
    let mut mapping = MappingWriter {
        old_documents: &old_documents,
        best: &best,
        rows: create(mapping::TABLE)?,
        near_duplicates: NearDuplicates::new(),
        matches,
        near_duplicate_bytes: 0,
        most: request.memory,
        unwritable: 0,
    };
    open.matches(watch, &mut |found| mapping.push(&comparison.settings, found))?;
    let MappingWriter { rows, mut near_duplicates, unwritable, .. } = mapping;
    rows.finish()?;
    near_duplicates
        .values_mut()
        .for_each(|near_duplicates| near_duplicates.sort_by(|a, b| b.similarity.total_cmp(&a.similarity)));
    let moved: Vec<MovedJudgments> =
        files.iter().map(|file| move_judgments(file, &near_duplicates, matches)).collect::<Result<_, _>>()?;
    let topics_in_several_files = topics_in_several(files);
    write_judgments(open, files, &moved, topics_in_several_files == 0)?;
    write_conflicts(open, &moved)?;
    open.write("topics.tsv", coverage::table(files, &moved).as_bytes())?;
    write_review(open, &comparison, &old_documents, sample.finish(), watch)?;
    write_missing(files, request.missing, create(missing::TABLE)?)?;
    let tracks = files.iter().zip(&moved).map(|(file, moved)| coverage::track(file, moved)).collect();
    Ok(Transfer {
        found_by: found_by(files, &old_documents, &best, &comparison),
        repeated: request.repeated,
        rejected: request.rejected,
        judged: judged_documents(files).len() as u64,
        missing: request.missing.len() as u64,
        topics_in_several_files,
        unwritable,
        comparison,
        moved,
        tracks,
    })
}

/// Returns the judged documents that the old corpus has, by their numbers; of one that no method reads nothing is known.
fn old_documents(open: &impl ComparisonSource, watch: &Watch) -> Result<Vec<OldDocument>, TransferError> {
    let mut old_documents: Vec<OldDocument> = Vec::new();
    open.lefts(watch, &mut |document| {
        old_documents.resize_with(document.n as usize, OldDocument::default);
        old_documents.push(OldDocument { id: document.id.to_owned(), url: document.url.map(str::to_owned) });
    })?;
    Ok(old_documents)
}

/// Puts what could not be read of the old corpus before the rejections of the job, which has seen judged documents alone.
pub fn add_rejections(folder: &Path, selected: &SelectedDocuments) -> Result<(), TransferError> {
    let path = folder.join("rejected.jsonl");
    let failed = |source| TransferError::write(&path, source);
    let mut of_job = std::fs::File::open(&path).map_err(failed)?;
    let mut sink = Sink::create(&path, Compression::None)?;
    let mut line = Vec::new();
    selected
        .rejections(|rejection| {
            let RejectedRecord { source, position, reason, .. } = rejection;
            let row = RejectedRow { source, position: *position, reason, side: Some("left"), id: None };
            line.clear();
            row.push_line(&mut line);
            sink.write_all(&line)
        })
        .map_err(failed)?;
    std::io::copy(&mut of_job, &mut sink).map_err(failed)?;
    Ok(sink.finish()?)
}

/// The new judgments: each file in its own layout, and all together unless a topic is in several files, where it may be another.
fn write_judgments(
    open: &impl ComparisonSource,
    files: &[Judgments],
    moved: &[MovedJudgments],
    together: bool,
) -> Result<(), TransferError> {
    let text = |moved: &MovedJudgments| -> String {
        moved.judgments.iter().map(|judgment| format!("{}\n", judgment.text())).collect()
    };
    if let [moved] = moved {
        return open.write("qrels.txt", text(moved).as_bytes());
    }
    let folder = open.folder().join("qrels");
    std::fs::create_dir_all(&folder).map_err(|error| TransferError::write(&folder, error))?;
    let mut all = String::new();
    for (file, moved) in files.iter().zip(moved) {
        open.write(&format!("qrels/{}.txt", file.track), text(moved).as_bytes())?;
        for judgment in &moved.judgments {
            let [topic, document, label] = [judgment.topic(), judgment.document(), judgment.label()];
            all.push_str(&format!("{topic} {} {document} {label}\n", judgment.subtopic().unwrap_or("0")));
        }
    }
    if together {
        open.write("qrels.txt", all.as_bytes())?;
    }
    Ok(())
}

fn write_conflicts(open: &impl ComparisonSource, moved: &[MovedJudgments]) -> Result<(), TransferError> {
    let mut lines = Vec::new();
    for conflict in moved.iter().flat_map(|moved| &moved.conflicts) {
        serde_json::to_writer(&mut lines, conflict).expect("memory can be written");
        lines.push(b'\n');
    }
    open.write("conflicts.jsonl", &lines)
}

fn write_review(
    open: &impl ComparisonSource,
    comparison: &Comparison,
    old_documents: &[OldDocument],
    sampled: Vec<(SampledPair, Vec<usize>)>,
    watch: &Watch,
) -> Result<(), TransferError> {
    let ends = |(pair, _): &(SampledPair, Vec<usize>)| [(Side::Left, pair.left), (Side::Right, pair.right)];
    let documents: Vec<(Side, u32)> = sampled.iter().flat_map(ends).collect();
    let (ids, texts) = open.names_and_texts(watch, &documents)?;
    let text = |side, n| texts.get(&(side, n)).map_or("", String::as_str);
    let mut lines = Vec::new();
    for (n, (pair, methods)) in sampled.into_iter().enumerate() {
        let methods: Vec<&str> =
            methods.iter().map(|&method| comparison.settings.methods[method].as_str()).collect();
        let row = ReviewRow {
            n: n as u64,
            a: &old_documents[pair.left as usize].id,
            b: ids.get(&(Side::Right, pair.right)).map_or("", String::as_str),
            similarity: Some(pair.similarity).filter(|similarity| similarity.is_finite()),
            methods: &methods,
            text_a: text(Side::Left, pair.left),
            text_b: text(Side::Right, pair.right),
        };
        serde_json::to_writer(&mut lines, &row).expect("memory can be written");
        lines.push(b'\n');
    }
    open.write("review.jsonl", &lines)
}

/// Lists judged documents that the old corpus does not have.
fn write_missing(files: &[Judgments], missing: &[String], mut rows: RowWriter) -> Result<(), TransferError> {
    for one in judged_documents(files)
        .iter()
        .filter(|one| missing.binary_search_by(|id| id.as_str().cmp(one.document)).is_ok())
    {
        let tracks: BTreeSet<&str> =
            one.occurrences.iter().map(|&(file, _)| files[file].track.as_str()).collect();
        let tracks: Vec<&str> = tracks.into_iter().collect();
        let judgments = one.occurrences.len() as u64;
        rows.push(&MissingRow { document: one.document, judgments, tracks: &tracks }.cells())?;
    }
    Ok(rows.finish()?)
}

fn found_by(
    files: &[Judgments],
    old_documents: &[OldDocument],
    best: &[Option<BestMatch>],
    comparison: &Comparison,
) -> FoundBy {
    let numbers: BTreeMap<&str, usize> =
        old_documents.iter().enumerate().map(|(n, old)| (old.id.as_str(), n)).collect();
    let mut found_by = FoundBy::default();
    for one in judged_documents(files) {
        let Some(&n) = numbers.get(one.document) else { continue };
        let counts = match (comparison.shared.has(n as u32), best[n].is_some()) {
            (true, false) => &mut found_by.address_only,
            (false, true) => &mut found_by.content_only,
            (true, true) => &mut found_by.both,
            (false, false) => &mut found_by.neither,
        };
        counts.documents += 1;
        counts.judgments += one.occurrences.len() as u64;
    }
    found_by
}

fn topics_in_several(files: &[Judgments]) -> u64 {
    let mut times: BTreeMap<&str, u64> = BTreeMap::new();
    for topic in files.iter().flat_map(Judgments::topics) {
        *times.entry(topic).or_default() += 1;
    }
    times.values().filter(|times| **times > 1).count() as u64
}

/// `summary.json` of a transfer.
#[derive(Debug, Serialize)]
pub struct Summary {
    /// Judged documents.
    pub judged: u64,
    /// Those that the old corpus does not have; `missing.jsonl` lists them.
    pub missing: u64,
    /// Documents beyond the first of a judged id, which are left out.
    pub repeated: u64,
    /// Records of the old corpus that could not be read.
    pub old_rejected: u64,
    /// Near-duplicates whose ids have blanks and cannot stand in a column of judgments.
    pub unwritable: u64,
    /// The judged documents by the way they were found.
    pub moved_by: FoundBy,
    /// By file of judgments.
    pub tracks: Vec<Track>,
    /// Judgments of the new corpus.
    pub written: u64,
    /// Meetings of judgments in which grades differed; `conflicts.jsonl` lists them.
    pub conflicts: u64,
    /// Topics that are in several files.
    pub topics_in_several_files: u64,
    /// The near-duplicates that judgments moved to: `best` or `all`.
    pub matches: &'static str,
    /// A digest of the request.
    #[serde(rename = "asked")]
    pub request_digest: String,
    /// The comparison of judged documents, the left side, with the new corpus.
    #[serde(flatten)]
    pub comparison: compare::Summary,
}

impl Transfer {
    /// Judgments of the new corpus.
    pub fn written(&self) -> u64 {
        self.tracks.iter().map(|track| track.written).sum()
    }

    /// Meetings of judgments in which grades differed.
    pub fn conflicts(&self) -> u64 {
        self.tracks.iter().map(|track| track.conflicts).sum()
    }

    /// Returns the summary for `summary.json`; `request_digest` is the digest of the request, by which a later run recognizes the same request.
    pub fn summary(
        &self,
        recipe: &JobRecipe,
        findings: &Findings,
        matches: Matches,
        request_digest: String,
    ) -> Summary {
        Summary {
            judged: self.judged,
            missing: self.missing,
            repeated: self.repeated,
            old_rejected: self.rejected,
            unwritable: self.unwritable,
            moved_by: self.found_by,
            tracks: self.tracks.clone(),
            written: self.written(),
            conflicts: self.conflicts(),
            topics_in_several_files: self.topics_in_several_files,
            matches: if matches == Matches::Best { "best" } else { "all" },
            request_digest,
            comparison: self.comparison.summary(recipe, findings),
        }
    }
}
