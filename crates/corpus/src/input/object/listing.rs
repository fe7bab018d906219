//! An address becomes shards.
//!
//! Objects without content are passed over below prefixes and among matches of patterns: stores keep folders
//! as such objects, under names that a listing does not tell from those of empty files.

use std::io;

use object_store::list::PaginatedListOptions;
use object_store::{Error, GetOptions, ObjectMeta, ObjectStore};

use super::address::{Address, KeyPattern, is_hidden};
use super::{Bucket, plain};
use crate::{Origin, Shard};

/// The shards that `address` names, in the order of their keys' bytes; none when nothing is there.
pub(super) async fn find(bucket: &dyn Bucket, address: &Address<'_>) -> io::Result<Vec<Shard>> {
    if address.is_pattern() {
        let Some(pattern) = KeyPattern::new(address.key) else { return Ok(Vec::new()) };
        let found = all(bucket, pattern.fixed, |key| pattern.takes(key)).await.map_err(plain)?;
        return Ok(shards(address, found, pattern.folder().len()));
    }
    let single = single(bucket, address).await?;
    if let Some(object) = single.as_ref().filter(|object| object.size > 0) {
        return Ok(vec![named_by_file(address, object)]);
    }
    let prefix = address.prefix();
    let visible = |key: &str| key.get(prefix.len()..).is_some_and(|name| !is_hidden(name));
    let found = all(bucket, &prefix, visible).await.map_err(plain)?;
    if let (Some(object), true) = (&single, found.is_empty()) {
        return Ok(vec![named_by_file(address, object)]);
    }
    Ok(shards(address, found, prefix.len()))
}

/// The object of exactly this key, if there is one.
async fn single(bucket: &dyn Bucket, address: &Address<'_>) -> io::Result<Option<ObjectMeta>> {
    if address.key.is_empty() || address.key.ends_with('/') {
        return Ok(None);
    }
    match describe(bucket, &address.path()?).await {
        Ok(object) => Ok(Some(object)),
        Err(Error::NotFound { .. }) => Ok(None),
        Err(error) => Err(plain(error)),
    }
}

/// What the store says about an object without sending it.
pub(super) async fn describe(
    store: &(impl ObjectStore + ?Sized),
    path: &object_store::path::Path,
) -> Result<ObjectMeta, Error> {
    let options = GetOptions { head: true, ..GetOptions::default() };
    Ok(store.get_opts(path, options).await?.meta)
}

/// All objects with content whose keys begin with `prefix` and please `wanted`.
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

/// Shards that are named by their keys from byte `from` on.
fn shards(address: &Address, objects: Vec<ObjectMeta>, from: usize) -> Vec<Shard> {
    let name = |object: &ObjectMeta| object.location.as_ref().get(from..).unwrap_or_default().to_owned();
    objects.iter().map(|object| shard(address, object, name(object))).collect()
}

fn named_by_file(address: &Address, object: &ObjectMeta) -> Shard {
    shard(address, object, object.location.filename().unwrap_or_default().to_owned())
}

fn shard(address: &Address, object: &ObjectMeta, name: String) -> Shard {
    let origin = Origin::Object(address.with_key(object.location.as_ref()));
    Shard { name, origin, bytes: Some(object.size), format: None }
}
