//! The judgments that remain of a collection: grades by track, and documents by topic.

use std::collections::BTreeMap;
use std::fmt::Write;

use lookalike::judgments::tally::Grades;
use lookalike::judgments::{Judgment, Judgments};
use lookalike::tables::topics;
use serde::Serialize;

use crate::moved::MovedJudgments;

/// A track before and after.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Track {
    /// The file of judgments.
    pub track: String,
    /// Its layout.
    pub layout: &'static str,
    /// Its judgments.
    pub judgments: u64,
    /// Those whose document has a near-duplicate in the new corpus.
    pub carried: u64,
    /// Judgments of the new corpus.
    pub written: u64,
    /// Judgments that met another one of the same topic and new document.
    pub merged: u64,
    /// Meetings in which grades differed.
    pub conflicts: u64,
    /// Judgments that are of no document.
    #[serde(skip_serializing_if = "is_zero")]
    pub of_no_document: u64,
    /// Grades before.
    pub grades_before: Grades,
    /// Grades after.
    pub grades_after: Grades,
    /// Topics.
    pub topics: u64,
    /// Topics with a relevant document before.
    pub topics_relevant_before: u64,
    /// Topics with a relevant document after.
    pub topics_relevant_after: u64,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// A topic before and after.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Topic {
    /// Judgments before and after.
    pub judged: [u64; 2],
    /// Those of them that say relevant.
    pub relevant: [u64; 2],
}

impl Topic {
    /// True when it had a relevant document and has none any more.
    pub fn lost(&self) -> bool {
        self.relevant[0] > 0 && self.relevant[1] == 0
    }
}

/// The topics of a track, by name.
pub fn topics<'j>(before: &'j Judgments, after: &'j MovedJudgments) -> BTreeMap<&'j str, Topic> {
    let mut topics: BTreeMap<&str, Topic> = BTreeMap::new();
    for (when, judgments) in [&before.lines, &after.judgments].into_iter().enumerate() {
        for judgment in judgments {
            let topic = topics.entry(judgment.topic()).or_default();
            topic.judged[when] += 1;
            topic.relevant[when] += u64::from(judgment.grade().is_relevant());
        }
    }
    topics
}

fn grades(judgments: &[Judgment]) -> Grades {
    let mut grades = Grades::default();
    judgments.iter().for_each(|judgment| *grades.0.entry(judgment.grade()).or_default() += 1);
    grades
}

/// A track in numbers.
pub fn track(before: &Judgments, after: &MovedJudgments) -> Track {
    let topics = topics(before, after);
    let with_relevant = |when: usize| topics.values().filter(|topic| topic.relevant[when] > 0).count() as u64;
    Track {
        track: before.track.clone(),
        layout: before.layout.name(),
        judgments: before.lines.len() as u64,
        carried: after.carried,
        written: after.judgments.len() as u64,
        merged: after.merged,
        conflicts: after.conflicts.len() as u64,
        of_no_document: after.of_no_document,
        grades_before: grades(&before.lines),
        grades_after: grades(&after.judgments),
        topics: topics.len() as u64,
        topics_relevant_before: with_relevant(0),
        topics_relevant_after: with_relevant(1),
    }
}

/// `topics.tsv`: every topic of every track.
pub fn table(files: &[Judgments], moved: &[MovedJudgments]) -> String {
    let mut out = topics::TABLE.names().join("\t") + "\n";
    for (before, after) in files.iter().zip(moved) {
        for (name, topic) in topics(before, after) {
            let ([judged, now], [relevant, left]) = (topic.judged, topic.relevant);
            let lost = if topic.lost() { "yes" } else { "no" };
            // Writing to a string cannot fail.
            let _ = writeln!(out, "{}\t{name}\t{judged}\t{now}\t{relevant}\t{left}\t{lost}", before.track);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use lookalike::judgments::Grade;

    use super::*;
    use crate::fixture::judgments;
    use crate::moved::{Matches, NearDuplicate, NearDuplicates, move_judgments};

    #[test]
    fn topics_that_lose_their_last_relevant_document_are_told() {
        let text = "1 0 a 2\n1 0 b 0\n2 0 c 1\n2 0 b 0\n3 0 c 0\n";
        let file = Judgments::read("web.txt", text.as_bytes(), None).unwrap();
        let near_duplicate = |new: &str| vec![NearDuplicate { document: new.to_owned(), similarity: 1.0 }];
        let near_duplicates: NearDuplicates =
            [("a".to_owned(), near_duplicate("x")), ("b".to_owned(), near_duplicate("y"))].into();
        let after = move_judgments(&file, &near_duplicates, Matches::Best).unwrap();
        let track = track(&file, &after);
        assert_eq!((track.judgments, track.carried, track.written, track.topics), (5, 3, 3, 3));
        assert_eq!((track.topics_relevant_before, track.topics_relevant_after), (2, 1));
        assert_eq!(
            table(std::slice::from_ref(&file), &[after]).lines().skip(1).collect::<Vec<_>>(),
            ["web\t1\t2\t2\t1\t1\tno", "web\t2\t2\t1\t1\t0\tyes", "web\t3\t1\t0\t0\t0\tno"]
        );
    }

    fn moved(file: &Judgments, near_duplicates: &[(&str, &str)]) -> MovedJudgments {
        let one = |(old, new): &(&str, &str)| {
            let near_duplicate = NearDuplicate { document: (*new).to_owned(), similarity: 1.0 };
            ((*old).to_owned(), vec![near_duplicate])
        };
        let near_duplicates: NearDuplicates = near_duplicates.iter().map(one).collect();
        move_judgments(file, &near_duplicates, Matches::Best).unwrap()
    }

    #[test]
    fn a_topic_is_lost_with_its_last_relevant_document() {
        let lost = |before, after| Topic { judged: [9, 9], relevant: [before, after] }.lost();
        assert_eq!([lost(0, 0), lost(1, 0), lost(2, 1), lost(0, 1)], [false, true, false, false]);
    }

    #[test]
    fn topics_are_counted_before_and_after_by_name() {
        let file = judgments("web.txt", "10 0 a 1\n2 0 a 0\n2 0 b -2\n10 0 c 3\n");
        let after = moved(&file, &[("a", "x")]);
        let found: Vec<_> = topics(&file, &after).into_iter().collect();
        let ten = Topic { judged: [2, 1], relevant: [2, 1] };
        let two = Topic { judged: [2, 1], relevant: [0, 0] };
        assert_eq!(found, [("10", ten), ("2", two)]);
    }

    #[test]
    fn grades_are_counted_as_they_stand() {
        let file = judgments("web.txt", "1 0 a -2\n1 0 b 3\n2 0 b 3\n2 0 c 0\n");
        let track = track(&file, &moved(&file, &[("b", "x")]));
        let count = |&(grade, count): &(i32, u64)| (Grade::Number(grade), count);
        let wanted = |counts: &[(i32, u64)]| Grades(counts.iter().map(count).collect());
        assert_eq!(track.grades_before, wanted(&[(-2, 1), (0, 1), (3, 2)]));
        assert_eq!(track.grades_after, wanted(&[(3, 2)]));
        assert_eq!((track.track.as_str(), track.layout), ("web", "qrels"));
    }

    #[test]
    fn judgments_that_meet_are_counted_once() {
        let file = judgments("web.txt", "1 0 a 1\n1 0 b 0\n2 0 a 1\n2 0 b 1\n");
        let track = track(&file, &moved(&file, &[("a", "x"), ("b", "x")]));
        assert_eq!((track.judgments, track.carried, track.written), (4, 4, 2));
        assert_eq!((track.merged, track.conflicts), (2, 1));
    }

    #[test]
    fn judgments_of_no_document_are_told_only_where_there_are_some() {
        let written = |text: &str| {
            let file = judgments("e.txt", text);
            serde_json::to_value(track(&file, &moved(&file, &[]))).unwrap()
        };
        assert_eq!(written("1-HP a 1 1\n1-NAME b 1 1\n")["of_no_document"], 1);
        assert_eq!(written("1 0 a 1\n").get("of_no_document"), None);
    }

    #[test]
    fn the_table_of_no_files_has_its_heads() {
        let heads = "track\ttopic\tjudged_before\tjudged_after\trelevant_before\trelevant_after\tlost\n";
        assert_eq!(table(&[], &[]), heads);
    }

    #[test]
    fn the_table_goes_file_by_file() {
        let files = [judgments("b.txt", "9 0 a 1\n"), judgments("a.txt", "ü 0 a 0\n1 0 a 1\n")];
        let moved: Vec<MovedJudgments> = files.iter().map(|file| moved(file, &[("a", "x")])).collect();
        let table = table(&files, &moved);
        let lines: Vec<&str> = table.lines().skip(1).collect();
        assert_eq!(lines, ["b\t9\t1\t1\t1\t1\tno", "a\t1\t1\t1\t1\t1\tno", "a\tü\t1\t1\t0\t0\tno"]);
    }
}
