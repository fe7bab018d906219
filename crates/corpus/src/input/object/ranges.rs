//! An object becomes a stream of bytes.
//!
//! A thread asks for one range after the other and hands each over when the reader is ready for it: while one
//! range is being read the next is on its way, and no more than these two are ever in memory.

use std::io::{self, Cursor, Read};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use object_store::path::Path;
use object_store::{Error, GetOptions, GetRange, GetResult};

use super::listing::describe;
use super::{Bucket, runtime, to_io_error};

/// Bytes of one request: long enough to hide the way to the store, short enough to repeat.
const RANGE: u64 = 8 << 20;

/// One range of an object; empty at its end.
type Part = io::Result<Vec<u8>>;

/// Reads an object from its beginning to its end.
pub(super) struct Ranges {
    parts: Receiver<Part>,
    part: Cursor<Vec<u8>>,
    ended: bool,
}

impl Ranges {
    /// Begins to read, and waits for the first range.
    pub(super) fn open(bucket: Arc<dyn Bucket>, path: Path, address: &str) -> io::Result<Self> {
        // Without room in the channel the thread holds one part at most.
        let (sender, parts) = sync_channel(0);
        let object = ObjectFetcher { bucket, path, address: address.to_owned(), tag: None };
        thread::Builder::new().name("object-read".to_owned()).spawn(move || object.send(&sender))?;
        let mut ranges = Ranges { parts, part: Cursor::default(), ended: false };
        ranges.next_part()?;
        Ok(ranges)
    }

    /// Goes on to the next part.
    fn next_part(&mut self) -> io::Result<()> {
        // The last part is empty: a thread that died does not look like the end of the object.
        let lost = || Err(io::Error::other("the thread that reads the object ended before it"));
        let part = self.parts.recv().unwrap_or_else(|_| lost())?;
        self.ended = part.is_empty();
        self.part = Cursor::new(part);
        Ok(())
    }
}

impl Read for Ranges {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        loop {
            let length = self.part.read(out)?;
            if length > 0 || self.ended || out.is_empty() {
                return Ok(length);
            }
            self.next_part()?;
        }
    }
}

/// The thread's side.
struct ObjectFetcher {
    bucket: Arc<dyn Bucket>,
    path: Path,
    address: String,
    /// The store's tag of this content: all ranges must come from the same.
    tag: Option<String>,
}

impl ObjectFetcher {
    /// Sends part after part until the end, the first failure, or the loss of the receiver.
    fn send(mut self, sender: &SyncSender<Part>) {
        let runtime = match runtime() {
            Ok(runtime) => runtime,
            Err(error) => return drop(sender.send(Err(error))),
        };
        let (mut at, mut size) = (0, u64::MAX);
        while at < size {
            let part = runtime.block_on(self.part(at)).map(|(part, whole)| {
                size = whole;
                at += part.len() as u64;
                part
            });
            let last = !part.as_ref().is_ok_and(|part| !part.is_empty());
            if sender.send(part).is_err() || last {
                return;
            }
        }
        drop(sender.send(Ok(Vec::new())));
    }

    /// The range at `at`, and the size of the whole.
    async fn part(&mut self, at: u64) -> io::Result<(Vec<u8>, u64)> {
        let fetched = self.fetch(at).await;
        if at == 0 {
            return self.first(fetched).await;
        }
        let placed = |error: io::Error| {
            let sentence = format!("{} from byte {at} on: {error}", self.address);
            io::Error::new(error.kind(), sentence)
        };
        let (part, size) = fetched.map_err(to_io_error).map_err(placed)?;
        if part.is_empty() {
            return Err(placed(io::Error::new(io::ErrorKind::UnexpectedEof, "the store sent nothing")));
        }
        Ok((part, size))
    }

    /// Stores refuse ranges of objects that are empty: the failure may mean no more than that.
    async fn first(&self, fetched: Result<(Vec<u8>, u64), Error>) -> io::Result<(Vec<u8>, u64)> {
        match fetched {
            Ok(first) => Ok(first),
            Err(error @ Error::Generic { .. }) => match describe(&*self.bucket, &self.path).await {
                Ok(object) if object.size == 0 => Ok((Vec::new(), 0)),
                _ => Err(to_io_error(error)),
            },
            Err(error) => Err(to_io_error(error)),
        }
    }

    async fn fetch(&mut self, at: u64) -> Result<(Vec<u8>, u64), Error> {
        let range = Some(GetRange::Bounded(at..at + RANGE));
        let options = GetOptions { range, if_match: self.tag.clone(), ..GetOptions::default() };
        let answer = self.bucket.get_opts(&self.path, options).await?;
        self.tag = self.tag.take().or_else(|| strong_tag(&answer));
        let size = answer.meta.size;
        Ok((answer.bytes().await?.into(), size))
    }
}

/// The tag of an answer, unless it is weak: no request may ask for such a one to match.
fn strong_tag(answer: &GetResult) -> Option<String> {
    answer.meta.e_tag.clone().filter(|tag| !tag.starts_with("W/"))
}
