//! One text, read by every profile that a run asks for: each of them once.

use lookalike_methods::Page;
use lookalike_text::{Analyser, Features, Profile};

use crate::panel::Panel;

/// The readings of one document after the other.
pub(crate) struct Readings {
    readings: Vec<Reading>,
    /// The reading of each method.
    of_seats: Vec<usize>,
}

struct Reading {
    profile: Profile,
    analyser: Analyser,
    features: Features,
    sentences: bool,
}

impl Reading {
    fn read(&mut self, text: &str) {
        self.analyser.read(text, &mut self.features);
        if self.sentences {
            self.analyser.read_sentences(&mut self.features);
        }
    }
}

impl Readings {
    /// Readings by the profile that pairs are measured by, and by those of the panel.
    pub(crate) fn new(measuring: &Profile, panel: &Panel) -> Self {
        let mut readings = Readings { readings: Vec::new(), of_seats: Vec::new() };
        readings.place(measuring);
        for seat in panel.seats() {
            let place = readings.place(seat.method.profile().unwrap_or(measuring));
            readings.readings[place].sentences |= seat.method.sentences();
            readings.of_seats.push(place);
        }
        readings
    }

    fn place(&mut self, profile: &Profile) -> usize {
        if let Some(place) = self.readings.iter().position(|reading| reading.profile == *profile) {
            return place;
        }
        self.readings.push(Reading {
            profile: profile.clone(),
            analyser: Analyser::new(profile),
            features: Features::default(),
            sentences: false,
        });
        self.readings.len() - 1
    }

    /// Reads a text for all. Nobody else looks at a document that has no words by the measuring profile.
    pub(crate) fn read(&mut self, text: &str) {
        let mut readings = self.readings.iter_mut();
        let Some(measuring) = readings.next() else { return };
        measuring.read(text);
        if !measuring.features.is_empty() {
            readings.for_each(|reading| reading.read(text));
        }
    }

    /// Reads a text as pairs are measured, and not for methods.
    pub(crate) fn read_measuring(&mut self, text: &str) -> &Features {
        let measuring = &mut self.readings[0];
        measuring.analyser.read(text, &mut measuring.features);
        &measuring.features
    }

    /// The words that pairs are measured by.
    pub(crate) fn measuring(&self) -> &Features {
        &self.readings[0].features
    }

    /// The document as one method sees it; nothing when it has no words for it.
    pub(crate) fn page<'a>(&'a self, seat: usize, text: &'a str) -> Option<Page<'a>> {
        let features = &self.readings[self.of_seats[seat]].features;
        (!features.is_empty() && !self.measuring().is_empty()).then_some(Page { text, features })
    }
}
