//! One text, read by the profiles that a run asks for: each of them once, when it is wanted.

use lookalike_methods::Page;
use lookalike_text::hash::Secret;
use lookalike_text::{Analyser, Features, Profile};

use crate::panel::Panel;

/// The readings of one document after the other.
pub(crate) struct Readings {
    readings: Vec<Reading>,
    /// The reading of each method.
    of_seats: Vec<usize>,
    /// The reading that pairs are measured by.
    measuring: usize,
}

struct Reading {
    profile: Profile,
    analyser: Analyser,
    features: Features,
    sentences: bool,
    /// The text at hand was read.
    fresh: bool,
}

impl Reading {
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

impl Readings {
    /// Readings by the run's profile, by the one that pairs are measured by, and by those of the panel. Of the first two words are also
    /// hashed by the secret, which equal documents and similarities are told by.
    pub(crate) fn new(run: &Profile, measuring: &Profile, panel: &Panel, secret: &Secret) -> Self {
        let mut readings = Readings { readings: Vec::new(), of_seats: Vec::new(), measuring: 0 };
        readings.place(run, Some(secret));
        readings.measuring = readings.place(measuring, Some(secret));
        for seat in panel.seats() {
            let place = readings.place(seat.method.profile().unwrap_or(run), None);
            readings.readings[place].sentences |= seat.method.sentences();
            readings.of_seats.push(place);
        }
        readings
    }

    fn place(&mut self, profile: &Profile, secret: Option<&Secret>) -> usize {
        if let Some(place) = self.readings.iter().position(|reading| reading.profile == *profile) {
            return place;
        }
        self.readings.push(Reading {
            profile: profile.clone(),
            analyser: match secret {
                Some(secret) => Analyser::with_secret(profile, secret),
                None => Analyser::new(profile),
            },
            features: Features::default(),
            sentences: false,
            fresh: false,
        });
        self.readings.len() - 1
    }

    /// Another text is at hand.
    pub(crate) fn turn(&mut self) {
        self.readings.iter_mut().for_each(|reading| reading.fresh = false);
    }

    /// The words by the run's profile.
    pub(crate) fn words(&mut self, text: &str) -> &Features {
        self.readings[0].read(text)
    }

    /// The words that pairs are measured by.
    pub(crate) fn measuring(&mut self, text: &str) -> &Features {
        self.readings[self.measuring].read(text)
    }

    /// The document as one method sees it; nothing when it has no words for it.
    pub(crate) fn page<'a>(&'a mut self, seat: usize, text: &'a str) -> Option<Page<'a>> {
        let features = self.readings[self.of_seats[seat]].read(text);
        (!features.is_empty()).then_some(Page { text, features })
    }
}
