//! Settings of a service.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::auth::Tokens;

/// Longest id in bytes.
pub(crate) const LONGEST_ID: usize = 1024;
/// Most matches that a query may ask for.
pub(crate) const MOST_MATCHES: usize = 1000;
/// Matches that a query gets by default.
pub(crate) const MATCHES: usize = 10;
/// Most rows of a list in one answer.
pub(crate) const MOST_ROWS: usize = 1000;
/// Rows of a list by default.
pub(crate) const ROWS: usize = 50;
/// No option allows more documents in one request.
pub const MOST_DOCUMENTS: usize = 100_000;

/// The format of log lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LogFormat {
    /// One JSON object a line.
    #[default]
    Json,
    /// Text for people.
    Text,
    /// No log.
    None,
}

/// The function that writes a log line.
pub type LogSink = Arc<dyn Fn(&str) + Send + Sync>;

/// Settings of a service.
#[derive(Clone)]
pub struct Settings {
    /// The tokens that give access; none if no token is needed.
    pub tokens: Option<Tokens>,
    /// True if access without a token is allowed from other machines, by explicit request.
    pub insecure: bool,
    /// Longest body of a request, and longest line of a stream, in bytes.
    pub max_body: usize,
    /// Most documents of a request that is no stream; at most [`MOST_DOCUMENTS`].
    pub max_documents: usize,
    /// Most requests at work at the same time.
    pub concurrency: usize,
    /// The time limit for a request to arrive, for its wait in the queue, and for its answer when the service ends.
    pub timeout: Duration,
    /// Worker threads.
    pub threads: usize,
    /// The format of log lines.
    pub log: LogFormat,
    /// Writes the log lines.
    pub log_sink: LogSink,
}

impl Default for Settings {
    /// Settings for this machine alone, without a log.
    fn default() -> Self {
        Settings {
            tokens: None,
            insecure: false,
            max_body: 16 << 20,
            max_documents: 1000,
            concurrency: 32,
            timeout: Duration::from_secs(30),
            threads: std::thread::available_parallelism().map_or(1, |cores| cores.get()),
            log: LogFormat::None,
            log_sink: Arc::new(|_| {}),
        }
    }
}

impl Settings {
    /// Connections that are held at the same time: those at work, and some that wait or idle for each.
    pub(crate) fn connections(&self) -> usize {
        (8 * self.concurrency).clamp(256, 4096)
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
            .field("tokens", &self.tokens)
            .field("insecure", &self.insecure)
            .field("max_body", &self.max_body)
            .field("max_documents", &self.max_documents)
            .field("concurrency", &self.concurrency)
            .field("timeout", &self.timeout)
            .field("threads", &self.threads)
            .field("log", &self.log)
            .finish_non_exhaustive()
    }
}
