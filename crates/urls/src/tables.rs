//! Stage 6: tables of hosts, domains, suffixes and top-level domains, and of what survived.

use lookalike::engine::EngineError;
use lookalike::engine::store::sort::existing;
use lookalike::engine::store::strings::{self, OrderedStrings, StringSorter};
use lookalike::tables::{domains, survival};
use lookalike_overlap::address::{public_suffix, registered_domain, top_level};
use lookalike_overlap::interval::wilson;

use crate::Context;
use crate::join::{JoinFacts, ROWS};
use crate::overlap::{self, OverlapFacts};
use crate::read::Side;
use crate::rows::{COLUMNS, Row};
use crate::tsv::Tsv;

/// Rows of a table that the report shows.
pub(crate) const ROWS_SHOWN: usize = 15;

/// The kind of name that hosts have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// A registered domain.
    Domain,
    /// The host itself.
    Host,
    /// A public suffix.
    Suffix,
    /// A last label.
    TopLevel,
}

impl Kind {
    const ALL: [Kind; 4] = [Kind::Domain, Kind::Host, Kind::Suffix, Kind::TopLevel];

    fn name(self) -> &'static str {
        match self {
            Kind::Domain => "domain",
            Kind::Host => "host",
            Kind::Suffix => "suffix",
            Kind::TopLevel => "tld",
        }
    }

    fn of(byte: u8) -> Self {
        Kind::ALL[usize::from(byte) % Kind::ALL.len()]
    }
}

/// The table rows that the report shows, and the numbers of hosts and domains with a shared address.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct ReportTables {
    /// The first rows by kind, by shared addresses and then by documents.
    pub(crate) by_sharing: Vec<(Kind, String, Row)>,
    /// The first rows by kind, by left addresses.
    pub(crate) by_left: Vec<(Kind, String, Row)>,
    /// Hosts with a shared address.
    pub(crate) shared_hosts: u64,
    /// Registered domains with a shared address.
    pub(crate) shared_domains: u64,
}

impl ReportTables {
    /// The rows of a kind.
    pub(crate) fn of(rows: &[(Kind, String, Row)], kind: Kind) -> impl Iterator<Item = (&str, &Row)> {
        rows.iter().filter(move |row| row.0 == kind).map(|(_, name, row)| (name.as_str(), row))
    }
}

/// Addresses without a host.
const NO_HOST: &str = "(no host)";

/// The totals that shares are taken of.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Totals {
    pub(crate) left: u64,
    pub(crate) right: u64,
    pub(crate) shared_documents: u64,
    pub(crate) shared_urls: u64,
    pub(crate) judged: u64,
    pub(crate) judged_shared: u64,
}

impl Totals {
    pub(crate) fn of(joined: &JoinFacts, sides: &[Side]) -> Self {
        Totals {
            left: sides[0].counts.with_url(),
            right: sides[1].counts.with_url(),
            shared_documents: joined.shared_documents[0],
            shared_urls: joined.shared_urls,
            judged: joined.judged[0],
            judged_shared: joined.judged[1],
        }
    }
}

/// Writes `domains.tsv`, `tlds.tsv` and `survival.tsv`.
pub(crate) fn write(
    ctx: &Context<'_>,
    joined: &JoinFacts,
    listed: &OverlapFacts,
    sides: &[Side],
) -> Result<ReportTables, EngineError> {
    let totals = Totals::of(joined, sides);
    let mut ordered = OrderedRows::new(ctx)?;
    let mut names =
        strings::fresh(ctx.work.run_location("table-names"), COLUMNS, ctx.buffer_bytes as usize / 8)?;
    let mut hosts = hosts(ctx, joined, listed)?;
    while let Some((host, numbers)) = hosts.next()? {
        let host = String::from_utf8_lossy(host).into_owned();
        ordered.add(Kind::Host, &host, numbers)?;
        for (kind, name) in [
            (Kind::Domain, registered_domain(&host)),
            (Kind::Suffix, public_suffix(&host)),
            (Kind::TopLevel, top_level(&host)),
        ] {
            names.add(&[&[kind as u8], name.as_bytes()].concat(), numbers)?;
        }
    }
    let mut names = names.sorted()?;
    while let Some((name, numbers)) = names.next()? {
        ordered.add(Kind::of(name[0]), &String::from_utf8_lossy(&name[1..]), numbers)?;
    }
    let mut shown = ReportTables::default();
    sharing(ctx, &totals, ordered.by_sharing.sorted()?, &mut shown)?;
    survival(ctx, joined, listed, ordered.by_left.sorted()?, &mut shown)?;
    Ok(shown)
}

/// Rows by host, of both stages that counted.
fn hosts(
    ctx: &Context<'_>,
    joined: &JoinFacts,
    listed: &OverlapFacts,
) -> Result<OrderedStrings, EngineError> {
    let mut runs: Vec<_> = existing(&ctx.work.run_location(ROWS))?.into_iter().take(joined.rows).collect();
    runs.extend(existing(&ctx.work.run_location(overlap::ROWS))?.into_iter().take(listed.rows));
    OrderedStrings::merge(&ctx.work.run_location(ROWS), COLUMNS, runs)
}

/// Rows in the two orders in which they are written.
struct OrderedRows {
    by_sharing: StringSorter,
    by_left: StringSorter,
}

impl OrderedRows {
    fn new(ctx: &Context<'_>) -> Result<Self, EngineError> {
        let fresh =
            |name: &str| strings::fresh(ctx.work.run_location(name), COLUMNS, ctx.buffer_bytes as usize / 8);
        Ok(OrderedRows { by_sharing: fresh("table-sharing")?, by_left: fresh("table-left")? })
    }

    fn add(&mut self, kind: Kind, name: &str, numbers: &[u64]) -> Result<(), EngineError> {
        let row = Row::from_numbers(numbers);
        let name = if name.is_empty() { NO_HOST } else { name };
        let key = |most: &[u64]| {
            let mut key = vec![kind as u8];
            // The most comes first.
            most.iter().for_each(|number| key.extend((!number).to_be_bytes()));
            key.extend_from_slice(name.as_bytes());
            key
        };
        let sharing = key(&[row.shared_urls, row.left_documents, row.right_documents]);
        self.by_sharing.add(&sharing, numbers)?;
        if row.left_urls > 0 {
            self.by_left.add(&key(&[row.left_urls, row.shared_urls, 0]), numbers)?;
        }
        Ok(())
    }
}

/// Takes the name off the key of an ordered row.
fn named(key: &[u8]) -> (Kind, String) {
    (Kind::of(key[0]), String::from_utf8_lossy(&key[25..]).into_owned())
}

/// Keeps a row if there are not enough of its kind yet.
fn show(rows: &mut Vec<(Kind, String, Row)>, kind: Kind, name: &str, row: Row) {
    if rows.iter().filter(|shown| shown.0 == kind).count() < ROWS_SHOWN {
        rows.push((kind, name.to_owned(), row));
    }
}

fn sharing(
    ctx: &Context<'_>,
    totals: &Totals,
    mut rows: OrderedStrings,
    shown: &mut ReportTables,
) -> Result<(), EngineError> {
    let judged = ctx.request.judged.is_some();
    let mut domains = Tsv::create(&ctx.work.result("domains.tsv"), domains::TABLE)?;
    let tlds_table = if judged { domains::TLDS_TABLE } else { domains::TLDS_TABLE_WITHOUT_JUDGMENTS };
    let mut tlds = Tsv::create(&ctx.work.result("tlds.tsv"), tlds_table)?;
    while let Some((key, numbers)) = rows.next()? {
        let ((kind, name), row) = (named(key), Row::from_numbers(numbers));
        show(&mut shown.by_sharing, kind, &name, row);
        let wide = matches!(kind, Kind::Suffix | Kind::TopLevel);
        let table = if wide { &mut tlds } else { &mut domains };
        table.text(kind.name());
        table.text(&name);
        table.part(row.shared_urls, totals.shared_urls);
        table.part(row.shared_documents, totals.shared_documents);
        table.part(row.left_documents, totals.left);
        table.part(row.right_documents, totals.right);
        if wide && judged {
            table.part(row.judged, totals.judged);
            table.part(row.judged_shared, totals.judged_shared);
        }
        table.end()?;
        shown.shared_hosts += u64::from(kind == Kind::Host && row.shared_urls > 0 && name != NO_HOST);
        shown.shared_domains += u64::from(kind == Kind::Domain && row.shared_urls > 0 && name != NO_HOST);
    }
    domains.finish()?;
    Ok(tlds.finish()?)
}

fn survival(
    ctx: &Context<'_>,
    joined: &JoinFacts,
    listed: &OverlapFacts,
    mut rows: OrderedStrings,
    shown: &mut ReportTables,
) -> Result<(), EngineError> {
    let mut table = Tsv::create(&ctx.work.result("survival.tsv"), survival::TABLE)?;
    let mut line = |kind: &str, name: &str, row: &Row| {
        table.text(kind);
        table.text(name);
        table.count(row.left_urls);
        table.part(row.shared_urls, row.left_urls);
        table.interval(wilson(row.shared_urls, row.left_urls));
        table.count(row.measured);
        table.part(row.near, row.measured);
        table.interval(wilson(row.near, row.measured));
        table.end()
    };
    for (depth, row) in depths(joined, listed) {
        line("depth", &depth, &row)?;
    }
    while let Some((key, numbers)) = rows.next()? {
        let ((kind, name), row) = (named(key), Row::from_numbers(numbers));
        show(&mut shown.by_left, kind, &name, row);
        line(kind.name(), &name, &row)?;
    }
    Ok(table.finish()?)
}

/// Returns the survival of addresses by depth, for depths that left addresses have.
pub(crate) fn depths(joined: &JoinFacts, listed: &OverlapFacts) -> Vec<(String, Row)> {
    let rows = joined.depths.iter().zip(&listed.depths).enumerate();
    let row = |(depth, (found, measured)): (usize, (&[u64; 2], &[u64; 2]))| {
        let more = if depth + 1 == joined.depths.len() { " or more" } else { "" };
        let [left_urls, shared_urls] = *found;
        let [measured, near] = *measured;
        (format!("{depth}{more}"), Row { left_urls, shared_urls, measured, near, ..Row::default() })
    };
    rows.map(row).filter(|(_, row)| row.left_urls > 0).collect()
}
