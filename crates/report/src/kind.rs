//! Classification of the difference between two documents into one kind.
//!
//! The rules are tried in the order of [`Kind`]'s declaration, and the first that holds decides. They look at
//! words in normal form and at the *blocks* of the comparison: maximal stretches of words that are equal, or that
//! differ (only in the first document, only in the second, or one replaced by the other). A *differing word* is a
//! word of a block that differs.
//!
//! The rules are for people who look at samples; no document is kept or removed because of them.

use lookalike_model::Span;
use serde::{Deserialize, Serialize};

use crate::addresses;
use crate::calendar;
use crate::diff::{Block, Side, absorb_stray_words};

/// The kind of difference between two documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Equal words in equal order, and not two different addresses.
    Same,
    /// Every differing word has a digit in it or names a month, a weekday or an hour: other dates, prices, counts.
    Numbers,
    /// Every differing word is part of a URL, a host name or a mailbox in the text; or the words are equal and the
    /// addresses of the documents differ.
    Url,
    /// Both sides have differing words, and of each side at least nine in ten (counted with repetition) occur among
    /// those of the other: the same words in another order.
    Order,
    /// Only one side has differing words, and the words of the other side lie in it in pieces of ten or more on
    /// average (or in at most two): something was added, or left out.
    Insertion,
    /// Some block replaces four or more words by four or more others (an equal word or two between long
    /// replacements go with them); and at least two equal blocks have eight or more words, which together make up
    /// at least a fifth of the shorter document: one template with different content.
    Template,
    /// None of these: single words exchanged, passages rewritten, or little in common.
    Other,
}

/// Words of an equal run that is hardly chance.
const LONG_RUN: usize = 8;
/// Words of a replacement that is more than a changed word.
const LEAST_REPLACED: usize = 4;
/// Words per piece, on average, of a document that lies inside another.
const WORDS_PER_PIECE: usize = 10;

impl Kind {
    /// All kinds, in the order in which they are tried.
    pub const ALL: [Kind; 7] =
        [Kind::Same, Kind::Numbers, Kind::Url, Kind::Order, Kind::Insertion, Kind::Template, Kind::Other];

    /// Its name, as in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Same => "same",
            Kind::Numbers => "numbers",
            Kind::Url => "url",
            Kind::Order => "order",
            Kind::Insertion => "insertion",
            Kind::Template => "template",
            Kind::Other => "other",
        }
    }

    /// Returns its meaning in a few words for people.
    pub fn meaning(self) -> &'static str {
        match self {
            Kind::Same => "equal words in equal order",
            Kind::Numbers => "only numbers and dates differ",
            Kind::Url => "only addresses differ",
            Kind::Order => "the same words in another order",
            Kind::Insertion => "one has everything of the other, and more",
            Kind::Template => "one template with different content",
            Kind::Other => "words or passages differ",
        }
    }
}

impl std::fmt::Display for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// The kind of difference between two documents whose words fall into `blocks`.
pub(crate) fn classify(a: &Side<'_>, b: &Side<'_>, blocks: &[Block]) -> Kind {
    if a.features.secret_hashes() == b.features.secret_hashes() {
        let differ = matches!((a.url, b.url), (Some(a), Some(b)) if a != b);
        return if differ { Kind::Url } else { Kind::Same };
    }
    let changed = DifferingWords::of(a, b, blocks);
    if changed.only_numbers() {
        Kind::Numbers
    } else if changed.only_addresses() {
        Kind::Url
    } else if changed.only_order() {
        Kind::Order
    } else if changed.only_insertion(blocks) {
        Kind::Insertion
    } else if is_template(a.features.len().min(b.features.len()), &absorb_stray_words(blocks)) {
        Kind::Template
    } else {
        Kind::Other
    }
}

/// The differing words of both sides, by their numbers.
struct DifferingWords<'c> {
    a: (&'c Side<'c>, Vec<usize>),
    b: (&'c Side<'c>, Vec<usize>),
}

impl<'c> DifferingWords<'c> {
    fn of(a: &'c Side<'c>, b: &'c Side<'c>, blocks: &[Block]) -> Self {
        let changed = || blocks.iter().filter(|block| !block.equal);
        DifferingWords {
            a: (a, changed().flat_map(|block| block.a.clone()).collect()),
            b: (b, changed().flat_map(|block| block.b.clone()).collect()),
        }
    }

    fn sides(&self) -> [&(&'c Side<'c>, Vec<usize>); 2] {
        [&self.a, &self.b]
    }

    fn only_numbers(&self) -> bool {
        self.sides().into_iter().all(|(side, changed)| {
            changed.iter().all(|&index| calendar::is_number_or_date(side.features.word(index)))
        })
    }

    fn only_addresses(&self) -> bool {
        self.sides().into_iter().all(|(side, changed)| {
            // Words come in order, and many may be of one address.
            let mut address = Span::new(0, 0);
            changed.iter().all(|&index| {
                let start = side.features.span(index).start;
                if start < address.start || start >= address.end {
                    let Some(span) = addresses::address_at(side.text, start as usize) else { return false };
                    address = span;
                }
                true
            })
        })
    }

    fn only_order(&self) -> bool {
        let sorted = |(side, changed): &(&Side<'_>, Vec<usize>)| {
            let mut words: Vec<u64> =
                changed.iter().map(|&index| side.features.secret_hashes()[index]).collect();
            words.sort_unstable();
            words
        };
        let (a, b) = (sorted(&self.a), sorted(&self.b));
        let moved = shared(&a, &b);
        moved > 0 && 10 * moved >= 9 * a.len().max(b.len())
    }

    fn only_insertion(&self, blocks: &[Block]) -> bool {
        if !self.a.1.is_empty() && !self.b.1.is_empty() {
            return false;
        }
        let pieces: Vec<usize> =
            blocks.iter().filter(|block| block.equal).map(|block| block.a.len()).collect();
        let words: usize = pieces.iter().sum();
        words > 0 && (pieces.len() <= 2 || words >= WORDS_PER_PIECE * pieces.len())
    }
}

/// Counts the values that two sorted lists have in common, with repetition.
fn shared(a: &[u64], b: &[u64]) -> usize {
    let (mut i, mut j, mut count) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        match a[i].cmp(&b[j]) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal => {
                (i, j, count) = (i + 1, j + 1, count + 1);
            }
        }
    }
    count
}

/// `shorter` is the number of words of the shorter document.
fn is_template(shorter: usize, blocks: &[Block]) -> bool {
    let replaces =
        |block: &Block| !block.equal && block.a.len() >= LEAST_REPLACED && block.b.len() >= LEAST_REPLACED;
    let is_long = |block: &Block| block.equal && block.a.len() >= LONG_RUN;
    let long: Vec<usize> = blocks.iter().filter(|block| is_long(block)).map(|block| block.a.len()).collect();
    blocks.iter().any(replaces) && long.len() >= 2 && 5 * long.iter().sum::<usize>() >= shorter
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diff::{View, compare};
    use lookalike_hash::Secret;
    use lookalike_text::{Analyser, Features, Profile};

    fn read(text: &str) -> Features {
        let mut features = Features::default();
        Analyser::with_secret(&Profile::web(), Secret::of_process()).read(text, &mut features);
        features
    }

    fn at(a: (&str, Option<&str>), b: (&str, Option<&str>)) -> Kind {
        let (left, right) = (read(a.0), read(b.0));
        let (left, right) = (Side::new(a.0, &left).at(a.1), Side::new(b.0, &right).at(b.1));
        let kind = compare(&left, &right, &View::default()).kind;
        assert_eq!(compare(&right, &left, &View::default()).kind, kind, "the kind has no direction");
        kind
    }

    fn kind(a: &str, b: &str) -> Kind {
        at((a, None), (b, None))
    }

    const NOTICE: &str = "The library on Mill Street is closed for repairs. Books can be given back at the town \
        hall, room 12, every working day between nine and five. Readers who hold a card may borrow from the \
        neighbouring branches without a fee until the work has ended.";

    #[test]
    fn equal_words_are_the_same_whatever_stands_between() {
        assert_eq!(kind(NOTICE, &NOTICE.to_uppercase().replace(',', " — ")), Kind::Same);
        assert_eq!(at((NOTICE, Some("https://a.example/")), (NOTICE, None)), Kind::Same);
        assert_eq!(kind("", " "), Kind::Same);
    }

    #[test]
    fn dates_prices_and_counts_are_numbers() {
        assert_eq!(
            kind("Updated Monday, 3 March 2019 at 10:05 am", "Updated Friday, 17 May 2024 at 9:30 pm"),
            Kind::Numbers
        );
        assert_eq!(kind("Only 14 left, 19.99 EUR", "Only 2 left, 1,249.00 EUR"), Kind::Numbers);
        assert_eq!(kind(NOTICE, &NOTICE.replace("room 12", "room")), Kind::Numbers);
        assert_eq!(kind("Mis à jour le 3 août 2019", "Mis à jour le 1 février 2020"), Kind::Numbers);
        assert_ne!(kind("Only 14 left", "Only few left"), Kind::Numbers);
    }

    #[test]
    fn other_addresses_are_url() {
        let a = format!("{NOTICE} Contact: desk@library.example or https://mill.example.org/help?from=home.");
        let b =
            format!("{NOTICE} Contact: info@books.example or https://street.example.org/contact?from=news.");
        assert_eq!(kind(&a, &b), Kind::Url);
        assert_eq!(at((NOTICE, Some("https://a.example/")), (NOTICE, Some("https://b.example/"))), Kind::Url);
        assert_ne!(kind(&a, &b.replace("Mill Street", "Church Square")), Kind::Url);
    }

    #[test]
    fn moved_sentences_are_order() {
        let sentences: Vec<&str> = NOTICE.split_inclusive(". ").collect();
        let turned: String = sentences.iter().rev().map(|sentence| format!("{sentence} ")).collect();
        assert_eq!(kind(NOTICE, &turned), Kind::Order);
        // One word of many more does not change the picture.
        assert_eq!(kind(NOTICE, &format!("{turned} thanks")), Kind::Order);
        assert_ne!(kind("one two three four", "two one five six"), Kind::Order);
    }

    #[test]
    fn what_lies_inside_another_document_is_insertion() {
        let inside = NOTICE.replace("Readers who", "The reading room stays open. Readers who");
        assert_eq!(kind(NOTICE, &inside), Kind::Insertion);
        assert_eq!(kind(NOTICE, &format!("Home News Contact {NOTICE} Imprint")), Kind::Insertion);
        assert_eq!(kind("fire", "the fire next time"), Kind::Insertion);
        // Every other word is no insertion but chance.
        assert_eq!(kind("a b c d e f", "a x b x c x d x e x f"), Kind::Other);
        assert_eq!(kind("", "words"), Kind::Other);
    }

    #[test]
    fn shared_menus_around_other_articles_are_a_template() {
        let page = |article: &str| {
            format!(
                "Home News Sport Culture Weather Jobs Cars Contact {article} Share this page All rights reserved \
                 by the publisher Imprint Privacy Cookies"
            )
        };
        let other =
            "Two goals in the last minutes brought the visitors from the coast an unexpected victory.";
        assert_eq!(kind(&page(NOTICE), &page(other)), Kind::Template);
        let product = |name: &str, praise: &str| {
            format!(
                "Buy the {name} in our shop with free delivery to your door. {praise} All our goods come with a \
                 warranty of two years on every part. Customers also looked at batteries, cables and bags."
            )
        };
        let kettle = product("kettle", "It boils water in seconds and looks good on any table.");
        let lamp = product("garden lamp", "Charged by daylight, they shine through the longest night.");
        assert_eq!(kind(&kettle, &lamp), Kind::Template);
    }

    #[test]
    fn exchanged_words_and_strangers_are_other() {
        let exchanged = NOTICE.replace("closed", "shut").replace("given", "brought").replace("fee", "charge");
        assert_eq!(kind(NOTICE, &exchanged), Kind::Other);
        assert_eq!(
            kind(NOTICE, "A completely different text about the weather in the mountains"),
            Kind::Other
        );
    }

    #[test]
    fn names_are_those_of_json() {
        for kind in Kind::ALL {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
            assert_eq!(serde_json::from_value::<Kind>(kind.name().into()).unwrap(), kind);
        }
        assert!(Kind::ALL.is_sorted());
    }
}
