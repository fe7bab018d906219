//! Rows of tables that end with a list of documents.

use std::path::Path;

use lookalike_corpus::write::rows::{Cell, ListValue, RowFormat, RowWriter};
use lookalike_model::DocNumber;
use lookalike_tables::Table;

use super::ordinal;
use crate::catalogue::{Catalogue, Lookup};
use crate::context::Context;
use crate::error::EngineError;

/// Rows of more documents than this are looked at before they are written as Parquet, where a row must be in memory as a whole.
const LONG_ROW: usize = 1 << 16;
/// Bytes that a document of a row takes in Parquet beside its id, and how often the id is there.
const PER_MEMBER: u64 = 96;
const ID_TIMES: u64 = 4;

/// Writes a row that ends with the ids of `members` and, behind these, their ordinals. As JSON lines they are written one by one, so that
/// a million of them take no memory but their numbers.
pub(super) struct MemberRows<'c> {
    ctx: &'c Context<'c>,
    catalogue: &'c Catalogue,
    format: RowFormat,
    pub(super) rows: RowWriter,
    pub(super) lookup: Lookup<'c>,
}

impl<'c> MemberRows<'c> {
    pub(super) fn create(
        ctx: &'c Context<'c>,
        catalogue: &'c Catalogue,
        folder: &Path,
        (table, format): (Table, RowFormat),
    ) -> Result<Self, EngineError> {
        let rows = table.create(folder, format, &ctx.recipe.to_toml())?;
        Ok(MemberRows { ctx, catalogue, format, rows, lookup: Lookup::new(ctx, catalogue) })
    }

    /// Adds a row. Empty lists among its cells stand for those of the members.
    pub(super) fn push(&mut self, cells: &[Cell<'_>], members: &[DocNumber]) -> Result<(), EngineError> {
        self.admit(members)?;
        let MemberRows { catalogue, rows, lookup, .. } = self;
        // Of the two lists of a row the ids are text and the ordinals are numbers, which tells the columns
        // apart in any table.
        let texts = cells.iter().position(|cell| matches!(cell, Cell::ListOfText(_)));
        rows.push_lists(
            cells,
            |_| members.len(),
            |column, index| {
                Ok(match Some(column) == texts {
                    true => ListValue::Text(lookup.names(members[index])?.id),
                    false => ListValue::U64(ordinal(catalogue, members[index])),
                })
            },
        )
    }

    fn admit(&mut self, members: &[DocNumber]) -> Result<(), EngineError> {
        match self.format {
            RowFormat::Jsonl => Ok(()),
            RowFormat::Parquet => admit_row(self.ctx, self.catalogue, &mut self.lookup, members),
        }
    }

    pub(super) fn finish(self) -> Result<(), EngineError> {
        Ok(self.rows.finish()?)
    }
}

/// Refuses a row of Parquet with the ids of so many documents that it does not fit into memory.
pub(super) fn admit_row(
    ctx: &Context<'_>,
    catalogue: &Catalogue,
    lookup: &mut Lookup<'_>,
    members: &[DocNumber],
) -> Result<(), EngineError> {
    if members.len() <= LONG_ROW {
        return Ok(());
    }
    // First what `Budget::admit` promises for each document, which `reservable` knows nothing of.
    let mut bytes = 16 * u64::from(catalogue.len()) + PER_MEMBER * members.len() as u64;
    for &member in members {
        bytes += ID_TIMES * lookup.names(member)?.id.len() as u64;
    }
    if bytes > ctx.budget.reservable() {
        let what =
            format!("a row of {} documents in a Parquet table (JSON lines need no more)", members.len());
        return Err(ctx.budget.too_small_for(&what, bytes));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::context::{StageTest, as_lines};
    use crate::tests::recipe;

    #[test]
    fn a_row_of_parquet_must_fit_into_memory() {
        let test = StageTest::new(recipe("md5"), &as_lines(&["a"]));
        let mut ctx = test.sketched();
        let catalogue = Catalogue::load(&ctx).unwrap();
        let admit = |ctx: &Context<'_>, members: usize| {
            admit_row(ctx, &catalogue, &mut Lookup::new(ctx, &catalogue), &vec![DocNumber::new(0); members])
        };
        assert!(admit(&ctx, LONG_ROW + 1).is_ok());
        ctx.budget.reserve(ctx.budget.reservable() - 1024, "nearly all").unwrap();
        assert!(admit(&ctx, LONG_ROW).is_ok(), "short rows are not looked at");
        let error = admit(&ctx, LONG_ROW + 1).unwrap_err().to_string();
        assert!(error.contains("a row of 65537 documents in a Parquet table"), "{error}");
    }
}
