//! The longest common subsequence, with filters that lose nothing.

use rapidfuzz::distance::lcs_seq;

/// Length of the longest common subsequence, or nothing if it is below `least`.
pub(super) fn common(a: &[u64], b: &[u64], least: usize) -> Option<usize> {
    if a.len().min(b.len()) < least {
        return None;
    }
    let front = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let (a, b) = (&a[front..], &b[front..]);
    let back = a.iter().rev().zip(b.iter().rev()).take_while(|(x, y)| x == y).count();
    let (a, b) = (&a[..a.len() - back], &b[..b.len() - back]);
    let trimmed = front + back;
    let least = least.saturating_sub(trimmed);
    if a.is_empty() || b.is_empty() {
        return (least == 0).then_some(trimmed);
    }
    if bag(a, b) < least {
        return None;
    }
    let args = lcs_seq::Args::default().score_cutoff(least);
    let found = lcs_seq::similarity_with_args(a.iter().copied(), b.iter().copied(), &args)?;
    Some(trimmed + found)
}

/// An upper bound: characters that both hold, whatever their order. Characters that share a counter only raise it.
fn bag(a: &[u64], b: &[u64]) -> usize {
    let mut counters = [0i64; 256];
    a.iter().for_each(|&symbol| counters[slot(symbol)] += 1);
    let surplus: usize = {
        b.iter().for_each(|&symbol| counters[slot(symbol)] -= 1);
        counters.iter().map(|counter| counter.max(&0).unsigned_abs() as usize).sum()
    };
    a.len() - surplus
}

fn slot(symbol: u64) -> usize {
    ((symbol ^ (symbol >> 8)) & 0xff) as usize
}
