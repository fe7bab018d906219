//! Documents and removals of parts of the corpus: of each shard and of each host.

use std::collections::HashMap;

use super::removals::SORTED;
use crate::catalogue::{Catalogue, shard_of};
use crate::context::Context;
use crate::error::EngineError;
use crate::results::{Findings, Share};
use crate::stages::order::PlaceMap;
use crate::stages::sketch::host;
use crate::stages::verify::Removals;
use crate::store::file::Run;
use crate::store::sort::Codec;

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
    let mut sources: Vec<Share> = views
        .iter()
        .map(|view| Share { name: view.shard.name.clone(), documents: view.records.into(), removed: 0 })
        .collect();
    let mut hosts: HashMap<String, (u64, u64)> = HashMap::new();
    let mut others = (0, 0);
    let mut removed = Run::open(&ctx.file(SORTED), Removals::label(ctx))?.records();
    let mut next_removed = removed.next()?.map(|bytes| Removals.get(bytes).0);
    let mut places = PlaceMap::open(ctx)?;
    catalogue.names(ctx, |document, _, url| {
        if document < catalogue.references() {
            return Ok(());
        }
        let gone = next_removed == Some(document);
        if gone {
            next_removed = removed.next()?.map(|bytes| Removals.get(bytes).0);
            let source = shard_of(&views, places.place(document)?);
            source.into_iter().for_each(|source| sources[source].removed += 1);
        }
        if let Some(host) = url.map(host).filter(|host| !host.is_empty()) {
            let host = host.to_ascii_lowercase();
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
    findings.sources = top(sources, Share::default());
    let hosts =
        hosts.into_iter().map(|(name, (documents, removed))| Share { name, documents, removed }).collect();
    findings.hosts = top(hosts, Share { name: String::new(), documents: others.0, removed: others.1 });
    Ok(())
}

/// The parts with most removals, and one row for all others.
fn top(mut shares: Vec<Share>, mut others: Share) -> Vec<Share> {
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
