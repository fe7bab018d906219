//! The steps of the person who judges. The server only passes steps in and pages back.

use std::collections::BTreeMap;

use lookalike::report::{Comparison, Kind, Review, ReviewProgress, View, review_page};

use super::ReviewError;
use super::labels::{Judgment, Labels, Verdict};
use super::pairs::Pair;
use super::summary::{Summary, Tally, summarise};

/// A sample being judged.
#[derive(Debug)]
pub struct Session {
    title: String,
    pairs: Vec<Pair>,
    labels: Labels,
    /// Kinds chosen for pairs that are not judged yet.
    chosen: BTreeMap<usize, Kind>,
    /// The place of each judged pair and its judgment before that step, the last step last.
    history: Vec<(usize, Option<Judgment>)>,
    /// Shows all equal words, not only those around a change.
    show_all: bool,
    /// Goes on to the next open pair after a judgment.
    auto_advance: bool,
}

/// A step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Judges the pair.
    Judge(Verdict),
    /// Chooses the kind of difference.
    Kind(Kind),
    /// Takes the last judgment back.
    Undo,
    /// Goes to a pair, by its place from 1 on.
    Go(usize),
    /// Shows all equal words, or those around a change.
    ShowAll(bool),
    /// Goes on to the next open pair after a judgment, or stays.
    AutoAdvance(bool),
}

impl Step {
    /// The step of a button's name and value.
    pub fn of(name: &str, value: &str) -> Option<Self> {
        let switch = match value {
            "yes" => Some(true),
            "no" => Some(false),
            _ => None,
        };
        match name {
            "label" => Verdict::of(value).map(Step::Judge),
            "kind" => Kind::ALL.into_iter().find(|kind| kind.name() == value).map(Step::Kind),
            "undo" => Some(Step::Undo),
            "go" => value.parse().ok().map(Step::Go),
            "whole" => switch.map(Step::ShowAll),
            "onward" => switch.map(Step::AutoAdvance),
            _ => None,
        }
    }
}

impl Session {
    /// A session over pairs, of which there is at least one.
    pub fn new(title: impl Into<String>, pairs: Vec<Pair>, labels: Labels) -> Self {
        let (chosen, history) = (BTreeMap::new(), Vec::new());
        Session { title: title.into(), pairs, labels, chosen, history, show_all: false, auto_advance: false }
    }

    /// Returns the place, from 1, of the first pair that is not judged, or of the last pair.
    pub fn begin(&self) -> usize {
        self.open_after(self.pairs.len()).unwrap_or(self.pairs.len())
    }

    /// The place of the first open pair behind this one; from the beginning when there is none behind.
    fn open_after(&self, at: usize) -> Option<usize> {
        let count = self.pairs.len();
        let mut places = (at..at + count).map(|place| place % count + 1);
        places.find(|place| self.labels.of(self.pairs[place - 1].n).is_none())
    }

    /// True for a place that has a pair.
    pub fn has(&self, at: usize) -> bool {
        (1..=self.pairs.len()).contains(&at)
    }

    /// Takes a step at a place that has a pair, and returns where it leads. What it judges is in the file by then.
    pub fn step(&mut self, at: usize, step: Step) -> Result<usize, ReviewError> {
        match step {
            Step::Judge(verdict) => {
                self.judge(at, Judgment { verdict, kind: self.kind(at) })?;
                return Ok(if self.auto_advance { self.open_after(at).unwrap_or(at) } else { at });
            }
            Step::Kind(kind) => match self.labels.of(self.pairs[at - 1].n) {
                Some(judgment) => self.judge(at, Judgment { kind: Some(kind), ..judgment })?,
                None => drop(self.chosen.insert(at, kind)),
            },
            Step::Undo => return self.undo(at),
            Step::Go(to) => return Ok(if self.has(to) { to } else { at }),
            Step::ShowAll(show_all) => self.show_all = show_all,
            Step::AutoAdvance(auto_advance) => self.auto_advance = auto_advance,
        }
        Ok(at)
    }

    fn judge(&mut self, at: usize, judgment: Judgment) -> Result<(), ReviewError> {
        let pair = &self.pairs[at - 1];
        let before = self.labels.of(pair.n);
        // A key that was pressed twice is one step.
        if before != Some(judgment) {
            self.labels.put(pair, Some(judgment))?;
            self.history.push((at, before));
        }
        Ok(())
    }

    fn undo(&mut self, at: usize) -> Result<usize, ReviewError> {
        let Some((place, judgment)) = self.history.last().copied() else { return Ok(at) };
        self.labels.put(&self.pairs[place - 1], judgment)?;
        self.history.pop();
        Ok(place)
    }

    /// The kind of a pair, as judged or as chosen. What was only computed is nobody's judgment.
    fn kind(&self, at: usize) -> Option<Kind> {
        let judged = self.labels.of(self.pairs[at - 1].n).and_then(|judgment| judgment.kind);
        judged.or_else(|| self.chosen.get(&at).copied())
    }

    fn comparison(&self, at: usize) -> Comparison {
        self.pairs[at - 1].compare(&if self.show_all { View::whole() } else { View::default() })
    }

    /// The page of the pair at a place that has one.
    pub fn page(&self, at: usize, nonce: &str) -> String {
        let pair = &self.pairs[at - 1];
        let comparison = self.comparison(at);
        let judgment = self.labels.of(pair.n);
        let tally = Tally::of(self.verdicts());
        review_page(&Review {
            title: &self.title,
            by: self.labels.by(),
            at: at as u64,
            a: &pair.a,
            b: &pair.b,
            similarity: pair.similarity,
            methods: &pair.methods,
            comparison: &comparison,
            label: judgment.map(|judgment| judgment.verdict.name()),
            kind: self.kind(at),
            show_all: self.show_all,
            auto_advance: self.auto_advance,
            can_undo: !self.history.is_empty(),
            next_unjudged: self.open_after(at).filter(|open| *open != at).map(|open| open as u64),
            progress: ReviewProgress {
                pairs: self.pairs.len() as u64,
                duplicate: tally.duplicate,
                not: tally.not,
                unsure: tally.unsure,
                interval: tally.interval,
            },
            nonce,
        })
    }

    fn verdicts(&self) -> impl Iterator<Item = Verdict> {
        self.pairs.iter().filter_map(|pair| self.labels.of(pair.n)).map(|judgment| judgment.verdict)
    }

    /// Returns the summary of the judgments so far.
    pub fn summary(&self) -> Summary {
        summarise(&self.pairs, &self.labels)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn session(count: u64) -> (tempfile::TempDir, Session) {
        let folder = tempfile::tempdir().unwrap();
        let session = reopen(folder.path(), count);
        (folder, session)
    }

    fn reopen(folder: &Path, count: u64) -> Session {
        let pair = |n: u64| Pair {
            n: n + 10,
            a: format!("a{n}"),
            b: "<b>".to_owned(),
            similarity: Some(0.9),
            methods: vec![["a4", "minhash"][n as usize % 2].to_owned()],
            text_a: "Open on 3 May".to_owned(),
            text_b: "Open on 4 May".to_owned(),
        };
        let pairs: Vec<Pair> = (0..count).map(pair).collect();
        let labels = Labels::open(&folder.join("labels.jsonl"), (Path::new("r"), &pairs), None).unwrap();
        Session::new("review", pairs, labels)
    }

    #[test]
    fn judging_stays_or_goes_on() {
        let (folder, mut session) = session(3);
        assert_eq!(session.begin(), 1);
        assert_eq!(session.step(1, Step::Judge(Verdict::Duplicate)).unwrap(), 1);
        assert_eq!(session.begin(), 2);
        assert_eq!(session.step(1, Step::AutoAdvance(true)).unwrap(), 1);
        assert_eq!(session.step(3, Step::Judge(Verdict::Not)).unwrap(), 2, "the open one before");
        assert_eq!(session.step(2, Step::Judge(Verdict::Not)).unwrap(), 2, "none is open");
        assert_eq!(session.begin(), 3);
        assert_eq!(reopen(folder.path(), 3).begin(), 3);
    }

    #[test]
    fn a_kind_is_kept_when_it_was_chosen_and_not_when_it_was_computed() {
        let (_folder, mut session) = session(3);
        session.step(1, Step::Judge(Verdict::Duplicate)).unwrap();
        session.step(2, Step::Kind(Kind::Template)).unwrap();
        assert_eq!(session.summary().labelers[0].all.judged(), 1, "a kind is no judgment");
        session.step(2, Step::Judge(Verdict::Not)).unwrap();
        let kinds = |session: &Session| {
            let kinds = session.summary().labelers[0].kinds.clone();
            kinds.into_iter().map(|part| part.name).collect::<Vec<_>>()
        };
        assert_eq!(kinds(&session), ["template"]);
        session.step(1, Step::Kind(Kind::Other)).unwrap();
        assert_eq!(kinds(&session), ["template", "other"], "judged before: the kind alone changes");
    }

    #[test]
    fn steps_are_undone_one_by_one() {
        let (folder, mut session) = session(3);
        session.step(1, Step::Judge(Verdict::Duplicate)).unwrap();
        session.step(1, Step::Judge(Verdict::Duplicate)).unwrap();
        session.step(2, Step::Judge(Verdict::Not)).unwrap();
        session.step(2, Step::Judge(Verdict::Unsure)).unwrap();
        let tally = |session: &Session| {
            let all = session.summary().labelers[0].all;
            (all.duplicate, all.not, all.unsure)
        };
        assert_eq!(tally(&session), (1, 0, 1));
        assert_eq!(session.step(3, Step::Undo).unwrap(), 2);
        assert_eq!(tally(&session), (1, 1, 0));
        session.step(3, Step::Undo).unwrap();
        assert_eq!(session.step(3, Step::Undo).unwrap(), 1);
        assert_eq!(tally(&session), (0, 0, 0));
        assert_eq!(session.step(3, Step::Undo).unwrap(), 3, "nothing is left");
        assert_eq!(tally(&reopen(folder.path(), 3)), (0, 0, 0));
    }

    #[test]
    fn shares_are_of_what_is_sure() {
        let (_folder, mut session) = session(4);
        for (at, verdict) in [(1, Verdict::Duplicate), (2, Verdict::Not), (3, Verdict::Unsure)] {
            session.step(at, Step::Judge(verdict)).unwrap();
        }
        let summary = session.summary();
        let labeler = &summary.labelers[0];
        assert_eq!((labeler.all.share, labeler.all.interval), (Some(0.5), crate::interval::wilson(1, 2)));
        let a4 = &labeler.methods[0];
        assert_eq!((a4.name.as_str(), a4.tally.share, a4.tally.unsure), ("a4", Some(1.0), 1));
        let json = serde_json::to_value(&summary).unwrap();
        assert_eq!(
            (&json["labelers"][0]["methods"][1]["not"], &json["agreement"]),
            (&1.into(), &serde_json::Value::Null)
        );
    }

    #[test]
    fn the_page_shows_the_pair_and_how_far_one_is() {
        let (_folder, mut session) = session(2);
        session.step(1, Step::Judge(Verdict::Duplicate)).unwrap();
        let page = session.page(1, "word");
        for words in [
            "Pair 1 of 2",
            "1 of 2 judged: 1 duplicate, 0 not, 0 unsure",
            "<strong>100.0 %</strong> (95 %: 0.21–1)",
            "<bdi class=\"id\">&lt;b&gt;</bdi>",
            "<del>3</del> <ins>4</ins>",
            "value=\"duplicate\" data-keys=\"d\" aria-pressed=\"true\"",
            "looks like numbers",
            "<script nonce=\"word\">",
        ] {
            assert!(page.contains(words), "{words} is not in {page}");
        }
        assert!(session.page(2, "").contains("value=\"duplicate\" data-keys=\"d\" aria-pressed=\"false\""));
    }

    #[test]
    fn buttons_are_steps() {
        assert_eq!(Step::of("label", "unsure"), Some(Step::Judge(Verdict::Unsure)));
        assert_eq!(Step::of("kind", "url"), Some(Step::Kind(Kind::Url)));
        assert_eq!(
            (Step::of("go", "7"), Step::of("go", "-7"), Step::of("go", "")),
            (Some(Step::Go(7)), None, None)
        );
        assert_eq!(
            (Step::of("whole", "yes"), Step::of("onward", "no")),
            (Some(Step::ShowAll(true)), Some(Step::AutoAdvance(false)))
        );
        assert_eq!((Step::of("label", ""), Step::of("", "d"), Step::of("whole", "x")), (None, None, None));
    }
}
