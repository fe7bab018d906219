//! Access: requests that are admitted, and requests that are refused.

use lookalike_service::{RouteFacts, ServiceError, Settings, listen, routes};

use super::support::{Server, TOKEN, index, tokens};

fn guarded() -> Settings {
    Settings { tokens: Some(tokens()), ..Settings::default() }
}

/// An address of a route.
fn address(route: &RouteFacts) -> String {
    route.path.replace("{id}", "a").replace("{cluster}", "1").replace("{number}", "0")
}

#[test]
fn without_a_token_every_address_but_the_open_ones_answers_401() {
    let folder = index();
    let server = Server::start(folder.path(), guarded());
    let open: Vec<&str> = routes().iter().filter(|route| route.open).map(|route| route.path).collect();
    assert_eq!(open, ["/healthz", "/readyz", "/login", "/login", "/style.css"]);
    let wrong: [&[(&str, &str)]; 5] = [
        &[],
        &[("Authorization", "Bearer wrong-token-of-some-length")],
        &[("Authorization", "Bearer ")],
        &[("Authorization", "Basic Y29ycmVjdA==")],
        &[("Cookie", "lookalike=0123456789abcdef")],
    ];
    for route in routes().iter().filter(|route| !route.open) {
        for headers in wrong {
            let answer = server.request(route.method, &address(route), headers, b"");
            assert_eq!(answer.status, 401, "{route:?} {headers:?}");
            assert!(answer.header("www-authenticate").is_some_and(|scheme| scheme.starts_with("bearer")));
            assert_eq!(answer.body.contains("action=\"/login\""), route.page, "{route:?}");
        }
    }
    for unknown in ["/v1/nothing", "/nothing", "/v1/documents/", "/../etc/passwd", "/login/x"] {
        assert_eq!(server.get(unknown).status, 401, "{unknown}");
    }
    assert_eq!(server.request("PUT", "/v1/stats", &[], b"").status, 401);
    server.get("/healthz").has(200);
    server.get("/readyz").has(200);
    server.get("/login").has(200);
    server.get("/style.css").has(200);
}

#[test]
fn with_the_token_no_address_answers_401_or_fails() {
    let folder = index();
    let server = Server::start(folder.path(), guarded());
    let bearer = format!("Bearer {TOKEN}");
    for route in routes() {
        let answer = server.request(route.method, &address(&route), &[("Authorization", &bearer)], b"");
        let fine = answer.status != 401 && answer.status < 500;
        assert!(fine || route.path == "/login", "{route:?}: {answer:?}");
    }
}

#[test]
fn people_log_in_once() {
    let folder = index();
    let server = Server::start(folder.path(), guarded());
    let form = [("Content-Type", "application/x-www-form-urlencoded")];
    let wrong = server.request("POST", "/login", &form, b"token=not-the-token-at-all");
    assert!(wrong.has(401).body.contains("not among those"));
    let body = format!("token={TOKEN}&next=%2Fclusters");
    let entered = server.request("POST", "/login", &form, body.as_bytes()).has(303);
    assert_eq!(entered.header("location"), Some("/clusters"));
    let cookie = entered.header("set-cookie").unwrap().to_owned();
    for part in ["httponly", "samesite=strict", "path=/"] {
        assert!(cookie.contains(part), "{cookie}");
    }
    assert!(!cookie.contains(TOKEN));
    let value = cookie.split(';').next().unwrap();
    let own = format!("http://{}", server.address);
    let with = |origin: &str, method: &str, path: &str| {
        let headers = [("Cookie", value), ("Origin", origin), ("Content-Type", "application/json")];
        server.request(method, path, &headers, b"{\"text\":\"x\"}").status
    };
    assert_eq!(server.request("GET", "/clusters", &[("Cookie", value)], b"").status, 200);
    assert_eq!(with(&own, "POST", "/v1/query"), 200);
    for foreign in ["https://example.com", "null", "http://127.0.0.1:1"] {
        assert_eq!(with(foreign, "POST", "/v1/query"), 403, "{foreign}");
        assert_eq!(with(foreign, "POST", "/logout"), 403, "{foreign}");
    }
    let cross = [("Cookie", value), ("Sec-Fetch-Site", "cross-site")];
    assert_eq!(server.request("DELETE", "/v1/documents/a", &cross, b"").status, 403);
    assert_eq!(with(&own, "POST", "/logout"), 303);
    assert_eq!(server.request("GET", "/clusters", &[("Cookie", value)], b"").status, 401);
}

#[test]
fn nobody_guesses_tokens_for_long() {
    let folder = index();
    let server = Server::start(folder.path(), guarded());
    let form = [("Content-Type", "application/x-www-form-urlencoded")];
    for _ in 0..10 {
        server.request("POST", "/login", &form, b"token=guess").has(401);
    }
    let refused = server.request("POST", "/login", &form, format!("token={TOKEN}").as_bytes()).has(429);
    assert!(refused.header("retry-after").is_some());
}

#[test]
fn without_tokens_only_requests_to_this_machine_are_answered() {
    let folder = index();
    let server = Server::start(folder.path(), Settings::default());
    server.get("/v1/stats").has(200);
    server.request("GET", "/v1/stats", &[("Host", "localhost:1234")], b"").has(200);
    server.request("GET", "/v1/stats", &[("Host", "attacker.example")], b"").has(403);
    let json = ("Content-Type", "application/json");
    let foreign = [json, ("Origin", "https://attacker.example")];
    server.request("POST", "/v1/query", &foreign, b"{\"text\":\"x\"}").has(403);
}

#[test]
fn an_address_that_others_reach_needs_a_token_or_a_word() {
    let everywhere = "0.0.0.0:0".parse().unwrap();
    let error = listen(everywhere, &Settings::default()).unwrap_err();
    assert!(matches!(error, ServiceError::Exposed(_)));
    assert!(error.to_string().contains("--token-file"), "{error}");
    assert!(listen(everywhere, &guarded()).is_ok());
    assert!(listen(everywhere, &Settings { insecure: true, ..Settings::default() }).is_ok());
}

#[test]
fn logs_tell_nothing_of_what_was_said() {
    let folder = index();
    let server = Server::start(folder.path(), guarded());
    let bearer = format!("Bearer {TOKEN}");
    let headers = [("Authorization", bearer.as_str()), ("Content-Type", "application/json")];
    server.request("POST", "/v1/query", &headers, b"{\"text\":\"a secret text\"}").has(200);
    server.request("GET", "/v1/documents/secret-id?text=true", &headers, b"").has(404);
    server.request("GET", "/secret-path", &headers, b"").has(404);
    server.request("POST", "/login", &[], b"token=secret").has(415);
    let log = server.log.clone();
    server.end().unwrap();
    let lines = log.lock().unwrap().join("\n");
    for said in ["secret", TOKEN] {
        assert!(!lines.contains(said), "{lines}");
    }
    let routes: Vec<serde_json::Value> =
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |route: &str| routes.iter().find(|line| line["route"] == route).unwrap().clone();
    assert_eq!(of("/v1/query")["status"], 200);
    assert_eq!(of("/v1/documents/{id}")["method"], "GET");
    assert_eq!(of("other")["status"], 404);
    assert!(of("/v1/query")["ms"].is_number() && of("/v1/query")["time"].is_string());
}
