//! An index, as the service uses it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

use lookalike::engine::JobRecipe;
use lookalike::model::{Document, Media, SpanMap};
use lookalike::report::{Bin, SizeBin};
use lookalike_index::{
    Cluster, Entry, Index, IndexError, Mode, OnExistingId, PreparedDocument, QueryBuffers, State, Verdict,
    WriterOptions,
};
use serde::Serialize;

use crate::ServiceError;
use crate::answer::Refusal;
use crate::api::request::{CheckedDocument, Content};
use crate::job::{Text, TextResult, title};
use crate::source::{
    ClusterPage, ClusterQuery, ClusterRow, ClusterView, DocumentView, Member, NamedCount, SortOrder,
    State as DocumentState, WorkerBuffers,
};

/// The time for which a list of clusters is reused, even if documents are added in between.
const SCAN_LIFETIME: Duration = Duration::from_secs(5);
/// The most near-duplicates that are all looked at; of more, only a part.
const MOST_SCANNED: u64 = 50_000;
/// The time limit of a search.
const SEARCH_TIMEOUT: Duration = Duration::from_secs(3);
/// The largest cluster whose lowest similarity is computed in lists.
const LARGEST_MEASURED: u32 = 1000;

/// An index that is served.
#[derive(Debug)]
pub struct Store {
    /// Nothing once it was closed.
    index: RwLock<Option<Index>>,
    folder: PathBuf,
    recipe: JobRecipe,
    writes: bool,
    scan: Mutex<Option<Arc<ClusterScan>>>,
}

/// The result of a scan of all clusters.
#[derive(Debug)]
pub(crate) struct ClusterScan {
    begun: Instant,
    /// The number of the next document and the number of deleted documents, by which changes are noticed.
    mark: (u32, u64),
    clusters: Vec<Cluster>,
    /// The lowest similarity of each, where all near-duplicates were looked at.
    lowest: Option<BTreeMap<u32, f64>>,
    histogram: Vec<u64>,
}

/// The answer to a query.
#[derive(Debug, Serialize)]
pub(crate) struct QueryResult {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) id: Option<String>,
    pub(crate) matches: Vec<Match>,
    pub(crate) total: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) left_out: Option<u64>,
}

/// A document that another one is a near-duplicate of.
#[derive(Debug, Serialize)]
pub(crate) struct Match {
    pub(crate) n: u32,
    pub(crate) id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) url: Option<String>,
    pub(crate) similarity: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) backward: Option<f64>,
    pub(crate) kept: bool,
}

/// The result of adding a document.
#[derive(Debug, Serialize)]
pub(crate) struct AddResult {
    pub(crate) id: String,
    pub(crate) n: u32,
    /// True if it was added and is kept: no kept document is its witness.
    pub(crate) new: bool,
    /// True if it was there already, with these words.
    pub(crate) known: bool,
    /// The kept document that it was removed for.
    pub(crate) witness: Option<Witness>,
}

/// A kept document for which another one was removed.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Witness {
    pub(crate) n: u32,
    pub(crate) id: String,
    pub(crate) similarity: Option<f64>,
}

/// A document of the index.
#[derive(Debug, Serialize)]
pub(crate) struct DocumentDetails {
    pub(crate) n: u32,
    pub(crate) id: String,
    pub(crate) url: Option<String>,
    pub(crate) words: u32,
    pub(crate) text_bytes: u32,
    pub(crate) kept: bool,
    pub(crate) witness: Option<Witness>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) text: Option<String>,
}

impl From<IndexError> for Refusal {
    fn from(error: IndexError) -> Self {
        match error {
            IndexError::Request(sentence) => Refusal::conflict(sentence),
            error => Refusal::failed(error.to_string()),
        }
    }
}

impl Store {
    /// Opens an index, to be added to unless it is for reading alone.
    pub(crate) fn open(folder: &Path, read_only: bool, sync: bool) -> Result<Self, ServiceError> {
        let mode = if read_only {
            Mode::Read
        } else {
            Mode::Write(WriterOptions { sync, ..WriterOptions::default() })
        };
        let index = Index::open(folder, mode)?;
        Ok(Store {
            recipe: index.recipe().clone(),
            index: RwLock::new(Some(index)),
            folder: folder.to_owned(),
            writes: !read_only,
            scan: Mutex::new(None),
        })
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(crate) fn recipe(&self) -> &JobRecipe {
        &self.recipe
    }

    /// Buffers for one thread.
    pub(crate) fn query_buffers(&self) -> Option<QueryBuffers> {
        let index = self.index.read().unwrap_or_else(PoisonError::into_inner);
        index.as_ref().and_then(|index| index.buffers().ok())
    }

    /// Ends writing.
    pub(crate) fn close(&self) -> Result<(), ServiceError> {
        let index = self.index.write().unwrap_or_else(PoisonError::into_inner).take();
        Ok(index.map_or(Ok(()), Index::close)?)
    }

    fn with<T>(&self, work: impl FnOnce(&Index) -> Result<T, Refusal>) -> Result<T, Refusal> {
        let index = self.index.read().unwrap_or_else(PoisonError::into_inner);
        work(index.as_ref().ok_or_else(Refusal::stopping)?)
    }

    /// Fails when nothing can be changed.
    pub(crate) fn check_writes(&self) -> Result<(), Refusal> {
        let sentence = "the index is open for reading alone; start the service without --read-only";
        if self.writes { Ok(()) } else { Err(Refusal::conflict(sentence)) }
    }

    pub(crate) fn figures(&self) -> Vec<NamedCount> {
        let stats = self.with(|index| Ok((index.stats(), index.partly_compared())));
        let Ok((stats, partly_compared)) = stats else { return Vec::new() };
        vec![
            ("documents", stats.documents),
            ("kept", stats.kept),
            ("removed", stats.removed),
            ("deleted", stats.deleted),
            ("partly_compared", partly_compared),
            ("segments", stats.segments as u64),
            ("documents_in_log", stats.in_log),
            ("bytes", stats.bytes),
        ]
    }

    /// Finds the documents that a document is a near-duplicate of.
    pub(crate) fn query(
        &self,
        worker: &mut WorkerBuffers,
        document: &CheckedDocument,
        limit: usize,
    ) -> Result<QueryResult, Refusal> {
        self.with(|index| {
            let buffers = worker.query_buffers()?;
            let prepared = prepare(index, buffers, document)?;
            let answer = index.query(buffers, &prepared, limit)?;
            let found = |one: lookalike_index::Match| Match {
                n: one.number,
                id: one.id,
                url: one.url,
                similarity: one.similarity.map(rounded),
                backward: one.backward.map(rounded),
                kept: one.kept,
            };
            let matches = answer.matches.into_iter().map(found).collect();
            let left_out = Some(answer.left_out).filter(|&number| number > 0);
            Ok(QueryResult { id: document.id.clone(), matches, total: answer.total, left_out })
        })
    }

    /// Queries and adds documents in one step; a document that cannot be added has a reason instead of a result.
    pub(crate) fn add(
        &self,
        worker: &mut WorkerBuffers,
        documents: &[CheckedDocument],
        on_existing: OnExistingId,
    ) -> Result<Vec<Result<AddResult, Refusal>>, Refusal> {
        self.check_writes()?;
        self.with(|index| {
            let buffers = worker.query_buffers()?;
            let (mut answers, mut ready) = (Vec::new(), Vec::new());
            for document in documents {
                let prepared = prepare(index, buffers, document).and_then(|mut prepared| {
                    index.look_up(buffers, &mut prepared)?;
                    Ok(prepared)
                });
                answers.push(prepared.map(|prepared| ready.push(prepared)));
            }
            let mut verdicts = index.add(ready, on_existing)?.into_iter();
            let mut all = Vec::with_capacity(documents.len());
            for (document, answer) in documents.iter().zip(answers) {
                all.push(match (answer, document.id.as_deref().unwrap_or_default()) {
                    (Err(refusal), _) => Err(refusal),
                    (Ok(()), id) => match verdicts.next() {
                        Some(verdict) => add_result(index, buffers, id, verdict)?,
                        None => Err(Refusal::failed("the index gave no verdict; please report it")),
                    },
                });
            }
            Ok(all)
        })
    }

    /// Deletes all documents of an id.
    pub(crate) fn remove(&self, id: &str) -> Result<u64, Refusal> {
        self.check_writes()?;
        self.with(|index| Ok(index.remove(id)?))
    }

    /// The documents of an id.
    pub(crate) fn describe(
        &self,
        worker: &mut WorkerBuffers,
        id: &str,
        text: bool,
    ) -> Result<Vec<DocumentDetails>, Refusal> {
        self.with(|index| {
            let buffers = worker.query_buffers()?;
            let mut all = Vec::new();
            for entry in index.get(buffers, id)? {
                let text = if text { index.text(buffers, entry.number)? } else { None };
                all.push(DocumentDetails {
                    n: entry.number,
                    kept: entry.state == State::Kept,
                    witness: witness(index, buffers, entry.state)?,
                    id: entry.id,
                    url: entry.url,
                    words: entry.words,
                    text_bytes: entry.text_bytes,
                    text,
                });
            }
            Ok(all)
        })
    }

    /// The number of a document by its id.
    pub(crate) fn number_of(&self, worker: &mut WorkerBuffers, id: &str) -> Result<Option<u64>, Refusal> {
        self.with(|index| {
            Ok(index.get(worker.query_buffers()?, id)?.first().map(|entry| entry.number.into()))
        })
    }

    /// A document by its number.
    pub(crate) fn document_view(
        &self,
        worker: &mut WorkerBuffers,
        number: u64,
    ) -> Result<Option<DocumentView>, Refusal> {
        let Ok(number) = u32::try_from(number) else { return Ok(None) };
        self.with(|index| {
            let buffers = worker.query_buffers()?;
            let Some(entry) = index.entry(buffers, number)? else { return Ok(None) };
            let state = match entry.state {
                State::Removed { witness, similarity } => DocumentState::Removed {
                    witness: index.entry(buffers, witness)?.map(|entry| entry.id).unwrap_or_default(),
                    number: witness.into(),
                    other: false,
                    similarity,
                },
                _ => DocumentState::Kept { others: index.members(buffers, number)?.len() as u64 },
            };
            let text = match index.text(buffers, number)? {
                Some(text) => TextResult::Text(Box::new(plain_text(&entry.id, entry.url.clone(), text))),
                None => TextResult::Unavailable("the index keeps no texts".to_owned()),
            };
            Ok(Some(DocumentView { number: number.into(), id: Some(entry.id), state, text }))
        })
    }

    /// A kept document and those it stands for.
    pub(crate) fn view(
        &self,
        worker: &mut WorkerBuffers,
        keeper: u64,
        offset: usize,
        count: usize,
    ) -> Result<Option<ClusterView>, Refusal> {
        let Ok(number) = u32::try_from(keeper) else { return Ok(None) };
        self.with(|index| {
            let buffers = worker.query_buffers()?;
            let Some(keeper) = index.entry(buffers, number)?.filter(|entry| entry.state == State::Kept)
            else {
                return Ok(None);
            };
            let members = index.members(buffers, number)?;
            if members.is_empty() {
                return Ok(None);
            }
            let row = ClusterRow {
                cluster: number.into(),
                name: number.to_string(),
                keep: keeper.id.clone(),
                size: members.len() as u64 + 1,
                lowest_similarity: lowest(&members),
                against: None,
            };
            let all = std::iter::once(&keeper).chain(&members);
            let members = all.skip(offset).take(count).map(member).collect();
            Ok(Some(ClusterView { offset: (offset as u64).min(row.size), row, members }))
        })
    }

    /// Some clusters, in an order.
    pub(crate) fn page(
        &self,
        worker: &mut WorkerBuffers,
        query: &ClusterQuery,
    ) -> Result<ClusterPage, Refusal> {
        let scan = self.scan(worker)?;
        let (mut clusters, complete) = match &query.search {
            None => (scan.clusters.clone(), true),
            Some(search) => self.search(worker, &scan, search)?,
        };
        match query.order {
            SortOrder::Number { .. } => {}
            SortOrder::Size { .. } => clusters.sort_by_key(|cluster| cluster.size),
            SortOrder::Similarity { .. } => {
                let too_many = || {
                    let sentence = format!(
                        "sort: an index of more than {MOST_SCANNED} near-duplicates is sorted by number or size only"
                    );
                    Refusal::wrong(sentence)
                };
                let lowest = scan.lowest.as_ref().ok_or_else(too_many)?;
                let of = |cluster: &Cluster| lowest.get(&cluster.keeper).copied().unwrap_or(f64::INFINITY);
                clusters.sort_by(|one, two| of(one).total_cmp(&of(two)));
            }
        }
        if query.order.descending() {
            clusters.reverse();
        }
        let total = clusters.len() as u64;
        let rows = clusters.iter().skip(query.offset).take(query.count);
        let rows: Result<Vec<ClusterRow>, Refusal> =
            rows.map(|cluster| self.row(worker, &scan, cluster)).collect();
        Ok(ClusterPage { clusters: rows?, total, complete })
    }

    fn row(
        &self,
        worker: &mut WorkerBuffers,
        scan: &ClusterScan,
        cluster: &Cluster,
    ) -> Result<ClusterRow, Refusal> {
        let (keeper, size) = (cluster.keeper, cluster.size);
        self.with(|index| {
            let buffers = worker.query_buffers()?;
            let known = scan.lowest.as_ref().and_then(|lowest| lowest.get(&keeper).copied());
            let lowest_similarity = match known {
                None if size <= LARGEST_MEASURED => lowest(&index.members(buffers, keeper)?),
                known => known,
            };
            // It may have been taken out since the clusters were counted.
            let keep = index.entry(buffers, keeper)?.map_or("(gone)".to_owned(), |entry| entry.id);
            let cluster = keeper.into();
            let name = keeper.to_string();
            Ok(ClusterRow { cluster, name, keep, size: size.into(), lowest_similarity, against: None })
        })
    }

    /// Clusters with `search` in the id of one of their documents; false when there was no time for all.
    fn search(
        &self,
        worker: &mut WorkerBuffers,
        scan: &ClusterScan,
        search: &str,
    ) -> Result<(Vec<Cluster>, bool), Refusal> {
        let end = Instant::now() + SEARCH_TIMEOUT;
        let mut found = Vec::new();
        self.with(|index| {
            let buffers = worker.query_buffers()?;
            for cluster in &scan.clusters {
                if Instant::now() > end {
                    return Ok((std::mem::take(&mut found), false));
                }
                let keeper = index.entry(buffers, cluster.keeper)?;
                let is_it = |entry: &Entry| entry.id.contains(search);
                if keeper.as_ref().is_some_and(is_it)
                    || index.members(buffers, cluster.keeper)?.iter().any(is_it)
                {
                    found.push(*cluster);
                }
            }
            Ok((std::mem::take(&mut found), true))
        })
    }

    /// All clusters as they are, or as they were a moment ago.
    fn scan(&self, worker: &mut WorkerBuffers) -> Result<Arc<ClusterScan>, Refusal> {
        // Whoever comes while the scan is under way waits for it, and does not scan, too.
        let mut cached = self.scan.lock().unwrap_or_else(PoisonError::into_inner);
        let scan = self.with(|index| {
            let mark = (index.next(), index.stats().deleted);
            if let Some(before) = &*cached
                && (before.mark == mark || before.begun.elapsed() < SCAN_LIFETIME)
            {
                return Ok(before.clone());
            }
            Ok(Arc::new(scan_clusters(index, worker.query_buffers()?, mark)?))
        })?;
        *cached = Some(scan.clone());
        Ok(scan)
    }

    /// Near-duplicates by similarity to the one that stands for them, and clusters by size.
    pub(crate) fn histograms(&self, worker: &mut WorkerBuffers) -> Result<(Vec<Bin>, Vec<SizeBin>), Refusal> {
        let scan = self.scan(worker)?;
        let threshold = self.recipe.measure().map_or(0.0, |measure| measure.threshold.value());
        let sizes = scan.clusters.iter().map(|cluster| cluster.size);
        Ok((crate::job::bins(&scan.histogram, threshold), crate::job::size_bins(sizes)))
    }
}

/// Scans all clusters.
fn scan_clusters(
    index: &Index,
    buffers: &mut QueryBuffers,
    mark: (u32, u64),
) -> Result<ClusterScan, IndexError> {
    let begun = Instant::now();
    let clusters = index.clusters(buffers)?;
    let near: u64 = clusters.iter().map(|cluster| u64::from(cluster.size) - 1).sum();
    let all = near <= MOST_SCANNED;
    let step = near.div_ceil(MOST_SCANNED).max(1) as usize;
    let (mut histogram, mut least) = (vec![0; 101], BTreeMap::new());
    for cluster in clusters.iter().step_by(step) {
        let members = index.members(buffers, cluster.keeper)?;
        for similarity in members.iter().filter_map(|member| similarity_of(member.state)) {
            histogram[(similarity.clamp(0.0, 1.0) * 100.0) as usize] += 1;
        }
        least.extend(lowest(&members).map(|lowest| (cluster.keeper, lowest)));
    }
    Ok(ClusterScan { begun, mark, clusters, lowest: all.then_some(least), histogram })
}

fn prepare(
    index: &Index,
    buffers: &mut QueryBuffers,
    document: &CheckedDocument,
) -> Result<PreparedDocument, Refusal> {
    let (media, text) = match &document.content {
        Content::Text(text) => (Media::Text, text),
        Content::Html(html) => (Media::Html, html),
    };
    let id = document.id.as_deref().unwrap_or_default();
    let document = Document::from_text(id, document.url.as_deref(), media, text);
    buffers.document(index.examiner(), &document).map_err(Refusal::wrong)
}

fn add_result(
    index: &Index,
    buffers: &mut QueryBuffers,
    id: &str,
    verdict: Verdict,
) -> Result<Result<AddResult, Refusal>, Refusal> {
    Ok(match verdict {
        Verdict::Conflict { .. } => Err(Refusal::conflict(
            "id: another document bears it with other words; take that one out first, or add ?known=replace to the address",
        )),
        Verdict::Added { number, state, known } => {
            let new = state == State::Kept && !known;
            let witness = witness(index, buffers, state)?;
            Ok(AddResult { id: id.to_owned(), n: number, new, known, witness })
        }
    })
}

fn witness(index: &Index, buffers: &mut QueryBuffers, state: State) -> Result<Option<Witness>, Refusal> {
    let State::Removed { witness, similarity } = state else { return Ok(None) };
    let id = index.entry(buffers, witness)?.map(|entry| entry.id).unwrap_or_default();
    Ok(Some(Witness { n: witness, id, similarity: similarity.map(rounded) }))
}

fn member(entry: &Entry) -> Member {
    Member {
        n: entry.number.into(),
        id: entry.id.clone(),
        kept: entry.state == State::Kept,
        similarity: similarity_of(entry.state).map(rounded),
        against: None,
    }
}

fn similarity_of(state: State) -> Option<f64> {
    match state {
        State::Removed { similarity, .. } => similarity,
        _ => None,
    }
}

fn lowest(members: &[Entry]) -> Option<f64> {
    members.iter().filter_map(|entry| similarity_of(entry.state)).min_by(f64::total_cmp).map(rounded)
}

/// As in all other files: nine decimals.
fn rounded(similarity: f64) -> f64 {
    (similarity * 1e9).round() / 1e9
}

/// A text that is its own source.
pub(crate) fn plain_text(id: &str, url: Option<String>, text: String) -> Text {
    Text {
        id: id.to_owned(),
        url,
        title: title(&text, None),
        source: text.clone().into_bytes(),
        text,
        spans: SpanMap::default(),
        shard: String::new(),
        position: 0,
    }
}
