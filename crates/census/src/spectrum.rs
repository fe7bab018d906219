//! How fast a walk on a regular graph forgets where it began: the second eigenvalue of its transition matrix.
//!
//! The graph is undirected; loops fill it up to degree `d`, so that the transition matrix is `I − L/d`, where `L` is the Laplacian
//! of the graph without loops. With `d` in the millions all eigenvalues of the former crowd at 1; those of the latter do not,
//! and are found by power iteration: the largest of `L`, and, below it and orthogonal to the constant vector, the largest of
//! `c·I − L`.

use crate::random::Random;

/// The eigenvalue of the transition matrix, other than the first, that is farthest from 0.
///
/// `neighbours` lists for each node the others that it is joined to, both ways and each once. Iteration stops when it gains
/// nothing more; it approaches from below, so the walk is never faster than it says but for rounding.
pub fn second_eigenvalue(neighbours: &[Vec<u32>], degree: u64) -> Option<f64> {
    let most = neighbours.iter().map(Vec::len).max()?;
    if neighbours.len() < 2 || most == 0 {
        return None;
    }
    // By Gershgorin no eigenvalue of the Laplacian is larger.
    let bound = 2.0 * most as f64;
    let smallest = bound - largest(neighbours, |value, laplacian| bound * value - laplacian);
    let greatest = largest(neighbours, |_, laplacian| laplacian);
    let [near, far] = [smallest, greatest].map(|eigenvalue| 1.0 - eigenvalue / degree as f64);
    Some(if near.abs() >= far.abs() { near } else { far })
}

/// The largest eigenvalue of the operator, on vectors orthogonal to the constant one.
fn largest(neighbours: &[Vec<u32>], operator: impl Fn(f64, f64) -> f64) -> f64 {
    const MOST: usize = 20_000;
    let mut random = Random::new(neighbours.len() as u64);
    let mut vector: Vec<f64> = neighbours.iter().map(|_| random.unit() - 0.5).collect();
    normalise(&mut vector);
    let mut before = f64::NEG_INFINITY;
    for round in 0..MOST {
        let mut next: Vec<f64> = neighbours
            .iter()
            .zip(&vector)
            .map(|(list, &value)| {
                let others: f64 = list.iter().map(|&other| vector[other as usize]).sum();
                operator(value, list.len() as f64 * value - others)
            })
            .collect();
        let quotient: f64 = next.iter().zip(&vector).map(|(a, b)| a * b).sum();
        normalise(&mut next);
        vector = next;
        // Looked at now and then: single steps gain little long before the end.
        if round % 50 == 49 {
            if (quotient - before).abs() <= 1e-10 * quotient.abs().max(1e-300) {
                return quotient;
            }
            before = quotient;
        }
    }
    before
}

/// Orthogonal to the constant vector, of length 1.
fn normalise(vector: &mut [f64]) {
    let mean = vector.iter().sum::<f64>() / vector.len() as f64;
    vector.iter_mut().for_each(|value| *value -= mean);
    let norm = vector.iter().map(|value| value * value).sum::<f64>().sqrt();
    if norm > 0.0 {
        vector.iter_mut().for_each(|value| *value /= norm);
    }
}

/// Steps after which the walk is within `epsilon` of uniform over `nodes` nodes: `ln(n/ε)/(1−|λ2|)`.
pub fn burn_in(nodes: f64, epsilon: f64, second: f64) -> f64 {
    (nodes / epsilon).ln() / (1.0 - second.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complete(nodes: u32) -> Vec<Vec<u32>> {
        (0..nodes).map(|node| (0..nodes).filter(|&other| other != node).collect()).collect()
    }

    #[test]
    fn small_graphs() {
        assert!((second_eigenvalue(&complete(3), 4).unwrap() - 0.25).abs() < 1e-9);
        assert!((second_eigenvalue(&complete(2), 3).unwrap() - 1.0 / 3.0).abs() < 1e-9);
        // Without loops two nodes swap for ever.
        assert!((second_eigenvalue(&complete(2), 1).unwrap() + 1.0).abs() < 1e-9);
        assert_eq!(second_eigenvalue(&[vec![]], 3), None);
    }

    #[test]
    fn a_ring_has_the_known_spectrum() {
        let n = 40;
        let ring: Vec<Vec<u32>> = (0..n).map(|node| vec![(node + 1) % n, (node + n - 1) % n]).collect();
        let wanted = 1.0 - (2.0 - 2.0 * (std::f64::consts::TAU / f64::from(n)).cos()) / 1000.0;
        let found = second_eigenvalue(&ring, 1000).unwrap();
        assert!(((1.0 - found) / (1.0 - wanted) - 1.0).abs() < 1e-3, "{found} {wanted}");
    }

    #[test]
    fn the_walk_of_the_slides() {
        let steps = burn_in(1e9, 0.01, 1.0 - 1e-6);
        assert!((steps / 2.533e7 - 1.0).abs() < 1e-4, "{steps}");
        // At 20 neighbours of 10 million, that many steps leave a page 51 times.
        assert_eq!((steps * 20.0 / 1e7).round(), 51.0);
    }
}
