//! A census of pages that no one can count: how large an index is, how much two of them share, what a random page of the
//! web looks like, and how sure that is.
//!
//! Estimators are functions of samples; where a sample comes from is behind the small traits of [`engine`]. Every estimate
//! comes as an [`Estimate`], a number with its error. In [`simulation`] are worlds whose size is known, which show how
//! far off an estimator is.
//!
//! ```
//! use lookalike_census::relative_size::relative_size;
//!
//! // Half of the pages of A that were looked for are in B, and a sixth of those of B in A.
//! let ratio = relative_size((300, 600), (100, 600)).expect("both were seen");
//! assert!((ratio.value - 1.0 / 3.0).abs() < 1e-12 && ratio.covers(0.36));
//! ```
//!
//! Size of an index and what indexes share:
//! - [`lower_bound`]: what one query for frequent words counts
//! - [`query_sampling`], [`checking`]: pages of an engine by random queries (Bharat and Broder 1998), and whether
//!   another has them
//! - [`sightings`]: which engines have which of the sampled pages
//! - [`relative_size`], [`least_squares`], [`joint_coverage`]: sizes from overlaps
//! - [`absolute_size`]: from one published size to all others
//! - [`birthday`], [`capture_recapture`], [`species`]: sizes from repetitions
//! - [`result_ratios`]: sizes from result counts (Lawrence and Giles 1998)
//! - [`random_addresses`]: pages of a web from servers at random addresses
//! - [`query_pool`]: uniform pages and sizes by a pool of queries (Bar-Yossef and Gurevich 2006)
//! - [`pool_sums`]: sizes by sums over results (Broder and others 2006)
//!
//! Random pages of a web:
//! - [`henzinger_walk`]: follow links, jump back, weigh by visits or PageRank (Henzinger and others 2000)
//! - [`webwalker`]: a walk on a regular undirected graph (Bar-Yossef and others 2000)
//! - [`spectrum`]: how fast such a walk forgets where it began
//! - [`graph`]: webs that fit into memory, from files, and their bow tie
//! - [`walks`]: walks with many walkers, what they sample, how many pages there are, and whether to answer at all
//!
//! And:
//! - [`estimate`]: a number and how sure it is
//! - [`uniformity`]: how far a sample is from uniform
//! - [`engine`]: what an estimator may ask
//! - [`simulation`]: worlds whose size is known
//! - [`random`]: chance from a seed

pub mod absolute_size;
pub mod birthday;
pub mod capture_recapture;
pub mod checking;
pub mod engine;
pub mod estimate;
pub mod graph;
pub mod henzinger_walk;
pub mod joint_coverage;
pub mod least_squares;
pub mod lower_bound;
pub mod pool_sums;
pub mod query_pool;
pub mod query_sampling;
pub mod random;
pub mod random_addresses;
pub mod relative_size;
pub mod result_ratios;
pub mod sightings;
pub mod simulation;
pub mod species;
pub mod spectrum;
pub mod uniformity;
pub mod walks;
pub mod webwalker;

pub use estimate::Estimate;
pub use random::Random;

/// Why a sample cannot be drawn.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CensusError {
    /// A page has more neighbours than the regular graph allows.
    #[error(
        "page {page} has {neighbours} neighbours and the graph's degree is {degree}; choose a larger degree"
    )]
    Degree {
        /// The page.
        page: u32,
        /// Its neighbours.
        neighbours: usize,
        /// The degree of the graph.
        degree: u64,
    },
    /// No page to begin with can be fetched and has links.
    #[error("none of the {0} pages to begin with can be fetched and links to another; name others")]
    Start(usize),
    /// A web has more links than eigenvalues are worked out for.
    #[error("the graph has {links} links, and its gap is worked out for at most {most}; take a part of it")]
    TooLarge {
        /// Its links.
        links: u64,
        /// How many there may be.
        most: u64,
    },
}
