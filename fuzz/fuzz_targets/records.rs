//! Every format but Parquet and lists of addresses: the first byte picks one, the rest is the shard.
#![no_main]

use lookalike_corpus::{Format, Namespaces, ReadOptions};

/// `None` leaves the format to what the shard shows. The letter that picks a format stands behind it; with the
/// twelfth letter before it (`e` for `q`), a wiki's pages are read without their history.
const FORMATS: [Option<Format>; 12] = [
    None,                    // x
    Some(Format::Jsonl),     // m
    Some(Format::Warc),      // n
    Some(Format::Arc),       // o
    Some(Format::Trec),      // p
    Some(Format::MediaWiki), // q
    Some(Format::Mbox),      // r
    Some(Format::Email),     // s
    Some(Format::Csv),       // t
    Some(Format::Tsv),       // u
    Some(Format::Html),      // v
    Some(Format::Text),      // w
];

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let [pick, shard @ ..] = bytes {
        let pick = usize::from(*pick);
        let mut options = ReadOptions { format: FORMATS[pick % FORMATS.len()], ..ReadOptions::default() };
        if pick / FORMATS.len() % 2 == 1 {
            options.revisions = true;
            options.namespaces = Namespaces::All;
        }
        lookalike_fuzz::check_shard(shard, options);
    }
});
