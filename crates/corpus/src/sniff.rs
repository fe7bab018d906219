//! Which format a shard is in, seen from its first bytes; its name only breaks ties.

use std::fmt;
use std::str::FromStr;

/// How documents are laid out in a shard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// One JSON object per line.
    Jsonl,
    /// Apache Parquet.
    Parquet,
    /// WARC of any version, with pages or with extracted text (WET).
    Warc,
    /// The Internet Archive's older ARC.
    Arc,
    /// TREC collections, web or text: `<DOC>` with `<DOCNO>`.
    Trec,
    /// A MediaWiki XML dump.
    MediaWiki,
    /// Many e-mail messages in one file.
    Mbox,
    /// One e-mail message, such as a file of a Maildir.
    Email,
    /// Comma-separated values with a header line.
    Csv,
    /// Tab-separated values with a header line.
    Tsv,
    /// One HTML page.
    Html,
    /// One plain text.
    Text,
}

/// Every format with the name that people write.
const NAMES: [(Format, &str); 12] = [
    (Format::Jsonl, "jsonl"),
    (Format::Parquet, "parquet"),
    (Format::Warc, "warc"),
    (Format::Arc, "arc"),
    (Format::Trec, "trec"),
    (Format::MediaWiki, "mediawiki"),
    (Format::Mbox, "mbox"),
    (Format::Email, "email"),
    (Format::Csv, "csv"),
    (Format::Tsv, "tsv"),
    (Format::Html, "html"),
    (Format::Text, "text"),
];

impl Format {
    /// All names, for help texts.
    pub fn names() -> impl Iterator<Item = &'static str> {
        NAMES.iter().map(|(_, name)| *name)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = NAMES.iter().find(|(format, _)| format == self).map_or("", |(_, name)| name);
        f.write_str(name)
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let found = NAMES.iter().find(|(_, known)| *known == name).map(|(format, _)| *format);
        found.ok_or_else(|| {
            format!(
                "no format is called {name:?}; the formats are {}",
                Self::names().collect::<Vec<_>>().join(", ")
            )
        })
    }
}
