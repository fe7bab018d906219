//! A lexicon as a file: a head with the profile, the words in the order of their hashes, a foot with the totals and a
//! checksum over everything before it.
//!
//! A word is: 1, its hash, the numbers of documents and of occurrences, its length and spelling, and its bins. Numbers
//! have seven bits to a byte, low ones first, the hash eight bytes. 0 stands where no further word follows.

use std::io::{self, Read, Write};

use lookalike_model::Recipe;
use xxhash_rust::xxh3::Xxh3Default;

use super::{BINS, Entry, Totals};

/// The first bytes, with the version of the format.
const MAGIC: &[u8; 24] = b"lookalike lexicon, v 1\n\0";

/// No word is longer; a file that says so is damaged.
const MAX_WORD_BYTES: u64 = 64 << 20;

/// An error in reading or writing a lexicon.
#[derive(Debug, thiserror::Error)]
pub enum LexiconError {
    /// It cannot be read or written.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// It is something else.
    #[error("it is no lexicon of this version; lookalike lexicon makes one")]
    Kind,
    /// It takes more memory than there is for it.
    #[error("it takes more memory than there is for it")]
    TooLarge,
    /// It is not whole.
    #[error("it is damaged: {0}")]
    Damaged(&'static str),
}

/// Writes a lexicon, word by word.
#[derive(Debug)]
pub struct Writer<W: Write> {
    out: W,
    sum: Box<Checksum>,
    totals: Totals,
    last: Option<u64>,
    buffer: Vec<u8>,
}

/// A checksum under way.
struct Checksum(Xxh3Default);

impl std::fmt::Debug for Checksum {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Checksum")
    }
}

impl<W: Write> Writer<W> {
    /// Begins a lexicon of words by this profile.
    pub fn new(out: W, profile: &Recipe) -> Result<Self, LexiconError> {
        let mut writer = Writer {
            out,
            sum: Box::new(Checksum(Xxh3Default::new())),
            totals: Totals::default(),
            last: None,
            buffer: Vec::new(),
        };
        writer.buffer.extend_from_slice(MAGIC);
        let profile = profile.to_string();
        put(&mut writer.buffer, profile.len() as u64);
        writer.buffer.extend_from_slice(profile.as_bytes());
        writer.flush()?;
        Ok(writer)
    }

    /// Writes one word. They come in the order of their hashes.
    pub fn push(&mut self, entry: &Entry) -> Result<(), LexiconError> {
        if self.last.is_some_and(|last| last >= entry.hash) {
            return Err(LexiconError::Damaged("words are not in order"));
        }
        self.last = Some(entry.hash);
        self.totals.count_word(entry.documents);
        let buffer = &mut self.buffer;
        buffer.push(1);
        buffer.extend_from_slice(&entry.hash.to_le_bytes());
        put(buffer, entry.documents.into());
        put(buffer, entry.occurrences);
        put(buffer, entry.word.len() as u64);
        buffer.extend_from_slice(entry.word.as_bytes());
        put(buffer, entry.bins.len() as u64);
        for &(bin, documents) in &entry.bins {
            buffer.push(bin);
            put(buffer, documents.into());
        }
        if self.buffer.len() > 64 << 10 { self.flush() } else { Ok(()) }
    }

    /// Writes what is to be said of the whole collection, and gives back what was written to.
    pub fn finish(mut self, documents: u64, occurrences: u64) -> Result<W, LexiconError> {
        self.buffer.push(0);
        let Totals { vocabulary, least_documents, most_documents, .. } = self.totals;
        for number in [documents, occurrences, vocabulary, least_documents.into(), most_documents.into()] {
            put(&mut self.buffer, number);
        }
        self.flush()?;
        self.out.write_all(&self.sum.0.digest().to_le_bytes())?;
        self.out.flush()?;
        Ok(self.out)
    }

    fn flush(&mut self) -> Result<(), LexiconError> {
        self.sum.0.update(&self.buffer);
        self.out.write_all(&self.buffer)?;
        self.buffer.clear();
        Ok(())
    }
}

/// Reads a lexicon, word by word.
#[derive(Debug)]
pub struct Reader<R: Read> {
    input: Input<R>,
    profile: Recipe,
    totals: Totals,
}

/// Bytes that are read and summed.
#[derive(Debug)]
struct Input<R: Read> {
    from: R,
    window: Vec<u8>,
    at: usize,
    sum: Box<Checksum>,
}

impl<R: Read> Reader<R> {
    /// Begins to read.
    pub fn open(from: R) -> Result<Self, LexiconError> {
        let sum = Box::new(Checksum(Xxh3Default::new()));
        let mut input = Input { from, window: Vec::new(), at: 0, sum };
        let mut magic = [0; MAGIC.len()];
        input.take(&mut magic).map_err(|error| match error {
            LexiconError::Damaged(_) => LexiconError::Kind,
            other => other,
        })?;
        if &magic != MAGIC {
            return Err(LexiconError::Kind);
        }
        let profile = input.text()?;
        let profile = parse_profile(&profile).ok_or(LexiconError::Damaged("its profile cannot be read"))?;
        Ok(Reader { input, profile, totals: Totals::default() })
    }

    /// The recipe of the profile that its words were found by.
    pub fn profile(&self) -> &Recipe {
        &self.profile
    }

    /// Returns the totals of the collection, which are known once all words were read.
    pub fn totals(&self) -> &Totals {
        &self.totals
    }

    /// The next word; false when there is none, and the file was found whole.
    pub fn next(&mut self, entry: &mut Entry) -> Result<bool, LexiconError> {
        let input = &mut self.input;
        match input.byte()? {
            1 => {}
            0 => return self.end().map(|()| false),
            _ => return Err(LexiconError::Damaged("a word begins wrongly")),
        }
        let mut hash = [0; 8];
        input.take(&mut hash)?;
        let hash = u64::from_le_bytes(hash);
        if self.totals.vocabulary > 0 && hash <= entry.hash {
            return Err(LexiconError::Damaged("words are not in order"));
        }
        entry.hash = hash;
        entry.documents = input.small_number()?;
        entry.occurrences = input.number()?;
        entry.word = input.text()?;
        let bins = input.number()?;
        if bins > BINS as u64 {
            return Err(LexiconError::Damaged("a word has too many bins"));
        }
        entry.bins.clear();
        for _ in 0..bins {
            let bin = input.byte()?;
            entry.bins.push((bin, input.small_number()?));
        }
        self.totals.count_word(entry.documents);
        Ok(true)
    }

    /// Reads the foot and compares it with what was seen.
    fn end(&mut self) -> Result<(), LexiconError> {
        let seen = self.totals.clone();
        let input = &mut self.input;
        self.totals = Totals {
            documents: input.number()?,
            occurrences: input.number()?,
            vocabulary: input.number()?,
            least_documents: input.small_number()?,
            most_documents: input.small_number()?,
        };
        let sum = input.digest();
        let mut written = [0; 8];
        input.take(&mut written)?;
        let counted = (self.totals.vocabulary, self.totals.least_documents, self.totals.most_documents);
        if counted != (seen.vocabulary, seen.least_documents, seen.most_documents)
            || u64::from_le_bytes(written) != sum
        {
            return Err(LexiconError::Damaged("its checksum is wrong"));
        }
        Ok(())
    }
}

impl<R: Read> Input<R> {
    fn fill(&mut self) -> Result<(), LexiconError> {
        self.sum.0.update(&self.window);
        self.window.resize(64 << 10, 0);
        self.at = 0;
        let read = loop {
            match self.from.read(&mut self.window) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => break other?,
            }
        };
        self.window.truncate(read);
        if read == 0 { Err(LexiconError::Damaged("it ends too early")) } else { Ok(()) }
    }

    fn byte(&mut self) -> Result<u8, LexiconError> {
        if self.at == self.window.len() {
            self.fill()?;
        }
        self.at += 1;
        Ok(self.window[self.at - 1])
    }

    fn take(&mut self, mut out: &mut [u8]) -> Result<(), LexiconError> {
        while !out.is_empty() {
            if self.at == self.window.len() {
                self.fill()?;
            }
            let length = out.len().min(self.window.len() - self.at);
            out[..length].copy_from_slice(&self.window[self.at..self.at + length]);
            self.at += length;
            out = &mut out[length..];
        }
        Ok(())
    }

    fn number(&mut self) -> Result<u64, LexiconError> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(LexiconError::Damaged("a number is too long"))
    }

    fn small_number(&mut self) -> Result<u32, LexiconError> {
        u32::try_from(self.number()?).map_err(|_| LexiconError::Damaged("a number is too large"))
    }

    fn text(&mut self) -> Result<String, LexiconError> {
        let length = self.number()?;
        if length > MAX_WORD_BYTES {
            return Err(LexiconError::Damaged("a word is too long"));
        }
        let mut bytes = vec![0; length as usize];
        self.take(&mut bytes)?;
        String::from_utf8(bytes).map_err(|_| LexiconError::Damaged("a word is no text"))
    }

    /// The checksum of all that was taken so far.
    fn digest(&self) -> u64 {
        let mut sum = self.sum.0.clone();
        sum.update(&self.window[..self.at]);
        sum.digest()
    }
}

/// Seven bits to a byte, low ones first.
fn put(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Reads a recipe from the text that it prints as.
fn parse_profile(text: &str) -> Option<Recipe> {
    let (head, parameters) = text.split_once(':').unwrap_or((text, ""));
    let (name, version) = head.split_once('/')?;
    let mut recipe = Recipe::new(name, version.parse().ok()?);
    for part in parameters.split(',').filter(|part| !part.is_empty()) {
        let (key, value) = part.split_once('=')?;
        recipe = recipe.with(key, value);
    }
    Some(recipe)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lookalike_text::Profile;

    fn entries(count: u64) -> Vec<Entry> {
        let entry = |number: u64| Entry {
            hash: number << 20 | 7,
            word: format!("word{number}"),
            documents: number as u32 + 1,
            occurrences: number * 1_000_000_007 + 1,
            bins: (0..(number % 4) as u8).map(|bin| (bin * 30, u32::from(bin) + 200)).collect(),
        };
        (0..count).map(entry).collect()
    }

    fn written(entries: &[Entry]) -> Vec<u8> {
        let mut writer = Writer::new(Vec::new(), &Profile::yandex().recipe()).unwrap();
        entries.iter().for_each(|entry| writer.push(entry).unwrap());
        writer.finish(10_000, 123_456).unwrap()
    }

    fn read(bytes: &[u8]) -> Result<(Vec<Entry>, Totals), LexiconError> {
        let mut reader = Reader::open(bytes)?;
        let (mut entry, mut all) = (Entry::default(), Vec::new());
        while reader.next(&mut entry)? {
            all.push(entry.clone());
        }
        Ok((all, reader.totals().clone()))
    }

    #[test]
    fn what_was_written_is_read() {
        for count in [0, 1, 5, 20_000] {
            let entries = entries(count);
            let bytes = written(&entries);
            assert_eq!(Reader::open(&bytes[..]).unwrap().profile(), &Profile::yandex().recipe());
            let (all, totals) = read(&bytes).unwrap();
            assert_eq!(all, entries);
            assert_eq!((totals.documents, totals.occurrences, totals.vocabulary), (10_000, 123_456, count));
        }
    }

    #[test]
    fn no_changed_byte_and_no_cut_goes_unseen() {
        let bytes = written(&entries(9));
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 0x10;
            assert!(read(&changed).is_err(), "byte {at}");
            assert!(read(&bytes[..at]).is_err(), "cut at {at}");
        }
    }

    #[test]
    fn other_files_are_named() {
        assert!(matches!(Reader::open(&b"{}"[..]), Err(LexiconError::Kind)));
        assert!(matches!(Reader::open(&[7u8; 100][..]), Err(LexiconError::Kind)));
    }
}
