//! Tests of the limits of an engine over HTTP: the hosts that it talks to, the bytes that it reads, and odd answers.

use crate::common::server::{Response, Server};
use lookalike_search_engines::engine::NEVER_RETRY;
use lookalike_search_engines::{EngineError, Options, Query, SearchEngine, open};
use serde_json::json;

const LEAST: &str = r#"
    search = "http://HOST/search?q={query}&n={limit}"
    all = " "
    urls = "r[*]"
    cap = 10
    fetch = "{url}"
    fetch_hosts = ["HOST"]
"#;

fn engine(server: &Server, description: &str) -> Box<dyn SearchEngine> {
    let folder = tempfile::tempdir().unwrap();
    let options =
        Options { secret: |name| (name == "KEY").then(|| "sesame".to_owned()), ..Options::default() };
    open(server.describe(folder.path(), description).to_str().unwrap(), &options).unwrap()
}

/// Returns the reason why a question was not answered, and true if another try is of use.
fn unanswered(error: EngineError) -> (String, bool) {
    match error {
        EngineError::Unanswered { why, after, .. } => (why, after != Some(NEVER_RETRY)),
        other => panic!("{other}"),
    }
}

#[test]
fn nobody_but_those_named_is_asked() {
    let stranger = Server::start(|_| Response::json(&json!({"r": ["caught"]})));
    let there = stranger.address.to_string();
    let server = Server::start(move |request| match request.path() {
        "/search" | "/away" => Response::status(302).with("Location", &format!("http://{there}/search")),
        "/here" => Response::status(301).with("Location", "/page"),
        "/round" => Response::status(307).with("Location", "/round"),
        "/lost" => Response::status(302),
        _ => Response { status: 200, headers: Vec::new(), body: b"found".to_vec() },
    });
    let mut engine = engine(&server, LEAST);
    let error = engine.search(&Query::all(["a"]), 5).unwrap_err();
    let (why, again) = unanswered(error);
    assert!(why.contains("not among the hosts") && !again, "{why}");
    let mut fetched = |path: &str| engine.fetch(&format!("http://{}{path}", server.address));
    assert_eq!(fetched("/here").unwrap().unwrap().text, "found");
    for (path, wanted) in [("/away", "not among"), ("/round", "redirects"), ("/lost", "nowhere")] {
        let (why, again) = unanswered(fetched(path).unwrap_err());
        assert!(why.contains(wanted) && !again, "{path}: {why}");
    }
    for url in [format!("http://{}/", stranger.address), "ftp://x/".to_owned(), "no address".to_owned()] {
        assert!(!unanswered(engine.fetch(&url).unwrap_err()).1, "{url}");
    }
    assert_eq!(stranger.requests().len(), 0);
}

#[test]
fn secrets_go_home_and_nowhere_else() {
    let pages = Server::start(|_| Response { status: 200, headers: Vec::new(), body: b"page".to_vec() });
    let home = Server::start(|_| Response::json(&json!({"r": []})));
    let others = format!("fetch_hosts = [\"{}\"]\n[secret_headers]\nX-Key = \"KEY\"", pages.address);
    let description = LEAST.replace("fetch_hosts = [\"HOST\"]", &others);
    let mut engine = engine(&home, &description);
    engine.search(&Query::all(["a"]), 5).unwrap();
    assert_eq!(engine.fetch(&format!("http://{}/x", pages.address)).unwrap().unwrap().text, "page");
    let sent = |server: &Server| {
        let headers: Vec<String> =
            server.requests().into_iter().flat_map(|request| request.headers).collect();
        assert!(headers.iter().any(|line| line.to_lowercase().starts_with("user-agent: lookalike/")));
        headers.iter().any(|line| line.contains("sesame"))
    };
    assert_eq!((sent(&home), sent(&pages)), (true, false));

    let folder = tempfile::tempdir().unwrap();
    let path = home.describe(folder.path(), &description.replace("\"KEY\"", "\"NO_KEY\""));
    let error = open(path.to_str().unwrap(), &Options::default()).err().unwrap();
    assert!(error.to_string().contains("NO_KEY is not set"), "{error}");
}

#[test]
fn answers_are_bounded_in_size_and_time() {
    let server = Server::start(|request| match request.path() {
        "/large" => Response { status: 200, headers: Vec::new(), body: vec![b'x'; 1_001] },
        "/late" => {
            std::thread::sleep(std::time::Duration::from_millis(1_500));
            Response::status(200)
        }
        _ => Response { status: 200, headers: Vec::new(), body: vec![b'x'; 1_000] },
    });
    let mut engine = engine(&server, &format!("{LEAST}\nmax_bytes = 1000\ntimeout = 0.5"));
    let mut fetched = |path: &str| engine.fetch(&format!("http://{}{path}", server.address));
    assert_eq!(fetched("/right").unwrap().unwrap().text.len(), 1_000);
    let (why, again) = unanswered(fetched("/large").unwrap_err());
    assert!(why.contains("more than 1000 bytes") && !again, "{why}");
    let (why, again) = unanswered(fetched("/late").unwrap_err());
    assert!(why.contains("timeout") && again, "{why}");
}

#[test]
fn pages_become_text() {
    let typed = |kind: &str, body: &[u8]| {
        Response { status: 200, headers: Vec::new(), body: body.to_vec() }.with("Content-Type", kind)
    };
    let server = Server::start(move |request| match request.path() {
        "/html" => {
            typed("text/html; charset=latin1", b"<title>T</title><p>na\xEFve &amp; so<script>no</script>")
        }
        "/text" => typed("text/plain", "a <b> ü".as_bytes()),
        "/image" => typed("image/png", b"x"),
        "/gone" => Response::status(410),
        "/barred" => Response::status(403),
        _ => Response::status(404),
    });
    let mut engine = engine(&server, LEAST);
    let mut fetched = |path: &str| engine.fetch(&format!("http://{}{path}", server.address));
    assert_eq!(fetched("/html").unwrap().unwrap().text, "T\n\nnaïve & so");
    assert_eq!(fetched("/text").unwrap().unwrap().text, "a <b> ü");
    assert_eq!((fetched("/gone").unwrap(), fetched("/nowhere").unwrap()), (None, None));
    for (path, wanted) in [("/image", "image/png is no text"), ("/barred", "status 403")] {
        let (why, again) = unanswered(fetched(path).unwrap_err());
        assert!(why.contains(wanted) && !again, "{path}: {why}");
    }
}

/// Returns the results read from an answer by a description, and the number asked for.
fn read(answer: serde_json::Value, description: &str, limit: usize) -> (Result<String, String>, String) {
    let server = Server::start(move |_| Response::json(&answer));
    let results = engine(&server, description).search(&Query::all(["a"]), limit);
    let shown =
        results.map(|results| format!("{} {} {:?}", results.urls.join(","), results.more, results.claimed));
    (shown.map_err(|error| unanswered(error).0), server.requests()[0].parameter("n"))
}

#[test]
fn more_is_found_out_by_what_an_engine_says() {
    let three = || json!({"r": ["x", "y", "z"], "n": "1,234", "next": null});
    let asked = |description: &str, limit| {
        let (results, n) = read(three(), description, limit);
        (results.unwrap(), n)
    };
    let owned = |shown: &str, n: &str| (shown.to_owned(), n.to_owned());
    // Nothing is said: one more is asked for.
    assert_eq!(asked(LEAST, 2), owned("x,y true None", "3"));
    assert_eq!(asked(LEAST, 3), owned("x,y,z false None", "4"));
    // At the cap there is no knowing.
    assert_eq!(asked(&LEAST.replace("cap = 10", "cap = 3"), 9), owned("x,y,z true None", "3"));
    let claimed = format!("{LEAST}\nclaimed = \"n\"");
    assert_eq!(asked(&claimed, 3), owned("x,y,z true Some(1234)", "3"));
    // Too many are left for the caller to see.
    assert_eq!(asked(&claimed, 2), owned("x,y,z true Some(1234)", "2"));
    let both = format!("{claimed}\nmore = \"next\"");
    assert_eq!(asked(&both, 3), owned("x,y,z false Some(1234)", "3"));
}

#[test]
fn answers_that_make_no_sense_are_silence() {
    let claimed = format!("{LEAST}\nclaimed = \"n\"");
    for answer in [json!({}), json!({"r": [1], "n": 1}), json!({"r": ["x"]}), json!({"n": 2}), json!([])] {
        let (results, _) = read(answer.clone(), &claimed, 5);
        assert!(results.is_err_and(|why| why.contains("the answer has no")), "{answer}");
    }
    // Some leave out an empty list.
    assert_eq!(read(json!({"n": 0}), &claimed, 5).0.unwrap(), " false Some(0)");
}

#[test]
fn a_search_that_is_barred_ends_the_run() {
    for status in [401, 403, 404] {
        let server = Server::start(move |_| Response::status(status));
        let error = engine(&server, LEAST).search(&Query::all(["a"]), 5).unwrap_err();
        assert!(!error.is_transient() && error.to_string().contains("secret_headers"), "{error}");
    }
}
