use lookalike_model::Span;
use proptest::prelude::*;

use super::*;

fn read(source: &str) -> Extracted {
    let mut out = Extracted::default();
    html(source, &mut out);
    check(source, &out);
    out
}

fn text(source: &str) -> String {
    read(source).text
}

/// Checks that blocks cover the text but for separators, and that every character leads back to the source.
pub(in super::super) fn check(source: &str, out: &Extracted) {
    let pieces: Vec<&str> =
        out.blocks.iter().map(|block| &out.text[block.start as usize..block.end as usize]).collect();
    assert_eq!(pieces.join("\n\n"), out.text);
    for (block, piece) in out.blocks.iter().zip(&pieces) {
        assert!(!piece.is_empty() && !piece.contains("\n\n"), "{piece:?}");
        assert_eq!(piece.trim_matches(|c: char| c.is_ascii() && is_blank(c as u8)), *piece);
        assert!(block.linked as usize <= piece.len());
    }
    let mut last = 0;
    for (start, character) in out.text.char_indices() {
        let back = out.spans.to_source(Span::new(start, start + character.len_utf8()));
        let origin = source
            .get(back.start as usize..back.end as usize)
            .unwrap_or_else(|| panic!("{back:?} splits a character of {source:?}"));
        let copied = origin.starts_with(character);
        let filled = matches!(character, ' ' | '\n');
        assert!(copied || filled || origin.starts_with('&'), "{character:?} from {origin:?}");
        assert!(back.start >= last, "spans go back");
        last = back.start;
    }
}

fn is_blank(byte: u8) -> bool {
    super::super::writer::is_blank(byte)
}

#[test]
fn inline_tags_do_not_separate_and_block_tags_do() {
    assert_eq!(text("<p><b>foo</b>bar<i> baz</i></p><p>qux"), "foobar baz\n\nqux");
    assert_eq!(text("a<div>b<span>c</span></div>d<td>e<li>f"), "a\n\nbc\n\nd\n\ne\n\nf");
    assert_eq!(text("<DIV>a</DIV >b<dIv\n>c"), "a\n\nb\n\nc");
    assert_eq!(text("x<my-very-long-custom-element>y"), "xy");
}

#[test]
fn white_space_collapses_and_never_stands_at_the_edges() {
    assert_eq!(text("  a \t\r\n b  "), "a b");
    assert_eq!(text("<p> a <b> b </b> c </p> <p> </p>"), "a b c");
    assert_eq!(text("a&#32;&#10; b&nbsp; c"), "a b\u{A0} c");
    assert_eq!(text(" \n <p> </p> "), "");
}

#[test]
fn a_break_is_a_line_and_two_are_a_paragraph() {
    assert_eq!(text("a<br>b<br/>c</br>d"), "a\nb\nc\nd");
    assert_eq!(text("a<br> <br>b"), "a\n\nb");
    assert_eq!(text("<br>a<br>"), "a");
}

#[test]
fn preformatted_lines_stay() {
    assert_eq!(text("<pre>\n a\n  b\r\nc\rd\n\n\ne </pre> f\ng"), "a\nb\nc\nd\n\ne\n\nf g");
    assert_eq!(text("<xmp>a &amp; <b>\nc</xmp>d"), "a &amp; <b>\nc\n\nd");
    assert_eq!(text("<plaintext>a</plaintext>\n<b>"), "a</plaintext>\n<b>");
}

#[test]
fn what_is_not_shown_is_dropped() {
    assert_eq!(text("a<script>if (a<b) '</p>'</script>b<style>p{}</style>c"), "abc");
    assert_eq!(text("a<!-- x --> b<!--> c<!---> d<!-- x --!> e<!doctype x> f<?php x ?> g"), "a b c d e f g");
    assert_eq!(text("a<template>b<template><p>c</template>d</template>e"), "ae");
    assert_eq!(text("a<iframe><p>b</iframe>c<noembed>d</noembed>e<noframes>f</noframes>g"), "aceg");
    assert_eq!(text("<p title='a>b' data-x=\"</p>\">c"), "c");
    assert_eq!(text("a</>b</ x>c<!x>d</3>e"), "abcde");
    assert_eq!(text("<object>shown</object>"), "shown");
}

#[test]
fn scripts_may_hide_their_end_tag_in_a_comment() {
    assert_eq!(text("<script><!-- <script>a</script> b --></script>c"), "c");
    assert_eq!(text("<script><!-- a</script>b"), "b");
    assert_eq!(text("<script><!--><script></script>b"), "b");
    assert_eq!(text("<script>a</scripty></SCRIPT\n>b"), "b");
}

#[test]
fn an_unclosed_script_takes_the_rest() {
    assert_eq!(text("a<script>b<p>c"), "a");
    assert_eq!(text("a<p"), "a");
}

#[test]
fn an_unclosed_comment_or_quote_or_title_does_not() {
    assert_eq!(text("a<!-- b > c <p>d"), "a c\n\nd");
    assert_eq!(text("<p class=\"x>a</p><p>b"), "a\n\nb");
    assert_eq!(text("<p class='x>a</p><p id=\"y\">b"), "a\n\nb");
    assert_eq!(text("<title>a<p>b<title>c"), "a\n\nb\n\nc");
    assert_eq!(text("<textarea>a<p>b"), "a\n\nb");
}

#[test]
fn titles_and_headings_are_marked() {
    let out = read("<title>A &lt;b> <i></title><h2>B <a href=x>c</a></h2><p>d");
    assert_eq!(out.text, "A <b> <i>\n\nB c\n\nd");
    let headings: Vec<bool> = out.blocks.iter().map(|block| block.heading).collect();
    assert_eq!(headings, [true, true, false]);
    assert_eq!(text("<svg><title>tooltip</title></svg>a"), "a");
}

#[test]
fn linked_bytes_are_counted() {
    let linked = |source: &str| read(source).blocks.iter().map(|block| block.linked).collect::<Vec<_>>();
    assert_eq!(linked("<a href=x>one two</a> three"), [7]);
    assert_eq!(linked("<a name=x>one</a>"), [0]);
    assert_eq!(linked("<a HREF='x'>one</a> <a href>two</a>"), [6]);
    assert_eq!(linked("<a href=x>one<p>two</a>three"), [3, 3]);
}

#[test]
fn angle_brackets_that_begin_no_tag_are_text() {
    assert_eq!(text("a < b, c <3 d <> e <"), "a < b, c <3 d <> e <");
    assert_eq!(text("x</"), "x</");
    assert_eq!(text("1<2>0"), "1<2>0");
}

#[test]
fn tags_are_read_as_browsers_do() {
    assert_eq!(text("<a b=c=\"x>y\">z"), "y\">z");
    assert_eq!(text("<a =\"x>y"), "y");
    assert_eq!(text("<a b= >x<a b = 'c>d'e>y<a/b>z"), "xyz");
    assert_eq!(text("<a \"x>y"), "y");
    assert_eq!(text("a</p x='>'>b"), "a\n\nb");
}

#[test]
fn unpleasant_characters_pass() {
    assert_eq!(
        text("<p>é\u{301}\u{200D}👩‍👩‍👧\u{FEFF}\u{0}ﷺ&#128;&#0;"),
        "é\u{301}\u{200D}👩‍👩‍👧\u{FEFF}\u{0}ﷺ€\u{FFFD}"
    );
    assert_eq!(text("<é>x</é>"), "<é>x");
    assert_eq!(text("\u{A0}a\u{3000}b\u{2028}c"), "\u{A0}a\u{3000}b\u{2028}c");
}

#[test]
fn entities_lead_back_to_their_source() {
    let source = "<p>Tom &amp;  Jerry</p>";
    let out = read(source);
    assert_eq!(out.text, "Tom & Jerry");
    assert_eq!(out.spans.to_source(Span::new(4, 5)).of(source), "&amp;");
    assert_eq!(out.spans.to_source(Span::new(5, 6)).of(source), "  ");
    assert_eq!(out.spans.to_source(Span::new(6, 11)).of(source), "Jerry");
}

#[test]
fn in_sgml_every_tag_separates_and_nothing_else_is_dropped() {
    let source =
        "<DOC><DOCNO> A-1 </DOCNO><script>a &amp; b</script><!-- c -->d<b>e</b><![CDATA[f & <g>]]></DOC>";
    let mut out = Extracted::default();
    sgml(source, &mut out);
    check(source, &out);
    assert_eq!(out.text, "A-1\n\na & b\n\nd\n\ne\n\nf & <g>");
}

#[test]
fn hostile_pages_stay_linear() {
    // Quadratic behaviour would make these run for hours.
    let many = 300_000;
    assert_eq!(text(&("<div>".repeat(many) + "a")), "a");
    assert_eq!(text(&format!("<p {}>a", "x=1 ".repeat(many))), "a");
    assert_eq!(text(&"<p x=\"'".repeat(9)), "");
    for piece in
        ["<p x=\">", "<p x='>", "<!-- >", "<title>", "<textarea>", "</title", "<", "&", "&#", "<a href=x>"]
    {
        read_unchecked(&piece.repeat(many));
    }
    read_unchecked(&("<script><!--".to_owned() + &"<script>-</script>".repeat(many)));
    read_unchecked(&("<!-- --!>".repeat(many)));
}

fn read_unchecked(source: &str) -> Extracted {
    let mut out = Extracted::default();
    html(source, &mut out);
    out
}

proptest! {
    #[test]
    fn any_string_can_be_read(source in any::<String>()) {
        read(&source);
    }

    #[test]
    fn any_soup_can_be_read(pieces in prop::collection::vec(prop::sample::select(SOUP), 0..40)) {
        let source = pieces.concat();
        read(&source);
        let mut out = Extracted::default();
        sgml(&source, &mut out);
        check(&source, &out);
    }

    #[test]
    fn text_without_markup_is_only_collapsed(source in "[^<&]*") {
        let collapsed: Vec<&str> = source
            .split(|c: char| c.is_ascii() && is_blank(c as u8))
            .filter(|word| !word.is_empty())
            .collect();
        prop_assert_eq!(text(&source), collapsed.join(" "));
    }

    #[test]
    fn the_text_is_that_of_the_standards_tokenizer(
        pieces in prop::collection::vec(prop::sample::select(SOUP), 0..40),
    ) {
        let source = pieces.concat() + CLOSED;
        prop_assert_eq!(text(&source), standard(&source), "{}", source);
    }
}

const SOUP: &[&str] = &[
    "<p>",
    "</p>",
    "<div class=a>",
    "</div>",
    "<b>",
    "</b>",
    "<br>",
    "<br/>",
    "<h1>",
    "</h1>",
    "<a href='x>y'>",
    "</a>",
    "<a b=c=\"x>y\">",
    "<pre>",
    "</pre>",
    "<td",
    " x = 'a'",
    " y=\"b\"",
    "/",
    ">",
    "<",
    "</",
    "=",
    "<!--",
    "-->",
    "--!>",
    "<!",
    "<?",
    "<!doctype html>",
    "<script>",
    "</script>",
    "<style>",
    "</style>",
    "<title>",
    "</title>",
    "<template>",
    "</template>",
    "<textarea>",
    "</textarea>",
    "<xmp>",
    "</xmp>",
    "<iframe>",
    "</iframe>",
    "&amp;",
    "&lt;",
    "&#65;",
    "&#128;",
    "&nbsp;",
    "&notin;",
    "&notit",
    "&",
    ";",
    "#",
    "x",
    "ab",
    "é",
    "漢字",
    "🙂",
    " ",
    "\n",
    "\t",
    "\r\n",
    "'a'",
    "-",
    "<SCRIPT ",
    "</sCript ",
    "<i/>",
    "<svg>x</svg>",
    "\u{A0}",
];

/// Ends everything that may be open, so that both sides agree on what an unclosed thing means: our deviations
/// are that a comment, quote, title or text area without end does not swallow the page (see the module).
/// The order matters: quotes, then comments, then raw text.
const CLOSED: &str = "'\"> --> </textarea></title></xmp></style></iframe>--></script></script>\
    '\"> --> </textarea></title></xmp></style></iframe>--></script></script>";

/// The same rules applied to the tokens of an independent tokenizer.
pub(in super::super) fn standard(source: &str) -> String {
    use html5gum::{State, Token, Tokenizer};
    let mut page = Page::default();
    let mut tokenizer = Tokenizer::new(source);
    while let Some(Ok(token)) = tokenizer.next() {
        match token {
            Token::StartTag(tag) => {
                let name = std::str::from_utf8(&tag.name).unwrap_or("").to_owned();
                match name.as_str() {
                    "script" => tokenizer.set_state(State::ScriptData),
                    "style" | "iframe" | "noembed" | "noframes" | "xmp" => {
                        tokenizer.set_state(State::RawText)
                    }
                    "title" | "textarea" => tokenizer.set_state(State::RcData),
                    _ => {}
                }
                page.start(&name);
            }
            Token::EndTag(tag) => page.end(std::str::from_utf8(&tag.name).unwrap_or("")),
            Token::String(text) => page.text(std::str::from_utf8(&text).unwrap()),
            _ => {}
        }
    }
    page.text
}

const BLOCKS: &[&str] = &[
    "address",
    "article",
    "aside",
    "blockquote",
    "body",
    "caption",
    "center",
    "dd",
    "details",
    "dialog",
    "dir",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "frameset",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "head",
    "header",
    "hgroup",
    "hr",
    "html",
    "legend",
    "li",
    "main",
    "menu",
    "nav",
    "ol",
    "optgroup",
    "option",
    "p",
    "search",
    "section",
    "select",
    "summary",
    "table",
    "tbody",
    "td",
    "tfoot",
    "th",
    "thead",
    "tr",
    "ul",
];

#[derive(Default)]
struct Page {
    text: String,
    /// The white space seen since the last visible character: 1 blank, 2 line, 3 block.
    gap: u8,
    pre: usize,
    templates: usize,
    dropped: bool,
    raw_lines: bool,
    drawing: bool,
    title: bool,
}

impl Page {
    fn start(&mut self, name: &str) {
        match name {
            "template" => self.templates += 1,
            "script" | "style" | "iframe" | "noembed" | "noframes" => self.dropped = true,
            "svg" => self.drawing = true,
            "title" if self.drawing => self.dropped = true,
            "br" => self.separate(2),
            name if BLOCKS.contains(&name) => self.separate(3),
            "title" => {
                self.separate(3);
                self.title = true;
            }
            "xmp" | "textarea" => {
                self.separate(3);
                self.raw_lines = true;
            }
            "pre" | "listing" => {
                self.separate(3);
                self.pre += 1;
            }
            _ => {}
        }
    }

    fn end(&mut self, name: &str) {
        match name {
            "template" => self.templates = self.templates.saturating_sub(1),
            "script" | "style" | "iframe" | "noembed" | "noframes" => self.dropped = false,
            "svg" => self.drawing = false,
            "br" => self.separate(2),
            "title" => {
                self.dropped = false;
                self.title = false;
                self.separate(3);
            }
            name if BLOCKS.contains(&name) => self.separate(3),
            "xmp" | "textarea" => {
                self.separate(3);
                self.raw_lines = false;
            }
            "pre" | "listing" => {
                self.separate(3);
                self.pre = self.pre.saturating_sub(1);
            }
            _ => {}
        }
    }

    fn separate(&mut self, gap: u8) {
        if self.templates == 0 {
            self.gap = if gap == 2 && self.gap == 2 { 3 } else { self.gap.max(gap) };
        }
    }

    fn text(&mut self, text: &str) {
        if self.dropped || self.templates > 0 {
            return;
        }
        for character in text.chars() {
            match character {
                '\n' if (self.pre > 0 && !self.title) || self.raw_lines => self.separate(2),
                ' ' | '\t' | '\n' | '\r' | '\u{c}' => self.separate(1),
                _ => {
                    let separators = ["", " ", "\n", "\n\n"];
                    if !self.text.is_empty() {
                        self.text.push_str(separators[self.gap as usize]);
                    }
                    self.gap = 0;
                    self.text.push(character);
                }
            }
        }
    }
}
