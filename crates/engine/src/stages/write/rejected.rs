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
