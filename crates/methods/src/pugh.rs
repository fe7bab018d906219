//! `pugh`: the different words of a document are dealt out to a few lists; documents with one equal list are
//! duplicates.
//!
//! After US patent 6,658,423 (Pugh, Henzinger 2003). The hash of a word says which of m lists it belongs to, and each
//! list has a fingerprint of its words in alphabetical order. It is to I-Match with randomised lexicons what a partition
//! is to random samples, and it needs no lexicon. n changed words leave some list untouched with probability
//! Σ_{j=1..m} (−1)^{j+1} · C(m,j) · (1 − j/m)ⁿ. A list of very few words would agree by chance, so it has no fingerprint.

use lookalike_hash as hash;
use lookalike_model::Recipe;
use lookalike_text::Profile;

use crate::aligned_signatures;
use crate::spec::profile_value;
use crate::words::{self, Word};
use crate::{
    Abilities, About, Advising, Key, Method, MethodError, Page, Score, Setting, Sketch, Spec, parameters,
    seed,
};

const VERSION: u32 = 1;

/// Stands between the words of a list; no word has it inside.
const SEPARATOR: char = '\u{1f}';

/// The description of the method that `lookalike methods` shows.
pub(crate) const ABOUT: About = About {
    name: "pugh",
    aliases: &[],
    summary: "words dealt out to m lists by their hashes; one equal list is enough",
    source: "US patent 6,658,423: Pugh, Henzinger 2003; described in Zelenkov, Segalovich 2007",
    formula: "\
list of a word = h(word) mod m; fingerprint of a list = h(its different words, alphabetically); accept: one agrees
after n changes one still agrees with probability sum over j = 1..m of (-1)^(j+1) C(m,j) (1 - j/m)^n
score: the part of the lists that agree, of those that both documents have a fingerprint of",
    example: "lookalike pairs --method pugh:lists=8 docs.jsonl -o pairs.jsonl",
    parameters: &[
        ("lists", "m, the number of lists, 1 to 64"),
        ("least", "fewest words of a list that has a fingerprint"),
        ("profile", "how words are read; run is the run's own"),
        ("seed", "of the hash function"),
    ],
    make: Pugh::make,
};

/// The method `pugh`.
#[derive(Debug)]
pub(crate) struct Pugh {
    lists: usize,
    least: usize,
    profile: Option<Profile>,
    seed: u64,
}

impl Pugh {
    pub(crate) fn make(mut spec: Spec, setting: &Setting) -> Result<Box<dyn Method>, MethodError> {
        let wanted = "a number of lists from 1 to 64 is wanted";
        let lists = spec.value("lists", 4, wanted, |lists| (1..=64).contains(lists))?;
        let least = spec.value("least", 3, "a number of words from 1 is wanted", |&least| least > 0)?;
        let profile = spec.profile(Some(Profile::yandex()))?;
        let seed = spec.value("seed", setting.seed, "a whole number is wanted", |_| true)?;
        spec.finish()?;
        parameters::refuse_containment("pugh", setting)?;
        Ok(Box::new(Pugh { lists, least, profile, seed }))
    }

    /// The list of a word.
    fn list(&self, word: u64) -> usize {
        // Mixed as well, since the salt alone would but give other numbers to the same lists.
        (seed::salted(word, seed::salt(self.seed)) % self.lists as u64) as usize
    }

    /// The fingerprint of a list, given the positions of all words in alphabetical order; 0 for one of too few words.
    fn fingerprint(&self, list: usize, page: &Page<'_>, positions: &[(u32, u64)], text: &mut String) -> u64 {
        text.clear();
        let mut count = 0;
        let positions = positions.iter().map(|(position, _)| *position as usize);
        for position in positions.filter(|&position| self.list(page.hashes()[position]) == list) {
            if count > 0 {
                text.push(SEPARATOR);
            }
            text.push_str(page.word(position));
            count += 1;
        }
        if count < self.least { 0 } else { hash::word(text.as_bytes()).max(1) }
    }
}

/// The words of a document.
#[derive(Default)]
struct ListBuffers {
    words: Vec<Word>,
    /// Positions and prefixes of the words in alphabetical order.
    ranked: Vec<(u32, u64)>,
    /// The words of one list.
    text: String,
}

impl Method for Pugh {
    fn recipe(&self) -> Recipe {
        Recipe::new("pugh", VERSION)
            .with("lists", self.lists)
            .with("least", self.least)
            .with("profile", profile_value(self.profile.as_ref()))
            .with("seed", self.seed)
    }

    fn payload_bytes(&self) -> usize {
        8 * self.lists
    }

    fn sketch(&self, page: &Page<'_>, sketch: &mut Sketch) {
        sketch.clear();
        sketch.length = page.len() as u32;
        let Sketch { keys, payload, buffers, .. } = sketch;
        let ListBuffers { words, ranked, text } = buffers.own();
        words::distinct(page, words);
        let spelling = |position: u32| page.word(position as usize);
        ranked.clear();
        ranked.extend(
            words.iter().map(|word| (word.first_position, words::prefix_key(spelling(word.first_position)))),
        );
        ranked.sort_unstable_by(|(a, prefix), (b, other)| {
            prefix.cmp(other).then_with(|| spelling(*a).cmp(spelling(*b)))
        });
        for list in 0..self.lists {
            let fingerprint = self.fingerprint(list, page, ranked, text);
            payload.extend_from_slice(&fingerprint.to_le_bytes());
            if fingerprint != 0 {
                keys.push(Key { value: hash::nth(list as u64, fingerprint), tag: 0 });
            }
        }
    }

    fn accept(&self, a: &[u8], b: &[u8], _shared: u32) -> Option<Score> {
        aligned_signatures::score(a, b, 8)
    }

    fn abilities(&self) -> Abilities<'_> {
        Abilities { profile: self.profile.as_ref(), advising: Some(self), ..Abilities::default() }
    }
}

impl Advising for Pugh {
    fn advice(&self) -> Option<String> {
        let stable = |changes| 100.0 * stability(self.lists as u32, changes);
        Some(format!(
            "pugh gives a document {} fingerprints; if one of two documents has {} words more it finds {:.0} percent, {} \
             words {:.0} percent, and a word replaced counts as two.",
            self.lists,
            self.lists,
            stable(self.lists as u32),
            2 * self.lists,
            stable(2 * self.lists as u32)
        ))
    }
}

/// Probability that `changes` words, each dealt to one of the lists at random, leave a list untouched.
///
/// By the number of touched lists, one change after the other: the sum in the patent's terms takes differences of huge
/// numbers where lists are many.
fn stability(lists: u32, changes: u32) -> f64 {
    let m = f64::from(lists);
    let mut touched = vec![0.0; lists as usize + 1];
    touched[0] = 1.0;
    for _ in 0..changes {
        for count in (0..touched.len()).rev() {
            let fresh = if count > 0 { touched[count - 1] * (m - count as f64 + 1.0) / m } else { 0.0 };
            touched[count] = touched[count] * count as f64 / m + fresh;
        }
    }
    1.0 - touched[lists as usize]
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use lookalike_text::{Analyser, Features};
    use proptest::prelude::*;

    fn make(text: &str) -> Box<dyn Method> {
        crate::method(text, &Setting::default()).unwrap()
    }

    fn fingerprints(method: &dyn Method, text: &str) -> Vec<u64> {
        let (mut features, mut sketch) = (Features::default(), Sketch::default());
        Analyser::new(method.abilities().profile.unwrap_or(&Profile::web())).read(text, &mut features);
        method.sketch(&Page { text, features: &features }, &mut sketch);
        sketch.payload.as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect()
    }

    /// The sum as it is published.
    fn published_sum(lists: u32, changes: u32) -> f64 {
        let m = f64::from(lists);
        let choose = |j: u32| (1..=j).map(|i| (m - f64::from(i) + 1.0) / f64::from(i)).product::<f64>();
        let sign = |j: u32| if j % 2 == 1 { 1.0 } else { -1.0 };
        (1..=lists).map(|j| sign(j) * choose(j) * (1.0 - f64::from(j) / m).powi(changes as i32)).sum()
    }

    #[test]
    fn stability_is_the_published_one() {
        let published: [(u32, &[f64]); 2] = [
            (4, &[1.0, 1.0, 1.0, 0.9062, 0.7656, 0.6191, 0.4873, 0.3771]),
            (2, &[1.0, 0.5, 0.25, 0.125, 0.0625]),
        ];
        for (lists, values) in published {
            for (changes, value) in (1..).zip(values) {
                assert!((published_sum(lists, changes) - value).abs() <= 0.51e-4, "m={lists} n={changes}");
            }
        }
        for (lists, changes) in (1..12).flat_map(|lists| (1..20).map(move |changes| (lists, changes))) {
            let difference = published_sum(lists, changes) - stability(lists, changes);
            assert!(difference.abs() < 1e-9, "m={lists} n={changes}: {difference}");
        }
    }

    #[test]
    fn lists_survive_changes_as_often_as_the_sum_says() {
        let trials = 2000u32;
        for (lists, changes) in [(4, 4), (4, 6), (4, 8), (2, 3), (8, 12)] {
            let mut survived = 0;
            for trial in 0..trials {
                let method = make(&format!("pugh:lists={lists},profile=web,seed={trial}"));
                let words: Vec<String> =
                    (0..80).map(|word| format!("w{:x}", hash::mix((u64::from(trial) << 8) + word))).collect();
                // Some changes take a word away, the others bring a new one.
                let away = (trial % (changes + 1)) as usize;
                let [a, b] = [&words[..60], &words[away..60 + changes as usize - away]]
                    .map(|words| fingerprints(&*method, &words.join(" ")));
                survived += u32::from(a.iter().zip(&b).any(|(a, b)| a == b && *a != 0));
            }
            let (expected, trials) = (stability(lists, changes), f64::from(trials));
            let error = (expected * (1.0 - expected) / trials).sqrt();
            let share = f64::from(survived) / trials;
            assert!((share - expected).abs() <= 3.0 * error, "m={lists} n={changes}: {share} for {expected}");
        }
    }

    #[test]
    fn short_lists_have_no_fingerprint() {
        let method = make("pugh:lists=2,profile=web");
        assert_eq!(fingerprints(&*method, "rose rose rose"), [0, 0]);
        let many = fingerprints(&*method, "a b c d e f g h i j k l m n o p q r s t");
        assert!(many.iter().all(|&fingerprint| fingerprint != 0));
        assert_eq!(method.accept(&[0; 16], &[0; 16], 0), None);
        assert_eq!(
            fingerprints(&*make("pugh:lists=1,least=3,profile=web"), "rose is a rose"),
            [hash::word("a\u{1f}is\u{1f}rose".as_bytes())]
        );
    }

    proptest! {
        #[test]
        fn fingerprints_equal_the_plain_version(text in "([a-h]{1,2} ){0,60}", lists in 1usize..6, least in 1usize..4) {
            let words: BTreeSet<&str> = text.split_whitespace().collect();
            let plain = |list: usize| {
                let own = words.iter().filter(|word| hash::word(word.as_bytes()) as usize % lists == list);
                let own: Vec<&str> = own.copied().collect();
                if own.len() < least { 0 } else { hash::word(own.join("\u{1f}").as_bytes()) }
            };
            let method = make(&format!("pugh:lists={lists},least={least},profile=web"));
            prop_assert_eq!(fingerprints(&*method, &text), (0..lists).map(plain).collect::<Vec<_>>());
        }
    }
}
