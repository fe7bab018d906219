//! Compressed members, one after the other: any number of gzip members, zstd or lz4 frames, bzip2 or xz streams.
//!
//! A crawl file is often a million members long, one for each record. A member that is cut short or damaged
//! must cost that member and no other, so decoding is done member by member: on damage we go back to where
//! the member began and look for the next one.

use std::io::{self, BufRead, Read};

use super::compression::{MAGIC, is_skippable};
use super::decoder::Decoder;
use super::window::{HEADER_BYTES, Window};
use super::{Chunk, Compression, Refusal, Replay, Source};
use crate::options::DecoderBudget;

/// Most times in a row that bytes are read again behind damage.
const MAX_REREADS: u32 = 8;

/// All members of a compressed file as one stream of bytes.
pub(crate) struct Members {
    compression: Compression,
    budget: DecoderBudget,
    /// True once a member has begun.
    begun: bool,
    /// Times in a row that damaged bytes were read again.
    rereads: u32,
    state: State,
}

#[expect(clippy::large_enum_variant, reason = "there is one for each open shard")]
enum State {
    Between(Replay),
    Inside {
        decoder: Decoder,
        window: Option<Window>,
        /// Bytes that the member has given.
        given: u64,
    },
    /// Only while a state is being replaced.
    Moving,
}

impl Members {
    pub(crate) fn new(compression: Compression, raw: Replay, budget: DecoderBudget) -> Self {
        Members { compression, budget, begun: false, rereads: 0, state: State::Between(raw) }
    }

    /// Begins the next member, or passes over what is none; `None` when there is more to read.
    fn begin(&mut self, mut raw: Replay) -> io::Result<Option<Chunk>> {
        if self.compression.is_padded() {
            skip_zeros(&mut raw)?;
        }
        let head = raw.peek(MAGIC)?;
        if head.is_empty() {
            self.state = State::Between(raw);
            return Ok(Some(Chunk::End));
        }
        if !self.compression.begins_member(head) {
            return self.missing_member(raw).map(Some);
        }
        if self.compression == Compression::Lz4 && is_skippable(head) {
            return self.skip_frame(raw);
        }
        let window = Window::parse(raw.peek(HEADER_BYTES)?);
        // Behind others, a member that cannot be decoded is more likely damaged than meant so.
        if !self.begun
            && let Some(why) = window.and_then(|window| window.refused(self.budget))
        {
            return Err(Refusal::error(why));
        }
        raw.set_mark();
        self.begun = true;
        let decoder = Decoder::new(self.compression, raw)?;
        self.state = State::Inside { decoder, window, given: 0 };
        Ok(None)
    }

    /// Says what is wrong where a member should begin and none does.
    fn missing_member(&mut self, mut raw: Replay) -> io::Result<Chunk> {
        let lz = matches!(self.compression, Compression::Zstd | Compression::Lz4);
        if lz && self.find_member_inside_last(&mut raw)? {
            self.state = State::Between(raw);
            return Ok(Chunk::Corrupt(self.member("is cut off before the next one")));
        }
        let cut = raw.peek(MAGIC)?.len() < MAGIC;
        raw.set_mark();
        self.step_over(raw, if cut { self.cut_off() } else { self.member("is missing") })
    }

    /// Passes over a frame of lz4 that holds no data.
    fn skip_frame(&mut self, mut raw: Replay) -> io::Result<Option<Chunk>> {
        let head = raw.peek(8)?;
        let length =
            head.get(4..8).and_then(|length| length.try_into().ok()).map_or(u32::MAX, u32::from_le_bytes);
        let mut left = u64::from(length) + 8;
        self.begun = true;
        while left > 0 {
            let available = raw.fill_buf()?.len();
            if available == 0 {
                self.state = State::Between(raw);
                return Ok(Some(Chunk::Fault(self.cut_off())));
            }
            let step = usize::try_from(left).unwrap_or(usize::MAX).min(available);
            raw.consume(step);
            left -= step as u64;
        }
        self.state = State::Between(raw);
        Ok(None)
    }

    fn member(&self, complaint: &str) -> String {
        format!("a {} member {complaint}", self.compression.name())
    }

    fn cut_off(&self) -> String {
        format!("the file ends in the middle of a {} member", self.compression.name())
    }

    /// Looks for a member that begins inside the last one, and goes there. A frame of zstd or lz4 need not have a
    /// checksum, so one that is cut can eat the beginning of the next and seem whole.
    fn find_member_inside_last(&self, raw: &mut Replay) -> io::Result<bool> {
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

    /// Goes to the next place where a member may begin, and says what is wrong here. A file in which none ever begins is
    /// something else than its name says.
    fn step_over(&mut self, mut raw: Replay, reason: String) -> io::Result<Chunk> {
        if let Some(failure) = raw.take_failure() {
            return Err(failure);
        }
        // Crafted members can fail far behind their beginning, each a little further on: after it was read again
        // a few times in a row, what the decoder has taken is passed over.
        self.rereads += 1;
        if self.rereads <= MAX_REREADS {
            raw.rewind_behind_mark();
        } else {
            self.rereads = 0;
        }
        loop {
            let head = raw.peek(MAGIC)?;
            if head.is_empty() || self.compression.begins_member(head) {
                break;
            }
            raw.consume(1);
        }
        if !self.begun && raw.peek(1)?.is_empty() {
            let name = self.compression.name();
            let why = format!(
                "is named like a {name} file and holds no {name} data; find out what it is, or leave it out"
            );
            return Err(Refusal::error(why));
        }
        self.state = State::Between(raw);
        Ok(Chunk::Fault(reason))
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
                State::Inside { mut decoder, window, given } => match decoder.read(out) {
                    Ok(0) => {
                        self.rereads = 0;
                        self.state = State::Between(decoder.into_raw());
                    }
                    Ok(length) => {
                        let given = given + length as u64;
                        if let Some(why) = window.and_then(|window| window.refused_after(given, self.budget))
                        {
                            return Err(Refusal::error(why));
                        }
                        self.state = State::Inside { decoder, window, given };
                        return Ok(Chunk::Bytes(length));
                    }
                    Err(error) => {
                        let cut = error.kind() == io::ErrorKind::UnexpectedEof;
                        let reason =
                            if cut { self.cut_off() } else { self.member(&format!("is damaged ({error})")) };
                        let chunk = self.step_over(decoder.into_raw(), reason)?;
                        return Ok(match chunk {
                            Chunk::Fault(reason) if !cut && given > 0 => Chunk::Corrupt(reason),
                            chunk => chunk,
                        });
                    }
                },
                State::Moving => return Ok(Chunk::End),
            }
        }
    }
}

/// Passes over zeros.
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

    const ALL: [Compression; 5] = Compression::ALL;

    /// Reads a file: returns its bytes, and the offsets of damage in them, each with true if the bytes before it are corrupt.
    fn read(compression: Compression, file: &[u8]) -> (Vec<u8>, Vec<(usize, bool)>) {
        assert_eq!(Compression::detect(file, Compression::None), compression);
        let raw = Replay::new(Box::new(io::Cursor::new(file.to_vec())));
        let mut members = Members::new(compression, raw, DecoderBudget::default());
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
            let mut members = Members::new(compression, raw, DecoderBudget::default());
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
