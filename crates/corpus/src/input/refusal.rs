//! Files that are sound and cannot be read all the same: archives, other compressions, encrypted files.
//!
//! Such a file is an error that names it, never damage that is rejected and passed over. Windows of compressed members
//! that are too wide for the memory (`window`) are refused likewise.

use std::io;

/// The reason why a sound file cannot be read, in words that follow the file's name.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Refusal(String);

impl Refusal {
    /// A refusal on its way through functions that fail like files do.
    pub(crate) fn error(why: String) -> io::Error {
        io::Error::new(io::ErrorKind::Unsupported, Refusal(why))
    }

    /// The refusal that an error carries, if it does.
    pub(crate) fn carried(error: &io::Error) -> Option<&Refusal> {
        error.get_ref()?.downcast_ref()
    }
}

/// First bytes of files that cannot be read, with what these are and what to do.
const UNSUPPORTED: [(&[u8], &str, &str); 12] = [
    (b"\x1f\x9d", "compressed with compress (.Z)", UNPACK),
    (b"\x1f\x1e", "compressed with pack (.z)", UNPACK),
    (b"\x89LZO\0\r\n\x1a\n", "compressed with lzop", UNPACK),
    (b"LZIP\x01", "compressed with lzip", UNPACK),
    (b"\xff\x06\0\0sNaPpY", "compressed with Snappy's framing", UNPACK),
    (b"\x02\x21\x4c\x18", "compressed with the legacy format of lz4", UNPACK),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive", UNPACK),
    (b"PK\x03\x04", "a zip archive", UNPACK),
    (b"PK\x05\x06", "a zip archive without files", "leave it out"),
    (b"Rar!\x1a\x07", "a RAR archive", UNPACK),
    (b"PARE", "an encrypted Parquet file", "decrypt it first"),
    (b"ORC", "an ORC file", "write it as Parquet or JSON lines"),
];

const UNPACK: &str = "unpack it first, or compress it with gzip, zstd, bzip2, xz or lz4";

/// Refuses a file that begins with `head` if it is of a kind that is known and cannot be read.
pub(super) fn refuse_unsupported(head: &[u8]) -> io::Result<()> {
    let known = |(magic, ..): &&(&[u8], &str, &str)| {
        // Three letters alone could begin a text.
        head.starts_with(magic) && (*magic != b"ORC" || head.get(3).is_some_and(|byte| *byte < 9))
    };
    let found = UNSUPPORTED.iter().find(known).map(|(_, what, advice)| (*what, *advice));
    let found =
        found.or_else(|| is_lzma_alone(head).then_some(("compressed with LZMA alone (.lzma)", UNPACK)));
    match found {
        Some((what, advice)) => Err(Refusal::error(format!("is {what}, which cannot be read; {advice}"))),
        None => Ok(()),
    }
}

/// The older format of LZMA has no magic: properties, the size of a dictionary that is a power of two or one and a half of one, and the
/// length of the content, which is unknown or less than 256 GiB.
fn is_lzma_alone(head: &[u8]) -> bool {
    let Some((&[0x5d, a, b, c, d, ref length @ ..], _)) = head.split_first_chunk::<13>() else {
        return false;
    };
    let dictionary = u32::from_le_bytes([a, b, c, d]);
    let length = u64::from_le_bytes(*length);
    let usual =
        dictionary.is_power_of_two() || dictionary.is_multiple_of(3) && (dictionary / 3).is_power_of_two();
    usual && dictionary >= 1 << 12 && (length == u64::MAX || length < 1 << 38)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_read_is_refused_by_name() {
        let sentence = |head: &[u8]| refuse_unsupported(head).unwrap_err().to_string();
        for (head, what) in [
            (&b"\x1f\x9d\x90"[..], "compress (.Z)"),
            (b"7z\xbc\xaf\x27\x1c\0\x04", "7z archive"),
            (b"PK\x03\x04\x14", "zip archive"),
            (b"\xff\x06\0\0sNaPpY", "Snappy's framing"),
            (b"PARE\x15", "encrypted Parquet"),
            (b"]\0\0\x80\0\xff\xff\xff\xff\xff\xff\xff\xff\0", "LZMA alone"),
            (b"]\0\0\x80\0\x10\0\0\0\0\0\0\0\0", "LZMA alone"),
        ] {
            assert!(sentence(head).contains(what), "{}", sentence(head));
        }
        for head in [
            &b""[..],
            b"{\"id\":1}",
            b"] and so on, a text",
            b"PK and more",
            b"ORCs are here",
            b"\x1f\x8b\x08",
        ] {
            assert!(refuse_unsupported(head).is_ok(), "{head:?}");
        }
    }
}
