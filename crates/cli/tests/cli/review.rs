//! A person judges pairs on a page: real requests to the real program, and what is kept.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::process::Signal;
use serde_json::{Value, json};

use super::support::{Folder, Running, json_lines, lookalike};

/// No answer takes longer, even on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(20);

/// A sample of pairs that differ in a number, the third with a hostile id.
fn sample(folder: &Folder, count: u64) -> PathBuf {
    let pair = |n: u64| {
        let mut pair = json!({
            "n": n,
            "a": if n == 2 { "<script>alert(1)</script>".to_owned() } else { format!("a{n}") },
            "b": format!("b{n}"),
            "similarity": if n == 1 { Value::Null } else { json!(0.83) },
            "text_a": format!("Open until {n} May <b>&amp;"),
            "text_b": format!("Open until {} May <b>&amp;", n + 1),
        });
        if n != 1 {
            pair["methods"] = json!([["a4"], ["minhash"]][n as usize % 2]);
        }
        format!("{pair}\n")
    };
    folder.file("review.jsonl", (0..count).map(pair).collect::<String>())
}

/// The program at work, and its port.
struct Server {
    running: Running,
    port: u16,
}

impl Server {
    fn start(file: &Path, more: &[&str]) -> Self {
        let invocation = more.iter().fold(lookalike(["lab", "review"]).path(file), |all, word| all.arg(word));
        let mut running = invocation.start();
        let line = running.wait_for_line("http://127.0.0.1:");
        let port = line.split("127.0.0.1:").nth(1).and_then(|rest| rest.split('/').next());
        Server { running, port: port.and_then(|port| port.parse().ok()).expect("a port") }
    }

    fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Sends a request as it is, and returns the whole answer.
    fn send(&self, request: &str) -> Response {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("the server is there");
        stream.set_read_timeout(Some(TIMEOUT)).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).expect("an answer in time");
        let answer = String::from_utf8(answer).expect("answers are UTF-8");
        let (head, body) = answer.split_once("\r\n\r\n").expect("a head and a body");
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
        Response { status, head: head.to_lowercase(), body: body.to_owned() }
    }

    fn get(&self, path: &str) -> Response {
        self.send(&format!("GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", self.host()))
    }

    fn post_with(&self, path: &str, headers: &str, body: &str) -> Response {
        self.send(&format!(
            "POST {path} HTTP/1.1\r\nHost: {}\r\n{headers}Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
            self.host(),
            body.len()
        ))
    }

    /// Presses a button, and returns where that leads.
    #[track_caller]
    fn press(&self, at: usize, order: &str) -> String {
        let origin = format!("Origin: http://{}\r\n", self.host());
        let answer = self.post_with(&format!("/pair/{at}"), &origin, order);
        assert_eq!(answer.status, 303, "{}", answer.body);
        answer.location()
    }
}

struct Response {
    status: u16,
    head: String,
    body: String,
}

impl Response {
    fn location(&self) -> String {
        let line = self.head.lines().find_map(|line| line.strip_prefix("location: "));
        line.expect("a redirect says where to").to_owned()
    }
}

#[test]
fn pairs_are_judged_and_counted() {
    let folder = Folder::new();
    let file = sample(&folder, 4);
    let server = Server::start(&file, &["--json"]);
    assert_eq!(server.get("/").location(), "/pair/1");
    let page = server.get("/pair/1").body;
    assert!(page.contains("Pair 1 of 4") && page.contains("<del>0</del> <ins>1</ins>"), "{page}");
    assert!(page.contains("0 of 4 judged"));
    assert_eq!(server.press(1, "label=duplicate"), "/pair/1");
    assert_eq!(server.press(1, "kind=template"), "/pair/1");
    assert_eq!(server.press(1, "go=2"), "/pair/2");
    server.press(2, "onward=yes");
    assert_eq!(server.press(2, "label=not"), "/pair/3");
    assert_eq!(server.press(3, "label=unsure"), "/pair/4");
    assert_eq!(server.press(4, "label=not"), "/pair/4");
    assert_eq!(server.press(2, "undo=last"), "/pair/4");
    let page = server.get("/pair/3").body;
    assert!(page.contains("3 of 4 judged: 1 duplicate, 1 not, 1 unsure."), "{page}");
    assert!(page.contains("<strong>50.0 %</strong> (95 %: 0.09–0.91)"), "{page}");
    server.running.signal(Signal::INT);
    let done = server.running.end().exits(0);
    let summary: Value = serde_json::from_str(&done.stdout).unwrap();
    let labeler = &summary["labelers"][0];
    assert_eq!(
        (&summary["pairs"], &labeler["duplicate"], &labeler["not"], &labeler["unsure"]),
        (&json!(4), &json!(1), &json!(1), &json!(1))
    );
    assert_eq!(
        labeler["methods"],
        json!([
            {"name": "a4", "duplicate": 1, "not": 0, "unsure": 1, "share": 1.0, "interval": labeler["methods"][0]["interval"]},
        ])
    );
    // What was only computed is nobody's judgment.
    assert_eq!(
        (&labeler["kinds"][0]["name"], &labeler["kinds"][1]["name"]),
        (&json!("template"), &Value::Null)
    );
    let labels = json_lines(&folder.join("labels.jsonl"));
    assert_eq!(labels[0], json!({"n": 0, "a": "a0", "b": "b0", "label": "duplicate", "kind": null}));
    assert_eq!(labels.last().unwrap()["label"], Value::Null, "what was undone");
}

#[test]
fn a_killed_review_goes_on_where_it_was() {
    let folder = Folder::new();
    let file = sample(&folder, 4);
    let server = Server::start(&file, &[]);
    server.press(1, "label=duplicate");
    server.press(2, "label=not");
    server.running.signal(Signal::KILL);
    assert_eq!(server.running.end().code, None);
    let mut labels = std::fs::read(folder.join("labels.jsonl")).unwrap();
    labels.extend(b"{\"n\":2,\"a");
    std::fs::write(folder.join("labels.jsonl"), labels).unwrap();
    let mut server = Server::start(&file, &[]);
    server.running.wait_for_line("ends in the middle of line 3, which is dropped; judge that pair again");
    assert_eq!(server.get("/").location(), "/pair/3");
    server.press(3, "label=unsure");
    server.running.signal(Signal::INT);
    let done = server.running.end().exits(0);
    assert!(
        done.stdout.contains("Of 4 pairs 3 are judged: 1 duplicates, 1 not, 1 unsure."),
        "{}",
        done.stdout
    );
    let summary = lookalike(["lab", "review", "--summary"]).path(&file).run().exits(0);
    assert_eq!((summary.stdout, summary.stderr.as_str()), (done.stdout, ""));
}

#[test]
fn two_labelers_share_a_file() {
    let folder = Folder::new();
    let file = sample(&folder, 3);
    for (by, orders) in
        [("ann", ["label=duplicate", "label=not"]), ("bob", ["label=duplicate", "label=duplicate"])]
    {
        let server =
            Server::start(&file, &["--by", by, "--labels", folder.join("both.jsonl").to_str().unwrap()]);
        assert_eq!(server.get("/").location(), "/pair/1");
        server.press(1, orders[0]);
        server.press(2, orders[1]);
        server.running.signal(Signal::TERM);
        server.running.end().exits(0);
    }
    let both = lookalike(["lab", "review", "--summary", "--json"])
        .path(&file)
        .option("--labels", folder.join("both.jsonl"));
    let summary: Value = serde_json::from_str(&both.run().exits(0).stdout).unwrap();
    assert_eq!(summary["agreement"], json!({"pairs": 2, "alike": 1}));
    assert_eq!(
        (&summary["labelers"][1]["by"], &summary["labelers"][1]["duplicate"]),
        (&json!("bob"), &json!(2))
    );
}

#[test]
fn only_pages_of_the_server_are_served_and_obeyed() {
    let folder = Folder::new();
    let server = Server::start(&sample(&folder, 3), &[]);
    let port = server.port;
    let with_host =
        |host: &str| server.send(&format!("GET / HTTP/1.1\r\n{host}Connection: close\r\n\r\n")).status;
    assert_eq!(with_host(&format!("Host: localhost:{port}\r\n")), 303);
    for host in [
        "Host: evil.example\r\n".to_owned(),
        format!("Host: evil.example:{port}\r\n"),
        "Host: 127.0.0.1\r\n".to_owned(),
    ] {
        assert_eq!(with_host(&host), 403, "{host}");
    }
    for origin in ["http://evil.example", "null", "http://127.0.0.1:1", "https://127.0.0.1"] {
        let answer = server.post_with("/pair/1", &format!("Origin: {origin}\r\n"), "label=duplicate");
        assert_eq!(answer.status, 403, "{origin}");
    }
    let own = format!("Origin: http://127.0.0.1:{port}\r\n");
    assert_eq!(
        server.post_with("/pair/1", &format!("{own}Origin: http://evil.example\r\n"), "label=not").status,
        403
    );
    assert_eq!(server.post_with("/pair/1", &own, &"label=duplicate&".repeat(1000)).status, 413);
    for order in ["", "label=perhaps", "label", "\u{fffd}=1", "kind=%3Cscript%3E", "label=duplicate&x=1"] {
        assert_eq!(server.post_with("/pair/1", &own, order).status, 400, "{order}");
    }
    for path in ["/pair/0", "/pair/4", "/pair/x", "/pair/1/2", "/etc/passwd", "/pair/99999999999999999999"] {
        assert_eq!(server.get(path).status, 404, "{path}");
    }
    assert_eq!(
        server
            .send(&format!("DELETE /pair/1 HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n"))
            .status,
        405
    );
    assert_eq!(std::fs::read(folder.join("labels.jsonl")).unwrap(), b"", "nothing was judged");
}

#[test]
fn a_page_can_do_nothing_but_ask_the_server() {
    let folder = Folder::new();
    let server = Server::start(&sample(&folder, 3), &["--by", "\"><img src=x>"]);
    let (first, second) = (server.get("/pair/3"), server.get("/pair/3"));
    let policy = |answer: &Response| {
        let line = answer.head.lines().find_map(|line| line.strip_prefix("content-security-policy: "));
        line.expect("a policy").to_owned()
    };
    let nonce = policy(&first)
        .split("script-src 'nonce-")
        .nth(1)
        .and_then(|rest| rest.split('\'').next())
        .unwrap()
        .to_owned();
    let expected = format!(
        "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; connect-src 'self'; \
         form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    );
    assert_eq!(policy(&first), expected);
    assert_ne!(policy(&first), policy(&second), "a new word for every page");
    assert_eq!(first.body.matches(&format!("<script nonce=\"{nonce}\">")).count(), 1);
    assert_eq!(first.body.matches("<script").count(), 1, "ids and texts are escaped");
    assert!(!first.body.contains("<img") && first.body.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
    for header in
        ["x-content-type-options: nosniff", "cache-control: no-store", "referrer-policy: same-origin"]
    {
        assert!(first.head.contains(header), "{header}");
    }
}

#[test]
fn what_cannot_be_reviewed_is_said() {
    let folder = Folder::new();
    let review = |words: &[&str]| {
        let done = words.iter().fold(lookalike(["lab", "review"]), |all, word| all.arg(word));
        done.inside(folder.path()).run()
    };
    review(&["gone.jsonl"]).fails(1, "gone.jsonl cannot be read: No such file or directory (os error 2)");
    folder.file("empty.jsonl", "\n");
    review(&["empty.jsonl"]).fails(1, "empty.jsonl holds no pairs");
    sample(&folder, 2);
    let good = std::fs::read_to_string(folder.join("review.jsonl")).unwrap();
    folder.file("bad.jsonl", format!("{good}{{\"n\":7}}\n"));
    let done = review(&["bad.jsonl"]).exits(1);
    assert!(
        done.stderr
            .starts_with("lookalike: bad.jsonl, line 3 is no pair: missing field `a`; a line looks like {"),
        "{}",
        done.stderr
    );
    folder.file("other.jsonl", "{\"n\":0,\"a\":\"x\",\"b\":\"y\",\"label\":\"not\",\"kind\":\"other\"}\n");
    let foreign = "other.jsonl, line 1 judges \"x\" and \"y\" as number 0, which in review.jsonl is \"a0\" and \"b0\": \
                   these are labels of another review; give --labels another file";
    review(&["review.jsonl", "--labels", "other.jsonl"]).fails(1, foreign);
    review(&["review.jsonl", "--labels", "./review.jsonl"])
        .fails(1, "./review.jsonl is the review itself; give --labels another file");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    review(&["review.jsonl", "--port", &port]).fails(
        1,
        &format!("port {port} of 127.0.0.1 is in use; give another by --port, or none for a free one"),
    );
    assert!(!folder.join("labels.jsonl").exists(), "a review that does not begin leaves nothing");
    let none = review(&["review.jsonl", "--summary"]).exits(0);
    assert!(none.stdout.contains("Of 2 pairs 0 are judged"), "{}", none.stdout);
    assert!(!folder.join("labels.jsonl").exists());
}
