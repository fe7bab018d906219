//! The table of rejected records.

use std::path::Path;

use lookalike_corpus::Losses;
use lookalike_corpus::write::rows::{Cell, Column, Kind, RowFormat, RowWriter};

use crate::catalogue::Catalogue;
use crate::context::Context;
use crate::error::EngineError;
use crate::rejections;
use crate::results::Findings;

const REJECTED: &[Column] = &[
    Column::new("source", Kind::Text),
    Column::new("position", Kind::U64),
    Column::new("reason", Kind::Text),
    Column::new("side", Kind::OptionalText).omit_if_none(),
    Column::new("id", Kind::OptionalText).omit_if_none(),
];

pub(super) fn write(
    ctx: &Context<'_>,
    catalogue: &Catalogue,
    folder: &Path,
    format: RowFormat,
    findings: &mut Findings,
) -> Result<(), EngineError> {
    let target = folder.join(format!("rejected{}", format.suffix()));
    let mut rows = RowWriter::create(&target, format, REJECTED, &ctx.recipe.to_toml())?;
    let mut losses = [Losses::default(), Losses::default()];
    rejections::rejected(ctx, catalogue, |view, line| {
        rows.push(&[
            Cell::Text(&view.shard.name),
            Cell::U64(line.position),
            Cell::Text(&line.reason),
            Cell::OptionalText(rejections::side(ctx, view.reference)),
            Cell::OptionalText(line.id.as_deref()),
        ])?;
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
