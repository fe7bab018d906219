//! Stage `match`: documents of one address come together; what is shared is counted, and what is needed of it is noted.

use std::sync::atomic::Ordering;

use lookalike::engine::EngineError;
use lookalike::store::sort::{Rebased, Sorter, clear};
use lookalike::store::strings::{self, OrderedStrings, StringSorter};
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

#[cfg(test)]
mod tests {
    use lookalike::store::sort::Sorted;
    use proptest::prelude::*;

    use super::*;
    use crate::fixture::Fixture;

    fn key(host: u64, digest: u128, side: u8, number: u32) -> Key {
        Key { host, digest, side, number, depth: 1, judged: false }
    }

    fn hosts(fixture: &Fixture, all: &[(u64, &str)]) -> OrderedStrings {
        let mut hosts = strings::fresh(fixture.work.run_location("hosts"), 0, 1 << 12).unwrap();
        for (hash, name) in all {
            hosts.add(&[&hash.to_be_bytes()[..], name.as_bytes()].concat(), &[]).unwrap();
        }
        hosts.sorted().unwrap()
    }

    /// Joins keys of the hosts 1, `a.org`, and 2, `b.com`.
    fn joined(fixture: &Fixture, keys: &[Key]) -> JoinFacts {
        let ctx = fixture.ctx();
        let mut join = Join::new(&ctx, hosts(fixture, &[(1, "a.org"), (2, "b.com")])).unwrap();
        keys.iter().for_each(|key| join.take(*key).unwrap());
        join.finish().unwrap()
    }

    fn requests(fixture: &Fixture, joined: &JoinFacts, side: usize) -> Vec<FetchRequest> {
        let place = fixture.work.run_location(&wanted_name(side));
        let mut sorted = Sorted::open(FetchRequestCodec, &place, joined.wanted[side]).unwrap();
        std::iter::from_fn(|| sorted.next().unwrap().map(FetchRequest::unpack)).collect()
    }

    fn rows(fixture: &Fixture, joined: &JoinFacts) -> Vec<(String, Row)> {
        let texts = fixture.texts(ROWS, COLUMNS, joined.rows).into_iter();
        texts.map(|(name, row)| (String::from_utf8(name).unwrap(), Row::from_numbers(&row))).collect()
    }

    fn group(counts: &[u64]) -> Group {
        Group { counts: counts.to_vec(), first: vec![Vec::new(); counts.len()], ..Group::default() }
    }

    fn counted(counts: &[u64]) -> Vec<[u64; 4]> {
        let mut times = vec![SnapshotCounts::default(); counts.len() - 1];
        count_snapshots(&group(counts), &mut times);
        times.iter().map(|time| [time.still, time.always, time.new, time.kept]).collect()
    }

    #[test]
    fn a_page_that_stays_is_always_there() {
        assert_eq!(counted(&[1, 2, 1]), [[1, 1, 0, 1], [1, 1, 0, 1]]);
    }

    #[test]
    fn a_page_that_comes_back_is_still_there_but_not_always() {
        assert_eq!(counted(&[1, 0, 3, 1]), [[0; 4], [1, 0, 0, 0], [1, 0, 0, 1]]);
    }

    #[test]
    fn a_page_that_the_left_corpus_lacks_is_new_once() {
        assert_eq!(counted(&[0, 0, 1, 0, 1, 1]), [[0; 4], [0, 0, 1, 0], [0; 4], [0; 4], [0, 0, 0, 1]]);
    }

    #[test]
    fn documents_are_named_up_to_a_bound_and_later_snapshots_have_one() {
        let mut group = group(&[0, 0, 0]);
        for side in 0..3 {
            (0..150).for_each(|number| group.take(&key(1, 1, side, number)));
        }
        assert_eq!(group.counts, [150, 150, 150]);
        assert_eq!(group.first.iter().map(Vec::len).collect::<Vec<_>>(), [100, 100, 1]);
        assert_eq!((group.first[0][99], group.first[2][0]), (99, 0));
    }

    #[test]
    fn nothing_of_a_group_stays_in_the_next() {
        let mut group = group(&[0, 0]);
        group.take(&Key { judged: true, ..key(1, 1, 0, 7) });
        group.begin(&Key { depth: 4, ..key(1, 2, 1, 0) });
        assert_eq!((group.digest, group.depth, group.judged), (2, 4, 0));
        assert_eq!((group.counts, group.first), (vec![0, 0], vec![Vec::new(), Vec::new()]));
    }

    #[test]
    fn hosts_are_found_by_their_hashes_in_order() {
        let fixture = Fixture::empty(1);
        let mut hosts = hosts(&fixture, &[(1, "a.org"), (2, "münchen.de"), (u64::MAX, "")]);
        assert_eq!(name_of(&mut hosts, 2).unwrap(), "münchen.de");
        assert_eq!(name_of(&mut hosts, u64::MAX).unwrap(), "");
        assert_eq!(name_of(&mut hosts, 1).unwrap(), "");
    }

    #[test]
    fn no_addresses_give_no_counts() {
        let fixture = Fixture::empty(2);
        let joined = joined(&fixture, &[]);
        let wanted = JoinFacts {
            urls: vec![0; 3],
            depths: vec![[0; 2]; 21],
            times: vec![SnapshotCounts::default(); 2],
            wanted: vec![0; 3],
            ..JoinFacts::default()
        };
        assert_eq!(joined, wanted);
    }

    #[test]
    fn addresses_of_both_sides_are_shared() {
        let fixture = Fixture::empty(1);
        // Address 10 has two left documents and one right one, 11 is left alone, 12 right alone.
        let keys = [key(1, 10, 0, 5), key(1, 10, 0, 9), key(1, 10, 1, 3), key(1, 11, 0, 6), key(2, 12, 1, 4)];
        let joined = joined(&fixture, &keys);
        assert_eq!((joined.urls.as_slice(), joined.shared_urls), (&[2, 2][..], 1));
        assert_eq!(joined.shared_documents, [2, 1]);
        assert_eq!(joined.depths[1], [2, 1]);
        assert_eq!(joined.depths.iter().map(|depth| depth[0]).sum::<u64>(), 2);
    }

    #[test]
    fn hosts_have_a_row_each() {
        let fixture = Fixture::empty(1);
        let keys = [key(1, 10, 0, 0), key(1, 10, 1, 0), key(1, 11, 0, 1), key(2, 12, 1, 1), key(2, 12, 1, 2)];
        let joined = joined(&fixture, &keys);
        let first = Row {
            left_documents: 2,
            right_documents: 1,
            left_urls: 2,
            right_urls: 1,
            shared_urls: 1,
            shared_documents: 1,
            ..Row::default()
        };
        let second = Row { right_documents: 2, right_urls: 1, ..Row::default() };
        assert_eq!(rows(&fixture, &joined), [("a.org".to_owned(), first), ("b.com".to_owned(), second)]);
    }

    #[test]
    fn judged_documents_are_counted_alone_and_where_shared() {
        let fixture = Fixture::empty(1);
        let judged = |digest, number| Key { judged: true, ..key(1, digest, 0, number) };
        let keys = [judged(10, 0), key(1, 10, 0, 1), key(1, 10, 1, 0), judged(11, 2), key(1, 12, 0, 3)];
        let joined = joined(&fixture, &keys);
        assert_eq!(joined.judged, [2, 1]);
        let (_, row) = &rows(&fixture, &joined)[0];
        assert_eq!((row.judged, row.judged_shared), (2, 1));
    }

    #[test]
    fn documents_of_a_shared_address_are_wanted_for_what_is_needed_of_them() {
        let fixture = Fixture::empty(1);
        let digest = 0x1_0000_0000 + 77;
        let joined = joined(&fixture, &[key(1, digest, 0, 5), key(1, digest, 0, 9), key(1, digest, 1, 3)]);
        let first = FetchRequest { number: 5, group: 5, check: 77, address: true, name: true, text: true };
        let second = FetchRequest { number: 9, address: false, text: false, ..first };
        assert_eq!(requests(&fixture, &joined, 0), [first, second]);
        assert_eq!(requests(&fixture, &joined, 1), [FetchRequest { number: 3, address: false, ..first }]);
    }

    #[test]
    fn nothing_is_wanted_of_an_address_of_one_side() {
        let fixture = Fixture::empty(1);
        let joined = joined(&fixture, &[key(1, 10, 0, 0), key(1, 11, 1, 0)]);
        assert_eq!(joined.wanted, [0, 0]);
    }

    #[test]
    fn an_address_of_a_later_snapshot_is_wanted_for_its_texts_alone() {
        let fixture = Fixture::empty(2);
        let joined =
            joined(&fixture, &[key(1, 10, 0, 4), key(1, 10, 0, 5), key(1, 10, 2, 8), key(1, 10, 2, 9)]);
        let left = FetchRequest { number: 4, group: 4, check: 10, address: true, name: false, text: true };
        assert_eq!(requests(&fixture, &joined, 0), [left]);
        assert_eq!(requests(&fixture, &joined, 1), []);
        assert_eq!(requests(&fixture, &joined, 2), [FetchRequest { number: 8, address: false, ..left }]);
    }

    #[test]
    fn without_a_measure_no_text_is_wanted() {
        let mut fixture = Fixture::empty(2);
        fixture.request.measure = None;
        let joined = joined(&fixture, &[key(1, 10, 0, 4), key(1, 10, 1, 0), key(1, 10, 2, 8)]);
        let texts = |side| requests(&fixture, &joined, side).iter().map(|one| one.text).collect::<Vec<_>>();
        assert_eq!([texts(0), texts(1), texts(2)], [vec![false], vec![false], vec![]]);
    }

    #[test]
    fn documents_beyond_the_bound_are_counted_by_side() {
        let fixture = Fixture::empty(1);
        let documents = |side: u8, count: u32| (0..count).map(move |number| key(1, 10, side, number + 7));
        let joined = joined(&fixture, &documents(0, 103).chain(documents(1, 100)).collect::<Vec<_>>());
        let more = fixture.texts(MORE_NAMES, 0, joined.more);
        let wanted = [&7u32.to_be_bytes()[..], &[MORE], &3u64.to_be_bytes(), &0u64.to_be_bytes()].concat();
        assert_eq!(more, [(wanted, Vec::new())]);
    }

    #[test]
    fn a_hundred_documents_leave_none_to_be_counted() {
        let fixture = Fixture::empty(1);
        let keys: Vec<Key> = (0..2u8).flat_map(|side| (0..100).map(move |n| key(1, 10, side, n))).collect();
        assert_eq!(joined(&fixture, &keys).more, 0);
    }

    #[test]
    fn top_level_domains_are_counted_by_snapshot() {
        let fixture = Fixture::empty(2);
        let keys = [key(1, 10, 0, 0), key(1, 10, 2, 0), key(1, 11, 0, 1), key(2, 12, 0, 2), key(2, 12, 1, 0)];
        let joined = joined(&fixture, &keys);
        let found = fixture.texts(DOMAINS, 9, joined.domains);
        let com = (b"com".to_vec(), vec![1, 1, 0, 0, 0, 0, 0, 0, 0]);
        let org = (b"org".to_vec(), vec![2, 0, 0, 0, 0, 1, 0, 0, 0]);
        assert_eq!(found, [com, org]);
    }

    #[test]
    fn one_snapshot_has_no_counts_over_time() {
        let fixture = Fixture::empty(1);
        assert_eq!(joined(&fixture, &[key(1, 10, 0, 0), key(1, 10, 1, 0)]).domains, 0);
    }

    #[test]
    fn what_was_joined_is_not_joined_again() {
        let fixture = Fixture::empty(1);
        let done = JoinFacts { shared_urls: 42, ..JoinFacts::default() };
        fixture.work.save(FACTS, &done).unwrap();
        assert_eq!(join(&fixture.ctx(), &[]).unwrap(), done);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        #[test]
        fn counts_are_those_of_lists(
            pages in prop::collection::vec((1..3u64, 0..6u128, 0..3u8, any::<bool>()), 0..60),
        ) {
            // An address has one host and one depth.
            let mut keys: Vec<Key> = (0..).zip(&pages).map(|(number, &(host, digest, side, judged))| Key {
                host,
                digest: digest * 2 + u128::from(host),
                side,
                number,
                depth: digest as u8,
                judged: judged && side == 0,
            }).collect();
            keys.sort_by_key(|key| key.pack());
            let fixture = Fixture::empty(2);
            let found = joined(&fixture, &keys);
            let of = |side: u8| keys.iter().filter(move |key| key.side == side);
            let has = |side: u8, key: &Key| of(side).any(|other| other.digest == key.digest);
            let distinct = |side: u8, keep: &dyn Fn(&Key) -> bool| {
                let mut all: Vec<u128> = of(side).filter(|key| keep(key)).map(|key| key.digest).collect();
                all.sort_unstable();
                all.dedup();
                all.len() as u64
            };
            prop_assert_eq!(&found.urls, &[0, 1, 2].map(|side| distinct(side, &|_| true)));
            prop_assert_eq!(found.shared_urls, distinct(0, &|key| has(1, key)));
            let documents = [of(0).filter(|key| has(1, key)).count(), of(1).filter(|key| has(0, key)).count()];
            prop_assert_eq!(found.shared_documents, documents.map(|count| count as u64));
            for depth in 0..6u8 {
                let all = distinct(0, &|key| key.depth == depth);
                let shared = distinct(0, &|key| key.depth == depth && has(1, key));
                prop_assert_eq!(found.depths[usize::from(depth)], [all, shared]);
            }
            let judged: Vec<&Key> = of(0).filter(|key| key.judged).collect();
            let shared = judged.iter().filter(|key| has(1, key)).count();
            prop_assert_eq!(found.judged, [judged.len() as u64, shared as u64]);
        }
    }
}
