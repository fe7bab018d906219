//! The connected components of documents that are joined by pairs.

/// The documents of some pairs, sorted, each with the lowest number of its component. Costs 16 bytes for each end of a pair.
pub fn label(pairs: &[(u32, u32)]) -> Vec<(u32, u32)> {
    let mut documents: Vec<u32> = pairs.iter().flat_map(|&(a, b)| [a, b]).collect();
    documents.sort_unstable();
    documents.dedup();
    let place = |document: u32| documents.binary_search(&document).unwrap_or_default();
    let mut parents: Vec<usize> = (0..documents.len()).collect();
    for &(a, b) in pairs {
        let (a, b) = (root(&mut parents, place(a)), root(&mut parents, place(b)));
        // A root is the lowest of its set.
        parents[a.max(b)] = a.min(b);
    }
    let labelled = |at: usize| (documents[at], documents[root(&mut parents, at)]);
    (0..documents.len()).map(labelled).collect()
}

/// As few pairs as tie the same documents together: each document with the lowest of its component.
pub fn contract(pairs: &[(u32, u32)]) -> Vec<(u32, u32)> {
    let mut ties = label(pairs);
    ties.retain(|(document, lowest)| document != lowest);
    ties
}

fn root(parents: &mut [usize], mut at: usize) -> usize {
    while parents[at] != at {
        parents[at] = parents[parents[at]];
        at = parents[at];
    }
    at
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The plainest way: labels fall until none does.
    fn plain(pairs: &[(u32, u32)]) -> Vec<(u32, u32)> {
        let ends = pairs.iter().flat_map(|&(a, b)| [a, b]);
        let mut labels: std::collections::BTreeMap<u32, u32> = ends.map(|end| (end, end)).collect();
        loop {
            let before = labels.clone();
            for (a, b) in pairs {
                let lowest = labels[a].min(labels[b]);
                labels.insert(*a, lowest);
                labels.insert(*b, lowest);
            }
            if labels == before {
                return labels.into_iter().collect();
            }
        }
    }

    proptest! {
        #[test]
        fn labels_are_those_of_the_plainest_way(pairs in prop::collection::vec((0u32..40, 0u32..40), 0..60)) {
            prop_assert_eq!(label(&pairs), plain(&pairs));
            // In any parts and however often: contraction only takes away what says nothing new.
            let (one, two) = pairs.split_at(pairs.len() / 3);
            let mut ties = contract(one);
            ties.extend(contract(two));
            let mut documents = label(&pairs);
            documents.retain(|(document, lowest)| document != lowest);
            prop_assert_eq!(contract(&ties), documents);
        }
    }

    #[test]
    fn each_document_has_the_lowest_of_its_component() {
        let pairs = [(5, 2), (2, 9), (7, 8), (9, 5)];
        assert_eq!(label(&pairs), [(2, 2), (5, 2), (7, 7), (8, 7), (9, 2)]);
        assert_eq!(contract(&pairs), [(5, 2), (8, 7), (9, 2)]);
        assert_eq!((label(&[]), contract(&[(3, 3)])), (vec![], vec![]));
    }
}
