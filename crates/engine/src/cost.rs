//! The cost of a method: bytes and keys of a typical document, passes over the input.

use lookalike_methods::lexicon::Lexicon;
use lookalike_methods::{Abilities, Buffers, Method, Page, Sketch};
use lookalike_text::{Analyser, Features, Profile};
use serde::Serialize;

/// The cost of a method.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Cost {
    /// Bytes of payload and keys together.
    pub bytes: usize,
    /// Bytes of payload.
    pub payload: usize,
    /// Number of keys.
    pub keys: usize,
    /// Times that the input is read.
    pub passes: u32,
    /// It needs a lexicon.
    pub lexicon: bool,
}

/// Words of the page that is looked at.
const WORDS: usize = 400;

/// Measures the cost of a method on a page of 400 words in a small collection.
pub fn cost(method: &dyn Method) -> Cost {
    let web = Profile::web();
    let Abilities { profile, learning, survey, tagged, .. } = method.abilities();
    let profile = profile.unwrap_or(&web);
    let mut analyser = Analyser::new(profile);
    let texts: Vec<String> = (0..COLLECTION).map(page).collect();
    let pages: Vec<Features> = texts
        .iter()
        .map(|text| {
            let mut features = Features::default();
            analyser.read(text, &mut features);
            analyser.read_sentences(&mut features);
            features
        })
        .collect();
    if let Some(learning) = learning {
        // A range that holds no word of so small a collection costs no less.
        let _ = learning.learn(&std::sync::Arc::new(Lexicon::gather(&profile.recipe(), &pages)));
    }
    let mut sketch = Sketch::default();
    let passes = survey.map_or(0, |survey| survey.passes());
    if let Some(survey) = survey {
        let mut buffers = Buffers::default();
        for pass in 0..passes {
            for (text, features) in texts.iter().zip(&pages) {
                survey.observe(pass, &Page { text, features }, &mut buffers);
            }
            survey.end(pass);
        }
    }
    method.sketch(&Page { text: &texts[0], features: &pages[0] }, &mut sketch);
    let (payload, keys) = (method.payload_bytes(), sketch.keys.len());
    Cost {
        bytes: payload + keys * if tagged { 16 } else { 12 },
        payload,
        keys,
        passes: 1 + u32::from(learning.is_some()) + passes,
        lexicon: learning.is_some(),
    }
}

/// Pages of the collection.
const COLLECTION: usize = 200;

/// A page of made-up words, some of them common, in sentences of twenty; pages in pairs are alike.
fn page(number: usize) -> String {
    let mut text = String::new();
    let mut state = number as u64 / 2 + 1;
    for place in 0..WORDS {
        state = lookalike_hash::mix(state.wrapping_add(0x9e37_79b9));
        let common = state.is_multiple_of(3);
        let word = if common { state % 97 } else { state % 9973 };
        let letters: String = (0..6)
            .map(|letter| (b'a' + (word >> (2 * letter) & 3) as u8 * 5 + letter as u8) as char)
            .collect();
        text.push_str(&letters);
        text.push_str(if place % 20 == 19 { ". " } else { " " });
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use lookalike_methods::{Setting, method};

    fn cost_of(spec: &str) -> Cost {
        cost(&*method(spec, &Setting::default()).unwrap())
    }

    #[test]
    fn a_digest_costs_sixteen_bytes_and_one_key() {
        let expected = Cost { bytes: 28, payload: 16, keys: 1, passes: 1, lexicon: false };
        assert_eq!(cost_of("md5"), expected);
    }

    #[test]
    fn a_lexicon_and_each_survey_are_further_passes() {
        let lexicon = cost_of("imatch");
        assert!(lexicon.lexicon);
        assert_eq!(lexicon.passes, 2);
        let method = method("spex:n=3,counters=16", &Setting::default()).unwrap();
        let surveys = method.abilities().survey.unwrap().passes();
        assert_eq!(cost(&*method).passes, 1 + surveys);
    }

    #[test]
    fn tags_cost_four_bytes_for_each_key() {
        let cost = cost_of("exact");
        assert!(cost.keys > 0);
        assert_eq!(cost.bytes - cost.payload, 16 * cost.keys);
    }

    #[test]
    fn pages_have_so_many_words_and_come_in_pairs() {
        assert_eq!(page(0).split_whitespace().count(), WORDS);
        assert_eq!(page(0).matches('.').count(), WORDS / 20);
        assert_eq!(page(0), page(1));
        assert_ne!(page(1), page(2));
    }
}
