//! `imatch`: documents with the same words of middling frequency are duplicates.
//!
//! I-Match (Chowdhury et al. 2002; Kołcz, Chowdhury, Alspector 2004). Of the different words U of a document those are
//! kept whose normalised idf is in a range: S = L ∩ U, with L the lexicon of the collection. The signature is the SHA-1
//! of S in alphabetical order. Words too common say little and words too rare are often misspellings; what is left is
//! the same in copies that were shuffled or trimmed at the edges.
//!
//! Unrelated documents meet where S is small. The basic form then gives up. The modified one adds words from a
//! *secondary lexicon*, those above the range from common to rare, until S is large enough. Words that the collection
//! has not got are in neither.
//!
//! A single other word of L changes the signature. So K further lexicons are made, each without a random part p of L,
//! and a document has K + 1 signatures; two are duplicates when one agrees at the same place. After n changes inside L
//! that is so with probability 1 − (1 − pⁿ)^K.
//!
//! - `range`: from normalised idf to numbers of documents
//! - `members`: which words each lexicon has

pub(crate) mod members;
mod range;

use std::sync::{Arc, OnceLock};

use lookalike_hash as hash;
use lookalike_model::Recipe;
use lookalike_text::Profile;
use sha1::{Digest, Sha1};

use self::members::{Bootstrap, MAX_LEXICONS, WordDropout, stability};
use self::range::{Range, Scale};
use crate::aligned_signatures;
use crate::spec::profile_value;
use crate::words::{self, Word};
use crate::{
    Abilities, About, Advising, Key, Learning, Lexicon, LexiconDetail, Method, MethodError, Page, Score,
    Setting, Sketch, Spec, parameters, seed,
};

const VERSION: u32 = 2;

/// The description of the method that `lookalike methods` shows.
pub(crate) const ABOUT: About = About {
    name: "imatch",
    aliases: &[("a7", "imatch:profile=yandex,lexicons=10,drop=0.33,secondary=off")],
    summary: "equal sets of words of middling frequency, by one of K+1 lexicons",
    source: "Chowdhury et al. 2002; Kołcz, Chowdhury, Alspector 2004; A7 of Zelenkov, Segalovich 2007",
    formula: "\
idf = ln(N/df); L = words with low <= nidf <= high; L_1 ... L_K = L, each without a random part p of its words
signature i = SHA-1(the document's words in L_i, alphabetically, one blank between); accept: one agrees, i being equal
after n changes inside L a randomised signature still agrees with probability 1 - (1 - p^n)^K
score: the part of the signatures that agree, of those that both documents have",
    example: "lookalike dedup --method imatch:low=0.2,high=0.3 mails.jsonl -o out",
    parameters: &[
        ("low", "least normalised idf of a word in the lexicon"),
        ("high", "greatest normalised idf of a word in the lexicon"),
        ("nidf", "minmax: from the collection's least idf to its greatest; or logn: idf / ln N"),
        ("floor", "fewest words that make a signature"),
        ("ratio", "wanted part of the document's words in a signature; 0.05, or 0 without the secondary lexicon"),
        ("secondary", "on: rarer words fill up signatures of too few; off is the basic form"),
        ("lexicons", "K, the number of randomised lexicons, 0 to 63; 0 is the basic form"),
        ("drop", "p, the part of the words that a randomised lexicon lacks"),
        ("thinning", "drop: each word by its hash; or bootstrap: as many draws with replacement as L has words"),
        ("thin-secondary", "on: randomised lexicons lack a part p of the secondary lexicon, too"),
        ("bytes", "bytes of each SHA-1 that are kept: 8 or 20"),
        ("profile", "how words are read; run is the run's own"),
        ("seed", "of the randomised lexicons"),
    ],
    make: IMatch::make,
};

/// The method `imatch`.
#[derive(Debug)]
pub(crate) struct IMatch {
    low: f64,
    high: f64,
    scale: Scale,
    floor: u32,
    ratio: f64,
    secondary: bool,
    lexicons: usize,
    drop: f64,
    bootstrap: bool,
    thin_secondary: bool,
    bytes: usize,
    profile: Option<Profile>,
    seed: u64,
    dropout: WordDropout,
    collection: OnceLock<CollectionData>,
}

/// The lexicon of the collection, and what was derived from it.
#[derive(Debug)]
struct CollectionData {
    lexicon: Arc<Lexicon>,
    range: Range,
    bootstrap: Option<Bootstrap>,
}

/// A word of a document that may go into signatures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Term {
    /// Its first letters, to sort by.
    prefix: u64,
    /// The lexicons that have it, a bit for each.
    lexicons: u64,
    /// Documents of the collection that it is in.
    documents: u32,
    /// The position of its first occurrence in the document.
    first_position: u32,
}

/// The words of a document, and those that go into its signatures.
#[derive(Debug, Default)]
struct TermBuffers {
    /// The distinct words.
    words: Vec<Word>,
    /// Those that are in the lexicon.
    terms: Vec<Term>,
    /// Those that are in the secondary lexicon.
    secondary_terms: Vec<Term>,
    /// The words of one signature.
    text: String,
}

const SCALES: [(&str, Scale); 2] = [("minmax", Scale::MinMax), ("logn", Scale::LogN)];

fn on_off(on: bool) -> &'static str {
    if on { "on" } else { "off" }
}

impl IMatch {
    pub(crate) fn make(mut spec: Spec, setting: &Setting) -> Result<Box<dyn Method>, MethodError> {
        let part = |number: &f64| (0.0..=1.0).contains(number);
        let low = spec.value("low", 0.2, "a number from 0 to 1 is wanted", part)?;
        let high =
            spec.value("high", 0.8, "a number from low to 1 is wanted", |high| part(high) && *high >= low)?;
        if high < low {
            return Err(spec.value_error(
                "low",
                &low.to_string(),
                "a number up to high, which is 0.8, is wanted",
            ));
        }
        let scale = spec.choice("nidf", &SCALES)?;
        let floor = spec.value("floor", 5, "a number of words from 1 is wanted", |&floor| floor > 0)?;
        let secondary = spec.choice("secondary", &[("on", true), ("off", false)])?;
        let ratio = if secondary { 0.05 } else { 0.0 };
        let ratio = spec.value("ratio", ratio, "a number from 0 to 1 is wanted", part)?;
        let wanted = "a number from 0 to 63 is wanted";
        let lexicons = spec.value("lexicons", 10, wanted, |&lexicons| lexicons <= MAX_LEXICONS)?;
        let wanted = "a number from 0 to below 1 is wanted";
        let drop = spec.value("drop", 0.33, wanted, |drop| (0.0..1.0).contains(drop))?;
        let bootstrap = spec.choice("thinning", &[("drop", false), ("bootstrap", true)])?;
        let thin_secondary = spec.choice("thin-secondary", &[("off", false), ("on", true)])?;
        let bytes = spec.value("bytes", 8, "8 or 20 is wanted", |bytes| [8, 20].contains(bytes))?;
        let profile = spec.profile(Some(Profile::kolcz()))?;
        let seed = spec.value("seed", setting.seed, "a whole number is wanted", |_| true)?;
        spec.finish()?;
        parameters::refuse_containment("imatch", setting)?;
        let dropout = WordDropout::new(lexicons, drop, seed::salt(seed));
        let collection = OnceLock::new();
        Ok(Box::new(IMatch {
            low,
            high,
            scale,
            floor,
            ratio,
            secondary,
            lexicons,
            drop,
            bootstrap,
            thin_secondary,
            bytes,
            profile,
            seed,
            dropout,
            collection,
        }))
    }

    /// Number of words that a signature should have, for a document of this many different ones.
    fn signature_size(&self, distinct: usize) -> u32 {
        // To nine digits, for 0.07 · 100 is a little more than 7.
        let part = (self.ratio * distinct as f64 * 1e9).round() / 1e9;
        self.floor.max(part.ceil() as u32)
    }

    /// Leaves in `buffers.terms` the words that go into signatures, in alphabetical order. Returns the lexicons that the
    /// document has a signature by.
    fn choose(&self, collection: &CollectionData, page: &Page<'_>, buffers: &mut TermBuffers) -> u64 {
        words::distinct(page, &mut buffers.words);
        collection.look_up(self, page, buffers);
        let TermBuffers { words, terms, secondary_terms, .. } = buffers;
        let mut sizes = [0; MAX_LEXICONS + 1];
        for term in &*terms {
            count(&mut sizes, term.lexicons);
        }
        let alphabetically = |a: &Term, b: &Term| {
            let word = |term: &Term| page.word(term.first_position as usize);
            a.prefix.cmp(&b.prefix).then_with(|| word(a).cmp(word(b)))
        };
        let wanted = self.signature_size(words.len());
        let short = self.shorter(&sizes, wanted);
        if self.secondary && short != 0 {
            secondary_terms
                .sort_unstable_by(|a, b| b.documents.cmp(&a.documents).then_with(|| alphabetically(a, b)));
            fill(short, wanted, &mut sizes, secondary_terms, terms);
        }
        terms.sort_unstable_by(alphabetically);
        !self.shorter(&sizes, if self.secondary { self.floor } else { wanted }) & self.all()
    }

    /// All lexicons.
    fn all(&self) -> u64 {
        u64::MAX >> (MAX_LEXICONS - self.lexicons)
    }

    /// The lexicons that gave fewer than `wanted` words.
    fn shorter(&self, sizes: &[u32], wanted: u32) -> u64 {
        (0..=self.lexicons).filter(|&index| sizes[index] < wanted).fold(0, |set, index| set | 1 << index)
    }

    /// The sentence about a lexicon that cannot be used.
    fn unable(&self, lexicon: &Lexicon) -> MethodError {
        let totals = lexicon.totals();
        MethodError::Unable(format!(
            "imatch finds no word with a normalised idf from {} to {} in the lexicon, whose {} words are each in {} to \
             {} of {} documents; widen the range by low= and high=, or take the lexicon of a larger collection",
            self.low,
            self.high,
            totals.vocabulary,
            totals.least_documents,
            totals.most_documents,
            totals.documents
        ))
    }
}

impl CollectionData {
    /// Bytes of memory that it takes beside the lexicon.
    fn bytes(&self) -> u64 {
        self.bootstrap.as_ref().map_or(0, Bootstrap::bytes)
    }

    /// Leaves those of the distinct words that are in the lexicon in `terms`, those of the secondary one in
    /// `secondary_terms`.
    fn look_up(&self, method: &IMatch, page: &Page<'_>, buffers: &mut TermBuffers) {
        let TermBuffers { words, terms, secondary_terms, .. } = buffers;
        terms.clear();
        secondary_terms.clear();
        for word in &*words {
            // A word that the collection has not got is in neither lexicon.
            let Some(index) = self.lexicon.index_of(word.hash) else { continue };
            let documents = self.lexicon.counts(index).documents;
            let (held, rarer) = (self.range.contains(documents), self.range.rarer(documents));
            let term = |lexicons| {
                let prefix = words::prefix_key(page.word(word.first_position as usize));
                Term { prefix, lexicons, documents, first_position: word.first_position }
            };
            match &self.bootstrap {
                Some(bootstrap) if held => terms.push(term(bootstrap.lexicons(index))),
                None if held => terms.push(term(method.dropout.lexicons(word.hash))),
                _ if rarer && method.secondary && method.thin_secondary => {
                    secondary_terms.push(term(method.dropout.lexicons(word.hash)));
                }
                _ if rarer && method.secondary => secondary_terms.push(term(method.all())),
                _ => {}
            }
        }
    }
}

/// Moves words from the front of `secondary_terms` to `terms`, for each of the lexicons `short` as many as it lacks.
fn fill(mut short: u64, wanted: u32, sizes: &mut [u32], secondary_terms: &[Term], terms: &mut Vec<Term>) {
    for term in secondary_terms {
        let lexicons = term.lexicons & short;
        if lexicons == 0 {
            continue;
        }
        terms.push(Term { lexicons, ..*term });
        count(sizes, lexicons);
        short &= !set_bits(lexicons)
            .filter(|&index| sizes[index] >= wanted)
            .fold(0, |set, index| set | 1 << index);
        if short == 0 {
            break;
        }
    }
}

fn count(sizes: &mut [u32], lexicons: u64) {
    set_bits(lexicons).for_each(|index| sizes[index] += 1);
}

/// The numbers of the bits that are set.
fn set_bits(mut set: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lowest = set.trailing_zeros() as usize;
        set &= set.wrapping_sub(1);
        (lowest < 64).then_some(lowest)
    })
}

impl Method for IMatch {
    fn recipe(&self) -> Recipe {
        let scale = SCALES.iter().find(|(_, scale)| *scale == self.scale).map_or("", |(name, _)| name);
        Recipe::new("imatch", VERSION)
            .with("low", self.low)
            .with("high", self.high)
            .with("nidf", scale)
            .with("floor", self.floor)
            .with("ratio", self.ratio)
            .with("secondary", on_off(self.secondary))
            .with("lexicons", self.lexicons)
            .with("drop", self.drop)
            .with("thinning", if self.bootstrap { "bootstrap" } else { "drop" })
            .with("thin-secondary", on_off(self.thin_secondary))
            .with("bytes", self.bytes)
            .with("profile", profile_value(self.profile.as_ref()))
            .with("seed", self.seed)
    }

    fn payload_bytes(&self) -> usize {
        (self.lexicons + 1) * self.bytes
    }

    fn sketch(&self, page: &Page<'_>, sketch: &mut Sketch) {
        sketch.clear();
        sketch.length = page.len() as u32;
        sketch.payload.resize(self.payload_bytes(), 0);
        let Some(collection) = self.collection.get() else { return };
        let Sketch { keys, payload, buffers, .. } = sketch;
        let buffers: &mut TermBuffers = buffers.own();
        let valid = self.choose(collection, page, buffers);
        let TermBuffers { terms, text, .. } = buffers;
        for index in set_bits(valid) {
            text.clear();
            for term in terms.iter().filter(|term| term.lexicons >> index & 1 == 1) {
                if !text.is_empty() {
                    text.push(' ');
                }
                text.push_str(page.word(term.first_position as usize));
            }
            let digest: [u8; 20] = Sha1::digest(text.as_bytes()).into();
            payload[index * self.bytes..][..self.bytes].copy_from_slice(&digest[..self.bytes]);
            let prefix = digest.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
            keys.push(Key { value: hash::nth(index as u64, prefix), tag: 0 });
        }
    }

    fn accept(&self, a: &[u8], b: &[u8], _shared: u32) -> Option<Score> {
        aligned_signatures::score(a, b, self.bytes)
    }

    fn abilities(&self) -> Abilities<'_> {
        Abilities {
            profile: self.profile.as_ref(),
            resident_bytes: self.collection.get().map_or(0, CollectionData::bytes),
            learning: Some(self),
            advising: Some(self),
            ..Abilities::default()
        }
    }
}

impl Learning for IMatch {
    fn detail(&self) -> LexiconDetail {
        // Words that occur once must be told from those that the collection has not got.
        LexiconDetail::Words
    }

    fn learn(&self, lexicon: &Arc<Lexicon>) -> Result<(), MethodError> {
        let range = Range::new(self.scale, self.low, self.high, lexicon.totals())
            .filter(|range| range.contains_any(lexicon))
            .ok_or_else(|| self.unable(lexicon))?;
        let salt = seed::salt(self.seed);
        let bootstrap = (self.bootstrap && self.lexicons > 0)
            .then(|| Bootstrap::draw(lexicon, &range, self.lexicons, salt));
        self.collection.get_or_init(|| CollectionData { lexicon: lexicon.clone(), range, bootstrap });
        Ok(())
    }
}

impl Advising for IMatch {
    fn advice(&self) -> Option<String> {
        let part = if self.bootstrap { (-1f64).exp() } else { self.drop };
        let percent = |changes| 100.0 * stability(part, changes, self.lexicons);
        Some(format!(
            "imatch gives a document {} signatures by the words of middling frequency; if one of two \
             documents has one word of the lexicon more it finds {:.0} percent, two words {:.0} percent, three {:.0} percent, \
             and a word replaced counts as two.",
            self.lexicons + 1,
            percent(1),
            percent(2),
            percent(3)
        ))
    }
}

#[cfg(test)]
mod tests;
