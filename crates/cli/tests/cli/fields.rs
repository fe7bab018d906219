//! Fields by name, on every side: those that no record has are refused, those inside others are found.

use serde_json::{Value, json};

use super::support::{Folder, lookalike};

/// Lines of 60 documents, the last twenty equal to the first, with fields of these names for id and text.
fn lines(id: &str, text: &str) -> String {
    let document = |number: usize| {
        let words: Vec<String> =
            (0..30).map(|place| format!("w{}", (number % 40) * 31 + place * 7)).collect();
        json!({
            id: format!("d{number}"), text: words.join(" "), "lang": if number.is_multiple_of(2) { "en" } else { "de" },
            "url": format!("http://h{}.example/{number}", number % 7), "meta": { "date": number, "link": format!("http://l/{number}") },
        })
    };
    (0..60).map(|number| format!("{}\n", document(number))).collect()
}

fn folder() -> Folder {
    let folder = Folder::new();
    folder.file("a.jsonl", lines("id", "text"));
    folder.file("b.jsonl", lines("key", "body"));
    folder
}

/// Runs a command line inside of the folder.
fn run(folder: &Folder, words: &str) -> super::support::RunOutput {
    lookalike(words.split_whitespace()).inside(folder.path()).run()
}

#[test]
fn a_field_that_no_record_has_ends_every_command_before_the_work() {
    let folder = folder();
    folder.file("a.csv", "id,lang,text,url\n1,en,one two,http://a/\n");
    folder.file("q.qrels", "1 0 d1 1\n");
    for (words, name) in [
        ("dedup a.jsonl -o out --within lnag", "lnag"),
        ("dedup a.jsonl -o out --keep field:lnag", "lnag"),
        ("dedup a.jsonl -o out --order-field lnag", "lnag"),
        ("dedup a.jsonl -o out --id-field lnag", "lnag"),
        ("dedup a.jsonl -o out --text-field lnag", "lnag"),
        ("dedup a.jsonl -o out --html-field lnag", "lnag"),
        ("dedup a.jsonl -o out --url-field lnag", "lnag"),
        ("dedup a.csv -o out --url-field lnag", "lnag"),
        ("dedup a.jsonl -o out --within meta.lnag", "meta.lnag"),
        ("dedup b.jsonl --text-field body --id-field key -o out --against a.jsonl", "key"),
        ("dedup a.jsonl -o out --against b.jsonl --against-fields text=body,id=lnag", "lnag"),
        ("pairs a.jsonl -o out.jsonl --id-field lnag", "lnag"),
        ("compare a.jsonl --with b.jsonl --with-fields text=lnag -o out", "lnag"),
        ("urls a.jsonl --with a.jsonl -o out --url-field lnag", "lnag"),
        ("transfer --judgments q.qrels --from a.jsonl --to b.jsonl --to-fields text=lnag -o out", "lnag"),
        ("lexicon a.jsonl -o out --text-field lnag", "lnag"),
        ("lab compare a.jsonl -o out --text-field lnag", "lnag"),
        ("corpus convert a.jsonl -o out.jsonl --text-field lnag", "lnag"),
        ("dedup a.jsonl -o out --into index --within lnag", "lnag"),
    ] {
        let done = run(&folder, words).exits(1);
        let said = done.stderr.lines().last().unwrap();
        assert!(said.starts_with("lookalike: no record of the first "), "{words}: {said}");
        assert!(said.contains(&format!(" has a field \"{name}\"; there are ")), "{words}: {said}");
        assert!(
            name != "lnag" || said.contains("body") || said.ends_with("did you mean lang?"),
            "{words}: {said}"
        );
        assert_eq!(done.stdout, "", "{words}");
        // The same folder can be named again.
        let _ = std::fs::remove_dir_all(folder.join("out"));
    }
}

#[test]
fn an_index_refuses_documents_without_the_field_that_it_was_made_for() {
    let folder = folder();
    run(&folder, "index create index --text-field txet").exits(0);
    let done = run(&folder, "index add index a.jsonl").exits(1);
    assert!(done.stderr.contains("has a field \"txet\"; there are "), "{}", done.stderr);
}

#[test]
fn fields_inside_others_are_found_by_every_option() {
    let folder = folder();
    let nested = |line: &str| {
        let document: Value = serde_json::from_str(line).unwrap();
        format!("{}\n", json!({ "page": document, "n": 1 }))
    };
    folder.file("n.jsonl", lines("id", "text").lines().map(nested).collect::<String>());
    let names = "--id-field page.id --text-field page.text --url-field page.url";
    let counts = |out: &str| -> Value {
        let text = std::fs::read(folder.join(out).join("summary.json")).unwrap();
        let summary: Value = serde_json::from_slice(&text).unwrap();
        json!([summary["documents"], summary["removed"], summary["rejected"]])
    };
    run(&folder, "dedup a.jsonl -o plain --within lang --keep field:meta.date:desc").exits(0);
    let options = format!("{names} --within page.lang --keep field:page.meta.date:desc");
    run(&folder, &format!("dedup n.jsonl -o inside {options}")).exits(0);
    assert_eq!(counts("inside"), json!([60, 20, 0]));
    assert_eq!(counts("inside"), counts("plain"));
    let removed = |out: &str| std::fs::read_to_string(folder.join(out).join("removed.jsonl")).unwrap();
    assert_eq!(removed("inside"), removed("plain"));
    run(
        &folder,
        "urls a.jsonl --with n.jsonl --with-fields url=page.url,id=page.id,text=page.text -o shared",
    )
    .exits(0);
    let shared: Value =
        serde_json::from_slice(&std::fs::read(folder.join("shared/summary.json")).unwrap()).unwrap();
    assert_eq!((&shared["shared_urls"], &shared["similarity"]["near"]), (&json!(60), &json!(60)));
    run(&folder, "urls a.jsonl --with a.jsonl --url-field meta.link -o links").exits(0);
}

#[test]
fn each_side_can_have_its_own_names_and_results_are_those_of_one_name() {
    let folder = folder();
    let removed = |out: &str, words: &str| {
        run(&folder, &format!("dedup {words} -o {out}")).exits(0);
        std::fs::read_to_string(folder.join(out).join("removed.jsonl")).unwrap()
    };
    let same = removed("same", "a.jsonl --against a.jsonl");
    assert_eq!(same.lines().count(), 60);
    assert_eq!(removed("other", "a.jsonl --against b.jsonl --against-fields text=body,id=key"), same);
    let recipe = std::fs::read_to_string(folder.join("other/recipe.toml")).unwrap();
    assert!(recipe.ends_with("[other-fields]\nid = \"key\"\ntext = \"body\"\n"), "{recipe}");
    assert_eq!(removed("replayed", "a.jsonl --against b.jsonl --recipe other/recipe.toml"), same);
    run(&folder, "compare a.jsonl --with b.jsonl --with-fields text=body,id=key -o both").exits(0);
    let both: Value =
        serde_json::from_slice(&std::fs::read(folder.join("both/summary.json")).unwrap()).unwrap();
    assert_eq!((&both["near"], &both["right"]["rejected"]), (&json!(60), &json!(0)));
    folder.file("q.qrels", "1 0 d1 1\n1 0 d2 0\n");
    let words =
        "transfer --judgments q.qrels --from a.jsonl --to b.jsonl --to-fields text=body,id=key -o moved";
    run(&folder, words).exits(0);
    assert_eq!(std::fs::read_to_string(folder.join("moved/qrels.txt")).unwrap().lines().count(), 2);
}

#[test]
fn names_of_the_other_side_must_be_of_fields_that_are_looked_at() {
    let folder = folder();
    for (words, said) in [
        (
            "dedup a.jsonl -o out --against b.jsonl --against-fields lang=language",
            "\"lang\" names no field that is looked at",
        ),
        (
            "dedup a.jsonl -o out --against b.jsonl --against-fields text",
            "two names with = between are wanted",
        ),
        ("dedup a.jsonl -o out --against-fields text=body", "--against"),
        (
            "urls a.jsonl --with b.jsonl -o out --with-fields title=headline",
            "\"title\" names no field that is looked at",
        ),
    ] {
        let done = run(&folder, words).exits(2);
        assert!(done.stderr.contains(said), "{words}: {}", done.stderr);
    }
}
