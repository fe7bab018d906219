//! Methods that know a document by a few of its sentences.
//!
//! - `long`, `heavy`: which sentences
//! - here: the signature of those that were weighed best

pub(crate) mod heavy;
pub(crate) mod long;

use std::cmp::Ordering;

use lookalike_text::Profile;

use crate::signature::Bits;
use crate::{MethodError, Page, Setting, Spec, leading, parameters};

/// The most sentences of a signature.
const MAX_SENTENCES: usize = 1000;

/// The parameters of both methods.
const PARAMETERS: &[(&str, &str)] = &[
    ("sentences", "how many sentences make the signature"),
    Bits::ABOUT,
    ("profile", "how words are read; run is the run's own"),
];

/// The parameters that both methods share.
#[derive(Debug)]
struct SentenceParameters {
    sentences: usize,
    bits: Bits,
    profile: Option<Profile>,
}

/// The sentences of a document, from which those of greatest weight are taken.
#[derive(Default)]
struct SentenceBuffers {
    /// Weights of all sentences.
    sums: Vec<i64>,
    positions: Vec<u32>,
    /// The sentences that were taken.
    text: String,
}

impl SentenceParameters {
    fn take(name: &str, mut spec: Spec, setting: &Setting) -> Result<Self, MethodError> {
        let wanted = "a number of sentences from 1 to 1000 is wanted";
        let sentences =
            spec.value("sentences", 2, wanted, |sentences| (1..=MAX_SENTENCES).contains(sentences))?;
        let bits = Bits::take(&mut spec)?;
        let profile = spec.profile(Some(Profile::yandex()))?;
        spec.finish()?;
        parameters::refuse_containment(name, setting)?;
        Ok(SentenceParameters { sentences, bits, profile })
    }

    /// Returns the signature of a document whose sentences have the weights in `buffers.sums`.
    fn signature(&self, page: &Page<'_>, buffers: &mut SentenceBuffers) -> Option<u64> {
        self.choose(page, buffers);
        (page.sentence_count() > 0).then(|| self.bits.of(&buffers.text))
    }

    /// Leaves the sentences of greatest weight in `buffers.text`, in alphabetical order.
    fn choose(&self, page: &Page<'_>, buffers: &mut SentenceBuffers) {
        let SentenceBuffers { sums, positions, text } = buffers;
        // Equal sentences weigh the same, so that they are equal in this order, too, and count once.
        leading::first_n(self.sentences, page.sentence_count(), positions, |a, b| {
            sums[b].cmp(&sums[a]).then_with(|| alphabetical(page, a, b))
        });
        positions.sort_unstable_by(|&a, &b| alphabetical(page, a as usize, b as usize));
        text.clear();
        for (index, &sentence) in positions.iter().enumerate() {
            if index > 0 {
                text.push(' ');
            }
            page.sentence_text(sentence as usize, text);
        }
    }
}

/// The order of two sentences as texts: a blank comes before all characters of words.
fn alphabetical(page: &Page<'_>, a: usize, b: usize) -> Ordering {
    let words = |sentence: usize| page.sentence(sentence).map(|index| page.word(index));
    words(a).cmp(words(b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexical::toy;
    use proptest::prelude::*;

    #[test]
    fn toy_by_both() {
        let documents = toy::documents();
        for name in ["long-sentences", "a4"] {
            let signatures =
                documents.each_ref().map(|features| toy::signature(&*toy::method(name), features));
            let text = "apple banana cherry date elder apple banana fig";
            assert_eq!(signatures[0], crc32fast::hash(text.as_bytes()).into());
            assert_eq!(signatures[..3], [0xc849_fed0, 0xa4ee_8190, 0xab1a_d6b8]);
            assert_eq!(signatures[4], 0xbbed_e912);
        }
        let heavy = toy::method("heavy-sentences");
        assert_eq!(toy::signature(&*heavy, &documents[0]), 0xc849_fed0);
        assert_eq!(toy::signature(&*heavy, &documents[1]), 0xa4ee_8190);
    }

    #[test]
    fn documents_of_one_sentence_and_of_repeated_ones() {
        for name in ["long-sentences", "heavy-sentences"] {
            let method = crate::method(name, &Setting::default()).unwrap();
            assert!(method.abilities().sentences);
            let of = |text: &str| toy::signature(&*method, &toy::read(&Profile::yandex(), text));
            assert_eq!(of("Roses bloom."), lookalike_hash::word(b"roses bloom"), "{name}");
            assert_eq!(of("Roses bloom. Tulips. Roses bloom!"), of("Tulips. Roses bloom."), "{name}");
            assert_eq!(of("The."), 0, "{name}");
        }
    }

    proptest! {
        #[test]
        fn the_order_of_sentences_is_that_of_their_texts(words in prop::collection::vec("[a-c0-1]{1,2}[.]?", 0..20)) {
            let features = toy::read(&Profile::web(), &words.join(" "));
            let page = Page { text: "", features: &features };
            let text = |sentence| {
                let mut text = String::new();
                features.sentence_text(sentence, &mut text);
                text
            };
            for a in 0..features.sentence_count() {
                for b in 0..features.sentence_count() {
                    prop_assert_eq!(alphabetical(&page, a, b), text(a).cmp(&text(b)));
                }
            }
        }
    }
}
