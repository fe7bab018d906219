//! An estimate of the disk that a run will take, from some documents of its input.

use std::collections::BTreeMap;
use std::sync::Arc;

use lookalike_corpus::Corpus;
use lookalike_hash::Secret;
use lookalike_methods::lexicon::Lexicon;
use lookalike_methods::{Abilities, Buffers, Page, Sketch};
use lookalike_model::{Candidate, DocNumber, Pair};
use lookalike_text::{Analyser, Features, Profile};

use super::sample::{self, SampledPart};
use crate::context::Spool;
use crate::error::EngineError;
use crate::panel::{Panel, PanelMethod};
use crate::recipe::JobRecipe;
use crate::stages::group::groups::NEIGHBOURS;
use crate::stages::sketch::Row;
use crate::text_analysis::TextAnalyses;

/// Runs are there twice for a moment while they are merged.
const WHILE_MERGED: f64 = 1.1;

/// Sampled documents whose pairs are listed, to learn how many keys a pair has in common.
const LISTED: u32 = 64;

/// The bytes of scratch files that a run will take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ScratchEstimate {
    /// All that documents take, and no pairs. Of input that is beyond the reach of a sample all is like what took least of it.
    pub least: u64,
    /// The same, if all of that is like what took most, with as many candidate pairs as the keys that sampled documents share give reason
    /// to expect.
    pub most: u64,
}

/// Sketches documents from all over the input and tells what the whole will take. Pairs are sorted in `memory`, and on disk beyond it.
pub(crate) fn estimate<'c>(
    recipe: &JobRecipe,
    corpora: impl Iterator<Item = &'c Corpus>,
    spool: Spool,
    memory: u64,
) -> Result<ScratchEstimate, EngineError> {
    let mut parts = Vec::new();
    for (number, corpus) in corpora.enumerate() {
        // What becomes of the first shard is taken to become of all.
        let spooled = !corpus.shards().is_empty() && spool.reread_access(corpus, &(0..1)).spooled;
        parts.extend(sample::parts(recipe, corpus)?.into_iter().map(|part| (part, spooled, number)));
    }
    if parts.is_empty() {
        return Ok(ScratchEstimate::default());
    }
    let (panel, profile) = (recipe.panel()?, recipe.profile()?);
    let texts: Vec<&str> =
        parts.iter().flat_map(|(part, ..)| part.texts.iter().map(String::as_str)).collect();
    panel.proposers().iter().for_each(|entry| teach(entry, &profile, &texts));
    let mut sketcher = SampleSketcher::new(recipe, &panel, &profile)?;
    let (mut documents, mut corpora) = (0.0, BTreeMap::<usize, DocumentScratch>::new());
    for (part, spooled, number) in &parts {
        let scratch = sketcher.scratch_of(part, *spooled);
        corpora.entry(*number).or_default().add(part, scratch);
        documents += part.of_input(part.documents);
    }
    let surveyed: u64 = panel
        .methods()
        .iter()
        .filter_map(|entry| entry.abilities().survey)
        .map(|survey| survey.bytes())
        .sum();
    // Half of that memory is the copy of what was gathered that goes to its file.
    let [least, most] = [DocumentScratch::least, DocumentScratch::most]
        .map(|bytes| corpora.values().map(bytes).sum::<f64>() * WHILE_MERGED + surveyed as f64 / 2.0);
    let scale = documents / f64::from(sketcher.documents.max(1));
    let pairs: f64 = sketcher
        .postings
        .iter_mut()
        .zip(panel.proposers())
        .map(|(postings, entry)| {
            let pairs = PairCounts::new(postings, scale, recipe.max_group, entry.keys_to_share());
            let sorted = 8.0 * (pairs.proposed + pairs.deviation);
            let width = Candidate::width(panel.proposers().len()) as f64;
            pairs.candidates * width + if sorted > memory as f64 / 8.0 { sorted } else { 0.0 }
        })
        .sum();
    Ok(ScratchEstimate { least: least as u64, most: (most + pairs) as u64 })
}

/// The bytes of scratch files that the documents of one corpus take.
#[derive(Debug, Clone, Copy, Default)]
struct DocumentScratch {
    /// Those of input that is like what was sampled of it.
    known: f64,
    /// Bytes of input that is beyond reach.
    guessed: f64,
    /// The least and the most bytes that a byte of input takes, where it was sampled.
    rates: Option<(f64, f64)>,
}

impl DocumentScratch {
    fn add(&mut self, part: &SampledPart, scratch: u64) {
        let rate = scratch as f64 / part.read.max(1) as f64;
        self.known += rate * (part.stands_for - part.guessed) as f64;
        self.guessed += part.guessed as f64;
        let (least, most) = self.rates.unwrap_or((rate, rate));
        self.rates = Some((least.min(rate), most.max(rate)));
    }

    fn least(&self) -> f64 {
        self.known + self.guessed * self.rates.map_or(0.0, |(least, _)| least)
    }

    fn most(&self) -> f64 {
        self.known + self.guessed * self.rates.map_or(0.0, |(_, most)| most)
    }
}

/// Sketches sampled documents as a run would.
struct SampleSketcher<'p> {
    panel: &'p Panel,
    analyses: TextAnalyses,
    /// The copies of a record that there are at once: three of those in the order of a field, as it was, in sorted runs, and in order.
    times: u64,
    sketch: Sketch,
    /// Keys and numbers of sampled documents, by method.
    postings: Vec<Vec<(u64, u32)>>,
    documents: u32,
}

impl<'p> SampleSketcher<'p> {
    fn new(recipe: &JobRecipe, panel: &'p Panel, profile: &Profile) -> Result<Self, EngineError> {
        Ok(SampleSketcher {
            panel,
            analyses: TextAnalyses::new(profile, profile, panel, Secret::of_process()),
            times: if recipe.order.is_some() { 3 } else { 1 },
            sketch: Sketch::default(),
            postings: vec![Vec::new(); panel.proposers().len()],
            documents: 0,
        })
    }

    /// Bytes of scratch that a part of the input takes.
    fn scratch_of(&mut self, part: &SampledPart, spooled: bool) -> u64 {
        let mut scratch = 0;
        for text in &part.texts {
            self.analyses.start_text();
            let wordless = self.analyses.words(text).is_empty();
            scratch += self.times * (Row::WIDTH + self.panel.width()) as u64;
            self.documents += 1;
            if wordless {
                continue;
            }
            // Keys go from sorted runs into sorted runs.
            scratch += self.times.min(2) * self.take_keys(text);
            if spooled {
                scratch += text.len() as u64;
            }
        }
        let heavy = if spooled { part.heavy } else { 0 };
        self.times * part.named + heavy + part.of_all(scratch)
    }

    /// Notes a document's keys by all methods; returns their bytes.
    fn take_keys(&mut self, text: &str) -> u64 {
        let mut bytes = 0;
        for (number, entry) in self.panel.proposers().iter().enumerate() {
            if let Some(page) = self.analyses.page(number, text) {
                entry.method.sketch(&page, &mut self.sketch);
                bytes += self.sketch.keys.len() * if entry.tagged { 16 } else { 12 };
                let document = self.documents;
                self.postings[number].extend(self.sketch.keys.iter().map(|key| (key.value, document)));
            }
        }
        bytes as u64
    }
}

/// The pairs that the whole input will propose, by the keys of a sample of it.
#[derive(Debug, Clone, Copy, PartialEq)]
struct PairCounts {
    /// Each as often as it has keys in common.
    proposed: f64,
    /// The number by which these may be more, by the chance of the sample: groups that are nearly too large for all of their pairs have
    /// the most, and a few sampled members say little of which side they are on.
    deviation: f64,
    /// Each once, of those that share enough keys, the deviation included.
    candidates: f64,
}

impl PairCounts {
    /// Of documents that are `scale` times as many as the sampled ones.
    fn new(postings: &mut Vec<(u64, u32)>, scale: f64, max_group: usize, least: u32) -> Self {
        postings.sort_unstable();
        postings.dedup();
        let (mut proposed, mut squares, mut listed) = (0.0, 0.0, Vec::new());
        let stride = postings.iter().map(|&(_, document)| document / LISTED + 1).max().unwrap_or(1);
        for group in postings.chunk_by(|one, two| one.0 == two.0) {
            let members = group.len() as f64;
            // Groups grow with the corpus, and their pairs with its square, until they are too large for all of their pairs.
            let pairs = match members * scale {
                _ if group.len() < 2 => 0.0,
                whole if whole <= max_group as f64 => members * (members - 1.0) / 2.0 * scale * scale,
                whole => pairs_of(whole, max_group as f64),
            };
            proposed += pairs;
            if group.len() > 1 {
                squares += (most_pairs(members, scale, max_group as f64) - pairs).max(0.0).powi(2);
            }
            let some: Vec<u32> = group
                .iter()
                .map(|&(_, document)| document)
                .filter(|document| document % stride == 0)
                .collect();
            for (index, &one) in some.iter().enumerate() {
                listed.extend(
                    some[index + 1..]
                        .iter()
                        .map(|&other| Pair::ordered(DocNumber::new(one), DocNumber::new(other))),
                );
            }
        }
        listed.sort_unstable();
        let candidates =
            listed.chunk_by(|one, two| one == two).filter(|same| same.len() >= least as usize).count();
        let share = if listed.is_empty() { 1.0 } else { candidates as f64 / listed.len() as f64 };
        // Chances of many groups even out.
        let deviation = squares.sqrt();
        PairCounts { proposed, deviation, candidates: (proposed + deviation) * share }
    }
}

/// The pairs that a group proposes.
fn pairs_of(members: f64, max_group: f64) -> f64 {
    if members <= max_group { members * (members - 1.0) / 2.0 } else { members * 2.0 * NEIGHBOURS as f64 }
}

/// The most pairs of a group of which so many members were sampled, of documents that are `scale` times as many, within two deviations.
fn most_pairs(sampled: f64, scale: f64, max_group: f64) -> f64 {
    let error = 2.0 * (sampled * (1.0 - 1.0 / scale.max(1.0))).sqrt() * scale;
    let (low, high) = (sampled * scale - error, sampled * scale + error);
    let largest = if low <= max_group && max_group < high { max_group } else { high };
    pairs_of(largest, max_group).max(pairs_of(high, max_group))
}

/// Lets a method that must know the corpus first see the sample instead.
fn teach(entry: &PanelMethod, run: &Profile, texts: &[&str]) {
    let Abilities { profile, learning, survey, .. } = entry.abilities();
    if learning.is_none() && survey.is_none() {
        return;
    }
    let profile = profile.unwrap_or(run);
    let mut analyser = Analyser::new(profile);
    let mut read = |text: &&str| {
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

    use super::*;
    use crate::tests::recipe;

    fn corpus(lines: &str) -> Corpus {
        Corpus::in_memory("docs.jsonl", lines.as_bytes().into(), ReadOptions::default())
    }

    /// Bytes of scratch that the only part of a corpus takes.
    fn scratch(recipe: &JobRecipe, lines: &str, spooled: bool) -> u64 {
        let parts = sample::parts(recipe, &corpus(lines)).unwrap();
        let [part] = &parts[..] else { panic!("{} parts", parts.len()) };
        assert_eq!((part.read, part.stands_for), (lines.len() as u64, lines.len() as u64));
        let (panel, profile) = (recipe.panel().unwrap(), recipe.profile().unwrap());
        SampleSketcher::new(recipe, &panel, &profile).unwrap().scratch_of(part, spooled)
    }

    fn estimated(recipe: &JobRecipe, lines: &str) -> ScratchEstimate {
        estimate(recipe, [&corpus(lines)].into_iter(), Spool::None, 1 << 30).unwrap()
    }

    /// A digest of each document: a row of 68 bytes, a record of 4 + 16, a key of 12, and names of 12 and their length.
    const PER_DOCUMENT: u64 = 68 + 20 + 12 + 12;

    #[test]
    fn rows_records_keys_and_names_are_counted() {
        let lines = "{\"id\":\"d0\",\"text\":\"one two\"}\n{\"id\":\"d1\",\"url\":\"http://x\",\"text\":\"two three\"}\n{}\n";
        assert_eq!(scratch(&recipe("md5"), lines, false), 2 * PER_DOCUMENT + 2 + 2 + 8);
    }

    #[test]
    fn documents_without_words_have_no_keys() {
        let lines = "{\"id\":\"d0\",\"text\":\"...\"}\n";
        assert_eq!(scratch(&recipe("md5"), lines, false), PER_DOCUMENT + 2 - 12);
    }

    #[test]
    fn texts_count_where_they_are_spooled() {
        let lines = "{\"id\":\"d0\",\"text\":\"one two\"}\n{\"id\":\"d1\",\"text\":\"two three\"}\n";
        let of = |spooled| scratch(&recipe("md5"), lines, spooled);
        assert_eq!(of(true) - of(false), "one two".len() as u64 + "two three".len() as u64);
    }

    #[test]
    fn what_is_ordered_is_there_several_times() {
        let lines = "{\"id\":\"d0\",\"text\":\"one two\"}\n";
        let recipe = JobRecipe { order: Some("id".to_owned()), ..recipe("md5") };
        assert_eq!(scratch(&recipe, lines, false), 3 * (68 + 20) + 2 * 12 + 3 * (12 + 2));
    }

    #[test]
    fn an_empty_corpus_takes_nothing() {
        assert_eq!(estimated(&recipe("md5"), ""), ScratchEstimate::default());
    }

    #[test]
    fn what_a_survey_gathers_is_written_down_however_few_documents_there_are() {
        let line = "{\"id\":\"d0\",\"text\":\"one two three four five six\"}\n";
        let recipe = recipe("exact");
        let survey = recipe.panel().unwrap().methods()[0].abilities().survey.unwrap().bytes();
        let least = estimated(&recipe, line).least;
        assert!(least > survey / 2 && least < survey && survey > 1 << 20, "{least} of {survey}");
    }

    #[test]
    fn documents_with_a_key_in_common_may_become_pairs() {
        let line = |n: usize, text: &str| format!("{{\"id\":\"d{n}\",\"text\":\"{text}\"}}\n");
        let different: String = (0..50).map(|n| line(n, &format!("word{n}"))).collect();
        let apart = estimated(&recipe("md5"), &different);
        assert_eq!(apart.least, apart.most);
        let equal: String = (0..50).map(|n| line(n, "word")).collect();
        let alike = estimated(&recipe("md5"), &equal);
        assert_eq!(alike.most - alike.least, 50 * 49 / 2 * 12);
    }

    /// Postings of documents that all have the same keys.
    fn alike(documents: u32, keys: u64) -> Vec<(u64, u32)> {
        (0..documents).flat_map(|document| (0..keys).map(move |key| (key, document))).collect()
    }

    #[test]
    fn pairs_grow_with_the_square_of_the_corpus_until_groups_are_too_large() {
        let pairs = |scale: f64| PairCounts::new(&mut alike(10, 1), scale, 1000, 1).proposed;
        assert_eq!((pairs(1.0), pairs(10.0)), (45.0, 4500.0));
        assert_eq!(pairs(1000.0), 10_000.0 * 16.0, "a giant group");
    }

    #[test]
    fn groups_that_may_be_too_large_for_all_of_their_pairs_may_have_the_most() {
        let pairs = |members: u32, scale: f64| PairCounts::new(&mut alike(members, 1), scale, 1000, 1);
        assert_eq!(pairs(10, 1.0).deviation, 0.0, "all documents were sampled");
        // A thousand and eighty members propose few pairs each, and a thousand all of theirs.
        let near = pairs(27, 40.0);
        assert_eq!(near.proposed, 1080.0 * 16.0);
        assert_eq!(near.proposed + near.deviation, 1000.0 * 999.0 / 2.0);
        let far = pairs(270, 40.0);
        assert!(far.deviation < far.proposed / 4.0, "{far:?}");
        // Many small groups even out.
        let mut many: Vec<(u64, u32)> =
            (0..4000).flat_map(|key| [(key, 2 * key as u32), (key, 2 * key as u32 + 1)]).collect();
        let many = PairCounts::new(&mut many, 10.0, 1000, 1);
        assert!(many.deviation < many.proposed / 4.0, "{many:?}");
    }

    #[test]
    fn what_is_beyond_reach_takes_as_little_or_as_much_as_any_place() {
        let part =
            |read, stands_for, guessed| SampledPart { read, stands_for, guessed, ..SampledPart::default() };
        let mut scratch = DocumentScratch::default();
        scratch.add(&part(10, 100, 60), 20);
        scratch.add(&part(10, 100, 60), 50);
        assert_eq!((scratch.least(), scratch.most()), (280.0 + 240.0, 280.0 + 600.0));
        let mut all = DocumentScratch::default();
        all.add(&part(10, 100, 0), 20);
        all.add(&part(10, 100, 0), 50);
        assert_eq!((all.least(), all.most()), (700.0, 700.0));
    }

    #[test]
    fn a_pair_with_several_keys_is_one_candidate() {
        let pairs = PairCounts::new(&mut alike(10, 4), 1.0, 1000, 1);
        assert_eq!((pairs.proposed, pairs.candidates), (180.0, 45.0));
        assert_eq!(
            PairCounts::new(&mut alike(10, 4), 1.0, 1000, 5).candidates,
            0.0,
            "too few keys in common"
        );
        // Of many documents some pairs are listed, and as many keys are in common.
        let pairs = PairCounts::new(&mut alike(500, 4), 1.0, 1000, 1);
        assert_eq!((pairs.proposed, pairs.candidates), (4.0 * 124_750.0, 124_750.0));
        assert_eq!(PairCounts::new(&mut Vec::new(), 1.0, 1000, 1).candidates, 0.0);
    }
}
