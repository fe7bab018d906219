//! Reads JSON lines in large pieces, through one buffer.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use serde::Deserialize;

/// A document of the corpus.
#[derive(Deserialize)]
pub struct Row<'a> {
    #[serde(borrow)]
    pub id: Cow<'a, str>,
    #[serde(borrow)]
    pub text: Cow<'a, str>,
}

const BUFFER: usize = 1 << 20;

/// Every line of a file, without its newline.
pub fn lines(path: &Path, see: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
    lines_of(File::open(path)?, BUFFER, see)
}

fn lines_of(
    mut file: impl Read,
    buffer: usize,
    mut see: impl FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<()> {
    let mut bytes = vec![0; buffer];
    let mut held = 0;
    loop {
        if held == bytes.len() {
            bytes.resize(2 * held, 0);
        }
        let read = file.read(&mut bytes[held..])?;
        if read == 0 {
            break;
        }
        let filled = held + read;
        let mut start = 0;
        for end in newlines(&bytes[held..filled]) {
            see(&bytes[start..held + end])?;
            start = held + end + 1;
        }
        bytes.copy_within(start..filled, 0);
        held = filled - start;
    }
    if held > 0 { see(&bytes[..held]) } else { Ok(()) }
}

/// Positions of newlines.
pub fn newlines(bytes: &[u8]) -> impl Iterator<Item = usize> {
    memchr::memchr_iter(b'\n', bytes)
}

/// Every document of a corpus.
pub fn documents(path: &Path, mut see: impl FnMut(&Row) -> io::Result<()>) -> io::Result<()> {
    lines(path, |line| see(&sonic_rs::from_slice(line).map_err(io::Error::other)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_do_not_depend_on_the_buffer() {
        let text = b"one\n\nthree is longer than most buffers\nfour".as_slice();
        let expected: Vec<&[u8]> = text.split(|&byte| byte == b'\n').collect();
        for buffer in 1..50 {
            let mut seen = Vec::new();
            lines_of(text, buffer, |line| {
                seen.push(line.to_vec());
                Ok(())
            })
            .unwrap();
            assert_eq!(seen, expected, "buffer of {buffer}");
        }
    }
}
