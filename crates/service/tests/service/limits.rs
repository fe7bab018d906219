//! Limits: requests that are too large, too long or too slow are refused, and nothing a client does makes the service fail.

use std::io::Write;
use std::net::TcpStream;
use std::time::Duration;

use lookalike_service::Settings;
use serde_json::json;

use super::support::{Answer, Server, index, read_answer, request, text};

#[test]
fn what_is_too_large_answers_413() {
    let folder = index();
    let server =
        Server::start(folder.path(), Settings { max_body: 10_000, max_documents: 3, ..Settings::default() });
    let long = json!({"text": "x".repeat(20_000)});
    assert!(server.post("/v1/query", &long).has(413).error().contains("10000 bytes"));
    // Without a length, in pieces.
    let mut body = b"POST /v1/query HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
    for _ in 0..30 {
        body.extend_from_slice(format!("400\r\n{}\r\n", " ".repeat(1024)).as_bytes());
    }
    body.extend_from_slice(b"0\r\n\r\n");
    server.send(&body).has(413);
    let four = json!({"documents": [{"text": "a"}, {"text": "b"}, {"text": "c"}, {"text": "d"}]});
    assert!(server.post("/v1/query", &four).has(413).error().contains("more than 3 documents"));
    let figures = server.get("/metrics").body;
    assert!(figures.contains("lookalike_refused_total{limit=\"body\"} 2"), "{figures}");
    assert!(figures.contains("lookalike_refused_total{limit=\"documents\"} 1"), "{figures}");
}

#[test]
fn a_slow_body_answers_408() {
    let folder = index();
    let timeout = Duration::from_millis(300);
    let server = Server::start(folder.path(), Settings { timeout, ..Settings::default() });
    let mut stream = server.connect();
    let head = "POST /v1/query HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n";
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(b"{\"text\":").unwrap();
    let answer = read_answer(&mut stream).has(408);
    assert!(answer.error().contains("within 0.3 seconds"));
    server.get("/readyz").has(200);
}

#[test]
fn a_head_that_never_ends_is_cut_off() {
    use std::io::Read;
    let folder = index();
    let timeout = Duration::from_millis(300);
    let server = Server::start(folder.path(), Settings { timeout, ..Settings::default() });
    let mut stream = server.connect();
    stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: loc").unwrap();
    let mut rest = Vec::new();
    // Closed by the server, with or without a word; a read that ends in time is what counts.
    stream.read_to_end(&mut rest).unwrap();
    server.get("/healthz").has(200);
}

#[test]
fn slow_senders_take_no_place_from_others() {
    let folder = index();
    let server = Server::start(folder.path(), Settings { concurrency: 1, ..Settings::default() });
    let mut slow = server.connect();
    let head = "POST /v1/query HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{";
    slow.write_all(head.as_bytes()).unwrap();
    server.post("/v1/query", &json!({"text": "x"})).has(200);
}

/// Lets another client take the last slot, and asks for it until that is refused. The asking client may have been first: then it is
/// tried again.
fn until_refused(server: &Server, begin: &[u8], ask: impl Fn() -> Answer) -> (TcpStream, Answer) {
    for _ in 0..100 {
        let mut holder = server.connect();
        holder.write_all(begin).unwrap();
        if let Some(refused) = (0..100).map(|_| ask()).find(|answer| answer.status == 429) {
            return (holder, refused);
        }
    }
    panic!("the last place was never taken");
}

#[test]
fn more_than_can_be_worked_on_answers_429() {
    let folder = index();
    let server = Server::start(folder.path(), Settings { concurrency: 1, ..Settings::default() });
    // Whoever has sent more than a little holds the one slot until all has come.
    let body = json!({"text": "x".repeat(200_000)}).to_string();
    let whole = request(
        server.address,
        "POST",
        "/v1/query",
        &[("Content-Type", "application/json")],
        body.as_bytes(),
    );
    let (mut holder, refused) =
        until_refused(&server, &whole[..whole.len() - 10], || server.get("/v1/clusters"));
    assert_eq!(refused.header("retry-after"), Some("1"));
    assert!(refused.error().contains("try again later"));
    // Whoever watches gets through.
    server.get("/healthz").has(200);
    assert!(server.get("/metrics").has(200).body.contains("lookalike_refused_total{limit=\"concurrency\"}"));
    holder.write_all(&whole[whole.len() - 10..]).unwrap();
    read_answer(&mut holder).has(200);
    server.get("/v1/clusters").has(200);
}

#[test]
fn streams_have_places_of_their_own() {
    let folder = index();
    let server = Server::start(folder.path(), Settings { concurrency: 2, ..Settings::default() });
    let head = "POST /v1/query HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n";
    let lines = [("Content-Type", "application/x-ndjson")];
    let (_open, refused) =
        until_refused(&server, head.as_bytes(), || server.request("POST", "/v1/query", &lines, b""));
    assert!(refused.error().contains("streams"));
    server.post("/v1/query", &json!({"text": "x"})).has(200);
}

#[test]
fn wrong_requests_have_their_answer() {
    let folder = index();
    let server = Server::start(folder.path(), Settings::default());
    let json = [("Content-Type", "application/json")];
    server.post_text("/v1/query", "{\"text\":").has(400);
    server.post_text("/v1/query", "{\"text\":5}").has(422);
    server.post_text("/v1/documents", "{\"text\":\"x\"}").has(422);
    server.request("POST", "/v1/query", &[], b"{\"text\":\"x\"}").has(415);
    server.request("POST", "/v1/query", &[("Content-Type", "text/plain")], b"x").has(415);
    server.request("POST", "/v1/query", &json, b"{\"text\":\"\xff\"}").has(400);
    server.get("/v1/clusters?count=0").has(422);
    server.get("/v1/clusters?count=x").has(422);
    server.get("/v1/clusters?sort=color").has(422);
    server.get("/v1/clusters?search=%ff").has(400);
    server.get("/v1/documents/%ff").has(400);
    server.get("/v1/documents/%00").has(422);
    server.get(&format!("/v1/documents/{}", "i".repeat(1025))).has(422);
    server.get("/v1/documents/../../../../etc/passwd").has(404);
    server.get("/v1/documents/..%2F..%2Fetc%2Fpasswd").has(404);
    server.get("/style.css/../../etc/passwd").has(404);
    server.get("/clusters/%2e%2e").has(404);
    server.get("/documents/-1").has(404);
    server.get("/documents/99999999999999999999").has(404);
    server.get("/compare?a=1").has(422);
    let wrong_method = server.request("PUT", "/v1/documents/a", &[], b"").has(405);
    assert!(wrong_method.error().contains("GET"));
    let allow = wrong_method.header("allow").unwrap().to_owned();
    assert!(allow.contains("get") && allow.contains("delete"), "{allow}");
    server.request("BREW", "/v1/stats", &[], b"").has(405);
    for broken in [&b"GET / HTTP/9\r\n\r\n"[..], b"\x16\x03\x01\x02\x00\x01\r\n\r\n", b"GET\r\n\r\n"] {
        let status = server.send(broken).status;
        assert!((400..500).contains(&status), "{status}");
    }
    let long = format!("GET /{} HTTP/1.1\r\nHost: localhost\r\n\r\n", "x".repeat(100_000));
    assert!((400..500).contains(&server.send(long.as_bytes()).status));
    server.get("/healthz").has(200);
}

/// Pieces that requests are made of, good and bad; every one of a bounded number of requests is a mixture of them.
#[test]
fn thousands_of_malformed_requests_make_nothing_fail() {
    let folder = index();
    let server = Server::start(folder.path(), Settings { max_body: 4096, ..Settings::default() });
    let mut state = 42u64;
    let mut pick = |all: &[&str]| -> String {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        all[(state >> 33) as usize % all.len()].to_owned()
    };
    let methods = ["GET", "POST", "DELETE", "PUT", "OPTIONS", "HEAD", "X"];
    let long = format!("/v1/documents/{}", "%41".repeat(2000));
    let paths = [
        "/v1/query",
        "/v1/documents",
        "/v1/documents/a",
        "/v1/documents/%",
        "/v1/documents/%zz%00",
        "/v1/clusters?count=-1",
        "/v1/clusters/x",
        "/v1/clusters?search=%22%3C",
        "/",
        "/compare?a=0&b=",
        "/ask",
        "/documents?id=%F0%9F%92%A9",
        "/login",
        "//",
        "/v1/documents?known=maybe",
        "/v1/clusters?offset=4294967295&count=1000",
        &long,
    ];
    let types = [
        "application/json",
        "application/x-ndjson",
        "application/x-www-form-urlencoded",
        "text/html",
        "",
        "a/b;;=",
    ];
    let bodies = [
        "",
        "{",
        "[]",
        "null",
        "{\"text\":\"x\"}",
        "{\"id\":\"a\",\"text\":\"x\"}",
        "{\"documents\":[{}]}",
        "{\"limit\":1e99}",
        "text=x&b=0",
        "\u{0}\u{1}",
        "{\"text\":\"\\ud800\"}",
        "{\"id\":\"\",\"html\":\"<\"}",
        "{\"text\":\"x\"}\n{\"text\":",
        "token=%",
        "[[[[[[[[[[",
    ];
    for _ in 0..2000 {
        let (method, path, media, body) = (pick(&methods), pick(&paths), pick(&types), pick(&bodies));
        let answer = server.request(&method, &path, &[("Content-Type", &media)], body.as_bytes());
        assert!((200..500).contains(&answer.status), "{method} {path} {media} {body}: {answer:?}");
    }
    server.post("/v1/query", &json!({"text": text(1, 0)})).has(200);
    server.get("/readyz").has(200);
}

#[test]
fn what_is_under_way_is_finished_when_the_service_ends() {
    let folder = index();
    let server = Server::start(folder.path(), Settings::default());
    let body = json!({"id": "late", "text": text(1, 0)}).to_string();
    let whole = request(
        server.address,
        "POST",
        "/v1/documents",
        &[("Content-Type", "application/json")],
        body.as_bytes(),
    );
    let mut stream = server.connect();
    stream.write_all(&whole[..whole.len() - 10]).unwrap();
    // It is known to be under way once another one was answered behind it.
    let figure = || server.get("/metrics").body.contains("lookalike_requests_in_flight 2");
    assert!((0..1000).any(|_| figure()), "two requests are there");
    server.ask_to_end();
    while std::net::TcpStream::connect(server.address).is_ok() {
        std::thread::yield_now();
    }
    stream.write_all(&whole[whole.len() - 10..]).unwrap();
    assert_eq!(read_answer(&mut stream).has(200).json()["new"], true);
    server.end().unwrap();
    let server = Server::start(folder.path(), Settings::default());
    server.get("/v1/documents/late").has(200);
}
