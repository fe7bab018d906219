//! Rows of tables that end with a list of documents.

use std::path::Path;

use lookalike_corpus::write::rows::{Cell, ListValue, RowFormat, RowWriter};
use lookalike_model::DocNumber;
use lookalike_tables::Table;

use super::ordinal;
use crate::catalogue::{Catalogue, Lookup};
use crate::context::Context;
use crate::error::EngineError;

/// Writes a row that ends with the ids of `members` and, behind these, their ordinals. They are written one by one, so that a
/// million of them take no memory but their numbers.
pub(super) struct MemberRows<'c> {
    catalogue: &'c Catalogue,
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
        Ok(MemberRows { catalogue, rows, lookup: Lookup::new(ctx, catalogue) })
    }

    /// Adds a row. Empty lists among its cells stand for those of the members.
    pub(super) fn push(&mut self, cells: &[Cell<'_>], members: &[DocNumber]) -> Result<(), EngineError> {
        let MemberRows { catalogue, rows, lookup } = self;
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

    pub(super) fn finish(self) -> Result<(), EngineError> {
        Ok(self.rows.finish()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::context::{StageTest, as_lines};
    use crate::tests::recipe;
    use lookalike_tables::clusters::{self, ClusterRow};

    #[test]
    fn a_row_of_parquet_need_not_fit_into_memory() {
        let test = StageTest::new(recipe("md5"), &as_lines(&["a"]));
        let mut ctx = test.sketched();
        let catalogue = Catalogue::load(&ctx).unwrap();
        ctx.budget.reserve(ctx.budget.reservable() - 1024, "nearly all").unwrap();
        let written = (clusters::TABLE, RowFormat::Parquet);
        let mut table = MemberRows::create(&ctx, &catalogue, test.folder(), written).unwrap();
        let row = ClusterRow { cluster: 0, keep: "d0", members: &[], members_n: &[], against: None };
        table.push(&row.cells(), &vec![DocNumber::new(0); 150_000]).unwrap();
        table.finish().unwrap();
    }
}
