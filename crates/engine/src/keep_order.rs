//! Keep order: the order in which documents are preferred as the one to keep.

use std::cmp::Ordering;

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
            for document in catalogue.references()..catalogue.len() {
                let value = lookup.names(document)?.field;
                if value.is_some_and(|value| parse_number(&value).is_none()) {
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
        documents: Vec<(u32, u32)>,
    ) -> Result<Vec<Contender>, EngineError> {
        let contender =
            |(document, node)| Contender { document, node, reference: document < self.references };
        let mut contenders: Vec<Contender> = documents.into_iter().map(contender).collect();
        contenders.sort_unstable_by_key(|contender| contender.document);
        if self.keep == Keep::First {
            return Ok(contenders);
        }
        let ranked: Result<Vec<(Rank, Contender)>, EngineError> =
            contenders.into_iter().map(|contender| Ok((self.rank(lookup, contender)?, contender))).collect();
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
        first: &mut Option<(Rank, u32)>,
        document: u32,
    ) -> Result<(), EngineError> {
        let is_final = |&(_, first): &(Rank, u32)| self.keep == Keep::First || first < self.references;
        if first.as_ref().is_some_and(is_final) {
            return Ok(());
        }
        let contender = Contender { document, node: 0, reference: document < self.references };
        let rank = self.rank(lookup, contender)?;
        if first.as_ref().is_none_or(|(before, _)| self.compare(&rank, before) == Ordering::Less) {
            *first = Some((rank, document));
        }
        Ok(())
    }

    /// True for a document that is only there to be compared with.
    pub(crate) fn is_reference(&self, document: u32) -> bool {
        document < self.references
    }

    fn rank(&self, lookup: &mut Lookup<'_>, contender: Contender) -> Result<Rank, EngineError> {
        if contender.reference {
            return Ok(Rank::Missing);
        }
        Ok(match self.keep {
            Keep::First => Rank::Missing,
            Keep::Longest | Keep::Shortest => Rank::Number(lookup.row(contender.document)?.words.into()),
            Keep::Field { .. } => Rank::of_value(lookup.names(contender.document)?.field, self.numbers),
        })
    }

    fn compare(&self, a: &Rank, b: &Rank) -> Ordering {
        a.compare(b, matches!(self.keep, Keep::Longest | Keep::Field { descending: true, .. }))
    }
}

/// Parses the value of a field as the number that documents are ordered by, if it is one.
pub fn parse_number(text: &str) -> Option<f64> {
    text.trim().parse().ok().filter(|number: &f64| number.is_finite())
}
