//! The tables of `pairs`: pairs, and groups that are too large to be written as pairs.

use std::path::Path;

use lookalike_corpus::write::rows::{RowFormat, RowWriter};
use lookalike_model::{DocNumber, Pair, VerifiedPair};
use lookalike_store::file::Run;
use lookalike_store::sort::{Codec, Sorter};
use lookalike_tables::groups::{self, GroupRow};
use lookalike_tables::pairs::{self, PairRow};

use super::classes::{Classes, counts_as_equal};
use super::member_rows::MemberRows;
use super::{StageCounts, initial_findings, pair_sorter, rejected};
use crate::catalogue::{Catalogue, Lookup};
use crate::context::Context;
use crate::disk::forecast;
use crate::error::EngineError;
use crate::job::Outputs;
use crate::results::Findings;
use crate::stages::group;
use crate::stages::verify::{self, Pairs};

/// The name of the table of pairs.
pub(crate) fn pairs_name(outputs: Outputs) -> String {
    format!("{}{}", pairs::TABLE.file_name(outputs.format), outputs.suffix)
}

/// Writes the table of `pairs` into `folder`.
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
    let mut sorter = pair_sorter(ctx, catalogue)?;
    let classes = Classes::load(ctx)?;
    let total = count_pairs(ctx, catalogue, &classes)?;
    let table = match (outputs.format, outputs.suffix) {
        (RowFormat::Jsonl, "") => total.saturating_mul(line_bytes(ctx, catalogue)?),
        // How well it is compressed shows only later.
        _ => 0,
    };
    // Before anything is written: a disk that is too small shows at once, and not after hours.
    forecast::require(ctx, sorter.file_bytes(total).saturating_add(table))?;
    // Each pair is sorted and then written.
    ctx.begin("write", Some(total.saturating_mul(2)), false);
    let large_groups = expand(ctx, &classes, &mut sorter)?;
    findings.summary.giant_groups +=
        write_groups(ctx, catalogue, folder, outputs.format, &classes, &large_groups)?;
    equals(ctx, catalogue, &classes, &mut sorter)?;
    let written = write_pairs(ctx, catalogue, folder, outputs, sorter)?;
    debug_assert_eq!(written, total, "the forecast counts what is written");
    findings.summary.pairs = Some(written);
    rejected::write(ctx, catalogue, folder, outputs.format, &mut findings)?;
    Ok(findings)
}

/// From pairs of classes to pairs of documents; returns those of two classes that make too many, which are written down as
/// one group.
fn expand(
    ctx: &Context<'_>,
    classes: &Classes,
    sorter: &mut Sorter<Pairs>,
) -> Result<Vec<Pair>, EngineError> {
    let mut large_groups = Vec::new();
    for path in verify::decision_files(ctx)? {
        let mut records = Run::open(&path, Pairs::label(ctx))?.records();
        while let Some(bytes) = records.next()? {
            let verified = Pairs.get(bytes);
            let [a, b] = verified.pair().documents();
            let (ours, theirs) = (classes.of(&a), classes.of(&b));
            if ours.len() + theirs.len() > ctx.recipe.max_group {
                large_groups.push(verified.pair());
                continue;
            }
            ctx.count_finished_pairs(ours.len() as u64 * theirs.len() as u64);
            for &left in ours {
                for &right in theirs {
                    // Leaders are in order, and further members of the two classes need not be.
                    sorter.push(verified.for_equals(left, right))?;
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
    let sample =
        DocNumber::range(0, catalogue.len()).step_by(catalogue.len().div_ceil(SAMPLE).max(1) as usize);
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
    let mut lookup = Lookup::new(ctx, catalogue);
    for class in classes.all().filter(|class| class.len() <= ctx.recipe.max_group) {
        if !counts_as_equal(ctx, &mut lookup, class)? {
            continue;
        }
        for (index, &b) in class.iter().enumerate() {
            for &a in &class[..index] {
                sorter.push(VerifiedPair::of_equals(Pair::ordered(a, b), 0))?;
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
    let mut rows = RowWriter::create(&target, outputs.format, pairs::COLUMNS, &ctx.recipe.to_toml())?;
    // Pairs are sorted by their first document, and the second one is anywhere: it must not close the units
    // of the first.
    let (mut first, mut second) = (Lookup::new(ctx, catalogue), Lookup::for_table(ctx, catalogue));
    let directed = ctx.directed();
    let mut sorted = sorter.sorted()?;
    let mut count = 0;
    while let Some(verified) = sorted.next()? {
        let [a, b] = verified.pair().documents();
        let (left, right) = (first.names(a)?, second.names(b)?);
        let row = PairRow {
            a: &left.id,
            b: &right.id,
            similarity: Some(verified.forward()),
            reverse: directed.then(|| verified.backward()),
        };
        rows.push(&row.cells())?;
        ctx.count_finished_pairs(1);
        count += 1;
    }
    rows.finish()?;
    Ok(count)
}

/// Writes the groups that are too large to be written as pairs; returns how many of them come from equal documents.
fn write_groups(
    ctx: &Context<'_>,
    catalogue: &Catalogue,
    folder: &Path,
    format: RowFormat,
    classes: &Classes,
    large_groups: &[Pair],
) -> Result<u64, EngineError> {
    let mut rows = MemberRows::create(ctx, catalogue, folder, (groups::TABLE, format))?;
    let mut put = |members: &[DocNumber], pairs: u64, equal: bool| {
        let row = GroupRow { documents: members.len() as u64, pairs, equal, members: &[], members_n: &[] };
        rows.push(&row.cells(), members)
    };
    for mut records in group::giants(ctx)? {
        let mut group = Vec::new();
        while let Some(bytes) = records.next()? {
            match u32::from_le_bytes(bytes.try_into().expect("four bytes")) {
                0 => {
                    put(&group, pair_count(group.len()), false)?;
                    group.clear();
                }
                document => group.push(DocNumber::new(document - 1)),
            }
        }
    }
    let mut equal = large_groups.len() as u64;
    for &pair in large_groups {
        let [a, b] = pair.documents();
        let (ours, theirs) = (classes.of(&a), classes.of(&b));
        let mut all: Vec<DocNumber> = ours.iter().chain(theirs).copied().collect();
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

/// Pairs among so many documents.
fn pair_count(documents: usize) -> u64 {
    let documents = documents as u64;
    documents * documents.saturating_sub(1) / 2
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::JobRecipe;
    use crate::job::Shards;
    use crate::recipe::Task;
    use crate::stages::collapse;
    use crate::tests::context::{StageTest, as_lines, decide_pairs, stage_counts, verified};
    use crate::tests::recipe;
    use lookalike_model::Similarity;
    use serde_json::{Value, json};

    #[test]
    fn pairs_among_documents_are_counted() {
        for (documents, pairs) in [(0, 0), (1, 0), (2, 1), (3, 3), (5, 10)] {
            assert_eq!(pair_count(documents), pairs, "{documents}");
        }
    }

    #[test]
    fn tables_of_pairs_are_named_by_format_and_compression() {
        assert_eq!(pairs_name(Outputs::default()), "pairs.jsonl");
        assert_eq!(pairs_name(Outputs { suffix: ".zst", ..Outputs::default() }), "pairs.jsonl.zst");
        let parquet = Outputs { format: RowFormat::Parquet, write: Shards::None, ..Outputs::default() };
        assert_eq!(pairs_name(parquet), "pairs.parquet");
    }

    /// Writes the tables of `pairs` for what was decided.
    fn paired(test: &StageTest, decided: &[VerifiedPair]) -> Findings {
        let ctx = test.sketched();
        let catalogue = Catalogue::load(&ctx).unwrap();
        collapse::collapse(&ctx, &catalogue).unwrap();
        group::import_candidates(&ctx, std::iter::empty(), 0).unwrap();
        decide_pairs(&ctx, decided);
        write(&ctx, &catalogue, test.folder(), Outputs::default(), stage_counts()).unwrap()
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
        let findings = paired(&test, &[verified((0, 1), 0.9, 0.9, 0)]);
        assert_eq!(rows_of(&test), named(&[(0, 1, 0.9), (0, 2, 1.0), (1, 2, 0.9)]));
        assert_eq!((findings.summary.pairs, findings.summary.giant_groups), (Some(3), 0));
        assert_eq!(test.rows("groups.jsonl"), [] as [Value; 0]);
    }

    #[test]
    fn similarities_both_ways_turn_round_with_their_documents() {
        let recipe = JobRecipe { task: Task::Pairs, similarity: Similarity::Containment, ..recipe("exact") };
        let test = StageTest::new(recipe, &as_lines(&["a", "b", "a"]));
        paired(&test, &[verified((0, 1), 0.9, 0.5, 0)]);
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
        let findings = paired(&test, &[verified((0, 1), 0.9, 0.9, 0)]);
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
