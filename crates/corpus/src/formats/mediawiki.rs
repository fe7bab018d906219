//! MediaWiki XML dumps: the pages of a wiki, with one revision each or with all of them.
//!
//! The full history of one page may be gigabytes long, so never more than one revision is held. Inside the text
//! of a page `<` is always escaped: pages and revisions are framed by looking for their tags, and only a framed
//! revision, or the few lines before the first one, is given to the XML parser.

use std::fmt::Write;
use std::io;

use lookalike_model::{Content, Document, Extras, Media, Reason};
use quick_xml::Reader as XmlReader;
use quick_xml::events::{BytesRef, BytesStart, Event};

use super::resync::{skip_blank, skip_until};
use crate::input::Stream;
use crate::reader::Records;
use crate::record::RecordCounter;
use crate::{CorpusError, Item, Namespaces};

/// The most that may stand before a page, or in a page outside of its revisions. Real dumps stay below 64 KiB.
const MOST_BETWEEN: usize = 1 << 20;

pub(crate) struct MediaWiki {
    stream: Stream,
    counter: RecordCounter,
    /// Length of what was handed out last.
    used: usize,
    /// True while a `<mediawiki>` has not been closed.
    open: bool,
    /// Address of the wiki's pages up to the last `/`; empty when unknown.
    site: String,
    /// The page whose revisions are being read.
    page: Option<u64>,
    header: Header,
    revision: Revision,
    id: String,
}

impl MediaWiki {
    pub(crate) fn new(stream: Stream, counter: RecordCounter) -> Self {
        MediaWiki {
            stream,
            counter,
            used: 0,
            open: false,
            site: String::new(),
            page: None,
            header: Header::default(),
            revision: Revision::default(),
            id: String::new(),
        }
    }

    fn step(&mut self) -> io::Result<Step> {
        self.stream.advance(std::mem::take(&mut self.used));
        match self.page {
            None => self.step_to_page(),
            Some(position) => self.step_to_revision(position),
        }
    }

    /// Reads up to the next `<page>`.
    fn step_to_page(&mut self) -> io::Result<Step> {
        skip_blank(&mut self.stream)?;
        let position = self.stream.offset();
        match find_tag(&mut self.stream, &[Tag::Page], 0, MOST_BETWEEN)? {
            TagSearch::Tag(_, 0) => self.enter_page(position),
            TagSearch::Tag(_, at) => {
                self.used = at;
                Ok(self.read_between(position, at))
            }
            TagSearch::Limit => {
                skip_to_tag(&mut self.stream, &[Tag::Page])?;
                let reason = format!("no page within {MOST_BETWEEN} bytes");
                Ok(Step::Rejected(position, Reason::Broken(reason)))
            }
            TagSearch::End if self.stream.fault().is_some() => Ok(self.cut(position)),
            TagSearch::End => {
                self.used = self.stream.window().len();
                if self.used > 0 {
                    return Ok(self.read_between(position, self.used));
                }
                let cut = std::mem::take(&mut self.open);
                let reason = || Reason::Truncated("the shard ends before </mediawiki>".to_owned());
                Ok(if cut { Step::Rejected(position, reason()) } else { Step::End })
            }
        }
    }

    /// Reads the bytes between pages: the beginning or the end of a dump; anything else is rejected.
    fn read_between(&mut self, position: u64, length: usize) -> Step {
        let mut between = &self.stream.window()[..length];
        if let Some(rest) = between.strip_prefix(b"</mediawiki>") {
            self.open = false;
            between = rest.trim_ascii();
        }
        if between.is_empty() {
            return Step::On;
        }
        let begins = between.starts_with(b"<?xml") || between.starts_with(b"<mediawiki");
        if !begins {
            return Step::Rejected(position, Reason::Broken("not a page".to_owned()));
        }
        self.open = memchr::memmem::find(between, b"<mediawiki").is_some();
        self.site.clear();
        // A dump whose address cannot be read is still a dump; its pages then have no addresses.
        if let Some(address) = base_address(between) {
            self.site.push_str(address);
        }
        if memchr::memmem::find(between, b"</mediawiki>").is_some() {
            self.open = false;
        }
        Step::On
    }

    /// Reads the lines of a page before its first revision.
    fn enter_page(&mut self, position: u64) -> io::Result<Step> {
        let tags = [Tag::Revision, Tag::PageEnd, Tag::Page];
        let end = match find_tag(&mut self.stream, &tags, Tag::Page.length(), MOST_BETWEEN)? {
            TagSearch::Tag(Tag::Page, at) => {
                self.used = at;
                return Ok(Step::Rejected(position, unclosed_page()));
            }
            TagSearch::Tag(_, at) => at,
            TagSearch::End => return Ok(self.cut(position)),
            TagSearch::Limit => {
                self.leave_page()?;
                let reason = format!("the head of the page is longer than {MOST_BETWEEN} bytes");
                return Ok(Step::Rejected(position, Reason::Broken(reason)));
            }
        };
        let head = &self.stream.window()[Tag::Page.length()..end];
        let verdict = match self.header.read(head) {
            Err(reason) => Some(Step::Rejected(position, reason)),
            Ok(()) if self.header.redirect => Some(Step::Skipped("redirect")),
            Ok(()) if !self.wanted() => Some(Step::Skipped("namespace")),
            Ok(()) => None,
        };
        if let Some(step) = verdict {
            self.leave_page()?;
            return Ok(step);
        }
        self.header.make_url(&self.site);
        self.used = end;
        self.page = Some(position);
        Ok(Step::On)
    }

    fn wanted(&self) -> bool {
        match &self.counter.options.namespaces {
            Namespaces::All => true,
            Namespaces::Only(wanted) => wanted.contains(&self.header.namespace),
        }
    }

    /// Drops what is left of a page.
    fn leave_page(&mut self) -> io::Result<()> {
        self.page = None;
        self.stream.advance(Tag::Page.length());
        if skip_to_tag(&mut self.stream, &[Tag::PageEnd, Tag::Page])? == Some(Tag::PageEnd) {
            self.stream.advance(Tag::PageEnd.length());
        }
        Ok(())
    }

    /// Reads the revision that comes next in the page.
    fn step_to_revision(&mut self, page: u64) -> io::Result<Step> {
        // Behind revisions that were handed out, what is wrong with the page stands behind them too.
        let place =
            if self.every_revision() && self.header.revisions > 0 { self.stream.offset() } else { page };
        match find_tag(&mut self.stream, &AFTER_REVISION, 0, MOST_BETWEEN)? {
            TagSearch::Tag(Tag::Revision, at) => {
                self.stream.advance(at);
                self.read_revision(page)
            }
            TagSearch::Tag(Tag::PageEnd, at) => {
                self.used = at + Tag::PageEnd.length();
                self.page = None;
                let empty = self.header.revisions == 0;
                Ok(if empty { Step::Skipped("deleted text") } else { Step::On })
            }
            TagSearch::Tag(_, at) => {
                self.used = at;
                self.page = None;
                Ok(Step::Rejected(place, unclosed_page()))
            }
            TagSearch::End => Ok(self.cut(place)),
            TagSearch::Limit => {
                self.page = None;
                skip_to_tag(&mut self.stream, &[Tag::Page])?;
                Ok(Step::Rejected(place, Reason::Broken(format!("no revision within {MOST_BETWEEN} bytes"))))
            }
        }
    }

    /// Reads the revision at the front of the window.
    fn read_revision(&mut self, page: u64) -> io::Result<Step> {
        self.header.revisions += 1;
        let position = self.stream.offset();
        let limit = self.counter.limit();
        let tags = [Tag::RevisionEnd, Tag::PageEnd, Tag::Page];
        let search = find_tag(&mut self.stream, &tags, Tag::Revision.length(), limit)?;
        let (frame, end) = match search {
            TagSearch::Tag(Tag::RevisionEnd, at) if at + Tag::RevisionEnd.length() <= limit => {
                (Frame::Whole, at + Tag::RevisionEnd.length())
            }
            TagSearch::Tag(Tag::PageEnd | Tag::Page, at) => (Frame::Unclosed, at),
            TagSearch::Tag(..) | TagSearch::Limit => {
                if skip_to_tag(&mut self.stream, &tags)? == Some(Tag::RevisionEnd) {
                    self.stream.advance(Tag::RevisionEnd.length());
                }
                (Frame::TooLong, 0)
            }
            TagSearch::End => return Ok(self.cut(if self.every_revision() { position } else { page })),
        };
        self.used = end;
        if self.every_revision() {
            return Ok(self.hand_out(frame, position, end));
        }
        self.read_if_last(frame, page, end)
    }

    /// A page is its last revision: looks whether another follows the one that ends at `end`.
    fn read_if_last(&mut self, frame: Frame, page: u64, end: usize) -> io::Result<Step> {
        match find_tag(&mut self.stream, &AFTER_REVISION, end, end + MOST_BETWEEN)? {
            TagSearch::Tag(Tag::Revision, at) => {
                self.used = at;
                Ok(Step::On)
            }
            TagSearch::Tag(Tag::PageEnd, at) => {
                self.page = None;
                self.used = at + Tag::PageEnd.length();
                Ok(self.hand_out(frame, page, end))
            }
            TagSearch::Tag(_, at) => {
                self.page = None;
                self.used = at;
                Ok(Step::Rejected(page, unclosed_page()))
            }
            TagSearch::End => Ok(self.cut(page)),
            TagSearch::Limit => Ok(Step::On),
        }
    }

    /// Every revision is a document, not only a page's last one.
    fn every_revision(&self) -> bool {
        self.counter.options.revisions
    }

    fn hand_out(&mut self, frame: Frame, position: u64, end: usize) -> Step {
        match frame {
            Frame::TooLong => {
                Step::Rejected(position, Reason::TooLong { limit: self.counter.limit() as u64 })
            }
            Frame::Unclosed => Step::Rejected(position, Reason::Broken("the revision has no end".to_owned())),
            Frame::Whole => match self.revision.read(&self.stream.window()[..end]) {
                Err(reason) => Step::Rejected(position, reason),
                Ok(Body::Deleted) => Step::Skipped("deleted text"),
                Ok(Body::Elsewhere) => Step::Skipped("text not in dump"),
                Ok(Body::Text) => Step::Document(position),
            },
        }
    }

    /// The window ends in the middle of a page.
    fn cut(&mut self, position: u64) -> Step {
        let reason = self.stream.fault().unwrap_or("the shard ends inside a page").to_owned();
        if self.stream.fault().is_none() {
            // One rejection tells of the missing end; the unclosed dump around the page is no news.
            self.open = false;
        }
        self.used = self.stream.window().len();
        self.stream.resume();
        self.page = None;
        Step::Rejected(position, Reason::Truncated(reason))
    }

    /// Puts the document's name together; empty when the dump gives none.
    fn make_id(&mut self) {
        self.id.clear();
        let (page, revision) = (&self.header.id, &self.revision.id);
        if !self.counter.options.revisions {
            self.id.push_str(page);
        } else if !page.is_empty() && !revision.is_empty() {
            write!(self.id, "{page}@{revision}").expect("writing to a string cannot fail");
        }
    }
}

/// The result of one step through the dump.
enum Step {
    /// A document that begins at this offset.
    Document(u64),
    Rejected(u64, Reason),
    Skipped(&'static str),
    /// Nothing to tell; go on.
    On,
    End,
}

/// The result of framing a revision.
enum Frame {
    Whole,
    /// The page ends before the revision does.
    Unclosed,
    /// Already dropped.
    TooLong,
}

impl Records for MediaWiki {
    fn next(&mut self) -> Result<Option<Item<'_>>, CorpusError> {
        let position = loop {
            match self.step() {
                Ok(Step::On) => {}
                Ok(Step::Document(position)) => break position,
                Ok(Step::Rejected(position, reason)) => {
                    return Ok(Some(self.counter.reject(position, reason)));
                }
                Ok(Step::Skipped(kind)) => {
                    let position = self.stream.offset();
                    return Ok(Some(Item::Skipped(lookalike_model::Skip { kind, position, raw: None })));
                }
                Ok(Step::End) => return Ok(None),
                Err(source) => return Err(CorpusError::reading(&self.counter.shard)(source)),
            }
        };
        self.make_id();
        let place = self.counter.place(position);
        Ok(Some(Item::Document(Document {
            id: if self.id.is_empty() { self.counter.own_id(place) } else { &self.id },
            url: (!self.header.url.is_empty()).then_some(self.header.url.as_str()),
            media: Media::Wikitext,
            content: Content::Unicode(&self.revision.text),
            place,
            raw: None,
            extras: Extras::default(),
        })))
    }
}

/// The tags that frame pages and revisions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tag {
    Page,
    PageEnd,
    Revision,
    RevisionEnd,
}

/// The tags that may follow a revision.
const AFTER_REVISION: [Tag; 3] = [Tag::Revision, Tag::PageEnd, Tag::Page];

/// Length of the longest tag.
const LONGEST: usize = b"</revision>".len();

impl Tag {
    fn bytes(self) -> &'static [u8] {
        match self {
            Tag::Page => b"<page>",
            Tag::PageEnd => b"</page>",
            Tag::Revision => b"<revision>",
            Tag::RevisionEnd => b"</revision>",
        }
    }

    fn length(self) -> usize {
        self.bytes().len()
    }
}

/// The result of a search for tags.
enum TagSearch {
    Tag(Tag, usize),
    /// The shard ends, or is damaged, before a tag.
    End,
    /// No tag is within the limit.
    Limit,
}

/// Looks for the first of `tags` from `from` on that begins within the first `limit` bytes of the window, whatever
/// more may have been read by chance.
fn find_tag(stream: &mut Stream, tags: &[Tag], from: usize, limit: usize) -> io::Result<TagSearch> {
    let mut from = from;
    loop {
        let window = stream.window();
        match first_tag(window, tags, from) {
            Some((tag, at)) if at <= limit => return Ok(TagSearch::Tag(tag, at)),
            Some(_) => return Ok(TagSearch::Limit),
            None if window.len() >= limit.saturating_add(LONGEST) => return Ok(TagSearch::Limit),
            None => from = from.max((window.len() + 1).saturating_sub(LONGEST)),
        }
        if !stream.more()? {
            return Ok(TagSearch::End);
        }
    }
}

/// Drops everything before the first of `tags`.
fn skip_to_tag(stream: &mut Stream, tags: &[Tag]) -> io::Result<Option<Tag>> {
    let mut seen = None;
    skip_until(stream, LONGEST - 1, |window| {
        let (tag, at) = first_tag(window, tags, 0)?;
        seen = Some(tag);
        Some(at)
    })?;
    Ok(seen)
}

fn first_tag(window: &[u8], tags: &[Tag], from: usize) -> Option<(Tag, usize)> {
    let rest = window.get(from..)?;
    memchr::memchr_iter(b'<', rest).find_map(|at| {
        let tag = tags.iter().find(|tag| rest[at..].starts_with(tag.bytes()))?;
        Some((*tag, from + at))
    })
}

fn unclosed_page() -> Reason {
    Reason::Broken("the page has no </page>".to_owned())
}

/// Everything before the last `/` of the address in `<base>`, or `None` when there is no such address.
fn base_address(head: &[u8]) -> Option<&str> {
    let begin = memchr::memmem::find(head, b"<base>")? + b"<base>".len();
    let length = memchr::memchr(b'<', &head[begin..])?;
    let base = std::str::from_utf8(&head[begin..begin + length]).ok()?;
    base.trim().rsplit_once('/').map(|(site, _)| site)
}

/// The lines of a page before its revisions.
#[derive(Default)]
struct Header {
    title: String,
    namespace: i32,
    id: String,
    redirect: bool,
    /// Address of the page; empty when the dump does not name its site.
    url: String,
    /// Number of revisions seen.
    revisions: u64,
}

impl Header {
    fn read(&mut self, head: &[u8]) -> Result<(), Reason> {
        self.title.clear();
        self.id.clear();
        self.redirect = false;
        self.revisions = 0;
        let mut namespace = String::new();
        let mut elements = Elements::new(utf8(head)?, 0);
        while let Some(element) = elements.next()? {
            match element.name().as_ref() {
                "title" => elements.text(&mut self.title)?,
                "ns" => elements.text(&mut namespace)?,
                "id" => elements.text(&mut self.id)?,
                "redirect" => self.redirect = true,
                _ => {}
            }
        }
        // Dumps before 2012 name no namespace.
        self.namespace = match namespace.trim() {
            "" => 0,
            number => number.parse().map_err(|_| Reason::Broken(format!("{number:?} is no namespace")))?,
        };
        Ok(())
    }

    fn make_url(&mut self, site: &str) {
        self.url.clear();
        if site.is_empty() || self.title.is_empty() {
            return;
        }
        self.url.push_str(site);
        self.url.push('/');
        self.url.extend(self.title.chars().map(|letter| if letter == ' ' { '_' } else { letter }));
    }
}

/// The state of a revision's text in the dump.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Body {
    Text,
    /// Hidden from the public, or lost.
    Deleted,
    /// The dump lists revisions without their texts.
    Elsewhere,
}

/// One revision, in strings that are used again for the next.
#[derive(Default)]
struct Revision {
    id: String,
    text: String,
}

impl Revision {
    fn read(&mut self, revision: &[u8]) -> Result<Body, Reason> {
        self.id.clear();
        self.text.clear();
        let mut body = Body::Deleted;
        let mut elements = Elements::new(utf8(revision)?, 1);
        while let Some(element) = elements.next()? {
            match element.name().as_ref() {
                "id" => elements.text(&mut self.id)?,
                "text" => {
                    body = body_of(&element, elements.is_empty());
                    elements.text(&mut self.text)?;
                }
                _ => {}
            }
        }
        Ok(body)
    }
}

fn body_of(text: &BytesStart<'_>, empty: bool) -> Body {
    let attribute = |name| text.try_get_attribute(name).ok().flatten();
    if attribute("deleted").is_some() {
        return Body::Deleted;
    }
    let bytes = attribute("bytes");
    let some = bytes.is_some_and(|bytes| bytes.value.as_ref() != "0");
    if empty && some { Body::Elsewhere } else { Body::Text }
}

fn utf8(bytes: &[u8]) -> Result<&str, Reason> {
    std::str::from_utf8(bytes).map_err(|error| {
        Reason::InvalidUtf8(format!("byte {} of the record is not UTF-8", error.valid_up_to()))
    })
}

fn not_xml(error: quick_xml::Error) -> Reason {
    Reason::Broken(format!("not well-formed XML: {error}"))
}

/// The elements at one depth of a small piece of XML.
struct Elements<'x> {
    reader: XmlReader<&'x [u8]>,
    wanted: usize,
    depth: usize,
    /// The element seen last has no content.
    empty: bool,
}

impl<'x> Elements<'x> {
    fn new(xml: &'x str, wanted: usize) -> Self {
        let mut reader = XmlReader::from_str(xml);
        let config = reader.config_mut();
        // Damage inside one element should not cost the text of another.
        config.check_end_names = false;
        config.allow_unmatched_ends = true;
        config.allow_dangling_amp = true;
        Elements { reader, wanted, depth: 0, empty: false }
    }

    /// The next element at the wanted depth.
    fn next(&mut self) -> Result<Option<BytesStart<'x>>, Reason> {
        loop {
            match self.reader.read_event().map_err(not_xml)? {
                Event::Start(element) => {
                    self.depth += 1;
                    self.empty = false;
                    if self.depth == self.wanted + 1 {
                        return Ok(Some(element));
                    }
                }
                Event::Empty(element) if self.depth == self.wanted => {
                    self.empty = true;
                    return Ok(Some(element));
                }
                Event::End(_) => self.depth = self.depth.saturating_sub(1),
                Event::Eof => return Ok(None),
                _ => {}
            }
        }
    }

    /// True when the element seen last is written as `<name/>`.
    fn is_empty(&self) -> bool {
        self.empty
    }

    /// Appends the characters of the element seen last, up to the next tag.
    fn text(&mut self, out: &mut String) -> Result<(), Reason> {
        if self.empty {
            return Ok(());
        }
        loop {
            match self.reader.read_event().map_err(not_xml)? {
                Event::Text(text) => out.push_str(&text),
                Event::CData(text) => out.push_str(&text),
                Event::GeneralRef(entity) => push_entity(&entity, out),
                Event::Start(_) => self.depth += 1,
                Event::End(_) => {
                    self.depth = self.depth.saturating_sub(1);
                    if self.depth <= self.wanted {
                        return Ok(());
                    }
                }
                Event::Eof => return Ok(()),
                _ => {}
            }
        }
    }
}

/// Appends what an entity stands for. An entity that XML does not know is left as it is, and a number that is
/// no character becomes U+FFFD: a text is worth more than its worst character.
fn push_entity(entity: &BytesRef<'_>, out: &mut String) {
    match &**entity {
        "lt" => out.push('<'),
        "gt" => out.push('>'),
        "amp" => out.push('&'),
        "quot" => out.push('"'),
        "apos" => out.push('\''),
        number if number.starts_with('#') => {
            out.push(entity.resolve_char_ref().ok().flatten().unwrap_or(char::REPLACEMENT_CHARACTER));
        }
        unknown => {
            out.push('&');
            out.push_str(unknown);
            out.push(';');
        }
    }
}

#[cfg(test)]
mod tests {
    use lookalike_model::ReasonKind;
    use proptest::prelude::*;

    use super::*;
    use crate::ReadOptions;
    use crate::formats::testing::{
        OwnedItem, briefs, count, counter, damaged, gzip, limited, read_all, stream, stream_by,
    };

    const HEAD: &str = "<mediawiki xml:lang=\"en\">\n<siteinfo><sitename>W</sitename>\
                        <base>https://en.example.org/wiki/Main_Page</base></siteinfo>\n";

    fn revision(id: u32, text: &str) -> String {
        format!(
            "<revision><id>{id}</id><contributor><username>U</username><id>9</id></contributor>\
             <model>wikitext</model><text bytes=\"{}\" xml:space=\"preserve\">{text}</text></revision>\n",
            text.len()
        )
    }

    fn page(id: u32, title: &str, inside: &str) -> String {
        format!("<page>\n<title>{title}</title>\n<ns>0</ns>\n<id>{id}</id>\n{inside}</page>\n")
    }

    fn dump(pages: &[String]) -> String {
        format!("{HEAD}{}</mediawiki>\n", pages.concat())
    }

    fn wiki(bytes: impl Into<Vec<u8>>) -> MediaWiki {
        MediaWiki::new(stream(bytes), counter(ReadOptions::default()))
    }

    #[test]
    fn what_is_wrong_behind_revisions_stands_behind_them() {
        let two = format!("{}{}", revision(1, "one"), revision(2, "two"));
        let open = page(1, "P", &two).replace("</page>", "");
        let behind = (HEAD.len() + open.find("</revision>\n\n").unwrap() + "</revision>".len()) as u64;
        let options = || ReadOptions { revisions: true, ..ReadOptions::default() };
        for (rest, wrong) in [
            (page(2, "Q", &revision(3, "three")), ReasonKind::Broken),
            (String::new(), ReasonKind::Truncated),
            (" ".repeat(MOST_BETWEEN + 100), ReasonKind::Broken),
        ] {
            let all =
                read_all(&mut MediaWiki::new(stream(format!("{HEAD}{open}{rest}")), counter(options())));
            assert_eq!((all[0].brief().as_str(), all[1].brief().as_str()), ("1@1: one", "1@2: two"));
            assert_eq!(all[2], OwnedItem::Rejected(wrong, behind));
        }
    }

    fn history(bytes: impl Into<Vec<u8>>) -> MediaWiki {
        MediaWiki::new(stream(bytes), counter(ReadOptions { revisions: true, ..ReadOptions::default() }))
    }

    fn two_pages() -> String {
        dump(&[
            page(
                1,
                "A &amp; B",
                &(revision(10, "old") + &revision(11, "&lt;b&gt;new&lt;/b&gt; &#228;&#xe4;")),
            ),
            page(2, "C", &revision(20, "")),
        ])
    }

    #[test]
    fn a_page_is_its_last_revision() {
        let all = read_all(&mut wiki(two_pages()));
        assert_eq!(all.len(), 2);
        let first = all[0].page();
        assert_eq!(
            (first.id.as_str(), first.url.as_deref()),
            ("1", Some("https://en.example.org/wiki/A_&_B"))
        );
        assert_eq!(first.content, "<b>new</b> ää".as_bytes());
        assert_eq!(first.media, Media::Wikitext);
        assert_eq!(first.position as usize, two_pages().find("<page>").unwrap());
        assert_eq!(all[1].page().content, b"");
    }

    #[test]
    fn every_revision_is_a_document_when_asked_for() {
        assert_eq!(briefs(&mut history(two_pages())), ["1@10: old", "1@11: <b>new</b> ää", "2@20: "]);
    }

    #[test]
    fn every_chunk_size_gives_the_same_pages() {
        let whole = read_all(&mut wiki(two_pages()));
        for step in 1..40 {
            let options = counter(ReadOptions::default());
            assert_eq!(read_all(&mut MediaWiki::new(stream_by(two_pages(), step), options)), whole);
        }
    }

    #[test]
    fn without_a_base_a_page_has_no_address() {
        let text = two_pages().replace("base>", "bass>");
        assert_eq!(read_all(&mut wiki(text))[0].page().url, None);
    }

    #[test]
    fn redirects_other_namespaces_and_deleted_texts_are_skipped() {
        let redirect = page(1, "R", &format!("<redirect title=\"X\" />{}", revision(1, "#REDIRECT [[X]]")));
        let talk = page(2, "T", &revision(2, "talk")).replace("<ns>0", "<ns>1");
        let deleted = page(3, "D", "<revision><id>3</id><text bytes=\"5\" deleted=\"deleted\" /></revision>");
        let none = page(4, "N", "<revision><id>4</id></revision>");
        let stub = page(5, "S", "<revision><id>5</id><text bytes=\"5\" id=\"7\" /></revision>");
        let empty = page(6, "E", "<revision><id>6</id><text bytes=\"0\" /></revision>");
        let bare = page(7, "B", "");
        let text = dump(&[redirect, talk, deleted, none, stub, empty, bare]);
        let expected = [
            "skipped redirect",
            "skipped namespace",
            "skipped deleted text",
            "skipped deleted text",
            "skipped text not in dump",
            "6: ",
            "skipped deleted text",
        ];
        assert_eq!(briefs(&mut wiki(text.clone())), expected);
        assert_eq!(briefs(&mut history(text)).len(), 7);
    }

    #[test]
    fn all_namespaces_can_be_asked_for() {
        let talk = dump(&[page(2, "T", &revision(2, "talk")).replace("<ns>0", "<ns>-1")]);
        let all = ReadOptions { namespaces: Namespaces::All, ..ReadOptions::default() };
        assert_eq!(briefs(&mut MediaWiki::new(stream(talk.clone()), counter(all))), ["2: talk"]);
        let one = ReadOptions { namespaces: Namespaces::Only(vec![0, -1]), ..ReadOptions::default() };
        assert_eq!(briefs(&mut MediaWiki::new(stream(talk), counter(one))), ["2: talk"]);
    }

    #[test]
    fn texts_of_other_slots_are_not_the_pages_text() {
        let slots = "<revision><id>1</id><content><role>m</role><text>side</text></content>\
                     <text>main</text></revision>";
        assert_eq!(briefs(&mut wiki(dump(&[page(1, "P", slots)]))), ["1: main"]);
    }

    #[test]
    fn entities_that_xml_does_not_know_stay() {
        let text = dump(&[page(1, "P", &revision(1, "a&nbsp;b &amp;nbsp; &#0; &#x110000; AT&T"))]);
        assert_eq!(briefs(&mut wiki(text)), ["1: a&nbsp;b &nbsp; \u{fffd} \u{fffd} AT&T"]);
    }

    #[test]
    fn a_revision_that_is_too_long_costs_no_other() {
        let long = "x".repeat(5000);
        let pages = [
            page(1, "P", &(revision(1, &long) + &revision(2, "short"))),
            page(2, "Q", &(revision(3, "short") + &revision(4, &long))),
            page(3, "R", &revision(5, "fine")),
        ];
        let text = dump(&pages);
        let second = (HEAD.len() + pages[0].len()) as u64;
        for step in [1, 100, 100_000] {
            let all = read_all(&mut MediaWiki::new(stream_by(text.clone(), step), counter(limited(1000))));
            assert_eq!((all[0].brief(), all[2].brief()), ("1: short".to_owned(), "3: fine".to_owned()));
            assert_eq!((&all[1], all.len()), (&OwnedItem::Rejected(ReasonKind::TooLong, second), 3));
            let every_revision = ReadOptions { revisions: true, ..limited(1000) };
            let all = briefs(&mut MediaWiki::new(stream_by(text.clone(), step), counter(every_revision)));
            assert_eq!(all.len(), 5);
            assert!(all[0].starts_with("too") && all[3].starts_with("too"), "{all:?}");
        }
    }

    #[test]
    fn every_limit_means_the_same_for_every_chunk_size() {
        let open = page(3, "D", "<revision><id>30</id><text>open</text>");
        let text = dump(&[two_pages().replace("</mediawiki>\n", ""), open, page(4, "E", &revision(40, "e"))]);
        for limit in 0..300 {
            for revisions in [false, true] {
                let options = ReadOptions { revisions, ..limited(limit) };
                let whole = read_all(&mut MediaWiki::new(stream(text.clone()), counter(options.clone())));
                let dripped = read_all(&mut MediaWiki::new(stream_by(text.clone(), 1), counter(options)));
                assert_eq!(whole, dripped, "limit {limit}");
            }
        }
    }

    #[test]
    fn a_dump_cut_anywhere_inside_its_last_page_is_one_rejection() {
        let text = two_pages();
        let last = text.rfind("<page>").unwrap();
        let end = text.rfind("</page>").unwrap();
        for cut in last + 6..end + 7 {
            let all = read_all(&mut wiki(&text.as_bytes()[..cut]));
            assert_eq!(all[1..], [OwnedItem::Rejected(ReasonKind::Truncated, last as u64)], "cut at {cut}");
        }
    }

    #[test]
    fn a_dump_cut_between_pages_is_one_rejection_too() {
        let text = two_pages().replace("</mediawiki>\n", "");
        let all = read_all(&mut wiki(text.clone()));
        assert_eq!(all[2..], [OwnedItem::Rejected(ReasonKind::Truncated, text.len() as u64)]);
    }

    #[test]
    fn dumps_one_behind_the_other_are_one_corpus() {
        let second = dump(&[page(7, "Z", &revision(70, "z"))]).replace("en.example", "de.example");
        let all = read_all(&mut wiki(two_pages() + &second));
        assert_eq!(all.len(), 3);
        assert_eq!(all[2].page().url.as_deref(), Some("https://de.example.org/wiki/Z"));
    }

    #[test]
    fn pages_without_end_cost_no_other() {
        let open = page(1, "P", &revision(1, "one")).replace("</page>\n", "");
        let inside = page(2, "Q", &revision(2, "two").replace("</revision>", ""));
        let text = dump(&[open, inside, page(3, "R", &revision(3, "three"))]);
        let all = briefs(&mut wiki(text));
        assert_eq!(all.len(), 3);
        assert!(all[0].starts_with("broken") && all[1].starts_with("broken"), "{all:?}");
        assert_eq!(all[2], "3: three");
    }

    #[test]
    fn junk_between_pages_is_one_rejection() {
        let text = dump(&[
            page(1, "P", &revision(1, "one")),
            "junk <x> y".to_owned(),
            page(2, "Q", &revision(2, "two")),
        ]);
        let all = briefs(&mut wiki(text));
        assert_eq!(all.len(), 3);
        assert!(all[1].starts_with("broken"));
    }

    #[test]
    fn invalid_utf8_costs_its_page() {
        let mut bytes = two_pages().into_bytes();
        let at = memchr::memmem::find(&bytes, b"new").unwrap();
        bytes[at] = 0xff;
        let all = read_all(&mut wiki(bytes));
        assert!(matches!(all[0], OwnedItem::Rejected(ReasonKind::InvalidUtf8, _)));
        assert_eq!((all.len(), all[1].page().id.as_str()), (2, "2"));
    }

    #[test]
    fn a_damaged_member_costs_its_pages() {
        let mut members = gzip(HEAD.as_bytes());
        let mut cut = gzip(page(1, "P", &revision(1, "one")).as_bytes());
        cut.truncate(cut.len() - 20);
        members.extend(cut);
        members.extend(gzip(page(2, "Q", &revision(2, "two")).as_bytes()));
        members.extend(gzip(b"</mediawiki>"));
        let all = read_all(&mut wiki(members));
        assert_eq!(all.len(), 2);
        assert!(matches!(all[0], OwnedItem::Rejected(ReasonKind::Truncated, _)));
        assert_eq!(all[1].brief(), "2: two");
    }

    #[test]
    fn a_million_tags_are_read_once() {
        assert_eq!(count(&mut wiki("<page>\n".repeat(1_000_000))), 1_000_000);
        assert_eq!(count(&mut wiki("<page></page>".repeat(300_000))), 300_000);
        count(&mut wiki(format!("<page>{}", "<revision>".repeat(1_000_000))));
        count(&mut wiki(format!("<page>{}", "<revision></revision>".repeat(300_000))));
        count(&mut wiki("<".repeat(3_000_000)));
        let nested = format!("<page><revision>{}</revision></page>", "<a>".repeat(1_000_000));
        count(&mut wiki(nested));
        let amps = format!("<page><revision><text>{}</text></revision></page>", "&".repeat(1_000_000));
        count(&mut wiki(amps));
    }

    proptest! {
        #[test]
        fn no_bytes_make_the_reader_fail(bytes in prop::collection::vec(any::<u8>(), 0..300), step in 1usize..40) {
            count(&mut MediaWiki::new(stream_by(bytes, step), counter(limited(64))));
        }

        #[test]
        fn damaged_dumps_read_alike_in_any_chunks(
            bytes in damaged(two_pages().into_bytes()),
            step in 1usize..40,
            revisions: bool,
        ) {
            let options = ReadOptions { revisions, ..limited(300) };
            let whole = read_all(&mut MediaWiki::new(stream(bytes.clone()), counter(options.clone())));
            let dripped = read_all(&mut MediaWiki::new(stream_by(bytes, step), counter(options)));
            prop_assert_eq!(whole, dripped);
        }

        #[test]
        fn written_pages_are_read_back(texts in prop::collection::vec("[a-zäß<>&\"'\n ]{0,40}", 1..8)) {
            let pages: Vec<_> = texts.iter().enumerate()
                .map(|(n, text)| page(n as u32, "T", &revision(0, &quick_xml::escape::escape(text.as_str())))).collect();
            let expected: Vec<_> = texts.iter().enumerate().map(|(n, text)| format!("{n}: {text}")).collect();
            prop_assert_eq!(briefs(&mut wiki(dump(&pages))), expected);
        }
    }
}
