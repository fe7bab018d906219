//! Files that lie beside data and are none: read-me files, checksums, pictures.
//!
//! They are left out where a folder was given, told by their names first and by their first bytes where the name is not that of data; what
//! was left out is counted by reason. A file that is named itself, or by a pattern, is always read.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The reason why a file was left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NoData {
    /// Its name begins with a dot.
    Hidden,
    /// Its name begins with `_`, as those that programs leave for each other do: `_SUCCESS`.
    Marker,
    /// README and the like.
    Readme,
    /// LICENSE and the like.
    License,
    /// Checksums and signatures of other files.
    Checksum,
    /// A description of the data for programs.
    Metadata,
    /// A picture.
    Image,
    /// Sound.
    Audio,
    /// A film.
    Video,
    /// Other files in one, which is not unpacked.
    Archive,
    /// A program.
    Executable,
    /// A PDF.
    Pdf,
    /// It cannot be read, and that was to be no reason to stop.
    Unreadable,
}

/// All reasons, each with its name for one file and for several.
const NAMES: [(NoData, &str, &str); 13] = [
    (NoData::Hidden, "hidden file", "hidden files"),
    (NoData::Marker, "name with _ in front", "names with _ in front"),
    (NoData::Readme, "README", "READMEs"),
    (NoData::License, "license", "licenses"),
    (NoData::Checksum, "checksum", "checksums"),
    (NoData::Metadata, "description", "descriptions"),
    (NoData::Image, "image", "images"),
    (NoData::Audio, "sound", "sounds"),
    (NoData::Video, "video", "videos"),
    (NoData::Archive, "archive", "archives"),
    (NoData::Executable, "program", "programs"),
    (NoData::Pdf, "PDF", "PDFs"),
    (NoData::Unreadable, "unreadable file", "unreadable files"),
];

impl NoData {
    fn names(self) -> (&'static str, &'static str) {
        NAMES.iter().find(|(reason, ..)| *reason == self).map_or(("", ""), |(_, one, many)| (one, many))
    }
}

impl fmt::Display for NoData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.names().0)
    }
}

/// Most names of left-out files that are kept.
const MOST: usize = 1000;

/// The files left out of a corpus.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LeftOut {
    counts: BTreeMap<NoData, u64>,
    names: Vec<(NoData, String)>,
}

impl LeftOut {
    pub(crate) fn add(&mut self, reason: NoData, name: impl FnOnce() -> String) {
        *self.counts.entry(reason).or_default() += 1;
        if self.names.len() < MOST {
            self.names.push((reason, name()));
        }
    }

    /// Returns true if no file was left out.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// Number of files, by reason.
    pub fn counts(&self) -> impl Iterator<Item = (NoData, u64)> {
        self.counts.iter().map(|(reason, count)| (*reason, *count))
    }

    /// The first thousand of them, with their reasons.
    pub fn names(&self) -> &[(NoData, String)] {
        &self.names
    }
}

impl fmt::Display for LeftOut {
    /// In one line: `left out 3 files: 1 README, 2 checksums`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all: u64 = self.counts.values().sum();
        write!(f, "left out {all} {}:", if all == 1 { "file" } else { "files" })?;
        for (place, (reason, count)) in self.counts().enumerate() {
            let (one, many) = reason.names();
            let comma = if place == 0 { "" } else { "," };
            write!(f, "{comma} {count} {}", if count == 1 { one } else { many })?;
        }
        Ok(())
    }
}

/// Endings of data, without those of compressions.
const DATA: [&str; 21] = [
    "jsonl", "ndjson", "json", "parquet", "warc", "wet", "arc", "trec", "xml", "mbox", "eml", "csv", "tsv",
    "tab", "html", "htm", "xhtml", "txt", "text", "list", "md",
];

/// Endings of texts for people, beside none at all.
const PROSE: [&str; 9] = ["md", "txt", "rst", "markdown", "html", "htm", "adoc", "org", "pdf"];

const CHECKSUMS: [&str; 10] =
    ["md5", "sha1", "sha224", "sha256", "sha384", "sha512", "crc", "crc32", "sfv", "asc"];

/// Descriptions that the hub of Hugging Face and its library write beside data.
const DESCRIPTIONS: [&str; 4] =
    ["dataset_info.json", "dataset_infos.json", "dataset_dict.json", "croissant.json"];

/// Judges a file or folder by its name.
pub(crate) fn by_name(name: &str) -> Option<NoData> {
    if name.starts_with('.') {
        return Some(NoData::Hidden);
    }
    if name.starts_with('_') {
        return Some(NoData::Marker);
    }
    let name = name.to_ascii_lowercase();
    let (stem, ending) = name.rsplit_once('.').unwrap_or((&name, ""));
    let prose = ending.is_empty() || PROSE.contains(&ending);
    let begins = |words: &[&str]| prose && words.iter().any(|word| stem.starts_with(word));
    match () {
        () if begins(&["readme"]) => Some(NoData::Readme),
        () if begins(&["license", "licence"]) => Some(NoData::License),
        () if CHECKSUMS.contains(&ending) || ending.is_empty() && stem.ends_with("sums") => {
            Some(NoData::Checksum)
        }
        () if DESCRIPTIONS.contains(&name.as_str()) => Some(NoData::Metadata),
        () => None,
    }
}

/// Judges an object below a prefix by its name and those of the folders that it lies in.
#[cfg(feature = "object-store")]
pub(crate) fn by_key(key: &str) -> Option<NoData> {
    let (folders, name) = key.rsplit_once('/').unwrap_or(("", key));
    let folder = |reason: &NoData| matches!(reason, NoData::Hidden | NoData::Marker);
    folders.split('/').find_map(|part| by_name(part).filter(folder)).or_else(|| by_name(name))
}

/// Judges a file by its first bytes, unless its name is that of data. A file that cannot be opened is not judged.
pub(crate) fn by_content(path: &Path) -> Option<NoData> {
    let name = path.file_name()?.to_string_lossy().to_ascii_lowercase();
    let packed = [".gz", ".zst", ".bz2", ".xz", ".lz4"].iter().find_map(|ending| name.strip_suffix(ending));
    let plain = packed.unwrap_or(&name);
    let ending = plain.rsplit_once('.').map_or("", |(_, ending)| ending);
    if packed.is_some() && ending == "tar" || matches!(ending, "tgz" | "tbz2" | "txz") {
        return Some(NoData::Archive);
    }
    if packed.is_some() || DATA.contains(&ending) {
        return None;
    }
    let mut head = Vec::with_capacity(512);
    File::open(path).ok()?.take(512).read_to_end(&mut head).ok()?;
    by_opening(&head)
}

fn by_opening(head: &[u8]) -> Option<NoData> {
    let begins = |magics: &[&[u8]]| magics.iter().any(|magic| head.starts_with(magic));
    let at = |from: usize, wanted: &[u8]| head.get(from..from + wanted.len()) == Some(wanted);
    let riff = |kind: &[u8]| at(0, b"RIFF") && at(8, kind);
    let boxed = at(4, b"ftyp");
    let binary = || head.contains(&0);
    let pictures: [&[u8]; 9] = [
        b"\x89PNG\r\n\x1a\n",
        b"\xff\xd8\xff",
        b"GIF87a",
        b"GIF89a",
        b"II*\0",
        b"MM\0*",
        b"\0\0\x01\0",
        b"8BPS",
        b"\0\0\0\x0cjP",
    ];
    let sounds: [&[u8]; 6] = [b"ID3", b"fLaC", b"OggS", b"\xff\xfb", b"\xff\xf3", b"\xff\xf2"];
    let archives: [&[u8]; 6] =
        [b"PK\x03\x04", b"PK\x05\x06", b"Rar!\x1a", b"7z\xbc\xaf\x27\x1c", b"MSCF\0", b"!<arch>\n"];
    let programs: [&[u8]; 4] = [b"\x7fELF", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe", b"\0asm"];
    match () {
        () if begins(&pictures) || riff(b"WEBP") || boxed && (at(8, b"avif") || at(8, b"heic")) => {
            Some(NoData::Image)
        }
        () if at(0, b"BM") && at(6, b"\0\0\0\0") => Some(NoData::Image),
        () if binary() && begins(&sounds) || riff(b"WAVE") => Some(NoData::Audio),
        () if boxed || riff(b"AVI ") || begins(&[b"\x1a\x45\xdf\xa3", b"FLV\x01"]) => Some(NoData::Video),
        () if begins(&archives) || at(257, b"ustar") => Some(NoData::Archive),
        () if begins(&programs) || at(0, b"MZ") && binary() => Some(NoData::Executable),
        () if begins(&[b"%PDF-"]) => Some(NoData::Pdf),
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_what_is_no_data() {
        for (name, reason) in [
            (".git", NoData::Hidden),
            ("_SUCCESS", NoData::Marker),
            ("_delta_log", NoData::Marker),
            ("README", NoData::Readme),
            ("ReadMe.txt", NoData::Readme),
            ("README.de.md", NoData::Readme),
            ("LICENSE", NoData::License),
            ("licence-data.txt", NoData::License),
            ("part-0.jsonl.gz.md5", NoData::Checksum),
            ("SHA256SUMS", NoData::Checksum),
            (".part-0.crc", NoData::Hidden),
            ("part-0.crc", NoData::Checksum),
            ("dataset_infos.json", NoData::Metadata),
        ] {
            assert_eq!(by_name(name), Some(reason), "{name}");
        }
        for name in
            ["a.jsonl", "readme.jsonl", "README.parquet", "license.csv", "sums.txt", "data.json", "a_b", "x"]
        {
            assert_eq!(by_name(name), None, "{name}");
        }
    }

    #[test]
    fn first_bytes_tell_what_is_no_data() {
        let tar = [&[b'a'; 257][..], b"ustar"].concat();
        for (head, reason) in [
            (&b"\x89PNG\r\n\x1a\n\0\0"[..], NoData::Image),
            (b"RIFF\x01\x02\x03\x04WEBP", NoData::Image),
            (b"RIFF\x01\x02\x03\x04WAVE", NoData::Audio),
            (b"ID3\x04\0\0", NoData::Audio),
            (b"\0\0\0\x18ftypmp42", NoData::Video),
            (b"PK\x03\x04", NoData::Archive),
            (&tar, NoData::Archive),
            (b"\x7fELF\x02", NoData::Executable),
            (b"MZ\x90\0", NoData::Executable),
            (b"%PDF-1.7\n", NoData::Pdf),
        ] {
            assert_eq!(by_opening(head), Some(reason), "{head:?}");
        }
        for head in [
            &b""[..],
            b"ID3 is a tag",
            b"MZ is a text",
            b"BMW",
            b"{\"text\":\"x\"}",
            b"PAR1\0",
            b"WARC/1.0",
            b"\xff\xfea\0",
        ] {
            assert_eq!(by_opening(head), None, "{head:?}");
        }
    }

    #[test]
    fn what_was_left_out_is_one_line() {
        let mut left = LeftOut::default();
        left.add(NoData::Checksum, || "a.md5".to_owned());
        assert_eq!(left.to_string(), "left out 1 file: 1 checksum");
        left.add(NoData::Readme, || "README".to_owned());
        left.add(NoData::Checksum, || "b.md5".to_owned());
        assert_eq!(left.to_string(), "left out 3 files: 1 README, 2 checksums");
        assert_eq!(left.names().len(), 3);
    }
}
