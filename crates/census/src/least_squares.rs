//! Sizes of several engines at once, from all of their pairwise overlaps.
//!
//! Each pair gives an equation `f_xy·x = f_yx·y`; the sizes are those that come nearest to all of them,
//! `min Σ (f_xy·x − f_yx·y)²` with the first engine's size fixed at 1, by the normal equations. The answer depends on which engine
//! is fixed, so that [`unit_norm`] offers another: no size is fixed, their squares sum to 1, and then all are scaled.

use crate::estimate::Estimate;
use crate::estimate::resampled;
use crate::presence_records::{PresenceRecords, Shares};
use crate::random::Random;

/// Sizes that fit best.
#[derive(Debug, Clone, PartialEq)]
pub struct Sizes {
    /// Size of each engine, the first being 1. Negative ones are possible when data contradict each other.
    pub values: Vec<f64>,
    /// Sum of the squared differences that are left.
    pub squares: f64,
}

/// The best sizes with the first engine fixed at 1. None when some engine is not tied to the others by any pair.
pub fn sizes(shares: &Shares) -> Option<Sizes> {
    let rows = equations(shares);
    let unknowns = shares.engines().checked_sub(1)?;
    let mut matrix = vec![vec![0.0; unknowns]; unknowns];
    let mut right = vec![0.0; unknowns];
    for row in &rows {
        for i in 0..unknowns {
            // The first column is known and moves to the other side.
            right[i] -= row[i + 1] * row[0];
            for j in 0..unknowns {
                matrix[i][j] += row[i + 1] * row[j + 1];
            }
        }
    }
    let mut values = vec![1.0];
    values.extend(solve(matrix, right)?);
    Some(with_squares(values, &rows))
}

/// The best sizes with their squares summing to 1, scaled so that the first is 1: the smallest singular vector of the
/// equations.
pub fn unit_norm(shares: &Shares) -> Option<Sizes> {
    let rows = equations(shares);
    let engines = shares.engines();
    let mut matrix = vec![vec![0.0; engines]; engines];
    for row in &rows {
        for i in 0..engines {
            for j in 0..engines {
                matrix[i][j] += row[i] * row[j];
            }
        }
    }
    // Inverse iteration; the shift lets an exact solution, whose matrix is singular, pass.
    let shift = 1e-10 * (0..engines).map(|i| matrix[i][i]).sum::<f64>();
    for (i, row) in matrix.iter_mut().enumerate() {
        row[i] += shift;
    }
    let mut vector = vec![1.0; engines];
    for _ in 0..100 {
        vector = solve(matrix.clone(), vector)?;
        let norm = vector.iter().map(|value| value * value).sum::<f64>().sqrt();
        vector.iter_mut().for_each(|value| *value /= norm);
    }
    let first = *vector.first()?;
    (first != 0.0).then(|| with_squares(vector.into_iter().map(|value| value / first).collect(), &rows))
}

/// The sizes with the error that the sample gives them: bootstrap over the pages drawn from each engine.
pub fn sizes_with_errors(records: &PresenceRecords, seed: u64) -> Option<Vec<Estimate>> {
    let best = sizes(&records.shares())?;
    let mut draws = vec![Vec::new(); best.values.len()];
    for round in 0..crate::estimate::ROUNDS as u64 {
        let again = resample(records, &mut Random::part(seed, round));
        let Some(found) = sizes(&again.shares()) else { continue };
        for (draws, value) in draws.iter_mut().zip(found.values) {
            draws.push(value);
        }
    }
    best.values.iter().zip(draws).map(|(&value, draws)| Estimate::from_draws(value, draws)).collect()
}

/// Draws as many pages of each engine from its own, with replacement.
pub(crate) fn resample(records: &PresenceRecords, random: &mut Random) -> PresenceRecords {
    let again = |drawn: &Vec<_>| resampled(drawn, random).into_iter().copied().collect();
    PresenceRecords { by_engine: records.by_engine.iter().map(again).collect() }
}

/// `|x∩y|` in the unit of the sizes: the mean of what both directions say.
pub fn overlap(shares: &Shares, sizes: &[f64], x: usize, y: usize) -> Option<f64> {
    Some((shares.of(x, y)? * sizes[x] + shares.of(y, x)? * sizes[y]) / 2.0)
}

/// One row for each pair with data, one column for each engine.
fn equations(shares: &Shares) -> Vec<Vec<f64>> {
    let row = |(x, y)| {
        let mut row = vec![0.0; shares.engines()];
        row[x] = shares.of(x, y)?;
        row[y] = -shares.of(y, x)?;
        Some(row)
    };
    shares.pairs().filter_map(row).collect()
}

fn with_squares(values: Vec<f64>, rows: &[Vec<f64>]) -> Sizes {
    let rest = |row: &Vec<f64>| row.iter().zip(&values).map(|(a, b)| a * b).sum::<f64>().powi(2);
    let squares = rows.iter().map(rest).sum();
    Sizes { values, squares }
}

/// Solves linear equations by elimination, the largest pivot first; none when they do not determine the answer.
fn solve(mut matrix: Vec<Vec<f64>>, mut right: Vec<f64>) -> Option<Vec<f64>> {
    let n = right.len();
    for column in 0..n {
        let pivot =
            (column..n).max_by(|&i, &j| matrix[i][column].abs().total_cmp(&matrix[j][column].abs()))?;
        if matrix[pivot][column].abs() < 1e-14 {
            return None;
        }
        matrix.swap(column, pivot);
        right.swap(column, pivot);
        let (above, below) = matrix.split_at_mut(column + 1);
        let leading = &above[column];
        for (row, other) in below.iter_mut().enumerate() {
            let factor = other[column] / leading[column];
            other.iter_mut().zip(leading).for_each(|(value, lead)| *value -= factor * lead);
            right[column + 1 + row] -= factor * right[column];
        }
    }
    for row in (0..n).rev() {
        let known: f64 = (row + 1..n).map(|place| matrix[row][place] * right[place]).sum();
        right[row] = (right[row] - known) / matrix[row][row];
    }
    Some(right)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::presence_records::PresenceRecord;

    /// Four engines that hold independent shares of the world.
    pub(crate) fn independent() -> Shares {
        const WORLD: [f64; 4] = [0.5, 0.4, 0.25, 0.2];
        Shares::by(4, |_, y| Some(WORLD[y]))
    }

    fn perturbed() -> Shares {
        const F: [[f64; 4]; 4] = [
            [1.0, 0.42, 0.24, 0.21],
            [0.48, 1.0, 0.26, 0.20],
            [0.52, 0.38, 1.0, 0.19],
            [0.50, 0.41, 0.25, 1.0],
        ];
        Shares::by(4, |x, y| Some(F[x][y]))
    }

    fn assert_near(found: &[f64], wanted: &[f64], tolerance: f64) {
        assert_eq!(found.len(), wanted.len());
        for (found, wanted) in found.iter().zip(wanted) {
            assert!((found - wanted).abs() < tolerance, "{found} is not {wanted}");
        }
    }

    #[test]
    fn the_world_of_four_engines() {
        let found = sizes(&independent()).unwrap();
        assert_near(&found.values, &[1.0, 0.8, 0.5, 0.4], 1e-12);
        assert!(found.squares < 1e-24);
        let other = unit_norm(&independent()).unwrap();
        assert_near(&other.values, &[1.0, 0.8, 0.5, 0.4], 1e-9);
    }

    #[test]
    fn the_perturbed_world() {
        let found = sizes(&perturbed()).unwrap();
        assert_near(&found.values, &[1.0, 0.844185, 0.505204, 0.412444], 5e-7);
        assert!((found.squares - 0.00155625).abs() < 5e-9);
    }

    #[test]
    fn no_other_sizes_are_better() {
        let shares = perturbed();
        let best = sizes(&shares).unwrap();
        let unit = unit_norm(&shares).unwrap();
        let rows = equations(&shares);
        let norm = |sizes: &Sizes| sizes.values.iter().map(|value| value * value).sum::<f64>();
        let mut random = Random::new(4);
        for _ in 0..500 {
            let mut values = best.values.clone();
            values[1..].iter_mut().for_each(|value| *value += 0.05 * (random.unit() - 0.5));
            let other = with_squares(values, &rows);
            assert!(other.squares >= best.squares);
            assert!(other.squares / norm(&other) >= unit.squares / norm(&unit));
        }
    }

    #[test]
    fn pairs_without_data_are_left_out_and_strangers_have_no_size() {
        let some = Shares::by(3, |x, y| if (x, y) == (1, 2) { None } else { Some([0.5, 0.4, 0.25][y]) });
        assert_near(&sizes(&some).unwrap().values, &[1.0, 0.8, 0.5], 1e-12);
        assert_eq!(sizes(&Shares::by(3, |x, y| (x < 2 && y < 2).then_some(0.5))), None);
        assert_near(&[overlap(&independent(), &[1.0, 0.8, 0.5, 0.4], 0, 1).unwrap()], &[0.4], 1e-12);
    }

    #[test]
    fn errors_shrink_with_the_sample() {
        let sample = |count: usize| {
            let mut random = Random::new(6);
            let mut records = PresenceRecords::new(2);
            for (engine, share) in [(0, 0.4), (1, 0.5)] {
                for _ in 0..count {
                    let mut record = PresenceRecord::of(engine);
                    record.note(1 - engine, random.chance(share));
                    records.by_engine[engine].push(record);
                }
            }
            sizes_with_errors(&records, 1).unwrap()[1]
        };
        let (small, large) = (sample(100), sample(1_600));
        assert!(large.covers(0.8) && small.error > 3.0 * large.error && small.error < 5.5 * large.error);
    }
}
