//! Engines over known parts of a corpus, and the own corpus that they are measured with.

use std::error::Error;
use std::io::{BufRead, BufReader};
use std::path::Path;

use lookalike_census::Random;
use lookalike_live_census::OwnCorpus;
use lookalike_search_engines::sqlite::{SqliteBuilder, SqliteEngine};
use lookalike_search_engines::tantivy::{TantivyBuilder, TantivyEngine};
use lookalike_search_engines::{BuildOptions, IndexBuilder, Options, SearchEngine, open};

use crate::cached_engine::CachedEngine;

/// The part of a page that engines index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Indexed {
    /// All of it.
    Whole,
    /// Its first bytes.
    First(usize),
    /// The text of links to it, simulated by its first words, and some of other pages.
    Anchors,
}

/// The engines by name, in the order of their parts.
pub(crate) const ENGINES: [&str; 3] = ["tantivy", "sqlite", "http"];

/// Pages: address and text.
type Pages = Vec<(String, String)>;

/// A corpus, divided.
pub(crate) struct World {
    pub(crate) own: OwnCorpus,
    /// The pages of each engine.
    pub(crate) parts: [Pages; 3],
}

/// The pages of a file of JSON lines with `id` and `text`.
fn pages(path: &str) -> Result<Pages, Box<dyn Error>> {
    let mut pages = Vec::new();
    for (number, line) in BufReader::new(std::fs::File::open(path)?).lines().enumerate() {
        let value: serde_json::Value = serde_json::from_str(&line?)?;
        let field = |name: &str| value[name].as_str().ok_or(format!("line {} has no {name}", number + 1));
        // The number keeps addresses apart where a corpus has an id twice.
        pages.push((format!("http://{number}.invalid/{}", field("id")?), field("text")?.to_owned()));
    }
    Ok(pages)
}

impl World {
    /// A sixth of the corpus is the own one, unless another file is that. Of the others, each engine has some: the first 62 %, the second
    /// about 34 %, long pages preferred, the third 45 %.
    pub(crate) fn read(path: &str, own_path: Option<&str>) -> Result<Self, Box<dyn Error>> {
        let mut random = Random::new(11);
        let mut world = World { own: OwnCorpus::new(), parts: [Vec::new(), Vec::new(), Vec::new()] };
        for (url, text) in pages(path)? {
            if random.chance(1.0 / 6.0) {
                if own_path.is_none() {
                    world.own.add(&text);
                }
                continue;
            }
            let long = (text.len() as f64 / 4_000.0).min(1.0);
            for (part, share) in [0.62, 0.15 + 0.6 * long, 0.45].into_iter().enumerate() {
                if random.chance(share) {
                    world.parts[part].push((url.clone(), text.clone()));
                }
            }
        }
        if let Some(path) = own_path {
            pages(path)?.iter().for_each(|(_, text)| world.own.add(text));
        }
        Ok(world)
    }

    /// Pages of an engine.
    pub(crate) fn size(&self, engine: usize) -> f64 {
        self.parts[engine].len() as f64
    }

    /// Opens an engine, building it first if it is one of ours; the one over HTTP runs already, and LOOKALIKE_OMEGA is the path of
    /// its description.
    pub(crate) fn engine(
        &self,
        engine: usize,
        indexed: Indexed,
        folder: &Path,
        cap: usize,
    ) -> Result<CachedEngine, Box<dyn Error>> {
        let (name, path) = (ENGINES[engine], folder.join(ENGINES[engine]));
        let opened: Box<dyn SearchEngine> = match name {
            "tantivy" => {
                self.build(TantivyBuilder::create(&path, &BuildOptions::default())?, engine, indexed)?;
                Box::new(TantivyEngine::open(name, &path, cap)?)
            }
            "sqlite" => {
                self.build(SqliteBuilder::create(&path, &BuildOptions::default())?, engine, indexed)?;
                Box::new(SqliteEngine::open(name, &path, cap)?)
            }
            _ => {
                let description =
                    std::env::var("LOOKALIKE_OMEGA").map_err(|_| "start it by scripts/omega")?;
                open(&format!("http=http:{description}"), &Options { cap: Some(cap), ..Options::default() })?
            }
        };
        Ok(CachedEngine::new(opened))
    }

    fn build(
        &self,
        mut builder: Box<dyn IndexBuilder>,
        engine: usize,
        indexed: Indexed,
    ) -> Result<(), Box<dyn Error>> {
        let pages = &self.parts[engine];
        let mut random = Random::new(5);
        for (url, text) in pages {
            let found_by = match indexed {
                Indexed::Whole => text.clone(),
                Indexed::First(bytes) => text[..text.floor_char_boundary(bytes)].to_owned(),
                Indexed::Anchors => anchors(text, pages, &mut random),
            };
            builder.add(url, &found_by, text)?;
        }
        builder.finish()?;
        Ok(())
    }
}

/// The first twelve words of a page, and four of each of three others.
fn anchors(text: &str, pages: &Pages, random: &mut Random) -> String {
    let mut words: Vec<&str> = text.split_whitespace().take(12).collect();
    for _ in 0..3 {
        let other = &pages[random.below(pages.len())].1;
        words.extend(other.split_whitespace().skip(20).take(4));
    }
    words.join(" ")
}
