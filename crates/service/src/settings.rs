//! How a service runs.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::auth::Tokens;

/// Longest id in bytes.
pub(crate) const LONGEST_ID: usize = 1024;
/// Most matches that a query may ask for.
pub(crate) const MOST_MATCHES: usize = 1000;
/// Matches that a query gets if it does not say.
pub(crate) const MATCHES: usize = 10;
/// Most rows of a list in one answer.
pub(crate) const MOST_ROWS: usize = 1000;
/// Rows of a list if nobody says.
pub(crate) const ROWS: usize = 50;
/// No option allows more documents in one request.
pub const MOST_DOCUMENTS: usize = 100_000;

/// How lines about requests look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LogFormat {
    /// One JSON object a line.
    #[default]
    Json,
    /// Words for people.
    Text,
    /// Nothing is said.
    None,
}

/// Takes a line about a request.
pub type Teller = Arc<dyn Fn(&str) + Send + Sync>;

/// How a service runs.
#[derive(Clone)]
pub struct Settings {
    /// Who may come in; nobody is asked without.
    pub tokens: Option<Tokens>,
    /// Everybody may come in from everywhere, as somebody said in so many words.
    pub insecure: bool,
    /// Longest body of a request, and longest line of a stream, in bytes.
    pub max_body: usize,
    /// Most documents of a request that is no stream; at most [`MOST_DOCUMENTS`].
    pub max_documents: usize,
    /// Most requests at work at the same time.
    pub concurrency: usize,
    /// How long a request may take to arrive, wait for its turn, and be answered when the service ends.
    pub timeout: Duration,
    /// Threads that work.
    pub threads: usize,
    /// How lines about requests look.
    pub log: LogFormat,
    /// Takes these lines.
    pub tell: Teller,
}

impl Default for Settings {
    /// For this machine alone, silent.
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
            tell: Arc::new(|_| {}),
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
