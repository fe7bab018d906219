//! Snapshots of --help and of results. An intended change is accepted with `INSTA_UPDATE=always cargo test`.

use lookalike_cli::args::help::PAGES;

use super::support::{corpus, lookalike};

fn help(arguments: &str) -> String {
    lookalike(arguments.split_whitespace()).run().exits(0).stdout
}

/// The words of all commands behind `lookalike`; none for the program itself.
fn commands() -> impl Iterator<Item = &'static str> {
    PAGES.iter().map(|page| page.command)
}

fn snapshot_name(command: &str) -> String {
    // Snapshots of `corpus` commands go by their last word, that of the program by its own.
    match command.strip_prefix("corpus ").unwrap_or(command) {
        "" => "program".to_owned(),
        words => words.replace(' ', "-"),
    }
}

#[test]
fn help_of_every_command_in_short() {
    for command in commands() {
        insta::assert_snapshot!(format!("{}-short", snapshot_name(command)), help(&format!("{command} -h")));
    }
}

#[test]
fn help_of_every_command_in_long() {
    for command in commands() {
        insta::assert_snapshot!(
            format!("{}-long", snapshot_name(command)),
            help(&format!("{command} --help"))
        );
    }
}

#[test]
fn short_help_fits_one_screen_and_ends_with_the_way_to_all_of_it() {
    for command in commands() {
        let help = help(&format!("{command} -h"));
        let lines: Vec<&str> = help.lines().collect();
        assert!(lines.len() <= 30, "{command}: {} lines\n{help}", lines.len());
        assert!(lines.iter().all(|line| line.chars().count() <= 100), "{command}:\n{help}");
        assert!(lines.last().is_some_and(|line| line.contains("--help has all")), "{command}:\n{help}");
    }
}

#[test]
fn short_help_has_one_line_per_argument_option_and_command() {
    for command in commands() {
        let help = help(&format!("{command} -h"));
        let (_, entries) =
            help.split_once("\n\n").and_then(|(_, help)| help.split_once("\n\n")).expect("parts");
        let continued = entries.lines().find(|line| line.starts_with("        "));
        assert_eq!(continued, None, "{command}: a line continues the one before");
    }
}

#[test]
fn long_help_has_every_option_and_ends_with_examples() {
    for command in commands() {
        let (short, long) = (help(&format!("{command} -h")), help(&format!("{command} --help")));
        let options = |help: &str| -> Vec<String> {
            let words = help.lines().filter(|line| line.trim_start().starts_with('-'));
            words
                .filter_map(|line| line.split_whitespace().find(|word| word.starts_with("--")))
                .map(str::to_owned)
                .collect()
        };
        let all = options(&long);
        assert!(options(&short).iter().all(|option| all.contains(option)), "{command}:\n{long}");
        assert!(long.contains("\nExamples:\n"), "{command}:\n{long}");
    }
}

#[test]
fn without_arguments_the_first_steps_are_shown_as_wrong_usage() {
    let done = lookalike([] as [&str; 0]).run().exits(2);
    assert_eq!(done.stdout, "");
    insta::assert_snapshot!("first-steps", done.stderr);
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
