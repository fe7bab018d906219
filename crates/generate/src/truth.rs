//! The truth: which documents are related, how, and how similar they are exactly.
//!
//! Planted pairs are each copy with its original and, in groups of up to [`ALL_PAIRS`] documents, each copy
//! with every other. Clusters, which grow with the corpus, list each member with the first only. Pages of
//! different groups share no more than stock phrases: in the sample no two of them reach a Jaccard of 0.1.
//!
//! ```
//! use lookalike_generate::{Kind, sample};
//!
//! let mirrors = sample().truth().filter(|pair| pair.kind == Kind::Mirror);
//! assert!(mirrors.into_iter().all(|pair| pair.intersection == pair.union));
//! ```
//!
//! `crates/lookalike/tests/facade/truth.rs` reads all planted pairs of the sample back through the readers and extractors.

use serde::{Deserialize, Serialize};

use crate::Kind;
use crate::composer::Composer;
use crate::families::Family;
use crate::grams::{Counter, Grams};
use crate::plan::{Positions, document_id};

/// Most documents of a group that lists all its pairs, clusters excepted.
pub const ALL_PAIRS: u64 = 50;

/// Two related documents and the number of word 5-grams that they share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlantedPair {
    /// The number of their group.
    pub group: u64,
    /// The way in which the copies of the group were made.
    pub kind: Kind,
    /// Position of one document: the original, or else the copy that was made first.
    pub a: u64,
    /// Position of the other.
    pub b: u64,
    /// True when `b` was made from `a`, false when both were made from a third.
    pub derived: bool,
    /// Number of word 5-grams in both.
    pub intersection: u64,
    /// Number of word 5-grams in either.
    pub union: u64,
}

impl PlantedPair {
    /// The Jaccard coefficient of the two sets of word 5-grams.
    pub fn jaccard(&self) -> f64 {
        if self.union == 0 { 1.0 } else { self.intersection as f64 / self.union as f64 }
    }

    /// The pair as a line of the truth file.
    pub fn to_line(&self) -> TruthLine {
        TruthLine {
            group: self.group,
            kind: self.kind,
            a: document_id(self.a),
            b: document_id(self.b),
            derived: self.derived,
            jaccard: self.jaccard(),
            intersection: self.intersection,
            union: self.union,
        }
    }
}

/// A line of the truth file; [`crate::jsonl`] explains the fields.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the fields are explained at `PlantedPair` and in `jsonl`")]
pub struct TruthLine {
    pub group: u64,
    pub kind: Kind,
    pub a: String,
    pub b: String,
    pub derived: bool,
    pub jaccard: f64,
    pub intersection: u64,
    pub union: u64,
}

/// An original and its copies.
#[derive(Debug, Clone, Copy)]
pub struct TruthGroup {
    family: Family,
    positions: Positions,
}

impl TruthGroup {
    /// The number that its pairs and documents bear; numbers are not consecutive.
    pub fn number(&self) -> u64 {
        self.family.number
    }

    /// Returns the way in which its copies were made.
    pub fn kind(&self) -> Kind {
        self.family.kind
    }

    /// Returns the number of its documents.
    pub fn size(&self) -> u64 {
        self.family.size
    }

    /// True when only pairs with the original are listed.
    pub fn is_star(&self) -> bool {
        is_star(&self.family)
    }

    /// Positions of its documents, the original first.
    pub fn members(&self) -> impl Iterator<Item = u64> + use<> {
        let TruthGroup { family, positions } = *self;
        (0..family.size).map(move |member| positions.position(&family, member))
    }
}

fn is_star(family: &Family) -> bool {
    family.kind == Kind::Cluster || family.size > ALL_PAIRS
}

/// The groups of a plan, in ascending order of their numbers.
#[derive(Debug, Clone)]
pub struct Groups {
    positions: Positions,
    next: u64,
}

impl Groups {
    pub(crate) fn new(positions: Positions) -> Self {
        Groups { positions, next: 0 }
    }
}

impl Iterator for Groups {
    type Item = TruthGroup;

    fn next(&mut self) -> Option<TruthGroup> {
        while self.next < self.positions.families.len() {
            let family = self.positions.families.get(self.next);
            self.next += 1;
            if family.size > 1 {
                return Some(TruthGroup { family, positions: self.positions });
            }
        }
        None
    }
}

/// The planted pairs of a plan, group by group. Holds the 5-grams of one group at a time, of a cluster those of
/// two members.
pub struct Truth {
    groups: Groups,
    composer: Composer,
    counter: Counter,
    /// Sets of the members met so far; the second one of a cluster is overwritten by each member.
    sets: Vec<Grams>,
    cursor: Option<PairCursor>,
}

/// A group that is being compared: the pair (`older`, `newer`) comes next.
#[derive(Clone, Copy)]
struct PairCursor {
    group: TruthGroup,
    older: u64,
    newer: u64,
}

impl Truth {
    pub(crate) fn new(positions: Positions, composer: Composer) -> Self {
        Truth {
            groups: Groups::new(positions),
            composer,
            counter: Counter::default(),
            sets: Vec::new(),
            cursor: None,
        }
    }

    /// Counts the grams of a member into its set.
    fn count(&mut self, family: &Family, member: u64) {
        let place = set_index(family, member);
        if self.sets.len() <= place {
            self.sets.resize_with(place + 1, Grams::default);
        }
        self.composer.compose(family, member);
        self.counter.count(self.composer.page(), &self.composer.book.lexicon, &mut self.sets[place]);
    }

    fn open_next_group(&mut self) -> Option<PairCursor> {
        let group = self.groups.next()?;
        self.count(&group.family, 0);
        self.count(&group.family, 1);
        Some(PairCursor { group, older: 0, newer: 1 })
    }

    /// Goes on to the next pair of the group, or closes it.
    fn advance(&mut self, cursor: PairCursor) {
        let PairCursor { group, older, newer } = cursor;
        self.cursor = if older + 1 < newer && !group.is_star() {
            Some(PairCursor { older: older + 1, ..cursor })
        } else if newer + 1 < group.size() {
            self.count(&group.family, newer + 1);
            Some(PairCursor { group, older: 0, newer: newer + 1 })
        } else {
            None
        };
    }

    /// Bytes held by the buffers and the lexicon: bounded, whatever the size of the corpus.
    pub fn memory(&self) -> usize {
        let sets = self.sets.iter().map(Grams::memory).sum::<usize>();
        self.composer.memory() + self.counter.memory() + sets
    }
}

fn set_index(family: &Family, member: u64) -> usize {
    (if is_star(family) { member.min(1) } else { member }) as usize
}

impl Iterator for Truth {
    type Item = PlantedPair;

    fn next(&mut self) -> Option<PlantedPair> {
        let cursor = match self.cursor {
            Some(cursor) => cursor,
            None => self.open_next_group()?,
        };
        let PairCursor { group: TruthGroup { family, positions }, older, newer } = cursor;
        let (one, other) = (&self.sets[set_index(&family, older)], &self.sets[set_index(&family, newer)]);
        let (intersection, union) = one.compare(other);
        self.advance(cursor);
        Some(PlantedPair {
            group: family.number,
            kind: family.kind,
            a: positions.position(&family, older),
            b: positions.position(&family, newer),
            derived: older == 0,
            intersection,
            union,
        })
    }
}
