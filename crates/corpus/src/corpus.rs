//! Inputs named on a command line become shards in a fixed order.
//!
//! Arguments come in the order given; what a folder or a pattern holds is sorted by the bytes of its path. The
//! list is kept within the memory that [`ReadOptions::lists`] allows, or refused.
//!
//! A shard remembers its size and the time of its last change from before it was read, by which [`Shard::check`] sees
//! whether it is still the same; its reader takes a digest of the bytes as they pass.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::UNIX_EPOCH;

use lookalike_hash::RunningSum;
use lookalike_model::Media;

use crate::formats;
use crate::input::{Replay, Stream};
use crate::names::Parents;
use crate::non_data_files::{self, LeftOutFiles, LeftOutReason};
use crate::reader::{Damage, Records};
use crate::record::RecordCounter;
use crate::shard_list::{self, ShardList};
use crate::table::{Rows, Table};
use crate::{CorpusError, Format, ReadOptions, Reader};

/// The source of a shard's bytes.
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
    /// Compares tables by identity: two are equal when they are one and the same.
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
    /// Its path relative to the inputs' common parent, with `/` between parts; no other shard of its corpus is called so.
    pub name: String,
    /// The source of its bytes.
    pub origin: Origin,
    /// Its size on disk, where known.
    pub bytes: Option<u64>,
    /// Time of the last change, in nanoseconds since 1970, as its folder said before anything was read; of files alone.
    pub modified: Option<u64>,
    /// Digest of its content, where one is known before it is read: of standard input, and of an object's tag.
    pub digest: Option<u64>,
    /// Its format, where the folder it lies in tells: files of a Maildir are messages.
    pub format: Option<Format>,
}

/// The name of standard input.
const STDIN: &str = "stdin";

/// Shards in a fixed order, and how to read them.
#[derive(Debug, Clone)]
pub struct Corpus {
    pub(crate) shards: Arc<Vec<Shard>>,
    pub(crate) left_out: Arc<LeftOutFiles>,
    options: Arc<ReadOptions>,
}

impl Corpus {
    /// Finds the shards that `inputs` name: files, folders, patterns, addresses of objects, or `-` for standard
    /// input. Inside folders, what is [no data](crate::non_data_files) is left out.
    pub fn open(inputs: &[impl AsRef<OsStr>], options: ReadOptions) -> Result<Corpus, CorpusError> {
        let mut found = ListedShards::new(&options);
        inputs.iter().try_for_each(|input| collect(input.as_ref(), &mut found))?;
        let ListedShards { list, parents, left_out, .. } = found;
        let mut shards = list.finish()?;
        parents.name(&mut shards);
        let mut corpus = Corpus { left_out: Arc::new(left_out), ..Corpus::of(shards, options) };
        if corpus.options.skip_unreadable {
            corpus.leave_out_unreadable()?;
        }
        Ok(corpus)
    }

    /// A corpus of one shard that is held in memory.
    pub fn in_memory(name: &str, content: Arc<[u8]>, options: ReadOptions) -> Corpus {
        let bytes = Some(content.len() as u64);
        let shard = Shard { name: name.to_owned(), bytes, ..Shard::new(Origin::Memory(content)) };
        Corpus::of(vec![shard], options)
    }

    fn of(shards: Vec<Shard>, options: ReadOptions) -> Corpus {
        Corpus { shards: Arc::new(shards), left_out: Arc::default(), options: Arc::new(options) }
    }

    /// A corpus of tables that are in memory, each a shard of the name given.
    pub fn tables(tables: Vec<(String, Arc<dyn Table>)>, options: ReadOptions) -> Corpus {
        let shard = |(name, table): (String, Arc<dyn Table>)| {
            let bytes = Some(table.bytes());
            Shard { name, bytes, ..Shard::new(Origin::Table(table)) }
        };
        Corpus::of(tables.into_iter().map(shard).collect(), options)
    }

    /// Reads the bytes of standard input from the file that they were put into, which can be done twice; `digest` is theirs.
    pub fn read_stdin_from(&mut self, file: &Path, digest: u64) {
        let shards = Arc::make_mut(&mut self.shards);
        for shard in shards.iter_mut().filter(|shard| shard.origin == Origin::Stdin) {
            shard.origin = Origin::File(file.to_owned());
            shard.bytes = fs::metadata(file).ok().map(|facts| facts.len());
            shard.digest = Some(digest);
            // An empty file is an empty text; an empty pipe is no document at all.
            shard.format = (shard.bytes == Some(0)).then_some(Format::Jsonl);
        }
    }

    /// Notes size and digest of standard input that was read to its end, and will not come again.
    pub fn set_stdin_facts(&mut self, bytes: u64, digest: u64) {
        let shards = Arc::make_mut(&mut self.shards);
        for shard in shards.iter_mut().filter(|shard| shard.origin == Origin::Stdin) {
            (shard.bytes, shard.digest) = (Some(bytes), Some(digest));
        }
    }

    /// True when standard input is a part of it.
    pub fn has_stdin(&self) -> bool {
        self.shards.iter().any(|shard| shard.origin == Origin::Stdin)
    }

    /// Looks whether all files are what they were when the corpus was opened, by their sizes and times.
    pub fn check(&self) -> Result<(), CorpusError> {
        self.shards.iter().try_for_each(Shard::check)
    }

    /// The shards, in the order of their documents.
    pub fn shards(&self) -> &[Shard] {
        &self.shards
    }

    /// The files of the given folders that are not read.
    pub fn left_out(&self) -> &LeftOutFiles {
        &self.left_out
    }

    /// Returns the options under which the shards are read.
    pub fn options(&self) -> &Arc<ReadOptions> {
        &self.options
    }

    /// Bytes that the list of its shards takes, and what jobs keep of each shard.
    pub fn list_bytes(&self) -> u64 {
        self.shards.iter().map(shard_list::shard_bytes).sum()
    }

    /// Size of all shards on disk, where known for every one.
    pub fn bytes(&self) -> Option<u64> {
        self.shards.iter().map(|shard| shard.bytes).sum()
    }
}

/// The shards that the inputs name, and the files left out.
struct ListedShards {
    list: ShardList,
    parents: Parents,
    left_out: LeftOutFiles,
    /// Files inside folders that cannot be read are left out, too.
    skip_unreadable: bool,
}

impl ListedShards {
    fn new(options: &ReadOptions) -> Self {
        ListedShards {
            list: ShardList::new(options.lists.clone()),
            parents: Parents::default(),
            left_out: LeftOutFiles::default(),
            skip_unreadable: options.skip_unreadable,
        }
    }

    /// Something read inside a folder, or nothing where it is left out.
    fn read<T>(&mut self, path: &Path, read: io::Result<T>) -> Result<Option<T>, CorpusError> {
        match read {
            Ok(read) => Ok(Some(read)),
            Err(_) if self.skip_unreadable => {
                self.left_out.add(LeftOutReason::Unreadable, || path.display().to_string());
                Ok(None)
            }
            Err(error) => Err(reading(path)(error)),
        }
    }
}

/// Adds the shards that one input names, and the folder that their names are relative to.
fn collect(input: &OsStr, found: &mut ListedShards) -> Result<(), CorpusError> {
    if input == "-" {
        found.list.push(Shard { name: STDIN.to_owned(), ..Shard::new(Origin::Stdin) });
        return Ok(());
    }
    let text = input.to_string_lossy();
    if ["s3://", "gs://", "az://"].iter().any(|scheme| text.starts_with(scheme)) {
        return collect_objects(&text, found);
    }
    let path = Path::new(input);
    if path.exists() {
        return collect_path(path, found);
    }
    let nothing = || CorpusError::NoInput { input: text.clone().into_owned() };
    // As inside folders, names that begin with a dot must be asked for.
    let options = glob::MatchOptions { require_literal_leading_dot: true, ..Default::default() };
    let unreadable = |error: glob::GlobError| CorpusError::Read {
        name: error.path().display().to_string(),
        source: error.into(),
    };
    let mut matches = Vec::new();
    for path in glob::glob_with(&text, options).map_err(|_| nothing())? {
        let path = path.map_err(unreadable)?;
        found.list.take_entry(path.as_os_str());
        matches.push(path);
    }
    matches.sort_by(|a, b| a.as_os_str().as_encoded_bytes().cmp(b.as_os_str().as_encoded_bytes()));
    if matches.is_empty() {
        return Err(nothing());
    }
    for path in matches {
        found.list.give_back_entry(path.as_os_str());
        collect_path(&path, found)?;
    }
    Ok(())
}

#[cfg(feature = "object-store")]
fn collect_objects(input: &str, found: &mut ListedShards) -> Result<(), CorpusError> {
    let parent = crate::input::object::list(input, &mut found.list, &mut found.left_out)?;
    found.parents.object(parent);
    Ok(())
}

#[cfg(not(feature = "object-store"))]
fn collect_objects(input: &str, _: &mut ListedShards) -> Result<(), CorpusError> {
    Err(CorpusError::NotBuilt { name: input.to_owned(), feature: "object-store" })
}

fn collect_path(path: &Path, found: &mut ListedShards) -> Result<(), CorpusError> {
    let full = std::path::absolute(path).map_err(reading(path))?;
    if path.is_dir() {
        let before = found.list.files();
        walk(&full, None, &mut Vec::new(), found)?;
        if found.list.files() == before {
            let input = path.display().to_string();
            return Err(CorpusError::EmptyFolder { input, left_out: found.left_out.clone() });
        }
        found.parents.file(full);
    } else {
        found.list.push(file_shard(&full, None).map_err(reading(path))?);
        full.parent().into_iter().for_each(|parent| found.parents.file(parent.to_owned()));
    }
    Ok(())
}

fn reading(path: &Path) -> impl Fn(io::Error) -> CorpusError + '_ {
    |source| CorpusError::Read { name: path.display().to_string(), source }
}

fn file_shard(path: &Path, format: Option<Format>) -> io::Result<Shard> {
    let facts = fs::metadata(path)?;
    let bytes = facts.is_file().then_some(facts.len());
    let modified = facts.is_file().then(|| modified(&facts)).flatten();
    // The name is set once the common parent of all inputs is known.
    Ok(Shard { bytes, modified, format, ..Shard::new(Origin::File(path.to_owned())) })
}

fn modified(facts: &fs::Metadata) -> Option<u64> {
    let since = facts.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(since.as_nanos() as u64)
}

/// Adds the files below `folder`, in the order of their paths' bytes. `trail` holds the folders that it lies in, by
/// their real paths: a link to one of them would never end and is passed over. So are pipes and devices. What is no data is counted.
fn walk(
    folder: &Path,
    format: Option<Format>,
    trail: &mut Vec<PathBuf>,
    found: &mut ListedShards,
) -> Result<(), CorpusError> {
    let real = fs::canonicalize(folder).map_err(reading(folder))?;
    if trail.contains(&real) {
        return Ok(());
    }
    trail.push(real);
    let maildir = folder.join("cur").is_dir() && folder.join("new").is_dir();
    let format = if maildir { Some(Format::Email) } else { format };
    let mut entries = Vec::new();
    let Some(listed) = found.read(folder, fs::read_dir(folder))? else {
        trail.pop();
        return Ok(());
    };
    for entry in listed {
        let entry = entry.map_err(reading(folder))?;
        let (path, name) = (entry.path(), entry.file_name());
        let is_folder = path.is_dir();
        let part_of_maildir = maildir && is_folder && path.join("cur").is_dir();
        let reason = non_data_files::by_name(&name.to_string_lossy()).filter(|reason| match reason {
            LeftOutReason::Hidden => !part_of_maildir,
            LeftOutReason::Marker => format.is_none(),
            // Folders and messages of a Maildir may be called anything else.
            _ => !is_folder && format.is_none(),
        });
        match reason {
            Some(reason) => found.left_out.add(reason, || path.display().to_string()),
            None if !is_folder && found.list.is_full() => found.list.count(&path),
            None => {
                found.list.take_entry(&name);
                entries.push((name, is_folder));
            }
        }
    }
    entries.sort_by(|a, b| sort_key(a).cmp(sort_key(b)));
    for (name, is_folder) in entries {
        found.list.give_back_entry(&name);
        let path = folder.join(name);
        if is_folder {
            walk(&path, format, trail, found)?;
            continue;
        }
        let Some(shard) = found.read(&path, file_shard(&path, format))? else { continue };
        match non_data_files::by_content(&path).filter(|_| format.is_none() && shard.bytes.is_some()) {
            Some(reason) => found.left_out.add(reason, || path.display().to_string()),
            None if shard.bytes.is_some() => found.list.push(shard),
            None => {}
        }
    }
    trail.pop();
    Ok(())
}

/// The bytes that an entry of a folder is sorted by. With the slash that its files' paths have, a folder sorts where its files do.
fn sort_key((name, is_folder): &(OsString, bool)) -> impl Iterator<Item = &u8> {
    name.as_encoded_bytes().iter().chain(is_folder.then_some(&b'/'))
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
    /// A shard without a name, of which nothing else is known.
    pub fn new(origin: Origin) -> Self {
        Shard { name: String::new(), origin, bytes: None, modified: None, digest: None, format: None }
    }

    /// Looks whether a file is what it was when the corpus was opened, by its size and the time of its last change.
    pub fn check(&self) -> Result<(), CorpusError> {
        let (Origin::File(path), Some(bytes)) = (&self.origin, self.bytes) else { return Ok(()) };
        let facts = fs::metadata(path).map_err(self.reading())?;
        let what = match () {
            () if facts.len() != bytes => format!("it had {bytes} bytes and has {}", facts.len()),
            () if self.modified.is_some() && modified(&facts) != self.modified => {
                "it was written to".to_owned()
            }
            () => return Ok(()),
        };
        Err(CorpusError::Changed { name: self.name.clone(), what })
    }

    /// Opens the shard for reading from its beginning.
    pub fn open(&self, options: &Arc<ReadOptions>) -> Result<Reader, CorpusError> {
        let (consumed, digest) = (Arc::new(AtomicU64::new(0)), Arc::default());
        if let Some(rows) = self.rows(options)? {
            let records = formats::rows::RowsShard::new(rows, options, consumed.clone());
            let none = crate::Compression::None;
            return Ok(Reader::new(Box::new(records), None, Format::Table, none, consumed, digest, false));
        }
        let mut stream = self.stream(options, &consumed, &digest)?;
        let damage = leading_damage(&mut stream).map_err(self.reading())?;
        let compression = stream.compression();
        let format = self.format(&stream, options)?;
        let counter = RecordCounter::new(
            self.name.clone(),
            options.clone(),
            format.unit(),
            damage.as_ref().map_or(0, |d| d.count),
        );
        // The other formats have no place for one: it is rejected with what stands behind it.
        let markable = matches!(format, Format::Jsonl | Format::List | Format::Trec | Format::Mbox);
        let marked = markable && damage.is_none() && stream.window().starts_with(formats::BYTE_ORDER_MARK);
        let records = self.records(format, stream, counter, &consumed)?;
        Ok(Reader::new(records, damage, format, compression, consumed, digest, marked))
    }

    fn format(&self, stream: &Stream, options: &ReadOptions) -> Result<Format, CorpusError> {
        match options.format.or(self.format) {
            Some(format) => Ok(format),
            // An empty file is an empty text; an empty pipe is no document at all.
            None if self.origin == Origin::Stdin && stream.window().is_empty() => Ok(Format::Jsonl),
            None => Format::detect(stream.window(), &self.name, options)
                .map_err(|seen| CorpusError::UnknownFormat { name: self.name.clone(), seen }),
        }
    }

    /// The format that the first bytes show.
    pub(crate) fn sniff_format(&self, options: &Arc<ReadOptions>) -> Result<Format, CorpusError> {
        let front = Box::new(self.as_stored()?.take(crate::sniff::HEAD as u64));
        let mut stream = self.stream_of(front, options, &Arc::default(), &Arc::default())?;
        leading_damage(&mut stream).map_err(self.reading())?;
        self.format(&stream, options)
    }

    /// Returns the absolute path of its file or the address of its object; `None` for a shard in memory or from standard input.
    pub fn address(&self) -> Option<String> {
        match &self.origin {
            Origin::File(path) => {
                Some(std::path::absolute(path).unwrap_or_else(|_| path.clone()).display().to_string())
            }
            Origin::Object(address) => Some(address.clone()),
            _ => None,
        }
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
        digest: &Arc<OnceLock<u64>>,
    ) -> Result<Stream, CorpusError> {
        self.stream_of(self.as_stored()?, options, consumed, digest)
    }

    /// The bytes of a source, uncompressed.
    fn stream_of(
        &self,
        inner: Box<dyn Read + Send>,
        options: &ReadOptions,
        consumed: &Arc<AtomicU64>,
        digest: &Arc<OnceLock<u64>>,
    ) -> Result<Stream, CorpusError> {
        let counted = CountingReader {
            inner,
            count: consumed.clone(),
            sum: RunningSum::default(),
            digest: digest.clone(),
        };
        let raw = Replay::new(Box::new(counted));
        let named = crate::Compression::named(Path::new(&self.name));
        Stream::open(raw, named, options.decoding.budget()).map_err(self.reading())
    }

    /// Puts the shard's bytes, uncompressed, into a file of their own.
    #[cfg(feature = "parquet")]
    pub(crate) fn spool_apart(&self, options: &ReadOptions) -> Result<crate::write::Temporary, CorpusError> {
        let mut stream = self.stream(options, &Arc::default(), &Arc::default())?;
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
        counter: RecordCounter,
        consumed: &Arc<AtomicU64>,
    ) -> Result<Box<dyn Records>, CorpusError> {
        Ok(match format {
            Format::Jsonl => Box::new(formats::jsonl::Jsonl::new(stream, counter)),
            Format::List => Box::new(formats::jsonl::Jsonl::list(stream, counter)),
            Format::Parquet => return self.parquet(stream, counter, consumed),
            Format::Warc => Box::new(formats::warc::Warc::new(stream, counter)),
            Format::Arc => Box::new(formats::arc::Arc::new(stream, counter)),
            Format::Trec => Box::new(formats::trec::Trec::new(stream, counter)),
            Format::MediaWiki => Box::new(formats::mediawiki::MediaWiki::new(stream, counter)),
            Format::Mbox => Box::new(formats::mail::Mbox::new(stream, counter)),
            Format::Email => Box::new(formats::plain::Plain::new(stream, counter, Media::Email)),
            Format::Csv => Box::new(formats::table::Table::new(stream, counter, b',')?),
            Format::Tsv => Box::new(formats::table::Table::new(stream, counter, b'\t')?),
            Format::Html => Box::new(formats::plain::Plain::new(stream, counter, Media::Html)),
            Format::Text => Box::new(formats::plain::Plain::new(stream, counter, Media::Text)),
            Format::Table => return Err(self.reading()(io::ErrorKind::Unsupported.into())),
        })
    }

    /// Parquet is read from its end: what is no plain file goes to a temporary one first.
    #[cfg(feature = "parquet")]
    fn parquet(
        &self,
        mut stream: Stream,
        counter: RecordCounter,
        consumed: &Arc<AtomicU64>,
    ) -> Result<Box<dyn Records>, CorpusError> {
        let file = match &self.origin {
            Origin::File(path) if stream.compression() == crate::Compression::None => fs::File::open(path),
            _ => tempfile::tempfile().and_then(|file| spool(&mut stream, file)),
        };
        // What was read to see the format does not count twice.
        consumed.store(0, Ordering::Relaxed);
        let file = file.map_err(self.reading())?;
        Ok(Box::new(formats::parquet::ParquetShard::open(file, counter, consumed.clone())?))
    }

    #[cfg(not(feature = "parquet"))]
    fn parquet(
        &self,
        _: Stream,
        _: RecordCounter,
        _: &Arc<AtomicU64>,
    ) -> Result<Box<dyn Records>, CorpusError> {
        Err(CorpusError::NotBuilt { name: self.name.clone(), feature: "parquet" })
    }
}

/// Looks at the front of a shard, past compressed members of which nothing can be read.
fn leading_damage(stream: &mut Stream) -> io::Result<Option<Damage>> {
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

/// Counts what is read from the file itself, for progress, and takes a digest of all of it.
struct CountingReader {
    inner: Box<dyn Read + Send>,
    count: Arc<AtomicU64>,
    sum: RunningSum,
    /// Set when the end was met.
    digest: Arc<OnceLock<u64>>,
}

impl Read for CountingReader {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let length = self.inner.read(out)?;
        self.count.fetch_add(length as u64, Ordering::Relaxed);
        self.sum.update(&out[..length]);
        if length == 0 && !out.is_empty() {
            self.digest.get_or_init(|| self.sum.sum());
        }
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ListBudget;

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
    fn a_list_of_files_that_is_too_long_is_refused_with_what_would_do() {
        let root = tempfile::tempdir().unwrap();
        for number in 0..50 {
            let folder = root.path().join(format!("{}", number % 5));
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join(format!("{number}.txt")), "text").unwrap();
        }
        let within = |bytes| {
            let options = ReadOptions { lists: ListBudget::new(bytes, 1 << 20), ..ReadOptions::default() };
            Corpus::open(&[root.path()], options)
        };
        let needed = |refused| match refused {
            Err(CorpusError::Memory { why, needed }) => {
                assert_eq!(why, "a list of 50 files");
                // Beside what the process needs, there is something for the names of folders.
                needed - (2 << 20)
            }
            other => panic!("{other:?}"),
        };
        let most = needed(within(20_000));
        // Whether the list became too long early or late, all files are in the figure.
        assert_eq!(needed(within(100)), most);
        assert_eq!(within(most + 1000).unwrap().shards().len(), 50);
        assert_eq!(needed(within(most - 1)), most);
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
