//! Pages are HTML that says what it should, and nothing from a document is more than text.

use html5gum::{Token, Tokenizer};
use lookalike_service::{Settings, routes};
use serde_json::json;

use super::support::{FinishedJob, Server, index, text};

/// All start tags of a page: names, with their attributes.
fn tags(page: &str) -> Vec<(String, Vec<(String, String)>)> {
    let string = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let tokens = Tokenizer::new(page).map(|token| token.unwrap());
    let tag = |token| match token {
        Token::StartTag(tag) => {
            let attributes =
                tag.attributes.iter().map(|(name, value)| (string(name), string(value))).collect();
            Some((string(&tag.name), attributes))
        }
        Token::Error(error) => panic!("{error:?} in {page}"),
        _ => None,
    };
    tokens.filter_map(tag).collect()
}

/// All that pages are made of.
const ALLOWED: &str = "a bdi body button caption code dd del desc details div dl dt figcaption figure form h1 h2 head \
                       header html input ins label line link main meta nav option p pre rect section select span \
                       summary svg table tbody td text textarea th thead title tr";

/// Nothing runs, nothing is loaded from elsewhere, and every field has its label.
#[track_caller]
fn check(page: &str) {
    let tags = tags(page);
    let labelled: Vec<&str> = tags
        .iter()
        .filter(|(name, _)| name == "label")
        .flat_map(|(_, attributes)| {
            attributes.iter().filter(|(name, _)| name == "for").map(|(_, to)| to.as_str())
        })
        .collect();
    for (name, attributes) in &tags {
        assert!(ALLOWED.split(' ').any(|allowed| allowed == name), "<{name}> in {page}");
        let get = |wanted: &str| {
            attributes.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.as_str())
        };
        for (attribute, value) in attributes {
            assert!(!attribute.starts_with("on") && attribute != "style", "{attribute} in {page}");
            if ["href", "action", "src"].contains(&attribute.as_str()) {
                let own = value.starts_with('/') && !value.starts_with("//");
                assert!(own || value == "#main" || value == "data:,", "{value}");
            }
        }
        let hidden = matches!(get("type"), Some("hidden" | "checkbox"));
        if ["input", "select", "textarea"].contains(&name.as_str()) && !hidden {
            assert!(get("id").is_some_and(|id| labelled.contains(&id)), "{attributes:?} has no label");
        }
    }
    let count = |wanted: &str| tags.iter().filter(|(name, _)| name == wanted).count();
    assert_eq!(
        (count("h1"), count("main"), count("title")),
        (1, 1, 1 + count("svg") + count("rect")),
        "{page}"
    );
}

#[test]
fn hostile_documents_are_shown_as_text() {
    let job = FinishedJob::make();
    let server = Server::start(&job.path(), Settings::default());
    let row = server.get("/v1/clusters?search=%3Cb%3E").json()["clusters"][0].clone();
    let keeper = row["cluster"].as_u64().unwrap();
    let other = keeper + 1;
    for address in [
        "/clusters?search=%3Cb%3E%26%22%27".to_owned(),
        format!("/clusters/{keeper}"),
        format!("/documents/{keeper}"),
        format!("/compare?a={keeper}&b={other}"),
        format!("/compare?a={keeper}&b={other}&all=1"),
        "/clusters?search=%3Cscript%3Ealert(1)%3C%2Fscript%3E".to_owned(),
        "/documents/%3Cscript%3E".to_owned(),
        "/%3Cscript%3Ealert(1)".to_owned(),
    ] {
        let page = server.get(&address).body;
        assert!(
            !page.contains("<script") && !page.contains("<b>") && !page.contains("<i>"),
            "{address}: {page}"
        );
        check(&page);
    }
    let page = server.get(&format!("/documents/{keeper}")).has(200).body;
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"), "{page}");
    assert!(page.contains("&lt;b&gt;&amp;&quot;&#39;0") && page.contains("https://example.org/?&lt;i&gt;"));
    let page = server.get(&format!("/compare?a={keeper}&b={other}")).has(200).body;
    assert!(page.contains("<del>0</del>") && page.contains("<ins>1</ins>"), "{page}");
    assert!(page.contains("only numbers and dates differ"));
}

#[test]
fn differences_lead_back_to_their_source() {
    let job = FinishedJob::make();
    let server = Server::start(&job.path(), Settings::default());
    let row = server.get("/v1/clusters?search=%3Cb%3E").json()["clusters"][0].clone();
    let keeper = row["cluster"].as_u64().unwrap();
    let page = server.get(&format!("/compare?a={keeper}&b={}", keeper + 1)).has(200).body;
    // The number stands at the very end of both texts, which are their own sources.
    let length = format!("<script>alert(1)</script> {} number 0", text(77, 0)).len();
    let thousands = |number: usize| format!("{},{:03}", number / 1000, number % 1000);
    let place = format!("{} to {}", thousands(length - 1), thousands(length));
    assert_eq!(page.matches(&place).count(), 2, "{place} in {page}");
}

#[test]
fn every_page_is_sound_and_guarded() {
    let job = FinishedJob::make();
    let server = Server::start(&job.path(), Settings::default());
    for route in
        routes().iter().filter(|route| route.page && route.method == "GET" && route.path != "/style.css")
    {
        let address = route.path.replace("{cluster}", "1").replace("{number}", "0");
        let answer = server.get(&address);
        check(&answer.body);
        let policy = answer.header("content-security-policy").unwrap();
        assert!(policy.starts_with("default-src 'none'; style-src 'self';") && !policy.contains("unsafe"));
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(answer.header("cache-control"), Some("no-store"));
        assert_eq!(answer.header("content-type"), Some("text/html; charset=utf-8"));
    }
    let page = server.get("/").has(200).body;
    assert!(page.contains("602") && page.contains("<svg") && page.contains("Show the recipe"));
}

#[test]
fn a_pasted_text_is_answered_and_compared() {
    let folder = index();
    let server = Server::start(folder.path(), Settings::default());
    let hostile = format!("<script>alert(1)</script> {}", text(1, 0));
    server
        .post("/v1/documents", &json!({"id": "<b>a", "url": "https://a.example/", "text": hostile}))
        .has(200);
    server.post("/v1/documents", &json!({"id": "b", "text": format!("{hostile} more")})).has(200);
    let form = [("Content-Type", "application/x-www-form-urlencoded")];
    let pasted = format!("text=%3Cscript%3Ealert(1)%3C%2Fscript%3E+{}+other", text(1, 0).replace(' ', "+"));
    let page = server.request("POST", "/ask", &form, pasted.as_bytes()).has(200).body;
    check(&page);
    assert!(
        page.contains("Of 2 documents.")
            && page.contains("&lt;b&gt;a")
            && page.contains("href=\"/documents/0\"")
    );
    let page = server.request("POST", "/compare", &form, format!("{pasted}&b=1").as_bytes()).has(200).body;
    check(&page);
    assert!(page.contains("<del>other</del>") && page.contains("<ins>more</ins>"), "{page}");
    let none = server.request("POST", "/ask", &form, b"text=nothing+like+it").has(200).body;
    assert!(none.contains("nothing in the index is like it"));
    check(&server.request("POST", "/ask", &form, b"text=").has(200).body);
    assert_eq!(server.get("/v1/stats").json()["documents"], 2);
    for address in
        ["/", "/clusters", "/clusters/0", "/documents/0", "/documents/1", "/compare?a=0&b=1", "/ask"]
    {
        check(&server.get(address).has(200).body);
    }
    assert_eq!(server.get("/documents?id=b").has(303).header("location"), Some("/documents/1"));
}
