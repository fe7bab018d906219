//! The same plan gives the same bytes, in bounded memory, whatever its size.

use lookalike_generate::{Plan, TruthLine, write_jsonl};
use proptest::prelude::*;
use xxhash_rust::xxh3::xxh3_64;

fn write(plan: Plan) -> (Vec<u8>, Vec<u8>) {
    let (mut documents, mut truth) = (Vec::new(), Vec::new());
    write_jsonl(plan, &mut documents, &mut truth).unwrap();
    (documents, truth)
}

#[test]
fn two_runs_give_equal_bytes() {
    let plan = Plan { documents: 700, seed: 11 };
    assert_eq!(write(plan), write(plan));
    assert_ne!(write(plan).0, write(Plan { seed: 12, ..plan }).0);
}

/// Pins the bytes of the corpus: once they change, figures measured on an older corpus no longer hold for it.
#[test]
fn the_first_documents_are_what_they_were() {
    let (documents, truth) = write(Plan { documents: 500, seed: 1 });
    assert_eq!(xxh3_64(&documents), 0x6a8a_bd6a_2a06_85cf);
    assert_eq!(xxh3_64(&truth), 0x0807_8103_47e2_5a6a);
}

#[test]
fn memory_stays_bounded_over_two_hundred_thousand_documents() {
    const BOUND: usize = 4 << 20;
    let plan = Plan { documents: 200_000, seed: 5 };
    let mut documents = plan.documents();
    while documents.next().is_some() {
        assert!(documents.memory() < BOUND, "{} bytes", documents.memory());
    }
    let mut truth = plan.truth();
    while truth.next().is_some() {
        assert!(truth.memory() < BOUND, "{} bytes", truth.memory());
    }
}

#[test]
fn a_huge_plan_starts_at_once_and_can_be_entered_anywhere() {
    let plan = Plan { documents: 10_000_000, seed: 9 };
    let mut documents = plan.documents();
    let text = documents.get(9_999_999).unwrap().content.to_owned();
    assert_eq!(documents.get(9_999_999).unwrap().content, text);
    assert!(documents.get(10_000_000).is_none());
    assert!(plan.truth().nth(1000).is_some());
}

#[test]
fn every_line_is_json() {
    let (documents, truth) = write(Plan { documents: 400, seed: 2 });
    for line in String::from_utf8(documents).unwrap().lines() {
        let value: serde_json::Value = serde_json::from_str(line).unwrap();
        assert!(value["id"].is_string() && value["url"].is_string());
        assert!(value["text"].is_string() != value["html"].is_string());
    }
    for line in String::from_utf8(truth).unwrap().lines() {
        let pair: TruthLine = serde_json::from_str(line).unwrap();
        assert!((pair.jaccard - pair.intersection as f64 / pair.union as f64).abs() < 1e-12);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn plans_of_every_size_hold_together(documents in 0u64..400, seed: u64) {
        let plan = Plan { documents, seed };
        let mut stream = plan.documents();
        let mut count = 0;
        while stream.next().is_some() {
            count += 1;
        }
        prop_assert_eq!(count, documents);
        for pair in plan.truth() {
            prop_assert!(pair.a < documents && pair.b < documents && pair.a != pair.b);
            prop_assert!(pair.intersection <= pair.union);
        }
    }
}
