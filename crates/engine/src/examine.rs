//! One document at a time: what a job makes of a document, and what it says of two, for whoever keeps documents for longer
//! than a job.
//!
//! An [`Examiner`] is a recipe made real, with what its methods must know. [`ExamineBuffers`] has the buffers of one thread. Nothing
//! here decides anything: the same methods and the same measure are asked as in a job, one pair after the other.

use std::path::Path;

use lookalike_corpus::{Corpus, ReadOptions};
use lookalike_hash::{self as hash, Secret, SortBuffers};
use lookalike_methods::{DirectedKeyCounts, Key, Method, Score, Sketch};
use lookalike_model::Document;
pub use lookalike_model::SharedKeys;
use lookalike_text::Profile;
use lookalike_text::extract::{ContentMode, Extractor};

use crate::context::{Context, Settings, Spool};
use crate::error::EngineError;
use crate::measure::{Measure, Measured};
use crate::panel::{Panel, PanelMethod};
use crate::recipe::{ExtraFields, JobRecipe, Within};
use crate::stages::lexicon;
use crate::stages::sketch::{self, Group};
use crate::stages::survey;
use crate::text_analysis::TextAnalyses;
use crate::walk::Watch;

/// The name under which a lexicon that was given lies among what was learned.
pub(crate) const GIVEN: &str = "given";

/// The data that methods must learn from a collection, in a folder of its own.
#[derive(Debug)]
pub struct LearnedData<'k> {
    /// The folder.
    pub folder: &'k Path,
    /// A lexicon that was given, to be copied there.
    pub lexicon: Option<&'k Path>,
    /// Documents to learn from.
    pub corpus: Option<&'k Corpus>,
}

impl LearnedData<'_> {
    /// Lets the methods of a recipe learn what they must know. Refuses a recipe whose methods would know nothing.
    pub fn gather(&self, recipe: &JobRecipe, settings: &Settings, watch: &Watch) -> Result<(), EngineError> {
        self.check(recipe)?;
        std::fs::create_dir_all(self.folder).map_err(|error| EngineError::write(self.folder, error))?;
        if let Some(lexicon) = self.lexicon {
            let copy = self.folder.join(GIVEN);
            std::fs::copy(lexicon, &copy).map_err(|error| EngineError::write(&copy, error))?;
        }
        let empty_corpus = empty_corpus();
        let corpus = self.corpus.unwrap_or(&empty_corpus);
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(settings.threads.max(1))
            .build()
            .map_err(|error| EngineError::Request(format!("threads cannot be started: {error}")))?;
        pool.install(|| learned_context(recipe, corpus, settings, watch, self.folder).map(drop))
    }

    fn check(&self, recipe: &JobRecipe) -> Result<(), EngineError> {
        lexicon::check(recipe, self.lexicon)?;
        for method in recipe.methods()?.iter().filter(|_| self.corpus.is_none()) {
            let name = method.recipe().name;
            let abilities = method.abilities();
            if abilities.learning.is_some() && self.lexicon.is_none() {
                return Err(EngineError::Request(format!(
                    "{name} weighs words by a collection; give --lexicon FILE, or make the index by `lookalike index create` with --learn INPUT"
                )));
            }
            // The order that `exact` learns is for speed alone; others find nothing by what they do not know.
            if abilities.survey.is_some() && name != "exact" {
                return Err(EngineError::Request(format!(
                    "{name} must see a corpus before its first document; make the index by `lookalike index create` with --learn INPUT"
                )));
            }
        }
        Ok(())
    }
}

pub(crate) fn empty_corpus() -> Corpus {
    Corpus::in_memory("nothing.jsonl", Vec::new().into(), ReadOptions::default())
}

/// A context with all that methods must know, which lies in `folder` or is put there.
pub(crate) fn learned_context<'j>(
    recipe: &'j JobRecipe,
    corpus: &'j Corpus,
    settings: &'j Settings,
    watch: &'j Watch,
    folder: &Path,
) -> Result<Context<'j>, EngineError> {
    let mut ctx = context_with_lexicons(recipe, corpus, settings, watch, folder)?;
    survey::reserve_memory(&mut ctx)?;
    survey::survey(&ctx)?;
    Ok(ctx)
}

/// A context with the lexicons that methods ask for, which lie in `folder` or are put there.
pub(crate) fn context_with_lexicons<'j>(
    recipe: &'j JobRecipe,
    corpus: &'j Corpus,
    settings: &'j Settings,
    watch: &'j Watch,
    folder: &Path,
) -> Result<Context<'j>, EngineError> {
    let mut ctx = Context::new(recipe, corpus, settings, watch)?;
    ctx.work = folder.to_owned();
    ctx.stamp = hash::digest(recipe.to_toml().as_bytes());
    ctx.lexicon = Some(folder.join(GIVEN)).filter(|_| recipe.lexicon.is_some());
    lexicon::provide(&mut ctx)?;
    Ok(ctx)
}

/// A recipe made real: it makes sketches of documents, and says how similar two of them are.
pub struct Examiner {
    recipe: JobRecipe,
    panel: Panel,
    measure: Measure,
    profile: Profile,
    measuring: Profile,
    measures: bool,
    content: ContentMode,
    extras: ExtraFields,
    within: Option<Within>,
    secret: Secret,
}

impl std::fmt::Debug for Examiner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Examiner").field("recipe", &self.recipe).finish_non_exhaustive()
    }
}

/// The text of a document, and everything that is computed from it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Examined {
    /// Its text as it was extracted.
    pub text: String,
    /// Number of its words.
    pub words: u32,
    /// Digest of its words, by the examiner's secret; 0 if it has none.
    pub digest: u128,
    /// Lengths and payloads of all methods.
    pub record: Vec<u8>,
    /// Its keys, by method, sorted, each value once.
    pub keys: Vec<Vec<Key>>,
    /// The symbols that it is measured by, under the examiner's secret.
    pub symbols: Vec<u64>,
}

impl Examiner {
    /// With what methods of this recipe learned in [`LearnedData::gather`].
    pub fn open(recipe: JobRecipe, learned: &Path) -> Result<Self, EngineError> {
        let settings = Settings { threads: 1, memory: u64::MAX / 4, spool: Spool::None };
        let (corpus, watch) = (empty_corpus(), Watch::default());
        let ctx = learned_context(&recipe, &corpus, &settings, &watch, learned)?;
        let Context { panel, measure, profile, measuring, measures, content, extras, within, secret, .. } =
            ctx;
        Ok(Examiner { panel, measure, profile, measuring, measures, content, extras, within, secret, recipe })
    }

    /// With the secret that digests of words and symbols go by, for whoever keeps them for longer than this process.
    #[must_use]
    pub fn with_secret(self, secret: Secret) -> Self {
        Examiner { secret, ..self }
    }

    /// The recipe.
    pub fn recipe(&self) -> &JobRecipe {
        &self.recipe
    }

    /// Returns the measure of similarity.
    pub fn measure(&self) -> Measure {
        self.measure
    }

    /// True when documents must be seen again to say how similar they are.
    pub fn measures(&self) -> bool {
        self.measures
    }

    /// True when a similarity may differ both ways.
    pub fn directed(&self) -> bool {
        if self.recipe.verified { self.measure.directed() } else { self.panel.directed() }
    }

    /// The methods that propose pairs.
    pub fn methods(&self) -> impl ExactSizeIterator<Item = &dyn Method> {
        self.panel.proposers().iter().map(|entry| &*entry.method)
    }

    fn group(&self, document: &Document<'_>) -> Group {
        Group::of(self.within.as_ref(), self.extras, document, &self.secret)
    }

    pub(crate) fn panel_method(&self, method: usize) -> &PanelMethod {
        &self.panel.proposers()[method]
    }

    /// True unless a proposed pair is told apart by its records, whatever its documents are when they are looked at.
    pub fn possible(&self, [a, b]: [&[u8]; 2], shared: &SharedKeys) -> bool {
        match self.recipe.verified {
            true => self.promising([a, b], shared),
            false => {
                self.proposed(shared) && self.panel.accept(a, b, shared, || Some(Score::even(1.0))).is_some()
            }
        }
    }

    /// Bytes of a record.
    pub fn record_bytes(&self) -> usize {
        self.panel.width()
    }

    /// A document's length, as a method sees it; 0 when it has no signature for it.
    pub fn length(&self, method: usize, record: &[u8]) -> u32 {
        self.panel.proposers()[method].length(record)
    }

    /// Returns the number that [`Method::accept`] is given for a pair proposed by `asked` keys, both directions packed into one
    /// where some keys only ask; nothing when fewer keys are shared than the method requires.
    pub fn shared(&self, method: usize, asked: DirectedKeyCounts) -> Option<u32> {
        let entry = self.panel_method(method);
        let enough = asked.forward.max(asked.backward) >= entry.keys_to_share();
        enough.then(|| if entry.has_query_keys { asked.pack() } else { asked.forward })
    }

    /// True when a pair was proposed by as many methods as must.
    pub fn proposed(&self, shared: &SharedKeys) -> bool {
        let mut by = shared[..self.panel.proposers().len()].iter().map(|&shared| shared > 0);
        if self.panel.wants_all() { by.all(|yes| yes) } else { by.any(|yes| yes) }
    }

    /// True when two documents with equal words are near-duplicates: always where pairs are measured, else if the methods
    /// have a signature for them.
    pub fn counts_equals(&self, record: &[u8]) -> bool {
        self.recipe.verified || self.panel.accepts_equal(record)
    }

    /// True when all methods go by the words of the run's profile alone: equal words then have equal keys.
    pub fn goes_by_words(&self) -> bool {
        self.panel.proposers().iter().all(PanelMethod::goes_by_words)
    }

    /// True unless a pair of records is not proposed, or is told apart by them where pairs are measured.
    pub fn promising(&self, [a, b]: [&[u8]; 2], shared: &SharedKeys) -> bool {
        self.proposed(shared) && (!self.recipe.verified || self.panel.promising(a, b, shared))
    }

    /// Returns the similarity of the proposed pair of the records `a` and `b`, or nothing if the pair is rejected. `measured`
    /// is called only when the documents must be measured.
    pub fn judge<E>(
        &self,
        [a, b]: [&[u8]; 2],
        shared: &SharedKeys,
        measured: impl FnOnce() -> Result<Option<Measured>, E>,
    ) -> Result<Option<Measured>, E> {
        if self.recipe.verified {
            return if self.panel.promising(a, b, shared) { measured() } else { Ok(None) };
        }
        let own = self.own_score(measured)?;
        Ok(self.panel.accept(a, b, shared, || own).map(as_measured))
    }

    /// Returns the similarity of two documents that no method proposed, or nothing if the pair is rejected.
    pub fn judge_unproposed<E>(
        &self,
        [a, b]: [&[u8]; 2],
        measured: impl FnOnce() -> Result<Option<Measured>, E>,
    ) -> Result<Option<Measured>, E> {
        if self.recipe.verified {
            return measured();
        }
        let own = self.own_score(measured)?;
        Ok(self.panel.accept_unproposed(a, b, || own).map(as_measured))
    }

    /// Returns the score that methods with a measure of their own give a pair; nothing where there is no such method or the
    /// pair does not count.
    fn own_score<E>(
        &self,
        measured: impl FnOnce() -> Result<Option<Measured>, E>,
    ) -> Result<Option<Score>, E> {
        if !self.measures {
            return Ok(None);
        }
        let as_score = |Measured { forward, backward, reached, reached_back }| Score {
            forward,
            backward,
            reached,
            reached_back,
        };
        Ok(measured()?.filter(|measured| measured.counts()).map(as_score))
    }
}

fn as_measured(score: Score) -> Measured {
    let Score { forward, backward, reached, reached_back } = score;
    Measured { forward, backward, reached, reached_back }
}

/// The buffers of one thread, used again for one document after the other.
pub struct ExamineBuffers {
    extractor: Extractor,
    analyses: TextAnalyses,
    sketch: Sketch,
    symbols: Vec<u64>,
    sorting: SortBuffers,
}

impl std::fmt::Debug for ExamineBuffers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ExamineBuffers")
    }
}

impl ExamineBuffers {
    /// Creates the buffers for this examiner.
    pub fn new(examiner: &Examiner) -> Self {
        ExamineBuffers {
            extractor: Extractor::default(),
            analyses: TextAnalyses::new(
                &examiner.profile,
                &examiner.measuring,
                &examiner.panel,
                &examiner.secret,
            ),
            sketch: Sketch::default(),
            symbols: Vec::new(),
            sorting: SortBuffers::default(),
        }
    }

    /// Examines a document. An error says why a method cannot read it.
    pub fn document(&mut self, examiner: &Examiner, document: &Document<'_>) -> Result<Examined, String> {
        let group = examiner.group(document);
        let text = self.extractor.extract(document, examiner.content).text.to_owned();
        self.examine(examiner, text, group)
    }

    /// Examines a text that was extracted.
    pub fn text(&mut self, examiner: &Examiner, text: String) -> Result<Examined, String> {
        self.examine(examiner, text, Group::default())
    }

    /// Makes the sketch of a document and nothing else: no text, and nothing to measure by. `sketch` is used again for one document
    /// after the other. Returns the bytes of its text, or why a method cannot read it.
    pub fn sketch(
        &mut self,
        examiner: &Examiner,
        document: &Document<'_>,
        sketch: &mut Examined,
    ) -> Result<usize, String> {
        let group = examiner.group(document);
        let text = self.extractor.extract(document, examiner.content).text;
        read(&mut self.analyses, &mut self.sketch, examiner, text, group, sketch)?;
        Ok(text.len())
    }

    fn examine(&mut self, examiner: &Examiner, text: String, group: Group) -> Result<Examined, String> {
        let mut examined = Examined::default();
        read(&mut self.analyses, &mut self.sketch, examiner, &text, group, &mut examined)?;
        if examiner.measures && examined.words > 0 {
            examined.symbols = self.symbols(examiner, &text).to_vec();
        }
        examined.text = text;
        Ok(examined)
    }

    fn symbols(&mut self, examiner: &Examiner, text: &str) -> &[u64] {
        examiner.measure.symbols(self.analyses.measuring(text), &mut self.symbols)
    }

    /// Returns the form in which an extracted text is compared.
    pub fn prepare_text(&mut self, examiner: &Examiner, text: &str) -> Vec<u64> {
        self.analyses.start_text();
        let symbols = examiner.measure.symbols(self.analyses.measuring(text), &mut self.symbols);
        let mut prepared = Vec::with_capacity(symbols.len());
        examiner.measure.prepare(symbols, &mut prepared, &mut self.sorting);
        prepared
    }

    /// Returns the form in which a document is compared, made from its symbols.
    pub fn prepare(&mut self, examiner: &Examiner, symbols: &[u64]) -> Vec<u64> {
        let mut prepared = Vec::with_capacity(symbols.len());
        examiner.measure.prepare(symbols, &mut prepared, &mut self.sorting);
        prepared
    }
}

/// Replaces words, digest, record and keys with those of a text.
fn read(
    analyses: &mut TextAnalyses,
    sketch: &mut Sketch,
    examiner: &Examiner,
    text: &str,
    group: Group,
    out: &mut Examined,
) -> Result<(), String> {
    let panel = &examiner.panel;
    if let Some(reason) = panel.refuses(text) {
        return Err(reason);
    }
    analyses.start_text();
    let words = analyses.words(text);
    let wordless = words.is_empty();
    if wordless && panel.refuses("").is_some() {
        return Err(sketch::NO_WORD.to_owned());
    }
    out.words = words.len() as u32;
    out.digest = group.digest(words, &examiner.secret);
    out.record.clear();
    out.keys.resize_with(panel.proposers().len(), Vec::new);
    for (method, entry) in panel.methods().iter().enumerate() {
        sketch.clear();
        if let Some(page) = analyses.page(method, text).filter(|_| !wordless) {
            entry.method.sketch(&page, sketch);
            panel.trim(text, &mut sketch.buffers);
        }
        Panel::put(entry, sketch, &mut out.record);
        if let Some(keys) = out.keys.get_mut(method) {
            keys.clear();
            keys.extend(sketch.keys.iter().map(|key| Key { value: key.value ^ group.key_mask, ..*key }));
            keys.sort_unstable();
            keys.dedup_by_key(|key| key.value);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recipe::Combine;
    use crate::tests::{recipe, settings};
    use lookalike_model::{Media, Similarity};

    fn examiner(recipe: JobRecipe) -> Examiner {
        let folder = tempfile::tempdir().unwrap();
        Examiner::open(recipe, folder.path()).unwrap()
    }

    fn examined(examiner: &Examiner, text: &str) -> Examined {
        ExamineBuffers::new(examiner).text(examiner, text.to_owned()).unwrap()
    }

    fn shared(counts: &[u32]) -> SharedKeys {
        let mut shared = SharedKeys::default();
        shared[..counts.len()].copy_from_slice(counts);
        shared
    }

    #[test]
    fn equal_words_are_examined_alike() {
        let examiner = examiner(recipe("md5"));
        let [one, same, other] = ["One, two", "one two", "two one"].map(|text| examined(&examiner, text));
        assert_eq!((one.words, one.text.as_str(), one.keys.len(), one.keys[0].len()), (2, "One, two", 1, 1));
        assert!(one.digest == same.digest && one.record == same.record && one.keys == same.keys);
        assert!(one.digest != other.digest && one.record != other.record && one.symbols != other.symbols);
        assert_eq!(one.symbols, same.symbols);
        assert_eq!((one.record.len(), examiner.length(0, &one.record)), (examiner.record_bytes(), 2));
    }

    #[test]
    fn a_text_without_words_has_no_digest_and_no_keys() {
        let examiner = examiner(recipe("md5"));
        let none = examined(&examiner, "...");
        assert_eq!((none.words, none.digest, none.symbols.len(), none.keys), (0, 0, 0, vec![vec![]]));
        assert_eq!(examiner.length(0, &none.record), 0);
    }

    #[test]
    fn digests_and_symbols_go_by_the_secret_and_sketches_do_not() {
        let with = |seed| examined(&examiner(recipe("md5")).with_secret(Secret::new(seed)), "one two");
        let (a, b) = (with(1), with(2));
        assert!(a.digest != b.digest && a.symbols != b.symbols);
        assert!(a.record == b.record && a.keys == b.keys);
        assert_eq!(with(1), a);
    }

    #[test]
    fn a_document_is_examined_within_its_group() {
        let examiner = examiner(JobRecipe { within: Some("@host".to_owned()), ..recipe("md5") });
        let mut buffers = ExamineBuffers::new(&examiner);
        let mut of = |url| {
            buffers.document(&examiner, &Document::from_text("x", Some(url), Media::Text, "one two")).unwrap()
        };
        let [one, same, other] = ["http://a.org/1", "http://A.org/2", "http://b.org/"].map(&mut of);
        assert!(one.keys == same.keys && one.digest == same.digest);
        assert!(one.keys != other.keys && one.digest != other.digest);
        assert_eq!(one.record, other.record, "what methods keep is of the words alone");
    }

    #[test]
    fn a_sketch_is_all_but_text_and_symbols() {
        let examiner = examiner(recipe("md5"));
        let mut buffers = ExamineBuffers::new(&examiner);
        let document = Document::from_text("x", None, Media::Text, "one two");
        let (whole, mut sketch) = (buffers.document(&examiner, &document).unwrap(), Examined::default());
        assert_eq!(buffers.sketch(&examiner, &document, &mut sketch), Ok(7));
        assert_eq!(sketch, Examined { text: String::new(), symbols: Vec::new(), ..whole });
    }

    #[test]
    fn texts_and_symbols_are_prepared_alike() {
        let examiner = examiner(recipe("md5"));
        let mut buffers = ExamineBuffers::new(&examiner);
        let text = "one two three four five six one two three four five six";
        let symbols = buffers.text(&examiner, text.to_owned()).unwrap().symbols;
        let prepared = buffers.prepare(&examiner, &symbols);
        // Twelve words have eight shingles of five, of which two come twice.
        assert_eq!((symbols.len(), prepared.len()), (12, 6));
        assert_eq!(buffers.prepare_text(&examiner, text), prepared);
    }

    #[test]
    fn a_pair_is_proposed_by_any_method_or_by_all() {
        let of = |combine| examiner(JobRecipe { combine, ..recipe("md5 minhash") });
        let (any, all) = (of(Combine::Any), of(Combine::All));
        assert!(any.proposed(&shared(&[1, 0])) && !all.proposed(&shared(&[1, 0])));
        assert!(any.proposed(&shared(&[1, 2])) && all.proposed(&shared(&[1, 2])));
        assert!(!any.proposed(&shared(&[0, 0])));
        assert_eq!(any.methods().len(), 2);
    }

    #[test]
    fn keys_are_counted_as_the_method_asks_for() {
        let examiner = examiner(recipe("md5 simhash:search=probabilistic,probes=2"));
        let asked = DirectedKeyCounts { forward: 3, backward: 2 };
        assert_eq!(examiner.shared(0, asked), Some(3));
        assert_eq!(examiner.shared(1, asked), Some(asked.pack()));
        assert_eq!(examiner.shared(0, DirectedKeyCounts::default()), None);
    }

    #[test]
    fn verified_pairs_are_measured_and_others_are_not() {
        let measured = Measured { forward: 0.9, backward: 0.9, reached: true, reached_back: true };
        for verified in [true, false] {
            let examiner = examiner(JobRecipe { verified, ..recipe("md5") });
            assert_eq!(examiner.measures(), verified);
            let [one, other] = ["one two", "three"].map(|text| examined(&examiner, text).record);
            let judge = |a: &[u8], b: &[u8]| {
                let mut asked = false;
                let found = examiner.judge([a, b], &shared(&[1]), || {
                    asked = true;
                    Ok::<_, EngineError>(Some(measured))
                });
                (found.unwrap().map(|found| found.forward), asked)
            };
            assert_eq!(judge(&one, &one), (Some(if verified { 0.9 } else { 1.0 }), verified));
            assert_eq!(judge(&one, &other), (None, false), "digests tell them apart");
            let unproposed =
                examiner.judge_unproposed([&one, &other], || Ok::<_, EngineError>(Some(measured))).unwrap();
            assert_eq!(unproposed.is_some(), verified);
            assert!(
                examiner.possible([&one, &one], &shared(&[1]))
                    && !examiner.possible([&one, &other], &shared(&[1]))
            );
            assert!(!examiner.promising([&one, &one], &shared(&[0])));
            assert!(examiner.counts_equals(&one));
        }
    }

    #[test]
    fn methods_that_know_nothing_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let gather = |spec: &str| {
            let learned = LearnedData { folder: folder.path(), lexicon: None, corpus: None };
            learned.gather(&recipe(spec), &settings(), &Watch::default()).map_err(|error| error.to_string())
        };
        let error = gather("imatch").unwrap_err();
        assert!(error.starts_with("imatch weighs words by a collection"), "{error}");
        let error = gather("spex:n=3,counters=16").unwrap_err();
        assert!(error.starts_with("spex must see a corpus before its first document"), "{error}");
        assert_eq!((gather("md5"), gather("exact")), (Ok(()), Ok(())));
    }

    #[test]
    fn what_was_learned_of_a_corpus_is_known_later() {
        let folder = tempfile::tempdir().unwrap();
        let lines = crate::tests::generated(200, 5);
        let corpus = Corpus::in_memory("docs.jsonl", lines.as_bytes().into(), ReadOptions::default());
        let learned = LearnedData { folder: folder.path(), lexicon: None, corpus: Some(&corpus) };
        learned.gather(&recipe("imatch"), &settings(), &Watch::default()).unwrap();
        assert!(folder.path().join("lexicon0").exists());
        assert!(Examiner::open(recipe("imatch"), folder.path()).is_ok());
    }

    #[test]
    fn similarities_differ_both_ways_by_measure_or_method() {
        let directed = |similarity, verified, spec: &str| {
            examiner(JobRecipe { similarity, verified, ..recipe(spec) }).directed()
        };
        assert!(directed(Similarity::Containment, true, "cops"));
        assert!(!directed(Similarity::Jaccard, true, "cops"), "the measure says the same both ways");
        assert!(directed(Similarity::Jaccard, false, "cops"), "the method tells both ways apart");
        assert!(!directed(Similarity::Jaccard, false, "md5"));
        assert!(examiner(recipe("minhash")).goes_by_words() && !examiner(recipe("md5")).goes_by_words());
    }
}
