//! The page as a browser meets it: well formed, closed to the network, and deaf to what documents say.

use lookalike_model::Similarity;
use lookalike_model::{BigCluster, Section, SourceCounts};
use lookalike_report::{
    Bin, Change, Comparison, Counts, Kind, Measure, PairSample, PairSide, Report, Segment, SizeBin,
    TextSpans, render,
};
use proptest::prelude::*;

use crate::example;
use crate::markup::{assert_balanced, hostile, tags};

/// A small report in which every text is `text`.
fn filled(text: &str) -> Report {
    let segment =
        |change| Segment { change, words: 2, text: Some(text.to_owned()), spans: TextSpans::default() };
    let comparison = Comparison {
        kind: Kind::Other,
        words_a: 5,
        words_b: 5,
        shared: 2,
        removed: 2,
        added: 2,
        uncompared: 1,
        segments: vec![
            segment(Change::Equal),
            segment(Change::Removed),
            segment(Change::Added),
            Segment { change: Change::Uncompared, words: 1, text: None, spans: TextSpans::default() },
        ],
    };
    let sample = |section| PairSample {
        section,
        id_a: text.to_owned(),
        id_b: text.to_owned(),
        url_a: Some(text.to_owned()),
        url_b: Some(text.to_owned()),
        similarity: Some(0.81),
        removed: Some(PairSide::A),
        comparison: comparison.clone(),
    };
    let slice = SourceCounts { name: text.to_owned(), documents: 3, removed: 1 };
    Report {
        title: text.to_owned(),
        recipe: text.to_owned(),
        counts: Counts::default(),
        measure: Measure { similarity: Similarity::Jaccard, shingle: 5, threshold: 0.8 },
        unverified: true,
        components: true,
        notes: vec![text.to_owned()],
        similarities: vec![Bin { lower: 0.5, pairs: 3 }, Bin { lower: 0.75, pairs: 0 }],
        sizes: vec![SizeBin { least: 2, most: 2, clusters: 1 }],
        sources: vec![slice.clone()],
        hosts: vec![slice],
        biggest: vec![BigCluster {
            cluster: 0,
            keep: text.to_owned(),
            size: 2,
            members: vec![text.to_owned()],
            excerpt: text.to_owned(),
        }],
        samples: [Section::Above, Section::Below, Section::Random].map(sample).into(),
        rejections: vec![(text.to_owned(), 1)],
    }
}

fn empty() -> Report {
    Report {
        notes: Vec::new(),
        similarities: Vec::new(),
        sizes: Vec::new(),
        sources: Vec::new(),
        hosts: Vec::new(),
        biggest: Vec::new(),
        samples: Vec::new(),
        rejections: Vec::new(),
        unverified: false,
        components: false,
        ..filled("")
    }
}

#[test]
fn every_element_is_closed() {
    assert_balanced(&render(&example::report()));
    assert_balanced(&render(&filled("plain")));
    assert_balanced(&render(&empty()));
}

#[test]
fn nothing_is_loaded_and_nothing_runs() {
    let page = render(&example::report());
    for tag in tags(&page) {
        let mut words = tag.split(' ');
        let name = words.next().unwrap_or_default();
        assert!(!["script", "link", "img", "iframe", "object", "embed", "base", "form", "a"].contains(&name));
        for attribute in words {
            assert!(!["src", "href", "style", "srcset"].contains(&attribute), "{tag}");
            assert!(!attribute.starts_with("on"), "{tag}");
        }
    }
    assert!(page.contains("content=\"default-src &#39;none&#39;; style-src &#39;unsafe-inline&#39;;"));
    assert!(!page.contains("@import") && !page.contains("url("));
}

#[test]
fn equal_reports_give_equal_pages() {
    assert_eq!(render(&example::report()), render(&example::report()));
}

#[test]
fn the_page_shows_what_a_judgment_needs() {
    let page = render(&example::report());
    for words in [
        "Of 1,234,567 documents, 1,002,345 were kept, 232,202 removed (18.8 %) and 20 rejected.",
        "threshold 0.8",
        "Just above the threshold",
        "Just below the threshold",
        "equal words …",
        "<del>",
        "<ins>",
        "class=\"bar below\"",
        "Chains of similar pairs removed documents",
        "17 records were lost there",
        "permutations=128",
    ] {
        assert!(page.contains(words), "{words}");
    }
    assert!(!page.contains("not verified") && !page.contains("do not add up"));
}

#[test]
fn a_run_that_is_not_what_it_should_be_says_so() {
    let mut report = empty();
    assert!(!render(&report).contains("class=\"notes\""));
    report.unverified = true;
    report.counts.documents = 1;
    let page = render(&report);
    assert!(page.contains("not verified") && page.contains("do not add up"));
}

#[test]
fn figures_at_the_edges_are_drawn() {
    let mut report = filled("x");
    report.counts.kept = u64::MAX;
    report.counts.removed = u64::MAX;
    report.similarities = vec![Bin { lower: 1.0, pairs: u64::MAX / 2 }];
    report.measure.threshold = 1.0;
    let page = render(&report);
    assert_balanced(&page);
    assert!(!page.contains("NaN") && !page.contains("inf\""));
}

#[test]
fn a_report_is_json_as_well() {
    let value = serde_json::to_value(example::report()).expect("plain data");
    assert_eq!(value["counts"]["removed"], 232_202);
    assert_eq!(value["samples"][0]["section"], "above");
    assert_eq!(value["measure"]["similarity"], "jaccard");
}

proptest! {
    #[test]
    fn documents_cannot_change_the_page(text in hostile()) {
        let page = render(&filled(&text));
        prop_assert_eq!(tags(&page), tags(&render(&filled("plain"))));
        assert_balanced(&page);
    }
}
