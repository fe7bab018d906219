//! The examples run and find what they say; each asserts its own result.

#[path = "../../examples/crawler.rs"]
mod crawler;
#[path = "../../examples/folder_of_files.rs"]
mod folder_of_files;
#[path = "../../examples/own_method.rs"]
mod own_method;
#[path = "../../examples/texts_in_memory.rs"]
mod texts_in_memory;
#[path = "../../examples/two_corpora.rs"]
mod two_corpora;

#[test]
fn texts_in_memory() {
    texts_in_memory::main().unwrap();
}

#[test]
fn a_folder_of_files() {
    folder_of_files::main().unwrap();
}

#[test]
fn an_index_in_a_crawler() {
    crawler::main().unwrap();
}

#[test]
fn two_corpora_compared() {
    two_corpora::main().unwrap();
}

#[test]
fn a_method_of_ones_own() {
    own_method::main().unwrap();
}
