//! A thread of a forum.

use super::Genre;

pub(super) const GENRE: Genre = Genre {
    name: "forum",
    things: &[
        "router", "engine", "guitar", "tomato plant", "aquarium", "sewing machine", "printer", "roof", "canoe",
        "sourdough", "telescope", "lawn", "radio", "puppy", "chess set", "camper", "boiler", "drone", "beehive",
        "fence", "laptop", "trumpet", "saddle", "kiln", "compost",
    ],
    titles: &[
        "my {thing} will not {verb} since {month}",
        "{adj} {thing} or {adj} {noun}?",
        "question about the {name} {thing}",
        "help: the {noun} of my {thing} {past}",
    ],
    headings: &[
        "answer {number} on {date}",
        "posted at {time} from {place}",
        "re: {adj} {thing}",
        "{number} replies, the last at {time}",
    ],
    sentences: &[
        "I bought a {adj} {thing} from {name} and the {noun} {past} after {number} days",
        "has anyone here seen a {thing} {verb} as {adv} as mine?",
        "try to {verb} the {noun} first, then look at the {adj} {noun}",
        "thanks, that {past} my {thing} {adv}!",
        "in my experience a {adj} {noun} costs {price} and lasts {number} years",
        "we have the same {thing} here in {place} and it {past} only once",
        "do not {verb} the {thing} before you have read the {adj} {noun}",
        "my neighbour says the {noun} must be {adj}, but I think the {thing} is too {adj}",
        "last {month} I {past} the whole {thing} and found {number} {adj} {nouns}",
        "sorry for the {adj} question, I am new to every {thing} and {noun}",
        "the picture from {date} shows where the {noun} {past}",
        "sell it for {price} and get a {adj} {thing} instead",
    ],
    items: &["{number} times {adj} {noun}", "a {adj} {thing}", "{price} for the {noun}"],
    sections: (3, 7),
    paragraphs: (1, 2),
    entries: (0, 2),
};
