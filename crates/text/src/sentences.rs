//! The ends of sentences: at `.`, `!`, `?` or `…` before white space or the end, and at a blank line, which also
//! separates the blocks of a page.

/// Hands the offset behind each sentence of `text` to `end`, in order; the last is the end of the text.
pub(crate) fn ends(text: &str, ideographic_stops: bool, mut end: impl FnMut(usize)) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(found) =
        bytes[at..].iter().position(|byte| matches!(byte, b'.' | b'!' | b'?' | b'\n' | 0xe2 | 0xe3))
    {
        at += found;
        let rest = &text[at..];
        let length = match bytes[at] {
            b'\n' => blank_line(rest),
            0xe2 if rest.starts_with('…') => full_stop(rest, '…'.len_utf8()),
            0xe3 if ideographic_stops && rest.starts_with('。') => Some('。'.len_utf8()),
            // After compatibility normalisation the full-width marks of East Asia are plain ones with no blank
            // behind them; an ideograph or kana there tells them apart from those in "x!=y".
            b'!' | b'?' if ideographic_stops && begins_unspaced(&rest[1..]) => Some(1),
            0xe2 | 0xe3 => None,
            _ => full_stop(rest, 1),
        };
        // Leading bytes of other characters stay on a boundary: the next search begins behind the whole one.
        at += length.unwrap_or_else(|| rest.chars().next().map_or(1, char::len_utf8));
        if length.is_some() {
            end(at);
        }
    }
    end(text.len());
}

/// The length of a mark that ends a sentence, if white space or the end of the text is behind it.
fn full_stop(rest: &str, length: usize) -> Option<usize> {
    rest[length..].chars().next().is_none_or(char::is_whitespace).then_some(length)
}

/// The length of two newlines or more with only other white space between them.
fn blank_line(rest: &str) -> Option<usize> {
    let mut newlines = 0;
    let mut length = 0;
    for (at, c) in rest.char_indices().take_while(|(_, c)| c.is_whitespace()) {
        if c == '\n' {
            newlines += 1;
            length = at + 1;
        }
    }
    (newlines >= 2).then_some(length)
}

fn begins_unspaced(rest: &str) -> bool {
    rest.chars().next().is_some_and(|c| crate::class::Class::of(c).is_unspaced())
}

#[cfg(test)]
mod tests {
    fn split(text: &str) -> Vec<&str> {
        let mut start = 0;
        let mut parts = vec![];
        super::ends(text, true, |end| {
            parts.push(text[start..end].trim());
            start = end;
        });
        parts.retain(|part| !part.is_empty());
        parts
    }

    #[test]
    fn marks_count_only_before_white_space() {
        assert_eq!(
            split("See v1.2.3 at a.b.c. Then stop?! Yes"),
            ["See v1.2.3 at a.b.c.", "Then stop?!", "Yes"]
        );
    }

    #[test]
    fn blank_lines_count_and_single_newlines_do_not() {
        assert_eq!(split("one\ntwo\n\nthree\n \t\nfour"), ["one\ntwo", "three", "four"]);
    }

    #[test]
    fn east_asian_marks_need_no_blank() {
        assert_eq!(split("一二。三四!五六?七"), ["一二。", "三四!", "五六?", "七"]);
        assert_eq!(split("x!=y 、 ‘z’"), ["x!=y 、 ‘z’"]);
    }
}
