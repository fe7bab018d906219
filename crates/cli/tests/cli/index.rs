//! An index: documents on disk, for ever; added, asked about, taken out, killed in the midst of it, and deduplicated day by day.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::Value;

use super::job_support::{Decisions, Rng, assert_same, dedup, families, results};
use super::support::{Doc, Folder, Invocation, json_lines, jsonl, lookalike, read_jsonl};

/// `lookalike index …` with words as in a shell.
fn index(words: &str) -> Invocation {
    lookalike(std::iter::once("index").chain(words.split_whitespace()))
}

/// Makes an index of the default method.
#[track_caller]
fn create(place: &Path) {
    index("create --progress none").path(place).run().exits(0);
}

fn add(place: &Path, input: &Path) -> Invocation {
    index("add --threads 2").path(place).path(input)
}

#[track_caller]
fn stats(place: &Path) -> Value {
    serde_json::from_str(&index("stats --json").path(place).run().exits(0).stdout).unwrap()
}

#[track_caller]
fn assert_clean(place: &Path) -> Value {
    let done = index("check --json").path(place).run().exits(0);
    let checked: Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!(checked["mistakes"], 0, "{checked}");
    checked
}

/// A count that was printed.
fn printed(stdout: &str, name: &str) -> u64 {
    let line = stdout.lines().find_map(|line| line.strip_prefix(name));
    line.expect("it is counted").replace(',', "").trim().parse().expect("a number")
}

/// Ids of the near-duplicates that a line of `query` names.
fn matches(line: &Value) -> Vec<&str> {
    line["matches"].as_array().unwrap().iter().map(|hit| hit["id"].as_str().unwrap()).collect()
}

/// Every file of an index but the lock, with its bytes.
fn bytes(place: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut all = results(place);
    all.remove("lock");
    all
}

/// A folder with all that is in another.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        match entry.path().is_dir() {
            true => copy(&entry.path(), &target),
            false => drop(fs::copy(entry.path(), target).unwrap()),
        }
    }
}

#[test]
fn documents_are_added_asked_about_taken_out_and_counted() {
    let folder = Folder::new();
    let (place, documents) = (folder.join("index"), families(200, 11));
    let input = folder.file("in.jsonl", jsonl(&documents));
    let made = index("create --progress none").path(&place).run().exits(0);
    assert_eq!(made.stdout, format!("index             {}\n", place.display()));
    let verdicts = folder.join("verdicts.jsonl");
    let done = add(&place, &input).option("--verdicts", &verdicts).run().exits(0);
    let told = json_lines(&verdicts);
    let removed: Vec<&Value> = told.iter().filter(|line| line["new"] == false).collect();
    assert_eq!(told.len(), 200);
    assert!(removed.len() > 20, "{}", removed.len());
    assert_eq!(printed(&done.stdout, "near-duplicates"), removed.len() as u64);
    assert_eq!(printed(&done.stdout, "new"), 200 - removed.len() as u64);

    // What a job says of the same documents.
    dedup("--keep first").path(&input).option("-o", folder.join("job")).run().exits(0);
    let job = Decisions::read(&folder.join("job"));
    let triple = |line: &Value| {
        let similarity = line["similarity"].as_f64().map(|number| (number * 1e9).round());
        (line["id"].clone(), line["witness"].clone(), similarity)
    };
    let wanted: Vec<_> = job.removed.iter().map(triple).collect();
    assert_eq!(removed.iter().map(|line| triple(line)).collect::<Vec<_>>(), wanted);

    // Everything is there already.
    let again = add(&place, &input).run().exits(0);
    assert_eq!((printed(&again.stdout, "already there"), printed(&again.stdout, "new")), (200, 0));

    let (gone, keeper) = (removed[0]["id"].as_str().unwrap(), removed[0]["witness"].as_str().unwrap());
    let line = documents.iter().find(|document| document.id == gone).unwrap();
    let one = jsonl(std::slice::from_ref(line));
    let ask = || {
        let done = index("query --progress none --limit 500").path(&place).arg("-").run_with(&one).exits(0);
        serde_json::from_str::<Value>(&done.stdout).unwrap()
    };
    let before = ask();
    assert_eq!(before["id"], gone);
    assert!(matches(&before).contains(&gone) && matches(&before).contains(&keeper), "{before}");
    let done = index("remove").path(&place).arg(keeper).arg("nobody").run().exits(0);
    assert_eq!((printed(&done.stdout, "taken out"), printed(&done.stdout, "not there")), (1, 1));
    assert_eq!(done.stderr, "nobody is not there\n");
    assert!(!matches(&ask()).contains(&keeper));
    let counted = stats(&place);
    assert_eq!((&counted["documents"], &counted["deleted"]), (&Value::from(199), &Value::from(1)));
    assert_clean(&place);
    let ids = folder.file("ids", format!("{gone}\n\n"));
    let done = index("remove").path(&place).option("--ids-from", ids).run().exits(0);
    assert_eq!(printed(&done.stdout, "taken out"), 1);
    index("merge --progress none").path(&place).run().exits(0);
    let counted = stats(&place);
    assert_eq!((&counted["segments"], &counted["in_log"]), (&Value::from(1), &Value::from(0)));
    assert_eq!(counted["documents"], 198);
    assert_eq!(assert_clean(&place)["documents"], 200);
    let text = index("stats").path(&place).run().exits(0).stdout;
    assert_eq!(printed(&text, "taken out"), 2);
}

#[test]
fn a_file_of_questions_is_answered_like_a_stream_of_them() {
    let folder = Folder::new();
    let (place, documents) = (folder.join("index"), families(120, 12));
    create(&place);
    let input = folder.file("in.jsonl", jsonl(&documents));
    add(&place, &input).run().exits(0);
    let questions = jsonl(&documents);
    let stream = index("query --progress none").path(&place).arg("-").run_with(&questions).exits(0);
    let file = index("query --progress none").path(&place).path(&input).run().exits(0);
    assert_eq!(stream.stdout, file.stdout);
    assert_eq!(stream.stdout.lines().count(), 120);
}

#[test]
fn documents_that_were_not_compared_with_all_their_candidates_are_told() {
    let folder = Folder::new();
    let words = |name: &str, count| (0..count).map(|word| format!("{name}{word} ")).collect::<String>();
    let page = |number: usize| words("template", 160) + &words(&format!("own{number}x"), 40);
    let document = |number| Doc { id: format!("d{number}"), url: None, text: page(number) };
    let input = folder.file("in.jsonl", jsonl(&(0..300).map(document).collect::<Vec<_>>()));
    let place = folder.join("index");
    index("create --max-group 20").path(&place).run().exits(0);
    let added = add(&place, &input).run().exits(0);
    assert_eq!(printed(&added.stdout, "new"), 300);
    assert!(added.stderr.contains("kept, compared with a part of the documents"), "{}", added.stderr);
    let asked = index("query").path(&place).path(&input).run().exits(0);
    let left_out = asked.stdout.lines().filter(|line| line.contains("\"left_out\":")).count();
    assert!(left_out > 200, "{left_out}");
    // With groups as large as all documents they are all compared, and nobody hears of it.
    let place = folder.join("whole");
    index("create --max-group 300").path(&place).run().exits(0);
    let added = add(&place, &input).run().exits(0);
    assert!(!added.stderr.contains("compared with a part"), "{}", added.stderr);
    assert!(!index("query").path(&place).path(&input).run().exits(0).stdout.contains("left_out"));
}

#[test]
fn two_indexes_become_one_as_if_all_had_come_to_it() {
    let folder = Folder::new();
    let documents = families(160, 13);
    let [one, two, all] = ["one", "two", "all"].map(|name| folder.join(name));
    [&one, &two, &all].into_iter().for_each(|place| create(place));
    let first = folder.file("first.jsonl", jsonl(&documents[..90]));
    let second = folder.file("second.jsonl", jsonl(&documents[90..]));
    add(&one, &first).run().exits(0);
    add(&two, &second).run().exits(0);
    let verdicts = folder.join("verdicts.jsonl");
    add(&all, &first).path(&second).option("--verdicts", &verdicts).run().exits(0);
    index("merge --progress none").path(&one).path(&two).run().exits(0);
    let [merged, whole] = [&one, &all].map(|place| stats(place));
    for field in ["documents", "kept", "removed", "classes"] {
        assert_eq!(merged[field], whole[field], "{field}");
    }
    let questions = jsonl(&documents);
    let ask = |place: &Path| {
        index("query --progress none").path(place).arg("-").run_with(&questions).exits(0).stdout
    };
    assert_eq!(ask(&one), ask(&all));
    assert_clean(&one);
    // The same documents once more are there already.
    let again = index("merge --progress none").path(&one).path(&two).run().exits(0);
    assert_eq!(printed(&again.stdout, "already there"), 70);
    let itself = "an index cannot be added to itself; name another one";
    index("merge --progress none").path(&one).path(&one).run().fails(2, itself);
}

#[test]
fn what_is_merged_is_kept_as_the_index_keeps_it() {
    let folder = Folder::new();
    let documents = families(120, 17);
    let input = folder.file("in.jsonl", jsonl(&documents));
    let [texts, none, direct] = ["texts", "none", "direct"].map(|name| folder.join(name));
    create(&texts);
    [&none, &direct].into_iter().for_each(|place| {
        index("create --no-text --progress none").path(place).run().exits(0);
    });
    add(&texts, &input).run().exits(0);
    add(&direct, &input).run().exits(0);
    index("merge --progress none").path(&none).path(&texts).run().exits(0);
    let questions = jsonl(&documents);
    let ask = |place: &Path| {
        index("query --progress none").path(place).arg("-").run_with(&questions).exits(0).stdout
    };
    assert_eq!(stats(&none)["removed"], stats(&texts)["removed"]);
    assert_eq!(ask(&none), ask(&direct));
    assert_eq!(ask(&none), ask(&texts));
}

#[test]
fn indexes_that_learned_from_different_collections_are_not_merged() {
    let folder = Folder::new();
    let documents = families(80, 19);
    let [one, two] = ["one", "two"].map(|name| folder.join(name));
    let halves = [&documents[..40], &documents[40..]];
    for (place, half) in [&one, &two].into_iter().zip(halves) {
        let learn = folder.file(format!("{}.jsonl", half[0].id), jsonl(half));
        index("create --method imatch --progress none").path(place).option("--learn", learn).run().exits(0);
    }
    let sentence = format!(
        "the methods of {} and {} learned from different collections; add the documents themselves",
        one.display(),
        two.display()
    );
    index("merge --progress none").path(&one).path(&two).run().fails(2, &sentence);
}

#[test]
fn an_id_with_other_words_is_refused_or_takes_the_place() {
    let folder = Folder::new();
    let place = folder.join("index");
    create(&place);
    let line = |words: &str| format!("{{\"id\":\"a\",\"text\":\"{words}\"}}\n");
    let old = folder.file("old.jsonl", line("one two three four five six"));
    let new = folder.file("new.jsonl", line("seven eight nine ten eleven twelve"));
    add(&place, &old).run().exits(0);
    let done = add(&place, &new).run().exits(0);
    assert_eq!(printed(&done.stdout, "refused"), 1);
    let said = "Added 0 documents to index: 0 new, 0 near-duplicates of kept ones; 1 refused.";
    let told = done.stderr.replace(&place.display().to_string(), "index");
    assert_eq!(told, format!("refused: a is there with other words\n{said}\n"));
    add(&place, &new).arg("--strict").run().exits(3);
    let verdicts = add(&place, &new).arg("--verdicts").arg("-").run().exits(0).stdout;
    assert_eq!(verdicts, "{\"id\":\"a\",\"error\":\"the id is there with other words\"}\n");
    let done = add(&place, &new).arg("--replace").run().exits(0);
    assert_eq!(printed(&done.stdout, "new"), 1);
    let done = add(&place, &new).run().exits(0);
    assert_eq!(printed(&done.stdout, "already there"), 1);
    assert_eq!(stats(&place)["documents"], 1);
    assert_clean(&place);
}

/// Waits a while, or until a file is there.
fn wait(until: &Path, time: Duration) {
    let begun = Instant::now();
    while begun.elapsed() < time && !until.exists() {
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Reads the verdict on each document, and whether it was known, by id; a last line may be cut off and is left out.
fn read_verdicts(verdicts: &Path) -> BTreeMap<String, (Value, Value, Value, bool)> {
    let text = fs::read_to_string(verdicts).unwrap_or_default();
    let whole = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
    let one = |line: &str| {
        let mut line: Value = serde_json::from_str(line).expect("a whole line is JSON");
        let known = line["known"] == true;
        let id = line["id"].as_str().unwrap().to_owned();
        (id, (line["new"].take(), line["witness"].take(), line["similarity"].take(), known))
    };
    whole.map(one).collect()
}

#[test]
fn what_was_told_before_a_kill_is_there_and_the_end_is_the_same() {
    let folder = Folder::new();
    let input = folder.file("in.jsonl", jsonl(&families(4000, 14)));
    let (place, verdicts) = (folder.join("index"), folder.join("verdicts.jsonl"));
    let run = || add(&place, &input).arg("--tail").arg("256K").option("--verdicts", &verdicts);
    let clear = || {
        let _ = fs::remove_dir_all(&place);
        let _ = fs::remove_file(&verdicts);
        create(&place);
    };
    clear();
    let begun = Instant::now();
    run().run().exits(0);
    let (whole, expected, counts) = (begun.elapsed(), read_verdicts(&verdicts), stats(&place));
    assert_eq!(expected.len(), 4000);
    clear();
    let mut rng = Rng::new(15);
    let mut before: BTreeMap<String, (Value, Value, Value, bool)> = BTreeMap::new();
    let mut seen = BTreeSet::new();
    for kill in 0..20 {
        let _ = fs::remove_file(&verdicts);
        let running = run().start();
        wait(Path::new("/nowhere"), whole.mul_f64((300 + rng.below(700)) as f64 / 1000.0));
        running.signal(Signal::KILL);
        running.end();
        assert_clean(&place);
        let documents = stats(&place)["documents"].as_u64().unwrap();
        for (id, verdict) in read_verdicts(&verdicts) {
            let same = |other: &(Value, Value, Value, bool)| {
                (&other.0, &other.1, &other.2) == (&verdict.0, &verdict.1, &verdict.2)
            };
            assert!(same(&expected[&id]), "{id}: {verdict:?}");
            assert_eq!(verdict.3, verdict.3 || before.contains_key(&id), "{id} was forgotten");
            before.insert(id, verdict);
        }
        assert!(before.len() as u64 <= documents, "{} were told and {documents} are there", before.len());
        seen.insert(documents);
        if documents == 4000 || kill == 19 {
            run().run().exits(0);
            let ended = read_verdicts(&verdicts);
            assert_eq!(ended.len(), 4000);
            assert!(ended.iter().all(|(id, verdict)| {
                let wanted = &expected[id];
                (&verdict.0, &verdict.1, &verdict.2) == (&wanted.0, &wanted.1, &wanted.2)
            }));
            let now = stats(&place);
            for field in ["documents", "kept", "removed", "classes", "deleted"] {
                assert_eq!(now[field], counts[field], "{field}");
            }
            assert_clean(&place);
            clear();
            before.clear();
        }
    }
    assert!(seen.iter().any(|documents| (1..4000).contains(documents)), "kills fell at {seen:?}");
}

/// Three days of documents, some of them damaged, in a file each.
fn days(folder: &Folder) -> Vec<Doc> {
    let documents = families(360, 16);
    let bad: [&[u8]; 3] = [b"{\"id\":1}\n", b"no json\n{\"id\":\"x\",\"text\":7}\n", b""];
    for (day, part) in documents.chunks(120).enumerate() {
        let (front, back) = part.split_at(40 * day + 5);
        folder.file(format!("day{day}.jsonl"), [&jsonl(front), bad[day], &jsonl(back)].concat());
    }
    documents
}

/// `dedup` of a day: the first begins an index, the others go against it.
fn day(folder: &Folder, number: usize, place: &Path, job: &Path) -> Invocation {
    let run = dedup("--keep first --threads 2 --write kept").inside(folder.path());
    let run = run.path(format!("day{number}.jsonl")).option("--into", place).option("-o", job);
    if number == 0 { run } else { run.option("--against", place) }
}

#[test]
fn repeated_ids_are_counted_over_days() {
    let folder = Folder::new();
    let lines = |ids: &str| -> Vec<u8> {
        let document = |(number, id)| format!("{{\"id\":\"{id}\",\"text\":\"word{number} of {ids}\"}}\n");
        ids.split(' ').enumerate().map(document).collect::<String>().into_bytes()
    };
    folder.file("day0.jsonl", lines("a a b a"));
    folder.file("day1.jsonl", lines("c a a c d"));
    let place = folder.join("index");
    for (number, repeated) in [(0, 2), (1, 3)] {
        let job = folder.join(format!("job{number}"));
        day(&folder, number, &place, &job).run().exits(0);
        assert_eq!(Decisions::read(&job).count("duplicate_ids"), repeated, "day {number}");
    }
}

/// Of every removed document the witness and the similarity, by id.
fn verdicts(job: &Decisions) -> BTreeMap<String, (String, Value)> {
    let one = |line: &Value| {
        let text = |field: &str| line[field].as_str().unwrap().to_owned();
        (text("id"), (text("witness"), line["similarity"].clone()))
    };
    job.removed.iter().map(one).collect()
}

#[test]
fn day_by_day_comes_to_the_same_as_all_days_at_once() {
    let folder = Folder::new();
    let documents = days(&folder);
    let all = folder.join("all");
    let run = dedup("--keep first --threads 2 --write kept day0.jsonl day1.jsonl day2.jsonl");
    run.inside(folder.path()).option("-o", &all).run().exits(0);
    let whole = Decisions::read(&all);
    let (place, mut found, mut rejected) = (folder.join("index"), BTreeMap::new(), Vec::new());
    let mut before = 0;
    for number in 0..3 {
        let job = folder.join(format!("job{number}"));
        day(&folder, number, &place, &job).run().exits(0);
        let today = Decisions::read(&job);
        assert_eq!(today.count("documents"), [121, 122, 120][number]);
        assert_eq!(today.summary["against"].as_u64().unwrap_or(0), before);
        before += 120;
        found.extend(verdicts(&today));
        rejected.extend(today.rejected.clone());
        // Those that stand for today's and were there before say so.
        let ids: BTreeSet<&str> =
            documents[120 * number..][..120].iter().map(|document| document.id.as_str()).collect();
        for line in &today.removed {
            let earlier = !ids.contains(line["witness"].as_str().unwrap());
            assert_eq!(line.get("against").is_some(), earlier, "{line}");
        }
        let name = format!("kept/day{number}.jsonl");
        assert!(!read_jsonl(&job.join(&name)).is_empty());
        assert_eq!(fs::read(job.join(&name)).unwrap(), fs::read(all.join(&name)).unwrap(), "{name}");
        // Where a document stands is its place in today's input.
        let lines = fs::read_to_string(folder.join(format!("day{number}.jsonl"))).unwrap();
        let lines: Vec<&str> = lines.lines().collect();
        for line in &today.removed {
            let own = lines[line["n"].as_u64().unwrap() as usize];
            assert!(own.contains(line["id"].as_str().unwrap()), "{line}");
        }
    }
    let wanted = verdicts(&whole);
    assert!(wanted.len() > 60);
    assert_eq!(found, wanted);
    assert_eq!(rejected, whole.rejected);
    assert_eq!(stats(&place)["kept"], whole.summary["kept"]);
    assert_clean(&place);
}

/// Kills a run at 12 moments, again and again from where it stood; every end has the bytes of an undisturbed run.
fn assert_survives(folder: &Folder, run: impl Fn() -> Invocation, base: Option<&Path>, seed: u64) {
    let (place, job) = (folder.join("out/index"), folder.join("out/job"));
    let clear = || {
        let _ = fs::remove_dir_all(folder.join("out"));
        fs::create_dir(folder.join("out")).unwrap();
        base.into_iter().for_each(|base| copy(base, &place));
    };
    clear();
    let begun = Instant::now();
    run().run().exits(0);
    let (whole, expected, counts) = (begun.elapsed(), results(&job), stats(&place));
    clear();
    let mut rng = Rng::new(seed);
    let mut ends = 0;
    for kill in 0..12 {
        let running = run().start();
        wait(&job.join("summary.json"), whole.mul_f64(rng.below(1000) as f64 / 1000.0));
        running.signal(Signal::KILL);
        running.end();
        if place.join("index.json").exists() {
            assert_clean(&place);
        }
        if job.join("summary.json").exists() || kill == 11 {
            run().run().exits(0);
            let mut found = results(&job);
            found.retain(|name, _| !name.ends_with(".partial"));
            assert_same(&expected, &found, "after kills");
            let now = stats(&place);
            for field in ["documents", "kept", "removed", "classes"] {
                assert_eq!(now[field], counts[field], "{field}");
            }
            clear();
            ends += 1;
        }
    }
    assert!(ends < 12, "all kills fell behind the end");
}

/// Days that keep the program busy for a moment.
fn busy_days(folder: &Folder) {
    for (day, part) in families(4000, 17).chunks(2000).enumerate() {
        let (front, back) = part.split_at(900);
        let lines = [&jsonl(front), &b"no json\n"[..], &jsonl(back), &b"{\"id\":7}\n"[..]].concat();
        folder.file(format!("day{day}.jsonl"), lines);
    }
}

#[test]
fn a_first_day_killed_at_any_moment_goes_on_and_ends_with_the_same_bytes() {
    let folder = Folder::new();
    busy_days(&folder);
    let (place, job) = (folder.join("out/index"), folder.join("out/job"));
    assert_survives(&folder, || day(&folder, 0, &place, &job), None, 18);
}

#[test]
fn a_day_killed_at_any_moment_goes_on_and_ends_with_the_same_bytes() {
    let folder = Folder::new();
    busy_days(&folder);
    let (base, place, job) = (folder.join("base"), folder.join("out/index"), folder.join("out/job"));
    day(&folder, 0, &base, &folder.join("job0")).run().exits(0);
    assert_survives(&folder, || day(&folder, 1, &place, &job), Some(&base), 19);
}

#[test]
fn against_an_index_alone_says_the_same_and_leaves_it_as_it_was() {
    let folder = Folder::new();
    days(&folder);
    let place = folder.join("index");
    day(&folder, 0, &place, &folder.join("job0")).run().exits(0);
    let before = bytes(&place);
    let alone = |job: &Path| {
        let run = dedup("--keep first --threads 2 --write kept day1.jsonl").inside(folder.path());
        run.option("--against", &place).option("-o", job).run().exits(0)
    };
    alone(&folder.join("alone"));
    assert_same(&before, &bytes(&place), "it was only asked");
    day(&folder, 1, &place, &folder.join("job1")).run().exits(0);
    assert_same(&results(&folder.join("job1")), &results(&folder.join("alone")), "with --into and without");
    // What is in the index by now is nothing new.
    alone(&folder.join("again"));
    let again = Decisions::read(&folder.join("again"));
    assert_eq!((again.count("kept"), again.count("removed"), again.count("against")), (0, 120, 240));
}

/// An index, and the folder of a second day that was stopped: all its documents are in the index, and none of its results is there.
fn begun_day(folder: &Folder) -> (PathBuf, PathBuf) {
    days(folder);
    let (place, job) = (folder.join("index"), folder.join("job1"));
    day(folder, 0, &place, &folder.join("job0")).run().exits(0);
    fs::create_dir_all(job.join("work")).unwrap();
    fs::write(job.join("work/lock"), "").unwrap();
    fs::create_dir_all(job.join("removed.jsonl/x")).unwrap();
    day(folder, 1, &place, &job).run().exits(1);
    (place, job)
}

#[test]
fn a_begun_day_goes_on_in_its_own_folder_alone() {
    let folder = Folder::new();
    let (place, job) = begun_day(&folder);
    assert_eq!(stats(&place)["documents"], 240);
    let sentence = format!(
        "{} holds the beginning of this run from another folder; go on there, or take its documents out",
        place.display()
    );
    day(&folder, 1, &place, &folder.join("elsewhere")).run().refuses(2, &sentence);
    fs::remove_dir_all(job.join("removed.jsonl")).unwrap();
    day(&folder, 1, &place, &job).run().exits(0);
    assert_eq!(Decisions::read(&job).count("rejected"), 2);
    assert_eq!(stats(&place)["documents"], 240);
    // Finished, it is an input like any other: nothing of it is new.
    day(&folder, 1, &place, &folder.join("again")).run().exits(0);
    let again = Decisions::read(&folder.join("again"));
    assert_eq!((again.count("kept"), again.count("removed")), (0, 120));
    assert_eq!(stats(&place)["documents"], 360);
    assert_clean(&place);
}

#[test]
fn a_begun_day_does_not_go_on_behind_another_one() {
    let folder = Folder::new();
    let (place, job) = begun_day(&folder);
    fs::remove_dir_all(job.join("removed.jsonl")).unwrap();
    day(&folder, 2, &place, &folder.join("job2")).run().exits(0);
    // Its documents would be taken for near-duplicates of themselves.
    let before = stats(&place)["documents"].clone();
    day(&folder, 1, &place, &job).run().refuses_with(2, &["got other documents since this run was stopped"]);
    assert_eq!(stats(&place)["documents"], before);
}

#[test]
fn a_stream_is_answered_line_by_line_and_goes_on_behind_bad_lines() {
    let folder = Folder::new();
    let (place, documents) = (folder.join("index"), families(60, 20));
    index("create --progress none --max-document-bytes 4000").path(&place).run().exits(0);
    add(&place, &folder.file("in.jsonl", jsonl(&documents))).run().exits(0);
    let mut filter = index("query --progress none").path(&place).arg("-").start_open();
    let mut ask = |line: &[u8]| -> Value {
        filter.input().write_all(line).unwrap();
        filter.input().flush().unwrap();
        // The input is still open: the answer comes all the same.
        serde_json::from_str(&filter.next_line()).unwrap()
    };
    let first = ask(&jsonl(&documents[..1]));
    assert_eq!(first["id"], documents[0].id.as_str());
    assert!(matches(&first).contains(&documents[0].id.as_str()), "{first}");
    let bad = ask(b"no json\n");
    assert_eq!(bad["line"], 2, "{bad}");
    assert!(bad["error"].as_str().is_some_and(|error| !error.is_empty()), "{bad}");
    assert_eq!(ask(b"\n{\"id\":\"x\"}\n")["line"], 4);
    assert_eq!(ask(b"\xff\xfe\n")["line"], 5);
    let long = [&vec![b'x'; 20_000][..], b"\n"].concat();
    let told = ask(&long);
    assert_eq!((&told["line"], &told["error"]), (&6.into(), &"it is longer than 4000 bytes".into()));
    let stranger = ask(b"{\"id\":\"new\",\"text\":\"nothing like it was ever seen by anybody here\"}\n");
    assert_eq!((&stranger["total"], matches(&stranger).len()), (&0.into(), 0));
    // The last line may end without a line feed.
    let line = jsonl(&documents[1..2]);
    filter.input().write_all(line.trim_ascii_end()).unwrap();
    filter.close_input();
    let last: Value = serde_json::from_str(&filter.next_line()).unwrap();
    assert_eq!(last["id"], documents[1].id.as_str());
    let done = filter.end().exits(0);
    assert_eq!((done.stdout.as_str(), done.stderr.as_str()), ("", ""));
    let one_of_two = [&jsonl(&documents[..1])[..], b"no json\n"].concat();
    index("query --strict --progress none").path(&place).arg("-").run_with(&one_of_two).exits(3);
}

/// Lines of `documents` documents and of `bad` records without a text behind them.
fn lines_with_bad(documents: &[Doc], bad: usize) -> Vec<u8> {
    [jsonl(documents), b"{\"id\":\"x\"}\n".repeat(bad)].concat()
}

#[test]
fn a_query_is_held_to_the_records_that_may_be_rejected() {
    let folder = Folder::new();
    let (place, documents) = (folder.join("index"), families(88, 20));
    create(&place);
    add(&place, &folder.file("in.jsonl", jsonl(&documents))).run().exits(0);
    let questions = lines_with_bad(&documents[..88], 12);
    let asked = folder.file("asked.jsonl", &questions);
    let first_bad = jsonl(&documents[..88]).len();
    for (most, code) in [("", 4), ("11", 4), ("12", 0), ("11%", 4), ("12%", 0), ("100%", 0), ("0", 4)] {
        let option = if most.is_empty() { String::new() } else { format!("--max-rejected {most}") };
        let query = || index(&format!("query {option}")).path(&place);
        let runs = [query().path(&asked).run(), query().arg("-").run_with(&questions)];
        for (done, first) in runs.into_iter().zip([
            format!("(the first in asked.jsonl, position {first_bad})"),
            format!("(the first in stdin, byte {first_bad})"),
        ]) {
            let done = done.exits(code);
            // Every record has its answer before the limit is looked at.
            assert_eq!(done.stdout.lines().count(), 100, "{most}");
            let reason = format!("12 × missing field: neither \"text\" nor \"html\" is there {first}");
            assert!(done.stderr.lines().any(|line| line == format!("rejected: {reason}")), "{}", done.stderr);
            if code == 4 {
                let last = done.stderr.lines().last().unwrap();
                let shown = if most.is_empty() { "10%" } else { most };
                let sentence = format!(
                    "lookalike: 12 of 100 records of the input were rejected, and no more than {shown} may be: {reason}; "
                );
                assert!(last.starts_with(&sentence), "{last}");
            }
        }
    }
    // Of fewer than a hundred records all but one may be.
    let query = || index("query --strict --progress none").path(&place).arg("-");
    query().run_with(&lines_with_bad(&documents[..1], 98)).exits(3);
    query().run_with(b"no json\n").exits(4);
    query().run_with(b"").exits(0);
}

#[test]
fn a_query_of_files_without_a_document_tells_the_fields_that_are_there() {
    let folder = Folder::new();
    let place = folder.join("index");
    create(&place);
    let strange = folder.file("strange.jsonl", "{\"key\":\"a\",\"body\":\"one two\"}\n");
    let query = |words: &str| index(words).path(&place).path(&strange).run();
    let done = query("query --progress none").exits(1);
    assert!(done.stderr.contains("has a field \"text\" or \"html\"; there are key, body"), "{}", done.stderr);
    let done = query("query --progress none --max-rejected 100%").exits(0);
    assert!(done.stdout.contains("missing field"), "{}", done.stdout);
}

#[test]
fn wrong_usage_is_told_in_one_sentence() {
    let folder = Folder::new();
    let inside = |run: Invocation| run.inside(folder.path()).run();
    folder.file("in.jsonl", jsonl(&families(20, 21)));
    folder.file("taken/x", "");
    let none = "taken holds no index; make one with `lookalike index create`";
    for words in
        ["add --progress none taken in.jsonl", "query taken in.jsonl", "remove taken a", "merge taken"]
    {
        inside(index(words)).fails(1, none);
    }
    for words in ["check taken", "stats taken"] {
        inside(index(words)).fails(1, none);
    }
    let taken = "taken is there already and is not empty; name a new folder";
    inside(index("create taken")).refuses(1, taken);
    let unknown = inside(index("create new --method nosuch")).exits(2);
    assert!(unknown.stderr.contains("nosuch"), "{unknown:?}");
    let learn = inside(index("create new --method imatch"));
    learn.refuses_with(2, &["imatch weighs words by a collection", "--learn INPUT"]);
    assert_eq!(folder.names(), ["in.jsonl", "taken"], "nothing is left of what was refused");
    inside(index("create --learn - --method exact new"))
        .refuses(2, "what is learned from is read more than once and cannot be standard input; name files");
    inside(index("create made --progress none --method exact --learn in.jsonl")).exits(0);
    inside(index("add made none.jsonl"))
        .fails(1, "none.jsonl is neither a file, a folder nor a pattern that matches one");
}

#[test]
fn wrong_usage_of_dedup_with_an_index_is_told_in_one_sentence() {
    let folder = Folder::new();
    let inside = |words: &str| dedup(words).inside(folder.path()).run();
    folder.file("in.jsonl", jsonl(&families(20, 22)));
    folder.file("other.jsonl", jsonl(&families(20, 23)));
    inside("in.jsonl --into index -o job").exits(0);
    let holds = "index holds documents; give --against index, too, to compare with them";
    inside("other.jsonl --into index -o job2").refuses(2, holds);
    let other = inside("other.jsonl --threshold 0.7 --against index -o job3").exits(1);
    let last = other.stderr.lines().last().unwrap();
    assert!(last.starts_with("lookalike: index was made by another recipe: "), "{last}");
    assert!(!folder.join("job3").exists(), "it was refused before the work");
    inside("in.jsonl --into index --against other.jsonl -o job4")
        .refuses(2, "--into goes with --against of the same index, not of a corpus");
    inside("in.jsonl --into elsewhere --against index -o job5").refuses_with(2, &["name two indexes"]);
    inside("in.jsonl --against index --annotate --write kept -o job6")
        .refuses(2, "--annotate goes without an index");
    let other = ["index was made by another recipe", "keep = \"longest\""];
    inside("in.jsonl --into index --against index --keep longest -o job7").refuses_with(1, &other);
    let first = "an index keeps the first of several, by --keep first";
    inside("in.jsonl --into more --keep longest -o job8").refuses(2, first);
    inside("in.jsonl --into more --method imatch -o job9").refuses_with(2, &["--lexicon FILE"]);
    assert!(!folder.join("more").exists(), "nothing is left of what was refused");
    assert_clean(&folder.join("index"));
    assert_eq!(stats(&folder.join("index"))["documents"], 20);
}

#[test]
fn of_two_processes_that_write_one_is_refused() {
    let folder = Folder::new();
    let place = folder.join("index");
    create(&place);
    let input = folder.file("in.jsonl", jsonl(&families(5, 24)));
    // It writes as long as its input is open.
    let mut first = index("add --progress none").path(&place).arg("-").start_open();
    // The log is there once it holds the index.
    let begun = Instant::now();
    while !place.join("log-00000000").exists() && begun.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(2));
    }
    let sentence = format!(
        "{} is being written to by another process; send documents to that one, or wait for it to end",
        place.display()
    );
    add(&place, &input).run().fails(1, &sentence);
    index("remove").path(&place).arg("doc-00000").run().fails(1, &sentence);
    // Whoever reads is let in.
    assert_clean(&place);
    let line = b"{\"id\":\"mine\",\"text\":\"one two three four five six seven\"}\n";
    first.input().write_all(line).unwrap();
    first.close_input();
    first.end().exits(0);
    let ids = index("query --progress none").path(&place).arg("-").run_with(line).exits(0).stdout;
    assert!(ids.contains("\"mine\""), "{ids}");
}
