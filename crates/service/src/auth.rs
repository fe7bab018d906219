//! Tokens of programs.
//!
//! Only digests are held, and one is compared with all others in the same time, whether it is among them or not.

use std::fmt;
use std::path::Path;

use sha2::{Digest as _, Sha256};
use subtle::{Choice, ConstantTimeEq};

use crate::ServiceError;

/// The least number of characters of a token.
const SHORTEST: usize = 16;

/// A digest of a secret.
pub(crate) type Digest = [u8; 32];

pub(crate) fn digest(secret: &str) -> Digest {
    Sha256::digest(secret.as_bytes()).into()
}

/// True when `wanted` is among `known`. Takes the same time for every answer.
pub(crate) fn is_among<'d>(wanted: &Digest, known: impl IntoIterator<Item = &'d Digest>) -> bool {
    let found = known.into_iter().fold(Choice::from(0), |found, one| found | one.ct_eq(wanted));
    found.into()
}

/// The tokens that give access.
#[derive(Clone)]
pub struct Tokens {
    digests: Vec<Digest>,
}

impl Tokens {
    /// Reads a file with one token on each line. Blank lines, and lines that begin with `#`, are passed over.
    pub fn read(file: &Path) -> Result<Self, ServiceError> {
        let text = std::fs::read_to_string(file).map_err(ServiceError::read(file))?;
        let mut digests = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let token = line.trim();
            if token.is_empty() || token.starts_with('#') {
                continue;
            }
            if token.len() < SHORTEST {
                let file = file.to_owned();
                return Err(ServiceError::ShortToken { file, line: index + 1, least: SHORTEST });
            }
            if !token.bytes().all(|byte| byte.is_ascii_graphic()) {
                return Err(ServiceError::OddToken { file: file.to_owned(), line: index + 1 });
            }
            digests.push(digest(token));
        }
        if digests.is_empty() {
            return Err(ServiceError::NoToken(file.to_owned()));
        }
        Ok(Tokens { digests })
    }

    /// True when the token is one of them.
    pub(crate) fn admit(&self, token: &str) -> bool {
        is_among(&digest(token), &self.digests)
    }
}

impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} tokens", self.digests.len())
    }
}

/// The token of an `Authorization` header.
pub(crate) fn bearer(header: &str) -> Option<&str> {
    let (scheme, token) = header.trim().split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// Returns a warning if others than the owner have access to the file.
#[cfg(unix)]
pub fn exposure(file: &Path) -> Option<String> {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = std::fs::metadata(file).ok()?.permissions().mode();
    let open = mode & 0o077 != 0;
    open.then(|| format!("{} can be read by others; chmod 600 keeps its tokens secret", file.display()))
}

/// Returns no warning: file permissions are not checked on this system.
#[cfg(not(unix))]
pub fn exposure(_: &Path) -> Option<String> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(content: &str) -> Result<Tokens, String> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("tokens");
        std::fs::write(&file, content).unwrap();
        Tokens::read(&file).map_err(|error| error.to_string())
    }

    #[test]
    fn remarks_and_blank_lines_are_no_tokens() {
        let tokens = tokens("# for crawlers\n\n  0123456789abcdef \nfedcba9876543210\n").unwrap();
        assert_eq!(format!("{tokens:?}"), "2 tokens");
        assert!(tokens.admit("0123456789abcdef") && tokens.admit("fedcba9876543210"));
        assert!(!tokens.admit("0123456789abcdeF") && !tokens.admit("") && !tokens.admit("# for crawlers"));
    }

    #[test]
    fn tokens_that_are_easily_guessed_or_cannot_be_sent_are_refused() {
        assert!(tokens("#\nsecret\n").unwrap_err().contains("line 2 of "));
        assert!(tokens("0123456789abcdef 0123").unwrap_err().contains("blanks"));
        assert!(tokens("0123456789abcdefä").unwrap_err().contains("blanks"));
        assert!(tokens("# nothing\n").unwrap_err().contains("holds no token"));
    }

    #[test]
    fn the_token_of_a_header_is_found() {
        assert_eq!(bearer("Bearer abc"), Some("abc"));
        assert_eq!(bearer("bearer  abc "), Some("abc"));
        assert_eq!(bearer("Basic abc"), None);
        assert_eq!(bearer("Bearer"), None);
    }
}
