//! Measures any two documents of a copy, as many pairs as there are, within a bound of memory.
//!
//! Pairs come in the order of their first documents and are taken in portions: the documents of a portion are read and
//! prepared once, on all threads, and then compared, on all threads.

use std::collections::BTreeSet;
use std::sync::Mutex;

use lookalike_model::Threshold;
use lookalike_text::hash::{Secret, Sorting};
use lookalike_text::{Analyser, Features, Profile};
use rayon::prelude::*;

use crate::error::EngineError;
use crate::measure::{Measure, Measured};
use crate::pipeline::HEAVY;
use crate::shelf::Shelf;
use crate::walk::Watch;

/// Measures pairs of documents.
#[derive(Debug)]
pub struct Gauge<'g> {
    shelf: &'g Shelf,
    measure: Measure,
    profile: Profile,
    /// Bytes that the documents of a portion may take.
    memory: usize,
    /// Below this, nobody wants to know how near they are.
    floor: Threshold,
    /// Held by whoever reads a large document.
    heavy: Mutex<()>,
}

/// Pairs of a portion: enough for all threads, few enough to hear of a stop.
const PORTION: usize = 4096;

impl<'g> Gauge<'g> {
    /// Measures on words of `profile`; the documents of a portion take a quarter of `memory`.
    pub fn new(shelf: &'g Shelf, measure: Measure, profile: &Profile, memory: u64) -> Self {
        let memory = (memory / 4).clamp(1 << 20, 1 << 30) as usize;
        let (floor, heavy) = (measure.threshold, Mutex::new(()));
        Gauge { shelf, measure, profile: profile.clone(), memory, floor, heavy }
    }

    /// Also tells how near pairs are that do not reach the threshold, down to `floor`.
    #[must_use]
    pub fn down_to(self, floor: Threshold) -> Self {
        Gauge { floor, ..self }
    }

    /// Hands every pair to `each` with its similarity, in their order; nothing for one below the floor.
    pub fn measure<E: From<EngineError>>(
        &self,
        pairs: impl IntoIterator<Item = Result<(u32, u32), E>>,
        watch: &Watch,
        mut each: impl FnMut((u32, u32), Option<Measured>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut portion = Portion::default();
        for pair in pairs {
            portion.add(pair?, self)?;
            if portion.pairs.len() >= PORTION || portion.bytes > self.memory {
                watch.check().map_err(EngineError::from)?;
                self.portion(&mut portion, &mut each)?;
            }
        }
        self.portion(&mut portion, &mut each)
    }

    fn portion<E: From<EngineError>>(
        &self,
        portion: &mut Portion,
        each: &mut impl FnMut((u32, u32), Option<Measured>) -> Result<(), E>,
    ) -> Result<(), E> {
        let documents: Vec<u32> = portion.documents.iter().copied().collect();
        let prepared: Vec<Vec<u64>> = documents
            .par_iter()
            .map_init(|| Reader::new(&self.profile), |reader, &document| reader.read_in_turn(self, document))
            .collect::<Result<_, EngineError>>()?;
        let of = |document: u32| {
            let at = documents.binary_search(&document).expect("every document of a pair was read");
            &prepared[at]
        };
        let measured: Vec<Option<Measured>> =
            portion.pairs.par_iter().map(|&(a, b)| self.compare(of(a), of(b))).collect();
        for (&pair, measured) in portion.pairs.iter().zip(measured) {
            each(pair, measured)?;
        }
        *portion = Portion::default();
        Ok(())
    }

    /// Documents without words are near to nothing.
    fn compare(&self, a: &[u64], b: &[u64]) -> Option<Measured> {
        if a.is_empty() || b.is_empty() { None } else { self.measure.compare(a, b, self.floor) }
    }
}

/// Pairs that are measured together.
#[derive(Default)]
struct Portion {
    pairs: Vec<(u32, u32)>,
    documents: BTreeSet<u32>,
    bytes: usize,
}

impl Portion {
    fn add(&mut self, (a, b): (u32, u32), gauge: &Gauge<'_>) -> Result<(), EngineError> {
        self.pairs.push((a, b));
        for document in [a, b] {
            if self.documents.insert(document) {
                // A character, or a word with its blank, becomes a number of eight bytes.
                self.bytes += 8 * gauge.shelf.bytes_of(document)?;
            }
        }
        Ok(())
    }
}

/// Room for reading one document after the other.
struct Reader {
    analyser: Analyser,
    features: Features,
    symbols: Vec<u64>,
    sorting: Sorting,
}

impl Reader {
    fn new(profile: &Profile) -> Self {
        Reader {
            analyser: Analyser::with_secret(profile, Secret::of_process()),
            features: Features::default(),
            symbols: Vec::new(),
            sorting: Sorting::default(),
        }
    }

    /// Large documents are read one at a time, and leave no buffers behind.
    fn read_in_turn(&mut self, gauge: &Gauge<'_>, document: u32) -> Result<Vec<u64>, EngineError> {
        if gauge.shelf.bytes_of(document)? < HEAVY {
            return self.read(gauge, document);
        }
        let _turn = gauge.heavy.lock();
        Reader::new(&gauge.profile).read(gauge, document)
    }

    fn read(&mut self, gauge: &Gauge<'_>, document: u32) -> Result<Vec<u64>, EngineError> {
        let line = gauge.shelf.line(document)?;
        self.analyser.read(&line.text, &mut self.features);
        let symbols = gauge.measure.symbols(&self.features, &mut self.symbols);
        let mut out = Vec::new();
        gauge.measure.prepare(symbols, &mut out, &mut self.sorting);
        Ok(out)
    }
}
