//! The stage `lexicon`: words counted in one pass over a corpus within bounded memory, or taken from a file, for methods that ask.
//!
//! Words are counted in tables by the first bits of their hashes. A table that has grown too large is put to disk in
//! the order of its words, and begins again; in the end the parts of each table are merged. So memory is bounded
//! whatever the vocabulary, and what comes out depends on nothing but the documents.
//!
//! - `tally`: the tables, and what they leave on disk

pub(crate) mod tally;

use std::fs::File;
use std::io::{BufReader, BufWriter, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use lookalike_methods::lexicon::{LexiconError, Reader, Writer};
use lookalike_methods::{Buffers, Learning, Lexicon, LexiconDetail, Page};
use lookalike_store::journal;
use lookalike_text::Profile;
use xxhash_rust::xxh3::Xxh3Default;

use self::tally::Tally;
use crate::context::Context;
use crate::error::EngineError;
use crate::panel::{Panel, PanelMethod};
use crate::pipeline::Batch;
use crate::recipe::{JobRecipe, profile_of};
use crate::stages::sketch::SketchWorker;
use crate::stages::survey::walk;

/// The totals of a count of words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WordTotals {
    /// Records found.
    pub records: u64,
    /// Those that could not be read.
    pub rejected: u64,
    /// Documents with at least one word.
    pub documents: u64,
    /// Words in them.
    pub occurrences: u64,
}

/// The digest of a lexicon file, as recipes name it.
pub fn fingerprint(path: &Path) -> Result<String, EngineError> {
    let read = || -> std::io::Result<u128> {
        let (mut file, mut sum) = (File::open(path)?, Xxh3Default::new());
        // A window at a time, because the digest is asked for before it is known whether the lexicon fits
        // into memory.
        let mut window = vec![0; 1 << 16];
        loop {
            match file.read(&mut window)? {
                0 => return Ok(sum.digest128()),
                length => sum.update(&window[..length]),
            }
        }
    };
    Ok(format!("{:032x}", read().map_err(|error| EngineError::read(path, error))?))
}

/// Gives every method that asks for one a lexicon by its own profile: the one that was given, or one of the input.
pub(crate) fn provide(ctx: &mut Context<'_>) -> Result<(), EngineError> {
    let profiles = wanted(&ctx.panel, &ctx.profile);
    let given = given(ctx.recipe, ctx.lexicon.as_deref(), &profiles)?;
    for (number, (profile, detail)) in profiles.iter().enumerate() {
        let path = match &given {
            Some((path, of)) if of == profile => path.clone(),
            _ => {
                let path = ctx.file(&file_name(number));
                // Being there is enough: the file gets its name when all of it is on the disk.
                if !path.exists() {
                    count(ctx, profile, number, &path)?;
                }
                path
            }
        };
        let lexicon = load(ctx, &path, *detail)?;
        if lexicon.documents() == 0 {
            // Nothing can be learned from nothing; of an input without words there is nothing to find either.
            if given.as_ref().is_none_or(|(_, of)| of != profile) {
                continue;
            }
            let why = "it has no words; make one from documents that have";
            return Err(not_a_lexicon(&path, &why));
        }
        for (_, learning) in learners(&ctx.panel, &ctx.profile).filter(|(of, _)| *of == profile) {
            learning.learn(&lexicon).map_err(|error| EngineError::Request(error.to_string()))?;
        }
    }
    Ok(())
}

/// The name of a lexicon that was counted for the profile of this number among those that are asked for.
pub(crate) fn file_name(number: usize) -> String {
    format!("lexicon{number}")
}

/// The methods that ask for a lexicon, each with its profile.
fn learners<'p>(panel: &'p Panel, run: &'p Profile) -> impl Iterator<Item = (&'p Profile, &'p dyn Learning)> {
    let abilities = panel.methods().iter().map(PanelMethod::abilities);
    abilities.filter_map(|abilities| Some((abilities.profile.unwrap_or(run), abilities.learning?)))
}

/// The profiles of methods that ask for a lexicon, each with the most that is asked of it.
pub(crate) fn wanted(panel: &Panel, run: &Profile) -> Vec<(Profile, LexiconDetail)> {
    let mut profiles: Vec<(Profile, LexiconDetail)> = Vec::new();
    for (profile, learning) in learners(panel, run) {
        let detail = learning.detail();
        match profiles.iter_mut().find(|(known, _)| known == profile) {
            Some((_, most)) => *most = detail.max(*most),
            None => profiles.push((profile.clone(), detail)),
        }
    }
    profiles
}

/// Refuses a lexicon that does not go with a recipe.
pub(crate) fn check(recipe: &JobRecipe, lexicon: Option<&Path>) -> Result<(), EngineError> {
    let profiles = wanted(&recipe.panel()?, &recipe.profile()?);
    given(recipe, lexicon, &profiles).map(drop)
}

/// The lexicon that was given and the profile of its words, if it is the recipe's and one of these profiles.
fn given(
    recipe: &JobRecipe,
    lexicon: Option<&Path>,
    profiles: &[(Profile, LexiconDetail)],
) -> Result<Option<(PathBuf, Profile)>, EngineError> {
    check_given(recipe, lexicon, profiles.is_empty())?;
    let Some(path) = lexicon.map(Path::to_owned) else { return Ok(None) };
    let recipe = open(&path)?.profile().clone();
    if let Some((profile, _)) = profiles.iter().find(|(profile, _)| profile.recipe() == recipe) {
        return Ok(Some((path, profile.clone())));
    }
    let wanted: Vec<String> = profiles.iter().map(|(profile, _)| profile.to_string()).collect();
    Err(EngineError::Request(format!(
        "the lexicon {} holds words by the profile {}, and the method reads them by {}; make one by lookalike lexicon \
         --profile {}",
        path.display(),
        profile_of(&recipe).map_or(recipe.to_string(), |profile| profile.to_string()),
        wanted.join(" or "),
        wanted[0]
    )))
}

/// Refuses a lexicon that nobody asks for, and another than the recipe names.
fn check_given(recipe: &JobRecipe, lexicon: Option<&Path>, unwanted: bool) -> Result<(), EngineError> {
    let request = |sentence: String| Err(EngineError::Request(sentence));
    match (lexicon, &recipe.lexicon) {
        (None, None) => Ok(()),
        (Some(path), _) if unwanted => request(format!(
            "no method of this run asks for a lexicon; leave --lexicon {} out, or take one that weighs words",
            path.display()
        )),
        (None, Some(digest)) => request(format!(
            "the recipe was made with a lexicon whose digest is {digest}; give that file by --lexicon"
        )),
        (Some(path), digest) if digest.as_ref() != Some(&fingerprint(path)?) => request(format!(
            "{} is not the lexicon that the recipe was made with; give that one, or leave the recipe out",
            path.display()
        )),
        _ => Ok(()),
    }
}

fn open(path: &Path) -> Result<Reader<BufReader<File>>, EngineError> {
    let file = File::open(path).map_err(|error| EngineError::read(path, error))?;
    Reader::open(BufReader::new(file)).map_err(|error| not_a_lexicon(path, &error))
}

/// Reads a lexicon into memory, and sets aside what it takes.
fn load(ctx: &mut Context<'_>, path: &Path, detail: LexiconDetail) -> Result<Arc<Lexicon>, EngineError> {
    let reader = open(path)?;
    // A table that grows is there twice for a moment, and that must fit, too.
    let most = ctx.budget.reservable() / 3 * 2;
    let lexicon = Lexicon::read(reader, detail, most).map_err(|error| match error {
        LexiconError::TooLarge => {
            // A word takes about as much in memory as in the file, and twice that while it is read.
            let file = std::fs::metadata(path).map_or(0, |facts| facts.len());
            ctx.budget.too_small_for("the lexicon", 2 * file)
        }
        other => not_a_lexicon(path, &other),
    })?;
    ctx.budget.reserve(lexicon.bytes(), "the lexicon")?;
    Ok(Arc::new(lexicon))
}

fn not_a_lexicon(path: &Path, error: &dyn std::fmt::Display) -> EngineError {
    EngineError::Request(format!("{} cannot be taken as a lexicon: {error}", path.display()))
}

/// Counts the words of the input, as one of the methods that ask for this profile sees them.
pub(crate) fn count(
    ctx: &Context<'_>,
    profile: &Profile,
    number: usize,
    target: &Path,
) -> Result<WordTotals, EngineError> {
    let of_profile = |entry: &PanelMethod| entry.abilities().profile.unwrap_or(&ctx.profile) == profile;
    let Some(method) = ctx.panel.methods().iter().position(of_profile) else {
        return Ok(WordTotals::default());
    };
    let memory = ctx.bucket_bytes.unwrap_or(ctx.budget.free(0, 0) / 3);
    let (tally, seen) = Tally::resume(ctx, number, profile, memory)?;
    ctx.begin("lexicon", ctx.input_bytes(), true);
    let show = |worker: &mut SketchWorker, batch: &Batch, heavy: &Mutex<()>| {
        let wants = |at: usize, _: usize| at == method;
        let see = |_: usize, page: &Page<'_>, buffers: &mut Buffers| tally.see(ctx, page, buffers);
        let rejected = worker.for_each_page(ctx, batch, heavy, |_| true, wants, see)?;
        tally.pass(batch.len(), rejected);
        Ok(())
    };
    walk(ctx, seen, show, |seen| tally.checkpoint(ctx, seen))?;
    let counted = tally.counted();
    let pending = target.with_added_extension("part");
    write(ctx, tally, profile, &pending)?;
    std::fs::rename(&pending, target).map_err(|error| EngineError::write(target, error))?;
    // Behind the rename, since the journal names files that are there. A stop between the two leaves one that
    // no line names: it is removed, and the words are counted again.
    journal::note(target)?;
    Ok(counted)
}

/// Converts an error from writing a lexicon, or from reading it again.
pub(crate) fn broken(file: &Path, error: LexiconError) -> EngineError {
    match error {
        LexiconError::Io(error) => EngineError::write(file, error),
        other => EngineError::Damaged { file: file.to_owned(), what: other.to_string() },
    }
}

fn write(ctx: &Context<'_>, tally: Tally, profile: &Profile, target: &Path) -> Result<(), EngineError> {
    let failed = |error| broken(target, error);
    let file = File::create(target).map_err(|error| EngineError::write(target, error))?;
    let mut writer =
        Writer::new(BufWriter::with_capacity(1 << 18, file), &profile.recipe()).map_err(failed)?;
    let WordTotals { documents, occurrences, .. } = tally.counted();
    tally.merged(ctx, |entry| writer.push(entry).map_err(failed))?;
    let file = writer.finish(documents, occurrences).map_err(failed)?;
    // On the disk before the rename: nothing in the file would tell that a part of it was lost.
    file.get_ref().sync_all().map_err(|error| EngineError::write(target, error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::context::{StageTest, as_lines};
    use crate::tests::recipe;
    use lookalike_hash as hash;

    #[test]
    fn a_fingerprint_is_that_of_all_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lexicon");
        assert!(matches!(fingerprint(&path), Err(EngineError::Read { .. })));
        let content: Vec<u8> = (0..200_000u32).map(|number| (number % 251) as u8).collect();
        std::fs::write(&path, &content).unwrap();
        assert_eq!(fingerprint(&path).unwrap(), format!("{:032x}", hash::digest(&content)));
    }

    #[test]
    fn each_profile_is_wanted_once_with_the_most_that_is_asked_of_it() {
        let wanted = |spec: &str| wanted(&recipe(spec).panel().unwrap(), &Profile::web());
        assert_eq!(wanted("md5 minhash"), []);
        let one = wanted("imatch md5");
        assert_eq!(one.iter().map(|(profile, _)| profile.clone()).collect::<Vec<_>>(), [Profile::kolcz()]);
        assert_eq!(one[0].1, LexiconDetail::Words);
        assert_eq!(wanted("imatch imatch"), one);
    }

    #[test]
    fn a_lexicon_goes_with_the_recipe_that_names_it() {
        let folder = tempfile::tempdir().unwrap();
        let (path, other) = (folder.path().join("a"), folder.path().join("b"));
        std::fs::write(&path, "one").unwrap();
        std::fs::write(&other, "two").unwrap();
        let named = JobRecipe { lexicon: Some(fingerprint(&path).unwrap()), ..recipe("imatch") };
        let said = |recipe: &JobRecipe, lexicon: Option<&Path>, unwanted| {
            check_given(recipe, lexicon, unwanted).map_err(|error| error.to_string())
        };
        assert_eq!(said(&recipe("imatch"), None, false), Ok(()));
        assert_eq!(said(&named, Some(&path), false), Ok(()));
        assert!(
            said(&named, Some(&path), true)
                .unwrap_err()
                .starts_with("no method of this run asks for a lexicon")
        );
        assert!(
            said(&named, None, false)
                .unwrap_err()
                .starts_with("the recipe was made with a lexicon whose digest is")
        );
        assert!(
            said(&named, Some(&other), false)
                .unwrap_err()
                .contains("is not the lexicon that the recipe was made with")
        );
        assert!(said(&recipe("imatch"), Some(&path), false).is_err(), "the recipe names none");
    }

    /// A lexicon of one word by a profile, and its recipe.
    fn written(path: &Path, profile: &Profile) -> JobRecipe {
        let mut writer = Writer::new(Vec::new(), &profile.recipe()).unwrap();
        let entry = lookalike_methods::lexicon::Entry {
            hash: 1,
            word: "rose".to_owned(),
            documents: 1,
            occurrences: 1,
            bins: vec![(0, 1)],
        };
        writer.push(&entry).unwrap();
        std::fs::write(path, writer.finish(1, 1).unwrap()).unwrap();
        JobRecipe { lexicon: Some(fingerprint(path).unwrap()), ..recipe("imatch") }
    }

    #[test]
    fn a_lexicon_must_be_of_a_profile_that_is_asked_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lexicon");
        assert!(check(&written(&path, &Profile::kolcz()), Some(&path)).is_ok());
        let error = check(&written(&path, &Profile::web()), Some(&path)).unwrap_err().to_string();
        assert!(
            error.contains("holds words by the profile web, and the method reads them by kolcz"),
            "{error}"
        );
        std::fs::write(&path, "no lexicon").unwrap();
        let broken = JobRecipe { lexicon: Some(fingerprint(&path).unwrap()), ..recipe("imatch") };
        let error = check(&broken, Some(&path)).unwrap_err().to_string();
        assert!(error.contains("cannot be taken as a lexicon"), "{error}");
    }

    #[test]
    fn words_of_the_input_are_counted_into_a_file() {
        let lines = format!("{}{{}}\n", as_lines(&["rose is a rose", "...", "tulip"]));
        let test = StageTest::new(recipe("md5"), &lines);
        let ctx = test.context();
        let target = ctx.file("words");
        let totals = count(&ctx, &ctx.profile, 0, &target).unwrap();
        assert_eq!(totals, WordTotals { records: 4, rejected: 1, documents: 2, occurrences: 5 });
        let lexicon = Lexicon::read(open(&target).unwrap(), LexiconDetail::Everything, u64::MAX).unwrap();
        assert_eq!(lexicon.documents(), 2);
        assert!(!target.with_added_extension("part").exists());
        let nobody = count(&ctx, &Profile::yandex(), 0, &ctx.file("none")).unwrap();
        assert_eq!((nobody, ctx.file("none").exists()), (WordTotals::default(), false));
    }

    #[test]
    fn methods_that_ask_get_a_lexicon_of_the_input() {
        let test = StageTest::new(recipe("imatch md5"), &crate::tests::generated(200, 5));
        let mut ctx = test.context();
        let before = ctx.budget.reservable();
        provide(&mut ctx).unwrap();
        assert!(ctx.file(&file_name(0)).exists() && !ctx.file(&file_name(1)).exists());
        assert!(ctx.budget.reservable() < before);
        let plain = StageTest::new(recipe("md5"), &as_lines(&["roses"]));
        let mut ctx = plain.context();
        provide(&mut ctx).unwrap();
        assert!(!ctx.file(&file_name(0)).exists());
    }
}
