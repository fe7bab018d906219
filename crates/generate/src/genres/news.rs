//! A news item.

use super::Genre;

pub(super) const GENRE: Genre = Genre {
    name: "news",
    things: &[
        "council", "bridge", "festival", "storm", "budget", "harbour", "railway", "museum", "strike", "election",
        "stadium", "hospital", "factory", "flood", "theatre", "airport", "school", "tunnel", "parade", "library",
        "power station", "ferry", "market hall", "court", "mayor",
    ],
    titles: &[
        "{adj} {thing} {past} in {place}",
        "{place}: {number} {nouns} wait for the {adj} {thing}",
        "{thing} of {place} to {verb} after {adj} {month}",
        "why the {thing} near {place} {past} {adv}",
    ],
    headings: &[
        "a {adj} {noun} for {place}",
        "what happens next in {month}",
        "{number} {nouns} and one {thing}",
        "voices from {place}",
    ],
    sentences: &[
        "the {thing} of {place} {past} {adv} on {date}, according to the {adj} office",
        "about {number} people came to see the {adj} {thing} at {time}",
        "a {noun} near {place} {past} and the {thing} had to {verb}",
        "residents of {place} had asked for a {adj} {thing} since {date}",
        "the {adj} plan would cost {number} million and {verb} the {noun} until {month}",
        "nobody was hurt when the {noun} {past} beside the {adj} {thing}",
        "in {month} the {thing} {past} more than {number} {nouns}, a {adj} record",
        "critics call the {thing} {adj} and doubt that it will {verb} {adv}",
        "the group {name} has promised a {adj} {noun} for the {thing}",
        "between {place} and {place} trains {past} {number} minutes late",
        "a first report on the {adj} {noun} is expected by {date}",
        "weather in {place} stayed {adj}, which {past} the work on the {thing}",
        "two of the {number} {nouns} {past} before the {thing} opened at {time}",
    ],
    items: &["{date}: the {thing} {past}", "{place} counts {number} {nouns}", "the {adj} {noun} will {verb}"],
    sections: (2, 4),
    paragraphs: (2, 4),
    entries: (0, 3),
};
