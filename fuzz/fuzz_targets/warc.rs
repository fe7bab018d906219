//! Crawl files: framing, headers, HTTP bodies, and the text of the pages in them.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| lookalike_fuzz::walk(bytes, Some(lookalike_corpus::Format::Warc)));
