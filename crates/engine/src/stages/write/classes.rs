//! Classes of equal documents, for tables that have each of their pairs.

use lookalike_model::DocNumber;
use lookalike_store::file::Run;
use lookalike_store::sort::Codec;

use crate::catalogue::Lookup;
use crate::context::Context;
use crate::error::EngineError;
use crate::stages::collapse::{self, ClassMember};
use crate::stages::verify::{self, Pairs};

/// All classes of equal documents. In memory: `pairs` writes each of their pairs, which is far more.
pub(super) struct Classes {
    members: Vec<DocNumber>,
    /// The index in `members` of each class, sorted by its first document, and at the end the number of all members.
    starts: Vec<usize>,
}

impl Classes {
    pub(super) fn load(ctx: &Context<'_>) -> Result<Self, EngineError> {
        // One list for all classes, each with its leader in front: a class is a slice of it, and none costs
        // an allocation of its own.
        let (mut members, mut starts) = (Vec::new(), Vec::new());
        let mut last = None;
        collapse::class_members(ctx, |ClassMember { class, document }| {
            if last != Some(class) {
                starts.push(members.len());
                members.push(class.leader());
                last = Some(class);
            }
            members.push(document);
            Ok(())
        })?;
        starts.push(members.len());
        Ok(Classes { members, starts })
    }

    /// The sum of what `pairs` says of each two classes that were decided to be near.
    pub(super) fn count_pairs(
        &self,
        ctx: &Context<'_>,
        pairs: impl Fn(&[DocNumber], &[DocNumber]) -> u64,
    ) -> Result<u64, EngineError> {
        let mut total = 0u64;
        for path in verify::decision_files(ctx)? {
            let mut records = Run::open(&path, Pairs::label(ctx))?.records();
            while let Some(bytes) = records.next()? {
                let [a, b] = Pairs.get(bytes).pair().documents();
                total = total.saturating_add(pairs(self.of(&a), self.of(&b)));
            }
        }
        Ok(total)
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &[DocNumber]> {
        self.starts.windows(2).map(|ends| &self.members[ends[0]..ends[1]])
    }

    /// The class of the document that leads it; of one without equals just itself.
    pub(super) fn of<'a>(&'a self, leader: &'a DocNumber) -> &'a [DocNumber] {
        let classes = self.starts.len() - 1;
        // The file of classes is in the order of leaders, and so is this list.
        let found = self.starts[..classes].binary_search_by_key(leader, |&start| self.members[start]);
        found.map_or(std::slice::from_ref(leader), |index| {
            &self.members[self.starts[index]..self.starts[index + 1]]
        })
    }
}

/// True when the documents of a class are pairs. Equal documents are none by the word of a method that has nothing to say
/// of them.
pub(super) fn counts_as_equal(
    ctx: &Context<'_>,
    lookup: &mut Lookup<'_>,
    class: &[DocNumber],
) -> Result<bool, EngineError> {
    Ok(ctx.recipe.verified || ctx.panel.accepts_equal(lookup.record(class[0])?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::Catalogue;
    use crate::tests::context::{StageTest, as_lines, doc};
    use crate::tests::recipe;

    #[test]
    fn a_document_without_equals_is_a_class_of_one() {
        let classes = Classes { members: [0, 4, 7, 2, 3].map(doc).to_vec(), starts: vec![0, 3, 5] };
        assert_eq!(classes.of(&doc(0)), [0, 4, 7].map(doc));
        assert_eq!(classes.of(&doc(2)), [2, 3].map(doc));
        assert_eq!((classes.of(&doc(1)), classes.of(&doc(9))), (&[doc(1)][..], &[doc(9)][..]));
        assert_eq!(classes.all().map(<[DocNumber]>::len).collect::<Vec<_>>(), [3, 2]);
        let none = Classes { members: vec![], starts: vec![0] };
        assert_eq!((none.all().count(), none.of(&doc(5))), (0, &[doc(5)][..]));
    }

    #[test]
    fn classes_are_read_from_their_file() {
        let test = StageTest::new(recipe("md5"), &as_lines(&["a", "b", "a", "c", "b", "a"]));
        let ctx = test.sketched();
        collapse::collapse(&ctx, &Catalogue::load(&ctx).unwrap()).unwrap();
        let classes = Classes::load(&ctx).unwrap();
        let found: Vec<Vec<u32>> =
            classes.all().map(|class| class.iter().map(|document| document.get()).collect()).collect();
        assert_eq!(found, [vec![0, 2, 5], vec![1, 4]]);
    }
}
