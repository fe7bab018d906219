//! The sequences of 64-bit symbols (hashes of words, or characters) that documents are measured by, in blocks with a
//! dictionary each: for documents that are compared again and again and do not fit into memory.
//!
//! Words repeat, so a block holds each distinct symbol once and one, two or four bytes per occurrence: about half the
//! size of the text, at the price of one look into a small table per symbol. Sequences are not sorted: only documents
//! that become candidates are worth that.
//!
//! A block: number of documents, of symbols and of distinct symbols (4 bytes each); per document its number and its
//! length (4 + 4); the distinct symbols (8 each); one index per symbol (1, 2 or 4 bytes by their number).

use std::path::Path;

use crate::error::StoreError;
use crate::file::{Label, RandomAccess, Records, Run, RunWriter};

/// A block ends when it holds this many symbols.
const BLOCK_SYMBOLS: usize = 48 << 10;

/// The label of a file of blocks.
pub fn label(stamp: u128) -> Label {
    Label::new("symbols", 1, stamp)
}

/// Gathers documents and encodes them as blocks.
pub struct BlockBuilder {
    documents: Vec<(u32, u32)>,
    distinct: Vec<u64>,
    indices: Vec<u32>,
    /// Index plus one of the symbol that hashed to each slot, 0 for none: a power of two, at most half full.
    slots: Vec<u32>,
    limit: usize,
}

impl Default for BlockBuilder {
    fn default() -> Self {
        BlockBuilder::new()
    }
}

impl BlockBuilder {
    /// Begins a block of the usual size.
    pub fn new() -> Self {
        BlockBuilder {
            documents: Vec::new(),
            distinct: Vec::new(),
            indices: Vec::new(),
            slots: Vec::new(),
            limit: BLOCK_SYMBOLS,
        }
    }

    /// Blocks of about so many symbols.
    pub fn with_limit(limit: usize) -> Self {
        BlockBuilder { limit: limit.clamp(1, BLOCK_SYMBOLS), ..BlockBuilder::new() }
    }

    /// True when no document was added since the last block.
    pub fn is_empty(&self) -> bool {
        self.documents.is_empty()
    }

    /// Adds a document; true when the block is full and wants to be encoded.
    pub fn push(&mut self, document: u32, symbols: &[u64]) -> bool {
        self.documents.push((document, symbols.len() as u32));
        let wanted = ((self.distinct.len() + symbols.len()) * 2).max(4096);
        if self.slots.len() < wanted {
            self.grow(wanted.next_power_of_two());
        }
        let mask = self.slots.len() - 1;
        for &symbol in symbols {
            let mut slot = spread(symbol) & mask;
            let index = loop {
                match self.slots[slot] {
                    0 => {
                        self.distinct.push(symbol);
                        self.slots[slot] = self.distinct.len() as u32;
                        break self.distinct.len() as u32 - 1;
                    }
                    taken if self.distinct[taken as usize - 1] == symbol => break taken - 1,
                    _ => slot = (slot + 1) & mask,
                }
            };
            self.indices.push(index);
        }
        self.indices.len() >= self.limit
    }

    fn grow(&mut self, size: usize) {
        self.slots.clear();
        self.slots.resize(size, 0);
        for (index, &symbol) in self.distinct.iter().enumerate() {
            let mut slot = spread(symbol) & (size - 1);
            while self.slots[slot] != 0 {
                slot = (slot + 1) & (size - 1);
            }
            self.slots[slot] = index as u32 + 1;
        }
    }

    /// Appends the block to `out` and begins the next one.
    pub fn encode(&mut self, out: &mut Vec<u8>) {
        let numbers = [self.documents.len(), self.indices.len(), self.distinct.len()];
        numbers.iter().for_each(|&number| out.extend_from_slice(&(number as u32).to_le_bytes()));
        for &(document, length) in &self.documents {
            out.extend_from_slice(&document.to_le_bytes());
            out.extend_from_slice(&length.to_le_bytes());
        }
        self.distinct.iter().for_each(|symbol| out.extend_from_slice(&symbol.to_le_bytes()));
        match index_width(self.distinct.len()) {
            1 => out.extend(self.indices.iter().map(|&index| index as u8)),
            2 => self.indices.iter().for_each(|&index| out.extend_from_slice(&(index as u16).to_le_bytes())),
            _ => self.indices.iter().for_each(|index| out.extend_from_slice(&index.to_le_bytes())),
        }
        self.documents.clear();
        self.distinct.clear();
        self.indices.clear();
        // One huge document must not leave a huge table to be cleared for every block after it.
        let usual = (4 * self.limit).next_power_of_two();
        self.slots.truncate(usual);
        self.slots.shrink_to(usual);
        self.slots.fill(0);
        self.indices.shrink_to(2 * self.limit);
        self.distinct.shrink_to(2 * self.limit);
    }
}

fn index_width(distinct: usize) -> usize {
    match distinct {
        0..=0x100 => 1,
        0x101..=0x1_0000 => 2,
        _ => 4,
    }
}

/// Characters are small numbers: they must not crowd into neighbouring slots.
#[inline]
fn spread(symbol: u64) -> usize {
    (symbol.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize
}

/// Writes blocks to a file.
pub struct SymbolWriter {
    run: RunWriter,
}

impl SymbolWriter {
    /// Begins a file that will stand at `path`.
    pub fn create(path: &Path, stamp: u128) -> Result<Self, StoreError> {
        Ok(SymbolWriter { run: RunWriter::create(path, label(stamp))? })
    }

    /// Appends whole blocks, as [`BlockBuilder::encode`] made them.
    pub fn push(&mut self, blocks: &[u8]) -> Result<(), StoreError> {
        self.run.push(blocks)
    }

    /// Closes the file and gives it its name.
    pub fn finish(self) -> Result<(), StoreError> {
        self.run.finish()
    }
}

/// Reads blocks from the front of a file.
pub struct SymbolReader {
    records: Records,
    position: u64,
}

/// Reads blocks wherever they are.
pub struct SymbolAccess {
    access: RandomAccess,
}

impl SymbolAccess {
    /// Opens a file of blocks.
    pub fn open(path: &Path, stamp: u128) -> Result<Self, StoreError> {
        Ok(SymbolAccess { access: RandomAccess::new(Run::open(path, label(stamp))?) })
    }

    /// Replaces `block` with the one that begins at `offset`.
    pub fn read(&mut self, offset: u64, block: &mut Block) -> Result<(), StoreError> {
        let mut head = [0; HEAD];
        self.access.read(offset, &mut head)?;
        block.size(&head);
        self.access.read(offset + HEAD as u64, &mut block.bytes)
    }
}

/// Bytes of the numbers that a block begins with.
const HEAD: usize = 12;

/// A block in memory, for its documents to be decoded.
#[derive(Debug, Default)]
pub struct Block {
    bytes: Vec<u8>,
    documents: usize,
    symbols: usize,
    distinct: usize,
}

impl SymbolReader {
    /// Opens a file of blocks.
    pub fn open(path: &Path, stamp: u128) -> Result<Self, StoreError> {
        Ok(SymbolReader { records: Run::open(path, label(stamp))?.records(), position: 0 })
    }

    /// Returns the offset of the next block.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Replaces `block` with the next one; false at the end.
    pub fn next(&mut self, block: &mut Block) -> Result<bool, StoreError> {
        let mut head = [0; HEAD];
        if !self.records.take(&mut head)? {
            return Ok(false);
        }
        block.size(&head);
        if !block.bytes.is_empty() && !self.records.take(&mut block.bytes)? {
            return Err(self.records.damaged("a block is cut off"));
        }
        self.position += (HEAD + block.bytes.len()) as u64;
        Ok(true)
    }
}

impl Block {
    /// Makes room for a block that begins with these numbers.
    fn size(&mut self, head: &[u8; HEAD]) {
        let number =
            |at: usize| u32::from_le_bytes(head[at..at + 4].try_into().expect("four bytes")) as usize;
        (self.documents, self.symbols, self.distinct) = (number(0), number(4), number(8));
        let bytes = self.documents * 8 + self.distinct * 8 + self.symbols * index_width(self.distinct);
        self.bytes.resize(bytes, 0);
    }

    /// Every document, with how many symbols it has.
    pub fn lengths(&self) -> impl Iterator<Item = (u32, u32)> {
        self.bytes[..self.documents * 8].as_chunks::<8>().0.iter().map(|&[a, b, c, d, e, f, g, h]| {
            (u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h]))
        })
    }

    /// Calls `each` with every document for which `wanted` holds: its number and its symbols.
    pub fn documents<E>(
        &self,
        buffer: &mut Vec<u64>,
        wanted: impl Fn(u32) -> bool,
        mut each: impl FnMut(u32, &[u64]) -> Result<(), E>,
    ) -> Result<(), E> {
        let rest = &self.bytes[self.documents * 8..];
        let (distinct, indices) = rest.split_at(self.distinct * 8);
        let distinct = distinct.as_chunks::<8>().0;
        let width = index_width(self.distinct);
        let mut at = 0;
        for (document, length) in self.lengths() {
            let length = length as usize;
            let part = &indices[at..at + length * width];
            at += length * width;
            if !wanted(document) {
                continue;
            }
            buffer.clear();
            let symbol = |index: usize| u64::from_le_bytes(distinct[index]);
            match width {
                1 => buffer.extend(part.iter().map(|&index| symbol(index.into()))),
                2 => buffer.extend(
                    part.as_chunks::<2>().0.iter().map(|&two| symbol(u16::from_le_bytes(two).into())),
                ),
                _ => buffer.extend(
                    part.as_chunks::<4>().0.iter().map(|&four| symbol(u32::from_le_bytes(four) as usize)),
                ),
            }
            each(document, buffer)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn round_trip(documents: &[Vec<u64>], limit: usize) -> Vec<(u32, Vec<u64>)> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("spool");
        let mut writer = SymbolWriter::create(&path, 3).unwrap();
        let mut builder = BlockBuilder::with_limit(limit);
        let mut bytes = Vec::new();
        for (number, symbols) in documents.iter().enumerate() {
            if builder.push(number as u32, symbols) {
                builder.encode(&mut bytes);
            }
        }
        builder.encode(&mut bytes);
        writer.push(&bytes).unwrap();
        writer.finish().unwrap();
        let mut reader = SymbolReader::open(&path, 3).unwrap();
        let (mut block, mut buffer, mut found) = (Block::default(), Vec::new(), Vec::new());
        while reader.next(&mut block).unwrap() {
            let take = |number, symbols: &[u64]| {
                found.push((number, symbols.to_vec()));
                Ok::<(), StoreError>(())
            };
            block.documents(&mut buffer, |number| number % 3 != 1, take).unwrap();
        }
        found
    }

    fn expected(documents: &[Vec<u64>]) -> Vec<(u32, Vec<u64>)> {
        let numbered = documents.iter().enumerate().map(|(number, symbols)| (number as u32, symbols.clone()));
        numbered.filter(|(number, _)| number % 3 != 1).collect()
    }

    proptest! {
        #[test]
        fn what_went_in_comes_out(
            documents in prop::collection::vec(prop::collection::vec(prop_oneof![0u64..40, any::<u64>()], 0..300), 0..20),
            limit in 1usize..2000,
        ) {
            prop_assert_eq!(round_trip(&documents, limit), expected(&documents));
        }
    }

    #[test]
    fn every_width_of_index_is_read_back() {
        for distinct in [1u64, 256, 257, 65_536, 65_537, 200_000] {
            let documents = vec![(0..distinct).collect::<Vec<_>>(), vec![1], vec![0; 5], (0..9).collect()];
            assert_eq!(round_trip(&documents, BLOCK_SYMBOLS), expected(&documents), "{distinct}");
        }
    }

    #[test]
    fn blocks_are_read_from_anywhere() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("spool");
        let mut writer = SymbolWriter::create(&path, 3).unwrap();
        let (mut builder, mut bytes, mut offsets) = (BlockBuilder::with_limit(1), Vec::new(), Vec::new());
        assert!(builder.is_empty());
        for document in 0..5u32 {
            offsets.push(bytes.len() as u64);
            assert!(builder.push(document, &vec![u64::from(document); document as usize + 1]));
            assert!(!builder.is_empty());
            builder.encode(&mut bytes);
        }
        writer.push(&bytes).unwrap();
        writer.finish().unwrap();
        let mut access = SymbolAccess::open(&path, 3).unwrap();
        let (mut block, mut buffer) = (Block::default(), Vec::new());
        for document in [4u32, 0, 2] {
            access.read(offsets[document as usize], &mut block).unwrap();
            assert_eq!(block.lengths().collect::<Vec<_>>(), [(document, document + 1)]);
            let mut found = Vec::new();
            block
                .documents(
                    &mut buffer,
                    |_| true,
                    |number, symbols| {
                        found.push((number, symbols.to_vec()));
                        Ok::<(), StoreError>(())
                    },
                )
                .unwrap();
            assert_eq!(found, [(document, vec![u64::from(document); document as usize + 1])]);
        }
        let mut reader = SymbolReader::open(&path, 3).unwrap();
        for &offset in &offsets {
            assert_eq!(reader.position(), offset);
            assert!(reader.next(&mut block).unwrap());
        }
        assert!(!reader.next(&mut block).unwrap());
        assert!(SymbolReader::open(&path, 4).is_err(), "another job wrote it");
    }

    #[test]
    fn a_block_is_full_at_its_limit() {
        let mut builder = BlockBuilder::with_limit(10);
        assert!(!builder.push(0, &[1; 4]) && !builder.push(1, &[]) && !builder.push(2, &[2; 5]));
        assert!(builder.push(3, &[3]));
        let mut bytes = Vec::new();
        builder.encode(&mut bytes);
        // Three numbers, four documents, three distinct symbols, and ten indices of one byte.
        assert_eq!(bytes.len(), 12 + 4 * 8 + 3 * 8 + 10);
        assert_eq!(index_width(0x100), 1);
        assert_eq!([index_width(0x101), index_width(0x1_0000), index_width(0x1_0001)], [2, 2, 4]);
    }

    #[test]
    fn a_huge_document_leaves_no_huge_table() {
        let mut builder = BlockBuilder::with_limit(100);
        builder.push(0, &(0..100_000).collect::<Vec<u64>>());
        builder.encode(&mut Vec::new());
        assert!(builder.slots.len() <= 512 && builder.slots.iter().all(|slot| *slot == 0));
        assert!(builder.indices.capacity() <= 1000 && builder.distinct.capacity() <= 1000);
    }
}
