//! Two corpora: what is found of one in the other, and judgments that go with it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::job_support::{BruteForce, assert_same, families, ids, json, results};
use super::support::{Doc, Folder, Invocation, json_lines, jsonl, lookalike};

fn compare(words: &str) -> Invocation {
    lookalike(std::iter::once("compare").chain(words.split_whitespace()))
}

fn transfer(words: &str) -> Invocation {
    lookalike(std::iter::once("transfer").chain(words.split_whitespace()))
}

/// Some documents on the left, others on the right, with members of one family on both.
fn sides(count: usize) -> [Vec<Doc>; 2] {
    let (left, right): (Vec<_>, Vec<_>) =
        families(count, 11).into_iter().enumerate().partition(|(number, _)| number % 3 == 0);
    [left, right].map(|side| side.into_iter().map(|(_, document)| document).collect())
}

fn put(folder: &Folder, sides: &[Vec<Doc>; 2]) -> [PathBuf; 2] {
    [folder.file("left.jsonl", jsonl(&sides[0])), folder.file("right.jsonl", jsonl(&sides[1]))]
}

fn run(folder: &Folder, [left, right]: &[PathBuf; 2], words: &str, name: &str) -> PathBuf {
    let job = folder.join(name);
    compare(words).path(left).option("--with", right).option("-o", &job).run().exits(0);
    job
}

fn near(pairs: &[Value]) -> Vec<(&str, &str)> {
    let near: Vec<&Value> = pairs.iter().filter(|pair| pair["near"] == true).collect();
    near.into_iter().map(|pair| (pair["a"].as_str().unwrap(), pair["b"].as_str().unwrap())).collect()
}

#[test]
fn the_exact_method_finds_every_pair_between_two_corpora_and_none_inside_one() {
    let folder = Folder::new();
    let sides = sides(300);
    let job = run(&folder, &put(&folder, &sides), "--method exact", "job");
    let all = sides.concat();
    let brute_force = BruteForce::of(&all);
    let border = sides[0].len();
    let expected: BTreeMap<(&str, &str), f64> = brute_force
        .all_pairs(0.8)
        .into_iter()
        .filter(|((a, b), _)| *a < border && *b >= border)
        .map(|((a, b), value)| ((all[a].id.as_str(), all[b].id.as_str()), value))
        .collect();
    let pairs = json_lines(&job.join("pairs.jsonl"));
    assert!(expected.len() > 40, "{}", expected.len());
    assert_eq!(near(&pairs).into_iter().collect::<BTreeSet<_>>(), expected.keys().copied().collect());
    for pair in &pairs {
        let ids = (pair["a"].as_str().unwrap(), pair["b"].as_str().unwrap());
        let similarity = pair["similarity"].as_f64().unwrap();
        assert_eq!(pair["near"], similarity >= 0.8);
        assert!(expected.get(&ids).is_none_or(|value| (value - similarity).abs() < 1e-6));
    }
    let best = json_lines(&job.join("best.jsonl"));
    for line in &best {
        let of = |pair: &&Value| pair["a"] == line["a"];
        let highest =
            pairs.iter().filter(of).filter_map(|pair| pair["similarity"].as_f64()).fold(0.0, f64::max);
        assert_eq!(line["similarity"].as_f64(), Some(highest));
        assert_eq!(line["pairs"].as_u64(), Some(pairs.iter().filter(of).count() as u64));
    }
    let summary = json(&job.join("summary.json"));
    assert_eq!(summary["left"]["documents"], 100);
    assert_eq!(summary["right"]["documents"], 200);
    assert_eq!(summary["found"], best.len());
    assert_eq!(summary["near_pairs"], expected.len());
}

#[test]
fn threads_memory_spool_and_the_larger_side_change_nothing() {
    let folder = Folder::new();
    let sides = sides(240);
    let inputs = put(&folder, &sides);
    let words = "--method minhash --method simhash:n=3 --method a4";
    let expected = results(&run(&folder, &inputs, words, "first"));
    for (name, more) in
        [("one", "--threads 1 --memory 256M"), ("four", "--threads 4 --spool disk"), ("none", "--spool none")]
    {
        let job = run(&folder, &inputs, &format!("{words} {more}"), name);
        assert_same(&expected, &results(&job), more);
    }
    // With sides changed, the larger one is read first, and the pairs are the same.
    let [left, right] = inputs.clone();
    let turned = run(&folder, &[right, left], words, "turned");
    let turn = |pairs: &[Value]| -> BTreeSet<(String, String)> {
        ids(pairs).into_iter().map(|(a, b)| (b.to_owned(), a.to_owned())).collect()
    };
    let straight = json_lines(&folder.join("first/pairs.jsonl"));
    let straight: BTreeSet<_> =
        ids(&straight).into_iter().map(|(a, b)| (a.to_owned(), b.to_owned())).collect();
    assert_eq!(turn(&json_lines(&turned.join("pairs.jsonl"))), straight);
}

#[test]
fn segments_accumulate_and_methods_are_held_against_each_other() {
    let folder = Folder::new();
    let [left, right] = sides(300);
    let left = folder.file("left.jsonl", jsonl(&left));
    for (part, documents) in right.chunks(50).enumerate() {
        folder.file(format!("right/{part}.jsonl"), jsonl(documents));
    }
    let job = folder.join("job");
    compare("--segment file --forecast 20 --method simhash:n=2 --method simhash:n=3+5 --shingle 1 --threshold 0.9")
        .path(&left)
        .option("--with", folder.join("right"))
        .option("-o", &job)
        .run()
        .exits(0);
    let (summary, pairs) = (json(&job.join("summary.json")), json_lines(&job.join("pairs.jsonl")));
    let segments: Vec<&str> =
        summary["segments"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert_eq!(segments.len(), 4);
    for method in ["simhash:n=2", "simhash:n=3+5"] {
        let accepted = |pair: &&Value| pair["methods"].as_array().unwrap().iter().any(|name| name == method);
        let mut seen = BTreeSet::new();
        let mut accumulated = Vec::new();
        for segment in &segments {
            let here: Vec<&Value> =
                pairs.iter().filter(accepted).filter(|pair| pair["segment"] == *segment).collect();
            let found: BTreeSet<&str> = here.iter().filter_map(|pair| pair["a"].as_str()).collect();
            let counted = summary["statistics"].as_array().unwrap().iter();
            let cell = counted
                .into_iter()
                .find(|row| row["segment"] == *segment && row["method"] == method)
                .unwrap();
            assert_eq!(cell["pairs"], here.len());
            assert_eq!(cell["found"], found.len());
            seen.extend(found);
            accumulated.push(seen.len());
        }
        assert!(accumulated[3] > 10, "{accumulated:?}");
        assert_eq!(summary["accumulated"][method], Value::from(accumulated.clone()));
        // The line of least squares through the four of them, at 20.
        let points: Vec<(f64, f64)> =
            accumulated.iter().enumerate().map(|(x, &y)| ((x + 1) as f64, y as f64)).collect();
        let mean = points.iter().map(|(_, y)| y).sum::<f64>() / 4.0;
        let slope = points.iter().map(|(x, y)| (x - 2.5) * (y - mean)).sum::<f64>() / 5.0;
        let told = summary["forecast"]["found"][method].as_f64().unwrap();
        assert!((told - (mean + slope * 17.5)).abs() < 1e-9, "{told}");
    }
    assert!(summary["forecast"]["warning"].as_str().unwrap().contains("promises too much"));
    let page = std::fs::read_to_string(job.join("report.html")).unwrap();
    for words in ["Found documents per segment", "promises too much", "All pairs", "Method against method"] {
        assert!(page.contains(words), "{words}");
    }
}

#[test]
fn snapshots_tell_what_lives_on() {
    let folder = Folder::new();
    let text = |n: usize| families(40, 3)[n].text.clone();
    let line = |id: &str, n: usize| {
        format!(
            "{{\"id\":\"{id}\",\"url\":\"http://{}.org/{n}\",\"text\":{:?}}}\n",
            ["a", "b"][n % 2],
            text(n)
        )
    };
    let snapshot = |name: &str, numbers: &[usize]| {
        let lines: String = numbers.iter().map(|&n| line(&format!("{name}{n}"), n)).collect();
        folder.file(format!("{name}.jsonl"), lines)
    };
    // Documents that are like no other of their corpus, so that it is plain who lives on.
    let all = families(40, 3);
    let brute_force = BruteForce::of(&all);
    let pairs = brute_force.all_pairs(0.5);
    let alone: Vec<usize> =
        (0..40).filter(|n| !pairs.keys().any(|(a, b)| a == n || b == n)).take(8).collect();
    assert_eq!(alone.len(), 8);
    let [left, first, second] =
        [snapshot("l", &alone), snapshot("x", &alone[..6]), snapshot("y", &alone[4..])];
    let job = folder.join("job");
    compare("").path(left).option("--with", first).option("--with", second).option("-o", &job).run().exits(0);
    let lives = json(&job.join("summary.json"))["persistence"].clone();
    assert_eq!(lives["documents"], 8);
    assert_eq!(lives["near"], Value::from(vec![6, 4]));
    assert_eq!(lives["near_so_far"], Value::from(vec![6, 2]));
}

#[test]
fn a_stopped_comparison_goes_on_and_a_finished_one_says_so() {
    let folder = Folder::new();
    let inputs = put(&folder, &sides(150));
    let expected = results(&run(&folder, &inputs, "", "expected"));
    let job = folder.join("job");
    let again = |job: &Path| compare("").path(&inputs[0]).option("--with", &inputs[1]).option("-o", job);
    // A folder stands where a table should go.
    std::fs::create_dir_all(job.join("work")).unwrap();
    std::fs::write(job.join("work/lock"), "").unwrap();
    std::fs::create_dir_all(job.join("best.jsonl/x")).unwrap();
    again(&job).run().exits(1);
    assert!(!job.join("summary.json").exists());
    std::fs::remove_dir_all(job.join("best.jsonl")).unwrap();
    let done = again(&job).run().exits(0);
    assert_same(&expected, &results(&job), "after a stop");
    let told = again(&job).run().exits(0);
    assert!(told.stderr.contains("holds this job, finished"), "{}", told.stderr);
    assert_eq!(told.stdout, done.stdout);
    compare("--threshold 0.7")
        .path(&inputs[0])
        .option("--with", &inputs[1])
        .option("-o", &job)
        .run()
        .refuses_with(1, &["holds a job with another recipe", "threshold"]);
    let other = compare("--segment file --forecast 9").path(&inputs[0]).option("--with", &inputs[1]);
    other.option("-o", &job).run().refuses_with(2, &["counted by other segments or with another forecast"]);
    // A folder that has a work folder of its own is somebody else's.
    let foreign = folder.file("foreign/work/kept.txt", "mine");
    again(&folder.join("foreign")).run().refuses_with(1, &["holds files that are no job of lookalike"]);
    assert!(foreign.exists());
}

#[test]
fn ids_on_both_sides_are_counted_and_told_apart() {
    let folder = Folder::new();
    let documents = families(30, 5);
    let inputs = put(&folder, &[documents.clone(), documents]);
    let job = run(&folder, &inputs, "", "job");
    let summary = json(&job.join("summary.json"));
    assert_eq!(summary["common_ids"], 30);
    let pairs = json_lines(&job.join("pairs.jsonl"));
    let itself = pairs.iter().filter(|pair| pair["a"] == pair["b"] && pair["similarity"] == 1.0).count();
    assert_eq!(itself, 30);
}

#[test]
fn a_dump_of_a_wiki_can_be_the_left_side() {
    let folder = Folder::new();
    let words = &families(2, 9)[1].text;
    let dump = format!(
        "<mediawiki xmlns=\"http://www.mediawiki.org/xml/export-0.11/\" version=\"0.11\" xml:lang=\"en\">\n<siteinfo><sitename>W</sitename>\
         <base>http://w.example/wiki/Main</base></siteinfo>\n<page><title>Rose</title><ns>0</ns><id>7</id><revision><id>8</id>\
         <model>wikitext</model><format>text/x-wiki</format><text>'''{words}'''</text></revision></page>\n</mediawiki>\n"
    );
    let left = folder.file("wiki.xml", dump);
    let page = format!("{{\"id\":\"p\",\"html\":\"<p>Rose {words}\"}}\n");
    let right = folder.file("right.jsonl", page);
    let job = run(&folder, &[left, right], "", "job");
    let pairs = json_lines(&job.join("pairs.jsonl"));
    assert_eq!(pairs.len(), 1, "{pairs:?}");
    assert_eq!((pairs[0]["b"].as_str(), pairs[0]["near"].as_bool()), (Some("p"), Some(true)));
}

#[test]
fn what_cannot_be_compared_is_told_in_a_sentence() {
    let folder = Folder::new();
    let [left, right] = put(&folder, &sides(12));
    let to = |words: &str| compare(words).option("-o", folder.join("job"));
    to("-").option("--with", &right).run().refuses_with(2, &["left side", "standard input"]);
    to("").path(&left).option("--with", folder.join("gone.jsonl")).run().refuses_with(1, &["gone.jsonl"]);
    to("--method nothing")
        .path(&left)
        .option("--with", &right)
        .run()
        .refuses_with(2, &["there is no method nothing"]);
    assert!(!folder.join("job").exists());
}

/// An old corpus, a new one in two files, judgments, and what should become of them.
struct Crawls {
    folder: Folder,
    old: PathBuf,
    new: PathBuf,
    qrels: PathBuf,
}

/// Word sets: of 20 words, one other word makes a similarity of 19/21, and two of 18/22.
fn words(family: usize, others: usize) -> String {
    (0..40)
        .map(|n| if n < others { format!("o{family}x{n}") } else { format!("w{family}x{n}") })
        .collect::<Vec<_>>()
        .join(" ")
}

fn crawls() -> Crawls {
    let folder = Folder::new();
    let page = |id: &str, url: &str, text: &str| {
        format!("{{\"id\":\"{id}\",\"url\":\"{url}\",\"text\":\"{text}\"}}\n")
    };
    let old = [
        page("same", "http://a.org/1", &words(1, 0)),
        page("moved", "http://a.org/2", &words(2, 0)),
        page("edited", "http://a.com/3", &words(3, 0)),
        page("rewritten", "http://a.com/4", &words(4, 0)),
        page("gone", "http://a.com/5", &words(5, 0)),
        page("twin", "http://a.net/6", &words(1, 1)),
        page("unjudged", "http://a.net/7", &words(7, 0)),
    ];
    let new = [
        page("n-same", "http://A.org/1#x", &words(1, 0)),
        page("n-moved", "http://b.org/2", &words(2, 0)),
        page("n-edited", "https://www.a.com/3/", &words(3, 1)),
        page("n-copy", "http://c.com/3", &words(3, 0)),
        page("n-rewritten", "http://a.com/4", &words(4, 9)),
        page("n-unjudged", "http://a.net/7", &words(7, 0)),
        page("same", "http://d.org/", &words(9, 0)),
    ];
    let qrels = "1 0 same 2\n1 0 moved -2\n1 0 gone 1\n2 0 edited 4\n2 0 rewritten 1\n3 0 twin 0\n3 0 same 3\n4 0 rewritten 1\n\
                 5 0 nowhere 1\n";
    let old = folder.file("old.jsonl", old.concat());
    folder.file("new/a.jsonl", new[..4].concat());
    folder.file("new/b.jsonl", new[4..].concat());
    let qrels = folder.file("qrels.web.txt", qrels);
    let new = folder.join("new");
    Crawls { folder, old, new, qrels }
}

impl Crawls {
    fn to(&self, words: &str, name: &str) -> Invocation {
        let run = transfer(words).option("--judgments", &self.qrels).option("--from", &self.old);
        run.option("--to", &self.new).option("-o", self.folder.join(name))
    }
}

fn text(path: impl AsRef<Path>) -> String {
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn judgments_go_to_the_best_near_duplicate() {
    let crawls = crawls();
    let done = crawls.to("--method exact --segment file", "out").run().exits(0);
    let out = crawls.folder.join("out");
    // The most similar old document decides, and twins that disagree are told.
    assert_eq!(text(out.join("qrels.txt")), "1 0 n-same 2\n1 0 n-moved -2\n2 0 n-copy 4\n3 0 n-same 3\n");
    let conflicts = json_lines(&out.join("conflicts.jsonl"));
    assert_eq!(conflicts.len(), 1);
    assert_eq!(
        (conflicts[0]["kept"]["old"].as_str(), conflicts[0]["dropped"][0]["grade"].as_str()),
        (Some("same"), Some("0"))
    );
    let mapping = json_lines(&out.join("mapping.jsonl"));
    let row =
        |old: &str, new: &str| mapping.iter().find(|row| row["old"] == old && row["new"] == new).unwrap();
    assert_eq!(row("same", "n-same")["url"], "same");
    assert_eq!(row("moved", "n-moved")["url"], "different");
    let canonical = row("edited", "n-edited");
    assert_eq!((canonical["url"].as_str(), canonical["best"].as_bool()), (Some("canonical"), Some(false)));
    assert!((canonical["similarity"].as_f64().unwrap() - 39.0 / 41.0).abs() < 1e-9);
    assert_eq!(mapping.len(), 5);
    let summary = json(&out.join("summary.json"));
    assert_eq!(
        (summary["judged"].as_u64(), summary["missing"].as_u64(), summary["written"].as_u64()),
        (Some(7), Some(1), Some(4))
    );
    assert_eq!(json_lines(&out.join("missing.jsonl"))[0]["document"], "nowhere");
    let ways = &summary["moved_by"];
    let documents = |way: &str| ways[way]["documents"].as_u64().unwrap();
    // The page of the edited one is at another address in normal form; twin's address is not there.
    assert_eq!(["both", "content_only", "address_only", "neither"].map(documents), [1, 3, 1, 1]);
    assert_eq!(summary["common_ids"], 1);
    assert_eq!(summary["tracks"][0]["grades_after"], serde_json::json!({"-2": 1, "2": 1, "3": 1, "4": 1}));
    let topics = text(out.join("topics.tsv"));
    assert!(
        topics.contains("qrels.web\t4\t1\t0\t1\t0\tyes\n")
            && topics.contains("qrels.web\t1\t3\t2\t2\t1\tno\n"),
        "{topics}"
    );
    let review = json_lines(&out.join("review.jsonl"));
    assert!(review.iter().any(|pair| pair["a"] == "moved" && pair["text_b"] == words(2, 0).as_str()));
    assert!(!out.join("work").exists());
    let again = crawls.to("--method exact --segment file", "out").run().exits(0);
    assert!(again.stderr.contains("holds this transfer, finished"), "{}", again.stderr);
    assert_eq!(again.stdout, done.stdout);
    let other = crawls.to("--method exact --segment file --matches all", "out").run();
    other.refuses_with(2, &["holds a transfer of other judgments or corpora, or with other options"]);
}

#[test]
fn judgments_go_to_all_near_duplicates_when_asked() {
    let crawls = crawls();
    crawls.to("--matches all", "out").run().exits(0);
    let qrels = text(crawls.folder.join("out/qrels.txt"));
    assert_eq!(qrels, "1 0 n-same 2\n1 0 n-moved -2\n2 0 n-copy 4\n2 0 n-edited 4\n3 0 n-same 3\n");
}

#[test]
fn several_files_keep_their_layouts() {
    let crawls = crawls();
    let prels = crawls.folder.file("prels.mq.txt", "20001 same 1 1 0.5\n20001 gone 0 2 1.0\n");
    let run = transfer("").option("--judgments", &crawls.qrels).path(prels).option("--from", &crawls.old);
    run.option("--to", &crawls.new).option("-o", crawls.folder.join("out")).run().exits(0);
    let out = crawls.folder.join("out");
    assert_eq!(text(out.join("qrels/prels.mq.txt")), "20001 n-same 1 1 0.5\n");
    assert!(text(out.join("qrels.txt")).ends_with("20001 0 n-same 1\n"));
    assert!(text(out.join("qrels/qrels.web.txt")).starts_with("1 0 n-same 2\n"));
}

#[test]
fn a_stopped_transfer_goes_on() {
    let crawls = crawls();
    crawls.to("", "expected").run().exits(0);
    let out = crawls.folder.join("out");
    std::fs::create_dir_all(out.join("work")).unwrap();
    std::fs::write(out.join("work/lock"), "").unwrap();
    std::fs::create_dir_all(out.join("mapping.jsonl/x")).unwrap();
    crawls.to("", "out").run().exits(1);
    std::fs::remove_dir_all(out.join("mapping.jsonl")).unwrap();
    crawls.to("", "out").run().exits(0);
    assert_same(&results(&crawls.folder.join("expected")), &results(&out), "after a stop");
}

#[test]
fn what_cannot_be_carried_over_is_told_in_a_sentence() {
    let crawls = crawls();
    let folder = &crawls.folder;
    let run = |qrels: PathBuf, from: &Path| {
        let run = transfer("").option("--judgments", qrels).option("--from", from);
        run.option("--to", &crawls.new).option("-o", folder.join("out")).run()
    };
    let broken = folder.file("broken.txt", "1 0 same 2\n1 0 moved\n");
    run(broken, &crawls.old).refuses_with(1, &["broken.txt, line 2: "]);
    let foreign = folder.file("foreign.txt", "1 0 x 2\n1 0 y 1\n");
    run(foreign, &crawls.old).refuses_with(1, &["none of the 2 judged documents is in the old corpus"]);
    let nothing = folder.file("nothing.txt", "\n");
    run(nothing, &crawls.old).refuses_with(2, &["there is no judgment of a document"]);
    assert!(!folder.join("out").exists());
    // Two files that both have topic 1 make no file of all.
    let twin = folder.file("twin.txt", "1 0 same 0\n");
    let both = transfer("").option("--judgments", &crawls.qrels).path(twin).option("--from", &crawls.old);
    both.option("--to", &crawls.new).option("-o", folder.join("both")).run().exits(0);
    assert!(!folder.join("both/qrels.txt").exists() && folder.join("both/qrels/twin.txt").exists());
    folder.file("full/a.txt", "something else");
    let run = transfer("").option("--judgments", &crawls.qrels).option("--from", &crawls.old);
    let run = run.option("--to", &crawls.new).option("-o", folder.join("full")).run();
    run.refuses_with(1, &["holds files that are no job of lookalike"]);
}

/// A line of the truth of generated crawls.
struct Truth {
    document: String,
    judgments: Vec<(String, i64)>,
    /// Near-duplicates: id, similarity, segment.
    near: Vec<(String, f64, u64)>,
}

fn truth(path: &Path) -> Vec<Truth> {
    let of = |line: &Value| Truth {
        document: line["document"].as_str().unwrap().to_owned(),
        judgments: line["judgments"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| (one["topic"].to_string().replace('"', ""), one["grade"].as_i64().unwrap()))
            .collect(),
        near: line["copies"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|copy| copy["jaccard"].as_f64().unwrap() >= 0.9)
            .map(|copy| {
                let id = copy["document"].as_str().unwrap().to_owned();
                let similarity = copy["jaccard"].as_f64().unwrap();
                (id, similarity, copy["segment"].as_u64().unwrap())
            })
            .collect(),
    };
    json_lines(path).iter().map(of).collect()
}

#[test]
fn every_transferable_judgment_moves_and_none_wrongly() {
    let folder = Folder::new();
    let crawls = folder.join("crawls");
    let generate = "corpus generate --crawls --documents 3000 --old 600 --judged 500 --segments 20 --seed 5 --progress none";
    lookalike(generate.split(' ')).option("-o", &crawls).run().exits(0);
    let truth = truth(&crawls.join("truth.jsonl"));
    let pairs: BTreeSet<(&str, &str)> = truth
        .iter()
        .flat_map(|one| one.near.iter().map(|copy| (one.document.as_str(), copy.0.as_str())))
        .collect();
    assert!(truth.len() == 500 && pairs.len() > 200, "{}", pairs.len());
    let run = |to: &str, words: &str, name: &str| {
        let run = transfer(words).option("--judgments", crawls.join("qrels.txt"));
        let run = run.option("--from", crawls.join("old.jsonl")).option("--to", crawls.join(to));
        run.option("-o", folder.join(name)).run().exits(0);
        folder.join(name)
    };
    let out = run("new-*.jsonl", "--method exact", "exact");
    let mapping = json_lines(&out.join("mapping.jsonl"));
    let found: BTreeSet<(&str, &str)> =
        mapping.iter().map(|row| (row["old"].as_str().unwrap(), row["new"].as_str().unwrap())).collect();
    assert_eq!(found, pairs);
    // What each judgment says of the best near-duplicate of its document.
    let best: BTreeMap<&str, &str> = mapping
        .iter()
        .filter(|row| row["best"] == true)
        .map(|row| (row["old"].as_str().unwrap(), row["new"].as_str().unwrap()))
        .collect();
    let mut claims: BTreeMap<(String, String), Vec<(f64, i64)>> = BTreeMap::new();
    for one in truth.iter().filter(|one| !one.near.is_empty()) {
        let new = best[one.document.as_str()];
        let highest = one.near.iter().map(|copy| copy.1).fold(0.0, f64::max);
        assert!(one.near.iter().any(|copy| copy.0 == new && copy.1 == highest), "{} to {new}", one.document);
        for (topic, grade) in &one.judgments {
            claims.entry((topic.clone(), new.to_owned())).or_default().push((highest, *grade));
        }
    }
    let stands = |claims: &[(f64, i64)]| {
        let highest = claims.iter().map(|claim| claim.0).fold(0.0, f64::max);
        let nearest: Vec<i64> =
            claims.iter().filter(|claim| claim.0 == highest).map(|claim| claim.1).collect();
        let times = |grade: i64| nearest.iter().filter(|other| **other == grade).count();
        nearest.iter().copied().min_by_key(|&grade| (usize::MAX - times(grade), grade)).unwrap()
    };
    let expected: BTreeSet<String> =
        claims.iter().map(|((topic, new), claims)| format!("{topic} 0 {new} {}", stands(claims))).collect();
    let written: Vec<String> = text(out.join("qrels.txt")).lines().map(str::to_owned).collect();
    assert_eq!(written.len(), expected.len());
    let wrong: Vec<String> = written.into_iter().filter(|line| !expected.contains(line)).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
    let differ = claims.values().filter(|claims| claims.iter().any(|claim| claim.1 != claims[0].1)).count();
    assert_eq!(json_lines(&out.join("conflicts.jsonl")).len(), differ);
    assert!(differ > 0);
    // Five of twenty segments: what is found in them, and what a line through that says of all.
    let out = run("new-0[0-4].jsonl", "--method exact --segment file --forecast 20", "five");
    let summary = json(&out.join("summary.json"));
    let near = truth.iter().filter(|one| one.near.iter().any(|copy| copy.2 < 5)).count();
    assert_eq!(summary["near"], near);
    let accumulated: Vec<f64> =
        summary["accumulated"]["exact"].as_array().unwrap().iter().filter_map(Value::as_f64).collect();
    let mean = accumulated.iter().sum::<f64>() / 5.0;
    let slope =
        accumulated.iter().enumerate().map(|(x, y)| (x as f64 - 2.0) * (y - mean)).sum::<f64>() / 10.0;
    let told = summary["forecast"]["found"]["exact"].as_f64().unwrap();
    assert!(accumulated.len() == 5 && (told - (mean + 17.0 * slope)).abs() < 1e-6, "{told} {accumulated:?}");
}

#[test]
fn equal_documents_that_make_too_many_pairs_are_found_and_counted() {
    let folder = Folder::new();
    let copies = |prefix: &str, family: usize, count: usize| -> String {
        let line = |n: usize| format!("{{\"id\":\"{prefix}{n}\",\"text\":\"{}\"}}\n", words(family, 0));
        (0..count).map(line).collect()
    };
    // Six and seven copies, and beside them a near-duplicate on each side.
    let near = |id: &str| format!("{{\"id\":\"{id}\",\"text\":\"{}\"}}\n", words(1, 1));
    let left = folder.file("left.jsonl", copies("l", 1, 6) + &near("l-near"));
    let right = folder.file("right.jsonl", copies("r", 1, 7) + &near("r-near"));
    let run = |words: &str, name: &str| {
        let job = folder.join(name);
        compare(&format!("--shingle 1 --threshold 0.9 --method exact {words}"))
            .path(&left)
            .option("--with", &right)
            .option("-o", &job)
            .run()
            .exits(0);
        (json(&job.join("summary.json")), json_lines(&job.join("groups.jsonl")), job)
    };
    let (all, groups, _) = run("", "all");
    assert_eq!(
        (all["near"].as_u64(), all["pairs"].as_u64(), groups.len()),
        (Some(7), Some(42 + 6 + 7 + 1), 0)
    );
    let (few, groups, job) = run("--max-group 5", "few");
    assert_eq!(few["near"], 7);
    let pairs = few["pairs"].as_u64().unwrap() + few["pairs_in_groups"].as_u64().unwrap();
    assert_eq!(Some(pairs), all["pairs"].as_u64());
    let measured: Vec<u64> = groups
        .iter()
        .filter(|row| row["measured"] == true)
        .map(|row| row["pairs"].as_u64().unwrap())
        .collect();
    assert_eq!(measured, [42]);
    assert!(text(job.join("report.html")).contains("are in groups.jsonl alone"));
}

#[test]
fn which_side_is_larger_on_disk_changes_nothing() {
    // Equal words, but other sentences: by the long sentences of a4 the left document that stands for the right one has other keys.
    let folder = Folder::new();
    let [one, two] = [1, 2].map(|family| words(family, 0));
    let page = |id: &str, text: &str| format!("{{\"id\":\"{id}\",\"text\":\"{text}\"}}\n");
    let left = folder.file(
        "left.jsonl",
        page("l1", &format!("{one}. {two}")) + &page("l2", &format!("{one}. {two}. something else")),
    );
    let pages = page("r1", &format!("{one} {two}")) + &page("pad", &"filler ".repeat(2000));
    let small = folder.file("small.jsonl", page("r1", &format!("{one} {two}")));
    let large = folder.file("large.jsonl", pages);
    let near = |right: &Path, name: &str| {
        let job = run(&folder, &[left.clone(), right.to_owned()], "--method a4 --method minhash", name);
        let pairs = json_lines(&job.join("pairs.jsonl"));
        pairs.iter().map(|pair| pair.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(near(&small, "s"), near(&large, "l"));
}

#[test]
fn what_holds_the_left_document_is_near_it_and_what_it_holds_is_not() {
    let folder = Folder::new();
    let page = |id: &str, text: &str| format!("{{\"id\":\"{id}\",\"text\":\"{text}\"}}\n");
    let whole = words(1, 0);
    let part: String = whole.split(' ').take(12).collect::<Vec<_>>().join(" ");
    let left = folder.file("left.jsonl", page("whole", &whole) + &page("part", &part));
    let right = folder.file(
        "right.jsonl",
        page("r-whole", &format!("{whole} and more")) + &page("r-part", &format!("{part} too")),
    );
    let job = run(&folder, &[left, right], "--similarity containment --method exact", "job");
    let pairs = json_lines(&job.join("pairs.jsonl"));
    let mut found = near(&pairs);
    found.sort_unstable();
    assert_eq!(found, [("part", "r-part"), ("part", "r-whole"), ("whole", "r-whole")]);
    for line in json_lines(&job.join("best.jsonl")) {
        assert_eq!(line["near"], true, "{line}");
    }
}

#[test]
fn nothing_of_the_old_corpus_is_lost_in_silence() {
    let folder = Folder::new();
    let page = |id: &str, text: &str| format!("{{\"id\":\"{id}\",\"text\":\"{text}\"}}\n");
    let old = page("a", &words(1, 0)) + "{broken\n" + &page("a", &words(2, 0)) + &page("b", &words(3, 0));
    let old = folder.file("old.jsonl", old);
    let new = folder.file("new.jsonl", page("with blank", &words(1, 0)) + &page("n", &words(3, 0)));
    let qrels = folder.file("q.txt", "1 0 a 1\n1 0 b 2\n1 0 b 2\n1 0 c 1\n");
    let run = transfer("--strict").option("--judgments", &qrels).option("--from", &old).option("--to", &new);
    run.option("-o", folder.join("out")).run().exits(3);
    let summary = json(&folder.join("out/summary.json"));
    let count = |name: &str| summary[name].as_u64().unwrap();
    assert_eq!(
        ["judged", "missing", "repeated", "old_rejected", "unwritable", "near"].map(count),
        [3, 1, 1, 1, 1, 2]
    );
    assert_eq!(text(folder.join("out/qrels.txt")), "1 0 n 2\n");
    let rejected = json_lines(&folder.join("out/rejected.jsonl"));
    assert_eq!((rejected.len(), rejected[0]["source"].as_str()), (1, Some("old.jsonl")));
    assert_eq!(rejected[0]["side"], "left");
    let mapping = json_lines(&folder.join("out/mapping.jsonl"));
    assert!(mapping.iter().any(|row| row["new"] == "with blank" && row["best"] == true));
}
