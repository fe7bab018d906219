//! Documents of one side found again on the other, by SimHash, as the thesis did with judged pages: what E10, E11 and E20
//! share.
//!
//! Tables are built over the smaller, judged side; the other is asked document by document. A pair is measured by Jaccard over
//! the sets of words.

use lookalike::hash;
use lookalike::methods::hamming::HammingTables;
use lookalike::methods::{Method, Page, Setting, Sketch, method};
use lookalike::text::{Analyser, Features, Profile};
use lookalike::walk::Watch;
use lookalike_overlap::address::Matching;
use lookalike_overlap::shared::shared;
use lookalike_overlap::{Pair, transfer};

use crate::collection::{Collection, Item};
use crate::experiments::ExperimentContext;
use crate::trial::LabError;

/// Lengths of n-grams, in the order of the published table.
pub(super) const CONFIGURATIONS: [&str; 5] = ["2", "2+3", "3", "3+5", "5"];
/// Segments that the target is cut into.
pub(super) const SEGMENTS: usize = 5;
/// Segments that the thesis forecasts for, having looked at five.
pub(super) const FORECAST: usize = 20;
/// A near-duplicate, by the words of both.
pub(super) const NEAR: f64 = 0.9;
/// Bits in which fingerprints may differ, and blocks of the tables.
const BITS: usize = 64;
const DISTANCE: u32 = 3;
const BLOCKS: &str = "4";

/// A document with its words and fingerprints.
pub(super) struct FingerprintedDocument {
    pub(super) url: Option<String>,
    /// Hashes of its distinct words, ascending.
    words: Vec<u64>,
    /// A fingerprint for each configuration.
    fingerprints: [Option<u64>; CONFIGURATIONS.len()],
    segment: usize,
}

/// The older and the newer pages of a collection.
pub(super) struct Sides {
    pub(super) judged: Vec<Item>,
    pub(super) target: Vec<Item>,
}

/// The pairs that one configuration found, segment by segment.
pub(super) struct Transfer {
    pub(super) configuration: &'static str,
    pub(super) segments: Vec<Vec<Pair>>,
    pub(super) all: Vec<Pair>,
}

impl Sides {
    /// The two sides of a collection: by the field `snapshot`, whose smallest value is the older, or by file.
    pub(super) fn of(context: &ExperimentContext<'_>, collection: &Collection) -> Result<Sides, LabError> {
        let items = collection.pages(context.documents, context.seed, &["snapshot"], context.watch)?;
        let time =
            |item: &Item| (item.extras[0].clone(), if item.extras[0].is_some() { 0 } else { item.shard });
        let oldest = items.iter().map(time).min();
        let (judged, target): (Vec<Item>, Vec<Item>) =
            items.into_iter().partition(|item| Some(time(item)) == oldest);
        if judged.is_empty() || target.is_empty() {
            return Err(LabError::Request(format!(
                "{} has pages of one time only; give two files, or a field snapshot with two values",
                collection.name
            )));
        }
        Ok(Sides { judged, target })
    }
}

/// Words and fingerprints of documents. Segments follow from ids.
pub(super) fn fingerprint_documents(
    items: &[Item],
    seed: u64,
    watch: &Watch,
) -> Result<Vec<FingerprintedDocument>, LabError> {
    let methods: Vec<Box<dyn Method>> = CONFIGURATIONS
        .iter()
        .map(|n| {
            method(&format!("simhash:f={BITS},n={n},k={DISTANCE}"), &Setting { seed, ..Setting::default() })
        })
        .collect::<Result<_, _>>()?;
    let mut analyser = Analyser::new(&Profile::thesis());
    let (mut features, mut sketch) = (Features::default(), Sketch::default());
    let sketch = |item: &Item| {
        watch.check()?;
        analyser.read(&item.text, &mut features);
        let mut words = features.hashes().to_vec();
        words.sort_unstable();
        words.dedup();
        let page = Page { text: &item.text, features: &features };
        let fingerprints = std::array::from_fn(|n| fingerprint(&*methods[n], &page, &mut sketch));
        let segment = hash::nth(1, hash::word(item.id.as_bytes())) % SEGMENTS as u64;
        Ok(FingerprintedDocument { url: item.url.clone(), words, fingerprints, segment: segment as usize })
    };
    items.iter().map(sketch).collect()
}

/// The fingerprint of a page, if it has words.
fn fingerprint(method: &dyn Method, page: &Page<'_>, sketch: &mut Sketch) -> Option<u64> {
    if page.is_empty() {
        return None;
    }
    method.sketch(page, sketch);
    let bytes: [u8; 8] = sketch.payload.get(..8)?.try_into().ok()?;
    (!sketch.keys.is_empty()).then(|| u64::from_le_bytes(bytes))
}

/// Finds the pairs of each of these configurations in the first `segments` segments.
pub(super) fn transfers(
    judged: &[FingerprintedDocument],
    target: &[FingerprintedDocument],
    configurations: &[&str],
    segments: usize,
    watch: &Watch,
) -> Result<Vec<Transfer>, LabError> {
    let wanted = CONFIGURATIONS.iter().enumerate().filter(|(_, name)| configurations.contains(name));
    wanted.map(|(place, name)| transfer_by(judged, target, place, name, segments, watch)).collect()
}

fn transfer_by(
    judged: &[FingerprintedDocument],
    target: &[FingerprintedDocument],
    place: usize,
    configuration: &'static str,
    segments: usize,
    watch: &Watch,
) -> Result<Transfer, LabError> {
    let (numbers, stored): (Vec<u32>, Vec<[u64; 1]>) = (0u32..)
        .zip(judged)
        .filter_map(|(number, document)| Some((number, [document.fingerprints[place]?])))
        .unzip();
    let tables = HammingTables::new(&stored, BITS, DISTANCE, BLOCKS)?;
    let mut found = vec![Vec::new(); segments];
    for (number, document) in (0u32..).zip(target).filter(|(_, document)| document.segment < segments) {
        watch.check()?;
        let Some(fingerprint) = document.fingerprints[place] else { continue };
        tables.near(&[fingerprint], |other, _| {
            let other = numbers[other as usize];
            let similarity = jaccard(&judged[other as usize].words, &document.words);
            found[document.segment].push(Pair { judged: other, target: number, similarity });
        });
    }
    // The tables name stored documents in an order of their own.
    let segments: Vec<Vec<Pair>> = found.iter().map(|pairs| transfer::distinct(pairs)).collect();
    let all = transfer::distinct(&segments.concat());
    Ok(Transfer { configuration, segments, all })
}

/// The documents of the first list that have a near-duplicate in the second, ascending: every pair is measured whose numbers of
/// words allow for it.
pub(super) fn with_near_duplicate(
    judged: &[FingerprintedDocument],
    target: &[FingerprintedDocument],
    watch: &Watch,
) -> Result<Vec<u32>, LabError> {
    let mut by_size: Vec<&FingerprintedDocument> =
        target.iter().filter(|document| !document.words.is_empty()).collect();
    by_size.sort_by_key(|document| document.words.len());
    let mut found = Vec::new();
    for (number, document) in (0u32..).zip(judged).filter(|(_, document)| !document.words.is_empty()) {
        watch.check()?;
        // A hair is given away to rounding; the measure itself decides.
        let size = document.words.len() as f64;
        let first = by_size.partition_point(|other| (other.words.len() as f64) < size * NEAR - 1e-6);
        let fits = by_size[first..].iter().take_while(|other| other.words.len() as f64 <= size / NEAR + 1e-6);
        if fits.into_iter().any(|other| document.similarity(other) >= NEAR) {
            found.push(number);
        }
    }
    Ok(found)
}

/// Jaccard of two ascending sets; 1 for two empty ones.
pub(super) fn jaccard(one: &[u64], other: &[u64]) -> f64 {
    let (mut shared, mut place) = (0, 0);
    for word in one {
        while other.get(place).is_some_and(|found| found < word) {
            place += 1;
        }
        shared += usize::from(other.get(place) == Some(word));
    }
    let all = one.len() + other.len() - shared;
    if all == 0 { 1.0 } else { shared as f64 / all as f64 }
}

/// The documents of the first list whose address the second has, with the first that has it there.
pub(super) fn with_shared_address(
    judged: &[FingerprintedDocument],
    target: &[FingerprintedDocument],
) -> Vec<(u32, u32)> {
    let addresses = |documents: &[FingerprintedDocument]| -> (Vec<u32>, Vec<String>) {
        (0u32..).zip(documents).filter_map(|(number, document)| Some((number, document.url.clone()?))).unzip()
    };
    let ((judged, source), (target, other)) = (addresses(judged), addresses(target));
    let found = shared(&source, &other, Matching::Normal);
    found.documents.into_iter().map(|(one, two)| (judged[one], target[two])).collect()
}

impl FingerprintedDocument {
    /// Returns the Jaccard similarity of the sets of words of two documents.
    pub(super) fn similarity(&self, other: &FingerprintedDocument) -> f64 {
        jaccard(&self.words, &other.words)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use lookalike::corpus::{Corpus, ReadOptions};
    use lookalike::text::extract::ContentMode;

    use super::super::world::tests::empty_context;
    use super::*;
    use crate::collection::CollectionKind;
    use crate::generated;

    /// A context for two small crawls: at most 600 documents.
    pub(crate) fn crawl_context(watch: &Watch) -> ExperimentContext<'_> {
        ExperimentContext { documents: 600, ..empty_context(watch) }
    }

    #[test]
    fn tables_find_what_comparing_all_with_all_finds() {
        let watch = Watch::default();
        let context = crawl_context(&watch);
        let sides = Sides::of(&context, &generated::collection(CollectionKind::Crawls, 1)).unwrap();
        let [judged, target] =
            [&sides.judged, &sides.target].map(|items| fingerprint_documents(items, 1, &watch).unwrap());
        assert!(judged.len() > 200 && target.len() > 200);
        let found = transfers(&judged, &target, &CONFIGURATIONS, SEGMENTS, &watch).unwrap();
        for (place, transfer) in found.iter().enumerate() {
            let mut wanted = Vec::new();
            for (one, a) in (0u32..).zip(&judged) {
                for (two, b) in (0u32..).zip(&target) {
                    let (Some(x), Some(y)) = (a.fingerprints[place], b.fingerprints[place]) else { continue };
                    if (x ^ y).count_ones() <= DISTANCE {
                        wanted.push(Pair { judged: one, target: two, similarity: a.similarity(b) });
                    }
                }
            }
            assert!(wanted.len() > 50);
            assert_eq!(transfer.all, wanted, "{}", transfer.configuration);
            assert_eq!(transfer.segments.iter().map(Vec::len).sum::<usize>(), wanted.len());
        }
        let near: Vec<u32> = (0u32..)
            .zip(&judged)
            .filter(|(_, a)| target.iter().any(|b| a.similarity(b) >= NEAR))
            .map(|(number, _)| number)
            .collect();
        assert_eq!(with_near_duplicate(&judged, &target, &watch).unwrap(), near);
        assert!(near.len() > 50);
        let shared = with_shared_address(&judged, &target);
        let of = |document: &FingerprintedDocument| {
            document.url.as_deref().map(lookalike_overlap::address::normal)
        };
        assert!(shared.iter().all(|&(one, two)| of(&judged[one as usize]) == of(&target[two as usize])));
        assert!(shared.len() > 50);
    }

    #[test]
    fn a_page_is_drawn_at_both_times_or_at_none() {
        let watch = Watch::default();
        let collection = generated::collection(CollectionKind::Crawls, 1);
        let all = Sides::of(&ExperimentContext { documents: 100_000, ..empty_context(&watch) }, &collection)
            .unwrap();
        let some = Sides::of(&crawl_context(&watch), &collection).unwrap();
        assert_eq!(some.judged.len() + some.target.len(), 600);
        let addresses = |items: &[Item]| items.iter().map(|item| item.url.clone()).collect::<Vec<_>>();
        let [newer, drawn] = [&all.target, &some.target].map(|items| addresses(items));
        let torn =
            addresses(&some.judged).iter().filter(|url| newer.contains(url) && !drawn.contains(url)).count();
        assert!(torn <= 1, "{torn} pages lost their counterpart");
    }

    #[test]
    fn sets_are_compared_as_sets() {
        assert_eq!(jaccard(&[1, 2, 3], &[2, 3, 4, 5]), 0.4);
        assert_eq!((jaccard(&[], &[]), jaccard(&[1], &[])), (1.0, 0.0));
    }

    #[test]
    fn one_time_only_is_refused() {
        let watch = Watch::default();
        let line = br#"{"id":"a","text":"one page"}"#;
        let corpus = Corpus::in_memory("one.jsonl", line.as_slice().into(), ReadOptions::default());
        let one = Collection { name: "one".into(), corpus, content: ContentMode::Page, generated: false };
        let refused = Sides::of(&crawl_context(&watch), &one).err().unwrap().to_string();
        assert!(refused.contains("one time only"), "{refused}");
    }
}
