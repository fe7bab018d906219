//! Documents in, a file out: round trips, whole or not at all, full disks.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::support::{
    Doc, Folder, assert_counts, corpus, documents, json_lines, jsonl, program, read_jsonl, shell, skipped,
    stats,
};

fn convert(input: &Path, output: &Path) {
    let done = corpus("convert").path(input).option("-o", output).run().exits(0);
    assert_eq!(done.stdout, "");
}

/// Documents with everything that a format might trip over.
fn awkward_documents() -> Vec<Doc> {
    let mut all = documents(50);
    all[0].text = "two\nlines, \"quotes\", a\ttab, ü, 漢字 and \u{1f339}".to_owned();
    all[1].text = "\r\nWARC/1.0\r\n\r\nends in line ends\r\n\r\n".to_owned();
    all[2].text = String::new();
    all[3].id = "an id: with spaces/and {braces}".to_owned();
    all
}

#[test]
fn every_format_there_and_back_gives_the_same_documents() {
    let folder = Folder::new();
    let source = folder.file("a.jsonl", jsonl(&awkward_documents()));
    let mut names =
        vec!["b.jsonl.gz", "b.jsonl.zst", "b.jsonl.bz2", "b.warc", "b.warc.gz", "b.warc.zst", "b.warc.xz"];
    if cfg!(feature = "parquet") {
        names.push("b.parquet");
    }
    for name in names {
        let (there, back) = (folder.join(name), folder.join("back.jsonl"));
        convert(&source, &there);
        convert(&there, &back);
        assert_eq!(read_jsonl(&back), awkward_documents(), "{name}");
    }
}

/// Converts to a file of this name and back to JSON lines.
fn there_and_back(folder: &Folder, source: &Path, name: &str) -> Vec<Value> {
    let (there, back) = (folder.join(name), folder.join("back.jsonl"));
    convert(source, &there);
    convert(&there, &back);
    json_lines(&back)
}

#[test]
fn other_fields_are_kept() {
    let folder = Folder::new();
    let first = json!({"id":"a","url":"http://e/","text":"one","n":3,"score":1,"ok":true,"lang":"en","tags":["x",null],"m":{"k":1.50}});
    let second = json!({"id":"b","text":"two","html":"<p>two","n":-4,"score":0.5,"lang":"d\u{e9}","big":123456789012345678901234567890.0});
    let source = folder.file("a.jsonl", format!("{first}\n{second}\n"));
    let output = folder.join("b.jsonl.xz");
    convert(&source, &output);
    assert_eq!(there_and_back(&folder, &source, "b.jsonl.lz4"), [first.clone(), second.clone()]);
    if cfg!(feature = "parquet") {
        let [one, two] = &there_and_back(&folder, &source, "b.parquet")[..] else { panic!("two rows") };
        // What Parquet has no type for is JSON text there.
        let mut expected = first.clone();
        (expected["tags"], expected["m"], expected["score"]) =
            (json!("[\"x\",null]"), json!("{\"k\":1.5}"), json!(1.0));
        assert_eq!(*one, expected);
        assert_eq!(*two, second);
    }
    let table = folder.file("a.csv", "id,title,text,note\n1,\"x, y\",one,\n2,z,two,\"a\"\"b\"\n");
    let rows = [
        json!({"id":"1","text":"one","title":"x, y","note":""}),
        json!({"id":"2","text":"two","title":"z","note":"a\"b"}),
    ];
    assert_eq!(there_and_back(&folder, &table, "c.jsonl"), rows);
    if cfg!(feature = "parquet") {
        assert_eq!(there_and_back(&folder, &table, "c.parquet"), rows);
    }
    let warc = folder.join("c.warc");
    convert(&table, &warc);
    let bytes = std::fs::read_to_string(&warc).unwrap();
    assert!(bytes.contains("\r\n\r\n{\"title\":\"z\",\"note\":\"a\\\"b\"}\r\n\r\n"), "{bytes}");
    assert_eq!(
        (stats([&warc])["accepted"].clone(), stats([&warc])["rejected"].clone()),
        (2.into(), 0.into())
    );
}

#[test]
fn a_field_that_bears_the_name_of_an_output_gets_another() {
    let folder = Folder::new();
    let source = folder.file("a.jsonl", "{\"id\":\"a\",\"body\":\"one\",\"text\":\"no text\"}\n");
    let output = folder.join("b.jsonl");
    corpus("convert --text-field body").path(source).option("-o", &output).run().exits(0);
    assert_eq!(json_lines(&output), [json!({"id":"a","text":"one","text_":"no text"})]);
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    let folder = Folder::new();
    let source = folder.file("a.jsonl", jsonl(&awkward_documents()));
    for name in ["x.jsonl", "x.jsonl.gz", "x.warc.gz", "x.parquet"] {
        if name.ends_with("parquet") && !cfg!(feature = "parquet") {
            continue;
        }
        let bytes = ["first", "second"].map(|run| {
            let output = folder.join(format!("{run}-{name}"));
            convert(&source, &output);
            std::fs::read(output).unwrap()
        });
        assert_eq!(bytes[0], bytes[1], "{name}");
    }
}

#[test]
fn html_becomes_its_text() {
    let folder = Folder::new();
    let page = r#"{"id":"a","html":"<title>Roses</title><p>one <b>rose</b> &amp; two"}"#;
    let output = folder.join("b.jsonl");
    convert(&folder.file("a.jsonl", page), &output);
    let words: Vec<String> = read_jsonl(&output)[0].text.split_whitespace().map(str::to_owned).collect();
    assert_eq!(words, ["Roses", "one", "rose", "&", "two"]);
}

#[test]
fn rejected_records_are_left_out_and_written_elsewhere() {
    let folder = Folder::new();
    let lines = b"{\"id\":\"a\",\"text\":\"one\"}\n{\"id\":\n{\"id\":\"c\",\"text\":\"three\"}\n";
    let source = folder.file("a.jsonl", lines);
    let (output, rejected) = (folder.join("b.jsonl"), folder.join("rejected.jsonl"));
    let run = corpus("convert --strict").path(source).option("-o", &output).option("--rejected", &rejected);
    run.run().exits(3);
    let ids: Vec<String> = read_jsonl(&output).into_iter().map(|document| document.id).collect();
    assert_eq!(ids, ["a", "c"]);
    assert_eq!(std::fs::read_to_string(rejected).unwrap().lines().count(), 1);
}

#[test]
fn a_file_that_fails_half_way_leaves_the_old_output_alone() {
    let folder = Folder::new();
    folder.file("in/a.jsonl", jsonl(&documents(5)));
    folder.file("in/b.png", b"\0\0\0\0");
    let output = folder.file("out.jsonl", "old");
    corpus("convert").path(folder.join("in")).option("-o", &output).run().exits(1);
    assert_eq!(std::fs::read_to_string(output).unwrap(), "old");
    assert_eq!(folder.names(), ["in", "out.jsonl"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_device_without_room_is_told_in_one_sentence() {
    use std::os::unix::fs::FileTypeExt;
    let folder = Folder::new();
    for name in ["full.jsonl", "full.warc.gz", "full.parquet"] {
        if name.ends_with("parquet") && !cfg!(feature = "parquet") {
            continue;
        }
        if !full_device(&folder, name) {
            return skipped("no device that is full");
        }
        let done = corpus("convert --sample --progress none -o").path(name).inside(folder.path()).run();
        done.fails(1, &format!("cannot write {name}: the disk is full; make room or write to another one"));
        assert!(folder.join(name).metadata().unwrap().file_type().is_char_device());
    }
}

/// A device without room. One who may write to `/dev` gets a device of their own: a mistake in the program must not
/// cost the machine's. False when there is none to be had.
#[cfg(target_os = "linux")]
fn full_device(folder: &Folder, name: &str) -> bool {
    if rustix::process::geteuid().is_root() {
        return shell(&format!("mknod {name} c 1 7 && : <{name}")).inside(folder.path()).run().code
            == Some(0);
    }
    std::os::unix::fs::symlink("/dev/full", folder.join(name)).is_ok() && folder.join(name).exists()
}

/// A very small disk, gone with its value.
#[cfg(target_os = "linux")]
struct SmallDisk(PathBuf);

#[cfg(target_os = "linux")]
impl SmallDisk {
    fn mount(folder: &Folder) -> Option<SmallDisk> {
        let path = folder.join("disk");
        std::fs::create_dir(&path).unwrap();
        let mount = shell("mount -t tmpfs -o size=256k tmpfs disk").inside(folder.path()).run();
        (mount.code == Some(0)).then_some(SmallDisk(path))
    }
}

#[cfg(target_os = "linux")]
impl Drop for SmallDisk {
    fn drop(&mut self) {
        program("umount", [&self.0]).run();
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_told_in_one_sentence_and_nothing_stays_on_it() {
    let folder = Folder::new();
    let Some(disk) = SmallDisk::mount(&folder) else { return skipped("a small disk cannot be mounted here") };
    for command in ["convert --sample", "generate --documents 1000"] {
        for name in ["a.jsonl", "a.jsonl.zst"] {
            let done = corpus(command).option("-o", name).inside(&disk.0).run();
            done.fails(
                1,
                &format!("cannot write {name}: the disk is full; make room or write to another one"),
            );
            assert_eq!(std::fs::read_dir(&disk.0).unwrap().count(), 0);
        }
    }
}

#[test]
fn warc_output_is_a_corpus_of_its_own() {
    let folder = Folder::new();
    let output = folder.join("a.warc.gz");
    corpus("convert --sample").option("-o", &output).run().exits(0);
    let (made, sample) = (stats([&output]), corpus("stats --sample --json").run().exits(0).json());
    assert_counts(&made, 3000, sample["words"].as_u64().unwrap(), 0);
    assert_eq!(made["exact_duplicates"], sample["exact_duplicates"]);
}
