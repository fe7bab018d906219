//! Figures for Prometheus, in its text format.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use lookalike::engine::job::resident_memory;

/// Upper bounds of the histogram's buckets, in seconds.
const BOUNDS: [f64; 13] = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0];

/// The answers to the requests of one address and method: their number by status, and their durations.
#[derive(Debug, Default)]
struct AnswerStats {
    by_status: BTreeMap<u16, u64>,
    /// The last one is for durations above all bounds.
    buckets: [u64; BOUNDS.len() + 1],
    seconds: f64,
}

/// The limit by which a request was refused before it was processed.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Limit {
    Busy,
    Body,
    Documents,
    Slow,
    Tries,
    Connections,
}

const LIMITS: [(Limit, &str); 6] = [
    (Limit::Busy, "concurrency"),
    (Limit::Body, "body"),
    (Limit::Documents, "documents"),
    (Limit::Slow, "slow"),
    (Limit::Tries, "login"),
    (Limit::Connections, "connections"),
];

/// All counters.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    /// By method and address; both from a fixed list, so that nobody can make it grow.
    answers: Mutex<BTreeMap<(&'static str, String), AnswerStats>>,
    in_flight: AtomicU64,
    limits: [AtomicU64; LIMITS.len()],
    pub(crate) queries: AtomicU64,
    pub(crate) new: AtomicU64,
    pub(crate) duplicate: AtomicU64,
    pub(crate) known: AtomicU64,
    pub(crate) removed: AtomicU64,
}

/// Counts a request while it is there.
pub(crate) struct InFlightGuard<'m>(&'m Metrics);

impl Drop for InFlightGuard<'_> {
    fn drop(&mut self) {
        self.0.in_flight.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Adds to a counter.
pub(crate) fn add(counter: &AtomicU64, number: u64) {
    counter.fetch_add(number, Ordering::Relaxed);
}

impl Metrics {
    pub(crate) fn begin(&self) -> InFlightGuard<'_> {
        add(&self.in_flight, 1);
        InFlightGuard(self)
    }

    pub(crate) fn refused(&self, limit: Limit) {
        add(&self.limits[limit as usize], 1);
    }

    pub(crate) fn answered(&self, method: &'static str, route: &str, status: u16, took: Duration) {
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        let answers = answers.entry((method, route.to_owned())).or_default();
        *answers.by_status.entry(status).or_default() += 1;
        let seconds = took.as_secs_f64();
        answers.buckets[BOUNDS.partition_point(|bound| *bound < seconds)] += 1;
        answers.seconds += seconds;
    }

    /// Everything, with `gauges` of what is served.
    pub(crate) fn text(&self, gauges: &[(&str, &str, u64)]) -> String {
        let mut out = String::new();
        self.write_answers(&mut out);
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        gauge(&mut out, "lookalike_requests_in_flight", "Requests under way", get(&self.in_flight));
        head(&mut out, "lookalike_refused_total", "counter", "Requests refused by a limit");
        for (limit, name) in LIMITS {
            let count = get(&self.limits[limit as usize]);
            let _ = writeln!(out, "lookalike_refused_total{{limit=\"{name}\"}} {count}");
        }
        head(&mut out, "lookalike_verdicts_total", "counter", "Documents added, by verdict");
        for (name, counter) in [("new", &self.new), ("duplicate", &self.duplicate), ("known", &self.known)] {
            let _ = writeln!(out, "lookalike_verdicts_total{{verdict=\"{name}\"}} {}", get(counter));
        }
        counter(&mut out, "lookalike_queries_total", "Texts asked about", get(&self.queries));
        counter(&mut out, "lookalike_documents_removed_total", "Documents removed by id", get(&self.removed));
        for (name, help, value) in gauges {
            gauge(&mut out, name, help, *value);
        }
        if let Some(bytes) = resident_memory() {
            gauge(&mut out, "process_resident_memory_bytes", "Memory of the process", bytes);
        }
        out
    }

    fn write_answers(&self, out: &mut String) {
        let all = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        head(out, "lookalike_requests_total", "counter", "Requests answered, by route and status");
        for ((method, route), answers) in all.iter() {
            for (status, count) in &answers.by_status {
                let labels = format!("method=\"{method}\",route=\"{route}\",status=\"{status}\"");
                let _ = writeln!(out, "lookalike_requests_total{{{labels}}} {count}");
            }
        }
        let name = "lookalike_request_seconds";
        head(out, name, "histogram", "Time until the answer began");
        for ((method, route), answers) in all.iter() {
            let labels = format!("method=\"{method}\",route=\"{route}\"");
            let mut sum = 0;
            for (index, count) in answers.buckets.iter().enumerate() {
                sum += count;
                let bound = BOUNDS.get(index).map_or("+Inf".to_owned(), f64::to_string);
                let _ = writeln!(out, "{name}_bucket{{{labels},le=\"{bound}\"}} {sum}");
            }
            let _ = writeln!(out, "{name}_sum{{{labels}}} {}", answers.seconds);
            let _ = writeln!(out, "{name}_count{{{labels}}} {sum}");
        }
    }
}

fn head(out: &mut String, name: &str, kind: &str, help: &str) {
    let _ = writeln!(out, "# HELP {name} {help}.\n# TYPE {name} {kind}");
}

fn gauge(out: &mut String, name: &str, help: &str, value: u64) {
    head(out, name, "gauge", help);
    let _ = writeln!(out, "{name} {value}");
}

fn counter(out: &mut String, name: &str, help: &str, value: u64) {
    head(out, name, "counter", help);
    let _ = writeln!(out, "{name} {value}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_add_up_to_the_count() {
        let metrics = Metrics::default();
        for micros in [100, 500, 501, 30_000_000] {
            metrics.answered("GET", "/healthz", 200, Duration::from_micros(micros));
        }
        let text = metrics.text(&[("lookalike_documents", "Documents", 7)]);
        let of = |le: &str| {
            format!("lookalike_request_seconds_bucket{{method=\"GET\",route=\"/healthz\",le=\"{le}\"}}")
        };
        for (le, count) in [("0.0005", 2), ("0.001", 3), ("10", 3), ("+Inf", 4)] {
            assert!(text.contains(&format!("{} {count}\n", of(le))), "{text}");
        }
        assert!(text.contains("status=\"200\"} 4\n") && text.contains("\nlookalike_documents 7\n"));
        assert!(text.contains("lookalike_request_seconds_count{method=\"GET\",route=\"/healthz\"} 4\n"));
    }
}
