//! Pairs of texts that share an exact number of shingles.

use lookalike::hash;

/// Two texts of made-up words, all of them different, that have `union` shingles of `shingle` words between them and
/// share `shared` of them. Texts of other numbers or seeds have other words.
pub(crate) fn pair(seed: u64, number: u64, union: usize, shared: usize, shingle: usize) -> [String; 2] {
    let start = hash::nth(number + 1, hash::mix(seed));
    // What is shared stands in front, and each word behind it makes one shingle more.
    let both: String = (0..shared + shingle - 1).map(|place| word(start, place)).collect();
    let own = union - shared;
    let tail = |from: usize, words: usize| -> String {
        (from..from + words).map(|place| word(start, shared + shingle + place)).collect()
    };
    [both.clone() + &tail(0, own.div_ceil(2)), both + &tail(own, own / 2)]
}

/// A word of 13 letters, and a blank.
fn word(start: u64, place: usize) -> String {
    let mut rest = hash::nth(place as u64 + 1, start);
    let letters = (0..13).map(|_| {
        let letter = b'a' + (rest % 26) as u8;
        rest /= 26;
        char::from(letter)
    });
    letters.chain([' ']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use lookalike::text::{Analyser, Features, Profile};
    use std::collections::BTreeSet;

    #[test]
    fn pairs_share_what_they_say() {
        for profile in Profile::all() {
            let mut analyser = Analyser::new(&profile);
            for (number, (union, shared, shingle)) in
                (0..).zip([(240, 180, 5), (20, 17, 5), (21, 10, 1), (40, 40, 3), (7, 0, 5)])
            {
                let sets = pair(1, number, union, shared, shingle).map(|text| {
                    let mut features = Features::default();
                    analyser.read(&text, &mut features);
                    features.grams(shingle).collect::<BTreeSet<u64>>()
                });
                let [a, b] = &sets;
                // Where nothing is shared, what stands in front is no shingle.
                assert_eq!((a.union(b).count(), a.intersection(b).count()), (union, shared));
            }
        }
        assert_ne!(pair(1, 1, 20, 10, 5), pair(1, 2, 20, 10, 5));
        assert_ne!(pair(1, 1, 20, 10, 5), pair(2, 1, 20, 10, 5));
    }
}
