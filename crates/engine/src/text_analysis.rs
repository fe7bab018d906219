//! One text, read by the profiles that a run asks for: each of them once, when it is wanted.

use lookalike_methods::Page;
use lookalike_text::hash::Secret;
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
        analyses.index_of(run, Some(secret));
        analyses.measuring = analyses.index_of(measuring, Some(secret));
        for entry in panel.methods() {
            let index = analyses.index_of(entry.method.profile().unwrap_or(run), None);
            analyses.analyses[index].sentences |= entry.method.sentences();
            analyses.of_methods.push(index);
        }
        analyses
    }

    fn index_of(&mut self, profile: &Profile, secret: Option<&Secret>) -> usize {
        if let Some(index) = self.analyses.iter().position(|analysis| analysis.profile == *profile) {
            return index;
        }
        self.analyses.push(TextAnalysis {
            profile: profile.clone(),
            analyser: match secret {
                Some(secret) => Analyser::with_secret(profile, secret),
                None => Analyser::new(profile),
            },
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
