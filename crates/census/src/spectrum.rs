//! The speed at which a walk forgets its start: the second eigenvalue of its transition matrix, on a regular graph
//! ([`second_eigenvalue`]) or to random neighbours ([`gap`]).
//!
//! A regular graph is undirected; loops fill it up to degree `d`, so that the transition matrix is `I − L/d`, where `L` is the Laplacian
//! of the graph without loops. With `d` in the millions all eigenvalues of the former crowd at 1, and in a web a hub
//! stretches those of the latter over many orders of magnitude, so that plain power iteration would take millions of rounds. The
//! smallest one of `L` orthogonal to the constant vector is found by inverse power iteration, each round solved by conjugate
//! gradients; the largest one matters only where `d` is small, and there power iteration does.

use crate::graph::Graph;
use crate::random::Random;

/// Rounds of an iteration.
const ROUNDS: usize = 2_000;

/// The relative change of an eigenvalue in a round at which iteration stops, on small graphs, where the exact value is wanted.
const EXACT: f64 = 1e-7;
/// The same on large ones, where the order of magnitude is enough.
const ROUGH: f64 = 1e-3;
/// Nodes from which on a graph is large.
const LARGE: usize = 10_000;

/// An undirected graph without loops: for each node the others that it is joined to, both ways and each once.
pub trait Neighbours {
    /// Number of nodes.
    fn nodes(&self) -> usize;

    /// The neighbours of a node.
    fn of(&self, node: usize) -> &[u32];
}

impl Neighbours for [Vec<u32>] {
    fn nodes(&self) -> usize {
        self.len()
    }

    fn of(&self, node: usize) -> &[u32] {
        &self[node]
    }
}

impl Neighbours for Vec<Vec<u32>> {
    fn nodes(&self) -> usize {
        self.len()
    }

    fn of(&self, node: usize) -> &[u32] {
        &self[node]
    }
}

/// A graph as [`Graph::undirected`] makes it.
impl Neighbours for Graph {
    fn nodes(&self) -> usize {
        self.nodes()
    }

    fn of(&self, node: usize) -> &[u32] {
        self.links(node as u32)
    }
}

/// The eigenvalue of the transition matrix, other than the first, that is farthest from 0; 1 for a graph of several parts.
///
/// The value is too small where iteration stops short: the walk is never faster than it says, but for rounding.
pub fn second_eigenvalue<N: Neighbours + ?Sized>(neighbours: &N, degree: u64) -> Option<f64> {
    let most = (0..neighbours.nodes()).map(|node| neighbours.of(node).len()).max()?;
    if neighbours.nodes() < 2 || most == 0 {
        return None;
    }
    if !is_connected(neighbours) {
        return Some(1.0);
    }
    let near = 1.0 - smallest(neighbours, &vec![1.0; neighbours.nodes()]) / degree as f64;
    // By Gershgorin no eigenvalue of the Laplacian is above twice the largest degree.
    if degree >= 2 * most as u64 {
        return Some(near);
    }
    let far = 1.0 - largest(neighbours) / degree as f64;
    Some(if near.abs() >= far.abs() { near } else { far })
}

/// The gap between 1 and the second eigenvalue of the walk that goes to a random neighbour in every step, or, if it is lazy, in every
/// second one on average: one over it is about the number of steps after which the walk forgets where it is. 0 for a graph of several
/// parts, none for one with a node that is joined to no other.
///
/// Eigenvalues below 0 are left aside: a lazy walk has none, and of the other they say how much it alternates. Where iteration
/// stops short, the gap is too large. Sixty thousand pages take seconds, a third of a million
/// more than half a minute.
pub fn gap<N: Neighbours + ?Sized>(neighbours: &N, lazy: bool) -> Option<f64> {
    let degrees: Vec<f64> = (0..neighbours.nodes()).map(|node| neighbours.of(node).len() as f64).collect();
    if degrees.len() < 2 || degrees.contains(&0.0) {
        return None;
    }
    if !is_connected(neighbours) {
        return Some(0.0);
    }
    Some(smallest(neighbours, &degrees) / if lazy { 2.0 } else { 1.0 })
}

fn is_connected<N: Neighbours + ?Sized>(neighbours: &N) -> bool {
    let mut seen = vec![false; neighbours.nodes()];
    let mut open = vec![0];
    seen[0] = true;
    while let Some(node) = open.pop() {
        for &next in neighbours.of(node) {
            if !std::mem::replace(&mut seen[next as usize], true) {
                open.push(next as usize);
            }
        }
    }
    seen.into_iter().all(|seen| seen)
}

/// The Laplacian applied to a vector.
fn laplacian<N: Neighbours + ?Sized>(neighbours: &N, vector: &[f64]) -> Vec<f64> {
    let row = |(node, &value): (usize, &f64)| {
        let list = neighbours.of(node);
        list.len() as f64 * value - list.iter().map(|&other| vector[other as usize]).sum::<f64>()
    };
    vector.iter().enumerate().map(row).collect()
}

/// The smallest `λ` but 0 with `L·x = λ·M·x`, where `M` has these masses on its diagonal: 1 for a regular graph, degrees for a walk to
/// random neighbours.
fn smallest<N: Neighbours + ?Sized>(neighbours: &N, masses: &[f64]) -> f64 {
    let mut vector = start(neighbours.nodes());
    normalise(&mut vector, masses);
    let mut before = f64::INFINITY;
    let precision = if neighbours.nodes() < LARGE { EXACT } else { ROUGH };
    for _ in 0..ROUNDS {
        let right: Vec<f64> = vector.iter().zip(masses).map(|(value, mass)| value * mass).collect();
        vector = solve(neighbours, &right, precision);
        normalise(&mut vector, masses);
        let quotient = dot(&laplacian(neighbours, &vector), &vector);
        if (before - quotient).abs() <= precision * quotient {
            return quotient;
        }
        before = quotient;
    }
    before
}

/// The largest eigenvalue of the Laplacian.
fn largest<N: Neighbours + ?Sized>(neighbours: &N) -> f64 {
    let ones = vec![1.0; neighbours.nodes()];
    let mut vector = start(neighbours.nodes());
    normalise(&mut vector, &ones);
    let mut quotient = 0.0;
    for _ in 0..ROUNDS {
        let mut next = laplacian(neighbours, &vector);
        quotient = dot(&next, &vector);
        normalise(&mut next, &ones);
        vector = next;
    }
    quotient
}

/// A vector whose Laplacian is `right`, which is orthogonal to the constant vector: conjugate gradients with the diagonal
/// as preconditioner.
fn solve<N: Neighbours + ?Sized>(neighbours: &N, right: &[f64], precision: f64) -> Vec<f64> {
    let scaled = |vector: &[f64]| -> Vec<f64> {
        let scale = |(node, value): (usize, &f64)| value / neighbours.of(node).len().max(1) as f64;
        vector.iter().enumerate().map(scale).collect()
    };
    let mut solution = vec![0.0; right.len()];
    let mut rest = right.to_vec();
    let mut other = scaled(&rest);
    let mut direction = other.clone();
    let mut product = dot(&rest, &other);
    // The square of a length, and a tenth of the precision of what it is for.
    let enough = (0.1 * precision).powi(2) * product;
    for _ in 0..ROUNDS {
        if product <= enough {
            break;
        }
        let image = laplacian(neighbours, &direction);
        let step = product / dot(&direction, &image);
        solution.iter_mut().zip(&direction).for_each(|(value, along)| *value += step * along);
        rest.iter_mut().zip(&image).for_each(|(value, along)| *value -= step * along);
        other = scaled(&rest);
        let next = dot(&rest, &other);
        let turn = next / product;
        direction.iter_mut().zip(&other).for_each(|(value, fresh)| *value = fresh + turn * *value);
        product = next;
    }
    solution
}

fn start(nodes: usize) -> Vec<f64> {
    let mut random = Random::new(nodes as u64);
    (0..nodes).map(|_| random.unit() - 0.5).collect()
}

fn dot(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(a, b)| a * b).sum()
}

/// Makes a vector orthogonal to the constant vector and of length 1, both by masses.
fn normalise(vector: &mut [f64], masses: &[f64]) {
    let mean = dot(vector, masses) / masses.iter().sum::<f64>();
    vector.iter_mut().for_each(|value| *value -= mean);
    let norm = vector.iter().zip(masses).map(|(value, mass)| value * value * mass).sum::<f64>().sqrt();
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
        assert_eq!(second_eigenvalue(&[vec![]][..], 3), None);
        let two_parts: Vec<Vec<u32>> = vec![vec![1], vec![0], vec![3], vec![2]];
        assert_eq!(second_eigenvalue(&two_parts, 9), Some(1.0));
    }

    #[test]
    fn a_ring_has_the_known_spectrum() {
        let n = 40;
        let ring: Vec<Vec<u32>> = (0..n).map(|node| vec![(node + 1) % n, (node + n - 1) % n]).collect();
        let wanted = 1.0 - (2.0 - 2.0 * (std::f64::consts::TAU / f64::from(n)).cos()) / 1000.0;
        let found = second_eigenvalue(&ring, 1000).unwrap();
        assert!(((1.0 - found) / (1.0 - wanted) - 1.0).abs() < 1e-5, "{found} {wanted}");
    }

    #[test]
    fn gaps_of_walks_to_random_neighbours() {
        // Complete: the other eigenvalues are −1/(n−1). Ring: cos(2π/n).
        assert!((gap(&complete(5), false).unwrap() - 1.25).abs() < 1e-9);
        let n = 30;
        let arcs: Vec<(u32, u32)> = (0..n).map(|node| (node, (node + 1) % n)).collect();
        let ring = Graph::of_arcs(n as usize, &arcs).undirected();
        let wanted = 1.0 - (std::f64::consts::TAU / f64::from(n)).cos();
        assert!((gap(&ring, false).unwrap() / wanted - 1.0).abs() < 1e-5);
        assert!((gap(&ring, true).unwrap() / wanted - 0.5).abs() < 1e-5);
        // A star: 0 for all but two of the nodes, whatever their degrees.
        let star = Graph::of_arcs(20, &(1..20).map(|leaf| (0, leaf)).collect::<Vec<_>>()).undirected();
        assert!((gap(&star, false).unwrap() - 1.0).abs() < 1e-5);
        assert_eq!(gap(&Graph::of_arcs(4, &[(0, 1), (2, 3)]).undirected(), true), Some(0.0));
        assert_eq!(gap(&Graph::of_arcs(3, &[(0, 1)]).undirected(), true), None);
    }

    #[test]
    fn a_star_has_the_known_spectrum() {
        // Laplacian 0, 1 for all but two of the nodes, and their number.
        let star: Vec<Vec<u32>> =
            (0..50).map(|node| if node == 0 { (1..50).collect() } else { vec![0] }).collect();
        assert!((second_eigenvalue(&star, 1_000).unwrap() - 0.999).abs() < 1e-9);
        // The largest is 50: with a degree of 50 the eigenvalue is 0, and 1 − 1/50 is farther from it.
        assert!((second_eigenvalue(&star, 50).unwrap() - 0.98).abs() < 1e-6);
    }

    #[test]
    fn the_walk_of_the_slides() {
        let steps = burn_in(1e9, 0.01, 1.0 - 1e-6);
        assert!((steps / 2.533e7 - 1.0).abs() < 1e-4, "{steps}");
        // At 20 neighbours of 10 million, that many steps leave a page 51 times.
        assert_eq!((steps * 20.0 / 1e7).round(), 51.0);
    }
}
