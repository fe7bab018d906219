//! Wrong usage: one clear sentence and the right exit code.

use super::support::{Folder, corpus, lookalike};

/// The first line that the parser of the command line says.
fn complaint(words: &str) -> String {
    let done = lookalike(words.split_whitespace()).run().exits(2);
    assert_eq!(done.stdout, "");
    done.stderr.lines().next().unwrap_or_default().to_owned()
}

#[test]
fn a_group_without_a_command_shows_its_help_as_wrong_usage() {
    for words in ["corpus", "index"] {
        let done = lookalike(words.split_whitespace()).run().exits(2);
        assert!(done.stderr.contains("Usage: lookalike"), "{done:?}");
    }
}

#[test]
fn an_input_or_the_sample_is_needed_and_not_both() {
    for command in ["stats", "head", "convert -o x.jsonl"] {
        let missing = lookalike(format!("corpus {command}").split_whitespace()).run().exits(2);
        assert!(missing.stderr.contains("<INPUT>..."), "{missing:?}");
        assert!(missing.stderr.contains("--sample"), "{missing:?}");
        assert!(complaint(&format!("corpus {command} --sample x")).contains("cannot be used with"));
    }
}

#[test]
fn a_mistyped_command_or_option_is_named() {
    assert_eq!(complaint("corpus stat x"), "error: unrecognized subcommand 'stat'");
    assert_eq!(complaint("corpus stats --jsn x"), "error: unexpected argument '--jsn' found");
}

#[test]
fn a_value_that_cannot_be_is_refused_with_what_can() {
    let cases = [
        ("--threads 0", "invalid value '0' for '--threads <N>': a whole number of 1 or more is wanted"),
        (
            "--max-document-bytes 2G",
            "invalid value '2G' for '--max-document-bytes <SIZE>': the limit can be 1 byte up to 128M",
        ),
        (
            "--namespaces x",
            "invalid value 'x' for '--namespaces <LIST>': namespaces are whole numbers with commas between, or all",
        ),
        (
            "--profile x",
            "invalid value 'x' for '--profile <PROFILE>': no profile is called \"x\"; there are web, thesis, kolcz and yandex",
        ),
    ];
    for (option, expected) in cases {
        assert_eq!(complaint(&format!("corpus stats --sample {option}")), format!("error: {expected}"));
    }
    let format = complaint("corpus stats --sample --input-format x");
    assert!(format.ends_with(
        "the formats are jsonl, parquet, warc, arc, trec, mediawiki, mbox, email, csv, tsv, html, text, list"
    ));
    let number = complaint("corpus head --sample -n many");
    assert_eq!(
        number,
        "error: invalid value 'many' for '--number <N>': a whole number such as 100 is wanted"
    );
}

#[test]
fn standard_input_is_read_once() {
    corpus("stats - -").run().fails(2, "standard input can be read only once; give - once");
}

#[test]
fn a_missing_input_is_named() {
    let folder = Folder::new();
    let gone = "gone.jsonl is neither a file, a folder nor a pattern that matches one";
    for command in ["stats", "head", "convert -o x.jsonl"] {
        corpus(command).path("gone.jsonl").inside(folder.path()).run().fails(1, gone);
    }
    let nothing = "*.warc is neither a file, a folder nor a pattern that matches one";
    corpus("stats *.warc").inside(folder.path()).run().fails(1, nothing);
    assert!(folder.names().is_empty());
}

#[test]
fn an_empty_folder_is_no_corpus() {
    let folder = Folder::new();
    folder.file("empty/.hidden", "x");
    let sentence = "empty holds no files to read (left out 1 file: 1 hidden file; name them to read them)";
    corpus("stats empty").inside(folder.path()).run().fails(1, sentence);
}

#[test]
fn an_address_in_a_store_needs_the_part_that_reads_it() {
    if cfg!(feature = "object-store") {
        return;
    }
    let sentence = "s3://a/b needs lookalike built with the cargo feature `object-store`; of the program: build \
                    it with --features full";
    corpus("stats s3://a/b").run().fails(1, sentence);
}

#[test]
fn a_file_is_no_folder_for_results() {
    let folder = Folder::new();
    folder.file("out", "mine");
    let sentence = "out is a file, and results take a folder; name a new or empty one";
    for words in ["dedup --sample -o out", "pairs --sample -o out/p.jsonl", "lab tune --sample -o out"] {
        let done = lookalike(words.split(' ')).inside(folder.path()).run();
        assert!(done.stderr.contains(sentence), "{words}: {}", done.stderr);
        assert_ne!(done.code, Some(0), "{words}");
    }
    let done = lookalike("index create out".split(' ')).inside(folder.path()).run().exits(1);
    assert!(done.stderr.contains("out is there already and is not empty"), "{}", done.stderr);
    assert_eq!(std::fs::read_to_string(folder.join("out")).unwrap(), "mine");
}

#[test]
fn an_output_whose_name_tells_no_format_is_wrong_usage() {
    let folder = Folder::new();
    let any = ".jsonl, .warc (both also with .gz, .zst, .bz2, .xz or .lz4) or .parquet";
    for name in ["x.txt", "-", "x.parquet.gz", "x"] {
        let sentence = format!("{name} says no format to write; let it end in {any}");
        corpus("convert --sample -o").path(name).inside(folder.path()).run().fails(2, &sentence);
    }
    for name in ["x.txt", "-", "x.parquet"] {
        let sentence = format!(
            "{name} says no format to write; let it end in .jsonl, also with .gz, .zst, .bz2, .xz or .lz4"
        );
        corpus("generate -o").path(name).inside(folder.path()).run().fails(2, &sentence);
    }
    assert!(folder.names().is_empty());
}

#[test]
fn an_output_that_cannot_be_written_is_refused_before_the_work() {
    let folder = Folder::new();
    folder.file("folder.jsonl/x", "");
    for command in ["convert --sample", "generate --documents 3"] {
        let run = |output| corpus(command).option("-o", output).inside(folder.path()).run();
        run("none/x.jsonl").fails(1, "cannot write none/x.jsonl: its folder is not there; make it first");
        run("folder.jsonl").fails(1, "cannot write folder.jsonl: it is a folder; name a file");
    }
    let rejected = corpus("stats --sample --rejected none/x.jsonl").inside(folder.path()).run();
    rejected.fails(1, "cannot write none/x.jsonl: its folder is not there; make it first");
    assert_eq!(folder.names(), ["folder.jsonl"]);
}
