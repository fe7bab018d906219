//! The description of an engine over HTTP: a small file in TOML. All keys, with their meaning, are in `docs/census.md`.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use serde::Deserialize;
use ureq::http::Uri;

use crate::engine::{EngineError, Join, Query};
use crate::http::hosts::Hosts;
use crate::http::json_path::JsonPath;
use crate::http::template::{Template, encoded};

/// The file as written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawDescription {
    name: Option<String>,
    search: String,
    all: Option<String>,
    any: Option<String>,
    #[serde(default = "plain_word")]
    all_word: String,
    #[serde(default = "plain_word")]
    any_word: String,
    #[serde(default = "yes")]
    lowercase: bool,
    urls: String,
    claimed: Option<String>,
    more: Option<String>,
    cap: usize,
    #[serde(default = "the_url")]
    fetch: String,
    #[serde(default)]
    fetch_hosts: Vec<String>,
    text: Option<String>,
    has: Option<String>,
    has_value: Option<String>,
    #[serde(default = "one_second")]
    delay: f64,
    #[serde(default = "half_a_minute")]
    timeout: f64,
    #[serde(default = "user_agent")]
    user_agent: String,
    #[serde(default = "ten_mebibytes")]
    max_bytes: u64,
    #[serde(default)]
    secret_headers: BTreeMap<String, String>,
}

fn plain_word() -> String {
    "{word}".to_owned()
}

fn yes() -> bool {
    true
}

fn the_url() -> String {
    "{url}".to_owned()
}

fn one_second() -> f64 {
    1.0
}

fn half_a_minute() -> f64 {
    30.0
}

fn user_agent() -> String {
    concat!("lookalike/", env!("CARGO_PKG_VERSION")).to_owned()
}

fn ten_mebibytes() -> u64 {
    10 << 20
}

/// The form in which words are joined to a query.
#[derive(Debug)]
struct Joining {
    between: String,
    word: Template,
}

/// A description that was read and checked.
#[derive(Debug)]
pub(crate) struct Description {
    pub(crate) name: String,
    pub(crate) search: Template,
    all: Option<Joining>,
    any: Option<Joining>,
    lowercase: bool,
    pub(crate) urls: JsonPath,
    pub(crate) claimed: Option<JsonPath>,
    pub(crate) more: Option<JsonPath>,
    pub(crate) cap: usize,
    pub(crate) fetch: Template,
    pub(crate) text: Option<JsonPath>,
    pub(crate) has: Option<Template>,
    pub(crate) has_value: Option<JsonPath>,
    pub(crate) delay: Duration,
    pub(crate) timeout: Duration,
    pub(crate) user_agent: String,
    pub(crate) max_bytes: u64,
    pub(crate) secret_headers: BTreeMap<String, String>,
    /// The hosts that requests may go to.
    pub(crate) hosts: Hosts,
    /// The host that secrets go to.
    pub(crate) secret_host: String,
    /// The only scheme that secrets go over, since another one may be readable by others.
    pub(crate) secret_scheme: String,
}

impl Description {
    /// Reads a file; `name` takes precedence over the one in it.
    pub(crate) fn read(name: Option<&str>, path: &Path) -> Result<Self, EngineError> {
        let broken = |why: String| EngineError::broken(path.display().to_string(), why);
        let text =
            std::fs::read_to_string(path).map_err(|error| broken(format!("cannot be read: {error}")))?;
        let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let mut described = Description::parse(&text).map_err(broken)?;
        if let Some(name) = name.map(str::to_owned).or_else(|| stem.filter(|_| described.name.is_empty())) {
            described.name = name;
        }
        Ok(described)
    }

    fn parse(text: &str) -> Result<Self, String> {
        let raw: RawDescription =
            toml::from_str(text).map_err(|error| error.to_string().trim().to_owned())?;
        let search = template("search", &raw.search, &["query", "limit"], true)?;
        if !search.has("query") {
            return Err("search has no {query}; say where the words go".to_owned());
        }
        let fetch = template("fetch", &raw.fetch, &["url"], raw.fetch != "{url}")?;
        let has = raw.has.as_deref().map(|has| template("has", has, &["url"], true)).transpose()?;
        if has.is_none() && raw.has_value.is_some() {
            return Err("has_value stands without has; name the address to ask".to_owned());
        }
        if raw.cap == 0 {
            return Err("cap is 0; say how many results it shows at most".to_owned());
        }
        let secret_host = authority("search", &raw.search)?;
        let hosts = hosts(&raw, &secret_host)?;
        Ok(Description {
            name: raw.name.unwrap_or_default(),
            search,
            all: joining("all_word", raw.all, &raw.all_word)?,
            any: joining("any_word", raw.any, &raw.any_word)?,
            lowercase: raw.lowercase,
            urls: json_path("urls", &raw.urls)?,
            claimed: raw.claimed.map(|path| json_path("claimed", &path)).transpose()?,
            more: raw.more.map(|path| json_path("more", &path)).transpose()?,
            cap: raw.cap,
            fetch,
            text: raw.text.map(|path| json_path("text", &path)).transpose()?,
            has,
            has_value: raw.has_value.map(|path| json_path("has_value", &path)).transpose()?,
            delay: seconds("delay", raw.delay)?,
            timeout: seconds("timeout", raw.timeout)?,
            user_agent: raw.user_agent,
            max_bytes: raw.max_bytes,
            secret_headers: raw.secret_headers,
            hosts,
            secret_host,
            secret_scheme: raw.search.split("://").next().unwrap_or_default().to_ascii_lowercase(),
        })
    }

    /// The words of a query in the engine's own language; nothing for one that no page can match.
    ///
    /// A character that is no letter, digit or mark of a letter becomes a blank, so that no word is more than a word to the
    /// engine.
    pub(crate) fn query(&self, query: &Query) -> Result<Option<String>, String> {
        let joining = match query.join {
            // One word needs nothing between words.
            Join::Any if query.words.len() == 1 => self.any.as_ref().or(self.all.as_ref()),
            Join::Any => self.any.as_ref(),
            Join::All if query.words.len() == 1 => self.all.as_ref().or(self.any.as_ref()),
            Join::All => self.all.as_ref(),
        };
        let Some(joining) = joining else {
            let key = if query.join == Join::Any { "any" } else { "all" };
            return Err(format!("its description has no {key}; say what stands between words"));
        };
        let words: Vec<String> = query.words.iter().filter_map(|word| self.word(word)).collect();
        if words.is_empty() || query.join == Join::All && words.len() < query.words.len() {
            return Ok(None);
        }
        let written: Vec<String> = words.iter().map(|word| joining.word.fill(&[("word", word)])).collect();
        Ok(Some(written.join(&joining.between)))
    }

    fn word(&self, word: &str) -> Option<String> {
        let word = if self.lowercase { word.to_lowercase() } else { word.to_owned() };
        let pieces: Vec<&str> =
            word.split(|c: char| !is_part_of_word(c)).filter(|piece| !piece.is_empty()).collect();
        (!pieces.is_empty()).then(|| pieces.join(" "))
    }

    /// The address of a search.
    pub(crate) fn search_address(&self, query: &str, limit: usize) -> String {
        self.search.fill(&[("query", &encoded(query)), ("limit", &limit.to_string())])
    }

    /// Returns the fingerprint that tells this engine from others.
    pub(crate) fn fingerprint(&self) -> String {
        // A digest of `Debug` texts, which transcripts keep: the names of these types and fields must stay as they are.
        let asked = (&self.search, &self.all, &self.any, self.lowercase, &self.fetch, &self.has);
        let read = (&self.urls, &self.claimed, &self.more, &self.text, &self.has_value);
        let parts = format!("{:?}", (asked, read));
        format!("{:032x}", lookalike_hash::digest(parts.as_bytes()))
    }
}

/// Letters, digits, and the accents that stand behind letters.
fn is_part_of_word(c: char) -> bool {
    c.is_alphanumeric() || ('\u{300}'..='\u{36f}').contains(&c)
}

fn template(key: &str, text: &str, names: &[&str], is_address: bool) -> Result<Template, String> {
    let template = Template::parse(text, names).map_err(|why| format!("{key} = {text:?}: {why}"))?;
    if is_address {
        authority(key, text)?;
    }
    Ok(template)
}

fn json_path(key: &str, path: &str) -> Result<JsonPath, String> {
    JsonPath::parse(path).map_err(|why| format!("{key} = {path:?} is no path: {why}"))
}

fn joining(key: &str, between: Option<String>, word: &str) -> Result<Option<Joining>, String> {
    let word = template(key, word, &["word"], false)?;
    if !word.has("word") {
        return Err(format!("{key} has no {{word}}; say where the word goes"));
    }
    Ok(between.map(|between| Joining { between, word }))
}

fn seconds(key: &str, value: f64) -> Result<Duration, String> {
    Duration::try_from_secs_f64(value).map_err(|_| format!("{key} = {value} is no number of seconds"))
}

/// Host and port of a template's address, which must not depend on what is filled in.
fn authority(key: &str, text: &str) -> Result<String, String> {
    let before = text.split('{').next().unwrap_or(text);
    let behind = before.split_once("://").map_or("", |(_, rest)| rest);
    if !behind.contains(['/', '?']) && before.len() < text.len() {
        return Err(format!("{key} = {text:?} does not begin with a fixed host; name it"));
    }
    let address = before.split(['?', '#']).next().unwrap_or(before);
    let uri: Uri = address.parse().map_err(|error| format!("{key} = {text:?} is no address: {error}"))?;
    match uri.scheme_str() {
        Some("http") => {}
        Some("https") if cfg!(feature = "https") => {}
        Some("https") => {
            return Err(format!(
                "{key} = {text:?}: this program was built without TLS; build it with --features full"
            ));
        }
        _ => return Err(format!("{key} = {text:?} does not begin with http:// or https://")),
    }
    crate::http::hosts::authority(&uri).ok_or_else(|| format!("{key} = {text:?} has no host"))
}

/// Returns all hosts named in the file, and no others.
fn hosts(raw: &RawDescription, secret_host: &str) -> Result<Hosts, String> {
    let mut named = vec![secret_host.to_owned()];
    for (key, text) in [("fetch", Some(&raw.fetch)), ("has", raw.has.as_ref())] {
        if let Some(text) = text.filter(|text| *text != "{url}") {
            named.push(authority(key, text)?);
        }
    }
    if raw.fetch == "{url}" && raw.fetch_hosts.is_empty() {
        return Err("fetch_hosts is empty; name the hosts that pages may be fetched from".to_owned());
    }
    named.extend(raw.fetch_hosts.iter().cloned());
    Hosts::new(named).map_err(|why| format!("fetch_hosts: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEAST: &str = r#"
        search = "http://127.0.0.1:8000/s?q={query}&n={limit}"
        all = " AND "
        all_word = "\"{word}\""
        any = " "
        urls = "r[*].u"
        cap = 10
        fetch_hosts = ["pages.example.org"]
    "#;

    /// The example for users can be read, and the defaults that it states are the real ones.
    #[test]
    fn the_example_is_sound() {
        let page = include_str!("../../../../docs/census.md");
        let lines = page.lines().skip_while(|line| *line != "```toml").skip(1);
        let example: Vec<&str> = lines.take_while(|line| *line != "```").collect();
        // TLS is another feature.
        let example = Description::parse(&example.join("\n").replace("https://", "http://")).unwrap();
        let least = Description::parse(LEAST).unwrap();
        assert_eq!((example.delay, example.timeout), (least.delay, least.timeout));
        assert_eq!((example.lowercase, example.max_bytes), (least.lowercase, least.max_bytes));
        assert_eq!(example.secret_headers["X-Api-Key"], "EXAMPLE_API_KEY");
    }

    #[test]
    fn words_are_words_and_nothing_else() {
        let engine = Description::parse(LEAST).unwrap();
        let asked = |query: Query| engine.query(&query).unwrap();
        assert_eq!(asked(Query::all(["Web", "OR"])), Some("\"web\" AND \"or\"".to_owned()));
        assert_eq!(asked(Query::all(["a\" OR \"b", "c*"])), Some("\"a or b\" AND \"c\"".to_owned()));
        assert_eq!(asked(Query::all(["a", "***"])), None);
        assert_eq!(asked(Query::any(["a", "***", "ü"])), Some("a ü".to_owned()));
        assert_eq!(asked(Query::any([""; 0])), None);
        let address = engine.search_address("\"a&b\" ü", 7);
        assert_eq!(address, "http://127.0.0.1:8000/s?q=%22a%26b%22%20%C3%BC&n=7");
    }

    #[test]
    fn an_engine_without_any_says_so() {
        let engine = Description::parse(&LEAST.replace("any = ", "#")).unwrap();
        assert!(engine.query(&Query::any(["a", "b"])).unwrap_err().contains("no any"));
        assert_eq!(engine.query(&Query::any(["a"])).unwrap(), Some("\"a\"".to_owned()));
    }

    #[test]
    fn mistakes_are_said_with_their_key() {
        let with = |from: &str, to: &str| Description::parse(&LEAST.replace(from, to)).unwrap_err();
        for (from, to, why) in [
            ("cap = 10", "cap = 10\nclaimd = \"t\"", "claimd"),
            ("cap = 10", "", "cap"),
            ("cap = 10", "cap = 0", "cap is 0"),
            ("cap = 10", "cap = 10\ndelay = -1.0", "delay"),
            ("cap = 10", "cap = 10\nfetch = \"http://{url}/x\"", "fixed host"),
            ("cap = 10", "cap = 10\nfetch = \"ftp://h/{url}\"", "does not begin with http"),
            ("cap = 10", "cap = 10\nhas_value = \"x\"", "without has"),
            ("{query}", "{words}", "{words}"),
            ("q={query}&", "", "no {query}"),
            ("{word}", "word", "no {word}"),
            ("r[*].u", "r[*", "urls"),
            ("\"pages.example.org\"", "", "fetch_hosts is empty"),
            ("\"pages.example.org\"", "\"*\"", "fetch_hosts"),
        ] {
            let error = with(from, to);
            assert!(error.contains(why), "{error}");
        }
    }
}
