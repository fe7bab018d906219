//! What two sorted sequences share.

/// Steps between two looks at whether the goal is still in reach.
const STRIDE: usize = 32;

/// How many values two sorted sets share, or nothing if it is fewer than `least`.
pub(super) fn shared(a: &[u64], b: &[u64], least: usize) -> Option<usize> {
    if a.len().min(b.len()) < least {
        return None;
    }
    let (mut i, mut j, mut shared) = (0, 0, 0);
    // No branch depends on the values: which of two hashes is smaller cannot be guessed.
    while i + STRIDE <= a.len() && j + STRIDE <= b.len() {
        for _ in 0..STRIDE {
            let (x, y) = (a[i], b[j]);
            shared += usize::from(x == y);
            i += usize::from(x <= y);
            j += usize::from(y <= x);
        }
        if shared + (a.len() - i).min(b.len() - j) < least {
            return None;
        }
    }
    while i < a.len() && j < b.len() {
        let (x, y) = (a[i], b[j]);
        shared += usize::from(x == y);
        i += usize::from(x <= y);
        j += usize::from(y <= x);
    }
    (shared >= least).then_some(shared)
}

/// The counted values of a sorted bag.
fn counts(bag: &[u64]) -> impl Iterator<Item = (u64, u64)> + '_ {
    bag.chunk_by(|a, b| a == b).map(|run| (run[0], run.len() as u64))
}

/// Sum of the products of counts.
pub(super) fn dot(a: &[u64], b: &[u64]) -> u64 {
    let (mut left, mut right) = (counts(a).peekable(), counts(b).peekable());
    let mut sum = 0;
    while let (Some(&(x, m)), Some(&(y, n))) = (left.peek(), right.peek()) {
        if x == y {
            sum += m * n;
        }
        if x <= y {
            left.next();
        }
        if y <= x {
            right.next();
        }
    }
    sum
}

/// Sum of the squares of counts.
pub(super) fn square(bag: &[u64]) -> u128 {
    counts(bag).map(|(_, count)| u128::from(count) * u128::from(count)).sum()
}
