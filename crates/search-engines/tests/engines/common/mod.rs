//! The parts that tests of engines share: pages, the plainest search there is, the contract that every engine holds, and a server
//! on the loopback interface.

pub(crate) mod server;

use std::collections::BTreeMap;
use std::path::Path;

use lookalike_generate::Plan;
use lookalike_search_engines::building::{BuildOptions, IndexBuilder, build};
use lookalike_search_engines::sqlite::{SqliteBuilder, SqliteEngine};
use lookalike_search_engines::tantivy::{TantivyBuilder, TantivyEngine};
use lookalike_search_engines::{Join, Query, SearchEngine};

/// A page: its address and its text.
pub(crate) type Page = (String, String);

/// Pages of a generated web, in nine languages, some of them HTML.
pub(crate) fn generated(documents: u64) -> Vec<Page> {
    let mut pages = Vec::new();
    let mut documents = Plan { documents, seed: 5 }.documents();
    while let Some(page) = documents.next() {
        pages.push((format!("{}#{}", page.url, page.position), page.content.to_owned()));
    }
    pages
}

/// Returns true if SQLite's tokeniser sees the same words in a text as we do: it cuts at the vowel signs of southern and
/// south-eastern Asia.
pub(crate) fn is_cut_alike(text: &str) -> bool {
    !text.contains(|c: char| ('\u{900}'..='\u{109f}').contains(&c))
}

/// Pages of plain words, with some odd ones among them. The words of a page are drawn by its number.
pub(crate) fn plain(documents: u64) -> Vec<Page> {
    let odd = ["or", "and", "not", "near", "naïve", "größe", "東京", "1998", "x", "na", "ive"];
    let word = |number: u64| match odd.get(number as usize) {
        Some(odd) => (*odd).to_owned(),
        None => format!("word{number}"),
    };
    let page = |number: u64| {
        let words: Vec<String> = (0..20 + number % 30)
            .map(|place| {
                let draw = lookalike_hash::mix(number * 1_000 + place);
                // Few words are frequent and many are rare.
                let unit = (draw >> 11) as f64 / (1u64 << 53) as f64;
                word(2_000_f64.powf(unit) as u64 - 1)
            })
            .collect();
        (format!("http://pages.invalid/{number}"), words.join(" "))
    };
    (0..documents).map(page).collect()
}

/// The words of a text: letters and digits in lower case.
pub(crate) fn words(text: &str) -> Vec<String> {
    let pieces = text.split(|c: char| !c.is_alphanumeric()).filter(|piece| !piece.is_empty());
    pieces.map(|piece| piece.chars().flat_map(char::to_lowercase).collect()).collect()
}

/// The plainest search there is: a scan of all pages.
pub(crate) struct Scan {
    pages: Vec<(String, Vec<String>)>,
}

impl Scan {
    pub(crate) fn new(pages: &[Page]) -> Self {
        Scan { pages: pages.iter().map(|(url, text)| (url.clone(), words(text))).collect() }
    }

    /// Addresses of all pages that match, in the order of the pages.
    pub(crate) fn search(&self, query: &Query) -> Vec<String> {
        let asked: Vec<Vec<String>> = query.words.iter().map(|word| words(word)).collect();
        let matches = |text: &[String]| {
            let has = |pieces: &Vec<String>| {
                !pieces.is_empty() && text.windows(pieces.len()).any(|part| part == pieces)
            };
            match query.join {
                Join::All => !asked.is_empty() && asked.iter().all(has),
                Join::Any => asked.iter().any(has),
            }
        };
        self.pages.iter().filter(|(_, text)| matches(text)).map(|(url, _)| url.clone()).collect()
    }
}

/// Words of the pages, from frequent to rare, `most` of them.
pub(crate) fn vocabulary(pages: &[Page], most: usize) -> Vec<String> {
    let mut frequencies: BTreeMap<String, usize> = BTreeMap::new();
    for (_, text) in pages {
        let mut words = words(text);
        words.sort_unstable();
        words.dedup();
        words.into_iter().for_each(|word| *frequencies.entry(word).or_default() += 1);
    }
    let mut words: Vec<(usize, String)> =
        frequencies.into_iter().map(|(word, pages)| (pages, word)).collect();
    words.sort_unstable_by(|one, other| other.cmp(one));
    let step = (words.len() / most).max(1);
    words.into_iter().step_by(step).take(most).map(|(_, word)| word).collect()
}

/// Words that mean something to some engine, or nothing to any.
pub(crate) const ODD: [&str; 24] = [
    "or",
    "OR",
    "AND",
    "NOT",
    "NEAR",
    "NEAR(x y)",
    "\"",
    "x\"",
    "\"x\" OR \"na\"",
    "na*",
    "*",
    "",
    " ",
    "na-ive",
    "x:na",
    "word^2",
    "+x",
    "-x",
    "(x",
    "'",
    "%",
    "\0",
    "x\0y",
    "naïve",
];

/// Questions of all sorts about these pages.
pub(crate) fn queries(pages: &[Page]) -> Vec<Query> {
    let words = vocabulary(pages, 60);
    let word = |number: usize| words[number % words.len()].clone();
    let mut queries = vec![Query::all([""; 0]), Query::any([""; 0])];
    for number in 0..words.len() {
        queries.push(Query::all([word(number)]));
        queries.push(Query::all([word(number), word(number / 7)]));
        queries.push(Query::all([word(number / 2), word(number / 3), word(number / 5)]));
        queries.push(Query::any([word(number), word(3 * number + 1)]));
    }
    queries.push(Query::all(["nosuchwordanywhere".to_owned(), word(0)]));
    queries.push(Query::any(["nosuchwordanywhere".to_owned(), word(0)]));
    for odd in ODD {
        queries.push(Query::all([odd.to_owned()]));
        queries.push(Query::all([odd.to_owned(), word(0)]));
        queries.push(Query::any([odd.to_owned(), word(9)]));
    }
    queries
}

fn sorted(urls: &[String]) -> Vec<String> {
    let mut urls = urls.to_vec();
    urls.sort_unstable();
    urls
}

/// Checks the contract: the matches are those of a plain scan, limits are kept and reported, the order is steady, pages are as they were.
pub(crate) fn check_contract(engine: &mut dyn SearchEngine, pages: &[Page], queries: &[Query]) {
    let name = engine.name().to_owned();
    assert!(engine.cap() >= pages.len(), "{name}: the contract wants to see all results");
    let scan = Scan::new(pages);
    let mut found = 0;
    for query in queries {
        let wanted = scan.search(query);
        let all =
            engine.search(query, pages.len()).unwrap_or_else(|error| panic!("{name}: {query:?}: {error}"));
        assert_eq!(sorted(&all.urls), sorted(&wanted), "{name}: {query:?}");
        assert_eq!((all.more, all.claimed), (false, Some(wanted.len() as u64)), "{name}: {query:?}");
        found += wanted.len();
        for limit in [1, 3, wanted.len().max(1)] {
            let few = engine.search(query, limit).unwrap();
            assert_eq!(few.urls, all.urls[..limit.min(wanted.len())], "{name}: {query:?} {limit}");
            assert_eq!(
                (few.more, few.claimed),
                (wanted.len() > limit, all.claimed),
                "{name}: {query:?} {limit}"
            );
        }
    }
    assert!(found > queries.len(), "{name}: the questions must find something");
    for (url, text) in pages.iter().step_by(7) {
        assert_eq!(&engine.fetch(url).unwrap().unwrap().text, text, "{name}: {url}");
        assert_eq!(engine.has(url).map(Result::unwrap), engine.knows_addresses().then_some(true));
    }
    for unknown in ["http://pages.invalid/nowhere", "", "no address \" at all"] {
        assert_eq!(engine.fetch(unknown).unwrap(), None, "{name}: {unknown:?}");
        assert_eq!(engine.has(unknown).map(Result::unwrap), engine.knows_addresses().then_some(false));
    }
}

pub(crate) fn borrowed(pages: &[Page]) -> impl Iterator<Item = (&str, &str)> {
    pages.iter().map(|(url, text)| (url.as_str(), text.as_str()))
}

/// An index of tantivy.
pub(crate) fn tantivy(folder: &Path, pages: &[Page], cap: usize) -> TantivyEngine {
    let path = folder.join("pages.tantivy");
    let builder: Box<dyn IndexBuilder> = TantivyBuilder::create(&path, &BuildOptions::default()).unwrap();
    assert_eq!(build(builder, borrowed(pages)).unwrap(), pages.len() as u64);
    TantivyEngine::open("tantivy", &path, cap).unwrap()
}

/// An index of SQLite.
pub(crate) fn sqlite(folder: &Path, pages: &[Page], cap: usize) -> SqliteEngine {
    let path = folder.join("pages.db");
    let builder: Box<dyn IndexBuilder> = SqliteBuilder::create(&path, &BuildOptions::default()).unwrap();
    assert_eq!(build(builder, borrowed(pages)).unwrap(), pages.len() as u64);
    SqliteEngine::open("sqlite", &path, cap).unwrap()
}
