//! One pass over a text: normal form, lower case, and where its words begin and end.
//!
//! Text is looked at 64 bytes at a time. A bit for every byte says whether it belongs to a word; where the bits change
//! a word begins or ends. Characters beyond ASCII are *plain* when they are in normal form whatever stands next to
//! them, keep their length in lower case, and are of a script with blanks between words: their bits are put in one
//! character at a time, and the block goes on like any other. All others begin a *stretch*, which is normalised and
//! cut character by character, and ends behind a few ASCII characters.
//!
//! A character that is not plain may melt into the one before it, so a block never takes the last character before
//! one that it has not judged.

use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::LazyLock;

use lookalike_hash::cpu::Cpu;
use lookalike_model::SpanMap;

use crate::blocks::{Blocks, MAX_OFFSETS, Portable};
use crate::class::{self, Class, Classes, Flags};
use crate::normal::{Form, Normaliser};
use crate::runs::{Alphabet, Cutter, Unspaced};

/// A text in normal form and the offsets of its words, in buffers that are reused.
#[derive(Debug, Default)]
pub(crate) struct NormalisedText {
    /// In normal form and lower case.
    pub(crate) normal: String,
    /// From there back to the text.
    pub(crate) spans: SpanMap,
    /// The offsets in `normal` at which words begin.
    pub(crate) starts: Vec<u32>,
    /// The offsets in `normal` at which words end.
    pub(crate) ends: Vec<u32>,
    /// The numbers of long words, while words are hashed.
    pub(crate) long: lookalike_hash::LongWords,
}

/// Words of most texts have so many bytes or more, with what stands between them.
const WORD_BYTES: usize = 4;

/// Empties a buffer, with room for `wanted`. To grow it would copy what nobody wants, and touch twice the memory.
pub(crate) fn clear_and_reserve<T>(buffer: &mut Vec<T>, wanted: usize) {
    buffer.clear();
    if buffer.capacity() < wanted {
        // First one is let go of, then the other taken.
        *buffer = Vec::new();
        buffer.reserve_exact(wanted.next_power_of_two());
    }
}

impl NormalisedText {
    /// Empties it for a text of so many bytes.
    fn prepare(&mut self, bytes: usize) {
        let mut normal = std::mem::take(&mut self.normal).into_bytes();
        clear_and_reserve(&mut normal, bytes + 64);
        self.normal = String::from_utf8(normal).unwrap_or_default();
        self.spans.clear();
        clear_and_reserve(&mut self.starts, bytes / WORD_BYTES + MAX_OFFSETS);
        clear_and_reserve(&mut self.ends, bytes / WORD_BYTES + MAX_OFFSETS);
    }

    pub(crate) fn clear(&mut self) {
        self.normal.clear();
        self.spans.clear();
        self.starts.clear();
        self.ends.clear();
    }
}

/// Scans texts by one set of rules.
pub(crate) struct Scanner {
    cpu: Cpu,
    normaliser: Normaliser,
    /// The flag of characters that make words.
    in_words: Flags,
    /// The flags of characters that are not plain, which a block cannot take.
    not_plain: Flags,
    unstable: Flags,
    unspaced: Unspaced,
}

impl Scanner {
    pub(crate) fn new(form: Form, alphabet: Alphabet, unspaced: Unspaced) -> Self {
        let unstable = match form {
            Form::Nfc => class::UNSTABLE_NFC,
            Form::Nfkc => class::UNSTABLE_NFKC,
        };
        let apart = match unspaced {
            Unspaced::Bigrams => class::UNSPACED,
            Unspaced::Runs => 0,
        };
        Scanner {
            cpu: Cpu::detect(),
            normaliser: Normaliser::new(form),
            in_words: alphabet.flag(),
            not_plain: unstable | apart,
            unstable,
            unspaced,
        }
    }

    /// Replaces `out` with what is found in `text`.
    pub(crate) fn run(&mut self, text: &str, out: &mut NormalisedText) {
        out.prepare(text.len());
        match self.cpu {
            // SAFETY: such a `Cpu` exists only where all that the function is built for was found.
            #[cfg(target_arch = "x86_64")]
            Cpu::Avx512Vbmi2(_) => unsafe { self.run_avx512(text, out) },
            // Offsets come out of an instruction of VBMI2; without it the code for AVX2 is taken.
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Cpu::Avx2(_) | Cpu::Avx512(_) => unsafe { self.run_avx2(text, out) },
            // SAFETY: plain code runs on every processor.
            _ => unsafe { self.run_on::<Portable>(text, out) },
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2,avx2,bmi1,bmi2,popcnt")]
    fn run_avx512(&mut self, text: &str, out: &mut NormalisedText) {
        // SAFETY: this function is built for these instructions, so whoever calls it has seen to them.
        unsafe { self.run_on::<crate::blocks::Avx512>(text, out) };
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
    fn run_avx2(&mut self, text: &str, out: &mut NormalisedText) {
        // SAFETY: as above.
        unsafe { self.run_on::<crate::blocks::Avx2>(text, out) };
    }

    /// Scans all of `text`.
    ///
    /// # Safety
    /// The processor must have the instructions of `B`.
    #[inline(always)]
    unsafe fn run_on<B: Blocks>(&mut self, text: &str, out: &mut NormalisedText) {
        let mut at = 0;
        let mut inside = 0;
        while at < text.len() {
            // SAFETY: the caller has seen to the instructions; blocks and stretches take whole characters, so
            // that `at` is always where one begins.
            let taken = unsafe { self.block::<B>(text, at, &mut inside, out) };
            at += taken;
            if taken == 0 {
                at += self.stretch(text, at, &mut inside, out);
            }
        }
        if inside == 1 {
            out.ends.push(out.normal.len() as u32);
        }
    }

    /// Takes up to 64 bytes of whole characters; returns how many. `inside` is 1 when a word is under way,
    /// and 0 otherwise.
    ///
    /// # Safety
    /// The processor must have the instructions of `B`, and a character of `text` must begin at `at`.
    #[inline(always)]
    unsafe fn block<B: Blocks>(
        &self,
        text: &str,
        at: usize,
        inside: &mut u64,
        out: &mut NormalisedText,
    ) -> usize {
        let bytes = text.as_bytes();
        let left = bytes.len() - at;
        let mut padded;
        let block = match bytes[at..].first_chunk::<64>() {
            Some(block) => block,
            None => {
                // What is behind the text is masked out below; zeros are ASCII, so there is nothing to judge
                // in it.
                padded = [0; 64];
                padded[..left].copy_from_slice(&bytes[at..]);
                &padded
            }
        };
        let start = out.normal.len();
        let mut small = [0; 64];
        // SAFETY: the caller has seen to the instructions.
        let mut bits = unsafe { B::fold(block, &mut small) };
        let mut usable = left.min(64);
        if bits.non_ascii != 0 {
            usable = self.classify_non_ascii(bytes, at, usable, &mut bits.words, bits.non_ascii, &mut small);
        } else if left > 64 && !bytes[at + 64].is_ascii() {
            // The character behind the block may be an accent on its last letter.
            usable = 63;
        }
        if usable == 0 {
            return 0;
        }
        out.spans.copied(start, at, usable);
        // SAFETY: up to `usable` the block is text from where a character begins to where one ends: all of it
        // is ASCII, or `classify_non_ascii` has found the end. Capitals were made small one for one, others
        // by characters of the same length.
        unsafe { append(&mut out.normal, &small, usable) };
        // A word begins at a bit that is set behind one that is not, and ends at one that is not set behind
        // one that is. `before` has for each byte whether the one before it is of a word; for the first, the
        // last of the block before.
        let ours = u64::MAX >> (64 - usable);
        let words = bits.words & ours;
        let before = words << 1 | *inside;
        // SAFETY: the caller has seen to the instructions.
        unsafe {
            push_offsets::<B>(words & !before, start, &mut out.starts);
            push_offsets::<B>(!words & before & ours, start, &mut out.ends);
        }
        *inside = words >> (usable - 1) & 1;
        usable
    }

    /// Classifies the characters beyond ASCII in a block: those that are plain get their lower case and their bits in
    /// `words`. Returns how many bytes can be taken, which are whole characters.
    #[inline]
    fn classify_non_ascii(
        &self,
        bytes: &[u8],
        at: usize,
        mut usable: usize,
        words: &mut u64,
        mut non_ascii: u64,
        small: &mut [u8; 64],
    ) -> usize {
        let classes = Classes::get();
        while non_ascii != 0 {
            // The lowest bit is the first byte of a character: the bits of those before are off, with all
            // their bytes.
            let place = non_ascii.trailing_zeros() as usize;
            let (code, width) = decode(&bytes[at + place..]);
            let class = classes.of(code);
            let plain = place + width <= usable
                && !class.is_any(self.not_plain)
                && (!class.is_cased() || lower(code, &mut small[place..place + width]));
            if !plain {
                usable = place;
                break;
            }
            // All bytes of a character get the same bits, so that no word begins or ends inside it.
            let these = ((1 << width) - 1) << place;
            if class.is_any(self.in_words) {
                *words |= these;
            }
            non_ascii &= !these;
        }
        // What stands before a character that is not classified yet may be about to change.
        if bytes.get(at + usable).is_some_and(|next| !next.is_ascii()) {
            while usable > 0 {
                usable -= 1;
                if !is_continuation(bytes[at + usable]) {
                    break;
                }
            }
        }
        usable
    }

    /// Takes characters one by one up to some ASCII; returns how many bytes.
    #[inline(never)]
    fn stretch(&mut self, text: &str, from: usize, inside: &mut u64, out: &mut NormalisedText) -> usize {
        let classes = Classes::get();
        let bytes = text.as_bytes();
        let NormalisedText { normal, spans, starts, ends, .. } = out;
        let mut cutter = Cutter::new(self.in_words, self.unspaced, *inside, starts, ends);
        // Characters from `kept` to `at` are as they were and wait to be copied in one piece.
        let (mut at, mut kept, mut ascii) = (from, from, 0);
        // One character is looked ahead, since it may change the one before it.
        let mut next = decode_at(bytes, at, classes);
        while let Some((code, class, width)) = next {
            next = decode_at(bytes, at + width, classes);
            // What is unstable, or stands before something that is, is normalised with all that is unstable behind it.
            if class.is_any(self.unstable) || next.is_some_and(|(_, class, _)| class.is_any(self.unstable)) {
                copy(text, kept..at, normal, spans);
                let mut end = at + width;
                while let Some((_, class, width)) = next
                    && class.is_any(self.unstable)
                {
                    end += width;
                    next = decode_at(bytes, end, classes);
                }
                spans.replaced(normal.len(), at, end - at);
                for c in self.normaliser.run(&text[at..end]).chars().flat_map(char::to_lowercase) {
                    cutter.take(classes.of(c.into()), normal.len(), c.len_utf8());
                    normal.push(c);
                }
                (at, kept, ascii) = (end, end, 0);
                continue;
            }
            let place = normal.len() + (at - kept);
            if class.is_cased() {
                copy(text, kept..at, normal, spans);
                let c = char::from_u32(code).unwrap_or_default();
                // A piece of equal length leads back byte by byte; one of another length only as a whole.
                if c.to_lowercase().map(char::len_utf8).sum::<usize>() == width {
                    spans.copied(place, at, width);
                } else {
                    spans.replaced(place, at, width);
                }
                for small in c.to_lowercase() {
                    cutter.take(classes.of(small.into()), normal.len(), small.len_utf8());
                    normal.push(small);
                }
                kept = at + width;
            } else {
                cutter.take(class, place, width);
            }
            at += width;
            ascii = if code < 0x80 { ascii + 1 } else { 0 };
            // The last one must not be about to change, and a run without blanks must have ended.
            if ascii >= ASCII_STRETCH && next.is_none_or(|(code, ..)| code < 0x80) {
                break;
            }
        }
        copy(text, kept..at, normal, spans);
        *inside = cutter.finish(normal.len());
        at - from
    }
}

/// The number of ASCII characters in a row that end a stretch. Most scripts have an ASCII blank between words, and
/// changing loops for each would not pay.
const ASCII_STRETCH: usize = 12;

/// Appends a piece of the text as it is.
fn copy(text: &str, range: Range<usize>, normal: &mut String, spans: &mut SpanMap) {
    spans.copied(normal.len(), range.start, range.len());
    normal.push_str(&text[range]);
}

/// The character at a place, if there is one: its code point, its class, and how many bytes it has.
#[inline(always)]
fn decode_at(bytes: &[u8], at: usize, classes: Classes) -> Option<(u32, Class, usize)> {
    let &lead = bytes.get(at)?;
    let (code, width) = if lead.is_ascii() { (lead.into(), 1) } else { decode(&bytes[at..]) };
    Some((code, classes.of(code), width))
}

/// Appends the first `length` bytes of a block.
///
/// # Safety
/// They must be valid UTF-8, and `length` at most 64.
#[inline(always)]
unsafe fn append(normal: &mut String, block: &[u8; 64], length: usize) {
    // SAFETY: only what the caller promises to be valid UTF-8 becomes part of the string.
    let bytes = unsafe { normal.as_mut_vec() };
    bytes.reserve(64);
    let start = bytes.len();
    // All 64 bytes are copied, whatever the length: that is a few wide moves, and no call.
    // SAFETY: there is room for 64 bytes behind `start`, all 64 are written, and `length` is at most 64.
    unsafe {
        std::ptr::copy_nonoverlapping(block.as_ptr(), bytes.as_mut_ptr().add(start), 64);
        bytes.set_len(start + length);
    }
}

/// Appends the offset of every bit.
///
/// # Safety
/// The processor must have the instructions of `B`.
#[inline(always)]
unsafe fn push_offsets<B: Blocks>(bits: u64, start: usize, offsets: &mut Vec<u32>) {
    offsets.reserve(MAX_OFFSETS);
    let length = offsets.len();
    let spare = offsets.spare_capacity_mut().as_mut_ptr();
    // SAFETY: `reserve` made room for so many behind the length, and places that are not written yet are what
    // the type says they may be.
    let spare: &mut [MaybeUninit<u32>; MAX_OFFSETS] = unsafe { &mut *spare.cast() };
    // SAFETY: the caller has seen to the instructions. As many numbers as there are bits, at most 64, are
    // written then: that is the contract of `Blocks`.
    unsafe {
        B::bit_offsets(bits, start as u32, spare);
        offsets.set_len(length + bits.count_ones() as usize);
    }
}

#[inline(always)]
fn is_continuation(byte: u8) -> bool {
    byte & 0xc0 == 0x80
}

/// The character beyond ASCII at the front, and how many bytes it has.
#[inline(always)]
fn decode(bytes: &[u8]) -> (u32, usize) {
    // Bytes of a string: the first one tells the length, and none is missing or out of place.
    let low = |index: usize| u32::from(bytes[index] & 0x3f);
    let lead = u32::from(bytes[0]);
    match lead {
        0..0xe0 => ((lead & 0x1f) << 6 | low(1), 2),
        0xe0..0xf0 => ((lead & 0x0f) << 12 | low(1) << 6 | low(2), 3),
        _ => ((lead & 0x07) << 18 | low(1) << 12 | low(2) << 6 | low(3), 4),
    }
}

/// The lower case of every character of two bytes, in two bytes; zeros where it has another length.
static LOWER_CASE: LazyLock<Vec<[u8; 2]>> = LazyLock::new(|| {
    let small = |code: u32| {
        let mut bytes = [0; 2];
        let mut lower = char::from_u32(code).into_iter().flat_map(char::to_lowercase);
        if let (Some(c), None) = (lower.next(), lower.next())
            && c.len_utf8() == 2
        {
            c.encode_utf8(&mut bytes);
        }
        bytes
    };
    (0..0x800).map(small).collect()
});

/// Writes the lower case of a character over it, if it is one character of the same length.
#[inline]
fn lower(code: u32, out: &mut [u8]) -> bool {
    // Greek, Cyrillic and accented Latin letters are of two bytes: one look at a table in place of the search
    // through Unicode's.
    if let Some(&[lead, next]) = LOWER_CASE.get(code as usize)
        && let [first, second] = out
    {
        (*first, *second) = (lead, next);
        return lead != 0;
    }
    let Some(c) = char::from_u32(code) else { return false };
    let mut lower = c.to_lowercase();
    match (lower.next(), lower.next()) {
        (Some(small), None) if small.len_utf8() == out.len() => {
            small.encode_utf8(out);
            true
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runs::plain_words;
    use icu_normalizer::ComposingNormalizerBorrowed;
    use lookalike_model::Span;
    use proptest::prelude::*;

    /// The simplest correct version: the whole text at once, then one character after the other.
    fn plain(form: Form, alphabet: Alphabet, unspaced: Unspaced, text: &str) -> (String, Vec<String>) {
        let normaliser = match form {
            Form::Nfc => ComposingNormalizerBorrowed::new_nfc(),
            Form::Nfkc => ComposingNormalizerBorrowed::new_nfkc(),
        };
        let normal: String = normaliser.normalize(text).chars().flat_map(char::to_lowercase).collect();
        let words = plain_words(&normal, alphabet, unspaced);
        (normal, words)
    }

    fn scan(
        cpu: Cpu,
        form: Form,
        alphabet: Alphabet,
        unspaced: Unspaced,
        text: &str,
    ) -> (String, Vec<String>) {
        let mut out = NormalisedText::default();
        let mut scanner = Scanner { cpu, ..Scanner::new(form, alphabet, unspaced) };
        scanner.run(text, &mut out);
        assert_eq!(out.starts.len(), out.ends.len());
        let words = out.starts.iter().zip(&out.ends);
        let words = words.map(|(&start, &end)| out.normal[start as usize..end as usize].to_owned()).collect();
        (out.normal, words)
    }

    fn check(text: &str) -> Result<(), TestCaseError> {
        for form in [Form::Nfc, Form::Nfkc] {
            for alphabet in [Alphabet::LettersMarksNumbers, Alphabet::Alphanumeric] {
                for unspaced in [Unspaced::Bigrams, Unspaced::Runs] {
                    let expected = plain(form, alphabet, unspaced, text);
                    for cpu in Cpu::available() {
                        prop_assert_eq!(&scan(cpu, form, alphabet, unspaced, text), &expected, "{:?}", cpu);
                    }
                }
            }
        }
        Ok(())
    }

    /// Pieces of all sorts of writing, short and long, so that they meet at all places of a block.
    fn soup() -> impl Strategy<Value = String> {
        let pieces = prop_oneof![
            any::<char>().prop_map(String::from),
            "[ -~]{0,80}",
            "[ -~]{0,5}",
            "[A-Za-z0-9 .,_'\n-]{0,20}",
            "[А-Яа-яёЁ ]{0,40}",
            "[à-ÿÀ-Þß€’“”…\u{a0}]{1,4}",
            "[\u{300}-\u{345}]{1,3}",
            "[가-힣\u{1100}-\u{1112}\u{1161}-\u{1175}\u{11a7}-\u{11c2}]{1,4}",
            "[ａ-ｚＡ-Ｚ０-９ｦ-ﾟ]{1,4}",
            "[\u{1e00}-\u{1eff}ﬀ-ﬆİŸȺꙊ]{1,4}",
            "[\u{900}-\u{9ff}\u{b3e}-\u{b57}\u{bbe}-\u{bd7}]{1,4}",
            "[ぁ-ゟ\u{3099}\u{309a}ァ-ヿ\u{4e00}-\u{4e20}ー、a-c1]{0,10}",
            "[ก-\u{e4e} ]{0,10}",
        ];
        prop::collection::vec(pieces, 0..24).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 2 } else { 2000 }))]
        #[test]
        fn blocks_equal_the_definition(text in soup()) {
            check(&text)?;
        }

        #[test]
        fn spans_stay_inside_the_text_and_on_characters(text in soup()) {
            let mut out = NormalisedText::default();
            Scanner::new(Form::Nfkc, Alphabet::LettersMarksNumbers, Unspaced::Bigrams).run(&text, &mut out);
            for (at, c) in out.normal.char_indices() {
                let back = out.spans.to_source(Span::new(at, at + c.len_utf8()));
                prop_assert!(text.get(back.start as usize..back.end as usize).is_some_and(|piece| !piece.is_empty()));
            }
        }
    }

    /// Every script in turn, and every pair of neighbours that meet at a border of blocks.
    #[test]
    #[cfg_attr(miri, ignore = "interpreted, it takes hours")]
    fn every_character_that_there_is_equals_the_definition() {
        let characters: Vec<char> = ('\u{80}'..='\u{2ffff}').collect();
        for (number, some) in characters.chunks(97).enumerate() {
            let mut text = "x".repeat(number % 67);
            for (index, &c) in some.iter().enumerate() {
                text.push(c);
                if (index + number) % 5 == 0 {
                    text.push_str(if number % 2 == 0 { " " } else { "Ab, " });
                }
            }
            check(&text).unwrap();
        }
    }
}
