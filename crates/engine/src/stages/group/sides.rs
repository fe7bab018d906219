//! Two corpora that are compared: which documents stand for which side.
//!
//! Documents of the left side have the lowest numbers. Equal documents are one class, which its first document stands for: one of
//! the left side may stand for documents of the right side as well, never the other way round.

use lookalike_model::DocNumber;
use lookalike_store::bits::Bits;

use crate::catalogue::Catalogue;
use crate::context::Context;
use crate::error::EngineError;
use crate::stages::collapse::{self, ClassMember};

/// A bit for each document of the left side.
pub(crate) struct Sides {
    /// The first document of the right side.
    right: DocNumber,
    /// Documents of the left side with an equal one on the right side.
    both: Bits,
}

impl Sides {
    pub(crate) fn load(ctx: &Context<'_>, catalogue: &Catalogue) -> Result<Self, EngineError> {
        let right = DocNumber::new(catalogue.references());
        let mut both = Bits::new(right);
        collapse::class_members(ctx, |ClassMember { class, document }| {
            if class.leader() < right && document >= right {
                both.set(class.leader());
            }
            Ok(())
        })?;
        Ok(Sides { right, both })
    }

    /// The document, or one that it stands for, is on the left side.
    pub(crate) fn has_left(&self, document: DocNumber) -> bool {
        // No look at classes: all that a document of the right side stands for has higher numbers still.
        document < self.right
    }

    /// The document, or one that it stands for, is on the right side.
    pub(crate) fn has_right(&self, document: DocNumber) -> bool {
        document >= self.right || self.both.get(document)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::context::{StageTest, as_lines};
    use crate::tests::recipe;

    fn sides(left: &[&str], right: &[&str]) -> Vec<[bool; 2]> {
        let test = StageTest::against(recipe("md5"), &as_lines(left), &as_lines(right));
        let ctx = test.sketched();
        let catalogue = Catalogue::load(&ctx).unwrap();
        collapse::collapse(&ctx, &catalogue).unwrap();
        let sides = Sides::load(&ctx, &catalogue).unwrap();
        DocNumber::range(0, catalogue.len())
            .map(|document| [sides.has_left(document), sides.has_right(document)])
            .collect()
    }

    #[test]
    fn a_left_document_stands_for_equal_ones_of_the_right_side() {
        let (left, right) = ([true, false], [false, true]);
        assert_eq!(sides(&["a", "b"], &["b", "c"]), [left, [true, true], right, right]);
    }

    #[test]
    fn equal_documents_of_one_side_stand_for_that_side_alone() {
        let (left, right) = ([true, false], [false, true]);
        assert_eq!(sides(&["a", "a"], &["b", "b"]), [left, left, right, right]);
    }
}
