//! The English words that all genres share, most frequent first, and what sites say around their articles.

pub(crate) const NOUNS: &[&str] = &[
    "house", "door", "garden", "street", "table", "window", "river", "road", "morning", "field", "kitchen", "paper",
    "story", "number", "corner", "bottle", "wheel", "box", "letter", "forest", "island", "engine", "bridge", "roof",
    "wall", "floor", "stone", "hill", "valley", "village", "winter", "summer", "handle", "button", "cable", "screen",
    "frame", "panel", "switch", "bucket", "ladder", "rope", "candle", "pocket", "ticket", "station", "platform",
    "harvest", "orchard", "meadow", "barrel", "wagon", "anchor", "sail", "lantern", "hammer", "needle", "thread",
    "carpet", "curtain", "drawer", "cupboard", "stove", "plate", "spoon", "cup", "towel", "soap", "brush", "comb",
    "coat", "glove", "boot", "sleeve", "collar", "belt", "ring", "coin", "purse", "map", "compass", "journal",
    "notebook", "pencil", "ruler", "glue", "ribbon", "parcel", "stamp", "envelope", "signal", "battery", "motor",
    "pump", "valve", "filter", "hinge", "bolt", "screw", "plank", "beam", "brick", "tile", "gravel", "sand",
    "pond", "stream", "shore", "cliff", "cave", "path", "gate", "fence", "tower", "bell", "choir", "stage",
];

pub(crate) const PLURALS: &[&str] = &[
    "people", "houses", "days", "rooms", "visitors", "trees", "boats", "tools", "lights", "books", "chairs",
    "parts", "cards", "maps", "animals", "flowers", "stones", "apples", "cities", "roads", "letters", "questions",
    "answers", "families", "workers", "drivers", "lessons", "photographs", "keys", "tickets", "signals", "branches",
    "members", "neighbours", "farmers", "lamps", "bricks", "songs", "stories", "mistakes", "changes", "reports",
    "letters", "samples", "entries", "shelves", "bottles", "potatoes", "carrots", "berries",
];

pub(crate) const ADJECTIVES: &[&str] = &[
    "new", "small", "old", "large", "quiet", "bright", "wooden", "simple", "green", "early", "open", "heavy",
    "soft", "narrow", "local", "public", "empty", "warm", "cold", "blue", "round", "steep", "fresh", "dry", "clean",
    "common", "careful", "hidden", "broken", "famous", "gentle", "sharp", "smooth", "rough", "hollow", "plain",
    "golden", "silver", "modern", "ancient", "northern", "southern", "eastern", "western", "private", "useful",
    "patient", "curious", "sturdy", "modest", "lively", "distant", "seasonal", "regional", "temporary", "final",
    "second", "third", "spare", "loose",
];

pub(crate) const ADVERBS: &[&str] = &[
    "often", "quickly", "slowly", "again", "well", "together", "quietly", "early", "twice", "carefully", "nearly",
    "badly", "easily", "evenly", "gently", "rarely", "daily", "openly", "firmly", "briefly", "mostly", "loudly",
    "safely", "gladly", "yearly", "partly", "barely", "at once", "by hand", "in time",
];

pub(crate) const VERBS: &[&str] = &[
    "open", "move", "change", "close", "turn", "carry", "build", "clean", "paint", "repair", "measure", "follow",
    "answer", "gather", "lift", "check", "cover", "fill", "empty", "share", "count", "mark", "split", "join",
    "store", "wash", "press", "fold", "hang", "guard", "replace", "shorten", "improve", "extend", "reduce", "stop",
    "start", "test", "shift", "plant", "water", "polish", "sort", "label", "copy", "wrap", "load", "ship", "trim",
    "tighten",
];

pub(crate) const PAST: &[&str] = &[
    "opened", "moved", "changed", "closed", "turned", "stopped", "failed", "started", "arrived", "grew", "fell",
    "broke", "improved", "returned", "vanished", "worked", "waited", "burned", "froze", "melted", "leaked",
    "cracked", "doubled", "shrank", "helped", "saved", "carried", "reached", "crossed", "joined", "covered",
    "replaced", "measured", "lost", "won", "kept", "held", "sold", "built", "painted",
];

/// Towns that are on no map.
pub(crate) const PLACES: &[&str] = &[
    "Ambermoor", "Birchwick", "Coldhaven", "Dunmarsh", "Elmspire", "Fernholt", "Greywater", "Hazelford", "Ironby",
    "Juniper Bay", "Kestrelton", "Larkhollow", "Mosswell", "Northmere", "Oakendale", "Pinegate", "Quillport",
    "Ravenbrook", "Saltmouth", "Thistledown", "Umberley", "Vinehall", "Willowmead", "Yarrowby", "Zephyr Point",
];

pub(crate) const MONTHS: &[&str] = &[
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
];

/// Sentences that fit on a page of any genre.
pub(crate) const ANYWHERE: &[&str] = &[
    "there is a {adj} {noun} behind the {thing}",
    "most {nouns} {verb} {adv} when the {noun} is {adj}",
    "on {date} the {noun} {past} for the first time",
    "it took {number} {nouns} to {verb} the {adj} {noun}",
    "the {noun} and the {noun} were both {adj}",
    "some say the {adj} {thing} of {place} is better",
    "nothing about the {noun} seemed {adj} at {time}",
    "{name} {past} a {noun} with {number} {adj} {nouns}",
    "from {place} the road leads {adv} to a {adj} {noun}",
    "they {past} the {noun}, the {noun} and a {adj} {thing}",
    "each {noun} has its {adj} {noun}",
    "after {number} {nouns} the {adj} {noun} {past} {adv}",
    "what would {verb} if the {noun} {past}?",
    "by {month} every {adj} {thing} had {past}",
    "a {adj} {noun} can {verb} a {adj} {noun}",
    "we will {verb} the {thing} {adv} before {month}",
];

/// Entries of menus.
pub(crate) const MENU: &[&str] = &[
    "home", "{name}", "about {name}", "contact", "search the {noun}", "{month} archive", "all {nouns}", "sign in",
    "my account", "{adj} {nouns}", "shop", "news from {place}", "help & answers", "site map", "{nouns} & {nouns}",
    "basket", "write to the {noun} desk", "newsletter", "{place}", "jobs at {name}", "opening hours", "forum",
    "{adj} {noun} offers", "downloads", "back to the {noun}", "print this page", "share", "the {adj} {noun}",
    "calendar for {month}", "press", "partners in {place}", "photographs",
];

/// What stands below and beside articles.
pub(crate) const FOOTER: &[&str] = &[
    "{name} uses cookies to {verb} the {adj} {noun} of its visitors",
    "all {nouns} on these pages belong to {name} and may not {verb} without leave",
    "subscribe to the {adj} letter of {name} and get {number} {nouns} every {month}",
    "this page was last changed on {date} at {time}",
    "read next: why the {adj} {noun} {past} in {place}",
    "read next: {number} {adj} {nouns} for your {noun}",
    "read next: a {noun}, a {adj} {noun} and the {noun} of {place}",
    "prices include tax and the {adj} {noun}, but not the {noun}",
    "call the {noun} desk in {place} on working days until {time}",
    "copyright {number} {name}, {place}, all rights kept",
    "we follow the {adj} rules of the {place} {noun} board",
    "was the {adj} {noun} on this page useful to you?",
    "visitors who saw this also saw the {adj} {noun} with {number} {nouns}",
    "report a {adj} {noun} or a broken link to {name}",
    "{name} is a {adj} member of the {noun} union of {place}",
    "delivery, returns and the {adj} {noun} are explained under {nouns}",
];
