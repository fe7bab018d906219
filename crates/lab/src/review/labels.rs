//! Judgments, kept line by line: each is appended at once, and of several for one pair the last counts.
//!
//! A line is written whole and flushed before the page shows it as kept. A line that a kill cut off in its middle has no
//! end; it is dropped, and the judgment is asked for again.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use lookalike::report::Kind;
use serde::{Deserialize, Deserializer, Serialize};

use super::{Pair, ReviewError};

/// The verdict on a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The documents are near-duplicates.
    Duplicate,
    /// They are not.
    Not,
    /// The person who judged was not sure.
    Unsure,
}

impl Verdict {
    /// All of them.
    pub const ALL: [Verdict; 3] = [Verdict::Duplicate, Verdict::Not, Verdict::Unsure];

    /// Its name, as in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Duplicate => "duplicate",
            Verdict::Not => "not",
            Verdict::Unsure => "unsure",
        }
    }

    /// The verdict of this name.
    pub fn of(name: &str) -> Option<Self> {
        Verdict::ALL.into_iter().find(|verdict| verdict.name() == name)
    }
}

/// A judgment: the verdict, and how the documents differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Judgment {
    /// The verdict on the pair.
    pub verdict: Verdict,
    /// The kind of difference; none in labels that came from elsewhere.
    pub kind: Option<Kind>,
}

/// A line of the file.
#[derive(Debug, Serialize, Deserialize)]
struct Row {
    n: u64,
    a: String,
    b: String,
    /// `null` takes a judgment back.
    #[serde(deserialize_with = "required")]
    label: Option<Verdict>,
    #[serde(default)]
    kind: Option<Kind>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    by: Option<String>,
}

/// `null` is a value, but a missing field is none: not every line with an `n` is a label.
fn required<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Verdict>, D::Error> {
    Option::deserialize(from)
}

/// The judgments of a sample.
#[derive(Debug)]
pub struct Labels {
    path: PathBuf,
    /// Open for appending, unless they are only looked at.
    file: Option<File>,
    /// The name of the person who judges now.
    by: Option<String>,
    latest: BTreeMap<(Option<String>, u64), Judgment>,
    /// A warning about the file, such as a last line that was cut off.
    pub note: Option<String>,
}

impl Labels {
    /// Reads labels of these pairs, from a file that need not be there.
    pub fn read(path: &Path, sample: (&Path, &[Pair]), by: Option<String>) -> Result<Self, ReviewError> {
        Self::load(path, sample, by).map(|(labels, _)| labels)
    }

    /// Reads labels and makes the file ready for more: what a kill left in its middle is cut off.
    pub fn open(path: &Path, sample: (&Path, &[Pair]), by: Option<String>) -> Result<Self, ReviewError> {
        let (mut labels, end) = Self::load(path, sample, by)?;
        let failed = |error| ReviewError::Write(path.display().to_string(), error);
        let mut file = OpenOptions::new().append(true).create(true).open(path).map_err(failed)?;
        // Another judge may have added a line since; only what is known to be half a line goes.
        if end.is_cut && file.metadata().map_err(failed)?.len() == end.read {
            file.set_len(end.length).map_err(failed)?;
        }
        if !end.is_ended {
            file.write_all(b"\n").map_err(failed)?;
        }
        labels.file = Some(file);
        Ok(labels)
    }

    fn load(
        path: &Path,
        (sample, pairs): (&Path, &[Pair]),
        by: Option<String>,
    ) -> Result<(Self, FileEnd), ReviewError> {
        let name = path.display().to_string();
        if let (Ok(labels), Ok(sample)) = (path.canonicalize(), sample.canonicalize())
            && labels == sample
        {
            return Err(ReviewError::Same(name));
        }
        if std::fs::metadata(path).is_ok_and(|facts| !facts.is_file()) {
            return Err(ReviewError::NoFile(name));
        }
        let bytes = match std::fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(ReviewError::Read(name, error)),
        };
        let mut labels =
            Labels { path: path.to_owned(), file: None, by, latest: BTreeMap::new(), note: None };
        let known: BTreeMap<u64, &Pair> = pairs.iter().map(|pair| (pair.n, pair)).collect();
        let mut end =
            FileEnd { length: bytes.len() as u64, read: bytes.len() as u64, is_cut: false, is_ended: true };
        let mut length = 0;
        for (index, line) in bytes.split_inclusive(|byte| *byte == b'\n').enumerate() {
            let is_ended = line.ends_with(b"\n");
            let before = length;
            length += line.len() as u64;
            if line.trim_ascii().is_empty() {
                continue;
            }
            match serde_json::from_slice::<Row>(line) {
                Ok(row) => {
                    check_pair(&row, &known).map_err(|(found, there)| ReviewError::Foreign {
                        file: name.clone(),
                        line: index + 1,
                        n: row.n,
                        found,
                        sample: sample.display().to_string(),
                        there,
                    })?;
                    labels.apply(row);
                    end.is_ended = is_ended;
                }
                Err(_) if !is_ended => {
                    end = FileEnd { length: before, is_cut: true, is_ended: true, ..end };
                    let note = format!(
                        "{name} ends in the middle of line {}, which is dropped; judge that pair again",
                        index + 1
                    );
                    labels.note = Some(note);
                }
                Err(error) => {
                    return Err(ReviewError::NoLabel {
                        file: name,
                        line: index + 1,
                        why: error_without_position(&error),
                    });
                }
            }
        }
        Ok((labels, end))
    }

    fn apply(&mut self, row: Row) {
        let key = (row.by, row.n);
        match row.label {
            Some(verdict) => self.latest.insert(key, Judgment { verdict, kind: row.kind }),
            None => self.latest.remove(&key),
        };
    }

    /// Returns the name of the person who judges now.
    pub fn by(&self) -> Option<&str> {
        self.by.as_deref()
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the judgment of a pair by the person who judges now.
    pub fn of(&self, n: u64) -> Option<Judgment> {
        self.judgment_by(self.by(), n)
    }

    /// Returns the judgment of a pair by the person of this name.
    pub fn judgment_by(&self, by: Option<&str>, n: u64) -> Option<Judgment> {
        self.latest.get(&(by.map(str::to_owned), n)).copied()
    }

    /// Everybody who has judged something, by name; those without a name first.
    pub fn labelers(&self) -> Vec<Option<&str>> {
        let mut names: Vec<Option<&str>> = self.latest.keys().map(|(by, _)| by.as_deref()).collect();
        names.dedup();
        names
    }

    /// Keeps a judgment, or takes it back with none. When this returns, it is in the file.
    pub fn put(&mut self, pair: &Pair, judgment: Option<Judgment>) -> Result<(), ReviewError> {
        let row = Row {
            n: pair.n,
            a: pair.a.clone(),
            b: pair.b.clone(),
            label: judgment.map(|judgment| judgment.verdict),
            kind: judgment.and_then(|judgment| judgment.kind),
            by: self.by.clone(),
        };
        let failed = |error| ReviewError::Write(self.path.display().to_string(), error);
        let mut line = serde_json::to_vec(&row).map_err(|error| failed(error.into()))?;
        line.push(b'\n');
        let file = self.file.as_mut().ok_or_else(|| failed(ErrorKind::ReadOnlyFilesystem.into()))?;
        append(file, &line).map_err(failed)?;
        self.apply(row);
        Ok(())
    }
}

/// Appends a line, or nothing: what was written of it is taken back when the disk is full.
fn append(file: &mut File, line: &[u8]) -> std::io::Result<()> {
    let length = file.metadata()?.len();
    // One call for the whole line: two who judge at once do not write into each other's.
    let written = file.write_all(line).and_then(|()| file.sync_data());
    // What another judge wrote behind it stays.
    if written.is_err() && file.metadata()?.len() <= length + line.len() as u64 {
        file.set_len(length)?;
    }
    written
}

/// The state of a file's end.
struct FileEnd {
    /// Its length without a line that was cut off.
    length: u64,
    /// Its length as it was read.
    read: u64,
    /// Its last line was cut off.
    is_cut: bool,
    /// Its last line has an end.
    is_ended: bool,
}

/// Fails with the two pairs that differ.
fn check_pair(row: &Row, known: &BTreeMap<u64, &Pair>) -> Result<(), (String, String)> {
    let format_pair = |a: &str, b: &str| format!("{a:?} and {b:?}");
    match known.get(&row.n) {
        Some(pair) if (&pair.a, &pair.b) == (&row.a, &row.b) => Ok(()),
        Some(pair) => Err((format_pair(&row.a, &row.b), format_pair(&pair.a, &pair.b))),
        None => Err((format_pair(&row.a, &row.b), "no pair".to_owned())),
    }
}

/// Returns the error in a line, without its position: lines are parsed one by one, so that it would be misleading.
pub(super) fn error_without_position(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.split(" at line ").next().unwrap_or(&text).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs() -> Vec<Pair> {
        let pair = |n: u64| Pair {
            n,
            a: format!("a{n}"),
            b: format!("b{n}"),
            similarity: None,
            methods: Vec::new(),
            text_a: String::new(),
            text_b: String::new(),
        };
        (0..4).map(pair).collect()
    }

    struct LabelsFixture {
        folder: tempfile::TempDir,
        pairs: Vec<Pair>,
    }

    impl LabelsFixture {
        fn new(content: &str) -> Self {
            let folder = tempfile::tempdir().unwrap();
            std::fs::write(folder.path().join("labels.jsonl"), content).unwrap();
            LabelsFixture { folder, pairs: pairs() }
        }

        fn path(&self) -> PathBuf {
            self.folder.path().join("labels.jsonl")
        }

        fn open(&self, by: Option<&str>) -> Result<Labels, String> {
            let labels =
                Labels::open(&self.path(), (Path::new("review.jsonl"), &self.pairs), by.map(str::to_owned));
            labels.map_err(|error| error.to_string().replace(&self.path().display().to_string(), "LABELS"))
        }

        fn content(&self) -> String {
            std::fs::read_to_string(self.path()).unwrap()
        }
    }

    fn judged(verdict: Verdict, kind: Kind) -> Option<Judgment> {
        Some(Judgment { verdict, kind: Some(kind) })
    }

    #[test]
    fn what_was_judged_is_there_again() {
        let fixture = LabelsFixture::new("");
        std::fs::remove_file(fixture.path()).unwrap();
        let mut labels = fixture.open(None).unwrap();
        labels.put(&fixture.pairs[1], judged(Verdict::Duplicate, Kind::Template)).unwrap();
        assert_eq!(
            fixture.content(),
            "{\"n\":1,\"a\":\"a1\",\"b\":\"b1\",\"label\":\"duplicate\",\"kind\":\"template\"}\n"
        );
        labels.put(&fixture.pairs[2], judged(Verdict::Not, Kind::Other)).unwrap();
        // Nobody closed it: as after a kill.
        std::mem::forget(labels);
        let labels = fixture.open(None).unwrap();
        assert_eq!(labels.of(1), judged(Verdict::Duplicate, Kind::Template));
        assert_eq!((labels.of(2), labels.of(0)), (judged(Verdict::Not, Kind::Other), None));
        assert_eq!(labels.note, None);
    }

    #[test]
    fn the_last_line_of_a_pair_counts() {
        let fixture = LabelsFixture::new("");
        let mut labels = fixture.open(None).unwrap();
        for verdict in [Verdict::Duplicate, Verdict::Unsure, Verdict::Not] {
            labels.put(&fixture.pairs[0], judged(verdict, Kind::Same)).unwrap();
        }
        labels.put(&fixture.pairs[3], judged(Verdict::Not, Kind::Same)).unwrap();
        labels.put(&fixture.pairs[3], None).unwrap();
        let again = fixture.open(None).unwrap();
        assert_eq!((again.of(0), again.of(3)), (judged(Verdict::Not, Kind::Same), None));
        assert_eq!(fixture.content().lines().count(), 5, "nothing is written over");
    }

    #[test]
    fn every_labeler_has_judgments_of_their_own() {
        let fixture = LabelsFixture::new("");
        fixture.open(None).unwrap().put(&fixture.pairs[0], judged(Verdict::Not, Kind::Same)).unwrap();
        fixture
            .open(Some("ann"))
            .unwrap()
            .put(&fixture.pairs[0], judged(Verdict::Duplicate, Kind::Same))
            .unwrap();
        let labels = fixture.open(Some("bob")).unwrap();
        assert_eq!(labels.of(0), None);
        assert_eq!(labels.labelers(), [None, Some("ann")]);
        assert_eq!(labels.judgment_by(Some("ann"), 0), judged(Verdict::Duplicate, Kind::Same));
        assert!(fixture.content().contains("\"by\":\"ann\""));
    }

    #[test]
    fn a_line_that_a_kill_cut_off_is_dropped_wherever_it_was_cut() {
        let fixture = LabelsFixture::new("");
        let mut labels = fixture.open(None).unwrap();
        labels.put(&fixture.pairs[0], judged(Verdict::Duplicate, Kind::Url)).unwrap();
        let first = fixture.content().len();
        labels.put(&fixture.pairs[1], judged(Verdict::Not, Kind::Order)).unwrap();
        let whole = fixture.content();
        for cut in first + 1..whole.len() {
            std::fs::write(fixture.path(), &whole[..cut]).unwrap();
            let mut labels = fixture.open(None).unwrap();
            assert_eq!(labels.of(0), judged(Verdict::Duplicate, Kind::Url));
            // All but its end is enough.
            let kept = cut == whole.len() - 1;
            assert_eq!((labels.of(1).is_some(), labels.note.is_some()), (kept, !kept), "{cut}");
            labels.put(&fixture.pairs[2], judged(Verdict::Unsure, Kind::Other)).unwrap();
            let again = fixture.open(None).unwrap();
            assert_eq!(
                (again.of(2), again.note.clone()),
                (judged(Verdict::Unsure, Kind::Other), None),
                "{cut}"
            );
        }
    }

    #[test]
    fn to_look_changes_nothing() {
        let fixture =
            LabelsFixture::new("{\"n\":0,\"a\":\"a0\",\"b\":\"b0\",\"label\":\"not\"}\n{\"n\":1,\"a\"");
        let labels = Labels::read(&fixture.path(), (Path::new("r"), &fixture.pairs), None).unwrap();
        assert!(labels.note.as_ref().is_some_and(|note| note.contains("in the middle of line 2")));
        assert_eq!(labels.of(0), Some(Judgment { verdict: Verdict::Not, kind: None }));
        assert!(fixture.content().ends_with("{\"n\":1,\"a\""));
    }

    #[test]
    fn labels_of_another_review_are_refused() {
        let foreign = |line: &str| LabelsFixture::new(line).open(None).unwrap_err();
        assert_eq!(
            foreign("{\"n\":0,\"a\":\"x\",\"b\":\"y\",\"label\":\"not\",\"kind\":\"other\"}\n"),
            "LABELS, line 1 judges \"x\" and \"y\" as number 0, which in review.jsonl is \"a0\" and \"b0\": these are \
             labels of another review; give --labels another file"
        );
        assert!(
            foreign("{\"n\":9,\"a\":\"x\",\"b\":\"y\",\"label\":null}\n")
                .contains("is no pair: these are labels")
        );
    }

    #[test]
    fn lines_that_are_no_labels_are_named() {
        let wrong = LabelsFixture::new("{\"n\":0,\"a\":\"a0\",\"b\":\"b0\"}\n").open(None).unwrap_err();
        assert_eq!(wrong, "LABELS, line 1 is no label: missing field `label`; mend it or take it out");
        let good = "{\"n\":0,\"a\":\"a0\",\"b\":\"b0\",\"label\":\"not\"}\n";
        let wrong = LabelsFixture::new(&format!("{good}broken\n{good}")).open(None).unwrap_err();
        assert!(wrong.starts_with("LABELS, line 2 is no label: "), "{wrong}");
    }

    #[test]
    fn only_a_file_can_hold_labels() {
        let fixture = LabelsFixture::new("");
        let folder = Labels::open(fixture.folder.path(), (Path::new("r"), &fixture.pairs), None).unwrap_err();
        assert!(folder.to_string().ends_with(" is no file; give --labels another name"));
    }

    #[test]
    fn the_sample_itself_is_no_place_for_labels() {
        let fixture = LabelsFixture::new("");
        let path = fixture.path();
        assert!(matches!(Labels::open(&path, (&path, &fixture.pairs), None), Err(ReviewError::Same(_))));
    }
}
