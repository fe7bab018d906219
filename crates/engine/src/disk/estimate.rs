//! An estimate of the disk that a run will take, from the first documents of its input.

use std::sync::Arc;

use lookalike_corpus::{Corpus, Item, Origin};
use lookalike_hash::Secret;
use lookalike_methods::lexicon::Lexicon;
use lookalike_methods::{Abilities, Buffers, Page, Sketch};
use lookalike_store::symbols::BlockBuilder;
use lookalike_text::extract::Extractor;
use lookalike_text::{Analyser, Features, Profile};

use crate::context::Spool;
use crate::error::EngineError;
use crate::panel::{Panel, PanelMethod};
use crate::pipeline::HEAVY;
use crate::recipe::JobRecipe;
use crate::stages::sketch::Row;
use crate::text_analysis::TextAnalyses;

/// Bytes of input that the sample reads.
const SAMPLE_BYTES: u64 = 512 << 10;

/// Bytes of texts that are looked at; of further ones only the length counts. Compressed input can hold any number.
const TEXT_BYTES: u64 = 4 << 20;

/// The first documents of a corpus.
#[derive(Default)]
struct SampledDocuments {
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
    let spool = !corpus.shards().is_empty() && spool.reread_access(corpus, &(0..1)).spooled;
    let (panel, measure, profile) = (recipe.panel()?, recipe.measure()?, recipe.profile()?);
    let sampled = sample_documents(recipe, corpus)?;
    panel.proposers().iter().for_each(|entry| teach(entry, &profile, &sampled.texts));
    let mut analyses = TextAnalyses::new(&profile, &profile, &panel, Secret::of_process());
    let (mut blocks, mut encoded, mut symbols) = (BlockBuilder::new(), Vec::new(), Vec::new());
    let mut sketch = Sketch::default();
    let times = if recipe.order.is_some() { 3 } else { 1 };
    let mut scratch = 0;
    for text in &sampled.texts {
        analyses.start_text();
        let wordless = analyses.words(text).is_empty();
        scratch += times * (Row::WIDTH + panel.width()) as u64;
        if wordless {
            continue;
        }
        // Keys go from sorted runs into sorted runs.
        scratch += times.min(2) * key_bytes(&panel, &mut analyses, text, &mut sketch);
        if spool && blocks.push(0, measure.symbols(analyses.measuring(text), &mut symbols)) {
            blocks.encode(&mut encoded);
        }
    }
    if !blocks.is_empty() {
        blocks.encode(&mut encoded);
    }
    let known = times * sampled.named + sampled.known;
    Ok((sampled.read, known + sampled.of_all(scratch + encoded.len() as u64)))
}

impl SampledDocuments {
    /// Bytes that become of all documents, when so many become of those that were looked at.
    fn of_all(&self, seen: u64) -> u64 {
        let share = u128::from(self.unseen) * u128::from(seen) / u128::from(self.seen.max(1));
        seen.saturating_add(u64::try_from(share).unwrap_or(u64::MAX))
    }
}

/// Bytes of a document's keys by all methods.
fn key_bytes(panel: &Panel, analyses: &mut TextAnalyses, text: &str, sketch: &mut Sketch) -> u64 {
    let mut bytes = 0;
    for (number, entry) in panel.proposers().iter().enumerate() {
        if let Some(page) = analyses.page(number, text) {
            entry.method.sketch(&page, sketch);
            bytes += sketch.keys.len() * if entry.tagged { 16 } else { 12 };
        }
    }
    bytes as u64
}

fn sample_documents(recipe: &JobRecipe, corpus: &Corpus) -> Result<SampledDocuments, EngineError> {
    let (mut sampled, mut extractor, content) =
        (SampledDocuments::default(), Extractor::default(), recipe.content()?);
    for shard in corpus.shards().iter().filter(|shard| shard.origin != Origin::Stdin) {
        let mut reader = shard.open(corpus.options())?;
        let mut enough = None;
        loop {
            // A reader takes in more than it has handed out: the sample goes on to where it would take in more.
            let read = reader.consumed();
            if enough.is_some_and(|enough| read > enough) {
                break;
            }
            enough = enough.or((sampled.read + read >= SAMPLE_BYTES).then_some(read));
            let Some(item) = reader.next()? else { break };
            let Item::Document(document) = item else { continue };
            if document.content.len() >= HEAVY {
                // It would take more memory than an estimate is worth; its symbols take about half of it.
                sampled.known += document.content.len() as u64 / 2;
                continue;
            }
            sampled.named += (12 + document.id.len() + document.url.map_or(0, str::len)) as u64;
            let bytes = document.content.len() as u64;
            if sampled.seen >= TEXT_BYTES {
                sampled.unseen += bytes;
                continue;
            }
            sampled.seen += bytes;
            sampled.texts.push(extractor.extract(&document, content).text.to_owned());
        }
        sampled.read += enough.unwrap_or_else(|| reader.consumed());
        if sampled.read >= SAMPLE_BYTES {
            break;
        }
    }
    Ok(sampled)
}

/// Lets a method that must know the corpus first see the sample instead.
fn teach(entry: &PanelMethod, run: &Profile, texts: &[String]) {
    let Abilities { profile, learning, survey, .. } = entry.abilities();
    if learning.is_none() && survey.is_none() {
        return;
    }
    let profile = profile.unwrap_or(run);
    let mut analyser = Analyser::new(profile);
    let mut read = |text: &String| {
        let mut features = Features::default();
        analyser.read(text, &mut features);
        analyser.read_sentences(&mut features);
        features
    };
    let pages: Vec<Features> = texts.iter().map(&mut read).collect();
    if let Some(learning) = learning {
        // What cannot be learned from so little has no keys here, and is an error of the run if it stays so.
        let _ = learning.learn(&Arc::new(Lexicon::gather(&profile.recipe(), &pages)));
    }
    let Some(survey) = survey else { return };
    let mut buffers = Buffers::default();
    for pass in 0..survey.passes() {
        let seen = texts.iter().zip(&pages).filter(|(_, features)| !features.is_empty());
        // What is enough of the corpus is enough of its beginning.
        for (text, features) in seen.step_by(survey.sampling_interval() as usize) {
            survey.observe(pass, &Page { text, features }, &mut buffers);
        }
        survey.end(pass);
    }
}

#[cfg(test)]
mod tests {
    use lookalike_corpus::ReadOptions;
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
        let sampled = sample_documents(&recipe, &corpus).unwrap();
        let held: usize = sampled.texts.iter().map(String::len).sum();
        assert!((held as u64) < TEXT_BYTES + HEAVY as u64, "{held}");
        let all = sampled.seen + sampled.unseen;
        assert_eq!(all, 1500 * (line.len() as u64 - 12), "all of them count");
        assert_eq!(sampled.of_all(sampled.seen), all);
    }

    fn corpus(lines: &str) -> Corpus {
        Corpus::in_memory("docs.jsonl", lines.as_bytes().into(), ReadOptions::default())
    }

    /// A digest of each document: a row of 68 bytes, a record of 4 + 16, a key of 12, and names of 12 and their length.
    const PER_DOCUMENT: u64 = 68 + 20 + 12 + 12;

    #[test]
    fn rows_records_keys_and_names_are_counted() {
        let lines = "{\"id\":\"d0\",\"text\":\"one two\"}\n{\"id\":\"d1\",\"url\":\"http://x\",\"text\":\"two three\"}\n{}\n";
        let (read, scratch) = sample(&recipe("md5"), &corpus(lines), Spool::None).unwrap();
        assert_eq!((read, scratch), (lines.len() as u64, 2 * PER_DOCUMENT + 2 + 2 + 8));
    }

    #[test]
    fn documents_without_words_have_no_keys() {
        let lines = "{\"id\":\"d0\",\"text\":\"...\"}\n";
        let (_, scratch) = sample(&recipe("md5"), &corpus(lines), Spool::None).unwrap();
        assert_eq!(scratch, PER_DOCUMENT + 2 - 12);
    }

    #[test]
    fn symbols_count_where_they_are_spooled() {
        let lines = "{\"id\":\"d0\",\"text\":\"one two\"}\n{\"id\":\"d1\",\"text\":\"two three\"}\n";
        let of = |spool| sample(&recipe("md5"), &corpus(lines), spool).unwrap().1;
        // Three numbers of a block, two of each document, three words, and a byte for each of four occurrences.
        assert_eq!(of(Spool::Disk) - of(Spool::None), 12 + 2 * 8 + 3 * 8 + 4);
    }

    #[test]
    fn what_is_ordered_is_there_several_times() {
        let lines = "{\"id\":\"d0\",\"text\":\"one two\"}\n";
        let recipe = JobRecipe { order: Some("id".to_owned()), ..recipe("md5") };
        let (_, scratch) = sample(&recipe, &corpus(lines), Spool::None).unwrap();
        assert_eq!(scratch, 3 * (68 + 20) + 2 * 12 + 3 * (12 + 2));
    }

    #[test]
    fn a_large_document_counts_by_its_length_alone() {
        let lines = format!("{{\"id\":\"d0\",\"text\":\"{}\"}}\n", "a".repeat(HEAVY));
        let sampled = sample_documents(&recipe("md5"), &corpus(&lines)).unwrap();
        assert_eq!((sampled.texts.len(), sampled.known, sampled.seen), (0, HEAVY as u64 / 2, 0));
    }

    #[test]
    fn unseen_documents_become_as_much_as_those_that_were_looked_at() {
        let sampled = SampledDocuments { seen: 10, unseen: 5, ..SampledDocuments::default() };
        assert_eq!((sampled.of_all(20), sampled.of_all(0)), (30, 0));
        let nothing = SampledDocuments { unseen: 5, ..SampledDocuments::default() };
        assert_eq!(nothing.of_all(0), 0);
        let huge = SampledDocuments { seen: 1, unseen: u64::MAX, ..SampledDocuments::default() };
        assert_eq!(huge.of_all(u64::MAX), u64::MAX);
    }

    #[test]
    fn an_empty_corpus_takes_nothing() {
        assert_eq!(sample(&recipe("md5"), &corpus(""), Spool::Disk).unwrap(), (0, 0));
    }
}
