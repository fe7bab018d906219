//! Lexicons: what a collection tells of its words.
//!
//! For each word: in how many documents it is (df), how often it is there in all (cf), and how its frequencies, each as
//! a part of the document's highest, are distributed. For the collection: the number of documents that have words (N)
//! and of words in them. Methods that weigh words get theirs from the corpus they work on, or from another.
//!
//! In memory, where words are sorted by hash as on disk, a word costs about 17 bytes. For [`LexiconDetail::Counts`] words
//! that occur once are not held, since an unknown word counts as one that occurs once; [`LexiconDetail::Words`] does hold
//! them, and [`LexiconDetail::Everything`] the spelling and distribution of all.
//!
//! - `file`: lexicons on disk, written and read as a stream

mod file;

use std::collections::BTreeMap;

use lookalike_model::Recipe;
use lookalike_text::Features;

pub use file::{LexiconError, Reader, Writer};

use crate::LexiconDetail;
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
    /// Occurrences that four bytes do not hold, by index.
    large_counts: BTreeMap<u32, u64>,
    /// For each value of the first bits of a hash, the index of the first such hash.
    starts: Vec<u32>,
    shift: u32,
    /// Words that occur once are held, too.
    has_singletons: bool,
    spellings: Option<Spellings>,
}

/// The spelling and distribution of every word.
#[derive(Debug, Clone, PartialEq, Default)]
struct Spellings {
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
        detail: LexiconDetail,
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
        lexicon.finish(reader.totals().clone());
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
                    word: features.word(word.first_position as usize).to_owned(),
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
        let mut lexicon = Lexicon::empty(profile.clone(), LexiconDetail::Everything);
        for entry in entries.values() {
            totals.count_word(entry.documents);
            lexicon.push(entry);
        }
        lexicon.finish(totals);
        lexicon
    }

    fn empty(profile: Recipe, detail: LexiconDetail) -> Self {
        Lexicon {
            profile,
            totals: Totals::default(),
            hashes: Vec::new(),
            documents: Vec::new(),
            occurrences: Vec::new(),
            large_counts: BTreeMap::new(),
            starts: Vec::new(),
            shift: 63,
            has_singletons: detail >= LexiconDetail::Words,
            spellings: (detail == LexiconDetail::Everything).then(Spellings::default),
        }
    }

    /// Takes one word; words come in the order of their hashes.
    fn push(&mut self, entry: &Entry) {
        match &mut self.spellings {
            None if !self.has_singletons && entry.documents == 1 && entry.occurrences == 1 => return,
            None => {}
            Some(spellings) => {
                spellings.text.push_str(&entry.word);
                spellings.ends.push(spellings.text.len() as u64);
                spellings.bins.extend_from_slice(&entry.bins);
                spellings.bin_ends.push(spellings.bins.len() as u64);
            }
        }
        if entry.occurrences >= u64::from(u32::MAX) {
            self.large_counts.insert(self.hashes.len() as u32, entry.occurrences);
        }
        self.hashes.push(entry.hash);
        self.documents.push(entry.documents);
        self.occurrences.push(entry.occurrences.min(u32::MAX.into()) as u32);
    }

    /// Takes the totals and builds the index: words can be looked up from now on.
    fn finish(&mut self, totals: Totals) {
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
        let spellings = |spellings: &Spellings| {
            spellings.text.capacity()
                + 8 * (spellings.ends.capacity() + spellings.bins.capacity() + spellings.bin_ends.capacity())
        };
        let numbers =
            8 * self.hashes.capacity() + 4 * (self.documents.capacity() + self.occurrences.capacity());
        (numbers + 4 * self.starts.capacity() + self.spellings.as_ref().map_or(0, spellings)) as u64
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
        self.index_of(hash).map_or(Counts::UNKNOWN, |index| self.counts(index))
    }

    /// The index of a word among those held, in the order of their hashes.
    pub fn index_of(&self, hash: u64) -> Option<usize> {
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

    /// The hash of the word at `index`.
    pub fn hash(&self, index: usize) -> u64 {
        self.hashes[index]
    }

    /// Returns the counts of the word at `index`.
    pub fn counts(&self, index: usize) -> Counts {
        let occurrences = match self.occurrences[index] {
            u32::MAX => self.large_counts.get(&(index as u32)).copied().unwrap_or(u64::from(u32::MAX)),
            few => few.into(),
        };
        Counts { documents: self.documents[index], occurrences }
    }

    /// The word at `index`; empty unless everything was asked for.
    pub fn word(&self, index: usize) -> &str {
        let Some(spellings) = &self.spellings else { return "" };
        let start = if index == 0 { 0 } else { spellings.ends[index - 1] as usize };
        &spellings.text[start..spellings.ends[index] as usize]
    }

    /// Documents by [`bin`] of the word at `index`, empty bins left out; nothing unless everything was asked for.
    pub fn bins(&self, index: usize) -> &[(u8, u32)] {
        let Some(spellings) = &self.spellings else { return &[] };
        let start = if index == 0 { 0 } else { spellings.bin_ends[index - 1] as usize };
        &spellings.bins[start..spellings.bin_ends[index] as usize]
    }

    /// All that is held of the word at `index`.
    pub fn entry(&self, index: usize) -> Entry {
        let Counts { documents, occurrences } = self.counts(index);
        Entry {
            hash: self.hash(index),
            word: self.word(index).to_owned(),
            documents,
            occurrences,
            bins: self.bins(index).to_vec(),
        }
    }

    /// idf = ln(N/df) of a word in this many documents.
    pub fn idf(&self, documents: u32) -> f64 {
        (self.totals.documents.max(1) as f64 / f64::from(documents.max(1))).ln()
    }
}

impl Totals {
    /// Counts a word that is in this many documents.
    pub(crate) fn count_word(&mut self, documents: u32) {
        self.vocabulary += 1;
        self.least_documents =
            if self.vocabulary == 1 { documents } else { self.least_documents.min(documents) };
        self.most_documents = self.most_documents.max(documents);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lookalike_hash as hash;
    use lookalike_text::{Analyser, Profile};

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
        let index = lexicon.index_of(hash::word(b"is")).unwrap();
        assert_eq!((lexicon.word(index), lexicon.bins(index)), ("is", &[(66, 1)][..]));
    }

    #[test]
    fn counts_alone_leave_out_what_occurs_once() {
        let documents = ["a rose is a rose is a rose", "a tulip"].map(read);
        let whole = Lexicon::gather(&Profile::web().recipe(), &documents);
        let mut file = Vec::new();
        let mut writer = Writer::new(&mut file, whole.profile()).unwrap();
        for index in 0..whole.len() {
            writer.push(&whole.entry(index)).unwrap();
        }
        writer.finish(whole.documents(), whole.totals().occurrences).unwrap();
        let again =
            Lexicon::read(Reader::open(&file[..]).unwrap(), LexiconDetail::Everything, u64::MAX).unwrap();
        assert_eq!(again, whole);
        let counts =
            Lexicon::read(Reader::open(&file[..]).unwrap(), LexiconDetail::Counts, u64::MAX).unwrap();
        assert_eq!((counts.len(), whole.len()), (3, 4));
        let words = Lexicon::read(Reader::open(&file[..]).unwrap(), LexiconDetail::Words, u64::MAX).unwrap();
        assert_eq!((words.len(), words.word(0)), (4, ""));
        assert!(
            words.index_of(hash::word(b"tulip")).is_some() && words.index_of(hash::word(b"none")).is_none()
        );
        assert_eq!(counts.totals(), whole.totals());
        for word in ["a", "rose", "is", "tulip", "none"] {
            let hash = hash::word(word.as_bytes());
            assert_eq!(counts.find(hash), whole.find(hash), "{word}");
        }
    }
}
