//! Stage `write`, the overlap: shared addresses become lines, and what was measured is added to their hosts.

use std::io::Write;
use std::sync::atomic::Ordering;

use lookalike::corpus::write::Sink;
use lookalike::corpus::{Compression, CorpusError};
use lookalike::engine::EngineError;
use lookalike::model::rounded;
use lookalike::store::sort::existing;
use lookalike::store::strings::{self, OrderedStrings, StringSorter};
use lookalike::tables::overlap::OverlapRow;
use lookalike::walk::Stage;
use lookalike_overlap::address::top_level;
use serde::{Deserialize, Serialize};

use crate::Context;
use crate::fetch::{FetchFacts, NAMES};
use crate::join::{ADDRESS, JoinFacts, LEFT, MORE, MORE_NAMES, PER_SNAPSHOT, RIGHT, domain_columns};
use crate::keys::{DEEPEST, ParsedAddress};
use crate::page_fate::{PageFate, PageFateReader};
use crate::rows::{COLUMNS, Row};

/// The facts that the stage saves beside its files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct OverlapFacts {
    /// Runs of rows by host.
    pub(crate) rows: usize,
    /// Runs of counts by top-level domain.
    pub(crate) domains: usize,
    /// Measured pairs by depth, and near ones.
    pub(crate) depths: Vec<[u64; 2]>,
}

const FACTS: &str = "listed";
/// Rows by host, from this stage.
pub(crate) const ROWS: &str = "measured-rows";
/// Counts by top-level domain and snapshot, from this stage.
pub(crate) const DOMAINS: &str = "measured-domains";

/// Writes `overlap.jsonl`, unless that was done.
pub(crate) fn list(
    ctx: &Context<'_>,
    joined: &JoinFacts,
    fetched: &FetchFacts,
) -> Result<OverlapFacts, EngineError> {
    if let Some(done) = ctx.work.saved(FACTS)? {
        return Ok(done);
    }
    let total = (ctx.request.snapshots() == 1).then_some(joined.shared_urls);
    ctx.watch.begin(Stage { name: "write", total, reads: false });
    let part = ctx.buffer_bytes as usize / 8;
    let path = ctx.work.result("overlap.jsonl");
    let mut writer = OverlapWriter {
        ctx,
        sink: Sink::create(&path, Compression::None)?,
        name: path.display().to_string(),
        fate_reader: PageFateReader::open(ctx)?,
        rows: strings::fresh(ctx.work.run_location(ROWS), COLUMNS, part)?,
        domains: strings::fresh(ctx.work.run_location(DOMAINS), domain_columns(ctx), part)?,
        depths: vec![[0; 2]; DEEPEST + 1],
        shared: SharedAddress::default(),
        fates: Vec::new(),
    };
    let mut runs: Vec<_> = existing(&ctx.work.run_location(NAMES))?.into_iter().take(fetched.names).collect();
    runs.extend(existing(&ctx.work.run_location(MORE_NAMES))?.into_iter().take(joined.more));
    let mut names = OrderedStrings::merge(&ctx.work.run_location(NAMES), 0, runs)?;
    while let Some((name, _)) = names.next()? {
        writer.take(name)?;
    }
    writer.end()?;
    let OverlapWriter { sink, rows, domains, depths, .. } = writer;
    sink.finish()?;
    let listed = OverlapFacts { rows: rows.into_runs()?.len(), domains: domains.into_runs()?.len(), depths };
    ctx.work.save(FACTS, &listed)?;
    Ok(listed)
}

/// A shared address, as far as its names have come.
#[derive(Debug, Default)]
struct SharedAddress {
    group: Option<u32>,
    url: String,
    left: Vec<String>,
    right: Vec<String>,
    more: (u64, u64),
}

struct OverlapWriter<'c> {
    ctx: &'c Context<'c>,
    sink: Sink,
    name: String,
    fate_reader: PageFateReader,
    rows: StringSorter,
    domains: StringSorter,
    depths: Vec<[u64; 2]>,
    shared: SharedAddress,
    fates: Vec<PageFate>,
}

impl OverlapWriter<'_> {
    /// Takes a name: the number of the address, the kind, and what is told.
    fn take(&mut self, name: &[u8]) -> Result<(), EngineError> {
        let (group, rest) = name.split_first_chunk::<4>().expect("a name begins with a number");
        let group = u32::from_be_bytes(*group);
        if self.shared.group != Some(group) {
            self.end()?;
            self.shared = SharedAddress { group: Some(group), ..SharedAddress::default() };
            self.ctx.watch.steps.fetch_add(1, Ordering::Relaxed);
            self.ctx.watch.check()?;
        }
        let (kind, rest) = rest.split_first().expect("a name has a kind");
        let text = |from: usize| String::from_utf8_lossy(&rest[from..]).into_owned();
        match *kind {
            ADDRESS => self.shared.url = text(0),
            LEFT => self.shared.left.push(text(4)),
            RIGHT => self.shared.right.push(text(4)),
            MORE => {
                let number =
                    |at: usize| u64::from_be_bytes(rest[at..at + 8].try_into().expect("eight bytes"));
                self.shared.more = (number(0), number(8));
            }
            _ => {}
        }
        Ok(())
    }

    /// Writes an address of which all names are there.
    fn end(&mut self) -> Result<(), EngineError> {
        let Some(group) = self.shared.group else { return Ok(()) };
        self.fate_reader.of(group, &mut self.fates)?;
        let parsed = ParsedAddress::new(&self.shared.url, self.ctx.request.matching, self.ctx.work.secret());
        let first = self.fates.iter().find(|fate| fate.snapshot == 1);
        if let Some(first) = first {
            let row = Row { measured: 1, near: first.near.into(), ..Row::default() };
            self.rows.add(parsed.host.as_bytes(), &row.numbers())?;
            let depth = &mut self.depths[usize::from(parsed.depth)];
            depth[0] += 1;
            depth[1] += u64::from(first.near);
        }
        if self.ctx.request.snapshots() > 1 && !self.fates.is_empty() {
            let mut amounts = vec![0; domain_columns(self.ctx)];
            for fate in &self.fates {
                let at = 1 + (usize::from(fate.snapshot) - 1) * PER_SNAPSHOT;
                amounts[at + 1] += 1;
                amounts[at + 2] += u64::from(fate.unchanged);
                amounts[at + 3] += u64::from(fate.near);
            }
            self.domains.add(top_level(&parsed.host).as_bytes(), &amounts)?;
        }
        if self.shared.right.is_empty() {
            return Ok(());
        }
        let row = OverlapRow {
            url: &self.shared.url,
            left: &self.shared.left,
            right: &self.shared.right,
            similarity: first.map(|fate| rounded(fate.similarity)),
            left_more: self.shared.more.0,
            right_more: self.shared.more.1,
        };
        let mut text = serde_json::to_vec(&row).expect("names can be written");
        text.push(b'\n');
        let written = self.sink.write_all(&text);
        written.map_err(|source| CorpusError::Write { name: self.name.clone(), source })?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use lookalike::store::file::RunWriter;
    use serde_json::{Value, json};

    use super::*;
    use crate::fixture::Fixture;
    use crate::page_fate::{PAGE_FATES, WIDTH};

    /// A name of an address: its kind, and a number and a text, or a text alone.
    fn name(group: u32, kind: u8, number: Option<u32>, text: &str) -> Vec<u8> {
        let number = number.map_or_else(Vec::new, |number| number.to_be_bytes().to_vec());
        [&group.to_be_bytes()[..], &[kind], &number, text.as_bytes()].concat()
    }

    fn fate(group: u32, snapshot: u8, near: bool, similarity: f64) -> PageFate {
        PageFate { group, snapshot, unchanged: false, near, similarity }
    }

    /// Lists addresses with these names, in any order, and these fates.
    fn listed(fixture: &Fixture, names: &[Vec<u8>], fates: &[PageFate]) -> (OverlapFacts, Vec<Value>) {
        let label = fixture.work.label(PAGE_FATES, WIDTH);
        let mut writer = RunWriter::create(&fixture.work.file(PAGE_FATES), label).unwrap();
        fates.iter().for_each(|fate| writer.push(&fate.encode()).unwrap());
        writer.finish().unwrap();
        let mut sorter = strings::fresh(fixture.work.run_location(NAMES), 0, 1 << 12).unwrap();
        names.iter().for_each(|name| sorter.add(name, &[]).unwrap());
        let names = sorter.into_runs().unwrap().len();
        let fetched = FetchFacts { names, stored: 0, documents: 0 };
        let listed = list(&fixture.ctx(), &JoinFacts::default(), &fetched).unwrap();
        let lines = fixture.lines("overlap.jsonl");
        (listed, lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect())
    }

    #[test]
    fn numbers_have_nine_decimals() {
        let found = [1.0 / 3.0, 2.0 / 3.0, 0.1 + 0.2, 0.0, 1.0, 1e-10].map(rounded);
        assert_eq!(found, [0.333_333_333, 0.666_666_667, 0.3, 0.0, 1.0, 0.0]);
    }

    #[test]
    fn nothing_shared_is_an_empty_list() {
        let fixture = Fixture::empty(1);
        let (found, lines) = listed(&fixture, &[], &[]);
        assert_eq!(found, OverlapFacts { rows: 0, domains: 0, depths: vec![[0; 2]; DEEPEST + 1] });
        assert_eq!(lines, Vec::<Value>::new());
    }

    #[test]
    fn addresses_come_by_their_first_left_document_with_documents_in_order() {
        let fixture = Fixture::empty(1);
        let names = [
            name(9, ADDRESS, None, "http://a.org/9"),
            name(9, LEFT, Some(9), "z"),
            name(9, RIGHT, Some(0), "y"),
            name(2, RIGHT, Some(300), "a"),
            name(2, RIGHT, Some(20), "b"),
            name(2, LEFT, Some(2), "ä"),
            name(2, ADDRESS, None, "http://a.org/ü"),
        ];
        let (_, lines) = listed(&fixture, &names, &[fate(9, 1, false, 2.0 / 3.0)]);
        let first = json!({"url": "http://a.org/ü", "left": ["ä"], "right": ["b", "a"], "similarity": null});
        let second =
            json!({"url": "http://a.org/9", "left": ["z"], "right": ["y"], "similarity": 0.666_666_667});
        assert_eq!(lines, [first, second]);
    }

    #[test]
    fn documents_that_are_not_named_are_counted_in_the_line() {
        let fixture = Fixture::empty(1);
        let more = [&0u32.to_be_bytes()[..], &[MORE], &5u64.to_be_bytes(), &0u64.to_be_bytes()].concat();
        let names =
            [name(0, ADDRESS, None, "x"), name(0, LEFT, Some(0), "l"), name(0, RIGHT, Some(0), "r"), more];
        let (_, lines) = listed(&fixture, &names, &[]);
        let wanted = json!({"url": "x", "left": ["l"], "right": ["r"], "similarity": null, "left_more": 5});
        assert_eq!(lines, [wanted]);
    }

    #[test]
    fn measured_pairs_are_counted_by_host_and_depth() {
        let fixture = Fixture::empty(1);
        let address = |group: u32, url: &str| {
            let left = name(group, LEFT, Some(group), "l");
            [name(group, ADDRESS, None, url), left, name(group, RIGHT, Some(group), "r")]
        };
        let urls = ["http://a.org/x", "http://A.org/y", "http://b.com/", "http://a.org/z"];
        let names: Vec<Vec<u8>> = (0..).zip(urls).flat_map(|(group, url)| address(group, url)).collect();
        let fates = [fate(0, 1, true, 0.95), fate(1, 1, false, 0.1), fate(2, 1, true, 1.0)];
        let (found, lines) = listed(&fixture, &names, &fates);
        assert_eq!(lines.len(), 4);
        assert_eq!((found.depths[0], found.depths[1]), ([1, 1], [2, 1]));
        let row = |measured, near| Row { measured, near, ..Row::default() }.numbers().to_vec();
        let rows = fixture.texts(ROWS, COLUMNS, found.rows);
        assert_eq!(rows, [(b"a.org".to_vec(), row(2, 1)), (b"b.com".to_vec(), row(1, 1))]);
        assert_eq!(found.domains, 0);
    }

    #[test]
    fn an_address_of_a_later_snapshot_is_counted_and_not_listed() {
        let fixture = Fixture::empty(2);
        let names = [name(4, ADDRESS, None, "http://a.org/x")];
        let fates = [PageFate { unchanged: true, ..fate(4, 2, true, 1.0) }];
        let (found, lines) = listed(&fixture, &names, &fates);
        assert_eq!((lines.len(), found.rows), (0, 0));
        // Left addresses, and for each snapshot still there, measured, unchanged and near.
        let domains = fixture.texts(DOMAINS, 9, found.domains);
        assert_eq!(domains, [(b"org".to_vec(), vec![0, 0, 0, 0, 0, 0, 1, 1, 1])]);
    }

    #[test]
    fn what_was_listed_is_not_listed_again() {
        let fixture = Fixture::empty(1);
        let done = OverlapFacts { rows: 7, domains: 8, depths: vec![[1, 2]] };
        fixture.work.save(FACTS, &done).unwrap();
        let fetched = FetchFacts { names: 0, stored: 0, documents: 0 };
        assert_eq!(list(&fixture.ctx(), &JoinFacts::default(), &fetched).unwrap(), done);
        assert!(!fixture.work.result("overlap.jsonl").exists());
    }
}
