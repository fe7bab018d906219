//! Kinds of compression: how files show them, how they are named, where a member of one may begin.

use std::path::Path;

/// The compression of a shard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Compression {
    /// Not at all.
    None,
    /// `.gz`, with any number of members.
    Gzip,
    /// `.zst`, with any number of frames.
    Zstd,
    /// `.bz2`, with any number of streams.
    Bzip2,
    /// `.xz`, with any number of streams.
    Xz,
    /// `.lz4`, with any number of frames.
    Lz4,
}

/// Bytes needed to recognise any member.
pub(super) const MAGIC: usize = 12;

/// The first bytes of any xz stream.
pub(super) const XZ: &[u8; 6] = b"\xfd7zXZ\0";

impl Compression {
    /// Every kind but none.
    pub const ALL: [Compression; 5] =
        [Compression::Gzip, Compression::Zstd, Compression::Bzip2, Compression::Xz, Compression::Lz4];

    /// The compression that `bytes`, the first of a file, show; `named` decides where two kinds begin alike.
    pub(crate) fn detect(bytes: &[u8], named: Compression) -> Self {
        let shows = |kind: &Compression| kind.begins_member(bytes);
        if shows(&named) {
            return named;
        }
        Self::ALL.into_iter().find(shows).unwrap_or(Compression::None)
    }

    /// The compression that the ending of a file name asks for.
    pub fn named(path: &Path) -> Self {
        let ending = path.extension().and_then(|ending| ending.to_str());
        let is_named = |kind: &Compression| ending == kind.suffix().strip_prefix('.');
        Self::ALL.into_iter().find(is_named).unwrap_or(Compression::None)
    }

    /// The customary ending of file names, with its dot.
    pub fn suffix(self) -> &'static str {
        match self {
            Compression::None => "",
            Compression::Gzip => ".gz",
            Compression::Zstd => ".zst",
            Compression::Bzip2 => ".bz2",
            Compression::Xz => ".xz",
            Compression::Lz4 => ".lz4",
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Compression::None => "plain",
            Compression::Gzip => "gzip",
            Compression::Zstd => "zstd",
            Compression::Bzip2 => "bzip2",
            Compression::Xz => "xz",
            Compression::Lz4 => "lz4",
        }
    }

    /// True when zeros behind a member are padding and no damage: tapes and block devices pad gzip files so, which `gzip`
    /// itself passes over, and the xz format has them.
    pub(super) fn is_padded(self) -> bool {
        matches!(self, Compression::Gzip | Compression::Xz)
    }

    /// True when a member may begin with `bytes`. Strict, since it also guides the search behind damage.
    pub(super) fn begins_member(self, bytes: &[u8]) -> bool {
        match self {
            Compression::None => false,
            Compression::Gzip => match bytes {
                [0x1f, 0x8b, 8, flags, _, _, _, _, extra, system, ..] => {
                    flags & 0xe0 == 0 && matches!(extra, 0 | 2 | 4) && (*system <= 13 || *system == 255)
                }
                _ => false,
            },
            Compression::Zstd => match bytes {
                [0x28, 0xb5, 0x2f, 0xfd, descriptor, ..] => descriptor & 0x08 == 0,
                _ => is_skippable(bytes),
            },
            Compression::Bzip2 => {
                let block = [0x31, 0x41, 0x59, 0x26, 0x53, 0x59];
                let empty = [0x17, 0x72, 0x45, 0x38, 0x50, 0x90];
                bytes.starts_with(b"BZh")
                    && matches!(bytes.get(3), Some(b'1'..=b'9'))
                    && bytes.get(4..10).is_some_and(|marker| marker == block || marker == empty)
            }
            Compression::Xz => {
                bytes.starts_with(XZ) && matches!(bytes.get(6..8), Some([0, check]) if *check < 0x10)
            }
            Compression::Lz4 => match bytes {
                [0x04, 0x22, 0x4d, 0x18, flags, block, ..] => {
                    flags & 0xc2 == 0x40 && block & 0x8f == 0 && block >> 4 >= 4
                }
                _ => is_skippable(bytes),
            },
        }
    }
}

/// True for a frame that holds no data; zstd and lz4 files have them alike.
pub(super) fn is_skippable(bytes: &[u8]) -> bool {
    matches!(bytes, [kind, 0x2a, 0x4d, 0x18, ..] if kind & 0xf0 == 0x50)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_without_data_is_of_the_kind_that_the_name_tells() {
        let frame = b"\x50\x2a\x4d\x18\0\0\0\0";
        assert_eq!(Compression::detect(frame, Compression::None), Compression::Zstd);
        assert_eq!(Compression::detect(frame, Compression::Lz4), Compression::Lz4);
        assert_eq!(Compression::detect(b"text", Compression::Lz4), Compression::None);
    }

    #[test]
    fn every_suffix_names_its_kind() {
        for kind in Compression::ALL {
            assert_eq!(Compression::named(Path::new(&format!("a{}", kind.suffix()))), kind);
        }
        assert_eq!(Compression::named(Path::new("a.jsonl")), Compression::None);
        assert_eq!(Compression::named(Path::new("gz")), Compression::None);
    }
}
