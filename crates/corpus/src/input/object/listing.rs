//! An address becomes shards.
//!
//! Objects without content are passed over below prefixes and among matches of patterns: stores keep folders
//! as such objects, under names that a listing does not tell from those of empty files.

use std::io;

use object_store::list::PaginatedListOptions;
use object_store::{Error, GetOptions, ObjectMeta, ObjectStore};
use xxhash_rust::xxh3::xxh3_64;

use super::address::{Address, KeyPattern};
use super::{Bucket, to_io_error};
use crate::non_data_files::{self, LeftOutFiles};
use crate::shard_list::ShardList;
use crate::{Origin, Shard};

/// Adds the shards that `address` names, in the order of their keys' bytes; returns the key of the folder that they lie in. They are
/// named later, when all inputs are known.
///
/// Below a prefix, what the names of objects or of their folders tell to be no data is left out.
pub(super) async fn find(
    bucket: &dyn Bucket,
    address: &Address<'_>,
    list: &mut ShardList,
    left_out: &mut LeftOutFiles,
) -> io::Result<String> {
    if address.is_pattern() {
        let Some(pattern) = KeyPattern::new(address.key) else { return Ok(String::new()) };
        all(bucket, pattern.fixed, address, list, |key| pattern.takes(key)).await.map_err(to_io_error)?;
        return Ok(pattern.folder().to_owned());
    }
    let folder = || address.key.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
    let single = single(bucket, address).await?;
    if let Some(object) = single.as_ref().filter(|object| object.size > 0) {
        list.push(shard(address, object));
        return Ok(folder());
    }
    let (prefix, before) = (address.prefix(), list.files());
    let is_data = |key: &str| {
        let reason = key.get(prefix.len()..).and_then(non_data_files::by_key);
        reason.into_iter().for_each(|reason| left_out.add(reason, || address.with_key(key)));
        reason.is_none()
    };
    all(bucket, &prefix, address, list, is_data).await.map_err(to_io_error)?;
    if let (Some(object), true) = (&single, list.files() == before) {
        list.push(shard(address, object));
        return Ok(folder());
    }
    Ok(prefix)
}

/// The object of exactly this key, if there is one.
async fn single(bucket: &dyn Bucket, address: &Address<'_>) -> io::Result<Option<ObjectMeta>> {
    if address.key.is_empty() || address.key.ends_with('/') {
        return Ok(None);
    }
    match describe(bucket, &address.path()?).await {
        Ok(object) => Ok(Some(object)),
        Err(Error::NotFound { .. }) => Ok(None),
        Err(error) => Err(to_io_error(error)),
    }
}

/// Fetches the metadata of an object without its content.
pub(super) async fn describe(
    store: &(impl ObjectStore + ?Sized),
    path: &object_store::path::Path,
) -> Result<ObjectMeta, Error> {
    let options = GetOptions { head: true, ..GetOptions::default() };
    Ok(store.get_opts(path, options).await?.meta)
}

/// Adds all objects with content whose keys begin with `prefix` and for which `wanted` is true.
async fn all(
    bucket: &dyn Bucket,
    prefix: &str,
    address: &Address<'_>,
    list: &mut ShardList,
    mut wanted: impl FnMut(&str) -> bool,
) -> Result<(), Error> {
    let prefix = Some(prefix).filter(|prefix| !prefix.is_empty());
    let before = list.files();
    let mut page_token = None;
    loop {
        let options = PaginatedListOptions { page_token, ..PaginatedListOptions::default() };
        let page = bucket.list_paginated(prefix, options).await?;
        let objects = page.result.objects.iter();
        let found = objects.filter(|object| object.size > 0 && wanted(object.location.as_ref()));
        found.for_each(|object| list.push(shard(address, object)));
        page_token = page.page_token;
        if page_token.is_none() {
            // Not every store lists in this order.
            list.sort_objects(before);
            return Ok(());
        }
    }
}

fn shard(address: &Address, object: &ObjectMeta) -> Shard {
    let origin = Origin::Object(address.with_key(object.location.as_ref()));
    let tag = object.e_tag.as_ref().map(|tag| xxh3_64(tag.as_bytes()));
    Shard { bytes: Some(object.size), digest: tag, ..Shard::new(origin) }
}
