//! All documents of a job by number: which unit and shard they are in, their rows, their names.
//!
//! Numbers are 32 bits wide: up to four thousand million records in one job, and a quarter less to sort than with wider
//! ones.

use std::collections::BTreeMap;
use std::path::PathBuf;

use lookalike_corpus::{Format, Shard};
use lookalike_model::{DocNumber, InputPlace, Unit};
use lookalike_store::file::{BLOCK, CACHED_BLOCKS, RandomAccess, Records, Run};

use crate::context::Context;
use crate::error::EngineError;
use crate::stages::order::{self, Ordered};
use crate::stages::sketch::{MethodCounts, NO_FIELD, Row, UnitMeta, unit_file};

/// The units of a job and the number of each unit's first document. Documents to compare with come first, then those of the input.
///
/// Documents that were ordered by a field have other numbers than their positions in the input. They are still in units of the
/// same lengths, which hold the rows, names and payloads of the documents with these numbers; shards, rejections and symbols
/// stay where they were in the input.
#[derive(Debug)]
pub(crate) struct Catalogue {
    units: Vec<UnitMeta>,
    /// Number of the first document of each unit, and behind the last the number of all.
    bases: Vec<u32>,
    /// Number of documents that are only there to be compared with.
    references: u32,
    /// The result of the stage that ordered the documents, where it ran.
    ordered: Option<Ordered>,
}

impl Catalogue {
    /// Reads what the sketch stage left behind.
    pub(crate) fn load(ctx: &Context<'_>) -> Result<Self, EngineError> {
        let (mut units, mut bases, mut references) = (Vec::new(), vec![0u32], 0);
        for (unit, (reference, _)) in ctx.units().iter().enumerate() {
            let name = format!("u{unit:06}.done");
            let missing =
                || EngineError::Damaged { file: ctx.file(&name), what: "it is not there".to_owned() };
            let meta: UnitMeta = ctx.saved(&name)?.ok_or_else(missing)?;
            let end = u64::from(bases[unit]) + meta.records();
            let end = u32::try_from(end).ok().filter(|&end| end < u32::MAX).ok_or(EngineError::TooMany)?;
            references = if *reference { end } else { references };
            bases.push(end);
            units.push(meta);
        }
        Ok(Catalogue { units, bases, references, ordered: order::done(ctx)? })
    }

    /// Number of all documents, rejected records and those to compare with included.
    pub(crate) fn len(&self) -> u32 {
        self.bases.last().copied().unwrap_or(0)
    }

    /// Number of documents to compare with: they have the lowest numbers.
    pub(crate) fn references(&self) -> u32 {
        self.references
    }

    /// True for a document that is only there to be compared with.
    pub(crate) fn is_reference(&self, document: DocNumber) -> bool {
        document.get() < self.references
    }

    /// The units' facts.
    pub(crate) fn units(&self) -> &[UnitMeta] {
        &self.units
    }

    /// Adds up the counts of each method that proposes pairs, over all documents.
    pub(crate) fn method_counts(&self) -> Vec<MethodCounts> {
        let mut all: Vec<MethodCounts> = Vec::new();
        for unit in &self.units {
            all.resize(unit.method_counts.len(), MethodCounts::default());
            all.iter_mut().zip(&unit.method_counts).for_each(|(all, counts)| all.add(counts));
        }
        all
    }

    /// Number of a unit's first document, and its place, which is the same; of the unit behind the last, the number of all.
    pub(crate) fn base(&self, unit: usize) -> u32 {
        self.bases[unit]
    }

    /// The unit of a document.
    pub(crate) fn unit_of(&self, document: DocNumber) -> usize {
        self.bases.partition_point(|&base| base <= document.get()) - 1
    }

    /// The unit that a place of the input is in.
    pub(crate) fn unit_at(&self, place: InputPlace) -> usize {
        self.bases.partition_point(|&base| base <= place.get()) - 1
    }

    /// The file with the rows, names or payloads of a unit.
    pub(crate) fn file(&self, ctx: &Context<'_>, unit: usize, what: &str) -> PathBuf {
        match self.ordered {
            None => unit_file(ctx, unit, what),
            Some(_) => order::unit_file(ctx, unit, what),
        }
    }

    /// The key runs of one method in all units, each with the number of its first document.
    pub(crate) fn key_runs(&self, ctx: &Context<'_>, method: usize) -> Vec<(PathBuf, u32)> {
        if let Some(ordered) = &self.ordered {
            return ordered.key_runs(ctx, method).into_iter().map(|path| (path, 0)).collect();
        }
        let of_unit = |(unit, meta): (usize, &UnitMeta)| {
            let base = self.bases[unit];
            let path = move |run| (unit_file(ctx, unit, &format!("keys{method}.{run:06}")), base);
            (0..meta.key_runs[method]).map(path).collect::<Vec<_>>()
        };
        self.units.iter().enumerate().flat_map(of_unit).collect()
    }

    /// Calls `each` with every document's number and row.
    pub(crate) fn rows(
        &self,
        ctx: &Context<'_>,
        mut each: impl FnMut(DocNumber, &Row) -> Result<(), EngineError>,
    ) -> Result<(), EngineError> {
        for unit in 0..self.units.len() {
            ctx.check()?;
            let mut records =
                Run::open(&self.file(ctx, unit, "docs"), ctx.label("docs", Row::WIDTH))?.records();
            let mut document = DocNumber::new(self.bases[unit]);
            while let Some(bytes) = records.next()? {
                each(document, &Row::decode(bytes))?;
                document += 1;
            }
        }
        Ok(())
    }

    /// Calls `each` with every document's number and what the methods keep of it.
    pub(crate) fn records(
        &self,
        ctx: &Context<'_>,
        mut each: impl FnMut(DocNumber, &[u8]),
    ) -> Result<(), EngineError> {
        for unit in 0..self.units.len() {
            ctx.check()?;
            let label = ctx.label("payload", ctx.panel.width());
            let mut records = Run::open(&self.file(ctx, unit, "payload"), label)?.records();
            let mut document = DocNumber::new(self.bases[unit]);
            while let Some(bytes) = records.next()? {
                each(document, bytes);
                document += 1;
            }
        }
        Ok(())
    }

    /// Calls `each` with every document's number, id and address.
    pub(crate) fn names(
        &self,
        ctx: &Context<'_>,
        mut each: impl FnMut(DocNumber, &str, Option<&str>) -> Result<(), EngineError>,
    ) -> Result<(), EngineError> {
        let mut buffer = Vec::new();
        for unit in 0..self.units.len() {
            ctx.check()?;
            let mut records = Run::open(&self.file(ctx, unit, "names"), ctx.label("names", 1))?.records();
            let mut document = DocNumber::new(self.bases[unit]);
            while take_names(&mut records, &mut buffer)? {
                let (id, url) = id_and_address(&buffer);
                each(document, id, url)?;
                document += 1;
            }
        }
        Ok(())
    }

    /// The shards of the input in order, each with the place of its first document in the input, its facts and itself.
    pub(crate) fn shards<'c>(&self, ctx: &'c Context<'_>) -> Vec<ShardView<'c>> {
        let mut views = Vec::new();
        for (unit, (reference, stretch)) in ctx.units().into_iter().enumerate() {
            let corpus = if reference { ctx.against.unwrap_or(ctx.corpus) } else { ctx.corpus };
            let mut first = InputPlace::new(self.bases[unit]);
            for (shard, meta) in corpus.shards()[stretch].iter().zip(&self.units[unit].shards) {
                let records = meta.records as u32;
                views.push(ShardView {
                    shard,
                    reference,
                    sketch_unit: unit,
                    first,
                    records,
                    meta: meta.clone(),
                });
                first += records;
            }
        }
        views
    }
}

/// Replaces `names` by the next document's, as they stand in their file; false behind the last.
pub(crate) fn take_names(records: &mut Records, names: &mut Vec<u8>) -> Result<bool, EngineError> {
    names.resize(12, 0);
    if !records.take(names)? {
        return Ok(false);
    }
    let length = (0..3).filter_map(|part| name_length(names, part)).sum::<usize>();
    names.resize(12 + length, 0);
    if length > 0 && !records.take(&mut names[12..])? {
        return Err(records.damaged("a name is cut off").into());
    }
    Ok(true)
}

/// Id and address of names as they stand in their file.
pub(crate) fn id_and_address(names: &[u8]) -> (&str, Option<&str>) {
    let text = |from: usize, length: usize| {
        std::str::from_utf8(&names[12 + from..12 + from + length]).unwrap_or_default()
    };
    let id = name_length(names, 0).unwrap_or(0);
    (text(0, id), name_length(names, 1).map(|url| text(id, url)))
}

/// The length of id, address or field, if the document has one.
fn name_length(names: &[u8], part: usize) -> Option<usize> {
    let length = u32::from_le_bytes(names[4 * part..4 * part + 4].try_into().expect("four bytes"));
    (length != NO_FIELD).then_some(length as usize)
}

/// A shard and its documents.
#[derive(Debug, Clone)]
pub(crate) struct ShardView<'c> {
    pub(crate) shard: &'c Shard,
    /// Its documents are only there to be compared with.
    pub(crate) reference: bool,
    /// The number of the unit that it was sketched in.
    pub(crate) sketch_unit: usize,
    /// The place of its first record in the input; its number, unless documents are ordered by a field.
    pub(crate) first: InputPlace,
    pub(crate) records: u32,
    pub(crate) meta: crate::stages::sketch::ShardMeta,
}

impl ShardView<'_> {
    /// The place behind its last record.
    pub(crate) fn end(&self) -> InputPlace {
        self.first + self.records
    }

    /// The unit of positions in it.
    pub(crate) fn unit(&self) -> Unit {
        // A table in memory has no format by a name that people could give.
        self.meta.format.parse().unwrap_or(Format::Table).unit()
    }
}

/// The names of a document.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Names {
    pub(crate) id: String,
    pub(crate) url: Option<String>,
    /// Value of the field that kept documents are chosen by.
    pub(crate) field: Option<String>,
}

/// Most units that are held open at once, with up to 256 KiB of blocks in memory for each of their files; fewer where there are
/// many threads, each of which has its own.
const MAX_OPEN_UNITS: usize = 12;

/// Units that all threads hold open together.
const MAX_OPEN_UNITS_BY_ALL_THREADS: usize = 96;

/// Rows, names and payloads of any document, in any order.
pub(crate) struct Lookup<'c> {
    ctx: &'c Context<'c>,
    catalogue: &'c Catalogue,
    open: BTreeMap<usize, OpenUnit>,
    /// Blocks of each file that stay in memory.
    cached_blocks: usize,
}

/// The files of a unit, as far as they were asked for.
#[derive(Default)]
struct OpenUnit {
    docs: Option<RandomAccess>,
    names: Option<RandomAccess>,
    payload: Option<RandomAccess>,
}

impl<'c> Lookup<'c> {
    pub(crate) fn new(ctx: &'c Context<'c>, catalogue: &'c Catalogue) -> Self {
        Lookup { ctx, catalogue, open: BTreeMap::new(), cached_blocks: CACHED_BLOCKS }
    }

    /// A lookup for names of documents that come in no order, with so many bytes for what was read.
    ///
    /// A block is read for every name that is in none of those at hand, which for pairs without number takes longer than all before.
    fn with_memory(ctx: &'c Context<'c>, catalogue: &'c Catalogue, bytes: u64) -> Self {
        let mut lookup = Lookup::new(ctx, catalogue);
        // Rows lead to names: two files of each unit.
        let files = 2 * lookup.most_open_units().min(catalogue.units.len()).max(1) as u64;
        lookup.cached_blocks = CACHED_BLOCKS.max((bytes / files / BLOCK as u64) as usize);
        lookup
    }

    /// A lookup for names, with a quarter of what is left of memory: beside it a table is written, from what a sorter has.
    pub(crate) fn for_table(ctx: &'c Context<'c>, catalogue: &'c Catalogue) -> Self {
        Self::with_memory(ctx, catalogue, ctx.budget.free(catalogue.len().into(), 16) / 4)
    }

    /// Most units that are held open at once.
    fn most_open_units(&self) -> usize {
        (MAX_OPEN_UNITS_BY_ALL_THREADS / self.ctx.settings.threads.max(1)).clamp(2, MAX_OPEN_UNITS)
    }

    /// The number of a document in its unit, and one of the unit's files.
    fn file(
        &mut self,
        document: DocNumber,
        what: &'static str,
        width: usize,
        file: impl Fn(&mut OpenUnit) -> &mut Option<RandomAccess>,
    ) -> Result<(u64, &mut RandomAccess), EngineError> {
        let unit = self.catalogue.unit_of(document);
        let local = u64::from(document.get() - self.catalogue.bases[unit]);
        let ctx = self.ctx;
        if !self.open.contains_key(&unit) && self.open.len() >= self.most_open_units() {
            self.open.clear();
        }
        let cached_blocks = self.cached_blocks;
        let slot = file(self.open.entry(unit).or_default());
        if slot.is_none() {
            let path = self.catalogue.file(ctx, unit, what);
            *slot = Some(RandomAccess::with_cache(Run::open(&path, ctx.label(what, width))?, cached_blocks));
        }
        Ok((local, slot.as_mut().expect("it was just put there")))
    }

    /// The row of a document.
    pub(crate) fn row(&mut self, document: DocNumber) -> Result<Row, EngineError> {
        let (local, docs) = self.file(document, "docs", Row::WIDTH, |unit| &mut unit.docs)?;
        Ok(Row::decode(docs.record(local)?))
    }

    /// Returns the record of a document: the lengths and payloads of all methods.
    pub(crate) fn record(&mut self, document: DocNumber) -> Result<&[u8], EngineError> {
        let width = self.ctx.panel.width();
        let (local, payload) = self.file(document, "payload", width, |unit| &mut unit.payload)?;
        Ok(payload.record(local)?)
    }

    /// The names of a document.
    pub(crate) fn names(&mut self, document: DocNumber) -> Result<Names, EngineError> {
        let offset = self.row(document)?.names;
        let (_, names) = self.file(document, "names", 1, |unit| &mut unit.names)?;
        let mut lengths = [0; 12];
        names.read(offset, &mut lengths)?;
        let number = |at: usize| u32::from_le_bytes(lengths[at..at + 4].try_into().expect("four bytes"));
        let mut position = offset + 12;
        let mut take = |length: u32| -> Result<Option<String>, EngineError> {
            if length == NO_FIELD {
                return Ok(None);
            }
            let mut bytes = vec![0; length as usize];
            names.read(position, &mut bytes)?;
            position += u64::from(length);
            Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
        };
        let id = take(number(0))?.unwrap_or_default();
        Ok(Names { id, url: take(number(4))?, field: take(number(8))? })
    }
}

/// The shard that holds the document at a place of the input.
pub(crate) fn shard_of(views: &[ShardView<'_>], place: InputPlace) -> Option<usize> {
    let index = views.partition_point(|view| view.first <= place);
    // Empty shards begin where the next one does.
    views[..index].iter().rposition(|view| place < view.end())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stages::sketch::ShardMeta;
    use crate::tests::context::{StageTest, as_lines, doc, place};
    use crate::tests::recipe;
    use lookalike_corpus::Origin;
    use lookalike_store::file::RunWriter;

    #[test]
    fn units_count_on_from_the_documents_to_compare_with() {
        let test = StageTest::against(recipe("md5"), &as_lines(&["a", "b", "c"]), &as_lines(&["d", "e"]));
        let ctx = test.sketched();
        let catalogue = Catalogue::load(&ctx).unwrap();
        assert_eq!((catalogue.len(), catalogue.references(), catalogue.units().len()), (5, 3, 2));
        assert_eq!([0, 1, 2].map(|unit| catalogue.base(unit)), [0, 3, 5]);
        assert_eq!([0, 2, 3, 4].map(|document| catalogue.unit_of(doc(document))), [0, 0, 1, 1]);
        assert_eq!([0, 2, 3, 4].map(|at| catalogue.unit_at(place(at))), [0, 0, 1, 1]);
        assert_eq!(
            [0, 2, 3, 4].map(|document| catalogue.is_reference(doc(document))),
            [true, true, false, false]
        );
        let shards: Vec<_> = catalogue
            .shards(&ctx)
            .iter()
            .map(|view| (view.shard.name.clone(), view.reference, view.first, view.records, view.unit()))
            .collect();
        let expected = [("left.jsonl", true, 0, 3), ("docs.jsonl", false, 3, 2)];
        let expected = expected.map(|(name, reference, first, records)| {
            (name.to_owned(), reference, place(first), records, Unit::Byte)
        });
        assert_eq!(shards, expected);
    }

    #[test]
    fn a_unit_that_is_not_done_is_missed() {
        let test = StageTest::new(recipe("md5"), &as_lines(&["a"]));
        let ctx = test.context();
        let error = Catalogue::load(&ctx).unwrap_err().to_string();
        assert!(error.contains("u000000.done is damaged: it is not there"), "{error}");
    }

    #[test]
    fn names_are_the_same_in_order_and_one_by_one() {
        let lines =
            "{\"id\":\"a\",\"url\":\"http://x/\",\"text\":\"one\"}\n{}\n{\"id\":\"ü\",\"text\":\"two\"}\n";
        let test = StageTest::new(recipe("md5"), lines);
        let ctx = test.sketched();
        let catalogue = Catalogue::load(&ctx).unwrap();
        let mut found = Vec::new();
        catalogue
            .names(&ctx, |document, id, url| {
                found.push((document, id.to_owned(), url.map(str::to_owned)));
                Ok(())
            })
            .unwrap();
        let expected = [(0, "a", Some("http://x/")), (1, "", None), (2, "ü", None)];
        assert_eq!(found, expected.map(|(n, id, url)| (doc(n), id.to_owned(), url.map(str::to_owned))));
        let mut lookup = Lookup::new(&ctx, &catalogue);
        for (document, id, url) in [2, 0, 1].map(|at: usize| found[at].clone()) {
            assert_eq!(lookup.names(document).unwrap(), Names { id, url, field: None });
        }
    }

    #[test]
    fn rows_and_records_are_the_same_in_order_and_one_by_one() {
        let left = as_lines(&["one two three", "four"]);
        let lines = "{\"id\":\"a\",\"text\":\"one two\"}\n{}\n";
        let test = StageTest::against(recipe("md5"), &left, lines);
        let ctx = test.sketched();
        let catalogue = Catalogue::load(&ctx).unwrap();
        let (mut rows, mut records) = (Vec::new(), Vec::new());
        catalogue
            .rows(&ctx, |document, row| {
                assert_eq!(document.index(), rows.len());
                rows.push(*row);
                Ok(())
            })
            .unwrap();
        catalogue.records(&ctx, |_, record| records.push(record.to_vec())).unwrap();
        assert_eq!(rows.iter().map(|row| row.words).collect::<Vec<_>>(), [3, 1, 2, Row::REJECTED]);
        assert_eq!(rows.iter().map(|row| row.text).collect::<Vec<_>>(), [13, 4, 7, 0]);
        let mut lookup = Lookup::new(&ctx, &catalogue);
        for document in [3, 0, 2, 1] {
            assert_eq!(lookup.row(doc(document)).unwrap(), rows[document as usize]);
            assert_eq!(lookup.record(doc(document)).unwrap(), records[document as usize]);
        }
    }

    #[test]
    fn counts_of_methods_are_added_up_over_units() {
        let test = StageTest::against(recipe("md5"), &as_lines(&["a", "b"]), &as_lines(&["c", "...", "d"]));
        let ctx = test.sketched();
        // A key of 12 bytes and a digest of 16 for each document that has words.
        let counts = Catalogue::load(&ctx).unwrap().method_counts();
        assert_eq!(counts, [MethodCounts { keys: 4, unsigned: 0, bytes: 4 * 28 }]);
    }

    #[test]
    fn key_runs_begin_with_the_first_document_of_their_unit() {
        let test = StageTest::against(recipe("md5"), &as_lines(&["a", "b"]), &as_lines(&["c"]));
        let ctx = test.sketched();
        let runs = Catalogue::load(&ctx).unwrap().key_runs(&ctx, 0);
        let expected = [("u000000.keys0.000000", 0), ("u000001.keys0.000000", 2)];
        assert_eq!(runs, expected.map(|(name, base)| (ctx.file(name), base)));
        assert!(runs.iter().all(|(path, _)| path.exists()));
    }

    /// Names as their file has them.
    fn encoded(parts: [Option<&str>; 3]) -> Vec<u8> {
        let length = |part: &Option<&str>| part.map_or(NO_FIELD, |part| part.len() as u32).to_le_bytes();
        let mut bytes: Vec<u8> = parts.iter().flat_map(length).collect();
        parts.iter().flatten().for_each(|part| bytes.extend_from_slice(part.as_bytes()));
        bytes
    }

    #[test]
    fn an_empty_address_is_told_from_none() {
        assert_eq!(id_and_address(&encoded([Some("id"), Some("u"), Some("field")])), ("id", Some("u")));
        assert_eq!(id_and_address(&encoded([Some("id"), Some(""), None])), ("id", Some("")));
        assert_eq!(id_and_address(&encoded([Some(""), None, Some("field")])), ("", None));
    }

    #[test]
    fn names_that_are_cut_off_are_damage() {
        let folder = tempfile::tempdir().unwrap();
        let label = lookalike_store::file::Label::new("names", 1, 1);
        let whole =
            [encoded([Some("one"), None, Some("f")]), encoded([Some("two"), Some("u"), None])].concat();
        for length in [whole.len(), whole.len() - 1, whole.len() - 5] {
            let path = folder.path().join("names");
            let mut writer = RunWriter::create(&path, label).unwrap();
            writer.push(&whole[..length]).unwrap();
            writer.finish().unwrap();
            let (mut records, mut names) = (Run::open(&path, label).unwrap().records(), Vec::new());
            assert!(take_names(&mut records, &mut names).unwrap());
            assert_eq!(id_and_address(&names), ("one", None));
            let second = take_names(&mut records, &mut names);
            if length < whole.len() {
                assert!(matches!(second, Err(EngineError::Damaged { .. })), "{length}");
                continue;
            }
            assert!(second.unwrap());
            assert_eq!(id_and_address(&names), ("two", Some("u")));
            assert!(!take_names(&mut records, &mut names).unwrap());
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
            sketch_unit: 0,
            reference: false,
            first: place(first),
            records,
            meta: meta.clone(),
        };
        let views = [(0, 0), (0, 3), (3, 0), (3, 2)].map(view);
        let found: Vec<Option<usize>> = (0..6).map(|at| shard_of(&views, place(at))).collect();
        assert_eq!(found, [Some(1), Some(1), Some(1), Some(3), Some(3), None]);
    }
}
