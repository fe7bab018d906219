//! A server in this process, a client that sends bytes as they are, and things to serve.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use lookalike::corpus::Corpus;
use lookalike::engine::recipe::Task;
use lookalike::engine::{Job, JobRecipe, Opened, Outputs, Settings as EngineSettings, Spool};
use lookalike::generate::Plan;
use lookalike::methods::{Setting, method};
use lookalike::walk::Watch;
use lookalike_index::{CreateOptions, Index};
use lookalike_service::{LogFormat, OpenOptions, ServiceError, Settings, Source, Tokens, listen, serve};
use serde_json::Value;
use tempfile::TempDir;

/// No answer takes longer, even on a busy machine.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(30);

pub(crate) const TOKEN: &str = "correct-horse-battery-staple";

/// A server, which ends when this is dropped.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Result<(), ServiceError>>>,
    /// The lines logged.
    pub(crate) log: Arc<Mutex<Vec<String>>>,
}

/// The answer to a request.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// In lower case.
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let start = format!("{name}: ");
        self.head.lines().find_map(|line| line.strip_prefix(start.as_str()))
    }

    #[track_caller]
    pub(crate) fn has(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{self:?}");
        self
    }

    /// The sentence of a refusal.
    #[track_caller]
    pub(crate) fn error(&self) -> String {
        self.json()["error"].as_str().unwrap_or_else(|| panic!("{self:?}")).to_owned()
    }
}

impl Server {
    pub(crate) fn start(folder: &Path, settings: Settings) -> Server {
        Server::start_with(folder, OpenOptions::default(), settings)
    }

    pub(crate) fn start_with(folder: &Path, options: OpenOptions, settings: Settings) -> Server {
        let log: Arc<Mutex<Vec<String>>> = Arc::default();
        let lines = log.clone();
        let log_sink = Arc::new(move |line: &str| lines.lock().unwrap().push(line.to_owned()));
        let settings = Settings { log: LogFormat::Json, log_sink, threads: 2, ..settings };
        let listener = listen("127.0.0.1:0".parse().unwrap(), &settings).unwrap();
        let address = listener.local_addr().unwrap();
        let source = Source::open(folder, options).unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let stop_flag = stop.clone();
        let thread = std::thread::spawn(move || serve(source, listener, settings, &stop_flag));
        Server { address, stop, thread: Some(thread), log }
    }

    /// Asks it to end, and does not wait.
    pub(crate) fn ask_to_end(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Ends it, and returns its result.
    pub(crate) fn end(mut self) -> Result<(), ServiceError> {
        self.ask_to_end();
        self.thread.take().expect("it runs").join().expect("it does not panic")
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).expect("the server is there");
        stream.set_read_timeout(Some(ANSWER_TIMEOUT)).unwrap();
        stream.set_write_timeout(Some(ANSWER_TIMEOUT)).unwrap();
        stream
    }

    /// Sends bytes as they are, and reads the whole answer.
    pub(crate) fn send(&self, request: &[u8]) -> Answer {
        let mut stream = self.connect();
        // A server that has seen enough may close the connection before all is sent.
        let _ = stream.write_all(request);
        read_answer(&mut stream)
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.request("GET", path, &[], b"")
    }

    pub(crate) fn request(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        self.send(&request(self.address, method, path, headers, body))
    }

    /// Sends JSON.
    pub(crate) fn post(&self, path: &str, body: &Value) -> Answer {
        self.post_text(path, &body.to_string())
    }

    pub(crate) fn post_text(&self, path: &str, body: &str) -> Answer {
        self.request("POST", path, &[("Content-Type", "application/json")], body.as_bytes())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.ask_to_end();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// The bytes of a request, after which the server closes the connection.
pub(crate) fn request(
    address: SocketAddr,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &[u8],
) -> Vec<u8> {
    let mut head = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
    if !headers.iter().any(|(name, _)| *name == "Host") {
        head.push_str(&format!("Host: {address}\r\n"));
    }
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    if method == "POST" || !body.is_empty() {
        head.push_str(&format!("Content-Length: {}\r\n", body.len()));
    }
    head.push_str("\r\n");
    [head.as_bytes(), body].concat()
}

pub(crate) fn read_answer(stream: &mut TcpStream) -> Answer {
    let mut bytes = Vec::new();
    // A connection that is reset behind the answer still has given it.
    let _ = stream.read_to_end(&mut bytes);
    answer_of(&bytes)
}

fn answer_of(bytes: &[u8]) -> Answer {
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n").expect("a head");
    let head = String::from_utf8(bytes[..end].to_vec()).expect("heads are text").to_lowercase();
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
    let body = &bytes[end + 4..];
    let body = if head.contains("transfer-encoding: chunked") { unchunked(body) } else { body.to_vec() };
    Answer { status, head, body: String::from_utf8(body).expect("answers are UTF-8") }
}

fn unchunked(mut bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    while let Some(end) = bytes.windows(2).position(|window| window == b"\r\n") {
        let length = usize::from_str_radix(std::str::from_utf8(&bytes[..end]).unwrap(), 16).unwrap();
        out.extend_from_slice(&bytes[end + 2..end + 2 + length]);
        bytes = &bytes[end + 4 + length..];
    }
    out
}

fn recipe() -> JobRecipe {
    let minhash = method("minhash", &Setting::default()).unwrap().recipe();
    JobRecipe { methods: vec![minhash], ..JobRecipe::simplest(Task::Dedup) }
}

fn engine_settings() -> EngineSettings {
    EngineSettings { threads: 2, memory: 512 << 20, spool: Spool::Auto }
}

/// A new index without documents.
pub(crate) fn index() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let options = CreateOptions {
        recipe: recipe(),
        text: true,
        lexicon: None,
        learn: None,
        settings: &engine_settings(),
    };
    Index::create(folder.path(), options, &Watch::default()).unwrap();
    folder
}

/// A text of its own, with `edits` words that differ from those of the same number without edits.
pub(crate) fn text(number: u64, edits: u64) -> String {
    let word = |place: u64| match place % 40 < edits {
        true => format!("edit{place}x{number}"),
        false => format!("word{}", (number + 1) * 1000 + place),
    };
    (0..200).map(word).collect::<Vec<_>>().join(" ")
}

/// A finished job in a folder, made by the engine from generated documents and some hostile ones.
pub(crate) struct FinishedJob {
    folder: TempDir,
}

impl FinishedJob {
    pub(crate) fn make() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let input = folder.path().join("input.jsonl");
        let mut lines = Vec::new();
        let plan = Plan { documents: 600, seed: 5 };
        lookalike::generate::write_jsonl(plan, &mut lines, &mut std::io::sink()).unwrap();
        for copy in 0..2 {
            let hostile = serde_json::json!({
                "id": format!("<b>&\"'{copy}"),
                "url": "https://example.org/?<i>",
                "text": format!("<script>alert(1)</script> {} number {copy}", text(77, 0)),
            });
            lines.extend_from_slice(format!("{hostile}\n").as_bytes());
        }
        std::fs::write(&input, lines).unwrap();
        let job = FinishedJob { folder };
        job.run(&input, &job.path());
        job
    }

    fn run(&self, input: &Path, output: &Path) {
        let recipe = recipe();
        let corpus = Corpus::open(&[input], recipe.read_options().unwrap()).unwrap();
        let job = Job {
            recipe,
            corpus,
            against: None,
            lexicon: None,
            settings: engine_settings(),
            outputs: Outputs::default(),
        };
        let Opened::Open(mut open) = job.open(output).unwrap() else { panic!("the job is finished") };
        let findings = open.run(&Watch::default()).unwrap();
        open.finish(&findings.summary).unwrap();
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("job")
    }

    pub(crate) fn input(&self) -> PathBuf {
        self.folder.path().join("input.jsonl")
    }
}

/// Tokens for tests.
pub(crate) fn tokens() -> Tokens {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tokens");
    std::fs::write(&file, format!("# for tests\n{TOKEN}\n")).unwrap();
    Tokens::read(&file).unwrap()
}
