//! Documents that hang together are measured and decided, portion by portion.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::builder::{
    BooleanBuilder, Float64Builder, Int32Builder, Int64Builder, ListBuilder, StringBuilder,
};
use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{Array, RecordBatch};
use lookalike::corpus::{Corpus, MaxRejected, ReadOptions, Table, TableRow};
use lookalike::engine::examine::SharedKeys;
use lookalike::engine::recipe::Task;
use lookalike::engine::spread::portion::{NearPair, Outcome, Portion, Proposal, Removed};
use lookalike::engine::walk::Watch;
use lookalike::engine::{EngineError, JobRecipe, Settings, Spool};
use pyo3::prelude::*;
use pyo3_arrow::PyRecordBatch;

use super::columns::{self, number};
use super::documents::{self, Columns};
use super::raise;

/// Takes components one behind the other, each with its documents before its candidates, in the order of both, and decides them together
/// once they have `together` bytes of text.
#[pyclass(frozen)]
pub(super) struct Portions {
    config: PortionConfig,
    pending: Mutex<PendingComponents>,
}

struct PortionConfig {
    recipe: JobRecipe,
    knowledge: PathBuf,
    scratch: PathBuf,
    settings: Settings,
    /// Bytes of text that are decided together.
    together: usize,
    /// Documents with lower numbers are there to be compared with.
    references: u32,
    /// Every value of the field that keepers are chosen by is a number.
    numbers: bool,
}

/// The components that wait to be decided, and the one that is coming.
#[derive(Default)]
struct PendingComponents {
    component: Option<i64>,
    documents: Vec<Member>,
    candidates: Vec<(u32, u32, SharedKeys)>,
    texts: Vec<Arc<Columns>>,
    bytes: usize,
}

/// A document of a portion: its number, and where its text stands.
#[derive(Clone, Copy)]
struct Member {
    n: u32,
    leader: u32,
    batch: u32,
    row: u32,
}

#[pymethods]
impl Portions {
    #[new]
    #[pyo3(signature = (recipe, knowledge, scratch, *, memory, together, references, numbers))]
    fn new(
        recipe: &str,
        knowledge: PathBuf,
        scratch: PathBuf,
        memory: u64,
        together: usize,
        references: u32,
        numbers: bool,
    ) -> PyResult<Self> {
        let recipe = super::recipe(recipe)?;
        let settings = Settings { threads: 1, memory, spool: Spool::Auto };
        let config = PortionConfig { recipe, knowledge, scratch, settings, together, references, numbers };
        Ok(Portions { config, pending: Mutex::default() })
    }

    /// Takes a batch, and returns the decisions on components that are complete.
    fn take<'py>(&self, py: Python<'py>, batch: PyRecordBatch) -> PyResult<Bound<'py, PyAny>> {
        let batch = batch.into_inner();
        let rows = py.detach(|| {
            let mut pending = self.pending.lock().unwrap_or_else(PoisonError::into_inner);
            let mut rows = DecisionRows::default();
            pending.take(&self.config, &batch, &mut rows)?;
            rows.finish()
        });
        super::out(py, rows.map_err(raise)?)
    }

    /// Returns the decisions on the last components.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let rows = py.detach(|| {
            let mut pending = self.pending.lock().unwrap_or_else(PoisonError::into_inner);
            let mut rows = DecisionRows::default();
            pending.decide(&self.config, &mut rows)?;
            rows.finish()
        });
        super::out(py, rows.map_err(raise)?)
    }
}

impl PendingComponents {
    fn take(
        &mut self,
        config: &PortionConfig,
        batch: &RecordBatch,
        rows: &mut DecisionRows,
    ) -> Result<(), EngineError> {
        let (components, numbers) = (columns::longs(batch, "component")?, columns::longs(batch, "n")?);
        let (leaders, others) = (columns::longs(batch, "leader")?, columns::longs(batch, "b")?);
        let shared = batch.column_by_name("shared").and_then(|column| column.as_list_opt::<i32>());
        let columns = Arc::new(Columns::of(batch)?);
        self.texts.push(columns.clone());
        for row in 0..batch.num_rows() {
            let component = components.value(row);
            if let Some(last) = self.component.filter(|&last| last != component) {
                if last > component {
                    return Err(EngineError::Request(format!(
                        "components are out of order: {component} came behind {last}; the engine that brings them together must sort them"
                    )));
                }
                if self.bytes >= config.together {
                    self.decide(config, rows)?;
                    self.texts.push(columns.clone());
                }
            }
            self.component = Some(component);
            let n = number(numbers.value(row))?;
            if others.is_null(row) {
                self.documents.push(Member {
                    n,
                    leader: number(leaders.value(row))?,
                    batch: self.texts.len() as u32 - 1,
                    row: row as u32,
                });
                self.bytes += columns.bytes(row) + 64;
            } else {
                let mut counts = SharedKeys::default();
                let listed = shared.map(|shared| shared.value(row));
                let listed = listed.as_ref().map(|listed| listed.as_primitive::<Int32Type>().values());
                counts
                    .iter_mut()
                    .zip(listed.into_iter().flatten())
                    .for_each(|(slot, &count)| *slot = count as u32);
                self.candidates.push((n, number(others.value(row))?, counts));
                self.bytes += 64;
            }
        }
        Ok(())
    }

    /// Decides all that is at hand.
    fn decide(&mut self, config: &PortionConfig, rows: &mut DecisionRows) -> Result<(), EngineError> {
        let PendingComponents { mut documents, candidates, texts, .. } = std::mem::take(self);
        if documents.is_empty() {
            return Ok(());
        }
        documents.sort_unstable_by_key(|member| member.n);
        let index_of = |n: u32| -> Result<u32, EngineError> {
            let missing = || {
                EngineError::Request(format!(
                    "the text of document {n} is not there: the input has changed since its sketches were made; take another work folder"
                ))
            };
            documents.binary_search_by_key(&n, |member| member.n).map(|at| at as u32).map_err(|_| missing())
        };
        let proposals: Result<Vec<Proposal>, EngineError> = candidates
            .into_iter()
            .map(|(a, b, shared)| Ok(Proposal { a: index_of(a)?, b: index_of(b)?, shared }))
            .collect();
        // Equal documents have the text of the first of them.
        let sources: Result<Vec<Member>, EngineError> =
            documents.iter().map(|member| Ok(documents[index_of(member.leader)? as usize])).collect();
        let portion_documents = Arc::new(PortionDocuments {
            sources: sources?,
            documents: documents.clone(),
            fields: documents::fields(&config.recipe)?,
            texts,
        });
        let left = documents.partition_point(|member| member.n < config.references);
        let options = ReadOptions { max_rejected: MaxRejected::EVERYTHING, ..config.recipe.read_options()? };
        let corpus = |name: &str, first: usize, end: usize| {
            let side: Arc<dyn Table> = Arc::new(SideTable { portion: portion_documents.clone(), first, end });
            Corpus::tables(vec![(name.to_owned(), side)], options.clone())
        };
        let portion = Portion {
            recipe: &config.recipe,
            learned: &config.knowledge,
            against: (config.references > 0).then(|| corpus("left", 0, left)),
            corpus: corpus("documents", left, documents.len()),
            proposals: proposals?,
            numbers: config.numbers,
        };
        let scratch = tempfile::Builder::new().prefix("portion-").tempdir_in(&config.scratch);
        let scratch = scratch.map_err(|error| EngineError::write(&config.scratch, error))?;
        let outcome = portion.decide(&config.settings, scratch.path(), &Watch::default())?;
        rows.push(config, &outcome, &documents, left)
    }
}

/// The documents of a portion, in order.
struct PortionDocuments {
    documents: Vec<Member>,
    /// For each of them the document whose text it has: itself, or the first of equal documents.
    sources: Vec<Member>,
    /// Names of the further fields.
    fields: [String; 2],
    texts: Vec<Arc<Columns>>,
}

/// Those of one side.
struct SideTable {
    portion: Arc<PortionDocuments>,
    first: usize,
    end: usize,
}

impl SideTable {
    fn at(&self, member: Member) -> (&Columns, usize) {
        (&self.portion.texts[member.batch as usize], member.row as usize)
    }
}

impl Table for SideTable {
    fn rows(&self) -> usize {
        self.end - self.first
    }

    fn row(&self, row: usize) -> TableRow<'_> {
        let (source, at) = self.at(self.portion.sources[self.first + row]);
        let (own, own_at) = self.at(self.portion.documents[self.first + row]);
        own.row(own_at, source, at)
    }

    fn columns(&self) -> Vec<String> {
        self.portion.fields.to_vec()
    }

    fn value(&self, row: usize, column: usize, out: &mut String) -> bool {
        let (own, at) = self.at(self.portion.documents[self.first + row]);
        let found = own.field(at, column);
        found.into_iter().for_each(|value| out.push_str(value));
        found.is_some()
    }
}

/// The decisions on documents, as rows.
struct DecisionRows {
    n: Int64Builder,
    other: Int64Builder,
    similarity: Float64Builder,
    reverse: Float64Builder,
    via: Int64Builder,
    near: BooleanBuilder,
    methods: Int32Builder,
    group: StringBuilder,
    verified: Int64Builder,
    histogram: ListBuilder<Int64Builder>,
    pairs_in_groups: Int64Builder,
}

impl Default for DecisionRows {
    fn default() -> Self {
        DecisionRows {
            n: Int64Builder::new(),
            other: Int64Builder::new(),
            similarity: Float64Builder::new(),
            reverse: Float64Builder::new(),
            via: Int64Builder::new(),
            near: BooleanBuilder::new(),
            methods: Int32Builder::new(),
            group: StringBuilder::new(),
            verified: Int64Builder::new(),
            histogram: ListBuilder::new(Int64Builder::new()),
            pairs_in_groups: Int64Builder::new(),
        }
    }
}

impl DecisionRows {
    fn push(
        &mut self,
        config: &PortionConfig,
        outcome: &Outcome,
        documents: &[Member],
        left: usize,
    ) -> Result<(), EngineError> {
        let (against, own) = documents.split_at(left);
        for removed in &outcome.removed {
            self.push_removed(removed, against, own)?;
        }
        let number_of = |id: &str, side: &[Member]| -> Result<i64, EngineError> {
            // Names were made up from places.
            let index = id.rsplit_once('#').and_then(|(_, index)| index.parse::<usize>().ok());
            let member = index.and_then(|index| side.get(index));
            member
                .map(|member| member.n.into())
                .ok_or_else(|| EngineError::Request(format!("there is no document {id}")))
        };
        let left_side = if config.recipe.task == Task::Compare { against } else { own };
        for pair in &outcome.pairs {
            self.push_pair(pair, number_of(&pair.a, left_side)?, number_of(&pair.b, own)?);
        }
        for group in &outcome.groups {
            self.push_group(Some(group));
        }
        self.push_totals(outcome);
        Ok(())
    }

    fn push_removed(
        &mut self,
        removed: &Removed,
        against: &[Member],
        own: &[Member],
    ) -> Result<(), EngineError> {
        let of = |side: &[Member], n: u32| -> Result<i64, EngineError> {
            let missing = || EngineError::Request(format!("there is no document {n} in the portion"));
            side.get(n as usize).map(|member| member.n.into()).ok_or_else(missing)
        };
        let witnesses = if removed.against.is_some() { against } else { own };
        let via = removed.via.as_ref().and_then(|via| via.rsplit_once('#')).and_then(|(_, n)| n.parse().ok());
        self.n.append_value(of(own, removed.n)?);
        self.other.append_value(of(witnesses, removed.witness_n)?);
        self.similarity.append_option(removed.similarity);
        self.reverse.append_null();
        self.via.append_option(via.map(|n| of(own, n)).transpose()?);
        self.near.append_value(true);
        self.methods.append_null();
        self.push_no_totals();
        Ok(())
    }

    fn push_pair(&mut self, pair: &NearPair, a: i64, b: i64) {
        self.n.append_value(a);
        self.other.append_value(b);
        self.similarity.append_option(pair.similarity);
        self.reverse.append_option(pair.reverse);
        self.via.append_null();
        self.near.append_value(pair.near);
        self.methods.append_value(pair.methods.into());
        self.push_no_totals();
    }

    fn push_no_totals(&mut self) {
        self.group.append_null();
        self.verified.append_null();
        self.histogram.append_null();
        self.pairs_in_groups.append_null();
    }

    fn push_no_pair(&mut self) {
        self.n.append_null();
        self.other.append_null();
        self.similarity.append_null();
        self.reverse.append_null();
        self.via.append_null();
        self.near.append_null();
        self.methods.append_null();
    }

    /// A group that is too large to be written as pairs.
    fn push_group(&mut self, group: Option<&String>) {
        self.push_no_pair();
        self.group.append_option(group);
        self.verified.append_null();
        self.histogram.append_null();
        self.pairs_in_groups.append_null();
    }

    /// Appends the row about the whole portion.
    fn push_totals(&mut self, outcome: &Outcome) {
        self.push_no_pair();
        self.group.append_null();
        self.verified.append_value(outcome.verified as i64);
        outcome.histogram.iter().for_each(|&bar| self.histogram.values().append_value(bar as i64));
        self.histogram.append(true);
        self.pairs_in_groups.append_value(outcome.pairs_in_groups as i64);
    }

    fn finish(mut self) -> Result<RecordBatch, EngineError> {
        columns::batch(vec![
            ("n", Arc::new(self.n.finish())),
            ("other", Arc::new(self.other.finish())),
            ("similarity", Arc::new(self.similarity.finish())),
            ("reverse", Arc::new(self.reverse.finish())),
            ("via", Arc::new(self.via.finish())),
            ("near", Arc::new(self.near.finish())),
            ("methods", Arc::new(self.methods.finish())),
            ("group", Arc::new(self.group.finish())),
            ("verified", Arc::new(self.verified.finish())),
            ("histogram", Arc::new(self.histogram.finish())),
            ("pairs_in_groups", Arc::new(self.pairs_in_groups.finish())),
        ])
    }
}
