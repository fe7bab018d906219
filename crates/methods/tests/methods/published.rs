//! The published results of the signatures A0 to A12 (Zelenkov, Segalovich 2007), held against one another: what our
//! runs are compared with must at least agree with itself.

/// Pairs that any of the methods found.
const POOL: f64 = 17_471_200.0;

/// The share of them that were near-duplicates.
const VERIFIED: f64 = 0.68;

/// A method's results as they were printed, and its recall computed from precision and pairs.
struct Row {
    name: &'static str,
    recall: f64,
    precision: f64,
    f: f64,
    pairs: f64,
    computed: f64,
}

const fn row(name: &'static str, printed: [f64; 3], pairs: f64, computed: f64) -> Row {
    let [recall, precision, f] = printed;
    Row { name, recall, precision, f, pairs, computed }
}

const ROWS: [Row; 11] = [
    row("a0", [0.23, 1.00, 0.38], 2_791_226.0, 0.235),
    row("a1", [0.60, 0.94, 0.73], 7_540_460.0, 0.597),
    row("a2", [0.54, 0.96, 0.69], 6_745_096.0, 0.545),
    row("a3", [0.59, 0.95, 0.73], 7_373_208.0, 0.590),
    row("a4", [0.84, 0.80, 0.82], 12_635_770.0, 0.851),
    row("a5", [0.62, 0.86, 0.72], 8_544_468.0, 0.619),
    row("a6", [0.36, 0.91, 0.51], 4_696_699.0, 0.360),
    row("a7", [0.50, 0.97, 0.66], 6_124_207.0, 0.500),
    row("a8", [0.39, 0.97, 0.56], 4_791_883.0, 0.391),
    row("a9", [0.44, 0.77, 0.56], 6_927_589.0, 0.449),
    row("a10", [0.59, 0.94, 0.73], 7_531_378.0, 0.596),
];

/// Near-duplicates in the pool.
fn verified() -> f64 {
    VERIFIED * POOL
}

fn harmonic_mean(recall: f64, precision: f64) -> f64 {
    2.0 * recall * precision / (recall + precision)
}

fn find(name: &str) -> &'static Row {
    ROWS.iter().find(|row| row.name == name).expect("a printed row")
}

#[test]
fn recall_follows_from_precision_and_pairs() {
    assert!((verified() - 11_880_416.0).abs() < 1.0);
    for Row { name, recall, precision, pairs, computed, .. } in ROWS {
        let found = precision * pairs / verified();
        assert!((found - computed).abs() <= 0.0005, "{name}: {found}");
        assert!((found - recall).abs() < 0.011, "{name}: {found}");
    }
}

#[test]
fn f_follows_from_recall_and_precision() {
    for Row { name, recall, precision, f, .. } in ROWS {
        // The printed ones were computed before recall and precision were rounded.
        assert!((harmonic_mean(recall, precision) - f).abs() < 0.007, "{name}");
    }
    let recomputed = |name: &str| harmonic_mean(find(name).recall, find(name).precision);
    for (name, expected) in [("a6", 0.516), ("a0", 0.374), ("a10", 0.725)] {
        assert!((recomputed(name) - expected).abs() < 0.0005, "{name}: {}", recomputed(name));
    }
    assert!((harmonic_mean(0.96, 0.95) - 0.955).abs() < 0.0005);
}

/// Two methods that find so many of the verified pairs must share some: the printed overlaps with A4 are too small, so
/// that they are of other sets of pairs and no target.
#[test]
fn printed_overlaps_with_long_sentences_are_impossible() {
    let right = |row: &Row| row.precision * row.pairs;
    let long = find("a4");
    for (name, least, printed) in [("a1", 0.527, 0.40), ("a2", 0.485, 0.38), ("a3", 0.523, 0.32)] {
        let row = find(name);
        let shared = right(row) + right(long) - verified();
        let dice = 2.0 * shared / (row.pairs + long.pairs);
        assert!((dice - least).abs() < 0.0005 && dice > printed, "{name}: {dice}");
    }
}
