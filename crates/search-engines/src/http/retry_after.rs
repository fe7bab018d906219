//! The wait that a server asks for: the header `Retry-After`, in seconds or as a date.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// The wait that the header asks for, at this time; nothing when it cannot be read.
pub(crate) fn wait(header: &str, now: SystemTime) -> Option<Duration> {
    let header = header.trim();
    match header.parse() {
        Ok(seconds) => Some(Duration::from_secs(seconds)),
        Err(_) => {
            let until = UNIX_EPOCH.checked_add(Duration::from_secs(date(header)?))?;
            Some(until.duration_since(now).unwrap_or_default())
        }
    }
}

/// Seconds since 1970 of a date such as `Sun, 06 Nov 1994 08:49:37 GMT`, the only form that servers may still send.
fn date(text: &str) -> Option<u64> {
    let mut parts = text.split_once(", ")?.1.strip_suffix(" GMT")?.split(' ');
    let day: u64 = parts.next()?.parse().ok()?;
    let month = parts.next()?;
    let month = MONTHS.iter().position(|name| *name == month)? as u64 + 1;
    let year: u64 = parts.next()?.parse().ok().filter(|year| (1970..10_000).contains(year))?;
    let clock: Vec<u64> = parts.next()?.split(':').map(|part| part.parse().ok()).collect::<Option<_>>()?;
    let [hours, minutes, seconds] = clock[..] else { return None };
    if day == 0 || day > 31 || hours > 23 || minutes > 59 || seconds > 60 {
        return None;
    }
    Some(((days(year, month, day) * 24 + hours) * 60 + minutes) * 60 + seconds)
}

/// Days since 1970. Years are counted from March, so that the leap day is a year's last.
fn days(year: u64, month: u64, day: u64) -> u64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leaps = year / 4 - year / 100 + year / 400;
    // Days from March 0000 to January 1970.
    365 * year + leaps + (153 * month + 2) / 5 + day - 1 - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_seconds() {
        for (text, seconds) in [
            ("Thu, 01 Jan 1970 00:00:00 GMT", Some(0)),
            ("Sun, 06 Nov 1994 08:49:37 GMT", Some(784_111_777)),
            ("Tue, 29 Feb 2000 23:59:59 GMT", Some(951_868_799)),
            ("Wed, 01 Mar 2000 00:00:00 GMT", Some(951_868_800)),
            ("Sunday, 06-Nov-94 08:49:37 GMT", None),
            ("Sun, 06 Nov 1994 08:49 GMT", None),
            ("Sun, 06 Nov 1969 08:49:37 GMT", None),
            ("soon", None),
        ] {
            assert_eq!(date(text), seconds, "{text}");
        }
    }

    #[test]
    fn a_date_behind_us_is_no_wait() {
        let now = UNIX_EPOCH + Duration::from_secs(784_111_770);
        assert_eq!(wait("Sun, 06 Nov 1994 08:49:37 GMT", now), Some(Duration::from_secs(7)));
        assert_eq!(wait("Sun, 06 Nov 1994 08:49:00 GMT", now), Some(Duration::ZERO));
        assert_eq!(wait(" 120 ", now), Some(Duration::from_secs(120)));
        assert_eq!(wait("later", now), None);
    }
}
