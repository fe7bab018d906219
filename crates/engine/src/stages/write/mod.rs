//! The stage `write`: decisions become files, and what a report shows is gathered.
//!
//! - `dedup`: the tables of removed documents and of clusters
//! - `pairs`: the tables of pairs and of groups
//! - [`compare`]: the pairs between two corpora
//! - `rejected`: the table of rejected records
//! - `shards`: copies of the input shards; `rejected_copies`: copies of rejected records
//! - `samples`: pairs for a person to look at; `shares`: documents and removals of parts of the corpus
//!
//! They share `removals`, all removals in order; `classes`, equal documents; and `member_rows`, rows with a list of documents.

mod classes;
pub mod compare;
pub(crate) mod dedup;
mod member_rows;
pub(crate) mod pairs;
mod rejected;
mod rejected_copies;
mod removals;
mod samples;
pub(crate) mod shards;
mod shares;

use lookalike_model::DocNumber;
use lookalike_store::sort::{Sorter, existing};

use crate::catalogue::Catalogue;
use crate::context::{Context, remove_if_there};
use crate::error::EngineError;
use crate::recipe::{ClusterRule, Task};
use crate::results::{Findings, Summary};
use crate::stages::collapse::ClassCounts;
use crate::stages::group::CandidateCounts;
use crate::stages::verify::Pairs;
use crate::stages::verify::tally::Tally;

/// The counts of the stages before this one.
#[derive(Debug, Clone)]
pub(crate) struct StageCounts {
    pub(crate) collapsed: ClassCounts,
    pub(crate) proposed: CandidateCounts,
    pub(crate) tally: Tally,
}

/// A sorter for the pairs of documents that are written; what an earlier process left of them goes.
fn pair_sorter(ctx: &Context<'_>, catalogue: &Catalogue) -> Result<Sorter<Pairs>, EngineError> {
    let location = ctx.run_location("pairing");
    existing(&location)?.iter().try_for_each(|path| remove_if_there(path))?;
    // `Classes` are in memory at the same time: 4 bytes for each member and 8 for each class, in vectors that
    // double.
    let memory = ctx.budget.free(catalogue.len().into(), 16) as usize / 3;
    Ok(Sorter::new(location, Pairs, memory))
}

/// The findings of a job as far as the stages before this one tell them.
fn initial_findings(ctx: &Context<'_>, catalogue: &Catalogue, stages: &StageCounts) -> Findings {
    let StageCounts { collapsed, proposed, tally } = stages;
    let mut summary = Summary {
        documents: (catalogue.len() - catalogue.references()).into(),
        exact_duplicates: collapsed.exact_duplicates,
        duplicate_ids: collapsed.duplicate_ids,
        candidates: proposed.candidates,
        giant_groups: proposed.giant_groups,
        verified: if ctx.recipe.verified { tally.verified + tally.hops } else { 0 },
        version: ctx.recipe.lookalike.clone(),
        unverified: !ctx.recipe.verified,
        witnesses_waived: ctx.recipe.cluster == ClusterRule::Components && ctx.recipe.task == Task::Dedup,
        against: catalogue.references().into(),
        ..Summary::default()
    };
    for (reason, count) in ctx.corpora().flat_map(|corpus| corpus.left_out().counts()) {
        *summary.left_out.entry(reason.to_string()).or_default() += count;
    }
    for view in catalogue.shards(ctx).iter() {
        if view.reference {
            summary.against_rejected += view.meta.rejected;
            continue;
        }
        summary.rejected += view.meta.rejected;
        summary.skipped += view.meta.skipped.values().sum::<u64>();
        summary.text_bytes += view.meta.text_bytes;
    }
    let mut notes = Vec::new();
    if summary.unverified {
        let note = match ctx.measures {
            true => {
                "Pairs count by the word of their methods alone (--unverified), one of which measured them itself."
            }
            false => "Pairs were not measured (--unverified): each counts by the word of its method alone.",
        };
        notes.push(note.to_owned());
    }
    // What methods have to say now that they have seen the corpus.
    let before = ctx.recipe.methods().unwrap_or_default();
    for (entry, before) in ctx.panel.proposers().iter().zip(before) {
        let before = before.abilities().advice();
        notes.extend(entry.abilities().advice().filter(|advice| before.as_ref() != Some(advice)));
    }
    if summary.witnesses_waived {
        notes.push(
            "Whole components were merged (--cluster components): a removed document may be less similar to its \
             witness than the threshold asks."
                .to_owned(),
        );
    }
    // A comparison has its own words for these, and for both sides.
    let compares = ctx.recipe.task == Task::Compare;
    if summary.giant_groups > 0 && !compares {
        notes.push(format!(
            "{} groups of more than {} documents with a common key did not propose all of their pairs.",
            summary.giant_groups, ctx.recipe.max_group
        ));
    }
    if summary.duplicate_ids > 0 && !compares {
        notes.push(format!(
            "{} documents bear an id that an earlier one bears; ordinals (n) tell them apart.",
            summary.duplicate_ids
        ));
    }
    Findings {
        summary,
        histogram: tally.histogram.clone(),
        reached: tally.reached,
        notes,
        method_counts: catalogue.method_counts(),
        ..Findings::default()
    }
}

/// Ordinals as outputs write them: of the input, or of the corpus it was compared with.
fn ordinal(catalogue: &Catalogue, document: DocNumber) -> u64 {
    let references = if catalogue.is_reference(document) { 0 } else { catalogue.references() };
    (document.get() - references).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::JobRecipe;
    use crate::tests::context::{StageTest, as_lines, stage_counts};
    use crate::tests::recipe;

    #[test]
    fn notes_say_what_a_reader_should_know() {
        let notes = |recipe: JobRecipe, stages: &StageCounts| {
            let test = StageTest::new(recipe, &as_lines(&["a"]));
            let ctx = test.sketched();
            initial_findings(&ctx, &Catalogue::load(&ctx).unwrap(), stages).notes
        };
        assert_eq!(notes(recipe("md5"), &stage_counts()), [] as [String; 0]);
        let unverified = notes(JobRecipe { verified: false, ..recipe("md5") }, &stage_counts());
        assert!(unverified[0].starts_with("Pairs were not measured"), "{unverified:?}");
        let own = notes(JobRecipe { verified: false, ..recipe("decomposition") }, &stage_counts());
        assert!(own[0].starts_with("Pairs count by the word of their methods alone"), "{own:?}");
        let merged = notes(JobRecipe { cluster: ClusterRule::Components, ..recipe("md5") }, &stage_counts());
        assert!(merged[0].starts_with("Whole components were merged"), "{merged:?}");
        let counted = StageCounts {
            collapsed: ClassCounts { duplicate_ids: 3, ..ClassCounts::default() },
            proposed: CandidateCounts { giant_groups: 2, ..CandidateCounts::default() },
            ..stage_counts()
        };
        let found = notes(recipe("md5"), &counted);
        assert!(found[0].starts_with("2 groups of more than 1000 documents"), "{found:?}");
        assert!(found[1].starts_with("3 documents bear an id"), "{found:?}");
        assert_eq!(notes(JobRecipe { task: Task::Compare, ..recipe("md5") }, &counted), [] as [String; 0]);
    }

    #[test]
    fn measured_pairs_count_only_where_they_were_verified() {
        let summary = |verified| {
            let test = StageTest::new(JobRecipe { verified, ..recipe("md5") }, &as_lines(&["a"]));
            let ctx = test.sketched();
            let tally = Tally { verified: 5, hops: 2, reached: 4, ..Tally::default() };
            let findings = initial_findings(
                &ctx,
                &Catalogue::load(&ctx).unwrap(),
                &StageCounts { tally, ..stage_counts() },
            );
            (findings.summary.verified, findings.reached)
        };
        assert_eq!((summary(true), summary(false)), ((7, 4), (0, 4)));
    }
}
