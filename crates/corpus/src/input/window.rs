//! Memory that a compressed member asks its decoder for, seen from the member's first bytes.

use super::compression::XZ;
use crate::options::DecoderBudget;

/// Bytes of a member that are looked at.
pub(super) const HEADER_BYTES: usize = 64;

/// No writer of zstd asks for more.
const MOST_ZSTD: u64 = 1 << 31;

/// A shard's part of the memory is for the window, and as much for what is read through it.
const PARTS: u64 = 2;

/// The window that a member asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Window {
    /// Bytes that its decoder may have to hold.
    bytes: u64,
    /// Length of what the member holds, where it tells.
    content: Option<u64>,
    /// A dictionary that is not in the file, by its number.
    dictionary: Option<u32>,
}

impl Window {
    /// The window of a zstd frame or an xz stream that begins with `head`; `None` where none can be told.
    pub(crate) fn parse(head: &[u8]) -> Option<Self> {
        match head {
            [0x28, 0xb5, 0x2f, 0xfd, rest @ ..] => zstd(rest),
            _ => xz_dictionary(head).map(|bytes| Window { bytes, content: None, dictionary: None }),
        }
    }

    /// Bytes that a decoder holds at most; `None` where it needs a dictionary that is not there.
    #[cfg(feature = "parquet")]
    pub(crate) fn decoder_bytes(self) -> Option<u64> {
        self.dictionary.is_none().then(|| self.bytes.min(self.content.unwrap_or(u64::MAX)))
    }

    /// Refuses a member that cannot be decoded within `budget`, as far as can be told before it is, in words that follow the file's
    /// name.
    pub(super) fn refused(self, budget: DecoderBudget) -> Option<String> {
        match self.dictionary {
            Some(number) => Some(format!(
                "is compressed with the zstd dictionary {number}, which is not in the file; unpack it first, or compress it \
                 without a dictionary"
            )),
            None => self.refused_after(self.content?, budget),
        }
    }

    /// Refuses to decode a member further when it has given `given` bytes: only then does a decoder hold as many.
    pub(super) fn refused_after(self, given: u64, budget: DecoderBudget) -> Option<String> {
        let needed = self.bytes.min(self.content.unwrap_or(u64::MAX));
        if given.min(needed) <= budget.bytes_per_reader() / PARTS {
            return None;
        }
        let mebibytes = |bytes: u64| bytes.div_ceil(1 << 20);
        Some(format!(
            "is compressed with a window of {} MiB, and one decoder may take {} MiB here; give --memory {}M, or compress it \
             with a smaller window",
            mebibytes(needed),
            (budget.bytes_per_reader() / PARTS) >> 20,
            mebibytes(budget.needed(needed.saturating_mul(PARTS))),
        ))
    }
}

/// Reads the header of a zstd frame behind its magic number (RFC 8878, section 3.1.1.1).
fn zstd(header: &[u8]) -> Option<Window> {
    let (&descriptor, rest) = header.split_first()?;
    let single_segment = descriptor & 0x20 != 0;
    let (window, rest) = if single_segment {
        (None, rest)
    } else {
        let (&byte, rest) = rest.split_first()?;
        let base = 1u64 << (10 + (byte >> 3));
        (Some(base + (base / 8) * u64::from(byte & 7)), rest)
    };
    let (dictionary, rest) = rest.split_at_checked([0, 1, 2, 4][usize::from(descriptor & 3)])?;
    let length = match descriptor >> 6 {
        0 => usize::from(single_segment),
        1 => 2,
        2 => 4,
        _ => 8,
    };
    let content = rest.get(..length).filter(|bytes| !bytes.is_empty());
    let content = content.map(|bytes| little_endian(bytes) + if length == 2 { 256 } else { 0 });
    let bytes = window.or(content)?;
    let dictionary = u32::try_from(little_endian(dictionary)).ok().filter(|&number| number > 0);
    (bytes <= MOST_ZSTD).then_some(Window { bytes, content, dictionary })
}

fn little_endian(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

/// The dictionary of an xz stream, from the header of its first block (the .xz file format, section 3.1).
fn xz_dictionary(head: &[u8]) -> Option<u64> {
    const LZMA2: u64 = 0x21;
    let block = head.strip_prefix(XZ)?.get(6..)?;
    let &[size, flags, ref rest @ ..] = block else { return None };
    if size == 0 {
        return None;
    }
    let mut rest = rest;
    for sized in [0x40, 0x80] {
        if flags & sized != 0 {
            number(&mut rest)?;
        }
    }
    for _ in 0..=flags & 3 {
        let (filter, length) = (number(&mut rest)?, number(&mut rest)?);
        let (properties, behind) = rest.split_at_checked(usize::try_from(length).ok()?)?;
        rest = behind;
        if filter == LZMA2 {
            return match *properties.first()? {
                bits @ 0..40 => Some(u64::from(2 | bits & 1) << (bits / 2 + 11)),
                40 => Some(u64::from(u32::MAX)),
                _ => None,
            };
        }
    }
    None
}

/// Takes a number of the xz format: seven bits in each byte, the lowest first.
fn number(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..63).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn frame(log: u32, content: Option<u64>) -> Vec<u8> {
        let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
        encoder.set_pledged_src_size(content).unwrap();
        encoder.long_distance_matching(true).unwrap();
        encoder.window_log(log).unwrap();
        encoder.write_all(&vec![b'x'; content.unwrap_or(10) as usize]).unwrap();
        encoder.finish().unwrap()
    }

    fn window(head: &[u8]) -> Option<u64> {
        Window::parse(head).map(|window| window.bytes)
    }

    #[test]
    fn a_zstd_frame_tells_its_window() {
        for log in [20, 27, 28, 31] {
            assert_eq!(window(&frame(log, None)), Some(1 << log), "log {log}");
        }
        for content in [1, 255, 256, 70_000] {
            let seen = Window::parse(&frame(28, Some(content))).unwrap();
            assert_eq!((seen.content, seen.dictionary), (Some(content), None));
        }
        assert_eq!(window(b"\x28\xb5\x2f\xfd"), None);
        assert_eq!(window(b"\x28\xb5\x2f\xfd\x00\xff\x00\x00"), None, "no writer asks for 2^41 bytes");
    }

    #[test]
    fn an_xz_stream_tells_its_dictionary() {
        for (preset, dictionary) in [(0, 256 << 10), (6, 8 << 20), (9, 64 << 20)] {
            let mut encoder = liblzma::write::XzEncoder::new(Vec::new(), preset);
            encoder.write_all(b"text").unwrap();
            assert_eq!(window(&encoder.finish().unwrap()), Some(dictionary));
        }
        let empty = liblzma::write::XzEncoder::new(Vec::new(), 6).finish().unwrap();
        assert_eq!(window(&empty), None);
    }

    #[test]
    fn a_refusal_names_the_window_and_the_memory_that_would_do() {
        // Half of the bytes for four shards, and half of that for the window.
        let budget = DecoderBudget {
            buffer_bytes: 512 << 20,
            other_bytes: 100 << 20,
            readers: 4,
            min_reader_bytes: 1 << 20,
        };
        let seen = Window::parse(&frame(28, None)).unwrap();
        assert_eq!(seen.refused(budget), None, "it may hold next to nothing");
        assert_eq!(seen.refused_after(32 << 20, budget), None);
        let refused = "is compressed with a window of 256 MiB, and one decoder may take 32 MiB here; give --memory 4196M, or \
             compress it with a smaller window";
        assert_eq!(seen.refused_after((32 << 20) + 1, budget).unwrap(), refused);
        let long = Window { content: Some(1 << 40), ..seen };
        assert_eq!(long.refused(budget).unwrap(), refused);
        assert_eq!(long.refused(DecoderBudget { buffer_bytes: 4096 << 20, ..budget }), None);
        assert_eq!(long.refused(DecoderBudget::default()), None);
        assert_eq!(Window { content: Some(1000), ..seen }.refused(budget), None);
        let foreign = Window { dictionary: Some(7), ..seen };
        assert!(foreign.refused(DecoderBudget::default()).unwrap().contains("the zstd dictionary 7"));
    }
}
