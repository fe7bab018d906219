//! Streams of JSON lines.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;

use lookalike_service::Settings;
use serde_json::{Value, json};

use super::support::{Server, index, text};

const LINES: [(&str, &str); 1] = [("Content-Type", "application/x-ndjson")];

fn lines(body: &str) -> Vec<Value> {
    body.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A stream that is written to and read from by turns.
struct OpenStream {
    stream: TcpStream,
    answers: BufReader<TcpStream>,
}

impl OpenStream {
    fn begin(server: &Server, path: &str) -> Self {
        let mut stream = server.connect();
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).unwrap();
        let mut answers = BufReader::new(stream.try_clone().unwrap());
        let mut line = String::new();
        while line != "\r\n" {
            line.clear();
            answers.read_line(&mut line).unwrap();
        }
        OpenStream { stream, answers }
    }

    fn send(&mut self, text: &str) {
        self.stream.write_all(format!("{:x}\r\n{text}\r\n", text.len()).as_bytes()).unwrap();
    }

    /// The next line that is no length of a chunk.
    fn receive(&mut self) -> Value {
        loop {
            let mut line = String::new();
            assert!(self.answers.read_line(&mut line).unwrap() > 0, "the answers ended");
            if line.starts_with('{') {
                return serde_json::from_str(&line).unwrap();
            }
        }
    }
}

#[test]
fn each_line_is_answered_before_the_next_has_come() {
    let folder = index();
    let server = Server::start(folder.path(), Settings::default());
    let mut stream = OpenStream::begin(&server, "/v1/documents");
    for number in 0..3 {
        stream.send(&format!("{}\n", json!({"id": format!("d{number}"), "text": text(number, 0)})));
        let answer = stream.receive();
        assert_eq!((&answer["id"], &answer["new"]), (&json!(format!("d{number}")), &json!(true)));
        // Acknowledged is there, for others too.
        server.get(&format!("/v1/documents/d{number}")).has(200);
    }
    // A line may come in pieces.
    let line = json!({"id": "near", "text": text(1, 1)}).to_string();
    stream.send(&line[..20]);
    stream.send(&line[20..]);
    stream.send("\n");
    assert_eq!(stream.receive()["witness"]["id"], "d1");
}

#[test]
fn bad_lines_have_answers_too_and_the_stream_goes_on() {
    let folder = index();
    let server = Server::start(folder.path(), Settings::default());
    let body = [
        json!({"id": "a", "text": text(1, 0)}).to_string(),
        "{no json".to_owned(),
        String::new(),
        json!({"id": "b", "text": 7}).to_string(),
        json!({"documents": []}).to_string(),
        json!({"id": "a", "text": text(2, 0)}).to_string(),
        // Without a line end behind it.
        json!({"id": "c", "text": text(1, 0)}).to_string(),
    ];
    let answer = server.request("POST", "/v1/documents", &LINES, body.join("\n").as_bytes()).has(200);
    assert_eq!(answer.header("content-type"), Some("application/x-ndjson"));
    let answers = lines(&answer.body);
    assert_eq!(answers.len(), 6);
    assert_eq!(answers[0]["new"], true);
    assert_eq!(answers[1]["line"], 2);
    assert!(answers[1]["error"].as_str().unwrap().contains("no JSON"));
    assert!(answers[2]["error"].as_str().unwrap().starts_with("text: "));
    assert!(answers[3]["error"].as_str().unwrap().starts_with("documents: "));
    assert!(answers[4]["error"].as_str().unwrap().contains("other words"));
    assert_eq!(answers[5]["witness"]["id"], "a");
}

#[test]
fn many_lines_have_as_many_answers_in_order() {
    let folder = index();
    let server = Server::start(folder.path(), Settings { max_body: 8192, ..Settings::default() });
    let body: String = (0..1000)
        .map(|n| format!("{}\n", json!({"id": format!("d{n}"), "text": text(n % 300, 0)})))
        .collect();
    let answers = lines(&server.request("POST", "/v1/documents", &LINES, body.as_bytes()).has(200).body);
    let ids: Vec<&str> = answers.iter().map(|answer| answer["id"].as_str().unwrap()).collect();
    assert_eq!(ids, (0..1000).map(|n| format!("d{n}")).collect::<Vec<_>>());
    assert_eq!(answers.iter().filter(|answer| answer["new"] == true).count(), 300);
    let questions: String =
        (0..300).map(|n| format!("{}\n", json!({"text": text(n, 0), "limit": 2}))).collect();
    let answers = lines(&server.request("POST", "/v1/query", &LINES, questions.as_bytes()).has(200).body);
    assert!(answers.iter().all(
        |answer| answer["matches"].as_array().unwrap().len() == 2 && answer["total"].as_u64() >= Some(3)
    ));
}

#[test]
fn a_line_that_is_too_long_ends_the_stream() {
    let folder = index();
    let server = Server::start(folder.path(), Settings { max_body: 1000, ..Settings::default() });
    let body = format!("{}\n{}", json!({"text": "x"}), "y".repeat(500_000));
    let answers = lines(&server.request("POST", "/v1/query", &LINES, body.as_bytes()).has(200).body);
    assert_eq!(answers[0]["total"], 0);
    assert!(answers[1]["error"].as_str().unwrap().contains("longer than 1000 bytes"), "{answers:?}");
}

#[test]
fn a_stream_is_told_when_the_service_ends() {
    let folder = index();
    let server = Server::start(folder.path(), Settings::default());
    let mut stream = OpenStream::begin(&server, "/v1/documents");
    stream.send(&format!("{}\n", json!({"id": "a", "text": text(1, 0)})));
    assert_eq!(stream.receive()["new"], true);
    server.ask_to_end();
    assert_eq!(stream.receive()["error"], "the service is stopping");
    server.end().unwrap();
    Server::start(folder.path(), Settings::default()).get("/v1/documents/a").has(200);
}
