//! The stage `collapse`: documents with the same words in the same order become one class, led by its first.

use lookalike_model::{ClassId, DocNumber};
use lookalike_store::bits::Bits;
use lookalike_store::file::{Label, Records, Run, RunWriter};
use lookalike_store::sort::{Codec, Couples, Digests, Sorted, Sorter, couple, existing, uncouple};
use serde::{Deserialize, Serialize};

use crate::catalogue::Catalogue;
use crate::context::{Context, remove_if_there};
use crate::error::EngineError;
use crate::stages::sketch::Row;

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

/// A document beyond the first of its class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ClassMember {
    pub(crate) class: ClassId,
    pub(crate) document: DocNumber,
}

impl ClassMember {
    /// The member as a number that sorts by class and then by document.
    #[inline]
    pub(crate) fn pack(self) -> u64 {
        couple(self.class.get(), self.document.get())
    }

    /// The member that [`ClassMember::pack`] made a number of.
    #[inline]
    pub(crate) fn unpack(packed: u64) -> Self {
        let (class, document) = uncouple(packed);
        ClassMember { class: ClassId::new(class), document: DocNumber::new(document) }
    }

    pub(crate) fn label(ctx: &Context<'_>) -> Label {
        ctx.label(Couples::KIND, Couples.width())
    }
}

/// Finds the classes, unless that was done.
pub(crate) fn collapse(ctx: &Context<'_>, catalogue: &Catalogue) -> Result<ClassCounts, EngineError> {
    if let Some(done) = ctx.saved("classes.done")? {
        return Ok(done);
    }
    ctx.begin("collapse", Some(catalogue.len().into()), false);
    // A quarter for each sorter: that of ids is read to its end before that of members begins, so that there
    // are two at a time, and a merge of runs has room beside them.
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
        ids.push((row.id, document.get()))?;
        // All documents without words have the digest 0, and would become one class.
        if row.words > 0 { Ok(digests.push((row.digest, document.get()))?) } else { Ok(()) }
    })?;
    let ids = count_repeated_ids(ids.sorted()?, catalogue.references())?;
    let mut members = Sorter::new(ctx.run_location("members"), Couples, memory);
    let mut sorted = digests.sorted()?;
    let (mut first, mut exact_duplicates) = (None::<(u128, ClassId)>, 0);
    while let Some((digest, document)) = sorted.next()? {
        let document = DocNumber::new(document);
        match first {
            // Digests sort together with their documents, so that a class is led by its lowest number. The
            // stage `group` counts on that: of two corpora the left one leads.
            Some((same, class)) if same == digest => {
                exact_duplicates += u64::from(!catalogue.is_reference(document));
                // Digests come in an order that the secret of the job decides. By leader the file is in the
                // order of documents and can be searched by halves, and its records are the same for every
                // secret.
                members.push(ClassMember { class, document }.pack())?;
            }
            _ => first = Some((digest, ClassId::led_by(document))),
        }
    }
    drop(sorted);
    let mut sorted = members.sorted()?;
    let mut writer = RunWriter::create(&ctx.file(FILE), ClassMember::label(ctx))?;
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
            // Documents to compare with have the lower numbers, so that of one id only two neighbours can be
            // on different sides: `common_ids` counts ids, and the other two count documents.
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

/// Calls `each` with every document beyond its class's first, sorted.
pub(crate) fn class_members(
    ctx: &Context<'_>,
    mut each: impl FnMut(ClassMember) -> Result<(), EngineError>,
) -> Result<(), EngineError> {
    let mut records = Run::open(&ctx.file(FILE), ClassMember::label(ctx))?.records();
    while let Some(bytes) = records.next()? {
        each(ClassMember::unpack(Couples.get(bytes)))?;
    }
    Ok(())
}

/// The classes of several documents, one after the other, read from their file.
pub(crate) struct ClassReader {
    records: Records,
    next: Option<ClassMember>,
    /// The class under way.
    class: Option<ClassId>,
}

impl ClassReader {
    pub(crate) fn open(ctx: &Context<'_>) -> Result<Self, EngineError> {
        let records = Run::open(&ctx.file(FILE), ClassMember::label(ctx))?.records();
        let mut members = ClassReader { records, next: None, class: None };
        members.advance()?;
        Ok(members)
    }

    fn advance(&mut self) -> Result<(), EngineError> {
        self.next = self.records.next()?.map(|bytes| ClassMember::unpack(Couples.get(bytes)));
        Ok(())
    }

    /// Begins the next class, behind all members of the last.
    pub(crate) fn next_class(&mut self) -> Result<Option<ClassId>, EngineError> {
        while self.next_member()?.is_some() {}
        self.class = self.next.map(|member| member.class);
        Ok(self.class)
    }

    /// The next document of the class beyond its first, in order.
    pub(crate) fn next_member(&mut self) -> Result<Option<DocNumber>, EngineError> {
        let found = self.next.filter(|member| Some(member.class) == self.class);
        if found.is_some() {
            self.advance()?;
        }
        Ok(found.map(|member| member.document))
    }
}

/// The documents that another one stands for.
pub(crate) fn represented(ctx: &Context<'_>, catalogue: &Catalogue) -> Result<Bits, EngineError> {
    let mut bits = Bits::new(catalogue.len());
    class_members(ctx, |member| {
        bits.set(member.document);
        Ok(())
    })?;
    Ok(bits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::context::{StageTest, as_lines, doc};
    use crate::tests::recipe;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn classes_of(ctx: &Context<'_>) -> Vec<(u32, u32)> {
        let mut found = Vec::new();
        class_members(ctx, |ClassMember { class, document }| {
            found.push((class.leader().get(), document.get()));
            Ok(())
        })
        .unwrap();
        found
    }

    #[test]
    fn equal_words_are_one_class_led_by_its_first() {
        let lines = as_lines(&["one two", "three", "one  two", "two one", "three", "One, two!"]);
        let test = StageTest::new(recipe("md5"), &lines);
        let ctx = test.sketched();
        let counts = collapse(&ctx, &Catalogue::load(&ctx).unwrap()).unwrap();
        assert_eq!(classes_of(&ctx), [(0, 2), (0, 5), (1, 4)]);
        assert_eq!(counts, ClassCounts { exact_duplicates: 3, ..ClassCounts::default() });
    }

    #[test]
    fn documents_without_words_equal_nothing() {
        let test = StageTest::new(recipe("md5"), &as_lines(&["...", "...", "word", "!"]));
        let ctx = test.sketched();
        assert_eq!(collapse(&ctx, &Catalogue::load(&ctx).unwrap()).unwrap(), ClassCounts::default());
        assert_eq!(classes_of(&ctx), []);
    }

    #[test]
    fn duplicates_of_the_input_alone_are_counted() {
        let (left, right) = (as_lines(&["same", "same", "left"]), as_lines(&["same", "right", "right"]));
        let test = StageTest::against(recipe("md5"), &left, &right);
        let ctx = test.sketched();
        let counts = collapse(&ctx, &Catalogue::load(&ctx).unwrap()).unwrap();
        assert_eq!(classes_of(&ctx), [(0, 1), (0, 3), (4, 5)]);
        assert_eq!((counts.exact_duplicates, counts.common_ids), (2, 3));
    }

    #[test]
    fn rejected_records_have_no_id_that_comes_again() {
        let lines = "{\"id\":\"a\",\"text\":\"one\"}\n{}\n{}\n{\"id\":\"a\",\"text\":\"two\"}\n";
        let test = StageTest::new(recipe("md5"), lines);
        let ctx = test.sketched();
        let counts = collapse(&ctx, &Catalogue::load(&ctx).unwrap()).unwrap();
        assert_eq!(counts, ClassCounts { duplicate_ids: 1, ..ClassCounts::default() });
    }

    proptest! {
        #[test]
        fn members_sort_by_class_and_are_unpacked(one: (u32, u32), two: (u32, u32)) {
            let member =
                |(leader, document)| ClassMember { class: ClassId::led_by(doc(leader)), document: doc(document) };
            prop_assert_eq!(ClassMember::unpack(member(one).pack()), member(one));
            prop_assert_eq!(member(one).pack().cmp(&member(two).pack()), one.cmp(&two));
        }

        #[test]
        fn repeated_ids_are_counted_as_by_hand(ids in prop::collection::vec(0u128..6, 0..20), references in 0u32..20) {
            let folder = tempfile::tempdir().unwrap();
            let location = lookalike_store::sort::RunLocation {
                folder: folder.path().to_owned(),
                name: "ids".to_owned(),
                stamp: 1,
            };
            let mut sorter = Sorter::new(location, Digests, 1 << 16);
            let mut sides: BTreeMap<u128, [u64; 2]> = BTreeMap::new();
            for (document, &id) in (0..).zip(&ids) {
                sorter.push((id, document)).unwrap();
                sides.entry(id).or_default()[usize::from(document >= references)] += 1;
            }
            let found = count_repeated_ids(sorter.sorted().unwrap(), references).unwrap();
            let again = |side: usize| sides.values().map(|counts| counts[side].saturating_sub(1)).sum::<u64>();
            let both = sides.values().filter(|counts| counts[0] > 0 && counts[1] > 0).count() as u64;
            prop_assert_eq!(
                found,
                ClassCounts {
                    exact_duplicates: 0,
                    duplicate_ids: again(1),
                    duplicate_ids_against: again(0),
                    common_ids: both,
                }
            );
        }
    }

    #[test]
    fn a_reader_passes_over_members_that_nobody_took() {
        let test = StageTest::new(recipe("md5"), &as_lines(&["a", "b", "a", "c", "b", "a", "c"]));
        let ctx = test.sketched();
        collapse(&ctx, &Catalogue::load(&ctx).unwrap()).unwrap();
        let class = |leader| ClassId::led_by(doc(leader));
        let mut reader = ClassReader::open(&ctx).unwrap();
        assert_eq!(reader.next_member().unwrap(), None, "no class has begun");
        assert_eq!(reader.next_class().unwrap(), Some(class(0)));
        assert_eq!(reader.next_member().unwrap(), Some(doc(2)));
        assert_eq!(reader.next_class().unwrap(), Some(class(1)));
        assert_eq!((reader.next_member().unwrap(), reader.next_member().unwrap()), (Some(doc(4)), None));
        assert_eq!(reader.next_class().unwrap(), Some(class(3)));
        assert_eq!((reader.next_class().unwrap(), reader.next_member().unwrap()), (None, None));
    }

    #[test]
    fn all_but_the_first_of_a_class_are_represented() {
        let test = StageTest::new(recipe("md5"), &as_lines(&["a", "b", "a", "c", "b"]));
        let ctx = test.sketched();
        let catalogue = Catalogue::load(&ctx).unwrap();
        collapse(&ctx, &catalogue).unwrap();
        let bits = represented(&ctx, &catalogue).unwrap();
        assert_eq!((0..5u32).filter(|&document| bits.get(document)).collect::<Vec<_>>(), [2, 4]);
    }

    #[test]
    fn a_stage_that_was_done_is_not_done_again() {
        let test = StageTest::new(recipe("md5"), &as_lines(&["a", "a"]));
        let ctx = test.sketched();
        let done = ClassCounts { exact_duplicates: 77, ..ClassCounts::default() };
        ctx.save("classes.done", &done).unwrap();
        assert_eq!(collapse(&ctx, &Catalogue::load(&ctx).unwrap()).unwrap(), done);
        assert!(!ctx.file(FILE).exists());
    }
}
