//! Files of judgments.
//!
//! A judgment is its line: columns are looked up in it, and it is written back with one of them changed. The reader
//! accounts for every line: a judgment, a blank line, a remark, or an error with file, line and reason.

use std::collections::VecDeque;
use std::io::BufRead;
use std::path::Path;

use crate::columns::{column, is_word, replaced};
use crate::error::{LineError, ListError};
use crate::grade::Grade;
use crate::layout::Layout;
use crate::numbered_lines::NumberedLines;

/// Lines that are read before a file's layout is detected.
const SNIFFED_LINES: usize = 100;

/// One judgment: a line as it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgment {
    number: u64,
    text: Box<str>,
    layout: Layout,
    grade: Grade,
}

impl Judgment {
    /// The line, from 1, that it was read from.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The line without its end.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The topic, as it is written.
    pub fn topic(&self) -> &str {
        column(&self.text, 0)
    }

    /// The second column of qrels: the subtopic, or 0 where there are none.
    pub fn subtopic(&self) -> Option<&str> {
        self.layout.subtopic().map(|number| column(&self.text, number))
    }

    /// The judged document, or what else was judged.
    pub fn document(&self) -> &str {
        column(&self.text, self.layout.document())
    }

    /// False when a name was judged and no document.
    pub fn is_of_document(&self) -> bool {
        self.layout != Layout::Entity2009 || !self.topic().ends_with("-NAME")
    }

    /// The label, as it is written.
    pub fn label(&self) -> &str {
        column(&self.text, self.layout.grade())
    }

    /// The label, read.
    pub fn grade(&self) -> Grade {
        self.grade
    }

    /// The same judgment of another document: all other columns stay as they are.
    ///
    /// # Errors
    /// When the name is empty or has blanks: it would be two columns.
    pub fn for_document(&self, document: &str) -> Result<Judgment, ListError> {
        if !is_word(document) {
            let error = Box::new(LineError::Name(document.to_owned()));
            return Err(ListError { list: "judgments".to_owned(), line: self.number, error });
        }
        let text = replaced(&self.text, &[(self.layout.document(), document)]);
        Ok(Judgment { text: text.into(), ..self.clone() })
    }

    /// The same judgment with another grade.
    pub fn with_grade(&self, grade: Grade) -> Judgment {
        let text = replaced(&self.text, &[(self.layout.grade(), &grade.to_string())]);
        Judgment { text: text.into(), grade, ..self.clone() }
    }
}

/// The content of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// A judgment.
    Judgment(Judgment),
    /// Nothing but blanks.
    Blank,
    /// A remark, which begins with `#`.
    Remark,
}

/// Reads a file line by line: every line is a judgment, blank, a remark, or an error. Lines that are wrong do not end the
/// reading.
pub struct Reader<R> {
    lines: NumberedLines<R>,
    /// Lines that were read to detect the layout.
    buffered: VecDeque<Result<(u64, String), ListError>>,
    /// None as long as no line fits any.
    layout: Option<Layout>,
}

impl<R: BufRead> Reader<R> {
    /// A reader of the file `name`. Its layout is detected from its first lines, unless it is given.
    pub fn new(name: &str, from: R, layout: Option<Layout>) -> Self {
        let mut lines = NumberedLines::new(name, from);
        let mut buffered = VecDeque::new();
        if layout.is_none() {
            while buffered.len() < SNIFFED_LINES
                && let Some(line) = lines.next()
            {
                buffered.push_back(line.map(|(number, line)| (number, line.to_owned())));
            }
        }
        let held = buffered.iter().filter_map(|line| line.as_ref().ok());
        let texts = held.map(|(_, text)| text.as_str()).filter(|text| is_judgment(text));
        let layout = layout.or_else(|| Layout::detect(texts));
        Reader { lines, buffered, layout }
    }

    /// The layout, if it is given or detected.
    pub fn layout(&self) -> Option<Layout> {
        self.layout
    }

    fn line(&self, number: u64, text: &str) -> Result<Line, ListError> {
        if !is_judgment(text) {
            let blank = text.trim_ascii().is_empty();
            return Ok(if blank { Line::Blank } else { Line::Remark });
        }
        let Some(layout) = self.layout else {
            // Only why it is no line of any layout is left to say.
            let error = match Layout::Qrels.read(text) {
                Err(LineError::IsRun) => LineError::IsRun,
                _ => LineError::NoLayout,
            };
            return Err(self.lines.line_error(number, error));
        };
        let grade = layout.read(text).map_err(|error| self.lines.line_error(number, error))?;
        Ok(Line::Judgment(Judgment { number, text: text.into(), layout, grade }))
    }
}

/// False for blank lines and remarks.
fn is_judgment(line: &str) -> bool {
    let line = line.trim_ascii();
    !line.is_empty() && !line.starts_with('#')
}

impl<R: BufRead> Iterator for Reader<R> {
    type Item = Result<Line, ListError>;

    fn next(&mut self) -> Option<Self::Item> {
        let (number, text) = match self.buffered.pop_front() {
            Some(Ok(line)) => line,
            Some(Err(error)) => return Some(Err(error)),
            None => match self.lines.next()? {
                Ok((number, text)) => (number, text.to_owned()),
                Err(error) => return Some(Err(error)),
            },
        };
        Some(self.line(number, &text))
    }
}

/// All judgments of a file, in its order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgments {
    /// The name of the file, without folder and endings.
    pub track: String,
    /// Its layout.
    pub layout: Layout,
    /// Its judgments.
    pub lines: Vec<Judgment>,
    /// Blank lines, which say nothing.
    pub blank: u64,
    /// Lines that begin with `#`, which say nothing either.
    pub remarks: u64,
}

impl Judgments {
    /// Reads a whole file, uncompressed; `name` stands in errors, and the track is called after it. Its layout is
    /// detected from its lines, unless it is given.
    ///
    /// # Errors
    /// At the first line that is no judgment of the layout. [`Reader`] goes on behind it.
    pub fn read(name: &str, from: impl BufRead, layout: Option<Layout>) -> Result<Self, ListError> {
        let mut reader = Reader::new(name, from, layout);
        let seen = reader.layout();
        let mut judgments = Judgments {
            track: track_of(name),
            layout: seen.unwrap_or(Layout::Qrels),
            lines: Vec::new(),
            blank: 0,
            remarks: 0,
        };
        for line in &mut reader {
            match line? {
                Line::Judgment(judgment) => judgments.lines.push(judgment),
                Line::Blank => judgments.blank += 1,
                Line::Remark => judgments.remarks += 1,
            }
        }
        if layout.is_none() {
            judgments.detect_subtopics();
        }
        Ok(judgments)
    }

    /// Lines of the file, of any kind.
    pub fn line_count(&self) -> u64 {
        self.lines.len() as u64 + self.blank + self.remarks
    }

    /// The judged documents, each once, ascending. Names are no documents.
    pub fn documents(&self) -> Vec<&str> {
        let of_documents = self.lines.iter().filter(|judgment| judgment.is_of_document());
        distinct(of_documents.map(Judgment::document).collect())
    }

    /// The topics, each once, in the order of the file.
    pub fn topics(&self) -> Vec<&str> {
        let mut first: Vec<(&str, usize)> =
            self.lines.iter().enumerate().map(|(place, line)| (line.topic(), place)).collect();
        first.sort_unstable();
        first.dedup_by_key(|(topic, _)| *topic);
        first.sort_unstable_by_key(|(_, place)| *place);
        first.into_iter().map(|(topic, _)| topic).collect()
    }

    /// Qrels with anything but 0 in the second column have subtopics.
    fn detect_subtopics(&mut self) {
        let plain = |judgment: &Judgment| matches!(judgment.subtopic(), Some("0" | "Q0" | "q0"));
        if self.layout == Layout::Qrels && !self.lines.iter().all(plain) {
            self.layout = Layout::Subtopics;
            self.lines.iter_mut().for_each(|judgment| judgment.layout = Layout::Subtopics);
        }
    }
}

/// A judged document and everything that was said of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JudgedDocument<'j> {
    /// The document.
    pub document: &'j str,
    /// Its judgments: the number of the file and that of the judgment in it, both counted from 0, ascending.
    pub occurrences: Vec<(usize, usize)>,
}

/// The judged documents of several files, each once, ascending, with all their judgments.
pub fn judged_documents(files: &[Judgments]) -> Vec<JudgedDocument<'_>> {
    let mut all: Vec<(&str, usize, usize)> = Vec::new();
    for (file, judgments) in files.iter().enumerate() {
        let of_documents = judgments.lines.iter().enumerate().filter(|(_, line)| line.is_of_document());
        all.extend(of_documents.map(|(place, line)| (line.document(), file, place)));
    }
    all.sort_unstable();
    let same = all.chunk_by(|a, b| a.0 == b.0);
    let one = |same: &[(&'_ str, usize, usize)]| same.iter().map(|&(_, file, place)| (file, place)).collect();
    same.map(|same| JudgedDocument { document: same[0].0, occurrences: one(same) }).collect()
}

/// Names in ascending order, each once.
pub(crate) fn distinct(mut names: Vec<&str>) -> Vec<&str> {
    names.sort_unstable();
    names.dedup();
    names
}

/// Returns the name of a track: that of its file of judgments without folder, compression and `.txt`.
///
/// ```
/// assert_eq!(lookalike_judgments::track_of("data/qrels.web.51-100.txt.zst"), "qrels.web.51-100");
/// ```
pub fn track_of(name: &str) -> String {
    let name = Path::new(name).file_name().map_or(name.into(), |name| name.to_string_lossy());
    let mut track: &str = &name;
    for ending in [".zst", ".gz", ".bz2", ".txt"] {
        track = track.strip_suffix(ending).filter(|rest| !rest.is_empty()).unwrap_or(track);
    }
    track.to_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> Result<Judgments, ListError> {
        Judgments::read("x/qrels.test.txt.gz", text.as_bytes(), None)
    }

    #[test]
    fn every_layout_is_read() {
        let files = [
            ("51 0 page-1 -2\n52 0 page-1 4\n", Layout::Qrels, ["51", "page-1", "-2"], Some("0")),
            ("1  0\tpage-1   0.-1\r\n", Layout::Qrels, ["1", "page-1", "0.-1"], Some("0")),
            ("201 0 p 1\n201 1 p 0", Layout::Subtopics, ["201", "p", "1"], Some("0")),
            ("1 page-1 2 1 0.25\n", Layout::Prels, ["1", "page-1", "2"], None),
            ("1-HP page-1 1 0\n1-NAME Some_Name 2 7\n", Layout::Entity2009, ["1-HP", "page-1", "1"], None),
            ("21 page-1 gallery_360 2 0 1\n", Layout::Entity2010, ["21", "page-1", "2"], None),
        ];
        for (text, layout, [topic, document, label], subtopic) in files {
            let judgments = read(text).unwrap();
            assert_eq!((judgments.layout, judgments.track.as_str()), (layout, "qrels.test"));
            let first = &judgments.lines[0];
            assert_eq!([first.topic(), first.document(), first.label()], [topic, document, label]);
            assert_eq!((first.subtopic(), first.number()), (subtopic, 1));
            assert_eq!(first.grade().to_string(), label);
        }
    }

    #[test]
    fn names_are_no_documents() {
        let judgments = read("1-HP page-1 1 0\n1-NAME page-1 2 7\n1-NAME Some_Name 2 7\n").unwrap();
        assert_eq!(judgments.documents(), ["page-1"]);
        assert_eq!(judged_documents(&[judgments])[0].occurrences, [(0, 0)]);
    }

    #[test]
    fn every_line_is_accounted_for() {
        let text = "\u{feff}# remark\n51 0 a 1\n\n  \t\n51 0 b x\n51 0 c\n51 0 d 0\n";
        let found: Vec<_> = Reader::new("q", text.as_bytes(), None).collect();
        assert_eq!(found.len(), 7);
        assert_eq!(found[0].as_ref().unwrap(), &Line::Remark);
        assert_eq!(found[2].as_ref().unwrap(), &Line::Blank);
        assert_eq!(found[3].as_ref().unwrap(), &Line::Blank);
        let errors: Vec<String> =
            found.iter().filter_map(|line| Some(line.as_ref().err()?.to_string())).collect();
        assert!(errors[0].starts_with("q, line 5: its grade \"x\""), "{errors:?}");
        assert!(errors[1].starts_with("q, line 6: it has 3 columns"), "{errors:?}");
        assert!(read(text).unwrap_err().to_string().starts_with("x/qrels.test.txt.gz, line 5: "));
        let fine = read("# remark\n\n51 0 a 1\n").unwrap();
        assert_eq!((fine.remarks, fine.blank, fine.line_count()), (1, 1, 3));
        assert_eq!(read("").unwrap().line_count(), 0);
    }

    #[test]
    fn a_told_layout_is_believed() {
        let error = Judgments::read("q", "51 0 a 1\n".as_bytes(), Some(Layout::Prels)).unwrap_err();
        assert!(error.to_string().contains("4 columns, and prels has 5"), "{error}");
        let given = Judgments::read("q", "1 0 a 1\n1 1 a 1\n".as_bytes(), Some(Layout::Qrels)).unwrap();
        assert_eq!(given.layout, Layout::Qrels);
    }

    #[test]
    fn a_run_is_told_from_judgments() {
        let error = read("51 Q0 a 1 12.5 tag\n").unwrap_err().to_string();
        assert!(error.contains("line 1: it is a line of a run"), "{error}");
        let error = read("what is this\n").unwrap_err().to_string();
        assert!(error.contains("line 1: it is in no layout of judgments"), "{error}");
    }

    #[test]
    fn subtopics_may_come_late() {
        let mut text = "251 0 a 1\n".repeat(300);
        text.push_str("251 1 a 1\n");
        let judgments = read(&text).unwrap();
        assert_eq!(judgments.layout, Layout::Subtopics);
    }

    #[test]
    fn documents_and_topics_come_once() {
        let (a, b) = (read("9 0 x 1\n2 0 a 0\n9 0 a 2\n").unwrap(), read("1 0 x 1\n").unwrap());
        assert_eq!(a.topics(), ["9", "2"]);
        assert_eq!(a.documents(), ["a", "x"]);
        let all = [a, b];
        let judged = judged_documents(&all);
        assert_eq!(judged[0], JudgedDocument { document: "a", occurrences: vec![(0, 1), (0, 2)] });
        assert_eq!(judged[1], JudgedDocument { document: "x", occurrences: vec![(0, 0), (1, 0)] });
    }

    #[test]
    fn another_name_must_fit_into_a_column() {
        let judgments = read("1 page-1 2 1 0.25\n").unwrap();
        let moved = judgments.lines[0].for_document("<urn:uuid:1>").unwrap();
        assert_eq!(moved.text(), "1 <urn:uuid:1> 2 1 0.25");
        assert!(judgments.lines[0].for_document("two words").is_err());
        assert!(judgments.lines[0].for_document("").is_err());
    }

    /// Any line of any layout, with any blanks between its columns.
    fn any_line() -> impl Strategy<Value = (Layout, String, [String; 3])> {
        let word = "[a-z0-9\u{e4}\u{85}_-]{1,12}x";
        let label = prop_oneof!["-?[0-4]", "[0-2]\\.-?[0-2]"];
        let layouts = prop::sample::select(Layout::ALL.to_vec());
        let blanks = prop::collection::vec("[ \t]{1,3}", 6);
        (layouts, word, word, label, blanks, "[ \t]{0,2}").prop_map(
            |(layout, topic, document, label, blanks, end)| {
                let topic = if layout == Layout::Entity2009 { format!("{topic}-HP") } else { topic };
                let (t, d, l) = (topic.as_str(), document.as_str(), label.as_str());
                let words: Vec<&str> = match layout {
                    Layout::Qrels => vec![t, "0", d, l],
                    Layout::Subtopics => vec![t, "3", d, l],
                    Layout::Prels => vec![t, d, l, "1", "0.5"],
                    Layout::Entity2009 => vec![t, d, l, "7"],
                    Layout::Entity2010 => vec![t, d, "name", l, "7", "2"],
                };
                let mut line = String::new();
                for (place, word) in words.iter().enumerate() {
                    line.push_str(if place == 0 { "" } else { &blanks[place] });
                    line.push_str(word);
                }
                line.push_str(&end);
                (layout, line, [topic, document, label])
            },
        )
    }

    proptest! {
        #[test]
        fn a_line_is_seen_read_and_written_back((layout, line, [topic, document, label]) in any_line()) {
            let judgments = read(&line).unwrap();
            prop_assert_eq!(judgments.layout, layout);
            let judgment = &judgments.lines[0];
            prop_assert_eq!(judgment.text(), &line);
            prop_assert_eq!([judgment.topic(), judgment.document(), judgment.label()], [topic, document.clone(), label]);
            let moved = judgment.for_document("another").unwrap();
            let back = moved.for_document(&document).unwrap();
            prop_assert_eq!(back.text(), &line);
            prop_assert_eq!(moved.document(), "another");
            let worse = judgment.with_grade(judgment.grade().not_relevant());
            prop_assert!(!worse.grade().is_relevant());
            let again = read(worse.text()).unwrap();
            prop_assert_eq!(again.lines[0].grade(), worse.grade());
            prop_assert_eq!(worse.document(), &document);
        }

        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            let lines = Reader::new("q", bytes.as_slice(), None).count();
            let ends = bytes.iter().filter(|byte| **byte == b'\n').count();
            let open = bytes.last().is_some_and(|last| *last != b'\n');
            prop_assert_eq!(lines, ends + usize::from(open));
        }
    }
}
