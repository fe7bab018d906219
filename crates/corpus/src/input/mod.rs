//! From a file, standard input or an object store to a window of uncompressed bytes.
//!
//! - `object`: objects in a store, listed and read by ranges
//! - [`replay`]: compressed bytes that can be read again, so that damage can be stepped over
//! - [`compression`]: which kinds there are, and where a member of one may begin
//! - [`refusal`]: sound files that cannot be read all the same
//! - [`window`]: memory that a member asks for
//! - [`decoder`]: one member, uncompressed
//! - [`members`]: gzip, zstd, bzip2, xz and lz4, member by member
//! - [`stream`]: the window that every format reads from

pub(crate) mod compression;
mod decoder;
pub(crate) mod members;
#[cfg(feature = "object-store")]
pub(crate) mod object;
pub(crate) mod refusal;
pub(crate) mod replay;
pub(crate) mod stream;
pub(crate) mod window;

pub(crate) use compression::Compression;
pub(crate) use refusal::Refusal;
pub(crate) use replay::Replay;
pub(crate) use stream::{SearchResult, Stream};

/// The result of one attempt to read.
#[derive(Debug)]
pub(crate) enum Chunk {
    /// This number of bytes.
    Bytes(usize),
    /// Nothing more will come.
    End,
    /// The data are damaged here, for this reason; what comes next stands behind the damage.
    Fault(String),
    /// The same, and the bytes before are not to be trusted either: their checksum is wrong.
    Corrupt(String),
}

/// Uncompressed bytes, with damage in the compressed data made visible.
pub(crate) trait Source: Send {
    /// Reads into `out`, which is not empty.
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<Chunk>;
}
