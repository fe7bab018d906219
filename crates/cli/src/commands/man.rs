//! `lookalike man`: a manual page for every command.

use std::io::{self, Write};

use clap::Command;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};
use lookalike::corpus::CorpusError;
use serde::Serialize;

use crate::args::help::PAGES;
use crate::args::{Cli, ManArgs};
use crate::console::print_counts;
use crate::exit::{Failure, Outcome};
use crate::progress::thousands;

/// The counts that are printed.
#[derive(Serialize)]
struct ManReport {
    pages: u64,
}

pub(crate) fn run(args: &ManArgs) -> Result<Outcome, Failure> {
    let write_error = |source| CorpusError::Write { name: args.folder.display().to_string(), source };
    std::fs::create_dir_all(&args.folder).map_err(write_error)?;
    let mut program = Cli::arranged();
    // Commands below learn their full names and the options that all have.
    program.build();
    let mut report = ManReport { pages: 0 };
    write_pages(&program, "", &mut |name: &str, page: &[u8]| {
        report.pages += 1;
        std::fs::write(args.folder.join(name), page)
    })
    .map_err(write_error)?;
    print_counts(args.json, &report, |out| {
        writeln!(out, "{} manual pages in {}", thousands(report.pages), args.folder.display())
    })?;
    Ok(Outcome::Done)
}

/// Hands the page of a command, whose words stand behind `lookalike`, and those of all commands below it to `write`.
fn write_pages(
    command: &Command,
    words: &str,
    write: &mut impl FnMut(&str, &[u8]) -> io::Result<()>,
) -> io::Result<()> {
    let man = Man::new(command.clone())
        .manual("lookalike")
        .source(concat!("lookalike ", env!("CARGO_PKG_VERSION")));
    write(&man.get_filename(), &render(&man, command, words)?)?;
    for below in command.get_subcommands().filter(|below| below.get_name() != "help") {
        write_pages(below, format!("{words} {}", below.get_name()).trim(), write)?;
    }
    Ok(())
}

fn render(man: &Man, command: &Command, words: &str) -> io::Result<Vec<u8>> {
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if command.get_subcommands().next().is_some() {
        man.render_subcommands_section(&mut page)?;
    }
    render_examples(words, &mut page)?;
    Ok(page)
}

/// Writes the examples of a command, each line by itself; the generator's own section would fill them up to paragraphs.
fn render_examples(words: &str, page: &mut Vec<u8>) -> io::Result<()> {
    let mut section = Roff::new();
    section.control("SH", ["EXAMPLES"]);
    for (command, purpose) in PAGES.iter().filter(|page| page.command == words).flat_map(|page| page.examples)
    {
        section.control("TP", []);
        section.text([bold(*command)]);
        section.text([roman(*purpose)]);
    }
    section.to_writer(page)
}
