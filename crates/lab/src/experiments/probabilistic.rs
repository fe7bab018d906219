//! E18: asking for likely fingerprints, against lookup tables.
//!
//! Sood and Loguinov (2011) keep one table of whole fingerprints. A query looks up its own and those that a near-duplicate
//! most likely has, bits with close votes flipped first. They report 95 % of what tables find, in a fourth to a fourteenth
//! of the time and a half to a tenth of the memory. The thesis (Weimar 2014) calls tables clearly more efficient. Here
//! documents and their edited copies, up to three bits apart, are looked up both ways.

use std::hint::black_box;
use std::time::Instant;

use lookalike::hash;
use lookalike::methods::hamming::HammingTables;
use lookalike::methods::{Key, Setting, Sketch};
use lookalike::report::Study;
use lookalike::report::study::{Grid, Lines, Origin, Plot, Point, Series, Value};
use lookalike::text::Profile;

use crate::collection::{CollectionKind, Item};
use crate::draws::Draws;
use crate::edits::{Edit, Editor};
use crate::experiments::{Experiment, ExperimentContext};
use crate::shares::{Share, logarithmic, measured, unit_axis};
use crate::sketches::{AnalysedTexts, DocumentSketch, Sketcher};
use crate::trial::LabError;

/// The experiment.
pub(crate) const EXPERIMENT: Experiment = Experiment {
    id: "E18",
    title: "Asking for likely fingerprints, against lookup tables",
    source: "Sood, Loguinov 2011; thesis, Weimar 2014",
    data: Some(CollectionKind::News),
    run,
};

/// Most bits that differ.
const K: u32 = 3;

/// Numbers of probes.
const PROBES: [usize; 10] = [1, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000];

/// The most of them.
const MAX_PROBES: usize = 2_000;

/// Numbers of probes whose cost is measured.
const TIMED: [usize; 5] = [10, 50, 200, 500, 2_000];

/// Values of the method's parameter `c`, how much the votes of near-duplicates differ; the second is its default.
const SPREADS: [&str; 4] = ["0.1", "0.27", "0.5", "1"];

/// The method's default.
const DEFAULT: usize = 1;

/// The number of probes that spreads are compared at.
const COMPARED: usize = 200;

/// Words that are replaced in copies.
const EDITS: [usize; 4] = [1, 2, 4, 8];

/// Documents that are copied, and the fewest words of each.
const DOCUMENTS: usize = 1_500;
const LEAST_WORDS: usize = 50;

/// Stored fingerprints for the cost: those of the documents, filled up with random ones.
const STORED: usize = 155_419;

/// For each document that may be looked at, random fingerprints that may be stored.
const STORED_EACH: usize = 100;

/// Documents whose cost is measured.
const QUERIES: usize = 400;

/// A pair within [`K`] bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Pair {
    distance: u32,
    /// The probe that finds the copy, counting from 1, if the original asks; nothing when none of them does.
    forward_rank: Option<usize>,
    /// The same if the copy asks.
    backward_rank: Option<usize>,
}

impl Pair {
    fn found_by(&self, probes: usize, both: bool) -> bool {
        let by = |rank: Option<usize>| rank.is_some_and(|rank| rank <= probes);
        by(self.forward_rank) || both && by(self.backward_rank)
    }
}

fn run(context: &ExperimentContext<'_>) -> Result<Study, LabError> {
    let collection = context.collection(CollectionKind::News)?;
    let items = collection.items(context.documents, context.seed, &[], context.watch)?;
    let (texts, copies) = copies(&items, context)?;
    let originals = texts.iter().map(|&place| items[place].text.as_str());
    let edited = copies.iter().map(|(_, text)| text.as_str());
    let analysed = AnalysedTexts::with_more(&Profile::web(), originals, edited, context.watch)?;
    let by_spread = SPREADS.map(|spread| pairs(&analysed, texts.len(), &copies, spread, context));
    let by_spread = by_spread.into_iter().collect::<Result<Vec<Vec<Pair>>, LabError>>()?;
    let costs = costs(&analysed, texts.len(), context)?;
    let mut study = context.study(&EXPERIMENT, Some(&collection));
    study.fact("documents copied", texts.len().to_string());
    study.fact("copies", copies.len().to_string());
    study.fact(format!("pairs 1 to {K} bits apart"), by_spread[DEFAULT].len().to_string());
    study.fact("fingerprints stored", costs.stored.to_string());
    report(&mut study, &by_spread, &costs);
    Ok(study)
}

/// Documents by their places, and copies by the number of their document.
type Copies = (Vec<usize>, Vec<(usize, String)>);

fn copies(items: &[Item], context: &ExperimentContext<'_>) -> Result<Copies, LabError> {
    let mut draws = Draws::new(context.seed, 18);
    let mut editor = Editor::new(items.iter().map(|item| item.text.as_str()), &mut draws);
    let (mut originals, mut copies) = (Vec::new(), Vec::new());
    for place in draws.distinct(items.len(), items.len()) {
        context.watch.check()?;
        if originals.len() == DOCUMENTS {
            break;
        }
        let parsed = editor.parse(&items[place].text);
        if parsed.words() >= LEAST_WORDS {
            let number = originals.len();
            originals.push(place);
            let edited = EDITS.map(|edits| parsed.edited(Edit::Substitute, edits, &editor, &mut draws));
            copies.extend(edited.into_iter().flatten().map(|text| (number, text)));
        }
    }
    Ok((originals, copies))
}

fn probabilistic(probes: usize, target: &str, spread: &str, seed: u64) -> Result<Sketcher, LabError> {
    let text = format!("simhash:k={K},search=probabilistic,probes={probes},target={target},c={spread}");
    Sketcher::new(&text, &Setting { seed, ..Setting::default() }, &Profile::web())
}

/// The probe by which `asks` finds `other`.
fn rank(asks: &DocumentSketch, other: &DocumentSketch) -> Option<usize> {
    let own: &Key = other.keys.first()?;
    asks.keys.iter().position(|key| key.value == own.value)
}

/// Pairs of originals and copies that are near each other and not equal.
fn pairs(
    analysed: &AnalysedTexts<'_>,
    originals: usize,
    copies: &[(usize, String)],
    spread: &str,
    context: &ExperimentContext<'_>,
) -> Result<Vec<Pair>, LabError> {
    // All of the most likely ones, whatever part of the probability they make up.
    let sketcher = probabilistic(MAX_PROBES, "1", spread, context.seed)?;
    let mut buffer = Sketch::default();
    let mut pairs = Vec::new();
    let mut last: Option<(usize, DocumentSketch)> = None;
    for (place, (number, _)) in copies.iter().enumerate() {
        context.watch.check()?;
        if last.as_ref().is_none_or(|(known, _)| known != number) {
            last = Some((*number, sketcher.sketch(&analysed.page(*number), &mut buffer)));
        }
        let Some((_, original)) = &last else { continue };
        let copy = sketcher.sketch(&analysed.page(originals + place), &mut buffer);
        let distance: u32 =
            original.payload.iter().zip(&copy.payload).map(|(a, b)| (a ^ b).count_ones()).sum();
        if (1..=K).contains(&distance) {
            pairs.push(Pair {
                distance,
                forward_rank: rank(original, &copy),
                backward_rank: rank(&copy, original),
            });
        }
    }
    Ok(pairs)
}

/// The costs of searching, by way of search.
struct Costs {
    stored: usize,
    rows: Vec<Cost>,
}

struct Cost {
    name: String,
    /// Fingerprints or keys that a query looks up, on average.
    lookups: f64,
    /// Microseconds to make them, beyond the fingerprint itself.
    making: f64,
    /// Microseconds to look them up.
    looking: f64,
    bytes: u64,
    /// Probes, if that is how it searches.
    probes: Option<usize>,
}

fn costs(
    analysed: &AnalysedTexts<'_>,
    originals: usize,
    context: &ExperimentContext<'_>,
) -> Result<Costs, LabError> {
    let queries = originals.min(QUERIES);
    let plain = probabilistic(1, "1", SPREADS[DEFAULT], context.seed)?;
    let (own, base) = sketches(&plain, analysed, queries, context)?;
    let fingerprint = |sketched: &DocumentSketch| {
        let bytes = sketched.payload.first_chunk().copied().unwrap_or_default();
        [u64::from_le_bytes(bytes)]
    };
    let count = STORED.min(STORED_EACH.saturating_mul(context.documents)).max(own.len());
    let mut draws = Draws::new(context.seed, 19);
    let mut stored: Vec<[u64; 1]> = own.iter().map(fingerprint).collect();
    stored.resize_with(count, || [draws.next()]);
    let mut rows = Vec::new();
    for blocks in ["4", "5"] {
        let tables = HammingTables::new(&stored, 64, K, blocks)?;
        let begun = Instant::now();
        own.iter().for_each(|sketched| {
            black_box(tables.near(&fingerprint(sketched), |number, _| {
                black_box(number);
            }));
        });
        let looking = begun.elapsed().as_secs_f64() * 1e6 / queries.max(1) as f64;
        let (name, lookups) = (format!("{} lookup tables", tables.tables()), tables.tables() as f64);
        rows.push(Cost { name, lookups, making: 0.0, looking, bytes: tables.bytes() as u64, probes: None });
    }
    // One table of whole fingerprints, by the values that the method asks for.
    let values: Vec<[u64; 1]> = (0..count)
        .map(|place| {
            [own.get(place)
                .and_then(|one| one.keys.first())
                .map_or_else(|| hash::mix(stored[place][0]), |key| key.value)]
        })
        .collect();
    let table = HammingTables::new(&values, 64, 0, "1")?;
    let limited = TIMED.map(|probes| (probes, "1", format!("{probes} probes")));
    let aimed = [(MAX_PROBES, "0.95", format!("probes for 95 %, at most {MAX_PROBES}"))];
    for (probes, target, name) in limited.into_iter().chain(aimed) {
        let sketcher = probabilistic(probes, target, SPREADS[DEFAULT], context.seed)?;
        let (asked, time) = sketches(&sketcher, analysed, queries, context)?;
        let begun = Instant::now();
        for key in asked.iter().flat_map(|sketched| &sketched.keys) {
            black_box(table.near(&[key.value], |number, _| {
                black_box(number);
            }));
        }
        let looking = begun.elapsed().as_secs_f64() * 1e6 / queries.max(1) as f64;
        let keys: usize = asked.iter().map(|sketched| sketched.keys.len()).sum();
        rows.push(Cost {
            name,
            lookups: keys as f64 / queries.max(1) as f64,
            making: (time - base).max(0.0),
            looking,
            bytes: table.bytes() as u64,
            probes: (target == "1").then_some(probes),
        });
    }
    Ok(Costs { stored: count, rows })
}

/// Sketches of the first documents, and the microseconds that one of them takes the method.
fn sketches(
    sketcher: &Sketcher,
    analysed: &AnalysedTexts<'_>,
    count: usize,
    context: &ExperimentContext<'_>,
) -> Result<(Vec<DocumentSketch>, f64), LabError> {
    let mut buffer = Sketch::default();
    let sketched = (0..count).map(|index| sketcher.sketch(&analysed.page(index), &mut buffer)).collect();
    context.watch.check()?;
    let begun = Instant::now();
    for index in 0..count {
        sketcher.method().sketch(&analysed.page(index), &mut buffer);
        black_box(&buffer);
    }
    Ok((sketched, begun.elapsed().as_secs_f64() * 1e6 / count.max(1) as f64))
}

/// Returns the share of pairs that this number of probes finds, of those at one distance or of all.
fn recall(pairs: &[Pair], probes: usize, distance: Option<u32>, both: bool) -> Share {
    let mut share = Share::default();
    let counted = pairs.iter().filter(|pair| distance.is_none_or(|distance| pair.distance == distance));
    counted.for_each(|pair| share.count(pair.found_by(probes, both)));
    share
}

fn report(study: &mut Study, by_spread: &[Vec<Pair>], costs: &Costs) {
    let pairs = &by_spread[DEFAULT];
    let enough = PROBES.iter().find(|&&probes| recall(pairs, probes, None, false).value() >= Some(0.95));
    let tables = costs.rows.first().map_or(0.0, |cost| cost.looking);
    let reached = match enough {
        Some(probes) => format!("{probes} probes find 95 % of them"),
        None => format!("{MAX_PROBES} probes do not find 95 % of them"),
    };
    let slower = costs.rows.iter().find(|cost| cost.probes == Some(COMPARED));
    let slower = slower.map_or_else(String::new, |cost| {
        format!(
            "; with {COMPARED} a query takes {:.0} times as long as by 4 lookup tables, in {:.1} times less memory",
            (cost.making + cost.looking) / tables,
            costs.rows[0].bytes as f64 / cost.bytes as f64
        )
    });
    study.lead = match recall(pairs, COMPARED, None, false).value() {
        None => format!("No copy is 1 to {K} bits away from its document."),
        Some(share) => format!(
            "Of pairs 1 to {K} bits apart {COMPARED} probes find {:.0} %, and {reached}{slower}.",
            100.0 * share
        ),
    };
    study.table(recall_table(pairs));
    study.plot(picture(pairs));
    study.table(cost_table(pairs, costs));
    study.table(spread_table(by_spread));
    study.text(
        "Published: 95 % of what tables find, 4 to 14 times faster, with 2 to 10 times less memory, on 70 million pages. Here all \
         tables are in memory, and a probe that no fingerprint has costs one look at a directory. Of 70 million fingerprints, 4 tables would \
         have a query compared with some 4,300.",
    );
    study.notes.push(
        "Pairs are documents and copies in which 1, 2, 4 or 8 words were replaced; equal fingerprints, which one lookup finds, \
         are left out. Times are of this machine and this run; all else follows from the seed."
            .to_owned(),
    );
}

fn recall_table(pairs: &[Pair]) -> Grid {
    let distances = (1..=K).map(|bits| format!("{bits} apart"));
    let heads = ["probes".to_owned()].into_iter().chain(distances);
    let heads = heads.chain(["all", "95 %", "either asks", "published"].map(str::to_owned));
    let mut grid = Grid::new("Share of pairs found, by probes", heads);
    for probes in PROBES {
        let by_distance = (1..=K).map(|bits| recall(pairs, probes, Some(bits), false).cell());
        let (all, either) = (recall(pairs, probes, None, false), recall(pairs, probes, None, true));
        let rest = [all.cell(), all.interval_cell(), either.cell(), Value::Number(0.95)];
        grid.row([Value::Count(probes as u64)].into_iter().chain(by_distance).chain(rest));
    }
    let counts = (1..=K).map(|bits| Value::Count(recall(pairs, 0, Some(bits), false).whole));
    let rest = [Value::Count(pairs.len() as u64), Value::None, Value::Count(pairs.len() as u64), Value::None];
    grid.row([Value::from("pairs")].into_iter().chain(counts).chain(rest));
    grid
}

fn cost_table(pairs: &[Pair], costs: &Costs) -> Grid {
    let heads = [
        "search",
        "lookups per query",
        "microseconds to make them",
        "microseconds to look them up",
        "memory, MB",
        "share of pairs found",
    ];
    let mut grid = Grid::new(format!("Cost of a query among {} fingerprints", costs.stored), heads);
    for cost in &costs.rows {
        let found = match cost.probes {
            Some(probes) => recall(pairs, probes, None, false).cell(),
            None if cost.making == 0.0 => Value::Number(1.0),
            None => Value::None,
        };
        grid.row([
            Value::from(cost.name.as_str()),
            Value::from(cost.lookups),
            Value::from(cost.making),
            Value::from(cost.looking),
            Value::from(cost.bytes as f64 / 1e6),
            found,
        ]);
    }
    grid
}

/// Makes the table of the share of pairs found by the parameter `c`.
fn spread_table(by_spread: &[Vec<Pair>]) -> Grid {
    let heads = ["c", "pairs", "share found", "95 %"];
    let mut grid = Grid::new(format!("Share of pairs found by {COMPARED} probes, by the parameter c"), heads);
    for (spread, pairs) in SPREADS.iter().zip(by_spread) {
        let share = recall(pairs, COMPARED, None, false);
        grid.row([Value::from(*spread), Value::Count(share.whole), share.cell(), share.interval_cell()]);
    }
    grid
}

fn picture(pairs: &[Pair]) -> Plot {
    let line = |name: String, distance: Option<u32>| {
        let points = PROBES
            .iter()
            .filter_map(|&probes| recall(pairs, probes, distance, false).point(probes as f64))
            .collect::<Vec<Point>>();
        measured(name, points)
    };
    let bits = |distance: u32| line(format!("{distance} of 64 bits apart"), Some(distance));
    let ends = [1.0, MAX_PROBES as f64].map(|x| Point::new(x, 0.95)).to_vec();
    let published = Series { name: "published".to_owned(), origin: Origin::Published, points: ends };
    Plot::Lines(Lines {
        name: "Pairs found by probes".to_owned(),
        x: logarithmic("probes"),
        y: unit_axis("share of pairs found"),
        series: (1..=K).map(bits).chain([line("all".to_owned(), None), published]).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sketches::testing;
    use lookalike::report::study::Block;
    use lookalike::walk::Watch;

    #[test]
    fn ranks_are_what_methods_with_fewer_probes_find() {
        let watch = Watch::default();
        let texts = testing::texts(60, 250);
        let context = testing::context(&texts, &watch);
        let items = context.given.as_ref().unwrap().items(99, 1, &[], &watch).unwrap();
        let (originals, copies) = copies(&items, &context).unwrap();
        let analysed = AnalysedTexts::with_more(
            &Profile::web(),
            originals.iter().map(|&place| items[place].text.as_str()),
            copies.iter().map(|(_, text)| text.as_str()),
            &watch,
        )
        .unwrap();
        let pairs = pairs(&analysed, originals.len(), &copies, SPREADS[DEFAULT], &context).unwrap();
        assert!(pairs.len() > 30, "{}", pairs.len());
        for probes in [1, 20, 200] {
            let sketcher = probabilistic(probes, "1", SPREADS[DEFAULT], context.seed).unwrap();
            let mut buffer = Sketch::default();
            let mut met = 0;
            for (place, (number, _)) in copies.iter().enumerate() {
                let [a, b] = [*number, originals.len() + place]
                    .map(|index| sketcher.sketch(&analysed.page(index), &mut buffer));
                met += u64::from(a.payload != b.payload && sketcher.score(&a, &b).is_some());
            }
            assert_eq!(met, recall(&pairs, probes, None, true).part, "{probes}");
        }
        // More probes find more, and all pairs one bit apart are found by 64.
        assert_eq!(recall(&pairs, MAX_PROBES, Some(1), false).value(), Some(1.0));
        assert!(recall(&pairs, 50, None, false).part < recall(&pairs, MAX_PROBES, None, false).part);
    }

    #[test]
    fn a_small_collection_is_enough() {
        let watch = Watch::default();
        let texts = testing::texts(20, 200);
        let study = run(&ExperimentContext { documents: 20, ..testing::context(&texts, &watch) }).unwrap();
        let Block::Table(recalls) = &study.blocks[0] else { panic!("{:?}", study.blocks[0]) };
        assert_eq!(recalls.rows.len(), PROBES.len() + 1);
        let Block::Table(costs) = &study.blocks[2] else { panic!("{:?}", study.blocks[2]) };
        assert_eq!(costs.rows.len(), 2 + TIMED.len() + 1);
        assert!(study.lead.contains("200 probes find"), "{}", study.lead);
    }
}
