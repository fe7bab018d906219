//! Pairs of documents on their way through a job: proposed, measured, decided.
//!
//! Methods propose a [`Pair`] as a [`Candidate`]. What was measured is a [`VerifiedPair`], which cannot be made without a
//! [`Measured`] similarity. What is decided is a [`Removal`].
//!
//! ```
//! use lookalike_model::{DocNumber, Measured, Pair, VerifiedPair};
//!
//! let pair = Pair::new(DocNumber::new(9), DocNumber::new(4));
//! assert_eq!(pair.documents(), [DocNumber::new(4), DocNumber::new(9)]);
//! let measured = Measured { forward: 0.9, backward: 0.4, reached: true, reached_back: false };
//! let verified = VerifiedPair::new(pair, measured, 0);
//! assert!(verified.is_near() && !verified.is_near_back());
//! ```

use std::cmp::Ordering;
use std::fmt;

use crate::measure::Measured;
use crate::numbers::DocNumber;

/// The most methods that a run has.
pub const MOST_METHODS: usize = 8;

/// The number of keys that two documents share, by method.
pub type SharedKeys = [u32; MOST_METHODS];

/// Two documents of a job, the one with the lower number first: one number, as sorted files have it, which orders by the first
/// document and then by the second.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Pair(u64);

impl Pair {
    /// Two different documents, whichever comes first.
    #[inline]
    pub fn new(a: DocNumber, b: DocNumber) -> Self {
        Pair::ordered(a.min(b), a.max(b))
    }

    /// Two documents of which the first is known to have the lower number.
    #[inline]
    pub fn ordered(first: DocNumber, second: DocNumber) -> Self {
        debug_assert!(first < second, "{first} does not come before {second}");
        Pair(u64::from(first) << 32 | u64::from(second))
    }

    /// The document with the lower number.
    #[inline]
    pub fn first(self) -> DocNumber {
        DocNumber::new((self.0 >> 32) as u32)
    }

    /// The document with the higher number.
    #[inline]
    pub fn second(self) -> DocNumber {
        DocNumber::new(self.0 as u32)
    }

    /// Both documents, in order.
    #[inline]
    pub fn documents(self) -> [DocNumber; 2] {
        [self.first(), self.second()]
    }

    /// The pair as a number that sorts by the first document and then by the second.
    #[inline]
    pub fn pack(self) -> u64 {
        self.0
    }

    /// The pair that [`Pair::pack`] made a number of.
    #[inline]
    pub fn unpack(packed: u64) -> Self {
        Pair(packed)
    }
}

impl fmt::Debug for Pair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pair({}, {})", self.first(), self.second())
    }
}

/// A pair that methods proposed and nothing has measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Candidate {
    /// The two documents.
    pub pair: Pair,
    /// The number of keys that they share, by method.
    pub shared: SharedKeys,
}

impl Candidate {
    /// Bytes of a candidate that this many methods can propose.
    pub fn width(methods: usize) -> usize {
        8 + 4 * methods
    }

    /// Appends it for a file of [`Candidate::width`].
    pub fn encode(&self, methods: usize, out: &mut Vec<u8>) {
        let documents = self.pair.documents().map(DocNumber::get);
        for number in documents.iter().chain(&self.shared[..methods]) {
            out.extend_from_slice(&number.to_le_bytes());
        }
    }

    /// Reads it back; of methods that its file knows nothing of, no keys are shared.
    pub fn decode(bytes: &[u8]) -> Self {
        let mut numbers = bytes.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes));
        let (first, second) = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
        let mut shared = SharedKeys::default();
        shared.iter_mut().zip(numbers).for_each(|(slot, number)| *slot = number);
        // Not `ordered`: a record whose checksum is right is as it was written.
        Candidate { pair: Pair(u64::from(first) << 32 | u64::from(second)), shared }
    }
}

/// The bit that is set if the similarity of the first document to the second reaches the threshold. The bits of the methods are below.
const NEAR: u16 = 1 << MOST_METHODS;

/// The bit that is set if the similarity of the second document to the first reaches the threshold.
const NEAR_BACK: u16 = NEAR << 1;

/// A pair that was measured, with the similarity of each document to the other.
///
/// Some do not reach the threshold, where all measured pairs are asked for; and the similarity is that of the methods, where runs
/// go by their word. Pairs order by documents, then by the rest.
#[derive(Debug, Clone, Copy)]
pub struct VerifiedPair {
    pair: Pair,
    forward: f64,
    backward: f64,
    /// A bit for each method that accepts it, [`NEAR`] and [`NEAR_BACK`].
    flags: u16,
}

impl VerifiedPair {
    /// Bytes of a pair in a file.
    pub const WIDTH: usize = 26;

    /// A pair, what was measured from its first document to its second, and a bit for each method that accepts it.
    pub fn new(pair: Pair, measured: Measured, methods: u8) -> Self {
        let Measured { forward, backward, reached, reached_back } = measured;
        let near = if reached { NEAR } else { 0 };
        let back = if reached_back { NEAR_BACK } else { 0 };
        VerifiedPair { pair, forward, backward, flags: u16::from(methods) | near | back }
    }

    /// Two documents with equal words, which need no measurement.
    pub fn of_equals(pair: Pair, methods: u8) -> Self {
        let equal = Measured { forward: 1.0, backward: 1.0, reached: true, reached_back: true };
        VerifiedPair::new(pair, equal, methods)
    }

    /// The same for documents that equal these: one that has the words of the first document, and one that has those of the second.
    #[must_use]
    pub fn for_equals(self, like_first: DocNumber, like_second: DocNumber) -> Self {
        if like_first < like_second {
            return VerifiedPair { pair: Pair::ordered(like_first, like_second), ..self };
        }
        let VerifiedPair { forward, backward, .. } = self;
        let pair = Pair::ordered(like_second, like_first);
        VerifiedPair { pair, forward: backward, backward: forward, flags: swapped(self.flags) }
    }

    /// The two documents.
    #[inline]
    pub fn pair(self) -> Pair {
        self.pair
    }

    /// The similarity of the first document to the second.
    #[inline]
    pub fn forward(self) -> f64 {
        self.forward
    }

    /// The similarity of the second document to the first.
    #[inline]
    pub fn backward(self) -> f64 {
        self.backward
    }

    /// True when the similarity of the first document to the second reaches the threshold.
    #[inline]
    pub fn is_near(self) -> bool {
        self.flags & NEAR > 0
    }

    /// True when the similarity of the second document to the first reaches the threshold.
    #[inline]
    pub fn is_near_back(self) -> bool {
        self.flags & NEAR_BACK > 0
    }

    /// The methods that accept it, a bit for each, where methods are held against each other.
    #[inline]
    pub fn methods(self) -> u8 {
        // The lower eight bits: `NEAR` stands above all that a run can have.
        self.flags as u8
    }

    /// The pair as a file has it.
    ///
    /// # Panics
    /// When `out` has fewer than [`VerifiedPair::WIDTH`] bytes.
    #[inline]
    pub fn put(self, out: &mut [u8]) {
        let numbers = [self.pair.pack(), self.forward.to_bits(), self.backward.to_bits()];
        for (slot, number) in out.as_chunks_mut::<8>().0.iter_mut().zip(numbers) {
            *slot = number.to_le_bytes();
        }
        out[24..].copy_from_slice(&self.flags.to_le_bytes());
    }

    /// A pair that was measured earlier and written to a file.
    ///
    /// # Panics
    /// When there are fewer than [`VerifiedPair::WIDTH`] bytes.
    #[inline]
    pub fn get(bytes: &[u8]) -> Self {
        let number = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
        VerifiedPair {
            pair: Pair::unpack(number(0)),
            forward: f64::from_bits(number(8)),
            backward: f64::from_bits(number(16)),
            flags: u16::from_le_bytes(bytes[24..26].try_into().expect("two bytes")),
        }
    }

    /// Similarities by their bits, because sorted records need a total order, which floating-point numbers lack.
    #[inline]
    fn sort_key(self) -> (Pair, u64, u64, u16) {
        (self.pair, self.forward.to_bits(), self.backward.to_bits(), self.flags)
    }
}

/// The same flags, seen from the second document.
fn swapped(flags: u16) -> u16 {
    let both = NEAR | NEAR_BACK;
    // The two bits are neighbours, and a shift turns one into the other; those of the methods stay as they
    // are.
    flags & !both | (flags & NEAR) << 1 | (flags & NEAR_BACK) >> 1
}

/// A removed document and the kept one that stands for it.
///
/// It orders by document, then by the rest.
#[derive(Debug, Clone, Copy)]
pub struct Removal {
    /// The removed document.
    pub document: DocNumber,
    /// The kept document that stands for it.
    pub witness: DocNumber,
    /// The similarity of the document to its witness; no number where a method has none to give.
    pub similarity: f64,
    /// The neighbour that tied it in, where that may be another one than the witness.
    pub via: DocNumber,
}

impl Removal {
    /// Bytes of a removal in a file.
    pub const WIDTH: usize = 20;

    /// The removal as a file has it: document, witness, neighbour, similarity.
    ///
    /// # Panics
    /// When `out` has fewer than [`Removal::WIDTH`] bytes.
    #[inline]
    pub fn put(self, out: &mut [u8]) {
        let numbers = [self.document, self.witness, self.via];
        for (slot, number) in out[..12].as_chunks_mut::<4>().0.iter_mut().zip(numbers) {
            *slot = number.to_le_bytes();
        }
        out[12..].copy_from_slice(&self.similarity.to_bits().to_le_bytes());
    }

    /// A removal from a file.
    ///
    /// # Panics
    /// When there are fewer than [`Removal::WIDTH`] bytes.
    #[inline]
    pub fn get(bytes: &[u8]) -> Self {
        let number = |at: usize| DocNumber::from_le_bytes(&bytes[at..at + 4]);
        let similarity = u64::from_le_bytes(bytes[12..20].try_into().expect("eight bytes"));
        Removal {
            document: number(0),
            witness: number(4),
            similarity: f64::from_bits(similarity),
            via: number(8),
        }
    }

    /// The similarity by its bits, as in [`VerifiedPair`].
    #[inline]
    fn sort_key(self) -> (DocNumber, DocNumber, DocNumber, u64) {
        (self.document, self.witness, self.via, self.similarity.to_bits())
    }
}

/// Compares records by their sort keys.
macro_rules! ordered_by_sort_key {
    ($($name:ident)*) => { $(
        impl PartialEq for $name {
            #[inline]
            fn eq(&self, other: &Self) -> bool {
                self.sort_key() == other.sort_key()
            }
        }

        impl Eq for $name {}

        impl PartialOrd for $name {
            #[inline]
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                Some(self.cmp(other))
            }
        }

        impl Ord for $name {
            #[inline]
            fn cmp(&self, other: &Self) -> Ordering {
                self.sort_key().cmp(&other.sort_key())
            }
        }
    )* };
}

ordered_by_sort_key!(VerifiedPair Removal);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn document(number: u32) -> DocNumber {
        DocNumber::new(number)
    }

    fn pair(a: u32, b: u32) -> Pair {
        Pair::new(document(a), document(b))
    }

    prop_compose! {
        fn any_pair()(first in 0u32..u32::MAX - 1)(first in Just(first), second in first + 1..u32::MAX) -> Pair {
            pair(first, second)
        }
    }

    prop_compose! {
        fn measurements()(
            forward in 0.0f64..=1.0,
            backward in 0.0f64..=1.0,
            reached: bool,
            reached_back: bool,
        ) -> Measured {
            Measured { forward, backward, reached, reached_back }
        }
    }

    proptest! {
        #[test]
        fn a_pair_is_the_same_from_either_end(a: u32, b: u32) {
            prop_assume!(a != b);
            prop_assert_eq!(pair(a, b), pair(b, a));
            prop_assert_eq!(pair(a, b).documents(), [document(a.min(b)), document(a.max(b))]);
            prop_assert_eq!(Pair::unpack(pair(a, b).pack()), pair(a, b));
        }

        #[test]
        fn pairs_sort_as_their_documents(one in any_pair(), two in any_pair()) {
            prop_assert_eq!(one.cmp(&two), one.documents().cmp(&two.documents()));
            prop_assert_eq!(one.pack().cmp(&two.pack()), one.cmp(&two));
        }

        #[test]
        fn candidates_are_read_back(pair in any_pair(), shared: [u32; 3]) {
            let mut candidate = Candidate { pair, shared: SharedKeys::default() };
            candidate.shared[..3].copy_from_slice(&shared);
            let mut bytes = Vec::new();
            candidate.encode(3, &mut bytes);
            prop_assert_eq!(bytes.len(), Candidate::width(3));
            prop_assert_eq!(Candidate::decode(&bytes), candidate);
        }

        #[test]
        fn a_verified_pair_says_what_was_measured(pair in any_pair(), measured in measurements(), methods: u8) {
            let verified = VerifiedPair::new(pair, measured, methods);
            prop_assert_eq!((verified.pair(), verified.methods()), (pair, methods));
            prop_assert_eq!((verified.forward(), verified.backward()), (measured.forward, measured.backward));
            prop_assert_eq!((verified.is_near(), verified.is_near_back()), (measured.reached, measured.reached_back));
        }

        #[test]
        fn verified_pairs_are_read_back(pair in any_pair(), measured in measurements(), methods: u8) {
            let (verified, mut bytes) = (VerifiedPair::new(pair, measured, methods), [0; VerifiedPair::WIDTH]);
            verified.put(&mut bytes);
            prop_assert_eq!(VerifiedPair::get(&bytes), verified);
        }

        #[test]
        fn equal_documents_take_the_measurement_over(
            pair in any_pair(), measured in measurements(), methods: u8, like_first: u32, like_second: u32,
        ) {
            prop_assume!(like_first != like_second);
            let verified = VerifiedPair::new(pair, measured, methods);
            let taken_over = verified.for_equals(document(like_first), document(like_second));
            // From the end of the lower number, whichever document it is like.
            let seen = if like_first < like_second { measured } else { measured.swapped() };
            let expected = VerifiedPair::new(Pair::new(document(like_first), document(like_second)), seen, methods);
            prop_assert_eq!(taken_over, expected);
        }

        #[test]
        fn flags_turn_round_and_back(flags: u16) {
            let turned = swapped(flags);
            prop_assert_eq!(turned & NEAR > 0, flags & NEAR_BACK > 0);
            prop_assert_eq!(turned & NEAR_BACK > 0, flags & NEAR > 0);
            prop_assert_eq!(turned & !(NEAR | NEAR_BACK), flags & !(NEAR | NEAR_BACK));
            prop_assert_eq!(swapped(turned), flags);
        }

        #[test]
        fn removals_are_read_back(numbers: [u32; 3], similarity in 0.0f64..=1.0) {
            let [document, witness, via] = numbers.map(DocNumber::new);
            let (removal, mut bytes) = (Removal { document, witness, similarity, via }, [0; Removal::WIDTH]);
            removal.put(&mut bytes);
            prop_assert_eq!(Removal::get(&bytes), removal);
        }
    }

    #[test]
    fn records_are_as_files_of_earlier_versions_have_them() {
        let measured = Measured { forward: 1.0, backward: 0.25, reached: true, reached_back: false };
        let mut bytes = [0; VerifiedPair::WIDTH];
        VerifiedPair::new(pair(3, 7), measured, 0b101).put(&mut bytes);
        // A little-endian number whose upper half is the first document, two similarities, and flags.
        let expected = [
            &[7, 0, 0, 0, 3, 0, 0, 0][..],
            &1f64.to_bits().to_le_bytes(),
            &0.25f64.to_bits().to_le_bytes(),
            &[0b101, 1],
        ];
        assert_eq!(bytes[..], expected.concat());
        let removal =
            Removal { document: document(9), witness: document(2), similarity: 0.5, via: document(4) };
        let mut bytes = [0; Removal::WIDTH];
        removal.put(&mut bytes);
        let expected = [&[9, 0, 0, 0, 2, 0, 0, 0, 4, 0, 0, 0][..], &0.5f64.to_bits().to_le_bytes()];
        assert_eq!(bytes[..], expected.concat());
        let mut bytes = Vec::new();
        let shared = [1, 0x0102, 0, 0, 0, 0, 0, 0];
        Candidate { pair: pair(3, 7), shared }.encode(2, &mut bytes);
        assert_eq!(bytes, [3, 0, 0, 0, 7, 0, 0, 0, 1, 0, 0, 0, 2, 1, 0, 0]);
    }

    #[test]
    fn records_take_no_more_memory_than_their_numbers() {
        assert_eq!(size_of::<Pair>(), 8);
        assert_eq!(size_of::<Candidate>(), 8 + 4 * MOST_METHODS);
        assert_eq!(size_of::<VerifiedPair>(), size_of::<(u64, u64, u64, u16)>());
        assert_eq!(size_of::<Removal>(), size_of::<(u32, u32, u32, u64)>());
    }

    #[test]
    fn documents_with_equal_words_are_near_both_ways() {
        let equal = VerifiedPair::of_equals(pair(1, 2), 3);
        assert!(equal.is_near() && equal.is_near_back());
        assert_eq!((equal.forward(), equal.backward(), equal.methods()), (1.0, 1.0, 3));
    }

    #[test]
    fn a_similarity_that_is_no_number_equals_itself() {
        let removal =
            Removal { document: document(1), witness: document(0), similarity: f64::NAN, via: document(0) };
        assert_eq!(removal, removal);
    }

    #[test]
    fn flags_of_methods_do_not_meet_those_of_the_threshold() {
        let methods: u16 = (0..MOST_METHODS).map(|method| 1 << method).sum();
        assert_eq!(methods & (NEAR | NEAR_BACK), 0);
        assert_ne!(NEAR, NEAR_BACK);
        assert_eq!(methods, u16::from(u8::MAX));
    }
}
