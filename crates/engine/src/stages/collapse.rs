//! The stage `collapse`: documents with the same words in the same order become one class, led by its first.

use serde::{Deserialize, Serialize};

use crate::catalogue::{Bits, Catalogue};
use crate::context::{Context, remove_if_there};
use crate::error::EngineError;
use crate::stages::sketch::Row;
use crate::store::file::{Records, Run, RunWriter};
use crate::store::sort::{Codec, Couples, Digests, Sorted, Sorter, couple, existing, uncouple};

/// The counts of the stage, beside the classes themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct ClassCounts {
    /// Documents of the input beyond the first of each class.
    pub(crate) exact_duplicates: u64,
    /// Documents of the input whose id an earlier one bears.
    pub(crate) duplicate_ids: u64,
    /// The same of the corpus that the input is compared with.
    pub(crate) duplicate_ids_against: u64,
    /// Ids that both corpora have.
    pub(crate) common_ids: u64,
}

const FILE: &str = "classes";

/// Finds the classes, unless that was done.
pub(crate) fn collapse(ctx: &Context<'_>, catalogue: &Catalogue) -> Result<ClassCounts, EngineError> {
    if let Some(done) = ctx.saved("classes.done")? {
        return Ok(done);
    }
    ctx.begin("collapse", Some(catalogue.len().into()), false);
    let memory = ctx.budget.free(0, 0) as usize / 4;
    for name in ["digests", "ids", "members"] {
        for run in existing(&ctx.run_location(name))? {
            remove_if_there(&run)?;
        }
    }
    let mut digests = Sorter::new(ctx.run_location("digests"), Digests, memory);
    let mut ids = Sorter::new(ctx.run_location("ids"), Digests, memory);
    catalogue.rows(ctx, |document, row| {
        ctx.watch.steps.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        if row.words == Row::REJECTED {
            return Ok(());
        }
        ids.push((row.id, document))?;
        if row.words > 0 { digests.push((row.digest, document)) } else { Ok(()) }
    })?;
    let ids = count_repeated_ids(ids.sorted()?, catalogue.references())?;
    let mut members = Sorter::new(ctx.run_location("members"), Couples, memory);
    let mut sorted = digests.sorted()?;
    let (mut first, mut exact_duplicates) = (None::<(u128, u32)>, 0);
    while let Some((digest, document)) = sorted.next()? {
        match first {
            Some((same, leader)) if same == digest => {
                exact_duplicates += u64::from(document >= catalogue.references());
                members.push(couple(leader, document))?;
            }
            _ => first = Some((digest, document)),
        }
    }
    drop(sorted);
    let mut sorted = members.sorted()?;
    let mut writer = RunWriter::create(&ctx.file(FILE), ctx.label(Couples::KIND, Couples.width()))?;
    while let Some(member) = sorted.next()? {
        writer.push(&member.to_le_bytes())?;
    }
    drop(sorted);
    writer.finish()?;
    let done = ClassCounts { exact_duplicates, ..ids };
    ctx.save("classes.done", &done)?;
    for name in ["digests", "ids", "members"] {
        for run in existing(&ctx.run_location(name))? {
            remove_if_there(&run)?;
        }
    }
    Ok(done)
}

/// Counts ids that come again, on either side of `references` and on both.
fn count_repeated_ids(mut ids: Sorted<Digests>, references: u32) -> Result<ClassCounts, EngineError> {
    let mut found = ClassCounts::default();
    let mut last: Option<(u128, u32)> = None;
    while let Some((id, document)) = ids.next()? {
        if let Some((_, before)) = last.filter(|(same, _)| *same == id) {
            match (before < references, document < references) {
                (true, true) => found.duplicate_ids_against += 1,
                (false, _) => found.duplicate_ids += 1,
                (true, false) => found.common_ids += 1,
            }
        }
        last = Some((id, document));
    }
    Ok(found)
}

/// Calls `each` with `(leader, member)` for every document beyond its class's first, sorted.
pub(crate) fn class_members(
    ctx: &Context<'_>,
    mut each: impl FnMut(u32, u32) -> Result<(), EngineError>,
) -> Result<(), EngineError> {
    let mut records = Run::open(&ctx.file(FILE), ctx.label(Couples::KIND, Couples.width()))?.records();
    while let Some(bytes) = records.next()? {
        let (leader, member) = uncouple(Couples.get(bytes));
        each(leader, member)?;
    }
    Ok(())
}

/// The classes of several documents, one after the other, read from their file.
pub(crate) struct ClassReader {
    records: Records,
    /// The next leader and member.
    next: Option<(u32, u32)>,
    /// The class under way.
    leader: Option<u32>,
}

impl ClassReader {
    pub(crate) fn open(ctx: &Context<'_>) -> Result<Self, EngineError> {
        let records = Run::open(&ctx.file(FILE), ctx.label(Couples::KIND, Couples.width()))?.records();
        let mut members = ClassReader { records, next: None, leader: None };
        members.advance()?;
        Ok(members)
    }

    fn advance(&mut self) -> Result<(), EngineError> {
        self.next = self.records.next()?.map(|bytes| uncouple(Couples.get(bytes)));
        Ok(())
    }

    /// Begins the next class, behind all members of the last; returns the first of its documents.
    pub(crate) fn next_class(&mut self) -> Result<Option<u32>, EngineError> {
        while self.next_member()?.is_some() {}
        self.leader = self.next.map(|(leader, _)| leader);
        Ok(self.leader)
    }

    /// The next document of the class beyond its first, in order.
    pub(crate) fn next_member(&mut self) -> Result<Option<u32>, EngineError> {
        let found = self.next.filter(|&(leader, _)| Some(leader) == self.leader);
        if found.is_some() {
            self.advance()?;
        }
        Ok(found.map(|(_, member)| member))
    }
}

/// The documents that another one stands for.
pub(crate) fn represented(ctx: &Context<'_>, catalogue: &Catalogue) -> Result<Bits, EngineError> {
    let mut bits = Bits::new(catalogue.len());
    class_members(ctx, |_, member| {
        bits.set(member);
        Ok(())
    })?;
    Ok(bits)
}
