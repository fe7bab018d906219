//! `cops`: how many of the sentences of one document are in the other.
//!
//! COPS (Brin, Davis, Garcia-Molina 1995) detects copies by units of text: sentences, or blocks of words that do not
//! overlap, or windows that do, or chunks that end where the hash of a word says so and thus stay in step after an
//! insertion. The overlap of A with B is the part of A's different units that B has. Units of very many documents are
//! boilerplate and are passed over; they still count in the number of units.

use lookalike_hash as hash;
use lookalike_model::{Recipe, Threshold};
use lookalike_text::Profile;

use crate::shares::{self, either_way};
use crate::spec::profile_value;
use crate::{Abilities, About, Grouping, Key, Method, MethodError, Page, Score, Setting, Sketch, Spec};

const VERSION: u32 = 1;

/// A unit of no more documents is never too common, however small the corpus.
const NEVER_COMMON: u64 = 100;

/// The description of the method that `lookalike methods` shows.
pub(crate) const ABOUT: About = About {
    name: "cops",
    aliases: &[],
    summary: "shared sentences, or other units of text; sees containment",
    source: "Brin, Davis, Garcia-Molina 1995; frequent units: Kołcz, Chowdhury, Alspector 2004",
    formula: "\
keys = hashes of the different units; overlap of A with B = |units of both| / |units of A|
accept: 0.5 in either direction",
    example: "lookalike pairs --method cops:unit=breakpoints,k=12 docs.jsonl -o pairs.jsonl",
    parameters: &[
        (
            "unit",
            "sentences, blocks, windows (which overlap) or breakpoints (a word with h mod k = 0 ends a chunk)",
        ),
        ("size", "words of a block or window"),
        ("k", "one word in so many ends a chunk of unit=breakpoints"),
        ("common", "units of a larger part of the documents, and of over 100, are passed over; 0: none are"),
        ("share", "part of one document's units that is enough"),
        ("profile", "how words are read; run is the run's own"),
    ],
    make: Cops::make,
};

/// The unit of text that a document is cut into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unit {
    Sentences,
    Blocks,
    Windows,
    Breakpoints,
}

const UNITS: [(&str, Unit); 4] = [
    ("sentences", Unit::Sentences),
    ("blocks", Unit::Blocks),
    ("windows", Unit::Windows),
    ("breakpoints", Unit::Breakpoints),
];

/// The method `cops`.
#[derive(Debug)]
pub(crate) struct Cops {
    unit: Unit,
    size: usize,
    k: u64,
    common: f64,
    share: Threshold,
    profile: Option<Profile>,
}

impl Cops {
    pub(crate) fn make(mut spec: Spec, _: &Setting) -> Result<Box<dyn Method>, MethodError> {
        let unit = spec.choice("unit", &UNITS)?;
        let size = spec.value("size", 10, "a number of words from 1 is wanted", |&size| size > 0)?;
        let k = spec.value("k", 10, "a number of words from 1 is wanted", |&k| k > 0)?;
        let wanted = "a number from 0 to 1 is wanted";
        let common = spec.value("common", 0.01, wanted, |common| (0.0..=1.0).contains(common))?;
        let share = shares::share(&mut spec, "share", "0.5")?;
        let profile = spec.profile(None)?;
        spec.finish()?;
        Ok(Box::new(Cops { unit, size, k, common, share, profile }))
    }

    /// Replaces `units` with the hashes of the different units, sorted.
    fn units(&self, page: &Page<'_>, units: &mut Vec<u64>) {
        let words = page.hashes();
        units.clear();
        match self.unit {
            Unit::Sentences => {
                let sentence = |index| hash::gram(&words[page.sentence(index)]);
                units.extend((0..page.sentence_count()).map(sentence));
            }
            Unit::Blocks => units.extend(words.chunks(self.size).map(hash::gram)),
            Unit::Windows => units.extend(page.grams(self.size)),
            Unit::Breakpoints => {
                units.extend(words.split_inclusive(|word| word.is_multiple_of(self.k)).map(hash::gram));
            }
        }
        units.sort_unstable();
        units.dedup();
    }
}

impl Method for Cops {
    fn recipe(&self) -> Recipe {
        let unit = UNITS.iter().find(|(_, unit)| *unit == self.unit).map_or("", |(name, _)| name);
        Recipe::new("cops", VERSION)
            .with("unit", unit)
            .with("size", self.size)
            .with("k", self.k)
            .with("common", self.common)
            .with("share", self.share)
            .with("profile", profile_value(self.profile.as_ref()))
    }

    fn payload_bytes(&self) -> usize {
        4
    }

    fn sketch(&self, page: &Page<'_>, sketch: &mut Sketch) {
        sketch.clear();
        sketch.length = page.len() as u32;
        let units: &mut Vec<u64> = sketch.buffers.own();
        self.units(page, units);
        sketch.keys.extend(units.iter().map(|&value| Key { value, tag: 0 }));
        sketch.payload.extend_from_slice(&(units.len() as u32).to_le_bytes());
    }

    fn accept(&self, a: &[u8], b: &[u8], shared: u32) -> Option<Score> {
        let (a, b) = (shares::number(a), shares::number(b));
        either_way(self.share, (shared, a), (shared, b))
    }

    fn abilities(&self) -> Abilities<'_> {
        Abilities {
            profile: self.profile.as_ref(),
            sentences: self.unit == Unit::Sentences,
            counted_keys: Some(1),
            directed: true,
            grouping: Some(self),
            ..Abilities::default()
        }
    }
}

impl Grouping for Cops {
    fn max_documents_per_key(&self, documents: u64) -> u64 {
        if self.common == 0.0 {
            return u64::MAX;
        }
        // A hair more, for 0.07 · 100 may be a little less than 7.
        ((self.common * documents as f64 + 1e-6) as u64).max(NEVER_COMMON)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lookalike_text::{Analyser, Features};

    fn make(text: &str) -> Box<dyn Method> {
        crate::method(text, &Setting::default()).unwrap()
    }

    fn sketch(method: &str, text: &str) -> Sketch {
        let (mut features, mut sketch) = (Features::default(), Sketch::default());
        let mut analyser = Analyser::new(&Profile::web());
        analyser.read(text, &mut features);
        analyser.read_sentences(&mut features);
        make(method).sketch(&Page { text, features: &features }, &mut sketch);
        sketch
    }

    fn units(method: &str, text: &str) -> Vec<u64> {
        sketch(method, text).keys.iter().map(|key| key.value).collect()
    }

    /// The hashes of these strings of words.
    fn hashes<'s>(units: impl IntoIterator<Item = &'s str>) -> Vec<u64> {
        let words = |unit: &str| unit.split(' ').map(|word| hash::word(word.as_bytes())).collect::<Vec<_>>();
        let mut hashes: Vec<u64> = units.into_iter().map(|unit| hash::gram(&words(unit))).collect();
        hashes.sort_unstable();
        hashes
    }

    #[test]
    fn documents_are_cut_into_units() {
        let text = "A rose is. A rose! Is a rose? A rose. Tulips";
        let sentences = ["a rose is", "a rose", "is a rose", "tulips"];
        assert_eq!(units("cops", text), hashes(sentences));
        let blocks = ["a rose is", "a rose is", "a rose a", "rose tulips"];
        assert_eq!(units("cops:unit=blocks,size=3", text), hashes([blocks[0], blocks[2], blocks[3]]));
        let windows = ["a rose", "rose is", "is a", "rose a", "rose tulips"];
        assert_eq!(units("cops:unit=windows,size=2", text), hashes(windows));
    }

    #[test]
    fn chunks_end_where_hashes_say_so() {
        let text = "one two three four five six seven eight nine ten eleven twelve";
        let ends = |word: &str| hash::word(word.as_bytes()).is_multiple_of(2);
        let (mut chunks, mut chunk) = (Vec::new(), Vec::new());
        for word in text.split(' ') {
            chunk.push(word);
            if ends(word) {
                chunks.push(chunk.join(" "));
                chunk.clear();
            }
        }
        if !chunk.is_empty() {
            chunks.push(chunk.join(" "));
        }
        assert!(chunks.len() > 2, "{chunks:?}");
        assert_eq!(units("cops:unit=breakpoints,k=2", text), hashes(chunks.iter().map(String::as_str)));
    }

    #[test]
    fn overlap_is_seen_from_both_sides() {
        let method = make("cops");
        let [a, b] = ["One here. Two here.", "One here. Two here. Three. Four. Five."]
            .map(|text| sketch("cops", text));
        assert_eq!((shares::number(&a.payload), shares::number(&b.payload)), (2, 5));
        let score = Some(Score { forward: 1.0, backward: 0.4, reached: true, reached_back: false });
        assert_eq!(method.accept(&a.payload, &b.payload, 2), score);
        assert_eq!(method.accept(&b.payload, &b.payload, 2), None);
    }

    #[test]
    fn common_units_are_passed_over() {
        assert_eq!(make("cops").abilities().max_documents_per_key(1_000_000), 10_000);
        assert_eq!(make("cops:common=0.07").abilities().max_documents_per_key(10_000), 700);
        assert_eq!(make("cops").abilities().max_documents_per_key(50), NEVER_COMMON);
        assert_eq!(make("cops:common=0").abilities().max_documents_per_key(50), u64::MAX);
        assert!(make("cops").abilities().sentences && !make("cops:unit=windows").abilities().sentences);
    }
}
