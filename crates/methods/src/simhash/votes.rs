//! Votes: for each of 64 bits, whether more hashes have it than not.
//!
//! Counters lie across the words of an array: bit `i` of `planes[p]` is bit `p` of counter `i`. Adding a hash then is a
//! handful of logical operations for all 64 counters together, and so is the count at the end. Eight such sets of
//! counters lie side by side, each for one in eight hashes, so that the operations of all eight are one instruction
//! where the processor has such wide ones.

/// Sets of counters side by side.
const LANES: usize = 8;

/// Matches of two sets each, until one is left.
const MATCHES: usize = LANES.ilog2() as usize;

/// Hashes that a set takes before a carry runs on.
const ROUNDS: usize = 16;

/// Planes that such hashes are summed in.
const SUMS: usize = ROUNDS.ilog2() as usize;

/// Hashes that are added at a time.
pub(super) const BLOCK: usize = ROUNDS * LANES;

/// A word of each set.
type Lanes = [u64; LANES];

/// Counters of 64 bits.
#[derive(Debug, Default)]
pub(super) struct Votes {
    /// As many as the largest number has bits, or a few more.
    planes: Vec<Lanes>,
}

impl Votes {
    /// Forgets all hashes.
    pub(super) fn clear(&mut self) {
        self.planes.clear();
    }

    /// Adds hashes, each worth `2^plane`; those that are 0 change nothing. Inlined, so that it is compiled for the
    /// processor that its caller is compiled for.
    #[inline(always)]
    pub(super) fn add(&mut self, plane: usize, hashes: &[u64; BLOCK]) {
        if self.planes.len() < plane + SUMS {
            self.planes.resize(plane + SUMS, [0; LANES]);
        }
        // The lowest planes take sixteen hashes of each set before anything is carried out of them. So the
        // planes above, which grow with the document, are gone through once for a block and not once for a
        // hash.
        let (sums, higher) = self.planes[plane..].split_at_mut(SUMS);
        let mut carry = sum_all(sums, hashes);
        // All of them, without a look at whether anything is still carried: they are few, and where the last
        // of 512 carries ends cannot be guessed.
        for plane in higher {
            (*plane, carry) = add(*plane, carry, [0; LANES]);
        }
        if carry != [0; LANES] {
            self.planes.push(carry);
        }
    }

    /// Writes the counters of all sets together; `weight` is that of all hashes.
    #[inline(always)]
    pub(super) fn count(&self, weight: u64, count: &mut BitCounts) {
        count.weight = weight;
        // Two sets are added at a time, and two sums, as in a tournament; what each match carries goes to the next plane.
        // Eight sets have seven matches on each plane, and each match keeps its own carry.
        let mut carries = [[0; LANES / 2]; MATCHES];
        let planes = self.planes.iter().copied().chain(std::iter::repeat([0; LANES]));
        let used = count.used();
        for (sum, mut lanes) in count.planes[..used].iter_mut().zip(planes) {
            for (carries, left) in carries.iter_mut().zip([4, 2, 1]) {
                for place in 0..left {
                    (lanes[place], carries[place]) =
                        add_bits(lanes[place], lanes[place + left], carries[place]);
                }
            }
            *sum = lanes[0];
        }
    }
}

/// Numbers of hashes that have a bit, or their weights.
#[derive(Debug)]
pub(super) struct BitCounts {
    /// Those above [`BitCounts::used`] mean nothing.
    planes: [u64; 64],
    /// Of all hashes.
    weight: u64,
}

impl Default for BitCounts {
    fn default() -> Self {
        BitCounts { planes: [0; 64], weight: 0 }
    }
}

impl BitCounts {
    /// The bits that more than half of the hashes have.
    #[inline(always)]
    pub(super) fn majority(&self) -> u64 {
        // All 64 counters are compared with one number, from the highest plane down: `more` has those that
        // are above it already, `same` those that are equal so far. A tie is no majority, and half of an odd
        // weight is rounded down, so that "above half" is exact for both.
        let half = self.weight / 2;
        let (mut more, mut same) = (0, u64::MAX);
        for (place, &plane) in self.planes[..self.used()].iter().enumerate().rev() {
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
    pub(super) fn margin(&self, bit: usize) -> u64 {
        let planes = self.planes[..self.used()].iter().enumerate();
        let set: u64 = planes.map(|(place, plane)| (plane >> bit & 1) << place).sum();
        set.abs_diff(self.weight - set)
    }

    /// Planes that may be other than 0: no counter is above the weight.
    fn used(&self) -> usize {
        64 - self.weight.leading_zeros() as usize
    }
}

/// Adds the hashes of a block to counters of [`SUMS`] planes, and returns what they carry.
#[inline(always)]
fn sum_all(sums: &mut [Lanes], hashes: &[u64; BLOCK]) -> Lanes {
    let [ones, twos, fours, eights] = sums else { return [0; LANES] };
    let hashes: &[Lanes] = hashes.as_chunks().0;
    // Carry-save adders (Harley and Seal): two hashes go into the ones and leave a carry worth two; two of
    // these go into the twos, and so on. Sixteen hashes take fifteen full adders of five operations each,
    // where counting them one by one would take four half adders for each. The state stays in registers for
    // the whole block.
    let mut sixteen = [[0; LANES]; 2];
    for (eight, hashes) in sixteen.iter_mut().zip(hashes.as_chunks::<8>().0) {
        let [a, b, c, d, e, f, g, h] = *hashes;
        let (two, four) = (carry(ones, a, b), carry(ones, c, d));
        let low = carry(twos, two, four);
        let (six, all) = (carry(ones, e, f), carry(ones, g, h));
        let high = carry(twos, six, all);
        *eight = carry(fours, low, high);
    }
    carry(eights, sixteen[0], sixteen[1])
}

/// Adds `b` and `c` to `a`, single bits, and returns the carries.
#[inline(always)]
fn carry(a: &mut Lanes, b: Lanes, c: Lanes) -> Lanes {
    let (sum, carry) = add(*a, b, c);
    *a = sum;
    carry
}

/// Sums and carries of single bits.
#[inline(always)]
fn add(a: Lanes, b: Lanes, c: Lanes) -> (Lanes, Lanes) {
    let (mut sums, mut carries) = ([0; LANES], [0; LANES]);
    for lane in 0..LANES {
        (sums[lane], carries[lane]) = add_bits(a[lane], b[lane], c[lane]);
    }
    (sums, carries)
}

/// Sums and carries of single bits.
#[inline(always)]
fn add_bits(a: u64, b: u64, c: u64) -> (u64, u64) {
    // A full adder, for 64 counters at once; AVX-512 has both results as one instruction each.
    let half = a ^ b;
    (half ^ c, a & b | half & c)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn count(hashes: &[u64]) -> BitCounts {
        let mut votes = Votes::default();
        for some in hashes.chunks(BLOCK) {
            let mut block = [0; BLOCK];
            block[..some.len()].copy_from_slice(some);
            votes.add(0, &block);
        }
        counted(&votes, hashes.len() as u64)
    }

    fn counted(votes: &Votes, weight: u64) -> BitCounts {
        let mut count = BitCounts { planes: [u64::MAX; 64], weight: 7 };
        votes.count(weight, &mut count);
        count
    }

    fn plain(hashes: &[u64]) -> u64 {
        let vote = |bit: u64, hash: u64| if hash >> bit & 1 == 1 { 1 } else { -1 };
        let sum = |bit: u64| hashes.iter().map(|&hash| vote(bit, hash)).sum::<i64>();
        (0..64).fold(0, |bits, bit| bits | u64::from(sum(bit) > 0) << bit)
    }

    #[test]
    fn four_bits_of_the_rose() {
        let rose = [0b1010, 0b1010, 0b1010, 0b0110, 0b0110, 0b0110, 0b1100, 0b1100];
        let count = count(&rose);
        assert_eq!(count.majority(), 0b1110);
        // V = (2, 2, 4, -8), from the highest bit to the lowest.
        assert_eq!([3, 2, 1, 0].map(|bit| count.margin(bit)), [2, 2, 4, 8]);
    }

    #[test]
    fn a_tie_is_no_majority() {
        assert_eq!(count(&[0b1010, 0b0101]).majority(), 0);
        assert_eq!(count(&[]).majority(), 0);
    }

    #[test]
    fn carries_run_as_far_as_they_must() {
        let mut votes = Votes::default();
        for plane in [0, 3, 30, 47] {
            (0..300).for_each(|_| votes.add(plane, &[1 << 63 | 5; BLOCK]));
        }
        let each = 300 * BLOCK as u64;
        let weight = [0, 3, 30, 47].iter().map(|plane| each << plane).sum();
        let count = counted(&votes, weight);
        assert_eq!(count.majority(), 1 << 63 | 5);
        assert!((0..64).all(|bit| count.margin(bit) == weight));
        votes.clear();
        assert_eq!(counted(&votes, 1).majority(), 0);
    }

    proptest! {
        #[test]
        fn equals_counting_every_bit(hashes in prop::collection::vec(any::<u64>(), 0..400)) {
            let count = count(&hashes);
            prop_assert_eq!(count.majority(), plain(&hashes));
            for bit in 0..64 {
                let set = hashes.iter().filter(|&hash| hash >> bit & 1 == 1).count() as i64;
                prop_assert_eq!(count.margin(bit), (2 * set - hashes.len() as i64).unsigned_abs());
            }
        }

        #[test]
        fn equals_counting_few_kinds_of_hashes(kinds: [u64; 3], picks in prop::collection::vec(0usize..3, 0..3000)) {
            let hashes: Vec<u64> = picks.iter().map(|&pick| kinds[pick]).collect();
            prop_assert_eq!(count(&hashes).majority(), plain(&hashes));
        }
    }
}
