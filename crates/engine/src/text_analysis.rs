//! One text, read by the profiles that a run asks for: each of them once, when it is wanted.

use lookalike_hash::Secret;
use lookalike_methods::{Abilities, Page};
use lookalike_text::{Analyser, Features, Profile};

use crate::panel::Panel;

/// The analyses of one document after the other.
pub(crate) struct TextAnalyses {
    analyses: Vec<TextAnalysis>,
    /// The index of the analysis of each method.
    of_methods: Vec<usize>,
    /// The index of the analysis that pairs are measured by.
    measuring: usize,
}

struct TextAnalysis {
    profile: Profile,
    analyser: Analyser,
    features: Features,
    sentences: bool,
    /// The current text was analysed.
    fresh: bool,
}

impl TextAnalysis {
    fn read(&mut self, text: &str) -> &Features {
        if !std::mem::replace(&mut self.fresh, true) {
            self.analyser.read(text, &mut self.features);
            if self.sentences {
                self.analyser.read_sentences(&mut self.features);
            }
        }
        &self.features
    }
}

impl TextAnalyses {
    /// Creates the analyses by the run's profile, by the one that pairs are measured by, and by those of the panel. Of the first two
    /// words are also hashed by the secret, which equal documents and similarities are told by.
    pub(crate) fn new(run: &Profile, measuring: &Profile, panel: &Panel, secret: &Secret) -> Self {
        let mut analyses = TextAnalyses { analyses: Vec::new(), of_methods: Vec::new(), measuring: 0 };
        analyses.index_of(run, |profile| Analyser::with_secret(profile, secret));
        analyses.measuring = analyses.index_of(measuring, |profile| Analyser::with_secret(profile, secret));
        for entry in panel.methods() {
            let Abilities { profile, sentences, .. } = entry.abilities();
            let index = analyses.index_of(profile.unwrap_or(run), Analyser::new);
            analyses.analyses[index].sentences |= sentences;
            analyses.of_methods.push(index);
        }
        analyses
    }

    /// Creates the analyses by the run's profile and by the one that pairs are measured by, for documents that are read
    /// again: no method looks at these, so words are hashed by the secret alone.
    pub(crate) fn for_measuring(run: &Profile, measuring: &Profile, secret: &Secret) -> Self {
        let mut analyses = TextAnalyses { analyses: Vec::new(), of_methods: Vec::new(), measuring: 0 };
        analyses.index_of(run, |profile| Analyser::for_measuring(profile, secret));
        analyses.measuring = analyses.index_of(measuring, |profile| Analyser::for_measuring(profile, secret));
        analyses
    }

    fn index_of(&mut self, profile: &Profile, analyser: impl FnOnce(&Profile) -> Analyser) -> usize {
        if let Some(index) = self.analyses.iter().position(|analysis| analysis.profile == *profile) {
            return index;
        }
        self.analyses.push(TextAnalysis {
            profile: profile.clone(),
            analyser: analyser(profile),
            features: Features::default(),
            sentences: false,
            fresh: false,
        });
        self.analyses.len() - 1
    }

    /// Begins with another text.
    pub(crate) fn start_text(&mut self) {
        self.analyses.iter_mut().for_each(|analysis| analysis.fresh = false);
    }

    /// The words by the run's profile.
    pub(crate) fn words(&mut self, text: &str) -> &Features {
        self.analyses[0].read(text)
    }

    /// The words that pairs are measured by.
    pub(crate) fn measuring(&mut self, text: &str) -> &Features {
        self.analyses[self.measuring].read(text)
    }

    /// The document as one method sees it; nothing when it has no words for it.
    pub(crate) fn page<'a>(&'a mut self, method: usize, text: &'a str) -> Option<Page<'a>> {
        let features = self.analyses[self.of_methods[method]].read(text);
        (!features.is_empty()).then_some(Page { text, features })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::recipe;

    fn analyses(spec: &str) -> TextAnalyses {
        let web = Profile::web();
        TextAnalyses::new(&web, &web, &recipe(spec).panel().unwrap(), Secret::of_process())
    }

    #[test]
    fn methods_of_one_profile_share_an_analysis() {
        let shared = analyses("md5 minhash");
        assert_eq!(
            (shared.analyses.len(), shared.of_methods.as_slice(), shared.measuring),
            (1, &[0, 0][..], 0)
        );
        let other = analyses("imatch md5");
        assert_eq!((other.analyses.len(), other.of_methods.as_slice(), other.measuring), (2, &[1, 0][..], 0));
    }

    #[test]
    fn pairs_may_be_measured_by_another_profile() {
        let panel = recipe("md5").panel().unwrap();
        let mut analyses =
            TextAnalyses::new(&Profile::web(), &Profile::yandex(), &panel, Secret::of_process());
        assert_eq!((analyses.analyses.len(), analyses.measuring), (2, 1));
        analyses.start_text();
        let own = analyses.measuring("roses tulips").secret_hashes().len();
        assert_eq!(own, 2, "symbols are hashed by the secret, too");
    }

    #[test]
    fn a_text_is_read_once_until_the_next_begins() {
        let mut analyses = analyses("md5");
        analyses.start_text();
        assert_eq!(analyses.words("one two").len(), 2);
        assert_eq!(analyses.words("three four five").len(), 2);
        analyses.start_text();
        assert_eq!(analyses.words("three four five").len(), 3);
    }

    #[test]
    fn a_method_sees_no_page_without_words() {
        let mut analyses = analyses("md5");
        analyses.start_text();
        assert!(analyses.page(0, "...").is_none());
        analyses.start_text();
        assert_eq!(
            analyses.page(0, "one. two").map(|page| (page.text, page.features.len())),
            Some(("one. two", 2))
        );
    }

    #[test]
    fn sentences_are_read_where_a_method_looks_at_them() {
        assert!(!analyses("md5").analyses[0].sentences);
        let cops = analyses("cops");
        assert!(cops.analyses[cops.of_methods[0]].sentences);
    }
}
