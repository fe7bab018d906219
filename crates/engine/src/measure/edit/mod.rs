//! The longest common subsequence of two texts, if it is long enough.
//!
//! A common beginning and a common end belong to it, and a symbol that only one text holds does not. The rest is a
//! table of which only the cells near the diagonal matter: whoever leaves it far has lost too much on the way. How far
//! is far follows from the length that is asked for. So a great length is asked for first, which costs little and is
//! enough for texts that are nearly the same, and smaller ones until `least` is reached.
//!
//! - `alphabet`: symbols as small numbers
//! - `masks`: the positions of each symbol, as bits
//! - `table`: the table, 64 cells at a time

mod alphabet;
mod masks;
mod table;

use std::cell::RefCell;

use alphabet::Alphabet;
use masks::Masks;
use table::Table;

/// Symbols of both texts that the first attempt may leave out.
const FIRST: usize = 128;

/// The factor by which each further attempt may leave out more.
const WIDER: usize = 4;

/// Bytes of memory that a thread keeps for its next comparison.
const KEPT_BYTES: usize = 2 << 20;

thread_local! {
    /// Comparisons are too many to ask for memory in each.
    static BUFFERS: RefCell<EditBuffers> = RefCell::default();
}

/// The buffers of a comparison.
#[derive(Default)]
struct EditBuffers {
    alphabet: Alphabet,
    masks: Masks,
    table: Table,
}

/// Length of the longest common subsequence, or nothing if it is below `least`.
pub(super) fn common(a: &[u64], b: &[u64], least: usize) -> Option<usize> {
    if a.len().min(b.len()) < least {
        return None;
    }
    let front = common_prefix(a, b);
    let (a, b) = (&a[front..], &b[front..]);
    let back = common_suffix(a, b);
    let (a, b) = (&a[..a.len() - back], &b[..b.len() - back]);
    let trimmed = front + back;
    let least = least.saturating_sub(trimmed);
    if a.is_empty() || b.is_empty() {
        return (least == 0).then_some(trimmed);
    }
    // The table has a row for each symbol of the shorter one.
    let (rows, columns) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    BUFFERS.with_borrow_mut(|buffers| {
        let found = buffers.common(rows, columns, least);
        buffers.tidy();
        Some(trimmed + found?)
    })
}

impl EditBuffers {
    fn common(&mut self, rows: &[u64], columns: &[u64], least: usize) -> Option<usize> {
        let EditBuffers { alphabet, masks, table } = self;
        let texts = alphabet.encode(rows, columns);
        if texts.both() < least {
            return None;
        }
        masks.set(&texts);
        let all = texts.rows.len() + texts.columns.len();
        let most = all - 2 * least;
        let mut lost = FIRST.min(most);
        loop {
            match table.common(&texts, masks, all.saturating_sub(lost).div_ceil(2)) {
                Ok(found) => return Some(found),
                Err(_) if lost == most => return None,
                Err(rows) => {
                    // One stretch may have gone. Whoever loses much so early will lose too much.
                    let expected = lost * texts.rows.len() / rows.max(1);
                    let hopeless = lost > FIRST && expected > most;
                    lost = if hopeless || WIDER * lost > most / 2 { most } else { WIDER * lost };
                }
            }
        }
    }

    /// Lets go of memory that only long texts need.
    fn tidy(&mut self) {
        if self.alphabet.bytes() + self.masks.bytes() + self.table.bytes() > KEPT_BYTES {
            *self = EditBuffers::default();
        }
    }
}

/// Symbols that are compared at once.
const CHUNK: usize = 32;

/// Number of symbols that both begin with.
fn common_prefix(a: &[u64], b: &[u64]) -> usize {
    let stretches = a.chunks_exact(CHUNK).zip(b.chunks_exact(CHUNK));
    let whole = stretches.take_while(|(a, b)| a == b).count() * CHUNK;
    whole + a[whole..].iter().zip(&b[whole..]).take_while(|(a, b)| a == b).count()
}

/// Number of symbols that both end with.
fn common_suffix(a: &[u64], b: &[u64]) -> usize {
    let stretches = a.rchunks_exact(CHUNK).zip(b.rchunks_exact(CHUNK));
    let whole = stretches.take_while(|(a, b)| a == b).count() * CHUNK;
    let (a, b) = (&a[..a.len() - whole], &b[..b.len() - whole]);
    whole + a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use lookalike_hash::nth;
    use proptest::prelude::*;
    use rapidfuzz::distance::lcs_seq;

    use super::*;

    /// The whole table, cell by cell.
    fn plain(a: &[u64], b: &[u64]) -> usize {
        let mut row = vec![0; b.len() + 1];
        for x in a {
            let mut corner = 0;
            for (column, y) in b.iter().enumerate() {
                let cell = if x == y { corner + 1 } else { row[column].max(row[column + 1]) };
                corner = std::mem::replace(&mut row[column + 1], cell);
            }
        }
        row[b.len()]
    }

    /// Returns the result of another library; nothing for symbols above `u32::MAX`, which are no characters and whose sums
    /// overflow there.
    fn by_others(a: &[u64], b: &[u64]) -> Option<usize> {
        let characters = a.iter().chain(b).all(|&symbol| symbol <= u64::from(u32::MAX));
        characters.then(|| lcs_seq::similarity(a.iter().copied(), b.iter().copied()))
    }

    fn check(a: &[u64], b: &[u64], leasts: impl IntoIterator<Item = usize>) {
        let expected = plain(a, b);
        assert_eq!(by_others(a, b).unwrap_or(expected), expected);
        for least in leasts {
            let wanted = (expected >= least).then_some(expected);
            assert_eq!(common(a, b, least), wanted, "{expected} asked for as {least}: {a:?} {b:?}");
            assert_eq!(common(b, a, least), wanted, "{expected} asked for as {least}: {b:?} {a:?}");
        }
    }

    /// Every length around the right one, and some others.
    fn leasts(a: &[u64], b: &[u64]) -> impl Iterator<Item = usize> + use<> {
        let (right, most) = (plain(a, b), a.len().max(b.len()) + 2);
        (0..most).filter(move |&least| {
            most < 40 || least.abs_diff(right) < 3 || least < 2 || least.is_multiple_of(most / 8)
        })
    }

    /// Symbols in one byte, around the end of the table of small ones, beyond all planes, and any number at all.
    const BASES: [u64; 4] = [32, 0xfff0, 0x1_f600, u64::MAX - 5000];

    /// A text, and what some edits make of it: single symbols come and go, stretches move.
    fn texts(most: usize) -> impl Strategy<Value = (Vec<u64>, Vec<u64>)> {
        let kind = (prop::sample::select(vec![1u64, 2, 4, 30, 700, 5000]), prop::sample::select(&BASES[..]));
        kind.prop_flat_map(move |(size, base)| {
            let symbol = (0..size).prop_map(move |symbol| base + symbol);
            let text = prop::collection::vec(symbol.clone(), 0..most);
            let place = any::<prop::sample::Index>;
            let edits = prop::collection::vec((place(), place(), symbol, 0u8..8), 0..most / 4);
            (text, edits).prop_map(|(a, edits)| {
                let mut b = a.clone();
                for (from, to, symbol, kind) in edits {
                    match kind {
                        0..3 => b.insert(from.index(b.len() + 1), symbol),
                        3..7 if !b.is_empty() => drop(b.remove(from.index(b.len()))),
                        7 => {
                            let start = from.index(b.len() + 1);
                            let cut: Vec<u64> = b.drain(start..b.len().min(start + 40)).collect();
                            let to = to.index(b.len() + 1);
                            b.splice(to..to, cut);
                        }
                        _ => {}
                    }
                }
                (a, b)
            })
        })
    }

    proptest! {
        #[test]
        fn small_texts_have_the_right_length((a, b) in texts(30)) {
            check(&a, &b, leasts(&a, &b));
        }

        #[test]
        fn texts_have_the_right_length((a, b) in texts(700)) {
            check(&a, &b, leasts(&a, &b));
        }

        #[test]
        fn other_texts_have_the_right_length((a, _) in texts(300), (b, _) in texts(500)) {
            check(&a, &b, leasts(&a, &b));
        }

        #[test]
        fn ends_are_found(
            front in 0usize..200, back in 0usize..200, a in prop::collection::vec(0u64..2, 0..3), b in prop::collection::vec(0u64..2, 0..3),
        ) {
            let text = |middle: &[u64]| {
                [(100..100 + front as u64).collect(), middle.to_vec(), (500..500 + back as u64).collect()].concat()
            };
            let (one, two) = (text(&a), text(&b));
            let same = one.iter().zip(&two).take_while(|(x, y)| x == y).count();
            prop_assert_eq!(common_prefix(&one, &two), same);
            let same = one.iter().rev().zip(two.iter().rev()).take_while(|(x, y)| x == y).count();
            prop_assert_eq!(common_suffix(&one, &two), same);
        }
    }

    /// A long text of `size` symbols, some more frequent than others.
    fn long(seed: u64, length: u64, size: u64) -> Vec<u64> {
        (0..length).map(|place| 97 + nth(seed, place) % size * (nth(seed + 1, place) % size) / size).collect()
    }

    #[test]
    fn long_texts_have_the_right_length() {
        for size in [3, 26, 900] {
            let a = long(1, 4000, size);
            let other = long(2, 4200, size);
            // One symbol in `every` replaced, a stretch gone and another moved to the end.
            let edited = |every: u64, gone: usize| {
                let mut b = a.clone();
                (0..4000)
                    .filter(|&place| nth(3, place).is_multiple_of(every))
                    .for_each(|place| b[place as usize] = 7);
                b.drain(1000..1000 + gone);
                let moved: Vec<u64> = b.drain(2000..2000 + gone / 2).collect();
                b.extend(moved);
                b
            };
            for b in [edited(1000, 0), edited(100, 30), edited(20, 300), edited(6, 10), other] {
                check(&a, &b, leasts(&a, &b));
            }
        }
    }

    #[test]
    fn memory_of_long_texts_is_let_go() {
        let a = long(5, 300_000, 26);
        let mut b = a.clone();
        (b[10], b[299_990]) = (5, 6);
        assert_eq!(common(&a, &b, 299_000), Some(299_998));
        let held = BUFFERS
            .with_borrow(|buffers| buffers.alphabet.bytes() + buffers.masks.bytes() + buffers.table.bytes());
        assert!(held <= KEPT_BYTES, "{held}");
    }
}
