//! Wiki markup to text: what a reader of the page would read, without templates.
//!
//! Two passes, both linear: the first pairs braces and brackets, so that an opener that never closes is known
//! to be text; the second writes.

mod pairs;
mod regions;

use memchr::memchr;

use self::pairs::{Kind, Pair, pairs};
use self::regions::{Region, Regions};
use super::Extracted;
use super::tag::{NextOccurrence, Tag, name_end};
use super::writer::{Gap, Origin, ReadOptions, Writer, is_blank};

/// Writes the text of a MediaWiki page's source to `out`.
///
/// Templates, parser functions, references, formulas, files and categories are dropped; links become their
/// labels; headings, list items, table cells and paragraphs become blocks. Never fails.
///
/// ```
/// use lookalike_text::extract::{Extracted, wikitext::wikitext};
///
/// let mut out = Extracted::default();
/// wikitext("{{Infobox|a={{b}}}}\n== Tea ==\n* '''Green''' [[tea|teas]]<ref>x</ref>\n", &mut out);
/// assert_eq!(out.text, "Tea\n\nGreen teas");
/// ```
pub fn wikitext(source: &str, out: &mut Extracted) {
    out.clear();
    let mut writer = Writer::new(source, Origin::At(0), out);
    Scanner::new(&mut writer).run();
    writer.finish();
}

/// The reading of ordinary text: line feeds are white space, and character references are decoded.
const INLINE: ReadOptions = ReadOptions { lines: false, entities: true };

struct Scanner<'w, 'a> {
    writer: &'w mut Writer<'a>,
    bytes: &'a [u8],
    pairs: std::iter::Peekable<std::vec::IntoIter<Pair>>,
    regions: Regions<'a>,
    opens: NextOccurrence<'static>,
    angles: NextOccurrence<'static>,
    brackets: NextOccurrence<'static>,
    line_feeds: NextOccurrence<'static>,
    /// The offsets of the closers of links whose labels are being written, each with its length in bytes.
    closers: Vec<(usize, usize)>,
    /// The start and end of the closing `=` signs of the heading being written.
    heading_end: Option<(usize, usize)>,
    /// The number of open tables; then, if the line holds table cells, the mark of the cells.
    tables: usize,
    cells: Option<u8>,
    line_start: bool,
}

impl<'w, 'a> Scanner<'w, 'a> {
    fn new(writer: &'w mut Writer<'a>) -> Self {
        let source = writer.source();
        Scanner {
            bytes: source.as_bytes(),
            writer,
            pairs: pairs(source.as_bytes()).into_iter().peekable(),
            regions: Regions::new(source.as_bytes()),
            opens: NextOccurrence::new(b"<"),
            angles: NextOccurrence::new(b">"),
            brackets: NextOccurrence::new(b"]"),
            line_feeds: NextOccurrence::new(b"\n"),
            closers: Vec::new(),
            heading_end: None,
            tables: 0,
            cells: None,
            line_start: true,
        }
    }

    fn run(&mut self) {
        let mut at = 0;
        while at < self.bytes.len() {
            if self.line_start {
                at = self.begin_line(at);
            }
            let stop = self.plain_end(at);
            self.writer.text(at, stop, INLINE);
            at = if stop < self.bytes.len() { self.markup(stop) } else { stop };
        }
    }

    /// Returns the end of the bytes from `at` on that are no markup; it is no later than the end of an open heading.
    fn plain_end(&self, at: usize) -> usize {
        let special = |byte: &u8| SPECIAL[*byte as usize];
        let stop = self.bytes[at..].iter().position(special).map_or(self.bytes.len(), |length| at + length);
        let heading = self.heading_end.map_or(stop, |(start, _)| stop.min(start));
        heading.max(at)
    }

    /// Reads the marks that give a line its role.
    fn begin_line(&mut self, at: usize) -> usize {
        self.line_start = false;
        self.cells = None;
        let rest = &self.bytes[at..];
        match rest.first() {
            Some(b'=') => self.heading(at),
            Some(b'*' | b'#' | b':' | b';') => {
                self.writer.separate(Gap::Block);
                let marks = rest.iter().take_while(|byte| matches!(byte, b'*' | b'#' | b':' | b';')).count();
                self.table_line(at + marks)
            }
            Some(b'-') if rest.starts_with(b"----") => {
                self.writer.separate(Gap::Block);
                at + rest.iter().take_while(|byte| **byte == b'-').count()
            }
            _ => self.table_line(at),
        }
    }

    fn heading(&mut self, at: usize) -> usize {
        let end = self.line_end(at);
        let line = &self.bytes[at..end];
        let trimmed = line.trim_ascii_end();
        let open = trimmed.iter().take_while(|byte| **byte == b'=').count();
        let close = trimmed.iter().rev().take_while(|byte| **byte == b'=').count();
        let level = open.min(close).min(6);
        if level == 0 || trimmed.len() <= 2 * level {
            return at;
        }
        self.writer.separate(Gap::Block);
        self.writer.heading = true;
        self.heading_end = Some((at + trimmed.len() - level, end));
        at + level
    }

    /// Reads the marks of a table, which may stand behind white space.
    fn table_line(&mut self, at: usize) -> usize {
        let start = at + self.bytes[at..].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        let rest = &self.bytes[start..];
        if rest.starts_with(b"{|") {
            self.tables += 1;
            self.writer.separate(Gap::Block);
            return self.line_end(start);
        }
        if self.tables == 0 {
            return at;
        }
        match rest {
            [b'|', b'}', ..] if !rest.starts_with(b"|}}") => {
                self.tables -= 1;
                self.writer.separate(Gap::Block);
                start + 2
            }
            [b'|', b'-', ..] => {
                self.writer.separate(Gap::Block);
                self.line_end(start)
            }
            [b'|', b'+', ..] => self.cell(start + 2, b'|'),
            [mark @ (b'|' | b'!'), ..] => self.cell(start + 1, *mark),
            _ => at,
        }
    }

    /// Begins a table cell and skips its attributes: what stands before a single `|`.
    fn cell(&mut self, at: usize, mark: u8) -> usize {
        self.writer.separate(Gap::Block);
        self.cells = Some(mark);
        let bound = self.bytes.len().min(at + MAX_CELL_ATTRIBUTES);
        let ends = |byte: &u8| matches!(byte, b'|' | b'\n' | b'[' | b'{' | b'<');
        let Some(length) = self.bytes[at..bound].iter().position(ends) else { return at };
        let end = at + length;
        let single = self.bytes[end] == b'|' && self.bytes.get(end + 1) != Some(&b'|');
        if single { end + 1 } else { at }
    }

    /// Reads the markup at `at` and returns where it ends.
    fn markup(&mut self, at: usize) -> usize {
        if let Some((start, end)) = self.heading_end
            && at >= start
        {
            self.heading_end = None;
            self.end_heading();
            return end.max(at);
        }
        while let Some((close, width)) = self.closers.pop_if(|(close, _)| *close <= at) {
            self.writer.link = !self.closers.is_empty();
            if close == at {
                return at + width;
            }
        }
        match self.bytes[at] {
            b'\n' => self.line_feed(at),
            b'{' | b'[' => self.bracket(at),
            b'<' => self.tag(at),
            b'\'' => self.quotes(at),
            b'_' => self.magic_word(at),
            b'|' | b'!' => self.next_cell(at),
            _ => self.literal(at, 1),
        }
    }

    fn line_feed(&mut self, at: usize) -> usize {
        self.end_heading();
        self.heading_end = None;
        self.line_start = true;
        self.writer.separate(if self.cells.is_some() && self.tables == 0 { Gap::Block } else { Gap::Blank });
        let blanks =
            self.bytes[at + 1..].iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r')).count();
        // Runs of blanks are passed over here for good, so that they are not counted again.
        let next = at + 1 + blanks;
        if self.bytes.get(next) == Some(&b'\n') {
            self.writer.separate(Gap::Block);
            return next;
        }
        if blanks > 0 {
            self.line_start = self.tables > 0;
            return next;
        }
        at + 1
    }

    fn end_heading(&mut self) {
        if std::mem::take(&mut self.writer.heading) {
            self.writer.separate(Gap::Block);
        }
    }

    /// Reads a template, a link, or a bracket that is neither.
    fn bracket(&mut self, at: usize) -> usize {
        while self.pairs.peek().is_some_and(|pair| pair.open < at) {
            self.pairs.next();
        }
        match self.pairs.peek().copied() {
            Some(pair) if pair.open == at => match pair.kind {
                Kind::Template => self.template(pair),
                Kind::Link => self.link(pair),
            },
            _ if self.bytes[at] == b'[' => self.external_link(at),
            _ => self.literal(at, 1),
        }
    }

    /// Drops a template; one that fills its lines leaves the line as if it had never been there.
    fn template(&mut self, pair: Pair) -> usize {
        let alone = pair.open == 0 || self.bytes[pair.open - 1] == b'\n';
        self.line_start = alone;
        pair.close
    }

    fn link(&mut self, pair: Pair) -> usize {
        let (start, end) = (pair.open + 2, pair.close - 2);
        let pipe = pair.pipe;
        let target = &self.bytes[start..pipe.unwrap_or(end)];
        if is_dropped(target, pipe.is_some()) {
            return pair.close;
        }
        let label = match pipe {
            Some(pipe) if self.bytes[pipe + 1..end].iter().any(|byte| !is_blank(*byte)) => pipe + 1,
            Some(pipe) => {
                // A label left empty shows the target.
                self.linked_text(start, pipe);
                return pair.close;
            }
            None => start + usize::from(target.first() == Some(&b':')),
        };
        self.closers.push((end, 2));
        self.writer.link = true;
        label
    }

    fn linked_text(&mut self, start: usize, end: usize) {
        let link = std::mem::replace(&mut self.writer.link, true);
        self.writer.text(start, end, INLINE);
        self.writer.link = link;
    }

    /// Reads `[address label]`: the label is text, an address without label is not.
    fn external_link(&mut self, at: usize) -> usize {
        const SCHEMES: [&[u8]; 5] = [b"http://", b"https://", b"ftp://", b"//", b"mailto:"];
        let rest = &self.bytes[at + 1..];
        if !SCHEMES.iter().any(|scheme| rest.starts_with(scheme)) {
            return self.literal(at, 1);
        }
        let close = self.brackets.from(self.bytes, at);
        let Some(close) = close.filter(|close| *close < self.line_end(at)) else {
            return self.literal(at, 1);
        };
        let inside = &self.bytes[at + 1..close];
        let Some(blank) = inside.iter().position(|byte| is_blank(*byte)) else { return close + 1 };
        self.closers.push((close, 1));
        self.writer.link = true;
        at + 1 + blank
    }

    fn tag(&mut self, at: usize) -> usize {
        match self.regions.at(at) {
            Some(Region::Dropped { end }) => end,
            Some(Region::Literal { start, stop, end, lines, entities }) => {
                if lines {
                    self.writer.separate(Gap::Block);
                }
                self.writer.text(start, stop, ReadOptions { lines, entities });
                if lines {
                    self.writer.separate(Gap::Block);
                }
                end
            }
            None => self.other_tag(at),
        }
    }

    /// Strips a tag of HTML or of an extension we do not know.
    fn other_tag(&mut self, at: usize) -> usize {
        let closing = self.bytes.get(at + 1) == Some(&b'/');
        let start = at + 1 + usize::from(closing);
        if !self.bytes.get(start).is_some_and(u8::is_ascii_alphabetic) {
            return self.literal(at, 1);
        }
        let Some(angle) = self.angles.from(self.bytes, at) else { return self.literal(at, 1) };
        if self.opens.from(self.bytes, at + 1).is_some_and(|open| open < angle) {
            return self.literal(at, 1);
        }
        let name_end = name_end(self.bytes, start);
        match Tag::named(&self.bytes[start..name_end]) {
            Tag::Inline | Tag::Link => {}
            Tag::Break => self.writer.separate(Gap::Line),
            _ => self.writer.separate(Gap::Block),
        }
        angle + 1
    }

    /// Drops the quotes of bold and italic text; a single one is an apostrophe.
    fn quotes(&mut self, at: usize) -> usize {
        let run = self.bytes[at..].iter().take_while(|byte| **byte == b'\'').count();
        let shown = match run {
            1 => 1,
            4 => 1,
            _ => run.saturating_sub(5),
        };
        self.writer.text(at, at + shown, INLINE);
        at + run
    }

    /// Drops switches such as `__NOTOC__`.
    fn magic_word(&mut self, at: usize) -> usize {
        let rest = &self.bytes[at..self.bytes.len().min(at + 40)];
        let run = rest.iter().take_while(|byte| **byte == b'_').count();
        if run != 2 {
            return self.literal(at, run);
        }
        let letters = rest[2..].iter().take_while(|byte| byte.is_ascii_uppercase()).count();
        let closed = rest[2 + letters..].starts_with(b"__");
        if letters > 2 && closed { at + letters + 4 } else { self.literal(at, 2) }
    }

    /// Reads the `||` or `!!` between two cells of one line.
    fn next_cell(&mut self, at: usize) -> usize {
        let mark = self.bytes[at];
        let doubled = self.bytes.get(at + 1) == Some(&mark);
        let separates = doubled
            && self.closers.is_empty()
            && self.cells.is_some_and(|cells| mark == b'|' || cells == mark);
        if separates { self.cell(at + 2, self.cells.unwrap_or(mark)) } else { self.literal(at, 1) }
    }

    fn literal(&mut self, at: usize, length: usize) -> usize {
        self.writer.text(at, at + length, INLINE);
        at + length
    }

    /// Returns the end of the line. Called with ascending offsets; all calls for one line together cost its length.
    fn line_end(&mut self, at: usize) -> usize {
        self.line_feeds.from(self.bytes, at).unwrap_or(self.bytes.len())
    }
}

/// The number of bytes at the front of a table cell in which its attributes are looked for.
const MAX_CELL_ATTRIBUTES: usize = 400;

/// Links that are no text: files, categories, and the same page in other languages.
fn is_dropped(target: &[u8], labelled: bool) -> bool {
    let target = &target[..target.len().min(MAX_TITLE)];
    let Some(colon) = memchr(b':', target).filter(|colon| *colon > 0) else { return false };
    let Ok(space) = std::str::from_utf8(&target[..colon]) else { return false };
    let space = space.trim().to_lowercase();
    let language = matches!(space.len(), 2 | 3) && space.bytes().all(|byte| byte.is_ascii_lowercase());
    DROPPED_SPACES.contains(&space.as_str()) || (language && !labelled)
}

/// Titles of pages are no longer than this.
const MAX_TITLE: usize = 256;

/// Names of the name spaces for files and categories, in the languages of the large wikis.
const DROPPED_SPACES: &[&str] = &[
    "file",
    "image",
    "media",
    "category",
    "datei",
    "bild",
    "kategorie",
    "fichier",
    "catégorie",
    "archivo",
    "imagen",
    "categoría",
    "ficheiro",
    "imagem",
    "categoria",
    "immagine",
    "bestand",
    "afbeelding",
    "categorie",
    "plik",
    "grafika",
    "kategoria",
    "файл",
    "изображение",
    "категория",
    "зображення",
    "категорія",
    "ファイル",
    "画像",
    "カテゴリ",
    "文件",
    "档案",
    "檔案",
    "图像",
    "分类",
    "分類",
    "파일",
    "그림",
    "분류",
    "fil",
    "kategori",
    "dosya",
    "soubor",
    "kategorie",
    "tiedosto",
    "luokka",
    "fájl",
    "kép",
    "kategória",
    "ملف",
    "تصنيف",
    "קובץ",
    "קטגוריה",
];

static SPECIAL: [bool; 256] = {
    let mut table = [false; 256];
    let marks = b"\n{[]<'_|!";
    let mut at = 0;
    while at < marks.len() {
        table[marks[at] as usize] = true;
        at += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use lookalike_model::Span;
    use proptest::prelude::*;

    use super::*;

    fn read(source: &str) -> Extracted {
        let mut out = Extracted::default();
        wikitext(source, &mut out);
        for (start, character) in out.text.char_indices() {
            let back = out.spans.to_source(Span::new(start, start + character.len_utf8()));
            let origin = source.get(back.start as usize..back.end as usize).expect("whole characters");
            let faithful =
                origin.starts_with(character) || origin.starts_with('&') || matches!(character, ' ' | '\n');
            assert!(faithful, "{character:?} from {origin:?}");
        }
        out
    }

    fn text(source: &str) -> String {
        read(source).text
    }

    #[test]
    fn templates_are_dropped_with_what_is_inside() {
        assert_eq!(text("a{{b|{{c}}|d={{{e|}}}}} f"), "a f");
        assert_eq!(text("{{Infobox\n| x = [[y]]\n}}\n'''Z''' is"), "Z is");
        assert_eq!(text("{{#if: a | b }}c{{{{d}}}}e"), "ce");
    }

    #[test]
    fn an_opener_that_never_closes_is_text() {
        assert_eq!(text("a {{b [[c]] d"), "a {{b c d");
        assert_eq!(text("a [[b {{c}} d"), "a [[b d");
        assert_eq!(text("a }} b ]] c {{d}}"), "a }} b ]] c");
        assert_eq!(text("[http://x y\nz]"), "[http://x y z]");
        assert_eq!(text("a <ref>b"), "a b");
        assert_eq!(text("a <ref b"), "a <ref b");
        assert_eq!(text("a <b c <i>d</i>"), "a <b c d");
        assert_eq!(text("a <!-- b"), "a <!-- b");
    }

    #[test]
    fn links_become_their_labels() {
        assert_eq!(
            text("[[tea]]s, [[tea|Green ''tea'']], [[:Category:X|x]], [[Help:Y|]]"),
            "teas, Green tea, x, Help:Y"
        );
        assert_eq!(
            text("[http://a.b label] [https://c.d] http://e.f [not a link]"),
            "label http://e.f [not a link]"
        );
        let out = read("a [[b c]] d");
        assert_eq!(out.blocks[0].linked, 3);
    }

    #[test]
    fn files_categories_and_languages_are_dropped() {
        assert_eq!(
            text("a[[File:x.jpg|thumb|A [[caption]] here]]b[[Kategorie:C]][[Категория:D]]c[[de:Tee]]"),
            "abc"
        );
        assert_eq!(text("[[Datei:x.png]] [[画像:y]]z"), "z");
        assert_eq!(text("[[wikt:tea|tea]] [[Star Trek: X]]"), "tea Star Trek: X");
    }

    #[test]
    fn lines_get_their_roles() {
        let out = read(
            "intro\nmore\n\n== A ''b'' ==\ntext\n=== C === \n* one\n** two\n# three\n; d : e\n----\nend\n=x",
        );
        assert_eq!(out.text, "intro more\n\nA b\n\ntext\n\nC\n\none\n\ntwo\n\nthree\n\nd : e\n\nend =x");
        let headings: Vec<usize> = (0..out.blocks.len()).filter(|index| out.blocks[*index].heading).collect();
        assert_eq!(headings, [1, 3]);
    }

    #[test]
    fn cells_of_tables_are_text() {
        let table = "{| class=\"wikitable\"\n|+ Teas\n! scope=col | Name !! Price\n|-\n| Green || 3 €\n|-\n\
            | style=\"x\" | [[Black|black]]\n| 4\n|}\nafter | all";
        assert_eq!(text(table), "Teas\n\nName\n\nPrice\n\nGreen\n\n3 €\n\nblack\n\n4\n\nafter | all");
    }

    #[test]
    fn references_formulas_and_comments_are_dropped() {
        assert_eq!(
            text("a<ref name=x>b {{c}}</ref>d<ref name=\"x\" />e<math>\\frac{{x}}{{y}}</math>f<!-- g -->h"),
            "adefh"
        );
        assert_eq!(text("a<gallery>\nx.jpg|y\n</gallery>b<REF>c</Ref>d"), "abd");
        assert_eq!(text("a<references/>b __NOTOC__ c__d e_f"), "ab c__d e_f");
    }

    #[test]
    fn literal_text_is_respected() {
        assert_eq!(text("<nowiki>'''a''' [[b]] &lt;</nowiki> c"), "'''a''' [[b]] < c");
        assert_eq!(
            text("x<syntaxhighlight lang=c>\nif (a) {{b}}\n  c;\n</syntaxhighlight>y"),
            "x\n\nif (a) {{b}}\nc;\n\ny"
        );
        assert_eq!(text("{{a|<nowiki>}}</nowiki>}}b"), "b");
    }

    #[test]
    fn quotes_tags_and_entities_are_undone() {
        assert_eq!(text("'''''a''''' ''b'' it's '''c'''' x"), "a b it's c' x");
        assert_eq!(
            text("a<br />b<small>c</small> &amp; &nbsp;<div style='x'>d</div>"),
            "a\nbc & \u{A0}\n\nd"
        );
        assert_eq!(text("1 < 2 <3"), "1 < 2 <3");
    }

    #[test]
    fn hostile_pages_stay_linear() {
        // Quadratic behaviour would make these run for hours.
        for piece in [
            "{{",
            "[[",
            "}}",
            "]]",
            "{{[[",
            "[http://x ",
            "[http://x",
            "<ref>",
            "<!--",
            "'",
            "=",
            "\n=",
            "\n|",
            "{|\n",
            "_",
            "<nowiki>",
            "* ",
            "\n ",
            "[[a|",
            "{{{",
            "<ref a",
            "<b a",
            "</ref",
            "<ref/",
            "[[a:",
            "[[ ",
            "|",
            "\n|a||",
        ] {
            let source = piece.repeat(100_000);
            for tail in ["", "</ref>]]}}>", &"]]}}".repeat(100_000)] {
                wikitext(&format!("{source}{tail}"), &mut Extracted::default());
            }
        }
        let nested = "[[a|".repeat(100_000) + &"]]".repeat(100_000);
        wikitext(&nested, &mut Extracted::default());
    }

    proptest! {
        #[test]
        fn any_string_can_be_read(source in any::<String>()) {
            read(&source);
        }

        #[test]
        fn any_soup_can_be_read(pieces in prop::collection::vec(prop::sample::select(vec![
            "{{", "}}", "{{{", "}}}", "[[", "]]", "[", "]", "|", "||", "!!", "\n", "==", "=", "* ", "{|", "|}", "|-", "<ref>",
            "</ref>", "<ref/>", "<nowiki>", "</nowiki>", "<!--", "-->", "<br>", "<", ">", "''", "'''", "'", "__", "TOC", "é",
            "漢", " ", "http://", "File:", "x", "&amp;", "&", "<math>", "</math>", "<pre>", "</pre>", "\r\n",
        ]), 0..40)) {
            read(&pieces.concat());
        }
    }
}
