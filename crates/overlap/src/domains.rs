//! Tables of hosts and of top-level domains.

use std::collections::BTreeMap;

use crate::address::{host, top_level};

/// Counts of addresses by name (host or top-level domain), the highest first, ties in the order of the names.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tally {
    /// Names with their counts.
    pub counts: Vec<(String, u64)>,
    /// Addresses counted.
    pub total: u64,
    /// Those that have no host.
    pub without_host: u64,
}

impl Tally {
    /// Counts by host.
    pub fn of_hosts<'a>(addresses: impl IntoIterator<Item = &'a str>) -> Self {
        Tally::by(addresses, |host| host.to_owned())
    }

    /// Counts by top-level domain.
    pub fn of_top_levels<'a>(addresses: impl IntoIterator<Item = &'a str>) -> Self {
        Tally::by(addresses, |host| top_level(host).to_owned())
    }

    fn by<'a>(addresses: impl IntoIterator<Item = &'a str>, name: impl Fn(&str) -> String) -> Self {
        let (mut counts, mut tally) = (BTreeMap::<String, u64>::new(), Tally::default());
        for address in addresses {
            tally.total += 1;
            match host(address) {
                Some(host) => *counts.entry(name(&host)).or_default() += 1,
                None => tally.without_host += 1,
            }
        }
        tally.counts = counts.into_iter().collect();
        // The sort is stable: equal counts stay in the order of their names.
        tally.counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        tally
    }

    /// Returns the number of addresses with this name.
    pub fn count(&self, name: &str) -> u64 {
        self.counts.iter().find(|(found, _)| found == name).map_or(0, |(_, count)| *count)
    }

    /// Returns the share of all addresses that have this name; none if there are no addresses.
    pub fn share(&self, name: &str) -> Option<f64> {
        (self.total > 0).then(|| self.count(name) as f64 / self.total as f64)
    }

    /// The names with the highest counts.
    pub fn top(&self, most: usize) -> &[(String, u64)] {
        &self.counts[..most.min(self.counts.len())]
    }
}

/// The names that are among the first `most` of any tally, in the order of the first tally that has them.
pub fn names<'t>(tallies: &[&'t Tally], most: usize) -> Vec<&'t str> {
    let mut names: Vec<&str> = Vec::new();
    for tally in tallies {
        for (name, _) in tally.top(most) {
            if !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_and_domains_are_counted() {
        let addresses =
            ["http://a.com/1", "http://a.com/2", "http://b.org/", "http://c.org/", "http://1.2.3.4/", "none"];
        let hosts = Tally::of_hosts(addresses);
        assert_eq!(hosts.top(2), [("a.com".to_owned(), 2), ("1.2.3.4".to_owned(), 1)]);
        assert_eq!((hosts.total, hosts.without_host, hosts.counts.len()), (6, 1, 4));
        let domains = Tally::of_top_levels(addresses);
        assert_eq!((domains.count("org"), domains.count("ip"), domains.count("net")), (2, 1, 0));
        assert_eq!(domains.share("com"), Some(2.0 / 6.0));
        assert_eq!(Tally::default().share("com"), None);
        let other = Tally::of_top_levels(["http://x.net/"]);
        assert_eq!(names(&[&domains, &other], 2), ["com", "org", "net"]);
    }
}
