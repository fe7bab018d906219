//! Snapshots of --help and of results. An intended change is accepted with `INSTA_UPDATE=always cargo test`.

use super::support::{corpus, lookalike};

fn help(arguments: &str) -> String {
    lookalike(arguments.split_whitespace()).run().exits(0).stdout
}

#[test]
fn help_of_the_program() {
    insta::assert_snapshot!("program", help("--help"));
}

#[test]
fn help_of_corpus() {
    insta::assert_snapshot!("corpus", help("corpus --help"));
}

#[test]
fn help_of_every_command_in_short() {
    for command in ["stats", "head", "convert", "generate", "apply"] {
        insta::assert_snapshot!(format!("{command}-short"), help(&format!("corpus {command} -h")));
    }
}

#[test]
fn help_of_every_command_in_long() {
    for command in ["stats", "head", "convert", "generate", "apply"] {
        insta::assert_snapshot!(format!("{command}-long"), help(&format!("corpus {command} --help")));
    }
}

/// The commands that run jobs.
const JOBS: [&str; 35] = [
    "census size",
    "census compare",
    "census sample",
    "census walk",
    "census ip",
    "census index",
    "dedup",
    "pairs",
    "compare",
    "transfer",
    "urls",
    "lexicon",
    "methods",
    "presets",
    "lab",
    "judgments",
    "judgments stats",
    "judgments dedup",
    "runs",
    "runs dedup",
    "lab compare",
    "lab tune",
    "lab check",
    "lab review",
    "lab experiment",
    "serve",
    "bench serve",
    "index",
    "index create",
    "index add",
    "index query",
    "index remove",
    "index merge",
    "index check",
    "index stats",
];

#[test]
fn help_of_every_job_in_short() {
    for command in JOBS {
        let name = command.replace(' ', "-");
        insta::assert_snapshot!(format!("{name}-short"), help(&format!("{command} -h")));
    }
}

#[test]
fn help_of_every_job_in_long() {
    for command in JOBS {
        let name = command.replace(' ', "-");
        insta::assert_snapshot!(format!("{name}-long"), help(&format!("{command} --help")));
    }
}

#[test]
fn short_help_has_one_line_per_option() {
    for command in ["stats", "head", "convert", "generate", "apply"] {
        let help = help(&format!("corpus {command} -h"));
        let options = help.lines().skip_while(|line| *line != "Options:");
        for line in options.filter(|line| line.starts_with(' ')) {
            assert!(line.trim_start().starts_with('-'), "{command}: {line:?} continues the line before");
        }
    }
}

#[test]
fn stats_of_the_sample() {
    insta::assert_snapshot!("sample-stats", corpus("stats --sample").run().exits(0).stdout);
}

#[test]
fn stats_of_the_sample_as_json() {
    let done = corpus("stats --sample --json").run().exits(0);
    done.json();
    insta::assert_snapshot!("sample-stats-json", done.stdout);
}

#[test]
fn head_of_the_sample() {
    for show in ["text", "words", "sentences", "shingles"] {
        let done = corpus(&format!("head --sample -n 2 --show {show}")).run().exits(0);
        insta::assert_snapshot!(format!("sample-head-{show}"), beginnings(&done.stdout));
    }
}

/// The first lines of every document, each cut to a readable length.
fn beginnings(head: &str) -> String {
    let cut = |line: &str| line.chars().take(80).collect::<String>();
    let mut out = Vec::new();
    let mut since_title = 0;
    for line in head.lines() {
        since_title = if line.starts_with("== ") { 0 } else { since_title + 1 };
        if since_title < 6 {
            out.push(cut(line).trim_end().to_owned());
        }
    }
    out.join("\n")
}
