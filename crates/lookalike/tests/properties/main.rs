//! The whole path, from bytes to words: whatever the bytes, it ends, in bounded memory, with sensible places.
//!
//! - `pipeline`: the path, and what must hold on it
//! - `samples`: small valid files of every format
//! - `damage`: what can happen to them
//! - `bombs`: small files that are very long inside
//! - `threads`: the same result on any number of threads
//! - `allocator`: how much memory it took

mod allocator;
mod bombs;
mod damage;
mod pipeline;
mod samples;
mod threads;

use lookalike::corpus::{Compression, Format, Namespaces, ReadOptions};
use proptest::prelude::*;

use crate::damage::{any_damage, apply};
use crate::pipeline::{LONGEST, check_shard, check_shard_with, count_records};
use crate::samples::{COMPRESSIONS, Sample, all, compress};

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

fn any_format() -> impl Strategy<Value = Option<Format>> {
    let formats: Vec<Format> = Format::names().map(|name| name.parse().expect("it is a name")).collect();
    prop::option::weighted(0.5, prop::sample::select(formats))
}

fn any_compression() -> impl Strategy<Value = Compression> {
    prop::sample::select(&COMPRESSIONS[..])
}

#[test]
fn samples_are_valid() {
    for Sample { name, format, bytes, documents } in all() {
        for compression in COMPRESSIONS {
            let file = compress(compression, &bytes);
            for forced in [None, Some(format)] {
                let counts = check_shard(name, &file, forced, Some(bytes.len()));
                let found = (counts.documents, counts.rejected);
                assert_eq!(found, (documents as u64, 0), "{name} {compression:?} {forced:?}");
            }
        }
    }
}

#[test]
fn long_shards_need_no_more_memory_than_short_ones() {
    for Sample { name, format, bytes, documents } in all() {
        if format == Format::Parquet {
            continue;
        }
        let times = (3 << 20) / bytes.len() + 1;
        let long = bytes.repeat(times);
        for compression in [Compression::None, Compression::Zstd] {
            let counts = count_records(name, &compress(compression, &long), format, Some(long.len()));
            let one = matches!(format, Format::Email | Format::Html | Format::Text);
            let least = if one { 1 } else { documents * times / 2 };
            assert!(counts.documents + counts.rejected >= least as u64, "{name}: {counts:?}");
        }
    }
}

/// Many words, blocks, entities or pieces in few bytes: what is made of them is much larger than they are.
#[test]
fn what_is_made_of_the_longest_documents_fits_into_memory() {
    let wiki = "<mediawiki><page><title>a</title><ns>0</ns><id>1</id><revision><id>1</id><text>";
    for (format, head, piece, tail) in [
        (Format::Text, "", "a ", ""),
        (Format::Text, "", "東", ""),
        (Format::Html, "", "<p>a", ""),
        (Format::Html, "", "&lt;a", ""),
        (Format::Email, "Subject: a\nFrom: b\n\n", "a\n\n", ""),
        (Format::MediaWiki, wiki, "[[a]]", "</text></revision></page></mediawiki>"),
    ] {
        let times = (LONGEST - head.len() - tail.len()) / piece.len();
        let file = format!("{head}{}{tail}", piece.repeat(times));
        let counts = check_shard("long", file.as_bytes(), Some(format), None);
        assert_eq!((counts.documents, counts.rejected), (1, 0), "{format} {piece:?}");
    }
}

proptest! {
    #![proptest_config(config(1500))]

    #[test]
    fn any_bytes_are_read_to_their_end(
        bytes in prop::collection::vec(any::<u8>(), 0..600),
        compression in any_compression(),
        format in any_format(),
    ) {
        check_shard("shard", &compress(compression, &bytes), format, Some(bytes.len()));
    }

    #[test]
    fn damaged_shards_are_read_to_their_end(
        sample in prop::sample::select(all()),
        damage in any_damage(),
        compression in any_compression(),
        format in any_format(),
    ) {
        let mut bytes = sample.bytes;
        apply(&damage, &mut bytes);
        check_shard(sample.name, &compress(compression, &bytes), format, Some(bytes.len()));
    }

    #[test]
    fn damage_in_compressed_data_costs_what_it_hits(
        samples in prop::collection::vec(prop::sample::select(all()), 1..4),
        compression in any_compression(),
        damage in any_damage(),
        format in any_format(),
    ) {
        let mut bytes: Vec<u8> =
            samples.iter().flat_map(|sample| compress(compression, &sample.bytes)).collect();
        apply(&damage, &mut bytes);
        check_shard(samples[0].name, &bytes, format, None);
    }

    #[test]
    fn short_limits_and_many_revisions_are_read_to_their_end(
        sample in prop::sample::select(all()),
        damage in any_damage(),
        max_document_bytes in 0usize..300,
        revisions in any::<bool>(),
    ) {
        let mut bytes = sample.bytes;
        apply(&damage, &mut bytes);
        let namespaces = Namespaces::All;
        let format = Some(sample.format);
        let options =
            ReadOptions { max_document_bytes, revisions, namespaces, format, ..ReadOptions::default() };
        check_shard_with(sample.name, &bytes, options, None);
    }
}
