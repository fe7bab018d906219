//! Stage 2: documents of one address come together; what is shared is counted, and what is needed of it is noted.

use std::sync::atomic::Ordering;

use lookalike::engine::EngineError;
use lookalike::engine::store::sort::{Rebased, Sorter, clear};
use lookalike::engine::store::strings::{self, OrderedStrings, StringSorter};
use lookalike::walk::Stage;
use lookalike_overlap::address::top_level;
use serde::{Deserialize, Serialize};

use crate::Context;
use crate::fetch_request::{FetchRequest, FetchRequestCodec};
use crate::keys::{DEEPEST, Key, KeyCodec};
use crate::read::Side;
use crate::rows::{COLUMNS, Row};

/// Most documents of one address that are named, on each side.
pub(crate) const MOST_NAMED: usize = 100;

/// Kinds of names, in the order in which they are needed.
pub(crate) const ADDRESS: u8 = 0;
pub(crate) const LEFT: u8 = 1;
pub(crate) const RIGHT: u8 = 2;
/// The kind of the counts of documents that are not named, of the left and of the right side.
pub(crate) const MORE: u8 = 3;

/// The results of the join.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct JoinFacts {
    /// Different addresses of each side.
    pub(crate) urls: Vec<u64>,
    /// Addresses that the left corpus shares with the first snapshot.
    pub(crate) shared_urls: u64,
    /// Documents that have them, on the left side and on the right side.
    pub(crate) shared_documents: [u64; 2],
    /// Judged documents with an address, and those that have a shared one.
    pub(crate) judged: [u64; 2],
    /// Left addresses by depth, and those that are shared.
    pub(crate) depths: Vec<[u64; 2]>,
    /// For each snapshot.
    pub(crate) times: Vec<SnapshotCounts>,
    /// Runs of wanted documents, by side.
    pub(crate) wanted: Vec<usize>,
    /// Runs of rows by host.
    pub(crate) rows: usize,
    /// Runs of counts by top-level domain.
    pub(crate) domains: usize,
    /// Runs of counts of documents that are not named.
    pub(crate) more: usize,
}

/// Counts of the addresses of one snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct SnapshotCounts {
    /// Left addresses that are there.
    pub(crate) still: u64,
    /// Left addresses that are in this and all earlier snapshots.
    pub(crate) always: u64,
    /// Addresses that are in no earlier snapshot and not in the left corpus.
    pub(crate) new: u64,
    /// Addresses of the snapshot before (the left corpus before the first) that are there.
    pub(crate) kept: u64,
}

const FACTS: &str = "joined";

/// Joins all sides, unless that was done.
pub(crate) fn join(ctx: &Context<'_>, sides: &[Side]) -> Result<JoinFacts, EngineError> {
    if let Some(done) = ctx.work.saved(FACTS)? {
        return Ok(done);
    }
    let documents = sides.iter().map(|side| side.counts.with_url()).sum();
    ctx.watch.begin(Stage { name: "match", total: Some(documents), reads: false });
    let runs: Vec<_> = sides.iter().flat_map(|side| side.keys.iter().cloned()).collect();
    clear(&ctx.work.run_location("keys"))?;
    clear(&ctx.work.run_location("hosts"))?;
    let mut keys = Rebased::open(KeyCodec, &ctx.work.run_location("keys"), &runs)?;
    let hosts = sides.iter().flat_map(|side| side.hosts.iter().cloned()).collect();
    let mut join = Join::new(ctx, OrderedStrings::merge(&ctx.work.run_location("hosts"), 0, hosts)?)?;
    let mut seen = 0u64;
    while let Some(packed) = keys.next()? {
        join.take(Key::unpack(packed))?;
        seen += 1;
        if seen.is_multiple_of(1 << 16) {
            ctx.watch.steps.store(seen, Ordering::Relaxed);
            ctx.watch.check()?;
        }
    }
    let joined = join.finish()?;
    ctx.work.save(FACTS, &joined)?;
    Ok(joined)
}

/// Documents of one address, as far as they have come.
#[derive(Debug, Default)]
struct Group {
    digest: u128,
    depth: u8,
    /// Documents of each side.
    counts: Vec<u64>,
    /// Judged ones of the left side.
    judged: u64,
    /// The first documents of each side: as many as are named of the first two, one of the others.
    first: Vec<Vec<u32>>,
}

impl Group {
    fn begin(&mut self, key: &Key) {
        self.digest = key.digest;
        self.depth = key.depth;
        self.counts.fill(0);
        self.judged = 0;
        self.first.iter_mut().for_each(Vec::clear);
    }

    fn take(&mut self, key: &Key) {
        let side = usize::from(key.side);
        self.counts[side] += 1;
        self.judged += u64::from(key.judged);
        let most = if side < 2 { MOST_NAMED } else { 1 };
        if self.first[side].len() < most {
            self.first[side].push(key.number);
        }
    }

    fn has(&self, side: usize) -> bool {
        self.counts[side] > 0
    }
}

struct Join<'c> {
    ctx: &'c Context<'c>,
    joined: JoinFacts,
    group: Group,
    /// A group is under way.
    begun: bool,
    host: u64,
    row: Row,
    /// Left addresses of the host, then those that are in each snapshot.
    still: Vec<u64>,
    hosts: OrderedStrings,
    wanted: Vec<Sorter<FetchRequestCodec>>,
    rows: StringSorter,
    domains: StringSorter,
    more: StringSorter,
}

impl<'c> Join<'c> {
    fn new(ctx: &'c Context<'c>, hosts: OrderedStrings) -> Result<Self, EngineError> {
        let sides = ctx.request.corpora.len();
        let part = ctx.buffer_bytes as usize / 8;
        let sorter = |side: usize| {
            let place = ctx.work.run_location(&wanted_name(side));
            clear(&place)?;
            Ok(Sorter::new(place, FetchRequestCodec, 4 * part / sides))
        };
        let wanted: Result<_, EngineError> = (0..sides).map(sorter).collect();
        Ok(Join {
            ctx,
            joined: JoinFacts {
                urls: vec![0; sides],
                depths: vec![[0; 2]; DEEPEST + 1],
                times: vec![SnapshotCounts::default(); sides - 1],
                ..JoinFacts::default()
            },
            group: Group { counts: vec![0; sides], first: vec![Vec::new(); sides], ..Group::default() },
            begun: false,
            host: 0,
            row: Row::default(),
            still: vec![0; sides],
            hosts,
            wanted: wanted?,
            rows: strings::fresh(ctx.work.run_location(ROWS), COLUMNS, part)?,
            domains: strings::fresh(ctx.work.run_location(DOMAINS), domain_columns(ctx), part)?,
            more: strings::fresh(ctx.work.run_location(MORE_NAMES), 0, part)?,
        })
    }

    fn take(&mut self, key: Key) -> Result<(), EngineError> {
        if !self.begun || key.digest != self.group.digest || key.host != self.host {
            self.end_group()?;
            if self.begun && key.host != self.host {
                self.end_host()?;
            }
            self.host = key.host;
            self.begun = true;
            self.group.begin(&key);
        }
        self.group.take(&key);
        match key.side {
            0 => {
                self.row.left_documents += 1;
                self.row.judged += u64::from(key.judged);
                self.joined.judged[0] += u64::from(key.judged);
            }
            1 => self.row.right_documents += 1,
            _ => {}
        }
        Ok(())
    }

    /// Counts an address that is complete.
    fn end_group(&mut self) -> Result<(), EngineError> {
        if !self.begun {
            return Ok(());
        }
        let (group, joined, row) = (&self.group, &mut self.joined, &mut self.row);
        for (side, urls) in joined.urls.iter_mut().enumerate() {
            *urls += u64::from(group.has(side));
        }
        count_snapshots(group, &mut joined.times);
        row.right_urls += u64::from(group.has(1));
        if !group.has(0) {
            return Ok(());
        }
        row.left_urls += 1;
        self.still.iter_mut().enumerate().for_each(|(side, still)| *still += u64::from(group.has(side)));
        let depth = &mut joined.depths[usize::from(group.depth).min(DEEPEST)];
        depth[0] += 1;
        if group.has(1) {
            depth[1] += 1;
            row.shared_urls += 1;
            row.shared_documents += group.counts[0];
            row.judged_shared += group.judged;
            joined.shared_urls += 1;
            joined.shared_documents[0] += group.counts[0];
            joined.shared_documents[1] += group.counts[1];
            joined.judged[1] += group.judged;
        }
        self.request_documents()
    }

    /// Notes which documents of the address must be read again, and for what.
    fn request_documents(&mut self) -> Result<(), EngineError> {
        let group = &self.group;
        let leader = group.first[0][0];
        let measures = self.ctx.request.measure.is_some();
        let shared = group.has(1);
        if !shared && !(1..group.counts.len()).any(|side| group.has(side)) {
            return Ok(());
        }
        for (side, numbers) in group.first.iter().enumerate() {
            for (place, &number) in numbers.iter().enumerate() {
                let request = FetchRequest {
                    number,
                    group: leader,
                    check: group.digest as u32,
                    address: side == 0 && place == 0,
                    name: shared && side < 2,
                    text: measures && place == 0,
                };
                if request.address || request.name || request.text {
                    self.wanted[side].push(request.pack())?;
                }
            }
        }
        let beyond = |side: usize| group.counts[side].saturating_sub(MOST_NAMED as u64);
        if shared && beyond(0) + beyond(1) > 0 {
            let mut text = leader.to_be_bytes().to_vec();
            text.push(MORE);
            text.extend([beyond(0), beyond(1)].into_iter().flat_map(u64::to_be_bytes));
            self.more.add(&text, &[])?;
        }
        Ok(())
    }

    /// Writes down a host that is complete.
    fn end_host(&mut self) -> Result<(), EngineError> {
        let name = name_of(&mut self.hosts, self.host)?;
        self.rows.add(name.as_bytes(), &self.row.numbers())?;
        if self.ctx.request.snapshots() > 1 {
            let mut amounts = vec![0; domain_columns(self.ctx)];
            amounts[0] = self.still[0];
            for (place, &still) in self.still[1..].iter().enumerate() {
                amounts[1 + place * PER_SNAPSHOT] = still;
            }
            self.domains.add(top_level(&name).as_bytes(), &amounts)?;
        }
        self.row = Row::default();
        self.still.fill(0);
        Ok(())
    }

    fn finish(mut self) -> Result<JoinFacts, EngineError> {
        if self.begun {
            self.end_group()?;
            self.end_host()?;
        }
        let runs = |sorter: Sorter<FetchRequestCodec>| sorter.into_runs().map(|runs| runs.len());
        self.joined.wanted = self.wanted.into_iter().map(runs).collect::<Result<_, _>>()?;
        self.joined.rows = self.rows.into_runs()?.len();
        self.joined.domains = self.domains.into_runs()?.len();
        self.joined.more = self.more.into_runs()?.len();
        Ok(self.joined)
    }
}

/// Rows by host, from this stage.
pub(crate) const ROWS: &str = "rows";
/// Counts by top-level domain and snapshot, from this stage.
pub(crate) const DOMAINS: &str = "domains";
/// Counts of documents that are not named.
pub(crate) const MORE_NAMES: &str = "more";
/// Numbers of a top-level domain for each snapshot: still there, measured, unchanged, near.
pub(crate) const PER_SNAPSHOT: usize = 4;

pub(crate) fn wanted_name(side: usize) -> String {
    format!("wanted{side:03}")
}

/// Left addresses, and then what there is for each snapshot.
pub(crate) fn domain_columns(ctx: &Context<'_>) -> usize {
    1 + PER_SNAPSHOT * ctx.request.snapshots()
}

fn count_snapshots(group: &Group, times: &mut [SnapshotCounts]) {
    let (mut always, mut before) = (group.has(0), group.has(0));
    for (place, time) in times.iter_mut().enumerate() {
        let here = group.has(place + 1);
        always &= here;
        time.still += u64::from(here && group.has(0));
        time.always += u64::from(always);
        time.new += u64::from(here && !before);
        time.kept += u64::from(here && group.has(place));
        before |= here;
    }
}

/// The host with this hash: hosts come in the order of their hashes.
fn name_of(hosts: &mut OrderedStrings, hash: u64) -> Result<String, EngineError> {
    while let Some((text, _)) = hosts.next()? {
        if text[..8] == hash.to_be_bytes() {
            return Ok(String::from_utf8_lossy(&text[8..]).into_owned());
        }
    }
    Ok(String::new())
}
