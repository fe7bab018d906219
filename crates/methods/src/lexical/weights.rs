//! Weights of words: what they look at, in the letters of the literature.

use crate::lexicon::Counts;
use crate::{Lexicon, Page, words};

/// The statistics of a word that a weight may look at.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct WordStats {
    /// Occurrences of the word in the document.
    pub(crate) tf: f64,
    /// Occurrences of the document's most frequent word.
    pub(crate) tf_max: f64,
    /// Words of the document.
    pub(crate) dl: f64,
    /// Words of a document on average.
    pub(crate) dl_avg: f64,
    /// Documents that the word is in.
    pub(crate) df: f64,
    /// Its occurrences in all of them.
    pub(crate) cf: f64,
    /// Documents of the collection.
    pub(crate) n: f64,
}

/// A weight of words.
#[derive(Debug)]
pub(crate) struct Weight {
    /// As a value of a parameter.
    pub(crate) name: &'static str,
    /// True when it depends on a lexicon.
    pub(crate) uses_lexicon: bool,
    /// The weight.
    pub(crate) of: fn(&WordStats) -> f64,
}

/// The distinct words of a document and their weights.
#[derive(Debug, Default)]
pub(crate) struct WeightBuffers {
    pub(crate) words: Vec<words::Word>,
    /// The weight and first position of each.
    pub(crate) weights: Vec<(f64, u32)>,
}

/// Replaces `buffers.words` with the distinct words of a document, in the order of their hashes, and `buffers.weights`
/// with the weight and first position of each. Without a lexicon every word is one that occurs once.
pub(crate) fn weigh(
    weight: &Weight,
    page: &Page<'_>,
    lexicon: Option<&Lexicon>,
    buffers: &mut WeightBuffers,
) {
    let WeightBuffers { words, weights } = buffers;
    words::distinct(page, words);
    let most = words.iter().map(|word| word.count).max().unwrap_or(1);
    let dl = page.len() as f64;
    let (n, dl_avg) = lexicon.map_or((1.0, dl), |lexicon| {
        // A lexicon of no documents knows no word, and unknown ones are in one document.
        (lexicon.documents().max(1) as f64, lexicon.mean_length().max(1.0))
    });
    weights.clear();
    weights.extend(words.iter().map(|word| {
        let Counts { documents, occurrences } =
            lexicon.map_or(Counts::UNKNOWN, |lexicon| lexicon.find(word.hash));
        let stats = WordStats {
            tf: word.count.into(),
            tf_max: most.into(),
            dl,
            dl_avg,
            df: documents.into(),
            cf: occurrences as f64,
            n,
        };
        ((weight.of)(&stats), word.first_position)
    }));
}
