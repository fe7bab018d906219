//! Counting words: tables in memory, and on disk what did not fit.

use std::collections::HashMap;
use std::fs::File;
use std::hash::{BuildHasherDefault, Hasher};
use std::io::{BufReader, BufWriter};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use lookalike_methods::lexicon::{BINS, Entry, Reader, Writer, bin};
use lookalike_methods::{Buffers, Page, words};
use lookalike_model::Recipe;
use lookalike_store::journal;
use lookalike_text::Profile;
use serde::{Deserialize, Serialize};

use super::{WordTotals, broken};
use crate::context::{Context, remove_if_there};
use crate::error::EngineError;

/// Tables, each for the words whose hashes begin with its number.
// By the first bits, so that one table behind the other gives all words in the order of their hashes; and
// many, so that threads seldom wait for the same one.
const TABLES: usize = 64;

/// Parts of a table that are open at once; more are first merged into one.
const MOST_PARTS: usize = 48;

/// The least time between two saves of all tables, from which a later process goes on.
const SAVE_INTERVAL: Duration = Duration::from_secs(if cfg!(test) { 0 } else { 300 });

/// All words of a corpus so far.
pub(super) struct Tally {
    number: usize,
    profile: Recipe,
    tables: Vec<Mutex<Table>>,
    /// Bytes that a table may take.
    most: usize,
    /// Records, rejected ones, documents with words, and words in them.
    counts: [AtomicU64; 4],
    saved: Mutex<Instant>,
}

/// The state from which a later process goes on.
#[derive(Serialize, Deserialize)]
struct Progress {
    seen: usize,
    counts: [u64; 4],
    parts: Vec<usize>,
}

/// Hashes are hashes already.
#[derive(Default)]
struct IdentityHasher(u64);

impl Hasher for IdentityHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {}

    fn write_u64(&mut self, hash: u64) {
        // Words of one table begin alike, and the map looks at both ends.
        self.0 = hash.rotate_left(6);
    }
}

/// The words of one table that are in memory.
#[derive(Default)]
struct Table {
    places: HashMap<u64, u32, BuildHasherDefault<IdentityHasher>>,
    slots: Vec<Slot>,
    /// Bins of words that have few, each with the place of the word's next, counted from 1.
    bins: Vec<(u32, u32, u8)>,
    /// All bins of words that have many.
    rows: Vec<[u32; BINS]>,
    text: String,
    /// Number of parts on disk.
    parts: usize,
}

struct Slot {
    hash: u64,
    occurrences: u64,
    documents: u32,
    word: u32,
    length: u32,
    /// Place of its first bin, counted from 1; or, with [`ROW`] set, of its row.
    bins: u32,
}

/// Set where a word has a row of bins.
const ROW: u32 = 1 << 31;

/// A word with more bins than this gets a row of all: a list of many is slow to walk.
const MAX_LISTED_BINS: usize = 6;

impl Table {
    fn bytes(&self) -> usize {
        // Vectors double, and so does the map.
        let bins = self.bins.len() * 12 + self.rows.len() * 4 * BINS;
        2 * (self.slots.len() * (size_of::<Slot>() + 16) + bins + self.text.len())
    }

    fn take(&mut self, hash: u64, word: &str, count: u32, bin: u8) {
        // One look into the map for both cases: a new word gets the place behind the last, which no other
        // has.
        let next = self.slots.len() as u32;
        let place = *self.places.entry(hash).or_insert(next);
        if place == next {
            self.slots.push(Slot {
                hash,
                occurrences: 0,
                documents: 0,
                word: self.text.len() as u32,
                length: word.len() as u32,
                bins: 0,
            });
            self.text.push_str(word);
        }
        let slot = &mut self.slots[place as usize];
        slot.documents += 1;
        slot.occurrences += u64::from(count);
        if slot.bins & ROW != 0 {
            self.rows[(slot.bins ^ ROW) as usize][usize::from(bin)] += 1;
            return;
        }
        let (mut at, mut length) = (slot.bins, 0);
        while at > 0 {
            let (next, documents, known) = &mut self.bins[at as usize - 1];
            if *known == bin {
                *documents += 1;
                return;
            }
            at = *next;
            length += 1;
        }
        if length < MAX_LISTED_BINS {
            self.bins.push((slot.bins, 1, bin));
            slot.bins = self.bins.len() as u32;
            return;
        }
        // The entries of the list stay where they are, unused, until the table is drained: others stand
        // between them.
        let mut row = [0; BINS];
        row[usize::from(bin)] = 1;
        let mut at = slot.bins;
        while at > 0 {
            let (next, documents, bin) = self.bins[at as usize - 1];
            row[usize::from(bin)] = documents;
            at = next;
        }
        slot.bins = self.rows.len() as u32 | ROW;
        self.rows.push(row);
    }

    /// Replaces `out` with the bins of a word, in their order.
    fn bins_of(&self, slot: &Slot, out: &mut Vec<(u8, u32)>) {
        out.clear();
        if slot.bins & ROW != 0 {
            let row = (0..).zip(&self.rows[(slot.bins ^ ROW) as usize]);
            return out
                .extend(row.filter(|(_, documents)| **documents > 0).map(|(bin, &count)| (bin, count)));
        }
        let mut at = slot.bins;
        while at > 0 {
            let (next, documents, bin) = self.bins[at as usize - 1];
            out.push((bin, documents));
            at = next;
        }
        out.sort_unstable();
    }

    /// Forgets all words, in the order of their hashes.
    fn drain(&mut self, mut each: impl FnMut(&Entry) -> Result<(), EngineError>) -> Result<(), EngineError> {
        // The map first: the sort moves what it points to, and its memory is free while words are written.
        self.places = HashMap::default();
        self.slots.sort_unstable_by_key(|slot| slot.hash);
        let mut entry = Entry::default();
        for slot in &self.slots {
            entry.hash = slot.hash;
            entry.documents = slot.documents;
            entry.occurrences = slot.occurrences;
            entry.word.clear();
            entry.word.push_str(&self.text[slot.word as usize..][..slot.length as usize]);
            self.bins_of(slot, &mut entry.bins);
            each(&entry)?;
        }
        *self = Table { parts: self.parts, ..Table::default() };
        Ok(())
    }
}

/// The words of some documents, all in one table.
#[derive(Default)]
pub(crate) struct Words {
    table: Table,
    counted: WordTotals,
}

impl Words {
    /// Counts the words of a document.
    pub(crate) fn see(&mut self, page: &Page<'_>, buffers: &mut Buffers) {
        self.counted.documents += 1;
        self.counted.occurrences += page.len() as u64;
        each_word(page, buffers, |word, text, bin| self.table.take(word.hash, text, word.count, bin));
    }

    /// Bytes that they take.
    pub(crate) fn bytes(&self) -> usize {
        self.table.bytes()
    }

    /// Forgets all words, in the order of their hashes, and how many documents and words there were.
    pub(crate) fn drain(
        &mut self,
        each: impl FnMut(&Entry) -> Result<(), EngineError>,
    ) -> Result<WordTotals, EngineError> {
        self.table.drain(each)?;
        Ok(std::mem::take(&mut self.counted))
    }
}

/// The distinct words of a document, each with its spelling and the bin of its frequency.
fn each_word(page: &Page<'_>, buffers: &mut Buffers, mut take: impl FnMut(&words::Word, &str, u8)) {
    let distinct: &mut Vec<words::Word> = buffers.own();
    words::distinct(page, distinct);
    let most = distinct.iter().map(|word| word.count).max().unwrap_or(1);
    for word in &*distinct {
        take(word, page.word(word.first_position as usize), bin(word.count, most));
    }
}

impl Tally {
    /// Goes on with what an earlier process left; returns how many units it had seen.
    pub(super) fn resume(
        ctx: &Context<'_>,
        number: usize,
        profile: &Profile,
        memory: u64,
    ) -> Result<(Self, usize), EngineError> {
        let saved: Option<Progress> = ctx.saved(&format!("lexicon{number}.seen"))?;
        let nothing = Progress { seen: 0, counts: [0; 4], parts: vec![0; TABLES] };
        let Progress { seen, counts, parts } = saved.unwrap_or(nothing);
        let table = |parts: usize| Mutex::new(Table { parts, ..Table::default() });
        let tally = Tally {
            number,
            profile: profile.recipe(),
            tables: parts.into_iter().map(table).collect(),
            most: memory as usize / TABLES,
            counts: counts.map(AtomicU64::new),
            saved: Mutex::new(Instant::now()),
        };
        Ok((tally, seen))
    }

    /// Counts the words of a document.
    pub(super) fn see(
        &self,
        ctx: &Context<'_>,
        page: &Page<'_>,
        buffers: &mut Buffers,
    ) -> Result<(), EngineError> {
        self.add(2, 1);
        self.add(3, page.len());
        let distinct: &mut Vec<words::Word> = buffers.own();
        words::distinct(page, distinct);
        let most = distinct.iter().map(|word| word.count).max().unwrap_or(1);
        // Words are in the order of their hashes, and tables go by the first bits: the words of one table
        // stand together, and its lock is taken once for each document.
        for part in distinct.chunk_by(|a, b| table_of(a.hash) == table_of(b.hash)) {
            let place = table_of(part[0].hash);
            let mut table = self.tables[place].lock().unwrap_or_else(PoisonError::into_inner);
            for word in part {
                let text = page.word(word.first_position as usize);
                table.take(word.hash, text, word.count, bin(word.count, most));
            }
            if table.bytes() > self.most {
                self.spill(ctx, place, &mut table)?;
            }
        }
        Ok(())
    }

    fn add(&self, count: usize, more: usize) {
        self.counts[count].fetch_add(more as u64, Ordering::Relaxed);
    }

    /// Counts records, and those of them that could not be read.
    pub(super) fn pass(&self, records: usize, rejected: usize) {
        self.add(0, records);
        self.add(1, rejected);
    }

    /// Returns the totals so far.
    pub(super) fn counted(&self) -> WordTotals {
        let [records, rejected, documents, occurrences] =
            self.counts.each_ref().map(|count| count.load(Ordering::Relaxed));
        WordTotals { records, rejected, documents, occurrences }
    }

    fn part(&self, ctx: &Context<'_>, table: usize, part: usize) -> PathBuf {
        ctx.file(&format!("lexicon{}.{table:02}.{part:06}", self.number))
    }

    fn create(&self, path: &PathBuf) -> Result<Writer<BufWriter<File>>, EngineError> {
        remove_if_there(path)?;
        let file = File::create(path).map_err(|error| EngineError::write(path, error))?;
        Writer::new(BufWriter::new(file), &self.profile).map_err(|error| broken(path, error))
    }

    /// Puts the words of a table to disk.
    fn spill(&self, ctx: &Context<'_>, place: usize, table: &mut Table) -> Result<(), EngineError> {
        let path = self.part(ctx, place, table.parts);
        let mut writer = self.create(&path)?;
        table.drain(|entry| writer.push(entry).map_err(|error| broken(&path, error)))?;
        finish_part(writer, &path)?;
        // Counted when it is whole: a part that a stop cut off bears the number of the next one, which
        // replaces it.
        table.parts += 1;
        Ok(())
    }

    /// Every now and then, puts all to disk and writes down how many units were seen.
    pub(super) fn checkpoint(&self, ctx: &Context<'_>, seen: usize) -> Result<(), EngineError> {
        let mut saved = self.saved.lock().unwrap_or_else(PoisonError::into_inner);
        if saved.elapsed() < SAVE_INTERVAL {
            return Ok(());
        }
        *saved = Instant::now();
        // Called between two groups of units, when no worker is under way: tables, counts and `seen` speak of
        // the same documents.
        let mut parts = Vec::with_capacity(TABLES);
        for (place, table) in self.tables.iter().enumerate() {
            let mut table = table.lock().unwrap_or_else(PoisonError::into_inner);
            self.spill(ctx, place, &mut table)?;
            parts.push(table.parts);
        }
        let counts = self.counts.each_ref().map(|count| count.load(Ordering::Relaxed));
        ctx.save(&format!("lexicon{}.seen", self.number), &Progress { seen, counts, parts })
    }

    /// Hands out all words in the order of their hashes, and removes what is on disk.
    pub(super) fn merged(
        self,
        ctx: &Context<'_>,
        mut each: impl FnMut(&Entry) -> Result<(), EngineError>,
    ) -> Result<(), EngineError> {
        for place in 0..TABLES {
            ctx.check()?;
            let mut table = self.tables[place].lock().unwrap_or_else(PoisonError::into_inner);
            // Words that all fitted into memory come straight from there, and no part is written to be read
            // once.
            if table.parts == 0 {
                table.drain(&mut each)?;
                continue;
            }
            self.spill(ctx, place, &mut table)?;
            self.merge_parts(ctx, place, table.parts, &mut each)?;
        }
        let progress = ctx.file(&format!("lexicon{}.seen", self.number));
        // The note goes before the parts that it counts: the other way round, a stop in between would leave a
        // note of parts that are gone.
        remove_if_there(&progress)?;
        for (place, table) in self.tables.iter().enumerate() {
            let parts = table.lock().unwrap_or_else(PoisonError::into_inner).parts;
            (0..parts).try_for_each(|part| remove_if_there(&self.part(ctx, place, part)))?;
        }
        Ok(())
    }

    /// Merges the parts of a table, in steps if they are many.
    fn merge_parts(
        &self,
        ctx: &Context<'_>,
        place: usize,
        parts: usize,
        each: &mut impl FnMut(&Entry) -> Result<(), EngineError>,
    ) -> Result<(), EngineError> {
        let mut paths: Vec<PathBuf> = (0..parts).map(|part| self.part(ctx, place, part)).collect();
        let mut next = 0;
        while paths.len() > MOST_PARTS {
            // From the front, and what comes of it goes to the end: otherwise each step would copy the words
            // of all steps before it.
            let few: Vec<PathBuf> = paths.drain(..MOST_PARTS).collect();
            let target = ctx.file(&format!("lexicon{}.{place:02}.merged{next:06}", self.number));
            let mut writer = self.create(&target)?;
            merge(&few, &mut |entry| writer.push(entry).map_err(|error| broken(&target, error)))?;
            finish_part(writer, &target)?;
            paths.push(target);
            next += 1;
        }
        merge(&paths, each)?;
        (0..next).try_for_each(|number| {
            remove_if_there(&ctx.file(&format!("lexicon{}.{place:02}.merged{number:06}", self.number)))
        })
    }
}

/// Ends a part, and notes what it is known by, since nothing in it would tell that it did not survive.
fn finish_part(writer: Writer<BufWriter<File>>, path: &Path) -> Result<(), EngineError> {
    writer.finish(0, 0).map_err(|error| broken(path, error))?;
    Ok(journal::note_sum(path)?)
}

fn table_of(hash: u64) -> usize {
    (hash >> (64 - TABLES.ilog2())) as usize
}

/// One part on its way into a merge.
struct Source {
    path: PathBuf,
    reader: Reader<BufReader<File>>,
    entry: Entry,
    more: bool,
}

impl Source {
    fn open(path: &PathBuf) -> Result<Self, EngineError> {
        let file = File::open(path).map_err(|error| EngineError::read(path, error))?;
        let reader = Reader::open(BufReader::new(file)).map_err(|error| broken(path, error))?;
        let mut source = Source { path: path.clone(), reader, entry: Entry::default(), more: true };
        source.advance()?;
        Ok(source)
    }

    fn advance(&mut self) -> Result<(), EngineError> {
        self.more = self.reader.next(&mut self.entry).map_err(|error| broken(&self.path, error))?;
        Ok(())
    }
}

/// Adds up the words of several parts.
fn merge(
    paths: &[PathBuf],
    each: &mut impl FnMut(&Entry) -> Result<(), EngineError>,
) -> Result<(), EngineError> {
    let mut sources: Vec<Source> = paths.iter().map(Source::open).collect::<Result<_, _>>()?;
    let mut sum = Entry::default();
    // The sources are few, so that the least hash is looked for among all of them. Whatever the order of
    // parts, sums are the same.
    while let Some(hash) = sources.iter().filter(|source| source.more).map(|source| source.entry.hash).min() {
        sum.documents = 0;
        sum.occurrences = 0;
        sum.bins.clear();
        for source in sources.iter_mut().filter(|source| source.more && source.entry.hash == hash) {
            add(&mut sum, &source.entry);
            source.advance()?;
        }
        each(&sum)?;
    }
    Ok(())
}

/// Adds what one part says of a word to what others say.
pub(crate) fn add(sum: &mut Entry, entry: &Entry) {
    // Every entry has a document at least, so that none so far means that this part is the first.
    if sum.documents == 0 {
        sum.hash = entry.hash;
        sum.word.clone_from(&entry.word);
    }
    sum.documents += entry.documents;
    sum.occurrences += entry.occurrences;
    for &(bin, documents) in &entry.bins {
        match sum.bins.binary_search_by_key(&bin, |(bin, _)| *bin) {
            Ok(at) => sum.bins[at].1 += documents,
            Err(at) => sum.bins.insert(at, (bin, documents)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::context::StageTest;
    use crate::tests::recipe;
    use lookalike_text::{Analyser, Features};
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// Documents, occurrences and bins of each word, by hash.
    type Plain = BTreeMap<u64, (u32, u64, BTreeMap<u8, u32>)>;

    fn plain(all: &mut Plain, entry: &Entry) -> Result<(), EngineError> {
        assert!(
            all.last_key_value().is_none_or(|(last, _)| *last < entry.hash),
            "words come in the order of their hashes"
        );
        assert!(entry.bins.is_sorted());
        all.insert(entry.hash, (entry.documents, entry.occurrences, entry.bins.iter().copied().collect()));
        Ok(())
    }

    proptest! {
        #[test]
        fn a_table_counts_like_a_map(words in prop::collection::vec((0u64..4, 1u32..9, 0..BINS as u8), 0..200)) {
            let (mut table, mut expected, mut found) = (Table::default(), Plain::new(), Plain::new());
            for &(word, count, bin) in &words {
                let hash = lookalike_hash::mix(word);
                table.take(hash, &format!("word{word}"), count, bin);
                let (documents, occurrences, bins) = expected.entry(hash).or_default();
                *documents += 1;
                *occurrences += u64::from(count);
                *bins.entry(bin).or_default() += 1;
            }
            table
                .drain(|entry| {
                    let spelled = (0..4u64).find(|&word| lookalike_hash::mix(word) == entry.hash);
                    assert_eq!(spelled.map(|word| format!("word{word}")), Some(entry.word.clone()));
                    plain(&mut found, entry)
                })
                .unwrap();
            prop_assert_eq!(found, expected);
            table.drain(|_| panic!("all words are forgotten")).unwrap();
        }
    }

    #[test]
    fn parts_of_a_word_are_added_up() {
        let entry = |documents, occurrences, bins: &[(u8, u32)]| Entry {
            hash: 7,
            word: "rose".to_owned(),
            documents,
            occurrences,
            bins: bins.to_vec(),
        };
        let mut sum = Entry::default();
        add(&mut sum, &entry(2, 5, &[(3, 1), (9, 1)]));
        add(&mut sum, &entry(3, 3, &[(0, 1), (9, 2)]));
        assert_eq!(sum, entry(5, 8, &[(0, 1), (3, 1), (9, 3)]));
    }

    #[test]
    fn tables_are_chosen_by_the_first_bits() {
        assert_eq!([0, (1 << 58) - 1, 1 << 58, u64::MAX].map(table_of), [0, 0, 1, TABLES - 1]);
    }

    const TEXTS: [&str; 3] = ["rose is a rose", "a tulip", "rose"];

    /// Shows texts in turn.
    fn each_page(profile: &Profile, texts: &[&str], mut each: impl FnMut(&Page<'_>)) {
        let (mut analyser, mut features) = (Analyser::new(profile), Features::default());
        for text in texts {
            analyser.read(text, &mut features);
            each(&Page { text, features: &features });
        }
    }

    /// `(word, documents, occurrences)`, by spelling.
    type Counted = BTreeMap<String, (u32, u64)>;

    fn counted(all: &mut Counted, entry: &Entry) -> Result<(), EngineError> {
        assert!(all.insert(entry.word.clone(), (entry.documents, entry.occurrences)).is_none());
        Ok(())
    }

    fn expected() -> Counted {
        [("rose", (2, 3)), ("is", (1, 1)), ("a", (2, 2)), ("tulip", (1, 1))]
            .map(|(word, counts)| (word.to_owned(), counts))
            .into()
    }

    #[test]
    fn words_of_documents_are_counted_and_forgotten() {
        let (mut words, mut buffers, mut found) = (Words::default(), Buffers::default(), Counted::new());
        each_page(&Profile::web(), &TEXTS, |page| words.see(page, &mut buffers));
        assert!(words.bytes() > 0);
        let totals = words.drain(|entry| counted(&mut found, entry)).unwrap();
        assert_eq!((totals.documents, totals.occurrences, found), (3, 7, expected()));
        assert_eq!((words.drain(|_| Ok(())).unwrap(), words.bytes()), (WordTotals::default(), 0));
    }

    #[test]
    fn tables_on_disk_count_the_same_and_leave_nothing() {
        let test = StageTest::new(recipe("md5"), "");
        let ctx = test.context();
        for memory in [0, 1 << 20] {
            let (tally, seen) = Tally::resume(&ctx, 3, &ctx.profile, memory).unwrap();
            assert_eq!(seen, 0);
            each_page(&ctx.profile, &TEXTS, |page| tally.see(&ctx, page, &mut Buffers::default()).unwrap());
            tally.pass(5, 2);
            let totals = WordTotals { records: 5, rejected: 2, documents: 3, occurrences: 7 };
            assert_eq!(tally.counted(), totals);
            let mut found = Counted::new();
            tally.merged(&ctx, |entry| counted(&mut found, entry)).unwrap();
            assert_eq!(found, expected(), "{memory}");
            let left = std::fs::read_dir(&ctx.work).unwrap().map(|entry| entry.unwrap().file_name());
            assert_eq!(left.filter(|name| name.to_string_lossy().starts_with("lexicon")).count(), 0);
        }
    }

    #[test]
    fn a_later_process_counts_on_from_a_checkpoint() {
        let test = StageTest::new(recipe("md5"), "");
        let ctx = test.context();
        let resume = || Tally::resume(&ctx, 0, &ctx.profile, 1 << 20).unwrap();
        let (tally, _) = resume();
        each_page(&ctx.profile, &TEXTS[..1], |page| tally.see(&ctx, page, &mut Buffers::default()).unwrap());
        tally.pass(1, 0);
        tally.checkpoint(&ctx, 4).unwrap();
        each_page(&ctx.profile, &["lost with the process"], |page| {
            tally.see(&ctx, page, &mut Buffers::default()).unwrap()
        });
        drop(tally);
        let (tally, seen) = resume();
        assert_eq!((seen, tally.counted().documents, tally.counted().records), (4, 1, 1));
        each_page(&ctx.profile, &TEXTS[1..], |page| tally.see(&ctx, page, &mut Buffers::default()).unwrap());
        let mut found = Counted::new();
        tally.merged(&ctx, |entry| counted(&mut found, entry)).unwrap();
        assert_eq!(found, expected());
    }

    #[test]
    fn more_parts_than_can_be_open_are_merged_in_steps() {
        let test = StageTest::new(recipe("md5"), "");
        let ctx = test.context();
        let (tally, _) = Tally::resume(&ctx, 0, &ctx.profile, 0).unwrap();
        let texts = vec!["rose"; 2 * MOST_PARTS + 3];
        each_page(&ctx.profile, &texts, |page| tally.see(&ctx, page, &mut Buffers::default()).unwrap());
        let mut found = Counted::new();
        tally.merged(&ctx, |entry| counted(&mut found, entry)).unwrap();
        let count = texts.len() as u32;
        assert_eq!(found, BTreeMap::from([("rose".to_owned(), (count, u64::from(count)))]));
    }
}
