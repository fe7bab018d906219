//! Counts of judgments, and the share of duplicates with its 95 % interval.

use std::collections::BTreeMap;

use lookalike::report::Kind;
use lookalike::report::study::{Grid, Study, Value};
use serde::Serialize;

use super::labels::{Judgment, Labels, Verdict};
use super::pairs::Pair;
use crate::interval::wilson;

/// Judgments, counted. What is unsure counts apart.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Tally {
    /// Pairs judged to be duplicates.
    pub duplicate: u64,
    /// Pairs judged not to be.
    pub not: u64,
    /// Pairs judged as unsure.
    pub unsure: u64,
    /// The share of duplicates among the first two; none without any.
    pub share: Option<f64>,
    /// Its 95 % interval.
    pub interval: Option<(f64, f64)>,
}

impl Tally {
    /// Counts judgments.
    pub fn of(verdicts: impl IntoIterator<Item = Verdict>) -> Self {
        let mut tally = Tally::default();
        for verdict in verdicts {
            match verdict {
                Verdict::Duplicate => tally.duplicate += 1,
                Verdict::Not => tally.not += 1,
                Verdict::Unsure => tally.unsure += 1,
            }
        }
        let sure = tally.duplicate + tally.not;
        tally.share = (sure > 0).then(|| tally.duplicate as f64 / sure as f64);
        tally.interval = wilson(tally.duplicate, sure);
        tally
    }

    /// All that were judged.
    pub fn judged(&self) -> u64 {
        self.duplicate + self.not + self.unsure
    }
}

/// The tally of a method or of a kind of difference.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NamedTally {
    /// The name of the method or of the kind of difference.
    pub name: String,
    /// The judgments of its pairs.
    #[serde(flatten)]
    pub tally: Tally,
}

/// The judgments of one person, counted.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Labeler {
    /// The person's name; none for judgments without a name.
    pub by: Option<String>,
    /// All of them.
    #[serde(flatten)]
    pub all: Tally,
    /// By method, for pairs that say which found them.
    pub methods: Vec<NamedTally>,
    /// By kind of difference.
    pub kinds: Vec<NamedTally>,
}

/// The agreement of people who judged the same pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Agreement {
    /// Pairs that several have judged.
    pub pairs: u64,
    /// Those of them that all judged alike.
    pub alike: u64,
}

/// The judgments of all people, counted.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// Pairs of the sample.
    pub pairs: u64,
    /// Everybody who judged.
    pub labelers: Vec<Labeler>,
    /// The agreement of several people; none when only one judged.
    pub agreement: Option<Agreement>,
}

/// Counts the judgments: of one person where one is named, else of everybody.
pub fn summarise(pairs: &[Pair], labels: &Labels) -> Summary {
    let mut who = labels.labelers();
    if labels.by().is_some() || who.is_empty() {
        who = vec![labels.by()];
    }
    Summary {
        pairs: pairs.len() as u64,
        labelers: who.iter().map(|by| labeler(pairs, labels, *by)).collect(),
        agreement: (who.len() > 1).then(|| agreement(pairs, labels, &who)),
    }
}

fn labeler(pairs: &[Pair], labels: &Labels, by: Option<&str>) -> Labeler {
    let judged: Vec<(&Pair, Judgment)> =
        pairs.iter().filter_map(|pair| Some((pair, labels.judgment_by(by, pair.n)?))).collect();
    let verdicts = judged.iter().map(|(_, judgment)| judgment.verdict);
    let mut methods: BTreeMap<&str, Vec<Verdict>> = BTreeMap::new();
    for (pair, judgment) in &judged {
        for method in &pair.methods {
            methods.entry(method).or_default().push(judgment.verdict);
        }
    }
    let method = |(name, verdicts): (&str, Vec<Verdict>)| NamedTally {
        name: name.to_owned(),
        tally: Tally::of(verdicts),
    };
    let kind = |kind: Kind| {
        let of_kind = judged.iter().filter(|(_, judgment)| judgment.kind == Some(kind));
        NamedTally {
            name: kind.name().to_owned(),
            tally: Tally::of(of_kind.map(|(_, judgment)| judgment.verdict)),
        }
    };
    Labeler {
        by: by.map(str::to_owned),
        all: Tally::of(verdicts),
        methods: methods.into_iter().map(method).collect(),
        kinds: Kind::ALL.into_iter().map(kind).filter(|part| part.tally.judged() > 0).collect(),
    }
}

fn agreement(pairs: &[Pair], labels: &Labels, who: &[Option<&str>]) -> Agreement {
    let mut agreement = Agreement { pairs: 0, alike: 0 };
    for pair in pairs {
        let verdicts: Vec<Verdict> = who
            .iter()
            .filter_map(|by| labels.judgment_by(*by, pair.n))
            .map(|judgment| judgment.verdict)
            .collect();
        if verdicts.len() > 1 {
            agreement.pairs += 1;
            agreement.alike += u64::from(verdicts.iter().all(|verdict| *verdict == verdicts[0]));
        }
    }
    agreement
}

impl Summary {
    /// The summary as a study, for a page or a terminal.
    pub fn study(&self, title: &str) -> Study {
        let mut study = Study { title: title.to_owned(), ..Study::default() };
        for labeler in &self.labelers {
            if let Some(by) = &labeler.by {
                study.heading(format!("Judged by {by}"));
            }
            study.text(self.sentence(&labeler.all));
            for (name, first, parts) in
                [("By method", "Method", &labeler.methods), ("By kind of difference", "Kind", &labeler.kinds)]
            {
                if !parts.is_empty() {
                    study.table(grid(name, first, parts));
                }
            }
        }
        if let Some(Agreement { pairs, alike }) = self.agreement {
            study.heading("Agreement");
            study.text(format!("Of {pairs} pairs that several judged, {alike} were judged alike."));
        }
        study
    }

    fn sentence(&self, tally: &Tally) -> String {
        let Tally { duplicate, not, unsure, share, interval } = tally;
        let mut words = format!(
            "Of {} pairs {} are judged: {duplicate} duplicates, {not} not, {unsure} unsure.",
            self.pairs,
            tally.judged()
        );
        if let (Some(share), Some((low, high))) = (share, interval) {
            words += &format!(
                " Duplicates among the {} that are sure: {:.1}\u{a0}% (95\u{a0}%: {:.1} to {:.1}\u{a0}%).",
                duplicate + not,
                100.0 * share,
                100.0 * low,
                100.0 * high
            );
        }
        words
    }
}

fn grid(name: &str, first: &str, parts: &[NamedTally]) -> Grid {
    let mut grid = Grid::new(name, [first, "Duplicate", "Not", "Unsure", "Share", "95 %"]);
    for NamedTally { name, tally } in parts {
        grid.row([
            name.as_str().into(),
            tally.duplicate.into(),
            tally.not.into(),
            tally.unsure.into(),
            Value::from(tally.share),
            Value::from(tally.interval),
        ]);
    }
    grid
}
