//! The data of a survey as bytes for a file: magic bytes that name the method, and its numbers.

/// The magic bytes at the front of a file.
pub(crate) type Magic = [u8; 8];

/// The bytes of these numbers.
pub(crate) fn save<const N: usize>(magic: &Magic, numbers: impl Iterator<Item = [u8; N]>) -> Vec<u8> {
    let mut saved = magic.to_vec();
    saved.extend(numbers.flatten());
    saved
}

/// The numbers in these bytes, if they begin with these magic bytes and are as many as there should be.
pub(crate) fn load<'s, const N: usize>(
    magic: &Magic,
    count: usize,
    saved: &'s [u8],
) -> Option<&'s [[u8; N]]> {
    let (numbers, rest) = saved.strip_prefix(magic)?.as_chunks();
    (rest.is_empty() && numbers.len() == count).then_some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_saved_is_taken_back_and_nothing_else() {
        let saved = save(b"numbers1", [7u16, 8].into_iter().map(u16::to_le_bytes));
        assert_eq!(load(b"numbers1", 2, &saved), Some(&[[7, 0], [8, 0]][..]));
        assert_eq!(load::<2>(b"numbers2", 2, &saved), None);
        assert_eq!(load::<2>(b"numbers1", 3, &saved), None);
        assert_eq!(load::<2>(b"numbers1", 2, &saved[..11]), None);
        assert_eq!(load::<2>(b"numbers1", 0, b"num"), None);
    }
}
