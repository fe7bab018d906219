//! Columns of a line: words with blanks or tabs between them.
//!
//! Only ASCII blanks divide: names of entities hold others.

/// The columns of a line.
pub(crate) fn columns(line: &str) -> impl Iterator<Item = &str> {
    line.split_ascii_whitespace()
}

/// The column with this number, from 0; empty when the line has fewer.
pub(crate) fn column(line: &str, number: usize) -> &str {
    columns(line).nth(number).unwrap_or_default()
}

/// The line with other words in some columns, numbered from 0 and ascending; everything between the columns stays.
pub(crate) fn replaced(line: &str, words: &[(usize, &str)]) -> String {
    let mut text = String::with_capacity(line.len());
    let mut written = 0;
    for &(number, word) in words {
        let old = column(line, number);
        // A column is a part of the line, so that the distance of their addresses is its place.
        let start = old.as_ptr() as usize - line.as_ptr() as usize;
        text.push_str(&line[written..start]);
        text.push_str(word);
        written = start + old.len();
    }
    text.push_str(&line[written..]);
    text
}

/// True for what can stand in a column: a word without blanks.
pub(crate) fn is_word(text: &str) -> bool {
    !text.is_empty() && !text.bytes().any(|byte| byte.is_ascii_whitespace())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_stay_where_they_were() {
        let line = "151  0\tclueweb09-en0000-00-03430   -2";
        assert_eq!(column(line, 2), "clueweb09-en0000-00-03430");
        assert_eq!(replaced(line, &[(2, "x")]), "151  0\tx   -2");
        assert_eq!(replaced(line, &[(2, "x"), (3, "0")]), "151  0\tx   0");
        assert_eq!(replaced(line, &[]), line);
    }

    #[test]
    fn only_ascii_blanks_divide() {
        assert_eq!(columns("37 d christine_o\u{85}donnell\u{a0}x 0").count(), 4);
        assert!(is_word("a\u{a0}b") && !is_word("a b") && !is_word("") && !is_word("a\tb"));
    }
}
