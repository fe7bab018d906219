//! `heavy-sentences`: the two sentences of a document that weigh most.
//!
//! A5 of Zelenkov and Segalovich (2007): a sentence weighs what the occurrences of its words weigh by TF·IDF together;
//! equally heavy ones by the alphabet; the two first, in alphabetical order with a blank between them, are hashed. Equal
//! sentences count once.

use std::sync::{Arc, OnceLock};

use lookalike_model::Recipe;
use lookalike_text::Profile;

use super::{PARAMETERS, SentenceParameters};
use crate::lexical::{tfidf, weights};
use crate::spec::profile_value;
use crate::{
    About, Buffers, Lexicon, LexiconDetail, Method, MethodError, Page, Score, Sketch, leading, signature,
};

const VERSION: u32 = 1;

/// The description of the method that `lookalike methods` shows.
pub(crate) const ABOUT: About = About {
    name: "heavy-sentences",
    aliases: &[("a5", "heavy-sentences")],
    summary: "the two sentences of greatest TF*IDF of a document; equal ones pair",
    source: "A5 of Zelenkov, Segalovich 2007",
    formula: "\
weight of a sentence = sum of TF*IDF over the occurrences of its words, as in tfidf
key = h(the two sentences of greatest weight, in alphabetical order, one blank between them); accept: equal",
    example: "lookalike pairs --method heavy-sentences docs.jsonl -o pairs.jsonl",
    parameters: PARAMETERS,
    make: |spec, setting| {
        let parameters = SentenceParameters::take("heavy-sentences", spec, setting)?;
        Ok(Box::new(HeavySentences { parameters, lexicon: OnceLock::new() }))
    },
};

/// The method `heavy-sentences`.
#[derive(Debug)]
struct HeavySentences {
    parameters: SentenceParameters,
    lexicon: OnceLock<Arc<Lexicon>>,
}

/// Replaces `scratch.sums` with the weights of the sentences.
fn weigh(page: &Page<'_>, lexicon: Option<&Lexicon>, scratch: &mut Buffers) {
    weights::weigh(&tfidf::WEIGHT, page, lexicon, scratch);
    let Buffers { words, weights, sums, .. } = scratch;
    let weight = |hash: &u64| {
        let found = words.binary_search_by_key(hash, |word| word.hash);
        found.map_or(0.0, |word| weights[word].0)
    };
    sums.clear();
    sums.extend((0..page.sentence_count()).map(|sentence| {
        let hashes = &page.hashes()[page.sentence(sentence)];
        leading::rounded(hashes.iter().map(weight).sum())
    }));
}

impl Method for HeavySentences {
    fn recipe(&self) -> Recipe {
        Recipe::new("heavy-sentences", VERSION)
            .with("sentences", self.parameters.sentences)
            .with("bits", self.parameters.bits.value())
            .with("profile", profile_value(self.parameters.profile.as_ref()))
    }

    fn profile(&self) -> Option<&Profile> {
        self.parameters.profile.as_ref()
    }

    fn sentences(&self) -> bool {
        true
    }

    fn payload_bytes(&self) -> usize {
        signature::BYTES
    }

    fn lexicon(&self) -> LexiconDetail {
        tfidf::WEIGHT.detail
    }

    fn learn(&self, lexicon: &Arc<Lexicon>) -> Result<(), MethodError> {
        self.lexicon.get_or_init(|| lexicon.clone());
        Ok(())
    }

    fn sketch(&self, page: &Page<'_>, sketch: &mut Sketch) {
        sketch.clear();
        sketch.length = page.len() as u32;
        weigh(page, self.lexicon.get().map(Arc::as_ref), &mut sketch.scratch);
        self.parameters.put(page, sketch);
    }

    fn accept(&self, a: &[u8], b: &[u8], _shared: u32) -> Option<Score> {
        signature::accept(a, b)
    }

    fn advice(&self) -> Option<String> {
        self.parameters.bits.advice()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexical::toy;

    #[test]
    fn weights_of_the_toy_collection() {
        let (documents, lexicon) = (toy::documents(), toy::lexicon());
        let expected: [&[f64]; 2] = [&[-0.361935, -0.361935, -0.517376], &[-0.087394, 0.396873]];
        for (features, expected) in documents.iter().zip(expected) {
            let mut scratch = Buffers::default();
            weigh(&Page { text: "", features }, Some(&lexicon), &mut scratch);
            let found: Vec<f64> = scratch.sums.iter().map(|&sum| sum as f64 / 1e9).collect();
            assert_eq!(found.len(), expected.len());
            let near = found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 0.5e-6);
            assert!(near, "{found:?}");
        }
    }
}
