//! The simplest of all: an engine has at least as many pages as it counts for a query that nearly every page matches.
//!
//! Any of many frequent words, in many languages. The bound is only as good as the engine's counts: what it claims is not
//! checked, so there is no error to state.

use crate::engine::{Engine, NoAnswer, Word};

/// Pages that an engine claims to have with any of these words.
pub fn lower_bound(engine: &mut impl Engine, frequent: &[Word]) -> Result<u64, NoAnswer> {
    engine.count_any(frequent)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Page;
    use crate::simulation::{Library, SimulatedEngine};

    #[test]
    fn the_bound_holds_and_grows_with_the_words() {
        let library = Library::of_texts(["the cat", "the dog", "der Hund", "", "xyz"]);
        let pages: Vec<Page> = library.pages().collect();
        let mut engine = SimulatedEngine::new(&library, &pages, 1, 1);
        let word = |spelling: &str| {
            let words = (0..library.vocabulary() as u32).map(Word);
            words.into_iter().find(|&word| library.spelling(word) == spelling).unwrap()
        };
        assert_eq!(lower_bound(&mut engine, &[word("the")]), Ok(2));
        assert_eq!(lower_bound(&mut engine, &[word("the"), word("der")]), Ok(3));
    }
}
