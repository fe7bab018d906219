//! The service as its users start it: what it says, whom it refuses, and how it ends.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::process::Signal;
use serde_json::{Value, json};

use super::support::{Folder, Invocation, Running, lookalike};

/// No answer takes longer, even on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(20);
const TOKEN: &str = "correct-horse-battery-staple";

fn index(folder: &Folder) -> PathBuf {
    let path = folder.path().join("index");
    lookalike(["index", "create"]).path(&path).run().exits(0);
    path
}

fn serve(folder: &Path) -> Invocation {
    lookalike(["serve", "--address", "127.0.0.1:0"]).path(folder)
}

struct Server {
    running: Running,
    address: String,
}

impl Server {
    fn start(invocation: Invocation) -> Self {
        let mut running = invocation.start();
        let line = running.wait_for_output("listening on http://");
        let address = line.strip_prefix("listening on http://").expect("an address").to_owned();
        Server { running, address }
    }

    fn request(&self, method: &str, path: &str, headers: &str, body: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.address).expect("the server is there");
        stream.set_read_timeout(Some(TIMEOUT)).unwrap();
        let length = body.len();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n",
            self.address
        );
        stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer in time");
        let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
        (status, answer.split_once("\r\n\r\n").expect("a head and a body").1.to_owned())
    }

    fn add(&self, id: &str, text: &str) -> Value {
        let body = json!({"id": id, "text": text}).to_string();
        let (status, body) =
            self.request("POST", "/v1/documents", "Content-Type: application/json\r\n", &body);
        assert_eq!(status, 200, "{body}");
        serde_json::from_str(&body).unwrap()
    }
}

#[test]
fn a_probe_tells_a_service_from_none() {
    let folder = Folder::new();
    let server = Server::start(serve(&index(&folder)));
    let probe = |address: &str| lookalike(["serve", "--probe", "--address", address]).run();
    assert_eq!(probe(&server.address).exits(0).stdout, "");
    let address = server.address.clone();
    drop(server);
    let gone = format!("the service at {address} takes no work: Connection refused (os error 111)");
    probe(&address).fails(1, &gone);
    lookalike(["serve", "--probe"]).path(folder.path()).run().exits(2);
    // Nobody who runs a health check has a token.
    let tokens = folder.file("tokens", format!("{TOKEN}\n"));
    let server = Server::start(serve(&folder.join("index")).option("--token-file", tokens));
    probe(&server.address).exits(0);
}

#[test]
fn a_polite_end_loses_nothing_and_exits_with_0() {
    let folder = Folder::new();
    let index = index(&folder);
    for signal in [Signal::TERM, Signal::INT] {
        let server = Server::start(serve(&index));
        server.add("a", "one rose is a rose is a rose");
        server.running.signal(signal);
        let done = server.running.end().exits(0);
        let last = done.stderr.lines().last().expect("a log");
        assert_eq!(serde_json::from_str::<Value>(last).unwrap()["event"], "ended", "{}", done.stderr);
    }
    let stats = lookalike(["index", "stats", "--json"]).path(&index).run().exits(0);
    let stats: Value = serde_json::from_str(&stats.stdout).unwrap();
    assert_eq!(stats["documents"], 1);
}

#[test]
fn what_was_acknowledged_survives_kill_9() {
    let folder = Folder::new();
    let index = index(&folder);
    let mut acknowledged = 0;
    for round in 0..3 {
        let server = Server::start(serve(&index));
        for number in 0..20 {
            let id = format!("{round}-{number}");
            assert_eq!(server.add(&id, &format!("text {id} and {id} of its own {id}"))["new"], true);
            acknowledged += 1;
        }
        server.running.signal(Signal::KILL);
        server.running.end();
    }
    lookalike(["index", "check"]).path(&index).run().exits(0);
    let server = Server::start(serve(&index).arg("--read-only"));
    let (_, stats) = server.request("GET", "/v1/stats", "", "");
    assert_eq!(serde_json::from_str::<Value>(&stats).unwrap()["documents"], acknowledged);
}

#[test]
fn a_day_against_an_index_is_served_like_any_job() {
    let folder = Folder::new();
    let index = folder.path().join("index");
    let text = "one rose is a rose is a rose and nothing else but a rose";
    let [old, new] = [("old", "a"), ("new", "b")].map(|(name, id)| {
        folder.file(format!("{name}.jsonl"), format!("{}\n", json!({"id": id, "text": text})))
    });
    let day = |input: &Path| lookalike(["dedup"]).path(input).option("--into", &index);
    day(&old).option("-o", folder.path().join("first")).run().exits(0);
    let job = folder.path().join("second");
    day(&new).option("--against", &index).option("-o", &job).run().exits(0);
    let server = Server::start(serve(&job));
    let (status, clusters) = server.request("GET", "/v1/clusters", "", "");
    assert_eq!(status, 200, "{clusters}");
    let clusters: Value = serde_json::from_str(&clusters).unwrap();
    let row = &clusters["clusters"][0];
    assert_eq!((&row["keep"], &row["size"]), (&json!("a"), &json!(2)), "{clusters}");
    let name = row["name"].as_str().expect("a name");
    let (status, page) = server.request("GET", &format!("/clusters/{name}"), "", "");
    assert!(status == 200 && page.contains(">b<"), "{page}");
    assert_eq!(server.request("GET", "/", "", "").0, 200);
}

#[test]
fn a_job_is_served_with_a_token() {
    let folder = Folder::new();
    let job = folder.path().join("job");
    lookalike(["dedup", "--sample"]).option("-o", &job).run().exits(0);
    let tokens = folder.file("tokens", format!("# for tests\n{TOKEN}\n"));
    let server = Server::start(serve(&job).option("--token-file", &tokens).arg("--log").arg("text"));
    assert_eq!(server.request("GET", "/v1/stats", "", "").0, 401);
    assert_eq!(server.request("GET", "/healthz", "", "").0, 200);
    let bearer = format!("Authorization: Bearer {TOKEN}\r\n");
    let (status, stats) = server.request("GET", "/v1/stats", &bearer, "");
    assert_eq!((status, &serde_json::from_str::<Value>(&stats).unwrap()["serves"]), (200, &json!("job")));
    let (status, page) = server.request("GET", "/documents/0", &bearer, "");
    assert_eq!(status, 200);
    assert!(page.contains("The text cannot be shown: the input was no file"), "{page}");
    server.running.signal(Signal::TERM);
    let done = server.running.end().exits(0);
    assert!(done.stderr.contains(" 200 GET /v1/stats ") && !done.stderr.contains(TOKEN), "{}", done.stderr);
}

#[test]
fn what_makes_no_sense_is_refused_in_a_sentence() {
    let folder = Folder::new();
    let (index, empty) = (index(&folder), folder.path().join("empty"));
    std::fs::create_dir(&empty).unwrap();
    let told = |path: &Path| path.display().to_string();
    serve(&empty).run().fails(
        1,
        &format!(
            "{} is neither an index nor the folder of a finished dedup job; give one that `lookalike index create` or `lookalike dedup -o` made",
            told(&empty)
        ),
    );
    lookalike(["serve", "--address", "0.0.0.0:0"]).path(&index).run().fails(
        2,
        "0.0.0.0:0 can be reached from other machines; give --token-file, or --insecure if everybody may read and change what is served",
    );
    let short = folder.file("short", "secret\n");
    std::fs::set_permissions(&short, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    serve(&index).option("--token-file", &short).run().fails(
        1,
        &format!("line 1 of {} has a token of fewer than 16 characters; make it longer", told(&short)),
    );
    let server = Server::start(serve(&index));
    let taken = lookalike(["serve", "--address", &server.address]).path(&index).run();
    taken.fails(
        1,
        &format!(
            "{} is in use; give another address by --address, with port 0 for any free one",
            server.address
        ),
    );
    let second = serve(&index).run().exits(1);
    assert!(second.stderr.contains("is being written to by another process"), "{}", second.stderr);
}
