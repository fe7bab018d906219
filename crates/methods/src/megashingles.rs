//! `megashingles`: all pairs of super-shingles; one equal pair makes near-duplicates.
//!
//! Two super-shingles of six are equal exactly when one of the 15 pairs is (Broder 2000; Fetterly, Manasse, Najork
//! 2003): counting becomes a lookup. As `a6` with 36 minima of shingles of five words, as Zelenkov and Segalovich (2007)
//! chose them for documents of a resemblance of 0.75 to 0.85, where 84 minima find nearly nothing; they took them by
//! random polynomials, which is `family=rabin`.

use lookalike_model::Recipe;

use crate::supershingles::{GroupBuffers, Groups, PARAMETERS, pairs};
use crate::{
    Abilities, About, Advising, Key, Method, MethodError, Page, Score, Setting, Sketch, Spec, chance, lanes,
    parameters,
};

const VERSION: u32 = 1;

/// More groups than this have too many pairs.
const MAX_GROUPS: usize = 24;

/// The description of the method that `lookalike methods` shows.
pub(crate) const ABOUT: About = About {
    name: "megashingles",
    aliases: &[("a6", "megashingles:profile=yandex,values=36,groups=6,shingle=5")],
    summary: "all pairs of super-shingles; one equal pair makes near-duplicates",
    source: "Broder 2000; Fetterly, Manasse, Najork 2003; A6 of Zelenkov, Segalovich 2007",
    formula: "\
mega-shingle (i,j) = h(i, j, s_i, s_j), i < j, of the super-shingles s_1..s_g of r = values / groups minima
accept: one equal, with probability 1 - (1-q)^g - g*q*(1-q)^(g-1), q = p^r, by the resemblance p",
    example: "lookalike pairs --method megashingles:values=36,shingle=5 --unverified docs.jsonl -o pairs.jsonl",
    parameters: &PARAMETERS,
    make: MegaShingles::make,
};

/// The method `megashingles`.
#[derive(Debug)]
pub(crate) struct MegaShingles {
    groups: Groups,
}

impl MegaShingles {
    pub(crate) fn make(mut spec: Spec, setting: &Setting) -> Result<Box<dyn Method>, MethodError> {
        let groups = Groups::take(&mut spec, setting)?;
        if !(2..=MAX_GROUPS).contains(&groups.count()) {
            return Err(spec.value_error(
                "groups",
                &groups.count().to_string(),
                "a number from 2 to 24 is wanted",
            ));
        }
        spec.finish()?;
        parameters::refuse_containment("megashingles", setting)?;
        Ok(Box::new(MegaShingles { groups }))
    }
}

impl Method for MegaShingles {
    fn recipe(&self) -> Recipe {
        self.groups.describe(Recipe::new("megashingles", VERSION))
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
        self.groups.hash(page, false, buffers);
        let supershingles = buffers.hashes();
        pairs(supershingles, |value| sketch.keys.push(Key { value, tag: 0 }));
        self.groups.append_payload(supershingles, &mut sketch.payload);
    }

    fn accept(&self, a: &[u8], b: &[u8], _shared: u32) -> Option<Score> {
        let equal = lanes::equal(a, b);
        (equal >= 2).then(|| Score::even(equal as f64 / self.groups.count() as f64))
    }

    fn abilities(&self) -> Abilities<'_> {
        Abilities {
            profile: self.groups.profile(),
            resident_bytes: self.groups.bytes(),
            advising: Some(self),
            ..Abilities::default()
        }
    }
}

impl Advising for MegaShingles {
    fn advice(&self) -> Option<String> {
        let chance = |p: f64| chance::at_least(2, self.groups.count(), self.groups.chance(p));
        let chances = [0.95, 0.9, 0.85, 0.8, 0.75].map(|p| format!("{:.3} at {p:.2}", chance(p)));
        Some(format!(
            "megashingles gives a document {} keys and a payload of {} bytes, and takes pairs for near-duplicates with a \
             probability of {} by the resemblance of their shingles of {} words.",
            self.groups.count() * (self.groups.count() - 1) / 2,
            self.payload_bytes(),
            chances.join(", "),
            self.groups.shingle()
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::supershingles::tests::PUBLISHED;
    use crate::trial::{assert_share, sketch, texts};
    use lookalike_text::Profile;

    fn make(text: &str) -> Box<dyn Method> {
        crate::method(text, &Setting::default()).unwrap()
    }

    #[test]
    fn a6_has_36_minima_in_15_keys() {
        let a6 = make("a6");
        assert_eq!(
            a6.recipe().to_string(),
            format!(
                "megashingles/1:family=mix,groups=6,profile={},seed=1,shingle=5,values=36",
                crate::spec::profile_value(Some(&Profile::yandex()))
            )
        );
        let text = "Numerous experiments compared signatures. Every signature forgets something different.";
        assert_eq!((sketch(&*a6, text).keys.len(), a6.payload_bytes()), (15, 48));
        let advice = a6.abilities().advice().unwrap();
        assert!(advice.contains("0.729 at 0.85, 0.495 at 0.80, 0.291 at 0.75"), "{advice}");
    }

    #[test]
    fn mega_shingles_agree_when_two_super_shingles_do_and_as_often_as_the_formula_says() {
        for family in ["mix", "rabin"] {
            let method = make(&format!("megashingles:values=36,shingle=1,family={family}"));
            for [p, .., expected] in PUBLISHED {
                let (mut hits, trials) = (0, 1500);
                for number in 0..trials {
                    let [a, b] = texts(p, number).map(|text| sketch(&*method, &text));
                    let meet = a.keys.iter().any(|key| b.keys.contains(key));
                    assert_eq!(meet, method.accept(&a.payload, &b.payload, 1).is_some());
                    hits += usize::from(meet);
                }
                assert_share(&format!("{family} at {p}"), hits, trials, expected);
            }
        }
    }

    #[test]
    fn one_group_has_no_pair() {
        let error = |text: &str| crate::method(text, &Setting::default()).unwrap_err().to_string();
        assert!(error("megashingles:groups=1").contains("from 2 to 24"));
        assert!(error("megashingles:groups=42").contains("from 2 to 24"));
    }
}
