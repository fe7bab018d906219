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
use crate::{Origin, Shard};

/// The shards that `address` names, in the order of their keys' bytes, and the key of the folder that they lie in; none when
/// nothing is there. They are named later, when all inputs are known.
///
/// Below a prefix, what the names of objects or of their folders tell to be no data is left out.
pub(super) async fn find(
    bucket: &dyn Bucket,
    address: &Address<'_>,
    left_out: &mut LeftOutFiles,
) -> io::Result<(Vec<Shard>, String)> {
    if address.is_pattern() {
        let Some(pattern) = KeyPattern::new(address.key) else { return Ok(Default::default()) };
        let found = all(bucket, pattern.fixed, |key| pattern.takes(key)).await.map_err(to_io_error)?;
        return Ok((shards(address, &found), pattern.folder().to_owned()));
    }
    let folder = || address.key.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
    let single = single(bucket, address).await?;
    if let Some(object) = single.as_ref().filter(|object| object.size > 0) {
        return Ok((vec![shard(address, object)], folder()));
    }
    let prefix = address.prefix();
    let mut found = all(bucket, &prefix, |_| true).await.map_err(to_io_error)?;
    found.retain(|object| {
        let key = object.location.as_ref();
        let reason = key.get(prefix.len()..).and_then(non_data_files::by_key);
        reason.into_iter().for_each(|reason| left_out.add(reason, || address.with_key(key)));
        reason.is_none()
    });
    if let (Some(object), true) = (&single, found.is_empty()) {
        return Ok((vec![shard(address, object)], folder()));
    }
    Ok((shards(address, &found), prefix))
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

/// Lists all objects with content whose keys begin with `prefix` and for which `wanted` is true.
async fn all(
    bucket: &dyn Bucket,
    prefix: &str,
    wanted: impl Fn(&str) -> bool,
) -> Result<Vec<ObjectMeta>, Error> {
    let prefix = Some(prefix).filter(|prefix| !prefix.is_empty());
    let mut found = Vec::new();
    let mut page_token = None;
    loop {
        let options = PaginatedListOptions { page_token, ..PaginatedListOptions::default() };
        let page = bucket.list_paginated(prefix, options).await?;
        let objects = page.result.objects.into_iter();
        found.extend(objects.filter(|object| object.size > 0 && wanted(object.location.as_ref())));
        page_token = page.page_token;
        if page_token.is_none() {
            // Not every store lists in this order.
            found.sort_by(|a, b| a.location.cmp(&b.location));
            return Ok(found);
        }
    }
}

fn shards(address: &Address, objects: &[ObjectMeta]) -> Vec<Shard> {
    objects.iter().map(|object| shard(address, object)).collect()
}

fn shard(address: &Address, object: &ObjectMeta) -> Shard {
    let origin = Origin::Object(address.with_key(object.location.as_ref()));
    let tag = object.e_tag.as_ref().map(|tag| xxh3_64(tag.as_bytes()));
    Shard { bytes: Some(object.size), digest: tag, ..Shard::new(origin) }
}
