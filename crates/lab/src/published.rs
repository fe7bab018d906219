//! Figures that papers report, to stand beside measured ones.

/// A line of tables 2, 3 and 7 of Zelenkov and Segalovich (2007): about 500,000 pages, a pool of 17,471,200 pairs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ZelenkovRow {
    /// The algorithm.
    pub name: &'static str,
    /// Its name in the paper.
    pub title: &'static str,
    /// Share of the pool's near-duplicates that it finds.
    pub recall: f64,
    /// Share of near-duplicates among its pairs.
    pub precision: f64,
    /// The harmonic mean of both.
    pub f: f64,
    /// Its pairs; the paper does not say for its last algorithm.
    pub pairs: Option<u64>,
}

const fn line(
    name: &'static str,
    title: &'static str,
    recall: f64,
    precision: f64,
    f: f64,
    pairs: Option<u64>,
) -> ZelenkovRow {
    ZelenkovRow { name, title, recall, precision, f, pairs }
}

/// The tables, best first as printed, the last algorithm on top.
pub const ZELENKOV: [ZelenkovRow; 12] = [
    line("a12", "3+5", 0.96, 0.95, 0.95, None),
    line("a4", "Long Sent", 0.84, 0.80, 0.82, Some(12_635_770)),
    line("a1", "TF", 0.60, 0.94, 0.73, Some(7_540_460)),
    line("a10", "Opt Freq", 0.59, 0.94, 0.73, Some(7_531_378)),
    line("a3", "TF·RIDF", 0.59, 0.95, 0.73, Some(7_373_208)),
    line("a5", "Heavy Sent", 0.62, 0.86, 0.72, Some(8_544_468)),
    line("a2", "TF·IDF", 0.54, 0.96, 0.69, Some(6_745_096)),
    line("a7", "Lex Rand", 0.50, 0.97, 0.66, Some(6_124_207)),
    line("a9", "Descr Words", 0.44, 0.77, 0.56, Some(6_927_589)),
    line("a8", "Log Shingles", 0.39, 0.97, 0.56, Some(4_791_883)),
    line("a6", "Megashingles", 0.36, 0.91, 0.51, Some(4_696_699)),
    line("a0", "MD5", 0.23, 1.00, 0.38, Some(2_791_226)),
];

/// Their line for an algorithm, if they report one.
pub fn zelenkov(name: &str) -> Option<&'static ZelenkovRow> {
    ZELENKOV.iter().find(|line| line.name == name)
}

/// Their table 4: Dice's coefficient of the pairs of two algorithms.
pub fn zelenkov_dice(one: &str, other: &str) -> Option<f64> {
    const NAMES: [&str; 8] = ["a1", "a2", "a3", "a4", "a5", "a6", "a7", "a9"];
    const ROWS: [&[f64]; 7] = [
        &[0.83, 0.79, 0.40, 0.68, 0.54, 0.90, 0.65],
        &[0.75, 0.38, 0.76, 0.60, 0.88, 0.71],
        &[0.32, 0.60, 0.48, 0.82, 0.59],
        &[0.76, 0.54, 0.54, 0.55],
        &[0.59, 0.69, 0.68],
        &[0.56, 0.53],
        &[0.66],
    ];
    let index = |name: &str| NAMES.iter().position(|known| *known == name);
    let (one, other) = (index(one)?, index(other)?);
    match one.cmp(&other) {
        std::cmp::Ordering::Equal => Some(1.0),
        std::cmp::Ordering::Less => Some(ROWS[one][other - one - 1]),
        std::cmp::Ordering::Greater => Some(ROWS[other][one - other - 1]),
    }
}

/// Table 3.1 of the thesis (Weimar 2014): SimHash of 64 bits on revisions of Wikipedia pages, k, precision and recall.
pub const REVISIONS: [(u32, f64, f64); 3] = [(1, 0.78, 0.63), (3, 0.54, 0.81), (5, 0.38, 0.92)];

/// Table 1 of Kołcz, Chowdhury and Alspector (2004): further lexicons, recall on one collection of spam, on the other.
pub const SPAM: [(u32, f64, f64); 4] = [(0, 0.66, 0.40), (2, 0.72, 0.49), (5, 0.76, 0.55), (10, 0.80, 0.61)];

/// Precision by Henzinger (2006), as the thesis reports it: MinHash, SimHash, both together.
pub const HENZINGER: [(&str, f64); 3] = [("minhash", 0.38), ("simhash", 0.50), ("together", 0.79)];

#[cfg(test)]
mod tests {
    use super::*;

    /// Recall follows from pairs and precision, and F from both, up to rounding: a figure typed wrong would show.
    #[test]
    fn the_tables_fit_each_other() {
        let verified = 17_471_200.0 * 0.68;
        for line in ZELENKOV {
            let f = 2.0 * line.recall * line.precision / (line.recall + line.precision);
            assert!((f - line.f).abs() < 0.016, "{}: {f}", line.name);
            if let Some(pairs) = line.pairs {
                let recall = pairs as f64 * line.precision / verified;
                assert!((recall - line.recall).abs() < 0.02, "{}: {recall}", line.name);
            }
        }
        assert_eq!(zelenkov_dice("a7", "a9"), Some(0.66));
        assert_eq!(zelenkov_dice("a5", "a2"), Some(0.76));
        assert_eq!(zelenkov_dice("a0", "a1"), None);
    }
}
