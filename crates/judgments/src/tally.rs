//! Counts of the content of files of judgments.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};

use crate::columns::column;
use crate::judgments::{Judgment, Judgments};
use crate::layout::Layout;
use crate::{Grade, judged_documents};

/// Counts of one file, or of several together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// The track.
    pub track: String,
    /// The layout; none when several files have several.
    pub layout: Option<&'static str>,
    /// Lines of any kind: judgments, blank ones and remarks.
    pub lines: u64,
    /// Judgments.
    pub judgments: u64,
    /// Blank lines.
    pub blank: u64,
    /// Lines that begin with `#`.
    pub remarks: u64,
    /// Topics, each once.
    pub topics: u64,
    /// Judged documents, each once.
    pub documents: u64,
    /// Documents with a judgment that says relevant, each once.
    pub relevant_documents: u64,
    /// Judgments that say relevant.
    pub relevant: u64,
    /// Judgments of names, which are no documents.
    pub names: u64,
    /// Judgments beyond the first of what was judged already: the same document for the same topic and subtopic.
    pub repeated: u64,
    /// The number of judgments with each label, by ascending grade.
    pub grades: Grades,
}

/// Labels with their counts, by ascending grade.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Grades(pub BTreeMap<Grade, u64>);

impl Serialize for Grades {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(self.0.iter().map(|(grade, count)| (grade.to_string(), count)))
    }
}

impl Tally {
    /// Counts a file.
    pub fn of(judgments: &Judgments) -> Self {
        Self::of_all(std::slice::from_ref(judgments), &judgments.track)
    }

    /// Counts several files under one name. A topic counts once for each file that has it, since tracks number their
    /// topics as they like; a document counts once.
    pub fn of_all(files: &[Judgments], name: &str) -> Self {
        let lines = || files.iter().flat_map(|file| &file.lines);
        let layout = files.first().map(|file| file.layout);
        let one_layout = files.iter().all(|file| Some(file.layout) == layout);
        let mut grades = Grades::default();
        lines().for_each(|line| *grades.0.entry(line.grade()).or_default() += 1);
        let judged = judged_documents(files);
        let says_relevant = |&(file, line): &(usize, usize)| files[file].lines[line].grade().is_relevant();
        Tally {
            track: name.to_owned(),
            layout: layout.filter(|_| one_layout).map(Layout::name),
            lines: files.iter().map(Judgments::line_count).sum(),
            judgments: lines().count() as u64,
            blank: files.iter().map(|file| file.blank).sum(),
            remarks: files.iter().map(|file| file.remarks).sum(),
            topics: files.iter().map(|file| file.topics().len() as u64).sum(),
            documents: judged.len() as u64,
            relevant_documents: judged.iter().filter(|one| one.occurrences.iter().any(says_relevant)).count()
                as u64,
            relevant: lines().filter(|line| line.grade().is_relevant()).count() as u64,
            names: lines().filter(|line| !line.is_of_document()).count() as u64,
            repeated: files.iter().map(repeated).sum(),
            grades,
        }
    }
}

/// Judgments of what was judged before in the same file.
fn repeated(file: &Judgments) -> u64 {
    let mut keys: Vec<[&str; 4]> = file.lines.iter().map(|line| judgment_key(file.layout, line)).collect();
    keys.sort_unstable();
    keys.dedup();
    (file.lines.len() - keys.len()) as u64
}

/// Returns the subject of a judgment: topic, subtopic, document, and in the entity track of 2010 the name on the page.
fn judgment_key(layout: Layout, line: &Judgment) -> [&str; 4] {
    let name = if layout == Layout::Entity2010 { column(line.text(), 2) } else { "" };
    [line.topic(), line.subtopic().unwrap_or_default(), line.document(), name]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(name: &str, text: &str) -> Judgments {
        Judgments::read(name, text.as_bytes(), None).unwrap()
    }

    #[test]
    fn everything_is_counted() {
        let file = read("a.txt", "1 0 x 2\n1 0 y -2\n\n2 0 x 0\n2 0 x 1\n# end\n");
        let tally = Tally::of(&file);
        assert_eq!((tally.lines, tally.judgments, tally.blank, tally.remarks), (6, 4, 1, 1));
        assert_eq!((tally.topics, tally.documents, tally.relevant_documents), (2, 2, 1));
        assert_eq!((tally.relevant, tally.repeated, tally.layout), (2, 1, Some("qrels")));
        assert_eq!(serde_json::to_string(&tally.grades).unwrap(), r#"{"-2":1,"0":1,"1":1,"2":1}"#);
    }

    #[test]
    fn files_together_share_documents_and_not_topics() {
        let files = [read("a", "1 0 x 2\n"), read("b", "1 x 2 1 1\n1 y 0 1 1\n")];
        let all = Tally::of_all(&files, "all");
        assert_eq!((all.topics, all.documents, all.judgments, all.layout), (2, 2, 3, None));
    }

    #[test]
    fn names_of_one_page_are_no_repetition() {
        let file = read("a", "21 x one 0 0 0\n21 x two 0 0 0\n21 x two 1 0 0\n");
        assert_eq!(Tally::of(&file).repeated, 1);
        let subtopics = read("a", "1 0 x 0\n1 1 x 0\n1 1 x 0\n");
        assert_eq!(Tally::of(&subtopics).repeated, 1);
        let names = read("a", "1-HP x 0 0\n1-NAME X 0 0\n");
        assert_eq!((Tally::of(&names).names, Tally::of(&names).documents), (1, 1));
    }
}
