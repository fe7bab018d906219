//! `rabin-minhash`: shingles as large numbers; their least remainders by random primes are compared.
//!
//! Value `i` is the least remainder of any shingle by the prime `p_i`, where a shingle is the number that its bytes spell
//! (Rabin min-hashing, as taught with Rabin's fingerprints). The share of equal values estimates resemblance, with no
//! promise: remainders are no min-wise independent family of functions.
//!
//! The number of a shingle follows from those of two beginnings of the text: `F(end) − F(start) · 256^(end − start)`.

use lookalike_model::{Recipe, Similarity, Threshold};

use crate::minhash::bands::{self, Bands, MAX_VALUES};
use crate::minhash::{MinimaBuffers, classic};
use crate::seed::SeededRng;
use crate::{
    Abilities, About, Advising, Method, MethodError, Page, Score, Setting, Sketch, Spec, chance, parameters,
    prime, seed,
};

const VERSION: u32 = 1;

/// Powers of 256 that are kept for each prime: a shingle is rarely longer.
const POWERS: usize = 256;

/// Bytes of a number that need not be reduced before it is added to a product of remainders.
const PIECE_BYTES: usize = 7;

/// Primes that remainders are taken by at a time.
const LANES: usize = 4;

/// Primes have 31 bits.
const PRIMES: std::ops::Range<u128> = 1 << 30..1 << 31;

/// The description of the method that `lookalike methods` shows.
pub(crate) const ABOUT: About = About {
    name: "rabin-minhash",
    aliases: &[],
    summary: "the least remainders of shingles, read as large numbers, by random primes",
    source: "after Rabin 1981 and Broder 1997",
    formula: "\
m_i = min over shingles s of (s mod p_i), s = the bytes of the shingle as one number, p_i random primes of 31 bits
estimate = #{i: equal} / r; keys: bands of m_i; accept: estimate >= threshold",
    example: "lookalike pairs --method rabin-minhash:values=200 --unverified docs.jsonl -o pairs.jsonl",
    parameters: &[
        ("values", "remainders of a document: number of primes"),
        ("of", "bytes (words with one blank between them), or hash for the shingle's 64-bit hash, which is faster"),
        ("bands", "keys of a document; from threshold and recall unless given"),
        ("rows", "remainders of a band; from threshold and recall unless given"),
        ("shingle", "words per shingle; the run's"),
        ("threshold", "least estimate of a near-duplicate; the run's"),
        ("seed", "of the primes"),
    ],
    make: RabinMinHash::make,
};

/// A prime of 31 bits, with what makes taking remainders fast.
#[derive(Debug)]
struct Divisor {
    prime: u64,
    /// 2^64 divided by the prime.
    reciprocal: u64,
    /// Remainders of 256^0, 256^1, …
    powers: Box<[u64; POWERS]>,
}

impl Divisor {
    fn new(prime: u64) -> Self {
        let mut divisor = Divisor { prime, reciprocal: u64::MAX / prime, powers: Box::new([1; POWERS]) };
        for place in 1..POWERS {
            divisor.powers[place] = divisor.remainder(divisor.powers[place - 1] << 8);
        }
        divisor
    }

    /// The remainder, or that and the prime: Barrett's way, with a quotient by multiplication that is at most one too low.
    #[inline]
    fn partial_remainder(&self, number: u64) -> u64 {
        let quotient = ((u128::from(number) * u128::from(self.reciprocal)) >> 64) as u64;
        number - quotient * self.prime
    }

    #[inline]
    fn remainder(&self, number: u64) -> u64 {
        let rest = self.partial_remainder(number);
        if rest >= self.prime { rest - self.prime } else { rest }
    }

    /// The remainder of `256^exponent`.
    #[inline]
    fn power(&self, mut exponent: usize) -> u64 {
        let mut power = 1;
        while exponent >= POWERS {
            power = self.remainder(power * self.powers[POWERS - 1]);
            exponent -= POWERS - 1;
        }
        if power == 1 { self.powers[exponent] } else { self.remainder(power * self.powers[exponent]) }
    }
}

/// The least remainders of all windows of `shingle` words by some primes at a time, which need not wait for each other.
/// `ends` is a buffer for remainders of the text up to each piece's end.
fn min_remainders<const LANES: usize>(
    divisors: &[Divisor; LANES],
    pieces: &[u64],
    words: &[u32],
    shingle: usize,
    ends: &mut [u64],
) -> [u64; LANES] {
    let (ends, _) = ends.as_chunks_mut::<LANES>();
    let mut state = [0; LANES];
    for (place, piece) in ends.iter_mut().zip(pieces) {
        let (number, length) = (piece >> 8, (piece & 0xff) as usize);
        for (end, divisor) in state.iter_mut().zip(divisors) {
            // Both parts are below 2^63, so that there is room for the sum.
            *end = divisor.partial_remainder(*end * divisor.powers[length] + number);
        }
        *place = state;
    }
    let (words, _) = words.as_chunks::<2>();
    let first = ends[words[shingle - 1][0] as usize];
    let mut least = std::array::from_fn(|lane| divisors[lane].remainder(first[lane]));
    for window in words.windows(shingle + 1) {
        let ([before, start], [last, end]) = (window[0], window[shingle]);
        let width = (end - start) as usize;
        for (lane, divisor) in divisors.iter().enumerate() {
            // The text up to the window, and the blank that begins the width.
            let before = ends[before as usize][lane] * divisor.power(width);
            let before = divisor.partial_remainder(before + u64::from(b' ') * divisor.power(width - 1));
            let rest = ends[last as usize][lane] + 2 * divisor.prime - before;
            least[lane] = least[lane].min(divisor.remainder(rest));
        }
    }
    least
}

/// At most seven bytes of a text as a number, and how many they are in the lowest byte.
fn piece(bytes: &[u8]) -> u64 {
    let number = bytes.iter().fold(0, |number, &byte| number << 8 | u64::from(byte));
    number << 8 | bytes.len() as u64
}

/// The method `rabin-minhash`.
#[derive(Debug)]
pub(crate) struct RabinMinHash {
    divisors: Vec<Divisor>,
    bytes: bool,
    bands: Bands,
    shingle: usize,
    threshold: Threshold,
    seed: u64,
    /// The threshold that runs measure by, if they measure what is estimated.
    measured: Option<Threshold>,
}

/// The least remainders of a document, and the pieces of it that they are computed of.
#[derive(Default)]
struct RemainderBuffers {
    minima: MinimaBuffers,
    pieces: Vec<u64>,
    /// The end of each word, by pieces and by bytes.
    words: Vec<u32>,
    text: String,
}

impl RabinMinHash {
    pub(crate) fn make(mut spec: Spec, setting: &Setting) -> Result<Box<dyn Method>, MethodError> {
        let wanted = "a number from 1 to 4096 is wanted";
        let values = spec.value("values", 84, wanted, |values| (1..=MAX_VALUES).contains(values))?;
        let bytes = spec.choice("of", &[("bytes", true), ("hash", false)])?;
        let given = bands::from_spec(&mut spec, values)?;
        let shingle = parameters::shingle(&mut spec, setting.shingle)?;
        let threshold = parameters::threshold(&mut spec, setting.threshold)?;
        let seed = parameters::seed(&mut spec, setting)?;
        spec.finish()?;
        parameters::refuse_containment("rabin-minhash", setting)?;
        let choose = || bands::choose("rabin-minhash", values, threshold, setting.recall);
        let bands = given.map_or_else(choose, Ok)?;
        let mut rng = SeededRng::new(seed);
        let mut divisor = || Divisor::new(prime::draw(PRIMES, &mut rng) as u64);
        let divisors = (0..values).map(|_| divisor()).collect();
        let alike = setting.similarity == Similarity::Jaccard && setting.shingle == shingle;
        let measured = alike.then_some(setting.threshold);
        Ok(Box::new(RabinMinHash { divisors, bytes, bands, shingle, threshold, seed, measured }))
    }

    /// Fills `buffers.minima` with the least remainder by each prime.
    fn compute_minima(&self, page: &Page<'_>, buffers: &mut RemainderBuffers) {
        if !self.bytes {
            let (shingles, salt) = (page.grams(self.shingle), seed::salt(self.seed));
            let function = |index: usize, x| self.divisors[index].remainder(x);
            let salted = shingles.map(|shingle| seed::salted(shingle, salt));
            return classic::minima_by(function, salted, self.divisors.len(), &mut buffers.minima);
        }
        let RemainderBuffers { minima: MinimaBuffers { minima: values, .. }, pieces, words, text } = buffers;
        values.clear();
        words.clear();
        pieces.clear();
        text.clear();
        for word in page.words() {
            let start = text.len();
            text.push_str(if start == 0 { "" } else { " " });
            text.push_str(word);
            pieces.extend(text.as_bytes()[start..].chunks(PIECE_BYTES).map(piece));
            // Where the word ends: by pieces and by bytes.
            words.extend([pieces.len() as u32 - 1, text.len() as u32]);
        }
        let count = pieces.len();
        pieces.resize((1 + LANES) * count, 0);
        let (pieces, ends) = pieces.split_at_mut(count);
        let shingle = self.shingle.min(page.len());
        let (several, others) = self.divisors.as_chunks::<LANES>();
        values.extend(several.iter().flat_map(|all| min_remainders(all, pieces, words, shingle, ends)));
        let one = std::array::from_ref;
        values
            .extend(others.iter().flat_map(|other| min_remainders(one(other), pieces, words, shingle, ends)));
    }

    fn equal(a: &[u8], b: &[u8]) -> u64 {
        let lanes = a.as_chunks::<4>().0.iter().zip(b.as_chunks::<4>().0);
        lanes.filter(|(a, b)| a == b && **a != [0; 4]).count() as u64
    }
}

impl Method for RabinMinHash {
    fn recipe(&self) -> Recipe {
        Recipe::new("rabin-minhash", VERSION)
            .with("values", self.divisors.len())
            .with("of", if self.bytes { "bytes" } else { "hash" })
            .with("bands", self.bands.count)
            .with("rows", self.bands.rows)
            .with("shingle", self.shingle)
            .with("threshold", self.threshold)
            .with("seed", self.seed)
    }

    fn payload_bytes(&self) -> usize {
        4 * self.divisors.len()
    }

    fn sketch(&self, page: &Page<'_>, sketch: &mut Sketch) {
        sketch.clear();
        sketch.length = page.len() as u32;
        if page.is_empty() {
            return sketch.payload.resize(self.payload_bytes(), 0);
        }
        let buffers: &mut RemainderBuffers = sketch.buffers.own();
        self.compute_minima(page, buffers);
        let values = &buffers.minima.minima;
        sketch.keys.extend(self.bands.keys(values));
        // One more than the remainder, which may be 0.
        sketch.payload.extend(values.iter().flat_map(|&least| (least as u32 + 1).to_le_bytes()));
    }

    fn accept(&self, a: &[u8], b: &[u8], _shared: u32) -> Option<Score> {
        let (equal, all) = (RabinMinHash::equal(a, b), self.divisors.len() as u64);
        self.threshold.reached_by(equal, all).then(|| Score::even(equal as f64 / all as f64))
    }

    fn promising(&self, a: &[u8], b: &[u8], _shared: u32) -> bool {
        self.measured.is_none_or(|measured| {
            let limit = measured.value().min(self.threshold.value());
            chance::within_reach(RabinMinHash::equal(a, b), self.divisors.len() as u64, limit)
        })
    }

    fn abilities(&self) -> Abilities<'_> {
        Abilities { advising: Some(self), ..Abilities::default() }
    }
}

impl Advising for RabinMinHash {
    fn advice(&self) -> Option<String> {
        Some(format!(
            "rabin-minhash gives a document {} keys and a payload of {} bytes, and would propose pairs with a probability \
             of {:.3} at a resemblance of {} if remainders were as even as those of minhash.",
            self.bands.count,
            self.payload_bytes(),
            self.bands.probability(self.threshold.value()),
            self.threshold
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial::sketch;
    use lookalike_hash as hash;
    use proptest::prelude::*;

    fn make(text: &str) -> Box<dyn Method> {
        crate::method(text, &Setting::default()).unwrap()
    }

    fn values(payload: &[u8]) -> Vec<u64> {
        payload.as_chunks().0.iter().map(|bytes| u64::from(u32::from_le_bytes(*bytes)) - 1).collect()
    }

    /// The primes that a method of this seed draws.
    fn primes(count: usize, seed: u64) -> Vec<u64> {
        let mut rng = SeededRng::new(seed);
        (0..count).map(|_| prime::draw(PRIMES, &mut rng) as u64).collect()
    }

    /// Every shingle as text, taken modulo each prime byte by byte.
    fn plain(text: &str, shingle: usize, primes: &[u64]) -> Vec<u64> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let shingles: Vec<String> =
            words.windows(shingle.min(words.len())).map(|window| window.join(" ")).collect();
        let remainder = |text: &String, prime: u64| {
            text.bytes().fold(0, |rest, byte| (rest * 256 + u64::from(byte)) % prime)
        };
        primes
            .iter()
            .map(|&prime| shingles.iter().map(|text| remainder(text, prime)).min().unwrap())
            .collect()
    }

    /// The share of equal values of texts that share half of their words, which `word` makes of numbers.
    fn share(method: &str, word: impl Fn(u64) -> String) -> f64 {
        let method = make(method);
        let text = |first: u64, numbers: std::ops::Range<u64>| {
            let words: Vec<String> = numbers.map(|number| word(first + number)).collect();
            sketch(&*method, &words.join(" "))
        };
        let trials = 200;
        let equal = |trial: u64| {
            let (a, b) = (text(60 * trial, 0..45), text(60 * trial, 15..60));
            RabinMinHash::equal(&a.payload, &b.payload)
        };
        (0..trials).map(equal).sum::<u64>() as f64 / (84 * trials) as f64
    }

    #[test]
    fn the_share_of_equal_values_is_the_resemblance_of_words_that_are_unlike() {
        let unlike = |number: u64| format!("{:x}", hash::mix(number));
        for of in ["bytes", "hash"] {
            let share = share(&format!("rabin-minhash:shingle=1,of={of}"), unlike);
            // 200 · 84 values are half a percent of standard error, if they are independent.
            assert!((share - 0.5).abs() < 0.015, "{of}: {share}");
        }
    }

    #[test]
    fn remainders_of_numbers_that_are_close_are_close() {
        // The least of a row of numbers is the first, whatever the prime, unless a multiple of it is among them.
        let close = |number: u64| format!("{number:08}");
        assert!(share("rabin-minhash:shingle=1", close) < 0.05);
        assert!((share("rabin-minhash:shingle=1,of=hash", close) - 0.5).abs() < 0.015);
    }

    #[test]
    fn no_words_pair_with_nothing() {
        let method = make("rabin-minhash");
        assert_eq!(method.accept(&[0; 336], &[0; 336], 0), None);
        assert_eq!(method.accept(&[1; 336], &[1; 336], 9), Some(Score::even(1.0)));
    }

    #[test]
    fn pairs_out_of_reach_are_not_measured() {
        let method = make("rabin-minhash");
        let mut other = [1; 336];
        other[..4 * 30].fill(2);
        assert!(method.accept(&[1; 336], &other, 1).is_none() && method.promising(&[1; 336], &other, 1));
        other[..4 * 60].fill(2);
        assert!(!method.promising(&[1; 336], &other, 1));
        assert!(make("rabin-minhash:shingle=2").promising(&[1; 336], &other, 1));
    }

    proptest! {
        #[test]
        fn remainders_are_those_of_division(number: u64, small in 0u64..1 << 33, seed in 0u64..50) {
            let divisor = Divisor::new(primes(1, seed)[0]);
            for number in [number, small, u64::MAX - small, (small >> 2) * divisor.prime] {
                prop_assert_eq!(divisor.remainder(number), number % divisor.prime);
            }
        }

        #[test]
        fn powers_of_any_size(exponent in 0usize..2000) {
            let divisor = Divisor::new(primes(1, 1)[0]);
            prop_assert_eq!(divisor.power(exponent), (0..exponent).fold(1, |power, _| power * 256 % divisor.prime));
        }

        #[test]
        fn values_equal_those_of_whole_shingles(
            words in prop::collection::vec("[a-zа-я]{1,12}", 1..30),
            long in "[a-z]{0,300}",
            shingle in 1usize..6,
            seed in 1u64..5,
        ) {
            let text = format!("{} {long}", words.join(" "));
            let method = make(&format!("rabin-minhash:values=5,bands=1,rows=1,shingle={shingle},seed={seed}"));
            prop_assert_eq!(values(&sketch(&*method, &text).payload), plain(&text, shingle, &primes(5, seed)));
        }
    }
}
