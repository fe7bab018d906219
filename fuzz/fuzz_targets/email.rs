//! Messages: headers, parts, transfer encodings, words.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| lookalike_fuzz::check_document(
    lookalike_model::Media::Email,
    bytes
));
