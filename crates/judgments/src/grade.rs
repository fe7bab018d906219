//! Grades: what an assessor said of a document.
//!
//! Labels are carried as they stand. Most are whole numbers from -2 to 4:
//!
//! | label | meaning |
//! |---|---|
//! | -2, -1, 0 | not relevant; -2 is junk or spam |
//! | 1 | relevant |
//! | 2 | highly relevant |
//! | 3, 4 and more | special in some tracks, such as a key page or the page that was looked for |
//!
//! The session track of 2010 has pairs such as `2.-1`: the grade for the first query of a session and the one for the second,
//! where -1 means that nobody judged it. A pair is relevant when one of its parts is.

use std::fmt;

/// A grade, read from its label.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Grade {
    /// A whole number.
    Number(i32),
    /// Two whole numbers with a point between them.
    Pair(i32, i32),
}

/// The meaning of a grade.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Meaning {
    /// 0 or less.
    NotRelevant,
    /// 1
    Relevant,
    /// 2
    HighlyRelevant,
    /// 3 and more, which has another meaning in every track.
    Special,
}

impl Grade {
    /// Reads a label; nothing for what is no grade.
    ///
    /// ```
    /// use lookalike_judgments::Grade;
    ///
    /// assert_eq!(Grade::parse("-2"), Some(Grade::Number(-2)));
    /// assert_eq!(Grade::parse("0.-1"), Some(Grade::Pair(0, -1)));
    /// assert_eq!(Grade::parse("yes"), None);
    /// ```
    pub fn parse(label: &str) -> Option<Self> {
        match label.split_once('.') {
            None => parse_integer(label).map(Grade::Number),
            Some((first, second)) => Some(Grade::Pair(parse_integer(first)?, parse_integer(second)?)),
        }
    }

    /// The number, if it is one.
    pub fn number(self) -> Option<i32> {
        match self {
            Grade::Number(number) => Some(number),
            Grade::Pair(..) => None,
        }
    }

    /// The highest number in it: what decides whether it is relevant.
    pub fn highest(self) -> i32 {
        match self {
            Grade::Number(number) => number,
            Grade::Pair(first, second) => first.max(second),
        }
    }

    /// True when it is above 0.
    pub fn is_relevant(self) -> bool {
        self.highest() > 0
    }

    /// Returns its meaning.
    pub fn meaning(self) -> Meaning {
        match self.highest() {
            ..=0 => Meaning::NotRelevant,
            1 => Meaning::Relevant,
            2 => Meaning::HighlyRelevant,
            _ => Meaning::Special,
        }
    }

    /// The grade of a document that is not relevant after all: what is above 0 becomes 0, and nothing else changes.
    pub fn not_relevant(self) -> Self {
        match self {
            Grade::Number(number) => Grade::Number(number.min(0)),
            Grade::Pair(first, second) => Grade::Pair(first.min(0), second.min(0)),
        }
    }
}

impl fmt::Display for Grade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Grade::Number(number) => write!(f, "{number}"),
            Grade::Pair(first, second) => write!(f, "{first}.{second}"),
        }
    }
}

/// A whole number; a plus before it is none of a label's.
fn parse_integer(text: &str) -> Option<i32> {
    text.parse().ok().filter(|_| !text.starts_with('+'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grades_mean_what_the_tracks_say() {
        let meanings = [
            ("-2", Meaning::NotRelevant),
            ("0", Meaning::NotRelevant),
            ("1", Meaning::Relevant),
            ("2", Meaning::HighlyRelevant),
            ("3", Meaning::Special),
            ("4", Meaning::Special),
            ("0.-1", Meaning::NotRelevant),
            ("0.0", Meaning::NotRelevant),
            ("0.2", Meaning::HighlyRelevant),
            ("1.-1", Meaning::Relevant),
        ];
        for (label, meaning) in meanings {
            let grade = Grade::parse(label).unwrap();
            assert_eq!(grade.meaning(), meaning, "{label}");
            assert_eq!(grade.is_relevant(), meaning != Meaning::NotRelevant, "{label}");
            assert_eq!(grade.to_string(), label);
        }
    }

    #[test]
    fn only_what_is_relevant_can_become_not_relevant() {
        for (label, then) in [("-2", "-2"), ("0", "0"), ("3", "0"), ("2.-1", "0.-1"), ("0.1", "0.0")] {
            assert_eq!(Grade::parse(label).unwrap().not_relevant().to_string(), then);
        }
    }

    #[test]
    fn what_is_no_grade_is_none() {
        for label in ["", ".", "1.", ".1", "1.2.3", "x", "1,5", "+1", "99999999999"] {
            assert_eq!(Grade::parse(label), None, "{label}");
        }
    }
}
