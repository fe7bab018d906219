//! Primes, and how many of them a random one must be drawn from.

use std::ops::Range;

use crate::seed::SeededRng;

/// The first primes, as divisors and as bases: as bases 13 of them are a proof below [`PROVEN_BELOW`], and all 40 leave
/// a doubt of less than 4^-40 beyond.
const SMALL_PRIMES: [u128; 40] = [
    2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97, 101, 103,
    107, 109, 113, 127, 131, 137, 139, 149, 151, 157, 163, 167, 173,
];

/// Below this, 13 bases are a proof (Sorenson, Webster 2015).
const PROVEN_BELOW: u128 = 3_317_044_064_679_887_385_961_981;

/// True for primes, of numbers up to 2^127: the test of Miller and Rabin.
pub(crate) fn is_prime(number: u128) -> bool {
    if let Some(divisor) = SMALL_PRIMES.iter().find(|&&prime| number.is_multiple_of(prime)) {
        return number == *divisor;
    }
    let twos = (number.max(2) - 1).trailing_zeros();
    let passes = |&base: &u128| {
        let mut power = pow_mod(base, (number - 1) >> twos, number);
        let mut squares = 1;
        while power != 1 && power != number - 1 && squares < twos {
            power = mul_mod(power, power, number);
            squares += 1;
        }
        power == number - 1 || power == 1 && squares == 1
    };
    number > 1 && SMALL_PRIMES[..if number < PROVEN_BELOW { 13 } else { 40 }].iter().all(passes)
}

fn pow_mod(mut base: u128, mut exponent: u128, modulus: u128) -> u128 {
    let mut power = 1;
    while exponent > 0 {
        if exponent & 1 == 1 {
            power = mul_mod(power, base, modulus);
        }
        base = mul_mod(base, base, modulus);
        exponent >>= 1;
    }
    power
}

/// A product modulo a number up to 2^127.
fn mul_mod(mut a: u128, mut b: u128, modulus: u128) -> u128 {
    if modulus >> 64 == 0 {
        return a * b % modulus;
    }
    let mut product = 0;
    while b > 0 {
        if b & 1 == 1 {
            product = (product + a) % modulus;
        }
        a = (a << 1) % modulus;
        b >>= 1;
    }
    product
}

/// A random odd prime out of a range that has some.
pub(crate) fn draw(range: Range<u128>, rng: &mut SeededRng) -> u128 {
    let bits = 128 - range.end.leading_zeros();
    loop {
        let drawn = rng.next_wide() >> (128 - bits) | 1;
        if range.contains(&drawn) && is_prime(drawn) {
            return drawn;
        }
    }
}

/// Returns the number of primes that a random one must be drawn from, so that two of `documents` different numbers of
/// `bits` bits have the same remainder with a probability of at most `error`: `m ≥ C(documents, 2) · bits / error`,
/// since the difference of two has at most `bits` prime factors.
pub(crate) fn primes_needed(documents: f64, bits: f64, error: f64) -> f64 {
    documents * (documents - 1.0) / 2.0 * bits / error
}

/// A little more than the `m`-th prime: `m (ln m + ln ln m)`.
pub(crate) fn mth_prime_bound(m: f64) -> f64 {
    let m = m.max(6.0);
    m * (m.ln() + m.ln().ln())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(count: usize) -> Vec<u128> {
        (2u128..).filter(|n| (2..*n).take_while(|d| d * d <= *n).all(|d| n % d != 0)).take(count).collect()
    }

    #[test]
    fn primes_are_those_without_divisors() {
        assert_eq!((0..8000).filter(|&n| is_prime(n)).take(1000).collect::<Vec<_>>(), first(1000));
        assert_eq!(first(40), SMALL_PRIMES);
        assert_eq!(first(40)[39], 173);
    }

    #[test]
    fn large_primes_are_known_and_their_products_too() {
        let (mersenne_61, mersenne_89, mersenne_107) = ((1 << 61) - 1, (1 << 89) - 1, (1 << 107) - 1);
        assert!([mersenne_61, mersenne_89, mersenne_107, (1 << 127) - 1].into_iter().all(is_prime));
        assert!(
            [(1 << 67) - 1, (1u128 << 101) - 1, mersenne_61 * 1_000_003].into_iter().all(|n| !is_prime(n))
        );
        // Passes for the bases 2 to 37, but not for 41.
        assert!(!is_prime(318_665_857_834_031_151_167_461));
        // Of Carmichael, and a square.
        assert!(!is_prime(561) && !is_prime(173 * 173) && !is_prime(179 * 179));
    }

    #[test]
    fn products_do_not_overflow() {
        let modulus = (1 << 127) - 1;
        assert_eq!(mul_mod(modulus - 1, modulus - 1, modulus), 1);
        assert_eq!(mul_mod(1 << 100, 1 << 100, modulus), 1 << 73);
        assert_eq!(pow_mod(3, 5, 1 << 70), 243);
    }

    #[test]
    fn a_million_pages_need_67_bits() {
        let m = primes_needed(1e6, 8192.0, 1e-3);
        assert!((m / 4.096e18 - 1.0).abs() < 1e-5, "{m}");
        assert!((mth_prime_bound(m) / 1.91e20 - 1.0).abs() < 1e-3, "{}", mth_prime_bound(m));
        assert!((mth_prime_bound(m).log2() - 67.4).abs() < 0.05, "{}", mth_prime_bound(m).log2());
    }

    #[test]
    fn enough_primes_are_below_the_bound() {
        for m in [6, 10, 40, 100, 1000] {
            assert!(first(m)[m - 1] as f64 <= mth_prime_bound(m as f64), "{m}");
        }
    }

    #[test]
    fn draws_are_primes_in_range() {
        let mut rng = SeededRng::new(1);
        let drawn: std::collections::BTreeSet<u128> = (0..300).map(|_| draw(3..101, &mut rng)).collect();
        assert_eq!(drawn.into_iter().collect::<Vec<_>>(), first(25)[1..]);
        let large = draw(1 << 110..1 << 111, &mut rng);
        assert!(is_prime(large) && large >> 110 == 1);
    }

    #[test]
    fn few_primes_take_two_numbers_for_one() {
        // 347 and 859 differ by 2^9, 1023 and 813 by 2·3·5·7.
        let collide = |a: u128, b: u128| first(100).into_iter().filter(|p| a % p == b % p).count();
        assert_eq!((collide(347, 859), collide(1023, 813)), (1, 4));
        // Of numbers of 10 bits, at most 10 of 100 primes: n/m = 0.1.
        assert!((0..1024).all(|a| collide(a, 1023) <= 10 || a == 1023));
    }
}
