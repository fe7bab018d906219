//! Make-believe worlds whose size is known: libraries of pages, engines over parts of them, webs of links, servers at
//! addresses.

pub mod engine;
pub mod library;
pub mod servers;
pub mod web;

pub use engine::SimulatedEngine;
pub use library::Library;
pub use servers::Servers;
pub use web::{Web, WebPlan};
