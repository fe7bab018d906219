//! Families of related documents, by arithmetic: the slot of a document tells its family.
//!
//! ```text
//! slots   | cluster 0 | 1 | 2 | cycle 0: families of every kind, pages alone | cycle 1 | ... (the last one cut)
//!           1 %         2/3 % 1/3 %                                     of the corpus
//! ```
//!
//! A family is one original and its copies; a page alone is a family of one. The families of a cycle always
//! have the same kinds and sizes; what they say comes from their keys.

use crate::Kind;
use crate::random::child;

/// Kinds and sizes of the families in one cycle; the rest of the cycle are pages alone.
const SCHEDULE: &[(Kind, u64)] = &[
    (Kind::Mirror, 2),
    (Kind::Mirror, 2),
    (Kind::Mirror, 3),
    (Kind::Mirror, 10),
    (Kind::Template, 2),
    (Kind::Template, 3),
    (Kind::Template, 4),
    (Kind::Translation, 2),
    (Kind::Translation, 3),
    (Kind::Site, 2),
    (Kind::Site, 3),
    (Kind::Site, 4),
    (Kind::Numbers, 2),
    (Kind::Numbers, 3),
    (Kind::Numbers, 4),
    (Kind::Insertion, 2),
    (Kind::Insertion, 3),
    (Kind::Insertion, 4),
    (Kind::Deletion, 2),
    (Kind::Deletion, 3),
    (Kind::Deletion, 4),
    (Kind::Reordering, 2),
    (Kind::Reordering, 3),
    (Kind::Substitution, 2),
    (Kind::Substitution, 3),
    (Kind::Substitution, 4),
    (Kind::Substitution, 6),
    (Kind::Quote, 2),
    (Kind::Quote, 3),
    (Kind::Containment, 2),
    (Kind::Containment, 3),
    (Kind::Short, 2),
    (Kind::Short, 2),
    (Kind::Short, 3),
    (Kind::Empty, 1),
    (Kind::Empty, 1),
];

/// Documents in one cycle.
const CYCLE: u64 = 300;
/// One in this number of documents belongs to a cluster.
const CLUSTERED: u64 = 50;
/// Clusters in a corpus of any size.
const CLUSTERS: u64 = 3;

const SCHEDULED: u64 = scheduled();
const FAMILIES: u64 = SCHEDULE.len() as u64 + CYCLE - SCHEDULED;

const fn scheduled() -> u64 {
    let (mut sum, mut index) = (0, 0);
    while index < SCHEDULE.len() {
        sum += SCHEDULE[index].1;
        index += 1;
    }
    sum
}

/// An original and its copies, or a page alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Family {
    pub(crate) number: u64,
    pub(crate) kind: Kind,
    /// The slot of the original; the copies follow.
    pub(crate) first: u64,
    pub(crate) size: u64,
    /// The key from which everything that its members share is drawn.
    pub(crate) key: u64,
}

impl Family {
    /// Returns the key from which everything that one member does not share with the others is drawn.
    pub(crate) fn member_key(&self, member: u64) -> u64 {
        child(self.key, member.wrapping_add(1))
    }
}

/// All families of a corpus.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Families {
    documents: u64,
    seed: u64,
}

impl Families {
    pub(crate) fn new(documents: u64, seed: u64) -> Self {
        Families { documents, seed }
    }

    /// Returns the number of families.
    pub(crate) fn len(&self) -> u64 {
        let rest = self.documents - self.clustered();
        let cut = match rest % CYCLE {
            0 => 0,
            last => in_cycle(last - 1).0 + 1,
        };
        CLUSTERS + rest / CYCLE * FAMILIES + cut
    }

    /// The family of the document in `slot`, and which member of it the document is.
    pub(crate) fn of(&self, slot: u64) -> (Family, u64) {
        let clustered = self.clustered();
        let number = if slot < clustered {
            (0..CLUSTERS).rev().find(|&cluster| self.cluster_start(cluster) <= slot).unwrap_or(0)
        } else {
            let rest = slot - clustered;
            CLUSTERS + rest / CYCLE * FAMILIES + in_cycle(rest % CYCLE).0
        };
        let family = self.get(number);
        (family, slot - family.first)
    }

    /// The family with this number, which must be below [`Families::len`].
    pub(crate) fn get(&self, number: u64) -> Family {
        let (kind, first, size) = match number.checked_sub(CLUSTERS) {
            None => {
                let start = self.cluster_start(number);
                (Kind::Cluster, start, self.cluster_start(number + 1) - start)
            }
            Some(rest) => {
                let (kind, start, size) = scheduled_family(rest % FAMILIES);
                let first = self.clustered() + rest / FAMILIES * CYCLE + start;
                (kind, first, size.min(self.documents.saturating_sub(first)))
            }
        };
        Family { number, kind, first, size, key: child(self.seed, number) }
    }

    fn clustered(&self) -> u64 {
        self.documents / CLUSTERED
    }

    /// The clusters hold three, two and one sixth of the clustered documents.
    fn cluster_start(&self, cluster: u64) -> u64 {
        let clustered = self.clustered();
        match cluster {
            0 => 0,
            1 => clustered / 2,
            2 => clustered / 2 + clustered / 3,
            _ => clustered,
        }
    }
}

/// Returns the family, counted in its cycle, at this position of the cycle, and the member.
fn in_cycle(place: u64) -> (u64, u64) {
    if place >= SCHEDULED {
        return (SCHEDULE.len() as u64 + place - SCHEDULED, 0);
    }
    let mut start = 0;
    for (family, &(_, size)) in SCHEDULE.iter().enumerate() {
        if place < start + size {
            return (family as u64, place - start);
        }
        start += size;
    }
    (0, 0)
}

/// Returns the kind, the position of the original in the cycle, and the size.
fn scheduled_family(family: u64) -> (Kind, u64, u64) {
    match SCHEDULE.get(family as usize) {
        Some(&(kind, size)) => {
            let start = SCHEDULE[..family as usize].iter().map(|(_, size)| size).sum();
            (kind, start, size)
        }
        None => (Kind::Alone, SCHEDULED + family - SCHEDULE.len() as u64, 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_tile_the_corpus() {
        for documents in [0, 1, 2, 49, 50, 99, 100, 299, 300, 301, 500, 1234, 3000] {
            let families = Families::new(documents, 5);
            let mut next = 0;
            for number in 0..families.len() {
                let family = families.get(number);
                assert_eq!(family.first, next, "family {number} of {documents} documents");
                for member in 0..family.size {
                    assert_eq!(families.of(next), (family, member));
                    next += 1;
                }
            }
            assert_eq!(next, documents);
        }
    }

    #[test]
    fn two_percent_are_clustered() {
        let families = Families::new(300_000, 5);
        let clustered: u64 = (0..3).map(|number| families.get(number).size).sum();
        assert_eq!(clustered, 6000);
    }
}
