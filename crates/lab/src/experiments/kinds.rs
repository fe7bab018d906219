//! E22: how the pairs differ that each method finds.

use std::collections::BTreeMap;

use lookalike::engine::document_copy::DocumentCopy;
use lookalike::hash::{self, Secret};
use lookalike::report::study::{Grid, Heat, Plot, Value};
use lookalike::report::{Kind, Side, Study, View, compare};
use lookalike::text::{Analyser, Features, Profile};
use lookalike::walk::Watch;
use rayon::prelude::*;

use super::{Experiment, ExperimentContext};
use crate::collection::{CollectionKind, require_two_documents};
use crate::error::LabError;
use crate::method_list;
use crate::trial::{Configuration, MethodSetting, Trial};
use crate::truth::Truth;

/// Dates, addresses, order, insertions, templates.
pub(crate) static E22: Experiment = Experiment {
    id: "E22",
    title: "Kind of difference of the pairs that each method finds",
    source: "thesis, Weimar 2014, 3.3 and figure 5.6, where it is described in words",
    data: Some(CollectionKind::Crawls),
    run,
};

/// Pairs that are looked at of each method.
const PAIRS: usize = 300;
/// Further methods beside those of Zelenkov and Segalovich.
const OTHERS: [&str; 3] = ["minhash", "simhash", "supershingles"];

fn run(context: &ExperimentContext<'_>) -> Result<Study, LabError> {
    let mut study = context.study(&E22, None);
    let truth: Truth = "jaccard/5:0.8".parse().map_err(LabError::Request)?;
    let method_setting = MethodSetting::new(truth.measure(), Profile::web());
    for collection in
        context.collections(&[CollectionKind::Crawls, CollectionKind::News, CollectionKind::Revisions])?
    {
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
        let mut methods = method_list::zelenkov();
        methods.extend(OTHERS.map(|name| (name.to_owned(), Configuration::single(name))));
        let mut all = Vec::new();
        for (name, configuration) in methods {
            let trial = runner.run(&configuration, &method_setting, context.watch)?;
            let kinds = kinds(&documents, &trial, context.seed, context.watch)?;
            all.push((name, trial.facts.pairs, kinds));
        }
        show(&mut study, &collection.name, &all);
    }
    Ok(study)
}

/// Numbers of the drawn pairs by kind.
type KindCounts = BTreeMap<&'static str, u64>;

fn kinds(documents: &DocumentCopy, trial: &Trial, seed: u64, watch: &Watch) -> Result<KindCounts, LabError> {
    let mut drawn: BTreeMap<(u64, u32, u32), ()> = BTreeMap::new();
    for pair in trial.pairs()? {
        let pair = pair?;
        let sampling_key = hash::nth(u64::from(pair.a) << 32 | u64::from(pair.b), hash::mix(seed));
        drawn.insert((sampling_key, pair.a, pair.b), ());
        if drawn.len() > PAIRS {
            drawn.pop_last();
        }
    }
    watch.check()?;
    let drawn: Vec<(u32, u32)> = drawn.keys().map(|&(_, a, b)| (a, b)).collect();
    let found: Vec<Kind> = drawn
        .par_iter()
        .map_init(
            || Analyser::with_secret(&Profile::web(), Secret::of_process()),
            |analyser, &pair| kind(documents, analyser, pair),
        )
        .collect::<Result<_, _>>()?;
    let mut kinds = KindCounts::new();
    for kind in found {
        *kinds.entry(kind.name()).or_insert(0) += 1;
    }
    Ok(kinds)
}

fn kind(documents: &DocumentCopy, analyser: &mut Analyser, (a, b): (u32, u32)) -> Result<Kind, LabError> {
    let (one, other) = (documents.line(a)?, documents.line(b)?);
    let (mut left, mut right) = (Features::default(), Features::default());
    analyser.read(&one.text, &mut left);
    analyser.read(&other.text, &mut right);
    Ok(compare(&Side::new(&one.text, &left), &Side::new(&other.text, &right), &View::default()).kind)
}

fn show(study: &mut Study, collection: &str, all: &[(String, u64, KindCounts)]) {
    let names = Kind::ALL.map(Kind::name);
    let mut columns = vec!["method", "pairs", "looked at"];
    columns.extend(names);
    let mut grid = Grid::new(format!("{collection}: pairs by kind of difference, as shares"), columns);
    let mut heat = Heat {
        name: format!("{collection}: kinds of difference"),
        columns: names.map(str::to_owned).to_vec(),
        ..Heat::default()
    };
    for (name, pairs, kinds) in all {
        let looked: u64 = kinds.values().sum();
        let share = |kind: &str| {
            let count = kinds.get(kind).copied().unwrap_or(0);
            (looked > 0).then(|| count as f64 / looked as f64)
        };
        let mut row: Vec<Value> = vec![name.as_str().into(), (*pairs).into(), looked.into()];
        row.extend(names.map(|kind| share(kind).into()));
        grid.row(row);
        heat.rows.push(name.clone());
        heat.values.push(names.map(share).to_vec());
    }
    let most = all.iter().max_by(|one, other| template(&one.2).total_cmp(&template(&other.2)));
    if let Some((name, _, kinds)) = most {
        study.lead += &format!(
            "On {collection}, {name} has most pairs of one template with other content ({:.0} %). ",
            100.0 * template(kinds)
        );
    }
    study.table(grid);
    study.plot(Plot::Heat(heat));
}

fn template(kinds: &KindCounts) -> f64 {
    let all: u64 = kinds.values().sum();
    kinds.get(Kind::Template.name()).copied().unwrap_or(0) as f64 / all.max(1) as f64
}
