//! Layouts of judgments: which column holds what, and how a file tells.
//!
//! | layout | columns | where |
//! |---|---|---|
//! | `qrels` | topic 0 document grade | most tracks; the second column is not used |
//! | `subtopics` | topic subtopic document grade | diversity tasks, session track of 2011 |
//! | `prels` | topic document grade method probability | Web and Million Query tracks of 2009 |
//! | `entity2009` | topic-KIND document grade class | entity track; of the kind `NAME` it is a name and no document |
//! | `entity2010` | topic document name grade class name-grade | entity track, one line for each name of a page |
//!
//! The first lines of a file tell the layout that most of them fit. `qrels` and `subtopics` have the same columns; the
//! latter is what holds anything but 0 in the second one.

use std::fmt;
use std::str::FromStr;

use crate::columns::columns;
use crate::error::LineError;
use crate::grade::Grade;

/// The columns of a file of judgments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Layout {
    /// topic 0 document grade
    Qrels,
    /// topic subtopic document grade
    Subtopics,
    /// topic document grade method probability
    Prels,
    /// topic-KIND document grade class
    Entity2009,
    /// topic document name grade class name-grade
    Entity2010,
}

/// Kinds of things that the entity track of 2009 judged, behind its topics.
const ENTITY_KINDS: [&str; 3] = ["-HP", "-WP", "-NAME"];

impl Layout {
    /// Every layout.
    pub const ALL: [Layout; 5] =
        [Layout::Qrels, Layout::Subtopics, Layout::Prels, Layout::Entity2009, Layout::Entity2010];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Layout::Qrels => "qrels",
            Layout::Subtopics => "subtopics",
            Layout::Prels => "prels",
            Layout::Entity2009 => "entity2009",
            Layout::Entity2010 => "entity2010",
        }
    }

    /// Returns the names of its columns, in order.
    pub fn columns(self) -> &'static str {
        match self {
            Layout::Qrels => "topic 0 document grade",
            Layout::Subtopics => "topic subtopic document grade",
            Layout::Prels => "topic document grade method probability",
            Layout::Entity2009 => "topic-KIND document grade class",
            Layout::Entity2010 => "topic document name grade class name-grade",
        }
    }

    /// Returns the number of its columns.
    pub fn width(self) -> usize {
        match self {
            Layout::Qrels | Layout::Subtopics | Layout::Entity2009 => 4,
            Layout::Prels => 5,
            Layout::Entity2010 => 6,
        }
    }

    /// Returns the index of the column that holds the document, from 0.
    pub(crate) fn document(self) -> usize {
        match self {
            Layout::Qrels | Layout::Subtopics => 2,
            Layout::Prels | Layout::Entity2009 | Layout::Entity2010 => 1,
        }
    }

    /// Returns the index of the column that holds the grade, from 0.
    pub(crate) fn grade(self) -> usize {
        match self {
            Layout::Prels | Layout::Entity2009 => 2,
            Layout::Qrels | Layout::Subtopics | Layout::Entity2010 => 3,
        }
    }

    /// Returns the index of the column that holds the subtopic, from 0, if there is one.
    pub(crate) fn subtopic(self) -> Option<usize> {
        matches!(self, Layout::Qrels | Layout::Subtopics).then_some(1)
    }

    /// The columns of all layouts, for people.
    pub(crate) fn all_columns() -> String {
        Self::ALL.map(|layout| format!("{layout} ({})", layout.columns())).join(", ")
    }

    /// Checks a line and reads its grade.
    pub(crate) fn read(self, line: &str) -> Result<Grade, LineError> {
        let found = columns(line).count();
        if found != self.width() {
            return Err(if is_run(line) {
                LineError::IsRun
            } else {
                LineError::Columns { found, layout: self }
            });
        }
        let words: Vec<&str> = columns(line).collect();
        let label = words[self.grade()];
        let grade = Grade::parse(label).ok_or_else(|| match is_run(line) {
            true => LineError::IsRun,
            false => LineError::Grade(label.to_owned()),
        })?;
        match self {
            Layout::Qrels | Layout::Subtopics => {}
            Layout::Prels => {
                parse_integer("method", words[3])?;
                if words[4].parse::<f64>().is_err() {
                    return Err(no_number("probability", words[4], "number"));
                }
            }
            Layout::Entity2009 => {
                if !ENTITY_KINDS.iter().any(|kind| words[0].ends_with(kind)) {
                    return Err(no_number("topic", words[0], "topic with -HP, -WP or -NAME behind it"));
                }
                parse_integer("class", words[3])?;
            }
            Layout::Entity2010 => {
                parse_integer("class", words[4])?;
                parse_integer("grade of the name", words[5])?;
            }
        }
        if is_run(line) { Err(LineError::IsRun) } else { Ok(grade) }
    }

    /// The layout that most of these lines fit: of two that the same number fits, the more particular one. Nothing when
    /// they fit none.
    pub(crate) fn detect<'l>(lines: impl Iterator<Item = &'l str> + Clone) -> Option<Layout> {
        let fitting = |layout: Layout| lines.clone().filter(|line| layout.read(line).is_ok()).count();
        // Subtopics are qrels until another number than 0 has been met.
        let layouts = [Layout::Entity2009, Layout::Entity2010, Layout::Prels, Layout::Qrels];
        let counts = layouts.map(|layout| (fitting(layout), layout));
        let most = counts.iter().map(|(count, _)| *count).max().filter(|most| *most > 0)?;
        counts.iter().find(|(count, _)| *count == most).map(|(_, layout)| *layout)
    }
}

/// True for a line as runs have them.
fn is_run(line: &str) -> bool {
    let words: Vec<&str> = columns(line).collect();
    matches!(words[..], [_, "Q0" | "q0", _, rank, score, _] if rank.parse::<u64>().is_ok() && score.parse::<f64>().is_ok())
}

fn parse_integer(column: &'static str, text: &str) -> Result<i64, LineError> {
    text.parse().map_err(|_| no_number(column, text, "whole number"))
}

fn no_number(column: &'static str, found: &str, wanted: &'static str) -> LineError {
    LineError::Number { column, found: found.to_owned(), wanted }
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Layout {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|layout| layout.name() == text);
        found.ok_or_else(|| {
            let names = Self::ALL.map(Layout::name).join(", ");
            format!("there is no layout {text}; layouts are {names}")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detect(lines: &[&str]) -> Option<Layout> {
        Layout::detect(lines.iter().copied())
    }

    #[test]
    fn lines_tell_their_layout() {
        assert_eq!(detect(&["51 0 clueweb09-en0000-16-19379 0"]), Some(Layout::Qrels));
        assert_eq!(detect(&["1 0 clueweb09-en0000-02-07413 0.-1"]), Some(Layout::Qrels));
        assert_eq!(detect(&["1 clueweb09-en0003-55-31884 0 0 1"]), Some(Layout::Prels));
        assert_eq!(detect(&["1 clueweb09-en0003-55-31884 0 1 0.231"]), Some(Layout::Prels));
        assert_eq!(detect(&["1-HP clueweb09-en0003-31-18762 0 0"]), Some(Layout::Entity2009));
        assert_eq!(detect(&["20-NAME 2007 2 64"]), Some(Layout::Entity2009));
        assert_eq!(detect(&["21 clueweb09-en0000-00-00001 gallery_360 0 0 0"]), Some(Layout::Entity2010));
        // Documents and topics of other collections are numbers.
        assert_eq!(detect(&["1185869 0 0 1"]), Some(Layout::Qrels));
    }

    #[test]
    fn one_wrong_line_does_not_decide() {
        assert_eq!(detect(&["51 0 page", "51 0 page 1", "51 0 other 1"]), Some(Layout::Qrels));
        assert_eq!(detect(&["some words", "51 0 page x"]), None);
        assert_eq!(detect(&[]), None);
    }

    #[test]
    fn a_run_is_no_judgment() {
        let run = "51 Q0 clueweb09-en0000-16-19379 1 12 3";
        assert_eq!(detect(&[run]), None);
        for layout in Layout::ALL {
            assert!(matches!(layout.read(run), Err(LineError::IsRun)), "{layout}");
        }
    }

    #[test]
    fn mistakes_are_named() {
        let message = |layout: Layout, line: &str| layout.read(line).unwrap_err().to_string();
        assert_eq!(
            message(Layout::Qrels, "51 0 page"),
            "it has 3 columns, and qrels has 4: topic 0 document grade; correct it, or name the layout"
        );
        assert!(message(Layout::Qrels, "51 0 page x").starts_with("its grade \"x\" is neither"));
        assert!(
            message(Layout::Prels, "51 page 1 a 1").starts_with("its method is \"a\", which is no whole")
        );
        assert!(message(Layout::Prels, "51 page 1 1 a").starts_with("its probability is"));
        assert!(message(Layout::Entity2009, "51 page 1 1").starts_with("its topic is"));
        assert!(message(Layout::Entity2010, "51 page name 1 1 x").starts_with("its grade of the name is"));
    }

    #[test]
    fn names_lead_back() {
        for layout in Layout::ALL {
            assert_eq!(layout.name().parse(), Ok(layout));
        }
        assert!("trec".parse::<Layout>().unwrap_err().contains("qrels, subtopics"));
    }
}
