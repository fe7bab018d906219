//! The description of the API, in the format of OpenAPI 3.1.
//!
//! It is written by hand and not derived: requests are read by visitors whose bounds no attribute of a type states, and most
//! answers are types of `index`, which would depend on a crate for schemas for the sake of one page. Two checks hold it to
//! what the service does: a test compares it with the table of routes, and `scripts/malformed` sends requests that are
//! generated from it to a real service and compares every answer with its schema.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use serde_json::{Map, Value, json};

use crate::answer;
use crate::app_state::AppState;
use crate::settings::{LONGEST_ID, MATCHES, MOST_MATCHES, MOST_ROWS, ROWS};

/// `GET /openapi.json`
pub(crate) async fn show(State(state): State<Arc<AppState>>) -> Response {
    answer::json(StatusCode::OK, &description(state.settings.tokens.is_some()))
}

/// The whole description of a service that asks for tokens, or does not.
pub(crate) fn description(guarded: bool) -> Value {
    let security = if guarded { json!([{"token": []}]) } else { json!([]) };
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "lookalike",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Near-duplicates of documents: an index that is asked and added to, or a finished job that is looked at.",
            "license": {"name": "MIT OR Apache-2.0"},
        },
        "security": security,
        "paths": paths(),
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": schemas(),
        },
    })
}

fn paths() -> Value {
    json!({
        "/v1/query": {"post": query()},
        "/v1/documents": {"post": add()},
        "/v1/documents/{id}": {"get": document(), "delete": remove()},
        "/v1/clusters": {"get": clusters()},
        "/v1/clusters/{cluster}": {"get": cluster()},
        "/v1/stats": {"get": stats()},
        "/healthz": {"get": healthz()},
        "/readyz": {"get": readyz()},
        "/metrics": {"get": metrics()},
        "/openapi.json": {"get": openapi()},
    })
}

/// Returns the responses of an operation: `good` for 200, and refusals for 401, 403 and `codes`.
fn answers(good: Value, codes: &[u16]) -> Value {
    let mut all = Map::new();
    all.insert("200".to_owned(), good);
    // Every address asks for a token where there are some, and keeps out pages of other sites where there are none.
    for code in [401, 403].iter().chain(codes) {
        all.insert(code.to_string(), refusal(*code));
    }
    Value::Object(all)
}

fn refusal(code: u16) -> Value {
    let what = match code {
        400 => "The request cannot be read.",
        401 => "A token is needed.",
        403 => "The request comes from a page of another site.",
        404 => "It is not there.",
        405 => "The address takes other methods only.",
        408 => "The body took too long.",
        409 => {
            "Not with what is served: a job takes no documents, an index may be open for reading alone, an id may be taken."
        }
        413 => "The body, or the number of documents, is too large.",
        415 => "The content type is not one of those that are read.",
        422 => "A value is not what it should be.",
        429 => "Too much at once; try again after the seconds of Retry-After.",
        503 => "The service is stopping.",
        _ => "It failed.",
    };
    let mut answer =
        json!({"description": what, "content": {"application/json": {"schema": schema("Error")}}});
    match code {
        429 | 503 => {
            let seconds =
                json!({"description": "Seconds to wait", "schema": {"type": "integer", "minimum": 0}});
            answer["headers"] = json!({"Retry-After": seconds});
        }
        405 => {
            answer["headers"] = json!({"Allow": {"description": "Methods", "schema": {"type": "string"}}});
        }
        _ => {}
    }
    answer
}

fn schema(name: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{name}")})
}

fn good(description: &str, schema: Value) -> Value {
    json!({"description": description, "content": {"application/json": {"schema": schema}}})
}

fn parameter(name: &str, place: &str, description: &str, schema: Value) -> Value {
    json!({
        "name": name, "in": place, "required": place == "path", "description": description, "schema": schema,
    })
}

/// Bodies of one document, of several, and of a stream.
fn body(one: &str, several: &str) -> Value {
    json!({"required": true, "content": {
        "application/json": {"schema": {"anyOf": [schema(one), schema(several)]}},
        "application/x-ndjson": {"schema": {
            "type": "string",
            "description": "A document a line; its answer is sent before the next lines have come.",
        }},
    }})
}

fn answers_of(one: &str, several: &str) -> Value {
    json!({"description": "One answer, several, or a line for each line", "content": {
        "application/json": {"schema": {"anyOf": [schema(one), schema(several)]}},
        "application/x-ndjson": {"schema": {"type": "string"}},
    }})
}

const OF_BODIES: [u16; 8] = [400, 405, 408, 409, 413, 415, 422, 429];

fn query() -> Value {
    json!({
        "operationId": "query",
        "summary": "What is this text a near-duplicate of?",
        "requestBody": body("Question", "Questions"),
        "responses": answers(answers_of("Answer", "Answers"), &OF_BODIES),
    })
}

fn add() -> Value {
    let known = parameter(
        "known",
        "query",
        "What is done when the id is there with other words: refuse the document, or let it take the place of the old one.",
        json!({"type": "string", "enum": ["refuse", "replace"], "default": "refuse"}),
    );
    json!({
        "operationId": "addDocuments",
        "summary": "Ask about documents and add them, in one step",
        "description": "Of two equal documents that come at the same time, one is new. When the answer is there, the document survives the end of the process.",
        "parameters": [known],
        "requestBody": body("Document", "Documents"),
        "responses": answers(answers_of("Verdict", "Verdicts"), &OF_BODIES),
    })
}

fn id() -> Value {
    let schema =
        json!({"type": "string", "minLength": 1, "maxLength": LONGEST_ID, "pattern": "^[^\\u0000]+$"});
    parameter("id", "path", "Id of a document, in % signs where needed", schema)
}

fn document() -> Value {
    let text = parameter(
        "text",
        "query",
        "The text is wanted, too",
        json!({"type": "string", "enum": ["false", "true"]}),
    );
    json!({
        "operationId": "getDocument",
        "summary": "The documents of an id",
        "parameters": [id(), text],
        "responses": answers(good("They are there", schema("Described")), &[400, 404, 405, 409, 422, 429]),
    })
}

fn remove() -> Value {
    let removed = json!({
        "type": "object", "required": ["removed"],
        "properties": {"removed": {"type": "integer", "minimum": 1}},
    });
    json!({
        "operationId": "removeDocument",
        "summary": "Take all documents of an id out",
        "parameters": [id()],
        "responses": answers(good("They are out", removed), &[400, 404, 405, 409, 422, 429]),
    })
}

fn rows() -> [Value; 2] {
    let offset = json!({"type": "integer", "minimum": 0, "maximum": u32::MAX, "default": 0});
    let count = json!({"type": "integer", "minimum": 1, "maximum": MOST_ROWS, "default": ROWS});
    [
        parameter("offset", "query", "How many stand before the first that is wanted", offset),
        parameter("count", "query", "How many are wanted", count),
    ]
}

fn clusters() -> Value {
    let [offset, count] = rows();
    let search = json!({"type": "string", "maxLength": LONGEST_ID});
    let sort = json!({"type": "string", "enum": ["number", "size", "similarity"], "default": "number"});
    let order = json!({"type": "string", "enum": ["ascending", "descending"]});
    json!({
        "operationId": "listClusters",
        "summary": "Kept documents that stand for others",
        "parameters": [
            parameter("search", "query", "Part of the id of one of the documents", search),
            parameter("sort", "query", "By the number of the kept document, the number of documents, or the least similarity", sort),
            parameter("order", "query", "By default descending for size, else ascending", order),
            offset,
            count,
        ],
        "responses": answers(good("Some of them", schema("Clusters")), &[400, 405, 422, 429]),
    })
}

fn cluster() -> Value {
    let [offset, count] = rows();
    let name = parameter(
        "cluster",
        "path",
        "The number of the kept document; with other- before one of the corpus that a job compared with",
        json!({"type": "string", "pattern": "^(other-)?[0-9]{1,10}$"}),
    );
    json!({
        "operationId": "getCluster",
        "summary": "A kept document and those it stands for",
        "parameters": [name, offset, count],
        "responses": answers(good("Some of them", schema("ClusterView")), &[400, 404, 405, 422, 429]),
    })
}

fn stats() -> Value {
    let stats = json!({
        "type": "object",
        "required": ["serves", "documents", "kept", "removed", "recipe"],
        "properties": {
            "serves": {"type": "string", "enum": ["index", "job"]},
            "documents": {"type": "integer"}, "kept": {"type": "integer"}, "removed": {"type": "integer"},
            "recipe": {"type": "string", "description": "As TOML"},
        },
    });
    json!({
        "operationId": "stats",
        "summary": "What is counted",
        "responses": answers(good("The counts", stats), &[405]),
    })
}

fn status(words: &[&str]) -> Value {
    json!({
        "type": "object", "required": ["status"],
        "properties": {"status": {"type": "string", "enum": words}, "serves": {"type": "string"}},
    })
}

fn healthz() -> Value {
    json!({
        "operationId": "healthz",
        "summary": "The process answers",
        "security": [],
        "responses": answers(good("It does", status(&["alive"])), &[405]),
    })
}

fn readyz() -> Value {
    json!({
        "operationId": "readyz",
        "summary": "Requests can be served",
        "security": [],
        "responses": answers(good("They can", status(&["ready"])), &[405, 503]),
    })
}

fn metrics() -> Value {
    let text = json!({
        "description": "Figures in the text format of Prometheus",
        "content": {"text/plain": {"schema": {"type": "string"}}},
    });
    json!({"operationId": "metrics", "summary": "Figures for Prometheus", "responses": answers(text, &[405])})
}

fn openapi() -> Value {
    json!({
        "operationId": "openapi",
        "summary": "This description",
        "responses": answers(good("It", json!({"type": "object"})), &[405]),
    })
}

fn schemas() -> Value {
    let list = |of: &str| json!({"type": "array", "items": schema(of)});
    let number = json!({"type": "integer", "minimum": 0});
    let similarity = json!({"type": ["number", "null"], "minimum": 0, "maximum": 1});
    let words = json!({"type": ["string", "null"]});
    json!({
        "Error": {
            "type": "object", "required": ["error"],
            "properties": {"error": {"type": "string", "description": "What is wrong, in one sentence"}},
        },
        "Question": document_schema(false),
        "Questions": several("Question"),
        "Document": document_schema(true),
        "Documents": several("Document"),
        "Match": {
            "type": "object", "required": ["n", "id", "similarity", "kept"],
            "properties": {
                "n": number, "id": {"type": "string"}, "url": words, "similarity": similarity,
                "backward": similarity, "kept": {"type": "boolean"},
            },
        },
        "Answer": {
            "type": "object", "required": ["matches", "total"],
            "properties": {
                "id": {"type": "string"}, "matches": list("Match"), "total": number,
                "left_out": {
                    "type": "integer", "minimum": 1,
                    "description": "Documents that share only keys with it that very many have, and were not compared",
                },
            },
        },
        "Answers": results("Answer"),
        "Witness": {
            "type": "object", "required": ["n", "id", "similarity"],
            "properties": {"n": number, "id": {"type": "string"}, "similarity": similarity},
        },
        "Verdict": {
            "type": "object", "required": ["id", "n", "new", "known", "witness"],
            "properties": {
                "id": {"type": "string"}, "n": number,
                "new": {"type": "boolean", "description": "Nothing like it was there"},
                "known": {"type": "boolean", "description": "It was there already, with these words"},
                "witness": {"anyOf": [schema("Witness"), {"type": "null"}]},
            },
        },
        "Verdicts": results("Verdict"),
        "Described": {
            "type": "object", "required": ["documents"],
            "properties": {"documents": {"type": "array", "items": {
                "type": "object", "required": ["n", "id", "url", "words", "text_bytes", "kept", "witness"],
                "properties": {
                    "n": number, "id": {"type": "string"}, "url": words, "words": number, "text_bytes": number,
                    "kept": {"type": "boolean"}, "text": {"type": "string"},
                    "witness": {"anyOf": [schema("Witness"), {"type": "null"}]},
                },
            }}},
        },
        "Cluster": {
            "type": "object", "required": ["cluster", "name", "keep", "size", "lowest_similarity"],
            "properties": cluster_fields(),
        },
        "Clusters": {
            "type": "object", "required": ["clusters", "total", "complete"],
            "properties": {
                "clusters": list("Cluster"), "total": number,
                "complete": {"type": "boolean", "description": "False when a search gave up before the end"},
            },
        },
        "ClusterView": cluster_view(),
    })
}

fn cluster_fields() -> Value {
    json!({
        "cluster": {"type": "integer", "minimum": 0}, "name": {"type": "string"}, "keep": {"type": "string"},
        "size": {"type": "integer", "minimum": 2},
        "lowest_similarity": {"type": ["number", "null"]}, "against": {"type": "string"},
    })
}

fn cluster_view() -> Value {
    let mut fields = cluster_fields();
    fields["offset"] = json!({"type": "integer", "minimum": 0});
    fields["members"] = json!({"type": "array", "items": {
        "type": "object", "required": ["n", "id", "kept", "similarity"],
        "properties": {
            "n": {"type": "integer", "minimum": 0}, "id": {"type": "string"}, "kept": {"type": "boolean"},
            "similarity": {"type": ["number", "null"]}, "against": {"type": "string"},
        },
    }});
    let required = ["cluster", "name", "keep", "size", "lowest_similarity", "offset", "members"];
    json!({"type": "object", "required": required, "properties": fields})
}

/// A document as it is sent: text or HTML, with a name where one is needed.
fn document_schema(named: bool) -> Value {
    let kind = if named { json!("string") } else { json!(["string", "null"]) };
    let id = json!({"type": kind, "minLength": 1, "maxLength": LONGEST_ID, "pattern": "^[^\\u0000]+$"});
    let url = json!({"type": ["string", "null"], "maxLength": 8 * LONGEST_ID});
    let fields = json!({"id": id, "url": url, "limit": limit()});
    let kind = |content: &str, other: &str| {
        let mut fields = fields.clone();
        fields[content] = json!({"type": "string"});
        fields[other] = json!({"type": "null"});
        fields["documents"] = json!({"type": "null"});
        let required = if named { vec!["id", content] } else { vec![content] };
        json!({"type": "object", "required": required, "properties": fields})
    };
    json!({"anyOf": [kind("text", "html"), kind("html", "text")]})
}

/// Returns the schema of the number of matches to report; it has no effect where documents are added.
fn limit() -> Value {
    json!({"type": ["integer", "null"], "minimum": 1, "maximum": MOST_MATCHES, "default": MATCHES})
}

fn several(of: &str) -> Value {
    let documents = json!({"type": "array", "items": schema(of)});
    let nothing = json!({"type": "null"});
    let fields = json!({"documents": documents, "text": nothing, "html": nothing, "limit": limit()});
    json!({"type": "object", "required": ["documents"], "properties": fields})
}

fn results(of: &str) -> Value {
    json!({
        "type": "object", "required": ["results"],
        "properties": {"results": {"type": "array", "items": {"anyOf": [schema(of), schema("Error")]}}},
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_address_for_programs_is_described_and_no_other() {
        let routes = crate::routes();
        let served: BTreeSet<(String, String)> = routes
            .iter()
            .filter(|route| !route.page)
            .map(|route| (route.path.to_owned(), route.method.to_lowercase()))
            .collect();
        let description = description(true);
        let described: BTreeSet<(String, String)> = description["paths"]
            .as_object()
            .unwrap()
            .iter()
            .flat_map(|(path, methods)| {
                methods.as_object().unwrap().keys().map(|method| (path.clone(), method.clone()))
            })
            .collect();
        assert_eq!(served, described);
    }

    #[test]
    fn every_schema_that_is_named_is_there() {
        let text = description(true).to_string();
        for piece in text.split("#/components/schemas/").skip(1) {
            let name = piece.split('"').next().unwrap();
            assert!(description(true)["components"]["schemas"][name].is_object(), "{name}");
        }
    }

    #[test]
    fn every_parameter_of_a_path_is_described() {
        let description = description(true);
        for (path, methods) in description["paths"].as_object().unwrap() {
            let Some(name) = path.split_once('{').and_then(|(_, rest)| rest.split('}').next()) else {
                continue;
            };
            for operation in methods.as_object().unwrap().values() {
                let parameters = operation["parameters"].as_array().unwrap();
                assert!(parameters.iter().any(|parameter| parameter["name"] == name), "{path}");
            }
        }
    }
}
