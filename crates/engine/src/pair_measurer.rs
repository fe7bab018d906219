//! Measures any two documents of a copy, as many pairs as there are, within a bound of memory.
//!
//! Pairs come in the order of their first documents and are taken in batches: the documents of a batch are read and
//! prepared once, on all threads, and then compared, on all threads.

use std::collections::BTreeSet;
use std::sync::Mutex;

use lookalike_hash::{Secret, SortBuffers};
use lookalike_model::Threshold;
use lookalike_text::{Analyser, Features, Profile};
use rayon::prelude::*;

use crate::document_copy::DocumentCopy;
use crate::error::EngineError;
use crate::measure::{Measure, Measured};
use crate::pipeline::HEAVY;
use crate::walk::Watch;

/// Measures pairs of documents.
#[derive(Debug)]
pub struct PairMeasurer<'g> {
    copy: &'g DocumentCopy,
    measure: Measure,
    profile: Profile,
    /// Bytes that the documents of a batch may take.
    memory: usize,
    /// Similarities below this are not wanted.
    floor: Threshold,
    /// Held while a large document is read.
    heavy: Mutex<()>,
}

/// Pairs of a batch: enough for all threads, few enough to hear of a stop.
const BATCH_PAIRS: usize = 4096;

impl<'g> PairMeasurer<'g> {
    /// Measures on words of `profile`; the documents of a batch take a quarter of `memory`.
    pub fn new(copy: &'g DocumentCopy, measure: Measure, profile: &Profile, memory: u64) -> Self {
        let memory = (memory / 4).clamp(1 << 20, 1 << 30) as usize;
        let (floor, heavy) = (measure.threshold, Mutex::new(()));
        PairMeasurer { copy, measure, profile: profile.clone(), memory, floor, heavy }
    }

    /// Also tells how near pairs are that do not reach the threshold, down to `floor`.
    #[must_use]
    pub fn down_to(self, floor: Threshold) -> Self {
        PairMeasurer { floor, ..self }
    }

    /// Hands every pair to `each` with its similarity, in their order; nothing for one below the floor.
    pub fn measure<E: From<EngineError>>(
        &self,
        pairs: impl IntoIterator<Item = Result<(u32, u32), E>>,
        watch: &Watch,
        mut each: impl FnMut((u32, u32), Option<Measured>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut batch = PairBatch::default();
        for pair in pairs {
            batch.add(pair?, self)?;
            if batch.pairs.len() >= BATCH_PAIRS || batch.bytes > self.memory {
                watch.check().map_err(EngineError::from)?;
                self.measure_batch(&mut batch, &mut each)?;
            }
        }
        self.measure_batch(&mut batch, &mut each)
    }

    fn measure_batch<E: From<EngineError>>(
        &self,
        batch: &mut PairBatch,
        each: &mut impl FnMut((u32, u32), Option<Measured>) -> Result<(), E>,
    ) -> Result<(), E> {
        let documents: Vec<u32> = batch.documents.iter().copied().collect();
        let prepared: Vec<Vec<u64>> = documents
            .par_iter()
            .map_init(|| Reader::new(&self.profile), |reader, &document| reader.read_in_turn(self, document))
            .collect::<Result<_, EngineError>>()?;
        let of = |document: u32| {
            let at = documents.binary_search(&document).expect("every document of a pair was read");
            &prepared[at]
        };
        let measured: Vec<Option<Measured>> =
            batch.pairs.par_iter().map(|&(a, b)| self.compare(of(a), of(b))).collect();
        for (&pair, measured) in batch.pairs.iter().zip(measured) {
            each(pair, measured)?;
        }
        *batch = PairBatch::default();
        Ok(())
    }

    /// Documents without words are near to nothing.
    fn compare(&self, a: &[u64], b: &[u64]) -> Option<Measured> {
        if a.is_empty() || b.is_empty() { None } else { self.measure.compare(a, b, self.floor) }
    }
}

/// Pairs that are measured together.
#[derive(Default)]
struct PairBatch {
    pairs: Vec<(u32, u32)>,
    documents: BTreeSet<u32>,
    bytes: usize,
}

impl PairBatch {
    fn add(&mut self, (a, b): (u32, u32), measurer: &PairMeasurer<'_>) -> Result<(), EngineError> {
        self.pairs.push((a, b));
        for document in [a, b] {
            if self.documents.insert(document) {
                // A character, or a word with its blank, becomes a number of eight bytes.
                self.bytes += 8 * measurer.copy.bytes_of(document)?;
            }
        }
        Ok(())
    }
}

/// Buffers for reading one document after the other.
struct Reader {
    analyser: Analyser,
    features: Features,
    symbols: Vec<u64>,
    sorting: SortBuffers,
}

impl Reader {
    fn new(profile: &Profile) -> Self {
        Reader {
            analyser: Analyser::for_measuring(profile, Secret::of_process()),
            features: Features::default(),
            symbols: Vec::new(),
            sorting: SortBuffers::default(),
        }
    }

    /// Large documents are read one at a time, and leave no buffers behind.
    fn read_in_turn(&mut self, measurer: &PairMeasurer<'_>, document: u32) -> Result<Vec<u64>, EngineError> {
        if measurer.copy.bytes_of(document)? < HEAVY {
            return self.read(measurer, document);
        }
        let _turn = measurer.heavy.lock();
        Reader::new(&measurer.profile).read(measurer, document)
    }

    fn read(&mut self, measurer: &PairMeasurer<'_>, document: u32) -> Result<Vec<u64>, EngineError> {
        let line = measurer.copy.line(document)?;
        self.analyser.read(&line.text, &mut self.features);
        let symbols = measurer.measure.symbols(&self.features, &mut self.symbols);
        let mut out = Vec::new();
        measurer.measure.prepare(symbols, &mut out, &mut self.sorting);
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document_copy::DocumentFilter;
    use crate::tests::context::as_lines;
    use lookalike_corpus::{Corpus, ReadOptions};
    use lookalike_model::Similarity;
    use lookalike_text::extract::ContentMode;

    fn copy(folder: &std::path::Path, texts: &[&str]) -> DocumentCopy {
        let corpus = Corpus::in_memory("x.jsonl", as_lines(texts).as_bytes().into(), ReadOptions::default());
        let all: DocumentFilter<'_> = &mut |_, _, _| true;
        DocumentCopy::open_or_create(
            folder,
            (&corpus, ContentMode::Page),
            &[],
            ("all", all),
            &Watch::default(),
        )
        .unwrap()
    }

    const TEXTS: [&str; 4] = ["a b c d e f g h i j", "a b c d e f g h i k", "a b x y z", "..."];

    fn measurer(copy: &DocumentCopy) -> PairMeasurer<'_> {
        let measure =
            Measure { similarity: Similarity::Jaccard, threshold: "0.8".parse().unwrap(), shingle: 1 };
        PairMeasurer::new(copy, measure, &Profile::web(), 0)
    }

    fn measured(measurer: &PairMeasurer<'_>, pairs: &[(u32, u32)]) -> Vec<((u32, u32), Option<f64>)> {
        let mut found = Vec::new();
        measurer
            .measure::<EngineError>(
                pairs.iter().map(|&pair| Ok(pair)),
                &Watch::default(),
                |pair, measured| {
                    found.push((pair, measured.map(|measured| measured.forward)));
                    Ok(())
                },
            )
            .unwrap();
        found
    }

    #[test]
    fn pairs_are_measured_in_their_order() {
        let folder = tempfile::tempdir().unwrap();
        let copy = copy(folder.path(), &TEXTS);
        let pairs = [(1, 0), (0, 1), (0, 2), (2, 2)];
        // Nine of eleven words, and two of thirteen.
        let expected = [Some(9.0 / 11.0), Some(9.0 / 11.0), None, Some(1.0)];
        assert_eq!(measured(&measurer(&copy), &pairs), pairs.into_iter().zip(expected).collect::<Vec<_>>());
    }

    #[test]
    fn a_lower_floor_tells_how_near_the_others_are() {
        let folder = tempfile::tempdir().unwrap();
        let copy = copy(folder.path(), &TEXTS);
        let measurer = measurer(&copy).down_to(Threshold::LOWEST);
        assert_eq!(measured(&measurer, &[(0, 2)]), [((0, 2), Some(2.0 / 13.0))]);
    }

    #[test]
    fn documents_without_words_are_near_to_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let copy = copy(folder.path(), &TEXTS);
        assert_eq!(measured(&measurer(&copy), &[(3, 3), (0, 3)]), [((3, 3), None), ((0, 3), None)]);
    }

    #[test]
    fn more_pairs_than_a_batch_are_all_measured() {
        let folder = tempfile::tempdir().unwrap();
        let copy = copy(folder.path(), &TEXTS);
        let pairs = vec![(0, 1); 2 * BATCH_PAIRS + 5];
        let found = measured(&measurer(&copy), &pairs);
        assert_eq!(found.len(), pairs.len());
        assert!(found.iter().all(|(_, measured)| *measured == Some(9.0 / 11.0)));
    }

    #[test]
    fn errors_and_stops_end_the_work() {
        let folder = tempfile::tempdir().unwrap();
        let copy = copy(folder.path(), &TEXTS);
        let (measurer, watch) = (measurer(&copy), Watch::default());
        let failed = measurer.measure::<EngineError>([Err(EngineError::TooMany)], &watch, |_, _| Ok(()));
        assert!(matches!(failed, Err(EngineError::TooMany)));
        let refused = measurer.measure::<EngineError>([Ok((0, 1))], &watch, |_, _| Err(EngineError::TooMany));
        assert!(matches!(refused, Err(EngineError::TooMany)));
        watch.stop.store(true, std::sync::atomic::Ordering::Relaxed);
        let many = (0..BATCH_PAIRS).map(|_| Ok((0, 1)));
        let stopped = measurer.measure::<EngineError>(many, &watch, |_, _| Ok(()));
        assert!(matches!(stopped, Err(EngineError::Stopped)));
    }

    #[test]
    fn a_batch_counts_each_document_once() {
        let folder = tempfile::tempdir().unwrap();
        let copy = copy(folder.path(), &TEXTS);
        let (measurer, mut batch) = (measurer(&copy), PairBatch::default());
        for pair in [(0, 1), (1, 0), (0, 0)] {
            batch.add(pair, &measurer).unwrap();
        }
        let bytes = copy.bytes_of(0).unwrap() + copy.bytes_of(1).unwrap();
        assert_eq!((batch.pairs.len(), batch.documents.len(), batch.bytes), (3, 2, 8 * bytes));
    }
}
