//! Terms and conditions.

use super::Genre;

pub(super) const GENRE: Genre = Genre {
    name: "terms",
    things: &[
        "agreement", "licence", "party", "notice", "fee", "claim", "clause", "account", "consent", "deposit",
        "refund", "penalty", "warranty", "dispute", "invoice", "guarantee", "lease", "obligation", "permit",
        "statute", "transfer", "liability", "waiver", "contract", "right",
    ],
    titles: &[
        "terms of use of {name}, as of {date}",
        "{name}: {adj} {thing} for {nouns}",
        "privacy & {thing} in {place}",
        "conditions for the {adj} {thing} number {number}",
    ],
    headings: &[
        "{number} on the {adj} {thing}",
        "scope of the {thing}",
        "end of the {adj} {thing}",
        "{number} data & {nouns}",
    ],
    sentences: &[
        "the {thing} binds {name} and every {adj} {noun} that may {verb} it",
        "within {number} days of a {adj} {thing} the {noun} shall {verb} in writing",
        "no {thing} under section {number} may {verb} without the {adj} consent of {name}",
        "where a {noun} has {past}, the {thing} ends {adv} on {date}",
        "a {adj} {thing} of {price} is due for each {noun} that {past}",
        "the courts of {place} shall hear any {thing} about a {adj} {noun}",
        "should one {thing} be void, every other {adj} {thing} stays {adj}",
        "{name} may {verb} this {thing} {adv} and will tell all {nouns} by {month}",
        "personal {nouns} are kept for {number} months and then {past} {adv}",
        "neither the {noun} nor the {adj} {thing} gives a right to {verb}",
        "by using the {adj} {noun} you accept the {thing} dated {date}",
        "liability for {adj} {nouns} is limited to {price} per {thing}",
    ],
    items: &[
        "the {adj} {thing} under section {number}",
        "{nouns} that {past} before {date}",
        "any {thing} above {price}",
    ],
    sections: (3, 8),
    paragraphs: (1, 3),
    entries: (0, 4),
};
