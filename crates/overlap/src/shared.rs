//! Documents whose address is in the other corpus, too.

use std::collections::BTreeMap;

use crate::address::Matching;

/// The addresses that two lists have in common, and the documents that have them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SharedAddresses {
    /// Each document of the source whose address is in the target, with the first target document of that address.
    pub documents: Vec<(usize, usize)>,
    /// The shared addresses, each once, as the position of the first source document that has it.
    pub addresses: Vec<usize>,
}

/// Compares two lists of addresses; documents are numbered by their position in the lists.
pub fn shared<S: AsRef<str>, T: AsRef<str>>(
    source: &[S],
    target: &[T],
    matching: Matching,
) -> SharedAddresses {
    let mut positions: BTreeMap<String, usize> = BTreeMap::new();
    for (position, address) in target.iter().enumerate() {
        positions.entry(matching.key(address.as_ref()).into_owned()).or_insert(position);
    }
    let mut seen = vec![false; target.len()];
    let mut shared = SharedAddresses::default();
    for (position, address) in source.iter().enumerate() {
        let Some(&other) = positions.get(matching.key(address.as_ref()).as_ref()) else { continue };
        shared.documents.push((position, other));
        if !std::mem::replace(&mut seen[other], true) {
            shared.addresses.push(position);
        }
    }
    shared
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_count_and_addresses_count_once() {
        let source = ["http://a.org", "http://A.org/", "http://b.org/x", "http://c.org/"];
        let target = ["http://c.org", "http://a.org/", "http://a.org/#top"];
        let found = shared(&source, &target, Matching::Normal);
        assert_eq!(found.documents, [(0, 1), (1, 1), (3, 0)]);
        assert_eq!(found.addresses, [0, 3]);
        assert_eq!(shared(&source, &target, Matching::Exact), SharedAddresses::default());
        let none: [&str; 0] = [];
        assert_eq!(shared(&none, &target, Matching::Normal), SharedAddresses::default());
    }

    #[test]
    fn the_same_as_comparing_all_with_all() {
        let address = |n: usize| format!("http://{}.org/{}", ["a", "A", "b"][n % 3], n * 7 % 11);
        let (source, target): (Vec<String>, Vec<String>) =
            ((0..40).map(address).collect(), (10..60).map(|n| address(n * 5)).collect());
        for matching in [Matching::Normal, Matching::Exact] {
            let same = |a: &String, b: &String| matching.key(a) == matching.key(b);
            let wanted: Vec<(usize, usize)> = (0..source.len())
                .filter_map(|s| (0..target.len()).find(|&t| same(&source[s], &target[t])).map(|t| (s, t)))
                .collect();
            assert_eq!(shared(&source, &target, matching).documents, wanted);
        }
    }
}
