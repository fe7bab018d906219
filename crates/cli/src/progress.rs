//! Progress: a bar on a terminal, plain lines elsewhere, lines of JSON for other programs.

use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use clap::ValueEnum;
use indicatif::{ProgressBar, ProgressStyle};
pub use lookalike::report::thousands;
use lookalike::walk::Watch;

use crate::console::{is_quiet, print_line};

const PLAIN_INTERVAL: Duration = Duration::from_secs(10);
const JSON_INTERVAL: Duration = Duration::from_secs(1);

/// The display of progress.
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
    /// An unknown amount: standard input.
    Unknown,
}

impl Progress {
    /// Begins to show what `watch` tells.
    pub fn show(style: Style, total: Total, watch: &Arc<Watch>) -> Self {
        if style == Style::None || is_quiet() {
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
    let meter = Meter::new(total);
    let plain = || print_line(sentence(&meter.read(watch)));
    match style {
        Style::None => {}
        Style::Auto if std::io::stderr().is_terminal() => bar(total, watch, ended),
        // Work that is over in a moment needs no words, unless they were asked for.
        Style::Auto => lines(PLAIN_INTERVAL, ended, plain),
        Style::Plain => {
            lines(PLAIN_INTERVAL, ended, plain);
            plain();
        }
        Style::Json => {
            let json = || print_line(json(&meter.read(watch)));
            lines(JSON_INTERVAL, ended, json);
            json();
        }
    }
}

/// Calls `show` once every `interval` until the work is done.
fn lines(interval: Duration, ended: &mpsc::Receiver<()>, show: impl Fn()) {
    while let Err(RecvTimeoutError::Timeout) = ended.recv_timeout(interval) {
        show();
    }
}

fn bar(total: Total, watch: &Watch, ended: &mpsc::Receiver<()>) {
    let bar = ProgressBar::no_length();
    let meter = Meter::new(total);
    let mut shown = None;
    loop {
        let state = ended.recv_timeout(Duration::from_millis(100));
        let status = meter.read(watch);
        let shape = (status.stage, status.unit, status.total);
        if shown != Some(shape) {
            shown = Some(shape);
            set_bar_style(&bar, &status);
        }
        bar.set_position(status.done);
        let documents = status.unit == Unit::Bytes && status.documents > 0;
        bar.set_message(if documents {
            format!("{} documents", thousands(status.documents))
        } else {
            String::new()
        });
        if state != Err(RecvTimeoutError::Timeout) {
            break;
        }
    }
    bar.finish_and_clear();
}

/// Sets the template, prefix and length of a bar for the stage that begins.
fn set_bar_style(bar: &ProgressBar, status: &Status) {
    let known = status.total.is_some();
    let template = match (status.unit, known) {
        (Unit::Bytes, true) => {
            "{prefix}{bar:30} {percent:>3} %  {bytes}/{total_bytes}  {bytes_per_sec}  {msg}  {eta} left"
        }
        (Unit::Bytes, false) => "{prefix}{spinner} {bytes}  {bytes_per_sec}  {msg}  {elapsed}",
        (Unit::Documents, _) => {
            "{prefix}{bar:30} {percent:>3} %  {human_pos}/{human_len} documents  {per_sec}  {eta} left"
        }
        (Unit::Steps, true) => "{prefix}{bar:30} {percent:>3} %  {eta} left",
        (Unit::Steps, false) => "{prefix}{spinner} {elapsed}",
    };
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    let run = status.run.map_or_else(String::new, |(at, all)| format!("{at}/{all} "));
    bar.set_prefix(run + &status.stage.map_or_else(String::new, |stage| format!("{stage:<9}")));
    match status.total {
        Some(total) => bar.set_length(total),
        None => bar.unset_length(),
    }
    bar.reset();
}

/// Reads the watch, and knows when the work began.
struct Meter {
    total: Total,
    begin: Instant,
}

/// The unit in which progress is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unit {
    Bytes,
    Documents,
    Steps,
}

/// The state of a running piece of work.
#[derive(Debug, Clone, Copy)]
struct Status {
    seconds: f64,
    /// Of the stage, where there are several.
    stage_seconds: f64,
    stage: Option<&'static str>,
    /// The number of the run and of all runs, where there are several.
    run: Option<(u64, u64)>,
    unit: Unit,
    done: u64,
    total: Option<u64>,
    documents: u64,
    bytes: u64,
}

impl Meter {
    fn new(total: Total) -> Self {
        Meter { total, begin: Instant::now() }
    }

    fn read(&self, watch: &Watch) -> Status {
        let stage = watch.stage();
        let elapsed = self.begin.elapsed();
        let documents = watch.documents.load(Ordering::Relaxed);
        let bytes = watch.bytes.load(Ordering::Relaxed);
        let (unit, done, total) = match (stage, self.total) {
            (Some((stage, _)), _) if stage.reads => (Unit::Bytes, bytes, stage.total),
            (Some((stage, _)), _) => (Unit::Steps, watch.steps.load(Ordering::Relaxed), stage.total),
            (None, Total::Bytes(all)) => (Unit::Bytes, bytes, Some(all)),
            (None, Total::Documents(all)) => (Unit::Documents, documents, Some(all)),
            (None, Total::Unknown) => (Unit::Bytes, bytes, None),
        };
        Status {
            seconds: elapsed.as_secs_f64(),
            stage_seconds: stage.map_or(elapsed, |(_, since)| since).as_secs_f64(),
            stage: stage.map(|(stage, _)| stage.name),
            run: watch.run(),
            unit,
            done,
            total,
            documents,
            bytes,
        }
    }
}

impl Status {
    fn share(&self) -> Option<f64> {
        self.total.filter(|&total| total > 0).map(|total| (self.done as f64 / total as f64).min(1.0))
    }

    /// Of the stage, where there are several.
    fn seconds_left(&self) -> Option<f64> {
        self.share().filter(|&share| share > 0.0).map(|share| self.stage_seconds * (1.0 - share) / share)
    }
}

fn sentence(status: &Status) -> String {
    let mut line = status.run.map_or_else(String::new, |(at, all)| format!("run {at} of {all}, "));
    line += &status.stage.map_or_else(String::new, |stage| format!("{stage}: "));
    if status.unit == Unit::Steps && status.done == 0 && status.total.is_none() {
        line.push_str("no count yet");
    } else if status.unit == Unit::Steps {
        line.push_str(&format!("{} {}", thousands(status.done), steps(status.stage)));
    } else {
        line.push_str(&format!(
            "{} documents, {:.1} MB read, {:.0} documents/s",
            thousands(status.documents),
            status.bytes as f64 / 1e6,
            status.documents as f64 / status.stage_seconds.max(0.001)
        ));
    }
    if let (Some(share), Some(left)) = (status.share(), status.seconds_left()) {
        line.push_str(&format!(", {:.0} % done, {} left", share * 100.0, duration(left)));
    }
    line
}

/// The steps of a stage, by name.
fn steps(stage: Option<&str>) -> &'static str {
    match stage {
        Some("verify") => "candidate pairs",
        Some("group") => "postings",
        Some("collapse") => "documents",
        Some("order") => "documents and postings",
        Some("write") => "pairs sorted or written",
        _ => "steps",
    }
}

fn json(status: &Status) -> String {
    let mut line = serde_json::json!({
        "seconds": (status.seconds * 10.0).round() / 10.0,
        "documents": status.documents,
        "bytes": status.bytes,
        "share": status.share(),
        "seconds_left": status.seconds_left().map(f64::round),
    });
    if let Some(stage) = status.stage {
        line["stage"] = stage.into();
    }
    if let Some((at, all)) = status.run {
        line["run"] = at.into();
        line["runs"] = all.into();
    }
    line.to_string()
}

/// `4:05` or `1:04:05`.
fn duration(seconds: f64) -> String {
    let seconds = seconds.round() as u64;
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    if hours > 0 { format!("{hours}:{minutes:02}:{seconds:02}") } else { format!("{minutes}:{seconds:02}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!([5.0, 245.4, 3845.0].map(duration), ["0:05", "4:05", "1:04:05"]);
    }

    #[test]
    fn the_share_done_tells_the_time_left() {
        let status = Status {
            seconds: 30.0,
            stage_seconds: 30.0,
            stage: None,
            run: None,
            unit: Unit::Bytes,
            done: 25,
            total: Some(100),
            documents: 0,
            bytes: 25,
        };
        assert_eq!(status.seconds_left(), Some(90.0));
        assert_eq!(Status { done: 0, ..status }.seconds_left(), None);
    }
}
