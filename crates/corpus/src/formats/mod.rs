//! One file per format. Most have the same shape: a struct with a [`Stream`](crate::input::Stream), a
//! [`RecordCounter`](crate::record::RecordCounter) and the length of the record handed out last, which is dropped from the
//! window when the next one is asked for. To begin a new one, copy `trec.rs` for records in a file, `plain.rs` for files that are
//! documents, `parquet.rs` for columns of a file that is read from its end. Crawl files (`warc.rs`, `arc.rs`) share theirs in
//! `framing.rs`; Parquet and a table that is in memory (`rows.rs`) have no stream.

pub(crate) mod arc;
mod framing;
mod http;
pub(crate) mod jsonl;
pub(crate) mod mail;
pub(crate) mod mediawiki;
pub(crate) mod others;
#[cfg(feature = "parquet")]
pub(crate) mod parquet;
pub(crate) mod plain;
mod resync;
pub(crate) mod rows;
pub(crate) mod table;
#[cfg(test)]
pub(crate) mod testing;
pub(crate) mod trec;
pub(crate) mod warc;

pub(crate) use framing::push_text;
pub(crate) use resync::BYTE_ORDER_MARK;
