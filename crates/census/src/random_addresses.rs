//! The pages of a web from servers at random addresses (O'Neill and others 1997, Lawrence and Giles 1999): draw addresses, find
//! those with a server, and count the pages of each server.
//!
//! `pages = addresses · (pages found / addresses drawn)`. One server can answer for many hosts, of which a caller without a name sees
//! one; another answers at many addresses and is met too often. Both can be put right where they are known.

use crate::estimate::Estimate;

/// The server that answers at an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Server {
    /// Pages of each host behind the address; the first is the one that answers when no name is given.
    pub hosts: Vec<u64>,
    /// The number of addresses at which the same server answers.
    pub addresses: u64,
}

/// The pages of a server that are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counting {
    /// The pages of the host that answers: the published way.
    FirstHost,
    /// Those of all hosts behind the address.
    AllHosts,
    /// Those of all hosts, divided by the number of addresses that they are met at.
    OncePerServer,
}

impl Counting {
    /// Returns the number of pages that a server counts for.
    pub fn pages(self, server: &Server) -> f64 {
        let all = server.hosts.iter().map(|&pages| pages as f64).sum::<f64>();
        match self {
            Counting::FirstHost => server.hosts.first().map_or(0.0, |&pages| pages as f64),
            Counting::AllHosts => all,
            Counting::OncePerServer => all / server.addresses.max(1) as f64,
        }
    }
}

/// Estimates the pages of the web from the pages that each answering server counts for. The interval comes from a bootstrap of the
/// servers in which their number varies as well, as it does with the draws; none with fewer than two.
pub fn pages(space: u64, draws: u64, found: &[f64], seed: u64) -> Option<Estimate> {
    if draws == 0 || found.len() < 2 {
        return None;
    }
    let scale = space as f64 / draws as f64;
    let value = scale * found.iter().sum::<f64>();
    Estimate::bootstrap(value, seed, |random| {
        Some(scale * found.iter().map(|pages| pages * f64::from(random.poisson())).sum::<f64>())
    })
}

/// The number of servers that answer, from how many did.
pub fn servers(space: u64, draws: u64, answered: u64) -> Option<Estimate> {
    Estimate::share(answered, draws).map(|share| share.times(space as f64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn a_server_counts_in_three_ways() {
        let server = Server { hosts: vec![30, 10], addresses: 4 };
        let ways = [Counting::FirstHost, Counting::AllHosts, Counting::OncePerServer];
        assert_eq!(ways.map(|way| way.pages(&server)), [30.0, 40.0, 10.0]);
        assert_eq!(Counting::FirstHost.pages(&Server { hosts: Vec::new(), addresses: 1 }), 0.0);
    }

    #[test]
    fn the_web_of_1999() {
        // 2.8 million servers in 2^32 addresses, 289 pages each.
        let found = vec![289.0; 2_500];
        let draws = (2_500.0 * 2f64.powi(32) / 2.8e6) as u64;
        let estimate = pages(1 << 32, draws, &found, 1).unwrap();
        assert!((estimate.value / 8.092e8 - 1.0).abs() < 1e-3, "{estimate:?}");
        // Poisson numbers of servers with equal pages: the relative error is one over the root of their number.
        assert!((estimate.error / estimate.value - 0.02).abs() < 0.003);
        let servers = servers(1 << 32, draws, 2_500).unwrap();
        assert!((servers.value / 2.8e6 - 1.0).abs() < 1e-3 && servers.covers(2.8e6));
        assert_eq!(pages(1 << 32, draws, &[1.0], 1), None);
    }

    #[test]
    fn intervals_cover_the_truth_almost_as_often_as_they_say() {
        // 10,000 addresses, every tenth with a server of 1 to 9 pages: 5,000 pages.
        let at = |address: usize| address.is_multiple_of(10).then(|| (1 + address / 10 % 9) as f64);
        let truth: f64 = (0..10_000).filter_map(at).sum();
        let covered = (0..60)
            .filter(|&run| {
                let mut random = Random::part(41, run);
                let found: Vec<f64> = (0..2_000).filter_map(|_| at(random.below(10_000))).collect();
                pages(10_000, 2_000, &found, run).unwrap().covers(truth)
            })
            .count();
        assert!(covered >= 52, "{covered} of 60");
    }
}
