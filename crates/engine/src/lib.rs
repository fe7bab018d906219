//! engine
pub mod error;
pub mod measure;
mod store;
pub use error::EngineError;
