//! Sets of numbers below a bound, a bit for each.

/// A set of numbers from 0 on, with a bit for each number below a bound.
#[derive(Debug, Clone)]
pub struct Bits(Vec<u64>);

impl Bits {
    /// An empty set of numbers below `bound`.
    pub fn new(bound: impl Into<u64>) -> Self {
        Bits(vec![0; bound.into().div_ceil(64) as usize])
    }

    /// True for a number of the set; false for one beyond the bound.
    #[inline]
    pub fn get(&self, number: impl Into<u64>) -> bool {
        let number = number.into();
        self.0.get((number / 64) as usize).is_some_and(|word| word >> (number % 64) & 1 == 1)
    }

    /// Adds a number.
    ///
    /// # Panics
    /// When the number is beyond the bound.
    #[inline]
    pub fn set(&mut self, number: impl Into<u64>) {
        let number = number.into();
        self.0[(number / 64) as usize] |= 1 << (number % 64);
    }

    /// Adds a number; false when it was there.
    ///
    /// # Panics
    /// When the number is beyond the bound.
    #[inline]
    pub fn insert(&mut self, number: impl Into<u64>) -> bool {
        let number = number.into();
        let new = !self.get(number);
        self.set(number);
        new
    }

    /// Number of numbers in the set.
    pub fn count(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }
}

/// A set of numbers, each with its rank among them. Costs a bit and a half for each number below the bound.
#[derive(Debug)]
pub struct RankedBits {
    bits: Bits,
    /// Numbers of the set before each word of bits.
    before: Vec<u32>,
}

impl RankedBits {
    /// Ranks the numbers of a set.
    pub fn new(bits: Bits) -> Self {
        let count = |count: &mut u32, word: &u64| {
            let before = *count;
            *count += word.count_ones();
            Some(before)
        };
        let before = bits.0.iter().scan(0, count).collect();
        RankedBits { bits, before }
    }

    /// Returns the rank of a number below the bound: the count of smaller numbers in the set.
    #[inline]
    pub fn rank(&self, number: u32) -> u32 {
        let word = number as usize / 64;
        self.before[word] + (self.bits.0[word] & ((1 << (number % 64)) - 1)).count_ones()
    }

    /// All numbers of the set, in order.
    pub fn numbers(&self) -> Vec<u32> {
        let of_word = |(index, &word): (usize, &u64)| {
            let mut rest = word;
            std::iter::from_fn(move || {
                let bit = (rest != 0).then(|| rest.trailing_zeros())?;
                rest &= rest - 1;
                Some(index as u32 * 64 + bit)
            })
        };
        self.bits.0.iter().enumerate().flat_map(of_word).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn ranks_count(numbers in prop::collection::btree_set(0u32..500, 0..60)) {
            let mut bits = Bits::new(500u32);
            numbers.iter().for_each(|&number| bits.set(number));
            let ranks = RankedBits::new(bits);
            prop_assert_eq!(ranks.numbers(), numbers.iter().copied().collect::<Vec<_>>());
            for number in 0..500 {
                prop_assert_eq!(ranks.rank(number) as usize, numbers.range(..number).count());
            }
        }
    }

    #[test]
    fn bits_are_set_one_by_one() {
        let mut bits = Bits::new(130u32);
        assert_eq!(bits.count(), 0);
        for number in [0u32, 63, 64, 129] {
            assert!(!bits.get(number));
            bits.set(number);
            bits.set(number);
        }
        assert_eq!((0..1000u32).filter(|&number| bits.get(number)).collect::<Vec<_>>(), [0, 63, 64, 129]);
        assert_eq!(bits.count(), 4);
    }

    #[test]
    fn numbers_are_added_once() {
        let mut bits = Bits::new(70u64);
        assert!(bits.insert(0u64) && bits.insert(69u64) && !bits.insert(69u64));
        assert_eq!((0..80u64).filter(|&number| bits.get(number)).collect::<Vec<_>>(), [0, 69]);
    }

    #[test]
    fn no_number_beyond_the_bound_is_in_a_set() {
        let bits = Bits::new(0u64);
        assert_eq!([0, 63, 64, u64::MAX].map(|number| bits.get(number)), [false; 4]);
    }

    #[test]
    #[should_panic(expected = "out of bounds")]
    fn no_number_beyond_the_bound_is_added() {
        Bits::new(64u32).set(64u32);
    }
}
