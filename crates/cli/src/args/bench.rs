//! Options of what measures the program itself.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{positive, whole};

/// The commands that measure.
#[derive(Debug, Subcommand)]
pub enum BenchCommand {
    /// Send generated documents to a running service, and say how fast and how right it answers
    ///
    /// Each client sends one document after the other to /v1/documents and waits for the answer. One request in ten sends a document
    /// again that was acknowledged before, under another id: the answer must not be "new". With a list of what was acknowledged, a later
    /// --check asks for all of it.
    Serve(BenchServeArgs),
}

/// `bench serve`
#[derive(Debug, Args)]
pub struct BenchServeArgs {
    /// Address and port of the service, such as 127.0.0.1:8080
    #[arg(value_name = "ADDRESS")]
    pub address: String,

    /// Clients that send at the same time
    #[arg(long, value_name = "N", default_value = "8", value_parser = positive)]
    pub clients: NonZeroUsize,

    /// Seconds for which requests are sent
    #[arg(long, value_name = "N", default_value = "10", value_parser = whole)]
    pub seconds: u64,

    /// Send at most N requests
    #[arg(long, value_name = "N", value_parser = whole)]
    pub requests: Option<u64>,

    /// Seed of the generated documents, and part of their ids
    #[arg(long, value_name = "N", default_value = "1", value_parser = whole)]
    pub seed: u64,

    /// File with the token of the service
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,

    /// Send a request again for up to N seconds when the service goes away
    #[arg(long, value_name = "N", default_value = "0", value_parser = whole)]
    pub patience: u64,

    /// Write the ids of acknowledged documents to this file, one a line
    #[arg(long, value_name = "FILE")]
    pub acknowledged: Option<PathBuf>,

    /// Send nothing, and ask for every document of this list of ids
    #[arg(long, value_name = "FILE", conflicts_with_all = ["acknowledged", "seconds", "requests", "seed"])]
    pub check: Option<PathBuf>,

    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}
