//! A sample of documents that does not depend on their order: those with the smallest digests, as long as they are few
//! enough and have few enough words together. Copies count once.

use std::collections::BTreeMap;

use super::rows::Rows;
use crate::lexicon::BINS;

/// The most words that are held of a document.
pub(super) const MAX_DOCUMENT_WORDS: usize = 1000;

/// The most words that are held of all documents together, each in eight bytes.
pub(super) const MAX_SAMPLE_WORDS: usize = 3 << 20;

/// The cost of a document beside its words, in words.
const DOCUMENT_COST: usize = 8;

/// A document: its words, by number, with the bins of their frequencies.
type Document = Box<[(u32, u8)]>;

/// The documents with the smallest digests, so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sample {
    /// The greatest number of documents.
    most: usize,
    /// The greatest number of words of all documents together, where each document costs `DOCUMENT_COST` words more.
    capacity: usize,
    documents: BTreeMap<u128, Document>,
    /// Words of all of them.
    held: usize,
    /// The smallest digest for which there was no capacity. Whatever comes behind it has none either, or the sample
    /// would depend on the order in which documents are seen.
    ceiling: u128,
}

impl Sample {
    pub(super) fn new(most: usize, capacity: usize) -> Self {
        Sample { most, capacity, documents: BTreeMap::new(), held: 0, ceiling: u128::MAX }
    }

    /// True for a document that belongs to it, as far as can be said now.
    pub(super) fn wants(&self, digest: u128) -> bool {
        digest < self.ceiling && !self.documents.contains_key(&digest)
    }

    /// Takes a document, which may have been wanted no longer when it comes.
    pub(super) fn put(&mut self, digest: u128, document: Document) {
        if !self.wants(digest) {
            return;
        }
        self.held += document.len() + DOCUMENT_COST;
        self.documents.insert(digest, document);
        while self.documents.len() > self.most || self.held > self.capacity {
            let Some((digest, document)) = self.documents.pop_last() else { return };
            self.held -= document.len() + DOCUMENT_COST;
            self.ceiling = digest;
        }
    }

    /// Takes the documents of another sample of the same kind.
    pub(super) fn merge(&mut self, other: Sample) {
        self.ceiling = self.ceiling.min(other.ceiling);
        for (_, document) in self.documents.split_off(&self.ceiling) {
            self.held -= document.len() + DOCUMENT_COST;
        }
        other.documents.into_iter().for_each(|(digest, document)| self.put(digest, document));
    }

    /// The documents, in the order of their digests.
    pub(super) fn rows(self) -> Rows<(u32, u8)> {
        let mut rows = Rows::new();
        self.documents.into_values().for_each(|document| rows.push(document));
        rows
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.ceiling.to_le_bytes());
        for (digest, document) in &self.documents {
            out.extend_from_slice(&digest.to_le_bytes());
            out.extend_from_slice(&(document.len() as u32).to_le_bytes());
            for (word, bin) in document {
                out.extend_from_slice(&word.to_le_bytes());
                out.push(*bin);
            }
        }
    }

    /// Reads a sample of at most so many documents with words of numbers below `words`, up to the end of the bytes.
    pub(super) fn read(
        most: usize,
        capacity: usize,
        words: usize,
        bytes: &mut ByteReader<'_>,
    ) -> Option<Self> {
        let mut sample =
            Sample { ceiling: u128::from_le_bytes(bytes.take()?), ..Sample::new(most, capacity) };
        while !bytes.is_empty() {
            let digest = u128::from_le_bytes(bytes.take()?);
            let mut document = Vec::new();
            for _ in 0..bytes.number()? {
                let (word, bin) = (bytes.number()?, u8::from_le_bytes(bytes.take()?));
                if word as usize >= words || usize::from(bin) >= BINS {
                    return None;
                }
                document.push((word, bin));
            }
            if digest >= sample.ceiling {
                return None;
            }
            sample.held += document.len() + DOCUMENT_COST;
            sample.documents.insert(digest, document.into());
        }
        (sample.documents.len() <= most && sample.held <= capacity).then_some(sample)
    }
}

/// Bytes that are taken from the front.
#[derive(Debug, Clone, Copy)]
pub(super) struct ByteReader<'b>(pub(super) &'b [u8]);

impl ByteReader<'_> {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*taken)
    }

    pub(super) fn number(&mut self) -> Option<u32> {
        self.take().map(u32::from_le_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn document(digest: u128) -> Document {
        (0..digest as u32 % 4).map(|word| (word, digest as u8 % 100)).collect()
    }

    fn show(sample: &mut Sample, digests: &[u128]) {
        for &digest in digests {
            if sample.wants(digest) {
                sample.put(digest, document(digest));
            }
        }
    }

    proptest! {
        #[test]
        fn the_smallest_digests_are_kept_whatever_the_order(
            digests in prop::collection::vec(0u128..60, 0..80),
            most in 1usize..20,
            capacity in 0usize..200,
            stop in any::<prop::sample::Index>(),
        ) {
            let mut sample = Sample::new(most, capacity);
            show(&mut sample, &digests);
            let mut expected = digests.clone();
            expected.sort_unstable();
            expected.dedup();
            expected.truncate(most);
            let mut words = 0;
            let fits = |digest: &u128| {
                words += document(*digest).len() + DOCUMENT_COST;
                words <= capacity
            };
            expected = expected.into_iter().take_while(fits).collect();
            prop_assert_eq!(sample.documents.keys().copied().collect::<Vec<_>>(), expected);
            prop_assert!(sample.documents.iter().all(|(digest, held)| *held == document(*digest)));

            let (front, back) = digests.split_at(if digests.is_empty() { 0 } else { stop.index(digests.len()) });
            let mut first = Sample::new(most, capacity);
            show(&mut first, back);
            let mut saved = Vec::new();
            first.write(&mut saved);
            let mut second = Sample::read(most, capacity, 4, &mut ByteReader(&saved)).unwrap();
            prop_assert_eq!(&second, &first);
            show(&mut second, front);
            prop_assert_eq!(second, sample);
        }
    }

    #[test]
    fn bytes_of_another_kind_are_refused() {
        let mut sample = Sample::new(9, 99);
        show(&mut sample, &[3, 7]);
        let mut saved = Vec::new();
        sample.write(&mut saved);
        let read = |most, words, bytes: &[u8]| Sample::read(most, 99, words, &mut ByteReader(bytes));
        assert_eq!(read(9, 3, &saved), Some(sample));
        assert_eq!(read(1, 3, &saved), None, "too many documents");
        assert_eq!(read(9, 2, &saved), None, "unknown words");
        assert_eq!(read(9, 3, &saved[..saved.len() - 1]), None, "cut off");
    }
}
