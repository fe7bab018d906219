//! Two crawls and what is known of them: counted again by a reader that shares no code with the generator.

use std::collections::{BTreeMap, BTreeSet};

use lookalike_generate::crawls::files::{Files, WrittenCounts, write};
use lookalike_generate::crawls::{CopyKind, CrawlItem, Crawls, Fate, JudgedPage, NEAR, Spelling};
use proptest::prelude::*;
use xxhash_rust::xxh3::xxh3_64;

use crate::reader;

const SMALL: Crawls = Crawls { old: 400, new: 900, judged: 150, segments: 20, seed: 3 };

/// The pages of both crawls as sets of words, and what is known of the judged ones.
struct CrawlContents {
    old: BTreeMap<String, BTreeSet<String>>,
    new: BTreeMap<String, (u32, BTreeSet<String>)>,
    judged: Vec<JudgedPage>,
}

fn read_crawls(crawls: &Crawls) -> CrawlContents {
    let mut seen = CrawlContents { old: BTreeMap::new(), new: BTreeMap::new(), judged: Vec::new() };
    let words =
        |media, content: &str| reader::words(&reader::visible_in(media, content)).into_iter().collect();
    crawls
        .visit(|item| {
            match item {
                CrawlItem::Old(page) => {
                    drop(seen.old.insert(page.id.to_owned(), words(page.media, page.content)))
                }
                CrawlItem::New { segment, page } => {
                    seen.new.insert(page.id.to_owned(), (segment, words(page.media, page.content)));
                }
                CrawlItem::Judged(page) => seen.judged.push(page.clone()),
            }
            Ok::<(), ()>(())
        })
        .unwrap();
    seen
}

fn jaccard(a: &BTreeSet<String>, b: &BTreeSet<String>) -> (u64, u64) {
    let common = a.intersection(b).count() as u64;
    (common, (a.len() + b.len()) as u64 - common)
}

#[test]
fn the_truth_is_all_there_is() {
    let seen = read_crawls(&SMALL);
    assert_eq!((seen.old.len(), seen.new.len(), seen.judged.len()), (400, 900, 150));
    for page in &seen.judged {
        let old = &seen.old[&page.document];
        for (name, (segment, new)) in &seen.new {
            let (common, all) = jaccard(old, new);
            match page.copies.iter().find(|copy| copy.document == *name) {
                Some(copy) => {
                    assert_eq!(
                        (copy.intersection, copy.union, copy.segment),
                        (common, all, *segment),
                        "{name}"
                    );
                    assert_eq!(copy.jaccard, common as f64 / all as f64);
                }
                // Pages of other stories are far away.
                None => assert!(common * 10 < all * 6, "{} and {name}: {common} of {all}", page.document),
            }
        }
    }
}

#[test]
fn every_fate_is_what_it_says() {
    let judged = read_crawls(&Crawls { judged: 400, ..SMALL }).judged;
    let mut fates: BTreeMap<Fate, u64> = BTreeMap::new();
    for page in &judged {
        *fates.entry(page.fate).or_default() += 1;
        let own: Vec<_> = page.copies.iter().filter(|copy| copy.kind == CopyKind::Page).collect();
        match page.fate {
            Fate::Same => assert_eq!((own[0].jaccard, own[0].address == Spelling::Other), (1.0, false)),
            Fate::Edited => {
                assert!((NEAR..1.0).contains(&own[0].jaccard) && own[0].address != Spelling::Other);
            }
            Fate::Rewritten => {
                assert!(own[0].jaccard < NEAR && own[0].address != Spelling::Other);
                assert!(page.copies.iter().all(|copy| copy.jaccard < NEAR));
            }
            Fate::Gone => assert!(page.copies.iter().all(|copy| copy.kind == CopyKind::Distractor)),
            Fate::Moved => assert!(own[0].jaccard >= NEAR && own[0].address == Spelling::Other),
            Fate::Twin => assert!(page.copies.iter().all(|copy| copy.address == Spelling::Other)),
        }
        for copy in page.copies.iter().filter(|copy| copy.address != Spelling::Other) {
            assert_eq!(copy.url == page.url, copy.address == Spelling::Same);
        }
        if page.fate != Fate::Twin {
            let band = |copy: &&lookalike_generate::crawls::NewCopy| (0.75..NEAR).contains(&copy.jaccard);
            assert!(
                page.copies.iter().filter(|copy| copy.kind == CopyKind::Distractor).all(|copy| band(&copy))
            );
            assert!(
                page.copies
                    .iter()
                    .filter(|copy| copy.kind == CopyKind::Mirror)
                    .all(|copy| copy.jaccard >= NEAR)
            );
        }
    }
    assert_eq!(fates.len(), 6, "{fates:?}");
}

fn written(crawls: &Crawls) -> (WrittenCounts, Files<Vec<u8>>) {
    let new = vec![Vec::new(); crawls.segments as usize];
    let mut files = Files { old: Vec::new(), new, judgments: Vec::new(), truth: Vec::new() };
    (write(crawls, &mut files).unwrap(), files)
}

#[test]
fn files_hold_what_they_should() {
    let (counts, files) = written(&SMALL);
    let lines = |bytes: &[u8]| bytes.iter().filter(|byte| **byte == b'\n').count() as u64;
    assert_eq!(
        (lines(&files.old), lines(&files.truth), lines(&files.judgments)),
        (400, 150, counts.judgments)
    );
    assert_eq!(files.new.iter().map(|segment| lines(segment)).sum::<u64>(), counts.new);
    assert!(files.new.iter().all(|segment| !segment.is_empty()));
    let truth: Vec<JudgedPage> = String::from_utf8(files.truth)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let near = |page: &JudgedPage| page.copies.iter().filter(|copy| copy.jaccard >= NEAR).count() as u64;
    assert_eq!(truth.iter().map(near).sum::<u64>(), counts.pairs);
    assert_eq!(truth.iter().filter(|page| near(page) > 0).count() as u64, counts.found_again);
    let judgments = String::from_utf8(files.judgments).unwrap();
    let mut expected: Vec<(u32, &str, i8)> = truth
        .iter()
        .flat_map(|page| page.judgments.iter().map(|one| (one.topic, page.document.as_str(), one.grade)))
        .collect();
    expected.sort_unstable();
    let expected: Vec<String> =
        expected.iter().map(|(topic, document, grade)| format!("{topic} 0 {document} {grade}")).collect();
    assert_eq!(judgments.lines().collect::<Vec<_>>(), expected);
}

/// Pins the bytes of the crawls: once they change, figures measured on older crawls no longer hold for them.
#[test]
fn crawls_are_what_they_were() {
    let (counts, files) = written(&SMALL);
    let (again, other) = (written(&SMALL), written(&Crawls { seed: 4, ..SMALL }));
    assert_eq!((again.0, &again.1.old, &again.1.new), (counts, &files.old, &files.new));
    assert_ne!(other.1.old, files.old);
    let all = [&files.old, &files.new.concat(), &files.judgments, &files.truth].map(|bytes| xxh3_64(bytes));
    assert_eq!(
        all,
        [0x2f9c_95ba_ae5c_8618, 0xf7fd_b11d_65e9_8a9f, 0xddfd_9af1_bf94_3401, 0xdbc8_ebed_83b1_11a0]
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn crawls_of_every_size_hold_together(old in 0u64..90, new in 0u64..120, judged in 0u64..100, segments in 1u32..25, seed: u64) {
        let crawls = Crawls { old, new, judged, segments, seed };
        let (counts, _) = written(&crawls);
        prop_assert_eq!((counts.old, counts.new, counts.judged), (old, crawls.new_documents(), judged.min(old)));
        prop_assert!(counts.judgments >= counts.judged && counts.found_again <= counts.judged);
    }
}
