//! Documents in the order of a field, held against a copy of the corpus that was sorted so.

use proptest::prelude::*;
use serde_json::Value;

use super::*;
use crate::recipe::{Combine, Order};

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
    let all_numbers = lines.iter().filter_map(|line| line.value.as_ref()).all(|value| number(value).is_some());
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

/// What a run wrote that says nothing of where documents stand, and what it shows.
fn told(folder: &Path, findings: &Findings) -> (BTreeMap<String, Vec<u8>>, String) {
    let mut files = outputs(folder);
    files.retain(|name, _| !["recipe.toml", "rejected.jsonl"].contains(&name.as_str()));
    let Findings { summary, histogram, cluster_sizes, biggest, hosts, rejections, samples, notes, .. } =
        findings;
    let shown = format!(
        "{summary:?} {histogram:?} {cluster_sizes:?} {biggest:?} {hosts:?} {rejections:?} {samples:?} {notes:?}"
    );
    (files, shown)
}

/// A recipe that orders, the same without, and how each reads.
fn both_ways(recipe: &JobRecipe) -> [(JobRecipe, ReadOptions); 2] {
    let plain = JobRecipe { order: None, ..recipe.clone() };
    [recipe.clone(), plain].map(|recipe| {
        let options = recipe.read_options().unwrap();
        (recipe, options)
    })
}

/// Runs the lines as they are, in order, and the sorted ones as they stand, and holds them to be told alike.
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
        let told = told(&place(name), &findings);
        assert!(!place(name).join("work").exists());
        told
    });
    assert_eq!(found[0].1, found[1].1, "{recipe:?}");
    assert!(found[0].0 == found[1].0, "{recipe:?}");
    let rejected = |name: &str| std::fs::read_to_string(place(name).join("rejected.jsonl")).unwrap().lines().count();
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
                let id = ["a", "b", "b!", "é", "\u{0}", "10", "9", "", "Z"][id as usize].to_owned() + &(url / 4).to_string();
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
    let keep = prop::sample::select(vec!["first", "first", "longest", "shortest", "field:rank:desc", "field:group"]);
    let order = prop::sample::select(vec!["rank", "rank", "rank", "id", "group"]);
    (prop::sample::select(SPECS.to_vec()), keep, order, any::<[bool; 6]>(), prop::bool::weighted(0.4)).prop_map(
        |(spec, keep, order, [against, pairs, components, unverified, within, combine], tight)| JobRecipe {
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
        },
    )
}

/// Whether anybody has the field: an order by one that nobody has is refused.
fn orderable(recipe: &JobRecipe, against: &[Line], lines: &[Line]) -> bool {
    let all = || against.iter().filter(|_| recipe.against).chain(lines).filter(|line| !line.rejected);
    recipe.order.as_deref() != Some("rank") || all().count() == 0 || all().any(|line| line.value.is_some())
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
        // What is ordered by the group is not known to the plain sort here.
        let recipe = if recipe.order.as_deref() == Some("group") {
            JobRecipe { order: Some("id".to_owned()), ..recipe }
        } else {
            recipe
        };
        prop_assume!(orderable(&recipe, &against, &lines));
        same_as_sorted(&recipe, &against, &lines, spool, tiny.then_some(4_000));
    }
}
