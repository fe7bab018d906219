//! Helpers of the commands of the lab.

use std::ffi::OsString;
use std::io::Write;
use std::path::Path;

use lookalike::engine::EngineError;
use lookalike::engine::delivered::write_durably;
use lookalike::engine::document_copy::DocumentCopy;
use lookalike::report::{Study, study_page, study_text};

use lookalike_lab::collection::Collection;

use crate::args::{InputArgs, ResourceArgs};
use crate::console::is_quiet;
use crate::exit::{Failure, Outcome};

/// Refuses standard input, which cannot be read several times, and results inside of what is read.
pub(crate) fn check_inputs(inputs: &[OsString], output: &Path) -> Result<(), Failure> {
    if inputs.iter().any(|input| input == "-") {
        let sentence = "the lab reads the corpus from files, so that it can go on after a stop; save standard input to \
                        one, and name that";
        return Err(Failure::Usage(sentence.to_owned()));
    }
    super::job::check_output_outside(inputs, output)
}

/// The corpus that was asked for, for results in a folder outside of it.
pub(crate) fn collection(
    input: &InputArgs,
    resources: &ResourceArgs,
    output: &Path,
) -> Result<Collection, Failure> {
    check_inputs(&input.inputs, output)?;
    let corpus = input.corpus_with(resources.reading(input.reading.options()))?;
    corpus.check_first_records(false)?;
    Ok(Collection {
        name: name_of(&input.inputs),
        corpus,
        content: input.content_mode(),
        generated: input.sample,
    })
}

/// Returns the name of a corpus for titles.
pub(crate) fn name_of(inputs: &[OsString]) -> String {
    // Folders are named after it, too: what ends in .. has a name once it is resolved.
    let name = |input: &OsString| {
        let path = Path::new(input);
        let named = path.file_name().map(ToOwned::to_owned);
        let named = named.or_else(|| path.canonicalize().ok()?.file_name().map(ToOwned::to_owned));
        named.map_or("corpus".to_owned(), |name| name.to_string_lossy().replace(['*', '?'], "_"))
    };
    match inputs {
        [] => "the built-in sample".to_owned(),
        [one] => name(one),
        [first, others @ ..] => format!("{} and {} more", name(first), others.len()),
    }
}

/// Takes a folder for the results of a command of the lab: a new one, or one that the same command made.
pub(crate) fn make_folder(folder: &Path, command: &str) -> Result<(), Failure> {
    let failed = |error: std::io::Error| {
        Failure::Missing(format!("{} cannot be made a folder: {error}", folder.display()))
    };
    if let Some(file) = folder.ancestors().find(|path| path.is_file()) {
        return Err(EngineError::NotAFolder { file: file.to_owned() }.into());
    }
    let mark = folder.join("work").join("command");
    let before = std::fs::read_to_string(&mark).ok();
    let empty = std::fs::read_dir(folder).map_or(true, |mut entries| entries.next().is_none());
    match before.as_deref().map(str::trim) {
        Some(before) if before == command => return Ok(()),
        Some(before) => {
            return Err(Failure::Usage(format!(
                "{} holds results of lookalike lab {before}; name another folder",
                folder.display()
            )));
        }
        None if !empty => {
            return Err(Failure::Usage(format!(
                "{} holds other files, which results could fall on; name a new folder",
                folder.display()
            )));
        }
        None => {}
    }
    std::fs::create_dir_all(folder.join("work")).map_err(failed)?;
    std::fs::write(&mark, format!("{command}\n")).map_err(failed)
}

/// Returns the outcome of a command that read a corpus.
pub(crate) fn outcome(documents: &DocumentCopy, strict: bool) -> Outcome {
    if strict && documents.manifest().rejected > 0 { Outcome::Rejected } else { Outcome::Done }
}

/// Runs `work` on this number of threads.
pub(crate) fn on_threads<T: Send, E: Send + Into<Failure>>(
    threads: usize,
    work: impl FnOnce() -> Result<T, E> + Send,
) -> Result<T, Failure> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(|error| Failure::Missing(format!("threads cannot be started: {error}")))?;
    pool.install(work).map_err(Into::into)
}

/// Writes `report.html`.
pub(crate) fn write_page(folder: &Path, title: &str, studies: &[Study]) -> Result<(), Failure> {
    let lead = match studies {
        [_] => String::new(),
        many => format!("{} experiments, each beside what its paper reports.", many.len()),
    };
    write(&folder.join("report.html"), study_page(title, &lead, studies).as_bytes())
}

/// Writes a file of results.
pub(crate) fn write(path: &Path, content: &[u8]) -> Result<(), Failure> {
    Ok(write_durably(path, content)?)
}

/// Prints a study, unless `--quiet` was given: its figures are in the folder of the results, too.
pub(crate) fn show(study: &Study, out: &mut impl Write) -> std::io::Result<()> {
    if is_quiet() {
        return Ok(());
    }
    out.write_all(study_text(study, 120).as_bytes())
}
