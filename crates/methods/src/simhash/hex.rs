//! Fingerprints that were made elsewhere, as hexadecimal digits.

use super::MAX_WORDS;

/// Digits of a fingerprint of so many bits.
pub(super) fn digits(bits: usize) -> usize {
    bits.div_ceil(4)
}

/// The fingerprint that `text` spells: as many digits as it takes, the highest bits first, between blanks at most.
pub(super) fn read(text: &str, bits: usize) -> Option<[u64; MAX_WORDS]> {
    let text = text.trim_ascii().as_bytes();
    if text.len() != digits(bits) {
        return None;
    }
    let (mut words, mut all) = ([0; MAX_WORDS], 0);
    // From the end: the lowest word has the last sixteen digits, and only the highest may have fewer.
    for (word, digits) in words.iter_mut().zip(text.rchunks(16)) {
        for &digit in digits {
            // No branch for each digit: values have four bits, and one look at all of them together shows a
            // byte that is no digit.
            let value = VALUES[usize::from(digit)];
            all |= value;
            *word = *word << 4 | u64::from(value & 15);
        }
    }
    if all == NONE {
        return None;
    }
    // The highest digit may have bits to spare.
    let spare = words[(bits - 1) / 64].checked_shr((bits as u32 - 1) % 64 + 1).unwrap_or(0);
    (spare == 0).then_some(words)
}

/// The value of a byte that is no digit.
const NONE: u8 = u8::MAX;

/// The value of each byte as a digit.
const VALUES: [u8; 256] = {
    let mut values = [NONE; 256];
    let mut digit = 0;
    while digit < 16 {
        values[b"0123456789abcdef"[digit] as usize] = digit as u8;
        values[b"0123456789ABCDEF"[digit] as usize] = digit as u8;
        digit += 1;
    }
    values
};

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn only_the_right_number_of_digits_will_do() {
        let first = |text: &str, bits| read(text, bits).map(|words| words[0]);
        assert_eq!(first("00000000000000ff", 64), Some(255));
        assert_eq!(first(" FfFfFfFfFfFfFfFe\n", 64), Some(u64::MAX - 1));
        for bad in
            ["", "ff", "00000000000000fg", "0x0000000000000ff", "+0000000000000ff", "00000000000000ff0"]
        {
            assert_eq!(read(bad, 64), None, "{bad}");
        }
        assert_eq!((first("1ff", 9), first("3ff", 9), first("1ff", 12)), (Some(511), None, Some(511)));
        assert_eq!(read("500000000000000000000000000000007", 131).unwrap(), [7, 0, 5, 0, 0, 0]);
    }

    proptest! {
        #[test]
        fn what_is_printed_is_read_back(words: [u64; MAX_WORDS], bits in 8usize..=64 * MAX_WORDS, upper: bool) {
            let mut expected = words;
            for (place, word) in expected.iter_mut().enumerate() {
                *word &= (0..64).filter(|bit| place * 64 + bit < bits).fold(0, |mask, bit| mask | 1 << bit);
            }
            let mut text: String = expected.iter().rev().map(|word| format!("{word:016x}")).collect();
            text.drain(..text.len() - digits(bits));
            let text = if upper { text.to_uppercase() } else { text };
            prop_assert_eq!(read(&text, bits), Some(expected));
        }
    }
}
