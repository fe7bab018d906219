//! Same input, same recipe, same bytes: however the work is done.

use lookalike::hash::cpu::Cpu;

use super::job_support::{assert_same, dedup, families, pairs, results, without_digests};
use super::support::{Folder, jsonl};

#[test]
fn threads_memory_and_spool_change_no_byte() {
    let folder = Folder::new();
    let documents = families(1500, 1);
    for (number, part) in documents.chunks(400).enumerate() {
        folder.file(format!("in/{number}.jsonl"), jsonl(part));
    }
    for recipe in
        ["", "--method exact --cluster components --keep longest", "--unverified --method simhash:k=6"]
    {
        let run = |how: &str| {
            let job = folder.join("out/job");
            dedup(&format!("{recipe} {how}")).path(folder.join("in")).option("-o", &job).run().exits(0);
            let found = results(&job);
            std::fs::remove_dir_all(&job).unwrap();
            found
        };
        let first = run("--threads 2");
        assert!(first["removed.jsonl"].len() > 20_000);
        for how in [
            "--threads 1",
            "--threads 4",
            "--memory 256M --threads 2",
            "--memory 2G",
            "--spool none --threads 2",
        ] {
            assert_same(&first, &run(how), &format!("{recipe} {how}"));
        }
    }
}

#[test]
fn instructions_of_the_processor_change_no_byte() {
    let folder = Folder::new();
    let mut documents = families(500, 5);
    // Words of all lengths, in several scripts, and texts with a few words or none.
    for (number, document) in documents.iter_mut().enumerate() {
        let long = "verständnisvoll東京—ДЛИННЫЕ".repeat(number % 5);
        document.text.push_str(&format!(" a bb ccc dddd eeeeeeeee {long} ÉCOLE n\u{fa}mero {}", number / 3));
    }
    documents.extend(families(3, 6).into_iter().map(|mut document| {
        document.id.insert(0, 'x');
        document.text.truncate(document.text.find(' ').unwrap_or_default());
        document
    }));
    let input = folder.file("in.jsonl", jsonl(&documents));
    for recipe in ["", "--method exact", "--method simhash", "--method a12", "--method sif"] {
        let run = |cpu: Cpu| {
            let job = folder.join("out/job");
            dedup(recipe).path(&input).option("-o", &job).with("LOOKALIKE_CPU", cpu.name()).run().exits(0);
            let found = results(&job);
            std::fs::remove_dir_all(&job).unwrap();
            found
        };
        let first = run(Cpu::Portable);
        assert!(!first["removed.jsonl"].is_empty(), "{recipe}");
        for cpu in Cpu::available().skip(1) {
            assert_same(&first, &run(cpu), &format!("{recipe} {}", cpu.name()));
        }
    }
    let unknown = dedup("--sample").with("LOOKALIKE_CPU", "z80").run().exits(2);
    assert!(
        unknown.stderr.starts_with("lookalike: LOOKALIKE_CPU is z80; this machine has portable"),
        "{unknown:?}"
    );
}

#[test]
fn threads_memory_and_spool_change_no_pair() {
    let folder = Folder::new();
    let input = folder.file("in.jsonl", jsonl(&families(800, 2)));
    for recipe in ["--all", "--method exact --similarity containment --threshold 0.6"] {
        let run = |how: &str| {
            let output = folder.join("out/pairs.jsonl");
            std::fs::create_dir(folder.join("out")).unwrap();
            pairs(&format!("{recipe} {how}")).path(&input).option("-o", &output).run().exits(0);
            let mut found = results(&folder.join("out"));
            found.remove("pairs.jsonl.job/run.json");
            std::fs::remove_dir_all(folder.join("out")).unwrap();
            found
        };
        let first = run("--threads 2");
        assert!(!first["pairs.jsonl"].is_empty());
        for how in ["--threads 1", "--threads 4 --memory 256M", "--spool none"] {
            assert_same(&first, &run(how), &format!("{recipe} {how}"));
        }
    }
}

#[test]
fn the_cut_into_shards_changes_no_decision() {
    let folder = Folder::new();
    let documents = families(600, 3);
    folder.file("one/all.jsonl", jsonl(&documents));
    for (number, part) in documents.chunks(130).enumerate() {
        folder.file(format!("many/{number}.jsonl"), jsonl(part));
    }
    folder.file("odd/0/a.jsonl", jsonl(&documents[..1]));
    folder.file("odd/1/empty.jsonl", "");
    folder.file("odd/2/b.jsonl", jsonl(&documents[1..]));
    let run = |name: &str| {
        let job = folder.join(format!("out-{name}/job"));
        dedup("--threads 2").path(folder.join(name)).option("-o", &job).run().exits(0);
        let mut found = results(&job);
        // It has a table of shards.
        found.remove("report.html").expect("a report");
        without_digests(&mut found);
        found
    };
    let one = run("one");
    assert_same(&one, &run("many"), "several shards");
    assert_same(&one, &run("odd"), "an empty shard between two");
}

#[test]
fn the_report_does_not_depend_on_where_the_input_stands() {
    let folder = Folder::new();
    let run = |place: &str| {
        let input = folder.file(format!("{place}/in.jsonl"), jsonl(&families(200, 4)));
        let job = folder.join(format!("{place}/out/job"));
        dedup("").path(input).option("-o", &job).run().exits(0);
        results(&job)
    };
    assert_same(&run("here"), &run("there/and/elsewhere"), "another folder");
}
