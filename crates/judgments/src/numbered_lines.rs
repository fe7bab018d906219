//! Lines of a list with their numbers.

use std::io::BufRead;

use crate::error::{LineError, ListError};

/// Longer lines are none of a list: somebody gave another file.
const MAX_LINE_BYTES: usize = 64 << 10;

/// Reads a list line by line, without the line ends and without a byte order mark.
pub(crate) struct NumberedLines<R> {
    from: R,
    name: String,
    number: u64,
    /// Bytes that a line may have.
    max_length: usize,
    buffer: Vec<u8>,
    ended: bool,
}

impl<R: BufRead> NumberedLines<R> {
    pub(crate) fn new(name: &str, from: R) -> Self {
        Self::with_max_length(MAX_LINE_BYTES, name, from)
    }

    /// Reads lines of up to so many bytes.
    pub(crate) fn with_max_length(max_length: usize, name: &str, from: R) -> Self {
        NumberedLines { from, name: name.to_owned(), number: 0, max_length, buffer: Vec::new(), ended: false }
    }

    /// The error of a line.
    pub(crate) fn line_error(&self, number: u64, error: LineError) -> ListError {
        ListError { list: self.name.clone(), line: number, error: Box::new(error) }
    }

    /// The next line and its number, from 1. After an error that is not the line's own there is no next one.
    pub(crate) fn next(&mut self) -> Option<Result<(u64, &str), ListError>> {
        if self.ended {
            return None;
        }
        self.number += 1;
        self.buffer.clear();
        let most = self.max_length as u64 + 3;
        let read = std::io::Read::take(&mut self.from, most).read_until(b'\n', &mut self.buffer);
        match read {
            Ok(0) => {
                self.ended = true;
                return None;
            }
            Ok(_) => {}
            Err(error) => {
                self.ended = true;
                return Some(Err(self.line_error(self.number, LineError::Unread(error))));
            }
        }
        if self.number == 1 && self.buffer.starts_with(b"\xef\xbb\xbf") {
            self.buffer.drain(..3);
        }
        let line = self.buffer.strip_suffix(b"\n").unwrap_or(&self.buffer);
        let length = line.strip_suffix(b"\r").unwrap_or(line).len();
        if length > self.max_length {
            self.ended = true;
            return Some(Err(self.line_error(self.number, LineError::Long { most: self.max_length })));
        }
        match std::str::from_utf8(&self.buffer[..length]) {
            Ok(line) => Some(Ok((self.number, line))),
            Err(_) => Some(Err(self.line_error(self.number, LineError::NotUtf8))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &[u8]) -> Vec<Result<(u64, String), String>> {
        let mut lines = NumberedLines::with_max_length(10, "list", text);
        let mut all = Vec::new();
        while let Some(line) = lines.next() {
            all.push(line.map(|(number, line)| (number, line.to_owned())).map_err(|error| error.to_string()));
        }
        all
    }

    #[test]
    fn every_line_has_its_number_whatever_its_end() {
        let line = |number, text: &str| Ok((number, text.to_owned()));
        assert_eq!(all(b"\xef\xbb\xbfa\r\n\nb\nc"), [line(1, "a"), line(2, ""), line(3, "b"), line(4, "c")]);
        assert_eq!(all(b""), []);
        assert_eq!(all(b"0123456789\r\n"), [line(1, "0123456789")]);
    }

    #[test]
    fn what_is_no_line_of_a_list_is_told() {
        let found = all(b"a\n\xff\nb\n");
        assert_eq!(found[1], Err("list, line 2: it is not UTF-8; convert the file".to_owned()));
        assert_eq!(found[2], Ok((3, "b".to_owned())));
        let long = all(b"a\n01234567890\nb\n");
        assert_eq!(long.len(), 2, "{long:?}");
        assert!(long[1].as_ref().is_err_and(|error| error.starts_with("list, line 2: it is longer than")));
    }
}
