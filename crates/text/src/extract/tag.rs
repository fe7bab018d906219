//! Tags: where they end and what they mean for the text.

use memchr::{memchr, memmem};

use super::writer::is_blank;

/// The effect of an element on the text around and inside of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tag {
    /// Nothing: `foo<b>bar</b>` is one word.
    Inline,
    /// Ends the block.
    Block,
    /// A block of its own, and a heading.
    Heading,
    /// A link, if it has an address.
    Link,
    /// A forced line break.
    Break,
    /// A block in which line feeds count.
    Preformatted,
    /// Raw text that may hide its own end tag inside of a comment.
    Script,
    /// Raw text that is not part of the page.
    Dropped,
    /// Text with character references but without tags, and a heading.
    Title,
    /// Text with character references but without tags.
    TextArea,
    /// Raw text that is shown.
    Example,
    /// Raw text up to the end of the document.
    PlainText,
    /// Markup that is not shown, and may nest.
    Template,
    /// A drawing, whose title is a tooltip.
    Drawing,
}

impl Tag {
    /// The tag of a name in any case.
    pub(super) fn named(name: &[u8]) -> Tag {
        if name.len() > 16 {
            return Tag::Inline;
        }
        match key(name) {
            A => Tag::Link,
            BR => Tag::Break,
            H1 | H2 | H3 | H4 | H5 | H6 => Tag::Heading,
            PRE | LISTING => Tag::Preformatted,
            SCRIPT => Tag::Script,
            STYLE | IFRAME | NOEMBED | NOFRAMES => Tag::Dropped,
            TITLE => Tag::Title,
            TEXTAREA => Tag::TextArea,
            XMP => Tag::Example,
            PLAINTEXT => Tag::PlainText,
            TEMPLATE => Tag::Template,
            SVG => Tag::Drawing,
            ADDRESS | ARTICLE | ASIDE | BLOCKQUOTE | BODY | CAPTION | CENTER | DD | DETAILS | DIALOG
            | DIR | DIV | DL | DT | FIELDSET | FIGCAPTION | FIGURE | FOOTER | FORM | FRAMESET | HEAD
            | HEADER | HGROUP | HR | HTML | LEGEND | LI | MAIN | MENU | NAV | OL | OPTGROUP | OPTION | P
            | SEARCH | SECTION | SELECT | SUMMARY | TABLE | TBODY | TD | TFOOT | TH | THEAD | TR | UL => {
                Tag::Block
            }
            _ => Tag::Inline,
        }
    }
}

/// A name of up to 16 bytes as one number, in lower case: telling tags apart then needs no string comparison.
const fn key(name: &[u8]) -> u128 {
    let mut packed = 0;
    let mut at = 0;
    while at < name.len() {
        packed = packed << 8 | name[at].to_ascii_lowercase() as u128;
        at += 1;
    }
    packed
}

macro_rules! keys {
    ($($constant:ident = $name:literal),+ $(,)?) => { $(const $constant: u128 = key($name);)+ };
}

keys! {
    A = b"a", ADDRESS = b"address", ARTICLE = b"article", ASIDE = b"aside", BLOCKQUOTE = b"blockquote",
    BODY = b"body", BR = b"br", CAPTION = b"caption", CENTER = b"center", DD = b"dd", DETAILS = b"details",
    DIALOG = b"dialog", DIR = b"dir", DIV = b"div", DL = b"dl", DT = b"dt", FIELDSET = b"fieldset",
    FIGCAPTION = b"figcaption", FIGURE = b"figure", FOOTER = b"footer", FORM = b"form", FRAMESET = b"frameset",
    H1 = b"h1", H2 = b"h2", H3 = b"h3", H4 = b"h4", H5 = b"h5", H6 = b"h6", HEAD = b"head", HEADER = b"header",
    HGROUP = b"hgroup", HR = b"hr", HTML = b"html", IFRAME = b"iframe", LEGEND = b"legend", LI = b"li",
    LISTING = b"listing", MAIN = b"main", MENU = b"menu", NAV = b"nav", NOEMBED = b"noembed",
    NOFRAMES = b"noframes", OL = b"ol", OPTGROUP = b"optgroup", OPTION = b"option", P = b"p",
    PLAINTEXT = b"plaintext", PRE = b"pre", SCRIPT = b"script", SEARCH = b"search", SECTION = b"section",
    SELECT = b"select", STYLE = b"style", SUMMARY = b"summary", SVG = b"svg", TABLE = b"table", TBODY = b"tbody",
    TD = b"td", TEMPLATE = b"template", TEXTAREA = b"textarea", TFOOT = b"tfoot", TH = b"th", THEAD = b"thead",
    TITLE = b"title", TR = b"tr", UL = b"ul", XMP = b"xmp",
}

/// Returns the end of a tag's name: at white space, `/`, `>` or the end of the source.
pub(super) fn name_end(bytes: &[u8], start: usize) -> usize {
    let ends = |byte: &u8| is_blank(*byte) || matches!(byte, b'/' | b'>');
    bytes[start..].iter().position(ends).map_or(bytes.len(), |length| start + length)
}

/// The rest of a tag behind its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Attributes {
    /// One past the tag's `>`.
    pub(super) end: usize,
    /// There is an `href` among them.
    pub(super) href: bool,
}

/// Finds the ends of tags as browsers do, with one exception: a quote that is never closed in the rest of the
/// source does not swallow it. Each kind of quote is searched in vain once only, which keeps this linear.
#[derive(Debug, Default)]
pub(super) struct TagEnds {
    no_double: bool,
    no_single: bool,
}

impl TagEnds {
    /// Reads attributes from `at`, behind the tag's name.
    pub(super) fn attributes(&mut self, bytes: &[u8], mut at: usize) -> Attributes {
        let mut href = false;
        loop {
            let Some(next) = skip(bytes, at, |byte| is_blank(byte) || byte == b'/') else {
                return Attributes { end: bytes.len(), href };
            };
            if bytes[next] == b'>' {
                return Attributes { end: next + 1, href };
            }
            // A `=` in first place is part of the name.
            let name_end =
                skip(bytes, next + 1, |byte| !ENDS_ATTRIBUTE[byte as usize]).unwrap_or(bytes.len());
            href |= name_end - next == 4 && bytes[next..name_end].eq_ignore_ascii_case(b"href");
            at = self.value_end(bytes, name_end);
        }
    }

    /// Returns the end of the value that may follow an attribute's name.
    fn value_end(&mut self, bytes: &[u8], name_end: usize) -> usize {
        let Some(equals) = skip(bytes, name_end, is_blank) else { return bytes.len() };
        if bytes[equals] != b'=' {
            return equals;
        }
        let Some(value) = skip(bytes, equals + 1, is_blank) else { return bytes.len() };
        match bytes[value] {
            b'>' => value,
            quote @ (b'"' | b'\'') => self.quote_end(bytes, value + 1, quote),
            _ => skip(bytes, value, |byte| !is_blank(byte) && byte != b'>').unwrap_or(bytes.len()),
        }
    }

    /// One past the closing quote; without one, the tag's own `>`.
    fn quote_end(&mut self, bytes: &[u8], value: usize, quote: u8) -> usize {
        let gone = if quote == b'"' { &mut self.no_double } else { &mut self.no_single };
        if !*gone {
            if let Some(length) = memchr(quote, &bytes[value..]) {
                return value + length + 1;
            }
            *gone = true;
        }
        memchr(b'>', &bytes[value..]).map_or(bytes.len(), |length| value + length)
    }
}

/// The bytes that end an attribute's name: white space, `/`, `>` and `=`.
static ENDS_ATTRIBUTE: [bool; 256] = {
    let mut table = [false; 256];
    let ends = b" \t\n\r\x0c/>=";
    let mut at = 0;
    while at < ends.len() {
        table[ends[at] as usize] = true;
        at += 1;
    }
    table
};

/// The first place from `at` on whose byte is not `skipped`.
fn skip(bytes: &[u8], at: usize, skipped: impl Fn(u8) -> bool) -> Option<usize> {
    bytes.get(at..)?.iter().position(|byte| !skipped(*byte)).map(|length| at + length)
}

/// The next occurrence of a needle, cached so that looking again from a later offset is free until it is passed.
#[derive(Debug)]
pub(super) struct NextOccurrence<'n> {
    needle: &'n [u8],
    next: Option<usize>,
    searched: bool,
}

impl<'n> NextOccurrence<'n> {
    pub(super) fn new(needle: &'n [u8]) -> Self {
        NextOccurrence { needle, next: None, searched: false }
    }

    /// The first occurrence from `at` on. Offsets asked for must not go back.
    pub(super) fn from(&mut self, bytes: &[u8], at: usize) -> Option<usize> {
        let stale = !self.searched || self.next.is_some_and(|next| next < at);
        if stale {
            self.searched = true;
            self.next = memmem::find(bytes.get(at..)?, self.needle).map(|length| at + length);
        }
        self.next
    }
}

/// Finds where comments end.
#[derive(Debug)]
pub(super) struct CommentEnds {
    arrow: NextOccurrence<'static>,
    bang: NextOccurrence<'static>,
}

impl Default for CommentEnds {
    fn default() -> Self {
        CommentEnds { arrow: NextOccurrence::new(b"-->"), bang: NextOccurrence::new(b"--!>") }
    }
}

impl CommentEnds {
    /// One past the end of the comment whose content begins at `at`, behind `<!--`; nothing if it never ends.
    pub(super) fn from(&mut self, bytes: &[u8], at: usize) -> Option<usize> {
        if bytes.get(at) == Some(&b'>') {
            return Some(at + 1);
        }
        if bytes.get(at..at + 2) == Some(b"->") {
            return Some(at + 2);
        }
        let arrow = self.arrow.from(bytes, at).map(|place| place + 3);
        let bang = self.bang.from(bytes, at).map(|place| place + 4);
        arrow.into_iter().chain(bang).min()
    }
}

/// One past the next `>` from `at` on, or the end of the source.
pub(super) fn past_angle(bytes: &[u8], at: usize) -> usize {
    bytes.get(at..).and_then(|rest| memchr(b'>', rest)).map_or(bytes.len(), |length| at + length + 1)
}

/// Returns the offset of the first end tag `</name` from `at` on.
pub(super) fn end_tag(bytes: &[u8], mut at: usize, name: &[u8]) -> Option<usize> {
    while let Some(length) = memchr(b'<', bytes.get(at..)?) {
        at += length;
        if bytes.get(at + 1) == Some(&b'/') && is_named(bytes, at + 2, name) {
            return Some(at);
        }
        at += 1;
    }
    None
}

/// True when the tag name at `at` is `name`, with an end of its own.
pub(super) fn is_named(bytes: &[u8], at: usize, name: &[u8]) -> bool {
    let end = at + name.len();
    bytes.get(at..end).is_some_and(|found| found.eq_ignore_ascii_case(name))
        && bytes.get(end).is_some_and(|byte| is_blank(*byte) || matches!(byte, b'/' | b'>'))
}

/// Returns the offset of a script's end tag from `at` on. Inside of `<!-- … -->` a nested `<script>` hides one end tag.
pub(super) fn script_end(bytes: &[u8], mut at: usize) -> Option<usize> {
    #[derive(PartialEq)]
    enum ScriptState {
        Plain,
        Comment,
        Nested,
    }
    let mut hidden = ScriptState::Plain;
    loop {
        let rest = bytes.get(at..)?;
        let found =
            if hidden == ScriptState::Plain { memchr(b'<', rest) } else { memchr::memchr2(b'<', b'-', rest) };
        at += found?;
        if bytes[at] == b'-' {
            if bytes[at..].starts_with(b"-->") {
                hidden = ScriptState::Plain;
            }
            at += 1;
        } else if bytes.get(at + 1) == Some(&b'/') && is_named(bytes, at + 2, b"script") {
            if hidden != ScriptState::Nested {
                return Some(at);
            }
            hidden = ScriptState::Comment;
            at += 1;
        } else if hidden == ScriptState::Comment && is_named(bytes, at + 1, b"script") {
            hidden = ScriptState::Nested;
            at += 1;
        } else if hidden == ScriptState::Plain && bytes[at..].starts_with(b"<!--") {
            hidden = ScriptState::Comment;
            // The dashes may be the first ones of `-->`.
            at += 2;
        } else {
            at += 1;
        }
    }
}
