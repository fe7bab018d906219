//! The tables of `dedup`: removed documents and clusters.

use std::collections::BTreeMap;
use std::path::Path;

use lookalike_corpus::write::rows::RowFormat;
use lookalike_model::{BigCluster, DocNumber};
use lookalike_store::file::RunWriter;
use lookalike_store::sort::{Couples, Sorter, couple, existing, uncouple};
use lookalike_tables::clusters::{self, ClusterRow};
use lookalike_tables::removed::{self, RemovedRow};

use super::member_rows::MemberRows;
use super::removals::{SIZES, removals, sort_removals};
use super::{StageCounts, initial_findings, ordinal, rejected, samples, shares};
use crate::catalogue::{Catalogue, Lookup};
use crate::context::Context;
use crate::error::EngineError;
use crate::job::Outputs;
use crate::recipe::ClusterRule;
use crate::results::{Findings, ShownCluster};

/// Large clusters that are shown.
const BIGGEST: usize = 12;
/// Ids that are shown of each.
const MEMBERS: usize = 6;
/// Bytes that a report shows of an id.
const SHOWN_ID: usize = 1 << 10;

/// Writes the tables of `dedup`.
pub(crate) fn write(
    ctx: &Context<'_>,
    catalogue: &Catalogue,
    folder: &Path,
    outputs: Outputs,
    stages: StageCounts,
) -> Result<Findings, EngineError> {
    ctx.begin("write", None, false);
    let mut findings = initial_findings(ctx, catalogue, &stages);
    findings.summary.removed = sort_removals(ctx, catalogue)?;
    write_removed(ctx, catalogue, folder, outputs.format)?;
    write_clusters(ctx, catalogue, folder, outputs.format, &mut findings)?;
    rejected::write(ctx, catalogue, folder, outputs.format, &mut findings)?;
    shares::count(ctx, catalogue, &mut findings)?;
    let summary = &mut findings.summary;
    summary.kept = summary.documents - summary.removed - summary.rejected;
    samples::choose(ctx, &stages.tally, &mut findings)?;
    Ok(findings)
}

/// Returns the value of the column `against`: `other` for a document of the other corpus, nothing for one of the input.
fn against(catalogue: &Catalogue, document: DocNumber) -> Option<&'static str> {
    catalogue.is_reference(document).then_some("other")
}

fn write_removed(
    ctx: &Context<'_>,
    catalogue: &Catalogue,
    folder: &Path,
    format: RowFormat,
) -> Result<(), EngineError> {
    let mut rows = removed::TABLE.create(folder, format, &ctx.recipe.to_toml())?;
    let components = ctx.recipe.cluster == ClusterRule::Components;
    // Removed documents come in order, their witnesses in none: a lookup for each keeps the units of the
    // former open.
    let (mut own, mut other) = (Lookup::new(ctx, catalogue), Lookup::for_table(ctx, catalogue));
    removals(ctx, |removal| {
        let names = own.names(removal.document)?;
        let witness = other.names(removal.witness)?;
        let via = if components { Some(other.names(removal.via)?.id) } else { None };
        let row = RemovedRow {
            id: &names.id,
            witness: &witness.id,
            similarity: Some(removal.similarity),
            cluster: ordinal(catalogue, removal.witness),
            n: ordinal(catalogue, removal.document),
            witness_n: ordinal(catalogue, removal.witness),
            via: via.as_deref(),
            against: against(catalogue, removal.witness),
        };
        Ok(rows.push(&row.cells())?)
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
    removals(ctx, |removal| Ok(sorter.push(couple(removal.witness.get(), removal.document.get()))?))?;
    let mut table = MemberRows::create(ctx, catalogue, folder, (clusters::TABLE, format))?;
    let mut sizes = RunWriter::create(&ctx.file(SIZES), ctx.label("sizes", 8))?;
    let mut bins: BTreeMap<u32, u64> = BTreeMap::new();
    let mut put = |members: &mut Vec<DocNumber>| -> Result<(), EngineError> {
        let Some(&kept_document) = members.first() else { return Ok(()) };
        // The kept document came first and is known by now. By other keep rules than `first` it need not have
        // the lowest number.
        members.sort_unstable();
        let keep = table.lookup.names(kept_document)?.id;
        let cluster = ordinal(catalogue, kept_document);
        let row = ClusterRow {
            cluster,
            keep: &keep,
            members: &[],
            members_n: &[],
            against: against(catalogue, kept_document),
        };
        table.push(&row.cells(), members)?;
        let size = members.len() as u64;
        // Clusters come in the order of their kept documents, so that the file can be searched by halves.
        sizes.push(&couple(kept_document.get(), members.len() as u32).to_le_bytes())?;
        findings.summary.clusters += 1;
        *bins.entry(size.ilog2()).or_default() += 1;
        findings.biggest.push(ShownCluster {
            facts: BigCluster { cluster, size, ..BigCluster::default() },
            kept_document,
            shown: members.iter().take(MEMBERS).copied().collect(),
        });
        // Not for every cluster: there may be as many as documents, and each trim sorts.
        if findings.biggest.len() > 8 * BIGGEST {
            trim_biggest(&mut findings.biggest);
        }
        members.clear();
        Ok(())
    };
    let mut sorted = sorter.sorted()?;
    let mut members: Vec<DocNumber> = Vec::new();
    while let Some(pair) = sorted.next()? {
        let (kept_document, member) = uncouple(pair);
        let [kept_document, member] = [kept_document, member].map(DocNumber::new);
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
        // Only now: ids are read of the clusters that are shown, not of all that were among the largest for a
        // while.
        cluster.facts.keep = shown_id(&mut lookup, cluster.kept_document)?;
        let ids = cluster.shown.iter().map(|&member| shown_id(&mut lookup, member));
        cluster.facts.members = ids.collect::<Result<_, _>>()?;
    }
    findings.cluster_sizes =
        bins.into_iter().map(|(power, count)| (1 << power, (2 << power) - 1, count)).collect();
    Ok(())
}

/// An id as a report shows it, the end of a very long one left out.
fn shown_id(lookup: &mut Lookup<'_>, document: DocNumber) -> Result<String, EngineError> {
    let mut id = lookup.names(document)?.id;
    if id.len() > SHOWN_ID {
        id.truncate(id.floor_char_boundary(SHOWN_ID));
        id.push('…');
        id.shrink_to_fit();
    }
    Ok(id)
}

fn trim_biggest(biggest: &mut Vec<ShownCluster>) {
    biggest.sort_by_key(|cluster| (std::cmp::Reverse(cluster.facts.size), cluster.facts.cluster));
    biggest.truncate(BIGGEST);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::context::{StageTest, as_lines, stage_counts};
    use crate::tests::recipe;
    use serde_json::json;

    #[test]
    fn the_largest_clusters_are_kept_and_of_equals_the_first() {
        let cluster = |cluster, size| ShownCluster {
            facts: BigCluster { cluster, size, ..BigCluster::default() },
            ..ShownCluster::default()
        };
        let mut biggest: Vec<ShownCluster> =
            (0..20).map(|n| cluster(n, if n == 19 { 9 } else { 2 })).collect();
        trim_biggest(&mut biggest);
        let found: Vec<u64> = biggest.iter().map(|cluster| cluster.facts.cluster).collect();
        assert_eq!(found, [19, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    }

    #[test]
    fn removed_documents_are_written_in_order_with_their_witnesses() {
        let test = StageTest::new(recipe("md5"), &as_lines(&["a", "b", "c", "d", "e"]));
        test.deduplicated(&[(4, 2, 0.85), (3, 0, 0.9), (1, 0, 1.0)], stage_counts());
        let row = |id: &str, witness: &str, similarity: f64, n: u64, witness_n: u64| json!({"id": id, "witness": witness, "similarity": similarity, "cluster": witness_n, "n": n, "witness_n": witness_n});
        assert_eq!(
            test.rows("removed.jsonl"),
            [row("d1", "d0", 1.0, 1, 0), row("d3", "d0", 0.9, 3, 0), row("d4", "d2", 0.85, 4, 2)]
        );
    }

    #[test]
    fn a_witness_of_the_other_corpus_has_its_number_there() {
        let test = StageTest::against(recipe("md5"), &as_lines(&["a", "b"]), &as_lines(&["c", "d"]));
        let findings = test.deduplicated(&[(3, 1, 0.9)], stage_counts());
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
        let findings =
            test.deduplicated(&[(0, 3, 0.9), (1, 3, 1.0), (4, 2, 0.85), (5, 3, 0.8)], stage_counts());
        let rows = test.rows("clusters.jsonl");
        assert_eq!(
            rows[0],
            json!({"cluster": 2, "keep": "d2", "members": ["d2", "d4"], "members_n": [2, 4]})
        );
        assert_eq!(rows[1]["keep"], "d3");
        assert_eq!(rows[1]["members_n"], json!([0, 1, 3, 5]));
        assert_eq!((findings.summary.clusters, findings.summary.removed, findings.summary.kept), (2, 4, 2));
        assert_eq!(findings.cluster_sizes, [(2, 3, 1), (4, 7, 1)]);
        let biggest: Vec<_> = findings
            .biggest
            .iter()
            .map(|one| (one.facts.keep.as_str(), one.facts.size, one.facts.members.len()))
            .collect();
        assert_eq!(biggest, [("d3", 4, 4), ("d2", 2, 2)]);
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
        assert_eq!(shown_id(&mut lookup, DocNumber::new(0)).unwrap(), format!("{}…", "é".repeat(512)));
        assert_eq!(shown_id(&mut lookup, DocNumber::new(1)).unwrap(), "d0");
    }
}
