//! Stage 5: shared addresses become lines, and what was measured is added to their hosts.

use std::io::Write;
use std::sync::atomic::Ordering;

use lookalike::corpus::write::Sink;
use lookalike::corpus::{Compression, CorpusError};
use lookalike::engine::EngineError;
use lookalike::engine::store::sort::existing;
use lookalike::engine::store::strings::{self, OrderedStrings, StringSorter};
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

/// Numbers are told to nine decimals.
pub(crate) fn rounded(number: f64) -> f64 {
    (number * 1e9).round() / 1e9
}

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
