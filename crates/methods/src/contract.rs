//! The contract that every method keeps, and that the engine relies on.
//!
//! `tests/methods/contract.rs` holds all methods of this crate to it; [`check`] is for the tests of a method that a program adds by
//! [`register`](crate::register). A broken promise is told in a sentence.

use std::collections::BTreeSet;

use lookalike_text::{Analyser, Features, Profile};

use crate::{DirectedKeyCounts, Method, Page, Score, Setting, Sketch, method};

/// Checks what holds for a method that is found by its name and has learned what it must know: its recipe makes it again, and sketches of
/// the texts, alone and any two together, keep the contract.
pub fn check(method: &dyn Method, texts: &[&str]) -> Result<(), String> {
    check_recipe(method)?;
    let mut sketches = Vec::new();
    for text in texts {
        let features = read(method, text);
        sketches.push(check_page(method, &Page { text, features: &features })?);
    }
    sketches.iter().try_for_each(|a| sketches.iter().try_for_each(|b| check_pair(method, a, b)))
}

/// Returns the words of a text by the profile that a method reads by, and its sentences.
pub fn read(method: &dyn Method, text: &str) -> Features {
    let profile = method.abilities().profile.cloned().unwrap_or(Profile::web());
    let (mut analyser, mut features) = (Analyser::new(&profile), Features::default());
    analyser.read(text, &mut features);
    analyser.read_sentences(&mut features);
    features
}

/// Returns the sketch of a document, made with new buffers.
fn sketch(method: &dyn Method, page: &Page<'_>) -> Sketch {
    let mut sketch = Sketch::default();
    method.sketch(page, &mut sketch);
    sketch
}

/// Checks that the recipe of a method, as text, makes the same method again.
fn check_recipe(checked: &dyn Method) -> Result<(), String> {
    let recipe = checked.recipe();
    let again = method(&recipe.to_string(), &Setting::default()).map_err(|error| error.to_string())?;
    ensure(again.recipe() == recipe, || format!("{recipe} makes {} and not itself", again.recipe()))?;
    ensure(again.payload_bytes() == checked.payload_bytes(), || {
        format!("{recipe} makes payloads of another width")
    })
}

/// Checks what holds for one document; returns its sketch.
pub fn check_page(method: &dyn Method, page: &Page<'_>) -> Result<Sketch, String> {
    let (words, abilities) = (page.len(), method.abilities());
    let made = sketch(method, page);
    ensure(made == sketch(method, page), || "equal texts, different sketches".to_owned())?;
    ensure(made.payload.len() == method.payload_bytes(), || {
        format!("a payload of {} bytes and not of {}", made.payload.len(), method.payload_bytes())
    })?;
    ensure(words > 0 || made.keys.is_empty(), || "keys from no words".to_owned())?;
    if abilities.sketches_words_alone {
        let without_text = sketch(method, &Page { text: "", features: page.features });
        let reads_more = abilities.profile.is_some() || abilities.sentences || abilities.rejecting.is_some();
        ensure(made == without_text && !reads_more, || "a sketch of more than the words".to_owned())?;
    }
    let refused = abilities.rejection_reason(page.text).is_some();
    ensure(!refused || made.keys.is_empty(), || "keys from what it refuses".to_owned())?;
    ensure(abilities.tagged || made.keys.iter().all(|key| key.tag == 0), || {
        "tags where none are kept".to_owned()
    })?;
    if made.keys.is_empty() {
        return Ok(made);
    }
    if made.keys.len() as u32 >= abilities.keys_to_share() {
        let own = method.accept(&made.payload, &made.payload, shared(method, &made, &made));
        ensure(own.is_some(), || "a document is not like itself".to_owned())?;
    }
    let values: BTreeSet<u64> = made.keys.iter().map(|key| key.value).collect();
    ensure(values.len() == made.keys.len() || !abilities.counts_keys(), || {
        "a method that counts keys has one twice".to_owned()
    })?;
    Ok(made)
}

/// Checks what holds for two sketches of one method.
pub fn check_pair(method: &dyn Method, a: &Sketch, b: &Sketch) -> Result<(), String> {
    let shared = shared(method, a, b);
    let back = swapped(method, shared);
    let (one, two) = (&a.payload[..], &b.payload[..]);
    let accepted = method.accept(one, two, shared);
    ensure(accepted == method.accept(two, one, back).map(Score::swapped), || {
        "accept depends on who is first".to_owned()
    })?;
    let promising = method.promising(one, two, shared);
    ensure(promising == method.promising(two, one, back), || "promising is not symmetric".to_owned())?;
    let Some(score) = accepted else { return Ok(()) };
    let sane = |score: f64| (0.0..=1.0).contains(&score);
    ensure(sane(score.forward) && sane(score.backward), || format!("a score of {score:?}"))?;
    ensure(promising, || "accepted without being promising".to_owned())
}

/// Returns the number of keys that two documents share, packed as [`DirectedKeyCounts`] for a method with query-only
/// keys.
pub fn shared(method: &dyn Method, a: &Sketch, b: &Sketch) -> u32 {
    let abilities = method.abilities();
    let found = |a: &Sketch, b: &Sketch| {
        let others: BTreeSet<u64> = b.keys.iter().map(|key| key.value).collect();
        let stored = a.keys.iter().filter(|key| !abilities.is_query_only(key.tag));
        stored.filter(|key| others.contains(&key.value)).count() as u32
    };
    if abilities.query_keys.is_some() {
        return DirectedKeyCounts { forward: found(a, b), backward: found(b, a) }.pack();
    }
    found(a, b)
}

/// The same seen from the other document.
fn swapped(method: &dyn Method, shared: u32) -> u32 {
    if method.abilities().query_keys.is_none() {
        return shared;
    }
    let DirectedKeyCounts { forward, backward } = DirectedKeyCounts::unpack(shared);
    DirectedKeyCounts { forward: backward, backward: forward }.pack()
}

fn ensure(holds: bool, otherwise: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(otherwise()) }
}

#[cfg(test)]
mod tests {
    use lookalike_model::Recipe;

    use super::*;
    use crate::{Abilities, Key};

    const TEXTS: &[&str] = &["", "rose", "a rose is a rose", "One sentence. And another one!"];

    /// A method that breaks one promise.
    #[derive(Debug, Clone, Copy, PartialEq)]
    enum Broken {
        Nothing,
        Width,
        KeysOfNothing,
        Tags,
        Unlike,
        Sides,
        Scores,
        Promise,
        WordsAlone,
        Name,
    }

    impl Method for Broken {
        fn recipe(&self) -> Recipe {
            let md5 = method("md5", &Setting::default()).map(|method| method.recipe());
            if *self == Broken::Name { Recipe::new("nobody", 1) } else { md5.unwrap() }
        }

        fn payload_bytes(&self) -> usize {
            method("md5", &Setting::default()).unwrap().payload_bytes()
        }

        fn sketch(&self, page: &Page<'_>, sketch: &mut Sketch) {
            sketch.clear();
            let value = page.hashes().first().copied().unwrap_or_default();
            let tag = u32::from(*self == Broken::Tags);
            if !page.is_empty() || *self == Broken::KeysOfNothing {
                sketch.keys.push(Key { value, tag });
            }
            sketch.payload.resize(self.payload_bytes() - usize::from(*self == Broken::Width), 0);
            sketch.payload[0] = value as u8;
            if *self == Broken::WordsAlone {
                sketch.payload[1] = page.text.len() as u8;
            }
        }

        fn accept(&self, a: &[u8], b: &[u8], _: u32) -> Option<Score> {
            match self {
                Broken::Unlike => None,
                Broken::Sides => (a <= b).then_some(Score::even(1.0)),
                Broken::Scores => Some(Score::even(2.0)),
                _ => (a == b).then_some(Score::even(1.0)),
            }
        }

        fn promising(&self, a: &[u8], b: &[u8], shared: u32) -> bool {
            *self != Broken::Promise && self.accept(a, b, shared).is_some()
        }

        fn abilities(&self) -> Abilities<'_> {
            Abilities { sketches_words_alone: *self == Broken::WordsAlone, ..Abilities::default() }
        }
    }

    #[test]
    fn every_broken_promise_is_told() {
        assert_eq!(check(&Broken::Nothing, TEXTS), Ok(()));
        for (broken, sentence) in [
            (Broken::Width, "a payload of"),
            (Broken::KeysOfNothing, "keys from no words"),
            (Broken::Tags, "tags where none are kept"),
            (Broken::Unlike, "a document is not like itself"),
            (Broken::Sides, "accept depends on who is first"),
            (Broken::Scores, "a score of"),
            (Broken::Promise, "accepted without being promising"),
            (Broken::WordsAlone, "a sketch of more than the words"),
            (Broken::Name, "there is no method nobody"),
        ] {
            let told = check(&broken, TEXTS).unwrap_err();
            assert!(told.starts_with(sentence), "{broken:?}: {told}");
        }
    }

    #[test]
    fn methods_of_this_crate_keep_it() {
        for name in ["minhash", "simhash", "md5", "mod", "sif"] {
            assert_eq!(check(&*method(name, &Setting::default()).unwrap(), TEXTS), Ok(()), "{name}");
        }
    }
}
