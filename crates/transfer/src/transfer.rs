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
use crate::ranking::by_similarity;
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
        let order = by_similarity(self.similarity, other.similarity);
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
        .for_each(|all| all.sort_by(|a, b| by_similarity(b.similarity, a.similarity)));
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

#[cfg(test)]
mod tests {
    use lookalike::corpus::{Corpus, MaxRejected, ReadOptions};
    use lookalike::engine::recipe::Task;
    use lookalike::text::extract::ContentMode;
    use serde_json::{Value, json};
    use tempfile::TempDir;

    use super::*;
    use crate::compared::{ListedPair, Lists};
    use crate::fixture::{judgments, left, lists, pair, settings};

    fn request(files: &[Judgments]) -> Request<'_> {
        Request {
            files,
            missing: &[],
            repeated: 0,
            rejected: 0,
            matches: Matches::Best,
            sample: 0,
            seed: 0,
            memory: u64::MAX,
        }
    }

    fn run_lists(lists: &Lists, request: &Request<'_>) -> Result<Transfer, TransferError> {
        run(lists, request, settings(&["m"], &[0]), &Watch::default())
    }

    /// The old documents a, b and c, at addresses of their own.
    fn abc(pairs: Vec<ListedPair>) -> (TempDir, Lists) {
        let lefts = [(0, "a"), (1, "b"), (2, "c")];
        let document = |(n, id): (u32, &str)| left(n, id, Some(&format!("http://{id}.org/")), false);
        lists(lefts.map(document).to_vec(), pairs)
    }

    fn text(folder: &TempDir, name: &str) -> String {
        std::fs::read_to_string(folder.path().join(name)).unwrap()
    }

    fn rows(folder: &TempDir, name: &str) -> Vec<Value> {
        text(folder, name).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    #[test]
    fn addresses_are_the_same_canonical_different_or_unknown() {
        let name = |old: Option<&str>, new: Option<&str>| Relation::of(old, new).name();
        assert_eq!(name(Some("http://a.org"), Some("HTTP://A.org:80/#x")), "same");
        assert_eq!(name(Some("http://a.org/"), Some("https://www.a.org/index.html")), "canonical");
        assert_eq!(name(Some("http://a.org/x"), Some("http://a.org/y")), "different");
        assert_eq!(
            [name(None, None), name(Some("http://a.org/"), None), name(None, Some("x"))],
            ["unknown"; 3]
        );
    }

    #[test]
    fn the_better_match_is_more_similar_then_nearer_by_address() {
        let worse = |old: (f64, Relation), new: (f64, Relation)| {
            let best = |(similarity, relation)| BestMatch { right: 0, similarity, relation };
            best(old).is_worse_than(&best(new))
        };
        assert!(worse((0.9, Relation::Same), (0.95, Relation::Unknown)));
        assert!(!worse((0.95, Relation::Unknown), (0.9, Relation::Same)));
        // A pair without a similarity is worse than any that has one.
        assert!(worse((f64::NAN, Relation::Same), (0.1, Relation::Unknown)));
        assert!(!worse((0.1, Relation::Unknown), (f64::NAN, Relation::Same)));
        assert!(worse((f64::NAN, Relation::Unknown), (f64::NAN, Relation::Same)));
        let order = [Relation::Same, Relation::Canonical, Relation::Different, Relation::Unknown];
        for (old, new) in (0..4).flat_map(|old| (0..4).map(move |new| (old, new))) {
            // Of two that are alike the first stays.
            assert_eq!(worse((0.9, order[old]), (0.9, order[new])), new < old, "{old} {new}");
        }
    }

    #[test]
    fn an_id_with_blanks_is_no_column() {
        assert_eq!(["a", "ä-文", "a.b/c:d"].map(is_one_column), [true; 3]);
        assert_eq!(["", " ", "a b", "a\t"].map(is_one_column), [false; 4]);
    }

    #[test]
    fn tracks_of_one_name_are_numbered() {
        let mut files =
            ["x/web.txt", "y/web.txt.gz", "z/other.txt", "web"].map(|name| judgments(name, "1 0 a 1\n"));
        make_names_unique(&mut files);
        assert_eq!(files.map(|file| file.track), ["web", "web-2", "other", "web-3"]);
    }

    #[test]
    fn a_topic_in_several_files_is_counted_once() {
        let files = ["1 0 a 1\n1 0 b 1\n2 0 a 1\n", "1 0 c 1\n3 0 a 1\n", "1 0 d 1\n2 0 d 1\n"]
            .map(|text| judgments("x.txt", text));
        assert_eq!(
            [topics_in_several(&files), topics_in_several(&files[..1]), topics_in_several(&[])],
            [2, 0, 0]
        );
    }

    #[test]
    fn old_documents_stand_at_their_numbers() {
        let lefts = vec![left(1, "b", Some("http://b.org/"), false), left(3, "d", None, false)];
        let (_folder, lists) = lists(lefts, Vec::new());
        let found = old_documents(&lists, &Watch::default()).unwrap();
        assert_eq!(found.iter().map(|old| old.id.as_str()).collect::<Vec<_>>(), ["", "b", "", "d"]);
        assert_eq!((found[1].url.as_deref(), found[3].url.as_deref()), (Some("http://b.org/"), None));
    }

    #[test]
    fn a_judgment_goes_to_the_best_or_to_all() {
        let files = [judgments("web.txt", "7 0 a 2\n7 0 b 1\n")];
        for (matches, lines) in
            [(Matches::Best, "7 0 r5 2\n"), (Matches::All, "7 0 r2 2\n7 0 r5 2\n7 0 r9 2\n")]
        {
            let (folder, lists) =
                abc(vec![pair(0, 2, 0.9), pair(0, 5, 0.95), pair(0, 9, 0.95), pair(1, 2, 0.5)]);
            let moved = run_lists(&lists, &Request { matches, ..request(&files) }).unwrap();
            assert_eq!(text(&folder, "qrels.txt"), lines);
            assert_eq!((moved.tracks[0].carried, moved.judged), (1, 2));
            let best: Vec<bool> =
                rows(&folder, "mapping.jsonl").iter().map(|row| row["best"] == true).collect();
            assert_eq!(best, [false, true, false]);
        }
    }

    #[test]
    fn the_mapping_tells_of_every_near_duplicate() {
        let files = [judgments("web.txt", "7 0 a 2\n")];
        let at = |url: &str| Some(url.to_owned().into_boxed_str());
        let pairs = vec![
            ListedPair { url: at("http://www.a.org/"), ..pair(0, 3, 0.95) },
            ListedPair { url: None, ..pair(0, 14, 0.9) },
            pair(0, 15, 0.5),
        ];
        let (folder, lists) = abc(pairs);
        run(&lists, &request(&files), settings(&["m", "n"], &[0, 0]), &Watch::default()).unwrap();
        let first = json!({
            "old": "a", "new": "r3", "similarity": 0.95, "url": "canonical", "best": true,
            "old_url": "http://a.org/", "new_url": "http://www.a.org/", "segment": "s0", "methods": ["m"],
        });
        let second = json!({
            "old": "a", "new": "r14", "similarity": 0.9, "url": "unknown", "best": false,
            "old_url": "http://a.org/", "segment": "s1", "methods": ["m"],
        });
        assert_eq!(rows(&folder, "mapping.jsonl"), [first, second]);
    }

    #[test]
    fn a_near_duplicate_whose_id_has_blanks_is_mapped_and_gets_no_judgment() {
        let files = [judgments("web.txt", "7 0 a 2\n")];
        let (folder, lists) = abc(vec![ListedPair { id: "x y".into(), ..pair(0, 3, 0.95) }]);
        let moved = run_lists(&lists, &request(&files)).unwrap();
        assert_eq!((moved.unwritable, text(&folder, "qrels.txt").as_str()), (1, ""));
        assert_eq!(rows(&folder, "mapping.jsonl")[0]["new"], "x y");
    }

    #[test]
    fn more_near_duplicates_than_memory_holds_are_refused() {
        let files = [judgments("web.txt", "7 0 a 2\n7 0 b 2\n")];
        // Two of about 66 bytes each.
        let (_folder, lists) = abc(vec![pair(0, 2, 0.9), pair(1, 5, 0.95)]);
        let sentence = |matches| {
            let little = Request { matches, memory: 100, ..request(&files) };
            run_lists(&lists, &little).unwrap_err().to_string()
        };
        let begin = "the near-duplicates of judged documents take more than 0 MB; give more --memory";
        assert_eq!(sentence(Matches::Best), begin);
        assert_eq!(sentence(Matches::All), format!("{begin}, or take --matches best"));
    }

    #[test]
    fn several_files_are_written_apart_and_together() {
        let files =
            [judgments("web.txt", "7 0 a 2\n"), judgments("mq.txt", "20001 b 1 1 0.5\n20001 c 0 1 0.5\n")];
        let (folder, lists) = abc(vec![pair(0, 2, 0.9), pair(1, 5, 0.95)]);
        let moved = run_lists(&lists, &request(&files)).unwrap();
        assert_eq!(text(&folder, "qrels/web.txt"), "7 0 r2 2\n");
        assert_eq!(text(&folder, "qrels/mq.txt"), "20001 r5 1 1 0.5\n");
        assert_eq!(text(&folder, "qrels.txt"), "7 0 r2 2\n20001 0 r5 1\n");
        assert_eq!((moved.written(), moved.topics_in_several_files), (2, 0));
    }

    #[test]
    fn files_with_a_topic_in_common_are_not_written_together() {
        let files = [judgments("a.txt", "7 0 a 2\n"), judgments("b.txt", "7 0 b 1\n")];
        let (folder, lists) = abc(vec![pair(0, 2, 0.9), pair(1, 5, 0.95)]);
        let moved = run_lists(&lists, &request(&files)).unwrap();
        assert_eq!(moved.topics_in_several_files, 1);
        assert!(!folder.path().join("qrels.txt").exists());
        assert_eq!(text(&folder, "qrels/b.txt"), "7 0 r5 1\n");
    }

    #[test]
    fn documents_that_the_old_corpus_lacks_are_listed_with_their_tracks() {
        let files =
            [judgments("b.txt", "1 0 z 1\n2 0 z 1\n1 0 a 1\n"), judgments("a.txt", "9 0 z 1\n9 0 y 1\n")];
        let missing = ["y", "z"].map(str::to_owned);
        let (folder, lists) = abc(Vec::new());
        let moved = run_lists(&lists, &Request { missing: &missing, ..request(&files) }).unwrap();
        let wanted = [
            json!({"document": "y", "judgments": 1, "tracks": ["a"]}),
            json!({"document": "z", "judgments": 3, "tracks": ["a", "b"]}),
        ];
        assert_eq!(rows(&folder, "missing.jsonl"), wanted);
        assert_eq!((moved.missing, moved.judged), (2, 3));
    }

    #[test]
    fn judged_documents_are_sorted_by_the_way_they_are_found() {
        let lefts = vec![
            left(0, "a", None, true),
            left(1, "b", None, true),
            left(2, "c", None, false),
            left(3, "d", None, false),
        ];
        let (_folder, lists) = lists(lefts, vec![pair(0, 1, 1.0), pair(1, 1, 0.5), pair(2, 1, 0.95)]);
        let files =
            [judgments("web.txt", "1 0 a 1\n2 0 a 1\n1 0 b 1\n1 0 c 1\n2 0 d 1\n3 0 d 1\n1 0 gone 1\n")];
        let found = run_lists(&lists, &request(&files)).unwrap().found_by;
        let counts = |documents, judgments| DocumentsAndJudgments { documents, judgments };
        let wanted = FoundBy {
            both: counts(1, 2),
            address_only: counts(1, 1),
            content_only: counts(1, 1),
            neither: counts(1, 2),
        };
        assert_eq!(found, wanted);
    }

    #[test]
    fn meetings_with_other_grades_are_written_down() {
        let files = [judgments("web.txt", "1 0 a 2\n1 0 b 0\n2 0 a 1\n2 0 b 1\n")];
        let (folder, lists) = abc(vec![pair(0, 4, 0.9), pair(1, 4, 0.95)]);
        let moved = run_lists(&lists, &request(&files)).unwrap();
        let conflicts = rows(&folder, "conflicts.jsonl");
        assert_eq!((conflicts.len(), moved.conflicts(), moved.written()), (1, 1, 2));
        assert_eq!((&conflicts[0]["topic"], &conflicts[0]["new"]), (&json!("1"), &json!("r4")));
        assert_eq!(conflicts[0]["kept"], json!({"old": "b", "similarity": 0.95, "grade": "0"}));
    }

    #[test]
    fn found_documents_are_drawn_for_review() {
        let files = [judgments("web.txt", "1 0 a 2\n")];
        let (folder, lists) = abc(vec![pair(0, 4, 0.25), pair(0, 5, 0.75), pair(2, 4, f64::NAN)]);
        run_lists(&lists, &Request { sample: 5, ..request(&files) }).unwrap();
        let row = |n: u64, a: &str, similarity: Value| {
            let (b, methods, text) = ("", ["m"], "");
            json!({
                "n": n, "a": a, "b": b, "similarity": similarity, "methods": methods, "text_a": text, "text_b": text,
            })
        };
        assert_eq!(rows(&folder, "review.jsonl"), [row(0, "a", json!(0.75)), row(1, "c", Value::Null)]);
    }

    #[test]
    fn nothing_found_leaves_empty_files() {
        let (folder, lists) = lists(Vec::new(), Vec::new());
        let files = [judgments("web.txt", "1 0 a 2\n")];
        let moved = run_lists(&lists, &Request { sample: 5, ..request(&files) }).unwrap();
        for name in ["qrels.txt", "mapping.jsonl", "conflicts.jsonl", "review.jsonl", "missing.jsonl"] {
            assert_eq!(text(&folder, name), "", "{name}");
        }
        assert_eq!(moved.found_by, FoundBy::default());
    }

    #[test]
    fn a_summary_names_the_matches_and_the_request() {
        let files = [judgments("web.txt", "1 0 a 2\n")];
        let (_folder, lists) = abc(vec![pair(0, 4, 1.0)]);
        let request = Request { repeated: 5, rejected: 6, ..request(&files) };
        let moved = run_lists(&lists, &request).unwrap();
        let summary = |matches| {
            let recipe = JobRecipe::simplest(Task::Compare);
            let summary = moved.summary(&recipe, &Findings::default(), matches, "abc".to_owned());
            serde_json::to_value(summary).unwrap()
        };
        let (best, all) = (summary(Matches::Best), summary(Matches::All));
        assert_eq!(
            (&best["matches"], &all["matches"], &best["asked"]),
            (&json!("best"), &json!("all"), &json!("abc"))
        );
        let counts = ["judged", "repeated", "old_rejected", "written", "found", "near"]
            .map(|name| best[name].as_u64());
        assert_eq!(counts, [1, 5, 6, 1, 1, 1].map(Some));
    }

    #[test]
    fn rejections_of_the_old_corpus_come_before_those_of_the_job() {
        let folder = tempfile::tempdir().unwrap();
        let lines = "{\"id\":\"a\",\"text\":\"x\"}\nno JSON\n";
        let options = ReadOptions { max_rejected: MaxRejected::EVERYTHING, ..ReadOptions::default() };
        let corpus = Corpus::in_memory("old.jsonl", lines.as_bytes().into(), options);
        let (copy, watch) = (folder.path().join("copy"), Watch::default());
        let selected = SelectedDocuments::copy(&copy, &corpus, ContentMode::Page, &["a"], 1, &watch).unwrap();
        let error = add_rejections(folder.path(), &selected).unwrap_err().to_string();
        assert!(error.contains("rejected.jsonl"), "{error}");
        std::fs::write(folder.path().join("rejected.jsonl"), "{\"of\":\"job\"}\n").unwrap();
        add_rejections(folder.path(), &selected).unwrap();
        let found = rows(&folder, "rejected.jsonl");
        assert_eq!((found.len(), &found[1]), (2, &json!({"of": "job"})));
        let place = ["source", "position", "side"].map(|name| found[0][name].clone());
        assert_eq!(place, [json!("old.jsonl"), json!(lines.find("no").unwrap()), json!("left")]);
    }
}
