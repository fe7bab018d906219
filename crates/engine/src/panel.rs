//! The methods of a run as one panel: what they keep of a document, and what they say of a pair together.
//!
//! Some methods propose pairs; one more may be there only to be asked about them. Of each document the panel keeps one
//! record: for every method its length and its payload, one behind the other.
//!
//! A document without keys has no signature. It is marked as such, and the method is not asked about it.

use lookalike_methods::{Method, OwnMeasure, Score, Sketch};
use lookalike_text::Profile;

use crate::error::EngineError;
use crate::recipe::Combine;

/// Most methods that propose pairs in one run.
pub const MOST_METHODS: usize = 8;

/// The number of keys that two documents share, by method; 0 where the method did not propose them.
pub(crate) type SharedKeys = [u32; MOST_METHODS];

/// A method and where its part of a record is.
pub(crate) struct PanelMethod {
    pub(crate) method: Box<dyn Method>,
    /// The offset of its length in a record; the payload follows.
    start: usize,
}

impl PanelMethod {
    /// True when equal words by the run's profile are sure to give equal keys.
    pub(crate) fn goes_by_words(&self) -> bool {
        let method = &self.method;
        let known = ["minhash", "simhash", "exact"].contains(&method.recipe().name.as_str());
        known && method.profile().is_none() && !method.sentences() && method.rejection_reason("").is_none()
    }

    /// The document's length, as the method sees it.
    pub(crate) fn length(&self, record: &[u8]) -> u32 {
        record[self.start..].first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes))
    }

    /// Returns the method's own score of two documents; nothing where it rejects them, or one of them has no signature.
    fn accept(&self, a: &[u8], b: &[u8], shared: u32) -> Option<Score> {
        if self.length(a) == 0 || self.length(b) == 0 {
            return None;
        }
        self.method.accept(self.payload(a), self.payload(b), shared)
    }

    /// The document's payload.
    pub(crate) fn payload<'r>(&self, record: &'r [u8]) -> &'r [u8] {
        &record[self.start + 4..][..self.method.payload_bytes()]
    }
}

/// All methods of a run.
pub(crate) struct Panel {
    methods: Vec<PanelMethod>,
    proposers: usize,
    combine: Combine,
    width: usize,
}

impl Panel {
    pub(crate) fn new(
        methods: Vec<Box<dyn Method>>,
        filter: Option<Box<dyn Method>>,
        combine: Combine,
    ) -> Result<Self, EngineError> {
        let proposers = methods.len();
        if proposers == 0 || proposers > MOST_METHODS {
            return Err(EngineError::Request(format!(
                "a run has from 1 to {MOST_METHODS} methods, and {proposers} were given; split them over several runs"
            )));
        }
        if let Some(filter) = &filter {
            let name = filter.recipe().name;
            let why = match () {
                () if filter.counts_keys() => "judges by the number of keys that two documents share",
                () if filter.own_measure().is_some() => "decides by a measure of its own",
                () => "",
            };
            if !why.is_empty() {
                return Err(EngineError::Request(format!(
                    "{name} {why} and cannot be a filter; give it as a second --method with --combine all"
                )));
            }
        }
        let mut width = 0;
        let mut entry = |method: Box<dyn Method>| {
            let start = width;
            width += 4 + method.payload_bytes();
            PanelMethod { method, start }
        };
        let methods = methods.into_iter().chain(filter).map(&mut entry).collect();
        let panel = Panel { methods, proposers, combine, width };
        panel.own_measure()?;
        Ok(panel)
    }

    /// All methods, those that propose pairs first.
    pub(crate) fn methods(&self) -> &[PanelMethod] {
        &self.methods
    }

    /// Those that propose pairs.
    pub(crate) fn proposers(&self) -> &[PanelMethod] {
        &self.methods[..self.proposers]
    }

    fn filter(&self) -> Option<&PanelMethod> {
        self.methods.get(self.proposers)
    }

    /// True when a pair counts only if every method proposes it.
    pub(crate) fn wants_all(&self) -> bool {
        self.combine == Combine::All
    }

    /// True when scores may differ both ways.
    pub(crate) fn directed(&self) -> bool {
        self.proposers().iter().any(|entry| entry.method.directed())
    }

    /// True when the methods would accept a document as a near-duplicate of one that is equal to it: as many of them as
    /// must propose a pair have a signature for it, and the filter has.
    pub(crate) fn accepts_equal(&self, record: &[u8]) -> bool {
        let mut signed = self.proposers().iter().map(|entry| entry.length(record) > 0);
        let proposed =
            if self.wants_all() { signed.all(|signed| signed) } else { signed.any(|signed| signed) };
        proposed && self.filter().is_none_or(|entry| entry.length(record) > 0)
    }

    /// Bytes of a record.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// Returns the reason why one of the methods cannot read a document, if there is one.
    pub(crate) fn refuses(&self, text: &str) -> Option<String> {
        self.methods.iter().find_map(|entry| entry.method.rejection_reason(text))
    }

    /// Appends one method's part of a record. A document without keys has no signature, and is marked by a length of 0.
    pub(crate) fn put(entry: &PanelMethod, sketch: &Sketch, out: &mut Vec<u8>) {
        let length = if sketch.keys.is_empty() { 0 } else { sketch.length.max(1) };
        out.extend_from_slice(&length.to_le_bytes());
        let start = out.len();
        out.extend_from_slice(&sketch.payload);
        out.resize(start + entry.method.payload_bytes(), 0);
    }

    /// Returns the measure, and its profile, of the methods that must see the documents again to decide. Refuses methods whose
    /// measures differ.
    pub(crate) fn own_measure(&self) -> Result<Option<(OwnMeasure, Option<&Profile>)>, EngineError> {
        let mut found: Option<(OwnMeasure, Option<&Profile>)> = None;
        for entry in &self.methods {
            let Some(own) = entry.method.own_measure() else { continue };
            let own = (own, entry.method.profile());
            if found.is_some_and(|found| found != own) {
                return Err(EngineError::Request(
                    "two of the methods measure pairs in different ways of their own; run them one by one"
                        .to_owned(),
                ));
            }
            found = Some(own);
        }
        Ok(found)
    }

    /// True unless the pair need not be measured.
    pub(crate) fn promising(&self, a: &[u8], b: &[u8], shared: &SharedKeys) -> bool {
        let answer = |(entry, &shared): (&PanelMethod, &u32)| {
            shared > 0 && entry.method.promising(entry.payload(a), entry.payload(b), shared)
        };
        let mut answers = self.proposers().iter().zip(shared).map(answer);
        let enough = if self.wants_all() { answers.all(|yes| yes) } else { answers.any(|yes| yes) };
        enough && self.passes(a, b)
    }

    /// Returns the methods' own score of a pair, or nothing if they reject it; `measure` is called for methods that must see
    /// the documents again.
    pub(crate) fn accept(
        &self,
        a: &[u8],
        b: &[u8],
        shared: &SharedKeys,
        measure: impl Fn() -> Option<Score>,
    ) -> Option<Score> {
        let answer = |(entry, &shared): (&PanelMethod, &u32)| {
            let score = entry.accept(a, b, shared).filter(|_| shared > 0)?;
            if entry.method.own_measure().is_some() { measure() } else { Some(score) }
        };
        self.judge(a, b, self.proposers().iter().zip(shared).map(answer))
    }

    /// Returns the methods that accept a pair, a bit for each: by their own score or, where pairs are measured anyhow, by not
    /// ruling it out. Where all methods must accept a pair, all bits are set.
    pub(crate) fn accepting_methods(
        &self,
        a: &[u8],
        b: &[u8],
        shared: &SharedKeys,
        measured: bool,
        measure: impl Fn() -> Option<Score>,
    ) -> u16 {
        let accepts = |entry: &PanelMethod, shared: u32| match measured {
            true => entry.method.promising(entry.payload(a), entry.payload(b), shared),
            false if entry.method.own_measure().is_some() => {
                entry.accept(a, b, shared).and_then(|_| measure()).is_some()
            }
            false => entry.accept(a, b, shared).is_some(),
        };
        let bit = |(index, (entry, &shared)): (usize, (&PanelMethod, &u32))| {
            u16::from(shared > 0 && accepts(entry, shared)) << index
        };
        self.proposers().iter().zip(shared).enumerate().map(bit).sum()
    }

    /// Returns the methods that accept a document as a near-duplicate of one that is equal to it, a bit for each: all of them
    /// where pairs are measured, else those that have a signature for it.
    pub(crate) fn methods_accepting_equals(&self, record: &[u8], measured: bool) -> u16 {
        let bit =
            |(index, entry): (usize, &PanelMethod)| u16::from(measured || entry.length(record) > 0) << index;
        self.proposers().iter().enumerate().map(bit).sum()
    }

    /// Returns the methods' score of two documents that no method proposed; methods that count keys give none.
    pub(crate) fn accept_unproposed(
        &self,
        a: &[u8],
        b: &[u8],
        measure: impl Fn() -> Option<Score>,
    ) -> Option<Score> {
        let shared = std::array::from_fn(|index| match self.proposers().get(index) {
            Some(entry) if !entry.method.counts_keys() => 1,
            _ => 0,
        });
        self.accept(a, b, &shared, measure)
    }

    /// One score of several: the best of any, or the least of all.
    fn judge(&self, a: &[u8], b: &[u8], answers: impl Iterator<Item = Option<Score>>) -> Option<Score> {
        let height = |score: &Score| score.forward.max(score.backward);
        let by_height = |one: &Score, two: &Score| height(one).total_cmp(&height(two));
        let score = if self.wants_all() {
            answers.collect::<Option<Vec<Score>>>()?.into_iter().min_by(by_height)
        } else {
            answers.flatten().max_by(by_height)
        };
        score.filter(|_| self.passes(a, b))
    }

    /// Returns true if the filter accepts the pair, or if there is no filter.
    fn passes(&self, a: &[u8], b: &[u8]) -> bool {
        self.filter().is_none_or(|entry| entry.accept(a, b, 0).is_some())
    }
}
