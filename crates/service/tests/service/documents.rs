//! Documents are asked about, added, looked at and taken out.

use lookalike_service::{OpenOptions, Settings};
use serde_json::json;

use super::support::{Server, index, text};

#[test]
fn a_document_is_new_once() {
    let folder = index();
    let server = Server::start(folder.path(), Settings::default());
    let first =
        server.post("/v1/documents", &json!({"id": "a", "url": "https://a.example/", "text": text(1, 0)}));
    let first = first.has(200).json();
    assert_eq!(first, json!({"id": "a", "n": 0, "new": true, "known": false, "witness": null}));
    let near = server.post("/v1/documents", &json!({"id": "b", "text": text(1, 1)})).has(200).json();
    assert_eq!((&near["new"], &near["witness"]["id"]), (&json!(false), &json!("a")));
    let similarity = near["witness"]["similarity"].as_f64().unwrap();
    assert!((0.8..1.0).contains(&similarity), "{similarity}");
    let again = server.post("/v1/documents", &json!({"id": "a", "text": text(1, 0)})).has(200).json();
    assert_eq!((&again["new"], &again["known"], &again["n"]), (&json!(false), &json!(true), &json!(0)));
    let other = server.post("/v1/documents", &json!({"id": "a", "text": text(2, 0)}));
    assert!(other.has(409).error().contains("with other words"));
    let replaced = server.post("/v1/documents?known=replace", &json!({"id": "a", "text": text(2, 0)}));
    assert_eq!(replaced.has(200).json()["new"], true);
}

#[test]
fn a_question_is_answered_and_changes_nothing() {
    let folder = index();
    let server = Server::start(folder.path(), Settings::default());
    let html = format!("<html><title>T</title><p>{}</p>", text(1, 0));
    server.post("/v1/documents", &json!({"id": "a", "html": html})).has(200);
    let answer = server.post("/v1/query", &json!({"text": format!("T {}", text(1, 0))})).has(200).json();
    assert_eq!(answer["total"], 1);
    assert_eq!(answer["matches"][0], json!({"n": 0, "id": "a", "similarity": 1.0, "kept": true}));
    let nothing = server.post("/v1/query", &json!({"id": "q", "text": text(9, 0)})).has(200).json();
    assert_eq!(nothing, json!({"id": "q", "matches": [], "total": 0}));
    let several =
        json!({"documents": [{"text": text(1, 0)}, {"text": ""}, {"html": text(2, 0)}], "limit": 1});
    let several = server.post("/v1/query", &several).has(200).json();
    let totals: Vec<u64> =
        several["results"].as_array().unwrap().iter().map(|one| one["total"].as_u64().unwrap()).collect();
    assert_eq!(totals, [1, 0, 0]);
    assert_eq!(server.get("/v1/stats").json()["documents"], 1);
}

#[test]
fn several_documents_have_a_verdict_each() {
    let folder = index();
    let server = Server::start(folder.path(), Settings::default());
    server.post("/v1/documents", &json!({"id": "taken", "text": text(5, 0)})).has(200);
    let documents = json!({"documents": [
        {"id": "a", "text": text(1, 0)}, {"id": "taken", "text": text(6, 0)}, {"id": "b", "text": text(1, 0)},
    ]});
    let results = server.post("/v1/documents", &documents).has(200).json();
    assert_eq!(results["results"][0]["new"], true);
    assert!(results["results"][1]["error"].is_string());
    assert_eq!(results["results"][2]["witness"]["id"], "a");
}

#[test]
fn of_equal_documents_that_race_one_is_new() {
    let folder = index();
    let server = Server::start(folder.path(), Settings { concurrency: 64, ..Settings::default() });
    for round in 0..5 {
        let new = std::thread::scope(|scope| {
            let add = |client: u64| {
                let server = &server;
                move || {
                    let document = json!({"id": format!("{round}-{client}"), "text": text(round, 0)});
                    server.post("/v1/documents", &document).has(200).json()["new"].as_bool().unwrap()
                }
            };
            let clients: Vec<_> = (0..12).map(|client| scope.spawn(add(client))).collect();
            clients
                .into_iter()
                .filter(|_| true)
                .map(|client| client.join().unwrap())
                .filter(|new| *new)
                .count()
        });
        assert_eq!(new, 1, "round {round}");
    }
}

#[test]
fn ids_are_any_text_in_percent_signs() {
    let folder = index();
    let server = Server::start(folder.path(), Settings::default());
    let ids = [
        ("a/b", "a%2Fb"),
        ("é 東京", "%C3%A9%20%E6%9D%B1%E4%BA%AC"),
        ("..", "%2E%2E"),
        ("?&=#%", "%3F%26%3D%23%25"),
    ];
    for (number, (id, encoded)) in ids.into_iter().enumerate() {
        server.post("/v1/documents", &json!({"id": id, "text": text(number as u64, 0)})).has(200);
        let found = server.get(&format!("/v1/documents/{encoded}?text=true")).has(200).json();
        let document = &found["documents"][0];
        assert_eq!(
            (&document["id"], &document["kept"], &document["words"]),
            (&json!(id), &json!(true), &json!(200))
        );
        assert_eq!(document["text"], text(number as u64, 0));
        let removed = server.request("DELETE", &format!("/v1/documents/{encoded}"), &[], b"").has(200).json();
        assert_eq!(removed, json!({"removed": 1}));
        server.get(&format!("/v1/documents/{encoded}")).has(404);
        server.request("DELETE", &format!("/v1/documents/{encoded}"), &[], b"").has(404);
    }
}

#[test]
fn what_was_acknowledged_is_there_after_a_new_start() {
    let folder = index();
    let server = Server::start(folder.path(), Settings::default());
    for number in 0..20 {
        let document = json!({"id": format!("d{number}"), "text": text(number, 0)});
        server.post("/v1/documents", &document).has(200);
    }
    server.end().unwrap();
    let options = OpenOptions { read_only: true, ..OpenOptions::default() };
    let server = Server::start_with(folder.path(), options, Settings::default());
    assert_eq!(server.get("/v1/stats").json()["documents"], 20);
    server.get("/v1/documents/d7").has(200);
    for (method, path) in [("POST", "/v1/documents"), ("DELETE", "/v1/documents/d7")] {
        let headers = [("Content-Type", "application/json")];
        let refused = server.request(method, path, &headers, b"{\"id\":\"x\",\"text\":\"y\"}").has(409);
        assert!(refused.error().contains("--read-only"));
    }
    server.post("/v1/query", &json!({"text": text(3, 0)})).has(200);
}

#[test]
fn figures_are_counted() {
    let folder = index();
    let server = Server::start(folder.path(), Settings::default());
    for (id, number) in [("a", 1), ("b", 1), ("c", 2), ("c", 2)] {
        server.post("/v1/documents", &json!({"id": id, "text": text(number, 0)})).has(200);
    }
    server.post("/v1/query", &json!({"text": "x"})).has(200);
    server.post_text("/v1/query", "{").has(400);
    let text = server.get("/metrics").has(200).body;
    for line in [
        "lookalike_verdicts_total{verdict=\"new\"} 2",
        "lookalike_verdicts_total{verdict=\"duplicate\"} 1",
        "lookalike_verdicts_total{verdict=\"known\"} 1",
        "lookalike_queries_total 1",
        "lookalike_documents 3",
        "lookalike_requests_total{method=\"POST\",route=\"/v1/query\",status=\"400\"} 1",
        "lookalike_requests_in_flight 1",
    ] {
        assert!(text.lines().any(|own| own == line), "{line}\n{text}");
    }
}

#[test]
fn clusters_of_an_index_are_listed() {
    let folder = index();
    let server = Server::start(folder.path(), Settings::default());
    for (id, number, edits) in [("a", 1, 0), ("b", 1, 1), ("c", 2, 0), ("d", 3, 0), ("e", 3, 1), ("f", 3, 0)]
    {
        server.post("/v1/documents", &json!({"id": id, "text": text(number, edits)})).has(200);
    }
    let list = server.get("/v1/clusters?sort=size").has(200).json();
    assert_eq!(
        (&list["total"], &list["clusters"][0]["keep"], &list["clusters"][0]["size"]),
        (&json!(2), &json!("d"), &json!(3))
    );
    assert_eq!(server.get("/v1/clusters?search=b").json()["clusters"][0]["keep"], "a");
    assert_eq!(server.get("/v1/clusters?sort=similarity&order=descending").has(200).json()["total"], 2);
    let cluster = server.get("/v1/clusters/3").has(200).json();
    let members = cluster["members"].as_array().unwrap();
    assert_eq!(
        members.iter().map(|member| member["id"].as_str().unwrap()).collect::<Vec<_>>(),
        ["d", "e", "f"]
    );
    assert_eq!((&members[0]["kept"], &members[2]["similarity"]), (&json!(true), &json!(1.0)));
    server.get("/v1/clusters/2").has(404);
    server.get("/v1/clusters/1").has(404);
}
