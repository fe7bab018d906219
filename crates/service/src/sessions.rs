//! Sessions of people who have shown a token: their cookies, and the number of wrong tokens.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::auth::{Digest, digest, is_among};

/// The lifetime of a cookie.
pub(crate) const LIFETIME: Duration = Duration::from_secs(12 * 3600);
/// The name of the cookie.
pub(crate) const COOKIE: &str = "lookalike";
/// The most sessions at once; the oldest is dropped for a new one.
const MOST_SESSIONS: usize = 1024;
/// The most wrong tokens from one address within [`WINDOW`].
const MOST_TRIES: u32 = 10;
const WINDOW: Duration = Duration::from_secs(60);
/// Addresses that are remembered; when there are more, all are forgotten.
const MOST_ADDRESSES: usize = 4096;

/// The sessions of logged-in people.
#[derive(Default)]
pub(crate) struct Sessions {
    /// Digests of cookies with their expiry, the oldest first.
    cookies: Mutex<Vec<(Digest, Instant)>>,
    tries: Mutex<HashMap<IpAddr, (u32, Instant)>>,
}

impl Sessions {
    /// A new cookie; nothing when the system has no randomness.
    pub(crate) fn begin(&self) -> Option<String> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).ok()?;
        let value: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let mut cookies = self.cookies();
        cookies.retain(|(_, end)| *end > Instant::now());
        if cookies.len() >= MOST_SESSIONS {
            cookies.remove(0);
        }
        cookies.push((digest(&value), Instant::now() + LIFETIME));
        Some(value)
    }

    /// True when the cookie was given out here and is still good.
    pub(crate) fn is_valid(&self, cookie: &str) -> bool {
        let now = Instant::now();
        let cookies = self.cookies();
        is_among(&digest(cookie), cookies.iter().filter(|(_, end)| *end > now).map(|(digest, _)| digest))
    }

    /// Forgets a cookie.
    pub(crate) fn end(&self, cookie: &str) {
        let gone = digest(cookie);
        self.cookies().retain(|(digest, _)| !is_among(digest, [&gone]));
    }

    /// True while the address has not tried too often.
    pub(crate) fn may_try(&self, from: IpAddr) -> bool {
        let tries = self.tries.lock().unwrap_or_else(PoisonError::into_inner);
        tries.get(&from).is_none_or(|(count, begun)| *count < MOST_TRIES || begun.elapsed() > WINDOW)
    }

    /// Remembers a wrong token.
    pub(crate) fn failed(&self, from: IpAddr) {
        let mut tries = self.tries.lock().unwrap_or_else(PoisonError::into_inner);
        if tries.len() >= MOST_ADDRESSES {
            tries.clear();
        }
        let (count, begun) = tries.entry(from).or_insert((0, Instant::now()));
        if begun.elapsed() > WINDOW {
            (*count, *begun) = (0, Instant::now());
        }
        *count += 1;
    }

    fn cookies(&self) -> MutexGuard<'_, Vec<(Digest, Instant)>> {
        self.cookies.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The value of our cookie in a `Cookie` header.
pub(crate) fn cookie(header: &str) -> Option<&str> {
    let pairs = header.split(';').filter_map(|pair| pair.trim().split_once('='));
    pairs.into_iter().find(|(name, _)| *name == COOKIE).map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cookies_differ_and_end() {
        let sessions = Sessions::default();
        let (one, two) = (sessions.begin().unwrap(), sessions.begin().unwrap());
        assert_ne!(one, two);
        assert!(
            sessions.is_valid(&one)
                && sessions.is_valid(&two)
                && !sessions.is_valid("")
                && !sessions.is_valid("x")
        );
        sessions.end(&one);
        assert!(!sessions.is_valid(&one) && sessions.is_valid(&two));
    }

    #[test]
    fn there_is_room_for_a_bounded_number() {
        let sessions = Sessions::default();
        let first = sessions.begin().unwrap();
        for _ in 0..MOST_SESSIONS {
            sessions.begin().unwrap();
        }
        assert!(!sessions.is_valid(&first));
        assert_eq!(sessions.cookies().len(), MOST_SESSIONS);
    }

    #[test]
    fn an_address_that_tries_too_often_has_to_wait() {
        let sessions = Sessions::default();
        let [here, there] = ["127.0.0.1", "::1"].map(|address| address.parse().unwrap());
        for _ in 0..MOST_TRIES {
            assert!(sessions.may_try(here));
            sessions.failed(here);
        }
        assert!(!sessions.may_try(here) && sessions.may_try(there));
    }

    #[test]
    fn a_cookie_is_found_among_others() {
        assert_eq!(cookie("a=b; lookalike=xyz;c=d"), Some("xyz"));
        assert_eq!(cookie("notlookalike=xyz"), None);
    }
}
