//! A comparison for people: sentences, tables and pictures.

use lookalike::model::Similarity;
use lookalike::report::study::{
    Axis, Bars, Grid, Heat, Lines, NamedPoint, Origin, Plot, Point, Points, Series, Value,
};
use lookalike::report::{Study, thousands};

use super::{MethodLine, Results, has, index_pairs};
use crate::compare::RecallBase;
use crate::published::{zelenkov, zelenkov_dice};
use crate::strata::Share;

impl Results<'_> {
    /// The comparison for people.
    pub fn study(&self, id: &str, title: &str) -> Study {
        let mut study = Study { id: id.to_owned(), title: title.to_owned(), ..Study::default() };
        study.lead = self.lead();
        study.notes = self.notes();
        self.facts(&mut study);
        self.show(&mut study);
        study
    }

    /// The result in a sentence.
    pub fn lead(&self) -> String {
        let mut lines: Vec<MethodLine> = self.methods();
        lines.retain(|line| line.f.is_some());
        let value = |line: &MethodLine| line.f.map_or(0.0, |f| f.value);
        lines.sort_by(|one, other| value(other).total_cmp(&value(one)));
        let heading = self.heading();
        let pool = match self.request.recall_base {
            RecallBase::Union => format!("{} pairs that some method accepts", thousands(heading.pairs)),
            RecallBase::Exact => {
                format!("the {} near-duplicates that there are", thousands(heading.near.round() as u64))
            }
        };
        match lines.first() {
            None => format!("No method accepts a pair among {} documents.", thousands(heading.documents)),
            Some(best) => format!(
                "Of {pool} among {} documents, {} does best: it finds {} of the near-duplicates, and {} of its pairs are \
                 some (F {}).",
                thousands(heading.documents),
                best.method,
                share(best.recall),
                share(best.precision),
                share(best.f),
            ),
        }
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        let heading = self.heading();
        if heading.measured < heading.pairs {
            notes.push(format!(
                "{} of the {} pairs were measured, drawn at random from each group of pairs that the same methods accept; \
                 the intervals say how sure the figures are.",
                thousands(heading.measured),
                thousands(heading.pairs)
            ));
        }
        for compared in &self.comparison.compared_methods {
            let name = &compared.name;
            match &compared.facts {
                Err(why) => notes.push(format!("{name} was left out: {why}.")),
                Ok(facts) => {
                    if facts.refused > 0 {
                        let why = facts.refusal.as_deref().unwrap_or("no reason is known");
                        notes.push(format!(
                            "{name} refuses {} of the documents and was run without them; of the first it says: {why}.",
                            thousands(facts.refused)
                        ));
                    }
                    if facts.giant_groups > 0 {
                        notes.push(format!(
                            "{name} has {} groups of more than {} documents; up to {} pairs in them are in no count.",
                            thousands(facts.giant_groups),
                            thousands(self.runner.max_group as u64),
                            thousands(facts.pairs_in_giant_groups)
                        ));
                    }
                }
            }
        }
        if let Some(exact) = self.comparison.exact().filter(|exact| exact.giant_groups > 0) {
            notes.push(format!(
                "Up to {} near-duplicates in groups of more than {} documents are in no figure, so that recall is of the others.",
                thousands(exact.pairs_in_giant_groups),
                thousands(self.runner.max_group as u64)
            ));
        }
        let facts = self.runner.documents.manifest();
        if let Some(why) = &facts.first_rejection {
            notes.push(format!(
                "{} records could not be read and are left out; the first: {why}.",
                thousands(facts.rejected)
            ));
        }
        notes
    }

    fn facts(&self, study: &mut Study) {
        let heading = self.heading();
        study.fact("documents", thousands(heading.documents));
        study.fact("near-duplicate", format!("{} on words of {}", heading.truth, heading.profile));
        study.fact(
            "recall is a share of",
            match self.request.recall_base {
                RecallBase::Union => "the near-duplicates that some method finds",
                RecallBase::Exact => "all near-duplicates, by the exact join",
            },
        );
        study.fact("pairs in the pool", thousands(heading.pairs));
        study.fact("pairs measured", thousands(heading.measured));
        study.fact("near-duplicates", thousands(heading.near.round() as u64));
        study.fact("groups left out above", thousands(self.runner.max_group as u64));
        study.fact("seed", heading.seed.to_string());
        study.fact("threads", self.runner.settings.threads.to_string());
    }

    /// Tables and pictures.
    pub fn show(&self, study: &mut Study) {
        self.methods_table(study);
        study.plot(self.quality());
        self.agreement(study);
        self.coverage(study);
        study.plot(self.similarities());
    }

    /// Adds the table of pairs, recall, precision and cost of each method, beside the figures of Zelenkov and Segalovich where
    /// they report them.
    pub fn methods_table(&self, study: &mut Study) {
        let lines = self.methods();
        let published = lines.iter().any(|line| zelenkov(&line.method).is_some());
        let sampled = lines.iter().any(|line| line.recall.is_some_and(|share| share.interval.is_some()));
        let mut columns = vec!["method", "pairs", "near-duplicates", "recall"];
        columns.extend(sampled.then_some("95 %"));
        columns.push("precision");
        columns.extend(sampled.then_some("95 %"));
        columns.push("F");
        if published {
            columns.extend(["recall, published", "precision, published", "F, published"]);
        }
        columns.extend(["without signature", "bytes per document", "documents per second"]);
        let mut grid = Grid::new("What each method finds", columns);
        for line in &lines {
            let value = |share: Option<Share>| Value::from(share.map(|share| share.value));
            let interval = |share: Option<Share>| Value::from(share.and_then(|share| share.interval));
            let mut row: Vec<Value> = vec![
                zelenkov(&line.method)
                    .map_or_else(|| line.method.clone(), |known| format!("{} {}", line.method, known.title))
                    .into(),
                line.pairs.into(),
                line.near.map(|near| near.round() as u64).into(),
            ];
            row.push(value(line.recall));
            row.extend(sampled.then(|| interval(line.recall)));
            row.push(value(line.precision));
            row.extend(sampled.then(|| interval(line.precision)));
            row.push(value(line.f));
            if published {
                let theirs = zelenkov(&line.method);
                row.extend([
                    theirs.map(|theirs| theirs.recall).into(),
                    theirs.map(|theirs| theirs.precision).into(),
                    theirs.map(|theirs| theirs.f).into(),
                ]);
            }
            row.extend([
                line.unsigned.into(),
                line.bytes_per_document.map(|bytes| bytes.round() as u64).into(),
                line.documents_per_second.map(|rate| rate.round() as u64).into(),
            ]);
            grid.row(row);
        }
        study.table(grid);
        if published {
            study.text(
                "Published: Zelenkov and Segalovich 2007, tables 2, 3 and 7; about 500,000 pages of web sites, edit \
                 similarity of 0.8, a pool of 17,471,200 pairs of which 68 % were near-duplicates.",
            );
        }
    }

    /// Precision over recall.
    pub fn quality(&self) -> Plot {
        let lines = self.methods();
        let series = lines.iter().filter_map(|line| {
            let (recall, precision) = (line.recall?, line.precision?);
            let at = Point { x: recall.value, y: precision.value, interval: precision.interval };
            Some(NamedPoint { name: line.method.clone(), at, frontier: false, chosen: false })
        });
        let mut points: Vec<_> = series.collect();
        for at in 0..points.len() {
            let here = points[at].at;
            points[at].frontier = !points.iter().any(|other| {
                other.at.x >= here.x && other.at.y >= here.y && (other.at.x, other.at.y) != (here.x, here.y)
            });
        }
        let axis = |name: &str| Axis { name: name.to_owned(), range: Some((0.0, 1.0)), logarithmic: false };
        Plot::Points(Points {
            name: "Precision and recall of each method".to_owned(),
            x: axis("recall"),
            y: axis("precision"),
            points,
            goal: None,
            rightwards: true,
        })
    }

    /// Adds Dice's coefficient of the pairs of any two methods, beside the published ones.
    pub fn agreement(&self, study: &mut Study) {
        let names: Vec<String> = self.comparison.names().iter().map(|&name| name.to_owned()).collect();
        study.plot(Plot::Heat(Heat {
            name: "Agreement: Dice's coefficient of the pairs of two methods".to_owned(),
            rows: names.clone(),
            columns: names.clone(),
            values: self.dice(),
        }));
        let mut grid = Grid::new("Agreement beside the published one", ["methods", "Dice", "published"]);
        for (one, other) in index_pairs(names.len()) {
            if let Some(theirs) = zelenkov_dice(&names[one], &names[other]) {
                let both = format!("{} and {}", names[one], names[other]);
                grid.row([both.into(), self.strata().dice(one, other).into(), theirs.into()]);
            }
        }
        if !grid.rows.is_empty() {
            study.table(grid);
        }
    }

    /// Adds the joint coverage of two methods, the best ten, and that of one method after the other in the greedy order.
    pub fn coverage(&self, study: &mut Study) {
        let names = self.comparison.names();
        let mut pairs: Vec<(usize, usize, Share)> = index_pairs(names.len())
            .filter_map(|(one, other)| {
                Some((one, other, self.strata().coverage(|mask| has(one)(mask) || has(other)(mask))?))
            })
            .collect();
        pairs.sort_by(|one, other| other.2.value.total_cmp(&one.2.value));
        let mut grid = Grid::new("Two methods together: the best ten", ["methods", "coverage", "95 %"]);
        for (one, other, share) in pairs.iter().take(10) {
            grid.row([
                format!("{} and {}", names[*one], names[*other]).into(),
                share.value.into(),
                share.interval.into(),
            ]);
        }
        study.table(grid);
        let steps = self.greedy();
        let mut grid = Grid::new(
            "One method after the other, each time the one that adds most",
            ["method", "coverage", "gain"],
        );
        for step in &steps {
            grid.row([step.method.into(), step.coverage.value.into(), step.gain.into()]);
        }
        study.table(grid);
        let points = steps.iter().enumerate().map(|(place, step)| Point {
            x: (place + 1) as f64,
            y: step.coverage.value,
            interval: step.coverage.interval,
        });
        study.plot(Plot::Lines(Lines {
            name: "Coverage by number of methods, in the greedy order".to_owned(),
            x: Axis { name: "methods".to_owned(), ..Axis::default() },
            y: Axis {
                name: "share of the near-duplicates".to_owned(),
                range: Some((0.0, 1.0)),
                logarithmic: false,
            },
            series: vec![Series {
                name: "together".to_owned(),
                origin: Origin::Measured,
                points: points.collect(),
            }],
        }));
    }

    /// Measured pairs by similarity.
    pub fn similarities(&self) -> Plot {
        let counts = &self.comparison.histogram;
        let bins: Vec<(String, u64)> = (0..20)
            .map(|bin| {
                let from = bin * 5;
                let to = if bin == 19 { 101 } else { from + 5 };
                (format!("{:.2}", from as f64 / 100.0), counts[from..to].iter().sum())
            })
            .collect();
        Plot::Bars(Bars {
            name: match (self.request.recall_base, self.request.truth.similarity) {
                (RecallBase::Exact, similarity) => format!("Near-duplicates by similarity ({similarity})"),
                (_, Similarity::Edit) => "Near-duplicates of the pool by similarity (edit)".to_owned(),
                (_, similarity) => format!("Pairs of the pool by similarity ({similarity})"),
            },
            x: "similarity, from".to_owned(),
            y: "pairs".to_owned(),
            bins: bins.iter().map(|(name, _)| name.clone()).collect(),
            series: vec![("pairs".to_owned(), bins.iter().map(|(_, count)| *count).collect())],
            logarithmic: true,
        })
    }
}

fn share(share: Option<Share>) -> String {
    share.map_or("-".to_owned(), |share| format!("{:.2}", share.value))
}
