//! The data served: clusters, documents and texts, from a job or an index.

use std::io;
use std::path::Path;

use lookalike::engine::JobRecipe;
use lookalike::hash::Secret;
use lookalike::report::{Bin, SizeBin};
use lookalike::tables::clusters::ClusterLine;
use lookalike::text::{Analyser, Features};
use lookalike_index::{Index, QueryBuffers};
use serde::Serialize;

use crate::ServiceError;
use crate::answer::Refusal;
use crate::job::{Job, TextResult};
use crate::store::Store;

/// The data served.
#[derive(Debug)]
pub enum Source {
    /// A finished `dedup` job.
    Job(Box<Job>),
    /// An index.
    Index(Box<Store>),
}

/// The buffers of one worker thread.
pub(crate) struct WorkerBuffers {
    pub(crate) analyser: Analyser,
    pub(crate) a: Features,
    pub(crate) b: Features,
    query_buffers: Option<QueryBuffers>,
}

/// The reason why something cannot be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SourceError(String);

impl SourceError {
    pub(crate) fn unreadable(file: &Path, error: io::Error) -> Self {
        SourceError(format!("{} cannot be read: {error}", file.display()))
    }

    pub(crate) fn changed(file: &Path) -> Self {
        SourceError(format!("{} was changed while it is served; start the service again", file.display()))
    }
}

impl From<SourceError> for Refusal {
    fn from(error: SourceError) -> Self {
        Refusal::failed(error.0)
    }
}

/// An order of clusters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SortOrder {
    /// By the number of the keeper.
    Number { descending: bool },
    /// By the number of documents.
    Size { descending: bool },
    /// By the lowest similarity of a removed document to its keeper.
    Similarity { descending: bool },
}

impl SortOrder {
    pub(crate) fn descending(self) -> bool {
        let (SortOrder::Number { descending }
        | SortOrder::Size { descending }
        | SortOrder::Similarity { descending }) = self;
        descending
    }
}

/// A request for clusters: search, order and range.
#[derive(Debug, Clone)]
pub(crate) struct ClusterQuery {
    /// A part of the id of one of their documents.
    pub(crate) search: Option<String>,
    pub(crate) order: SortOrder,
    pub(crate) offset: usize,
    pub(crate) count: usize,
}

/// Some clusters.
#[derive(Debug, Serialize)]
pub(crate) struct ClusterPage {
    pub(crate) clusters: Vec<ClusterRow>,
    /// The number of all clusters that match.
    pub(crate) total: u64,
    /// False if a search stopped before the end.
    pub(crate) complete: bool,
}

/// A cluster in a list.
#[derive(Debug, Serialize)]
pub(crate) struct ClusterRow {
    /// The number of its keeper.
    pub(crate) cluster: u64,
    /// Its name in addresses.
    pub(crate) name: String,
    /// The id of its keeper.
    pub(crate) keep: String,
    pub(crate) size: u64,
    pub(crate) lowest_similarity: Option<f64>,
    /// `other` when the keeper is in the corpus that the job compared with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) against: Option<String>,
}

/// A cluster with some of its documents.
#[derive(Debug, Serialize)]
pub(crate) struct ClusterView {
    #[serde(flatten)]
    pub(crate) row: ClusterRow,
    /// The number of documents before these.
    pub(crate) offset: u64,
    pub(crate) members: Vec<Member>,
}

/// A document of a cluster.
#[derive(Debug, Serialize)]
pub(crate) struct Member {
    /// Its number.
    pub(crate) n: u64,
    pub(crate) id: String,
    pub(crate) kept: bool,
    /// Its similarity to the kept document.
    pub(crate) similarity: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) against: Option<String>,
}

/// A document, with its text if available.
#[derive(Debug)]
pub(crate) struct DocumentView {
    pub(crate) number: u64,
    pub(crate) id: Option<String>,
    pub(crate) state: State,
    pub(crate) text: TextResult,
}

/// The state of a document.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum State {
    /// It is kept, and represents this number of others.
    Kept { others: u64 },
    /// It is removed.
    Removed { witness: String, number: u64, other: bool, similarity: Option<f64> },
    /// It is not in the data served: a user pasted it.
    Pasted,
}

/// A count and what it is of.
pub(crate) type NamedCount = (&'static str, u64);

/// The settings of opening a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OpenOptions {
    /// True if nothing is added to an index, so that another process may do so.
    pub read_only: bool,
    /// True if the acknowledged writes of an index survive a crash of the machine.
    pub sync: bool,
}

impl Source {
    /// Detects the contents of a folder, and opens them.
    pub fn open(folder: &Path, options: OpenOptions) -> Result<Self, ServiceError> {
        if Index::exists(folder) {
            let store = Store::open(folder, options.read_only, options.sync)?;
            return Ok(Source::Index(Box::new(store)));
        }
        if Job::is_one(folder) {
            return Ok(Source::Job(Box::new(Job::open(folder)?)));
        }
        Err(ServiceError::NothingToServe(folder.to_owned()))
    }

    pub(crate) fn recipe(&self) -> &JobRecipe {
        match self {
            Source::Job(job) => &job.recipe,
            Source::Index(store) => store.recipe(),
        }
    }

    /// Returns the folder of the source.
    pub(crate) fn folder(&self) -> &Path {
        match self {
            Source::Job(job) => &job.folder,
            Source::Index(store) => store.folder(),
        }
    }

    /// `job` or `index`.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Source::Job(_) => "job",
            Source::Index(_) => "index",
        }
    }

    /// Returns the index; a job takes no queries and no documents.
    pub(crate) fn store(&self) -> Result<&Store, Refusal> {
        match self {
            Source::Index(store) => Ok(store),
            Source::Job(_) => Err(Refusal::conflict(
                "a finished job is served here, which takes no questions and no documents; serve an index",
            )),
        }
    }

    /// Returns the buffers for one thread.
    pub(crate) fn worker_buffers(&self) -> WorkerBuffers {
        let profile = self.recipe().profile().unwrap_or_else(|_| lookalike::text::Profile::web());
        let query_buffers = match self {
            Source::Job(_) => None,
            Source::Index(store) => store.query_buffers(),
        };
        WorkerBuffers {
            analyser: Analyser::with_secret(&profile, Secret::of_process()),
            a: Features::default(),
            b: Features::default(),
            query_buffers,
        }
    }

    /// Returns the main counts.
    pub(crate) fn figures(&self) -> Vec<NamedCount> {
        match self {
            Source::Index(store) => store.figures(),
            Source::Job(job) => {
                let summary = &job.summary;
                vec![
                    ("documents", summary.documents),
                    ("kept", summary.kept),
                    ("removed", summary.removed),
                    ("rejected", summary.rejected),
                    ("clusters", summary.clusters),
                ]
            }
        }
    }

    /// Near-duplicates by similarity to the one that stands for them, and clusters by size.
    pub(crate) fn histograms(&self, worker: &mut WorkerBuffers) -> Result<(Vec<Bin>, Vec<SizeBin>), Refusal> {
        match self {
            Source::Job(job) => Ok((job.similarities(), job.sizes())),
            Source::Index(store) => store.histograms(worker),
        }
    }

    /// Some clusters, in an order.
    pub(crate) fn clusters(
        &self,
        worker: &mut WorkerBuffers,
        query: &ClusterQuery,
    ) -> Result<ClusterPage, Refusal> {
        match self {
            Source::Job(job) => Ok(job.page(query)?),
            Source::Index(store) => store.page(worker, query),
        }
    }

    /// A cluster by its name, with `count` documents from `offset` on.
    pub(crate) fn cluster(
        &self,
        worker: &mut WorkerBuffers,
        name: &str,
        offset: usize,
        count: usize,
    ) -> Result<Option<ClusterView>, Refusal> {
        match self {
            Source::Job(job) => Ok(job.view(name, offset, count)?),
            Source::Index(store) => match plain_number(name) {
                Some(keeper) => store.view(worker, keeper, offset, count),
                None => Ok(None),
            },
        }
    }

    /// A document by its number.
    pub(crate) fn document(
        &self,
        worker: &mut WorkerBuffers,
        number: u64,
    ) -> Result<Option<DocumentView>, Refusal> {
        match self {
            Source::Job(job) => Ok(job.document_view(number)?),
            Source::Index(store) => store.document_view(worker, number),
        }
    }

    /// The number of a document by its id, where that can be known: a job has no list of all ids.
    pub(crate) fn number_of(&self, worker: &mut WorkerBuffers, id: &str) -> Result<Option<u64>, Refusal> {
        match self {
            Source::Job(_) => Ok(None),
            Source::Index(store) => store.number_of(worker, id),
        }
    }

    /// Closes it; what was acknowledged is on disk already.
    pub(crate) fn close(&self) -> Result<(), ServiceError> {
        match self {
            Source::Job(_) => Ok(()),
            Source::Index(store) => store.close(),
        }
    }
}

impl WorkerBuffers {
    /// Returns the buffers for queries to the index.
    pub(crate) fn query_buffers(&mut self) -> Result<&mut QueryBuffers, Refusal> {
        self.query_buffers
            .as_mut()
            .ok_or_else(|| Refusal::failed("there is no memory to work with; try again"))
    }
}

impl Job {
    fn page(&self, query: &ClusterQuery) -> Result<ClusterPage, SourceError> {
        let found = query.search.as_deref().map(|search| self.clusters.search(search)).transpose()?;
        let among = found.as_deref().map(|found| found.lines.as_slice());
        let lines = self.clusters.page(among, query.order, query.offset, query.count);
        let rows: Result<Vec<ClusterRow>, SourceError> =
            lines.into_iter().map(|line| Ok(self.row(line, &self.clusters.read(line)?))).collect();
        Ok(ClusterPage {
            clusters: rows?,
            total: among.map_or(self.clusters.len(), <[u32]>::len) as u64,
            complete: found.as_deref().is_none_or(|found| found.complete),
        })
    }

    fn row(&self, line: u32, cluster: &ClusterLine) -> ClusterRow {
        ClusterRow {
            cluster: cluster.cluster,
            name: cluster_name(cluster.cluster, cluster.against.is_some()),
            keep: cluster.keep.clone(),
            size: self.clusters.size(line),
            lowest_similarity: self.clusters.lowest(line),
            against: cluster.against.clone(),
        }
    }

    fn view(&self, name: &str, offset: usize, count: usize) -> Result<Option<ClusterView>, SourceError> {
        let Some(line) = self.line(name) else { return Ok(None) };
        let cluster = self.clusters.read(line)?;
        let all = cluster.members.len().min(cluster.members_n.len());
        let part = offset.min(all)..all.min(offset.saturating_add(count));
        let numbers = &cluster.members_n[part.clone()];
        // The keeper of the other corpus stands first, with a number that is not of the input.
        let foreign = usize::from(cluster.against.is_some() && part.start == 0 && !part.is_empty());
        let mut removals = vec![None; foreign];
        removals.extend(self.removals.of(&numbers[foreign..])?);
        let members = part.clone().zip(removals).map(|(at, removal)| {
            let is_foreign = cluster.against.is_some() && at == 0;
            let n = cluster.members_n[at];
            Member {
                n,
                id: cluster.members[at].clone(),
                kept: is_foreign || (cluster.against.is_none() && n == cluster.cluster),
                similarity: removal.and_then(|removal| removal.similarity),
                against: cluster.against.clone().filter(|_| is_foreign),
            }
        });
        let members = members.collect();
        Ok(Some(ClusterView { row: self.row(line, &cluster), offset: part.start as u64, members }))
    }

    /// The line of a cluster by its name: the number of its keeper, with `other-` before one of the other corpus.
    fn line(&self, name: &str) -> Option<u32> {
        match name.strip_prefix("other-") {
            Some(number) => self.clusters.line_of(plain_number(number)?, true),
            None => self.clusters.line_of(plain_number(name)?, false),
        }
    }

    fn document_view(&self, number: u64) -> Result<Option<DocumentView>, SourceError> {
        if number >= self.summary.documents {
            return Ok(None);
        }
        let removal = self.removals.of(&[number])?.pop().flatten();
        let keeps = self.clusters.line_of(number, false);
        let id = match (&removal, keeps) {
            (Some(removal), _) => Some(removal.id.clone()),
            (None, Some(line)) => Some(self.clusters.read(line)?.keep),
            (None, None) => None,
        };
        let state = match removal {
            Some(removal) => State::Removed {
                witness: removal.witness,
                number: removal.witness_n,
                other: removal.against.is_some(),
                similarity: removal.similarity,
            },
            None => State::Kept { others: keeps.map_or(0, |line| self.clusters.size(line) - 1) },
        };
        let mut text = self.texts.read(number);
        // The tables know the ids of all documents in clusters: another one means another input.
        if let (TextResult::Text(found), Some(id)) = (&text, &id)
            && found.id != *id
        {
            text = TextResult::Unavailable(format!(
                "the input has the document {} in this place; it was changed",
                found.id.chars().take(100).collect::<String>()
            ));
        }
        let id = id.or_else(|| match &text {
            TextResult::Text(text) => Some(text.id.clone()),
            TextResult::Unavailable(_) => None,
        });
        Ok(Some(DocumentView { number, id, state, text }))
    }
}

/// Returns the name of a cluster in addresses.
pub(crate) fn cluster_name(keeper: u64, other: bool) -> String {
    if other { format!("other-{keeper}") } else { keeper.to_string() }
}

/// A number as we write it: no sign, no zeros before it.
pub(crate) fn plain_number(text: &str) -> Option<u64> {
    let number: u64 = text.parse().ok()?;
    (number.to_string() == text).then_some(number)
}
