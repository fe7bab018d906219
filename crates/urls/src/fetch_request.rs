//! Documents that are read a second time: for their names, or for their texts.

use lookalike::store::sort::Codec;

/// A request to read a document of one side again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FetchRequest {
    /// The document.
    pub(crate) number: u32,
    /// The first left document of its address.
    pub(crate) group: u32,
    /// A part of its address's digest: it must be the same when it is read again.
    pub(crate) check: u32,
    /// Its address is needed.
    pub(crate) address: bool,
    /// Its id is needed.
    pub(crate) name: bool,
    /// Its text is needed.
    pub(crate) text: bool,
}

impl FetchRequest {
    pub(crate) fn pack(self) -> u128 {
        let flags = u128::from(self.address) | u128::from(self.name) << 1 | u128::from(self.text) << 2;
        u128::from(self.number) << 96 | u128::from(self.group) << 64 | u128::from(self.check) << 32 | flags
    }

    pub(crate) fn unpack(packed: u128) -> Self {
        FetchRequest {
            number: (packed >> 96) as u32,
            group: (packed >> 64) as u32,
            check: (packed >> 32) as u32,
            address: packed & 1 != 0,
            name: packed & 2 != 0,
            text: packed & 4 != 0,
        }
    }
}

/// The layout of requests in files, by the numbers of their documents.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FetchRequestCodec;

impl Codec for FetchRequestCodec {
    type Item = u128;
    const KIND: &'static str = "wanted";

    fn width(self) -> usize {
        13
    }

    fn put(self, item: u128, out: &mut [u8]) {
        let bytes = item.to_be_bytes();
        out[..12].copy_from_slice(&bytes[..12]);
        out[12] = bytes[15];
    }

    fn get(self, bytes: &[u8]) -> u128 {
        let mut whole = [0; 16];
        whole[..12].copy_from_slice(&bytes[..12]);
        whole[15] = bytes[12];
        u128::from_be_bytes(whole)
    }
}

/// A document whose text was copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StoredDocument {
    /// The first left document of its address.
    pub(crate) group: u32,
    /// Its side.
    pub(crate) side: u8,
    /// Its number in the copy.
    pub(crate) copy_number: u32,
    /// 56 bits of a digest of its words in their order.
    pub(crate) words: u64,
}

const WORDS: u32 = 56;

impl StoredDocument {
    /// Returns as many bits of a digest as are kept.
    pub(crate) fn short(digest: u64) -> u64 {
        digest >> (64 - WORDS)
    }

    pub(crate) fn pack(self) -> u128 {
        u128::from(self.group) << 96
            | u128::from(self.side) << 88
            | u128::from(self.copy_number) << WORDS
            | u128::from(self.words)
    }

    pub(crate) fn unpack(packed: u128) -> Self {
        StoredDocument {
            group: (packed >> 96) as u32,
            side: (packed >> 88) as u8,
            copy_number: (packed >> WORDS) as u32,
            words: packed as u64 & ((1 << WORDS) - 1),
        }
    }
}

/// The layout of stored documents in files, by address and side.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StoredDocumentCodec;

impl Codec for StoredDocumentCodec {
    type Item = u128;
    const KIND: &'static str = "held";

    fn width(self) -> usize {
        16
    }

    fn put(self, item: u128, out: &mut [u8]) {
        out.copy_from_slice(&item.to_be_bytes());
    }

    fn get(self, bytes: &[u8]) -> u128 {
        u128::from_be_bytes(bytes.try_into().expect("sixteen bytes"))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn requests_and_stored_documents_come_back(a: u32, b: u32, c: u32, bits in 0..8u8, side: u8, digest: u64) {
            let (address, name, text) = (bits & 1 != 0, bits & 2 != 0, bits & 4 != 0);
            let request = FetchRequest { number: a, group: b, check: c, address, name, text };
            let mut bytes = [0; 16];
            FetchRequestCodec.put(request.pack(), &mut bytes[..13]);
            prop_assert_eq!(FetchRequestCodec.get(&bytes[..13]), request.pack());
            prop_assert_eq!(FetchRequest::unpack(request.pack()), request);
            let stored = StoredDocument { group: a, side, copy_number: b, words: StoredDocument::short(digest) };
            StoredDocumentCodec.put(stored.pack(), &mut bytes);
            prop_assert_eq!(StoredDocument::unpack(StoredDocumentCodec.get(&bytes)), stored);
        }
    }

    #[test]
    fn requests_sort_by_document() {
        let request = |number, group| {
            FetchRequest { number, group, check: 9, address: true, name: true, text: true }.pack()
        };
        let mut requests = [request(2, 0), request(1, 7), request(300, 0), request(1, 3)];
        requests.sort_unstable();
        let found = requests.map(FetchRequest::unpack).map(|request| (request.number, request.group));
        assert_eq!(found, [(1, 3), (1, 7), (2, 0), (300, 0)]);
    }

    #[test]
    fn stored_documents_sort_by_address_then_side() {
        let stored = |group, side, copy_number| StoredDocument { group, side, copy_number, words: 5 }.pack();
        let mut all = [stored(2, 0, 0), stored(1, 200, 1), stored(1, 0, 9), stored(1, 3, 2)];
        all.sort_unstable();
        let found = all.map(StoredDocument::unpack).map(|stored| (stored.group, stored.side));
        assert_eq!(found, [(1, 0), (1, 3), (1, 200), (2, 0)]);
    }

    #[test]
    fn the_upper_bits_of_a_digest_are_kept() {
        assert_eq!([0, 255, 256, u64::MAX].map(StoredDocument::short), [0, 0, 1, (1 << 56) - 1]);
    }
}
