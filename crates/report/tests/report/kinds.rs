//! The kinds of difference on generated pages whose edits are known.

use std::collections::BTreeMap;

use lookalike_generate::{Kind as Edit, Plan};
use lookalike_hash::Secret;
use lookalike_report::{Kind, Side, View, compare};
use lookalike_text::extract::{ContentMode, Extractor};
use lookalike_text::{Analyser, Features, Profile};

/// Counts the kinds of difference found for each kind of edit.
fn table() -> BTreeMap<Edit, BTreeMap<Kind, u64>> {
    let plan = Plan { documents: 3000, seed: 7 };
    let mut documents = plan.documents();
    let mut analyser = Analyser::with_secret(&Profile::web(), Secret::of_process());
    let mut extractor = Extractor::default();
    let mut read = |position: u64, features: &mut Features| {
        let page = documents.get(position).expect("the plan has this page");
        let url = page.url.to_owned();
        let text = extractor.extract(&page.to_document(), ContentMode::Page).text.to_owned();
        analyser.read(&text, features);
        (text, url)
    };
    let (mut a, mut b) = (Features::default(), Features::default());
    let mut table: BTreeMap<Edit, BTreeMap<Kind, u64>> = BTreeMap::new();
    for pair in plan.truth().filter(|pair| pair.derived) {
        let ((text_a, url_a), (text_b, url_b)) = (read(pair.a, &mut a), read(pair.b, &mut b));
        let (left, right) =
            (Side::new(&text_a, &a).at(Some(&url_a)), Side::new(&text_b, &b).at(Some(&url_b)));
        let kind = compare(&left, &right, &View::default()).kind;
        *table.entry(pair.kind).or_default().entry(kind).or_default() += 1;
    }
    table
}

#[test]
fn planted_edits_are_called_by_their_names() {
    let table = table();
    // Most, not all: a moved sentence beside a changed menu is neither one nor the other.
    let expected = [
        (Edit::Mirror, Kind::Url),
        (Edit::Numbers, Kind::Numbers),
        (Edit::Reordering, Kind::Order),
        (Edit::Insertion, Kind::Insertion),
        (Edit::Deletion, Kind::Insertion),
        (Edit::Containment, Kind::Insertion),
        (Edit::Substitution, Kind::Other),
        (Edit::Site, Kind::Template),
    ];
    for (edit, kind) in expected {
        let seen = &table[&edit];
        let most = seen.iter().max_by_key(|(_, count)| **count).map(|(kind, _)| *kind);
        assert_eq!(most, Some(kind), "{edit:?}: {table:#?}");
    }
}
