//! The fixed-width record kept for each document.
//!
//! Rows of earlier parts are never written again. A document that is deleted, or decided anew because its witness is
//! gone, is a [`Change`] in a newer part, and merging parts folds it into the row. Of a deleted document nothing but the
//! row is left then; of the first with its words also its record and keys, as long as others have these words.

/// A number that no document has.
pub(crate) const NO_DOCUMENT: u32 = u32::MAX;
/// The length of an address, or the number of a record, that a document does not have.
pub(crate) const ABSENT: u32 = u32::MAX;
const DELETED: u32 = u32::MAX - 1;
const DELETED_LEADER: u32 = u32::MAX - 2;

/// The most documents that an index holds.
pub(crate) const MOST_DOCUMENTS: u32 = u32::MAX - 16;

/// The state of a document.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum State {
    /// It is kept, and represents its removed near-duplicates.
    Kept,
    /// It is removed in favour of a kept document.
    Removed {
        /// The number of that document.
        witness: u32,
        /// Its similarity to the witness; none if the methods give no number.
        similarity: Option<f64>,
    },
    /// It was deleted from the index.
    Deleted,
    /// It was deleted; the postings by which others with the same words are found are still there.
    DeletedLeader,
}

impl State {
    /// True for a document that answers may name.
    pub fn is_live(self) -> bool {
        matches!(self, State::Kept | State::Removed { .. })
    }

    fn pack(self) -> (u32, f64) {
        match self {
            State::Kept => (NO_DOCUMENT, 0.0),
            State::Removed { witness, similarity } => (witness, similarity.unwrap_or(f64::NAN)),
            State::Deleted => (DELETED, 0.0),
            State::DeletedLeader => (DELETED_LEADER, 0.0),
        }
    }

    fn unpack(witness: u32, similarity: f64) -> Self {
        match witness {
            NO_DOCUMENT => State::Kept,
            DELETED => State::Deleted,
            DELETED_LEADER => State::DeletedLeader,
            witness => {
                State::Removed { witness, similarity: Some(similarity).filter(|number| !number.is_nan()) }
            }
        }
    }
}

/// The fixed-width record of a document. The offsets of its names, body and record have a meaning in a segment only.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Row {
    /// Number of words.
    pub(crate) words: u32,
    /// Bytes of its text.
    pub(crate) text: u32,
    /// Digest of its words.
    pub(crate) digest: u128,
    /// The first document with the same words.
    pub(crate) leader: u32,
    pub(crate) state: State,
    /// The offset of its id in the file of names, with the address after it; `id` and `url` are their lengths.
    pub(crate) names: u64,
    pub(crate) id: u32,
    /// [`ABSENT`] without an address.
    pub(crate) url: u32,
    pub(crate) body: u64,
    pub(crate) body_bytes: u32,
    /// The number of its record; [`ABSENT`] without one.
    pub(crate) record: u32,
}

impl Row {
    pub(crate) const WIDTH: usize = 72;

    pub(crate) fn encode(&self) -> [u8; Row::WIDTH] {
        let (witness, similarity) = self.state.pack();
        let mut out = [0; Row::WIDTH];
        let mut at = 0;
        let mut put = |bytes: &[u8]| {
            out[at..at + bytes.len()].copy_from_slice(bytes);
            at += bytes.len();
        };
        put(&self.words.to_le_bytes());
        put(&self.text.to_le_bytes());
        put(&self.digest.to_le_bytes());
        put(&self.leader.to_le_bytes());
        put(&witness.to_le_bytes());
        put(&similarity.to_le_bytes());
        put(&self.names.to_le_bytes());
        put(&self.id.to_le_bytes());
        put(&self.url.to_le_bytes());
        put(&self.body.to_le_bytes());
        put(&self.body_bytes.to_le_bytes());
        put(&self.record.to_le_bytes());
        out
    }

    pub(crate) fn decode(bytes: &[u8; Row::WIDTH]) -> Self {
        let four = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
        let eight = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
        Row {
            words: four(0),
            text: four(4),
            digest: u128::from(eight(8)) | u128::from(eight(16)) << 64,
            leader: four(24),
            state: State::unpack(four(28), f64::from_bits(eight(32))),
            names: eight(40),
            id: four(48),
            url: four(52),
            body: eight(56),
            body_bytes: four(64),
            record: four(68),
        }
    }
}

/// A change of the state that a document's row has.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Change {
    pub(crate) number: u32,
    pub(crate) state: State,
}

impl Change {
    pub(crate) const WIDTH: usize = 16;

    pub(crate) fn encode(&self) -> [u8; Change::WIDTH] {
        let (witness, similarity) = self.state.pack();
        let mut out = [0; Change::WIDTH];
        out[..4].copy_from_slice(&self.number.to_le_bytes());
        out[4..8].copy_from_slice(&witness.to_le_bytes());
        out[8..].copy_from_slice(&similarity.to_le_bytes());
        out
    }

    pub(crate) fn decode(bytes: &[u8; Change::WIDTH]) -> Self {
        let four = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
        let similarity = u64::from_le_bytes(bytes[8..].try_into().expect("eight bytes"));
        Change { number: four(0), state: State::unpack(four(4), f64::from_bits(similarity)) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn rows_and_changes_are_read_as_they_were_written() {
        let states = [
            State::Kept,
            State::Removed { witness: 7, similarity: Some(0.875) },
            State::Removed { witness: 0, similarity: None },
            State::Deleted,
            State::DeletedLeader,
        ];
        for state in states {
            let row = Row {
                words: 1,
                text: 2,
                digest: u128::MAX / 3,
                leader: 3,
                state,
                names: 4,
                id: 5,
                url: ABSENT,
                body: 6,
                body_bytes: 7,
                record: 8,
            };
            assert_eq!(Row::decode(&row.encode()), row);
            let change = Change { number: 9, state };
            assert_eq!(Change::decode(&change.encode()), change);
        }
    }

    #[test]
    fn the_fields_of_a_row_stand_one_after_another() {
        let row = Row {
            words: 0x0102_0304,
            text: 5,
            digest: 6 << 64 | 7,
            leader: 8,
            state: State::Removed { witness: 9, similarity: Some(0.5) },
            names: 10,
            id: 11,
            url: 12,
            body: 13,
            body_bytes: 14,
            record: 15,
        };
        let expected = [
            &[4, 3, 2, 1, 5, 0, 0, 0][..],
            &[7, 0, 0, 0, 0, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0],
            &[8, 0, 0, 0, 9, 0, 0, 0],
            &[0, 0, 0, 0, 0, 0, 0xe0, 0x3f],
            &[10, 0, 0, 0, 0, 0, 0, 0],
            &[11, 0, 0, 0, 12, 0, 0, 0],
            &[13, 0, 0, 0, 0, 0, 0, 0],
            &[14, 0, 0, 0, 15, 0, 0, 0],
        ]
        .concat();
        assert_eq!(row.encode().to_vec(), expected);
    }

    #[test]
    fn a_change_is_a_number_a_witness_and_a_similarity() {
        let change = Change { number: 3, state: State::Removed { witness: 2, similarity: Some(-2.0) } };
        assert_eq!(change.encode(), [3, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xc0]);
    }

    #[test]
    fn states_without_a_witness_have_the_largest_numbers() {
        let witness =
            |state| u32::from_le_bytes(*Change { number: 0, state }.encode()[4..].first_chunk().unwrap());
        let stored = [State::Kept, State::Deleted, State::DeletedLeader].map(witness);
        assert_eq!(stored, [0xffff_ffff, 0xffff_fffe, 0xffff_fffd]);
        assert!(stored.iter().all(|&number| number >= MOST_DOCUMENTS));
    }

    #[test]
    fn kept_and_removed_documents_are_live() {
        assert!(State::Kept.is_live());
        assert!(State::Removed { witness: 0, similarity: None }.is_live());
        assert!(!State::Deleted.is_live());
        assert!(!State::DeletedLeader.is_live());
    }

    fn state() -> impl Strategy<Value = State> {
        let removed = (0..MOST_DOCUMENTS, prop::option::of(0.0..=1.0f64))
            .prop_map(|(witness, similarity)| State::Removed { witness, similarity });
        prop_oneof![Just(State::Kept), Just(State::Deleted), Just(State::DeletedLeader), removed]
    }

    proptest! {
        #[test]
        fn any_row_and_change_is_read_as_it_was_written(
            (words, text, leader, id) in any::<(u32, u32, u32, u32)>(),
            (url, body_bytes, record) in any::<(u32, u32, u32)>(),
            (digest, names, body) in any::<(u128, u64, u64)>(),
            state in state(),
        ) {
            let row = Row { words, text, digest, leader, state, names, id, url, body, body_bytes, record };
            prop_assert_eq!(Row::decode(&row.encode()), row);
            let change = Change { number: words, state };
            prop_assert_eq!(Change::decode(&change.encode()), change);
        }
    }
}
