//! Pages: charset, tags, entities, main content, words.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| lookalike_fuzz::check_document(
    lookalike_model::Media::Html,
    bytes
));
