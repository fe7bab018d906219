//! Similarity measures of two documents, exact thresholds, and what was measured.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A similarity measure of two documents.
///
/// All but `Edit` look at the sets (or bags) of word shingles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Similarity {
    /// Shared shingles over all shingles: `|A∩B| / |A∪B|`.
    Jaccard,
    /// The share of one document that is in the other: `|A∩B| / |A|`. Directed.
    Containment,
    /// Binary cosine: `|A∩B| / sqrt(|A|·|B|)`.
    Cosine,
    /// Cosine of the shingle counts.
    CosineTf,
    /// `2·LCS / (n+m)` on the characters of the words, with one blank between words.
    Edit,
}

impl Similarity {
    /// All of them, in the order of help texts.
    pub const ALL: [Similarity; 5] = [
        Similarity::Jaccard,
        Similarity::Containment,
        Similarity::Cosine,
        Similarity::CosineTf,
        Similarity::Edit,
    ];

    /// Its name on the command line and in recipes.
    pub fn name(self) -> &'static str {
        match self {
            Similarity::Jaccard => "jaccard",
            Similarity::Containment => "containment",
            Similarity::Cosine => "cosine",
            Similarity::CosineTf => "cosine-tf",
            Similarity::Edit => "edit",
        }
    }
}

impl fmt::Display for Similarity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Similarity {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Similarity::ALL
            .into_iter()
            .find(|similarity| similarity.name() == text)
            .ok_or_else(|| "a similarity is jaccard, containment, cosine, cosine-tf or edit".to_owned())
    }
}

/// A similarity that is enough: a decimal fraction, kept exactly, so that a pair at the threshold is never lost
/// to rounding.
///
/// ```
/// use lookalike_model::Threshold;
///
/// let threshold: Threshold = "0.8".parse()?;
/// assert!(threshold.reached_by(4, 5) && !threshold.reached_by(79_999, 100_000));
/// assert_eq!(threshold.to_string(), "0.8");
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Threshold {
    numerator: u32,
    denominator: u32,
}

/// Digits behind the point.
const MOST_DIGITS: usize = 9;

impl Threshold {
    /// The lowest there is.
    pub const LOWEST: Threshold = Threshold { numerator: 1, denominator: 1_000_000_000 };

    /// The fraction above the line.
    pub fn numerator(self) -> u64 {
        self.numerator.into()
    }

    /// The fraction below the line: a power of ten.
    pub fn denominator(self) -> u64 {
        self.denominator.into()
    }

    /// The nearest floating-point number.
    pub fn value(self) -> f64 {
        f64::from(self.numerator) / f64::from(self.denominator)
    }

    /// True when `part / whole` is at least the threshold.
    #[inline]
    pub fn reached_by(self, part: u64, whole: u64) -> bool {
        u128::from(part) * u128::from(self.denominator) >= u128::from(whole) * u128::from(self.numerator)
    }

    /// True when `part / sqrt(whole)` is at least the threshold.
    pub fn reached_by_root(self, part: u64, whole: u128) -> bool {
        let square = |number: u64| u128::from(number) * u128::from(number);
        let left = square(part).checked_mul(square(self.denominator.into()));
        let right = whole.checked_mul(square(self.numerator.into()));
        match (left, right) {
            (Some(left), Some(right)) => left >= right,
            // Counts this large leave no room for exact squares; a float is right to 15 digits.
            _ => part as f64 / (whole as f64).sqrt() >= self.value(),
        }
    }

    /// The least whole number that is at least the threshold's share of `whole`.
    pub fn min_count(self, whole: u64) -> u64 {
        let product = u128::from(whole) * u128::from(self.numerator);
        product.div_ceil(u128::from(self.denominator)) as u64
    }
}

impl Default for Threshold {
    fn default() -> Self {
        Threshold { numerator: 8, denominator: 10 }
    }
}

impl FromStr for Threshold {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bad = || {
            format!(
                "{text} is no threshold: a number above 0 and up to 1 with at most 9 decimals is wanted, such as 0.8"
            )
        };
        let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
        let decimals = decimals.trim_end_matches('0');
        let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        if decimals.len() > MOST_DIGITS
            || !digits(whole)
            || !digits(decimals)
            || text.is_empty()
            || text == "."
        {
            return Err(bad());
        }
        let denominator = 10u32.pow(decimals.len() as u32);
        let whole: u32 = if whole.is_empty() { 0 } else { whole.parse().map_err(|_| bad())? };
        let part: u32 = if decimals.is_empty() { 0 } else { decimals.parse().map_err(|_| bad())? };
        let numerator = whole.checked_mul(denominator).and_then(|n| n.checked_add(part)).ok_or_else(bad)?;
        if numerator == 0 || numerator > denominator {
            return Err(bad());
        }
        Ok(Threshold { numerator, denominator })
    }
}

impl fmt::Display for Threshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let places = self.denominator.ilog10() as usize;
        if places == 0 {
            return write!(f, "{}", self.numerator);
        }
        write!(f, "{}.{:0places$}", self.numerator / self.denominator, self.numerator % self.denominator)
    }
}

/// The measured similarity of `a` and `b`, in both directions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measured {
    /// The similarity; of a directed one, how much of `a` is in `b`.
    pub forward: f64,
    /// The same number, or how much of `b` is in `a`.
    pub backward: f64,
    /// `forward` reaches the threshold.
    pub reached: bool,
    /// `backward` reaches the threshold.
    pub reached_back: bool,
}

impl Measured {
    /// Of two documents that share nothing.
    pub const NONE: Measured = Measured { forward: 0.0, backward: 0.0, reached: false, reached_back: false };

    /// A similarity that is the same in both directions.
    pub fn same(value: f64, reached: bool) -> Self {
        Measured { forward: value, backward: value, reached, reached_back: reached }
    }

    /// As seen from the other document.
    #[must_use]
    pub fn swapped(self) -> Self {
        Measured {
            forward: self.backward,
            backward: self.forward,
            reached: self.reached_back,
            reached_back: self.reached,
        }
    }

    /// True when either direction reaches the threshold.
    pub fn counts(self) -> bool {
        self.reached || self.reached_back
    }
}

/// A number as tables have it: to nine decimals. Nobody can tell these apart from more, and the last bits of a sum may
/// depend on its order.
pub fn rounded(number: f64) -> f64 {
    // Adding 0 makes 0 of -0.
    (number * 1e9).round() / 1e9 + 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_are_exact_decimals() {
        for text in ["0.8", "1", "0.05", "0.123456789", "0.999999999"] {
            assert_eq!(text.parse::<Threshold>().unwrap().to_string(), text);
        }
        assert_eq!("0.80".parse::<Threshold>(), Ok(Threshold::default()));
        assert_eq!(".8".parse::<Threshold>(), Ok(Threshold::default()));
        for text in ["", ".", "0", "1.1", "-0.8", "0.1234567891", "x", "0,8", "1e-1", "NaN", "99999999999"] {
            assert!(text.parse::<Threshold>().is_err(), "{text}");
        }
    }

    #[test]
    fn shares_are_compared_as_whole_numbers() {
        let threshold = Threshold::default();
        assert_eq!([1, 5, 6, 10].map(|whole| threshold.min_count(whole)), [1, 4, 5, 8]);
        // 0.7 · 10 is 7 and not a hair more, whatever a float says.
        assert_eq!("0.7".parse::<Threshold>().unwrap().min_count(10), 7);
        assert!(threshold.reached_by_root(8, 100) && !threshold.reached_by_root(7, 100));
        assert!(threshold.reached_by_root(u64::MAX, u128::MAX));
    }

    #[test]
    fn similarities_have_names() {
        for similarity in Similarity::ALL {
            assert_eq!(similarity.name().parse(), Ok(similarity));
        }
        assert!("dice".parse::<Similarity>().is_err());
    }
}
