//! Sentence patterns: fixed words and slots, written as `the {adj} {noun} opens at {time}`.

use std::collections::HashMap;

use crate::language::Stop;
use crate::prose::Mark;

/// The kind of words that may fill a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Slot {
    Noun,
    Nouns,
    /// A noun of the genre.
    Thing,
    Adjective,
    Adverb,
    Verb,
    Past,
    Place,
    Month,
    Number,
    Price,
    Date,
    Time,
    /// The coined name that the page is about.
    Name,
}

impl Slot {
    fn parse(name: &str) -> Option<Slot> {
        Some(match name {
            "noun" => Slot::Noun,
            "nouns" => Slot::Nouns,
            "thing" => Slot::Thing,
            "adj" => Slot::Adjective,
            "adv" => Slot::Adverb,
            "verb" => Slot::Verb,
            "past" => Slot::Past,
            "place" => Slot::Place,
            "month" => Slot::Month,
            "number" => Slot::Number,
            "price" => Slot::Price,
            "date" => Slot::Date,
            "time" => Slot::Time,
            "name" => Slot::Name,
            _ => return None,
        })
    }
}

/// One piece of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Piece {
    Word(u32),
    Slot(Slot),
}

/// A sentence with slots.
#[derive(Debug, Clone)]
pub(crate) struct Pattern {
    pub(crate) pieces: Vec<(Piece, Mark)>,
    pub(crate) stop: Stop,
}

impl Pattern {
    /// Reads a pattern whose words are all in `ids`; others are left out.
    pub(crate) fn compile(source: &str, ids: &HashMap<&str, u32>) -> Self {
        let (body, stop) = stop(source);
        let mut pieces: Vec<(Piece, Mark)> = Vec::new();
        for token in body.split(' ') {
            if let Some(mark) = standing_mark(token) {
                if let Some(last) = pieces.last_mut() {
                    last.1 = mark;
                }
                continue;
            }
            let (core, mark) = trailing_mark(token);
            let piece = match slot_name(core) {
                Some(name) => Slot::parse(name).map(Piece::Slot),
                None => ids.get(core).copied().map(Piece::Word),
            };
            pieces.extend(piece.map(|piece| (piece, mark)));
        }
        Pattern { pieces, stop }
    }
}

/// The fixed words of a pattern.
pub(crate) fn fixed_words(source: &str) -> impl Iterator<Item = &str> {
    let tokens = stop(source).0.split(' ').filter(|token| standing_mark(token).is_none());
    tokens.map(|token| trailing_mark(token).0).filter(|core| slot_name(core).is_none())
}

fn stop(source: &str) -> (&str, Stop) {
    if let Some(body) = source.strip_suffix('?') {
        (body, Stop::Question)
    } else if let Some(body) = source.strip_suffix('!') {
        (body, Stop::Exclamation)
    } else {
        (source, Stop::Full)
    }
}

fn standing_mark(token: &str) -> Option<Mark> {
    match token {
        "&" => Some(Mark::Ampersand),
        "-" => Some(Mark::Dash),
        _ => None,
    }
}

fn trailing_mark(token: &str) -> (&str, Mark) {
    if let Some(core) = token.strip_suffix(',') {
        (core, Mark::Comma)
    } else if let Some(core) = token.strip_suffix(':') {
        (core, Mark::Colon)
    } else {
        (token, Mark::None)
    }
}

fn slot_name(core: &str) -> Option<&str> {
    core.strip_prefix('{')?.strip_suffix('}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_keeps_words_slots_marks_and_stop() {
        let ids = HashMap::from([("is", 7), ("ready", 8)]);
        let pattern = Pattern::compile("is the {noun}, ready & {adj}?", &ids);
        assert_eq!(
            pattern.pieces,
            [
                (Piece::Word(7), Mark::None),
                (Piece::Slot(Slot::Noun), Mark::Comma),
                (Piece::Word(8), Mark::Ampersand),
                (Piece::Slot(Slot::Adjective), Mark::None),
            ]
        );
        assert_eq!(pattern.stop, Stop::Question);
        assert!(fixed_words("is the {noun}, ready & {adj}?").eq(["is", "the", "ready"]));
    }
}
