//! Pairs for a person to look at. Their texts are read by the stage `report`.

use lookalike_model::{DocNumber, Section};

use super::removals::removals;
use crate::context::Context;
use crate::error::EngineError;
use crate::recipe::Task;
use crate::results::{Findings, PairSample, SampleDocument};
use crate::stages::verify::tally::{Sample, Tally};

pub(super) fn choose(ctx: &Context<'_>, tally: &Tally, findings: &mut Findings) -> Result<(), EngineError> {
    let sections =
        [(Section::Random, &tally.random), (Section::Above, &tally.above), (Section::Below, &tally.below)];
    for (section, samples) in sections {
        for &Sample { a, b, similarity } in samples {
            let document = |number| SampleDocument { number, ..SampleDocument::default() };
            let (a, b) = (document(a), document(b));
            // A pair may be drawn by lot and be near the threshold, too: it stays in the first section that
            // has it. Samples are few, so that all are looked through.
            if findings.samples.iter().all(|other| (other.a.number, other.b.number) != (a.number, b.number)) {
                findings.samples.push(PairSample { section, similarity, a, b });
            }
        }
    }
    let mut wanted: Vec<DocNumber> =
        findings.samples.iter().flat_map(|sample| [sample.a.number, sample.b.number]).collect();
    wanted.sort_unstable();
    // Removals may be many: one pass over their file finds those of the few samples, in order, so that they
    // can be searched by halves.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::Catalogue;
    use crate::stages::report::read_samples;
    use crate::stages::write::StageCounts;
    use crate::tests::context::{StageTest, as_lines, doc, stage_counts};
    use crate::tests::recipe;

    #[test]
    fn a_pair_is_shown_once_for_the_first_reason() {
        let test = StageTest::new(recipe("md5"), &as_lines(&["a", "b", "c", "d"]));
        let sample = |a, b, similarity| Sample { a: doc(a), b: doc(b), similarity };
        let tally = Tally {
            random: vec![sample(0, 1, 0.9)],
            above: vec![sample(0, 1, 0.9), sample(2, 3, 0.8)],
            below: vec![sample(0, 2, 0.7)],
            ..Tally::default()
        };
        let mut findings = test.deduplicated(&[(1, 0, 0.9)], StageCounts { tally, ..stage_counts() });
        let ctx = test.context();
        read_samples(&ctx, &Catalogue::load(&ctx).unwrap(), &mut findings).unwrap();
        let shown: Vec<_> = findings
            .samples
            .iter()
            .map(|one| (one.section, one.a.id.as_str(), one.b.id.as_str(), one.a.removed, one.b.removed))
            .collect();
        assert_eq!(
            shown,
            [
                (Section::Random, "d0", "d1", false, true),
                (Section::Above, "d2", "d3", false, false),
                (Section::Below, "d0", "d2", false, false)
            ]
        );
        assert_eq!((findings.samples[0].a.text.as_str(), findings.samples[0].b.text.as_str()), ("a", "b"));
        assert_eq!(findings.biggest[0].facts.excerpt, "a");
    }
}
