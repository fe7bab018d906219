//! `exact`: all pairs whose similarity reaches the threshold, none missed. The truth that every other method is held
//! against.
//!
//! A set-similarity join by prefix filter (Chaudhuri, Ganti, Kaushik 2006; Bayardo, Ma, Srikant 2007; Xiao et al.
//! 2008). Let all shingles of the corpus stand in one fixed order, rare ones first. Two sets of which each shares at
//! least `o` of its `n` shingles with the other must share one among the first `n − o + 1` of both. So those are the
//! keys. The order comes from a survey that counts the shingles of one document in eight in a table of fixed size; counts
//! that run together or are a little off are harmless, for any fixed order is right and rare-first is merely fast.
//!
//! A shingle that occurs in many documents would make a giant group. But two such sets share `l` shingles among the first
//! `n − o + l` (Wang, Li, Feng 2012); so a frequent shingle is a key only together with a second one behind it. Pairs of
//! shingles are many where the prefix is long: there, frequent shingles are keys by themselves, and sets near the
//! border have keys of both kinds.
//!
//! The tag of a key is the most that two sets can share if this is the first shingle they share: the position filter.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU16, Ordering};

use lookalike_hash as hash;
use lookalike_hash::SortBuffers;
use lookalike_model::{Recipe, Similarity, Threshold};

use crate::{
    Abilities, About, Advising, Buffers, Grouping, Key, Member, Method, MethodError, Page, Score, Setting,
    Sketch, Spec, Survey, shares,
};

const VERSION: u32 = 2;

/// One document in so many is surveyed.
const SAMPLING_INTERVAL: u16 = 8;

/// Counters of the survey: 32 MiB, whatever the corpus; few in unit tests, so that shingles do share some.
const COUNTERS: usize = if cfg!(test) { 1 << 6 } else { 1 << 24 };

/// A shingle that occurs more often is a key only together with another.
const FREQUENT: u16 = 256;

/// Prefixes of about this length have so many pairs (8,000) that shingles had better stand alone.
const LONG_PREFIX: f64 = if cfg!(test) { 6.0 } else { 128.0 };

/// The description of the method that `lookalike methods` shows.
pub(crate) const ABOUT: About = About {
    name: "exact",
    aliases: &[],
    summary: "every pair at or above the threshold, none missed",
    source: "prefix filter: Chaudhuri, Ganti, Kaushik 2006; position filter: Xiao et al. 2008; second shingle: Wang, Li, Feng 2012",
    formula: "\
order shingles from rare to frequent; sets of n and m shingles with Jaccard >= t share at least t*n of them,
so they share one of the first n - ceil(t*n) + 1: these are the keys; accept: the sizes allow the threshold",
    example: "lookalike pairs --method exact --threshold 0.8 docs.jsonl -o pairs.jsonl",
    parameters: &[
        ("frequent", "a shingle that occurs more often is a key only together with another"),
        ("similarity", "jaccard, containment or cosine; the run's"),
        ("threshold", "the run's"),
        ("shingle", "words per shingle; the run's"),
    ],
    make: Exact::make,
};

/// The method `exact`.
#[derive(Debug)]
pub(crate) struct Exact {
    similarity: Similarity,
    threshold: Threshold,
    shingle: usize,
    frequent: u16,
    counters: Counters,
}

impl Exact {
    pub(crate) fn make(mut spec: Spec, setting: &Setting) -> Result<Box<dyn Method>, MethodError> {
        let wanted = "a number from 1 to 65534 is wanted";
        let frequent = spec.value("frequent", FREQUENT, wanted, |&number| number > 0 && number < u16::MAX)?;
        // What the keys depend on; it comes from the run unless a recipe is made real again.
        let wanted = "what a run could measure by is wanted";
        let similarity = spec.value("similarity", setting.similarity, wanted, |_| true)?;
        let threshold = spec.value("threshold", setting.threshold, wanted, |_| true)?;
        let shingle = spec.value("shingle", setting.shingle, wanted, |&words| words > 0)?;
        spec.finish()?;
        if matches!(similarity, Similarity::Edit | Similarity::CosineTf) {
            return Err(MethodError::Unable(format!(
                "the method exact cannot find all pairs by {similarity}; it can by jaccard, containment and cosine"
            )));
        }
        Ok(Box::new(Exact { similarity, threshold, shingle, frequent, counters: Counters(OnceLock::new()) }))
    }

    /// The fewest shingles that a set of `size` shares with any set it is similar to.
    fn least_shared(&self, size: usize) -> usize {
        let share = match self.similarity {
            // sqrt(|A|·|B|) ≥ |A|·t, since the smaller set has at least t² of the larger; a hair lower costs little.
            Similarity::Cosine => (self.threshold.value().powi(2) * size as f64 - 1e-6).ceil() as usize,
            _ => self.threshold.min_count(size as u64) as usize,
        };
        share.clamp(1, size.max(1))
    }

    /// The fewest shingles that sets of these sizes share if they are similar.
    fn least_of_both(&self, a: u32, b: u32) -> u64 {
        let (a, b) = (u64::from(a), u64::from(b));
        match self.similarity {
            Similarity::Cosine => (self.threshold.value() * ((a * b) as f64).sqrt() - 1e-6).ceil() as u64,
            _ => {
                let (n, d) = (self.threshold.numerator(), self.threshold.denominator());
                ((a + b) * n).div_ceil(n + d)
            }
        }
    }

    /// The least ratio of the sizes of two similar sets.
    fn least_ratio(&self) -> f64 {
        let threshold = self.threshold.value();
        if self.similarity == Similarity::Cosine { threshold * threshold } else { threshold }
    }

    /// Keys for similarities that bound the size of the other set.
    fn prefix_keys(&self, order: &[u64], keys: &mut Vec<Key>) {
        let size = order.len();
        let least = self.least_shared(size);
        let one = size - least + 1;
        let two = size.min(one + 1);
        // Prefixes of similar sets differ at most by the ratio of their sizes, give or take what rounding does.
        let ratio = self.least_ratio();
        let pairs = one as f64 <= LONG_PREFIX / ratio + 2.0;
        let alone = one as f64 >= LONG_PREFIX * ratio - 2.0;
        for first in 0..one {
            let token = order[first];
            let frequent = token >> 48 > self.frequent.into();
            // Sets that need share but one shingle have no second one to ask for.
            if !frequent || least == 1 || alone {
                keys.push(Key { value: hash::mix(token), tag: (size - first) as u32 });
            }
            if frequent && pairs {
                let together = |second: usize| Key {
                    value: hash::gram(&[hash::mix(token), order[second]]),
                    tag: (size - second + 1) as u32,
                };
                keys.extend((first + 1..two).map(together));
            }
        }
    }

    /// Keys for containment: the other set may have any size, so all of its shingles are keys, and those of the prefix
    /// are marked.
    fn containment_keys(&self, order: &[u64], keys: &mut Vec<Key>) {
        let size = order.len();
        let prefix = size - self.least_shared(size) + 1;
        let key = |(index, &token): (usize, &u64)| Key {
            value: hash::mix(token),
            tag: ((size - index) as u32) << 1 | u32::from(index < prefix),
        };
        keys.extend(order.iter().enumerate().map(key));
    }
}

/// The shingles of a document.
#[derive(Default)]
struct ShingleBuffers {
    shingles: Vec<u64>,
    /// The same from rare to frequent, as numbers.
    ordered: Vec<u64>,
    sorting: SortBuffers,
}

impl Method for Exact {
    fn recipe(&self) -> Recipe {
        Recipe::new("exact", VERSION)
            .with("frequent", self.frequent)
            .with("shingle", self.shingle)
            .with("similarity", self.similarity)
            .with("threshold", self.threshold)
    }

    fn payload_bytes(&self) -> usize {
        4
    }

    fn sketch(&self, page: &Page<'_>, sketch: &mut Sketch) {
        sketch.clear();
        let ShingleBuffers { shingles, ordered, sorting } = sketch.buffers.own();
        shingles.clear();
        page.grams(self.shingle).take_into(usize::MAX, sorting.unsorted());
        hash::append_set(shingles, sorting);
        ordered.clear();
        self.counters.each(shingles, |count, shingle| ordered.push(order(count, shingle)));
        // Only the prefix need be in order.
        let prefix = match self.similarity {
            Similarity::Containment => ordered.len(),
            _ => (ordered.len() + 2).saturating_sub(self.least_shared(ordered.len())).min(ordered.len()),
        };
        if prefix < ordered.len() {
            ordered.select_nth_unstable(prefix);
        }
        ordered[..prefix].sort_unstable();
        sketch.length = ordered.len() as u32;
        sketch.payload.extend_from_slice(&sketch.length.to_le_bytes());
        if ordered.is_empty() {
            return;
        }
        match self.similarity {
            Similarity::Containment => self.containment_keys(ordered, &mut sketch.keys),
            _ => self.prefix_keys(ordered, &mut sketch.keys),
        }
    }

    /// Accepts a pair whose sizes allow the threshold, as for containment they always do. The score is the ratio of the
    /// sizes, the greatest Jaccard similarity that they allow.
    fn accept(&self, a: &[u8], b: &[u8], _shared: u32) -> Option<Score> {
        let (a, b) = (shares::number(a), shares::number(b));
        let (small, large) = (a.min(b), a.max(b));
        let near =
            self.similarity == Similarity::Containment || self.least_of_both(small, large) <= small.into();
        near.then(|| Score::even(f64::from(small) / f64::from(large.max(1))))
    }

    fn abilities(&self) -> Abilities<'_> {
        Abilities {
            tagged: true,
            sketches_words_alone: true,
            survey: Some(self),
            grouping: Some(self),
            advising: Some(self),
            ..Abilities::default()
        }
    }
}

impl Grouping for Exact {
    fn plausible(&self, a: Member, b: Member) -> bool {
        if self.similarity != Similarity::Containment {
            return self.least_of_both(a.length, b.length) <= a.tag.min(b.tag).into();
        }
        let most = (a.tag >> 1).min(b.tag >> 1) as usize;
        let inside =
            |member: Member| member.tag & 1 == 1 && self.least_shared(member.length as usize) <= most;
        inside(a) || inside(b)
    }

    fn least_group(&self) -> usize {
        // Frequency is guessed from a sample: a shingle that seems rare may be in somewhat more documents.
        2 * usize::from(self.frequent) + 8 * usize::from(SAMPLING_INTERVAL)
    }
}

impl Advising for Exact {
    fn advice(&self) -> Option<String> {
        let more = match self.similarity {
            Similarity::Containment => " By containment every shingle is a key, which takes much disk.",
            _ => "",
        };
        Some(format!(
            "exact reads the input twice and finds every pair by {} at {} or more, but for those that meet only in \
             groups above --max-group, which are counted.{more}",
            self.similarity, self.threshold
        ))
    }
}

/// Approximate numbers of occurrences of shingles: several shingles may share a counter.
#[derive(Debug)]
struct Counters(OnceLock<Box<[AtomicU16]>>);

impl Counters {
    fn table(&self) -> &[AtomicU16] {
        // Memory that comes zeroed costs nothing before it is touched.
        // SAFETY: an atomic number has the layout of the number, and all bytes of that may be 0.
        self.0.get_or_init(|| unsafe { Box::new_zeroed_slice(COUNTERS).assume_init() })
    }

    /// Shows the counter of each shingle. Counters lie all over memory, so they are prefetched some shingles ahead.
    fn each(&self, shingles: &[u64], mut each: impl FnMut(&AtomicU16, u64)) {
        const PREFETCH_DISTANCE: usize = 16;
        let table = self.table();
        for (index, &shingle) in shingles.iter().enumerate() {
            if let Some(&later) = shingles.get(index + PREFETCH_DISTANCE) {
                prefetch(&table[slot(later)]);
            }
            each(&table[slot(shingle)], shingle);
        }
    }
}

/// Brings a counter into the cache.
#[inline]
fn prefetch(counter: &AtomicU16) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 processor has the instruction, which is a hint: nothing is read, and no address is
    // wrong.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(counter).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = counter;
}

/// A number that sorts shingles by how rare they are, then by hash.
fn order(count: &AtomicU16, shingle: u64) -> u64 {
    u64::from(count.load(Ordering::Relaxed).saturating_mul(SAMPLING_INTERVAL)) << 48 | shingle >> 16
}

fn slot(shingle: u64) -> usize {
    shingle as usize % COUNTERS
}

impl Survey for Exact {
    fn sampling_interval(&self) -> u64 {
        SAMPLING_INTERVAL.into()
    }

    fn bytes(&self) -> u64 {
        // As numbers of two bytes, and once more while they are saved.
        2 * 2 * COUNTERS as u64
    }

    fn observe(&self, _pass: u32, page: &Page<'_>, buffers: &mut Buffers) {
        let ShingleBuffers { shingles, .. } = buffers.own();
        // A shingle that a document repeats counts as often: any order is right, and sorting them out costs more.
        shingles.clear();
        page.grams(self.shingle).take_into(usize::MAX, shingles);
        self.counters.each(shingles, |counter, _| {
            // A full counter stays full.
            let _ = counter.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |count| count.checked_add(1));
        });
    }

    fn save(&self) -> Vec<u8> {
        let mut saved = vec![0; 2 * COUNTERS];
        for (slot, count) in saved.as_chunks_mut::<2>().0.iter_mut().zip(self.counters.table()) {
            *slot = count.load(Ordering::Relaxed).to_le_bytes();
        }
        saved
    }

    fn load(&self, saved: &[u8]) -> bool {
        let (counts, rest) = saved.as_chunks::<2>();
        if counts.len() != COUNTERS || !rest.is_empty() {
            return false;
        }
        for (counter, saved) in self.counters.table().iter().zip(counts) {
            counter.store(u16::from_le_bytes(*saved), Ordering::Relaxed);
        }
        true
    }

    fn merge(&self, _pass: u32, saved: &[u8]) -> bool {
        let (counts, rest) = saved.as_chunks::<2>();
        if counts.len() != COUNTERS || !rest.is_empty() {
            return false;
        }
        for (counter, more) in self.counters.table().iter().zip(counts) {
            let sum = counter.load(Ordering::Relaxed).saturating_add(u16::from_le_bytes(*more));
            counter.store(sum, Ordering::Relaxed);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use lookalike_text::{Analyser, Features, Profile};
    use proptest::prelude::*;

    fn read(words: &[u8]) -> Features {
        let text: String = words.iter().map(|word| format!("w{word} ")).collect();
        let mut features = Features::default();
        Analyser::new(&Profile::web()).read(&text, &mut features);
        features
    }

    /// True when the threshold is reached in either direction.
    fn similar(setting: &Setting, a: &BTreeSet<u64>, b: &BTreeSet<u64>) -> bool {
        let shared = a.intersection(b).count() as u64;
        let (n, m) = (a.len() as u64, b.len() as u64);
        match setting.similarity {
            Similarity::Jaccard => setting.threshold.reached_by(shared, n + m - shared),
            Similarity::Containment => setting.threshold.reached_by(shared, n.min(m)),
            _ => setting.threshold.reached_by_root(shared, u128::from(n * m)),
        }
    }

    fn proposed(method: &dyn Method, a: &Sketch, b: &Sketch) -> bool {
        let member = |sketch: &Sketch, key: &Key| Member { length: sketch.length, tag: key.tag };
        a.keys.iter().any(|key| {
            let others = b.keys.iter().filter(|other| other.value == key.value);
            others.into_iter().any(|other| method.abilities().plausible(member(a, key), member(b, other)))
        })
    }

    /// Documents that are edits of a few others.
    fn documents() -> impl Strategy<Value = Vec<Vec<u8>>> {
        let base = prop::collection::vec(prop::collection::vec(0u8..12, 1..60), 1..4);
        let edits = prop::collection::vec(
            (any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0u8..12),
            0..25,
        );
        (base, edits).prop_map(|(mut documents, edits)| {
            for (which, place, word) in edits {
                let mut copy = documents[which.index(documents.len())].clone();
                let place = place.index(copy.len());
                match word % 3 {
                    0 => copy[place] = word,
                    1 => copy.insert(place, word),
                    _ => drop(copy.drain(place / 2..place)),
                }
                documents.push(copy);
            }
            documents
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]
        #[test]
        fn no_similar_pair_is_missed(documents in documents(), tenths in 3u32..=10, shingle in 1usize..4, frequent in 1u16..6) {
            for similarity in [Similarity::Jaccard, Similarity::Containment, Similarity::Cosine] {
                let threshold = format!("{}", f64::from(tenths) / 10.0).parse().unwrap();
                let setting = Setting { similarity, threshold, shingle, ..Setting::default() };
                let method = crate::method(&format!("exact:frequent={frequent}"), &setting).unwrap();
                let features: Vec<Features> = documents.iter().map(|words| read(words)).collect();
                let mut buffers = Buffers::default();
                features.iter().for_each(|features| method.abilities().survey.unwrap().observe(0, &Page { text: "", features }, &mut buffers));
                let sketches: Vec<Sketch> = features
                    .iter()
                    .map(|features| {
                        let mut sketch = Sketch::default();
                        method.sketch(&Page { text: "", features }, &mut sketch);
                        sketch
                    })
                    .collect();
                let sets: Vec<BTreeSet<u64>> = features.iter().map(|features| features.grams(shingle).collect()).collect();
                for i in 0..sets.len() {
                    for j in 0..i {
                        if similar(&setting, &sets[i], &sets[j]) {
                            prop_assert!(proposed(&*method, &sketches[i], &sketches[j]), "{similarity} {i} {j}");
                            let (a, b) = (&sketches[i].payload, &sketches[j].payload);
                            prop_assert!(method.promising(a, b, 1) && method.promising(b, a, 1));
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn counts_are_saved_and_taken_back() {
        let make = || crate::method("exact", &Setting::default()).unwrap();
        let (one, two) = (make(), make());
        let features = read(&[1, 2, 3, 4, 5, 6, 7]);
        one.abilities().survey.unwrap().observe(
            0,
            &Page { text: "", features: &features },
            &mut Buffers::default(),
        );
        assert!(two.abilities().survey.unwrap().load(&one.abilities().survey.unwrap().save()));
        let sketch = |method: &dyn Method| {
            let mut sketch = Sketch::default();
            method.sketch(&Page { text: "", features: &features }, &mut sketch);
            sketch.keys
        };
        assert_eq!(sketch(&*one), sketch(&*two));
        assert_ne!(sketch(&*one), sketch(&*make()));
        assert!(!two.abilities().survey.unwrap().load(&[1, 2, 3]));
    }
}
