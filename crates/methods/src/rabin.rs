//! `rabin`: the remainder of the whole document by a random prime, or by a random polynomial; equal remainders are
//! duplicates.
//!
//! Rabin's fingerprints (1981; Karp, Rabin 1987). A document is one large number, or a polynomial over the field of two
//! elements, and its fingerprint the remainder by a prime or by an irreducible polynomial. Other than a digest's, the
//! probability of taking different documents for duplicates has a proof, for any documents that were not made with the
//! prime in mind. Near-duplicates have unrelated remainders and are not seen.

use lookalike_hash as hash;
use lookalike_model::Recipe;
use lookalike_text::Profile;

use crate::polynomial::{Fingerprints, P64, Polynomial};
use crate::seed::SeededRng;
use crate::spec::profile_value;
use crate::{
    Abilities, About, Advising, Key, Method, MethodError, Page, Score, Setting, Sketch, Spec, parameters,
    prime,
};

const VERSION: u32 = 1;

/// Bits of the largest prime: a byte more must fit in 128.
const MAX_BITS: u32 = 120;

/// A bit that no remainder has: it marks the payload of a document with words.
const NON_EMPTY_BIT: u128 = 1 << 127;

/// The description of the method that `lookalike methods` shows.
pub(crate) const ABOUT: About = About {
    name: "rabin",
    aliases: &[],
    summary: "the remainder of the whole document by a random prime or polynomial; only equal ones pair",
    source: "Rabin 1981; Karp, Rabin 1987",
    formula: "\
prime: x mod p, x = the bytes as one number, p one of the first m primes, m = C(documents, 2) * bits / error
gf2: A(t) mod P(t) over GF(2), A = the bits as coefficients, P irreducible of degree k; error < documents^2 * bits / 2^k",
    example: "lookalike dedup --method rabin:documents=100000000,error=0.000001 docs.jsonl -o out",
    parameters: &[
        ("family", "prime (remainders by a random prime) or gf2 (by an irreducible polynomial)"),
        ("error", "probability that any two different documents have one remainder, for which a prime is chosen"),
        ("documents", "number of documents that this is to hold for"),
        ("bytes", "length of the longest of them"),
        ("degree", "of the polynomial, 8 to 127"),
        ("polynomial", "standard (t^64+t^4+t^3+t+1), or random, which other degrees always are"),
        ("prefix", "1 puts a one before every document, so that zeros at the front count; 0 does not"),
        ("input", "words, or raw for the extracted text as it is"),
        ("profile", "how words are read; run is the run's own"),
        ("seed", "of the prime or polynomial"),
    ],
    make: Rabin::make,
};

/// The divisor by which remainders are taken.
#[derive(Debug)]
enum Divisor {
    Prime(u128),
    Polynomial(Fingerprints),
}

impl Divisor {
    /// The remainder of what `state` is that of, and `bytes` behind it.
    fn extend(&self, state: u128, bytes: &[u8]) -> u128 {
        match self {
            Divisor::Prime(prime) => {
                // As many bytes at a time as there is room for above the remainder.
                let room = (prime.leading_zeros() / 8) as usize;
                bytes.chunks(room).fold(state, |state, chunk| {
                    chunk.iter().fold(state, |number, &byte| number << 8 | u128::from(byte)) % prime
                })
            }
            Divisor::Polynomial(fingerprints) => fingerprints.extend(state, bytes),
        }
    }
}

/// The method `rabin`.
#[derive(Debug)]
pub(crate) struct Rabin {
    divisor: Divisor,
    limits: Limits,
    degree: u32,
    random: bool,
    prefix: bool,
    raw: bool,
    profile: Option<Profile>,
    seed: u64,
}

/// The number and length of the documents that fingerprints must tell apart, and the probability of error.
#[derive(Debug)]
struct Limits {
    error: f64,
    documents: u64,
    bytes: u64,
}

impl Limits {
    fn take(spec: &mut Spec) -> Result<Self, MethodError> {
        let error =
            spec.value("error", 0.001, "a number above 0 and below 1 is wanted", |&error: &f64| {
                error > 0.0 && error < 1.0
            })?;
        let wanted = "a whole number from 2 is wanted";
        let documents = spec.value("documents", 1_000_000, wanted, |&documents| documents > 1)?;
        let bytes = spec.value("bytes", 1024, "a whole number from 1 is wanted", |&bytes| bytes > 0)?;
        Ok(Limits { error, documents, bytes })
    }

    /// Bits of the longest document.
    fn bits(&self, prefix: bool) -> f64 {
        8.0 * self.bytes as f64 + f64::from(u8::from(prefix))
    }

    /// Above the last of the primes that one is drawn from.
    fn bound(&self, prefix: bool) -> f64 {
        prime::mth_prime_bound(prime::primes_needed(self.documents as f64, self.bits(prefix), self.error))
    }
}

impl Rabin {
    pub(crate) fn make(mut spec: Spec, setting: &Setting) -> Result<Box<dyn Method>, MethodError> {
        let gf2 = spec.choice("family", &[("prime", false), ("gf2", true)])?;
        let limits = Limits::take(&mut spec)?;
        let degree =
            spec.value("degree", 64, "a number from 8 to 127 is wanted", |k| (8..=127).contains(k))?;
        let random = random(&mut spec, degree)?;
        let prefix = spec.choice("prefix", &[("1", true), ("0", false)])?;
        let raw = spec.choice("input", &[("words", false), ("raw", true)])?;
        let profile = spec.profile(None)?;
        let seed = parameters::seed(&mut spec, setting)?;
        let mut rng = SeededRng::new(seed);
        let divisor = match gf2 {
            true if random => {
                Divisor::Polynomial(Fingerprints::new(Polynomial::irreducible(degree, &mut rng)))
            }
            true => Divisor::Polynomial(Fingerprints::new(P64)),
            false => {
                let bound = limits.bound(prefix);
                if bound.log2() >= f64::from(MAX_BITS) {
                    let wanted = format!(
                        "that takes a prime of {:.0} bits, and at most {MAX_BITS} are possible; allow for a larger \
                         error, or for fewer documents or bytes",
                        bound.log2()
                    );
                    return Err(spec.value_error("error", &limits.error.to_string(), &wanted));
                }
                Divisor::Prime(prime::draw(3..bound as u128, &mut rng))
            }
        };
        spec.finish()?;
        parameters::refuse_containment("rabin", setting)?;
        Ok(Box::new(Rabin { divisor, limits, degree, random, prefix, raw, profile, seed }))
    }

    fn fingerprint(&self, page: &Page<'_>, joined: &mut String) -> u128 {
        let start = u128::from(self.prefix);
        if self.raw {
            return self.divisor.extend(start, page.text.as_bytes());
        }
        joined.clear();
        for (index, word) in page.words().enumerate() {
            joined.push_str(if index > 0 { " " } else { "" });
            joined.push_str(word);
        }
        self.divisor.extend(start, joined.as_bytes())
    }
}

/// True when the polynomial is drawn at random.
fn random(spec: &mut Spec, degree: u32) -> Result<bool, MethodError> {
    let standard = degree == P64.degree();
    match spec.text("polynomial").as_deref() {
        None => Ok(!standard),
        Some("random") => Ok(true),
        Some("standard") if standard => Ok(false),
        Some("standard") => {
            Err(spec.value_error("polynomial", "standard", "that is one of degree 64; random is wanted"))
        }
        Some(other) => Err(spec.value_error("polynomial", other, "one of standard, random is wanted")),
    }
}

impl Method for Rabin {
    fn recipe(&self) -> Recipe {
        Recipe::new("rabin", VERSION)
            .with("family", if matches!(self.divisor, Divisor::Prime(_)) { "prime" } else { "gf2" })
            .with("error", self.limits.error)
            .with("documents", self.limits.documents)
            .with("bytes", self.limits.bytes)
            .with("degree", self.degree)
            .with("polynomial", if self.random { "random" } else { "standard" })
            .with("prefix", u8::from(self.prefix))
            .with("input", if self.raw { "raw" } else { "words" })
            .with("profile", profile_value(self.profile.as_ref()))
            .with("seed", self.seed)
    }

    fn payload_bytes(&self) -> usize {
        16
    }

    fn sketch(&self, page: &Page<'_>, sketch: &mut Sketch) {
        sketch.clear();
        sketch.length = page.len() as u32;
        if page.is_empty() {
            return sketch.payload.resize(self.payload_bytes(), 0);
        }
        let fingerprint = self.fingerprint(page, sketch.buffers.own());
        let value = hash::mix(fingerprint as u64 ^ hash::mix((fingerprint >> 64) as u64));
        sketch.keys.push(Key { value, tag: 0 });
        sketch.payload.extend((fingerprint | NON_EMPTY_BIT).to_le_bytes());
    }

    fn accept(&self, a: &[u8], b: &[u8], _shared: u32) -> Option<Score> {
        let marked = a.last().is_some_and(|&byte| byte >> 7 == 1);
        (a == b && marked).then_some(Score::even(1.0))
    }

    fn abilities(&self) -> Abilities<'_> {
        Abilities { profile: self.profile.as_ref(), advising: Some(self), ..Abilities::default() }
    }
}

impl Advising for Rabin {
    fn advice(&self) -> Option<String> {
        let Limits { error, documents, bytes } = self.limits;
        let (divisor, error) = match &self.divisor {
            Divisor::Prime(_) => {
                (format!("a random prime of up to {:.1} bits", self.limits.bound(self.prefix).log2()), error)
            }
            Divisor::Polynomial(_) => {
                let bound = (documents as f64).powi(2) * self.limits.bits(self.prefix)
                    / f64::from(self.degree).exp2();
                (format!("a polynomial of degree {}", self.degree), bound.min(1.0))
            }
        };
        Some(format!(
            "rabin takes remainders by {divisor}, so that any two of {documents} different documents of up to {bytes} \
             bytes have the same one with a probability of at most {error:.2e}."
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial::sketch;
    use proptest::prelude::*;

    fn make(text: &str) -> Box<dyn Method> {
        crate::method(text, &Setting::default()).unwrap()
    }

    fn fingerprint(method: &str, text: &str) -> u128 {
        u128::from_le_bytes(sketch(&*make(method), text).payload.try_into().unwrap()) & !NON_EMPTY_BIT
    }

    #[test]
    fn remainders_by_173_are_the_published_ones() {
        let by = Divisor::Prime(173);
        let remainder = |number: u16| by.extend(0, &number.to_be_bytes());
        assert_eq!([0b01_0101_1011, 0b11_0101_1011, 0b00_0101_1011], [347, 859, 91]);
        assert_eq!([347, 859, 91].map(remainder), [0b0000_0001, 0b1010_0111, 0b0101_1011]);
    }

    #[test]
    fn polynomials_give_the_published_fingerprints() {
        assert_eq!(fingerprint("rabin:family=gf2", "ABC"), 0x0161_6263);
        assert_eq!(fingerprint("rabin:family=gf2", "a rose, is a!"), 0x6f73_6520_77cb_4447);
        assert_eq!(fingerprint("rabin:family=gf2,prefix=0", "abc"), 0x0061_6263);
        assert_ne!(fingerprint("rabin:family=gf2,polynomial=random", "a rose is a"), 0x6f73_6520_77cb_4447);
    }

    #[test]
    fn the_prime_is_as_large_as_the_error_asks_for() {
        let advice = make("rabin").abilities().advice().unwrap();
        assert!(advice.contains("up to 67.4 bits") && advice.contains("at most 1.00e-3"), "{advice}");
        let limits = Limits { error: 1e-3, documents: 1_000_000, bytes: 1024 };
        assert!((limits.bound(false).log2() - 67.4).abs() < 0.05);
        // 10^12 · 8193 / 2^64.
        let advice = make("rabin:family=gf2").abilities().advice().unwrap();
        assert!(advice.contains("at most 4.44e-4"), "{advice}");
        let error = |text: &str| crate::method(text, &Setting::default()).unwrap_err().to_string();
        assert!(error("rabin:error=1e-30").contains("at most 120 are possible"));
        assert!(error("rabin:degree=7").contains("from 8 to 127"));
        assert!(error("rabin:degree=32,polynomial=standard").contains("degree 64"));
        assert!(error("rabin:polynomial=prime").contains("standard, random"));
    }

    #[test]
    fn every_bit_of_a_document_counts() {
        for method in ["rabin", "rabin:family=gf2", "rabin:family=gf2,degree=127", "rabin:error=1e-15"] {
            let text = "It was the best of times, it was the worst of times";
            let changed = text.replace("worst", "wurst");
            assert_ne!(fingerprint(method, text), fingerprint(method, &changed), "{method}");
            assert_eq!(
                fingerprint(method, text),
                fingerprint(method, "it was the BEST of times it was the worst of times")
            );
            let seeded = format!(
                "{method}{}seed=2,polynomial=random,degree=100",
                if method.contains(':') { "," } else { ":" }
            );
            assert_ne!(fingerprint(method, text), fingerprint(&seeded, text), "{method}");
        }
        assert_ne!(fingerprint("rabin:input=raw", "rose."), fingerprint("rabin:input=raw", "rose"));
        assert_eq!(fingerprint("rabin", "rose."), fingerprint("rabin", "rose"));
    }

    #[test]
    fn a_one_in_front_makes_leading_zeros_count() {
        let raw = |prefix: u8, text| fingerprint(&format!("rabin:input=raw,prefix={prefix}"), text);
        assert_eq!(raw(0, "\0rose"), raw(0, "rose"));
        assert_ne!(raw(1, "\0rose"), raw(1, "rose"));
        let method = make("rabin:prefix=0");
        assert_eq!(method.accept(&[0; 16], &[0; 16], 0), None);
    }

    proptest! {
        #[test]
        fn pieces_equal_bytes_one_by_one(bytes: Vec<u8>, bits in 8u32..120, seed: u64) {
            let prime = prime::draw(1 << bits..2 << bits, &mut SeededRng::new(seed));
            let plain = bytes.iter().fold(1, |state, &byte| (state * 256 + u128::from(byte)) % prime);
            prop_assert_eq!(Divisor::Prime(prime).extend(1, &bytes), plain);
        }
    }
}
