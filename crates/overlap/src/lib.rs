//! The overlap of two corpora: shared addresses, and documents of one corpus that have near-duplicates in the other.
//!
//! The statistics of a study that looked for the judged pages of ClueWeb09 in ClueWeb12. All of it is arithmetic over lists
//! that are in memory: addresses, and pairs of a judged document and a similar one of the target corpus.
//!
//! ```
//! use lookalike_overlap::{Pair, transfer};
//!
//! let pairs = [(0, 7, 0.95), (0, 8, 0.4), (3, 7, 0.6)].map(|(judged, target, similarity)| Pair { judged, target, similarity });
//! assert_eq!(transfer::found(&pairs), [0, 3]);
//! let verdict = transfer::precision(&pairs, 0.9);
//! assert_eq!((verdict.near, verdict.found), (1, 2));
//! ```
//!
//! - [`address`]: addresses in normal form, their hosts, registered domains and top-level domains
//! - [`canonical`]: a form in which more addresses are one
//! - [`shared`]: documents whose address is in the other corpus
//! - [`domains`]: tables of hosts and of top-level domains
//! - [`transfer`]: judged documents found again, segment by segment and method by method
//! - [`forecast`]: the number expected in more segments
//! - [`histogram`]: similarities in bins
//! - [`ledger`]: the same counts over a stream of pairs
//! - [`persistence`]: pages that live on from snapshot to snapshot
//! - [`statistics`]: means, percentiles, a straight line
//! - [`interval`]: confidence intervals of shares

pub mod address;
pub mod canonical;
pub mod domains;
pub mod forecast;
pub mod histogram;
pub mod interval;
pub mod ledger;
pub mod persistence;
pub mod shared;
pub mod statistics;
pub mod transfer;

/// A judged document and a similar one of the target corpus.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pair {
    /// The number of the judged document.
    pub judged: u32,
    /// The number of the other.
    pub target: u32,
    /// Their similarity, from 0 to 1.
    pub similarity: f64,
}
