//! Inputs named on a command line become shards in a fixed order.
//!
//! Arguments come in the order given; what a folder or a pattern holds is sorted by the bytes of its path. The
//! list costs about a hundred bytes per file, whatever is in the files.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use lookalike_model::Media;

use crate::formats;
use crate::input::{Replay, Stream};
use crate::reader::{Damage, Records};
use crate::record::Ledger;
use crate::table::{Rows, Table};
use crate::{CorpusError, Decoding, Format, ReadOptions, Reader};

/// Where the bytes of a shard are.
#[derive(Debug, Clone)]
pub enum Origin {
    /// A file.
    File(PathBuf),
    /// Standard input.
    Stdin,
    /// Bytes in memory.
    Memory(Arc<[u8]>),
    /// An object in a store, by its address.
    Object(String),
    /// Rows in memory, which have no bytes but those of their texts.
    Table(Arc<dyn Table>),
}

impl PartialEq for Origin {
    /// Tables are equal when they are one and the same.
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Origin::File(a), Origin::File(b)) => a == b,
            (Origin::Stdin, Origin::Stdin) => true,
            (Origin::Memory(a), Origin::Memory(b)) => a == b,
            (Origin::Object(a), Origin::Object(b)) => a == b,
            (Origin::Table(a), Origin::Table(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }
}

impl Eq for Origin {}

/// One file of a corpus.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shard {
    /// Its path relative to the inputs' common parent, with `/` between parts.
    pub name: String,
    /// Where its bytes are.
    pub origin: Origin,
    /// Its size on disk, where known.
    pub bytes: Option<u64>,
    /// Its format, where the folder it lies in tells: files of a Maildir are messages.
    pub format: Option<Format>,
}

/// The name of standard input.
const STDIN: &str = "stdin";

/// Shards in a fixed order, and how to read them.
#[derive(Debug, Clone)]
pub struct Corpus {
    shards: Vec<Shard>,
    options: Arc<ReadOptions>,
}

impl Corpus {
    /// Finds the shards that `inputs` name: files, folders, patterns, addresses of objects, or `-` for standard
    /// input. Names that begin with a dot are passed over inside folders.
    pub fn open(inputs: &[impl AsRef<OsStr>], options: ReadOptions) -> Result<Corpus, CorpusError> {
        let mut shards = Vec::new();
        let mut parents = Vec::new();
        for input in inputs {
            collect(input.as_ref(), &mut shards, &mut parents)?;
        }
        name_by_common_parent(&mut shards, parents);
        Ok(Corpus { shards, options: Arc::new(options) })
    }

    /// A corpus of one shard that is held in memory.
    pub fn in_memory(name: &str, content: Arc<[u8]>, options: ReadOptions) -> Corpus {
        let bytes = Some(content.len() as u64);
        let shard = Shard { name: name.to_owned(), origin: Origin::Memory(content), bytes, format: None };
        Corpus { shards: vec![shard], options: Arc::new(options) }
    }

    /// A corpus of tables that are in memory, each a shard of the name given.
    pub fn tables(tables: Vec<(String, Arc<dyn Table>)>, options: ReadOptions) -> Corpus {
        let shard = |(name, table): (String, Arc<dyn Table>)| {
            let bytes = Some(table.bytes());
            Shard { name, origin: Origin::Table(table), bytes, format: None }
        };
        Corpus { shards: tables.into_iter().map(shard).collect(), options: Arc::new(options) }
    }

    /// Reads the bytes of standard input from the file that they were put into: that can be done twice.
    pub fn stdin_from(&mut self, file: &Path) {
        for shard in self.shards.iter_mut().filter(|shard| shard.origin == Origin::Stdin) {
            shard.origin = Origin::File(file.to_owned());
            shard.bytes = fs::metadata(file).ok().map(|facts| facts.len());
        }
    }

    /// The shards, in the order of their documents.
    pub fn shards(&self) -> &[Shard] {
        &self.shards
    }

    /// How they are read.
    pub fn options(&self) -> &Arc<ReadOptions> {
        &self.options
    }

    /// Bounds the memory that decoders of compressed shards may take.
    pub fn bound_decoders(&mut self, decoding: Decoding) {
        Arc::make_mut(&mut self.options).decoding = decoding;
    }

    /// Size of all shards on disk, where known for every one.
    pub fn bytes(&self) -> Option<u64> {
        self.shards.iter().map(|shard| shard.bytes).sum()
    }
}

/// Adds the shards that one input names, and the folder that their names are relative to.
fn collect(input: &OsStr, shards: &mut Vec<Shard>, parents: &mut Vec<PathBuf>) -> Result<(), CorpusError> {
    if input == "-" {
        shards.push(Shard { name: STDIN.to_owned(), origin: Origin::Stdin, bytes: None, format: None });
        return Ok(());
    }
    let text = input.to_string_lossy();
    if ["s3://", "gs://", "az://"].iter().any(|scheme| text.starts_with(scheme)) {
        return collect_objects(&text, shards);
    }
    let path = Path::new(input);
    if path.exists() {
        return collect_path(path, shards, parents);
    }
    let nothing = || CorpusError::NoInput { input: text.clone().into_owned() };
    // As inside folders, names that begin with a dot must be asked for.
    let options = glob::MatchOptions { require_literal_leading_dot: true, ..Default::default() };
    let unreadable = |error: glob::GlobError| CorpusError::Read {
        name: error.path().display().to_string(),
        source: error.into(),
    };
    let found: Result<Vec<PathBuf>, _> = glob::glob_with(&text, options).map_err(|_| nothing())?.collect();
    let mut found = found.map_err(unreadable)?;
    found.sort_by(|a, b| a.as_os_str().as_encoded_bytes().cmp(b.as_os_str().as_encoded_bytes()));
    if found.is_empty() {
        return Err(nothing());
    }
    found.iter().try_for_each(|path| collect_path(path, shards, parents))
}

#[cfg(feature = "object-store")]
fn collect_objects(input: &str, shards: &mut Vec<Shard>) -> Result<(), CorpusError> {
    shards.extend(crate::input::object::list(input)?);
    Ok(())
}

#[cfg(not(feature = "object-store"))]
fn collect_objects(input: &str, _: &mut Vec<Shard>) -> Result<(), CorpusError> {
    Err(CorpusError::NotBuilt { name: input.to_owned(), feature: "object-store" })
}

fn collect_path(path: &Path, shards: &mut Vec<Shard>, parents: &mut Vec<PathBuf>) -> Result<(), CorpusError> {
    let full = std::path::absolute(path).map_err(reading(path))?;
    if path.is_dir() {
        let before = shards.len();
        walk(&full, None, &mut Vec::new(), shards)?;
        if shards.len() == before {
            return Err(CorpusError::EmptyFolder { input: path.display().to_string() });
        }
        parents.push(full);
    } else {
        shards.push(file_shard(&full, None).map_err(reading(path))?);
        parents.extend(full.parent().map(Path::to_owned));
    }
    Ok(())
}

fn reading(path: &Path) -> impl Fn(io::Error) -> CorpusError + '_ {
    |source| CorpusError::Read { name: path.display().to_string(), source }
}

fn file_shard(path: &Path, format: Option<Format>) -> io::Result<Shard> {
    let bytes = fs::metadata(path)?;
    let bytes = bytes.is_file().then_some(bytes.len());
    // The name is set once the common parent of all inputs is known.
    Ok(Shard { name: String::new(), origin: Origin::File(path.to_owned()), bytes, format })
}

/// Adds the files below `folder`, in the order of their paths' bytes. `trail` holds the folders that it lies in, by
/// their real paths: a link to one of them would never end and is passed over. So are pipes and devices.
fn walk(
    folder: &Path,
    format: Option<Format>,
    trail: &mut Vec<PathBuf>,
    shards: &mut Vec<Shard>,
) -> Result<(), CorpusError> {
    let real = fs::canonicalize(folder).map_err(reading(folder))?;
    if trail.contains(&real) {
        return Ok(());
    }
    trail.push(real);
    let maildir = folder.join("cur").is_dir() && folder.join("new").is_dir();
    let format = if maildir { Some(Format::Email) } else { format };
    let mut entries = Vec::new();
    for entry in fs::read_dir(folder).map_err(reading(folder))? {
        let path = entry.map_err(reading(folder))?.path();
        let is_folder = path.is_dir();
        let mut key = path.file_name().unwrap_or_default().as_encoded_bytes().to_vec();
        let part_of_maildir = maildir && is_folder && path.join("cur").is_dir();
        if key.starts_with(b".") && !part_of_maildir {
            continue;
        }
        if is_folder {
            // With the slash that its files' paths have, a folder sorts where its files do.
            key.push(b'/');
        }
        entries.push((key, path, is_folder));
    }
    entries.sort();
    for (_, path, is_folder) in entries {
        if is_folder {
            walk(&path, format, trail, shards)?;
        } else {
            let shard = file_shard(&path, format).map_err(reading(&path))?;
            shards.extend(shard.bytes.is_some().then_some(shard));
        }
    }
    trail.pop();
    Ok(())
}

/// Names every file by its path from the folder that all inputs share.
fn name_by_common_parent(shards: &mut [Shard], parents: Vec<PathBuf>) {
    let common = parents.into_iter().reduce(|common, parent| {
        let shared = common.components().zip(parent.components()).take_while(|(a, b)| a == b);
        shared.map(|(component, _)| component).collect()
    });
    let common = common.unwrap_or_default();
    for shard in shards {
        if let Origin::File(path) = &shard.origin {
            let relative = path.strip_prefix(&common).unwrap_or(path);
            let parts: Vec<_> = relative.iter().map(|part| part.to_string_lossy()).collect();
            shard.name = parts.join("/");
        }
    }
}

/// The bytes of a shard, in any order.
#[derive(Debug)]
pub struct BytesAt {
    source: Seekable,
    name: String,
}

#[derive(Debug)]
enum Seekable {
    File(fs::File),
    Memory(io::Cursor<Arc<[u8]>>),
}

impl BytesAt {
    /// Appends up to `most` bytes from `position` on to `out`; fewer only at the shard's end. Returns how many.
    pub fn read(&mut self, position: u64, most: usize, out: &mut Vec<u8>) -> Result<usize, CorpusError> {
        let from = SeekFrom::Start(position);
        out.reserve(most);
        let most = most as u64;
        let read = match &mut self.source {
            Seekable::File(file) => file.seek(from).and_then(|_| file.take(most).read_to_end(out)),
            Seekable::Memory(bytes) => bytes.seek(from).and_then(|_| bytes.take(most).read_to_end(out)),
        };
        read.map_err(CorpusError::reading(&self.name))
    }
}

impl Shard {
    /// Opens the shard for reading from its beginning.
    pub fn open(&self, options: &Arc<ReadOptions>) -> Result<Reader, CorpusError> {
        let consumed = Arc::new(AtomicU64::new(0));
        if let Some(rows) = self.rows(options)? {
            let records = formats::rows::RowsShard::new(rows, options, consumed.clone());
            let none = crate::Compression::None;
            return Ok(Reader::new(Box::new(records), None, Format::Table, none, consumed, false));
        }
        let mut stream = self.stream(options, &consumed)?;
        let damage = damage_in_front(&mut stream).map_err(self.reading())?;
        let compression = stream.compression();
        let format = match options.format.or(self.format) {
            Some(format) => format,
            // An empty file is an empty text; an empty pipe is no document at all.
            None if self.origin == Origin::Stdin && stream.window().is_empty() => Format::Jsonl,
            None => Format::seen(stream.window(), &self.name, options)
                .map_err(|seen| CorpusError::UnknownFormat { name: self.name.clone(), seen })?,
        };
        let ledger = Ledger::new(
            self.name.clone(),
            options.clone(),
            format.unit(),
            damage.as_ref().map_or(0, |d| d.count),
        );
        // The other formats have no place for one: it is rejected with what stands behind it.
        let markable = matches!(format, Format::Jsonl | Format::List | Format::Trec | Format::Mbox);
        let marked = markable && damage.is_none() && stream.window().starts_with(formats::BYTE_ORDER_MARK);
        let records = self.records(format, stream, ledger, &consumed)?;
        Ok(Reader::new(records, damage, format, compression, consumed, marked))
    }

    /// The rows of a table in memory, which can be read in any order; none of other shards.
    pub fn rows(&self, options: &ReadOptions) -> Result<Option<Rows>, CorpusError> {
        match &self.origin {
            Origin::Table(table) => Rows::new(table, &self.name, options).map(Some),
            _ => Ok(None),
        }
    }

    /// True for a file of JSON lines that is not compressed: single documents of it are found again by where they stand.
    pub fn is_plain_lines(&self, options: &Arc<ReadOptions>) -> bool {
        let here = matches!(self.origin, Origin::File(_) | Origin::Memory(_));
        here && self.open(options).is_ok_and(|reader| {
            reader.format() == Format::Jsonl && reader.compression() == crate::Compression::None
        })
    }

    /// Opens the shard to read any of its bytes, as they are on disk; only files and memory can be.
    pub fn bytes_at(&self) -> Result<BytesAt, CorpusError> {
        let source = match &self.origin {
            Origin::File(path) => Seekable::File(fs::File::open(path).map_err(self.reading())?),
            Origin::Memory(content) => Seekable::Memory(io::Cursor::new(content.clone())),
            Origin::Stdin | Origin::Object(_) | Origin::Table(_) => {
                return Err(self.reading()(io::ErrorKind::NotSeekable.into()));
            }
        };
        Ok(BytesAt { source, name: self.name.clone() })
    }

    /// The shard's bytes as they are stored.
    pub(crate) fn as_stored(&self) -> Result<Box<dyn Read + Send>, CorpusError> {
        Ok(match &self.origin {
            Origin::File(path) => Box::new(fs::File::open(path).map_err(self.reading())?),
            Origin::Stdin => Box::new(io::stdin()),
            Origin::Memory(content) => Box::new(io::Cursor::new(content.clone())),
            Origin::Object(address) => open_object(address)?,
            // It is opened by its rows.
            Origin::Table(_) => return Err(self.reading()(io::ErrorKind::Unsupported.into())),
        })
    }

    /// The shard's bytes, uncompressed.
    pub(crate) fn stream(
        &self,
        options: &ReadOptions,
        consumed: &Arc<AtomicU64>,
    ) -> Result<Stream, CorpusError> {
        let source = self.as_stored()?;
        let raw = Replay::new(Box::new(Counted { inner: source, count: consumed.clone() }));
        let named = crate::Compression::named(Path::new(&self.name));
        Stream::open(raw, named, options.decoding).map_err(self.reading())
    }

    /// Puts the shard's bytes, uncompressed, into a file of their own.
    #[cfg(feature = "parquet")]
    pub(crate) fn spool_apart(&self, options: &ReadOptions) -> Result<crate::write::Temporary, CorpusError> {
        let mut stream = self.stream(options, &Arc::default())?;
        let (file, temporary) = crate::write::Temporary::scratch().map_err(self.reading())?;
        spool(&mut stream, file).map_err(self.reading())?;
        Ok(temporary)
    }

    fn reading(&self) -> impl FnOnce(io::Error) -> CorpusError + '_ {
        CorpusError::reading(&self.name)
    }

    fn records(
        &self,
        format: Format,
        stream: Stream,
        ledger: Ledger,
        consumed: &Arc<AtomicU64>,
    ) -> Result<Box<dyn Records>, CorpusError> {
        Ok(match format {
            Format::Jsonl => Box::new(formats::jsonl::Jsonl::new(stream, ledger)),
            Format::List => Box::new(formats::jsonl::Jsonl::list(stream, ledger)),
            Format::Parquet => return self.parquet(stream, ledger, consumed),
            Format::Warc => Box::new(formats::warc::Warc::new(stream, ledger)),
            Format::Arc => Box::new(formats::arc::Arc::new(stream, ledger)),
            Format::Trec => Box::new(formats::trec::Trec::new(stream, ledger)),
            Format::MediaWiki => Box::new(formats::mediawiki::MediaWiki::new(stream, ledger)),
            Format::Mbox => Box::new(formats::mail::Mbox::new(stream, ledger)),
            Format::Email => Box::new(formats::plain::Plain::new(stream, ledger, Media::Email)),
            Format::Csv => Box::new(formats::table::Table::new(stream, ledger, b',')?),
            Format::Tsv => Box::new(formats::table::Table::new(stream, ledger, b'\t')?),
            Format::Html => Box::new(formats::plain::Plain::new(stream, ledger, Media::Html)),
            Format::Text => Box::new(formats::plain::Plain::new(stream, ledger, Media::Text)),
            Format::Table => return Err(self.reading()(io::ErrorKind::Unsupported.into())),
        })
    }

    /// Parquet is read from its end: what is no plain file goes to a temporary one first.
    #[cfg(feature = "parquet")]
    fn parquet(
        &self,
        mut stream: Stream,
        ledger: Ledger,
        consumed: &Arc<AtomicU64>,
    ) -> Result<Box<dyn Records>, CorpusError> {
        let file = match &self.origin {
            Origin::File(path) if stream.compression() == crate::Compression::None => fs::File::open(path),
            _ => tempfile::tempfile().and_then(|file| spool(&mut stream, file)),
        };
        // What was read to see the format does not count twice.
        consumed.store(0, Ordering::Relaxed);
        let file = file.map_err(self.reading())?;
        Ok(Box::new(formats::parquet::ParquetShard::open(file, ledger, consumed.clone())?))
    }

    #[cfg(not(feature = "parquet"))]
    fn parquet(&self, _: Stream, _: Ledger, _: &Arc<AtomicU64>) -> Result<Box<dyn Records>, CorpusError> {
        Err(CorpusError::NotBuilt { name: self.name.clone(), feature: "parquet" })
    }
}

/// Looks at the front of a shard, past compressed members of which nothing can be read.
fn damage_in_front(stream: &mut Stream) -> io::Result<Option<Damage>> {
    let mut damage: Option<Damage> = None;
    stream.ensure(crate::sniff::HEAD)?;
    while stream.window().is_empty()
        && let Some(reason) = stream.fault()
    {
        damage.get_or_insert_with(|| Damage::new(reason)).count += 1;
        stream.resume();
        stream.ensure(crate::sniff::HEAD)?;
    }
    Ok(damage)
}

#[cfg(feature = "parquet")]
fn spool(stream: &mut Stream, mut file: fs::File) -> io::Result<fs::File> {
    use std::io::{Seek, Write};
    loop {
        file.write_all(stream.window())?;
        stream.advance(stream.window().len());
        if !stream.more()? {
            file.rewind()?;
            return Ok(file);
        }
    }
}

#[cfg(feature = "object-store")]
fn open_object(address: &str) -> Result<Box<dyn Read + Send>, CorpusError> {
    crate::input::object::open(address)
}

#[cfg(not(feature = "object-store"))]
fn open_object(address: &str) -> Result<Box<dyn Read + Send>, CorpusError> {
    Err(CorpusError::NotBuilt { name: address.to_owned(), feature: "object-store" })
}

/// Counts what is read from the file itself, for progress.
struct Counted {
    inner: Box<dyn Read + Send>,
    count: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let length = self.inner.read(out)?;
        self.count.fetch_add(length as u64, Ordering::Relaxed);
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(inputs: &[&Path]) -> Vec<String> {
        let inputs: Vec<String> = inputs.iter().map(|path| path.display().to_string()).collect();
        let corpus = Corpus::open(&inputs, ReadOptions::default()).unwrap();
        corpus.shards().iter().map(|shard| shard.name.clone()).collect()
    }

    fn tree() -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for file in
            ["b/x.txt", "a/y.txt", "a.txt", "a/z/deep.txt", ".hidden", "a-b.txt", "mail/cur/1", "mail/new/2"]
        {
            let path = root.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, file).unwrap();
        }
        root
    }

    #[test]
    fn a_folder_is_walked_in_the_order_of_path_bytes() {
        let root = tree();
        let found = names(&[root.path()]);
        let mut sorted = found.clone();
        sorted.sort();
        assert_eq!(found, sorted);
        assert_eq!(found.len(), 7);
        assert!(!found.iter().any(|name| name.contains("hidden")));
    }

    #[test]
    fn names_are_relative_to_what_all_inputs_share() {
        let root = tree();
        assert_eq!(names(&[&root.path().join("b")]), ["x.txt"]);
        assert_eq!(
            names(&[&root.path().join("b"), &root.path().join("a")]),
            ["b/x.txt", "a/y.txt", "a/z/deep.txt"]
        );
        assert_eq!(names(&[&root.path().join("a.txt")]), ["a.txt"]);
    }

    #[test]
    fn patterns_are_sorted_and_must_match() {
        let root = tree();
        assert_eq!(names(&[&root.path().join("a*.txt")]), ["a-b.txt", "a.txt"]);
        let nothing = root.path().join("*.warc").display().to_string();
        let error = Corpus::open(&[nothing], ReadOptions::default()).unwrap_err().to_string();
        assert!(error.ends_with("is neither a file, a folder nor a pattern that matches one"), "{error}");
    }

    #[test]
    fn files_of_a_maildir_are_messages() {
        let root = tree();
        let corpus = Corpus::open(&[root.path().display().to_string()], ReadOptions::default()).unwrap();
        let mail: Vec<_> =
            corpus.shards().iter().filter(|shard| shard.format == Some(Format::Email)).collect();
        assert_eq!(mail.len(), 2);
    }

    /// Documents and rejections of a shard in memory.
    fn counts(name: &str, content: &[u8]) -> (u64, u64) {
        let corpus = Corpus::in_memory(name, content.into(), ReadOptions::default());
        let mut reader = corpus.shards()[0].open(corpus.options()).unwrap();
        let (mut documents, mut rejected) = (0, 0);
        while let Some(item) = reader.next().unwrap() {
            match item {
                crate::Item::Document(document) => {
                    assert_eq!(document.place.record, documents + rejected);
                    documents += 1;
                }
                crate::Item::Rejected(_) => rejected += 1,
                crate::Item::Skipped(_) => {}
            }
        }
        (documents, rejected)
    }

    #[test]
    fn damage_at_the_front_costs_what_it_hits() {
        use crate::formats::testing::compress;
        let record = |n: u32| {
            let body = format!("text number {n}");
            let length = body.len();
            format!("WARC/1.0\r\nWARC-Type: conversion\r\nContent-Length: {length}\r\n\r\n{body}\r\n\r\n")
        };
        let members: Vec<Vec<u8>> =
            (0..10).map(|n| compress(crate::Compression::Gzip, record(n).as_bytes())).collect();
        let mut torn = members.concat();
        torn[12..30].fill(0xff);
        assert_eq!(counts("x.warc.gz", &torn), (9, 1));
        let mut nameless = members.concat();
        nameless[0] = 0;
        assert_eq!(counts("x.warc.gz", &nameless), (9, 1));
        let junk = format!("junk\r\n{}", (0..10).map(record).collect::<String>());
        assert_eq!(counts("x.warc", junk.as_bytes()), (10, 1));
        assert_eq!(counts("stdin", b"{\"text\":\"a\"}x\n{\"text\":\"b\"}\n{\"text\":\"c\"}\n"), (2, 1));
    }

    #[cfg(unix)]
    #[test]
    fn a_link_to_a_parent_does_not_loop() {
        let root = tree();
        std::os::unix::fs::symlink(root.path(), root.path().join("a/up")).unwrap();
        std::os::unix::fs::symlink(root.path().join("b"), root.path().join("a/z/b")).unwrap();
        std::os::unix::fs::symlink(root.path().join("a/z"), root.path().join("b/z")).unwrap();
        let found = names(&[root.path()]);
        assert_eq!(found.iter().filter(|name| name.ends_with("x.txt")).count(), 2, "{found:?}");
    }
}
