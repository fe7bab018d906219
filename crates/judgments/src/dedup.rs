//! Judgments and runs with one document of each group of near-duplicates for a topic.
//!
//! A person who has seen a document learns nothing from its near-duplicates, and whoever learns or evaluates by
//! judgments counts them several times over. So of every group one document stays for each topic: of a run the one that
//! ranks first, of judgments the one that the file names first, or that whose name sorts first. The others
//! are removed; of judgments they may also stay as not relevant.
//!
//! ```
//! use lookalike_judgments::{Groups, Run, dedup};
//!
//! let run = Run::read("ours", "7 Q0 a 1 9 t\n7 Q0 b 2 8 t\n7 Q0 c 3 7 t\n".as_bytes())?;
//! let result = dedup::run(&run, &Groups::of([["a", "b"]]));
//! assert_eq!(result.text(), "7 Q0 a 1 9 t\n7 Q0 c 2 7 t\n");
//! # Ok::<(), lookalike_judgments::ListError>(())
//! ```

use serde::Serialize;

use crate::groups::Groups;
use crate::judgments::{Judgment, Judgments, distinct};
use crate::run::Run;

/// The rule by which a document of a group is chosen to stay for a topic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum KeepRule {
    /// The one that the file names first.
    #[default]
    First,
    /// The one whose name sorts first, whatever the order of the file.
    LowestName,
}

/// The treatment of the judgments of the other documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DuplicateTreatment {
    /// They are left out.
    #[default]
    Remove,
    /// They stay as [not relevant](crate::Grade::not_relevant).
    Mark,
}

/// A line that went, or that was marked, and for what.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Dropped {
    /// The line, from 1.
    pub line: u64,
    /// The topic.
    pub topic: String,
    /// The subtopic, where there are some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subtopic: Option<String>,
    /// The document that went.
    pub document: String,
    /// The near-duplicate of it that stays for the topic.
    pub kept: String,
    /// The label that went.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grade: Option<String>,
    /// The label of the document that stays, for the same topic and subtopic.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept_grade: Option<String>,
}

impl Dropped {
    /// True when assessors said different things of the two documents.
    pub fn conflicts(&self) -> bool {
        self.kept_grade.is_some() && self.grade != self.kept_grade
    }
}

/// The lines of a file that stay, and those that were removed or marked.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Deduplicated {
    /// The lines that stay, in the order of the file.
    pub lines: Vec<String>,
    /// The lines that were removed or marked, in the order of the file.
    pub dropped: Vec<Dropped>,
    /// Lines of the file.
    pub lines_before: u64,
    /// Topics of the file.
    pub topics: u64,
    /// Topics for which something went.
    pub topics_touched: u64,
    /// Groups of which something went for any topic, ascending.
    pub groups_touched: Vec<u32>,
}

impl Deduplicated {
    /// The lines as the text of a file.
    pub fn text(&self) -> String {
        let mut text = self.lines.join("\n");
        if !text.is_empty() {
            text.push('\n');
        }
        text
    }

    /// Counts the removed or marked lines whose grade differs from that of the document that stays.
    pub fn conflicts(&self) -> u64 {
        self.dropped.iter().filter(|dropped| dropped.conflicts()).count() as u64
    }

    /// Counts topics and groups that something went from.
    fn count(mut self, before: usize, topics: usize, groups: &Groups) -> Self {
        let touched = distinct(self.dropped.iter().map(|dropped| dropped.topic.as_str()).collect());
        (self.lines_before, self.topics, self.topics_touched) =
            (before as u64, topics as u64, touched.len() as u64);
        self.groups_touched = self.dropped.iter().filter_map(|gone| groups.group(&gone.document)).collect();
        self.groups_touched.sort_unstable();
        self.groups_touched.dedup();
        self
    }
}

/// Judgments with one document of each group for a topic. All lines of that document stay, whatever their subtopic.
pub fn judgments(
    judgments: &Judgments,
    groups: &Groups,
    keep_rule: KeepRule,
    treatment: DuplicateTreatment,
) -> Deduplicated {
    let grouped = GroupedJudgments::of(&judgments.lines, groups, keep_rule);
    let mut result = Deduplicated::default();
    for line in &judgments.lines {
        let Some(kept) = grouped.kept_instead_of(line) else {
            result.lines.push(line.text().to_owned());
            continue;
        };
        if treatment == DuplicateTreatment::Mark {
            let worse = line.grade().not_relevant();
            // A label that says the same as before stays as it is written.
            let marked = if worse == line.grade() { line.clone() } else { line.with_grade(worse) };
            result.lines.push(marked.text().to_owned());
        }
        result.dropped.push(Dropped {
            line: line.number(),
            topic: line.topic().to_owned(),
            subtopic: line.subtopic().filter(|subtopic| *subtopic != "0").map(str::to_owned),
            document: line.document().to_owned(),
            kept: kept.to_owned(),
            grade: Some(line.label().to_owned()),
            kept_grade: grouped.label(line, kept).map(str::to_owned),
        });
    }
    result.count(judgments.lines.len(), judgments.topics().len(), groups)
}

/// The judgments of documents that are in groups.
struct GroupedJudgments<'j> {
    groups: &'j Groups,
    /// For each topic and group the document that stays, ascending.
    kept: Vec<(&'j str, u32, &'j str)>,
    /// Topic, subtopic and document of every judgment, with its label; ascending, the first of equal ones first.
    labels: Vec<([&'j str; 3], usize, &'j str)>,
}

impl<'j> GroupedJudgments<'j> {
    fn of(lines: &'j [Judgment], groups: &'j Groups, keep_rule: KeepRule) -> Self {
        let group = |line: &Judgment| groups.group(line.document()).filter(|_| line.is_of_document());
        let members: Vec<(usize, u32, &Judgment)> =
            lines.iter().enumerate().filter_map(|(place, line)| Some((place, group(line)?, line))).collect();
        let mut kept: Vec<(&str, u32, &str, usize)> = members
            .iter()
            .map(|&(place, group, line)| (line.topic(), group, line.document(), place))
            .collect();
        match keep_rule {
            KeepRule::First => kept.sort_unstable_by_key(|&(topic, group, _, place)| (topic, group, place)),
            KeepRule::LowestName => kept.sort_unstable(),
        }
        kept.dedup_by_key(|&mut (topic, group, ..)| (topic, group));
        let kept = kept.into_iter().map(|(topic, group, document, _)| (topic, group, document)).collect();
        let mut labels: Vec<([&str; 3], usize, &str)> = members
            .iter()
            .map(|&(place, _, line)| (judgment_key(line, line.document()), place, line.label()))
            .collect();
        labels.sort_unstable();
        GroupedJudgments { groups, kept, labels }
    }

    /// The document that stays for a judgment's topic, if it is another one.
    fn kept_instead_of(&self, line: &Judgment) -> Option<&'j str> {
        let group = self.groups.group(line.document()).filter(|_| line.is_of_document())?;
        let place =
            self.kept.binary_search_by_key(&(line.topic(), group), |&(topic, group, _)| (topic, group));
        let (_, _, kept) = self.kept[place.ok()?];
        Some(kept).filter(|kept| *kept != line.document())
    }

    /// Returns the first label of `document` for the topic and subtopic of a judgment.
    fn label(&self, line: &Judgment, document: &str) -> Option<&'j str> {
        let wanted = judgment_key(line, document);
        let place = self.labels.partition_point(|(key, ..)| *key < wanted);
        self.labels.get(place).filter(|(key, ..)| *key == wanted).map(|(.., label)| *label)
    }
}

/// Returns the topic and subtopic of a judgment together with `document`.
fn judgment_key<'j>(line: &'j Judgment, document: &'j str) -> [&'j str; 3] {
    [line.topic(), line.subtopic().unwrap_or_default(), document]
}

/// A run with one document of each group for a topic: the one that ranks first. A document that a topic has twice stays
/// once. Ranks are numbered anew from the first one of the topic; scores stay.
pub fn run(run: &Run, groups: &Groups) -> Deduplicated {
    // For every line the place of the one that stays in its stead, or its new rank.
    let mut fates: Vec<Result<u64, usize>> = vec![Ok(0); run.lines.len()];
    let rankings = run.rankings();
    for ranking in &rankings {
        let mut rank = run.lines[ranking[0]].rank();
        for (place, kept) in kept_in(ranking, run, groups) {
            fates[place] = match kept {
                Some(kept) => Err(kept),
                None => Ok(rank),
            };
            rank += u64::from(kept.is_none());
        }
    }
    let mut result = Deduplicated::default();
    for (line, fate) in run.lines.iter().zip(fates) {
        match fate {
            Ok(rank) if rank == line.rank() => result.lines.push(line.text().to_owned()),
            Ok(rank) => result.lines.push(line.with_rank(rank).text().to_owned()),
            Err(kept) => result.dropped.push(Dropped {
                line: line.number(),
                topic: line.topic().to_owned(),
                subtopic: None,
                document: line.document().to_owned(),
                kept: run.lines[kept].document().to_owned(),
                grade: None,
                kept_grade: None,
            }),
        }
    }
    result.count(run.lines.len(), rankings.len(), groups)
}

/// The lines of one topic by rank, each with the line that stays in its stead, if there is one.
fn kept_in<'r>(
    ranking: &'r [usize],
    run: &'r Run,
    groups: &'r Groups,
) -> impl Iterator<Item = (usize, Option<usize>)> + use<'r> {
    // A document without near-duplicates is a group of its own.
    let group = |place: usize| match groups.group(run.lines[place].document()) {
        Some(group) => (Some(group), ""),
        None => (None, run.lines[place].document()),
    };
    let mut first: Vec<((Option<u32>, &str), usize)> =
        ranking.iter().enumerate().map(|(order, &place)| (group(place), order)).collect();
    first.sort_unstable();
    first.dedup_by_key(|(group, _)| *group);
    ranking.iter().enumerate().map(move |(order, &place)| {
        let found = first.binary_search_by_key(&group(place), |(group, _)| *group);
        let kept = found.map_or(order, |found| first[found].1);
        (place, (kept != order).then(|| ranking[kept]))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> Judgments {
        Judgments::read("q", text.as_bytes(), None).unwrap()
    }

    #[test]
    fn the_first_of_each_group_stays_for_each_topic() {
        let file = read("1 0 b 2\n1 0 a 1\n1 0 c 0\n2  0  a  -2\n2 0 x 3\n");
        let groups = Groups::of([["a", "b"]]);
        let first = judgments(&file, &groups, KeepRule::First, DuplicateTreatment::Remove);
        assert_eq!(first.text(), "1 0 b 2\n1 0 c 0\n2  0  a  -2\n2 0 x 3\n");
        let [gone] = &first.dropped[..] else { panic!("{first:?}") };
        assert_eq!((gone.document.as_str(), gone.kept.as_str(), gone.line), ("a", "b", 2));
        assert_eq!((gone.grade.as_deref(), gone.kept_grade.as_deref()), (Some("1"), Some("2")));
        assert_eq!((first.conflicts(), first.topics, first.topics_touched), (1, 2, 1));
        assert_eq!((first.lines_before, first.groups_touched), (5, vec![0]));
        let lowest = judgments(&file, &groups, KeepRule::LowestName, DuplicateTreatment::Remove);
        assert_eq!(lowest.lines[0], "1 0 a 1");
    }

    #[test]
    fn marked_judgments_stay_as_not_relevant() {
        let file = read("1 0 a 2\n1 0  b  2\n1 0 c -2\n1 0 d 1.-1\n");
        let marked =
            judgments(&file, &Groups::of([["a", "b", "c", "d"]]), KeepRule::First, DuplicateTreatment::Mark);
        assert_eq!(marked.text(), "1 0 a 2\n1 0  b  0\n1 0 c -2\n1 0 d 0.-1\n");
        assert_eq!((marked.dropped.len(), marked.conflicts()), (3, 2));
    }

    #[test]
    fn a_document_stays_with_all_its_subtopics() {
        let file = read("1 0 a 2\n1 1 a 1\n1 1 b 1\n1 2 b 1\n1 2 a 0\n");
        let result = judgments(&file, &Groups::of([["a", "b"]]), KeepRule::First, DuplicateTreatment::Remove);
        assert_eq!(result.text(), "1 0 a 2\n1 1 a 1\n1 2 a 0\n");
        let conflicts: Vec<bool> = result.dropped.iter().map(Dropped::conflicts).collect();
        assert_eq!(conflicts, [false, true]);
        assert_eq!(result.dropped[1].subtopic.as_deref(), Some("2"));
    }

    #[test]
    fn names_are_in_no_group() {
        let file = read("1-NAME a 2 1\n1-NAME b 2 1\n1-HP a 0 0\n1-HP b 0 0\n");
        let result = judgments(&file, &Groups::of([["a", "b"]]), KeepRule::First, DuplicateTreatment::Remove);
        assert_eq!(result.text(), "1-NAME a 2 1\n1-NAME b 2 1\n1-HP a 0 0\n");
    }

    #[test]
    fn ranks_of_a_run_are_numbered_anew() {
        let text = "1 Q0 c 3 7 t\n1 Q0 a 1 9 t\n1  Q0 b 2 8 t\n1 Q0 a 4 1 t\n2 Q0 b 0 9 t\n";
        let file = Run::read("r", text.as_bytes()).unwrap();
        let result = run(&file, &Groups::of([["a", "b"]]));
        assert_eq!(result.text(), "1 Q0 c 2 7 t\n1 Q0 a 1 9 t\n2 Q0 b 0 9 t\n");
        let gone: Vec<(&str, &str)> =
            result.dropped.iter().map(|gone| (gone.document.as_str(), gone.kept.as_str())).collect();
        assert_eq!(gone, [("b", "a"), ("a", "a")]);
        assert_eq!((result.topics, result.topics_touched, result.groups_touched.len()), (2, 1, 1));
        assert_eq!(run(&file, &Groups::default()).dropped.len(), 1);
    }

    /// Some judgments or lines: topic, document, grade or rank.
    fn any_lines() -> impl Strategy<Value = Vec<(u8, u8, u8)>> {
        prop::collection::vec((0u8..3, 0u8..8, 0u8..4), 0..30)
    }

    fn any_groups() -> impl Strategy<Value = Vec<Vec<String>>> {
        let documents = prop::collection::vec(0u8..8, 2..4);
        let named = documents.prop_map(|documents| documents.iter().map(|d| format!("d{d}")).collect());
        prop::collection::vec(named, 0..3)
    }

    fn groups_of(groups: &[Vec<String>]) -> Groups {
        let borrowed: Vec<Vec<&str>> =
            groups.iter().map(|group| group.iter().map(String::as_str).collect()).collect();
        Groups::of(borrowed)
    }

    fn alike(groups: &Groups, a: &str, b: &str) -> bool {
        a == b || groups.group(a).is_some() && groups.group(a) == groups.group(b)
    }

    proptest! {
        /// Held against looking at every line before for each line.
        #[test]
        fn judgments_are_as_by_looking_back(lines in any_lines(), groups in any_groups()) {
            let text: String = lines.iter().map(|(t, d, g)| format!("{t} 0 d{d} {g}\n")).collect();
            let (file, groups) = (read(&text), groups_of(&groups));
            let result = judgments(&file, &groups, KeepRule::First, DuplicateTreatment::Remove);
            let first = |line: &Judgment| {
                let alike = |one: &&Judgment| one.topic() == line.topic() && alike(&groups, one.document(), line.document());
                file.lines.iter().find(alike).map(Judgment::document)
            };
            let (stay, go): (Vec<&Judgment>, Vec<&Judgment>) =
                file.lines.iter().partition(|line| first(line) == Some(line.document()));
            let texts: Vec<&str> = stay.iter().map(|line| line.text()).collect();
            prop_assert_eq!(&result.lines, &texts);
            prop_assert_eq!(result.dropped.len(), go.len());
            for (dropped, line) in result.dropped.iter().zip(go) {
                prop_assert_eq!((dropped.line, Some(dropped.kept.as_str())), (line.number(), first(line)));
            }
            let marked = judgments(&file, &groups, KeepRule::First, DuplicateTreatment::Mark);
            prop_assert_eq!(marked.lines.len(), file.lines.len());
            // Twice is once.
            let again = judgments(&read(&result.text()), &groups, KeepRule::First, DuplicateTreatment::Remove);
            prop_assert_eq!(again.text(), result.text());
        }

        /// Held against going down each ranking with a list of what has been seen.
        #[test]
        fn runs_are_as_by_reading_down(lines in any_lines(), groups in any_groups()) {
            let text: String = lines.iter().map(|(t, d, r)| format!("{t} Q0 d{d} {r} 1 x\n")).collect();
            let (file, groups) = (Run::read("r", text.as_bytes()).unwrap(), groups_of(&groups));
            let result = run(&file, &groups);
            prop_assert_eq!(result.lines.len() + result.dropped.len(), lines.len());
            let left = Run::read("r", result.text().as_bytes()).unwrap();
            for topic in ["0", "1", "2"] {
                let mut ranked: Vec<_> = file.lines.iter().filter(|line| line.topic() == topic).collect();
                ranked.sort_by_key(|line| line.rank());
                let mut seen: Vec<&str> = Vec::new();
                for line in &ranked {
                    if !seen.iter().any(|one| alike(&groups, one, line.document())) {
                        seen.push(line.document());
                    }
                }
                let mut found: Vec<_> = left.lines.iter().filter(|line| line.topic() == topic).collect();
                found.sort_by_key(|line| line.rank());
                let documents: Vec<&str> = found.iter().map(|line| line.document()).collect();
                prop_assert_eq!(documents, seen);
                let from = ranked.first().map_or(0, |line| line.rank());
                prop_assert!(found.iter().enumerate().all(|(place, line)| line.rank() == from + place as u64));
            }
        }
    }
}
