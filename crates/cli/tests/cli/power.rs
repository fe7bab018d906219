//! Power is lost: of what was not yet on the disk anything may be gone, and a job still ends with the same bytes.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::Value;

use super::faults::{copy, everything};
use super::job_support::{Rng, assert_same, dedup, families};
use super::support::{Folder, Invocation, Running, jsonl, lookalike, program, skipped};

/// Files that a journal says are on the disk.
#[derive(Default)]
struct DurableFiles {
    /// Scratch files.
    files: BTreeSet<String>,
    /// The end of the line that says so.
    end: usize,
}

/// Reads a journal as its format is described, without its checksums.
fn durable_files(journal: &[u8]) -> DurableFiles {
    let (mut entries, mut found, mut end) = (Vec::<Value>::new(), DurableFiles::default(), 0);
    for line in journal.split_inclusive(|&byte| byte == b'\n') {
        end += line.len();
        let words = String::from_utf8_lossy(line);
        let entry: Value = serde_json::from_str(words.split_once(' ').unwrap().1).unwrap();
        if let Some(lines) = entry["synced"].as_u64() {
            found = DurableFiles { end, ..DurableFiles::default() };
            for entry in &entries[..lines as usize] {
                let (kind, what) = entry.as_object().unwrap().iter().next().unwrap();
                let Some(name) = what.as_str().or(what[0].as_str()).map(str::to_owned) else { continue };
                match kind.as_str() {
                    "made" | "settled" | "summed" => drop(found.files.insert(name)),
                    "removing" => drop(found.files.remove(&name)),
                    "renaming" => {
                        found.files.remove(&name);
                        // It may bear one name or the other.
                        found.files.insert(name);
                        found.files.insert(what[1].as_str().unwrap().to_owned());
                    }
                    _ => {}
                }
            }
        }
        entries.push(entry);
    }
    found
}

/// Loses whatever was not on the disk, or parts of it.
fn lose_unsynced(job: &Path, rng: &mut Rng) {
    let path = job.join("work/journal");
    let journal = fs::read(&path).unwrap_or_default();
    let safe = durable_files(&journal);
    let cut = safe.end + rng.below(journal.len() - safe.end + 1);
    fs::write(&path, &journal[..cut]).unwrap();
    for name in everything(job).into_keys() {
        let scratch = name.strip_prefix("work/");
        let kept = match scratch {
            Some("lock" | "journal") => true,
            // Put on the disk by whoever received it.
            Some("stdin") => true,
            Some("job.json") => safe.end > 0,
            Some(name) => safe.files.contains(name),
            None => false,
        };
        if !kept {
            damage_file(&job.join(&name), rng);
        }
    }
}

/// States in which a file system may leave a file that was not on the disk.
fn damage_file(path: &Path, rng: &mut Rng) {
    let length = fs::metadata(path).unwrap().len();
    let file = || fs::OpenOptions::new().write(true).open(path).unwrap();
    match rng.below(5) {
        0 => fs::remove_file(path).unwrap(),
        1 => file().set_len(0).unwrap(),
        2 => file().set_len(length / 2).unwrap(),
        3 => fs::write(path, vec![0; length as usize]).unwrap(),
        _ => {}
    }
}

/// Stops jobs at every stage, but for the files of `absent`, which they do not write, loses what was not on the disk, and goes on.
fn assert_survives_losses(
    run: &dyn Fn(&Path) -> Invocation,
    folder: &Folder,
    table: &str,
    absent: &[&str],
    rounds: usize,
) {
    let expected_out = folder.join("expected");
    fs::create_dir_all(&expected_out).unwrap();
    run(&expected_out).run().exits(0);
    let expected = everything(&expected_out);
    let job_name = if table.starts_with("pairs") { "pairs.jsonl.job" } else { "job" };
    let stops = [
        "work/o000000.payload",
        "work/classes.done",
        "work/candidates.done",
        "work/buckets.plan",
        "work/b000000.done",
        "work/verified.done",
        "work/removed.sorted",
        table,
        "kept/b.jsonl",
        "summary.json.part",
    ];
    let mut rng = Rng::new(11);
    let (mut passed, mut reported) = (Vec::new(), 0);
    for (number, stop) in stops.into_iter().enumerate() {
        let state = folder.join(format!("state-{number}"));
        let job = state.join(job_name);
        fs::create_dir_all(job.join("work")).unwrap();
        fs::write(job.join("work/lock"), "").unwrap();
        fs::create_dir_all(job.join(stop).join("x")).unwrap();
        if run(&state).run().code == Some(0) {
            passed.push(stop);
            continue;
        }
        fs::remove_dir_all(job.join(stop)).unwrap();
        for _ in 0..rounds {
            let out = folder.join("lost");
            copy(&state, &out);
            lose_unsynced(&out.join(job_name), &mut rng);
            let done = run(&out).run().exits(0);
            reported += usize::from(done.stderr.contains("did not survive"));
            assert_same(&expected, &everything(&out), stop);
            fs::remove_dir_all(&out).unwrap();
        }
    }
    assert_eq!(passed, absent, "files at which no job stopped: has a stage another name for them?");
    assert!(reported > 0);
}

/// A command that says what it has to say.
fn verbose(words: &str) -> Invocation {
    lookalike(words.split_whitespace().chain(["--progress", "plain"]))
}

fn small(folder: &Folder) {
    let documents = families(160, 3);
    folder.file("in/a.jsonl", [&jsonl(&documents[80..])[..], b"{\"id\":1}\n"].concat());
    folder.file("in/b.jsonl", jsonl(&documents[..80]));
}

#[test]
fn a_job_that_lost_what_was_not_on_the_disk_ends_with_the_same_bytes() {
    let folder = Folder::new();
    small(&folder);
    let run = |out: &Path| {
        verbose("dedup --threads 2 --write kept --spool disk")
            .path(folder.join("in"))
            .option("-o", out.join("job"))
    };
    assert_survives_losses(&run, &folder, "removed.jsonl", &["work/o000000.payload"], 12);
}

#[test]
fn an_ordered_job_that_lost_what_was_not_on_the_disk_ends_with_the_same_bytes() {
    let folder = Folder::new();
    small(&folder);
    let run = |out: &Path| {
        let run =
            verbose("dedup --threads 2 --order-field url --write kept --method minhash --method imatch");
        run.path(folder.join("in")).option("-o", out.join("job"))
    };
    assert_survives_losses(&run, &folder, "removed.jsonl", &[], 6);
}

#[test]
fn pairs_that_lost_what_was_not_on_the_disk_end_with_the_same_bytes() {
    let folder = Folder::new();
    small(&folder);
    let run = |out: &Path| {
        verbose("pairs --threads 2 --method exact")
            .path(folder.join("in"))
            .option("-o", out.join("pairs.jsonl"))
    };
    let absent = ["work/o000000.payload", "work/removed.sorted", "kept/b.jsonl"];
    assert_survives_losses(&run, &folder, "pairs.jsonl", &absent, 6);
}

/// A disk of its own with a real file system, whose power can be cut. It is taken away at the end.
struct Disk {
    image: PathBuf,
    place: PathBuf,
}

/// Stops a file system at once, without putting anything on the disk.
const CUT: &str = "import fcntl, os, struct, sys
folder = os.open(sys.argv[1], os.O_RDONLY)
print('ready', file=sys.stderr, flush=True)
sys.stdin.read()
fcntl.ioctl(folder, 2 << 30 | 4 << 16 | ord('X') << 8 | 125, struct.pack('I', 2))";

impl Disk {
    fn new(folder: &Folder) -> Option<Self> {
        let disk = Disk { image: folder.join("image"), place: folder.join("disk") };
        fs::File::create(&disk.image).unwrap().set_len(64 << 20).unwrap();
        fs::create_dir(&disk.place).unwrap();
        let made = std::process::Command::new("mkfs.ext4").args(["-q", "-F"]).arg(&disk.image).output();
        let made = made.is_ok_and(|made| made.status.success());
        if !made || !disk.mount() {
            skipped("no file system can be made and mounted here");
            return None;
        }
        Some(disk)
    }

    fn mount(&self) -> bool {
        // What is not asked for stays in memory.
        let done = program("mount", ["-o", "loop,commit=600"]).path(&self.image).path(&self.place).run();
        done.code == Some(0)
    }

    /// Puts everything on the disk.
    #[track_caller]
    fn sync(&self) {
        program("sync", ["-f"]).path(&self.place).run().exits(0);
    }

    /// Loses all that is not on the disk.
    #[track_caller]
    fn cut(&self) {
        self.switch().cut();
    }

    /// A switch that cuts the power at once: the program behind it is up already.
    fn switch(&self) -> PowerSwitch {
        let mut waiting = program("python3", ["-c", CUT]).path(&self.place).start_open();
        waiting.wait_for_words();
        PowerSwitch(waiting)
    }

    #[track_caller]
    fn restart(&self) {
        program("umount", [""; 0]).path(&self.place).run().exits(0);
        assert!(self.mount());
    }
}

/// A program that stops the file system of a disk when its input ends.
struct PowerSwitch(Running);

impl PowerSwitch {
    #[track_caller]
    fn cut(mut self) {
        self.0.close_input();
        self.0.end().exits(0);
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = std::process::Command::new("umount").arg(&self.place).output();
    }
}

/// Runs until the time is over or the program has ended, then cuts the power.
fn run_and_cut(disk: &Disk, run: Invocation, time: Duration, end: &Path) {
    let switch = disk.switch();
    let running = run.start();
    let begun = Instant::now();
    while begun.elapsed() < time && !end.exists() {
        std::thread::sleep(Duration::from_millis(1));
    }
    switch.cut();
    running.signal(Signal::KILL);
    running.end();
    disk.restart();
}

#[cfg(target_os = "linux")]
#[test]
fn a_job_on_a_disk_that_loses_power_again_and_again_ends_with_the_same_bytes() {
    let folder = Folder::new();
    let Some(disk) = Disk::new(&folder) else { return };
    for (number, part) in families(2000, 1).chunks(250).enumerate() {
        folder.file(format!("in/{number}.jsonl"), jsonl(part));
    }
    let run = |out: &Path| {
        dedup("--threads 2 --write kept --spool disk").path(folder.join("in")).option("-o", out.join("job"))
    };
    let expected = folder.join("expected");
    fs::create_dir(&expected).unwrap();
    let begun = Instant::now();
    run(&expected).run().exits(0);
    let mut whole = begun.elapsed();
    let expected = everything(&expected);
    let (out, mut rng) = (disk.place.join("out"), Rng::new(4));
    let mut ended = 0;
    for _ in 0..12 {
        fs::create_dir_all(&out).unwrap();
        let time = whole.mul_f64(rng.below(1000) as f64 / 800.0);
        run_and_cut(&disk, run(&out), time, &out.join("job/summary.json"));
        if out.join("job/summary.json").exists() {
            ended += 1;
            // It takes less time than it seemed: the next cut comes sooner.
            whole = whole.mul_f64(0.7);
            assert_same(&expected, &finished(&out), "there after the loss");
            fs::remove_dir_all(&out).unwrap();
            // Otherwise the next cut may bring back what was removed, and count it as ended once more.
            disk.sync();
        }
    }
    fs::create_dir_all(&out).unwrap();
    run(&out).run().exits(0);
    assert_same(&expected, &finished(&out), "after the last loss");
    disk.cut();
    disk.restart();
    assert_same(&expected, &finished(&out), "power was lost right behind the end");
    lookalike(["check"]).path(out.join("job")).run().exits(0);
    assert!(ended < 12, "every cut fell behind the end");
}

/// All results; scratch files of a job that is finished may still be there.
fn finished(out: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = everything(out);
    found.retain(|name, _| !name.starts_with("job/work/"));
    found
}

#[cfg(target_os = "linux")]
#[test]
fn an_index_on_a_disk_that_loses_power_has_what_was_acknowledged() {
    let folder = Folder::new();
    let Some(disk) = Disk::new(&folder) else { return };
    let seen = disk.place.join("seen");
    lookalike(["index", "create"]).path(&seen).run().exits(0);
    let documents = families(600, 2);
    let mut acknowledged = 0;
    let mut rng = Rng::new(9);
    for (number, part) in documents.chunks(60).enumerate() {
        let input = folder.file(format!("in/{number}.jsonl"), jsonl(part));
        let add = || lookalike(["index", "add", "--sync", "--progress", "none"]).path(&seen).path(&input);
        if number % 2 == 0 {
            add().run().exits(0);
            acknowledged += part.len() as u64;
            disk.cut();
            disk.restart();
        } else {
            run_and_cut(&disk, add(), Duration::from_millis(rng.below(120) as u64), &folder.join("none"));
        }
        let checked = lookalike(["check", "--json"]).path(&seen).run().exits(0);
        let checked: Value = serde_json::from_str(&checked.stdout).unwrap();
        let there = checked["documents"].as_u64().unwrap();
        assert!(there >= acknowledged, "{there} of {acknowledged}");
        acknowledged = there;
    }
    assert!(acknowledged >= 300, "{acknowledged}");
}
