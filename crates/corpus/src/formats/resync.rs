//! Going on behind a record that cannot be read, without keeping what is passed over.

use std::io;

use crate::input::Stream;

/// Drops bytes until `find` sees, in the window, a place to go on at; false when the shard ends or is damaged
/// before that, with all of it dropped.
///
/// `overlap` bytes are kept from one look to the next, so that `find` also sees what straddles two reads.
pub(crate) fn skip_until(
    stream: &mut Stream,
    overlap: usize,
    mut find: impl FnMut(&[u8]) -> Option<usize>,
) -> io::Result<bool> {
    loop {
        if let Some(at) = find(stream.window()) {
            stream.advance(at);
            return Ok(true);
        }
        stream.advance(stream.window().len().saturating_sub(overlap));
        if !stream.more()? {
            stream.advance(stream.window().len());
            return Ok(false);
        }
    }
}

/// Drops white space, a byte order mark included, from the front; stops at the shard's end or at damage.
pub(crate) fn skip_blank(stream: &mut Stream) -> io::Result<()> {
    skip_byte_order_mark(stream)?;
    skip_until(stream, 0, |window| window.iter().position(|byte| !byte.is_ascii_whitespace())).map(drop)
}

/// Drops a byte order mark, which is one only at the very front of a shard.
pub(crate) fn skip_byte_order_mark(stream: &mut Stream) -> io::Result<()> {
    if stream.offset() == 0
        && stream.ensure(BYTE_ORDER_MARK.len())?
        && stream.window().starts_with(BYTE_ORDER_MARK)
    {
        stream.advance(BYTE_ORDER_MARK.len());
    }
    Ok(())
}

/// U+FEFF in UTF-8, which some editors put at the front of a file.
pub(crate) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// `bytes` without one line end at its front.
pub(crate) fn strip_first_line_end(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\r\n").or_else(|| bytes.strip_prefix(b"\n")).unwrap_or(bytes)
}

/// `bytes` without one line end at its back.
pub(crate) fn strip_last_line_end(bytes: &[u8]) -> &[u8] {
    bytes.strip_suffix(b"\r\n").or_else(|| bytes.strip_suffix(b"\n")).unwrap_or(bytes)
}
