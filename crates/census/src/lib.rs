//! A census of pages that no one can count: the size of an index, the overlap of two of them, the properties of a random page of
//! the web, and the error of each estimate.
//!
//! Estimators are functions of samples; the source of a sample is behind the small traits of [`engine`]. Every estimate comes as an
//! [`Estimate`], a number with its error. [`simulation`] has worlds of known size, which show how far off an estimator is.
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
//! - [`lower_bound`]: the count of one query for frequent words
//! - [`query_sampling`], [`checking`]: pages of an engine by random queries (Bharat and Broder 1998), and whether
//!   another has them
//! - [`presence_records`]: the engines that have each of the sampled pages
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
//! - [`spectrum`]: the speed at which such a walk forgets its start
//! - [`graph`]: webs that fit into memory, from files, and their bow tie
//! - [`walks`]: walks with many walkers, the pages that they sample, the number of all pages, and the decision whether to answer at all
//!
//! And:
//! - [`estimate`]: a number with its error
//! - [`uniformity`]: the distance of a sample from uniform
//! - [`engine`]: the interfaces that an estimator asks through
//! - [`simulation`]: worlds of known size
//! - [`random`]: pseudo-random draws from a seed

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
pub mod presence_records;
pub mod query_pool;
pub mod query_sampling;
pub mod random;
pub mod random_addresses;
pub mod relative_size;
pub mod result_ratios;
pub mod simulation;
pub mod species;
pub mod spectrum;
pub mod uniformity;
pub mod walks;
pub mod webwalker;

pub use estimate::Estimate;
pub use random::Random;

/// The reason why a sample cannot be drawn.
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
        /// The largest number of links.
        most: u64,
    },
}
