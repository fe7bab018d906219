//! `dsc-ss`: super-shingles of a sample's fingerprints; one in common makes near-duplicates.
//!
//! The faster and coarser way of Broder, Glassman, Manasse and Zweig (1997): the fingerprints that `mod` keeps, in order,
//! are shingled once more. Documents that keep fewer than make one super-shingle have none and are never seen, which
//! Kołcz, Chowdhury and Alspector (2004) found to be many.

use lookalike_hash as hash;
use lookalike_model::Recipe;

use crate::sample::{PARAMETERS, Sample};
use crate::{
    Abilities, About, Advising, Key, Method, MethodError, Page, Score, Setting, Sketch, Spec, parameters,
    shares,
};

const VERSION: u32 = 1;

/// The description of the method that `lookalike methods` shows.
pub(crate) const ABOUT: About = About {
    name: "dsc-ss",
    aliases: &[],
    summary: "super-shingles of the fingerprints that a number divides; one in common is enough",
    source: "Broder, Glassman, Manasse, Zweig 1997",
    formula: "\
a_1 < a_2 < ... = fingerprints of shingles that m divides; keys: h(a_i, ..., a_(i+per-1)) for every i, or every per-th
accept: one in common; nothing for documents with fewer than `per` fingerprints",
    example: "lookalike pairs --method dsc-ss:per=4 --unverified docs.jsonl -o pairs.jsonl",
    parameters: &[
        PARAMETERS[0],
        PARAMETERS[1],
        PARAMETERS[2],
        PARAMETERS[3],
        ("per", "fingerprints of a super-shingle"),
        ("windows", "overlapping (from every fingerprint on), or apart"),
    ],
    make: DscSs::make,
};

/// The method `dsc-ss`.
#[derive(Debug)]
pub(crate) struct DscSs {
    sample: Sample,
    per: usize,
    overlapping: bool,
}

impl DscSs {
    pub(crate) fn make(mut spec: Spec, setting: &Setting) -> Result<Box<dyn Method>, MethodError> {
        let sample = Sample::take(&mut spec, setting, 40, 10)?;
        // A page of 400 words keeps some 16 fingerprints: five to a super-shingle leave a dozen, while five that are
        // neighbours in two documents hardly are so by accident.
        let per =
            spec.value("per", 5, "a number from 1 to 1000 is wanted", |per| (1..=1000).contains(per))?;
        // With windows apart, one fingerprint more in one document makes all behind it unlike.
        let overlapping = spec.choice("windows", &[("overlapping", true), ("apart", false)])?;
        spec.finish()?;
        parameters::refuse_containment("dsc-ss", setting)?;
        Ok(Box::new(DscSs { sample, per, overlapping }))
    }
}

impl Method for DscSs {
    fn recipe(&self) -> Recipe {
        self.sample
            .describe(Recipe::new("dsc-ss", VERSION))
            .with("per", self.per)
            .with("windows", if self.overlapping { "overlapping" } else { "apart" })
    }

    fn payload_bytes(&self) -> usize {
        4
    }

    fn sketch(&self, page: &Page<'_>, sketch: &mut Sketch) {
        sketch.clear();
        sketch.length = page.len() as u32;
        let kept: &mut Vec<u64> = sketch.buffers.own();
        self.sample.draw(page, kept);
        let step = if self.overlapping { 1 } else { self.per };
        let windows = kept.windows(self.per).step_by(step);
        // A window begins with a fingerprint that no other begins with, so all keys are different.
        sketch.keys.extend(windows.map(|window| Key { value: supershingle(window), tag: 0 }));
        sketch.payload.extend((sketch.keys.len() as u32).to_le_bytes());
    }

    fn accept(&self, a: &[u8], b: &[u8], shared: u32) -> Option<Score> {
        let union = shares::number(a).saturating_add(shares::number(b)).saturating_sub(shared).max(shared);
        (shared > 0).then(|| Score::even(f64::from(shared) / f64::from(union)))
    }

    fn abilities(&self) -> Abilities<'_> {
        Abilities { counted_keys: Some(1), advising: Some(self), ..Abilities::default() }
    }
}

impl Advising for DscSs {
    fn advice(&self) -> Option<String> {
        Some(format!(
            "dsc-ss never sees documents that keep fewer than {} of their shingles of {} words, of which it keeps one in \
             {}.",
            self.per,
            self.sample.shingle(),
            self.sample.m()
        ))
    }
}

fn supershingle(fingerprints: &[u64]) -> u64 {
    fingerprints
        .iter()
        .fold(fingerprints.len() as u64, |state, &fingerprint| hash::mix(state ^ hash::mix(fingerprint)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial::sketch;

    fn make(text: &str) -> Box<dyn Method> {
        crate::method(text, &Setting::default()).unwrap()
    }

    #[test]
    fn windows_overlap_or_do_not() {
        let text = "one two three four five six seven";
        let overlapping = sketch(&*make("dsc-ss:m=1,shingle=1,per=3"), text);
        let apart = sketch(&*make("dsc-ss:m=1,shingle=1,per=3,windows=apart"), text);
        assert_eq!((overlapping.keys.len(), apart.keys.len()), (5, 2));
        assert_eq!([overlapping.keys[0], overlapping.keys[3]], apart.keys[..]);
        assert_eq!(overlapping.payload, [5, 0, 0, 0]);
    }

    #[test]
    fn one_in_common_is_enough() {
        let method = make("dsc-ss:m=1,shingle=1,per=2");
        let [a, b] = ["one two three four", "one two three five"].map(|text| sketch(&*method, text));
        let shared = a.keys.iter().filter(|key| b.keys.contains(key)).count() as u32;
        // The words in the order of their hashes: pairs of neighbours that "four" and "five" are not part of.
        let mut order = ["one", "two", "three"].map(|word| hash::word(word.as_bytes()));
        order.sort_unstable();
        let apart = |other: &str| order.partition_point(|&word| word < hash::word(other.as_bytes()));
        let kept = (1..3).filter(|&gap| apart("four") != gap && apart("five") != gap).count() as u32;
        assert_eq!(shared, kept);
        assert_eq!(method.accept(&a.payload, &b.payload, 1), Some(Score::even(1.0 / 5.0)));
        assert_eq!(method.accept(&a.payload, &b.payload, 0), None);
        assert_eq!(method.accept(&a.payload, &a.payload, 3), Some(Score::even(1.0)));
    }

    #[test]
    fn short_documents_have_none() {
        let method = make("dsc-ss:m=1,shingle=1");
        assert_eq!(sketch(&*method, "one two three four").keys, []);
        assert_eq!(sketch(&*method, "one two three four five").keys.len(), 1);
    }
}
