//! A page of a shop.

use super::Genre;

pub(super) const GENRE: Genre = Genre {
    name: "shop",
    things: &[
        "lamp", "kettle", "chair", "backpack", "blanket", "bicycle", "clock", "mirror", "jacket", "knife",
        "shelf", "speaker", "camera", "tent", "pillow", "basket", "drill", "heater", "wallet", "scarf",
        "helmet", "mattress", "vase", "keyboard", "charger",
    ],
    titles: &[
        "{name} {adj} {thing} in {place} grey",
        "{adj} {thing} by {name}, model {number}",
        "buy the {name} {thing} with {adj} {noun}",
        "{name} {number} - a {adj} {thing} for every {noun}",
    ],
    headings: &[
        "details of the {thing}",
        "what buyers say about {name}",
        "size & weight",
        "delivery to {place}",
        "in the box with your {adj} {thing}",
    ],
    sentences: &[
        "our {adj} {thing} costs {price} and ships from {place} within {number} days",
        "every {name} {thing} is checked {adv} before it leaves the {noun}",
        "the cover of this {adj} {thing} feels {adj} and can be washed at {number} degrees",
        "you get a {adj} {noun}, a {adj} {thing} and a spare {noun} for {price}",
        "since {date} we have sold more than {number} of these {adj} {nouns}",
        "a buyer from {place} wrote that the {thing} {past} after {number} weeks of use",
        "it weighs {number} grams, folds {adv} and fits under any {noun}",
        "choose between {adj}, {adj} and {adj} when you order the {thing}",
        "if the {noun} of your {thing} should {verb}, send it back before {date}",
        "the {thing} {past} our test with {number} of {number} points",
        "orders placed before {time} leave the {adj} warehouse in {place} on the same day",
        "compared with last year the {adj} {thing} is {adv} lighter and {adj}",
    ],
    items: &[
        "weight: {number} grams",
        "price: {price} with {noun}",
        "{adj} {thing} with {adj} {noun}",
        "in stock since {date}",
        "warranty of {number} months on the {noun}",
    ],
    sections: (2, 4),
    paragraphs: (1, 2),
    entries: (2, 6),
};
