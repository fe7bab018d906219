//! The arrangement of help: options that `-h` shows, commands that stand together, examples, colours.
//!
//! The texts of commands and options are their doc comments. `-h` is for a person who wants to begin, and fits one screen: it shows
//! arguments, what is required, and the options that [`PAGES`] names. `--help` shows everything, and ends with examples.

mod pages;

use clap::Command;
use clap::builder::StyledStr;
use clap::builder::styling::{AnsiColor, Style, Styles};

pub use pages::{Example, PAGES, Page};

/// The answer to `lookalike` alone: what to type first.
///
/// It goes to standard error with the exit code of wrong usage, as with git, go and whatever is built on clap: a script whose command
/// came out empty has done nothing, and should notice.
pub const FIRST_STEPS: &str = "\
lookalike finds near-duplicate documents in text corpora. What to type first:

  lookalike dedup --sample           try it on 3,000 built-in pages; results are in lookalike-sample/
  lookalike dedup crawl/ -o clean    your own files: JSON lines, Parquet, WARC, HTML, text and more
  lookalike -h                       all commands
  lookalike dedup -h                 the options of a command that matter; --help has all of them
";

/// Colours of help and errors, for terminals; clap leaves them out elsewhere, and where `NO_COLOR` is set.
const STYLES: Styles = Styles::styled()
    .header(HEADING)
    .usage(HEADING)
    .literal(LITERAL)
    .placeholder(AnsiColor::Cyan.on_default())
    .error(ERROR)
    .valid(AnsiColor::Green.on_default())
    .invalid(AnsiColor::Yellow.on_default());

const HEADING: Style = AnsiColor::Green.on_default().bold();
const LITERAL: Style = AnsiColor::Cyan.on_default().bold();

/// The style of the first word of an error.
pub const ERROR: Style = AnsiColor::Red.on_default().bold();

/// Commands that stand together in the help of the program.
struct CommandGroup {
    title: &'static str,
    /// Commands that `lookalike -h` lists.
    common: &'static [&'static str],
    /// Further ones, which `lookalike --help` lists behind them.
    others: &'static [&'static str],
}

const COMMAND_GROUPS: [CommandGroup; 4] = [
    CommandGroup {
        title: "Near-duplicates",
        common: &["dedup", "pairs", "compare", "diff", "check", "index", "serve"],
        others: &[],
    },
    CommandGroup {
        title: "Methods and corpora",
        common: &["methods", "presets", "lab", "corpus"],
        others: &["lexicon"],
    },
    CommandGroup {
        title: "Crawls, relevance judgments, search engines",
        common: &["urls", "transfer", "census"],
        others: &["judgments", "runs"],
    },
    CommandGroup { title: "The program itself", common: &[], others: &["completions", "man", "bench"] },
];

/// Arranges the help of the program and of all its commands.
pub(super) fn arrange(program: Command) -> Command {
    let common = list_commands(&program, |group| group.common.to_vec());
    let all = list_commands(&program, |group| [group.common, group.others].concat());
    arrange_command(program, "")
        .styles(STYLES)
        .help_template(format!(
            "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{{before-help}}{HEADING}Options:{HEADING:#}\n{{options}}{{after-help}}"
        ))
        .before_help(common)
        .before_long_help(all)
}

/// Lists the commands of all groups, each with the first line of its help.
fn list_commands(program: &Command, listed: impl Fn(&CommandGroup) -> Vec<&'static str>) -> StyledStr {
    let about = |name: &str| program.find_subcommand(name).and_then(Command::get_about).cloned();
    let mut groups = Vec::new();
    for group in &COMMAND_GROUPS {
        let lines: Vec<String> = listed(group)
            .into_iter()
            .map(|name| format!("\n  {LITERAL}{name:<12}{LITERAL:#}{}", about(name).unwrap_or_default()))
            .collect();
        if !lines.is_empty() {
            groups.push(format!("{HEADING}{}:{HEADING:#}{}", group.title, lines.concat()));
        }
    }
    groups.join("\n\n").into()
}

/// Arranges the help of a command, whose words stand behind `lookalike`, and of those below it.
fn arrange_command(command: Command, words: &str) -> Command {
    let below = |name: &str| if words.is_empty() { name.to_owned() } else { format!("{words} {name}") };
    let command = command.mut_subcommands(|command| {
        let words = below(command.get_name());
        arrange_command(command, &words)
    });
    let page = PAGES.iter().find(|page| page.command == words);
    let options = page.map_or(&[][..], |page| page.options);
    let examples = page.map_or(&[][..], |page| page.examples);
    let has_commands = command.get_subcommands().next().is_some();
    command
        .mut_args(|arg| {
            let always = arg.is_positional() || arg.is_required_set() || arg.is_global_set();
            let shown = always || options.contains(&arg.get_id().as_str());
            arg.hide_short_help(!shown)
        })
        .after_help(last_line(words, has_commands && options.is_empty()))
        .after_long_help(render_examples(examples))
}

/// The last line of short help.
fn last_line(words: &str, has_commands: bool) -> String {
    let program = format!("lookalike {words}");
    let program = program.trim_end();
    if has_commands {
        return format!("{program} COMMAND -h has the options that matter; --help has all, with examples.");
    }
    format!("{program} --help has all options, and examples.")
}

fn render_examples(examples: &[Example]) -> StyledStr {
    let mut text = format!("{HEADING}Examples:{HEADING:#}");
    for (command, purpose) in examples {
        text += &format!("\n  {LITERAL}{command}{LITERAL:#}\n      {purpose}");
    }
    text.into()
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    use super::*;
    use crate::args::Cli;

    /// The words of every command, those of groups of commands as well.
    fn all_commands(command: &Command, words: &str, all: &mut Vec<String>) {
        for below in command.get_subcommands() {
            let words = format!("{words} {}", below.get_name()).trim().to_owned();
            all_commands(below, &words, all);
            all.push(words);
        }
    }

    fn find<'c>(program: &'c Command, words: &str) -> &'c Command {
        words.split_whitespace().fold(program, |command, name| {
            command.find_subcommand(name).unwrap_or_else(|| panic!("there is no command {words}"))
        })
    }

    #[test]
    fn every_command_has_a_page_with_options_that_it_has() {
        let program = Cli::command();
        let mut all = Vec::new();
        all_commands(&program, "", &mut all);
        for words in &all {
            assert!(PAGES.iter().any(|page| page.command == words), "{words} has no page");
        }
        for page in PAGES {
            let command = find(&program, page.command);
            for option in page.options {
                let there = command.get_arguments().any(|arg| arg.get_id() == option);
                assert!(there, "{} has no option {option}", page.command);
            }
        }
    }

    #[test]
    fn every_command_is_listed_once_and_below_80_columns() {
        let program = Cli::command();
        for command in program.get_subcommands().filter(|command| !command.is_hide_set()) {
            let name = command.get_name();
            let groups = COMMAND_GROUPS.iter().flat_map(|group| group.common.iter().chain(group.others));
            assert_eq!(groups.filter(|listed| **listed == name).count(), 1, "{name}");
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            assert!(13 + about.chars().count() <= 80, "{name}: {about}");
        }
    }

    /// The words of an example as a shell would hand them over: those behind the last pipe, without quotes and redirections.
    fn words(command: &str) -> Vec<String> {
        let last = command.rsplit(" | ").next().unwrap_or(command);
        let typed = last.split_whitespace().take_while(|word| !word.starts_with('>'));
        typed.map(|word| word.trim_matches('\'').to_owned()).collect()
    }

    #[test]
    fn every_page_has_examples_that_are_understood_the_first_of_its_own_command() {
        for page in PAGES {
            assert!((2..=4).contains(&page.examples.len()), "{}", page.command);
            let first = words(page.examples[0].0);
            let own = std::iter::once("lookalike").chain(page.command.split_whitespace());
            assert!(own.zip(&first).all(|(name, word)| name == word), "{first:?} of {}", page.command);
            for (command, purpose) in page.examples {
                assert!(command.len() <= 96 && purpose.len() <= 92, "{command} is wider than a screen");
                Cli::try_parse_from(words(command)).unwrap_or_else(|error| panic!("{command}: {error}"));
            }
        }
    }
}
