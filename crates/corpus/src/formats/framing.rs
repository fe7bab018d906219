//! Framing of records whose declared lengths may be wrong: the end of each, and the beginning of the next.
//!
//! Crawl files state the length of every record, and some of them, ClueWeb09's among them, lie: lengths were computed
//! before line ends were changed, or a crawler was stopped halfway. A length is believed when a record, or the end,
//! stands behind it. Otherwise the next thing that looks like a record decides: no record ever swallows its neighbour.
//! Every search ends where the next frame begins, so no byte is searched more than a few times.

use std::io;
use std::ops::Range;

use lookalike_model::Reason;
use memchr::memmem::Finder;

use crate::Compression;
use crate::input::{SearchResult, Stream};

/// The pattern by which the records of a format are recognised.
pub(super) trait RecordPattern {
    /// Number of bytes from the beginning of the needle to the first byte of a record.
    const BEFORE: usize;
    /// Bytes needed to recognise a record.
    const LOOKAHEAD: usize;
    /// Line ends behind each block.
    const SEPARATOR: usize;

    /// Returns a searcher for the bytes that every record begins with, or that stand before it.
    fn needle(&self) -> &Finder<'static>;

    /// True when a record begins at `at`.
    fn begins(window: &[u8], at: usize) -> bool;

    /// True when `rest`, cut short, may be the beginning of a record.
    fn may_begin(rest: &[u8]) -> bool;
}

/// The extent of a record.
#[derive(Debug, PartialEq, Eq)]
enum Extent {
    /// The whole record is in the window.
    Whole {
        /// Its block.
        block: Range<usize>,
        /// Its length with header and line ends.
        record: usize,
    },
    /// The record is cut, for this reason; the window holds what is left of it.
    Cut(String),
    /// The record does not fit into the limit.
    TooLong,
}

/// The result of framing the front of the window.
pub(super) enum Frame {
    /// A whole record with this block.
    Record(Range<usize>),
    /// Something that cannot be read, at this offset.
    Rejected(u64, Reason),
    /// Nothing more.
    End,
}

/// A window that moves from record to record.
pub(super) struct Framer<P> {
    pub(super) stream: Stream,
    pub(super) pattern: P,
    /// Length of the record handed out last.
    used: usize,
}

impl<P: RecordPattern> Framer<P> {
    pub(super) fn new(stream: Stream, pattern: P) -> Self {
        Framer { stream, pattern, used: 0 }
    }

    /// The record handed out last, as it stood.
    pub(super) fn raw(&self) -> &[u8] {
        &self.stream.window()[..self.used]
    }

    /// Moves to where the next record should begin; a frame if there is none.
    pub(super) fn move_on(&mut self) -> io::Result<Option<Frame>> {
        self.stream.advance(std::mem::take(&mut self.used));
        if skip_line_ends(&mut self.stream)? {
            return Ok(None);
        }
        Ok(Some(if self.stream.fault().is_some() { self.cut() } else { Frame::End }))
    }

    /// The record whose header ends at `head` and whose length may be known.
    pub(super) fn block(&mut self, head: usize, declared: Option<u64>, limit: usize) -> io::Result<Frame> {
        let extent = match declared {
            Some(declared) if declared > limit as u64 => Extent::TooLong,
            Some(declared) => delimit(&mut self.stream, &self.pattern, head, declared as usize, limit)?,
            None => until_next(&mut self.stream, &self.pattern, head, head, limit)?,
        };
        match extent {
            Extent::Whole { block, record } => {
                self.used = record;
                Ok(Frame::Record(block))
            }
            Extent::Cut(reason) => Ok(self.cut_by(reason)),
            Extent::TooLong => self.give_up(Reason::TooLong { limit: limit as u64 }, head),
        }
    }

    /// Rejects what stands here and goes to the next record behind `from`.
    pub(super) fn give_up(&mut self, reason: Reason, from: usize) -> io::Result<Frame> {
        let position = self.stream.offset();
        resync(&mut self.stream, &self.pattern, from)?;
        Ok(Frame::Rejected(position, reason))
    }

    /// Rejects what stands before `next`, where a record begins.
    pub(super) fn give_up_before(&mut self, next: usize, reason: Reason) -> Frame {
        self.used = next;
        Frame::Rejected(self.stream.offset(), reason)
    }

    /// Rejects a record of which no more is left than the window holds, and goes on behind the damage.
    pub(super) fn cut(&mut self) -> Frame {
        self.cut_by(complaint(&self.stream))
    }

    fn cut_by(&mut self, reason: String) -> Frame {
        self.used = self.stream.window().len();
        self.stream.resume();
        Frame::Rejected(self.stream.offset(), Reason::Truncated(reason))
    }
}

/// Appends bytes that should be UTF-8 but need not be.
pub(crate) fn push_text(bytes: &[u8], out: &mut String) {
    for chunk in bytes.utf8_chunks() {
        out.push_str(chunk.valid());
        if !chunk.invalid().is_empty() {
            out.push(char::REPLACEMENT_CHARACTER);
        }
    }
}

/// Most line ends behind a block that are taken with it. More of them also show that the record ends there, but
/// are no reason to fill the window.
const LINE_ENDS: usize = 64;

/// Passes over line ends; false when the shard ends, or is damaged, before anything else.
fn skip_line_ends(stream: &mut Stream) -> io::Result<bool> {
    loop {
        let length = stream.window().iter().take_while(|byte| is_line_end(byte)).count();
        stream.advance(length);
        if !stream.window().is_empty() {
            return Ok(true);
        }
        if !stream.more()? {
            return Ok(false);
        }
    }
}

/// Looks for the first record that begins at `from` or behind it, but before `limit`.
fn find_record<P: RecordPattern>(
    stream: &mut Stream,
    pattern: &P,
    from: usize,
    limit: usize,
) -> io::Result<SearchResult> {
    let mut from = from.saturating_sub(P::BEFORE);
    let needle_end = limit.saturating_add(pattern.needle().needle().len());
    loop {
        let needle = match stream.find(pattern.needle(), from, needle_end)? {
            SearchResult::At(needle) => needle,
            other => return Ok(other),
        };
        let at = needle + P::BEFORE;
        if at >= limit {
            return Ok(SearchResult::Limit);
        }
        stream.ensure(at + P::LOOKAHEAD)?;
        if P::begins(stream.window(), at) {
            return Ok(SearchResult::At(at));
        }
        from = needle + 1;
    }
}

/// Drops everything before the next record, without keeping it. Behind damage the next byte is as good a
/// place to begin as any.
fn resync<P: RecordPattern>(stream: &mut Stream, pattern: &P, from: usize) -> io::Result<()> {
    stream.advance(from.saturating_sub(P::BEFORE));
    while stream.skip_to(pattern.needle())? {
        stream.ensure(P::BEFORE + P::LOOKAHEAD)?;
        if P::begins(stream.window(), P::BEFORE) {
            stream.advance(P::BEFORE);
            return Ok(());
        }
        stream.advance(1);
    }
    stream.resume();
    Ok(())
}

/// Finds the end of the record whose block begins at `head` and should be `declared` bytes long, at most
/// `limit`.
fn delimit<P: RecordPattern>(
    stream: &mut Stream,
    pattern: &P,
    head: usize,
    declared: usize,
    limit: usize,
) -> io::Result<Extent> {
    let end = head + declared;
    let whole = stream.ensure(end)?;
    if whole && let Some(record) = closed::<P>(stream, end)? {
        if record == stream.window().len() && stream.is_corrupt() {
            return Ok(Extent::Cut(complaint(stream)));
        }
        return Ok(Extent::Whole { block: head..end, record });
    }
    if let SearchResult::At(next) = find_record(stream, pattern, head, end)? {
        return Ok(up_to::<P>(stream, head, next));
    }
    if !whole {
        return Ok(cut::<P>(stream, head, end));
    }
    let behind = line_ends(&stream.window()[end..]);
    if separates::<P>(&stream.window()[end..end + behind]) {
        return Ok(Extent::Whole { block: head..end, record: end + behind });
    }
    until_next(stream, pattern, head, end, limit)
}

/// The record whose block begins at `head` reaches to the next one behind `from`.
fn until_next<P: RecordPattern>(
    stream: &mut Stream,
    pattern: &P,
    head: usize,
    from: usize,
    limit: usize,
) -> io::Result<Extent> {
    Ok(match find_record(stream, pattern, from, head.saturating_add(limit))? {
        SearchResult::At(next) => up_to::<P>(stream, head, next),
        SearchResult::Limit => Extent::TooLong,
        SearchResult::End if stream.fault().is_some() => Extent::Cut(complaint(stream)),
        SearchResult::End => up_to::<P>(stream, head, stream.window().len()),
    })
}

/// The end of the record when its declared end is where a record ends: only line ends stand between it and
/// the next record or the end of the shard.
fn closed<P: RecordPattern>(stream: &mut Stream, end: usize) -> io::Result<Option<usize>> {
    let more = stream.ensure(end + LINE_ENDS + P::LOOKAHEAD)?;
    let window = stream.window();
    let behind = line_ends(&window[end..]);
    let next = end + behind;
    let rest = &window[next..];
    let closed = behind == LINE_ENDS
        || rest.is_empty()
        || P::begins(window, next)
        || (!more && rest.len() < P::LOOKAHEAD && P::may_begin(rest));
    Ok(closed.then_some(next))
}

/// The record ends where the next one begins, and its block before the line ends between them.
fn up_to<P: RecordPattern>(stream: &Stream, head: usize, next: usize) -> Extent {
    let mut block = &stream.window()[head..next];
    for _ in 0..P::SEPARATOR {
        block = block.strip_suffix(b"\n").unwrap_or(block);
        block = block.strip_suffix(b"\r").unwrap_or(block);
    }
    Extent::Whole { block: head..head + block.len(), record: next }
}

/// Delimits a last record that should have gone on to `end`. When its compressed member is whole, and the record
/// ends as records do, then nothing is missing and only the length is wrong.
fn cut<P: RecordPattern>(stream: &Stream, head: usize, end: usize) -> Extent {
    if stream.fault().is_some() {
        return Extent::Cut(complaint(stream));
    }
    let block = &stream.window()[head..];
    let closed = block.ends_with(b"\n\n") || block.ends_with(b"\n\r\n");
    if closed && stream.compression() != Compression::None {
        return up_to::<P>(stream, head, stream.window().len());
    }
    let missing = end - stream.window().len();
    Extent::Cut(format!("the shard ends {missing} bytes before the record does"))
}

/// Returns the reason why the window ends here.
fn complaint(stream: &Stream) -> String {
    stream.fault().unwrap_or("the shard ends inside the record").to_owned()
}

/// Counts the line ends that `bytes` begin with, up to `LINE_ENDS` of them.
fn line_ends(bytes: &[u8]) -> usize {
    bytes.iter().take(LINE_ENDS).take_while(|byte| is_line_end(byte)).count()
}

fn is_line_end(byte: &u8) -> bool {
    matches!(byte, b'\r' | b'\n')
}

/// True when there are as many line ends as a writer puts behind a block.
fn separates<P: RecordPattern>(line_ends: &[u8]) -> bool {
    memchr::memchr_iter(b'\n', line_ends).count() >= P::SEPARATOR
}
