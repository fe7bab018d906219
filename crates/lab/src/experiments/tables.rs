//! E12: lookup tables for fingerprints within k bits, design by design.
//!
//! The tables of Manku, Jain and Sarma (2007), as the thesis (Weimar 2014) uses them: 64 bits in B blocks, a table for
//! each choice of B − k blocks that may all be equal. More blocks make more tables with longer keys and so fewer
//! candidates. None may miss a fingerprint that a scan of all finds.

use std::hint::black_box;
use std::time::Instant;

use lookalike::methods::hamming::HammingTables;
use lookalike::methods::{Setting, Sketch};
use lookalike::report::Study;
use lookalike::report::study::{Grid, Value};
use lookalike::text::Profile;

use crate::collection::CollectionKind;
use crate::draws::Draws;
use crate::experiments::{Experiment, ExperimentContext};
use crate::sketches::{AnalysedTexts, Sketcher};
use crate::trial::LabError;

/// The experiment.
pub(crate) const EXPERIMENT: Experiment = Experiment {
    id: "E12",
    title: "Lookup tables for fingerprints within k bits, design by design",
    source: "Manku, Jain, Sarma 2007; thesis, Weimar 2014",
    data: Some(CollectionKind::News),
    run,
};

/// Bits of a fingerprint.
const BITS: usize = 64;

/// Random fingerprints that are stored: as many as the thesis has judged documents.
const STORED: usize = 155_419;

/// For each document that may be looked at, random fingerprints that may be stored.
const STORED_EACH: usize = 100;

/// Fingerprints that are looked up.
const QUERIES: usize = 1_000;

/// Queries for which all candidates are counted one by one.
const COUNTED: usize = 60;

/// Designs: most bits that differ, and blocks.
const DESIGNS: [(usize, Blocks); 14] = [
    (0, Blocks(1, None)),
    (1, Blocks(2, None)),
    (1, Blocks(3, None)),
    (2, Blocks(3, None)),
    (2, Blocks(4, None)),
    (2, Blocks(5, None)),
    (3, Blocks(4, None)),
    (3, Blocks(5, None)),
    (3, Blocks(6, None)),
    (3, Blocks(4, Some(4))),
    (4, Blocks(5, None)),
    (5, Blocks(6, None)),
    (5, Blocks(7, None)),
    (10, Blocks(11, None)),
];

/// The most bits that differ in any design.
const MAX_DISTANCE: u32 = 10;

/// The designs of Manku, Jain and Sarma for 2^34 fingerprints and k = 3: blocks, tables, bits of the shortest key, and the
/// logarithm of the most candidates of a lookup.
const PUBLISHED: [(Blocks, u64, u64, u32); 4] = [
    (Blocks(6, None), 20, 31, 3),
    (Blocks(4, Some(4)), 16, 28, 6),
    (Blocks(5, None), 10, 25, 9),
    (Blocks(4, None), 4, 16, 18),
];

/// The division of bits into blocks: their number, and the number of blocks that the bits outside of a choice are divided into
/// once more, if they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Blocks(usize, Option<usize>);

impl std::fmt::Display for Blocks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.1 {
            Some(second) => write!(f, "{}x{second}", self.0),
            None => write!(f, "{}", self.0),
        }
    }
}

impl Blocks {
    /// The bits of each table's key, the plain way: to hold what the tables do against.
    fn masks(self, bits: usize, k: usize) -> Vec<u64> {
        let all: Vec<usize> = (0..bits).rev().collect();
        let first = block_masks(&all, self.0, k);
        let Some(second) = self.1 else { return first };
        let rest = |mask: u64| all.iter().copied().filter(|bit| mask >> bit & 1 == 0).collect::<Vec<_>>();
        first
            .into_iter()
            .flat_map(|mask| block_masks(&rest(mask), second, k).into_iter().map(move |more| mask | more))
            .collect()
    }
}

/// A mask for each choice of all but `k` of the blocks that `places` are cut into, larger blocks first.
fn block_masks(places: &[usize], blocks: usize, k: usize) -> Vec<u64> {
    let (size, larger) = (places.len() / blocks, places.len() % blocks);
    let start = |block: usize| block * size + block.min(larger);
    let block = |number: usize| {
        places[start(number)..start(number + 1)].iter().fold(0u64, |mask, bit| mask | 1 << bit)
    };
    let choices = (0u64..1 << blocks).filter(|choice| choice.count_ones() as usize == blocks - k);
    choices
        .map(|choice| (0..blocks).filter(|n| choice >> n & 1 == 1).fold(0, |mask, n| mask | block(n)))
        .collect()
}

/// Stored fingerprints, those that are looked up, and what a scan finds for each of them.
struct FingerprintSet {
    name: &'static str,
    stored: Vec<[u64; 1]>,
    queries: Vec<[u64; 1]>,
    /// Number and distance of every stored fingerprint within [`MAX_DISTANCE`] bits, by query.
    near: Vec<Vec<(u32, u32)>>,
    /// Microseconds of a scan for one query.
    scan: f64,
}

impl FingerprintSet {
    fn new(
        name: &'static str,
        stored: Vec<[u64; 1]>,
        queries: Vec<[u64; 1]>,
        context: &ExperimentContext<'_>,
    ) -> Result<Self, LabError> {
        let mut near = Vec::with_capacity(queries.len());
        let begun = Instant::now();
        for query in &queries {
            context.watch.check()?;
            let distance = |stored: &[u64; 1]| (stored[0] ^ query[0]).count_ones();
            let all = (0..).zip(&stored).map(|(number, stored)| (number, distance(stored)));
            near.push(all.filter(|(_, distance)| *distance <= MAX_DISTANCE).collect());
        }
        let scan = begun.elapsed().as_secs_f64() * 1e6 / queries.len().max(1) as f64;
        Ok(FingerprintSet { name, stored, queries, near, scan })
    }

    /// Random fingerprints; half of the queries are stored ones with a few bits flipped.
    fn random(context: &ExperimentContext<'_>) -> Result<Self, LabError> {
        let mut draws = Draws::new(context.seed, 12);
        let count = STORED.min(STORED_EACH.saturating_mul(context.documents)).max(1);
        let stored: Vec<[u64; 1]> = (0..count).map(|_| [draws.next()]).collect();
        let query = |number: usize| {
            if number.is_multiple_of(2) {
                return [draws.next()];
            }
            let [mut fingerprint] = stored[draws.below(stored.len())];
            let flips = draws.below(MAX_DISTANCE as usize + 2);
            draws.distinct(flips, BITS).into_iter().for_each(|bit| fingerprint ^= 1 << bit);
            [fingerprint]
        };
        let queries = (0..QUERIES).map(query).collect();
        FingerprintSet::new("random", stored, queries, context)
    }

    /// Fingerprints of the documents of a collection, some of which are looked up.
    fn of_documents(analysed: &AnalysedTexts<'_>, context: &ExperimentContext<'_>) -> Result<Self, LabError> {
        let setting = Setting { seed: context.seed, ..Setting::default() };
        let sketcher = Sketcher::new("simhash:n=3+5", &setting, &Profile::web())?;
        let mut buffer = Sketch::default();
        let mut stored = Vec::with_capacity(analysed.len());
        for page in analysed.pages() {
            context.watch.check()?;
            let sketched = sketcher.sketch(&page, &mut buffer);
            let bytes = sketched.payload.first_chunk().filter(|_| !sketched.keys.is_empty());
            stored.extend(bytes.map(|bytes| [u64::from_le_bytes(*bytes)]));
        }
        let mut draws = Draws::new(context.seed, 13);
        let places = draws.distinct(QUERIES, stored.len());
        let queries = places.into_iter().map(|place| stored[place]).collect();
        FingerprintSet::new("documents", stored, queries, context)
    }
}

/// The results of one design.
struct Outcome {
    k: usize,
    blocks: Blocks,
    tables: u64,
    shortest: u32,
    /// Candidates of a query, on average: fingerprints that agree with it in a key.
    candidates: f64,
    /// Candidates expected from the number of stored fingerprints and the lengths of keys.
    expected: f64,
    /// Fingerprints that were compared with a query.
    compared: f64,
    microseconds: f64,
    bytes: u64,
    found: u64,
    missed: u64,
}

fn outcome(
    set: &FingerprintSet,
    k: usize,
    blocks: Blocks,
    context: &ExperimentContext<'_>,
) -> Result<Outcome, LabError> {
    let tables = HammingTables::new(&set.stored, BITS, k as u32, &blocks.to_string())?;
    let masks = blocks.masks(BITS, k);
    let queries = set.queries.len().max(1) as f64;
    // Once to see what is found, and once for the time.
    let (mut found, mut missed) = (0, 0);
    for (query, near) in set.queries.iter().zip(&set.near) {
        context.watch.check()?;
        let mut seen = Vec::new();
        tables.near(query, |number, distance| seen.push((number, distance)));
        seen.sort_unstable();
        let near: Vec<(u32, u32)> =
            near.iter().copied().filter(|(_, distance)| *distance <= k as u32).collect();
        found += seen.len() as u64;
        missed += near.iter().filter(|one| seen.binary_search(one).is_err()).count() as u64;
    }
    let begun = Instant::now();
    let mut compared = 0;
    for query in &set.queries {
        compared += tables.near(query, |number, _| {
            black_box(number);
        });
    }
    let microseconds = begun.elapsed().as_secs_f64() * 1e6 / queries;
    let counted = &set.queries[..set.queries.len().min(COUNTED)];
    let agree =
        |query: &[u64; 1], stored: &[u64; 1]| masks.iter().any(|mask| (stored[0] ^ query[0]) & mask == 0);
    let candidates: usize =
        counted.iter().map(|query| set.stored.iter().filter(|stored| agree(query, stored)).count()).sum();
    Ok(Outcome {
        k,
        blocks,
        tables: tables.tables() as u64,
        shortest: masks.iter().map(|mask| mask.count_ones()).min().unwrap_or(0),
        candidates: candidates as f64 / counted.len().max(1) as f64,
        expected: masks
            .iter()
            .map(|mask| set.stored.len() as f64 * (-f64::from(mask.count_ones())).exp2())
            .sum(),
        compared: compared as f64 / queries,
        microseconds,
        bytes: tables.bytes() as u64,
        found,
        missed,
    })
}

fn run(context: &ExperimentContext<'_>) -> Result<Study, LabError> {
    let collection = context.collection(CollectionKind::News)?;
    let items = collection.items(context.documents, context.seed, &[], context.watch)?;
    let texts = items.iter().map(|item| item.text.as_str());
    let analysed = AnalysedTexts::new(&Profile::web(), texts, context.watch)?;
    let sets = [FingerprintSet::random(context)?, FingerprintSet::of_documents(&analysed, context)?];
    let mut study = context.study(&EXPERIMENT, Some(&collection));
    study.fact("bits", BITS.to_string());
    let mut outcomes = Vec::new();
    for set in &sets {
        study.fact(format!("fingerprints stored, {}", set.name), set.stored.len().to_string());
        study.fact(format!("fingerprints looked up, {}", set.name), set.queries.len().to_string());
        let all = DESIGNS.iter().map(|&(k, blocks)| outcome(set, k, blocks, context));
        outcomes.push((set, all.collect::<Result<Vec<Outcome>, LabError>>()?));
    }
    report(&mut study, &outcomes);
    Ok(study)
}

fn report(study: &mut Study, outcomes: &[(&FingerprintSet, Vec<Outcome>)]) {
    let all = || outcomes.iter().flat_map(|(_, outcomes)| outcomes);
    let missed: u64 = all().map(|outcome| outcome.missed).sum();
    let found: u64 = all().map(|outcome| outcome.found).sum();
    let (random, designs) = &outcomes[0];
    let fastest = designs
        .iter()
        .filter(|outcome| outcome.k == 3)
        .min_by(|a, b| a.microseconds.total_cmp(&b.microseconds));
    let fastest = fastest.map_or_else(String::new, |fastest| {
        format!(
            " Within 3 bits of one of {} random fingerprints, {} blocks are fastest: {:.2} microseconds, {:.0} times less than \
             a scan.",
            random.stored.len(),
            fastest.blocks,
            fastest.microseconds,
            random.scan / fastest.microseconds
        )
    });
    study.lead = format!(
        "{} of the {} fingerprints that scans find are missed by the {} designs.{fastest}",
        missed,
        found + missed,
        DESIGNS.len()
    );
    for (set, outcomes) in outcomes {
        study.table(table(set, outcomes));
    }
    study.table(published());
    study.text(
        "Candidates are fingerprints that agree with a query in a key, each counted once. These tables look at the first bits of \
         a key only, as many as leave a few fingerprints to a place, and compare what stands there; so they compare more than \
         there are candidates where keys are long, and save a search. Fingerprints of documents are not spread evenly, which \
         makes for more candidates than expected.",
    );
    study.notes.push("Times are of this machine and this run; all else follows from the seed. A scan counts bits without an instruction that \
         older processors lack, and tables with it.".to_owned());
}

fn table(set: &FingerprintSet, outcomes: &[Outcome]) -> Grid {
    let heads = [
        "k",
        "blocks",
        "tables",
        "shortest key, bits",
        "candidates per query",
        "expected by chance",
        "compared per query",
        "microseconds per query",
        "a scan takes",
        "memory, MB",
        "found",
        "missed",
    ];
    let mut grid = Grid::new(format!("{} fingerprints, {}", set.stored.len(), set.name), heads);
    for outcome in outcomes {
        grid.row([
            Value::Count(outcome.k as u64),
            Value::from(outcome.blocks.to_string()),
            Value::Count(outcome.tables),
            Value::Count(outcome.shortest.into()),
            Value::from(outcome.candidates),
            Value::from(outcome.expected),
            Value::from(outcome.compared),
            Value::from(outcome.microseconds),
            Value::from(set.scan),
            Value::from(outcome.bytes as f64 / 1e6),
            Value::Count(outcome.found),
            Value::Count(outcome.missed),
        ]);
    }
    grid
}

/// The designs of the paper for 2^34 fingerprints, as reckoned here and as published.
fn published() -> Grid {
    let heads = [
        "blocks",
        "tables",
        "published",
        "shortest key, bits",
        "published",
        "most candidates of a lookup",
        "published, up to",
    ];
    let mut grid = Grid::new("Designs for 2^34 fingerprints and k = 3", heads);
    for (blocks, tables, shortest, log) in PUBLISHED {
        let masks = blocks.masks(BITS, 3);
        let own = masks.iter().map(|mask| mask.count_ones()).min().unwrap_or(0);
        grid.row([
            Value::from(blocks.to_string()),
            Value::Count(masks.len() as u64),
            Value::Count(tables),
            Value::Count(own.into()),
            Value::Count(shortest),
            Value::from((34.0 - f64::from(own)).exp2()),
            Value::from(f64::from(log).exp2()),
        ]);
    }
    grid
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sketches::testing;
    use lookalike::report::study::Block;
    use lookalike::walk::Watch;

    #[test]
    fn masks_are_those_of_the_thesis() {
        for ((blocks, k), tables) in
            [((4, 2), 6), ((4, 1), 4), ((5, 2), 10), ((6, 3), 20), ((8, 4), 70), ((3, 1), 3)]
        {
            assert_eq!(Blocks(blocks, None).masks(BITS, k).len(), tables);
        }
        let mut example = Blocks(4, None).masks(8, 2);
        example.sort_unstable();
        let mut expected = [0b1111_0000, 0b1100_1100, 0b1100_0011, 0b0011_1100, 0b0011_0011, 0b0000_1111];
        expected.sort_unstable();
        assert_eq!(example, expected);
        for (blocks, tables, shortest, _) in PUBLISHED {
            let masks = blocks.masks(BITS, 3);
            assert_eq!(masks.len() as u64, tables, "{blocks}");
            assert_eq!(
                masks.iter().map(|mask| u64::from(mask.count_ones())).min(),
                Some(shortest),
                "{blocks}"
            );
        }
    }

    #[test]
    fn what_a_scan_finds_has_an_equal_key_and_is_found() {
        let watch = Watch::default();
        let context = ExperimentContext { documents: 30, ..testing::context(&[], &watch) };
        let set = FingerprintSet::random(&context).unwrap();
        assert_eq!(set.stored.len(), 3_000);
        for (k, blocks) in DESIGNS {
            let masks = blocks.masks(BITS, k);
            for (query, near) in set.queries.iter().zip(&set.near) {
                for (number, _) in near.iter().filter(|(_, distance)| *distance as usize <= k) {
                    let other = set.stored[*number as usize];
                    assert!(masks.iter().any(|mask| (query[0] ^ other[0]) & mask == 0), "{k} {blocks}");
                }
            }
            let outcome = outcome(&set, k, blocks, &context).unwrap();
            assert_eq!((outcome.missed, outcome.tables), (0, masks.len() as u64), "{k} {blocks}");
            assert!(outcome.found > 20 && outcome.compared >= outcome.candidates, "{k} {blocks}");
        }
    }

    #[test]
    fn a_small_collection_is_enough() {
        let watch = Watch::default();
        let mut texts = testing::texts(40, 60);
        texts.push(texts[0].clone());
        let study = run(&ExperimentContext { documents: 41, ..testing::context(&texts, &watch) }).unwrap();
        let Block::Table(grid) = &study.blocks[1] else { panic!("{:?}", study.blocks[1]) };
        assert_eq!(grid.rows.len(), DESIGNS.len());
        // Each document itself, and the two equal ones each other.
        assert!(grid.rows.iter().all(|row| row[11] == Value::Count(0)), "{grid:?}");
        assert_eq!(grid.rows[0][10], Value::Count(41 + 2));
        assert!(study.lead.starts_with("0 of the "), "{}", study.lead);
    }
}
