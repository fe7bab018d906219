//! Lists: one address per line, or an id, a tab and an address. Whatever stands behind another tab is passed over.

use lookalike_model::Reason;

use super::Values;

/// A line of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Entry<'l> {
    pub(crate) id: Option<&'l str>,
    pub(crate) address: &'l str,
}

impl<'l> Entry<'l> {
    /// Reads a line; nothing when it has no address.
    pub(crate) fn read(line: &'l str) -> Option<Self> {
        let mut cells = line.split('\t').map(str::trim);
        let first = cells.next()?;
        let (id, address) = match cells.next() {
            None => (None, first),
            Some(address) => (Some(first).filter(|id| !id.is_empty()), address),
        };
        is_address(address).then_some(Entry { id, address })
    }
}

/// True for what begins with a scheme and goes on with a host.
fn is_address(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once("://") else { return false };
    let is_scheme = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    let host = |c: char| !c.is_whitespace() && !matches!(c, '/' | '?' | '#');
    !scheme.is_empty() && scheme.bytes().all(is_scheme) && rest.starts_with(host)
}

impl Values {
    /// Takes the id and the address of a line of a list.
    pub(super) fn entry(&mut self, line: &str) -> Result<(), Reason> {
        let Some(Entry { id, address }) = Entry::read(line) else {
            let wanted = "no address, such as http://host/path, alone or behind an id and a tab";
            return Err(Reason::MissingField(wanted.to_owned()));
        };
        // Both are parts of the line.
        let place = |part: &str| {
            let begin = part.as_ptr() as usize - line.as_ptr() as usize;
            (begin, begin + part.len())
        };
        if let Some((begin, end)) = id.map(place) {
            self.id.borrow(begin, end);
        }
        let (begin, end) = place(address);
        self.url.borrow(begin, end);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use lookalike_model::ReasonKind;

    use crate::ReadOptions;
    use crate::formats::jsonl::Jsonl;
    use crate::formats::testing::{OwnedItem, counter, read_all, stream};

    fn read(bytes: &[u8]) -> Vec<OwnedItem> {
        read_all(&mut Jsonl::list(stream(bytes), counter(ReadOptions::default())))
    }

    #[test]
    fn lines_are_addresses_with_or_without_an_id() {
        let all = read(
            b"\xef\xbb\xbfhttp://a.org/x\n\na\t https://b.org\r\n\thttp://c.org/ 1\tmore\nlast\tftp://d/",
        );
        let found: Vec<(&str, Option<&str>)> =
            all.iter().map(|seen| (seen.page().id.as_str(), seen.page().url.as_deref())).collect();
        let wanted = [
            ("shard#0", Some("http://a.org/x")),
            ("a", Some("https://b.org")),
            ("shard#2", Some("http://c.org/ 1")),
            ("last", Some("ftp://d/")),
        ];
        assert_eq!(found, wanted);
        assert!(all.iter().all(|seen| seen.page().content.is_empty()));
        assert_eq!(all[1].page().raw.as_deref(), Some(&b"a\t https://b.org\r\n"[..]));
    }

    #[test]
    fn a_line_without_an_address_is_rejected_where_it_stands() {
        let all = read(b"http://a/\nwww.a.org\nid\t\nhttp:///x\n\xff\thttp://a/\nhttp://b/\n");
        let rejected: Vec<(ReasonKind, u64)> = all[1..5]
            .iter()
            .map(|seen| match seen {
                OwnedItem::Rejected(kind, position) => (*kind, *position),
                other => panic!("{other:?} is no rejection"),
            })
            .collect();
        let missing = ReasonKind::MissingField;
        assert_eq!(rejected, [(missing, 10), (missing, 20), (missing, 24), (ReasonKind::InvalidUtf8, 34)]);
        assert_eq!(all[5].page().id, "shard#5");
    }

    #[test]
    fn where_addresses_are_wanted_an_object_needs_no_text() {
        let options = ReadOptions { addresses: true, ..ReadOptions::default() };
        let lines = "{\"id\":\"a\",\"url\":\"http://a/\"}\n{}\n{\"url\":\"http://b/\",\"text\":\"one\"}\n";
        let all = read_all(&mut Jsonl::new(stream(lines), counter(options)));
        let found: Vec<(&str, Option<&str>, &[u8])> = all
            .iter()
            .map(|seen| (seen.page().id.as_str(), seen.page().url.as_deref(), &*seen.page().content))
            .collect();
        let none: &[u8] = b"";
        assert_eq!(
            found,
            [
                ("a", Some("http://a/"), none),
                ("shard#1", None, none),
                ("shard#2", Some("http://b/"), &b"one"[..])
            ]
        );
    }
}
