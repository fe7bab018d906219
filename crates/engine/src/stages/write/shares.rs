//! Documents and removals of parts of the corpus: of each shard and of each host.

use std::collections::HashMap;

use lookalike_model::SourceCounts;
use lookalike_store::file::Run;
use lookalike_store::sort::Codec;

use super::removals::SORTED;
use crate::catalogue::{Catalogue, shard_of};
use crate::context::Context;
use crate::error::EngineError;
use crate::results::Findings;
use crate::stages::order::PlaceMap;
use crate::stages::sketch::host;
use crate::stages::verify::Removals;

/// Rows of tables that are shown in full; the rest is one row.
const ROWS: usize = 30;
/// Hosts that are counted one by one; those met after them are counted together.
const HOSTS: usize = 1 << 16;

/// Counts documents and removals per shard and per host.
pub(super) fn count(
    ctx: &Context<'_>,
    catalogue: &Catalogue,
    findings: &mut Findings,
) -> Result<(), EngineError> {
    let views = catalogue.shards(ctx);
    let mut sources: Vec<SourceCounts> = views
        .iter()
        .map(|view| SourceCounts {
            name: view.shard.name.clone(),
            documents: view.records.into(),
            removed: 0,
        })
        .collect();
    let mut hosts: HashMap<String, (u64, u64)> = HashMap::new();
    let mut others = (0, 0);
    let mut removed = Run::open(&ctx.file(SORTED), Removals::label(ctx))?.records();
    // Documents and removals are both in the order of numbers, and are gone through side by side: no set of
    // removed ones is held.
    let mut next_removed = removed.next()?.map(|bytes| Removals.get(bytes).document);
    let mut places = PlaceMap::open(ctx)?;
    catalogue.names(ctx, |document, _, url| {
        if catalogue.is_reference(document) {
            return Ok(());
        }
        let gone = next_removed == Some(document);
        if gone {
            next_removed = removed.next()?.map(|bytes| Removals.get(bytes).document);
            // Shards are ranges of places, which are not the numbers where documents are ordered by a field.
            let source = shard_of(&views, places.place(document)?);
            source.into_iter().for_each(|source| sources[source].removed += 1);
        }
        if let Some(host) = url.map(host).filter(|host| !host.is_empty()) {
            let host = host.to_ascii_lowercase();
            // Documents come in order, so that the hosts that are counted one by one are the same in every
            // run.
            let count = match hosts.len() < HOSTS || hosts.contains_key(&host) {
                true => hosts.entry(host).or_default(),
                false => &mut others,
            };
            count.0 += 1;
            count.1 += u64::from(gone);
        }
        Ok(())
    })?;
    let sources =
        sources.into_iter().zip(&views).filter(|(_, view)| !view.reference).map(|(share, _)| share).collect();
    findings.sources = top(sources, SourceCounts::default());
    let hosts = hosts
        .into_iter()
        .map(|(name, (documents, removed))| SourceCounts { name, documents, removed })
        .collect();
    findings.hosts = top(hosts, SourceCounts { name: String::new(), documents: others.0, removed: others.1 });
    Ok(())
}

/// The parts with most removals, and one row for all others.
fn top(mut shares: Vec<SourceCounts>, mut others: SourceCounts) -> Vec<SourceCounts> {
    // By name in the end, because a hash map gives its entries in any order.
    shares.sort_by(|a, b| {
        (b.removed, b.documents).cmp(&(a.removed, a.documents)).then_with(|| a.name.cmp(&b.name))
    });
    let uncounted = others.documents > 0;
    let rest = shares.split_off(shares.len().min(ROWS));
    let more = rest.len();
    for share in rest {
        others.documents += share.documents;
        others.removed += share.removed;
    }
    if others.documents > 0 {
        others.name = format!("{more}{} others", if uncounted { " and more" } else { "" });
        shares.push(others);
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::context::{StageTest, stage_counts};
    use crate::tests::recipe;

    fn share(name: &str, documents: u64, removed: u64) -> SourceCounts {
        SourceCounts { name: name.to_owned(), documents, removed }
    }

    #[test]
    fn parts_with_most_removals_come_first() {
        let shares =
            vec![share("c", 5, 1), share("b", 9, 1), share("a", 9, 1), share("d", 2, 2), share("e", 99, 0)];
        let names: Vec<String> =
            top(shares, SourceCounts::default()).into_iter().map(|share| share.name).collect();
        assert_eq!(names, ["d", "a", "b", "c", "e"]);
    }

    #[test]
    fn many_parts_end_in_one_row_for_the_rest() {
        let shares = |count: u64| (0..count).map(|n| share(&format!("{n:02}"), 10, n)).collect::<Vec<_>>();
        assert_eq!(top(shares(30), SourceCounts::default()).len(), 30);
        let rows = top(shares(33), SourceCounts::default());
        assert_eq!((rows.len(), rows[0].removed, rows[29].removed), (31, 32, 3));
        assert_eq!(rows[30], share("3 others", 30, 3));
        let rows = top(shares(33), share("", 7, 4));
        assert_eq!(rows[30], share("3 and more others", 37, 7));
    }

    #[test]
    fn removals_are_counted_by_shard_and_by_host() {
        let line =
            |n: u32, url: &str| format!("{{\"id\":\"{n}\",\"url\":\"{url}\",\"text\":\"word {n}\"}}\n");
        let lines =
            [line(0, "http://A.org/1"), line(1, "http://a.org/2"), line(2, "http://b.org"), line(3, "")]
                .concat();
        let test = StageTest::new(recipe("md5"), &lines);
        let findings = test.deduplicated(&[(1, 0, 1.0), (3, 2, 1.0)], stage_counts());
        assert_eq!(findings.sources, [share("docs.jsonl", 4, 2)]);
        assert_eq!(findings.hosts, [share("a.org", 2, 1), share("b.org", 1, 0)]);
    }
}
