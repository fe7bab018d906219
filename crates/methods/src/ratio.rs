//! Ratios of lengths: how much longer the longer of two documents may be.

use std::fmt;
use std::str::FromStr;

/// Digits behind the point.
const MAX_DECIMALS: usize = 6;

/// The greatest ratio of two lengths: a decimal fraction from 1 to 1000, kept exactly, so that lengths right at it are
/// never lost to rounding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ratio {
    numerator: u64,
    denominator: u64,
}

impl Ratio {
    /// The description of valid values, for error messages.
    pub(crate) const VALID_VALUES: &str =
        "a number from 1 to 1000 with at most 6 decimals is wanted, such as 1.15";

    /// Returns the ratio of this number of hundredths.
    pub(crate) const fn hundredths(hundredths: u64) -> Self {
        Ratio { numerator: hundredths, denominator: 100 }
    }

    /// The greatest length that goes with this one: the last in a chain of growing lengths that is not cut behind it.
    pub(crate) fn longest(self, length: u32) -> u32 {
        let longest = u64::from(length) * self.numerator / self.denominator;
        longest.min(u32::MAX.into()) as u32
    }

    /// True when neither length is too great for the other.
    pub(crate) fn allows(self, a: u32, b: u32) -> bool {
        a.max(b) <= self.longest(a.min(b))
    }
}

impl FromStr for Ratio {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
        let digits = format!("{whole}{decimals}");
        if decimals.len() > MAX_DECIMALS
            || whole.len() > 4
            || !digits.bytes().all(|byte| byte.is_ascii_digit())
        {
            return Err(());
        }
        let (numerator, denominator) = (digits.parse().map_err(|_| ())?, 10u64.pow(decimals.len() as u32));
        let good = (denominator..=1000 * denominator).contains(&numerator);
        if good { Ok(Ratio { numerator, denominator }) } else { Err(()) }
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Ratio { numerator, denominator } = *self;
        write!(f, "{}", numerator / denominator)?;
        let places = denominator.ilog10() as usize;
        let decimals = format!("{:0places$}", numerator % denominator);
        match decimals.trim_end_matches('0') {
            "" => Ok(()),
            decimals => write!(f, ".{decimals}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Chains as the papers tell of them: growing lengths, cut where the next one is too long for its neighbour.
    fn chains(ratio: Ratio, lengths: &[u32]) -> Vec<Vec<u32>> {
        let chained = |a: &u32, b: &u32| *b <= ratio.longest(*a);
        lengths.chunk_by(chained).map(<[u32]>::to_vec).collect()
    }

    /// Pairs of the chains: each length with the later ones of its chain that are not too long for it.
    fn compared(ratio: Ratio, chains: &[Vec<u32>]) -> Vec<(u32, u32)> {
        let mut pairs = Vec::new();
        for chain in chains {
            for (at, &one) in chain.iter().enumerate() {
                pairs.extend(
                    chain[at + 1..].iter().filter(|two| ratio.allows(one, **two)).map(|&two| (one, two)),
                );
            }
        }
        pairs
    }

    #[test]
    fn published_chains_and_pairs() {
        let ratio = Ratio::hundredths(115);
        let chains = chains(ratio, &[100, 110, 120, 140, 150, 155, 200]);
        assert_eq!(chains, [vec![100, 110, 120], vec![140, 150, 155], vec![200]]);
        let pairs = [(100, 110), (110, 120), (140, 150), (140, 155), (150, 155)];
        assert_eq!(compared(ratio, &chains), pairs);
    }

    #[test]
    fn lengths_right_at_the_ratio_go_together() {
        let ratio: Ratio = "1.15".parse().unwrap();
        assert_eq!(
            (ratio.longest(100), ratio.longest(20), ratio.longest(21), ratio.longest(0)),
            (115, 23, 24, 0)
        );
        assert!(
            ratio.allows(115, 100) && !ratio.allows(100, 116) && ratio.allows(0, 0) && !ratio.allows(0, 1)
        );
        assert_eq!(ratio.longest(u32::MAX), u32::MAX);
    }

    #[test]
    fn ratios_are_exact_decimals() {
        for text in ["1", "1.15", "1.2", "1000", "1.353", "2.000001"] {
            assert_eq!(text.parse::<Ratio>().unwrap().to_string(), text);
        }
        assert_eq!("1.20".parse::<Ratio>().unwrap().to_string(), "1.2");
        for text in ["", ".", "0.99", "1000.1", "-1", "1e1", "1.0000001", "1,5", "NaN", "99999"] {
            assert!(text.parse::<Ratio>().is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_chain_holds_all_pairs_that_go_together(mut lengths in prop::collection::vec(0u32..300, 0..40), hundredths in 100u64..200) {
            let ratio = Ratio::hundredths(hundredths);
            lengths.sort_unstable();
            let whole = compared(ratio, std::slice::from_ref(&lengths));
            prop_assert_eq!(compared(ratio, &chains(ratio, &lengths)), whole);
        }
    }
}
