//! Keep order: the order in which documents are preferred as the one to keep.

use std::cmp::Ordering;

use lookalike_model::{DocNumber, NodeId};

use crate::catalogue::{Catalogue, Lookup};
use crate::context::Context;
use crate::error::EngineError;
use crate::recipe::Keep;
use crate::stages::verify::star::Contender;

/// Puts documents into keep order.
pub(crate) struct KeepOrder {
    keep: Keep,
    references: u32,
    /// Every value of the field is a number.
    numbers: bool,
}

/// The value by which a document is ranked.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Rank {
    Number(f64),
    Text(String),
    Missing,
}

impl Rank {
    /// The rank that the value of a field gives, where every value is a number, or not.
    pub(crate) fn of_value(value: Option<String>, numbers: bool) -> Self {
        match value {
            None => Rank::Missing,
            Some(value) if numbers => parse_number(&value).map_or(Rank::Missing, Rank::Number),
            Some(value) => Rank::Text(value),
        }
    }

    /// Lower ranks come first, or higher ones where they fall; missing ones last.
    pub(crate) fn compare(&self, other: &Rank, falling: bool) -> Ordering {
        let turned = |order: Ordering| if falling { order.reverse() } else { order };
        match (self, other) {
            (Rank::Number(a), Rank::Number(b)) => turned(a.total_cmp(b)),
            (Rank::Text(a), Rank::Text(b)) => turned(a.as_bytes().cmp(b.as_bytes())),
            (Rank::Missing, Rank::Missing) => Ordering::Equal,
            (Rank::Missing, _) => Ordering::Greater,
            (_, Rank::Missing) => Ordering::Less,
            // Ranks of one run are all of one kind.
            (Rank::Number(_), Rank::Text(_)) => Ordering::Less,
            (Rank::Text(_), Rank::Number(_)) => Ordering::Greater,
        }
    }
}

impl KeepOrder {
    pub(crate) fn new(ctx: &Context<'_>, catalogue: &Catalogue) -> Result<Self, EngineError> {
        let mut numbers = ctx.numbers.unwrap_or(true);
        if matches!(ctx.keep, Keep::Field { .. }) && ctx.numbers.is_none() {
            let mut lookup = Lookup::new(ctx, catalogue);
            for document in DocNumber::range(catalogue.references(), catalogue.len()) {
                let value = lookup.names(document)?.field;
                if value.is_some_and(|value| is_text(&value)) {
                    numbers = false;
                    break;
                }
            }
        }
        Ok(KeepOrder { keep: ctx.keep.clone(), references: catalogue.references(), numbers })
    }

    /// Returns the contenders of `(document, node)`, in keep order; documents to compare with come first.
    pub(crate) fn contenders(
        &self,
        lookup: &mut Lookup<'_>,
        documents: Vec<(DocNumber, NodeId)>,
    ) -> Result<Vec<Contender>, EngineError> {
        let contender =
            |(document, node)| Contender { document, node, reference: self.is_reference(document) };
        let mut contenders: Vec<Contender> = documents.into_iter().map(contender).collect();
        contenders.sort_unstable_by_key(|contender| contender.document);
        if self.keep == Keep::First {
            return Ok(contenders);
        }
        let ranked: Result<Vec<(Rank, Contender)>, EngineError> = contenders
            .into_iter()
            .map(|contender| Ok((self.rank(lookup, contender.document)?, contender)))
            .collect();
        let mut ranked = ranked?;
        // Stable: what is ranked alike stays in the order of the input.
        ranked.sort_by(|(a, first), (b, second)| {
            second.reference.cmp(&first.reference).then(self.compare(a, b))
        });
        Ok(ranked.into_iter().map(|(_, contender)| contender).collect())
    }

    /// Puts `document` in the place of `first` if it comes before it in keep order. Documents come in the order of the input.
    pub(crate) fn update_first(
        &self,
        lookup: &mut Lookup<'_>,
        first: &mut Option<(Rank, DocNumber)>,
        document: DocNumber,
    ) -> Result<(), EngineError> {
        let is_final = |&(_, first): &(Rank, DocNumber)| self.keep == Keep::First || self.is_reference(first);
        if first.as_ref().is_some_and(is_final) {
            return Ok(());
        }
        let rank = self.rank(lookup, document)?;
        if first.as_ref().is_none_or(|(before, _)| self.compare(&rank, before) == Ordering::Less) {
            *first = Some((rank, document));
        }
        Ok(())
    }

    /// True for a document that is only there to be compared with.
    pub(crate) fn is_reference(&self, document: DocNumber) -> bool {
        document.get() < self.references
    }

    fn rank(&self, lookup: &mut Lookup<'_>, document: DocNumber) -> Result<Rank, EngineError> {
        if self.is_reference(document) {
            return Ok(Rank::Missing);
        }
        Ok(match self.keep {
            Keep::First => Rank::Missing,
            Keep::Longest | Keep::Shortest => Rank::Number(lookup.row(document)?.words.into()),
            Keep::Field { .. } => Rank::of_value(lookup.names(document)?.field, self.numbers),
        })
    }

    fn compare(&self, a: &Rank, b: &Rank) -> Ordering {
        a.compare(b, matches!(self.keep, Keep::Longest | Keep::Field { descending: true, .. }))
    }
}

/// True for the value of a field by which documents are ranked as texts. One that is not a number, as tables of numbers have it, is as good
/// as none.
pub fn is_text(value: &str) -> bool {
    parse_number(value).is_none() && !value.trim().parse().is_ok_and(f64::is_nan)
}

/// Parses the value of a field as the number that documents are ordered by, if it is one.
pub fn parse_number(text: &str) -> Option<f64> {
    text.trim().parse().ok().filter(|number: &f64| number.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::JobRecipe;
    use crate::tests::context::{StageTest, as_lines, doc, node};
    use crate::tests::recipe;

    #[test]
    fn finite_numbers_alone_are_numbers() {
        for (text, expected) in [("7", 7.0), (" -0.5 ", -0.5), ("1e3", 1000.0), ("+2", 2.0)] {
            assert_eq!(parse_number(text), Some(expected), "{text:?}");
        }
        for text in ["", " ", "x", "7 apples", "1,5", "inf", "-inf", "NaN", "1e999"] {
            assert_eq!(parse_number(text), None, "{text:?}");
        }
    }

    #[test]
    fn what_is_not_a_number_is_as_good_as_no_value() {
        assert_eq!(
            ["7", "NaN", " nan ", "x", "inf", ""].map(is_text),
            [false, false, false, true, true, true]
        );
        assert_eq!(Rank::of_value(Some("NaN".to_owned()), true), Rank::Missing);
        assert_eq!(Rank::of_value(Some("NaN".to_owned()), false), Rank::Text("NaN".to_owned()));
    }

    #[test]
    fn a_value_is_a_number_only_where_all_are() {
        let of = |value: Option<&str>, numbers| Rank::of_value(value.map(str::to_owned), numbers);
        assert_eq!(of(Some("10"), true), Rank::Number(10.0));
        assert_eq!(of(Some("10"), false), Rank::Text("10".to_owned()));
        assert_eq!(of(Some("ten"), true), Rank::Missing);
        assert_eq!((of(None, true), of(None, false)), (Rank::Missing, Rank::Missing));
    }

    #[test]
    fn numbers_compare_by_size_and_texts_by_bytes() {
        let numbers = [Rank::Number(9.0), Rank::Number(10.0)];
        let texts = [Rank::Text("9".to_owned()), Rank::Text("10".to_owned())];
        assert_eq!(numbers[0].compare(&numbers[1], false), Ordering::Less);
        assert_eq!(numbers[0].compare(&numbers[1], true), Ordering::Greater);
        assert_eq!(texts[0].compare(&texts[1], false), Ordering::Greater);
        assert_eq!(texts[0].compare(&texts[1], true), Ordering::Less);
        assert_eq!(texts[0].compare(&texts[0], true), Ordering::Equal);
    }

    #[test]
    fn missing_values_come_last_whether_ranks_rise_or_fall() {
        for falling in [false, true] {
            for rank in [Rank::Number(-1.0), Rank::Number(1e9), Rank::Text(String::new())] {
                assert_eq!(Rank::Missing.compare(&rank, falling), Ordering::Greater, "{rank:?}");
                assert_eq!(rank.compare(&Rank::Missing, falling), Ordering::Less, "{rank:?}");
            }
            assert_eq!(Rank::Missing.compare(&Rank::Missing, falling), Ordering::Equal);
        }
    }

    /// A document to compare with, and four of the input; the value of the third is given.
    fn documents(keep: &str, third: Option<&str>) -> StageTest {
        let left = "{\"id\":\"r\",\"score\":\"1\",\"text\":\"one two three four five\"}\n";
        let third = third.map_or(String::new(), |score| format!("\"score\":\"{score}\","));
        let lines = [
            "{\"id\":\"a\",\"score\":\"9\",\"text\":\"one two\"}".to_owned(),
            "{\"id\":\"b\",\"score\":\"10\",\"text\":\"one two three\"}".to_owned(),
            format!("{{\"id\":\"c\",{third}\"text\":\"one\"}}"),
            "{\"id\":\"d\",\"score\":\"9\",\"text\":\"four five six\"}\n".to_owned(),
        ];
        StageTest::against(JobRecipe { keep: keep.to_owned(), ..recipe("md5") }, left, &lines.join("\n"))
    }

    /// The numbers of all documents in keep order, from an order that is none.
    fn in_keep_order(test: &StageTest) -> Vec<u32> {
        let ctx = test.sketched();
        let catalogue = Catalogue::load(&ctx).unwrap();
        let order = KeepOrder::new(&ctx, &catalogue).unwrap();
        let shuffled = [3, 1, 4, 0, 2].map(|document| (doc(document), node(10 + document))).to_vec();
        let found = order.contenders(&mut Lookup::new(&ctx, &catalogue), shuffled).unwrap();
        for contender in &found {
            assert_eq!(
                (contender.node, contender.reference),
                (node(10 + contender.document.get()), contender.document == doc(0))
            );
        }
        found.into_iter().map(|contender| contender.document.get()).collect()
    }

    #[test]
    fn each_rule_orders_documents_behind_those_to_compare_with() {
        for (keep, expected) in [
            ("first", [0, 1, 2, 3, 4]),
            ("longest", [0, 2, 4, 1, 3]),
            ("shortest", [0, 3, 1, 2, 4]),
            ("field:score", [0, 1, 4, 2, 3]),
            ("field:score:desc", [0, 2, 1, 4, 3]),
        ] {
            assert_eq!(in_keep_order(&documents(keep, None)), expected, "{keep}");
        }
    }

    #[test]
    fn one_value_that_is_no_number_makes_texts_of_all() {
        assert_eq!(in_keep_order(&documents("field:score", Some("x"))), [0, 2, 1, 4, 3]);
        assert_eq!(in_keep_order(&documents("field:score:desc", Some("x"))), [0, 3, 1, 4, 2]);
    }

    #[test]
    fn values_beyond_the_job_may_say_that_not_all_are_numbers() {
        let test = documents("field:score", None);
        let mut ctx = test.sketched();
        ctx.numbers = Some(false);
        let catalogue = Catalogue::load(&ctx).unwrap();
        let order = KeepOrder::new(&ctx, &catalogue).unwrap();
        let documents = [(1, 0), (2, 1), (3, 2)].map(|(document, at)| (doc(document), node(at)));
        let found = order.contenders(&mut Lookup::new(&ctx, &catalogue), documents.to_vec()).unwrap();
        assert_eq!(found.iter().map(|one| one.document).collect::<Vec<_>>(), [2, 1, 3].map(doc));
    }

    #[test]
    fn the_first_of_a_class_gives_way_to_a_better_one_alone() {
        for (keep, documents_of_class, expected) in [
            ("first", &[1, 2, 3][..], 1),
            ("longest", &[1, 2, 3, 4], 2),
            ("shortest", &[1, 2, 3, 4], 3),
            ("field:score:desc", &[3, 1, 2], 2),
            ("longest", &[0, 2], 0),
            ("shortest", &[0, 3], 0),
        ] {
            let test = documents(keep, None);
            let ctx = test.sketched();
            let catalogue = Catalogue::load(&ctx).unwrap();
            let order = KeepOrder::new(&ctx, &catalogue).unwrap();
            let (mut lookup, mut first) = (Lookup::new(&ctx, &catalogue), None);
            for &document in documents_of_class {
                order.update_first(&mut lookup, &mut first, doc(document)).unwrap();
            }
            assert_eq!(
                first.map(|(_, document)| document),
                Some(doc(expected)),
                "{keep} {documents_of_class:?}"
            );
            assert!(order.is_reference(doc(0)) && !order.is_reference(doc(1)));
        }
    }

    #[test]
    fn without_documents_to_compare_with_none_is_a_reference() {
        let test = StageTest::new(recipe("md5"), &as_lines(&["one", "two"]));
        let ctx = test.sketched();
        let order = KeepOrder::new(&ctx, &Catalogue::load(&ctx).unwrap()).unwrap();
        assert!(!order.is_reference(doc(0)) && !order.is_reference(doc(1)));
    }
}
