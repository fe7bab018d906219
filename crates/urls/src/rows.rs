//! Counts for a host, and for all hosts of a domain.

/// Numbers in a row.
pub(crate) const COLUMNS: usize = 10;

/// Counts for a host, or for a name that hosts have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Row {
    /// Documents of the left corpus.
    pub(crate) left_documents: u64,
    /// Documents of the right corpus.
    pub(crate) right_documents: u64,
    /// Different addresses of the left corpus.
    pub(crate) left_urls: u64,
    /// Different addresses of the right corpus.
    pub(crate) right_urls: u64,
    /// Addresses of both.
    pub(crate) shared_urls: u64,
    /// Left documents that have one of those.
    pub(crate) shared_documents: u64,
    /// Left documents that were judged.
    pub(crate) judged: u64,
    /// Those of them that have a shared address.
    pub(crate) judged_shared: u64,
    /// Shared addresses whose two documents were measured.
    pub(crate) measured: u64,
    /// Those of them that are near.
    pub(crate) near: u64,
}

impl Row {
    pub(crate) fn numbers(&self) -> [u64; COLUMNS] {
        [
            self.left_documents,
            self.right_documents,
            self.left_urls,
            self.right_urls,
            self.shared_urls,
            self.shared_documents,
            self.judged,
            self.judged_shared,
            self.measured,
            self.near,
        ]
    }

    /// # Panics
    /// When there are not as many numbers as a row has.
    pub(crate) fn from_numbers(numbers: &[u64]) -> Self {
        let numbers: [u64; COLUMNS] = numbers.try_into().expect("a row has its columns");
        let [
            left_documents,
            right_documents,
            left_urls,
            right_urls,
            shared_urls,
            shared_documents,
            judged,
            judged_shared,
            measured,
            near,
        ] = numbers;
        Row {
            left_documents,
            right_documents,
            left_urls,
            right_urls,
            shared_urls,
            shared_documents,
            judged,
            judged_shared,
            measured,
            near,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back() {
        let numbers: [u64; COLUMNS] = std::array::from_fn(|place| place as u64 + 1);
        assert_eq!(Row::from_numbers(&numbers).numbers(), numbers);
    }

    #[test]
    fn every_number_has_its_own_column() {
        let row = Row {
            left_documents: 1,
            right_documents: 2,
            left_urls: 3,
            right_urls: 4,
            shared_urls: 5,
            shared_documents: 6,
            judged: 7,
            judged_shared: 8,
            measured: 9,
            near: 10,
        };
        let mut numbers = row.numbers();
        assert_eq!(Row::from_numbers(&numbers), row);
        numbers.sort_unstable();
        assert_eq!(numbers, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    }

    #[test]
    #[should_panic(expected = "a row has its columns")]
    fn a_row_of_fewer_numbers_is_none() {
        Row::from_numbers(&[0; COLUMNS - 1]);
    }
}
