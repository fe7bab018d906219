//! The key of a document's address: what addresses are sorted, and found to be one, by.
//!
//! Keys are sorted by host, then by address: groups with both sides are shared, and all that is counted for a host comes
//! together, so that no table of hosts is in memory. A key takes 30 bytes on disk, and all sides go through one merge.

use lookalike::hash::Secret;
use lookalike::store::sort::{Codec, Rebase};
use lookalike_overlap::address::{Matching, depth, host};

/// Deeper paths count as this deep.
pub(crate) const DEEPEST: usize = 20;

/// One document's address. Sorted by host first, so that all addresses of a host come together and are counted in passing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Key {
    /// Of the host: equal hashes are one host.
    pub(crate) host: u64,
    /// Of the whole address, in the form that it is compared in: equal digests are one address.
    pub(crate) digest: u128,
    /// 0 for the left corpus, then the snapshots in their order.
    pub(crate) side: u8,
    /// The document.
    pub(crate) number: u32,
    /// Depth of its path.
    pub(crate) depth: u8,
    /// True if there are judgments of it.
    pub(crate) judged: bool,
}

/// The numbers that a key is sorted by.
pub(crate) type Packed = (u64, u64, u64, u64);

const JUDGED: u64 = 1 << 7;

impl Key {
    pub(crate) fn pack(self) -> Packed {
        let flags = u64::from(self.depth) | if self.judged { JUDGED } else { 0 };
        let tail = u64::from(self.side) << 48 | u64::from(self.number) << 16 | flags;
        (self.host, (self.digest >> 64) as u64, self.digest as u64, tail)
    }

    pub(crate) fn unpack((host, high, low, tail): Packed) -> Self {
        Key {
            host,
            digest: u128::from(high) << 64 | u128::from(low),
            side: (tail >> 48) as u8,
            number: (tail >> 16) as u32,
            depth: (tail & (JUDGED - 1)) as u8,
            judged: tail & JUDGED != 0,
        }
    }
}

/// A parsed address.
pub(crate) struct ParsedAddress {
    /// Its host; empty where it has none.
    pub(crate) host: String,
    pub(crate) hash: u64,
    pub(crate) digest: u128,
    pub(crate) depth: u8,
}

impl ParsedAddress {
    /// Parses an address; hosts and addresses are told apart by the secret.
    pub(crate) fn new(address: &str, matching: Matching, secret: &Secret) -> Self {
        let form = matching.key(address);
        let host = host(&form).unwrap_or_default();
        ParsedAddress {
            hash: secret.hash(host.as_bytes()),
            host,
            digest: secret.digest(form.as_bytes()),
            depth: depth(&form).min(DEEPEST) as u8,
        }
    }
}

/// The layout of keys in files, 30 bytes each.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KeyCodec;

impl Codec for KeyCodec {
    type Item = Packed;
    const KIND: &'static str = "addresses";

    fn width(self) -> usize {
        30
    }

    fn put(self, (host, high, low, tail): Packed, out: &mut [u8]) {
        out[..8].copy_from_slice(&host.to_le_bytes());
        out[8..16].copy_from_slice(&high.to_le_bytes());
        out[16..24].copy_from_slice(&low.to_le_bytes());
        // Side, number and flags; a byte between number and flags is always empty.
        let tail = tail.to_le_bytes();
        out[24] = tail[0];
        out[25..29].copy_from_slice(&tail[2..6]);
        out[29] = tail[6];
    }

    fn get(self, bytes: &[u8]) -> Packed {
        let number = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
        let mut tail = [0; 8];
        tail[0] = bytes[24];
        tail[2..6].copy_from_slice(&bytes[25..29]);
        tail[6] = bytes[29];
        (number(0), number(8), number(16), u64::from_le_bytes(tail))
    }
}

impl Rebase for KeyCodec {
    fn rebase((host, high, low, tail): Packed, base: u32) -> Packed {
        (host, high, low, tail + (u64::from(base) << 16))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn keys_come_back_and_sort_by_host_address_side_and_number(
            host: u64, digest: u128, side: u8, number in 0..u32::MAX / 2, depth in 0..=DEEPEST as u8, judged: bool,
        ) {
            let key = Key { host, digest, side, number, depth, judged };
            let mut bytes = [0; 30];
            KeyCodec.put(key.pack(), &mut bytes);
            prop_assert_eq!(KeyCodec.get(&bytes), key.pack());
            prop_assert_eq!(Key::unpack(key.pack()), key);
            prop_assert_eq!(Key::unpack(KeyCodec::rebase(key.pack(), 7)), Key { number: number + 7, ..key });
            let later = Key { number: number + 1, judged: false, depth: 0, ..key };
            prop_assert!(key.pack() < later.pack());
        }
    }

    proptest! {
        #[test]
        fn packed_keys_sort_as_their_fields_do(
            fields in prop::collection::vec((0..3u64, 0..3u128, 0..3u8, 0..3u32), 0..40),
        ) {
            let key = |&(host, digest, side, number): &(u64, u128, u8, u32)| {
                // A digest differs in its upper half as well as in its lower one.
                Key { host, digest: digest << 63, side, number, depth: 3, judged: number == 1 }
            };
            let mut packed: Vec<Packed> = fields.iter().map(|fields| key(fields).pack()).collect();
            packed.sort_unstable();
            let mut wanted = fields;
            wanted.sort_unstable();
            let found: Vec<Key> = packed.into_iter().map(Key::unpack).collect();
            prop_assert_eq!(found, wanted.iter().map(key).collect::<Vec<_>>());
        }
    }

    fn parsed(address: &str, matching: Matching) -> ParsedAddress {
        ParsedAddress::new(address, matching, Secret::of_process())
    }

    #[test]
    fn a_digest_is_that_of_the_form_that_is_compared() {
        let same = |a: &str, b: &str| {
            [Matching::Exact, Matching::Normal, Matching::Canonical]
                .map(|matching| parsed(a, matching).digest == parsed(b, matching).digest)
        };
        assert_eq!(same("http://a.org/x", "http://a.org/x"), [true, true, true]);
        assert_eq!(same("HTTP://A.org:80/x#top", "http://a.org/x"), [false, true, true]);
        assert_eq!(same("https://www.a.org/index.html", "http://a.org/"), [false, false, true]);
        assert_eq!(same("http://a.org/x", "http://a.org/X"), [false, false, false]);
    }

    #[test]
    fn pages_of_one_host_have_its_hash() {
        let [one, two, other] = ["http://a.org/x", "http://A.ORG/y", "http://b.org/x"]
            .map(|address| parsed(address, Matching::Exact));
        assert_eq!((one.host.as_str(), two.host.as_str(), other.host.as_str()), ("a.org", "a.org", "b.org"));
        assert_eq!((one.hash == two.hash, one.hash == other.hash), (true, false));
    }

    #[test]
    fn hosts_may_be_in_any_script() {
        let found = parsed("http://MÜNCHEN.de/straße/ä", Matching::Normal);
        assert_eq!((found.host.as_str(), found.depth), ("münchen.de", 2));
    }

    #[test]
    fn text_that_is_no_address_has_no_host_and_no_depth() {
        for text in ["no address", "", "/a/b/c", "http:///x/y"] {
            let found = parsed(text, Matching::Normal);
            assert_eq!((found.host.as_str(), found.depth), ("", 0), "{text:?}");
        }
    }

    #[test]
    fn depth_ends_at_the_deepest() {
        for (parts, depth) in [(0, 0), (1, 1), (19, 19), (20, 20), (21, 20), (300, 20)] {
            let found = parsed(&format!("http://a.org/{}?q=/x", "d/".repeat(parts)), Matching::Normal);
            assert_eq!(found.depth, depth, "{parts}");
        }
    }

    #[test]
    fn numbers_of_a_later_unit_are_moved_without_touching_its_side() {
        let key = Key { host: 1, digest: 2, side: 200, number: 5, depth: 20, judged: true };
        let moved = Key::unpack(KeyCodec::rebase(key.pack(), u32::MAX - 5));
        assert_eq!(moved, Key { number: u32::MAX, ..key });
    }
}
