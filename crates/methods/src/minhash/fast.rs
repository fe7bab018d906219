//! The fast family: as good as one independent function per value, at about one hash per shingle.
//!
//! Fast Similarity Sketching (Dahlgaard, Knudsen, Thorup 2017). There are as many bins as values, and rounds until
//! no bin is empty. In each of the first rounds, one per value, every shingle is hashed into one bin; later rounds
//! take all shingles into one bin each, in order. A bin keeps the least hash of the first round that reached it.
//! Long documents fill all bins in the first round. Short ones need more rounds, but have few shingles to go
//! through. The share of equal bins is an unbiased estimate of the Jaccard similarity with a variance not above that
//! of independent functions.

use lookalike_hash::{self as hash, Grams};

use super::MinimaBuffers;

/// A bin that no round has reached; no hash counts that is as large.
const EMPTY: u64 = u64::MAX;

/// Shingles per value from which a second round is too rare to keep them for it: one in a million documents has one.
const SINGLE_ROUND_RATIO: usize = 20;

/// Shingles that are hashed together where they are not kept: few enough to stay near the processor.
const CHUNK: usize = 1024;

/// Fills `buffers.minima` with the sketch of `shingles`, of which there is at least one. Repeated shingles change
/// nothing.
pub(crate) fn minima(mut shingles: Grams<'_>, values: usize, salt: u64, buffers: &mut MinimaBuffers) {
    let MinimaBuffers { minima: bins, elements, hashes, open } = buffers;
    bins.clear();
    bins.resize(values, EMPTY);
    elements.clear();
    let all = shingles.clone();
    // Later rounds go through the shingles again, so they are kept where such a round is likely. Where it is
    // not they pass through the cache in chunks, and are made anew in the one case in a million.
    let chunk = if shingles.len() < SINGLE_ROUND_RATIO * values { usize::MAX } else { CHUNK };
    while shingles.len() > 0 {
        elements.clear();
        shingles.take_into(chunk, elements);
        first_round(elements, hashes, bins, salt);
    }
    let missing = bins.iter().filter(|&&bin| bin == EMPTY).count();
    if missing > 0 {
        if chunk == CHUNK {
            elements.clear();
            elements.extend(all);
        }
        let missing = scattered_rounds(elements, hashes, bins, open, salt, missing);
        if missing > 0 {
            closing_rounds(elements, bins, salt);
        }
    }
    // Minima are small numbers, and those of one bin begin alike: no bits to build keys and payloads of.
    hash::mixed(bins, 0, hashes);
    bins.copy_from_slice(hashes);
}

/// Returns the key that elements are XORed with before they are mixed in a round; rounds count from 0.
#[inline]
fn key_in(round: usize, salt: u64) -> u64 {
    hash::key_of(round as u64 + 1) ^ salt
}

/// The bin that a hash falls into: by its high bits, so that order within a bin is order of the whole hash.
#[inline]
fn bin_of(hash: u64, bins: usize) -> usize {
    // A product in place of a remainder: a division takes several times as long, and any number of bins will
    // do.
    ((u128::from(hash) * bins as u128) >> 64) as usize
}

/// The round in which nearly all the time goes, for documents of more than a few hundred words.
fn first_round(elements: &[u64], hashes: &mut Vec<u64>, bins: &mut [u64], salt: u64) {
    hash::mixed(elements, key_in(0, salt), hashes);
    let count = bins.len();
    assert!(count > 0);
    for &hash in &*hashes {
        // SAFETY: a hash is below 2^64 and `count` above 0, so that `hash * count / 2^64` is below `count`.
        let bin = unsafe { bins.get_unchecked_mut(bin_of(hash, count)) };
        // Always written: whether a hash is less than its bin's cannot be guessed.
        *bin = hash.min(*bin);
    }
}

/// The other rounds that hash every element into one bin; returns how many bins are still missing.
fn scattered_rounds(
    elements: &[u64],
    hashes: &mut Vec<u64>,
    bins: &mut [u64],
    open: &mut Vec<u8>,
    salt: u64,
    mut missing: usize,
) -> usize {
    let count = bins.len();
    // A bin that an earlier round has reached is closed.
    open.clear();
    open.extend(bins.iter().map(|&bin| u8::from(bin == EMPTY)));
    for round in 1..count {
        hash::mixed(elements, key_in(round, salt), hashes);
        let found = compact_open(hashes, open);
        for &hash in &hashes[..found] {
            let bin = &mut bins[bin_of(hash, count)];
            missing -= usize::from(*bin == EMPTY);
            *bin = hash.min(*bin);
        }
        if missing == 0 {
            break;
        }
        // Only now: all hashes of a round are for a bin that was open when it began.
        for &hash in &hashes[..found] {
            open[bin_of(hash, count)] = 0;
        }
    }
    missing
}

/// Moves the hashes that fall into open bins to the front; returns how many. Whether one does cannot be guessed, so all
/// are written.
fn compact_open(hashes: &mut [u64], open: &[u8]) -> usize {
    assert!(!open.is_empty());
    let mut found = 0;
    for index in 0..hashes.len() {
        // SAFETY: each turn finds one at most, so that `found` is at most `index`; and a bin is below the
        // number of bins, which is not 0.
        unsafe {
            let hash = *hashes.get_unchecked(index);
            *hashes.get_unchecked_mut(found) = hash;
            found += usize::from(*open.get_unchecked(bin_of(hash, open.len())) & 1);
        }
    }
    found
}

/// The rounds that take all elements into one bin each. A bin that is full stays as it is.
fn closing_rounds(elements: &[u64], bins: &mut [u64], salt: u64) {
    let count = bins.len();
    for (index, bin) in bins.iter_mut().enumerate().filter(|(_, bin)| **bin == EMPTY) {
        let key = key_in(count + index, salt);
        *bin = elements.iter().fold(EMPTY, |least, &element| least.min(hash::mix(element ^ key)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The sketch as its paper defines it, with no thought of speed.
    fn plain(set: &[u64], values: usize, salt: u64) -> Vec<u64> {
        let mut bins: Vec<Option<(usize, u64)>> = vec![None; values];
        for round in 0..2 * values {
            for &element in set {
                let hash = hash::nth(round as u64 + 1, element ^ salt);
                let scattered = ((u128::from(hash) * values as u128) >> 64) as usize;
                let bin = &mut bins[if round < values { scattered } else { round - values }];
                *bin = Some(bin.map_or((round, hash), |least| least.min((round, hash))));
            }
            if bins.iter().all(Option::is_some) {
                break;
            }
        }
        bins.into_iter().map(|bin| hash::mix(bin.unwrap().1)).collect()
    }

    fn sketch(set: &[u64], values: usize, salt: u64) -> Vec<u64> {
        let mut buffers = MinimaBuffers::default();
        minima(Grams::new(set, 1), values, salt, &mut buffers);
        buffers.minima
    }

    proptest! {
        #[test]
        fn equals_the_definition(set in prop::collection::vec(any::<u64>(), 1..300), values in 1usize..150, salt: u64) {
            prop_assert_eq!(sketch(&set, values, salt), plain(&set, values, salt));
        }

        #[test]
        fn few_elements_equal_the_definition(set in prop::collection::vec(any::<u64>(), 1..4), values in 1usize..70) {
            prop_assert_eq!(sketch(&set, values, 0), plain(&set, values, 0));
        }

        #[test]
        fn order_and_repetition_do_not_matter(mut set in prop::collection::vec(any::<u64>(), 1..50)) {
            let before = sketch(&set, 64, 0);
            set.extend_from_within(..);
            set.reverse();
            prop_assert_eq!(sketch(&set, 64, 0), before);
        }
    }

    #[test]
    fn a_long_document_of_few_shingles_is_sketched_like_a_short_one() {
        let few = [3, 5, 8].map(hash::mix);
        assert_eq!(sketch(&few.repeat(SINGLE_ROUND_RATIO * 64), 64, 9), plain(&few, 64, 9));
    }

    /// Two sets whose union has `size` elements and of which `shared` are in both; no two `number`s share any.
    fn pair(size: usize, shared: usize, number: u64) -> (Vec<u64>, Vec<u64>) {
        let element = |index: usize| hash::mix(number << 20 | index as u64);
        let both = (0..shared).map(element);
        let left = both.clone().chain((shared..size).step_by(2).map(element)).collect();
        let right = both.chain((shared + 1..size).step_by(2).map(element)).collect();
        (left, right)
    }

    const VALUES: usize = 128;

    /// Estimates of many pairs of sets: their bias in standard errors, and their variance as a part of what
    /// independent functions would have.
    fn quality(size: usize, shared: usize, trials: u64) -> (f64, f64) {
        let jaccard = shared as f64 / size as f64;
        let expected = jaccard * (1.0 - jaccard) / VALUES as f64;
        let (mut one, mut two) = (MinimaBuffers::default(), MinimaBuffers::default());
        let (mut sum, mut squares) = (0.0, 0.0);
        for trial in 0..trials {
            let (left, right) = pair(size, shared, trial);
            minima(Grams::new(&left, 1), VALUES, 0, &mut one);
            minima(Grams::new(&right, 1), VALUES, 0, &mut two);
            let equal = one.minima.iter().zip(&two.minima).filter(|(a, b)| a == b).count();
            let error = equal as f64 / VALUES as f64 - jaccard;
            sum += error;
            squares += error * error;
        }
        let trials = trials as f64;
        let bias = sum / trials / (expected / trials).sqrt();
        (bias, squares / trials / expected)
    }

    /// Checks bias and variance of sets of this size for several similarities.
    fn check(size: usize, trials: u64) {
        let mut shared: Vec<usize> =
            [0.2, 0.5, 0.8, 0.95].iter().map(|jaccard| (jaccard * size as f64).round() as usize).collect();
        shared.retain(|&shared| shared < size);
        for shared in shared {
            let (bias, variance) = quality(size, shared, trials);
            let jaccard = shared as f64 / size as f64;
            report(&format!("{size:6} {jaccard:.2} bias {bias:5.2} errors, variance {variance:.3}"));
            assert!(bias.abs() < 4.5, "{size} elements at {jaccard}: {bias} standard errors off");
            assert!(variance < 1.10, "{size} elements at {jaccard}: variance is {variance} of what is due");
        }
    }

    #[expect(clippy::print_stdout, reason = "figures of an ignored test that a person runs to read them")]
    fn report(line: &str) {
        println!("{line}");
    }

    #[test]
    fn estimates_are_unbiased_and_vary_no_more_than_independent_ones() {
        // 4000 trials leave an error of 2 % in the variance.
        for size in [5, 20, 100, 1000] {
            check(size, 4000);
        }
    }

    #[test]
    fn estimates_of_long_documents_are_unbiased_too() {
        let (bias, variance) = quality(10_000, 8_000, 1500);
        assert!(bias.abs() < 4.5 && variance < 1.15, "{bias} {variance}");
    }

    #[test]
    #[ignore = "a quarter of a minute in release"]
    fn estimates_hold_for_all_sizes() {
        for (size, trials) in
            [(5, 100_000), (20, 100_000), (100, 100_000), (1000, 20_000), (10_000, 10_000), (50_000, 3_000)]
        {
            check(size, trials);
        }
    }
}
