//! `heavy-sentences`: the two sentences of a document that weigh most.
//!
//! A5 of Zelenkov and Segalovich (2007): a sentence weighs what the occurrences of its words weigh by TF·IDF together;
//! equally heavy ones by the alphabet; the two first, in alphabetical order with a blank between them, are hashed. Equal
//! sentences count once.

use std::sync::{Arc, OnceLock};

use lookalike_model::Recipe;

use super::{PARAMETERS, SentenceBuffers, SentenceParameters};
use crate::lexical::tfidf;
use crate::lexical::weights::{self, WeightBuffers};
use crate::spec::profile_value;
use crate::{
    Abilities, About, Advising, Learning, Lexicon, LexiconDetail, Method, MethodError, Page, Score, Sketch,
    leading, signature,
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

/// The words of a document and their weights, then its sentences.
#[derive(Default)]
struct HeavyBuffers {
    weighed: WeightBuffers,
    sentences: SentenceBuffers,
}

/// Replaces `buffers.sentences.sums` with the weights of the sentences.
fn weigh(page: &Page<'_>, lexicon: Option<&Lexicon>, buffers: &mut HeavyBuffers) {
    weights::weigh(&tfidf::WEIGHT, page, lexicon, &mut buffers.weighed);
    let HeavyBuffers { weighed: WeightBuffers { words, weights }, sentences: SentenceBuffers { sums, .. } } =
        buffers;
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

    fn payload_bytes(&self) -> usize {
        signature::BYTES
    }

    fn sketch(&self, page: &Page<'_>, sketch: &mut Sketch) {
        sketch.clear();
        sketch.length = page.len() as u32;
        let buffers: &mut HeavyBuffers = sketch.buffers.own();
        weigh(page, self.lexicon.get().map(Arc::as_ref), buffers);
        let signature = self.parameters.signature(page, &mut buffers.sentences);
        signature::put(sketch, signature);
    }

    fn accept(&self, a: &[u8], b: &[u8], _shared: u32) -> Option<Score> {
        signature::accept(a, b)
    }

    fn abilities(&self) -> Abilities<'_> {
        Abilities {
            profile: self.parameters.profile.as_ref(),
            sentences: true,
            learning: Some(self),
            advising: Some(self),
            ..Abilities::default()
        }
    }
}

impl Learning for HeavySentences {
    fn detail(&self) -> LexiconDetail {
        LexiconDetail::Counts
    }

    fn learn(&self, lexicon: &Arc<Lexicon>) -> Result<(), MethodError> {
        self.lexicon.get_or_init(|| lexicon.clone());
        Ok(())
    }
}

impl Advising for HeavySentences {
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
            let mut buffers = HeavyBuffers::default();
            weigh(&Page { text: "", features }, Some(&lexicon), &mut buffers);
            let found: Vec<f64> = buffers.sentences.sums.iter().map(|&sum| sum as f64 / 1e9).collect();
            assert_eq!(found.len(), expected.len());
            let near = found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 0.5e-6);
            assert!(near, "{found:?}");
        }
    }
}
