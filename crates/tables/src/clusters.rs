//! `clusters`: kept documents with those that were removed for them, by the number of the kept one.

use serde::de::{IgnoredAny, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

table! {
    /// A cluster of two or more documents.
    pub struct ClusterRow in "clusters", read as ClusterLine {
        /// The number of the cluster, which is that of its kept document.
        cluster: U64,
        /// The id of the kept document.
        keep: Text,
        /// The ids of all documents of the cluster, the kept one among them.
        members: ListOfText,
        /// Their numbers, in the same order.
        members_n: ListOfU64,
        /// The place of a kept document outside the input: `other` for the other corpus, `index` for the index.
        against: OptionalText omit_if_none,
    }
}

/// The numbers of a line of `clusters.jsonl`, read without its ids.
#[derive(Debug, Deserialize)]
pub struct ClusterNumbers {
    /// The number of the cluster.
    pub cluster: u64,
    /// The numbers of the members.
    pub members_n: Vec<u64>,
    /// Present when the kept document is outside the input.
    #[serde(default)]
    pub against: Option<IgnoredAny>,
}

/// The number and the size of a line of `clusters.jsonl`, read without keeping its lists.
#[derive(Debug, Deserialize)]
pub struct ClusterSize {
    /// The number of the cluster.
    pub cluster: u32,
    /// The numbers of the members, counted.
    pub members_n: ListLength,
    /// Present when the kept document is outside the input.
    #[serde(default)]
    pub against: Option<IgnoredAny>,
}

/// The length of a list that is not kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListLength(pub u32);

impl<'de> Deserialize<'de> for ListLength {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct LengthVisitor;
        impl<'de> Visitor<'de> for LengthVisitor {
            type Value = ListLength;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a list")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<ListLength, A::Error> {
                let mut count = 0;
                while list.next_element::<IgnoredAny>()?.is_some() {
                    count += 1;
                }
                Ok(ListLength(count))
            }
        }
        from.deserialize_seq(LengthVisitor)
    }
}
