//! Addresses with placeholders: `http://host/search?q={query}`.

/// A text with named placeholders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Template {
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    Hole(String),
}

impl Template {
    /// Reads a template that may have placeholders of these names; the error states the fault in it.
    pub(crate) fn parse(text: &str, names: &[&str]) -> Result<Self, String> {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some((before, behind)) = rest.split_once('{') {
            let (name, behind) = behind.split_once('}').ok_or("a { is not closed")?;
            if !names.contains(&name) {
                return Err(format!("{{{name}}} means nothing here; {{{}}} would", names.join("} or {")));
            }
            parts.extend([Part::Text(before.to_owned()), Part::Hole(name.to_owned())]);
            rest = behind;
        }
        parts.push(Part::Text(rest.to_owned()));
        Ok(Template { parts })
    }

    /// Returns true if it has a placeholder of this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::Hole(hole) if hole == name))
    }

    /// Returns true if it has no text beside placeholders.
    pub(crate) fn is_bare(&self) -> bool {
        self.parts.iter().all(|part| !matches!(part, Part::Text(text) if !text.is_empty()))
    }

    /// Returns the text with its placeholders filled.
    pub(crate) fn fill(&self, values: &[(&str, &str)]) -> String {
        let part = |part: &Part| match part {
            Part::Text(text) => text.clone(),
            Part::Hole(hole) => values
                .iter()
                .find(|(name, _)| name == hole)
                .map_or_else(String::new, |(_, value)| value.to_string()),
        };
        self.parts.iter().map(part).collect()
    }
}

/// Encodes a value so that it may be in any part of an address.
pub(crate) fn encoded(value: &str) -> String {
    let byte = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    value.bytes().map(byte).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holes_are_filled() {
        let template = Template::parse("a{x}b{y}{x}", &["x", "y"]).unwrap();
        assert_eq!(template.fill(&[("x", "1"), ("y", "{x}")]), "a1b{x}1");
        assert!(template.has("y") && !template.has("z") && !template.is_bare());
        assert!(Template::parse("{x}", &["x"]).unwrap().is_bare());
        assert!(Template::parse("{z}", &["x", "y"]).unwrap_err().contains("{x} or {y}"));
        assert!(Template::parse("{x", &["x"]).is_err());
    }

    #[test]
    fn anything_may_stand_in_an_address() {
        assert_eq!(encoded("a-Z_0.~"), "a-Z_0.~");
        assert_eq!(encoded("a b&c=/ü%"), "a%20b%26c%3D%2F%C3%BC%25");
    }
}
