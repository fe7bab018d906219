//! `mod`: every fingerprint that a number divides; what two samples share estimates what two documents share.
//!
//! Broder's first sampling method (1997). The sample grows with the document, so it tells not only resemblance but also
//! containment, and says nothing of documents so short that no fingerprint is kept. As `dsc` it is the clustering of
//! Broder, Glassman, Manasse and Zweig (1997): 40-bit fingerprints of ten words, one in 25 kept, those of more than 1000
//! documents left out, near-duplicates from a resemblance of one half.

use lookalike_hash as hash;
use lookalike_model::{Recipe, Similarity, Threshold};

use crate::sample::{PARAMETERS, Sample};
use crate::{
    Abilities, About, Advising, Grouping, Key, Method, MethodError, Page, Score, Setting, Sketch, Spec,
    chance, parameters, shares,
};

const VERSION: u32 = 1;

/// The description of the method that `lookalike methods` shows.
pub(crate) const ABOUT: About = About {
    name: "mod",
    aliases: &[("dsc", "mod:bits=40,m=25,shingle=10,most=1000,similarity=jaccard,threshold=0.5")],
    summary: "the fingerprints that a number divides; shared ones estimate resemblance or containment",
    source: "Broder 1997; DSC: Broder, Glassman, Manasse, Zweig 1997",
    formula: "\
A' = {fingerprints of shingles that m divides}; resemblance = |A' and B'| / |A' or B'|, containment = |A' and B'| / |A'|
keys: A'; accept: estimate >= threshold",
    example: "lookalike pairs --method mod:m=10 --similarity containment docs.jsonl -o pairs.jsonl",
    parameters: &[
        PARAMETERS[0],
        PARAMETERS[1],
        PARAMETERS[2],
        PARAMETERS[3],
        ("most", "fingerprints of more documents are left out; any leaves out none"),
        ("similarity", "jaccard or containment; the run's, and jaccard in runs by another"),
        ("threshold", "least estimate of a near-duplicate; the run's"),
    ],
    make: Mod::make,
};

/// The method `mod`.
#[derive(Debug)]
pub(crate) struct Mod {
    sample: Sample,
    /// Documents of the most common fingerprint that is not left out.
    most: Option<u64>,
    similarity: Similarity,
    threshold: Threshold,
    /// The threshold that runs measure by, if they measure what samples estimate.
    measured: Option<Threshold>,
}

impl Mod {
    pub(crate) fn make(mut spec: Spec, setting: &Setting) -> Result<Box<dyn Method>, MethodError> {
        let sample = Sample::take(&mut spec, setting, 64, setting.shingle)?;
        let most = most(&mut spec)?;
        let run = setting.similarity;
        let default = if run == Similarity::Containment { run } else { Similarity::Jaccard };
        let wanted = "jaccard or containment is wanted";
        let similarity = spec.value("similarity", default, wanted, |similarity| {
            matches!(similarity, Similarity::Jaccard | Similarity::Containment)
        })?;
        let threshold = parameters::threshold(&mut spec, setting.threshold)?;
        spec.finish()?;
        if run == Similarity::Containment && similarity == Similarity::Jaccard {
            return Err(MethodError::Unable(
                "mod with similarity=jaccard, which is dsc, cannot see that one document holds another of a different \
                 size; leave similarity out, or set it to containment"
                    .to_owned(),
            ));
        }
        let alike = similarity == run && sample.shingle() == setting.shingle;
        let measured = alike.then_some(setting.threshold);
        Ok(Box::new(Mod { sample, most, similarity, threshold, measured }))
    }

    /// Returns part and whole in both directions: what is shared, of each document for containment, or else of the
    /// union.
    fn shares(&self, a: &[u8], b: &[u8], shared: u32) -> [(u64, u64); 2] {
        let [a, b, shared] = [shares::number(a), shares::number(b), shared].map(u64::from);
        if self.similarity == Similarity::Containment {
            return [(shared, a), (shared, b)];
        }
        let union = (a + b).saturating_sub(shared);
        [(shared, union); 2]
    }
}

/// The number of documents from which a fingerprint is too common.
fn most(spec: &mut Spec) -> Result<Option<u64>, MethodError> {
    match spec.text("most").as_deref() {
        None | Some("any") => Ok(None),
        Some(text) => match text.parse() {
            Ok(most) if most > 1 => Ok(Some(most)),
            _ => Err(spec.value_error("most", text, "a number of documents from 2, or any, is wanted")),
        },
    }
}

impl Method for Mod {
    fn recipe(&self) -> Recipe {
        self.sample
            .describe(Recipe::new("mod", VERSION))
            .with("most", self.most.map_or("any".to_owned(), |most| most.to_string()))
            .with("similarity", self.similarity)
            .with("threshold", self.threshold)
    }

    fn payload_bytes(&self) -> usize {
        4
    }

    fn sketch(&self, page: &Page<'_>, sketch: &mut Sketch) {
        sketch.clear();
        sketch.length = page.len() as u32;
        let kept: &mut Vec<u64> = sketch.buffers.own();
        self.sample.draw(page, kept);
        // Multiples of one number are no even spread of keys.
        sketch.keys.extend(kept.iter().map(|&kept| Key { value: hash::mix(kept), tag: 0 }));
        sketch.payload.extend((kept.len() as u32).to_le_bytes());
    }

    fn accept(&self, a: &[u8], b: &[u8], shared: u32) -> Option<Score> {
        let [forward, backward] = self.shares(a, b, shared);
        let reached = |(part, whole): (u64, u64)| part > 0 && self.threshold.reached_by(part, whole);
        let share = |(part, whole): (u64, u64)| (part as f64 / whole.max(1) as f64).min(1.0);
        let score = Score {
            forward: share(forward),
            backward: share(backward),
            reached: reached(forward),
            reached_back: reached(backward),
        };
        (score.reached || score.reached_back).then_some(score)
    }

    /// Returns the verdict of the method where common fingerprints are left out, since their number then says nothing
    /// of what is measured; else true unless the threshold is out of reach.
    fn promising(&self, a: &[u8], b: &[u8], shared: u32) -> bool {
        match self.measured {
            _ if self.most.is_some() => self.accept(a, b, shared).is_some(),
            None => true,
            Some(measured) => {
                let limit = measured.value().min(self.threshold.value());
                let mut shares = self.shares(a, b, shared).into_iter();
                shares.any(|(part, whole)| chance::within_reach(part, whole, limit))
            }
        }
    }

    fn abilities(&self) -> Abilities<'_> {
        Abilities {
            counted_keys: Some(1),
            directed: self.similarity == Similarity::Containment,
            grouping: Some(self),
            advising: Some(self),
            ..Abilities::default()
        }
    }
}

impl Grouping for Mod {
    fn max_documents_per_key(&self, _documents: u64) -> u64 {
        self.most.unwrap_or(u64::MAX)
    }
}

impl Advising for Mod {
    fn advice(&self) -> Option<String> {
        let (m, shingle) = (self.sample.m(), self.sample.shingle());
        (m > 1).then(|| {
            format!(
                "mod keeps one in {m} shingles of {shingle} words, and never sees documents of which it keeps none, as \
                 happens to one in ten of {} words.",
                unsampled_length(m) + shingle - 1
            )
        })
    }
}

/// Shingles of a document of which none is kept one time in ten.
fn unsampled_length(m: u64) -> usize {
    (0.1f64.ln() / (-1.0 / m as f64).ln_1p()).round() as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial::{assert_share, sketch, texts};

    fn make(text: &str, similarity: Similarity) -> Box<dyn Method> {
        crate::method(text, &Setting { similarity, ..Setting::default() }).unwrap()
    }

    fn payload(size: usize) -> Vec<u8> {
        (size as u32).to_le_bytes().to_vec()
    }

    #[test]
    fn samples_of_the_published_fingerprints() {
        let mut spec: Spec = "mod:m=25".parse().unwrap();
        let sample = Sample::take(&mut spec, &Setting::default(), 64, 5).unwrap();
        let kept = |all: &[u64]| all.iter().copied().filter(|&x| sample.keeps(x)).collect::<Vec<_>>();
        let (a, b) = (kept(&[3, 10, 25, 40, 50, 77, 100]), kept(&[10, 25, 30, 50, 75, 100]));
        assert_eq!((&a[..], &b[..]), (&[25, 50, 100][..], &[25, 50, 75, 100][..]));
        let shared = a.iter().filter(|x| b.contains(x)).count() as u32;
        let score = |threshold: &str, similarity| {
            make(&format!("mod:threshold={threshold}"), similarity).accept(
                &payload(a.len()),
                &payload(b.len()),
                shared,
            )
        };
        assert_eq!(score("0.75", Similarity::Jaccard), Some(Score::even(0.75)));
        assert_eq!(score("0.76", Similarity::Jaccard), None);
        let contained = Some(Score { forward: 1.0, backward: 0.75, reached: true, reached_back: false });
        assert_eq!(score("1", Similarity::Containment), contained);
        // The whole sets share 4 of 7 and 6.
        let all = make("mod:threshold=0.5", Similarity::Containment).accept(&payload(7), &payload(6), 4);
        let parts = all.map(|score| (score.forward, score.backward));
        assert_eq!(parts, Some((4.0 / 7.0, 4.0 / 6.0)));
    }

    #[test]
    fn the_menu_has_five_pairs_of_words() {
        let menu = sketch(
            &*make("mod:m=1,shingle=2", Similarity::Jaccard),
            "spam spam spam lovely spam wonderful spam lovely spam",
        );
        let pair = |words: &str| sketch(&*make("mod:m=1,shingle=2", Similarity::Jaccard), words).keys;
        let pairs = ["spam spam", "spam lovely", "lovely spam", "spam wonderful", "wonderful spam"];
        let mut wanted: Vec<Key> = pairs.iter().flat_map(|words| pair(words)).collect();
        let mut found = menu.keys;
        wanted.sort_unstable();
        found.sort_unstable();
        assert_eq!((found.len(), found), (5, wanted));
    }

    #[test]
    fn a_document_in_another_is_seen() {
        let method = make("mod:m=1,shingle=1", Similarity::Containment);
        let (part, whole) = ("a rose is", "no tulip or lily or a daisy is a rose");
        let [a, b] = [part, whole].map(|text| sketch(&*method, text));
        let shared = a.keys.iter().filter(|key| b.keys.contains(key)).count() as u32;
        assert_eq!(
            method.accept(&a.payload, &b.payload, shared),
            Some(Score { forward: 1.0, backward: 3.0 / 8.0, reached: true, reached_back: false })
        );
        assert_eq!(method.accept(&a.payload, &b.payload, shared - 1), None);
    }

    #[test]
    fn one_in_m_shingles_is_kept_the_same_in_all_documents() {
        let method = make("mod:m=8,shingle=1", Similarity::Jaccard);
        let (mut kept, mut shared, mut both) = (0, 0, 0);
        for number in 0..400 {
            let [a, b] = texts(0.5, number).map(|text| sketch(&*method, &text));
            let common = a.keys.iter().filter(|key| b.keys.contains(key)).count();
            kept += a.keys.len();
            shared += common;
            both += a.keys.len() + b.keys.len() - common;
        }
        // Texts of 30 words, 20 of them in the other.
        assert_share("kept", kept, 400 * 30, 1.0 / 8.0);
        assert_share("resemblance", shared, both, 0.5);
    }

    #[test]
    fn nothing_kept_is_no_signature() {
        let method = make("mod:m=18446744073709551557", Similarity::Jaccard);
        let none = sketch(&*method, "a rose is a rose is a rose");
        assert_eq!((none.keys.len(), method.accept(&none.payload, &none.payload, 0)), (0, None));
    }

    #[test]
    fn dsc_is_as_published() {
        let dsc = make("dsc", Similarity::Jaccard);
        assert_eq!(
            dsc.recipe().to_string(),
            "mod/1:bits=40,m=25,most=1000,seed=1,shingle=10,similarity=jaccard,threshold=0.5"
        );
        assert_eq!(
            (dsc.abilities().max_documents_per_key(1 << 40), dsc.abilities().counts_keys()),
            (1000, true)
        );
        // 4 of 8 is one half.
        assert_eq!(dsc.accept(&payload(6), &payload(6), 4), Some(Score::even(0.5)));
        assert_eq!(dsc.accept(&payload(6), &payload(7), 4), None);
        assert!(!dsc.promising(&payload(6), &payload(7), 4));
        let error =
            crate::method("dsc", &Setting { similarity: Similarity::Containment, ..Setting::default() });
        assert!(error.unwrap_err().to_string().contains("leave similarity out"));
    }

    #[test]
    fn what_is_within_reach_is_measured() {
        let (same, other) = (make("mod", Similarity::Jaccard), make("mod:shingle=3", Similarity::Jaccard));
        assert!(
            same.promising(&payload(20), &payload(20), 15)
                && !same.promising(&payload(200), &payload(200), 120)
        );
        assert!(other.promising(&payload(200), &payload(200), 1));
        assert_eq!(unsampled_length(25), 56);
    }
}
