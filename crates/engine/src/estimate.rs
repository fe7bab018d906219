//! An estimate of the disk that a run will take, from the first documents of its input.

use std::sync::Arc;

use lookalike_corpus::{Corpus, Item, Origin};
use lookalike_methods::lexicon::Lexicon;
use lookalike_methods::{Detail, Page, Scratch, Sketch};
use lookalike_text::extract::Extractor;
use lookalike_text::hash::Secret;
use lookalike_text::{Analyser, Features, Profile};

use crate::context::Spool;
use crate::error::EngineError;
use crate::panel::{Panel, Seat};
use crate::pipeline::HEAVY;
use crate::reading::Readings;
use crate::recipe::JobRecipe;
use crate::sketch::Row;
use crate::store::symbols::BlockBuilder;

/// Bytes of input that the sample reads.
const SAMPLE_BYTES: u64 = 512 << 10;

/// Bytes of texts that are looked at; of further ones only the length counts. Compressed input can hold any number.
const TEXT_BYTES: u64 = 4 << 20;

/// The first documents of a corpus.
#[derive(Default)]
struct First {
    texts: Vec<String>,
    /// Bytes of the contents of these, and of the documents behind them.
    seen: u64,
    unseen: u64,
    /// Bytes of the input that they took.
    read: u64,
    /// Bytes of their names.
    named: u64,
    /// Bytes of what becomes of documents too large to be looked at.
    known: u64,
}

/// Sketches the first documents of a corpus; returns how many bytes of the input they took and how much scratch. What is
/// brought into the order of a field is there up to three times: as it was, in sorted runs, and in order.
pub(crate) fn sample(recipe: &JobRecipe, corpus: &Corpus, spool: Spool) -> Result<(u64, u64), EngineError> {
    // What becomes of the first documents is taken to become of all.
    let spool = !corpus.shards().is_empty() && spool.keeps(corpus, &(0..1)).spooled;
    let (panel, measure, profile) = (recipe.panel()?, recipe.measure()?, recipe.profile()?);
    let first = first(recipe, corpus)?;
    panel.proposers().iter().for_each(|seat| teach(seat, &profile, &first.texts));
    let mut readings = Readings::new(&profile, &profile, &panel, Secret::of_process());
    let (mut blocks, mut encoded, mut symbols) = (BlockBuilder::new(), Vec::new(), Vec::new());
    let mut sketch = Sketch::default();
    let times = if recipe.order.is_some() { 3 } else { 1 };
    let mut scratch = 0;
    for text in &first.texts {
        readings.turn();
        let wordless = readings.words(text).is_empty();
        scratch += times * (Row::WIDTH + panel.width()) as u64;
        if wordless {
            continue;
        }
        // Keys go from sorted runs into sorted runs.
        scratch += times.min(2) * key_bytes(&panel, &mut readings, text, &mut sketch);
        if spool && blocks.push(0, measure.symbols(readings.measuring(text), &mut symbols)) {
            blocks.encode(&mut encoded);
        }
    }
    if !blocks.is_empty() {
        blocks.encode(&mut encoded);
    }
    let known = times * first.named + first.known;
    Ok((first.read, known + first.of_all(scratch + encoded.len() as u64)))
}

impl First {
    /// Bytes that become of all documents, when so many become of those that were looked at.
    fn of_all(&self, seen: u64) -> u64 {
        let share = u128::from(self.unseen) * u128::from(seen) / u128::from(self.seen.max(1));
        seen.saturating_add(u64::try_from(share).unwrap_or(u64::MAX))
    }
}

/// Bytes of a document's keys by all methods.
fn key_bytes(panel: &Panel, readings: &mut Readings, text: &str, sketch: &mut Sketch) -> u64 {
    let mut bytes = 0;
    for (number, seat) in panel.proposers().iter().enumerate() {
        if let Some(page) = readings.page(number, text) {
            seat.method.sketch(&page, sketch);
            bytes += sketch.keys.len() * if seat.method.tagged() { 16 } else { 12 };
        }
    }
    bytes as u64
}

fn first(recipe: &JobRecipe, corpus: &Corpus) -> Result<First, EngineError> {
    let (mut first, mut extractor, content) = (First::default(), Extractor::default(), recipe.content()?);
    for shard in corpus.shards().iter().filter(|shard| shard.origin != Origin::Stdin) {
        let mut reader = shard.open(corpus.options())?;
        let mut enough = None;
        loop {
            // A reader takes in more than it has handed out: the sample goes on to where it would take in more.
            let read = reader.consumed();
            if enough.is_some_and(|enough| read > enough) {
                break;
            }
            enough = enough.or((first.read + read >= SAMPLE_BYTES).then_some(read));
            let Some(item) = reader.next()? else { break };
            let Item::Document(document) = item else { continue };
            if document.content.len() >= HEAVY {
                // It would take more memory than an estimate is worth; its symbols take about half of it.
                first.known += document.content.len() as u64 / 2;
                continue;
            }
            first.named += (12 + document.id.len() + document.url.map_or(0, str::len)) as u64;
            let bytes = document.content.len() as u64;
            if first.seen >= TEXT_BYTES {
                first.unseen += bytes;
                continue;
            }
            first.seen += bytes;
            first.texts.push(extractor.extract(&document, content).text.to_owned());
        }
        first.read += enough.unwrap_or_else(|| reader.consumed());
        if first.read >= SAMPLE_BYTES {
            break;
        }
    }
    Ok(first)
}

/// Lets a method that must know the corpus first see the sample instead.
fn teach(seat: &Seat, run: &Profile, texts: &[String]) {
    let method = &seat.method;
    if method.lexicon() == Detail::Nothing && method.survey().is_none() {
        return;
    }
    let profile = method.profile().unwrap_or(run);
    let mut analyser = Analyser::new(profile);
    let mut read = |text: &String| {
        let mut features = Features::default();
        analyser.read(text, &mut features);
        analyser.read_sentences(&mut features);
        features
    };
    let pages: Vec<Features> = texts.iter().map(&mut read).collect();
    if method.lexicon() > Detail::Nothing {
        // What cannot be learned from so little has no keys here, and is an error of the run if it stays so.
        let _ = method.learn(&Arc::new(Lexicon::gather(&profile.recipe(), &pages)));
    }
    let Some(survey) = method.survey() else { return };
    let mut scratch = Scratch::default();
    for pass in 0..survey.passes() {
        let seen = texts.iter().zip(&pages).filter(|(_, features)| !features.is_empty());
        // What is enough of the corpus is enough of its beginning.
        for (text, features) in seen.step_by(survey.one_in() as usize) {
            survey.see(pass, &Page { text, features }, &mut scratch);
        }
        survey.end(pass);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use lookalike_corpus::Compression;
    use lookalike_corpus::write::Sink;

    use super::*;
    use crate::tests::recipe;

    #[test]
    fn what_packs_well_is_not_held() {
        let folder = tempfile::tempdir().unwrap();
        let line = format!("{{\"text\":\"{}\"}}\n", "a rose is a rose ".repeat(600));
        let small = folder.path().join("small.jsonl.zst");
        let mut sink = Sink::create(&small, Compression::Zstd).unwrap();
        sink.write_all(line.repeat(1500).as_bytes()).unwrap();
        sink.finish().unwrap();
        let recipe = recipe("minhash");
        let corpus = Corpus::open(&[&small], lookalike_corpus::ReadOptions::default()).unwrap();
        let first = first(&recipe, &corpus).unwrap();
        let held: usize = first.texts.iter().map(String::len).sum();
        assert!((held as u64) < TEXT_BYTES + HEAVY as u64, "{held}");
        let all = first.seen + first.unseen;
        assert_eq!(all, 1500 * (line.len() as u64 - 12), "all of them count");
        assert_eq!(first.of_all(first.seen), all);
    }
}
