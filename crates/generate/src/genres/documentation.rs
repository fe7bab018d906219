//! A page of a manual.

use super::Genre;

pub(super) const GENRE: Genre = Genre {
    name: "manual",
    things: &[
        "server", "buffer", "module", "index", "parser", "queue", "packet", "cache", "thread", "socket",
        "compiler", "table", "pointer", "kernel", "archive", "session", "schema", "driver", "cursor",
        "token", "log file", "worker", "branch", "filter", "record",
    ],
    titles: &[
        "{name} manual: the {adj} {thing}",
        "how to {verb} a {thing} in {name}",
        "{thing} reference for version {number}",
        "moving from the {adj} {thing} to {name}",
    ],
    headings: &[
        "before you {verb} the {thing}",
        "limits of the {adj} {thing}",
        "example {number}",
        "since version {number}",
        "when a {thing} cannot {verb}",
    ],
    sentences: &[
        "the {thing} holds {number} {nouns} and will {verb} when the {noun} is {adj}",
        "call the {adj} function to {verb} a {thing} before {number} seconds have passed",
        "a {adj} {thing} never {past} more than one {noun} at a time",
        "set the option to {number} if your {thing} must {verb} {adv}",
        "in version {number} the {noun} {past}, so an old {thing} may {verb} {adv}",
        "{name} reads the {thing} {adv} and writes {adj} {nouns} to the {thing}",
        "errors of the {adj} {thing} carry the {noun} that {past} them",
        "two {nouns} may share a {thing} as long as neither will {verb} it",
        "the default for a {adj} {thing} is {number}, which suits most {nouns}",
        "remove the {noun} first, or the {thing} will {verb} at {time} again",
        "this page was checked on {date} against the {adj} {thing} of {name}",
        "use the {adj} {noun} instead when a {thing} {past} {adv}",
    ],
    items: &[
        "{verb} the {thing}",
        "{noun}: {number}",
        "a {adj} {thing} for {number} {nouns}",
        "open the {noun} & {verb} it {adv}",
    ],
    sections: (3, 6),
    paragraphs: (1, 3),
    entries: (1, 5),
};
