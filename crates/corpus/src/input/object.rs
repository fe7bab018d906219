//! Objects in a store: `s3://bucket/key`, `gs://bucket/key`, `az://container/key`.
//!
//! Credentials, endpoints and the like come from the variables that each store's own tools use (`AWS_...`,
//! `GOOGLE_...`, `AZURE_...`). The `from_env` builders of `object_store` and the HTTP client behind them read
//! these; nothing else here looks at the environment. Failed requests are repeated by the policy of that crate.
//!
//! There is no global runtime: a listing and every open object have a thread with a small runtime of their own,
//! so they also work for callers that stand in a runtime themselves.
//!
//! - [`address`]: an address taken apart
//! - [`listing`]: an address becomes shards
//! - [`ranges`]: an object becomes a stream of bytes, one request ahead

mod address;
mod listing;
mod ranges;

use std::io::{self, Read};
use std::sync::Arc;
use std::thread;

use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::list::PaginatedListStore;
use object_store::{Error, ObjectStore};
use tokio::runtime::{Builder, Runtime};

use self::address::{Address, Scheme};
use self::ranges::Ranges;
use crate::shard_list::ShardList;
use crate::{CorpusError, LeftOutFiles};

/// A store that can also list by a prefix that ends within a name, which patterns need.
trait Bucket: ObjectStore + PaginatedListStore {}

impl<T: ObjectStore + PaginatedListStore> Bucket for T {}

/// The shards that an address names: one object, all below a prefix, or all that a pattern matches; and bucket and key of the
/// folder that they lie in.
pub(crate) fn list(
    input: &str,
    list: &mut ShardList,
    left_out: &mut LeftOutFiles,
) -> Result<String, CorpusError> {
    let reading = |source| CorpusError::Read { name: input.to_owned(), source };
    let address = Address::parse(input).map_err(reading)?;
    let bucket = connect(&address).map_err(reading)?;
    let before = list.files();
    let folder = on_own_runtime(listing::find(&*bucket, &address, list, left_out))
        .and_then(|found| found)
        .map_err(reading)?;
    if list.files() == before {
        return Err(CorpusError::NoInput { input: input.to_owned() });
    }
    Ok(format!("{}/{folder}", address.bucket).trim_end_matches('/').to_owned())
}

/// The bytes of one object. Waits for the first of them, so that an object that is not there fails here.
pub(crate) fn open(address: &str) -> Result<Box<dyn Read + Send>, CorpusError> {
    let open = || {
        let parsed = Address::parse(address)?;
        Ranges::open(connect(&parsed)?, parsed.path()?, address)
    };
    Ok(Box::new(open().map_err(CorpusError::reading(address))?))
}

fn connect(address: &Address) -> io::Result<Arc<dyn Bucket>> {
    let name = address.bucket;
    let bucket: Result<Arc<dyn Bucket>, Error> = match address.scheme {
        Scheme::S3 => AmazonS3Builder::from_env().with_bucket_name(name).build().map(|s3| Arc::new(s3) as _),
        Scheme::Google => {
            GoogleCloudStorageBuilder::from_env().with_bucket_name(name).build().map(|gs| Arc::new(gs) as _)
        }
        Scheme::Azure => {
            MicrosoftAzureBuilder::from_env().with_container_name(name).build().map(|az| Arc::new(az) as _)
        }
    };
    bucket.map_err(to_io_error)
}

/// Runs `work` to its end on a thread of its own: inside a caller's runtime no second one may begin.
fn on_own_runtime<T: Send>(work: impl Future<Output = T> + Send) -> io::Result<T> {
    thread::scope(|scope| {
        let worker = thread::Builder::new().name("object-list".to_owned());
        let worker = worker.spawn_scoped(scope, || Ok(runtime()?.block_on(work)))?;
        worker.join().unwrap_or_else(|_| Err(io::Error::other("the thread that lists objects failed")))
    })
}

fn runtime() -> io::Result<Runtime> {
    Builder::new_current_thread().enable_all().build()
}

/// Turns the error of a store into one sentence.
fn to_io_error(error: Error) -> io::Error {
    match error {
        Error::NotFound { .. } => {
            io::Error::new(io::ErrorKind::NotFound, "there is no such object or bucket")
        }
        Error::Precondition { .. } => io::Error::other("the object was replaced while it was read"),
        Error::PermissionDenied { source, .. } | Error::Unauthenticated { source, .. } => {
            let sentence = format!("the store denies access with these credentials ({})", one_line(&*source));
            io::Error::new(io::ErrorKind::PermissionDenied, sentence)
        }
        Error::Generic { source, .. } => generic(&one_line(&*source)),
        other => io::Error::other(one_line(&other)),
    }
}

/// A bucket that is missing is told from other failures only by the code in the store's answer.
fn generic(answer: &str) -> io::Error {
    if ["NoSuchBucket", "ContainerNotFound"]
        .iter()
        .any(|code| answer.contains(&format!("<Code>{code}</Code>")))
    {
        return io::Error::new(io::ErrorKind::NotFound, "there is no such bucket");
    }
    io::Error::other(answer)
}

/// Stores answer with pages of XML: their line breaks would tear a message apart.
fn one_line(error: &dyn std::error::Error) -> String {
    error.to_string().split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complaints_are_one_sentence() {
        let denied = Error::PermissionDenied { path: "k".into(), source: "<Error>\n  <Code/>".into() };
        let denied = to_io_error(denied);
        assert_eq!(denied.kind(), io::ErrorKind::PermissionDenied);
        assert_eq!(denied.to_string(), "the store denies access with these credentials (<Error> <Code/>)");
        let missing = Error::NotFound { path: "k".into(), source: "404".into() };
        assert_eq!(to_io_error(missing).to_string(), "there is no such object or bucket");
        let no_bucket = "404:\n<Error><Code>NoSuchBucket</Code></Error>".into();
        let no_bucket = to_io_error(Error::Generic { store: "S3", source: no_bucket });
        assert_eq!(no_bucket.to_string(), "there is no such bucket");
    }

    #[test]
    fn an_address_without_bucket_is_named() {
        let mut shards = ShardList::new(crate::ListBudget::default());
        let error = list("s3:///key", &mut shards, &mut LeftOutFiles::default()).unwrap_err().to_string();
        assert_eq!(error, "cannot read s3:///key: the address names no bucket");
    }
}
