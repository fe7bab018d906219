//! The positions of numbers on an axis, and the choice of the numbers written there.

use crate::numbers;
use crate::study::Axis;
use crate::svg::width_of;

/// An axis from one place of the picture to another.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scale {
    /// The ends; their logarithms when steps are factors.
    low: f64,
    high: f64,
    logarithmic: bool,
    /// The coordinates of the ends in the picture.
    start: f64,
    end: f64,
}

/// A number that is written at an axis.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tick {
    /// Its coordinate in the picture.
    pub(crate) at: f64,
    /// The number.
    pub(crate) label: String,
}

/// Free room between two numbers.
const GAP: f64 = 10.0;

/// Steps that an axis is rounded to.
const STEPS: f64 = 5.0;

impl Scale {
    /// The axis that was asked for, or one that has room for the values. What cannot lie on it is left out.
    pub(crate) fn of(axis: &Axis, values: impl IntoIterator<Item = f64>, (start, end): (f64, f64)) -> Self {
        let transformed = |value: &f64| if axis.logarithmic { value.log10() } else { *value };
        let requested = axis.range.map(|(low, high)| (transformed(&low), transformed(&high)));
        let requested = requested.filter(|(low, high)| low.is_finite() && high.is_finite() && low < high);
        let (low, high) = requested.unwrap_or_else(|| {
            let values =
                values.into_iter().map(|value| transformed(&value)).filter(|value| value.is_finite());
            let ends = values.fold(None, |ends: Option<(f64, f64)>, value| {
                let (low, high) = ends.unwrap_or((value, value));
                Some((low.min(value), high.max(value)))
            });
            if axis.logarithmic { round_factors(ends) } else { round_steps(ends) }
        });
        Scale { low, high, logarithmic: axis.logarithmic, start, end }
    }

    /// Returns the coordinate of a number, perhaps outside of the picture; none if the axis cannot hold it.
    pub(crate) fn coordinate(&self, value: f64) -> Option<f64> {
        let transformed = if self.logarithmic { value.log10() } else { value };
        transformed.is_finite().then(|| self.at(transformed))
    }

    /// Returns the coordinate of a number; that of the nearer end of the axis if it is beyond it.
    pub(crate) fn clamped_coordinate(&self, value: f64) -> f64 {
        let below = self.logarithmic && value <= 0.0;
        let coordinate = if below { None } else { self.coordinate(value) };
        let (least, most) = (self.start.min(self.end), self.start.max(self.end));
        coordinate.unwrap_or(if value > 0.0 { self.end } else { self.start }).clamp(least, most)
    }

    /// `transformed` is the value, or its logarithm.
    fn at(&self, transformed: f64) -> f64 {
        // Halves, since the whole may be more than a number can be.
        let share = (transformed / 2.0 - self.low / 2.0) / (self.high / 2.0 - self.low / 2.0);
        let share = if share.is_finite() { share.clamp(-100.0, 100.0) } else { 0.5 };
        self.start + share * (self.end - self.start)
    }

    /// Returns at most about `most` numbers to write, in their order.
    pub(crate) fn ticks(&self, most: usize) -> Vec<Tick> {
        let ticks = if self.logarithmic { self.factor_ticks(most) } else { self.step_ticks(most) };
        if ticks.len() >= 2 || !self.logarithmic {
            return ticks;
        }
        // Less than a factor of two from end to end: steps say more.
        let plain =
            Scale { low: 10f64.powf(self.low), high: 10f64.powf(self.high), logarithmic: false, ..*self };
        let numbers = plain.step_numbers(most);
        numbers.into_iter().filter_map(|(number, step)| self.tick(number, step)).collect()
    }

    /// As many numbers as can be written beside each other.
    pub(crate) fn spaced_ticks(&self) -> Vec<Tick> {
        let room = |tick: &Tick| width_of(&tick.label) / 2.0;
        let apart = |ticks: &Vec<Tick>| {
            ticks.windows(2).all(|two| two[1].at - two[0].at >= room(&two[0]) + room(&two[1]) + GAP)
        };
        (1..=8).rev().map(|most| self.ticks(most)).find(apart).unwrap_or_default()
    }

    fn tick(&self, number: f64, step: f64) -> Option<Tick> {
        let at = self.coordinate(number)?;
        Some(Tick { at, label: numbers::tick(number, step) })
    }

    fn step_ticks(&self, most: usize) -> Vec<Tick> {
        let numbers = self.step_numbers(most);
        numbers.into_iter().filter_map(|(number, step)| self.tick(number, step)).collect()
    }

    /// Round numbers between the ends, each with their distance.
    fn step_numbers(&self, most: usize) -> Vec<(f64, f64)> {
        let step = round_step((self.high / 2.0 - self.low / 2.0) / most.max(1) as f64 * 2.0);
        let first = (self.low / step - 1e-9).ceil();
        if !first.is_finite() {
            return Vec::new();
        }
        let numbers = (0..=most + 1).map(|index| (first + index as f64) * step);
        let mut numbers: Vec<(f64, f64)> = numbers
            .take_while(|number| *number <= self.high + step * 1e-9)
            .map(|number| (number, step))
            .collect();
        numbers.dedup();
        numbers
    }

    /// Powers of ten, and where these are few, their doubles and halves.
    fn factor_ticks(&self, most: usize) -> Vec<Tick> {
        let powers = self.low.ceil() as i32..=self.high.floor() as i32;
        let count = powers.clone().count();
        let digits: &[f64] = if count * 3 <= most + 1 { &[1.0, 2.0, 5.0] } else { &[1.0] };
        let every = count.div_ceil(most.max(1)).max(1);
        let between = |number: &f64| {
            let transformed = number.log10();
            transformed >= self.low - 1e-9 && transformed <= self.high + 1e-9
        };
        let all = (self.low.floor() as i32..=self.high.floor() as i32)
            .filter(|power| power.rem_euclid(every as i32) == 0);
        let numbers = all.flat_map(|power| digits.iter().map(move |digit| digit * 10f64.powi(power)));
        // The step of a lonely number is its own size.
        numbers.filter(between).filter_map(|number| self.tick(number, number)).collect()
    }
}

/// The least of 1, 2, 5, 10, … (times a power of ten) that is not below `step`.
fn round_step(step: f64) -> f64 {
    let power = 10f64.powf(step.log10().floor());
    let digit = [1.0, 2.0, 5.0, 10.0].into_iter().find(|digit| digit * power >= step * (1.0 - 1e-9));
    let round = digit.unwrap_or(10.0) * power;
    if round.is_finite() && round > 0.0 { round } else { step }
}

/// Ends of an axis of steps: round numbers, and nothing cut off.
fn round_steps(ends: Option<(f64, f64)>) -> (f64, f64) {
    let Some((mut low, mut high)) = ends else { return (0.0, 1.0) };
    if low == high {
        let around = if low == 0.0 { 1.0 } else { low.abs() / 2.0 };
        (low, high) = (low - around, high + around);
    }
    // Axes begin at nothing where that costs little room.
    if low > 0.0 && low < high * 0.4 {
        low = 0.0;
    } else if high < 0.0 && high > low * 0.4 {
        high = 0.0;
    }
    let step = round_step((high / 2.0 - low / 2.0) / STEPS * 2.0);
    let rounded = ((low / step + 1e-9).floor() * step, (high / step - 1e-9).ceil() * step);
    let usable = |(low, high): &(f64, f64)| low.is_finite() && high.is_finite() && low < high;
    let unrounded = (low.max(f64::MIN), high.min(f64::MAX));
    [rounded, unrounded].into_iter().find(usable).unwrap_or((low - 1.0, low + 1.0))
}

/// Ends of an axis of factors, as logarithms: 1, 2 or 5 times a power of ten.
fn round_factors(ends: Option<(f64, f64)>) -> (f64, f64) {
    let Some((low, high)) = ends else { return (0.0, 1.0) };
    let parts = [0.0, 2f64.log10(), 5f64.log10(), 1.0];
    let below = |value: f64| {
        let part = parts.iter().rev().find(|part| value.floor() + **part <= value + 1e-9);
        value.floor() + part.unwrap_or(&0.0)
    };
    let above = |value: f64| {
        let part = parts.iter().find(|part| value.floor() + **part >= value - 1e-9);
        value.floor() + part.unwrap_or(&1.0)
    };
    let (low, high) = (below(low), above(high));
    if low < high { (low, high) } else { (low - 1.0, high + 1.0) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn labels(axis: &Axis, values: &[f64], most: usize) -> Vec<String> {
        let scale = Scale::of(axis, values.iter().copied(), (0.0, 100.0));
        scale.ticks(most).into_iter().map(|tick| tick.label).collect()
    }

    fn steps(range: Option<(f64, f64)>) -> Axis {
        Axis { range, ..Axis::default() }
    }

    fn factors(range: Option<(f64, f64)>) -> Axis {
        Axis { range, logarithmic: true, ..Axis::default() }
    }

    #[test]
    fn steps_are_round() {
        assert_eq!(labels(&steps(None), &[0.11, 0.97], 5), ["0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels(&steps(None), &[0.93, 0.999], 5), ["0.92", "0.94", "0.96", "0.98", "1.00"]);
        assert_eq!(labels(&steps(None), &[3.0, 41_000.0], 5), ["0", "10k", "20k", "30k", "40k", "50k"]);
        assert_eq!(labels(&steps(Some((0.0, 64.0))), &[], 4), ["0", "20", "40", "60"]);
        assert_eq!(labels(&steps(None), &[7.0], 5), ["0", "5", "10", "15"]);
    }

    #[test]
    fn factors_are_powers_of_ten() {
        assert_eq!(labels(&factors(None), &[1.0, 1e6], 8), ["1", "10", "100", "1000", "10k", "100k", "1M"]);
        assert_eq!(labels(&factors(None), &[1.0, 1e6], 4), ["1", "100", "10k", "1M"]);
        assert_eq!(labels(&factors(None), &[0.3, 40.0], 6), ["0.2", "0.5", "1", "2", "5", "10", "20", "50"]);
        assert_eq!(labels(&factors(None), &[12.0, 180.0], 6), ["10", "20", "50", "100", "200"]);
        assert_eq!(labels(&factors(Some((100.0, 104.0))), &[], 4), ["100", "101", "102", "103", "104"]);
        assert_eq!(labels(&factors(None), &[-3.0, 0.0], 6), ["1", "2", "5", "10"]);
    }

    #[test]
    fn places_are_in_proportion() {
        let scale = Scale::of(&steps(Some((0.0, 10.0))), [], (0.0, 100.0));
        assert_eq!(
            (scale.coordinate(2.5), scale.coordinate(20.0), scale.coordinate(f64::NAN)),
            (Some(25.0), Some(200.0), None)
        );
        assert_eq!(
            (scale.clamped_coordinate(20.0), scale.clamped_coordinate(f64::NEG_INFINITY)),
            (100.0, 0.0)
        );
        let scale = Scale::of(&factors(Some((1.0, 100.0))), [], (100.0, 0.0));
        assert_eq!(
            (scale.coordinate(10.0), scale.coordinate(0.0), scale.clamped_coordinate(0.0)),
            (Some(50.0), None, 100.0)
        );
    }

    proptest! {
        #[test]
        fn ticks_lie_on_the_axis(
            values in prop::collection::vec(prop::num::f64::ANY, 0..5),
            logarithmic: bool,
            range in prop::option::of((prop::num::f64::ANY, prop::num::f64::ANY)),
            most in 2usize..10,
        ) {
            let axis = Axis { name: String::new(), range, logarithmic };
            let scale = Scale::of(&axis, values.iter().copied(), (10.0, 110.0));
            let ticks = scale.ticks(most);
            prop_assert!(ticks.len() <= 3 * most + 3);
            for tick in &ticks {
                prop_assert!(tick.at > 9.9 && tick.at < 110.1, "{tick:?}");
            }
            prop_assert!(ticks.windows(2).all(|two| two[0].at <= two[1].at));
            for value in values {
                prop_assert!((10.0..=110.0).contains(&scale.clamped_coordinate(value)));
            }
        }
    }
}
