//! Engines from specifications on a command line.
//!
//! `[NAME=]KIND:PATH`, where the kind is `tantivy` (a folder), `sqlite` (a file), `http` (a description in TOML) or `transcript` (a
//! record). The kind of a path alone is detected. Without a name, an engine is called like its file.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::engine::{EngineError, SearchEngine};
use crate::replay::Replay;

/// Most results that an engine in the process shows by default.
pub const DEFAULT_CAP: usize = 1_000;

/// Options of an engine that are not in its specification.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Most results shown for one query. For an engine over HTTP it can only lower the cap of its description.
    pub cap: Option<usize>,
    /// Returns the value of a secret by its name; the command line reads it from the environment. Secrets are sent to the engine
    /// and are in no transcript.
    pub secret: fn(&str) -> Option<String>,
}

impl Default for Options {
    fn default() -> Self {
        Options { cap: None, secret: |_| None }
    }
}

/// A kind of engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A folder of tantivy.
    Tantivy,
    /// A file of SQLite.
    Sqlite,
    /// A description of an engine over HTTP.
    Http,
    /// A record.
    Transcript,
}

const KINDS: [(&str, Kind); 4] = [
    ("tantivy", Kind::Tantivy),
    ("sqlite", Kind::Sqlite),
    ("http", Kind::Http),
    ("transcript", Kind::Transcript),
];

/// The specification of an engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spec {
    /// Its name, if one was given.
    pub name: Option<String>,
    /// Its kind.
    pub kind: Kind,
    /// Its file or folder.
    pub path: PathBuf,
}

impl Spec {
    /// Reads a specification.
    pub fn parse(spec: &str) -> Result<Self, EngineError> {
        // A path that is there is meant, whatever stands in it.
        if let Some(kind) = detect_kind(Path::new(spec)) {
            return Ok(Spec { name: None, kind, path: spec.into() });
        }
        let (name, rest) = match spec.split_once('=') {
            Some((name, rest)) if !name.contains([':', '/', '\\']) => (Some(name.to_owned()), rest),
            _ => (None, spec),
        };
        if name.as_deref() == Some("") {
            return Err(EngineError::broken(spec, "no name stands before =; write NAME=KIND:PATH"));
        }
        let given = rest.split_once(':').and_then(|(kind, path)| Some((kind_by_name(kind)?, path)));
        let (kind, path) = match given {
            Some((kind, path)) => (kind, Path::new(path)),
            None => (
                detect_kind(Path::new(rest)).ok_or_else(|| unknown_kind(spec, Path::new(rest)))?,
                Path::new(rest),
            ),
        };
        Ok(Spec { name, kind, path: path.to_owned() })
    }

    /// Returns the path of the transcript, if the engine is one.
    pub fn transcript(&self) -> Option<&Path> {
        (self.kind == Kind::Transcript).then_some(&self.path)
    }

    /// Opens the engine.
    pub fn open(&self, options: &Options) -> Result<Box<dyn SearchEngine>, EngineError> {
        match self.kind {
            Kind::Tantivy => self.tantivy(options),
            Kind::Sqlite => self.sqlite(options),
            Kind::Http => self.http(options),
            Kind::Transcript => Ok(Box::new(Replay::open(self.name.as_deref(), &self.path)?)),
        }
    }

    /// Returns the name of an engine in the process.
    #[cfg(any(feature = "tantivy", feature = "sqlite"))]
    fn display_name(&self) -> String {
        let stem = || self.path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        self.name.clone().or_else(stem).unwrap_or_else(|| self.path.display().to_string())
    }

    #[cfg(feature = "tantivy")]
    fn tantivy(&self, options: &Options) -> Result<Box<dyn SearchEngine>, EngineError> {
        let cap = options.cap.unwrap_or(DEFAULT_CAP);
        Ok(Box::new(crate::tantivy::TantivyEngine::open(&self.display_name(), &self.path, cap)?))
    }

    #[cfg(not(feature = "tantivy"))]
    fn tantivy(&self, _: &Options) -> Result<Box<dyn SearchEngine>, EngineError> {
        Err(not_built(&self.path, "tantivy"))
    }

    #[cfg(feature = "sqlite")]
    fn sqlite(&self, options: &Options) -> Result<Box<dyn SearchEngine>, EngineError> {
        let cap = options.cap.unwrap_or(DEFAULT_CAP);
        Ok(Box::new(crate::sqlite::SqliteEngine::open(&self.display_name(), &self.path, cap)?))
    }

    #[cfg(not(feature = "sqlite"))]
    fn sqlite(&self, _: &Options) -> Result<Box<dyn SearchEngine>, EngineError> {
        Err(not_built(&self.path, "sqlite"))
    }

    #[cfg(feature = "http")]
    fn http(&self, options: &Options) -> Result<Box<dyn SearchEngine>, EngineError> {
        Ok(Box::new(crate::http::HttpEngine::open(self.name.as_deref(), &self.path, options)?))
    }

    #[cfg(not(feature = "http"))]
    fn http(&self, _: &Options) -> Result<Box<dyn SearchEngine>, EngineError> {
        Err(not_built(&self.path, "http"))
    }
}

/// The error of an engine at `path` for which the program lacks a part.
pub fn not_built(path: &Path, feature: &str) -> EngineError {
    let why = format!("this program was built without the feature {feature}; build it with --features full");
    EngineError::broken(path.display().to_string(), why)
}

/// Opens an engine by its specification.
pub fn open(spec: &str, options: &Options) -> Result<Box<dyn SearchEngine>, EngineError> {
    Spec::parse(spec)?.open(options)
}

fn kind_by_name(kind: &str) -> Option<Kind> {
    KINDS.iter().find(|(name, _)| *name == kind).map(|&(_, kind)| kind)
}

fn unknown_kind(spec: &str, path: &Path) -> EngineError {
    let kinds = KINDS.map(|(name, _)| name).join(", ");
    let what =
        if path.exists() { "it cannot be seen what sort of engine it is" } else { "there is no such file" };
    EngineError::broken(spec, format!("{what}; write [NAME=]KIND:PATH with a kind of {kinds}"))
}

/// Detects the kind of engine at a path, if any.
fn detect_kind(path: &Path) -> Option<Kind> {
    if path.join("meta.json").is_file() {
        return Some(Kind::Tantivy);
    }
    let mut magic = [0; 16];
    let mut file = File::open(path).ok().filter(|_| path.is_file())?;
    if file.read_exact(&mut magic).is_ok() && magic == *b"SQLite format 3\0" {
        return Some(Kind::Sqlite);
    }
    match path.extension()?.to_str()? {
        "toml" => Some(Kind::Http),
        "jsonl" => Some(Kind::Transcript),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(spec: &str) -> (Option<String>, Kind, PathBuf) {
        let spec = Spec::parse(spec).unwrap();
        (spec.name, spec.kind, spec.path)
    }

    #[test]
    fn a_kind_may_be_said() {
        assert_eq!(parsed("tantivy:a/b"), (None, Kind::Tantivy, "a/b".into()));
        assert_eq!(parsed("ours=sqlite:c:d=e"), (Some("ours".to_owned()), Kind::Sqlite, "c:d=e".into()));
        assert_eq!(parsed("http:x"), (None, Kind::Http, "x".into()));
        assert_eq!(parsed("t=transcript:x"), (Some("t".to_owned()), Kind::Transcript, "x".into()));
    }

    #[test]
    fn a_kind_may_be_seen() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, bytes: &[u8]| {
            let path = folder.path().join(name);
            std::fs::write(&path, bytes).unwrap();
            path
        };
        let files = [
            (write("a=b.db", b"SQLite format 3\0 and more"), Kind::Sqlite),
            (write("e.toml", b""), Kind::Http),
            (write("t.jsonl", b""), Kind::Transcript),
        ];
        for (path, kind) in files {
            let path = path.to_str().unwrap();
            assert_eq!(parsed(path), (None, kind, path.into()));
            assert_eq!(parsed(&format!("n={path}")), (Some("n".to_owned()), kind, path.into()));
        }
        write("meta.json", b"{}");
        assert_eq!(parsed(folder.path().to_str().unwrap()).1, Kind::Tantivy);
    }

    #[test]
    fn what_is_meant_must_be_clear() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let path = file.path().to_str().unwrap();
        for (spec, why) in [
            ("nowhere/at/all", "no such file"),
            ("lucene:x", "a kind of tantivy, sqlite, http, transcript"),
            ("=sqlite:x", "no name"),
            (path, "cannot be seen"),
        ] {
            let error = Spec::parse(spec).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
    }

    #[cfg(not(all(feature = "tantivy", feature = "sqlite", feature = "http")))]
    #[test]
    fn a_feature_that_is_left_out_is_named() {
        let features = [
            ("tantivy", cfg!(feature = "tantivy")),
            ("sqlite", cfg!(feature = "sqlite")),
            ("http", cfg!(feature = "http")),
        ];
        for (feature, _) in features.into_iter().filter(|(_, here)| !here) {
            let error = open(&format!("{feature}:x"), &Options::default()).err().unwrap().to_string();
            assert!(error.contains(&format!("built without the feature {feature}")), "{error}");
        }
    }
}
