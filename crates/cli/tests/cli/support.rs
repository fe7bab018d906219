//! Helpers: run the program within a time limit, make documents, read what it wrote.

use std::ffi::OsStr;
use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

/// No single run takes longer, even on a busy machine.
const LIMIT: Duration = Duration::from_secs(60);

/// The program with arguments, ready to run.
pub(crate) fn lookalike<A: AsRef<OsStr>>(arguments: impl IntoIterator<Item = A>) -> Invocation {
    program(env!("CARGO_BIN_EXE_lookalike"), arguments)
}

/// Any program with arguments, ready to run.
pub(crate) fn program<A: AsRef<OsStr>>(
    program: impl AsRef<OsStr>,
    arguments: impl IntoIterator<Item = A>,
) -> Invocation {
    let mut command = Command::new(program);
    command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).stdin(Stdio::null());
    Invocation { command }
}

/// A line for the shell.
pub(crate) fn shell(line: &str) -> Invocation {
    program("sh", ["-c", line])
}

/// `lookalike corpus …` with words as in a shell.
pub(crate) fn corpus(words: &str) -> Invocation {
    lookalike(std::iter::once("corpus").chain(words.split_whitespace()))
}

pub(crate) struct Invocation {
    pub(crate) command: Command,
}

impl Invocation {
    /// Adds a path.
    pub(crate) fn path(mut self, path: impl AsRef<Path>) -> Self {
        self.command.arg(path.as_ref());
        self
    }

    /// Adds a word.
    pub(crate) fn arg(mut self, word: &str) -> Self {
        self.command.arg(word);
        self
    }

    /// Adds an option with a path.
    pub(crate) fn option(mut self, name: &str, path: impl AsRef<Path>) -> Self {
        self.command.arg(name).arg(path.as_ref());
        self
    }

    /// Runs in a folder.
    pub(crate) fn inside(mut self, folder: &Path) -> Self {
        self.command.current_dir(folder);
        self
    }

    /// With a variable in the environment.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self
    }

    pub(crate) fn run(self) -> RunOutput {
        self.start().end()
    }

    pub(crate) fn run_with(mut self, input: &[u8]) -> RunOutput {
        self.command.stdin(Stdio::piped());
        let mut running = self.start();
        // A program that has seen enough closes its input, which is no failure of the test.
        let _ = running.input().write_all(input);
        running.close_input();
        running.end()
    }

    /// Starts it with a standard input that stays open.
    pub(crate) fn start_open(mut self) -> Running {
        self.command.stdin(Stdio::piped());
        self.start()
    }

    pub(crate) fn start(mut self) -> Running {
        let mut child = loop {
            match self.command.spawn() {
                // A copy of the program is busy while another test, which forked as it was written, has not begun yet.
                Err(error) if error.kind() == std::io::ErrorKind::ExecutableFileBusy => {
                    std::thread::sleep(std::time::Duration::from_millis(5));
                }
                started => break started.expect("the program starts"),
            }
        };
        let (stdout, stderr) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
        let alive = watch(Pid::from_child(&child));
        Running {
            out: gather(stdout),
            err: gather(stderr),
            input: child.stdin.take(),
            child,
            seen: Vec::new(),
            answered: Vec::new(),
            _alive: alive,
        }
    }
}

/// Kills the process when the sender outlives the limit, so that nothing that waits for it waits for ever.
fn watch(process: Pid) -> Sender<()> {
    let (alive, ended) = mpsc::channel();
    std::thread::spawn(move || {
        if ended.recv_timeout(LIMIT) == Err(RecvTimeoutError::Timeout) {
            let _ = kill_process(process, Signal::KILL);
        }
    });
    alive
}

/// Reads to the end on a thread of its own and hands on piece by piece.
fn gather(mut from: impl Read + Send + 'static) -> Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut buffer = [0; 8 << 10];
        while let Ok(length @ 1..) = from.read(&mut buffer) {
            if sender.send(buffer[..length].to_vec()).is_err() {
                return;
            }
        }
    });
    receiver
}

/// The program at work. It is killed when the test gives up on it.
pub(crate) struct Running {
    child: Child,
    input: Option<ChildStdin>,
    out: Receiver<Vec<u8>>,
    err: Receiver<Vec<u8>>,
    seen: Vec<u8>,
    answered: Vec<u8>,
    /// Dropped with the rest, which tells that all is well.
    _alive: Sender<()>,
}

impl Running {
    pub(crate) fn input(&mut self) -> &mut ChildStdin {
        self.input.as_mut().expect("the input is open")
    }

    pub(crate) fn close_input(&mut self) {
        self.input = None;
    }

    pub(crate) fn signal(&self, signal: Signal) {
        let pid = Pid::from_child(&self.child);
        kill_process(pid, signal).expect("the process is there");
    }

    /// Waits until the program has said something on standard error.
    pub(crate) fn wait_for_words(&mut self) {
        self.seen.extend(self.err.recv_timeout(LIMIT).expect("the program speaks in time"));
    }

    /// Waits until standard error has a whole line with these words in it, and returns that line.
    pub(crate) fn wait_for_line(&mut self, words: &str) -> String {
        loop {
            let said = String::from_utf8_lossy(&self.seen).into_owned();
            let whole = said.split_inclusive('\n').filter(|line| line.ends_with('\n'));
            if let Some(line) = whole.into_iter().find(|line| line.contains(words)) {
                return line.trim_end().to_owned();
            }
            self.wait_for_words();
        }
    }

    /// Waits for a whole line on standard output, and takes it.
    pub(crate) fn next_line(&mut self) -> String {
        loop {
            if let Some(end) = self.answered.iter().position(|&byte| byte == b'\n') {
                let line = self.answered.drain(..=end).collect();
                return utf8(line).trim_end().to_owned();
            }
            self.answered.extend(self.out.recv_timeout(LIMIT).expect("the program answers in time"));
        }
    }

    /// Waits until standard output has a whole line with these words in it, and returns that line. What stood before it is lost.
    pub(crate) fn wait_for_output(&mut self, words: &str) -> String {
        loop {
            let line = self.next_line();
            if line.contains(words) {
                return line;
            }
        }
    }

    /// The largest resident set so far, in bytes.
    pub(crate) fn peak_memory(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).expect("it still runs");
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("Linux tells");
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() << 10
    }

    /// Waits for the end, within the limit of every run.
    pub(crate) fn end(self) -> RunOutput {
        self.end_within(LIMIT)
    }

    /// Waits for the end, and fails when it does not come in time.
    pub(crate) fn end_within(mut self, limit: Duration) -> RunOutput {
        let deadline = Instant::now() + limit;
        let seen = std::mem::take(&mut self.seen);
        let answered = std::mem::take(&mut self.answered);
        let stdout = drain(&self.out, deadline, answered);
        let stderr = drain(&self.err, deadline, seen);
        let (Some(stdout), Some(stderr)) = (stdout, stderr) else {
            panic!("the program did not end within {limit:?}");
        };
        let status = self.child.wait().expect("it can be waited for");
        RunOutput { code: status.code(), stdout: utf8(stdout), stderr: utf8(stderr) }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Without effect on a process that was waited for.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Everything until the other side closes; nothing when that does not happen in time.
fn drain(from: &Receiver<Vec<u8>>, deadline: Instant, mut all: Vec<u8>) -> Option<Vec<u8>> {
    loop {
        match from.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(piece) => all.extend(piece),
            Err(RecvTimeoutError::Disconnected) => return Some(all),
            Err(RecvTimeoutError::Timeout) => return None,
        }
    }
}

fn utf8(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).expect("what is printed is UTF-8")
}

/// A run that has ended.
#[derive(Debug)]
pub(crate) struct RunOutput {
    /// Nothing when a signal ended it.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl RunOutput {
    /// Asserts the exit code.
    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> RunOutput {
        assert_eq!(self.code, Some(code), "{self:#?}");
        self
    }

    /// Asserts that it ended with `code` and told why in one line.
    #[track_caller]
    pub(crate) fn fails(self, code: i32, sentence: &str) -> RunOutput {
        let done = self.exits(code);
        assert_eq!(done.stderr, format!("lookalike: {sentence}\n"));
        assert_eq!(done.stdout, "");
        done
    }

    /// Standard output as JSON, with the promise that every `--json` output keeps.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        let value: Value = serde_json::from_str(&self.stdout).expect("standard output is JSON");
        let number = |field: &str| value[field].as_u64().expect("a number");
        assert_eq!(number("documents"), number("accepted") + number("rejected"), "{value}");
        let reasons = value["rejected_by_reason"].as_object().expect("an object");
        assert_eq!(number("rejected"), reasons.values().map(|count| count.as_u64().unwrap()).sum::<u64>());
        value
    }
}

/// Runs `corpus stats --json` on `inputs`, which must succeed.
#[track_caller]
pub(crate) fn stats<P: AsRef<Path>>(inputs: impl IntoIterator<Item = P>) -> Value {
    inputs.into_iter().fold(corpus("stats --json"), Invocation::path).run().exits(0).json()
}

/// Asserts the documents, words and rejections of a summary.
#[track_caller]
pub(crate) fn assert_counts(summary: &Value, accepted: u64, words: u64, rejected: u64) {
    let found = ["accepted", "words", "rejected"].map(|field| summary[field].as_u64().unwrap());
    assert_eq!(found, [accepted, words, rejected], "{summary:#}");
}

/// A document as a test makes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Doc {
    pub(crate) id: String,
    pub(crate) url: Option<String>,
    pub(crate) text: String,
}

/// Documents of pseudo-random words; every third has no address. The same count gives the same documents.
pub(crate) fn documents(count: usize) -> Vec<Doc> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut word = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        format!("{:x}", state >> 24).replace(|c: char| c.is_ascii_digit(), "g")
    };
    let document = |number: usize| Doc {
        id: format!("doc-{number:05}"),
        url: (!number.is_multiple_of(3)).then(|| format!("https://site.example/{number}")),
        text: (0..WORDS).map(|_| word()).collect::<Vec<_>>().join(" "),
    };
    (0..count).map(document).collect()
}

/// Words in each of [`documents`].
pub(crate) const WORDS: usize = 20;

pub(crate) fn jsonl(documents: &[Doc]) -> Vec<u8> {
    let mut out = Vec::new();
    for Doc { id, url, text } in documents {
        let mut line = serde_json::json!({ "id": id, "text": text });
        if let Some(url) = url {
            line["url"] = url.as_str().into();
        }
        writeln!(out, "{line}").unwrap();
    }
    out
}

/// Reads documents back from JSON lines.
pub(crate) fn read_jsonl(path: &Path) -> Vec<Doc> {
    let document = |line: Value| Doc {
        id: line["id"].as_str().unwrap().to_owned(),
        url: line["url"].as_str().map(str::to_owned),
        text: line["text"].as_str().unwrap().to_owned(),
    };
    json_lines(path).into_iter().map(document).collect()
}

pub(crate) fn json_lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).expect("the file is there");
    text.lines().map(|line| serde_json::from_str(line).expect("every line is JSON")).collect()
}

pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub(crate) fn zstd(bytes: &[u8]) -> Vec<u8> {
    ::zstd::encode_all(bytes, 1).unwrap()
}

pub(crate) fn bzip2(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ::bzip2::write::BzEncoder::new(Vec::new(), ::bzip2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub(crate) fn xz(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = liblzma::write::XzEncoder::new(Vec::new(), 1);
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub(crate) fn lz4(bytes: &[u8]) -> Vec<u8> {
    use lz4_flex::frame::{BlockSize, FrameEncoder, FrameInfo};
    let info = FrameInfo::new().content_checksum(true).block_size(BlockSize::Max64KB);
    let mut encoder = FrameEncoder::with_frame_info(info, Vec::new());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// A folder of its own for one test.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Folder(TempDir::new().expect("a temporary folder"))
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn join(&self, name: impl AsRef<Path>) -> PathBuf {
        self.path().join(name)
    }

    /// Writes a file and returns its path.
    pub(crate) fn file(&self, name: impl AsRef<Path>, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    /// Names of everything in it, hidden files too.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}

/// Says that a test could not do its work here, and why.
#[expect(clippy::print_stderr, reason = "a skipped test says so")]
pub(crate) fn skipped(why: impl std::fmt::Display) {
    eprintln!("skipped: {why}");
}
