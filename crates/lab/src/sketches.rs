//! Sketches of a small collection in memory, by any method, and whether two of them match.
//!
//! An engine groups millions of documents by their keys. Experiments ask the same of two documents at a time: a
//! [`Sketcher`] has a method that was told what it must know of a collection, and [`Sketcher::score`] says whether the
//! method calls two documents near-duplicates, by keys, by its own verdict, and by measuring them where that is how it
//! decides.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use lookalike::engine::measure::Measure;
use lookalike::hash::{self, Secret};
use lookalike::methods::{
    Abilities, Buffers, DirectedKeyCounts, Key, Lexicon, Member, Method, Page, Score, Setting, Sketch, method,
};
use lookalike::text::{Analyser, Features, Profile};
use lookalike::walk::Watch;

use crate::trial::LabError;

/// Texts, and their words by one profile: those of a collection, and perhaps more that are like them.
#[derive(Debug)]
pub struct AnalysedTexts<'t> {
    profile: Profile,
    texts: Vec<&'t str>,
    pages: Vec<Features>,
    /// Number of texts of the collection, which come first.
    collection: usize,
    lexicon: OnceLock<Arc<Lexicon>>,
}

impl<'t> AnalysedTexts<'t> {
    /// Reads the texts of a collection, sentences included.
    pub fn new(
        profile: &Profile,
        collection: impl IntoIterator<Item = &'t str>,
        watch: &Watch,
    ) -> Result<Self, LabError> {
        AnalysedTexts::with_more(profile, collection, [], watch)
    }

    /// Reads the texts of a collection, and behind them `more`, which count for no word's frequency.
    pub fn with_more(
        profile: &Profile,
        collection: impl IntoIterator<Item = &'t str>,
        more: impl IntoIterator<Item = &'t str>,
        watch: &Watch,
    ) -> Result<Self, LabError> {
        let mut texts: Vec<&str> = collection.into_iter().collect();
        let collection = texts.len();
        texts.extend(more);
        let mut analyser = Analyser::with_secret(profile, Secret::of_process());
        let mut pages = Vec::with_capacity(texts.len());
        for text in &texts {
            watch.check()?;
            let mut features = Features::default();
            analyser.read(text, &mut features);
            analyser.read_sentences(&mut features);
            pages.push(features);
        }
        Ok(AnalysedTexts { profile: profile.clone(), texts, pages, collection, lexicon: OnceLock::new() })
    }

    /// Number of texts.
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// True when there are none.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// A text as methods see it.
    pub fn page(&self, index: usize) -> Page<'_> {
        Page { text: self.texts[index], features: &self.pages[index] }
    }

    /// All of them.
    pub fn pages(&self) -> impl Iterator<Item = Page<'_>> {
        (0..self.len()).map(|index| self.page(index))
    }

    /// Returns the lexicon of the collection, made at the first call.
    pub fn lexicon(&self) -> &Arc<Lexicon> {
        let gather = || Lexicon::gather(&self.profile.recipe(), &self.pages[..self.collection]);
        self.lexicon.get_or_init(|| Arc::new(gather()))
    }
}

/// A method, and the facts of a collection that it needs.
#[derive(Debug)]
pub struct Sketcher {
    method: Box<dyn Method>,
    profile: Profile,
    /// The measure of pairs, if the method decides by measuring.
    measure: Option<Measure>,
    /// Documents of the collection.
    documents: u64,
    /// Number of documents that have each key, for methods that leave out common ones.
    common: HashMap<u64, u64>,
}

/// The sketch of a document by a method, and the symbols that it is measured by.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct DocumentSketch {
    /// Keys, in the method's order.
    pub keys: Vec<Key>,
    /// The payload.
    pub payload: Vec<u8>,
    length: u32,
    /// The keys in the order of their values, the first of equal ones first.
    sorted: Vec<Key>,
    prepared: Vec<u64>,
}

impl Sketcher {
    /// The method as typed. `run` is the profile of methods that have none of their own.
    pub fn new(text: &str, setting: &Setting, run: &Profile) -> Result<Self, LabError> {
        let method = method(text, setting)?;
        let own = method.abilities().own_measure.map(|own| Measure {
            similarity: own.similarity,
            threshold: own.threshold,
            shingle: own.shingle,
        });
        // What the method exact proposes is what may reach the threshold; what it finds is what does.
        let exact = || Measure {
            similarity: setting.similarity,
            threshold: setting.threshold,
            shingle: setting.shingle,
        };
        let measure = own.or_else(|| (method.recipe().name == "exact").then(exact));
        let profile = method.abilities().profile.unwrap_or(run).clone();
        Ok(Sketcher { method, profile, measure, documents: 0, common: HashMap::new() })
    }

    /// The method.
    pub fn method(&self) -> &dyn Method {
        &*self.method
    }

    /// The profile that it reads words by.
    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    /// Tells the method what it must know of a collection's words, and shows it all documents as often as it wants to see
    /// them. They were read by its profile.
    pub fn learn(&mut self, analysed: &AnalysedTexts<'_>, watch: &Watch) -> Result<(), LabError> {
        if let Some(learning) = self.method.abilities().learning {
            learning.learn(analysed.lexicon())?;
        }
        self.survey(analysed, watch)?;
        self.documents = analysed.collection as u64;
        if self.method.abilities().max_documents_per_key(self.documents) < u64::MAX {
            let mut buffer = Sketch::default();
            for page in analysed.pages().take(analysed.collection) {
                watch.check()?;
                let keys = self.sketch(&page, &mut buffer).keys;
                keys.iter().for_each(|key| *self.common.entry(key.value).or_insert(0) += 1);
            }
        }
        Ok(())
    }

    fn survey(&self, analysed: &AnalysedTexts<'_>, watch: &Watch) -> Result<(), LabError> {
        let Some(survey) = self.method.abilities().survey else { return Ok(()) };
        let mut buffers = Buffers::default();
        for pass in 0..survey.passes() {
            for (place, page) in (0..).zip(analysed.pages()) {
                watch.check()?;
                if !page.is_empty() && hash::mix(place).is_multiple_of(survey.sampling_interval()) {
                    survey.observe(pass, &page, &mut buffers);
                }
            }
            survey.end(pass);
        }
        Ok(())
    }

    /// Returns the sketch of a document; `buffer` is reused.
    pub fn sketch(&self, page: &Page<'_>, buffer: &mut Sketch) -> DocumentSketch {
        buffer.clear();
        if !page.is_empty() {
            self.method.sketch(page, buffer);
        }
        buffer.payload.resize(self.method.payload_bytes(), 0);
        let mut sorted = buffer.keys.clone();
        sorted.sort_by_key(|key| key.value);
        let prepared = self.measure.map_or_else(Vec::new, |measure| {
            let (mut symbols, mut prepared) = (Vec::new(), Vec::new());
            let symbols = measure.symbols(page, &mut symbols);
            measure.prepare(symbols, &mut prepared, &mut Default::default());
            prepared
        });
        DocumentSketch {
            keys: buffer.keys.clone(),
            payload: buffer.payload.clone(),
            length: buffer.length,
            sorted,
            prepared,
        }
    }

    /// Returns the number of keys that two documents share, as [`Method::accept`] takes it; none when they are too few.
    pub fn shared(&self, a: &DocumentSketch, b: &DocumentSketch) -> Option<u32> {
        let rules = self.method.abilities();
        let (forward, asks) = (self.matching_keys(&rules, a, b), rules.query_keys.is_some());
        let backward = if asks { self.matching_keys(&rules, b, a) } else { 0 };
        let shared = if asks { DirectedKeyCounts { forward, backward }.pack() } else { forward };
        (forward.max(backward) >= rules.keys_to_share()).then_some(shared)
    }

    /// Returns the method's score of two documents if it accepts them as near-duplicates.
    pub fn score(&self, a: &DocumentSketch, b: &DocumentSketch) -> Option<Score> {
        let score = self.method.accept(&a.payload, &b.payload, self.shared(a, b)?)?;
        let Some(measure) = self.measure else { return Some(score) };
        let measured = measure.compare(&a.prepared, &b.prepared, measure.threshold)?;
        measured.counts().then_some(Score {
            forward: measured.forward,
            backward: measured.backward,
            reached: measured.reached,
            reached_back: measured.reached_back,
        })
    }

    /// Returns the number of keys of `a` that `b` has, too, and that may find it.
    fn matching_keys(&self, rules: &Abilities<'_>, a: &DocumentSketch, b: &DocumentSketch) -> u32 {
        let (shorter, longer) = (a.length.min(b.length), a.length.max(b.length));
        if longer > rules.longest_partner(shorter) {
            return 0;
        }
        let most = rules.max_documents_per_key(self.documents);
        let rare = |key: &Key| self.common.get(&key.value).is_none_or(|&documents| documents <= most);
        let matches = |key: &&Key| {
            let place = b.sorted.partition_point(|other| other.value < key.value);
            let other = b.sorted.get(place).filter(|other| other.value == key.value);
            let member =
                |sketched: &DocumentSketch, key: &Key| Member { length: sketched.length, tag: key.tag };
            !rules.is_query_only(key.tag)
                && rare(key)
                && other.is_some_and(|other| rules.plausible(member(a, key), member(b, other)))
        };
        a.keys.iter().filter(matches).count() as u32
    }
}

#[cfg(test)]
pub(crate) mod testing {
    use std::path::Path;

    use lookalike::corpus::{Corpus, ReadOptions};
    use lookalike::engine::{Settings, Spool};
    use lookalike::text::extract::ContentMode;

    use super::*;
    use crate::collection::Collection;
    use crate::experiments::ExperimentContext;

    /// Texts of `words` words each, of which a few are common, in sentences of twelve.
    pub(crate) fn texts(count: usize, words: usize) -> Vec<String> {
        let text = |number: usize| {
            let mut draws = crate::draws::Draws::new(number as u64, 77);
            let word = |place: usize| {
                let range = [20, 200, 2_000][draws.below(3)];
                let stop = if place % 12 == 11 { ". " } else { " " };
                format!("{}{stop}", name(draws.below(range)))
            };
            (0..words).map(word).collect()
        };
        (0..count).map(text).collect()
    }

    /// A word of letters alone for each number.
    pub(crate) fn name(number: usize) -> String {
        let letter = |place: u32| char::from(b'a' + (number / 26usize.pow(place) % 26) as u8);
        ["word".to_owned(), (0..3).map(letter).collect()].concat()
    }

    /// A collection of these texts.
    pub(crate) fn collection(texts: &[String]) -> Collection {
        let line = |(number, text): (usize, &String)| {
            serde_json::json!({"id": format!("d{number}"), "text": text}).to_string() + "\n"
        };
        let lines: String = texts.iter().enumerate().map(line).collect();
        let corpus = Corpus::in_memory("small.jsonl", lines.into_bytes().into(), ReadOptions::default());
        Collection { name: "small".to_owned(), corpus, content: ContentMode::Page, generated: true }
    }

    /// The context of an experiment on these texts.
    pub(crate) fn context<'d>(texts: &[String], watch: &'d Watch) -> ExperimentContext<'d> {
        ExperimentContext {
            given: Some(collection(texts)),
            data: None,
            folder: Path::new("unused").to_owned(),
            documents: 1_000,
            settings: Settings { threads: 1, memory: 1 << 30, spool: Spool::Auto },
            seed: 1,
            watch,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lookalike::engine::recipe::{JobRecipe, Task};
    use lookalike::engine::{Job, Opened, Outputs};
    use std::collections::BTreeSet;

    const TEXTS: [&str; 4] = [
        "One rose is a rose in the garden. Another rose grows outside of every garden. Nobody counts tulips.",
        "One rose is a rose in the garden. Another rose grows outside of every garden. Nobody counts lilies.",
        "Nobody counts tulips. One rose is a rose in the garden. Another rose grows outside of every garden.",
        "Seven ships sailed towards distant harbours while sailors sang about storms, whales and forgotten islands.",
    ];

    fn verdicts(text: &str) -> Vec<bool> {
        let watch = Watch::default();
        let mut sketcher = Sketcher::new(text, &Setting::default(), &Profile::web()).unwrap();
        let analysed = AnalysedTexts::new(sketcher.profile(), TEXTS, &watch).unwrap();
        sketcher.learn(&analysed, &watch).unwrap();
        let mut buffer = Sketch::default();
        let all: Vec<DocumentSketch> =
            analysed.pages().map(|page| sketcher.sketch(&page, &mut buffer)).collect();
        for (one, two) in [(0, 1), (0, 2), (1, 3)] {
            let [there, back] = [(one, two), (two, one)].map(|(a, b)| sketcher.score(&all[a], &all[b]));
            assert_eq!(there, back.map(Score::swapped), "{text}");
        }
        all[1..].iter().map(|other| sketcher.score(&all[0], other).is_some()).collect()
    }

    #[test]
    fn methods_say_what_their_definitions_say() {
        // A word replaced; sentences moved; something else.
        for (method, expected) in [
            ("md5", [false, false, false]),
            // Sets of words: 14 of 16 in one; all in the other.
            ("mod:m=1,shingle=1,threshold=0.87", [true, true, false]),
            ("mod:m=1,shingle=1,threshold=0.88", [false, true, false]),
            ("bottom:s=99,shingle=1,threshold=0.87", [true, true, false]),
            ("bottom:s=99,shingle=1,threshold=0.88", [false, true, false]),
            ("a11:test=words,sim=0.7,profile=web", [true, true, false]),
            ("a11:test=words,sim=0.9,profile=web", [false, true, false]),
            // Characters that stay in their order, nearly all in one and about five in six in the other.
            ("a11:profile=web", [true, false, false]),
            ("fuzzy:widths=9", [true, true, false]),
            ("simhash:k=0", [false, false, false]),
            ("simhash:k=63,search=probabilistic,probes=1", [false, false, false]),
            ("lexical:weight=tf,words=3,profile=web", [true, true, false]),
            ("pugh:lists=1,least=1,profile=web", [false, true, false]),
        ] {
            assert_eq!(verdicts(method), expected, "{method}");
        }
    }

    #[test]
    fn exact_is_measured() {
        let watch = Watch::default();
        let at = |threshold: &str| {
            let threshold = threshold.parse().unwrap();
            let setting = Setting { threshold, shingle: 1, ..Setting::default() };
            let mut sketcher = Sketcher::new("exact", &setting, &Profile::web()).unwrap();
            let analysed = AnalysedTexts::new(sketcher.profile(), TEXTS, &watch).unwrap();
            sketcher.learn(&analysed, &watch).unwrap();
            let mut buffer = Sketch::default();
            let [a, b] = [0, 1].map(|index| sketcher.sketch(&analysed.page(index), &mut buffer));
            sketcher.score(&a, &b).map(|score| score.forward)
        };
        assert_eq!((at("0.87"), at("0.88")), (Some(14.0 / 16.0), None));
    }

    #[test]
    fn keys_of_many_documents_are_left_out() {
        let watch = Watch::default();
        let method = "mod:m=1,shingle=1,most=3,threshold=0.01";
        let mut sketcher = Sketcher::new(method, &Setting::default(), &Profile::web()).unwrap();
        let texts = ["rose tulip", "rose lily", "rose violet", "rose daisy lily"];
        let analysed = AnalysedTexts::new(sketcher.profile(), texts, &watch).unwrap();
        sketcher.learn(&analysed, &watch).unwrap();
        let mut buffer = Sketch::default();
        let all: Vec<DocumentSketch> =
            analysed.pages().map(|page| sketcher.sketch(&page, &mut buffer)).collect();
        assert_eq!(sketcher.shared(&all[0], &all[1]), None);
        assert_eq!(sketcher.shared(&all[1], &all[3]), Some(1));
    }

    /// The pairs that a run by the method's own word writes.
    fn engine(text: &str, texts: &[String], folder: &std::path::Path) -> BTreeSet<(String, String)> {
        let mut recipe = JobRecipe {
            verified: false,
            methods: vec![method(text, &Setting::default()).unwrap().recipe()],
            ..JobRecipe::simplest(Task::Pairs)
        };
        recipe.resolve_profiles().unwrap();
        let job = Job {
            recipe,
            corpus: testing::collection(texts).corpus,
            against: None,
            lexicon: None,
            settings: testing::context(texts, &Watch::default()).settings,
            outputs: Outputs::default(),
        };
        let Opened::Open(mut open) = job.open(folder).unwrap() else { panic!("{text} was run before") };
        let summary = open.run(&Watch::default()).unwrap().summary;
        open.finish(&summary).unwrap();
        let pair = |line: &str| {
            let row: serde_json::Value = serde_json::from_str(line).unwrap();
            (row["a"].as_str().unwrap().to_owned(), row["b"].as_str().unwrap().to_owned())
        };
        std::fs::read_to_string(folder.join("pairs.jsonl")).unwrap().lines().map(pair).collect()
    }

    #[test]
    fn verdicts_are_those_of_a_run() {
        let folder = tempfile::tempdir().unwrap();
        // Each in its own words, and once more with one word, five, or the end replaced.
        let mut texts = testing::texts(24, 90);
        for number in 0..24 {
            let edits = [1, 5, 30][number % 3];
            texts.push(texts[number].replacen("word", "other", edits));
        }
        let watch = Watch::default();
        let mut met = 0;
        for text in [
            "a1",
            "a4",
            "a6",
            "a8",
            "a9",
            "a11",
            "a12",
            "cops",
            "dsc",
            "fuzzy",
            "imatch",
            "koala",
            "minhash",
            "mod:m=3",
            "pugh",
            "sif",
            "simhash:search=probabilistic",
            "spex",
            "supershingles",
            "word-tuples",
        ] {
            let mut sketcher = Sketcher::new(text, &Setting::default(), &Profile::web()).unwrap();
            let analysed =
                AnalysedTexts::new(sketcher.profile(), texts.iter().map(String::as_str), &watch).unwrap();
            sketcher.learn(&analysed, &watch).unwrap();
            let mut buffer = Sketch::default();
            let all: Vec<DocumentSketch> =
                analysed.pages().map(|page| sketcher.sketch(&page, &mut buffer)).collect();
            let mut expected = BTreeSet::new();
            for (b, two) in all.iter().enumerate() {
                let near = all[..b].iter().enumerate().filter(|(_, one)| sketcher.score(one, two).is_some());
                expected.extend(near.map(|(a, _)| (format!("d{a}"), format!("d{b}"))));
            }
            assert_eq!(engine(text, &texts, &folder.path().join(text.replace(':', "-"))), expected, "{text}");
            met += usize::from(!expected.is_empty());
        }
        assert!(met > 15, "{met}");
    }

    #[test]
    fn who_asks_finds_and_who_does_not_is_found() {
        let watch = Watch::default();
        let text = "simhash:search=probabilistic,probes=2000,target=1,n=1";
        let sketcher = Sketcher::new(text, &Setting::default(), &Profile::web()).unwrap();
        let texts = testing::texts(200, 200);
        let edited: Vec<String> = texts.iter().map(|text| text.replacen("word", "other", 1)).collect();
        let all = texts.iter().chain(&edited).map(String::as_str);
        let analysed = AnalysedTexts::new(sketcher.profile(), all, &watch).unwrap();
        let mut buffer = Sketch::default();
        let sketched: Vec<DocumentSketch> =
            analysed.pages().map(|page| sketcher.sketch(&page, &mut buffer)).collect();
        let (mut met, mut near) = (0, 0);
        for (a, b) in sketched[..200].iter().zip(&sketched[200..]) {
            let asked = |a: &DocumentSketch, b: &DocumentSketch| {
                a.keys.iter().any(|key| key.value == b.keys[0].value)
            };
            let expected = sketcher.method().accept(&a.payload, &b.payload, 1).is_some();
            assert_eq!(sketcher.score(a, b).is_some(), expected && (asked(a, b) || asked(b, a)));
            met += usize::from(sketcher.score(a, b).is_some());
            near += usize::from(expected);
        }
        assert!(met > 100 && met <= near, "{met} of {near}");
    }
}
