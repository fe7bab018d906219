//! Numbers of documents, of their places in the input, of nodes and of classes: each a type of its own, so that none is taken for
//! another.
//!
//! Numbers are 32 bits wide. The highest is no number of anything ([`DocNumber::MOST`]), so that code that must save memory can
//! use it for "none".
//!
//! ```
//! use lookalike_model::{ClassId, DocNumber};
//!
//! let document = DocNumber::new(7);
//! assert_eq!((document.get(), document.index()), (7, 7));
//! assert_eq!(ClassId::led_by(document).leader(), document);
//! ```

use std::fmt;
use std::ops::{Add, AddAssign, Sub};

use serde::{Deserialize, Serialize};

/// Declares numbers of 32 bits that cannot be mixed up.
macro_rules! numbers {
    ($($(#[$about:meta])* $name:ident;)*) => { $(
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
        #[serde(transparent)]
        #[repr(transparent)]
        pub struct $name(u32);

        impl $name {
            /// A bound that all numbers are below.
            pub const MOST: Self = $name(u32::MAX);

            /// The number as a type.
            #[inline]
            pub const fn new(number: u32) -> Self {
                $name(number)
            }

            /// The number alone, for files and arithmetic.
            #[inline]
            pub const fn get(self) -> u32 {
                self.0
            }

            /// The number as an index of lists with an entry for each.
            #[inline]
            pub const fn index(self) -> usize {
                self.0 as usize
            }

            /// The number of an entry of such a list, which has fewer than [`Self::MOST`].
            #[inline]
            pub const fn from_index(index: usize) -> Self {
                debug_assert!(index < u32::MAX as usize);
                $name(index as u32)
            }

            /// The number as a file has it.
            #[inline]
            pub const fn to_le_bytes(self) -> [u8; 4] {
                self.0.to_le_bytes()
            }

            /// The number from the first four bytes of a record.
            ///
            /// # Panics
            /// When there are fewer.
            #[inline]
            pub fn from_le_bytes(bytes: &[u8]) -> Self {
                $name(u32::from_le_bytes(bytes[..4].try_into().expect("four bytes")))
            }

            /// All numbers from `first` on, below `end`.
            #[inline]
            pub fn range(first: u32, end: u32) -> impl DoubleEndedIterator<Item = Self> + ExactSizeIterator + Clone {
                (first..end).map($name)
            }
        }

        impl Add<u32> for $name {
            type Output = Self;

            #[inline]
            fn add(self, count: u32) -> Self {
                $name(self.0 + count)
            }
        }

        impl AddAssign<u32> for $name {
            #[inline]
            fn add_assign(&mut self, count: u32) {
                self.0 += count;
            }
        }

        /// The distance of two numbers, of which the second is the lower one.
        impl Sub for $name {
            type Output = u32;

            #[inline]
            fn sub(self, first: Self) -> u32 {
                self.0 - first.0
            }
        }

        impl From<$name> for u64 {
            #[inline]
            fn from(number: $name) -> u64 {
                number.0.into()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    )* };
}

numbers! {
    /// The number of a document within a job or an index, counted from 0, rejected records included.
    ///
    /// Documents that are only there to be compared with have the lowest numbers. Numbers follow the order of the input, or that of
    /// a field, and never the order in which threads happened to finish.
    DocNumber;

    /// The place of a document in the input of a job, counted from 0 over the corpus to compare with and then the input, rejected
    /// records included.
    ///
    /// It equals the [`DocNumber`], unless documents are ordered by a field.
    InputPlace;

    /// A node among those that are decided together: the documents of one class, which have the same neighbours.
    ///
    /// Nodes are numbered anew in every part of a bucket.
    NodeId;

    /// A class of documents with equal words, known by its first document, which stands for the others.
    ClassId;
}

impl ClassId {
    /// The class whose first document is `leader`.
    #[inline]
    pub const fn led_by(leader: DocNumber) -> Self {
        ClassId(leader.0)
    }

    /// Its first document.
    #[inline]
    pub const fn leader(self) -> DocNumber {
        DocNumber(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_take_the_memory_of_what_they_hold() {
        let sizes =
            [size_of::<DocNumber>(), size_of::<InputPlace>(), size_of::<NodeId>(), size_of::<ClassId>()];
        assert_eq!(sizes, [4; 4]);
    }

    #[test]
    fn numbers_are_indexes_and_come_back_from_them() {
        for number in [0, 1, 70_000, u32::MAX - 1] {
            let document = DocNumber::new(number);
            assert_eq!((document.get(), document.index()), (number, number as usize));
            assert_eq!(DocNumber::from_index(document.index()), document);
            assert_eq!(u64::from(document), u64::from(number));
            assert!(document < DocNumber::MOST);
        }
    }

    #[test]
    fn numbers_order_as_what_they_hold() {
        assert!(NodeId::new(2) < NodeId::new(10));
        assert_eq!((NodeId::new(2) + 8, NodeId::new(10) - NodeId::new(2)), (NodeId::new(10), 8));
        assert_eq!(NodeId::range(3, 6).map(NodeId::get).collect::<Vec<_>>(), [3, 4, 5]);
    }

    #[test]
    fn numbers_are_written_without_their_type() {
        let place = InputPlace::new(0x0403_0201);
        assert_eq!(place.to_le_bytes(), [1, 2, 3, 4]);
        assert_eq!(InputPlace::from_le_bytes(&[1, 2, 3, 4, 5]), place);
        assert_eq!(serde_json::to_string(&DocNumber::new(7)).unwrap(), "7");
        assert_eq!(serde_json::from_str::<DocNumber>("7").unwrap(), DocNumber::new(7));
        assert_eq!(format!("{:>3}", DocNumber::new(7)), "  7");
    }

    #[test]
    fn a_class_is_known_by_its_first_document() {
        let class = ClassId::led_by(DocNumber::new(5));
        assert_eq!((class.get(), class.leader()), (5, DocNumber::new(5)));
    }
}
