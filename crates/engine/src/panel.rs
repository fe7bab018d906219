//! The methods of a run as one panel: what they keep of a document, and what they say of a pair together.
//!
//! Some methods propose pairs; one more may be there only to be asked about them. Of each document the panel keeps one
//! record: for every method its length and its payload, one behind the other.
//!
//! A document without keys has no signature. It is marked as such, and the method is not asked about it.

use lookalike_methods::{Abilities, Buffers, Method, OwnMeasure, Score, Sketch};
use lookalike_model::{MOST_METHODS, SharedKeys};
use lookalike_text::Profile;
use serde::{Deserialize, Serialize};

use crate::error::EngineError;

/// The rule by which the proposals of several methods are combined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Combine {
    /// Pairs that any of them proposes.
    #[default]
    Any,
    /// Pairs that all of them propose.
    All,
}

/// Bytes of a text from which reading it takes many times as long as to allocate buffers for it.
const LARGE_TEXT: usize = 1 << 16;

/// A method, where its part of a record is, and what every document or pair would have to ask it for again.
pub(crate) struct PanelMethod {
    pub(crate) method: Box<dyn Method>,
    /// The offset of its length in a record; the payload follows.
    start: usize,
    payload_bytes: usize,
    /// Keys have tags.
    pub(crate) tagged: bool,
    /// Some keys only ask, so that shared keys are counted both ways.
    pub(crate) has_query_keys: bool,
    /// The least number of shared keys, where their number counts.
    counted_keys: Option<u32>,
    /// Some documents may be rejected.
    rejects: bool,
    /// It decides by a measure of its own.
    measures: bool,
}

impl PanelMethod {
    fn new(method: Box<dyn Method>, start: usize) -> Self {
        let Abilities { tagged, query_keys, counted_keys, rejecting, own_measure, .. } = method.abilities();
        PanelMethod {
            start,
            payload_bytes: method.payload_bytes(),
            tagged,
            has_query_keys: query_keys.is_some(),
            counted_keys,
            rejects: rejecting.is_some(),
            measures: own_measure.is_some(),
            method,
        }
    }

    /// Returns what the method has beside keys and accept.
    pub(crate) fn abilities(&self) -> Abilities<'_> {
        self.method.abilities()
    }

    /// Returns the number of keys that two documents must share to be candidates.
    pub(crate) fn keys_to_share(&self) -> u32 {
        self.counted_keys.unwrap_or(1)
    }

    /// True when equal words by the run's profile are sure to give equal keys.
    pub(crate) fn goes_by_words(&self) -> bool {
        self.abilities().sketches_words_alone
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
        &record[self.start + 4..][..self.payload_bytes]
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
                () if filter.abilities().counts_keys() => {
                    "judges by the number of keys that two documents share"
                }
                () if filter.abilities().own_measure.is_some() => "decides by a measure of its own",
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
            let entry = PanelMethod::new(method, width);
            width += 4 + entry.payload_bytes;
            entry
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
        self.proposers().iter().any(|entry| entry.abilities().directed)
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
        let mut rejecting = self.methods.iter().filter(|entry| entry.rejects);
        rejecting.find_map(|entry| entry.abilities().rejection_reason(text))
    }

    /// Lets go of the buffers that a method has left after a large text, if others follow: each has its own, and together they
    /// would take many times what one of them takes.
    pub(crate) fn trim(&self, text: &str, buffers: &mut Buffers) {
        if self.methods.len() > 1 && text.len() >= LARGE_TEXT {
            buffers.clear();
        }
    }

    /// Appends one method's part of a record. A document without keys has no signature, and is marked by a length of 0.
    pub(crate) fn put(entry: &PanelMethod, sketch: &Sketch, out: &mut Vec<u8>) {
        let length = if sketch.keys.is_empty() { 0 } else { sketch.length.max(1) };
        out.extend_from_slice(&length.to_le_bytes());
        let start = out.len();
        out.extend_from_slice(&sketch.payload);
        out.resize(start + entry.payload_bytes, 0);
    }

    /// Returns the measure, and its profile, of the methods that must see the documents again to decide. Refuses methods whose
    /// measures differ.
    pub(crate) fn own_measure(&self) -> Result<Option<(OwnMeasure, Option<&Profile>)>, EngineError> {
        let mut found: Option<(OwnMeasure, Option<&Profile>)> = None;
        for entry in &self.methods {
            let Abilities { own_measure: Some(own), profile, .. } = entry.abilities() else { continue };
            let own = (own, profile);
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
            if entry.measures { measure() } else { Some(score) }
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
    ) -> u8 {
        let accepts = |entry: &PanelMethod, shared: u32| match measured {
            true => entry.method.promising(entry.payload(a), entry.payload(b), shared),
            false if entry.measures => entry.accept(a, b, shared).and_then(|_| measure()).is_some(),
            false => entry.accept(a, b, shared).is_some(),
        };
        let bit = |(index, (entry, &shared)): (usize, (&PanelMethod, &u32))| {
            u8::from(shared > 0 && accepts(entry, shared)) << index
        };
        self.proposers().iter().zip(shared).enumerate().map(bit).sum()
    }

    /// Returns the methods that accept a document as a near-duplicate of one that is equal to it, a bit for each: all of them
    /// where pairs are measured, else those that have a signature for it.
    pub(crate) fn methods_accepting_equals(&self, record: &[u8], measured: bool) -> u8 {
        let bit =
            |(index, entry): (usize, &PanelMethod)| u8::from(measured || entry.length(record) > 0) << index;
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
            Some(entry) if entry.counted_keys.is_none() => 1,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::recipe;
    use lookalike_methods::{Key, Page, Rejecting};
    use lookalike_model::{Recipe, Similarity, Threshold};

    /// A method that says what it is told to.
    #[derive(Debug, Clone, Copy, Default)]
    struct Stub {
        payload: usize,
        score: Option<f64>,
        counts: bool,
        directed: bool,
        own: Option<OwnMeasure>,
        refuses: Option<&'static str>,
    }

    impl Method for Stub {
        fn recipe(&self) -> Recipe {
            Recipe::new("stub", 1)
        }

        fn payload_bytes(&self) -> usize {
            self.payload
        }

        fn sketch(&self, _: &Page<'_>, sketch: &mut Sketch) {
            sketch.clear();
        }

        fn accept(&self, _: &[u8], _: &[u8], _: u32) -> Option<Score> {
            self.score.map(Score::even)
        }

        fn abilities(&self) -> Abilities<'_> {
            Abilities {
                counted_keys: self.counts.then_some(1),
                directed: self.directed,
                own_measure: self.own,
                rejecting: Some(self),
                ..Abilities::default()
            }
        }
    }

    impl Rejecting for Stub {
        fn rejection_reason(&self, text: &str) -> Option<String> {
            self.refuses.filter(|refused| text.contains(refused)).map(|refused| format!("it has {refused}"))
        }
    }

    const YES: Stub =
        Stub { payload: 0, score: Some(0.9), counts: false, directed: false, own: None, refuses: None };
    const MAYBE: Stub = Stub { score: Some(0.7), ..YES };
    const NO: Stub = Stub { score: None, ..YES };

    fn own(shingle: usize) -> Option<OwnMeasure> {
        Some(OwnMeasure { similarity: Similarity::Jaccard, threshold: Threshold::default(), shingle })
    }

    fn boxed(stubs: &[Stub]) -> Vec<Box<dyn Method>> {
        stubs.iter().map(|&stub| Box::new(stub) as Box<dyn Method>).collect()
    }

    fn panel(stubs: &[Stub], filter: Option<Stub>, combine: Combine) -> Result<Panel, EngineError> {
        Panel::new(boxed(stubs), filter.map(|stub| Box::new(stub) as Box<dyn Method>), combine)
    }

    fn any(stubs: &[Stub]) -> Panel {
        panel(stubs, None, Combine::Any).unwrap()
    }

    fn all(stubs: &[Stub]) -> Panel {
        panel(stubs, None, Combine::All).unwrap()
    }

    /// The record of a document that methods see with these lengths; 0 for one that has no keys.
    fn record(panel: &Panel, lengths: &[u32]) -> Vec<u8> {
        let mut out = Vec::new();
        for (entry, &length) in panel.methods().iter().zip(lengths) {
            let keys = if length > 0 { vec![Key { value: 1, tag: 0 }] } else { vec![] };
            let payload = vec![length as u8; entry.method.payload_bytes()];
            Panel::put(entry, &Sketch { keys, length, payload, ..Sketch::default() }, &mut out);
        }
        out
    }

    fn shared(counts: &[u32]) -> SharedKeys {
        let mut shared = SharedKeys::default();
        shared[..counts.len()].copy_from_slice(counts);
        shared
    }

    fn none() -> Option<Score> {
        None
    }

    #[test]
    fn a_run_has_from_one_to_eight_methods() {
        assert!(panel(&[YES; 8], Some(YES), Combine::Any).is_ok());
        for count in [0, 9] {
            let error = panel(&vec![YES; count], None, Combine::Any).err().unwrap().to_string();
            assert!(error.contains(&format!("and {count} were given")), "{error}");
        }
    }

    #[test]
    fn buffers_do_not_add_up_over_the_methods_of_a_large_text() {
        let left = |stubs: &[Stub], bytes: usize| {
            let mut buffers = Buffers::default();
            buffers.own::<Vec<u64>>().push(7);
            any(stubs).trim(&"a".repeat(bytes), &mut buffers);
            buffers.own::<Vec<u64>>().len()
        };
        assert_eq!([left(&[YES], LARGE_TEXT), left(&[YES; 2], LARGE_TEXT - 1)], [1, 1]);
        assert_eq!(left(&[YES; 2], LARGE_TEXT), 0);
    }

    #[test]
    fn a_filter_must_be_able_to_judge_any_pair() {
        for (filter, why) in [
            (Stub { counts: true, ..YES }, "judges by the number of keys"),
            (Stub { own: own(5), ..YES }, "decides by a measure of its own"),
        ] {
            let error = panel(&[YES], Some(filter), Combine::Any).err().unwrap().to_string();
            assert!(error.starts_with("stub") && error.contains(why), "{error}");
        }
        assert!(panel(&[Stub { counts: true, ..YES }], Some(YES), Combine::Any).is_ok());
    }

    #[test]
    fn methods_with_measures_of_their_own_must_agree() {
        let one = Stub { own: own(5), ..YES };
        let agreed = any(&[one, YES, one]);
        assert_eq!(agreed.own_measure().unwrap(), own(5).map(|own| (own, None)));
        assert_eq!(any(&[YES]).own_measure().unwrap(), None);
        assert!(panel(&[one, Stub { own: own(3), ..YES }], None, Combine::Any).is_err());
    }

    #[test]
    fn each_method_has_its_part_of_a_record() {
        let panel = panel(&[Stub { payload: 2, ..YES }, YES], Some(Stub { payload: 3, ..YES }), Combine::Any)
            .unwrap();
        assert_eq!(
            (panel.width(), panel.methods().len(), panel.proposers().len()),
            (4 + 2 + 4 + 4 + 3, 3, 2)
        );
        let record = record(&panel, &[7, 8, 9]);
        assert_eq!(record.len(), panel.width());
        let parts: Vec<(u32, Vec<u8>)> = panel
            .methods()
            .iter()
            .map(|entry| (entry.length(&record), entry.payload(&record).to_vec()))
            .collect();
        assert_eq!(parts, [(7, vec![7, 7]), (8, vec![]), (9, vec![9, 9, 9])]);
    }

    #[test]
    fn a_document_without_keys_has_no_length() {
        let panel = any(&[Stub { payload: 2, ..YES }]);
        let put = |keys: Vec<Key>, length, payload: Vec<u8>| {
            let mut out = Vec::new();
            Panel::put(&panel.methods()[0], &Sketch { keys, length, payload, ..Sketch::default() }, &mut out);
            out
        };
        let key = Key { value: 5, tag: 0 };
        assert_eq!(put(vec![], 9, vec![1, 2]), [0, 0, 0, 0, 1, 2]);
        assert_eq!(
            put(vec![key], 0, vec![]),
            [1, 0, 0, 0, 0, 0],
            "it has a signature, and its payload is filled up"
        );
        assert_eq!(put(vec![key], 258, vec![3]), [2, 1, 0, 0, 3, 0]);
    }

    #[test]
    fn a_score_is_the_best_of_any_or_the_least_of_all() {
        let score = |panel: &Panel, counts: &[u32]| {
            let record = record(panel, &[5; 3]);
            panel.accept(&record, &record, &shared(counts), none).map(|score| score.forward)
        };
        assert_eq!(score(&any(&[MAYBE, YES, NO]), &[1, 1, 1]), Some(0.9));
        assert_eq!(
            score(&any(&[MAYBE, YES, NO]), &[1, 0, 1]),
            Some(0.7),
            "only methods that proposed it count"
        );
        assert_eq!(score(&any(&[NO, NO]), &[1, 1]), None);
        assert_eq!(score(&all(&[MAYBE, YES]), &[1, 1]), Some(0.7));
        assert_eq!(score(&all(&[MAYBE, YES]), &[1, 0]), None);
        assert_eq!(score(&all(&[MAYBE, NO]), &[1, 1]), None);
    }

    #[test]
    fn documents_without_a_signature_are_accepted_by_nobody() {
        let panel = any(&[YES, MAYBE]);
        let (whole, first, second) =
            (record(&panel, &[5, 5]), record(&panel, &[5, 0]), record(&panel, &[0, 5]));
        let score =
            |a: &[u8], b: &[u8]| panel.accept(a, b, &shared(&[1, 1]), none).map(|score| score.forward);
        assert_eq!((score(&whole, &first), score(&second, &whole)), (Some(0.9), Some(0.7)));
        assert_eq!(score(&first, &second), None);
    }

    #[test]
    fn a_filter_has_the_last_word() {
        for (filter, passes) in [(YES, true), (NO, false)] {
            let panel = panel(&[YES], Some(filter), Combine::Any).unwrap();
            let (record, proposed) = (record(&panel, &[5, 5]), shared(&[1]));
            assert_eq!(panel.accept(&record, &record, &proposed, none).is_some(), passes);
            assert_eq!(panel.promising(&record, &record, &proposed), passes);
            assert_eq!(panel.accept_unproposed(&record, &record, none).is_some(), passes);
        }
    }

    #[test]
    fn a_method_may_have_documents_measured() {
        let panel = any(&[Stub { own: own(5), ..YES }]);
        let record = record(&panel, &[5]);
        let score = |measured: Option<f64>| {
            panel.accept(&record, &record, &shared(&[1]), || measured.map(Score::even))
        };
        assert_eq!(score(Some(0.6)), Some(Score::even(0.6)));
        assert_eq!(score(None), None);
    }

    #[test]
    fn pairs_that_nobody_finds_promising_are_not_measured() {
        let promising = |panel: &Panel, counts: &[u32]| {
            let record = record(panel, &[5; 2]);
            panel.promising(&record, &record, &shared(counts))
        };
        assert!(promising(&any(&[NO, YES]), &[1, 1]));
        assert!(!promising(&any(&[NO, YES]), &[1, 0]));
        assert!(!promising(&all(&[NO, YES]), &[1, 1]));
        assert!(promising(&all(&[MAYBE, YES]), &[1, 1]));
        assert!(!promising(&all(&[MAYBE, YES]), &[1, 0]));
    }

    #[test]
    fn accepting_methods_are_told_by_a_bit_each() {
        let panel = any(&[YES, NO, Stub { own: own(5), ..YES }]);
        let record = record(&panel, &[5; 3]);
        let bits = |counts: &[u32], measured, near: bool| {
            panel.accepting_methods(&record, &record, &shared(counts), measured, || {
                near.then_some(Score::even(1.0))
            })
        };
        assert_eq!(bits(&[1, 1, 1], false, true), 0b101);
        assert_eq!(bits(&[1, 1, 1], false, false), 0b001, "its own measure says no");
        assert_eq!(bits(&[1, 1, 1], true, false), 0b101, "pairs are measured by the run");
        assert_eq!(bits(&[0, 1, 1], true, false), 0b100);
    }

    #[test]
    fn equal_documents_are_accepted_by_methods_that_have_a_signature() {
        let two = any(&[YES, YES]);
        let bits = |lengths: &[u32], measured| two.methods_accepting_equals(&record(&two, lengths), measured);
        assert_eq!([bits(&[5, 0], false), bits(&[0, 5], false), bits(&[0, 0], true)], [0b01, 0b10, 0b11]);
        assert!(two.accepts_equal(&record(&two, &[5, 0])) && !two.accepts_equal(&record(&two, &[0, 0])));
        let both = all(&[YES, YES]);
        assert!(both.accepts_equal(&record(&both, &[5, 5])) && !both.accepts_equal(&record(&both, &[5, 0])));
        let filtered = panel(&[YES], Some(YES), Combine::Any).unwrap();
        assert!(filtered.accepts_equal(&record(&filtered, &[5, 5])));
        assert!(!filtered.accepts_equal(&record(&filtered, &[5, 0])));
    }

    #[test]
    fn methods_that_count_keys_say_nothing_of_pairs_that_nobody_proposed() {
        let counting = Stub { counts: true, ..YES };
        let score = |panel: &Panel| {
            let record = record(panel, &[5; 2]);
            panel.accept_unproposed(&record, &record, none).map(|score| score.forward)
        };
        assert_eq!(score(&any(&[counting])), None);
        assert_eq!(score(&any(&[counting, MAYBE])), Some(0.7));
        assert_eq!(score(&all(&[counting, MAYBE])), None);
    }

    #[test]
    fn one_method_is_enough_to_refuse_a_document_or_to_be_directed() {
        let panel = any(&[YES, Stub { refuses: Some("tabs"), directed: true, ..YES }]);
        assert_eq!(panel.refuses("no harm"), None);
        assert_eq!(panel.refuses("tabs here").as_deref(), Some("it has tabs"));
        assert!(panel.directed() && !any(&[YES]).directed());
        let filter = super::tests::panel(&[YES], Some(Stub { directed: true, ..YES }), Combine::Any).unwrap();
        assert!(!filter.directed(), "a filter gives no scores");
    }

    #[test]
    fn equal_words_give_equal_keys_by_some_methods() {
        for (spec, expected) in
            [("minhash", true), ("simhash", true), ("exact", true), ("md5", false), ("imatch", false)]
        {
            assert_eq!(recipe(spec).panel().unwrap().methods()[0].goes_by_words(), expected, "{spec}");
        }
    }
}
