//! The journal of a folder: which files are there, and which of them would survive a loss of power.
//!
//! Stages are kill-safe: after any prefix of what they did to the files of the folder, the same command goes on. A process that is killed
//! leaves such a prefix. A machine that stops does not: of what was not yet on the disk any part may be lost, in any order. So every
//! file that gets its name and every one that goes is a line of the journal, and now and then all files are put on the disk
//! and a line says so. Whoever opens the folder again compares:
//!
//! - Files that no line names are removed: they came behind the end of the journal. Those that are being written stay where a checkpoint
//!   is there that goes on with them.
//! - When a file that should be there is gone, is of another length, or does not match its checksums, power was lost. The folder goes
//!   back to the last line that says that all is on the disk.
//! - What is there then is put on the disk, and a new journal says so.
//!
//! A file that is on the disk is never removed or replaced before all that was made of it is there as well. A line is the checksum of the
//! line before it and of its own words, and the words: a line that cannot be believed is the end.
//!
//! Files are put on the disk every ten seconds at most, and for at most a twentieth of the time; a short job waits for no
//! disk before its end. Files of the folder that are not the journal's, such as a manifest and a lock, are named by whoever opens it, and
//! stay.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use lookalike_hash as hash;
use serde::{Deserialize, Serialize};

use crate::digest::digest_of;
use crate::error::StoreError;
use crate::file;
use crate::sync::{sync, sync_folder};

/// The name of the journal in its folder.
pub const NAME: &str = "journal";

/// The reciprocal of the largest share of the time that is spent on syncing.
const SYNC_SHARE: u32 = 20;

/// One line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Entry {
    /// A run file of so many bytes is there.
    Made(String, u64),
    /// A file without checksums is there, of so many bytes, which were on the disk before it had its name.
    Settled(String, u64),
    /// A file without checksums is there, of so many bytes, with this one for all of them.
    Summed(String, u64, u64),
    /// A file is about to be replaced by one of so many bytes.
    Replacing(String, u64),
    /// A file is about to go.
    Removing(String),
    /// A file is about to get another name.
    Renaming(String, String),
    /// All that the first so many lines name is on the disk.
    Synced(u64),
}

/// The evidence that a file which may not be on the disk is whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Proof {
    /// Its own checksums.
    Own,
    /// Its length alone: its content was on the disk before it had its name.
    Length,
    /// This checksum of all of it.
    Sum(u64),
}

/// A file as the journal knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FileRecord {
    bytes: u64,
    /// The length of its replacement, which may have been done.
    replacement: Option<u64>,
    proof: Proof,
    /// The line that names it.
    line: usize,
}

/// The files that the lines of a journal come to.
#[derive(Debug, Clone, Default)]
struct Listing {
    files: BTreeMap<String, FileRecord>,
    /// Files that were to get another name: the old one by the new one.
    renamed: BTreeMap<String, String>,
}

impl Listing {
    /// The files that lines lead to.
    fn of(entries: &[Entry]) -> Self {
        let mut listing = Listing::default();
        entries.iter().enumerate().for_each(|(line, entry)| listing.take(entry, line));
        listing
    }

    fn take(&mut self, entry: &Entry, line: usize) {
        match entry {
            Entry::Made(name, bytes) => self.note(name, *bytes, Proof::Own, line),
            Entry::Settled(name, bytes) => self.note(name, *bytes, Proof::Length, line),
            Entry::Summed(name, bytes, sum) => self.note(name, *bytes, Proof::Sum(*sum), line),
            Entry::Replacing(name, bytes) => {
                if let Some(known) = self.files.get_mut(name) {
                    known.replacement = Some(*bytes);
                }
            }
            Entry::Removing(name) => drop(self.files.remove(name)),
            Entry::Renaming(from, to) => {
                if let Some(known) = self.files.remove(from) {
                    self.files.insert(to.clone(), known);
                    self.renamed.insert(to.clone(), from.clone());
                }
            }
            Entry::Synced(_) => {}
        }
    }

    fn note(&mut self, name: &str, bytes: u64, proof: Proof, line: usize) {
        self.renamed.remove(name);
        self.files.insert(name.to_owned(), FileRecord { bytes, replacement: None, proof, line });
    }

    /// True for a file that is being written and that a checkpoint goes on with: `u000000.docs.part` belongs to `u000000.begun`, which
    /// was written when so much of it as it says was on the disk.
    fn has_checkpoint_of(&self, name: &str) -> bool {
        let stem = name.strip_suffix(".part").and_then(|name| name.split('.').next());
        stem.is_some_and(|stem| self.files.contains_key(&format!("{stem}.begun")))
    }

    /// The path of a file: by its name, or still by the one that it had before.
    fn path_of(&self, folder: &Path, name: &str) -> PathBuf {
        let place = folder.join(name);
        match self.renamed.get(name) {
            Some(before) if !place.exists() => folder.join(before),
            _ => place,
        }
    }
}

struct State {
    file: File,
    chain: u64,
    lines: u64,
    now: Listing,
    /// Files that are not yet on the disk, and how many lines there were before the one that names them.
    unsynced: BTreeMap<String, u64>,
    /// Files that whoever goes back to the last line which says that all is on the disk counts on, or to one that is being written.
    durable: BTreeSet<String>,
    /// Something is in the journal that is not on the disk.
    has_unsynced: bool,
    /// A line could not be written: nobody could read what stands behind it, and so nothing does, and no file goes any more.
    broken: Option<std::io::ErrorKind>,
}

impl State {
    /// Replaces a journal by one that says no more than what is there, all of it on the disk.
    fn begin(path: &Path, now: Listing, durably: bool) -> Result<Self, StoreError> {
        let made = |(name, known): (&String, &FileRecord)| match known.proof {
            Proof::Own => Entry::Made(name.clone(), known.bytes),
            Proof::Length => Entry::Settled(name.clone(), known.bytes),
            Proof::Sum(sum) => Entry::Summed(name.clone(), known.bytes, sum),
        };
        // A journal grows with every file that came and went; one that is opened again begins with what is
        // there.
        let mut entries: Vec<Entry> = now.files.iter().map(made).collect();
        if !entries.is_empty() {
            entries.push(Entry::Synced(entries.len() as u64));
        }
        let (mut chain, mut text) = (0, String::new());
        entries.iter().for_each(|entry| text.push_str(&line(entry, &mut chain)));
        let pending = path.with_added_extension("part");
        let write = || -> std::io::Result<File> {
            let mut file = File::create(&pending)?;
            file.write_all(text.as_bytes())?;
            if durably {
                file.sync_all()?;
            }
            std::fs::rename(&pending, path)?;
            if durably {
                sync_folder(path.parent().unwrap_or(Path::new("")))?;
            }
            Ok(file)
        };
        let file = write().map_err(|error| StoreError::write(path, error))?;
        let durable = now.files.keys().cloned().collect();
        let lines = entries.len() as u64;
        Ok(State {
            file,
            chain,
            lines,
            now,
            unsynced: BTreeMap::new(),
            durable,
            has_unsynced: false,
            broken: None,
        })
    }
}

/// Files that are put on the disk at once.
struct SyncBatch {
    files: Vec<String>,
    /// The number of lines in the journal at that time.
    lines: u64,
    journal: File,
}

/// The time at which files were last put on the disk, and how long that took.
struct SyncTiming {
    last: Instant,
    took: Duration,
}

/// The journal of a folder that is worked in.
pub struct Journal {
    /// The folder that it names the files of.
    folder: PathBuf,
    /// The folder that it lies in, with the results: its name must survive, too.
    results: PathBuf,
    path: PathBuf,
    /// Files of the folder that it does not name, and that must survive where it does.
    others: Vec<PathBuf>,
    state: Mutex<State>,
    timing: Mutex<SyncTiming>,
    /// The least time that files wait before they are synced to the disk.
    interval: Duration,
}

impl std::fmt::Debug for Journal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Journal").field("folder", &self.folder).finish_non_exhaustive()
    }
}

/// Journals of all folders that this process works in.
static OPEN_JOURNALS: Mutex<Vec<Weak<Journal>>> = Mutex::new(Vec::new());

fn lock<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The journal of the folder that a file is in, if it has one.
pub fn of(path: &Path) -> Option<Arc<Journal>> {
    let folder = path.parent()?;
    // One that is on its way out may still be there, before the one that came behind it.
    lock(&OPEN_JOURNALS).iter().rev().filter_map(Weak::upgrade).find(|journal| journal.folder == folder)
}

/// Notes a file that is whole and on the disk.
pub fn note(path: &Path) -> Result<(), StoreError> {
    let Some(journal) = of(path) else { return Ok(()) };
    let bytes = path.metadata().map_err(|error| StoreError::read(path, error))?.len();
    journal.append_file(path, Entry::Settled(name_of(path), bytes))
}

/// Notes a file that is whole, has no checksums, and may not be on the disk.
pub fn note_sum(path: &Path) -> Result<(), StoreError> {
    let Some(journal) = of(path) else { return Ok(()) };
    let (bytes, digest) = digest_of(path)?;
    journal.append_file(path, Entry::Summed(name_of(path), bytes, digest as u64))
}

/// Gives a file another name in its folder.
pub fn rename(from: &Path, to: &Path) -> Result<(), StoreError> {
    if let Some(journal) = of(from) {
        journal.renaming(from, to)?;
    }
    std::fs::rename(from, to).map_err(|error| StoreError::write(to, error))
}

/// Removes a file that is there.
pub fn remove(path: &Path) -> Result<(), StoreError> {
    if let Some(journal) = of(path) {
        journal.removing(path)?;
    }
    std::fs::remove_file(path).map_err(|error| StoreError::write(path, error))
}

/// The verdict of a journal that was there before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Recovered {
    /// Files that should be there did not survive: the folder went back.
    pub lost: bool,
}

impl Journal {
    /// Opens the journal of `folder`, which lies in `results`, and brings the folder into a state that a process could have left when it
    /// was killed. Files in `others` are none of the journal's; all others wait for at least `interval` before they are synced to the
    /// disk.
    pub fn open(
        folder: &Path,
        results: &Path,
        others: &[&str],
        interval: Duration,
    ) -> Result<(Arc<Journal>, Recovered), StoreError> {
        let path = folder.join(NAME);
        let before = match std::fs::read(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            before => before.map_err(|error| StoreError::read(&path, error))?,
        };
        let (entries, synced) = read(&before);
        if is_damaged(&before, entries.len()) {
            let what = format!("line {} does not match its checksum", entries.len() + 1);
            return Err(StoreError::Damaged { file: path, what });
        }
        let (mut now, durable) = (Listing::of(&entries), Listing::of(&entries[..synced]));
        let is_durable = |name: &str, known: &FileRecord| durable.files.get(name) == Some(known);
        let whole = |(name, known): (&String, &FileRecord)| {
            is_whole(&now.path_of(folder, name), known, is_durable(name, known))
        };
        // One file that is not whole is enough: the disk took writes in another order than they were made, so
        // none of those behind the last sync can be relied on, even where they look whole.
        let lost = !now.files.iter().all(whole);
        if lost {
            undo_renames(folder, &now, &durable)?;
            now = durable.clone();
        }
        // Renaming is a line before it is done. What the line says holds: a rename that did not happen is
        // made up for, and a removal that did not is done by `keep_only`.
        finish_renames(folder, &now)?;
        now.files.retain(|name, _| folder.join(name).is_file());
        keep_only(folder, &now, others)?;
        let fresh = now.files.iter().filter(|(name, known)| !is_durable(name, known));
        let mut paths: Vec<PathBuf> = fresh.map(|(name, _)| folder.join(name)).collect();
        now.renamed.clear();
        for (name, known) in &mut now.files {
            let place = folder.join(name);
            let facts = place.metadata().map_err(|error| StoreError::read(&place, error))?;
            *known = FileRecord { bytes: facts.len(), replacement: None, ..*known };
        }
        // A job that begins waits for no disk.
        let goes_on = !before.is_empty();
        let others: Vec<PathBuf> = others.iter().map(|name| folder.join(name)).collect();
        if goes_on {
            paths.extend(others.iter().cloned());
            paths.extend([folder.to_owned(), results.to_owned()]);
            sync(&paths)?;
        }
        let state = State::begin(&path, now, goes_on)?;
        let timing = Mutex::new(SyncTiming { last: Instant::now(), took: Duration::ZERO });
        let (folder, results) = (folder.to_owned(), results.to_owned());
        let journal =
            Arc::new(Journal { folder, results, path, others, state: Mutex::new(state), timing, interval });
        let mut open = lock(&OPEN_JOURNALS);
        open.retain(|other| other.strong_count() > 0);
        open.push(Arc::downgrade(&journal));
        Ok((journal, Recovered { lost }))
    }

    fn append(&self, state: &mut State, entry: &Entry) -> Result<(), StoreError> {
        if let Some(kind) = state.broken {
            return Err(StoreError::write(&self.path, kind.into()));
        }
        let line = line(entry, &mut state.chain);
        // A line that was written in part breaks the chain of sums: lines behind it could not be believed.
        if let Err(error) = state.file.write_all(line.as_bytes()) {
            state.broken = Some(error.kind());
            return Err(StoreError::write(&self.path, error));
        }
        state.now.take(entry, state.lines as usize);
        state.lines += 1;
        Ok(())
    }

    /// Notes a run file that is whole; now and then puts all that is there on the disk.
    pub(crate) fn made(&self, path: &Path, bytes: u64) -> Result<(), StoreError> {
        self.append_file(path, Entry::Made(name_of(path), bytes))
    }

    fn append_file(&self, path: &Path, entry: Entry) -> Result<(), StoreError> {
        {
            let mut state = lock(&self.state);
            let line = state.lines;
            self.append(&mut state, &entry)?;
            state.unsynced.insert(name_of(path), line);
            state.has_unsynced = true;
        }
        self.sync_if_due()
    }

    /// Notes that a file is about to be given its name, where another one has it: `content` has so many bytes.
    pub(crate) fn replacing(&self, path: &Path, content: &File, bytes: u64) -> Result<(), StoreError> {
        let name = name_of(path);
        let (known, durable) = {
            let state = lock(&self.state);
            (state.now.files.contains_key(&name), state.durable.contains(&name))
        };
        if !known {
            return Ok(());
        }
        // Whoever goes back to the last sync counts on the old file. It may be replaced only when all that
        // was made of it is on the disk, and the new content, too: a rename can survive a loss of power that
        // the content does not.
        if durable {
            self.sync()?;
            content.sync_all().map_err(|error| StoreError::write(path, error))?;
        }
        self.append(&mut lock(&self.state), &Entry::Replacing(name, bytes))
    }

    /// Notes that a file is about to go.
    pub(crate) fn removing(&self, path: &Path) -> Result<(), StoreError> {
        let name = name_of(path);
        let (known, needed) = {
            let state = lock(&self.state);
            (state.now.files.contains_key(&name), state.has_unsynced && state.durable.contains(&name))
        };
        if !known {
            return Ok(());
        }
        // The same for a file that goes: first what was made of it, then it.
        if needed {
            self.sync()?;
        }
        let mut state = lock(&self.state);
        state.unsynced.remove(&name);
        state.durable.remove(&name);
        self.append(&mut state, &Entry::Removing(name))
    }

    fn renaming(&self, from: &Path, to: &Path) -> Result<(), StoreError> {
        let (name, new) = (name_of(from), name_of(to));
        let durable = {
            let mut state = lock(&self.state);
            if !state.now.files.contains_key(&name) {
                return Ok(());
            }
            self.append(&mut state, &Entry::Renaming(name.clone(), new.clone()))?;
            // Whoever syncs before the rename finds it by the old name.
            if let Some(&line) = state.unsynced.get(&name) {
                state.unsynced.insert(new.clone(), line);
            }
            let durable = state.durable.remove(&name);
            if durable {
                state.durable.insert(new);
            }
            state.has_unsynced = true;
            durable
        };
        // Whoever goes back to this line finds the file by one name or by the other.
        if durable { self.sync() } else { Ok(()) }
    }

    /// Bytes of those files that it names and that are asked for.
    pub fn bytes(&self, wanted: impl Fn(&str) -> bool) -> u64 {
        let state = lock(&self.state);
        state.now.files.iter().filter(|(name, _)| wanted(name)).map(|(_, known)| known.bytes).sum()
    }

    fn sync_if_due(&self) -> Result<(), StoreError> {
        let due = {
            // Whoever syncs holds it, and does so for all.
            let Ok(timing) = self.timing.try_lock() else { return Ok(()) };
            // A slow disk is asked more seldom: syncing takes a twentieth of the time at most.
            timing.last.elapsed() >= self.interval.max(SYNC_SHARE * timing.took)
        };
        if due { self.sync() } else { Ok(()) }
    }

    /// Puts all that is there on the disk, and a line that says so.
    pub fn sync(&self) -> Result<(), StoreError> {
        let mut timing = lock(&self.timing);
        let begun = Instant::now();
        // The state is locked while the list is taken and while the line is written, not while the disk is
        // waited for: other threads go on making files, which the line does not count.
        let due = self.due()?;
        self.sync_batch(&due)?;
        *timing = SyncTiming { last: Instant::now(), took: begun.elapsed() };
        Ok(())
    }

    /// Files to be put on the disk now. From here on none of it goes before what was made of it is there as well: the line that will
    /// say that it is there counts on it.
    fn due(&self) -> Result<SyncBatch, StoreError> {
        let state = &mut *lock(&self.state);
        let journal = state.file.try_clone().map_err(|error| StoreError::write(&self.path, error))?;
        let files: Vec<String> = state.unsynced.keys().cloned().collect();
        state.durable.extend(files.iter().filter(|name| state.now.files.contains_key(*name)).cloned());
        Ok(SyncBatch { files, lines: state.lines, journal })
    }

    fn sync_batch(&self, due: &SyncBatch) -> Result<(), StoreError> {
        let mut all: Vec<PathBuf> = due.files.iter().map(|name| self.folder.join(name)).collect();
        all.extend(self.others.iter().cloned());
        // The names of the journal, of its folder and of the folder of results, each in the folder above.
        all.extend([self.path.clone(), self.folder.clone(), self.results.clone()]);
        sync(&all)?;
        {
            let mut state = lock(&self.state);
            self.append(&mut state, &Entry::Synced(due.lines))?;
            for name in &due.files {
                // One that was made again meanwhile has to wait for the next time.
                if state.unsynced.get(name).is_some_and(|&line| line < due.lines) {
                    state.unsynced.remove(name);
                }
            }
            state.has_unsynced = !state.unsynced.is_empty();
        }
        due.journal.sync_data().map_err(|error| StoreError::write(&self.path, error))
    }
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// A line of the journal. `chain` is the checksum of the line before it, and then of this one.
fn line(entry: &Entry, chain: &mut u64) -> String {
    let words = serde_json::to_string(entry).expect("names and numbers can be written");
    // Each sum goes on from the one before, so that a line in the wrong place, or from an older journal,
    // cannot be believed.
    *chain = sum_of(*chain, &words);
    format!("{chain:016x} {words}\n")
}

fn sum_of(chain: u64, words: &str) -> u64 {
    hash::sum(format!("{chain:016x}{words}").as_bytes())
}

/// The checksum of a line as it stands there, and its words; nothing when it has no end.
fn parts(line: &[u8]) -> Option<(&str, &str)> {
    let line = line.strip_suffix(b"\n").and_then(|line| std::str::from_utf8(line).ok());
    line.and_then(|line| line.split_once(' '))
}

/// True when a line that can be believed stands behind one that cannot: a journal that was only cut off has none.
fn is_damaged(text: &[u8], believed: usize) -> bool {
    let lines: Vec<_> = text.split_inclusive(|&byte| byte == b'\n').skip(believed).map(parts).collect();
    lines.windows(2).any(|two| match two {
        [Some((before, _)), Some((sum, words))] => u64::from_str_radix(before, 16)
            .is_ok_and(|chain| format!("{:016x}", sum_of(chain, words)) == *sum),
        _ => false,
    })
}

/// The lines of a journal up to the first that cannot be believed, and how many of them are known to be on the disk.
fn read(text: &[u8]) -> (Vec<Entry>, usize) {
    let (mut entries, mut synced, mut chain) = (Vec::new(), 0, 0);
    for line in text.split_inclusive(|&byte| byte == b'\n') {
        let Some((sum, words)) = parts(line) else { break };
        let next = sum_of(chain, words);
        let Some(entry) = (format!("{next:016x}") == sum).then(|| serde_json::from_str(words).ok()).flatten()
        else {
            break;
        };
        if let Entry::Synced(lines) = entry {
            // Lines that were written while the disk was waited for stand before this one and are not counted
            // in it.
            synced = (lines as usize).min(entries.len());
        }
        chain = next;
        entries.push(entry);
    }
    (entries, synced)
}

/// Gives files the names back that they had when all was on the disk.
fn undo_renames(folder: &Path, now: &Listing, durable: &Listing) -> Result<(), StoreError> {
    for (to, from) in &now.renamed {
        let before = durable.files.contains_key(from) && !durable.files.contains_key(to);
        let (from, to) = (folder.join(from), folder.join(to));
        if before && !from.exists() && to.exists() {
            std::fs::rename(&to, &from).map_err(|error| StoreError::write(&from, error))?;
        }
    }
    Ok(())
}

/// Gives files the names that they were about to get.
fn finish_renames(folder: &Path, listing: &Listing) -> Result<(), StoreError> {
    for (to, from) in &listing.renamed {
        let (from, to) = (folder.join(from), folder.join(to));
        if listing.files.contains_key(&name_of(&to)) && !to.exists() && from.exists() {
            std::fs::rename(&from, &to).map_err(|error| StoreError::write(&to, error))?;
        }
    }
    Ok(())
}

/// True when a file is what the journal says, as far as that can be told; of what is on the disk the length is enough.
fn is_whole(path: &Path, known: &FileRecord, durable: bool) -> bool {
    let Ok(facts) = path.symlink_metadata() else { return false };
    let bytes = facts.len();
    let checked = || match known.proof {
        _ if durable => true,
        Proof::Own => file::is_sound(path),
        Proof::Length => true,
        Proof::Sum(sum) => digest_of(path).is_ok_and(|(_, digest)| digest as u64 == sum),
    };
    facts.is_file() && (bytes == known.bytes || known.replacement == Some(bytes)) && checked()
}

/// Removes files that are not listed, `others` excepted.
fn keep_only(folder: &Path, listing: &Listing, others: &[&str]) -> Result<(), StoreError> {
    let failed = |error| StoreError::read(folder, error);
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name();
        let listed = name.to_str().is_some_and(|name| {
            let known = listing.files.contains_key(name) || listing.has_checkpoint_of(name);
            known || others.contains(&name) || name == NAME
        });
        if !listed && entry.file_type().is_ok_and(|kind| kind.is_file()) {
            let path = entry.path();
            std::fs::remove_file(&path).map_err(|error| StoreError::write(&path, error))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::{Label, Run, RunWriter};

    const LABEL: Label = Label::new("test", 4, 7);

    fn write(folder: &Path, name: &str, records: u32) {
        let mut writer = RunWriter::create(&folder.join(name), LABEL).unwrap();
        (0..records).for_each(|number| writer.push(&number.to_le_bytes()).unwrap());
        writer.finish().unwrap();
    }

    fn open(folder: &Path) -> (Arc<Journal>, Recovered) {
        Journal::open(folder, folder, &["lock"], Duration::from_secs(10)).unwrap()
    }

    /// Names of all that is there but the journal.
    fn names(folder: &Path) -> Vec<String> {
        let entries =
            std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = entries.filter(|name| name != NAME).collect();
        names.sort();
        names
    }

    /// A folder with two files on the disk and two that are not, worked in no more.
    fn half_synced(folder: &Path) {
        let (journal, _) = open(folder);
        std::fs::write(folder.join("lock"), "").unwrap();
        // No other sync than the one that is asked for.
        lock(&journal.timing).took = Duration::from_secs(3600);
        write(folder, "a", 10);
        write(folder, "b", 3000);
        journal.sync().unwrap();
        lock(&journal.timing).took = Duration::from_secs(3600);
        write(folder, "c", 10);
        write(folder, "d", 3000);
    }

    #[test]
    fn a_killed_process_loses_nothing_that_has_its_name() {
        let folder = tempfile::tempdir().unwrap();
        half_synced(folder.path());
        std::fs::write(folder.path().join("e.part"), "x").unwrap();
        std::fs::write(folder.path().join("behind the end"), "x").unwrap();
        for _ in 0..2 {
            let (_, recovered) = open(folder.path());
            assert!(!recovered.lost);
            assert_eq!(names(folder.path()), ["a", "b", "c", "d", "lock"]);
        }
    }

    #[test]
    fn a_journal_that_lost_its_end_takes_back_what_it_no_longer_names() {
        let folder = tempfile::tempdir().unwrap();
        half_synced(folder.path());
        let path = folder.path().join(NAME);
        let text = std::fs::read(&path).unwrap();
        std::fs::write(&path, &text[..text.len() - 3]).unwrap();
        let (_, recovered) = open(folder.path());
        assert!(!recovered.lost);
        assert_eq!(names(folder.path()), ["a", "b", "c", "lock"]);
    }

    #[test]
    fn a_line_that_is_wrong_before_others_is_damage_and_nothing_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        half_synced(folder.path());
        let path = folder.path().join(NAME);
        let text = std::fs::read(&path).unwrap();
        let before = names(folder.path());
        for place in [3, 20, text.len() / 2] {
            let mut turned = text.clone();
            turned[place] ^= 1;
            std::fs::write(&path, turned).unwrap();
            let refused = Journal::open(folder.path(), folder.path(), &["lock"], Duration::from_secs(10));
            assert!(matches!(refused, Err(StoreError::Damaged { ref file, .. }) if *file == path), "{place}");
            assert_eq!(names(folder.path()), before, "{place}");
        }
    }

    #[test]
    fn after_a_loss_the_folder_goes_back_to_what_was_on_the_disk() {
        let spoil: [fn(&Path); 4] = [
            |path| std::fs::remove_file(path).unwrap(),
            |path| std::fs::write(path, "").unwrap(),
            |path| std::fs::write(path, vec![0; path.metadata().unwrap().len() as usize]).unwrap(),
            |path| {
                let mut bytes = std::fs::read(path).unwrap();
                *bytes.last_mut().unwrap() ^= 1;
                std::fs::write(path, bytes).unwrap();
            },
        ];
        for (number, spoil) in spoil.into_iter().enumerate() {
            for name in ["c", "d"] {
                let folder = tempfile::tempdir().unwrap();
                half_synced(folder.path());
                spoil(&folder.path().join(name));
                let (_, recovered) = open(folder.path());
                assert!(recovered.lost, "{number}, {name}");
                assert_eq!(names(folder.path()), ["a", "b", "lock"], "{number}, {name}");
                assert_eq!(Run::open(&folder.path().join("b"), LABEL).unwrap().count(), 3000);
            }
        }
    }

    #[test]
    fn a_file_without_checksums_of_its_own_is_known_by_its_sum() {
        for spoilt in [false, true] {
            let folder = tempfile::tempdir().unwrap();
            half_synced(folder.path());
            let (journal, _) = open(folder.path());
            lock(&journal.timing).took = Duration::from_secs(3600);
            let path = folder.path().join("words");
            std::fs::write(&path, "no run file").unwrap();
            note_sum(&path).unwrap();
            drop(journal);
            if spoilt {
                std::fs::write(&path, "no run\0\0\0\0\0").unwrap();
            }
            for _ in 0..2 {
                let (_, recovered) = open(folder.path());
                assert_eq!(path.exists(), !spoilt);
                assert!(!recovered.lost || spoilt);
            }
        }
    }

    #[test]
    fn what_is_on_the_disk_goes_only_behind_what_was_made_of_it() {
        let folder = tempfile::tempdir().unwrap();
        half_synced(folder.path());
        {
            let (journal, _) = open(folder.path());
            lock(&journal.timing).took = Duration::from_secs(3600);
            write(folder.path(), "of a", 10);
            remove(&folder.path().join("a")).unwrap();
        }
        // The file is gone, and the machine stopped before anything else could be written.
        let (_, recovered) = open(folder.path());
        assert!(!recovered.lost);
        assert_eq!(names(folder.path()), ["b", "c", "d", "lock", "of a"]);
        let (entries, synced) = read(&std::fs::read(folder.path().join(NAME)).unwrap());
        assert!(Listing::of(&entries[..synced]).files.contains_key("of a"));
    }

    #[test]
    fn a_file_that_is_on_the_disk_is_replaced_by_one_that_is() {
        let folder = tempfile::tempdir().unwrap();
        half_synced(folder.path());
        {
            let (journal, _) = open(folder.path());
            lock(&journal.timing).took = Duration::from_secs(3600);
            write(folder.path(), "b", 5);
        }
        let (_, recovered) = open(folder.path());
        assert!(!recovered.lost);
        assert_eq!(Run::open(&folder.path().join("b"), LABEL).unwrap().count(), 5);
        // Killed between the line before and the new name: the old file is as good.
        {
            let (journal, _) = open(folder.path());
            journal.append(&mut lock(&journal.state), &Entry::Replacing("c".to_owned(), 1_000_000)).unwrap();
        }
        assert!(!open(folder.path()).1.lost);
    }

    #[test]
    fn a_rename_that_did_not_come_to_pass_is_made_good() {
        for (durable, done) in [(false, false), (true, false), (false, true), (true, true)] {
            let folder = tempfile::tempdir().unwrap();
            half_synced(folder.path());
            let name = if durable { "a" } else { "c" };
            let (from, to) = (folder.path().join(name), folder.path().join("z"));
            {
                let (journal, _) = open(folder.path());
                journal.renaming(&from, &to).unwrap();
                if done {
                    std::fs::rename(&from, &to).unwrap();
                }
            }
            let (_, recovered) = open(folder.path());
            assert!(!recovered.lost && to.exists() && !from.exists(), "{durable}, {done}");
        }
    }

    #[test]
    fn what_is_on_its_way_to_the_disk_goes_only_behind_what_was_made_of_it() {
        let folder = tempfile::tempdir().unwrap();
        let (journal, _) = open(folder.path());
        lock(&journal.timing).took = Duration::from_secs(3600);
        write(folder.path(), "a", 10);
        // Another thread is in the midst of it: its line will say that the file is there.
        let due = journal.due().unwrap();
        write(folder.path(), "of a", 10);
        remove(&folder.path().join("a")).unwrap();
        journal.sync_batch(&due).unwrap();
        let (entries, synced) = read(&std::fs::read(folder.path().join(NAME)).unwrap());
        assert!(entries.len() > synced);
        let promised = |entries: &[Entry]| {
            let mut ends = entries.iter().enumerate().filter_map(|(at, entry)| match entry {
                Entry::Synced(lines) => Some((at, *lines as usize)),
                _ => None,
            });
            let (_, lines) = ends.next().unwrap();
            Listing::of(&entries[..lines]).files.contains_key("of a")
        };
        assert!(promised(&entries), "it went before what was made of it was on the disk");
    }

    #[test]
    fn behind_a_line_that_could_not_be_written_nothing_goes() {
        let folder = tempfile::tempdir().unwrap();
        half_synced(folder.path());
        let (journal, _) = open(folder.path());
        let path = folder.path().join(NAME);
        let good = std::mem::replace(&mut lock(&journal.state).file, File::open(&path).unwrap());
        remove(&folder.path().join("a")).unwrap_err();
        // There is room again.
        lock(&journal.state).file = good;
        remove(&folder.path().join("b")).unwrap_err();
        journal.made(&folder.path().join("c"), 1).unwrap_err();
        drop(journal);
        assert!(!open(folder.path()).1.lost);
        assert_eq!(names(folder.path()), ["a", "b", "c", "d", "lock"]);
    }

    #[test]
    fn a_file_that_did_not_get_its_new_name_before_a_loss_keeps_the_old_one() {
        for done in [false, true] {
            let folder = tempfile::tempdir().unwrap();
            half_synced(folder.path());
            let place = |name: &str| folder.path().join(name);
            // The line was written, and the one behind it that says that all is on the disk was not.
            let mut text = std::fs::read(place(NAME)).unwrap();
            let last = String::from_utf8(text.clone()).unwrap().lines().last().unwrap()[..16].to_owned();
            let mut chain = u64::from_str_radix(&last, 16).unwrap();
            text.extend(line(&Entry::Renaming("a".to_owned(), "z".to_owned()), &mut chain).into_bytes());
            std::fs::write(place(NAME), text).unwrap();
            std::fs::remove_file(place("d")).unwrap();
            if done {
                std::fs::rename(place("a"), place("z")).unwrap();
            }
            let (_, recovered) = open(folder.path());
            assert!(recovered.lost);
            assert_eq!(names(folder.path()), ["a", "b", "lock"], "{done}");
        }
    }

    #[test]
    fn a_replacement_that_no_line_tells_of_yet_is_no_loss_however_often_it_is_opened() {
        let folder = tempfile::tempdir().unwrap();
        half_synced(folder.path());
        let (journal, _) = open(folder.path());
        let path = folder.path().join("b");
        let length = |records: u32| {
            write(&folder.path().join("elsewhere"), "b", records);
            std::fs::metadata(folder.path().join("elsewhere/b")).unwrap().len()
        };
        std::fs::create_dir(folder.path().join("elsewhere")).unwrap();
        let bytes = length(7);
        journal.replacing(&path, &File::open(&path).unwrap(), bytes).unwrap();
        drop(journal);
        std::fs::rename(folder.path().join("elsewhere/b"), &path).unwrap();
        for _ in 0..2 {
            assert!(!open(folder.path()).1.lost);
            assert_eq!(Run::open(&path, LABEL).unwrap().count(), 7);
        }
    }

    #[test]
    fn any_cut_or_turned_bit_of_a_journal_leaves_a_state_that_was() {
        let folder = tempfile::tempdir().unwrap();
        half_synced(folder.path());
        let whole = std::fs::read(folder.path().join(NAME)).unwrap();
        let (entries, _) = read(&whole);
        for at in 0..whole.len() {
            let cut = read(&whole[..at]).0;
            assert_eq!(entries[..cut.len()], cut, "cut at {at}");
            let mut turned = whole.clone();
            turned[at] ^= 1 << (at % 8);
            let found = read(&turned).0;
            assert!(found.len() < entries.len() && entries[..found.len()] == found, "turned at {at}");
        }
    }
}
