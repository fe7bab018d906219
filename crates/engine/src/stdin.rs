//! Standard input, which comes once: it is put into a file, and what comes at a later start must be the same.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use lookalike_corpus::Corpus;
use lookalike_store::sync::sync_folder;
use xxhash_rust::xxh3::Xxh3;

use crate::error::EngineError;

/// The file in the folder for scratch files.
pub(crate) const FILE: &str = "stdin";

/// Puts standard input into a file, so that it can be read again. If an earlier process did, what comes now is compared with that;
/// false when it is not asked for.
///
/// # Errors
/// When something else comes.
pub(crate) fn receive(corpus: &mut Corpus, work: &Path) -> Result<bool, EngineError> {
    if !corpus.has_stdin() {
        return Ok(false);
    }
    let path = work.join(FILE);
    let digest = match File::open(&path) {
        Ok(before) => compare(&mut io::stdin().lock(), before, &path)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => store(&mut io::stdin().lock(), &path)?,
        Err(error) => return Err(EngineError::read(&path, error)),
    };
    corpus.read_stdin_from(&path, digest);
    Ok(true)
}

/// Reads standard input for its digest alone.
pub(crate) fn read_digest(corpus: &mut Corpus) -> Result<(), EngineError> {
    if corpus.has_stdin() {
        let (bytes, digest) = read_chunks(&mut io::stdin().lock(), |_| Ok(())).map_err(read_error)?;
        corpus.set_stdin_facts(bytes, digest);
    }
    Ok(())
}

/// Copies all that comes into a file, which appears when it is whole; the digest of it.
fn store(from: &mut impl Read, path: &Path) -> Result<u64, EngineError> {
    let pending = path.with_added_extension("part");
    let failed = |error| EngineError::write(&pending, error);
    let mut file = File::create(&pending).map_err(failed)?;
    let mut trouble = None;
    let passed = read_chunks(from, |bytes| {
        file.write_all(bytes).map_err(|error| {
            trouble = Some(failed(error));
            io::ErrorKind::Other.into()
        })
    });
    let (_, digest) = passed.map_err(|error| trouble.unwrap_or_else(|| read_error(error)))?;
    // Nobody can send it again: it is on the disk before anything is made of it.
    file.sync_all().map_err(failed)?;
    std::fs::rename(&pending, path)
        .and_then(|()| sync_folder(path.parent().unwrap_or(Path::new(""))))
        .map_err(|error| EngineError::write(path, error))?;
    Ok(digest)
}

/// Compares all that comes with what came before; the digest of it.
fn compare(from: &mut impl Read, mut before: File, path: &Path) -> Result<u64, EngineError> {
    let other = || {
        EngineError::Request(
            "standard input is not what it was when the job began; give the same, or begin anew with --force"
                .to_owned(),
        )
    };
    let mut there = Vec::new();
    let mut trouble = None;
    let passed = read_chunks(from, |bytes| {
        there.clear();
        let read = Read::by_ref(&mut before).take(bytes.len() as u64).read_to_end(&mut there);
        trouble = match read {
            Err(error) => Some(EngineError::read(path, error)),
            Ok(_) if there != bytes => Some(other()),
            Ok(_) => return Ok(()),
        };
        Err(io::ErrorKind::Other.into())
    });
    let (_, digest) = passed.map_err(|error| trouble.unwrap_or_else(|| read_error(error)))?;
    match before.read(&mut [0]) {
        Ok(0) => Ok(digest),
        Ok(_) => Err(other()),
        Err(error) => Err(EngineError::read(path, error)),
    }
}

/// Hands over all that comes; its length and digest.
fn read_chunks(
    from: &mut impl Read,
    mut each: impl FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<(u64, u64)> {
    let (mut buffer, mut hash, mut bytes) = (vec![0; 128 << 10], Xxh3::new(), 0);
    loop {
        match from.read(&mut buffer) {
            Ok(0) => return Ok((bytes, hash.digest())),
            Ok(length) => {
                hash.update(&buffer[..length]);
                each(&buffer[..length])?;
                bytes += length as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

fn read_error(error: io::Error) -> EngineError {
    EngineError::read(Path::new("standard input"), error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lookalike_corpus::ReadOptions;

    #[test]
    fn what_comes_again_must_be_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(FILE);
        let text: Vec<u8> = (0..300_000u32).map(|n| (n % 251) as u8).collect();
        let digest = store(&mut text.as_slice(), &path).unwrap();
        let again = |bytes: &[u8]| compare(&mut &bytes[..], File::open(&path).unwrap(), &path);
        assert_eq!(again(&text).unwrap(), digest);
        let longer = [&text[..], b"x"].concat();
        let mut other = text.clone();
        other[299_999] ^= 1;
        for bytes in [&longer[..], &other, &text[..299_999], b""] {
            let error = again(bytes).unwrap_err().to_string();
            assert!(error.starts_with("standard input is not what it was"), "{error}");
        }
    }

    /// Bytes that come in pieces of a few, with interruptions in between.
    struct Interrupted<'b>(&'b [u8], bool);

    impl Read for Interrupted<'_> {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            self.1 = !self.1;
            if self.1 {
                return Err(io::ErrorKind::Interrupted.into());
            }
            let length = out.len().min(7);
            self.0.read(&mut out[..length])
        }
    }

    /// Input that breaks off.
    struct Broken;

    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::ErrorKind::ConnectionReset.into())
        }
    }

    #[test]
    fn what_comes_in_pieces_is_stored_as_a_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(FILE);
        let text: Vec<u8> = (0..1000u32).map(|n| (n % 251) as u8).collect();
        let digest = store(&mut Interrupted(&text, false), &path).unwrap();
        assert_eq!(digest, xxhash_rust::xxh3::xxh3_64(&text));
        assert_eq!(std::fs::read(&path).unwrap(), text);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        let again = compare(&mut Interrupted(&text, false), File::open(&path).unwrap(), &path);
        assert_eq!(again.unwrap(), digest);
    }

    #[test]
    fn input_that_breaks_off_leaves_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(FILE);
        let error = store(&mut Broken, &path).unwrap_err().to_string();
        assert!(error.starts_with("standard input cannot be read: "), "{error}");
        assert!(!path.exists());
    }

    #[test]
    fn chunks_are_handed_over_in_order() {
        let mut found = Vec::new();
        let (bytes, _) = read_chunks(&mut Interrupted(b"one two three", false), |chunk| {
            found.push(chunk.to_vec());
            Ok(())
        })
        .unwrap();
        assert_eq!((bytes, found.concat()), (13, b"one two three".to_vec()));
        assert!(read_chunks(&mut &b"x"[..], |_| Err(io::ErrorKind::Other.into())).is_err());
    }

    #[test]
    fn a_corpus_without_standard_input_asks_for_none() {
        let folder = tempfile::tempdir().unwrap();
        let mut corpus = Corpus::in_memory("a.jsonl", Vec::new().into(), ReadOptions::default());
        assert!(!receive(&mut corpus, folder.path()).unwrap());
        read_digest(&mut corpus).unwrap();
        assert_eq!((corpus.shards()[0].digest, std::fs::read_dir(folder.path()).unwrap().count()), (None, 0));
    }
}
