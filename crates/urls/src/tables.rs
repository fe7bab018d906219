//! Stage `write`, the tables: those of hosts, domains, suffixes and top-level domains, and of what survived.

use lookalike::engine::EngineError;
use lookalike::store::sort::existing;
use lookalike::store::strings::{self, OrderedStrings, StringSorter};
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
    Ok(OrderedStrings::merge(&ctx.work.run_location(ROWS), COLUMNS, runs)?)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;
    use crate::read::RecordCounts;

    fn ordered(fixture: &Fixture, rows: &[(Kind, &str, Row)]) -> [Vec<String>; 2] {
        let mut ordered = OrderedRows::new(&fixture.ctx()).unwrap();
        rows.iter().for_each(|(kind, name, row)| ordered.add(*kind, name, &row.numbers()).unwrap());
        [ordered.by_sharing, ordered.by_left].map(|rows| {
            let (mut rows, mut names) = (rows.sorted().unwrap(), Vec::new());
            while let Some((key, _)) = rows.next().unwrap() {
                let (kind, name) = named(key);
                names.push(format!("{} {name}", kind.name()));
            }
            names
        })
    }

    /// Writes the tables of these hosts.
    fn written(fixture: &Fixture, hosts: &[(&str, Row)], joined: &JoinFacts, sides: &[Side]) -> ReportTables {
        let mut rows = strings::fresh(fixture.work.run_location(ROWS), COLUMNS, 1 << 12).unwrap();
        hosts.iter().for_each(|(host, row)| rows.add(host.as_bytes(), &row.numbers()).unwrap());
        let joined = JoinFacts { rows: rows.into_runs().unwrap().len(), ..joined.clone() };
        let listed = OverlapFacts { rows: 0, domains: 0, depths: vec![[0; 2]; joined.depths.len()] };
        write(&fixture.ctx(), &joined, &listed, sides).unwrap()
    }

    /// Sides of so many documents, all with an address.
    fn sides(documents: &[u64]) -> Vec<Side> {
        let counts = |&documents: &u64| RecordCounts { documents, ..RecordCounts::default() };
        documents.iter().map(|documents| Side { counts: counts(documents), ..Side::default() }).collect()
    }

    #[test]
    fn kinds_come_back_from_their_bytes() {
        assert_eq!(Kind::ALL.map(|kind| Kind::of(kind as u8)), Kind::ALL);
        assert_eq!(Kind::ALL.map(Kind::name), ["domain", "host", "suffix", "tld"]);
    }

    #[test]
    fn the_most_shared_come_first_then_those_with_the_most_documents_then_by_name() {
        let fixture = Fixture::empty(1);
        let row = |shared_urls, left_documents, right_documents| Row {
            shared_urls,
            left_documents,
            right_documents,
            ..Row::default()
        };
        let rows = [
            (Kind::Host, "b", row(1, 5, 5)),
            (Kind::Host, "a", row(1, 5, 5)),
            (Kind::Host, "c", row(1, 5, 6)),
            (Kind::Host, "d", row(1, 6, 0)),
            (Kind::Host, "e", row(256, 0, 0)),
            (Kind::Domain, "f", row(0, 0, 0)),
        ];
        assert_eq!(
            ordered(&fixture, &rows)[0],
            ["domain f", "host e", "host d", "host c", "host a", "host b"]
        );
    }

    #[test]
    fn only_names_with_left_addresses_can_survive_the_most_first() {
        let fixture = Fixture::empty(1);
        let row = |left_urls, shared_urls| Row { left_urls, shared_urls, ..Row::default() };
        let rows = [
            (Kind::TopLevel, "com", row(2, 0)),
            (Kind::TopLevel, "de", row(0, 0)),
            (Kind::TopLevel, "org", row(2, 1)),
            (Kind::TopLevel, "", row(3, 0)),
        ];
        assert_eq!(ordered(&fixture, &rows)[1], ["tld (no host)", "tld org", "tld com"]);
    }

    #[test]
    fn fifteen_rows_of_each_kind_are_shown() {
        let mut rows = Vec::new();
        for number in 0..20 {
            show(&mut rows, Kind::Host, &format!("h{number}"), Row::default());
        }
        show(&mut rows, Kind::Domain, "d", Row::default());
        let names = |kind| ReportTables::of(&rows, kind).map(|(name, _)| name.to_owned()).collect::<Vec<_>>();
        assert_eq!((names(Kind::Host).len(), names(Kind::Host)[14].as_str()), (15, "h14"));
        assert_eq!((names(Kind::Domain), names(Kind::Suffix)), (vec!["d".to_owned()], vec![]));
    }

    #[test]
    fn depths_without_left_addresses_are_left_out_and_the_last_is_open() {
        let joined = JoinFacts { depths: vec![[0, 0], [5, 2], [1, 0]], ..JoinFacts::default() };
        let listed = OverlapFacts { rows: 0, domains: 0, depths: vec![[0, 0], [2, 1], [0, 0]] };
        let row = |left_urls, shared_urls, measured, near| Row {
            left_urls,
            shared_urls,
            measured,
            near,
            ..Row::default()
        };
        let wanted = [("1".to_owned(), row(5, 2, 2, 1)), ("2 or more".to_owned(), row(1, 0, 0, 0))];
        assert_eq!(depths(&joined, &listed), wanted);
    }

    #[test]
    fn shares_are_of_documents_with_an_address() {
        let counts = RecordCounts { documents: 10, rejected: 1, without_url: 2, ..RecordCounts::default() };
        let sides = [Side { counts, ..Side::default() }, Side::default()];
        let joined =
            JoinFacts { shared_urls: 3, shared_documents: [4, 5], judged: [6, 2], ..JoinFacts::default() };
        let totals = Totals::of(&joined, &sides);
        assert_eq!((totals.left, totals.right, totals.shared_urls), (7, 0, 3));
        assert_eq!((totals.shared_documents, totals.judged, totals.judged_shared), (4, 6, 2));
    }

    #[test]
    fn hosts_add_up_to_domains_suffixes_and_top_level_domains() {
        let fixture = Fixture::empty(1);
        let row =
            Row { left_documents: 2, left_urls: 2, shared_urls: 1, shared_documents: 1, ..Row::default() };
        let hosts = [("www.a.co.uk", row), ("b.a.co.uk", row), ("10.0.0.1", row)];
        let joined = JoinFacts { shared_urls: 3, shared_documents: [3, 0], ..JoinFacts::default() };
        let shown = written(&fixture, &hosts, &joined, &sides(&[6, 0]));
        assert_eq!((shown.shared_hosts, shown.shared_domains), (3, 2));
        let heads = "kind\tname\tshared_urls\tshared_urls_share\tshared_documents\tshared_documents_share\t\
                     left_documents\tleft_documents_share\tright_documents\tright_documents_share";
        let two = "2\t0.666667\t2\t0.666667\t4\t0.666667\t0\t";
        let one = "1\t0.333333\t1\t0.333333\t2\t0.333333\t0\t";
        let line = |kind: &str, name: &str, numbers: &str| format!("{kind}\t{name}\t{numbers}");
        let domains = [
            heads.to_owned(),
            line("domain", "a.co.uk", two),
            line("domain", "10.0.0.1", one),
            line("host", "10.0.0.1", one),
            line("host", "b.a.co.uk", one),
            line("host", "www.a.co.uk", one),
        ];
        assert_eq!(fixture.lines("domains.tsv"), domains);
        let tlds = [
            heads.to_owned(),
            line("suffix", "co.uk", two),
            line("suffix", "ip", one),
            line("tld", "uk", two),
            line("tld", "ip", one),
        ];
        assert_eq!(fixture.lines("tlds.tsv"), tlds);
    }

    #[test]
    fn addresses_without_a_host_are_a_row_and_no_host() {
        let fixture = Fixture::empty(1);
        let row = Row { left_urls: 1, shared_urls: 1, ..Row::default() };
        let shown = written(&fixture, &[("", row)], &JoinFacts::default(), &sides(&[1, 1]));
        assert_eq!((shown.shared_hosts, shown.shared_domains), (0, 0));
        let names: Vec<&str> = shown.by_sharing.iter().map(|(_, name, _)| name.as_str()).collect();
        assert_eq!(names, ["(no host)"; 4]);
    }

    #[test]
    fn judged_documents_have_columns_where_judgments_were_given() {
        let mut fixture = Fixture::empty(1);
        fixture.request.judged = Some(Vec::new());
        let row = Row { judged: 3, judged_shared: 1, ..Row::default() };
        let joined = JoinFacts { judged: [4, 1], ..JoinFacts::default() };
        written(&fixture, &[("a.org", row)], &joined, &sides(&[4, 1]));
        let ends =
            |name: &str, end: &str| fixture.lines(name).iter().filter(|line| line.ends_with(end)).count();
        assert_eq!(ends("tlds.tsv", "\tjudged\tjudged_share\tjudged_shared\tjudged_shared_share"), 1);
        assert_eq!(ends("tlds.tsv", "\t3\t0.750000\t1\t1.000000"), 2);
        assert_eq!(ends("domains.tsv", "judged_shared_share"), 0);
    }

    #[test]
    fn survival_is_told_with_its_interval() {
        let fixture = Fixture::empty(1);
        let row = Row { left_urls: 100, shared_urls: 5, measured: 4, near: 0, ..Row::default() };
        let joined = JoinFacts { depths: vec![[100, 5]], ..JoinFacts::default() };
        written(&fixture, &[("a.org", row)], &joined, &sides(&[100, 5]));
        let lines = fixture.lines("survival.tsv");
        let kinds: Vec<&str> = lines.iter().map(|line| line.split('\t').next().unwrap()).collect();
        assert_eq!(kinds, ["kind", "depth", "domain", "host", "suffix", "tld"]);
        // Wilson's interval of 5 in 100 is 0.0215 to 0.1118; that of 0 in 4 is 0 to z² / (4 + z²).
        let cells: Vec<&str> = lines[2].split('\t').collect();
        assert_eq!(cells[..5], ["domain", "a.org", "100", "5", "0.050000"]);
        assert!(cells[5].starts_with("0.021") && cells[6].starts_with("0.111"), "{cells:?}");
        assert_eq!(cells[7..], ["4", "0", "0.000000", "0.000000", "0.489891"]);
    }
}
