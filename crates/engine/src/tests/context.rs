//! Small jobs that are open, for tests of single stages.

use std::path::Path;

use lookalike_corpus::Corpus;
use lookalike_model::{
    Candidate, DocNumber, InputPlace, Measured, NodeId, Pair, Removal, SharedKeys, VerifiedPair,
};
use lookalike_store::file::RunWriter;
use lookalike_store::sort::Codec;

use super::{job, settings};
use crate::catalogue::Catalogue;
use crate::context::Context;
use crate::stages::collapse::ClassCounts;
use crate::stages::group::CandidateCounts;
use crate::stages::verify::tally::Tally;
use crate::stages::verify::{Pairs, Removals};
use crate::stages::write::{StageCounts, dedup};
use crate::walk::Watch;
use crate::{Findings, Job, JobRecipe, OpenJob, Opened, Outputs, Settings};

/// An open job in a folder of its own.
pub(crate) struct StageTest {
    pub(crate) open: Box<OpenJob>,
    pub(crate) watch: Watch,
    folder: tempfile::TempDir,
}

impl StageTest {
    /// A job on JSON lines.
    pub(crate) fn new(recipe: JobRecipe, lines: &str) -> Self {
        StageTest::of(recipe, None, lines, settings())
    }

    /// A job on JSON lines that are compared with others.
    pub(crate) fn against(recipe: JobRecipe, left: &str, lines: &str) -> Self {
        StageTest::of(JobRecipe { against: true, ..recipe }, Some(left), lines, settings())
    }

    /// A job on JSON lines, with or without others to compare with.
    pub(crate) fn of(recipe: JobRecipe, left: Option<&str>, lines: &str, settings: Settings) -> Self {
        let options = recipe.read_options().unwrap();
        let corpus =
            |name: &str, lines: &str| Corpus::in_memory(name, lines.as_bytes().into(), options.clone());
        let against = left.map(|left| corpus("left.jsonl", left));
        StageTest::open(Job {
            against,
            corpus: corpus("docs.jsonl", lines),
            ..job(recipe.clone(), "", settings)
        })
    }

    /// Any job.
    pub(crate) fn open(job: Job) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let Opened::Open(open) = job.open(folder.path()).unwrap() else { panic!("the job is finished") };
        StageTest { open, watch: Watch::default(), folder }
    }

    /// The job's folder.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// A context in which no stage ran.
    pub(crate) fn context(&self) -> Context<'_> {
        self.open.context(&self.watch).unwrap()
    }

    /// A context in which the stages up to the order of documents ran.
    pub(crate) fn sketched(&self) -> Context<'_> {
        let mut ctx = self.context();
        crate::stages::lexicon::provide(&mut ctx).unwrap();
        crate::stages::survey::reserve_memory(&mut ctx).unwrap();
        crate::stages::survey::survey(&ctx).unwrap();
        crate::stages::sketch::sketch(&ctx).unwrap();
        crate::stages::order::order(&ctx).unwrap();
        ctx
    }

    /// Writes the tables of `dedup` for removals that were decided.
    pub(crate) fn deduplicated(&self, removals: &[(u32, u32, f64)], stages: StageCounts) -> Findings {
        self.deduplicated_to(removals, stages, Outputs::default())
    }

    /// The same for any choice of outputs.
    pub(crate) fn deduplicated_to(
        &self,
        removals: &[(u32, u32, f64)],
        stages: StageCounts,
        outputs: Outputs,
    ) -> Findings {
        let ctx = self.sketched();
        decide_removals(&ctx, removals);
        dedup::write(&ctx, &Catalogue::load(&ctx).unwrap(), self.folder(), outputs, stages).unwrap()
    }

    /// The rows of a table of results.
    pub(crate) fn rows(&self, name: &str) -> Vec<serde_json::Value> {
        let text = std::fs::read_to_string(self.folder().join(name)).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

/// The document of this number.
pub(crate) fn doc(number: u32) -> DocNumber {
    DocNumber::new(number)
}

/// The place of this number.
pub(crate) fn place(number: u32) -> InputPlace {
    InputPlace::new(number)
}

/// The node of this number.
pub(crate) fn node(number: u32) -> NodeId {
    NodeId::new(number)
}

/// A candidate of two documents that share so many keys by the first method.
pub(crate) fn candidate((a, b): (u32, u32), keys: u32) -> Candidate {
    let mut shared = SharedKeys::default();
    shared[0] = keys;
    Candidate { pair: Pair::new(doc(a), doc(b)), shared }
}

/// JSON lines of texts, whose ids are `d0`, `d1` and so on.
pub(crate) fn as_lines(texts: &[&str]) -> String {
    let line = |(n, text): (usize, &&str)| format!("{{\"id\":\"d{n}\",\"text\":\"{text}\"}}\n");
    texts.iter().enumerate().map(line).collect()
}

/// The counts of stages that found nothing.
pub(crate) fn stage_counts() -> StageCounts {
    StageCounts {
        collapsed: ClassCounts::default(),
        proposed: CandidateCounts::default(),
        tally: Tally::default(),
    }
}

/// Writes removals as if verification had decided them: document, witness and similarity.
pub(crate) fn decide_removals(ctx: &Context<'_>, removals: &[(u32, u32, f64)]) {
    let mut writer = RunWriter::create(&ctx.file("b000000.decided"), Removals::label(ctx)).unwrap();
    for &(document, witness, similarity) in removals {
        let (document, witness, mut bytes) = (doc(document), doc(witness), [0; Removal::WIDTH]);
        Removals.put(Removal { document, witness, similarity, via: witness }, &mut bytes);
        writer.push(&bytes).unwrap();
    }
    writer.finish().unwrap();
}

/// Writes pairs as if verification had measured them.
pub(crate) fn decide_pairs(ctx: &Context<'_>, pairs: &[VerifiedPair]) {
    let mut writer = RunWriter::create(&ctx.file("b000000.decided"), Pairs::label(ctx)).unwrap();
    for &pair in pairs {
        let mut bytes = [0; VerifiedPair::WIDTH];
        Pairs.put(pair, &mut bytes);
        writer.push(&bytes).unwrap();
    }
    writer.finish().unwrap();
}

/// Two documents whose similarity is `forward` one way and `backward` the other, accepted by the methods of these bits; from 0.8 on they are
/// near.
pub(crate) fn verified((a, b): (u32, u32), forward: f64, backward: f64, methods: u8) -> VerifiedPair {
    let measured = Measured { forward, backward, reached: forward >= 0.8, reached_back: backward >= 0.8 };
    VerifiedPair::new(Pair::ordered(doc(a), doc(b)), measured, methods)
}
