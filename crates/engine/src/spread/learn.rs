//! The data that methods must learn from a whole corpus, gathered by many workers and merged by one.
//!
//! Words are counted by each worker that holds documents ([`WordCounter`]); entries of the same word are added up ([`add_up`])
//! and written in the order of their hashes ([`LexiconWriter`]). Then, pass by pass, each worker shows its documents to the
//! methods ([`Surveyor`]), and one worker merges what they saw ([`gather`]). All of it is kept in one folder, from which
//! [`crate::examine::Examiner::open`] reads it.

use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use lookalike_hash::{self as hash, Secret};
use lookalike_methods::lexicon::{Entry, Writer};
use lookalike_methods::{Buffers, Survey};
use lookalike_model::Document;
use lookalike_text::Profile;
use lookalike_text::extract::{ContentMode, Extractor};

use crate::context::{Context, Settings, Spool};
use crate::error::EngineError;
use crate::examine::{GIVEN, context_with_lexicons, empty_corpus};
use crate::panel::Panel;
use crate::recipe::JobRecipe;
use crate::stages::lexicon::tally::{self, Words};
use crate::stages::lexicon::{self, WordTotals};
use crate::stages::survey;
use crate::text_analysis::TextAnalyses;
use crate::walk::Watch;

/// The lexicons that must be counted: the numbers of their profiles. None where one was given for it.
pub fn lexicons(recipe: &JobRecipe) -> Result<Vec<usize>, EngineError> {
    let wanted = lexicon::wanted(&recipe.panel()?, &recipe.profile()?);
    // A lexicon that was given is for one profile; when there are more, its own is not counted either way.
    Ok(if recipe.lexicon.is_some() && wanted.len() == 1 { Vec::new() } else { (0..wanted.len()).collect() })
}

/// Returns the number of passes over the corpus that methods make before anything else.
pub fn passes(recipe: &JobRecipe) -> Result<u32, EngineError> {
    let panel = recipe.panel()?;
    Ok(surveys(&panel).map(Survey::passes).max().unwrap_or(0))
}

/// Puts a lexicon that was given where it is looked for.
pub fn take_lexicon(folder: &Path, file: &Path) -> Result<(), EngineError> {
    let copy = folder.join(GIVEN);
    std::fs::copy(file, &copy).map(drop).map_err(|error| EngineError::write(&copy, error))
}

/// Counts the words of documents by one of the profiles.
pub struct WordCounter {
    words: Words,
    extractor: Extractor,
    analyses: TextAnalyses,
    panel: Panel,
    method: usize,
    content: ContentMode,
    buffers: Buffers,
}

impl std::fmt::Debug for WordCounter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("WordCounter")
    }
}

impl WordCounter {
    /// For the profile of this number, see [`lexicons`].
    pub fn new(recipe: &JobRecipe, number: usize) -> Result<Self, EngineError> {
        let (panel, run) = (recipe.panel()?, recipe.profile()?);
        let profile = wanted(&panel, &run, number)?;
        let of_profile =
            |entry: &crate::panel::PanelMethod| *entry.abilities().profile.unwrap_or(&run) == profile;
        let method = panel.methods().iter().position(of_profile).unwrap_or_default();
        let analyses = TextAnalyses::new(&run, &run, &panel, Secret::of_process());
        let content = recipe.content()?;
        Ok(WordCounter {
            words: Words::default(),
            extractor: Extractor::default(),
            analyses,
            panel,
            method,
            content,
            buffers: Buffers::default(),
        })
    }

    /// Counts the words of a document.
    pub fn see(&mut self, document: &Document<'_>) {
        let text = self.extractor.extract(document, self.content).text;
        if self.panel.refuses(text).is_some() {
            return;
        }
        self.analyses.start_text();
        if let Some(page) = self.analyses.page(self.method, text) {
            self.words.see(&page, &mut self.buffers);
        }
    }

    /// Bytes of memory that the words take so far.
    pub fn bytes(&self) -> usize {
        self.words.bytes()
    }

    /// Hands out all words in the order of their hashes and forgets them; returns the number of documents and words.
    pub fn drain(&mut self, mut each: impl FnMut(&Entry)) -> Result<WordTotals, EngineError> {
        self.words.drain(|entry| {
            each(entry);
            Ok(())
        })
    }
}

fn wanted(panel: &Panel, run: &Profile, number: usize) -> Result<Profile, EngineError> {
    let none =
        || EngineError::Request(format!("no method of this run asks for a lexicon of number {number}"));
    lexicon::wanted(panel, run).into_iter().nth(number).map(|(profile, _)| profile).ok_or_else(none)
}

/// Adds what is said of a word elsewhere to what is said of it here.
pub fn add_up(sum: &mut Entry, entry: &Entry) {
    tally::add(sum, entry);
}

/// A lexicon on its way into a folder with what methods know.
#[derive(Debug)]
pub struct LexiconWriter {
    writer: Writer<BufWriter<File>>,
    pending: PathBuf,
    target: PathBuf,
}

impl LexiconWriter {
    /// Begins the lexicon of the profile of this number.
    pub fn create(folder: &Path, recipe: &JobRecipe, number: usize) -> Result<Self, EngineError> {
        let profile = wanted(&recipe.panel()?, &recipe.profile()?, number)?;
        let target = folder.join(lexicon::file_name(number));
        let pending = target.with_added_extension("part");
        let file = File::create(&pending).map_err(|error| EngineError::write(&pending, error))?;
        let writer = Writer::new(BufWriter::with_capacity(1 << 18, file), &profile.recipe())
            .map_err(|error| lexicon::broken(&pending, error))?;
        Ok(LexiconWriter { writer, pending, target })
    }

    /// Writes a word; they come in the order of their hashes.
    pub fn push(&mut self, entry: &Entry) -> Result<(), EngineError> {
        self.writer.push(entry).map_err(|error| lexicon::broken(&self.pending, error))
    }

    /// All words are there, out of so many documents with so many words.
    pub fn finish(self, documents: u64, occurrences: u64) -> Result<(), EngineError> {
        let LexiconWriter { writer, pending, target } = self;
        writer.finish(documents, occurrences).map_err(|error| lexicon::broken(&pending, error))?;
        std::fs::rename(&pending, &target).map_err(|error| EngineError::write(&target, error))
    }
}

fn surveys(panel: &Panel) -> impl Iterator<Item = &dyn Survey> {
    panel.methods().iter().filter_map(|entry| entry.abilities().survey)
}

/// Runs `work` in a context with the lexicons of a folder.
fn with_context<T>(
    recipe: &JobRecipe,
    folder: &Path,
    work: impl FnOnce(Context<'_>) -> Result<T, EngineError>,
) -> Result<T, EngineError> {
    let settings = Settings { threads: 1, memory: u64::MAX / 4, spool: Spool::None };
    let (corpus, watch) = (empty_corpus(), Watch::default());
    work(context_with_lexicons(recipe, &corpus, &settings, &watch, folder)?)
}

/// Shows documents to the methods that must see all of them.
pub struct Surveyor {
    panel: Panel,
    pass: u32,
    extractor: Extractor,
    analyses: TextAnalyses,
    content: ContentMode,
    buffers: Buffers,
}

impl std::fmt::Debug for Surveyor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Surveyor").field("pass", &self.pass).finish_non_exhaustive()
    }
}

impl Surveyor {
    /// For the pass that is due by what lies in the folder.
    pub fn open(recipe: &JobRecipe, folder: &Path) -> Result<Self, EngineError> {
        with_context(recipe, folder, |ctx| {
            let (pass, _) = survey::load(&ctx)?;
            let analyses = TextAnalyses::new(&ctx.profile, &ctx.measuring, &ctx.panel, &ctx.secret);
            let content = ctx.content;
            let Context { panel, .. } = ctx;
            Ok(Surveyor {
                panel,
                pass,
                extractor: Extractor::default(),
                analyses,
                content,
                buffers: Buffers::default(),
            })
        })
    }

    /// Shows a document.
    pub fn see(&mut self, document: &Document<'_>) {
        let text = self.extractor.extract(document, self.content).text;
        if self.panel.refuses(text).is_some() {
            return;
        }
        // Which documents are in a share that is enough depends on their ids alone.
        let sample_hash = hash::mix(hash::word(document.id.as_bytes()));
        self.analyses.start_text();
        for (method, entry) in self.panel.methods().iter().enumerate() {
            let Some(survey) = entry.abilities().survey.filter(|survey| self.pass < survey.passes()) else {
                continue;
            };
            if !sample_hash.is_multiple_of(survey.sampling_interval()) {
                continue;
            }
            if let Some(page) = self.analyses.page(method, text) {
                survey.observe(self.pass, &page, &mut self.buffers);
            }
            self.panel.trim(text, &mut self.buffers);
        }
    }

    /// Returns the state that each of these methods has gathered, for [`gather`].
    pub fn saved(&self) -> Vec<Vec<u8>> {
        surveys(&self.panel).map(Survey::save).collect()
    }
}

/// Ends a pass: adds up what everybody saw, lets the methods make something of it, and writes that to the folder.
pub fn gather(
    recipe: &JobRecipe,
    folder: &Path,
    seen: impl Iterator<Item = Result<Vec<Vec<u8>>, EngineError>>,
) -> Result<(), EngineError> {
    with_context(recipe, folder, |ctx| {
        let (pass, _) = survey::load(&ctx)?;
        let under_way =
            || surveys(&ctx.panel).map(move |survey| Some(survey).filter(|survey| pass < survey.passes()));
        for saved in seen {
            for (survey, saved) in under_way().zip(saved?) {
                if survey.is_some_and(|survey| !survey.merge(pass, &saved)) {
                    return Err(EngineError::Request(
                        "what a machine saw of the corpus is not what the method wrote; all of them must run one version"
                            .to_owned(),
                    ));
                }
            }
        }
        under_way().flatten().for_each(|survey| survey.end(pass));
        survey::save(&ctx, pass + 1, 0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::recipe;
    use lookalike_methods::lexicon::Reader;
    use lookalike_methods::{Lexicon, LexiconDetail};
    use lookalike_model::Media;

    const SPEX: &str = "spex:n=3,counters=16";

    #[test]
    fn lexicons_are_counted_for_profiles_that_have_none() {
        assert_eq!(lexicons(&recipe("md5")).unwrap(), [] as [usize; 0]);
        assert_eq!(lexicons(&recipe("imatch md5")).unwrap(), [0]);
        let given = JobRecipe { lexicon: Some("digest".to_owned()), ..recipe("imatch") };
        assert_eq!(lexicons(&given).unwrap(), [] as [usize; 0]);
        let error = WordCounter::new(&recipe("md5"), 0).unwrap_err().to_string();
        assert_eq!(error, "no method of this run asks for a lexicon of number 0");
    }

    #[test]
    fn passes_are_the_most_that_any_method_makes() {
        assert_eq!(passes(&recipe("md5")).unwrap(), 0);
        let spex = recipe(SPEX).panel().unwrap().methods()[0].abilities().survey.unwrap().passes();
        assert_eq!(passes(&recipe(&format!("md5 {SPEX}"))).unwrap(), spex);
        assert!(spex > 0);
    }

    #[test]
    fn words_that_were_counted_apart_make_one_lexicon() {
        let folder = tempfile::tempdir().unwrap();
        let recipe = recipe("imatch:profile=web");
        let mut sums = std::collections::BTreeMap::<u64, Entry>::new();
        let (mut documents, mut occurrences) = (0, 0);
        for texts in [&["roses tulips roses"][..], &["roses", "...", "lilies"]] {
            let mut counter = WordCounter::new(&recipe, 0).unwrap();
            texts.iter().for_each(|text| counter.see(&Document::from_text("x", None, Media::Text, text)));
            assert!(counter.bytes() > 0);
            let totals = counter.drain(|entry| add_up(sums.entry(entry.hash).or_default(), entry)).unwrap();
            documents += totals.documents;
            occurrences += totals.occurrences;
        }
        assert_eq!((documents, occurrences), (3, 5));
        let mut writer = LexiconWriter::create(folder.path(), &recipe, 0).unwrap();
        sums.values().for_each(|entry| writer.push(entry).unwrap());
        writer.finish(documents, occurrences).unwrap();
        let file = File::open(folder.path().join("lexicon0")).unwrap();
        let lexicon =
            Lexicon::read(Reader::open(file).unwrap(), LexiconDetail::Everything, u64::MAX).unwrap();
        let words: std::collections::BTreeMap<String, (u32, u64)> = (0..sums.len())
            .map(|index| lexicon.entry(index))
            .map(|entry| (entry.word, (entry.documents, entry.occurrences)))
            .collect();
        let expected = [("lilies", (1, 1)), ("roses", (2, 3)), ("tulips", (1, 1))];
        assert_eq!(words, expected.map(|(word, counts)| (word.to_owned(), counts)).into());
        assert!(!folder.path().join("lexicon0.part").exists());
    }

    #[test]
    fn what_machines_saw_is_put_together() {
        let [together, apart] = std::array::from_fn(|_| tempfile::tempdir().unwrap());
        let texts = ["one two three four", "two three four", "one two three"];
        let seen = |folder: &Path, texts: &[&str]| {
            let mut surveyor = Surveyor::open(&recipe(SPEX), folder).unwrap();
            texts.iter().for_each(|text| surveyor.see(&Document::from_text("x", None, Media::Text, text)));
            Ok(surveyor.saved())
        };
        gather(&recipe(SPEX), together.path(), [seen(together.path(), &texts)].into_iter()).unwrap();
        let parts = texts.map(|text| seen(apart.path(), &[text]));
        gather(&recipe(SPEX), apart.path(), parts.into_iter()).unwrap();
        let known = |folder: &Path| {
            Surveyor::open(&recipe(SPEX), folder).map(|surveyor| (surveyor.pass, surveyor.saved()))
        };
        let (pass, saved) = known(together.path()).unwrap();
        assert_eq!(pass, 1);
        assert_eq!(known(apart.path()).unwrap(), (pass, saved));
    }

    #[test]
    fn what_no_method_wrote_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let error = gather(&recipe(SPEX), folder.path(), [Ok(vec![b"abc".to_vec()])].into_iter())
            .unwrap_err()
            .to_string();
        assert!(
            error.starts_with("what a machine saw of the corpus is not what the method wrote"),
            "{error}"
        );
        let failed = gather(&recipe(SPEX), folder.path(), [Err(EngineError::Stopped)].into_iter());
        assert!(matches!(failed, Err(EngineError::Stopped)));
    }

    #[test]
    fn a_lexicon_that_was_given_lies_among_what_was_learned() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("mine");
        std::fs::write(&file, "words").unwrap();
        take_lexicon(folder.path(), &file).unwrap();
        assert_eq!(std::fs::read(folder.path().join(GIVEN)).unwrap(), b"words");
        assert!(take_lexicon(folder.path(), &folder.path().join("none")).is_err());
    }
}
