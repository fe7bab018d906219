//! Votes: for each of 64 bits, whether more hashes have it than not.
//!
//! 64 counters lie across the words of an array: bit `i` of `planes[p]` is bit `p` of counter `i`. Adding a hash
//! then is a handful of logical operations for all 64 counters together, and so is the count at the end.

/// Enough for hashes of a weight of 2^56 together.
const PLANES: usize = 56;

/// Hashes that are added at a time.
pub(crate) const BLOCK: usize = 16;

/// Counters of 64 bits.
#[derive(Debug, Clone)]
pub(crate) struct Votes {
    planes: [u64; PLANES],
    /// Hashes so far, or their weight.
    count: u64,
}

impl Votes {
    pub(crate) fn new() -> Self {
        Votes { planes: [0; PLANES], count: 0 }
    }

    /// True when nothing was added.
    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Adds one hash.
    pub(crate) fn add(&mut self, hash: u64) {
        self.carry(0, hash);
        self.count += 1;
    }

    /// Adds one hash `weight` times.
    pub(crate) fn add_weighted(&mut self, hash: u64, weight: u64) {
        let mut left = weight;
        while left != 0 {
            self.carry(left.trailing_zeros() as usize, hash);
            left &= left - 1;
        }
        self.count += weight;
    }

    /// Adds several: those of equal weight are summed first, so that only one carry in sixteen runs on.
    #[inline]
    pub(crate) fn add_block(&mut self, hashes: &[u64; BLOCK]) {
        let [ones, twos, fours, eights, ..] = &mut self.planes;
        let mut pair = |a, b| sum(ones, hashes[a], hashes[b]);
        let mut four = |at| {
            let (a, b) = (pair(at, at + 1), pair(at + 2, at + 3));
            sum(twos, a, b)
        };
        let mut eight = |at| {
            let (a, b) = (four(at), four(at + 4));
            sum(fours, a, b)
        };
        let (a, b) = (eight(0), eight(8));
        let sixteen = sum(eights, a, b);
        self.carry(4, sixteen);
        self.count += BLOCK as u64;
    }

    /// Adds `bits`, each worth `2^plane`.
    #[inline]
    fn carry(&mut self, plane: usize, mut bits: u64) {
        for plane in &mut self.planes[plane..] {
            if bits == 0 {
                break;
            }
            (*plane, bits) = (*plane ^ bits, *plane & bits);
        }
    }

    /// The bits that more than half of the hashes have.
    pub(crate) fn majority(&self) -> u64 {
        let half = self.count / 2;
        let (mut more, mut same) = (0, u64::MAX);
        for (place, &plane) in self.planes.iter().enumerate().rev() {
            if half >> place & 1 == 0 {
                more |= same & plane;
                same &= !plane;
            } else {
                same &= plane;
            }
        }
        more
    }

    /// By how much more hashes have a bit than have not, or have not than have.
    pub(crate) fn margin(&self, bit: usize) -> u64 {
        let used = PLANES.min(64 - self.count.leading_zeros() as usize);
        let planes = self.planes[..used].iter().enumerate();
        let set: u64 = planes.map(|(place, plane)| (plane >> bit & 1) << place).sum();
        set.abs_diff(self.count - set)
    }
}

/// Adds `b` and `c` to `a`, 64 single bits each, and returns the carries.
#[inline]
fn sum(a: &mut u64, b: u64, c: u64) -> u64 {
    let half = *a ^ b;
    let carry = *a & b | half & c;
    *a = half ^ c;
    carry
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn majority(hashes: &[u64]) -> u64 {
        let mut votes = Votes::new();
        let (blocks, rest) = hashes.as_chunks();
        blocks.iter().for_each(|block| votes.add_block(block));
        rest.iter().for_each(|&hash| votes.add(hash));
        votes.majority()
    }

    fn plain(hashes: &[u64]) -> u64 {
        let vote = |bit: u64, hash: u64| if hash >> bit & 1 == 1 { 1 } else { -1 };
        let sum = |bit: u64| hashes.iter().map(|&hash| vote(bit, hash)).sum::<i64>();
        (0..64).fold(0, |bits, bit| bits | u64::from(sum(bit) > 0) << bit)
    }

    #[test]
    fn four_bits_of_the_rose() {
        let rose = [0b1010, 0b1010, 0b1010, 0b0110, 0b0110, 0b0110, 0b1100, 0b1100];
        assert_eq!(majority(&rose), 0b1110);
        let mut votes = Votes::new();
        [(0b1010, 3), (0b0110, 3), (0b1100, 2)]
            .into_iter()
            .for_each(|(hash, tf)| votes.add_weighted(hash, tf));
        assert_eq!(votes.majority(), 0b1110);
        // V = (2, 2, 4, -8), from the highest bit to the lowest.
        assert_eq!([3, 2, 1, 0].map(|bit| votes.margin(bit)), [2, 2, 4, 8]);
    }

    #[test]
    fn a_tie_is_no_majority() {
        assert_eq!(majority(&[0b1010, 0b0101]), 0);
        assert_eq!(majority(&[]), 0);
    }

    proptest! {
        #[test]
        fn equals_counting_every_bit(hashes in prop::collection::vec(any::<u64>(), 0..200)) {
            prop_assert_eq!(majority(&hashes), plain(&hashes));
        }

        #[test]
        fn weights_are_so_many_hashes(hashes in prop::collection::vec((any::<u64>(), 0u64..300), 0..30)) {
            let mut votes = Votes::new();
            hashes.iter().for_each(|&(hash, weight)| votes.add_weighted(hash, weight));
            let repeated: Vec<u64> =
                hashes.iter().flat_map(|&(hash, weight)| std::iter::repeat_n(hash, weight as usize)).collect();
            prop_assert_eq!(votes.majority(), plain(&repeated));
            for bit in 0..64 {
                let set = repeated.iter().filter(|&hash| hash >> bit & 1 == 1).count() as i64;
                prop_assert_eq!(votes.margin(bit), (2 * set - repeated.len() as i64).unsigned_abs());
            }
        }

        #[test]
        fn equals_counting_few_kinds_of_hashes(kinds: [u64; 3], picks in prop::collection::vec(0usize..3, 0..600)) {
            let hashes: Vec<u64> = picks.iter().map(|&pick| kinds[pick]).collect();
            prop_assert_eq!(majority(&hashes), plain(&hashes));
        }
    }
}
