//! Digests of whole files.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use xxhash_rust::xxh3::Xxh3;

use crate::error::StoreError;

/// The length of a file, and the XXH3-128 of its content.
pub fn digest_of(path: &Path) -> Result<(u64, u128), StoreError> {
    let failed = |error| StoreError::read(path, error);
    let mut file = File::open(path).map_err(failed)?;
    let (mut sum, mut bytes, mut buffer) = (Xxh3::new(), 0, vec![0; 256 << 10]);
    loop {
        let read = file.read(&mut buffer).map_err(failed)?;
        if read == 0 {
            return Ok((bytes, sum.digest128()));
        }
        bytes += read as u64;
        sum.update(&buffer[..read]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_that_of_the_whole_content() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        for length in [0, 5, 300_000] {
            let content: Vec<u8> = (0..length).map(|number: u32| number as u8).collect();
            std::fs::write(&path, &content).unwrap();
            assert_eq!(digest_of(&path).unwrap(), (u64::from(length), xxhash_rust::xxh3::xxh3_128(&content)));
        }
        assert!(matches!(digest_of(&folder.path().join("gone")), Err(StoreError::Read { .. })));
    }
}
