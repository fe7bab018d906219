//! Paths to values in an answer: `results[*].url`, `total`, `hits[0].count`. Names, `[*]` for each of a list, `[n]` for one of it.

use serde_json::Value;

/// One step down.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    Name(String),
    Each,
    At(usize),
}

/// A path from the root of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct JsonPath {
    steps: Vec<Step>,
}

impl JsonPath {
    /// Reads a path; the error states the fault in it.
    pub(crate) fn parse(path: &str) -> Result<Self, String> {
        let mut steps = Vec::new();
        let mut rest = path;
        while !rest.is_empty() {
            rest = match rest.strip_prefix('[') {
                Some(inside) => {
                    let (index, behind) = inside.split_once(']').ok_or("a [ is not closed")?;
                    steps.push(match index {
                        "*" => Step::Each,
                        number => Step::At(
                            number.parse().map_err(|_| format!("[{number}] is neither [*] nor a number"))?,
                        ),
                    });
                    behind
                }
                None => {
                    let name = rest.strip_prefix('.').filter(|_| !steps.is_empty()).unwrap_or(rest);
                    let end = name.find(['.', '[']).unwrap_or(name.len());
                    if end == 0 {
                        return Err("a name is missing".to_owned());
                    }
                    steps.push(Step::Name(name[..end].to_owned()));
                    &name[end..]
                }
            };
        }
        if steps.is_empty() { Err("it is empty".to_owned()) } else { Ok(JsonPath { steps }) }
    }

    /// Returns all values at the path, in order; nothing if it ends early, which is not the same as an empty list.
    pub(crate) fn all<'v>(&self, root: &'v Value) -> Option<Vec<&'v Value>> {
        let mut found = vec![root];
        for step in &self.steps {
            let mut next = Vec::new();
            for value in found {
                match step {
                    Step::Name(name) => next.push(value.get(name)?),
                    Step::At(index) => next.push(value.get(index)?),
                    Step::Each => next.extend(value.as_array()?),
                }
            }
            found = next;
        }
        Some(found)
    }

    /// Returns the first value at the path.
    pub(crate) fn one<'v>(&self, root: &'v Value) -> Option<&'v Value> {
        self.all(root)?.into_iter().next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn all(path: &str, root: &Value) -> Option<Value> {
        let found = JsonPath::parse(path).unwrap().all(root)?;
        Some(Value::Array(found.into_iter().cloned().collect()))
    }

    #[test]
    fn ways_lead_where_they_say() {
        let root = json!({"total": 3, "hits": [{"u": "a", "s": [1, 2]}, {"u": "b", "s": [3]}], "none": []});
        for (path, found) in [
            ("total", Some(json!([3]))),
            ("hits[*].u", Some(json!(["a", "b"]))),
            ("hits[*].s[*]", Some(json!([1, 2, 3]))),
            ("hits[1].u", Some(json!(["b"]))),
            ("none[*].u", Some(json!([]))),
            ("hits[2].u", None),
            ("hits[*].x", None),
            ("total[*]", None),
            ("gone", None),
        ] {
            assert_eq!(all(path, &root), found, "{path}");
        }
        assert_eq!(all("[*]", &json!(["a"])), Some(json!(["a"])));
        assert_eq!(all("[0].x", &json!([{"x": 1}])), Some(json!([1])));
    }

    #[test]
    fn mistakes_are_said() {
        for (path, why) in [
            ("", "empty"),
            ("a..b", "a name is missing"),
            ("a.", "a name is missing"),
            (".a", "a name is missing"),
            ("a[", "not closed"),
            ("a[x]", "[x] is neither"),
        ] {
            let error = JsonPath::parse(path).unwrap_err();
            assert!(error.contains(why), "{path}: {error}");
        }
    }
}
