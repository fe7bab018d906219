//! The score of an answer against the truth. Pairs are counted class by class, never written out: a thousand equal documents
//! are half a million pairs.

use std::collections::{HashMap, HashSet};
use std::io;

use serde::Serialize;

use crate::exact::Truth;

/// The answer of a system about a corpus; documents are line numbers, from 0.
pub enum Answer {
    /// Clusters of documents; all but the first of each are removed.
    Clusters(Vec<Vec<u32>>),
    /// Pairs, and the removed documents, each with its witness.
    Pairs { pairs: Vec<(u32, u32)>, removed: Vec<(u32, u32)> },
}

/// The counts of a score; ratios are left to the reader of the output.
#[derive(Debug, Default, PartialEq, Serialize)]
pub struct Score {
    pub documents: usize,
    pub true_pairs: u64,
    pub pairs: u64,
    pub right_pairs: u64,
    /// Documents that go when one of each connected component of the truth stays, and those of them that did.
    pub removable: u64,
    pub removed: u64,
    pub removed_removable: u64,
    /// Removed documents that a kept one is truly similar to.
    pub justified: u64,
    /// True pairs of which at least one document was removed.
    pub settled: u64,
    /// Removed documents whose named witness is kept and truly similar; for systems that name one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub witnessed: Option<u64>,
}

/// Scores an answer about the first documents of a corpus.
pub fn score(truth: &Truth, documents: usize, answer: &Answer) -> io::Result<Score> {
    let index = TruthIndex::new(truth, documents);
    let mut score = Score { documents, true_pairs: index.pairs_where(|_| 0), ..Score::default() };
    let mut gone = vec![false; documents];
    match answer {
        Answer::Clusters(clusters) => {
            let cluster_of = cluster_of(clusters, documents)?;
            score.pairs = clusters.iter().map(|cluster| pair_count(cluster.len() as u64)).sum();
            score.right_pairs = index.pairs_where(|document| cluster_of[document as usize]);
            for cluster in clusters {
                let first = cluster.iter().min();
                cluster
                    .iter()
                    .filter(|&document| Some(document) != first)
                    .for_each(|&document| gone[document as usize] = true);
            }
        }
        Answer::Pairs { pairs, removed } => {
            let distinct: HashSet<_> = pairs.iter().map(|&(a, b)| (a.min(b), a.max(b))).collect();
            score.pairs = distinct.len() as u64;
            score.right_pairs = distinct.iter().filter(|&&(a, b)| index.are_similar(a, b)).count() as u64;
            removed.iter().for_each(|&(document, _)| gone[document as usize] = true);
            let holds = |&&(document, witness): &&(u32, u32)| {
                !gone[witness as usize] && index.are_similar(document, witness)
            };
            score.witnessed = Some(removed.iter().filter(holds).count() as u64);
        }
    }
    index.score_removals(&gone, &mut score);
    Ok(score)
}

fn cluster_of(clusters: &[Vec<u32>], documents: usize) -> io::Result<Vec<u32>> {
    // Documents in no cluster are alone in one of their own.
    let mut cluster_of: Vec<u32> =
        (0..documents as u32).map(|document| clusters.len() as u32 + document).collect();
    let mut seen = vec![false; documents];
    for (number, cluster) in clusters.iter().enumerate() {
        for &document in cluster {
            match seen.get_mut(document as usize) {
                Some(seen) if !*seen => *seen = true,
                _ => {
                    return Err(io::Error::other(format!(
                        "document {document} is in two clusters, or not in the corpus"
                    )));
                }
            }
            cluster_of[document as usize] = number as u32;
        }
    }
    Ok(cluster_of)
}

/// The truth about the first documents.
struct TruthIndex<'a> {
    class: &'a [u32],
    members: Vec<Vec<u32>>,
    /// Pairs of classes that have members.
    between: HashSet<(u32, u32)>,
}

impl<'a> TruthIndex<'a> {
    fn new(truth: &'a Truth, documents: usize) -> Self {
        let class = &truth.class[..documents];
        let classes = truth.class.iter().max().map_or(0, |&most| most as usize + 1);
        let mut members = vec![Vec::new(); classes];
        for (document, &class) in class.iter().enumerate() {
            members[class as usize].push(document as u32);
        }
        let here = |class: u32| !members[class as usize].is_empty();
        let between =
            truth.pairs.iter().map(|&(a, b, _)| (a, b)).filter(|&(a, b)| here(a) && here(b)).collect();
        Self { class, members, between }
    }

    fn are_similar(&self, a: u32, b: u32) -> bool {
        let (a, b) = (self.class[a as usize], self.class[b as usize]);
        a == b || self.between.contains(&(a.min(b), a.max(b)))
    }

    /// True pairs of documents with equal labels.
    fn pairs_where(&self, label: impl Fn(u32) -> u32) -> u64 {
        let count = |members: &Vec<u32>| {
            let mut counts: HashMap<u32, u64> = HashMap::new();
            members.iter().for_each(|&member| *counts.entry(label(member)).or_default() += 1);
            counts
        };
        let counts: Vec<_> = self.members.iter().map(count).collect();
        let inside = counts.iter().flat_map(HashMap::values).map(|&count| pair_count(count)).sum::<u64>();
        let shared = |(a, b): &(u32, u32)| -> u64 {
            let (few, many) = (&counts[*a as usize], &counts[*b as usize]);
            few.iter().map(|(label, count)| count * many.get(label).unwrap_or(&0)).sum()
        };
        inside + self.between.iter().map(shared).sum::<u64>()
    }

    fn score_removals(&self, gone: &[bool], score: &mut Score) {
        let kept_of =
            |members: &Vec<u32>| members.iter().filter(|&&member| !gone[member as usize]).count() as u64;
        let kept: Vec<u64> = self.members.iter().map(kept_of).collect();
        let mut has_kept_one: Vec<bool> = kept.iter().map(|&kept| kept > 0).collect();
        let mut both_kept: u64 = kept.iter().map(|&kept| pair_count(kept)).sum();
        for &(a, b) in &self.between {
            let (a, b) = (a as usize, b as usize);
            both_kept += kept[a] * kept[b];
            has_kept_one[a] |= kept[b] > 0;
            has_kept_one[b] |= kept[a] > 0;
        }
        let removable = self.removable();
        let count =
            |test: &dyn Fn(usize) -> bool| (0..gone.len()).filter(|&document| test(document)).count() as u64;
        score.settled = score.true_pairs - both_kept;
        score.removed = count(&|document| gone[document]);
        score.removable = count(&|document| removable[document]);
        score.removed_removable = count(&|document| gone[document] && removable[document]);
        score.justified = count(&|document| gone[document] && has_kept_one[self.class[document] as usize]);
    }

    /// All documents but the first of each connected component.
    fn removable(&self) -> Vec<bool> {
        let mut parent: Vec<u32> = (0..self.members.len() as u32).collect();
        for &(a, b) in &self.between {
            let (a, b) = (root(&mut parent, a), root(&mut parent, b));
            parent[a as usize] = b;
        }
        let mut seen = HashSet::new();
        self.class.iter().map(|&class| !seen.insert(root(&mut parent, class))).collect()
    }
}

fn root(parent: &mut [u32], mut node: u32) -> u32 {
    while parent[node as usize] != node {
        parent[node as usize] = parent[parent[node as usize] as usize];
        node = parent[node as usize];
    }
    node
}

fn pair_count(count: u64) -> u64 {
    count * count.saturating_sub(1) / 2
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exact::{self, tests as exact_tests};

    /// The same counts from pairs that are written out.
    fn brute_force_score(
        true_pairs: &[(usize, usize, f64)],
        documents: usize,
        found: &HashSet<(usize, usize)>,
        gone: &[bool],
    ) -> Score {
        let truth: HashSet<_> =
            true_pairs.iter().map(|&(a, b, _)| (a, b)).filter(|&(_, b)| b < documents).collect();
        let neighbours = |of: usize| {
            let other = move |&(a, b): &(usize, usize)| (a == of).then_some(b).or((b == of).then_some(a));
            truth.iter().filter_map(other)
        };
        let mut component: Vec<usize> = (0..documents).collect();
        for _ in 0..documents {
            for &(a, b) in &truth {
                let least = component[a].min(component[b]);
                (component[a], component[b]) = (least, least);
            }
        }
        let goes = |document: &usize| gone[*document];
        Score {
            documents,
            true_pairs: truth.len() as u64,
            pairs: found.len() as u64,
            right_pairs: found.intersection(&truth).count() as u64,
            removable: (0..documents).filter(|&document| component[document] != document).count() as u64,
            removed: (0..documents).filter(goes).count() as u64,
            removed_removable: (0..documents)
                .filter(goes)
                .filter(|&document| component[document] != document)
                .count() as u64,
            justified: (0..documents)
                .filter(goes)
                .filter(|&document| neighbours(document).any(|other| !gone[other]))
                .count() as u64,
            settled: truth.iter().filter(|&&(a, b)| gone[a] || gone[b]).count() as u64,
            witnessed: None,
        }
    }

    #[test]
    fn counts_by_class_equal_counts_of_pairs_that_are_written_out() {
        let texts = exact_tests::corpus(3, 200);
        let pairs = exact_tests::brute_force(&texts, 0.7);
        let truth = exact::join(&exact_tests::sets(&texts), 0.7);
        for (documents, modulus) in [(200, 40), (200, 200), (120, 17), (1, 2)] {
            let mut clusters: HashMap<u32, Vec<u32>> = HashMap::new();
            (0..documents as u32).for_each(|document| {
                clusters.entry(truth.class[document as usize] % modulus).or_default().push(document)
            });
            let clusters: Vec<_> = clusters.into_values().filter(|cluster| cluster.len() > 1).collect();
            let mut gone = vec![false; documents];
            let mut found = HashSet::new();
            for cluster in &clusters {
                cluster[1..].iter().for_each(|&document| gone[document as usize] = true);
                for (at, &b) in cluster.iter().enumerate() {
                    found.extend(cluster[..at].iter().map(|&a| (a as usize, b as usize)));
                }
            }
            let expected = brute_force_score(&pairs, documents, &found, &gone);
            assert_eq!(score(&truth, documents, &Answer::Clusters(clusters)).unwrap(), expected);
            let as_pairs = found.iter().map(|&(a, b)| (b as u32, a as u32)).collect();
            let removed: Vec<_> = (0..documents as u32)
                .filter(|&document| gone[document as usize])
                .map(|document| (document, 0))
                .collect();
            let by_hand = removed
                .iter()
                .filter(|(document, _)| {
                    !gone[0] && pairs.iter().any(|pair| pair.0 == 0 && pair.1 == *document as usize)
                })
                .count() as u64;
            let expected = Score { witnessed: Some(by_hand), ..expected };
            assert_eq!(
                score(&truth, documents, &Answer::Pairs { pairs: as_pairs, removed }).unwrap(),
                expected
            );
        }
    }

    #[test]
    fn a_document_in_two_clusters_is_no_answer() {
        let truth = Truth { threshold: 0.8, class: vec![0, 1, 2], pairs: vec![] };
        assert!(score(&truth, 3, &Answer::Clusters(vec![vec![0, 1], vec![1, 2]])).is_err());
        assert!(score(&truth, 2, &Answer::Clusters(vec![vec![0, 2]])).is_err());
    }
}
