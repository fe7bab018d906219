//! Crawl files: framing, headers, HTTP bodies, and the text of the pages in them.
#![no_main]

use lookalike_corpus::{Format, ReadOptions};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    lookalike_fuzz::check_shard(bytes, ReadOptions { format: Some(Format::Warc), ..ReadOptions::default() });
});
