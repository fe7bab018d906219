//! The look of a site: the markup around each role. A skin is data only.

/// Opening and closing markup.
pub(super) type Tags = (&'static str, &'static str);

/// The markup of one kind of site.
#[derive(Debug)]
pub(super) struct Skin {
    /// Before the language tag.
    pub(super) start: &'static str,
    /// From the language tag to the title.
    pub(super) head: &'static str,
    /// From the title to the body.
    pub(super) body: &'static str,
    pub(super) end: &'static str,
    pub(super) menu: Tags,
    pub(super) menu_entry: Tags,
    pub(super) headline: Tags,
    pub(super) heading: Tags,
    pub(super) paragraph: Tags,
    /// Between the sentences of a paragraph.
    pub(super) pause: &'static str,
    pub(super) list: Tags,
    pub(super) entry: Tags,
    pub(super) foot: Tags,
    pub(super) notice: Tags,
    /// Around single words.
    pub(super) inline: [Tags; 3],
}

/// A site of today.
const MODERN: Skin = Skin {
    start: "<!DOCTYPE html>\n<html lang=\"",
    head: "\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width\">\n<title>",
    body: "</title>\n<link rel=\"stylesheet\" href=\"/assets/site.css\">\n\
           <style>body { margin: 0 } .menu > li { display: inline }</style>\n\
           <script>var seen = 0; if (seen < 1 && window.top) { seen = 1; }</script>\n</head>\n<body class=\"wide\">\n",
    end: "<script src=\"/assets/site.js\" defer></script>\n</body>\n</html>\n",
    menu: ("<header><nav><ul class=\"menu\">\n", "</ul></nav></header>\n"),
    menu_entry: ("<li><a href=\"/m\">", "</a></li>\n"),
    headline: ("<h1>", "</h1>\n"),
    heading: ("<h2>", "</h2>\n"),
    paragraph: ("<p>", "</p>\n"),
    pause: " ",
    list: ("<ul>\n", "</ul>\n"),
    entry: ("<li>", "</li>\n"),
    foot: ("<footer>\n", "</footer>\n"),
    notice: ("<p class=\"small\">", "</p>\n"),
    inline: [("<strong>", "</strong>"), ("<a href=\"/read?from=text&amp;to=1\">", "</a>"), ("<em>", "</em>")],
};

/// A site of twenty years ago: tables, upper-case tags, attributes without quotes, line breaks.
const TABLES: Skin = Skin {
    start: "<HTML LANG=\"",
    head: "\">\n<HEAD>\n<META HTTP-EQUIV=Content-Type CONTENT=\"text/html; charset=utf-8\">\n<TITLE>",
    body: "</TITLE>\n<SCRIPT LANGUAGE=JavaScript>\n<!--\nfunction go(place) { document.location = place; }\n//-->\n\
           </SCRIPT>\n</HEAD>\n<BODY BGCOLOR=#ffffff>\n<!-- begin of page -->\n<TABLE WIDTH=\"100%\">\n",
    end: "</TABLE>\n<!-- end of page -->\n</BODY>\n</HTML>\n",
    menu: ("<TR>\n", "</TR>\n"),
    menu_entry: ("<TD NOWRAP><A HREF=menu.html>", "</A></TD>\n"),
    headline: ("<TR><TD COLSPAN=8><H1>", "</H1></TD></TR>\n"),
    heading: ("<TR><TD COLSPAN=8><H3>", "</H3></TD></TR>\n"),
    paragraph: ("<TR><TD COLSPAN=8>", "</TD></TR>\n"),
    pause: "<BR>\n",
    list: ("<TR><TD COLSPAN=8><OL>\n", "</OL></TD></TR>\n"),
    entry: ("<LI>", "</LI>\n"),
    foot: ("<TR><TD COLSPAN=8><HR>\n", "</TD></TR>\n"),
    notice: ("<DIV ALIGN=center>", "</DIV>\n"),
    inline: [("<B>", "</B>"), ("<FONT COLOR=red>", "</FONT>"), ("<I>", "</I>")],
};

/// A site put together by a machine: boxes in boxes.
const BOXES: Skin = Skin {
    start: "<!doctype html><html lang=\"",
    head: "\"><head><meta charset=\"utf-8\"><title>",
    body: "</title><style type=\"text/css\">.a1{color:#333}.a2:before{content:\"-\"}</style></head><body>\
           <div id=\"root\"><div class=\"a1\"><!-- widget 12 -->\n",
    end: "</div></div><script type=\"application/json\">{\"page\":{\"kind\":\"article\",\"tags\":[\"one\",\"two\"]}}</script>\
          </body></html>\n",
    menu: ("<div class=\"a3\">", "</div>\n"),
    menu_entry: ("<div class=\"a4\"><span><a class='a5' href='#'>", "</a></span></div>"),
    headline: ("<div class=\"a6\"><h1 class=\"a7\">", "</h1></div>\n"),
    heading: ("<div class=\"a8\"><h4>", "</h4></div>\n"),
    paragraph: ("<div class=\"a9\"><div>", "</div></div>\n"),
    pause: " ",
    list: ("<div class=\"b1\"><dl>", "</dl></div>\n"),
    entry: ("<dd>", "</dd>"),
    foot: ("<section class=\"b2\">", "</section>\n"),
    notice: ("<div><img src=\"/p.gif\" alt=\"\" width=1 height=1><p>", "</p></div>"),
    inline: [("<span class=\"b3\">", "</span>"), ("<a href='/t'>", "</a>"), ("<b>", "</b>")],
};

pub(super) const SKINS: [&Skin; 3] = [&MODERN, &TABLES, &BOXES];
