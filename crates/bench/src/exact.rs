//! The truth: every pair of documents whose sets of word 5-grams have a Jaccard similarity at the threshold or above.
//!
//! Documents with equal sets are one class, and classes are joined: sets in the order of their sizes, each compared with the
//! smaller ones that share one of its rarest shingles (prefix filter) and are large enough (length filter). Whatever passes is
//! counted in full. A set is held as 64-bit hashes of its shingles; that two shingles of a corpus of a billion collide has a
//! probability of 3 %, and then moves one similarity by one shingle.

use std::collections::HashMap;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::rows;

pub const WORDS: usize = 5;

/// All near-duplicates of a corpus: documents with equal sets are in one class, and similar classes are paired.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct Truth {
    pub threshold: f64,
    /// The class of every document. Documents of a class have equal sets.
    pub class: Vec<u32>,
    /// Pairs of different classes, each once.
    pub pairs: Vec<(u32, u32, f64)>,
}

/// Sets of shingle hashes, one behind another.
#[derive(Default)]
pub struct Sets {
    hashes: Vec<u64>,
    ends: Vec<usize>,
}

impl Sets {
    /// Adds the set of a text of words with one blank between.
    pub fn push(&mut self, text: &str) -> io::Result<()> {
        if !is_clean(text) {
            return Err(io::Error::other("a text is not lower-case words with one blank between"));
        }
        let begin = self.hashes.len();
        each_shingle(text, |shingle| self.hashes.push(xxh3_64(shingle.as_bytes())));
        self.hashes[begin..].sort_unstable();
        let mut last = None;
        let mut kept = begin;
        for from in begin..self.hashes.len() {
            let hash = self.hashes[from];
            if last != Some(hash) {
                self.hashes[kept] = hash;
                kept += 1;
                last = Some(hash);
            }
        }
        self.hashes.truncate(kept);
        self.ends.push(kept);
        Ok(())
    }

    pub fn len(&self) -> usize {
        self.ends.len()
    }

    fn get(&self, index: usize) -> &[u64] {
        let begin = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.hashes[begin..self.ends[index]]
    }
}

fn is_clean(text: &str) -> bool {
    let fits = |&byte: &u8| byte == b' ' || byte.is_ascii_lowercase() || byte.is_ascii_digit();
    text.as_bytes().iter().all(fits) && !text.starts_with(' ') && !text.ends_with(' ') && !text.contains("  ")
}

/// Every window of five words; a shorter text is one shingle.
fn each_shingle(text: &str, mut see: impl FnMut(&str)) {
    let mut starts = [0; WORDS];
    let mut words = 1;
    for (at, _) in text.match_indices(' ') {
        if words >= WORDS {
            see(&text[starts[words % WORDS]..at]);
        }
        starts[words % WORDS] = at + 1;
        words += 1;
    }
    see(if words >= WORDS { &text[starts[words % WORDS]..] } else { text });
}

/// Reads a corpus and joins it with itself.
pub fn of_corpus(path: &Path, threshold: f64) -> io::Result<Truth> {
    let mut sets = Sets::default();
    rows::documents(path, |row| sets.push(&row.text))?;
    Ok(join(&sets, threshold))
}

/// The exact join.
pub fn join(sets: &Sets, threshold: f64) -> Truth {
    let (class, mut members) = classes(sets);
    members.sort_by_key(|&member| sets.get(member).len());
    let index = Index::new(sets, &members, threshold);
    let mut pairs = Vec::new();
    index.candidates(|smaller, larger| {
        let (a, b) = (members[smaller], members[larger]);
        if let Some(similarity) = similar(sets.get(a), sets.get(b), threshold) {
            let (a, b) = (class[a], class[b]);
            pairs.push((a.min(b), a.max(b), similarity));
        }
    });
    pairs.sort_by_key(|pair| (pair.0, pair.1));
    Truth { threshold, class, pairs }
}

/// The class of every document, and the first document of every class.
fn classes(sets: &Sets) -> (Vec<u32>, Vec<usize>) {
    let mut firsts = Vec::new();
    let mut known: HashMap<&[u64], u32> = HashMap::new();
    let class = (0..sets.len()).map(|document| {
        *known.entry(sets.get(document)).or_insert_with(|| {
            firsts.push(document);
            firsts.len() as u32 - 1
        })
    });
    (class.collect(), firsts)
}

/// The index of sets by their rarest shingles. Sets are numbered from the smallest.
struct Index {
    /// For every set: its size, and the end of its groups.
    sizes: Vec<usize>,
    group_ends: Vec<usize>,
    groups: Vec<u32>,
    /// For every group, a shingle that several prefixes have: the end of its sets.
    member_ends: Vec<usize>,
    members: Vec<u32>,
    threshold: f64,
}

impl Index {
    fn new(sets: &Sets, order: &[usize], threshold: f64) -> Self {
        let rough = RoughCounts::of(sets, order);
        let mut entries = Vec::new();
        let mut prefix = Vec::new();
        for (number, &member) in order.iter().enumerate() {
            let set = sets.get(member);
            prefix.clear();
            prefix.extend(set.iter().map(|&hash| (rough.get(hash), hash)));
            prefix.sort_unstable();
            let length = set.len() - at_least(threshold * set.len() as f64) + 1;
            entries.extend(prefix.iter().take(length).map(|&(_, hash)| (hash, number as u32)));
        }
        entries.sort_unstable();
        Self::from_entries(&entries, order.iter().map(|&member| sets.get(member).len()).collect(), threshold)
    }

    fn from_entries(entries: &[(u64, u32)], sizes: Vec<usize>, threshold: f64) -> Self {
        let mut members = Vec::new();
        let mut member_ends = Vec::new();
        let mut by_set = Vec::new();
        for group in entries.chunk_by(|a, b| a.0 == b.0).filter(|group| group.len() > 1) {
            by_set.extend(group.iter().map(|&(_, set)| (set, member_ends.len() as u32)));
            members.extend(group.iter().map(|&(_, set)| set));
            member_ends.push(members.len());
        }
        by_set.sort_unstable();
        let mut group_ends = vec![0; sizes.len()];
        for (at, &(set, _)) in by_set.iter().enumerate() {
            group_ends[set as usize] = at + 1;
        }
        for set in 1..group_ends.len() {
            group_ends[set] = group_ends[set].max(group_ends[set - 1]);
        }
        let groups = by_set.into_iter().map(|(_, group)| group).collect();
        Self { sizes, group_ends, groups, member_ends, members, threshold }
    }

    /// Pairs of sets that pass both filters, each once, the smaller set first.
    fn candidates(&self, mut see: impl FnMut(usize, usize)) {
        let begin = |ends: &[usize], at: usize| if at == 0 { 0 } else { ends[at - 1] };
        let mut seen_with = vec![usize::MAX; self.sizes.len()];
        for larger in 0..self.sizes.len() {
            let least = at_least(self.threshold * self.sizes[larger] as f64);
            for &group in &self.groups[begin(&self.group_ends, larger)..self.group_ends[larger]] {
                let group = group as usize;
                for &smaller in &self.members[begin(&self.member_ends, group)..self.member_ends[group]] {
                    let smaller = smaller as usize;
                    if smaller >= larger {
                        break;
                    }
                    if self.sizes[smaller] >= least && seen_with[smaller] != larger {
                        seen_with[smaller] = larger;
                        see(smaller, larger);
                    }
                }
            }
        }
    }
}

/// Approximate numbers of sets that have a shingle: shingles share counters. Any fixed order of shingles finds all pairs; an
/// order by rareness merely finds them sooner.
struct RoughCounts(Vec<u32>);

impl RoughCounts {
    const BITS: u32 = 24;

    fn of(sets: &Sets, order: &[usize]) -> Self {
        let mut counts = Self(vec![0; 1 << Self::BITS]);
        for hash in order.iter().flat_map(|&member| sets.get(member)) {
            counts.0[Self::slot(*hash)] += 1;
        }
        counts
    }

    fn get(&self, hash: u64) -> u32 {
        self.0[Self::slot(hash)]
    }

    fn slot(hash: u64) -> usize {
        (hash >> (64 - Self::BITS)) as usize
    }
}

/// The smallest whole number that is not below; forgives what rounding added.
fn at_least(value: f64) -> usize {
    (value - 1e-9).ceil() as usize
}

/// The Jaccard similarity of two sorted sets, if it reaches the threshold.
fn similar(a: &[u64], b: &[u64], threshold: f64) -> Option<f64> {
    let total = a.len() + b.len();
    let needed = at_least(threshold / (1.0 + threshold) * total as f64);
    let (mut at, mut bt, mut shared) = (0, 0, 0);
    while at < a.len() && bt < b.len() {
        if shared + (a.len() - at).min(b.len() - bt) < needed {
            return None;
        }
        shared += usize::from(a[at] == b[bt]);
        let (left, right) = (a[at], b[bt]);
        at += usize::from(left <= right);
        bt += usize::from(right <= left);
    }
    let similarity = shared as f64 / (total - shared) as f64;
    (similarity >= threshold).then_some(similarity)
}

#[cfg(test)]
pub mod tests {
    use std::collections::HashSet;

    use super::*;

    /// Random documents with edited and equal copies among them.
    pub fn corpus(seed: u64, documents: usize) -> Vec<String> {
        let mut state = seed;
        let mut random = move |below: usize| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) as usize % below
        };
        let mut texts: Vec<Vec<String>> = Vec::new();
        for _ in 0..documents {
            let mut text = match texts.len() {
                0 => Vec::new(),
                known => texts[random(known)].clone(),
            };
            if text.is_empty() || random(3) == 0 {
                text = (0..1 + random(60)).map(|_| format!("w{}", random(40))).collect();
            }
            for _ in 0..random(4) {
                let at = random(text.len());
                text[at] = format!("w{}", random(40));
            }
            texts.push(text);
        }
        texts.into_iter().map(|text| text.join(" ")).collect()
    }

    pub fn sets(texts: &[String]) -> Sets {
        let mut sets = Sets::default();
        texts.iter().for_each(|text| sets.push(text).unwrap());
        sets
    }

    /// Every pair of documents with its similarity, by the definition.
    pub fn brute_force(texts: &[String], threshold: f64) -> Vec<(usize, usize, f64)> {
        let set_of = |text: &String| -> HashSet<String> {
            let words: Vec<&str> = text.split(' ').collect();
            words.windows(WORDS.min(words.len())).map(|window| window.join(" ")).collect()
        };
        let sets: Vec<_> = texts.iter().map(set_of).collect();
        let mut pairs = Vec::new();
        for b in 0..sets.len() {
            for a in 0..b {
                let shared = sets[a].intersection(&sets[b]).count() as f64;
                let similarity = shared / (sets[a].union(&sets[b]).count() as f64);
                if similarity >= threshold {
                    pairs.push((a, b, similarity));
                }
            }
        }
        pairs.sort_by_key(|pair| (pair.0, pair.1));
        pairs
    }

    /// All pairs of documents, written out.
    pub fn written_out(truth: &Truth) -> Vec<(usize, usize, f64)> {
        let between: HashMap<(u32, u32), f64> =
            truth.pairs.iter().map(|pair| ((pair.0, pair.1), pair.2)).collect();
        assert_eq!(between.len(), truth.pairs.len(), "a pair was found twice");
        let mut pairs = Vec::new();
        for a in 0..truth.class.len() {
            for b in a + 1..truth.class.len() {
                let (left, right) = (truth.class[a].min(truth.class[b]), truth.class[a].max(truth.class[b]));
                let similarity = if left == right { Some(1.0) } else { between.get(&(left, right)).copied() };
                pairs.extend(similarity.map(|similarity| (a, b, similarity)));
            }
        }
        pairs
    }

    #[test]
    fn the_join_finds_what_comparing_all_with_all_finds() {
        for seed in 0..4 {
            let texts = corpus(seed, 200);
            let all = brute_force(&texts, 0.3);
            for threshold in [0.3, 0.5, 0.8, 0.9, 1.0] {
                let expected: Vec<_> = all.iter().copied().filter(|pair| pair.2 >= threshold).collect();
                assert!(expected.len() > 20, "seed {seed}, threshold {threshold}: too few pairs to tell");
                let found = written_out(&join(&sets(&texts), threshold));
                assert_eq!(found, expected, "seed {seed}, threshold {threshold}");
            }
        }
    }

    #[test]
    fn shingles_are_windows_of_five_words_and_short_texts_are_one() {
        let shingles = |text: &str| {
            let mut seen = Vec::new();
            each_shingle(text, |shingle| seen.push(shingle.to_owned()));
            seen
        };
        assert_eq!(shingles("a b c d"), ["a b c d"]);
        assert_eq!(shingles("a b c d e"), ["a b c d e"]);
        assert_eq!(shingles("a bb c d e ff g"), ["a bb c d e", "bb c d e ff", "c d e ff g"]);
    }

    #[test]
    fn text_that_other_tokenisers_would_split_differently_is_refused() {
        for text in ["a  b", " a", "a ", "A b", "a-b", "é", "a\nb"] {
            assert!(Sets::default().push(text).is_err(), "{text:?}");
        }
        assert!(Sets::default().push("a b1 2").is_ok());
    }
}
