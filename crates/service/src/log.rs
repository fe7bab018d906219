//! A log line for each request. Never the contents of documents, queries or tokens: addresses are logged as their pattern alone.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::Serialize;

use crate::settings::{LogFormat, Settings};

/// The facts logged of a request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Line<'l> {
    pub(crate) request: u64,
    pub(crate) method: &'l str,
    pub(crate) route: &'l str,
    pub(crate) status: u16,
    pub(crate) took: Duration,
    /// Bytes of the answer, where known before it is sent.
    pub(crate) bytes: Option<u64>,
}

#[derive(Serialize)]
struct RequestEvent<'l> {
    time: &'l str,
    request: u64,
    method: &'l str,
    route: &'l str,
    status: u16,
    ms: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<u64>,
}

#[derive(Serialize)]
struct Event<'l> {
    time: &'l str,
    event: &'l str,
}

/// Logs a request.
pub(crate) fn request(settings: &Settings, line: &Line<'_>) {
    let Line { request, method, route, status, took, bytes } = *line;
    let (ms, time) = ((took.as_secs_f64() * 1e6).round() / 1e3, now());
    match settings.log {
        LogFormat::None => {}
        LogFormat::Json => {
            write_json(settings, &RequestEvent { time: &time, request, method, route, status, ms, bytes })
        }
        LogFormat::Text => (settings.log_sink)(&format!("{time} {status} {method} {route} {ms} ms")),
    }
}

/// Logs an event of the service.
pub(crate) fn event(settings: &Settings, event: &str) {
    let time = now();
    match settings.log {
        LogFormat::None => {}
        LogFormat::Json => write_json(settings, &Event { time: &time, event }),
        LogFormat::Text => (settings.log_sink)(&format!("{time} {event}")),
    }
}

fn write_json(settings: &Settings, object: &impl Serialize) {
    (settings.log_sink)(&serde_json::to_string(object).unwrap_or_default());
}

fn now() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let (day, seconds) = (since.as_secs() / 86_400, since.as_secs() % 86_400);
    let (date, millis) = (date(day), since.subsec_millis());
    format!("{date}T{:02}:{:02}:{:02}.{millis:03}Z", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

/// `2026-11-15`, from days since 1970. By Howard Hinnant's days of an era: a year that begins in March has its odd day last.
pub(crate) fn date(days: u64) -> String {
    let days = days + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = era * 400 + year + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_have_dates() {
        assert_eq!(
            [0, 59, 11_016, 19_782, 20_772].map(date),
            ["1970-01-01", "1970-03-01", "2000-02-29", "2024-02-29", "2026-11-15"]
        );
    }
}
