//! Polynomials over the field of two elements, and the remainders that they leave: Rabin's fingerprints.
//!
//! A string of bits is a polynomial `A(t)`, its first bit the coefficient of the highest power. Its fingerprint is
//! `A(t) mod P(t)` for an irreducible `P` of degree `k` (Rabin 1981). Among `s` strings of at most `b` bits, any two have
//! the same fingerprint by a random `P` with a probability under `s² b / 2^k`.

use crate::seed::SeededRng;

/// A polynomial of a degree from 1 to 127.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Polynomial {
    degree: u32,
    /// Coefficients below the highest power; the constant is the lowest bit.
    rest: u128,
}

/// t^64 + t^4 + t^3 + t + 1.
pub(crate) const P64: Polynomial = Polynomial { degree: 64, rest: 0b11011 };

impl Polynomial {
    /// An irreducible polynomial of a degree from 2, drawn at random.
    pub(crate) fn irreducible(degree: u32, rng: &mut SeededRng) -> Self {
        loop {
            // Without a constant it would be a multiple of t.
            let rest = rng.next_wide() & ((1 << degree) - 1) | 1;
            let drawn = Polynomial { degree, rest };
            if drawn.is_irreducible() {
                return drawn;
            }
        }
    }

    pub(crate) fn degree(self) -> u32 {
        self.degree
    }

    /// Rabin's test: `t^(2^k) = t` modulo P, and P has no factor in common with `t^(2^(k/q)) - t` for any prime `q`
    /// that divides `k`.
    pub(crate) fn is_irreducible(self) -> bool {
        let whole = 1 << self.degree | self.rest;
        // An even number of terms is a multiple of t + 1.
        if self.degree > 1 && (self.rest & 1 == 0 || whole.count_ones().is_multiple_of(2)) {
            return false;
        }
        let t = self.remainder(0b10);
        let raised = |times: u32| (0..times).fold(t, |power, _| self.times(power, power));
        let shares_no_factor = |prime: u32| gcd(whole, raised(self.degree / prime) ^ t) == 1;
        raised(self.degree) == t && prime_factors(self.degree).all(shares_no_factor)
    }

    /// Returns the remainder of a polynomial of degree at most 127.
    fn remainder(self, value: u128) -> u128 {
        modulo(value, 1 << self.degree | self.rest)
    }

    /// A remainder times t.
    fn shifted(self, value: u128) -> u128 {
        let overflows = value >> (self.degree - 1) & 1 == 1;
        let shifted = value << 1 & ((1 << self.degree) - 1);
        if overflows { shifted ^ self.rest } else { shifted }
    }

    /// The product of two remainders.
    fn times(self, a: u128, mut b: u128) -> u128 {
        let (mut product, mut power) = (0, a);
        while b != 0 {
            product ^= if b & 1 == 1 { power } else { 0 };
            power = self.shifted(power);
            b >>= 1;
        }
        product
    }

    /// A remainder times t, this many times.
    pub(crate) fn raised(self, value: u128, times: u32) -> u128 {
        (0..times).fold(value, |value, _| self.shifted(value))
    }
}

/// Reduces `value` by a polynomial with all of its terms.
fn modulo(mut value: u128, by: u128) -> u128 {
    while value.leading_zeros() <= by.leading_zeros() {
        value ^= by << (by.leading_zeros() - value.leading_zeros());
    }
    value
}

fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, modulo(a, b));
    }
    a
}

/// The primes that divide a small number.
fn prime_factors(number: u32) -> impl Iterator<Item = u32> {
    let is_prime = |n: u32| (2..n).all(|divisor| !n.is_multiple_of(divisor));
    (2..=number).filter(move |&n| number.is_multiple_of(n) && is_prime(n))
}

/// Fingerprints of bytes by one polynomial of a degree from 8, a byte at a time.
#[derive(Debug)]
pub(crate) struct Fingerprints {
    degree: u32,
    /// For each value of the eight highest bits of a remainder, the remainder that they become when a byte enters.
    table: Box<[u128; 256]>,
}

impl Fingerprints {
    pub(crate) fn new(polynomial: Polynomial) -> Self {
        let mut table = Box::new([0; 256]);
        for (value, entry) in (0..).zip(table.iter_mut()) {
            // 8 bits are a remainder already; times t^k.
            *entry = polynomial.raised(polynomial.remainder(value), polynomial.degree);
        }
        Fingerprints { degree: polynomial.degree, table }
    }

    /// The fingerprint of what `state` is that of, and `bytes` behind it. That of nothing is 0.
    pub(crate) fn extend(&self, state: u128, bytes: &[u8]) -> u128 {
        let mask = (1 << self.degree) - 1;
        bytes.iter().fold(state, |state, &byte| {
            let leaving = (state >> (self.degree - 8)) as usize & 0xff;
            (state << 8 | u128::from(byte)) & mask ^ self.table[leaving]
        })
    }
}

/// Fingerprints of all substrings of a fixed length, each from the one before.
#[derive(Debug)]
pub(crate) struct Windows {
    fingerprints: Fingerprints,
    width: usize,
    /// For each byte, its part of the fingerprint after it has left the window.
    leaving: Box<[u128; 256]>,
}

impl Windows {
    pub(crate) fn new(polynomial: Polynomial, width: usize) -> Self {
        let fingerprints = Fingerprints::new(polynomial);
        let behind = |bit: u8| {
            (0..width).fold(fingerprints.extend(0, &[1 << bit]), |state, _| fingerprints.extend(state, &[0]))
        };
        let bits: Vec<u128> = (0..8).map(behind).collect();
        let mut leaving = Box::new([0; 256]);
        for (byte, entry) in leaving.iter_mut().enumerate() {
            let set = bits.iter().enumerate().filter(|(bit, _)| byte >> bit & 1 == 1);
            *entry = set.fold(0, |sum, (_, value)| sum ^ value);
        }
        Windows { fingerprints, width, leaving }
    }

    /// Bytes of a substring.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// The fingerprints of all substrings, in order.
    pub(crate) fn values(&self, bytes: &[u8]) -> impl Iterator<Item = u128> {
        let (front, rest) = bytes.split_at(self.width.min(bytes.len()));
        let first = (front.len() == self.width).then(|| self.fingerprints.extend(0, front));
        let mut state = first.unwrap_or_default();
        let later = bytes.iter().zip(rest).map(move |(&leaves, &enters)| {
            state = self.fingerprints.extend(state, &[enters]) ^ self.leaving[usize::from(leaves)];
            state
        });
        first.into_iter().chain(later)
    }
}

/// A remainder of 64-bit values by an irreducible polynomial of degree 64, as a function for minima: `x(t)·t^64 mod P`.
/// Without the factor every value would be its own remainder.
#[derive(Debug)]
pub(crate) struct Function {
    /// For each four bits of the value, the remainders that their 16 values add.
    tables: Box<[[u64; 16]; 16]>,
}

impl Function {
    /// Bytes of memory that one takes.
    pub(crate) const BYTES: u64 = (size_of::<[[u64; 16]; 16]>() + size_of::<Self>()) as u64;

    /// The function of a polynomial drawn at random.
    pub(crate) fn draw(rng: &mut SeededRng) -> Self {
        Function::new(Polynomial::irreducible(64, rng))
    }

    fn new(polynomial: Polynomial) -> Self {
        let mut tables = Box::new([[0; 16]; 16]);
        for (place, table) in (0..).zip(tables.iter_mut()) {
            for (bits, entry) in (0u128..).zip(table.iter_mut()) {
                *entry = polynomial.raised(bits << (4 * place), 64) as u64;
            }
        }
        Function { tables }
    }

    #[inline]
    pub(crate) fn of(&self, value: u64) -> u64 {
        let parts = (0..).zip(self.tables.iter());
        parts.fold(0, |sum, (place, table)| sum ^ table[(value >> (4 * place)) as usize & 15])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// t^8 + t^4 + t^3 + t + 1.
    const P8: Polynomial = Polynomial { degree: 8, rest: 0b11011 };

    /// The fingerprint by its definition, bit by bit.
    fn plain(polynomial: Polynomial, bytes: &[u8]) -> u128 {
        let bits = bytes.iter().flat_map(|byte| (0..8).rev().map(move |place| byte >> place & 1));
        bits.fold(0, |state, bit| polynomial.shifted(state) ^ u128::from(bit))
    }

    #[test]
    fn remainders_are_the_published_ones() {
        let t3 = Polynomial { degree: 3, rest: 0b011 };
        assert_eq!(t3.remainder(0b11_0100_1110_1100), 0b101);
        let eight = |bytes: &[u8]| Fingerprints::new(P8).extend(0, bytes);
        assert_eq!([&b"a"[..], b"ab", b"abc"].map(eight), [0x61, 0xae, 0x83]);
        assert_eq!([&b"\x01a"[..], b"\x01ab", b"\x01abc"].map(eight), [0x7a, 0xf0, 0x30]);
        assert_eq!(Windows::new(P8, 4).values(b"abcdef").collect::<Vec<_>>(), [0x66, 0xb6, 0x9c]);
        let wide = |bytes: &[u8]| Fingerprints::new(P64).extend(1, bytes);
        assert_eq!(wide(b"abc"), 0x0000_0000_0161_6263);
        assert_eq!(wide(b"a rose is a"), 0x6f73_6520_77cb_4447);
    }

    #[test]
    fn thirty_polynomials_of_degree_8_are_irreducible() {
        let count = |degree| {
            (0..1u128 << degree).filter(|&rest| Polynomial { degree, rest }.is_irreducible()).count()
        };
        // Gauss: the sum of mu(k/d) 2^d over the divisors of k, by k.
        assert_eq!([1, 2, 3, 4, 5, 6, 8, 10, 12].map(count), [2, 1, 2, 3, 6, 9, 30, 99, 335]);
        assert!(!Polynomial { degree: 4, rest: 0b101 }.is_irreducible());
        assert!(P8.is_irreducible() && P64.is_irreducible());
    }

    #[test]
    fn irreducible_means_no_factor() {
        for rest in 0..256u128 {
            let whole = 1 << 8 | rest;
            let has_factor = (2..1 << 5).any(|factor| modulo(whole, factor) == 0);
            assert_eq!(Polynomial { degree: 8, rest }.is_irreducible(), !has_factor, "{rest:b}");
        }
    }

    #[test]
    fn random_polynomials_are_irreducible_and_follow_from_the_seed() {
        let drawn = |degree, seed| Polynomial::irreducible(degree, &mut SeededRng::new(seed));
        for degree in [8, 13, 64, 100, 127] {
            assert!(drawn(degree, 1).is_irreducible() && drawn(degree, 1).degree() == degree);
            assert_eq!(drawn(degree, 1), drawn(degree, 1));
        }
        assert_ne!(drawn(64, 1), drawn(64, 2));
    }

    #[test]
    fn collisions_are_as_rare_as_the_bound_says() {
        // 40 strings of 5 bytes by polynomials of degree 16: under 40² · 40 / 2^16 = 0.977 by the bound.
        let mut rng = SeededRng::new(1);
        let strings: Vec<[u8; 5]> =
            (0..40).map(|_| rng.next().to_le_bytes()[..5].try_into().unwrap()).collect();
        let collided = (0..200)
            .filter(|_| {
                let by = Fingerprints::new(Polynomial::irreducible(16, &mut rng));
                let mut all: Vec<u128> = strings.iter().map(|bytes| by.extend(0, bytes)).collect();
                all.sort_unstable();
                all.dedup();
                all.len() < strings.len()
            })
            .count();
        assert!((collided as f64) < 200.0 * 0.977, "{collided} of 200");
        // A random function of 16 bits would have two alike in 1.2 percent of the cases: 780 / 65536.
        assert!(collided <= 10, "{collided} of 200");
    }

    #[test]
    fn two_thousand_million_shingles_collide_one_time_in_ten() {
        // Birthdays: 1.97·10^9 different shingles with fingerprints of 64 bits.
        let pairs = 1.97e9f64 * (1.97e9 - 1.0) / 2.0;
        let collide = -(-pairs / 64f64.exp2()).exp_m1();
        assert!((collide - 0.1).abs() < 0.5e-3, "{collide}");
    }

    proptest! {
        #[test]
        fn tables_equal_shifting_bit_by_bit(degree in 8u32..=127, seed in 0u64..4, bytes: Vec<u8>) {
            let polynomial = Polynomial::irreducible(degree, &mut SeededRng::new(seed));
            prop_assert_eq!(Fingerprints::new(polynomial).extend(0, &bytes), plain(polynomial, &bytes));
        }

        #[test]
        fn windows_roll(degree in 8u32..=127, width in 1usize..9, bytes: Vec<u8>) {
            let polynomial = Polynomial::irreducible(degree, &mut SeededRng::new(1));
            let every: Vec<u128> = bytes.windows(width).map(|window| plain(polynomial, window)).collect();
            prop_assert_eq!(Windows::new(polynomial, width).values(&bytes).collect::<Vec<_>>(), every);
        }

        #[test]
        fn functions_are_remainders_of_a_value_with_zeros_behind(value: u64, seed in 0u64..4) {
            let polynomial = Polynomial::irreducible(64, &mut SeededRng::new(seed));
            let bytes = [value.to_be_bytes(), [0; 8]].concat();
            prop_assert_eq!(u128::from(Function::new(polynomial).of(value)), plain(polynomial, &bytes));
        }
    }
}
