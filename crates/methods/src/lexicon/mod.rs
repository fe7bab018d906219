//! Lexicons: what a collection tells of its words.
//!
//! For each word: in how many documents it is (df), how often it is there in all (cf), and how its frequencies, each as
//! a part of the document's highest, are distributed. For the collection: the number of documents that have words (N)
//! and of words in them. Methods that weigh words get theirs from the corpus they work on, or from another.
//!
//! In memory a word costs about 17 bytes. For [`Detail::Counts`] words that occur once are not held, since an unknown word
//! counts as one that occurs once; [`Detail::Words`] does hold them, and [`Detail::Everything`] the spelling and distribution
//! of all.
//!
//! - `file`: lexicons on disk, written and read as a stream

mod file;

use std::collections::BTreeMap;

use lookalike_model::Recipe;
use lookalike_text::Features;

pub use file::{LexiconError, Reader, Writer};

use crate::Detail;
use crate::words;

/// Bins of the distribution of a word's frequencies.
pub const BINS: usize = 100;

/// The bin of a word that occurs `count` times in a document whose most frequent word occurs `most` times: 0 for up to
/// a hundredth of that, 99 for all of it.
pub fn bin(count: u32, most: u32) -> u8 {
    let (count, most) = (u64::from(count), u64::from(most.max(1)));
    ((count * BINS as u64).div_ceil(most).clamp(1, BINS as u64) - 1) as u8
}

/// The frequency of a word in the collection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counts {
    /// Documents that it is in.
    pub documents: u32,
    /// Its occurrences in all of them.
    pub occurrences: u64,
}

impl Counts {
    /// Of a word that the lexicon does not know.
    pub const UNKNOWN: Counts = Counts { documents: 1, occurrences: 1 };
}

/// All that a lexicon says of one word.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Entry {
    /// Hash of the word.
    pub hash: u64,
    /// The word.
    pub word: String,
    /// Documents that it is in.
    pub documents: u32,
    /// Its occurrences in all of them.
    pub occurrences: u64,
    /// Number of documents in each [`bin`] that is not empty, in the order of the bins.
    pub bins: Vec<(u8, u32)>,
}

/// The totals of a collection.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Totals {
    /// Documents with at least one word.
    pub documents: u64,
    /// Words in them.
    pub occurrences: u64,
    /// Different words.
    pub vocabulary: u64,
    /// Documents of the rarest word.
    pub least_documents: u32,
    /// Documents of the most common word.
    pub most_documents: u32,
}

/// A lexicon in memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Lexicon {
    profile: Recipe,
    totals: Totals,
    hashes: Vec<u64>,
    documents: Vec<u32>,
    occurrences: Vec<u32>,
    /// Occurrences that four bytes do not hold, by place.
    many: BTreeMap<u32, u64>,
    /// For each value of the first bits of a hash, the index of the first such hash.
    starts: Vec<u32>,
    shift: u32,
    /// Words that occur once are held, too.
    whole: bool,
    spelled: Option<Spelled>,
}

/// The spelling and distribution of every word.
#[derive(Debug, Clone, PartialEq, Default)]
struct Spelled {
    text: String,
    /// The end of each word in `text`.
    ends: Vec<u64>,
    bins: Vec<(u8, u32)>,
    /// The end of each word's bins in `bins`.
    bin_ends: Vec<u64>,
}

impl Lexicon {
    /// Reads a lexicon, as much of it as `detail` asks for, unless that takes more than `most` bytes of memory.
    pub fn read(
        mut reader: Reader<impl std::io::Read>,
        detail: Detail,
        most: u64,
    ) -> Result<Self, LexiconError> {
        let mut lexicon = Lexicon::empty(reader.profile().clone(), detail);
        let mut entry = Entry::default();
        while reader.next(&mut entry)? {
            lexicon.push(&entry);
            if lexicon.len().is_multiple_of(1 << 16) && lexicon.bytes() > most {
                return Err(LexiconError::TooLarge);
            }
        }
        lexicon.settle(reader.totals().clone());
        Ok(lexicon)
    }

    /// The lexicon of a few documents: the plain way, all in memory.
    pub fn gather<'f>(profile: &Recipe, documents: impl IntoIterator<Item = &'f Features>) -> Self {
        let mut entries: BTreeMap<u64, Entry> = BTreeMap::new();
        let mut totals = Totals::default();
        let mut distinct = Vec::new();
        for features in documents.into_iter().filter(|features| !features.is_empty()) {
            words::distinct(features, &mut distinct);
            totals.documents += 1;
            totals.occurrences += features.len() as u64;
            let most = distinct.iter().map(|word| word.count).max().unwrap_or(1);
            for word in &distinct {
                let entry = entries.entry(word.hash).or_insert_with(|| Entry {
                    hash: word.hash,
                    word: features.word(word.place as usize).to_owned(),
                    ..Entry::default()
                });
                entry.documents += 1;
                entry.occurrences += u64::from(word.count);
                let bin = bin(word.count, most);
                match entry.bins.binary_search_by_key(&bin, |(bin, _)| *bin) {
                    Ok(at) => entry.bins[at].1 += 1,
                    Err(at) => entry.bins.insert(at, (bin, 1)),
                }
            }
        }
        let mut lexicon = Lexicon::empty(profile.clone(), Detail::Everything);
        for entry in entries.values() {
            totals.take(entry.documents);
            lexicon.push(entry);
        }
        lexicon.settle(totals);
        lexicon
    }

    fn empty(profile: Recipe, detail: Detail) -> Self {
        Lexicon {
            profile,
            totals: Totals::default(),
            hashes: Vec::new(),
            documents: Vec::new(),
            occurrences: Vec::new(),
            many: BTreeMap::new(),
            starts: Vec::new(),
            shift: 63,
            whole: detail >= Detail::Words,
            spelled: (detail == Detail::Everything).then(Spelled::default),
        }
    }

    /// Takes one word; words come in the order of their hashes.
    fn push(&mut self, entry: &Entry) {
        match &mut self.spelled {
            None if !self.whole && entry.documents == 1 && entry.occurrences == 1 => return,
            None => {}
            Some(spelled) => {
                spelled.text.push_str(&entry.word);
                spelled.ends.push(spelled.text.len() as u64);
                spelled.bins.extend_from_slice(&entry.bins);
                spelled.bin_ends.push(spelled.bins.len() as u64);
            }
        }
        if entry.occurrences >= u64::from(u32::MAX) {
            self.many.insert(self.hashes.len() as u32, entry.occurrences);
        }
        self.hashes.push(entry.hash);
        self.documents.push(entry.documents);
        self.occurrences.push(entry.occurrences.min(u32::MAX.into()) as u32);
    }

    /// All words are there: they can be looked up from now on.
    fn settle(&mut self, totals: Totals) {
        self.totals = totals;
        self.hashes.shrink_to_fit();
        self.documents.shrink_to_fit();
        self.occurrences.shrink_to_fit();
        // About four words to a bucket.
        let bits = (self.hashes.len() / 4).max(2).ilog2().clamp(1, 28);
        self.shift = 64 - bits;
        self.starts = vec![0; (1 << bits) + 1];
        for &hash in &self.hashes {
            self.starts[(hash >> self.shift) as usize + 1] += 1;
        }
        let mut sum = 0;
        for start in &mut self.starts {
            sum += *start;
            *start = sum;
        }
    }

    /// Bytes of memory that it takes.
    pub fn bytes(&self) -> u64 {
        let spelled = |spelled: &Spelled| {
            spelled.text.capacity()
                + 8 * (spelled.ends.capacity() + spelled.bins.capacity() + spelled.bin_ends.capacity())
        };
        let numbers =
            8 * self.hashes.capacity() + 4 * (self.documents.capacity() + self.occurrences.capacity());
        (numbers + 4 * self.starts.capacity() + self.spelled.as_ref().map_or(0, spelled)) as u64
    }

    /// The recipe of the profile that its words were found by.
    pub fn profile(&self) -> &Recipe {
        &self.profile
    }

    /// Returns the totals of the collection.
    pub fn totals(&self) -> &Totals {
        &self.totals
    }

    /// N: documents with at least one word.
    pub fn documents(&self) -> u64 {
        self.totals.documents
    }

    /// Words in a document, on average.
    pub fn mean_length(&self) -> f64 {
        self.totals.occurrences as f64 / self.totals.documents.max(1) as f64
    }

    /// Returns the counts of a word; one that is not held counts as one that occurs once.
    pub fn find(&self, hash: u64) -> Counts {
        self.place(hash).map_or(Counts::UNKNOWN, |place| self.counts(place))
    }

    /// The place of a word among those held, in the order of their hashes.
    pub fn place(&self, hash: u64) -> Option<usize> {
        let bucket = (hash >> self.shift) as usize;
        let (start, end) = (*self.starts.get(bucket)? as usize, self.starts[bucket + 1] as usize);
        let within = self.hashes[start..end].iter().position(|&known| known == hash)?;
        Some(start + within)
    }

    /// Number of words held.
    pub fn len(&self) -> usize {
        self.hashes.len()
    }

    /// True when no word is held.
    pub fn is_empty(&self) -> bool {
        self.hashes.is_empty()
    }

    /// The hash of the word at a place.
    pub fn hash(&self, place: usize) -> u64 {
        self.hashes[place]
    }

    /// Returns the counts of the word at index `place`.
    pub fn counts(&self, place: usize) -> Counts {
        let occurrences = match self.occurrences[place] {
            u32::MAX => self.many.get(&(place as u32)).copied().unwrap_or(u64::from(u32::MAX)),
            few => few.into(),
        };
        Counts { documents: self.documents[place], occurrences }
    }

    /// The word at a place; empty unless everything was asked for.
    pub fn word(&self, place: usize) -> &str {
        let Some(spelled) = &self.spelled else { return "" };
        let start = if place == 0 { 0 } else { spelled.ends[place - 1] as usize };
        &spelled.text[start..spelled.ends[place] as usize]
    }

    /// Documents by [`bin`] of the word at a place, empty bins left out; nothing unless everything was asked for.
    pub fn bins(&self, place: usize) -> &[(u8, u32)] {
        let Some(spelled) = &self.spelled else { return &[] };
        let start = if place == 0 { 0 } else { spelled.bin_ends[place - 1] as usize };
        &spelled.bins[start..spelled.bin_ends[place] as usize]
    }

    /// All that is held of the word at a place.
    pub fn entry(&self, place: usize) -> Entry {
        let Counts { documents, occurrences } = self.counts(place);
        Entry {
            hash: self.hash(place),
            word: self.word(place).to_owned(),
            documents,
            occurrences,
            bins: self.bins(place).to_vec(),
        }
    }

    /// idf = ln(N/df) of a word in this many documents.
    pub fn idf(&self, documents: u32) -> f64 {
        (self.totals.documents.max(1) as f64 / f64::from(documents.max(1))).ln()
    }
}

impl Totals {
    /// Counts a word that is in this many documents.
    pub(crate) fn take(&mut self, documents: u32) {
        self.vocabulary += 1;
        self.least_documents =
            if self.vocabulary == 1 { documents } else { self.least_documents.min(documents) };
        self.most_documents = self.most_documents.max(documents);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lookalike_text::{Analyser, Profile, hash};

    fn read(text: &str) -> Features {
        let mut features = Features::default();
        Analyser::new(&Profile::web()).read(text, &mut features);
        features
    }

    #[test]
    fn bins_are_hundredths_of_the_highest_frequency() {
        assert_eq!((bin(1, 1), bin(1, 2), bin(1, 100), bin(1, 1000)), (99, 49, 0, 0));
        assert_eq!((bin(2, 3), bin(3, 3), bin(0, 0)), (66, 99, 0));
    }

    #[test]
    fn words_are_counted_by_documents_and_occurrences() {
        let documents = ["a rose is a rose is a rose", "a tulip", "", "the rose"].map(read);
        let lexicon = Lexicon::gather(&Profile::web().recipe(), &documents);
        assert_eq!(lexicon.documents(), 3);
        assert!((lexicon.mean_length() - 4.0).abs() < 1e-12);
        let find = |word: &str| {
            let Counts { documents, occurrences } = lexicon.find(hash::word(word.as_bytes()));
            (documents, occurrences)
        };
        assert_eq!((find("rose"), find("a"), find("is"), find("none")), ((2, 4), (2, 4), (1, 2), (1, 1)));
        let totals = lexicon.totals();
        assert_eq!((totals.vocabulary, totals.least_documents, totals.most_documents), (5, 1, 2));
        let place = lexicon.place(hash::word(b"is")).unwrap();
        assert_eq!((lexicon.word(place), lexicon.bins(place)), ("is", &[(66, 1)][..]));
    }

    #[test]
    fn counts_alone_leave_out_what_occurs_once() {
        let documents = ["a rose is a rose is a rose", "a tulip"].map(read);
        let whole = Lexicon::gather(&Profile::web().recipe(), &documents);
        let mut file = Vec::new();
        let mut writer = Writer::new(&mut file, whole.profile()).unwrap();
        for place in 0..whole.len() {
            writer.push(&whole.entry(place)).unwrap();
        }
        writer.finish(whole.documents(), whole.totals().occurrences).unwrap();
        let again = Lexicon::read(Reader::open(&file[..]).unwrap(), Detail::Everything, u64::MAX).unwrap();
        assert_eq!(again, whole);
        let counts = Lexicon::read(Reader::open(&file[..]).unwrap(), Detail::Counts, u64::MAX).unwrap();
        assert_eq!((counts.len(), whole.len()), (3, 4));
        let words = Lexicon::read(Reader::open(&file[..]).unwrap(), Detail::Words, u64::MAX).unwrap();
        assert_eq!((words.len(), words.word(0)), (4, ""));
        assert!(words.place(hash::word(b"tulip")).is_some() && words.place(hash::word(b"none")).is_none());
        assert_eq!(counts.totals(), whole.totals());
        for word in ["a", "rose", "is", "tulip", "none"] {
            let hash = hash::word(word.as_bytes());
            assert_eq!(counts.find(hash), whole.find(hash), "{word}");
        }
    }
}
