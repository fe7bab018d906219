//! Documents go back to disk.

#[cfg(feature = "parquet")]
pub mod parquet;
