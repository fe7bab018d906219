//! Documents in the order of a field, held against a copy of the corpus that was sorted so.

use lookalike_corpus::MaxRejected;
use proptest::prelude::*;
use serde_json::Value;

use super::*;
use crate::recipe::{Combine, Order};
use crate::{Shards, Summary};

/// A line of a corpus.
#[derive(Debug, Clone)]
struct Line {
    text: String,
    id: String,
    value: Option<String>,
    rejected: bool,
}

impl Line {
    fn new(text: &str, id: &str, value: Option<Value>, url: u32) -> Self {
        let mut record = serde_json::json!({
            "id": id, "text": text, "url": format!("http://h{}.example/{url}", url % 3), "group": url % 2,
        });
        if let Some(value) = &value {
            record["rank"] = value.clone();
        }
        let as_text = |value: Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        Line { text: record.to_string(), id: id.to_owned(), value: value.map(as_text), rejected: false }
    }

    fn broken(text: &str) -> Self {
        Line { text: text.to_owned(), id: String::new(), value: None, rejected: true }
    }
}

/// The same lines sorted the plain way.
fn sorted(lines: &[Line], order: &Order) -> Vec<Line> {
    let number = |value: &String| value.trim().parse::<f64>().ok().filter(|number| number.is_finite());
    let all_numbers =
        lines.iter().filter_map(|line| line.value.as_ref()).all(|value| number(value).is_some());
    let by_value = |a: &Line, b: &Line| match (&a.value, &b.value) {
        (Some(a), Some(b)) if all_numbers => number(a).unwrap().total_cmp(&number(b).unwrap()),
        (Some(a), Some(b)) => a.as_bytes().cmp(b.as_bytes()),
        (a, b) => a.is_none().cmp(&b.is_none()),
    };
    let mut lines = lines.to_vec();
    // Stable: what is alike stays as it was.
    lines.sort_by(|a, b| match (a.rejected, b.rejected) {
        (false, false) => {
            let value = if *order == Order::Id { std::cmp::Ordering::Equal } else { by_value(a, b) };
            value.then_with(|| a.id.as_bytes().cmp(b.id.as_bytes()))
        }
        (a, b) => a.cmp(&b),
    });
    lines
}

fn joined(lines: &[Line]) -> String {
    lines.iter().map(|line| format!("{}\n", line.text)).collect()
}

/// The lines in files of a few, so that there are several units and shards.
fn shards(folder: &Path, lines: &[Line], options: ReadOptions) -> Corpus {
    std::fs::create_dir_all(folder).unwrap();
    // At least one, for a corpus has files.
    for (number, part) in lines.chunks(13).chain(lines.is_empty().then_some(&[][..])).enumerate() {
        std::fs::write(folder.join(format!("part{number:03}.jsonl")), joined(part)).unwrap();
    }
    Corpus::open(&[folder], options).unwrap()
}

/// Returns the files and the findings of a run, without anything that depends on the positions of documents.
fn comparable_outputs(folder: &Path, findings: &Findings) -> (BTreeMap<String, Vec<u8>>, String) {
    let mut files = outputs(folder);
    files.retain(|name, _| !["recipe.toml", "rejected.jsonl"].contains(&name.as_str()));
    without_digests(&mut files);
    without_places(&mut files);
    let Findings { summary, histogram, cluster_sizes, biggest, hosts, rejections, samples, notes, .. } =
        findings;
    let summary = placeless(summary);
    let shown = format!(
        "{summary:?} {histogram:?} {cluster_sizes:?} {biggest:?} {hosts:?} {rejections:?} {samples:?} {notes:?}"
    );
    (files, shown)
}

/// A summary that says nothing of where rejected records stand.
fn placeless(summary: &Summary) -> Summary {
    let mut summary = summary.clone();
    for loss in &mut summary.reasons {
        (loss.source, loss.position) = (String::new(), 0);
    }
    summary
}

/// A recipe that orders and the same without, each with its options to read. Corpora are made up by chance: all records of one may be
/// broken.
fn both_ways(recipe: &JobRecipe) -> [(JobRecipe, ReadOptions); 2] {
    let plain = JobRecipe { order: None, ..recipe.clone() };
    [recipe.clone(), plain].map(|recipe| {
        let options = ReadOptions { max_rejected: MaxRejected::EVERYTHING, ..recipe.read_options().unwrap() };
        (recipe, options)
    })
}

/// Runs the lines as they are, in order, and the sorted ones as they stand, and requires that their outputs are the same.
fn same_as_sorted(recipe: &JobRecipe, against: &[Line], lines: &[Line], spool: Spool, bucket: Option<u64>) {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name);
    let order = recipe.order().unwrap();
    let [(ordering, options), (plain, plain_options)] = both_ways(recipe);
    let make = |recipe: JobRecipe, corpus: Corpus, other: Option<Corpus>, spool: Spool| Job {
        recipe,
        corpus,
        against: other,
        lexicon: None,
        settings: Settings { spool, ..settings() },
        outputs: Outputs::default(),
    };
    let other = recipe.against.then(|| shards(&place("against"), against, options.clone()));
    let one = make(ordering, shards(&place("lines"), lines, options), other, spool);
    let in_memory = |name: &str, lines: &[Line]| {
        Corpus::in_memory(name, joined(&sorted(lines, &order)).into_bytes().into(), plain_options.clone())
    };
    let other = recipe.against.then(|| in_memory("other.jsonl", against));
    let two = make(plain, in_memory("lines.jsonl", lines), other, Spool::Disk);
    let found = [("one", one, bucket), ("two", two, None)].map(|(name, job, bucket)| {
        let findings = run(job, &place(name), bucket).unwrap();
        let comparable_outputs = comparable_outputs(&place(name), &findings);
        assert!(!place(name).join("work").exists());
        comparable_outputs
    });
    assert_eq!(found[0].1, found[1].1, "{recipe:?}");
    assert!(found[0].0 == found[1].0, "{recipe:?}");
    let rejected =
        |name: &str| std::fs::read_to_string(place(name).join("rejected.jsonl")).unwrap().lines().count();
    assert_eq!(rejected("one"), rejected("two"));
}

const SPECS: [&str; 9] = [
    "minhash",
    "simhash:n=3+5",
    "imatch",
    "a12",
    "md5",
    "minhash a12",
    "simhash:n=1,k=6,blocks=8",
    "koala",
    "decomposition:test=words",
];

fn values() -> impl Strategy<Value = Vec<Value>> {
    let number = prop_oneof![
        (-20i64..20).prop_map(Value::from),
        (-9i32..9).prop_map(|tenths| Value::from(f64::from(tenths) / 8.0)),
        (-20i64..20).prop_map(|number| Value::from(format!(" {number}"))),
    ];
    let text = prop_oneof![
        "[ab0-9é]{0,3}".prop_map(Value::from),
        Just(Value::from("a\u{0}b")),
        Just(Value::from("a\u{0}")),
        Just(Value::from("a")),
        Just(Value::from("1e999")),
        Just(Value::from(true)),
    ];
    // One text among numbers makes all of them texts.
    prop_oneof![
        prop::collection::vec(number.clone(), 1..12),
        prop::collection::vec(prop_oneof![4 => number, 1 => text], 1..12),
    ]
}

fn corpus(most: usize) -> impl Strategy<Value = Vec<Line>> {
    let texts = families(70, 60);
    let line = (0usize..78, 0u32..9, prop::option::weighted(0.8, any::<prop::sample::Index>()), 0u32..40);
    (values(), prop::collection::vec(line, 0..most)).prop_map(move |(values, lines)| {
        lines
            .into_iter()
            .map(|(text, id, value, url)| {
                let id = ["a", "b", "b!", "é", "\u{0}", "10", "9", "", "Z"][id as usize].to_owned()
                    + &(url / 4).to_string();
                match text {
                    70..73 => Line::broken("{\"id\":\"x\",\"rank\":3}"),
                    73..75 => Line::broken("{"),
                    75 => Line::new("…", &id, value.map(|value| value.get(&values).clone()), url),
                    // Words without spaces in other letters, which make many equal documents.
                    76 | 77 => Line::new("one two three four five six", &id, None, url),
                    _ => Line::new(&texts[text], &id, value.map(|value| value.get(&values).clone()), url),
                }
            })
            .collect()
    })
}

/// Recipes of all kinds.
fn recipes() -> impl Strategy<Value = JobRecipe> {
    let keep =
        prop::sample::select(vec!["first", "first", "longest", "shortest", "field:rank:desc", "field:group"]);
    let order = prop::sample::select(vec!["rank", "rank", "id"]);
    (prop::sample::select(SPECS.to_vec()), keep, order, any::<[bool; 6]>(), prop::bool::weighted(0.4))
        .prop_map(|(spec, keep, order, [against, pairs, components, unverified, within, combine], tight)| {
            JobRecipe {
                task: if pairs && !against { Task::Pairs } else { Task::Dedup },
                keep: keep.to_owned(),
                order: Some(order.to_owned()),
                against,
                cluster: if components { ClusterRule::Components } else { ClusterRule::Star },
                verified: !(unverified && spec != "decomposition:test=words"),
                max_group: if tight { 4 } else { 1000 },
                within: within.then(|| "group".to_owned()),
                combine: if combine { Combine::All } else { Combine::Any },
                ..recipe(spec)
            }
        })
}

/// True unless the job is refused: a side has records, and none of them has a field that is named.
fn accepted(recipe: &JobRecipe, against: &[Line], lines: &[Line]) -> bool {
    let against = if recipe.against { against } else { &[] };
    let mut named = vec![recipe.keep.strip_prefix("field:").map(|field| field.trim_end_matches(":desc"))];
    named.extend([recipe.order.as_deref().filter(|&order| order != "id"), recipe.within.as_deref()]);
    named.into_iter().flatten().all(|field| {
        let key = format!("\"{field}\":");
        [against, lines]
            .iter()
            .all(|side| side.is_empty() || side.iter().any(|line| line.text.contains(&key)))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn an_order_gives_what_a_sorted_copy_gives(
        recipe in recipes(),
        against in corpus(30),
        lines in corpus(70),
        spool in prop::sample::select(vec![Spool::Disk, Spool::Auto, Spool::None]),
        tiny in any::<bool>(),
    ) {
        prop_assume!(accepted(&recipe, &against, &lines));
        same_as_sorted(&recipe, &against, &lines, spool, tiny.then_some(4_000));
    }
}

/// Generated pages with a rank that has nothing to do with their places, broken lines in between, some without a rank.
fn pages(documents: u64, seed: u64) -> Vec<Line> {
    let text = generated(documents, seed) + &lines(&families(90, 60));
    let page = |(n, line): (usize, &str)| {
        let record: Value = serde_json::from_str(line).unwrap();
        let rank = n * 7919 % 61;
        // Ids that come again, and many that share a rank.
        let id = format!("{}{}", record["id"].as_str().unwrap(), if n % 11 == 0 { "" } else { "+" });
        let text = record["text"].as_str().or(record["html"].as_str()).unwrap();
        let broken = n.is_multiple_of(29).then(|| Line::broken("{\"text\":3"));
        let page = Line::new(text, &id, (rank > 3).then(|| Value::from(rank)), n as u32);
        broken.into_iter().chain([page]).collect::<Vec<_>>()
    };
    text.lines().enumerate().flat_map(page).collect()
}

#[test]
fn many_pages_in_order_are_told_as_if_they_were_sorted() {
    let all = pages(400, 21);
    let (against, lines) = all.split_at(120);
    for (spec, max_group, against_too) in [
        ("minhash", 1000, true),
        ("minhash", 3, false),
        ("simhash:n=3+5", 3, true),
        ("imatch", 2, false),
        ("a12", 2, true),
    ] {
        for keep in ["first", "longest", "field:rank:desc"] {
            let recipe = JobRecipe {
                keep: keep.to_owned(),
                order: Some("rank".to_owned()),
                against: against_too,
                max_group,
                ..recipe(spec)
            };
            same_as_sorted(&recipe, against, lines, Spool::Auto, Some(20_000));
        }
    }
}

/// The exact method looks at a sample of the input, by places, before it proposes anything: what it proposes beyond the pairs
/// that it finds differs.
#[test]
fn the_exact_method_lists_the_same_pairs_in_any_order() {
    let folder = tempfile::tempdir().unwrap();
    let all = pages(150, 8);
    let ordering =
        JobRecipe { task: Task::Pairs, order: Some("rank".to_owned()), max_group: 20_000, ..recipe("exact") };
    let [(ordering, options), (plain, plain_options)] = both_ways(&ordering);
    let copy = joined(&sorted(&all, &ordering.order().unwrap()));
    let one =
        Job { corpus: shards(&folder.path().join("lines"), &all, options), ..job(ordering, "", settings()) };
    let two = Job {
        corpus: Corpus::in_memory("x.jsonl", copy.into_bytes().into(), plain_options),
        ..job(plain, "", settings())
    };
    let rows = [("one", one), ("two", two)].map(|(name, job)| {
        run(job, &folder.path().join(name), None).unwrap();
        std::fs::read_to_string(folder.path().join(name).join("pairs.jsonl")).unwrap()
    });
    assert!(rows[0].lines().count() > 50);
    assert_eq!(rows[0], rows[1]);
}

#[test]
fn a_stopped_job_in_order_goes_on_and_ends_with_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let all = pages(500, 9);
    let recipe = JobRecipe { order: Some("rank".to_owned()), ..recipe("minhash") };
    let make = |spool: Spool, threads: usize| {
        let corpus = shards(&folder.path().join("lines"), &all, recipe.read_options().unwrap());
        Job { corpus, ..job(recipe.clone(), "", Settings { spool, threads, ..settings() }) }
    };
    // Files that are written again would be other files.
    let first = make(Spool::Auto, 2);
    run(first.clone(), &folder.path().join("whole"), None).unwrap();
    for (name, bucket) in [("one", None), ("two", Some(4_000))] {
        let path = folder.path().join(name);
        let starts = run_with_stops(&|| first.clone(), &path, bucket);
        assert!(outputs(&folder.path().join("whole")) == outputs(&path), "after {starts} starts");
    }
}

#[test]
fn sides_that_are_compared_are_each_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let all = pages(300, 4);
    let (left, right) = all.split_at(150);
    for (spec, bucket) in [("minhash", None), ("simhash:n=3+5", Some(4_000)), ("a12", None)] {
        let ordering = JobRecipe {
            task: Task::Compare,
            all: true,
            against: true,
            order: Some("rank".to_owned()),
            ..recipe(spec)
        };
        let [(ordering, options), (plain, plain_options)] = both_ways(&ordering);
        let place = |name: &str| folder.path().join(spec).join(name);
        let copy = |lines: &[Line]| {
            let text = joined(&sorted(lines, &ordering.order().unwrap())).into_bytes();
            Corpus::in_memory("x.jsonl", text.into(), plain_options.clone())
        };
        let one = Job {
            corpus: shards(&place("right"), right, options.clone()),
            against: Some(shards(&place("left"), left, options)),
            ..job(ordering.clone(), "", settings())
        };
        let two = Job { corpus: copy(right), against: Some(copy(left)), ..job(plain, "", settings()) };
        let sides = [one, two].map(|job| {
            let name = if job.recipe.order.is_some() { "one" } else { "two" };
            let Opened::Open(mut open) = job.open(&place(name)).unwrap() else { panic!("the job is new") };
            open.bucket_bytes = bucket;
            let watch = Watch::default();
            let findings = open.run(&watch).unwrap();
            let (mut rows, mut named, mut places) = (Vec::new(), Vec::new(), Vec::new());
            open.matches(&watch, |one| -> Result<(), EngineError> {
                let names = [one.left, one.right]
                    .map(|side| (side.n, side.id.to_owned(), side.url.map(str::to_owned)));
                rows.push((names, one.similarity.to_bits(), one.near, one.methods));
                places.push((
                    one.left.id.to_owned(),
                    one.left.place,
                    one.right.id.to_owned(),
                    one.right.place,
                ));
                Ok(())
            })
            .unwrap();
            open.documents(&watch, |side, one| -> Result<(), EngineError> {
                named.push((side, one.n, one.id.to_owned()));
                Ok(())
            })
            .unwrap();
            let counts = open.both_counts(&watch).unwrap();
            (rows, named, counts, format!("{:?} {:?}", placeless(&findings.summary), findings.notes), places)
        });
        let [one, two] = sides;
        assert!(one.0.len() > 20, "{spec}: {}", one.0.len());
        assert_eq!((one.0, one.1, one.2, one.3), (two.0, two.1, two.2, two.3), "{spec}");
        // Where they stand is where the input has them.
        for (left_id, left_place, right_id, right_place) in one.4 {
            assert_eq!(left[left_place as usize].id, left_id);
            assert_eq!(right[right_place as usize].id, right_id);
        }
    }
}

#[test]
fn copies_of_shards_stay_in_their_own_order() {
    let folder = tempfile::tempdir().unwrap();
    let all = pages(120, 5);
    let recipe = JobRecipe { order: Some("rank".to_owned()), ..recipe("minhash") };
    let corpus = shards(&folder.path().join("lines"), &all, recipe.read_options().unwrap());
    for write in [Shards::Kept, Shards::Removed] {
        let outputs = Outputs { write, annotate: write == Shards::Kept, ..Outputs::default() };
        let path = folder.path().join(format!("{write:?}"));
        let job = Job { corpus: corpus.clone(), outputs, ..job(recipe.clone(), "", settings()) };
        run(job, &path, None).unwrap();
        let order = sorted(&all, &Order::Field("rank".to_owned()));
        let gone: BTreeSet<String> =
            removed(&path).iter().map(|(n, ..)| order[*n as usize].text.clone()).collect();
        assert!(gone.len() > 30);
        let sizes: BTreeMap<u64, u64> = std::fs::read_to_string(path.join("clusters.jsonl"))
            .unwrap()
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap())
            .map(|row| (row["cluster"].as_u64().unwrap(), row["members"].as_array().unwrap().len() as u64))
            .collect();
        let copies = path.join(format!("{write:?}").to_lowercase());
        for (number, part) in all.chunks(13).enumerate() {
            let text = std::fs::read_to_string(copies.join(format!("part{number:03}.jsonl"))).unwrap();
            let expected: Vec<&Line> = part
                .iter()
                .filter(|line| !line.rejected && gone.contains(&line.text) == (write == Shards::Removed))
                .collect();
            assert_eq!(text.lines().count(), expected.len());
            for (found, expected) in text.lines().zip(expected) {
                if write == Shards::Removed {
                    assert_eq!(found, expected.text);
                    continue;
                }
                let record: Value = serde_json::from_str(found).unwrap();
                assert_eq!(record["id"], expected.id);
                let n = order.iter().position(|line| line.text == expected.text).unwrap() as u64;
                assert_eq!(record["lookalike_cluster"], n);
                assert_eq!(record["lookalike_copies"], sizes.get(&n).copied().unwrap_or(1));
            }
        }
    }
}

#[test]
fn an_order_by_a_field_that_nobody_has_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let recipe = JobRecipe { order: Some("rnak".to_owned()), ..recipe("minhash") };
    let options = recipe.read_options().unwrap();
    let lines = joined(&pages(20, 3));
    for (name, lines) in [("some", lines.as_str()), ("none", "")] {
        let corpus = Corpus::in_memory("x.jsonl", lines.as_bytes().into(), options.clone());
        let done =
            run(Job { corpus, ..job(recipe.clone(), "", settings()) }, &folder.path().join(name), None);
        match name {
            "none" => drop(done.unwrap()),
            _ => assert!(done.unwrap_err().to_string().contains("has a field \"rnak\"; there are ")),
        }
    }
}
