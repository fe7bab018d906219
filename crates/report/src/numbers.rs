//! Numbers as people read them: few digits, and never more certain than they are.

use crate::html::thousands;
use crate::study::Value;

/// The sign for a missing value.
pub(crate) const NO_VALUE: &str = "–";

/// Shares nearer to 1 than this are shown with four decimals.
const ALMOST_ONE: f64 = 0.995;

/// A value of a table.
pub(crate) fn value(value: &Value) -> String {
    match value {
        Value::None => NO_VALUE.to_owned(),
        Value::Text(text) => text.clone(),
        Value::Count(count) => thousands(*count),
        Value::Number(number) => self::number(*number),
        Value::Interval(low, high) => interval(*low, *high),
    }
}

/// A number with a few digits. What is not whole does not look whole: 0.9987 is not 1, and 0.0003 is not 0.
pub(crate) fn number(number: f64) -> String {
    let size = number.abs();
    if !number.is_finite() {
        NO_VALUE.to_owned()
    } else if number == number.trunc() || size >= 1000.0 {
        whole(number)
    } else if size < 0.01 {
        small(number)
    } else if size > ALMOST_ONE && size < 1.0 {
        almost_one(number)
    } else {
        let decimals = if size < 10.0 { 3 } else { 2 };
        format!("{number:.decimals$}")
    }
}

/// `0.93–0.97`: with as many decimals as it takes to tell the ends apart, and from 0 and 1.
pub(crate) fn interval(low: f64, high: f64) -> String {
    if !low.is_finite() || !high.is_finite() {
        return NO_VALUE.to_owned();
    }
    if low.abs().max(high.abs()) >= 10.0 {
        return format!("{}–{}", number(low), number(high));
    }
    // Rounding an end must not make it something else: a bound, or the other end.
    let keeps_bound = |end: f64, text: &str| (end == 0.0 || end == 1.0) == matches!(text, "0" | "1");
    for decimals in 2..=4 {
        let [from, to] = [low, high].map(|end| trimmed(end, decimals));
        if keeps_bound(low, &from) && keeps_bound(high, &to) && (from != to || low == high) {
            let padded = |end: f64, text: String| match text.as_str() {
                "0" | "1" => text,
                _ => format!("{end:.decimals$}"),
            };
            return format!("{}–{}", padded(low, from), padded(high, to));
        }
    }
    format!("{}–{}", number(low), number(high))
}

/// A share in little room: two decimals, or three without the zero before them where two would make it 0 or 1.
pub(crate) fn share(share: f64) -> String {
    if share == share.trunc() || !(0.0..=1.0).contains(&share) {
        return number(share);
    }
    match share {
        ..0.001 => "<.001".to_owned(),
        ..0.005 | 0.995..=0.999 => format!("{share:.3}").trim_start_matches('0').to_owned(),
        0.999.. => ">.999".to_owned(),
        _ => format!("{share:.2}"),
    }
}

/// A number on an axis whose neighbours are `step` away.
pub(crate) fn tick(number: f64, step: f64) -> String {
    let size = number.abs();
    if size < step * 1e-6 {
        return "0".to_owned();
    }
    if size >= 1e15 || size.max(step) < 1e-4 {
        return scientific(number);
    }
    let units = [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")];
    // Four digits are still short by themselves.
    let unit = units.into_iter().find(|(unit, _)| size >= *unit && size >= 1e4);
    if let Some((unit, letter)) = unit
        && decimals(step / unit) <= 2
    {
        return format!("{:.*}{letter}", decimals(step / unit), number / unit);
    }
    format!("{number:.*}", decimals(step))
}

/// Decimals that a step of this size needs.
fn decimals(step: f64) -> usize {
    // A step of a tenth may be a hair below it.
    (-(step * (1.0 + 1e-9)).log10().floor()).clamp(0.0, 9.0) as usize
}

fn whole(number: f64) -> String {
    let size = number.abs().round();
    if size >= 1e15 {
        return scientific(number);
    }
    format!("{}{}", if number < 0.0 && size > 0.0 { "-" } else { "" }, thousands(size as u64))
}

/// Two significant digits of what would be nothing with three decimals.
fn small(number: f64) -> String {
    let digits = (1.0 - number.abs().log10().floor()).clamp(3.0, 400.0) as usize;
    if digits > 7 { scientific(number) } else { format!("{number:.digits$}") }
}

fn almost_one(number: f64) -> String {
    let text = format!("{number:.4}");
    match text.as_str() {
        "1.0000" => "over 0.9999".to_owned(),
        "-1.0000" => "under -0.9999".to_owned(),
        _ => text,
    }
}

fn trimmed(number: f64, decimals: usize) -> String {
    let text = format!("{number:.decimals$}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// `2·10⁻⁷`.
fn scientific(number: f64) -> String {
    let text = format!("{number:.1e}");
    let (digits, power) = text.split_once('e').unwrap_or((&text, "0"));
    let raised = |c: char| match c {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        '0' | '4'..='9' => char::from_u32('⁰' as u32 + c as u32 - '0' as u32).unwrap_or(c),
        c => c,
    };
    let power: String = power.chars().map(raised).collect();
    match digits.strip_suffix(".0").unwrap_or(digits) {
        "1" => format!("10{power}"),
        "-1" => format!("-10{power}"),
        digits => format!("{digits}·10{power}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_have_few_digits_and_keep_their_meaning() {
        let cases = [
            (0.0, "0"),
            (1.0, "1"),
            (0.93, "0.930"),
            (0.9987, "0.9987"),
            (0.99999, "over 0.9999"),
            (0.0023, "0.0023"),
            (0.00034, "0.00034"),
            (3.4e-9, "3.4·10⁻⁹"),
            (1.5, "1.500"),
            (12.345, "12.35"),
            (123_456.7, "123,457"),
            (-2.0, "-2"),
            (1e21, "10²¹"),
            (f64::NAN, "–"),
            (f64::INFINITY, "–"),
        ];
        for (number, text) in cases {
            assert_eq!(super::number(number), text, "{number}");
        }
    }

    #[test]
    fn intervals_tell_their_ends_apart() {
        let cases = [
            ((0.93, 0.97), "0.93–0.97"),
            ((0.9987, 1.0), "0.999–1"),
            ((0.0, 0.0372), "0–0.04"),
            ((0.951, 0.9534), "0.951–0.953"),
            ((0.5, 0.7), "0.50–0.70"),
            ((0.5, 0.5), "0.50–0.50"),
            ((1234.0, 5678.9), "1,234–5,679"),
            ((0.2, f64::NAN), "–"),
        ];
        for ((low, high), text) in cases {
            assert_eq!(interval(low, high), text);
        }
    }

    #[test]
    fn shares_in_little_room_are_not_rounded_to_all_or_nothing() {
        let cases = [
            (0.0, "0"),
            (1.0, "1"),
            (0.934, "0.93"),
            (0.9987, ".999"),
            (0.9996, ">.999"),
            (0.0042, ".004"),
            (0.0004, "<.001"),
            (-0.5, "-0.500"),
        ];
        for (share, text) in cases {
            assert_eq!(super::share(share), text);
        }
    }

    #[test]
    fn ticks_are_as_fine_as_their_step() {
        let cases = [
            ((0.2, 0.2), "0.2"),
            ((1.0, 0.2), "1.0"),
            ((0.3, 0.1), "0.3"),
            ((5000.0, 1000.0), "5000"),
            ((20_000.0, 5000.0), "20k"),
            ((2_500_000.0, 500_000.0), "2.5M"),
            ((100_001.0, 1.0), "100001"),
            ((0.001, 0.001), "0.001"),
            ((1e-7, 1e-7), "10⁻⁷"),
            ((2e18, 1e18), "2·10¹⁸"),
            ((1e-17, 0.1), "0"),
        ];
        for ((number, step), text) in cases {
            assert_eq!(tick(number, step), text);
        }
    }

    proptest! {
        #[test]
        fn what_is_neither_nothing_nor_all_does_not_look_like_it(number in prop::num::f64::ANY) {
            prop_assume!(number != 0.0 && number != 1.0 && number.abs() < 1000.0);
            for text in [super::number(number), share(number)] {
                let shown = text.trim_start_matches(['<', '>']).parse::<f64>();
                let other = text.contains(['·', 'r', '–', '⁻']);
                prop_assert!(other || shown.is_ok_and(|shown| shown != 0.0 && shown != 1.0), "{text}");
            }
        }

        #[test]
        fn every_interval_can_be_told(low in prop::num::f64::ANY, high in prop::num::f64::ANY, step in prop::num::f64::POSITIVE) {
            prop_assert!(!interval(low, high).is_empty() && interval(low, high).len() < 60);
            prop_assert!(tick(low, step).len() < 60);
        }
    }
}
