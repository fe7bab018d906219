//! Compressed members, one after the other: any number of gzip members, zstd frames or bzip2 streams.
//!
//! A crawl file is often a million members long, one for each record. A member that is cut short or damaged
//! must cost that member and no other, so decoding is done member by member: on damage we go back to where
//! the member began and look for the next one.

use std::io::{self, BufRead, Read};

use super::{Chunk, Replay, Source};

/// How a shard is compressed.
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
}

/// A decoder that meets damage forgets what it made in the same call, so it is not asked for much at once.
const STEP: usize = 32 << 10;

/// Second looks at the same bytes, in a row, that damage is worth.
const SECOND_LOOKS: u32 = 8;

/// Bytes needed to recognise any member.
const MAGIC: usize = 10;

impl Compression {
    /// The compression that `bytes`, the first of a file, show.
    pub(crate) fn seen(bytes: &[u8]) -> Self {
        [Compression::Gzip, Compression::Zstd, Compression::Bzip2]
            .into_iter()
            .find(|kind| kind.begins_member(bytes))
            .unwrap_or(Compression::None)
    }

    /// The compression that the ending of a file name asks for.
    pub fn named(path: &std::path::Path) -> Self {
        match path.extension().and_then(|ending| ending.to_str()) {
            Some("gz") => Compression::Gzip,
            Some("zst") => Compression::Zstd,
            Some("bz2") => Compression::Bzip2,
            _ => Compression::None,
        }
    }

    /// The customary ending of file names, with its dot.
    pub fn suffix(self) -> &'static str {
        match self {
            Compression::None => "",
            Compression::Gzip => ".gz",
            Compression::Zstd => ".zst",
            Compression::Bzip2 => ".bz2",
        }
    }

    fn name(self) -> &'static str {
        match self {
            Compression::None => "plain",
            Compression::Gzip => "gzip",
            Compression::Zstd => "zstd",
            Compression::Bzip2 => "bzip2",
        }
    }

    /// True when a member may begin with `bytes`. Strict, since it also guides the search behind damage.
    fn begins_member(self, bytes: &[u8]) -> bool {
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
                [skippable, 0x2a, 0x4d, 0x18, ..] => skippable & 0xf0 == 0x50,
                _ => false,
            },
            Compression::Bzip2 => {
                let block = [0x31, 0x41, 0x59, 0x26, 0x53, 0x59];
                let empty = [0x17, 0x72, 0x45, 0x38, 0x50, 0x90];
                bytes.starts_with(b"BZh")
                    && matches!(bytes.get(3), Some(b'1'..=b'9'))
                    && bytes.get(4..10).is_some_and(|marker| marker == block || marker == empty)
            }
        }
    }
}

/// The decoder of one member; it owns the raw bytes and gives them back at the member's end.
#[expect(clippy::large_enum_variant, reason = "there is one for each open shard")]
enum Decoder {
    Gzip(flate2::bufread::GzDecoder<Replay>),
    Zstd(zstd::stream::read::Decoder<'static, Replay>),
    Bzip2(bzip2::bufread::BzDecoder<Replay>),
}

impl Decoder {
    fn new(compression: Compression, raw: Replay) -> io::Result<Self> {
        Ok(match compression {
            Compression::None => unreachable!("plain bytes have no members"),
            Compression::Gzip => Decoder::Gzip(flate2::bufread::GzDecoder::new(raw)),
            Compression::Zstd => Decoder::Zstd(zstd::stream::read::Decoder::with_buffer(raw)?.single_frame()),
            Compression::Bzip2 => Decoder::Bzip2(bzip2::bufread::BzDecoder::new(raw)),
        })
    }

    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let step = out.len().min(STEP);
        let out = &mut out[..step];
        match self {
            Decoder::Gzip(decoder) => decoder.read(out),
            Decoder::Zstd(decoder) => decoder.read(out),
            Decoder::Bzip2(decoder) => decoder.read(out),
        }
    }

    fn into_raw(self) -> Replay {
        match self {
            Decoder::Gzip(decoder) => decoder.into_inner(),
            Decoder::Zstd(decoder) => decoder.finish(),
            Decoder::Bzip2(decoder) => decoder.into_inner(),
        }
    }
}

/// All members of a compressed file as one stream of bytes.
pub(crate) struct Members {
    compression: Compression,
    /// Times in a row that damaged bytes were looked at again.
    second_looks: u32,
    state: State,
}

#[expect(clippy::large_enum_variant, reason = "there is one for each open shard")]
enum State {
    Between(Replay),
    Inside {
        decoder: Decoder,
        /// True once the member has given something.
        given: bool,
    },
    /// Only while a state is being replaced.
    Moving,
}

impl Members {
    pub(crate) fn new(compression: Compression, raw: Replay) -> Self {
        Members { compression, second_looks: 0, state: State::Between(raw) }
    }

    /// Begins the next member; `None` when one has begun.
    fn begin(&mut self, mut raw: Replay) -> io::Result<Option<Chunk>> {
        if self.compression == Compression::Gzip {
            skip_zeros(&mut raw)?;
        }
        let head = raw.peek(MAGIC)?;
        if head.is_empty() {
            self.state = State::Between(raw);
            return Ok(Some(Chunk::End));
        }
        if !self.compression.begins_member(head) {
            let cut = head.len() < MAGIC;
            if self.compression == Compression::Zstd && self.look_back(&mut raw)? {
                self.state = State::Between(raw);
                return Ok(Some(Chunk::Corrupt("a zstd member is cut off before the next one".into())));
            }
            raw.set_mark();
            return self.step_over(raw, if cut { "is cut off" } else { "is missing" }).map(Some);
        }
        raw.set_mark();
        self.state = State::Inside { decoder: Decoder::new(self.compression, raw)?, given: false };
        Ok(None)
    }

    /// Looks for a member that begins inside the last one, and goes there. A zstd frame need not have a
    /// checksum, so one that is cut can eat the beginning of the next and seem whole.
    fn look_back(&self, raw: &mut Replay) -> io::Result<bool> {
        let length = raw.since_mark();
        raw.rewind_behind_mark();
        for _ in 1..length {
            if self.compression.begins_member(raw.peek(MAGIC)?) {
                return Ok(true);
            }
            raw.consume(1);
        }
        Ok(false)
    }

    /// Goes to the next place where a member may begin, and says what is wrong here.
    fn step_over(&mut self, mut raw: Replay, complaint: &str) -> io::Result<Chunk> {
        if let Some(failure) = raw.take_failure() {
            return Err(failure);
        }
        // Crafted members can fail far behind their beginning, each a little further on: after a few second looks
        // in a row, what the decoder has eaten is not looked at again.
        self.second_looks += 1;
        if self.second_looks <= SECOND_LOOKS {
            raw.rewind_behind_mark();
        } else {
            self.second_looks = 0;
        }
        loop {
            let head = raw.peek(MAGIC)?;
            if head.is_empty() || self.compression.begins_member(head) {
                break;
            }
            raw.consume(1);
        }
        self.state = State::Between(raw);
        Ok(Chunk::Fault(format!("a {} member {complaint}", self.compression.name())))
    }
}

impl Source for Members {
    fn read(&mut self, out: &mut [u8]) -> io::Result<Chunk> {
        loop {
            match std::mem::replace(&mut self.state, State::Moving) {
                State::Between(raw) => {
                    if let Some(chunk) = self.begin(raw)? {
                        return Ok(chunk);
                    }
                }
                State::Inside { mut decoder, given } => match decoder.read(out) {
                    Ok(0) => {
                        self.second_looks = 0;
                        self.state = State::Between(decoder.into_raw());
                    }
                    Ok(length) => {
                        self.state = State::Inside { decoder, given: true };
                        return Ok(Chunk::Bytes(length));
                    }
                    Err(error) => {
                        let cut = error.kind() == io::ErrorKind::UnexpectedEof;
                        let complaint =
                            if cut { "is cut off".to_owned() } else { format!("is damaged ({error})") };
                        let chunk = self.step_over(decoder.into_raw(), &complaint)?;
                        return Ok(match chunk {
                            Chunk::Fault(reason) if !cut && given => Chunk::Corrupt(reason),
                            chunk => chunk,
                        });
                    }
                },
                State::Moving => return Ok(Chunk::End),
            }
        }
    }
}

/// Tapes and block devices pad gzip files with zeros, which `gzip` itself passes over.
fn skip_zeros(raw: &mut Replay) -> io::Result<()> {
    loop {
        let available = raw.fill_buf()?;
        let zeros = available.iter().take_while(|&&byte| byte == 0).count();
        let all = zeros == available.len();
        raw.consume(zeros);
        if zeros == 0 || !all {
            return Ok(());
        }
    }
}

impl Source for Replay {
    fn read(&mut self, out: &mut [u8]) -> io::Result<Chunk> {
        Ok(match Read::read(self, out)? {
            0 => Chunk::End,
            length => Chunk::Bytes(length),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::testing::compress;

    const ALL: [Compression; 3] = [Compression::Gzip, Compression::Zstd, Compression::Bzip2];

    /// What a file gives: bytes, and where they are interrupted by damage.
    fn read(compression: Compression, file: &[u8]) -> (Vec<u8>, Vec<(usize, bool)>) {
        assert_eq!(Compression::seen(file), compression);
        let mut members = Members::new(compression, Replay::new(Box::new(io::Cursor::new(file.to_vec()))));
        let (mut bytes, mut faults) = (Vec::new(), Vec::new());
        let mut out = [0; 1000];
        loop {
            match members.read(&mut out).unwrap() {
                Chunk::Bytes(length) => bytes.extend_from_slice(&out[..length]),
                Chunk::Fault(_) => faults.push((bytes.len(), false)),
                Chunk::Corrupt(_) => faults.push((bytes.len(), true)),
                Chunk::End => return (bytes, faults),
            }
        }
    }

    /// Text that compresses, but not to almost nothing.
    fn text(seed: u64, length: usize) -> Vec<u8> {
        let mut state = seed;
        let step = |_| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            b"etaoin shrdlu\n"[(state >> 33) as usize % 14]
        };
        (0..length).map(step).collect()
    }

    #[test]
    fn members_follow_each_other_without_a_seam() {
        for compression in ALL {
            let parts = [text(1, 5000), Vec::new(), text(2, 300_000), text(3, 1)];
            let file: Vec<u8> = parts.iter().flat_map(|part| compress(compression, part)).collect();
            assert_eq!(read(compression, &file), (parts.concat(), vec![]), "{compression:?}");
        }
    }

    #[test]
    fn a_member_cut_in_the_middle_of_a_file_costs_no_other() {
        for compression in ALL {
            let parts = [text(1, 5000), text(2, 5000), text(3, 5000)];
            let [first, second, third] = parts.each_ref().map(|part| compress(compression, part));
            for cut in [11, second.len() / 3, second.len() - 9, second.len() - 1] {
                let (bytes, faults) = read(compression, &[&first, &second[..cut], &third].concat());
                assert_eq!(faults.len(), 1, "{compression:?} cut at {cut}");
                assert_eq!(bytes[..5000], parts[0]);
                assert_eq!(bytes[faults[0].0..], parts[2]);
            }
        }
    }

    #[test]
    fn a_file_that_ends_early_gives_what_it_holds_and_one_fault() {
        for compression in ALL {
            let parts = [text(1, 5000), text(2, 5000)];
            let [first, second] = parts.each_ref().map(|part| compress(compression, part));
            for cut in [1, 9, 10, second.len() / 2, second.len() - 1] {
                let (bytes, faults) = read(compression, &[&first, &second[..cut]].concat());
                assert!(parts.concat().starts_with(&bytes) && bytes.len() >= 5000);
                assert_eq!(faults, [(bytes.len(), false)], "{compression:?} cut at {cut}");
            }
        }
    }

    /// Each of these members seems to go on to the end of the file, where it fails: looking at all of them from
    /// their beginnings would take minutes.
    #[test]
    fn members_that_fail_far_behind_their_beginning_are_not_all_followed() {
        let stored_block = [0x00, 0xfa, 0xff, 0x05, 0x00];
        let unit = [&[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3], &stored_block[..]].concat();
        let file = [compress(Compression::Gzip, b"one"), unit.repeat(100_000)].concat();
        let (bytes, faults) = read(Compression::Gzip, &file);
        assert!(bytes.starts_with(b"one") && !faults.is_empty());
    }

    #[test]
    fn zeros_behind_a_gzip_file_are_no_damage() {
        let file = [
            compress(Compression::Gzip, b"one"),
            vec![0; 300_000],
            compress(Compression::Gzip, b"two"),
            vec![0; 9],
        ];
        assert_eq!(read(Compression::Gzip, &file.concat()), (b"onetwo".to_vec(), vec![]));
    }

    #[test]
    fn junk_between_members_is_one_fault() {
        for compression in ALL {
            let (one, two) = (compress(compression, b"one"), compress(compression, b"two"));
            for junk in [&b"x"[..], &text(4, 200_000), &one[..4], &[0x1f, 0x8b, 8, 0xff]] {
                let file = [&one, junk, &two].concat();
                assert_eq!(
                    read(compression, &file),
                    (b"onetwo".to_vec(), vec![(3, false)]),
                    "{compression:?}"
                );
            }
        }
    }

    #[test]
    fn a_wrong_checksum_is_damage_in_the_bytes_before() {
        let mut one = compress(Compression::Gzip, b"one");
        let checksum = one.len() - 8;
        one[checksum] ^= 1;
        let file = [one, compress(Compression::Gzip, b"two")].concat();
        assert_eq!(read(Compression::Gzip, &file), (b"onetwo".to_vec(), vec![(3, true)]));
    }

    #[test]
    fn what_a_long_member_held_before_the_damage_is_kept() {
        let long = text(5, 2 << 20);
        for compression in ALL {
            let mut file = compress(compression, &long);
            let middle = file.len() / 2;
            file[middle..middle + 50].fill(0xff);
            let (bytes, faults) = read(compression, &file);
            assert!(!faults.is_empty());
            // Blocks of bzip2 are up to 900 kB long and come whole or not at all.
            let lost = if compression == Compression::Bzip2 { 1 << 20 } else { 300 << 10 };
            let kept = bytes.iter().zip(&long).take_while(|(one, other)| one == other).count();
            assert!(kept + lost > long.len() / 2, "{compression:?} gave {kept} bytes");
        }
    }

    #[test]
    fn a_failing_file_is_an_error_and_no_damage() {
        struct Failing(io::Cursor<Vec<u8>>);
        impl Read for Failing {
            fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
                match self.0.read(out)? {
                    0 => Err(io::Error::from(io::ErrorKind::ConnectionReset)),
                    length => Ok(length),
                }
            }
        }
        for compression in ALL {
            let mut half = compress(compression, &text(6, 5000));
            half.truncate(half.len() / 2);
            let raw = Replay::new(Box::new(Failing(io::Cursor::new(half))));
            let mut members = Members::new(compression, raw);
            let mut out = [0; 1000];
            let error = loop {
                match members.read(&mut out) {
                    Ok(Chunk::Bytes(_)) => {}
                    Ok(other) => panic!("{compression:?}: {other:?}"),
                    Err(error) => break error,
                }
            };
            assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);
        }
    }
}
