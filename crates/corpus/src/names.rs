//! Names of shards: paths relative to what all inputs share, one for each shard and no two alike.
//!
//! Copies of shards bear these names, so that they must be names of files, and tell all shards apart:
//!
//! - a byte that is no UTF-8 becomes U+FFFD and two hexadecimal digits, and so do the bytes of U+FFFD itself: `a\xff` is `a�ff`,
//!   and no other file is called so;
//! - a name that an earlier shard bears already (a file that was given twice, two buckets with the same keys), or that is a folder of
//!   another name, gets a number: `part.jsonl.gz` becomes `part-2.jsonl.gz`.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ffi::OsStr;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use crate::{Origin, Shard};

/// The parents of what was given, by kind.
#[derive(Debug, Default)]
pub(crate) struct Parents {
    files: Vec<PathBuf>,
    /// Bucket and key of the folder, without slashes at its ends.
    objects: Vec<String>,
}

impl Parents {
    pub(crate) fn file(&mut self, folder: PathBuf) {
        self.files.push(folder);
    }

    #[cfg(feature = "object-store")]
    pub(crate) fn object(&mut self, folder: String) {
        self.objects.push(folder);
    }

    /// Names every file and every object by its path from the folder that all of its kind share.
    pub(crate) fn name(&self, shards: &mut [Shard]) {
        let files = common(self.files.iter().map(PathBuf::as_path));
        let objects = common(self.objects.iter().map(Path::new));
        for shard in shards.iter_mut() {
            let (path, common) = match &shard.origin {
                Origin::File(path) => (path.as_path(), &files),
                Origin::Object(address) => (Path::new(behind_scheme(address)), &objects),
                _ => continue,
            };
            shard.name = joined(path.strip_prefix(common).unwrap_or(path));
        }
        make_unique(shards);
    }
}

fn common<'p>(paths: impl Iterator<Item = &'p Path>) -> PathBuf {
    let common = paths.map(Path::to_owned).reduce(|common, path| {
        let shared = common.components().zip(path.components()).take_while(|(a, b)| a == b);
        shared.map(|(component, _)| component).collect()
    });
    common.unwrap_or_default()
}

/// Bucket and key of an object's address.
fn behind_scheme(address: &str) -> &str {
    address.split_once("://").map_or(address, |(_, rest)| rest)
}

/// The parts of a path with `/` between them.
fn joined(path: &Path) -> String {
    let mut name = String::with_capacity(path.as_os_str().len());
    for part in path {
        if !name.is_empty() {
            name.push('/');
        }
        push_escaped(&mut name, part);
    }
    name
}

/// Appends a part of a path, what is no UTF-8 so that it can be told.
fn push_escaped(name: &mut String, part: &OsStr) {
    for chunk in part.as_encoded_bytes().utf8_chunks() {
        let mut pieces = chunk.valid().split(char::REPLACEMENT_CHARACTER);
        name.push_str(pieces.next().unwrap_or_default());
        for piece in pieces {
            push_bytes(name, "\u{fffd}".as_bytes());
            name.push_str(piece);
        }
        push_bytes(name, chunk.invalid());
    }
}

fn push_bytes(name: &mut String, bytes: &[u8]) {
    for byte in bytes {
        let _ = write!(name, "{}{byte:02x}", char::REPLACEMENT_CHARACTER);
    }
}

/// Gives a number to every name that an earlier shard bears, or that is a folder of another.
fn make_unique(shards: &mut [Shard]) {
    let sorted = ShardsByName::new(shards);
    let mut given: HashMap<u32, String> = HashMap::new();
    let (mut taken, mut next) = (HashSet::new(), HashMap::<&str, u64>::new());
    for shard in sorted.conflicting() {
        let name = sorted.name(shard);
        let number = next.entry(name).or_insert(2);
        let new = loop {
            let new = numbered(name, *number);
            *number += 1;
            if !sorted.has(&new) && !sorted.has_folder(&new) && taken.insert(new.clone()) {
                break new;
            }
        };
        given.insert(shard, new);
    }
    for (shard, name) in given {
        shards[shard as usize].name = name;
    }
}

/// Shards by name: four bytes for each.
struct ShardsByName<'s> {
    shards: &'s [Shard],
    order: Vec<u32>,
}

impl<'s> ShardsByName<'s> {
    fn new(shards: &'s [Shard]) -> Self {
        let mut order: Vec<u32> = (0..shards.len() as u32).collect();
        order.sort_unstable_by_key(|&shard| (shards[shard as usize].name.as_str(), shard));
        ShardsByName { shards, order }
    }

    fn name(&self, shard: u32) -> &'s str {
        &self.shards[shard as usize].name
    }

    /// The shards with this name.
    fn with_name(&self, name: &str) -> &[u32] {
        let begin = self.order.partition_point(|&shard| self.name(shard) < name);
        let end = self.order.partition_point(|&shard| self.name(shard) <= name);
        &self.order[begin..end]
    }

    fn has(&self, name: &str) -> bool {
        !self.with_name(name).is_empty()
    }

    /// True when a shard lies in a folder of this name.
    fn has_folder(&self, name: &str) -> bool {
        let folder = format!("{name}/");
        let place = self.order.partition_point(|&shard| self.name(shard) < folder.as_str());
        self.order.get(place).is_some_and(|&shard| self.name(shard).starts_with(&folder))
    }

    /// The shards whose names an earlier one bears, or that are folders of others, in order.
    fn conflicting(&self) -> BTreeSet<u32> {
        let again = self.order.windows(2).filter(|two| self.name(two[0]) == self.name(two[1]));
        let mut conflicts: BTreeSet<u32> = again.map(|two| two[1]).collect();
        let mut before = None;
        for &shard in &self.order {
            let parent = self.name(shard).rsplit_once('/').map(|(parent, _)| parent);
            if let Some(parent) = parent.filter(|_| parent != before) {
                let folders = parent.match_indices('/').map(|(end, _)| &parent[..end]).chain([parent]);
                conflicts.extend(folders.flat_map(|folder| self.with_name(folder)));
            }
            before = parent;
        }
        conflicts
    }
}

/// A name with a number before its endings.
fn numbered(name: &str, number: u64) -> String {
    let file = name.rfind('/').map_or(0, |slash| slash + 1);
    let stem = name[file..].trim_start_matches('.');
    let from = name.len() - stem.len();
    let end = stem.find('.').map_or(name.len(), |dot| from + dot);
    format!("{}-{number}{}", &name[..end], &name[end..])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shards(names: &[&str]) -> Vec<Shard> {
        let shard = |name: &&str| Shard { name: (*name).to_owned(), ..Shard::new(Origin::Stdin) };
        names.iter().map(shard).collect()
    }

    fn unique(names: &[&str]) -> Vec<String> {
        let mut shards = shards(names);
        make_unique(&mut shards);
        shards.into_iter().map(|shard| shard.name).collect()
    }

    #[test]
    fn names_that_meet_get_numbers() {
        assert_eq!(unique(&["b", "a"]), ["b", "a"]);
        assert_eq!(unique(&["d/a.jsonl.gz", "d/a.jsonl.gz"]), ["d/a.jsonl.gz", "d/a-2.jsonl.gz"]);
        assert_eq!(unique(&["a", "a", "a-2", "a"]), ["a", "a-3", "a-2", "a-4"]);
        assert_eq!(unique(&[".a", ".a"]), [".a", ".a-2"]);
    }

    #[test]
    fn a_name_that_is_a_folder_of_another_gets_a_number() {
        assert_eq!(unique(&["a/b", "a", "a-2/x"]), ["a/b", "a-3", "a-2/x"]);
        assert_eq!(unique(&["a", "a-1/b", "a/b/c"]), ["a-2", "a-1/b", "a/b/c"]);
    }

    #[cfg(unix)]
    #[test]
    fn bytes_that_are_no_text_can_be_told() {
        use std::os::unix::ffi::OsStrExt;
        let name = |bytes: &[u8]| joined(Path::new(OsStr::from_bytes(bytes)));
        assert_eq!(name(b"a\xff.jsonl"), "a\u{fffd}ff.jsonl");
        assert_eq!(name(b"d/\xc3\x28"), "d/\u{fffd}c3(");
        assert_eq!(name("\u{fffd}".as_bytes()), "\u{fffd}ef\u{fffd}bf\u{fffd}bd");
        assert_eq!(name("größe%20".as_bytes()), "größe%20");
    }

    #[test]
    fn objects_are_named_from_what_they_share() {
        let object = |address: &str| Shard::new(Origin::Object(address.to_owned()));
        let named = |addresses: &[&str], parents: &[&str]| {
            let mut shards: Vec<Shard> = addresses.iter().map(|address| object(address)).collect();
            let objects = parents.iter().map(|&parent| parent.to_owned()).collect();
            Parents { files: Vec::new(), objects }.name(&mut shards);
            shards.into_iter().map(|shard| shard.name).collect::<Vec<_>>()
        };
        let years = ["s3://b/2023/part-0", "s3://b/2024/part-0"];
        assert_eq!(named(&years, &["b/2023", "b/2024"]), ["2023/part-0", "2024/part-0"]);
        assert_eq!(named(&years[..1], &["b/2023"]), ["part-0"]);
        assert_eq!(named(&["s3://b/x", "gs://b/x", "s3://c/x"], &["b", "b", "c"]), ["b/x", "b/x-2", "c/x"]);
    }

    proptest! {
        /// Every name stands for one file, and none is a folder of another.
        #[test]
        fn no_two_names_are_alike(
            names in prop::collection::vec(prop::sample::select(
                vec!["a", "a-2", "a/b", "a-2/b", "a-3", "a.x", "a-2.x", "a/b/c", "c", "c-2", "c-2/d"],
            ), 0..14),
        ) {
            let unique = unique(&names);
            for (at, name) in unique.iter().enumerate() {
                prop_assert!(!unique[..at].contains(name), "{unique:?}");
                prop_assert!(!unique.iter().any(|other| other.starts_with(&format!("{name}/"))), "{unique:?}");
            }
        }

        #[cfg(unix)]
        #[test]
        fn names_lead_back_to_their_bytes(
            part in prop::collection::vec(prop::sample::select(b"ab\xef\xbf\xbd\xff\xc3\xa4".to_vec()), 1..12),
        ) {
            use std::os::unix::ffi::OsStrExt;
            let name = joined(Path::new(OsStr::from_bytes(&part)));
            let mut pieces = name.split('\u{fffd}');
            let mut back = pieces.next().unwrap_or_default().as_bytes().to_vec();
            for piece in pieces {
                back.push(u8::from_str_radix(&piece[..2], 16).unwrap());
                back.extend_from_slice(&piece.as_bytes()[2..]);
            }
            prop_assert_eq!(back, part);
        }
    }
}
