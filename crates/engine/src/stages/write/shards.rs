//! Copies of the input shards without the documents that were removed, or with those alone.

use std::path::Path;

use lookalike_corpus::write::shard::{Note, can_annotate};
use lookalike_corpus::{Format, Origin};
use lookalike_model::InputPlace;

use super::rejected_copies;
use super::removals::RemovalLookup;
use crate::catalogue::{Catalogue, ShardView};
use crate::context::Context;
use crate::copies::{Copies, RecordFilter, STDIN, Source};
use crate::error::EngineError;
use crate::job::{Outputs, Shards};
use crate::protocol::COPIES;
use crate::rejections::rejected_records;

/// The folder that copies go to.
pub(crate) fn folder_name(shards: Shards) -> Option<&'static str> {
    match shards {
        Shards::None => None,
        Shards::Kept => Some("kept"),
        Shards::Removed => Some("removed"),
    }
}

/// Writes the copies that are not there yet: a copy appears when it is whole. Returns what a reader of the results should know.
pub(crate) fn write(
    ctx: &Context<'_>,
    catalogue: &Catalogue,
    folder: &Path,
    outputs: Outputs,
) -> Result<Option<String>, EngineError> {
    let Some(name) = folder_name(outputs.write) else { return Ok(None) };
    let root = folder.join(name);
    std::fs::create_dir_all(&root).map_err(|error| EngineError::write(&root, error))?;
    ctx.begin("write", ctx.corpus.bytes(), true);
    let views: Vec<ShardView<'_>> =
        catalogue.shards(ctx).into_iter().filter(|view| !view.reference).collect();
    // What is in memory is in no format that people can name.
    let format = |view: &ShardView<'_>| match view.shard.origin {
        Origin::Table(_) => Some(Format::Table),
        _ => view.meta.format.parse::<Format>().ok(),
    };
    let sources: Vec<Source<'_>> = views
        .iter()
        .enumerate()
        .map(|(place, view)| Source {
            shard: view.shard,
            format: format(view),
            place,
            records: view.meta.records,
            rejected: view.meta.rejected,
            digest: view.meta.digest,
        })
        .collect();
    if outputs.annotate {
        refuse_annotation(&sources)?;
    }
    ctx.shape().allow(ctx.corpus);
    let copies = Copies {
        root: &root,
        journal: &ctx.file(COPIES),
        stamp: ctx.stamp,
        name,
        options: ctx.corpus.options(),
        content: ctx.content,
        annotate: outputs.annotate && outputs.write == Shards::Kept,
        threads: ctx.shape().drivers,
        watch: ctx.watch,
    };
    // Before the threads that copy begin: each opens for its shard what is written here.
    RemovalLookup::prepare(ctx, catalogue)?;
    // The input is read once more, by record numbers: in a file that has changed since, they would mean other
    // records.
    ctx.corpus.check()?;
    copies.write(sources, |source| ShardDecisions::of(ctx, catalogue, &views[source.place], outputs))?;
    rejected_copies::write(ctx, catalogue, folder, &views)
}

fn refuse_annotation(sources: &[Source<'_>]) -> Result<(), EngineError> {
    let mut known = sources.iter().filter_map(|source| Some((source, source.format?)));
    match known.find(|(source, format)| source.shard.name == STDIN || !can_annotate(*format)) {
        None => Ok(()),
        Some((source, format)) => Err(EngineError::Request(format!(
            "--annotate cannot write into {} of {}; it can into JSON lines, CSV, TSV, Parquet and WARC",
            format, source.shard.name
        ))),
    }
}

/// The decisions about the documents of a shard.
struct ShardDecisions {
    lookup: RemovalLookup,
    /// Record numbers of removed documents, ascending.
    gone: Vec<u32>,
    /// Record numbers of rejected documents, ascending: they are neither kept nor removed.
    rejected: Vec<u32>,
    /// Removed documents alone are copied.
    inverse: bool,
    /// The place of the shard's first document in the input, also of those to compare with, and how many of the latter there
    /// are.
    first: InputPlace,
    references: u32,
}

impl ShardDecisions {
    fn of(
        ctx: &Context<'_>,
        catalogue: &Catalogue,
        view: &ShardView<'_>,
        outputs: Outputs,
    ) -> Result<Self, EngineError> {
        let mut lookup = RemovalLookup::open(ctx)?;
        let places = lookup.removed(view.first, view.end())?;
        let gone = places.into_iter().map(|place| place - view.first).collect();
        let inverse = outputs.write == Shards::Removed;
        let rejected = rejected_records(ctx, catalogue, view)?;
        let references = catalogue.references();
        Ok(ShardDecisions { lookup, gone, rejected, inverse, first: view.first, references })
    }
}

impl RecordFilter for ShardDecisions {
    fn keeps(&self, record: u64) -> bool {
        let record = record as u32;
        self.gone.binary_search(&record).is_ok() == self.inverse
            && self.rejected.binary_search(&record).is_err()
    }

    fn count_kept(&self, documents: u64) -> u64 {
        let gone = self.gone.len() as u64;
        if self.inverse { gone } else { documents.saturating_sub(gone) }
    }

    fn note(&mut self, record: u64) -> Result<Note, EngineError> {
        let document = self.lookup.number(self.first + record as u32)?;
        let copies = self.lookup.copies(document)?;
        Ok(Note { cluster: (document.get() - self.references).into(), copies })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::context::{StageTest, as_lines, stage_counts};
    use crate::tests::recipe;

    #[test]
    fn copies_go_to_the_folder_of_what_they_hold() {
        assert_eq!(
            [Shards::None, Shards::Kept, Shards::Removed].map(folder_name),
            [None, Some("kept"), Some("removed")]
        );
    }

    /// Five documents and a record that is none; documents 1 and 4 go for document 0.
    const RECORDS: [&str; 6] = [
        "{\"id\":\"a\",\"text\":\"1\"}\n",
        "{\"id\":\"b\",\"text\":\"2\"}\n",
        "{\"broken\"}\n",
        "{\"id\":\"c\",\"text\":\"3\"}\n",
        "{\"id\":\"d\",\"text\":\"4\"}\n",
        "{\"id\":\"e\",\"text\":\"5\"}\n",
    ];

    /// A job that removed what is decided, before copies are written.
    fn decided(outputs: Outputs) -> StageTest {
        let test = StageTest::against(recipe("md5"), &as_lines(&["left"]), &RECORDS.concat());
        test.deduplicated_to(&[(2, 1, 0.9), (5, 1, 0.9)], stage_counts(), outputs);
        test
    }

    fn copied(outputs: Outputs) -> (StageTest, Option<String>) {
        let test = decided(outputs);
        let ctx = test.context();
        let note = write(&ctx, &Catalogue::load(&ctx).unwrap(), test.folder(), outputs).unwrap();
        drop(ctx);
        (test, note)
    }

    fn content(test: &StageTest, name: &str) -> Option<String> {
        std::fs::read_to_string(test.folder().join(name)).ok()
    }

    #[test]
    fn kept_documents_are_copied_as_they_stand_and_rejected_ones_apart() {
        let (test, note) = copied(Outputs { write: Shards::Kept, ..Outputs::default() });
        let kept = [RECORDS[0], RECORDS[3], RECORDS[5]].concat();
        assert_eq!(content(&test, "kept/docs.jsonl"), Some(kept));
        assert_eq!(content(&test, "rejected/docs.jsonl").as_deref(), Some(RECORDS[2]));
        assert_eq!((note, test.folder().join("removed").exists()), (None, false));
        assert!(!test.folder().join("kept/left.jsonl").exists());
    }

    #[test]
    fn removed_documents_alone_may_be_copied() {
        let (test, _) = copied(Outputs { write: Shards::Removed, ..Outputs::default() });
        assert_eq!(content(&test, "removed/docs.jsonl"), Some([RECORDS[1], RECORDS[4]].concat()));
        assert!(!test.folder().join("kept").exists());
    }

    #[test]
    fn without_copies_no_folder_is_made() {
        let (test, note) = copied(Outputs::default());
        assert_eq!(note, None);
        assert!(["kept", "removed", "rejected"].iter().all(|name| !test.folder().join(name).exists()));
    }

    #[test]
    fn a_kept_document_is_noted_with_its_cluster() {
        let outputs = Outputs { write: Shards::Kept, annotate: true, ..Outputs::default() };
        let test = decided(outputs);
        let ctx = test.context();
        let catalogue = Catalogue::load(&ctx).unwrap();
        RemovalLookup::prepare(&ctx, &catalogue).unwrap();
        let view = catalogue.shards(&ctx).into_iter().find(|view| !view.reference).unwrap();
        let mut decisions = ShardDecisions::of(&ctx, &catalogue, &view, outputs).unwrap();
        let fates: Vec<bool> = (0..6).map(|record| decisions.keeps(record)).collect();
        assert_eq!(fates, [true, false, false, true, false, true]);
        assert_eq!(decisions.count_kept(5), 3);
        let notes =
            [0, 3].map(|record| decisions.note(record).unwrap()).map(|note| (note.cluster, note.copies));
        assert_eq!(notes, [(0, 3), (3, 1)]);
        let removed = Outputs { write: Shards::Removed, ..outputs };
        let decisions = ShardDecisions::of(&ctx, &catalogue, &view, removed).unwrap();
        let fates: Vec<bool> = (0..6).map(|record| decisions.keeps(record)).collect();
        assert_eq!((fates, decisions.count_kept(5)), (vec![false, true, false, false, true, false], 2));
    }

    #[test]
    fn notes_are_refused_where_a_format_has_no_place_for_them() {
        let test = StageTest::new(recipe("md5"), &as_lines(&["a"]));
        let ctx = test.context();
        let source = |format| Source {
            shard: &ctx.corpus.shards()[0],
            format,
            place: 0,
            records: 1,
            rejected: 0,
            digest: None,
        };
        refuse_annotation(&[source(Some(Format::Jsonl)), source(None)]).unwrap();
        let error = refuse_annotation(&[source(Some(Format::Jsonl)), source(Some(Format::Table))])
            .unwrap_err()
            .to_string();
        assert!(error.starts_with("--annotate cannot write into table of docs.jsonl"), "{error}");
    }
}
