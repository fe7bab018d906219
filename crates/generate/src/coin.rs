//! Coined names: every number has one, and no two numbers share theirs.
//!
//! Each family of pages speaks of its own coined name, so that even the shortest pages of two families differ.

/// Numbers below this have a name; greater ones take that of their lowest 31 bits.
pub(crate) const COINABLE: u64 = 1 << 31;

const CONSONANTS: &[u8; 16] = b"bdfgklmnprstvzhj";
const VOWELS: &[u8; 4] = b"aeio";

/// Appends the name of `number`: three, four or six syllables of six bits each.
///
/// An odd factor scatters the numbers of each length, so that neighbours sound different.
pub(crate) fn coin(number: u64, name: &mut String) {
    const FACTOR: u64 = 0x9e37_79b1;
    let number = number % COINABLE;
    let bits = match number {
        0..0x4_0000 => 18,
        0x4_0000..0x100_0000 => 24,
        _ => 36,
    };
    let scattered = number.wrapping_mul(FACTOR) & ((1 << bits) - 1);
    for shift in (0..bits).step_by(6) {
        let syllable = (scattered >> shift) as usize & 63;
        name.push(char::from(CONSONANTS[syllable >> 2]));
        name.push(char::from(VOWELS[syllable & 3]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn names_do_not_repeat() {
        let numbers = (0..20_000).chain((1 << 18)..(1 << 18) + 20_000).chain(COINABLE - 20_000..COINABLE);
        let names: HashSet<String> = numbers
            .map(|number| {
                let mut name = String::new();
                coin(number, &mut name);
                name
            })
            .collect();
        assert_eq!(names.len(), 60_000);
    }
}
