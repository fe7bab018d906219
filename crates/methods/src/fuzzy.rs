//! `fuzzy`: documents whose words begin with the same letters about as often.
//!
//! Fuzzy-fingerprinting (Stein 2005). For each letter c, f_c is the part of a document's words that begin with it, and
//! e_c the same over the whole collection, which a survey counts. The deviation (f_c − e_c)/e_c becomes a digit: 0 for
//! far too few, 2 for far too many, 1 for about right, with another width of "about" in each of ρ schemes. The digits
//! are one number to the base of three, and documents with the same number in the same scheme are candidates. Whether
//! they are near-duplicates is for the cosine of their words to say.
//!
//! The letters of Latin are `a` to `z`. A document of another script has as classes the 32 first letters that words of
//! this script begin with most often in the collection. Which script a document has, most of its words' first letters
//! say; shares are of the words that begin with a letter of this script, and documents of different scripts never meet.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{OnceLock, PoisonError, RwLock};

use lookalike_hash as hash;
use lookalike_model::{Recipe, Similarity, Threshold};
use lookalike_text::{Profile, script};

use crate::spec::profile_value;
use crate::surveys::{self, Magic};
use crate::{
    Abilities, About, Advising, Buffers, Key, Method, MethodError, OwnMeasure, Page, Score, Setting, Sketch,
    Spec, Survey, parameters,
};

const VERSION: u32 = 1;

const MAGIC: &Magic = b"fuzzy  1";

/// Code points that are counted: the two planes that hold all letters but rare ideographs.
const CODE_POINTS: usize = 0x2_0000;

/// The most classes of a script; 3^32 is well within 64 bits.
const CLASSES: usize = 32;

/// The most schemes.
const SCHEMES: usize = 16;

/// The description of the method that `lookalike methods` shows.
pub(crate) const ABOUT: About = About {
    name: "fuzzy",
    aliases: &[],
    summary: "words begin with the same letters about as often as in the other document",
    source: "fuzzy-fingerprinting: Stein 2005",
    formula: "\
deviation of letter c = (f_c - e_c) / e_c, f_c being its part of the document's first letters, e_c the collection's
digit in scheme s: 0 below -width_s, 2 above width_s, else 1; value_s = sum of digit_c * 3^c
accept: one value agrees, and the cosine of the words is at least 0.9; score: the part of the values that agree",
    example: "lookalike pairs --method fuzzy:widths=0.1+0.2+0.4 docs.jsonl -o pairs.jsonl",
    parameters: &[
        ("widths", "deviation that is still about right in each scheme, joined by +; a document has a value for each"),
        ("cosine", "least cosine of the words of a near-duplicate; 0: not measured"),
        ("profile", "how words are read; run is the run's own"),
    ],
    make: Fuzzy::make,
};

/// The method `fuzzy`.
#[derive(Debug)]
pub(crate) struct Fuzzy {
    /// The widest deviation that is about right, by scheme.
    widths: Vec<f64>,
    cosine: Option<Threshold>,
    profile: Option<Profile>,
    /// First letters of the collection's words, by code point.
    counts: OnceLock<Box<[AtomicU64]>>,
    reference: RwLock<Vec<Vec<Class>>>,
}

/// A first letter that is looked at, and its part of the words of its script in the collection.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Class {
    letter: char,
    expected: f64,
}

impl Fuzzy {
    pub(crate) fn make(mut spec: Spec, setting: &Setting) -> Result<Box<dyn Method>, MethodError> {
        let widths = widths(&mut spec)?;
        let cosine = spec.text("cosine").unwrap_or_else(|| "0.9".to_owned());
        let cosine = match cosine.as_str() {
            "0" => None,
            text => Some(
                text.parse()
                    .map_err(|_| spec.value_error("cosine", text, "a number from 0 to 1 is wanted"))?,
            ),
        };
        let profile = spec.profile(None)?;
        spec.finish()?;
        parameters::refuse_containment("fuzzy", setting)?;
        let (counts, reference) = (OnceLock::new(), RwLock::default());
        Ok(Box::new(Fuzzy { widths, cosine, profile, counts, reference }))
    }

    fn table(&self) -> &[AtomicU64] {
        self.counts.get_or_init(|| (0..CODE_POINTS).map(|_| AtomicU64::new(0)).collect())
    }

    /// Makes the reference of all that was counted so far.
    fn compute_reference(&self) {
        let mut scripts = vec![Vec::new(); script::COUNT];
        let mut totals = [0; script::COUNT];
        for (code_point, count) in (0..).zip(self.table()) {
            let count = count.load(Ordering::Relaxed);
            let Some(letter) = char::from_u32(code_point).filter(|_| count > 0) else { continue };
            if let Some(script) = script::number(letter) {
                totals[script] += count;
                scripts[script].push((letter, count));
            }
        }
        let classes = |(script, letters): (usize, Vec<(char, u64)>)| classes(script, letters, totals[script]);
        let reference = scripts.into_iter().enumerate().map(classes).collect();
        *self.reference.write().unwrap_or_else(PoisonError::into_inner) = reference;
    }

    /// The values of a document with so many words of each class, out of `words`.
    fn values<'c>(
        &'c self,
        classes: &'c [Class],
        counts: &'c [u32],
        words: u32,
    ) -> impl Iterator<Item = u64> + 'c {
        self.widths.iter().map(move |&width| {
            let digits = classes
                .iter()
                .zip(counts)
                .map(|(class, &count)| digit(f64::from(count) / f64::from(words), class.expected, width));
            digits.rev().fold(0, |value, digit| 3 * value + digit)
        })
    }
}

/// The widths that were asked for.
fn widths(spec: &mut Spec) -> Result<Vec<f64>, MethodError> {
    let text = spec.text("widths").unwrap_or_else(|| "0.1+0.2".to_owned());
    let parsed: Result<Vec<f64>, _> = text.split('+').map(str::parse).collect();
    let good = |widths: &Vec<f64>| {
        widths.len() <= SCHEMES && widths.iter().all(|width| *width > 0.0 && width.is_finite())
    };
    let wanted = "one to 16 numbers above 0 are wanted, such as 0.1+0.2";
    parsed.ok().filter(good).ok_or_else(|| spec.value_error("widths", &text, wanted))
}

/// The digit of a class, given its part of the document, of the collection, and what is about right.
fn digit(found: f64, expected: f64, about: f64) -> u64 {
    if expected == 0.0 {
        return 1;
    }
    let round = |number: f64| (number * 1e9).round();
    let (deviation, about) = (round((found - expected) / expected), round(about));
    match deviation {
        _ if deviation < -about => 0,
        _ if deviation > about => 2,
        _ => 1,
    }
}

/// The classes of a script in the order of letters, given how many of its `total` words begin with each; none for a
/// script that the collection does not have.
fn classes(script: usize, mut letters: Vec<(char, u64)>, total: u64) -> Vec<Class> {
    if total == 0 {
        return Vec::new();
    }
    let class = |letter, count: u64| Class { letter, expected: count as f64 / total as f64 };
    if Some(script) == script::number('a') {
        let count =
            |letter| letters.iter().find(|(known, _)| *known == letter).map_or(0, |(_, count)| *count);
        return ('a'..='z').map(|letter| class(letter, count(letter))).collect();
    }
    letters.sort_unstable_by_key(|&(letter, count)| (std::cmp::Reverse(count), letter));
    letters.truncate(CLASSES);
    letters.sort_unstable();
    letters.into_iter().map(|(letter, count)| class(letter, count)).collect()
}

/// The letters that words begin with; words that begin with something else are left out.
fn first_letters<'p>(page: &'p Page<'_>) -> impl Iterator<Item = char> + 'p {
    page.words().filter_map(|word| word.chars().next().filter(|first| first.is_alphabetic()))
}

/// The script that most words begin in and how many do; the first of several.
fn most_words(page: &Page<'_>) -> Option<(usize, u32)> {
    let mut counts = [0; script::COUNT];
    first_letters(page).filter_map(script::number).for_each(|script| counts[script] += 1);
    let most = counts.into_iter().enumerate().rev().max_by_key(|(_, count)| *count);
    most.filter(|(_, count)| *count > 0)
}

impl Method for Fuzzy {
    fn recipe(&self) -> Recipe {
        let widths: Vec<String> = self.widths.iter().map(f64::to_string).collect();
        let cosine = self.cosine.map_or("0".to_owned(), |cosine| cosine.to_string());
        Recipe::new("fuzzy", VERSION)
            .with("widths", widths.join("+"))
            .with("cosine", cosine)
            .with("profile", profile_value(self.profile.as_ref()))
    }

    fn payload_bytes(&self) -> usize {
        1 + 8 * self.widths.len()
    }

    fn sketch(&self, page: &Page<'_>, sketch: &mut Sketch) {
        sketch.clear();
        sketch.length = page.len() as u32;
        let reference = self.reference.read().unwrap_or_else(PoisonError::into_inner);
        let most = most_words(page)
            .filter(|(script, _)| reference.get(*script).is_some_and(|known| !known.is_empty()));
        let Some((script, words)) = most else {
            return sketch.payload.resize(self.payload_bytes(), 0);
        };
        let classes = &reference[script][..];
        let mut counts = [0; CLASSES];
        for letter in first_letters(page) {
            if let Ok(class) = classes.binary_search_by_key(&letter, |class| class.letter) {
                counts[class] += 1;
            }
        }
        // 0 stands for no script.
        let script = script as u64 + 1;
        sketch.payload.push(script as u8);
        for (scheme, value) in (1..).zip(self.values(classes, &counts, words)) {
            sketch.payload.extend_from_slice(&value.to_le_bytes());
            // Values take 51 bits at most.
            sketch.keys.push(Key { value: hash::nth(scheme, script << 56 | value), tag: 0 });
        }
    }

    fn accept(&self, a: &[u8], b: &[u8], _shared: u32) -> Option<Score> {
        let ((script, a), (other, b)) = (a.split_first()?, b.split_first()?);
        let agree = a.as_chunks::<8>().0.iter().zip(b.as_chunks().0).filter(|(a, b)| a == b).count();
        let accepted = *script != 0 && script == other && agree > 0;
        accepted.then(|| Score::even(agree as f64 / self.widths.len() as f64))
    }

    fn abilities(&self) -> Abilities<'_> {
        let measure = |threshold| OwnMeasure { similarity: Similarity::CosineTf, threshold, shingle: 1 };
        Abilities {
            profile: self.profile.as_ref(),
            own_measure: self.cosine.map(measure),
            survey: Some(self),
            advising: Some(self),
            ..Abilities::default()
        }
    }
}

impl Advising for Fuzzy {
    fn advice(&self) -> Option<String> {
        Some(
            "fuzzy looks at first letters alone, so that most documents of a few words or of one template are candidates \
             of each other."
                .to_owned(),
        )
    }
}

impl Survey for Fuzzy {
    fn bytes(&self) -> u64 {
        2 * 8 * u64::from(u32::from(char::MAX))
    }

    fn observe(&self, _pass: u32, page: &Page<'_>, _: &mut Buffers) {
        let table = self.table();
        for counter in first_letters(page).filter_map(|letter| table.get(letter as usize)) {
            counter.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn end(&self, _pass: u32) {
        self.compute_reference();
    }

    fn save(&self) -> Vec<u8> {
        surveys::save(MAGIC, self.table().iter().map(|count| count.load(Ordering::Relaxed).to_le_bytes()))
    }

    fn load(&self, saved: &[u8]) -> bool {
        let Some(counts) = surveys::load(MAGIC, CODE_POINTS, saved) else { return false };
        for (counter, count) in self.table().iter().zip(counts) {
            counter.store(u64::from_le_bytes(*count), Ordering::Relaxed);
        }
        self.compute_reference();
        true
    }

    fn merge(&self, _pass: u32, saved: &[u8]) -> bool {
        let Some(counts) = surveys::load(MAGIC, CODE_POINTS, saved) else { return false };
        for (counter, more) in self.table().iter().zip(counts) {
            counter.fetch_add(u64::from_le_bytes(*more), Ordering::Relaxed);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use lookalike_text::{Analyser, Features};
    use proptest::prelude::*;

    fn make(text: &str) -> Box<dyn Method> {
        crate::method(text, &Setting::default()).unwrap()
    }

    fn read(text: &str) -> Features {
        let mut features = Features::default();
        Analyser::new(&Profile::web()).read(text, &mut features);
        features
    }

    fn trained(spec: &str, texts: &[&str]) -> Box<dyn Method> {
        let method = make(spec);
        for text in texts {
            let page = Page { text, features: &read(text) };
            method.abilities().survey.unwrap().observe(0, &page, &mut Buffers::default());
        }
        method.abilities().survey.unwrap().end(0);
        method
    }

    fn sketch(method: &dyn Method, text: &str) -> Sketch {
        let mut sketch = Sketch::default();
        method.sketch(&Page { text, features: &read(text) }, &mut sketch);
        sketch
    }

    /// The digits of every scheme, the first class first.
    fn digits(sketch: &Sketch, classes: u32) -> Vec<String> {
        let values = sketch.payload[1..].as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes));
        values
            .map(|value| {
                assert!(value < 3u64.pow(classes));
                (0..classes).map(|class| (value / 3u64.pow(class) % 3).to_string()).collect()
            })
            .collect()
    }

    #[test]
    fn digits_tell_how_far_a_letter_is_off() {
        assert_eq!([0.8, 0.9, 1.0, 1.1, 1.2].map(|found| digit(found / 10.0, 0.1, 0.1)), [0, 1, 1, 1, 2]);
        assert_eq!([0.8, 0.9, 1.0, 1.1, 1.2].map(|found| digit(found / 10.0, 0.1, 0.2)), [1; 5]);
        assert_eq!(digit(0.5, 0.0, 0.1), 1, "a letter that the collection has not got");
    }

    #[test]
    fn values_are_numbers_to_the_base_of_three() {
        // In the collection half of the words begin with a, a fifth with b, the others with c, d and e.
        let method = trained("fuzzy", &["a a a a a b b c d e"]);
        let exact = sketch(&*method, "apple ant axe art aunt bee bird cat dog eel");
        assert_eq!(digits(&exact, 26), ["1".repeat(26), "1".repeat(26)]);
        let off = sketch(&*method, "a a a a a a b b c d 7");
        // a 0.6 against 0.5: off by a fifth; b as it should be; e is missing.
        assert_eq!(digits(&off, 26)[0], format!("21110{}", "1".repeat(21)));
        assert_eq!(digits(&off, 26)[1], format!("11110{}", "1".repeat(21)));
        assert_eq!(off.keys.len(), 2);
        assert_eq!(method.accept(&exact.payload, &off.payload, 0), None);
        assert_eq!(method.accept(&off.payload, &off.payload, 2), Some(Score::even(1.0)));
    }

    #[test]
    fn scripts_have_classes_of_their_own() {
        let method = trained("fuzzy", &["a b", "б б б г д", "я"]);
        let greek = sketch(&*method, "αβγ");
        assert!(greek.keys.is_empty() && greek.payload == [0; 17], "no reference");
        assert_eq!(method.accept(&greek.payload, &greek.payload, 0), None);
        let cyrillic = sketch(&*method, "бок бык бег гусь дом яма rose 12");
        assert_eq!(digits(&cyrillic, 4)[0], "1111");
        let latin = sketch(&*method, "ant bee");
        let same: Vec<u8> = [&cyrillic.payload[..1], &latin.payload[1..]].concat();
        assert_eq!(method.accept(&same, &latin.payload, 0), None, "equal digits of different scripts");
        assert_eq!(sketch(&*make("fuzzy"), "ant bee").keys, [], "before the survey");
        // Letters of the second plane, behind the code points that are no characters.
        let gothic = "\u{10330}\u{10331}";
        assert_eq!(digits(&sketch(&*trained("fuzzy", &[gothic]), gothic), 1)[0], "1");
        assert_eq!(sketch(&*method, "1 2 3").keys, [], "no letters");
    }

    #[test]
    fn the_most_used_letters_are_classes() {
        let letters: Vec<(char, u64)> = ('а'..).take(40).zip(1..).collect();
        let made = classes(1, letters, 820);
        assert_eq!(made.len(), CLASSES);
        assert_eq!((made[0].letter, made[0].expected), ('и', 9.0 / 820.0));
        assert!(made.is_sorted_by_key(|class| class.letter));
    }

    #[test]
    fn the_cosine_decides() {
        let measure = make("fuzzy").abilities().own_measure.unwrap();
        assert_eq!((measure.similarity, measure.shingle), (Similarity::CosineTf, 1));
        assert_eq!(measure.threshold.to_string(), "0.9");
        assert_eq!(make("fuzzy:cosine=0").abilities().own_measure, None);
        assert!(crate::method("fuzzy:cosine=2", &Setting::default()).is_err());
    }

    #[test]
    fn every_scheme_has_its_width() {
        assert_eq!(make("fuzzy").recipe().parameters["widths"], "0.1+0.2");
        let method = trained("fuzzy:widths=0.3+0.05", &["a a a a a b b c d e"]);
        assert_eq!((method.payload_bytes(), &*method.recipe().parameters["widths"]), (17, "0.3+0.05"));
        // a is off by a fifth.
        let off = sketch(&*method, "a a a a a a b b c d");
        assert_eq!(
            digits(&off, 26),
            ["1111".to_owned() + "0" + &"1".repeat(21), "2111".to_owned() + "0" + &"1".repeat(21)]
        );
        for widths in ["", "0", "0.1+", "-1", "inf", "0.1+x", &["1"; 17].join("+")] {
            let error = crate::method(&format!("fuzzy:widths={widths}"), &Setting::default()).unwrap_err();
            assert!(error.to_string().contains("one to 16 numbers above 0"), "{widths}: {error}");
        }
    }

    #[test]
    fn counts_are_saved_and_taken_back() {
        let one = trained("fuzzy", &["a a a b c", "d e f"]);
        let two = make("fuzzy");
        assert!(two.abilities().survey.unwrap().load(&one.abilities().survey.unwrap().save()));
        assert_eq!(sketch(&*two, "a b c"), sketch(&*one, "a b c"));
        assert!(!two.abilities().survey.unwrap().load(b"fuzzy  1"));
    }

    proptest! {
        #[test]
        fn values_equal_the_plain_version(
            texts in prop::collection::vec("([a-f]x? ){1,12}", 1..6),
            widths in prop::collection::vec(prop::sample::select(vec!["0.1", "0.2", "0.25", "0.5"]), 1..4),
        ) {
            let borrowed: Vec<&str> = texts.iter().map(String::as_str).collect();
            let method = trained(&format!("fuzzy:widths={}", widths.join("+")), &borrowed);
            let share = |text: &str| {
                let mut share: BTreeMap<char, f64> = BTreeMap::new();
                let words: Vec<&str> = text.split_whitespace().collect();
                for word in &words {
                    *share.entry(word.chars().next().unwrap()).or_default() += 1.0;
                }
                share.values_mut().for_each(|count| *count /= words.len() as f64);
                share
            };
            let expected = share(&texts.join(" "));
            for text in &texts {
                let (made, found) = (sketch(&*method, text), share(text));
                for (scheme, digits) in digits(&made, 26).into_iter().enumerate() {
                    let about = widths[scheme].parse::<f64>().unwrap();
                    let plain: String = ('a'..='z')
                        .map(|letter| match (found.get(&letter).unwrap_or(&0.0), expected.get(&letter)) {
                            (_, None) => '1',
                            (found, Some(expected)) if found / expected < 1.0 - about - 1e-10 => '0',
                            (found, Some(expected)) if found / expected > 1.0 + about + 1e-10 => '2',
                            _ => '1',
                        })
                        .collect();
                    prop_assert_eq!(digits, plain);
                }
            }
        }
    }
}
