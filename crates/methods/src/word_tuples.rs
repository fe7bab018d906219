//! `word-tuples`: a few tuples of words drawn from a document; one in common makes near-duplicates.
//!
//! After Haveliwala, Gionis and Indyk (2000). Each of `l` tuples has `k` words, drawn as minima of as many functions over
//! the set of the document's words: documents of the Jaccard similarity `s` by words have a given tuple in common with a
//! probability of `s^k`, and one of them with `1 − (1 − s^k)^l`.

use lookalike_hash as hash;
use lookalike_model::Recipe;

use crate::minhash::bands::Bands;
use crate::minhash::{MinimaBuffers, classic};
use crate::{
    Abilities, About, Advising, Key, Method, MethodError, Page, Score, Setting, Sketch, Spec, lanes,
    parameters, seed, words,
};

const VERSION: u32 = 1;

/// The description of the method that `lookalike methods` shows.
pub(crate) const ABOUT: About = About {
    name: "word-tuples",
    aliases: &[],
    summary: "tuples of words drawn from a document; one in common is enough",
    source: "Haveliwala, Gionis, Indyk 2000",
    formula: "\
tuple j = h(j, w_1, ..., w_k), w_i = the word of least h_(jk+i)(w), j = 0..l-1
accept: one equal, with probability 1 - (1 - s^k)^l by the Jaccard similarity s of the words",
    example: "lookalike pairs --method word-tuples:k=4,l=20 --unverified docs.jsonl -o pairs.jsonl",
    parameters: &[
        ("k", "words of a tuple"),
        ("l", "tuples of a document"),
        ("bag", "true when a word counts as often as it occurs, false when once"),
        ("seed", "of the functions"),
    ],
    make: WordTuples::make,
};

/// The method `word-tuples`.
#[derive(Debug)]
pub(crate) struct WordTuples {
    k: usize,
    l: usize,
    bag: bool,
    seed: u64,
}

impl WordTuples {
    pub(crate) fn make(mut spec: Spec, setting: &Setting) -> Result<Box<dyn Method>, MethodError> {
        let k = spec.value("k", 3, "a number from 1 to 100 is wanted", |k| (1..=100).contains(k))?;
        let l = spec.value("l", 10, "a number from 1 to 1000 is wanted", |l| (1..=1000).contains(l))?;
        let bag = spec.choice("bag", &[("false", false), ("true", true)])?;
        let seed = parameters::seed(&mut spec, setting)?;
        spec.finish()?;
        parameters::refuse_containment("word-tuples", setting)?;
        Ok(Box::new(WordTuples { k, l, bag, seed }))
    }

    /// Fills `buffers.minima` with the minima of all functions.
    fn compute_minima(&self, page: &Page<'_>, buffers: &mut TupleBuffers) {
        let (values, salt) = (self.k * self.l, seed::salt(self.seed));
        let TupleBuffers { words: distinct, minima } = buffers;
        words::distinct(page, distinct);
        if self.bag {
            // Its first occurrence is the word, the second another element, and so on.
            let occurrences = |word: &words::Word| {
                let hash = word.hash;
                (0..u64::from(word.count)).map(move |occurrence| hash::nth(occurrence, hash))
            };
            classic::minima(distinct.iter().flat_map(occurrences), values, salt, minima);
        } else {
            classic::minima(distinct.iter().map(|word| word.hash), values, salt, minima);
        }
    }
}

/// The distinct words of a document and their minima.
#[derive(Default)]
struct TupleBuffers {
    words: Vec<words::Word>,
    minima: MinimaBuffers,
}

/// The hash of a tuple. A function's minimum stands for the word, since no two words have the same one.
fn tuple(number: u64, minima: &[u64]) -> u64 {
    minima.iter().fold(hash::mix(number), |state, &minimum| hash::mix(state ^ minimum))
}

impl Method for WordTuples {
    fn recipe(&self) -> Recipe {
        Recipe::new("word-tuples", VERSION)
            .with("k", self.k)
            .with("l", self.l)
            .with("bag", self.bag)
            .with("seed", self.seed)
    }

    fn payload_bytes(&self) -> usize {
        8 * self.l
    }

    fn sketch(&self, page: &Page<'_>, sketch: &mut Sketch) {
        sketch.clear();
        sketch.length = page.len() as u32;
        if page.is_empty() {
            return sketch.payload.resize(self.payload_bytes(), 0);
        }
        let buffers: &mut TupleBuffers = sketch.buffers.own();
        self.compute_minima(page, buffers);
        let tuples = buffers.minima.minima.chunks_exact(self.k);
        sketch
            .keys
            .extend((1..).zip(tuples).map(|(number, minima)| Key { value: tuple(number, minima), tag: 0 }));
        lanes::append(sketch.keys.iter().map(|key| key.value), &mut sketch.payload);
    }

    fn accept(&self, a: &[u8], b: &[u8], _shared: u32) -> Option<Score> {
        let equal = lanes::equal(a, b);
        (equal > 0).then(|| Score::even(equal as f64 / self.l as f64))
    }

    fn abilities(&self) -> Abilities<'_> {
        Abilities { advising: Some(self), ..Abilities::default() }
    }
}

impl Advising for WordTuples {
    fn advice(&self) -> Option<String> {
        let bands = Bands { count: self.l, rows: self.k };
        let chances = [0.9, 0.7, 0.5, 0.3].map(|s| format!("{:.3} at {s:.1}", bands.probability(s)));
        Some(format!(
            "word-tuples takes pairs for near-duplicates with a probability of {} by the Jaccard similarity of their \
             words, which are in no order.",
            chances.join(", ")
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial::{assert_share, sketch, texts};

    fn make(text: &str) -> Box<dyn Method> {
        crate::method(text, &Setting::default()).unwrap()
    }

    #[test]
    fn a_tuple_is_made_of_the_words_of_least_hash() {
        let text = "a rose is a rose is a rose";
        let words = ["a", "rose", "is"].map(|word| hash::word(word.as_bytes()));
        let least = |function| words.map(|word| hash::nth(function, word)).into_iter().min().unwrap();
        let rose = sketch(&*make("word-tuples:k=2,l=3"), text);
        let expected = [(1, [1, 2]), (2, [3, 4]), (3, [5, 6])].map(|(j, i)| tuple(j, &i.map(least)));
        assert_eq!(rose.keys.iter().map(|key| key.value).collect::<Vec<_>>(), expected);
        assert_eq!(rose.payload.len(), 24);
    }

    #[test]
    fn tuples_agree_as_often_as_bands_do() {
        for bag in [false, true] {
            let method = make(&format!("word-tuples:bag={bag}"));
            for s in [0.25, 0.5, 0.75] {
                let (mut hits, trials) = (0, 1500);
                for number in 0..trials {
                    let [a, b] = texts(s, number).map(|text| sketch(&*method, &text));
                    let meet = a.keys.iter().any(|key| b.keys.contains(key));
                    assert_eq!(meet, method.accept(&a.payload, &b.payload, 1).is_some());
                    hits += usize::from(meet);
                }
                assert_share(&format!("at {s}"), hits, trials, 1.0 - (1.0 - s.powi(3)).powi(10));
            }
        }
    }

    #[test]
    fn bags_see_how_often_a_word_occurs() {
        let [once, twice] = ["rose tulip lily", "rose tulip lily rose tulip lily"];
        let keys = |method: &str, text| sketch(&*make(method), text).keys;
        assert_eq!(keys("word-tuples", once), keys("word-tuples", twice));
        assert_ne!(keys("word-tuples:bag=true", once), keys("word-tuples:bag=true", twice));
        assert_eq!(keys("word-tuples:bag=true", once), keys("word-tuples", once));
    }

    #[test]
    fn no_words_pair_with_nothing() {
        let method = make("word-tuples");
        assert_eq!(method.accept(&[0; 80], &[0; 80], 0), None);
    }
}
