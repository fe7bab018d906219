//! Options of `serve`.

use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use lookalike_service::settings::MOST_DOCUMENTS;

use super::positive;

/// `serve`
#[derive(Debug, Args)]
pub struct ServeArgs {
    /// An index, or the folder of a finished dedup job
    #[arg(value_name = "DIR", required_unless_present = "probe")]
    pub folder: Option<PathBuf>,

    /// Address and port to listen on
    ///
    /// Port 0 is any free one. The address that was taken is printed. One that other machines can reach needs --token-file or --insecure.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8080")]
    pub address: SocketAddr,

    /// Ask the service that listens on --address whether it takes work, and end: with code 0 if it does
    ///
    /// For health checks of containers and supervisors. No token is needed.
    #[arg(long, conflicts_with = "folder")]
    pub probe: bool,

    /// Add and remove nothing, so that another process may
    ///
    /// Answers are of the moment at which the service started.
    #[arg(long)]
    pub read_only: bool,

    /// Wait for the disk: what was acknowledged survives power loss, too
    ///
    /// Without it they survive the end of the process, by kill -9 as well.
    #[arg(long, conflicts_with = "read_only")]
    pub sync: bool,

    /// File of tokens, one a line: only who has one comes in
    ///
    /// At least 16 characters each; blank lines and lines that begin with # are passed over. Programs send Authorization: Bearer
    /// TOKEN, people log in once at /login.
    #[arg(long, value_name = "FILE", help_heading = "Access")]
    pub token_file: Option<PathBuf>,

    /// Let everybody in who reaches the address, from wherever
    #[arg(long, conflicts_with = "token_file", help_heading = "Access")]
    pub insecure: bool,

    /// Longest body of a request, and longest line of a stream
    ///
    /// K and M stand for powers of 1024; at most 128M. Longer ones are answered with 413.
    #[arg(long, value_name = "SIZE", default_value = "16M", help_heading = "Limits", value_parser = lookalike::request::document_size)]
    pub max_body: usize,

    /// Most documents in one request; a stream of JSON lines has no such limit
    #[arg(long, value_name = "N", default_value = "1000", help_heading = "Limits", value_parser = documents)]
    pub max_documents: usize,

    /// Most requests at work at the same time; what comes beyond is answered with 429
    #[arg(long, value_name = "N", default_value = "32", help_heading = "Limits", value_parser = positive)]
    pub concurrency: NonZeroUsize,

    /// Time limit for a request to arrive and to wait for its turn
    ///
    /// In seconds, or with ms, s or m behind the number. Slower bodies are answered with 408.
    #[arg(long, value_name = "TIME", default_value = "30s", help_heading = "Limits", value_parser = duration)]
    pub timeout: Duration,

    /// Threads to work on; all cores by default
    #[arg(long, value_name = "N", help_heading = "Limits", value_parser = positive)]
    pub threads: Option<NonZeroUsize>,

    /// Log of requests on standard error: json, text or none
    ///
    /// The log never holds the text of documents, queries or tokens.
    #[arg(long, value_name = "FORMAT", default_value = "json", hide_possible_values = true)]
    pub log: LogArg,
}

impl ServeArgs {
    /// Number of threads.
    pub fn threads(&self) -> usize {
        super::threads(self.threads)
    }
}

/// The format of the request log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LogArg {
    /// One JSON object a line
    Json,
    /// Words for people
    Text,
    /// Nothing
    None,
}

fn documents(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| (1..=MOST_DOCUMENTS).contains(number));
    number.ok_or_else(|| format!("a whole number from 1 to {MOST_DOCUMENTS} is wanted"))
}

fn duration(text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let milliseconds = match &text[digits.len()..] {
        "ms" => Some(1),
        "" | "s" => Some(1000),
        "m" => Some(60_000),
        _ => None,
    };
    let number: Option<u64> = digits.parse().ok();
    let all = number.zip(milliseconds).and_then(|(number, unit)| number.checked_mul(unit));
    // Clocks do not reach for ever.
    let all = all.filter(|all| (1..=86_400_000).contains(all));
    all.map(Duration::from_millis).ok_or_else(|| "a time is wanted, such as 500ms, 30s or 5m".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        let milliseconds =
            ["500ms", "30s", "30", "5m"].map(|text| duration(text).map(|time| time.as_millis()));
        assert_eq!(milliseconds, [Ok(500), Ok(30_000), Ok(30_000), Ok(300_000)]);
        for wrong in ["", "s", "0", "5h", "-1s", "1.5s", "99999999999999999999s", "1440000m"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }
}
