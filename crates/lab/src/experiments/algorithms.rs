//! E1 and E2: the algorithms A0 to A12 of Zelenkov and Segalovich on one collection after the other.

use lookalike::engine::document_copy::DocumentCopy;
use lookalike::report::study::{Grid, Value};
use lookalike::report::{Study, thousands};
use lookalike::text::Profile;

use super::{Experiment, ExperimentContext};
use crate::collection::{Collection, CollectionKind};
use crate::compare::{self, Comparison, RecallBase, Request};
use crate::error::LabError;
use crate::method_list;
use crate::pool::Mask;
use crate::published::{ZELENKOV, zelenkov};
use crate::results::{MethodLine, Results};
use crate::truth::Truth;

/// The experiment on the pairs of each algorithm.
pub(crate) static E1: Experiment = Experiment {
    id: "E1",
    title: "A0 to A12 on one collection: pairs, pooled recall, precision, F",
    source: "Zelenkov, Segalovich 2007, tables 2, 3 and 7",
    data: Some(CollectionKind::Revisions),
    run: quality,
};

/// The experiment on the pairs of several algorithms together.
pub(crate) static E2: Experiment = Experiment {
    id: "E2",
    title: "Agreement and joint coverage of A0 to A12",
    source: "Zelenkov, Segalovich 2007, table 4",
    data: Some(CollectionKind::Revisions),
    run: joint_coverage,
};

/// Pairs to measure of one pool: edits of long pages are slow to count, and a sample is nearly as good.
const MEASURED: u64 = 50_000;

/// The paper's truth: 80 % of the characters are left by the edits from one document to the other.
fn request() -> Result<Request, LabError> {
    let truth: Truth = "edit:0.8".parse().map_err(LabError::Request)?;
    Ok(Request {
        methods: method_list::zelenkov(),
        profile: truth.profile(),
        words: Profile::web(),
        truth,
        recall_base: RecallBase::Union,
        measure: MEASURED,
        review: 0,
    })
}

/// Does `each` with the comparison on every collection there is.
fn on_each(
    context: &ExperimentContext<'_>,
    mut each: impl FnMut(&Collection, &Results<'_>, &Comparison) -> Result<(), LabError>,
) -> Result<(), LabError> {
    for collection in
        context.collections(&[CollectionKind::Revisions, CollectionKind::News, CollectionKind::Crawls])?
    {
        let folder = context.folder.join(&collection.name);
        let documents = DocumentCopy::open_or_create(
            &folder,
            collection.source(),
            &[],
            ("all", &mut |_, _, _| true),
            context.watch,
        )?;
        let runner = context.trial_runner(&documents, &folder);
        let request = request()?;
        let comparison = compare::run(&runner, &request, context.watch)?;
        each(&collection, &Results::new(&runner, &request, &comparison), &comparison)?;
    }
    Ok(())
}

fn quality(context: &ExperimentContext<'_>) -> Result<Study, LabError> {
    let mut study = context.study(&E1, None);
    let mut leads = Vec::new();
    on_each(context, |collection, results, comparison| {
        study.heading(collection.name.as_str());
        study.text(results.lead());
        let part = results.study("", "");
        study.notes.extend(part.notes.iter().map(|note| format!("{}: {note}", collection.name)));
        study.facts.extend(
            part.facts.into_iter().map(|(name, fact)| (format!("{}: {name}", collection.name), fact)),
        );
        results.methods_table(&mut study);
        study.plot(results.quality());
        leads.push(rank(&mut study, collection, &results.methods(), comparison)?);
        study.plot(results.similarities());
        Ok(())
    })?;
    study.lead = leads.join(" ");
    Ok(study)
}

fn joint_coverage(context: &ExperimentContext<'_>) -> Result<Study, LabError> {
    let mut study = context.study(&E2, None);
    let mut leads = Vec::new();
    on_each(context, |collection, results, _| {
        study.heading(collection.name.as_str());
        results.agreement(&mut study);
        results.coverage(&mut study);
        let steps = results.greedy();
        let enough = steps.iter().position(|step| step.coverage.value >= 0.99).unwrap_or(steps.len());
        let first: Vec<&str> = steps.iter().take(enough + 1).map(|step| step.method).collect();
        leads.push(format!(
            "On {}, {} cover {:.1} % of the near-duplicates that all find together.",
            collection.name,
            first.join(", "),
            100.0 * steps.get(enough).or(steps.last()).map_or(0.0, |step| step.coverage.value)
        ));
        Ok(())
    })?;
    study.lead = leads.join(" ");
    Ok(study)
}

/// Compares the order by F with the published one, explains the differences, and returns a sentence for the lead.
fn rank(
    study: &mut Study,
    collection: &Collection,
    lines: &[MethodLine],
    comparison: &Comparison,
) -> Result<String, LabError> {
    let mut ranked: Vec<(&MethodLine, f64)> = lines
        .iter()
        .filter(|line| zelenkov(&line.method).is_some())
        .filter_map(|line| Some((line, line.f?.value)))
        .collect();
    ranked.sort_by(|one, other| other.1.total_cmp(&one.1));
    let here: Vec<&str> = ranked.iter().map(|(line, _)| line.method.as_str()).collect();
    let there: Vec<&str> = ZELENKOV.iter().map(|line| line.name).filter(|name| here.contains(name)).collect();
    let agreement = kendall(&here, &there);
    let weights = NearDuplicateWeights::of(comparison)?;
    let mut grid = Grid::new(
        format!("{}: the order by F", collection.name),
        ["method", "place here", "place published", "recall of equal documents", "recall of edited ones"],
    );
    let mut moved = Vec::new();
    for (place, (line, _)) in ranked.iter().enumerate() {
        let published = there.iter().position(|name| *name == line.method).map_or(0, |at| at + 1);
        let (equal, edited) = weights.recall(line);
        grid.row([
            line.method.as_str().into(),
            Value::Count(place as u64 + 1),
            Value::Count(published as u64),
            equal.into(),
            edited.into(),
        ]);
        if (place + 1).abs_diff(published) >= 2 {
            moved.push((place + 1, published, *line, edited));
        }
    }
    study.table(grid);
    study.text(format!(
        "What the pairs are like has much to do with it. Of the near-duplicates measured here {:.0} % are equal in all words that \
         are looked at, and {:.0} % have an edit similarity of 0.95 or more; in the paper MD5 alone found 23 %. Every method \
         finds equal ones, so they only draw all methods together; who finds the edited ones makes the order.",
        100.0 * weights.equal_share(),
        100.0 * weights.close_share(),
    ));
    for (place, published, line, edited) in moved {
        study.text(format!(
            "{}, number {place} here and {published} there: {}.",
            line.method,
            explain(line, edited)
        ));
    }
    let best = here.first().copied().unwrap_or("none");
    Ok(format!(
        "On {}, {best} does best ({} published); Kendall's rank correlation with the published order is {}.",
        collection.name,
        there.first().copied().unwrap_or("none"),
        agreement.map_or("unknown".to_owned(), |tau| format!("{tau:.2}")),
    ))
}

/// Kendall's rank correlation of two orders of the same names.
fn kendall(one: &[&str], other: &[&str]) -> Option<f64> {
    let place = |name: &str| other.iter().position(|known| *known == name);
    let (mut agree, mut all) = (0i64, 0i64);
    for (first, second) in crate::results::index_pairs(one.len()) {
        let (Some(first), Some(second)) = (place(one[first]), place(one[second])) else { continue };
        agree += if first < second { 1 } else { -1 };
        all += 1;
    }
    (all > 0).then(|| agree as f64 / all as f64)
}

/// Returns the parts of a text that an algorithm looks at, in words that fit behind a verb.
fn looks_at(method: &str) -> &'static str {
    match method {
        "a0" => "any word at all",
        "a1" => "one of the six most frequent words",
        "a2" => "one of the six words of greatest TF·IDF, which are often rare",
        "a3" => "one of the six words of greatest TF·RIDF",
        "a4" => "one of the two longest sentences",
        "a5" => "one of the two heaviest sentences",
        "a6" => "so many shingles that no two super-shingles agree",
        "a7" => "a word of middling frequency in every lexicon",
        "a8" => "one of the shingles that are sampled by powers of two",
        "a9" => "the few words that describe a document",
        "a10" => "one of the six words of best frequency",
        "a12" => "the longest sentences by three and by five rules",
        _ => "what it looks at",
    }
}

/// Returns the reasons why a method moved from its published rank, as far as figures tell.
fn explain(line: &MethodLine, edited: Option<f64>) -> String {
    let theirs = zelenkov(&line.method);
    let (Some(recall), Some(precision), Some(theirs)) = (line.recall, line.precision, theirs) else {
        return "there are no figures to compare".to_owned();
    };
    let looks_at = looks_at(&line.method);
    let (ours, edited) = (recall.value, edited.unwrap_or(0.0));
    let mut reasons = Vec::new();
    match ours - theirs.recall {
        less if less < -0.1 => reasons.push(format!(
            "recall is {ours:.2} and was {:.2}, as it would be if edits here mostly touched {looks_at} (it finds {edited:.2} \
             of the edited pairs)",
            theirs.recall
        )),
        more if more > 0.1 => reasons.push(format!(
            "recall is {ours:.2} and was {:.2}, as it would be if edits here seldom touched {looks_at} (it finds {edited:.2} \
             of the edited pairs)",
            theirs.recall
        )),
        _ => reasons.push(format!("recall is {ours:.2}, as it was ({:.2})", theirs.recall)),
    }
    let unsigned = line.unsigned.unwrap_or(0);
    if unsigned > 0 {
        reasons.push(format!("{} documents have no signature", thousands(unsigned)));
    }
    match precision.value - theirs.precision {
        less if less < -0.05 => reasons.push(format!(
            "precision is {:.2} and was {:.2}: more different documents agree in it (E22 tells of which kind)",
            precision.value, theirs.precision
        )),
        more if more > 0.05 => reasons.push(format!(
            "precision is {:.2} and was {:.2}: fewer different documents agree in it",
            precision.value, theirs.precision
        )),
        _ => {}
    }
    if reasons.len() == 1 && (ours - theirs.recall).abs() <= 0.1 {
        reasons.push("so it was passed by, or passes, others that moved".to_owned());
    }
    reasons.join("; ")
}

/// Near-duplicates that are equal, and those that were edited, by who finds them.
struct NearDuplicateWeights {
    equal: Vec<(Mask, f64)>,
    edited: Vec<(Mask, f64)>,
    /// Those with a similarity of 0.95 or more.
    close: f64,
}

impl NearDuplicateWeights {
    fn of(comparison: &Comparison) -> Result<Self, LabError> {
        let (mut equal, mut edited) = (std::collections::BTreeMap::new(), std::collections::BTreeMap::new());
        let mut close = 0.0;
        for judged in comparison.judged_pairs()? {
            let judged = judged?;
            if judged.near != Some(true) {
                continue;
            }
            let weight = comparison.strata.weight(judged.pair.mask);
            close +=
                if judged.similarity.is_some_and(|similarity| similarity >= 0.95) { weight } else { 0.0 };
            let same = judged.similarity.is_some_and(|similarity| similarity >= 1.0);
            *if same { &mut equal } else { &mut edited }.entry(judged.pair.mask).or_insert(0.0) += weight;
        }
        Ok(NearDuplicateWeights {
            equal: equal.into_iter().collect(),
            edited: edited.into_iter().collect(),
            close,
        })
    }

    fn sum(of: &[(Mask, f64)], mask: Mask) -> f64 {
        of.iter().filter(|(masks, _)| masks & mask != 0).map(|(_, pairs)| pairs).sum()
    }

    /// Recall of equal and of edited near-duplicates, among those that were measured.
    fn recall(&self, line: &MethodLine) -> (Option<f64>, Option<f64>) {
        let share = |of: &[(Mask, f64)]| {
            let all = NearDuplicateWeights::sum(of, Mask::MAX);
            let bit = line.bit?;
            (all > 0.0).then(|| NearDuplicateWeights::sum(of, 1 << bit) / all)
        };
        (share(&self.equal), share(&self.edited))
    }

    fn close_share(&self) -> f64 {
        let all = NearDuplicateWeights::sum(&self.equal, Mask::MAX)
            + NearDuplicateWeights::sum(&self.edited, Mask::MAX);
        self.close / all.max(1.0)
    }

    fn equal_share(&self) -> f64 {
        let (equal, edited) = (
            NearDuplicateWeights::sum(&self.equal, Mask::MAX),
            NearDuplicateWeights::sum(&self.edited, Mask::MAX),
        );
        equal / (equal + edited).max(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_that_agree_have_a_correlation_of_one() {
        assert_eq!(kendall(&["a", "b", "c"], &["a", "b", "c"]), Some(1.0));
        assert_eq!(kendall(&["a", "b", "c"], &["c", "b", "a"]), Some(-1.0));
        assert_eq!(kendall(&["a"], &["a"]), None);
    }
}
