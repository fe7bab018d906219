//! Real lists that may lie below the folder of known collections: judged documents of ClueWeb09, which of them have their
//! address or a near-duplicate in ClueWeb12, and addresses of judged documents of ClueWeb12.
//!
//! There are no texts of ClueWeb among them, so that nothing can be run on them; they tell what was counted elsewhere.

use std::path::{Path, PathBuf};

use lookalike::corpus::{Corpus, Fields, ListReader, ReadOptions};
use lookalike::judgments::Judgments;
use lookalike::text::extract::ContentMode;

use super::ExperimentContext;
use crate::collection::{Collection, Item};
use crate::trial::LabError;

/// The Web tracks that judged documents of ClueWeb09.
pub(super) const YEARS: [u32; 4] = [2009, 2010, 2011, 2012];

/// More documents than any list here has.
const ALL: usize = 1 << 40;

/// The folder of known collections, with lists in it.
pub(super) struct Lists<'d> {
    pub(super) context: &'d ExperimentContext<'d>,
    pub(super) data: &'d Path,
}

impl<'d> Lists<'d> {
    /// The lists in the data folder of an experiment, if it has one.
    pub(super) fn of(context: &'d ExperimentContext<'d>) -> Option<Self> {
        context.data.as_deref().map(|data| Lists { context, data })
    }

    /// Addresses of judged documents of ClueWeb12.
    pub(super) fn addresses(&self) -> Result<Option<Vec<String>>, LabError> {
        let Some(file) = self.file("qrels/urls/clueweb12-urls.jsonl.zst") else { return Ok(None) };
        // A list has no texts: the address stands in, so that its lines are documents.
        let fields = Fields { text: "url".into(), ..Fields::default() };
        let items = self.read(&file, ReadOptions { fields, ..ReadOptions::default() }, &[])?;
        Ok(Some(items.into_iter().map(|item| item.text).collect()))
    }

    /// The documents judged in a year, each once, in ascending order.
    pub(super) fn judged(&self, year: u32) -> Result<Option<Vec<String>>, LabError> {
        self.judgments(&format!("qrels/copycat/qrels-web-{year}.zst"))
    }

    /// Those of them whose address is in ClueWeb12.
    pub(super) fn with_address(&self, year: u32) -> Result<Option<Vec<String>>, LabError> {
        self.judgments(&format!("qrels/copycat/qrels-web-{year}-cw12-url.zst"))
    }

    /// Documents of ClueWeb09 with a near-duplicate in ClueWeb12, each with the track that judged it.
    pub(super) fn with_near_duplicate(&self) -> Result<Option<Vec<(String, String)>>, LabError> {
        let Some(file) = self.file("qrels/copycat/relevance-transfer.jsonl.zst") else { return Ok(None) };
        let fields = Fields { id: "target_doc".into(), text: "source_doc".into(), ..Fields::default() };
        let options = ReadOptions { fields, ..ReadOptions::default() };
        let items = self.read(&file, options, &["corpus", "corpus_transfer", "track"])?;
        let is_wanted = |item: &Item| {
            item.extras[0].as_deref() == Some("CLUEWEB09")
                && item.extras[1].as_deref() == Some("cw09-to-cw12")
        };
        let wanted = items.into_iter().filter(is_wanted);
        Ok(Some(wanted.map(|item| (item.extras[2].clone().unwrap_or_default(), item.text)).collect()))
    }

    fn file(&self, name: &str) -> Option<PathBuf> {
        Some(self.data.join(name)).filter(|file| file.is_file())
    }

    /// The documents of a list of judgments.
    fn judgments(&self, name: &str) -> Result<Option<Vec<String>>, LabError> {
        let Some(file) = self.file(name) else { return Ok(None) };
        let judgments = Judgments::read(name, ListReader::open(&file)?, None);
        let judgments = judgments.map_err(|error| LabError::read(&file, &error))?;
        Ok(Some(judgments.documents().into_iter().map(str::to_owned).collect()))
    }

    fn read(&self, file: &Path, options: ReadOptions, extras: &[&str]) -> Result<Vec<Item>, LabError> {
        let corpus = Corpus::open(&[file.as_os_str().to_owned()], options)?;
        let list =
            Collection { name: "list".to_owned(), corpus, content: ContentMode::Page, generated: false };
        list.items(ALL, self.context.seed, extras, self.context.watch)
    }
}

/// Names in ascending order, each once.
pub(super) fn distinct(names: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut names: Vec<String> = names.into_iter().collect();
    names.sort_unstable();
    names.dedup();
    names
}

#[cfg(test)]
pub(super) mod tests {
    use lookalike::walk::Watch;

    use super::super::world::tests::empty_context;
    use super::*;

    /// A folder with lists of a few lines.
    pub(crate) fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, lines: &str| {
            let file = folder.path().join("qrels").join(name);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, lines).unwrap();
        };
        write(
            "urls/clueweb12-urls.jsonl.zst",
            "{\"id\":\"1\",\"url\":\"http://a.com/\"}\n{\"id\":\"2\",\"url\":\"http://b.gov/\"}\n",
        );
        write("copycat/qrels-web-2010.zst", "51 0 x 0\n51 0 y 1\n52 0 x 0\n52  0  z  2\n");
        write("copycat/qrels-web-2010-cw12-url.zst", "51 0 y 1\n");
        let line = |transfer: &str, source: &str| {
            format!(
                "{{\"corpus\":\"CLUEWEB09\",\"track\":\"WEB_2010\",\"source_doc\":\"{source}\",\"target_doc\":\"t\",\
                 \"corpus_transfer\":\"{transfer}\"}}\n"
            )
        };
        let lines = line("cw09-to-cw12", "z") + &line("cw09-to-cw12", "z") + &line("cw09-to-cc15", "x");
        write("copycat/relevance-transfer.jsonl.zst", &lines);
        folder
    }

    #[test]
    fn lists_are_read_where_they_are() {
        let watch = Watch::default();
        let (folder, empty) = (folder(), tempfile::tempdir().unwrap());
        let context = ExperimentContext { data: Some(folder.path().to_owned()), ..empty_context(&watch) };
        let lists = Lists::of(&context).unwrap();
        let words = |names: &[&str]| Some(names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>());
        assert_eq!(lists.addresses().unwrap(), words(&["http://a.com/", "http://b.gov/"]));
        assert_eq!(lists.judged(2010).unwrap(), words(&["x", "y", "z"]));
        assert_eq!(lists.with_address(2010).unwrap(), words(&["y"]));
        assert_eq!(lists.with_near_duplicate().unwrap().unwrap(), vec![("WEB_2010".into(), "z".into()); 2]);
        let none = Lists { context: &context, data: empty.path() };
        assert_eq!((none.addresses().unwrap(), none.judged(2010).unwrap()), (None, None));
        assert!(Lists::of(&empty_context(&watch)).is_none());
    }
}
