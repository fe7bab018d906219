//! A transfer: judged documents of an old corpus found in a new one, and their judgments with them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use lookalike::corpus::write::rows::{Cell, Column, Kind, RowFormat, RowWriter};
use lookalike::engine::compared::{Match, Side};
use lookalike::engine::shelf::Shelf;
use lookalike::engine::{EngineError, Findings, JobRecipe, OpenJob};
use lookalike::judgments::{Judgments, judged};
use lookalike::walk::Watch;
use lookalike_overlap::address::normal;
use lookalike_overlap::canonical::canonical;
use serde::Serialize;

use crate::compare::{self, Comparison, Wanted, names};
use crate::coverage::{self, Track};
use crate::error::TransferError;
use crate::moved::{Heir, Heirs, Matches, Moved, moved};
use crate::sample::{Drawn, Sample};

/// What is asked for.
#[derive(Debug)]
pub struct Request<'r> {
    /// The judgments.
    pub files: &'r [Judgments],
    /// The judged documents of the old corpus: the left side of the job.
    pub shelf: &'r Shelf,
    /// Where judgments go.
    pub matches: Matches,
    /// How many found documents are drawn for a person, by method.
    pub sample: usize,
    /// Seed of the draw.
    pub seed: u64,
    /// Most bytes that near-duplicates of judged documents may take in memory.
    pub memory: u64,
}

/// What came of it.
#[derive(Debug)]
pub struct Transfer {
    /// The comparison of judged documents with the new corpus.
    pub comparison: Comparison,
    /// By file of judgments.
    pub moved: Vec<Moved>,
    /// The same in numbers.
    pub tracks: Vec<Track>,
    /// How judged documents were found.
    pub ways: Ways,
    /// Judged documents that the old corpus does not have.
    pub missing: u64,
    /// Judged documents.
    pub judged: u64,
    /// Judged documents that come several times in the old corpus.
    pub repeated: u64,
    /// Ids of judged documents that documents of the new corpus bear, too.
    pub common_ids: u64,
    /// Topics that are in several files.
    pub topics_in_several_files: u64,
}

/// How the address of a near-duplicate is related to that of the judged document.
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

/// How many documents, and how many judgments of theirs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Both {
    /// Judged documents.
    pub documents: u64,
    /// Their judgments.
    pub judgments: u64,
}

/// By what judged documents were found in the new corpus.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Ways {
    /// The address is there, but no near-duplicate is.
    pub address_only: Both,
    /// A near-duplicate is there, but not the address.
    pub content_only: Both,
    /// Both are.
    pub both: Both,
    /// Neither is.
    pub neither: Both,
}

const MAPPING: &[Column] = &[
    Column::new("old", Kind::Text),
    Column::new("new", Kind::Text),
    Column::new("similarity", Kind::OptionalF64),
    Column::new("url", Kind::Text),
    Column::new("best", Kind::Bool),
    Column::new("old_url", Kind::OptionalText).omit_if_none(),
    Column::new("new_url", Kind::OptionalText).omit_if_none(),
    Column::new("segment", Kind::OptionalText).omit_if_none(),
    Column::new("methods", Kind::ListOfText),
];

const MISSING: &[Column] = &[
    Column::new("document", Kind::Text),
    Column::new("judgments", Kind::U64),
    Column::new("tracks", Kind::ListOfText),
];

/// What is known of a judged document.
struct Old {
    id: String,
    url: Option<String>,
}

/// A near-duplicate of the judged document at hand.
struct Near {
    id: String,
    url: Option<String>,
    right: u32,
    similarity: f64,
    relation: Relation,
    methods: u8,
    segment: usize,
}

/// Writes the tables of near-duplicates, and keeps what judgments need of them.
struct Mapper<'m> {
    olds: &'m [Old],
    rows: RowWriter,
    heirs: Heirs,
    matches: Matches,
    /// Bytes that heirs take, about, and may take.
    taken: u64,
    most: u64,
    at: Option<(u32, Vec<Near>)>,
}

impl Mapper<'_> {
    fn take(&mut self, wanted: &Wanted, found: &Match<'_>, segment: usize) -> Result<(), TransferError> {
        if self.at.as_ref().is_some_and(|(left, _)| *left != found.left.n) {
            self.close(wanted)?;
        }
        if !found.near {
            return Ok(());
        }
        let old = &self.olds[found.left.n as usize];
        let near = Near {
            id: found.right.id.to_owned(),
            url: found.right.url.map(str::to_owned),
            right: found.right.n,
            similarity: found.similarity,
            relation: Relation::of(old.url.as_deref(), found.right.url),
            methods: found.methods,
            segment,
        };
        self.at.get_or_insert_with(|| (found.left.n, Vec::new())).1.push(near);
        Ok(())
    }

    fn close(&mut self, wanted: &Wanted) -> Result<(), TransferError> {
        let Some((left, mut near)) = self.at.take() else { return Ok(()) };
        let old = &self.olds[left as usize];
        // Of several that are as similar, the one at the same address is the best, then the first.
        near.sort_by(|a, b| {
            b.similarity.total_cmp(&a.similarity).then((a.relation, a.right).cmp(&(b.relation, b.right)))
        });
        for (place, one) in near.iter().enumerate() {
            self.rows.push(&[
                Cell::Text(&old.id),
                Cell::Text(&one.id),
                Cell::OptionalF64(Some(one.similarity)),
                Cell::Text(one.relation.name()),
                Cell::Bool(place == 0),
                Cell::OptionalText(old.url.as_deref()),
                Cell::OptionalText(one.url.as_deref()),
                Cell::OptionalText(compare::name(wanted, one.segment)),
                Cell::ListOfText(&names(wanted, one.methods)),
            ])?;
        }
        let kept = if self.matches == Matches::Best { 1 } else { near.len() };
        let heirs = self.heirs.entry(old.id.clone()).or_default();
        for Near { id, similarity, .. } in near.into_iter().take(kept) {
            self.taken += id.len() as u64 + 64;
            heirs.push(Heir { document: id, similarity });
        }
        // A document that comes several times in the old corpus has the near-duplicates of all.
        heirs.sort_by(|a, b| b.similarity.total_cmp(&a.similarity));
        let mut seen = BTreeSet::new();
        heirs.retain(|heir| seen.insert(heir.document.clone()));
        if self.taken > self.most {
            return Err(TransferError::Request(format!(
                "the near-duplicates of judged documents take more than {} MB; give more --memory, or take --matches best",
                self.most >> 20
            )));
        }
        Ok(())
    }
}

/// Moves all judgments and writes the tables.
pub fn run(
    open: &OpenJob,
    folder: &Path,
    request: &Request<'_>,
    wanted: Wanted,
    watch: &Watch,
) -> Result<Transfer, TransferError> {
    let olds = olds(request.shelf)?;
    let recipe = open.recipe().to_toml();
    let create =
        |name: &str, columns| RowWriter::create(&folder.join(name), RowFormat::Jsonl, columns, &recipe);
    let mut sample = Sample::new(request.sample, wanted.methods.len(), request.seed);
    let mut mapper = Mapper {
        olds: &olds,
        rows: create("mapping.jsonl", MAPPING)?,
        heirs: Heirs::new(),
        matches: request.matches,
        taken: 0,
        most: request.memory,
        at: None,
    };
    let comparison = compare::count(open, wanted, watch, |wanted, found, segment| {
        sample.take(found);
        mapper.take(wanted, found, segment)
    })?;
    mapper.close(&comparison.wanted)?;
    let Mapper { rows, heirs, .. } = mapper;
    rows.finish()?;
    let moved: Vec<Moved> =
        request.files.iter().map(|file| moved(file, &heirs, request.matches)).collect::<Result<_, _>>()?;
    write_judgments(open, request.files, &moved)?;
    write_conflicts(open, &moved)?;
    open.write("topics.tsv", coverage::table(request.files, &moved).as_bytes())?;
    write_review(open, &comparison, &olds, sample.finish(), watch)?;
    let missing = write_missing(request.files, &olds, create("missing.jsonl", MISSING)?)?;
    let tracks = request.files.iter().zip(&moved).map(|(file, moved)| coverage::track(file, moved)).collect();
    let all = judged(request.files);
    let distinct: BTreeSet<&str> = olds.iter().map(|old| old.id.as_str()).collect();
    Ok(Transfer {
        ways: ways(request.files, &olds, &heirs, &comparison),
        common_ids: common_ids(open, &distinct, watch)?,
        repeated: (olds.len() - distinct.len()) as u64,
        judged: all.len() as u64,
        topics_in_several_files: topics_in_several(request.files),
        comparison,
        moved,
        tracks,
        missing,
    })
}

fn olds(shelf: &Shelf) -> Result<Vec<Old>, TransferError> {
    let old = |n: u32| -> Result<Old, TransferError> {
        let line = shelf.line(n)?;
        Ok(Old { id: line.name, url: line.url })
    };
    (0..shelf.len() as u32).map(old).collect()
}

/// The new judgments: each file in its own layout, and all together.
fn write_judgments(open: &OpenJob, files: &[Judgments], moved: &[Moved]) -> Result<(), TransferError> {
    let text = |moved: &Moved| -> String {
        moved.judgments.iter().map(|judgment| format!("{}\n", judgment.text())).collect()
    };
    if let [moved] = moved {
        return Ok(open.write("qrels.txt", text(moved).as_bytes())?);
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
    Ok(open.write("qrels.txt", all.as_bytes())?)
}

fn write_conflicts(open: &OpenJob, moved: &[Moved]) -> Result<(), TransferError> {
    let mut lines = Vec::new();
    for conflict in moved.iter().flat_map(|moved| &moved.conflicts) {
        serde_json::to_writer(&mut lines, conflict).expect("memory can be written");
        lines.push(b'\n');
    }
    Ok(open.write("conflicts.jsonl", &lines)?)
}

/// A pair for a person, as `lab review` reads it.
#[derive(Serialize)]
struct Review<'r> {
    n: usize,
    a: &'r str,
    b: String,
    similarity: Option<f64>,
    methods: Vec<&'r str>,
    text_a: &'r str,
    text_b: &'r str,
}

fn write_review(
    open: &OpenJob,
    comparison: &Comparison,
    olds: &[Old],
    drawn: Vec<(Drawn, Vec<usize>)>,
    watch: &Watch,
) -> Result<(), TransferError> {
    let ends = |(pair, _): &(Drawn, Vec<usize>)| [(Side::Left, pair.left), (Side::Right, pair.right)];
    let wanted: Vec<(Side, u32)> = drawn.iter().flat_map(ends).collect();
    let texts = open.texts(watch, &wanted)?;
    let ids = open.ids(watch, &wanted)?;
    let text = |side, n| texts.get(&(side, n)).map_or("", String::as_str);
    let mut lines = Vec::new();
    for (n, (pair, methods)) in drawn.into_iter().enumerate() {
        let line = Review {
            n,
            a: &olds[pair.left as usize].id,
            b: ids.get(&(Side::Right, pair.right)).cloned().unwrap_or_default(),
            similarity: Some(pair.similarity).filter(|similarity| similarity.is_finite()),
            methods: methods.iter().map(|&place| comparison.wanted.methods[place].as_str()).collect(),
            text_a: text(Side::Left, pair.left),
            text_b: text(Side::Right, pair.right),
        };
        serde_json::to_writer(&mut lines, &line).expect("memory can be written");
        lines.push(b'\n');
    }
    Ok(open.write("review.jsonl", &lines)?)
}

/// Lists judged documents that the old corpus does not have; returns how many.
fn write_missing(files: &[Judgments], olds: &[Old], mut rows: RowWriter) -> Result<u64, TransferError> {
    let there: BTreeSet<&str> = olds.iter().map(|old| old.id.as_str()).collect();
    let mut count = 0;
    for one in judged(files).iter().filter(|one| !there.contains(one.document)) {
        let tracks: BTreeSet<&str> = one.places.iter().map(|&(file, _)| files[file].track.as_str()).collect();
        let tracks: Vec<&str> = tracks.into_iter().collect();
        rows.push(&[
            Cell::Text(one.document),
            Cell::U64(one.places.len() as u64),
            Cell::ListOfText(&tracks),
        ])?;
        count += 1;
    }
    rows.finish()?;
    Ok(count)
}

fn ways(files: &[Judgments], olds: &[Old], heirs: &Heirs, comparison: &Comparison) -> Ways {
    let mut shared: BTreeMap<&str, bool> = BTreeMap::new();
    for (n, old) in olds.iter().enumerate() {
        *shared.entry(&old.id).or_default() |= comparison.shared.has(n as u32);
    }
    let mut ways = Ways::default();
    for one in judged(files) {
        let Some(&address) = shared.get(one.document) else { continue };
        let way = match (address, heirs.contains_key(one.document)) {
            (true, false) => &mut ways.address_only,
            (false, true) => &mut ways.content_only,
            (true, true) => &mut ways.both,
            (false, false) => &mut ways.neither,
        };
        way.documents += 1;
        way.judgments += one.places.len() as u64;
    }
    ways
}

fn common_ids(open: &OpenJob, olds: &BTreeSet<&str>, watch: &Watch) -> Result<u64, TransferError> {
    let mut common: BTreeSet<&str> = BTreeSet::new();
    open.documents(watch, |side, document| -> Result<(), EngineError> {
        if side == Side::Right
            && let Some(id) = olds.get(document.id)
        {
            common.insert(id);
        }
        Ok(())
    })?;
    Ok(common.len() as u64)
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
    /// Those that come several times in it.
    pub repeated: u64,
    /// By what they were found.
    pub moved_by: Ways,
    /// By file of judgments.
    pub tracks: Vec<Track>,
    /// Judgments of the new corpus.
    pub written: u64,
    /// Meetings of judgments in which grades differed; `conflicts.jsonl` lists them.
    pub conflicts: u64,
    /// Topics that are in several files.
    pub topics_in_several_files: u64,
    /// Where judgments went.
    pub matches: &'static str,
    /// What was asked for, in a number.
    pub asked: String,
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

    /// All of it for programs; `asked` tells later whether the same is asked for.
    pub fn summary(
        &self,
        recipe: &JobRecipe,
        findings: &Findings,
        matches: Matches,
        asked: String,
    ) -> Summary {
        let mut comparison = self.comparison.summary(recipe, findings);
        comparison.both.common_ids = self.common_ids;
        Summary {
            judged: self.judged,
            missing: self.missing,
            repeated: self.repeated,
            moved_by: self.ways,
            tracks: self.tracks.clone(),
            written: self.written(),
            conflicts: self.conflicts(),
            topics_in_several_files: self.topics_in_several_files,
            matches: if matches == Matches::Best { "best" } else { "all" },
            asked,
            comparison,
        }
    }
}
