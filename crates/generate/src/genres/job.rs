//! A job advertisement.

use super::Genre;

pub(super) const GENRE: Genre = Genre {
    name: "jobs",
    things: &[
        "baker", "nurse", "welder", "teacher", "gardener", "driver", "accountant", "plumber", "translator",
        "carpenter", "librarian", "electrician", "cook", "surveyor", "clerk", "mechanic", "painter", "midwife",
        "pharmacist", "tailor", "engineer", "archivist", "shepherd", "glazier", "porter",
    ],
    titles: &[
        "{adj} {thing} wanted in {place}",
        "{name} is looking for a {thing} from {month}",
        "{thing} for the {adj} {noun}, {number} hours a week",
        "{number} places for a {adj} {thing}",
    ],
    headings: &[
        "your {noun} at {name}",
        "what a {adj} {thing} brings along",
        "we offer {price} an hour",
        "how to apply before {date}",
    ],
    sentences: &[
        "as a {thing} at {name} you {verb} the {adj} {noun} in {place}",
        "the post is {adj}, starts on {date} and pays {price} an hour",
        "you work {adv}, like {adj} {nouns} and know how to {verb} a {noun}",
        "our team of {number} has {past} the {adj} {noun} since {month}",
        "a {thing} with {number} years of practice may {verb} {adv} here",
        "send your papers to the {adj} office in {place} by {date}",
        "we {past} {number} {nouns} last year and want to {verb} more",
        "applications from every {noun} are welcome, {adj} or not",
        "your day begins at {time} and ends when the {adj} {noun} can {verb}",
        "a car, a {adj} {noun} and {number} days off come with the post",
        "the {thing} before you {past} for {number} years and left {adv}",
        "questions about the {adj} post are answered at {time} by the {noun} desk",
    ],
    items: &[
        "{number} hours a week",
        "a {adj} {noun} in {place}",
        "you {verb} {adv}",
        "from {date}, for {number} months",
        "pay: {price}",
    ],
    sections: (2, 4),
    paragraphs: (1, 2),
    entries: (2, 6),
};
