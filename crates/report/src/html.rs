//! Writes HTML. Everything is escaped unless it is a literal of this program.

/// A page in the making.
#[derive(Debug, Default)]
pub struct Html {
    out: String,
}

/// Names and values of attributes. Values are escaped.
pub type Attributes<'a> = &'a [(&'static str, &'a str)];

impl Html {
    /// The page.
    pub fn finish(self) -> String {
        self.out
    }

    /// Text that stands in the source of this program and nowhere else: it is not escaped.
    pub fn literal(&mut self, literal: &'static str) {
        self.out.push_str(literal);
    }

    /// Any text.
    pub fn text(&mut self, text: &str) {
        for c in text.chars() {
            match c {
                '&' => self.out.push_str("&amp;"),
                '<' => self.out.push_str("&lt;"),
                '>' => self.out.push_str("&gt;"),
                '"' => self.out.push_str("&quot;"),
                '\'' => self.out.push_str("&#39;"),
                // What HTML forbids even as a reference.
                c if is_forbidden(c) => self.out.push(char::REPLACEMENT_CHARACTER),
                c => self.out.push(c),
            }
        }
    }

    /// An element and what is in it.
    pub fn element(
        &mut self,
        name: &'static str,
        attributes: Attributes<'_>,
        inside: impl FnOnce(&mut Html),
    ) {
        self.start(name, attributes);
        inside(self);
        self.out.push_str("</");
        self.out.push_str(name);
        self.out.push('>');
    }

    /// An element with text in it.
    pub fn leaf(&mut self, name: &'static str, attributes: Attributes<'_>, text: &str) {
        self.element(name, attributes, |html| html.text(text));
    }

    /// An element without an end.
    pub fn void(&mut self, name: &'static str, attributes: Attributes<'_>) {
        self.start(name, attributes);
    }

    fn start(&mut self, name: &'static str, attributes: Attributes<'_>) {
        self.out.push('<');
        self.out.push_str(name);
        for (attribute, value) in attributes {
            self.out.push(' ');
            self.out.push_str(attribute);
            self.out.push_str("=\"");
            self.text(value);
            self.out.push('"');
        }
        self.out.push('>');
    }
}

/// Control characters other than blanks, and code points that are no characters.
fn is_forbidden(c: char) -> bool {
    let control = c.is_control() && !matches!(c, '\t' | '\n');
    control || matches!(c as u32 & 0xffff, 0xfffe | 0xffff) || ('\u{fdd0}'..='\u{fdef}').contains(&c)
}

/// `1,234,567`.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() * 4 / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `1 word`, `1,234 words`.
pub fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", thousands(number), if number == 1 { one } else { many })
}

/// `18.6 %`, and nothing of nothing.
pub fn percent(part: u64, whole: u64) -> String {
    if whole == 0 {
        return "–".to_owned();
    }
    let share = 100.0 * part as f64 / whole as f64;
    // What is there must not look as if it were not, nor what is not all like all.
    let shown = match share {
        share if part > 0 && share < 0.1 => "under 0.1".to_owned(),
        share if part < whole && share >= 99.95 => "over 99.9".to_owned(),
        share => format!("{share:.1}"),
    };
    format!("{shown} %")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn escaped(text: &str) -> String {
        let mut html = Html::default();
        html.text(text);
        html.finish()
    }

    #[test]
    fn text_and_values_are_escaped() {
        let mut html = Html::default();
        html.element("p", &[("title", "a\"><script>")], |html| html.text("<b>&'\0\u{1b}"));
        assert_eq!(
            html.finish(),
            "<p title=\"a&quot;&gt;&lt;script&gt;\">&lt;b&gt;&amp;&#39;\u{fffd}\u{fffd}</p>"
        );
    }

    #[test]
    fn numbers_are_for_people() {
        assert_eq!([0, 999, 1000, 1234567].map(thousands), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!(percent(1, 3), "33.3 %");
        assert_eq!(
            (percent(1, 100_000), percent(99_999, 100_000)),
            ("under 0.1 %".into(), "over 99.9 %".into())
        );
        assert_eq!(
            (percent(0, 5), percent(5, 5), percent(0, 0)),
            ("0.0 %".into(), "100.0 %".into(), "–".into())
        );
        assert_eq!(
            (counted(1, "word", "words"), counted(0, "word", "words")),
            ("1 word".into(), "0 words".into())
        );
    }

    proptest! {
        #[test]
        fn nothing_that_html_reads_is_left(text: String) {
            let escaped = escaped(&text);
            let read_by_html = ['<', '>', '"', '\'', '\0', '\u{1b}'];
            prop_assert!(!escaped.contains(read_by_html));
            prop_assert_eq!(escaped.matches('&').count(), text.matches(['&', '<', '>', '"', '\'']).count());
        }
    }
}
