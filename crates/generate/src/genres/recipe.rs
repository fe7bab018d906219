//! A recipe.

use super::Genre;

pub(super) const GENRE: Genre = Genre {
    name: "recipes",
    things: &[
        "soup", "bread", "cake", "salad", "stew", "dumplings", "sauce", "pie", "omelette", "risotto", "pickles",
        "jam", "pancakes", "curry", "noodles", "pudding", "broth", "biscuits", "gravy", "dough", "lentils",
        "roast", "porridge", "sorbet", "chutney",
    ],
    titles: &[
        "{adj} {thing} from {place}",
        "{thing} with {adj} {nouns} in {number} minutes",
        "the {name} kitchen: {adj} {thing}",
        "{month} {thing} for {number} guests",
    ],
    headings: &[
        "for the {thing} you need",
        "how the {adj} {thing} is made",
        "notes from {place}",
        "what goes with {thing}",
    ],
    sentences: &[
        "heat the {adj} pan and let the {thing} {verb} for {number} minutes",
        "cut the {nouns} {adv} and put them under the {adj} {thing}",
        "my aunt in {place} made this {thing} every {month} with {adj} butter",
        "add {number} grams of sugar, a pinch of salt and the {adj} {noun}",
        "the {thing} is ready when the {noun} turns {adj} and begins to {verb}",
        "stir {adv} until the {adj} {thing} no longer sticks to the {noun}",
        "serve the {thing} at {time} with {adj} onions and a glass of milk",
        "leftover {thing} keeps for {number} days in a {adj} jar",
        "if the {thing} {past}, a spoon of {adj} flour will help",
        "bake it at {number} degrees and {verb} it {adv} before the {noun}",
        "{number} readers from {place} have cooked this {adj} {thing} since {date}",
        "never {verb} the garlic, or the {thing} becomes {adj}",
    ],
    items: &[
        "{number} grams of {adj} flour",
        "{number} spoons of {noun} oil",
        "a {adj} onion & {number} eggs",
        "{number} {adj} {nouns}",
        "salt, pepper, {adj} {noun}",
    ],
    sections: (2, 4),
    paragraphs: (1, 2),
    entries: (3, 8),
};
