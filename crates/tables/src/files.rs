//! All files that commands leave in their output folders, and the reference of them in `docs/files.md`.

use std::fmt::Write;

use lookalike_corpus::write::rows::{Column, Kind};

use crate::{
    Table, best, clusters, compared, compared_groups, domains, groups, mapping, measured_pairs, missing,
    overlap, pairs, rejected, removed, review, snapshots, stats_rejected, survival, topics, urls_rejected,
};

/// A command with the files that it writes.
#[derive(Debug, Clone, Copy)]
pub struct CommandFiles {
    /// The command, as it is typed.
    pub command: &'static str,
    /// A sentence or two about its output.
    pub about: &'static str,
    /// The files, in the order in which a reader wants them.
    pub files: &'static [OutputFile],
}

/// A file of a command's output.
#[derive(Debug, Clone, Copy)]
pub enum OutputFile {
    /// A table whose columns are listed, and the endings that its file may have.
    Table(Table, Endings),
    /// Another file or folder, and a sentence about it.
    Other(&'static str, &'static str),
}

/// The endings that the file of a table may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Endings {
    /// `.jsonl`, or `.parquet` on request.
    Both,
    /// `.jsonl` alone.
    Jsonl,
    /// `.parquet` alone.
    Parquet,
    /// `.tsv`: text with tabs between cells and a first line of names.
    Tsv,
    /// A name that the user gives.
    Named,
}

use OutputFile::{Other, Table as Columns};

const SUMMARY: OutputFile = Other(
    "summary.json",
    "The counts of the run, and the size and digest of every other file but `run.json`; written last, so that a folder with it is whole.",
);
const RUN: OutputFile = Other(
    "run.json",
    "Input files, times and the machine: the one file that differs between two runs over the same input.",
);
const RECIPE: OutputFile =
    Other("recipe.toml", "All settings that decide about results, to be given to `--recipe`.");
const REPORT: OutputFile = Other("report.html", "A page for people, without scripts or other files.");
const WORK: OutputFile =
    Other("work/", "Scratch files, from which a stopped run goes on; gone when it is done.");

/// All commands that write a folder, and the tables that others write.
pub const COMMANDS: &[CommandFiles] = &[
    CommandFiles {
        command: "lookalike dedup",
        about: "Documents of one corpus, without near-duplicates. With `--format parquet` the tables are Parquet. A run with an index \
                writes the same files.",
        files: &[
            Columns(removed::TABLE, Endings::Both),
            Columns(clusters::TABLE, Endings::Both),
            Columns(rejected::TABLE, Endings::Both),
            Other("kept/", "Copies of the input files without removed documents, with `--write kept`."),
            Other(
                "removed/",
                "Copies of the input files with removed documents alone, with `--write removed`.",
            ),
            Other("rejected/", "Copies of rejected records as they stand, with `--write`."),
            SUMMARY,
            REPORT,
            RECIPE,
            RUN,
            WORK,
        ],
    },
    CommandFiles {
        command: "lookalike pairs",
        about: "Near-duplicates inside one corpus. The table of pairs is the file that `--output` names, the other files are in the \
                folder `FILE.job` beside it.",
        files: &[
            Columns(pairs::TABLE, Endings::Named),
            Columns(groups::TABLE, Endings::Both),
            Columns(rejected::TABLE, Endings::Both),
            SUMMARY,
            RECIPE,
            RUN,
            WORK,
        ],
    },
    CommandFiles {
        command: "lookalike compare",
        about: "Documents of one corpus, the left side, that are in another, the right side.",
        files: &[
            Columns(compared::TABLE, Endings::Both),
            Columns(best::TABLE, Endings::Both),
            Columns(compared_groups::TABLE, Endings::Both),
            Columns(rejected::TABLE, Endings::Both),
            SUMMARY,
            REPORT,
            RECIPE,
            RUN,
            WORK,
        ],
    },
    CommandFiles {
        command: "lookalike transfer",
        about: "Judgments of an old corpus, carried to near-duplicates in a new one.",
        files: &[
            Other(
                "qrels.txt",
                "The judgments of the new corpus; of several files all together, unless two of them have a topic in common.",
            ),
            Other("qrels/", "The judgments of each file in its own layout, if there are several files."),
            Columns(mapping::TABLE, Endings::Jsonl),
            Columns(missing::TABLE, Endings::Jsonl),
            Other(
                "conflicts.jsonl",
                "Judgments of one topic that met in one new document with different grades: `track`, `topic`, `subtopic`, `new`, the claim that is `kept` and those that are `dropped`.",
            ),
            Columns(topics::TABLE, Endings::Tsv),
            Columns(review::TABLE, Endings::Jsonl),
            Columns(compared_groups::TABLE, Endings::Jsonl),
            Columns(rejected::TABLE, Endings::Jsonl),
            SUMMARY,
            REPORT,
            RECIPE,
            RUN,
            WORK,
        ],
    },
    CommandFiles {
        command: "lookalike urls",
        about: "Addresses that corpora share, and the changes of their pages. `lookalike urls --help` defines what is counted.",
        files: &[
            Columns(overlap::TABLE, Endings::Jsonl),
            Columns(urls_rejected::TABLE, Endings::Jsonl),
            Columns(domains::TABLE, Endings::Tsv),
            Columns(domains::TLDS_TABLE, Endings::Tsv),
            Columns(survival::TABLE, Endings::Tsv),
            Columns(snapshots::TABLE, Endings::Tsv),
            Other(
                "snapshots.jsonl",
                "The table of snapshots as lines of JSON, with 9 decimals; columns of snapshots as a whole, from `urls` on, are not in lines of \
                 single top-level domains. Both files are there if there are several snapshots.",
            ),
            SUMMARY,
            REPORT,
            RECIPE,
            RUN,
            WORK,
        ],
    },
    CommandFiles {
        command: "lookalike lab compare",
        about: "Methods beside each other on one corpus.",
        files: &[
            Columns(measured_pairs::TABLE, Endings::Parquet),
            Columns(review::TABLE, Endings::Jsonl),
            Other(
                "labels.jsonl",
                "Verdicts of people on the pairs of `review.jsonl`, written by `lookalike lab review`.",
            ),
            Other("methods.json", "Recall, precision, speed and size of every method."),
            Other("agreement.json", "The agreement of every two methods."),
            Other(
                "coverage.json",
                "The share of near-duplicates that every two methods find together, and the methods by what each adds.",
            ),
            REPORT,
            Other(
                "work/",
                "The documents and what each method found of them, from which the command goes on.",
            ),
        ],
    },
    CommandFiles {
        command: "lookalike corpus stats --rejected FILE",
        about: "One file with the records that could not be read.",
        files: &[Columns(stats_rejected::TABLE, Endings::Named)],
    },
    CommandFiles {
        command: "Spark jobs",
        about: "The tables of `dedup`, `pairs` and `compare` as above, but for the table of groups, which is shorter.",
        files: &[Columns(groups::SPARK_TABLE, Endings::Both)],
    },
];

/// The words before the lists of commands.
const INTRODUCTION: &str = "\
# Output files

The files that each command leaves behind, and the columns of their tables. This page is written from the declarations in `crates/tables`;
a test of that crate compares the two, and `RENEW_FILES=1 cargo test -p lookalike-tables` writes the page anew.

A table is a file of JSON lines, one object per row with its members in the order of the columns, or a Parquet file with the same columns
and the recipe of the run in its metadata (`lookalike.recipe`). Decimal numbers are rounded to 9 decimals, but for `review.jsonl`.
A column that may be left out is absent from lines without a value, and null in Parquet. Tables for spreadsheets (`.tsv`) have tabs between
cells, a first line with the names of the columns, and six decimals.

The same input and the same recipe give the same bytes. Files appear under their names when they are whole.

Numbers of documents (`n`, `witness_n`, `members_n`) are places in the input from 0, with rejected records counted. They tell documents
with equal ids apart. With `--order-field` they are places in the order of that field.
";

/// The text of `docs/files.md`.
pub fn reference() -> String {
    let mut page = INTRODUCTION.to_owned();
    for (place, command) in COMMANDS.iter().enumerate() {
        push_command(&mut page, command, &COMMANDS[..place]).expect("text can be written");
    }
    page
}

/// Appends a command. The columns of a table that a command before it writes, too, are not listed again.
fn push_command(page: &mut String, command: &CommandFiles, before: &[CommandFiles]) -> std::fmt::Result {
    let CommandFiles { command, about, files } = command;
    writeln!(page, "\n## {}\n\n{about}", quoted(command))?;
    for file in *files {
        let Columns(table, endings) = file else { continue };
        let same = |file: &OutputFile| matches!(file, Columns(other, _) if other == table);
        match before.iter().find(|before| before.files.iter().any(same)) {
            Some(before) => {
                writeln!(page, "\n{}: the table of {}.", file_names(table, *endings), quoted(before.command))?
            }
            None => push_table(page, table, *endings)?,
        }
    }
    let mut heading = "\n| file | content |\n|---|---|\n";
    for file in *files {
        if let Other(name, about) = file {
            writeln!(page, "{heading}| `{name}` | {about} |")?;
            heading = "";
        }
    }
    Ok(())
}

fn push_table(page: &mut String, table: &Table, endings: Endings) -> std::fmt::Result {
    writeln!(page, "\n{}. One row: {}\n", file_names(table, endings), lower_first(table.row))?;
    writeln!(page, "| column | type | meaning |\n|---|---|---|")?;
    for column in table.columns {
        writeln!(
            page,
            "| `{}` | {} | {} |",
            column.name(),
            type_name(column, endings),
            column.description()
        )?;
    }
    Ok(())
}

/// The names that the file of a table may have.
fn file_names(table: &Table, endings: Endings) -> String {
    let name = table.name;
    match endings {
        Endings::Both => format!("`{name}.jsonl` or `{name}.parquet`"),
        Endings::Jsonl => format!("`{name}.jsonl`"),
        Endings::Parquet => format!("`{name}.parquet`"),
        Endings::Tsv => format!("`{name}.tsv`"),
        Endings::Named => "The file that the command line names".to_owned(),
    }
}

/// A command as code; other words as they are.
fn quoted(command: &str) -> String {
    if command.starts_with("lookalike ") { format!("`{command}`") } else { command.to_owned() }
}

/// The type of a column in words, and the form in which it says that there is no value.
fn type_name(column: &Column, endings: Endings) -> String {
    let name = match column.kind() {
        Kind::U64 | Kind::OptionalU64 => "whole number",
        Kind::OptionalF64 => "decimal number",
        Kind::Text | Kind::OptionalText => "text",
        Kind::ListOfText => "list of texts",
        Kind::ListOfU64 => "list of whole numbers",
        Kind::Bool => "true or false",
    };
    match (column.is_omitted_if_none(), column.kind().is_optional()) {
        (true, _) => format!("{name}, or left out"),
        (false, true) if endings == Endings::Tsv => format!("{name}, or empty"),
        (false, true) => format!("{name} or `null`"),
        (false, false) => name.to_owned(),
    }
}

fn lower_first(sentence: &str) -> String {
    let mut letters = sentence.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}
