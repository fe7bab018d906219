//! Properties of pages, one JSON object a line: `id`, and any fields with numbers, booleans or words.
//!
//! A number is averaged over a sample, and a boolean counts as 0 or 1; for a word or a certain number, the share of pages that have
//! it is estimated. 8 bytes for each page and field, 4 if the field has words.

use std::collections::BTreeMap;
use std::io::BufRead;

use serde_json::Value;

use super::edge_list::for_each_line;
use super::{EdgeList, GraphError, Names};

/// The mark of a page without a word.
const NONE: u32 = u32::MAX;

/// One field of all pages.
#[derive(Debug, Clone)]
pub enum Column {
    /// Numbers, or booleans as 0 and 1; NaN where there is none.
    Numbers(Vec<f64>),
    /// The different words, and for each page the number of its own.
    Words {
        /// The different words.
        words: Names,
        /// Their numbers by page; the largest of all where there is none.
        of: Vec<u32>,
    },
}

/// The fields of pages.
#[derive(Debug, Clone, Default)]
pub struct Labels {
    /// The columns, by the name of the field.
    pub fields: BTreeMap<String, Column>,
    /// Pages that are described.
    pub described: u64,
    /// Lines about pages that the graph does not have.
    pub unknown: u64,
}

impl Labels {
    /// Reads a table about the pages of a graph, of which only some fields are of interest: names, or `field=word`.
    pub fn read(input: impl BufRead, graph: &EdgeList, wanted: &[String]) -> Result<Labels, GraphError> {
        let mut labels = Labels::default();
        let names =
            wanted.iter().flat_map(|field| [Some(field.as_str()), field.split_once('=').map(|two| two.0)]);
        let names: Vec<&str> = names.flatten().collect();
        let nodes = graph.graph.nodes();
        for_each_line(input, |number, line| {
            if line.trim().is_empty() {
                return Ok(());
            }
            let mut fields: serde_json::Map<String, Value> = serde_json::from_str(line)
                .map_err(|error| GraphError::line(number, format!("is no JSON object; mend it: {error}")))?;
            let id = match fields.get("id") {
                Some(Value::String(id)) => id.clone(),
                Some(Value::Number(id)) => id.to_string(),
                _ => return Err(GraphError::line(number, "has no id; name its page in the field \"id\"")),
            };
            fields.retain(|name, _| names.contains(&name.as_str()));
            match graph.find(&id) {
                Some(page) => labels.note(number, page as usize, nodes, fields)?,
                None => labels.unknown += 1,
            }
            Ok(())
        })?;
        Ok(labels)
    }

    fn note(
        &mut self,
        line: u64,
        page: usize,
        nodes: usize,
        fields: serde_json::Map<String, Value>,
    ) -> Result<(), GraphError> {
        self.described += 1;
        for (name, value) in fields {
            if value.is_null() {
                continue;
            }
            let column = self.fields.entry(name).or_insert_with_key(|_| Column::like(&value, nodes));
            if !column.set(page, &value) {
                let what =
                    format!("has the field value {value}, which is of another kind than before; mend it");
                return Err(GraphError::line(line, what));
            }
        }
        Ok(())
    }

    /// Returns the numbers of a field by page, NaN where there is none; none without such a field. `field=value` asks for the share
    /// of pages that have this word, number or boolean in it; none if no page does.
    pub fn values(&self, field: &str) -> Option<Vec<f64>> {
        if let Some(Column::Numbers(numbers)) = self.fields.get(field) {
            return Some(numbers.clone());
        }
        let (name, value) = field.split_once('=')?;
        let share =
            |is_known: bool, is_it: bool| if is_known { f64::from(u8::from(is_it)) } else { f64::NAN };
        match self.fields.get(name)? {
            Column::Words { words, of } => {
                let wanted = words.find(value)?;
                Some(of.iter().map(|&own| share(own != NONE, own == wanted)).collect())
            }
            Column::Numbers(numbers) => {
                let wanted = match value {
                    "true" => 1.0,
                    "false" => 0.0,
                    number => number.parse().ok()?,
                };
                let shares = || numbers.iter().map(|&own| share(!own.is_nan(), own == wanted));
                shares().any(|has| has == 1.0).then(|| shares().collect())
            }
        }
    }
}

impl Column {
    fn like(value: &Value, nodes: usize) -> Self {
        match value {
            Value::Number(_) | Value::Bool(_) => Column::Numbers(vec![f64::NAN; nodes]),
            _ => Column::Words { words: Names::default(), of: vec![NONE; nodes] },
        }
    }

    /// False when the value does not fit.
    fn set(&mut self, page: usize, value: &Value) -> bool {
        match (self, value) {
            (Column::Numbers(numbers), Value::Number(number)) => {
                number.as_f64().map(|number| numbers[page] = number).is_some()
            }
            (Column::Numbers(numbers), &Value::Bool(truth)) => {
                numbers[page] = f64::from(u8::from(truth));
                true
            }
            (Column::Words { words, of }, Value::String(word)) => {
                words.number(word).map(|number| of[page] = number).is_some()
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Naming;

    #[test]
    fn numbers_truths_and_words() {
        let graph = EdgeList::read("a b\nb c\n".as_bytes(), Naming::Detect).unwrap();
        // What nobody asks for may be anything.
        let table = r#"{"id":"a","words":12,"spam":true,"lang":"de","links":[1,2]}

            {"id":"c","words":3.5,"lang":"fr","spam":null}
            {"id":"z","words":1}"#;
        let wanted = ["words", "spam", "lang=de", "lang=it", "no"].map(str::to_owned);
        let labels = Labels::read(table.as_bytes(), &graph, &wanted).unwrap();
        assert_eq!((labels.described, labels.unknown), (2, 1));
        let words = labels.values("words").unwrap();
        assert_eq!((words[0], words[2], words[1].is_nan()), (12.0, 3.5, true));
        let german = labels.values("lang=de").unwrap();
        assert_eq!((german[0], german[2], german[1].is_nan()), (1.0, 0.0, true));
        assert!(labels.values("lang=it").is_none() && labels.values("links").is_none());
        for (field, wanted) in [("words=12", [1.0, 0.0]), ("words=3.5", [0.0, 1.0])] {
            let share = labels.values(field).unwrap();
            assert_eq!(([share[0], share[2]], share[1].is_nan()), (wanted, true), "{field}");
        }
        assert_eq!(labels.values("spam=true").unwrap()[0], 1.0);
        assert!(["words=7", "words=many", "spam=false"].iter().all(|field| labels.values(field).is_none()));
        assert!(labels.values("spam").unwrap()[2].is_nan());
        assert!(labels.values("lang").is_none() && labels.values("no").is_none());
    }

    #[test]
    fn bad_lines_are_named() {
        let graph = EdgeList::read("0 1\n".as_bytes(), Naming::Detect).unwrap();
        let wanted = ["x".to_owned()];
        let told = |text: &str| Labels::read(text.as_bytes(), &graph, &wanted).unwrap_err().to_string();
        assert!(told("{\"id\":0}\n{").starts_with("line 2 is no JSON object"));
        assert!(told("{\"x\":0}").starts_with("line 1 has no id"));
        assert!(told("{\"id\":0,\"x\":1}\n{\"id\":1,\"x\":\"y\"}").starts_with("line 2 has the field value"));
        assert!(told("{\"id\":0,\"x\":[1]}").contains("another kind"));
    }
}
