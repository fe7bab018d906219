//! Where the pairs of a comparison come from: a job of this machine, or lists that others made.

use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use lookalike::corpus::Compression;
use lookalike::corpus::write::Sink;
use lookalike::engine::compared::{BothCounts, Marked, Match, Named, Side};
use lookalike::engine::{EngineError, JobRecipe, OpenJob};
use lookalike::text::hash;
use lookalike::walk::Watch;
use lookalike_overlap::address::{self, Matching};

use crate::error::TransferError;

/// Takes pairs.
pub type EachMatch<'e> = &'e mut dyn FnMut(&Match<'_>) -> Result<(), TransferError>;

/// Two corpora that were compared.
pub trait Compared {
    /// What was asked for.
    fn recipe(&self) -> &JobRecipe;

    /// Hands over every left document, in their order.
    fn lefts(&self, watch: &Watch, each: &mut dyn FnMut(Named<'_>)) -> Result<(), TransferError>;

    /// Hands over every pair, in the order of left and right documents.
    fn matches(&self, watch: &Watch, each: EachMatch<'_>) -> Result<(), TransferError>;

    /// The left documents whose address the right side has.
    fn same_address(&self, watch: &Watch, matching: Matching) -> Result<Marked, TransferError>;

    /// Documents of both sides.
    fn both_counts(&self, watch: &Watch) -> Result<BothCounts, TransferError>;

    /// The names and texts of a few right and left documents.
    fn names_and_texts(&self, watch: &Watch, wanted: &[(Side, u32)]) -> Result<NamesAndTexts, TransferError>;

    /// The folder of the results.
    fn folder(&self) -> &Path;

    /// Writes a file of the results, whole or not at all.
    fn write(&self, name: &str, bytes: &[u8]) -> Result<(), TransferError>;
}

/// Names and texts by side and number.
pub type NamesAndTexts = (HashMap<(Side, u32), String>, HashMap<(Side, u32), String>);

/// What an address is compared by; nothing of what has no host.
pub fn address_key(matching: Matching, url: &str) -> Option<u128> {
    address::host(url).map(|_| hash::digest(matching.key(url).as_bytes()))
}

impl Compared for OpenJob {
    fn recipe(&self) -> &JobRecipe {
        self.recipe()
    }

    fn lefts(&self, watch: &Watch, each: &mut dyn FnMut(Named<'_>)) -> Result<(), TransferError> {
        let left = |side: Side, document: Named<'_>| -> Result<(), EngineError> {
            if side == Side::Left {
                each(document);
            }
            Ok(())
        };
        Ok(self.documents(watch, left)?)
    }

    fn matches(&self, watch: &Watch, each: EachMatch<'_>) -> Result<(), TransferError> {
        self.matches(watch, each)
    }

    fn same_address(&self, watch: &Watch, matching: Matching) -> Result<Marked, TransferError> {
        Ok(self.same_address(watch, |url| address_key(matching, url))?)
    }

    fn both_counts(&self, watch: &Watch) -> Result<BothCounts, TransferError> {
        Ok(self.both_counts(watch)?)
    }

    fn names_and_texts(&self, watch: &Watch, wanted: &[(Side, u32)]) -> Result<NamesAndTexts, TransferError> {
        Ok((self.ids(watch, wanted)?, self.texts(watch, wanted)?))
    }

    fn folder(&self) -> &Path {
        self.folder()
    }

    fn write(&self, name: &str, bytes: &[u8]) -> Result<(), TransferError> {
        Ok(self.write(name, bytes)?)
    }
}

/// A left document of a list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ListedDocument {
    /// Its number.
    pub n: u32,
    /// Its id.
    pub id: Box<str>,
    /// Its address.
    pub url: Option<Box<str>>,
    /// The right side has this address, too.
    pub shared: bool,
}

/// A pair of a list.
#[derive(Debug, Clone, PartialEq)]
pub struct ListedPair {
    /// The number of the left document.
    pub left: u32,
    /// The number of the right document.
    pub right: u32,
    /// The id of the right document.
    pub id: Box<str>,
    /// Its address.
    pub url: Option<Box<str>>,
    /// How similar they are.
    pub similarity: f64,
    /// They are near-duplicates.
    pub near: bool,
    /// The methods that accept the pair, a bit for each.
    pub methods: u8,
}

/// What others found, in lists: left documents in their order, and pairs in the order of both documents.
#[derive(Debug)]
pub struct Lists {
    /// What was asked for.
    pub recipe: JobRecipe,
    /// The left documents.
    pub lefts: Vec<ListedDocument>,
    /// All pairs.
    pub pairs: Vec<ListedPair>,
    /// Documents of both sides.
    pub both: BothCounts,
    /// The folder of the results, which is there.
    pub folder: PathBuf,
}

impl Lists {
    fn left(&self, n: u32) -> Result<&ListedDocument, TransferError> {
        let place = self.lefts.binary_search_by_key(&n, |left| left.n);
        let missing =
            || TransferError::Request(format!("a pair has the left document {n}, which is not there"));
        place.map(|place| &self.lefts[place]).map_err(|_| missing())
    }
}

fn named<'l>(n: u32, id: &'l str, url: &'l Option<Box<str>>) -> Named<'l> {
    Named { n, place: n, id, url: url.as_deref() }
}

impl Compared for Lists {
    fn recipe(&self) -> &JobRecipe {
        &self.recipe
    }

    fn lefts(&self, _: &Watch, each: &mut dyn FnMut(Named<'_>)) -> Result<(), TransferError> {
        self.lefts.iter().for_each(|left| each(named(left.n, &left.id, &left.url)));
        Ok(())
    }

    fn matches(&self, _: &Watch, each: EachMatch<'_>) -> Result<(), TransferError> {
        for pair in &self.pairs {
            let left = self.left(pair.left)?;
            each(&Match {
                left: named(left.n, &left.id, &left.url),
                right: named(pair.right, &pair.id, &pair.url),
                similarity: pair.similarity,
                reverse: None,
                near: pair.near,
                methods: pair.methods,
            })?;
        }
        Ok(())
    }

    fn same_address(&self, _: &Watch, _: Matching) -> Result<Marked, TransferError> {
        let left = self.lefts.last().map_or(0, |left| left.n + 1);
        Ok(Marked::of(left, self.lefts.iter().filter(|left| left.shared).map(|left| left.n)))
    }

    fn both_counts(&self, _: &Watch) -> Result<BothCounts, TransferError> {
        Ok(self.both.clone())
    }

    /// Lists have no texts.
    fn names_and_texts(&self, _: &Watch, _: &[(Side, u32)]) -> Result<NamesAndTexts, TransferError> {
        Ok(NamesAndTexts::default())
    }

    fn folder(&self) -> &Path {
        &self.folder
    }

    fn write(&self, name: &str, bytes: &[u8]) -> Result<(), TransferError> {
        let path = self.folder.join(name);
        let mut sink = Sink::create(&path, Compression::None)?;
        sink.write_all(bytes).map_err(|error| TransferError::write(&path, error))?;
        Ok(sink.finish()?)
    }
}
