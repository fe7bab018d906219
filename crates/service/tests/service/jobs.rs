//! A finished job is looked at.

use lookalike_service::{OpenOptions, ServiceError, Settings, Source};
use serde_json::{Value, json};

use super::support::{FinishedJob, Server, index};

fn lines(path: &std::path::Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn every_cluster_is_as_the_tables_have_it() {
    let job = FinishedJob::make();
    let server = Server::start(&job.path(), Settings::default());
    let clusters = lines(&job.path().join("clusters.jsonl"));
    let removed = lines(&job.path().join("removed.jsonl"));
    assert!(clusters.len() > 20, "{}", clusters.len());
    let listed = server.get("/v1/clusters?count=1000").has(200).json();
    assert_eq!(listed["total"], clusters.len());
    for (row, cluster) in listed["clusters"].as_array().unwrap().iter().zip(&clusters) {
        assert_eq!((&row["cluster"], &row["keep"]), (&cluster["cluster"], &cluster["keep"]));
        let view = server.get(&format!("/v1/clusters/{}", cluster["cluster"])).has(200).json();
        let of = |field: &str| -> Vec<Value> {
            view["members"].as_array().unwrap().iter().map(|member| member[field].clone()).collect()
        };
        assert_eq!(
            (json!(of("id")), json!(of("n"))),
            (cluster["members"].clone(), cluster["members_n"].clone())
        );
        for member in view["members"].as_array().unwrap() {
            let row = removed.iter().find(|row| row["n"] == member["n"]);
            assert_eq!(row.map_or(&Value::Null, |row| &row["similarity"]), &member["similarity"]);
            assert_eq!(row.is_none(), member["kept"].as_bool().unwrap());
        }
    }
}

#[test]
fn clusters_are_searched_sorted_and_shown_in_parts() {
    let job = FinishedJob::make();
    let server = Server::start(&job.path(), Settings::default());
    let sizes = |query: &str| -> Vec<u64> {
        let list = server.get(&format!("/v1/clusters?{query}")).has(200).json();
        list["clusters"].as_array().unwrap().iter().map(|row| row["size"].as_u64().unwrap()).collect()
    };
    let descending = sizes("sort=size&count=1000");
    assert!(descending.is_sorted_by(|a, b| a >= b) && descending.len() > 20);
    assert!(sizes("sort=size&order=ascending&count=1000").is_sorted());
    assert_eq!(sizes("sort=size&offset=5&count=7"), descending[5..12]);
    assert!(sizes("offset=100000").is_empty());
    let keeper = server.get("/v1/clusters?sort=size&count=1").json()["clusters"][0]["keep"].clone();
    let found = server.get(&format!("/v1/clusters?search={}", keeper.as_str().unwrap())).has(200).json();
    assert_eq!((&found["total"], &found["complete"]), (&json!(1), &json!(true)));
    assert_eq!(server.get("/v1/clusters?search=no-such-id").json()["total"], 0);
    let hostile = server.get("/v1/clusters?search=%3Cb%3E%26%22%27").json();
    assert_eq!(hostile["clusters"][0]["keep"], "<b>&\"'0");
}

#[test]
fn a_job_takes_no_documents() {
    let job = FinishedJob::make();
    let server = Server::start(&job.path(), Settings::default());
    server.post("/v1/query", &json!({"text": "x"})).has(409);
    server.post("/v1/documents", &json!({"id": "a", "text": "x"})).has(409);
    server.get("/v1/documents/a").has(409);
    server.request("DELETE", "/v1/documents/a", &[], b"").has(409);
    server.get("/ask").has(409);
    assert_eq!(server.get("/v1/stats").has(200).json()["serves"], "job");
    assert_eq!(server.get("/readyz").has(200).json(), json!({"status": "ready", "serves": "job"}));
}

#[test]
fn an_input_that_was_changed_or_is_gone_is_said_and_the_rest_is_shown() {
    let job = FinishedJob::make();
    let cluster = lines(&job.path().join("clusters.jsonl"))[0].clone();
    let (a, b) = (&cluster["members_n"][0], &cluster["members_n"][1]);
    let address = format!("/compare?a={a}&b={b}");
    assert!(
        Server::start(&job.path(), Settings::default()).get(&address).has(200).body.contains("Word by word")
    );
    let text = std::fs::read_to_string(job.input()).unwrap();
    std::fs::write(job.input(), text.lines().rev().collect::<Vec<_>>().join("\n")).unwrap();
    let page = Server::start(&job.path(), Settings::default()).get(&address).has(200).body;
    assert!(page.contains("it was changed") && !page.contains("Word by word"), "{page}");
    std::fs::remove_file(job.input()).unwrap();
    let server = Server::start(&job.path(), Settings::default());
    let page = server.get(&address).has(200).body;
    assert!(page.contains("not where it was"), "{page}");
    assert!(page.contains(cluster["members"][0].as_str().unwrap()));
    server.get("/").has(200);
}

#[test]
fn only_what_can_be_served_is_served() {
    let open = |path: &std::path::Path| Source::open(path, OpenOptions::default()).unwrap_err();
    let folder = tempfile::tempdir().unwrap();
    assert!(matches!(open(folder.path()), ServiceError::NothingToServe(_)));
    assert!(matches!(open(&folder.path().join("nowhere")), ServiceError::NothingToServe(_)));
    std::fs::create_dir(folder.path().join("work")).unwrap();
    std::fs::write(folder.path().join("work/job.json"), "{}").unwrap();
    assert!(matches!(open(folder.path()), ServiceError::Unfinished(_)));
    let job = FinishedJob::make();
    let clusters = job.path().join("clusters.jsonl");
    let content = std::fs::read(&clusters).unwrap();
    std::fs::write(&clusters, &content[..content.len() / 2]).unwrap();
    let error = open(&job.path()).to_string();
    assert!(error.contains("clusters.jsonl is damaged: line "), "{error}");
    std::fs::rename(&clusters, job.path().join("clusters.parquet")).unwrap();
    assert!(matches!(open(&job.path()), ServiceError::Parquet(_)));
    let index = index();
    let first = Source::open(index.path(), OpenOptions::default()).unwrap();
    assert!(open(index.path()).to_string().contains("another process"));
    drop(first);
}
