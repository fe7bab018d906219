//! One contract for all engines: their answers are those of a plain scan.

use crate::common::server::Server;
use crate::common::{
    Page, Scan, borrowed, check_contract, generated, is_cut_alike, plain, queries, sqlite, tantivy,
};
use lookalike_search_engines::building::{BuildOptions, IndexBuilder, build};
use lookalike_search_engines::sqlite::{SqliteBuilder, SqliteEngine};
use lookalike_search_engines::tantivy::{TantivyBuilder, TantivyEngine};
use lookalike_search_engines::{Options, Query, SearchEngine, open};

/// Describes the server of the tests.
const DESCRIPTION: &str = r#"
    name = "served"
    search = "http://HOST/search?q={query}&n={limit}"
    all = "|"
    any = "~"
    urls = "results[*].url"
    claimed = "total"
    cap = 1000
    fetch = "http://HOST/page?u={url}"
    text = "page.text"
    has = "http://HOST/has?u={url}"
    has_value = "known"
    delay = 0.0
"#;

#[test]
fn tantivy_finds_what_a_scan_finds() {
    let folder = tempfile::tempdir().unwrap();
    let pages = plain(300);
    check_contract(&mut tantivy(folder.path(), &pages, 1_000), &pages, &queries(&pages));
}

#[test]
fn sqlite_finds_what_a_scan_finds() {
    let folder = tempfile::tempdir().unwrap();
    let pages = plain(300);
    check_contract(&mut sqlite(folder.path(), &pages, 1_000), &pages, &queries(&pages));
}

#[test]
fn both_read_a_web_in_nine_languages() {
    let folder = tempfile::tempdir().unwrap();
    let mut pages = generated(200);
    check_contract(&mut tantivy(folder.path(), &pages, 1_000), &pages, &queries(&pages));
    pages.retain(|(_, text)| is_cut_alike(text));
    assert!((100..200).contains(&pages.len()), "{} pages", pages.len());
    check_contract(&mut sqlite(folder.path(), &pages, 1_000), &pages, &queries(&pages));
}

#[test]
fn an_engine_over_http_finds_what_a_scan_finds() {
    let folder = tempfile::tempdir().unwrap();
    let pages = plain(300);
    let server = Server::for_engine(Box::new(tantivy(folder.path(), &pages, 1_000)));
    let description = server.describe(folder.path(), DESCRIPTION);
    let mut engine = open(&format!("http:{}", description.display()), &Options::default()).unwrap();
    assert_eq!((engine.name(), engine.kind(), engine.cap()), ("served", "http", 1_000));
    check_contract(&mut engine, &pages, &queries(&pages));
}

#[test]
fn engines_are_opened_by_their_specification() {
    let folder = tempfile::tempdir().unwrap();
    let pages = plain(50);
    drop((tantivy(folder.path(), &pages, 9), sqlite(folder.path(), &pages, 9)));
    let options = Options { cap: Some(7), ..Options::default() };
    for (file, kind) in [("pages.tantivy", "tantivy"), ("pages.db", "sqlite")] {
        let path = folder.path().join(file).display().to_string();
        let mut engine = open(&path, &options).unwrap();
        assert_eq!((engine.name(), engine.kind(), engine.cap()), ("pages", kind, 7));
        let results = engine.search(&Query::any(["or", "and", "word2"]), 1_000).unwrap();
        assert_eq!((results.urls.len(), results.more), (7, true));
        assert_eq!(open(&format!("ours={kind}:{path}"), &options).unwrap().name(), "ours");
    }
    let error = open("tantivy:nowhere", &options).err().unwrap();
    assert!(error.to_string().starts_with("nowhere: nowhere cannot be opened"), "{error}");
}

fn builders(folder: &std::path::Path, name: &str, options: &BuildOptions) -> [Box<dyn IndexBuilder>; 2] {
    [
        TantivyBuilder::create(&folder.join(format!("{name}.tantivy")), options).unwrap(),
        SqliteBuilder::create(&folder.join(format!("{name}.db")), options).unwrap(),
    ]
}

fn opened(folder: &std::path::Path, name: &str) -> [Box<dyn SearchEngine>; 2] {
    [
        Box::new(TantivyEngine::open("t", &folder.join(format!("{name}.tantivy")), 100).unwrap()),
        Box::new(SqliteEngine::open("s", &folder.join(format!("{name}.db")), 100).unwrap()),
    ]
}

/// The order of results, too, is the same for two builds, however little memory one of them has.
#[test]
fn equal_pages_make_equal_engines() {
    let folder = tempfile::tempdir().unwrap();
    let pages = generated(150);
    let small = BuildOptions { memory: 1, ..BuildOptions::default() };
    for (name, options) in [("one", &BuildOptions::default()), ("two", &small)] {
        for builder in builders(folder.path(), name, options) {
            build(builder, borrowed(&pages)).unwrap();
        }
    }
    for (mut one, mut two) in opened(folder.path(), "one").into_iter().zip(opened(folder.path(), "two")) {
        assert_eq!(one.fingerprint(), two.fingerprint());
        for query in queries(&pages) {
            assert_eq!(one.search(&query, 50).unwrap(), two.search(&query, 50).unwrap(), "{query:?}");
        }
    }
}

/// Pages of one word each have equal scores, and stand as they came.
#[test]
fn ties_stand_in_the_order_of_the_pages() {
    let folder = tempfile::tempdir().unwrap();
    let pages: Vec<Page> =
        (0..90).map(|number| (format!("u{}", number * 37 % 90), "same".to_owned())).collect();
    for builder in builders(folder.path(), "x", &BuildOptions::default()) {
        build(builder, borrowed(&pages)).unwrap();
    }
    let wanted = Scan::new(&pages).search(&Query::all(["same"]));
    for mut engine in opened(folder.path(), "x") {
        assert_eq!(engine.search(&Query::all(["same"]), 100).unwrap().urls, wanted);
    }
}

#[test]
fn only_the_first_bytes_or_another_text_may_be_indexed() {
    let folder = tempfile::tempdir().unwrap();
    let options = BuildOptions { first_bytes: Some(11), ..BuildOptions::default() };
    for mut builder in builders(folder.path(), "x", &options) {
        builder.add("a", "early words late", "early words late").unwrap();
        builder.add("b", "a link here", "the page itself").unwrap();
        assert!(builder.add("b", "again", "again").is_err());
        assert_eq!(builder.finish().unwrap(), 2);
    }
    for mut engine in opened(folder.path(), "x") {
        let mut found = |word: &str| engine.search(&Query::all([word]), 9).unwrap().urls;
        assert_eq!(found("words"), ["a"]);
        assert_eq!(found("late"), [""; 0]);
        assert_eq!(found("link"), ["b"]);
        assert_eq!(found("itself"), [""; 0]);
        assert_eq!(engine.fetch("a").unwrap().unwrap().text, "early words late");
        assert_eq!(engine.fetch("b").unwrap().unwrap().text, "the page itself");
    }
}

#[test]
fn an_index_appears_whole_and_never_over_another() {
    let folder = tempfile::tempdir().unwrap();
    for mut builder in builders(folder.path(), "x", &BuildOptions::default()) {
        builder.add("a", "b", "b").unwrap();
    }
    assert!(!folder.path().join("x.tantivy").exists() && !folder.path().join("x.db").exists());
    for builder in builders(folder.path(), "x", &BuildOptions::default()) {
        assert_eq!(builder.finish().unwrap(), 0);
    }
    for mut engine in opened(folder.path(), "x") {
        assert_eq!(engine.search(&Query::all(["b"]), 9).unwrap().urls, [""; 0]);
        assert_eq!((engine.fetch("a").unwrap(), engine.has("a").unwrap().unwrap()), (None, false));
    }
    let error = SqliteBuilder::create(&folder.path().join("x.db"), &BuildOptions::default()).err().unwrap();
    assert!(error.to_string().contains("exists already"), "{error}");
}
