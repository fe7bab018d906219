//! The table of rejected records.

use std::path::Path;

use lookalike_corpus::Losses;
use lookalike_corpus::write::rows::RowFormat;
use lookalike_tables::rejected::{self, RejectedRow};

use crate::catalogue::Catalogue;
use crate::context::Context;
use crate::error::EngineError;
use crate::rejections;
use crate::results::Findings;

pub(super) fn write(
    ctx: &Context<'_>,
    catalogue: &Catalogue,
    folder: &Path,
    format: RowFormat,
    findings: &mut Findings,
) -> Result<(), EngineError> {
    let mut rows = rejected::TABLE.create(folder, format, &ctx.recipe.to_toml())?;
    // Apart for the two corpora, because the summary names a side with every reason where there are two.
    let mut losses = [Losses::default(), Losses::default()];
    rejections::rejected(ctx, catalogue, |view, line| {
        let row = RejectedRow {
            source: &view.shard.name,
            position: line.position,
            reason: &line.reason,
            side: rejections::side(ctx, view.reference),
            id: line.id.as_deref(),
        };
        rows.push(&row.cells())?;
        losses[usize::from(view.reference)].add(
            &view.shard.name,
            line.position,
            Some(view.unit()),
            &line.reason,
        );
        Ok(())
    })?;
    rows.finish()?;
    for (losses, reference) in losses.iter().zip([false, true]) {
        let reasons = match rejections::side(ctx, reference) {
            Some(side) => losses.reasons_of(side),
            None => losses.reasons(),
        };
        for loss in &reasons {
            *findings.rejections.entry(loss.kind.clone()).or_default() += loss.count;
        }
        findings.summary.reasons.extend(reasons);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rejections::rejected_records;
    use crate::tests::context::{StageTest, as_lines, stage_counts};
    use crate::tests::recipe;
    use serde_json::{Value, json};

    #[test]
    fn rejected_records_are_written_with_where_they_stand() {
        let lines = "{\"id\":\"a\",\"text\":\"one\"}\n{}\n{\"id\":\"b\",\"text\":\"two\"}\nnothing\n";
        let test = StageTest::new(recipe("md5"), lines);
        let findings = test.deduplicated(&[], stage_counts());
        let rows = test.rows("rejected.jsonl");
        let positions: Vec<&Value> = rows.iter().map(|row| &row["position"]).collect();
        assert_eq!(positions, [lines.find("{}").unwrap(), lines.find("nothing").unwrap()]);
        assert!(rows.iter().all(|row| row["source"] == "docs.jsonl" && row.get("side").is_none()));
        assert_eq!((findings.summary.documents, findings.summary.rejected, findings.summary.kept), (4, 2, 2));
        assert_eq!(findings.rejections.values().sum::<u64>(), 2);
        let ctx = test.context();
        let catalogue = Catalogue::load(&ctx).unwrap();
        let views = catalogue.shards(&ctx);
        assert_eq!(rejected_records(&ctx, &catalogue, &views[0]).unwrap(), [1, 3]);
    }

    #[test]
    fn rejections_of_both_corpora_are_told_apart() {
        let (left, right) =
            (format!("{}{{}}\n", as_lines(&["a"])), format!("{}{{}}\n{{}}\n", as_lines(&["b", "c"])));
        let test = StageTest::against(recipe("md5"), &left, &right);
        let summary = test.deduplicated(&[], stage_counts()).summary;
        assert_eq!((summary.rejected, summary.against_rejected), (2, 1));
        let sides: Vec<Value> = test.rows("rejected.jsonl").iter().map(|row| row["side"].clone()).collect();
        assert_eq!(sides, [json!("other"), Value::Null, Value::Null]);
        let counts: Vec<(Option<&str>, u64)> =
            summary.reasons.iter().map(|loss| (loss.side.as_deref(), loss.count)).collect();
        assert_eq!(counts, [(None, 2), (Some("other"), 1)]);
        let ctx = test.context();
        let catalogue = Catalogue::load(&ctx).unwrap();
        let views = catalogue.shards(&ctx);
        assert_eq!(
            views.iter().map(|view| rejected_records(&ctx, &catalogue, view).unwrap()).collect::<Vec<_>>(),
            [vec![1], vec![2, 3]]
        );
    }
}
