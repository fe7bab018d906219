//! Detection of an engine that contradicts itself: counts of answers that cannot be true together, so that a lying engine is
//! flagged and its lies do not become part of an estimate unseen.
//!
//! Lies that agree with each other are not detected. An engine that leaves pages out of every answer, counts included, is simply a
//! smaller engine.

use std::collections::HashSet;

use serde::Serialize;

use crate::engine::{Query, Results};
use crate::question::Answer;

/// The number of faults of one kind, and the number of cases looked at.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// Cases with the fault.
    #[serde(rename = "amiss")]
    pub faults: u64,
    /// Cases looked at.
    #[serde(rename = "of")]
    pub cases: u64,
    /// The first case with the fault.
    pub first: Option<String>,
}

impl Tally {
    fn count(&mut self, is_fault: bool, case: impl FnOnce() -> String) {
        self.cases += 1;
        self.faults += u64::from(is_fault);
        if is_fault && self.first.is_none() {
            self.first = Some(case());
        }
    }

    fn sentence(&self, what: &str) -> Option<String> {
        let first = self.first.as_ref().filter(|_| self.faults > 0)?;
        Some(format!("{} of {} {what} (first: {first})", self.faults, self.cases))
    }
}

/// The faults seen in the answers of an engine.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ConsistencyReport {
    /// Answers with more addresses than were asked for.
    pub too_many: Tally,
    /// Answers with one address twice.
    pub twice: Tally,
    /// Answers that claim fewer matches than they show.
    pub claims_too_few: Tally,
    /// Answers that claim more matches than they show, and that nothing is left out.
    pub claims_too_many: Tally,
    /// Answers that leave matches out although more were asked for.
    pub holds_back: Tally,
    /// Questions asked again that had another answer.
    pub unsteady: Tally,
    /// Questions that were not answered at all.
    pub unanswered: Tally,
}

impl ConsistencyReport {
    /// Looks at an answer; `limit` is the most that the engine could have shown.
    pub fn check_results(&mut self, query: &Query, limit: usize, results: &Results) {
        let shown = results.urls.len();
        let case = || query.to_string();
        self.too_many.count(shown > limit, case);
        let distinct: HashSet<&str> = results.urls.iter().map(String::as_str).collect();
        self.twice.count(distinct.len() < shown, case);
        self.holds_back.count(results.more && shown < limit, case);
        if let Some(claimed) = results.claimed {
            self.claims_too_few.count(claimed < shown as u64, case);
            self.claims_too_many.count(!results.more && claimed > shown as u64, case);
        }
    }

    /// Compares two answers to one question.
    pub(crate) fn check_repeat(&mut self, question: &dyn std::fmt::Display, first: &Answer, second: &Answer) {
        // Silence says nothing about the answer.
        if first.failure().is_none() && second.failure().is_none() {
            self.unsteady.count(first != second, || question.to_string());
        }
    }

    /// Notes whether a question was answered in the end.
    pub(crate) fn count_answer(&mut self, question: &dyn std::fmt::Display, answer: &Answer) {
        self.unanswered.count(answer.failure().is_some(), || question.to_string());
    }

    fn contradicting(&self) -> [(&Tally, &'static str); 6] {
        [
            (&self.too_many, "answers had more addresses than asked for"),
            (&self.twice, "answers had an address twice"),
            (&self.claims_too_few, "answers claimed fewer matches than they showed"),
            (&self.claims_too_many, "answers claimed more matches than they showed, and to show all"),
            (&self.holds_back, "answers left matches out although more were asked for"),
            (&self.unsteady, "questions asked again had another answer"),
        ]
    }

    /// Number of contradictions seen. Questions without an answer are none.
    pub fn contradictions(&self) -> u64 {
        self.contradicting().iter().map(|(tally, _)| tally.faults).sum()
    }

    /// Returns a sentence for each kind of fault seen.
    pub fn sentences(&self) -> Vec<String> {
        let silent = (&self.unanswered, "questions were not answered");
        self.contradicting()
            .into_iter()
            .chain([silent])
            .filter_map(|(tally, what)| tally.sentence(what))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn results(urls: &[&str], more: bool, claimed: Option<u64>) -> Results {
        Results { urls: urls.iter().map(|&url| url.to_owned()).collect(), more, claimed }
    }

    fn seen(results: &Results) -> Vec<String> {
        let mut report = ConsistencyReport::default();
        report.check_results(&Query::all(["a", "b"]), 2, results);
        assert_eq!(report.contradictions() as usize, report.sentences().len());
        report.sentences()
    }

    #[test]
    fn an_honest_engine_is_believed() {
        for honest in [
            results(&[], false, Some(0)),
            results(&["x"], false, Some(1)),
            results(&["x", "y"], true, Some(9)),
            results(&["x", "y"], true, None),
        ] {
            assert_eq!(seen(&honest), Vec::<String>::new());
        }
    }

    #[test]
    fn each_lie_has_its_sentence() {
        let lies = [
            (results(&["x", "y", "z"], false, None), "had more addresses than asked for"),
            (results(&["x", "x"], false, None), "had an address twice"),
            (results(&["x", "y"], false, Some(1)), "claimed fewer matches than they showed"),
            (results(&["x", "y"], false, Some(3)), "and to show all"),
            (results(&["x"], true, Some(3)), "left matches out"),
        ];
        for (lie, what) in lies {
            let sentences = seen(&lie);
            assert_eq!(sentences.len(), 1, "{sentences:?}");
            assert!(
                sentences[0].starts_with("1 of 1 answers ") && sentences[0].contains(what),
                "{sentences:?}"
            );
            assert!(sentences[0].ends_with("(first: a AND b)"));
        }
    }

    #[test]
    fn silence_is_told_and_is_no_contradiction() {
        let mut report = ConsistencyReport::default();
        let (silent, page) = (Answer::Failed("time-out".to_owned()), Answer::Page(None));
        report.count_answer(&"q", &silent);
        report.count_answer(&"p", &page);
        report.check_repeat(&"q", &silent, &page);
        assert_eq!((report.contradictions(), &report.unsteady), (0, &Tally::default()));
        assert_eq!(report.sentences(), ["1 of 2 questions were not answered (first: q)"]);
        report.check_repeat(&"p", &page, &Answer::Has(true));
        assert_eq!(report.contradictions(), 1);
        assert_eq!(report.sentences()[0], "1 of 1 questions asked again had another answer (first: p)");
    }
}
