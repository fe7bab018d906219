//! Servers at addresses: some addresses answer for several hosts, some hosts answer at several addresses.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use crate::random::Random;
use crate::random_addresses::Server;

/// An address space with servers in it.
#[derive(Debug, Clone)]
pub struct Servers {
    space: u64,
    servers: Vec<Server>,
    at: BTreeMap<u64, u32>,
}

impl Servers {
    /// Creates `count` servers in a space of addresses. Most have one host and few pages; one in ten has several hosts, and one in
    /// fifty is a farm, which answers at 8 addresses and has 400 pages on each host.
    pub fn new(space: u64, count: usize, seed: u64) -> Self {
        let mut servers = Servers { space: space.max(1), servers: Vec::new(), at: BTreeMap::new() };
        for number in 0..count {
            let mut random = Random::part(seed, number as u64);
            let hosts = if random.chance(0.1) { 2 + random.below(8) } else { 1 };
            let farm = random.chance(0.02);
            let hosts = (0..hosts).map(|_| if farm { 400 } else { pages(&mut random) }).collect();
            let addresses = if farm { 8 } else { 1 };
            servers.assign_addresses(Server { hosts, addresses }, &mut random);
        }
        servers
    }

    fn assign_addresses(&mut self, server: Server, random: &mut Random) {
        let number = self.servers.len() as u32;
        let mut left = server.addresses;
        while left > 0 && (self.at.len() as u64) < self.space {
            let address = random.below(self.space as usize) as u64;
            if let Entry::Vacant(free) = self.at.entry(address) {
                free.insert(number);
                left -= 1;
            }
        }
        self.servers.push(server);
    }

    /// Number of addresses.
    pub fn space(&self) -> u64 {
        self.space
    }

    /// Returns the server that answers at an address.
    pub fn at(&self, address: u64) -> Option<&Server> {
        self.at.get(&address).map(|&number| &self.servers[number as usize])
    }

    /// Returns the true number of pages of all hosts.
    pub fn pages(&self) -> u64 {
        self.servers.iter().flat_map(|server| &server.hosts).sum()
    }

    /// All servers.
    pub fn servers(&self) -> &[Server] {
        &self.servers
    }
}

/// Pages of a host: many small ones and a few that hold most of the pages (a Pareto tail of exponent 1.3).
fn pages(random: &mut Random) -> u64 {
    let size = 40.0 * (1.0 - random.unit()).powf(-1.0 / 1.3);
    size.min(200_000.0) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_server_answers_at_its_addresses() {
        let servers = Servers::new(1 << 16, 500, 3);
        assert_eq!(servers.servers().len(), 500);
        let mut answers: u64 = 0;
        for address in 0..servers.space() {
            answers += u64::from(servers.at(address).is_some());
        }
        assert_eq!(answers, servers.servers().iter().map(|server| server.addresses).sum::<u64>());
        assert!(servers.servers().iter().any(|server| server.addresses > 1));
        assert!(servers.servers().iter().any(|server| server.hosts.len() > 1));
        assert!(servers.pages() > 500 * 40);
    }
}
