//! `sif`: how many of the sampled substrings of one document are in the other.
//!
//! Manber (1994) finds similar files of any kind. Every substring of 50 bytes has a rolling Karp–Rabin value, a
//! polynomial of base 257 modulo the prime 2^61 − 1, or else Rabin's, a remainder by a random irreducible polynomial over
//! the field of two elements. Those whose low eight bits are zero are kept, one in 256. Or else only substrings are taken that begin where one of some given *anchors* does. The similarity of A to B is the part of
//! A's values that B has, so it also sees that one document holds another. A document under 50 bytes, or without a
//! value that is kept, has none.

use lookalike_hash as hash;
use lookalike_model::{Recipe, Threshold};
use lookalike_text::Profile;

use crate::polynomial::{Polynomial, Windows};
use crate::seed::SeededRng;
use crate::shares::{self, either_way};
use crate::spec::profile_value;
use crate::{
    Abilities, About, Advising, Key, Method, MethodError, Page, Score, Setting, Sketch, Spec, parameters,
};

const VERSION: u32 = 1;

/// The description of the method that `lookalike methods` shows.
pub(crate) const ABOUT: About = About {
    name: "sif",
    aliases: &[],
    summary: "shared substrings of 50 bytes out of a sample; sees containment",
    source: "Manber 1994",
    formula: "\
value of 50 bytes b_1 ... b_50 = sum of b_i * 257^(50-i) mod 2^61 - 1, or their bits as a polynomial A(t) mod P(t)
kept if the low 8 bits of the value are 0
similarity of A to B = |kept by both| / |kept by A|; accept: 0.25 in either direction, and at least 2 values shared",
    example: "lookalike pairs --method sif:keep=64 --similarity containment docs.jsonl -o pairs.jsonl",
    parameters: &[
        ("window", "bytes of a substring"),
        ("keep", "one value in so many is kept: a power of two"),
        ("anchors", "none, or strings joined by +: substrings that begin with one are taken, and no others"),
        ("family", "of the rolling hash: poly (of base 257), or gf2 (Rabin's, by a random irreducible polynomial)"),
        ("degree", "of the polynomial of family gf2: 61 or 64"),
        ("seed", "of that polynomial"),
        ("input", "words with one blank between them, or raw for the extracted text as it is"),
        ("least", "fewest values that two documents must share"),
        ("share", "part of one document's values that is enough"),
        ("profile", "how words are read; run is the run's own"),
    ],
    make: Sif::make,
};

/// The method `sif`.
#[derive(Debug)]
pub(crate) struct Sif {
    family: Family,
    degree: u32,
    seed: u64,
    keep: u64,
    anchors: Vec<String>,
    raw: bool,
    least: u32,
    share: Threshold,
    profile: Option<Profile>,
}

impl Sif {
    pub(crate) fn make(mut spec: Spec, setting: &Setting) -> Result<Box<dyn Method>, MethodError> {
        let wanted = "a number of bytes from 1 to 65536 is wanted";
        let window = spec.value("window", 50, wanted, |window| (1..=1 << 16).contains(window))?;
        let wanted = "a power of two is wanted, such as 256";
        let keep =
            spec.value("keep", 256, wanted, |keep: &u64| keep.is_power_of_two() && *keep <= 1 << 32)?;
        let anchors = anchors(&mut spec)?;
        let gf2 = spec.choice("family", &[("poly", false), ("gf2", true)])?;
        let degree = spec.value("degree", 64, "61 or 64 is wanted", |degree| [61, 64].contains(degree))?;
        let seed = parameters::seed(&mut spec, setting)?;
        let raw = spec.choice("input", &[("words", false), ("raw", true)])?;
        let least = spec.value("least", 2, "a number from 1 is wanted", |&least| least > 0)?;
        let share = shares::share(&mut spec, "share", "0.25")?;
        let profile = spec.profile(None)?;
        spec.finish()?;
        let family = match gf2 {
            false => Family::Poly(Rolling::new(window)),
            true => {
                let polynomial = Polynomial::irreducible(degree, &mut SeededRng::new(seed));
                Family::Gf2(Windows::new(polynomial, window))
            }
        };
        Ok(Box::new(Sif { family, degree, seed, keep, anchors, raw, least, share, profile }))
    }

    /// Replaces `values` with those that are kept, sorted, each once.
    fn sample(&self, text: &str, values: &mut Vec<u64>) {
        values.clear();
        if self.anchors.is_empty() {
            let mask = self.keep - 1;
            self.family
                .each(text.as_bytes(), |value| values.extend(Some(value).filter(|value| value & mask == 0)));
        } else {
            let starts = self.anchors.iter().flat_map(|anchor| occurrences(text, anchor));
            values.extend(starts.filter_map(|start| self.family.value_at(text.as_bytes(), start)));
        }
        values.sort_unstable();
        values.dedup();
    }
}

/// The text of a document and the values that are kept of it.
#[derive(Default)]
struct SubstringBuffers {
    text: String,
    values: Vec<u64>,
}

/// The anchors that were asked for.
fn anchors(spec: &mut Spec) -> Result<Vec<String>, MethodError> {
    let text = spec.text("anchors").unwrap_or_else(|| "none".to_owned());
    if text == "none" {
        return Ok(Vec::new());
    }
    let anchors: Vec<String> = text.split('+').map(str::to_owned).collect();
    if anchors.iter().any(String::is_empty) {
        return Err(spec.value_error(
            "anchors",
            &text,
            "none or strings joined by + are wanted, such as acc+tion",
        ));
    }
    Ok(anchors)
}

/// Returns the offsets of `anchor` in `text`, those of overlapping occurrences included.
fn occurrences(text: &str, anchor: &str) -> impl Iterator<Item = usize> {
    let step = anchor.chars().next().map_or(1, char::len_utf8);
    let mut from = 0;
    std::iter::from_fn(move || {
        let found = from + text.get(from..)?.find(anchor)?;
        from = found + step;
        Some(found)
    })
}

/// The rolling hash.
#[derive(Debug)]
enum Family {
    Poly(Rolling),
    Gf2(Windows),
}

impl Family {
    fn name(&self) -> &'static str {
        match self {
            Family::Poly(_) => "poly",
            Family::Gf2(_) => "gf2",
        }
    }

    /// Bytes of a substring.
    fn window(&self) -> usize {
        match self {
            Family::Poly(rolling) => rolling.window,
            Family::Gf2(windows) => windows.width(),
        }
    }

    /// Hands over the values of all substrings, in order.
    fn each(&self, bytes: &[u8], mut each: impl FnMut(u64)) {
        match self {
            Family::Poly(rolling) => rolling.values(bytes).for_each(each),
            // Degrees are 64 at most.
            Family::Gf2(windows) => windows.values(bytes).for_each(|value| each(value as u64)),
        }
    }

    /// The value of the substring at a place, if the text is long enough.
    fn value_at(&self, bytes: &[u8], start: usize) -> Option<u64> {
        let mut value = None;
        self.each(bytes.get(start..start + self.window())?, |only| value = Some(only));
        value
    }
}

/// Values of all substrings of a fixed length, each from the one before.
#[derive(Debug)]
struct Rolling {
    window: usize,
    /// For each byte, the number to add when it leaves the window.
    leaving: Box<[u64]>,
}

/// 2^61 − 1.
const PRIME: u64 = (1 << 61) - 1;
const BASE: u64 = 257;

/// `number` modulo the prime, for numbers below 2^80.
#[inline]
fn reduce(number: u128) -> u64 {
    let folded = (number as u64 & PRIME) + (number >> 61) as u64;
    if folded >= PRIME { folded - PRIME } else { folded }
}

/// The value of a string with one more byte behind it.
#[inline]
fn push(value: u64, byte: u8) -> u64 {
    reduce(u128::from(value) * u128::from(BASE) + u128::from(byte))
}

impl Rolling {
    fn new(window: usize) -> Self {
        let power = (0..window).fold(1, |power, _| reduce(u128::from(power) * u128::from(BASE)));
        let leaving = |byte: u8| PRIME - reduce(u128::from(power) * u128::from(byte));
        Rolling { window, leaving: (0..=u8::MAX).map(leaving).collect() }
    }

    /// The values of all substrings, in order.
    fn values(&self, bytes: &[u8]) -> impl Iterator<Item = u64> {
        let (front, rest) = bytes.split_at(self.window.min(bytes.len()));
        let first =
            (front.len() == self.window).then(|| front.iter().fold(0, |value, &byte| push(value, byte)));
        let mut value = first.unwrap_or_default();
        let later = bytes.iter().zip(rest).map(move |(&leaves, &enters)| {
            let sum = u128::from(value) * u128::from(BASE) + u128::from(self.leaving[usize::from(leaves)]);
            value = reduce(sum + u128::from(enters));
            value
        });
        first.into_iter().chain(later)
    }
}

impl Method for Sif {
    fn recipe(&self) -> Recipe {
        let anchors = if self.anchors.is_empty() { "none".to_owned() } else { self.anchors.join("+") };
        Recipe::new("sif", VERSION)
            .with("window", self.family.window())
            .with("keep", self.keep)
            .with("anchors", anchors)
            .with("family", self.family.name())
            .with("degree", self.degree)
            .with("seed", self.seed)
            .with("input", if self.raw { "raw" } else { "words" })
            .with("least", self.least)
            .with("share", self.share)
            .with("profile", profile_value(self.profile.as_ref()))
    }

    fn payload_bytes(&self) -> usize {
        4
    }

    fn sketch(&self, page: &Page<'_>, sketch: &mut Sketch) {
        sketch.clear();
        sketch.length = page.len() as u32;
        let SubstringBuffers { values, text } = sketch.buffers.own();
        text.clear();
        for word in page.words().filter(|_| !self.raw) {
            text.push_str(if text.is_empty() { "" } else { " " });
            text.push_str(word);
        }
        match (self.raw, page.is_empty()) {
            (true, false) => self.sample(page.text, values),
            _ => self.sample(text, values),
        }
        sketch.keys.extend(values.iter().map(|&value| Key { value: hash::mix(value), tag: 0 }));
        sketch.payload.extend_from_slice(&(values.len() as u32).to_le_bytes());
    }

    fn accept(&self, a: &[u8], b: &[u8], shared: u32) -> Option<Score> {
        let (a, b) = (shares::number(a), shares::number(b));
        let score = either_way(self.share, (shared, a), (shared, b));
        score.filter(|_| shared >= self.least)
    }

    fn abilities(&self) -> Abilities<'_> {
        Abilities {
            profile: self.profile.as_ref(),
            counted_keys: Some(self.least),
            directed: true,
            advising: Some(self),
            ..Abilities::default()
        }
    }
}

impl Advising for Sif {
    fn advice(&self) -> Option<String> {
        if !self.anchors.is_empty() {
            return None;
        }
        Some(format!(
            "sif keeps one substring in {}, so documents that share fewer than about {} bytes are found by luck alone.",
            self.keep,
            self.family.window() as u64 + 2 * self.keep * u64::from(self.least)
        ))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::polynomial::Fingerprints;
    use lookalike_text::{Analyser, Features};
    use proptest::prelude::*;

    fn make(text: &str) -> Box<dyn Method> {
        crate::method(text, &Setting::default()).unwrap()
    }

    fn sketch(method: &dyn Method, text: &str) -> Sketch {
        let (mut features, mut sketch) = (Features::default(), Sketch::default());
        Analyser::new(&Profile::web()).read(text, &mut features);
        method.sketch(&Page { text, features: &features }, &mut sketch);
        sketch
    }

    /// The value by its definition.
    fn plain(bytes: &[u8]) -> u64 {
        let add = |sum: u128, &byte: &u8| (sum * 257 + u128::from(byte)) % u128::from(PRIME);
        bytes.iter().fold(0, add) as u64
    }

    fn keys(values: impl Iterator<Item = u64>) -> BTreeSet<u64> {
        values.map(hash::mix).collect()
    }

    fn found(sketch: &Sketch) -> BTreeSet<u64> {
        sketch.keys.iter().map(|key| key.value).collect()
    }

    #[test]
    fn a_part_of_another_document_is_seen_from_both_sides() {
        let method = make("sif:window=10,keep=2");
        let words: Vec<String> = (0..400).map(|word| format!("w{:x}", hash::mix(word) % 5000)).collect();
        let [whole, part] = [&words[..], &words[100..180]].map(|words| sketch(&*method, &words.join(" ")));
        let shared = found(&whole).intersection(&found(&part)).count() as u32;
        let score = method.accept(&part.payload, &whole.payload, shared).unwrap();
        assert!(score.forward == 1.0 && (0.15..0.25).contains(&score.backward), "{score:?}");
        assert_eq!(method.accept(&whole.payload, &part.payload, shared), Some(score.swapped()));
        assert_eq!(method.accept(&whole.payload, &whole.payload, 1), None, "one value is not enough");
    }

    #[test]
    fn short_documents_have_no_value() {
        let method = make("sif:keep=1,window=5");
        assert_eq!(sketch(&*method, "rose").keys, []);
        assert_eq!(found(&sketch(&*method, "Rose, is")), keys(b"rose is".windows(5).map(plain)));
        assert_eq!(found(&sketch(&*make("sif:keep=1,window=5,input=raw"), "Rose, is")).len(), 4);
        assert_eq!(sketch(&*make("sif:keep=1,window=5,input=raw"), "--------").keys, [], "no words");
    }

    #[test]
    fn anchors_begin_substrings() {
        let method = make("sif:window=6,anchors=aa+ro");
        let text = "aaa rose arose aa";
        let wanted = ["aaa ro", "aa ros", "rose a", "rose a"];
        assert_eq!(found(&sketch(&*method, text)), keys(wanted.iter().map(|text| plain(text.as_bytes()))));
        assert_eq!(method.recipe().parameters["anchors"], "aa+ro");
        assert!(crate::method("sif:anchors=a++b", &Setting::default()).is_err());
        assert_eq!(occurrences("ééé", "éé").collect::<Vec<_>>(), [0, 2]);
    }

    #[test]
    fn one_value_in_256_is_kept() {
        let text: String = (0..40_000).map(|word| format!("{:x} ", hash::mix(word))).collect();
        for method in ["sif", "sif:family=gf2", "sif:family=gf2,degree=61,seed=3"] {
            let kept = sketch(&*make(method), &text).keys.len() as f64;
            let values = text.len() as f64 - 50.0;
            let error = (values / 256.0 * (1.0 - 1.0 / 256.0)).sqrt();
            assert!((kept - values / 256.0).abs() <= 3.0 * error, "{method}: {kept} of {values}");
        }
    }

    #[test]
    fn values_of_family_gf2_are_remainders_by_a_polynomial_of_the_seed() {
        for (parameters, degree, seed) in [("", 64, 1), (",degree=61", 61, 1), (",seed=7", 64, 7)] {
            let method = make(&format!("sif:family=gf2,keep=1,window=5{parameters}"));
            let by = Fingerprints::new(Polynomial::irreducible(degree, &mut SeededRng::new(seed)));
            let wanted = b"rose is".windows(5).map(|window| by.extend(0, window) as u64);
            assert_eq!(found(&sketch(&*method, "Rose, is")), keys(wanted), "{parameters}");
        }
        assert!(crate::method("sif:degree=62", &Setting::default()).is_err());
    }

    proptest! {
        #[test]
        fn rolling_equals_the_definition(bytes: Vec<u8>, window in 1usize..60) {
            let polynomial = Polynomial::irreducible(61, &mut SeededRng::new(window as u64));
            let fingerprints = Fingerprints::new(polynomial);
            let remainder = |bytes: &[u8]| fingerprints.extend(0, bytes) as u64;
            let poly: Vec<u64> = bytes.windows(window).map(plain).collect();
            let gf2: Vec<u64> = bytes.windows(window).map(remainder).collect();
            let families = [Family::Poly(Rolling::new(window)), Family::Gf2(Windows::new(polynomial, window))];
            for (family, wanted) in families.iter().zip([poly, gf2]) {
                let mut values = Vec::new();
                family.each(&bytes, |value| values.push(value));
                prop_assert_eq!(values, &wanted[..]);
                let single = (0..bytes.len()).filter_map(|start| family.value_at(&bytes, start));
                prop_assert_eq!(single.collect::<Vec<_>>(), wanted);
            }
        }

        #[test]
        fn the_sample_is_the_plain_one(text in "([a-d]{1,3} ){0,40}", window in 1usize..12, keep in 0u32..4) {
            let method = make(&format!("sif:window={window},keep={}", 1 << keep));
            let text = text.trim();
            let kept = text.as_bytes().windows(window).map(plain).filter(|value| value % (1 << keep) == 0);
            let wanted = keys(kept);
            let made = sketch(&*method, text);
            prop_assert_eq!(shares::number(&made.payload) as usize, wanted.len());
            prop_assert_eq!(found(&made), wanted);
        }
    }
}
