//! Pairs for a person to look at. Their texts are read by the stage `report`.

use super::removals::removals;
use crate::context::Context;
use crate::error::EngineError;
use crate::recipe::Task;
use crate::results::{Findings, PairSample, SampleDocument, Section};
use crate::stages::verify::tally::{Sample, Tally};

pub(super) fn choose(ctx: &Context<'_>, tally: &Tally, findings: &mut Findings) -> Result<(), EngineError> {
    let sections =
        [(Section::Random, &tally.random), (Section::Above, &tally.above), (Section::Below, &tally.below)];
    for (section, samples) in sections {
        for &Sample { a, b, similarity } in samples {
            let document = |number| SampleDocument { number, ..SampleDocument::default() };
            let (a, b) = (document(a), document(b));
            if findings.samples.iter().all(|other| (other.a.number, other.b.number) != (a.number, b.number)) {
                findings.samples.push(PairSample { section, similarity, a, b });
            }
        }
    }
    let mut wanted: Vec<u32> =
        findings.samples.iter().flat_map(|sample| [sample.a.number, sample.b.number]).collect();
    wanted.sort_unstable();
    let mut gone = Vec::new();
    if ctx.recipe.task == Task::Dedup {
        removals(ctx, |removal| {
            if wanted.binary_search(&removal.document).is_ok() {
                gone.push(removal.document);
            }
            Ok(())
        })?;
    }
    for sample in &mut findings.samples {
        for document in [&mut sample.a, &mut sample.b] {
            document.removed = gone.binary_search(&document.number).is_ok();
        }
    }
    Ok(())
}
