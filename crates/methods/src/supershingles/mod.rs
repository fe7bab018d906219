//! `supershingles`: minima in groups, each hashed to one value; documents with enough equal values are near-duplicates.
//!
//! Of 84 minima over a document's shingles, six groups of 14 become six super-shingles (Broder 1997; Fetterly, Manasse,
//! Najork 2003). A group is equal with a probability of `p^14` for documents of the resemblance `p`, so that two equal
//! groups of six are a steep rule: 0.88 for `p` = 0.95, 0.03 for `p` = 0.8.
//!
//! - `groups`: minima and their groups, which mega-shingles are made of as well

mod groups;

use lookalike_hash as hash;
use lookalike_model::Recipe;

pub(crate) use self::groups::{GroupBuffers, Groups, PARAMETERS, pairs};
use crate::{
    Abilities, About, Advising, Key, Method, MethodError, Page, Score, Setting, Sketch, Spec, Splitting,
    chance, lanes, parameters,
};

const VERSION: u32 = 1;

/// Groups of which all pairs are few enough to be stricter keys.
const FEW: usize = 12;

/// The description of the method that `lookalike methods` shows.
pub(crate) const ABOUT: About = About {
    name: "supershingles",
    aliases: &[],
    summary: "minima in groups, one hash for each; documents with enough equal groups",
    source: "Broder 1997; Fetterly, Manasse, Najork 2003",
    formula: "\
super-shingle j = h(m_(jr+1), ..., m_(jr+r)), r = values / groups, m_i = min over shingles s of h_i(s)
accept: at least `least` of g equal, with probability P(>=2) = 1 - (1-q)^g - g*q*(1-q)^(g-1), q = p^r, by default",
    example: "lookalike pairs --method supershingles:least=2 --unverified docs.jsonl -o pairs.jsonl",
    parameters: &[
        PARAMETERS[0],
        PARAMETERS[1],
        PARAMETERS[2],
        PARAMETERS[3],
        PARAMETERS[4],
        PARAMETERS[5],
        ("least", "super-shingles that must be equal"),
        ("grouping", "positional (minima by function), or sorted (minima by size, super-shingles compared as sets)"),
    ],
    make: SuperShingles::make,
};

/// The method `supershingles`.
#[derive(Debug)]
pub(crate) struct SuperShingles {
    groups: Groups,
    least: usize,
    sorted: bool,
}

impl SuperShingles {
    pub(crate) fn make(mut spec: Spec, setting: &Setting) -> Result<Box<dyn Method>, MethodError> {
        let groups = Groups::take(&mut spec, setting)?;
        let wanted = format!("a number from 1 to {}, the groups, is wanted", groups.count());
        let least = spec
            .value("least", groups.count().min(2), &wanted, |least| (1..=groups.count()).contains(least))?;
        let sorted = spec.choice("grouping", &[("positional", false), ("sorted", true)])?;
        spec.finish()?;
        parameters::refuse_containment("supershingles", setting)?;
        Ok(Box::new(SuperShingles { groups, least, sorted }))
    }

    /// Number of equal super-shingles.
    fn equal(&self, a: &[u8], b: &[u8]) -> usize {
        if self.sorted { lanes::common(a, b) } else { lanes::equal(a, b) }
    }

    /// Probability that documents of this `resemblance` are near-duplicates by this method.
    fn chance(&self, resemblance: f64) -> f64 {
        chance::at_least(self.least, self.groups.count(), self.groups.chance(resemblance))
    }
}

impl Method for SuperShingles {
    fn recipe(&self) -> Recipe {
        self.groups
            .describe(Recipe::new("supershingles", VERSION))
            .with("least", self.least)
            .with("grouping", if self.sorted { "sorted" } else { "positional" })
    }

    fn payload_bytes(&self) -> usize {
        8 * self.groups.count()
    }

    fn sketch(&self, page: &Page<'_>, sketch: &mut Sketch) {
        sketch.clear();
        sketch.length = page.len() as u32;
        if page.is_empty() {
            return self.groups.append_payload(&[], &mut sketch.payload);
        }
        let buffers: &mut GroupBuffers = sketch.buffers.own();
        self.groups.hash(page, self.sorted, buffers);
        let supershingles = buffers.hashes();
        if self.sorted {
            // A set: in the order that sets are compared in, and the same key at any place.
            supershingles.sort_unstable();
            sketch.keys.extend(supershingles.iter().map(|&value| Key { value, tag: 0 }));
        } else {
            let key = |(place, &value): (u64, &u64)| Key { value: hash::nth(place, value), tag: 0 };
            sketch.keys.extend((1..).zip(supershingles.iter()).map(key));
        }
        self.groups.append_payload(supershingles, &mut sketch.payload);
    }

    fn accept(&self, a: &[u8], b: &[u8], _shared: u32) -> Option<Score> {
        let equal = self.equal(a, b);
        (equal >= self.least).then(|| Score::even(equal as f64 / self.groups.count() as f64))
    }

    fn abilities(&self) -> Abilities<'_> {
        Abilities {
            profile: self.groups.profile(),
            resident_bytes: self.groups.bytes(),
            splitting: Some(self),
            advising: Some(self),
            ..Abilities::default()
        }
    }
}

impl Splitting for SuperShingles {
    /// Appends all pairs of super-shingles as stricter keys, if two must be equal by position and there are few.
    fn split(&self, payload: &[u8], _tag: u32, depth: u32, keys: &mut Vec<u64>) {
        let mut supershingles = [0; FEW];
        let count = self.groups.count();
        if depth == 1 && self.least >= 2 && !self.sorted && count <= FEW {
            supershingles.iter_mut().zip(lanes::values(payload)).for_each(|(place, value)| *place = value);
            pairs(&supershingles[..count], |key| keys.push(key));
        }
    }
}

impl Advising for SuperShingles {
    fn advice(&self) -> Option<String> {
        let keys = format!(
            "supershingles gives a document {} keys and as many values of 8 bytes",
            self.groups.count()
        );
        if self.sorted {
            return Some(format!(
                "{keys}; minima were sorted before they were grouped, for which no formula tells the probability of a \
                 pair."
            ));
        }
        let chances = [0.95, 0.9, 0.85, 0.8, 0.75].map(|p| format!("{:.3} at {p:.2}", self.chance(p)));
        Some(format!(
            "{keys}, and takes pairs for near-duplicates with a probability of {} by the resemblance of their shingles \
             of {} words.",
            chances.join(", "),
            self.groups.shingle()
        ))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::minhash::bands::Bands;
    use crate::trial::{assert_share, sketch, texts};

    /// Resemblance, its 14th power, P(≥1) and P(≥2) of 6 groups of 14, the 6th power, P(≥2) of 6 groups of 6.
    pub(crate) const PUBLISHED: [[f64; 6]; 5] = [
        [0.95, 0.487675, 0.981917, 0.878638, 0.735092, 0.993900],
        [0.90, 0.228768, 0.789569, 0.415051, 0.531441, 0.917402],
        [0.85, 0.102770, 0.478297, 0.119758, 0.377150, 0.729494],
        [0.80, 0.043980, 0.236515, 0.025776, 0.262144, 0.494635],
        [0.75, 0.017818, 0.102257, 0.004540, 0.177979, 0.290662],
    ];

    fn make(text: &str) -> Box<dyn Method> {
        crate::method(text, &Setting::default()).unwrap()
    }

    #[test]
    fn formulas_give_the_published_probabilities() {
        let near = |a: f64, b: f64| assert!((a - b).abs() < 0.5e-6, "{a} and {b}");
        for [p, q14, one, two, q6, two_of_six] in PUBLISHED {
            near(p.powi(14), q14);
            near(chance::at_least(1, 6, p.powi(14)), one);
            // One equal group is what bands are.
            near(Bands { count: 6, rows: 14 }.probability(p), one);
            near(chance::at_least(2, 6, p.powi(14)), two);
            near(p.powi(6), q6);
            near(chance::at_least(2, 6, p.powi(6)), two_of_six);
            let q = p.powi(14);
            near(1.0 - (1.0 - q).powi(6), one);
            near(1.0 - (1.0 - q).powi(6) - 6.0 * q * (1.0 - q).powi(5), two);
        }
        // As printed, with q rounded to 0.49.
        assert!((chance::at_least(2, 6, 0.49) - 0.881).abs() < 0.5e-3);
        let advice = make("supershingles").abilities().advice().unwrap();
        assert!(
            advice.contains("0.879 at 0.95, 0.415 at 0.90, 0.120 at 0.85, 0.026 at 0.80, 0.005 at 0.75"),
            "{advice}"
        );
    }

    #[test]
    fn super_shingles_agree_as_often_as_the_formulas_say() {
        for family in ["mix", "rabin"] {
            let (one, two) = (
                make(&format!("supershingles:shingle=1,family={family},least=1")),
                make(&format!("supershingles:shingle=1,family={family}")),
            );
            for [p, _, at_least_one, at_least_two, ..] in PUBLISHED {
                let (mut ones, mut twos, trials) = (0, 0, 1500);
                for number in 0..trials {
                    let [a, b] = texts(p, number).map(|text| sketch(&*two, &text));
                    ones += usize::from(one.accept(&a.payload, &b.payload, 1).is_some());
                    twos += usize::from(two.accept(&a.payload, &b.payload, 1).is_some());
                }
                assert_share(&format!("{family}, one at {p}"), ones, trials, at_least_one);
                assert_share(&format!("{family}, two at {p}"), twos, trials, at_least_two);
            }
        }
    }

    #[test]
    fn keys_meet_only_at_their_position() {
        let method = make("supershingles");
        let rose = sketch(&*method, "a rose is a rose is a rose");
        assert_eq!((rose.keys.len(), rose.payload.len()), (6, 48));
        let mut rotated = rose.payload.clone();
        rotated.rotate_left(8);
        assert_eq!(method.accept(&rose.payload, &rotated, 6), None);
        assert_eq!(method.accept(&rose.payload, &rose.payload, 6), Some(Score::even(1.0)));
        let mut half = rose.payload.clone();
        half[..24].fill(9);
        assert_eq!(method.accept(&rose.payload, &half, 3), Some(Score::even(0.5)));
        half[..40].fill(9);
        assert_eq!(method.accept(&rose.payload, &half, 1), None);
    }

    #[test]
    fn sorted_super_shingles_are_sets() {
        let method = make("supershingles:grouping=sorted,values=12,groups=6,shingle=1");
        let [a, b] = texts(0.95, 1).map(|text| sketch(&*method, &text));
        let shared = a.keys.iter().filter(|key| b.keys.contains(key)).count();
        let score = method.accept(&a.payload, &b.payload, 1).map(|score| score.forward);
        assert_eq!(score, (shared >= 2).then_some(shared as f64 / 6.0));
        // Of an even sample of pairs some agree and some do not.
        let agree = (0..200).filter(|&number| {
            let [a, b] = texts(0.8, number).map(|text| sketch(&*method, &text));
            method.accept(&a.payload, &b.payload, 1).is_some()
        });
        assert!((20..180).contains(&agree.count()));
    }

    #[test]
    fn no_words_pair_with_nothing() {
        for method in ["supershingles", "supershingles:grouping=sorted", "megashingles"].map(make) {
            let none = sketch(&*method, "");
            assert_eq!((none.keys.len(), method.accept(&none.payload, &none.payload, 0)), (0, None));
        }
    }

    #[test]
    fn what_it_cannot_do_is_a_sentence() {
        let error = |text: &str| crate::method(text, &Setting::default()).unwrap_err().to_string();
        assert!(error("supershingles:groups=5").contains("divides 84"));
        assert!(error("supershingles:groups=0").contains("divides 84"));
        assert!(error("supershingles:values=85").contains("multiple of 6"));
        assert!(error("supershingles:least=7").contains("from 1 to 6"));
        assert!(error("supershingles:family=md5").contains("mix, rabin"));
    }
}
