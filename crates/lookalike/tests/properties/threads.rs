//! Tests that the place of a document does not depend on the thread that read it.

use lookalike::corpus::{Corpus, ReadOptions};
use lookalike::text::extract::ContentMode;
use lookalike::walk::{self, WalkItem, Watch};

use crate::samples::{COMPRESSIONS, all, compress};

/// Shard, record and id of everything that counts; rejected records have their reason instead.
type Entry = (String, u64, String);

fn entries(corpus: &Corpus, threads: usize) -> Vec<Vec<Entry>> {
    let work = |shard: &lookalike::corpus::Shard| {
        let mut found = Vec::new();
        walk::documents(shard, corpus.options(), ContentMode::Page, &Watch::default(), |item| {
            found.extend(match item {
                WalkItem::Document { document, .. } => {
                    Some((shard.name.clone(), document.place.record, document.id.to_owned()))
                }
                WalkItem::Rejected(rejection) => {
                    Some((shard.name.clone(), rejection.place.record, rejection.reason.to_string()))
                }
                WalkItem::Skipped(_) => None,
            });
            Ok(())
        })?;
        Ok(found)
    };
    walk::shards(corpus, threads, work).expect("all shards can be read")
}

#[test]
fn order_and_numbers_do_not_depend_on_threads() {
    let folder = tempfile::tempdir().unwrap();
    for sample in all() {
        for compression in COMPRESSIONS {
            let name = format!("{}{}", sample.name, compression.suffix());
            let mut bytes = compress(compression, &sample.bytes);
            std::fs::write(folder.path().join(&name), &bytes).unwrap();
            // Parquet that is cut is refused as a whole: its end says what is in it.
            if !sample.name.ends_with("parquet") {
                bytes.truncate(bytes.len() * 3 / 4);
                std::fs::write(folder.path().join(format!("cut-{name}")), &bytes).unwrap();
            }
        }
    }
    let corpus = Corpus::open(&[folder.path().display().to_string()], ReadOptions::default()).unwrap();
    let alone = entries(&corpus, 1);
    assert_eq!(alone.len(), corpus.shards().len());
    assert!(alone.iter().flatten().count() > 150);
    for shard in &alone {
        assert!(shard.iter().enumerate().all(|(number, (_, record, _))| *record == number as u64));
    }
    for threads in [2, 5] {
        assert_eq!(entries(&corpus, threads), alone, "{threads} threads");
    }
}
