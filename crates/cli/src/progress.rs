//! Progress: a bar on a terminal, plain lines elsewhere, lines of JSON for other programs.

use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use clap::ValueEnum;
use indicatif::{ProgressBar, ProgressStyle};
use lookalike::walk::Watch;

use crate::console::tell;

const PLAIN_INTERVAL: Duration = Duration::from_secs(10);
const JSON_INTERVAL: Duration = Duration::from_secs(1);

/// How progress is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Style {
    /// A bar on a terminal; elsewhere a line every ten seconds
    Auto,
    /// A line every ten seconds, and one at the end
    Plain,
    /// A line of JSON every second, and one at the end
    Json,
    /// Nothing
    None,
}

/// Shows the progress of a piece of work on standard error until it is dropped.
pub struct Progress {
    /// Dropping it tells the thread to end.
    done: Option<mpsc::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// The full amount of work, in the unit that tells best how much is left.
#[derive(Debug, Clone, Copy)]
pub enum Total {
    /// Bytes of the input, before decompression.
    Bytes(u64),
    /// Documents to make.
    Documents(u64),
    /// Nobody knows: standard input.
    Unknown,
}

impl Progress {
    /// Begins to show what `watch` tells.
    pub fn show(style: Style, total: Total, watch: &Arc<Watch>) -> Self {
        if style == Style::None {
            return Progress { done: None, thread: None };
        }
        let (done, ended) = mpsc::channel();
        let watch = watch.clone();
        let thread = std::thread::spawn(move || display(style, total, &watch, &ended));
        Progress { done: Some(done), thread: Some(thread) }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.done.take();
        if let Some(thread) = self.thread.take() {
            // A broken progress display must not hide the result of the work.
            let _ = thread.join();
        }
    }
}

fn display(style: Style, total: Total, watch: &Watch, ended: &mpsc::Receiver<()>) {
    let plain = |begin| tell(sentence(begin, total, watch));
    match style {
        Style::None => {}
        Style::Auto if std::io::stderr().is_terminal() => bar(total, watch, ended),
        // Work that is over in a moment needs no words, unless they were asked for.
        Style::Auto => drop(lines(PLAIN_INTERVAL, ended, plain)),
        Style::Plain => plain(lines(PLAIN_INTERVAL, ended, plain)),
        Style::Json => {
            let json = |begin| tell(json(begin, total, watch));
            json(lines(JSON_INTERVAL, ended, json));
        }
    }
}

/// Calls `show` once every `interval` until the work is done; returns when the work began.
fn lines(interval: Duration, ended: &mpsc::Receiver<()>, show: impl Fn(Instant)) -> Instant {
    let begin = Instant::now();
    while let Err(RecvTimeoutError::Timeout) = ended.recv_timeout(interval) {
        show(begin);
    }
    begin
}

fn bar(total: Total, watch: &Watch, ended: &mpsc::Receiver<()>) {
    let (bar, template) = match total {
        Total::Bytes(bytes) => (
            ProgressBar::new(bytes),
            "{bar:30} {percent:>3} %  {bytes}/{total_bytes}  {bytes_per_sec}  {msg}  {eta} left",
        ),
        Total::Documents(documents) => (
            ProgressBar::new(documents),
            "{bar:30} {percent:>3} %  {human_pos}/{human_len} documents  {per_sec}  {eta} left",
        ),
        Total::Unknown => (ProgressBar::no_length(), "{spinner} {bytes}  {bytes_per_sec}  {msg}  {elapsed}"),
    };
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    loop {
        let state = ended.recv_timeout(Duration::from_millis(100));
        let documents = watch.documents.load(Ordering::Relaxed);
        match total {
            Total::Documents(_) => bar.set_position(documents),
            _ => {
                bar.set_position(watch.bytes.load(Ordering::Relaxed));
                bar.set_message(format!("{} documents", thousands(documents)));
            }
        }
        if state != Err(RecvTimeoutError::Timeout) {
            break;
        }
    }
    bar.finish_and_clear();
}

/// What is known of a running piece of work.
struct Reading {
    seconds: f64,
    documents: u64,
    bytes: u64,
    share: Option<f64>,
}

impl Reading {
    fn take(begin: Instant, total: Total, watch: &Watch) -> Self {
        let documents = watch.documents.load(Ordering::Relaxed);
        let bytes = watch.bytes.load(Ordering::Relaxed);
        let share = match total {
            Total::Bytes(all) if all > 0 => Some(bytes as f64 / all as f64),
            Total::Documents(all) if all > 0 => Some(documents as f64 / all as f64),
            _ => None,
        };
        let share = share.map(|share| share.min(1.0));
        Reading { seconds: begin.elapsed().as_secs_f64(), documents, bytes, share }
    }

    fn seconds_left(&self) -> Option<f64> {
        self.share.filter(|&share| share > 0.0).map(|share| self.seconds * (1.0 - share) / share)
    }
}

fn sentence(begin: Instant, total: Total, watch: &Watch) -> String {
    let reading = Reading::take(begin, total, watch);
    let mut line = format!(
        "{} documents, {:.1} MB read, {:.0} documents/s",
        thousands(reading.documents),
        reading.bytes as f64 / 1e6,
        reading.documents as f64 / reading.seconds.max(0.001)
    );
    if let (Some(share), Some(left)) = (reading.share, reading.seconds_left()) {
        line.push_str(&format!(", {:.0} % done, {} left", share * 100.0, duration(left)));
    }
    line
}

fn json(begin: Instant, total: Total, watch: &Watch) -> String {
    let reading = Reading::take(begin, total, watch);
    serde_json::json!({
        "seconds": (reading.seconds * 10.0).round() / 10.0,
        "documents": reading.documents,
        "bytes": reading.bytes,
        "share": reading.share,
        "seconds_left": reading.seconds_left().map(f64::round),
    })
    .to_string()
}

/// `4:05` or `1:04:05`.
fn duration(seconds: f64) -> String {
    let seconds = seconds.round() as u64;
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    if hours > 0 { format!("{hours}:{minutes:02}:{seconds:02}") } else { format!("{minutes}:{seconds:02}") }
}

/// `1,234,567`.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() * 4 / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(thousands), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([5.0, 245.4, 3845.0].map(duration), ["0:05", "4:05", "1:04:05"]);
    }

    #[test]
    fn the_share_done_tells_the_time_left() {
        let reading = Reading { seconds: 30.0, documents: 0, bytes: 0, share: Some(0.25) };
        assert_eq!(reading.seconds_left(), Some(90.0));
        assert_eq!(Reading { share: Some(0.0), ..reading }.seconds_left(), None);
    }
}
