//! Cut, damaged, copied, shared: an index says what it knows, or why it cannot, and never something else.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use lookalike_engine::walk::Watch;
use lookalike_engine::{Settings, Spool};
use lookalike_hash as hash;
use lookalike_index::{
    Answer, CreateOptions, Entry, Index, IndexError, Mode, OnExistingId, State, Verdict, WriterOptions,
};

use crate::support::{assert_clean, create, prepared, recipe, words, writing};

/// The text of a document: every family has members that are near each other, some of them equal.
fn text(number: u32) -> String {
    let (family, edits) = (number % 5, number / 5 % 4);
    let edits: Vec<u32> = (0..edits).map(|edit| 59 - 20 * edit).collect();
    words(family, &edits[..edits.len().min(2)]).join(" ")
}

#[track_caller]
fn add(index: &Index, numbers: impl IntoIterator<Item = u32>) -> Vec<Verdict> {
    let mut buffers = index.buffers().unwrap();
    let documents = numbers.into_iter();
    let documents =
        documents.map(|number| prepared(index, &mut buffers, &format!("d{number}"), &text(number))).collect();
    index.add(documents, OnExistingId::Refuse).unwrap()
}

/// Numbers that look random and are the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = hash::mix(self.0.wrapping_add(1));
        self.0 as usize % bound
    }
}

/// All answers of an index.
#[derive(Debug, Clone, PartialEq)]
struct AllAnswers {
    entries: Vec<Option<Entry>>,
    answers: Vec<Answer>,
    by_id: Vec<Vec<u32>>,
    clusters: Vec<(u32, u32)>,
}

fn all_answers(index: &Index, documents: u32) -> Result<AllAnswers, IndexError> {
    let buffers = &mut index.buffers()?;
    let entries = (0..documents).map(|number| index.entry(buffers, number)).collect::<Result<_, _>>()?;
    let (mut answers, mut by_id) = (Vec::new(), Vec::new());
    for number in 0..documents.min(20) {
        let asked = prepared(index, buffers, "asked", &text(number));
        answers.push(index.query(buffers, &asked, usize::MAX)?);
        by_id.push(index.get(buffers, &format!("d{number}"))?.iter().map(|entry| entry.number).collect());
    }
    let clusters = index.clusters(buffers)?.iter().map(|cluster| (cluster.keeper, cluster.size)).collect();
    Ok(AllAnswers { entries, answers, by_id, clusters })
}

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

/// Every file in a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        match entry.path().is_dir() {
            true => found.extend(files(&entry.path())),
            false => found.push(entry.path()),
        }
    }
    found.sort();
    found
}

#[test]
fn a_log_that_is_cut_anywhere_holds_what_was_acknowledged_before() {
    let folder = tempfile::tempdir().unwrap();
    let (place, killed) = (folder.path().join("index"), folder.path().join("killed"));
    create(&place, "minhash", true);
    let index = Index::open(&place, writing(32 << 20)).unwrap();
    let length = || fs::metadata(place.join("log-00000000")).unwrap().len();
    let mut moments = BTreeMap::from([(length(), all_answers(&index, 0).unwrap())]);
    for batch in 0..8 {
        add(&index, 4 * batch..4 * batch + 4);
        moments.insert(length(), all_answers(&index, index.next()).unwrap());
        if batch % 3 == 1 {
            assert_eq!(index.remove(&format!("d{}", batch - 1)).unwrap(), 1);
            moments.insert(length(), all_answers(&index, index.next()).unwrap());
        }
    }
    // Closed, all of it would be on the disk, and a cut would be a loss.
    copy(&place, &killed);
    let (place, log) = (&killed, killed.join("log-00000000"));
    drop(index);
    let whole = fs::read(&log).unwrap();
    let near = |cut: u64| moments.keys().any(|end| end.abs_diff(cut) < 18);
    let cuts = (0..=whole.len() as u64).filter(|cut| cut.is_multiple_of(211) || near(*cut));
    let mut tried = 0;
    for cut in cuts.rev() {
        fs::OpenOptions::new().write(true).open(&log).unwrap().set_len(cut).unwrap();
        let index = Index::open(place, Mode::Read).unwrap();
        let (end, before) = moments.range(..=cut).next_back().unwrap();
        assert_eq!(&all_answers(&index, index.next()).unwrap(), before, "cut at {cut}");
        let checked = index.check(&mut index.buffers().unwrap()).unwrap();
        assert_eq!((checked.mistakes, checked.torn), (0, cut - end), "{:?}", checked.wrong);
        tried += 1;
        if cut.is_multiple_of(5) {
            // Whoever writes goes on behind it.
            let copied = folder.path().join("copy");
            copy(place, &copied);
            let index = Index::open(&copied, writing(32 << 20)).unwrap();
            assert_eq!(index.cut_bytes(), cut - end);
            let next = index.next();
            assert!(matches!(add(&index, [1000])[..], [Verdict::Added { number, .. }] if number == next));
            index.close().unwrap();
            let index = Index::open(&copied, Mode::Read).unwrap();
            assert_eq!(
                (index.next(), &index.check(&mut index.buffers().unwrap()).unwrap().torn),
                (next + 1, &0)
            );
            assert_clean(&index, "behind a cut");
        }
    }
    assert!(tried > 200, "{tried}");
}

/// Writes as they stand in the first log: each with a checksum of it and of the one before.
fn frames(chunks: [&[u8]; 2]) -> Vec<u8> {
    let mut chain = hash::sum(&0u64.to_le_bytes());
    let mut frame = |chunk: &[u8]| {
        let length = (chunk.len() as u32).to_le_bytes();
        chain = hash::sum(&[chain.to_le_bytes(), hash::sum(chunk).to_le_bytes()].concat());
        [&length[..], &(hash::sum(&length) as u32).to_le_bytes(), &chain.to_le_bytes(), chunk].concat()
    };
    chunks.map(&mut frame).concat()
}

#[test]
fn a_log_that_lost_what_was_on_the_disk_is_damaged() {
    let folder = tempfile::tempdir().unwrap();
    for sync in [false, true] {
        let place = folder.path().join(format!("index-{sync}"));
        create(&place, "minhash", true);
        let index = Index::open(&place, Mode::Write(WriterOptions { sync, tail_bytes: 32 << 20 })).unwrap();
        (0..3).for_each(|batch| drop(add(&index, 4 * batch..4 * batch + 4)));
        let copied = folder.path().join(format!("killed-{sync}"));
        copy(&place, &copied);
        index.close().unwrap();
        // With sync every write is acknowledged when it is on the disk, else all of them when the index is closed.
        for (place, relied_on) in [(&place, true), (&copied, sync)] {
            let log = place.join("log-00000000");
            let whole = fs::read(&log).unwrap();
            for cut in (0..whole.len()).step_by(97).chain([whole.len() - 1]) {
                fs::write(&log, &whole[..cut]).unwrap();
                for mode in [Mode::Read, writing(32 << 20)] {
                    let opened = Index::open(place, mode).map(drop);
                    assert_eq!(opened.is_err(), relied_on, "{sync}, cut at {cut}");
                    let told = opened.map_or_else(|error| error.to_string(), |()| String::new());
                    assert!(!relied_on || told.contains("when they were acknowledged"), "{told}");
                }
            }
            fs::remove_file(&log).unwrap();
            assert_eq!(Index::open(place, Mode::Read).is_err(), relied_on);
            fs::write(&log, &whole).unwrap();
            assert_eq!(Index::open(place, Mode::Read).unwrap().next(), 12);
        }
    }
}

#[test]
fn a_write_that_is_missing_between_others_or_from_another_log_is_damage() {
    let folder = tempfile::tempdir().unwrap();
    for closed in [false, true] {
        let place = folder.path().join(format!("index-{closed}"));
        let log = place.join("log-00000000");
        create(&place, "minhash", true);
        let index = Index::open(&place, writing(32 << 20)).unwrap();
        add(&index, 0..4);
        let ends = [0, 1, 2, 3].map(|number| {
            // Nothing but a changed state: no number tells that it is missing.
            index.remove(&format!("d{number}")).unwrap();
            fs::metadata(&log).unwrap().len() as usize
        });
        if closed {
            index.close().unwrap();
        } else {
            drop(index);
        }
        let whole = fs::read(&log).unwrap();
        let missing = |number: usize| [&whole[..ends[number - 1]], &whole[ends[number]..]].concat();
        let twice = [&whole[..ends[1]], &whole[ends[0]..]].concat();
        let mut cases = vec![missing(1), twice];
        // With a single one behind it, that one could be torn; unless it is known to be on the disk.
        cases.extend(closed.then(|| missing(2)));
        for bytes in cases {
            fs::write(&log, bytes).unwrap();
            let sentence = Index::open(&place, Mode::Read).map(drop).unwrap_err().to_string();
            assert!(sentence.contains("log-00000000 is damaged"), "{sentence}");
        }
    }
}

#[test]
fn no_bytes_in_a_log_make_an_index_panic() {
    let folder = tempfile::tempdir().unwrap();
    let (whole, place) = (folder.path().join("index"), folder.path().join("killed"));
    create(&whole, "minhash", true);
    let index = Index::open(&whole, writing(32 << 20)).unwrap();
    add(&index, 0..12);
    let first = fs::read(whole.join("log-00000000")).unwrap();
    index.remove("d0").unwrap();
    copy(&whole, &place);
    let log = place.join("log-00000000");
    let second = fs::read(&log).unwrap().split_off(first.len());
    let (first, second) = (&first[16..], &second[16..]);
    assert_eq!(fs::read(&log).unwrap(), frames([first, second]));
    let mut random = Random(3);
    for turn in 0..400 {
        let (mut one, mut two) = (first.to_vec(), second.to_vec());
        let broken = if turn % 3 == 0 { &mut two } else { &mut one };
        for _ in 0..1 + turn % 4 {
            let at = random.below(broken.len());
            broken[at] = [0, 1, 0x7f, 0xff, random.below(256) as u8][random.below(5)];
        }
        if turn % 7 == 0 {
            broken.truncate(random.below(broken.len()));
        }
        // The checksums are right: whoever wrote it wrote nonsense.
        fs::write(&log, frames([&one, &two])).unwrap();
        if let Ok(index) = Index::open(&place, Mode::Read) {
            let _ = all_answers(&index, index.next().min(40));
            let _ = index.check(&mut index.buffers().unwrap());
        }
    }
}

/// An index with some segments, changes of earlier documents, and a log.
fn create_with_history(place: &Path, text: bool) -> u32 {
    create(place, "minhash", text);
    let index = Index::open(place, writing(32 << 20)).unwrap();
    for part in 0..3 {
        add(&index, 30 * part..30 * part + 30);
        index.remove(&format!("d{}", 30 * part + 1)).unwrap();
        if part > 0 {
            index.remove(&format!("d{}", 30 * part - 30)).unwrap();
        }
        if part < 2 {
            index.flush().unwrap();
        }
    }
    assert_eq!(index.stats().segments, 2);
    let next = index.next();
    index.close().unwrap();
    next
}

/// Returns the failure of an index with a flipped bit in `file`; none if the damage is reported, or changes no answer.
fn unreported_damage(place: &Path, file: &str, documents: u32, before: &AllAnswers) -> Option<String> {
    let named = |error: IndexError| {
        let sentence = error.to_string();
        let known = sentence.contains("recipe.toml or the folder knowledge");
        (!sentence.contains(file) && !known).then(|| format!("not named: {sentence}"))
    };
    let index = match Index::open(place, Mode::Read) {
        Err(error) => return named(error),
        Ok(index) => index,
    };
    let now = all_answers(&index, documents);
    match index.check(&mut index.buffers().unwrap()) {
        Err(error) => named(error),
        Ok(checked) if checked.mistakes > 0 || checked.torn > 0 => None,
        Ok(_) => match now {
            Ok(now) if now == *before => None,
            Ok(_) => Some("another answer, and no word of it".to_owned()),
            Err(error) => Some(format!("it cannot answer, and check is clean: {error}")),
        },
    }
}

fn a_turned_bit_is_told_or_makes_no_difference(text: bool) {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("index");
    let documents = create_with_history(&place, text);
    let before = all_answers(&Index::open(&place, Mode::Read).unwrap(), documents).unwrap();
    let mut random = Random(7);
    let mut wrong = Vec::new();
    let mut tried = 0;
    for path in files(&place) {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let whole = fs::read(&path).unwrap();
        // Where a log begins, where a run file's header ends, and anywhere.
        let mut places = vec![0, 5, 9, 17, 50, 70, 71, whole.len().saturating_sub(1)];
        places.extend(
            (0..if name.starts_with("log") { 40 } else { 6 }).map(|_| random.below(whole.len().max(1))),
        );
        places.retain(|&place| place < whole.len());
        places.sort_unstable();
        places.dedup();
        for at in places {
            let mut bytes = whole.clone();
            bytes[at] ^= 1 << random.below(8);
            fs::write(&path, &bytes).unwrap();
            tried += 1;
            wrong.extend(
                unreported_damage(&place, &name, documents, &before)
                    .map(|what| format!("{name} at {at}: {what}")),
            );
        }
        fs::write(&path, &whole).unwrap();
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(tried > 400, "{tried}");
    assert_eq!(all_answers(&Index::open(&place, Mode::Read).unwrap(), documents).unwrap(), before);
}

#[test]
fn a_turned_bit_anywhere_is_told_or_makes_no_difference() {
    a_turned_bit_is_told_or_makes_no_difference(true);
}

#[test]
fn a_turned_bit_anywhere_in_an_index_without_texts_is_told_or_makes_no_difference() {
    a_turned_bit_is_told_or_makes_no_difference(false);
}

#[test]
fn a_damaged_write_with_others_behind_it_is_never_taken_for_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let (place, log) = (folder.path().join("index"), folder.path().join("index/log-00000000"));
    create(&place, "minhash", true);
    let index = Index::open(&place, writing(32 << 20)).unwrap();
    (0..3).for_each(|batch| drop(add(&index, 4 * batch..4 * batch + 4)));
    index.close().unwrap();
    let whole = fs::read(&log).unwrap();
    // The length and both checksums of the first write, and some of what it holds.
    for bit in (0..8 * 16).chain((8 * 16..8 * 600).step_by(97)) {
        let mut bytes = whole.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        fs::write(&log, &bytes).unwrap();
        for mode in [Mode::Read, writing(32 << 20)] {
            let sentence = Index::open(&place, mode).map(drop).unwrap_err().to_string();
            assert!(sentence.contains("log-00000000 is damaged: the "), "bit {bit}: {sentence}");
        }
        assert_eq!(fs::read(&log).unwrap(), bytes, "nothing is cut off");
    }
}

#[test]
fn an_index_whose_making_was_killed_is_made_again_and_no_other_folder_is_touched() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("index");
    create(&place, "exact", true);
    // As far as it came before it was whole.
    fs::remove_file(place.join("index.json")).unwrap();
    fs::write(place.join("index.begun"), "").unwrap();
    fs::write(files(&place.join("knowledge")).remove(0), "half").unwrap();
    create(&place, "exact", true);
    let index = Index::open(&place, writing(1 << 20)).unwrap();
    add(&index, 0..8);
    assert_clean(&index, "made again");
    assert!(!place.join("index.begun").exists());
    let options = CreateOptions {
        recipe: recipe("exact"),
        text: true,
        lexicon: None,
        learn: None,
        settings: &Settings { threads: 1, memory: 512 << 20, spool: Spool::Disk },
    };
    let sentence = Index::create(&place, options, &Watch::default()).unwrap_err().to_string();
    let wanted = format!("{} is there already and is not empty; name a new folder", place.display());
    assert_eq!(sentence, wanted);
    assert_eq!(index.next(), 8);
}

#[test]
fn a_file_that_is_cut_off_or_gone_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("index");
    let documents = create_with_history(&place, true);
    let before = all_answers(&Index::open(&place, Mode::Read).unwrap(), documents).unwrap();
    for path in files(&place) {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let whole = fs::read(&path).unwrap();
        if name == "lock" {
            continue;
        }
        fs::write(&path, &whole[..whole.len() / 2]).unwrap();
        assert_eq!(unreported_damage(&place, &name, documents, &before), None, "{name}, cut");
        fs::remove_file(&path).unwrap();
        let sentence = Index::open(&place, Mode::Read).map(drop).unwrap_err().to_string();
        let folder_is_none = sentence.contains("holds no index") && name == "index.json";
        assert!(sentence.contains(&name) || folder_is_none, "{name}, gone: {sentence}");
        fs::write(&path, &whole).unwrap();
    }
}

#[test]
fn readers_and_copies_see_one_moment_while_another_writes() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("index");
    create(&place, "minhash", true);
    let index = Index::open(&place, writing(6 << 10)).unwrap();
    let (acknowledged, ended) = (AtomicU32::new(0), AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for batch in 0..70 {
                add(&index, 4 * batch..4 * batch + 4);
                acknowledged.store(index.next(), Ordering::SeqCst);
            }
            ended.store(true, Ordering::SeqCst);
        });
        let mut looks = 0;
        while !ended.load(Ordering::SeqCst) || looks == 0 {
            let before = acknowledged.load(Ordering::SeqCst);
            let at_least = |seen: &Index, who: &str| {
                assert!(seen.next() >= before, "{who}: {} of {before}", seen.next());
                let written = format!("{who}, {} documents", seen.next());
                assert_clean(seen, &written);
                let buffers = &mut seen.buffers().unwrap();
                (0..seen.next()).for_each(|number| {
                    let entry = seen.entry(buffers, number).unwrap().unwrap();
                    assert_eq!(entry.id, format!("d{number}"));
                });
            };
            let reader = match Index::open(&place, Mode::Read) {
                // Segments of a few documents come and go faster than anybody reads.
                Err(IndexError::Busy { .. }) => continue,
                reader => reader.unwrap(),
            };
            at_least(&reader, "a reader");
            let copied = folder.path().join("copy");
            match Index::fork(&place, &copied) {
                Err(IndexError::Busy { .. }) => {}
                done => {
                    done.unwrap();
                    at_least(&Index::open(&copied, Mode::Read).unwrap(), "a copy");
                    at_least(&Index::open(&copied, writing(6 << 10)).unwrap(), "a copy to go on with");
                }
            }
            // The same process looks while it adds.
            let buffers = &mut index.buffers().unwrap();
            let clusters = index.clusters(buffers).unwrap();
            assert!(clusters.iter().all(|cluster| cluster.size > 1));
            looks += 1;
        }
    });
    index.compact().unwrap();
    assert_clean(&index, "in the end");
    assert_eq!(index.next(), 280);
}

#[test]
fn a_second_writer_is_refused_and_readers_are_not() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("index");
    create(&place, "minhash", true);
    let index = Index::open(&place, writing(1 << 20)).unwrap();
    add(&index, 0..3);
    let sentence = Index::open(&place, writing(1 << 20)).map(drop).unwrap_err().to_string();
    let place_shown = place.display();
    let wanted = format!(
        "{place_shown} is being written to by another process; send documents to that one, or wait for it to end"
    );
    assert_eq!(sentence, wanted);
    let reader = Index::open(&place, Mode::Read).unwrap();
    assert_eq!(reader.next(), 3);
    add(&index, 3..6);
    // What a reader sees is the moment at which it was opened.
    assert_eq!((reader.next(), Index::open(&place, Mode::Read).unwrap().next()), (3, 6));
    let sentence = reader.remove("d0").unwrap_err().to_string();
    assert_eq!(sentence, format!("{place_shown} is open for reading alone"));
    drop(index);
    assert_eq!(Index::open(&place, writing(1 << 20)).unwrap().next(), 6);
}

#[test]
fn of_documents_that_race_one_is_new_and_the_others_name_it() {
    const THREADS: u32 = 8;
    const TEXTS: u32 = 24;
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("index");
    create(&place, "minhash", true);
    let index = Index::open(&place, writing(64 << 10)).unwrap();
    let begin = Barrier::new(THREADS as usize);
    let race = |thread: u32| {
        let buffers = &mut index.buffers().unwrap();
        begin.wait();
        let mut verdicts = Vec::new();
        for number in 0..TEXTS {
            // A family each, so that only the equal ones are near.
            let words = words(number, &[]).join(" ");
            let mut one = prepared(&index, buffers, &format!("t{thread}-{number}"), &words);
            if thread.is_multiple_of(2) {
                index.look_up(buffers, &mut one).unwrap();
            }
            verdicts.push(index.add(vec![one], OnExistingId::Refuse).unwrap().remove(0));
        }
        verdicts
    };
    let all: Vec<Vec<Verdict>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|thread| scope.spawn(move || race(thread))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    for number in 0..TEXTS as usize {
        let (mut new, mut named) = (Vec::new(), Vec::new());
        for verdicts in &all {
            match verdicts[number] {
                Verdict::Added { number, state: State::Kept, known: false } => new.push(number),
                Verdict::Added { state: State::Removed { witness, similarity }, known: false, .. } => {
                    assert_eq!(similarity, Some(1.0));
                    named.push(witness);
                }
                ref verdict => panic!("{verdict:?}"),
            }
        }
        assert_eq!(new.len(), 1, "text {number}");
        assert_eq!(named, vec![new[0]; THREADS as usize - 1]);
    }
    assert_clean(&index, "after the race");
    assert_eq!(index.stats().kept, u64::from(TEXTS));
}

#[test]
fn one_id_that_races_with_other_words_is_there_once() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("index");
    create(&place, "minhash", true);
    let index = Index::open(&place, writing(64 << 10)).unwrap();
    let verdicts: Vec<Verdict> = std::thread::scope(|scope| {
        let race = |thread: u32| {
            let buffers = &mut index.buffers().unwrap();
            let one = prepared(&index, buffers, "same", &words(thread, &[]).join(" "));
            index.add(vec![one], OnExistingId::Refuse).unwrap().remove(0)
        };
        let threads: Vec<_> = (0..8).map(|thread| scope.spawn(move || race(thread))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let conflicts = verdicts.iter().filter(|verdict| matches!(verdict, Verdict::Conflict { number: 0 }));
    assert_eq!((conflicts.count(), index.next()), (7, 1));
}

#[test]
fn missing_knowledge_another_recipe_and_a_newer_format_are_told_in_one_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("index");
    create(&place, "exact", true);
    let shown = place.display();
    let refused = || Index::open(&place, Mode::Read).map(drop).unwrap_err().to_string();
    let other = format!(
        "{shown} is damaged: recipe.toml or the folder knowledge is not what the index was made with; \
         take a copy of the index from before, or add its documents to a new one"
    );

    let known = files(&place.join("knowledge")).remove(0);
    let kept = fs::read(&known).unwrap();
    fs::remove_file(&known).unwrap();
    assert_eq!(refused(), other);
    assert!(!known.exists(), "nothing was learned anew");
    fs::write(&known, kept).unwrap();

    let path = place.join("recipe.toml");
    let made = fs::read_to_string(&path).unwrap();
    fs::write(&path, made.replace("0.8", "0.7")).unwrap();
    assert_eq!(refused(), other);
    fs::write(&path, made).unwrap();
    let index = Index::open(&place, Mode::Read).unwrap();
    index.require(&recipe("exact")).unwrap();
    let sentence = index.require(&recipe("minhash")).unwrap_err().to_string();
    assert!(sentence.starts_with(&format!("{shown} was made by another recipe: ")), "{sentence}");
    assert!(sentence.contains("minhash") && !sentence.contains('\n'), "{sentence}");

    let newer = r#"{"format":4,"parts":["a"]}"#;
    let digest = format!("{:032x}", hash::digest(newer.as_bytes()));
    fs::write(place.join("index.json"), format!("{newer}\n{digest}\n")).unwrap();
    let wanted =
        format!("{shown} has format 4 and this program reads format 3; take the program that wrote it");
    assert_eq!(refused(), wanted);
}
