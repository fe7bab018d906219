//! The record of all questions to an engine and their answers: JSON lines, only ever appended to.
//!
//! The first line names the engine ([`Header`]), every other one is an [`Entry`]. Memory holds only the offset of the line of each
//! question: about 60 bytes, and none of the texts. A line is written in one go and ends with a line feed, so that after a kill at
//! most the last one is torn; it is cut off. Anything else that cannot be read is damage, and is reported.

use std::collections::HashMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::engine::{EngineError, SearchEngine};
use crate::question::{Answer, Entry, Question};

/// Version of the format.
const VERSION: u32 = 1;

/// The first line of a transcript, which names its engine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// Version of the format.
    #[serde(rename = "lookalike-transcript")]
    pub version: u32,
    /// The engine's name.
    pub engine: String,
    /// Its kind.
    pub kind: String,
    /// The fingerprint that tells it from others of that name and kind.
    #[serde(rename = "mark")]
    pub fingerprint: String,
    /// Most results that it shows.
    pub cap: usize,
    /// True if it can be asked for addresses.
    pub addresses: bool,
}

impl Header {
    /// Returns the header for an engine's record.
    pub fn of(engine: &impl SearchEngine) -> Self {
        Header {
            version: VERSION,
            engine: engine.name().to_owned(),
            kind: engine.kind().to_owned(),
            fingerprint: engine.fingerprint().to_owned(),
            cap: engine.cap(),
            addresses: engine.knows_addresses(),
        }
    }

    /// Returns the reason why a record that begins with `other` cannot be continued, if there is one.
    fn differs_from(&self, other: &Header) -> Option<String> {
        let fields = [
            ("engine", &self.engine, &other.engine),
            ("kind", &self.kind, &other.kind),
            ("mark", &self.fingerprint, &other.fingerprint),
            ("cap", &self.cap.to_string(), &other.cap.to_string()),
            ("addresses", &self.addresses.to_string(), &other.addresses.to_string()),
        ];
        let (what, mine, its) = fields.into_iter().find(|(_, mine, its)| mine != its)?;
        Some(format!(
            "is the record of another engine: its {what} is {its:?}, not {mine:?}; name another file"
        ))
    }
}

/// The position of a line in the file.
#[derive(Debug, Clone, Copy)]
struct Line {
    offset: u64,
    length: u32,
    /// True if this process has used it, or written it.
    used: bool,
}

/// The record of one engine.
#[derive(Debug)]
pub struct Transcript {
    file: File,
    /// The path of the file, for messages.
    name: String,
    header: Header,
    lines: HashMap<u128, Line>,
    /// Bytes of whole lines.
    end: u64,
}

/// A line that was found in the record.
#[derive(Debug)]
pub struct RecordedEntry {
    /// The question and its answer.
    pub entry: Entry,
    /// True if this process has not used it yet.
    pub unused: bool,
}

/// The part of a line that is read when a file is opened: the question, and the kind of its answer.
#[derive(Deserialize)]
struct EntryHead {
    ask: Question,
    answer: AnswerKind,
}

/// The kind of an answer; its contents are skipped.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum AnswerKind {
    Results(serde::de::IgnoredAny),
    Page(serde::de::IgnoredAny),
    Has(serde::de::IgnoredAny),
    Failed(serde::de::IgnoredAny),
}

impl Transcript {
    /// Continues the record in `path`, or begins it. A record of another engine is refused, and so is one that another process
    /// writes to. With `forget_failures`, questions that failed in earlier processes are as if never asked.
    pub fn open(path: &Path, header: Header, forget_failures: bool) -> Result<Self, EngineError> {
        let name = path.display().to_string();
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
        let file =
            file.map_err(|error| EngineError::broken(&name, format!("it cannot be opened: {error}")))?;
        lock(&file, &name)?;
        let mut transcript = Transcript { file, name, header, lines: HashMap::new(), end: 0 };
        let wanted = line_of(&transcript.header)?;
        match transcript.first_line()? {
            // Killed while the very first line was written, or new.
            FirstLine::Torn(bytes) if wanted.starts_with(&bytes) => transcript.begin(&wanted)?,
            FirstLine::Torn(_) => return Err(transcript.broken("is no transcript; name another file")),
            FirstLine::Header(header, length) => {
                if let Some(why) = transcript.header.differs_from(&header) {
                    return Err(transcript.broken(why));
                }
                transcript.end = length;
                transcript.scan(forget_failures)?;
                transcript.truncate_torn_line()?;
            }
        }
        Ok(transcript)
    }

    /// Creates a temporary record that is not kept.
    pub fn temporary(header: Header) -> Result<Self, EngineError> {
        let name = "a temporary transcript".to_owned();
        let file = tempfile::tempfile().map_err(|error| EngineError::broken(&name, error))?;
        let wanted = line_of(&header)?;
        let mut transcript = Transcript { file, name, header, lines: HashMap::new(), end: 0 };
        transcript.begin(&wanted)?;
        Ok(transcript)
    }

    /// Opens a record for reading only. A torn last line is skipped, and stays.
    pub fn read(path: &Path) -> Result<Self, EngineError> {
        let name = path.display().to_string();
        let file = File::open(path)
            .map_err(|error| EngineError::broken(&name, format!("it cannot be opened: {error}")))?;
        let header = Header {
            version: VERSION,
            engine: String::new(),
            kind: String::new(),
            fingerprint: String::new(),
            cap: 0,
            addresses: false,
        };
        let mut transcript = Transcript { file, name, header, lines: HashMap::new(), end: 0 };
        match transcript.first_line()? {
            FirstLine::Torn(_) => return Err(transcript.broken("is no transcript, or an empty one")),
            FirstLine::Header(header, length) => (transcript.header, transcript.end) = (header, length),
        }
        transcript.scan(false)?;
        Ok(transcript)
    }

    /// Returns the header, which names the engine.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Number of questions in it.
    pub fn questions(&self) -> usize {
        self.lines.len()
    }

    /// Finds the line of a question.
    pub fn find(&mut self, ask: &Question) -> Result<Option<RecordedEntry>, EngineError> {
        let Some(line) = self.lines.get(&ask.key()) else { return Ok(None) };
        let unused = !line.used;
        let mut bytes = vec![0; line.length as usize];
        let read =
            self.file.seek(SeekFrom::Start(line.offset)).and_then(|_| self.file.read_exact(&mut bytes));
        read.map_err(|error| self.broken(format!("cannot be read: {error}")))?;
        let entry: Entry = serde_json::from_slice(&bytes)
            .map_err(|error| self.broken(format!("has a damaged line: {error}")))?;
        // Should two questions ever have one key, the second one is not answered by the first.
        Ok((entry.ask == *ask).then_some(RecordedEntry { entry, unused }))
    }

    /// Notes that the line of a question was used.
    pub fn mark_used(&mut self, ask: &Question) {
        if let Some(line) = self.lines.get_mut(&ask.key()) {
            line.used = true;
        }
    }

    /// Adds a line; it counts as used.
    pub fn add(&mut self, entry: &Entry) -> Result<(), EngineError> {
        let bytes = line_of(entry)?;
        let length = u32::try_from(bytes.len())
            .map_err(|_| self.broken("would get a line of more than 4 GiB; fetch less"))?;
        self.write(&bytes)?;
        let line = Line { offset: self.end, length, used: true };
        self.lines.insert(entry.ask.key(), line);
        self.end += u64::from(length);
        Ok(())
    }

    fn broken(&self, why: impl std::fmt::Display) -> EngineError {
        EngineError::Broken { engine: self.header.engine.clone(), why: format!("{} {why}", self.name) }
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), EngineError> {
        let written = self.file.seek(SeekFrom::Start(self.end)).and_then(|_| self.file.write_all(bytes));
        written.map_err(|error| self.broken(format!("cannot be written: {error}")))
    }

    fn begin(&mut self, header: &[u8]) -> Result<(), EngineError> {
        self.end = 0;
        self.write(header)?;
        self.end = header.len() as u64;
        Ok(())
    }

    fn first_line(&mut self) -> Result<FirstLine, EngineError> {
        let mut bytes = Vec::new();
        let read = self.file.seek(SeekFrom::Start(0));
        // A header is short; a file of anything else is not read whole to find that out.
        let read = read
            .and_then(|_| BufReader::new(&self.file).take(1 << 20).read_until(b'\n', &mut bytes).map(|_| ()));
        read.map_err(|error| self.broken(format!("cannot be read: {error}")))?;
        if bytes.last() != Some(&b'\n') {
            return Ok(FirstLine::Torn(bytes));
        }
        let header: Header = serde_json::from_slice(&bytes).map_err(|error| {
            self.broken(format!("is no transcript of this version ({error}); name another file"))
        })?;
        match header.version {
            VERSION => Ok(FirstLine::Header(header, bytes.len() as u64)),
            other => Err(self.broken(format!("is a transcript of version {other}, not {VERSION}"))),
        }
    }

    /// Finds the lines behind the header, up to the last whole one.
    fn scan(&mut self, forget_failures: bool) -> Result<(), EngineError> {
        let mut reader = BufReader::with_capacity(1 << 16, &self.file);
        let (mut bytes, mut number) = (Vec::new(), 1u64);
        let (mut lines, mut end) = (HashMap::new(), self.end);
        let start = reader.seek(SeekFrom::Start(end));
        start.map_err(|error| self.broken(format!("cannot be read: {error}")))?;
        loop {
            bytes.clear();
            let read = reader.read_until(b'\n', &mut bytes);
            read.map_err(|error| self.broken(format!("cannot be read: {error}")))?;
            if bytes.last() != Some(&b'\n') {
                break;
            }
            number += 1;
            let head: EntryHead = serde_json::from_slice(&bytes).map_err(|error| {
                self.broken(format!("is damaged in line {number} ({error}); remove that line or begin anew"))
            })?;
            let line = Line { offset: end, length: bytes.len() as u32, used: false };
            match head.answer {
                AnswerKind::Failed(_) if forget_failures => lines.remove(&head.ask.key()),
                _ => lines.insert(head.ask.key(), line),
            };
            end += bytes.len() as u64;
        }
        (self.lines, self.end) = (lines, end);
        Ok(())
    }

    /// Cuts off a torn last line.
    fn truncate_torn_line(&mut self) -> Result<(), EngineError> {
        let cut = self.file.set_len(self.end);
        cut.map_err(|error| self.broken(format!("cannot be written: {error}")))
    }
}

/// The first line of a file.
enum FirstLine {
    /// No whole line.
    Torn(Vec<u8>),
    /// A header and its length in bytes.
    Header(Header, u64),
}

fn lock(file: &File, name: &str) -> Result<(), EngineError> {
    match file.try_lock() {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => {
            Err(EngineError::broken(name, "another process writes to it; wait for its end"))
        }
        Err(TryLockError::Error(error)) => {
            Err(EngineError::broken(name, format!("it cannot be locked: {error}")))
        }
    }
}

fn line_of(value: &impl Serialize) -> Result<Vec<u8>, EngineError> {
    let bytes = serde_json::to_vec(value);
    let mut bytes = bytes.map_err(|error| EngineError::broken("a transcript", error))?;
    bytes.push(b'\n');
    Ok(bytes)
}

impl Answer {
    /// Returns the reason of a failure.
    pub(crate) fn failure(&self) -> Option<&str> {
        match self {
            Answer::Failed(why) => Some(why),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{FetchedPage, Query, Results};

    fn header() -> Header {
        Header {
            version: VERSION,
            engine: "e".to_owned(),
            kind: "test".to_owned(),
            fingerprint: String::new(),
            cap: 10,
            addresses: false,
        }
    }

    fn search(word: &str) -> Entry {
        let urls = vec![format!("u/{word}")];
        Entry {
            ask: Question::Search { query: Query::all([word]), limit: 10 },
            tries: 1,
            answer: Answer::Results(Results { urls, more: false, claimed: Some(1) }),
            again: None,
        }
    }

    fn page(url: &str, text: &str) -> Entry {
        let answer = Answer::Page(Some(FetchedPage { url: url.to_owned(), text: text.to_owned() }));
        Entry { ask: Question::Fetch { url: url.to_owned() }, tries: 2, answer, again: None }
    }

    fn failed(url: &str) -> Entry {
        Entry { answer: Answer::Failed("time-out".to_owned()), ..page(url, "") }
    }

    fn found(transcript: &mut Transcript, entry: &Entry) -> Option<(Entry, bool)> {
        transcript.find(&entry.ask).unwrap().map(|found| (found.entry, found.unused))
    }

    #[test]
    fn what_was_written_is_found_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.jsonl");
        let entries = [search("a"), page("u/a", "line\nfeed \"ü\" \u{0}"), failed("u/b")];
        {
            let mut transcript = Transcript::open(&path, header(), false).unwrap();
            for entry in &entries {
                assert_eq!(found(&mut transcript, entry), None);
                transcript.add(entry).unwrap();
                assert_eq!(found(&mut transcript, entry), Some((entry.clone(), false)));
            }
        }
        let mut transcript = Transcript::open(&path, header(), false).unwrap();
        assert_eq!(transcript.questions(), 3);
        for entry in &entries {
            assert_eq!(found(&mut transcript, entry), Some((entry.clone(), true)));
            transcript.mark_used(&entry.ask);
            assert_eq!(found(&mut transcript, entry), Some((entry.clone(), false)));
        }
        drop(transcript);
        let mut forgetful = Transcript::open(&path, header(), true).unwrap();
        assert_eq!(found(&mut forgetful, &entries[2]), None);
        assert_eq!(forgetful.questions(), 2);
    }

    #[test]
    fn any_torn_last_line_is_cut_off_and_the_rest_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.jsonl");
        let mut transcript = Transcript::open(&path, header(), false).unwrap();
        transcript.add(&search("a")).unwrap();
        let whole = transcript.end;
        transcript.add(&search("b")).unwrap();
        drop(transcript);
        let bytes = std::fs::read(&path).unwrap();
        for torn in 0..bytes.len() as u64 {
            std::fs::write(&path, &bytes[..torn as usize]).unwrap();
            let mut transcript = Transcript::open(&path, header(), false).unwrap();
            assert_eq!(found(&mut transcript, &search("a")).is_some(), torn >= whole, "{torn}");
            assert_eq!(found(&mut transcript, &search("b")), None);
            transcript.add(&search("a")).unwrap();
            transcript.add(&search("b")).unwrap();
            drop(transcript);
            let mut again = Transcript::read(&path).unwrap();
            assert!(found(&mut again, &search("b")).is_some() && again.questions() == 2, "{torn}");
        }
    }

    #[test]
    fn a_reader_leaves_a_torn_line_where_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.jsonl");
        Transcript::open(&path, header(), false).unwrap().add(&search("a")).unwrap();
        let mut bytes = std::fs::read(&path).unwrap();
        bytes.extend_from_slice(b"{\"ask\":");
        std::fs::write(&path, &bytes).unwrap();
        assert_eq!(Transcript::read(&path).unwrap().questions(), 1);
        assert_eq!(std::fs::read(&path).unwrap(), bytes);
    }

    #[test]
    fn damage_and_other_files_are_refused_and_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.jsonl");
        drop(Transcript::open(&path, header(), false).unwrap());
        let mut damaged = std::fs::read(&path).unwrap();
        damaged.extend_from_slice(b"{\"ask\":1}\n");
        for (bytes, why) in [
            (&damaged[..], "damaged in line 2"),
            (b"dear diary", "no transcript"),
            (b"dear diary\n", "no transcript"),
        ] {
            std::fs::write(&path, bytes).unwrap();
            let error = Transcript::open(&path, header(), false).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
            assert_eq!(std::fs::read(&path).unwrap(), bytes);
        }
    }

    #[test]
    fn another_engine_and_a_second_process_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.jsonl");
        let held = Transcript::open(&path, header(), false).unwrap();
        let error = Transcript::open(&path, header(), false).unwrap_err().to_string();
        assert!(error.contains("another process"), "{error}");
        drop(held);
        let others = [
            (Header { engine: "f".to_owned(), ..header() }, "engine is \"e\", not \"f\""),
            (Header { fingerprint: "1".to_owned(), ..header() }, "mark is \"\", not \"1\""),
            (Header { cap: 11, ..header() }, "cap is \"10\", not \"11\""),
        ];
        for (other, why) in others {
            let error = Transcript::open(&path, other, false).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
    }
}
