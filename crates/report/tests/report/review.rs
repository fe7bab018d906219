//! The page of a review: well formed, and deaf to what documents say.

use lookalike_report::{Change, Comparison, Kind, Review, ReviewProgress, Segment, TextSpans, review_page};
use proptest::prelude::*;

use crate::markup::{assert_balanced, hostile, tags};

/// A page in which every text is `text`.
fn page(text: &str, at: u64) -> String {
    let segment =
        |change| Segment { change, words: 2, text: Some(text.to_owned()), spans: TextSpans::default() };
    let comparison = Comparison {
        kind: Kind::Other,
        words_a: 4,
        words_b: 4,
        shared: 2,
        removed: 2,
        added: 2,
        uncompared: 0,
        segments: [Change::Equal, Change::Removed, Change::Added].map(segment).into(),
    };
    review_page(&Review {
        title: text,
        by: Some(text),
        at,
        a: text,
        b: text,
        similarity: None,
        methods: &[text.to_owned()],
        comparison: &comparison,
        label: Some("unsure"),
        kind: Some(Kind::Url),
        show_all: false,
        auto_advance: true,
        can_undo: false,
        next_unjudged: None,
        progress: ReviewProgress { pairs: 9, duplicate: 2, not: 1, unsure: 1, interval: Some((0.2, 0.94)) },
        nonce: "word",
    })
}

#[test]
fn every_button_has_a_key_of_its_own() {
    let page = page("plain", 5);
    assert_balanced(&page);
    // The script speaks of keys as well.
    let form = page.split("<form").nth(1).expect("a form");
    let all: Vec<&str> =
        form.split("data-keys=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    let mut keys: Vec<&str> = all.iter().flat_map(|keys| keys.split(' ')).collect();
    assert_eq!(keys.len(), 3 + Kind::ALL.len() + 8);
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), 3 + Kind::ALL.len() + 8);
    assert_eq!(form.matches("aria-pressed=\"true\"").count(), 3, "the judgment, the kind, going on");
}

#[test]
fn buttons_that_lead_nowhere_cannot_be_pressed() {
    let disabled = |at| page("plain", at).matches("disabled=\"disabled\"").count();
    // Nothing is open, nothing to undo; and at the ends there is one way less.
    assert_eq!((disabled(5), disabled(1), disabled(9)), (2, 3, 3));
}

#[test]
fn the_script_cannot_be_ended_by_its_own_text() {
    let script = include_str!("../../src/review.js");
    assert!(!script.contains('<') && !script.contains("innerHTML"));
}

proptest! {
    #[test]
    fn documents_cannot_change_the_page(text in hostile()) {
        let hostile = page(&text, 5);
        prop_assert_eq!(tags(&hostile), tags(&page("plain", 5)));
        assert_balanced(&hostile);
    }
}
