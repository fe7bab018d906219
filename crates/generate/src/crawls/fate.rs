//! The fate of a page between two crawls, and its copies in the second.

use serde::{Deserialize, Serialize};

use crate::random::{Random, child};

/// The fate of a judged page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fate {
    /// It is there as it was.
    Same,
    /// It is there with a few other words: still a near-duplicate.
    Edited,
    /// Its address is there with another text.
    Rewritten,
    /// It is not there.
    Gone,
    /// It is at another address, as it was or with a few other words.
    Moved,
    /// It is not there, but was a near-duplicate of another old page, whose copies are listed.
    Twin,
}

/// The relation of a page of the new crawl to an old one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CopyKind {
    /// The page itself.
    Page,
    /// A copy at another address, as it was or with a few other words.
    Mirror,
    /// A page that looks like it, and is none: near, but below the threshold.
    Distractor,
}

/// A copy, before it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PlannedCopy {
    pub(super) kind: CopyKind,
    pub(super) change: Change,
    /// It stands at another address than the old page.
    pub(super) moves: bool,
}

/// The degree to which a text is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    None,
    /// From 0.9 of the words on are common.
    Light,
    /// From 0.75 up to 0.9.
    Near,
    /// From 0.2 up to 0.75.
    Heavy,
}

/// The planned fate of a story, and its copies in the new crawl.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Plan {
    pub(super) fate: Fate,
    pub(super) copies: Vec<PlannedCopy>,
}

const FATE: u64 = u64::MAX - 17;

/// The plan of the story with this key.
pub(super) fn plan(key: u64) -> Plan {
    let mut random = Random::new(child(key, FATE));
    let fate = match random.below(100) {
        0..30 => Fate::Same,
        30..52 => Fate::Edited,
        52..67 => Fate::Rewritten,
        67..87 => Fate::Gone,
        _ => Fate::Moved,
    };
    let light_or_none = |random: &mut Random| if random.one_in(2) { Change::Light } else { Change::None };
    let mut copies = Vec::new();
    let own = |change, moves| PlannedCopy { kind: CopyKind::Page, change, moves };
    match fate {
        Fate::Same => copies.push(own(Change::None, false)),
        Fate::Edited => copies.push(own(Change::Light, false)),
        Fate::Rewritten => copies.push(own(Change::Heavy, false)),
        Fate::Moved => copies.push(own(light_or_none(&mut random), true)),
        Fate::Gone | Fate::Twin => {}
    }
    let mirrors = match random.below(1000) {
        _ if fate == Fate::Gone || fate == Fate::Rewritten => 0,
        0..2 => 40,
        2..80 => random.between(1, 4),
        _ => 0,
    };
    for _ in 0..mirrors {
        copies.push(PlannedCopy { kind: CopyKind::Mirror, change: light_or_none(&mut random), moves: true });
    }
    if random.percent(10) {
        copies.push(PlannedCopy { kind: CopyKind::Distractor, change: Change::Near, moves: true });
    }
    Plan { fate, copies }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fates_come_as_often_as_they_should() {
        let plans: Vec<Plan> = (0..10_000).map(|number| plan(child(3, number))).collect();
        let share = |fate| plans.iter().filter(|plan| plan.fate == fate).count() as f64 / 10_000.0;
        for (fate, expected) in [
            (Fate::Same, 0.30),
            (Fate::Edited, 0.22),
            (Fate::Rewritten, 0.15),
            (Fate::Gone, 0.20),
            (Fate::Moved, 0.13),
            (Fate::Twin, 0.0),
        ] {
            assert!((share(fate) - expected).abs() < 0.02, "{fate:?}: {}", share(fate));
        }
        let with =
            |kind| plans.iter().filter(|plan| plan.copies.iter().any(|copy| copy.kind == kind)).count();
        assert!((800..1200).contains(&with(CopyKind::Distractor)));
        assert!((350..750).contains(&with(CopyKind::Mirror)));
    }

    #[test]
    fn what_is_gone_has_no_near_duplicate() {
        for number in 0..2000 {
            let plan = plan(child(4, number));
            let near = |copy: &PlannedCopy| matches!(copy.change, Change::None | Change::Light);
            let gone = matches!(plan.fate, Fate::Gone | Fate::Rewritten);
            assert_eq!(gone, !plan.copies.iter().any(near));
        }
    }
}
