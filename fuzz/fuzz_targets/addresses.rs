//! Lists of addresses, and what is made of each: forms, hosts, domains, depths.
#![no_main]

use lookalike_corpus::{Corpus, Format, Item, ReadOptions};
use lookalike_overlap::address::{depth, host, normal, public_suffix, registered_domain, top_level};
use lookalike_overlap::canonical::canonical;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    lookalike_fuzz::check_shard(bytes, ReadOptions { format: Some(Format::List), ..ReadOptions::default() });
    read(&String::from_utf8_lossy(bytes));
    let options = ReadOptions { format: Some(Format::List), ..ReadOptions::default() };
    let corpus = Corpus::in_memory("shard", bytes.into(), options);
    let Ok(mut reader) = corpus.shards()[0].open(corpus.options()) else { return };
    while let Some(item) = reader.next().expect("memory can be read") {
        if let Item::Document(document) = item {
            read(document.url.expect("every line of a list has an address"));
        }
    }
});

/// Forms are their own forms, and names of domains are ends of their hosts.
fn read(address: &str) {
    let (plain, short) = (normal(address), canonical(address));
    assert_eq!(normal(&plain), plain);
    assert_eq!(canonical(&short), short);
    assert_eq!(canonical(&plain), short);
    assert!(depth(address) <= address.len());
    let Some(host) = host(address) else { return };
    assert!(host.ends_with(registered_domain(&host)));
    for end in [top_level(&host), public_suffix(&host)] {
        assert!(end == "ip" || host.ends_with(end));
    }
}
