//! Runs: the documents that an engine returned for each topic, ranked.
//!
//! A line is `topic Q0 document rank score tag`, with any blanks between. Order is by rank, and by line where ranks are equal.

use std::io::BufRead;

use crate::columns::{column, columns, replaced};
use crate::error::{LineError, ListError};
use crate::judgments::{distinct, track_of};
use crate::numbered_lines::NumberedLines;

/// A line of a run, as it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct RunLine {
    number: u64,
    text: Box<str>,
    rank: u64,
    score: f64,
}

impl RunLine {
    /// The line, from 1, that it was read from.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The line without its end.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The topic.
    pub fn topic(&self) -> &str {
        column(&self.text, 0)
    }

    /// The document.
    pub fn document(&self) -> &str {
        column(&self.text, 2)
    }

    /// Its rank; the first is 0 or 1, as the engine likes.
    pub fn rank(&self) -> u64 {
        self.rank
    }

    /// Its score.
    pub fn score(&self) -> f64 {
        self.score
    }

    /// Returns the name of the run.
    pub fn tag(&self) -> &str {
        column(&self.text, 5)
    }

    /// The same line with another rank.
    pub fn with_rank(&self, rank: u64) -> RunLine {
        let text = replaced(&self.text, &[(3, &rank.to_string())]).into();
        RunLine { text, rank, ..self.clone() }
    }

    fn read(number: u64, text: &str) -> Result<Self, LineError> {
        let words: Vec<&str> = columns(text).collect();
        let [_, _, _, rank, score, _] = words[..] else { return Err(LineError::NoRun(words.len())) };
        let no = |column, found: &str, wanted| LineError::Number { column, found: found.to_owned(), wanted };
        let rank = rank.parse().map_err(|_| no("rank", rank, "whole number from 0 up"))?;
        let score = score.parse().map_err(|_| no("score", score, "number"))?;
        Ok(RunLine { number, text: text.into(), rank, score })
    }
}

/// A run, in the order of its file.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// The name of the file, without folder and endings.
    pub name: String,
    /// Its lines.
    pub lines: Vec<RunLine>,
    /// Blank lines, which say nothing.
    pub blank: u64,
}

impl Run {
    /// Reads a whole file, uncompressed; `name` stands in errors.
    ///
    /// # Errors
    /// At the first line that is none of a run.
    pub fn read(name: &str, from: impl BufRead) -> Result<Self, ListError> {
        let mut run = Run { name: track_of(name), lines: Vec::new(), blank: 0 };
        let mut lines = NumberedLines::new(name, from);
        while let Some(line) = lines.next() {
            let (number, text) = line?;
            if text.trim_ascii().is_empty() {
                run.blank += 1;
                continue;
            }
            match RunLine::read(number, text) {
                Ok(line) => run.lines.push(line),
                Err(error) => return Err(lines.line_error(number, error)),
            }
        }
        Ok(run)
    }

    /// The documents, each once, ascending.
    pub fn documents(&self) -> Vec<&str> {
        distinct(self.lines.iter().map(RunLine::document).collect())
    }

    /// The lines of each topic by rank, as their places in [`Run::lines`]; topics are in ascending order.
    pub fn rankings(&self) -> Vec<Vec<usize>> {
        let mut places: Vec<usize> = (0..self.lines.len()).collect();
        places.sort_by_key(|&place| (self.lines[place].topic(), self.lines[place].rank));
        let same_topic = |&a: &usize, &b: &usize| self.lines[a].topic() == self.lines[b].topic();
        places.chunk_by(same_topic).map(<[usize]>::to_vec).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lines_are_read_and_written() {
        let text = "51 Q0 page-1 1 12.5 ours\r\n\n51  Q0\tpage-2  2  -1e3  ours\n52 Q0 page-1 0 7 ours";
        let run = Run::read("runs/ours.txt.gz", text.as_bytes()).unwrap();
        assert_eq!((run.name.as_str(), run.lines.len(), run.blank), ("ours", 3, 1));
        let second = &run.lines[1];
        assert_eq!((second.topic(), second.document(), second.rank()), ("51", "page-2", 2));
        assert_eq!((second.score(), second.tag(), second.number()), (-1000.0, "ours", 3));
        assert_eq!(second.with_rank(10).text(), "51  Q0\tpage-2  10  -1e3  ours");
        assert_eq!(run.documents(), ["page-1", "page-2"]);
        assert_eq!(run.rankings(), [vec![0, 1], vec![2]]);
    }

    #[test]
    fn ranks_decide_and_then_lines() {
        let run = Run::read("r", "1 Q0 c 3 1 t\n1 Q0 b 2 9 t\n1 Q0 a 2 5 t\n".as_bytes()).unwrap();
        assert_eq!(run.rankings(), [vec![1, 2, 0]]);
    }

    #[test]
    fn mistakes_have_their_place() {
        let message = |text: &str| Run::read("r.run", text.as_bytes()).unwrap_err().to_string();
        assert_eq!(
            message("1 Q0 a 1 5 t\n1 0 a 1\n"),
            "r.run, line 2: it has 4 columns, and a run has 6: topic Q0 document rank score tag; correct it"
        );
        assert!(
            message("1 Q0 a -1 5 t\n").starts_with("r.run, line 1: its rank is \"-1\", which is no whole")
        );
        assert!(message("1 Q0 a 1 high t\n").starts_with("r.run, line 1: its score is \"high\""));
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            if let Ok(run) = Run::read("r", bytes.as_slice()) {
                prop_assert_eq!(run.rankings().iter().map(Vec::len).sum::<usize>(), run.lines.len());
            }
        }
    }
}
