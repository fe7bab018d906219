//! `bottom`: the smallest fingerprints of a document; those of two tell how much the documents share.
//!
//! Broder's second sampling method (1997): the `s` smallest fingerprints of a document's shingles, or all if there are
//! fewer. The `s` smallest of two samples together are the `s` smallest of both documents together, a random sample of
//! their union, and it is known of each of them whether both documents have it. So their share is an estimate of
//! resemblance without bias, and of sets no larger than `s` it is the resemblance.
//!
//! Keys are the smallest fingerprints alone. One of the `n` smallest of the union that both documents have is among the
//! `n` smallest of each; at a resemblance of `t` there is none with a probability of at most `(1 − t)^n`. So few keys are
//! enough where the threshold is high: three for 0.98 of all pairs at 0.8.

use lookalike_hash as hash;
use lookalike_model::{Recipe, Similarity, Threshold};

use crate::minhash::bands;
use crate::{
    Abilities, About, Advising, Key, Method, MethodError, Page, Score, Setting, Sketch, Spec, chance,
    parameters, seed,
};

const VERSION: u32 = 1;

/// More fingerprints than this say nothing new about a document.
const MAX_FINGERPRINTS: usize = 4096;

/// The description of the method that `lookalike methods` shows.
pub(crate) const ABOUT: About = About {
    name: "bottom",
    aliases: &[],
    summary: "the s smallest fingerprints of a document, which estimate resemblance without bias",
    source: "Broder 1997",
    formula: "\
A' = the s smallest fingerprints of shingles; M = the s smallest of A' and B' together
resemblance = |M and A' and B'| / |M|; keys: the n smallest, which miss a pair with probability (1 - t)^n at most
accept: resemblance >= threshold",
    example: "lookalike pairs --method bottom:s=100 --threshold 0.9 docs.jsonl -o pairs.jsonl",
    parameters: &[
        ("s", "fingerprints of a document"),
        ("keys", "how many of them are keys; from threshold and recall unless given"),
        ("shingle", "words per shingle; the run's"),
        ("threshold", "least estimate of a near-duplicate; the run's"),
        ("seed", "of the hash function"),
    ],
    make: Bottom::make,
};

/// The method `bottom`.
#[derive(Debug)]
pub(crate) struct Bottom {
    s: usize,
    keys: usize,
    shingle: usize,
    threshold: Threshold,
    seed: u64,
    setting: Setting,
}

impl Bottom {
    pub(crate) fn make(mut spec: Spec, setting: &Setting) -> Result<Box<dyn Method>, MethodError> {
        let s: usize = spec
            .value("s", 200, "a number from 1 to 4096 is wanted", |s| (1..=MAX_FINGERPRINTS).contains(s))?;
        let wanted = format!("a number from 1 to {s}, which is s, is wanted");
        let given: Option<usize> = match spec.value("keys", 0, &wanted, |keys| (1..=s).contains(keys))? {
            0 => None,
            keys => Some(keys),
        };
        let shingle = parameters::shingle(&mut spec, setting.shingle)?;
        let threshold = parameters::threshold(&mut spec, setting.threshold)?;
        let seed = parameters::seed(&mut spec, setting)?;
        spec.finish()?;
        parameters::refuse_containment("bottom", setting)?;
        let keys = given.map_or_else(|| enough_keys(s, threshold, setting.recall), Ok)?;
        Ok(Box::new(Bottom { s, keys, shingle, threshold, seed, setting: setting.clone() }))
    }

    /// True when verification measures what the samples estimate.
    fn estimates_what_is_measured(&self) -> bool {
        self.setting.similarity == Similarity::Jaccard && self.setting.shingle == self.shingle
    }
}

/// The fewest keys by which pairs at the threshold meet with a probability of `recall`.
fn enough_keys(s: usize, threshold: Threshold, recall: f64) -> Result<usize, MethodError> {
    if threshold.value() == 1.0 {
        return Ok(1);
    }
    let unable = |remedy: String| {
        MethodError::Unable(format!(
            "bottom with s={s} cannot propose pairs at a threshold of {threshold} with a recall of {recall}; {remedy}"
        ))
    };
    match bands::fewest_values(threshold, recall) {
        Some(keys) if keys <= s as u64 => Ok(keys as usize),
        Some(keys) if keys <= MAX_FINGERPRINTS as u64 => Err(unable(format!("s={keys} can"))),
        _ => Err(unable("no number of fingerprints can, but the method exact does".to_owned())),
    }
}

/// Replaces `out` with the `s` smallest of all fingerprints, in order and each once.
fn smallest(fingerprints: impl Iterator<Item = u64>, s: usize, out: &mut Vec<u64>) {
    fn truncate_sorted(out: &mut Vec<u64>, s: usize) {
        out.sort_unstable();
        out.dedup();
        out.truncate(s);
    }
    out.clear();
    let mut bound = u64::MAX;
    for fingerprint in fingerprints {
        if fingerprint <= bound {
            out.push(fingerprint);
            // Sorted now and then only: the more were seen, the fewer are still small enough.
            if out.len() >= 2 * s + 64 {
                truncate_sorted(out, s);
                bound = if out.len() == s { out[s - 1] } else { u64::MAX };
            }
        }
    }
    truncate_sorted(out, s);
}

/// Of the `s` smallest of two samples in order: how many are in both, and how many there are.
fn agreement(a: impl Iterator<Item = u64>, b: impl Iterator<Item = u64>, s: usize) -> (u64, u64) {
    let (mut a, mut b) = (a.peekable(), b.peekable());
    let (mut both, mut all) = (0, 0);
    while all < s as u64 {
        let next = match (a.peek(), b.peek()) {
            (Some(&one), Some(&two)) => one.min(two),
            (Some(&one), None) | (None, Some(&one)) => one,
            (None, None) => break,
        };
        let (in_a, in_b) = (a.next_if_eq(&next).is_some(), b.next_if_eq(&next).is_some());
        both += u64::from(in_a && in_b);
        all += 1;
    }
    (both, all)
}

/// The sample in a payload: its size, then fingerprints.
fn sample(payload: &[u8]) -> impl Iterator<Item = u64> {
    let (size, rest) = payload.split_first_chunk().unwrap_or((&[0; 4], &[]));
    let all = rest.as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes));
    all.take(u32::from_le_bytes(*size) as usize)
}

impl Method for Bottom {
    fn recipe(&self) -> Recipe {
        Recipe::new("bottom", VERSION)
            .with("s", self.s)
            .with("keys", self.keys)
            .with("shingle", self.shingle)
            .with("threshold", self.threshold)
            .with("seed", self.seed)
    }

    fn payload_bytes(&self) -> usize {
        4 + 8 * self.s
    }

    fn sketch(&self, page: &Page<'_>, sketch: &mut Sketch) {
        sketch.clear();
        sketch.length = page.len() as u32;
        let sample: &mut Vec<u64> = sketch.buffers.own();
        let salt = seed::salt(self.seed);
        smallest(page.grams(self.shingle).map(|shingle| seed::salted(shingle, salt)), self.s, sample);
        // Small numbers are no even spread of keys.
        let key = |&value: &u64| Key { value: hash::mix(value), tag: 0 };
        sketch.keys.extend(sample.iter().take(self.keys).map(key));
        sketch.payload.extend((sample.len() as u32).to_le_bytes());
        sketch.payload.extend(sample.iter().flat_map(|fingerprint| fingerprint.to_le_bytes()));
        sketch.payload.resize(self.payload_bytes(), 0);
    }

    fn accept(&self, a: &[u8], b: &[u8], _shared: u32) -> Option<Score> {
        let (both, all) = agreement(sample(a), sample(b), self.s);
        (all > 0 && self.threshold.reached_by(both, all)).then(|| Score::even(both as f64 / all as f64))
    }

    fn promising(&self, a: &[u8], b: &[u8], _shared: u32) -> bool {
        if !self.estimates_what_is_measured() {
            return true;
        }
        let (both, all) = agreement(sample(a), sample(b), self.s);
        let limit = self.threshold.value().min(self.setting.threshold.value());
        if all < self.s as u64 {
            // No sample but all there is; a hair lower costs little.
            return both as f64 >= limit * all as f64 - 1e-6;
        }
        chance::within_reach(both, all, limit)
    }

    fn abilities(&self) -> Abilities<'_> {
        Abilities { advising: Some(self), ..Abilities::default() }
    }
}

impl Advising for Bottom {
    fn advice(&self) -> Option<String> {
        let chance = 1.0 - (1.0 - self.threshold.value()).powf(self.keys as f64);
        let caveat = if self.estimates_what_is_measured() {
            String::new()
        } else {
            let Setting { similarity, shingle, .. } = &self.setting;
            format!("; what is measured is {similarity} of {shingle} words, for which no recall is promised")
        };
        Some(format!(
            "bottom gives a document {} keys and a payload of {} bytes, and proposes pairs with a probability of {chance:.3} \
             at a resemblance of {} by shingles of {} words{caveat}.",
            self.keys,
            self.payload_bytes(),
            self.threshold,
            self.shingle
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial::{assert_share, sketch, texts};
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    const A: [u64; 7] = [3, 10, 25, 40, 50, 77, 100];
    const B: [u64; 6] = [10, 25, 30, 50, 75, 100];

    fn make(text: &str) -> Box<dyn Method> {
        crate::method(text, &Setting { shingle: 1, ..Setting::default() }).unwrap()
    }

    fn smallest_of(all: &[u64], s: usize) -> Vec<u64> {
        let mut out = vec![9; 3];
        smallest(all.iter().copied(), s, &mut out);
        out
    }

    #[test]
    fn the_published_samples() {
        let (a, b) = (smallest_of(&A, 4), smallest_of(&B, 4));
        assert_eq!((&a[..], &b[..]), (&[3, 10, 25, 40][..], &[10, 25, 30, 50][..]));
        // M = {3, 10, 25, 30}, of which both have 10 and 25.
        assert_eq!(agreement(a.into_iter(), b.into_iter(), 4), (2, 4));
        // The whole sets: 4 of 9.
        assert_eq!(agreement(A.into_iter(), B.into_iter(), 200), (4, 9));
    }

    #[test]
    fn keys_follow_from_threshold_and_recall() {
        assert_eq!(
            make("bottom").recipe().to_string(),
            "bottom/1:keys=3,s=200,seed=1,shingle=1,threshold=0.8"
        );
        let keys = |threshold: &str| {
            make(&format!("bottom:threshold={threshold}")).recipe().parameters["keys"].clone()
        };
        assert_eq!((keys("1"), keys("0.5"), keys("0.9")), ("1".to_owned(), "6".to_owned(), "2".to_owned()));
        let error = |text: &str| crate::method(text, &Setting::default()).unwrap_err().to_string();
        assert!(error("bottom:threshold=0.01").ends_with("s=390 can"));
        assert!(error("bottom:threshold=0.0001").ends_with("exact does"));
        assert!(error("bottom:keys=0").contains("from 1 to 200"));
    }

    /// Probability that texts which share 32 of 40 words share none of the three smallest of each, when the smallest words
    /// of all were `a` of the four that only the first has, and `b` of the other's four.
    fn missed(a: u32, b: u32) -> f64 {
        if a == 3 || b == 3 {
            return 1.0;
        }
        (f64::from(4 - a) * missed(a + 1, b) + f64::from(4 - b) * missed(a, b + 1)) / f64::from(40 - a - b)
    }

    #[test]
    fn few_keys_are_enough_at_worst() {
        // All that differs is in one text: every key but a shared one is lost.
        let method = make("bottom");
        let (mut met, trials) = (0, 2000);
        for number in 0..trials {
            let whole: Vec<String> = (0..40).map(|place| format!("w{number}x{place}")).collect();
            let [a, b] = [&whole[..], &whole[..32]].map(|words| sketch(&*method, &words.join(" ")));
            met += usize::from(a.keys.iter().any(|key| b.keys.contains(key)));
        }
        // All of the three smallest of 40 are among 8.
        assert_share("met", met, trials, 1.0 - 8.0 * 7.0 * 6.0 / (40.0 * 39.0 * 38.0));
    }

    #[test]
    fn pairs_at_the_threshold_meet_and_are_estimated_without_bias() {
        let method = make("bottom:s=10");
        let (mut met, mut promising, mut sum, trials) = (0, 0, 0.0, 2000);
        for number in 0..trials {
            let [a, b] = texts(0.8, number).map(|text| sketch(&*method, &text));
            met += usize::from(a.keys.iter().any(|key| b.keys.contains(key)));
            promising += usize::from(method.promising(&a.payload, &b.payload, 1));
            let (both, all) = agreement(sample(&a.payload), sample(&b.payload), 10);
            assert_eq!(all, 10);
            sum += both as f64 / 10.0;
        }
        assert_share("met", met, trials, 1.0 - missed(0, 0));
        assert_eq!(promising, trials);
        // Drawn without replacement, so with a little less spread than binomial.
        let error = (0.8 * 0.2 / 10.0 * (30.0 / 39.0) / trials as f64).sqrt();
        assert!((sum / trials as f64 - 0.8).abs() < 3.0 * error, "{}", sum / trials as f64);
    }

    #[test]
    fn small_sets_are_measured_and_large_ones_estimated() {
        let method = make("bottom");
        let [a, b] = texts(0.75, 1).map(|text| sketch(&*method, &text));
        assert!(
            !method.promising(&a.payload, &b.payload, 1)
                && method.accept(&a.payload, &b.payload, 1).is_none()
        );
        let [a, b] = texts(0.8, 1).map(|text| sketch(&*method, &text));
        assert_eq!(method.accept(&a.payload, &b.payload, 1), Some(Score::even(0.8)));
        let other = crate::method("bottom:shingle=3", &Setting::default()).unwrap();
        assert!(other.promising(&a.payload, &[0; 1604], 1));
        assert_eq!(method.accept(&[0; 1604], &[0; 1604], 0), None);
    }

    proptest! {
        #[test]
        fn the_smallest_are_those_of_the_whole_set(all in prop::collection::vec(0u64..600, 0..900), s in 1usize..80) {
            let plain: Vec<u64> = all.iter().copied().collect::<BTreeSet<_>>().into_iter().take(s).collect();
            prop_assert_eq!(smallest_of(&all, s), plain);
        }

        #[test]
        fn agreement_is_that_of_sets(
            a in prop::collection::btree_set(0u64..60, 0..40),
            b in prop::collection::btree_set(0u64..60, 0..40),
            s in 1usize..30,
        ) {
            let union: Vec<&u64> = a.union(&b).take(s).collect();
            let both = union.iter().filter(|x| a.contains(x) && b.contains(x)).count();
            let samples = [&a, &b].map(|set| set.iter().copied().take(s).collect::<Vec<_>>().into_iter());
            let [a, b] = samples;
            prop_assert_eq!(agreement(a, b, s), (both as u64, union.len() as u64));
        }
    }
}
