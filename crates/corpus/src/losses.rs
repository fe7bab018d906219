//! Records that were rejected: how many, for which reasons, and how many are too many.
//!
//! Jobs compare the count with the limit when all of a corpus has been read, and before anything is decided.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use lookalike_model::{Rejection, Unit};
use serde::{Deserialize, Serialize};

use crate::CorpusError;

/// The number of records of a corpus that may be rejected before that is a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MaxRejected {
    /// A tenth of a corpus of 100 records or more, and of a smaller one not all of them.
    #[default]
    Usual,
    /// At most this number of records.
    Records(u64),
    /// At most this number of records per million.
    Share(u32),
}

/// All of a share.
const ALL: u32 = 1_000_000;
/// Number of records from which on the usual share counts.
const LARGE: u64 = 100;

impl MaxRejected {
    /// The limit that is never exceeded: all records may be rejected.
    pub const EVERYTHING: MaxRejected = MaxRejected::Share(ALL);

    /// Returns true if `rejected` of `records` records are too many.
    pub fn exceeded(self, records: u64, rejected: u64) -> bool {
        let beyond = |millionths: u32| {
            u128::from(rejected) * u128::from(ALL) > u128::from(records) * u128::from(millionths)
        };
        match self {
            MaxRejected::Usual if records >= LARGE => beyond(ALL / 10),
            MaxRejected::Usual => rejected > 0 && rejected == records,
            MaxRejected::Records(most) => rejected > most,
            MaxRejected::Share(millionths) => beyond(millionths),
        }
    }

    /// True when it is enough that one record is read.
    pub fn takes_all(self) -> bool {
        self == MaxRejected::EVERYTHING
    }
}

impl fmt::Display for MaxRejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MaxRejected::Usual => f.write_str("10%"),
            MaxRejected::Records(most) => write!(f, "{most}"),
            MaxRejected::Share(millionths) => write!(f, "{}%", f64::from(*millionths) / 10_000.0),
        }
    }
}

impl FromStr for MaxRejected {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Ok(records) = text.parse() {
            return Ok(MaxRejected::Records(records));
        }
        let (digits, whole) = text.strip_suffix('%').map_or((text, 1.0), |digits| (digits, 100.0));
        let share = digits.trim().parse::<f64>().ok().map(|number| number / whole);
        let share = share.filter(|share| (0.0..=1.0).contains(share));
        share.map(|share| MaxRejected::Share((share * f64::from(ALL)).round() as u32)).ok_or_else(|| {
            "a number of records or a share of them is wanted, such as 100, 5% or 0.05".to_owned()
        })
    }
}

/// Records that were rejected for one reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loss {
    /// The reason, without its details.
    pub kind: String,
    /// The number of them.
    pub count: u64,
    /// The corpus that they come from, where there are two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub side: Option<String>,
    /// The shard of the first one.
    pub source: String,
    /// Its position there.
    pub position: u64,
    /// The unit of the position, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<Unit>,
    /// Its reason in full.
    pub reason: String,
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = match self.unit {
            Some(Unit::Byte) => "byte",
            Some(Unit::Row) => "row",
            None => "position",
        };
        let Loss { count, source, position, reason, .. } = self;
        let side = self.side.as_ref().map_or_else(String::new, |side| format!("{side}, "));
        write!(f, "{count} × {reason} (the first in {side}{source}, {unit} {position})")
    }
}

/// Counts the records of a corpus and those that were rejected, by reason, with an example of each.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Losses {
    /// Records found, rejected ones included.
    pub records: u64,
    /// Those that were rejected.
    pub rejected: u64,
    reasons: BTreeMap<String, Loss>,
}

impl Losses {
    /// Counts a record that was read.
    pub fn accept(&mut self) {
        self.records += 1;
    }

    /// Counts a record of `source` that was rejected.
    pub fn reject(&mut self, source: &str, rejection: &Rejection) {
        self.add(source, rejection.place.position, Some(rejection.unit), &rejection.reason.to_string());
    }

    /// Counts a record that was rejected, by the sentence that says why.
    pub fn add(&mut self, source: &str, position: u64, unit: Option<Unit>, reason: &str) {
        self.records += 1;
        self.rejected += 1;
        let kind = reason.split(':').next().unwrap_or_default();
        if let Some(loss) = self.reasons.get_mut(kind) {
            loss.count += 1;
            return;
        }
        let (source, reason) = (source.to_owned(), reason.to_owned());
        let loss = Loss { kind: kind.to_owned(), count: 1, side: None, source, position, unit, reason };
        self.reasons.insert(kind.to_owned(), loss);
    }

    /// Adds what was counted in a later part of the corpus.
    pub fn merge(&mut self, later: Losses) {
        self.records += later.records;
        self.rejected += later.rejected;
        for (kind, loss) in later.reasons {
            self.reasons.entry(kind).and_modify(|here| here.count += loss.count).or_insert(loss);
        }
    }

    /// The reasons, the most frequent first.
    pub fn reasons(&self) -> Vec<Loss> {
        let mut all: Vec<Loss> = self.reasons.values().cloned().collect();
        all.sort_by_key(|loss| std::cmp::Reverse(loss.count));
        all
    }

    /// The same of one of two corpora.
    pub fn reasons_of(&self, side: &str) -> Vec<Loss> {
        let named = |loss: Loss| Loss { side: Some(side.to_owned()), ..loss };
        self.reasons().into_iter().map(named).collect()
    }

    /// Fails when more records were rejected than `most`; `side` says of what.
    pub fn check(&self, side: &str, most: MaxRejected) -> Result<(), CorpusError> {
        if !most.exceeded(self.records, self.rejected) {
            return Ok(());
        }
        let first = self.reasons().into_iter().next();
        let (records, rejected) = (self.records, self.rejected);
        let why = first.map_or_else(String::new, |loss| loss.to_string());
        Err(CorpusError::TooManyRejected { side: side.to_owned(), records, rejected, most, why })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_shares_are_told_apart() {
        let read = |text: &str| text.parse::<MaxRejected>();
        assert_eq!(read("7"), Ok(MaxRejected::Records(7)));
        assert_eq!(read("5%"), Ok(MaxRejected::Share(50_000)));
        assert_eq!(read("0.05"), Ok(MaxRejected::Share(50_000)));
        assert_eq!((read("100%"), read("1.0")), (Ok(MaxRejected::EVERYTHING), Ok(MaxRejected::EVERYTHING)));
        for wrong in ["", "%", "-1", "1.5", "101%", "NaN", "many"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
        assert_eq!(MaxRejected::Share(25_000).to_string(), "2.5%");
    }

    #[test]
    fn a_tenth_is_too_much_of_many_records_and_all_of_few() {
        let usual = MaxRejected::Usual;
        assert!(!usual.exceeded(100, 10) && usual.exceeded(100, 11));
        assert!(!usual.exceeded(99, 98) && usual.exceeded(99, 99));
        assert!(!usual.exceeded(0, 0));
        assert!(MaxRejected::Records(0).exceeded(9, 1) && !MaxRejected::Records(1).exceeded(1, 1));
        assert!(!MaxRejected::EVERYTHING.exceeded(u64::MAX, u64::MAX));
        assert!(MaxRejected::Share(0).exceeded(u64::MAX, 1));
    }

    #[test]
    fn the_most_frequent_reason_comes_first_with_its_first_example() {
        let mut losses = Losses::default();
        losses.add("a", 3, Some(Unit::Byte), "broken record: x at column 1");
        losses.add("a", 9, Some(Unit::Byte), "missing field: y");
        let mut later = Losses::default();
        later.accept();
        later.add("b", 5, None, "missing field: z");
        losses.merge(later);
        assert_eq!((losses.records, losses.rejected), (4, 3));
        let said: Vec<String> = losses.reasons().iter().map(ToString::to_string).collect();
        assert_eq!(
            said,
            [
                "2 × missing field: y (the first in a, byte 9)",
                "1 × broken record: x at column 1 (the first in a, byte 3)"
            ]
        );
        let error = losses.check("the input", MaxRejected::Records(2)).unwrap_err().to_string();
        assert!(error.starts_with("3 of 4 records of the input were rejected"), "{error}");
        assert!(losses.check("the input", MaxRejected::Records(3)).is_ok());
    }
}
