//! A server on the loopback interface, for engines over HTTP: one thread, one connection at a time.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use lookalike_search_engines::{Query, SearchEngine};
use serde_json::json;

/// A request as it came.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    /// Path and query.
    pub(crate) target: String,
    /// Header lines.
    pub(crate) headers: Vec<String>,
}

impl Request {
    /// The decoded value of a parameter.
    pub(crate) fn parameter(&self, name: &str) -> String {
        let query = self.target.split_once('?').map_or("", |(_, query)| query);
        let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        pairs.filter(|(key, _)| *key == name).map(|(_, value)| decoded(value)).next().unwrap_or_default()
    }

    pub(crate) fn path(&self) -> &str {
        self.target.split('?').next().unwrap_or_default()
    }
}

fn decoded(value: &str) -> String {
    let bytes = value.as_bytes();
    let (mut out, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        if bytes[at] == b'%' {
            out.push(u8::from_str_radix(&value[at + 1..at + 3], 16).unwrap());
            at += 3;
        } else {
            out.push(bytes[at]);
            at += 1;
        }
    }
    String::from_utf8(out).unwrap()
}

/// The response of the server.
#[derive(Debug, Clone, Default)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Response {
    pub(crate) fn json(value: &serde_json::Value) -> Self {
        let headers = vec![("Content-Type".to_owned(), "application/json".to_owned())];
        Response { status: 200, headers, body: value.to_string().into_bytes() }
    }

    pub(crate) fn status(status: u16) -> Self {
        Response { status, ..Response::default() }
    }

    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }
}

/// A running server; ends when dropped.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    requests: Arc<Mutex<Vec<Request>>>,
    thread: Option<JoinHandle<()>>,
    stop: Arc<std::sync::atomic::AtomicBool>,
}

impl Server {
    /// Answers by this function.
    pub(crate) fn start(mut answer: impl FnMut(&Request) -> Response + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let stop = Arc::new(std::sync::atomic::AtomicBool::new(false));
        let (record, ended) = (requests.clone(), stop.clone());
        let thread = std::thread::spawn(move || {
            for connection in listener.incoming() {
                if ended.load(std::sync::atomic::Ordering::SeqCst) {
                    return;
                }
                if let Ok(connection) = connection {
                    serve(connection, &record, &mut answer);
                }
            }
        });
        Server { address, requests, thread: Some(thread), stop }
    }

    /// An engine behind HTTP: `/search?q=…&op=…&n=…`, `/page?u=…` as JSON, `/raw?u=…` as HTML, `/has?u=…`.
    pub(crate) fn for_engine(mut engine: Box<dyn SearchEngine>) -> Self {
        Server::start(move |request| served(&mut *engine, request))
    }

    /// Requests so far.
    pub(crate) fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }

    /// Writes a description of this server's engine; `more` goes into it as it is.
    pub(crate) fn describe(&self, folder: &Path, more: &str) -> PathBuf {
        let path = folder.join(format!("{}.toml", self.address.port()));
        std::fs::write(&path, more.replace("HOST", &self.address.to_string())).unwrap();
        path
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, std::sync::atomic::Ordering::SeqCst);
        // Wakes the thread that waits for a connection.
        let _ = TcpStream::connect(self.address);
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

fn serve(
    mut connection: TcpStream,
    record: &Mutex<Vec<Request>>,
    answer: &mut impl FnMut(&Request) -> Response,
) {
    let mut lines = BufReader::new(connection.try_clone().unwrap().take(1 << 20)).lines();
    let Some(Ok(first)) = lines.next() else { return };
    let headers = lines.map_while(Result::ok).take_while(|line| !line.is_empty()).collect();
    let target = first.split(' ').nth(1).unwrap_or_default().to_owned();
    let request = Request { target, headers };
    record.lock().unwrap().push(request.clone());
    let Response { status, headers, body } = answer(&request);
    let mut head = format!("HTTP/1.1 {status} X\r\nContent-Length: {}\r\nConnection: close\r\n", body.len());
    for (name, value) in headers {
        head += &format!("{name}: {value}\r\n");
    }
    // Whoever has hung up meanwhile needs no answer.
    let _ = connection.write_all(format!("{head}\r\n").as_bytes()).and_then(|()| connection.write_all(&body));
}

fn served(engine: &mut dyn SearchEngine, request: &Request) -> Response {
    let url = request.parameter("u");
    match request.path() {
        "/search" => {
            let words: Vec<String> = request.parameter("q").split('|').map(str::to_owned).collect();
            let query = if request.parameter("q").contains("~") {
                Query::any(request.parameter("q").split('~').map(str::to_owned))
            } else {
                Query::all(words)
            };
            let results = engine.search(&query, request.parameter("n").parse().unwrap()).unwrap();
            let found: Vec<_> = results.urls.iter().map(|url| json!({ "url": url })).collect();
            Response::json(&json!({"total": results.claimed, "more": results.more, "results": found}))
        }
        "/page" => match engine.fetch(&url).unwrap() {
            Some(page) => Response::json(&json!({"page": {"text": page.text}})),
            None => Response::status(404),
        },
        "/raw" => match engine.fetch(&url).unwrap() {
            Some(page) => {
                let text = page.text.replace('&', "&amp;").replace('<', "&lt;");
                let body = format!("<html><body><p>{text}</p></body></html>").into_bytes();
                Response { status: 200, headers: Vec::new(), body }
                    .with("Content-Type", "text/html; charset=utf-8")
            }
            None => Response::status(404),
        },
        "/has" => {
            let has = engine.has(&url).is_some_and(Result::unwrap);
            Response::json(&json!({ "known": has }))
        }
        _ => Response::status(404),
    }
}
