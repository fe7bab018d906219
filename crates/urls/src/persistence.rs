//! Several snapshots: what became of the left corpus's pages over time.
//!
//! Snapshots are further sides of the same join, so that pages of the left corpus are followed through all of them.

use std::io::Write;

use lookalike::corpus::write::Sink;
use lookalike::corpus::{Compression, CorpusError};
use lookalike::engine::EngineError;
use lookalike::model::rounded;
use lookalike::store::sort::existing;
use lookalike::store::strings::{self, OrderedStrings};
use lookalike::tables::snapshots;
use lookalike_overlap::interval::wilson;
use lookalike_overlap::persistence::half_life;
use serde::Serialize;

use crate::Context;
use crate::join::{DOMAINS, JoinFacts, PER_SNAPSHOT, domain_columns};
use crate::measure::{Measurements, Sums};
use crate::overlap::{self, OverlapFacts};
use crate::tables::ROWS_SHOWN;
use crate::tsv::{Tsv, share};

/// The fate of pages over time; empty with one snapshot.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Persistence {
    /// For each snapshot.
    pub(crate) snapshots: Vec<Snapshot>,
    /// For the top-level domains with the most left addresses, each with a row for each snapshot.
    pub(crate) domains: Vec<(String, Vec<Snapshot>)>,
    /// Number of snapshots after which half of the left addresses are gone.
    pub(crate) half_life: Option<f64>,
    /// Number of snapshots after which half of the left shingles are gone.
    pub(crate) shingle_half_life: Option<f64>,
}

/// A line of `snapshots.jsonl`: a snapshot, of all top-level domains or of one.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub(crate) struct Snapshot {
    /// From 1.
    pub(crate) snapshot: usize,
    /// Its name.
    pub(crate) name: String,
    /// The top-level domain of left addresses; all when there is none.
    pub(crate) tld: Option<String>,
    /// Left addresses.
    pub(crate) left_urls: u64,
    /// Those that are there.
    pub(crate) still: u64,
    pub(crate) still_share: Option<f64>,
    pub(crate) still_low: Option<f64>,
    pub(crate) still_high: Option<f64>,
    /// Left addresses that are there whose two documents have words.
    pub(crate) measured: u64,
    /// Those with equal words.
    pub(crate) unchanged: u64,
    pub(crate) unchanged_share: Option<f64>,
    /// Those that are near.
    pub(crate) near: u64,
    pub(crate) near_share: Option<f64>,
    /// Figures that exist only for all top-level domains together.
    #[serde(flatten)]
    pub(crate) all: Option<Overall>,
}

/// Figures of a snapshot as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub(crate) struct Overall {
    /// Different addresses.
    pub(crate) urls: u64,
    /// Left addresses that are in this and all earlier snapshots.
    pub(crate) always: u64,
    pub(crate) always_share: Option<f64>,
    /// Addresses that were nowhere before.
    pub(crate) new: u64,
    /// The mean similarity with the left document.
    pub(crate) mean_similarity: Option<f64>,
    /// Mean share of a left document's shingles that is in its version here, over pages that are there.
    pub(crate) shingles_there: Option<f64>,
    /// The same over all pages: those that are gone have none.
    pub(crate) shingles_all: Option<f64>,
    /// Addresses of the snapshot before that are there.
    pub(crate) kept: u64,
    pub(crate) kept_share: Option<f64>,
    /// Left addresses in this snapshot and the one before it whose two documents have words.
    pub(crate) measured_since: u64,
    pub(crate) unchanged_since: u64,
    pub(crate) unchanged_since_share: Option<f64>,
    pub(crate) near_since: u64,
    pub(crate) near_since_share: Option<f64>,
    pub(crate) mean_similarity_since: Option<f64>,
}

/// Counts that all rows have.
struct Counts {
    left_urls: u64,
    still: u64,
    measured: u64,
    unchanged: u64,
    near: u64,
}

impl Snapshot {
    fn new(ctx: &Context<'_>, place: usize, tld: Option<&str>, counts: &Counts) -> Self {
        let interval = wilson(counts.still, counts.left_urls);
        Snapshot {
            snapshot: place + 1,
            name: ctx.request.names[place + 1].clone(),
            tld: tld.map(str::to_owned),
            left_urls: counts.left_urls,
            still: counts.still,
            still_share: part(counts.still, counts.left_urls),
            still_low: interval.map(|(low, _)| rounded(low)),
            still_high: interval.map(|(_, high)| rounded(high)),
            measured: counts.measured,
            unchanged: counts.unchanged,
            unchanged_share: part(counts.unchanged, counts.measured),
            near: counts.near,
            near_share: part(counts.near, counts.measured),
            all: None,
        }
    }
}

fn part(part: u64, whole: u64) -> Option<f64> {
    share(part, whole).map(rounded)
}

/// Puts together what is known of snapshots, and writes `snapshots.tsv` and `snapshots.jsonl`, if there are several.
pub(crate) fn write(
    ctx: &Context<'_>,
    joined: &JoinFacts,
    measured: &Measurements,
    listed: &OverlapFacts,
) -> Result<Persistence, EngineError> {
    if ctx.request.snapshots() < 2 {
        return Ok(Persistence::default());
    }
    let snapshots: Vec<Snapshot> =
        (0..joined.times.len()).map(|place| overall(ctx, joined, measured, place)).collect();
    let mut files = Files::create(ctx)?;
    snapshots.iter().try_for_each(|snapshot| files.push(snapshot))?;
    let mut domains = Vec::new();
    let mut rows = by_domain(ctx, joined, listed)?;
    while let Some((key, numbers)) = rows.next()? {
        let name = String::from_utf8_lossy(&key[8..]).into_owned();
        let over_time: Vec<Snapshot> = (0..snapshots.len())
            .map(|place| {
                let at = 1 + place * PER_SNAPSHOT;
                let counts = Counts {
                    left_urls: numbers[0],
                    still: numbers[at],
                    measured: numbers[at + 1],
                    unchanged: numbers[at + 2],
                    near: numbers[at + 3],
                };
                Snapshot::new(ctx, place, Some(&name), &counts)
            })
            .collect();
        over_time.iter().try_for_each(|snapshot| files.push(snapshot))?;
        if domains.len() < ROWS_SHOWN {
            domains.push((name, over_time));
        }
    }
    files.finish()?;
    let still: Vec<f64> = snapshots.iter().filter_map(|snapshot| snapshot.still_share).collect();
    let shingles = |snapshot: &Snapshot| snapshot.all.and_then(|all| all.shingles_all);
    let shingles: Vec<f64> = snapshots.iter().filter_map(shingles).collect();
    let whole = |shares: &[f64]| (shares.len() == snapshots.len()).then(|| half_life(shares)).flatten();
    Ok(Persistence { half_life: whole(&still), shingle_half_life: whole(&shingles), snapshots, domains })
}

fn overall(ctx: &Context<'_>, joined: &JoinFacts, measured: &Measurements, place: usize) -> Snapshot {
    let (time, sums) = (joined.times[place], measured.with_left[place]);
    let left_urls = joined.urls[0];
    let counts = Counts {
        left_urls,
        still: time.still,
        measured: sums.pairs,
        unchanged: sums.unchanged,
        near: sums.near,
    };
    let contained = measured.contained.get(place).copied();
    let mean = |over: u64| contained.filter(|_| over > 0).map(|sum| rounded(sum / over as f64));
    // Pages that are there and have no words on one side tell nothing.
    let gone = left_urls - time.still;
    let since = if place == 0 { sums } else { measured.with_last[place - 1] };
    Snapshot {
        all: Some(Overall {
            urls: joined.urls[place + 1],
            always: time.always,
            always_share: part(time.always, left_urls),
            new: time.new,
            mean_similarity: sums.mean().map(rounded),
            shingles_there: mean(sums.pairs),
            shingles_all: mean(sums.pairs + gone).filter(|_| sums.pairs > 0),
            kept: time.kept,
            kept_share: part(time.kept, joined.urls[place]),
            ..since_last(&since)
        }),
        ..Snapshot::new(ctx, place, None, &counts)
    }
}

fn since_last(sums: &Sums) -> Overall {
    Overall {
        measured_since: sums.pairs,
        unchanged_since: sums.unchanged,
        unchanged_since_share: part(sums.unchanged, sums.pairs),
        near_since: sums.near,
        near_since_share: part(sums.near, sums.pairs),
        mean_similarity_since: sums.mean().map(rounded),
        ..Overall::default()
    }
}

/// Counts by top-level domain, those with the most left addresses first.
fn by_domain(
    ctx: &Context<'_>,
    joined: &JoinFacts,
    listed: &OverlapFacts,
) -> Result<OrderedStrings, EngineError> {
    let columns = domain_columns(ctx);
    let mut runs: Vec<_> =
        existing(&ctx.work.run_location(DOMAINS))?.into_iter().take(joined.domains).collect();
    runs.extend(existing(&ctx.work.run_location(overlap::DOMAINS))?.into_iter().take(listed.domains));
    let mut by_name = OrderedStrings::merge(&ctx.work.run_location(DOMAINS), columns, runs)?;
    let place = ctx.work.run_location("table-domains");
    let mut ordered = strings::fresh(place, columns, ctx.buffer_bytes as usize / 8)?;
    while let Some((name, numbers)) = by_name.next()? {
        if numbers[0] > 0 {
            let name: &[u8] = if name.is_empty() { b"(no host)" } else { name };
            ordered.add(&[&(!numbers[0]).to_be_bytes(), name].concat(), numbers)?;
        }
    }
    Ok(ordered.sorted()?)
}

/// The two files.
struct Files {
    table: Tsv,
    lines: Sink,
    name: String,
}

impl Files {
    fn create(ctx: &Context<'_>) -> Result<Self, EngineError> {
        let path = ctx.work.result("snapshots.jsonl");
        Ok(Files {
            table: Tsv::create(&ctx.work.result("snapshots.tsv"), snapshots::TABLE)?,
            lines: Sink::create(&path, Compression::None)?,
            name: path.display().to_string(),
        })
    }

    fn push(&mut self, snapshot: &Snapshot) -> Result<(), EngineError> {
        let table = &mut self.table;
        table.text(snapshot.tld.as_deref().unwrap_or("*"));
        table.count(snapshot.snapshot as u64);
        table.text(&snapshot.name);
        table.count(snapshot.left_urls);
        table.part(snapshot.still, snapshot.left_urls);
        table.number(snapshot.still_low);
        table.number(snapshot.still_high);
        table.count(snapshot.measured);
        table.part(snapshot.unchanged, snapshot.measured);
        table.part(snapshot.near, snapshot.measured);
        if let Some(all) = &snapshot.all {
            table.count(all.urls);
            table.part(all.always, snapshot.left_urls);
            table.count(all.new);
            table.number(all.mean_similarity);
            table.number(all.shingles_there);
            table.number(all.shingles_all);
            table.count(all.kept);
            table.number(all.kept_share);
            table.count(all.measured_since);
            table.part(all.unchanged_since, all.measured_since);
            table.part(all.near_since, all.measured_since);
            table.number(all.mean_similarity_since);
        } else {
            (snapshots::COLUMNS_BY_DOMAIN..snapshots::TABLE.columns.len()).for_each(|_| table.number(None));
        }
        table.end()?;
        let mut line = serde_json::to_vec(snapshot).expect("counts can be written");
        line.push(b'\n');
        let written = self.lines.write_all(&line);
        written.map_err(|source| CorpusError::Write { name: self.name.clone(), source })?;
        Ok(())
    }

    fn finish(self) -> Result<(), EngineError> {
        self.table.finish()?;
        Ok(self.lines.finish()?)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;

    use super::*;
    use crate::fixture::Fixture;
    use crate::join::SnapshotCounts;

    fn sums(pairs: u64, unchanged: u64, near: u64, sum: f64) -> Sums {
        Sums { pairs, unchanged, near, sum }
    }

    /// Ten left addresses; six are in the first snapshot, three in the second.
    fn joined() -> JoinFacts {
        JoinFacts {
            urls: vec![10, 8, 5],
            times: vec![
                SnapshotCounts { still: 6, always: 6, new: 2, kept: 6 },
                SnapshotCounts { still: 3, always: 2, new: 1, kept: 4 },
            ],
            ..JoinFacts::default()
        }
    }

    fn measured() -> Measurements {
        Measurements {
            with_left: vec![sums(4, 1, 2, 3.0), sums(3, 0, 1, 1.0)],
            with_last: vec![sums(2, 2, 2, 1.5)],
            contained: vec![2.0, 1.0],
            ..Measurements::default()
        }
    }

    fn listed() -> OverlapFacts {
        OverlapFacts { rows: 0, domains: 0, depths: Vec::new() }
    }

    /// Writes counts by top-level domain as the join and the list of addresses leave them behind.
    fn domains(fixture: &Fixture, name: &str, rows: &[(&str, &[u64])]) -> usize {
        let columns = domain_columns(&fixture.ctx());
        let mut sorter = strings::fresh(fixture.work.run_location(name), columns, 1 << 12).unwrap();
        rows.iter().for_each(|(name, numbers)| sorter.add(name.as_bytes(), numbers).unwrap());
        sorter.into_runs().unwrap().len()
    }

    #[test]
    fn one_snapshot_has_no_course() {
        let fixture = Fixture::empty(1);
        let found = write(&fixture.ctx(), &joined(), &measured(), &listed()).unwrap();
        assert_eq!(found, Persistence::default());
        assert!(!fixture.work.result("snapshots.tsv").exists());
    }

    #[test]
    fn a_snapshot_is_told_in_shares_of_the_left_corpus() {
        let fixture = Fixture::empty(2);
        let found = overall(&fixture.ctx(), &joined(), &measured(), 0);
        assert_eq!((found.snapshot, found.name.as_str(), found.tld), (1, "side 1", None));
        assert_eq!((found.left_urls, found.still, found.still_share), (10, 6, Some(0.6)));
        assert_eq!((found.measured, found.unchanged_share, found.near_share), (4, Some(0.25), Some(0.5)));
        let all = found.all.unwrap();
        assert_eq!((all.urls, all.always, all.always_share, all.new), (8, 6, Some(0.6), 2));
        assert_eq!((all.kept, all.kept_share, all.mean_similarity), (6, Some(0.6), Some(0.75)));
        // Wilson's interval of 6 in 10.
        assert!((found.still_low.unwrap() - 0.312_7).abs() < 1e-4, "{:?}", found.still_low);
        assert!((found.still_high.unwrap() - 0.831_8).abs() < 1e-4, "{:?}", found.still_high);
    }

    #[test]
    fn pages_that_are_gone_have_no_shingles() {
        let fixture = Fixture::empty(2);
        let all = overall(&fixture.ctx(), &joined(), &measured(), 0).all.unwrap();
        // Four pages were measured and four are gone.
        assert_eq!((all.shingles_there, all.shingles_all), (Some(0.5), Some(0.25)));
        let all = overall(&fixture.ctx(), &joined(), &measured(), 1).all.unwrap();
        assert_eq!((all.shingles_there, all.shingles_all), (Some(rounded(1.0 / 3.0)), Some(0.1)));
    }

    #[test]
    fn where_nothing_was_measured_shingles_are_not_known() {
        let fixture = Fixture::empty(2);
        let measured = Measurements {
            with_left: vec![Sums::default(); 2],
            with_last: vec![Sums::default()],
            contained: vec![0.0; 2],
            ..Measurements::default()
        };
        let found = overall(&fixture.ctx(), &joined(), &measured, 0);
        assert_eq!((found.unchanged_share, found.near_share), (None, None));
        let all = found.all.unwrap();
        assert_eq!((all.shingles_there, all.shingles_all, all.mean_similarity), (None, None, None));
    }

    #[test]
    fn the_first_snapshot_follows_the_left_corpus_and_the_others_the_one_before() {
        let fixture = Fixture::empty(2);
        let since = |place| {
            let all = overall(&fixture.ctx(), &joined(), &measured(), place).all.unwrap();
            (all.measured_since, all.unchanged_since, all.near_since, all.mean_similarity_since)
        };
        assert_eq!((since(0), since(1)), ((4, 1, 2, Some(0.75)), (2, 2, 2, Some(0.75))));
        let kept = overall(&fixture.ctx(), &joined(), &measured(), 1).all.unwrap();
        assert_eq!((kept.kept, kept.kept_share), (4, Some(0.5)));
    }

    #[test]
    fn domains_with_the_most_left_addresses_come_first() {
        let fixture = Fixture::empty(2);
        let one = |left| [left, 0, 0, 0, 0, 0, 0, 0, 0];
        let from_join = [("com", one(2)), ("de", one(0)), ("org", one(5)), ("", one(2))];
        let rows: Vec<(&str, &[u64])> = from_join.iter().map(|(name, row)| (*name, &row[..])).collect();
        let joined = JoinFacts { domains: domains(&fixture, DOMAINS, &rows), ..joined() };
        // The pages that were measured are counted later.
        let late: [u64; 9] = [0, 0, 3, 2, 1, 0, 0, 0, 0];
        let listed =
            OverlapFacts { domains: domains(&fixture, overlap::DOMAINS, &[("org", &late)]), ..listed() };
        let found = write(&fixture.ctx(), &joined, &measured(), &listed).unwrap();
        let names: Vec<&str> = found.domains.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["org", "(no host)", "com"]);
        let first = &found.domains[0].1[0];
        assert_eq!((first.tld.as_deref(), first.left_urls), (Some("org"), 5));
        assert_eq!((first.measured, first.unchanged, first.near, first.all), (3, 2, 1, None));
    }

    #[test]
    fn half_lives_are_those_of_the_shares() {
        let fixture = Fixture::empty(2);
        let halves = |still: [u64; 2]| JoinFacts {
            urls: vec![8, 8, 8],
            times: still.map(|still| SnapshotCounts { still, ..SnapshotCounts::default() }).to_vec(),
            ..JoinFacts::default()
        };
        let found = write(&fixture.ctx(), &halves([4, 2]), &measured(), &listed()).unwrap();
        assert!((found.half_life.unwrap() - 1.0).abs() < 1e-9, "{:?}", found.half_life);
        let found = write(&fixture.ctx(), &halves([4, 4]), &measured(), &listed()).unwrap();
        assert_eq!(found.half_life, None);
    }

    #[test]
    fn a_left_corpus_without_addresses_has_no_half_life() {
        let fixture = Fixture::empty(2);
        let none = JoinFacts {
            urls: vec![0, 3, 3],
            times: vec![SnapshotCounts::default(); 2],
            ..JoinFacts::default()
        };
        let nothing = Measurements {
            with_left: vec![Sums::default(); 2],
            with_last: vec![Sums::default()],
            contained: vec![0.0; 2],
            ..Measurements::default()
        };
        let found = write(&fixture.ctx(), &none, &nothing, &listed()).unwrap();
        assert_eq!((found.half_life, found.shingle_half_life), (None, None));
        assert_eq!((found.snapshots[0].still_share, found.snapshots[0].still_low), (None, None));
    }

    #[test]
    fn both_files_have_a_line_for_every_snapshot_and_domain() {
        let fixture = Fixture::empty(2);
        let row: [u64; 9] = [10, 6, 4, 1, 2, 3, 3, 0, 1];
        let joined = JoinFacts { domains: domains(&fixture, DOMAINS, &[("org", &row)]), ..joined() };
        write(&fixture.ctx(), &joined, &measured(), &listed()).unwrap();
        let table: Vec<Vec<String>> = fixture
            .lines("snapshots.tsv")
            .iter()
            .map(|line| line.split('\t').map(str::to_owned).collect())
            .collect();
        let heads = snapshots::TABLE.names();
        assert_eq!(table[0], heads);
        assert!(table.iter().all(|cells| cells.len() == heads.len()));
        let keys: Vec<[&str; 3]> =
            table[1..].iter().map(|cells| [0, 1, 2].map(|place| cells[place].as_str())).collect();
        let wanted =
            [["*", "1", "side 1"], ["*", "2", "side 2"], ["org", "1", "side 1"], ["org", "2", "side 2"]];
        assert_eq!(keys, wanted);
        // A domain has no figures of a snapshot as a whole.
        assert!(table[3][13..].iter().all(String::is_empty));
        assert_eq!(table[3][3..6], ["10", "6", "0.600000"]);
        let lines: Vec<Value> =
            fixture.lines("snapshots.jsonl").iter().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(lines.len(), 4);
        // What the table calls by a head has the same name in the lines.
        for (cells, line) in table[1..].iter().zip(&lines) {
            for (head, cell) in heads.iter().zip(cells).skip(3).filter(|(_, cell)| !cell.is_empty()) {
                let (cell, number): (f64, f64) = (cell.parse().unwrap(), line[*head].as_f64().unwrap());
                assert!((cell - number).abs() < 1e-6, "{head}: {cell} {number}");
            }
        }
        assert!(lines[2].get("urls").is_none());
    }

    #[test]
    fn lines_of_snapshots_have_the_columns_of_the_table() {
        let names = |snapshot: &Snapshot| -> BTreeSet<String> {
            let line = serde_json::to_value(snapshot).unwrap();
            line.as_object().unwrap().keys().cloned().collect()
        };
        let columns = |count: usize| -> BTreeSet<String> {
            snapshots::TABLE.names().into_iter().take(count).map(str::to_owned).collect()
        };
        let whole = Snapshot { all: Some(Overall::default()), ..Snapshot::default() };
        assert_eq!(names(&whole), columns(usize::MAX));
        assert_eq!(names(&Snapshot::default()), columns(snapshots::COLUMNS_BY_DOMAIN));
    }
}
