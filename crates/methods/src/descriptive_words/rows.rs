//! Lists of different lengths, one behind the other.

/// Rows of items.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rows<T> {
    items: Vec<T>,
    /// The offset in `items` of each row, and at last the end of the last row.
    starts: Vec<usize>,
}

impl<T: Copy> Rows<T> {
    /// No rows.
    pub(super) fn new() -> Self {
        Rows { items: Vec::new(), starts: vec![0] }
    }

    /// Appends a row.
    pub(super) fn push(&mut self, row: impl IntoIterator<Item = T>) {
        self.items.extend(row);
        self.starts.push(self.items.len());
    }

    /// Number of rows.
    pub(super) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// The row of this number.
    pub(super) fn row(&self, number: u32) -> &[T] {
        &self.items[self.starts[number as usize]..self.starts[number as usize + 1]]
    }

    /// For each of `columns`, which `column` tells of an item, what `map` makes of the rows and items that it is in.
    pub(super) fn transposed<U: Copy + Default>(
        &self,
        columns: usize,
        column: impl Fn(T) -> u32,
        map: impl Fn(u32, T) -> U,
    ) -> Rows<U> {
        let mut starts = vec![0; columns + 1];
        for &item in &self.items {
            starts[column(item) as usize + 1] += 1;
        }
        for number in 1..starts.len() {
            starts[number] += starts[number - 1];
        }
        let (mut items, mut next) = (vec![U::default(); self.items.len()], starts.clone());
        for row in 0..self.len() as u32 {
            for &item in self.row(row) {
                let place = &mut next[column(item) as usize];
                items[*place] = map(row, item);
                *place += 1;
            }
        }
        Rows { items, starts }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transposed_rows_tell_of_every_item_where_it_is() {
        let mut rows = Rows::new();
        [vec![(2, 'a'), (0, 'b')], vec![], vec![(2, 'c')]].into_iter().for_each(|row| rows.push(row));
        let transposed = rows.transposed(4, |(column, _)| column, |row, (_, letter)| (row, letter));
        assert_eq!((transposed.len(), transposed.row(0), transposed.row(1)), (4, &[(0, 'b')][..], &[][..]));
        assert_eq!((transposed.row(2), transposed.row(3)), (&[(0, 'a'), (2, 'c')][..], &[][..]));
    }
}
