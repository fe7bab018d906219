//! E4 and E5: what further lexicons add to I-Match, on pages and on spam.

use std::collections::{BTreeMap, BTreeSet};

use lookalike::engine::document_copy::DocumentCopy;
use lookalike::hash;
use lookalike::report::Study;
use lookalike::report::study::{Axis, Grid, Lines, Origin, Plot, Point, Series, Value};
use lookalike::report::thousands;
use lookalike::text::{Analyser, Features, Profile};

use super::{Experiment, ExperimentContext};
use crate::collection::{Collection, CollectionKind, require_two_documents};
use crate::error::LabError;
use crate::published::SPAM;
use crate::trial::{Configuration, MethodSetting, Pair, TrialRunner};
use crate::truth::Truth;

/// On pages, with the collection's own lexicon and a foreign one.
pub(crate) static E4: Experiment = Experiment {
    id: "E4",
    title: "I-Match recall by number of lexicons, with the collection's own lexicon and a foreign one",
    source: "Kołcz, Chowdhury, Alspector 2004, figure 2",
    data: Some(CollectionKind::Crawls),
    run: pages,
};

/// On spam, with false positives among legitimate mail.
pub(crate) static E5: Experiment = Experiment {
    id: "E5",
    title: "I-Match on spam by number of lexicons, and false positives among legitimate mail",
    source: "Kołcz, Chowdhury, Alspector 2004, table 1 and figure 3",
    data: Some(CollectionKind::Mail),
    run: spam,
};

/// Most randomised lexicons beside the first.
const MAX_LEXICONS: u32 = 10;

/// A variant of I-Match: its name, parameters, and a lexicon from elsewhere.
struct ImatchVariant {
    name: &'static str,
    parameters: String,
    lexicon: Option<std::path::PathBuf>,
}

/// Near-duplicates of each document.
type Neighbours = BTreeMap<u32, BTreeSet<u32>>;

/// Recall of documents as queries, in three readings.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Recall {
    /// Documents that have a near-duplicate.
    queries: u64,
    /// Mean share of its near-duplicates that a document is paired with.
    mean: f64,
    /// Its 95 % interval, from the spread over queries.
    interval: (f64, f64),
    /// The same when a document counts as its own near-duplicate.
    with_itself: f64,
    /// Documents that it is paired with, right or wrong, over near-duplicates, as printed in the paper.
    literal: f64,
}

fn pages(context: &ExperimentContext<'_>) -> Result<Study, LabError> {
    let collection = context.collection(CollectionKind::Crawls)?;
    let mut study = context.study(&E4, Some(&collection));
    let folder = context.folder.join(&collection.name);
    let documents = DocumentCopy::open_or_create(
        &folder,
        collection.source(),
        &[],
        ("all", &mut |_, _, _| true),
        context.watch,
    )?;
    require_two_documents(&documents)?;
    let runner = context.trial_runner(&documents, &folder);
    let variants = variants(context, &collection, "low=0.2,high=0.8")?;
    let curves = sweep(context, &runner, &variants)?;
    table(&mut study, &variants, &curves, None);
    study.plot(picture("Recall by number of lexicons (figure 2)", &variants, &curves, None));
    study.text(
        "Published: figure 2 has no numbers; on axes from 0.35 to 0.70 both curves rise and saturate, the one with the \
         foreign, cleaner lexicon above the other (1,679,076 pages, 29,568 queries).",
    );
    study.lead = lead(&variants, &curves);
    Ok(study)
}

fn spam(context: &ExperimentContext<'_>) -> Result<Study, LabError> {
    let collection = context.collection(CollectionKind::Mail)?;
    let mut study = context.study(&E5, Some(&collection));
    let folder = context.folder.join(format!("{}-spam", collection.name));
    let mut filter = TrivialDuplicateFilter::new();
    let (keep, groups) = (&["group"], "spam without trivial duplicates");
    // Groups are seen only when lines are written; so all are copied first, and spam is taken from there.
    let all_folder = context.folder.join(format!("{}-all", collection.name));
    let all = DocumentCopy::open_or_create(
        &all_folder,
        collection.source(),
        keep,
        ("without trivial duplicates", &mut |_, _, text| filter.is_new(text)),
        context.watch,
    )?;
    let classes = classes(&all)?;
    let spam: BTreeSet<u64> =
        (0u64..).zip(&classes).filter(|(_, class)| **class == MessageClass::Spam).map(|(n, _)| n).collect();
    if spam.len() < 2 {
        return Err(LabError::Request(format!(
            "spam is told by a field group whose value holds spam or ham, and {} has {} such messages; name another corpus",
            collection.name,
            spam.len()
        )));
    }
    let copied =
        Collection { corpus: all.corpus()?, content: CollectionKind::News.content(), ..collection.clone() };
    let documents = DocumentCopy::open_or_create(
        &folder,
        copied.source(),
        &[],
        (groups, &mut |n, _, _| spam.contains(&n)),
        context.watch,
    )?;
    let runner = context.trial_runner(&documents, &folder);
    let variants = variants(context, &collection, "low=0.2,high=0.3")?;
    let curves = sweep(context, &runner, &variants)?;
    study.fact("spam messages", thousands(documents.len() as u64));
    study.fact(
        "legitimate messages",
        thousands(classes.iter().filter(|class| **class == MessageClass::Ham).count() as u64),
    );
    study.fact("trivial duplicates left out", thousands(all.manifest().found - all.manifest().documents));
    table(&mut study, &variants, &curves, Some(&SPAM));
    study.plot(picture("Recall by number of lexicons (figure 3)", &variants, &curves, Some(&SPAM)));
    study.text(
        "Published: table 1, two collections of spam (honeypot 5,328 and cluster 6,389 messages without trivial \
         duplicates), beside the reading in which a message counts as its own near-duplicate.",
    );
    let wrong = false_positives(context, &all, &all_folder, &classes, &variants)?;
    let worst = wrong.rows.last().and_then(|row| row.get(1).cloned());
    study.table(wrong);
    study.text(
        "A legitimate message counts when it is paired with a spam message; what is a near-duplicate of spam by its words no \
         method of this kind could tell apart. The paper reports no false positive among 18,555 legitimate messages.",
    );
    study.lead = lead(&variants, &curves);
    if let Some(Value::Count(worst)) = worst {
        study.lead += &format!(" Legitimate messages paired with spam at {MAX_LEXICONS}: {worst}.");
    }
    Ok(study)
}

/// The collection's own lexicon, a foreign one, and the basic form without a secondary lexicon.
fn variants(
    context: &ExperimentContext<'_>,
    collection: &Collection,
    range: &str,
) -> Result<Vec<ImatchVariant>, LabError> {
    let foreign = foreign(context, collection)?;
    Ok(vec![
        ImatchVariant { name: "own lexicon", parameters: range.to_owned(), lexicon: None },
        ImatchVariant { name: "foreign lexicon", parameters: range.to_owned(), lexicon: Some(foreign) },
        ImatchVariant {
            name: "own, no secondary lexicon",
            parameters: format!("{range},secondary=off"),
            lexicon: None,
        },
    ])
}

/// The words of news articles, or of a generated collection from another seed.
fn foreign(context: &ExperimentContext<'_>, collection: &Collection) -> Result<std::path::PathBuf, LabError> {
    let known =
        context.data.as_deref().map(|data| CollectionKind::News.open_known(data)).transpose()?.flatten();
    let known = known.filter(|known| known.name != collection.name);
    let other =
        known.unwrap_or_else(|| crate::generated::collection(CollectionKind::News, context.seed ^ 0x5eed));
    let folder = context.folder.join(format!("{}-words", other.name));
    let documents = DocumentCopy::open_or_create(
        &folder,
        other.source(),
        &[],
        ("all", &mut |_, _, _| true),
        context.watch,
    )?;
    let runner = context.trial_runner(&documents, &folder);
    std::fs::create_dir_all(&runner.folder).map_err(|error| LabError::write(&runner.folder, &error))?;
    runner.lexicon(&Profile::kolcz(), context.watch)
}

fn configuration(variant: &ImatchVariant, lexicons: u32) -> Configuration {
    let text = format!("imatch:{},lexicons={lexicons}", variant.parameters);
    Configuration { lexicon: variant.lexicon.clone(), ..Configuration::single(&text) }
}

/// Recall of every variant for each number of further lexicons.
fn sweep(
    context: &ExperimentContext<'_>,
    runner: &TrialRunner<'_>,
    variants: &[ImatchVariant],
) -> Result<Vec<Vec<Recall>>, LabError> {
    let truth: Truth = "cosine/1:0.9".parse().map_err(LabError::Request)?;
    let method_setting = MethodSetting::new(truth.measure(), Profile::kolcz());
    let exact = runner.run(&Configuration::single("exact"), &method_setting, context.watch)?;
    let near = neighbours(exact.pairs()?)?;
    let one = |variant: &ImatchVariant, lexicons: u32| -> Result<Recall, LabError> {
        let trial = runner.run(&configuration(variant, lexicons), &method_setting, context.watch)?;
        Ok(recall(&near, &neighbours(trial.pairs()?)?))
    };
    variants
        .iter()
        .map(|variant| (0..=MAX_LEXICONS).map(|lexicons| one(variant, lexicons)).collect())
        .collect()
}

fn neighbours(pairs: impl Iterator<Item = Result<Pair, LabError>>) -> Result<Neighbours, LabError> {
    let mut near = Neighbours::new();
    for pair in pairs {
        let Pair { a, b, .. } = pair?;
        near.entry(a).or_default().insert(b);
        near.entry(b).or_default().insert(a);
    }
    Ok(near)
}

fn recall(near: &Neighbours, flagged: &Neighbours) -> Recall {
    let none = BTreeSet::new();
    let (mut shares, mut with_itself, mut literal) = (Vec::new(), 0.0, 0.0);
    for (query, near) in near {
        let flagged = flagged.get(query).unwrap_or(&none);
        let found = flagged.intersection(near).count() as f64;
        let all = near.len() as f64;
        shares.push(found / all);
        with_itself += (found + 1.0) / (all + 1.0);
        literal += flagged.len() as f64 / all;
    }
    let queries = shares.len() as f64;
    let mean = shares.iter().sum::<f64>() / queries.max(1.0);
    let spread = shares.iter().map(|share| (share - mean).powi(2)).sum::<f64>() / (queries - 1.0).max(1.0);
    let spread = 1.96 * (spread / queries.max(1.0)).sqrt();
    Recall {
        queries: shares.len() as u64,
        mean,
        interval: ((mean - spread).max(0.0), (mean + spread).min(1.0)),
        with_itself: with_itself / queries.max(1.0),
        literal: literal / queries.max(1.0),
    }
}

fn lead(variants: &[ImatchVariant], curves: &[Vec<Recall>]) -> String {
    let (Some(variant), Some(curve)) = (variants.first(), curves.first()) else { return String::new() };
    let (Some(first), Some(last)) = (curve.first(), curve.last()) else { return String::new() };
    if first.queries == 0 {
        return "No document here has a near-duplicate, so that nothing can be said of recall.".to_owned();
    }
    format!(
        "With the {}, recall goes from {:.2} with one lexicon to {:.2} with {} more ({:+.0} %), over {} documents that have \
         a near-duplicate.",
        variant.name,
        first.mean,
        last.mean,
        MAX_LEXICONS,
        100.0 * (last.mean / first.mean.max(1e-9) - 1.0),
        thousands(first.queries),
    )
}

fn table(
    study: &mut Study,
    variants: &[ImatchVariant],
    curves: &[Vec<Recall>],
    published: Option<&[(u32, f64, f64)]>,
) {
    for (variant, curve) in variants.iter().zip(curves) {
        let mut columns =
            vec!["further lexicons", "recall", "95 %", "gain", "recall with itself", "literal ratio"];
        if published.is_some() {
            columns.extend(["honeypot, published", "cluster, published"]);
        }
        let mut grid = Grid::new(format!("I-Match, {}", variant.name), columns);
        let first = curve.first().map_or(0.0, |recall| recall.mean);
        for (lexicons, recall) in (0u32..).zip(curve) {
            let gain = (first > 0.0).then(|| recall.mean / first - 1.0);
            let mut row: Vec<Value> = vec![
                lexicons.to_string().into(),
                recall.mean.into(),
                recall.interval.into(),
                gain.into(),
                recall.with_itself.into(),
                recall.literal.into(),
            ];
            if let Some(published) = published {
                let line = published.iter().find(|(known, ..)| *known == lexicons);
                row.extend([line.map(|line| line.1).into(), line.map(|line| line.2).into()]);
            }
            grid.row(row);
        }
        study.table(grid);
    }
}

fn picture(
    name: &str,
    variants: &[ImatchVariant],
    curves: &[Vec<Recall>],
    published: Option<&[(u32, f64, f64)]>,
) -> Plot {
    let measured = variants.iter().zip(curves).map(|(variant, curve)| Series {
        name: variant.name.to_owned(),
        origin: Origin::Measured,
        points: (0u32..)
            .zip(curve)
            .map(|(lexicons, recall)| Point {
                x: lexicons.into(),
                y: recall.mean,
                interval: Some(recall.interval),
            })
            .collect(),
    });
    let mut series: Vec<Series> = measured.collect();
    type Getter = fn(&(u32, f64, f64)) -> f64;
    let columns: [(&str, Getter); 2] =
        [("honeypot, published", |line| line.1), ("cluster, published", |line| line.2)];
    for (name, of) in columns.into_iter().filter(|_| published.is_some()) {
        let points = published.unwrap_or_default().iter().map(|line| Point::new(line.0.into(), of(line)));
        series.push(Series { name: name.to_owned(), origin: Origin::Published, points: points.collect() });
    }
    Plot::Lines(Lines {
        name: name.to_owned(),
        x: Axis {
            name: "further lexicons".to_owned(),
            range: Some((0.0, MAX_LEXICONS.into())),
            logarithmic: false,
        },
        y: Axis { name: "recall".to_owned(), ..Axis::default() },
        series,
    })
}

/// The class of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MessageClass {
    Spam,
    Ham,
    Neither,
}

fn classes(documents: &DocumentCopy) -> Result<Vec<MessageClass>, LabError> {
    let class = |document: u32| -> Result<MessageClass, LabError> {
        let group = documents.line(document)?.extras.into_iter().next().flatten().unwrap_or_default();
        Ok(match () {
            () if group.contains("spam") => MessageClass::Spam,
            () if group.contains("ham") => MessageClass::Ham,
            () => MessageClass::Neither,
        })
    };
    (0..documents.len() as u32).map(class).collect()
}

/// Legitimate messages that are paired with spam, by number of lexicons.
fn false_positives(
    context: &ExperimentContext<'_>,
    documents: &DocumentCopy,
    folder: &std::path::Path,
    classes: &[MessageClass],
    variants: &[ImatchVariant],
) -> Result<Grid, LabError> {
    let runner = context.trial_runner(documents, folder);
    let truth: Truth = "cosine/1:0.9".parse().map_err(LabError::Request)?;
    let method_setting = MethodSetting::new(truth.measure(), Profile::kolcz());
    let exact = runner.run(&Configuration::single("exact"), &method_setting, context.watch)?;
    let crossing = |pair: &Pair| {
        let two = [classes[pair.a as usize], classes[pair.b as usize]];
        two.contains(&MessageClass::Spam) && two.contains(&MessageClass::Ham)
    };
    let legitimate =
        |pair: &Pair| if classes[pair.a as usize] == MessageClass::Ham { pair.a } else { pair.b };
    let mut near: BTreeSet<(u32, u32)> = BTreeSet::new();
    for pair in exact.pairs()? {
        let pair = pair?;
        if crossing(&pair) {
            near.insert((pair.a, pair.b));
        }
    }
    let mut grid = Grid::new(
        "Legitimate messages paired with spam",
        [
            "further lexicons",
            "own lexicon",
            "of them no near-duplicate",
            "foreign lexicon",
            "of them no near-duplicate",
        ],
    );
    for lexicons in [0, 2, 5, MAX_LEXICONS] {
        let mut row: Vec<Value> = vec![lexicons.to_string().into()];
        for variant in &variants[..2] {
            let trial = runner.run(&configuration(variant, lexicons), &method_setting, context.watch)?;
            let (mut all, mut wrong) = (BTreeSet::new(), BTreeSet::new());
            for pair in trial.pairs()? {
                let pair = pair?;
                if crossing(&pair) {
                    all.insert(legitimate(&pair));
                    if !near.contains(&(pair.a, pair.b)) {
                        wrong.insert(legitimate(&pair));
                    }
                }
            }
            row.extend([Value::Count(all.len() as u64), Value::Count(wrong.len() as u64)]);
        }
        grid.row(row);
    }
    Ok(grid)
}

/// Tells which texts have words that no text before had: the paper leaves trivial duplicates out.
struct TrivialDuplicateFilter {
    analyser: Analyser,
    features: Features,
    words: Vec<u64>,
    seen: BTreeSet<u128>,
}

impl TrivialDuplicateFilter {
    fn new() -> Self {
        TrivialDuplicateFilter {
            analyser: Analyser::new(&Profile::kolcz()),
            features: Features::default(),
            words: Vec::new(),
            seen: BTreeSet::new(),
        }
    }

    fn is_new(&mut self, text: &str) -> bool {
        self.analyser.read(text, &mut self.features);
        self.words.clear();
        self.words.extend_from_slice(self.features.hashes());
        self.words.sort_unstable();
        self.words.dedup();
        let bytes: Vec<u8> = self.words.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.seen.insert(hash::digest(&bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(pairs: &[(u32, u32)]) -> Neighbours {
        neighbours(pairs.iter().map(|&(a, b)| Ok(Pair { a, b, similarity: 1.0 }))).unwrap()
    }

    #[test]
    fn recall_is_a_mean_over_queries() {
        // 0 has the near-duplicates 1 and 2, which have 0 each; 0 and 1 are paired, and 0 with 9, which is wrong.
        let recall = recall(&of(&[(0, 1), (0, 2)]), &of(&[(0, 1), (0, 9)]));
        assert_eq!(recall.queries, 3);
        assert!((recall.mean - (0.5 + 1.0 + 0.0) / 3.0).abs() < 1e-12);
        assert!((recall.with_itself - (2.0 / 3.0 + 1.0 + 0.5) / 3.0).abs() < 1e-12);
        assert!((recall.literal - (1.0 + 1.0 + 0.0) / 3.0).abs() < 1e-12);
    }

    #[test]
    fn equal_sets_of_words_are_trivial_duplicates() {
        let mut filter = TrivialDuplicateFilter::new();
        let first = "alpha bravo charlie delta foxtrot golf hotel";
        assert!(filter.is_new(first));
        assert!(!filter.is_new("hotel golf foxtrot delta charlie bravo alpha alpha"));
        assert!(filter.is_new("alpha bravo charlie delta foxtrot golf india"));
    }
}
