//! Lists of clusters, and one cluster with its documents.

use std::sync::Arc;

use axum::extract::State;
use axum::http::Uri;
use axum::response::Response;
use lookalike::report::parts::{Head, Html, counted, number, table, thousands};

use super::frame::{NavPage, page, paging, similarity};
use crate::answer::{Refusal, rest_of};
use crate::api;
use crate::app_state::AppState;
use crate::form::{Form, encode};
use crate::source::{ClusterPage, ClusterQuery, ClusterRow, ClusterView, Member, SortOrder};

/// Rows of a page.
const ROWS: usize = 50;

/// `GET /clusters`
pub(crate) async fn clusters(State(state): State<Arc<AppState>>, uri: Uri) -> Result<Response, Refusal> {
    let query = api::cluster_query(&Form::of(&uri)?, ROWS)?;
    let searched = query.clone();
    let _slot = state.work_slot()?;
    let found = state.work(move |source, worker| source.clusters(worker, &searched)).await?;
    Ok(page(&state, "Clusters", NavPage::Clusters, |html| {
        html.leaf("h1", &[], "Clusters");
        html.leaf(
            "p",
            &[],
            "Each cluster is a document that is kept, with the near-duplicates that it stands for.",
        );
        search_box(html, Some(&query));
        list(html, &query, &found);
    }))
}

/// The form for a search, with what was asked for before.
pub(super) fn search_box(html: &mut Html, query: Option<&ClusterQuery>) {
    html.element("form", &[("method", "get"), ("action", "/clusters"), ("class", "search")], |html| {
        html.element("div", &[], |html| {
            html.leaf("label", &[("for", "search")], "Part of an id");
            let value = query.and_then(|query| query.search.as_deref()).unwrap_or_default();
            let attributes = [
                ("type", "search"),
                ("id", "search"),
                ("name", "search"),
                ("value", value),
                ("maxlength", "1024"),
            ];
            html.void("input", &attributes);
        });
        let (sort, order) = query.map_or(("size", "descending"), |query| names(query.order));
        let sorts = [("size", "size"), ("similarity", "least similarity"), ("number", "number")];
        choice(html, "sort", "Sort by", &sorts, sort);
        let orders = [("descending", "largest first"), ("ascending", "smallest first")];
        choice(html, "order", "Order", &orders, order);
        html.leaf("button", &[], "Search");
    });
}

fn choice(html: &mut Html, name: &'static str, label: &str, values: &[(&str, &str)], chosen: &str) {
    html.element("div", &[], |html| {
        html.leaf("label", &[("for", name)], label);
        html.element("select", &[("id", name), ("name", name)], |html| {
            for (value, text) in values {
                let mut attributes = vec![("value", *value)];
                attributes.extend((*value == chosen).then_some(("selected", "selected")));
                html.leaf("option", &attributes, text);
            }
        });
    });
}

fn names(order: SortOrder) -> (&'static str, &'static str) {
    let sort = match order {
        SortOrder::Number { .. } => "number",
        SortOrder::Size { .. } => "size",
        SortOrder::Similarity { .. } => "similarity",
    };
    (sort, if order.descending() { "descending" } else { "ascending" })
}

fn list(html: &mut Html, query: &ClusterQuery, found: &ClusterPage) {
    if !found.complete {
        let note =
            "The search ended before the end of the table; a longer part of an id finds less and sooner.";
        html.leaf("p", &[("class", "notes")], note);
    }
    if found.clusters.is_empty() && found.total == 0 {
        let text =
            if query.search.is_some() { "No cluster has such an id." } else { "There are no clusters." };
        html.leaf("p", &[], text);
        return;
    }
    let heads = [Head::Words("Kept document"), Head::Number("Documents"), Head::Number("Least similarity")];
    table(html, "Clusters", &heads, |html| {
        for row in &found.clusters {
            cluster_row(html, row);
        }
    });
    let (sort, order) = names(query.order);
    let search = encode(query.search.as_deref().unwrap_or_default());
    let place = (query.offset as u64, found.clusters.len() as u64, found.total);
    paging(html, place, query.count as u64, ("cluster", "clusters"), |offset| {
        format!("/clusters?search={search}&sort={sort}&order={order}&offset={offset}&count={}", query.count)
    });
}

fn cluster_row(html: &mut Html, row: &ClusterRow) {
    html.element("tr", &[], |html| {
        html.element("th", &[("scope", "row")], |html| {
            html.element("a", &[("href", &format!("/clusters/{}", row.name))], |html| {
                html.leaf("bdi", &[], &row.keep);
            });
        });
        number(html, &thousands(row.size));
        number(html, &similarity(row.lowest_similarity));
    });
}

/// `GET /clusters/{cluster}`
pub(crate) async fn cluster(State(state): State<Arc<AppState>>, uri: Uri) -> Result<Response, Refusal> {
    let name = rest_of(&uri, "/clusters/")?;
    let form = Form::of(&uri)?;
    let (offset, count) = (api::offset(&form)?, api::count(&form, ROWS)?);
    let _slot = state.work_slot()?;
    let view = state.work(move |source, worker| source.cluster(worker, &name, offset, count)).await?;
    let view = view.ok_or_else(|| Refusal::missing("there is no cluster of this number"))?;
    Ok(page(&state, &format!("Cluster of {}", view.row.keep), NavPage::Clusters, |html| {
        show(html, &view, count)
    }))
}

fn show(html: &mut Html, view: &ClusterView, count: usize) {
    let row = &view.row;
    html.element("h1", &[], |html| {
        html.text("Cluster of ");
        html.leaf("bdi", &[], &row.keep);
    });
    let lowest = match row.lowest_similarity {
        Some(_) => format!(", at least {} similar to the kept one", similarity(row.lowest_similarity)),
        None => String::new(),
    };
    html.leaf("p", &[("class", "lead")], &format!("{}{lowest}.", counted(row.size, "document", "documents")));
    if row.against.is_some() {
        let note = "The kept document is in the corpus that this one was compared with (--against).";
        html.leaf("p", &[("class", "notes")], note);
    }
    let heads =
        [Head::Words("Document"), Head::Words("Fate"), Head::Number("Similarity"), Head::Words("Compare")];
    table(html, "Documents of the cluster", &heads, |html| {
        for member in &view.members {
            member_row(html, row, member);
        }
    });
    let place = (view.offset, view.members.len() as u64, row.size);
    paging(html, place, count as u64, ("document", "documents"), |offset| {
        format!("/clusters/{}?offset={offset}&count={count}", row.name)
    });
}

fn member_row(html: &mut Html, row: &ClusterRow, member: &Member) {
    html.element("tr", &[], |html| {
        html.element("th", &[("scope", "row")], |html| match member.against {
            Some(_) => html.leaf("bdi", &[], &member.id),
            None => html.element("a", &[("href", &format!("/documents/{}", member.n))], |html| {
                html.leaf("bdi", &[], &member.id);
            }),
        });
        html.leaf("td", &[], if member.kept { "kept" } else { "removed" });
        number(html, &if member.kept { String::new() } else { similarity(member.similarity) });
        html.element("td", &[], |html| {
            if !member.kept && row.against.is_none() {
                let address = format!("/compare?a={}&b={}", row.cluster, member.n);
                html.leaf("a", &[("href", &address)], "with the kept one");
            }
        });
    });
}
