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
pub enum LeftOutReason {
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
const NAMES: [(LeftOutReason, &str, &str); 13] = [
    (LeftOutReason::Hidden, "hidden file", "hidden files"),
    (LeftOutReason::Marker, "name with _ in front", "names with _ in front"),
    (LeftOutReason::Readme, "README", "READMEs"),
    (LeftOutReason::License, "license", "licenses"),
    (LeftOutReason::Checksum, "checksum", "checksums"),
    (LeftOutReason::Metadata, "description", "descriptions"),
    (LeftOutReason::Image, "image", "images"),
    (LeftOutReason::Audio, "sound", "sounds"),
    (LeftOutReason::Video, "video", "videos"),
    (LeftOutReason::Archive, "archive", "archives"),
    (LeftOutReason::Executable, "program", "programs"),
    (LeftOutReason::Pdf, "PDF", "PDFs"),
    (LeftOutReason::Unreadable, "unreadable file", "unreadable files"),
];

impl LeftOutReason {
    fn names(self) -> (&'static str, &'static str) {
        NAMES.iter().find(|(reason, ..)| *reason == self).map_or(("", ""), |(_, one, many)| (one, many))
    }
}

impl fmt::Display for LeftOutReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.names().0)
    }
}

/// Most names of left-out files that are kept.
const MOST_NAMES: usize = 1000;

/// The files left out of a corpus.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LeftOutFiles {
    counts: BTreeMap<LeftOutReason, u64>,
    names: Vec<(LeftOutReason, String)>,
}

impl LeftOutFiles {
    pub(crate) fn add(&mut self, reason: LeftOutReason, name: impl FnOnce() -> String) {
        *self.counts.entry(reason).or_default() += 1;
        if self.names.len() < MOST_NAMES {
            self.names.push((reason, name()));
        }
    }

    /// Returns true if no file was left out.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// Number of files, by reason.
    pub fn counts(&self) -> impl Iterator<Item = (LeftOutReason, u64)> {
        self.counts.iter().map(|(reason, count)| (*reason, *count))
    }

    /// The first thousand of them, with their reasons.
    pub fn names(&self) -> &[(LeftOutReason, String)] {
        &self.names
    }
}

impl fmt::Display for LeftOutFiles {
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
pub(crate) fn by_name(name: &str) -> Option<LeftOutReason> {
    if name.starts_with('.') {
        return Some(LeftOutReason::Hidden);
    }
    if name.starts_with('_') {
        return Some(LeftOutReason::Marker);
    }
    let name = name.to_ascii_lowercase();
    let (stem, ending) = name.rsplit_once('.').unwrap_or((&name, ""));
    let prose = ending.is_empty() || PROSE.contains(&ending);
    let begins = |words: &[&str]| prose && words.iter().any(|word| stem.starts_with(word));
    match () {
        () if begins(&["readme"]) => Some(LeftOutReason::Readme),
        () if begins(&["license", "licence"]) => Some(LeftOutReason::License),
        () if CHECKSUMS.contains(&ending) || ending.is_empty() && stem.ends_with("sums") => {
            Some(LeftOutReason::Checksum)
        }
        () if DESCRIPTIONS.contains(&name.as_str()) => Some(LeftOutReason::Metadata),
        () => None,
    }
}

/// Judges an object below a prefix by its name and those of the folders that it lies in.
#[cfg(feature = "object-store")]
pub(crate) fn by_key(key: &str) -> Option<LeftOutReason> {
    let (folders, name) = key.rsplit_once('/').unwrap_or(("", key));
    let folder = |reason: &LeftOutReason| matches!(reason, LeftOutReason::Hidden | LeftOutReason::Marker);
    folders.split('/').find_map(|part| by_name(part).filter(folder)).or_else(|| by_name(name))
}

/// Judges a file by its first bytes, unless its name is that of data. A file that cannot be opened is not judged.
pub(crate) fn by_content(path: &Path) -> Option<LeftOutReason> {
    let name = path.file_name()?.to_string_lossy().to_ascii_lowercase();
    let packed = [".gz", ".zst", ".bz2", ".xz", ".lz4"].iter().find_map(|ending| name.strip_suffix(ending));
    let plain = packed.unwrap_or(&name);
    let ending = plain.rsplit_once('.').map_or("", |(_, ending)| ending);
    if packed.is_some() && ending == "tar" || matches!(ending, "tgz" | "tbz2" | "txz") {
        return Some(LeftOutReason::Archive);
    }
    if packed.is_some() || DATA.contains(&ending) {
        return None;
    }
    let mut head = Vec::with_capacity(512);
    File::open(path).ok()?.take(512).read_to_end(&mut head).ok()?;
    by_opening(&head)
}

fn by_opening(head: &[u8]) -> Option<LeftOutReason> {
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
            Some(LeftOutReason::Image)
        }
        () if at(0, b"BM") && at(6, b"\0\0\0\0") => Some(LeftOutReason::Image),
        () if binary() && begins(&sounds) || riff(b"WAVE") => Some(LeftOutReason::Audio),
        () if boxed || riff(b"AVI ") || begins(&[b"\x1a\x45\xdf\xa3", b"FLV\x01"]) => {
            Some(LeftOutReason::Video)
        }
        () if begins(&archives) || at(257, b"ustar") => Some(LeftOutReason::Archive),
        () if begins(&programs) || at(0, b"MZ") && binary() => Some(LeftOutReason::Executable),
        () if begins(&[b"%PDF-"]) => Some(LeftOutReason::Pdf),
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_what_is_no_data() {
        for (name, reason) in [
            (".git", LeftOutReason::Hidden),
            ("_SUCCESS", LeftOutReason::Marker),
            ("_delta_log", LeftOutReason::Marker),
            ("README", LeftOutReason::Readme),
            ("ReadMe.txt", LeftOutReason::Readme),
            ("README.de.md", LeftOutReason::Readme),
            ("LICENSE", LeftOutReason::License),
            ("licence-data.txt", LeftOutReason::License),
            ("part-0.jsonl.gz.md5", LeftOutReason::Checksum),
            ("SHA256SUMS", LeftOutReason::Checksum),
            (".part-0.crc", LeftOutReason::Hidden),
            ("part-0.crc", LeftOutReason::Checksum),
            ("dataset_infos.json", LeftOutReason::Metadata),
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
            (&b"\x89PNG\r\n\x1a\n\0\0"[..], LeftOutReason::Image),
            (b"RIFF\x01\x02\x03\x04WEBP", LeftOutReason::Image),
            (b"RIFF\x01\x02\x03\x04WAVE", LeftOutReason::Audio),
            (b"ID3\x04\0\0", LeftOutReason::Audio),
            (b"\0\0\0\x18ftypmp42", LeftOutReason::Video),
            (b"PK\x03\x04", LeftOutReason::Archive),
            (&tar, LeftOutReason::Archive),
            (b"\x7fELF\x02", LeftOutReason::Executable),
            (b"MZ\x90\0", LeftOutReason::Executable),
            (b"%PDF-1.7\n", LeftOutReason::Pdf),
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
        let mut left = LeftOutFiles::default();
        left.add(LeftOutReason::Checksum, || "a.md5".to_owned());
        assert_eq!(left.to_string(), "left out 1 file: 1 checksum");
        left.add(LeftOutReason::Readme, || "README".to_owned());
        left.add(LeftOutReason::Checksum, || "b.md5".to_owned());
        assert_eq!(left.to_string(), "left out 3 files: 1 README, 2 checksums");
        assert_eq!(left.names().len(), 3);
    }
}
