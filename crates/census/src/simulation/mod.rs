//! Simulated worlds of known size: libraries of pages, engines over parts of them, webs of links, fast and slow ones, servers at addresses.

pub mod copying;
pub mod engine;
pub mod library;
pub mod servers;
pub mod sites;
pub mod web;

pub use copying::{CopyingPlan, copying_web};
pub use engine::SimulatedEngine;
pub use library::Library;
pub use servers::Servers;
pub use sites::{Sites, SitesPlan};
pub use web::{Web, WebPlan};
